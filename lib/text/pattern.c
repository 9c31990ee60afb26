/*
 * pattern.c - patterns, and searches with them.
 *
 * What is done once per pattern comes first. Its size is counted before
 * anything is allocated for it, because a text of twenty bytes can repeat a
 * part millions of times. Then pattern_parse.c reads its parts,
 * pattern_nodes.c links nodes, and pattern_machine.c prepares the tables that
 * all texts share.
 *
 * What is done per text follows in the order of a search: where matches begin
 * (one pass from the end of the text), where the match at such a place ends
 * (one pass forward), and which part of it is the group (pattern_group.c).
 * pattern_has() needs the first alone, and stops at the first start that it
 * meets; for a pattern that can only begin with the text it needs the second.
 *
 * States that a text makes necessary are kept in a cache. A search takes one
 * that is idle, or makes one, and gives it back at its end. So threads that
 * use one pattern share what they learned without sharing a lock while they
 * read: there are as many caches as threads were ever in it at a time.
 */
#include "pattern.h"

#include <pthread.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "pattern_states.h"

enum {
    BLOCK = 256,        /* bytes between two looks at the budget */
    /* Bytes that the states of a cache may take: for one pattern, more for
       each of the texts of pattern_new_any(), and at most. */
    MEMORY = 256 << 10,
    MEMORY_MORE = 16 << 10,
    MEMORY_MOST = 4 << 20
};

/* Caches that no thread uses now. */
struct pattern_idle {
    pthread_mutex_t mutex;
    struct pattern_cache *first;
};

struct pattern {
    char *text;
    struct pattern_machine machine;
    size_t groups;
    bool wants_group;
    struct pattern_idle *idle;
};

/* --- how large a pattern is --- */

/* The larger number of a {m,n}, or 1. */
static uint64_t repeats(const char *at)
{
    char *end;
    uint64_t m = strtoull(at + 1, &end, 10), n = m;

    if (*end == ',' && end[1] >= '0' && end[1] <= '9')
        n = strtoull(end + 1, &end, 10);
    n = n > m ? n : m ? m : 1;
    return n < PATTERN_SIZE ? n : PATTERN_SIZE;
}

/* The last byte of "[...]", in which "]" may come first. */
static const char *skip_brackets(const char *at)
{
    at += at[1] == '^' ? 2 : 1;
    at += *at == ']';
    while (*at && *at != ']')
        at++;
    return *at ? at : at - 1;
}

uint64_t pattern_size(const char *text)
{
    struct pattern_level {
        uint64_t size, last; /* of the group so far; of its last part */
    } level[PATTERN_DEPTH] = { { 0, 0 } };
    size_t depth = 0;

    for (const char *at = text; *at; at++) {
        struct pattern_level *l = &level[depth];

        switch (*at) {
        case '+': l->last *= 2; break;
        case '{': l->last *= repeats(at); break;
        case '*':
        case '?': l->last++; break;
        case '(':
            l->size += l->last;
            l->last = 0;
            if (++depth == PATTERN_DEPTH)
                return PATTERN_SIZE + 1;
            level[depth] = (struct pattern_level){ 0, 0 };
            break;
        case ')':
            if (depth)
                level[--depth].last = l->size + l->last + 1;
            break;
        default:
            l->size += l->last;
            l->last = 1;
            if (*at == '[')
                at = skip_brackets(at);
            else if (*at == '\\' && at[1])
                at++;
        }
        if (level[depth].size + level[depth].last > PATTERN_SIZE)
            return PATTERN_SIZE + 1;
    }
    return level[depth].size + level[depth].last;
}

/* --- new and free --- */

/* The C library has the words for what is wrong. It is not asked about other
   texts: for "(((^a)*(^b)*)*(^c)*)*" and its like regcomp() takes forever. */
static enum seen_code invalid(const char *text, struct seen_error *why)
{
    regex_t compiled;
    char says[100] = "not understood";
    int error = regcomp(&compiled, text, REG_EXTENDED);

