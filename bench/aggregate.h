/*
 * aggregate.h - made-up page records for the benchmark of the classifier.
 *
 *     bench_record_line(&line, 17, 0, 40);    page 17, version 0, 40 words
 *
 * A page has words of its own and no other page's text; a version differs
 * from version 0 in one word. Versions that are equal modulo 65536 have equal
 * texts and are different records. Everything follows from the three numbers.
 */
#ifndef SEEN_BENCH_AGGREGATE_H
#define SEEN_BENCH_AGGREGATE_H

#include <stdbool.h>
#include <stdint.h>

#include "../lib/text/buffer.h"

void bench_record_line(struct buffer *line, uint64_t page, unsigned version,
                       unsigned words);

/* Experiment 2, and time per record by the size of the lookup: false after a
   message. `most` is the largest lookup of the latter; `grown`: its states are
   made without a capacity. */
bool bench_lookup_strings(uint64_t most, unsigned words, bool json);
bool bench_lookup_sizes(uint64_t most, bool grown, bool json);

#endif
