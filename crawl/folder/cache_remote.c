/* cache_remote.c - a filter that may forget, in front of rows that do not. */
#include "cache_remote.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seen/kind.h>
#include <seen/store.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/little.h"
#include "../../lib/text/random.h"
#include "../../lib/text/span.h"
#include "../../remote/identity.h"
#include "../../remote/remote.h"
#include "../../remote/reserve.h"
#include "../page/scope.h"

enum {
    AGAIN = 100,        /* ms between tries */
    WARN_EVERY = 60000, /* ms between warnings about the same */
    SAVE_AFTER = 1000000,
    SAVE_EVERY = 60000,
    BATCH = 2048,
    LAST = 8 /* keys that prove that a filter has all keys before them */
};

static void warn(struct crawl_cache *c, const char *text)
{
    if (c->server.warn)
        c->server.warn(c->server.whose, text);
}

static void warn_now_and_then(struct crawl_cache *c, const char *text)
{
    if (c->warned && clock_ms() - c->warned < WARN_EVERY)
        return;
    c->warned = clock_ms();
    warn(c, text);
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
    char more[64];

    snprintf(more, sizeof more, "%lld%s%.24s", (long long)visit,
             c->server.reserves ? "-" : "",
             c->server.reserves ? c->token : "");
    return remote_address_more(c->server.base, more, NULL);
}

/* First, so that the keys are not older than the row of the record. */
static enum seen_code record_last(struct crawl_cache *c,
                                  struct seen_error *why)
{
    if (!c->server.reserves)
        return SEEN_OK;
    buffer_byte(&c->added, '\0');
    if (c->added.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the cache");
    c->added.len--;
    return crawl_state_set(c->state, "cache-added", c->added.bytes, why);
}

/* "VISIT ROW RATE KIND IDENTITY ADDRESS": it has every row up to ROW. */
static enum seen_code record(struct crawl_cache *c, struct seen_error *why)
{
    char *identity = c->server.reserves ? NULL : remote_identity(c->filter);
    char *text = NULL;
    enum seen_code code = record_last(c, why);

    if (code == SEEN_OK &&
        asprintf(&text, "%lld %lld %.6g %s %s %s",
                 (long long)c->state->visit.id, (long long)c->last,
                 crawl_cache_rate(c), seen_filter_plan(c->filter)->kind,
                 identity ? identity : "-", c->address) < 0)
        text = NULL;
    if (code == SEEN_OK)
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

static enum seen_code foreign(const struct crawl_cache *c,
                              struct seen_error *why)
{
    return seen_fail(why, SEEN_EXISTS, 0,
                     "%.100s is not a filter of this crawl; give --cache "
                     "another name, or delete that key",
                     c->address);
}

/* NULL and SEEN_OK: it is not a filter of this crawl. */
static enum seen_code open_at(struct crawl_cache *c, struct seen_filter **out,
                              const char *address, struct seen_error *why)
{
    bool ours;

    return crawl_server_open(&c->server, out, address, c->token, &ours, why);
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
    enum seen_code code = crawl_server_timeout(c->server.base, &c->patience,
                                               why);

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
        remote_remove(address, c->server.mark, c->token, NULL);
    free(address);
}

/* Does it have the last keys that were added to it, and so all of them? */
static enum seen_code has_last(const struct crawl_cache *c,
                               const struct seen_filter *f, bool *all,
                               struct seen_error *why)
{
    struct seen_span rest = { c->added.bytes, c->added.len }, line;
    struct seen_key key[LAST];
    bool seen[LAST];
    size_t n = 0;
    enum seen_code code;

