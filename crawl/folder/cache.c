/* cache.c - the filter, its copy, and what it costs. */
#include "cache.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/build.h>
#include <seen/kind.h>
#include <seen/share.h>
#include <seen/store.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/little.h"
#include "../../lib/text/span.h"
#include "../page/scope.h"
#include "cache_remote.h"

enum {
    SAVE_AFTER = 1000000, /* URLs in the journal, */
    SAVE_EVERY = 60000,   /* or milliseconds, if there are any */
    BATCH = 256,
    USUAL = 10000000, /* URLs */
};

/* --- a filter of the right size --- */

static const char fuse_and[] = "fuse+"; /* --cache fuse+KIND */

static bool has_fuse(const struct crawl_settings *settings)
{
    return settings->cache &&
           !strncmp(settings->cache, fuse_and, sizeof fuse_and - 1);
}

/* 1.5 times the pages and links of the last visit (thesis, 7.2.1), or what a
   first visit is given. Beside a fuse there are only pages that are new since
   the last visit: a quarter of those that are known. */
static uint64_t choose_capacity(const struct crawl_cache *c,
                                const struct crawl_settings *settings)
{
    double before = c->earlier ? seen_filter_entries(c->earlier) : 0;

    if (settings->capacity)
        return settings->capacity;
    if (c->known)
        before = seen_filter_entries(c->known) / 6;
    if (before > 0)
        return before < 1000 ? 1500 : (uint64_t)(1.5 * before);
    return USUAL;
}

static enum seen_code make(struct crawl_cache *c,
                           const struct crawl_settings *settings,
                           struct seen_error *why)
{
    struct seen_plan plan = { .profile = "whatwg",
                              .capacity = choose_capacity(c, settings),
                              .rate = settings->rate,
                              .seed = c->state->visit.seed };
    const char *kind = settings->cache ? settings->cache : "bloom";

    if (c->server.base)
        return crawl_server_new(&c->filter, c->server.base, &plan, why);
    if (has_fuse(settings))
        kind += sizeof fuse_and - 1;
    if (strlen(kind) >= sizeof plan.kind)
        return seen_fail(why, SEEN_RANGE, 0, "--cache %.40s: too long", kind);
    strcpy(plan.kind, kind);
    if (!seen_kind_can(kind, SEEN_CAN_ADD))
        return seen_fail(why, SEEN_RANGE, 0,
                         "--cache %.60s: not a kind of filter that can be "
                         "added to",
                         kind);
    /*
     * By default the filter grows when it is full, and its rate doubles: see
     * grow(). A kind that was asked for stays what it is. Rather a rate that
     * rises than a crawl that stops: it is reported.
     */
    if (!settings->cache) {
        plan.rate /= 2;
        plan.tight = true;
    } else
        plan.over = !seen_kind_can(kind, SEEN_CAN_GROW);
    return seen_filter_new(&c->filter, &plan, why);
}

/*
 * A full filter becomes the first part of one that grows. A filter that could
 * grow from the beginning has a first part of a lower rate, and takes 4.1 bytes
 * per URL at 1e-6; this one takes 3.8, and 1e-6 holds for both parts together.
 */
static enum seen_code grow(struct crawl_cache *c, struct seen_error *why)
{
    char kind[SEEN_KIND_TEXT + 16];
    struct seen_filter *grown;
    enum seen_code code;

    snprintf(kind, sizeof kind, "growing/%s",
             seen_filter_plan(c->filter)->kind);
    code = seen_filter_recast(&grown, c->filter, kind, why);
    if (code == SEEN_OK) {
        seen_filter_free(c->filter);
        c->filter = grown;
    }
    return code;
}

static enum seen_code add_keys(struct crawl_cache *c,
                               const struct seen_key *key, size_t n,
                               struct seen_error *why)
{
    struct seen_error detail;
    enum seen_code code = seen_filter_add(c->filter, key, n, NULL, &detail);

    if (code == SEEN_FULL && detail.at < n) {
        code = grow(c, &detail);
        if (code == SEEN_OK)
            code = seen_filter_add(c->filter, key + detail.at,
                                   n - (size_t)detail.at, NULL, &detail);
    }
    if (code != SEEN_OK && why)
        *why = detail;
    return code;
}

