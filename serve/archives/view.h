/*
 * view.h - the archives as one loop sees them.
 *
 * Each loop maps every filter for itself, so that a lookup takes no lock;
 * the pages are shared. Writers, of this process or another, append to the
 * journal beside a file, and inotify reports changes of the journal. Its
 * queue is filled before the writer's call returns: a loop that empties it
 * once per turn, before it answers, knows of everything that was acknowledged
 * before the request came.
 *
 *     archive_view_refresh(v);                once in each turn of the loop
 *     a = archive_view_find(v, name);
 *     archive_has(a, key, n, seen, &why);
 *
 * Threads: belongs to one loop.
 */
#ifndef SEEN_SERVE_ARCHIVES_VIEW_H
#define SEEN_SERVE_ARCHIVES_VIEW_H

#include "../../lib/text/buffer.h"
#include "overlay.h"
#include "set.h"

struct archive_view;

enum archive_state {
    ARCHIVE_READY,
    ARCHIVE_CHECKING, /* its cells are not all checked yet; it answers */
    ARCHIVE_WITHDRAWN, /* it is broken or gone, and does not */
    ARCHIVE_AWAY,      /* nor does the server that has its cells */
    ARCHIVE_STATES
};
extern const char *const archive_state_names[ARCHIVE_STATES];

struct archive {
    char *name, *path;
    bool found; /* in a folder, not named on the command line */
    size_t folder;                   /* which one, from 1 */
    const struct archive_note *note; /* what its archives.json says; or NULL */
    enum archive_state state;
    struct seen_error why;      /* of one that is withdrawn */
    struct seen_filter *filter; /* for lookups; NULL if it is withdrawn */
    struct seen_profile profile;
    double rate; /* as of `rated`, in seconds: see archive.c */
    double rated;
    bool outdated;              /* there may have been adds since */
    uint64_t cost, cost_prefix; /* of a lookup: seen_filter_cost() */
    const char *as_of;
    struct buffer head[2]; /* what begins each answer "no", and each "yes":
                              written by the archive_describe() of the view */

    /* Its cells are on another server: archive_has() and its like refuse it,
       and its cost is more than a loop affords. See remote.h. */
    struct archive_remote *remote;
    struct archive_remote_filter *shared; /* mapped and filter are its own */

    struct archive_view *view;
    struct seen_filter *mapped;    /* our own */
    struct archive_writer *writer; /* or that of the set */
    struct stat file;
    bool dirty;
    bool fresh, listed; /* not loaded yet; of the list, while that is made */

    /* Files that are overwritten in place: see archive.c. */
    struct stat looked; /* as of the last refresh */
    int fd;             /* the file, to look at it again; -1: by its path */
    bool journaled;     /* a writer is, or was since then, at work */
    bool modified;      /* bytes of the file were written since then */
    bool suspect;       /* it is not asked until it is verified */
};

/* What is written with every answer of an archive has changed. */
typedef void archive_describe(struct archive *a);

enum seen_code archive_view_new(struct archive_view **out,
                                struct archive_set *set,
                                archive_describe *describe,
                                struct seen_error *why);
void archive_view_free(struct archive_view *v);

/* Follow what changed since; and, once per second, what inotify does not
   report. */
void archive_view_refresh(struct archive_view *v);
void archive_view_poll(struct archive_view *v);

/* In the order of archives.json, then of names; NULL past the last, or if
   there is none of that name. They live until archive_view_refresh() is called again. */
struct archive *archive_view_at(struct archive_view *v, size_t i);
struct archive *archive_view_find(struct archive_view *v,
                                  struct seen_span name);
size_t archive_view_count(const struct archive_view *v);
struct archive *const *archive_view_all(const struct archive_view *v);
struct archive *const *archive_view_named(const struct archive_view *v);

/* Can archives be changed? */
bool archive_view_writable(const struct archive_view *v);

/* What one lookup in all archives costs. */
uint64_t archive_view_cost(const struct archive_view *v);

/* Give references to writers back until the next refresh: a view that nobody
   refreshes for a while must not keep a writer open. */
void archive_view_rest(struct archive_view *v);

/*
 * Look keys up in an archive. A file that another program cut short meanwhile,
 * or overwrote before a "no" was found in it, makes it withdrawn, with
 * SEEN_CORRUPT, and has no other effect.
 */
enum seen_code archive_has(struct archive *a, const struct seen_key *key,
                           size_t n, bool *seen, struct seen_error *why);

/* The same for all that is under a key, in an archive that has a filter. */
enum seen_code archive_has_under(struct archive *a, const struct seen_key *key,
                                 bool *seen, struct seen_error *why);

/* And how often a key was added. */
enum seen_code archive_count(struct archive *a, const struct seen_key *key,
                             uint64_t *count, struct seen_error *why);

/* A value of the metadata, or NULL; titles and templates of archives.json come
   first. */
const char *archive_meta(const struct archive *a, const char *name);

/* Its place among all; ARCHIVE_ORDER_NONE if archives.json gives none. */
int32_t archive_order(const struct archive *a);

#endif
