/*
 * fetch_head.c - any bytes as the head of an answer, raw and not, line by line,
 * each line ending where its memory does. What it says keeps its promises: texts
 * without control bytes, ranges that are some, and never too much of it.
 */
#include <stdlib.h>
#include <string.h>

#include "fetch/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_text(const char *text, size_t room)
{
    if (!memchr(text, 0, room))
        abort();
    for (; *text; text++)
        if (((unsigned char)*text < 32 && *text != '\t') || *text == 127)
            abort();
}

static void check(const struct fetch_head *h)
{
    check_text(h->etag, sizeof h->etag);
    check_text(h->modified, sizeof h->modified);
    check_text(h->type, sizeof h->type);
    check_text(h->location, sizeof h->location);
    if (h->ranged && (h->says.from > h->last || h->last >= h->says.total))
        abort();
    if (h->whole && (h->says.status < 200 || !h->says.http ||
                     h->says.status > (h->raw ? 999 : 599)))
        abort();
    if (h->whole && h->chunked && h->says.length != FETCH_UNKNOWN)
        abort();
    if (fetch_head_redirects(h) && !*h->location)
        abort();
}

static void read_head(const uint8_t *bytes, size_t len, bool raw)
{
    static struct fetch_head h;
    const uint8_t *end = bytes + len;

    fetch_head_init(&h);
    h.raw = raw;
    while (bytes < end) {
        const uint8_t *stop = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t n = (size_t)((stop ? stop + 1 : end) - bytes);
        char *line = malloc(n);
        struct seen_error why = { 0 };
        enum seen_code code;

        if (!line)
            abort();
        memcpy(line, bytes, n);
        code = fetch_head_line(&h, line, n, &why);
        free(line);
        check(&h);
        if (code != SEEN_OK) {
            if (!*why.text)
                abort();
            break;
        }
        if (h.lines > FETCH_HEAD_LINES * (raw ? 10 : 1) ||
            h.bytes > FETCH_HEAD_BYTES)
            abort();
        bytes += n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    read_head(bytes, len, false);
    read_head(bytes, len, true);
    return 0;
}
