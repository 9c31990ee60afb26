/*
 * filters.h - the filters of a state, their files, and their journal.
 *
 * The filters in memory are the truth while a state is open: a key is added
 * as soon as its record is classified, so that the records of a batch see
 * each other. On the disk the journal comes first. A row of it has the keys
 * of one batch and is committed with their answers; the files are renewed
 * now and then, after a commit, and each has the number of the last row that
 * it includes. A file therefore never has a key that the journal did not have
 * before it, and what a file lacks is replayed. If a commit fails, the filters
 * in memory are ahead of it and are thrown away.
 *
 *     urls       1e-6   "new" called "updated": one in a million
 *     versions   1e-6   a change that is missed
 *     texts      1e-4   "new" called "duplicate"
 *     trees      1e-3   a change of structure that is missed
 *     words      2e-3   a new word has three shingles, and is missed if one of
 *                       them is found by mistake: 0.6 %
 *
 * All of them grow. A key takes 4.6, 4.6, 3.4, 2.8 and 2.2 bytes in full
 * parts at ten million keys, and up to twice that right after a part was
 * added: at most 31 bytes for a URL that has been seen once, without words.
 *
 * The seed is fixed, so that two states that were given the same records in
 * the same order have the same bytes, and so the same answers.
 *
 * Threads: one at a time.
 */
#ifndef SEEN_CHANGE_FILTERS_H
#define SEEN_CHANGE_FILTERS_H

#include <seen/filter.h>

#include "../lib/text/buffer.h"
#include "../sql/sql.h"

enum change_filter {
    CHANGE_URLS,
    CHANGE_VERSIONS,
    CHANGE_TEXTS,
    CHANGE_TREES,
    CHANGE_WORDS,
    CHANGE_FILTERS
};

struct change_one_filter {
    struct seen_filter *filter; /* NULL: not used by this state */
    char *path;
    int64_t saved;       /* last row of the journal that the file has */
    struct buffer fresh; /* keys that this batch added */
};

struct change_filters {
    struct change_one_filter one[CHANGE_FILTERS];
    int64_t row;     /* last row of the journal */
    uint64_t waiting; /* bytes of rows that some file lacks */
    struct sql *db;
    struct sql_statement *add;
};

/* Load the files, or make them, and replay the journal. `fresh`: the state is
   new, and there are no files. SEEN_ABSENT if a file is missing. */
enum seen_code change_filters_open(struct change_filters *f, struct sql *db,
                                   const char *folder, uint64_t capacity,
                                   bool words, bool fresh,
                                   struct seen_error *why);
void change_filters_close(struct change_filters *f);

/* Is the key there? Adding it also reports whether it was. */
enum seen_code change_filters_has(const struct change_filters *f,
                                  enum change_filter which, uint64_t key,
                                  bool *has, struct seen_error *why);
enum seen_code change_filters_add(struct change_filters *f,
                                  enum change_filter which, uint64_t key,
                                  bool *had, struct seen_error *why);
/* The same for n keys. had may be NULL. */
enum seen_code change_filters_has_all(const struct change_filters *f,
                                      enum change_filter which,
                                      const uint64_t *key, size_t n, bool *has,
                                      struct seen_error *why);
enum seen_code change_filters_add_all(struct change_filters *f,
                                      enum change_filter which,
                                      const uint64_t *key, size_t n, bool *had,
                                      struct seen_error *why);

/* The keys of CHANGE_URLS are those of URLs, so that `seen check urls.seen`
   finds them. */
enum seen_code change_filters_has_url(const struct change_filters *f,
                                      const struct seen_key *key, bool *has,
                                      struct seen_error *why);
enum seen_code change_filters_add_url(struct change_filters *f,
                                      const struct seen_key *key,
                                      struct seen_error *why);

/* In the transaction of a batch: its row of the journal. */
enum seen_code change_filters_note(struct change_filters *f,
                                   struct seen_error *why);

/* After a commit: renew the files if the journal has grown long, or `now`, and
   cut the journal. */
enum seen_code change_filters_save(struct change_filters *f, bool now,
                                   struct seen_error *why);

double change_filters_rate(const struct change_filters *f,
                           enum change_filter which);
double change_filters_entries(const struct change_filters *f,
                              enum change_filter which);
uint64_t change_filters_bytes(const struct change_filters *f);

#endif
