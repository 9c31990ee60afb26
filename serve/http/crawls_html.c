/*
 * crawls_html.c - the page for operators.
 *
 * It is complete as it comes: without JavaScript a reload shows new numbers.
 * page/crawls.js fetches the same page again and changes what differs. What
 * needs help comes first: crawls that cannot be read, visits that nobody works
 * on, hosts that are stopped, dead letters.
 */
#include "crawls.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "../../lib/text/number.h"
#include "../../lib/text/percent.h"
#include "html.h"

/* --- words --- */

static const char *count(int64_t n)
{
    return show_count(n > 0 ? (uint64_t)n : 0);
}

static const char *counted(int64_t n, const char *noun)
{
    return show_counted(n > 0 ? (uint64_t)n : 0, noun);
}

/* In whole seconds: the text lives until the next one is written. */
static const char *duration(int64_t ms)
{
    static _Thread_local char text[24];

    if (ms >= 60000)
        return show_time((double)(ms / 1000));
    if (ms < 1000)
        return "less than 1 s";
    snprintf(text, sizeof text, "%d s", (int)(ms / 1000));
    return text;
}

static void put_speed(struct buffer *o, double rate)
{
    if (rate < 0)
        buffer_text(o, "–");
    else if (rate < 9.95)
        buffer_format(o, "%.*f", rate < 0.095 && rate > 0 ? 2 : 1, rate);
    else
        buffer_text(o, show_count((uint64_t)(rate + 0.5)));
}

static void put_speeds(struct buffer *o, double rate, double mean)
{
    put_speed(o, rate);
    if (mean < 0)
        return;
    buffer_text(o, "<span class=\"small\">mean ");
    put_speed(o, mean);
    buffer_text(o, "</span>");
}

/* A part of a whole, drawn, with words for those who cannot see it. */
static void put_bar(struct buffer *o, int64_t part, int64_t whole)
{
    double share = whole > 0 ? (double)part / (double)whole : 0;

    share = fmin(1, fmax(0, share));
    buffer_format(o,
                  "<svg class=\"bar\" role=\"img\" aria-label=\"%.0f %% of "
                  "what was found\" viewBox=\"0 0 100 12\" "
                  "preserveAspectRatio=\"none\"><rect class=\"track\" y=\"2\" "
                  "width=\"100\" height=\"8\"/><rect class=\"part\" y=\"2\" "
                  "width=\"%.1f\" height=\"8\"/></svg>",
                  floor(share * 100), share * 100);
}

/* --- pieces --- */

static void begin_page(struct buffer *o, const char *up, const char *title,
                       int64_t as_of, bool search)
{
    const struct html_page page = { .up = up,
                                    .title = title,
                                    .style = "crawls.css",
                                    .script = "crawls.js",
                                    .crawls = true,
                                    .search = search };

    html_begin(o, &page);
    buffer_text(o, "<h1>");
    html_put(o, title);
    buffer_text(o, "</h1>\n<p class=\"refresh\"><span>As of ");
    html_date(o, as_of);
    buffer_text(o, "</span> <button id=\"pause\" type=\"button\" "
                   "class=\"quiet\" aria-pressed=\"false\" data-keep hidden>"
                   "Pause updates</button> <span id=\"note\" role=\"status\" "
                   "data-keep></span></p>\n"
                   "<noscript><p class=\"hint\">Reload the page for new "
                   "numbers.</p></noscript>\n");
}

static void end_page(struct buffer *o, const char *json)
{
    html_end(o, json, ", and <code>/metrics</code>");
}

struct column {
    const char *name, *kind; /* a class; or NULL */
};

/* A table whose rows become cards on small screens. The roles are written
   out, since browsers drop them from elements that are laid out otherwise. */
static void begin_table(struct buffer *o, const char *labelled,
                        const struct column *column, size_t n)
{
    buffer_format(o,
                  "<table class=\"cards\" role=\"table\" aria-labelledby=\""
                  "%s\"><thead role=\"rowgroup\"><tr role=\"row\">",
                  labelled);
    for (size_t i = 0; i < n; i++)
        buffer_format(o,
                      "<th scope=\"col\" role=\"columnheader\" class=\"%s\">"
                      "%s</th>",
                      column[i].kind ? column[i].kind : "", column[i].name);
    buffer_text(o, "</tr></thead><tbody role=\"rowgroup\">\n");
}

