/*
 * searches_html.c - the page to search crawls.
 *
 * A form and an answer, without a script: what is asked stands in the address,
 * so that it can be kept and sent.
 */
#include "searches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "../../lib/text/number.h"
#include "../../lib/text/percent.h"
#include "../../lib/text/xml.h"
#include "html.h"

/* --- the form --- */

static void put_field(struct buffer *o, const char *name, const char *label,
                      const char *value)
{
    buffer_format(o,
                  "<p><label for=\"%s\">%s</label><input id=\"%s\" "
                  "name=\"%s\" type=\"date\" value=\"",
                  name, label, name, name);
    html_put(o, value);
    buffer_text(o, "\"></p>\n");
}

/* One crawl needs no choice, but its name goes along: it stays that crawl when
   there are more. */
static void put_crawls(struct buffer *o, const struct searches_site *site,
                       const struct searches_form *form)
{
    const char *name;

    if (!search_name(site->search, 1))
        return;
    buffer_text(o, "<p><label for=\"crawl\">Crawl</label><select id=\"crawl\" "
                   "name=\"crawl\">");
    for (size_t i = 0; (name = search_name(site->search, i)); i++) {
        buffer_text(o, "<option value=\"");
        html_put(o, name);
        buffer_text(o, strcmp(name, form->crawl) ? "\">" : "\" selected>");
        html_put(o, name);
        buffer_text(o, "</option>");
    }
    buffer_text(o, "</select></p>\n");
}

/* "2 (2026-03-01)" */
static void put_visit(struct buffer *o, int64_t id, int64_t began,
                      bool selected)
{
    const time_t at = (time_t)(began / 1000);
    char day[32];
    struct tm tm;

    buffer_format(o, "<option value=\"%" PRId64 "\"%s>%" PRId64, id,
                  selected ? " selected" : "", id);
    if (began > 0 && gmtime_r(&at, &tm) &&
        strftime(day, sizeof day, " (%Y-%m-%d)", &tm))
        buffer_text(o, day);
    buffer_text(o, "</option>");
}

static void put_visits(struct buffer *o, const struct searches_form *form,
                       const struct search_found *found)
{
    bool listed = !form->visit;

    buffer_text(o, "<p><label for=\"visit\">Last fetched in visit</label>"
                   "<select id=\"visit\" name=\"visit\"><option value=\"\">any"
                   "</option>");
    for (size_t i = 0; found && i < found->visits; i++) {
        const struct search_visit *v = &found->visit[i];

        put_visit(o, v->id, v->began, v->id == form->visit);
        listed |= v->id == form->visit;
    }
    if (!listed)
        put_visit(o, form->visit, 0, true);
    buffer_text(o, "</select></p>\n");
}

static void put_form(struct buffer *o, const struct searches_site *site,
                     const struct searches_form *form,
                     const struct search_found *found, const char *fault)
{
    buffer_format(o,
                  "<form class=\"search\" role=\"search\" action=\"search\" "
                  "method=\"get\">\n<label for=\"q\">Words</label>\n"
                  "<div class=\"field\"><input id=\"q\" name=\"q\" "
                  "type=\"search\" maxlength=\"%d\" enterkeyhint=\"search\" "
                  "autocapitalize=\"off\" aria-describedby=\"%shint\"%s "
                  "value=\"",
                  SEARCH_BYTES, fault ? "fault " : "",
                  fault ? " aria-invalid=\"true\"" : "");
    html_put(o, form->typed);
    buffer_text(o, "\"><button type=\"submit\">Search</button></div>\n");
    if (fault) {
        buffer_text(o, "<p id=\"fault\" class=\"error\">");
        html_put(o, fault);
        buffer_text(o, ".</p>\n");
    }
    buffer_text(o,
                "<p id=\"hint\" class=\"hint\">All words must be on the "
                "page. <code>\"red tulips\"</code> finds words next to each "
                "other, <code>tul*</code> words that begin so. Case and "
                "accents do not matter.</p>\n<div class=\"narrow\">\n");
    put_crawls(o, site, form);
    put_visits(o, form, found);
    put_field(o, "from", "Fetched from", form->from);
    put_field(o, "to", "Fetched until", form->to);
    buffer_text(o, "</div></form>\n");
}

