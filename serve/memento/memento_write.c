/*
 * memento_write.c - three formats, one list of captures.
 *
 * Each capture has relations: "memento" always; "first" and "last"; and, if one
 * was chosen, "closest", "prev" and "next" (MemGator's order). A description
 * has only those with such a relation.
 */
#include "memento_write.h"

#include <time.h>

#include "../../lib/text/json.h"
#include "../../lib/text/percent.h"
#include "../../lib/text/span.h"
#include "../../web/timemap.h"

enum { STAMP = 40, AROUND = 400 }; /* bytes */

bool memento_as_read(struct seen_span word, enum memento_as *as)
{
    static const char *const names[] = { "link", "json", "cdxj" };

    for (unsigned i = 0; i < 3; i++)
        if (span_is(word, names[i])) {
            *as = (enum memento_as)i;
            return true;
        }
    return false;
}

const char *memento_type(enum memento_as as)
{
    static const char *const types[] = { "application/link-format",
                                         "application/json",
                                         "application/cdxj+ors" };

    return types[as];
}

bool memento_stamp_read(struct seen_span text, int64_t *when)
{
    unsigned part[6] = { 0, 1, 1, 0, 0, 0 };
    size_t at = 0;

    if (text.len < 4 || text.len > 14 || text.len % 2)
        return false;
    for (size_t i = 0; i < 6 && at < text.len; i++) {
        const size_t end = at + (i ? 2 : 4);

        for (part[i] = 0; at < end; at++) {
            if (text.text[at] < '0' || text.text[at] > '9')
                return false;
            part[i] = part[i] * 10 + (unsigned)(text.text[at] - '0');
        }
    }
    return web_timemap_when(part[0], part[1], part[2], part[3], part[4],
                            part[5], when);
}

enum clock_form { HTTP_TIME, ISO_TIME, STAMP_TIME };

static void put_time(struct buffer *o, enum clock_form form, int64_t when)
{
    const time_t seconds = (time_t)when;
    char text[STAMP];
    struct tm tm;
    size_t n;

    gmtime_r(&seconds, &tm);
    if (form == HTTP_TIME)
        n = strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    else if (form == ISO_TIME)
        n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    else
        n = strftime(text, sizeof text, "%Y%m%d%H%M%S", &tm);
    buffer_bytes(o, text, n);
}

/* --- relations --- */

static const struct {
    unsigned bit;
    const char *name;
} relations[] = { { MEMENTO_FIRST, "first" },
                  { MEMENTO_LAST, "last" },
                  { MEMENTO_CLOSEST, "closest" },
                  { MEMENTO_NEXT, "next" },
                  { MEMENTO_PREV, "prev" } };
enum { RELATIONS = sizeof relations / sizeof relations[0] };

static unsigned relations_of(const struct memento_form *form,
                             const struct memento_timemap *t, size_t i)
{
    const bool chosen = form->closest != MEMENTO_ALL;
    const unsigned of = (i == 0 ? MEMENTO_FIRST : 0U) |
                        (i + 1 == t->captures ? MEMENTO_LAST : 0U) |
                        (chosen && i == form->closest ? MEMENTO_CLOSEST : 0U) |
                        (chosen && i == form->closest + 1 ? MEMENTO_NEXT
                                                          : 0U) |
                        (chosen && i + 1 == form->closest ? MEMENTO_PREV : 0U);

    return of & ~t->unknown;
}

/* The next capture to write; t->captures at the end. Those of a description
   are the first, the chosen one with its neighbours, and the last. */
static size_t next_of(const struct memento_form *form,
                      const struct memento_timemap *t, size_t i)
{
    while (i < t->captures && form->closest != MEMENTO_ALL &&
           !relations_of(form, t, i)) {
        if (i + 1 < form->closest)
            i = form->closest - 1;
        else if (i > form->closest && i + 1 < t->captures)
            i = t->captures - 1;
        else
            i++;
    }
    return i;
}

static void put_relations(struct buffer *o, unsigned of)
{
    for (int k = 0; k < RELATIONS; k++)
        if (of & relations[k].bit)
            buffer_format(o, "%s ", relations[k].name);
    buffer_text(o, "memento");
}

/* --- our own URLs --- */

static void put_original(struct buffer *o, const struct memento_form *form)
{
    percent_encode(o, form->url.text, form->url.len, PERCENT_LINK);
}

/* "https://seen.example/timemap/json/http://a.example/" */
static void put_ours(struct buffer *o, const struct memento_form *form,
                     const char *path)
{
    percent_encode(o, form->origin.text, form->origin.len, PERCENT_LINK);
    buffer_text(o, path);
    put_original(o, form);
}

/* --- links --- */

static void link_ours(struct buffer *o, const struct memento_form *form,
                      const char *path, const char *rel, const char *type)
{
    buffer_byte(o, '<');
    put_ours(o, form, path);
    buffer_format(o, ">; rel=\"%s\"", rel);
    if (type)
        buffer_format(o, "; type=\"%s\"", type);
}

