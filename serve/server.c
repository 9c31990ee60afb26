/*
 * server.c - start the loops, and stop them.
 *
 * The first thread opens what all loops share, binds their sockets, starts a
 * thread per loop, and from then on only waits for signals. SIGHUP reloads;
 * SIGTERM and SIGINT stop.
 *
 * To stop is to drain. Listeners are closed, and a loop goes on until its last
 * client has gone, or for DRAIN_MS. Then it drops the clients that are left and
 * gives up its messages to other threads (mailbox.h); it ends when the last of
 * its jobs is done. What loops share is closed after all of them have ended:
 * the aggregator first, since its thread may still have messages of theirs.
 */
#include "server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "archives/guard.h"
#include "archives/archive_question.h"
#include "archives/troubles.h"
#include "conn.h"
#include "http/http.h"
#include "listen.h"
#include "mailbox.h"
#include "memento/gather.h"
#include "redis/redis.h"
#include "search/search.h"
#include "systemd.h"
#include "watch/watch.h"

enum { SPARE = 64, MOST_THREADS = 256, DRAIN_MS = 10000, RELOAD_MS = 100 };

/* Tell the operator. */
static void say(const struct server *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(const struct server *s, const char *format, ...)
{
    char text[512];
    va_list args;

    if (!s->options.say)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    s->options.say(text);
}

/* --- a loop --- */

static void stop_if_drained(struct loop *l)
{
    if (!l->drained || (l->conns && l->now <= l->drained))
        return;
    while (l->conns)
        conn_drop(l->conns);
    serve_mailbox_stop(l->mail);
    uv_close((uv_handle_t *)&l->tick, NULL);
    uv_close((uv_handle_t *)&l->wake, NULL);
}

/* Sockets that systemd passed are shared. If another program shuts one down, no
   clients come from there any more. If none is left, the server ends. */
static void check_listeners(struct server *s, const struct loop *l)
{
    size_t shut = 0;

    for (size_t i = 0; i < s->listens && !l->draining; i++) {
        if (l->listener[i].socket.fd >= 0)
            continue;
        shut++;
        if (!s->at[i].shut)
            say(s, "%s: another program has shut the socket down",
                s->at[i].text);
        s->at[i].shut = true;
    }
    if (shut == s->listens)
        server_stop();
}

/* Once per second, in the first loop. */
static void watch_over(struct server *s)
{
    const int error = __atomic_load_n(&s->log.error, __ATOMIC_RELAXED);

    check_listeners(s, s->loop);
    archive_troubles_check(s->troubles, s->archives, s->loop[0].view);
    if (error && error != s->log_error)
        say(s, "cannot write to %s: %s; lines of the access log are lost",
            s->options.log, strerror(error));
    else if (!error && s->log_error)
        say(s, "%s: the access log can be written again", s->options.log);
    __atomic_store_n(&s->log_error, error, __ATOMIC_RELAXED);
}

static void on_tick(uv_timer_t *timer)
{
    struct loop *l = timer->data;
    struct conn *next;

    l->now = uv_now(&l->uv);
    loop_clock(l);
    log_flush(&l->log);
    if (l->spare < 0)
        l->spare = open("/", O_RDONLY | O_CLOEXEC);
    archive_view_poll(l->view);
    loop_turn(l);
    serve_mailbox_expire(l->mail, l->now);
    loop_refresh(l); /* archives without requests stay up to date too */
    if (l == l->server->loop)
        watch_over(l->server);
    for (struct conn *c = l->conns; c; c = next) {
        next = c->next;
        conn_check(c);
    }
    stop_if_drained(l);
}

static void on_wake(uv_async_t *async)
{
    struct loop *l = async->data;

    l->now = uv_now(&l->uv);
    loop_turn(l);
    serve_mailbox_empty(l->mail);
    if (!__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE)) {
        loop_turn(l);
        loop_refresh(l);
        return;
    }
    l->draining = true;
    if (l->drained)
        return;
    l->drained = uv_now(&l->uv) + DRAIN_MS;
    for (size_t i = 0; i < l->server->listens; i++)
        loop_unwatch(l, &l->listener[i].socket, NULL);
    uv_timer_start(&l->tick, on_tick, 0, 100);
}

