/*
 * http.c - fuzz the readers of requests and of bodies in chunks.
 *
 * Whatever the bytes are: the beginnings of a text say that there must be
 * more until one of them is answered, and then all longer ones are answered
 * the same. What is whole lies within the text. A body in chunks is the same
 * in one piece, byte by byte, and in pieces that the input itself cuts.
 */
#include <stdlib.h>

#include "serve/http/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim)
{
    if (!claim)
        abort();
}

/* --- heads --- */

static void within(struct seen_span s, const char *text, size_t used)
{
    must(s.text >= text && s.text + s.len <= text + used);
}

static void sound(const struct http_request *r, const char *text, size_t used)
{
    must(r->target.len && r->target.len <= HTTP_TARGET);
    must(*r->target.text == '/' ||
         (span_is(r->target, "*") && r->method == HTTP_OPTIONS));
    must(r->host.len || !r->minor);
    must(!memchr(r->target.text, ' ', r->target.len));
    must(r->headers <= HTTP_HEADERS && used <= HTTP_HEAD && r->minor <= 1);
    must(!(r->chunked && (r->sized || r->length || !r->minor)));
    must(r->length <= INT64_MAX && (r->sized || !r->length));
    within(r->target, text, used);
    within(r->host, text, used);
    within(r->line, text, used);
    for (unsigned i = 0; i < r->headers; i++) {
        within(r->header[i].name, text, used);
        within(r->header[i].value, text, used);
        must(r->header[i].name.len);
    }
    must(!memcmp(text + used - 4, "\r\n\r\n", 4));
    (void)http_prefers(r, "text/html", "application/json");
    must(!(http_prefers(r, "text/html", "application/json") &&
           http_prefers(r, "application/json", "text/html")));
}

static void same_span(struct seen_span a, const char *in, struct seen_span b,
                      const char *within_b)
{
    must(a.len == b.len && a.text - in == b.text - within_b);
}

static void same(const struct http_request *a, const char *in,
                 const struct http_request *b, const char *in_b)
{
    must(a->method == b->method && a->minor == b->minor &&
         a->close == b->close && a->waits == b->waits &&
         a->chunked == b->chunked && a->sized == b->sized &&
         a->length == b->length && a->headers == b->headers);
    same_span(a->target, in, b->target, in_b);
    same_span(a->host, in, b->host, in_b);
    same_span(a->line, in, b->line, in_b);
    for (unsigned i = 0; i < a->headers; i++) {
        same_span(a->header[i].name, in, b->header[i].name, in_b);
        same_span(a->header[i].value, in, b->header[i].value, in_b);
    }
}

/* All beginnings of short texts; of long ones those near its end, and some
   of the others. They end where the room does. */
static void heads(const char *data, size_t size)
{
    static struct http_request all, some;
    char *room = malloc(size + 1), *text = room + 1;
    size_t used = 0, early;
    int status, before = HTTP_PARTIAL;

    must(room);
    memcpy(text, data, size);
    status = http_parse(&all, text, size, &used);
    if (status == HTTP_WHOLE) {
        must(used && used <= size);
        sound(&all, text, used);
    } else {
        must(status == HTTP_PARTIAL || status == 400 || status == 414 ||
             status == 431 || status == 501 || status == 505);
    }
    for (size_t n = 0; n < size; n += n < 600 || size - n < 100 ? 1 : 37) {
        char *cut = room + 1 + size - n;
        int now;

        memcpy(cut, data, n);
        now = http_parse(&some, cut, n, &early);
        if (before != HTTP_PARTIAL)
            must(now == before);
        if (now != HTTP_PARTIAL)
            must(now == status);
        if (now == HTTP_WHOLE) {
            must(early == used && n >= used);
            same(&all, text, &some, cut);
            /* The spans of `all` are places only: its text is gone. */
        }
        if (now == HTTP_PARTIAL && status == HTTP_WHOLE)
            must(n < used);
        before = now;
    }
    free(room);
}

/* --- bodies --- */

struct body {
    int status;
    size_t used, len;
    char *bytes;
};

/* Piece by piece: the next of `cut` says how long one is, or they are all of
   one byte, or there is one. */
static void take(struct body *b, const char *text, size_t len,
                 const uint8_t *cut, size_t step)
{
    struct http_chunks c = { 0 };

    b->status = HTTP_PARTIAL;
    b->used = b->len = 0;
    while (b->used < len && b->status == HTTP_PARTIAL) {
        size_t n = cut ? cut[len - 1 - b->used] % 23 + 1u : step, used = 0;
        struct seen_span data = { 0 };

        if (n > len - b->used)
            n = len - b->used;
        b->status = http_chunks(&c, text + b->used, n, &used, &data);
        must(used <= n && data.len <= used);
        must(used || b->status != HTTP_PARTIAL);
        must(!data.len || (data.text >= text + b->used &&
                           data.text + data.len <= text + b->used + used));
        must(b->status != 400 || !data.len);
        memcpy(b->bytes + b->len, data.text, data.len);
        b->used += used;
        b->len += data.len;
    }
}

static void alike(const struct body *a, const struct body *b)
{
    must(a->status == b->status && a->used == b->used && a->len == b->len);
    must(!memcmp(a->bytes, b->bytes, a->len));
}

static void bodies(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct body a = { .bytes = malloc(size + 1) };
    struct body b = { .bytes = malloc(size + 1) };

    must(text && a.bytes && b.bytes);
    memcpy(text, data, size);
    take(&a, text, size, NULL, size);
    take(&b, text, size, NULL, 1);
    alike(&a, &b);
    take(&b, text, size, data, 0);
    alike(&a, &b);
    free(text);
    free(a.bytes);
    free(b.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    heads((const char *)data, size);
    bodies(data, size);
    return 0;
}
