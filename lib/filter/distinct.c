/* distinct.c - HyperLogLog with Ertl's estimator. */
#include "distinct.h"

#include <math.h>

enum { LONGEST = 64 - 16 + 1 };         /* run, of 48 bits that are 0 */

void distinct_merge(struct distinct *d, const struct distinct *from)
{
    for (int i = 0; i < REGISTERS; i++)
        if (from->longest[i] > d->longest[i])
            d->longest[i] = from->longest[i];
}

/* Equation 11 of [2]: what the registers that are still empty add. */
static double sigma(double x)
{
    double sum = x, last, power = 1;

    if (x == 1)
        return INFINITY;
    do {
        x *= x;
        last = sum;
        sum += x * power;
        power += power;
    } while (sum != last);
    return sum;
}

/* Equation 15: what those that can grow no longer add. */
static double tau(double x)
{
    double sum = 1 - x, last, power = 1;

    if (x == 0 || x == 1)
        return 0;
    do {
        x = sqrt(x);
        last = sum;
        power /= 2;
        sum -= (1 - x) * (1 - x) * power;
    } while (sum != last);
    return sum / 3;
}

double distinct_estimate(const struct distinct *d)
{
    const double m = REGISTERS;
    unsigned count[LONGEST + 1] = { 0 };
    double z;

    for (int i = 0; i < REGISTERS; i++)
        count[d->longest[i]]++;
    z = m * tau(1 - count[LONGEST] / m);
    for (int i = LONGEST - 1; i > 0; i--)
        z = (z + count[i]) / 2;
    z += m * sigma(count[0] / m);
    return m / (2 * log(2)) * m / z;
}

uint64_t distinct_capacity(const struct distinct *d)
{
    double n = ceil(distinct_estimate(d) * 1.02);

    return n < 1 ? 1 : n < 0x1p63 ? (uint64_t)n : UINT64_C(1) << 63;
}