/* RFC 7089 does not know "closest": it is a memento as any other there. */
static void link_capture(struct buffer *o, const struct memento_capture *c,
                         unsigned of)
{
    buffer_byte(o, '<');
    buffer_bytes(o, c->url, c->len);
    buffer_text(o, ">; rel=\"");
    put_relations(o, of & ~(unsigned)MEMENTO_CLOSEST);
    buffer_text(o, "\"; datetime=\"");
    put_time(o, HTTP_TIME, c->when);
    buffer_byte(o, '"');
}

static void link_tail(struct buffer *o, const struct memento_form *form,
                      const char *between)
{
    link_ours(o, form, "/timemap/link/", "timemap", "application/link-format");
    buffer_text(o, between);
    link_ours(o, form, "/timemap/json/", "timemap", "application/json");
    buffer_text(o, between);
    link_ours(o, form, "/timemap/cdxj/", "timemap", "application/cdxj+ors");
}

static void write_link(struct buffer *o, const struct memento_form *form,
                       const struct memento_timemap *t)
{
    buffer_byte(o, '<');
    put_original(o, form);
    buffer_text(o, ">; rel=\"original\",\n");
    if (form->closest == MEMENTO_ALL) {
        link_ours(o, form, "/timemap/link/", "self",
                  "application/link-format");
        buffer_text(o, ",\n");
    }
    for (size_t i = next_of(form, t, 0); i < t->captures;
         i = next_of(form, t, i + 1)) {
        link_capture(o, &t->capture[i], relations_of(form, t, i));
        buffer_text(o, ",\n");
    }
    link_tail(o, form, ",\n");
    buffer_text(o, ",\n");
    link_ours(o, form, "/timegate/", "timegate", NULL);
    buffer_byte(o, '\n');
}

void memento_write_date(struct buffer *o, int64_t when)
{
    put_time(o, HTTP_TIME, when);
}

void memento_write_links(struct buffer *o, const struct memento_form *form,
                         const struct memento_timemap *t, size_t most)
{
    const size_t begin = o->len;

    buffer_byte(o, '<');
    put_original(o, form);
    buffer_text(o, ">; rel=\"original\", ");
    link_tail(o, form, ", ");
    for (size_t i = next_of(form, t, 0); i < t->captures;
         i = next_of(form, t, i + 1)) {
        if (o->len - begin + t->capture[i].len + 100 > most)
            continue;
        buffer_text(o, ", ");
        link_capture(o, &t->capture[i], relations_of(form, t, i));
    }
}

/* --- JSON --- */

static void json_ours(struct buffer *o, const struct memento_form *form,
                      const char *path)
{
    struct buffer url = { .bytes = NULL };

    put_ours(&url, form, path);
    buffer_json(o, url.bytes, url.len);
    o->failed |= url.failed;
    buffer_clear(&url);
}

static void json_original(struct buffer *o, const struct memento_form *form)
{
    struct buffer url = { .bytes = NULL };

    put_original(&url, form);
    buffer_json(o, url.bytes, url.len);
    o->failed |= url.failed;
    buffer_clear(&url);
}

static void json_maps(struct buffer *o, const struct memento_form *form,
                      const char *between)
{
    buffer_text(o, "\"link_format\": ");
    json_ours(o, form, "/timemap/link/");
    buffer_format(o, ",%s\"json_format\": ", between);
    json_ours(o, form, "/timemap/json/");
    buffer_format(o, ",%s\"cdxj_format\": ", between);
    json_ours(o, form, "/timemap/cdxj/");
}

static void json_capture(struct buffer *o, const struct memento_capture *c,
                         const char *indent)
{
    buffer_format(o, "{\n%s  \"datetime\": \"", indent);
    put_time(o, ISO_TIME, c->when);
    buffer_format(o, "\",\n%s  \"uri\": ", indent);
    buffer_json(o, c->url, c->len);
    buffer_format(o, "\n%s}", indent);
}

static void json_list(struct buffer *o, const struct memento_timemap *t)
{
    buffer_text(o, "    \"list\": [\n      ");
    for (size_t i = 0; i < t->captures; i++) {
        if (i)
            buffer_text(o, ",\n      ");
        json_capture(o, &t->capture[i], "      ");
    }
    buffer_text(o, "\n    ],\n");
}

static void json_chosen(struct buffer *o, const struct memento_form *form,
                        const struct memento_timemap *t)
{
    const bool chosen = form->closest != MEMENTO_ALL;
    const size_t none = t->captures;
    const size_t at[RELATIONS] = { 0, t->captures - 1,
                                   chosen ? form->closest : none,
                                   chosen ? form->closest + 1 : none,
                                   chosen && form->closest ? form->closest - 1
                                                           : none };
    const char *before = "    ";

    for (int k = 0; k < RELATIONS; k++) {
        if (at[k] >= t->captures || t->unknown & relations[k].bit)
            continue;
        buffer_format(o, "%s\"%s\": ", before, relations[k].name);
        json_capture(o, &t->capture[at[k]], "    ");
        before = ",\n    ";
    }
}

