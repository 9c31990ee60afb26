/* loop.c - turns, clocks and jobs of a loop. */
#include "loop.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { MOST_JOBS = 10000 };

bool server_knows(const struct server *s, struct seen_span given)
{
    const char *token = s->options.token;
    size_t len = token ? strlen(token) : 0;
    unsigned differ = len != given.len;

    for (size_t i = 0; i < given.len && len; i++)
        differ |= (unsigned char)(given.text[i] ^ token[i % len]);
    return len && !differ;
}

void server_stop(void)
{
    kill(getpid(), SIGTERM);
}

struct counts server_counts(const struct server *s)
{
    struct counts sum = { .open = 0 };
    uint64_t *to = (uint64_t *)&sum;

    for (unsigned i = 0; i < s->threads; i++) {
        const uint64_t *from = (const uint64_t *)&s->loop[i].counts;

        for (size_t j = 0; j < sizeof sum / sizeof *to; j++)
            to[j] += __atomic_load_n(&from[j], __ATOMIC_RELAXED);
    }
    return sum;
}

void loop_turn(struct loop *l)
{
    loop_flush(l);
    l->refreshed = false;
    l->work = 0;
}

void loop_refresh(struct loop *l)
{
    if (l->refreshed)
        return;
    l->refreshed = true;
    archive_view_refresh(l->view);
}

void loop_clock(struct loop *l)
{
    time_t now = time(NULL);
    struct tm tm;

    gmtime_r(&now, &tm);
    l->date_len = strftime(l->date, sizeof l->date,
                           "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &tm);
    log_clock(&l->log, now);
}

static void run_job(uv_work_t *work)
{
    struct job *j = work->data;

    j->run(j);
}

static void done_job(uv_work_t *work, int status)
{
    struct job *j = work->data;
    struct loop *l = j->loop;

    (void)status; /* none is ever cancelled */
    __atomic_sub_fetch(&l->server->jobs, 1, __ATOMIC_RELAXED);
    l->now = uv_now(&l->uv);
    loop_turn(l); /* what follows sees what the job changed */
    j->done(j);
}

bool loop_run(struct loop *l, struct job *j)
{
    struct server *s = l->server;

    loop_flush(l); /* what was asked before is answered as of before */
    if (__atomic_add_fetch(&s->jobs, 1, __ATOMIC_RELAXED) <= MOST_JOBS) {
        j->loop = l;
        j->work.data = j;
        if (!uv_queue_work(&l->uv, &j->work, run_job, done_job))
            return true;
    }
    __atomic_sub_fetch(&s->jobs, 1, __ATOMIC_RELAXED);
    return false;
}
