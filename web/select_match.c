/*
 * select_match.c - match CSS selectors in one walk.
 *
 * The usual way, from the last compound back through the ancestors, must try
 * several ancestors for each " ", and takes 5,000^k steps on a page that is
 * 5,000 levels deep. Translated to XPath, the same happens inside libxml2, and
 * :nth-child() counts all preceding siblings. Here one walk in document order
 * keeps a word per element, whose bit i says
 *
 *     reached   the selector up to compound i matches this element
 *     above     ... an ancestor of this element
 *     before    ... an earlier sibling; as it is so far, in the parent's row
 *     previous  ... the sibling right before; likewise
 *
 * Compound i is then reached by an element that passes its tests, and whose
 * word for the combinator has bit i - 1. There is nothing to try twice, so a
 * page of n elements takes n times the number of compounds. What a test takes,
 * as that of an attribute among thousands, is paid from a budget.
 *
 * All alternatives of a group note their elements in `hits`, one bit per
 * alternative. At the end one walk over all nodes hands out elements,
 * attributes and texts in document order.
 */
#include "selector.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../lib/text/array.h"
#include "../lib/text/space.h"
#include "../lib/text/span.h"
#include "view.h"

/* What an element's row needs while one alternative is matched. */
struct match_row {
    uint64_t reached, above, before, previous;
};

/* Where the text of a :contains() is, in v->text. */
struct match_places {
    uint32_t *at;
    size_t n, room;
};

struct match {
    struct web_tree *tree;
    const struct web_view *v;
    const struct selector_alternative *a;
    struct match_row *row;
    uint32_t *type; /* for each compound the number of its name */
    struct match_places *places; /* for each :contains() */
    size_t contains;
    struct budget *budget;
};

/* The value of an attribute, or NULL. It costs a step per attribute before it,
   and one per byte. */
static const char *value_of(const struct match *m, const xmlNode *node,
                            const char *name)
{
    size_t steps = 1;

    for (const xmlAttr *a = node->properties; a; a = a->next, steps++)
        if (!strcmp((const char *)a->name, name)) {
            const char *value = a->children && a->children->content
                                    ? (const char *)a->children->content
                                    : "";

            budget_spend(m->budget, steps + strlen(value));
            return value;
        }
    budget_spend(m->budget, steps);
    return NULL;
}

/* --- tests of one element --- */

static bool same(const char *a, const char *b, size_t n, bool fold)
{
    return fold ? !strncasecmp(a, b, n) : !strncmp(a, b, n);
}

/* Is it one of the words of a list? */
static bool has_word(const char *list, const char *word, bool fold)
{
    size_t len = strlen(word);

    while (*list) {
        size_t n = 0;

        while (space_html(*list))
            list++;
        while (list[n] && !space_html(list[n]))
            n++;
        if (n && n == len && same(list, word, n, fold))
            return true;
        list += n;
    }
    return false;
}

static bool compare(const char *value, const struct selector_simple *s)
{
    size_t len = strlen(s->value), n = strlen(value);
    bool begins = same(value, s->value, len, s->fold);

    switch (s->compare) {
    case '=': return n == len && begins;
    case '!': return n != len || !begins;
    case '~': return has_word(value, s->value, s->fold);
    case '|': return begins && (!value[len] || value[len] == '-');
    case '^': return len && begins;
    case '$':
        return len && n >= len &&
               same(value + n - len, s->value, len, s->fold);
    default:
        return len && (s->fold ? strcasestr(value, s->value)
                               : strstr(value, s->value));
    }
}

static bool test_attribute(const struct match *m, const xmlNode *node,
                           const struct selector_simple *s)
{
    const char *value = value_of(m, node, s->name);

    if (!value || !s->compare)
        return value || s->compare == '!';
    return compare(value, s);
}

/* Is there an n >= 0 with an + b = place? */
static bool is_nth(int64_t a, int64_t b, int64_t place)
{
    if (!a)
        return place == b;
    return (place - b) % a == 0 && (place - b) / a >= 0;
}

static bool test_nth(const struct web_element *e,
                     const struct selector_simple *s)
{
    uint32_t place = s->typed ? (s->from_end ? e->typed_last : e->typed)
                              : (s->from_end ? e->last : e->place);

    return is_nth(s->a, s->b, place);
}

