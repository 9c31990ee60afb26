/*
 * pattern_states.c - make the states of a pattern, and find those that exist.
 *
 * The order is that of their making: a cache with its memory, marks on nodes,
 * a state from a list of nodes, and the step from a state over a byte. Both
 * automata end in state_of(), which sorts the list and returns the state that
 * has the same nodes, if there is one. The last part reads a match backward
 * and makes no states.
 *
 * Two things are easy to break. state_of() may empty a full cache, which frees
 * the state that the step came from: pattern_step() compares `flushes` before
 * it writes into that one. And `mark` is never cleared between sets: a mark is
 * the number of the set that is being made, so that a set of three nodes does
 * not cost as much as the pattern has nodes.
 */
#include "pattern_states.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 256,
    STATES = 8, /* fit into a cache, however large they are */
    RADIX = 10, /* bits of a number that one pass sorts by */
    MANY = 400  /* nodes, from which on a set is sorted by passes */
};

/* --- the cache --- */

struct pattern_cache *pattern_cache_new(const struct pattern_machine *m)
{
    struct pattern_cache *c = calloc(1, sizeof *c);
    size_t n = m->nodes.n;

    if (!c)
        return NULL;
    c->machine = m;
    c->bucket = calloc(BUCKETS, sizeof *c->bucket);
    c->mark = calloc(2 * n, sizeof *c->mark);
    c->queue = malloc((n + 1) * sizeof *c->queue);
    c->list = malloc((n + 1) * sizeof *c->list);
    c->via = calloc(n, sizeof *c->via);
    if (!c->bucket || !c->mark || !c->queue || !c->list || !c->via) {
        pattern_cache_free(c);
        return NULL;
    }
    return c;
}

static void flush(struct pattern_cache *c)
{
    for (size_t i = 0; i < BUCKETS; i++)
        while (c->bucket[i]) {
            struct pattern_state *s = c->bucket[i];

            c->bucket[i] = s->same_bucket;
            free(s);
        }
    memset(c->first, 0, sizeof c->first);
    memset(c->last, 0, sizeof c->last);
    c->bytes = 0;
    c->flushes++;
}

void pattern_cache_free(struct pattern_cache *c)
{
    if (!c)
        return;
    if (c->bucket)
        flush(c);
    free(c->bucket);
    free(c->mark);
    free(c->queue);
    free(c->list);
    free(c->via);
    free(c);
}

/* --- marks --- */

/* Two marks per node: in the set that is read, and in the one that is made. */
static uint32_t *mark_of(const struct pattern_cache *c, uint32_t node,
                         bool made)
{
    return &c->mark[2 * node + made];
}

static void unmark(struct pattern_cache *c)
{
    c->marked = 0;
    if (!++c->now) {
        memset(c->mark, 0, 2 * c->machine->nodes.n * sizeof *c->mark);
        c->now = 1;
    }
}

