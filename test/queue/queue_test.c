/* queue_test.c - what queue.h promises, on every place. */
#include "places.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "lib/disk/clock.h"
#include "lib/text/span.h"
#include "queue/rows.h"

static struct queue *q;
static const struct place_kind *kind;
static const char *name;

/* Open the place, or skip the test. */
static int begin(void **state)
{
    kind = *state;
    q = NULL;
    if (!place_address(kind))
        return 0;
    q = place_open(kind);
    name = place_queue();
    return 0;
}

static int end(void **state)
{
    (void)state;
    queue_close(q);
    return 0;
}

#define PLACE_TEST(sentence) \
    static void sentence##_(void); \
    static void sentence(void **state) \
    { \
        (void)state; \
        if (!q) \
            skip(); \
        sentence##_(); \
    } \
    static void sentence##_(void)

static void sleep_ms(unsigned ms)
{
    poll(NULL, 0, (int)ms);
}

static bool take_named(void *owner, const struct queue_stats *s)
{
    struct queue_stats *to = owner;

    if (span_is(s->name, name))
        *to = *s;
    return true;
}

static struct queue_stats stats(void)
{
    struct queue_stats s = { .ready = -2 };

    OK(queue_stats(q, take_named, &s, why));
    return s;
}

#define assert_stats(ready_, taken_, waiting_, dead_) \
    do { \
        struct queue_stats s_ = stats(); \
        assert_int_equal(s_.ready, ready_); \
        assert_int_equal(s_.taken, taken_); \
        assert_int_equal(s_.waiting, waiting_); \
        assert_int_equal(s_.dead, dead_); \
    } while (0)

#define MORTAL "mortal" /* name of consumers that die */

/* A process of its own that takes messages and dies with them. */
static int take_and_die(unsigned most)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct queue_batch b = { .message = NULL };
        struct queue *other = place_open_as(kind, MORTAL);

        _exit((int)place_take(other, name, most, PATIENT, &b));
    }
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Pauses that no test is slow enough for. */
static const struct queue_settings slow_settings = {
    .lease = FOREVER,
    .patience = PATIENT,
    .pauses = { FOREVER, FOREVER, FOREVER, FOREVER }
};

/* --- messages --- */

PLACE_TEST(what_is_published_is_taken_in_order)
{
    struct queue_batch b = { .message = NULL };
    char words[16];

    place_fill(q, name, 0, 250);
    for (int i = 0; i < 250;) {
        assert_true(place_take(q, name, 100, PATIENT, &b) > 0);
        for (size_t k = 0; k < b.n; k++, i++) {
            snprintf(words, sizeof words, "m%d", i);
            assert_span(b.message[k].id, words);
            words[0] = 'b';
            assert_span(b.message[k].body, words);
            assert_int_equal(b.message[k].attempt, 1);
            assert_int_equal(b.message[k].reason.len, 0);
        }
    }
    assert_int_equal(place_take(q, name, 100, 0, &b), 0);
    queue_batch_clear(&b);
}

PLACE_TEST(what_is_done_is_gone)
{
    struct queue_batch b = { .message = NULL };

    place_fill(q, name, 0, 10);
    assert_int_equal(place_take(q, name, 10, PATIENT, &b), 10);
    OK(queue_done(q, b.message, 4, why));
    OK(queue_return(q, b.message + 4, 6, why));
    assert_int_equal(place_take(q, name, 6, PATIENT, &b), 6);
    assert_span(b.message[0].id, "m4");
    if (kind->rows) /* RabbitMQ counts it */
        assert_int_equal(b.message[0].attempt, 1);
    OK(queue_done(q, b.message, 6, why));
    queue_close(q);
    q = place_open(kind);
    assert_int_equal(place_take(q, name, 10, 0, &b), 0);
    queue_batch_clear(&b);
}

PLACE_TEST(bytes_and_lengths_are_kept)
{
    static const size_t lengths[] = { 0, 1, 255, 4096, 70000, 3 << 20 };
    struct queue_batch b = { .message = NULL };
    char *bytes = malloc(3 << 20), id[QUEUE_ID_MOST];

    for (size_t i = 0; i < 3 << 20; i++)
        bytes[i] = (char)(i * 7 + (i >> 8));
    for (size_t i = 0; i < sizeof id; i++)
        id[i] = (char)i;
    for (size_t i = 0; i < LENGTH(lengths); i++) {
        struct queue_message m = { .id = { id, QUEUE_ID_MOST - i },
                                   .body = { bytes, lengths[i] } };

        OK(queue_publish(q, name, &m, 1, why));
    }
    for (size_t i = 0; i < LENGTH(lengths);) {
        assert_true(place_take(q, name, 10, PATIENT, &b) > 0);
        for (size_t k = 0; k < b.n; k++, i++) {
            assert_int_equal(b.message[k].id.len, QUEUE_ID_MOST - i);
            assert_memory_equal(b.message[k].id.text, id, QUEUE_ID_MOST - i);
            assert_int_equal(b.message[k].body.len, lengths[i]);
            assert_true(span_equal(b.message[k].body,
                                   (struct seen_span){ bytes, lengths[i] }));
        }
        OK(queue_done(q, b.message, b.n, why));
    }
    free(bytes);
    queue_batch_clear(&b);
}

