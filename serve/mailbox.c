/*
 * mailbox.c - messages that are out, and those that have returned.
 *
 * The list of messages that the loop waits for is the loop's own and needs no
 * lock. The lock is for the list of those that have returned, and for the
 * references: the loop has one, and each message has one while another thread
 * has the message. So a thread that is slow, such as one that waits for a
 * server which does not answer, finds the mailbox when the loop has ended.
 */
#include "mailbox.h"

#include <pthread.h>
#include <stdlib.h>

struct serve_mailbox {
    struct serve_message *awaited; /* of the loop, */
    bool stopped;                  /* like this */

    pthread_mutex_t lock; /* of what follows */
    struct serve_message *first, **last; /* that have returned */
    uv_async_t *wake; /* NULL: the loop takes none any more */
    unsigned refs;
};

struct serve_mailbox *serve_mailbox_new(uv_async_t *wake)
{
    struct serve_mailbox *box = calloc(1, sizeof *box);

    if (!box)
        return NULL;
    pthread_mutex_init(&box->lock, NULL);
    box->last = &box->first;
    box->wake = wake;
    box->refs = 1;
    return box;
}

static void put(struct serve_mailbox *box)
{
    unsigned left;

    pthread_mutex_lock(&box->lock);
    left = --box->refs;
    pthread_mutex_unlock(&box->lock);
    if (left)
        return;
    pthread_mutex_destroy(&box->lock);
    free(box);
}

/* --- out --- */

bool serve_message_await(struct serve_mailbox *box, struct serve_message *m,
                         uint64_t until)
{
    if (box->stopped)
        return false;
    m->box = box;
    m->until = until;
    m->before = &box->awaited;
    m->after = box->awaited;
    if (m->after)
        m->after->before = &m->after;
    box->awaited = m;
    pthread_mutex_lock(&box->lock);
    box->refs++;
    pthread_mutex_unlock(&box->lock);
    return true;
}

static void wait_no_more(struct serve_message *m)
{
    *m->before = m->after;
    if (m->after)
        m->after->before = m->before;
    m->before = NULL;
}

/* All that are late are taken off the list before the first is answered, since
   answers may send more messages. */
static void expire(struct serve_mailbox *box, uint64_t now, bool all)
{
    struct serve_message *late = NULL, *m, *next;

    for (m = box->awaited; m; m = next) {
        next = m->after;
        if (!all && (!m->until || now <= m->until))
            continue;
        wait_no_more(m);
        m->after = late;
        late = m;
    }
    for (m = late; m; m = next) {
        next = m->after;
        m->arrived(m, false);
    }
}

void serve_mailbox_expire(struct serve_mailbox *box, uint64_t now)
{
    expire(box, now, false);
}

/* --- back --- */

/* The loop closes the handle `wake` after serve_mailbox_stop(), which needs the
   lock: so the handle is there while we have the lock. */
void serve_message_return(struct serve_message *m)
{
    struct serve_mailbox *box = m->box;
    bool open;

    pthread_mutex_lock(&box->lock);
    open = box->wake;
    if (open) {
        m->next = NULL;
        *box->last = m;
        box->last = &m->next;
        uv_async_send(box->wake);
    }
    pthread_mutex_unlock(&box->lock);
    if (open)
        return;
    m->free(m);
    put(box);
}

static struct serve_message *take(struct serve_mailbox *box)
{
    struct serve_message *first;

    pthread_mutex_lock(&box->lock);
    first = box->first;
    box->first = NULL;
    box->last = &box->first;
    pthread_mutex_unlock(&box->lock);
    return first;
}

void serve_mailbox_empty(struct serve_mailbox *box)
{
    struct serve_message *m, *next;

    for (m = take(box); m; m = next) {
        next = m->next;
        put(box); /* the loop has another reference */
        if (m->before) {
            wait_no_more(m);
            m->arrived(m, true);
        } else {
            m->free(m);
        }
    }
}

void serve_mailbox_stop(struct serve_mailbox *box)
{
    box->stopped = true;
    expire(box, 0, true);
    pthread_mutex_lock(&box->lock);
    box->wake = NULL;
    pthread_mutex_unlock(&box->lock);
    serve_mailbox_empty(box); /* what returned before: nobody waits for it */
}

void serve_mailbox_close(struct serve_mailbox *box)
{
    if (!box)
        return;
    serve_mailbox_stop(box);
    put(box);
}
