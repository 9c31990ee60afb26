/*
 * prints.h - which page has a print within three bits of this one?
 *
 * Prints are the 64 bits of near.h. Of two that differ in at most three bits,
 * one half differs in at most one: so a table of each half is asked for that
 * half and for the 32 that differ from it in one bit, 66 questions in all,
 * however many pages there are. (G. Manku, A. Jain, A. Das Sarma: Detecting
 * near-duplicates for web crawling, WWW 2007, keep more tables and ask each
 * once; memory is what we have less of.)
 *
 *     63           32 31            0
 *     [ upper half  ] [ lower half  ]     and a table of whole prints, for
 *                                         pages with equal texts
 *
 * Only pages of another host are an answer, and a site has thousands of pages
 * that differ in a number or a name. Pages with one print and one host are
 * therefore one group, and after each half the groups are listed by host, so
 * that the groups of the asking host are passed over in one step:
 *
 *     half ──> group of host A ──> group of host B ──> ...
 *                  │                   │
 *              group of host A     group of host B
 *                  :                   :
 *
 * What a question costs. Nobody can choose pages that make it long: of one
 * list at most CHANGE_PRINTS_LIST groups are compared, and of these at most
 * CHANGE_PRINTS_HOST of one host, so that one site cannot hide the others.
 * That is 8,576 groups at the very most; about 70 steps among a million
 * unrelated pages.
 *
 * What is found for certain: an equal print, unless more than 128 hosts have
 * it; and the nearest within three bits, unless a list was longer than that.
 * Then the nearest of those that were compared is taken, and the question
 * counts as cut.
 *
 * Memory: 24 bytes per page, 40 per group, and 21 to 43 for their slots: about
 * 100 bytes per page if no two are equal.
 *
 *     code = change_prints_put(p, url, number, host, print);
 *     if (change_prints_nearest(p, print, host, 3, &number) <= 3)
 *         page `number` is near;
 *
 * Threads: one at a time.
 */
#ifndef SEEN_CHANGE_PRINTS_H
#define SEEN_CHANGE_PRINTS_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/error.h>

enum {
    CHANGE_PRINTS_MOST = 3,   /* bits that two halves can promise */
    CHANGE_PRINTS_LIST = 128, /* groups of a list that are compared, */
    CHANGE_PRINTS_HOST = 32   /* and of one host in it */
};

struct change_prints;

/* NULL without memory. */
struct change_prints *change_prints_new(void);
void change_prints_free(struct change_prints *p);

/* Pages are numbered from 1. `url` is a hash of the page's URL. */
uint64_t change_prints_pages(const struct change_prints *p);
/* The number of the page, or 0. */
uint64_t change_prints_find(struct change_prints *p, uint64_t url);

/* The print of page `number`, which must be there. */
uint64_t change_prints_get(const struct change_prints *p, uint64_t number);

/* Page `number`, which is there or the next one, has this print from now on.
   SEEN_NOMEM, SEEN_FULL. */
enum seen_code change_prints_put(struct change_prints *p, uint64_t url,
                                 uint64_t number, uint32_t host,
                                 uint64_t print, struct seen_error *why);

/* The bits between `print` and that of the nearest page of another host, whose
   number is in *number; more than `most` if there is none within `most`. */
unsigned change_prints_nearest(struct change_prints *p, uint64_t print,
                               uint32_t host, unsigned most, uint64_t *number);

struct change_prints_cost {
    uint64_t steps; /* slots that were looked at and groups that were met */
    uint64_t cut;   /* questions that left groups out */
};
struct change_prints_cost change_prints_cost(const struct change_prints *p);

#endif
