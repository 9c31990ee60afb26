/*
 * cache.c - the filter of a visit: open, ask, add, and its copy on the disk.
 *
 * The copy has every URL up to a row of the journal, whose number is in its
 * metadata. Whoever opens the copy adds the rows after that. A copy is written
 * after a million URLs or a minute, so that a crawl that is killed replays at
 * most that. If there is no copy at all, the filter is made again of what the
 * rows know.
 */
#include "cache_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/kind.h>
#include <seen/store.h>

#include "../../lib/disk/clock.h"
#include "../page/scope.h"
#include "cache_remote.h"

enum {
    SAVE_AFTER = 1000000, /* URLs in the journal, */
    SAVE_EVERY = 60000    /* or milliseconds, if there are any */
};

/* --- open --- */

char *crawl_cache_path(struct crawl_state *s, const char *word, int64_t visit)
{
    char name[40];

    snprintf(name, sizeof name, "%s-%lld.seen", word, (long long)visit);
    return crawl_state_path(s, name);
}

/* A file that cannot be read. The crawl can do without each of them, but
   nobody should lose one without knowing. */
enum seen_code crawl_cache_refuse(const char *path,
                                  const struct seen_error *detail,
                                  struct seen_error *why)
{
    return seen_fail(why, detail->code, 0,
                     "%.40s: %.70s; remove it, and the crawl goes on",
                     strrchr(path, '/') + 1, detail->text);
}

char *crawl_cache_keys_path(const struct crawl_state *s, int64_t visit)
{
    char name[40];

    snprintf(name, sizeof name, "cache-%lld.keys", (long long)visit);
    return crawl_state_path(s, name);
}

static char *path_of(struct crawl_state *s, int64_t visit)
{
    return crawl_cache_path(s, "cache", visit);
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
        code = crawl_cache_refuse(path, &detail, why);
    free(path);
    return code;
}

/* Add a key, unless the cache has it: what is read twice counts once. */
static enum seen_code restore_key(void *owner, const struct seen_key *key,
                                  struct seen_error *why)
{
    struct crawl_cache *c = owner;
    enum seen_code code = crawl_cache_sample(c, key, why);
    bool seen = false;

    if (code == SEEN_OK && c->server.base && !c->in_memory)
        return crawl_remote_keep(c, key, 1, why);
    if (code == SEEN_OK)
        code = seen_filter_has(c->filter, key, 1, &seen, why);
    if (code == SEEN_OK && c->known)
        code = crawl_cache_ask_known(c, key, 1, &seen, why);
    return code == SEEN_OK && !seen
               ? crawl_growth_add(&c->growth, &c->filter, key, 1, why)
               : code;
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

/* *whole: its keys are there, or it never kept them. Otherwise it cannot grow,
   and is made again. */
static enum seen_code load(struct crawl_cache *c, bool *whole,
                           struct seen_error *why)
{
    struct seen_error detail;
    enum seen_code code = seen_store_load(&c->filter, c->path, NULL, &detail);
    const char *row, *mark;

