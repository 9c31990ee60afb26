/*
 * amqp_link.h - one connection to RabbitMQ: log in, send methods, read frames.
 *
 * librabbitmq encodes and decodes frames. All frames are read here, in one
 * place, because a reply, a delivery, a confirm, connection.blocked and the
 * end of the connection may come in any order. Each frame is used up before
 * the next one is read, so nothing points into the buffers of librabbitmq.
 *
 *     if (queue_amqp_connect(&l, clock_ms() + 5000, &why) == SEEN_OK)
 *         code = queue_amqp_call(&l, 1, AMQP_CHANNEL_OPEN_METHOD, &open,
 *                                until, &why);
 *
 * A connection that is lost has state NULL. After it was made again it has
 * another generation, and its channels must be opened again.
 *
 * Threads: a link belongs to one thread at a time.
 */
#ifndef SEEN_QUEUE_AMQP_LINK_H
#define SEEN_QUEUE_AMQP_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <amqp.h>

#include <seen/error.h>

#include "../lib/text/buffer.h"
#include "amqp_url.h"
#include "queue.h"

/* A message that comes in: a method announces it, a frame has its properties,
   the others its body. */
struct queue_amqp_content {
    amqp_method_number_t of; /* deliver, get-ok or return; 0: nothing is due */
    bool headed;             /* the properties have come */
    bool oversize;           /* the body is dropped */
    bool redelivered;
    bool killed;         /* the server gave it up: see x-delivery-limit */
    uint64_t tag;        /* that the delivery is acknowledged by */
    uint64_t due;        /* bytes of the body that are still to come */
    unsigned attempt;    /* as its publisher wrote it, or 1 */
    unsigned deliveries; /* before this one, as the server counts */
    size_t id_len, reason_len;
    char id[QUEUE_ID_MOST], reason[QUEUE_REASON_MOST];
    struct buffer body;
};

enum { QUEUE_AMQP_CHANNELS = 256 }; /* that a link may use, with channel 0 */

struct queue_amqp_link;

/* What the owner of a link wants to know. False: the server broke the
   protocol, or memory ran out; the connection is given up. */
struct queue_amqp_events {
    bool (*confirm)(void *owner, uint64_t tag, bool multiple, bool stored);
    bool (*message)(void *owner, unsigned channel,
                    struct queue_amqp_content *c);
    /* A channel was closed; or, if it is still open, its consumer was
       cancelled. */
    void (*closed)(void *owner, unsigned channel, bool open);
};

struct queue_amqp_link {
    const struct queue_amqp_address *to;
    const struct queue_amqp_events *events;
    void *owner;
    const char *client; /* name of this process, for the server's lists */
    unsigned heartbeat; /* seconds; asked for, then agreed on */

    amqp_connection_state_t state; /* NULL: not connected */
    uint64_t generation;
    bool hopeless; /* it never worked and never will: wrong password */
    bool blocked;  /* the server reads nothing: no memory, or no disk */
    char blocked_why[60];
    uint64_t lost;         /* since when the owner waits for it, or 0 */
    uint64_t next;         /* when to try again, in ms */
    unsigned pause;        /* before the try after that */
    uint64_t sent, served; /* when something was sent, or read, last */
    struct seen_error fault; /* why it was lost or could not be made */
    int tls_result;          /* X509_V_... of the last handshake */

    /* The reply to a call. */
    amqp_channel_t reply_channel;
    amqp_method_number_t reply;
    uint32_t reply_count; /* messages that a queue has, or has besides this */
    uint16_t closed_code; /* of the channel.close that came instead */
    char closed_text[128];
    struct queue_amqp_content *content[QUEUE_AMQP_CHANNELS];
};

/*
 * Connect, if the link is not connected, and go on trying, with growing
 * pauses, until the time `until` (ms of clock_ms()); at least once. SEEN_IO
 * if the server was away all the time, SEEN_UNABLE if it refuses: a wrong
 * password, vhost or certificate.
 */
enum seen_code queue_amqp_connect(struct queue_amqp_link *l, uint64_t until,
                                  struct seen_error *why);

/* Say goodbye, if the server still listens, and free everything. */
void queue_amqp_disconnect(struct queue_amqp_link *l);

/* Give up the connection at once; `words` say why. */
void queue_amqp_drop(struct queue_amqp_link *l, const char *words);

/* Read and use one frame: 1; 0 if none came until the time; -1 if the
   connection was lost. */
int queue_amqp_pump(struct queue_amqp_link *l, uint64_t until);

/* Use all frames that have come, and show the server that this side lives.
   Nothing waits. */
void queue_amqp_serve(struct queue_amqp_link *l);

/* Wait until the socket takes more bytes and the server reads them; frames
   that come are used. SEEN_IO if the connection was lost, or at `until`. */
enum seen_code queue_amqp_writable(struct queue_amqp_link *l, uint64_t until,
                                   struct seen_error *why);

/* Send a method that has no reply. False if the connection was lost. */
bool queue_amqp_send(struct queue_amqp_link *l, unsigned channel,
                     amqp_method_number_t id, void *method);

/*
 * Send a method and wait for its reply. The server may close the channel
 * instead: SEEN_ABSENT if what was named is missing, SEEN_MISMATCH if a queue
 * has other arguments, SEEN_UNABLE otherwise; `why` has the server's words.
 * SEEN_IO if the connection was lost.
 */
enum seen_code queue_amqp_call(struct queue_amqp_link *l, unsigned channel,
                               amqp_method_number_t id, void *method,
                               uint64_t until, struct seen_error *why);

/* Open a channel. */
enum seen_code queue_amqp_channel(struct queue_amqp_link *l, unsigned channel,
                                  uint64_t until, struct seen_error *why);

/* Fill `why` with the link's name and its fault. */
enum seen_code queue_amqp_fault(const struct queue_amqp_link *l,
                                struct seen_error *why);

/* Take what is known about a message from its properties. */
void queue_amqp_properties(struct queue_amqp_content *c,
                           const amqp_basic_properties_t *p);

/* A socket with TLS for a new connection, set up as the address asks; NULL
   with `why`. The result of the check is stored in *result later. */
amqp_socket_t *queue_amqp_tls(amqp_connection_state_t state,
                              const struct queue_amqp_address *to, int *result,
                              struct seen_error *why);

#endif
