/*
 * trial.c - many Bloom filters over the same URLs, hashed once.
 *
 * Table 5.9 has 48 filters with 3 to 10 probes each: 312 hashes per URL, but
 * only ten different ones, since salt j of a seed does not depend on k or M.
 * So those are computed once and kept, and every filter takes its first k of
 * them. A run of a million URLs takes 2.3 seconds of one core; when every
 * filter hashed for itself it took 13.
 *
 * What is kept is the hash; the bits are those of "bloom:jenkins" with the
 * same seed, one by one. To keep that true, every trial gives one of its
 * filters to the library as well, and ends if the two disagree on one URL.
 */
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../byhand.h"
#include "../urls.h"
#include "crawled.h"
#include "thesis.h"

/* --- hashes that are computed once --- */

struct salted {
    uint32_t *hash; /* of URL i with salt j at [i * k + j] */
    uint64_t n;
    unsigned k;
};

static void salted_fill(struct salted *s, const struct urls *urls,
                        uint64_t from, uint64_t seed)
{
    uint64_t salt[64], hash[64];
    uint32_t *to = s->hash;
    char url[URL_MOST];
    struct seen_error why;
    struct seen_hash *h;

    lab_must(seen_hash_new(&h, "jenkins", &why), &why);
    for (unsigned j = 0; j < s->k; j++)
        salt[j] = byhand_salt(seed, j);
    for (uint64_t i = 0; i < s->n; i++) {
        size_t len = urls_get(urls, from + i, url);

        seen_hash_text(h, url, len, salt, s->k, hash, NULL);
        for (unsigned j = 0; j < s->k; j++)
            *to++ = (uint32_t)(hash[j] >> 32);
    }
    seen_hash_free(h);
}

uint64_t shape_bits(const struct thesis_shape *c, uint64_t n)
{
    return (uint64_t)ceil((double)n * c->k * c->M);
}

/* --- a run --- */

/* The URLs of a cell that all filters so far called seen. */
struct survivors {
    uint32_t *url;
    size_t n;
    bool all; /* before the first filter */
};

struct trial_pass {
    const struct trial *t;
    const struct urls *urls;
    uint64_t from, seed; /* of the first filter */
    struct salted added, asked;
    struct byhand bits;
    uint32_t *order;
    bool *mark;
    struct survivors *left;
    uint64_t *lost, *curve;
};

/* The seed of a filter: no two runs or filters of a trial share one, but
   trials do, and so have the same filters. */
static uint64_t seed_of(const struct lab *lab, const struct trial *t,
                        unsigned run, unsigned filter)
{
    return seen_mix(lab->seed + UINT64_C(0x9e3779b97f4a7c15) *
                                    ((uint64_t)run * t->filters + filter + 1));
}

static void keep_marked(struct trial_pass *r, struct survivors *left)
{
    size_t n = 0, all = left->all ? r->t->n : left->n;

    if (left->all) {
        size_t marked = 0;

        for (size_t i = 0; i < all; i++)
            marked += r->mark[i];
        left->url = lab_memory(marked, sizeof *left->url);
    }
    for (size_t i = 0; i < all; i++) {
        uint32_t url = left->all ? (uint32_t)i : left->url[i];

        if (r->mark[url])
            left->url[n++] = url;
    }
    left->n = n;
    left->all = false;
}

/* Add n URLs and ask for those others that are still left. */
static void fill_and_ask(struct trial_pass *r, struct survivors *left)
{
    const struct trial *t = r->t;
    const unsigned width = r->added.k;

    for (uint64_t i = 0; i < t->n; i++)
        byhand_add_hashes(&r->bits, r->added.hash + i * width);
    for (uint64_t i = 0, all = left->all ? t->n : left->n; i < all; i++) {
        uint64_t url = left->all ? i : left->url[i];

        r->mark[url] = byhand_has_hashes(&r->bits,
                                         r->asked.hash + url * width);
    }
    keep_marked(r, left);
}

/* Ask for each URL, then add it, in the order of this filter. */
static void crawl(struct trial_pass *r, struct survivors *left)
{
    const struct trial *t = r->t;

    for (uint64_t i = 0; i < t->n; i++) {
        uint64_t url = t->shuffled ? r->order[i] : i;
        const uint32_t *hash = r->added.hash + url * r->added.k;

        r->mark[url] = byhand_has_hashes(&r->bits, hash);
        if (!r->mark[url])
            byhand_add_hashes(&r->bits, hash);
    }
    keep_marked(r, left);
}

