/*
 * crawl.c - the fetching thread: start what is due, hand answers on.
 *
 * A host that is due and has pages gives its first one. Before the first page
 * of an origin comes its robots.txt. What that says about the next pages is
 * found out by readers, since rules may be many: a page that it keeps out goes
 * to the committing thread without a request. When an answer has ended, the host
 * gets its next due time at once, so that politeness does not depend on how
 * long the rest takes.
 */
#include "crawl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../lib/text/span.h"
#include "../page/scope.h"
#include "store.h"

enum { POLL_MOST = 100 }; /* milliseconds */

/* --- answers --- */

static struct crawl_origin *origin_of(const struct crawl_page *page)
{
    return crawl_host_origin(page->host, crawl_origin_of(span_of(page->url)));
}

static const char delays[] = "the delay", crawl_delays[] = "Crawl-delay";

/* What is this delay due to? */
static const char *reason_of(const struct crawl_settings *s,
                             const struct crawl_page *page, double asked,
                             int64_t delay)
{
    if (page->after && delay >= (int64_t)page->after * 1000)
        return "Retry-After";
    if (asked > 0 && delay > crawl_delay(page->ms, s->delay, -1, 0))
        return crawl_delays;
    return delays;
}

/* Is it the robots.txt of another host? */
static bool is_moved(const struct crawl_page *page)
{
    return page->robots && page->robots->host != page->host;
}

/* The Crawl-delay of the host that was asked, as far as it is known. */
static double delay_of(const struct crawl_page *page,
                       const struct crawl_origin *o)
{
    struct seen_span name;

    if (is_moved(page)) {
        name = crawl_origin_of(span_of(page->url));
        o = map_get(&page->host->origins, name.text, name.len);
    }
    return o ? o->delay : -1;
}

/* When may the host be asked again? */
static int64_t next_due(struct crawl *c, const struct crawl_page *page)
{
    enum { DAY = 86400 }; /* seconds: nothing takes longer */
    const struct crawl_settings *s = page->shared->settings;
    struct crawl_origin *o = page->robots ? page->robots : origin_of(page);
    double asked = delay_of(page, o);
    int64_t delay = crawl_delay(page->ms, s->delay, asked,
                                page->after < DAY ? page->after : DAY);
    bool troubled = page->code != SEEN_OK || page->status == 429 ||
                    page->status >= 500;
    bool cancelled = page->code == SEEN_UNABLE && !page->no_room;
    int64_t tries = page->attempts < 100 ? page->attempts + 1 : 100;
    int64_t pause = s->pause < DAY ? (int64_t)s->pause : DAY;
    bool beside; /* others may go on */

    page->host->delay = delay;
    page->host->waits_for = reason_of(s, page, asked, delay);
    pause *= 1000 * tries * tries;
    if (pause > DAY * INT64_C(1000))
        pause = DAY * INT64_C(1000);
    if (page->no_room && pause < 1000)
        pause = 1000;
    if (!troubled || page->code == SEEN_RANGE || cancelled || pause <= delay)
        return crawl_now(c) + delay;
    /* A port without an answer says nothing of the others, nor of the host
       that a robots.txt was moved to. */
    beside = o && !page->no_room &&
             (is_moved(page) ||
              (page->code != SEEN_OK && page->host->origins.used > 1));
    if (beside)
        o->hold = crawl_now(c) + pause;
    if (!beside || page->code == SEEN_OK)
        delay = pause;
    page->host->waits_for = page->no_room ? "room for an answer"
                                          : "--pause after a failure";
    return crawl_now(c) + delay;
}

/* Requests that were cancelled say nothing of the host. A robots.txt that
   forbids everything by its status is a failure. */
static void count_failure(struct crawl_host *host,
                          const struct crawl_page *page)
{
    struct crawl_origin *o = page->robots ? page->robots : origin_of(page);

    if (page->code == SEEN_UNABLE)
        return;
    if ((page->code == SEEN_OK &&
         !(page->robots &&
           web_robots_status(page->status) == WEB_ROBOTS_DENY)) ||
        page->code == SEEN_RANGE) {
        host->failures = 0;
        if (o)
            crawl_origin_answered(o->host, o);
    } else {
        host->failures += !is_moved(page) &&
                          (!o || !crawl_host_answers_beside(host, o));
        if (o)
            crawl_origin_failed(o->host, o);
    }
}

