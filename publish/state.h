/*
 * state.h - what was published last time: DIR/.publish/state.json.
 *
 *     item      an announced filter: its digest and date, its metadata, and
 *               size, mtime and inode of its file, so that an unchanged file
 *               need not be read again
 *     change    an entry of the change list: what happened to a filter, and
 *               the delta from the entry before of the same path
 *
 * All lists are made from the state. So if a run is killed after the state
 * was saved, the next run finishes it, and a filter that cannot be read today
 * is announced as before.
 *
 * Threads: one publisher per folder, by its lock.
 */
#ifndef SEEN_PUBLISH_STATE_H
#define SEEN_PUBLISH_STATE_H

#include <stdbool.h>
#include <time.h>

#include <seen/share.h>

/* The metadata of a filter. Texts are printable UTF-8, or NULL. */
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
    int64_t seconds, nanos; /* mtime of the file, or 0: read it again */
    uint64_t inode;
    bool held; /* was announced, but is broken now */
    struct publish_about about;
    struct publish_text_form { /* the text form beside it, if wanted */
        bool made;
        unsigned char digest[SEEN_DIGEST];
        uint64_t length;
    } text;
    struct publish_patch { /* the delta made in this run; not saved */
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
    bool patched;                     /* there is a delta */
    unsigned char from[SEEN_DIGEST];  /* the version that it begins with */
    unsigned char patch[SEEN_DIGEST]; /* the digest of the delta */
    uint64_t patch_length;
};

struct publish_state {
    char *url;         /* NULL: nothing was published yet */
    uint64_t deltas;   /* to keep per file */
    bool text;         /* write text forms, too */
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

/* Append an element, which is zeroed; its texts belong to the state. NULL
   without memory. */
struct publish_item *publish_state_add_item(struct publish_state *s);
struct publish_change *publish_state_add_change(struct publish_state *s);

bool publish_item_copy(struct publish_item *to,
                       const struct publish_item *from);
void publish_item_clear(struct publish_item *i);
void publish_about_clear(struct publish_about *a);

#endif
