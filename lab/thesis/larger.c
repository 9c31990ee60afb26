/*
 * larger.c - a larger k or a larger M, in the cache and out of it?
 *
 * The thesis concludes from its times that it is better to enlarge M than k,
 * because each hash function takes time. A filter that hashes a URL once has
 * no such cost, but every probe of a filter that is larger than the cache is
 * a line of memory to wait for. So one filter is made, then one with twice the
 * k, then one with twice the M. The last two have the same memory, and k twice
 * as many probes.
 *
 *     k = 5, M = 2     10 bits per URL     5 probes to add
 *     k = 10, M = 2    20                 10
 *     k = 5, M = 4     20                  5
 *
 * Keys are numbers, so no text is hashed here. Rounds alternate between the
 * filters, and what is concluded exceeds their noise (noise.h).
 */
#include "larger.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../band.h"
#include "../noise.h"
#include "trial.h"

enum { BASE, MORE_K, MORE_M, SHAPES };
enum { SMALL, LARGE, SIZES };
enum { ADDING, HELD, ABSENT, WHATS };
enum { ROUNDS = 10, BATCH = 256 };

static const struct thesis_shape shape[SHAPES] = { { 5, 2.0 },
                                                   { 10, 2.0 },
                                                   { 5, 4.0 } };
static const char *const what_name[WHATS] = { "add", "ask, present",
                                              "ask, absent" };

struct larger {
    struct lab *lab;
    uint64_t n[SIZES], timed;
    struct seen_filter *f[SHAPES]; /* of the size that is measured */
    struct seen_key *key;          /* of a round: `timed` of each sort */
    double ns[SIZES][SHAPES][WHATS][ROUNDS];
};

static struct seen_key key_of(uint64_t i)
{
    return (struct seen_key){ .lo = seen_mix(2 * i),
                              .hi = seen_mix(2 * i + 1),
                              .text = "" };
}

static void fill(struct larger *l, unsigned size, unsigned which)
{
    struct seen_plan plan = { .kind = "bloom",
                              .profile = "raw",
                              .capacity = l->n[size],
                              .probes = shape[which].k,
                              .multiplier = shape[which].M,
                              .seed = l->lab->seed,
                              .over = true };
    struct seen_key key[BATCH];
    struct seen_error why;

    l->f[which] = lab_filter(&plan);
    for (uint64_t i = 0, some; i < l->n[size]; i += some) {
        some = l->n[size] - i < BATCH ? l->n[size] - i : BATCH;
        for (uint64_t j = 0; j < some; j++)
            key[j] = key_of(i + j);
        lab_must(seen_filter_add(l->f[which], key, (size_t)some, NULL, &why),
                 &why);
    }
}

/* One after the other: a crawler waits for each answer. Nanoseconds each. */
static double time_keys(struct seen_filter *f, const struct seen_key *key,
                        uint64_t n, bool adding)
{
    double begin = lab_cpu_clock();
    struct seen_error why;
    bool seen;

    for (uint64_t i = 0; i < n; i++)
        lab_must(adding ? seen_filter_add(f, &key[i], 1, &seen, &why)
                        : seen_filter_has(f, &key[i], 1, &seen, &why),
                 &why);
    return 1e9 * (lab_cpu_clock() - begin) / (double)n;
}

/* Present keys from all over the filter, keys that nobody adds, and new ones:
   other ones each round. */
static void take_keys(struct larger *l, unsigned size, unsigned round)
{
    for (uint64_t i = 0; i < l->timed; i++) {
        uint64_t at = round * l->timed + i;

        l->key[i] = key_of(l->n[size] + at);
        l->key[l->timed + i] = key_of(seen_mix(at) % l->n[size]);
        l->key[2 * l->timed + i] = key_of((UINT64_C(1) << 40) + at);
    }
}

static void measure(void *of, unsigned size)
{
    struct larger *l = of;

    for (unsigned i = 0; i < SHAPES; i++)
        fill(l, size, i);
    for (unsigned round = 0; round < ROUNDS; round++) {
        take_keys(l, size, round);
        for (unsigned i = 0; i < SHAPES; i++)
            for (int what = WHATS; what-- > 0;) /* adding is the last */
                l->ns[size][i][what][round] = time_keys(
                    l->f[i], l->key + (unsigned)what * l->timed, l->timed,
                    what == ADDING);
    }
    for (unsigned i = 0; i < SHAPES; i++)
        seen_filter_free(l->f[i]);
}

/* --- what was found --- */

static struct noisy time_of(const struct larger *l, unsigned size,
                            unsigned which, int what)
{
    return noise_times(l->ns[size][which][what], ROUNDS);
}

/* -1: the larger M is cheaper; 1: the larger k; 0: the noise decides. */
static int cheaper(const struct larger *l, unsigned size, int what)
{
    struct noisy M = time_of(l, size, MORE_M, what);
    struct noisy k = time_of(l, size, MORE_K, what);

    return noise_compare(&M, &k);
}

static double megabytes(const struct larger *l, unsigned size, unsigned which)
{
    return (double)shape_bits(&shape[which], l->n[size]) / 8e6;
}