static void drain(struct loop *l)
{
    __atomic_store_n(&l->stop, true, __ATOMIC_RELEASE);
    uv_async_send(&l->wake);
}

static enum seen_code start_loop(struct loop *l, struct server *s,
                                 struct seen_error *why)
{
    bool good;

    l->server = s;
    l->log.file = s->log.fd >= 0 ? &s->log : NULL;
    l->log.json = s->options.log_json;
    l->spare = open("/", O_RDONLY | O_CLOEXEC);
    good = !uv_loop_init(&l->uv) &&
           !uv_async_init(&l->uv, &l->wake, on_wake) &&
           !uv_timer_init(&l->uv, &l->tick);
    if (good)
        l->wake.data = l->tick.data = l;
    good = good && loop_open(l) && (l->mail = serve_mailbox_new(&l->wake)) &&
           !uv_timer_start(&l->tick, on_tick, 1000, 1000);
    for (int i = 0; i < PROTOCOLS; i++)
        good = good && (!s->protocol[i]->start || s->protocol[i]->start(l));
    if (!good)
        return seen_fail(why, SEEN_IO, 0, "cannot start an event loop");
    l->now = uv_now(&l->uv);
    loop_clock(l);
    return archive_view_new(&l->view, s->archives, http_describe, why);
}

/*
 * The threads for jobs start with the first job, and libuv aborts without a
 * word if they cannot: better now than later, when others depend on the server,
 * and with a message. To start as many threads before, as a trial, would not
 * do: other threads take memory meanwhile.
 */
static void no_threads(int signal)
{
    static const char text[] = "seen: serve: no memory for threads\n";
    const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);

    (void)signal, (void)written;
    _exit(2);
}

static void warm(uv_work_t *work)
{
    (void)work;
}

static void warmed(uv_work_t *work, int status)
{
    (void)status;
    free(work);
}

static bool start_jobs(struct loop *l)
{
    const struct sigaction told = { .sa_handler = no_threads };
    uv_work_t *work = malloc(sizeof *work);
    struct sigaction usual;
    bool good;

    sigaction(SIGABRT, &told, &usual);
    good = work && !uv_queue_work(&l->uv, work, warm, warmed);
    sigaction(SIGABRT, &usual, NULL);
    if (!good)
        free(work);
    return good;
}

static void close_one(uv_handle_t *handle, void *unused)
{
    (void)unused;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

/* When its thread has ended, or was never started. */
static void close_loop(struct loop *l)
{
    archive_view_free(l->view);
    serve_mailbox_close(l->mail);
    for (int i = 0; i < PROTOCOLS; i++)
        if (l->server && l->server->protocol[i]->stop)
            l->server->protocol[i]->stop(l);
    buffer_clear(&l->out);
    buffer_clear(&l->log.lines);
    if (!l->wake.data)
        return; /* it was not even begun */
    if (l->spare >= 0)
        close(l->spare);
    for (size_t i = 0; i < l->server->listens; i++)
        loop_unwatch(l, &l->listener[i].socket, NULL);
    loop_close(l);
    if (!l->started) { /* close what it would have closed in the end */
        uv_walk(&l->uv, close_one, NULL);
        uv_run(&l->uv, UV_RUN_DEFAULT);
    }
    uv_loop_close(&l->uv);
}

/* --- all of them --- */

/* Accept clients of s->at[s->listens] with every loop. */
static enum seen_code accept_all(struct server *s, const int *fd, bool redis,
                                 struct seen_error *why)
{
    struct listen_address *at = &s->at[s->listens];
    enum seen_code code = SEEN_OK;
    const int on = 1;

    at->redis = redis;
    for (unsigned i = 0; i < s->threads; i++) {
        struct loop *l = &s->loop[i];
        struct loop_listener *listener = &l->listener[s->listens];

        *listener = (struct loop_listener){ { fd[i], conn_accept, NULL },
                                            redis };
        /* Clients inherit it; a Unix socket has no delay and refuses. */
        setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (code == SEEN_OK &&
            (listen(fd[i], LISTEN_BACKLOG) ||
             !loop_watch(l, &listener->socket, EPOLLIN | EPOLLRDHUP)))
            code = seen_fail(why, SEEN_IO, 0, "cannot listen on %s", at->text);
    }
    s->listens++;
    if (code == SEEN_OK && s->options.open && !at->local)
        code = seen_fail(why, SEEN_RANGE, 0,
                         "--token none: other machines can reach %s; listen "
                         "on 127.0.0.1, [::1] or unix:/PATH, or use a file",
                         at->text);
    return code;
}

/* Listen on the addresses of a list. */
static enum seen_code listen_list(struct server *s, const char *const *address,
                                  size_t n, bool redis, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    int fd[MOST_THREADS];

    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        if (s->listens == SERVE_LISTENS)
            return seen_fail(why, SEEN_RANGE, 0, "at most %d addresses",
                             SERVE_LISTENS);
        code = listen_open(&s->at[s->listens], fd, s->threads, address[i],
                           s->options.socket_mode, why);
        if (code == SEEN_OK)
            code = accept_all(s, fd, redis, why);
    }
    return code;
}

