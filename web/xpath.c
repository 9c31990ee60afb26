/*
 * xpath.c - evaluate an expression of XPath 1.0, in counted steps.
 *
 * XPath can ask for more than any page should cost: "//div[contains(., 'x')]"
 * reads the text of the innermost of 5,000 nested elements 5,000 times. So all
 * that is done for a page is paid from a budget: a step per node that is looked
 * at and per byte that is read, and the evaluation ends when it is spent.
 *
 * What people write is linear or nearly so: see xpath_step.c.
 *
 * Recursion is bounded by the depth of the expression; pages are walked in
 * loops.
 */
#include "xpath.h"

#include <math.h>

#include "selector.h"
#include "xpath_inside.h"

static void unite(struct web_xpath_work *e, const struct web_xpath_node *u,
                  const struct web_xpath_place *here,
                  struct web_xpath_value *v)
{
    struct web_xpath_value other = { .type = WEB_XPATH_SET };

    web_xpath_evaluate_part(e, u->left, here, v);
    web_xpath_evaluate_part(e, u->right, here, &other);
    for (size_t i = 0; i < other.set.n && spend(e, 1); i++)
        if (!web_xpath_set_add(e, &v->set, other.set.row[i]))
            break;
    web_xpath_set_sort(e, &v->set);
    web_xpath_drop(e, &other);
}

static void combine(struct web_xpath_work *e, const struct web_xpath_node *o,
                    const struct web_xpath_place *here,
                    struct web_xpath_value *v)
{
    struct web_xpath_value b = { .type = WEB_XPATH_BOOLEAN };

    web_xpath_evaluate_part(e, o->left, here, v);
    if (o->op == WEB_XPATH_OR || o->op == WEB_XPATH_AND) {
        web_xpath_set_boolean(e, v, web_xpath_as_boolean(v));
        if (v->truth == (o->op == WEB_XPATH_OR))
            return;
        web_xpath_evaluate_part(e, o->right, here, &b);
        web_xpath_set_boolean(e, v, web_xpath_as_boolean(&b));
        web_xpath_drop(e, &b);
        return;
    }
    web_xpath_evaluate_part(e, o->right, here, &b);
    if (o->op == WEB_XPATH_COMPARE) {
        web_xpath_set_boolean(e, v, web_xpath_compare(e, o->order, v, &b));
    } else {
        double x = web_xpath_as_number(e, v), y = web_xpath_as_number(e, &b);

        switch (o->op) {
        case WEB_XPATH_PLUS: x += y; break;
        case WEB_XPATH_MINUS: x -= y; break;
        case WEB_XPATH_TIMES: x *= y; break;
        case WEB_XPATH_DIV: x /= y; break;
        default: x = fmod(x, y); break;
        }
        web_xpath_set_number(e, v, x);
    }
    web_xpath_drop(e, &b);
}

/* *v is empty, and becomes the value; if the evaluation failed, any value. */
void web_xpath_evaluate_part(struct web_xpath_work *e, uint32_t at,
                             const struct web_xpath_place *here,
                             struct web_xpath_value *v)
{
    const struct web_xpath_node *node = &e->x->node[at];

    v->type = node->type;
    if (!spend(e, 8))
        return;
    switch (node->op) {
    case WEB_XPATH_LITERAL:
        if (node->type == WEB_XPATH_NUMBER)
            v->number = node->number;
        else
            v->text = (struct seen_span){ node->text, node->len };
        break;
    case WEB_XPATH_TOP: web_xpath_set_add(e, &v->set, 0); break;
    case WEB_XPATH_HERE: web_xpath_set_add(e, &v->set, here->row); break;
    case WEB_XPATH_STEP: web_xpath_step(e, node, here, v); break;
    case WEB_XPATH_FILTER:
        web_xpath_evaluate_part(e, node->left, here, v);
        web_xpath_filter(e, node->right, &v->set);
        break;
    case WEB_XPATH_CALL: web_xpath_call(e, node, here, v); break;
    case WEB_XPATH_NEGATE:
        web_xpath_evaluate_part(e, node->left, here, v);
        web_xpath_set_number(e, v, -web_xpath_as_number(e, v));
        break;
    case WEB_XPATH_UNION: unite(e, node, here, v); break;
    default: combine(e, node, here, v); break;
    }
}

enum seen_code web_xpath_evaluate(const struct web_xpath *x,
                                  struct web_tree *tree, bool linked,
                                  struct budget *budget,
                                  struct web_xpath_value *v,
                                  struct seen_error *why)
{
    const struct web_xpath_rows *rows = &tree->rows[linked];
    struct web_xpath_work e = { .x = x,
                                .row = rows->row,
                                .rows = rows,
                                .doc = tree->doc,
                                .budget = budget };
    const xmlNode *root = xmlDocGetRootElement(tree->doc);
    struct web_xpath_place here = { .position = 1, .size = 1 };

    *v = (struct web_xpath_value){ .type = WEB_XPATH_BOOLEAN };
    if (root && root->_private)
        here.row = rows->of_element[(uintptr_t)root->_private - 1];
    web_xpath_evaluate_part(&e, x->top, &here, v);
    if (e.code == SEEN_OK)
        return SEEN_OK;
    web_xpath_value_clear(v);
    if (e.code == SEEN_NOMEM)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    return web_select_costly(why);
}