PLACE_TEST(an_id_that_is_in_the_queue_is_stored_once)
{
    struct queue_batch b = { .message = NULL };

    if (!kind->rows)
        skip();
    place_fill(q, name, 0, 10);
    place_fill(q, name, 5, 10);
    assert_stats(15, 0, 0, 0);
    assert_int_equal(stats().published, 15);
    assert_int_equal(place_take(q, name, 20, PATIENT, &b), 15);
    place_fill(q, name, 0, 10); /* taken is in the queue, too */
    assert_stats(0, 15, 0, 0);
    OK(queue_done(q, b.message, b.n, why));
    place_fill(q, name, 0, 10); /* done is not */
    assert_stats(10, 0, 0, 0);
    assert_int_equal(stats().done, 15);
    queue_batch_clear(&b);
}

PLACE_TEST(queues_of_one_place_are_apart)
{
    struct queue_batch b = { .message = NULL };
    const char *other = place_queue();

    place_fill(q, name, 0, 2);
    place_fill(q, other, 0, 2); /* the same ids */
    assert_int_equal(place_take(q, name, 2, PATIENT, &b), 2);
    OK(queue_done(q, b.message, 2, why));
    assert_int_equal(place_take(q, name, 10, 0, &b), 0);
    assert_int_equal(place_take(q, other, 2, PATIENT, &b), 2);
    OK(queue_done(q, b.message, 2, why));
    queue_batch_clear(&b);
}

PLACE_TEST(what_is_not_allowed_is_refused)
{
    static char large[QUEUE_BODY_MOST + 1];
    struct queue_message m = place_message("a", "b");
    char words[QUEUE_ID_MOST + 2];
    static const char *const names[] = { "", "a b", "a/b", "\xc3\xa4", "a\n" };

    for (size_t i = 0; i < LENGTH(names); i++)
        assert_int_equal(queue_publish(q, names[i], &m, 1, NULL), SEEN_RANGE);
    memset(words, 'x', sizeof words);
    m.id = (struct seen_span){ words, QUEUE_ID_MOST + 1 };
    assert_int_equal(queue_publish(q, name, &m, 1, NULL), SEEN_RANGE);
    m.id.len = 0;
    assert_int_equal(queue_publish(q, name, &m, 1, NULL), SEEN_RANGE);
    m = place_message("a", "");
    m.body = (struct seen_span){ large, sizeof large };
    assert_int_equal(queue_publish(q, name, &m, 1, NULL), SEEN_RANGE);
    OK(queue_publish(q, name, &m, 0, why));
}

/* --- waiting --- */

