/*
 * nodes.h - the nodes of a filter's tree as they are at one moment.
 *
 * Other threads may add to a filter while it is saved, and so append a part.
 * Text, table and cells of one file must have the same parts, so all are made
 * from one list.
 */
#ifndef SEEN_STORE_NODES_H
#define SEEN_STORE_NODES_H

#include <seen/kind_writer.h>

struct store_nodes {
    struct store_node {
        const struct seen_filter *f;
        int depth; /* 0 of the root */
    } * node;      /* in preorder */
    size_t n;
};

/* The list is valid as long as the filter: parts are never removed. */
enum seen_code store_nodes_init(struct store_nodes *s,
                                const struct seen_filter *f,
                                struct seen_error *why);
void store_nodes_clear(struct store_nodes *s);

#endif
