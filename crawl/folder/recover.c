/*
 * recover.c - stored copies are read for their links, one group after the other.
 *
 * A value of the state says how far this came: the number of the last page whose
 * copy is done. It is written in the transaction that has the links.
 */
#include "recover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

enum {
    GROUP = 256,             /* copies per transaction, or fewer */
    LINKS_MOST = 4 * 1000000 /* if their links have so many bytes */
};

/* The number of the last page whose copy is done, as a value of the state. */
static const char name[] = "recover", done[] = "done";

static enum seen_code read_place(struct crawl *c, int64_t *last,
                                 struct seen_error *why)
{
    char *kept;
    enum seen_code code = crawl_state_get(&crawl_folder_of(c)->state, name,
                                          &kept, why);

    *last = kept && strcmp(kept, done) ? strtoll(kept, NULL, 10) : -1;
    free(kept);
    return code;
}

static enum seen_code keep_place(struct crawl *c, int64_t last,
                                 struct seen_error *why)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)last);
    return crawl_state_set(&crawl_folder_of(c)->state, name,
                           last < 0 ? done : text, why);
}

enum seen_code crawl_recover_wanted(struct crawl *c, bool *wanted,
                                    struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    int64_t last;
    enum seen_code code = read_place(c, &last, why);

    *wanted = f->state.visit.id && c->settings->strategy != CRAWL_CONTINUOUS &&
              (last >= 0 || c->settings->recover ||
               f->state.visit.expected >= 1);
    return code;
}

enum seen_code crawl_recover_begin(struct crawl *c, bool wanted,
                                   struct seen_error *why)
{
    return keep_place(c, wanted ? 0 : -1, why);
}

bool crawl_recover_goes_on(const struct crawl *c)
{
    return crawl_folder_of(c)->recover.state == CRAWL_RECOVER_GOES_ON;
}

enum seen_code crawl_recover_rests(struct crawl *c, bool *rests,
                                   struct seen_error *why)
{
    int64_t last;
    enum seen_code code = read_place(c, &last, why);

    *rests = last >= 0;
    return code;
}

static enum seen_code open(struct crawl *c, struct seen_error *why)
{
    struct crawl_recover *r = &crawl_folder_of(c)->recover;
    enum seen_code code = read_place(c, &r->last, why);

    if (code != SEEN_OK)
        return code;
    if (r->last < 0) {
        r->state = CRAWL_RECOVER_DONE;
        return SEEN_OK;
    }
    r->state = CRAWL_RECOVER_GOES_ON;
    return crawl_reader_new(&r->reader, &c->hurry, why);
}

void crawl_recover_end(struct crawl *c)
{
    struct crawl_folder *f = crawl_folder_of(c);
    crawl_reader_free(f->recover.reader);
    f->recover = (struct crawl_recover){ .state = CRAWL_RECOVER_UNKNOWN };
}

struct copies {
    struct crawl *c;
    struct crawl_page *first, **next;
    size_t n, bytes;
    bool full, stopped;
};

/* Where the copy is, and what its digest was. Texts are one piece of memory:
   crawl_known_clear(). */
static bool know(struct crawl_page *page, int64_t id, struct seen_span place,
                 struct seen_span digest)
{
    struct crawl_known *known = &page->known;

    known->id = id;
    known->url = calloc(1, place.len + digest.len + 2);
    if (!known->url)
        return false;
    known->place = known->url;
    memcpy(known->place, place.text, place.len);
    known->digest = known->place + place.len + 1;
    memcpy(known->digest, digest.text, digest.len);
    return true;
}

/* A copy becomes a page that has links, and nothing else. */
static enum seen_code take_copy(void *owner, const struct frontier_page *row,
                                struct seen_span place,
                                struct seen_span digest, bool *more,
                                struct seen_error *why)
{
    struct copies *all = owner;
    struct crawl *c = all->c;
    struct crawl_folder *f = crawl_folder_of(c);
    struct crawl_page *page = crawl_page_new(row);
    enum seen_code code = SEEN_NOMEM;

    if (page && know(page, row->via, place, digest)) {
        page->shared = &f->shared;
        code = crawl_read_stored(f->recover.reader, page, why);
    } else {
        seen_fail(why, SEEN_NOMEM, 0, "no memory for a copy");
    }
    if (code != SEEN_OK) {
        crawl_page_free(page);
        *more = false;
        all->stopped = code == SEEN_UNABLE;
        return all->stopped ? SEEN_OK : code;
    }
    *all->next = page;
    all->next = &page->next;
    all->n++;
    all->bytes += page->texts.len + page->links * sizeof *page->link;
    *more = all->n < GROUP && all->bytes < LINKS_MOST;
    all->full = !*more;
    return SEEN_OK;
}

enum seen_code crawl_recover_some(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    struct copies all = { .c = c, .next = &all.first };
    enum seen_code code = SEEN_OK;

    if (f->recover.state == CRAWL_RECOVER_UNKNOWN)
        code = open(c, why);
    if (code != SEEN_OK || !crawl_recover_goes_on(c) || atomic_load(&c->hurry))
        return code;
    code = crawl_state_copies(&f->state, f->recover.last, take_copy, &all,
                              why);
    if (code != SEEN_OK) {
        crawl_pages_free(all.first);
        return code;
    }
    if (all.first)
        code = crawl_commit(c, all.first, why);
    if (code != SEEN_OK || all.full || all.stopped)
        return code;
    crawl_recover_end(c);
    f->recover.state = CRAWL_RECOVER_DONE;
    return keep_place(c, -1, why);
}

enum seen_code crawl_recover_note(struct crawl *c,
                                  const struct crawl_page *page,
                                  struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum seen_code code;

    f->recover.last = page->known.id;
    code = keep_place(c, page->known.id, why);
    return code == SEEN_OK ? crawl_state_count(&f->state,
                                               page->outcome == CRAWL_FAILED
                                                   ? CRAWL_COPIES_LOST
                                                   : CRAWL_COPIES,
                                               1, why)
                           : code;
}
