/*
 * cache_record.c - what the state notes of a filter on a server, so that the
 * next run knows whether the filter has every row.
 *
 *     cache-token     of this crawl, in the metadata or names of its filters
 *     cache-remote    VISIT ROW RATE KIND IDENTITY ADDRESS: the filter of this
 *                     visit has every row up to ROW
 *     cache-added     bf://: texts of the last keys that it has
 */
#include "cache_remote_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/random.h"
#include "../../lib/text/span.h"
#include "../../remote/identity.h"

enum { LAST = 8 }; /* keys that prove that a filter has all keys before them */

/* Which crawl a filter in Redis belongs to. */
enum seen_code crawl_remote_load_token(struct crawl_cache *c,
                                       struct seen_error *why)
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

char *crawl_remote_address(const struct crawl_cache *c, int64_t visit)
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
enum seen_code crawl_remote_record(struct crawl_cache *c,
                                   struct seen_error *why)
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
    return code == SEEN_OK ? crawl_cache_cut_journal(c, why) : code;
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

/* Does it have the last keys that were added to it, and so all of them? */
enum seen_code crawl_remote_has_last(const struct crawl_cache *c,
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
    return !c->added.failed &&
           crawl_remote_has_last(c, f, &same, NULL) == SEEN_OK && same;
}

/* Does it have every row up to the recorded one? */
bool crawl_remote_is_whole(struct crawl_cache *c, const struct seen_filter *f)
{
    struct recorded r;
    bool whole = read_record(c->state, &r) && r.visit == c->state->visit.id &&
                 !strcmp(r.address, c->address) && is_same(c, f, &r);

    if (whole)
        c->last = c->saved = r.row;
    free(r.text);
    return whole;
}

/* Remember the last of these, which were added just now. */
void crawl_remote_note_last(struct crawl_cache *c, const struct seen_key *key,
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
