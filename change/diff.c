/*
 * diff.c - Myers' greedy algorithm.
 *
 * reach[k] is the furthest place in `old` on the diagonal k = x - y after d
 * changes. Each round is kept, so that the way back can be found: d + 1
 * numbers for round d, half a million in all at most.
 */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

struct diff {
    const uint32_t *old, *now;
    int32_t m, n;
    int32_t *kept[CHANGE_DIFF_MOST + 1]; /* per round: diagonals -d, -d + 2,
                                            ... d */
};

static int32_t reach(const struct diff *x, int32_t d, int32_t k)
{
    return x->kept[d][(k + d) / 2];
}

/* From round d - 1: is the step to diagonal k an insertion? */
static bool inserts(const struct diff *x, int32_t d, int32_t k)
{
    return k == -d ||
           (k != d && reach(x, d - 1, k - 1) < reach(x, d - 1, k + 1));
}

/* The number of rounds, or -1: too many, -2: no memory. */
static int32_t forward(struct diff *x)
{
    for (int32_t d = 0; d <= CHANGE_DIFF_MOST; d++) {
        x->kept[d] = malloc(((size_t)d + 1) * sizeof **x->kept);
        if (!x->kept[d])
            return -2;
        for (int32_t k = -d; k <= d; k += 2) {
            int32_t a = 0, b;

            if (d)
                a = inserts(x, d, k) ? reach(x, d - 1, k + 1)
                                     : reach(x, d - 1, k - 1) + 1;
            b = a - k;
            while (a < x->m && b < x->n && b >= 0 && x->old[a] == x->now[b])
                a++, b++;
            x->kept[d][(k + d) / 2] = a;
            if (a >= x->m && b >= x->n)
                return d;
        }
    }
    return -1;
}

static void backward(const struct diff *x, int32_t d, bool *fresh,
                     uint32_t *gone)
{
    int32_t k = x->m - x->n;

    for (; d > 0; d--) {
        bool insertion = inserts(x, d, k);
        int32_t from = insertion ? k + 1 : k - 1;
        int32_t a = reach(x, d - 1, from), b = a - from;

        if (insertion)
            fresh[b] = true;
        else
            gone[b]++;
        k = from;
    }
}

bool change_diff(const uint32_t *old, size_t m, const uint32_t *now, size_t n,
                 bool *fresh, uint32_t *gone, bool *cut)
{
    struct diff *x = calloc(1, sizeof *x);
    size_t head = 0, tail = 0;
    int32_t rounds;

    memset(fresh, 0, n * sizeof *fresh);
    memset(gone, 0, (n + 1) * sizeof *gone);
    *cut = false;
    if (!x || m > INT32_MAX / 2 || n > INT32_MAX / 2) {
        free(x);
        return false;
    }
    while (head < m && head < n && old[head] == now[head])
        head++;
    while (tail < m - head && tail < n - head &&
           old[m - 1 - tail] == now[n - 1 - tail])
        tail++;
    x->old = old + head;
    x->now = now + head;
    x->m = (int32_t)(m - head - tail);
    x->n = (int32_t)(n - head - tail);
    rounds = forward(x);
    if (rounds >= 0)
        backward(x, rounds, fresh + head, gone + head);
    if (rounds == -1) {
        *cut = true;
        memset(fresh + head, 1, n - head - tail);
        gone[head] = (uint32_t)(m - head - tail);
    }
    for (int i = 0; i <= CHANGE_DIFF_MOST; i++)
        free(x->kept[i]);
    free(x);
    return rounds != -2;
}
