/*
 * catalog.c - what was found in a round, in maps and lists with a limit.
 *
 * In the order of a round: publishers and the sources that belong to them;
 * filters, as lists announce them; names, which are claimed when all filters
 * are known; lists that were read; patches of our version; and the queue of
 * what is to be fetched.
 *
 * Everything here grows with what others announce, so that nothing is
 * allocated before harvest_catalog_spend() has counted it. It counts what
 * malloc() adds and what a map takes, too: 50,000 short announcements are
 * mostly that. If there are several publishers, each gets at most half of what
 * the others have left: one that announces without end leaves the other half.
 *
 * What is harvested should not depend on which list arrived first. So what a
 * filter's own host announces wins over others; of others that contradict each
 * other none counts; and harvest_catalog_sort() puts filters into the order of
 * their publishers' numbers.
 */
#include "catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/span.h"

/* What is counted besides the bytes that are asked for: malloc()'s own; an
   entry of a map, when it has just grown; a host in a queue. */
enum { MALLOC = 16, SLOT = 64, HOST = 160 };

/* --- the whole --- */

void harvest_catalog_init(struct harvest_catalog *c, unsigned parallel)
{
    memset(c, 0, sizeof *c);
    c->parallel = parallel;
}

static void chain_cut(struct harvest_chain *c)
{
    while (c->first) {
        struct harvest_patch *next = c->first->next;

        free(c->first);
        c->first = next;
    }
    c->links = 0;
    c->bytes = 0;
}

void harvest_catalog_clear(struct harvest_catalog *c)
{
    struct harvest_item *i;
    void *list;

    for (size_t at = 0; (i = map_next(&c->items, &at)); free(i)) {
        if (i->chain)
            chain_cut(i->chain);
        free(i->chain);
    }
    while (c->first_source) {
        struct harvest_source *next = c->first_source->next;

        free(c->first_source);
        c->first_source = next;
    }
    while (c->publishers--) {
        struct harvest_publisher *next = c->publisher->next;

        fetch_host_queue_clear(&c->publisher->queue);
        free(c->publisher);
        c->publisher = next;
    }
    for (size_t at = 0; (list = map_next(&c->lists, &at));)
        free(list);
    map_clear(&c->items);
    free(c->by_name);
    map_clear(&c->sources);
    map_clear(&c->lists);
    harvest_catalog_init(c, 0);
}

bool harvest_catalog_spend(struct harvest_catalog *c, size_t bytes)
{
    if (c->memory + bytes + MALLOC > HARVEST_MEMORY)
        return false;
    c->memory += bytes + MALLOC;
    return true;
}

static enum seen_code exhausted(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0,
                     "announces more than fits into memory; the rest is left "
                     "out");
}

/* --- publishers and sources --- */

static struct harvest_publisher *publisher_new(struct harvest_catalog *c)
{
    struct harvest_publisher *p = NULL;

    if (harvest_catalog_spend(c, sizeof *p))
        p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->number = ++c->publishers;
    p->queue.per_host = c->parallel;
    p->next = p;
    if (c->publisher) {
        p->next = c->publisher->next;
        c->publisher->next = p;
    }
    c->publisher = p; /* so that they are in the order of their numbers */
    return p;
}

/* "url\0root": a URL has no zero in it. */
static size_t source_key(char key[2 * HARVEST_URL + 2], const char *url,
                         const char *root)
{
    return (size_t)snprintf(key, 2 * HARVEST_URL + 2, "%s%c%s", url, 0, root);
}

struct harvest_source *harvest_catalog_find_source(
    const struct harvest_catalog *c, const char *url, const char *root)
{
    char key[2 * HARVEST_URL + 2];

    return map_get(&c->sources, key, source_key(key, url, root));
}

