/*
 * form.c - recognise and convert texts that are filters.
 *
 * A text of 1 kB may ask for 1 TB of cells, since zeros are left out. So what
 * it costs is known before it is paid: the row "cells,N" is read from the first
 * kilobyte, and N is held against the machine's memory, the length of the text
 * and the disk. The reader of the text later proves that N was true. An Orestes
 * text has no such row; its reader has a limit of its own.
 */
#include "form.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/share.h>

#include "../lib/disk/disk.h"
#include "../lib/text/span.h"

enum { FRONT = 1024 }; /* bytes that the rows before the plan fit into */

/* --- recognise --- */

/* An object whose first member is one of Orestes' three. Other JSON is not
   worth a download, nor a complaint. */
static bool is_orestes(const char *at, const char *end)
{
    while (at < end && memchr(" \t\r\n", *at, 4))
        at++;
    if (at == end || *at++ != '{')
        return false;
    while (at < end && memchr(" \t\r\n", *at, 4))
        at++;
    return end - at >= 3 && at[0] == '"' && memchr("mhb", at[1], 3) &&
           at[2] == '"';
}

enum harvest_form harvest_form_of(const void *first, size_t n)
{
    const char *at = first;

    if (n >= 8 && !memcmp(at, "\x89seen\r\n\x1a", 8))
        return HARVEST_FORM_SEEN;
    if (n >= 5 && !memcmp(at, "seen,", 5))
        return HARVEST_FORM_TEXT;
    return is_orestes(at, at + n) ? HARVEST_FORM_ORESTES : HARVEST_FORM_NONE;
}

/* The first bytes of a file, at most `room`. */
static enum seen_code read_front(const char *path, char *to, size_t room,
                                 size_t *n, struct seen_error *why)
{
    int fd = disk_open(path, O_RDONLY | O_NOFOLLOW, 0);
    ssize_t some = fd >= 0 ? 1 : -1;

    for (*n = 0; some > 0 && *n<room; *n += some> 0 ? (size_t)some : 0)
        some = read(fd, to + *n, room - *n);
    if (fd >= 0)
        close(fd);
    return some >= 0 ? SEEN_OK
                     : seen_fail(why, SEEN_IO, 0,
                                 "the downloaded file cannot be read");
}

enum seen_code harvest_form_of_file(enum harvest_form *form, const char *path,
                                    struct seen_error *why)
{
    char first[HARVEST_FORM_FIRST];
    size_t n;
    enum seen_code code = read_front(path, first, sizeof first, &n, why);

    *form = code == SEEN_OK ? harvest_form_of(first, n) : HARVEST_FORM_NONE;
    return code;
}

bool harvest_form_text_type(struct seen_span type)
{
    struct seen_span rest = type, word;

    if (span_cut(&rest, ';', &word)) /* its parameters */
        type = span_trim(word);
    return span_like(type, "text/csv") || span_like(type, "application/json");
}

bool harvest_form_text_url(const char *url)
{
    return harvest_url_ends(url, ".csv") || harvest_url_ends(url, ".json");
}

/* --- convert --- */

/* Can a text of this length describe `cells` bytes of cells? */
static enum seen_code check_cells(const struct harvest_round *r,
                                  uint64_t length, uint64_t cells,
                                  struct seen_error *why)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t memory = pages > 0 ? (uint64_t)pages * (uint64_t)page
                                : UINT64_MAX;

    if (cells > memory / HARVEST_FORM_SHARE)
        return seen_fail(why, SEEN_RANGE, 0,
                         "has %llu bytes of cells as text, more than a "
                         "quarter of this machine's memory",
                         (unsigned long long)cells);
    if (cells > HARVEST_FORM_SMALL &&
        cells - HARVEST_FORM_SMALL > length * HARVEST_FORM_SPARSE)
        return seen_fail(why, SEEN_RANGE, 0,
                         "describes %llu bytes of cells by a text of %llu: it "
                         "is nearly empty",
                         (unsigned long long)cells,
                         (unsigned long long)length);
    return harvest_fits(r, cells, 0, why);
}

/* The row "cells,N" is one of the first. The reader makes sure that it is
   right, but after the cells were allocated. */
static enum seen_code text_cells(const char *path, uint64_t *cells,
                                 struct seen_error *why)
{
    char front[FRONT + 1], *row, *end;
    size_t n;
    enum seen_code code = read_front(path, front, FRONT, &n, why);

    if (code != SEEN_OK)
        return code;
    front[n] = '\0';
    row = strstr(front, "\ncells,");
    *cells = row ? strtoull(row + strlen("\ncells,"), &end, 10) : 0;
    if (!row || end == row + strlen("\ncells,") ||
        (*end != '\r' && *end != '\n'))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "is not the text form of a filter: cells is missing");
    return SEEN_OK;
}

static enum seen_code load(const struct harvest_round *r,
                           enum harvest_form form, const char *from,
                           uint64_t length, struct seen_filter **f,
                           struct seen_error *why)
{
    uint64_t cells;
    enum seen_code code;

    if (form == HARVEST_FORM_ORESTES) /* at most 512 MiB of cells */
        return seen_orestes_load(f, from, why);
    code = text_cells(from, &cells, why);
    if (code == SEEN_OK)
        code = check_cells(r, length, cells, why);
    return code == SEEN_OK ? seen_csv_load(f, from, NULL, why) : code;
}

enum seen_code harvest_form_convert(const struct harvest_round *r,
                                    enum harvest_form form, const char *from,
                                    uint64_t length, const char *to,
                                    struct seen_error *why)
{
    struct seen_filter *f = NULL;
    enum seen_code code = load(r, form, from, length, &f, why);

    if (code == SEEN_OK)
        code = check_cells(r, length, seen_filter_bytes(f), why);
    if (code == SEEN_OK)
        code = seen_store_save(f, to, why);
    seen_filter_free(f);
    return code;
}
