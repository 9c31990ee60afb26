/*
 * exact.h - the texts themselves: a sorted array and a hash set of them.
 *
 * What a filter is compared with: both answer without error, and tell how
 * many bytes they take, all of them counted.
 *
 *     exact_add(e, text, len) ... exact_finish(e)
 *     exact_in_array(e, text, len), exact_in_set(e, text, len)
 *
 * Threads: one adds, then any number may ask.
 */
#ifndef SEEN_LAB_EXACT_H
#define SEEN_LAB_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exact;

/* For n distinct texts of so many bytes in all; or the lab ends. */
struct exact *exact_new(uint64_t n, uint64_t bytes);
void exact_add(struct exact *e, const char *text, size_t len);
void exact_finish(struct exact *e);
void exact_free(struct exact *e);

bool exact_in_array(const struct exact *e, const char *text, size_t len);
bool exact_in_set(const struct exact *e, const char *text, size_t len);

uint64_t exact_array_bytes(const struct exact *e);
uint64_t exact_set_bytes(const struct exact *e);

#endif
