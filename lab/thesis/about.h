/*
 * about.h - what section 6.2 of the thesis asks about: names and dates.
 *
 * Beside the URLs of the lab there are names, a given and a family name, and
 * dates, days in order: "1583-01-01". No two are alike.
 */
#ifndef SEEN_LAB_THESIS_ABOUT_H
#define SEEN_LAB_THESIS_ABOUT_H

#include "../corpus.h"

enum topic { URLS, NAMES, DATES, ABOUTS };
extern const char *const about_name[ABOUTS];

enum { DAYS = 3000000 }; /* as many dates as there are, at most */

/* Texts [from, from + n) of one sort. */
void about_texts(struct corpus *t, enum topic about, const struct lab *lab,
                 uint64_t from, size_t n);

#endif
