/*
 * ids.h - the numbers of stored answers, by the ids of their records.
 *
 * Answers are numbered in the order in which they were given. An index by id
 * in the database would be written at another page for every record, and cost
 * more the more answers there are: at a million answers it took as long as
 * all the rest. So the database only appends: a row per batch has the hashes
 * of its ids, 8 bytes each. When a state is opened they are read into tables
 * in memory, about 15 bytes per answer, and 10 million in a second.
 *
 *     tables       0: 2^16 slots    1: 2^16    2: 2^17    <-- gets new ids
 *     slot         24 bits of the hash | number of the answer, 40 bits
 *     slot of a hash: its highest bits, or the next one that is free
 *
 * A table that is three quarters full is left as it is, and the next one has
 * room for as many ids as all tables have, so that nothing moves. Tables are
 * in the order of numbers: those of forgotten answers are dropped as a whole.
 *
 * A number that is found is a candidate: in one of a million questions the id
 * of that answer is another one.
 *
 *     for (struct change_ids_at at = change_ids_begin(&ids, hash);
 *          change_ids_next(&ids, &at, &number);)
 *         look at answer `number`;
 *
 * Threads: one at a time.
 */
#ifndef SEEN_CHANGE_IDS_H
#define SEEN_CHANGE_IDS_H

#include <stdbool.h>

#include "../lib/text/buffer.h"
#include "../sql/sql.h"

extern const char change_ids_schema[];

enum { CHANGE_IDS_TABLES = 40 };

struct change_ids_table {
    uint64_t *slot;
    unsigned bits;       /* 2^bits slots */
    uint64_t used, last; /* slots, and the highest number in them */
};

struct change_ids {
    struct change_ids_table table[CHANGE_IDS_TABLES];
    unsigned tables;
    int64_t first;        /* number of the first id of the batch */
    struct buffer hashes; /* of the ids of the batch */
    struct sql_statement *add, *forget;
};

enum seen_code change_ids_open(struct change_ids *ids, struct sql *db,
                               struct seen_error *why);
void change_ids_clear(struct change_ids *ids);

uint64_t change_ids_hash(struct seen_span id);

/* Candidates, the newest first. */
struct change_ids_at {
    uint64_t hash, slot;
    unsigned table; /* number + 1 */
};
struct change_ids_at change_ids_begin(const struct change_ids *ids,
                                      uint64_t hash);
bool change_ids_next(const struct change_ids *ids, struct change_ids_at *at,
                     int64_t *number);

/* The answers of a batch have consecutive numbers. */
enum seen_code change_ids_add(struct change_ids *ids, uint64_t hash,
                              int64_t number, struct seen_error *why);

/* In the transaction of a batch: its row. */
enum seen_code change_ids_note(struct change_ids *ids, struct seen_error *why);

/* Answers up to this number are gone. */
enum seen_code change_ids_forget(struct change_ids *ids, int64_t last,
                                 struct seen_error *why);

#endif