static void end_table(struct buffer *o)
{
    buffer_text(o, "</tbody></table>\n");
}

static void begin_row(struct buffer *o)
{
    buffer_text(o, "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">");
}

/* The head of the row, or the last cell, ends and this one begins. */
static void next_cell(struct buffer *o, const struct column *column, size_t i)
{
    buffer_format(o,
                  "%s<td role=\"cell\" class=\"%s\" data-label=\"%s\"><div>",
                  i == 1 ? "</th>" : "</div></td>",
                  column[i].kind ? column[i].kind : "", column[i].name);
}

static void end_row(struct buffer *o)
{
    buffer_text(o, "</div></td></tr>\n");
}

static void begin_section(struct buffer *o, const char *id, const char *title)
{
    buffer_format(o,
                  "<section aria-labelledby=\"%s\"><h2 id=\"%s\" "
                  "tabindex=\"-1\">%s</h2>\n",
                  id, id, title);
}

static void end_section(struct buffer *o)
{
    buffer_text(o, "</section>\n");
}

static void put_state(struct buffer *o, const char *words, bool odd)
{
    buffer_format(o, "<span class=\"%s\">%s</span>", odd ? "state" : "calm",
                  words);
}

/* --- visits --- */

static const char *state_words(const struct watch_visit *v)
{
    static const char *const words[] = { "runs", "stopped", "is ending",
                                         "ended",
                                         "not begun: the last was running" };

    return words[v->state];
}

static const struct column visit_columns[] = {
    { "Visit", NULL },        { "State", NULL },
    { "Pages", "chart" },     { "Waiting", "number" },
    { "Failed", "number" },   { "Pages per second", "number" },
    { "Received", "number" },
};

static void put_progress(struct buffer *o, int64_t pages, int64_t waiting,
                         int64_t left)
{
    buffer_text(o, count(pages));
    if (pages + waiting + left > 0)
        put_bar(o, pages, pages + waiting + left);
}

static void put_visit(struct buffer *o, const struct watch_visit *v)
{
    begin_row(o);
    buffer_text(o, "<b>");
    html_put(o, v->name);
    buffer_text(o, "</b><span class=\"small\">began ");
    html_date(o, v->began);
    if (v->most)
        buffer_format(o, ", at most %s", counted(v->most, "page"));
    buffer_text(o, "</span>");
    next_cell(o, visit_columns, 1);
    put_state(o, state_words(v),
              v->state == WATCH_STOPPED && v->waiting + v->left > 0);
    next_cell(o, visit_columns, 2);
    put_progress(o, v->pages, v->waiting, v->left);
    if (v->records >= 0)
        buffer_format(o, "<span class=\"small\">%s</span>",
                      counted(v->records, "record"));
    next_cell(o, visit_columns, 3);
    buffer_text(o, count(v->waiting));
    if (v->left > 0)
        buffer_format(o, "<span class=\"small\">%s left</span>",
                      count(v->left));
    if (v->not_due > 0)
        buffer_format(o, "<span class=\"small\">%s not due</span>",
                      count(v->not_due));
    next_cell(o, visit_columns, 4);
    buffer_text(o, count(v->failed));
    if (v->excluded > 0)
        buffer_format(o, "<span class=\"small\">%s by robots.txt</span>",
                      count(v->excluded));
    next_cell(o, visit_columns, 5);
    put_speeds(o, v->rate, v->mean);
    next_cell(o, visit_columns, 6);
    buffer_text(o, v->bytes >= 0 ? show_bytes((uint64_t)v->bytes) : "–");
    end_row(o);
}

static void put_visits(struct buffer *o, const struct watch_crawl *c)
{
    if (!c->visits)
        return;
    begin_section(o, "visits", "Visits");
    begin_table(o, "visits", visit_columns,
                sizeof visit_columns / sizeof *visit_columns);
    for (size_t i = 0; i < c->visits; i++)
        put_visit(o, &c->visit[i]);
    end_table(o);
    end_section(o);
}

/* --- hosts --- */

static const struct column host_columns[] = {
    { "Host", NULL },      { "Waits for", NULL },    { "Waiting", "number" },
    { "Pages", "number" }, { "Requests", "number" }, { "Received", "number" },
};

static void put_small(struct buffer *o, const char *before, const char *text)
{
    buffer_format(o, "<span class=\"small\">%s", before);
    html_put(o, text);
    buffer_text(o, "</span>");
}

static void put_wait(struct buffer *o, const struct watch_crawl *c,
                     const struct watch_host *h)
{
    const bool failing = h->failures && h->wait != FRONTIER_WAIT_NOTHING &&
                         h->wait != FRONTIER_WAIT_STOPPED;

    if (failing) {
        put_state(o, "no answer", true);
        buffer_format(o, "<span class=\"small\">%s in a row</span>",
                      counted(h->failures, "failure"));
    }
    switch (h->wait) {
    case FRONTIER_WAIT_STOPPED:
        put_state(o, "not asked any more", true);
        break;
    case FRONTIER_WAIT_LEASE:
        put_state(o, "its worker died", true);
        put_small(o, "", h->by);
        break;
    case FRONTIER_WAIT_ADDRESS:
        put_small(o, "for the worker that asks its address: ", h->by);
        put_small(o, "address ", h->address);
        break;
    case FRONTIER_WAIT_TAKEN:
        if (!failing)
            buffer_text(o, h->wait_in ? "its pause to end" : "its turn");
        break;
    case FRONTIER_WAIT_DUE:
        if (!failing)
            buffer_text(o, "its pause to end");
        break;
    case FRONTIER_WAIT_WORKER:
        if (!failing)
            buffer_text(o, c->kind == WATCH_SHARED ? "a worker"
                           : c->runs               ? "its turn"
                                                   : "the crawl to go on");
        break;
    default: buffer_text(o, "nothing"); break;
    }
    if (*h->note)
        put_small(o, "", h->note);
    if (h->wait != FRONTIER_WAIT_TAKEN && h->wait_in <= 0)
        return;
    buffer_text(o, "<span class=\"small\">");
    if (h->wait == FRONTIER_WAIT_TAKEN) {
        buffer_text(o, "with worker ");
        html_put(o, h->by);
    }
    if (h->wait_in > 0)
        buffer_format(o, "%sdue in %s",
                      h->wait == FRONTIER_WAIT_TAKEN ? ", " : "",
                      duration(h->wait_in));
    buffer_text(o, "</span>");
}

static void put_host(struct buffer *o, const struct watch_crawl *c,
                     const struct watch_host *h)
{
    begin_row(o);
    buffer_text(o, "<b>");
    html_put(o, h->name);
    buffer_text(o, "</b>");
    next_cell(o, host_columns, 1);
    put_wait(o, c, h);
    next_cell(o, host_columns, 2);
    buffer_text(o, count(h->waiting));
    next_cell(o, host_columns, 3);
    buffer_text(o, count(h->pages));
    next_cell(o, host_columns, 4);
    buffer_text(o, count(h->requests));
    next_cell(o, host_columns, 5);
    buffer_text(o, show_bytes(h->bytes > 0 ? (uint64_t)h->bytes : 0));
    end_row(o);
}

static void put_turn(struct buffer *o, const struct crawls_hosts *hosts,
                     size_t from, const char *words)
{
    buffer_format(o, "<a href=\"?from=%zu", from);
    if (hosts->most != CRAWLS_HOSTS)
        buffer_format(o, "&amp;most=%zu", hosts->most);
    if (*hosts->host) {
        buffer_text(o, "&amp;host=");
        percent_encode(o, hosts->host, strlen(hosts->host), PERCENT_NAME);
    }
    buffer_format(o, "#hosts\">%s</a> ", words);
}

static void put_host_count(struct buffer *o, const struct watch_crawl *c)
{
    static const char *const words[FRONTIER_WAITS] = {
        [FRONTIER_WAIT_STOPPED] = "not asked any more",
        [FRONTIER_WAIT_LEASE] = "of a worker that died",
        [FRONTIER_WAIT_ADDRESS] = "waiting for their address",
        [FRONTIER_WAIT_TAKEN] = "with workers",
        [FRONTIER_WAIT_DUE] = "in their pause",
        [FRONTIER_WAIT_WORKER] = "due",
        [FRONTIER_WAIT_NOTHING] = "done",
    };
    const char *between = "";

    buffer_text(o, "<p class=\"small\">");
    for (int i = 0; i < FRONTIER_WAITS; i++) {
        if (c->hosts[i] <= 0)
            continue;
        buffer_format(o, "%s%s %s", between, count(c->hosts[i]), words[i]);
        between = ", ";
    }
    buffer_text(o, *between ? "." : "No host is known yet.");
    if (c->failing > 0)
        buffer_format(o, " %s gave no answer to the last request.",
                      counted(c->failing, "host"));
    if (c->aside > 0)
        buffer_format(o,
                      " %s set aside: reading killed the process each "
                      "time.",
                      counted(c->aside, "page"));
    buffer_text(o, "</p>\n");
}

static void put_find(struct buffer *o, const struct crawls_hosts *hosts)
{
    buffer_text(o, "<form class=\"find\" method=\"get\" action=\"#hosts\" "
                   "role=\"search\"><label for=\"host\">Find hosts</label>"
                   "<div class=\"field\"><input id=\"host\" name=\"host\" "
                   "type=\"search\" autocapitalize=\"off\" "
                   "autocomplete=\"off\" spellcheck=\"false\" data-keep "
                   "value=\"");
    html_put(o, hosts->host);
    buffer_text(o, "\"><button type=\"submit\">Find</button></div></form>\n");
}

static void put_hosts(struct buffer *o, const struct watch_crawl *c,
                      const struct crawls_hosts *hosts)
{
    const size_t end = hosts->from + hosts->most;
    int64_t all = 0;
    size_t found = 0;

    for (int i = 0; i < FRONTIER_WAITS; i++)
        all += c->hosts[i];
    begin_section(o, "hosts", "Hosts");
    put_host_count(o, c);
    if (c->listed > hosts->most || *hosts->host)
        put_find(o, hosts);
    begin_table(o, "hosts", host_columns,
                sizeof host_columns / sizeof *host_columns);
    for (size_t i = 0; i < c->listed; i++)
        if (crawls_wanted(hosts, &c->host[i]) && found++ >= hosts->from &&
            found <= end)
            put_host(o, c, &c->host[i]);
    end_table(o);
    if (!found)
        buffer_text(o, "<p>There is no such host.</p>\n");
    if (hosts->from || found > hosts->most) {
        buffer_text(o,
                    "<nav class=\"turn\" aria-label=\"Pages of hosts\"><p>");
        if (found > hosts->from)
            buffer_format(o, "%s to %s of %s. ",
                          count((int64_t)hosts->from + 1),
                          count((int64_t)(found < end ? found : end)),
                          counted((int64_t)found, "host"));
        if (hosts->from)
            put_turn(o, hosts,
                     hosts->from > hosts->most ? hosts->from - hosts->most : 0,
                     "Previous");
        if (found > end)
            put_turn(o, hosts, end, "Next");
        buffer_text(o, "</p></nav>\n");
    }
    if (all > (int64_t)c->listed)
        buffer_format(o,
                      "<p class=\"hint\">%s that need less are not listed."
                      "</p>\n",
                      counted(all - (int64_t)c->listed, "host"));
    end_section(o);
}

/* --- workers, queues, errors --- */

static void put_workers(struct buffer *o, const struct watch_crawl *c)
{
    static const struct column columns[] = {
        { "Worker", NULL },
        { "Lease", NULL },
        { "Hosts", "number" },
        { "Pages", "number" },
        { "Pages per second", "number" },
    };

    if (c->kind != WATCH_SHARED)
        return;
    begin_section(o, "workers", "Workers");
    if (!c->workers) {
        buffer_text(o, "<p>No worker is attached.</p>\n");
        end_section(o);
        return;
    }
    begin_table(o, "workers", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < c->workers; i++) {
        const struct watch_worker *w = &c->worker[i];

        begin_row(o);
        buffer_text(o, "<b>");
        html_put(o, w->name);
        buffer_format(o, "</b><span class=\"small\">number %" PRId64 "</span>",
                      w->number);
        next_cell(o, columns, 1);
        if (w->ends_in > 0)
            buffer_format(o, "for %s", duration(w->ends_in));
        else
            put_state(o, "has ended", w->hosts > 0);
        next_cell(o, columns, 2);
        buffer_text(o, count(w->hosts));
        next_cell(o, columns, 3);
        buffer_text(o, count(w->pages));
        next_cell(o, columns, 4);
        put_speeds(o, w->rate, w->mean);
        end_row(o);
    }
    end_table(o);
    end_section(o);
}

static const struct column queue_columns[] = {
    { "Queue", NULL },
    { "Ready", "number" },
    { "Taken", "number" },
    { "Later", "number" },
    { "Dead", "number" },
    { "Oldest", "number" },
    { "Done per second", "number" },
};

/* `of` is the crawl that it belongs to; or NULL. */
static void put_queue(struct buffer *o, const struct watch_queue *q,
                      const char *of)
{
    const int64_t n[] = { q->ready, q->taken, q->later };

    begin_row(o);
    buffer_text(o, "<b>");
    html_put(o, q->name);
    buffer_text(o, "</b>");
    if (of)
        put_small(o, "", of);
    for (size_t i = 0; i < 3; i++) {
        next_cell(o, queue_columns, i + 1);
        buffer_text(o, n[i] >= 0 ? count(n[i]) : "–");
    }
    next_cell(o, queue_columns, 4);
    if (q->dead > 0)
        put_state(o, count(q->dead), true);
    else
        buffer_text(o, q->dead < 0 ? "–" : "0");
    next_cell(o, queue_columns, 5);
    buffer_text(o, q->oldest < 0 ? "–" : duration(q->oldest));
    next_cell(o, queue_columns, 6);
    put_speed(o, q->rate);
    end_row(o);
}

static void put_queues(struct buffer *o, const struct watch_crawl *c)
{
    if (!c->queues)
        return;
    begin_section(o, "queues", "Queues");
    begin_table(o, "queues", queue_columns,
                sizeof queue_columns / sizeof *queue_columns);
    for (size_t i = 0; i < c->queues; i++)
        put_queue(o, &c->queue[i], NULL);
    end_table(o);
    end_section(o);
}

static void put_errors(struct buffer *o, const struct watch_crawl *c)
{
    static const struct column columns[] = { { "Page", NULL },
                                             { "Error", NULL },
                                             { "Time", NULL } };

    if (!c->errors)
        return;
    begin_section(o, "errors", "Last errors");
    begin_table(o, "errors", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < c->errors; i++) {
        begin_row(o);
        buffer_text(o, "<span class=\"url\">");
        html_put(o, c->error[i].url);
        buffer_text(o, "</span>");
        next_cell(o, columns, 1);
        html_put(o, c->error[i].text);
        next_cell(o, columns, 2);
        html_date(o, c->error[i].at);
        end_row(o);
    }
    end_table(o);
    end_section(o);
}

/* --- what needs help --- */

static void begin_need(struct buffer *o, bool *any,
                       const struct watch_seen *seen, bool link)
{
    if (!*any) {
        begin_section(o, "needs", "Needs a look");
        buffer_text(o, "<ul class=\"needs\">\n");
    }
    *any = true;
    buffer_text(o, "<li>");
    if (!link)
        return;
    buffer_text(o, "<a href=\"crawls/");
    percent_encode(o, seen->name, strlen(seen->name), PERCENT_NAME);
    buffer_text(o, "\">");
    html_put(o, seen->name);
    buffer_text(o, "</a>: ");
}

static void put_host_needs(struct buffer *o, bool *any,
                           const struct watch_seen *seen, bool link)
{
    const struct watch_crawl *c = seen->crawl;
    const int64_t stopped = c->hosts[FRONTIER_WAIT_STOPPED];
    const int64_t orphans = c->hosts[FRONTIER_WAIT_LEASE];

    if (stopped > 0) {
        begin_need(o, any, seen, link);
        buffer_format(o, "%s %s not asked any more", counted(stopped, "host"),
                      stopped == 1 ? "is" : "are");
        if (c->left > 0)
            buffer_format(o, "; %s %s left there", counted(c->left, "page"),
                          c->left == 1 ? "is" : "are");
        buffer_text(o, "</li>\n");
    }
    if (orphans > 0) {
        begin_need(o, any, seen, link);
        buffer_format(o, "%s %s with a worker that died</li>\n",
                      counted(orphans, "host"), orphans == 1 ? "is" : "are");
    }
}

/* One line per trouble; `link` if the page has other crawls, too. */
static void put_needs(struct buffer *o, bool *any,
                      const struct watch_seen *seen, bool link)
{
    const struct watch_crawl *c = seen->crawl;
    int64_t dead = 0;

    if (c->why) {
        begin_need(o, any, seen, link);
        buffer_text(o, "cannot be read: ");
        html_put(o, c->why);
        buffer_text(o, "</li>\n");
    }
    if (seen->late) {
        begin_need(o, any, seen, link);
        buffer_format(o, "no answer for %s; these numbers are older</li>\n",
                      duration((int64_t)seen->late));
    }
    for (size_t i = 0; i < c->visits; i++) {
        const struct watch_visit *v = &c->visit[i];

        if (v->state != WATCH_STOPPED || v->waiting + v->left <= 0)
            continue;
        begin_need(o, any, seen, link);
        buffer_text(o, "nobody works on visit ");
        html_put(o, v->name);
        buffer_format(o, "; %s %s</li>\n",
                      counted(v->waiting + v->left, "page"),
                      v->waiting + v->left == 1 ? "waits" : "wait");
    }
    put_host_needs(o, any, seen, link);
    for (size_t i = 0; i < c->queues; i++)
        dead += c->queue[i].dead > 0 ? c->queue[i].dead : 0;
    if (dead) {
        begin_need(o, any, seen, link);
        buffer_format(o, "%s</li>\n", counted(dead, "dead letter"));
    }
}

static void end_needs(struct buffer *o, bool any)
{
    if (!any)
        return;
    buffer_text(o, "</ul>\n");
    end_section(o);
}

/* --- all crawls --- */

static const struct column crawl_columns[] = {
    { "Crawl", NULL },      { "State", NULL },
    { "Pages", "chart" },   { "Waiting", "number" },
    { "Failed", "number" }, { "Pages per second", "number" },
    { "Hosts", "number" },
};

static void put_crawl_state(struct buffer *o, const struct watch_crawl *c)
{
    size_t go_on = 0;

    for (size_t i = 0; i < c->visits; i++)
        go_on += c->visit[i].state == WATCH_RUNS ||
                 c->visit[i].state == WATCH_ENDING;
    if (c->why)
        put_state(o, "cannot be read", true);
    else if (c->kind == WATCH_BROKER)
        put_state(o, counted((int64_t)c->queues, "queue"), false);
    else if (c->kind == WATCH_SHARED)
        put_state(o, go_on ? counted((int64_t)go_on, "visit") : "idle", false);
    else if (c->visits)
        put_state(o, state_words(&c->visit[0]),
                  c->visit[0].state == WATCH_STOPPED && c->waiting > 0);
    else
        buffer_text(o, "–");
}

/* A count that a broker does not have. */
static void put_crawl_count(struct buffer *o, const struct watch_crawl *c,
                            int64_t n)
{
    buffer_text(o, c->kind == WATCH_BROKER ? "–" : count(n));
}

static void put_crawl(struct buffer *o, const struct watch_seen *seen)
{
    const struct watch_crawl *c = seen->crawl;
    const int64_t trouble = c->hosts[FRONTIER_WAIT_STOPPED] +
                            c->hosts[FRONTIER_WAIT_LEASE] + c->failing;
    int64_t hosts = 0;

    for (int i = 0; i < FRONTIER_WAITS; i++)
        hosts += c->hosts[i];
    begin_row(o);
    buffer_text(o, "<b><a href=\"crawls/");
    percent_encode(o, seen->name, strlen(seen->name), PERCENT_NAME);
    buffer_text(o, "\">");
    html_put(o, seen->name);
    buffer_text(o, "</a></b><span class=\"small\">");
    html_put(o, c->where);
    buffer_text(o, "</span>");
    next_cell(o, crawl_columns, 1);
    put_crawl_state(o, c);
    next_cell(o, crawl_columns, 2);
    if (c->kind == WATCH_BROKER)
        put_crawl_count(o, c, 0);
    else
        put_progress(o, c->pages, c->waiting, c->left);
    next_cell(o, crawl_columns, 3);
    put_crawl_count(o, c, c->waiting);
    if (c->left > 0)
        buffer_format(o, "<span class=\"small\">%s left</span>",
                      count(c->left));
    next_cell(o, crawl_columns, 4);
    put_crawl_count(o, c, c->failed);
    next_cell(o, crawl_columns, 5);
    put_speeds(o, c->rate, c->mean);
    next_cell(o, crawl_columns, 6);
    put_crawl_count(o, c, hosts);
    if (trouble > 0)
        buffer_format(o, "<span class=\"small\">%s in trouble</span>",
                      count(trouble));
    end_row(o);
}

static void put_all_queues(struct buffer *o, const struct watch_view *view)
{
    bool any = false;

    for (size_t i = 0; i < view->crawls; i++) {
        const struct watch_crawl *c = view->crawl[i].crawl;

        if (!c->queues)
            continue;
        if (!any) {
            begin_section(o, "queues", "Queues");
            begin_table(o, "queues", queue_columns,
                        sizeof queue_columns / sizeof *queue_columns);
        }
        any = true;
        for (size_t k = 0; k < c->queues; k++)
            put_queue(o, &c->queue[k], view->crawl[i].name);
    }
    if (any) {
        end_table(o);
        end_section(o);
    }
}

/* A broker has queues, and is no crawl. */
static void put_lead(struct buffer *o, const struct watch_view *view)
{
    int64_t all = 0, run = 0, pages = 0, waiting = 0;

    for (size_t i = 0; i < view->crawls; i++) {
        const struct watch_crawl *c = view->crawl[i].crawl;

        all += c->kind != WATCH_BROKER;
        run += c->runs;
        pages += c->pages;
        waiting += c->waiting;
    }
    buffer_format(o, "<p class=\"lead\">%s, of which %s %s. ",
                  counted(all, "crawl"), run ? count(run) : "none",
                  run == 1 || !run ? "runs" : "run");
    buffer_format(o, "%s fetched, %s waiting.</p>\n", counted(pages, "page"),
                  count(waiting));
}

void crawls_html(struct buffer *o, const struct watch_view *view, bool search)
{
    int64_t as_of = 0;
    bool any = false;

    for (size_t i = 0; i < view->crawls; i++)
        if (view->crawl[i].unix_ms > as_of)
            as_of = view->crawl[i].unix_ms;
    begin_page(o, "", "Crawls", as_of, search);
    put_lead(o, view);
    for (size_t i = 0; i < view->crawls; i++)
        put_needs(o, &any, &view->crawl[i], true);
    end_needs(o, any);
    begin_section(o, "all", "All crawls");
    begin_table(o, "all", crawl_columns,
                sizeof crawl_columns / sizeof *crawl_columns);
    for (size_t i = 0; i < view->crawls; i++)
        put_crawl(o, &view->crawl[i]);
    end_table(o);
    end_section(o);
    put_all_queues(o, view);
    end_page(o, "crawls.json");
}

/* --- one crawl --- */

void crawls_html_one(struct buffer *o, const struct watch_seen *seen,
                     const struct crawls_hosts *hosts, bool search)
{
    const struct watch_crawl *c = seen->crawl;
    struct buffer json = { .bytes = NULL };
    bool any = false;

    begin_page(o, "../", seen->name, seen->unix_ms, search);
    buffer_text(o, "<p class=\"lead\">");
    buffer_text(o, c->kind == WATCH_BROKER   ? "Queues of "
                   : c->kind == WATCH_SHARED ? "Workers on "
                                             : "Crawl folder ");
    buffer_text(o, "<span class=\"url\">");
    html_put(o, c->where);
    buffer_text(o, "</span></p>\n");
    put_needs(o, &any, seen, false);
    end_needs(o, any);
    put_visits(o, c);
    put_workers(o, c);
    put_queues(o, c);
    put_errors(o, c);
    if (c->kind != WATCH_BROKER && (!c->why || c->listed))
        put_hosts(o, c, hosts);
    percent_encode(&json, seen->name, strlen(seen->name), PERCENT_NAME);
    buffer_text(&json, ".json");
    buffer_byte(&json, '\0');
    end_page(o, json.failed ? "../crawls.json" : json.bytes);
    buffer_clear(&json);
}