/* Once per run. */
static void say_put_off(struct crawl *c, const char *what,
                        const struct seen_error *why)
{
    if (!c->put_off && c->hooks.warn) {
        char text[sizeof why->text + 80];

        snprintf(text, sizeof text,
                 "%s are put off until there is room for them: %s", what,
                 why->text);
        c->hooks.warn(c->hooks.owner, text);
    }
    c->put_off = true;
}

/* A disk without room is not the page's fault: it is as if it had not been
   requested, and comes later. */
static enum seen_code on_body(void *owner, const void *bytes, size_t n,
                              struct seen_error *why)
{
    struct crawl_page *page = owner;
    struct crawl *c = page->host->crawl;
    enum seen_code code = crawl_body_add(&c->bodies, page, bytes, n, why);

    if (code != SEEN_IO)
        return code;
    say_put_off(c, "large answers", why);
    page->no_room = true;
    return SEEN_UNABLE;
}

static void copy_text(char *to, size_t room, const char *from)
{
    snprintf(to, room, "%s", strlen(from) < room ? from : "");
}

/* Words of libcurl and OpenSSL quote what a server sent, such as the names in
   its certificate. Databases and terminals want them printable. */
static void copy_words(char *to, size_t room, const char *from)
{
    copy_text(to, room, from);
    for (; *to; to++)
        if (*to < ' ' || *to > '~')
            *to = '?';
}

/* An answer waits for a reader. The lock is held. */
static void hand_on(struct crawl *c, struct crawl_page *page)
{
    crawl_page_account(c, page);
    c->unread += page->made;
    c->working++;
    page->host->unread++;
    crawl_list_add(crawl_page_is_suspect(page) ? &c->suspects
                   : page->filed               ? &c->filed
                                               : &c->answers,
                   page);
    pthread_cond_signal(&c->to_work);
}

/* As if the request had not begun. */
static void forget_answer(struct crawl *c, struct crawl_page *page)
{
    crawl_body_drop(&c->bodies, page);
    buffer_clear(&page->sent);
    buffer_clear(&page->head);
}

/* Its request did not begin, or was cancelled. */
static void put_back(struct crawl_host *host, struct crawl_page *page)
{
    host->moved_out -= is_moved(page);
    if (page->robots)
        crawl_host_push_robots(host, page);
    else
        crawl_host_push(host, page, true);
}

static void on_end(void *owner, enum seen_code code,
                   const struct fetch_response *r,
                   const struct seen_error *why)
{
    struct crawl_page *page = owner;
    struct crawl_host *host = page->host;
    struct crawl *c = host->crawl;

    if (r->shortage) { /* as if it had not been requested */
        say_put_off(c, "requests", why);
        page->no_room = true;
        code = SEEN_UNABLE;
    }
    page->code = code;
    if (code != SEEN_OK)
        copy_words(page->fault, sizeof page->fault, why->text);
    page->late = r->outcome == FETCH_LATE;
    page->status = code == SEEN_OK ? r->status : 0;
    page->after = r->after;
    page->ms = r->ms_total;
    page->cut = fetch_cut_name(r->cut);
    copy_text(page->address, sizeof page->address, r->address);
    copy_text(page->etag, sizeof page->etag, r->etag);
    copy_text(page->modified, sizeof page->modified, r->modified);
    buffer_span(&page->sent, r->sent);
    buffer_span(&page->head, r->head);

    pthread_mutex_lock(&c->lock);
    c->active--;
    c->bytes += crawl_body_size(page) + page->head.len;
    host->spent_requests++;
    host->spent_bytes += (int64_t)(crawl_body_size(page) + page->head.len);
    host->spent = true;
    count_failure(host, page);
    crawl_host_leave(&c->hosts, host);
    page->due = host->polite = next_due(c, page);
    if (!crawl_host_set_due(&c->hosts, host, page->due) || page->sent.failed ||
        page->head.failed)
        crawl_no_memory(c);
    if (code != SEEN_UNABLE &&
        !crawl_host_set_prompt(&c->hosts, host, page->ms < CRAWL_SOON))
        crawl_no_memory(c);
    if (code == SEEN_NOMEM)
        crawl_no_memory(c);
    if (code == SEEN_UNABLE || code == SEEN_NOMEM) {
        forget_answer(c, page);
        put_back(host, page);
    } else {
        hand_on(c, page);
    }
    pthread_mutex_unlock(&c->lock);
}

static const struct fetch_handler handler = { .body = on_body, .end = on_end };

/* --- requests --- */

