/*
 * amqp_link.c - connect to RabbitMQ and read what it sends.
 *
 * Heartbeats. Both sides agree on a time T, and the server closes a
 * connection on which nothing came for two intervals of T. Nothing runs in the
 * background here: every call serves its connections, which reads what has come
 * and sends a heartbeat if nothing was sent for a quarter of T. T is the lease,
 * so a caller that calls something once per lease, as queue.h asks, is never
 * cut off, and has another lease to spare. If its process hangs, the server
 * gives its messages to others after two to three leases; if it dies, at
 * once.
 *
 * Before anything is sent, what has come is read: librabbitmq gives up a
 * connection as dead when a send finds that nothing was *read* for 2 T, even if
 * the server's heartbeats wait in the socket.
 */
#include "amqp_link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <openssl/x509_vfy.h>

#include "../lib/disk/clock.h"
#include "../lib/text/span.h"

enum {
    FIRST_PAUSE = 50, /* ms between two tries to connect; doubles */
    LAST_PAUSE = 2000,
    HANDSHAKE = 10000, /* ms for one try, and always for the first one */
    GOODBYE = 500,
    SERVE_MOST = 10000, /* frames that one serve() reads */
    FRAME_MOST = 131072
};

static struct timeval timeval_of(uint64_t ms)
{
    return (struct timeval){ .tv_sec = (time_t)(ms / 1000),
                             .tv_usec = (suseconds_t)(ms % 1000 * 1000) };
}

static uint64_t left_until(uint64_t until)
{
    uint64_t now = clock_ms();

    return until > now ? until - now : 0;
}

/* Words of the server, which may be anything, as one line of text. */
static void copy_words(char *to, size_t room, amqp_bytes_t from)
{
    size_t n = from.len < room - 1 ? from.len : room - 1;

    for (size_t i = 0; i < n; i++) {
        char c = ((const char *)from.bytes)[i];

        to[i] = (unsigned char)c < 0x20 || c == 0x7f ? ' ' : c;
    }
    to[n] = '\0';
}

enum seen_code queue_amqp_fault(const struct queue_amqp_link *l,
                                struct seen_error *why)
{
    errno = 0; /* old by now */
    return seen_fail(why, l->fault.code ? l->fault.code : SEEN_IO, 0,
                     "%.70s: %s", l->to->name, l->fault.text);
}

void queue_amqp_drop(struct queue_amqp_link *l, const char *words)
{
    if (!l->state)
        return;
    errno = 0;
    seen_fail(&l->fault, SEEN_IO, 0, "%s", words);
    amqp_destroy_connection(l->state);
    l->state = NULL;
    l->blocked = false;
    l->next = clock_ms();
    for (unsigned i = 0; i < QUEUE_AMQP_CHANNELS; i++)
        if (l->content[i])
            l->content[i]->of = 0;
}

void queue_amqp_disconnect(struct queue_amqp_link *l)
{
    if (l->state) {
        struct timeval tv = timeval_of(GOODBYE);

        amqp_set_rpc_timeout(l->state, &tv);
        amqp_connection_close(l->state, AMQP_REPLY_SUCCESS);
        amqp_destroy_connection(l->state);
        l->state = NULL;
    }
    for (unsigned i = 0; i < QUEUE_AMQP_CHANNELS; i++) {
        if (l->content[i])
            buffer_clear(&l->content[i]->body);
        free(l->content[i]);
        l->content[i] = NULL;
    }
}

/* --- connect --- */

static enum seen_code away(struct queue_amqp_link *l, const char *words)
{
    errno = 0;
    return seen_fail(&l->fault, SEEN_IO, 0, "%s", words);
}

/* A server that has let us in before may be in the middle of a restart. */
static enum seen_code refuse(struct queue_amqp_link *l, const char *words)
{
    if (l->generation)
        return away(l, words);
    l->hopeless = true;
    return seen_fail(&l->fault, SEEN_UNABLE, 0, "%s", words);
}

static enum seen_code open_socket(struct queue_amqp_link *l, uint64_t ms)
{
    struct timeval tv = timeval_of(ms);
    amqp_socket_t *socket;
    char words[128];
    int status;

