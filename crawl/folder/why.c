/*
 * why.c - why a URL was fetched, or was not: one sentence.
 *
 * One question after the other is asked, and the first that applies is the
 * answer: was the page set aside, was it fetched, do the template, the scope or
 * robots.txt keep it out, does it wait, is it a trap, was its link left out, does
 * an archive of --skip hold it, was it taken for seen? Most answers follow from
 * the URL and the settings alone, so that they need no rows.
 */
#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <seen/store.h>

#include "../../lib/text/span.h"
#include "../../remote/remote.h"
#include "../../web/robots.h"
#include "../engine/skip.h"
#include "../engine/store.h"
#include "../page/scope.h"
#include "../template/template.h"
#include "aside.h"
#include "cache_remote.h"
#include "left_out.h"

struct why {
    struct crawl_state state;
    struct crawl_settings settings;
    void *kept;
    struct crawl_scope *scope;
    struct crawl_template *template; /* or NULL */
    struct crawl_left left;
    struct seen_span url;
    char *answer;
    bool fetched, start;
};

static void say(struct why *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct why *w, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(w->answer, CRAWL_WHY, format, args);
    va_end(args);
}

static enum seen_code widen(void *owner, int64_t id, struct seen_span url,
                            struct seen_error *why)
{
    struct why *w = owner;

    (void)id;
    w->start |= span_equal(url, w->url);
    return crawl_scope_start(w->scope, url, why);
}

enum { DATE = 32 };

static void write_date(char to[DATE], int64_t ms)
{
    time_t at = (time_t)(ms / 1000);
    struct tm t;

    gmtime_r(&at, &t);
    strftime(to, DATE, "%Y-%m-%dT%H:%M:%SZ", &t);
}

/* Why does the visit not ask for it now? */
static void write_due(char to[64], const struct crawl_known *page)
{
    char date[DATE];

    write_date(date, page->due);
    if (page->due == INT64_MAX)
        snprintf(to, 64, "to be asked for in this visit or the next");
    else if (page->due > (int64_t)time(NULL) * 1000)
        snprintf(to, 64, "not due before %s", date);
    else
        snprintf(to, 64, "due%s%s", page->due > 0 ? " since " : "",
                 page->due > 0 ? date : "");
}

static enum seen_code explain_known(struct why *w,
                                    const struct crawl_known *page)
{
    char date[DATE], due[64];

    write_date(date, page->last);
    write_due(due, page);
    w->fetched = page->status > 0;
    if (page->status > 0)
        say(w, "fetched on %s in visit %lld, with status %d%s%s; %s", date,
            (long long)page->visit, page->status, *page->note ? ": " : "",
            page->note, due);
    else
        say(w, "tried until %s in visit %lld, but it failed: %s (%d); %s",
            date, (long long)page->visit, page->note, page->status, due);
    return SEEN_OK;
}

/* Is there a rule of robots.txt, or a host that is not asked? */
static enum seen_code explain_robots(struct why *w, bool *said,
                                     struct seen_error *why)
{
    struct seen_span origin = crawl_origin_of(w->url);
    struct web_robots *rules = NULL;
    struct web_robots_verdict v;
    enum seen_code code;
    struct crawl_kept_robots kept;

    code = crawl_state_robots(&w->state, origin, 0, SIZE_MAX, &kept, why);
    if (code != SEEN_OK || !kept.found)
        return code;
    if (web_robots_status(kept.status) == WEB_ROBOTS_READ)
        code = web_robots_new(&rules, kept.body, kept.len, "seen", why);
    if (code == SEEN_OK && rules) {
        web_robots_ask(rules, w->url.text, w->url.len, &v);
        if (!v.allowed) {
            say(w, "not fetched: line %u of %.*s/robots.txt: %.*s", v.line,
                (int)(origin.len < 200 ? origin.len : 200), origin.text,
                (int)(v.rule.len < 200 ? v.rule.len : 200), v.rule.text);
            *said = true;
        }
    }
    web_robots_free(rules);
    free(kept.body);
    return code;
}