static bool mark(struct pattern_cache *c, uint32_t node, bool made)
{
    uint32_t *at = mark_of(c, node, made);
    bool had = *at == c->now;

    *at = c->now;
    return !had;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Sort by ten bits of the numbers. */
static void sort_pass(uint32_t *to, const uint32_t *from, size_t n,
                      unsigned shift)
{
    uint32_t at[1 << RADIX] = { 0 }, sum = 0;

    for (size_t i = 0; i < n; i++)
        at[from[i] >> shift & ((1 << RADIX) - 1)]++;
    for (size_t i = 0; i < 1 << RADIX; i++) {
        uint32_t count = at[i];

        at[i] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[at[from[i] >> shift & ((1 << RADIX) - 1)]++] = from[i];
}

/* Steps are counted per node, so a large set must not cost more than that:
   comparing took two thirds of the time of a state of 50,000 nodes. */
static void sort(uint32_t *list, size_t n, uint32_t *room)
{
    _Static_assert(PATTERN_NODES < 1 << 2 * RADIX, "two passes are enough");

    if (n > MANY) {
        sort_pass(room, list, n, 0);
        sort_pass(list, room, n, RADIX);
        return;
    }
    if (n > 16) {
        qsort(list, n, sizeof *list, by_number);
        return;
    }
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k && list[k - 1] > list[k]; k--) {
            uint32_t held = list[k];

            list[k] = list[k - 1];
            list[k - 1] = held;
        }
}

/* --- states --- */

static size_t bucket_of(enum pattern_automaton automaton, const uint32_t *list,
                        size_t n)
{
    uint64_t h = automaton + 1;

    for (size_t i = 0; i < n; i++)
        h = (h ^ list[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
    return h % BUCKETS;
}

static void find_ends(const struct pattern_machine *m, struct pattern_state *s)
{
    for (enum pattern_after after = AHEAD_OTHER; after <= AHEAD_CUT; after++) {
        s->end[after] = PATTERN_NONE;
        for (size_t i = s->n; i--;) {
            const struct pattern_node *n = &m->nodes.node[s->node[i]];

            if (n->kind == PATTERN_FINISH && pattern_allows_end(n, after))
                s->end[after] = s->node[i];
        }
    }
}

/* May a match begin where all nodes of the list lead to an end? They are
   marked. */
static uint8_t find_starts(const struct pattern_cache *c)
{
    const struct pattern_machine *m = c->machine;
    uint8_t starts = 0;

    for (size_t i = 0; i < m->openings; i++)
        if (*mark_of(c, m->opening[i], true) == c->now)
            for (enum pattern_before b = BEHIND_OTHER; b <= BEHIND_CUT; b++)
                if (pattern_allows(&m->nodes.node[m->opening[i]], b))
                    starts |= (uint8_t)(1 << b);
    return starts;
}

/* The state of a list, which is sorted. */
static struct pattern_state *state_of(struct pattern_cache *c,
                                      enum pattern_automaton automaton,
                                      size_t n)
{
    const struct pattern_machine *m = c->machine;
    size_t bucket, row = m->classes * sizeof(struct pattern_state *);
    size_t size = sizeof(struct pattern_state) + row + n * sizeof *c->list;
    struct pattern_state *s;

    sort(c->list, n, c->queue);
    bucket = bucket_of(automaton, c->list, n);
    for (s = c->bucket[bucket]; s; s = s->same_bucket)
        if (s->automaton == automaton && s->n == n &&
            !memcmp(s->node, c->list, n * sizeof *c->list))
            return s;
    if (c->bytes + size > m->memory + STATES * (m->nodes.n * 4 + row))
        flush(c);
    s = malloc(size);
    if (!s)
        return NULL;
    *s = (struct pattern_state){ .automaton = (uint8_t)automaton,
                                 .n = (uint32_t)n,
                                 .same_bucket = c->bucket[bucket] };
    memset(s->next, 0, row);
    s->node = (uint32_t *)&s->next[m->classes];
    memcpy(s->node, c->list, n * sizeof *c->list);
    s->steps = 1 + (uint32_t)n * m->weight;
    if (automaton == PATTERN_AHEAD)
        find_ends(m, s);
    else
        s->starts = find_starts(c);
    c->bytes += size;
    c->bucket[bucket] = s;
    return s;
}

/* --- forward --- */

/* Add a node and all that it leads to without a byte. */
static size_t reach(struct pattern_cache *c, uint32_t from, size_t n,
                    enum pattern_before before)
{
    const struct pattern_node *nodes = c->machine->nodes.node;
    size_t done = c->marked;

    if (mark(c, from, true))
        c->queue[c->marked++] = from;
    for (; done < c->marked; done++) {
        const struct pattern_node *node = &nodes[c->queue[done]];

        if (pattern_takes_or_ends(node) && pattern_allows(node, before))
            c->list[n++] = c->queue[done];
        for (size_t i = 0; i < node->ways; i++)
            if (mark(c, node->to[i], true))
                c->queue[c->marked++] = node->to[i];
    }
    return n;
}

static struct pattern_state *step_ahead(struct pattern_cache *c,
                                        const struct pattern_state *from,
                                        unsigned char byte)
{
    const struct pattern_machine *m = c->machine;
    enum pattern_before before = pattern_behind(m, byte);
    size_t n = 0;

    unmark(c);
    for (size_t i = 0; i < from->n; i++) {
        const struct pattern_node *node = &m->nodes.node[from->node[i]];

        if (pattern_takes(m, node, byte))
            n = reach(c, node->next, n, before);
    }
    return state_of(c, PATTERN_AHEAD, n);
}

struct pattern_state *pattern_first_ahead(struct pattern_cache *c,
                                          enum pattern_before before)
{
    if (!c->first[before]) {
        struct pattern_state *s;

        unmark(c);
        s = state_of(c, PATTERN_AHEAD,
                     reach(c, c->machine->nodes.first, 0, before));
        c->first[before] = s;
    }
    return c->first[before];
}

/* --- backward --- */

/* Mark all that leads to a node without a byte. */
static void mark_sources(struct pattern_cache *c, uint32_t to)
{
    const struct pattern_machine *m = c->machine;
    size_t done = c->marked;

    if (mark(c, to, false))
        c->queue[c->marked++] = to;
    for (; done < c->marked; done++) {
        uint32_t at = c->queue[done];

        for (uint32_t i = m->back_at[at]; i < m->back_at[at + 1]; i++)
            if (mark(c, m->back[i], false))
                c->queue[c->marked++] = m->back[i];
    }
}

/* The state of the n nodes in c->list, and of those that end the pattern where
   this follows. */
static struct pattern_state *with_ends(struct pattern_cache *c, size_t n,
                                       enum pattern_after after)
{
    const struct pattern_machine *m = c->machine;

    for (size_t i = 0; i < m->finishes; i++)
        if (pattern_allows_end(&m->nodes.node[m->finish[i]], after) &&
            mark(c, m->finish[i], true))
            c->list[n++] = m->finish[i];
    return state_of(c, PATTERN_STARTS, n);
}

struct pattern_state *pattern_first_starts(struct pattern_cache *c,
                                           enum pattern_after after)
{
    if (!c->last[after]) {
        struct pattern_state *s;

        unmark(c);
        s = with_ends(c, 0, after);
        c->last[after] = s;
    }
    return c->last[after];
}

static struct pattern_state *step_starts(struct pattern_cache *c,
                                         const struct pattern_state *from,
                                         unsigned char byte)
{
    const struct pattern_machine *m = c->machine;
    enum pattern_before before = pattern_behind(m, byte);
    size_t n = 0;

    unmark(c);
    for (size_t i = 0; i < from->n; i++)
        if (pattern_allows(&m->nodes.node[from->node[i]], before))
            mark_sources(c, from->node[i]);
    for (size_t i = 0; i < c->marked; i++) {
        uint32_t to = c->queue[i];

        for (uint32_t k = m->byte_at[to]; k < m->byte_at[to + 1]; k++) {
            uint32_t source = m->byte_from[k];

            if (pattern_takes(m, &m->nodes.node[source], byte) &&
                mark(c, source, true))
                c->list[n++] = source;
        }
    }
    return with_ends(c, n, m->word[byte] ? AHEAD_WORD : AHEAD_OTHER);
}

struct pattern_state *pattern_step(struct pattern_cache *c,
                                   struct pattern_state *from,
                                   unsigned char byte)
{
    unsigned class = c->machine->class_of[byte];
    unsigned char sample = c->machine->sample[class];
    size_t flushes = c->flushes;
    struct pattern_state *s;

    if (from->next[class])
        return from->next[class];
    s = from->automaton == PATTERN_AHEAD ? step_ahead(c, from, sample)
                                         : step_starts(c, from, sample);
    if (c->flushes == flushes)
        from->next[class] = s;
    return s;
}

/* --- which way a match went --- */

void pattern_mark(struct pattern_cache *c, const uint32_t *set, size_t n,
                  enum pattern_before before)
{
    unmark(c);
    c->all = false;
    c->before = before;
    for (size_t i = 0; i < n; i++)
        if (pattern_allows(&c->machine->nodes.node[set[i]], before))
            mark_sources(c, set[i]);
}

void pattern_mark_all(struct pattern_cache *c, enum pattern_before before)
{
    c->all = true;
    c->before = before;
}

bool pattern_marked(const struct pattern_cache *c, uint32_t node)
{
    return (c->all || *mark_of(c, node, false) == c->now) &&
           pattern_allows(&c->machine->nodes.node[node], c->before);
}

size_t pattern_step_back(struct pattern_cache *c, unsigned char byte)
{
    const struct pattern_machine *m = c->machine;
    size_t n = 0;

    for (size_t i = 0; i < c->marked; i++) {
        uint32_t to = c->queue[i];

        for (uint32_t k = m->byte_at[to];
             k < m->byte_at[to + 1] && pattern_marked(c, to); k++)
            if (pattern_takes_on_way(m, &m->nodes.node[m->byte_from[k]], byte))
                c->list[n++] = m->byte_from[k];
    }
    return n;
}
