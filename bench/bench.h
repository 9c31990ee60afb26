/*
 * bench.h - speed on this machine, as ratios against peers and its limits.
 *
 * Machines are noisy and shared, so no time must be reached: what is compared
 * was measured in the same run, in alternating slices, and every figure is the
 * median of its slices. Where one thread works at a time, it is CPU time.
 */
#ifndef SEEN_BENCH_H
#define SEEN_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <seen/filter.h>

#include "../lib/disk/clock.h"
#include "../lib/text/option.h"

enum {
    SLICES = 25,   /* of every measurement */
    CHUNK = 256,   /* keys of a call */
    CHUNKS = 64,   /* that are prepared before the clock starts */
    URL_ROOM = 96, /* bytes of a made-up URL, at most */
    MOST_THREADS = 2
};

/* Nanoseconds since some moment. */
static inline double bench_ns(void)
{
    return 1e9 * clock_seconds();
}

/* Nanoseconds of CPU time of this thread, for what a busy machine must not
   change. */
static inline double bench_cpu_ns_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static inline double bench_cpu_ns(void)
{
    return bench_cpu_ns_of(CLOCK_THREAD_CPUTIME_ID);
}

/* The time of the work of all threads: CPU time if there is one, and by the
   clock if there are several, because they wait for each other. */
static inline double bench_work_ns(unsigned threads)
{
    return threads == 1 ? bench_cpu_ns_of(CLOCK_PROCESS_CPUTIME_ID)
                        : bench_ns();
}

/* The median of n numbers, which are sorted on the way. */
double bench_median(double *of, size_t n);

/* Print "name": x, as JSON; null unless x is finite. */
void bench_json(const char *name, double x, const char *after);

/* The name of this machine's CPU, and print how many there are of it. */
const char *bench_cpu(void);
void bench_show_cpu(void);

/*
 * Read the options of `seen bench NAME`. False, with *status what to exit
 * with, after --help (the struct's `help`), which prints `about` and the
 * options, or after a message.
 */
bool bench_options(const struct option *options, const char *name,
                   const char *about, void *into, const bool *help,
                   char **argv, int *status);

/* CHUNK keys that are ready to be used, or the URLs that they come from. */
struct chunk {
    struct seen_key key[CHUNK];
    uint64_t hash[CHUNK]; /* of the same numbers, for peers */
    char text[CHUNK][URL_ROOM];
    struct seen_span url[CHUNK];
    uint64_t number[CHUNK];
    bool answer[CHUNK];
};

/* Write the URL of a number, of 67 bytes, into URL_ROOM bytes; its length. */
size_t bench_url(char *text, uint64_t number);

/* Prepare the keys with numbers from `first` on. */
void chunk_make(struct chunk *c, uint64_t first, bool urls);

/* A filter to be measured: one of ours, or a peer. */
struct contender {
    const char *name;
    const char *(*open)(struct contender *s, const char *kind, uint64_t keys,
                        unsigned threads); /* what is wrong, or NULL */
    void (*add)(struct contender *s, struct chunk *c, bool urls);
    void (*has)(struct contender *s, struct chunk *c, bool urls);
    void (*one)(struct contender *s, struct chunk *c,
                bool urls); /* one key per
                                         call; NULL: has() does that, too */
    bool (*build)(struct contender *s, const char *kind, uint64_t keys,
                  bool urls, unsigned threads, double *ns);
    void (*close)(struct contender *s);
    double (*bits)(const struct contender *s);
    void *state;
};

extern const struct contender contender_ours;
extern const struct contender contender_libbloom;
extern const struct contender contender_plain_fuse;

/* Memory for `size` bytes of lines on huge pages, full of ones, and where
   its lines begin. */
void *limit_buffer(size_t size);
void *limit_lines(void *buffer);

/* ns of one read of a random line among `size` bytes, and of one that writes
   back what it read, with prefetch, in one slice of n. limit_line() reads from
   a buffer of limit_buffer(). */
double limit_read(const unsigned char *at, size_t size, uint64_t n);
double limit_write(const unsigned char *at, size_t size, uint64_t n);
double limit_line(void *buffer, size_t size, uint64_t n);
void limit_free(void *buffer, size_t size);

/* The same in calls: read a byte of the line of each of n hashes, or keys. */
void limit_ask_hashes(const unsigned char *at, size_t size,
                      const uint64_t *hash, size_t n, bool *answer);
void limit_ask_keys(const unsigned char *at, size_t size,
                    const struct seen_key *key, size_t n, bool *answer);

/* ns of XXH3-128 of one made-up URL. */
double limit_hash(void);

/*
 * `blocked` beside RocksDB's filter and libbloom, for each size of batch, with
 * everything that a caller may do: see batches.c. Prints a table, or objects
 * for a JSON array after `between`. False for lack of memory.
 */
bool bench_batches(uint64_t keys, bool json, const char *between);

/* The programs: what `seen bench NAME` runs. argv is what follows NAME. */
int bench_filters(char **argv);
int bench_urls(char **argv);
int bench_typed(char **argv);
int bench_cdx(char **argv);
int bench_text(char **argv);
int bench_serve(char **argv);
int bench_crawl(char **argv);
int bench_frontier(char **argv);
int bench_queue(char **argv);
int bench_work(char **argv);
int bench_aggregate(char **argv);
int bench_remote(char **argv);

#endif
