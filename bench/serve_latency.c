/*
 * serve_latency.c - rows of latency, and of idle clients.
 *
 * Latency is measured at half of the load that the slower server can bear: at
 * more one measures a queue, at less how a CPU wakes up. A turn is cut into
 * slices and their median counts, since other programs on the machine disturb
 * more than one percent of the requests.
 *
 * The client has the last CPU for itself, and the servers have the others. It
 * does not sleep, so a server that the scheduler puts on the same CPU waits
 * for milliseconds: on two CPUs that was all of the 99th percentile.
 */
#include "serve.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    SLICES_A_TURN = 5,
    ALL_SLICES = SLICES_A_TURN * TURNS,
    IDLE = 10000,
    IDLE_FROM = 5000, /* of one address */
    SPARE_FILES = 300 /* descriptors for all else */
};

/* Where we, and the servers that we start, run from now on. */
enum cpu_place { ANYWHERE, SERVERS, CLIENT };

static void stay(enum cpu_place at)
{
    static cpu_set_t all;
    cpu_set_t some;
    size_t last = CPU_SETSIZE;

    if (!CPU_COUNT(&all) && sched_getaffinity(0, sizeof all, &all))
        return;
    if (CPU_COUNT(&all) < 2)
        return;
    while (!CPU_ISSET(--last, &all))
        ;
    some = all;
    if (at == CLIENT) {
        CPU_ZERO(&some);
        CPU_SET(last, &some);
    } else if (at == SERVERS) {
        CPU_CLR(last, &some);
    }
    sched_setaffinity(0, sizeof some, &some);
}

static bool start_ours(const struct load_options *s, struct peer *p)
{
    const char *more[] = { served_made(s, "bench", 2), NULL };

    return more[0] && peer_seen(p, s, more);
}

static bool start_both(const struct load_options *s, struct peer *seen,
                       struct peer *nginx)
{
    bool good;

    stay(SERVERS);
    good = start_ours(s, seen) && peer_nginx(nginx, s);
    stay(CLIENT);
    return good;
}

static void stop_both(struct peer *seen, struct peer *nginx)
{
    process_stop(&seen->pid);
    process_stop(&nginx->pid);
    stay(ANYWHERE);
}

/* Half of what the slower one answers in a second; 0 after a message. */
static double half_load(const struct load_options *s, const struct peer *seen,
                        const struct peer *nginx)
{
    static double known;
    const struct paced_load options = { .seconds = (double)s->seconds };
    struct paced_result us, them;

    if (known > 0)
        return known;
    if (!paced_run(s, seen, &options, &us) ||
        !paced_run(s, nginx, &options, &them))
        return 0;
    known = fmin((double)us.answers / us.seconds,
                 (double)them.answers / them.seconds) /
            2;
    return known;
}

/* Latencies in microseconds at that rate, of slices. */
struct slices {
    unsigned n;
    double p50[ALL_SLICES], p99[ALL_SLICES];
};

static bool measure_slice(const struct load_options *s, const struct peer *p,
                          double rate, struct slices *to)
{
    const struct paced_load options = {
        .rate = rate, .seconds = (double)s->seconds / SLICES_A_TURN
    };
    struct paced_result it;

    if (!paced_run(s, p, &options, &it))
        return false;
    if (it.failed)
        fprintf(stderr, "seen: bench: %s failed %llu requests\n", p->name,
                (unsigned long long)it.failed);
    to->p50[to->n] = it.p50 * 1e6;
    to->p99[to->n++] = it.p99 * 1e6;
    return !it.failed;
}

static void fill_in(struct serve_row *r, struct slices *ours,
                    struct slices *theirs, double rate)
{
    r->ours = bench_median(ours->p99, ours->n);
    r->theirs = bench_median(theirs->p99, theirs->n);
    r->ours_rate = r->theirs_rate = rate;
    snprintf(r->note, sizeof r->note, "p50 %.0f and %.0f us",
             bench_median(ours->p50, ours->n),
             bench_median(theirs->p50, theirs->n));
}

bool row_latency(const struct load_options *s)
{
    struct serve_row r = { .name = "latency",
                           .unit = "us, p99",
                           .peer = "nginx",
                           .asked = 1.3,
                           .most = true };
    struct peer seen = { .pid = 0 }, nginx = { .pid = 0 };
    struct slices ours = { .n = 0 }, theirs = { .n = 0 };
    double rate = 0;
    bool good = start_both(s, &seen, &nginx);

    if (good)
        rate = half_load(s, &seen, &nginx);
    good = rate > 0;
    for (int i = 0; i < ALL_SLICES && good; i++)
        good = measure_slice(s, &seen, rate, &ours) &&
               measure_slice(s, &nginx, rate, &theirs);
    stop_both(&seen, &nginx);
    if (!good)
        return false;
    fill_in(&r, &ours, &theirs, rate);
    row_show(s, &r);
    return true;
}

/* --- idle clients --- */

struct idle {
    int *fd;
    unsigned n;
};

