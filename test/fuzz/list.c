/*
 * list.c - fuzz lists of URLs that come in pieces.
 *
 * Where pieces end must not matter: whole, byte by byte, and cut where the
 * input itself says, a list gives the same URLs and the same fault.
 */
#include <stdint.h>
#include <stdlib.h>

#include "serve/http/http_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct found {
    size_t urls;
    struct buffer text;
};

static void take(void *to, struct seen_span url)
{
    struct found *f = to;

    f->urls++;
    buffer_bytes(&f->text, url.text, url.len);
    buffer_bytes(&f->text, "\n", 1);
}

static const char *read_list(struct found *f, const char *text, size_t len,
                             size_t step)
{
    struct http_list l = { .begun = false };
    const char *fault;

    for (size_t at = 0; at < len; at += step) {
        size_t n = len - at < step ? len - at : step;
        char *piece = malloc(n); /* so that reading past it is seen */

        if (!piece)
            abort();
        memcpy(piece, text + at, n);
        http_list_read(&l, piece, n, take, f);
        free(piece);
    }
    http_list_end(&l, take, f);
    fault = l.fault;
    http_list_clear(&l);
    return fault;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t steps[] = { 1, 2, 3, 7, 64, 1000 };
    const char *text = (const char *)data;
    struct found whole = { .urls = 0 };
    const char *fault = read_list(&whole, text, size, size ? size : 1);

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct found other = { .urls = 0 };

        if (read_list(&other, text, size, steps[i]) != fault ||
            other.urls != whole.urls || other.text.len != whole.text.len ||
            (whole.text.len &&
             memcmp(other.text.bytes, whole.text.bytes, whole.text.len)))
            abort();
        buffer_clear(&other.text);
    }
    buffer_clear(&whole.text);
    return 0;
}
