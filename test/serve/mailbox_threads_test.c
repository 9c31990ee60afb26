/*
 * mailbox_threads_test.c - messages of a loop that other threads have.
 *
 * Each test has a loop of libuv, whose thread is the test's, and threads that
 * return messages. What arrived() and free() saw is written into the message's
 * `note`, which outlives it.
 */
#include "test/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "serve/mailbox.h"

enum { THREADS = 4, EACH = 500 };

struct note {
    unsigned back, late, freed;
    pthread_t arrived_in, freed_in;
};

struct letter {
    struct serve_message message; /* first */
    struct note *note;
    unsigned again; /* times that it is sent once more */
};

static uv_loop_t loop;
static uv_async_t wake;
static struct serve_mailbox *box;
static unsigned arrived_all;

static void on_wake(uv_async_t *async)
{
    (void)async;
    serve_mailbox_empty(box);
}

static void arrived(struct serve_message *m, bool back)
{
    struct note *note = ((struct letter *)m)->note;

    arrived_all++;
    note->arrived_in = pthread_self();
    if (!back) {
        note->late++;
        return;
    }
    note->back++;
    if (((struct letter *)m)->again && ((struct letter *)m)->again--) {
        assert_true(serve_message_await(box, m, 0));
        serve_message_return(m);
        return;
    }
    free(m);
}

static void free_letter(struct serve_message *m)
{
    struct note *note = ((struct letter *)m)->note;

    note->freed++;
    note->freed_in = pthread_self();
    free(m);
}

static struct letter *letter_new(struct note *note)
{
    struct letter *l = calloc(1, sizeof *l);

    assert_non_null(l);
    l->message.arrived = arrived;
    l->message.free = free_letter;
    l->note = note;
    return l;
}

static int begin(void **state)
{
    (void)state;
    arrived_all = 0;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(uv_async_init(&loop, &wake, on_wake), 0);
    box = serve_mailbox_new(&wake);
    assert_non_null(box);
    return 0;
}

static int end(void **state)
{
    (void)state;
    serve_mailbox_close(box);
    uv_close((uv_handle_t *)&wake, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    return 0;
}

/* --- threads --- */

static void *return_all(void *given)
{
    struct letter **l = given;

    for (int i = 0; i < EACH; i++)
        serve_message_return(&l[i]->message);
    return NULL;
}

static void *return_one(void *given)
{
    serve_message_return(given);
    return NULL;
}

static pthread_t start(void *(*run)(void *), void *given)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, run, given), 0);
    return thread;
}

/* --- tests --- */

TEST(what_threads_return_arrives_once_and_in_the_loop)
{
    static struct letter *letter[THREADS][EACH];
    static struct note note[THREADS][EACH];
    pthread_t thread[THREADS];

    memset(note, 0, sizeof note);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < EACH; i++) {
            letter[t][i] = letter_new(&note[t][i]);
            assert_true(serve_message_await(box, &letter[t][i]->message, 0));
        }
    for (int t = 0; t < THREADS; t++)
        thread[t] = start(return_all, letter[t]);
    while (arrived_all < THREADS * EACH)
        uv_run(&loop, UV_RUN_ONCE);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < EACH; i++) {
            assert_int_equal(note[t][i].back, 1);
            assert_int_equal(note[t][i].late + note[t][i].freed, 0);
            assert_true(pthread_equal(note[t][i].arrived_in, pthread_self()));
        }
}

TEST(a_message_may_be_sent_again_when_it_arrives)
{
    struct note note = { 0 };
    struct letter *l = letter_new(&note);

    l->again = 2;
    assert_true(serve_message_await(box, &l->message, 0));
    serve_message_return(&l->message);
    assert_int_equal(note.back, 0); /* not by the function that returns it */
    while (note.back < 3)
        uv_run(&loop, UV_RUN_ONCE);
    assert_int_equal(note.freed, 0);
}

TEST(a_late_message_is_freed_by_the_loop_when_it_returns)
{
    struct note late = { 0 }, patient = { 0 };
    struct letter *a = letter_new(&late), *b = letter_new(&patient);

    assert_true(serve_message_await(box, &a->message, 1000));
    assert_true(serve_message_await(box, &b->message, 0));
    serve_mailbox_expire(box, 1000);
    assert_int_equal(late.late, 0);
    serve_mailbox_expire(box, 1001);
    serve_mailbox_expire(box, 2000);
    assert_int_equal(late.late, 1);
    assert_int_equal(patient.late, 0);
    pthread_join(start(return_one, &a->message), NULL);
    pthread_join(start(return_one, &b->message), NULL);
    serve_mailbox_empty(box);
    assert_int_equal(late.back, 0);
    assert_int_equal(late.freed, 1);
    assert_true(pthread_equal(late.freed_in, pthread_self()));
    assert_int_equal(patient.back, 1);
}

TEST(when_a_loop_stops_nobody_waits_and_none_leaks)
{
    struct note returned = { 0 }, out = { 0 }, refused = { 0 };
    struct letter *a = letter_new(&returned), *b = letter_new(&out),
                  *c = letter_new(&refused);
    pthread_t thread;

    assert_true(serve_message_await(box, &a->message, 0));
    assert_true(serve_message_await(box, &b->message, 0));
    serve_message_return(&a->message); /* and the loop has not looked */
    serve_mailbox_stop(box);
    assert_int_equal(returned.late, 1);
    assert_int_equal(returned.freed, 1);
    assert_int_equal(out.late, 1);
    assert_int_equal(out.freed, 0); /* the other thread uses it */
    assert_false(serve_message_await(box, &c->message, 0));
    serve_message_return(&b->message);
    assert_int_equal(out.freed, 1);
    free(c);

    serve_mailbox_close(box);
    box = serve_mailbox_new(&wake);
    assert_non_null(box);
    b = letter_new(&out);
    assert_true(serve_message_await(box, &b->message, 0));
    serve_mailbox_close(box); /* before the thread has returned it */
    thread = start(return_one, &b->message);
    pthread_join(thread, NULL);
    assert_int_equal(out.freed, 2);
    assert_true(pthread_equal(out.freed_in, thread));
    box = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_threads_return_arrives_once_and_in_the_loop, begin, end),
        cmocka_unit_test_setup_teardown(
            a_message_may_be_sent_again_when_it_arrives, begin, end),
        cmocka_unit_test_setup_teardown(
            a_late_message_is_freed_by_the_loop_when_it_returns, begin, end),
        cmocka_unit_test_setup_teardown(
            when_a_loop_stops_nobody_waits_and_none_leaks, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
