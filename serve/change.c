/*
 * change.c - changes of one archive, made together.
 *
 * l->changes has the changes that are under way, one per archive and kind
 * (archive_change_fits()). A change that fits one of them is appended to its
 * `waiting` list. When the first is done, all that wait are linked and started
 * as one: one record of the journal, one flush.
 *
 *     l->changes -> A -also_now-> B        under way
 *                   |
 *                waiting                   made after A, all at once
 *                   v
 *                   A1 -next-> A2
 *
 * A job makes a change in a file, and the thread of the archive one on another
 * server (call.h).
 */
#include "change.h"

#include "call.h"

static void run(struct job *j)
{
    archive_change_run(&((struct serve_change *)j)->change);
}

static void finish(struct serve_change *first)
{
    struct loop *l = first->pending.conn->loop;

    COUNT(l, added, first->change.added);
    COUNT(l, removed, first->change.removed);
    for (struct serve_change *c = first, *next; c; c = next) {
        next = c->next;
        conn_answer(&c->pending);
    }
}

static void done(struct job *j);

/* Another server has the archive: its thread makes the change. */
static void arrived(struct serve_call *call)
{
    struct serve_change *first = call->owner;

    if (!call->late)
        archive_change_results(&first->change, call->call.change);
    for (struct serve_change *c = first; c && call->late; c = c->next) {
        c->change.code = SEEN_BUSY;
        c->change.why = call->call.why;
    }
    done(&first->job);
}

static bool call(struct loop *l, struct serve_change *first,
                 struct archive_remote *r)
{
    struct serve_call *it = serve_call_change(r, &first->change);

    if (!it)
        return false;
    first->job.loop = l;
    it->arrived = arrived;
    it->owner = first;
    return serve_call_start(l, it, SERVE_CALL_ADD_MS);
}

static bool start(struct loop *l, struct serve_change *first)
{
    const struct archive_change *c = &first->change;
    struct archive_remote *r = c->path ? archive_remote_find(c->set, c->path)
                                       : NULL;

    if (r)
        return call(l, first, r);
    first->job.run = run;
    first->job.done = done;
    return loop_run(l, &first->job);
}

static bool launch(struct loop *l, struct serve_change *first)
{
    for (struct serve_change *c = first; c; c = c->next)
        c->change.next = c->next ? &c->next->change : NULL;
    if (!start(l, first))
        return false;
    first->also_now = l->changes;
    l->changes = first;
    return true;
}

/* Changes that waited are started before those that are done are answered:
   the next requests of these clients may wait for them. */
static void done(struct job *j)
{
    struct serve_change *first = (struct serve_change *)j;
    struct serve_change *then = first->waiting, **at = &j->loop->changes;

    while (*at != first)
        at = &(*at)->also_now;
    *at = first->also_now;
    if (then && !launch(j->loop, then)) {
        for (struct serve_change *c = then; c; c = c->next)
            c->change.code = seen_fail(&c->change.why, SEEN_BUSY, 0,
                                       "the server is too busy; try again");
        finish(then);
    }
    finish(first);
}

bool serve_change_start(struct conn *c, struct serve_change *change)
{
    struct serve_change *first = c->loop->changes, **last;

    change->pending.owner = change;
    loop_flush(c->loop);
    while (first && !archive_change_fits(&first->change, &change->change))
        first = first->also_now;
    if (first) {
        for (last = &first->waiting; *last; last = &(*last)->next)
            ;
        *last = change;
    } else if (!launch(c->loop, change)) {
        return false;
    }
    conn_wait_for(c, &change->pending);
    return true;
}