/* A page that is not fetched goes to the committing thread. */
static void pass(struct crawl *c, struct crawl_page *page,
                 enum crawl_outcome outcome)
{
    page->outcome = outcome;
    page->started = crawl_now(c);
    crawl_list_add(&c->done, page);
    pthread_cond_signal(&c->to_commit);
}

/* Its URL cannot be fetched at all. */
static void refuse(struct crawl *c, struct crawl_page *page, const char *fault)
{
    page->code = SEEN_RANGE;
    copy_words(page->fault, sizeof page->fault, fault);
    hand_on(c, page);
}

static void start(struct crawl *c, struct crawl_host *host,
                  struct crawl_page *page)
{
    const struct crawl_known *known = &page->known;
    struct fetch_request request = {
        .url = page->url,
        .etag = known->id && *known->etag ? known->etag : NULL,
        .modified = known->id && *known->modified ? known->modified : NULL,
        .most = page->shared->settings->max_size,
        .raw = true,
        .accept_encoding = page->shared->settings->accept_encoding,
        .timeout = (unsigned)page->shared->settings->timeout,
        .handler = &handler,
        .owner = page,
    };
    struct seen_error why;
    enum seen_code code;

    page->started = crawl_now(c);
    page->no_room = false;
    crawl_spare_take(&c->spares, &page->raw);
    c->active++;
    code = fetch_start(c->web, &request, &why);
    if (code == SEEN_OK)
        return;
    c->active--;
    page->due = host->polite = crawl_now(c);
    crawl_host_leave(&c->hosts, host);
    crawl_host_set_due(&c->hosts, host, page->due);
    if (code == SEEN_NOMEM) {
        put_back(host, page);
        crawl_no_memory(c);
        return;
    }
    refuse(c, page, why.text); /* it may have a port of another protocol */
}

/* The robots.txt that another page needs. */
static struct crawl_page *robots_page(const struct crawl_page *other,
                                      struct crawl_origin *o)
{
    struct buffer url = { .bytes = NULL };
    struct crawl_page *page = NULL;

    buffer_bytes(&url, o->name, o->len);
    buffer_text(&url, "/robots.txt");
    if (!url.failed) {
        const struct frontier_page row = {
            .url = { url.bytes, url.len },
            .path = { "P", 1 },
            .type = { "", 0 },
        };

        page = crawl_page_new(&row);
    }
    buffer_clear(&url);
    if (page) {
        page->host = other->host;
        crawl_page_share(page, other->shared);
        page->robots = o;
        page->attempts = o->attempts;
        page->flags = o->trust == CRAWL_SUSPECT ? FRONTIER_SUSPECT : 0;
        o->state = CRAWL_ROBOTS_ASKED;
    }
    return page;
}

/* Would another page exceed --host-pages? What is on its way may not count, so
   the host comes up again until it is certain. */
static bool has_enough(struct crawl *c, struct crawl_host *host)
{
    enum { SOON = 50 };
    uint64_t most = c->settings->host_pages;

    if (!most || (uint64_t)host->fetched + host->outs - host->ready < most)
        return false;
    if ((uint64_t)host->fetched >= most)
        host->stopped = "--host-pages is reached";
    else
        crawl_host_set_due(&c->hosts, host, crawl_now(c) + SOON);
    return true;
}

/* Do pages wait for their origin: for a robots.txt that is asked, or for the
   end of a pause? Then *when may become earlier. */
static bool waits(const struct crawl *c, const struct crawl_origin *o,
                  int64_t *when)
{
    if (o->state == CRAWL_ROBOTS_ASKED)
        return true;
    if (o->state == CRAWL_ROBOTS_CLOSED || o->hold <= crawl_now(c))
        return false;
    if (o->hold < *when)
        *when = o->hold;
    return true;
}

/*
 * Bring the first page of the host that does not wait for its origin to the
 * front. False: there is none, and the host comes up again when a pause ends,
 * or when a robots.txt is committed.
 */
static bool bring_forward(struct crawl *c, struct crawl_host *host)
{
    enum { MANY = 256 };
    struct crawl_page *before = NULL, *page = host->first;
    int64_t when = INT64_MAX;

    for (; page; before = page, page = page->next) {
        struct crawl_origin *o = origin_of(page);

        if (!o) {
            crawl_no_memory(c);
            return false;
        }
        if (!waits(c, o, &when))
            break;
    }
    if (page && before) {
        before->next = page->next;
        if (host->last == page)
            host->last = before;
        host->ready--;
        crawl_host_push(host, page, true);
    }
    if (!page && host->ready < MANY)
        host->used = host->ready; /* a refill brings more: others may wait */
    if (!page && when != INT64_MAX)
        crawl_host_set_due(&c->hosts, host, when);
    return page != NULL;
}

