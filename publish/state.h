/*
 * state.h - what was published last time: DIR/.publish/state.json.
 *
 *     item      a filter that is announced: its digest, since when, what it
 *               says of itself, and how its file looked, so that one which
 *               nobody touched need not be read again
 *     change    a line of the change list: what became of a filter, and the
 *               delta that leads there from the line before of the same path
 *
 * Everything that lists say comes from here, so that a run which was killed
 * after the state was saved is finished by the next one, and a filter that
 * cannot be read today is announced as it was.
 *
 * Threads: one publisher a folder, by its lock.
 */
#ifndef SEEN_PUBLISH_STATE_H
#define SEEN_PUBLISH_STATE_H

#include <stdbool.h>
#include <time.h>

#include <seen/share.h>

/* What a filter says of itself. Texts are clean UTF-8, or NULL. */
struct publish_about {
    char *kind, *profile, *title, *holder, *description, *as_of;
    double entries, rate;
    bool keyed;
};

struct publish_item {
    char *path; /* relative to the folder */
    unsigned char digest[SEEN_DIGEST];
    uint64_t length;
    int64_t lastmod;        /* seconds */
    int64_t seconds, nanos; /* mtime of the file, or 0: look again */
    uint64_t inode;
    bool held; /* was announced, but what is there now is broken */
    struct publish_about about;
    struct
        publish_text_form { /* the text form beside it, if it is to be there */
        bool made;
        unsigned char digest[SEEN_DIGEST];
        uint64_t length;
    } text;
    struct publish_patch { /* the delta that was made in this run; not saved */
        bool made;
        unsigned char from[SEEN_DIGEST], digest[SEEN_DIGEST];
        uint64_t length;
    } patch;
};

enum publish_change_kind { CREATED, UPDATED, DELETED };

struct publish_change {
    enum publish_change_kind kind;
    char *path;
    int64_t when, lastmod;
    unsigned char digest[SEEN_DIGEST]; /* of the filter */
    uint64_t length;
    bool patched;                     /* there is a delta, */
    unsigned char from[SEEN_DIGEST];  /* from this version */
    unsigned char patch[SEEN_DIGEST]; /* with this digest of its own */
    uint64_t patch_length;
};

struct publish_state {
    char *url;         /* NULL: nothing was published yet */
    uint64_t deltas;   /* to keep a file */
    bool text;         /* text forms are written, too */
    int64_t at;        /* when something changed last */
    unsigned parts[2]; /* files that sitemap and change list are split into */
    struct publish_item *item; /* in order of paths */
    size_t items, item_room;
    struct publish_change *change; /* oldest first */
    size_t changes, change_room;
};

/* An empty one if there is no such file. */
enum seen_code publish_state_load(struct publish_state *s, const char *path,
                                  struct seen_error *why);
enum seen_code publish_state_save(const struct publish_state *s,
                                  const char *path, struct seen_error *why);
void publish_state_clear(struct publish_state *s);

/* The item of that path, or NULL. */
const struct publish_item *publish_state_find(const struct publish_state *s,
                                              const char *path);

/* Append, with texts that from then on belong to the state. The place is
   zeroed; NULL for lack of memory. */
struct publish_item *publish_state_add_item(struct publish_state *s);
struct publish_change *publish_state_add_change(struct publish_state *s);

bool publish_item_copy(struct publish_item *to,
                       const struct publish_item *from);
void publish_item_clear(struct publish_item *i);
void publish_about_clear(struct publish_about *a);

#endif