/* Use the sockets of one kind that a service manager passed. False if it passed
   none of this kind. */
static bool listen_passed(struct server *s, unsigned n, uint32_t redis_set,
                          bool redis, enum seen_code *code,
                          struct seen_error *why)
{
    int fd[MOST_THREADS];
    bool any = false;

    for (unsigned i = 0; i < n; i++) {
        if ((redis_set >> i & 1) != redis)
            continue;
        any = true;
        if (*code == SEEN_OK)
            *code = listen_adopt(&s->at[s->listens], fd, s->threads,
                                 SYSTEMD_FIRST + (int)i, why);
        if (*code == SEEN_OK)
            *code = accept_all(s, fd, redis, why);
    }
    return any;
}

/* Sockets that were passed take the place of --listen, and those that are
   named redis that of --redis. */
static enum seen_code listen_all(struct server *s, unsigned passed,
                                 uint32_t redis_set, struct seen_error *why)
{
    const struct serve_options *o = &s->options;
    enum seen_code code = SEEN_OK;

    if (!listen_passed(s, passed, redis_set, false, &code, why) &&
        code == SEEN_OK)
        code = listen_list(s, o->listen, o->listens, false, why);
    if (code == SEEN_OK &&
        !listen_passed(s, passed, redis_set, true, &code, why) &&
        code == SEEN_OK)
        code = listen_list(s, o->redis, o->redises, true, why);
    return code;
}

static enum seen_code start(struct server *s, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; i < s->threads && code == SEEN_OK; i++)
        code = start_loop(&s->loop[i], s, why);
    if (code == SEEN_OK && !start_jobs(&s->loop[0]))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for jobs");
    return code;
}

static void wake_all(void *to)
{
    struct server *s = to;

    for (unsigned i = 0; i < s->threads; i++)
        uv_async_send(&s->loop[i].wake);
}

static void run_loop(void *given)
{
    struct loop *l = given;

    loop_serve(l);
    log_flush(&l->log);
}

/* --- signals --- */

/* Nobody waits for the reader of a pipe, neither here nor in a loop: without
   one this fails, and of one that is slow lines are lost. */
static int open_file(const char *path)
{
    return open(path,
                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY |
                    O_NONBLOCK,
                0644);
}

/*
 * Put the file that is at the path now in the place of the one that logrotate
 * has renamed. The loops go on with the same descriptor, so they need not
 * know. If that fails, the log goes on in the old file.
 */
static void reopen_log(struct server *s)
{
    const char *path = s->options.log;
    int fd;

    if (s->log.fd < 0 || s->log.fd == STDOUT_FILENO)
        return;
    fd = open_file(path);
    if (fd < 0 || !log_file_replace(&s->log, fd))
        say(s, "cannot write to %s: %s; the log goes on in the old file", path,
            strerror(errno));
}

