/*
 * amqp_publish.c - publish messages to RabbitMQ and wait until it has stored
 * them.
 *
 * All messages are sent before the first confirm is waited for: the server
 * numbers what is published on a channel from 1, and its confirms name these
 * numbers, one by one or all up to one. A confirm of a quorum queue means that
 * a majority of its members has the message on disk.
 *
 *     number    first                low                         last
 *     state       3     3     0     3  │  1     1     3     1     1
 *               stored      nacked     │  sent, not answered
 *
 * What is not stored is sent again, with the same id: after a nack (the queue
 * is full, or its leader died), after it was returned because the queue does
 * not exist (it is made again), and after the connection was lost, when it is
 * unknown which of the unanswered ones were stored.
 */
#include "amqp.h"

#include <poll.h>
#include <string.h>

#include "../lib/disk/clock.h"
#include "../lib/text/array.h"
#include "../lib/text/span.h"

enum { TO_SEND, SENT, RETURNED, STORED }; /* of a message */

enum {
    WHOLE = 65536, /* bytes of a body that is sent in one go */
    REMAKES = 3    /* of a queue that is missing */
};

/* --- confirms --- */

static void answer(struct queue_amqp_flight *f, size_t i, bool stored)
{
    if (f->state[i] != SENT && f->state[i] != RETURNED)
        return;
    f->open--;
    if (f->state[i] == RETURNED) {
        f->returned++;
    } else if (!stored) {
        f->nacked++;
    } else {
        f->state[i] = STORED;
        f->left--;
        f->progress = clock_ms();
        return;
    }
    f->state[i] = TO_SEND;
}

static bool confirm(void *owner, uint64_t tag, bool multiple, bool stored)
{
    struct queue_amqp_flight *f = &((struct queue_amqp_place *)owner)->flight;

    if (!tag && multiple)
        tag = f->last;
    if (!tag || tag > f->last)
        return false;
    if (tag < f->first)
        return true;
    for (uint64_t s = multiple ? f->low : tag; s <= tag; s++)
        answer(f, f->index[s - f->first], stored);
    if (multiple && tag >= f->low)
        f->low = tag + 1;
    return true;
}

/* A message for which there is no queue. Its confirm follows. */
static bool returned(void *owner, unsigned channel,
                     struct queue_amqp_content *c)
{
    struct queue_amqp_flight *f = &((struct queue_amqp_place *)owner)->flight;
    struct seen_span id = { c->id, c->id_len };

    (void)channel;
    if (c->of != AMQP_BASIC_RETURN_METHOD)
        return false;
    for (size_t i = 0; i < f->n; i++)
        if (f->state[i] == SENT && span_equal(f->message[i].id, id)) {
            f->state[i] = RETURNED;
            break;
        }
    return true;
}

static void closed(void *owner, unsigned channel, bool open)
{
    struct queue_amqp_place *p = owner;

    if (open) /* nobody consumes here */
        return;
    if (channel == QUEUE_AMQP_CONTROL)
        p->control_ready = 0;
    else
        p->out_ready = 0;
}

const struct queue_amqp_events queue_amqp_out_events = { confirm, returned,
                                                         closed };

/* --- send --- */

/* librabbitmq has no const; it only reads what is sent. */
static amqp_bytes_t bytes_of(struct seen_span s)
{
    return (amqp_bytes_t){ s.len, (void *)(uintptr_t)s.text };
}

static void set_properties(amqp_basic_properties_t *to,
                           amqp_table_entry_t entry[2],
                           const struct queue_message *m, unsigned attempt,
                           struct seen_span reason)
{
    int n = 0;

    *to = (amqp_basic_properties_t){
        ._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG,
        .delivery_mode = AMQP_DELIVERY_PERSISTENT,
        .message_id = bytes_of(m->id),
    };
    if (attempt > 1) {
        entry[n].key = amqp_cstring_bytes("seen-attempt");
        entry[n].value.kind = AMQP_FIELD_KIND_I32;
        entry[n++].value.value.i32 = (int32_t)attempt;
    }
    if (reason.len) {
        entry[n].key = amqp_cstring_bytes("seen-reason");
        entry[n].value.kind = AMQP_FIELD_KIND_UTF8;
        entry[n++].value.value.bytes = bytes_of(reason);
    }
    if (n) {
        to->_flags |= AMQP_BASIC_HEADERS_FLAG;
        to->headers = (amqp_table_t){ n, entry };
    }
}

