/*
 * overview.c - a registry as a page and as a list.
 *
 * Places and filters are collected in any order and as often as they are
 * found. Then they are sorted by host and by URL, and each is kept once. From
 * there on everything is one walk over two sorted arrays: the places of a host,
 * and beside them its filters, which begin where those of the host before
 * ended. So both files depend on what was collected and not on the order, and
 * an overview that says the same is not written again.
 *
 * Titles, names and notes are written by others. publish_shown() makes them
 * printable when they are collected, and put() escapes them in the page.
 */
#include "overview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/disk/disk.h"
#include "../lib/disk/walk.h"
#include "../lib/text/array.h"
#include "../lib/text/memory.h"
#include "../lib/text/number.h"
#include "../lib/text/span.h"
#include "../lib/text/xml.h"
#include "file.h"
#include "listing.h"

static const char page_name[] = "registry.html", list_name[] = "registry.txt";

struct overview_filter {
    char *url, *name, *title, *holder, *as_of, *changed;
    double entries;
    uint64_t length;
};

struct overview_place {
    char *url, *note;
};

struct publish_overview {
    struct overview_place *place;
    size_t places, place_room;
    struct overview_filter *filter;
    size_t filters, filter_room;
};

/* --- collecting --------------------------------------------------------- */

struct publish_overview *publish_overview_new(void)
{
    return calloc(1, sizeof(struct publish_overview));
}

static void filter_clear(struct overview_filter *f)
{
    free(f->url);
    free(f->name);
    free(f->title);
    free(f->holder);
    free(f->as_of);
    free(f->changed);
}

void publish_overview_free(struct publish_overview *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->places; i++) {
        free(o->place[i].url);
        free(o->place[i].note);
    }
    for (size_t i = 0; i < o->filters; i++)
        filter_clear(&o->filter[i]);
    free(o->place);
    free(o->filter);
    free(o);
}

enum seen_code publish_overview_place(struct publish_overview *o,
                                      const char *url, const char *note,
                                      struct seen_error *why)
{
    struct overview_place *p = array_grow(o->place, &o->place_room,
                                          o->places + 1, sizeof *p);

    if (!p)
        return no_memory_for(why, "an overview");
    o->place = p;
    p = &o->place[o->places++];
    p->url = strdup(url);
    p->note = note && *note ? publish_shown(note) : NULL;
    return p->url && (p->note || !note || !*note)
               ? SEEN_OK
               : no_memory_for(why, "an overview");
}

/* "host:port" of "https://host:port/path". */
static struct seen_span host_of(const char *url)
{
    const char *host = strstr(url, "://");

    host = host ? host + 3 : url;
    return (struct seen_span){ host, strcspn(host, "/?#") };
}

static int by_host(const char *a, const char *b)
{
    return span_order(host_of(a), host_of(b));
}

static bool copy(char **to, const char *from)
{
    *to = from && *from ? publish_shown(from) : NULL;
    return *to || !from || !*from;
}

enum seen_code publish_overview_filter(
    struct publish_overview *o, const char *place,
    const struct publish_overview_filter *filter, struct seen_error *why)
{
    struct overview_filter *f;
    char day[sizeof "2026-11-16"] = "";
    enum seen_code code = publish_overview_place(o, place, NULL, why);

    if (code == SEEN_OK && by_host(place, filter->url))
        code = publish_overview_place(o, filter->url, NULL, why);
    if (code != SEEN_OK)
        return code;
    f = array_grow(o->filter, &o->filter_room, o->filters + 1, sizeof *f);
    if (!f)
        return no_memory_for(why, "an overview");
    o->filter = f;
    f = &o->filter[o->filters++];
    memset(f, 0, sizeof *f);
    if (filter->changed)
        snprintf(day, sizeof day, "%s", filter->changed);
    f->entries = filter->entries;
    f->length = filter->length;
    return copy(&f->url, filter->url) && copy(&f->name, filter->name) &&
                   copy(&f->title, filter->title) &&
                   copy(&f->holder, filter->holder) &&
                   copy(&f->as_of, filter->as_of) && copy(&f->changed, day)
               ? SEEN_OK
               : no_memory_for(why, "an overview");
}

/* --- order -------------------------------------------------------------- */

static int by_url(const char *a, const char *b)
{
    int order = by_host(a, b);

    return order ? order : strcmp(a, b);
}

/* By URL; of two places with one URL, the one with a note comes first. */
static int place_order(const void *a, const void *b)
{
    const struct overview_place *x = a, *y = b;
    int order = by_url(x->url, y->url);

    return order ? order : (x->note == NULL) - (y->note == NULL);
}