enum seen_code harvest_catalog_source(struct harvest_catalog *c,
                                      struct harvest_source **out,
                                      const char *url, const char *root,
                                      struct harvest_publisher *publisher,
                                      bool *fresh, struct seen_error *why)
{
    char key[2 * HARVEST_URL + 2];
    size_t len = source_key(key, url, root);
    struct harvest_source *s = map_get(&c->sources, key, len);

    *fresh = !s;
    *out = s;
    if (s)
        return SEEN_OK;
    if (!publisher && c->publishers >= HARVEST_PUBLISHERS)
        return seen_fail(why, SEEN_RANGE, 0,
                         "names more than %d sources; the rest is left out",
                         HARVEST_PUBLISHERS);
    if (!publisher)
        publisher = publisher_new(c);
    if (!publisher || !harvest_catalog_spend(c, sizeof *s + len + SLOT))
        return exhausted(why);
    s = calloc(1, sizeof *s + len + 1);
    if (!s)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a source");
    memcpy(s->url, key, len);
    if (!map_set(&c->sources, s->url, len, s)) {
        free(s);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a source");
    }
    s->root = root;
    s->publisher = publisher;
    s->next = c->first_source;
    c->first_source = s;
    *out = s;
    return SEEN_OK;
}

/* --- filters --- */

const char *harvest_item_name(const struct harvest_item *i)
{
    return i->url + strlen(i->url) + 1;
}

struct harvest_item *harvest_catalog_find(const struct harvest_catalog *c,
                                          const char *url)
{
    return map_get(&c->items, url, strlen(url));
}

static enum seen_code item_new(struct harvest_catalog *c,
                               struct harvest_item **out,
                               struct harvest_publisher *p,
                               const struct harvest_announcement *a,
                               struct seen_error *why)
{
    size_t url = strlen(a->url) + 1, name = strlen(a->name) + 1;
    size_t size = sizeof(struct harvest_item) + url + name;
    size_t cost = size + SLOT + sizeof(void *); /* by URL, and by name */
    uint64_t left = HARVEST_MEMORY - (c->memory - p->memory);
    struct harvest_item *i;

    if (!p->last || !harvest_url_same_host(p->last->url, a->url))
        cost += HOST;
    if ((c->publishers > 1 && p->memory + cost > left / 2) ||
        !harvest_catalog_spend(c, cost))
        return exhausted(why);
    p->memory += cost + MALLOC;
    i = calloc(1, size);
    if (!i)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for its entries");
    memcpy(i->url, a->url, url);
    memcpy(i->url + url, a->name, name);
    i->text = a->text;
    if (!map_set(&c->items, i->url, url - 1, i)) {
        free(i);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for its entries");
    }
    *(p->last ? &p->last->next : &p->first) = i;
    p->last = i;
    c->n++;
    *out = i;
    return SEEN_OK;
}

static void describe(struct harvest_item *i,
                     const struct harvest_announcement *a)
{
    snprintf(i->lastmod, sizeof i->lastmod, "%.*s", (int)a->lastmod.len,
             a->lastmod.len ? a->lastmod.text : "");
    i->hash = a->hash;
    i->length = a->length;
}

/* Two lists that are not of its own host describe it: alike? */
static void doubt(struct harvest_item *i, const struct harvest_announcement *a)
{
    static const struct harvest_announcement unknown = {
        .length = UINT64_MAX
    };
    bool says = a->hash.known || a->length != UINT64_MAX;
    bool said = i->hash.known || i->length != UINT64_MAX;

    if (!says || (i->length == a->length && i->hash.known == a->hash.known &&
                  (!a->hash.known || harvest_hash_same(&i->hash, &a->hash))))
        return;
    describe(i, said ? &unknown : a);
}

enum seen_code harvest_catalog_add(struct harvest_catalog *c,
                                   struct harvest_source *source,
                                   const struct harvest_announcement *a,
                                   struct seen_error *why)
{
    struct harvest_item *i = harvest_catalog_find(c, a->url);
    bool own = harvest_url_same_host(a->list, a->url);
    enum seen_code code;

