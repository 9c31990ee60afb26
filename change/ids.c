/*
 * ids.c - tables of slots in memory, rows of hashes in the database.
 *
 * ids.h has the drawing. Probing is linear, and the highest bits of the hash
 * choose the slot, so that the 24 bits beside the number are other bits than
 * those. A question goes from the newest table to the oldest, one short run
 * of slots in each; tables double, so 10 million answers are in nine of them.
 * Nothing is moved or deleted inside a table, so a run of slots never gets a
 * hole: a table is filled, kept, and dropped as a whole when its last answer
 * is forgotten.
 *
 * The rows are the same hashes in the order of their numbers: opening a state
 * only puts them into tables again.
 */
#include "ids.h"

#include <stdlib.h>

#include <seen/key.h>

#include "../lib/text/little.h"

enum {
    FIRST_BITS = 16,
    NUMBER_BITS = 40,
    HASH = 8 /* bytes in a row */
};

const char change_ids_schema[] =
    "CREATE TABLE IF NOT EXISTS ids (first INTEGER PRIMARY KEY, hashes BLOB "
    "NOT NULL);";

uint64_t change_ids_hash(struct seen_span id)
{
    struct seen_key key;

    seen_key_hash(&key, id.text, id.len);
    return key.lo;
}

/* The low bits: the high ones choose the slot. */
static uint64_t mark_of(uint64_t hash)
{
    return hash << NUMBER_BITS;
}

static uint64_t number_of(uint64_t slot)
{
    return slot & ((UINT64_C(1) << NUMBER_BITS) - 1);
}

/* --- ask --- */

static void begin_table(const struct change_ids *ids, struct change_ids_at *at)
{
    if (at->table)
        at->slot = at->hash >> (64 - ids->table[at->table - 1].bits);
}

struct change_ids_at change_ids_begin(const struct change_ids *ids,
                                      uint64_t hash)
{
    struct change_ids_at at = { .hash = hash, .table = ids->tables };

    begin_table(ids, &at);
    return at;
}

bool change_ids_next(const struct change_ids *ids, struct change_ids_at *at,
                     int64_t *number)
{
    while (at->table) {
        const struct change_ids_table *t = &ids->table[at->table - 1];
        uint64_t slot = t->slot[at->slot];

        if (!slot) {
            at->table--;
            begin_table(ids, at);
            continue;
        }
        at->slot = (at->slot + 1) & ((UINT64_C(1) << t->bits) - 1);
        if (slot >> NUMBER_BITS == mark_of(at->hash) >> NUMBER_BITS) {
            *number = (int64_t)number_of(slot);
            return true;
        }
    }
    return false;
}

/* --- add --- */

static enum seen_code add_table(struct change_ids *ids, struct seen_error *why)
{
    struct change_ids_table *t = &ids->table[ids->tables];
    unsigned bits = FIRST_BITS;
    uint64_t used = 0;

    for (unsigned i = 0; i < ids->tables; i++)
        used += ids->table[i].used;
    while ((UINT64_C(3) << bits) / 4 < used)
        bits++;
    if (ids->tables < CHANGE_IDS_TABLES)
        t->slot = calloc(UINT64_C(1) << bits, sizeof *t->slot);
    if (ids->tables == CHANGE_IDS_TABLES || !t->slot)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for ids");
    t->bits = bits;
    t->used = 0;
    ids->tables++;
    return SEEN_OK;
}

static enum seen_code put(struct change_ids *ids, uint64_t hash,
                          int64_t number, struct seen_error *why)
{
    struct change_ids_table *t = ids->tables ? &ids->table[ids->tables - 1]
                                             : NULL;
    enum seen_code code;
    uint64_t at;

    if (number < 1 || number >> NUMBER_BITS)
        return seen_fail(why, SEEN_FULL, 0, "more than 2^40 answers");
    if (!t || t->used >= (UINT64_C(3) << t->bits) / 4) {
        code = add_table(ids, why);
        if (code != SEEN_OK)
            return code;
        t = &ids->table[ids->tables - 1];
    }
    at = hash >> (64 - t->bits);
    while (t->slot[at])
        at = (at + 1) & ((UINT64_C(1) << t->bits) - 1);
    t->slot[at] = mark_of(hash) | (uint64_t)number;
    t->used++;
    t->last = (uint64_t)number;
    return SEEN_OK;
}

enum seen_code change_ids_add(struct change_ids *ids, uint64_t hash,
                              int64_t number, struct seen_error *why)
{
    char bytes[HASH];

    if (!ids->hashes.len)
        ids->first = number;
    little_put_64(bytes, hash);
    buffer_bytes(&ids->hashes, bytes, HASH);
    return put(ids, hash, number, why);
}

enum seen_code change_ids_note(struct change_ids *ids, struct seen_error *why)
{
    enum seen_code code;

    if (ids->hashes.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for ids");
    if (!ids->hashes.len)
        return SEEN_OK;
    sql_bind_number(ids->add, 1, ids->first);
    sql_bind_bytes(ids->add, 2,
                   (struct seen_span){ ids->hashes.bytes, ids->hashes.len });
    code = sql_do(ids->add, why);
    ids->hashes.len = 0;
    return code;
}

/* A row stays until all its answers are gone. The last row stays. */
enum seen_code change_ids_forget(struct change_ids *ids, int64_t last,
                                 struct seen_error *why)
{
    unsigned old = 0;

    while (old + 1 < ids->tables && ids->table[old].last <= (uint64_t)last)
        free(ids->table[old++].slot);
    for (unsigned i = old; old && i < ids->tables; i++)
        ids->table[i - old] = ids->table[i];
    ids->tables -= old;
    sql_bind_number(ids->forget, 1, last);
    return sql_do(ids->forget, why);
}

/* --- open --- */

static enum seen_code load(struct change_ids *ids, struct sql *db,
                           struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(&st, db, "SELECT first, hashes FROM ids ORDER BY first",
                       why);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        int64_t first = sql_number(st, 0);
        struct seen_span hashes = sql_text(st, 1);

        for (size_t i = 0; code == SEEN_OK && i < hashes.len / HASH; i++)
            code = put(ids, little_64(hashes.text + i * HASH),
                       first + (int64_t)i, why);
        if (code != SEEN_OK)
            sql_reset(st);
    }
    return code;
}

enum seen_code change_ids_open(struct change_ids *ids, struct sql *db,
                               struct seen_error *why)
{
    enum seen_code code;

    code = sql_prepare(&ids->add, db, "INSERT INTO ids VALUES (?1, ?2)", why);
    if (code == SEEN_OK)
        code = sql_prepare(&ids->forget, db,
                           "DELETE FROM ids WHERE first < (SELECT max(first) "
                           "FROM ids WHERE first <= ?1 + 1)",
                           why);
    return code == SEEN_OK ? load(ids, db, why) : code;
}

void change_ids_clear(struct change_ids *ids)
{
    for (unsigned i = 0; i < ids->tables; i++)
        free(ids->table[i].slot);
    buffer_clear(&ids->hashes);
    *ids = (struct change_ids){ .tables = 0 };
}
