/*
 * list_reader.c - read one list: find out what it is, and follow its entries.
 *
 * The first bytes decide: "<" begins XML, others a filter in one of its forms
 * (form.h), and anything else is a list of lines, unless the server says that
 * it is a web page. The bytes go through a parser as they come, and are not kept.
 */
#include "list_reader.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/disk/clock.h"
#include "../lib/text/span.h"
#include "../web/sitemap.h"
#include "form.h"
#include "registry.h"

enum list_form { UNKNOWN, XML, LINES, FILTER };
enum { FIRST = HARVEST_FORM_FIRST }; /* bytes that are enough to decide */

struct list_reader {
    struct harvest_lists *lists;
    struct harvest_list *list;
    enum list_form form;
    struct web_sitemap *map;
    struct registry *lines;
    bool page;   /* for people, says its server */
    bool enough; /* of a long robots.txt was read */
    bool text;   /* it is a filter as text */
    bool bounded; /* if it is cut short, the client notices */
    uint64_t length, entries;
    double began;
    char url[HARVEST_URL + 1]; /* after redirects */
    size_t n;
    unsigned char first[64 + FIRST];
};

/* --- entries --- */

/* One entry is bad; the list goes on. It may have been meant to be a filter,
   so nothing of its source is withdrawn. */
static void entry_fault(struct list_reader *r, const struct seen_error *why)
{
    if (r->list->kind == HARVEST_LIST_CHANGES)
        return;
    r->list->source->faults++;
    harvest_unread(r->lists->round, r->list->url, why);
}

static enum seen_code on_filter(struct list_reader *r,
                                const struct web_sitemap_entry *e,
                                const char *url, struct seen_error *why)
{
    struct harvest_announcement a = {
        .list = r->url, .url = url, .lastmod = e->lastmod, .length = e->length
    };
    bool seen = harvest_url_ends(url, ".seen");

    a.text = !seen &&
             (harvest_form_text_url(url) || harvest_form_text_type(e->type));
    if ((!seen && !a.text && !span_is(e->type, "application/vnd.seen")) ||
        span_is(e->change, "deleted"))
        return SEEN_OK;
    if (r->list->site)
        r->list->site->found++;
    harvest_hash_read(&a.hash, e->hash);
    return harvest_list_found(r->lists, r->list, &a, why);
}

static enum seen_code on_change(struct list_reader *r,
                                const struct web_sitemap_entry *e,
                                const char *url, struct seen_error *why)
{
    char patch[HARVEST_URL + 1];
    struct harvest_hash hash, patch_hash;

    harvest_hash_read(&hash, e->hash);
    harvest_hash_read(&patch_hash, e->patch.hash);
    if (harvest_url_read(patch, e->patch.loc, NULL) != SEEN_OK)
        patch[0] = '\0';
    return harvest_catalog_change(&r->lists->round->catalog, url, &hash, patch,
                                  &patch_hash, e->patch.length, why);
}

/* A list that this one names. */
static enum seen_code follow(struct list_reader *r, const char *url,
                             bool index, struct seen_error *why)
{
    struct harvest_list like = *r->list;

    if (like.kind != HARVEST_LIST_CHANGES)
        like.kind = HARVEST_LIST_SITEMAP;
    like.depth++;
    like.from_index = index;
    like.probe = false;
    return harvest_list_follow(r->lists, &like, url, why);
}

/* A list, or with `index` a part of one, of this capability. */
static enum seen_code on_list(struct list_reader *r, const char *url,
                              enum web_sitemap_capability what, bool index,
                              struct seen_error *why)
{
    bool changes = r->list->kind == HARVEST_LIST_CHANGES;

    if (what == WEB_SITEMAP_CHANGES && !changes)
        harvest_list_put_off(r->lists, r->list, url);
    else if (index ? what != WEB_SITEMAP_OTHER
                   : what == (changes ? WEB_SITEMAP_CHANGES
                                      : WEB_SITEMAP_RESOURCES))
        return follow(r, url, index, why);
    return SEEN_OK;
}

