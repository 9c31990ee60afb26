/*
 * crawl.c - seen crawl: fetch politely what has not been seen.
 *
 *     $ seen crawl --into site https://a.example/ --contact https://me.example
 *     $ seen crawl status site
 *     $ seen crawl why site https://a.example/private/
 *     $ seen crawl prune site --from results.jsonl
 */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../crawl/folder/folder.h"
#include "../crawl/folder/prune.h"
#include "../crawl/folder/report.h"
#include "../lib/text/number.h"
#include "crawl_run.h"
#include "json.h"
#include "output.h"

enum { HOSTS_SHOWN = 10, RECOVERED_SHOWN = 20 };

/* --- the report --- */

static const char *date_of(int64_t ms)
{
    static char text[2][32];
    static int turn;
    time_t at = (time_t)(ms / 1000);
    struct tm t;

    turn = !turn;
    gmtime_r(&at, &t);
    strftime(text[turn], sizeof text[turn], "%Y-%m-%d %H:%M:%S", &t);
    return text[turn];
}

static void show_outcomes(const struct crawl_report *r)
{
    static const struct {
        enum crawl_outcome outcome;
        const char *words;
    } order[] = {
        { CRAWL_STORED, "stored" },       { CRAWL_UNCHANGED, "unchanged" },
        { CRAWL_REDIRECT, "redirected" }, { CRAWL_ERROR, "with errors" },
        { CRAWL_LOOP, "in loops" },       { CRAWL_FAILED, "failed" },
    };
    bool first = true;

    output_format("pages         %s", show_count((uint64_t)r->pages));
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        int64_t n = r->outcome[order[i].outcome];

        if (!n)
            continue;
        output_format("%s %s %s", first ? ":" : ",", show_count((uint64_t)n),
                      order[i].words);
        first = false;
    }
    output_text("\n");
}

/* What is in scope, was found, and is not fetched for a reason. */
static bool left_out(const struct crawl_report *r)
{
    int64_t n = r->outcome[CRAWL_ROBOTS] + r->outcome[CRAWL_SKIPPED] +
                r->outcome[CRAWL_FAILED] + r->outcome[CRAWL_ASIDE];

    for (int i = 0; i < CRAWL_LEFT_LINKS; i++)
        if (i != CRAWL_LEFT_SCOPE)
            n += r->left_out[i];
    return n > 0;
}

/* Links, not pages: one that is on ten pages counts ten times. */
static void show_left_out(const struct crawl_report *r)
{
    static const char *const words[CRAWL_LEFT_LINKS] = {
        "out of scope",      "like traps",
        "with nofollow",     "that no rule of the template follows",
        "below --threshold", "undecided, since a pattern was too costly"
    };

    output_format("; links: %s %s",
                  show_count((uint64_t)r->left_out[CRAWL_LEFT_SCOPE]),
                  words[CRAWL_LEFT_SCOPE]);
    for (int i = CRAWL_LEFT_SCOPE + 1; i < CRAWL_LEFT_LINKS; i++)
        if (r->left_out[i] || i == CRAWL_LEFT_TRAP)
            output_format(", %s %s", show_count((uint64_t)r->left_out[i]),
                          words[i]);
    output_text("\n");
}

/* Was everything in scope covered? If not, what is left, and why? */
static void show_coverage(const struct crawl_report *r)
{
    if (!r->waiting && !r->left)
        output_format("covered       everything in scope that was found%s%s\n",
                      r->running ? " so far" : "",
                      left_out(r) ? ", except what the next lines count" : "");
    if (r->not_due)
        output_format("not due       %s of earlier visits; the next one in "
                      "%s\n",
                      show_counted((uint64_t)r->not_due, "page"),
                      show_time((double)(r->next_due - r->now) / 1000));
    if (r->waiting)
        output_format("waiting       %s\n",
                      show_counted((uint64_t)r->waiting, "page"));
    if (r->left)
        output_format("left          %s, at hosts or ports that are not asked "
                      "any more%s\n",
                      show_counted((uint64_t)r->left, "page"),
                      r->running ? "" : "; the same command asks again");
    output_format("not fetched   %s by robots.txt",
                  show_count((uint64_t)r->outcome[CRAWL_ROBOTS]));
    if (r->outcome[CRAWL_SKIPPED])
        output_format(
            ", %s held by --skip, about %s",
            show_count((uint64_t)r->outcome[CRAWL_SKIPPED]),
            show_bytes((uint64_t)(r->outcome[CRAWL_SKIPPED] * r->mean_size)));
    if (r->outcome[CRAWL_ASIDE])
        output_format(", %s set aside, since reading them killed the process",
                      show_count((uint64_t)r->outcome[CRAWL_ASIDE]));
    if (r->unasked)
        output_format("; --skip did not answer for %s, which were fetched",
                      show_counted((uint64_t)r->unasked, "page"));
    show_left_out(r);
    if (r->copies || r->copies_lost)
        output_format("copies        %s read for links that the visit before "
                      "lost; %s not there any more, or damaged\n",
                      show_count((uint64_t)r->copies),
                      show_count((uint64_t)r->copies_lost));
    if (r->costly)
        output_format("cost          %s too much to be read as a whole; "
                      "crawl.log names them\n",
                      show_counted((uint64_t)r->costly, "page"));
    for (size_t i = 0; i < r->trap_reasons; i++)
        output_format("trap          %s: %s\n",
                      show_counted((uint64_t)r->trap[i].links, "link"),
                      r->trap[i].reason);
}

