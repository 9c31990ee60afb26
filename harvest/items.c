/* items.c - trees and lists with a budget. */
#define _GNU_SOURCE /* tdestroy */
#include "items.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a node of glibc's tree takes, and what malloc() adds to each. */
enum { NODE = 64, MALLOC = 16 };

void items_init(struct items *s)
{
    memset(s, 0, sizeof *s);
    s->last = &s->first;
}

static void keep(void *node)
{
    (void)node; /* belongs to a list */
}

static void chain_free(struct item *i)
{
    while (i->chain) {
        struct patch *next = i->chain->next;

        free(i->chain);
        i->chain = next;
    }
    i->links = 0;
    i->chain_bytes = 0;
}

void items_clear(struct items *s)
{
    tdestroy(s->by_url, keep);
    tdestroy(s->by_name, free);
    tdestroy(s->read, free);
    while (s->first) {
        struct item *next = s->first->next;

        chain_free(s->first);
        free(s->first);
        s->first = next;
    }
    while (s->sources) {
        struct source *next = s->sources->next;

        free(s->sources);
        s->sources = next;
    }
    items_init(s);
}

bool items_spend(struct items *s, size_t bytes)
{
    if (s->spent + bytes + MALLOC > ITEMS_BUDGET)
        return false;
    s->spent += bytes + MALLOC;
    return true;
}

static enum seen_code exhausted(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0,
                     "names more than can be kept in mind; the rest is left "
                     "out");
}

/* A name that was announced, and whose it is, if it can be had. */
struct named {
    const struct item *owner;
    char name[];
};

/* --- sources --- */

struct source *items_source(struct items *s, const char *url, const char *root)
{
    size_t len = strlen(url);
    struct source *it = s->sources;

    while (it && (strcmp(it->url, url) || strcmp(it->root, root)))
        it = it->next;
    if (it || !items_spend(s, sizeof *it + len + 1))
        return it;
    it = calloc(1, sizeof *it + len + 1);
    if (!it)
        return NULL;
    memcpy(it->url, url, len + 1);
    it->root = root;
    it->number = s->sources ? s->sources->number + 1 : 0;
    it->next = s->sources;
    s->sources = it;
    return it;
}

/* --- filters --- */

static int by_url(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return strcmp(x->url, y->url);
}

struct item *items_find(const struct items *s, const char *url)
{
    union {
        struct item item;
        char room[sizeof(struct item) + ADDRESS_MOST + 1];
    } key;
    void *found;

    if (strlen(url) > ADDRESS_MOST)
        return NULL;
    strcpy(key.item.url, url);
    found = tfind(&key.item, &s->by_url, by_url);
    return found ? *(struct item **)found : NULL;
}

/* The same scheme, host and port? */
static bool same_host(const char *a, const char *b)
{
    size_t n = (size_t)(address_path(a) - a);

    return n == (size_t)(address_path(b) - b) && !memcmp(a, b, n);
}

static struct item *make(struct items *s, const char *url,
                         struct source *source, struct seen_error *why)
{
    size_t n = strlen(url) + 1, size = sizeof(struct item) + n;
    /* With what its name will take, which is no longer than its address. */
    size_t cost = size + NODE + MALLOC + sizeof(struct named) + n + NODE;
    struct item *i;

    if ((s->sources->next && source->spent > ITEMS_BUDGET / 2) ||
        !items_spend(s, cost)) {
        exhausted(why);
        return NULL;
    }
    source->spent += cost;
    i = calloc(1, size);
    if (i)
        memcpy(i->url, url, n);
    if (!i || !tsearch(i, &s->by_url, by_url)) {
        free(i);
        seen_fail(why, SEEN_NOMEM, 0, "no memory for its entries");
        return NULL;
    }
    i->turn = source->items++;
    *s->last = i;
    s->last = &i->next;
    s->n++;
    return i;
}

enum seen_code items_add(struct items *s, struct source *source,
                         const char *list, const char *url,
                         const char *lastmod, const struct hash *hash,
                         uint64_t length, struct seen_error *why)
{
    struct item *i = items_find(s, url);
    bool own = same_host(list, url);

    if (i && (i->own || !own))
        return SEEN_OK;
    if (!i)
        i = make(s, url, source, why);
    if (!i)
        return SEEN_NOMEM;
    snprintf(i->lastmod, sizeof i->lastmod, "%s", lastmod);
    i->own = own;
    i->source = source;
    i->hash = *hash;
    i->length = length;
    return SEEN_OK;
}

