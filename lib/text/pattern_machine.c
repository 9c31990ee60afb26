/*
 * pattern_machine.c - what is known of the nodes before any text.
 *
 * Three tables make the states of pattern_states.h cheap:
 *
 *     classes   bytes that no node tells apart are one class. A row of a state
 *               has one entry per class, and not 256. Classes are found by
 *               refinement: each set of the pattern splits those that it cuts
 *               in two.
 *     back      the edges turned around, since two of the automata read
 *               backward: one array of all sources, and where those of each
 *               node begin (at[i] to at[i + 1])
 *     opening   what is reached from the first node without a byte
 *
 * All take time and memory in proportion to the nodes, which the parser
 * bounds; the classes to the sets times 256.
 *
 * Below them is the one definition of what a node asks about its neighbours
 * (^, $, word boundaries), which all automata share.
 */
#include "pattern_states.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of one class stay together only if the set has all or none of them. */
static void split_classes(struct pattern_machine *m,
                          const struct pattern_set *s)
{
    int made[256][2];
    unsigned n = 0;

    memset(made, -1, sizeof made);
    for (unsigned c = 0; c < 256; c++) {
        int *now = &made[m->class_of[c]][pattern_set_has(s, (unsigned char)c)];

        if (*now < 0)
            *now = (int)n++;
        m->class_of[c] = (unsigned char)*now;
    }
    m->classes = n;
}

static void find_classes(struct pattern_machine *m, size_t sets)
{
    struct pattern_set word = { { 0 } }, line = { { 0 } };

    pattern_set_add(&line, '\n');
    for (unsigned c = 0; c < 256; c++)
        if (m->word[c])
            pattern_set_add(&word, (unsigned char)c);
    split_classes(m, &word);
    if (m->nodes.around & (AFTER_LINE | BEFORE_LINE))
        split_classes(m, &line);
    for (size_t i = 0; i < sets; i++)
        split_classes(m, &m->set[i]);
    for (unsigned c = 0; c < 256; c++)
        m->sample[m->class_of[c]] = (unsigned char)c;
}

static bool is_word(unsigned c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

/* at[i + 1] is first counted for node i - 1, so that filling moves it. */
static void turn_around(struct pattern_machine *m)
{
    const struct pattern_nodes *in = &m->nodes;

    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t i = 0; i < in->n; i++) {
            const struct pattern_node *n = &in->node[i];

            for (size_t k = 0; k < n->ways; k++)
                if (fill)
                    m->back[m->back_at[n->to[k] + 1]++] = i;
                else
                    m->back_at[n->to[k] + 2]++;
            if (n->kind == PATTERN_BYTES && fill)
                m->byte_from[m->byte_at[n->next + 1]++] = i;
            else if (n->kind == PATTERN_BYTES)
                m->byte_at[n->next + 2]++;
        }
        for (size_t i = 2; !fill && i < in->n + 2; i++) {
            m->back_at[i] += m->back_at[i - 1];
            m->byte_at[i] += m->byte_at[i - 1];
        }
    }
}

/* Everything that is reached from the first node without a byte. */
static bool find_opening(struct pattern_machine *m)
{
    const struct pattern_nodes *in = &m->nodes;
    uint32_t *stack = malloc((2 * in->n + 2) * sizeof *stack);
    bool *seen = calloc(in->n, sizeof *seen);
    size_t n = 0;

    if (stack && seen)
        stack[n++] = in->first;
    while (n) {
        const struct pattern_node *node = &in->node[stack[--n]];
        uint32_t at = stack[n];

        if (seen[at])
            continue;
        seen[at] = true;
        if (pattern_takes_or_ends(node))
            m->opening[m->openings++] = at;
        for (size_t i = 0; i < node->ways; i++)
            stack[n++] = node->to[i];
    }
    n = stack && seen;
    free(stack);
    free(seen);
    return n;
}

enum pattern_parsed pattern_machine_init(struct pattern_machine *m,
                                         struct pattern_nodes *nodes,
                                         struct pattern_set *set, size_t sets)
{
    size_t n = nodes->n, taking = 0;