    if (i && (i->own || !own)) {
        if (!i->own && i->source != source)
            doubt(i, a);
        return SEEN_OK;
    }
    if (!i) {
        code = item_new(c, &i, source->publisher, a, why);
        if (code != SEEN_OK)
            return code;
    }
    i->own = own;
    i->source = source;
    describe(i, a);
    return SEEN_OK;
}

/* The item at the URL of `i`, but with another ending. */
static const struct harvest_item *in_form(const struct harvest_catalog *c,
                                          const struct harvest_item *i,
                                          const char *own, const char *other)
{
    char url[HARVEST_URL + 8];
    size_t n = strlen(i->url) - strlen(own);
    const struct harvest_item *found;

    if (!harvest_url_ends(i->url, own) || strchr(i->url, '?'))
        return NULL;
    snprintf(url, sizeof url, "%.*s%s", (int)n, i->url, other);
    found = harvest_catalog_find(c, url);
    return found && found->source->publisher == i->source->publisher ? found
                                                                     : NULL;
}

const struct harvest_item *harvest_catalog_better(
    const struct harvest_catalog *c, const struct harvest_item *i)
{
    const struct harvest_item *found = in_form(c, i, ".csv", ".seen");

    if (!found)
        found = in_form(c, i, ".json", ".seen");
    return found ? found : in_form(c, i, ".json", ".csv");
}

/* --- names --- */

static int by_name(const void *a, const void *b)
{
    return strcmp(harvest_item_name(*(struct harvest_item *const *)a),
                  harvest_item_name(*(struct harvest_item *const *)b));
}

enum seen_code harvest_catalog_sort(struct harvest_catalog *c,
                                    struct seen_error *why)
{
    struct harvest_item **last = &c->first;

    c->by_name = malloc((c->n ? c->n : 1) * sizeof(struct harvest_item *));
    if (!c->by_name)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for names");
    while (c->publisher && c->publisher->next->number != 1)
        c->publisher = c->publisher->next;
    for (unsigned n = c->publishers; n; n--) {
        c->publisher = c->publisher->next;
        *last = c->publisher->first;
        for (; *last; last = &(*last)->next)
            c->by_name[c->names++] = *last;
    }
    qsort(c->by_name, c->names, sizeof(struct harvest_item *), by_name);
    return SEEN_OK;
}