/* systemd wants to know when it began. */
static void reload(struct server *s)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    systemd_notify("RELOADING=1\nMONOTONIC_USEC=%lld",
                   (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    reopen_log(s);
    archive_set_reread(s->archives);
    __atomic_add_fetch(&s->reloads, 1, __ATOMIC_RELAXED);
    say(s, "reloaded");
    systemd_notify("READY=1");
}

static bool has_terminal(void)
{
    int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return errno != ENXIO && errno != EIO && errno != ENOENT;
    close(fd);
    return true;
}

/*
 * Wait for the signal to stop. SIGHUP means to reload, unless it comes from a
 * terminal that is closed; `nohup` protects from that one. Its signal is lost
 * if another SIGHUP is still pending, and a shell sends it on as any process
 * does: so the terminal is looked for, too. Many signals become one reload per
 * RELOAD_MS, so that the loops have time for their clients.
 */
static void wait_for_stop(struct server *s, bool nohup)
{
    const bool at_terminal = !nohup && has_terminal();
    const struct timespec pause = { .tv_nsec = RELOAD_MS * 1000000 };
    sigset_t stop, all;
    siginfo_t from;
    int signal;

    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    all = stop;
    sigaddset(&all, SIGHUP);
    for (;;) {
        signal = sigwaitinfo(&all, &from);
        if (signal == SIGTERM || signal == SIGINT)
            return;
        if (signal != SIGHUP)
            continue;
        if (from.si_code == SI_KERNEL && !nohup)
            return;
        if (at_terminal && !has_terminal())
            return;
        reload(s);
        if (sigtimedwait(&stop, NULL, &pause) > 0)
            return;
    }
}

/* All loops accept clients, or none should: the share of one that is missing
   would wait. */
static enum seen_code start_loops(struct server *s, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; i < s->threads && code == SEEN_OK; i++) {
        s->loop[i].started = !uv_thread_create(&s->loop[i].thread, run_loop,
                                               &s->loop[i]);
        if (!s->loop[i].started)
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory for threads");
    }
    return code;
}

/* Until the signal to stop, if all has started (`code`). */
static enum seen_code run(struct server *s, bool nohup, enum seen_code code,
                          struct seen_error *why)
{
    size_t shut = 0;

    if (code == SEEN_OK)
        wait_for_stop(s, nohup);
    systemd_notify("STOPPING=1");
    for (size_t i = 0; i < s->listens; i++)
        listen_remove(&s->at[i]);
    archive_set_notify(s->archives, NULL, NULL);
    for (unsigned i = 0; i < s->threads; i++)
        drain(&s->loop[i]);
    for (unsigned i = 0; i < s->threads; i++)
        if (s->loop[i].started)
            uv_thread_join(&s->loop[i].thread);
    for (size_t i = 0; i < s->listens; i++)
        shut += s->at[i].shut;
    if (code == SEEN_OK && shut == s->listens)
        code = seen_fail(why, SEEN_ABSENT, 0,
                         "no socket is left to listen on");
    return code;
}

/* --- the process --- */

/* libuv reallocates its table of descriptors, and aborts if it cannot. The
   journals have all that was acknowledged, so the server may end here. */
static void *reallocate(void *old, size_t len)
{
    void *more = realloc(old, len);

    if (!more && len) {
        fputs("seen: serve: no memory for connections\n", stderr);
        _exit(2);
    }
    return more;
}

/* As many descriptors as we may have. */
static void raise_limit(void)
{
    struct rlimit r = { 1024, 1024 };

    getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
}

/* A loop has at most one job of questions, which may wait for another's, and
   one that waits for crawls to be looked at: the usual four threads of libuv's
   pool are left for all other jobs. */
static void size_pool(unsigned threads, bool watches)
{
    char text[16];

    snprintf(text, sizeof text, "%u", threads * (1 + watches) + 4);
    setenv("UV_THREADPOOL_SIZE", text, false);
}

/*
 * How many clients there may be: the descriptors that are left when all is
 * open, without those for a file and a journal per archive and loop, which
 * come and go.
 */
static uint64_t most_clients(const struct server *s)
{
    struct rlimit r = { 1024, 1024 };
    uint64_t used = 0, left, reserve, most;
    DIR *open = opendir("/proc/self/fd");

    getrlimit(RLIMIT_NOFILE, &r);
    reserve = SPARE + 2 * archive_view_count(s->loop[0].view) * s->threads;
    while (open && readdir(open))
        used++;
    if (open)
        closedir(open);
    left = r.rlim_cur > used + 2 ? r.rlim_cur - used : 2;
    most = left - (reserve < left / 2 ? reserve : left / 2);
    return s->options.connections && s->options.connections < most
               ? s->options.connections
               : most;
}

