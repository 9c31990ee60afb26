/*
 * filters.h - the filters of a state, their files, and their journal.
 *
 * The filters in memory are the truth while a state is open: a key is added
 * as soon as its record is classified, so that the records of a batch see
 * each other. On the disk the journal comes first (journal.h). A row of it has
 * what one batch added and is flushed before their answers are committed; the
 * files are renewed now and then, after a commit, and each has the position
 * in the journal up to which it includes everything. A file therefore never
 * has a key that the journal did not have before it, and what a file lacks is
 * replayed. If a commit fails, the filters in memory are ahead of it and are
 * thrown away.
 *
 * Files are renewed when the journal is longer than 128 MiB and than half of
 * the filters, so that a record costs the same whatever the size of the
 * state. Files up to 16 MiB are also renewed when the state is closed. To
 * replay 128 MiB takes about a second.
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
 * The parts of words are three times as large each, since every new shingle
 * is looked up in all of them: 20 million shingles are in 4 parts, not in 7.
 *
 * Words of new pages are added by a thread of its own, after the others: they
 * are three quarters of the work, and nobody asks for them soon. It reads
 * them from the row of the journal, while that is written to the disk.
 *
 * The seed is fixed, so that two states that were given the same records in
 * the same order have the same bytes, and so the same answers.
 *
 * Threads: one at a time, besides its own.
 */
#ifndef SEEN_CHANGE_FILTERS_H
#define SEEN_CHANGE_FILTERS_H

#include <seen/filter.h>

#include "../sql/sql.h"
#include "journal.h"

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
    bool has_file;
    uint64_t saved; /* position in the journal that the file includes */

    /* How many parts are full, so that they never change, and the logarithm of
       the chance that all these are right. */
    unsigned full;
    double right;
};

struct change_filters {
    struct change_one_filter one[CHANGE_FILTERS];
    struct change_journal journal;
    size_t settled; /* bytes of journal.row whose words are in the filter */
    struct change_later *later;
    struct sql *db;
    struct sql_statement *set;
};

struct change_filters_options {
    bool fresh;          /* the state is new, and there are no files */
    bool words;          /* the filter of words is used */
    uint64_t capacity;   /* URLs expected, or 0 */
    uint64_t begin, end; /* of the journal */
};

/* Before a state is made: SEEN_CORRUPT if the folder has filters of a state
   that was used, or files of their names that cannot be read. */
enum seen_code change_filters_unused(const char *folder,
                                     struct seen_error *why);

/* Load the files, or make them, and replay the journal. SEEN_ABSENT if a file
   is missing. f->journal.fd must be -1 or a file of it. */
enum seen_code change_filters_open(struct change_filters *f, struct sql *db,
                                   const char *folder,
                                   const struct change_filters_options *o,
                                   struct seen_error *why);
void change_filters_close(struct change_filters *f);

/* Is the key there? Adding it also reports whether it was. */
enum seen_code change_filters_has(struct change_filters *f,
                                  enum change_filter which, uint64_t key,
                                  bool *has, struct seen_error *why);
enum seen_code change_filters_add(struct change_filters *f,
                                  enum change_filter which, uint64_t key,
                                  bool *had, struct seen_error *why);
/* The same for n keys. had may be NULL. */
enum seen_code change_filters_has_all(struct change_filters *f,
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
                                      const struct seen_key *key, bool *had,
                                      struct seen_error *why);

/*
 * Bring the cells of keys that are asked for soon into the cache: those of
 * many keys at once, while one at a time waits for the memory. `url` are keys
 * of CHANGE_URLS. Answers are not used, so that they cannot depend on it.
 */
enum seen_code change_filters_fetch(struct change_filters *f,
                                    enum change_filter which,
                                    const uint64_t *key, size_t n,
                                    struct seen_error *why);
enum seen_code change_filters_fetch_urls(struct change_filters *f,
                                         const struct seen_key *url, size_t n,
                                         struct seen_error *why);

/* Add the shingles of a value of n words. */
enum seen_code change_filters_add_run(struct change_filters *f, uint64_t base,
                                      const uint32_t *word, size_t n,
                                      struct seen_error *why);

/*
 * Add words of a page that is new, whose answer does not depend on them: a
 * key, or the shingles of a value. Another thread adds them while the batch
 * is committed and the next one is classified, or they are added when the
 * filter is next asked. What filters answer is the same either way.
 */
void change_filters_key_later(struct change_filters *f, uint64_t key);
void change_filters_run_later(struct change_filters *f, uint64_t base,
                              const uint32_t *word, size_t n);

/* Add now what was left for later: before sizes and rates are asked for. */
enum seen_code change_filters_settle(struct change_filters *f,
                                     struct seen_error *why);

/* In the transaction of a batch: its row of the journal. */
enum seen_code change_filters_note(struct change_filters *f,
                                   struct seen_error *why);

/* Add the words of the row, and forget the row: what was added since the last
   one is not stored. */
enum seen_code change_filters_drop(struct change_filters *f,
                                   struct seen_error *why);

/* After a commit: renew the files, and cut the journal, if it has grown long.
   `closing`: also renew small files. */
enum seen_code change_filters_save(struct change_filters *f, bool closing,
                                   struct seen_error *why);

double change_filters_rate(struct change_filters *f, enum change_filter which);
double change_filters_entries(const struct change_filters *f,
                              enum change_filter which);
uint64_t change_filters_bytes(const struct change_filters *f);

#endif
