/*
 * work_log.c - what the web server's log says about a run.
 *
 *     1795000000.123 0.001 127.0.0.7 /p263.html
 *
 * Times are of the end of the request, and how long it took, in steps of 1 ms:
 * a distance between two requests is right to 2 ms.
 */
#include "work.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"

struct request {
    double began, ended;
    uint32_t host;
    int64_t page; /* -1: not a page */
};

struct requests {
    struct request *all;
    size_t n, room;
};

static bool read_line(const char *line, struct request *r)
{
    double seconds;
    unsigned part[4];
    char path[64];

    if (sscanf(line, "%lf %lf %u.%u.%u.%u %63s", &r->ended, &seconds, &part[0],
               &part[1], &part[2], &part[3], path) != 7)
        return false;
    r->began = r->ended - seconds;
    r->host = part[2] << 8 | part[3];
    r->page = strncmp(path, "/p", 2) ? -1 : strtoll(path + 2, NULL, 10);
    return true;
}

static bool read_all(struct requests *r)
{
    char path[PATH_ROOM], line[256];
    bool good = true;
    FILE *file;

    process_path(path, "requests.log");
    file = fopen(path, "re");
    while (file && good && fgets(line, sizeof line, file)) {
        struct request *more = array_grow(r->all, &r->room, r->n + 1,
                                          sizeof *more);

        good = more != NULL;
        if (good) {
            r->all = more;
            r->n += read_line(line, &r->all[r->n]);
        }
    }
    if (file)
        fclose(file);
    return file && good;
}

/* --- times --- */

static int by_end(const void *a, const void *b)
{
    const struct request *x = a, *y = b;

    return (x->ended > y->ended) - (x->ended < y->ended);
}

static int by_host(const void *a, const void *b)
{
    const struct request *x = a, *y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return (x->began > y->began) - (x->began < y->began);
}

/* Pages per second between the tenth and the last tenth but one: a crawl
   begins and ends with few hosts. `r` is sorted by time. */
static double middle_rate(const struct request *r, size_t n)
{
    size_t first = n / 10, last = n - 1 - n / 10;

    return n < 20 || !(r[last].ended > r[first].ended)
               ? 0
               : (double)(last - first) / (r[last].ended - r[first].ended);
}

/* Requests that ended in the second half of a step: workers take a moment to
   share the hosts. */
static double step_rate(const struct requests *r, double from, double to)
{
    double half = (from + to) / 2;
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        n += r->all[i].page >= 0 && r->all[i].ended >= half &&
             r->all[i].ended < to;
    return to > half ? (double)n / (to - half) : 0;
}

/* The least time from the end of a request to the beginning of the next one
   to the same host. */
static double least_gap(const struct request *r, size_t n)
{
    double least = 1e9;

    for (size_t i = 1; i < n; i++)
        if (r[i].host == r[i - 1].host && r[i].began - r[i - 1].ended < least)
            least = r[i].began - r[i - 1].ended;
    return least;
}

bool work_log(const struct bench_site *site, const struct work_run *run,
              const double *begun, struct work_figures *out)
{
    struct requests r = { .n = 0 };
    bool *had = calloc(site->pages, sizeof *had);

    if (!had || !read_all(&r) || !r.n) {
        fprintf(stderr, "seen: bench: requests.log cannot be read\n");
        free(had);
        free(r.all);
        return false;
    }
    out->requests = out->distinct = 0;
    for (size_t i = 0; i < r.n; i++) {
        int64_t page = r.all[i].page;

        if (page < 0 || (uint64_t)page >= site->pages)
            continue;
        out->requests++;
        out->distinct += !had[page];
        had[page] = true;
    }
    qsort(r.all, r.n, sizeof *r.all, by_end);
    out->seconds = r.all[r.n - 1].ended - begun[0];
    out->rate = middle_rate(r.all, r.n);
    for (size_t i = 0; i < run->steps; i++)
        out->step[i] = step_rate(&r, begun[i],
                                 i + 1 < run->steps ? begun[i + 1]
                                                    : r.all[r.n - 1].ended);
    qsort(r.all, r.n, sizeof *r.all, by_host);
    out->gap = least_gap(r.all, r.n);
    free(had);
    free(r.all);
    return true;
}
