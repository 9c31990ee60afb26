/*
 * apart.c - a Bloom filter and a set of segments per layer.
 *
 * The formula of the paper assumes independent layers and unknown segments.
 * URLs have neither: most segments of an absent URL are known. So the chance
 * of a yes is computed per URL from what was really added:
 *
 *     segments unknown    the layers say yes             the XOR says yes
 *     none                for certain                    if this XOR is there,
 *                                                        else at its rate
 *     one                 both depend: see both_set()
 *     two or more         the product of the rates       as for none
 *
 * That needs the exact set of segments of each layer, of XORs, and of "XOR
 * without one segment", which finds siblings: as much memory as
 * the URLs themselves take. Only a laboratory can afford it.
 */
#include "apart.h"

#include <seen/url.h>

#include "../band.h"
#include "../lab.h"

void apart_init(struct apart *a, unsigned layers, uint64_t n,
                const uint64_t *bits, unsigned probes, uint64_t seed)
{
    *a = (struct apart){ .layers = layers,
                         .ties.way = HASHED,
                         .rests.way = HASHED };
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
    exact_clear(&a->ties);
    exact_clear(&a->rests);
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

/* The XOR of the positions of segments follows from that of their keys: here
   it is the text of a key of its own. */
struct tie {
    /* XOR, two words; which segment is left out; of how many */
    uint64_t bits[4];
    struct seen_key key;
};

/* Of all segments but number `without`; none is left out if there is no such
   number. */
static void tie_up(struct tie *t, const struct seen_key *key, unsigned n,
                   unsigned without)
{
    *t = (struct tie){ .bits[2] = without < n ? without + 1 : 0 };
    t->bits[3] = without < n ? n : 0;
    for (unsigned i = 0; i < n; i++)
        if (i != without) {
            t->bits[0] ^= key[i].lo;
            t->bits[1] ^= key[i].hi;
        }
    seen_key_hash(&t->key, (const char *)t->bits, sizeof t->bits);
}

void apart_add(struct apart *a, const char *url, size_t len)
{
    struct seen_key key[SEEN_LAYERS];
    struct seen_error why;
    struct tie tie;
    unsigned n = cut(a, url, len, key);

    tie_up(&tie, key, n, n);
    if (exact_add_key(&a->ties, &tie.key))
        for (unsigned i = 0; i < n; i++) {
            tie_up(&tie, key, n, i);
            exact_add_key(&a->rests, &tie.key);
        }
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

/*
 * The chance that a random y meets the bit of x in an array of `first` bits
 * and, with both XORed by the same c, that in one of m bits. There is no
 * formula worth having: it depends on where the ends of cells lie in binary.
 * So x, c and y in the cell of x are tried; 1 in 300 is the noise of that.
 */
static double shared_cells(double first, double m)
{
    enum { TRIED = 100000 };
    const __uint128_t one = (__uint128_t)1 << 64;
    uint64_t cells = (uint64_t)first, ties = (uint64_t)m, same = 0;
    uint64_t width = (uint64_t)(one / cells);

    for (uint64_t i = 0; i < TRIED; i++) {
        uint64_t x = seen_mix(4 * i + 1), c = seen_mix(4 * i + 2), y, at;

        at = (uint64_t)((__uint128_t)x * cells >> 64);
        y = (uint64_t)((at * one + cells - 1) / cells) +
            (uint64_t)((__uint128_t)seen_mix(4 * i + 3) * width >> 64);
        same += (uint64_t)((__uint128_t)(x ^ c) * ties >> 64) ==
                (uint64_t)((__uint128_t)(y ^ c) * ties >> 64);
    }
    return (double)same / TRIED / first;
}

void apart_settle(struct apart *a, double m)
{
    a->tie_bits = m;
    for (unsigned i = 0; i < a->layers; i++) {
        const struct seen_plan *p = seen_filter_plan(a->layer[i]);

        a->rate[i] = theory_rate((double)a->known[i].n, (double)p->bits,
                                 p->probes);
        if (m > 0)
            a->shared[i] = shared_cells((double)p->bits, m);
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
 * Siblings: the layers and the XOR do not hold back independently. If all
 * segments but one are those of a URL that is there, with x and y the probes
 * of the two that differ and c the XOR of the rest, the probes of the XOR are
 * x ^ c and y ^ c. If x meets the bit of y in its layer, the two begin with
 * the same bits; so do x ^ c and y ^ c, which often meet as well. With a and b
 * the widths of a cell in the layer and in the XOR, w the chance that a random
 * y meets both, u different URLs in all, s different segments in the layer,
 * and v siblings,
 *
 *     P(both are set) = 1 - e^(-k s a) - e^(-k u b)
 *                         + e^(-k s a - k u b + v w)
 *
 * since a probe meets its like, number j the j-th, as c is another for each.
 * A URL of one segment, a home page, has c = 0: there every probe may meet
 * every other, v is to be multiplied by k, and w is the part that the two
 * cells share. The smaller one lies within the larger one unless it is cut by
 * an end of it: that happens to one in max(a, b) / min(a, b), never if that is
 * a whole number, and leaves two thirds on average.
 */
static double both_set(const struct apart *a, unsigned layer, double v,
                       bool lone)
{
    const struct seen_plan *p = seen_filter_plan(a->layer[layer]);
    double first = (double)p->bits, k = p->probes, m = a->tie_bits;
    double few = fmin(first, m), many = fmax(first, m);
    double s = (double)a->known[layer].n, u = (double)a->ties.n;
    double met = v * a->shared[layer];

    if (lone)
        met = k * v * (fmod(many, few) > 0 ? 1 - few / many / 3 : 1) / many;
    return pow(1 - exp(-k * s / first) - exp(-k * u / m) +
                   exp(met - k * s / first - k * u / m),
               k);
}

/* How many URLs have these segments but this one. */
static double siblings(const struct apart *a, const struct seen_key *key,
                       unsigned n, unsigned but)
{
    struct tie tie;
    size_t at;

    tie_up(&tie, key, n, but);
    at = exact_number(&a->rests, &tie.key);
    return at < a->rests.n ? a->rests.item[at].count : 0;
}

double apart_tied(const struct apart *a, const char *url, size_t len)
{
    struct seen_key key[SEEN_LAYERS];
    unsigned n = cut(a, url, len, key), unknown = 0, which = 0;
    double k = seen_filter_plan(a->layer[0])->probes;
    struct tie tie;

    for (unsigned i = 0; i < n; i++)
        if (!exact_has_key(&a->known[i], &key[i])) {
            unknown++;
            which = i;
        }
    if (unknown == 1)
        return both_set(a, which, siblings(a, key, n, which), n == 1);
    tie_up(&tie, key, n, n);
    if (exact_has_key(&a->ties, &tie.key))
        return apart_chance(a, url, len);
    return apart_chance(a, url, len) *
           theory_rate((double)a->ties.n, a->tie_bits, k);
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
