/*
 * extract.c - the fields of a page.
 *
 *     selector ──> text ──> regex ──> type ──> JSON value
 *
 * Every field is a list, as in the records of S. Nadaraj, "Distributed Content
 * Aggregation & Content Change Detection using Bloom Filters", section 3.
 *
 * A page may be hostile: values, and the bytes that are read to make them, are
 * counted, and the rest is left out.
 */
#include "template.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/text/json.h"
#include "../../lib/text/space.h"
#include "../../web/resolve.h"
#include "../page/scope.h"
#include "inside.h"

enum {
    VALUE = 1 << 20,  /* bytes of a value */
    VALUES = 10000,   /* of a field */
    ALL = 8 << 20,    /* bytes of all values of a page */
    WORK = 128 << 20, /* bytes read to make them */
    /* steps of the budget */
    MATCH = 20,
    READ_BYTE = 4
};

struct extraction {
    const struct crawl_template *t;
    const struct crawl_field *field;
    struct buffer *to;
    struct crawl_extracted *result;
    const char *base;
    size_t base_len;
    struct budget *budget; /* of the page, */
    struct budget pattern; /* and what this field's pattern may take of it */
    size_t values;    /* of this field */
    size_t begun, work;
    struct buffer text, value;
};

/* White space folded to single spaces, and none at the ends; no-break spaces
   count as white space. */
static void fold(struct buffer *to, struct seen_span text)
{
    bool space = false;

    for (size_t i = 0; i < text.len; i++) {
        if (space_html(text.text[i])) {
            space = true;
        } else if (text.text[i] == '\xc2' && i + 1 < text.len &&
                   text.text[i + 1] == '\xa0') {
            space = true;
            i++;
        } else {
            if (space && to->len)
                buffer_byte(to, ' ');
            space = false;
            buffer_byte(to, text.text[i]);
        }
    }
}

/* False if the page costs too much: then the rest of its values is missing. */
static bool spend(struct extraction *x, uint64_t steps)
{
    return !x->budget || budget_spend(x->budget, steps);
}

/* A URL as the crawler would ask for it. */
static bool make_url(struct extraction *x, struct seen_span text)
{
    char room[SEEN_KEY_TEXT];
    const char *url;
    size_t len;

    if (!spend(x, web_resolve_steps(
                      text, (struct seen_span){ x->base, x->base_len })) ||
        seen_url_whatwg(&url, &len, room, text.text, text.len, x->base,
                        x->base_len, NULL) != SEEN_OK)
        return false;
    crawl_template_clean(x->t, room, &len, url, len);
    buffer_bytes(&x->value, room, len);
    return true;
}

/* One value, of the field's type; false if the text has none. */
static bool add_value(struct extraction *x, struct seen_span text)
{
    enum crawl_field_type type = x->field->type;
    bool made = true;

    if (text.len > VALUE) {
        text.len = VALUE;
        x->result->cut = true;
    }
    x->value.len = 0;
    switch (type) {
    case CRAWL_TEXT: fold(&x->value, text); break;
    case CRAWL_HTML: buffer_span(&x->value, text); break;
    case CRAWL_NUMBER: made = crawl_value_number(&x->value, text); break;
    case CRAWL_DATE: made = crawl_value_date(&x->value, text); break;
    case CRAWL_URL: made = make_url(x, text); break;
    }
    if (!made || !x->value.len)
        return false;
    if (x->values == VALUES || x->to->len - x->begun > ALL) {
        x->result->cut = true;
        return false;
    }
    buffer_text(x->to, x->values++ ? ", " : "");
    if (type == CRAWL_NUMBER)
        buffer_append(x->to, &x->value);
    else
        buffer_json(x->to, x->value.bytes, x->value.len);
    x->result->found++;
    return true;
}

/* The text of a match, before the regex. */
static void read_match(struct extraction *x, const struct web_match *m)
{
    x->text.len = 0;
    if (x->field->type == CRAWL_HTML) {
        web_match_html(&x->text, m);
    } else if (x->field->type == CRAWL_URL && m->kind == WEB_MATCH_ELEMENT) {
        const char *value = web_match_attribute(m, "href");

        if (!value)
            value = web_match_attribute(m, "src");
        buffer_text(&x->text, value ? value : "");
    } else {
        web_match_text(&x->text, m);
    }
}