static void show_cache(const struct crawl_report *r)
{
    output_format("links         %s, of which %s were new\n",
                  show_count((uint64_t)r->links),
                  show_count((uint64_t)r->fresh));
    if (r->rate < 0)
        return;
    output_format("cache         %s, seed %llu, rate now %s; ", r->cache,
                  (unsigned long long)r->visit.seed, show_rate(r->rate));
    if (r->visit.expected < 0.005)
        output_text("no page is expected to be lost\n");
    else
        output_format("expected to have lost %.2g pages, and what only they "
                      "link to\n",
                      r->visit.expected);
    if (r->discovered)
        output_format("discovered    %s that some parts of the cache gave "
                      "alone\n",
                      show_counted((uint64_t)r->discovered, "false positive"));
    if (r->audited)
        output_format("audit         %s of %s new URLs were taken for old "
                      "ones: %s (95 %%: %s to %s)\n",
                      show_count((uint64_t)r->mistaken),
                      show_count((uint64_t)r->audited),
                      show_rate((double)r->mistaken / (double)r->audited),
                      show_rate(r->audit[0]), show_rate(r->audit[1]));
    for (size_t i = 0; i < r->recovered_n && i < RECOVERED_SHOWN; i++)
        output_format("lost before   %s\n", r->recovered[i]);
    if (r->recoveries > RECOVERED_SHOWN)
        output_format("lost before   and %s more\n",
                      show_count((uint64_t)r->recoveries - RECOVERED_SHOWN));
}

static void show_hosts(const struct crawl_report *r)
{
    size_t shown = r->hosts < HOSTS_SHOWN ? r->hosts : HOSTS_SHOWN;

    for (size_t i = 0; i < shown; i++) {
        const struct crawl_report_host *h = &r->host[i];

        output_format("host          %s: %s, %s, %s", h->name,
                      show_counted((uint64_t)h->requests, "request"),
                      show_counted((uint64_t)h->fetched, "page"),
                      show_bytes((uint64_t)h->bytes));
        if (h->freshness.pages)
            output_format(", %s current",
                          show_percent(crawl_freshness_now(&h->freshness)));
        if (h->queued)
            output_format(", %s waiting", show_count((uint64_t)h->queued));
        if (*h->stopped)
            output_format("; not asked any more: %s", h->stopped);
        else if (h->queued && h->due > r->now)
            output_format("; due in %s",
                          show_time((double)(h->due - r->now) / 1000));
        output_text("\n");
    }
    if (r->hosts > shown)
        output_format("host          and %s more\n",
                      show_count(r->hosts - shown));
}

static void show_freshness(const struct crawl_freshness *f)
{
    if (!f->pages)
        return;
    output_format("freshness     %s of the copies are expected to be current "
                  "now, %s until they are asked again; confirmed %s ago",
                  show_percent(crawl_freshness_now(f)),
                  show_percent(crawl_freshness_later(f)),
                  show_time(crawl_freshness_age(f)));
    if (f->unknown)
        output_format("; %s asked once only",
                      show_counted((uint64_t)f->unknown, "page"));
    output_text("\n");
}

/* What would --revisit find now? Or for what does a continuous crawl wait? */
static void show_due(const struct crawl_report *r)
{
    if (r->first_due == INT64_MAX || (r->running && r->waiting))
        return;
    if (r->due)
        output_format("due           %s now\n",
                      show_counted((uint64_t)r->due, "known page"));
    else
        output_format(
            "due           no known page now; the next one on %s, in "
            "%s\n",
            date_of(r->first_due),
            show_time((double)(r->first_due - r->now) / 1000));
}

