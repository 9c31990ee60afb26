/*
 * wire.h - one connection to a server that speaks Redis' protocol.
 *
 * Commands are appended as bytes and sent while replies are read, so that a
 * pipeline of any length cannot block both ends. Replies come in the order of
 * the commands; hiredis reads them. Each wait has a time limit, after which
 * the connection is of no use, since nobody knows which commands were done.
 * A reply has limits, too, so that a server out of its mind costs no memory.
 *
 *     remote_wire_open(&w, &address, "db.example", 6379, &why);
 *     remote_wire_count(&w->out, 2);
 *     remote_wire_word(&w->out, "GET", 3);
 *     remote_wire_word(&w->out, "haw", 3);
 *     if (remote_wire_reply(w, &reply, &why) == SEEN_OK)
 *         puts(reply->str);
 *     freeReplyObject(reply);
 *
 * Threads: a wire belongs to one thread at a time.
 */
#ifndef SEEN_REMOTE_WIRE_H
#define SEEN_REMOTE_WIRE_H

#include <hiredis/hiredis.h>
#include <openssl/types.h>

#include "../lib/text/buffer.h"
#include "address.h"

struct remote_wire {
    int fd;
    SSL_CTX *context;
    SSL *ssl; /* or NULL */
    redisReader *reader;
    size_t read;       /* bytes since the last whole reply */
    struct buffer out; /* not yet sent from `sent` on */
    size_t sent;
    unsigned timeout_ms;
    char peer[280];  /* "db.example:6379" */
    char run_id[48]; /* of the process of the server; "": unknown */
    char replid[48]; /* of the history of its data */
};

/*
 * Connect, log in and select the database of the address. SEEN_IO: no
 * connection. SEEN_UNABLE: the server refuses the password or the command,
 * with its own words.
 */
enum seen_code remote_wire_open(struct remote_wire **out,
                                const struct remote_address *a,
                                const char *host, unsigned port,
                                struct seen_error *why);

/* NULL is welcome. */
void remote_wire_close(struct remote_wire *w);

/* A command is a count of words, then the words. */
void remote_wire_count(struct buffer *to, unsigned words);
void remote_wire_word(struct buffer *to, const void *word, size_t len);
void remote_wire_text(struct buffer *to, const char *word);
void remote_wire_number(struct buffer *to, uint64_t number);

/* Send what can be sent without waiting. */
enum seen_code remote_wire_push(struct remote_wire *w, struct seen_error *why);

/* The next reply, which the caller frees with freeReplyObject(). An error of
   the server is a reply, too. SEEN_IO: the connection is lost. */
enum seen_code remote_wire_reply(struct remote_wire *w, redisReply **reply,
                                 struct seen_error *why);

/*
 * A reply that is a string of exactly head_len + len bytes, written to `head`
 * and `to` without a copy in between: for chunks. No other reply may be
 * waiting. A reply that is something else is *other, which the caller frees.
 */
enum seen_code remote_wire_bytes(struct remote_wire *w, void *head,
                                 size_t head_len, void *to, size_t len,
                                 redisReply **other, struct seen_error *why);

/* Send bytes that are not copied to the buffer, after what is in it. */
enum seen_code remote_wire_send(struct remote_wire *w, const void *bytes,
                                size_t len, struct seen_error *why);

#endif
