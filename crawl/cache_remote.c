/* cache_remote.c - a filter that may forget, in front of rows that do not. */
#include "cache_remote.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seen/kind.h>
#include <seen/store.h>

#include "../lib/disk/clock.h"
#include "../lib/text/little.h"
#include "../lib/text/random.h"
#include "../remote/identity.h"
#include "../remote/remote.h"

enum {
    AGAIN = 100,        /* ms between tries */
    COPY_EVERY = 1000,  /* ms between tries to copy a filter, at least; */
    COPY_TIMES = 10,    /* or this many times the last try */
    WARN_EVERY = 60000, /* ms between warnings about the same */
    SAVE_AFTER = 1000000,
    SAVE_EVERY = 60000,
    BATCH = 2048,
    PARTS_LEAST = 4, /* of a routed filter: some for each node of a cluster */
    PART_BYTES = 15 << 20
};

static const char token_name[] = "crawl"; /* in the metadata */

bool crawl_cache_is_remote(const char *cache)
{
    return cache && remote_is_address(cache);
}

static void warn(void *whose, const char *text)
{
    struct crawl_cache *c = whose;

    if (c->warn)
        c->warn(c->whose, text);
}

static void warn_now_and_then(struct crawl_cache *c, const char *text)
{
    if (c->warned && clock_ms() - c->warned < WARN_EVERY)
        return;
    c->warned = clock_ms();
    warn(c, text);
}

enum seen_code crawl_remote_timeout(const char *cache, unsigned *timeout,
                                    struct seen_error *why)
{
    const bool spatial = remote_is_spatial(cache);
    struct remote_address a = { .timeout_ms = 0 };
    enum seen_code code = spatial ? SEEN_OK
                                  : remote_address_parse(&a, cache, why);

    if (code == SEEN_OK && (spatial || a.scheme == REMOTE_BF))
        code = seen_fail(why, SEEN_UNABLE, 0,
                         "--cache: a crawl makes its filters itself, which "
                         "%s cannot: take redis:// or redis+cluster://",
                         spatial ? "spatial:" : "bf://");
    *timeout = a.timeout_ms;
    remote_address_forget(&a);
    return code;
}

/* --- a filter that Redis can hold --- */

enum seen_code crawl_remote_new(struct seen_filter **out,
                                struct seen_plan *plan, struct seen_error *why)
{
    double bytes = (double)plan->capacity * -log(plan->rate) /
                   (M_LN2 * M_LN2 * 8);
    unsigned parts = (unsigned)(bytes / PART_BYTES) + 1;
    enum seen_code code;

    if (parts < PARTS_LEAST)
        parts = PARTS_LEAST;
    if (plan->rate >= 1e-4)
        strcpy(plan->kind, "blocked");
    else
        snprintf(plan->kind, sizeof plan->kind, "routed:%u/bloom", parts);
    plan->over = true; /* rather a rate that rises than a crawl that stops */
    code = seen_filter_new(out, plan, why);
    if (code == SEEN_OK)
        code = remote_able(*out, why);
    if (code != SEEN_OK) {
        seen_filter_free(*out);
        *out = NULL;
    }
    return code;
}

/* --- the state --- */

/* Which crawl a filter in Redis belongs to. */
static enum seen_code load_token(struct crawl_cache *c, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    char text[24];

    if (!c->token)
        code = crawl_state_get(c->state, "cache-token", &c->token, why);
    if (code != SEEN_OK || c->token)
        return code;
    snprintf(text, sizeof text, "%016" PRIx64, random_seed());
    c->token = strdup(text);
    return c->token ? crawl_state_set(c->state, "cache-token", text, why)
                    : seen_fail(why, SEEN_NOMEM, 0, "no memory for the cache");
}

static char *address_of(const struct crawl_cache *c, int64_t visit)
{
    char number[24];

    snprintf(number, sizeof number, "%lld", (long long)visit);
    return remote_address_more(c->base, number);
}

/* "VISIT ROW RATE KIND IDENTITY ADDRESS": it has every row up to ROW. */
static enum seen_code record(struct crawl_cache *c, struct seen_error *why)
{
    char *identity = remote_identity(c->filter), *text = NULL;
    enum seen_code code;

    if (asprintf(&text, "%lld %lld %.6g %s %s %s",
                 (long long)c->state->visit.id, (long long)c->last,
                 seen_filter_rate(c->filter),
                 seen_filter_plan(c->filter)->kind, identity ? identity : "-",
                 c->address) < 0)
        text = NULL;
    code = text ? crawl_state_set(c->state, "cache-remote", text, why)
                : seen_fail(why, SEEN_NOMEM, 0, "no memory for the cache");
    free(text);
    free(identity);
    if (code == SEEN_OK)
        code = frontier_journal_cut(c->state->frontier, c->last, why);
    if (code == SEEN_OK) {
        c->saved = c->last;
        c->since = clock_ms();
    }
    return code;
}

