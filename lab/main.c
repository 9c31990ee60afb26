/*
 * main.c - seen-lab: do the papers' claims hold?
 *
 *     $ seen lab                          list the experiments
 *     $ seen lab table-5.9                run one and print what it finds
 *     $ seen lab thesis                   all of one paper
 *     $ seen lab all --report DIR         all, as a page with figures
 */
#define _XOPEN_SOURCE 700 /* mkdtemp, nftw */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/disk/clock.h"
#include "../lib/text/nearest.h"
#include "../lib/text/number.h"
#include "content.h"
#include "print.h"
#include "progress.h"
#include "report.h"
#include "urls.h"

struct settings {
    uint64_t runs, n, seed, threads;
    bool quick, full, json, help;
    const char *urls, *report;
};

/* --- options --- */

struct option {
    const char *name, *arg, *help;
    const char *(*read)(const char *text, uint64_t *number);
    size_t at; /* in the settings */
};

static const struct option options[] = {
#define AT(name) offsetof(struct settings, name)
    { "quick", NULL, "small sizes: all experiments in ten minutes", NULL,
      AT(quick) },
    { "full", NULL, "the papers' sizes: hours", NULL, AT(full) },
    { "n", "N", "URLs of a filter, whatever the experiment", number_count,
      AT(n) },
    { "runs", "N", "repetitions, which are averaged", number_count, AT(runs) },
    { "seed", "N", "other seeds make other URLs and other filters; default 1",
      number_seed, AT(seed) },
    { "threads", "N", "at once; default: one a core", number_count,
      AT(threads) },
    { "urls", "FILE", "take the URLs of this list, one a line", NULL,
      AT(urls) },
    { "json", NULL, "print JSON", NULL, AT(json) },
    { "report", "DIR", "write DIR/index.html, with figures and tables", NULL,
      AT(report) },
    { "help", NULL, "print this", NULL, AT(help) },
#undef AT
};
enum { OPTIONS = sizeof options / sizeof *options };

static void usage(void)
{
    puts("Usage: seen lab [NAME | PAPER | all]... [OPTION]...\n"
         "\n"
         "Repeats what was published about filters of URLs, and tells of each "
         "number\nwhat theory says, what is measured, and whether they agree. "
         "Without a name it\nlists the experiments.\n"
         "\n"
         "Options:");
    for (int i = 0; i < OPTIONS; i++) {
        char left[32];

        snprintf(left, sizeof left, "--%s %s", options[i].name,
                 options[i].arg ? options[i].arg : "");
        printf("  %-16s %s\n", left, options[i].help);
    }
    puts("\nExit code: 0 what is measured lies where theory says, 1 some of "
         "it does not,\n2 trouble.");
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

static const struct option *find_option(const char *name, size_t len)
{
    const char *word[OPTIONS + 1] = { NULL }, *like;
    char typed[64];

    for (int i = 0; i < OPTIONS; i++) {
        word[i] = options[i].name;
        if (strlen(word[i]) == len && !strncmp(word[i], name, len))
            return &options[i];
    }
    snprintf(typed, sizeof typed, "%.*s", (int)len, name);
    like = nearest(typed, word);
    if (like)
        complain("--%s: no such option; did you mean --%s?", typed, like);
    else
        complain("--%s: no such option; see seen lab --help", typed);
    return NULL;
}

/* Put the value of an option into its place; false if it is wrong. */
static bool store(const struct option *o, struct settings *set,
                  const char *value)
{
    char *at = (char *)set + o->at;
    const char *wrong;

    if (!o->arg) {
        *(bool *)at = true;
        return true;
    }
    if (!o->read) {
        *(const char **)(void *)at = value;
        return *value || complain("--%s: '' is no name", o->name) == 0;
    }
    wrong = o->read(value, (uint64_t *)(void *)at);
    if (wrong)
        complain("--%s: %s %s", o->name, *value ? value : "''", wrong);
    return !wrong;
}

/* Fill the settings; operands are moved to the front of argv, and ended by
   NULL. */
static bool read_options(struct settings *set, char **argv)
{
    char **to = argv;
    bool ended = false;

    for (; *argv; argv++) {
        const char *name = *argv + 2, *equals;
        const struct option *o;

        if (ended || strncmp(*argv, "--", 2)) {
            *to++ = *argv;
            continue;
        }
        if (!*name) {
            ended = true;
            continue;
        }
        equals = strchr(name, '=');
        o = find_option(name, equals ? (size_t)(equals - name) : strlen(name));
        if (!o)
            return false;
        if (!o->arg && equals)
            return complain("--%s: takes no value", o->name) == 0;
        if (o->arg && !equals && !*++argv)
            return complain("--%s: %s is missing", o->name, o->arg) == 0;
        if (!store(o, set, equals ? equals + 1 : *argv))
            return false;
    }
    *to = NULL;
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

/* Those that are named, each once, in the order of the list; false if a name
   means none. */
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

/* --- a folder to put files in --- */

static char folder[PATH_MAX];

static int remove_one(const char *path, const struct stat *st, int what,
                      struct FTW *where)
{
    (void)st;
    (void)what;
    return where->level ? remove(path) : 0;
}

/* Leave it empty. */
static void empty_folder(void)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void)
{
    if (!*folder)
        return;
    empty_folder();
    rmdir(folder);
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

/* Signals that end us come here, to a thread of their own, so that putting
   the folder away may use any function. */
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

static void tell_urls(const struct settings *set, const struct urls *u)
{
    if (!set->urls || (!urls_repeated(u) && !urls_bad(u)))
        return;
    fprintf(stderr,
            "seen: lab: %s: %s URLs; %s lines that came again and %s that are "
            "empty or too long were left out\n",
            set->urls, show_count(urls_count(u)), show_count(urls_repeated(u)),
            show_count(urls_bad(u)));
}

static bool open_urls(struct urls **u, const struct settings *set)
{
    struct seen_error why;

    if ((set->urls ? urls_load(u, set->urls, &why)
                   : urls_new(u, set->seed, &why)) == SEEN_OK) {
        tell_urls(set, *u);
        return true;
    }
    complain("%s: %s", set->urls ? set->urls : "URLs", why.text);
    return false;
}

static bool left_behind; /* memory, by an experiment that could not go on */

/* Run all that are chosen; the exit code. */
static int run(struct lab *lab, const struct settings *set,
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

        progress_experiment(chosen[i].experiment->name, i + 1, count);
        why = lab_try(lab, chosen[i].experiment, s);
        s->seconds = clock_seconds() - begin;
        progress_clear();
        empty_folder();
        if (why) {
            section_text(s, "Not done: %s.", why);
            complain("%s: %s", chosen[i].experiment->name, why);
            free(why);
            code = 2;
            left_behind = true;
        }
        if (section_count(s, DIFFERS) && code < 1)
            code = 1;
        if (set->json)
            print_json_section(stdout, s);
        else
            print_section(stdout, s);
        fflush(stdout);
        if (report && !report_add(report, s))
            code = 2;
        if (!report)
            section_free(s);
    }
    if (set->json)
        print_json_end(stdout);
    if (report && !report_close(report))
        code = 2;
    return code;
}

int main(int argc, char **argv)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct settings set = { .seed = 1 };
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
        list();
        return 0;
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
    if (fflush(stdout) || ferror(stdout))
        code = errno == EPIPE
                   ? code
                   : complain("standard output: %s", strerror(errno));
    if (left_behind)
        _exit(code); /* nobody can tell whose it is: no leak to look for */
    return code;
}