/* A large body frame by frame: a server that stops reading in the middle
   is noticed by queue_amqp_writable(), not by a send that never returns. */
static int send_frames(struct queue_amqp_place *p, amqp_bytes_t queue,
                       amqp_basic_properties_t *properties,
                       struct seen_span body)
{
    amqp_basic_publish_t publish = { .routing_key = queue, .mandatory = 1 };
    amqp_frame_t f = { .frame_type = AMQP_FRAME_HEADER,
                       .channel = QUEUE_AMQP_CONFIRMS };
    size_t most = (size_t)amqp_get_frame_max(p->out.state) - 8;
    int status = amqp_send_method(p->out.state, QUEUE_AMQP_CONFIRMS,
                                  AMQP_BASIC_PUBLISH_METHOD, &publish);

    f.payload.properties.class_id = AMQP_BASIC_CLASS;
    f.payload.properties.body_size = body.len;
    f.payload.properties.decoded = properties;
    if (status == AMQP_STATUS_OK)
        status = amqp_send_frame(p->out.state, &f);
    f.frame_type = AMQP_FRAME_BODY;
    while (status == AMQP_STATUS_OK && body.len) {
        size_t n = body.len < most ? body.len : most;

        if (queue_amqp_writable(&p->out, queue_amqp_patience(p), NULL) !=
            SEEN_OK)
            return AMQP_STATUS_TIMEOUT;
        f.payload.body_fragment = bytes_of((struct seen_span){ body.text, n });
        status = amqp_send_frame(p->out.state, &f);
        body.text += n;
        body.len -= n;
    }
    return status;
}

static int send_one(struct queue_amqp_place *p, const char *queue, size_t i,
                    unsigned attempt, struct seen_span reason)
{
    struct queue_amqp_flight *f = &p->flight;
    const struct queue_message *m = &f->message[i];
    amqp_bytes_t key = amqp_cstring_bytes(queue);
    amqp_basic_properties_t properties;
    amqp_table_entry_t entry[2];

    f->index[f->sent++] = i;
    f->last++;
    f->state[i] = SENT;
    f->open++;
    set_properties(&properties, entry, m, attempt, reason);
    if (m->body.len > WHOLE)
        return send_frames(p, key, &properties, m->body);
    return amqp_basic_publish(p->out.state, QUEUE_AMQP_CONFIRMS,
                              amqp_empty_bytes, key, 1, 0, &properties,
                              bytes_of(m->body));
}

/* What was sent on a connection that is gone is to be sent again. */
static void begin_round(struct queue_amqp_flight *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->state[i] != STORED)
            f->state[i] = TO_SEND;
    f->open = f->sent = f->nacked = f->returned = 0;
    f->first = f->low = f->last + 1;
}

/* Send all that is not stored and wait for the answers. */
static enum seen_code one_round(struct queue_amqp_place *p, const char *queue,
                                unsigned attempt, struct seen_span reason,
                                struct seen_error *why)
{
    struct queue_amqp_flight *f = &p->flight;
    unsigned patience = p->base.settings.patience;
    enum seen_code code = queue_amqp_ready(p, f->progress + patience, why);

