/*
 * lab.h - an experiment: what a paper claims, and what we find.
 *
 * An experiment is one function and one row in its paper's list. It is given
 * sizes, URLs and threads (struct lab), and puts what it finds into a section
 * (section.h), which is then printed, written as JSON, or becomes a chapter of
 * the report. It does not print.
 *
 *     static void table_5_9(struct lab *lab, struct section *s) { ... }
 *
 *     const struct experiment thesis[] = {
 *         { "table-5.9", "Table 5.9", "false positives of one filter",
 *           table_5_9 },
 *         { .name = NULL }
 *     };
 *
 * Numbers that were published are read from data/ (paper_table.h), ours come
 * from the run: none is typed into a sentence.
 *
 * Threads: an experiment runs in the main thread and hands out work with
 * lab_each().
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
 * n, or the most of which a user's list has `parts` parts: what is added and
 * what is asked for must not overlap in one run. Runs may: run r that takes
 * URLs from r * parts * n on goes round to the beginning of the list.
 */
uint64_t lab_fit(const struct lab *lab, uint64_t n, unsigned parts);

/*
 * Do work(of, i) for all i below `count`, in any order, on lab->threads
 * threads, and show how far it is. Results go to places of their own in
 * `of`, so that they do not depend on threads. A work that cannot go on
 * calls lab_fail().
 */
void lab_each(struct lab *lab, const char *what, unsigned count,
              void (*work)(void *of, unsigned i), void *of);

/* One thread and nothing else running: for what is timed. */
void lab_alone(struct lab *lab, const char *what, unsigned count,
               void (*work)(void *of, unsigned i), void *of);

/*
 * Run an experiment; NULL, or why it could not go on, which belongs to the
 * caller. What it has put into the section by then stays.
 */
char *lab_try(struct lab *lab, const struct experiment *e, struct section *s);

/* End the experiment for this reason, or the program if none is running,
   with "seen: lab: ..." and exit code 2. */
void lab_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* What is done before the program is ended so: put things away. */
void lab_at_failure(void (*then)(void));

/* For calls that can only fail for lack of memory or by our mistake. */
void lab_must(enum seen_code code, const struct seen_error *why);

/* Zeroed memory for n things of this size; running out of it ends the
   experiment. */
void *lab_memory(uint64_t n, size_t size);

/* Seconds of CPU time of this thread: others may use the machine, too. */
double lab_cpu_clock(void);

/* A whole number for people: 1,247,044,840. The text lives until eight more
   were asked for. */
const char *lab_count(double n);

/* --- filters, as every experiment needs them --- */

/* A plan made into an empty filter; a plan that is refused ends the lab. */
struct seen_filter *lab_filter(const struct seen_plan *plan);

/*
 * Add URLs [from, to) and return how many were taken for seen already; ask
 * for them and return how many are taken for seen. `marks`, unless NULL, has
 * a bool for each URL.
 */
uint64_t lab_add(struct seen_filter *f, const struct urls *urls, uint64_t from,
                 uint64_t to, bool *marks);
uint64_t lab_ask(const struct seen_filter *f, const struct urls *urls,
                 uint64_t from, uint64_t to, bool *marks);

/* The same with several filters, that share the work of making URLs; seen[i]
   is what filter i takes for seen. */
void lab_add_all(struct seen_filter *const *f, unsigned count,
                 const struct urls *urls, uint64_t from, uint64_t to,
                 uint64_t *seen);
void lab_ask_all(struct seen_filter *const *f, unsigned count,
                 const struct urls *urls, uint64_t from, uint64_t to,
                 uint64_t *seen);

#endif
