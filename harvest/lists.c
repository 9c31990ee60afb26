/*
 * lists.c - lists to read, and the sites that are tried step by step.
 *
 * A list waits in the queue of its publisher until it is its turn;
 * list_reader.c reads it, and calls back with what it names: another list, a
 * filter, or a change list, which is put off. Here is what happens before and
 * after that: the limits, the end of a list, the next step of a site, and the
 * loop that runs until no list waits.
 *
 * A site is tried in five steps, and each is a list that need not exist
 * (`probe`). The next step is taken when no list of the one before is left and
 * none of them led to a filter. So a failure of a probe is only remembered,
 * and reported as the site's if no step led anywhere.
 *
 * Lists are also taken out of the queue unread, when time is over, and fail
 * then in the usual way: their sources were not read in full, so that none of
 * their filters counts as withdrawn.
 */
#include "lists.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/disk/clock.h"
#include "list_reader.h"
#include "name.h"

/* --- lists --- */

static struct harvest_list *list_new(struct harvest_lists *l,
                                     const struct harvest_list *like,
                                     const char *url, struct seen_error *why)
{
    size_t n = strlen(url) + 1;
    struct harvest_list *it = NULL;

    if (harvest_catalog_spend(&l->round->catalog, sizeof *it + n))
        it = malloc(sizeof *it + n);
    if (!it) {
        seen_fail(why, SEEN_NOMEM, 0,
                  "names more lists than fit into memory; the rest is left "
                  "out");
        return NULL;
    }
    *it = *like;
    it->next = NULL;
    it->retry.attempts = 0;
    memset(&it->queued, 0, sizeof it->queued);
    memcpy(it->url, url, n);
    return it;
}

/* May this publisher, and the round, have one more? */
static enum seen_code within_limits(const struct harvest_lists *l,
                                    const struct harvest_list *like,
                                    struct seen_error *why)
{
    int most = l->count >= HARVEST_LISTS ? HARVEST_LISTS
               : like->source->publisher->lists >= HARVEST_PUBLISHER_LISTS
                   ? HARVEST_PUBLISHER_LISTS
                   : 0;

    if (like->depth > HARVEST_DEPTH)
        return seen_fail(why, SEEN_RANGE, 0, "lists lead to lists too deep");
    if (like->registries > HARVEST_REGISTRIES)
        return seen_fail(why, SEEN_RANGE, 0,
                         "registries lead to registries too deep");
    if (most)
        return seen_fail(why, SEEN_RANGE, 0,
                         "leads to more than %d lists; the rest is left out",
                         most);
    return SEEN_OK;
}

enum seen_code harvest_list_follow(struct harvest_lists *l,
                                   const struct harvest_list *like,
                                   const char *url, struct seen_error *why)
{
    struct harvest_publisher *p = like->source->publisher;
    enum seen_code code = within_limits(l, like, why);
    struct harvest_list *it;
    bool first;

    if (code == SEEN_OK)
        code = harvest_catalog_visit(&l->round->catalog, like->source, url,
                                     &first, why);
    if (code != SEEN_OK || !first)
        return code;
    it = list_new(l, like, url, why);
    if (!it)
        return SEEN_NOMEM;
    if (!harvest_catalog_queue(p, &it->queued, it->url, 0)) {
        free(it);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    }
    l->count++;
    l->waiting++;
    p->lists++;
    if (it->site)
        it->site->pending++;
    return SEEN_OK;
}

/* Change lists are read only if somebody needs them. */
void harvest_list_put_off(struct harvest_lists *l,
                          const struct harvest_list *from, const char *url)
{
    const struct harvest_list like = { .kind = HARVEST_LIST_CHANGES,
                                       .source = from->source,
                                       .depth = from->depth };
    struct harvest_list *it;

    if (l->put_off >= HARVEST_LISTS)
        return;
    it = list_new(l, &like, url, NULL);
    if (!it)
        return;
    l->put_off++;
    *l->changes_last = it;
    l->changes_last = &it->next;
}

enum seen_code harvest_list_found(struct harvest_lists *l,
                                  const struct harvest_list *in,
                                  struct harvest_announcement *a,
                                  struct seen_error *why)
{
    char name[HARVEST_NAME + 1];

    if (harvest_name_of(name, a->url, a->text, l->round->options->names,
                        NULL) != SEEN_OK)
        name[0] = '\0'; /* which will be reported */
    a->name = name;
    return harvest_catalog_add(&l->round->catalog, in->source, a, why);
}

