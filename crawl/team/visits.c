/*
 * visits.c - visits: from the message of a job to its end.
 *
 * Any worker may meet pages of any visit that runs, so it reads the job from
 * the frontier when it does. The message itself was done with when its visit
 * was in the frontier: no job waits while pages are fetched.
 *
 * The end of a visit is published by whoever sees it first, and maybe twice:
 * its id says which visit and shard it is of.
 */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

#include <seen/kind.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/array.h"
#include "../../lib/text/json.h"
#include "../../lib/text/little.h"
#include "../../lib/text/span.h"
#include "../page/record.h"
#include "../page/scope.h"
#include "cache.h"

enum {
    SAY_AFTER = 10000, /* ms that a worker waits for jobs without a word */
    LOOK_EVERY = 500, /* ms between looks for jobs and ends of visits */
    KEPT_FOR = 60000, /* ms that a visit without pages in memory is kept */
    FILTER_FIRST = 12000, /* links; it grows */
    SPENT = 64,           /* visits that end between two commits */
    BATCHES = 16          /* of known pages, between two commits */
};

/* --- visits in memory --- */

static void free_visit(struct crawl_team_visit *visit)
{
    crawl_job_free(visit->job);
    seen_filter_free(visit->filter);
    crawl_growth_close(&visit->growth);
    crawl_queries_clear(&visit->queries);
    free(visit);
}

static enum seen_code make_filter(const struct crawl_team *t,
                                  struct crawl_team_visit *visit,
                                  struct seen_error *why)
{
    struct seen_plan plan = { .profile = "whatwg",
                              .capacity = FILTER_FIRST,
                              .rate = visit->job->settings.rate > 0
                                          ? visit->job->settings.rate
                                          : 1e-6,
                              .seed = visit->job->seed,
                              .over = true };

    seen_kind_for_rate(plan.kind, plan.rate);
    crawl_keys_begin_unnamed(&visit->growth.keys,
                             t->folder ? t->folder : t->settings.temporary);
    return seen_filter_new(&visit->filter, &plan, why);
}

static struct crawl_job_rules rules_of(const struct crawl *c)
{
    return (
        struct crawl_job_rules){ .allow_private = c->settings->allow_private,
                                 .allow = c->settings->allow };
}

/* The row of a visit, copied. */
struct row {
    struct buffer job;
    bool thorough;
};

static bool take_row(void *owner, const struct frontier_visit *visit)
{
    struct row *r = owner;

    buffer_span(&r->job, visit->job);
    r->thorough = visit->thorough;
    return true;
}

static enum seen_code load_visit(struct crawl *c, int64_t id,
                                 struct crawl_team_visit **out,
                                 struct seen_error *why)
{
    const struct crawl_job_rules rules = rules_of(c);
    struct crawl_team_visit *visit = calloc(1, sizeof *visit);
    struct row row = { .thorough = false };
    struct seen_error detail;
    enum seen_code code;

    *out = NULL;
    if (!visit)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a visit");
    visit->id = id;
    visit->runs = true;
    code = frontier_spread_visit(crawl_team_of(c)->frontier, id, take_row,
                                 &row, why);
    if (code == SEEN_OK && row.job.failed)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a visit");
    if (code == SEEN_OK) {
        code = crawl_job_read(&visit->job,
                              (struct seen_span){ row.job.bytes, row.job.len },
                              &rules, &detail);
        if (code != SEEN_OK)
            code = seen_fail(why, code == SEEN_NOMEM ? code : SEEN_RANGE, 0,
                             "visit %lld cannot be worked on here: %.100s",
                             (long long)id, detail.text);
    }
    if (code == SEEN_OK) {
        visit->thorough = row.thorough;
        visit->job->shared.no_warc = !crawl_team_of(c)->folder;
        visit->job->shared.digests = true;
        visit->job->shared.visit_id = id;
        visit->job->shared.queries = &visit->queries;
        visit->job->shared.pages = &visit->pages;
        visit->job->shared.owned_by_store = visit;
        if (!crawl_team_of(c)->settings.no_filter &&
            !crawl_team_of(c)->settings.cache)
            code = make_filter(crawl_team_of(c), visit, why);
    }
    if (code == SEEN_OK && !map_set(&crawl_team_of(c)->visits, &visit->id,
                                    sizeof visit->id, visit))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a visit");
    buffer_clear(&row.job);
    if (code != SEEN_OK) {
        free_visit(visit);
        return code;
    }
    crawl_team_of(c)->report.visits++;
    *out = visit;
    return SEEN_OK;
}

