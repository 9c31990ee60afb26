/*
 * pattern_nodes.c - a tree of parts to the nodes of an automaton.
 *
 *     (a|b)*c     OPEN  a  b  EITHER  CLOSE  STAR  c  FINISH
 *                  0    1  2    3       4      5    6    7
 *
 *     STAR ──> OPEN ──> EITHER ──> a ┐
 *      │ │                └──────> b ┴─> CLOSE ──> STAR
 *      │ └──> c ──> FINISH
 *
 * Nodes are numbered from the leaves up, as the C library does. "^" and its
 * like are passed on: the nodes that can be reached from an anchor without a
 * byte are made a second time, with what the anchor asks for (`around`). So
 * whether a node can be reached never depends on the way. As in the C library,
 * the copies that a repetition made of its part are left out of that, and in
 * "(^a)+" the second "^" does not count.
 */
#include "pattern_inside.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"

enum { DEPTH = 10000 };

typedef struct pattern_part part;

/* --- the tree --- */

static part *deepest(part *p)
{
    while (p->left || p->right)
        p = p->left ? p->left : p->right;
    return p;
}

/* Children come before parents; NULL after the root. */
static part *next_up(part *p)
{
    part *up = p->up;

    if (up && up->right && up->right != p)
        return deepest(up->right);
    return up;
}

/* Parents come before children. */
static part *next_down(part *p)
{
    if (p->left || p->right)
        return p->left ? p->left : p->right;
    while (p->up && (p->up->right == p || !p->up->right))
        p = p->up;
    return p->up ? p->up->right : NULL;
}

/* ((a)) has one group for both, unless it has even more. */
static void strip_groups(part *root)
{
    for (part *p = root; p; p = next_down(p))
        if (p->kind == PATTERN_GROUP && p->left &&
            p->left->kind == PATTERN_GROUP) {
            p->left = p->left->left;
            if (p->left)
                p->left->up = p;
        }
}

/* OPEN, what is in the group, CLOSE. */
static part *opened(struct pattern_parts *in, part *group, bool groups)
{
    part *body = group->left, *open, *close, *p;

    if (!groups && body)
        return body;
    open = pattern_part_new(in, PATTERN_OPEN, NULL, NULL);
    close = pattern_part_new(in, PATTERN_CLOSE, NULL, NULL);
    if (!open || !close)
        return NULL;
    open->number = close->number = group->number;
    open->optional = close->optional = group->optional;
    p = body ? pattern_part_new(in, PATTERN_BOTH, body, close) : close;
    return p ? pattern_part_new(in, PATTERN_BOTH, open, p) : NULL;
}

static bool open_groups(struct pattern_parts *in, bool groups)
{
    for (part *p = deepest(in->root); p; p = next_up(p)) {
        part **child[] = { &p->left, &p->right };

        for (size_t i = 0; i < 2; i++)
            if (*child[i] && (*child[i])->kind == PATTERN_GROUP) {
                *child[i] = opened(in, *child[i], groups);
                if (!*child[i])
                    return false;
                (*child[i])->up = p;
            }
    }
    return true;
}

/* --- nodes --- */

static bool add_node(struct pattern_nodes *to, const struct pattern_node *n)
{
    struct pattern_node *more = array_grow(to->node, &to->room, to->n + 1,
                                           sizeof *more);

    if (!more)
        return false;
    to->node = more;
    to->node[to->n++] = *n;
    return true;
}

static bool number_nodes(struct pattern_nodes *to, part *root)
{
    for (part *p = deepest(root); p; p = next_up(p)) {
        struct pattern_node n = { .kind = (uint8_t)p->kind,
                                  .around = p->around,
                                  .copied = p->copied,
                                  .optional = p->optional,
                                  .number = p->number,
                                  .next = PATTERN_NONE,
                                  .copy = PATTERN_NONE };

        p->first = p->kind == PATTERN_BOTH ? p->left->first : p;
        p->node = p->kind == PATTERN_BOTH ? p->left->node : (uint32_t)to->n;
        if (p->kind != PATTERN_BOTH && !add_node(to, &n))
            return false;
    }
    return true;
}

static void find_next(part *root)
{
    for (part *p = root; p; p = next_down(p)) {
        if (p->left)
            p->left->next = p->kind == PATTERN_STAR   ? p
                            : p->kind == PATTERN_BOTH ? p->right->first
                                                      : p->next;
        if (p->right)
            p->right->next = p->next;
    }
}

static void set_ways(struct pattern_node *n, uint32_t a, uint32_t b)
{
    n->ways = a == b ? 1 : 2;
    n->to[0] = a < b ? a : b;
    n->to[1] = a < b ? b : a;
}

static void link_nodes(struct pattern_nodes *to, part *root)
{
    for (part *p = root; p; p = next_down(p)) {
        struct pattern_node *n = &to->node[p->node];

        switch (p->kind) {
        case PATTERN_STAR:
        case PATTERN_EITHER:
            to->plural = true;
            set_ways(n, (p->left ? p->left->first : p->next)->node,
                     (p->right ? p->right->first : p->next)->node);
            break;
        case PATTERN_ANCHOR:
        case PATTERN_OPEN:
        case PATTERN_CLOSE: set_ways(n, p->next->node, p->next->node); break;
        case PATTERN_BYTES: n->next = p->next->node; break;
        default: break;
        }
    }
}

