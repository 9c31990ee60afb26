/*
 * pattern.c - fuzz patterns on texts: the first line is the pattern, the rest
 * is the text.
 *
 * Matches are within the text, in order, and their groups within them. What a
 * search answers and costs does not depend on what earlier searches learned.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 1000000, MATCHES = 100 };

/* The ends of all matches, as one number, and the steps left. */
static uint64_t search_all(const struct pattern *p, struct seen_span text,
                           uint64_t *left)
{
    struct budget budget = { .left = STEPS };
    struct pattern_search s;
    struct pattern_match m = { .end = 0 };
    uint64_t sum = 0;
    bool any = true;

    pattern_search_init(&s, p, text, 0, &budget);
    for (size_t i = 0, from = 0; i < MATCHES && from <= text.len; i++) {
        if (pattern_search_next(&s, from, &m, &any) != SEEN_OK || !any)
            break;
        if (m.begin < from || m.end < m.begin || m.end > text.len)
            abort();
        if (m.grouped && (m.group < m.begin || m.group_end < m.group ||
                          m.group_end > m.end))
            abort();
        sum = 31 * sum + m.begin + 7 * m.end + 11 * m.group;
        from = m.end + (m.end == from);
    }
    pattern_search_clear(&s);
    *left = budget.left;
    return 2 * sum + any;
}

static void try_pattern(const char *pattern, bool groups,
                        struct seen_span text)
{
    struct budget budget = { .left = STEPS };
    struct pattern *p;
    uint64_t left[2], sum;
    bool has;

    if (pattern_size(pattern) > 2000 ||
        pattern_new(&p, pattern, groups, NULL) != SEEN_OK)
        return;
    sum = search_all(p, text, &left[0]);
    if (sum != search_all(p, text, &left[1]) || left[0] != left[1])
        abort();
    if (pattern_has(p, text, &budget, &has) != SEEN_OK && has)
        abort();
    pattern_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t len = end ? (size_t)(end - data) : size;
    char *pattern = malloc(len + 1), *text = malloc(size - len + 1);

    if (!pattern || !text)
        abort();
    if (len)
        memcpy(pattern, data, len);
    pattern[len] = '\0';
    if (size > len)
        memcpy(text, data + len, size - len);
    try_pattern(pattern, true, (struct seen_span){ text, size - len });
    try_pattern(pattern, false, (struct seen_span){ text, size - len });
    free(pattern);
    free(text);
    return 0;
}
