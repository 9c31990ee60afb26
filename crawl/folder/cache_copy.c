/*
 * cache_copy.c - keys that a filter on a server does not have yet, and a filter
 * in memory that is copied to the server.
 *
 * New keys are added in one batch after a commit; until then they are kept
 * here, and questions look at them, too. If the filter was lost, the crawl goes
 * on with one in memory, and tries now and then to copy that to the server. A
 * server with BF commands takes no cells: it reserves an empty filter, and all
 * URLs of the rows are added to it.
 */
#include "cache_remote_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seen/store.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/little.h"
#include "../../remote/identity.h"
#include "../../remote/reserve.h"
#include "../page/scope.h"

enum { BATCH = 2048 };

/* --- keys that are not yet added --- */

struct kept {
    char bytes[16];
    struct seen_key key;
    char text[]; /* only for bf:// */
};

bool crawl_remote_is_kept(const struct crawl_cache *c,
                          const struct seen_key *key)
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

        if (crawl_remote_is_kept(c, &key[i]))
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

void crawl_remote_forget_kept(struct crawl_cache *c)
{
    void *it;

    for (size_t at = 0; (it = map_next(&c->kept, &at));)
        free(it);
    map_clear(&c->kept);
}

enum seen_code crawl_remote_each_kept(struct crawl_cache *c,
                                      crawl_remote_add *add, bool *rebuild,
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
            code = add(c, key, n, rebuild, why);
            n = 0;
        }
    } while (it && code == SEEN_OK && !*rebuild);
    free(key);
    if (code == SEEN_OK && !*rebuild)
        crawl_remote_forget_kept(c);
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
    crawl_remote_forget_kept(c);
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
        code = crawl_remote_has_last(to->c, to->f, &all, why);
    if (code == SEEN_OK && !all)
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "URLs are missing that were added just now");
    if (code == SEEN_OK && to->n)
        crawl_remote_note_last(to->c, to->key, to->n);
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
        code = crawl_remote_open_at(c, f, c->address, why);
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
        code = crawl_remote_open_at(c, f, c->address, why);
    return code == SEEN_OK && !*f ? crawl_remote_foreign(c, why) : code;
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
    return crawl_remote_record(c, why);
}

enum seen_code crawl_remote_copy(struct crawl_cache *c, bool now,
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
    if (!crawl_remote_may_pass(code) && !crawl_remote_is_lost(code)) {
        if (why)
            *why = detail;
        return code;
    }
    snprintf(text, sizeof text,
             "--cache: %.100s; the crawl goes on with a filter in memory",
             detail.text);
    if (now) /* the run ends */
        crawl_remote_warn(c, text);
    else
        crawl_remote_warn_again(c, text);
    return SEEN_OK;
}
