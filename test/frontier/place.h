/*
 * place.h - a new, empty shared frontier for each test, on each database.
 *
 * Tests run on a SQLite file, and then in PostgreSQL, in a database of this
 * process. There each test has a schema of its own.
 *
 *     return place_run(tests, LENGTH(tests), shared_postgres("frontier"));
 */
#ifndef TEST_FRONTIER_PLACE_H
#define TEST_FRONTIER_PLACE_H

#include "frontier/shared.h"
#include "test/folder.h"

#include <stdio.h>

#include "lib/disk/clock.h"
#include "lib/text/span.h"
#include "test/servers/servers.h"

static const char *place_server; /* or NULL: SQLite */
static unsigned place_number;
static char place[600]; /* of this test, for sql_connect() */

#define GOOD(call) \
    do { \
        struct seen_error why = { .text = "" }; \
        enum seen_code good_code = (call); \
        if (good_code != SEEN_OK) \
            fail_msg("%s: %d %s", #call, (int)good_code, why.text); \
    } while (0)

static inline void place_make(void)
{
    struct seen_error why;
    struct sql *db;
    char text[100];

    place_number++;
    if (!place_server) {
        snprintf(place, sizeof place, "%s/shared-%u.db", folder, place_number);
        return;
    }
    assert_int_equal(sql_connect(&db, place_server, SQL_WRITE, &why), SEEN_OK);
    snprintf(text, sizeof text, "CREATE SCHEMA s%u", place_number);
    assert_int_equal(sql_run(db, text, &why), SEEN_OK);
    sql_close(db);
    snprintf(place, sizeof place, "%s&options=-csearch_path%%3Ds%u",
             place_server, place_number);
}

static inline int place_setup(void **state)
{
    (void)state;
    place_make();
    return 0;
}

/* --- the clock --- */

static int64_t place_ahead; /* of the database's clock */

/* Set the database's clock. The server's is a function of the test's own
   schema, which is found before the real one. */
static inline void place_set_clock(int64_t ahead)
{
    struct seen_error why;
    struct sql *db;
    char text[400];

    place_ahead = ahead;
    if (!place_server) {
        sql_imitate(NULL, ahead);
        return;
    }
    assert_int_equal(sql_connect(&db, place_server, SQL_WRITE, &why), SEEN_OK);
    snprintf(text, sizeof text,
             "CREATE OR REPLACE FUNCTION s%u.clock_timestamp() RETURNS "
             "timestamptz LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN "
             "pg_catalog.clock_timestamp() + %lld * interval '1 ms'; END $$",
             place_number, (long long)ahead);
    if (sql_run(db, text, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    sql_close(db);
}

/* For connections that are made from now on. */
static inline void place_own_clock(void)
{
    place_set_clock(0);
    if (place_server)
        strcat(place, ",pg_catalog");
}

/* Time passes, for the database and for this machine. */
static inline void place_pass(int64_t ms)
{
    clock_boot_skip(ms);
    if (place_server) /* a file has this machine's clock */
        place_set_clock(place_ahead + ms);
}

/* A worker with a connection of its own. */
struct place_worker {
    struct sql *db;
    struct frontier_shared *f;
};

/* The hosts that a worker has in memory. */
struct place_memory {
    int64_t id[16];
    size_t n;
};

static inline bool place_has(void *owner, int64_t host)
{
    const struct place_memory *m = owner;

    for (size_t i = 0; i < m->n; i++)
        if (m->id[i] == host)
            return true;
    return false;
}

static inline void place_open_with(struct place_worker *w, const char *name,
                                   unsigned lease, struct place_memory *memory)
{
    const struct frontier_worker worker = { .name = name,
                                            .lease = lease,
                                            .patience = 20000,
                                            .has = memory ? place_has : NULL,
                                            .owner = memory };

    GOOD(sql_connect(&w->db, place, SQL_CREATE, &why));
    GOOD(frontier_shared_create(w->db, &why));
    GOOD(frontier_shared_open(&w->f, w->db, &worker, &why));
}

static inline void place_open(struct place_worker *w, const char *name,
                              unsigned lease)
{
    place_open_with(w, name, lease, NULL);
}

static inline void place_close(struct place_worker *w)
{
    frontier_shared_close(w->f);
    sql_close(w->db);
}

/* The number that a statement returns. */
static inline int64_t place_ask(struct sql *db, const char *text)
{
    struct sql_statement *st;
    int64_t number = -1;
    bool row;

    GOOD(sql_prepare(&st, db, text, &why));
    GOOD(sql_step(st, &row, &why));
    if (row) {
        number = sql_number(st, 0);
        sql_reset(st);
    }
    return number;
}

static inline int place_run(const struct CMUnitTest *tests, size_t n,
                            const char *server)
{
    static char copy[512];
    int failed;

    snprintf(copy, sizeof copy, "%s", server);
    failed = _cmocka_run_group_tests("sqlite", tests, n, folder_make,
                                     folder_remove);
    place_server = copy;
    failed += _cmocka_run_group_tests("postgresql", tests, n, folder_make,
                                      folder_remove);
    return failed;
}

/* End the lease of a worker, as if its time was over. */
static inline void place_end_lease(struct sql *db, int64_t number)
{
    struct sql_statement *st;

    GOOD(sql_prepare(
        &st, db, "UPDATE workers SET until = {now} - 1 WHERE id = ?1", &why));
    sql_bind_number(st, 1, number);
    GOOD(sql_do(st, &why));
}

#define PLACE_TEST(sentence) cmocka_unit_test_setup(sentence, place_setup)

#endif
