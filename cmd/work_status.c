/*
 * work_status.c - seen work status, as a table and as JSON.
 *
 *     workers       2
 *     worker        a:4711: 12 hosts, 3,104 pages, 41 per second
 *     visit         news@1767225600: runs for 2 min; 3,104 pages, 210 waiting
 *     host          b.example: 12 waiting; due in 2.5 s
 */
#include "work_status.h"

#include <stdlib.h>
#include <string.h>

#include "../frontier/status.h"
#include "../lib/text/number.h"
#include "json.h"
#include "output.h"

enum { SHOWN = 10, LISTED = 1000, WORDS = 160 };

static const char *const states[] = { "running", "ending", "ended",
                                      "coalesced" };

static int width(struct seen_span text)
{
    return text.len < 200 ? (int)text.len : 200;
}

/* --- text --- */

static bool show_worker(void *owner, const struct frontier_status_worker *w)
{
    (void)owner;
    output_format("worker        %.*s: %s, %s, %.3g per second",
                  width(w->name), w->name.text,
                  show_counted((uint64_t)w->hosts, "host"),
                  show_counted((uint64_t)w->pages, "page"), w->rate);
    if (w->ends_in < 0)
        output_format("; its lease ended %s ago",
                      show_time((double)-w->ends_in / 1000));
    output_text("\n");
    return true;
}

static bool show_visit(void *owner, const struct frontier_visit *v)
{
    (void)owner;
    output_format("visit         %.*s: %s", width(v->visit), v->visit.text,
                  states[v->state]);
    if (v->state == FRONTIER_ENDED && v->ended_ago >= 0)
        output_format(" %s ago", show_time((double)v->ended_ago / 1000));
    else if (v->state != FRONTIER_COALESCED && v->began_ago >= 0)
        output_format(" for %s", show_time((double)v->began_ago / 1000));
    output_format("; %s", show_counted((uint64_t)v->fetched, "page"));
    if (v->state == FRONTIER_RUNNING)
        output_format(", %s waiting, %.3g per second",
                      show_count((uint64_t)v->queued),
                      frontier_status_rate(v));
    if (v->failed > 0)
        output_format(", %s failed", show_count((uint64_t)v->failed));
    if (v->excluded > 0)
        output_format(", %s kept out by robots.txt",
                      show_count((uint64_t)v->excluded));
    if (v->left > 0)
        output_format(", %s left", show_count((uint64_t)v->left));
    if (v->not_due > 0)
        output_format(", %s not due", show_count((uint64_t)v->not_due));
    output_text("\n");
    return true;
}

static bool show_host(void *owner, const struct frontier_status_host *h)
{
    char words[WORDS];

    (void)owner;
    frontier_status_words(h, words, sizeof words);
    output_format("host          %.*s: %s waiting, %s; %s", width(h->name),
                  h->name.text, show_count((uint64_t)h->queued),
                  show_counted((uint64_t)h->fetched, "page"), words);
    if (h->note.len)
        output_format("; last error: %.*s", width(h->note), h->note.text);
    output_text("\n");
    return true;
}

static bool show_aside(void *owner, struct seen_span url,
                       struct seen_span visit)
{
    (void)owner;
    output_format(
        "aside         %.*s: it killed the workers that read it%s%.*s\n",
        width(url), url.text, visit.len ? "; " : "", width(visit), visit.text);
    return true;
}

static enum seen_code show_text(struct frontier_status *s,
                                struct seen_error *why)
{
    struct frontier_status_sums sums;
    enum seen_code code = frontier_status_sum(s, &sums, why);

    if (code != SEEN_OK)
        return code;
    output_format("workers       %s\n", show_count((uint64_t)sums.workers));
    code = frontier_status_workers(s, SHOWN, show_worker, NULL, why);
    output_format("visits        %s that run or end\n",
                  show_count((uint64_t)sums.visits));
    if (code == SEEN_OK)
        code = frontier_status_visits(s, SHOWN, show_visit, NULL, why);
    output_format("waiting       %s\n",
                  show_counted((uint64_t)sums.queued, "page"));
    for (int i = 0; i < FRONTIER_WAITS; i++)
        if (sums.hosts[i] && i != FRONTIER_WAIT_NOTHING)
            output_format("hosts         %s: %s\n",
                          show_count((uint64_t)sums.hosts[i]),
                          frontier_wait_names[i]);
    if (code == SEEN_OK)
        code = frontier_status_hosts(s, SHOWN, show_host, NULL, why);
    if (sums.aside)
        output_format("set aside     %s; seen work --retry-aside\n",
                      show_counted((uint64_t)sums.aside, "page"));
    return code == SEEN_OK
               ? frontier_status_aside(s, SHOWN, show_aside, NULL, why)
               : code;
}

