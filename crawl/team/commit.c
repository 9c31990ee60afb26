/*
 * commit.c - the commits of a worker: records to the queue, rows to the shared
 * frontier, which says after the commit what was new.
 */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/little.h"
#include "../../lib/text/span.h"
#include "../engine/learn.h"
#include "../page/record.h"
#include "../page/revisit.h"
#include "../page/scope.h"
#include "cache.h"

enum { PUBLISH_AGAIN = 200 }; /* ms */

/* The rows of a group, and what they point to. */
struct shared_rows {
    struct frontier_group all;
    struct frontier_robots *robots;
    struct crawl_part **part;   /* of done[i] */
    struct crawl_found **found; /* of link[i] */
    char (*path)[CRAWL_PATH];
    struct crawl_known *row; /* what is known of done[i] now */
    bool uncertain; /* its database went away */
    struct frontier_known *known;
};

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a commit");
}

/* All pages of a group are of hosts of one database. */
static enum seen_code begin(struct crawl_group *g, struct seen_error *why)
{
    (void)why;
    crawl_team_of(g->c)->database = g->database;
    return SEEN_OK;
}

/* --- step 1: which links does the visit's filter not have? --- */

static bool reads_texts(const struct crawl *c)
{
    return crawl_team_cache_reads(crawl_team_of(c));
}

static enum seen_code ask(struct crawl *c, const struct crawl_page *page,
                          const struct seen_key *key, size_t n, bool *seen,
                          struct seen_error *why)
{
    if (crawl_team_of(c)->settings.cache)
        crawl_team_cache_ask(c, crawl_team_visit_of(page), key, n, seen);
    else if (crawl_team_visit_of(page)->filter)
        return seen_filter_has(crawl_team_visit_of(page)->filter, key, n, seen,
                               why);
    return SEEN_OK;
}

/* --- step 3 --- */

/* The fetching thread says it, once per minute. */
void crawl_team_warn(struct crawl *c, const struct seen_error *why)
{
    enum { OFTEN = 60000 };
    struct crawl_team *t = crawl_team_of(c);

    if (t->warned && clock_ms() - t->warned < OFTEN)
        return;
    t->warned = clock_ms();
    pthread_mutex_lock(&c->lock);
    snprintf(c->warning, sizeof c->warning, "%s", why->text);
    pthread_mutex_unlock(&c->lock);
}

enum seen_code crawl_team_publish(struct crawl *c,
                                  const struct crawl_post *post, size_t n,
                                  struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(c);
    double began = clock_seconds();
    enum seen_code code;

    for (;;) {
        const struct timespec pause = { .tv_nsec = PUBLISH_AGAIN * 1000000L };
        enum seen_code lease;

        code = t->posts.publish(t->posts.owner, post, n, why);
        if (code != SEEN_IO && code != SEEN_BUSY)
            break;
        if (atomic_load(&c->stop)) /* what is not committed comes again */
            break;
        crawl_team_warn(c, why);
        lease = crawl_team_renew(c, why);
        if (lease != SEEN_OK) {
            code = lease;
            break;
        }
        nanosleep(&pause, NULL);
    }
    t->report.in_queue += clock_seconds() - began;
    t->report.records += code == SEEN_OK ? n : 0;
    return code;
}

static unsigned shard_of(const struct crawl_page *page)
{
    return (unsigned)(page->key.lo % crawl_team_visit_of(page)->job->shards);
}

static enum seen_code publish(struct crawl_group *g, struct seen_error *why)
{
    char(*id)[CRAWL_RECORD_ID] = calloc(g->parts + 1, sizeof *id);
    struct crawl_post *post = calloc(g->parts + 1, sizeof *post);
    enum seen_code code = id && post ? SEEN_OK : no_memory(why);
    size_t n = 0;

    for (size_t i = 0; code == SEEN_OK && i < g->parts; i++) {
        const struct crawl_page *page = g->part[i].page;

        if (page->robots || !page->record.len)
            continue;
        if (!crawl_record_id(id[n], page->shared->visit, span_of(page->url),
                             1))
            code = no_memory(why);
        post[n] = (struct crawl_post){ .shard = shard_of(page),
                                       .id = id[n],
                                       .body = { page->record.bytes,
                                                 page->record.len } };
        n++;
    }
    if (code == SEEN_OK && n)
        code = crawl_team_publish(g->c, post, n, why);
    free(id);
    free(post);
    return code;
}

/* --- step 4 --- */

