/*
 * listing.c - a list, cut where a sitemap would become too long.
 *
 * Entries are printed one after another. When the next one would not fit, the
 * ones before it are a part, which is written, and its line of the index is
 * printed; so a list is walked once.
 */
#include "listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/disk/disk.h"
#include "../lib/disk/walk.h"
#include "file.h"


/* --- one file ----------------------------------------------------------- */

static enum seen_code replace(const struct publish_listing *l,
                              const char *name, const struct buffer *b,
                              size_t *changed, struct seen_error *why)
{
    char *path = walk_path(l->folder, name);
    bool new = false;
    enum seen_code code;

    if (!path || b->failed)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    else
        code = publish_listing_check(path, why);
    if (code == SEEN_OK)
        code = disk_make_folders(path, why);
    if (code == SEEN_OK)
        code = disk_update(path, b->bytes, b->len, &new, why);
    *changed += new;
    free(path);
    return publish_blame(name, code, why);
}

/* The frame of a list: of entries from `first` on, a part of `whole`. */
static struct publish_sitemap frame_of(const struct publish_listing *l,
                                       size_t first, const char *whole,
                                       int64_t *from)
{
    struct publish_sitemap frame = l->head;

    frame.comment = PUBLISH_MARK;
    frame.whole = whole;
    if (l->since) {
        *from = first < l->entries ? l->since(l->whose, first) : l->from;
        frame.from = from;
    }
    return frame;
}

/* Write `len` bytes of entries, or of lines of an index, as a file. */
static enum seen_code write_file(const struct publish_listing *l,
                                 const char *name, bool index,
                                 const char *whole, size_t first,
                                 const struct buffer *entries, size_t len,
                                 size_t *changed, struct seen_error *why)
{
    int64_t from;
    struct publish_sitemap frame = frame_of(l, first, whole, &from);
    struct buffer b = { .failed = entries->failed };
    enum seen_code code;

    frame.index = index;
    publish_sitemap_begin(&b, &frame);
    buffer_bytes(&b, entries->bytes, len);
    publish_sitemap_end(&b, &frame);
    code = replace(l, name, &b, changed, why);
    buffer_clear(&b);
    return code;
}

/* --- parts -------------------------------------------------------------- */

struct publish_part {
    unsigned number;    /* from 1 on */
    size_t first, last; /* its entries, `last` excluded */
    size_t len;         /* of them in bytes */
};

static void print_line(struct buffer *index, const struct publish_listing *l,
                       const struct publish_part *part, const char *name)
{
    struct publish_sitemap_entry e = { .part = true,
                                       .base = l->head.base,
                                       .path = name };
    int64_t newest = 0, from;

    for (size_t i = part->first; l->lastmod && i < part->last; i++) {
        int64_t when = l->lastmod(l->whose, i);

        newest = when > newest ? when : newest;
    }
    if (l->lastmod)
        e.lastmod = &newest;
    if (l->since) {
        from = l->since(l->whose, part->first);
        e.capability = l->head.capability;
        e.from = &from;
    }
    publish_sitemap_entry(index, &e);
    publish_sitemap_entry_end(index, &e);
}

/* Write a part, remove its entries, and add its line to the index. */
static enum seen_code write_part(const struct publish_listing *l,
                                 const struct publish_part *part,
                                 const char *whole, struct buffer *entries,
                                 struct buffer *index, size_t *changed,
                                 struct seen_error *why)
{
    char name[80];
    enum seen_code code;

    snprintf(name, sizeof name, "%s-%u.xml", l->name, part->number);
    code = write_file(l, name, false, whole, part->first, entries, part->len,
                      changed, why);
    buffer_drop(entries, part->len);
    print_line(index, l, part, name);
    return code;
}

/* How many bytes there are besides the entries, at most. */
static size_t frame_len(const struct publish_listing *l, const char *whole)
{
    int64_t from;
    struct publish_sitemap frame = frame_of(l, 0, whole, &from);
    struct buffer b = { .bytes = NULL };
    size_t len;

    publish_sitemap_begin(&b, &frame);
    publish_sitemap_end(&b, &frame);
    len = b.len;
    buffer_clear(&b);
    return len;
}

enum seen_code publish_listing_write(const struct publish_listing *l,
                                     unsigned *parts, size_t *changed,
                                     struct seen_error *why)
{
    const size_t urls = l->most_urls ? l->most_urls : PUBLISH_LISTING_URLS;
    const size_t bytes = l->most_bytes ? l->most_bytes : PUBLISH_LISTING_BYTES;
    struct buffer entries = { .bytes = NULL }, index = { .bytes = NULL };
    struct publish_part part = { .number = 1 };
    enum seen_code code = SEEN_OK;
    char name[64];
    size_t frame;

    snprintf(name, sizeof name, "%s%s", l->name, l->bare ? "" : ".xml");
    frame = frame_len(l, name);
    for (size_t i = 0; i < l->entries && code == SEEN_OK; i++) {
        part.len = entries.len;
        part.last = i;
        l->print(&entries, l->whose, i);
        if (i == part.first ||
            (i - part.first < urls && frame + entries.len <= bytes))
            continue;
        code = write_part(l, &part, name, &entries, &index, changed, why);
        part.number++;
        part.first = i;
    }
    part.len = entries.len;
    part.last = l->entries;
    *parts = part.number > 1 ? part.number : 0;
    if (code == SEEN_OK && *parts)
        code = write_part(l, &part, name, &entries, &index, changed, why);
    if (code == SEEN_OK)
        code = write_file(l, name, *parts, NULL, 0, *parts ? &index : &entries,
                          *parts ? index.len : entries.len, changed, why);
    buffer_clear(&entries);
    buffer_clear(&index);
    return code;
}

enum seen_code publish_listing_check(const char *path, struct seen_error *why)
{
    char start[256] = "";
    int fd;
    enum seen_code code = publish_open(&fd, path, why);

    if (code != SEEN_OK || fd < 0)
        return code;
    if (read(fd, start, sizeof start - 1) < 0)
        code = seen_fail(why, SEEN_IO, 0, "cannot be read");
    close(fd);
    if (code == SEEN_OK && !strstr(start, PUBLISH_MARK))
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "exists, and was not written by seen publish; move "
                         "it away, or publish another folder");
    return code;
}
