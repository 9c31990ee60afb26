/*
 * rows.c - a page in the state of a folder: its row, those of its links, and
 * what is known of links that were left out.
 *
 * A page that was fetched has a row (crawl_known) from its first visit on; one
 * that is to be tried again stays in the frontier, and so does one whose origin
 * was given up; one that robots.txt or --skip kept out is only logged; one that
 * was set aside has a row in a table of its own (aside.h).
 */
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/text/array.h"
#include "../../lib/text/span.h"
#include "../engine/learn.h"
#include "../page/scope.h"
#include "aside.h"
#include "inside.h"
#include "left_out.h"

/*
 * Did the visit before lose this page? No visit fetched it, and the filter of
 * that one had it for seen, for no other reason than a false positive. A page
 * that is known is in every filter, whether it is due or not.
 */
static enum seen_code note_lost(struct crawl_rows *r,
                                const struct crawl_page *page,
                                struct seen_error *why)
{
    struct crawl *c = r->g->c;
    struct crawl_folder *f = crawl_folder_of(c);
    const struct crawl_known *known = &page->known;
    enum seen_code code;
    bool reason;

    if (known->id)
        return SEEN_OK;
    if (!crawl_cache_was_lost(&f->cache, &page->key, span_of(page->url)))
        return SEEN_OK;
    code = crawl_state_was_unfetched(&f->state, &page->key, &reason, why);
    if (code != SEEN_OK || reason)
        return code;
    r->recovered++;
    return crawl_state_recovered(&f->state, page->url, why);
}

/* The row of a fetched page. */
static enum seen_code keep(struct crawl_rows *r, struct crawl_page *page,
                           int64_t *id, struct seen_error *why)
{
    struct crawl *c = r->g->c;
    struct crawl_folder *f = crawl_folder_of(c);
    struct crawl_known row = page->known;
    enum seen_code code = note_lost(r, page, why);

    if (code != SEEN_OK)
        return code;
    if (page->outcome == CRAWL_UNCHANGED && page->status == 304)
        r->saved += row.size;
    row.turn = row.visit == f->state.visit.id ? row.turn + 1 : 1;
    row.visit = f->state.visit.id;
    crawl_learn(&row, page, f->template, true);
    row.due = crawl_visit_due(c, &row);
    code = crawl_state_keep(&f->state, &page->key, &row, why);
    *id = row.id;
    return code;
}

static enum seen_code again(struct crawl_rows *r, struct crawl_page *page,
                            struct seen_error *why)
{
    const struct frontier_page row = crawl_page_again(page);

    return frontier_defer(crawl_folder_of(r->g->c)->state.frontier, &row, why);
}

/* The index has what the page says now, or nothing if it is gone. */
static enum seen_code index_page(struct crawl *c, struct crawl_page *page,
                                 int64_t id, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    const struct buffer *body = &page->body;
    size_t n = page->title_len;

    if (!f->search || page->outcome == CRAWL_FAILED || page->status == 304 ||
        (page->outcome == CRAWL_ERROR && page->status != 404 &&
         page->status != 410))
        return SEEN_OK;
    if (!body->len)
        return crawl_search_drop(f->search, id, why);
    return crawl_search_keep(
        f->search, id, (struct seen_span){ body->bytes, n },
        (struct seen_span){ body->bytes + n, body->len - n }, why);
}

/* No request was made: by a rule that may change, or a filter that may. */
static enum seen_code note_unfetched(struct crawl_rows *r,
                                     const struct crawl_page *page,
                                     struct seen_error *why)
{
    struct crawl_state *s = &crawl_folder_of(r->g->c)->state;
    enum seen_code code = crawl_state_unfetched(s, &page->key, why);

    if (code == SEEN_OK && page->outcome == CRAWL_ROBOTS)
        return crawl_left_keep(s, page->key.lo, CRAWL_LEFT_ROBOTS, page->via,
                               why);
    if (code == SEEN_OK && page->outcome == CRAWL_SKIPPED)
        return crawl_left_keep(s, page->key.lo, CRAWL_LEFT_SKIP, page->via,
                               why);
    if (code == SEEN_OK && page->outcome == CRAWL_ASIDE)
        return crawl_folder_aside_keep(r->g->c, page, why);
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

    return frontier_park(crawl_folder_of(c)->state.frontier, page->host->id,
                         page->id, &at, why);
}

/* --- links --- */

static enum seen_code note_host(struct crawl_rows *r, int64_t host,
                                struct seen_error *why)
{
    int64_t *more;

    if (r->hosts && r->host[r->hosts - 1] == host)
        return SEEN_OK;
    more = array_grow(r->host, &r->host_room, r->hosts + 1, sizeof *more);
    if (!more)
        return crawl_group_no_memory(why);
    r->host = more;
    more[r->hosts++] = host;
    return SEEN_OK;
}