enum seen_code crawl_team_visit_find(struct crawl *c, int64_t id,
                                     struct crawl_team_visit **out,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    *out = map_get(&crawl_team_of(c)->visits, &id, sizeof id);
    if (!*out)
        code = load_visit(c, id, out, why);
    if (code == SEEN_OK)
        (*out)->met = clock_ms();
    return code;
}

/* A visit that comes up again is read again, and its filter is empty: that
   costs rows which are refused, no more. */
static void forget_visits(struct crawl_team *t, bool all)
{
    struct crawl_team_visit *visit, *gone[64];
    size_t n;

    do {
        n = 0;
        for (size_t at = 0; n < 64 && (visit = map_next(&t->visits, &at));)
            if (!atomic_load(&visit->pages) &&
                (all || clock_ms() - visit->met > KEPT_FOR))
                gone[n++] = visit;
        for (size_t i = 0; i < n; i++) {
            map_remove(&t->visits, &gone[i]->id, sizeof gone[i]->id);
            free_visit(gone[i]);
        }
    } while (n == 64);
}

void crawl_team_visits_clear(struct crawl *c)
{
    forget_visits(crawl_team_of(c), true);
    map_clear(&crawl_team_of(c)->visits);
}

/* --- jobs --- */

/* The start URLs of a job as rows, and their texts one after the other. */
struct starts {
    struct frontier_link *link;
    struct buffer texts;
};

static void point(struct frontier_link *link, struct seen_span url)
{
    static char text[SEEN_KEY_TEXT];
    struct seen_key key;

    crawl_key(&key, text, url);
    little_put_64(link->key, key.lo);
    little_put_64(link->key + 8, key.hi);
    link->host = crawl_host_of(url);
    link->page.url = url;
}

static enum seen_code make_starts(const struct crawl_job *job,
                                  struct starts *starts,
                                  struct seen_error *why)
{
    static char url[SEEN_KEY_TEXT];
    enum seen_code code = SEEN_OK;
    struct frontier_link *link;
    const char *at;
    size_t len;

    link = starts->link = calloc(job->starts + 1, sizeof *link);
    for (uint64_t i = 0; link && code == SEEN_OK && i < job->starts; i++) {
        code = crawl_job_start(job, i, url, &len, why);
        link[i].page = (struct frontier_page){ .url = { NULL, len },
                                               .path = { "", 0 },
                                               .type = { "", 0 },
                                               .flags = CRAWL_FLAG_START };
        buffer_bytes(&starts->texts, url, len);
    }
    if (code != SEEN_OK)
        return code;
    if (!link || starts->texts.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for start URLs");
    at = starts->texts.bytes; /* which moves no more */
    for (uint64_t i = 0; i < job->starts; i++) {
        len = link[i].page.url.len;
        point(&link[i], (struct seen_span){ at, len });
        at += len;
    }
    return SEEN_OK;
}

enum crawl_fate crawl_team_accept(struct crawl *c, struct seen_span message,
                                  struct seen_error *why)
{
    const struct crawl_job_rules rules = rules_of(c);
    struct crawl_team *t = crawl_team_of(c);
    struct starts starts = { .link = NULL };
    enum frontier_visit_state state;
    struct crawl_job *job;
    enum seen_code code;

