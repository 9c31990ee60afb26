/*
 * xpath_step.c - steps of a path of XPath, and predicates.
 *
 * What people write is linear or nearly so, since node sets are sorted rows:
 *
 *     descendant::   ranges of rows; one that lies in another is not visited
 *     ancestor::     ends where the ancestors of the node before begin
 *     following::    is what begins after the first end of all nodes
 *     preceding::    is what precedes the last node
 *     ...-sibling::  ends at a sibling that is in the set itself
 *
 * Only a step with a predicate must be taken for each node by itself, because
 * the predicate may ask for positions.
 */
#include "xpath_inside.h"

#include <string.h>

struct stepping {
    struct web_xpath_work *e;
    const struct web_xpath_node *s;
    struct web_xpath_set *to;
    size_t most; /* no more nodes are needed */
};

static bool passes(const struct stepping *t, uint32_t row)
{
    const struct web_xpath_node *s = t->s;
    const xmlNode *node = t->e->row[row].node;
    xmlElementType own = s->step.axis == WEB_XPATH_ATTRIBUTE
                             ? XML_ATTRIBUTE_NODE
                             : XML_ELEMENT_NODE;

    switch (s->step.test) {
    case WEB_XPATH_NODE: return true;
    case WEB_XPATH_ANY: return node->type == own;
    case WEB_XPATH_NAMED:
        return node->type == own && !strcmp((const char *)node->name, s->text);
    case WEB_XPATH_TEXT:
        return node->type == XML_TEXT_NODE ||
               node->type == XML_CDATA_SECTION_NODE;
    case WEB_XPATH_COMMENT: return node->type == XML_COMMENT_NODE;
    default:
        return node->type == XML_PI_NODE &&
               (!s->text || !strcmp((const char *)node->name, s->text));
    }
}

/* A node of the axis; false: that was enough. */
static bool visit(const struct stepping *t, uint32_t row)
{
    return spend(t->e, 2) &&
           (!passes(t, row) ||
            (web_xpath_set_add(t->e, t->to, row) && t->to->n < t->most));
}

static void walk_range(const struct stepping *t, uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end; i++)
        if (is_attribute(t->e, i) ? !spend(t->e, 1) : !visit(t, i))
            return;
}

static void walk_children(const struct stepping *t, uint32_t row)
{
    const struct web_xpath_row *r = t->e->row;

    for (uint32_t i = row + 1; i < r[row].end; i = r[i].end)
        if (is_attribute(t->e, i) ? !spend(t->e, 1) : !visit(t, i))
            return;
}

static void walk_attributes(const struct stepping *t, uint32_t row)
{
    for (uint32_t i = row + 1; i < t->e->row[row].end && is_attribute(t->e, i);
         i++)
        if (!visit(t, i))
            return;
}

/* The siblings after it; `others`: it ends at one of these. */
static void walk_behind(const struct stepping *t, uint32_t row,
                        const struct web_xpath_set *others)
{
    const struct web_xpath_row *r = t->e->row;

    if (is_attribute(t->e, row) || r[row].parent == WEB_XPATH_NONE)
        return;
    for (uint32_t i = r[row].end; i < r[r[row].parent].end; i = r[i].end)
        if (!visit(t, i) || (others && web_xpath_set_has(others, i)))
            return;
}

static void walk_before(const struct stepping *t, uint32_t row,
                        const struct web_xpath_set *others)
{
    const struct web_xpath_row *r = t->e->row;

    for (uint32_t i = r[row].previous; i != WEB_XPATH_NONE; i = r[i].previous)
        if (!visit(t, i) || (others && web_xpath_set_has(others, i)))
            return;
}

static bool is_within(const struct web_xpath_work *e, uint32_t row,
                      uint32_t other)
{
    return row >= other && row < e->row[other].end;
}

/* `before`: ends at an ancestor of this node, or at the node itself, unless
   that is WEB_XPATH_NONE. */
static void walk_up(const struct stepping *t, uint32_t row, bool self,
                    uint32_t before)
{
    uint32_t i = self ? row : t->e->row[row].parent;

    for (; i != WEB_XPATH_NONE; i = t->e->row[i].parent) {
        bool known = before != WEB_XPATH_NONE && is_within(t->e, before, i);

        /* The node before was not among its own ancestors. */
        if (known && (self || i != before))
            return;
        if (!visit(t, i))
            return;
    }
}

/* For following and preceding an attribute stands for its element. */
static uint32_t element_of(const struct web_xpath_work *e, uint32_t row)
{
    return is_attribute(e, row) ? e->row[row].parent : row;
}

/* What comes before a node, without its ancestors; nearest first. */
static void walk_preceding(const struct stepping *t, uint32_t row)
{
    row = element_of(t->e, row);
    for (uint32_t i = row; i--;)
        if (is_attribute(t->e, i) || is_within(t->e, row, i) ? !spend(t->e, 1)
                                                             : !visit(t, i))
            return;
}

