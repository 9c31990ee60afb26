/* turns.c - sites, and the requests that wait for them. */
#include "turns.h"

#include <stdlib.h>
#include <string.h>

struct site {
    struct site *next;  /* in its bucket */
    struct site *after; /* among those that are ready */
    struct requests waiting;
    unsigned running;
    bool ready;
    char name[];
};

void requests_append(struct requests *l, struct request *r)
{
    r->before = l->last;
    r->after = NULL;
    if (l->last)
        l->last->after = r;
    else
        l->first = r;
    l->last = r;
}

static void requests_prepend(struct requests *l, struct request *r)
{
    r->before = NULL;
    r->after = l->first;
    if (l->first)
        l->first->before = r;
    else
        l->last = r;
    l->first = r;
}

void requests_remove(struct requests *l, struct request *r)
{
    if (r->before)
        r->before->after = r->after;
    else
        l->first = r->after;
    if (r->after)
        r->after->before = r->before;
    else
        l->last = r->before;
    r->before = r->after = NULL;
}

static struct site **bucket_of(struct turns *t, const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return &t->bucket[hash % SITE_BUCKETS];
}

static struct site *site_of(struct turns *t, const char *name)
{
    struct site **bucket = bucket_of(t, name), *s = *bucket;
    size_t len = strlen(name) + 1;

    while (s && strcmp(s->name, name))
        s = s->next;
    if (s)
        return s;
    s = calloc(1, sizeof *s + len);
    if (!s)
        return NULL;
    memcpy(s->name, name, len);
    s->next = *bucket;
    *bucket = s;
    return s;
}

static void make_ready(struct turns *t, struct site *s)
{
    if (s->ready || !s->waiting.first || s->running >= t->per_site)
        return;
    s->ready = true;
    s->after = NULL;
    if (t->last)
        t->last->after = s;
    else
        t->first = s;
    t->last = s;
}

/* A site that is ready goes when its turn comes. */
static void drop_idle(struct turns *t, struct site *s)
{
    struct site **at = bucket_of(t, s->name);

    if (s->ready || s->running || s->waiting.first)
        return;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    free(s);
}

enum seen_code turns_put(struct turns *t, struct request *r, const char *site,
                         bool first, struct seen_error *why)
{
    struct site *s = site_of(t, site);

    if (!s)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to queue a request");
    r->site = s;
    r->running = false;
    if (first)
        requests_prepend(&s->waiting, r);
    else
        requests_append(&s->waiting, r);
    make_ready(t, s);
    return SEEN_OK;
}

struct request *turns_take(struct turns *t)
{
    struct request *r = NULL;
    struct site *s;

    while (!r && (s = t->first)) {
        t->first = s->after;
        if (!t->first)
            t->last = NULL;
        s->ready = false;
        r = s->waiting.first;
        if (r) {
            requests_remove(&s->waiting, r);
            r->running = true;
            s->running++;
            make_ready(t, s);
        } else {
            drop_idle(t, s);
        }
    }
    return r;
}

void turns_leave(struct turns *t, struct request *r)
{
    struct site *s = r->site;

    if (!s)
        return;
    if (r->running)
        s->running--;
    else
        requests_remove(&s->waiting, r);
    r->running = false;
    r->site = NULL;
    make_ready(t, s);
    drop_idle(t, s);
}

/* Dropping the last request may drop the site: both are left before that. */
static void site_move(struct turns *t, struct site *s, const void *owner,
                      bool all, struct requests *to)
{
    for (struct request *r = s->waiting.first, *after; r; r = after) {
        after = r->after;
        if (!all && r->asks.owner != owner)
            continue;
        turns_leave(t, r);
        r->cancelled = true;
        requests_append(to, r);
    }
}

void turns_move(struct turns *t, const void *owner, bool all,
                struct requests *to)
{
    for (int i = 0; i < SITE_BUCKETS; i++)
        for (struct site *s = t->bucket[i], *next; s; s = next) {
            next = s->next;
            site_move(t, s, owner, all, to);
        }
}
