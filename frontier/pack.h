/*
 * pack.h - some pages that wait at one host, in as few bytes as possible.
 *
 * Of a host's queue only the beginning is read. The rest may lie in a form that
 * is small, and that is written at its end only:
 *
 *     scheme | next | page | page | ...             of a pack; both a byte
 *
 *     says | index? | via? | depth? | flags? | path? | type? | same | rest
 *
 * A page has an index in its pack, from 0 to 63, which it keeps when others are
 * taken out; `next` is the index of the page that is added next. `says` is a
 * byte with a bit for each field that is not as one expects it: index by one
 * more than that of the page before, all others as in the page before. Its URL
 * shares `same` bytes with the URL before it, and has `rest` after them. Before
 * the first one is "http://" or, by the byte `scheme`, "https://" and the name
 * of the host, which therefore is not repeated. Numbers have seven bits per byte,
 * those that may be negative with the sign as the lowest bit. A link that was
 * found on the same page as the one before takes three bytes and what its URL
 * has of its own.
 *
 *     struct frontier_pack pack = { .n = 0 };
 *     struct frontier_pack_reader r;
 *
 *     if (!frontier_pack_begin(&pack, name, 0) ||
 *         !frontier_pack_add(&pack, frontier_pack_next_index(&pack), &page))
 *         no_memory();
 *     frontier_pack_read(&r, bytes, name);
 *     while (frontier_pack_next(&r))
 *         use(&r.page, r.index);
 *     if (r.damaged) ...
 *
 * Threads: a pack and a reader belong to one at a time.
 */
#ifndef SEEN_FRONTIER_PACK_H
#define SEEN_FRONTIER_PACK_H

#include "../lib/text/buffer.h"
#include "frontier.h"

enum {
    FRONTIER_PACK_PAGES = 64,  /* at most */
    FRONTIER_PACK_BYTES = 1300 /* more only if it is a single page: three packs
                                  fill a page of SQLite */
};

/* What the next page is compared with. */
struct frontier_pack_last {
    int64_t via;
    unsigned depth, flags, index;
    struct buffer url, path, type;
};

struct frontier_pack {
    struct buffer bytes;
    unsigned n, flags; /* pages, and the flags that any of them has */
    struct frontier_pack_last last;
};

/* Empty, in the memory that it had. `next` is its byte of that name. False if
   there is no memory, as of frontier_pack_add(); then the pack is good for
   frontier_pack_clear() only. */
bool frontier_pack_begin(struct frontier_pack *pack, struct seen_span host,
                         unsigned next);

/* Add a page with this index, which is higher than that of the page before. */
bool frontier_pack_add(struct frontier_pack *pack, unsigned index,
                       const struct frontier_page *page);

/* The index that a page would get; FRONTIER_PACK_PAGES: the pack is full. */
unsigned frontier_pack_next_index(const struct frontier_pack *pack);

/* Is there room for this URL, too? There is in an empty pack. */
bool frontier_pack_has_room(const struct frontier_pack *pack,
                            const struct frontier_page *page);

void frontier_pack_clear(struct frontier_pack *pack);

struct frontier_pack_reader {
    const unsigned char *at, *end;
    struct frontier_pack_last last;
    unsigned next;  /* the byte of that name */
    unsigned index; /* of the page */
    unsigned n;     /* pages that were read */
    struct frontier_page page; /* its spans live until the next one is read */
    bool damaged, no_memory;
};

/* Read bytes that live as long as the reader does. A reader is zeroed before
   its first use, and may be used again. */
void frontier_pack_read(struct frontier_pack_reader *r, struct seen_span bytes,
                        struct seen_span host);

/* The next page: its priority, host and id are the caller's. False at the end,
   or if `damaged` or `no_memory`. */
bool frontier_pack_next(struct frontier_pack_reader *r);

void frontier_pack_reader_clear(struct frontier_pack_reader *r);

/* --- numbers and texts, for others who pack --- */

void frontier_pack_put_number(struct buffer *to, uint64_t x);
/* False: there is none. */
bool frontier_pack_number(const unsigned char **at, const unsigned char *end,
                          uint64_t *x);

/* A text after another one, which becomes it. frontier_pack_text() is false if
   there is none, or no memory, as last->failed says. */
void frontier_pack_put_text(struct buffer *to, struct buffer *last,
                            struct seen_span text);
bool frontier_pack_text(const unsigned char **at, const unsigned char *end,
                        struct buffer *last);

#endif
