/*
 * queue.c - the door to all places: the address chooses the table, arguments
 * are checked here and nowhere else.
 */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/text/array.h"
#include "../lib/text/buffer.h"
#include "../lib/text/span.h"
#include "../lib/text/utf8.h"

enum { LEASE = 60000, PATIENCE = 60000 };

static const unsigned pauses[QUEUE_TRIES - 1] = { 10000, 60000, 600000,
                                                  3600000 };

static const struct queue_backend *const backends[] = { &queue_rows,
                                                        &queue_amqp };

static const struct queue_backend *find_backend(const char *where)
{
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
        for (int k = 0; k < QUEUE_SCHEMES; k++)
            if (backends[i] && backends[i]->schemes[k] &&
                span_begins(span_of(where), backends[i]->schemes[k]))
                return backends[i];
    return NULL;
}

bool queue_is_address(const char *where)
{
    return find_backend(where) != NULL;
}

/* --- batches --- */

void queue_batch_clear(struct queue_batch *b)
{
    if (b->kept)
        buffer_clear(b->kept);
    free(b->kept);
    free(b->message);
    *b = (struct queue_batch){ .message = NULL };
}

bool queue_batch_add(struct queue_batch *b, const struct queue_message *m)
{
    struct queue_message *more = array_grow(b->message, &b->room, b->n + 1,
                                            sizeof *more);
    struct buffer *kept = b->kept;
    size_t before;

    if (!more)
        return false;
    b->message = more;
    if (!kept && !(b->kept = kept = calloc(1, sizeof *kept)))
        return false;
    before = kept->len;
    buffer_span(kept, m->id);
    buffer_span(kept, m->reason);
    buffer_span(kept, m->body);
    if (kept->failed) {
        kept->failed = false;
        kept->len = before;
        return false;
    }
    b->message[b->n++] = *m;
    return true;
}

void queue_batch_end(struct queue_batch *b)
{
    const char *at = b->kept ? ((struct buffer *)b->kept)->bytes : NULL;

    for (size_t i = 0; i < b->n; i++) {
        struct queue_message *m = &b->message[i];

        m->id.text = at;
        m->reason.text = at + m->id.len;
        m->body.text = m->reason.text + m->reason.len;
        at = m->body.text + m->body.len;
    }
}

/* --- checks --- */

static enum seen_code check_name(const char *name, struct seen_error *why)
{
    size_t len = strlen(name);

    if (len == 0 || len > QUEUE_NAME_MOST ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789._-@") != len)
        return seen_fail(why, SEEN_RANGE, 0,
                         "the name of a queue is 1 to %d letters, digits and "
                         ". _ - @",
                         QUEUE_NAME_MOST);
    return SEEN_OK;
}

static enum seen_code check_messages(const struct queue_message *m, size_t n,
                                     struct seen_error *why)
{
    for (size_t i = 0; i < n; i++) {
        if (m[i].id.len == 0 || m[i].id.len > QUEUE_ID_MOST)
            return seen_fail(why, SEEN_RANGE, i,
                             "the id of a message has 1 to %d bytes",
                             QUEUE_ID_MOST);
        if (m[i].body.len > QUEUE_BODY_MOST)
            return seen_fail(why, SEEN_RANGE, i,
                             "a message has at most %d bytes",
                             QUEUE_BODY_MOST);
    }
    return SEEN_OK;
}

/* Cut a reason that is too long, not in the middle of a character. */
static struct seen_span cut_reason(const char *reason)
{
    struct seen_span s = span_of(reason ? reason : "");

    s.len = utf8_cut(s.text, s.len, QUEUE_REASON_MOST);
    return s;
}

/* --- open and close --- */

static void fill_settings(struct queue *q, const struct queue_settings *s)
{
    char host[64] = "";
    bool paused = false;

    if (s)
        q->settings = *s;
    if (!q->settings.lease)
        q->settings.lease = LEASE;
    if (!q->settings.patience)
        q->settings.patience = PATIENCE;
    for (int i = 0; i < QUEUE_TRIES - 1; i++)
        paused |= q->settings.pauses[i] != 0;
    if (!paused)
        memcpy(q->settings.pauses, pauses, sizeof pauses);
    if (q->settings.owner) {
        snprintf(q->owner, sizeof q->owner, "%s", q->settings.owner);
    } else {
        gethostname(host, sizeof host - 1);
        snprintf(q->owner, sizeof q->owner, "%s:%ld", host, (long)getpid());
    }
    q->settings.owner = q->owner;
}

enum seen_code queue_open(struct queue **out, const char *where,
                          const struct queue_settings *settings,
                          struct seen_error *why)
{
    const struct queue_backend *backend = find_backend(where);
    enum seen_code code;
    struct queue *q;

