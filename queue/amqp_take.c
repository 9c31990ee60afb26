/*
 * amqp_take.c - messages from RabbitMQ, and what becomes of them.
 *
 * Each queue that is read has a channel and a consumer of its own. The server
 * sends messages before they are asked for, up to the prefetch count; they
 * wait here for the next queue_take(). It numbers the deliveries of a channel
 * from 1, and one array per channel has what became of each:
 *
 *     number    first                                    first + n
 *     state       0       2       0       3       2       1
 *              settled  taken          to be acked     waits here
 *
 * An acknowledgement may cover all numbers up to its own, so those at the
 * front that are done cost one frame together. A number that was settled is
 * never settled again: the server would close the channel.
 *
 * The tag of a message says which connection, channel and number it has:
 *
 *     63      50 49   42 41                                  0
 *     [generation][channel][         number          ]
 *
 * After the connection was lost its tags are stale, and the server delivers
 * the messages again: SEEN_ABSENT.
 *
 * What the server counts. A quorum queue counts every return of a message: its
 * consumer died or was cut off, or gave it back. This count and the attempt
 * in the message's header, which queue_retry() writes, make up the attempt
 * that the caller sees. At QUEUE_TRIES - 1 returns the next one makes the
 * message a dead letter. To give a message back is not a failure: twice it is
 * requeued, which keeps its place at the front and counts; the third time
 * it is published anew without the count and goes to the end of the queue.
 */
#include "amqp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/disk/clock.h"
#include "../lib/text/array.h"

enum { SETTLED, WAITING, TAKEN, DONE }; /* state of a delivery */

enum {
    NUMBER_BITS = 42,
    CHANNEL_BITS = 8,
    EAGER = 32,     /* a caller that takes as many gets a second batch early */
    REQUEUES = 2,   /* before a message is published anew */
    PREFETCH_MOST = 65535
};

#define NUMBER_MOST ((1ULL << NUMBER_BITS) - 1)

struct delivery {
    unsigned char state;
    unsigned char attempt;    /* as the header says */
    unsigned char deliveries; /* how many there were before this one */
};

/* A message that waits here; its bytes follow. */
struct parcel {
    struct parcel *next;
    uint64_t number;
    size_t id_len, reason_len, body_len;
    char bytes[];
};

struct queue_amqp_consumer {
    char *name;
    unsigned channel;
    uint64_t ready; /* generation in which it consumes, or 0 */
    bool open;      /* it was cancelled, and its channel is open */
    unsigned prefetch;
    unsigned tags; /* consumers so far, for the name of the next one */
    struct parcel *head, **tail;
    size_t waiting, taken;
    uint64_t first; /* number of delivery[0] */
    struct delivery *delivery;
    size_t n, room;
};

static uint64_t tag_of(const struct queue_amqp_place *p, unsigned channel,
                       uint64_t number)
{
    return (p->in.generation << (NUMBER_BITS + CHANNEL_BITS)) |
           (uint64_t)channel << NUMBER_BITS | number;
}

/* --- what arrives --- */

/* Nothing of an old connection or channel is valid any more. */
static void forget_deliveries(struct queue_amqp_consumer *c)
{
    struct parcel *next;

    for (struct parcel *a = c->head; a; a = next) {
        next = a->next;
        free(a);
    }
    c->head = NULL;
    c->tail = &c->head;
    c->waiting = c->taken = c->n = 0;
    c->first = 1;
}

static bool keep_parcel(struct queue_amqp_consumer *c,
                        const struct queue_amqp_content *from)
{
    size_t len = from->id_len + from->reason_len + from->body.len;
    struct parcel *a = malloc(sizeof *a + len);

    if (!a)
        return false;
    *a = (struct parcel){ .number = from->tag,
                          .id_len = from->id_len,
                          .reason_len = from->reason_len,
                          .body_len = from->body.len };
    memcpy(a->bytes, from->id, from->id_len);
    memcpy(a->bytes + a->id_len, from->reason, from->reason_len);
    if (from->body.len)
        memcpy(a->bytes + a->id_len + a->reason_len, from->body.bytes,
               from->body.len);
    *c->tail = a;
    c->tail = &a->next;
    c->waiting++;
    return true;
}

