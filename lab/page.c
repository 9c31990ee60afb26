/*
 * page.c - sections as one page of HTML.
 *
 * Texts of experiments, lists and machines are data: all of them pass put(),
 * which escapes, and the rest is ours. Judgements are classes of cells, so that
 * colour comes from the style sheet alone, beside the word: the page is
 * readable without colours, and on paper.
 *
 * Figures are files of their own, numbers stand beside each as TSV. If a figure
 * could not be drawn, the page says why and has its points in a table: a report
 * without gnuplot lacks no number.
 */
#include "page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seen/version.h>

#include "../lib/disk/clock.h"
#include "../lib/text/number.h"
#include "../lib/text/xml.h"
#include "urls.h"

static const char style[] =
    ":root { color-scheme: light dark; --ink: #1c2126; --paper: #fff;\n"
    "  --soft: #5b6670; --line: #d9dee3; --band: #f4f6f8; --link: #0b5cad;\n"
    "  --good: #1a7f37; --bad: #b3261e; --note: #9a5b00 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  :root { --ink: #e3e7eb; --paper: #14181c; --soft: #9aa5b0;\n"
    "    --line: #343b42; --band: #1c2227; --link: #7db7f0; --good: #63c47f;\n"
    "    --bad: #ff8a80; --note: #e0a84e } }\n"
    "* { box-sizing: border-box }\n"
    "body { margin: 0 auto; padding: 1rem; max-width: 62rem;\n"
    "  color: var(--ink); background: var(--paper);\n"
    "  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word }\n"
    "h1 { font-size: 1.7rem; line-height: 1.2; margin: .5rem 0 }\n"
    "h2 { font-size: 1.35rem; line-height: 1.3; margin: 3rem 0 1rem;\n"
    "  border-bottom: 2px solid var(--line); padding-bottom: .3rem }\n"
    "h3 { font-size: 1.15rem; margin: 2.5rem 0 .5rem }\n"
    "p, dl, ul { max-width: 44rem }\n"
    "#findings li { margin: .35rem 0 }\n"
    "a { color: var(--link) }\n"
    "dl { display: grid; grid-template-columns: max-content 1fr;\n"
    "  gap: .1rem 1rem }\n"
    "dt { color: var(--soft) }\n"
    "dd { margin: 0; min-width: 0 }\n"
    ".scroll { overflow-x: auto; margin: 1rem 0 }\n"
    "table { border-collapse: collapse; font-size: .9rem;\n"
    "  font-variant-numeric: tabular-nums }\n"
    "caption { text-align: left; font-weight: 600; padding: .3rem 0 }\n"
    "caption span { display: inline-block; position: sticky; left: 0;\n"
    "  max-width: min(58rem, 100vw - 2rem) }\n"
    "caption a, figcaption a { font-weight: 400; white-space: nowrap }\n"
    "th, td { padding: .2rem .7rem .2rem 0; text-align: left;\n"
    "  border-bottom: 1px solid var(--line); vertical-align: top }\n"
    "th { border-bottom: 2px solid var(--line) }\n"
    "th.n, td.n { text-align: right }\n"
    "th.paper { padding-top: 1rem; border-bottom: 0 }\n"
    "td.n, td[class] { white-space: nowrap }\n"
    "tbody tr:nth-child(even) { background: var(--band) }\n"
    ".agrees { color: var(--good) }\n"
    ".differs, .trouble { color: var(--bad); font-weight: 600 }\n"
    ".published { color: var(--note) }\n"
    ".name { color: var(--soft); font-weight: 400; font-size: .85em }\n"
    "figure { margin: 1rem 0 }\n"
    "figure img { display: block; width: 100%; max-width: 50rem;\n"
    "  height: auto; background: #fff; border: 1px solid var(--line);\n"
    "  border-radius: 4px }\n"
    "figcaption { font-weight: 600; margin-top: .4rem }\n"
    "@media print {\n"
    "  body { max-width: none; font-size: 10pt; color: #000;\n"
    "    background: #fff }\n"
    "  .scroll { overflow: visible }\n"
    "  figure, tr { break-inside: avoid }\n"
    "  h2, h3, caption { break-after: avoid } }\n";

