/*
 * answer.c - fuzz lines of results.
 *
 * What is accepted is written, and what is written is read as the same again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "change/answer.h"
#include "lib/text/span.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct change_answers *all)
{
    struct buffer first = { .bytes = NULL }, second = { .bytes = NULL };

    change_answer_write(&first, all, &all->answer[0]);
    if (change_answer_read(all, (struct seen_span){ first.bytes, first.len },
                           NULL) != SEEN_OK)
        abort();
    change_answer_write(&second, all, &all->answer[1]);
    if (!span_equal((struct seen_span){ first.bytes, first.len },
                    (struct seen_span){ second.bytes, second.len }))
        abort();
    buffer_clear(&first);
    buffer_clear(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct change_answers all = { .answer = NULL };
    char *line = malloc(size + 1);

    if (!line)
        abort();
    if (size)
        memcpy(line, data, size);
    if (change_answer_read(&all, (struct seen_span){ line, size }, NULL) ==
        SEEN_OK)
        check(&all);
    change_answers_clear(&all);
    free(line);
    return 0;
}
