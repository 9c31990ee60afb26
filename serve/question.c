/*
 * question.c - questions take turns.
 *
 * A question has one part for the archives of this machine, which a job asks in
 * slices, and one for each archive on another server, whose thread is called
 * (call.h). `left` counts the parts that are missing; the one that makes it 0
 * answers the question.
 *
 * Only one question of a loop has its slice at a time. If it needs more, it
 * goes to the end of l->questions, and the first one there is next. The parts
 * on other servers do not wait for that.
 */
#include "question.h"

#include <stdlib.h>

#include "call.h"

void serve_question_free(struct serve_question *q)
{
    if (!q)
        return;
    for (struct serve_part *part = q->parts, *next; part; part = next) {
        next = part->next;
        free(part);
    }
    archive_question_clear(&q->question);
    free(q);
}

static void append(struct loop *l, struct serve_question *q)
{
    struct serve_question **last = &l->questions;

    while (*last)
        last = &(*last)->next;
    q->next = NULL;
    *last = q;
}

/* One of its answers is there, or will not come. */
static void one_less(struct serve_question *q)
{
    const struct archive_counts *counts = &q->question.counts;
    struct loop *l = q->pending.conn->loop;

    if (--q->left)
        return;
    for (struct serve_part *part = q->parts; part; part = part->next)
        archive_question_put(&q->question, part->name, part->answer);

    COUNT(l, asked, counts->asked + q->counts.asked);
    COUNT(l, held, counts->held + q->counts.held);
    conn_answer(&q->pending);
}

static void run(struct job *j)
{
    struct serve_question *q = (struct serve_question *)j;

    q->answered = archive_question_ask(q->job.loop->server->asker,
                                       &q->question);
}

static void done(struct job *j);

static bool launch(struct loop *l, struct serve_question *q)
{
    q->job.run = run;
    q->job.done = done;
    l->asking = loop_run(l, &q->job);
    return l->asking;
}

static bool has_gone(const struct serve_question *q)
{
    return q->pending.conn->state >= CONN_CLOSING;
}

/* The next is asked before this one is answered: that may lead to more. */
static void done(struct job *j)
{
    struct serve_question *q = (struct serve_question *)j, *next;
    struct loop *l = j->loop;
    const bool answered = q->answered || has_gone(q);

    l->asking = false;
    if (!answered)
        append(l, q);
    while (!l->asking && (next = l->questions)) {
        l->questions = next->next;
        if (!has_gone(next) && launch(l, next))
            break;
        next->question.code = seen_fail(&next->question.why, SEEN_BUSY, 0,
                                        "the server is too busy; try again");
        one_less(next);
    }
    if (answered)
        one_less(q);
}

/* --- archives on other servers --- */

static void arrived(struct serve_call *call)
{
    struct serve_part *part = call->owner;
    struct serve_question *q = part->of;

    if (call->call.code == SEEN_OK)
        memcpy(part->answer, call->call.answer, q->question.n);
    if (q->question.name) {
        q->question.code = call->call.code;
        q->question.why = call->call.why;
    }
    q->counts.asked += call->call.counts.asked;
    q->counts.held += call->call.counts.held;
    one_less(q);
}

static bool call(struct loop *l, struct serve_question *q,
                 const struct archive *a)
{
    struct serve_part *part = calloc(1, sizeof *part + strlen(a->name) + 1);
    struct serve_call *it = NULL;

    if (part)
        it = serve_call_ask(a->remote, q->question.lookup, q->question.n);
    if (it) {
        it->arrived = arrived;
        it->owner = part;
    }
    if (!it || !serve_call_start(l, it, SERVE_CALL_ASK_MS)) {
        free(part);
        return false;
    }
    memset(part->answer, ARCHIVE_SILENT, sizeof part->answer);
    strcpy(part->name, a->name);
    part->of = q;
    part->next = q->parts;
    q->parts = part;
    q->left++;
    return true;
}

/* Without memory an archive is not asked, and is silent. */
static void call_all(struct loop *l, struct serve_question *q)
{
    struct archive *a;

    for (size_t i = 0; (a = archive_view_at(l->view, i)); i++)
        if (a->remote && a->filter)
            call(l, q, a);
}

static bool start_near(struct loop *l, struct serve_question *q)
{
    if (l->asking)
        append(l, q);
    else if (!launch(l, q))
        return false;
    q->left++;
    return true;
}

bool serve_question_start(struct conn *c, struct serve_question *q)
{
    struct loop *l = c->loop;
    const struct archive *a = NULL;

    q->pending.owner = q;
    q->job.loop = l;
    if (q->question.name)
        a = archive_view_find(l->view, span_of(q->question.name));
    if (a && a->remote && a->filter ? !call(l, q, a) : !start_near(l, q))
        return false;
    if (!q->question.name)
        call_all(l, q);
    conn_wait_for(c, &q->pending);
    return true;
}
