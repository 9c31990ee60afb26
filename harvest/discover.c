/*
 * discover.c - leads, and the sites that are tried step by step.
 *
 * A lead is an address that should be a list. Leads wait in a queue, of which
 * as many are read at a time as there may be requests; reading.c reads one
 * and hands back what it names.
 */
#include "discover.h"

#include <stdlib.h>
#include <string.h>

#include "lead.h"

/* --- leads --- */

/* A new one for an address that was not read before; NULL if it was, or with
   `why` if there are too many. */
static struct lead *lead_new(struct discover *d, const struct lead *like,
                             const char *url, struct seen_error *why)
{
    size_t n = strlen(url) + 1;
    struct lead *l;

    if (!items_spend(&d->work->items, sizeof *l + n)) {
        seen_fail(why, SEEN_NOMEM, 0,
                  "names more than can be kept in mind; the rest is left out");
        return NULL;
    }
    l = malloc(sizeof *l + n);
    if (!l) {
        seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
        return NULL;
    }
    *l = *like;
    l->next = NULL;
    memcpy(l->url, url, n);
    return l;
}

static void append(struct lead ***last, struct lead *l)
{
    **last = l;
    *last = &l->next;
}

/* Nobody can use up what there is for all. A party that is a registry leads
   to sources, each with lists of its own; therefore it can have more. */
static enum seen_code enough(const struct discover *d, const struct lead *like,
                             struct seen_error *why)
{
    const struct source *s = like->source;
    int most = d->leads >= DISCOVER_LISTS           ? DISCOVER_LISTS
               : s->party->led_to >= DISCOVER_PARTY ? DISCOVER_PARTY
               : s->lists >= DISCOVER_SOURCE        ? DISCOVER_SOURCE
                                                    : 0;

    if (!most)
        return SEEN_OK;
    return seen_fail(why, SEEN_RANGE, 0,
                     "leads to more than %d lists; the rest is left out",
                     most);
}

enum seen_code lead_follow(struct discover *d, const struct lead *like,
                           const char *url, struct seen_error *why)
{
    bool first;
    struct lead *l;
    enum seen_code code;

    if (like->depth > DISCOVER_DEPTH)
        return seen_fail(why, SEEN_RANGE, 0, "lists lead to lists too deep");
    if (like->registries > DISCOVER_REGISTRIES)
        return seen_fail(why, SEEN_RANGE, 0,
                         "registries lead to registries too deep");
    code = enough(d, like, why);
    if (code != SEEN_OK)
        return code;
    code = items_first_visit(&d->work->items, like->source, url, &first, why);
    if (code != SEEN_OK || !first)
        return code;
    l = lead_new(d, like, url, why);
    if (!l)
        return SEEN_NOMEM;
    d->leads++;
    like->source->lists++;
    like->source->party->led_to++;
    if (l->site)
        l->site->pending++;
    append(&d->last, l);
    return SEEN_OK;
}

/* For change lists: they are read only if somebody wants them. */
void lead_put_off(struct discover *d, const struct lead *like, const char *url)
{
    struct lead how = { .kind = LEAD_CHANGES,
                        .source = like->source,
                        .depth = like->depth };
    struct lead *l;

    if (d->put_off >= DISCOVER_LISTS)
        return;
    l = lead_new(d, &how, url, NULL);
    if (!l)
        return;
    d->put_off++;
    append(&d->later_last, l);
}

/* --- sites --- */

struct site *site_new(struct discover *d, const struct lead *l,
                      const char *url)
{
    size_t n = strlen(url) + 1;
    struct site *s = NULL;

    if (items_spend(&d->work->items, sizeof *s + n))
        s = calloc(1, sizeof *s + n);
    if (!s)
        return NULL;
    memcpy(s->url, url, n);
    s->source = l->source;
    s->registries = l->registries;
    s->next = d->sites;
    d->sites = s;
    return s;
}

