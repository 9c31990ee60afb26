/*
 * call.c - calls to archives on other servers: their copies, and their end.
 *
 * A loop cannot lend the URLs of a client to the thread of an archive: if the
 * archive's server does not answer, the client gets an error after seconds, and
 * the thread may use the URLs for longer. So a call has copies of everything.
 * If it is late, its owner gets an empty call with an error in its place.
 */
#include "call.h"

#include <stdlib.h>

static struct serve_call *call_of(struct serve_message *m)
{
    return (struct serve_call *)((char *)m -
                                 offsetof(struct serve_call, message));
}

static void call_free(struct serve_call *call)
{
    if (!call)
        return;
    archive_change_free(call->call.change);
    free(call->call.lookup);
    free(call->call.answer);
    free(call->text);
    free(call);
}

static void free_message(struct serve_message *m)
{
    call_free(call_of(m));
}

/* In the thread of an archive. */
static void come_back(struct archive_call *call)
{
    serve_message_return(&((struct serve_call *)call)->message);
}

/* The reply about a call that the thread still has. */
static void give_up(struct serve_call *call)
{
    struct serve_call empty = { .arrived = call->arrived,
                                .owner = call->owner,
                                .late = true };

    empty.call.code = seen_fail(
        &empty.call.why, SEEN_IO, 0,
        call->call.change
            ? "its server has not answered in time; the URLs may have been "
              "added"
            : "its server has not answered in time");
    call->arrived(&empty);
}

static void arrived(struct serve_message *m, bool back)
{
    struct serve_call *call = call_of(m);

    if (!back) {
        give_up(call);
        return;
    }
    call->arrived(call);
    call_free(call);
}

/* --- new ones --- */

static struct serve_call *call_new(struct archive_remote *r)
{
    struct serve_call *call = calloc(1, sizeof *call);

    if (!call)
        return NULL;
    call->remote = r;
    call->call.done = come_back;
    call->message.arrived = arrived;
    call->message.free = free_message;
    return call;
}

struct serve_call *serve_call_ask(struct archive_remote *r,
                                  const struct archive_lookup *lookup,
                                  size_t n)
{
    struct serve_call *call = call_new(r);
    size_t len = 1, at = 0;

    if (!call)
        return NULL;
    for (size_t i = 0; i < n; i++)
        len += lookup[i].url.len;
    call->text = malloc(len);
    call->call.lookup = calloc(n, sizeof *lookup);
    call->call.answer = malloc(n);
    if (!call->text || !call->call.lookup || !call->call.answer) {
        call_free(call);
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

struct serve_call *serve_call_change(struct archive_remote *r,
                                     const struct archive_change *change)
{
    struct serve_call *call = call_new(r);

    if (call && !(call->call.change = archive_change_copy(change))) {
        call_free(call);
        return NULL;
    }
    return call;
}

bool serve_call_start(struct loop *l, struct serve_call *call, unsigned ms)
{
    if (!serve_message_await(l->mail, &call->message, l->now + ms)) {
        call_free(call);
        return false;
    }
    if (!archive_remote_post(call->remote, &call->call))
        come_back(&call->call); /* refused: answered in the next turn */
    return true;
}
