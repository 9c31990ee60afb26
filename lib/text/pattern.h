/*
 * pattern.h - search texts of others for regular expressions, in linear time.
 *
 * Patterns are POSIX extended regular expressions as glibc has them, with \w,
 * \W, \s, \S, \b, \B, \<, \>, \` and \', and without back references. They
 * match bytes, not characters: "." is one byte of a letter that is not ASCII.
 * A match is the leftmost one, and of those the longest. It is the one that
 * regexec() finds, which has no bound: it starts anew at each byte ("x*y" on
 * 256 kB of x took it 16 s), and keeps every state that it ever made.
 *
 * Here a text is read once from its end, to mark where matches begin, and
 * each match once more, to know where it ends:
 *
 *     text     n o   1 2   v i e w s         [0-9]+ views
 *     starts         ^ ^                <──  one pass
 *     match          └───────────────┘  ──>  the first start
 *
 *     struct pattern_search s;
 *     struct pattern_match m;
 *     bool found;
 *
 *     pattern_new(&p, "([0-9]+) views", true, &why);
 *     pattern_search_init(&s, p, text, 0, &budget);
 *     if (pattern_search_next(&s, 0, &m, &found) == SEEN_OK && found)
 *         use(text.text + m.group, m.group_end - m.group);
 *     pattern_search_clear(&s);
 *
 * Steps are spent from a budget: one per byte, and per node of the pattern
 * that is alive there. They depend on the pattern and the text alone. Matches
 * that are tried at each start, and each read to the end of the text, are
 * what remains quadratic ("a(.*b)?" on many a): the budget ends them.
 *
 * Threads: a pattern does not change and may be used by several threads at
 * once. What they learn of it is kept, 256 kB per thread that was in it at a
 * time, or a little more if the pattern is large. A search belongs to a thread.
 */
#ifndef SEEN_TEXT_PATTERN_H
#define SEEN_TEXT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>

#include "budget.h"

struct pattern;

enum {
    PATTERN_SIZE = 100000, /* of a pattern, with repetitions expanded */
    PATTERN_DEPTH = 64      /* groups in groups */
};

/* How many parts a text would have as a pattern: "x+" is "xx*", and "x{1,9}"
   is nine x, of whatever x is. More than PATTERN_SIZE if it is too deep. */
uint64_t pattern_size(const char *text);

/*
 * `groups`: the first group is wanted. SEEN_RANGE with what is wrong: not a
 * pattern, a back reference, or more than PATTERN_SIZE; SEEN_NOMEM.
 */
enum seen_code pattern_new(struct pattern **out, const char *text, bool groups,
                           struct seen_error *why);
void pattern_free(struct pattern *p);

/*
 * A pattern that matches where one of several texts does: "a|b" of "a" and
 * "b", also where "|" between them would mean another thing. It is read once
 * for all of them, and does not say which one it was. It may keep more memory,
 * 16 kB per text up to 4 MB. Errors as above, PATTERN_SIZE being that of all.
 */
enum seen_code pattern_new_any(struct pattern **out, const char *const *text,
                               size_t n, struct seen_error *why);

/* Keep as much instead of 256 kB per thread; before it is used. Less costs
   time, as what is forgotten is made again, but no steps. */
void pattern_limit(struct pattern *p, size_t bytes);

const char *pattern_text(const struct pattern *p);

/* How many groups it has. */
size_t pattern_groups(const struct pattern *p);

/* Is there a match in the text? SEEN_RANGE: the budget is spent; SEEN_NOMEM. */
enum seen_code pattern_has(const struct pattern *p, struct seen_span text,
                           struct budget *budget, bool *found);

/* --- all matches --- */

enum {
    PATTERN_NO_BEGIN = 1, /* the text does not begin here: ^ does not match */
    PATTERN_NO_END = 2,   /* nor does it end here */
    PATTERN_NO_GROUP = 4  /* the match is asked for, and not its group */
};

struct pattern_match {
    size_t begin, end;
    bool grouped;            /* is group 1 a part of the match? */
    size_t group, group_end; /* it; if not: 0 */
};

struct pattern_cache;
enum { PATTERN_ROOM = 1024 };

struct pattern_search {
    const struct pattern *pattern;
    struct seen_span text;
    unsigned flags;
    struct budget *budget;
    struct pattern_cache *cache;
    unsigned char *starts; /* for each byte; NULL: they are not marked yet */
    unsigned char room[PATTERN_ROOM];
};

/* The text and the budget must stay. Nothing is read yet. */
void pattern_search_init(struct pattern_search *s, const struct pattern *p,
                         struct seen_span text, unsigned flags,
                         struct budget *budget);
void pattern_search_clear(struct pattern_search *s);

/*
 * The first match that begins at byte `from` or after it. After byte 0, what
 * is before `from` does not count: ^ does not match there, but \< may.
 * SEEN_RANGE: the budget is spent; SEEN_NOMEM.
 */
enum seen_code pattern_search_next(struct pattern_search *s, size_t from,
                                   struct pattern_match *found, bool *any);

#endif
