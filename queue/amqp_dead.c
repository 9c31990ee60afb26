/*
 * amqp_dead.c - dead letters on RabbitMQ, for operators.
 *
 * A queue cannot be looked at without taking its messages. They are taken one
 * by one (basic.get), and those that stay are given back together at the end,
 * in one frame, so that they return to the front in the order that they had.
 * If the connection is lost meanwhile, the server gives them back.
 *
 * The first message comes with the number of the others. Only as many are
 * taken: a letter that is put back may die again while this goes on.
 */
#include "amqp.h"

#include <stdio.h>
#include <string.h>

#include "../lib/disk/clock.h"
#include "../lib/text/span.h"

enum { BATCH = 100 }; /* dead letters that are published together */

/* A walk over the dead letters of a queue. */
struct walk {
    char queue[QUEUE_AMQP_NAME];
    bool begun;
    uint32_t left;
};

/* The next dead letter: *c is NULL after the last one. */
static enum seen_code next(struct queue_amqp_place *p, struct walk *w,
                           struct queue_amqp_content **c,
                           struct seen_error *why)
{
    amqp_basic_get_t m = { .queue = amqp_cstring_bytes(w->queue) };
    enum seen_code code;

    *c = NULL;
    if (w->begun && !w->left)
        return SEEN_OK;
    code = queue_amqp_call(&p->out, QUEUE_AMQP_CONTROL, AMQP_BASIC_GET_METHOD,
                           &m, queue_amqp_patience(p), why);
    if (code == SEEN_ABSENT) /* the queue */
        return SEEN_OK;
    if (code != SEEN_OK || p->out.reply != AMQP_BASIC_GET_OK_METHOD)
        return code;
    w->left = w->begun ? w->left - 1 : p->out.reply_count;
    w->begun = true;
    *c = p->out.content[QUEUE_AMQP_CONTROL];
    return SEEN_OK;
}

/* The message lives until the next get(). */
static struct queue_message message_of(const struct queue_amqp_content *c,
                                       char reason[200])
{
    struct queue_message m = { .id = { c->id, c->id_len },
                               .body = { c->body.bytes, c->body.len },
                               .attempt = c->attempt,
                               .reason = { c->reason, c->reason_len } };

    if (c->killed) {
        snprintf(reason, 200,
                 "given up after %d deliveries without an answer%s%.*s",
                 QUEUE_TRIES, c->reason_len ? "; before: " : "",
                 (int)(c->reason_len < 120 ? c->reason_len : 120), c->reason);
        m.reason = span_of(reason);
        m.attempt = QUEUE_TRIES;
    } else if (c->oversize && !c->reason_len) {
        m.reason = span_of("its body is too large");
    }
    return m;
}

/* Give back everything that was taken and not settled. */
static void give_back_all(struct queue_amqp_place *p)
{
    amqp_basic_nack_t nack = { .delivery_tag = 0,
                               .multiple = 1,
                               .requeue = 1 };

    if (p->out.state && p->control_ready == p->out.generation)
        queue_amqp_send(&p->out, QUEUE_AMQP_CONTROL, AMQP_BASIC_NACK_METHOD,
                        &nack);
}

static bool settle(struct queue_amqp_place *p, uint64_t tag)
{
    amqp_basic_ack_t ack = { .delivery_tag = tag };

    return queue_amqp_send(&p->out, QUEUE_AMQP_CONTROL, AMQP_BASIC_ACK_METHOD,
                           &ack);
}

static enum seen_code begin(struct queue_amqp_place *p, const char *name,
                            struct walk *w, struct seen_error *why)
{
    *w = (struct walk){ .begun = false };
    queue_amqp_part_name(p, w->queue, name, QUEUE_PART_DEAD);
    queue_amqp_attend(p);
    return queue_amqp_control(p, queue_amqp_patience(p), why);
}

enum seen_code queue_amqp_dead(struct queue *q, const char *name,
                               unsigned most, queue_take_dead *take,
                               void *owner, struct seen_error *why)
{
    struct queue_amqp_place *p = (struct queue_amqp_place *)q;
    struct queue_amqp_content *c;
    struct walk w;
    enum seen_code code = begin(p, name, &w, why);
    char reason[200];

    while (code == SEEN_OK && most--) {
        struct queue_message m;

        code = next(p, &w, &c, why);
        if (code != SEEN_OK || !c)
            break;
        m = message_of(c, reason);
        if (!take(owner, &m))
            break;
    }
    give_back_all(p);
    return code;
}

/* Dead letters that are put back: copies, published together. */
struct revival {
    struct queue_batch batch;
    uint64_t tag[BATCH];
};

static enum seen_code put_back(struct queue_amqp_place *p, const char *name,
                               struct revival *r, uint64_t *n,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    size_t had = r->batch.n;
    uint64_t generation = p->out.generation;

    if (!had)
        return SEEN_OK;
    queue_batch_end(&r->batch);
    code = queue_amqp_post(p, name, QUEUE_PART_MAIN, r->batch.message, had, 1,
                           (struct seen_span){ "", 0 }, why);
    queue_batch_clear(&r->batch);
    if (code != SEEN_OK)
        return code;
    *n += had;
    if (generation != p->out.generation)
        return seen_fail(why, SEEN_IO, 0,
                         "%.70s: the connection was lost; some dead letters "
                         "are in both queues now",
                         p->to.name);
    for (size_t i = 0; i < had; i++)
        if (!settle(p, r->tag[i]))
            return queue_amqp_fault(&p->out, why);
    return SEEN_OK;
}

static enum seen_code each(struct queue_amqp_place *p, const char *name,
                           const char *id, bool revive, uint64_t *n,
                           struct seen_error *why)
{
    struct revival r = { .batch = { .message = NULL } };
    struct queue_amqp_content *c;
    struct walk w;
    enum seen_code code = begin(p, name, &w, why);
    char reason[200];

    while (code == SEEN_OK) {
        struct queue_message m;

        code = next(p, &w, &c, why);
        if (code != SEEN_OK || !c)
            break;
        m = message_of(c, reason);
        if (id && !span_is(m.id, id))
            continue;
        if (!revive) {
            if (!settle(p, c->tag))
                code = queue_amqp_fault(&p->out, why);
            else
                ++*n;
            continue;
        }
        if (c->oversize) /* stays where it is */
            continue;
        r.tag[r.batch.n] = c->tag;
        if (!queue_batch_add(&r.batch, &m))
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory for messages");
        else if (r.batch.n == BATCH)
            code = put_back(p, name, &r, n, why);
    }
    if (code == SEEN_OK)
        code = put_back(p, name, &r, n, why);
    queue_batch_clear(&r.batch);
    give_back_all(p);
    return code;
}

enum seen_code queue_amqp_revive(struct queue *q, const char *name,
                                 const char *id, uint64_t *n,
                                 struct seen_error *why)
{
    return each((struct queue_amqp_place *)q, name, id, true, n, why);
}

enum seen_code queue_amqp_drop_dead(struct queue *q, const char *name,
                                    const char *id, uint64_t *n,
                                    struct seen_error *why)
{
    return each((struct queue_amqp_place *)q, name, id, false, n, why);
}
