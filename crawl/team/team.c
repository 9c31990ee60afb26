/*
 * team.c - a worker of many: open, run, and the thread that commits.
 *
 * The lease. A worker renews it when a third of it has passed, before anything
 * else. The fetching thread begins no request, and ends all that are under way,
 * when the lease has ended by this machine's clock, counted from before the
 * renewal was sent. So nobody else asks a host while this worker does. A
 * worker that was stopped for longer finds its lease gone: it forgets
 * everything that it had, gets a new lease, and begins anew.
 */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/span.h"
#include "../engine/aside.h"
#include "cache.h"

/* --- open --- */

/* The lease counts from before it was asked for, by the crawl's clock. */
static void note_lease(struct crawl *c, int64_t asked)
{
    struct crawl_team *t = crawl_team_of(c);

    pthread_mutex_lock(&c->lock);
    c->lease_end = asked + (int64_t)t->settings.lease;
    pthread_mutex_unlock(&c->lock);
    t->renewed = clock_ms();
}

static enum seen_code join(struct crawl *c, struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(c);
    int64_t now = crawl_now(c);
    enum seen_code code = frontier_spread_join(t->frontier, why);

    if (code != SEEN_OK)
        return code;
    note_lease(c, now);
    t->lost = false;
    return SEEN_OK;
}

/* Is a host that is this worker's by its row in memory? */
static bool has_host(void *crawl, int64_t id)
{
    struct crawl *c = crawl;
    bool has;

    pthread_mutex_lock(&c->lock);
    has = crawl_host_get(&c->hosts, id) != NULL;
    pthread_mutex_unlock(&c->lock);
    return has;
}

static enum seen_code open_frontier(struct crawl *c, struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(c);
    const struct frontier_worker worker = { .name = t->name,
                                            .lease = t->settings.lease,
                                            .patience = t->settings.patience,
                                            .has = has_host,
                                            .owner = c };
    enum seen_code code;

    code = frontier_spread_open(&t->frontier, t->settings.frontier, &worker,
                                why);
    if (code != SEEN_OK)
        return code;
    t->db = frontier_spread_home(t->frontier);
    c->databases = frontier_spread_databases(t->frontier);
    code = crawl_team_cache_open(c, why);
    return code == SEEN_OK ? join(c, why) : code;
}

enum seen_code crawl_team_open(struct crawl **out,
                               struct crawl_settings *settings,
                               const struct crawl_team_settings *team,
                               const struct crawl_posts *posts,
                               const struct crawl_hooks *hooks,
                               struct seen_error *why)
{
    struct crawl *c = calloc(1, sizeof *c);
    struct crawl_team *t = calloc(1, sizeof *t);
    enum seen_code code;
    struct timespec now;

    *out = NULL;
    if (!c || !t) {
        free(c);
        free(t);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a worker");
    }
    c->settings = settings;
    c->owned_by_store = t;
    c->store = &crawl_team_store;
    t->settings = *team;
    t->posts = *posts;
    t->share = t->note_lock = t->note_fd = t->reading_lock = -1;
    if (hooks)
        c->hooks = *hooks;
    crawl_engine_init(c);
    clock_gettime(CLOCK_REALTIME, &now);
    crawl_set_clock(c, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    t->name = strdup(team->name);
    code = t->name ? crawl_engine_open(c, why)
                   : seen_fail(why, SEEN_NOMEM, 0, "no memory for a worker");
    if (code == SEEN_OK)
        code = open_frontier(c, why);
    if (code == SEEN_OK)
        code = crawl_team_folder_open(c, why);
    if (code == SEEN_OK)
        code = crawl_team_aside_open(c, why);
    c->no_files = !t->folder;
    c->bodies.folder = t->folder ? t->folder : t->settings.temporary;
    if (code == SEEN_OK)
        *out = c;
    else
        crawl_team_close(c);
    return code;
}

void crawl_team_close(struct crawl *c)
{
    struct crawl_team *t;

    if (!c)
        return;
    t = crawl_team_of(c);
    crawl_engine_clear(c);
    crawl_team_visits_clear(c);
    crawl_team_aside_close(t);
    crawl_team_folder_close(t);
    frontier_spread_close(t->frontier);
    crawl_team_cache_close(t);
    free(t->name);
    free(t);
    free(c);
}

/* --- the lease --- */

static void warn_of_databases(struct crawl *c)
{
    int64_t by = frontier_spread_was_set(crawl_team_of(c)->frontier);
    struct seen_error why;

    if (frontier_spread_news(crawl_team_of(c)->frontier, &why))
        crawl_team_warn(c, &why);
    if (!by)
        return;
    seen_fail(&why, SEEN_BUSY, 0,
              "%.60s: its clock, or this machine's, was set by %.1f s; no "
              "host is taken for %.0f s",
              sql_name(crawl_team_of(c)->db), (double)by / 1000,
              crawl_team_of(c)->settings.lease / 1000.0);
    crawl_team_warn(c, &why);
}

enum seen_code crawl_team_renew(struct crawl *c, struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(c);
    int64_t now = crawl_now(c);
    enum seen_code code;

    if (t->lost)
        return seen_fail(why, SEEN_ABSENT, 0, "the lease has ended");
    if (clock_ms() - t->renewed < t->settings.lease / 3)
        return SEEN_OK;
    code = frontier_spread_renew(t->frontier, why);
    warn_of_databases(c);
    if (code == SEEN_OK)
        note_lease(c, now);
    return code;
}

/* Are threads still at work on pages that this worker had? */
static bool is_at_work(struct crawl *c)
{
    struct crawl_page *page;
    bool at_work;

    pthread_mutex_lock(&c->lock);
    for (int prompt = 0; prompt < 2; prompt++)
        while ((page = crawl_list_take(&c->names[prompt]))) {
            c->looking--;
            crawl_page_free(page);
        }
    while ((page = crawl_list_take(&c->done)))
        crawl_page_free(page);
    c->made = c->unread;
    pthread_cond_broadcast(&c->to_work); /* readers may wait for a commit */
    crawl_allow_forget(c);
    at_work = c->active || c->working || c->looking || c->asking;
    pthread_mutex_unlock(&c->lock);
    return at_work;
}

/* The lease has ended: forget everything that this worker had. */
enum seen_code crawl_team_begin_anew(struct crawl *c, struct seen_error *why)
{
    const struct timespec pause = { .tv_nsec = 5000000 };
    struct crawl_team *t = crawl_team_of(c);