/* --- the audit --- */

static bool is_audited(const struct crawl_cache *c, const struct seen_key *key)
{
    return c->sample > 0 &&
           (double)(seen_mix(key->hi) >> 11) * 0x1p-53 < c->sample;
}

static struct seen_span key_bytes(const struct seen_key *key, char bytes[16])
{
    little_put_64(bytes, key->lo);
    little_put_64(bytes + 8, key->hi);
    return (struct seen_span){ bytes, 16 };
}

/* The sample has it from now on. */
static enum seen_code note(struct crawl_cache *c, const struct seen_key *key,
                           struct seen_error *why)
{
    char bytes[16];

    if (!is_audited(c, key))
        return SEEN_OK;
    sql_bind_bytes(c->audit_add, 1, key_bytes(key, bytes));
    return sql_do(c->audit_add, why);
}

/*
 * A sample counts only if it has all URLs of the visit, so its share is the one
 * that the visit began with: --audit that is given later, or with another
 * share, is for the next visit.
 */
static enum seen_code open_audit(struct crawl_cache *c, double share,
                                 bool fresh, struct seen_error *why)
{
    long long visit = c->state->visit.id;
    enum seen_code code;
    char text[64], *kept = NULL;

    if (fresh) {
        snprintf(text, sizeof text, "%lld %.17g", visit, share);
        code = crawl_state_set(c->state, "audit", text, why);
        c->sample = share;
    } else {
        code = crawl_state_get(c->state, "audit", &kept, why);
        if (code == SEEN_OK && kept &&
            sscanf(kept, "%lld %lf", &visit, &share) == 2 &&
            visit == c->state->visit.id)
            c->sample = share;
        free(kept);
    }
    if (code == SEEN_OK && c->sample > 0)
        code = sql_prepare(&c->audit_find, c->state->db,
                           "SELECT 1 FROM audit WHERE key = ?1", why);
    if (code == SEEN_OK && c->sample > 0)
        code = sql_prepare(&c->audit_add, c->state->db,
                           "INSERT OR IGNORE INTO audit VALUES (?1)", why);
    return code;
}

/* --- open --- */

static char *name_of(struct crawl_state *s, const char *word, int64_t visit)
{
    char name[40];

    snprintf(name, sizeof name, "%s-%lld.seen", word, (long long)visit);
    return crawl_state_path(s, name);
}

static char *path_of(struct crawl_state *s, int64_t visit)
{
    return name_of(s, "cache", visit);
}

/* A file that cannot be read. The crawl can do without each of them, but
   nobody should lose one without knowing. */
static enum seen_code refuse(const char *path, const struct seen_error *detail,
                             struct seen_error *why)
{
    return seen_fail(why, detail->code, 0,
                     "%.40s: %.70s; remove it, and the crawl goes on",
                     strrchr(path, '/') + 1, detail->text);
}

static enum seen_code open_earlier(struct crawl_cache *c,
                                   struct seen_error *why)
{
    char *path = path_of(c->state, c->state->visit.id - 1);
    enum seen_code code = SEEN_OK;
    struct seen_error detail;

    if (!path)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the cache");
    if (!access(path, F_OK) &&
        seen_store_map(&c->earlier, path, NULL, &detail) != SEEN_OK)
        code = refuse(path, &detail, why);
    free(path);
    return code;
}

/* Links to known pages are not followed. The fuse spares the question; the
   table answers it. */
static enum seen_code ask_known(struct crawl_cache *c,
                                const struct seen_key *key, size_t n,
                                bool *seen, struct seen_error *why)
{
    bool known[BATCH];
    enum seen_code code = seen_filter_has(c->known, key, n, known, why);

    for (size_t i = 0; code == SEEN_OK && i < n; i++)
        if (known[i] && !seen[i])
            code = crawl_state_knows(c->state, &key[i], &seen[i], why);
    return code;
}

