/*
 * pattern_group.c - which part of a match group 1 is.
 *
 * A match is read backward, and for each byte the nodes are found from which
 * its end is reached. Then a walk forward goes from node to node, always to one
 * of these, and to that with the smaller number where there are two: it never
 * has to turn back. This is what the C library does, so that group 1 is the
 * same here.
 *
 *     (a|ab)(c|bcd)  on  abcd:  the sets read from the right decide that only
 *                               "a" and then "bcd" can be
 *
 * The sets of one block of BLOCK bytes are kept at a time, and one set per
 * block from which those of the block are made again: memory for the root of
 * the work, and each byte is read backward twice.
 */
#include "pattern_states.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"

enum { BLOCK = 1024, LOOPS = 4 };

/* Sets of nodes in one array, one after the other. */
struct pattern_sets {
    uint32_t *node;
    size_t *end; /* where each set ends in it */
    size_t n, node_room, end_room;
};

struct pattern_walk {
    struct pattern_cache *c;
    struct pattern_way *w;
    struct budget *budget;
    struct pattern_sets corner; /* one per block, the last block first */
    struct pattern_sets block;  /* of one block, its last byte first */
    size_t top;                 /* the byte of the first set of `block` */
};

static void sets_clear(struct pattern_sets *s)
{
    free(s->node);
    free(s->end);
}

static bool sets_add(struct pattern_sets *s, const uint32_t *node, size_t n)
{
    size_t used = s->n ? s->end[s->n - 1] : 0;
    void *more = array_grow(s->node, &s->node_room, used + n + 1,
                            sizeof *s->node);

    if (more)
        s->node = more;
    if (!more ||
        !(more = array_grow(s->end, &s->end_room, s->n + 1, sizeof *s->end)))
        return false;
    s->end = more;
    if (n)
        memcpy(s->node + used, node, n * sizeof *node);
    s->end[s->n++] = used + n;
    return true;
}

static const uint32_t *sets_get(const struct pattern_sets *s, size_t i,
                                size_t *n)
{
    size_t begin = i ? s->end[i - 1] : 0;

    *n = s->end[i] - begin;
    return s->node + begin;
}

static enum pattern_before before(const struct pattern_walk *k, size_t at)
{
    return at == k->w->begin
               ? k->w->before
               : pattern_behind(k->c->machine,
                                (unsigned char)k->w->text.text[at - 1]);
}

/* From the set of `from`, which is the list, down to that of `to`; with
   `keep`, all of them are kept in the block. */
static enum seen_code read_back(struct pattern_walk *k, size_t *n, size_t from,
                                size_t to, bool keep)
{
    struct pattern_cache *c = k->c;

    for (size_t at = from; at > to; at--) {
        if (!budget_spend(k->budget, 1 + *n * c->machine->weight))
            return SEEN_RANGE;
        pattern_mark(c, c->list, *n, before(k, at));
        *n = pattern_step_back(c, (unsigned char)k->w->text.text[at - 1]);
        if (keep && !sets_add(&k->block, c->list, *n))
            return SEEN_NOMEM;
    }
    return SEEN_OK;
}

static size_t corner_of(const struct pattern_walk *k, size_t block)
{
    size_t end = k->w->begin + (block + 1) * BLOCK;

    return end < k->w->end ? end : k->w->end;
}

/* The sets at the ends of all blocks. */
static enum seen_code find_corners(struct pattern_walk *k)
{
    size_t blocks = (k->w->end - k->w->begin) / BLOCK + 1, n = 1;
    enum seen_code code = SEEN_OK;

    k->c->list[0] = k->w->finish;
    for (size_t i = blocks; i-- && code == SEEN_OK;) {
        if (!sets_add(&k->corner, k->c->list, n))
            return SEEN_NOMEM;
        if (i)
            code = read_back(k, &n, corner_of(k, i), corner_of(k, i - 1),
                             false);
    }
    return code;
}

/* The sets of a block. */
static enum seen_code enter_block(struct pattern_walk *k, size_t block)
{
    size_t n, begin = k->w->begin + block * BLOCK;
    const uint32_t *set = sets_get(&k->corner, k->corner.n - 1 - block, &n);

    memcpy(k->c->list, set, n * sizeof *set);
    k->block.n = 0;
    k->top = corner_of(k, block);
    if (!sets_add(&k->block, set, n))
        return SEEN_NOMEM;
    return read_back(k, &n, k->top, begin, true);
}

