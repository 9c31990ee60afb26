/* harvest.c - a round: discover, plan, take, and what was withdrawn. */
#include "harvest.h"

#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>

#include "discover.h"
#include "plan.h"
#include "swap.h"
#include "take.h"

enum {
    PARALLEL = 4,
    PARALLEL_MOST = 64,
    PAUSE = 1000,
    PATIENCE = 60,
    NEAR = 256 /* items */
};
static const uint64_t most = UINT64_C(16) << 30;

struct harvest {
    struct harvest_how how;
    struct folder folder;
};

enum seen_code harvest_open(struct harvest **out,
                            const struct harvest_how *how,
                            struct seen_error *why)
{
    struct harvest *h = calloc(1, sizeof *h);
    struct fetch_options *rules;
    enum seen_code code;

    *out = NULL;
    if (!h)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a harvest");
    h->how = *how;
    rules = &h->how.rules;
    if (!rules->parallel)
        rules->parallel = PARALLEL;
    if (rules->parallel > PARALLEL_MOST)
        rules->parallel = PARALLEL_MOST;
    if (!h->how.most)
        h->how.most = most;
    if (!h->how.pause)
        h->how.pause = PAUSE;
    if (!h->how.patience)
        h->how.patience = PATIENCE;
    xmlInitParser();
    code = folder_open(&h->folder, how->into, how->dry_run, why);
    if (code == SEEN_OK)
        *out = h;
    else
        free(h);
    return code;
}

void harvest_close(struct harvest *h)
{
    if (!h)
        return;
    folder_close(&h->folder);
    free(h);
}

/*
 * The next one whose party may have one more. *from moves past those that are
 * begun. If others are near, a host has no more than half of all requests, so
 * that one that is slow does not keep the other hosts of its list waiting.
 */
static struct item *next_item(const struct takes *all, struct item **from)
{
    const struct work *w = all->work;
    unsigned share = work_share(w), half = (w->how->rules.parallel + 1) / 2;
    struct item *first = NULL;
    int looked = 0;

    while (*from && ((*from)->begun || (*from)->plan == PLAN_NONE))
        *from = (*from)->next;
    for (struct item *i = *from; i && looked < NEAR; i = i->next) {
        if (i->begun || i->plan == PLAN_NONE ||
            i->source->party->active >= share)
            continue;
        if (take_of_host(all, i->url) < half)
            return i;
        first = first ? first : i;
        looked++;
    }
    return first;
}

static void take_all(struct work *w, struct takes *all)
{
    struct item *from = w->items.first, *i;

    while ((next_item(all, &from) || all->active) && !work_stopped(w)) {
        int wait;

        while (all->active < w->how->rules.parallel &&
               (i = next_item(all, &from)))
            take_start(all, i);
        wait = take_tend(all);
        if (!fetch_poll(w->web, wait) && all->active)
            work_wait((unsigned)(wait < 50 ? wait : 50));
        work_moved(w);
    }
}

static enum seen_code start(struct discover *d, char (*root)[ADDRESS_MOST + 1],
                            const char *const *url, size_t n,
                            struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        code = address_read(root[i], url[i], strlen(url[i]), why);
        if (code == SEEN_OK)
            code = discover_add(d, root[i], why);
        if (code != SEEN_OK && why)
            why->at = i;
    }
    return code;
}

static enum seen_code work_through(struct work *w, struct discover *d,
                                   struct takes *all, struct seen_error *why)
{
    bool patchable;

    discover_run(d);
    if (items_order(&w->items, why) != SEEN_OK)
        return SEEN_NOMEM;
    plan_all(w, &patchable);
    if (patchable && !w->how->dry_run)
        discover_changes(d);
    take_all(w, all);
    w->sum->stopped = work_stopped(w);
    if (!w->sum->stopped)
        swap_withdrawn(w);
    return SEEN_OK;
}

enum seen_code harvest_round(struct harvest *h, const char *const *url,
                             size_t n, struct harvest_sum *sum,
                             struct seen_error *why)
{
    struct work w = { .how = &h->how, .folder = h->folder, .sum = sum };
    struct takes all = { .work = &w };
    struct discover *d = NULL;
    char(*root)[ADDRESS_MOST + 1] = calloc(n ? n : 1, sizeof *root);
    enum seen_code code = SEEN_OK;

    memset(sum, 0, sizeof *sum);
    items_init(&w.items);
    if (!root)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for addresses");
    code = fetch_new(&w.web, &h->how.rules, why);
    if (code == SEEN_OK)
        code = discover_new(&d, &w, why);
    if (code == SEEN_OK)
        code = start(d, root, url, n, why);
    if (code == SEEN_OK) {
        code = work_through(&w, d, &all, why);
        sum->travelled = fetch_bytes(w.web);
        sum->forbidden = fetch_refused(w.web);
    }
    fetch_free(w.web); /* first: ends of requests look at the rest */
    take_clear(&all);
    discover_free(d);
    items_clear(&w.items);
    free(root);
    return code;
}