    code = crawl_job_read(&job, message, &rules, why);
    if (code != SEEN_OK) {
        t->report.bad_jobs += code != SEEN_NOMEM;
        return code == SEEN_NOMEM ? CRAWL_FATE_STOP : CRAWL_FATE_BAD;
    }
    code = make_starts(job, &starts, why);
    if (code == SEEN_OK) {
        const struct frontier_visit visit = {
            .visit = span_of(job->visit),
            .name = span_of(job->name),
            .job = message,
            .seed = job->seed,
            .shards = job->shards,
            .most = (int64_t)job->settings.pages,
            .due = (int64_t)job->due * 1000,
            .terms = (int64_t)job->terms,
        };

        code = frontier_spread_begin(t->frontier, &visit, starts.link,
                                     job->starts, &state, why);
    }
    t->report.jobs += code == SEEN_OK;
    free(starts.link);
    buffer_clear(&starts.texts);
    crawl_job_free(job);
    return code == SEEN_OK ? CRAWL_FATE_DONE : CRAWL_FATE_STOP;
}

/* --- ends of visits --- */

struct ended {
    int64_t id;
    int64_t missed; /* pages that it did not see: failed, left, not due */
    unsigned shards;
    char visit[128];
};

struct ends {
    struct ended *visit;
    size_t n, room;
    bool no_memory;
};

static bool take_end(void *owner, const struct frontier_visit *visit)
{
    struct ends *e = owner;
    struct ended *more = array_grow(e->visit, &e->room, e->n + 1,
                                    sizeof *more);

    if (!more) {
        e->no_memory = true;
        return false;
    }
    e->visit = more;
    more = &more[e->n++];
    more->id = visit->id;
    more->shards = visit->shards;
    more->missed = visit->failed + visit->left + visit->not_due;
    if (visit->visit.len < sizeof more->visit) {
        memcpy(more->visit, visit->visit.text, visit->visit.len);
        more->visit[visit->visit.len] = '\0';
    } else {
        *more->visit = '\0';
    }
    return e->n < SPENT;
}

/* {"_v": 1, "_id": ..., "_end": true, "_visit": ..., "_shard": 0,
   "_records": 12, "_missed": 0} */
static enum seen_code publish_end(struct crawl *c, const struct ended *visit,
                                  const int64_t *records,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; code == SEEN_OK && i < visit->shards; i++) {
        struct buffer body = { .bytes = NULL };
        char id[CRAWL_RECORD_ID];
        struct crawl_post post = { .shard = i, .id = id };

        if (!crawl_record_id(id, visit->visit, span_of("visit-end"), i))
            body.failed = true;
        buffer_format(&body, "{\"_v\": %d, \"_id\": \"%s\", \"_end\": true, ",
                      CRAWL_RECORD_VERSION, id);
        buffer_text(&body, "\"_visit\": ");
        buffer_json(&body, visit->visit, strlen(visit->visit));
        buffer_format(&body, ", \"_shard\": %u, \"_records\": %lld", i,
                      (long long)records[i]);
        buffer_format(&body, ", \"_missed\": %lld}\n",
                      (long long)visit->missed);
        post.body = (struct seen_span){ body.bytes, body.len };
        code = body.failed
                   ? seen_fail(why, SEEN_NOMEM, 0, "no memory for a record")
                   : crawl_team_publish(c, &post, 1, why);
        buffer_clear(&body);
    }
    return code;
}

static enum seen_code end_visit(struct crawl *c, const struct ended *visit,
                                struct seen_error *why)
{
    struct frontier_spread *f = crawl_team_of(c)->frontier;
    int64_t *records = calloc(visit->shards + 1, sizeof *records);
    enum seen_code code;

    if (!records)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a visit");
    code = frontier_spread_records(f, visit->id, records, visit->shards, why);
    if (code == SEEN_OK)
        code = publish_end(c, visit, records, why);
    if (code == SEEN_OK)
        code = frontier_spread_ended(f, visit->id, why);
    if (code == SEEN_OK)
        crawl_team_cache_remove(c, visit->id, visit->visit);
    free(records);
    return code;
}