void harvest_list_again(struct harvest_lists *l, struct harvest_list *it,
                        uint64_t due)
{
    struct harvest_publisher *p = it->source->publisher;
    struct seen_error why;

    harvest_catalog_done(&l->round->catalog, p, &it->queued);
    if (harvest_catalog_queue(p, &it->queued, it->url, due))
        return;
    seen_fail(&why, SEEN_NOMEM, 0, "no memory for a list");
    harvest_list_failed(l, it, &why);
}

void harvest_list_done(struct harvest_lists *l, struct harvest_list *it)
{
    struct harvest_site *s = it->site;

    if (it->queued.active)
        harvest_catalog_done(&l->round->catalog, it->source->publisher,
                             &it->queued);
    l->waiting--;
    free(it);
    if (s) {
        s->pending--;
        harvest_site_advance(l, s);
    }
}

/* A failure is the source's fault, unless the list need not exist, or is
   about changes, which are not needed. */
void harvest_list_failed(struct harvest_lists *l, struct harvest_list *it,
                         const struct seen_error *why)
{
    if (it->probe && it->site) {
        /* A broken list says more than a missing one; and it may have named
           filters. */
        if (why->code != SEEN_UNABLE) {
            it->source->faults++;
            it->site->fault = *why;
        }
    } else if (it->kind != HARVEST_LIST_CHANGES) {
        it->source->faults++;
        harvest_unread(l->round, it->url, why);
    }
    harvest_list_done(l, it);
}

/* --- sites --- */

struct harvest_site *harvest_site_new(struct harvest_lists *l,
                                      const struct harvest_list *in,
                                      const char *url)
{
    size_t n = strlen(url) + 1;
    struct harvest_site *s = NULL;

    if (harvest_catalog_spend(&l->round->catalog, sizeof *s + n))
        s = calloc(1, sizeof *s + n);
    if (!s)
        return NULL;
    memcpy(s->url, url, n);
    s->source = in->source;
    s->registries = in->registries;
    s->next = l->sites;
    l->sites = s;
    return s;
}

static enum seen_code try_step(struct harvest_lists *l, struct harvest_site *s,
                               struct seen_error *why)
{
    static const struct {
        bool rooted;
        enum harvest_list_kind kind;
        const char *name;
    } steps[HARVEST_SITE_STEPS] = {
        { false, HARVEST_LIST_SITEMAP, ".well-known/resourcesync" },
        { false, HARVEST_LIST_SITEMAP, "sitemap.xml" },
        { true, HARVEST_LIST_ROBOTS, "robots.txt" },
        { true, HARVEST_LIST_SITEMAP, ".well-known/resourcesync" },
        { true, HARVEST_LIST_SITEMAP, "sitemap.xml" },
    };
    const char *name = steps[s->step].name;
    const struct harvest_list like = { .kind = steps[s->step].kind,
                                       .source = s->source,
                                       .site = s,
                                       .registries = s->registries,
                                       .probe = true };
    char url[HARVEST_URL + 1];
    enum seen_code code = steps[s->step].rooted
                              ? harvest_url_rooted(url, s->url, name, why)
                              : harvest_url_under(url, s->url, name, why);

    return code == SEEN_OK ? harvest_list_follow(l, &like, url, why) : code;
}

