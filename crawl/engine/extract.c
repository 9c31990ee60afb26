/*
 * extract.c - fields and facts of a page as a line of JSON.
 *
 * The facts come from the page and its visit, the fields from the template. If
 * the page costs too much, some fields are missing and the record says so.
 */
#include "extract.h"

#include <stdio.h>
#include <string.h>

#include "../../lib/text/json.h"
#include "../../lib/text/span.h"
#include "../page/record.h"
#include "reader.h"

static bool has_record(const struct crawl_page *page)
{
    return page->outcome == CRAWL_STORED || page->outcome == CRAWL_UNCHANGED ||
           (page->outcome == CRAWL_ERROR &&
            (page->status == 404 || page->status == 410));
}

static void default_fields(struct buffer *fields, struct seen_span title,
                           struct seen_span text)
{
    buffer_text(fields, "\"title\": [");
    if (title.len)
        buffer_json(fields, title.text, title.len);
    buffer_text(fields, "], \"text\": [");
    if (text.len)
        buffer_json(fields, text.text, text.len);
    buffer_text(fields, "]");
}

enum seen_code crawl_extract(const struct crawl_shared *shared,
                             struct crawl_page *page, struct web_tree *tree,
                             struct seen_span title, struct seen_span text,
                             struct buffer *record, struct buffer *fields,
                             struct seen_error *why)
{
    const struct crawl_template *t = shared->template;
    size_t len = strlen(page->url);
    struct crawl_record r = {
        .url = { page->url, len },
        .template = t ? crawl_template_hash(t) : NULL,
        .visit = shared->visit,
        .fetched = (uint64_t)page->started,
        .status = page->status,
        .turn = page->known.visit == shared->visit_id ? page->known.turn + 1
                                                      : 1,
        .fields = fields,
    };
    const struct budget *budget = tree ? web_tree_budget(tree) : NULL;
    struct crawl_extracted result;
    enum seen_code code = SEEN_OK;
    uint64_t skeleton;

    if (!has_record(page))
        return SEEN_OK;
    if (t)
        r.type = crawl_template_type(t, *page->type ? page->type : NULL,
                                     page->url, len, NULL);
    if (tree) {
        code = web_tree_skeleton(tree, &skeleton, why);
        r.skeleton = &skeleton;
    }
    if (code == SEEN_OK && t && tree) {
        code = crawl_template_extract(t, r.type, tree, page->url, len, fields,
                                      &result, why);
        page->incomplete = code == SEEN_OK && result.missing;
        if (code == SEEN_OK && result.costly)
            crawl_page_note_cost(
                page, "%.60s not extracted: pattern too costly here: %.120s",
                result.costly, result.pattern);
        if (budget && budget_empty(budget))
            crawl_page_note_cost(
                page, "it costs too much: some of its fields are left out");
    } else if (code == SEEN_OK && !t)
        default_fields(fields, title, text);
    r.costly = *page->costly ? page->costly : NULL;
    if (code == SEEN_OK)
        crawl_record_write(record, &r);
    if (code == SEEN_OK && (fields->failed || record->failed))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a page record");
    return code;
}