    if (l->to->tls)
        socket = queue_amqp_tls(l->state, l->to, &l->tls_result, &l->fault);
    else
        socket = amqp_tcp_socket_new(l->state);
    if (!socket) {
        l->hopeless = l->to->tls;
        return l->to->tls ? l->fault.code : away(l, "no memory");
    }
    status = amqp_socket_open_noblock(socket, l->to->host, (int)l->to->port,
                                      &tv);
    if (status == AMQP_STATUS_OK)
        return SEEN_OK;
    if (l->to->tls && l->tls_result != X509_V_OK) {
        snprintf(words, sizeof words, "its certificate is refused: %s",
                 X509_verify_cert_error_string(l->tls_result));
        return refuse(l, words);
    }
    if (status == AMQP_STATUS_SSL_CONNECTION_FAILED)
        return away(l, "no TLS handshake; does this port speak TLS?");
    if (status == AMQP_STATUS_SOCKET_ERROR)
        return away(l, "cannot connect");
    return away(l, amqp_error_string2(status));
}

static enum seen_code login(struct queue_amqp_link *l)
{
    amqp_table_entry_t entry = { .key = amqp_cstring_bytes(
                                     "connection_name") };
    amqp_table_t table = { .num_entries = 1, .entries = &entry };
    amqp_rpc_reply_t reply;
    char words[128];

    entry.value.kind = AMQP_FIELD_KIND_UTF8;
    entry.value.value.bytes = amqp_cstring_bytes(l->client);
    reply = amqp_login_with_properties(
        l->state, l->to->vhost, QUEUE_AMQP_CHANNELS - 1, FRAME_MOST,
        (int)l->heartbeat, &table, AMQP_SASL_METHOD_PLAIN, l->to->user,
        l->to->password);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL)
        return SEEN_OK;
    if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
        reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD) {
        const amqp_connection_close_t *m = reply.reply.decoded;

        if (m->reply_code == AMQP_ACCESS_REFUSED) {
            snprintf(words, sizeof words,
                     "it refuses user %.40s with this password", l->to->user);
            return refuse(l, words);
        }
        copy_words(words, sizeof words, m->reply_text);
        if (m->reply_code == AMQP_NOT_ALLOWED)
            return refuse(l, words);
        return away(l, words);
    }
    if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION)
        return away(l, amqp_error_string2(reply.library_error));
    return away(l, "it does not answer as RabbitMQ does");
}

static enum seen_code connect_once(struct queue_amqp_link *l, uint64_t ms)
{
    struct timeval tv = timeval_of(ms);
    enum seen_code code;

    l->state = amqp_new_connection();
    if (!l->state)
        return away(l, "no memory");
    code = open_socket(l, ms);
    if (code == SEEN_OK) {
        amqp_set_handshake_timeout(l->state, &tv);
        amqp_set_rpc_timeout(l->state, &tv);
        code = login(l);
    }
    if (code != SEEN_OK) {
        amqp_destroy_connection(l->state);
        l->state = NULL;
        return code;
    }
    amqp_maybe_release_buffers(l->state);
    l->heartbeat = (unsigned)amqp_get_heartbeat(l->state);
    l->generation++;
    l->blocked = false;
    l->sent = l->served = clock_ms();
    l->pause = 0;
    return SEEN_OK;
}

enum seen_code queue_amqp_connect(struct queue_amqp_link *l, uint64_t until,
                                  struct seen_error *why)
{
    while (!l->state) {
        uint64_t now = clock_ms(), ms;

        if (l->hopeless)
            return queue_amqp_fault(l, why);
        if (l->next > now) {
            ms = l->next < until ? l->next - now : left_until(until);
            poll(NULL, 0, (int)(ms < LAST_PAUSE ? ms : LAST_PAUSE));
            if (clock_ms() >= until && l->next > until)
                return queue_amqp_fault(l, why);
            continue;
        }
        ms = left_until(until);
        ms = ms > HANDSHAKE || !l->generation ? HANDSHAKE
             : ms < 1000                      ? 1000
                                              : ms;
        if (connect_once(l, ms) == SEEN_OK)
            return SEEN_OK;
        l->pause = !l->pause                   ? FIRST_PAUSE
                   : l->pause < LAST_PAUSE / 2 ? l->pause * 2
                                               : LAST_PAUSE;
        l->next = clock_ms() + l->pause;
        if (l->hopeless || clock_ms() >= until)
            return queue_amqp_fault(l, why);
    }
    return SEEN_OK;
}

/* --- properties --- */

static bool is_key(const amqp_table_entry_t *e, const char *key)
{
    return span_is((struct seen_span){ e->key.bytes, e->key.len }, key);
}

static bool is_text(const amqp_field_value_t *v)
{
    return v->kind == AMQP_FIELD_KIND_UTF8 || v->kind == AMQP_FIELD_KIND_BYTES;
}