/* Insert a link that is new as a row. */
static enum seen_code insert(struct crawl_rows *r, struct crawl_page *page,
                             const struct crawl_link *link, int64_t via,
                             struct seen_error *why)
{
    struct crawl *c = r->g->c;
    struct crawl_folder *f = crawl_folder_of(c);
    char path[CRAWL_PATH];
    struct frontier_page row = crawl_link_row(page, link, path);
    enum seen_code code;

    row.via = via;
    code = frontier_host_id(f->state.frontier, crawl_host_of(row.url),
                            &row.host, why);
    if (code != SEEN_OK)
        return code;
    code = frontier_add(f->state.frontier, &row, &r->last, why);
    r->fresh++;
    return code == SEEN_OK ? note_host(r, row.host, why) : code;
}

/* It becomes no row, and is a trap that `seen crawl why` knows of. */
static enum seen_code note_endless(struct crawl_rows *r,
                                   const struct crawl_found *found,
                                   struct seen_error *why)
{
    struct crawl_state *s = &crawl_folder_of(r->g->c)->state;
    const struct crawl_link *link = found->link;
    struct seen_span url = { found->page->texts.bytes + link->url,
                             link->url_len };
    enum seen_code code;
    char reason[80];

    snprintf(reason, sizeof reason,
             "%llu pages differ in their query only; see --max-queries",
             (unsigned long long)r->g->c->settings->max_queries);
    r->left[CRAWL_LEFT_TRAP]++;
    code = crawl_state_trap(s, url, span_of(reason), 1, why);
    return code == SEEN_OK ? crawl_state_unfetched(s, &link->key, why) : code;
}

/* The traps that a reader noticed; it remembers some, and counts all. */
static enum seen_code insert_traps(struct crawl_rows *r,
                                   const struct crawl_page *page,
                                   struct seen_error *why)
{
    struct seen_span rest = { page->traps.bytes, page->traps.len };
    int64_t more = (int64_t)page->excluded[CRAWL_LEFT_TRAP] -
                   (int64_t)page->trapped;
    struct seen_span reason, url;
    enum seen_code code = SEEN_OK;

    while (code == SEEN_OK && span_cut(&rest, '\0', &reason) &&
           span_cut(&rest, '\0', &url)) {
        code = crawl_state_trap(&crawl_folder_of(r->g->c)->state, url, reason,
                                1 + more, why);
        more = 0;
    }
    return code;
}

/* Counts of links that are not followed, and rows for what `seen crawl why`
   says. */
static enum seen_code leave_out(struct crawl_rows *r,
                                const struct crawl_page *page, int64_t via,
                                struct seen_error *why)
{
    enum seen_code code = insert_traps(r, page, why);

    for (int i = 0; i < CRAWL_LEFT_LINKS; i++)
        r->left[i] += (int64_t)page->excluded[i];
    for (size_t i = 0; code == SEEN_OK && i < page->lefts; i++)
        code = crawl_left_keep(&crawl_folder_of(r->g->c)->state,
                               page->left[i].key, page->left[i].reason, via,
                               why);
    return code;
}

/* Rows for the links that were found on the page `via`. */
static enum seen_code insert_links(struct crawl_rows *r,
                                   const struct crawl_part *part, int64_t via,
                                   struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = part->first; code == SEEN_OK && i < part->end; i++) {
        struct crawl_found *found = &r->g->found[i];

        found->fresh = !found->endless;
        code = found->endless ? note_endless(r, found, why)
                              : insert(r, part->page, found->link, via, why);
    }
    return code;
}

static enum seen_code write_page(struct crawl_rows *r,
                                 const struct crawl_part *part,
                                 struct seen_error *why)
{
    struct crawl_page *page = part->page;
    struct crawl *c = r->g->c;
    enum seen_code code = SEEN_OK;
    int64_t id = 0;

    if (page->outcome == CRAWL_CLOSED)
        return park(c, page, why);
    r->counts[page->outcome]++;
    r->costly += *page->costly != 0;
    if (!crawl_page_is_final(page))
        return again(r, page, why);
    code = crawl_page_was_fetched(page) ? keep(r, page, &id, why)
                                        : note_unfetched(r, page, why);
    if (code == SEEN_OK)
        code = leave_out(r, page, id, why);
    if (code == SEEN_OK && id)
        code = index_page(c, page, id, why);
    if (code == SEEN_OK)
        code = insert_links(r, part, id, why);
    if (code == SEEN_OK)
        code = frontier_remove(crawl_folder_of(c)->state.frontier,
                               page->host->id, page->id, why);
    return code;
}

enum seen_code crawl_rows_write(struct crawl_rows *r,
                                const struct crawl_part *part,
                                struct seen_error *why)
{
    const struct crawl_page *page = part->page;
    int64_t id = page->copy ? page->known.id : 0;
    enum seen_code code;

    if (!page->robots && !page->copy)
        return write_page(r, part, why);
    code = leave_out(r, page, id, why);
    if (code == SEEN_OK)
        code = insert_links(r, part, id, why);
    return code == SEEN_OK && page->copy
               ? crawl_recover_note(r->g->c, page, why)
               : code;
}