/* --- results --- */

static void put_part(void *owner, struct seen_span part, bool found)
{
    struct buffer *o = owner;

    buffer_text(o, found ? "<mark>" : "");
    buffer_xml(o, part.text, part.len);
    buffer_text(o, found ? "</mark>" : "");
}

/* A crawl has other URLs, too, and a browser would run javascript: ones. */
static bool may_link(const char *url)
{
    return !strncmp(url, "http://", 7) || !strncmp(url, "https://", 8);
}

static void put_title(struct buffer *o, const struct search_page *page)
{
    const bool link = may_link(page->url);

    buffer_text(o, "<h3>");
    if (link) {
        buffer_text(o, "<a rel=\"nofollow noreferrer\" href=\"");
        html_put(o, page->url);
        buffer_text(o, "\">");
    }
    if (page->title[strspn(page->title, " \t\r\n")])
        searches_cut(page->title, put_part, o);
    else
        html_put(o, page->url);
    buffer_text(o, link ? "</a></h3>" : "</h3>");
}

static void put_result(struct buffer *o, const struct searches_site *site,
                       const struct search_page *page)
{
    buffer_text(o, "<li>");
    put_title(o, page);
    buffer_text(o, "<p class=\"url\">");
    html_put(o, page->url);
    buffer_text(o, "</p><p>");
    searches_cut(page->excerpt, put_part, o);
    buffer_text(o, "</p><p class=\"small\">fetched ");
    html_date(o, page->fetched);
    buffer_format(o, ", visit %" PRId64, page->visit);
    if (page->stored > 0 && page->stored != page->fetched) {
        buffer_text(o, "; unchanged since ");
        html_date(o, page->stored);
    }
    if (site->aggregates) {
        buffer_text(o, " <a rel=\"nofollow\" href=\"");
        searches_copy(o, page);
        buffer_text(o, "\">archived copy</a>");
    }
    if (site->archives) {
        buffer_text(o, " <a rel=\"nofollow\" href=\"agg/");
        percent_encode(o, page->url, strlen(page->url), PERCENT_NAME);
        buffer_text(o, "\">archives that may hold it</a>");
    }
    buffer_text(o, "</p></li>\n");
}

/* The same question, at a page of results: "q=red+roses&crawl=site&page=2". */
static void put_query(struct buffer *o, const char *path,
                      const struct searches_form *form, size_t number)
{
    const struct {
        const char *name, *value;
    } texts[] = { { "crawl", form->crawl },
                  { "from", form->from },
                  { "to", form->to } };

    buffer_format(o, "%s?q=", path);
    percent_encode(o, form->typed, strlen(form->typed), PERCENT_NAME);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!*texts[i].value)
            continue;
        buffer_format(o, "&%s=", texts[i].name);
        percent_encode(o, texts[i].value, strlen(texts[i].value),
                       PERCENT_NAME);
    }
    if (form->visit)
        buffer_format(o, "&visit=%" PRId64, form->visit);
    if (form->most != SEARCHES_USUAL)
        buffer_format(o, "&most=%zu", form->most);
    if (number > 1)
        buffer_format(o, "&page=%zu", number);
}

static void put_turn(struct buffer *o, const struct searches_form *form,
                     size_t number, const char *rel, const char *words)
{
    struct buffer to = { .bytes = NULL };

    put_query(&to, "search", form, number);
    buffer_format(o, "<a rel=\"%s\" href=\"", rel);
    buffer_xml(o, to.len ? to.bytes : "", to.len);
    buffer_format(o, "\">%s</a> ", words);
    o->failed |= to.failed;
    buffer_clear(&to);
}

