/*
 * zipf.c - URLs that come again, and what that does to a counter.
 *
 * A stream draws URLs by Zipf's law or all alike. What a counter then holds
 * is the sum of the counts of those keys that have it among their k of m. By
 * thinning, keys of count c meet it as a Poisson number of mean
 *
 *     l(c) = (k/m) (number of keys of count c)
 *
 * so its value X is compound Poisson, with chances by Panjer's recursion [1]:
 *
 *     P(X = 0) = e^-(sum of l)     P(X = x) = 1/x  sum of c l(c) P(X = x - c)
 *
 * over all c up to x. Where each key comes once that is the Poisson
 * distribution of mean kn/m. Tails are 1 less these sums, so what is below
 * 1e-14 is lost in rounding and set to 0; no filter here has as many
 * counters.
 *
 * [1] H. Panjer: Recursive evaluation of a family of compound distributions.
 *     ASTIN Bulletin 12(1), 1981.
 */
#include "spectral.h"

#include <math.h>
#include <stdlib.h>

void zipf_init(struct zipf *s, const struct lab *lab, uint64_t from,
               uint64_t n, double exponent, uint64_t seed)
{
    double sum = 0;

    *s = (struct zipf){ .n = n, .state = seen_mix(seed) };
    corpus_init(&s->urls, lab->urls, from, (size_t)n);
    s->count = lab_memory(n, sizeof *s->count);
    if (!(exponent > 0))
        return;
    s->upto = lab_memory(n, sizeof *s->upto);
    for (uint64_t i = 0; i < n; i++)
        s->upto[i] = sum += pow((double)(i + 1), -exponent);
}

void zipf_clear(struct zipf *s)
{
    corpus_clear(&s->urls);
    free(s->count);
    free(s->upto);
}

static uint64_t draw(struct zipf *s)
{
    uint64_t low = 0, high = s->n - 1;
    double at;

    s->state += UINT64_C(0x9e3779b97f4a7c15);
    at = ldexp((double)(seen_mix(s->state) >> 11), -53);
    if (!s->upto)
        return (uint64_t)(at * (double)s->n);
    at *= s->upto[s->n - 1];
    while (low < high) { /* the first whose sum is above */
        uint64_t middle = (low + high) / 2;

        if (s->upto[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void zipf_into(struct zipf *s, struct seen_filter *const *f, unsigned filters,
               uint64_t draws)
{
    enum { BATCH = 256 };
    struct seen_key key[BATCH];

    for (uint64_t done = 0, some; done < draws; done += some) {
        some = draws - done < BATCH ? draws - done : BATCH;
        for (uint64_t i = 0; i < some; i++) {
            uint64_t which = draw(s);

            key[i] = s->urls.key[which];
            s->count[which]++;
        }
        for (unsigned i = 0; i < filters; i++)
            keys_add(f[i], key, some);
    }
}

/* A count that occurs, times its l: what a step of the recursion needs. */
struct weight {
    uint64_t count;
    double times;
};

/* Gather the counts up to `top`; *meet is the sum of all l. */
static struct weight *weigh(const uint64_t *count, uint64_t n, double each,
                            uint64_t top, size_t *weights, double *meet)
{
    uint64_t *keys = lab_memory(top + 1, sizeof *keys), have = 0;
    struct weight *w;

    *weights = 0;
    for (uint64_t i = 0; i < n; i++) {
        have += count[i] > 0;
        if (count[i] && count[i] <= top)
            *weights += !keys[count[i]]++;
    }
    w = lab_memory(*weights, sizeof *w);
    *weights = 0;
    for (uint64_t c = 1; c <= top; c++)
        if (keys[c])
            w[(*weights)++] = (struct weight){ c, (double)c * (double)keys[c] *
                                                      each };
    *meet = (double)have * each;
    free(keys);
    return w;
}

void zipf_tail(const uint64_t *count, uint64_t n, double m, double k,
               uint64_t top, double *at_least)
{
    double *chance = lab_memory(top + 1, sizeof *chance), meet;
    size_t weights;
    struct weight *w = weigh(count, n, k / m, top, &weights, &meet);

    chance[0] = exp(-meet);
    for (uint64_t x = 1; x <= top; x++) {
        double sum = 0;

        for (size_t i = 0; i < weights && w[i].count <= x; i++)
            sum += w[i].times * chance[x - w[i].count];
        chance[x] = sum / (double)x;
    }
    at_least[0] = 1;
    at_least[1] = -expm1(-meet);
    for (uint64_t x = 1; x < top; x++)
        at_least[x + 1] = at_least[x] - chance[x];
    for (uint64_t x = 1; x <= top; x++)
        at_least[x] = at_least[x] < 1e-14 ? 0 : at_least[x];
    free(chance);
    free(w);
}
