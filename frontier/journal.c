/*
 * journal.c - URLs as rows of many.
 *
 *     row 130    URLs 1 to 130
 *     row 255    URLs 131 to 255          the number of a row is its last one
 *     block      256, 257, ...            in memory, until it has 64 KiB
 *
 * Neighbours share the beginnings of their URLs, and a row of many is one
 * insert. Nothing is lost when a process dies with a block in memory: each
 * commit writes it first, and what was not committed was not added.
 */
#include "journal.h"

#include <stdlib.h>

#include "../lib/text/buffer.h"
#include "../lib/text/little.h"
#include "../lib/text/memory.h"
#include "../lib/text/span.h"
#include "pack.h"

enum {
    HEAD = 4,        /* bytes of how many URLs there are */
    BLOCK = 64 << 10 /* bytes of a row, or one URL more */
};

enum { ADD, READ, DROP, EMPTY, LAST, STATEMENTS };

static const char *const texts[STATEMENTS] = {
    [ADD] = "INSERT INTO journal (id, url) VALUES (?1, ?2)",
    [READ] = "SELECT id, url, typeof(url) = 'blob' FROM journal WHERE id > ?1 "
             "ORDER BY id",
    [DROP] = "DELETE FROM journal WHERE id <= ?1",
    [EMPTY] = "DELETE FROM journal",
    [LAST] = "SELECT seq FROM sqlite_sequence WHERE name = 'journal'",
};

struct frontier_journal {
    struct sql *db;
    struct sql_statement *st[STATEMENTS];
    int64_t last; /* the number of the last URL; -1: not known yet */
    uint32_t n;   /* URLs in the block */
    struct buffer block, before;
};

enum seen_code frontier_journal_open(struct frontier_journal **out,
                                     struct sql *db, struct seen_error *why)
{
    struct frontier_journal *j = calloc(1, sizeof *j);
    enum seen_code code = SEEN_OK;

    *out = NULL;
    if (!j)
        return no_memory_for(why, "the journal");
    j->db = db;
    j->last = -1;
    for (int i = 0; code == SEEN_OK && i < STATEMENTS; i++)
        code = sql_prepare(&j->st[i], db, texts[i], why);
    if (code == SEEN_OK)
        *out = j;
    else
        frontier_journal_close(j);
    return code;
}

void frontier_journal_close(struct frontier_journal *j)
{
    if (!j)
        return;
    buffer_clear(&j->block);
    buffer_clear(&j->before);
    free(j);
}

enum seen_code frontier_journal_write(struct frontier_journal *j,
                                      struct seen_error *why)
{
    struct sql_statement *st = j->st[ADD];

    if (!j->n)
        return SEEN_OK;
    little_put_32(j->block.bytes, j->n);
    sql_bind_number(st, 1, j->last);
    sql_bind_bytes(st, 2, (struct seen_span){ j->block.bytes, j->block.len });
    j->n = 0;
    return sql_do(st, why);
}

static void begin(struct frontier_journal *j)
{
    static const char none[HEAD];

    j->block.len = j->before.len = 0;
    buffer_bytes(&j->block, none, sizeof none);
}

enum seen_code frontier_journal_add(struct frontier_journal *j,
                                    struct seen_span url, int64_t *id,
                                    struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (j->last < 0) {
        j->last = 0;
        code = sql_first(j->st[LAST], &j->last, why);
        if (code == SEEN_OK && (j->last < 0 || j->last > INT64_MAX / 2))
            code = seen_fail(
                why, SEEN_CORRUPT, 0,
                "the number of the journal's last URL is damaged");
        if (code != SEEN_OK) {
            j->last = -1;
            return code;
        }
    }
    if (!j->n)
        begin(j);
    frontier_pack_put_text(&j->block, &j->before, url);
    if (j->block.failed || j->before.failed)
        return no_memory_for(why, "the journal");
    j->n++;
    *id = ++j->last;
    return j->block.len >= BLOCK ? frontier_journal_write(j, why) : SEEN_OK;
}

static enum seen_code damaged(int64_t last, struct seen_error *why)
{
    return seen_fail(why, SEEN_CORRUPT, 0,
                     "row %lld of the journal is damaged", (long long)last);
}

/* A row that was cut short, or says that it has fewer URLs than it has, is not
   one with fewer: those would be forgotten, and fetched again. */
static enum seen_code read_block(struct seen_span bytes, int64_t last,
                                 int64_t after, frontier_take_url *take,
                                 void *owner, struct seen_error *why)
{
    const unsigned char *at = (const unsigned char *)bytes.text;
    const unsigned char *end = at + bytes.len;
    struct buffer url = { .bytes = NULL };
    enum seen_code code = SEEN_OK;
    int64_t id;

    if (bytes.len < HEAD || little_32(at) > last)
        return damaged(last, why);
    id = last - little_32(at);
    at += HEAD;
    while (code == SEEN_OK && id < last) {
        if (!frontier_pack_text(&at, end, &url)) {
            code = url.failed ? no_memory_for(why, "the journal")
                              : damaged(last, why);
            break;
        }
        if (++id > after)
            code = take(
                owner, id,
                (struct seen_span){ url.len ? url.bytes : "", url.len }, why);
    }
    buffer_clear(&url);
    return code == SEEN_OK && at != end ? damaged(last, why) : code;
}

enum seen_code frontier_journal_read(struct frontier_journal *j, int64_t after,
                                     frontier_take_url *take, void *owner,
                                     struct seen_error *why)
{
    struct sql_statement *st = j->st[READ];
    enum seen_code code = frontier_journal_write(j, why);
    bool row;

    sql_bind_number(st, 1, after);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        int64_t id = sql_number(st, 0);

        code = sql_number(st, 2)
                   ? read_block(sql_text(st, 1), id, after, take, owner, why)
                   : take(owner, id, sql_text(st, 1), why);
        if (code != SEEN_OK)
            sql_reset(st);
    }
    return code;
}

enum seen_code frontier_journal_drop(struct frontier_journal *j, int64_t upto,
                                     struct seen_error *why)
{
    enum seen_code code = frontier_journal_write(j, why);

    if (code != SEEN_OK)
        return code;
    sql_bind_number(j->st[DROP], 1, upto);
    return sql_do(j->st[DROP], why);
}

enum seen_code frontier_journal_empty(struct frontier_journal *j,
                                      struct seen_error *why)
{
    j->n = 0;
    return sql_do(j->st[EMPTY], why);
}