/* --- pieces --- */

static void put(struct buffer *to, const char *text)
{
    buffer_xml(to, text, strlen(text));
}

/* The same for prose, in which `this` is code. */
static void put_prose(struct buffer *to, const char *text)
{
    for (const char *from, *end; *text; text = end + 1) {
        from = strchr(text, '`');
        end = from ? strchr(from + 1, '`') : NULL;
        if (!end) {
            put(to, text);
            return;
        }
        buffer_xml(to, text, (size_t)(from - text));
        buffer_text(to, "<code>");
        buffer_xml(to, from + 1, (size_t)(end - from - 1));
        buffer_text(to, "</code>");
    }
}

static const char *judgement_class(const struct cell *c)
{
    return c->judgement == AGREES     ? " class=\"agrees\""
           : c->judgement != DIFFERS  ? ""
           : c->question == PUBLISHED ? " class=\"published\""
                                      : " class=\"differs\"";
}

static void put_cell(struct buffer *to, const struct cell *c)
{
    buffer_format(to, "<td%s>",
                  !c          ? ""
                  : c->judged ? judgement_class(c)
                  : c->number ? " class=\"n\""
                              : "");
    put(to, c ? c->text : "");
    buffer_text(to, "</td>");
}

static void put_table(struct buffer *to, const struct table *t)
{
    buffer_text(to, "<div class=\"scroll\"><table>\n<caption><span>");
    put(to, t->title);
    buffer_text(to, " <a href=\"");
    put(to, t->name);
    buffer_text(to, ".tsv\">as TSV</a></span></caption>\n<thead><tr>");
    for (size_t i = 0; i < t->columns; i++) {
        const struct cell *c = table_cell(t, 0, i);

        buffer_text(to, c && c->number ? "<th class=\"n\" scope=\"col\">"
                                       : "<th scope=\"col\">");
        put(to, t->head[i]);
        buffer_text(to, "</th>");
    }
    buffer_text(to, "</tr></thead>\n<tbody>\n");
    for (size_t row = 0; row < table_rows(t); row++) {
        buffer_text(to, "<tr>");
        for (size_t i = 0; i < t->columns; i++)
            put_cell(to, table_cell(t, row, i));
        buffer_text(to, "</tr>\n");
    }
    buffer_text(to, "</tbody></table></div>\n");
}

/* The numbers of a plot that could not be drawn. */
static void put_points(struct buffer *to, const struct plot *p)
{
    buffer_text(to, "<p class=\"trouble\">The figure could not be drawn: ");
    put(to, p->failed);
    buffer_text(
        to,
        ". Its numbers:</p>\n<div class=\"scroll\"><table>\n<caption><span>");
    put(to, p->title);
    buffer_text(to,
                "</span></caption>\n<thead><tr><th scope=\"col\">series</th>"
                "<th scope=\"col\">drawn</th>"
                "<th class=\"n\" scope=\"col\">");
    put(to, p->x);
    buffer_text(to, "</th><th class=\"n\" scope=\"col\">");
    put(to, p->y);
    buffer_text(to, "</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->series[i].points; j++) {
            buffer_text(to, "<tr><td>");
            put(to, series_title(p, i));
            buffer_format(to,
                          "</td><td>%s</td><td class=\"n\">%.6g</td>"
                          "<td class=\"n\">%.6g</td></tr>\n",
                          style_word(p->series[i].style),
                          p->series[i].point[j].x, p->series[i].point[j].y);
        }
    buffer_text(to, "</tbody></table></div>\n");
}