/* Mark the nodes at a place from which the end is reached. */
static enum seen_code look(struct pattern_walk *k, size_t at)
{
    size_t n, offset = at - k->w->begin;
    const uint32_t *set;
    enum seen_code code;

    if (!k->c->machine->nodes.plural) {
        pattern_mark_all(k->c, before(k, at));
        return SEEN_OK;
    }
    if (offset % BLOCK == 0) {
        code = enter_block(k, offset / BLOCK);
        if (code != SEEN_OK)
            return code;
    }
    set = sets_get(&k->block, k->top - at, &n);
    pattern_mark(k->c, set, n, before(k, at));
    return SEEN_OK;
}

/* The next node without a byte; PATTERN_NONE if there is none. Where there are
   two, the second if the first has been left here already, as in "(a*)*". */
static uint32_t next_node(struct pattern_cache *c,
                          const struct pattern_node *node)
{
    uint32_t to = PATTERN_NONE;

    c->via[node - c->machine->nodes.node] = c->place;
    for (size_t i = 0; i < node->ways; i++) {
        if (!pattern_marked(c, node->to[i]))
            continue;
        if (to == PATTERN_NONE)
            to = node->to[i];
        else if (c->via[to] == c->place)
            return node->to[i];
    }
    return to;
}

struct pattern_ends {
    size_t begin, end;
};

/* What a node says of group 1. An empty round of a repetition does not count
   if there was one before. */
static void note(const struct pattern_node *node, size_t at,
                 struct pattern_ends *now, struct pattern_ends *last)
{
    if (node->number ||
        (node->kind != PATTERN_OPEN && node->kind != PATTERN_CLOSE))
        return;
    if (node->kind == PATTERN_OPEN) {
        *now = (struct pattern_ends){ at, SIZE_MAX };
    } else if (now->begin < at) {
        now->end = at;
        *last = *now;
    } else if (node->optional && last->begin != SIZE_MAX) {
        *now = *last;
    } else {
        now->end = at;
    }
}

static void next_place(struct pattern_cache *c)
{
    if (!++c->place) {
        memset(c->via, 0, c->machine->nodes.n * sizeof *c->via);
        c->place = 1;
    }
}

static enum seen_code walk(struct pattern_walk *k, enum pattern_went *went)
{
    struct pattern_cache *c = k->c;
    const struct pattern_nodes *in = &c->machine->nodes;
    struct pattern_ends now = { SIZE_MAX, SIZE_MAX }, last = now;
    size_t at = k->w->begin, loops = 0;
    uint32_t node = in->first;
    enum seen_code code = SEEN_OK;

    next_place(c);
    for (;;) {
        const struct pattern_node *p = &in->node[node];

        note(p, at, &now, &last);
        if (at == k->w->end && node == k->w->finish)
            break;
        if (!budget_spend(k->budget, 1) || ++loops > LOOPS * in->n)
            return SEEN_RANGE;
        if (p->kind != PATTERN_BYTES) {
            node = next_node(c, p);
        } else if (at < k->w->end &&
                   pattern_takes_on_way(c->machine, p,
                                        (unsigned char)k->w->text.text[at])) {
            node = p->next;
            code = look(k, ++at);
            loops = 0;
            next_place(c);
        } else {
            node = PATTERN_NONE;
        }
        if (code != SEEN_OK)
            return code;
        if (node == PATTERN_NONE) {
            *went = PATTERN_NO_MATCH;
            return SEEN_OK;
        }
    }
    k->w->group = now.begin;
    k->w->group_end = now.end;
    return SEEN_OK;
}

enum seen_code pattern_find_group(struct pattern_cache *c,
                                  struct pattern_way *w, struct budget *budget,
                                  enum pattern_went *went)
{
    const struct pattern_machine *m = c->machine;
    struct pattern_walk k = { .c = c, .w = w, .budget = budget };
    bool any = false, plural = m->nodes.plural;
    enum seen_code code = plural ? find_corners(&k) : SEEN_OK;

    *went = PATTERN_WENT;
    if (code == SEEN_OK)
        code = look(&k, w->begin);
    for (size_t i = 0; code == SEEN_OK && i < m->openings && !any; i++)
        any = pattern_marked(c, m->opening[i]);
    if (code == SEEN_OK && any)
        code = walk(&k, went);
    else if (code == SEEN_OK)
        *went = plural ? PATTERN_NO_WAY : PATTERN_NO_MATCH;
    sets_clear(&k.corner);
    sets_clear(&k.block);
    return code;
}