static void walk(const struct stepping *t, uint32_t row)
{
    const struct web_xpath_row *r = &t->e->row[row];

    switch (t->s->step.axis) {
    case WEB_XPATH_ANCESTOR:
    case WEB_XPATH_ANCESTOR_OR_SELF:
        walk_up(t, row, t->s->step.axis == WEB_XPATH_ANCESTOR_OR_SELF,
                WEB_XPATH_NONE);
        break;
    case WEB_XPATH_ATTRIBUTE: walk_attributes(t, row); break;
    case WEB_XPATH_CHILD: walk_children(t, row); break;
    case WEB_XPATH_DESCENDANT: walk_range(t, row + 1, r->end); break;
    case WEB_XPATH_DESCENDANT_OR_SELF:
        if (visit(t, row))
            walk_range(t, row + 1, r->end);
        break;
    case WEB_XPATH_FOLLOWING:
        walk_range(t, t->e->row[element_of(t->e, row)].end,
                   (uint32_t)t->e->rows->n);
        break;
    case WEB_XPATH_FOLLOWING_SIBLING: walk_behind(t, row, NULL); break;
    case WEB_XPATH_NAMESPACE: break;
    case WEB_XPATH_PARENT:
        if (r->parent != WEB_XPATH_NONE)
            visit(t, r->parent);
        break;
    case WEB_XPATH_PRECEDING: walk_preceding(t, row); break;
    case WEB_XPATH_PRECEDING_SIBLING: walk_before(t, row, NULL); break;
    case WEB_XPATH_SELF: visit(t, row); break;
    }
}

/* The step from all nodes at once: no predicate looks at what is found. */
static void walk_all(const struct stepping *t,
                     const struct web_xpath_set *from)
{
    struct web_xpath_work *e = t->e;
    enum web_xpath_axis axis = t->s->step.axis;
    uint32_t covered = 0, before = WEB_XPATH_NONE, end = UINT32_MAX, last = 0;

    for (size_t i = 0; i < from->n && spend(e, 1); i++) {
        uint32_t row = from->row[i];

        switch (axis) {
        case WEB_XPATH_DESCENDANT:
        case WEB_XPATH_DESCENDANT_OR_SELF:
            if (row < covered && !is_attribute(e, row))
                break;
            walk(t, row);
            if (e->row[row].end > covered)
                covered = e->row[row].end;
            break;
        case WEB_XPATH_ANCESTOR:
        case WEB_XPATH_ANCESTOR_OR_SELF:
            walk_up(t, row, axis == WEB_XPATH_ANCESTOR_OR_SELF, before);
            before = row;
            break;
        case WEB_XPATH_FOLLOWING_SIBLING: walk_behind(t, row, from); break;
        case WEB_XPATH_PRECEDING_SIBLING: walk_before(t, row, from); break;
        case WEB_XPATH_FOLLOWING:
            if (e->row[element_of(e, row)].end < end)
                end = e->row[element_of(e, row)].end;
            break;
        case WEB_XPATH_PRECEDING:
            if (element_of(e, row) > last)
                last = element_of(e, row);
            break;
        default: walk(t, row); break;
        }
    }
    if (axis == WEB_XPATH_FOLLOWING && end != UINT32_MAX)
        walk_range(t, end, (uint32_t)e->rows->n);
    if (axis == WEB_XPATH_PRECEDING && last)
        walk_preceding(t, last);
}

/* Keep the nodes for which the predicates hold, one after the other. */
void web_xpath_filter(struct web_xpath_work *e, uint32_t predicate,
                      struct web_xpath_set *s)
{
    for (; predicate != WEB_XPATH_NONE && e->code == SEEN_OK;
         predicate = e->x->node[predicate].next) {
        size_t kept = 0;

        for (size_t i = 0; i < s->n && spend(e, 4); i++) {
            const struct web_xpath_place place = { s->row[i], i + 1, s->n };
            struct web_xpath_value v = { .type = WEB_XPATH_BOOLEAN };

            web_xpath_evaluate_part(e, predicate, &place, &v);
            if (v.type == WEB_XPATH_NUMBER ? v.number == (double)(i + 1)
                                           : web_xpath_as_boolean(&v))
                s->row[kept++] = s->row[i];
            web_xpath_drop(e, &v);
        }
        s->n = kept;
    }
}

/* [1] needs no more than one node; other predicates may need all. */
static size_t most_for(const struct web_xpath_work *e, uint32_t predicate)
{
    const struct web_xpath_node *p = &e->x->node[predicate];

    return p->op == WEB_XPATH_LITERAL && p->type == WEB_XPATH_NUMBER &&
                   p->number >= 1 && p->number < 1e9
               ? (size_t)p->number
               : SIZE_MAX;
}

void web_xpath_step(struct web_xpath_work *e, const struct web_xpath_node *s,
                    const struct web_xpath_place *here,
                    struct web_xpath_value *v)
{
    struct web_xpath_value from = { .type = WEB_XPATH_SET };
    struct web_xpath_set found = { .n = 0 };
    struct stepping t = { .e = e, .s = s, .to = &v->set, .most = SIZE_MAX };

    web_xpath_evaluate_part(e, s->left, here, &from);
    v->type = WEB_XPATH_SET;
    if (s->right == WEB_XPATH_NONE) {
        walk_all(&t, &from.set);
    } else {
        t.to = &found;
        t.most = most_for(e, s->right);
        for (size_t i = 0; i < from.set.n && spend(e, 4); i++) {
            found.n = 0;
            walk(&t, from.set.row[i]);
            web_xpath_filter(e, s->right, &found);
            for (size_t k = 0; k < found.n; k++)
                if (!web_xpath_set_add(e, &v->set, found.row[k]))
                    break;
        }
        web_xpath_set_clear(e, &found);
    }
    web_xpath_set_sort(e, &v->set);
    web_xpath_drop(e, &from);
}