    if (code != SEEN_OK)
        return crawl_cache_refuse(c->path, &detail, why);
    row = seen_meta_get(c->filter, "journal");
    if (!row || seen_filter_plan(c->filter)->seed != c->state->visit.seed) {
        seen_fail(&detail, SEEN_MISMATCH, 0, "not the cache of this visit");
        return crawl_cache_refuse(c->path, &detail, why);
    }
    c->last = c->saved = strtoll(row, NULL, 10);
    mark = seen_meta_get(c->filter, "keys");
    if (mark)
        crawl_keys_resume(&c->growth.keys,
                          crawl_cache_keys_path(c->state, c->state->visit.id),
                          mark);
    *whole = c->growth.keys.kept || !mark;
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

/* The visit before goes on if this one is rolled back; not after that. */
static void remove_old_keys(const struct crawl_cache *c)
{
    char *path = crawl_cache_keys_path(c->state, c->state->visit.id - 1);

    if (path)
        unlink(path);
    free(path);
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
    code = crawl_cache_make(c, why);
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

static enum seen_code make_or_load(struct crawl_cache *c, bool fresh,
                                   struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool whole = false;

    if (c->server.base)
        return open_remote(c, fresh, why);
    if (fresh)
        remove_old(c);
    if (!access(c->path, F_OK))
        code = load(c, &whole, why);
    if (code != SEEN_OK || whole)
        return code;
    seen_filter_free(c->filter);
    c->filter = NULL;
    c->last = c->saved = 0;
    code = crawl_cache_make(c, why);
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
                               .growth.keys.fd = -1,
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
        code = crawl_cache_open_audit(c, settings->audit, fresh, why);
    if (code == SEEN_OK)
        code = crawl_cache_open_known(c, fresh, why);
    if (code == SEEN_OK)
        code = make_or_load(c, fresh, why);
    if (code == SEEN_OK)
        code = crawl_cache_replay(c, why);
    if (code == SEEN_OK) /* parts on servers are not asked a second time */
        c->spatial = settings->cache && !c->server.base &&
                     seen_filter_can(c->filter, SEEN_PARTS_AGREE);
    else
        crawl_cache_close(c);
    return code;
}

void crawl_cache_close(struct crawl_cache *c)
{
    seen_filter_free(c->filter);
    crawl_growth_close(&c->growth);
    seen_filter_free(c->earlier);
    seen_filter_free(c->known);
    free(c->path);
    crawl_remote_close(c);
    *c = (struct crawl_cache){ .server = c->server };
}

/* --- questions --- */

static enum seen_code ask_batch(struct crawl_cache *c,
                                const struct seen_key *key, size_t n,
                                bool *seen, struct seen_error *why)
{
    enum seen_code code = ask_filter(c, key, n, seen, why);

    if (code == SEEN_OK && c->spatial)
        code = crawl_cache_count_parts(c, key, n, seen, why);
    for (size_t i = 0; code == SEEN_OK && i < n; i++)
        if (crawl_cache_samples(c, &key[i]))
            code = crawl_cache_audit(c, &key[i], seen[i], why);
    if (code == SEEN_OK && c->known)
        code = crawl_cache_ask_known(c, key, n, seen, why);
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
    for (size_t at = 0; code == SEEN_OK && at < n; at += CRAWL_CACHE_BATCH)
        code = ask_batch(c, key + at,
                         n - at < CRAWL_CACHE_BATCH ? n - at
                                                    : CRAWL_CACHE_BATCH,
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
    return c->server.base && !c->in_memory
               ? crawl_remote_keep(c, key, n, why)
               : crawl_growth_add(&c->growth, &c->filter, key, n, why);
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

bool crawl_cache_is_due(const struct crawl_cache *c)
{
    return c->last - c->saved >= SAVE_AFTER ||
           clock_ms() - c->since >= SAVE_EVERY;
}

enum seen_code crawl_cache_cut_journal(struct crawl_cache *c,
                                       struct seen_error *why)
{
    enum seen_code code = frontier_journal_cut(c->state->frontier, c->last,
                                               why);

    if (code == SEEN_OK) {
        c->saved = c->last;
        c->since = clock_ms();
    }
    return code;
}

enum seen_code crawl_cache_save(struct crawl_cache *c, bool now,
                                struct seen_error *why)
{
    char row[32], mark[CRAWL_KEYS_MARK] = "none";
    enum seen_code code;
    bool again;

    if (c->server.base && c->filter) {
        code = crawl_remote_save(c, now, &again, why);
        if (code == SEEN_OK && again)
            code = rebuild(c, false, why);
        return code;
    }
    if (!c->filter || (c->last == c->saved && !access(c->path, F_OK)))
        return SEEN_OK;
    if (!now && !crawl_cache_is_due(c))
        return SEEN_OK;
    snprintf(row, sizeof row, "%lld", (long long)c->last);
    code = seen_meta_set(c->filter, "journal", row, why);
    if (code == SEEN_OK && c->growth.keys.kept)
        code = crawl_keys_flush(&c->growth.keys, mark, why);
    if (code == SEEN_OK && c->growth.keys.path)
        code = seen_meta_set(c->filter, "keys", mark, why);
    if (code == SEEN_OK)
        code = seen_store_save(c->filter, c->path, why);
    if (code == SEEN_OK)
        remove_old_keys(c);
    return code == SEEN_OK ? crawl_cache_cut_journal(c, why) : code;
}