static bool delivered(void *owner, unsigned channel,
                      struct queue_amqp_content *from)
{
    struct queue_amqp_place *p = owner;
    struct queue_amqp_consumer *c = p->consumer[channel];
    struct delivery *d;

    if (!c || from->of != AMQP_BASIC_DELIVER_METHOD ||
        from->tag != c->first + c->n || from->tag > NUMBER_MOST)
        return false;
    d = array_grow(c->delivery, &c->room, c->n + 1, sizeof *d);
    if (!d)
        return false;
    c->delivery = d;
    d += c->n++;
    *d = (struct delivery){ WAITING, (unsigned char)from->attempt,
                            (unsigned char)from->deliveries };
    if (from->oversize) { /* somebody else's: the server moves it aside */
        amqp_basic_reject_t reject = { .delivery_tag = from->tag };

        d->state = SETTLED;
        return amqp_send_method(p->in.state, (amqp_channel_t)channel,
                                AMQP_BASIC_REJECT_METHOD,
                                &reject) == AMQP_STATUS_OK;
    }
    return keep_parcel(c, from);
}

static bool no_confirm(void *owner, uint64_t tag, bool multiple, bool stored)
{
    (void)owner, (void)tag, (void)multiple, (void)stored;
    return false;
}

/* The queue was deleted or moved; the consumer begins anew when it is needed.
   What was delivered is delivered again. */
static void ended(void *owner, unsigned channel, bool open)
{
    struct queue_amqp_place *p = owner;
    struct queue_amqp_consumer *c = p->consumer[channel];

    if (!c)
        return;
    c->ready = 0;
    c->open = open;
    forget_deliveries(c);
}

const struct queue_amqp_events queue_amqp_in_events = { no_confirm, delivered,
                                                        ended };

/* --- consume --- */

void queue_amqp_free_consumers(struct queue_amqp_place *p)
{
    for (unsigned i = 0; i < QUEUE_AMQP_CHANNELS; i++) {
        struct queue_amqp_consumer *c = p->consumer[i];

        if (!c)
            continue;
        forget_deliveries(c);
        free(c->delivery);
        free(c->name);
        free(c);
        p->consumer[i] = NULL;
    }
}

static struct queue_amqp_consumer *find_consumer(struct queue_amqp_place *p,
                                                 const char *name,
                                                 struct seen_error *why)
{
    struct queue_amqp_consumer *c;
    unsigned channel;

    for (channel = 1; channel <= p->n_consumers; channel++)
        if (!strcmp(p->consumer[channel]->name, name))
            return p->consumer[channel];
    if (channel >= QUEUE_AMQP_CHANNELS) {
        seen_fail(why, SEEN_RANGE, 0, "one process reads at most %d queues",
                  QUEUE_AMQP_CHANNELS - 1);
        return NULL;
    }
    c = calloc(1, sizeof *c);
    if (!c || !(c->name = strdup(name))) {
        free(c);
        seen_fail(why, SEEN_NOMEM, 0, "no memory for a consumer");
        return NULL;
    }
    c->channel = channel;
    forget_deliveries(c);
    p->consumer[channel] = c;
    p->n_consumers = channel;
    return c;
}

static enum seen_code begin_consumer(struct queue_amqp_place *p,
                                     struct queue_amqp_consumer *c,
                                     unsigned prefetch, struct seen_error *why)
{
    amqp_basic_qos_t qos = { .prefetch_count = (uint16_t)prefetch };
    amqp_basic_consume_t consume = { .queue = amqp_cstring_bytes(c->name) };
    enum seen_code code;
    char tag[16];

    c->tags++;
    snprintf(tag, sizeof tag, "%u", c->tags);
    consume.consumer_tag = amqp_cstring_bytes(tag);
    code = queue_amqp_call(&p->in, c->channel, AMQP_BASIC_QOS_METHOD, &qos,
                           queue_amqp_patience(p), why);
    if (code == SEEN_OK)
        code = queue_amqp_call(&p->in, c->channel, AMQP_BASIC_CONSUME_METHOD,
                               &consume, queue_amqp_patience(p), why);
    if (code == SEEN_OK)
        c->prefetch = prefetch;
    return code;
}

/* Quorum queues take a new prefetch count only with a new consumer. On a
   single queue this lets the next consumer in, so it is done only if the
   caller holds more than was foreseen. */
