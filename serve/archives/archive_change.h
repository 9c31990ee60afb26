/*
 * archive_change.h - items added to an archive, or removed from it.
 *
 * The one way in which archives change, for all protocols. A loop collects
 * keys, with copies of their texts; a thread that may wait for disks opens
 * the writer and makes the change. If nothing has to be waited for, the loop
 * makes it itself:
 *
 *     archive_change_begin(&c, set, ARCHIVE_ADD, a, name, NULL, &why);
 *     archive_change_add(&c, item, ARCHIVE_URL, &why);          in the loop
 *     archive_change_run(&c);                                   in a thread
 *     archive_change_now(&c, writer)                            or in the loop
 *     c.result[i], or c.code and c.why                          in the loop
 *     archive_change_clear(&c);
 *
 * All keys of a change are one record of the journal and, under --sync
 * always, one flush. Changes of one archive that wait at the same time share
 * them: they are linked by `next` and made together.
 *
 * Threads: a change belongs to one thread at a time.
 */
#ifndef SEEN_SERVE_ARCHIVES_ARCHIVE_CHANGE_H
#define SEEN_SERVE_ARCHIVES_ARCHIVE_CHANGE_H

#include "keys.h"
#include "view.h"

enum archive_change_kind {
    ARCHIVE_ADD,     /* counting filters count each add */
    ARCHIVE_ADD_NEW, /* counting filters: only what is not there */
    ARCHIVE_REMOVE   /* counting filters only */
};

/* What became of a key: it was new, or was removed; it was there already, or
   was not there to be removed; there was no room for it. */
enum archive_result { ARCHIVE_OLD = 0, ARCHIVE_NEW = 1, ARCHIVE_REFUSED = -1 };

struct archive_change {
    enum archive_change_kind kind;
    struct archive_set *set;
    char *name, *path;       /* path NULL: the archive is to be made, */
    struct archive_new made; /* like this, */
    bool makes;              /* if that is given */
    struct seen_profile profile;

    /* May a filter be changed? Asked when it is open, since another client may
       have made it meanwhile; NULL: any may. */
    bool (*accepts)(const struct seen_filter *f);
    bool not_accepted;

    struct seen_key *key; /* `text` is set when the change is made */
    signed char *result;  /* one per key: enum archive_result */
    size_t n, key_room, result_room;
    struct buffer text;

    enum seen_code code; /* SEEN_FULL: of some keys; else of all */
    struct seen_error why;
    uint64_t added, removed;

    struct archive_change *next; /* made together with it */
};

/*
 * Begin a change of archive `a`, or if that is NULL of one that is made like
 * `made` under this name unless it is there by then. With both, one that was
 * deleted meanwhile is made again. On failure nothing is held.
 */
enum seen_code archive_change_begin(struct archive_change *c,
                                    struct archive_set *set,
                                    enum archive_change_kind kind,
                                    const struct archive *a,
                                    struct seen_span name,
                                    const struct archive_new *made,
                                    struct seen_error *why);
void archive_change_clear(struct archive_change *c);

/* Append the key of an item. */
enum seen_code archive_change_add(struct archive_change *c,
                                  struct seen_span item,
                                  enum archive_item what,
                                  struct seen_error *why);

/* Remove the keys from number n on, whose texts began at `text`. */
static inline void archive_change_cut(struct archive_change *c, size_t n,
                                      size_t text)
{
    c->n = n;
    c->text.len = text;
}

/* Can the two be made together? */
bool archive_change_fits(const struct archive_change *a,
                         const struct archive_change *b);

/* Copies of a change and of those linked to it, without what belongs to its
   client; and give the results of the copies back. NULL without memory. */
struct archive_change *archive_change_copy(const struct archive_change *first);
void archive_change_results(struct archive_change *first,
                            const struct archive_change *copy);
void archive_change_free(struct archive_change *copy);

/* Make the change, and all that are linked to it, in this filter. */
void archive_change_make(struct archive_change *first, struct seen_filter *f);

/* The same in the filter of its path. */
void archive_change_run(struct archive_change *first);

/* The same in a loop, with the writer of that filter. False, and nothing is
   done, if the loop would have to wait: archive_writer_hold(). */
bool archive_change_now(struct archive_change *first,
                        struct archive_writer *w);

#endif