static enum seen_code try_step(struct discover *d, struct site *s,
                               struct seen_error *why)
{
    char url[ADDRESS_MOST + 1];
    struct lead how = { .kind = s->step == 2 ? LEAD_ROBOTS : LEAD_SITEMAP,
                        .source = s->source,
                        .site = s,
                        .registries = s->registries,
                        .probe = true };
    static const char known[] = ".well-known/resourcesync",
                      map[] = "sitemap.xml";
    enum seen_code code;

    switch (s->step) {
    case 0: code = address_under(url, s->url, known, why); break;
    case 1: code = address_under(url, s->url, map, why); break;
    case 2: code = address_rooted(url, s->url, "robots.txt", why); break;
    case 3: code = address_rooted(url, s->url, known, why); break;
    default: code = address_rooted(url, s->url, map, why); break;
    }
    if (code == SEEN_OK)
        code = lead_follow(d, &how, url, why);
    return code;
}

/* The next step, unless one before it led to a filter or is under way. */
void site_advance(struct discover *d, struct site *s)
{
    struct seen_error why;

    while (!s->pending && !s->found && s->step < SITE_STEPS) {
        if (try_step(d, s, &why) != SEEN_OK) {
            s->fault = why;
            break;
        }
        /* Whoever took the first step takes the others, too. */
        s->elsewhere = !s->step && !s->pending;
        s->step = s->elsewhere ? SITE_STEPS : s->step + 1;
    }
    if (s->pending || s->ended)
        return;
    s->ended = true;
    if (s->found ||
        (s->fault.code == SEEN_OK && (s->answered || s->elsewhere)))
        return;
    if (s->fault.code == SEEN_OK)
        seen_fail(&s->fault, SEEN_UNABLE, 0,
                  "announces no filters: neither by robots.txt nor by a "
                  "sitemap or .well-known/resourcesync");
    s->source->faults++;
    work_unread(d->work, s->url, &s->fault);
}

/* --- the queue --- */

static void lead_free(struct lead *l)
{
    while (l) {
        struct lead *next = l->next;

        free(l);
        l = next;
    }
}

/* The first that need not wait any longer. */
static struct lead *ready(struct discover *d)
{
    double now = work_clock();
    unsigned most = d->in_order ? 1 : work_share(d->work);

    for (struct lead **at = &d->first; *at; at = &(*at)->next) {
        struct lead *l = *at;

        if (l->wake > now || l->source->party->active >= most)
            continue;
        *at = l->next;
        if (d->last == &l->next)
            d->last = at;
        return l;
    }
    return NULL;
}

static bool given_up(const struct discover *d, const struct lead *l,
                     struct seen_error *why)
{
    double most = (double)PARTY_TIME * d->work->how->patience;

    if (l->source->party->reading > most) {
        seen_fail(why, SEEN_CORRUPT, 0,
                  "is left for the next time: lists of this source took "
                  "longer than %.0f seconds",
                  most);
        return true;
    }
    return work_given_up(d->work, l->source, l->url, why);
}

static void start_some(struct discover *d)
{
    struct seen_error why;
    struct lead *l;

    while (d->active < d->work->how->rules.parallel &&
           !work_stopped(d->work) && (l = ready(d)))
        if (given_up(d, l, &why) || reading_start(d, l, &why) != SEEN_OK)
            lead_failed(d, l, &why);
}

/* Time is over: whatever still waits is not read. */
static void leave_rest(struct discover *d)
{
    struct seen_error why;
    struct lead *l;

    while ((l = d->first)) {
        d->first = l->next;
        if (!d->first)
            d->last = &d->first;
        seen_fail(&why, SEEN_CORRUPT, 0,
                  "is left for the next time: all lists together took too "
                  "long");
        lead_failed(d, l, &why); /* which may lead to others */
    }
}

static void run(struct discover *d, unsigned most)
{
    d->until = work_clock() + (double)most * d->work->how->patience;
    start_some(d);
    while ((d->active || d->first) && !work_stopped(d->work)) {
        if (d->active)
            fetch_poll(d->work->web, d->first ? 50 : 500);
        else
            work_wait(50);
        reading_hurry(d);
        if (work_clock() > d->until)
            leave_rest(d);
        start_some(d);
        work_moved(d->work);
    }
}