/* Is it a robots.txt itself? It is no page, and has no row of one. */
static enum seen_code explain_rules(struct why *w, bool *said,
                                    struct seen_error *why)
{
    const struct seen_span origin = crawl_origin_of(w->url);
    const struct seen_span path = { w->url.text + origin.len,
                                    w->url.len - origin.len };
    struct crawl_kept_robots kept;
    enum seen_code code;
    char date[DATE];

    if (!span_is(path, "/robots.txt"))
        return SEEN_OK;
    code = crawl_state_robots(&w->state, origin, INT64_MIN, 0, &kept, why);
    if (code != SEEN_OK || !kept.found)
        return code;
    write_date(date, kept.until);
    say(w, "fetched, with status %d; what it says counts until %s",
        kept.status, date);
    w->fetched = *said = true;
    free(kept.body);
    return SEEN_OK;
}

struct stopped {
    int64_t host;
    bool origin;
    char reason[CRAWL_CLOSED_TEXT];
};

static bool find_stopped(void *owner, const struct frontier_host *host)
{
    struct stopped *s = owner;

    if (host->id != s->host)
        return true;
    s->origin = frontier_is_origin(host->name);
    snprintf(s->reason, sizeof s->reason, "%.*s", (int)host->stopped.len,
             host->stopped.text);
    return false;
}

static enum seen_code explain_waiting(struct why *w, bool *said,
                                      struct seen_error *why)
{
    struct stopped s = { .origin = false };
    struct frontier_page page;
    enum seen_code code;
    bool found;

    code = frontier_find(w->state.frontier, crawl_host_of(w->url), w->url,
                         &found, &page, why);
    if (code != SEEN_OK || !found)
        return code;
    *said = true;
    s.host = page.host;
    code = frontier_all_hosts(w->state.frontier, find_stopped, &s, why);
    if (s.origin)
        say(w, "not fetched: %s; the same command asks again", s.reason);
    else if (*s.reason)
        say(w, "not fetched: its host is not asked any more: %s", s.reason);
    else
        say(w, "not fetched yet: it waits%s, %u links deep",
            page.flags & FRONTIER_SUSPECT
                ? " to be read alone, since the process died while it read it"
            : page.attempts ? " to be tried again"
                            : "",
            page.depth);
    return code;
}

/* A page that was fetched by an earlier visit may kill in this one. */
static enum seen_code explain_aside(struct why *w, const struct seen_key *key,
                                    bool *said, struct seen_error *why)
{
    enum seen_code code = crawl_folder_aside_find(&w->state, key, said, why);

    if (code == SEEN_OK && *said)
        say(w, "set aside: %s; --retry-aside asks for it again",
            CRAWL_ASIDE_REASON);
    return code;
}

/* Was it noticed as a trap, by its depth or by what it was one of? */
static enum seen_code explain_trap(struct why *w, bool *said,
                                   struct seen_error *why)
{
    enum seen_code code;
    char *reason;

    code = crawl_state_trap_find(&w->state, w->url, &reason, why);
    if (reason) {
        say(w, "not fetched: looks like a trap: %s", reason);
        *said = true;
    }
    free(reason);
    return code;
}

/* What the page with the link said, or what was so at that time. */
static enum seen_code explain_left(struct why *w, const struct seen_key *key,
                                   bool *said, struct seen_error *why)
{
    enum seen_code code = crawl_left_find(&w->state, key->lo, &w->left, why);
    char *via = NULL;

    if (code != SEEN_OK || !w->left.found)
        return code;
    if (w->left.via)
        via = crawl_state_url(&w->state, w->left.via);
    *said = true;
    switch (w->left.reason) {
    case CRAWL_LEFT_NOFOLLOW:
        say(w,
            "not fetched: %.300s links to it with nofollow; "
            "--ignore-nofollow follows such links",
            via && *via ? via : "a page");
        break;
    case CRAWL_LEFT_RULE:
        say(w,
            "not fetched: no rule of the template follows the link on %.300s",
            via && *via ? via : "a page");
        break;
    case CRAWL_LEFT_SCORE:
        say(w,
            "not fetched: the score of the link on %.300s is below --threshold",
            via && *via ? via : "a page");
        break;
    case CRAWL_LEFT_COSTLY:
        say(w,
            "not fetched: for the link on %.300s patterns of the scope or the "
            "template were too costly, so that it is not known whether they "
            "let it in",
            via && *via ? via : "a page");
        break;
    case CRAWL_LEFT_ROBOTS:
        say(w, "not fetched: robots.txt forbade it when its turn came");
        break;
    case CRAWL_LEFT_PRUNE:
        say(w, "dropped by seen crawl prune, and not fetched again");
        break;
    default: *said = false; /* of --skip: asked again first */
    }
    free(via);
    return SEEN_OK;
}

