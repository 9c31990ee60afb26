/*
 * queue_model_test.c - random steps of three consumers, beside a model that
 * says what may be delivered.
 *
 * A consumer is killed by ending its lease and using it no more: what others
 * see is the same, and the test needs no second process.
 */
#include "places.h"

#include <poll.h>

#include "lib/text/span.h"

enum { CONSUMERS = 3, IDS = 30, STEPS = 1500, HELD = 40, DEATHS = 400 };

static const struct queue_settings patient = { .lease = FOREVER,
                                               .patience = PATIENT,
                                               .pauses = { 1, 1, 1, 1 } };

enum state { ABSENT, READY, WAITING, TAKEN };

struct message {
    enum state state;
    unsigned attempt; /* that began */
    int owner;
    uint64_t dead; /* copies among the dead letters */
};

struct consumer {
    struct queue *q;
    char name[32];
    struct queue_message held[HELD];
    int ids[HELD], n;
};

static struct {
    const struct place_kind *kind;
    const char *queue;
    struct message message[IDS];
    struct consumer consumer[CONSUMERS];
    struct queue *killed[DEATHS];
    int deaths, born;
    uint64_t random, published, done;
} m;

static unsigned below(unsigned n)
{
    m.random = m.random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(m.random >> 33) % n;
}

static void attach(struct consumer *c)
{
    struct queue_settings settings = patient;

    snprintf(c->name, sizeof c->name, "consumer-%d", m.born++);
    settings.owner = c->name;
    c->n = 0;
    OK(queue_open(&c->q, place_address(m.kind), &settings, why));
}

static void publish(struct consumer *c)
{
    struct queue_message message[8];
    char text[8][16];
    size_t n = 1 + below(8);

    for (size_t i = 0; i < n; i++) {
        unsigned id = below(IDS);

        snprintf(text[i], sizeof text[i], "%u", id);
        message[i] = place_message(text[i], text[i]);
        if (m.message[id].state == ABSENT) {
            m.message[id].state = READY;
            m.message[id].attempt = 0;
            m.published++;
        }
    }
    OK(queue_publish(c->q, m.queue, message, n, why));
}

static void take(int number)
{
    struct consumer *c = &m.consumer[number];
    struct queue_batch b = { .message = NULL };
    unsigned most = 1 + below(5);

    if (c->n + 5 > HELD)
        return;
    poll(NULL, 0, 2); /* what waits is due then */
    place_take(c->q, m.queue, most, 0, &b);
    if (!b.n)
        for (int i = 0; i < IDS; i++)
            assert_true(m.message[i].state == ABSENT ||
                        m.message[i].state == TAKEN);
    assert_true(b.n <= most);
    for (size_t i = 0; i < b.n; i++) {
        struct message *of;
        int id = 0;

        assert_true(span_equal(b.message[i].id, b.message[i].body));
        for (size_t k = 0; k < b.message[i].id.len; k++)
            id = 10 * id + b.message[i].id.text[k] - '0';
        of = &m.message[id];
        assert_true(of->state == READY || of->state == WAITING);
        assert_int_equal(b.message[i].attempt, of->attempt + 1);
        assert_true(b.message[i].attempt <= QUEUE_TRIES);
        of->state = TAKEN;
        of->attempt++;
        of->owner = number;
        c->ids[c->n] = id;
        c->held[c->n] = b.message[i];
        c->held[c->n].id = c->held[c->n].body = c->held[c->n].reason =
            (struct seen_span){ "", 0 };
        c->n++;
    }
    queue_batch_clear(&b);
}

/* One of those that it has. */
static bool pick(struct consumer *c, struct queue_message *held,
                 struct message **of)
{
    int at;

    if (!c->n)
        return false;
    at = (int)below((unsigned)c->n);
    *held = c->held[at];
    *of = &m.message[c->ids[at]];
    c->n--;
    c->held[at] = c->held[c->n];
    c->ids[at] = c->ids[c->n];
    return true;
}

