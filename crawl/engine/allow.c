/*
 * allow.c - what robots.txt says about the pages at hand.
 *
 * A robots.txt may have thousands of rules, a host thousands of pages that it
 * keeps out. So the fetching thread, which all hosts need, does not ask: it
 * hands the host to a reader, and goes on with others.
 *
 *     choose() ──> to_ask ──> a reader: copies the next URLs,    with the lock
 *        ^         a list     compiles the rules, and asks,      without it
 *        │                    notes the verdicts in the pages    with the lock
 *        └─── due again ──────┘
 *
 * If the rules are not in memory (rules.c), the committing thread reads them
 * before: the host is on the list to_recall till then.
 *
 * A turn of a host is CRAWL_ALLOW_PAGES pages, or CRAWL_ALLOW_STEPS; then it
 * goes to the end of the list. Pages stay at their host meanwhile, where the
 * committing thread may take them back: verdicts find their pages by the
 * number of the row, and count as long as the rules do that gave them.
 *
 * Rules are compiled when they are asked for the first time, which takes some
 * 50 ms for the longest file.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/text/span.h"
#include "../page/scope.h"

struct crawl_question {
    int64_t id;
    size_t at, len; /* of the URL */
    bool asked;
    unsigned line; /* that keeps it out, or 0 */
};

/* What a reader takes along, so that it needs no lock. */
struct crawl_questions {
    struct crawl_origin *origin; /* the same place as long as it asks */
    int64_t until;               /* the rules hold */
    struct web_robots *rules;
    struct buffer text; /* rules to be compiled, or empty */
    struct crawl_question q[CRAWL_ALLOW_PAGES];
    size_t n;
    struct buffer urls;
};

/* --- the list --- */

static void append(struct crawl_host *host, struct crawl_host **first,
                   struct crawl_host **last)
{
    host->next_asking = NULL;
    if (*first)
        (*last)->next_asking = host;
    else
        *first = host;
    *last = host;
}

static struct crawl_host *take(struct crawl_host **first)
{
    struct crawl_host *host = *first;

    if (host)
        *first = host->next_asking;
    return host;
}

static void append_to_ask(struct crawl *c, struct crawl_host *host)
{
    if (host->asked->trust == CRAWL_SUSPECT)
        append(host, &c->to_ask_alone, &c->last_to_ask_alone);
    else
        append(host, &c->to_ask, &c->last_to_ask);
    pthread_cond_signal(&c->to_work);
}

void crawl_allow_ask(struct crawl *c, struct crawl_host *host)
{
    crawl_host_become(host, CRAWL_HOST_ASKS);
    c->asking++;
    append_to_ask(c, host);
}

void crawl_allow_recall(struct crawl *c, struct crawl_host *host)
{
    crawl_host_become(host, CRAWL_HOST_RECALLS);
    host->recalls = true;
    c->asking++;
    append(host, &c->to_recall, &c->last_to_recall);
    pthread_cond_signal(&c->to_commit);
}

struct crawl_host *crawl_allow_next(struct crawl *c)
{
    struct crawl_host *host = take(&c->to_ask_alone);

    return host ? host : take(&c->to_ask);
}

static void end(struct crawl *c, struct crawl_host *host)
{
    c->asking--;
    c->recalled -= host->state == CRAWL_HOST_ASKS_AGAIN;
    crawl_host_become(host, CRAWL_HOST_RESTS);
}

void crawl_allow_forget(struct crawl *c)
{
    for (struct crawl_host *host;
         (host = crawl_allow_next(c)) || (host = take(&c->to_recall));)
        end(c, host);
}

enum seen_code crawl_allow_read(struct crawl *c, crawl_read_rules *read,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct crawl_host *host;

    pthread_mutex_lock(&c->lock);
    while (code == SEEN_OK && c->recalled < CRAWL_RECALLS &&
           (host = take(&c->to_recall))) {
        struct crawl_origin *o = host->asked; /* it stays meanwhile */

        if (o->state == CRAWL_ROBOTS_KEPT) {
            pthread_mutex_unlock(&c->lock);
            code = read(c, host, o, why);
            pthread_mutex_lock(&c->lock);
        }
        crawl_host_become(host, CRAWL_HOST_ASKS_AGAIN);
        c->recalled++;
        append_to_ask(c, host);
    }
    pthread_mutex_unlock(&c->lock);
    return code;
}

/* --- a turn --- */