/* Add a key, unless the cache has it: what is read twice counts once. */
static enum seen_code restore_key(void *owner, const struct seen_key *key,
                                  struct seen_error *why)
{
    struct crawl_cache *c = owner;
    enum seen_code code = note(c, key, why);
    bool seen = false;

    if (code == SEEN_OK && c->server.base && !c->in_memory)
        return crawl_remote_keep(c, key, 1, why);
    if (code == SEEN_OK)
        code = seen_filter_has(c->filter, key, 1, &seen, why);
    if (code == SEEN_OK && c->known)
        code = ask_known(c, key, 1, &seen, why);
    return code == SEEN_OK && !seen ? add_keys(c, key, 1, why) : code;
}

static enum seen_code restore_url(void *owner, int64_t id,
                                  struct seen_span url, struct seen_error *why)
{
    static char text[SEEN_KEY_TEXT];
    struct seen_key key;

    (void)id;
    crawl_key(&key, text, url);
    return restore_key(owner, &key, why);
}

static enum seen_code replay(void *owner, int64_t id, struct seen_span url,
                             struct seen_error *why)
{
    struct crawl_cache *c = owner;

    c->last = id;
    return restore_url(c, id, url, why);
}

static enum seen_code load(struct crawl_cache *c, struct seen_error *why)
{
    struct seen_error detail;
    enum seen_code code = seen_store_load(&c->filter, c->path, NULL, &detail);
    const char *row;

    if (code != SEEN_OK)
        return refuse(c->path, &detail, why);
    row = seen_meta_get(c->filter, "journal");
    if (!row || seen_filter_plan(c->filter)->seed != c->state->visit.seed) {
        seen_fail(&detail, SEEN_MISMATCH, 0, "not the cache of this visit");
        return refuse(c->path, &detail, why);
    }
    c->last = c->saved = strtoll(row, NULL, 10);
    return SEEN_OK;
}

/*
 * A cache of what the rows know: all pages that were ever fetched, those that
 * the visit kept out, and those that wait. A visit begins with it: links to
 * known pages are not followed, since their due times decide. And a visit goes
 * on with it whose file is not there, because it was killed before the first
 * copy, or somebody removed it. It does not depend on what is due at that time.
 *
 * A fuse has the pages that were known when the visit began, so that only those
 * that were fetched since are missing.
 */
static enum seen_code restore(struct crawl_cache *c, struct seen_error *why)
{
    enum seen_code code = crawl_state_each(
        c->state, c->known ? c->state->visit.id : 0, restore_url, c, why);

    if (code == SEEN_OK && c->settings->strategy != CRAWL_CONTINUOUS &&
        !seen_filter_can(c->filter, SEEN_READS_TEXT))
        code = crawl_state_each_unfetched(c->state, restore_key, c, why);
    return code == SEEN_OK
               ? frontier_each(c->state->frontier, restore_url, c, why)
               : code;
}

/* Only the visit before is asked about, and a file with the name of a visit
   that begins is of one that was given up. */
static void remove_old(const struct crawl_cache *c)
{
    char *path = path_of(c->state, c->state->visit.id - 2);

    if (path)
        unlink(path);
    unlink(c->path);
    free(path);
}

/* --- what is known --- */

struct collect {
    struct seen_build *build;
    int64_t n;
};

static enum seen_code count_one(void *owner, int64_t id, struct seen_span url,
                                struct seen_error *why)
{
    struct collect *all = owner;

    (void)id;
    (void)url;
    (void)why;
    all->n++;
    return SEEN_OK;
}

static enum seen_code collect_one(void *owner, int64_t id,
                                  struct seen_span url, struct seen_error *why)
{
    static char text[SEEN_KEY_TEXT];
    struct collect *all = owner;
    struct seen_key key;

    (void)id;
    crawl_key(&key, text, url);
    return seen_build_add(all->build, 0, &key, 1, why);
}

/*
 * A fuse of all pages that are known when the visit begins: 9 bits per page,
 * since one page in 256 that it takes for known by mistake costs one look
 * into the table, and nothing is lost.
 */