static enum seen_code on_entry(void *owner, const struct web_sitemap_entry *e,
                               struct seen_error *why)
{
    struct list_reader *r = owner;
    bool changes = r->list->kind == HARVEST_LIST_CHANGES;
    struct seen_error fault;
    char url[HARVEST_URL + 1];

    r->entries++;
    if (!e->fault && harvest_url_read(url, e->loc, &fault) == SEEN_OK) {
        if (e->index && r->list->from_index)
            return seen_fail(why, SEEN_RANGE, 0,
                             "is a sitemap index inside an index");
        if (e->index)
            return on_list(r, url, e->document, true, why);
        switch (e->document) {
        case WEB_SITEMAP_DESCRIPTION:
            return e->of == WEB_SITEMAP_CAPABILITIES
                       ? follow(r, url, false, why)
                       : SEEN_OK;
        case WEB_SITEMAP_CAPABILITIES:
            return on_list(r, url, e->of, false, why);
        case WEB_SITEMAP_CHANGES:
            return changes ? on_change(r, e, url, why) : SEEN_OK;
        case WEB_SITEMAP_PLAIN:
        case WEB_SITEMAP_RESOURCES:
            return changes ? SEEN_OK : on_filter(r, e, url, why);
        case WEB_SITEMAP_OTHER: break;
        }
        return SEEN_OK;
    }
    entry_fault(r, e->fault ? e->fault : &fault);
    return SEEN_OK;
}

static enum seen_code on_line(void *owner, const char *url, uint64_t line,
                              const struct seen_error *fault,
                              struct seen_error *why)
{
    struct list_reader *r = owner;
    struct seen_error numbered;

    if (!url) {
        seen_fail(&numbered, SEEN_CORRUPT, line, "line %llu: %s",
                  (unsigned long long)line, fault->text);
        entry_fault(r, &numbered);
        return SEEN_OK;
    }
    if (r->lines->robots)
        return follow(r, url, false, why);
    r->list->source->registry = true;
    return harvest_list_name(r->lists, url, r->list->source->root, r->list,
                             why);
}

/* --- the form --- */

static size_t skip_space(const unsigned char *at, size_t n)
{
    size_t i = n >= 3 && !memcmp(at, "\xef\xbb\xbf", 3) ? 3 : 0;

    while (i < n && memchr(" \t\r\n", at[i], 4))
        i++;
    return i;
}

static enum seen_code not_a_list(struct list_reader *r, struct seen_error *why)
{
    return seen_fail(why, SEEN_UNABLE, 0,
                     r->list->kind == HARVEST_LIST_ANY
                         ? "is neither a sitemap nor a filter nor a list"
                         : "is not a sitemap");
}

/* Called with the first bytes, when there are enough or no more. */
static enum seen_code find_form(struct list_reader *r, struct seen_error *why)
{
    size_t at = skip_space(r->first, r->n);
    enum harvest_list_kind kind = r->list->kind;
    enum harvest_form form = harvest_form_of(r->first, r->n);

    if (at < r->n && r->first[at] == '<' && kind != HARVEST_LIST_ROBOTS) {
        r->form = XML;
        return web_sitemap_new(&r->map, NULL, on_entry, r, why);
    }
    if (kind == HARVEST_LIST_ANY && form != HARVEST_FORM_NONE) {
        r->form = FILTER;
        r->text = form != HARVEST_FORM_SEEN;
        return seen_fail(why, SEEN_UNABLE, 0, "is a filter");
    }
    if (r->page || kind == HARVEST_LIST_SITEMAP ||
        kind == HARVEST_LIST_CHANGES)
        return not_a_list(r, why);
    r->form = LINES;
    r->lines = calloc(1, sizeof *r->lines);
    if (!r->lines)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    r->lines->robots = kind == HARVEST_LIST_ROBOTS ||
                       harvest_url_ends(r->list->url, "/robots.txt");
    r->lines->handle = on_line;
    r->lines->owner = r;
    return SEEN_OK;
}

static enum seen_code parse(struct list_reader *r, const void *bytes, size_t n,
                            struct seen_error *why)
{
    enum seen_code code;