static void show_text(const struct crawl_report *r)
{
    output_format("visit         %lld, began %s, %s\n", (long long)r->visit.id,
                  date_of(r->visit.began),
                  r->visit.ended && r->left ? "ended"
                  : r->visit.ended ? "ended; --revisit begins the next"
                  : r->running     ? "runs"
                                   : "stopped; the same command goes on");
    show_outcomes(r);
    show_coverage(r);
    show_cache(r);
    output_format("spent         %s, %s",
                  show_counted((uint64_t)r->requests, "request"),
                  show_bytes((uint64_t)r->bytes));
    if (r->saved_bytes)
        output_format("; conditional requests saved %s",
                      show_bytes((uint64_t)r->saved_bytes));
    output_text("\n");
    show_due(r);
    show_freshness(&r->freshness);
    show_hosts(r);
}

static void show_json_freshness(const struct crawl_freshness *f)
{
    if (!f->pages)
        return;
    cmd_json_number("freshness", crawl_freshness_now(f));
    cmd_json_number("freshness_until_due", crawl_freshness_later(f));
    cmd_json_number("expected_stale", crawl_freshness_stale(f));
    cmd_json_number("age", crawl_freshness_age(f));
}

static void show_json_hosts(const struct crawl_report *r)
{
    cmd_json_open("hosts", '[');
    for (size_t i = 0; i < r->hosts; i++) {
        const struct crawl_report_host *h = &r->host[i];

        cmd_json_open(NULL, '{');
        cmd_json_word("host", h->name);
        cmd_json_count("requests", (uint64_t)h->requests);
        cmd_json_count("pages", (uint64_t)h->fetched);
        cmd_json_count("bytes", (uint64_t)h->bytes);
        cmd_json_count("waiting", (uint64_t)h->queued);
        cmd_json_number("due", (double)h->due / 1000);
        if (*h->stopped)
            cmd_json_word("stopped", h->stopped);
        show_json_freshness(&h->freshness);
        cmd_json_shut('}');
    }
    cmd_json_shut(']');
}

static const char *const left_out_names[CRAWL_LEFT_LINKS] = {
    "out_of_scope", "traps",           "nofollow",
    "no_rule",      "below_threshold", "undecided"
};

static void show_json(const struct crawl_report *r)
{
    cmd_json_open(NULL, '{');
    cmd_json_flag("running", r->running);
    cmd_json_open("visit", '{');
    cmd_json_count("number", (uint64_t)r->visit.id);
    cmd_json_word("name", r->visit.name);
    cmd_json_count("seed", r->visit.seed);
    cmd_json_number("began", (double)r->visit.began / 1000);
    if (r->visit.ended)
        cmd_json_number("ended", (double)r->visit.ended / 1000);
    else
        cmd_json_null("ended");
    cmd_json_shut('}');
    cmd_json_count("pages", (uint64_t)r->pages);
    for (int i = 0; i < CRAWL_OUTCOMES; i++)
        cmd_json_count(crawl_outcome_names[i], (uint64_t)r->outcome[i]);
    cmd_json_flag("covered", !r->waiting && !r->left);
    cmd_json_count("waiting", (uint64_t)r->waiting);
    cmd_json_count("left", (uint64_t)r->left);
    cmd_json_count("not_due", (uint64_t)r->not_due);
    cmd_json_count("due", (uint64_t)r->due);
    cmd_json_count("copies_read", (uint64_t)r->copies);
    cmd_json_count("copies_lost", (uint64_t)r->copies_lost);
    cmd_json_count("links", (uint64_t)r->links);
    cmd_json_count("new_links", (uint64_t)r->fresh);
    for (int i = 0; i < CRAWL_LEFT_LINKS; i++)
        cmd_json_count(left_out_names[i], (uint64_t)r->left_out[i]);
    cmd_json_open("trap_reasons", '{');
    for (size_t i = 0; i < r->trap_reasons; i++)
        cmd_json_count(r->trap[i].reason, (uint64_t)r->trap[i].links);
    cmd_json_shut('}');
    cmd_json_count("requests", (uint64_t)r->requests);
    cmd_json_count("bytes", (uint64_t)r->bytes);
    cmd_json_count("saved_bytes", (uint64_t)r->saved_bytes);
    cmd_json_count("skipped_bytes",
                   (uint64_t)(r->outcome[CRAWL_SKIPPED] * r->mean_size));
    cmd_json_count("unasked", (uint64_t)r->unasked);
    cmd_json_count("costly", (uint64_t)r->costly);
    cmd_json_number("expected_lost", r->visit.expected);
    if (r->rate >= 0) {
        cmd_json_word("cache", r->cache);
        cmd_json_number("rate", r->rate);
    }
    cmd_json_count("discovered", (uint64_t)r->discovered);
    cmd_json_count("audited", (uint64_t)r->audited);
    cmd_json_count("mistaken", (uint64_t)r->mistaken);
    if (r->audited) {
        cmd_json_number("measured_rate",
                        (double)r->mistaken / (double)r->audited);
        cmd_json_open("measured_band", '[');
        cmd_json_number(NULL, r->audit[0]);
        cmd_json_number(NULL, r->audit[1]);
        cmd_json_shut(']');
    }
    cmd_json_count("recovered", (uint64_t)r->recoveries);
    cmd_json_open("lost_before", '[');
    for (size_t i = 0; i < r->recovered_n; i++)
        cmd_json_word(NULL, r->recovered[i]);
    cmd_json_shut(']');
    if (r->first_due != INT64_MAX)
        cmd_json_number("first_due", (double)r->first_due / 1000);
    show_json_freshness(&r->freshness);
    show_json_hosts(r);
    cmd_json_shut('}');
}

