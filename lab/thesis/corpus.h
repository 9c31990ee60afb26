/*
 * corpus.h - texts and their keys, in memory: for what is timed.
 *
 * URLs of the lab, or what section 6.2 of the thesis asks about: names and
 * dates. Names are a given and a family name, dates are days in order,
 * "1583-01-01"; no two are alike.
 *
 * Threads: any number may read.
 */
#ifndef SEEN_LAB_THESIS_CORPUS_H
#define SEEN_LAB_THESIS_CORPUS_H

#include <stddef.h>
#include <stdint.h>

#include <seen/key.h>

#include "../urls.h"

enum about { URLS, NAMES, DATES, ABOUTS };
extern const char *const about_name[ABOUTS];

enum { DAYS = 3000000 }; /* as many dates as there are, at most */

struct corpus {
    struct seen_key *key; /* their texts point into `text` */
    char *text;
    size_t n, bytes; /* of all texts */
};

/* Numbers [from, from + n) of what they are about. */
void corpus_make(struct corpus *t, enum about about, const struct urls *urls,
                 uint64_t from, size_t n);
void corpus_clear(struct corpus *t);

#endif
