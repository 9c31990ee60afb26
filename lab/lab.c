/*
 * lab.c - what experiments get: sizes, threads, filters.
 *
 * Threads take tasks from a counter, so fast threads do more of them. Every
 * task writes to its own place, so the results are the same with any number of
 * threads. Keys are made and passed to the filter 256 at a time: their texts,
 * 16 kB, stay in the first cache.
 */
#include "lab.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../lib/disk/clock.h"
#include "../lib/text/number.h"
#include "progress.h"
#include "urls.h"

/* --- sizes --- */

uint64_t lab_n(const struct lab *lab, uint64_t quick, uint64_t usual,
               uint64_t full)
{
    if (lab->n)
        return lab->n;
    return lab->size == QUICK ? quick : lab->size == FULL ? full : usual;
}

unsigned lab_runs(const struct lab *lab, unsigned quick, unsigned usual,
                  unsigned full)
{
    if (lab->runs)
        return lab->runs;
    return lab->size == QUICK ? quick : lab->size == FULL ? full : usual;
}

uint64_t lab_fit(const struct lab *lab, uint64_t n, unsigned parts)
{
    uint64_t most = urls_count(lab->urls) / parts;

    if (!most)
        lab_fail("the list has too few URLs, %llu: this experiment takes %u",
                 (unsigned long long)urls_count(lab->urls), parts);
    return n < most ? n : most;
}

double lab_cpu_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *lab_count(double n)
{
    return show_count((uint64_t)(n + 0.5));
}

/* --- what cannot go on --- */

struct crew {
    void (*task)(void *of, unsigned i);
    void *of;
    unsigned next, count;
    unsigned done, present;
    char *failed;         /* why, if one of them could not go on */
    pthread_mutex_t lock; /* for the last three */
    pthread_cond_t change;
};

static __thread struct crew *crew; /* of this thread */
static jmp_buf rescue;             /* where the main thread goes on */
static __thread bool rescued;      /* this is the one */
static char *reason;
static void (*at_failure)(void);

void lab_at_failure(void (*then)(void))
{
    at_failure = then;
}

/* An experiment that cannot go on leaks its memory: its owners are gone. */
char *lab_try(struct lab *lab, const struct experiment *e, struct section *s)
{
    char *why = NULL;

    if (setjmp(rescue)) {
        why = reason;
        reason = NULL;
    } else {
        rescued = true;
        e->run(lab, s);
    }
    rescued = false;
    return why;
}

/* The first thread of a crew to fail gives the reason; the others find no
   more tasks. */
static void leave(struct crew *c, char *why) __attribute__((noreturn));

static void leave(struct crew *c, char *why)
{
    __atomic_store_n(&c->next, c->count, __ATOMIC_RELAXED);
    pthread_mutex_lock(&c->lock);
    if (c->failed)
        free(why);
    else
        c->failed = why;
    c->present--;
    pthread_cond_signal(&c->change);
    pthread_mutex_unlock(&c->lock);
    pthread_exit(NULL);
}

/* A thread outside of experiments ends the program. Other threads may still
   run: hence no exit(), whose handlers would run beside them. */
void lab_fail(const char *format, ...)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    char *why = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&why, format, args) < 0)
        why = NULL;
    va_end(args);
    if (why && crew)
        leave(crew, why);
    if (why && rescued) {
        reason = why;
        longjmp(rescue, 1);
    }
    pthread_mutex_lock(
        &once); /* never unlocked: the first message is the cause */
    fflush(stdout);
    lab_progress_clear();
    fprintf(stderr, "seen: lab: %s\n", why ? why : "no memory");
    if (at_failure)
        at_failure();
    _exit(2);
}

void lab_must(enum seen_code code, const struct seen_error *why)
{
    if (code != SEEN_OK)
        lab_fail("%s", why->text);
}

void *lab_memory(uint64_t n, size_t size)
{
    void *p = n <= SIZE_MAX / size ? calloc((size_t)n + !n, size) : NULL;

    if (!p)
        lab_fail("no memory for another %.0f MB",
                 (double)n * (double)size / 1e6);
    return p;
}

/* --- threads --- */