    if (error)
        regerror(error, &compiled, says, sizeof says);
    else
        regfree(&compiled);
    return seen_fail(why, SEEN_RANGE, 0,
                     "not an extended regular expression: %s", says);
}

static enum pattern_parsed compile(struct pattern *p, const char *const *text,
                                   size_t n, bool groups)
{
    struct pattern_parts parts;
    struct pattern_nodes nodes = { .n = 0 };
    enum pattern_parsed result = pattern_parse(&parts, text, n);

    if (result == PATTERN_PARSED)
        result = pattern_link(&nodes, &parts, groups);
    if (result == PATTERN_PARSED) {
        p->groups = parts.groups;
        p->wants_group = groups && parts.groups;
        result = pattern_machine_init(&p->machine, &nodes, parts.set,
                                      parts.sets);
        p->machine.memory = MEMORY;
        parts.set = NULL;
    }
    free(nodes.node);
    pattern_parts_clear(&parts);
    return result;
}

static enum seen_code fill(struct pattern *p, const char *const *text,
                           size_t n, bool groups, struct seen_error *why)
{
    enum pattern_parsed result;

    p->text = strdup(n == 1 ? *text : "");
    p->idle = calloc(1, sizeof *p->idle);
    if (p->idle)
        pthread_mutex_init(&p->idle->mutex, NULL);
    result = p->text && p->idle ? compile(p, text, n, groups)
                                : PATTERN_NO_MEMORY;
    switch (result) {
    case PATTERN_PARSED: return SEEN_OK;
    case PATTERN_INVALID: return invalid(*text, why);
    case PATTERN_REFERENCE:
        return seen_fail(why, SEEN_RANGE, 0,
                         "the pattern has a back reference");
    case PATTERN_TOO_MUCH:
        return seen_fail(why, SEEN_RANGE, 0, "the pattern repeats too much");
    default: return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    }
}

static enum seen_code make(struct pattern **out, const char *const *text,
                           size_t n, bool groups, struct seen_error *why)
{
    struct pattern *p;
    enum seen_code code;
    uint64_t size = 0;

    *out = NULL;
    for (size_t i = 0; i < n && size <= PATTERN_SIZE; i++)
        size += pattern_size(text[i]);
    if (size > PATTERN_SIZE)
        return seen_fail(why, SEEN_RANGE, 0, "the pattern repeats too much");
    p = calloc(1, sizeof *p);
    if (!p)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    code = fill(p, text, n, groups, why);
    if (code != SEEN_OK)
        pattern_free(p);
    else
        *out = p;
    return code;
}

enum seen_code pattern_new(struct pattern **out, const char *text, bool groups,
                           struct seen_error *why)
{
    return make(out, &text, 1, groups, why);
}

enum seen_code pattern_new_any(struct pattern **out, const char *const *text,
                               size_t n, struct seen_error *why)
{
    enum seen_code code = make(out, text, n, false, why);

    if (code == SEEN_OK && n > 1)
        pattern_limit(*out, n < (MEMORY_MOST - MEMORY) / MEMORY_MORE
                                ? MEMORY + n * MEMORY_MORE
                                : MEMORY_MOST);
    return code;
}

void pattern_limit(struct pattern *p, size_t bytes)
{
    p->machine.memory = bytes;
}

void pattern_free(struct pattern *p)
{
    if (!p)
        return;
    while (p->idle && p->idle->first) {
        struct pattern_cache *c = p->idle->first;

        p->idle->first = c->next;
        pattern_cache_free(c);
    }
    if (p->idle)
        pthread_mutex_destroy(&p->idle->mutex);
    free(p->idle);
    pattern_machine_clear(&p->machine);
    free(p->text);
    free(p);
}

const char *pattern_text(const struct pattern *p)
{
    return p->text;
}

size_t pattern_groups(const struct pattern *p)
{
    return p->groups;
}

/* --- caches --- */

static struct pattern_cache *take_cache(const struct pattern *p)
{
    struct pattern_cache *c;

    pthread_mutex_lock(&p->idle->mutex);
    c = p->idle->first;
    if (c)
        p->idle->first = c->next;
    pthread_mutex_unlock(&p->idle->mutex);
    return c ? c : pattern_cache_new(&p->machine);
}

