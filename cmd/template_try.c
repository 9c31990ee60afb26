/*
 * template_try.c - seen template try: what a crawl would make of a page.
 *
 * The page comes from a file, or from the web through the guarded client
 * (fetch/). Then the same functions judge it as in a crawl:
 * crawl_template_type(), crawl_template_extract() and crawl_template_follow().
 * Only printing is of this file's own, as lines for people or as one object of
 * JSON.
 *
 * A link is printed once, at the first place where it stands, with the verdict
 * on it. All links of the page are asked about, also those that no rule
 * selects, since "why is this not followed?" is the question that the command
 * is there for.
 */
#include "template.h"

#include <stdlib.h>
#include <string.h>


#include "../fetch/fetch.h"
#include "../lib/text/json.h"
#include "../lib/text/json_tree.h"
#include "../lib/text/map.h"
#include "../lib/text/span.h"
#include "../web/select.h"
#include "output.h"

enum { PAGE = 64 << 20 }; /* bytes of a page from the web */

/* --- a page from the web --- */

struct template_download {
    struct buffer *page, *final;
    struct seen_error why;
    enum seen_code code;
    int status;
};

static enum seen_code take_body(void *owner, const void *bytes, size_t n,
                                struct seen_error *why)
{
    struct template_download *d = owner;

    buffer_bytes(d->page, bytes, n);
    return d->page->failed ? seen_fail(why, SEEN_NOMEM, 0, "out of memory")
                           : SEEN_OK;
}

static void take_end(void *owner, enum seen_code code,
                     const struct fetch_response *response,
                     const struct seen_error *why)
{
    struct template_download *d = owner;

    d->code = code;
    d->status = response->status;
    if (code != SEEN_OK)
        d->why = *why;
    buffer_text(d->final, response->url);
}

bool cmd_template_fetch(const struct cmd_template *o, const char *url,
                        struct buffer *page, struct buffer *final)
{
    static const struct fetch_handler handler = { .body = take_body,
                                                  .end = take_end };
    const struct fetch_options options = {
        .allow_private = o->allow_private,
        .allow = o->allow,
        .authorities = o->ca,
        .timeout = o->timeout && o->timeout < 86400 ? (unsigned)o->timeout : 30
    };
    struct template_download d = { .page = page, .final = final };
    const struct fetch_request request = { .url = url,
                                           .most = PAGE,
                                           .unpack = true,
                                           .handler = &handler,
                                           .owner = &d };
    struct fetch *web = NULL;
    struct seen_error why;
    bool good = false;

    if (fetch_new(&web, &options, &why) != SEEN_OK ||
        fetch_start(web, &request, &why) != SEEN_OK) {
        trouble_with(url, &why);
        fetch_free(web);
        return false;
    }
    while (fetch_poll(web, 1000))
        continue;
    if (d.code != SEEN_OK)
        trouble_with(url, &d.why);
    else if (d.status != 200)
        trouble("%s: the answer has status %d", url, d.status);
    else
        good = true;
    if (!good && fetch_refused(web))
        warning("connections to addresses that are not public need --allow or "
                "--allow-private");
    fetch_free(web);
    return good;
}

/* --- what is found --- */

struct template_trial {
    const struct cmd_template *o;
    const struct crawl_template *t;
    struct web_tree *tree;
    struct crawl_areas *areas;
    char url[SEEN_KEY_TEXT], base[SEEN_KEY_TEXT];
    size_t url_len, base_len;
    const char *type;
    struct map met; /* links that were printed */
    bool some, memory;
    struct buffer line; /* --json */
};