static void put_plot(struct buffer *to, const struct plot *p)
{
    if (p->failed) {
        put_points(to, p);
        return;
    }
    buffer_text(to, "<figure><img src=\"");
    put(to, p->name);
    buffer_text(to,
                ".svg\" width=\"800\" height=\"480\" loading=\"lazy\" alt=\"");
    put(to, p->title);
    buffer_text(to, "\">\n<figcaption>");
    put(to, p->title);
    buffer_text(to, " <a href=\"");
    put(to, p->points ? p->points : p->name);
    buffer_text(to, ".tsv\">as TSV</a></figcaption></figure>\n");
}

static void put_section(struct buffer *to, const struct section *s)
{
    const struct experiment *e = s->experiment;

    buffer_text(to, "<section id=\"");
    put(to, e->name);
    buffer_text(to, "\">\n<h3>");
    put(to, e->place);
    buffer_text(to, ": ");
    put(to, e->title);
    buffer_text(to, " <span class=\"name\">seen lab ");
    put(to, e->name);
    buffer_text(to, "</span></h3>\n");
    for (size_t i = 0; i < s->parts; i++) {
        const struct part *p = &s->part[i];

        if (p->text) {
            buffer_text(to, "<p>");
            put_prose(to, p->text);
            buffer_text(to, "</p>\n");
        } else if (p->table) {
            put_table(to, p->table);
        } else {
            put_plot(to, p->plot);
        }
    }
    buffer_text(to, "</section>\n");
}

/* --- the head of the page --- */

/* The value of "NAME :" in a file of /proc; "" if there is no such line. */
static void read_proc(const char *path, const char *name, char *value,
                      size_t room)
{
    FILE *file = fopen(path, "re");
    char line[512], *colon;

    *value = '\0';
    while (file && !*value && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name)) &&
            (colon = strchr(line, ':'))) {
            colon += 1 + strspn(colon + 1, " \t");
            snprintf(value, room, "%.*s", (int)strcspn(colon, "\n"), colon);
        }
    if (file)
        fclose(file);
}

static void put_fact(struct buffer *to, const char *name, const char *value)
{
    buffer_text(to, "<dt>");
    put(to, name);
    buffer_text(to, "</dt><dd>");
    put(to, value);
    buffer_text(to, "</dd>\n");
}

static void put_machine(struct buffer *to, const struct lab *lab)
{
    char value[256], memory[64];

    read_proc("/proc/cpuinfo", "model name", value, sizeof value);
    put_fact(to, "Processor", *value ? value : "not known");
    snprintf(value, sizeof value, "%u", lab->threads);
    put_fact(to, "Threads", value);
    read_proc("/proc/meminfo", "MemTotal", memory, sizeof memory);
    if (*memory)
        put_fact(to, "Memory",
                 show_bytes(strtoull(memory, NULL, 10) * UINT64_C(1024)));
}

static void put_settings(struct buffer *to, const struct lab *lab)
{
    static const char *const size[] = {
        [QUICK] = "quick: small, done in minutes",
        [USUAL] = "usual",
        [FULL] = "full: as published",
    };
    char value[512];

    put_fact(to, "Sizes", size[lab->size]);
    if (lab->n)
        put_fact(to, "URLs of a filter", show_count(lab->n));
    if (lab->runs)
        put_fact(to, "Runs", show_count(lab->runs));
    snprintf(value, sizeof value, "%llu", (unsigned long long)lab->seed);
    put_fact(to, "Seed", value);
    if (lab->list)
        snprintf(value, sizeof value,
                 "%s: %s; %s repeated ones left out, except where rows are "
                 "counted as they stand",
                 lab->list, show_count(urls_count(lab->urls)),
                 show_count(urls_repeated(lab->urls)));
    put_fact(to, "URLs", lab->list ? value : "made up, no two alike");
}

