/*
 * aggregation.h - the experiments on the aggregation paper's classifier.
 *
 * The paper has two tables of times, and no figure of how often its classes are
 * wrong. These experiments repeat its times, and count wrong classes, for its
 * rule and for ours, on made-up pages whose true class is known. What they
 * leave out is the crawl of its first table: `seen bench aggregate` has that.
 *
 * Threads: an experiment keeps to one.
 */
#ifndef SEEN_LAB_AGGREGATION_H
#define SEEN_LAB_AGGREGATION_H

#include "../../change/published.h"
#include "../../change/state.h"
#include "../lab.h"

void aggregation_experiment_1(struct lab *lab, struct section *s);
void aggregation_experiment_2(struct lab *lab, struct section *s);
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

/* One of the two: the paper's rule, or a state of ours. */
struct aggregation_classifier {
    struct change_published *paper;
    struct change_state *state;
    struct change_answers answers;
};
void aggregation_classify(struct aggregation_classifier *c,
                          const struct change_record *r, size_t n,
                          enum change_class *class);
void aggregation_close(struct aggregation_classifier *c);

/* Records of pages [first, first + n), as lines and as they are read. Version 0
   of a page is its first text; version v has another word in place of one. */
struct aggregation_pages {
    struct change_record *record;
    struct buffer *line;
    size_t n;
};
void aggregation_pages_init(struct aggregation_pages *p, uint64_t first,
                            size_t n, unsigned version, unsigned words);
void aggregation_pages_clear(struct aggregation_pages *p);

#endif
