/*
 * text.h - a filter's plan as text: what files, the text form and
 * `seen info` share. doc/format.md specifies it.
 */
#ifndef SEEN_STORE_TEXT_H
#define SEEN_STORE_TEXT_H

#include <stdbool.h>

#include <seen/kind_writer.h>
#include <seen/store.h>

#include "nodes.h"

/*
 * The canonical text of f, for the caller to free(). `counts` adds what
 * changes with every key: offered, and the set cells of each leaf.
 */
enum seen_code store_text_make(const struct seen_filter *f, bool counts,
                               char **text, size_t *len,
                               struct seen_error *why);

/* The same of a list of nodes. */
enum seen_code store_text_of(const struct store_nodes *s, bool counts,
                             char **text, size_t *len, struct seen_error *why);

/*
 * The filter of a text, without cells. SEEN_MISMATCH: a later version, or
 * another profile or secret than `options`, which may be NULL, asks for.
 * SEEN_CORRUPT: not canonical.
 */
enum seen_code store_text_parse(struct seen_filter **out, const char *text,
                                bool counts, const struct seen_access *options,
                                struct seen_error *why);

/* Do two filters have the same plan, except for going past capacity
   and the keys of an index? */
bool store_text_alike(const struct seen_filter *f,
                      const struct seen_filter *g);

/* Is it a name of the plan, which metadata cannot have? */
bool store_text_taken(const char *name, size_t len);

#endif
