/*
 * serve_paced.c - load by a client of our own, at a fixed rate.
 *
 * wrk sends the next request when the last one is answered, so a server that
 * stalls gets no requests meanwhile and its stall counts once. Here requests
 * have fixed times, and a latency is counted from the time when the request
 * was due: a stall counts for all requests that were due. (Gil Tene calls the
 * other way coordinated omission.) Requests go to the connection that has been
 * free for the longest time, and wait if none is free.
 *
 * Between requests the client does not sleep; otherwise it would mostly
 * measure how it wakes up.
 */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    REPLY_ROOM = 4096, /* bytes of a head, at most */
    FINE = 64,         /* steps of a histogram to a doubling */
    STEPS = 60 * FINE
};
static const double LEAVE_NS = 5e9; /* for the last answers */

struct client {
    int fd;
    bool busy, held;
    double due; /* when the question was to be sent */
    size_t used, body;
    int status;
    char reply[REPLY_ROOM];
};

struct crowd {
    const struct peer *peer;
    struct client client[CONNECTIONS];
    unsigned queue[CONNECTIONS], first, waiting; /* the free ones */
    int events;
    uint64_t range, next;
    bool held; /* ask for what is held only */
    uint64_t answers, failed, wrong;
    uint64_t step[STEPS]; /* how many took so long */
};

/* --- how long --- */

static unsigned step_of(uint64_t ns)
{
    unsigned doubling;

    if (ns < FINE)
        return (unsigned)ns;
    doubling = 63 - (unsigned)__builtin_clzll(ns) - 6;
    return doubling * FINE + (unsigned)(ns >> doubling);
}

static double step_end(unsigned step)
{
    unsigned doubling = step < 2 * FINE ? 0 : step / FINE - 1;

    return ldexp((double)(step - doubling * FINE + 1), (int)doubling);
}

static double quantile(const struct crowd *c, double q)
{
    uint64_t all = 0, below = 0;

    for (unsigned i = 0; i < STEPS; i++)
        all += c->step[i];
    for (unsigned i = 0; i < STEPS; i++) {
        below += c->step[i];
        if (all && (double)below >= q * (double)all)
            return step_end(i) / 1e9;
    }
    return NAN;
}

/* --- one client --- */

static void set_free(struct crowd *c, struct client *it)
{
    unsigned number = (unsigned)(it - c->client);

    it->busy = false;
    c->queue[(c->first + c->waiting++) % CONNECTIONS] = number;
}

/* A lost connection loses its request. */
static bool connect_again(struct crowd *c, struct client *it)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = it };

    if (it->fd >= 0)
        close(it->fd);
    c->failed += it->busy;
    it->used = it->body = 0;
    it->fd = peer_connect(c->peer, 1);
    if (it->fd < 0 || fcntl(it->fd, F_SETFL, O_NONBLOCK) ||
        epoll_ctl(c->events, EPOLL_CTL_ADD, it->fd, &event))
        return false;
    if (it->busy)
        set_free(c, it);
    return true;
}

static bool send_to(struct crowd *c, struct client *it, double due)
{
    static const char before[] = "GET /bench/";
    static const char after[] = " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    char text[sizeof before + URL_LENGTH + sizeof after];
    size_t len = sizeof before - 1;
    uint64_t n;

    c->next = (c->next + 15485863) % c->range; /* as in serve_load.c */
    n = c->held ? c->next & ~UINT64_C(1) : c->next;
    memcpy(text, before, len);
    served_url(text + len, n);
    len += URL_LENGTH;
    memcpy(text + len, after, sizeof after - 1);
    len += sizeof after - 1;
    it->busy = true;
    it->held = n % 2 == 0;
    it->due = due;
    return send(it->fd, text, len, MSG_NOSIGNAL) == (ssize_t)len ||
           connect_again(c, it);
}

static void answered(struct crowd *c, struct client *it)
{
    double took = bench_ns() - it->due;

    c->answers++;
    c->failed += it->status != 200 && it->status != 404;
    c->wrong += it->held && it->status == 404;
    c->step[step_of((uint64_t)(took > 0 ? took : 0))]++;
    set_free(c, it);
}

/* The length of the body that a head announces, which ends with a NUL. */
static size_t body_of(const char *head)
{
    const char *at = strcasestr(head, "\r\nContent-Length:");

    return at ? strtoul(at + 17, NULL, 10) : 0;
}