static void print_link(struct template_trial *x, const char *url, size_t len)
{
    struct crawl_verdict v;

    crawl_template_follow(x->t, x->areas, x->type, url, len, NULL, &v);
    if (x->o->json) {
        struct buffer *b = &x->line;

        buffer_text(b, x->some ? ", {\"url\": " : "{\"url\": ");
        buffer_json(b, url, len);
        buffer_format(b, ", \"follow\": %s", v.follow ? "true" : "false");
        if (v.reason == CRAWL_BY_RULE || v.reason == CRAWL_DENIED ||
            v.reason == CRAWL_COSTLY)
            buffer_format(b, ", \"rule\": %u", v.rule);
        if (v.type) {
            buffer_text(b, ", \"type\": ");
            buffer_json(b, v.type, strlen(v.type));
        }
        if (v.pattern) {
            buffer_text(b, ", \"pattern\": ");
            buffer_json(b, v.pattern, strlen(v.pattern));
        }
        buffer_text(b, ", \"reason\": ");
        buffer_json(b, crawl_reason_text(v.reason),
                    strlen(crawl_reason_text(v.reason)));
        buffer_byte(b, '}');
        x->some = true;
        return;
    }
    output_text(v.follow ? "follow " : "skip   ");
    output_shown((struct seen_span){ url, len });
    if (v.reason == CRAWL_BY_RULE)
        output_format(": follow[%u]", v.rule);
    else if (v.reason == CRAWL_DENIED)
        output_format(": follow[%u] denies %s", v.rule, v.pattern);
    else if (v.reason == CRAWL_COSTLY)
        output_format(": follow[%u] is %s: %s", v.rule,
                      crawl_reason_text(v.reason), v.pattern);
    else
        output_format(": %s", crawl_reason_text(v.reason));
    if (v.type)
        output_format(", as %s", v.type);
    output_text("\n");
}

static void take_link(void *owner, struct seen_span href)
{
    struct template_trial *x = owner;
    char room[SEEN_KEY_TEXT], *kept;
    const char *url;
    size_t len;

    if (seen_url_whatwg(&url, &len, room, href.text, href.len, x->base,
                        x->base_len, NULL) != SEEN_OK)
        return;
    crawl_template_clean(x->t, room, &len, url, len);
    if (map_get(&x->met, room, len))
        return;
    kept = malloc(len + 1);
    if (!kept) {
        x->memory = true;
        return;
    }
    memcpy(kept, room, len);
    if (!map_set(&x->met, kept, len, kept)) {
        free(kept);
        x->memory = true;
        return;
    }
    print_link(x, kept, len);
}

static bool take_page(void *owner, const struct web_match *m)
{
    web_match_links(m, take_link, owner);
    return false;
}

static bool print_links(struct template_trial *x)
{
    struct web_selector *page;
    struct seen_error why;
    void *url;

    if (web_selector_new(&page, ":root", 5, false, &why) != SEEN_OK ||
        web_select(page, x->tree, take_page, x, &why) != SEEN_OK)
        x->memory = true;
    else
        web_selector_free(page);
    for (size_t at = 0; (url = map_next(&x->met, &at));)
        free(url);
    map_clear(&x->met);
    return !x->memory;
}

static void print_field(const char *name, const json_t *list)
{
    const json_t *value;
    size_t i;

    if (!json_array_size(list)) {
        output_shown(span_of(name));
        output_text(": nothing was found\n");
    }
    json_array_foreach(list, i, value)
    {
        char *number = json_is_string(value)
                           ? NULL
                           : json_tree_text(value, JSON_ENCODE_ANY);

        output_shown(span_of(name));
        output_text(": ");
        if (json_is_string(value))
            cmd_template_print(json_string_value(value),
                               json_string_length(value));
        else
            output_text(number ? number : "");
        output_text("\n");
        free(number);
    }
}

/* The fields were written as JSON; here they are printed line by line. */
static bool print_fields(const struct buffer *fields)
{
    struct buffer b = { .bytes = NULL };
    const char *name;
    json_t *root, *list;

    buffer_byte(&b, '{');
    buffer_append(&b, fields);
    buffer_byte(&b, '}');
    if (b.failed || json_tree_read(&root, (struct seen_span){ b.bytes, b.len },
                                   0, NULL, NULL) != SEEN_OK)
        root = NULL;
    buffer_clear(&b);
    if (!root)
        return false;
    json_object_foreach(root, name, list) print_field(name, list);
    json_decref(root);
    return true;
}

static bool print_trial(struct template_trial *x, const struct buffer *fields,
                        uint64_t skeleton)
{
    struct buffer *b = &x->line;
    bool good;

    if (!x->o->json) {
        output_format("page type: %s\n", x->type ? x->type : "none");
        return print_fields(fields) && print_links(x);
    }
    buffer_text(b, "{\"url\": ");
    buffer_json(b, x->url, x->url_len);
    buffer_text(b, ", \"type\": ");
    if (x->type)
        buffer_json(b, x->type, strlen(x->type));
    else
        buffer_text(b, "null");
    buffer_format(b,
                  ", \"template\": \"%s\", \"skeleton\": \"%016llx\", "
                  "\"fields\": {",
                  crawl_template_hash(x->t), (unsigned long long)skeleton);
    buffer_append(b, fields);
    buffer_text(b, "}, \"links\": [");
    good = print_links(x);
    buffer_text(b, "]}\n");
    good &= !b->failed;
    if (good)
        output_bytes(b->bytes, b->len);
    buffer_clear(b);
    return good;
}