static enum seen_code build_fuse(struct crawl_cache *c, const char *path,
                                 struct seen_error *why)
{
    struct seen_plan plan = { .kind = "fuse",
                              .profile = "whatwg",
                              .rate = 1.0 / 256,
                              .seed = c->state->visit.seed };
    struct collect all = { .n = 0 };
    enum seen_code code;

    code = crawl_state_each(c->state, 0, count_one, &all, why);
    if (code != SEEN_OK || !all.n)
        return code;
    plan.capacity = (uint64_t)all.n;
    code = seen_build_new(&all.build, &plan, 1, why);
    if (code != SEEN_OK)
        return code;
    code = crawl_state_each(c->state, 0, collect_one, &all, why);
    if (code != SEEN_OK) {
        seen_build_free(all.build);
        return code;
    }
    code = seen_build_finish(all.build, &c->known, why);
    return code == SEEN_OK ? seen_store_save(c->known, path, why) : code;
}

/* A visit goes on as it began. */
static enum seen_code find_fuse(struct crawl_cache *c,
                                const struct crawl_settings *settings,
                                bool fresh, bool *wanted,
                                struct seen_error *why)
{
    enum seen_code code;
    char visit[32], *kept = NULL;

    snprintf(visit, sizeof visit, "%lld", (long long)c->state->visit.id);
    if (fresh) {
        *wanted = has_fuse(settings) && c->state->visit.id > 1;
        return crawl_state_set(c->state, "fuse", *wanted ? visit : "0", why);
    }
    code = crawl_state_get(c->state, "fuse", &kept, why);
    *wanted = kept && !strcmp(kept, visit);
    free(kept);
    return code;
}

/* A fuse that is missing is built again. Then it also has the pages that the
   visit has fetched since, which does no harm: they were seen. */
static enum seen_code open_fuse(struct crawl_cache *c,
                                const struct crawl_settings *settings,
                                bool fresh, struct seen_error *why)
{
    char *path, *old;
    bool wanted = false;
    struct seen_error detail;
    enum seen_code code = find_fuse(c, settings, fresh, &wanted, why);

    if (code != SEEN_OK || !wanted)
        return code;
    path = name_of(c->state, "known", c->state->visit.id);
    old = name_of(c->state, "known", c->state->visit.id - 1);
    if (!path || !old)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for the cache");
    else if (fresh)
        unlink(old);
    if (code == SEEN_OK && (fresh || access(path, F_OK)))
        code = build_fuse(c, path, why);
    else if (code == SEEN_OK &&
             seen_store_map(&c->known, path, NULL, &detail) != SEEN_OK)
        code = refuse(path, &detail, why);
    free(path);
    free(old);
    return code;
}

/* --- on a server --- */

enum seen_code crawl_cache_each_url(struct crawl_cache *c,
                                    frontier_take_url *take, void *owner,
                                    struct seen_error *why)
{
    enum seen_code code = crawl_state_each(c->state, 0, take, owner, why);

    if (code == SEEN_OK)
        code = frontier_each(c->state->frontier, take, owner, why);
    return code == SEEN_OK
               ? frontier_journal(c->state->frontier, 0, take, owner, why)
               : code;
}

/* Make the filter again, in memory, of all that the rows know. */
static enum seen_code rebuild(struct crawl_cache *c, bool fresh,
                              struct seen_error *why)
{
    enum seen_code code;

    seen_filter_free(c->filter);
    c->filter = NULL;
    c->in_memory = true;
    c->unsure = false;
    c->copy_after = 0;
    code = make(c, c->settings, why);
    if (code == SEEN_OK)
        code = restore(c, why);
    if (code == SEEN_OK && !fresh)
        code = frontier_journal(c->state->frontier, 0, replay, c, why);
    return code == SEEN_OK ? crawl_remote_pour(c, why) : code;
}

static enum seen_code open_remote(struct crawl_cache *c, bool fresh,
                                  struct seen_error *why)
{
    bool again;
    enum seen_code code = crawl_remote_open(c, fresh, &again, why);

    return code == SEEN_OK && again ? rebuild(c, fresh, why) : code;
}

