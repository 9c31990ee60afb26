/* searches_json.c - found pages for programs. */
#include "searches.h"

#include <inttypes.h>

#include <seen/version.h>

#include "../../lib/text/json.h"

static void put_text(struct buffer *o, const char *name, const char *value)
{
    buffer_format(o, ", \"%s\": ", name);
    if (*value)
        buffer_json(o, value, strlen(value));
    else
        buffer_text(o, "null");
}

static void put_flag(struct buffer *o, const char *name, bool value)
{
    buffer_format(o, ", \"%s\": %s", name, value ? "true" : "false");
}

/* Unix time with its thousandths; null for none. */
static void put_time(struct buffer *o, const char *name, int64_t ms)
{
    if (ms > 0)
        buffer_format(o, ", \"%s\": %" PRId64 ".%03d", name, ms / 1000,
                      (int)(ms % 1000));
    else
        buffer_format(o, ", \"%s\": null", name);
}

static void put_plain(void *owner, struct seen_span part, bool found)
{
    (void)found;
    buffer_span(owner, part);
}

/* ["what is between", "what was found", ...]: every second one was. */
static void put_part(void *owner, struct seen_span part, bool found)
{
    struct buffer *o = owner;

    if (found || o->bytes[o->len - 1] != '[')
        buffer_text(o, ", ");
    buffer_json(o, part.text, part.len);
}

static void put_result(struct buffer *o, const struct searches_site *site,
                       const struct search_page *page)
{
    struct buffer title = { .bytes = NULL };

    buffer_text(o, "{\"url\": ");
    buffer_json(o, page->url, strlen(page->url));
    searches_cut(page->title, put_plain, &title);
    buffer_text(o, ", \"title\": ");
    buffer_json(o, title.len ? title.bytes : "", title.len);
    o->failed |= title.failed;
    buffer_clear(&title);
    buffer_text(o, ", \"snippet\": [");
    if (!o->failed)
        searches_cut(page->excerpt, put_part, o);
    buffer_format(o, "], \"rank\": %.6g, \"visit\": %" PRId64, page->rank,
                  page->visit);
    put_time(o, "fetched", page->fetched);
    put_time(o, "stored", page->stored);
    buffer_text(o, ", \"archived\": ");
    if (site->aggregates) {
        struct buffer copy = { .bytes = NULL };

        buffer_text(&copy, site->origin);
        buffer_byte(&copy, '/');
        searches_copy(&copy, page);
        buffer_json(o, copy.len ? copy.bytes : "", copy.len);
        buffer_clear(&copy);
    } else {
        buffer_text(o, "null");
    }
    buffer_byte(o, '}');
}

static void put_visits(struct buffer *o, const struct search_found *found)
{
    buffer_text(o, ",\n \"visits\": [");
    for (size_t i = 0; i < found->visits; i++) {
        const struct search_visit *v = &found->visit[i];

        buffer_format(o, "%s{\"visit\": %" PRId64, i ? ", " : "", v->id);
        put_time(o, "began", v->began);
        put_time(o, "ended", v->ended);
        buffer_byte(o, '}');
    }
    buffer_byte(o, ']');
}

static void put_question(struct buffer *o, const struct searches_form *form)
{
    put_text(o, "question", form->typed);
    if (form->visit)
        buffer_format(o, ", \"visit\": %" PRId64, form->visit);
    else
        buffer_text(o, ", \"visit\": null");
    put_text(o, "from", form->from);
    put_text(o, "to", form->to);
    buffer_format(o, ", \"page\": %zu, \"most\": %zu", form->number,
                  form->most);
}

void searches_json(struct buffer *o, const struct searches_site *site,
                   const struct searches_form *form,
                   const struct search_found *found)
{
    const size_t first = (form->number - 1) * form->most;
    const char *name;

    buffer_text(o, "{\"version\": \"" SEEN_VERSION "\", \"crawl\": ");
    buffer_json(o, form->crawl, strlen(form->crawl));
    buffer_text(o, ", \"crawls\": [");
    for (size_t i = 0; (name = search_name(site->search, i)); i++) {
        buffer_text(o, i ? ", " : "");
        buffer_json(o, name, strlen(name));
    }
    buffer_byte(o, ']');
    put_flag(o, "running", found->running);
    put_visits(o, found);
    put_question(o, form);
    buffer_format(o, ", \"total\": %" PRIu64, found->total);
    put_flag(o, "complete", found->complete);
    put_flag(o, "more",
             !found->complete || first + found->pages < found->total);
    buffer_text(o, ", \"results\": [");
    for (size_t i = 0; i < found->pages; i++) {
        buffer_text(o, i ? ",\n  " : "\n  ");
        put_result(o, site, &found->page[i]);
    }
    buffer_text(o, "]}\n");
}