    *m = (struct pattern_machine){ .nodes = *nodes, .set = set };
    *nodes = (struct pattern_nodes){ .n = 0 };
    m->back_at = calloc(n + 2, sizeof *m->back_at);
    m->byte_at = calloc(n + 2, sizeof *m->byte_at);
    m->back = malloc((2 * n + 1) * sizeof *m->back);
    m->byte_from = malloc((n + 1) * sizeof *m->byte_from);
    m->finish = malloc(n * sizeof *m->finish);
    m->opening = malloc(n * sizeof *m->opening);
    if (!m->back_at || !m->byte_at || !m->back || !m->byte_from ||
        !m->finish || !m->opening || !find_opening(m))
        return PATTERN_NO_MEMORY;
    turn_around(m);
    for (uint32_t i = 0; i < n; i++) {
        taking += pattern_takes_or_ends(&m->nodes.node[i]);
        if (m->nodes.node[i].kind == PATTERN_FINISH)
            m->finish[m->finishes++] = i;
    }
    m->anchored = true;
    for (size_t i = 0; i < m->openings; i++)
        m->anchored &= (m->nodes.node[m->opening[i]].around &
                        (AFTER_LINE | AFTER_TEXT)) != 0;
    m->weight = (unsigned)((n + taking - 1) / taking);
    for (unsigned c = 0; c < 256; c++)
        m->word[c] = m->nodes.around & ANY_WORD && is_word(c);
    find_classes(m, sets);
    return PATTERN_PARSED;
}

void pattern_machine_clear(struct pattern_machine *m)
{
    free(m->nodes.node);
    free(m->set);
    free(m->back_at);
    free(m->back);
    free(m->byte_at);
    free(m->byte_from);
    free(m->finish);
    free(m->opening);
}

/* --- what nodes ask for --- */

enum pattern_before pattern_behind(const struct pattern_machine *m,
                                   unsigned char byte)
{
    return m->word[byte]  ? BEHIND_WORD
           : byte == '\n' ? BEHIND_LINE
                          : BEHIND_OTHER;
}

bool pattern_allows(const struct pattern_node *n, enum pattern_before before)
{
    uint8_t a = n->around;

    return !a || !((a & AFTER_WORD && before != BEHIND_WORD) ||
                   (a & AFTER_OTHER && before == BEHIND_WORD) ||
                   (a & AFTER_LINE && before != BEHIND_BEGIN &&
                    before != BEHIND_LINE) ||
                   (a & AFTER_TEXT && before != BEHIND_BEGIN &&
                    before != BEHIND_CUT));
}

bool pattern_allows_end(const struct pattern_node *n, enum pattern_after after)
{
    uint8_t a = n->around;

    return !a ||
           !((a & BEFORE_WORD && after != AHEAD_WORD) ||
             (a & BEFORE_OTHER && after == AHEAD_WORD) ||
             (a & BEFORE_LINE && after != AHEAD_END) ||
             (a & BEFORE_END && after != AHEAD_END && after != AHEAD_CUT));
}

/* The C library lets $ in a pattern stand before a line feed, as if it had
   been asked to. */
bool pattern_takes(const struct pattern_machine *m,
                   const struct pattern_node *n, unsigned char byte)
{
    uint8_t a = n->around;

    return n->kind == PATTERN_BYTES &&
           pattern_set_has(&m->set[n->number], byte) &&
           (!a || !((a & BEFORE_LINE && byte != '\n') || a & BEFORE_END ||
                    (a & BEFORE_WORD && !m->word[byte]) ||
                    (a & BEFORE_OTHER && m->word[byte])));
}

/* The same when the groups of a match are looked for: there $ does not stand
   before a line feed. */
bool pattern_takes_on_way(const struct pattern_machine *m,
                          const struct pattern_node *n, unsigned char byte)
{
    return !(n->around & BEFORE_LINE) && pattern_takes(m, n, byte);
}