struct recorded {
    long long visit, row;
    double rate;
    char kind[SEEN_KIND_TEXT];
    const char *identity, *address; /* in text */
    char *text;
};

static bool read_record(struct crawl_state *s, struct recorded *r)
{
    char *word[6], *rest;
    int n = 0;

    memset(r, 0, sizeof *r);
    if (crawl_state_get(s, "cache-remote", &r->text, NULL) != SEEN_OK ||
        !r->text)
        return false;
    rest = r->text;
    while (n < 5 && rest)
        word[n++] = strsep(&rest, " ");
    if (n < 5 || !rest)
        return false;
    word[5] = rest;
    r->visit = strtoll(word[0], NULL, 10);
    r->row = strtoll(word[1], NULL, 10);
    r->rate = strtod(word[2], NULL);
    snprintf(r->kind, sizeof r->kind, "%s", word[3]);
    r->identity = word[4];
    r->address = word[5];
    return true;
}

bool crawl_remote_facts(struct crawl_state *s, char *kind, size_t room,
                        double *rate, char **address)
{
    struct recorded r;
    bool found = read_record(s, &r) && r.visit == s->visit.id;

    *address = NULL;
    if (found) {
        snprintf(kind, room, "%s", r.kind);
        *rate = r.rate;
        *address = strdup(r.address);
    }
    free(r.text);
    return found;
}

/* --- open --- */

static enum seen_code open_at(struct crawl_cache *c, struct seen_filter **out,
                              const char *address, struct seen_error *why)
{
    const struct remote_options options = {
        .profile = "whatwg", .over = true, .warn = warn, .whose = c
    };

    return remote_open(out, address, &options, why);
}

static bool is_ours(const struct crawl_cache *c, const struct seen_filter *f)
{
    const char *its = seen_meta_get(f, token_name);

    return its && !strcmp(its, c->token);
}

static enum seen_code foreign(const struct crawl_cache *c,
                              struct seen_error *why)
{
    return seen_fail(why, SEEN_EXISTS, 0,
                     "%.100s is not a filter of this crawl; give --cache "
                     "another name, or delete that key",
                     c->address);
}

/* What may pass, so that the crawl goes on without it. */
static bool may_pass(enum seen_code code)
{
    return code == SEEN_IO || code == SEEN_BUSY;
}

/* What the filter does not have, the rows have. */
static bool is_lost(enum seen_code code)
{
    return code == SEEN_ABSENT || code == SEEN_CORRUPT;
}

static enum seen_code name_it(struct crawl_cache *c, struct seen_error *why)
{
    unsigned timeout;
    enum seen_code code = crawl_remote_timeout(c->base, &timeout, why);

    c->patience = timeout;
    if (code == SEEN_OK)
        code = load_token(c, why);
    if (code == SEEN_OK && !(c->address = address_of(c, c->state->visit.id)))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for the cache");
    return code;
}

/* The filter of visit N - 2 has no more use. */
static void remove_old(struct crawl_cache *c)
{
    char *address = c->state->visit.id > 2
                        ? address_of(c, c->state->visit.id - 2)
                        : NULL;

    if (address)
        remote_remove(address, token_name, c->token, NULL);
    free(address);
}

/* Does it have every row up to the recorded one? */
static bool is_whole(struct crawl_cache *c, const struct seen_filter *f)
{
    struct recorded r;
    char *identity = remote_identity(f);
    bool whole = read_record(c->state, &r) && identity &&
                 r.visit == c->state->visit.id &&
                 !strcmp(r.identity, identity) &&
                 !strcmp(r.address, c->address) &&
                 seen_filter_plan(f)->seed == c->state->visit.seed;

    if (whole)
        c->last = c->saved = r.row;
    free(identity);
    free(r.text);
    return whole;
}

static void prefix(struct seen_error *why, const char *address)
{
    char text[sizeof why->text];

    snprintf(text, sizeof text, "%.56s: %.100s", address, why->text);
    memcpy(why->text, text, sizeof text);
}