/* *left: there are more of them. */
static enum seen_code end_visits(struct crawl *c, bool *left,
                                 struct seen_error *why)
{
    struct ends e = { .n = 0 };
    enum seen_code code;

    code = frontier_spread_visits(crawl_team_of(c)->frontier, FRONTIER_ENDING,
                                  0, take_end, &e, why);
    if (code == SEEN_OK && e.no_memory)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for visits");
    for (size_t i = 0; code == SEEN_OK && i < e.n; i++) {
        code = end_visit(c, &e.visit[i], why);
        if (code == SEEN_OK)
            code = crawl_team_renew(c, why);
    }
    *left = e.n == SPENT;
    free(e.visit);
    return code;
}

/* --- now and then --- */

/* The budgets of a visit that runs are of all workers. Those of time and bytes
   are looked at here; that of pages ends the visit in a commit. */
struct running {
    struct crawl *c;
    int64_t spent[SPENT]; /* visits that are to end */
    size_t spents, n;
    int64_t recalling[SPENT]; /* whose known pages are still to come */
    size_t recallings;
};

static bool take_running(void *owner, const struct frontier_visit *row)
{
    struct running *r = owner;
    struct crawl_team_visit *visit = map_get(&crawl_team_of(r->c)->visits,
                                             &row->id, sizeof row->id);
    const struct crawl_settings *s;

    r->n++;
    if (row->recalling && r->recallings < SPENT)
        r->recalling[r->recallings++] = row->id;
    if (!visit)
        return true;
    visit->fetched = row->fetched;
    visit->runs = true;
    s = &visit->job->settings;
    if (((s->time && row->began_ago / 1000 >= (int64_t)s->time) ||
         (s->bytes && row->bytes >= (int64_t)s->bytes)) &&
        r->spents < SPENT)
        r->spent[r->spents++] = row->id;
    return true;
}

/* The priority of a known page, as if a link had led to it now. */
static int64_t weigh(void *owner, struct seen_span url, unsigned depth)
{
    const struct crawl_job *job = owner;

    return job->settings.order == CRAWL_DEPTH
               ? 0
               : crawl_scope_priority(job->scope, &job->settings, url, depth,
                                      NULL);
}

/* Some batches of known pages become rows. *left: there are more. */
static enum seen_code recall(struct crawl *c, int64_t id, bool *left,
                             struct seen_error *why)
{
    struct crawl_team_visit *visit;
    enum seen_code code = crawl_team_visit_find(c, id, &visit, why);
    bool more = true;

    for (int i = 0; code == SEEN_OK && more && i < BATCHES; i++) {
        code = frontier_spread_recall(crawl_team_of(c)->frontier, id, weigh,
                                      visit->job, &more, why);
        if (code == SEEN_OK)
            code = crawl_team_renew(c, why);
    }
    *left |= more;
    return code;
}

/* Hosts that got rows have more than they had. */
static void note_rows(struct crawl *c)
{
    struct crawl_host *host;

    pthread_mutex_lock(&c->lock);
    for (size_t at = 0; (host = map_next(&c->hosts.by_id, &at));)
        host->drained = false;
    pthread_mutex_unlock(&c->lock);
}

static enum seen_code look_at_visits(struct crawl *c, bool *any, bool *left,
                                     struct seen_error *why)
{
    struct frontier_spread *f = crawl_team_of(c)->frontier;
    struct running r = { .c = c };
    struct crawl_team_visit *visit;
    enum seen_code code;