/* Any sort of integer, at least 0; others are 0. */
static unsigned count_of(const amqp_field_value_t *v)
{
    int64_t n;

    switch (v->kind) {
    case AMQP_FIELD_KIND_I8: n = v->value.i8; break;
    case AMQP_FIELD_KIND_U8: n = v->value.u8; break;
    case AMQP_FIELD_KIND_I16: n = v->value.i16; break;
    case AMQP_FIELD_KIND_U16: n = v->value.u16; break;
    case AMQP_FIELD_KIND_I32: n = v->value.i32; break;
    case AMQP_FIELD_KIND_U32: n = v->value.u32; break;
    case AMQP_FIELD_KIND_I64: n = v->value.i64; break;
    case AMQP_FIELD_KIND_U64:
        n = v->value.u64 > 100 ? 100 : (int64_t)v->value.u64;
        break;
    default: n = 0; break;
    }
    return n < 0 ? 0 : n > 100 ? 100 : (unsigned)n;
}

/* x-death is a list of tables: one per queue and reason. */
static bool was_given_up(const amqp_field_value_t *deaths)
{
    if (deaths->kind != AMQP_FIELD_KIND_ARRAY)
        return false;
    for (int i = 0; i < deaths->value.array.num_entries; i++) {
        const amqp_field_value_t *v = &deaths->value.array.entries[i];

        if (v->kind != AMQP_FIELD_KIND_TABLE)
            continue;
        for (int k = 0; k < v->value.table.num_entries; k++) {
            const amqp_table_entry_t *e = &v->value.table.entries[k];

            if (is_key(e, "reason") && is_text(&e->value) &&
                span_is((struct seen_span){ e->value.value.bytes.bytes,
                                            e->value.value.bytes.len },
                        "delivery_limit"))
                return true;
        }
    }
    return false;
}

void queue_amqp_properties(struct queue_amqp_content *c,
                           const amqp_basic_properties_t *p)
{
    c->attempt = 1;
    c->deliveries = 0;
    c->killed = false;
    c->id_len = c->reason_len = 0;
    if (p->_flags & AMQP_BASIC_MESSAGE_ID_FLAG && p->message_id.len) {
        c->id_len = p->message_id.len < sizeof c->id ? p->message_id.len
                                                     : sizeof c->id;
        memcpy(c->id, p->message_id.bytes, c->id_len);
    }
    if (!(p->_flags & AMQP_BASIC_HEADERS_FLAG))
        return;
    for (int i = 0; i < p->headers.num_entries; i++) {
        const amqp_table_entry_t *e = &p->headers.entries[i];
        amqp_bytes_t text = { 0, NULL };

        if (is_text(&e->value))
            text = e->value.value.bytes;
        if (is_key(e, "seen-attempt")) {
            c->attempt = count_of(&e->value);
        } else if (is_key(e, "seen-reason") && text.len) {
            c->reason_len = text.len < sizeof c->reason ? text.len
                                                        : sizeof c->reason;
            memcpy(c->reason, text.bytes, c->reason_len);
        } else if (is_key(e, "x-delivery-count")) {
            c->deliveries = count_of(&e->value);
        } else if (is_key(e, "x-death")) {
            c->killed = was_given_up(&e->value);
        }
    }
    if (!c->attempt)
        c->attempt = 1;
}

/* --- frames --- */

static bool begin_content(struct queue_amqp_link *l, unsigned channel,
                          amqp_method_number_t of, uint64_t tag,
                          bool redelivered)
{
    struct queue_amqp_content *c = l->content[channel];

    if (!c && !(c = l->content[channel] = calloc(1, sizeof *c)))
        return false;
    if (c->of) /* the last one is not complete */
        return false;
    c->of = of;
    c->headed = c->oversize = false;
    c->tag = tag;
    c->redelivered = redelivered;
    c->due = 0;
    c->body.len = 0;
    return true;
}

static bool end_content(struct queue_amqp_link *l, unsigned channel,
                        struct queue_amqp_content *c)
{
    bool good = true;

    if (c->body.failed)
        return false;
    if (c->of == AMQP_BASIC_GET_OK_METHOD) {
        l->reply = c->of;
        l->reply_channel = (amqp_channel_t)channel;
    } else {
        good = l->events->message(l->owner, channel, c);
    }
    c->of = 0;
    return good;
}

static bool use_header(struct queue_amqp_link *l, const amqp_frame_t *f)
{
    struct queue_amqp_content *c = l->content[f->channel];

    if (!c || !c->of || c->headed ||
        f->payload.properties.class_id != AMQP_BASIC_CLASS)
        return false;
    c->headed = true;
    c->due = f->payload.properties.body_size;
    c->oversize = c->due > QUEUE_BODY_MOST;
    queue_amqp_properties(c, f->payload.properties.decoded);
    return c->due || end_content(l, f->channel, c);
}

