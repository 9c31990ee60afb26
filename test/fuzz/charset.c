/*
 * charset.c - fuzz charsets: the first line is a label, as a header has it, the
 * rest is the document.
 *
 * Whatever the label and the bytes are, the text is UTF-8 and not much longer,
 * and a query that is written in the charset is ASCII.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/buffer.h"
#include "lib/text/utf8.h"
#include "web/charset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_query(const struct web_charset *c, const struct buffer *text)
{
    struct web_charset_writer w = { .charset = c };
    struct buffer query = { .bytes = NULL };

    web_charset_query(&w, &query, text->bytes, text->len);
    if (query.failed)
        abort();
    for (size_t i = 0; i < query.len; i++)
        if ((unsigned char)query.bytes[i] >= 0x80)
            abort();
    web_charset_writer_clear(&w);
    buffer_clear(&query);
}

static void try_charset(const struct web_charset *c, const char *bytes,
                        size_t len)
{
    struct buffer text = { .bytes = NULL };

    if (web_charset_find(web_charset_name(c), strlen(web_charset_name(c))) !=
        c)
        abort();
    web_charset_decode(&text, c, bytes, len);
    if (text.failed || text.len > 4 * len + 16 ||
        (text.len && !utf8_valid(text.bytes, text.len)))
        abort();
    if (text.len)
        try_query(c, &text);
    buffer_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t n = end ? (size_t)(end - data) : 0;
    size_t len = end ? size - n - 1 : size;
    char *label = calloc(1, n + 1), *bytes = malloc(len + !len);
    struct web_encoding e;

    if (!label || !bytes)
        abort();
    memcpy(label, data, n);
    if (len)
        memcpy(bytes, data + size - len, len);
    web_charset_of(&e, bytes, len, label);
    if (e.skip > len)
        abort();
    try_charset(e.charset ? e.charset : web_charset_guess(bytes, len),
                bytes + e.skip, len - e.skip);
    web_charset_meta(bytes, len);
    free(bytes);
    free(label);
    return 0;
}
