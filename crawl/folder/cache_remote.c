/*
 * cache_remote.c - the filter of a visit on a server: open, ask, confirm, add.
 *
 * The server may lose what it acknowledged, and the rows do not: whatever is in
 * doubt, the filter is made again from the rows. cache_remote.h has the rule
 * and the order of the steps.
 */
#include "cache_remote_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../lib/disk/clock.h"
#include "../../remote/identity.h"

enum {
    AGAIN = 100,        /* ms between tries */
    WARN_EVERY = 60000  /* ms between warnings about the same */
};

void crawl_remote_warn(struct crawl_cache *c, const char *text)
{
    if (c->server.warn)
        c->server.warn(c->server.whose, text);
}

void crawl_remote_warn_again(struct crawl_cache *c, const char *text)
{
    if (c->warned && clock_ms() - c->warned < WARN_EVERY)
        return;
    c->warned = clock_ms();
    crawl_remote_warn(c, text);
}

/* --- open --- */

enum seen_code crawl_remote_foreign(const struct crawl_cache *c,
                                    struct seen_error *why)
{
    return seen_fail(why, SEEN_EXISTS, 0,
                     "%.100s is not a filter of this crawl; give --cache "
                     "another name, or delete that key",
                     c->address);
}

/* NULL and SEEN_OK: it is not a filter of this crawl. */
enum seen_code crawl_remote_open_at(struct crawl_cache *c,
                                    struct seen_filter **out,
                                    const char *address,
                                    struct seen_error *why)
{
    bool ours;

    return crawl_server_open(&c->server, out, address, c->token, &ours, why);
}

/* What may pass, so that the crawl goes on without it. */
bool crawl_remote_may_pass(enum seen_code code)
{
    return code == SEEN_IO || code == SEEN_BUSY;
}

/* What the filter does not have, the rows have. */
bool crawl_remote_is_lost(enum seen_code code)
{
    return code == SEEN_ABSENT || code == SEEN_CORRUPT;
}

static enum seen_code name_it(struct crawl_cache *c, struct seen_error *why)
{
    enum seen_code code = crawl_server_timeout(c->server.base, &c->patience,
                                               why);

    if (code == SEEN_OK)
        code = crawl_remote_load_token(c, why);
    if (code == SEEN_OK &&
        !(c->address = crawl_remote_address(c, c->state->visit.id)))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for the cache");
    return code;
}

/* The filter of visit N - 2 has no more use. */
static void remove_old(struct crawl_cache *c)
{
    char *address = c->state->visit.id > 2
                        ? crawl_remote_address(c, c->state->visit.id - 2)
                        : NULL;

    if (address)
        remote_remove(address, c->server.mark, c->token, NULL);
    free(address);
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
    code = crawl_remote_open_at(c, &f, c->address, &detail);
    if (code == SEEN_OK && !f)
        return crawl_remote_foreign(c, why);
    if (fresh && (code == SEEN_OK || crawl_remote_is_lost(code))) {
        remove_old(c);
    } else if (code == SEEN_OK && crawl_remote_is_whole(c, f)) {
        c->filter = f;
        *rebuild = false;
        return SEEN_OK;
    } else if (code == SEEN_OK) {
        crawl_remote_warn(
            c, "the filter on the server may lack URLs: it is made again "
               "from the rows");
    } else if (!fresh &&
               (crawl_remote_is_lost(code) || crawl_remote_may_pass(code))) {
        prefix(&detail, c->address);
        crawl_remote_warn(c, detail.text);
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

    if (c->state->visit.id < 2 || crawl_remote_load_token(c, NULL) != SEEN_OK)
        return;
    address = crawl_remote_address(c, c->state->visit.id - 1);
    if (address)
        crawl_remote_open_at(c, &c->earlier, address, NULL);
    free(address);
}

void crawl_remote_close(struct crawl_cache *c)
{
    crawl_remote_forget_kept(c);
    buffer_clear(&c->added);
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
    crawl_remote_warn_again(c, text);
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
    while (crawl_remote_may_pass(code) && wait_for(c, began, &detail));
    if (code == SEEN_OK && !remote_noticed(c->filter))
        return SEEN_OK;
    *rebuild = code == SEEN_OK || crawl_remote_may_pass(code) ||
               crawl_remote_is_lost(code);
    if (*rebuild) {
        snprintf(text, sizeof text,
                 "--cache: %.100s; the filter is made again from the rows",
                 code == SEEN_OK ? "URLs may be lost" : detail.text);
        c->warned = clock_ms();
        crawl_remote_warn(c, text);
    }
    if (!*rebuild && why)
        *why = detail;
    return *rebuild ? SEEN_OK : code;
}

/* Are the last keys there that were added? If not, *rebuild. */
static enum seen_code prove(struct crawl_cache *c, const struct seen_key *key,
                            size_t n, void *all, struct seen_error *why)
{
    (void)key;
    (void)n;
    return crawl_remote_has_last(c, c->filter, all, why);
}

static enum seen_code check_last(struct crawl_cache *c, bool *rebuild,
                                 struct seen_error *why)
{
    bool all = true;
    enum seen_code code = attempt(c, prove, NULL, 0, &all, rebuild, why);

    if (code != SEEN_OK || *rebuild || all)
        return code;
    *rebuild = true;
    crawl_remote_warn(
        c, "--cache: URLs are missing; the filter is made again from the "
           "rows");
    return SEEN_OK;
}

enum seen_code crawl_remote_ask(struct crawl_cache *c,
                                const struct seen_key *key, size_t n,
                                bool *seen, bool *rebuild,
                                struct seen_error *why)
{
    enum seen_code code = attempt(c, has, key, n, seen, rebuild, why);

    for (size_t i = 0; code == SEEN_OK && !*rebuild && i < n; i++)
        seen[i] |= crawl_remote_is_kept(c, &key[i]);
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
    if (c->server.reserves && c->added.len)
        return check_last(c, rebuild, why);
    return attempt(c, has, &any, 1, &seen, rebuild, why);
}

/*
 * The keys that were the last are asked for after the add: if they are there,
 * the add went to the filter that has all keys before. Asked for before it, the
 * filter could be replaced in between.
 */
static enum seen_code add_batch(struct crawl_cache *c,
                                const struct seen_key *key, size_t n,
                                bool *rebuild, struct seen_error *why)
{
    enum seen_code code = attempt(c, add, key, n, NULL, rebuild, why);

    if (code != SEEN_OK || *rebuild || !c->server.reserves)
        return code;
    code = check_last(c, rebuild, why);
    if (code == SEEN_OK && !*rebuild)
        crawl_remote_note_last(c, key, n);
    return code;
}

enum seen_code crawl_remote_save(struct crawl_cache *c, bool now,
                                 bool *rebuild, struct seen_error *why)
{
    enum seen_code code;

    *rebuild = false;
    if (c->in_memory)
        return crawl_remote_copy(c, now, why);
    if (!c->kept.used && c->last == c->saved)
        return SEEN_OK;
    code = crawl_remote_each_kept(c, add_batch, rebuild, why);
    if (code != SEEN_OK || *rebuild)
        return code;
    if (!now && !crawl_cache_is_due(c))
        return SEEN_OK;
    return crawl_remote_record(c, why);
}
