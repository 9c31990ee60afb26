/*
 * lab.h - an experiment: what a paper claims, and what we find.
 *
 * An experiment is one function and one row in its paper's list. It gets
 * sizes, URLs and threads (struct lab) and writes what it finds into a section
 * (section.h), which is printed, written as JSON, or put into the report. It
 * does not print.
 *
 *     static void table_5_9(struct lab *lab, struct section *s) { ... }
 *
 *     const struct experiment thesis[] = {
 *         { "table-5.9", "Table 5.9", "false positives of one filter",
 *           table_5_9 },
 *         { .name = NULL }
 *     };
 *
 * Published numbers are read from data/ (paper_table.h) and ours come from the
 * run: none is typed into a sentence.
 *
 * Threads: an experiment runs in the main thread and gives tasks to others
 * with lab_each().
 */
#ifndef SEEN_LAB_H
#define SEEN_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/filter.h>

#include "section.h"

enum size { QUICK, USUAL, FULL };

struct urls;
struct lab {
    enum size size;
    uint64_t n;    /* as asked for; 0: as the experiment sees fit */
    unsigned runs; /* the same */
    unsigned threads;
    uint64_t seed;
    const struct urls *urls;
    const char *list;   /* the name of the user's list; NULL: made up */
    const char *folder; /* to put files in; empty, and removed afterwards */
};

struct experiment {
    const char *name;  /* as typed: "table-5.9" */
    const char *place; /* in the paper: "Table 5.9" */
    const char *title; /* no full stop */
    void (*run)(struct lab *lab, struct section *s);
};

/* The papers, one folder each, and what is ours; FOLDER/list.c lists the
   experiments, papers.c the papers. */
struct paper {
    const char *name;                    /* "thesis" */
    const char *title;                   /* as cited */
    const struct experiment *experiment; /* ends with a NULL name */
};
extern const struct paper papers[]; /* ends with a NULL name */

/* What was asked for, or one of three by lab->size. */
uint64_t lab_n(const struct lab *lab, uint64_t quick, uint64_t usual,
               uint64_t full);
unsigned lab_runs(const struct lab *lab, unsigned quick, unsigned usual,
                  unsigned full);

/*
 * n, or less if a user's list is too short for `parts` parts of n URLs: what
 * is added and what is asked for must not overlap in one run. Runs may
 * overlap: run r, which uses URLs from r * parts * n on, continues at the
 * beginning of the list.
 */
uint64_t lab_fit(const struct lab *lab, uint64_t n, unsigned parts);

/*
 * Call task(of, i) for all i below `count`, in any order, on lab->threads
 * threads, and show progress. Each task writes its results to its own place
 * in `of`, so that they do not depend on threads. A task that cannot go on
 * calls lab_fail().
 */
void lab_each(struct lab *lab, const char *what, unsigned count,
              void (*task)(void *of, unsigned i), void *of);

/* The same on one thread, with nothing else running: for timing. */
void lab_alone(struct lab *lab, const char *what, unsigned count,
               void (*task)(void *of, unsigned i), void *of);

/*
 * Run an experiment. Returns NULL, or why it could not go on, which belongs to
 * the caller; what it wrote into the section before stays.
 */
char *lab_try(struct lab *lab, const struct experiment *e, struct section *s);

/* End the experiment for this reason, or the program if none is running,
   with "seen: lab: ..." and exit code 2. */
void lab_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* What to do before the program ends that way: clean up. */
void lab_at_failure(void (*then)(void));

/* For calls that fail only for lack of memory or through a bug. */
void lab_must(enum seen_code code, const struct seen_error *why);

/* Zeroed memory for n things of this size; running out of it ends the
   experiment. */
void *lab_memory(uint64_t n, size_t size);

/* Seconds of CPU time of this thread: others may use the machine, too. */
double lab_cpu_clock(void);

/* A whole number for people: 1,247,044,840. The text lives until eight more
   were made. */
const char *lab_count(double n);

/* --- filters, as every experiment needs them --- */

/* An empty filter of a plan; a plan that is refused ends the experiment. */
struct seen_filter *lab_filter(const struct seen_plan *plan);

/*
 * Add URLs [from, to) and return for how many the filter said "seen"; look
 * them up and return the same. `marks`, unless NULL, has a bool per URL.
 */
uint64_t lab_add(struct seen_filter *f, const struct urls *urls, uint64_t from,
                 uint64_t to, bool *marks);
uint64_t lab_ask(const struct seen_filter *f, const struct urls *urls,
                 uint64_t from, uint64_t to, bool *marks);

#endif