static void put(const struct larger *l, struct section *s)
{
    struct table *t = section_table(
        s, "larger-k-or-M",
        "Nanoseconds per URL, one by one, of a bloom that hashes once: k = "
        "%u, M = %.0f; the same with k = %u; the same with M = %.0f",
        shape[BASE].k, shape[BASE].M, shape[MORE_K].k, shape[MORE_M].M);

    table_columns(t, "URLs", "MB", "with twice k or M", "what", "as it is",
                  "twice k", "twice M", "cheaper", NULL);
    for (unsigned size = 0; size < SIZES; size++)
        for (int what = 0; what < WHATS; what++) {
            int which = cheaper(l, size, what);

            table_number(t, (double)l->n[size], 0);
            table_number(t, megabytes(l, size, BASE), 1);
            table_number(t, megabytes(l, size, MORE_M), 1);
            table_text(t, "%s", what_name[what]);
            for (unsigned i = 0; i < SHAPES; i++)
                table_number(t, time_of(l, size, i, what).value, 1);
            table_text(t, "%s", which < 0 ? "M" : which > 0 ? "k" : "-");
        }
}

/* "adding and asking for present ones", or "nothing". */
static void list(const struct larger *l, unsigned size, int which, char *to,
                 size_t room)
{
    size_t used = 0;

    snprintf(to, room, "none of the three");
    for (int what = 0; what < WHATS; what++)
        if (cheaper(l, size, what) == which)
            used += (size_t)snprintf(to + used, room - used, "%s\"%s\"",
                                     used ? ", " : "", what_name[what]);
}

static void describe_caches(char *to, size_t room)
{
    long two = sysconf(_SC_LEVEL2_CACHE_SIZE);
    long three = sysconf(_SC_LEVEL3_CACHE_SIZE);

    *to = '\0';
    if (two > 0 && three > 0)
        snprintf(to, room,
                 " (caches of this machine: %.1f MB per CPU, %.0f MB shared)",
                 (double)two / 1e6, (double)three / 1e6);
}

/* Where a filter of this many bytes is, if the system knows its caches. */
static const char *place(double bytes)
{
    long two = sysconf(_SC_LEVEL2_CACHE_SIZE);
    long three = sysconf(_SC_LEVEL3_CACHE_SIZE);

    return three > 0 && bytes > (double)three ? "out of the cache"
           : two > 0 && bytes > (double)two   ? "out of a CPU's own cache"
                                              : "in a filter of this size";
}

static void conclude(const struct larger *l, struct section *s)
{
    const char *where = place(1e6 * megabytes(l, LARGE, MORE_M));
    char M[2][128], k[128], caches[96];
    double rate[SHAPES];

    for (unsigned size = 0; size < SIZES; size++)
        list(l, size, -1, M[size], sizeof M[size]);
    list(l, LARGE, 1, k, sizeof k);
    describe_caches(caches, sizeof caches);
    for (unsigned i = 0; i < SHAPES; i++)
        rate[i] = theory_rate(1, shape[i].k * shape[i].M, shape[i].k);
    section_text(
        s,
        "A larger M or a larger k? The thesis advises the former, to save "
        "hashing; ours hashes once, whatever k is. In a filter of %.0f MB%s "
        "the larger M is cheaper for %s, the larger k for %s; in one of %.1f "
        "MB the larger M is cheaper for %s. Where neither is named there is " NO_DIFFERENCE
        ".",
        megabytes(l, LARGE, MORE_M), caches, M[LARGE], k,
        megabytes(l, SMALL, MORE_M), M[SMALL]);
    if (cheaper(l, LARGE, ADDING) < 0) {
        section_text(s,
                     "So the thesis is right %s, for another reason than its "
                     "own: each probe is a line of memory to wait for.",
                     where);
        section_headline(
            s,
            "A larger M is cheaper than a larger k %s, as the thesis says, "
            "though for another reason: adding takes %.0f ns with twice the M "
            "and %.0f ns with twice the k, in %.0f MB.",
            where, time_of(l, LARGE, MORE_M, ADDING).value,
            time_of(l, LARGE, MORE_K, ADDING).value,
            megabytes(l, LARGE, MORE_M));
    } else {
        section_text(s, "So these runs do not confirm the thesis.");
    }
    section_text(
        s,
        "It is cheaper in time only: in the same memory k = %u errs for %.3f "
        "%% of URLs by theory and M = %.0f for %.3f %%.",
        shape[MORE_K].k, 100 * rate[MORE_K], shape[MORE_M].M,
        100 * rate[MORE_M]);
}

void larger_k_or_M(struct lab *lab, struct section *s)
{
    struct larger l = { .lab = lab };

    /* A small list of one's own, or a small --n, is for a quick look. */
    l.n[LARGE] = lab->n ? 16 * lab->n
                        : lab_n(lab, 12000000, 60000000, 400000000);
    l.n[SMALL] = l.n[LARGE] < 3200000 ? l.n[LARGE] / 16 : 200000;
    l.timed = l.n[SMALL] / 20 + 1;
    l.key = lab_memory(WHATS * l.timed, sizeof *l.key);
    lab_alone(lab, "a larger k or a larger M", SIZES, measure, &l);
    put(&l, s);
    conclude(&l, s);
    free(l.key);
}