/* --- JSON --- */

static void json_text(const char *name, struct seen_span text)
{
    char word[WORDS];
    size_t n = text.len < sizeof word - 1 ? text.len : sizeof word - 1;

    memcpy(word, text.text, n);
    word[n] = '\0';
    cmd_json_word(name, word);
}

static bool list_worker(void *owner, const struct frontier_status_worker *w)
{
    (void)owner;
    cmd_json_open(NULL, '{');
    json_text("name", w->name);
    cmd_json_known("number", w->number);
    cmd_json_flag("alive", w->ends_in >= 0);
    cmd_json_number("lease_ends_in", (double)w->ends_in / 1000);
    cmd_json_known("hosts", w->hosts);
    cmd_json_known("pages", w->pages);
    cmd_json_known("links", w->links);
    cmd_json_known("bytes", w->bytes);
    cmd_json_known("commits", w->commits);
    cmd_json_number("pages_per_second", w->rate);
    cmd_json_shut('}');
    return true;
}

static bool list_visit(void *owner, const struct frontier_visit *v)
{
    (void)owner;
    cmd_json_open(NULL, '{');
    json_text("visit", v->visit);
    json_text("name", v->name);
    cmd_json_word("state", states[v->state]);
    cmd_json_known("fetched", v->fetched);
    cmd_json_known("waiting", v->queued);
    cmd_json_known("failed", v->failed);
    cmd_json_known("excluded", v->excluded);
    cmd_json_known("left", v->left);
    cmd_json_known("not_due", v->not_due);
    cmd_json_known("links", v->links);
    cmd_json_known("bytes", v->bytes);
    cmd_json_known("records", v->records);
    cmd_json_known("shards", v->shards);
    cmd_json_number("seconds", (double)v->began_ago / 1000);
    cmd_json_number("pages_per_second", frontier_status_rate(v));
    cmd_json_shut('}');
    return true;
}

static bool list_host(void *owner, const struct frontier_status_host *h)
{
    char words[WORDS];

    (void)owner;
    frontier_status_words(h, words, sizeof words);
    cmd_json_open(NULL, '{');
    json_text("host", h->name);
    json_text("address", h->address);
    cmd_json_known("waiting", h->queued);
    cmd_json_known("fetched", h->fetched);
    cmd_json_known("requests", h->requests);
    cmd_json_known("failures", h->failures);
    cmd_json_number("due_in", (double)h->due_in / 1000);
    json_text("worker", h->by);
    cmd_json_word("state", frontier_wait_names[h->wait]);
    cmd_json_word("waits_for", words);
    json_text("error", h->note);
    cmd_json_shut('}');
    return true;
}

static bool list_aside(void *owner, struct seen_span url,
                       struct seen_span visit)
{
    char *text = strndup(url.text, url.len);

    (void)owner;
    cmd_json_open(NULL, '{');
    cmd_json_word("url", text ? text : "");
    json_text("visit", visit);
    cmd_json_shut('}');
    free(text);
    return true;
}

static enum seen_code show_json(struct frontier_status *s,
                                struct seen_error *why)
{
    enum seen_code code;

    cmd_json_open(NULL, '{');
    cmd_json_open("workers", '[');
    code = frontier_status_workers(s, LISTED, list_worker, NULL, why);
    cmd_json_shut(']');
    cmd_json_open("visits", '[');
    if (code == SEEN_OK)
        code = frontier_status_visits(s, LISTED, list_visit, NULL, why);
    cmd_json_shut(']');
    cmd_json_open("hosts", '[');
    if (code == SEEN_OK)
        code = frontier_status_hosts(s, LISTED, list_host, NULL, why);
    cmd_json_shut(']');
    cmd_json_open("aside", '[');
    if (code == SEEN_OK)
        code = frontier_status_aside(s, LISTED, list_aside, NULL, why);
    cmd_json_shut(']');
    cmd_json_shut('}');
    return code;
}

enum outcome cmd_work_status(const char *where, bool json)
{
    struct frontier_status *s;
    struct seen_error why;
    enum seen_code code = frontier_status_open(&s, where, &why);

    if (code == SEEN_OK) {
        if (frontier_status_away(s))
            warning("not counted: %s", frontier_status_away(s));
        code = json ? show_json(s, &why) : show_text(s, &why);
        frontier_status_close(s);
    }
    return code == SEEN_OK ? YES : trouble("%s", why.text);
}
