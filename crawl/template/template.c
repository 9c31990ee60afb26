/*
 * template.c - the door: a template from its text, its hash, its settings.
 */
#include "template.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "../../lib/text/hex.h"
#include "../../lib/text/memory.h"
#include "../../lib/text/span.h"
#include "../page/scope.h"
#include "inside.h"

/*
 * The canonical content: without white space, members sorted by name, UTF-8.
 * Numbers are integers, which have one spelling; a number with a fraction is a
 * mistake in every place of a template.
 */
static enum seen_code make_hash(struct crawl_template *t, json_t *root,
                                struct seen_error *why)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n;

    t->content = json_tree_text(root, JSON_COMPACT | JSON_SORT_KEYS);
    /* Without memory for OpenSSL's own state EVP_Digest() would crash. */
    if (!t->content || !OSSL_LIB_CTX_get0_global_default() ||
        !EVP_Digest(t->content, strlen(t->content), sum, &n, EVP_sha1(), NULL))
        return no_memory_for(why, "a template");
    hex_write(t->hash, sum, 20);
    return SEEN_OK;
}

static bool is_xml(const char *text, size_t len)
{
    size_t at = 0;

    if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        at = 3;
    while (at < len && memchr(" \t\r\n", text[at], 4))
        at++;
    return at < len && text[at] == '<';
}

/* Parse JSON; a mistake of the grammar is reported as others are. */
static enum seen_code load(json_t **root, const char *text, size_t len,
                           bool xml, crawl_mistake *mistake, void *owner,
                           struct seen_error *why)
{
    json_error_t error;
    uint64_t line;
    enum seen_code code = json_tree_read(root, (struct seen_span){ text, len },
                                         JSON_REJECT_DUPLICATES, &error, why);

    if (code == SEEN_OK)
        return SEEN_OK;
    if (code == SEEN_NOMEM)
        return no_memory_for(why, "a template");
    line = !xml && error.line > 0 ? (uint64_t)error.line : 0;
    if (mistake)
        mistake(owner, line, error.text);
    return seen_fail(why, SEEN_CORRUPT, line, "%s", error.text);
}

static enum seen_code read_json(struct crawl_template *t, const char *text,
                                size_t len, const struct crawl_source *source,
                                crawl_mistake *mistake, void *owner,
                                struct seen_error *why)
{
    json_t *root;
    enum seen_code code = load(&root, text, len, source->xml, mistake, owner,
                               why);

    if (code != SEEN_OK)
        return code;
    code = crawl_template_read(t, root, source, mistake, owner, why);
    if (code == SEEN_OK)
        code = make_hash(t, root, why);
    json_decref(root);
    return code;
}

static enum seen_code read_xml(struct crawl_template *t, const char *text,
                               size_t len, crawl_mistake *mistake, void *owner,
                               struct seen_error *why)
{
    const struct crawl_source source = { text, len, true };
    struct buffer json = { .bytes = NULL };
    struct seen_error own;
    enum seen_code code = crawl_template_convert(&json, text, len, &own);

    if (code == SEEN_OK) {
        code = read_json(t, json.bytes, json.len, &source, mistake, owner,
                         why);
    } else {
        if (mistake && code == SEEN_CORRUPT)
            mistake(owner, own.at, own.text);
        if (why)
            *why = own;
    }
    buffer_clear(&json);
    return code;
}

enum seen_code crawl_template_new(struct crawl_template **out,
                                  const char *text, size_t len,
                                  void (*mistake)(void *owner, uint64_t line,
                                                  const char *text),
                                  void *owner, struct seen_error *why)
{
    const struct crawl_source source = { text, len, false };
    struct crawl_template *t;
    enum seen_code code;

    if (len > CRAWL_TEMPLATE)
        return seen_fail(why, SEEN_RANGE, 0, "a template has at most %d bytes",
                         CRAWL_TEMPLATE);
    t = calloc(1, sizeof *t);
    if (!t)
        return no_memory_for(why, "a template");
    t->settings = (struct crawl_template_limits){ .interval = CRAWL_UNSET,
                                                  .delay = CRAWL_UNSET,
                                                  .per_host = CRAWL_UNSET,
                                                  .per_address = CRAWL_UNSET,
                                                  .pages = CRAWL_UNSET,
                                                  .bytes = CRAWL_UNSET,
                                                  .depth = CRAWL_UNSET,
                                                  .time = CRAWL_UNSET,
                                                  .host_pages = CRAWL_UNSET };
    if (is_xml(text, len))
        code = read_xml(t, text, len, mistake, owner, why);
    else
        code = read_json(t, text, len, &source, mistake, owner, why);
    if (code == SEEN_OK)
        *out = t;
    else
        crawl_template_free(t);
    return code;
}

