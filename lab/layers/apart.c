/* apart.c - a Bloom filter and a set of segments per layer. */
#include "apart.h"

#include <seen/url.h>

#include "../band.h"
#include "../lab.h"

void apart_init(struct apart *a, unsigned layers, uint64_t n,
                const uint64_t *bits, unsigned probes, uint64_t seed)
{
    *a = (struct apart){ .layers = layers };
    for (unsigned i = 0; i < layers; i++) {
        uint64_t most = bits[i] / probes + 1; /* else no plan has a rate */
        struct seen_plan plan = { .kind = "bloom",
                                  .profile = "raw",
                                  .capacity = n < most ? n : most,
                                  .bits = bits[i],
                                  .probes = probes,
                                  .seed = seen_mix(seed + i),
                                  .over = true };

        a->layer[i] = lab_filter(&plan);
        a->known[i].way = HASHED;
    }
}

void apart_clear(struct apart *a)
{
    for (unsigned i = 0; i < a->layers; i++) {
        seen_filter_free(a->layer[i]);
        exact_clear(&a->known[i]);
    }
    a->layers = 0;
}

/* The keys of the segments of a URL; how many there are. */
static unsigned cut(const struct apart *a, const char *url, size_t len,
                    struct seen_key key[SEEN_LAYERS])
{
    size_t end[SEEN_LAYERS], from = 0;
    unsigned n = seen_url_segments(url, len, end, a->layers);

    for (unsigned i = 0; i < n; i++) {
        seen_key_hash(&key[i], url + from, end[i] - from);
        from = end[i] + 1;
    }
    return n;
}

void apart_add(struct apart *a, const char *url, size_t len)
{
    struct seen_key key[SEEN_LAYERS];
    struct seen_error why;
    unsigned n = cut(a, url, len, key);

    a->urls++;
    a->lone += n == 1;
    for (unsigned i = 0; i < n; i++) {
        lab_must(seen_filter_add(a->layer[i], &key[i], 1, NULL, &why), &why);
        exact_add_key(&a->known[i], &key[i]);
    }
}

bool apart_has(const struct apart *a, const char *url, size_t len)
{
    struct seen_key key[SEEN_LAYERS];
    struct seen_error why;
    unsigned n = cut(a, url, len, key);
    bool seen = true;

    for (unsigned i = 0; i < n && seen; i++)
        lab_must(seen_filter_has(a->layer[i], &key[i], 1, &seen, &why), &why);
    return seen;
}

void apart_settle(struct apart *a)
{
    for (unsigned i = 0; i < a->layers; i++) {
        const struct seen_plan *p = seen_filter_plan(a->layer[i]);

        a->rate[i] = theory_rate((double)a->known[i].n, (double)p->bits,
                                 p->probes);
    }
}

double apart_chance(const struct apart *a, const char *url, size_t len)
{
    struct seen_key key[SEEN_LAYERS];
    unsigned n = cut(a, url, len, key);
    double chance = 1;

    for (unsigned i = 0; i < n; i++)
        if (!exact_has_key(&a->known[i], &key[i]))
            chance *= a->rate[i];
    return chance;
}

/*
 * The XOR of one segment, as a home page has, is the segment: its probe x is
 * reduced to a bit of the first layer, of m1 bits, and to one of the XOR's m.
 * Another URL of one segment that meets the first bit mostly meets the other
 * as well, so the two do not hold back independently. With a = 1/m1, b = 1/m
 * the widths of these cells on the unit interval, w the part that they share,
 * u URLs in all, s different first segments, and v URLs of one segment,
 *
 *     P(both are set) = 1 - e^(-k s a) - e^(-k u b)
 *                         + e^(-k ((s - v) a + (u - v) b + v (a + b - w)))
 *
 * The smaller cell lies within the larger one, w = min(a, b), unless it is
 * cut by an end of it. That happens to one in max(a, b) / min(a, b), never
 * if that is a whole number, and leaves two thirds on average.
 */
static double lone_tied(const struct apart *a, double m)
{
    const struct seen_plan *p = seen_filter_plan(a->layer[0]);
    double first = (double)p->bits, k = p->probes;
    double few = fmin(first, m), many = fmax(first, m);
    double shared = (fmod(many, few) > 0 ? 1 - few / many / 3 : 1) / many;
    double s = (double)a->known[0].n, u = (double)a->urls;
    double v = (double)a->lone;
    double neither = (s - v) / first + (u - v) / m +
                     v * (1 / first + 1 / m - shared);

    return pow(1 - exp(-k * s / first) - exp(-k * u / m) + exp(-k * neither),
               k);
}

double apart_tied(const struct apart *a, const char *url, size_t len, double m)
{
    struct seen_key key[SEEN_LAYERS];
    unsigned n = cut(a, url, len, key);
    double k = seen_filter_plan(a->layer[0])->probes;

    if (n == 1 && !exact_has_key(&a->known[0], &key[0]))
        return lone_tied(a, m);
    return apart_chance(a, url, len) * theory_rate((double)a->urls, m, k);
}

double apart_spread(const struct apart *a)
{
    double sum = 0;

    for (unsigned i = 0; i < a->layers; i++) {
        const struct seen_plan *p = seen_filter_plan(a->layer[i]);
        double n = (double)a->known[i].n;

        if (a->rate[i] > 0)
            sum += theory_spread(n, (double)p->bits, p->probes) / a->rate[i];
    }
    return sum;
}