static enum frontier_page_end end_of(const struct crawl_page *page)
{
    switch (page->outcome) {
    case CRAWL_AGAIN: return FRONTIER_AGAIN;
    case CRAWL_ROBOTS: return FRONTIER_EXCLUDED;
    case CRAWL_CLOSED: return FRONTIER_LEFT;
    case CRAWL_ASIDE: return FRONTIER_ASIDE;
    case CRAWL_FAILED: return FRONTIER_FAILED;
    case CRAWL_ERROR: /* 404 and 410 are news about the page, others are not */
        return page->record.len ? FRONTIER_FETCHED : FRONTIER_FAILED;
    default: return FRONTIER_FETCHED;
    }
}

static enum seen_code make_room(const struct crawl_group *g,
                                struct shared_rows *r, struct seen_error *why)
{
    const size_t pages = g->parts + 1, links = g->founds + 1;

    r->part = calloc(pages, sizeof *r->part);
    r->robots = calloc(pages, sizeof *r->robots);
    r->all.done = calloc(pages, sizeof *r->all.done);
    r->all.link = calloc(links, sizeof *r->all.link);
    r->all.from = calloc(links, sizeof *r->all.from);
    r->all.fresh = calloc(links, sizeof *r->all.fresh);
    r->found = calloc(links, sizeof *r->found);
    r->path = calloc(links, sizeof *r->path);
    r->row = calloc(pages, sizeof *r->row);
    r->known = calloc(pages, sizeof *r->known);
    r->all.robots = r->robots;
    r->all.asked = g->asked;
    r->all.askeds = g->askeds;
    r->all.origin = g->origin;
    r->all.origins = g->origins;
    return r->part && r->robots && r->all.done && r->all.link && r->all.from &&
                   r->all.fresh && r->found && r->path && r->row && r->known
               ? SEEN_OK
               : no_memory(why);
}

static void clear(struct crawl_group *g)
{
    struct shared_rows *r = g->rows;

    if (!r)
        return;
    free(r->part);
    free(r->robots);
    free(r->all.done);
    free(r->all.link);
    free(r->all.from);
    free(r->all.fresh);
    free(r->found);
    free(r->path);
    free(r->row);
    free(r->known);
    free(r);
}

static void add_link(struct shared_rows *r, struct crawl_found *found,
                     size_t from)
{
    struct frontier_group *all = &r->all;
    struct frontier_link *row = &all->link[all->links];
    const struct crawl_page *page = found->page;

    *row = (struct frontier_link){
        .visit = crawl_team_visit_of(page)->id,
        .page = crawl_link_row(page, found->link, r->path[all->links]),
    };
    row->page.via = page->robots ? 0 : page->id;
    row->host = crawl_host_of(row->page.url);
    little_put_64(row->key, found->link->key.lo);
    little_put_64(row->key + 8, found->link->key.hi);
    r->found[all->links] = found;
    all->from[all->links++] = from;
}

/* --- what is known of a page --- */

/* When it is due, by the time in the names of visits: the clocks of workers do
   not matter, nor how late a visit begins. 0: in every visit. */
static int64_t find_due(const struct crawl_job *job,
                        const struct crawl_page *page,
                        const struct crawl_known *row)
{
    int64_t interval = crawl_revisit_due(&job->settings, row) - row->last;

    if (page->outcome == CRAWL_FAILED || page->status == 429 ||
        page->status >= 500 || (!row->every && !job->policy))
        return 0;
    return (int64_t)job->due * 1000 + interval;
}

/* A page that robots.txt keeps out, or that was set aside, is known, too, if
   nothing else is: next time it may be let in, and nobody may read again the
   page that led to it. */
static bool learn(const struct crawl *c, struct crawl_page *page,
                  struct crawl_known *row)
{
    const struct crawl_job *job = crawl_team_visit_of(page)->job;

    *row = page->known;
    row->terms = (int64_t)job->terms;
    if (crawl_page_was_fetched(page)) {
        crawl_learn(row, page, job->template, crawl_team_of(c)->folder);
        row->due = find_due(job, page, row);
        if ((page->outcome == CRAWL_STORED ||
             page->outcome == CRAWL_UNCHANGED) &&
            page->status != 304)
            row->links = (int64_t)page->links;
        return true;
    }
    row->url = page->url;
    row->type = page->type;
    row->etag = row->modified = row->digest = row->place = page->place;
    row->first = row->last = page->started;
    row->depth = page->depth;
    return (page->outcome == CRAWL_ROBOTS || page->outcome == CRAWL_ASIDE) &&
           !page->known.id;
}

/* Of a row's flags, those that say what the page is, and how often it is
   visited. What came of suspicions is known by now. */
