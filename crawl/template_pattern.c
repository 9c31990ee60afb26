/*
 * template_pattern.c - patterns of a template, on regcomp() of the C library.
 *
 * POSIX extended regular expressions need no further library, and those of
 * glibc are matched without backtracking, as long as they have no back
 * references, which are refused. Repetitions are expanded by glibc:
 * "((a{1,255}){1,255}){1,255}" would take gigabytes, and so would "a" with
 * forty "+" behind it, so the expanded size is bounded. Patterns match bytes, not characters: "." is one
 * byte of a letter that is not ASCII.
 */
#include "template_inside.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/span.h"

enum { GROUPS = 2, LEVELS = 64 };

/* The larger number of a {m,n}, or 1. */
static uint64_t repeats(const char *at)
{
    char *end;
    uint64_t m = strtoull(at + 1, &end, 10), n = m;

    if (*end == ',' && end[1] >= '0' && end[1] <= '9')
        n = strtoull(end + 1, &end, 10);
    n = n > m ? n : m ? m : 1;
    return n < CRAWL_PATTERN_SIZE ? n : CRAWL_PATTERN_SIZE;
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

/*
 * How many parts glibc makes of a pattern: "x+" is "xx*" to it, and "x{1,9}"
 * is nine x, of whatever x is.
 */
static uint64_t size_of(const char *text)
{
    struct pattern_level {
        uint64_t size, last; /* of the group so far; of its last part */
    } level[LEVELS] = { { 0, 0 } };
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
            if (++depth == LEVELS)
                return CRAWL_PATTERN_SIZE + 1;
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
        if (level[depth].size + level[depth].last > CRAWL_PATTERN_SIZE)
            return CRAWL_PATTERN_SIZE + 1;
    }
    return level[depth].size + level[depth].last;
}

static const char *refused(const char *text)
{
    if (!*text)
        return "the pattern is empty";
    if (strlen(text) > CRAWL_PATTERN)
        return "the pattern is longer than 1,000 bytes";
    for (const char *at = text; *at; at++)
        if (*at == '\\' && at[1]) {
            if (at[1] >= '1' && at[1] <= '9')
                return "the pattern has a back reference";
            at++;
        }
    return size_of(text) > CRAWL_PATTERN_SIZE ? "the pattern repeats too much"
                                              : NULL;
}

enum seen_code crawl_patterns_add(struct crawl_patterns *to, const char *text,
                                  struct seen_error *why)
{
    const char *wrong = refused(text), **texts;
    struct crawl_pattern *more;
    char says[100];
    int error;

    if (wrong)
        return seen_fail(why, SEEN_RANGE, 0, "%s", wrong);
    more = realloc(to->pattern, (to->n + 1) * sizeof *more);
    if (more)
        to->pattern = more;
    texts = realloc(to->text, (to->n + 2) * sizeof *texts);
    if (texts)
        to->text = texts;
    if (!more || !texts)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    more += to->n;
    error = regcomp(&more->compiled, text, REG_EXTENDED);
    if (error == REG_ESPACE)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    if (error) {
        regerror(error, &more->compiled, says, sizeof says);
        return seen_fail(why, SEEN_RANGE, 0,
                         "not an extended regular expression: %s", says);
    }
    more->text = strdup(text);
    if (!more->text) {
        regfree(&more->compiled);
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    }
    texts[to->n++] = more->text;
    texts[to->n] = NULL;
    return SEEN_OK;
}

void crawl_patterns_clear(struct crawl_patterns *p)
{
    for (size_t i = 0; i < p->n; i++) {
        regfree(&p->pattern[i].compiled);
        free(p->pattern[i].text);
    }
    free(p->pattern);
    free(p->text);
    *p = (struct crawl_patterns){ .n = 0 };
}

/* A copy that ends with a zero: regexec() with REG_STARTEND needs none, but
   the sanitizers do not know that. */
static bool search(const struct crawl_pattern *p, struct seen_span text,
                   bool begins, regmatch_t match[GROUPS])
{
    char room[CRAWL_PATTERN_INPUT + 1];

    if (text.len > CRAWL_PATTERN_INPUT)
        text.len = CRAWL_PATTERN_INPUT;
    memcpy(room, text.text, text.len);
    room[text.len] = 0;
    return !regexec(&p->compiled, room, GROUPS, match,
                    begins ? 0 : REG_NOTBOL);
}

const char *crawl_patterns_find(const struct crawl_patterns *p,
                                const char *text, size_t len)
{
    regmatch_t match[GROUPS];

    for (size_t i = 0; i < p->n; i++)
        if (search(&p->pattern[i], (struct seen_span){ text, len }, true,
                   match))
            return p->pattern[i].text;
    return NULL;
}

bool crawl_pattern_match(const struct crawl_pattern *p, struct seen_span text,
                         bool begins, struct seen_span *found, size_t *end)
{
    regmatch_t match[GROUPS];
    int group = p->compiled.re_nsub ? 1 : 0;

    if (!text.len || !search(p, text, begins, match))
        return false;
    *end = (size_t)match[0].rm_eo;
    if (match[group].rm_so < 0)
        *found = (struct seen_span){ text.text, 0 };
    else
        *found = (struct seen_span){ text.text + match[group].rm_so,
                                     (size_t)(match[group].rm_eo -
                                              match[group].rm_so) };
    return true;
}