enum seen_code crawl_remote_open(struct crawl_cache *c, bool fresh,
                                 bool *rebuild, struct seen_error *why)
{
    struct seen_filter *f = NULL;
    struct seen_error detail;
    enum seen_code code = name_it(c, why);

    *rebuild = true;
    if (code != SEEN_OK)
        return code;
    code = open_at(c, &f, c->address, &detail);
    if (code == SEEN_OK && !is_ours(c, f)) {
        seen_filter_free(f);
        return foreign(c, why);
    }
    if (fresh && (code == SEEN_OK || is_lost(code))) {
        remove_old(c);
    } else if (code == SEEN_OK && is_whole(c, f)) {
        c->filter = f;
        *rebuild = false;
        return SEEN_OK;
    } else if (code == SEEN_OK) {
        warn(c, "the filter in Redis may lack URLs: it is made again from the "
                "rows");
    } else if (!fresh && (is_lost(code) || may_pass(code))) {
        prefix(&detail, c->address);
        warn(c, detail.text);
    } else {
        prefix(&detail, c->address);
        if (why)
            *why = detail;
        return code;
    }
    seen_filter_free(f);
    return SEEN_OK;
}

void crawl_remote_earlier(struct crawl_cache *c)
{
    char *address = NULL;

    if (c->state->visit.id < 2 || load_token(c, NULL) != SEEN_OK)
        return;
    address = address_of(c, c->state->visit.id - 1);
    if (address && open_at(c, &c->earlier, address, NULL) == SEEN_OK &&
        !is_ours(c, c->earlier)) {
        seen_filter_free(c->earlier);
        c->earlier = NULL;
    }
    free(address);
}

/* --- keys that are not yet added --- */

struct kept {
    char bytes[16];
    struct seen_key key;
};

static bool is_kept(const struct crawl_cache *c, const struct seen_key *key)
{
    char bytes[16];

    little_put_64(bytes, key->lo);
    little_put_64(bytes + 8, key->hi);
    return map_get(&c->kept, bytes, sizeof bytes);
}

enum seen_code crawl_remote_keep(struct crawl_cache *c,
                                 const struct seen_key *key, size_t n,
                                 struct seen_error *why)
{
    for (size_t i = 0; i < n; i++) {
        struct kept *it;

        if (is_kept(c, &key[i]))
            continue;
        it = calloc(1, sizeof *it);
        if (it) {
            it->key = (struct seen_key){ .lo = key[i].lo, .hi = key[i].hi };
            little_put_64(it->bytes, key[i].lo);
            little_put_64(it->bytes + 8, key[i].hi);
        }
        if (!it || !map_set(&c->kept, it->bytes, sizeof it->bytes, it)) {
            free(it);
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for links");
        }
    }
    return SEEN_OK;
}

static void forget_kept(struct crawl_cache *c)
{
    void *it;

    for (size_t at = 0; (it = map_next(&c->kept, &at));)
        free(it);
    map_clear(&c->kept);
}

void crawl_remote_close(struct crawl_cache *c)
{
    forget_kept(c);
    free(c->address);
    free(c->token);
}

/* --- questions and adds --- */

/* The server does not answer: is it time to go on without it? */
static bool wait_for(struct crawl_cache *c, uint64_t began,
                     const struct seen_error *why)
{
    const struct timespec pause = { .tv_nsec = AGAIN * 1000000L };
    char text[sizeof why->text];

    if (clock_ms() - began >= c->patience)
        return false;
    snprintf(text, sizeof text, "--cache: %.120s; trying again", why->text);
    warn_now_and_then(c, text);
    nanosleep(&pause, NULL);
    return true;
}

static enum seen_code has(struct crawl_cache *c, const struct seen_key *key,
                          size_t n, void *seen, struct seen_error *why)
{
    return seen_filter_has(c->filter, key, n, seen, why);
}

static enum seen_code add(struct crawl_cache *c, const struct seen_key *key,
                          size_t n, void *unused, struct seen_error *why)
{
    (void)unused;
    return seen_filter_add(c->filter, key, n, NULL, why);
}

/*
 * Try until it is done, or *rebuild says that the filter has to be made again.
 * An add whose answer was lost is repeated: nobody asks whether a key was new.
 */
static enum seen_code attempt(
    struct crawl_cache *c,
    enum seen_code (*what)(struct crawl_cache *c, const struct seen_key *key,
                           size_t n, void *answers, struct seen_error *why),
    const struct seen_key *key, size_t n, void *answers, bool *rebuild,
    struct seen_error *why)
{
    const uint64_t began = clock_ms();
    struct seen_error detail;
    enum seen_code code;
    char text[sizeof detail.text];

    *rebuild = false;
    do
        code = what(c, key, n, answers, &detail);
    while (may_pass(code) && wait_for(c, began, &detail));
    if (code == SEEN_OK && !remote_noticed(c->filter))
        return SEEN_OK;
    *rebuild = code == SEEN_OK || may_pass(code) || is_lost(code);
    if (*rebuild) {
        snprintf(text, sizeof text,
                 "--cache: %.100s; the filter is made again from the rows",
                 code == SEEN_OK ? "URLs may be lost" : detail.text);
        c->warned = clock_ms();
        warn(c, text);
    }
    if (!*rebuild && why)
        *why = detail;
    return *rebuild ? SEEN_OK : code;
}

