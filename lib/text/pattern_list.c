/*
 * pattern_list.c - all patterns as one, then one by one.
 *
 * The joined pattern answers for all of them at the price of one, and mostly
 * says no. It can be dearer than its parts: it has states for combinations of
 * them. So it gets half of the budget, and if that is not enough the patterns
 * are asked one by one with what is left, as they are if there are few, or if
 * they were too large to be joined. What is asked does not change the answer.
 */
#include "pattern_list.h"

#include <stdlib.h>

#include "array.h"

enum {
    FEW = 3,           /* patterns that are asked one by one */
    MEMORY = 8 << 20,  /* bytes of all patterns together, per thread */
    LEAST = 4 << 10,   /* bytes of one of them, at least */
    MOST = 256 << 10   /* and at most */
};

enum seen_code pattern_list_add(struct pattern_list *l, const char *text,
                                bool groups, struct seen_error *why)
{
    struct pattern **more = array_grow(l->pattern, &l->room, l->n + 1,
                                       sizeof *more);
    enum seen_code code;

    if (!more)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    l->pattern = more;
    code = pattern_new(&more[l->n], text, groups, why);
    l->n += code == SEEN_OK;
    return code;
}

enum seen_code pattern_list_join(struct pattern_list *l, size_t all,
                                 struct seen_error *why)
{
    size_t share = MEMORY / (all ? all : 1);
    const char **text;
    enum seen_code code;

    share = share < LEAST ? LEAST : share > MOST ? MOST : share;
    for (size_t i = 0; i < l->n; i++)
        pattern_limit(l->pattern[i], share);
    if (l->n <= FEW)
        return SEEN_OK;
    text = malloc(l->n * sizeof *text);
    if (!text)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < l->n; i++)
        text[i] = pattern_text(l->pattern[i]);
    code = pattern_new_any(&l->any, text, l->n, why);
    free(text);
    return code == SEEN_RANGE ? SEEN_OK : code; /* too large for one */
}

void pattern_list_clear(struct pattern_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        pattern_free(l->pattern[i]);
    free(l->pattern);
    pattern_free(l->any);
    *l = (struct pattern_list){ .n = 0 };
}

/* Ask all of them as one. If that costs more than half of the budget, it is
   not known, and each is still to be asked. */
static bool ask_all(const struct pattern_list *l, struct seen_span text,
                    struct budget *budget, bool *found)
{
    const uint64_t half = budget->left / 2;
    struct budget part = budget_lend(budget, half);
    enum seen_code code;

    *found = false;
    if (!l->any)
        return false;
    code = pattern_has(l->any, text, &part, found);
    budget_settle(budget, &part, half);
    return code == SEEN_OK;
}

static enum seen_code ask_each(const struct pattern_list *l,
                               struct seen_span text, struct budget *budget,
                               size_t *at)
{
    enum seen_code code = SEEN_OK;
    bool found = false;

    for (*at = 0; *at < l->n; ++*at) {
        code = pattern_has(l->pattern[*at], text, budget, &found);
        if (code != SEEN_OK || found)
            break;
    }
    return code;
}

enum seen_code pattern_list_has(const struct pattern_list *l,
                                struct seen_span text, struct budget *budget,
                                bool *found, size_t *at)
{
    enum seen_code code;

    *at = l->n;
    if (ask_all(l, text, budget, found))
        return SEEN_OK;
    code = ask_each(l, text, budget, at);
    *found = code == SEEN_OK && *at < l->n;
    return code;
}

enum seen_code pattern_list_find(const struct pattern_list *l,
                                 struct seen_span text, struct budget *budget,
                                 size_t *at)
{
    bool found;

    *at = l->n;
    if (ask_all(l, text, budget, &found) && !found)
        return SEEN_OK;
    return ask_each(l, text, budget, at);
}