PLACE_TEST(a_consumer_waits_for_the_first_message)
{
    struct queue_batch b = { .message = NULL };
    struct rusage before, after;
    uint64_t began = clock_ms();
    int status;
    pid_t child;

    assert_int_equal(place_take(q, name, 1, 300, &b), 0);
    assert_true(clock_ms() - began >= 290);
    getrusage(RUSAGE_SELF, &before);
    began = clock_ms();
    child = fork();
    if (child == 0) {
        struct queue_message m = place_message("late", "");
        struct queue *other;

        sleep_ms(500);
        _exit(queue_open(&other, place_address(kind), NULL, NULL) ||
              queue_publish(other, name, &m, 1, NULL));
    }
    assert_int_equal(place_take(q, name, 1, PATIENT, &b), 1);
    assert_true(clock_ms() - began >= 400);
    getrusage(RUSAGE_SELF, &after);
    assert_true(1000000 * (after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                    after.ru_utime.tv_usec - before.ru_utime.tv_usec <
                200000);
    OK(queue_done(q, b.message, 1, why));
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    queue_batch_clear(&b);
}

/* --- failures --- */

PLACE_TEST(a_message_that_fails_five_times_is_a_dead_letter)
{
    struct queue_batch b = { .message = NULL };
    char reason[32];

    place_fill(q, name, 0, 1);
    assert_int_equal(place_take(q, name, 1, PATIENT, &b), 1);
    for (unsigned i = 1; i <= QUEUE_TRIES; i++) {
        uint64_t began = clock_ms();

        assert_int_equal(b.message[0].attempt, i);
        assert_span(b.message[0].id, "m0");
        snprintf(reason, sizeof reason, "reason %u", i);
        OK(queue_retry(q, &b.message[0], reason, why));
        if (i == QUEUE_TRIES)
            break;
        assert_int_equal(place_take(q, name, 1, PATIENT, &b), 1);
        assert_true(clock_ms() - began >= place_settings.pauses[i - 1] - 1);
        assert_span(b.message[0].reason, reason);
    }
    assert_int_equal(place_take(q, name, 1, 200, &b), 0);
    assert_int_equal(stats().dead, 1);
    queue_batch_clear(&b);
}

PLACE_TEST(a_message_that_failed_holds_up_nobody)
{
    struct queue_batch b = { .message = NULL };

    queue_close(q);
    q = place_open_with(kind, &slow_settings);
    place_fill(q, name, 0, 2);
    assert_int_equal(place_take(q, name, 1, PATIENT, &b), 1);
    OK(queue_retry(q, b.message, "later", why));
    assert_int_equal(place_take(q, name, 1, PATIENT, &b), 1);
    assert_span(b.message[0].id, "m1");
    OK(queue_done(q, b.message, 1, why));
    queue_batch_clear(&b);
}

static bool keep_dead(void *owner, const struct queue_message *m)
{
    char *to = owner;

    snprintf(to + strlen(to), 1000 - strlen(to), "%.*s/%.*s/%.*s ",
             (int)m->id.len, m->id.text, (int)m->body.len, m->body.text,
             (int)m->reason.len, m->reason.text);
    return strlen(to) < 900;
}

PLACE_TEST(a_rejected_message_is_a_dead_letter_with_its_reason)
{
    struct queue_batch b = { .message = NULL };
    char dead[1000] = "";

    place_fill(q, name, 0, 3);
    assert_int_equal(place_take(q, name, 3, PATIENT, &b), 3);
    OK(queue_reject(q, &b.message[0], "not a job", why));
    OK(queue_reject(q, &b.message[2], NULL, why));
    OK(queue_done(q, &b.message[1], 1, why));
    OK(queue_dead(q, name, 10, keep_dead, dead, why));
    assert_string_equal(dead, "m0/b0/not a job m2/b2/ ");
    dead[0] = '\0';
    OK(queue_dead(q, name, 1, keep_dead, dead, why));
    assert_string_equal(dead, "m0/b0/not a job ");
    queue_batch_clear(&b);
}

PLACE_TEST(long_reasons_are_cut_between_characters)
{
    struct queue_batch b = { .message = NULL };
    char reason[2 * QUEUE_REASON_MOST], dead[1000] = "";

    memset(reason, 'x', sizeof reason);
    memcpy(reason + QUEUE_REASON_MOST - 1, "\xc3\xa4", 2);
    reason[sizeof reason - 1] = '\0';
    place_fill(q, name, 0, 1);
    assert_int_equal(place_take(q, name, 1, PATIENT, &b), 1);
    OK(queue_reject(q, &b.message[0], reason, why));
    OK(queue_dead(q, name, 10, keep_dead, dead, why));
    assert_int_equal(strlen(dead), strlen("m0/b0/ ") + QUEUE_REASON_MOST - 1);
    queue_batch_clear(&b);
}

PLACE_TEST(dead_letters_are_revived_or_dropped)
{
    struct queue_batch b = { .message = NULL };
    uint64_t n;

    place_fill(q, name, 0, 6);
    assert_int_equal(place_take(q, name, 6, PATIENT, &b), 6);
    for (int i = 0; i < 6; i++)
        OK(queue_reject(q, &b.message[i], "no", why));
    assert_int_equal(stats().dead, 6);
    OK(queue_drop(q, name, "m1", &n, why));
    assert_int_equal(n, 1);
    OK(queue_drop(q, name, "m1", &n, why));
    assert_int_equal(n, 0);
    OK(queue_revive(q, name, "m3", &n, why));
    assert_int_equal(n, 1);
    assert_int_equal(place_take(q, name, 6, PATIENT, &b), 1);
    assert_span(b.message[0].id, "m3");
    assert_int_equal(b.message[0].attempt, 1);
    OK(queue_done(q, b.message, 1, why));
    OK(queue_revive(q, name, NULL, &n, why));
    assert_int_equal(n, 4);
    assert_int_equal(place_take(q, name, 6, PATIENT, &b), 4);
    OK(queue_reject(q, &b.message[0], "no", why));
    OK(queue_done(q, b.message + 1, 3, why));
    OK(queue_drop(q, name, NULL, &n, why));
    assert_int_equal(n, 1);
    assert_stats(0, kind->rows ? 0 : -1, 0, 0);
    queue_batch_clear(&b);
}

PLACE_TEST(a_revived_message_that_was_published_again_is_there_once)
{
    struct queue_batch b = { .message = NULL };
    uint64_t n;

    if (!kind->rows)
        skip();
    place_fill(q, name, 0, 1);
    assert_int_equal(place_take(q, name, 1, PATIENT, &b), 1);
    OK(queue_reject(q, &b.message[0], "no", why));
    place_fill(q, name, 0, 1);
    assert_stats(1, 0, 0, 1);
    OK(queue_revive(q, name, NULL, &n, why));
    assert_int_equal(n, 1);
    assert_stats(1, 0, 0, 0);
    queue_batch_clear(&b);
}

/* --- consumers that die, stop, or are many --- */

PLACE_TEST(messages_of_a_dead_consumer_come_again)
{
    struct queue_batch b = { .message = NULL };

    place_fill(q, name, 0, 5);
    assert_int_equal(take_and_die(3), 3);
    if (kind->rows) { /* RabbitMQ knows that it is dead */
        assert_int_equal(place_take(q, name, 10, 0, &b), 2);
        OK(queue_done(q, b.message, 2, why));
        place_end_lease(kind, MORTAL);
    }
    for (int i = 0; i < 3; i += (int)b.n) {
        char id[16];

        assert_true(place_take(q, name, 10, PATIENT, &b) > 0);
        snprintf(id, sizeof id, "m%d", i);
        assert_span(b.message[0].id, id);
        assert_int_equal(b.message[0].attempt, 2);
        OK(queue_done(q, b.message, b.n, why));
    }
    queue_batch_clear(&b);
}

/* Work on messages in order until none is left; m1 kills. */
static void work_until_killed(unsigned most)
{
    struct queue *other = place_open_as(kind, MORTAL);
    struct queue_batch b = { .message = NULL };

    while (place_take(other, name, most, kind->rows ? 0 : 1000, &b))
        for (size_t i = 0; i < b.n; i++) {
            if (span_is(b.message[i].id, "m1"))
                _exit(1);
            queue_done(other, &b.message[i], 1, NULL);
        }
    _exit(0);
}

PLACE_TEST(a_message_that_kills_its_consumers_is_a_dead_letter_alone)
{
    enum { TURNS = 100 }; /* the server may be slow */
    char dead[1000] = "";
    unsigned most = kind->rows ? 10 : 1; /* see queue_take() */
    int deaths = 0;

    place_fill(q, name, 0, 4);
    for (int turn = 0; turn < TURNS; turn++) {
        pid_t child = fork();
        int status;

        if (child == 0)
            work_until_killed(most);
        waitpid(child, &status, 0);
        place_end_lease(kind, MORTAL);
        deaths += status != 0;
        if (status == 0 && stats().dead == 1 && stats().ready == 0)
            break;
    }
    assert_int_equal(deaths, QUEUE_TRIES);
    assert_stats(0, kind->rows ? 0 : -1, 0, 1);
    OK(queue_dead(q, name, 10, keep_dead, dead, why));
    assert_string_equal(dead, kind->rows ? "m1/b1/its consumers died "
                                         : "m1/b1/given up after 5 deliveries "
                                           "without an answer ");
    assert_int_equal(stats().done, kind->rows ? 3 : -1);
}

PLACE_TEST(a_late_consumer_cannot_end_what_others_have)
{
    struct queue_batch late = { .message = NULL }, b = { .message = NULL };
    struct queue *other;

    if (!kind->rows)
        skip();
    other = place_open_as(kind, MORTAL);
    place_fill(q, name, 0, 3);
    assert_int_equal(place_take(other, name, 2, PATIENT, &late), 2);
    place_end_lease(kind, MORTAL);
    assert_int_equal(place_take(q, name, 1, PATIENT, &b), 1);
    assert_span(b.message[0].id, "m0");
    assert_int_equal(b.message[0].attempt, 2);
    assert_int_equal(queue_done(other, late.message, 2, NULL), SEEN_ABSENT);
    assert_int_equal(queue_retry(other, late.message, "x", NULL), SEEN_ABSENT);
    assert_int_equal(queue_reject(other, late.message, "x", NULL),
                     SEEN_ABSENT);
    assert_int_equal(queue_return(other, late.message, 1, NULL), SEEN_ABSENT);
    assert_stats(2, 1, 0, 0);
    OK(queue_done(q, b.message, 1, why));
    /* Even if it has the same message again. */
    assert_int_equal(place_take(other, name, 1, PATIENT, &b), 1);
    assert_span(b.message[0].id, "m1");
    assert_int_equal(queue_done(other, &late.message[1], 1, NULL),
                     SEEN_ABSENT);
    OK(queue_done(other, b.message, 1, why));
    queue_close(other);
    queue_batch_clear(&late);
    queue_batch_clear(&b);
}

PLACE_TEST(the_others_of_a_batch_are_done_nevertheless)
{
    struct queue_batch late = { .message = NULL }, b = { .message = NULL };
    struct queue *other;

    if (!kind->rows)
        skip();
    other = place_open_as(kind, MORTAL);
    place_fill(q, name, 0, 2);
    assert_int_equal(place_take(other, name, 1, PATIENT, &late), 1);
    place_end_lease(kind, MORTAL);
    assert_int_equal(place_take(q, name, 1, PATIENT, &b), 1);
    assert_int_equal(place_take(other, name, 1, PATIENT, &b), 1);
    {
        struct queue_message both[2] = { late.message[0], b.message[0] };

        assert_int_equal(queue_done(other, both, 2, NULL), SEEN_ABSENT);
    }
    assert_stats(0, 1, 0, 0);
    queue_close(other);
    queue_batch_clear(&late);
    queue_batch_clear(&b);
}

/* When the lease of a consumer ends, in the time of the place. */
static int64_t lease_end(const char *owner)
{
    struct sql_statement *st;
    int64_t end = 0;
    char text[128];
    struct sql *db;
    bool row;

    OK(sql_connect(&db, place_address(kind), SQL_WRITE, why));
    snprintf(text, sizeof text,
             "SELECT max(until) FROM queue_users WHERE name = '%s'", owner);
    OK(sql_prepare(&st, db, text, why));
    OK(sql_step(st, &row, why));
    assert_true(row);
    end = sql_number(st, 0);
    sql_close(db);
    return end;
}

/* As if a part of the lease had passed. */
static void pass_time(struct queue *other, const char *owner)
{
    char text[128];

    snprintf(text, sizeof text,
             "UPDATE queue_users SET until = until - %d WHERE name = '%s'",
             FOREVER / 2, owner);
    place_run(kind, text);
    queue_rows_of(other)->kept -= FOREVER / 2;
}

PLACE_TEST(a_lease_that_is_kept_does_not_end)
{
    struct queue_batch b = { .message = NULL }, none = { .message = NULL };
    struct queue *other = place_open_as(kind, "keeper");

    place_fill(q, name, 0, 1);
    assert_int_equal(place_take(other, name, 1, PATIENT, &b), 1);
    for (int i = 0; i < 3; i++) {
        int64_t end = kind->rows ? lease_end("keeper") : 0;

        if (kind->rows)
            pass_time(other, "keeper");
        assert_int_equal(place_take(q, name, 1, 0, &none), 0);
        OK(queue_keep(other, why));
        if (kind->rows)
            assert_true(lease_end("keeper") >= end);
    }
    OK(queue_done(other, b.message, 1, why));
    queue_close(other);
    queue_batch_clear(&b);
    queue_batch_clear(&none);
}

PLACE_TEST(a_consumer_that_closes_gives_back)
{
    struct queue_batch b = { .message = NULL };
    struct queue *other = place_open(kind);

    place_fill(q, name, 0, 3);
    assert_int_equal(place_take(other, name, 3, PATIENT, &b), 3);
    queue_close(other);
    assert_int_equal(place_take(q, name, 3, PATIENT, &b), 3);
    if (kind->rows)
        assert_int_equal(b.message[0].attempt, 1);
    OK(queue_done(q, b.message, 3, why));
    queue_batch_clear(&b);
}

PLACE_TEST(a_single_queue_has_one_consumer_at_a_time)
{
    struct queue_batch a = { .message = NULL }, b = { .message = NULL };
    struct queue *other = place_open(kind);

    OK(queue_make(q, name, true, why));
    OK(queue_make(other, name, true, why));
    place_fill(q, name, 0, 4);
    assert_int_equal(place_take(q, name, 1, PATIENT, &a), 1);
    assert_int_equal(place_take(other, name, 1, 100, &b), 0);
    OK(queue_done(q, a.message, 1, why));
    assert_int_equal(place_take(other, name, 1, 100, &b), 0);
    assert_int_equal(place_take(q, name, 1, PATIENT, &a), 1);
    assert_span(a.message[0].id, "m1");
    /* The first one goes; the second one begins where it was, in order. */
    queue_close(q);
    q = other;
    for (int i = 1; i < 4; i++) {
        char id[16];

        snprintf(id, sizeof id, "m%d", i);
        assert_int_equal(place_take(q, name, 1, PATIENT, &b), 1);
        assert_span(b.message[0].id, id);
        OK(queue_done(q, b.message, 1, why));
    }
    queue_batch_clear(&a);
    queue_batch_clear(&b);
}

PLACE_TEST(a_single_queue_passes_on_when_its_consumer_dies)
{
    struct queue_batch b = { .message = NULL };

    OK(queue_make(q, name, true, why));
    place_fill(q, name, 0, 3);
    assert_int_equal(take_and_die(2), 2);
    if (kind->rows) { /* as long as its lease lasts */
        assert_int_equal(place_take(q, name, 10, 0, &b), 0);
        place_end_lease(kind, MORTAL);
    }
    assert_int_equal(place_take(q, name, 10, PATIENT, &b), 3);
    assert_span(b.message[0].id, "m0");
    assert_span(b.message[2].id, "m2");
    OK(queue_done(q, b.message, 3, why));
    queue_batch_clear(&b);
}

PLACE_TEST(a_consumer_of_a_single_queue_keeps_it_while_it_waits)
{
    struct queue_batch a = { .message = NULL }, b = { .message = NULL };
    struct queue *other = place_open(kind);

    queue_close(q);
    q = place_open_as(kind, "keeper");
    OK(queue_make(q, name, true, why));
    assert_int_equal(place_take(q, name, 1, 0, &a), 0);
    for (int i = 0; i < 3; i++) {
        int64_t end = kind->rows ? lease_end("keeper") : 0;

        if (kind->rows)
            pass_time(q, "keeper");
        assert_int_equal(place_take(q, name, 1, 0, &a), 0);
        assert_int_equal(place_take(other, name, 1, 0, &b), 0);
        if (kind->rows)
            assert_true(lease_end("keeper") >= end);
    }
    place_fill(other, name, 0, 1);
    assert_int_equal(place_take(other, name, 1, 100, &b), 0);
    assert_int_equal(place_take(q, name, 1, PATIENT, &a), 1);
    OK(queue_done(q, a.message, 1, why));
    queue_close(other);
    queue_batch_clear(&a);
    queue_batch_clear(&b);
}

/* --- operators --- */

PLACE_TEST(stats_count_every_message_once)
{
    struct queue_batch b = { .message = NULL };
    struct queue_stats s;

    if (!kind->rows)
        skip();
    queue_close(q);
    q = place_open_with(kind, &slow_settings);
    place_fill(q, name, 0, 10);
    sleep_ms(20);
    assert_int_equal(place_take(q, name, 6, PATIENT, &b), 6);
    OK(queue_done(q, b.message, 1, why));
    OK(queue_reject(q, &b.message[1], "no", why));
    OK(queue_retry(q, &b.message[2], "later", why));
    s = stats();
    assert_int_equal(s.ready, 4);
    assert_int_equal(s.taken, 3);
    assert_int_equal(s.waiting, 1);
    assert_int_equal(s.dead, 1);
    assert_int_equal(s.published, 10);
    assert_int_equal(s.done, 1);
    assert_in_range(s.oldest, 20, FOREVER);
    place_run(kind, "UPDATE queue_messages SET due = 0 WHERE n < 0");
    assert_stats(5, 3, 0, 1); /* its time has come */
    queue_batch_clear(&b);
}

PLACE_TEST(counts_survive_the_processes_that_made_them)
{
    struct queue_stats s;

    if (!kind->rows)
        skip();
    place_fill(q, name, 0, 10);
    assert_int_equal(take_and_die(4), 4);
    place_end_lease(kind, MORTAL);
    for (int i = 0; i < 2; i++) {
        struct queue_batch b = { .message = NULL };

        queue_close(q);
        q = place_open(kind);
        assert_int_equal(place_take(q, name, 3, PATIENT, &b), 3);
        OK(queue_done(q, b.message, 3, why));
        queue_batch_clear(&b);
    }
    s = stats();
    assert_int_equal(s.published, 10);
    assert_int_equal(s.done, 6);
    assert_int_equal(s.ready, 4);
    assert_int_equal(s.taken, 0);
}

PLACE_TEST(an_unknown_queue_has_no_dead_letters)
{
    uint64_t n = 1;

    if (!kind->rows)
        skip();
    assert_int_equal(queue_drop(q, "nobody-made-this", NULL, &n, NULL),
                     SEEN_ABSENT);
    assert_int_equal(n, 0);
}

/* --- several processes --- */

enum { WORKERS = 3, EACH = 300, WHOLE = WORKERS * EACH };

/* Until all messages are done, and none comes any more. */
static void work_along(int number, unsigned *done)
{
    struct queue_batch b = { .message = NULL };
    struct queue *mine = place_open(kind);
    const uint64_t end = clock_ms() + PATIENT;
    char out[32];

    for (int i = 0; i < EACH; i += 50)
        place_fill(mine, name, number * EACH + i, 50);
    while (
        place_take(mine, name, 20, 1000, &b) ||
        (__atomic_load_n(done, __ATOMIC_RELAXED) < WHOLE && clock_ms() < end))
        for (size_t i = 0; i < b.n; i++) {
            int len = snprintf(out, sizeof out, "%.*s\n",
                               (int)b.message[i].id.len, b.message[i].id.text);

            if (queue_done(mine, &b.message[i], 1, NULL) != SEEN_OK)
                continue;
            if (write(number + 100, out, (size_t)len) != len)
                _exit(1);
            __atomic_add_fetch(done, 1, __ATOMIC_RELAXED);
        }
    queue_close(mine);
    queue_batch_clear(&b);
    _exit(0);
}

PLACE_TEST(many_processes_share_the_messages)
{
    char path[64], line[64];
    unsigned char times[WHOLE] = { 0 };
    pid_t child[WORKERS];
    unsigned *done = mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *file;
    int status, fd;

    assert_ptr_not_equal(done, MAP_FAILED);
    snprintf(path, sizeof path, "%s/done", folder);
    fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    for (int i = 0; i < WORKERS; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            dup2(fd, 100 + i);
            work_along(i, done);
        }
    }
    for (int i = 0; i < WORKERS; i++) {
        waitpid(child[i], &status, 0);
        assert_int_equal(status, 0);
    }
    close(fd);
    munmap(done, sizeof *done);
    file = fopen(path, "re");
    while (fgets(line, sizeof line, file))
        times[atoi(line + 1)]++;
    fclose(file);
    for (int i = 0; i < WHOLE; i++)
        assert_int_equal(times[i], 1);
}

