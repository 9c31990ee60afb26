/*
 * main.c - seen-lab: do the papers' claims hold?
 *
 *     $ seen lab                          list the experiments
 *     $ seen lab table-5.9                run one and print what it finds
 *     $ seen lab thesis                   all of one paper
 *     $ seen lab all --report DIR         all, as a page with figures
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/disk/clock.h"
#include "../lib/disk/walk.h"
#include "../lib/text/nearest.h"
#include "../lib/text/number.h"
#include "../lib/text/option.h"
#include "content.h"
#include "print.h"
#include "progress.h"
#include "report.h"
#include "urls.h"

struct lab_options {
    uint64_t runs, n, seed, threads;
    bool quick, full, json, help;
    const char *urls, *report;
};

/* --- options --- */

static const struct option options[] = {
#define AT(name) offsetof(struct lab_options, name)
    { "quick", 0, FLAG, NULL, AT(quick),
      "small sizes: all experiments in ten minutes" },
    { "full", 0, FLAG, NULL, AT(full), "the papers' sizes: hours" },
    { "n", 0, COUNT, "N", AT(n), "URLs of a filter, whatever the experiment" },
    { "runs", 0, COUNT, "N", AT(runs), "repetitions, which are averaged" },
    { "seed", 0, SEED, "N", AT(seed),
      "other seeds make other URLs and other filters; default 1" },
    { "threads", 0, COUNT, "N", AT(threads), "at once; default: one per CPU" },
    { "urls", 0, PATH, "FILE", AT(urls),
      "URLs of this file, in any format that build reads, or CSV" },
    { "json", 'j', FLAG, NULL, AT(json), "print JSON" },
    { "report", 0, PATH, "DIR", AT(report),
      "write DIR/index.html, with figures and tables" },
    { "help", 'h', FLAG, NULL, AT(help), "print this" },
    { .name = NULL },
#undef AT
};

static void usage(void)
{
    puts(
        "Usage: seen lab [NAME | PAPER | all]... [OPTION]...\n"
        "\n"
        "Repeats published experiments on filters of URLs. For each number it "
        "prints\nwhat was published, what theory says and what is measured, "
        "and whether the\nmeasurement agrees with theory (or keeps its "
        "bound) and with what was published.\nWithout a name it lists the "
        "experiments.\n"
        "\n"
        "Options:");
    option_print(stdout, options);
    puts("\nExit code: 0 all measurements agree with theory or keep their "
         "bound, 1 some do\nnot, 2 trouble.");
}