/* The values that the pattern finds in a text; false if no more are wanted. A
   pattern that costs too much is not asked about other texts, either. */
static bool search(struct extraction *x, struct seen_span text)
{
    const struct pattern *p = x->field->regex.list.pattern[0];
    bool any = true, many = x->field->many;
    enum seen_code code = SEEN_OK;
    struct pattern_search s;
    struct pattern_match m;
    size_t at = 0;

    if (text.len > CRAWL_PATTERN_INPUT)
        text.len = CRAWL_PATTERN_INPUT;
    pattern_search_init(&s, p, text, 0, &x->pattern);
    while (at < text.len) {
        code = pattern_search_next(&s, at, &m, &any);
        if (code != SEEN_OK || !any)
            break;
        if (!pattern_groups(p)) {
            m.group = m.begin;
            m.group_end = m.end;
        }
        if (add_value(x, (struct seen_span){ text.text + m.group,
                                             m.group_end - m.group }) &&
            !many) {
            pattern_search_clear(&s);
            return false;
        }
        at = m.end > at ? m.end : at + 1; /* an empty match must not repeat */
        if (!many || x->result->cut)
            break;
    }
    pattern_search_clear(&s);
    if (code == SEEN_NOMEM)
        x->value.failed = true;
    if (code == SEEN_RANGE && !x->result->costly) {
        x->result->costly = x->field->name;
        x->result->pattern = pattern_text(p);
    }
    return code == SEEN_OK && !x->result->cut;
}

static bool take_match(void *owner, const struct web_match *m)
{
    struct extraction *x = owner;
    struct seen_span text;

    read_match(x, m);
    x->work += x->text.len + 1;
    if (x->work > WORK || !spend(x, MATCH + READ_BYTE * x->text.len)) {
        x->result->cut = true;
        return false;
    }
    text = (struct seen_span){ x->text.bytes, x->text.len };
    if (!text.len || x->to->failed)
        return !x->to->failed;
    if (x->field->regex.list.n)
        return search(x, text);
    return !add_value(x, text) || x->field->many;
}

/* A field's pattern is lent a quarter of what is left: then what it costs is
   the loss of this field, and others go on. */
static uint64_t lend(struct extraction *x)
{
    if (x->budget)
        x->pattern = budget_lend(x->budget, x->budget->left / 4);
    else
        x->pattern = (struct budget){ .left = CRAWL_URL_STEPS };
    return x->pattern.left;
}

static enum seen_code extract_field(struct extraction *x,
                                    struct web_tree *tree,
                                    struct seen_error *why)
{
    const uint64_t lent = lend(x);
    enum seen_code code;

    x->values = 0;
    buffer_json(x->to, x->field->name, strlen(x->field->name));
    buffer_text(x->to, ": [");
    code = web_select(x->field->selector, tree, take_match, x, why);
    buffer_byte(x->to, ']');
    if (x->budget)
        budget_settle(x->budget, &x->pattern, lent);
    if (code == SEEN_RANGE && !x->result->failed)
        x->result->failed = x->field->name;
    if (!x->values && x->field->required && !x->result->missing++)
        x->result->absent = x->field->name;
    if (code == SEEN_NOMEM || x->to->failed || x->text.failed ||
        x->value.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    return SEEN_OK;
}

enum seen_code crawl_template_extract(const struct crawl_template *t,
                                      const char *type, struct web_tree *tree,
                                      const char *url, size_t len,
                                      struct buffer *fields,
                                      struct crawl_extracted *result,
                                      struct seen_error *why)
{
    const struct crawl_page_type *p = crawl_type_find(t, type);
    char base[SEEN_KEY_TEXT];
    struct extraction x = { .t = t,
                            .to = fields,
                            .result = result,
                            .budget = web_tree_budget(tree),
                            .base = base,
                            .begun = fields->len };
    enum seen_code code;

    *result = (struct crawl_extracted){ .found = 0 };
    code = web_tree_base(tree, base, &x.base_len, url, len, why);
    for (size_t i = 0; p && i < p->n && code == SEEN_OK; i++) {
        if (i)
            buffer_text(fields, ", ");
        x.field = &p->field[i];
        code = extract_field(&x, tree, why);
    }
    buffer_clear(&x.text);
    buffer_clear(&x.value);
    return code;
}