/* The first item of this name, or NULL. */
static struct harvest_item **first_named(const struct harvest_catalog *c,
                                         const char *name)
{
    size_t low = 0, high = c->names;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(harvest_item_name(c->by_name[middle]), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->names && !strcmp(harvest_item_name(c->by_name[low]), name)
               ? &c->by_name[low]
               : NULL;
}

/* The item that has the name takes the place of the first one. */
const struct harvest_item *harvest_catalog_claim(struct harvest_catalog *c,
                                                 struct harvest_item *i)
{
    struct harvest_item **first = first_named(c, harvest_item_name(i));

    if ((*first)->named)
        return *first == i ? NULL : *first;
    i->named = true;
    *first = i;
    return NULL;
}

bool harvest_catalog_named(const struct harvest_catalog *c, const char *name)
{
    return first_named(c, name) != NULL;
}

/* --- lists that were read --- */

struct visited {
    const struct harvest_source *source;
    char url[];
};

enum seen_code harvest_catalog_visit(struct harvest_catalog *c,
                                     struct harvest_source *source,
                                     const char *url, bool *first,
                                     struct seen_error *why)
{
    size_t n = strlen(url);
    struct visited *v = map_get(&c->lists, url, n);

    *first = !v;
    if (v) {
        source->shared |= v->source != source;
        return SEEN_OK;
    }
    if (!harvest_catalog_spend(c, sizeof *v + n + SLOT))
        return exhausted(why);
    v = malloc(sizeof *v + n);
    if (v) {
        v->source = source;
        memcpy(v->url, url, n);
    }
    if (!v || !map_set(&c->lists, v->url, n, v)) {
        free(v);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    }
    return SEEN_OK;
}

/* --- chains of patches --- */

enum seen_code harvest_catalog_have(struct harvest_catalog *c,
                                    struct harvest_item *i,
                                    const struct harvest_hash *have,
                                    struct seen_error *why)
{
    if (!harvest_catalog_spend(c, sizeof *i->chain))
        return SEEN_OK; /* then the whole file is fetched */
    i->chain = calloc(1, sizeof *i->chain);
    if (!i->chain)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for patches");
    i->chain->have = *have;
    return SEEN_OK;
}

static enum seen_code link_add(struct harvest_catalog *c,
                               struct harvest_chain *chain, const char *url,
                               const struct harvest_hash *hash,
                               uint64_t length, struct seen_error *why)
{
    size_t n = strlen(url) + 1;
    struct harvest_patch **last = &chain->first, *patch;

    if (!harvest_catalog_spend(c, sizeof *patch + n))
        return exhausted(why);
    patch = calloc(1, sizeof *patch + n);
    if (!patch)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a patch");
    memcpy(patch->url, url, n);
    patch->hash = *hash;
    patch->length = length;
    while (*last)
        last = &(*last)->next;
    *last = patch;
    chain->links++;
    chain->bytes += length;
    return SEEN_OK;
}

/*
 * The chain begins at the entry of our version and continues as long as each
 * later entry has a hash and a patch. If our version comes once more, the
 * chain begins anew there.
 */
enum seen_code harvest_catalog_change(struct harvest_catalog *c,
                                      const char *url,
                                      const struct harvest_hash *hash,
                                      const char *patch,
                                      const struct harvest_hash *patch_hash,
                                      uint64_t patch_length,
                                      struct seen_error *why)
{
    struct harvest_item *i = harvest_catalog_find(c, url);
    struct harvest_chain *chain = i ? i->chain : NULL;

    if (!chain)
        return SEEN_OK;
    if (harvest_hash_same(hash, &chain->have)) {
        chain_cut(chain);
        chain->reached = chain->have;
        return SEEN_OK;
    }
    if (!chain->reached.known || harvest_hash_same(&chain->reached, &i->hash))
        return SEEN_OK;
    chain->reached = *hash;
    if (!hash->known || !*patch || !patch_hash->known ||
        patch_length >= (UINT64_C(1) << 48) ||
        chain->links == HARVEST_PATCHES) {
        chain->reached.known = false;
        chain_cut(chain);
        return SEEN_OK;
    }
    return link_add(c, chain, patch, patch_hash, patch_length, why);
}

/* --- the queue --- */

bool harvest_catalog_queue(struct harvest_publisher *p, struct fetch_queued *e,
                           const char *url, uint64_t due)
{
    const char *host = harvest_url_host(url);
    char text[HARVEST_URL + 1];

    snprintf(text, sizeof text, "%.*s", (int)(harvest_url_path(url) - host),
             host);
    return fetch_host_queue_add(&p->queue, e, text, due);
}

struct fetch_queued *harvest_catalog_next(struct harvest_catalog *c,
                                          bool in_order)
{
    unsigned most = in_order                               ? 1
                    : c->publishers > 1 && c->parallel > 1 ? c->parallel / 2
                                                           : c->parallel;
    struct fetch_queued *e = NULL;

    if (c->active >= c->parallel)
        return NULL;
    for (unsigned n = 0; n < c->publishers && !e; n++) {
        struct harvest_publisher *p = c->publisher = c->publisher->next;

        p->queue.parallel = most;
        e = fetch_host_queue_next(&p->queue);
    }
    c->active += e != NULL;
    return e;
}

void harvest_catalog_done(struct harvest_catalog *c,
                          struct harvest_publisher *p, struct fetch_queued *e)
{
    fetch_host_queue_remove(&p->queue, e);
    c->active--;
}
