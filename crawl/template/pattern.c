/*
 * pattern.c - patterns of a template, on lib/text/pattern.h.
 *
 * What a template may have is less than what a pattern may: it comes from a
 * job's message, too, and texts of pages are searched with it.
 */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

static const char *refused(const char *text)
{
    if (!*text)
        return "the pattern is empty";
    if (strlen(text) > CRAWL_PATTERN)
        return "the pattern is longer than 1,000 bytes";
    return pattern_size(text) > CRAWL_PATTERN_SIZE
               ? "the pattern repeats too much"
               : NULL;
}

enum seen_code crawl_patterns_add(struct crawl_patterns *to, const char *text,
                                  bool groups, struct seen_error *why)
{
    const char *wrong = refused(text), **texts;
    size_t n = to->list.n;
    enum seen_code code;

    if (wrong)
        return seen_fail(why, SEEN_RANGE, 0, "%s", wrong);
    texts = realloc(to->text, (n + 2) * sizeof *texts);
    if (!texts)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    to->text = texts;
    code = pattern_list_add(&to->list, text, groups, why);
    if (code != SEEN_OK)
        return code;
    texts[n] = pattern_text(to->list.pattern[n]);
    texts[n + 1] = NULL;
    return SEEN_OK;
}

void crawl_patterns_clear(struct crawl_patterns *p)
{
    pattern_list_clear(&p->list);
    free(p->text);
    p->text = NULL;
}

static struct seen_span searched(const char *text, size_t len)
{
    return (struct seen_span){ text, len < CRAWL_PATTERN_INPUT
                                         ? len
                                         : CRAWL_PATTERN_INPUT };
}

bool crawl_patterns_has(const struct crawl_patterns *p, const char *text,
                        size_t len, struct budget *budget, bool *found,
                        const char **pattern)
{
    size_t at;
    bool known = pattern_list_has(&p->list, searched(text, len), budget, found,
                                  &at) == SEEN_OK;

    *pattern = known ? NULL : p->text[at];
    return known;
}

bool crawl_patterns_find(const struct crawl_patterns *p, const char *text,
                         size_t len, struct budget *budget,
                         const char **pattern)
{
    size_t at;
    bool known = pattern_list_find(&p->list, searched(text, len), budget,
                                   &at) == SEEN_OK;

    *pattern = at < p->list.n ? p->text[at] : NULL;
    return known;
}
