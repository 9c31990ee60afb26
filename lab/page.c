/* page.c - sheets as one page of HTML. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/text/number.h"
#include "urls.h"

#ifndef SEEN_VERSION
#define SEEN_VERSION "0.1.0"
#endif

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
    "p, dl { max-width: 44rem }\n"
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

static void put(FILE *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", to); break;
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '"': fputs("&quot;", to); break;
        default: putc(*text, to);
        }
}

static const char *verdict_class(enum verdict v)
{
    return v == AGREES              ? " class=\"agrees\""
           : v == DIFFERS           ? " class=\"differs\""
           : v == PUBLISHED_DIFFERS ? " class=\"published\""
                                    : "";
}

static void put_cell(FILE *to, const struct cell *c)
{
    fprintf(to, "<td%s>",
            !c          ? ""
            : c->judged ? verdict_class(c->verdict)
            : c->number ? " class=\"n\""
                        : "");
    put(to, c ? c->text : "");
    fputs("</td>", to);
}

static void put_table(FILE *to, const struct table *t)
{
    fputs("<div class=\"scroll\"><table>\n<caption><span>", to);
    put(to, t->title);
    fputs(" <a href=\"", to);
    put(to, t->name);
    fputs(".tsv\">as TSV</a></span></caption>\n<thead><tr>", to);
    for (size_t i = 0; i < t->columns; i++) {
        const struct cell *c = table_cell(t, 0, i);

        fputs(c && c->number ? "<th class=\"n\" scope=\"col\">"
                             : "<th scope=\"col\">",
              to);
        put(to, t->head[i]);
        fputs("</th>", to);
    }
    fputs("</tr></thead>\n<tbody>\n", to);
    for (size_t row = 0; row < table_rows(t); row++) {
        fputs("<tr>", to);
        for (size_t i = 0; i < t->columns; i++)
            put_cell(to, table_cell(t, row, i));
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table></div>\n", to);
}

/* What a plot would have shown. */
static void put_points(FILE *to, const struct plot *p)
{
    fputs("<p class=\"trouble\">The figure could not be drawn: ", to);
    put(to, p->failed);
    fputs(". Its numbers:</p>\n<div class=\"scroll\"><table>\n<caption><span>",
          to);
    put(to, p->title);
    fputs("</span></caption>\n<thead><tr><th scope=\"col\">series</th>"
          "<th scope=\"col\">drawn</th>"
          "<th class=\"n\" scope=\"col\">",
          to);
    put(to, p->x);
    fputs("</th><th class=\"n\" scope=\"col\">", to);
    put(to, p->y);
    fputs("</th></tr></thead>\n<tbody>\n", to);
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->series[i].points; j++) {
            fputs("<tr><td>", to);
            put(to, series_title(p, i));
            fprintf(to,
                    "</td><td>%s</td><td class=\"n\">%.6g</td>"
                    "<td class=\"n\">%.6g</td></tr>\n",
                    style_word(p->series[i].style), p->series[i].point[j].x,
                    p->series[i].point[j].y);
        }
    fputs("</tbody></table></div>\n", to);
}

static void put_plot(FILE *to, const struct plot *p)
{
    if (p->failed) {
        put_points(to, p);
        return;
    }
    fputs("<figure><img src=\"", to);
    put(to, p->name);
    fputs(".svg\" width=\"800\" height=\"480\" loading=\"lazy\" alt=\"", to);
    put(to, p->title);
    fputs("\">\n<figcaption>", to);
    put(to, p->title);
    fputs(" <a href=\"", to);
    put(to, p->points ? p->points : p->name);
    fputs(".tsv\">as TSV</a></figcaption></figure>\n", to);
}

static void put_sheet(FILE *to, const struct sheet *s)
{
    const struct experiment *e = s->experiment;

    fputs("<section id=\"", to);
    put(to, e->name);
    fputs("\">\n<h3>", to);
    put(to, e->place);
    fputs(": ", to);
    put(to, e->title);
    fputs(" <span class=\"name\">seen lab ", to);
    put(to, e->name);
    fputs("</span></h3>\n", to);
    for (size_t i = 0; i < s->parts; i++) {
        const struct part *p = &s->part[i];

        if (p->text) {
            fputs("<p>", to);
            put(to, p->text);
            fputs("</p>\n", to);
        } else if (p->table) {
            put_table(to, p->table);
        } else {
            put_plot(to, p->plot);
        }
    }
    fputs("</section>\n", to);
}

/* --- the head of the page --- */

/* What stands behind "NAME :" in a file of /proc; "" if nothing does. */
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

static void put_fact(FILE *to, const char *name, const char *value)
{
    fputs("<dt>", to);
    put(to, name);
    fputs("</dt><dd>", to);
    put(to, value);
    fputs("</dd>\n", to);
}

