/*
 * pattern_list.h - several patterns, asked about one text.
 *
 * A thousand patterns would read each text a thousand times, and keep 256 kB
 * each. Here all of them are one pattern first, which is read once; since most
 * texts match no pattern, that is mostly the end. Only a caller that must know
 * which one matched has them asked one by one.
 *
 *     struct pattern_list l = { .n = 0 };
 *
 *     pattern_list_add(&l, "/calendar/[0-9]+", false, &why);
 *     pattern_list_join(&l, l.n, &why);
 *     code = pattern_list_has(&l, url, &budget, &found, &at);
 *     code = pattern_list_find(&l, url, &budget, &at);
 *     pattern_list_clear(&l);
 *
 * Memory: besides the patterns themselves, each thread that is in them keeps
 * at most 12 MB for a list, however long, and some kilobytes per pattern.
 *
 * Threads: a list does not change after pattern_list_join(), and may then be
 * used by several threads.
 */
#ifndef SEEN_TEXT_PATTERN_LIST_H
#define SEEN_TEXT_PATTERN_LIST_H

#include "pattern.h"

struct pattern_list {
    struct pattern **pattern;
    size_t n, room;
    struct pattern *any; /* all of them as one; NULL if there are few */
};

/* Append a pattern: as pattern_new(). */
enum seen_code pattern_list_add(struct pattern_list *l, const char *text,
                                bool groups, struct seen_error *why);

/* After the last one. `all`: how many patterns there are in this and other
   lists that share their memory, at least l->n. SEEN_NOMEM. */
enum seen_code pattern_list_join(struct pattern_list *l, size_t all,
                                 struct seen_error *why);
void pattern_list_clear(struct pattern_list *l);

/*
 * Is one of them in the text? The first that is, or l->n? SEEN_RANGE, with the
 * pattern at which the budget ended in *at, or SEEN_NOMEM: it is not known.
 */
enum seen_code pattern_list_has(const struct pattern_list *l,
                                struct seen_span text, struct budget *budget,
                                bool *found, size_t *at);
enum seen_code pattern_list_find(const struct pattern_list *l,
                                 struct seen_span text, struct budget *budget,
                                 size_t *at);

#endif