void lead_again(struct discover *d, struct lead *l, double wake)
{
    l->tries++;
    l->wake = wake;
    l->next = NULL;
    append(&d->last, l);
}

/* What goes wrong with a lead is its source's fault, unless it was only a
   try, or about changes, which we can do without. */
void lead_failed(struct discover *d, struct lead *l,
                 const struct seen_error *why)
{
    struct site *s = l->site;

    if (l->probe && s) {
        /* What is broken says more than what is not there; and who knows
           what it would have named? */
        if (why->code != SEEN_UNABLE) {
            s->source->faults++;
            s->fault = *why;
        }
    } else if (l->kind != LEAD_CHANGES) {
        l->source->faults++;
        work_unread(d->work, l->url, why);
    }
    lead_done(d, l);
}

void lead_done(struct discover *d, struct lead *l)
{
    struct site *s = l->site;

    free(l);
    if (s) {
        s->pending--;
        site_advance(d, s);
    }
}

enum seen_code discover_new(struct discover **out, struct work *w,
                            struct seen_error *why)
{
    struct discover *d = calloc(1, sizeof *d);

    *out = d;
    if (!d)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for lists");
    d->work = w;
    d->last = &d->first;
    d->later_last = &d->later;
    return SEEN_OK;
}

/* All requests are at their end by now: the client is freed first. */
void discover_free(struct discover *d)
{
    if (!d)
        return;
    while (d->sites) {
        struct site *next = d->sites->next;

        free(d->sites);
        d->sites = next;
    }
    lead_free(d->first);
    lead_free(d->later);
    free(d);
}

/* The source of what a registry names, which is its own party if the one
   who asks for the registry is who trusts it to name others. */
static enum seen_code named(struct discover *d, struct lead *how,
                            const char *url, const char *root,
                            const struct lead *from, bool *fresh,
                            struct seen_error *why)
{
    struct items *items = &d->work->items;
    struct source *party = from ? from->source->party : NULL;
    bool first_hand = !from || !from->registries;
    unsigned most = first_hand ? DISCOVER_NAMED : DISCOVER_OTHERS;

    if (from && party->named >= most && !items_find_source(items, url, root))
        return seen_fail(why, SEEN_RANGE, 0,
                         "names more than %u sources; the rest is left out",
                         most);
    how->source = items_source(items, url, root, first_hand ? NULL : party,
                               fresh);
    if (!how->source)
        return seen_fail(why, SEEN_NOMEM, 0, "names too many sources");
    if (from && *fresh)
        party->named++;
    return SEEN_OK;
}

enum seen_code lead_any(struct discover *d, const char *url, const char *root,
                        const struct lead *from, struct seen_error *why)
{
    static const struct hash none;
    struct lead how = { .kind = LEAD_ANY,
                        .registries = from ? from->registries + 1 : 0 };
    bool fresh = true, filter = address_ends(url, ".seen");
    enum seen_code code = SEEN_OK;
    struct site *s;

    /* Filters that a registry names itself are its own. */
    if (from && filter)
        how.source = from->source;
    else
        code = named(d, &how, url, root, from, &fresh, why);
    if (code != SEEN_OK || !fresh)
        return code;
    if (filter)
        return items_add(&d->work->items, how.source, from ? from->url : url,
                         url, "", &none, UINT64_MAX, why);
    if (!address_ends(url, "/"))
        return lead_follow(d, &how, url, why);
    s = site_new(d, &how, url);
    if (!s)
        return seen_fail(why, SEEN_NOMEM, 0, "names too many sites");
    site_advance(d, s);
    return SEEN_OK;
}

enum seen_code discover_add(struct discover *d, const char *root,
                            struct seen_error *why)
{
    return lead_any(d, root, root, NULL, why);
}

void discover_run(struct discover *d)
{
    run(d, LISTS_TIME);
}

void discover_changes(struct discover *d)
{
    while (d->later && !work_stopped(d->work)) {
        struct lead *l = d->later;

        d->later = l->next;
        lead_follow(d, l, l->url, NULL);
        free(l);
    }
    d->later_last = &d->later;
    d->in_order = true; /* of long change lists, one continues the other */
    run(d, CHANGES_TIME);
}
