/*
 * keys.h - all keys of a URL cache, in a file: cache-N.keys.
 *
 * A filter cannot say which keys it has, so that a larger one cannot be made of
 * it. The rows of a crawl can, but these are texts in three tables, and pages
 * move from one to another while a crawl runs. So each key that is added to a
 * cache is appended to a file, 16 bytes, which nothing reads until the cache is
 * full (growth.c).
 *
 *     crawl_keys_begin(&k, path);
 *     crawl_keys_add(&k, key, n, &why);
 *     crawl_keys_flush(&k, mark, &why);        the copy of the filter has `mark`
 *     crawl_keys_close(&k);
 *
 *     crawl_keys_resume(&k, path, mark);       in the next run
 *
 * What follows the marked keys is of a run that was killed. It is overwritten:
 * the journal of the frontier has those URLs. A file that is missing or too
 * short is not used: the cache is made again from what the rows know, as if it
 * were missing, too.
 *
 * Hashes of URLs can be guessed: the file has mode 0600, and is removed when the
 * next visit has its own.
 *
 * Threads: one at a time.
 */
#ifndef SEEN_CRAWL_KEYS_H
#define SEEN_CRAWL_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/key.h>

enum { CRAWL_KEYS_MARK = 48 };

struct crawl_keys {
    bool kept;            /* it has all keys of the cache */
    char *path;           /* or NULL */
    const char *folder;   /* of a file without a name; or NULL */
    int fd;               /* -1: not made yet, since there was no key */
    uint64_t count, sum;  /* of keys; and of all of them: see keys.c */
    uint64_t written;     /* keys; the others are in the buffer */
    unsigned char *bytes; /* the buffer */
    size_t room;          /* keys that fit into it */
};

/* Begin a log, which takes the path: it will be freed. Nothing is made on the
   disk before there are keys. Without a path there is no log. */
void crawl_keys_begin(struct crawl_keys *k, char *path);

/* The same in a file without a name in a folder, which ends with the process. If
   the disk is full, keys are kept no more; nothing fails. */
void crawl_keys_begin_unnamed(struct crawl_keys *k, const char *folder);

/* Go on with the log as it was when it was marked. If that is impossible, or the
   mark is NULL: kept is false. */
void crawl_keys_resume(struct crawl_keys *k, char *path, const char *mark);

/* Keep n keys; does nothing if they are not kept. */
enum seen_code crawl_keys_add(struct crawl_keys *k, const struct seen_key *key,
                              size_t n, struct seen_error *why);

/* Keys `at` and following, which must be there, without texts. */
enum seen_code crawl_keys_read(struct crawl_keys *k, uint64_t at,
                               struct seen_key *key, size_t n,
                               struct seen_error *why);

/* What `sum` becomes with one more key. */
uint64_t crawl_keys_sum(uint64_t sum, const struct seen_key *key);

/* Wait until the disk has all keys. The mark names this state of the log. */
enum seen_code crawl_keys_flush(struct crawl_keys *k,
                                char mark[CRAWL_KEYS_MARK],
                                struct seen_error *why);

/* Keep no keys any more, and remove the file. */
void crawl_keys_forget(struct crawl_keys *k);

void crawl_keys_close(struct crawl_keys *k);

#endif