static enum outcome status(const char *folder, bool json)
{
    struct crawl_report r;
    struct seen_error why;

    if (crawl_report_read(&r, folder, &why) != SEEN_OK)
        return trouble_with(folder, &why);
    if (json)
        show_json(&r);
    else
        show_text(&r);
    crawl_report_clear(&r);
    return YES;
}

static enum outcome explain(const char *folder, char **url, bool json)
{
    char answer[CRAWL_WHY];
    enum outcome out = YES;
    struct seen_error why;
    bool fetched;

    for (; *url; url++) {
        if (crawl_why(folder, *url, &fetched, answer, &why) != SEEN_OK)
            return trouble_with(why.code == SEEN_BAD_URL ? *url : folder,
                                &why);
        if (json) {
            cmd_json_open(NULL, '{');
            cmd_json_word("url", *url);
            cmd_json_flag("fetched", fetched);
            cmd_json_word("why", answer);
            cmd_json_shut('}');
        } else {
            output_format("%s: %s\n", *url, answer);
        }
        if (!fetched)
            out = NO;
    }
    return out;
}

/* --- pages that are gone --- */

static void show_pruned(const struct crawl_pruned *p, bool dry)
{
    if (p->bad)
        warning("%s of the results %s not an answer; left out",
                show_counted(p->bad, "line"), p->bad == 1 ? "is" : "are");
    output_format(
        "%s %s: %s of pages.jsonl, %s of index.cdxj\n",
        dry ? "would drop" : "dropped", show_counted(p->pages, "page"),
        show_counted(p->records, "line"), show_counted(p->captures, "line"));
    if (p->returned)
        output_format("kept %s that %s fetched again since\n",
                      show_counted(p->returned, "page"),
                      p->returned == 1 ? "was" : "were");
    if (p->removed > p->pages + p->returned)
        output_format(
            "not in the crawl, or dropped before: %s\n",
            show_counted(p->removed - p->pages - p->returned, "page"));
}

static void show_pruned_json(const struct crawl_pruned *p, bool dry)
{
    cmd_json_open(NULL, '{');
    cmd_json_flag("dry_run", dry);
    cmd_json_count("answers", p->answers);
    cmd_json_count("bad", p->bad);
    cmd_json_count("removed", p->removed);
    cmd_json_count("returned", p->returned);
    cmd_json_count("pages", p->pages);
    cmd_json_count("records", p->records);
    cmd_json_count("captures", p->captures);
    cmd_json_shut('}');
}

static enum outcome prune(const char *folder, const struct crawl_settings *s)
{
    struct crawl_pruned done;
    struct seen_error why;

    if (!s->from)
        return trouble("--from is missing; usage: seen crawl prune DIR --from "
                       "results.jsonl");
    if (crawl_prune(folder, s->from, s->dry_run, &done, &why) != SEEN_OK)
        return trouble_with(folder, &why);
    if (s->json)
        show_pruned_json(&done, s->dry_run);
    else if (!s->quiet)
        show_pruned(&done, s->dry_run);
    return YES;
}

