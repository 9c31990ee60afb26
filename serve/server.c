/* server.c - start the loops, and stop them. */
#define _GNU_SOURCE
#include "server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "conn.h"
#include "archives/guard.h"

enum { BACKLOG = 1024, SPARE = 64, MOST_THREADS = 256 };

bool server_knows(const struct server *s, struct span given)
{
    const char *token = s->how.token;
    size_t len = token ? strlen(token) : 0;
    unsigned differ = len != given.len;

    for (size_t i = 0; i < given.len && len; i++)
        differ |= (unsigned char)(given.text[i] ^ token[i % len]);
    return len && !differ;
}

/* --- addresses --- */

/* "127.0.0.1:8080", "[::1]:8080", "localhost:8080" */
static enum seen_code resolve(const char *text, struct addrinfo **out,
                              struct seen_error *why)
{
    const char *colon = strrchr(text, ':');
    struct addrinfo want = { .ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
    char host[256];
    size_t len = colon ? (size_t)(colon - text) : 0;
    int code;

    if (!colon || !len || len >= sizeof host)
        return seen_fail(why, SEEN_RANGE, 0,
                         "%s is no ADDRESS:PORT, such as 127.0.0.1:8080",
                         text);
    if (text[0] == '[' && text[len - 1] == ']')
        snprintf(host, sizeof host, "%.*s", (int)len - 2, text + 1);
    else
        snprintf(host, sizeof host, "%.*s", (int)len, text);
    code = getaddrinfo(host, colon + 1, &want, out);
    if (code)
        return seen_fail(why, SEEN_RANGE, 0, "%s: %s", text,
                         gai_strerror(code));
    return SEEN_OK;
}

/*
 * A listening socket. The first one of an address finds the port if that is
 * 0; those of the other loops get the same.
 */
static int listen_at(const struct addrinfo *at, int *port)
{
    struct sockaddr_storage address;
    socklen_t len = at->ai_addrlen;
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    0);
    int on = 1;

    memcpy(&address, at->ai_addr, len);
    if (*port && at->ai_family == AF_INET)
        ((struct sockaddr_in *)&address)->sin_port = htons((uint16_t)*port);
    else if (*port && at->ai_family == AF_INET6)
        ((struct sockaddr_in6 *)&address)->sin6_port = htons((uint16_t)*port);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!*port) { /* alone, or it would share another server's port */
        if (bind(fd, (struct sockaddr *)&address, len))
            goto fail;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) ||
        (*port && bind(fd, (struct sockaddr *)&address, len)) ||
        getsockname(fd, (struct sockaddr *)&address, &len))
        goto fail;
    *port = ntohs(address.ss_family == AF_INET6
                      ? ((struct sockaddr_in6 *)&address)->sin6_port
                      : ((struct sockaddr_in *)&address)->sin_port);
    return fd;
fail:
    on = errno;
    close(fd);
    errno = on;
    return -1;
}

static enum seen_code listen_all(struct server *s, int which, const char *text,
                                 int *port, struct seen_error *why)
{
    struct addrinfo *at;
    enum seen_code code = resolve(text, &at, why);
    int probe;

    if (code != SEEN_OK)
        return code;
    *port = 0;
    /* Is the port free? Without asking so, SO_REUSEPORT would let two
       servers share it, and half of the clients go to the other. */
    if (strcmp(strrchr(text, ':'), ":0")) {
        int on = 1;

        probe = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (probe < 0 || bind(probe, at->ai_addr, at->ai_addrlen) ||
            listen(probe, 1)) {
            code = seen_fail(why, SEEN_IO, 0, "%s cannot be listened at",
                             text);
            if (probe >= 0)
                close(probe);
            freeaddrinfo(at);
            return code;
        }
        close(probe);
        *port = atoi(strrchr(text, ':') + 1);
    }
    for (unsigned i = 0; i < s->threads && code == SEEN_OK; i++) {
        struct loop *l = &s->loop[i];
        int fd = listen_at(at, port);

        if (fd < 0 || uv_tcp_init(&l->uv, &l->listener[which]) ||
            uv_tcp_open(&l->listener[which], fd)) {
            code = seen_fail(why, SEEN_IO, 0, "%s cannot be listened at",
                             text);
            break;
        }
        l->listener[which].data = l;
        if (uv_listen((uv_stream_t *)&l->listener[which], BACKLOG,
                      conn_accept))
            code = seen_fail(why, SEEN_IO, 0, "%s cannot be listened at",
                             text);
    }
    freeaddrinfo(at);
    return code;
}

/* --- running --- */

static void wake_all(void *to)
{
    struct server *s = to;

    for (unsigned i = 0; i < s->threads; i++)
        uv_async_send(&s->loop[i].wake);
}