    if (code != SEEN_OK)
        return code;
    begin_round(f);
    for (size_t i = 0; i < f->n; i++) {
        int status;

        if (f->state[i] == STORED)
            continue;
        code = queue_amqp_writable(&p->out, f->progress + patience, why);
        if (code != SEEN_OK)
            return code;
        if (p->out_ready != p->out.generation)
            break; /* the server closed the channel */
        status = send_one(p, queue, i, attempt, reason);
        if (status != AMQP_STATUS_OK) {
            queue_amqp_drop(&p->out, amqp_error_string2(status));
            return queue_amqp_fault(&p->out, why);
        }
    }
    p->out.sent = clock_ms();
    while (f->open && p->out_ready == p->out.generation) {
        if (queue_amqp_pump(&p->out, f->progress + patience) > 0)
            continue;
        if (!p->out.state)
            return queue_amqp_fault(&p->out, why);
        if (p->out.blocked)
            return seen_fail(why, SEEN_BUSY, 0,
                             "%.70s: it takes no messages now: %s", p->to.name,
                             p->out.blocked_why);
        return seen_fail(why, SEEN_BUSY, 0,
                         "%.70s: no confirm within %u s; has the queue lost "
                         "its majority?",
                         p->to.name, patience / 1000);
    }
    if (p->out_ready != p->out.generation) {
        seen_fail(why, SEEN_UNABLE, 0, "%.60s: %s", p->to.name,
                  p->out.closed_text);
        return p->out.state ? SEEN_UNABLE : SEEN_IO;
    }
    return SEEN_OK;
}

static enum seen_code begin_flight(struct queue_amqp_flight *f,
                                   const struct queue_message *message,
                                   size_t n, struct seen_error *why)
{
    unsigned char *state = array_grow(f->state, &f->state_room, n, 1);
    size_t *index;

    if (state)
        f->state = state;
    index = array_grow(f->index, &f->index_room, n, sizeof *index);
    if (index)
        f->index = index;
    if (!state || !index)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for %zu messages", n);
    f->message = message;
    f->n = f->left = n;
    f->progress = clock_ms();
    memset(f->state, TO_SEND, n);
    return SEEN_OK;
}

enum seen_code queue_amqp_post(struct queue_amqp_place *p, const char *name,
                               unsigned part,
                               const struct queue_message *message, size_t n,
                               unsigned attempt, struct seen_span reason,
                               struct seen_error *why)
{
    struct queue_amqp_flight *f = &p->flight;
    char queue[QUEUE_AMQP_NAME];
    unsigned pause = 20, remakes = 0;
    enum seen_code code = queue_amqp_need(p, name, part, false, why);

    if (code == SEEN_OK)
        code = begin_flight(f, message, n, why);
    if (code != SEEN_OK)
        return code;
    queue_amqp_part_name(p, queue, name, part);
    while (f->left) {
        bool late;

        code = one_round(p, queue, attempt, reason, why);
        late = clock_ms() >= f->progress + p->base.settings.patience;
        if (code == SEEN_IO && !p->out.hopeless && !late)
            continue;
        if (code != SEEN_OK)
            break;
        if (f->returned && remakes++ < REMAKES) {
            size_t left = f->left;

            code = queue_amqp_need(p, name, part, true, why);
            if (code != SEEN_OK)
                break;
            f->left = left;
        } else if (f->returned) {
            code = seen_fail(why, SEEN_ABSENT, 0,
                             "%.60s: queue %.60s is deleted again and again",
                             p->to.name, queue);
            break;
        }
        if (f->nacked && late) {
            code = seen_fail(why, SEEN_FULL, 0,
                             "%.60s: queue %.50s refuses messages; it is full",
                             p->to.name, queue);
            break;
        }
        if (f->nacked) {
            poll(NULL, 0, (int)pause);
            pause = pause < 1000 ? pause * 2 : pause;
        }
    }
    /* Answers that come after this would be taken for answers to others. */
    if (code != SEEN_OK && f->open)
        queue_amqp_drop(&p->out, "given up");
    f->n = f->open = 0;
    f->message = NULL;
    return code;
}

enum seen_code queue_amqp_publish(struct queue *q, const char *name,
                                  const struct queue_message *message,
                                  size_t n, struct seen_error *why)
{
    struct queue_amqp_place *p = (struct queue_amqp_place *)q;

    queue_amqp_attend(p);
    return queue_amqp_post(p, name, QUEUE_PART_MAIN, message, n, 1,
                           (struct seen_span){ "", 0 }, why);
}
