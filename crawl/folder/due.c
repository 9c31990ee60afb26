/*
 * due.c - due times by the policy, and whether any has come.
 *
 * A due time is written when a page is fetched, by the policy of that day. So a
 * visit that begins under another policy dates all known pages again, from
 * their histories.
 */
#include "due.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../page/revisit.h"
#include "../page/scope.h"
#include "inside.h"

int64_t crawl_visit_due(const struct crawl *c, const struct crawl_known *page)
{
    const struct crawl_folder *f = crawl_folder_of(c);
    if (!f->freshest || page->every)
        return crawl_revisit_due(c->settings, page);
    return page->last +
           (int64_t)(1000 * crawl_freshest_interval(f->freshest, page));
}

/* --- --policy freshest --- */

static enum seen_code take_history(void *owner, const struct crawl_known *page,
                                   struct seen_error *why)
{
    return crawl_freshest_note(owner, page, why);
}

/* The price of a visit follows what is known: it is found again every hour,
   and while the number of known pages doubles. */
enum seen_code crawl_due_plan(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    enum { HOUR = 3600000, FEW = 100 };
    const struct crawl_settings *s = c->settings;
    int64_t now = crawl_now(c);
    enum seen_code code = SEEN_OK;
    uint64_t pages;

    if (!s->freshest || (f->freshest && now - f->planned < HOUR &&
                         c->pages < 2 * (f->planned_pages + FEW)))
        return SEEN_OK;
    if (!f->freshest)
        code = crawl_freshest_new(&f->freshest, (double)s->revisit_min,
                                  (double)s->revisit_max, why);
    if (code == SEEN_OK)
        code = crawl_state_histories(&f->state, FRESHEST_SAMPLE, take_history,
                                     f->freshest, &pages, why);
    if (code != SEEN_OK)
        return code;
    crawl_freshest_settle(f->freshest, (double)(pages + 1),
                          s->budget > 0 ? s->budget
                                        : (double)(pages + 1) /
                                              (double)s->revisit_every);
    f->planned = now;
    f->planned_pages = c->pages;
    return SEEN_OK;
}

/* --- another policy --- */

/* What the due times follow, besides the histories. */
static void name_policy(char name[120], const struct crawl_settings *s)
{
    snprintf(name, 120, "%s %.17g %llu %llu %llu",
             s->freshest       ? "freshest"
             : s->proportional ? "proportional"
                               : "uniform",
             s->budget, (unsigned long long)s->revisit_every,
             (unsigned long long)s->revisit_min,
             (unsigned long long)s->revisit_max);
}

static int64_t due_of(void *owner, const struct crawl_known *page)
{
    return crawl_visit_due(owner, page);
}

enum seen_code crawl_due_settle(struct crawl *c, struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    char name[120], *before;
    enum seen_code code;
    bool same;

    name_policy(name, c->settings);
    code = crawl_due_plan(c, why);
    if (code == SEEN_OK)
        code = crawl_state_get(&f->state, "policy", &before, why);
    if (code != SEEN_OK)
        return code;
    same = before && !strcmp(before, name);
    free(before);
    if (same)
        return SEEN_OK;
    code = sql_begin(f->state.db, why);
    if (code == SEEN_OK)
        code = crawl_state_date(&f->state, due_of, c, why);
    if (code == SEEN_OK)
        code = crawl_state_set(&f->state, "policy", name, why);
    return sql_end(f->state.db, code, why);
}

/* --- anything to do? --- */

struct starts {
    struct crawl *c;
    bool unknown; /* one of them was never fetched */
};

static enum seen_code look_at_start(void *owner, int64_t id,
                                    struct seen_span url,
                                    struct seen_error *why)
{
    static char text[SEEN_KEY_TEXT];
    struct starts *s = owner;
    enum seen_code code = SEEN_OK;
    struct seen_key key;
    bool known = true;

    (void)id;
    if (s->unknown)
        return SEEN_OK;
    crawl_key(&key, text, url);
    code = crawl_state_knows(&crawl_folder_of(s->c)->state, &key, &known, why);
    s->unknown = !known;
    return code;
}

enum seen_code crawl_due_any(struct crawl *c, bool *any, int64_t *next,
                             struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    struct starts starts = { .c = c };
    int64_t waiting, all;
    enum seen_code code;

    code = crawl_state_next_due(&f->state, next, why);
    if (code == SEEN_OK)
        code = frontier_count(f->state.frontier, &waiting, &all, why);
    if (code == SEEN_OK)
        code = crawl_state_starts(&f->state, look_at_start, &starts, why);
    if (code == SEEN_OK)
        code = crawl_recover_wanted(c, any, why);
    if (code == SEEN_OK)
        *any |= *next <= crawl_now(c) || all || starts.unknown ||
                c->settings->revisit_all;
    return code;
}
