/*
 * pattern_inside.h - a pattern as parts and as nodes; for the pattern_*.c
 * files.
 *
 *     text ──parse──> parts, a tree ──link──> nodes, an NFA ──> states, a DFA
 *
 * The nodes are those that the C library would make, with the same numbers:
 * where it could match in several ways, the numbers decide what group 1 is.
 */
#ifndef SEEN_TEXT_PATTERN_INSIDE_H
#define SEEN_TEXT_PATTERN_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pattern_set.h"

enum {
    PATTERN_NONE = UINT32_MAX >> 1, /* no node */
    PATTERN_NODES = 400000,         /* of a pattern */
};

/* What is around a node's place in the text. */
enum {
    AFTER_WORD = 1,   /* after a letter, a digit or "_" */
    AFTER_OTHER = 2,  /* after anything else */
    BEFORE_WORD = 4,
    BEFORE_OTHER = 8,
    AFTER_LINE = 16,  /* ^ */
    BEFORE_LINE = 32, /* $ */
    AFTER_TEXT = 64,  /* \` */
    BEFORE_END = 128, /* \' */
    ANY_WORD = AFTER_WORD | AFTER_OTHER | BEFORE_WORD | BEFORE_OTHER
};

enum pattern_kind {
    PATTERN_BYTES,  /* takes one byte, of a set */
    PATTERN_FINISH, /* the end of the pattern */
    PATTERN_OPEN,   /* these take none: */
    PATTERN_CLOSE,
    PATTERN_STAR,
    PATTERN_EITHER,
    PATTERN_ANCHOR,
    PATTERN_GROUP, /* parts that do not become nodes: */
    PATTERN_BOTH
};

struct pattern_part {
    enum pattern_kind kind;
    bool copied;     /* made for a repetition, by copying another part */
    bool optional;   /* a group that "*", "?" or "{" follows */
    uint8_t around;  /* PATTERN_ANCHOR */
    uint32_t number; /* which set of bytes, or which group, from 0 */
    uint32_t node;
    struct pattern_part *up, *left, *right, *first, *next;
};

struct pattern_node {
    uint8_t kind;
    uint8_t around;
    bool copied, optional;
    uint8_t ways;     /* without a byte: how many of to[] */
    uint32_t number;
    uint32_t next;    /* with a byte */
    uint32_t to[2];   /* without one, in ascending order */
    uint32_t copy;    /* the last copy that asks for more, or NONE */
    uint32_t older;   /* an earlier copy of the same node */
};

/* --- pattern_parse.c --- */

struct pattern_parts {
    struct pattern_part **chunk; /* of parts */
    size_t chunks, n;
    struct pattern_part *root;
    struct pattern_set *set;
    size_t sets;
    size_t groups;
};

enum pattern_parsed {
    PATTERN_PARSED,
    PATTERN_INVALID,   /* the C library says what is wrong */
    PATTERN_REFERENCE, /* it has a back reference */
    PATTERN_TOO_MUCH,
    PATTERN_NO_MEMORY
};

/* Parse n texts as a pattern that matches what one of them matches. Clear in
   any case. */
enum pattern_parsed pattern_parse(struct pattern_parts *to,
                                  const char *const *text, size_t n);
void pattern_parts_clear(struct pattern_parts *p);
struct pattern_part *pattern_part_new(struct pattern_parts *in,
                                      enum pattern_kind kind,
                                      struct pattern_part *left,
                                      struct pattern_part *right);

/* --- pattern_nodes.c --- */

struct pattern_nodes {
    struct pattern_node *node;
    size_t n, room;
    uint32_t first;
    uint8_t around; /* of all nodes */
    bool plural;    /* has there ever more than one way? */
};

/* The nodes of a tree of parts, which is changed. `groups`: with nodes for
   where groups begin and end. */
enum pattern_parsed pattern_link(struct pattern_nodes *to,
                                 struct pattern_parts *from, bool groups);

#endif
