/*
 * vary.c - how much shares of full counters vary from run to run.
 *
 * The counts of the URLs are known, only where their probes fall is chance:
 * N_c = k n_c balls of weight c, for every count c that occurs, fall into m
 * cells, and X is the weight in a cell. Were the N_c Poisson variables of
 * mean m l_c, cells would be independent, and a sum S of psi(cell) over the
 * cells had the variance m Var psi. That the N_c are fixed takes from it what
 * S and each N_c have in common [1]:
 *
 *     Var S = m (Var psi - sum of Cov(psi, B_c)^2 / l_c)
 *     Cov(psi, B_c) = l_c (E psi with one more c - E psi)
 *
 * where B_c are the balls c of a cell. With G(t) = P(X >= t) and T = 2^W - 1:
 *
 * Stuck counters: psi = [X >= T], so that
 *
 *     Var S / m = G(T) (1 - G(T)) - sum of l_c (G(T - c) - G(T))^2
 *
 * For T = 1 this is the e^-l (1 - (1 + l) e^-l) of bits (band.c).
 *
 * URLs that are found though all was taken back: one of count c is if all its
 * k cells are stuck, with chance g_c^k, g_c = G(T - c). To first order in
 * each of its probes that is a sum over cells again: a probe of it that is
 * stuck counts g_c^(k-1) =: w_c, so psi = [X >= T] * sum of w_c B_c. What
 * else there is to its chance is its own,
 *
 *     g^k (1 - g^k) - k g^(2k-1) (1 - g)
 *
 * and with A_c = sum over d of l_d w_d G(T - c - d)
 *
 *     E psi = sum of l_c w_c g_c
 *     E psi^2 = sum of l_c w_c (w_c g_c + A_c)
 *     E psi with one more c = w_c g_c + A_c
 *
 * URLs that never came have no balls, but are asked for: n_0 k / m of their
 * probes fall into a cell, which adds z = n_0 k w_0 / m to what is in it.
 *
 * [1] L. Holst: Some limit theorems with applications in sampling theory.
 *     Annals of Statistics 1, 1973.
 */
#include "spectral.h"

#include <math.h>
#include <stdlib.h>

struct sort {
    uint64_t count;
    double l, w, g; /* balls a cell; as above */
};

struct cells {
    struct sort *sort;
    size_t sorts;
    double never; /* URLs that never came */
    uint64_t top;
    const double *tail;
};

/* G(T - c); all that is below 1 is certain. */
static double above(const struct cells *c, uint64_t less)
{
    return less < c->top ? c->tail[c->top - less] : 1;
}

/* Gather the counts; those of T and more are all the same. */
static void sort_out(struct cells *c, const struct zipf *s, double m, double k)
{
    double *urls = lab_memory(c->top + 1, sizeof *urls);

    for (uint64_t i = 0; i < s->n; i++)
        urls[s->count[i] < c->top ? s->count[i] : c->top]++;
    c->sorts = 0;
    for (uint64_t x = 1; x <= c->top; x++)
        c->sorts += urls[x] > 0;
    c->sort = lab_memory(c->sorts + 1, sizeof *c->sort);
    c->sorts = 0;
    for (uint64_t x = 1; x <= c->top; x++)
        if (urls[x] > 0) {
            double g = above(c, x);

            c->sort[c->sorts++] = (struct sort){ x, urls[x] * k / m,
                                                 pow(g, k - 1), g };
        }
    c->never = urls[0];
    free(urls);
}

double vary_stuck(const struct zipf *s, double m, double k, uint64_t top,
                  const double *tail)
{
    struct cells c = { .top = top, .tail = tail };
    double p = tail[top], each = p * (1 - p);

    sort_out(&c, s, m, k);
    for (size_t i = 0; i < c.sorts; i++)
        each -= c.sort[i].l * (c.sort[i].g - p) * (c.sort[i].g - p);
    free(c.sort);
    return m * fmax(0, each);
}

/* A_c of every sort. */
static double *together(const struct cells *c)
{
    double *a = lab_memory(c->sorts + 1, sizeof *a);

    for (size_t i = 0; i < c->sorts; i++)
        for (size_t j = 0; j < c->sorts; j++)
            a[i] += c->sort[j].l * c->sort[j].w *
                    above(c, c->sort[i].count + c->sort[j].count);
    return a;
}

double vary_found(const struct zipf *s, double m, double k, uint64_t top,
                  const double *tail)
{
    struct cells c = { .top = top, .tail = tail };
    double p = tail[top], mean = 0, square = 0, own = 0, common = 0, z, *a;

    sort_out(&c, s, m, k);
    a = together(&c);
    z = c.never * k / m * pow(p, k - 1);
    own = c.never * pow(p, k) * (1 - pow(p, k));
    for (size_t i = 0; i < c.sorts; i++) {
        const struct sort *x = &c.sort[i];
        double all = pow(x->g, k);

        mean += x->l * x->w * x->g;
        square += x->l * x->w * (x->w * x->g + a[i] + 2 * z * x->g);
        own += x->l * m / k * (all * (1 - all) - k * x->w * all * (1 - x->g));
    }
    mean += z * p;
    square += z * z * p;
    for (size_t i = 0; i < c.sorts; i++) {
        const struct sort *x = &c.sort[i];
        double more = x->w * x->g + a[i] + z * x->g - mean;

        common += x->l * more * more;
    }
    free(a);
    free(c.sort);
    return fmax(0, own + m * (square - mean * mean - common));
}
