/*
 * urls.h - the URLs of an experiment: made up, or the user's own.
 *
 * A made-up URL is a function of its number. They are realistic (hosts with
 * few and with many pages, paths of words, numbers and dates, some queries),
 * the same every time, and no two are alike, since the number can be read back
 * from the URL. Their number is not limited. A user's file is read once;
 * repeated URLs are found exactly and left out.
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

/* Made up from a seed. */
enum seen_code urls_new(struct urls **out, uint64_t seed,
                        struct seen_error *why);
/* The URLs of a file or folder, of any format that `seen build` reads, or the
   last column of a CSV file; those longer than URL_MOST are left out. */
enum seen_code urls_load(struct urls **out, const char *path,
                         struct seen_error *why);
void urls_free(struct urls *urls);

/* How many there are; UINT64_MAX for made-up ones. */
uint64_t urls_count(const struct urls *urls);
/* The rows of a user's list as they stand, repeated ones too, and the number
   of the URL in row i. Made-up ones have no rows. */
uint64_t urls_rows(const struct urls *urls);
uint64_t urls_row(const struct urls *urls, uint64_t i);
/* URLs that came again, and bad or too long lines: both are left out. */
uint64_t urls_repeated(const struct urls *urls);
uint64_t urls_bad(const struct urls *urls);

/* URL number i, without a zero at its end. Numbers past the end of a user's
   list begin again at its start: experiments that need more say so first. */
size_t urls_get(const struct urls *urls, uint64_t i, char url[URL_MOST]);

/* The keys of URLs [from, from + n) under profile raw, with their texts in
   `text`, of at most n * URL_MOST bytes. */
void urls_keys(const struct urls *urls, uint64_t from, size_t n,
               struct seen_key *key, char *text);

#endif