    *all = true;
    while (n < LAST && span_cut(&rest, '\n', &line))
        seen_key_hash(&key[n++], line.text, line.len);
    code = n ? seen_filter_has(f, key, n, seen, why) : SEEN_OK;
    for (size_t i = 0; code == SEEN_OK && i < n; i++)
        *all &= seen[i];
    return code;
}

/* The same server with the same data, or the same keys. */
static bool is_same(struct crawl_cache *c, const struct seen_filter *f,
                    const struct recorded *r)
{
    char *identity, *last = NULL;
    bool same = false;

    if (!c->server.reserves) {
        identity = remote_identity(f);
        same = identity && !strcmp(r->identity, identity) &&
               seen_filter_plan(f)->seed == c->state->visit.seed;
        free(identity);
        return same;
    }
    if (crawl_state_get(c->state, "cache-added", &last, NULL) != SEEN_OK ||
        !last)
        return false;
    c->added.len = 0;
    buffer_text(&c->added, last);
    free(last);
    return !c->added.failed && has_last(c, f, &same, NULL) == SEEN_OK && same;
}

/* Does it have every row up to the recorded one? */
static bool is_whole(struct crawl_cache *c, const struct seen_filter *f)
{
    struct recorded r;
    bool whole = read_record(c->state, &r) && r.visit == c->state->visit.id &&
                 !strcmp(r.address, c->address) && is_same(c, f, &r);

    if (whole)
        c->last = c->saved = r.row;
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
    if (code == SEEN_OK && !f)
        return foreign(c, why);
    if (fresh && (code == SEEN_OK || is_lost(code))) {
        remove_old(c);
    } else if (code == SEEN_OK && is_whole(c, f)) {
        c->filter = f;
        *rebuild = false;
        return SEEN_OK;
    } else if (code == SEEN_OK) {
        warn(c, "the filter on the server may lack URLs: it is made again "
                "from the rows");
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
    if (address)
        open_at(c, &c->earlier, address, NULL);
    free(address);
}

/* --- keys that are not yet added --- */

struct kept {
    char bytes[16];
    struct seen_key key;
    char text[]; /* only for bf:// */
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
        const size_t len = c->server.reserves ? key[i].len : 0;
        struct kept *it;

        if (is_kept(c, &key[i]))
            continue;
        it = calloc(1, sizeof *it + len);
        if (it) {
            it->key = (struct seen_key){
                .text = it->text, .len = len, .lo = key[i].lo, .hi = key[i].hi
            };
            if (len)
                memcpy(it->text, key[i].text, len);
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

/* Are the last keys there that were added? If not, *rebuild. */
static enum seen_code prove(struct crawl_cache *c, const struct seen_key *key,
                            size_t n, void *all, struct seen_error *why)
{
    (void)key;
    (void)n;
    return has_last(c, c->filter, all, why);
}

static enum seen_code check_last(struct crawl_cache *c, bool *rebuild,
                                 struct seen_error *why)
{
    bool all = true;
    enum seen_code code = attempt(c, prove, NULL, 0, &all, rebuild, why);

    if (code != SEEN_OK || *rebuild || all)
        return code;
    *rebuild = true;
    warn(c, "--cache: URLs are missing; the filter is made again from the "
            "rows");
    return SEEN_OK;
}

/* Remember the last of these, which were added just now. */
static void note_last(struct crawl_cache *c, const struct seen_key *key,
                      size_t n)
{
    struct buffer *b = &c->added;
    size_t lines = 0;

    for (size_t i = n > LAST ? n - LAST : 0; i < n; i++) {
        buffer_bytes(b, key[i].text, key[i].len);
        buffer_byte(b, '\n');
    }
    for (size_t at = b->len; at > 0; at--)
        if (b->bytes[at - 1] == '\n' && ++lines > LAST) {
            memmove(b->bytes, b->bytes + at, b->len - at);
            b->len -= at;
            break;
        }
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
        note_last(c, key, n);
    return code;
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
            code = add_batch(c, key, n, rebuild, why);
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

/* URLs on their way to a filter that the server has reserved. */
struct filling {
    struct crawl_cache *c;
    struct seen_filter *f;
    struct seen_key key[BATCH];
    size_t n;
    struct buffer texts;
    size_t at[BATCH]; /* of the text of each key; the buffer moves */
};

static enum seen_code fill_batch(struct filling *to, struct seen_error *why)
{
    enum seen_code code;
    bool all = true;

    if (to->texts.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the cache");
    for (size_t i = 0; i < to->n; i++)
        to->key[i].text = to->texts.bytes + to->at[i];
    code = seen_filter_add(to->f, to->key, to->n, NULL, why);
    if (code == SEEN_OK)
        code = has_last(to->c, to->f, &all, why);
    if (code == SEEN_OK && !all)
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "URLs are missing that were added just now");
    if (code == SEEN_OK && to->n)
        note_last(to->c, to->key, to->n);
    to->n = to->texts.len = 0;
    return code;
}

static enum seen_code fill_url(void *owner, int64_t id, struct seen_span url,
                               struct seen_error *why)
{
    static char text[SEEN_KEY_TEXT];
    struct filling *to = owner;
    struct seen_key *key = &to->key[to->n];

    (void)id;
    crawl_key(key, text, url);
    to->at[to->n++] = to->texts.len;
    buffer_bytes(&to->texts, key->text, key->len);
    return to->n == BATCH ? fill_batch(to, why) : SEEN_OK;
}

static enum seen_code fill(struct crawl_cache *c, struct seen_filter *f,
                           struct seen_error *why)
{
    struct filling *to = calloc(1, sizeof *to);
    enum seen_code code;

    if (!to)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the cache");
    to->c = c;
    to->f = f;
    c->added.len = 0;
    code = crawl_cache_each_url(c, fill_url, to, why);
    if (code == SEEN_OK)
        code = fill_batch(to, why);
    buffer_clear(&to->texts);
    free(to);
    return code;
}

/* BF commands: an empty filter, in the place of one that may be there, and all
   URLs of the rows. */
static enum seen_code make_again(struct crawl_cache *c, struct seen_filter **f,
                                 struct seen_error *why)
{
    struct seen_plan plan = *seen_filter_plan(c->filter);
    enum seen_code code = remote_remove(c->address, NULL, NULL, why);

    if (code == SEEN_OK || code == SEEN_ABSENT)
        code = remote_reserve(c->address, &plan, why);
    if (code == SEEN_EXISTS) /* an earlier try came late: remove it, too */
        code = seen_fail(why, SEEN_BUSY, 0, "the filter was made meanwhile");
    if (code == SEEN_OK)
        code = open_at(c, f, c->address, why);
    return code == SEEN_OK ? fill(c, *f, why) : code;
}

static enum seen_code copy_cells(struct crawl_cache *c, struct seen_filter **f,
                                 struct seen_error *why)
{
    enum seen_code code = seen_meta_set(c->filter, "visit",
                                        c->state->visit.name, why);

    if (code == SEEN_OK)
        code = crawl_server_save(&c->server, c->filter, c->address, c->token,
                                 why);
    if (code == SEEN_OK)
        code = open_at(c, f, c->address, why);
    return code == SEEN_OK && !*f ? foreign(c, why) : code;
}

static enum seen_code copy(struct crawl_cache *c, struct seen_error *why)
{
    struct seen_filter *f = NULL;
    enum seen_code code = c->server.reserves ? make_again(c, &f, why)
                                             : copy_cells(c, &f, why);

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
    c->copy_after = clock_ms() + crawl_server_pause(clock_ms() - began);
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
