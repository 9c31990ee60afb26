/*
 * task.c - work in a thread of the pool, for a client that waits for it.
 *
 * A task is for commands that are neither lookups nor changes: archives are
 * made, dumped and loaded by tasks. The replies to all commands that wait,
 * changes and questions among them, are written by redis_answer_later(), since
 * they all may be part of a transaction or of CLIENT REPLY.
 */
#include <stdlib.h>

#include "command.h"

void redis_answer_later(struct conn *conn, bool there,
                        void (*answer)(void *from, struct redis_call *c),
                        void *from)
{
    const bool queued = redis_multi_running(conn->redis);
    struct redis_call c;
    size_t before;

    if (!there && !queued)
        return;
    c = redis_call_of(conn, redis_out(conn), NULL);
    before = c.out->len;
    answer(from, &c);
    if (c.out->len > before && c.out->bytes[before] == '-')
        COUNT(c.loop, errors, 1);
    if (conn->redis->muted)
        c.out->len = before;
    if (queued) {
        redis_multi_resume(conn, there);
    } else {
        conn->redis->read = true;
        redis_tell_changes(conn->redis, c.out);
        conn_go_on(conn);
    }
}

/* --- tasks --- */

static void run(struct job *j)
{
    struct redis_task *t = (struct redis_task *)j;

    t->work(t);
}

static void answer(void *from, struct redis_call *c)
{
    struct redis_task *t = from;

    t->answer(t, c);
}

static void answered(struct pending *p, bool there)
{
    struct redis_task *t = p->owner;

    redis_answer_later(p->conn, there, answer, t);
    t->clear(t);
}

static void done(struct job *j)
{
    conn_answer(&((struct redis_task *)j)->pending);
}

void redis_task_start(struct redis_call *c, struct redis_task *t)
{
    t->pending.done = answered;
    t->pending.owner = t;
    t->job.run = run;
    t->job.done = done;
    if (!loop_run(c->loop, &t->job)) {
        resp_error(c->out, "BUSY the server is too busy; try again");
        t->clear(t);
        return;
    }
    conn_wait_for(c->conn, &t->pending);
}

/* --- new archives --- */

struct redis_making {
    struct redis_task task;
    struct archive_set *archives;
    char *name;
    struct archive_new made;
    enum seen_code code;
    struct seen_error why;
};

void redis_seed(const struct redis_call *c, struct archive_new *made)
{
    made->any_seed = !c->server->options.seeded;
    made->plan.seed = c->server->options.seed;
}

static void make_work(struct redis_task *t)
{
    struct redis_making *m = (struct redis_making *)t;

    m->code = archive_create(m->archives, span_of(m->name), &m->made, &m->why);
}

static void make_answer(struct redis_task *t, struct redis_call *c)
{
    const struct redis_making *m = (struct redis_making *)t;

    if (m->code == SEEN_OK)
        resp_status(c->out, "OK");
    else if (m->code == SEEN_EXISTS || m->code == SEEN_BUSY)
        resp_error(c->out, "ERR item exists"); /* or is just being made */
    else
        resp_error(c->out, "ERR could not create filter: %s", m->why.text);
}

static void make_clear(struct redis_task *t)
{
    free(((struct redis_making *)t)->name);
    free(t);
}

void redis_make_archive(struct redis_call *c, const struct archive_new *made)
{
    const struct seen_span name = c->word[1];
    const char *fault = archive_name_fault(c->server->archives, name);
    struct archive *a = archive_view_find(c->loop->view, name);
    struct redis_making *m;

    if (a) {
        if (a->filter && !redis_is_type(c->command, a->filter))
            redis_bad_type(c);
        else
            resp_error(c->out, "ERR item exists");
        return;
    }
    if (fault) {
        resp_error(c->out, "ERR could not create filter: %s", fault);
        return;
    }
    m = calloc(1, sizeof *m);
    if (!m || !(m->name = strndup(name.text, name.len))) {
        free(m);
        resp_error(c->out, "ERR could not create filter: no memory");
        return;
    }
    m->task.work = make_work;
    m->task.answer = make_answer;
    m->task.clear = make_clear;
    m->archives = c->server->archives;
    m->made = *made;
    redis_task_start(c, &m->task);
}
