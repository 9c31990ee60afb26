/* question.c - questions take turns. */
#include "question.h"

#include <stdlib.h>

void serve_question_free(struct serve_question *q)
{
    if (q)
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

static void finish(struct serve_question *q)
{
    const struct archive_counts *counts = &q->question.counts;
    struct loop *l = q->conn->loop;

    COUNT(l, asked, counts->asked);
    COUNT(l, held, counts->held);
    q->done(q, conn_back(q->conn));
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
    return q->conn->state >= CONN_CLOSING;
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
        finish(next);
    }
    if (answered)
        finish(q);
}

bool serve_question_start(struct conn *c, struct serve_question *q)
{
    q->conn = c;
    q->job.loop = c->loop;
    if (c->loop->asking)
        append(c->loop, q);
    else if (!launch(c->loop, q))
        return false;
    conn_hold(c);
    return true;
}
