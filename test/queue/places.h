/*
 * places.h - the places for queues that the tests run on.
 *
 * SQLite has a file in the folder of the test. The servers are those that
 * test/servers/run starts; a test that is run by hand without them skips what
 * needs them.
 */
#ifndef TEST_QUEUE_PLACES_H
#define TEST_QUEUE_PLACES_H

#include "test/folder.h"
#include "test/servers/servers.h"

#include <stdbool.h>
#include <stdio.h>

#include "lib/text/random.h"
#include "queue/backend.h"

enum {
    LEASE = 400,      /* ms, of consumers that are killed at any time */
    FOREVER = 600000, /* of all others: place_end_lease() ends it */
    PATIENT = 120000  /* to wait for what comes for certain */
};
enum { ADDRESS_ROOM = 512 };

struct place_kind {
    const char *name;
    const char *variable; /* NULL: always there */
    void (*find)(char address[ADDRESS_ROOM]);
    bool rows; /* it keeps the promises of SQL places */
};

static inline void find_sqlite(char address[ADDRESS_ROOM])
{
    snprintf(address, ADDRESS_ROOM, "sqlite:%s/queue.db", folder);
}

static inline void find_postgres(char address[ADDRESS_ROOM])
{
    snprintf(address, ADDRESS_ROOM, "%s", shared_postgres("queue"));
}

static inline void find_rabbitmq(char address[ADDRESS_ROOM])
{
    snprintf(address, ADDRESS_ROOM, "%s", shared_rabbitmq());
}

static const struct place_kind place_kinds[] = {
    { "sqlite", NULL, find_sqlite, true },
    { "postgresql", "SEEN_POSTGRES", find_postgres, true },
    { "rabbitmq", "SEEN_RABBITMQ", find_rabbitmq, false },
};
enum { PLACES = LENGTH(place_kinds) };

/* NULL: skip. */
static inline const char *place_address(const struct place_kind *kind)
{
    static char address[PLACES][ADDRESS_ROOM];
    char *to = address[kind - place_kinds];

    if (kind->variable && !getenv(kind->variable))
        return NULL;
    if (!*to)
        kind->find(to);
    return to;
}

/* Short times, so that tests are short; but a server may be slow on a busy
   machine. */
static const struct queue_settings place_settings = {
    .lease = FOREVER, .patience = 60000, .pauses = { 30, 40, 50, 60 }
};

static inline struct queue *place_open_with(
    const struct place_kind *kind, const struct queue_settings *settings)
{
    struct seen_error why = { .text = "" };
    struct queue *q;

    if (queue_open(&q, place_address(kind), settings, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    return q;
}

static inline struct queue *place_open(const struct place_kind *kind)
{
    return place_open_with(kind, &place_settings);
}

/* As a consumer of this name; NULL: of this process. */
static inline struct queue *place_open_as(const struct place_kind *kind,
                                          const char *owner)
{
    struct queue_settings settings = place_settings;

    settings.owner = owner;
    return place_open_with(kind, &settings);
}

/* Names of queues are new each time: a server keeps the old ones. */
static inline const char *place_queue(void)
{
    static char name[8][32];
    static unsigned turn;
    char *to = name[turn++ % 8];

    snprintf(to, sizeof name[0], "test-%016llx",
             (unsigned long long)random_seed());
    return to;
}

#define OK(call) \
    do { \
        struct seen_error why_ = { .text = "" }; \
        struct seen_error *why = &why_; \
        enum seen_code code_ = (call); \
        if (code_ != SEEN_OK) \
            fail_msg("%s: %s: %s", #call, seen_code_name(code_), why_.text); \
    } while (0)

/* Change what a place of rows has stored, as time would: no test has to wait
   for it, nor to be faster than it. */
static inline void place_run(const struct place_kind *kind, const char *text)
{
    struct sql *db;

    OK(sql_connect(&db, place_address(kind), SQL_WRITE, why));
    OK(sql_run(db, text, why));
    sql_close(db);
}

/* The lease of this consumer ends now. On RabbitMQ it ended with its process. */
static inline void place_end_lease(const struct place_kind *kind,
                                   const char *owner)
{
    char text[128];

    if (!kind->rows)
        return;
    snprintf(text, sizeof text,
             "UPDATE queue_users SET until = 0 WHERE name = '%s'", owner);
    place_run(kind, text);
}

static inline struct queue_message place_message(const char *id,
                                                 const char *body)
{
    return (struct queue_message){ .id = { id, strlen(id) },
                                   .body = { body, strlen(body) } };
}

/* Publish n messages with the ids m0, m1, ... and bodies b0, b1, ... */
static inline void place_fill(struct queue *q, const char *name, int first,
                              int n)
{
    struct queue_message *m = calloc((size_t)n, sizeof *m);
    char(*text)[2][16] = calloc((size_t)n, sizeof *text);

    for (int i = 0; i < n; i++) {
        snprintf(text[i][0], 16, "m%d", first + i);
        snprintf(text[i][1], 16, "b%d", first + i);
        m[i] = place_message(text[i][0], text[i][1]);
    }
    OK(queue_publish(q, name, m, (size_t)n, why));
    free(text);
    free(m);
}

/* RabbitMQ delivers what it has in its own time: others of the batch may come a
   little later. */
static inline size_t place_take(struct queue *q, const char *name,
                                unsigned most, unsigned ms,
                                struct queue_batch *b)
{
    enum { LATER = 1000 }; /* ms */
    struct queue_batch more = { .message = NULL };

    OK(queue_take(q, name, most, ms, b, why));
    if (q->backend != &queue_amqp)
        return b->n;
    while (b->n && b->n < most) {
        OK(queue_take(q, name, most - (unsigned)b->n, LATER, &more, why));
        for (size_t i = 0; i < more.n; i++)
            assert_true(queue_batch_add(b, &more.message[i]));
        if (!more.n)
            break;
    }
    queue_batch_end(b);
    queue_batch_clear(&more);
    return b->n;
}

#define assert_span(span, words) \
    do { \
        assert_int_equal((span).len, strlen(words)); \
        assert_memory_equal((span).text, words, (span).len); \
    } while (0)

#endif
