/*
 * serve_reload.c - the row of reloading.
 *
 * Two filters hold the same URLs, and each one URL more. Clients ask for what
 * both hold, as fast as they are answered, while the filters replace each
 * other by rename; the additional URL shows when the server has the new one.
 * Every request must be answered, and every answer must be yes.
 */
#include "serve.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum {
    RELOADS = 20,
    RELOAD_MS = 60000, /* until the new filter answers, at most */
    NAP_MS = 2
};

static const char *const names[] = { "bench", "second" };

struct paced_thread {
    const struct load_options *s;
    const struct peer *peer;
    struct paced_load options;
    struct paced_result asked;
    bool good;
};

static void *ask_on(void *given)
{
    struct paced_thread *it = given;

    it->good = paced_run(it->s, it->peer, &it->options, &it->asked);
    return NULL;
}

/* Put another name of the file `from` in the place of `to`. */
static bool replace(const char *from, const char *to)
{
    char next[PATH_ROOM];

    snprintf(next, sizeof next, "%s.next", to);
    unlink(next);
    return !link(from, next) && !rename(next, to);
}

/* Wait until the filter named `name` is the one that answers. */
static bool wait_for(const struct peer *p, const char *name)
{
    char request[256], reply[4096];

    snprintf(request, sizeof request,
             "HEAD /bench/http://example.org/%s HTTP/1.1\r\n"
             "Host: 127.0.0.1\r\n\r\n",
             name);
    for (int waited = 0; waited < RELOAD_MS; waited += NAP_MS) {
        if (!peer_talk(p, request, "\r\n\r\n", reply, sizeof reply))
            return false;
        if (!strncmp(reply, "HTTP/1.1 200", 12))
            return true;
        process_sleep(NAP_MS);
    }
    fprintf(stderr, "seen: bench: the new filter does not answer\n");
    return false;
}

/* Take turns with two filters; how long each took to be asked, in ms. */
static bool reload(const struct load_options *s, const struct peer *p,
                   const char *const *made, const char *served, double *took)
{
    for (int i = 0; i < RELOADS; i++) {
        const char *name = names[(i + 1) % 2];
        const char *from = strchr(made[(i + 1) % 2], '=') + 1;
        double begun = bench_ns();

        if (!replace(from, served) || !wait_for(p, name))
            return false;
        took[i] = (bench_ns() - begun) / 1e6;
        process_sleep((unsigned)(1000 * s->seconds * TURNS / RELOADS));
    }
    return true;
}

static void show_asked(const struct load_options *s,
                       const struct paced_result *a, double *took)
{
    struct serve_row r = { .name = "reload",
                           .unit = "failed or wrong",
                           .ours = (double)(a->failed + a->wrong),
                           .ours_rate = (double)a->answers / a->seconds,
                           .theirs = NAN,
                           .theirs_rate = NAN,
                           .asked = 0,
                           .alone = true,
                           .most = true };

    snprintf(r.note, sizeof r.note,
             "%llu failed, %llu wrong of %llu; %d reloads, of %.0f ms; p99 "
             "%.0f us",
             (unsigned long long)a->failed, (unsigned long long)a->wrong,
             (unsigned long long)a->answers, RELOADS,
             bench_median(took, RELOADS), a->p99 * 1e6);
    row_show(s, &r);
}

bool row_reload(const struct load_options *s)
{
    atomic_bool stop = false;
    char served[PATH_ROOM];
    const char *made[] = { served_made(s, names[0], 2),
                           served_made(s, names[1], 2) };
    const char *more[] = { served, NULL }, *path;
    struct peer seen = { .pid = 0 };
    struct paced_thread asking = {
        .s = s, .peer = &seen, .options = { .stop = &stop, .held = true }
    };
    double took[RELOADS];
    pthread_t thread;
    bool good;

    snprintf(served, sizeof served, "bench=%s/served.seen", process_folder());
    path = strchr(served, '=') + 1;
    good = made[0] && made[1] && replace(strchr(made[0], '=') + 1, path) &&
           peer_seen(&seen, s, more);
    if (!good || pthread_create(&thread, NULL, ask_on, &asking)) {
        process_stop(&seen.pid);
        return false;
    }
    good = reload(s, &seen, made, path, took);
    stop = true;
    pthread_join(thread, NULL);
    process_stop(&seen.pid);
    good = good && asking.good;
    if (good)
        show_asked(s, &asking.asked, took);
    return good;
}