static bool test_empty(const struct match *m, const struct web_element *e)
{
    if (e->body != WEB_NONE)
        return false;
    for (const xmlNode *c = e->node->children; c && budget_spend(m->budget, 1);
         c = c->next)
        if (c->type == XML_ELEMENT_NODE ||
            ((c->type == XML_TEXT_NODE || c->type == XML_CDATA_SECTION_NODE) &&
             c->content && *c->content))
            return false;
    return true;
}

/* The first place of the text at or after the element's beginning decides. */
static bool test_contains(const struct web_element *e,
                          const struct selector_simple *s,
                          const struct match_places *p)
{
    size_t low = 0, high = p->n;

    if (!*s->value)
        return true;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (p->at[middle] < e->begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->n && p->at[low] + strlen(s->value) <= e->end;
}

static bool test_lang(const struct match *m, const xmlNode *node,
                      const char *language)
{
    size_t len = strlen(language);

    for (; node && node->type == XML_ELEMENT_NODE && !budget_empty(m->budget);
         node = node->parent) {
        const char *value = value_of(m, node, "lang");

        if (value || (value = value_of(m, node, "xml:lang")))
            return !strncasecmp(value, language, len) &&
                   (!value[len] || value[len] == '-');
    }
    return false;
}

static bool is(const xmlNode *node, const char *name)
{
    return !strcmp((const char *)node->name, name);
}

static bool test_link(const struct match *m, const xmlNode *node)
{
    return (is(node, "a") || is(node, "area") || is(node, "link")) &&
           value_of(m, node, "href");
}

static bool can_be_disabled(const xmlNode *node)
{
    return is(node, "button") || is(node, "input") || is(node, "select") ||
           is(node, "textarea") || is(node, "fieldset") ||
           is(node, "optgroup") || is(node, "option");
}

static bool is_disabled(const struct match *m, const xmlNode *node)
{
    bool option = is(node, "option");

    if (value_of(m, node, "disabled"))
        return true;
    for (const xmlNode *up = node->parent;
         up && up->type == XML_ELEMENT_NODE && budget_spend(m->budget, 1);
         up = up->parent)
        if (option ? is(up, "optgroup")
                   : is(up, "fieldset") && !is(node, "optgroup"))
            if (value_of(m, up, "disabled"))
                return true;
    return false;
}

static bool test_checked(const struct match *m, const xmlNode *node)
{
    const char *type = value_of(m, node, "type");

    if (is(node, "option"))
        return value_of(m, node, "selected");
    return is(node, "input") && type &&
           (!strcasecmp(type, "checkbox") || !strcasecmp(type, "radio")) &&
           value_of(m, node, "checked");
}

static bool test_simple(const struct match *m, const struct web_element *e,
                        const struct selector_simple *s,
                        const struct match_places *places)
{
    const char *value;

    switch (s->test) {
    case TEST_TYPE: return !s->name || is(e->node, s->name);
    case TEST_NEVER: return false;
    case TEST_ID:
        value = value_of(m, e->node, "id");
        return value && !strcmp(value, s->value);
    case TEST_CLASS:
        value = value_of(m, e->node, "class");
        return value && has_word(value, s->value, false);
    case TEST_ATTRIBUTE: return test_attribute(m, e->node, s);
    case TEST_NTH: return test_nth(e, s);
    case TEST_ONLY:
        return s->typed ? e->typed == 1 && e->typed_last == 1
                        : e->place == 1 && e->last == 1;
    case TEST_EMPTY: return test_empty(m, e);
    case TEST_ROOT: return e->parent == WEB_NONE;
    case TEST_CONTAINS: return test_contains(e, s, places);
    case TEST_LANG:
        return test_lang(
            m, e->body == WEB_NONE ? e->node : m->tree->body[e->body].table,
            s->value);
    case TEST_LINK: return test_link(m, e->node);
    case TEST_ENABLED:
        return can_be_disabled(e->node) && !is_disabled(m, e->node);
    case TEST_DISABLED:
        return can_be_disabled(e->node) && is_disabled(m, e->node);
    case TEST_CHECKED: return test_checked(m, e->node);
    }
    return false;
}

/* --- one alternative --- */

static bool find_places(struct match_places *p, const struct buffer *text,
                        const char *needle, struct budget *budget)
{
    size_t len = strlen(needle), at = 0, from;

    while (len && text->len - at >= len && !budget_empty(budget)) {
        const char *found = memmem(text->bytes + at, text->len - at, needle,
                                   len);
        uint32_t *more;

        from = at;
        at = found ? (size_t)(found - text->bytes) : text->len;
        budget_spend(budget, len + at - from + 1);
        if (!found)
            break;
        more = array_grow(p->at, &p->room, p->n + 1, sizeof *more);
        if (!more)
            return false;
        p->at = more;
        p->at[p->n++] = (uint32_t)at++;
    }
    return true;
}

static bool prepare(struct match *m)
{
    const struct selector_alternative *a = m->a;
    size_t contains = 0;

    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < a->compound[i].n; k++)
            contains += a->compound[i].simple[k].test == TEST_CONTAINS;
    m->row = calloc(m->v->n ? m->v->n : 1, sizeof *m->row);
    m->type = calloc(a->n, sizeof *m->type);
    m->places = calloc(contains + 1, sizeof *m->places);
    if (!m->row || !m->type || !m->places)
        return false;
    m->contains = contains;
    contains = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct selector_compound *c = &a->compound[i];

        if (c->type)
            m->type[i] = web_view_name(m->v, c->type);
        for (size_t k = 0; k < c->n; k++)
            if (c->simple[k].test == TEST_CONTAINS &&
                !find_places(&m->places[contains++], &m->v->text,
                             c->simple[k].value, m->budget))
                return false;
    }
    return true;
}