void server_stop(struct server *s)
{
    (void)s;
    kill(getpid(), SIGTERM);
}

static void run_loop(void *given)
{
    struct loop *l = given;

    uv_run(&l->uv, UV_RUN_DEFAULT);
    log_flush(&l->log);
}

/* As many descriptors as we may have. */
static void raise_limit(void)
{
    struct rlimit r = { 1024, 1024 };

    getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
}

/*
 * How many clients there may be: descriptors that are left, once everything
 * is open, without those for a file and a journal of each archive in each
 * loop, which come and go.
 */
static uint64_t most_clients(const struct server *s)
{
    struct rlimit r = { 1024, 1024 };
    uint64_t archives = 0, used = 0, left, reserve, most;
    DIR *open = opendir("/proc/self/fd");

    getrlimit(RLIMIT_NOFILE, &r);
    while (shelf_at(s->loop[0].shelf, archives))
        archives++;
    reserve = SPARE + 2 * archives * s->threads;
    while (open && readdir(open))
        used++;
    if (open)
        closedir(open);
    left = r.rlim_cur > used + 2 ? r.rlim_cur - used : 2;
    most = left - (reserve < left / 2 ? reserve : left / 2);
    return s->how.connections && s->how.connections < most ? s->how.connections
                                                           : most;
}

static enum seen_code start(struct server *s, int *port, int *redis_port,
                            struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; i < s->threads && code == SEEN_OK; i++) {
        struct loop *l = &s->loop[i];

        if (!loop_start(l, s))
            code = seen_fail(why, SEEN_IO, 0, "no event loop can be had");
        else
            code = shelf_new(&l->shelf, s->library, why);
    }
    if (code == SEEN_OK)
        code = listen_all(s, 0, s->how.listen, port, why);
    if (code == SEEN_OK && s->how.redis)
        code = listen_all(s, 1, s->how.redis, redis_port, why);
    return code;
}

static enum seen_code open_log(struct server *s, struct seen_error *why)
{
    const char *path = s->how.log;

    s->log = -1;
    if (!path)
        return SEEN_OK;
    s->log = !strcmp(path, "-")
                 ? STDOUT_FILENO
                 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    return s->log >= 0
               ? SEEN_OK
               : seen_fail(why, SEEN_IO, 0, "%s cannot be written to", path);
}

static void run(struct server *s, const sigset_t *stop)
{
    int signal;

    for (unsigned i = 0; i < s->threads; i++) {
        s->loop[i].started = !uv_thread_create(&s->loop[i].thread, run_loop,
                                               &s->loop[i]);
        if (!s->loop[i].started)
            server_stop(s); /* or its share of the clients would wait */
    }
    sigwait(stop, &signal);
    library_tell(s->library, NULL, NULL); /* loops are woken no more */
    for (unsigned i = 0; i < s->threads; i++)
        loop_drain(&s->loop[i]);
    for (unsigned i = 0; i < s->threads; i++)
        if (s->loop[i].started)
            uv_thread_join(&s->loop[i].thread);
}

enum seen_code serve_run(const struct serve_how *how,
                         void (*ready)(const struct serve_how *how, int port,
                                       int redis_port),
                         struct seen_error *why)
{
    struct server s = { .how = *how };
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int port = 0, redis_port = 0;
    enum seen_code code, closed;
    sigset_t stop;

    s.threads = how->threads ? how->threads : cores > 0 ? (unsigned)cores : 1;
    if (s.threads > MOST_THREADS)
        s.threads = MOST_THREADS;
    raise_limit();
    s.started = (uint64_t)time(NULL);
    signal(SIGPIPE, SIG_IGN);
    guard_install();
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    pthread_sigmask(SIG_BLOCK, &stop, NULL); /* in all threads to come */
    code = open_log(&s, why);
    if (code != SEEN_OK)
        return code;
    code = library_new(&s.library, &how->library, why);
    if (code != SEEN_OK)
        return code;
    s.loop = calloc(s.threads, sizeof *s.loop);
    if (!s.loop)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for loops");
    else
        code = start(&s, &port, &redis_port, why);
    if (code == SEEN_OK) {
        s.most = most_clients(&s);
        library_tell(s.library, wake_all, &s);
        if (ready)
            ready(how, port, redis_port);
        run(&s, &stop);
    }
    for (unsigned i = 0; s.loop && i < s.threads; i++) {
        shelf_free(s.loop[i].shelf);
        out_clear(&s.loop[i].out);
        out_clear(&s.loop[i].lookups.out);
        out_clear(&s.loop[i].log.lines);
        loop_close(&s.loop[i]);
    }
    closed = library_close(s.library, code == SEEN_OK ? why : NULL);
    free(s.loop);
    return code == SEEN_OK ? closed : code;
}