/* --- RabbitMQ only --- */

/* A queue behind a proxy; NULL: there is no server. */
static struct queue *behind_proxy(struct proxy *proxy, unsigned patience)
{
    const struct queue_settings settings = { .patience = patience };
    char address[ADDRESS_ROOM];
    struct queue *out;

    if (!getenv("SEEN_RABBITMQ"))
        return NULL;
    kind = &place_kinds[PLACES - 1];
    name = place_queue();
    *proxy = proxy_start(atoi(shared_value("SEEN_RABBITMQ", "port")));
    snprintf(address, sizeof address, "amqp://guest:guest@127.0.0.1:%d/%%2f",
             proxy->port);
    OK(queue_open(&out, address, &settings, why));
    return out;
}

/* Ask as `seen work` does: now and then, without waiting for an answer. */
static size_t ask_now_and_then(struct queue *from, struct queue_batch *b)
{
    for (uint64_t end = clock_ms() + PATIENT; clock_ms() < end; sleep_ms(20))
        if (queue_take(from, name, 1, 0, b, NULL) == SEEN_OK && b->n)
            break;
    return b->n;
}

TEST(a_consumer_that_never_waits_goes_on_after_its_connection_was_cut)
{
    struct queue_batch b = { .message = NULL };
    struct proxy proxy;

    q = behind_proxy(&proxy, PATIENT);
    if (!q)
        skip();
    place_fill(q, name, 0, 2);
    assert_int_equal(ask_now_and_then(q, &b), 1);
    OK(queue_done(q, b.message, 1, why));
    proxy_order(&proxy, "cut");
    assert_int_equal(ask_now_and_then(q, &b), 1);
    queue_close(q);
    proxy_stop(&proxy);
    queue_batch_clear(&b);
}

