/*
 * set.h - the filters that are served, as all loops share them.
 *
 * Every loop has its own shelf of mapped filters (shelf.h), so that asking
 * takes no lock. What must be one for all of them is here: which names stand
 * for which files, the writers (a file has one), and what the check of the
 * cells has found, which runs in a thread of its own and takes as long as it
 * takes.
 *
 * Threads: everything here may be called from any.
 */
#ifndef SEEN_SERVE_ARCHIVES_SET_H
#define SEEN_SERVE_ARCHIVES_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include <seen/store.h>

#include "../span.h"

struct library;

struct library_how {
    const char *const *operand; /* NAME=FILTER, or a folder of filters */
    size_t operands;
    const unsigned char *secret; /* of keyed filters; NULL: none is known */
    bool writable;               /* adds are taken, by who has the token */
    enum seen_sync sync;
};

/*
 * Look at the operands. On failure *out is NULL and why->at is the operand:
 * a name that is taken or cannot be one, a filter that cannot be had.
 */
enum seen_code library_new(struct library **out, const struct library_how *how,
                           struct seen_error *why);

/* Writers are closed, and with it brought up to date; the first failure is
   told. Nobody may use the library any more. */
enum seen_code library_close(struct library *l, struct seen_error *why);

/* Be called, in any thread, when loops should look at their shelves. */
void library_tell(struct library *l, void (*wake)(void *), void *to);

const unsigned char *library_secret(const struct library *l);
bool library_writable(const struct library *l);

/* May `name` be an archive's? Those of our own paths cannot; nor can what
   has no place in a file name. NULL, or why not. */
const char *library_name_fault(struct span name);

/* --- what there is --- */

struct holding {
    char *name, *path;
    bool found;  /* in a folder: it comes and goes with its file */
    size_t from; /* 0: named; else the number of its folder, from 1 */
};

/* All names and paths as they are now, in order of names; for the caller to
   free with holdings_free(). */
enum seen_code library_list(struct library *l, struct holding **out, size_t *n,
                            struct seen_error *why);
void holdings_free(struct holding *h, size_t n);

/* The i-th folder that is served; NULL past the last. */
const char *library_folder(const struct library *l, size_t i);

/* --- whether it is good --- */

enum verdict { VERDICT_PENDING, VERDICT_GOOD, VERDICT_BAD };

/* What is known of the cells of a file; what is not known yet is looked at
   in time. Of a bad one `why` tells what is bad. */
enum verdict library_verdict(struct library *l, const char *path,
                             const struct stat *it, struct seen_error *why);

/* Goes up when a verdict was found or a writer came or went. */
unsigned library_age(const struct library *l);

/* --- writers: these may take long, so no loop calls them but _peek --- */

struct writer;

/* The writer of `path` if there is one already, with a reference; or NULL. */
struct writer *writer_peek(struct library *l, const char *path);

/* The same, opened if there is none. SEEN_BUSY: its filter is of another
   profile than `profile`, under which keys were made; it was replaced. */
enum seen_code writer_get(struct writer **out, struct library *l,
                          const char *path, const struct seen_profile *profile,
                          struct seen_error *why);
void writer_put(struct library *l, struct writer *w);

/* The filter, shared: any number of threads may ask and add. */
struct seen_filter *writer_filter(struct writer *w);

/*
 * What changes its filter stands between guard_begin() and this, which gives
 * the code back, or SEEN_CORRUPT if the file was cut short meanwhile.
 */
enum seen_code writer_changed(struct writer *w, enum seen_code code,
                              struct seen_error *why);

/*
 * Its file was cut short under it. It is not written to any more, and stays
 * open until the process ends: closing it would seal what is left as good.
 */
void writer_spoil(struct writer *w);
bool writer_spoiled(const struct writer *w);

/* It is about to be deleted: references are to be given back soon. */
bool writer_leaving(const struct writer *w);

/* Make the file of a new archive, in the first folder that is served.
   SEEN_MISMATCH: there is one of that name. */
enum seen_code library_create(struct library *l, struct span name,
                              const struct seen_plan *plan,
                              struct seen_error *why);

/* The same of a filter that is there already, replacing what is of that
   name. */
enum seen_code library_import(struct library *l, struct span name,
                              const struct seen_filter *f,
                              struct seen_error *why);

/* Close and delete the file of an archive that was found in a folder. */
enum seen_code library_delete(struct library *l, const char *path,
                              struct seen_error *why);

/* Bring the files of all writers up to date. */
enum seen_code library_checkpoint(struct library *l, struct seen_error *why);

#endif
