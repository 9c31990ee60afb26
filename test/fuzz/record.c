/*
 * record.c - fuzz page records.
 *
 * A record that is refused has a reason. One that is accepted has texts in
 * UTF-8, fields in the order of their names, and words that are the same when
 * they are folded again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "change/page.h"
#include "change/record.h"
#include "lib/text/span.h"
#include "lib/text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_words(struct seen_span value)
{
    struct change_words once = { .word = NULL }, twice = { .word = NULL };
    struct buffer folded = { .bytes = NULL };

    change_words_read(&once, value, NULL, 0);
    for (size_t i = 0; i < once.n; i++) {
        buffer_span(&folded, once.word[i]);
        buffer_byte(&folded, ' ');
    }
    change_words_read(&twice, (struct seen_span){ folded.bytes, folded.len },
                      NULL, 0);
    if (once.n != twice.n)
        abort();
    for (size_t i = 0; i < once.n; i++)
        if (!span_equal(once.word[i], twice.word[i]))
            abort();
    buffer_clear(&folded);
    change_words_clear(&once);
    change_words_clear(&twice);
}

static void check(const struct change_record *r)
{
    struct change_page page = { .field = NULL };

    if (!r->end && !r->url.len)
        abort();
    for (size_t i = 0; i < r->fields; i++) {
        const struct change_field *f = &r->field[i];

        if (!utf8_valid(f->name.text, f->name.len) ||
            f->first + f->n > r->values)
            abort();
        for (size_t k = 0; k < f->n; k++) {
            if (!utf8_valid(r->value[f->first + k].text,
                            r->value[f->first + k].len))
                abort();
            check_words(r->value[f->first + k]);
        }
    }
    if (change_page_read(&page, r, NULL, NULL) != SEEN_OK ||
        change_page_find(&page, NULL) != SEEN_OK)
        abort();
    change_page_clear(&page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct change_record r = { .field = NULL };
    struct seen_error why;
    char *line = malloc(size + 1);

    if (!line)
        abort();
    if (size)
        memcpy(line, data, size);
    if (change_record_read(&r, (struct seen_span){ line, size }, &why) ==
        SEEN_OK)
        check(&r);
    else if (!*why.text || !*r.fault)
        abort();
    change_record_clear(&r);
    free(line);
    return 0;
}