/* The page leaves the queue without a request, since its origin is given up. */
static void shut_out(struct crawl *c, struct crawl_host *host,
                     struct crawl_page *page, const struct crawl_origin *o)
{
    crawl_host_pull(host);
    host->used++;
    page->crowded = o->state != CRAWL_ROBOTS_CLOSED;
    if (page->crowded)
        snprintf(page->fault, sizeof page->fault,
                 "%u other ports of its host cannot be asked", host->failing);
    else
        snprintf(page->fault, sizeof page->fault, "%s",
                 o->reason ? o->reason : "it cannot be asked");
    pass(c, page, CRAWL_CLOSED);
}

/* Is no other host being asked, or due? */
static bool is_alone(const struct crawl *c)
{
    const struct crawl_host *other = crawl_hosts_first(&c->hosts);

    return !c->active && (!other || other->due > crawl_now(c));
}

/* What its robots.txt costs makes a host wait, if others are asked meanwhile.
   Then it comes up again by itself. */
static bool has_to_wait(struct crawl *c, struct crawl_host *host)
{
    int64_t more = crawl_host_owes(host, is_alone(c));

    if (!more)
        return false;
    host->hold = crawl_now(c) + more;
    crawl_host_set_due(&c->hosts, host, host->due);
    return true;
}

/* The page leaves the queue without a request: it killed those that read it. */
static void set_aside(struct crawl *c, struct crawl_host *host,
                      struct crawl_page *page)
{
    crawl_host_pull(host);
    host->used++;
    snprintf(page->fault, sizeof page->fault, "%s", CRAWL_ASIDE_REASON);
    pass(c, page, CRAWL_ASIDE);
}

/*
 * The next page of a host that may be requested, or NULL: then the host comes
 * up again by itself, or when the committing thread says so. Pages that are
 * kept out are passed on the way, at most as many as a reader asked about
 * (CRAWL_ALLOW_PAGES), so that no host holds up the others.
 */
static struct crawl_page *choose_page(struct crawl *c, struct crawl_host *host)
{
    while (host->first && !host->stopped) {
        struct crawl_page *page = host->first;
        struct crawl_origin *o;

        if (crawl_page_is_aside(page)) {
            set_aside(c, host, page);
            continue;
        }
        if (has_enough(c, host) || crawl_host_has_unread(host) ||
            has_to_wait(c, host))
            return NULL;
        if (c->settings->order != CRAWL_BREADTH && host->outs > host->ready)
            return NULL; /* its links may come first: crawl_refill() */
        if (!bring_forward(c, host))
            return NULL;
        page = host->first;
        o = origin_of(page);
        if (!o) {
            crawl_no_memory(c);
            return NULL;
        }
        host->asked = o;
        if ((o->state == CRAWL_ROBOTS_KNOWN ||
             o->state == CRAWL_ROBOTS_KEPT) &&
            o->until <= crawl_now(c))
            o->state = CRAWL_ROBOTS_UNKNOWN;
        if (o->state == CRAWL_ROBOTS_CLOSED && page->visit > o->barred)
            crawl_origin_open(host, o);
        if (o->trust == CRAWL_SET_ASIDE)
            crawl_origin_close(host, o,
                               "robots.txt of %.*s is set aside, since it "
                               "kills its readers; see --retry-aside",
                               crawl_origin_words(o), o->name);
        if (o->state == CRAWL_ROBOTS_CLOSED ||
            crawl_origin_is_too_much(host, o)) {
            shut_out(c, host, page, o);
            continue;
        }
        switch (o->state) {
        case CRAWL_ROBOTS_UNKNOWN:
            page = robots_page(page, o);
            if (!page)
                crawl_no_memory(c);
            return page;
        case CRAWL_ROBOTS_ASKED:
        case CRAWL_ROBOTS_CLOSED: return NULL; /* neither comes so far */
        case CRAWL_ROBOTS_KNOWN:
        case CRAWL_ROBOTS_KEPT: break;
        }
        if (o->state == CRAWL_ROBOTS_KNOWN && !o->rules && !o->text.len) {
            page->line = 0;
        } else if (page->asked != o->until) {
            if (o->state == CRAWL_ROBOTS_KEPT)
                crawl_allow_recall(c, host);
            else
                crawl_allow_ask(c, host);
            return NULL;
        }
        crawl_host_pull(host);
        host->used++;
        if (!page->line)
            return page;
        host->owed += CRAWL_EXCLUDED_STEPS;
        snprintf(page->fault, sizeof page->fault, "line %u of robots.txt",
                 page->line);
        pass(c, page, CRAWL_ROBOTS);
    }
    return NULL;
}