static void free_texts(struct crawl_texts *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->text[i]);
    free(list->text);
}

static void free_rule(struct crawl_rule *r)
{
    web_selector_free(r->area);
    crawl_patterns_clear(&r->allow);
    crawl_patterns_clear(&r->deny);
    free(r->type);
    free_texts(&(struct crawl_texts){ r->from, r->froms, 0 });
}

static void free_type(struct crawl_page_type *p)
{
    free(p->name);
    crawl_patterns_clear(&p->url);
    for (size_t i = 0; i < p->n; i++) {
        free(p->field[i].name);
        web_selector_free(p->field[i].selector);
        crawl_patterns_clear(&p->field[i].regex);
        crawl_patterns_clear(&p->field[i].ignore);
    }
    free(p->field);
}

void crawl_template_free(struct crawl_template *t)
{
    if (!t)
        return;
    free(t->name);
    free(t->content);
    for (size_t i = 0; i < t->starts; i++)
        free(t->start[i].text);
    free(t->start);
    free_texts(&t->domains);
    free_texts(&t->strip);
    for (size_t i = 0; i < t->rules; i++)
        free_rule(&t->rule[i]);
    free(t->rule);
    for (size_t i = 0; i < t->types; i++)
        free_type(&t->type[i]);
    free(t->type);
    free(t);
}

/* --- settings --- */

const char *crawl_template_name(const struct crawl_template *t)
{
    return t->name ? t->name : "";
}

const char *crawl_template_hash(const struct crawl_template *t)
{
    return t->hash;
}

struct seen_span crawl_template_content(const struct crawl_template *t)
{
    return span_of(t->content);
}

const struct crawl_template_limits *crawl_template_limits(
    const struct crawl_template *t)
{
    return &t->settings;
}

const char *crawl_template_domain(const struct crawl_template *t, size_t i)
{
    return i < t->domains.n ? t->domains.text[i] : NULL;
}

/* --- types --- */

struct crawl_page_type *crawl_type_find(const struct crawl_template *t,
                                        const char *name)
{
    for (size_t i = 0; name && i < t->types; i++)
        if (!strcmp(t->type[i].name, name))
            return &t->type[i];
    return NULL;
}

const char *crawl_template_type(const struct crawl_template *t,
                                const char *hint, const char *url, size_t len,
                                const char **costly)
{
    struct budget budget = { .left = CRAWL_URL_STEPS };
    struct crawl_page_type *p = crawl_type_find(t, hint);
    const char *pattern = NULL;
    bool found;

    if (costly)
        *costly = NULL;
    for (size_t i = 0; !p && i < t->types; i++) {
        if (!crawl_patterns_has(&t->type[i].url, url, len, &budget, &found,
                                &pattern)) {
            if (costly)
                *costly = pattern;
            return NULL;
        }
        if (found)
            p = &t->type[i];
    }
    if (!p)
        p = crawl_type_find(t, "default");
    return p ? p->name : NULL;
}

const char *crawl_template_types(const struct crawl_template *t, size_t i)
{
    return i < t->types ? t->type[i].name : NULL;
}

uint64_t crawl_template_revisit(const struct crawl_template *t,
                                const char *type)
{
    const struct crawl_page_type *p = crawl_type_find(t, type);

    return p ? p->revisit : CRAWL_UNSET;
}

bool crawl_template_needs_tree(const struct crawl_template *t,
                               const char *type)
{
    const struct crawl_page_type *p = crawl_type_find(t, type);

    if (p && p->n)
        return true;
    for (size_t i = 0; i < t->rules; i++)
        if (t->rule[i].area)
            return true;
    return false;
}

bool crawl_template_field(const struct crawl_template *t, const char *type,
                          size_t i, struct crawl_field_use *use)
{
    static const char *const none[] = { NULL };
    const struct crawl_page_type *p = crawl_type_find(t, type);

    if (!p || i >= p->n)
        return false;
    use->name = p->field[i].name;
    use->compared = !p->field[i].unwatched;
    use->ignore = p->field[i].ignore.list.n ? p->field[i].ignore.text : none;
    return true;
}
