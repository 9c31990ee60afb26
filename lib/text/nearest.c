/* nearest.c - what was meant? */
#include "nearest.h"

#include <string.h>

/*
 * Levenshtein's distance, where two letters that changed places count as one
 * mistake: "chekc" is a single slip from "check".
 */
static unsigned distance(const char *a, const char *b)
{
    enum { LONG = 32 };
    unsigned row[3][LONG + 1];
    size_t n = strlen(a), m = strlen(b);

    if (n > LONG || m > LONG)
        return LONG;
    for (size_t j = 0; j <= m; j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *now = row[i % 3];
        const unsigned *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

        now[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);

            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *nearest(const char *typed, const char *const *word)
{
    const char *best = NULL;
    unsigned least = 3;

    for (; *word; word++) {
        size_t len = strlen(*word);
        unsigned d = distance(typed, *word);

        if (!strncmp(typed, *word, strlen(typed)) && strlen(typed) > 1)
            d = 1; /* an abbreviation */
        if (d < least && d < len) {
            least = d;
            best = *word;
        }
    }
    return best;
}
