/*
 * work_run.c - one run: a job, workers that come and go, and what it cost.
 *
 * nginx is started for each run, because it writes its log when it ends. CPU
 * time of workers is what the kernel reports when they end; that of the servers
 * is the difference between two looks.
 */
#include "work.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lib/text/buffer.h"

enum { NAP_MS = 10, RUN_MOST = 1800, REPORT = 8192 }; /* RUN_MOST: s */

static double unix_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- the job --- */

static bool write_template(const struct bench_site *site)
{
    struct buffer b = { .bytes = NULL };
    char path[PATH_ROOM], url[64];
    FILE *file;
    bool good;

    buffer_text(&b, "{ \"name\": \"bench\", \"start\": [");
    for (uint64_t i = 0; i < site->hosts; i++) {
        bench_site_url(site, i, url);
        buffer_format(&b, "%s\"%s\"", i ? ", " : "", url);
    }
    buffer_text(&b, "],\n  \"pages\": { \"default\": { \"fields\": { "
                    "\"Title\": \"title::text\" } } } }\n");
    process_path(path, "bench.json");
    file = fopen(path, "we");
    good = file && fwrite(b.bytes, 1, b.len, file) == b.len && !b.failed;
    good = file && !fclose(file) && good;
    buffer_clear(&b);
    return good;
}

static bool enqueue(const struct work_options *s, const struct work_run *run)
{
    char template[PATH_ROOM];
    const char *argv[] = { s->seen,           "enqueue", "--queue",
                           run->place->queue, "--delay", run->delay,
                           "--quiet",         template,  NULL };
    double seconds;

    process_path(template, "bench.json");
    if (process_run(argv, "enqueue.out", "enqueue.err", &seconds))
        return true;
    fprintf(stderr, "seen: bench: seen enqueue failed\n");
    process_show("enqueue.err");
    return false;
}

/* --- workers --- */

struct workers {
    pid_t pid[WORK_WORKERS]; /* 0: has ended, and was waited for */
    size_t started, live;
    double cpu, memory;
    bool failed;
};

static void name_of(char name[32], size_t worker, const char *what)
{
    snprintf(name, 32, "worker-%zu.%s", worker, what);
}

static void start_worker(const struct work_options *s,
                         const struct work_run *run, struct workers *w)
{
    char threads[24], own[24], out[32], err[32];
    const char *argv[24] = { s->seen,           "work",
                             "--queue",         run->place->queue,
                             "--frontier",      run->place->frontier,
                             "--allow-private", "--drain",
                             "--json" };
    size_t n = 9;

    if (run->threads) {
        snprintf(threads, sizeof threads, "%llu",
                 (unsigned long long)run->threads);
        argv[n++] = "--threads";
        argv[n++] = threads;
    }
    if (run->own) {
        snprintf(own, sizeof own, "%llu", (unsigned long long)run->own);
        argv[n++] = "--hosts";
        argv[n++] = own;
    }
    name_of(out, w->started, "out");
    name_of(err, w->started, "err");
    w->pid[w->started] = process_start(argv, out, err);
    w->failed |= !w->pid[w->started++];
    w->live++;
}

static void end_worker(struct workers *w, size_t i)
{
    struct process_cost cost;
    char err[32];

    if (!process_wait(&w->pid[i], &cost)) {
        name_of(err, i, "err");
        fprintf(stderr, "seen: bench: worker %zu failed\n", i);
        process_show(err);
        w->failed = true;
    }
    w->live--;
    w->cpu += cost.cpu;
    if (cost.memory > w->memory)
        w->memory = cost.memory;
}

static void reap_workers(struct workers *w)
{
    for (size_t i = 0; i < w->started; i++) {
        siginfo_t ended = { .si_pid = 0 };

        if (w->pid[i] &&
            !waitid(P_PID, (id_t)w->pid[i], &ended,
                    WEXITED | WNOHANG | WNOWAIT) &&
            ended.si_pid)
            end_worker(w, i);
    }
}

/* Attach or detach workers, until `wanted` are at work. */
static void set_workers(const struct work_options *s,
                        const struct work_run *run, struct workers *w,
                        unsigned wanted)
{
    while (w->live < wanted && w->started < WORK_WORKERS && !w->failed)
        start_worker(s, run, w);
    for (size_t i = 0; i < w->started && w->live > wanted; i++)
        if (w->pid[i]) {
            kill(w->pid[i], SIGTERM);
            end_worker(w, i);
        }
}

