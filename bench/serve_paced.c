/*
 * serve_paced.c - load by a client of our own.
 *
 * Without a rate it sends the next requests of a connection when the last ones
 * are answered, as wrk does. A server that stalls gets no requests meanwhile,
 * and its stall counts once. With a rate requests have fixed times, and a
 * latency is counted from the time when the request was due: a stall counts
 * for all requests that were due. (Gil Tene calls the other way coordinated
 * omission.) Requests go to the connection that has been free for the longest
 * time, and wait if none is free.
 *
 * With a rate the client does not sleep between requests; otherwise it would
 * mostly measure how it wakes up.
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
    REPLY_ROOM = 16384, /* bytes of a head, at most; and of answers */
    REQUEST_ROOM = 128, /* bytes of a request */
    MOST_DEPTH = 16,    /* requests at a time, on each connection */
    FINE = 64,         /* steps of a histogram to a doubling */
    STEPS = 60 * FINE
};
static const double LEAVE_NS = 5e9; /* for the last answers */

struct client {
    int fd;
    unsigned left;  /* answers that are still to come */
    unsigned held;  /* of the URLs asked for, the last one in bit 0 */
    double due;     /* when the requests were to be sent */
    size_t used;    /* bytes in `reply`, */
    size_t body;    /* and those of a body, which are yet to come */
    int status;
    char reply[REPLY_ROOM];
};

struct paced_clients {
    const struct peer *peer;
    struct client client[CONNECTIONS];
    unsigned queue[CONNECTIONS], first, waiting; /* the free ones */
    unsigned depth;
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

static double quantile(const struct paced_clients *c, double q)
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

static void set_free(struct paced_clients *c, struct client *it)
{
    unsigned number = (unsigned)(it - c->client);

    c->queue[(c->first + c->waiting++) % CONNECTIONS] = number;
}

/* A lost connection loses its requests. */
static bool connect_again(struct paced_clients *c, struct client *it)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = it };
    const unsigned lost = it->left;

    if (it->fd >= 0)
        close(it->fd);
    c->failed += lost;
    it->used = it->body = 0;
    it->left = 0;
    it->fd = peer_connect(c->peer, 1);
    if (it->fd < 0 || fcntl(it->fd, F_SETFL, O_NONBLOCK) ||
        epoll_ctl(c->events, EPOLL_CTL_ADD, it->fd, &event))
        return false;
    if (lost)
        set_free(c, it);
    return true;
}

static size_t put_request(char *to, uint64_t n)
{
    static const char before[] = "GET /bench/";
    static const char after[] = " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    char *at = to;

    memcpy(at, before, sizeof before - 1);
    at += sizeof before - 1;
    served_url(at, n);
    at += URL_LENGTH;
    memcpy(at, after, sizeof after - 1);
    return (size_t)(at - to) + sizeof after - 1;
}

static bool send_to(struct paced_clients *c, struct client *it, double due)
{
    char text[MOST_DEPTH * REQUEST_ROOM];
    size_t len = 0;

    for (unsigned i = 0; i < c->depth; i++) {
        /* A prime step visits every number before it comes to one again. */
        c->next = (c->next + 15485863) % c->range;
        len += put_request(text + len,
                           c->held ? c->next & ~UINT64_C(1) : c->next);
        it->held = it->held << 1 | (c->held || c->next % 2 == 0);
    }
    it->left = c->depth;
    it->due = due;
    return send(it->fd, text, len, MSG_NOSIGNAL) == (ssize_t)len ||
           connect_again(c, it);
}

static void answered(struct paced_clients *c, struct client *it)
{
    double took = bench_ns() - it->due;

    it->left--;
    c->answers++;
    c->failed += it->status != 200 && it->status != 404;
    c->wrong += (it->held >> it->left & 1) && it->status == 404;
    c->step[step_of((uint64_t)(took > 0 ? took : 0))]++;
    if (!it->left)
        set_free(c, it);
}

/* Take a head from what came, which ends with a NUL; NULL if it is not whole,
   or not of HTTP. */