static enum seen_code ask_filter(struct crawl_cache *c,
                                 const struct seen_key *key, size_t n,
                                 bool *seen, struct seen_error *why)
{
    enum seen_code code;
    bool again;

    if (!c->server.base || c->in_memory)
        return seen_filter_has(c->filter, key, n, seen, why);
    code = crawl_remote_ask(c, key, n, seen, &again, why);
    if (code != SEEN_OK || !again)
        return code;
    code = rebuild(c, false, why);
    c->unsure = true; /* what was asked of the other one */
    return code == SEEN_OK ? seen_filter_has(c->filter, key, n, seen, why)
                           : code;
}

enum seen_code crawl_cache_confirm(struct crawl_cache *c, bool *again,
                                   struct seen_error *why)
{
    enum seen_code code;

    *again = false;
    if (!c->server.base || !c->filter)
        return SEEN_OK;
    if (c->in_memory) {
        *again = c->unsure;
        c->unsure = false;
        return SEEN_OK;
    }
    code = crawl_remote_confirm(c, again, why);
    return code == SEEN_OK && *again ? rebuild(c, false, why) : code;
}

static enum seen_code make_or_load(struct crawl_cache *c,
                                   const struct crawl_settings *settings,
                                   bool fresh, struct seen_error *why)
{
    enum seen_code code;

    if (c->server.base)
        return open_remote(c, fresh, why);
    if (fresh)
        remove_old(c);
    if (!access(c->path, F_OK))
        return load(c, why);
    code = make(c, settings, why);
    return code == SEEN_OK ? restore(c, why) : code;
}

enum seen_code crawl_cache_open(struct crawl_cache *c, struct crawl_state *s,
                                const struct crawl_settings *settings,
                                bool fresh, struct seen_error *why)
{
    enum seen_code code;

    *c = (struct crawl_cache){ .state = s,
                               .settings = settings,
                               .since = clock_ms(),
                               .server = c->server };
    crawl_server_init(&c->server, settings->cache, "crawl", c->server.warn,
                      c->server.whose);
    code = open_earlier(c, why);
    if (code == SEEN_OK && c->server.base && !c->earlier)
        crawl_remote_earlier(c);
    if (code == SEEN_OK && settings->cache && !strcmp(settings->cache, "none"))
        return SEEN_OK;
    if (code == SEEN_OK && !(c->path = path_of(s, s->visit.id)))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for the cache");
    if (code == SEEN_OK)
        code = open_audit(c, settings->audit, fresh, why);
    if (code == SEEN_OK)
        code = open_fuse(c, settings, fresh, why);
    if (code == SEEN_OK)
        code = make_or_load(c, settings, fresh, why);
    if (code == SEEN_OK)
        code = crawl_cache_replay(c, why);
    if (code == SEEN_OK) /* parts on servers are not asked a second time */
        c->spatial = !c->server.base &&
                     seen_filter_can(c->filter, SEEN_PARTS_AGREE);
    else
        crawl_cache_close(c);
    return code;
}

void crawl_cache_close(struct crawl_cache *c)
{
    seen_filter_free(c->filter);
    seen_filter_free(c->earlier);
    seen_filter_free(c->known);
    free(c->path);
    crawl_remote_close(c);
    *c = (struct crawl_cache){ .server = c->server };
}

/* --- questions --- */

/* Was a sampled URL really seen, as the filter says? */
static enum seen_code check(struct crawl_cache *c, const struct seen_key *key,
                            bool seen, struct seen_error *why)
{
    enum seen_code code;
    char bytes[16];
    bool row;

    sql_bind_bytes(c->audit_find, 1, key_bytes(key, bytes));
    code = sql_step(c->audit_find, &row, why);
    if (code != SEEN_OK)
        return code;
    sql_reset(c->audit_find);
    if (row)
        return SEEN_OK;
    c->audited++;
    c->mistaken += seen;
    return note(c, key, why); /* it is counted once */
}

/* Did a part of the filter say yes although the whole says no? */
static enum seen_code count_discovered(struct crawl_cache *c,
                                       const struct seen_key *key, size_t n,
                                       const bool *seen,
                                       struct seen_error *why)
{
    unsigned parts = seen_filter_parts(c->filter);
    bool any[BATCH] = { false }, one[BATCH];

