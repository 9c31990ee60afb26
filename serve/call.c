/* call.c - calls on their way to the threads of archives, and back. */
#include "call.h"

#include <pthread.h>
#include <stdlib.h>

/* Calls that came back. Threads may use it after the loop has ended. */
struct serve_box {
    pthread_mutex_t lock;
    struct archive_call *first, **last;
    uv_async_t *wake; /* NULL: the loop has ended */
    unsigned refs;    /* of the loop, and of each call */
};

struct serve_box *serve_box_new(uv_async_t *wake)
{
    struct serve_box *box = calloc(1, sizeof *box);

    if (!box)
        return NULL;
    pthread_mutex_init(&box->lock, NULL);
    box->last = &box->first;
    box->wake = wake;
    box->refs = 1;
    return box;
}

static void box_put(struct serve_box *box)
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

void serve_call_free(struct serve_call *call)
{
    if (!call)
        return;
    box_put(call->box);
    archive_change_free(call->call.change);
    free(call->call.lookup);
    free(call->call.answer);
    free(call->text);
    free(call);
}

static struct archive_call *box_take(struct serve_box *box)
{
    struct archive_call *first;

    pthread_mutex_lock(&box->lock);
    first = box->first;
    box->first = NULL;
    box->last = &box->first;
    pthread_mutex_unlock(&box->lock);
    return first;
}

void serve_box_close(struct serve_box *box)
{
    struct archive_call *call, *next;

    if (!box)
        return;
    pthread_mutex_lock(&box->lock);
    box->wake = NULL;
    pthread_mutex_unlock(&box->lock);
    for (call = box_take(box); call; call = next) {
        next = call->next;
        serve_call_free((struct serve_call *)call);
    }
    box_put(box);
}

/* In the thread of an archive. */
static void come_back(struct archive_call *call)
{
    struct serve_box *box = ((struct serve_call *)call)->box;
    bool open;

    pthread_mutex_lock(&box->lock);
    open = box->wake;
    if (open) {
        call->next = NULL;
        *box->last = call;
        box->last = &call->next;
        uv_async_send(box->wake);
    }
    pthread_mutex_unlock(&box->lock);
    if (!open)
        serve_call_free((struct serve_call *)call);
}

/* --- new ones --- */

static struct serve_call *call_new(struct loop *l, struct archive_remote *r)
{
    struct serve_call *call = calloc(1, sizeof *call);

    if (!call)
        return NULL;
    call->remote = r;
    call->box = l->box;
    call->call.done = come_back;
    pthread_mutex_lock(&l->box->lock);
    l->box->refs++;
    pthread_mutex_unlock(&l->box->lock);
    return call;
}

struct serve_call *serve_call_ask(struct loop *l, struct archive_remote *r,
                                  const struct archive_lookup *lookup,
                                  size_t n)
{
    struct serve_call *call = call_new(l, r);
    size_t len = 1, at = 0;

    if (!call)
        return NULL;
    for (size_t i = 0; i < n; i++)
        len += lookup[i].url.len;
    call->text = malloc(len);
    call->call.lookup = calloc(n, sizeof *lookup);
    call->call.answer = malloc(n);
    if (!call->text || !call->call.lookup || !call->call.answer) {
        serve_call_free(call);
        return NULL;
    }
    memset(call->call.answer, ARCHIVE_SILENT, n);
    call->call.n = n;
    for (size_t i = 0; i < n; at += lookup[i++].url.len) {
        struct archive_lookup *to = &call->call.lookup[i];

        /* Another thread may be finding out whether it is bad. */
        to->url = (struct seen_span){ call->text + at, lookup[i].url.len };
        to->item = lookup[i].item;
        if (lookup[i].url.len)
            memcpy(call->text + at, lookup[i].url.text, lookup[i].url.len);
    }
    return call;
}

struct serve_call *serve_call_change(struct loop *l, struct archive_remote *r,
                                     const struct archive_change *change)
{
    struct serve_call *call = call_new(l, r);

    if (call && !(call->call.change = archive_change_copy(change))) {
        serve_call_free(call);
        return NULL;
    }
    return call;
}

void serve_call_start(struct loop *l, struct serve_call *call, unsigned ms)
{
    call->until = l->now + ms;
    call->next = l->calls;
    l->calls = call;
    if (!archive_remote_post(call->remote, &call->call))
        come_back(&call->call); /* refused: answered in the next turn */
}

/* --- back --- */

static bool forget(struct loop *l, struct serve_call *call)
{
    struct serve_call **at = &l->calls;

    while (*at && *at != call)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = call->next;
    return true;
}

void serve_calls_take(struct loop *l)
{
    struct archive_call *first = box_take(l->box), *next;

    for (; first; first = next) {
        struct serve_call *call = (struct serve_call *)first;

        next = first->next;
        if (forget(l, call))
            call->arrived(call);
        serve_call_free(call);
    }
}

/* The reply about a call that the thread still has. */
static void give_up(struct serve_call *call)
{
    struct serve_call empty = { .arrived = call->arrived,
                                .owner = call->owner,
                                .given_up = true };

    empty.call.code = seen_fail(
        &empty.call.why, SEEN_IO, 0,
        call->call.change
            ? "its server has not answered in time; the URLs may have been "
              "added"
            : "its server has not answered in time");
    call->arrived(&empty);
}

void serve_calls_expire(struct loop *l, bool all)
{
    struct serve_call *call = l->calls, *next;

    for (; call; call = next) {
        next = call->next;
        if ((all || l->now > call->until) && forget(l, call)) {
            give_up(call);
            next = l->calls; /* answers may lead to more calls */
        }
    }
}