/* Does a filter of --skip hold it? They are asked again. */
static enum seen_code explain_skip(struct why *w, bool *said,
                                   struct seen_error *why)
{
    const struct fetch_options web = {
        .allow_private = w->settings.allow_private,
        .allow = w->settings.allow,
        .authorities = w->settings.ca
    };
    bool held = false;
    const bool was_held = w->left.found && w->left.reason == CRAWL_LEFT_SKIP;
    struct crawl_skip_answers answers = { .held = &held };
    struct crawl_skip *skip = NULL;
    enum seen_code code;

    if ((!w->settings.skip.n && !was_held) || w->start)
        return SEEN_OK;
    code = crawl_skip_open(&skip, &w->settings.skip, &web, why);
    if (code == SEEN_OK && w->settings.skip.n)
        code = crawl_skip_ask(skip, &w->url, 1, &answers, why);
    if (was_held)
        code = SEEN_OK; /* the filter may be gone */
    *said = code == SEEN_OK && (held || answers.unasked || was_held);
    if (held)
        say(w, "not fetched: --skip %.300s may hold it", answers.by);
    else if (was_held)
        say(w, "not fetched: a filter of --skip held it when its turn came");
    else if (*said)
        say(w, "not fetched: %s", answers.warning);
    crawl_skip_close(skip);
    return code;
}

static enum seen_code explain_cache(struct why *w, const struct seen_key *key,
                                    struct seen_error *why)
{
    const struct remote_options whatwg = { .profile = "whatwg" };
    struct seen_access options = { .unverified = true };
    struct seen_filter *f = NULL;
    char name[40];
    char *path, *address = NULL, kind[SEEN_KIND_TEXT];
    struct seen_error detail = { .code = SEEN_OK };
    double rate;
    bool seen = false;

    snprintf(name, sizeof name, "cache-%lld.seen",
             (long long)w->state.visit.id);
    path = crawl_state_path(&w->state, name);
    if (!path)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    if (!access(path, F_OK) &&
        seen_store_map(&f, path, &options, NULL) == SEEN_OK)
        seen_filter_has(f, key, 1, &seen, NULL);
    else if (crawl_remote_facts(&w->state, kind, sizeof kind, &rate,
                                &address) &&
             (remote_open(&f, address, &whatwg, &detail) != SEEN_OK ||
              seen_filter_has(f, key, 1, &seen, &detail) != SEEN_OK))
        say(w, "not fetched, and the cache cannot be asked why: %s",
            detail.text);
    if (detail.code)
        ;
    else if (seen)
        say(w,
            "not fetched: the cache says that it was seen, and no page "
            "says so: %slost to a false positive (rate %.2g); a revisit has "
            "another seed",
            w->left.full ? "left out by robots.txt or --skip, or " : "",
            isnan(seen_filter_rate(f)) ? rate : seen_filter_rate(f));
    else
        say(w,
            "not fetched: in scope, but no page that was fetched links to "
            "it%s%s",
            w->left.full ? ", or its link was left out (the reasons of a "
                           "million such links are kept)"
                         : "",
            w->settings.requisites
                ? ""
                : ", except perhaps as an image, script or style, which need "
                  "--requisites");
    seen_filter_free(f);
    free(address);
    free(path);
    return SEEN_OK;
}

