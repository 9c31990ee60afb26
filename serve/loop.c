/*
 * loop.c - turns, clocks, sockets and jobs of a loop.
 *
 * A turn is one epoll_wait() and all that follows from its events: clients are
 * accepted, read and answered. Then libuv has its turn if something of it is
 * due: timers, jobs that are done, wake-ups by other threads. The batch of
 * lookups is answered after each of the two (loop_turn()). Sockets that were
 * closed are freed at the very end, since an event that epoll_wait() has
 * already returned may point to one of them. Changes of archives that need not
 * wait are made before that (change.c), all of the turn together.
 */
#include "loop.h"

#include <signal.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { MOST_JOBS = 10000, EVENTS = 256 };

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

/* --- sockets --- */

static bool control(struct loop *l, int what, struct loop_socket *s,
                    uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = s };

    return !epoll_ctl(l->poll, what, s->fd, &event);
}

bool loop_watch(struct loop *l, struct loop_socket *s, uint32_t events)
{
    return control(l, EPOLL_CTL_ADD, s, events);
}

bool loop_watch_again(struct loop *l, struct loop_socket *s, uint32_t events)
{
    return control(l, EPOLL_CTL_MOD, s, events);
}

void loop_unwatch(struct loop *l, struct loop_socket *s,
                  void (*closed)(struct loop *l, struct loop_socket *s,
                                 uint32_t none))
{
    if (s->fd < 0)
        return;
    control(l, EPOLL_CTL_DEL, s, 0); /* or epoll waits for its copies to be
                                        closed, too: those of a listener are
                                        other loops' and systemd's */
    close(s->fd);
    s->fd = -1;
    if (!closed)
        return;
    s->ready = closed;
    s->next = l->closed;
    l->closed = s;
}

static void end_closed(struct loop *l)
{
    while (l->closed) {
        struct loop_socket *s = l->closed;

        l->closed = s->next;
        s->ready(l, s, 0);
    }
}

static void on_uv(struct loop *l, struct loop_socket *s, uint32_t events)
{
    (void)s, (void)events;
    l->uv_due = true;
}

bool loop_open(struct loop *l)
{
    l->poll = epoll_create1(EPOLL_CLOEXEC);
    l->uv_socket = (struct loop_socket){ uv_backend_fd(&l->uv), on_uv, NULL };
    return l->poll >= 0 && loop_watch(l, &l->uv_socket, EPOLLIN);
}

void loop_close(struct loop *l)
{
    if (l->poll >= 0)
        close(l->poll);
    l->poll = -1;
}

/* Do what was put off to the end of the turn, and answer what follows. */
static void end_turn(struct loop *l)
{
    void (*ends)(struct loop * l) = l->turn_ends;

    l->turn_ends = NULL;
    if (!ends)
        return;
    ends(l);
    loop_turn(l);
}

/* Wait for events and handle them; then libuv has its turn, if something of it
   is due. Returns how long the next turn may wait, in milliseconds: 0 if timers
   or handles of libuv are due. */
static int make_turn(struct loop *l, int wait)
{
    struct epoll_event event[EVENTS];
    const int n = epoll_wait(l->poll, event, EVENTS, wait);

    uv_update_time(&l->uv);
    l->now = uv_now(&l->uv);
    for (int i = 0; i < n; i++) {
        struct loop_socket *s = event[i].data.ptr;

        if (s->fd >= 0)
            s->ready(l, s, event[i].events);
    }
    loop_turn(l);
    wait = uv_backend_timeout(&l->uv);
    if (l->uv_due || !wait) {
        l->uv_due = false;
        uv_run(&l->uv, UV_RUN_NOWAIT);
        loop_turn(l);
        wait = uv_backend_timeout(&l->uv);
    }
    end_turn(l);
    end_closed(l);
    return l->turn_ends ? 0 : wait;
}

void loop_serve(struct loop *l)
{
    int wait = 0;

    while (uv_loop_alive(&l->uv) || l->turn_ends)
        wait = make_turn(l, wait);
    end_closed(l);
}

/* --- jobs --- */

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