static void release(struct match *m)
{
    for (size_t i = 0; m->places && i < m->contains; i++)
        free(m->places[i].at);
    free(m->places);
    free(m->type);
    free(m->row);
}

/* Does an element pass the tests of a compound? *places goes on to those of
   the next one. */
static bool passes(const struct match *m, size_t compound,
                   const struct web_element *e,
                   const struct match_places *places)
{
    const struct selector_compound *c = &m->a->compound[compound];

    if (c->type && m->type[compound] != e->name)
        return false;
    for (size_t k = 0; k < c->n && budget_spend(m->budget, 1); k++) {
        const struct selector_simple *s = &c->simple[k];

        if (test_simple(m, e, s, places) == s->negated)
            return false;
        places += s->test == TEST_CONTAINS;
    }
    return true;
}

static uint64_t word_for(const struct match_row *row,
                         const struct match_row *parent, char combinator)
{
    switch (combinator) {
    case '>': return parent ? parent->reached : 0;
    case ' ': return row->above;
    case '+': return parent ? parent->previous : 0;
    case '~': return parent ? parent->before : 0;
    default: return ~(uint64_t)0;
    }
}

/* All elements; those that match get the bit in `hits`, or in `body_hits` if
   they are not in the source. */
static void walk(struct match *m, uint64_t *hits, uint64_t *body_hits,
                 uint64_t bit)
{
    const struct selector_alternative *a = m->a;
    struct match_row outside = { .reached = 0 };

    for (uint32_t i = 0; i < m->v->n && budget_spend(m->budget, a->n); i++) {
        const struct web_element *e = &m->v->element[i];
        struct match_row *row = &m->row[i];
        struct match_row *parent = e->parent == WEB_NONE ? &outside
                                                         : &m->row[e->parent];
        size_t places = 0;

        row->above = parent->above | parent->reached;
        for (size_t k = 0; k < a->n; k++) {
            uint64_t from = word_for(row, parent, a->compound[k].combinator);

            if ((!k || from >> (k - 1) & 1) &&
                passes(m, k, e, m->places + places))
                row->reached |= (uint64_t)1 << k;
            for (size_t s = 0; m->contains && s < a->compound[k].n; s++)
                places += a->compound[k].simple[s].test == TEST_CONTAINS;
        }
        parent->before |= row->reached;
        parent->previous = row->reached;
        if ((row->reached | (a->deep ? row->above : 0)) >> (a->n - 1) & 1) {
            if (e->body == WEB_NONE)
                hits[(uintptr_t)e->node->_private - 1] |= bit;
            else
                body_hits[e->body] |= bit;
        }
    }
}

static enum seen_code match_alternative(struct web_tree *tree,
                                        const struct selector_alternative *a,
                                        uint64_t *hits, uint64_t *body_hits,
                                        uint64_t bit, struct budget *budget,
                                        struct seen_error *why)
{
    struct web_view *v = a->body ? &tree->browser : &tree->source;
    struct match m = { .tree = tree, .v = v, .a = a, .budget = budget };
    enum seen_code code = SEEN_OK;

