/*
 * words.h - which words of a page are new, from a filter of shingles.
 *
 * A shingle is three folded words in a row. Each value is padded with two
 * empty words at both ends, so that n words have n + 2 shingles and each word
 * is in three of them:
 *
 *     words             a    b    c    d
 *     shingles   ..a  .ab  abc  bcd  cd.  d..
 *
 * The key of a shingle is of (URL, field, three words). A word is new if all
 * three shingles that have it are new. If one word was replaced, exactly its
 * three shingles are new, and its neighbours each have an old one. New
 * shingles that have no new word among them are the seam where words were
 * removed: one or two in a row.
 *
 *     replaced c by x:   abx bxd xd.     all of x: x is new
 *     removed c:         abd bd.         none has all three: a seam before d
 *
 * A shingle is old if any earlier version of the field had it. What a page
 * said long ago and says again is therefore not reported as new; exact.h
 * compares with the last version only.
 *
 * How much was removed is estimated from the number of words that the field
 * had: (URL, field, count) is a key in the filter of versions, and the counts
 * that fit what was found are tried from the least removal on. The first one
 * that is there is taken; if the field had many versions it may be that of
 * an older one.
 *
 * Threads: as the filters.
 */
#ifndef SEEN_CHANGE_WORDS_H
#define SEEN_CHANGE_WORDS_H

#include "answer.h"
#include "filters.h"
#include "page.h"

/* 64 bits of two numbers. */
static inline uint64_t change_mix(uint64_t a, uint64_t b)
{
    return seen_mix(seen_mix(a + UINT64_C(0x9e3779b97f4a7c15)) ^
                    (b * UINT64_C(0xd6e8feb86659fd93)));
}

/* The key in the filter of versions that says how many words a field had. */
uint64_t change_words_count_key(uint64_t url,
                                const struct change_page_field *field);

/* Has this field of the URL had a value before? At the filter's rate. */
enum seen_code change_words_matched(struct change_filters *f, uint64_t url,
                                    const struct change_page_field *field,
                                    bool *matched, struct seen_error *why);

/* Add what changed in each field to the last answer, after
   change_page_find(). */
enum seen_code change_words_compare(struct change_filters *f, uint64_t url,
                                    const struct change_page *page,
                                    struct change_answers *answers,
                                    struct seen_error *why);

/* Remember this version. `all`: the URL is new, so that all its words are. */
enum seen_code change_words_remember(struct change_filters *f, uint64_t url,
                                     const struct change_page *page, bool all,
                                     struct seen_error *why);

/* Append a part: `n` words of the page from word `first` on, all of one
   value. */
enum seen_code change_words_part(struct change_answers *answers,
                                 const struct change_page *page, size_t first,
                                 size_t n, struct seen_error *why);

#endif