    for (unsigned p = 0; p < parts; p++) {
        enum seen_code code = seen_filter_has(seen_filter_part(c->filter, p),
                                              key, n, one, why);

        if (code != SEEN_OK)
            return code;
        for (size_t i = 0; i < n; i++)
            any[i] |= one[i];
    }
    for (size_t i = 0; i < n; i++)
        c->discovered += any[i] && !seen[i];
    return SEEN_OK;
}

static enum seen_code ask_batch(struct crawl_cache *c,
                                const struct seen_key *key, size_t n,
                                bool *seen, struct seen_error *why)
{
    enum seen_code code = ask_filter(c, key, n, seen, why);

    if (code == SEEN_OK && c->spatial)
        code = count_discovered(c, key, n, seen, why);
    for (size_t i = 0; code == SEEN_OK && i < n; i++)
        if (is_audited(c, &key[i]))
            code = check(c, &key[i], seen[i], why);
    if (code == SEEN_OK && c->known)
        code = ask_known(c, key, n, seen, why);
    return code;
}

enum seen_code crawl_cache_ask(struct crawl_cache *c,
                               const struct seen_key *key, size_t n,
                               bool *seen, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    c->asked += n;
    if (!c->filter) {
        memset(seen, 0, n * sizeof *seen);
        return SEEN_OK;
    }
    for (size_t at = 0; code == SEEN_OK && at < n; at += BATCH)
        code = ask_batch(c, key + at, n - at < BATCH ? n - at : BATCH,
                         seen + at, why);
    return code;
}

enum seen_code crawl_cache_add(struct crawl_cache *c,
                               const struct seen_key *key, size_t n,
                               int64_t last, struct seen_error *why)
{
    if (!c->filter || !n)
        return SEEN_OK;
    c->last = last;
    return c->server.base && !c->in_memory ? crawl_remote_keep(c, key, n, why)
                                           : add_keys(c, key, n, why);
}

enum seen_code crawl_cache_replay(struct crawl_cache *c,
                                  struct seen_error *why)
{
    return frontier_journal(c->state->frontier, c->last, replay, c, why);
}

bool crawl_cache_was_lost(struct crawl_cache *c, const struct seen_key *key,
                          struct seen_span url)
{
    static char text[SEEN_KEY_TEXT];
    struct seen_key its = *key;
    bool seen = false;

    if (!c->earlier)
        return false;
    if (seen_filter_can(c->earlier, SEEN_READS_TEXT))
        crawl_key(&its, text, url);
    if (seen_filter_has(c->earlier, &its, 1, &seen, NULL) == SEEN_OK)
        return seen;
    seen_filter_free(c->earlier);
    c->earlier = NULL;
    return false;
}

double crawl_cache_rate(const struct crawl_cache *c)
{
    double rate = seen_filter_rate(c->filter);

    return isnan(rate) ? c->settings->rate : rate;
}

/* --- the copy --- */

enum seen_code crawl_cache_save(struct crawl_cache *c, bool now,
                                struct seen_error *why)
{
    enum seen_code code;
    char row[32];
    bool again;

    if (c->server.base && c->filter) {
        code = crawl_remote_save(c, now, &again, why);
        if (code == SEEN_OK && again)
            code = rebuild(c, false, why);
        return code;
    }
    if (!c->filter || (c->last == c->saved && !access(c->path, F_OK)))
        return SEEN_OK;
    if (!now && c->last - c->saved < SAVE_AFTER &&
        clock_ms() - c->since < SAVE_EVERY)
        return SEEN_OK;
    snprintf(row, sizeof row, "%lld", (long long)c->last);
    code = seen_meta_set(c->filter, "journal", row, why);
    if (code == SEEN_OK)
        code = seen_store_save(c->filter, c->path, why);
    if (code == SEEN_OK)
        code = frontier_journal_cut(c->state->frontier, c->last, why);
    if (code == SEEN_OK) {
        c->saved = c->last;
        c->since = clock_ms();
    }
    return code;
}
