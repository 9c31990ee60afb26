/*
 * commit_page.c - a page in the files, and in the state.
 *
 * A page that was fetched has a row (crawl_known) from its first visit on; one
 * that is to be tried again stays in the frontier, and so does one whose origin
 * was given up; one that robots.txt or --skip kept out is only logged.
 */
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/text/span.h"
#include "../../warc/cdxj.h"
#include "../page/log.h"
#include "../folder/revisit.h"
#include "../page/scope.h"

bool crawl_page_is_final(const struct crawl_page *page)
{
    return page->outcome != CRAWL_AGAIN;
}

bool crawl_page_was_fetched(const struct crawl_page *page)
{
    return crawl_page_is_final(page) && page->outcome != CRAWL_ROBOTS &&
           page->outcome != CRAWL_SKIPPED && page->outcome != CRAWL_CLOSED;
}

/* Step 2: what the files get. */
enum seen_code crawl_group_write_files(struct crawl *c,
                                       struct crawl_page *page,
                                       const char *via, struct seen_error *why)
{
    struct crawl_output *o = &c->output;
    enum seen_code code;
    const char *file;
    uint64_t offset;

    if (!crawl_page_is_final(page) && !page->robots)
        return SEEN_OK;
    if (page->packed.bytes.len) {
        const struct warc_exchange x = {
            .url = page->url,
            .when = (uint64_t)page->started,
            .status = page->status,
            .type = *page->mime ? page->mime : NULL,
            .revisit = !page->revisit        ? WARC_NEW
                       : page->status == 304 ? WARC_NOT_MODIFIED
                                             : WARC_IDENTICAL,
        };

        code = crawl_output_warc(o, &page->packed.bytes, &file, &offset, why);
        if (code != SEEN_OK)
            return code;
        /* Replayers take a 304 for the newest capture, and show nothing. Without
           its line they show the earlier capture, which is what it means. */
        if (x.revisit != WARC_NOT_MODIFIED || c->settings->index_304)
            warc_cdxj(&o->pending[CRAWL_FILE_CDXJ], &x, &page->packed, file,
                      offset);
        snprintf(page->place, sizeof page->place, "%llu %.60s",
                 (unsigned long long)(offset + page->packed.response.at),
                 file);
    }
    buffer_append(&o->pending[CRAWL_FILE_PAGES], &page->record);
    crawl_log_line(&o->pending[CRAWL_FILE_LOG], page, via, crawl_now(c));
    return SEEN_OK;
}

/*
 * Did the visit before lose this page? It did not fetch it, and its filter had
 * it for seen, for no other reason than a false positive. A continuous crawl
 * does not fetch every page in every visit: there, only a page that nobody
 * knows may have been lost.
 */
static enum seen_code note_lost(struct crawl_group *g,
                                const struct crawl_page *page,
                                struct seen_error *why)
{
    struct crawl *c = g->c;
    const struct crawl_known *known = &page->known;
    enum seen_code code;
    bool reason;

    if (known->id && (c->settings->strategy == CRAWL_CONTINUOUS ||
                      known->visit >= c->state.visit.id - 1))
        return SEEN_OK;
    if (!crawl_cache_was_lost(&c->cache, &page->key, span_of(page->url)))
        return SEEN_OK;
    code = crawl_state_was_unfetched(&c->state, &page->key, &reason, why);
    if (code != SEEN_OK || reason)
        return code;
    g->recovered++;
    return crawl_state_recovered(&c->state, page->url, why);
}

/* What the answer says about changes of the page. A page that is gone, or
   that leads elsewhere, has changed; one that fails has not been seen. */
static void note_change(struct crawl_known *row, const struct crawl_page *page)
{
    bool had_content = row->status == 304 ||
                       (row->status >= 200 && row->status < 300);

    switch (page->outcome) {
    case CRAWL_STORED: crawl_revisit_note(row, page->started, true); break;
    case CRAWL_UNCHANGED:
        crawl_revisit_note(row, page->started, !had_content);
        break;
    case CRAWL_FAILED: crawl_revisit_miss(row, page->started); break;
    default:
        if (page->status == 429 || page->status >= 500)
            crawl_revisit_miss(row, page->started);
        else
            crawl_revisit_note(row, page->started,
                               row->status != page->status);
    }
}

/* Seconds between visits of the page, if a template says: by the rule that led
   to it, or for pages of its type. */
static int64_t find_interval(const struct crawl *c,
                             const struct crawl_page *page)
{
    const char *type;
    uint64_t ms;

    if (page->flags >> CRAWL_FLAG_MINUTES)
        return 60 * (int64_t)(page->flags >> CRAWL_FLAG_MINUTES);
    if (page->known.id && page->known.every)
        return page->known.every;
    if (!c->template)
        return 0;
    type = crawl_template_type(c->template, *page->type ? page->type : NULL,
                               page->url, strlen(page->url), NULL);
    ms = crawl_template_revisit(c->template, type);
    return ms == CRAWL_UNSET ? 0 : (int64_t)(ms / 1000);
}

