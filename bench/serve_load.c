/*
 * serve_load.c - load by redis-benchmark.
 *
 * A server is measured by requests per second of its CPU time, since a client
 * that is slower than the server sets the pace.
 */
#include "serve.h"

#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 160, LEAST_REQUESTS = 20000 };

/* Run a load to its end, with the time that the server spends on it. What it
   printed is then in the file load.out. */
static bool run(const struct peer *p, const char *const *argv,
                struct serve_load *out)
{
    double before = process_cpu(p->pid);
    bool good = process_run(argv, "load.out", "load.err", &out->seconds);

    out->spent = process_cpu(p->pid) - before;
    if (good)
        return true;
    fprintf(stderr, "seen: bench: %s failed against %s\n", argv[0], p->name);
    process_show("load.err");
    return false;
}

/* The last line of load.out that begins with `with`. */
static bool last_line(const char *with, char *line, size_t room)
{
    char path[PATH_ROOM], *text = NULL;
    size_t size = 0, len = strlen(with);
    bool found = false;
    FILE *file;

    process_path(path, "load.out");
    file = fopen(path, "re");
    while (file && getline(&text, &size, file) > 0)
        if (!strncmp(text, with, len)) {
            snprintf(line, room, "%s", text);
            found = true;
        }
    if (file)
        fclose(file);
    free(text);
    return found;
}

static bool run_redis(const struct peer *p, const struct redis_load *r,
                      uint64_t requests, struct serve_load *out)
{
    const char *program = process_find("redis-benchmark");
    const char *argv[ARGUMENTS];
    char port[16], clients[16], number[24], range[24], depth[16];
    char line[8192], *rate;
    size_t n = 0;

    if (!program)
        return false;
    snprintf(port, sizeof port, "%d", p->port);
    snprintf(clients, sizeof clients, "%d", CLIENTS);
    snprintf(number, sizeof number, "%llu", (unsigned long long)requests);
    snprintf(range, sizeof range, "%llu", (unsigned long long)r->range);
    snprintf(depth, sizeof depth, "%u", r->depth);
    argv[n++] = program;
    argv[n++] = "--csv";
    argv[n++] = "-p";
    argv[n++] = port;
    argv[n++] = "-c";
    argv[n++] = clients;
    argv[n++] = "-P";
    argv[n++] = depth;
    argv[n++] = "-n";
    argv[n++] = number;
    if (r->range) {
        argv[n++] = "-r";
        argv[n++] = range;
    }
    if (r->token) {
        argv[n++] = "-a";
        argv[n++] = r->token;
    }
    for (size_t i = 0; r->command[i] && n < ARGUMENTS - 1; i++)
        argv[n++] = r->command[i];
    argv[n] = NULL;
    if (!run(p, argv, out))
        return false;
    /* "the command","requests per second",... */
    rate = last_line("\"", line, sizeof line) ? strstr(line, "\",\"") : NULL;
    out->requests = (double)requests;
    if (!rate || !(strtod(rate + 3, NULL) > 0)) {
        fprintf(stderr, "seen: bench: redis-benchmark says no rate of %s\n",
                p->name);
        return false;
    }
    out->seconds = out->requests / strtod(rate + 3, NULL);
    return true;
}

bool load_redis(const struct load_options *s, const struct peer *p,
                struct redis_load *r, struct serve_load *out)
{
    uint64_t requests;

    /* The first try is too short to be exact; the second is near, and warms
       up the server. */
    for (int i = 0; i < 2 && !r->known; i++) {
        requests = i ? (uint64_t)(r->rate / 2) : LEAST_REQUESTS / 4;
        if (!run_redis(p, r, requests, out))
            return false;
        r->rate = out->requests / out->seconds;
    }
    r->known = true;
    requests = (uint64_t)(r->rate * (double)s->seconds);
    return run_redis(
        p, r, requests > LEAST_REQUESTS ? requests : LEAST_REQUESTS, out);
}