    for (size_t at = 0; (visit = map_next(&crawl_team_of(c)->visits, &at));)
        visit->runs = false;
    code = frontier_spread_visits(f, FRONTIER_RUNNING, 0, take_running, &r,
                                  why);
    for (size_t i = 0; code == SEEN_OK && i < r.spents; i++) {
        code = frontier_spread_close_visit(f, r.spent[i], why);
        visit = map_get(&crawl_team_of(c)->visits, &r.spent[i],
                        sizeof r.spent[i]);
        visit->runs = false;
    }
    *any |= r.n > 0;
    if (code == SEEN_OK)
        crawl_team_drop_pages(c);
    for (size_t i = 0; code == SEEN_OK && i < r.recallings; i++)
        code = recall(c, r.recalling[i], left, why);
    if (code == SEEN_OK && r.recallings)
        note_rows(c);
    return code;
}

/*
 * Before a worker ends because nothing is left: are there jobs that it cannot
 * have now? One that was killed before it accepted a job holds it until its
 * lease at the queue ends.
 */
static enum seen_code look_for_jobs(struct crawl *c, bool *any,
                                    struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(c);
    struct seen_error warning;
    uint64_t left = 0;
    enum seen_code code = t->posts.left(t->posts.owner, &left, why);

    if (code == SEEN_IO || code == SEEN_BUSY) { /* it may come back */
        crawl_team_warn(c, why);
        *any = true;
        return SEEN_OK;
    }
    if (code != SEEN_OK || !left) {
        t->waits = 0;
        return code;
    }
    *any = true;
    if (!t->waits)
        t->waits = clock_ms();
    if (clock_ms() - t->waits < SAY_AFTER)
        return SEEN_OK;
    seen_fail(&warning, SEEN_BUSY, 0,
              "waiting for %llu job%s that another worker has, or had when it "
              "died, or that is to be tried again later",
              (unsigned long long)left, left == 1 ? "" : "s");
    crawl_team_warn(c, &warning);
    return SEEN_OK;
}

/* Without a host this worker waits for what others have. That nothing is under
   way for a moment is no reason to hurry. */
static enum frontier_haste haste_of(struct crawl *c)
{
    bool idle;

    pthread_mutex_lock(&c->lock);
    idle = !c->hosts.by_id.used;
    pthread_mutex_unlock(&c->lock);
    return idle ? FRONTIER_IDLE : FRONTIER_BUSY;
}

/* Visits that run are read all together, so they are not read after each few
   of thousands of jobs. */
enum seen_code crawl_team_visits_tend(struct crawl *c, struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(c);
    bool due = !t->looked || clock_ms() - t->looked >= LOOK_EVERY;
    bool any = false, left = false, recalling = false;
    const enum frontier_haste haste = haste_of(c);
    enum seen_code code = frontier_spread_deliver(t->frontier, haste, why);
    size_t n = 0;

    if (code != SEEN_OK || (!due && !t->more))
        return code;
    code = t->posts.jobs(t->posts.owner, c, &n, why);
    t->more = n > 0;
    if (code == SEEN_IO || code == SEEN_BUSY) { /* it may come back */
        crawl_team_warn(c, why);
        code = SEEN_OK;
        any = true;
    }
    if (code == SEEN_OK && !due) {
        t->looks = 0;
        t->idle = false;
        return SEEN_OK;
    }
    if (code == SEEN_OK)
        code = frontier_spread_finish(t->frontier, haste, why);
    if (code == SEEN_OK)
        code = look_at_visits(c, &any, &recalling, why);
    if (code == SEEN_OK)
        code = end_visits(c, &left, why);
    left |= recalling;
    any |= !frontier_spread_is_whole(t->frontier);
    if (code == SEEN_OK && t->settings.drain && !n && !any && !left)
        code = look_for_jobs(c, &any, why);
    /* A job may have been accepted between the look at the frontier and that
       at the queue; and RabbitMQ does not say what other workers have: only
       what two looks agree on counts. */
    t->looks = code == SEEN_OK && !n && !any && !left ? t->looks + 1 : 0;
    t->idle = t->looks > 1;
    t->looked = left ? 0 : clock_ms();
    forget_visits(t, false);
    return code;
}