/* The next step, unless one before it led to a filter or is being read. */
void harvest_site_advance(struct harvest_lists *l, struct harvest_site *s)
{
    struct seen_error why;

    while (!s->pending && !s->found && s->step < HARVEST_SITE_STEPS) {
        if (try_step(l, s, &why) != SEEN_OK) {
            s->fault = why;
            break;
        }
        /* If the first step was taken for another source, all are. */
        s->elsewhere = !s->step && !s->pending;
        s->step = s->elsewhere ? HARVEST_SITE_STEPS : s->step + 1;
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
    harvest_unread(l->round, s->url, &s->fault);
}

/* --- URLs of registries, and those that were asked for --- */

/* The user trusts a registry that was asked for to name publishers. Sources
   that other registries name belong to the registry's own publisher. */
enum seen_code harvest_list_name(struct harvest_lists *l, const char *url,
                                 const char *root,
                                 const struct harvest_list *from,
                                 struct seen_error *why)
{
    struct harvest_announcement a = { .list = from ? from->url : url,
                                      .url = url,
                                      .length = UINT64_MAX };
    struct harvest_list like = { .kind = HARVEST_LIST_ANY,
                                 .registries = from ? from->registries + 1
                                                    : 0 };
    bool fresh = true, filter = harvest_url_ends(url, ".seen");
    enum seen_code code = SEEN_OK;
    struct harvest_site *s;

    if (from && filter) /* a registry's own */
        like.source = from->source;
    else
        code = harvest_catalog_source(
            &l->round->catalog, &like.source, url, root,
            from && from->registries ? from->source->publisher : NULL, &fresh,
            why);
    if (code != SEEN_OK || !fresh)
        return code;
    if (filter)
        return harvest_list_found(l, &like, &a, why);
    if (!harvest_url_ends(url, "/"))
        return harvest_list_follow(l, &like, url, why);
    code = within_limits(l, &like, why);
    if (code != SEEN_OK)
        return code;
    s = harvest_site_new(l, &like, url);
    if (!s)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a site");
    harvest_site_advance(l, s);
    return SEEN_OK;
}

/* --- reading --- */

static void start_some(struct harvest_lists *l, bool in_order)
{
    struct seen_error why;
    struct harvest_list *it;

    while (!harvest_stopped(l->round) &&
           (it = (struct harvest_list *)harvest_catalog_next(
                &l->round->catalog, in_order)))
        if (harvest_left_out(l->round, it->source->publisher, it->url, &why) ||
            harvest_list_read(l, it, &why) != SEEN_OK)
            harvest_list_failed(l, it, &why);
}

static bool any(const struct fetch_queued *e, const void *owner)
{
    (void)e;
    (void)owner;
    return true;
}

/* Take one list that waits out of its queue. */
static struct harvest_list *take_waiting(struct harvest_lists *l,
                                         struct fetch_list *out)
{
    struct harvest_publisher *p = l->round->catalog.publisher;
    struct fetch_queued *e;

    for (unsigned n = l->round->catalog.publishers; n && !out->first; n--) {
        fetch_host_queue_move(&p->queue, any, NULL, out);
        p = p->next;
    }
    e = out->first;
    if (e)
        fetch_list_remove(out, e);
    return (struct harvest_list *)e;
}

/* Time is over: lists that wait are not read. */
static void leave_rest(struct harvest_lists *l)
{
    struct fetch_list out = { NULL, NULL };
    struct harvest_list *it;
    struct seen_error why;

    while ((it = take_waiting(l, &out))) {
        seen_fail(&why, SEEN_CORRUPT, 0,
                  "is left for the next round: reading lists took too long");
        harvest_list_failed(l, it, &why); /* which may lead to others */
    }
}

static void read_all(struct harvest_lists *l, bool in_order)
{
    struct harvest_round *r = l->round;
    struct harvest_publisher *p = r->catalog.publisher;

    for (unsigned n = r->catalog.publishers; n; n--, p = p->next)
        p->seconds = 0;
    l->until = clock_seconds() + (double)HARVEST_TIME * r->options->patience;
    start_some(l, in_order);
    while (l->waiting && !harvest_stopped(r)) {
        fetch_poll(r->web, 50);
        if (clock_seconds() > l->until)
            leave_rest(l);
        start_some(l, in_order);
        harvest_progress(r);
    }
}

/* --- the header's functions --- */

enum seen_code harvest_lists_new(struct harvest_lists **out,
                                 struct harvest_round *r,
                                 struct seen_error *why)
{
    struct harvest_lists *l = calloc(1, sizeof *l);

    *out = l;
    if (!l)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for lists");
    l->round = r;
    l->changes_last = &l->changes;
    return SEEN_OK;
}

void harvest_lists_free(struct harvest_lists *l)
{
    struct fetch_list out = { NULL, NULL };
    struct harvest_list *it;

    if (!l)
        return;
    /* Later the queues have items, which are the catalog's. */
    for (; l->waiting && (it = take_waiting(l, &out)); l->waiting--)
        free(it);
    while (l->sites) {
        struct harvest_site *next = l->sites->next;

        free(l->sites);
        l->sites = next;
    }
    while (l->changes) {
        struct harvest_list *next = l->changes->next;

        free(l->changes);
        l->changes = next;
    }
    free(l);
}

enum seen_code harvest_lists_add(struct harvest_lists *l, const char *root,
                                 struct seen_error *why)
{
    return harvest_list_name(l, root, root, NULL, why);
}

void harvest_lists_read(struct harvest_lists *l)
{
    read_all(l, false);
}

void harvest_lists_read_changes(struct harvest_lists *l)
{
    while (l->changes && !harvest_stopped(l->round)) {
        struct harvest_list *it = l->changes;

        l->changes = it->next;
        harvest_list_follow(l, it, it->url, NULL);
        free(it);
    }
    if (!l->changes)
        l->changes_last = &l->changes;
    read_all(l, true); /* a long change list may be continued by the next */
}
