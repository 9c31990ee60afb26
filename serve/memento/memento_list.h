/*
 * memento_list.h - archives to ask, as MemGator's list has them.
 *
 *     [{"id": "ia", "name": "Internet Archive",
 *       "timemap": "https://web.archive.org/web/timemap/link/",
 *       "timegate": "https://web.archive.org/web/",
 *       "probability": 0.9, "ignore": false}]
 *
 * An entry belongs to the served filter that is called as its "id", its "name"
 * or, which MemGator does not have, its "filter". Then that filter decides
 * whether the archive is asked. An entry without a filter is always asked.
 * "probability" is not used: it guesses what a filter knows. Without a
 * "timegate" the closest memento is looked for in the TimeMap.
 *
 * Threads: a list that was read is not changed any more.
 */
#ifndef SEEN_SERVE_MEMENTO_MEMENTO_LIST_H
#define SEEN_SERVE_MEMENTO_MEMENTO_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/error.h>
#include <seen/span.h>

#include "../../lib/text/buffer.h"

enum { MEMENTO_ARCHIVES = 1000 }; /* of a list, at most */

struct memento_archive {
    char *id, *name, *filter; /* or NULL; at least one of the first two */
    char *timemap;            /* where a URL can be appended, or a template */
    char *timegate;           /* the same, or NULL */
    bool ignore;              /* never ask it */
};

/* Zeroed, it is empty. */
struct memento_list {
    struct memento_archive *archive;
    size_t n;
};

/*
 * Read a list. SEEN_CORRUPT if it is not one; the text of `why` names the entry
 * at fault. SEEN_RANGE if it has too many entries. The list is empty then.
 */
enum seen_code memento_list_read(struct memento_list *list, const char *text,
                                 size_t len, struct seen_error *why);
enum seen_code memento_list_load(struct memento_list *list, const char *path,
                                 struct seen_error *why);
void memento_list_clear(struct memento_list *list);

/* What it is called: its id, or else its name. */
const char *memento_archive_name(const struct memento_archive *a);

/* The first entry for a filter of this name, in any case; SIZE_MAX if there is
   none. */
size_t memento_list_find(const struct memento_list *list, const char *filter);

/* A template ("https://a.example/timemap/{url}") for a URL. One without {url}
   gets it appended. */
void memento_template_fill(struct buffer *o, const char *template,
                           struct seen_span url);

#endif
