/*
 * change.c - changes of one archive, made together.
 *
 * Changes of one archive and kind (archive_change_fits()) are linked, and made
 * as one: one record of the journal, one flush. Those that a loop can make
 * without waiting are collected in l->soon and made by the loop when its turn
 * ends. All others are made by a thread: l->changes has what is under way
 * there, and what fits one of them waits until it is done.
 *
 *     l->soon    -> C -also_now-> D        made when the turn ends
 *                   |
 *                  next -> C1
 *
 *     l->changes -> A -also_now-> B        under way
 *                   |
 *                waiting                   made after A, all at once
 *                   v
 *                   A1 -next-> A2
 *
 * With 50 clients that add one URL at a time under --sync everysec, an add
 * costs 7 us of CPU time in the loop and 10 by a thread, which has to be woken,
 * and to wake the loop (an EPYC, busy).
 *
 * A job makes a change in a file, and the thread of the archive one on another
 * server (call.h).
 */
#include "change.h"

#include "call.h"

/* Of a change that a loop makes itself: about 1 ms, with LOOP_COST. */
enum { COST_OF_KEY = 5, TEXT_AT_ONCE = 1 << 18 };

/* --- lists --- */

static void append(struct serve_change *first, struct serve_change *more)
{
    first->last->next = more;
    first->last = more->last;
}

static struct serve_change *fitting(struct serve_change *among,
                                    const struct serve_change *change)
{
    while (among && !archive_change_fits(&among->change, &change->change))
        among = among->also_now;
    return among;
}

static void link_all(struct serve_change *first)
{
    for (struct serve_change *c = first; c; c = c->next)
        c->change.next = c->next ? &c->next->change : NULL;
}

/* --- by a thread --- */

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
    link_all(first);
    if (!start(l, first))
        return false;
    first->also_now = l->changes;
    l->changes = first;
    return true;
}

/* Nothing of it was done. */
static void refuse(struct serve_change *first)
{
    for (struct serve_change *c = first; c; c = c->next)
        c->change.code = seen_fail(&c->change.why, SEEN_BUSY, 0,
                                   "the server is too busy; try again");
    finish(first);
}

/* --- by the loop --- */

/* The writer of its archive, if the loop has it and can afford the change:
   lookups of other clients wait meanwhile. */
static struct archive_writer *affordable(struct loop *l,
                                         const struct serve_change *first)
{
    const char *path = first->change.path;
    const struct archive *a = archive_view_find(l->view,
                                                span_of(first->change.name));
    uint64_t keys = 0;
    size_t text = 0;

    if (!path || !a || !a->writer || a->cost > LOOP_SMALL ||
        strcmp(a->path, path))
        return NULL;
    for (const struct serve_change *c = first; c; c = c->next) {
        keys += c->change.n;
        text += c->change.text.len;
    }
    return text <= TEXT_AT_ONCE &&
                   loop_affords(l, keys * (a->cost + COST_OF_KEY))
               ? a->writer
               : NULL;
}

/* The turn ends. What follows from the answers is made in the next one. */
static void make_soon(struct loop *l)
{
    struct serve_change *first = l->soon, *then;

    for (l->soon = NULL; first; first = then) {
        struct archive_writer *w = affordable(l, first);

        then = first->also_now;
        link_all(first);
        if (w && archive_change_now(&first->change, w))
            finish(first);
        else if (!launch(l, first))
            refuse(first);
    }
}

static bool put_off(struct loop *l, struct serve_change *first)
{
    if (!affordable(l, first))
        return false;
    first->also_now = l->soon;
    l->soon = first;
    l->turn_ends = make_soon;
    return true;
}

/* --- both --- */

/* Changes that waited are started before those that are done are answered:
   the next requests of these clients may wait for them. */
static void done(struct job *j)
{
    struct serve_change *first = (struct serve_change *)j;
    struct serve_change *then = first->waiting, **at = &j->loop->changes;

    while (*at != first)
        at = &(*at)->also_now;
    *at = first->also_now;
    if (then && !put_off(j->loop, then) && !launch(j->loop, then))
        refuse(then);
    finish(first);
}

bool serve_change_start(struct conn *c, struct serve_change *change)
{
    struct loop *l = c->loop;
    struct serve_change *first;

    change->pending.owner = change;
    change->last = change;
    loop_flush(l);
    if ((first = fitting(l->changes, change)) && first->waiting)
        append(first->waiting, change);
    else if (first)
        first->waiting = change;
    else if ((first = fitting(l->soon, change)))
        append(first, change);
    else if (!put_off(l, change) && !launch(l, change))
        return false;
    conn_wait_for(c, &change->pending);
    return true;
}