    if (r->form == XML)
        return web_sitemap_push(r->map, bytes, n, why);
    code = registry_push(r->lines, bytes, n, &r->enough, why);
    if (code == SEEN_OK && r->enough)
        return seen_fail(why, SEEN_UNABLE, 0, "is longer than it should be");
    return code;
}

static enum seen_code find_and_parse(struct list_reader *r,
                                     struct seen_error *why)
{
    enum seen_code code = find_form(r, why);

    return code == SEEN_OK ? parse(r, r->first, r->n, why) : code;
}

/* --- from the client --- */

static enum seen_code on_begin(void *owner,
                               const struct fetch_response *response,
                               struct seen_error *why)
{
    struct list_reader *r = owner;

    (void)why;
    r->page = strstr(response->type, "html") != NULL;
    r->length = response->length;
    r->bounded = response->bounded;
    if (harvest_url_read(r->url, span_of(response->url), NULL) != SEEN_OK)
        strcpy(r->url, r->list->url);
    return SEEN_OK;
}

/* Bytes of this publisher's lists, and of all. */
static enum seen_code count(struct list_reader *r, size_t n,
                            struct seen_error *why)
{
    struct harvest_publisher *p = r->list->source->publisher;

    r->lists->bytes += n;
    p->bytes += n;
    if (r->lists->bytes > HARVEST_BYTES)
        return seen_fail(why, SEEN_RANGE, 0,
                         "all lists together have more than %d MB",
                         HARVEST_BYTES >> 20);
    if (p->bytes > HARVEST_PUBLISHER_BYTES)
        return seen_fail(why, SEEN_RANGE, 0,
                         "the lists of this publisher have more than %d MB",
                         HARVEST_PUBLISHER_BYTES >> 20);
    return SEEN_OK;
}

static enum seen_code on_body(void *owner, const void *bytes, size_t n,
                              struct seen_error *why)
{
    struct list_reader *r = owner;
    const unsigned char *at = bytes;
    enum seen_code code = count(r, n, why);

    /* There may be much white space before the byte that decides. */
    while (n && r->form == UNKNOWN && code == SEEN_OK) {
        r->first[r->n++] = *at++;
        n--;
        if (r->n == sizeof r->first ||
            r->n >= skip_space(r->first, r->n) + FIRST)
            code = find_and_parse(r, why);
    }
    return code == SEEN_OK && n ? parse(r, at, n, why) : code;
}

/* A folder whose URL lacks its last slash: the server has no file of that
   name, but may have lists in the folder. */
static bool lacks_slash(const struct list_reader *r, int status,
                        char url[HARVEST_URL + 1])
{
    size_t n = strlen(url);

    if ((status != 403 && status != 404) || strchr(url, '?') ||
        strchr(strrchr(harvest_url_path(url), '/'), '.') || n == HARVEST_URL)
        return false;
    if (r->list->kind != HARVEST_LIST_ANY || url[n - 1] == '/')
        return false;
    strcpy(url + n, "/");
    return true;
}

/* A page instead of a list: it may be the site of one. */
static bool becomes_site(struct list_reader *r,
                         const struct fetch_response *response)
{
    char url[HARVEST_URL + 1];
    const char *at = *response->url ? response->url : r->list->url;
    struct harvest_site *s;

    if (r->list->kind != HARVEST_LIST_ANY || r->form == LINES ||
        r->form == FILTER ||
        harvest_url_read(url, span_of(at), NULL) != SEEN_OK)
        return false;
    if (!lacks_slash(r, response->status, url) && !r->page &&
        !(r->map && web_sitemap_is_page(r->map)))
        return false;
    s = harvest_site_new(r->lists, r->list, url);
    if (!s)
        return false;
    harvest_list_done(r->lists, r->list);
    harvest_site_advance(r->lists, s);
    return true;
}

/* What the end of the request means for the list. */
static enum seen_code conclude(struct list_reader *r, enum seen_code code,
                               const struct fetch_response *response,
                               struct seen_error *why)
{
    struct harvest_announcement a = { .list = r->list->url,
                                      .url = r->list->url,
                                      .length = r->length,
                                      .text = r->text };

