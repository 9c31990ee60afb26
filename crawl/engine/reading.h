/*
 * reading.h - which pages the readers are reading, noted where it outlives the
 * process.
 *
 * A page may kill the process that reads it: a parser crashes, or the kernel
 * has no memory left. The next process would read it again and die again. So
 * each reader has a note in a small file that is mapped into memory:
 *
 *     DIR/reading     magic, boot id | note of reader 0 | note of reader 1 ...
 *
 *     code = crawl_reading_left(path, suspect, &n, &why);    of a dead process
 *     code = crawl_reading_open(&r, path, &why);
 *     crawl_reading_begin(r, 3, page, alone);
 *     crawl_read(...);
 *     crawl_reading_end(r, 3);
 *     crawl_reading_close(r);                   removes the file
 *
 * The pages of a mapped file belong to the kernel, so they outlive SIGKILL
 * without a flush. A power cut may lose them, or leave old ones: then a page is
 * suspected that did nothing, which costs little. A note is a store of five
 * words, and no system call.
 *
 * A robots.txt has no row: it is noted by the name of its origin, while it is
 * read, and while readers ask it about pages.
 *
 * What a suspect is, and what is done about it: aside.h.
 *
 * Threads: a note belongs to one reader. Opening, closing and
 * crawl_reading_left() are for one thread, and for one process per path, which
 * a lock makes sure of.
 */
#ifndef SEEN_CRAWL_READING_H
#define SEEN_CRAWL_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

struct crawl_origin;
struct crawl_page;
struct crawl_reading;

enum {
    CRAWL_READING_MOST = 64,   /* notes, and so readers */
    CRAWL_READING_ORIGIN = 288 /* bytes of a name, with a zero */
};

/* A page, or a robots.txt, that was being read when a process died. */
struct crawl_suspect {
    char origin[CRAWL_READING_ORIGIN]; /* of a robots.txt; or "" */
    int64_t id, visit; /* as the page had them */
    uint64_t lo, hi;   /* its key */
    bool alone; /* nothing else was being read, and the machine runs on */
};

/* What a dead process left at `path`: nothing if there is no such file, or it
   is damaged, or not this user's. */
enum seen_code crawl_reading_left(
    const char *path, struct crawl_suspect suspect[CRAWL_READING_MOST],
    size_t *n, struct seen_error *why);

/* Make the file, or empty it. */
enum seen_code crawl_reading_open(struct crawl_reading **out, const char *path,
                                  struct seen_error *why);
/* And remove it; NULL is accepted. Nobody may read any more. */
void crawl_reading_close(struct crawl_reading *r);

/* With NULL nothing is noted; nor is a robots.txt whose origin has a longer
   name. */
void crawl_reading_begin(struct crawl_reading *r, unsigned reader,
                         const struct crawl_page *page, bool alone);
void crawl_reading_begin_robots(struct crawl_reading *r, unsigned reader,
                                const struct crawl_origin *origin, bool alone);
void crawl_reading_end(struct crawl_reading *r, unsigned reader);

#endif
