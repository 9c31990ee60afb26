/*
 * text.h - the words of a value, as versions are compared.
 *
 * White space separates words, case is folded, and what a rule ignores is
 * gone. "The  PRICE: 3 EUR" and "the price: 3 eur" have equal words. Words
 * are numbered from 0 in each value; answers name words by these numbers.
 *
 *     struct change_words w = { .word = NULL };
 *
 *     change_words_read(&w, value, rule, change_rules_share(&record));
 *     for (size_t i = 0; i < w.n; i++)
 *         print(w.shown[i]);           as the page wrote it
 *     change_words_clear(&w);
 *
 * The folding is our own table and no library's, since fingerprints in a
 * state must mean the same after an update of the system: Latin, Greek,
 * Cyrillic, Armenian and full-width letters, one code point to one code
 * point.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_CHANGE_TEXT_H
#define SEEN_CHANGE_TEXT_H

#include "rules.h"

struct change_words {
    struct seen_span *word;  /* folded */
    struct seen_span *shown; /* the same as the page wrote them */
    size_t n, room;
    bool failed; /* there was no memory */
    const char *costly; /* a pattern that costs too much here, and ignores
                           nothing; or NULL */
    struct buffer stripped, folded;
};

/* Texts live until the next read, and as long as `value`. `share`: as
   change_rules_share() says; it does not matter without a rule. */
void change_words_read(struct change_words *w, struct seen_span value,
                       const struct change_rule *rule, uint64_t share);
void change_words_clear(struct change_words *w);

#endif