static void put_machine(FILE *to, const struct lab *lab)
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

static void put_settings(FILE *to, const struct lab *lab)
{
    static const char *const size[] = {
        [QUICK] = "quick: small, to be done in minutes",
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
                 "%s: %s, with %s lines left out that came again", lab->list,
                 show_count(urls_count(lab->urls)),
                 show_count(urls_repeated(lab->urls)));
    put_fact(to, "URLs", lab->list ? value : "made up, no two alike");
}

static void put_head(FILE *to, const struct page *p)
{
    time_t now = time(NULL);
    char date[32] = "";
    struct tm tm;

    if (gmtime_r(&now, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &tm);
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, "
          "initial-scale=1\">\n"
          "<title>seen lab: what was published, beside what we find</title>\n"
          "<style>\n",
          to);
    fputs(style, to);
    fputs("</style>\n</head>\n<body>\n<h1>What was published, beside what we "
          "find</h1>\n"
          "<p>Every number below that is said to be published comes from the "
          "documents named, every number measured from this run of <code>seen "
          "lab</code>, and theory is computed. A measurement agrees if it "
          "lies in the band where it lies by theory in all but one case of a "
          "hundred thousand; so should a published number, within its "
          "rounding.</p>\n<dl>\n",
          to);
    put_machine(to, p->lab);
    put_fact(to, "Program", "seen " SEEN_VERSION);
    put_settings(to, p->lab);
    put_fact(to, "Written", date);
    put_fact(to, "It took", show_time(lab_clock() - p->begin));
    fputs("</dl>\n", to);
    if (p->sheets < p->count)
        fprintf(to,
                "<p class=\"trouble\">Not finished: %zu of %zu experiments "
                "have run.</p>\n",
                p->sheets, p->count);
}

static void put_count(FILE *to, const char *class, size_t n)
{
    fprintf(to, "<td class=\"n%s%s\">%zu</td>", n && *class ? " " : "",
            n ? class : "", n);
}

static void put_verdicts(FILE *to, const size_t n[VERDICTS])
{
    put_count(to, "agrees", n[AGREES]);
    put_count(to, "differs", n[DIFFERS]);
    put_count(to, "published", n[PUBLISHED_DIFFERS]);
    put_count(to, "", n[NOT_JUDGED]);
}

static void put_summary(FILE *to, const struct page *p)
{
    size_t sum[VERDICTS] = { 0 };

    fputs("<div class=\"scroll\"><table id=\"summary\">\n"
          "<caption><span>Experiments, and how many of their findings agree"
          "</span></caption>\n<thead><tr><th scope=\"col\">experiment</th>"
          "<th class=\"n\" scope=\"col\">agree</th>"
          "<th class=\"n\" scope=\"col\">differ</th>"
          "<th class=\"n\" scope=\"col\">published differ</th>"
          "<th class=\"n\" scope=\"col\">not judged</th>"
          "<th class=\"n\" scope=\"col\">time</th></tr></thead>\n<tbody>\n",
          to);
    for (size_t i = 0; i < p->sheets; i++) {
        const struct sheet *s = p->sheet[i];

        if (!i || s->paper != p->sheet[i - 1]->paper) {
            fputs("<tr><th class=\"paper\" colspan=\"6\" scope=\"rowgroup\">",
                  to);
            put(to, s->paper->name);
            fputs("</th></tr>\n", to);
        }
        fputs("<tr><td><a href=\"#", to);
        put(to, s->experiment->name);
        fputs("\">", to);
        put(to, s->experiment->place);
        fputs(": ", to);
        put(to, s->experiment->title);
        fputs("</a></td>", to);
        put_verdicts(to, s->verdict);
        fprintf(to, "<td class=\"n\">%s</td></tr>\n", show_time(s->seconds));
        for (int v = 0; v < VERDICTS; v++)
            sum[v] += s->verdict[v];
    }
    fputs("</tbody>\n<tfoot><tr><th scope=\"row\">all</th>", to);
    put_verdicts(to, sum);
    fputs("<td></td></tr></tfoot></table></div>\n", to);
}

char *page_write(const struct page *p, size_t *len)
{
    const struct paper *paper = NULL;
    char *text;
    FILE *to = open_memstream(&text, len);

    if (!to)
        lab_fail("no memory for the report");
    put_head(to, p);
    put_summary(to, p);
    for (size_t i = 0; i < p->sheets; i++) {
        if (p->sheet[i]->paper != paper) {
            paper = p->sheet[i]->paper;
            fprintf(to, "<h2 id=\"%s\">", paper->name);
            put(to, paper->title);
            fputs("</h2>\n", to);
        }
        put_sheet(to, p->sheet[i]);
    }
    fputs("</body>\n</html>\n", to);
    if (fclose(to))
        lab_fail("no memory for the report");
    return text;
}
