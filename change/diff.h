/*
 * diff.h - which words of a sequence are not in another one, in order.
 *
 *     change_diff(old, m, now, n, fresh, &removed);
 *     for (size_t i = 0; i < n; i++)
 *         if (fresh[i]) printf("word %zu is new\n", i);
 *
 * E. Myers: An O(ND) difference algorithm and its variations. Algorithmica 1,
 * 1986: a shortest way from old to new by insertions and removals. Equal words
 * at both ends are skipped first, which leaves little of most changes.
 *
 * Threads: a plain function of its arguments.
 */
#ifndef SEEN_CHANGE_DIFF_H
#define SEEN_CHANGE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHANGE_DIFF_MOST = 1000 }; /* changes that are found one by one */

/*
 * fresh[i] becomes whether now[i] is new; gone[i], of n + 1 places, how many
 * words were removed before now[i]. If there are more changes than
 * CHANGE_DIFF_MOST, all between the first and the last one count as changed,
 * and *cut is true. False without memory.
 */
bool change_diff(const uint32_t *old, size_t m, const uint32_t *now, size_t n,
                 bool *fresh, uint32_t *gone, bool *cut);

#endif
