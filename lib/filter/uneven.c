/* uneven.c - what hash functions of few bits do to the rate of a filter. */
#include "uneven.h"

#include <math.h>

/* How likely probes hit a set cell: narrow ones, and wide ones. */
struct chance {
    double narrow, wide;
};

static struct chance chance_of(const struct uneven_filter *f, double n)
{
    double values = f->m < f->range ? floor(f->range / f->m) : 0;
    double more = values > 0 ? f->range / f->m - values
                             : 0; /* c(values + 1) */
    struct chance sum = { 0, 0 };

    if (!(values > 0)) { /* the plain formula: such plans are refused */
        sum.wide = -expm1(-n * (f->narrow + f->wide) / f->m);
        sum.narrow = sum.wide;
        return sum;
    }
    for (int i = 0; i < 2; i++) {
        double v = values + i, share = i ? more : 1 - more;
        double set = -expm1(-n * (f->narrow * v / f->range + f->wide / f->m));

        sum.narrow += share * v * f->m / f->range * set;
        sum.wide += share * set;
    }
    return sum;
}

double uneven_rate(const struct uneven_filter *f, double n)
{
    struct chance hit = chance_of(f, n);

    return pow(hit.narrow, f->narrow) * pow(hit.wide, f->wide);
}

/* The load grows with n. A load of nearly 1 tells no number. */
double uneven_keys(const struct uneven_filter *f, double load)
{
    double low = 0, high = 40 * f->m;

    for (int i = 0; i < 100 && high - low > 1e-12 * high; i++) {
        double middle = low + (high - low) / 2;

        if (chance_of(f, middle).wide < load)
            low = middle;
        else
            high = middle;
    }
    return low;
}