static void idle_close(struct idle *it)
{
    for (unsigned i = 0; i < it->n; i++)
        close(it->fd[i]);
    free(it->fd);
    it->fd = NULL;
    it->n = 0;
}

/* Descriptors allow for fewer than IDLE in some places. */
static unsigned idle_most(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) ||
        files.rlim_cur >= IDLE + SPARE_FILES)
        return IDLE;
    return files.rlim_cur > 2 * SPARE_FILES
               ? (unsigned)files.rlim_cur - SPARE_FILES
               : SPARE_FILES;
}

/* Each has sent one request, all for the same URL, so that the memory is that
   of connections and not of pages of the filter. */
static bool idle_open(struct idle *it, const struct peer *p)
{
    static const char text[] = "GET /bench/http://example.org/000000000000 "
                               "HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    const ssize_t len = sizeof text - 1;
    unsigned most = idle_most();
    char reply[4096];

    it->n = 0;
    it->fd = calloc(most, sizeof *it->fd);
    for (; it->fd && it->n < most; it->n++) {
        int fd = peer_connect(p, 2 + it->n / IDLE_FROM);

        if (fd < 0)
            break;
        it->fd[it->n] = fd;
        if (send(fd, text, (size_t)len, MSG_NOSIGNAL) != len ||
            recv(fd, reply, sizeof reply, 0) <= 0) {
            close(fd);
            break;
        }
    }
    if (it->fd && it->n == most)
        return true;
    fprintf(stderr, "seen: bench: %s: %u of %u connections: %s\n", p->name,
            it->n, most, strerror(errno));
    idle_close(it);
    return false;
}

/* How many the server has closed meanwhile. */
static unsigned idle_lost(const struct idle *it)
{
    unsigned lost = 0;
    char byte;

    for (unsigned i = 0; i < it->n; i++)
        lost += recv(it->fd[i], &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
    return lost;
}

/* The bytes that each idle client costs the server. */
static bool idle_memory(const struct peer *p, double *each)
{
    struct idle idle;
    char reply[4096];
    double before;

    /* The first client brings in what all of them share. */
    if (!peer_talk(p,
                   "HEAD /bench/http://example.org/000000000000 HTTP/1.1\r\n"
                   "Host: 127.0.0.1\r\n\r\n",
                   "\r\n\r\n", reply, sizeof reply))
        return false;
    process_sleep(100);
    before = process_memory(p->pid);
    if (!idle_open(&idle, p))
        return false;
    process_sleep(1000);
    *each = (process_memory(p->pid) - before) / idle.n;
    idle_close(&idle);
    return true;
}

/* A turn without idle clients, and one with them. */
static bool idle_turn(const struct load_options *s, const struct peer *p,
                      double rate, struct slices *without, struct slices *with,
                      unsigned *lost)
{
    struct idle idle;
    bool good = true;

    for (int i = 0; i < SLICES_A_TURN && good; i++)
        good = measure_slice(s, p, rate, without);
    if (!good || !idle_open(&idle, p))
        return false;
    for (int i = 0; i < SLICES_A_TURN && good; i++)
        good = measure_slice(s, p, rate, with);
    *lost += idle_lost(&idle);
    idle_close(&idle);
    process_sleep(500); /* for the server to see it */
    return good;
}

static bool idle_turns(const struct load_options *s, const struct peer *p,
                       double rate, struct serve_row *r)
{
    struct slices with = { .n = 0 }, without = { .n = 0 };
    unsigned lost = 0;
    size_t len;

    for (int i = 0; i < TURNS; i++)
        if (!idle_turn(s, p, rate, &without, &with, &lost))
            return false;
    fill_in(r, &with, &without, rate);
    len = strlen(r->note);
    if (lost)
        snprintf(r->note + len, sizeof r->note - len,
                 "; %u connections were closed", lost);
    return true;
}

bool row_idle(const struct load_options *s)
{
    struct serve_row memory = { .name = "idle-memory",
                                .unit = "bytes/connection",
                                .peer = "nginx",
                                .asked = 4096,
                                .alone = true,
                                .most = true,
                                .ours_rate = NAN,
                                .theirs_rate = NAN };
    struct serve_row latency = { .name = "idle-latency",
                                 .unit = "us, p99",
                                 .peer = "ours without",
                                 .asked = 1.3,
                                 .most = true };
    struct peer seen = { .pid = 0 }, nginx = { .pid = 0 };
    double rate = 0;
    bool good = start_both(s, &seen, &nginx) &&
                idle_memory(&seen, &memory.ours) &&
                idle_memory(&nginx, &memory.theirs);

    if (good) {
        snprintf(memory.note, sizeof memory.note, "%u connections",
                 idle_most());
        row_show(s, &memory);
        rate = half_load(s, &seen, &nginx);
    }
    good = rate > 0 && idle_turns(s, &seen, rate, &latency);
    stop_both(&seen, &nginx);
    if (good)
        row_show(s, &latency);
    return good;
}