static void *serve(void *argument)
{
    struct crew *c = crew = argument;
    unsigned i;

    while ((i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED)) <
           c->count) {
        c->task(c->of, i);
        pthread_mutex_lock(&c->lock);
        c->done++;
        pthread_mutex_unlock(&c->lock);
    }
    pthread_mutex_lock(&c->lock);
    c->present--;
    pthread_cond_signal(&c->change);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Show progress until all threads have ended. */
static void watch(struct crew *c, const char *what)
{
    double begin = clock_seconds();

    pthread_mutex_lock(&c->lock);
    while (c->present) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200 * 1000 * 1000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&c->change, &c->lock, &until);
        lab_progress_show(what, c->done, c->count, begin);
    }
    pthread_mutex_unlock(&c->lock);
}

void lab_each(struct lab *lab, const char *what, unsigned count,
              void (*task)(void *of, unsigned i), void *of)
{
    struct crew c = { .task = task, .of = of, .count = count };
    unsigned threads = lab->threads < count ? lab->threads : count, n = 0;
    pthread_t *thread = lab_memory(threads, sizeof *thread);

    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.change, NULL);
    c.present = threads;
    for (; n < threads; n++) {
        int error = pthread_create(&thread[n], NULL, serve, &c);

        if (error && !n)
            lab_fail("no thread could be started: %s", strerror(error));
        if (error) { /* the threads that run do all tasks */
            pthread_mutex_lock(&c.lock);
            c.present -= threads - n;
            pthread_mutex_unlock(&c.lock);
            break;
        }
    }
    watch(&c, what);
    while (n)
        pthread_join(thread[--n], NULL);
    pthread_cond_destroy(&c.change);
    pthread_mutex_destroy(&c.lock);
    free(thread);
    if (c.failed) {
        char why[512];

        snprintf(why, sizeof why, "%s", c.failed);
        free(c.failed);
        lab_fail("%s", why);
    }
}

void lab_alone(struct lab *lab, const char *what, unsigned count,
               void (*task)(void *of, unsigned i), void *of)
{
    double begin = clock_seconds();

    (void)lab;
    for (unsigned i = 0; i < count; i++) {
        task(of, i);
        lab_progress_show(what, i + 1, count, begin);
    }
}

/* --- filters --- */

struct seen_filter *lab_filter(const struct seen_plan *plan)
{
    struct seen_filter *f;
    struct seen_error why;

    if (seen_filter_new(&f, plan, &why) != SEEN_OK)
        lab_fail("%s: %s", plan->kind, why.text);
    return f;
}

enum { BATCH = 256 };

/* Keys, and the answers about them. */
struct lab_batch {
    struct seen_key key[BATCH];
    bool answer[BATCH];
    char text[BATCH * URL_MOST]; /* only what URLs need is touched */
};

/* Add URLs to one filter, or else look them up in the other, and count the
   answers "seen". */
static uint64_t go_through(struct seen_filter *add,
                           const struct seen_filter *ask,
                           const struct urls *urls, uint64_t from, uint64_t to,
                           bool *marks)
{
    struct lab_batch *b = lab_memory(1, sizeof *b);
    struct seen_error why;
    uint64_t seen = 0;

    for (size_t n; from < to; from += n) {
        n = to - from < BATCH ? (size_t)(to - from) : BATCH;
        urls_keys(urls, from, n, b->key, b->text);
        lab_must(add ? seen_filter_add(add, b->key, n, b->answer, &why)
                     : seen_filter_has(ask, b->key, n, b->answer, &why),
                 &why);
        for (size_t i = 0; i < n; i++) {
            b->answer[i] ^= add != NULL; /* adding reports what is new */
            seen += b->answer[i];
        }
        if (marks) {
            memcpy(marks, b->answer, n);
            marks += n;
        }
    }
    free(b);
    return seen;
}

uint64_t lab_add(struct seen_filter *f, const struct urls *urls, uint64_t from,
                 uint64_t to, bool *marks)
{
    return go_through(f, NULL, urls, from, to, marks);
}

uint64_t lab_ask(const struct seen_filter *f, const struct urls *urls,
                 uint64_t from, uint64_t to, bool *marks)
{
    return go_through(NULL, f, urls, from, to, marks);
}