static bool use_body(struct queue_amqp_link *l, const amqp_frame_t *f)
{
    struct queue_amqp_content *c = l->content[f->channel];
    amqp_bytes_t part = f->payload.body_fragment;

    if (!c || !c->of || !c->headed || part.len > c->due)
        return false;
    c->due -= part.len;
    if (!c->oversize)
        buffer_bytes(&c->body, part.bytes, part.len);
    return c->due || end_content(l, f->channel, c);
}

/* Methods about the connection. */
static bool use_method_0(struct queue_amqp_link *l, const amqp_method_t *m)
{
    switch (m->id) {
    case AMQP_CONNECTION_CLOSE_METHOD: {
        const amqp_connection_close_t *close = m->decoded;
        amqp_connection_close_ok_t ok = { 0 };
        char words[128];

        copy_words(words, sizeof words, close->reply_text);
        amqp_send_method(l->state, 0, AMQP_CONNECTION_CLOSE_OK_METHOD, &ok);
        queue_amqp_drop(l, words);
        return true;
    }
    case AMQP_CONNECTION_BLOCKED_METHOD:
        l->blocked = true;
        copy_words(l->blocked_why, sizeof l->blocked_why,
                   ((const amqp_connection_blocked_t *)m->decoded)->reason);
        return true;
    case AMQP_CONNECTION_UNBLOCKED_METHOD: l->blocked = false; return true;
    default: return false;
    }
}

static bool use_close(struct queue_amqp_link *l, unsigned channel,
                      const amqp_channel_close_t *m)
{
    amqp_channel_close_ok_t ok = { 0 };

    l->reply = AMQP_CHANNEL_CLOSE_METHOD;
    l->reply_channel = (amqp_channel_t)channel;
    l->closed_code = m->reply_code;
    copy_words(l->closed_text, sizeof l->closed_text, m->reply_text);
    if (l->content[channel])
        l->content[channel]->of = 0;
    l->events->closed(l->owner, channel, false);
    return amqp_send_method(l->state, (amqp_channel_t)channel,
                            AMQP_CHANNEL_CLOSE_OK_METHOD,
                            &ok) == AMQP_STATUS_OK;
}

static bool use_method(struct queue_amqp_link *l, unsigned channel,
                       const amqp_method_t *m)
{
    switch (m->id) {
    case AMQP_BASIC_DELIVER_METHOD: {
        const amqp_basic_deliver_t *d = m->decoded;

        return begin_content(l, channel, m->id, d->delivery_tag,
                             d->redelivered);
    }
    case AMQP_BASIC_GET_OK_METHOD: {
        const amqp_basic_get_ok_t *d = m->decoded;

        l->reply_count = d->message_count;
        return begin_content(l, channel, m->id, d->delivery_tag,
                             d->redelivered);
    }
    case AMQP_BASIC_RETURN_METHOD:
        return begin_content(l, channel, m->id, 0, false);
    case AMQP_BASIC_ACK_METHOD: {
        const amqp_basic_ack_t *a = m->decoded;

        return l->events->confirm(l->owner, a->delivery_tag, a->multiple,
                                  true);
    }
    case AMQP_BASIC_NACK_METHOD: {
        const amqp_basic_nack_t *a = m->decoded;

        return l->events->confirm(l->owner, a->delivery_tag, a->multiple,
                                  false);
    }
    case AMQP_BASIC_CANCEL_METHOD:
        l->events->closed(l->owner, channel, true);
        break;
    case AMQP_CHANNEL_CLOSE_METHOD: return use_close(l, channel, m->decoded);
    case AMQP_CHANNEL_FLOW_METHOD: return false; /* RabbitMQ sends none */
    case AMQP_QUEUE_DECLARE_OK_METHOD:
        l->reply_count =
            ((const amqp_queue_declare_ok_t *)m->decoded)->message_count;
        /* fall through */
    default:
        l->reply = m->id;
        l->reply_channel = (amqp_channel_t)channel;
        break;
    }
    return true;
}

static bool use_frame(struct queue_amqp_link *l, const amqp_frame_t *f)
{
    if (f->frame_type == AMQP_FRAME_HEARTBEAT)
        return true;
    if (f->channel == 0)
        return f->frame_type == AMQP_FRAME_METHOD &&
               use_method_0(l, &f->payload.method);
    if (f->channel >= QUEUE_AMQP_CHANNELS)
        return false;
    switch (f->frame_type) {
    case AMQP_FRAME_METHOD:
        return use_method(l, f->channel, &f->payload.method);
    case AMQP_FRAME_HEADER: return use_header(l, f);
    case AMQP_FRAME_BODY: return use_body(l, f);
    default: return false;
    }
}