static int filter_order(const void *a, const void *b)
{
    return by_url(((const struct overview_filter *)a)->url,
                  ((const struct overview_filter *)b)->url);
}

/* Sort, and keep each place and filter once. */
static void sort(struct publish_overview *o)
{
    size_t n = 0;

    if (o->places)
        qsort(o->place, o->places, sizeof *o->place, place_order);
    for (size_t i = 0; i < o->places; i++)
        if (n && !strcmp(o->place[n - 1].url, o->place[i].url)) {
            free(o->place[i].url);
            free(o->place[i].note);
        } else {
            o->place[n++] = o->place[i];
        }
    o->places = n;
    if (o->filters)
        qsort(o->filter, o->filters, sizeof *o->filter, filter_order);
    n = 0;
    for (size_t i = 0; i < o->filters; i++)
        if (n && !strcmp(o->filter[n - 1].url, o->filter[i].url))
            filter_clear(&o->filter[i]);
        else
            o->filter[n++] = o->filter[i];
    o->filters = n;
}

static size_t count_hosts(const struct publish_overview *o)
{
    size_t n = o->places != 0;

    for (size_t i = 1; i < o->places; i++)
        n += by_host(o->place[i - 1].url, o->place[i].url) != 0;
    return n;
}

/* --- the page ----------------------------------------------------------- */

static const char style[] =
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem "
    "auto;padding:0 1rem}\n"
    "table{border-collapse:collapse;width:100%;margin:.5rem 0 1rem}\n"
    "th,td{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;"
    "border-bottom:1px solid #bbb}\n"
    "tbody th{font-weight:600}\n"
    ".n{text-align:right}\n"
    ".n,.d{white-space:nowrap}\n"
    "caption{text-align:left}\n"
    "small{font-weight:400}\n"
    "a,h2{overflow-wrap:anywhere}\n"
    "h2{margin:2rem 0 0}\n";

static void put(struct buffer *b, const char *text)
{
    if (text)
        buffer_xml(b, text, strlen(text));
}

static void put_span(struct buffer *b, struct seen_span s)
{
    buffer_xml(b, s.text, s.len);
}

static void put_link(struct buffer *b, const char *url, const char *text)
{
    buffer_text(b, "<a href=\"");
    put(b, url);
    buffer_text(b, "\">");
    put(b, text);
    buffer_text(b, "</a>");
}

static void put_cell(struct buffer *b, const char *class, const char *text)
{
    buffer_format(b, "<td class=\"%s\">", class);
    put(b, text && *text ? text : "\xe2\x80\x93"); /* an en dash */
    buffer_text(b, "</td>");
}

static void put_filter(struct buffer *b, const struct overview_filter *f)
{
    buffer_text(b, "<tr><th scope=\"row\">");
    put(b, f->title ? f->title : f->name);
    if (f->holder) {
        buffer_text(b, "<br><small>");
        put(b, f->holder);
        buffer_text(b, "</small>");
    }
    buffer_text(b, "</th><td>");
    put_link(b, f->url, f->url);
    buffer_text(b, "</td>");
    put_cell(b, "n", f->entries >= 0 ? show_estimate(f->entries) : NULL);
    put_cell(b, "n", f->length ? show_bytes(f->length) : NULL);
    put_cell(b, "d", f->as_of);
    put_cell(b, "d", f->changed);
    buffer_text(b, "</tr>\n");
}

/* The filters of a host, from *i on. */
static void put_filters(struct buffer *b, const struct publish_overview *o,
                        const char *url, size_t *i)
{
    struct seen_span host = host_of(url);

    if (*i == o->filters || by_host(o->filter[*i].url, url)) {
        buffer_text(b, "<p>No filter is known here yet.</p>\n");
        return;
    }
    buffer_text(b, "<table>\n<caption>Filters of ");
    put_span(b, host);
    buffer_text(b, "</caption>\n<thead><tr><th scope=\"col\">Archive</th>"
                   "<th scope=\"col\">Location</th>"
                   "<th scope=\"col\" class=\"n\">URLs</th>"
                   "<th scope=\"col\" class=\"n\">Size</th>"
                   "<th scope=\"col\">As of</th>"
                   "<th scope=\"col\">Changed</th></tr></thead>\n<tbody>\n");
    for (; *i < o->filters && !by_host(o->filter[*i].url, url); ++*i)
        put_filter(b, &o->filter[*i]);
    buffer_text(b, "</tbody>\n</table>\n");
}

