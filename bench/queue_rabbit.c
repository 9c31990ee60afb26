/*
 * queue_rabbit.c - the least that a queue on RabbitMQ can do: publish a batch
 * of persistent messages to a quorum queue, wait for the confirms, receive
 * the batch, acknowledge it with one frame.
 *
 * It has no ids, attempts or dead letters, and ends at the first fault.
 */
#include "queue.h"

#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rabbit {
    amqp_connection_state_t link;
    char queue[64], *url;
    uint64_t published, confirmed; /* delivery tags of the publisher */
};

static amqp_bytes_t bytes_of(const char *text)
{
    return (amqp_bytes_t){ strlen(text), (void *)(uintptr_t)text };
}

static bool good(struct rabbit *r)
{
    return amqp_get_rpc_reply(r->link).reply_type == AMQP_RESPONSE_NORMAL;
}

static bool log_in(struct rabbit *r, const struct amqp_connection_info *to)
{
    amqp_socket_t *socket = amqp_tcp_socket_new(r->link);
    amqp_rpc_reply_t reply;

    if (!socket || amqp_socket_open(socket, to->host, to->port))
        return false;
    reply = amqp_login(r->link, to->vhost, 0, 131072, 60,
                       AMQP_SASL_METHOD_PLAIN, to->user, to->password);
    if (reply.reply_type != AMQP_RESPONSE_NORMAL)
        return false;
    amqp_channel_open(r->link, 1);
    return good(r);
}

static bool begin(struct rabbit *r)
{
    amqp_table_entry_t quorum = { .key = bytes_of("x-queue-type"),
                                  .value = {
                                      .kind = AMQP_FIELD_KIND_UTF8,
                                      .value.bytes = bytes_of("quorum") } };
    amqp_table_t table = { 1, &quorum };

    amqp_queue_declare(r->link, 1, bytes_of(r->queue), 0, 1, 0, 0, table);
    if (!good(r))
        return false;
    amqp_confirm_select(r->link, 1);
    if (!good(r))
        return false;
    amqp_basic_qos(r->link, 1, 0, BENCH_BATCH_MOST, 0);
    if (!good(r))
        return false;
    amqp_basic_consume(r->link, 1, bytes_of(r->queue), amqp_empty_bytes, 0, 0,
                       0, amqp_empty_table);
    return good(r);
}

static const char *rabbit_open(struct bench_queue *c, const char *at)
{
    struct rabbit *r = calloc(1, sizeof *r);
    struct amqp_connection_info to;

    c->state = r;
    if (!r || !(r->url = strdup(at)))
        return "no memory";
    amqp_default_connection_info(&to);
    if (amqp_parse_url(r->url, &to) != AMQP_STATUS_OK || to.ssl)
        return "not an address that begins with amqp://";
    snprintf(r->queue, sizeof r->queue, "bench-bare-%ld", (long)getpid());
    r->link = amqp_new_connection();
    if (!r->link || !log_in(r, &to) || !begin(r))
        return "the server refuses the connection";
    return NULL;
}

/* Read one frame; deliveries are read by amqp_consume_message() and count
   in *got, with the highest tag in *last. */
static bool receive(struct rabbit *r, size_t *got, uint64_t *last)
{
    struct timeval limit = { 10, 0 };
    amqp_envelope_t envelope;
    amqp_rpc_reply_t reply;
    amqp_frame_t frame;
    const amqp_basic_ack_t *ack;

    amqp_maybe_release_buffers(r->link);
    reply = amqp_consume_message(r->link, &envelope, &limit, 0);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
        ++*got;
        *last = envelope.delivery_tag;
        amqp_destroy_envelope(&envelope);
        return true;
    }
    if (reply.reply_type != AMQP_RESPONSE_LIBRARY_EXCEPTION ||
        reply.library_error != AMQP_STATUS_UNEXPECTED_STATE ||
        amqp_simple_wait_frame_noblock(r->link, &frame, &limit) !=
            AMQP_STATUS_OK ||
        frame.frame_type != AMQP_FRAME_METHOD ||
        frame.payload.method.id != AMQP_BASIC_ACK_METHOD)
        return false;
    ack = frame.payload.method.decoded;
    r->confirmed = ack->multiple && ack->delivery_tag > r->confirmed
                       ? ack->delivery_tag
                       : r->confirmed + !ack->multiple;
    return true;
}

static bool rabbit_batch(struct bench_queue *c, uint64_t first, size_t n,
                         const char *body, size_t len)
{
    struct rabbit *r = c->state;
    const amqp_basic_properties_t properties = {
        ._flags = AMQP_BASIC_DELIVERY_MODE_FLAG, .delivery_mode = 2
    };
    const amqp_bytes_t bytes = { len, (void *)(uintptr_t)body };
    uint64_t last = 0;
    size_t got = 0;

    (void)first;
    for (size_t i = 0; i < n; i++)
        if (amqp_basic_publish(r->link, 1, amqp_empty_bytes,
                               bytes_of(r->queue), 0, 0, &properties,
                               bytes) != AMQP_STATUS_OK)
            return false;
    r->published += n;
    while (got < n || r->confirmed < r->published)
        if (!receive(r, &got, &last))
            return false;
    return amqp_basic_ack(r->link, 1, last, 1) == AMQP_STATUS_OK;
}

static void rabbit_close(struct bench_queue *c)
{
    struct rabbit *r = c->state;

    if (!r)
        return;
    if (r->link) {
        amqp_queue_delete(r->link, 1, bytes_of(r->queue), 0, 0);
        amqp_connection_close(r->link, AMQP_REPLY_SUCCESS);
        amqp_destroy_connection(r->link);
    }
    free(r->url);
    free(r);
    c->state = NULL;
}

const struct bench_queue bench_queue_rabbit = { .name = "librabbitmq",
                                                .open = rabbit_open,
                                                .batch = rabbit_batch,
                                                .close = rabbit_close };