static void put_turns(struct buffer *o, const struct searches_form *form,
                      const struct search_found *found)
{
    const size_t end = (form->number - 1) * form->most + found->pages;
    const bool next = found->pages && end < found->total &&
                      (form->number + 1) * form->most <= SEARCH_DEEP;

    if (form->number == 1 && !next)
        return;
    buffer_text(o, "<nav class=\"turn\" aria-label=\"Pages of results\"><p>");
    if (form->number > 1)
        put_turn(o, form, form->number - 1, "prev nofollow", "Previous");
    if (next)
        put_turn(o, form, form->number + 1, "next nofollow", "Next");
    buffer_text(o, "</p></nav>\n");
}

static bool is_narrowed(const struct searches_form *form)
{
    return form->visit || *form->from || *form->to;
}

/* How many there are, and whether that is all of them. */
static void put_count(struct buffer *o, const struct searches_form *form,
                      const struct search_found *found)
{
    const size_t first = (form->number - 1) * form->most;

    buffer_text(o, "<h2 id=\"results\" tabindex=\"-1\">");
    if (found->costly)
        buffer_text(o, "Too many pages have such words");
    else if (!found->total)
        buffer_format(o, "No page %shas all of these words",
                      is_narrowed(form) ? "of this visit and these dates "
                                        : "");
    else if (!found->pages)
        buffer_format(o, "There are only %s",
                      show_counted(found->total, "page"));
    else
        buffer_format(o, "%s to %s of %s%s", show_count(first + 1),
                      show_count(first + found->pages),
                      found->complete ? "" : "more than ",
                      show_counted(found->total, "page"));
    buffer_text(o, "</h2>\n");
    if (found->costly)
        buffer_format(o,
                      "<p class=\"hint\">%sAdd a word, or write more letters "
                      "before a *.</p>\n",
                      is_narrowed(form)
                          ? "Those that could be looked at are not of this "
                            "visit and these dates. "
                          : "");
    else if (!found->complete)
        buffer_format(o,
                      "<p class=\"hint\">More pages have these words than "
                      "could be ranked. These are the best of the %s that the "
                      "crawl found last. Add a word to look through all.</p>"
                      "\n",
                      show_count(found->total));
}

static void put_results(struct buffer *o, const struct searches_site *site,
                        const struct searches_form *form,
                        const struct search_found *found)
{
    buffer_text(o, "<section aria-labelledby=\"results\">");
    put_count(o, form, found);
    if (found->pages) {
        buffer_format(o, "<ol class=\"results\" start=\"%zu\">\n",
                      (form->number - 1) * form->most + 1);
        for (size_t i = 0; i < found->pages; i++)
            put_result(o, site, &found->page[i]);
        buffer_text(o, "</ol>\n");
    }
    put_turns(o, form, found);
    buffer_text(o, "</section>\n");
}

/* --- all of it --- */

/* Words first: it is the title of a tab. */
static char *title_of(const struct searches_form *form)
{
    struct buffer title = { .bytes = NULL };

    buffer_format(&title, "%s%sSearch", form->typed,
                  *form->typed ? " - " : "");
    return buffer_take(&title);
}

void searches_html(struct buffer *o, const struct searches_site *site,
                   const struct searches_form *form,
                   const struct search_found *found, const char *fault)
{
    char *title = title_of(form);
    const struct html_page page = { .up = "",
                                    .title = title ? title : "Search",
                                    .style = "search.css",
                                    .crawls = site->crawls,
                                    .search = true };
    struct buffer json = { .bytes = NULL };

    html_begin(o, &page);
    buffer_text(o, "<h1>Search ");
    html_put(o, *form->crawl ? form->crawl : "crawls");
    buffer_text(o, "</h1>\n");
    put_form(o, site, form, found, fault);
    if (found && found->running)
        buffer_text(o, "<p class=\"hint\">The crawl is running: results may "
                       "change.</p>\n");
    if (found && !fault && *form->typed)
        put_results(o, site, form, found);
    put_query(&json, "search.json", form, form->number);
    buffer_byte(&json, '\0');
    html_end(o, json.failed ? "search.json" : json.bytes, "");
    buffer_clear(&json);
    free(title);
}
