/*
 * number.h - numbers as people type them, and as they read them.
 *
 * Reading refuses everything that is not entirely the number meant: strtod()
 * alone would take "nan", " 1", "1x" and "-0" without a word.
 */
#ifndef SEEN_TEXT_NUMBER_H
#define SEEN_TEXT_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/span.h>

/* Each returns NULL, or what is wrong with the text: "is negative". */
const char *number_count(const char *text, uint64_t *count);
const char *number_seed(const char *text, uint64_t *seed);
const char *number_rate(const char *text, double *rate);
const char *number_factor(const char *text, double *factor);
const char *number_seconds(const char *text, uint64_t *seconds);
/* 2026-01-31T00:00:00Z or 1769817600: a moment, as Unix time. */
const char *number_moment(const char *text, uint64_t *moment);

/* A text of 1 to 18 digits, as formats have it. Else false, and *number is 0. */
bool number_digits(struct seen_span text, uint64_t *number);

/*
 * For people: 1,234,567; "1 URL", "2 URLs"; 0.98 % or 1.2e-05 %; 41.2 %;
 * 1.2 MB; 0.30 s or 2 min 5 s. The text lives until eight more were written by
 * the same thread.
 */
const char *show_count(uint64_t count);
const char *show_estimate(double count);
const char *show_counted(uint64_t count, const char *noun);
const char *show_estimated(double count, const char *noun);
const char *show_rate(double rate);
const char *show_percent(double share);
const char *show_bytes(uint64_t bytes);
const char *show_time(double seconds);

#endif