static enum seen_code open_log(struct server *s, struct seen_error *why)
{
    const char *path = s->options.log;

    s->log.fd = -1;
    if (!path)
        return SEEN_OK;
    s->log.fd = !strcmp(path, "-") ? STDOUT_FILENO : open_file(path);
    return s->log.fd >= 0
               ? SEEN_OK
               : seen_fail(why, SEEN_IO, 0, "cannot write to %s", path);
}

/* Signals are taken by one thread, in wait_for_stop(). True if SIGHUP was
   ignored, as by nohup: blocked it would be dropped then. */
static bool block_signals(void)
{
    sigset_t taken;
    bool nohup;

    nohup = signal(SIGHUP, SIG_DFL) == SIG_IGN;
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&taken);
    sigaddset(&taken, SIGTERM);
    sigaddset(&taken, SIGINT);
    sigaddset(&taken, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &taken, NULL); /* in all threads to come */
    return nohup;
}

enum seen_code serve_run(const struct serve_options *options,
                         void (*ready)(const struct serve_options *options,
                                       const struct listen_address *at,
                                       size_t n),
                         struct seen_error *why)
{
    struct server s = { .options = *options,
                        .log.lock = PTHREAD_MUTEX_INITIALIZER,
                        .protocol = { [PROTOCOL_REDIS] = &redis_protocol,
                                      [PROTOCOL_HTTP] = &http_protocol } };
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const bool nohup = block_signals();
    enum seen_code code, closed;
    uint32_t redis_set;
    unsigned passed;

    s.threads = options->threads ? options->threads
                : cores > 0      ? (unsigned)cores
                                 : 1;
    if (s.threads > MOST_THREADS)
        s.threads = MOST_THREADS;
    s.options.archives.reserved = http_reserves;
    s.options.archives.digests = options->files;
    uv_replace_allocator(malloc, reallocate, calloc, free);
    raise_limit();
    size_pool(s.threads, options->watch.places || options->watch.queues);
    s.started = (uint64_t)time(NULL);
    s.statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    guard_install();
    code = systemd_sockets(&passed, &redis_set, why);
    if (code == SEEN_OK)
        code = archive_set_open(&s.archives, &s.options.archives, why);
    else if (why)
        why->at = options->archives.operands;
    if (code != SEEN_OK)
        return code;
    code = open_log(&s, why);
    s.loop = calloc(s.threads, sizeof *s.loop);
    s.asker = archive_asker_new(s.archives);
    s.troubles = archive_troubles_new();
    if (!s.loop || !s.asker || !s.troubles)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for loops");
    if (code == SEEN_OK && (options->watch.places || options->watch.queues))
        code = watch_open(&s.watch, &options->watch, why);
    if (code == SEEN_OK && options->search.places)
        code = search_open(&s.search, &options->search, why);
    if (code == SEEN_OK && options->memento)
        code = memento_open(&s.memento, options->memento, why);
    if (code == SEEN_OK)
        code = start(&s, why);
    if (code == SEEN_OK)
        code = listen_all(&s, passed, redis_set, why);
    if (code == SEEN_OK) {
        s.most = most_clients(&s);
        archive_troubles_check(s.troubles, s.archives, s.loop[0].view);
        archive_set_notify(s.archives, wake_all, &s);
        code = start_loops(&s, why);
        if (code == SEEN_OK && ready)
            ready(options, s.at, s.listens);
        if (code == SEEN_OK)
            systemd_notify("READY=1");
        code = run(&s, nohup, code, why);
    }
    for (size_t i = 0; i < s.listens; i++)
        listen_remove(&s.at[i]); /* if it did not run */
    memento_close(s.memento);
    search_close(s.search);
    for (unsigned i = 0; s.loop && i < s.threads; i++)
        close_loop(&s.loop[i]);
    watch_close(s.watch);
    archive_asker_free(s.asker);
    archive_troubles_free(s.troubles);
    if (s.statm >= 0)
        close(s.statm);
    closed = archive_set_close(s.archives, code == SEEN_OK ? why : NULL);
    free(s.loop);
    code = code == SEEN_OK ? closed : code;
    if (code != SEEN_OK && why)
        why->at = options->archives.operands; /* the fault of none */
    return code;
}
