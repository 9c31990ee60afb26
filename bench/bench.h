/*
 * bench.h - speed on this machine, as ratios against peers and its limits.
 *
 * Machines are noisy and shared, so no time must be reached: what is compared
 * was measured in the same run, in alternating slices, and every figure is the
 * median of its slices.
 */
#ifndef SEEN_BENCH_H
#define SEEN_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <seen/filter.h>

#include "../lib/disk/clock.h"
#include "../lib/text/option.h"

enum {
    SLICES = 25,   /* of every measurement */
    CHUNK = 256,   /* keys prepared at a time, outside the clock */
    URL_ROOM = 96, /* bytes of a made-up URL, at most */
    MOST_THREADS = 2
};

/* Nanoseconds since some moment. */
static inline double bench_ns(void)
{
    return 1e9 * clock_seconds();
}

/* The median of n numbers, which are sorted on the way. */
double bench_median(double *of, size_t n);

/* Print "name": x, as JSON; null unless x is finite. */
void bench_json(const char *name, double x, const char *after);

/* Print how many CPUs there are, and of which kind. */
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
    char url[CHUNK][URL_ROOM];
    size_t len[CHUNK];
    uint64_t number[CHUNK];
    bool answer[CHUNK];
};

/* Prepare the keys with numbers from `first` on. */
void chunk_make(struct chunk *c, uint64_t first, bool urls);

/* A filter to be measured: one of ours, or a peer. */
struct contender {
    const char *name;
    const char *(*open)(struct contender *s, const char *kind, uint64_t keys,
                        unsigned threads); /* what is wrong, or NULL */
    void (*add)(struct contender *s, struct chunk *c, bool urls);
    void (*has)(struct contender *s, struct chunk *c, bool urls);
    bool (*build)(struct contender *s, const char *kind, uint64_t keys,
                  bool urls, unsigned threads, double *ns);
    void (*close)(struct contender *s);
    double (*bits)(const struct contender *s);
    void *state;
};

extern const struct contender contender_ours;
extern const struct contender contender_libbloom;

/* ns of one read of a random line among `size` bytes on huge pages, with
   prefetch, in one slice of n reads from a buffer of limit_buffer(). */
void *limit_buffer(size_t size);
double limit_line(const void *buffer, size_t size, uint64_t n);
void limit_free(void *buffer, size_t size);

/* ns of XXH3-128 of one made-up URL. */
double limit_hash(void);

/* The programs: what `seen bench NAME` runs. argv is what follows NAME. */
int bench_filters(char **argv);
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