static char *take_head(struct client *it, char *text)
{
    char *end = strstr(text, "\r\n\r\n"), *length;

    if (!end || strncmp(text, "HTTP/1.1 ", 9))
        return NULL;
    it->status = atoi(text + 9);
    end[2] = '\0';
    length = strcasestr(text, "\r\nContent-Length:");
    it->body = length ? strtoul(length + 17, NULL, 10) : 0;
    return end + 4;
}

/* Read what came; false if the connection is of no more use. */
static bool receive(struct paced_clients *c, struct client *it)
{
    ssize_t got = recv(it->fd, it->reply + it->used,
                       sizeof it->reply - 1 - it->used, 0);
    char *at = it->reply, *end, *next;

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (got <= 0)
        return false;
    end = at + it->used + got;
    *end = '\0';
    while (at < end && it->left) {
        if (!it->body) {
            next = take_head(it, at);
            if (!next)
                break;
            at = next;
        }
        next = (size_t)(end - at) < it->body ? end : at + it->body;
        it->body -= (size_t)(next - at);
        at = next;
        if (!it->body)
            answered(c, it);
    }
    it->used = (size_t)(end - at);
    if (!it->left)
        return !it->used; /* or there was more than was asked for */
    memmove(it->reply, at, it->used);
    return it->used + 1 < sizeof it->reply;
}

/* --- all of them --- */

void paced_close(struct paced_clients *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < CONNECTIONS; i++)
        if (c->client[i].fd >= 0)
            close(c->client[i].fd);
    close(c->events);
    free(c);
}

struct paced_clients *paced_open(const struct load_options *s,
                                 const struct peer *p, unsigned depth)
{
    struct paced_clients *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->peer = p;
    c->depth = depth;
    c->range = served_range(s);
    c->events = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned i = 0; i < CONNECTIONS; i++)
        c->client[i].fd = -1;
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        if (!connect_again(c, &c->client[i])) {
            fprintf(stderr, "seen: bench: %s cannot be connected to\n",
                    p->name);
            paced_close(c);
            return NULL;
        }
        set_free(c, &c->client[i]);
    }
    return c;
}

/* Wait for answers and take them. */
static bool listen_to(struct paced_clients *c, int ms)
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

static bool drive(struct paced_clients *c, const struct paced_load *options,
                  double begun)
{
    double apart = options->rate > 0 ? 1e9 / options->rate : 0, due = begun;
    double end = begun + options->seconds * 1e9, now;

    do { /* at least once: on a busy machine a slice may be over already */
        now = bench_ns();
        for (; c->waiting && (!apart || due <= now); due += apart) {
            unsigned number = c->queue[c->first];

            c->first = (c->first + 1) % CONNECTIONS;
            c->waiting--;
            if (!send_to(c, &c->client[number], apart ? due : bench_ns()))
                return false;
        }
        if (!listen_to(c, apart && due - now < 2e6 ? 0 : 1))
            return false;
    } while (options->stop ? !atomic_load(options->stop) : now < end);
    for (end = now + LEAVE_NS; c->waiting < CONNECTIONS && now < end;
         now = bench_ns())
        if (!listen_to(c, 10))
            return false;
    for (unsigned i = 0; i < CONNECTIONS; i++)
        c->failed += c->client[i].left;
    return true;
}

bool paced_load(struct paced_clients *c, const struct paced_load *options,
                struct paced_result *out)
{
    double begun, before = process_cpu(c->peer->pid);

    c->held = options->held;
    c->answers = c->failed = c->wrong = 0;
    memset(c->step, 0, sizeof c->step);
    begun = bench_ns();
    if (!drive(c, options, begun)) {
        fprintf(stderr, "seen: bench: %s cannot be connected to\n",
                c->peer->name);
        return false;
    }
    out->seconds = (bench_ns() - begun) / 1e9;
    out->spent = process_cpu(c->peer->pid) - before;
    out->answers = c->answers;
    out->failed = c->failed;
    out->wrong = c->wrong;
    out->p50 = quantile(c, 0.5);
    out->p99 = quantile(c, 0.99);
    out->most = quantile(c, 1);
    return true;
}

bool paced_run(const struct load_options *s, const struct peer *p,
               const struct paced_load *options, struct paced_result *out)
{
    struct paced_clients *c = paced_open(s, p, 1);
    bool good = c && paced_load(c, options, out);

    paced_close(c);
    return good;
}