static void give_cache(const struct pattern *p, struct pattern_cache *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&p->idle->mutex);
    c->next = p->idle->first;
    p->idle->first = c;
    pthread_mutex_unlock(&p->idle->mutex);
}

/* --- where matches begin --- */

/* What is before a byte of the text. `cut`: the text is taken to begin there,
   although it does not. */
static enum pattern_before before_of(const struct pattern *p,
                                     struct seen_span text, size_t at,
                                     unsigned flags, bool cut)
{
    if (at && !cut)
        return p->machine.word[(unsigned char)text.text[at - 1]]
                   ? BEHIND_WORD
                   : BEHIND_OTHER;
    return at || flags & PATTERN_NO_BEGIN ? BEHIND_CUT : BEHIND_BEGIN;
}

static bool begins(const struct pattern *p, struct seen_span text, size_t at,
                   unsigned flags, bool cut, uint8_t starts)
{
    return starts && starts >> before_of(p, text, at, flags, cut) & 1;
}

/* Where the bytes before `at` stop to leave the state as it is: most do, and
   this loop waits for nothing but the text. */
static size_t skip_back(const struct pattern_machine *m,
                        const struct pattern_state *s, struct seen_span text,
                        size_t at)
{
    while (at && s->next[m->class_of[(unsigned char)text.text[at - 1]]] == s)
        at--;
    return at;
}

/*
 * Read a text from its end. With `marks`, note for each byte, and after the
 * last one, where a match may begin; else stop at the first that is met.
 */
static enum seen_code find_starts(const struct pattern *p,
                                  struct pattern_cache *c,
                                  struct seen_span text, unsigned flags,
                                  struct budget *budget, unsigned char *marks,
                                  bool *found)
{
    struct pattern_state *s = pattern_first_starts(
        c, flags & PATTERN_NO_END ? AHEAD_CUT : AHEAD_END);
    size_t at = text.len, from, looked = at;
    uint64_t steps = 1;

    for (*found = false; s;) {
        from = at;
        if (marks || !s->starts)
            at = skip_back(&p->machine, s, text, at);
        if (marks)
            memset(marks + at, s->starts, from - at + 1);
        else
            *found = begins(p, text, at, flags, false, s->starts);
        steps += (from - at) * s->steps;
        if (!at || *found)
            return budget_spend(budget, steps) ? SEEN_OK : SEEN_RANGE;
        steps += s->steps;
        if (looked - at >= BLOCK) {
            if (!budget_spend(budget, steps))
                return SEEN_RANGE;
            looked = at;
            steps = 0;
        }
        s = pattern_step(c, s, (unsigned char)text.text[--at]);
    }
    return SEEN_NOMEM;
}

/* --- where they end --- */

/* The last end of a match that begins in `w`, and the node there; or, if that
   will do, its first end. */
static enum seen_code find_end(struct pattern_search *s, struct pattern_way *w,
                               bool first)
{
    struct pattern_cache *c = s->cache;
    const bool *word = s->pattern->machine.word;
    struct pattern_state *state = pattern_first_ahead(c, w->before);
    size_t at = w->begin, len = s->text.len;
    uint64_t steps = 1;

    for (w->finish = PATTERN_NONE; state; at++) {
        enum pattern_after after = at == len ? s->flags & PATTERN_NO_END
                                                   ? AHEAD_CUT
                                                   : AHEAD_END
                                   : word[(unsigned char)s->text.text[at]]
                                       ? AHEAD_WORD
                                       : AHEAD_OTHER;

        if (state->end[after] != PATTERN_NONE) {
            w->finish = state->end[after];
            w->end = at;
        }
        if (at == len || !state->n || (first && w->finish != PATTERN_NONE))
            return budget_spend(s->budget, steps) ? SEEN_OK : SEEN_RANGE;
        steps += state->steps;
        if (at % BLOCK == BLOCK - 1) {
            if (!budget_spend(s->budget, steps))
                return SEEN_RANGE;
            steps = 0;
        }
        state = pattern_step(c, state, (unsigned char)s->text.text[at]);
    }
    return SEEN_NOMEM;
}