    *out = NULL;
    if (!backend) /* it may hold a password: it is not repeated */
        return seen_fail(why, SEEN_RANGE, 0,
                         "not the address of a queue: sqlite:FILE, "
                         "postgresql://..., amqp://... or amqps://...");
    q = calloc(1, backend->size);
    if (!q)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a queue");
    q->backend = backend;
    fill_settings(q, settings);
    code = backend->open(q, where, why);
    if (code != SEEN_OK) {
        queue_close(q);
        return code;
    }
    *out = q;
    return SEEN_OK;
}

void queue_close(struct queue *q)
{
    if (!q)
        return;
    q->backend->close(q);
    free(q->name);
    free(q);
}

const char *queue_name(const struct queue *q)
{
    return q->name;
}

/* --- everything else --- */

enum seen_code queue_make(struct queue *q, const char *name, bool single,
                          struct seen_error *why)
{
    enum seen_code code = check_name(name, why);

    return code != SEEN_OK ? code : q->backend->make(q, name, single, why);
}

enum seen_code queue_publish(struct queue *q, const char *name,
                             const struct queue_message *message, size_t n,
                             struct seen_error *why)
{
    enum seen_code code = check_name(name, why);

    if (code == SEEN_OK)
        code = check_messages(message, n, why);
    if (code != SEEN_OK || n == 0)
        return code;
    return q->backend->publish(q, name, message, n, why);
}

enum seen_code queue_take(struct queue *q, const char *name, unsigned most,
                          unsigned ms, struct queue_batch *batch,
                          struct seen_error *why)
{
    enum seen_code code = check_name(name, why);

    batch->n = 0;
    if (batch->kept)
        ((struct buffer *)batch->kept)->len = 0;
    if (code != SEEN_OK || most == 0)
        return code;
    return q->backend->take(q, name, most, ms, batch, why);
}

enum seen_code queue_done(struct queue *q, const struct queue_message *message,
                          size_t n, struct seen_error *why)
{
    return n ? q->backend->done(q, message, n, why) : SEEN_OK;
}

enum seen_code queue_retry(struct queue *q, const struct queue_message *m,
                           const char *reason, struct seen_error *why)
{
    return q->backend->retry(q, m, cut_reason(reason), why);
}

enum seen_code queue_reject(struct queue *q, const struct queue_message *m,
                            const char *reason, struct seen_error *why)
{
    return q->backend->reject(q, m, cut_reason(reason), why);
}

enum seen_code queue_return(struct queue *q, const struct queue_message *m,
                            size_t n, struct seen_error *why)
{
    return n ? q->backend->give_back(q, m, n, why) : SEEN_OK;
}

enum seen_code queue_keep(struct queue *q, struct seen_error *why)
{
    return q->backend->keep(q, why);
}

enum seen_code queue_stats(struct queue *q, queue_take_stats *take,
                           void *owner, struct seen_error *why)
{
    return q->backend->stats(q, take, owner, why);
}

enum seen_code queue_dead(struct queue *q, const char *name, unsigned most,
                          queue_take_dead *take, void *owner,
                          struct seen_error *why)
{
    enum seen_code code = check_name(name, why);

    if (code != SEEN_OK || most == 0)
        return code;
    return q->backend->dead(q, name, most, take, owner, why);
}

enum seen_code queue_revive(struct queue *q, const char *name, const char *id,
                            uint64_t *n, struct seen_error *why)
{
    enum seen_code code = check_name(name, why);

    *n = 0;
    return code != SEEN_OK ? code : q->backend->revive(q, name, id, n, why);
}

enum seen_code queue_drop(struct queue *q, const char *name, const char *id,
                          uint64_t *n, struct seen_error *why)
{
    enum seen_code code = check_name(name, why);

    *n = 0;
    return code != SEEN_OK ? code : q->backend->drop(q, name, id, n, why);
}
