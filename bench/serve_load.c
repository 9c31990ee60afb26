/*
 * serve_load.c - load by wrk and redis-benchmark.
 *
 * Both walk through the URLs, so that no question is asked twice before all
 * others were: half of the answers are yes, and none is in a cache.
 *
 * What a server can do is told by requests per second of its processor time,
 * since the client may be slower than it and then sets the pace.
 */
#define _GNU_SOURCE
#include "serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { ARGUMENTS = 160, LEAST_REQUESTS = 20000 };

/* Run a load to its end, with the time that the server spends on it. What it
   printed is then in the file load.out. */
static bool run(const struct settings *s, const struct peer *p,
                const char *const *argv, struct load *out)
{
    double begun = clock_now(), before = peer_spent(p);
    pid_t child = keep_start(s, argv, "load.out", "load.err");
    int status = -1;

    while (child && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    out->seconds = (clock_now() - begun) / 1e9;
    out->spent = peer_spent(p) - before;
    if (child && !status)
        return true;
    fprintf(stderr, "seen: bench: %s failed against %s\n", argv[0], p->name);
    peer_said(s, "load.err");
    return false;
}

/* The last line of load.out that begins with `with`. */
static bool last_line(const struct settings *s, const char *with, char *line,
                      size_t room)
{
    char path[PATH_ROOM], *text = NULL;
    size_t size = 0, len = strlen(with);
    bool found = false;
    FILE *file;

    snprintf(path, sizeof path, "%s/load.out", s->folder);
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

/* --- wrk --- */

/* A prime step visits every number before it comes to one again. */
static const char script[] =
    "local n, range, depth = 0, %llu, %u\n"
    "local text = 'GET /bench/http://example.org/%%012d HTTP/1.1\\r\\n' ..\n"
    "             'Host: 127.0.0.1\\r\\n\\r\\n'\n"
    "local several = {}\n"
    "\n"
    "local function one()\n"
    "    n = (n + 15485863) %% range\n"
    "    return string.format(text, n)\n"
    "end\n"
    "\n"
    "function request()\n"
    "    if depth == 1 then\n"
    "        return one()\n"
    "    end\n"
    "    for i = 1, depth do\n"
    "        several[i] = one()\n"
    "    end\n"
    "    return table.concat(several)\n"
    "end\n"
    "\n"
    "function done(all)\n"
    "    local e = all.errors\n"
    "    print(string.format('done %%d %%d %%d', all.requests, all.duration,\n"
    "          e.connect + e.read + e.write + e.timeout))\n"
    "end\n";

bool load_wrk(const struct settings *s, const struct peer *p, unsigned depth,
              double seconds, struct load *out)
{
    const char *program = keep_tool("wrk");
    char path[PATH_ROOM], url[64], duration[32], threads[16], line[128];
    char connections[16];
    const char *argv[] = { program,  "-t", threads, "-c", connections, "-d",
                           duration, "-s", path,    url,  NULL };
    unsigned long long requests, microseconds, errors;
    FILE *file;

    if (!program)
        return false;
    snprintf(path, sizeof path, "%s/wrk.lua", s->folder);
    file = fopen(path, "we");
    if (!file ||
        fprintf(file, script, (unsigned long long)filter_range(s), depth) <
            0 ||
        fclose(file)) {
        perror("seen: bench");
        return false;
    }
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", p->port);
    snprintf(duration, sizeof duration, "%.0fs", ceil(seconds));
    snprintf(threads, sizeof threads, "%u", s->threads);
    snprintf(connections, sizeof connections, "%d", CONNECTIONS);
    if (!run(s, p, argv, out))
        return false;
    if (!last_line(s, "done ", line, sizeof line) ||
        sscanf(line, "done %llu %llu %llu", &requests, &microseconds,
               &errors) != 3 ||
        errors || !requests) {
        fprintf(stderr, "seen: bench: %s failed requests of wrk\n", p->name);
        return false;
    }
    out->requests = (double)requests;
    out->seconds = (double)microseconds / 1e6;
    return true;
}

/* --- redis-benchmark --- */

static bool run_redis(const struct settings *s, const struct peer *p,
                      const struct redis_load *how, uint64_t requests,
                      struct load *out)
{
    const char *program = keep_tool("redis-benchmark");
    const char *argv[ARGUMENTS];
    char port[16], clients[16], number[24], range[24], depth[16];
    char line[8192], *rate;
    size_t n = 0;

    if (!program)
        return false;
    snprintf(port, sizeof port, "%d", p->port);
    snprintf(clients, sizeof clients, "%d", CLIENTS);
    snprintf(number, sizeof number, "%llu", (unsigned long long)requests);
    snprintf(range, sizeof range, "%llu", (unsigned long long)how->range);
    snprintf(depth, sizeof depth, "%u", how->depth);
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
    if (how->range) {
        argv[n++] = "-r";
        argv[n++] = range;
    }
    if (how->token) {
        argv[n++] = "-a";
        argv[n++] = how->token;
    }
    for (size_t i = 0; how->command[i] && n < ARGUMENTS - 1; i++)
        argv[n++] = how->command[i];
    argv[n] = NULL;
    if (!run(s, p, argv, out))
        return false;
    /* "the command","requests per second",... */
    rate = last_line(s, "\"", line, sizeof line) ? strstr(line, "\",\"")
                                                 : NULL;
    out->requests = (double)requests;
    if (!rate || !(strtod(rate + 3, NULL) > 0)) {
        fprintf(stderr, "seen: bench: redis-benchmark says no rate of %s\n",
                p->name);
        return false;
    }
    out->seconds = out->requests / strtod(rate + 3, NULL);
    return true;
}

bool load_redis(const struct settings *s, const struct peer *p,
                struct redis_load *how, struct load *out)
{
    uint64_t requests;

    /* The first try is too short to be exact; the second is near, and warms
       up the server. */
    for (int i = 0; i < 2 && !how->known; i++) {
        requests = i ? (uint64_t)(how->rate / 2) : LEAST_REQUESTS / 4;
        if (!run_redis(s, p, how, requests, out))
            return false;
        how->rate = out->requests / out->seconds;
    }
    how->known = true;
    requests = (uint64_t)(how->rate * s->seconds);
    return run_redis(
        s, p, how, requests > LEAST_REQUESTS ? requests : LEAST_REQUESTS, out);
}