/* The next robots.txt that is to be requested at the host. */
static struct crawl_page *choose_robots(struct crawl *c,
                                        struct crawl_host *host, bool moved)
{
    struct crawl_page *page;

    while ((page = crawl_host_pull_robots(host, moved))) {
        if (host->stopped != crawl_needs_contact)
            break;
        page->started = crawl_now(c);
        refuse(c, page, host->stopped);
    }
    return page;
}

/* What is to be requested next, or NULL as above. */
static struct crawl_page *choose(struct crawl *c, struct crawl_host *host)
{
    struct crawl_page *page = choose_robots(c, host, false);

    if (!page && crawl_host_is_turn_of_pages(host)) {
        page = choose_page(c, host);
        if (page || crawl_host_is_asking(host) || host->hold > crawl_now(c))
            return page;
    }
    if (page || !host->moved || crawl_host_has_unread(host))
        return page;
    crawl_hosts_pop(&c->hosts, host); /* its pages may wait, but not these */
    return choose_robots(c, host, true);
}

static bool is_time_over(const struct crawl *c)
{
    return c->settings->time &&
           crawl_now(c) - c->began >= (int64_t)c->settings->time * 1000;
}

static bool is_spent(const struct crawl *c)
{
    const struct crawl_settings *s = c->settings;

    return (s->pages && c->pages >= s->pages) ||
           (s->bytes && c->bytes >= s->bytes) || is_time_over(c);
}

/* No new requests. Names that nobody looks up yet are not needed. */
static void close_down(struct crawl *c)
{
    struct crawl_page *name;

    crawl_enter_phase(c, CRAWL_CLOSES);
    for (int prompt = 0; prompt < 2; prompt++)
        while ((name = crawl_list_take(&c->names[prompt]))) {
            crawl_host_become(name->host, CRAWL_HOST_RESTS);
            c->looking--;
            crawl_page_free(name);
        }
    pthread_cond_signal(&c->to_commit);
}

/* Pages that may count when they are committed. */
static size_t on_their_way(const struct crawl *c)
{
    return c->active + c->working + c->done.n + c->committing;
}

/* A worker of a team asks nobody after its lease has ended: others may. */
static bool has_lease(const struct crawl *c)
{
    return crawl_now(c) < c->lease_end;
}

/*
 * May a request begin? Not if all that are on their way could spend the
 * budget, so that it is not exceeded. And not if readers and commits do not
 * keep up, so that neither hostile pages of 16 MB nor thousands of links per
 * page fill the memory, or the disk. Requests under way, however slow, do not
 * bring this about: body.h.
 */
static bool may_start(struct crawl *c)
{
    enum { BACKLOG = 2048 };
    const struct crawl_settings *s = c->settings;

    c->full = on_their_way(c) - c->active >= BACKLOG ||
              atomic_load(&c->bodies.held) >= CRAWL_BODIES_UNDER_WAY ||
              c->filed.n >= s->parallel || c->made >= CRAWL_MADE_MOST;
    return c->phase == CRAWL_FETCHES && !c->full && has_lease(c) &&
           c->active < s->parallel &&
           (!s->pages || c->pages + on_their_way(c) < s->pages);
}

/* The priority of a host that has pages is that of its next one. Hosts that
   many links lead to come first, by half a link at most. */
static int64_t priority_of(const struct crawl *c,
                           const struct crawl_host *host)
{
    int64_t found = host->found < 500 ? host->found : 500;

    return host->first->priority -
           (c->settings->strategy == CRAWL_TOPICAL ? 0 : found);
}

/*
 * The host that comes next. By priority it is, of all that are due, the one
 * with the best page; that matters when requests or pages are limited.
 */
static struct crawl_host *next_host(const struct crawl *c, int64_t now)
{
    struct crawl_host *best = crawl_hosts_first(&c->hosts);

