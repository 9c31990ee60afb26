/* task.c - work in a thread of the pool, for a client that waits for it. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "redis/command.h"
#include "http/request.h"

void task_run(struct job *j)
{
    struct task *t = (struct task *)j;

    t->work(t);
}

void task_finish(struct task *t)
{
    struct conn *conn = t->conn;

    if (conn_back(conn)) {
        struct redis_client *r = conn->redis;
        struct call c = { .conn = conn,
                          .client = r,
                          .loop = conn->loop,
                          .server = conn->loop->server,
                          .out = conn_out(conn),
                          .three = r->three };
        size_t before = c.out->len;

        t->answer(t, &c);
        if (c.out->len > before && c.out->bytes[before] == '-')
            COUNT(c.loop, errors, 1);
        if (t->muted)
            c.out->len = before;
        conn_go_on(conn);
    }
    t->clear(t);
}

/* What was put off is asked first: its archives may go. */
void task_look(struct loop *l)
{
    web_flush(l);
    l->looked = false;
}

static void done_task(struct job *j)
{
    task_look(j->loop);
    task_finish((struct task *)j);
}

void task_for(struct task *t, struct call *c)
{
    t->conn = c->conn;
    t->muted = c->client->mute == MUTE_ALL || c->client->mute == MUTE_THIS;
}

void task_start(struct call *c, struct task *t)
{
    task_for(t, c);
    t->job.run = task_run;
    t->job.done = done_task;
    if (!loop_run(c->loop, &t->job)) {
        resp_error(c->out, "BUSY the server has too much to do; try again");
        t->clear(t);
        return;
    }
    conn_hold(c->conn);
    conn_wait(c->conn);
}

char *path_of(struct library *l, const char *name)
{
    struct holding *all;
    char *path = NULL;
    size_t n;

    if (library_list(l, &all, &n, NULL) != SEEN_OK)
        return NULL;
    for (size_t i = 0; i < n && !path; i++)
        if (!strcmp(all[i].name, name))
            path = strdup(all[i].path);
    holdings_free(all, n);
    return path;
}

/*
 * A disk that is filled by one filter fails all the others, so one that
 * cannot fit is refused before it is begun. No filter takes less than
 * log2(1/rate) bits a key.
 */
enum seen_code create_archive(struct library *l, struct span name,
                              const struct seen_plan *plan,
                              struct seen_error *why)
{
    const char *folder = library_folder(l, 0);
    double need = (double)plan->capacity * -log2(plan->rate) / 8;
    struct statvfs disk;

    if (folder && !statvfs(folder, &disk) &&
        need > (double)disk.f_bavail * (double)disk.f_frsize)
        return seen_fail(why, SEEN_RANGE, 0,
                         "it would be larger than what is left of the disk");
    return library_create(l, name, plan, why);
}
