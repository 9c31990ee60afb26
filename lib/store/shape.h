/*
 * shape.h - the nodes of a filter's tree as they are at one moment.
 *
 * Other threads may add to a filter while it is saved, and a part may be
 * appended meanwhile. Text, table and cells of one file must speak of the
 * same parts, so all are made from one list of them.
 */
#ifndef SEEN_STORE_SHAPE_H
#define SEEN_STORE_SHAPE_H

#include <seen/kind_writer.h>

struct shape {
    struct node {
        const struct seen_filter *f;
        int depth; /* 0 of the root */
    } * node;      /* in preorder */
    size_t nodes;
};

/* The list stays good as long as the filter; parts are never taken away. */
enum seen_code shape_init(struct shape *s, const struct seen_filter *f,
                          struct seen_error *why);
void shape_clear(struct shape *s);

#endif
