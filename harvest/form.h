/*
 * form.h - the forms in which filters are published, and ours of them.
 *
 *     haw.seen    our files, mapped as they are
 *     haw.csv     the text form, text/csv
 *     haw.json    the JSON of Orestes, the library of the archives report
 *
 * The report's archives put a "serialized plain text file" on the web, and
 * consumers "ingest the file into the local BF implementation". So a text
 * that is announced is converted to a file. Its type and the end of its URL
 * make it a candidate; its first bytes decide.
 *
 * A text can be short and describe many cells, since zeros are left out. So
 * the size is bounded before anything is allocated or written: by the longest
 * file that is allowed, by the room on the disk, by the length of the text,
 * and by the memory of the machine, since the cells are in memory while a
 * text is converted. One text is converted at a time.
 */
#ifndef SEEN_HARVEST_FORM_H
#define SEEN_HARVEST_FORM_H

#include <seen/span.h>

#include "round.h"

enum harvest_form {
    HARVEST_FORM_NONE, /* not a filter */
    HARVEST_FORM_SEEN,
    HARVEST_FORM_TEXT,
    HARVEST_FORM_ORESTES
};

enum {
    HARVEST_FORM_FIRST = 32, /* bytes that decide */

    /* A text of n bytes has at most SPARSE * n + SMALL bytes of cells, */
    HARVEST_FORM_SPARSE = 100,
    HARVEST_FORM_SMALL = 64 << 20,

    /* and at most this part of the machine's memory. */
    HARVEST_FORM_SHARE = 4
};

/* By the first bytes of a file; fewer than HARVEST_FORM_FIRST only if it has
   no more. */
enum harvest_form harvest_form_of(const void *first, size_t n);

/* The same for a file; SEEN_IO. */
enum seen_code harvest_form_of_file(enum harvest_form *form, const char *path,
                                    struct seen_error *why);

/* Is this the type, or the URL, of a text that may be a filter? */
bool harvest_form_text_type(struct seen_span type);
bool harvest_form_text_url(const char *url);

/*
 * Convert the text at `from`, of `length` bytes, to a file at `to`, which is
 * replaced and on the disk then. SEEN_CORRUPT if the text is not a whole
 * filter, SEEN_RANGE and SEEN_NOMEM if the filter would be too large.
 */
enum seen_code harvest_form_convert(const struct harvest_round *r,
                                    enum harvest_form form, const char *from,
                                    uint64_t length, const char *to,
                                    struct seen_error *why);

#endif
