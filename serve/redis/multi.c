/*
 * multi.c - transactions: MULTI, EXEC, DISCARD.
 *
 *     MULTI          +OK
 *     BF.ADD a x     +QUEUED     checked now: name, number of words, rights
 *     BF.ADD a y     +QUEUED
 *     EXEC           *2 :1 :1    run now, one after the other
 *
 * All commands run or none does: one that cannot be queued spoils the
 * transaction, and EXEC replies EXECABORT. Once EXEC has begun, every command
 * runs, also if one before it fails and even if the client has gone. The
 * replies are collected here and sent when there are all of them.
 *
 * A change waits for a thread of the pool, so EXEC may take many turns of the
 * loop. Each command that waits is the pending request of the connection, and
 * when its reply is there the next ones run. Commands that follow one another
 * are a group as outside of transactions: adds to one archive share a record of
 * the journal and its flush.
 *
 * Unlike in Redis, other clients are served meanwhile, and their commands may
 * come between two of ours.
 *
 * The queue is memory that a client holds until EXEC. Without the token it is
 * as small as a command, and has to be complete within QUEUE_MS: on the port of
 * --redis clients may be idle for as long as they like, and a thousand queues
 * that never end would take the memory that others need.
 *
 * In the queue a command is its row of the table, the number of its words,
 * their lengths, and their bytes:
 *
 *     | row | 3 | 6 1 1 | BF.ADD a x | row | 3 | 6 1 1 | BF.ADD a y |
 */
#include <stdlib.h>

#include "command.h"

enum { QUEUE_MS = 10000 };

struct redis_multi {
    bool spoiled; /* EXEC will refuse it; nothing is kept */
    bool running;
    size_t n;     /* commands in the queue */
    size_t at;    /* where the next one begins */
    struct buffer queue, replies;
};

struct redis_queued {
    const struct redis_command *command;
    uint32_t words;
};

static void multi_free(struct redis_multi *m)
{
    if (m) {
        buffer_clear(&m->queue);
        buffer_clear(&m->replies);
    }
    free(m);
}

void redis_multi_free(struct redis_client *r)
{
    multi_free(r->multi);
    r->multi = NULL;
}

size_t redis_multi_memory(const struct redis_client *r)
{
    return r->multi ? r->multi->queue.room + r->multi->replies.room : 0;
}

bool redis_multi_running(const struct redis_client *r)
{
    return r->multi && r->multi->running;
}

struct buffer *redis_out(struct conn *conn)
{
    return redis_multi_running(conn->redis) ? &conn->redis->multi->replies
                                            : conn_out(conn);
}

/* --- queueing --- */

void redis_multi_spoil(struct redis_client *r)
{
    if (r->multi) {
        r->multi->spoiled = true;
        buffer_clear(&r->multi->queue);
    }
}

static size_t size_of(const struct redis_call *c)
{
    size_t sum = sizeof(struct redis_queued);

    for (size_t i = 0; i < c->words; i++)
        sum += sizeof(uint32_t) + c->word[i].len;
    return sum;
}

static void append(struct redis_multi *m, const struct redis_call *c)
{
    const struct redis_queued head = { c->command, (uint32_t)c->words };

    buffer_bytes(&m->queue, (const char *)&head, sizeof head);
    for (size_t i = 0; i < c->words; i++) {
        uint32_t len = (uint32_t)c->word[i].len;

        buffer_bytes(&m->queue, (const char *)&len, sizeof len);
    }
    for (size_t i = 0; i < c->words; i++)
        buffer_span(&m->queue, c->word[i]);
    m->n++;
}

void redis_multi_queue(struct redis_call *c)
{
    struct redis_client *r = c->client;
    struct redis_multi *m = r->multi;

    if (c->command->flags & NOT_IN_MULTI) {
        resp_error(c->out, "ERR Command not allowed inside a transaction");
        redis_multi_spoil(r);
    } else if (m->spoiled) {
        resp_status(c->out, "QUEUED"); /* and not kept: as Redis does it */
    } else if (size_of(c) > redis_queue_limit(r) - m->queue.len) {
        resp_error(c->out, "ERR the transaction is larger than %zu bytes",
                   redis_queue_limit(r));
        redis_multi_spoil(r);
    } else {
        append(m, c);
        if (m->queue.failed) {
            resp_error(c->out, "ERR no memory for a transaction");
            redis_multi_spoil(r);
        } else {
            resp_status(c->out, "QUEUED");
        }
    }
}