static enum outcome try_page(struct template_trial *x)
{
    struct buffer fields = { .bytes = NULL };
    struct crawl_extracted result = { .found = 0 };
    enum outcome out = YES;
    uint64_t skeleton = 0;
    struct seen_error why;

    const char *costly;

    x->type = crawl_template_type(x->t, x->o->type, x->url, x->url_len,
                                  &costly);
    if (costly)
        warning("its type is not known: pattern too costly here: %s", costly);
    if (crawl_template_extract(x->t, x->type, x->tree, x->url, x->url_len,
                               &fields, &result, &why) != SEEN_OK ||
        web_tree_skeleton(x->tree, &skeleton, &why) != SEEN_OK ||
        web_tree_base(x->tree, x->base, &x->base_len, x->url, x->url_len,
                      &why) != SEEN_OK ||
        crawl_areas_new(&x->areas, x->t, x->tree, x->url, x->url_len, &why) !=
            SEEN_OK)
        out = trouble("%s", why.text);
    else if (!print_trial(x, &fields, skeleton))
        out = trouble("out of memory");
    if (out == YES && result.failed)
        warning("%s: its selector takes too long on this page", result.failed);
    if (out == YES && result.costly)
        warning("%s: not extracted: pattern too costly here: %s",
                result.costly, result.pattern);
    if (out == YES && result.cut)
        warning("some values are too long or too many, and were left out");
    if (out == YES && result.missing) {
        warning("%s: required, but not found", result.absent);
        out = NO;
    }
    crawl_areas_free(x->areas);
    buffer_clear(&fields);
    return out;
}

/* The page's address: as given, as fetched, or the first start URL. */
static bool set_url(struct template_trial *x, const char *url)
{
    const char *whole;
    struct seen_error why;

    if (!url)
        return crawl_template_start(x->t, 0, x->url, &x->url_len, &why) ==
               SEEN_OK;
    if (seen_url_whatwg(&whole, &x->url_len, x->url, url, strlen(url), NULL, 0,
                        &why) != SEEN_OK) {
        trouble_with(url, &why);
        return false;
    }
    crawl_template_clean(x->t, x->url, &x->url_len, whole, x->url_len);
    return true;
}

static enum outcome try_template(const struct cmd_template *o,
                                 const struct crawl_template *t,
                                 const char *from)
{
    struct template_trial x = { .o = o, .t = t };
    struct buffer page = { .bytes = NULL }, final = { .bytes = NULL };
    bool web = !strncmp(from, "http://", 7) || !strncmp(from, "https://", 8);
    char *bytes = NULL, *url = NULL;
    enum outcome out = TROUBLE;
    struct seen_error why;
    size_t len = 0;

    if (web) {
        if (cmd_template_fetch(o, from, &page, &final)) {
            len = page.len;
            bytes = buffer_take(&page);
            url = buffer_take(&final);
        }
    } else {
        cmd_template_file(from, WEB_TREE_BYTES, &bytes, &len);
    }
    if (bytes && set_url(&x, o->base ? o->base : url)) {
        if (web_tree_new(&x.tree, bytes, len, o->charset, &why) != SEEN_OK)
            trouble_with(from, &why);
        else
            out = try_page(&x);
    }
    web_tree_free(x.tree);
    buffer_clear(&page);
    buffer_clear(&final);
    free(bytes);
    free(url);
    return out;
}

enum outcome cmd_template_try(void *settings, char **operand)
{
    const struct cmd_template *o = settings;
    struct crawl_template *t = cmd_template_load(operand[0]);
    enum outcome out;

    if (!t)
        return TROUBLE;
    if (o->type) {
        size_t i = 0;

        while (crawl_template_types(t, i) &&
               strcmp(crawl_template_types(t, i), o->type) != 0)
            i++;
        if (!crawl_template_types(t, i)) {
            out = trouble("--type %s: the template has no such page type",
                          o->type);
            crawl_template_free(t);
            return out;
        }
    }
    out = try_template(o, t, operand[1]);
    crawl_template_free(t);
    return out;
}