static int by_turn(const void *a, const void *b)
{
    const struct item *x = *(struct item *const *)a;
    const struct item *y = *(struct item *const *)b;

    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return x->source->number < y->source->number   ? -1
           : x->source->number > y->source->number ? 1
                                                   : 0;
}

enum seen_code items_order(struct items *s, struct seen_error *why)
{
    struct item **all = malloc((s->n ? s->n : 1) * sizeof *all);
    size_t n = 0;

    if (!all)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to order filters");
    for (struct item *i = s->first; i; i = i->next)
        all[n++] = i;
    qsort(all, n, sizeof *all, by_turn);
    s->last = &s->first;
    for (size_t i = 0; i < n; i++) {
        *s->last = all[i];
        s->last = &all[i]->next;
    }
    *s->last = NULL;
    free(all);
    return SEEN_OK;
}

/* --- what was there before --- */

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

enum seen_code items_first_visit(struct items *s, const char *url, bool *first,
                                 struct seen_error *why)
{
    char *copy;

    *first = !tfind(url, &s->read, by_text);
    if (!*first)
        return SEEN_OK;
    if (!items_spend(s, strlen(url) + 1 + NODE))
        return exhausted(why);
    copy = strdup(url);
    if (!copy || !tsearch(copy, &s->read, by_text)) {
        free(copy);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    }
    return SEEN_OK;
}

/* --- names --- */

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static struct named *find_name(const struct items *s, const char *name)
{
    union {
        struct named named;
        char room[sizeof(struct named) + 256];
    } key;
    void *found;

    if (strlen(name) > 255)
        return NULL;
    strcpy(key.named.name, name);
    found = tfind(&key.named, &s->by_name, by_name);
    return found ? *(struct named **)found : NULL;
}

enum seen_code items_name(struct items *s, const char *name,
                          const struct item *owner, const struct item **taken,
                          struct seen_error *why)
{
    size_t n = strlen(name) + 1;
    struct named *it = find_name(s, name);

    *taken = it && owner && it->owner && it->owner != owner ? it->owner : NULL;
    if (it) {
        if (!it->owner)
            it->owner = owner;
        return SEEN_OK;
    }
    it = malloc(sizeof *it + n); /* the item has paid for it */
    if (it) {
        it->owner = owner;
        memcpy(it->name, name, n);
    }
    if (!it || !tsearch(it, &s->by_name, by_name)) {
        free(it);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for names");
    }
    return SEEN_OK;
}

bool items_named(const struct items *s, const char *name)
{
    return find_name(s, name) != NULL;
}

/* --- chains of patches --- */

static enum seen_code link_add(struct items *s, struct item *i,
                               const struct sitemap_patch *p,
                               struct seen_error *why)
{
    size_t n = strlen(p->url) + 1;
    struct patch **last = &i->chain, *patch;

    if (!items_spend(s, sizeof *patch + n))
        return exhausted(why);
    patch = calloc(1, sizeof *patch + n);
    if (!patch)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a patch");
    memcpy(patch->url, p->url, n);
    patch->hash = p->hash;
    patch->length = p->length;
    while (*last)
        last = &(*last)->next;
    *last = patch;
    i->links++;
    i->chain_bytes += p->length;
    return SEEN_OK;
}

/*
 * The chain begins at the entry of the version that we have, and goes on as
 * long as each later one tells its hash and has a patch. Should our version
 * come once more, it begins anew there.
 */
enum seen_code items_change(struct items *s, const struct sitemap_entry *e,
                            struct seen_error *why)
{
    struct item *i = items_find(s, e->url);
    const struct sitemap_patch *p = &e->patch;

    if (!i || !i->have.known)
        return SEEN_OK;
    if (hash_same(&e->hash, &i->have)) {
        chain_free(i);
        i->reached = i->have;
        return SEEN_OK;
    }
    if (!i->reached.known || hash_same(&i->reached, &i->hash))
        return SEEN_OK;
    i->reached = e->hash;
    if (!e->hash.known || !p->url[0] || !p->hash.known ||
        p->length >= (UINT64_C(1) << 48) || i->links == CHAIN_MOST) {
        i->reached.known = false;
        chain_free(i);
        return SEEN_OK;
    }
    return link_add(s, i, p, why);
}