static unsigned flags_of(const struct crawl_page *page)
{
    const unsigned passing = CRAWL_FLAG_AGAIN | CRAWL_FLAG_START |
                             FRONTIER_SUSPECT | FRONTIER_DEATHS;

    return (page->flags & ~passing) | CRAWL_FLAG_REVISIT;
}

static void add_known(struct shared_rows *r, struct crawl_page *page, size_t i)
{
    const struct crawl_known *row = &r->row[i];
    struct frontier_known *known = &r->known[i];

    *known = (struct frontier_known){
        .first = row->first,
        .last = row->last,
        .due = row->due,
        .stored = row->stored,
        .checks = row->checks,
        .changes = row->changes,
        .size = row->size,
        .terms = row->terms,
        .links = row->links,
        .status = row->status,
        .depth = row->depth,
        .flags = flags_of(page),
        .url = span_of(row->url),
        .type = span_of(row->type),
        .etag = span_of(row->etag),
        .modified = span_of(row->modified),
        .digest = span_of(row->digest),
        .place = span_of(row->place),
        .history = { (const char *)row->history, 4 * row->histories },
    };
    little_put_64(known->key, page->key.lo);
    little_put_64(known->key + 8, page->key.hi);
    r->all.done[i].known = known;
}

static void add_page(const struct crawl *c, struct shared_rows *r,
                     struct crawl_part *part)
{
    struct crawl_page *page = part->page;
    size_t i = r->all.dones;

    r->part[r->all.dones] = part;
    r->all.done[r->all.dones++] = (struct frontier_done){
        .page = crawl_page_again(page),
        .visit = crawl_team_visit_of(page)->id,
        .end = end_of(page),
        .bytes = (int64_t)page->size,
        .shard = page->record.len ? (int)shard_of(page) : -1,
    };
    if (learn(c, page, &r->row[i]))
        add_known(r, page, i);
}

static void add_robots(struct shared_rows *r, const struct crawl_page *page)
{
    enum { DAY = 86400000 };

    if (crawl_robots_is_answer(page))
        r->robots[r->all.robotses++] = (struct frontier_robots){
            .origin = { page->robots->name, page->robots->len },
            .status = page->status,
            .until_in = DAY,
            .body = crawl_robots_text(page),
        };
}

/* The last error of each host, for reports. That of a robots.txt is its
   origin's, wherever it was moved to. */
static void add_notes(struct crawl_group *g)
{
    for (size_t i = 0; i < g->askeds; i++)
        for (struct crawl_page *p = g->pages; p; p = p->next)
            if ((p->robots ? p->robots->host : p->host) == g->host[i] &&
                p->outcome != CRAWL_ROBOTS && (*p->fault || *p->costly))
                g->asked[i].note = span_of(*p->fault ? p->fault : p->costly);
}

static void collect(struct crawl_group *g, struct shared_rows *r)
{
    struct crawl_team_report *report = &crawl_team_of(g->c)->report;

    for (size_t i = 0; i < g->parts; i++) {
        struct crawl_part *part = &g->part[i];
        size_t from = part->page->robots ? SIZE_MAX : r->all.dones;

        report->links += part->page->links;
        if (part->page->robots)
            add_robots(r, part->page);
        else
            add_page(g->c, r, part);
        for (size_t k = part->first; k < part->end; k++)
            if (!g->found[k].endless)
                add_link(r, &g->found[k], from);
    }
    for (size_t i = 0; i < g->askeds; i++)
        report->requests += (uint64_t)g->asked[i].requests;
    report->asked += r->all.links;
    add_notes(g);
}

/* What the frontier said about each row. */
static void note_answers(const struct shared_rows *r)
{
    for (size_t i = 0; i < r->all.dones; i++)
        r->part[i]->refused = r->all.done[i].refused;
    for (size_t i = 0; i < r->all.links; i++)
        r->found[i]->fresh = r->all.fresh[i];
}

static enum seen_code commit(struct crawl_group *g, struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(g->c);
    struct shared_rows *r = calloc(1, sizeof *r);
    double began = clock_seconds();
    enum seen_code code;

    if (!r)
        return no_memory(why);
    g->rows = r;
    code = make_room(g, r, why);
    if (code != SEEN_OK)
        return code;
    collect(g, r);
    if (g->parts || g->askeds) {
        g->tried = true;
        code = frontier_spread_commit(t->frontier, &r->all, &r->uncertain,
                                      why);
    }
    if (code == SEEN_OK)
        note_answers(r);
    if (code == SEEN_ABSENT)
        t->report.refused += r->all.dones;
    t->report.in_database += clock_seconds() - began;
    return code;
}