static int complain(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static int complain(const char *format, ...)
{
    va_list args;

    fflush(stdout);
    fputs("seen: lab: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    putc('\n', stderr);
    return 2;
}

/* Operands are moved to the front of argv, and ended by NULL. */
static bool read_options(struct lab_options *set, char **argv)
{
    char wrong[OPTION_WRONG];

    if (!option_read_all(options, "seen lab", set, argv, wrong))
        return complain("%s", wrong) == 0;
    if (set->quick && set->full)
        return complain("--quick and --full: which of them?") == 0;
    if (set->runs > 1000000 || set->threads > 1024)
        return complain("--%s: %s are too many",
                        set->threads > 1024 ? "threads" : "runs",
                        show_count(set->threads > 1024 ? set->threads
                                                       : set->runs)) == 0;
    return true;
}

/* --- which experiments --- */

struct chosen {
    const struct paper *paper;
    const struct experiment *experiment;
};

static void list(void)
{
    bool first = true;
    char head[512];

    for (const struct paper *p = papers; p->name; p++) {
        if (!p->experiment->name)
            continue;
        snprintf(head, sizeof head, "%s: %s", p->name, p->title);
        fputs(first ? "" : "\n", stdout);
        print_text(stdout, head, 0);
        first = false;
        for (const struct experiment *e = p->experiment; e->name; e++) {
            printf("  %-20s ", e->name);
            snprintf(head, sizeof head, "%s: %s", e->place, e->title);
            print_text(stdout, head, 23);
        }
    }
}

enum { MOST = 512 };

static const char *nearest_name(const char *typed)
{
    const char *word[MOST + 1] = { "all" };
    int n = 1;

    for (const struct paper *p = papers; p->name; p++) {
        word[n++] = p->name;
        for (const struct experiment *e = p->experiment; e->name; e++)
            if (n < MOST)
                word[n++] = e->name;
    }
    return nearest(typed, word);
}

/* Does the name mean this experiment? */
static bool means(const char *name, const struct paper *p,
                  const struct experiment *e)
{
    return !strcmp(name, "all") || !strcmp(name, p->name) ||
           !strcmp(name, e->name);
}

/* The named experiments, each once, in the order of the list; false if a name
   is unknown. */
static bool choose(char **name, struct chosen *chosen, unsigned *count)
{
    for (char **n = name; *n; n++) {
        bool known = !strcmp(*n, "all");
        const char *like;

        for (const struct paper *p = papers; p->name && !known; p++) {
            known = !strcmp(*n, p->name);
            for (const struct experiment *e = p->experiment; e->name; e++)
                known |= means(*n, p, e);
        }
        if (known)
            continue;
        like = nearest_name(*n);
        if (like)
            complain("%s: no such experiment; did you mean %s?", *n, like);
        else
            complain("%s: no such experiment; seen lab lists them", *n);
        return false;
    }
    for (const struct paper *p = papers; p->name; p++)
        for (const struct experiment *e = p->experiment; e->name; e++)
            for (char **n = name; *n && *count < MOST; n++)
                if (means(*n, p, e)) {
                    chosen[(*count)++] = (struct chosen){ p, e };
                    break;
                }
    return true;
}

/* --- a folder for files --- */

static char folder[PATH_MAX];

static void remove_folder(void)
{
    if (*folder)
        walk_remove(folder);
}

static bool make_folder(void)
{
    const char *tmp = getenv("TMPDIR");

    if (snprintf(folder, sizeof folder, "%s/seen-lab-XXXXXX",
                 tmp && *tmp ? tmp : "/tmp") >= (int)sizeof folder ||
        !mkdtemp(folder)) {
        complain("%s: %s", folder, strerror(errno));
        *folder = '\0';
        return false;
    }
    lab_at_failure(remove_folder);
    return true;
}

/* Signals that end us are handled in a thread of their own, so that removing
   the folder may use any function. */
static void *wait_for_end(void *argument)
{
    int got;

    sigwait(argument, &got);
    remove_folder();
    _exit(128 + got);
}

static void catch_signals(void)
{
    static sigset_t ends;
    pthread_t thread;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    if (pthread_create(&thread, NULL, wait_for_end, &ends))
        pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
    else
        pthread_detach(thread);
}

/* --- running them --- */

static void report_urls(const struct lab_options *set, const struct urls *u)
{
    if (!set->urls || (!urls_repeated(u) && !urls_bad(u)))
        return;
    fprintf(stderr, "seen: lab: %s: %s URL%s; left out: %s repeated, %s bad\n",
            set->urls, show_count(urls_count(u)),
            urls_count(u) == 1 ? "" : "s", show_count(urls_repeated(u)),
            show_count(urls_bad(u)));
}

static bool open_urls(struct urls **u, const struct lab_options *set)
{
    struct seen_error why;

    if ((set->urls ? urls_load(u, set->urls, &why)
                   : urls_new(u, set->seed, &why)) == SEEN_OK) {
        report_urls(set, *u);
        return true;
    }
    complain("%s: %s", set->urls ? set->urls : "URLs", why.text);
    return false;
}

static bool left_behind; /* an experiment that failed leaks memory */
static int output_error; /* errno of the first time that stdout failed */

static void flush_output(void)
{
    if (fflush(stdout) && !output_error)
        output_error = errno;
}

/* Run all that are chosen; the exit code. */
static int run(struct lab *lab, const struct lab_options *set,
               const struct chosen *chosen, unsigned count)
{
    struct report *report = NULL;
    int code = 0;

    if (set->report && !(report = report_open(set->report, lab, count)))
        return 2;
    if (set->json)
        print_json_begin(stdout, lab);
    for (unsigned i = 0; i < count; i++) {
        struct section *s = section_new(chosen[i].paper, chosen[i].experiment);
        double begin = clock_seconds();
        char *why;

        lab_progress_experiment(chosen[i].experiment->name, i + 1, count);
        why = lab_try(lab, chosen[i].experiment, s);
        s->seconds = clock_seconds() - begin;
        lab_progress_clear();
        if (!walk_remove(folder) || mkdir(folder, 0700))
            complain("%s: %s", folder, strerror(errno));
        if (why) {
            section_text(s, "Not done: %s.", why);
            complain("%s: %s", chosen[i].experiment->name, why);
            free(why);
            code = 2;
            left_behind = true;
        }
        if ((section_count(s, THEORY, DIFFERS) ||
             section_count(s, BOUND, DIFFERS)) &&
            code < 1)
            code = 1;
        if (set->json)
            print_json_section(stdout, s);
        else
            print_section(stdout, s);
        flush_output();
        if (report && !report_add(report, s))
            code = 2;
        if (!report)
            section_free(s);
    }
    if (set->json)
        print_json_end(stdout);
    flush_output();
    if (report && !report_close(report))
        code = 2;
    return code;
}

int main(int argc, char **argv)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct lab_options set = { .seed = 1 };
    struct lab lab = { .folder = folder };
    static struct chosen chosen[MOST];
    struct urls *urls;
    unsigned count = 0;
    int code;

    if (argc < 1 || !read_options(&set, argv + 1))
        return 2;
    if (set.help) {
        usage();
        return 0;
    }
    if (!argv[1]) {
        if (set.json)
            print_json_list(stdout);
        else
            list();
        flush_output();
        return output_error && output_error != EPIPE
                   ? complain("standard output: %s", strerror(output_error))
                   : 0;
    }
    if (!choose(argv + 1, chosen, &count))
        return 2;
    lab.size = set.quick ? QUICK : set.full ? FULL : USUAL;
    lab.n = set.n;
    lab.runs = (unsigned)set.runs;
    lab.seed = set.seed;
    lab.threads = (unsigned)(set.threads ? set.threads
                             : cores > 0 ? (uint64_t)cores
                                         : 1);
    catch_signals();
    if (!open_urls(&urls, &set))
        return 2;
    lab.urls = urls;
    lab.list = set.urls;
    if (!make_folder())
        return 2;
    code = run(&lab, &set, chosen, count);
    remove_folder();
    urls_free(urls);
    if (output_error && output_error != EPIPE)
        code = complain("standard output: %s", strerror(output_error));
    if (left_behind)
        _exit(code); /* without a look for leaks */
    return code;
}