/* Only where a text begins can a match begin: nothing needs to be marked. */
static enum seen_code begins_with(const struct pattern *p,
                                  struct pattern_cache *c,
                                  struct seen_span text, struct budget *budget,
                                  bool *found)
{
    struct pattern_way w = { .text = text, .before = BEHIND_BEGIN };
    struct pattern_search s = {
        .pattern = p, .text = text, .budget = budget, .cache = c
    };
    enum seen_code code = find_end(&s, &w, true);

    *found = w.finish != PATTERN_NONE;
    return code;
}

enum seen_code pattern_has(const struct pattern *p, struct seen_span text,
                           struct budget *budget, bool *found)
{
    struct pattern_cache *c = take_cache(p);
    enum seen_code code;

    *found = false;
    if (!c)
        return SEEN_NOMEM;
    code = p->machine.anchored
               ? begins_with(p, c, text, budget, found)
               : find_starts(p, c, text, 0, budget, NULL, found);
    *found = *found && code == SEEN_OK;
    give_cache(p, c);
    return code;
}

/* --- searches --- */

void pattern_search_init(struct pattern_search *s, const struct pattern *p,
                         struct seen_span text, unsigned flags,
                         struct budget *budget)
{
    s->pattern = p;
    s->text = text;
    s->flags = flags;
    s->budget = budget;
    s->cache = NULL;
    s->starts = NULL;
}

void pattern_search_clear(struct pattern_search *s)
{
    give_cache(s->pattern, s->cache);
    if (s->starts != s->room)
        free(s->starts);
    s->cache = NULL;
    s->starts = NULL;
}

/* Take a cache and mark where matches begin, at the first call. */
static enum seen_code start(struct pattern_search *s)
{
    bool unused;

    if (!s->cache && !(s->cache = take_cache(s->pattern)))
        return SEEN_NOMEM;
    if (s->starts || s->pattern->machine.anchored)
        return SEEN_OK;
    s->starts = s->text.len < sizeof s->room ? s->room
                                             : malloc(s->text.len + 1);
    if (!s->starts)
        return SEEN_NOMEM;
    return find_starts(s->pattern, s->cache, s->text, s->flags, s->budget,
                       s->starts, &unused);
}

/* The next byte at which a match may begin; past the text if there is
   none. */
static size_t next_start(const struct pattern_search *s, size_t from,
                         size_t at)
{
    if (!s->starts)
        return at == from ? at : s->text.len + 1;
    while (at <= s->text.len && !begins(s->pattern, s->text, at, s->flags,
                                        at == from, s->starts[at]))
        at++;
    return at;
}

enum seen_code pattern_search_next(struct pattern_search *s, size_t from,
                                   struct pattern_match *found, bool *any)
{
    struct pattern_way w = { .text = s->text, .group = SIZE_MAX };
    bool wants_group = s->pattern->wants_group &&
                       !(s->flags & PATTERN_NO_GROUP);
    enum pattern_went went = PATTERN_NO_WAY;
    enum seen_code code = start(s);
    size_t at = from;

    *any = false;
    for (; code == SEEN_OK && went == PATTERN_NO_WAY; at++) {
        at = next_start(s, from, at);
        if (at > s->text.len)
            return SEEN_OK;
        w.begin = at;
        w.before = before_of(s->pattern, s->text, at, s->flags, at == from);
        code = find_end(s, &w, false);
        if (code != SEEN_OK || w.finish == PATTERN_NONE)
            continue;
        went = PATTERN_WENT;
        if (wants_group)
            code = pattern_find_group(s->cache, &w, s->budget, &went);
    }
    if (code != SEEN_OK || went != PATTERN_WENT)
        return code;
    *any = true;
    *found = (struct pattern_match){ .begin = w.begin, .end = w.end };
    found->grouped = w.group != SIZE_MAX;
    if (found->grouped) {
        found->group = w.group;
        found->group_end = w.group_end;
    }
    return SEEN_OK;
}