/* Read what came; false if the connection is of no more use. */
static bool receive(struct crowd *c, struct client *it)
{
    ssize_t got = recv(it->fd, it->reply + it->used,
                       sizeof it->reply - 1 - it->used, 0);
    char *end;
    size_t head;

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (got <= 0 || !it->busy)
        return false;
    it->used += (size_t)got;
    it->reply[it->used] = '\0';
    if (!it->body) {
        end = strstr(it->reply, "\r\n\r\n");
        if (!end)
            return it->used + 1 < sizeof it->reply;
        end[2] = '\0';
        if (strncmp(it->reply, "HTTP/1.1 ", 9))
            return false;
        it->status = atoi(it->reply + 9);
        head = (size_t)(end - it->reply) + 4;
        it->body = head + body_of(it->reply);
    }
    /* From here on `body` is how many bytes the answer still has. */
    if (it->used < it->body) {
        it->body -= it->used;
        it->used = 0;
        return true;
    }
    if (it->used > it->body)
        return false; /* more than was asked for */
    it->used = it->body = 0;
    answered(c, it);
    return true;
}

/* --- all of them --- */

static struct crowd *crowd_new(const struct load_options *s,
                               const struct peer *p, bool held)
{
    struct crowd *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->peer = p;
    c->range = served_range(s);
    c->held = held;
    c->events = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned i = 0; i < CONNECTIONS; i++)
        c->client[i].fd = -1;
    return c;
}

static bool crowd_connect(struct crowd *c)
{
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        if (!connect_again(c, &c->client[i]))
            return false;
        set_free(c, &c->client[i]);
    }
    return true;
}

static void crowd_free(struct crowd *c)
{
    for (unsigned i = 0; i < CONNECTIONS; i++)
        if (c->client[i].fd >= 0)
            close(c->client[i].fd);
    close(c->events);
    free(c);
}

/* Wait for answers and take them. */
static bool listen_to(struct crowd *c, int ms)
{
    struct epoll_event event[CONNECTIONS];
    int n = epoll_wait(c->events, event, CONNECTIONS, ms);

    for (int i = 0; i < n; i++) {
        struct client *it = event[i].data.ptr;

        if (!receive(c, it) && !connect_again(c, it))
            return false;
    }
    return n >= 0 || errno == EINTR;
}

static bool drive(struct crowd *c, const struct paced_load *options,
                  double begun)
{
    double apart = options->rate > 0 ? 1e9 / options->rate : 0, due = begun;
    double end = begun + options->seconds * 1e9, now;

    for (;;) {
        now = bench_ns();
        if (options->stop ? atomic_load(options->stop) : now >= end)
            break;
        for (; c->waiting && (!apart || due <= now); due += apart) {
            unsigned number = c->queue[c->first];

            c->first = (c->first + 1) % CONNECTIONS;
            c->waiting--;
            if (!send_to(c, &c->client[number], apart ? due : bench_ns()))
                return false;
        }
        if (!listen_to(c, apart && due - now < 2e6 ? 0 : 1))
            return false;
    }
    for (end = now + LEAVE_NS; c->waiting < CONNECTIONS && now < end;
         now = bench_ns())
        if (!listen_to(c, 10))
            return false;
    c->failed += CONNECTIONS - c->waiting;
    return true;
}

bool paced_run(const struct load_options *s, const struct peer *p,
               const struct paced_load *options, struct paced_result *out)
{
    struct crowd *c = crowd_new(s, p, options->held);
    double begun, before = process_cpu(p->pid);
    bool good = c && crowd_connect(c);

    begun = bench_ns();
    good = good && drive(c, options, begun);
    if (good) {
        out->seconds = (bench_ns() - begun) / 1e9;
        out->spent = process_cpu(p->pid) - before;
        out->answers = c->answers;
        out->failed = c->failed;
        out->wrong = c->wrong;
        out->p50 = quantile(c, 0.5);
        out->p99 = quantile(c, 0.99);
        out->most = quantile(c, 1);
    } else {
        fprintf(stderr, "seen: bench: %s cannot be connected to\n", p->name);
    }
    if (c)
        crowd_free(c);
    return good;
}