int queue_amqp_pump(struct queue_amqp_link *l, uint64_t until)
{
    struct timeval tv = timeval_of(until ? left_until(until) : 0);
    amqp_frame_t frame;
    int status;

    if (!l->state)
        return -1;
    status = amqp_simple_wait_frame_noblock(l->state, &frame, &tv);
    if (status == AMQP_STATUS_TIMEOUT)
        return 0;
    if (status != AMQP_STATUS_OK) {
        queue_amqp_drop(l, amqp_error_string2(status));
        return -1;
    }
    if (!use_frame(l, &frame)) {
        queue_amqp_drop(l, "it broke the protocol, or there is no memory");
        return -1;
    }
    if (!l->state)
        return -1;
    amqp_maybe_release_buffers_on_channel(l->state, frame.channel);
    return 1;
}

/* --- send --- */

void queue_amqp_serve(struct queue_amqp_link *l)
{
    int frames = 0;

    while (l->state && frames++ < SERVE_MOST && queue_amqp_pump(l, 0) > 0)
        ;
    l->served = clock_ms();
    if (l->state && l->heartbeat &&
        l->served - l->sent >= l->heartbeat * 250) {
        amqp_frame_t beat = { .frame_type = AMQP_FRAME_HEARTBEAT };

        if (amqp_send_frame(l->state, &beat) != AMQP_STATUS_OK)
            queue_amqp_drop(l, "the connection was lost");
        l->sent = l->served;
    }
}

enum seen_code queue_amqp_writable(struct queue_amqp_link *l, uint64_t until,
                                   struct seen_error *why)
{
    while (l->state) {
        struct pollfd p = { .fd = amqp_get_sockfd(l->state),
                            .events = POLLIN | POLLOUT };
        uint64_t ms;

        if (l->blocked)
            p.events = POLLIN;
        ms = left_until(until);
        if (poll(&p, 1, (int)(ms < 1000 ? ms : 1000)) < 0 && errno != EINTR)
            queue_amqp_drop(l, "poll() failed");
        else if (amqp_data_in_buffer(l->state) || p.revents & ~POLLOUT)
            queue_amqp_pump(l, 0);
        else if (p.revents & POLLOUT)
            return SEEN_OK;
        else if (!ms && l->blocked)
            return seen_fail(why, SEEN_BUSY, 0,
                             "%.70s: it takes no messages now: %s",
                             l->to->name, l->blocked_why);
        else if (!ms)
            return seen_fail(why, SEEN_BUSY, 0, "%.70s: it reads nothing",
                             l->to->name);
        else if (l->blocked)
            queue_amqp_serve(l);
    }
    return queue_amqp_fault(l, why);
}

bool queue_amqp_send(struct queue_amqp_link *l, unsigned channel,
                     amqp_method_number_t id, void *method)
{
    int status;

    if (!l->state)
        return false;
    status = amqp_send_method(l->state, (amqp_channel_t)channel, id, method);
    l->sent = clock_ms();
    if (status != AMQP_STATUS_OK)
        queue_amqp_drop(l, amqp_error_string2(status));
    return status == AMQP_STATUS_OK;
}

enum seen_code queue_amqp_call(struct queue_amqp_link *l, unsigned channel,
                               amqp_method_number_t id, void *method,
                               uint64_t until, struct seen_error *why)
{
    enum seen_code code;

    l->reply = 0;
    if (!queue_amqp_send(l, channel, id, method))
        return queue_amqp_fault(l, why);
    while (!l->reply || l->reply_channel != channel) {
        l->reply = 0;
        if (queue_amqp_pump(l, until) == 0)
            queue_amqp_drop(l, "it does not answer");
        if (!l->state)
            return queue_amqp_fault(l, why);
    }
    if (l->reply != AMQP_CHANNEL_CLOSE_METHOD)
        return SEEN_OK;
    code = l->closed_code == AMQP_NOT_FOUND             ? SEEN_ABSENT
           : l->closed_code == AMQP_PRECONDITION_FAILED ? SEEN_MISMATCH
                                                        : SEEN_UNABLE;
    return seen_fail(why, code, l->closed_code, "%.60s: %s", l->to->name,
                     l->closed_text);
}

enum seen_code queue_amqp_channel(struct queue_amqp_link *l, unsigned channel,
                                  uint64_t until, struct seen_error *why)
{
    amqp_channel_open_t open = { .out_of_band = { 0, NULL } };

    return queue_amqp_call(l, channel, AMQP_CHANNEL_OPEN_METHOD, &open, until,
                           why);
}
