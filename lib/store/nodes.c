/*
 * nodes.c - one walk over a tree that may grow.
 *
 * The number of parts is read once per node, before the parts: the parts that
 * it counts are complete (seen_filter_grow). Counting all nodes first and
 * then filling a list of that length would overrun it if a part is appended
 * in between.
 */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

#include "../text/array.h"

static bool walk(struct store_nodes *s, size_t *room,
                 const struct seen_filter *f, int depth)
{
    unsigned parts = seen_filter_parts(f);

    struct store_node *node = array_grow(s->node, room, s->n + 1,
                                         sizeof *node);

    if (!node)
        return false;
    s->node = node;
    s->node[s->n++] = (struct store_node){ f, depth };
    for (unsigned i = 0; i < parts; i++)
        if (!walk(s, room, f->part[i], depth + 1))
            return false;
    return true;
}

enum seen_code store_nodes_init(struct store_nodes *s,
                                const struct seen_filter *f,
                                struct seen_error *why)
{
    size_t room = 0;

    memset(s, 0, sizeof *s);
    if (walk(s, &room, f, 0))
        return SEEN_OK;
    store_nodes_clear(s);
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list of parts");
}

void store_nodes_clear(struct store_nodes *s)
{
    free(s->node);
    memset(s, 0, sizeof *s);
}