    if (code == SEEN_OK && response->status != 200)
        return fetch_status_fault(response->status, why);
    if (code == SEEN_OK && r->form == UNKNOWN)
        code = r->n ? find_and_parse(r, why) : not_a_list(r, why);
    if (r->form == FILTER)
        return harvest_list_found(r->lists, r->list, &a, why);
    if (r->enough)
        return registry_end(r->lines, why); /* the rest does not count */
    if (code == SEEN_OK && r->form == XML)
        code = web_sitemap_end(r->map, why);
    else if (code == SEEN_OK && r->form == LINES && r->lines->len &&
             !r->bounded)
        /* What it lacks must not count as withdrawn. */
        code = seen_fail(why, SEEN_CORRUPT, r->lines->line + 1,
                         "ends within a line; it was cut short");
    else if (code == SEEN_OK && r->form == LINES)
        code = registry_end(r->lines, why);
    return code;
}

/* The list was read to its end. */
static void read_to_end(struct list_reader *r)
{
    struct harvest_list *it = r->list;
    enum web_sitemap_capability what = r->map ? web_sitemap_capability(r->map)
                                              : WEB_SITEMAP_OTHER;
    char up[HARVEST_URL + 1];

    r->lists->round->sum->lists++;
    if (what == WEB_SITEMAP_RESOURCES && it->kind != HARVEST_LIST_CHANGES) {
        if (harvest_url_read(up, span_of(web_sitemap_up(r->map)), NULL) ==
            SEEN_OK)
            harvest_list_put_off(r->lists, it, up);
        if (it->site)
            it->site->answered = true;
    }
    if (it->site && what == WEB_SITEMAP_PLAIN && !r->entries &&
        !web_sitemap_is_index(r->map))
        it->site->answered = true;
    harvest_list_done(r->lists, it);
}

static void reader_free(struct list_reader *r)
{
    web_sitemap_free(r->map);
    free(r->lines);
    free(r);
}

static void on_end(void *owner, enum seen_code code,
                   const struct fetch_response *response,
                   const struct seen_error *fault)
{
    struct list_reader *r = owner;
    struct harvest_list *it = r->list;
    struct harvest_round *round = r->lists->round;
    struct harvest_publisher *p = it->source->publisher;
    struct seen_error why = { .code = SEEN_OK };
    uint64_t due;

    p->seconds += clock_seconds() - r->began;
    if (harvest_stopped(round)) {
        it->site = NULL; /* neither read nor failed */
        harvest_list_done(r->lists, it);
    } else if (clock_seconds() < r->lists->until &&
               fetch_retry_again(&it->retry, &round->retry, code, response,
                                 &due)) {
        harvest_list_again(r->lists, it, due);
    } else {
        if (code != SEEN_OK)
            why = *fault;
        code = conclude(r, code, response, &why);
        fetch_health_note(&round->health, p->number, it->url, code, response);
        /* If the host cannot be reached, it is not asked for another list. */
        if (it->site && it->probe && code != SEEN_OK && !response->status &&
            harvest_url_same_host(*response->url ? response->url : it->url,
                                  it->url))
            it->site->step = HARVEST_SITE_STEPS;
        if (code == SEEN_OK)
            read_to_end(r);
        else if (!becomes_site(r, response))
            harvest_list_failed(r->lists, it, &why);
    }
    reader_free(r);
}

enum seen_code harvest_list_read(struct harvest_lists *l,
                                 struct harvest_list *it,
                                 struct seen_error *why)
{
    static const struct fetch_handler handler = { on_begin, on_body, on_end };
    double now = clock_seconds();
    double left = harvest_time_left(l->round, it->source->publisher);
    struct list_reader *r = calloc(1, sizeof *r);
    struct fetch_request request = { .url = it->url,
                                     .most = HARVEST_LIST_BYTES,
                                     .unpack = true,
                                     .handler = &handler,
                                     .owner = r };
    enum seen_code code;

    if (!r)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    r->lists = l;
    r->list = it;
    r->began = now;
    left = left < l->until - now ? left : l->until - now;
    request.timeout = left > 1 ? (unsigned)left : 1;
    code = fetch_start(l->round->web, &request, why);
    if (code != SEEN_OK)
        reader_free(r);
    return code;
}
