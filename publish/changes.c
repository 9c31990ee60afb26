/*
 * changes.c - bring the changes of all filters up to date.
 *
 * Changes are in the order of time. To find those of one filter, an index of
 * them is sorted by path and then by position, and walked in parallel with the
 * items, which are in the order of paths, too.
 */
#include "changes.h"

#include <stdlib.h>
#include <string.h>

enum { GONE_MOST = 1000 }; /* the latest deletions, which are remembered */

struct publish_change_index {
    size_t *at; /* positions of changes */
    size_t n;
    bool *drop; /* by position */
};

static int by_path(const void *a, const void *b, void *whose)
{
    const struct publish_state *s = whose;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int order = strcmp(s->change[i].path, s->change[j].path);

    return order ? order : (i > j) - (i < j);
}

static enum seen_code index_init(struct publish_change_index *x,
                                 struct publish_state *s,
                                 struct seen_error *why)
{
    x->n = s->changes;
    x->at = calloc(x->n + 1, sizeof *x->at);
    x->drop = calloc(x->n + 1, sizeof *x->drop);
    if (!x->at || !x->drop) {
        free(x->at);
        free(x->drop);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for changes");
    }
    for (size_t i = 0; i < x->n; i++)
        x->at[i] = i;
    if (x->n)
        qsort_r(x->at, x->n, sizeof *x->at, by_path, s);
    return SEEN_OK;
}

static void index_clear(struct publish_change_index *x)
{
    free(x->at);
    free(x->drop);
}

/* --- what is new or gone ------------------------------------------------ */

/* `last` is the position of the last change of the same path, or -1. */
static bool append(struct publish_state *s, const char *path, long last,
                   int64_t now)
{
    int64_t when = now;
    struct publish_change *c;

    if (s->changes && s->change[s->changes - 1].when > when)
        when = s->change[s->changes - 1].when;
    if (last >= 0 && s->change[last].when >= when)
        when = s->change[last].when + 1;
    c = publish_state_add_change(s);
    if (!c)
        return false;
    c->when = when;
    c->path = strdup(path);
    return c->path;
}

static bool append_item(struct publish_state *s,
                        const struct publish_item *item, long last,
                        int64_t now)
{
    bool joined = last >= 0 && s->change[last].kind != DELETED;
    bool patched = joined && item->patch.made &&
                   !memcmp(item->patch.from, s->change[last].digest,
                           SEEN_DIGEST);
    struct publish_change *c;

    if (!append(s, item->path, last, now))
        return false;
    c = &s->change[s->changes - 1];
    c->kind = joined ? UPDATED : CREATED;
    c->lastmod = item->lastmod;
    c->length = item->length;
    memcpy(c->digest, item->digest, SEEN_DIGEST);
    c->patched = patched;
    if (patched) {
        memcpy(c->from, item->patch.from, SEEN_DIGEST);
        memcpy(c->patch, item->patch.digest, SEEN_DIGEST);
        c->patch_length = item->patch.length;
    }
    return true;
}

static bool append_gone(struct publish_state *s, const char *path, long last,
                        int64_t now)
{
    if (!append(s, path, last, now))
        return false;
    s->change[s->changes - 1].kind = DELETED;
    s->change[s->changes - 1].lastmod = s->change[last].lastmod;
    return true;
}

/* Compare the last change of a path, if any, with its item, if any. */
static bool complete(struct publish_state *s, const char *path,
                     const struct publish_item *item, long last, int64_t now)
{
    if (!item)
        return s->change[last].kind == DELETED ||
               append_gone(s, path, last, now);
    if (last >= 0 && s->change[last].kind != DELETED &&
        !memcmp(s->change[last].digest, item->digest, SEEN_DIGEST))
        return true;
    return append_item(s, item, last, now);
}

static enum seen_code append_all(struct publish_state *s, int64_t now,
                                 struct seen_error *why)
{
    struct publish_change_index x;
    enum seen_code code = index_init(&x, s, why);
    size_t i = 0, j = 0;
    bool good = true;

    if (code != SEEN_OK)
        return code;
    while (good && (i < s->items || j < x.n)) {
        int order = i == s->items ? 1
                    : j == x.n
                        ? -1
                        : strcmp(s->item[i].path, s->change[x.at[j]].path);
        const struct publish_item *item = order <= 0 ? &s->item[i++] : NULL;
        const char *path = item ? item->path : s->change[x.at[j]].path;
        long last = -1;

        while (order >= 0 && j < x.n && !strcmp(s->change[x.at[j]].path, path))
            last = (long)x.at[j++];
        good = complete(s, path, item, last, now);
    }
    index_clear(&x);
    return good ? SEEN_OK
                : seen_fail(why, SEEN_NOMEM, 0, "no memory for changes");
}

/* --- what is of no more use --------------------------------------------- */

/* Drop old changes of one path, whose n positions are at `at`. */
static void trim(struct publish_state *s, struct publish_change_index *x,
                 const size_t *at, size_t n)
{
    const struct publish_change *last = &s->change[at[n - 1]];
    uint64_t sum = 0;
    size_t keep = 1; /* the last one always */

    while (keep < n && keep <= s->deltas) {
        const struct publish_change *c = &s->change[at[n - keep]];

        sum += c->patch_length;
        if (!c->patched || sum >= last->length)
            break;
        keep++;
    }
    for (size_t i = 0; i < n - keep; i++)
        x->drop[at[i]] = true;
    s->change[at[n - keep]].patched = false; /* nothing is before it */
}

static void compact(struct publish_state *s,
                    const struct publish_change_index *x)
{
    size_t to = 0, gone = 0, seen = 0;

    for (size_t i = 0; i < s->changes; i++)
        gone += !x->drop[i] && s->change[i].kind == DELETED;
    for (size_t i = 0; i < s->changes; i++) {
        bool drop = x->drop[i];

        if (!drop && s->change[i].kind == DELETED)
            drop = gone - seen++ > GONE_MOST;
        if (drop)
            free(s->change[i].path);
        else
            s->change[to++] = s->change[i];
    }
    s->changes = to;
}

enum seen_code publish_changes_update(struct publish_state *s, int64_t now,
                                      struct seen_error *why)
{
    struct publish_change_index x;
    enum seen_code code;

    if (!s->deltas) {
        for (size_t i = 0; i < s->changes; i++)
            free(s->change[i].path);
        s->changes = 0;
        return SEEN_OK;
    }
    code = append_all(s, now, why);
    if (code == SEEN_OK)
        code = index_init(&x, s, why);
    if (code != SEEN_OK)
        return code;
    for (size_t i = 0, n; i < x.n; i += n) {
        const char *path = s->change[x.at[i]].path;

        for (n = 1; i + n < x.n && !strcmp(s->change[x.at[i + n]].path, path);)
            n++;
        trim(s, &x, x.at + i, n);
    }
    compact(s, &x);
    index_clear(&x);
    return SEEN_OK;
}