enum seen_code crawl_remote_ask(struct crawl_cache *c,
                                const struct seen_key *key, size_t n,
                                bool *seen, bool *rebuild,
                                struct seen_error *why)
{
    enum seen_code code = attempt(c, has, key, n, seen, rebuild, why);

    for (size_t i = 0; code == SEEN_OK && !*rebuild && i < n; i++)
        seen[i] |= is_kept(c, &key[i]);
    c->unsure = true;
    return code;
}

/* The server looks as it did before, and this after the answers: then they
   were of the data that has all our adds. */
enum seen_code crawl_remote_confirm(struct crawl_cache *c, bool *rebuild,
                                    struct seen_error *why)
{
    const struct seen_key any = { .lo = 1, .hi = 1 };
    bool seen;

    *rebuild = false;
    if (!c->unsure)
        return SEEN_OK;
    c->unsure = false;
    remote_look(c->filter);
    return attempt(c, has, &any, 1, &seen, rebuild, why);
}

static enum seen_code each_kept(struct crawl_cache *c, bool *rebuild,
                                struct seen_error *why)
{
    struct seen_key *key = malloc(BATCH * sizeof *key);
    enum seen_code code = SEEN_OK;
    struct kept *it = NULL;
    size_t n = 0, at = 0;

    *rebuild = false;
    if (!key)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for links");
    do {
        it = map_next(&c->kept, &at);
        if (it)
            key[n++] = it->key;
        if (n == BATCH || (!it && n)) {
            code = attempt(c, add, key, n, NULL, rebuild, why);
            n = 0;
        }
    } while (it && code == SEEN_OK && !*rebuild);
    free(key);
    if (code == SEEN_OK && !*rebuild)
        forget_kept(c);
    return code;
}

/* The filter is in memory now. Rows of this transaction may not be readable
   yet; their keys are kept. */
enum seen_code crawl_remote_pour(struct crawl_cache *c, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct kept *it;

    for (size_t at = 0; code == SEEN_OK && (it = map_next(&c->kept, &at));)
        code = seen_filter_add(c->filter, &it->key, 1, NULL, why);
    forget_kept(c);
    return code;
}

/* --- the copy --- */

static enum seen_code copy(struct crawl_cache *c, struct seen_error *why)
{
    const struct remote_options options = { .warn = warn, .whose = c };
    struct seen_filter *f = NULL;
    enum seen_code code = seen_meta_set(c->filter, token_name, c->token, why);

    if (code == SEEN_OK)
        code = seen_meta_set(c->filter, "visit", c->state->visit.name, why);
    if (code == SEEN_OK)
        code = remote_save(c->filter, c->address, &options, why);
    if (code == SEEN_OK)
        code = open_at(c, &f, c->address, why);
    if (code == SEEN_OK && !is_ours(c, f))
        code = foreign(c, why);
    if (code != SEEN_OK) {
        seen_filter_free(f);
        return code;
    }
    seen_filter_free(c->filter);
    c->filter = f;
    c->in_memory = c->unsure = false;
    return record(c, why);
}

static enum seen_code try_copy(struct crawl_cache *c, bool now,
                               struct seen_error *why)
{
    struct seen_error detail;
    enum seen_code code;
    const uint64_t began = clock_ms();
    char text[sizeof detail.text];

    if (!now && began < c->copy_after)
        return SEEN_OK;
    code = copy(c, &detail);
    c->copy_after = clock_ms() + COPY_EVERY +
                    COPY_TIMES * (clock_ms() - began);
    if (code == SEEN_OK)
        return SEEN_OK;
    if (!may_pass(code) && !is_lost(code)) {
        if (why)
            *why = detail;
        return code;
    }
    snprintf(text, sizeof text,
             "--cache: %.100s; the crawl goes on with a filter in memory",
             detail.text);
    if (now) /* the run ends */
        warn(c, text);
    else
        warn_now_and_then(c, text);
    return SEEN_OK;
}

enum seen_code crawl_remote_save(struct crawl_cache *c, bool now,
                                 bool *rebuild, struct seen_error *why)
{
    enum seen_code code;

    *rebuild = false;
    if (c->in_memory)
        return try_copy(c, now, why);
    if (!c->kept.used && c->last == c->saved)
        return SEEN_OK;
    code = each_kept(c, rebuild, why);
    if (code != SEEN_OK || *rebuild)
        return code;
    if (!now && c->last - c->saved < SAVE_AFTER &&
        clock_ms() - c->since < SAVE_EVERY)
        return SEEN_OK;
    return record(c, why);
}