    if (t->undecided)
        return seen_fail(why, SEEN_IO, 0,
                         "a database of the frontier is away, and nobody "
                         "knows whether it did the last commit: start this "
                         "worker again, which puts its files right");
    t->report.lost_leases++;
    pthread_mutex_lock(&c->lock);
    c->lease_end = 0; /* requests under way are cancelled */
    atomic_store(&c->hurry, true);
    pthread_mutex_unlock(&c->lock);
    fetch_wakeup(c->web);
    while (is_at_work(c))
        nanosleep(&pause, NULL);
    pthread_mutex_lock(&c->lock);
    crawl_hosts_clear(&c->hosts);
    crawl_pages_free(c->moved.first);
    c->moved = (struct crawl_list){ .first = NULL };
    c->made = c->unread = c->committing = 0;
    pthread_mutex_unlock(&c->lock);
    return join(c, why);
}

/* --- a turn --- */

enum seen_code crawl_team_rest(struct crawl *c, bool closing,
                               enum crawl_next *next, struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(c);
    enum seen_code code = crawl_team_aside_tend(c, why);
    const bool drained = t->idle && t->settings.drain && !closing;

    *next = drained && !c->hosts.by_id.used ? CRAWL_NOTHING_LEFT
            : t->more                       ? CRAWL_AT_ONCE
                                            : CRAWL_GO_ON;
    if (clock_ms() - t->mended >= t->settings.lease)
        crawl_team_folder_mend(c);
    return t->lost ? seen_fail(why, SEEN_ABSENT, 0, "a host was taken") : code;
}

/* Requests that were cancelled have a due time, too. A commit of which nobody
   knows whether it was done must stay the last one of its lease. */
static enum seen_code leave(struct crawl *c, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!crawl_team_of(c)->undecided)
        code = crawl_commit_news(c, why);
    if (code == SEEN_OK)
        code = frontier_spread_leave(crawl_team_of(c)->frontier, why);
    return code == SEEN_ABSENT ? SEEN_OK : code; /* the lease ended before */
}

enum seen_code crawl_team_run(struct crawl *c, struct seen_error *why)
{
    double began = clock_seconds();
    enum seen_code code = crawl_engine_run(c, crawl_commit_thread, why), left;
    struct seen_error ignored;

    /* After a fault, too: others need not wait for the end of the lease. */
    left = leave(c, code == SEEN_OK ? why : &ignored);
    if (code == SEEN_OK)
        code = left;
    crawl_team_folder_mend(c);
    crawl_team_of(c)->report.seconds += clock_seconds() - began;
    return code;
}

void crawl_team_report(const struct crawl *c, struct crawl_team_report *r)
{
    *r = crawl_team_of(c)->report;
    r->pages = c->run_pages;
}