/* The next pages, as far as they are of one origin whose rules are known. */
static void collect(struct crawl_questions *qs, struct crawl_host *host)
{
    struct crawl_origin *o = NULL;

    for (struct crawl_page *p = host->first; p && qs->n < CRAWL_ALLOW_PAGES;
         p = p->next) {
        struct seen_span url = span_of(p->url), name = crawl_origin_of(url);

        if (!o)
            o = crawl_host_origin(host, name);
        if (!o || !span_equal(name, (struct seen_span){ o->name, o->len }))
            break;
        if (p->asked == o->until)
            continue;
        qs->q[qs->n++] = (struct crawl_question){ .id = p->id,
                                                  .at = qs->urls.len,
                                                  .len = url.len };
        buffer_span(&qs->urls, url);
    }
    qs->origin = o;
    if (!qs->n || o->state != CRAWL_ROBOTS_KNOWN) {
        qs->n = 0; /* all was taken back */
        return;
    }
    qs->until = o->until;
    if (o->rules)
        qs->rules = web_robots_share(o->rules);
    qs->text = o->text;
    o->text = (struct buffer){ .bytes = NULL };
    crawl_rules_count(host, o);
}

/* Without the lock. */
static enum seen_code ask(struct crawl *c, struct crawl_questions *qs,
                          uint64_t *steps, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (qs->urls.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for URLs");
    if (!qs->rules && qs->text.len)
        code = web_robots_new(&qs->rules, qs->text.bytes, qs->text.len,
                              c->product, why);
    for (size_t i = 0; code == SEEN_OK && i < qs->n &&
                       *steps < CRAWL_ALLOW_STEPS && !atomic_load(&c->stop);
         i++) {
        struct crawl_question *q = &qs->q[i];
        struct web_robots_verdict v = { .allowed = true };

        if (qs->rules)
            web_robots_ask(qs->rules, qs->urls.bytes + q->at, q->len, &v);
        q->asked = true;
        q->line = v.allowed ? 0 : v.line;
        *steps += v.steps;
    }
    return code;
}

/* After a run that did not end well, a host may have been asked just before
   the end. */
static void be_wary(struct crawl *c, struct crawl_host *host, double asked)
{
    int64_t least = c->wary + crawl_delay(0, c->settings->delay, asked, 0);

    if (c->wary && host->hold < least)
        host->hold = least;
}

/* They are the first pages of the host, unless some were taken back, so the
   search ends with the last of them. */
static void note(struct crawl *c, struct crawl_host *host,
                 struct crawl_questions *qs)
{
    struct crawl_origin *o = qs->origin;
    size_t left = qs->n;

    if (o->until != qs->until) /* others came meanwhile */
        return;
    if (qs->text.len && qs->rules) {
        crawl_rules_drop(host, o);
        o->rules = qs->rules;
        qs->rules = NULL;
        o->delay = web_robots_delay(o->rules);
        be_wary(c, host, o->delay);
        crawl_rules_count(host, o);
    }
    for (struct crawl_page *p = host->first; p && left; p = p->next)
        for (size_t i = 0; i < qs->n; i++)
            if (qs->q[i].id == p->id) {
                if (qs->q[i].asked) {
                    p->asked = qs->until;
                    p->line = qs->q[i].line;
                }
                left--;
                break;
            }
}

enum seen_code crawl_allow_answer(struct crawl *c, struct crawl_host *host,
                                  unsigned reader, uint64_t *steps,
                                  struct seen_error *why)
{
    struct crawl_questions qs = { .n = 0 };
    enum seen_code code = SEEN_OK;

    *steps = 0;
    collect(&qs, host);
    if (qs.n) {
        crawl_reading_begin_robots(c->reading, reader, qs.origin, c->alone);
        pthread_mutex_unlock(&c->lock);
        code = ask(c, &qs, steps, why);
        pthread_mutex_lock(&c->lock);
        crawl_reading_end(c->reading, reader);
        if (c->alone && qs.origin->trust == CRAWL_SUSPECT)
            qs.origin->trust = CRAWL_TRUSTED;
    }
    host->owed += *steps / 2 + CRAWL_RULE_BYTE_STEPS * qs.text.len;
    if (code == SEEN_OK && qs.n)
        note(c, host, &qs);
    web_robots_free(qs.rules);
    buffer_clear(&qs.text);
    buffer_clear(&qs.urls);
    end(c, host);
    if (code == SEEN_OK && !crawl_host_set_due(&c->hosts, host, host->due))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a host");
    return code;
}
