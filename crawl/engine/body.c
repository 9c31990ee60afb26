/*
 * body.c - bodies in memory, and in files when memory is scarce.
 *
 * A body moves to a file once, when it has more than its share and all bodies
 * together have more than CRAWL_BODIES_ANY. It never moves back before a reader
 * has time for it. The file has no name, so a process that dies leaves none.
 */
#include "body.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../lib/disk/disk.h"

void crawl_bodies_init(struct crawl_bodies *b, const char *folder,
                       size_t requests)
{
    *b = (struct crawl_bodies){
        .folder = folder,
        .share = CRAWL_BODIES_SHARED / (requests ? requests : 1),
    };
}

size_t crawl_body_size(const struct crawl_page *page)
{
    return page->filed ? page->filed : page->raw.len;
}

/* --- memory --- */

static void count(struct crawl_bodies *b, struct crawl_page *page)
{
    atomic_fetch_add(&b->held, page->raw.len - page->held);
    page->held = page->raw.len;
}

static void uncount(struct crawl_bodies *b, struct crawl_page *page)
{
    atomic_fetch_sub(&b->held, page->held);
    page->held = 0;
}

static bool fits(const struct crawl_bodies *b, const struct crawl_page *page,
                 size_t n)
{
    return page->raw.len + n <= b->share ||
           atomic_load(&b->held) + n <= CRAWL_BODIES_ANY;
}

/* --- files --- */

/* From memory to a file. */
static enum seen_code move(struct crawl_bodies *b, struct crawl_page *page,
                           struct seen_error *why)
{
    int fd = disk_temporary(b->folder);
    enum seen_code code;

    if (fd < 0)
        return seen_fail(why, SEEN_IO, 0, "%.100s", b->folder);
    code = disk_write(fd, page->raw.bytes, page->raw.len, 0, why);
    if (code != SEEN_OK) {
        close(fd);
        return disk_named(code, b->folder, why);
    }
    page->file = fd;
    page->filed = page->raw.len;
    uncount(b, page);
    buffer_clear(&page->raw);
    return SEEN_OK;
}

static enum seen_code write_on(struct crawl_bodies *b, struct crawl_page *page,
                               const void *bytes, size_t n,
                               struct seen_error *why)
{
    enum seen_code code = disk_write(page->file, bytes, n, page->filed, why);

    if (code == SEEN_OK)
        page->filed += n;
    return disk_named(code, b->folder, why);
}

static enum seen_code hold(struct crawl_bodies *b, struct crawl_page *page,
                           const void *bytes, size_t n, struct seen_error *why)
{
    buffer_bytes(&page->raw, bytes, n);
    if (page->raw.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a page");
    count(b, page);
    return SEEN_OK;
}

enum seen_code crawl_body_add(struct crawl_bodies *b, struct crawl_page *page,
                              const void *bytes, size_t n,
                              struct seen_error *why)
{
    enum seen_code code;

    if (page->filed)
        return write_on(b, page, bytes, n, why);
    /* A share may be less than what comes at once. */
    if (fits(b, page, n) || !page->raw.len)
        return hold(b, page, bytes, n, why);
    code = move(b, page, why);
    return code == SEEN_OK ? write_on(b, page, bytes, n, why) : code;
}

enum seen_code crawl_body_load(struct crawl_bodies *b, struct crawl_page *page,
                               struct seen_error *why)
{
    enum seen_code code;

    if (!page->filed)
        return SEEN_OK;
    page->raw = (struct buffer){ .bytes = malloc(page->filed),
                                 .len = page->filed,
                                 .room = page->filed };
    if (!page->raw.bytes) {
        page->raw = (struct buffer){ .bytes = NULL };
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a page");
    }
    code = disk_read(page->file, page->raw.bytes, page->filed, 0, why);
    close(page->file);
    page->filed = 0;
    return disk_named(code, b->folder, why);
}

void crawl_body_drop(struct crawl_bodies *b, struct crawl_page *page)
{
    uncount(b, page);
    if (page->filed)
        close(page->file);
    page->filed = 0;
    page->raw.len = 0;
    if (page->raw.room > CRAWL_SPARE_MOST || page->raw.failed)
        buffer_clear(&page->raw);
}