static void finish(struct consumer *c, unsigned how)
{
    struct queue_message held;
    struct message *of;

    if (!pick(c, &held, &of))
        return;
    switch (how) {
    case 0:
        OK(queue_retry(c->q, &held, "failed", why));
        of->state = of->attempt < QUEUE_TRIES ? WAITING : ABSENT;
        of->dead += of->attempt >= QUEUE_TRIES;
        break;
    case 1:
        OK(queue_reject(c->q, &held, "wrong", why));
        of->state = ABSENT;
        of->dead++;
        break;
    case 2:
        OK(queue_return(c->q, &held, 1, why));
        of->state = READY;
        of->attempt--;
        break;
    default:
        OK(queue_done(c->q, &held, 1, why));
        of->state = ABSENT;
        m.done++;
    }
}

static void kill_consumer(int number)
{
    struct consumer *c = &m.consumer[number], late = *c;

    if (m.deaths == DEATHS)
        return;
    place_end_lease(m.kind, c->name);
    for (int i = 0; i < c->n; i++) {
        struct message *of = &m.message[c->ids[i]];

        of->state = of->attempt < QUEUE_TRIES ? READY : ABSENT;
        of->dead += of->attempt >= QUEUE_TRIES;
    }
    m.killed[m.deaths++] = c->q;
    attach(c);
    take(number); /* gives back what the dead one had */
    for (int i = 0; i < late.n; i++)
        assert_int_equal(queue_done(late.q, &late.held[i], 1, NULL),
                         SEEN_ABSENT);
}

static void move_dead(struct consumer *c, bool revive)
{
    uint64_t n, dead = 0;

    for (int i = 0; i < IDS; i++) {
        struct message *of = &m.message[i];

        if (of->dead && revive && of->state == ABSENT) {
            of->state = READY;
            of->attempt = 0;
        }
        dead += of->dead;
        of->dead = 0;
    }
    if (revive)
        OK(queue_revive(c->q, m.queue, NULL, &n, why));
    else
        OK(queue_drop(c->q, m.queue, NULL, &n, why));
    assert_int_equal(n, dead);
}

static bool check(void *owner, const struct queue_stats *s)
{
    int64_t inside = 0, taken = 0, dead = 0;

    (void)owner;
    if (!span_is(s->name, m.queue))
        return true;
    for (int i = 0; i < IDS; i++) {
        inside += m.message[i].state == READY || m.message[i].state == WAITING;
        taken += m.message[i].state == TAKEN;
        dead += (int64_t)m.message[i].dead;
    }
    assert_int_equal(s->ready + s->waiting, inside);
    assert_int_equal(s->taken, taken);
    assert_int_equal(s->dead, dead);
    assert_int_equal(s->published, m.published);
    assert_int_equal(s->done, m.done);
    return false;
}

static void step(void)
{
    int number = (int)below(CONSUMERS);
    struct consumer *c = &m.consumer[number];
    unsigned what = below(100);

    if (what < 20)
        publish(c);
    else if (what < 45)
        take(number);
    else if (what < 90)
        finish(c, below(6));
    else if (what < 93)
        move_dead(c, true);
    else if (what < 94)
        move_dead(c, false);
    else if (what < 97)
        kill_consumer(number);
    else
        OK(queue_stats(c->q, check, NULL, why));
}

static void every_place_does_what_the_model_does(void **state)
{
    memset(&m, 0, sizeof m);
    m.kind = *state;
    if (!place_address(m.kind))
        skip();
    m.random = 20260101;
    m.queue = place_queue();
    for (int i = 0; i < CONSUMERS; i++)
        attach(&m.consumer[i]);
    for (int i = 0; i < STEPS; i++)
        step();
    for (int i = 0; i < CONSUMERS; i++)
        while (m.consumer[i].n)
            finish(&m.consumer[i], 3);
    OK(queue_stats(m.consumer[0].q, check, NULL, why));
    for (int i = 0; i < CONSUMERS; i++)
        queue_close(m.consumer[i].q);
    for (int i = 0; i < m.deaths; i++)
        queue_close(m.killed[i]);
}

int main(void)
{
    struct CMUnitTest tests[PLACES];
    size_t n = 0;

    for (size_t i = 0; i < PLACES; i++)
        if (place_kinds[i].rows)
            tests[n++] = (struct CMUnitTest){
                place_kinds[i].name, every_place_does_what_the_model_does,
                NULL, NULL, (void *)(uintptr_t)&place_kinds[i]
            };
    return _cmocka_run_group_tests("every_place_does_what_the_model_does",
                                   tests, n, folder_make, folder_remove);
}
