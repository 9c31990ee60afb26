/*
 * urls.h - the URLs of an experiment: made up, or the user's own.
 *
 * Made-up ones are a function of their number: realistic (hosts with few and
 * with many pages, paths of words, numbers and dates, some queries), the same
 * every time, and no two alike, since the number can be read back from the
 * URL. There is no end to them. A user's list is read once; those that come
 * again are found exactly and left out.
 *
 *     char url[URL_MOST];
 *     size_t len = urls_get(urls, i, url);
 *
 * Threads: any number may read.
 */
#ifndef SEEN_LAB_URLS_H
#define SEEN_LAB_URLS_H

#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/key.h>

enum { URL_MOST = 2048 };

struct urls;

/* Made up, from this seed on. */
enum seen_code urls_new(struct urls **out, uint64_t seed,
                        struct seen_error *why);
/* The URLs of a file or folder, of any format that `seen build` reads; those
   longer than URL_MOST are left out. */
enum seen_code urls_load(struct urls **out, const char *path,
                         struct seen_error *why);
void urls_free(struct urls *urls);

/* How many there are; UINT64_MAX of those made up. */
uint64_t urls_count(const struct urls *urls);
/* URLs that came again, and bad or too long lines: both are left out. */
uint64_t urls_repeated(const struct urls *urls);
uint64_t urls_bad(const struct urls *urls);

/* URL number i, without a zero at its end. Of a user's list the numbers go
   round: an experiment that needs more than there are says so first. */
size_t urls_get(const struct urls *urls, uint64_t i, char url[URL_MOST]);

/* Keys of URLs [from, from + n) with texts in `text`, of n * URL_MOST bytes
   at most; profile raw. */
void urls_keys(const struct urls *urls, uint64_t from, size_t n,
               struct seen_key *key, char *text);

#endif
