/*
 * aggregation.h - the experiments on the aggregation paper's classifier.
 *
 * The paper has times, which `seen bench aggregate` measures, and no figure of
 * how often its classes are wrong. These experiments count that, for its rule
 * and for ours, on made-up histories of pages whose true class is known.
 *
 * Threads: an experiment keeps to one.
 */
#ifndef SEEN_LAB_AGGREGATION_H
#define SEEN_LAB_AGGREGATION_H

#include "../../change/state.h"
#include "../lab.h"

void aggregation_misnamed(struct lab *lab, struct section *s);
void aggregation_words(struct lab *lab, struct section *s);

/* A text of `words` made-up words that follows from its number; word `odd` is
   another one if it is below `words`. */
void aggregation_text(struct buffer *to, uint64_t number, unsigned words,
                      unsigned odd);

/* A record of a page with this text, as a line. Two records with equal ids
   are one that was delivered twice. */
void aggregation_record(struct buffer *line, uint64_t id, uint64_t page,
                        const struct buffer *text);

#endif
