/* loop.c - a thread and its event loop. */
#define _GNU_SOURCE
#include "loop.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "conn.h"
#include "http/request.h"

enum { MOST_JOBS = 10000, DRAIN_MS = 10000 };

enum seen_code keys_add(struct keys *k, const char *url, size_t len,
                        const struct seen_profile *profile,
                        struct seen_error *why)
{
    struct seen_key *key = &k->key[k->n];
    char *text = k->text + k->used;
    enum seen_code code = seen_key_make_as(key, text, url, len, profile, why);

    if (code != SEEN_OK)
        return code;
    if (key->text >= text && key->text < text + SEEN_KEY_TEXT)
        k->used = (size_t)(key->text - k->text) + key->len;
    k->n++;
    return SEEN_OK;
}

void loop_look(struct loop *l)
{
    if (l->looked)
        return;
    web_flush(l); /* what waits points to archives */
    l->looked = true;
    shelf_look(l->shelf);
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
    j->done(j);
}

bool loop_run(struct loop *l, struct job *j)
{
    struct server *s = l->server;

    if (__atomic_add_fetch(&s->jobs, 1, __ATOMIC_RELAXED) <= MOST_JOBS) {
        j->loop = l;
        j->work.data = j;
        if (!uv_queue_work(&l->uv, &j->work, run_job, done_job))
            return true;
    }
    __atomic_sub_fetch(&s->jobs, 1, __ATOMIC_RELAXED);
    return false;
}

/* --- time --- */

static void set_clock(struct loop *l)
{
    time_t now = time(NULL);
    struct tm tm;

    gmtime_r(&now, &tm);
    l->date_len = strftime(l->date, sizeof l->date,
                           "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &tm);
    log_clock(&l->log, now);
}

static void stop_if_done(struct loop *l)
{
    if (l->drained && (!l->conns || l->now > l->drained)) {
        while (l->conns)
            conn_drop(l->conns);
        uv_close((uv_handle_t *)&l->tick, NULL);
        uv_close((uv_handle_t *)&l->turn, NULL);
        uv_close((uv_handle_t *)&l->answer, NULL);
        uv_close((uv_handle_t *)&l->wake, NULL);
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct loop *l = timer->data;
    struct conn *next;

    l->now = uv_now(&l->uv);
    set_clock(l);
    log_flush(&l->log);
    if (l->spare < 0)
        l->spare = open("/", O_RDONLY | O_CLOEXEC);
    shelf_tick(l->shelf);
    l->looked = false;
    loop_look(l); /* what nobody asks for shall not be out of date for long */
    for (struct conn *c = l->conns; c; c = next) {
        next = c->next;
        conn_check(c);
    }
    stop_if_done(l);
}

static void on_turn(uv_prepare_t *prepare)
{
    struct loop *l = prepare->data;

    web_flush(l); /* of what came before this turn's events */
    l->looked = false;
    l->now = uv_now(&l->uv);
}

static void on_answer(uv_check_t *check)
{
    web_flush(check->data);
}

/* --- beginning and end --- */

static void on_wake(uv_async_t *async)
{
    struct loop *l = async->data;

    if (__atomic_load_n(&l->told, __ATOMIC_ACQUIRE)) {
        l->draining = true;
        if (!l->drained) {
            l->drained = uv_now(&l->uv) + DRAIN_MS;
            for (int i = 0; i < 2; i++)
                if (l->listener[i].data)
                    uv_close((uv_handle_t *)&l->listener[i], NULL);
            uv_timer_start(&l->tick, on_tick, 0, 100);
        }
        return;
    }
    loop_look(l);
}

void loop_drain(struct loop *l)
{
    __atomic_store_n(&l->told, true, __ATOMIC_RELEASE);
    uv_async_send(&l->wake);
}

bool loop_start(struct loop *l, struct server *s)
{
    l->server = s;
    l->log.fd = s->log;
    l->spare = open("/", O_RDONLY | O_CLOEXEC);
    if (uv_loop_init(&l->uv) || uv_async_init(&l->uv, &l->wake, on_wake) ||
        uv_timer_init(&l->uv, &l->tick) || uv_prepare_init(&l->uv, &l->turn) ||
        uv_check_init(&l->uv, &l->answer))
        return false;
    l->wake.data = l->tick.data = l->turn.data = l->answer.data = l;
    l->now = uv_now(&l->uv);
    set_clock(l);
    return !uv_timer_start(&l->tick, on_tick, 1000, 1000) &&
           !uv_prepare_start(&l->turn, on_turn) &&
           !uv_check_start(&l->answer, on_answer);
}

static void close_one(uv_handle_t *handle, void *unused)
{
    (void)unused;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void loop_close(struct loop *l)
{
    if (!l->wake.data)
        return; /* it was not even begun */
    if (l->spare >= 0)
        close(l->spare);
    if (!l->started) { /* what it would have let go of in the end */
        uv_walk(&l->uv, close_one, NULL);
        uv_run(&l->uv, UV_RUN_DEFAULT);
    }
    uv_loop_close(&l->uv);
}