static enum seen_code explain(struct why *w, struct seen_error *why)
{
    static char text[SEEN_KEY_TEXT], clean[SEEN_KEY_TEXT];
    char reason[CRAWL_REASON];
    size_t len;
    struct crawl_known page;
    bool found, said = false;
    enum crawl_scope_out out;
    enum seen_code code;
    struct seen_key key;

    if (!span_begins(w->url, "http://") && !span_begins(w->url, "https://")) {
        say(w, "not fetched: not an http or https URL");
        return SEEN_OK;
    }
    crawl_key(&key, text, w->url);
    code = explain_aside(w, &key, &said, why);
    if (code != SEEN_OK || said)
        return code;
    code = crawl_state_find(&w->state, &key, &found, &page, why);
    if (code == SEEN_OK && !found && w->template && !w->start) {
        /* As the crawl takes a link: without what the template strips. */
        crawl_template_clean(w->template, clean, &len, w->url.text,
                             w->url.len);
        w->url = (struct seen_span){ clean, len };
        crawl_key(&key, text, w->url);
        code = crawl_state_find(&w->state, &key, &found, &page, why);
    }
    if (code == SEEN_OK && found) {
        code = explain_known(w, &page);
        crawl_known_clear(&page);
        return code;
    }
    if (code == SEEN_OK)
        code = explain_rules(w, &said, why);
    if (code != SEEN_OK || said)
        return code;
    if (!w->start &&
        !crawl_scope_has(w->scope, w->url, 0, false, NULL, &out, reason)) {
        say(w, "not fetched: %s%s",
            out == CRAWL_OUT_TRAP ? "looks like a trap: " : "", reason);
        return SEEN_OK;
    }
    if (code == SEEN_OK)
        code = explain_robots(w, &said, why);
    if (code == SEEN_OK && !said)
        code = explain_waiting(w, &said, why);
    if (code == SEEN_OK && !said)
        code = explain_trap(w, &said, why);
    if (code == SEEN_OK && !said)
        code = explain_left(w, &key, &said, why);
    if (code == SEEN_OK && !said)
        code = explain_skip(w, &said, why);
    if (code == SEEN_OK && !said)
        code = explain_cache(w, &key, why);
    return code;
}

enum seen_code crawl_why(const char *folder, const char *url, bool *fetched,
                         char answer[CRAWL_WHY], struct seen_error *why)
{
    static char text[SEEN_KEY_TEXT];
    struct why *w = calloc(1, sizeof *w);
    enum seen_code code;
    char *kept = NULL, *template = NULL;
    const char *whole;
    size_t len;

    if (!w)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for an answer");
    w->answer = answer;
    code = seen_url_whatwg(&whole, &len, text, url, strlen(url), NULL, 0, why);
    w->url = (struct seen_span){ whole, code == SEEN_OK ? len : 0 };
    if (code == SEEN_OK)
        code = crawl_state_look(&w->state, folder, why);
    if (code == SEEN_OK)
        code = crawl_state_get(&w->state, "settings", &kept, why);
    if (code == SEEN_OK && kept)
        code = crawl_settings_read(&w->settings, kept, &w->kept, why);
    if (code == SEEN_OK)
        code = crawl_state_get(&w->state, "template", &template, why);
    if (code == SEEN_OK && template)
        code = crawl_template_new(&w->template, template, strlen(template),
                                  NULL, NULL, why);
    if (code == SEEN_OK && w->template)
        code = crawl_template_fill_in(w->template, &w->settings, why);
    free(template);
    if (code == SEEN_OK)
        code = crawl_settings_complete(&w->settings, why);
    if (code == SEEN_OK)
        code = crawl_scope_new(&w->scope, &w->settings, why);
    if (code == SEEN_OK)
        code = crawl_state_starts(&w->state, widen, w, why);
    if (code == SEEN_OK)
        code = explain(w, why);
    *fetched = w->fetched;
    crawl_scope_free(w->scope);
    crawl_template_free(w->template);
    if (w->state.folder)
        crawl_state_close(&w->state);
    crawl_settings_forget(w->kept);
    free(kept);
    free(w);
    return code;
}