/* --- what anchors ask for --- */

static uint32_t add_copy(struct pattern_nodes *to, uint32_t of, uint8_t around)
{
    struct pattern_node n = to->node[of];
    uint32_t made = (uint32_t)to->n;

    n.around |= around;
    n.copied = true;
    n.ways = 0;
    n.next = n.copy = PATTERN_NONE;
    n.older = to->node[of].copy;
    if (to->n >= PATTERN_NODES || !add_node(to, &n))
        return PATTERN_NONE;
    to->node[of].copy = made;
    return made;
}

/* The copy of a node that asks for exactly this, if there is one. */
static uint32_t find_copy(const struct pattern_nodes *in, uint32_t of,
                          uint8_t around)
{
    uint32_t i = in->node[of].copy;

    while (i != PATTERN_NONE && in->node[i].around != around)
        i = in->node[i].older;
    return i;
}

static void add_way(struct pattern_node *n, uint32_t way)
{
    if (n->ways && n->to[0] > way) {
        n->to[1] = n->to[0];
        n->to[0] = way;
    } else {
        n->to[n->ways] = way;
    }
    n->ways++;
}

/*
 * Give `copy` the ways of `of`, to copies that ask for `around`, too. False if
 * there are too many of them. `root` is the anchor: a loop back to it ends
 * there.
 */
static bool copy_ways(struct pattern_nodes *in, uint32_t of, uint32_t copy,
                      uint32_t root, uint8_t around, unsigned depth)
{
    for (;;) {
        struct pattern_node org = in->node[of];
        uint32_t made;

        if (!org.ways) {
            in->node[copy].next = org.next;
            return true;
        }
        in->node[copy].ways = 0;
        if (org.ways == 1 && of == root && copy != of) {
            add_way(&in->node[copy], org.to[0]);
            return true;
        }
        if (org.ways == 1) {
            around |= org.around;
        } else {
            made = find_copy(in, org.to[0], around);
            if (made == PATTERN_NONE) {
                made = add_copy(in, org.to[0], around);
                if (made == PATTERN_NONE || depth == DEPTH)
                    return false;
                add_way(&in->node[copy], made);
                if (!copy_ways(in, org.to[0], made, root, around, depth + 1))
                    return false;
            } else {
                add_way(&in->node[copy], made);
            }
        }
        made = add_copy(in, org.to[org.ways - 1], around);
        if (made == PATTERN_NONE)
            return false;
        add_way(&in->node[copy], made);
        of = org.to[org.ways - 1];
        copy = made;
    }
}

/* Visit what can be reached from a node without a byte, in the order of the
   numbers, and pass on what the anchors ask for. */
static bool pass_on(struct pattern_nodes *in, uint32_t from, bool **seen,
                    size_t *seen_room, uint32_t **stack, size_t *stack_room)
{
    size_t n = 0;

    (*stack)[n++] = from;
    while (n) {
        uint32_t at = (*stack)[--n];
        struct pattern_node *node = &in->node[at];
        size_t had = *seen_room;
        void *more;

        if (at < had && (*seen)[at])
            continue;
        if (node->around && node->ways && !in->node[node->to[0]].copied &&
            !copy_ways(in, at, at, at, node->around, 0))
            return false;
        more = array_grow(*seen, seen_room, in->n, 1);
        if (!more)
            return false;
        *seen = more;
        memset(*seen + had, 0, *seen_room - had);
        (*seen)[at] = true;
        more = array_grow(*stack, stack_room, n + 2, sizeof **stack);
        if (!more)
            return false;
        *stack = more;
        node = &in->node[at];
        for (size_t i = node->ways; i;)
            (*stack)[n++] = node->to[--i];
    }
    return true;
}

static bool pass_all_on(struct pattern_nodes *in)
{
    size_t seen_room = 0, stack_room = 0;
    bool *seen = NULL, done = true;
    uint32_t *stack = array_grow(NULL, &stack_room, 2, sizeof *stack);

    for (size_t i = 0; done && i < in->n; i++)
        done = stack && pass_on(in, (uint32_t)i, &seen, &seen_room, &stack,
                                &stack_room);
    free(seen);
    free(stack);
    return done;
}

enum pattern_parsed pattern_link(struct pattern_nodes *to,
                                 struct pattern_parts *from, bool groups)
{
    *to = (struct pattern_nodes){ .n = 0 };
    strip_groups(from->root);
    if (!open_groups(from, groups) || !number_nodes(to, from->root))
        return PATTERN_NO_MEMORY;
    find_next(from->root);
    link_nodes(to, from->root);
    to->first = from->root->node;
    if (!pass_all_on(to))
        return PATTERN_TOO_MUCH;
    for (size_t i = 0; i < to->n; i++)
        to->around |= to->node[i].around;
    return PATTERN_PARSED;
}