static enum seen_code replace_consumer(struct queue_amqp_place *p,
                                       struct queue_amqp_consumer *c,
                                       unsigned prefetch,
                                       struct seen_error *why)
{
    amqp_basic_cancel_t cancel;
    enum seen_code code;
    char tag[16];

    snprintf(tag, sizeof tag, "%u", c->tags);
    cancel = (amqp_basic_cancel_t){ .consumer_tag = amqp_cstring_bytes(tag) };
    code = queue_amqp_call(&p->in, c->channel, AMQP_BASIC_CANCEL_METHOD,
                           &cancel, queue_amqp_patience(p), why);
    return code != SEEN_OK ? code : begin_consumer(p, c, prefetch, why);
}

/* After a cancel: what is left of the channel goes back to its queue. */
static enum seen_code close_channel(struct queue_amqp_place *p,
                                    struct queue_amqp_consumer *c,
                                    struct seen_error *why)
{
    amqp_channel_close_t m = { .reply_code = AMQP_REPLY_SUCCESS };

    c->open = false;
    return queue_amqp_call(&p->in, c->channel, AMQP_CHANNEL_CLOSE_METHOD, &m,
                           queue_amqp_patience(p), why);
}

/* Let the consumer run on this connection, with room for `most` messages
   besides those that the caller holds. `until` bounds the wait for a server
   that is away. One that is there has the patience for each answer: with less
   time than an answer takes, the consumer would never come back. */
static enum seen_code run_consumer(struct queue_amqp_place *p,
                                   struct queue_amqp_consumer *c,
                                   unsigned most, uint64_t until,
                                   struct seen_error *why)
{
    size_t need = c->taken + most;
    unsigned prefetch;
    enum seen_code code;

    code = queue_amqp_connect(&p->in, until, why);
    if (code == SEEN_OK && c->open)
        code = close_channel(p, c, why);
    if (code != SEEN_OK)
        return code;
    if (c->ready != p->in.generation) {
        forget_deliveries(c);
        need = most;
    } else if (need <= c->prefetch) {
        return SEEN_OK;
    }
    prefetch = most >= EAGER ? (unsigned)need + most : (unsigned)need;
    if (c->ready == p->in.generation && prefetch < 2 * c->prefetch)
        prefetch = 2 * c->prefetch; /* do not come here for each message */
    if (prefetch > PREFETCH_MOST)
        prefetch = PREFETCH_MOST;
    if (c->ready == p->in.generation)
        return replace_consumer(p, c, prefetch, why);
    code = queue_amqp_channel(&p->in, c->channel, queue_amqp_patience(p), why);
    c->ready = p->in.generation; /* what is delivered now belongs to it */
    if (code == SEEN_OK)
        code = begin_consumer(p, c, prefetch, why);
    if (code != SEEN_OK)
        c->ready = 0;
    return code;
}

static bool hand_over(struct queue_amqp_place *p,
                      struct queue_amqp_consumer *c, struct queue_batch *batch)
{
    struct parcel *a = c->head;
    struct delivery *d = &c->delivery[a->number - c->first];
    const char *at = a->bytes;
    struct queue_message m = { .attempt = d->attempt + d->deliveries,
                               .tag = tag_of(p, c->channel, a->number) };

    m.id = (struct seen_span){ at, a->id_len };
    m.reason = (struct seen_span){ at += a->id_len, a->reason_len };
    m.body = (struct seen_span){ at + a->reason_len, a->body_len };
    if (!queue_batch_add(batch, &m))
        return false;
    d->state = TAKEN;
    c->head = a->next;
    if (!c->head)
        c->tail = &c->head;
    c->waiting--;
    c->taken++;
    free(a);
    return true;
}

/* Connect, until `until`, and consume. SEEN_IO if the server is still away. */
static enum seen_code prepare(struct queue_amqp_place *p,
                              struct queue_amqp_consumer *c, unsigned most,
                              uint64_t until, struct seen_error *why)
{
    enum seen_code code = queue_amqp_need(p, c->name, QUEUE_PART_MAIN, false,
                                          why);

    if (!p->in.state) {
        forget_deliveries(c);
        c->open = false;
    }
    if (code == SEEN_OK)
        code = run_consumer(p, c, most, until, why);
    if (code == SEEN_ABSENT) { /* it was deleted */
        code = queue_amqp_need(p, c->name, QUEUE_PART_MAIN, true, why);
        if (code == SEEN_OK)
            code = run_consumer(p, c, most, until, why);
    }
    return code;
}