static bool work(const struct work_options *s, const struct work_run *run,
                 struct workers *w, double *begun)
{
    double began = clock_seconds(), now = began;
    size_t step = 0;

    do {
        if (step < run->steps && now - began >= run->step[step].at) {
            begun[step] = unix_time();
            set_workers(s, run, w, run->step[step++].workers);
        }
        process_sleep(NAP_MS);
        reap_workers(w);
        now = clock_seconds();
    } while (w->live && !w->failed && now - began < RUN_MOST);
    if (step < run->steps && !w->failed) {
        fprintf(stderr, "seen: bench: all was fetched before the last step; "
                        "take more --pages\n");
        return false;
    }
    for (size_t i = 0; i < w->started; i++)
        process_stop(&w->pid[i]);
    if (w->live && !w->failed)
        fprintf(stderr, "seen: bench: workers do not end\n");
    return !w->failed && !w->live;
}

/* --- reports --- */

static bool read_text(const char *name, char text[REPORT])
{
    char path[PATH_ROOM];
    size_t n = 0;
    FILE *file;

    process_path(path, name);
    file = fopen(path, "re");
    if (file) {
        n = fread(text, 1, REPORT - 1, file);
        fclose(file);
    }
    text[n] = '\0';
    return n;
}

/* The number of a field of an object of ours. */
static double number_of(const char *text, const char *field)
{
    char name[64];
    const char *at;

    snprintf(name, sizeof name, "\"%s\": ", field);
    at = strstr(text, name);
    return at ? strtod(at + strlen(name), NULL) : 0;
}

static bool read_reports(size_t workers, struct work_figures *out)
{
    double seconds = 0, in_database = 0, in_queue = 0;
    char name[32], text[REPORT];

    out->links = out->sent = out->commits = 0;
    for (size_t i = 0; i < workers; i++) {
        name_of(name, i, "out");
        if (!read_text(name, text)) {
            fprintf(stderr, "seen: bench: worker %zu left no report\n", i);
            return false;
        }
        out->links += number_of(text, "links");
        out->sent += number_of(text, "asked_links");
        out->commits += number_of(text, "commits");
        seconds += number_of(text, "seconds");
        in_database += number_of(text, "seconds_in_database");
        in_queue += number_of(text, "seconds_in_queue");
    }
    out->in_database = in_database / seconds;
    out->in_queue = in_queue / seconds;
    return true;
}

/* Records on the queue, without the end of the visit. On SQL places those of
   one id are one. */
static bool count_records(const struct work_options *s,
                          const struct work_run *run, struct work_figures *out)
{
    const char *argv[] = { s->seen,           "queue",   "stats",  "--queue",
                           run->place->queue, "pages.0", "--json", NULL };
    char text[REPORT];
    double seconds;

    if (!process_run(argv, "stats.out", "stats.err", &seconds) ||
        !read_text("stats.out", text)) {
        fprintf(stderr, "seen: bench: seen queue stats failed\n");
        process_show("stats.err");
        return false;
    }
    out->records = number_of(text, "ready") - 1;
    return true;
}

/* --- a run --- */

static double cpu_of(pid_t pid)
{
    return pid ? process_cpu(pid) : 0;
}

bool work_run(const struct work_options *s, struct bench_site *site,
              const struct work_servers *servers, const struct work_run *run,
              struct work_figures *out)
{
    const pid_t database = servers->postgres.server.pid;
    const pid_t broker = servers->rabbit.beam;
    double cpu[2] = { cpu_of(database), cpu_of(broker) };
    struct workers w = { .started = 0 };
    double begun[WORK_STEPS];
    char log[PATH_ROOM];
    bool good;

    *out = (struct work_figures){ .seconds = 0 };
    process_path(log, "requests.log");
    unlink(log);
    good = write_template(site) && bench_site_serve(site);
    if (good)
        good = enqueue(s, run) && work(s, run, &w, begun);
    out->database_cpu = cpu_of(database) - cpu[0];
    out->broker_cpu = cpu_of(broker) - cpu[1];
    out->workers_cpu = w.cpu;
    out->memory = w.memory;
    bench_site_end(site);
    return good && read_reports(w.started, out) &&
           count_records(s, run, out) && work_log(site, run, begun, out);
}
