/* thesis.c - sizes, numbers of the text, a clock, memory. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "thesis.h"

#include <stdlib.h>
#include <time.h>

#include "../published.h"
#include "../urls.h"

uint64_t thesis_n(const struct lab *lab, uint64_t quick, uint64_t usual,
                  uint64_t full)
{
    uint64_t n = lab_fit(lab, lab_n(lab, quick, usual, full), 2);

    if (n < 100)
        lab_fail("%llu URLs are too few to see anything: give 200 or more",
                 (unsigned long long)(2 * n));
    return n;
}

void thesis_sizes(const struct lab *lab, struct sheet *s, uint64_t n,
                  unsigned runs)
{
    bool again = urls_count(lab->urls) / 2 / n < runs;

    sheet_text(s,
               "Here: n = %llu URLs, %u run%s with seeds%s of %s own%s. The "
               "thesis: n = %.0f, %.0f runs.",
               (unsigned long long)n, runs, runs == 1 ? "" : "s",
               again ? "" : " and URLs", runs == 1 ? "its" : "their",
               again ? ", over the same list again and again" : "",
               thesis_says("urls"), thesis_says("runs"));
}

double thesis_says(const char *name)
{
    return published_value(published("thesis-text"), name);
}

double thesis_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void *thesis_memory(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);

    if (!p)
        lab_fail("no memory for another %zu MB", n * size / 1000000);
    return p;
}
