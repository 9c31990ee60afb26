/*
 * bench.h - speed on this machine, as ratios against peers and its limits.
 *
 * Machines are noisy and shared, so nothing here is a time that must be
 * reached: what is compared was measured in the same run, in slices that
 * take turns, and every figure is the median of its slices.
 */
#ifndef SEEN_BENCH_H
#define SEEN_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <seen/filter.h>

enum {
    SLICES = 25,   /* of every measurement */
    CHUNK = 256,   /* keys prepared at a time, outside the clock */
    URL_ROOM = 96, /* bytes of a made-up URL, at most */
    MOST_THREADS = 2
};

/* Nanoseconds since some moment. */
double clock_now(void);

/* The median of n numbers, which are sorted on the way. */
double median(double *of, size_t n);

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
struct subject {
    const char *name;
    const char *(*open)(struct subject *s, const char *kind, uint64_t keys,
                        unsigned threads); /* what is wrong, or NULL */
    void (*add)(struct subject *s, struct chunk *c, bool urls);
    void (*has)(struct subject *s, struct chunk *c, bool urls);
    bool (*build)(struct subject *s, const char *kind, uint64_t keys,
                  bool urls, unsigned threads, double *ns);
    void (*close)(struct subject *s);
    double (*bits)(const struct subject *s);
    void *state;
};

extern const struct subject subject_ours;
extern const struct subject subject_libbloom;

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

#endif