static void put_head(struct buffer *to, const struct report_page *p)
{
    buffer_text(
        to,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n"
        "<title>seen lab: what was published, beside what we find</title>\n"
        "<style>\n");
    buffer_text(to, style);
    buffer_text(
        to,
        "</style>\n</head>\n<body>\n<h1>What was published, beside what we "
        "find</h1>\n<p>Every number below that is called published comes from "
        "the documents named, every number measured from this run of "
        "<code>seen lab</code>, and theory is computed. A measurement agrees "
        "with theory if it lies in the band that theory predicts for all but "
        "one case in a hundred thousand. Where theory gives only a limit, a "
        "measurement is within or over that bound. A published number agrees "
        "with ours if it, too, lies in the band for the paper's own runs, "
        "within its rounding. A dash means not judged. What is concluded from "
        "measurements exceeds the noise of their own runs.</p>\n");
    if (p->sections < p->count)
        buffer_format(
            to,
            "<p class=\"trouble\">Not finished: %zu of %zu experiments "
            "have run.</p>\n",
            p->sections, p->count);
}

static void put_machine_facts(struct buffer *to, const struct report_page *p)
{
    time_t now = time(NULL);
    char date[32] = "";
    struct tm tm;

    if (gmtime_r(&now, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &tm);
    buffer_text(to, "<h2>This run</h2>\n<dl>\n");
    put_machine(to, p->lab);
    put_fact(to, "Program", "seen " SEEN_VERSION);
    put_settings(to, p->lab);
    put_fact(to, "Written", date);
    put_fact(to, "It took", show_time(clock_seconds() - p->begin));
    buffer_text(to, "</dl>\n");
}

static void put_count(struct buffer *to, const char *class, size_t n)
{
    buffer_format(to, "<td class=\"n%s%s\">%zu</td>", n && *class ? " " : "",
                  n ? class : "", n);
}

/* Findings by question and judgement, and those that were not judged. */
struct judged_findings {
    size_t by[QUESTIONS_ASKED][JUDGEMENTS], none;
};

static void put_judgements(struct buffer *to, const struct judged_findings *n)
{
    for (enum question q = 0; q < QUESTIONS_ASKED; q++) {
        put_count(to, "agrees", n->by[q][AGREES]);
        put_count(to, q == PUBLISHED ? "published" : "differs",
                  n->by[q][DIFFERS]);
    }
    put_count(to, "", n->none);
}

static struct judged_findings judgements_of(const struct section *s)
{
    struct judged_findings n = { .none = s->unjudged };

    memcpy(n.by, s->judged, sizeof n.by);
    return n;
}

static struct judged_findings sum_judgements(const struct report_page *p)
{
    struct judged_findings sum = { .none = 0 };

    for (size_t i = 0; i < p->sections; i++) {
        struct judged_findings n = judgements_of(p->section[i]);

        for (unsigned v = 0; v < QUESTIONS_ASKED * JUDGEMENTS; v++)
            sum.by[v / JUDGEMENTS][v % JUDGEMENTS] +=
                n.by[v / JUDGEMENTS][v % JUDGEMENTS];
        sum.none += n.none;
    }
    return sum;
}

static void put_summary(struct buffer *to, const struct report_page *p)
{
    struct judged_findings sum = sum_judgements(p);

    buffer_text(
        to, "<div class=\"scroll\"><table id=\"summary\">\n"
            "<caption><span>Experiments, and how many of their findings agree"
            "</span></caption>\n<thead><tr><th scope=\"col\">experiment</th>"
            "<th class=\"n\" scope=\"col\">as theory</th>"
            "<th class=\"n\" scope=\"col\">not</th>"
            "<th class=\"n\" scope=\"col\">within bound</th>"
            "<th class=\"n\" scope=\"col\">over</th>"
            "<th class=\"n\" scope=\"col\">as published</th>"
            "<th class=\"n\" scope=\"col\">not</th>"
            "<th class=\"n\" scope=\"col\">not judged</th>"
            "<th class=\"n\" scope=\"col\">time</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < p->sections; i++) {
        const struct section *s = p->section[i];
        struct judged_findings n = judgements_of(s);

        if (!i || s->paper != p->section[i - 1]->paper) {
            buffer_text(
                to,
                "<tr><th class=\"paper\" colspan=\"9\" scope=\"rowgroup\">");
            put(to, s->paper->name);
            buffer_text(to, "</th></tr>\n");
        }
        buffer_text(to, "<tr><td><a href=\"#");
        put(to, s->experiment->name);
        buffer_text(to, "\">");
        put(to, s->experiment->place);
        buffer_text(to, ": ");
        put(to, s->experiment->title);
        buffer_text(to, "</a></td>");
        put_judgements(to, &n);
        buffer_format(to, "<td class=\"n\">%s</td></tr>\n",
                      show_time(s->seconds));
    }
    buffer_text(to, "</tbody>\n<tfoot><tr><th scope=\"row\">all</th>");
    put_judgements(to, &sum);
    buffer_text(to, "<td></td></tr></tfoot></table></div>\n");
}

/* --- findings --- */

/* Which experiments have published numbers that do not agree. */
static void put_disagreements(struct buffer *to, const struct report_page *p)
{
    const char *before = ": ";

    for (size_t i = 0; i < p->sections; i++) {
        const struct section *s = p->section[i];
        size_t n = s->judged[PUBLISHED][DIFFERS];

        if (!n)
            continue;
        buffer_format(to, "%s%zu in <a href=\"#", before, n);
        put(to, s->experiment->name);
        buffer_text(to, "\">");
        put(to, s->experiment->place);
        buffer_format(to, "</a> (%s)", s->paper->name);
        before = ", ";
    }
}

/* What all experiments have in common: how much of it is true. */
static void put_agreement(struct buffer *to, const struct report_page *p)
{
    struct judged_findings sum = sum_judgements(p);
    size_t theory = sum.by[THEORY][AGREES] + sum.by[THEORY][DIFFERS];
    size_t bounds = sum.by[BOUND][AGREES] + sum.by[BOUND][DIFFERS];
    size_t theirs = sum.by[PUBLISHED][AGREES] + sum.by[PUBLISHED][DIFFERS];

    buffer_format(to,
                  "<li>%zu of %zu measurements agree with theory, and %zu of "
                  "%zu keep the bound that theory gives.</li>\n",
                  sum.by[THEORY][AGREES], theory, sum.by[BOUND][AGREES],
                  bounds);
    if (!theirs)
        return;
    buffer_format(to,
                  "<li>%zu of %zu published numbers that theory can judge "
                  "agree with ours; %zu do not",
                  sum.by[PUBLISHED][AGREES], theirs,
                  sum.by[PUBLISHED][DIFFERS]);
    put_disagreements(to, p);
    buffer_text(to, ".</li>\n");
}

static void put_findings(struct buffer *to, const struct report_page *p)
{
    buffer_text(to, "<section id=\"findings\">\n<h2>Findings</h2>\n<ul>\n");
    put_agreement(to, p);
    for (size_t i = 0; i < p->sections; i++) {
        const struct section *s = p->section[i];

        if (!s->headline)
            continue;
        buffer_text(to, "<li>");
        put_prose(to, s->headline);
        buffer_text(to, " <a class=\"name\" href=\"#");
        put(to, s->experiment->name);
        buffer_text(to, "\">");
        put(to, s->experiment->name);
        buffer_text(to, "</a></li>\n");
    }
    buffer_text(to, "</ul>\n</section>\n");
}

void page_write(const struct report_page *p, struct buffer *to)
{
    const struct paper *paper = NULL;

    put_head(to, p);
    put_findings(to, p);
    put_machine_facts(to, p);
    put_summary(to, p);
    for (size_t i = 0; i < p->sections; i++) {
        if (p->section[i]->paper != paper) {
            paper = p->section[i]->paper;
            buffer_format(to, "<h2 id=\"%s\">", paper->name);
            put(to, paper->title);
            buffer_text(to, "</h2>\n");
        }
        put_section(to, p->section[i]);
    }
    buffer_text(to, "</body>\n</html>\n");
}