/*
 * If the server is away, a take waits for it no longer than for a message, so
 * that the caller stays responsive. Only when the server was away for longer
 * than the patience is it an error.
 */
enum seen_code queue_amqp_take(struct queue *q, const char *name,
                               unsigned most, unsigned ms,
                               struct queue_batch *batch,
                               struct seen_error *why)
{
    struct queue_amqp_place *p = (struct queue_amqp_place *)q;
    struct queue_amqp_consumer *c = find_consumer(p, name, why);
    uint64_t until = clock_ms() + ms, limit;
    enum seen_code code;

    if (!c)
        return why ? why->code : SEEN_NOMEM;
    queue_amqp_attend(p);
    if (most > PREFETCH_MOST / 2)
        most = PREFETCH_MOST / 2;
    do {
        if (!p->in.lost)
            p->in.lost = clock_ms();
        limit = p->in.lost + q->settings.patience;
        code = prepare(p, c, most,
                       p->in.generation && until < limit ? until : limit, why);
        if (code == SEEN_IO && clock_ms() < limit && !p->in.hopeless)
            continue;
        if (code != SEEN_OK)
            return code;
        p->in.lost = 0;
        while (!c->waiting && queue_amqp_pump(&p->in, until) > 0)
            ;
        while (c->waiting && c->waiting < most &&
               queue_amqp_pump(&p->in, 0) > 0)
            ;
    } while (!c->waiting && clock_ms() < until);
    if (c->ready != p->in.generation || !p->in.state)
        return SEEN_OK;
    while (batch->n < most && c->waiting)
        if (!hand_over(p, c, batch))
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for messages");
    queue_batch_end(batch);
    return SEEN_OK;
}

/* --- settle --- */

/* The delivery of a message that the caller holds, or NULL if it is stale. */
static struct delivery *find_delivery(struct queue_amqp_place *p, uint64_t tag,
                                      struct queue_amqp_consumer **consumer)
{
    unsigned channel = (unsigned)(tag >> NUMBER_BITS) % QUEUE_AMQP_CHANNELS;
    uint64_t number = tag & NUMBER_MOST;
    struct queue_amqp_consumer *c = p->consumer[channel];
    struct delivery *d;

    if (!p->in.state || !c || c->ready != p->in.generation ||
        tag != tag_of(p, channel, number) || number < c->first ||
        number - c->first >= c->n)
        return NULL;
    d = &c->delivery[number - c->first];
    *consumer = c;
    return d->state == TAKEN ? d : NULL;
}

static void mark_done(struct queue_amqp_consumer *c, struct delivery *d)
{
    d->state = DONE;
    c->taken--;
}

/* Forget the settled ones at the front, now and then. */
static void compact(struct queue_amqp_consumer *c)
{
    size_t n = 0;

    while (n < c->n && c->delivery[n].state == SETTLED)
        n++;
    if (n < 64 || n < c->n / 2)
        return;
    memmove(c->delivery, c->delivery + n, (c->n - n) * sizeof *c->delivery);
    c->first += n;
    c->n -= n;
}

static bool acknowledge(struct queue_amqp_place *p,
                        struct queue_amqp_consumer *c, size_t i, bool multiple)
{
    amqp_basic_ack_t ack = { .delivery_tag = c->first + i,
                             .multiple = multiple };

    return queue_amqp_send(&p->in, c->channel, AMQP_BASIC_ACK_METHOD, &ack);
}

/* Send the acknowledgements of all that is done. */
static bool flush_done(struct queue_amqp_place *p,
                       struct queue_amqp_consumer *c)
{
    size_t i = 0, last = SIZE_MAX;
    bool sent = true;

    for (; i < c->n; i++) {
        if (c->delivery[i].state == DONE)
            last = i;
        else if (c->delivery[i].state != SETTLED)
            break;
        c->delivery[i].state = SETTLED;
    }
    if (last != SIZE_MAX)
        sent = acknowledge(p, c, last, true);
    for (; i < c->n && sent; i++)
        if (c->delivery[i].state == DONE) {
            c->delivery[i].state = SETTLED;
            sent = acknowledge(p, c, i, false);
        }
    compact(c);
    return sent;
}