/* --- a run --- */

/* By the crawl's clock, which --clock may have set. */
static void show_nothing_due(int64_t now, int64_t next)
{
    if (next == INT64_MAX)
        output_text("nothing is due: no page is known\n");
    else
        output_format("nothing is due before %s, in %s; no visit began. "
                      "--revisit all asks for every known page now\n",
                      date_of(next), show_time((double)(next - now) / 1000));
}

static enum outcome crawl(struct crawl_settings *settings, char **start)
{
    struct seen_error why;
    enum seen_code code;
    int64_t now, next;
    struct crawl *c;
    bool nothing;

    if (!settings->into)
        return trouble("--into DIR is missing; usage: seen crawl %s",
                       cmd_crawl.synopsis);
    if (crawl_open(&c, settings, start, &cmd_crawl_hooks, &why) != SEEN_OK)
        return trouble_with(settings->into, &why);
    nothing = crawl_found_nothing_due(c, &now, &next);
    code = cmd_crawl_run(c, "crawl", crawl_run, &why);
    crawl_close(c);
    if (code != SEEN_OK)
        return trouble_with(settings->into, &why);
    if (nothing && !settings->json && !settings->quiet)
        show_nothing_due(now, next);
    return settings->quiet ? YES : status(settings->into, settings->json);
}

static enum outcome run_status(void *settings, char **operand)
{
    const struct crawl_settings *s = settings;

    return status(*operand, s->json);
}

static enum outcome run_why(void *settings, char **operand)
{
    const struct crawl_settings *s = settings;

    return explain(*operand, operand + 1, s->json);
}

static enum outcome run_prune(void *settings, char **operand)
{
    return prune(*operand, settings);
}

static const struct command_part parts[] = {
    { "status", "DIR", 1, 1, " json quiet ", run_status },
    { "why", "DIR URL...", 2, -1, " json quiet ", run_why },
    { "prune", "DIR --from results.jsonl", 1, 1, " from dry-run json quiet ",
      run_prune },
    { .name = NULL }
};

static enum outcome run(void *settings, char **operand)
{
    struct crawl_settings *s = settings;

    if (s->from || s->dry_run)
        return trouble("--from and --dry-run are for seen crawl prune");
    return crawl(s, operand);
}

const struct command cmd_crawl = {
    .name = "crawl",
    .summary = "fetch politely what has not been seen",
    .synopsis = "--into DIR [URL...] | status|why|prune DIR ...",
    .most = -1,
    .settings = sizeof(struct crawl_settings),
    .options = crawl_options,
    .about =
        "Fetches the start URLs and the pages that they link to, each once, "
        "and keeps them in a folder: warc/*.warc.gz with index.cdxj, "
        "pages.jsonl with a record per page, crawl.log with a line per URL in "
        "the columns of Heritrix. A filter remembers which links were seen.\n"
        "\n"
        "The same command on the same folder goes on where it ended, however "
        "it ended: every page is stored exactly once. --revisit begins the "
        "next visit: the start URLs and the known pages that are due, with "
        "conditional requests, and with another seed of the filter, so that "
        "two visits do not lose the same pages. A page that is not due costs "
        "no request, whatever links to it; if none is due, no visit begins. "
        "--revisit all asks for every known page.\n"
        "\n"
        "robots.txt is obeyed. A host gets one request at a time, and the "
        "next one after a delay. Only public addresses are connected to, "
        "unless --allow or --allow-private is given.\n"
        "\n"
        "seen crawl status DIR reports what a crawl did, what it waits for and "
        "what is left. seen crawl why DIR URL reports whether a URL was "
        "fetched, and if not, which rule or answer kept it out.\n"
        "\n"
        "seen crawl prune DIR --from results.jsonl drops the pages that seen "
        "classify calls removed from pages.jsonl and index.cdxj. The WARC "
        "files keep their responses. A page that was fetched again since is "
        "kept. It is refused while a crawl runs, and may be repeated.\n",
    .exits = "0 if all is well; for why: 0 if all were fetched, 1 if one was "
             "not. 2 if something went wrong.",
    .examples = "$ seen crawl --into site https://a.example/ --contact "
                "https://me.example/\n"
                "$ seen crawl status site\n"
                "$ seen crawl why site https://a.example/private/\n"
                "$ seen crawl prune site --from results.jsonl --dry-run\n",
    .parts = parts,
    .run = run,
};
