/*
 * pattern_states.h - the states of a pattern, made when a text needs them;
 * for pattern.c.
 *
 * A state is a set of nodes. There are two automata over one set of nodes:
 *
 *     AHEAD   reads forward from where a match begins: the nodes that can be
 *             reached. Says where the match may end.
 *     STARTS  reads a text backward from its end: the nodes from which some
 *             end can be reached. Says where a match may begin.
 *
 * The third reads a match backward from its end, to know which way it went
 * (the nodes from which this very end is reached). It is needed for the
 * few bytes of a match, and keeps no states.
 *
 * A pattern may have more states than there is memory ("(a|b)*a(a|b){20}" has
 * two million), so a cache is bounded: when it is full, it is emptied. In the
 * worst case each byte makes a state, which costs time in proportion to the
 * nodes of the pattern.
 *
 * Threads: a machine does not change and is shared; a cache belongs to one
 * thread at a time.
 */
#ifndef SEEN_TEXT_PATTERN_STATES_H
#define SEEN_TEXT_PATTERN_STATES_H

#include <seen/error.h>
#include <seen/span.h>

#include "budget.h"
#include "pattern_inside.h"

/* What the nodes ask about the byte before, or where a text begins. */
enum pattern_before {
    BEHIND_OTHER,
    BEHIND_WORD,
    BEHIND_BEGIN, /* of a text for which ^ holds */
    BEHIND_CUT,   /* of one for which it does not */
    BEHIND_LINE   /* a line feed that is part of the match */
};

/* The same for the byte after. */
enum pattern_after { AHEAD_OTHER, AHEAD_WORD, AHEAD_END, AHEAD_CUT };

enum pattern_automaton { PATTERN_AHEAD, PATTERN_STARTS };

struct pattern_machine {
    struct pattern_nodes nodes;
    struct pattern_set *set;
    unsigned char class_of[256]; /* bytes that all nodes treat alike */
    unsigned char sample[256];   /* a byte of each class */
    unsigned classes;
    bool word[256];   /* false for all, if no node asks */
    unsigned weight;  /* nodes per node that takes a byte or ends */
    /* The nodes from which a node is reached, without a byte and with one:
       those of node i begin at at[i] and end before at[i + 1]. */
    uint32_t *back_at, *back, *byte_at, *byte_from;
    uint32_t *finish; /* all nodes that end the pattern */
    size_t finishes;
    uint32_t *opening; /* nodes reached from the first without a byte */
    size_t openings;
    bool anchored; /* all of them ask for the begin of the text */
    size_t memory; /* that the states of a cache may take */
};

/* --- pattern_machine.c --- */

/* Takes the nodes and the sets over. Clear in any case. */
enum pattern_parsed pattern_machine_init(struct pattern_machine *m,
                                         struct pattern_nodes *nodes,
                                         struct pattern_set *set, size_t sets);
void pattern_machine_clear(struct pattern_machine *m);

/* What a node asks about the places before and after it: is it so? */
bool pattern_allows(const struct pattern_node *n, enum pattern_before before);
bool pattern_allows_end(const struct pattern_node *n,
                        enum pattern_after after);

/* Does it take this byte? For groups the answer may differ. */
bool pattern_takes(const struct pattern_machine *m,
                   const struct pattern_node *n, unsigned char byte);
bool pattern_takes_on_way(const struct pattern_machine *m,
                          const struct pattern_node *n, unsigned char byte);
enum pattern_before pattern_behind(const struct pattern_machine *m,
                                   unsigned char byte);

static inline bool pattern_takes_or_ends(const struct pattern_node *n)
{
    return n->kind == PATTERN_BYTES || n->kind == PATTERN_FINISH;
}

/* --- pattern_states.c --- */

struct pattern_state {
    struct pattern_state *same_bucket;
    uint8_t automaton;
    uint8_t starts;   /* STARTS: for each pattern_before, may a match begin? */
    uint32_t steps;   /* that one byte costs here */
    uint32_t end[4];  /* AHEAD: for each pattern_after, the node of the end */
    uint32_t n;
    uint32_t *node;   /* that take a byte or end, in ascending order */
    struct pattern_state *next[]; /* by class of byte; NULL: not made yet */
};

struct pattern_cache {
    struct pattern_cache *next; /* in the list of idle ones */
    const struct pattern_machine *machine;
    struct pattern_state **bucket;
    size_t bytes; /* that all states take */
    size_t flushes;
    struct pattern_state *first[BEHIND_CUT + 1]; /* AHEAD, at a beginning */
    struct pattern_state *last[AHEAD_CUT + 1];   /* STARTS, at an end */
    uint32_t *mark; /* twice per node: the last set that it was in */
    uint32_t now;   /* the number of the set that is being made */
    enum pattern_before before; /* of pattern_mark() */
    bool all;
    uint32_t *queue, *list;     /* nodes that are marked; a set of nodes */
    size_t marked;
    uint32_t *via; /* per node: the last place of a match where it was left */
    uint32_t place;
};

struct pattern_cache *pattern_cache_new(const struct pattern_machine *m);
void pattern_cache_free(struct pattern_cache *c);

/* The state after a byte, made if it is not there; it stays until the next
   call. NULL without memory. */
struct pattern_state *pattern_step(struct pattern_cache *c,
                                   struct pattern_state *from,
                                   unsigned char byte);

/* The same for the state in which an automaton begins. */
struct pattern_state *pattern_first_ahead(struct pattern_cache *c,
                                          enum pattern_before before);
struct pattern_state *pattern_first_starts(struct pattern_cache *c,
                                           enum pattern_after after);

/* --- which way a match went --- */

/* Mark the nodes that lead to one of a set without a byte. `before`: what is
   behind this place. */
void pattern_mark(struct pattern_cache *c, const uint32_t *set, size_t n,
                  enum pattern_before before);
/* Mark all, where there is one way only. */
void pattern_mark_all(struct pattern_cache *c, enum pattern_before before);
bool pattern_marked(const struct pattern_cache *c, uint32_t node);

/* The nodes that lead to marked ones with this byte: their number. They are in
   c->list, until the next call. */
size_t pattern_step_back(struct pattern_cache *c, unsigned char byte);

/* --- pattern_group.c --- */

/* A match that is known, and what else there is to know about it. */
struct pattern_way {
    struct seen_span text;
    size_t begin, end;
    enum pattern_before before; /* at its begin */
    uint32_t finish;            /* the node at its end */
    size_t group, group_end;    /* found; SIZE_MAX: it is not in the match */
};

enum pattern_went { PATTERN_WENT, PATTERN_NO_WAY, PATTERN_NO_MATCH };

/*
 * Find group 1. There may be no way, in spite of the match, where the C
 * library contradicts itself ("(^a)+"): it looks for the next start then
 * (PATTERN_NO_WAY), or gives up (PATTERN_NO_MATCH). SEEN_RANGE: it costs too
 * much; SEEN_NOMEM.
 */
enum seen_code pattern_find_group(struct pattern_cache *c,
                                  struct pattern_way *w, struct budget *budget,
                                  enum pattern_went *went);

#endif