static void json_archives(struct buffer *o, const struct memento_form *form,
                          const struct memento_timemap *t)
{
    buffer_format(o,
                  "{\n    \"asked\": %zu,\n    \"spared\": %zu,\n"
                  "    \"partial\": %s,\n    \"archives\": [",
                  t->reports, form->spared, t->failed ? "true" : "false");
    for (size_t i = 0; i < t->reports; i++) {
        const struct memento_report *r = &t->report[i];

        buffer_text(o, i ? ",\n      {\"name\": " : "\n      {\"name\": ");
        buffer_json(o, r->name ? r->name : "", r->name ? strlen(r->name) : 0);
        buffer_format(o,
                      ", \"timegate\": %s, \"mementos\": %llu, \"skipped\": "
                      "%llu, \"future\": %llu, \"pages\": %u, \"ms\": %u, "
                      "\"error\": ",
                      r->gate ? "true" : "false",
                      (unsigned long long)r->mementos,
                      (unsigned long long)r->skipped,
                      (unsigned long long)r->future, r->pages, r->ms);
        if (r->failed)
            buffer_json(o, r->why, strlen(r->why));
        else
            buffer_text(o, "null");
        buffer_byte(o, '}');
    }
    buffer_text(o, "\n    ]\n  }");
}

static void write_json(struct buffer *o, const struct memento_form *form,
                       const struct memento_timemap *t)
{
    buffer_text(o, "{\n  \"original_uri\": ");
    json_original(o, form);
    if (form->closest == MEMENTO_ALL) {
        buffer_text(o, ",\n  \"self\": ");
        json_ours(o, form, "/timemap/json/");
    }
    buffer_text(o, ",\n  \"mementos\": {\n");
    if (form->closest == MEMENTO_ALL)
        json_list(o, t);
    json_chosen(o, form, t);
    buffer_text(o, "\n  },\n  \"timemap_uri\": {\n    ");
    json_maps(o, form, "\n    ");
    buffer_text(o, "\n  },\n  \"timegate_uri\": ");
    json_ours(o, form, "/timegate/");
    buffer_text(o, ",\n  \"seen\": ");
    json_archives(o, form, t);
    buffer_text(o, "\n}\n");
}

bool memento_write_failed(struct buffer *o, const struct memento_timemap *t)
{
    const char *before = "{";

    for (size_t i = 0; i < t->reports; i++) {
        const struct memento_report *r = &t->report[i];

        if (!r->failed || !r->name)
            continue;
        buffer_text(o, before);
        buffer_json(o, r->name, strlen(r->name));
        buffer_text(o, ": ");
        buffer_json(o, r->why, strlen(r->why));
        before = ", ";
    }
    buffer_text(o, *before == '{' ? "{}" : "}");
    return *before == ',';
}

/* --- CDXJ --- */

static void cdxj_capture(struct buffer *o, const struct memento_capture *c,
                         unsigned of)
{
    put_time(o, STAMP_TIME, c->when);
    buffer_text(o, " {\"uri\": ");
    buffer_json(o, c->url, c->len);
    buffer_text(o, ", \"rel\": \"");
    put_relations(o, of);
    buffer_text(o, "\", \"datetime\": \"");
    put_time(o, HTTP_TIME, c->when);
    buffer_text(o, "\"}\n");
}

static void cdxj_failed(struct buffer *o, const struct memento_timemap *t)
{
    const size_t before = o->len;

    buffer_text(o, "!meta {\"failed\": ");
    if (memento_write_failed(o, t))
        buffer_text(o, "}\n");
    else
        o->len = before;
}

static void write_cdxj(struct buffer *o, const struct memento_form *form,
                       const struct memento_timemap *t)
{
    buffer_text(o, "!context [\"http://tools.ietf.org/html/rfc7089\"]\n");
    if (form->closest == MEMENTO_ALL) {
        buffer_text(o, "!id {\"uri\": ");
        json_ours(o, form, "/timemap/cdxj/");
        buffer_text(o, "}\n");
    }
    buffer_text(o, "!keys [\"memento_datetime_YYYYMMDDhhmmss\"]\n"
                   "!meta {\"original_uri\": ");
    json_original(o, form);
    buffer_text(o, "}\n!meta {\"timegate_uri\": ");
    json_ours(o, form, "/timegate/");
    buffer_text(o, "}\n!meta {\"timemap_uri\": {");
    json_maps(o, form, " ");
    buffer_text(o, "}}\n");
    cdxj_failed(o, t);
    for (size_t i = next_of(form, t, 0); i < t->captures;
         i = next_of(form, t, i + 1))
        cdxj_capture(o, &t->capture[i], relations_of(form, t, i));
}

/* --- all of them --- */

void memento_write(struct buffer *o, const struct memento_form *form,
                   const struct memento_timemap *t)
{
    if (form->as == MEMENTO_LINK)
        write_link(o, form, t);
    else if (form->as == MEMENTO_JSON)
        write_json(o, form, t);
    else
        write_cdxj(o, form, t);
}

size_t memento_write_size(const struct memento_form *form,
                          const struct memento_timemap *t)
{
    size_t sum = 16 * (form->url.len + form->origin.len + AROUND);

    for (size_t i = 0; i < t->reports; i++)
        sum += 2 * t->report[i].urls.len + AROUND;
    return sum + t->captures * 120;
}
