/* items.c - trees and lists with a budget. */
#include "items.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a node of glibc's tree takes, with what malloc() adds to it; and that
   for the rest. */
enum { NODE = 32, MALLOC = 16 };

void items_init(struct items *s)
{
    memset(s, 0, sizeof *s);
    s->last = &s->first;
}

static void keep(void *node)
{
    (void)node; /* belongs to a list */
}

static void chain_cut(struct chain *c)
{
    while (c->first) {
        struct patch *next = c->first->next;

        free(c->first);
        c->first = next;
    }
    c->links = 0;
    c->bytes = 0;
}

void items_clear(struct items *s)
{
    tdestroy(s->by_url, keep);
    tdestroy(s->by_name, free);
    tdestroy(s->read, free);
    tdestroy(s->by_source, keep);
    tdestroy(s->failing, free);
    while (s->first) {
        struct item *next = s->first->next;

        if (s->first->chain)
            chain_cut(s->first->chain);
        free(s->first->chain);
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

struct pair {
    const char *url, *root;
};

/* The tree's keys are these two texts, so that none has to be copied. */
static int by_pair(const struct pair *a, const char *url, const char *root)
{
    int order = strcmp(a->url, url);

    return order ? order : strcmp(a->root, root);
}

/* tfind() gives what is looked for first, tsearch() what is put in. */
static int pair_to_source(const void *a, const void *b)
{
    const struct source *s = b;

    return by_pair(a, s->url, s->root);
}

static int source_to_source(const void *a, const void *b)
{
    const struct source *x = a, *y = b;

    return by_pair(&(struct pair){ x->url, x->root }, y->url, y->root);
}

struct source *items_find_source(const struct items *s, const char *url,
                                 const char *root)
{
    const struct pair key = { url, root };
    void *found = tfind(&key, &s->by_source, pair_to_source);

    return found ? *(struct source **)found : NULL;
}

struct source *items_source(struct items *s, const char *url, const char *root,
                            struct source *party, bool *fresh)
{
    size_t len = strlen(url);
    struct source *it = items_find_source(s, url, root);

    *fresh = !it;
    if (it || !items_spend(s, sizeof *it + len + 1 + NODE))
        return it;
    it = calloc(1, sizeof *it + len + 1);
    if (!it)
        return NULL;
    memcpy(it->url, url, len + 1);
    it->root = root;
    it->party = party ? party : it;
    if (!tsearch(it, &s->by_source, source_to_source)) {
        free(it);
        return NULL;
    }
    if (!party)
        it->number = s->parties++;
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

static struct item *make(struct items *s, const char *url,
                         struct source *source, struct seen_error *why)
{
    size_t n = strlen(url) + 1, size = sizeof(struct item) + n;
    /* With what its name will take, which is no longer than its address. */
    size_t cost = size + NODE + MALLOC + sizeof(struct named) + n + NODE;
    struct source *party = source->party;
    uint64_t left = ITEMS_BUDGET - (s->spent - party->spent);
    struct item *i;

    if ((s->parties > 1 && party->spent + cost > left / 2) ||
        !items_spend(s, cost)) {
        exhausted(why);
        return NULL;
    }
    party->spent += cost + MALLOC;
    i = calloc(1, size);
    if (i)
        memcpy(i->url, url, n);
    if (!i || !tsearch(i, &s->by_url, by_url)) {
        free(i);
        seen_fail(why, SEEN_NOMEM, 0, "no memory for its entries");
        return NULL;
    }
    i->turn = party->items++;
    *s->last = i;
    s->last = &i->next;
    s->n++;
    return i;
}

/* Two who are not its own host say something about it: the same? */
static void doubt(struct item *i, const char *lastmod, const struct hash *hash,
                  uint64_t length)
{
    bool says = hash->known || length != UINT64_MAX;
    bool said = i->hash.known || i->length != UINT64_MAX;

    if (!says || (i->length == length && i->hash.known == hash->known &&
                  (!hash->known || hash_same(&i->hash, hash))))
        return;
    i->hash = *hash;
    i->length = length;
    snprintf(i->lastmod, sizeof i->lastmod, "%s", lastmod);
    if (said) {
        i->hash.known = false;
        i->length = UINT64_MAX;
        i->lastmod[0] = '\0';
    }
}

enum seen_code items_add(struct items *s, struct source *source,
                         const char *list, const char *url,
                         const char *lastmod, const struct hash *hash,
                         uint64_t length, struct seen_error *why)
{
    struct item *i = items_find(s, url);
    bool own = address_same_host(list, url);

    if (i && (i->own || !own)) {
        if (!i->own && i->source != source)
            doubt(i, lastmod, hash, length);
        return SEEN_OK;
    }
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
    return x->source->party->number < y->source->party->number   ? -1
           : x->source->party->number > y->source->party->number ? 1
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

/* A list, and for whom it was read; or a host, and how often it failed. Both
   are found by the text. */
struct visit {
    const struct source *source;
    unsigned times;
    char text[];
};

static int by_text(const void *a, const void *b)
{
    const struct visit *x = a, *y = b;

    return strcmp(x->text, y->text);
}

static int text_to_visit(const void *a, const void *b)
{
    const struct visit *y = b;

    return strcmp(a, y->text);
}

static struct visit *visit_find(void *const *tree, const char *text)
{
    void *found = tfind(text, tree, text_to_visit);

    return found ? *(struct visit **)found : NULL;
}

static struct visit *visit_new(void **tree, const char *text)
{
    size_t n = strlen(text) + 1;
    struct visit *it = calloc(1, sizeof *it + n);

    if (!it)
        return NULL;
    memcpy(it->text, text, n);
    if (tsearch(it, tree, by_text))
        return it;
    free(it);
    return NULL;
}

enum seen_code items_first_visit(struct items *s, struct source *source,
                                 const char *url, bool *first,
                                 struct seen_error *why)
{
    struct visit *it = visit_find(&s->read, url);

    *first = !it;
    if (it) {
        source->shared |= it->source != source;
        return SEEN_OK;
    }
    if (!items_spend(s, sizeof *it + strlen(url) + 1 + NODE))
        return exhausted(why);
    it = visit_new(&s->read, url);
    if (!it)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    it->source = source;
    return SEEN_OK;
}

/* --- hosts that fail --- */

enum { HOST_TEXT = ADDRESS_MOST + 24 };

static void host_text(char out[HOST_TEXT], const struct source *party,
                      const char *url)
{
    int n = (int)(address_path(url) - url);

    if (party)
        snprintf(out, HOST_TEXT, "%u %.*s", party->number, n, url);
    else
        snprintf(out, HOST_TEXT, "%.*s", n, url);
}

unsigned items_failures(const struct items *s, const struct source *party,
                        const char *url)
{
    char text[HOST_TEXT];
    const struct visit *it;

    if (!s->failing)
        return 0;
    host_text(text, party, url);
    it = visit_find(&s->failing, text);
    return it ? it->times : 0;
}

/* Without memory for it, it is only asked more often. */
void items_failed(struct items *s, const struct source *party, const char *url)
{
    char text[HOST_TEXT];
    struct visit *it;

    host_text(text, party, url);
    it = visit_find(&s->failing, text);
    if (!it && items_spend(s, sizeof *it + strlen(text) + 1 + NODE))
        it = visit_new(&s->failing, text);
    if (it)
        it->times++;
}

void items_worked(struct items *s, const struct source *party, const char *url)
{
    char text[HOST_TEXT];
    struct visit *it;

    if (!s->failing)
        return;
    host_text(text, party, url);
    it = visit_find(&s->failing, text);
    if (it)
        it->times = 0;
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

enum seen_code items_have(struct items *s, struct item *i,
                          const struct hash *have, struct seen_error *why)
{
    if (!items_spend(s, sizeof *i->chain))
        return SEEN_OK; /* then the whole file comes */
    i->chain = calloc(1, sizeof *i->chain);
    if (!i->chain)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for patches");
    i->chain->have = *have;
    return SEEN_OK;
}

static enum seen_code link_add(struct items *s, struct chain *c,
                               const struct sitemap_patch *p,
                               struct seen_error *why)
{
    size_t n = strlen(p->url) + 1;
    struct patch **last = &c->first, *patch;

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
    c->links++;
    c->bytes += p->length;
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
    struct chain *c = i ? i->chain : NULL;

    if (!c)
        return SEEN_OK;
    if (hash_same(&e->hash, &c->have)) {
        chain_cut(c);
        c->reached = c->have;
        return SEEN_OK;
    }
    if (!c->reached.known || hash_same(&c->reached, &i->hash))
        return SEEN_OK;
    c->reached = e->hash;
    if (!e->hash.known || !p->url[0] || !p->hash.known ||
        p->length >= (UINT64_C(1) << 48) || c->links == CHAIN_MOST) {
        c->reached.known = false;
        chain_cut(c);
        return SEEN_OK;
    }
    return link_add(s, c, p, why);
}