static void undo(struct crawl_group *g, enum seen_code code)
{
    const struct shared_rows *r = g->rows;
    double began = clock_seconds();

    if (g->tried && (code != SEEN_ABSENT || (r && r->uncertain)))
        crawl_team_folder_settle(g->c, g->length);
    else
        crawl_team_folder_undo(g->c, g->length);
    crawl_team_of(g->c)->report.in_database += clock_seconds() - began;
}

/* --- step 5 --- */

/* Is it a row now: new, or found before? */
static bool is_row(const struct shared_rows *r, size_t link)
{
    size_t from = r->all.from[link];

    return from == SIZE_MAX || !r->all.done[from].refused;
}

/* Links of one visit that follow one another, to a filter on a server. Returns
   where the next visit's begin. */
static size_t add_to_shared(struct crawl *c, const struct shared_rows *r,
                            size_t first)
{
    enum { BATCH = 512 };
    struct crawl_team_visit *visit = crawl_team_visit_of(
        r->found[first]->page);
    const struct crawl_page *page[BATCH];
    const struct crawl_link *link[BATCH];
    struct seen_key key[BATCH];
    size_t n = 0, at = first;
    char *texts = NULL;

    for (; at < r->all.links && n < BATCH &&
           crawl_team_visit_of(r->found[at]->page) == visit;
         at++)
        if (is_row(r, at)) {
            page[n] = r->found[at]->page;
            link[n] = r->found[at]->link;
            key[n] = link[n]->key;
            n++;
        }
    if (n && reads_texts(c) && !(texts = crawl_link_keys(key, page, link, n)))
        n = 0; /* without memory they are asked of the frontier again */
    if (n)
        crawl_team_cache_add(c, visit, key, n);
    free(texts);
    return at;
}

static enum seen_code added(struct crawl_group *g, struct seen_error *why)
{
    struct crawl *c = g->c;
    const struct shared_rows *r = g->rows;
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < r->all.links; i++)
        crawl_team_of(c)->report.inserted += r->all.fresh[i];
    if (crawl_team_of(c)->settings.cache) {
        for (size_t i = 0; i < r->all.links;)
            i = add_to_shared(c, r, i);
        return SEEN_OK;
    }
    for (size_t i = 0; code == SEEN_OK && i < r->all.links; i++) {
        struct crawl_team_visit *visit = crawl_team_visit_of(
            r->found[i]->page);

        if (visit->filter && is_row(r, i))
            code = crawl_growth_add(&visit->growth, &visit->filter,
                                    &r->found[i]->link->key, 1, why);
    }
    return code;
}

/* --- after it --- */

static void settle_part(struct crawl_team *t, const struct crawl_part *part)
{
    const struct crawl_page *page = part->page;

    if (part->refused) {
        t->report.refused++;
        return;
    }
    if (page->links) /* maybe to its own host */
        page->host->drained = false;
    if (page->robots || !crawl_page_was_fetched(page))
        return;
    t->report.bytes += page->size;
    t->report.unchanged += page->outcome == CRAWL_UNCHANGED;
    crawl_team_visit_of(page)->fetched++;
}

static void settle(struct crawl_group *g)
{
    struct crawl_team *t = crawl_team_of(g->c);

    for (size_t i = 0; i < g->askeds; i++)
        if (g->asked[i].refused)
            t->lost = true; /* which cannot be while the lease lasts */
    for (size_t i = 0; i < g->origins; i++)
        if (g->origin_of[i]->state == CRAWL_ROBOTS_CLOSED &&
            g->origin[i].closed.len)
            g->origin_of[i]->barred = g->origin[i].barred;
    for (size_t i = 0; i < g->parts; i++)
        settle_part(t, &g->part[i]);
    t->report.commits++;
}

const struct crawl_store crawl_team_store = {
    .shares_hosts = true,
    .renew = crawl_team_renew,
    .begin_anew = crawl_team_begin_anew,
    .tend = crawl_team_visits_tend,
    .rest = crawl_team_rest,
    .begin = begin,
    .reads_texts = reads_texts,
    .ask = ask,
    .flush = crawl_team_folder_write,
    .publish = publish,
    .commit = commit,
    .undo = undo,
    .added = added,
    .settle = settle,
    .clear = clear,
    .hosts = crawl_team_hosts,
    .host = crawl_team_host,
    .pages = crawl_team_pages,
    .prepare = crawl_team_prepare,
    .origin = crawl_team_origin,
    .robots = crawl_team_robots,
};