/* --- running --- */

/* Read the command at m->at into the call. Returns where the next begins. */
static size_t read_queued(const struct redis_multi *m, struct redis_call *c,
                          struct seen_span *word)
{
    const char *at = m->queue.bytes + m->at, *text;
    struct redis_queued head;

    memcpy(&head, at, sizeof head);
    at += sizeof head;
    text = at + head.words * sizeof(uint32_t);
    for (size_t i = 0; i < head.words; i++) {
        uint32_t len;

        memcpy(&len, at + i * sizeof len, sizeof len);
        word[i] = (struct seen_span){ text, len };
        text += len;
    }
    c->command = head.command;
    c->word = word;
    c->words = head.words;
    return (size_t)(text - m->queue.bytes);
}

/* A client could ask for much with few bytes (COMMAND DOCS). What does not
   change anything is not run for a reply that could not be kept. */
static void run_one(struct redis_call *c)
{
    const size_t before = c->out->len, most = redis_reply_limit(c->client);

    COUNT(c->loop, commands, 1);
    if (before <= most || c->command->flags & FOR_WRITERS)
        c->command->run(c);
    if (c->out->len > most && !(c->command->flags & FOR_WRITERS)) {
        c->out->len = before;
        resp_error(c->out,
                   "ERR the replies of the transaction are larger "
                   "than %zu bytes",
                   most);
    }
    if (c->out->len > before && c->out->bytes[before] == '-')
        COUNT(c->loop, errors, 1);
}

/* Run commands until one has to wait, which is false, or all are done. */
static bool run_queue(struct conn *conn)
{
    struct redis_client *r = conn->redis;
    struct redis_multi *m = r->multi;
    struct seen_span few[REDIS_WORDS];
    struct redis_group group = { .command = NULL };
    struct redis_call c = redis_call_of(conn, &m->replies, &group);

    while (m->at < m->queue.len || group.command) {
        size_t next = m->at;

        if (m->at < m->queue.len)
            next = read_queued(m, &c, r->word ? r->word : few);
        if (next > m->at && redis_join(&c)) {
            m->at = next;
            continue;
        }
        if (group.command) {
            redis_settle(&c);
        } else {
            run_one(&c);
            m->at = next;
        }
        if (conn->pending)
            return false;
    }
    return true;
}

void redis_multi_resume(struct conn *conn, bool there)
{
    struct redis_multi *m = conn->redis->multi;

    loop_refresh(conn->loop); /* to see what was changed */
    if (!run_queue(conn))
        return;
    conn->redis->multi = NULL;
    conn->until = 0;
    if (there) {
        if (!conn->redis->muted)
            buffer_append(conn_out(conn), &m->replies);
        conn_go_on(conn);
    }
    multi_free(m);
}

/* --- the commands --- */

void redis_multi(struct redis_call *c)
{
    struct redis_client *r = c->client;

    if (r->multi) {
        resp_error(c->out, "ERR MULTI calls can not be nested");
        return;
    }
    r->multi = calloc(1, sizeof *r->multi);
    if (!r->multi) {
        resp_error(c->out, "ERR no memory for a transaction");
        return;
    }
    if (!r->trusted)
        c->conn->until = c->loop->now + QUEUE_MS;
    resp_status(c->out, "OK");
}

void redis_discard(struct redis_call *c)
{
    if (!c->client->multi) {
        resp_error(c->out, "ERR DISCARD without MULTI");
        return;
    }
    redis_multi_free(c->client);
    resp_status(c->out, "OK");
}

void redis_exec(struct redis_call *c)
{
    struct redis_multi *m = c->client->multi;

    if (!m) {
        resp_error(c->out, "ERR EXEC without MULTI");
        return;
    }
    if (m->spoiled) {
        redis_multi_free(c->client);
        resp_error(c->out, "EXECABORT Transaction discarded because of "
                           "previous errors.");
        return;
    }
    m->running = true;
    resp_array(&m->replies, m->n);
    if (!run_queue(c->conn))
        return; /* redis_multi_resume() replies */
    buffer_append(c->out, &m->replies);
    redis_multi_free(c->client);
}

/* There is nothing that could be watched: filters have no versions. */
void redis_watch(struct redis_call *c)
{
    resp_error(c->out, "ERR WATCH is not supported: use MULTI without it");
}

void redis_unwatch(struct redis_call *c)
{
    resp_status(c->out, "OK");
}