TEST(a_server_that_was_away_for_longer_than_the_patience_is_used_again)
{
    enum { SHORT = 200 }; /* ms */
    struct queue_batch b = { .message = NULL };
    struct queue *other;
    struct proxy proxy;

    q = behind_proxy(&proxy, SHORT);
    if (!q)
        skip();
    other = place_open(kind);
    place_fill(other, name, 0, 1);
    proxy_order(&proxy, "silent yes");
    while (queue_take(q, name, 1, 0, &b, NULL) == SEEN_OK)
        assert_int_equal(b.n, 0);
    sleep_ms(SHORT);
    proxy_order(&proxy, "silent no");
    assert_int_equal(ask_now_and_then(q, &b), 1);
    queue_close(other);
    queue_close(q);
    proxy_stop(&proxy);
    queue_batch_clear(&b);
}

/* --- SQLite only --- */

static void change_file(const char *statement)
{
    char path[64];
    sqlite3 *db;

    snprintf(path, sizeof path, "%s/queue.db", folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    assert_int_equal(sqlite3_exec(db, statement, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static struct queue *sqlite(void)
{
    kind = &place_kinds[0];
    name = place_queue();
    return place_open(kind);
}

TEST(after_a_restart_of_the_machine_leases_and_pauses_are_void)
{
    struct queue_batch b = { .message = NULL };

    q = sqlite();
    place_fill(q, name, 0, 3);
    assert_int_equal(take_and_die(1), 1);
    assert_int_equal(place_take(q, name, 1, PATIENT, &b), 1);
    OK(queue_retry(q, b.message, "later", why));
    queue_close(q);
    change_file("UPDATE queue_users SET until = 1 << 60; UPDATE "
                "queue_messages SET due = 1 << 60 WHERE n < 0; UPDATE "
                "queue_messages SET since = 1 << 60; UPDATE queue_facts SET "
                "value = 'another start' WHERE name = 'epoch'");
    q = place_open(kind);
    assert_int_equal(place_take(q, name, 5, 0, &b), 3);
    OK(queue_return(q, b.message, b.n, why));
    assert_true(stats().oldest > 0);
    assert_int_equal(stats().ready, 3);
    queue_close(q);
    queue_batch_clear(&b);
}

/* With the lease that programs have. */
static struct queue *open_for_a_minute(void)
{
    struct queue_settings settings = place_settings;

    settings.lease = 60000;
    return place_open_with(kind, &settings);
}

/* A consumer takes a message on a machine with this boot id, and dies. */
static void take_on(const char *boot)
{
    struct queue_batch b = { .message = NULL };
    pid_t child = fork();
    int status;

    if (child == 0) {
        sql_imitate(boot, 0);
        q = open_for_a_minute();
        _exit(place_take(q, name, 1, 0, &b) == 1 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(a_boot_id_that_is_hidden_voids_no_lease_of_the_living)
{
    struct queue_batch b = { .message = NULL };

    q = sqlite();
    place_fill(q, name, 0, 2);
    queue_close(q);
    for (int i = 0; i < 2; i++) {
        take_on(i ? "boot-one" : "");
        sql_imitate(i ? "" : "boot-one", 0);
        q = open_for_a_minute();
        assert_int_equal(place_take(q, name, 9, 0, &b), 1 - i);
        OK(queue_done(q, b.message, b.n, why));
        queue_close(q);
        if (i)
            break;
        /* Another start, which shows: nobody who could not tell wrote. */
        sql_imitate("boot-two", 0);
        q = open_for_a_minute();
        assert_int_equal(place_take(q, name, 9, 0, &b), 1);
        OK(queue_return(q, b.message, b.n, why));
        queue_close(q);
    }
    /* Another start, which does not show: the lease cannot be. */
    change_file("UPDATE queue_users SET until = until + 999924000");
    sql_imitate("", 0);
    q = open_for_a_minute();
    assert_int_equal(place_take(q, name, 9, 0, &b), 1);
    OK(queue_retry(q, b.message, "later", why));
    change_file("UPDATE queue_messages SET due = due + 999924000 WHERE n < 0");
    assert_int_equal(place_take(q, name, 9, 0, &b), 1);
    queue_close(q);
    sql_imitate(NULL, 0);
    queue_batch_clear(&b);
}

TEST(a_file_of_another_version_is_refused)
{
    struct seen_error why;
    struct queue *other;

    q = sqlite();
    queue_close(q);
    change_file("UPDATE queue_facts SET value = '99' WHERE name = 'version'");
    assert_int_equal(queue_open(&other, place_address(kind), NULL, &why),
                     SEEN_MISMATCH);
    assert_non_null(strstr(why.text, "another version"));
    change_file("UPDATE queue_facts SET value = '1' WHERE name = 'version'");
}

TEST(a_file_that_must_exist_is_not_made)
{
    const struct queue_settings settings = { .existing = true };
    char address[64];
    struct seen_error why;
    struct queue *other;

    snprintf(address, sizeof address, "sqlite:%s/missing.db", folder);
    assert_int_not_equal(queue_open(&other, address, &settings, &why),
                         SEEN_OK);
    assert_int_not_equal(access(address + 7, F_OK), 0);
}

/* A disk without room is an error of that call; what was stored before is
   there, and what is published when there is room again. */
TEST(a_full_disk_loses_nothing)
{
    struct queue_batch b = { .message = NULL };
    struct rlimit limit = { 0 };
    static char body[20000];
    char path[64];
    int stored = 0, taken = 0, status;
    pid_t child;

    snprintf(path, sizeof path, "%s/queue.db", folder);
    q = sqlite();
    place_fill(q, name, 1000, 10);
    queue_close(q);
    child = fork();
    if (child == 0) {
        enum seen_code code = SEEN_OK;
        char id[16];

        signal(SIGXFSZ, SIG_IGN);
        q = place_open(kind);
        limit.rlim_max = RLIM_INFINITY;
        limit.rlim_cur = 1 << 20;
        setrlimit(RLIMIT_FSIZE, &limit);
        for (int i = 0; i < 250 && code == SEEN_OK; i++) {
            struct queue_message m = { .id = { id, 0 },
                                       .body = { body, sizeof body } };

            m.id.len = (size_t)snprintf(id, sizeof id, "x%d", i);
            code = queue_publish(q, name, &m, 1, NULL);
            stored += code == SEEN_OK;
        }
        if (code == SEEN_OK)
            _exit(255);
        limit.rlim_cur = RLIM_INFINITY;
        setrlimit(RLIMIT_FSIZE, &limit);
        place_fill(q, name, 2000, 1);
        queue_close(q);
        _exit(stored);
    }
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    stored = WEXITSTATUS(status);
    assert_in_range(stored, 1, 254);
    q = place_open(kind);
    while (place_take(q, name, 50, 0, &b)) {
        taken += (int)b.n;
        OK(queue_done(q, b.message, b.n, why));
    }
    assert_int_equal(taken, 10 + stored + 1);
    queue_close(q);
    queue_batch_clear(&b);
}

/* The places of a block whose reservation was not committed are somebody
   else's. */
TEST(a_full_disk_gives_no_place_to_two_messages)
{
    struct queue_batch b = { .message = NULL };
    struct queue_message m = { .id = { "x", 1 }, .body = { "x", 1 } };
    const struct rlimit none = { 0, RLIM_INFINITY },
                        all = { RLIM_INFINITY, RLIM_INFINITY };
    struct queue *other;
    int taken = 0;

    q = sqlite();
    other = place_open(kind);
    place_fill(q, name, 0, 1000);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    assert_int_not_equal(queue_publish(q, name, &m, 1, NULL), SEEN_OK);
    setrlimit(RLIMIT_FSIZE, &all);
    place_fill(other, name, 2000, 10);
    place_fill(q, name, 3000, 10);
    while (place_take(q, name, 500, 0, &b)) {
        taken += (int)b.n;
        OK(queue_done(q, b.message, b.n, why));
    }
    assert_int_equal(taken, 1020);
    queue_close(other);
    queue_close(q);
    queue_batch_clear(&b);
}

TEST(addresses_are_known_and_passwords_are_not_repeated)
{
    static const char *const good[] = { "sqlite:x.db", "postgresql://h/d",
                                        "postgres://h/d" };
    static const char *const bad[] = { "x.db", "http://h/", "", "sqlite" };
    struct seen_error why;

    for (size_t i = 0; i < LENGTH(good); i++)
        assert_true(queue_is_address(good[i]));
    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_false(queue_is_address(bad[i]));
    assert_int_equal(queue_open(&q, "mysql://me:geheim@h/d", NULL, &why),
                     SEEN_RANGE);
    assert_null(strstr(why.text, "geheim"));
}

int main(void)
{
#define EACH_PLACE(sentence) \
    { \
#sentence, sentence, begin, end, NULL \
    }
    static const struct CMUnitTest each[] = {
        EACH_PLACE(what_is_published_is_taken_in_order),
        EACH_PLACE(what_is_done_is_gone),
        EACH_PLACE(bytes_and_lengths_are_kept),
        EACH_PLACE(an_id_that_is_in_the_queue_is_stored_once),
        EACH_PLACE(queues_of_one_place_are_apart),
        EACH_PLACE(what_is_not_allowed_is_refused),
        EACH_PLACE(a_consumer_waits_for_the_first_message),
        EACH_PLACE(a_message_that_fails_five_times_is_a_dead_letter),
        EACH_PLACE(a_message_that_failed_holds_up_nobody),
        EACH_PLACE(a_rejected_message_is_a_dead_letter_with_its_reason),
        EACH_PLACE(long_reasons_are_cut_between_characters),
        EACH_PLACE(dead_letters_are_revived_or_dropped),
        EACH_PLACE(a_revived_message_that_was_published_again_is_there_once),
        EACH_PLACE(messages_of_a_dead_consumer_come_again),
        EACH_PLACE(a_message_that_kills_its_consumers_is_a_dead_letter_alone),
        EACH_PLACE(a_late_consumer_cannot_end_what_others_have),
        EACH_PLACE(the_others_of_a_batch_are_done_nevertheless),
        EACH_PLACE(a_lease_that_is_kept_does_not_end),
        EACH_PLACE(a_consumer_that_closes_gives_back),
        EACH_PLACE(a_single_queue_has_one_consumer_at_a_time),
        EACH_PLACE(a_single_queue_passes_on_when_its_consumer_dies),
        EACH_PLACE(a_consumer_of_a_single_queue_keeps_it_while_it_waits),
        EACH_PLACE(stats_count_every_message_once),
        EACH_PLACE(counts_survive_the_processes_that_made_them),
        EACH_PLACE(an_unknown_queue_has_no_dead_letters),
        EACH_PLACE(many_processes_share_the_messages),
    };
    static const struct CMUnitTest once[] = {
        cmocka_unit_test(
            a_consumer_that_never_waits_goes_on_after_its_connection_was_cut),
        cmocka_unit_test(
            a_server_that_was_away_for_longer_than_the_patience_is_used_again),
        cmocka_unit_test(
            after_a_restart_of_the_machine_leases_and_pauses_are_void),
        cmocka_unit_test(
            a_boot_id_that_is_hidden_voids_no_lease_of_the_living),
        cmocka_unit_test(a_file_of_another_version_is_refused),
        cmocka_unit_test(a_file_that_must_exist_is_not_made),
        cmocka_unit_test(a_full_disk_loses_nothing),
        cmocka_unit_test(a_full_disk_gives_no_place_to_two_messages),
        cmocka_unit_test(addresses_are_known_and_passwords_are_not_repeated),
    };
    static struct CMUnitTest tests[PLACES * LENGTH(each) + LENGTH(once)];
    static char names[PLACES * LENGTH(each)][120];
    size_t n = 0;

    for (size_t k = 0; k < PLACES; k++)
        for (size_t i = 0; i < LENGTH(each); i++, n++) {
            tests[n] = each[i];
            snprintf(names[n], sizeof names[n], "%s: %s", place_kinds[k].name,
                     each[i].name);
            tests[n].name = names[n];
            tests[n].initial_state = (void *)(uintptr_t)&place_kinds[k];
        }
    memcpy(tests + n, once, sizeof once);
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
