/*
 * shape.c - one walk over a tree that may grow.
 *
 * The number of parts is read once a node, before the parts: those that it
 * counts are whole (seen_filter_grow). A list of fixed length, counted first
 * and filled then, would be overrun by a part that comes in between.
 */
#include "shape.h"

#include <stdlib.h>
#include <string.h>

static bool walk(struct shape *s, size_t *room, const struct seen_filter *f,
                 int depth)
{
    unsigned parts = seen_filter_parts(f);

    if (s->nodes == *room) {
        size_t more = *room ? 2 * *room : 16;
        struct node *node = realloc(s->node, more * sizeof *node);

        if (!node)
            return false;
        s->node = node;
        *room = more;
    }
    s->node[s->nodes++] = (struct node){ f, depth };
    for (unsigned i = 0; i < parts; i++)
        if (!walk(s, room, f->part[i], depth + 1))
            return false;
    return true;
}

enum seen_code shape_init(struct shape *s, const struct seen_filter *f,
                          struct seen_error *why)
{
    size_t room = 0;

    memset(s, 0, sizeof *s);
    if (walk(s, &room, f, 0))
        return SEEN_OK;
    shape_clear(s);
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list of parts");
}

void shape_clear(struct shape *s)
{
    free(s->node);
    memset(s, 0, sizeof *s);
}