    if (c->settings->order != CRAWL_PRIORITY)
        return best;
    for (int prompt = 0; prompt < 2; prompt++) {
        const struct crawl_heap *h = &c->hosts.heap[prompt];

        if (!crawl_hosts_may_ask(&c->hosts, prompt))
            continue;
        for (size_t i = 1; i <= h->n; i++) {
            struct crawl_host *host = h->host[i];

            if (host->due <= now && host->first && best->first &&
                priority_of(c, host) < priority_of(c, best))
                best = host;
        }
    }
    return best;
}

/* Start what is due. Returns milliseconds until the next host is. */
static int64_t start_due(struct crawl *c)
{
    struct crawl_host *host;
    int64_t now = crawl_now(c);

    if (c->phase < CRAWL_CLOSES && is_spent(c)) {
        c->spent = true;
        close_down(c);
    }
    while (may_start(c) && (host = next_host(c, now)) && host->due <= now) {
        struct crawl_page *page;

        crawl_hosts_pop(&c->hosts, host);
        if (!crawl_host_may_enter(&c->hosts, host))
            continue;
        page = choose(c, host);
        if (!page) {
            crawl_host_pass(&c->hosts, host);
            continue;
        }
        crawl_host_enter(&c->hosts, host);
        host->turn++;
        start(c, host, page);
    }
    host = crawl_hosts_first(&c->hosts);
    if (!host || !may_start(c))
        return POLL_MOST;
    return host->due > now ? host->due - now : 0;
}

/* With an injected clock nobody waits: time goes to what is due next. */
static void skip_time(struct crawl *c, int64_t wait)
{
    int64_t page = c->next_due - crawl_now(c);

    if (wait > page)
        wait = page;
    if (c->injected_clock && !on_their_way(c) && !c->looking && !c->asking &&
        !c->moved.n && c->phase != CRAWL_PAUSES && wait > 0)
        atomic_fetch_add(&c->offset, wait);
}

/* Warnings of other threads are said by this one. */
void crawl_say_warnings(struct crawl *c)
{
    char text[sizeof c->warning];

    pthread_mutex_lock(&c->lock);
    memcpy(text, c->warning, sizeof text);
    *c->warning = '\0';
    pthread_mutex_unlock(&c->lock);
    if (*text && c->hooks.warn)
        c->hooks.warn(c->hooks.owner, text);
}

/*
 * Nothing is to be done for a while: say once for what. The usual delay, and a
 * Crawl-delay, are said once per host, others each time. The lock is held.
 */
static void say_wait(struct crawl *c, int64_t wait)
{
    enum { LONG = 10000 }; /* ms */
    struct crawl_host *host = crawl_hosts_first(&c->hosts);
    const char *reason;
    char date[32];
    time_t until;
    struct tm t;

    if (!host || !host->ready || wait < LONG || c->store->shares_hosts ||
        c->phase >= CRAWL_CLOSES || c->injected_clock || on_their_way(c) ||
        c->looking || *c->warning)
        return;
    reason = host->waits_for ? host->waits_for : "an earlier run asked it";
    if (host->said == reason && (host->said_due == host->due ||
                                 reason == delays || reason == crawl_delays))
        return;
    host->said = reason;
    host->said_due = host->due;
    until = (time_t)(host->due / 1000);
    gmtime_r(&until, &t);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &t);
    snprintf(c->warning, sizeof c->warning, "waiting for %.100s until %s (%s)",
             host->name, date, reason);
}

void crawl_fetch_all(struct crawl *c)
{
    for (;;) {
        struct crawl_progress p;
        int64_t wait;
        bool over, leased;

        pthread_mutex_lock(&c->lock);
        if (atomic_load(&c->stop))
            close_down(c);
        wait = start_due(c);
        leased = has_lease(c);
        atomic_store(&c->hurry, atomic_load(&c->stop) ||
                                    c->phase == CRAWL_QUITS || !leased);
        over = c->phase >= CRAWL_ENDS ||
               (c->phase == CRAWL_CLOSES && !c->active);
        if (!over && crawl_hosts_first(&c->hosts))
            skip_time(c, wait);
        if (!over)
            say_wait(c, wait);
        p = (struct crawl_progress){ c->run_pages, c->waiting, c->active,
                                     c->bytes };
        pthread_mutex_unlock(&c->lock);
        if (over)
            return;
        if (atomic_load(&c->stop) || !leased)
            fetch_cancel(c->web, NULL);
        crawl_say_warnings(c);
        if (c->hooks.progress)
            c->hooks.progress(c->hooks.owner, &p);
        fetch_poll(c->web, wait < POLL_MOST ? (int)wait : POLL_MOST);
    }
}