static void print_page(struct buffer *b, const struct publish_overview *o)
{
    size_t f = 0;

    buffer_format(b,
                  "<!DOCTYPE html>\n<!-- %s -->\n"
                  "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" "
                  "content=\"width=device-width,initial-scale=1\">\n"
                  "<title>Web archives that publish filters</title>\n"
                  "<style>\n%s</style>\n</head>\n<body>\n"
                  "<h1>Web archives that publish filters</h1>\n"
                  "<p>A filter says whether an archive may hold a URL, "
                  "without a list of what it holds. ",
                  PUBLISH_MARK, style);
    buffer_text(b, show_counted(o->filters, "filter"));
    buffer_text(b, " of ");
    buffer_text(b, show_counted(count_hosts(o), "host"));
    buffer_format(b,
                  "; for programs <a href=\"%s\">as a list</a>, which "
                  "<code>seen harvest</code> reads.</p>\n",
                  list_name);
    for (size_t i = 0; i < o->places;) {
        const char *first = o->place[i].url;

        buffer_text(b, "<section>\n<h2>");
        put_span(b, host_of(first));
        buffer_text(b, "</h2>\n<ul>\n");
        for (; i < o->places && !by_host(o->place[i].url, first); i++) {
            buffer_text(b, "<li>");
            put_link(b, o->place[i].url, o->place[i].url);
            if (o->place[i].note) {
                buffer_text(b, " \xe2\x80\x93 ");
                put(b, o->place[i].note);
            }
            buffer_text(b, "</li>\n");
        }
        buffer_text(b, "</ul>\n");
        put_filters(b, o, first, &f);
        buffer_text(b, "</section>\n");
    }
    buffer_text(b, "</body>\n</html>\n");
}

/* --- the list ----------------------------------------------------------- */

/* Is the i-th place the only one of its host? */
static bool only_place(const struct publish_overview *o, size_t i)
{
    const char *url = o->place[i].url;

    return (!i || by_host(o->place[i - 1].url, url)) &&
           (i + 1 == o->places || by_host(o->place[i + 1].url, url));
}

/* The note of a place; or, if a host has one place and one filter, its title.
   *f is the first filter of that host. */
static const char *words_for(const struct publish_overview *o, size_t i,
                             size_t *f)
{
    const struct overview_place *p = &o->place[i];

    while (*f < o->filters && by_host(o->filter[*f].url, p->url) < 0)
        ++*f;
    if (p->note || *f == o->filters || by_host(o->filter[*f].url, p->url) ||
        (*f + 1 < o->filters && !by_host(o->filter[*f + 1].url, p->url)) ||
        !only_place(o, i))
        return p->note;
    return o->filter[*f].title;
}

static void print_list(struct buffer *b, const struct publish_overview *o)
{
    size_t f = 0;

    buffer_format(b,
                  "# Web archives that publish filters, one URL per line.\n"
                  "# %s\n",
                  PUBLISH_MARK);
    for (size_t i = 0; i < o->places; i++) {
        const struct overview_place *p = &o->place[i];
        const char *words = words_for(o, i, &f);

        if (!i || by_host(p->url, o->place[i - 1].url)) {
            buffer_text(b, "\n# ");
            buffer_span(b, host_of(p->url));
            buffer_byte(b, '\n');
        }
        buffer_text(b, p->url);
        if (words) {
            buffer_text(b, "  # ");
            buffer_text(b, words);
        }
        buffer_byte(b, '\n');
    }
}

/* --- writing ------------------------------------------------------------ */

static enum seen_code write_file(const char *folder, const char *name,
                                 const struct buffer *b, bool check_only,
                                 size_t *changed, struct seen_error *why)
{
    char *path = walk_path(folder, name);
    enum seen_code code = path && !b->failed
                              ? publish_listing_check(path, why)
                              : no_memory_for(why, "an overview");
    bool new = false;

    if (code == SEEN_OK && !check_only)
        code = disk_update(path, b->bytes, b->len, &new, why);
    *changed += new;
    free(path);
    return publish_blame(name, code, why);
}

enum seen_code publish_overview_write(struct publish_overview *o,
                                      const char *folder, bool dry,
                                      struct publish_overview_counts *counts,
                                      struct seen_error *why)
{
    struct buffer page = { .bytes = NULL }, list = { .bytes = NULL };
    size_t changed = 0;
    enum seen_code code = SEEN_OK;

    sort(o);
    print_page(&page, o);
    print_list(&list, o);
    /* Both are checked before one is written. */
    for (int i = 1; i >= (dry ? 1 : 0) && code == SEEN_OK; i--) {
        code = write_file(folder, list_name, &list, i, &changed, why);
        if (code == SEEN_OK)
            code = write_file(folder, page_name, &page, i, &changed, why);
    }
    buffer_clear(&page);
    buffer_clear(&list);
    if (counts)
        *counts = (struct publish_overview_counts){ count_hosts(o), o->places,
                                                    o->filters, changed };
    return code;
}
