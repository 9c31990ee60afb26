/*
 * near.h - pages of different sites with almost the same text.
 *
 * A SimHash (M. Charikar: Similarity estimation techniques from rounding
 * algorithms, STOC 2002) is 64 bits of a text, of which texts that share most
 * of their words share most: bit i is the majority, over all words, of bit i
 * of the word's hash. Two texts whose word counts, as vectors, have the angle
 * t differ in about 64 t / pi bits: one word of 600 replaced gives 1.2 bits,
 * five give 2.6, unrelated texts 32.
 *
 * prints.h finds those within 3 bits without comparing all: it is in memory,
 * about 100 bytes per page. The state has a row per page, of its print and its
 * URL, which is read when the state is opened: a million rows in a second.
 *
 *     code = change_near_open(&n, state, &why);
 *     code = change_near_see(n, &record, rules, again, 3, take, owner, &why);
 *     code = change_near_close(n, &why);
 *
 * Threads: as the state.
 */
#ifndef SEEN_CHANGE_NEAR_H
#define SEEN_CHANGE_NEAR_H

#include "prints.h"
#include "state.h"

enum {
    CHANGE_NEAR_MOST = CHANGE_PRINTS_MOST,
    CHANGE_NEAR_WORDS = 20 /* texts of fewer words have no print */
};

struct change_near;

/* The print of the fields that are compared; false: too few words, or no
   memory. */
bool change_near_print(const struct change_record *r,
                       const struct change_rules *rules, uint64_t *print);

/* The table is in the state, and is made if it is missing. SEEN_CORRUPT if
   rows are missing. */
enum seen_code change_near_open(struct change_near **out,
                                struct change_state *s,
                                struct seen_error *why);
void change_near_close(struct change_near *n);

/* Changes between these are one transaction. */
enum seen_code change_near_begin(struct change_near *n,
                                 struct seen_error *why);
enum seen_code change_near_commit(struct change_near *n,
                                  struct seen_error *why);

/* Call take() with the nearest page of another host within `distance` bits, if
   there is one and prints.h finds it. Then remember the record's page. A record
   that came before (`again`) is passed over, unless its page is not remembered,
   as after a kill. */
typedef void change_near_take(void *owner, const struct change_record *r,
                              struct seen_span url, unsigned distance);
enum seen_code change_near_see(struct change_near *n,
                               const struct change_record *r,
                               const struct change_rules *rules, bool again,
                               unsigned distance, change_near_take *take,
                               void *owner, struct seen_error *why);

/* What the questions have cost so far. */
struct change_prints_cost change_near_cost(const struct change_near *n);

#endif