    if (a->types)
        code = web_view_types(v, why);
    if (code == SEEN_OK && a->texts)
        code = web_view_texts(tree, v, why);
    if (code != SEEN_OK)
        return code;
    if (prepare(&m))
        walk(&m, hits, body_hits, bit);
    else
        code = seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    release(&m);
    return code;
}

/* --- handing out --- */

struct match_output {
    const struct web_selector *s;
    struct web_tree *tree;
    web_taker *take;
    void *owner;
    uint64_t gives[3]; /* the alternatives that give each kind */
};

static bool give_attributes(const struct match_output *o, xmlNode *node,
                            uint64_t hits)
{
    for (const xmlAttr *a = node->properties; a; a = a->next) {
        const char *name = (const char *)a->name;
        bool wanted = false;

        for (size_t k = 0; k < o->s->n && !wanted; k++)
            wanted = hits >> k & 1 &&
                     !strcmp(o->s->alternative[k].attribute, name);
        if (wanted && !o->take(o->owner, &(struct web_match){
                                             .kind = WEB_MATCH_ATTRIBUTE,
                                             .name = name,
                                             .value = span_of(
                                                 web_node_value(node, name)),
                                             .tree = o->tree,
                                             .node = node }))
            return false;
    }
    return true;
}

static bool give_element(const struct match_output *o, xmlNode *node,
                         const struct web_body *body)
{
    return o->take(o->owner,
                   &(struct web_match){ .kind = WEB_MATCH_ELEMENT,
                                        .name = (const char *)node->name,
                                        .tree = o->tree,
                                        .node = node,
                                        .of = body });
}

static bool give_text(const struct match_output *o, xmlNode *node)
{
    return o->take(o->owner, &(struct web_match){
                                 .kind = WEB_MATCH_TEXT,
                                 .name = "",
                                 .value = span_of((const char *)node->content),
                                 .tree = o->tree,
                                 .node = node->parent });
}

static void give_all(const struct match_output *o, const uint64_t *hits,
                     const uint64_t *body_hits)
{
    xmlNode *top = (xmlNode *)o->tree->doc;
    size_t row = 0, body = 0;
    bool more = true;

    for (xmlNode *at = web_node_next(top, top); at && more;
         at = web_node_next(top, at)) {
        if (at->type == XML_ELEMENT_NODE) {
            uint64_t h = hits[row];

            if (body < o->tree->bodies && o->tree->body[body].row == row) {
                if (body_hits[body] & o->gives[GIVES_ELEMENT])
                    more = give_element(o, o->tree->body[body].node,
                                        &o->tree->body[body]);
                body++;
            }
            if (more && h & o->gives[GIVES_ELEMENT])
                more = give_element(o, at, NULL);
            if (more && h & o->gives[GIVES_ATTRIBUTE])
                more = give_attributes(o, at, h & o->gives[GIVES_ATTRIBUTE]);
            row++;
        } else if ((at->type == XML_TEXT_NODE ||
                    at->type == XML_CDATA_SECTION_NODE) &&
                   at->content && at->parent &&
                   at->parent->type == XML_ELEMENT_NODE) {
            /* The white space between the rows of a tbody that a browser
               made is the table's here. */
            if (hits[(uintptr_t)at->parent->_private - 1] &
                o->gives[GIVES_TEXT])
                more = give_text(o, at);
        }
    }
}

enum seen_code web_css_select(const struct web_selector *s,
                              struct web_tree *tree, struct budget *budget,
                              web_taker *take, void *owner,
                              struct seen_error *why)
{
    struct match_output o = {
        .s = s, .tree = tree, .take = take, .owner = owner
    };
    uint64_t *hits = NULL, *body_hits = NULL;
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < s->n && code == SEEN_OK; i++) {
        o.gives[s->alternative[i].gives] |= (uint64_t)1 << i;
        code = web_view_make(tree, s->alternative[i].body, why);
    }
    if (code != SEEN_OK)
        return code;
    hits = calloc(tree->source.n + 1, sizeof *hits);
    body_hits = calloc(tree->bodies + 1, sizeof *body_hits);
    if (!hits || !body_hits)
        code = seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < s->n && code == SEEN_OK; i++)
        code = match_alternative(tree, &s->alternative[i], hits, body_hits,
                                 (uint64_t)1 << i, budget, why);
    if (code == SEEN_OK && budget_empty(budget))
        code = web_select_costly(why);
    web_select_settle(tree, budget);
    if (code == SEEN_OK)
        give_all(&o, hits, body_hits);
    free(body_hits);
    free(hits);
    return code;
}
