/*
 * rules.c - the robots.txt that are in memory, and which of them stay.
 *
 * The rules of a host are mostly some kB. Those of a robots.txt of 500 kB take
 * megabytes, and whoever has a wildcard in a name server has any number of
 * hosts. So rules and texts of all hosts together stay below CRAWL_RULES_MOST.
 * What is above it is forgotten: it can be read again from the state, or the
 * shared frontier, where the committing thread keeps every robots.txt.
 *
 *     known ──> kept ────> choose(): the next page has no verdict yet
 *       ^       in the                 │
 *       │       state only             v
 *       └──── the text <── the committing thread <── to_recall, a list
 *
 * The large ones go first, and of those the one that was asked about longest
 * ago. So a thousand hosts with large rules cost one another, and not those
 * with small ones. Verdicts stay with their pages, and the Crawl-delay stays
 * with its origin, so that a host that takes turns with a thousand others has
 * its rules read once per turn of pages, and not for each of them.
 */
#include "host.h"

#include <stdlib.h>

static struct crawl_rules *list_of(struct crawl_hosts *h,
                                   const struct crawl_origin *o)
{
    return &h->rules[o->size > CRAWL_RULES_LARGE];
}

static void leave(struct crawl_hosts *h, struct crawl_origin *o)
{
    struct crawl_rules *list = list_of(h, o);

    if (!o->size)
        return;
    *(o->before ? &o->before->after : &list->first) = o->after;
    *(o->after ? &o->after->before : &list->last) = o->before;
    h->rules_size -= o->size;
    o->before = o->after = NULL;
    o->size = 0;
}

static void join(struct crawl_hosts *h, struct crawl_origin *o, size_t size)
{
    struct crawl_rules *list;

    o->size = size;
    if (!size)
        return;
    list = list_of(h, o);
    o->before = list->last;
    *(list->last ? &list->last->after : &list->first) = o;
    list->last = o;
    h->rules_size += size;
}

static void forget(struct crawl_hosts *h, struct crawl_origin *o)
{
    leave(h, o);
    web_robots_free(o->rules);
    o->rules = NULL;
    buffer_clear(&o->text);
}

/* The one that can be spared best, but not the last one. */
static struct crawl_origin *spare(struct crawl_hosts *h)
{
    for (int large = 1; large >= 0; large--) {
        const struct crawl_rules *list = &h->rules[large];

        if (list->first != list->last)
            return list->first;
    }
    return NULL;
}

void crawl_rules_count(struct crawl_host *host, struct crawl_origin *o)
{
    struct crawl_hosts *h = host->all;
    size_t size = o->text.room + (o->rules ? web_robots_size(o->rules) : 0);
    struct crawl_origin *other;

    leave(h, o);
    join(h, o, size);
    while (h->rules_size > CRAWL_RULES_MOST && (other = spare(h))) {
        forget(h, other);
        if (other->state == CRAWL_ROBOTS_KNOWN)
            other->state = CRAWL_ROBOTS_KEPT;
        h->forgotten++;
    }
}

void crawl_rules_drop(struct crawl_host *host, struct crawl_origin *o)
{
    forget(host->all, o);
}

void crawl_rules_set_text(struct crawl_host *host, struct crawl_origin *o,
                          struct seen_span text)
{
    forget(host->all, o);
    buffer_span(&o->text, text);
    crawl_rules_count(host, o);
}
