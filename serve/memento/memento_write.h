/*
 * memento_write.h - TimeMaps as MemGator writes them, so that its clients
 * need not change: links (RFC 7089), JSON and CDXJ.
 *
 *     struct memento_form form = { .as = MEMENTO_LINK, .url = url,
 *                                  .origin = "https://seen.example",
 *                                  .closest = MEMENTO_ALL };
 *
 *     memento_write(&body, &form, timemap);
 *
 * The JSON has one more member, "seen": which archives were asked and what
 * went wrong.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef SEEN_SERVE_MEMENTO_MEMENTO_WRITE_H
#define SEEN_SERVE_MEMENTO_MEMENTO_WRITE_H

#include <seen/span.h>

#include "memento_timemap.h"

enum memento_as { MEMENTO_LINK, MEMENTO_JSON, MEMENTO_CDXJ };
#define MEMENTO_ALL SIZE_MAX

struct memento_form {
    enum memento_as as;
    struct seen_span url;    /* the original */
    struct seen_span origin; /* where we are: "https://seen.example/base" */
    size_t closest; /* describe this capture and its neighbours; MEMENTO_ALL:
                       write all of them */
    size_t spared;  /* archives that were not asked */
};

/* "link", "json", "cdxj"; false if it is another word. */
bool memento_as_read(struct seen_span word, enum memento_as *as);

const char *memento_type(enum memento_as as);

/* There must be a capture. */
void memento_write(struct buffer *o, const struct memento_form *form,
                   const struct memento_timemap *t);

/* The value of the Link header of a TimeGate: the original, the TimeMaps, and
   the captures around form->closest as far as they fit into `most` bytes. */
void memento_write_links(struct buffer *o, const struct memento_form *form,
                         const struct memento_timemap *t, size_t most);

/* Archives that have failed, and why, as JSON: {"name": "reason"}. False if
   there are none: {}. */
bool memento_write_failed(struct buffer *o, const struct memento_timemap *t);

/* A time as HTTP writes it: "Tue, 20 Jun 2000 18:02:59 GMT". */
void memento_write_date(struct buffer *o, int64_t when);

/* About how many bytes memento_write() will write; seldom more. */
size_t memento_write_size(const struct memento_form *form,
                          const struct memento_timemap *t);

/*
 * The time of "YYYY[MM[DD[hh[mm[ss]]]]]"; missing parts are the first ones.
 * False if it is not one.
 */
bool memento_stamp_read(struct seen_span text, int64_t *when);

#endif
