/*
 * view.h - the archives of one loop.
 *
 * Each loop maps every filter for itself, so that asking one takes no lock;
 * the pages are the same. Writers, of this process or another, tell through
 * the journal beside a file, and inotify tells of the journal. Its queue is
 * filled before the writer's call returns: a loop that empties it before it
 * answers, once in each turn, knows of everything that was acknowledged
 * before the question came.
 *
 *     shelf_look(s);                          once in each turn of the loop
 *     a = shelf_find(s, name);
 *     archive_ask(a, key, n, seen, &why);
 *
 * Threads: belongs to one loop.
 */
#ifndef SEEN_SERVE_ARCHIVES_VIEW_H
#define SEEN_SERVE_ARCHIVES_VIEW_H

#include "set.h"
#include "../out.h"

struct shelf;

enum archive_state {
    ARCHIVE_READY,
    ARCHIVE_CHECKING, /* its cells are not all looked at yet; it answers */
    ARCHIVE_WITHDRAWN /* it is broken or gone, and does not */
};

struct archive {
    char *name, *path;
    bool found; /* in a folder, not named on the command line */
    enum archive_state state;
    struct seen_error why;      /* of one that is withdrawn */
    struct seen_filter *filter; /* to ask; NULL if it is withdrawn */
    struct seen_profile profile;

    /* Made once, since they go into every answer: the heads of 200 and 404
       up to where Date and Connection go. */
    struct out yes, no;
    double rate;
    const char *as_of;

    struct seen_filter *mapped; /* our own */
    struct writer *writer;      /* or that of the library */
    struct stat file;
    bool dirty;
};

enum seen_code shelf_new(struct shelf **out, struct library *l,
                         struct seen_error *why);
void shelf_free(struct shelf *s);

/* Take in what changed since; and what is only looked for now and then. */
void shelf_look(struct shelf *s);
void shelf_tick(struct shelf *s);

/* In order of names; NULL past the last, or if there is none of that name.
   They live until shelf_look() is called again. */
struct archive *shelf_at(struct shelf *s, size_t i);
struct archive *shelf_find(struct shelf *s, struct span name);

/*
 * Ask an archive. A file that another program cut short under our feet makes
 * it withdrawn, with SEEN_CORRUPT, and nothing worse.
 */
enum seen_code archive_ask(struct archive *a, const struct seen_key *key,
                           size_t n, bool *seen, struct seen_error *why);

/* The same of all that is under a key, of an archive that has a filter. */
enum seen_code archive_under(struct archive *a, const struct seen_key *key,
                             bool *seen, struct seen_error *why);

/* And how often a key was added. */
enum seen_code archive_count(struct archive *a, const struct seen_key *key,
                             uint64_t *count, struct seen_error *why);

/* What the metadata says, or NULL. */
const char *archive_meta(const struct archive *a, const char *name);

#endif