static void shuffle(uint32_t *order, uint64_t n, uint64_t seed)
{
    for (uint64_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (uint64_t i = n; i-- > 1;) {
        uint64_t j = seen_mix(seed + i) % (i + 1);
        uint32_t swap = order[i];

        order[i] = order[j];
        order[j] = swap;
    }
}

/* Does the library agree on the first filter of the first cell? */
static void compare(struct trial_pass *r)
{
    const struct trial *t = r->t;
    struct seen_plan plan = { .kind = "bloom:jenkins",
                              .capacity = t->n,
                              .probes = t->cell[0].k,
                              .multiplier = t->cell[0].M,
                              .seed = r->seed,
                              .over = true };
    struct seen_filter *f = lab_filter(&plan);
    bool *mark = lab_memory(t->n, sizeof *mark), same;

    lab_add(f, r->urls, r->from, r->from + t->n, t->crawl ? mark : NULL);
    if (!t->crawl)
        lab_ask(f, r->urls, r->from + t->n, r->from + 2 * t->n, mark);
    same = seen_filter_plan(f)->bits == r->bits.m &&
           !memcmp(mark, r->mark, t->n);
    free(mark);
    seen_filter_free(f);
    if (!same)
        lab_fail("the filters of the thesis and bloom:jenkins of the library "
                 "differ, which is a bug");
}

static void one_filter(struct trial_pass *r, unsigned f, uint64_t seed,
                       bool check)
{
    const struct trial *t = r->t;

    salted_fill(&r->added, r->urls, r->from, seed);
    if (!t->crawl)
        salted_fill(&r->asked, r->urls, r->from + t->n, seed);
    if (t->shuffled)
        shuffle(r->order, t->n, seed);
    for (size_t c = 0; c < t->cells; c++) {
        struct survivors *left = &r->left[c];
        uint64_t *curve = r->curve + (c * t->filters + f) * t->buckets;

        r->bits.k = t->cell[c].k;
        r->bits.m = shape_bits(&t->cell[c], t->n);
        memset(r->bits.word, 0, (r->bits.m / 64 + 1) * 8);
        if (t->crawl)
            crawl(r, left);
        else
            fill_and_ask(r, left);
        r->lost[c * t->filters + f] = left->n;
        for (size_t i = 0; i < left->n && t->buckets; i++)
            curve[(uint64_t)left->url[i] * t->buckets / t->n]++;
        if (check && c == 0 && f == 0 && !t->shuffled)
            compare(r);
    }
}

struct trial_job {
    struct lab *lab;
    struct trial *t;
    uint64_t *lost, *curve; /* of each run */
};

static void one_run(void *of, unsigned i)
{
    const struct trial_job *job = of;
    const struct trial *t = job->t;
    const uint64_t urls = t->crawl ? t->n : 2 * t->n;
    uint64_t most = 0, counts = t->cells * t->filters;
    unsigned k = 0;
    struct trial_pass r = { .t = t, .urls = job->lab->urls };

    for (size_t c = 0; c < t->cells; c++) {
        k = t->cell[c].k > k ? t->cell[c].k : k;
        most = (uint64_t)fmax((double)most,
                              (double)shape_bits(&t->cell[c], t->n));
    }
    r.from = i * urls;
    r.seed = seed_of(job->lab, t, i, 0);
    r.added = (struct salted){ lab_memory(t->n * k, 4), t->n, k };
    if (!t->crawl)
        r.asked = (struct salted){ lab_memory(t->n * k, 4), t->n, k };
    if (t->shuffled)
        r.order = lab_memory(t->n, sizeof *r.order);
    r.bits.word = lab_memory(most / 64 + 1, 8);
    r.mark = lab_memory(t->n, sizeof *r.mark);
    r.left = lab_memory(t->cells, sizeof *r.left);
    r.lost = job->lost + i * counts;
    r.curve = job->curve + i * counts * t->buckets;
    for (size_t c = 0; c < t->cells; c++)
        r.left[c].all = true;
    for (unsigned f = 0; f < t->filters; f++)
        one_filter(&r, f, seed_of(job->lab, t, i, f), i == 0);
    for (size_t c = 0; c < t->cells; c++)
        free(r.left[c].url);
    free(r.left);
    free(r.mark);
    free(r.bits.word);
    free(r.order);
    free(r.asked.hash);
    free(r.added.hash);
}

void trial_run(struct lab *lab, struct trial *t)
{
    const size_t counts = t->cells * t->filters;
    struct trial_job job = { .lab = lab, .t = t };

    for (size_t c = 0; c < t->cells; c++)
        if (shape_bits(&t->cell[c], t->n) > UINT32_MAX || t->n > UINT32_MAX)
            lab_fail("%s URLs are too many: a hash of 32 bits reaches 2^32 "
                     "bits only",
                     lab_count((double)t->n));
    t->lost = lab_memory(counts, sizeof *t->lost);
    t->curve = lab_memory(counts * t->buckets, sizeof *t->curve);
    job.lost = lab_memory(counts * t->runs, sizeof *job.lost);
    job.curve = lab_memory(counts * t->buckets * t->runs, sizeof *job.curve);
    lab_each(lab, t->what, t->runs, one_run, &job);
    for (unsigned r = 0; r < t->runs; r++) {
        for (size_t i = 0; i < counts; i++)
            t->lost[i] += job.lost[r * counts + i];
        for (size_t i = 0; i < counts * t->buckets; i++)
            t->curve[i] += job.curve[r * counts * t->buckets + i];
    }
    free(job.curve);
    free(job.lost);
}

void trial_clear(struct trial *t)
{
    free(t->lost);
    free(t->curve);
    t->lost = t->curve = NULL;
}

/* --- what was measured, and what theory says --- */

double trial_share(const struct trial *t, size_t cell, unsigned filters)
{
    return (double)t->lost[cell * t->filters + filters - 1] /
           ((double)t->n * t->runs);
}

double trial_curve(const struct trial *t, size_t cell, unsigned filters,
                   unsigned b)
{
    size_t at = cell * t->filters + filters - 1;
    uint64_t begin = (b * t->n + t->buckets - 1) / t->buckets;
    uint64_t end = ((b + 1) * t->n + t->buckets - 1) / t->buckets;

    return (double)t->curve[at * t->buckets + b] /
           ((double)(end - begin) * t->runs);
}

static double theory(const struct trial *t, double n, size_t cell,
                     unsigned filters)
{
    double k = t->cell[cell].k, m = n * k * t->cell[cell].M;

    if (!t->crawl)
        return pow(theory_rate(n, m, k), filters);
    if (t->shuffled)
        return pow(theory_incremental(n, m, k, 1, 1), filters);
    return theory_incremental(n, m, k, filters, 1);
}

double trial_theory(const struct trial *t, size_t cell, unsigned filters)
{
    return theory(t, (double)t->n, cell, filters);
}

double trial_their_theory(const struct trial *t, size_t cell, unsigned filters)
{
    return theory(t, thesis_says("urls"), cell, filters);
}

/*
 * Full filters of one plan differ in how many bits are set, by `spread` of
 * their rate; of a product of f rates that is sqrt(f) p^(f-1) times as much.
 * Crawls are another matter.
 */
struct band trial_band(const struct trial *t, double n, double runs,
                       size_t cell, unsigned filters)
{
    double k = t->cell[cell].k, M = t->cell[cell].M;
    double one = theory_rate(n, n * k * M, k), p = pow(one, filters);
    double spread = theory_spread(n, n * k * M, k);

    if (t->crawl)
        return crawled_band(k, M, filters, t->shuffled, n, runs);
    return band_share(p, n * runs, sqrt(filters) * p / one * spread, runs);
}

/* Enough digits to show a share in percent to 1 in 1000. */
static int digits(double percent)
{
    return (int)fmin(9, fmax(2, 2 - floor(log10(percent))));
}

struct finding finding_of_share(double should_be, double measured,
                                double trials, double spread, double filters)
{
    struct band b = band_share(should_be, trials, spread, filters);

    return band_percent(should_be, b, measured, digits(100 * should_be));
}

struct finding finding_of_promise(double planned, double measured,
                                  double trials, double spread, double filters)
{
    struct finding f = finding_of_share(planned, measured, trials, spread,
                                        filters);

    f.bound = true;
    return f;
}

void trial_finding(const struct trial *t, size_t cell, unsigned filters,
                   double published, double step, struct finding *f)
{
    double theory = trial_theory(t, cell, filters);
    struct band us = trial_band(t, (double)t->n, t->runs, cell, filters);
    struct band them = trial_band(t, thesis_says("urls"), thesis_says("runs"),
                                  cell, filters);

    *f = band_percent(theory, us, trial_share(t, cell, filters),
                      digits(100 * theory));
    f->published = published;
    f->step = step;
    if (!isnan(published)) {
        f->their_low = 100 * them.low;
        f->their_high = 100 * them.high;
    }
}

/*
 * q of the m cells have one value of 2^32 more than the others. A cell of
 * chance c stays clear of kn probes with chance e^(-knc), and is hit by a
 * probe with chance c.
 */
double narrow_bias(uint64_t n, uint64_t m, unsigned k)
{
    double all = ldexp(1, 32), few = floor(all / (double)m);
    double q = all - few * (double)m, probes = (double)n * k;
    double even = -expm1(-probes / (double)m);
    double hit = q * (few + 1) / all * -expm1(-probes * (few + 1) / all) +
                 ((double)m - q) * few / all * -expm1(-probes * few / all);

    return pow(hit / even, k) - 1;
}