/* The row of a fetched page. */
static enum seen_code keep(struct crawl_group *g, struct crawl_page *page,
                           int64_t *id, struct seen_error *why)
{
    struct crawl *c = g->c;
    static char empty[] = "";
    struct crawl_known row = page->known;
    bool content = page->outcome == CRAWL_STORED ||
                   page->outcome == CRAWL_UNCHANGED;
    enum seen_code code = note_lost(g, page, why);

    if (code != SEEN_OK)
        return code;
    if (!row.id) {
        row.first = page->started;
        row.etag = row.modified = row.digest = row.place = empty;
    }
    row.url = page->url;
    row.type = page->type;
    row.depth = page->depth;
    row.every = find_interval(c, page);
    row.note = *page->fault ? page->fault : page->costly;
    row.turn = row.visit == c->state.visit.id ? row.turn + 1 : 1;
    row.visit = c->state.visit.id;
    note_change(&row, page);
    row.status = crawl_log_status(page);
    if (content) {
        if (page->outcome == CRAWL_UNCHANGED && page->status == 304)
            g->saved += row.size;
        if (page->outcome == CRAWL_STORED) {
            row.size = (int64_t)page->size;
            row.stored = page->started;
            row.digest = page->packed.digest;
            row.place = page->place;
        }
        if (page->status != 304) {
            /* Only a page whose copy is whole, and gave all that a template
               wants, is asked for again on a condition. */
            bool whole = *row.place && !page->cut && !page->incomplete;

            row.etag = whole ? page->etag : empty;
            row.modified = whole ? page->modified : empty;
        }
    }
    row.last = page->started;
    row.due = crawl_visit_due(c, &row);
    code = crawl_state_keep(&c->state, &page->key, &row, why);
    *id = row.id;
    return code;
}

struct frontier_page crawl_page_again(const struct crawl_page *page)
{
    struct frontier_page row = { .id = page->id,
                                 .host = page->host->id,
                                 .priority = page->priority,
                                 .attempts = page->attempts,
                                 .flags = page->flags };

    if (page->code == SEEN_OK && page->status >= 300 && page->status < 400) {
        row.flags |= CRAWL_FLAG_AGAIN; /* a redirect to itself */
    } else {
        row.attempts++;
        row.priority += INT64_C(1) << 40; /* after all others of the host */
    }
    return row;
}

static enum seen_code again(struct crawl_group *g, struct crawl_page *page,
                            struct seen_error *why)
{
    const struct frontier_page row = crawl_page_again(page);

    return frontier_defer(g->c->state.frontier, &row, why);
}

/* The index has what the page says now, or nothing if it is gone. */
static enum seen_code index_page(struct crawl *c, struct crawl_page *page,
                                 int64_t id, struct seen_error *why)
{
    const struct buffer *body = &page->body;
    size_t n = page->title_len;

    if (!c->search || page->outcome == CRAWL_FAILED || page->status == 304 ||
        (page->outcome == CRAWL_ERROR && page->status != 404 &&
         page->status != 410))
        return SEEN_OK;
    if (!body->len)
        return crawl_search_drop(c->search, id, why);
    return crawl_search_keep(
        c->search, id, (struct seen_span){ body->bytes, n },
        (struct seen_span){ body->bytes + n, body->len - n }, why);
}

/* No request was made: by a rule that may change, or a filter that may. */
static enum seen_code note_unfetched(struct crawl_group *g,
                                     const struct crawl_page *page,
                                     struct seen_error *why)
{
    struct crawl_state *s = &g->c->state;
    enum seen_code code = crawl_state_unfetched(s, &page->key, why);

    if (code == SEEN_OK && page->outcome == CRAWL_ROBOTS)
        return crawl_left_keep(s, page->key.lo, CRAWL_LEFT_ROBOTS, page->via,
                               why);
    if (code == SEEN_OK && page->outcome == CRAWL_SKIPPED)
        return crawl_left_keep(s, page->key.lo, CRAWL_LEFT_SKIP, page->via,
                               why);
    return code;
}

/* The page stays, away from its host, for the same command or the next visit.
   It is counted by its row, which may come back. */
static enum seen_code park(struct crawl *c, const struct crawl_page *page,
                           struct seen_error *why)
{
    char name[CRAWL_ORIGINS_NAME];
    const struct frontier_origin at = {
        .name = page->crowded ? crawl_origins_name(page->host, name)
                              : crawl_origin_of(span_of(page->url)),
        .closed = span_of(page->fault),
    };

    return frontier_park(c->state.frontier, page->host->id, page->id, &at,
                         why);
}

/* Step 3, for one page. */
enum seen_code crawl_group_write_rows(struct crawl_group *g,
                                      struct crawl_page *page,
                                      const bool *seen, struct seen_error *why)
{
    struct crawl *c = g->c;
    enum seen_code code = SEEN_OK;
    int64_t id = 0;

    if (page->outcome == CRAWL_CLOSED)
        return park(c, page, why);
    g->counts[page->outcome]++;
    g->costly += *page->costly != 0;
    if (!crawl_page_is_final(page))
        return again(g, page, why);
    code = crawl_page_was_fetched(page) ? keep(g, page, &id, why)
                                        : note_unfetched(g, page, why);
    if (code == SEEN_OK)
        code = crawl_group_leave_out(g, page, id, why);
    if (code == SEEN_OK && id)
        code = index_page(c, page, id, why);
    if (code == SEEN_OK)
        code = crawl_group_insert_links(g, page, seen, id, why);
    if (code == SEEN_OK)
        code = frontier_remove(c->state.frontier, page->host->id, page->id,
                               why);
    return code;
}