static enum seen_code stale(struct seen_error *why, uint64_t at)
{
    return seen_fail(why, SEEN_ABSENT, at,
                     "the connection was lost meanwhile; the message is "
                     "delivered again");
}

enum seen_code queue_amqp_done(struct queue *q,
                               const struct queue_message *message, size_t n,
                               struct seen_error *why)
{
    struct queue_amqp_place *p = (struct queue_amqp_place *)q;
    struct queue_amqp_consumer *c = NULL, *last = NULL;
    enum seen_code code = SEEN_OK;

    queue_amqp_attend(p);
    for (size_t i = 0; i < n; i++) {
        struct delivery *d = find_delivery(p, message[i].tag, &c);

        if (!d) {
            code = stale(why, i);
            continue;
        }
        if (last && last != c && !flush_done(p, last))
            code = stale(why, i);
        mark_done(c, d);
        last = c;
    }
    if (last && p->in.state && !flush_done(p, last))
        code = stale(why, 0);
    return code;
}

/* Publish a copy elsewhere, then acknowledge the original. If the process dies
   in between, there are two, and the second one has the same id. */
static enum seen_code move(struct queue_amqp_place *p,
                           const struct queue_message *m, unsigned part,
                           unsigned attempt, struct seen_span reason,
                           struct seen_error *why)
{
    struct queue_amqp_consumer *c = NULL;
    enum seen_code code;
    struct delivery *d;

    if (!find_delivery(p, m->tag, &c))
        return stale(why, 0);
    code = queue_amqp_post(p, c->name, part, m, 1, attempt, reason, why);
    if (code != SEEN_OK)
        return code;
    queue_amqp_serve(&p->in);
    d = find_delivery(p, m->tag, &c);
    if (!d)
        return stale(why, 0);
    mark_done(c, d);
    return flush_done(p, c) ? SEEN_OK : stale(why, 0);
}

enum seen_code queue_amqp_retry(struct queue *q, const struct queue_message *m,
                                struct seen_span reason,
                                struct seen_error *why)
{
    struct queue_amqp_place *p = (struct queue_amqp_place *)q;
    unsigned attempt = m->attempt ? m->attempt : 1;
    unsigned part = QUEUE_PART_MAIN;

    queue_amqp_attend(p);
    if (attempt >= QUEUE_TRIES)
        return move(p, m, QUEUE_PART_DEAD, attempt, reason, why);
    if (q->settings.pauses[attempt - 1])
        part = QUEUE_PART_RETRY + attempt - 1;
    return move(p, m, part, attempt + 1, reason, why);
}

enum seen_code queue_amqp_reject(struct queue *q,
                                 const struct queue_message *m,
                                 struct seen_span reason,
                                 struct seen_error *why)
{
    struct queue_amqp_place *p = (struct queue_amqp_place *)q;

    queue_amqp_attend(p);
    return move(p, m, QUEUE_PART_DEAD, m->attempt, reason, why);
}

/* The server puts them at the front, in this order. */
enum seen_code queue_amqp_give_back(struct queue *q,
                                    const struct queue_message *message,
                                    size_t n, struct seen_error *why)
{
    struct queue_amqp_place *p = (struct queue_amqp_place *)q;
    enum seen_code code = SEEN_OK;

    queue_amqp_attend(p);
    for (size_t i = 0; i < n; i++) {
        struct queue_amqp_consumer *c = NULL;
        struct delivery *d = find_delivery(p, message[i].tag, &c);
        amqp_basic_nack_t nack = { .requeue = 1 };
        enum seen_code now = SEEN_OK;

        if (!d) {
            code = stale(why, i);
            continue;
        }
        if (d->deliveries >= REQUEUES) {
            now = move(p, &message[i], QUEUE_PART_MAIN, d->attempt,
                       message[i].reason, why);
            code = now != SEEN_OK ? now : code;
            continue;
        }
        nack.delivery_tag = c->first + (uint64_t)(d - c->delivery);
        d->state = SETTLED;
        c->taken--;
        if (!queue_amqp_send(&p->in, c->channel, AMQP_BASIC_NACK_METHOD,
                             &nack))
            code = stale(why, i);
    }
    return code;
}
