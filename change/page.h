/*
 * page.h - a record as it is compared: its fields folded, its content as one
 * fingerprint.
 *
 *     field ──> values ──> words, folded ──┬──> fingerprint of the field ──┐
 *                                          └──> hash per word              │
 *     content = fingerprint of all (name, fingerprint), in order of names <┘
 *
 * Fields that a rule turned off are not there. Words are hashed only when a
 * page is new or changed, which few are.
 *
 *     struct change_page page = { .field = NULL };
 *
 *     change_page_read(&page, &record, rules, &why);
 *     change_page_hash(&page, &why);
 *     change_page_clear(&page);
 *
 * Threads: a page belongs to one thread at a time.
 */
#ifndef SEEN_CHANGE_PAGE_H
#define SEEN_CHANGE_PAGE_H

#include "text.h"

/* A word of a field, and where it is. */
struct change_place {
    size_t value, at;
    struct seen_span shown;
};

struct change_page_field {
    struct seen_span name;
    uint64_t hash;          /* of the name */
    bool matched;           /* has a value with text, before rules */
    size_t value, values;   /* in change_page.value */
    size_t first, words;    /* in change_page.place and .word */
};

/* The words of a value: first to first + n - 1. */
struct change_page_value {
    size_t first, n;
};

struct change_page {
    struct seen_key content; /* lo and hi; its text is NULL */
    bool empty;              /* there is not a word in any field */
    struct change_page_field *field;
    size_t fields, fields_room;
    struct change_page_value *value;
    size_t values, values_room;
    struct change_place *place;
    uint64_t *word; /* hashes of folded words, after change_page_hash() */
    size_t words, places_room, words_room;

    /* inside */
    const struct change_record *record;
    const struct change_rules *rules;
    struct change_words cut;
    struct buffer folded, names;
    bool hashed;
};

/* The record and the rules must live as long as the page is used. */
enum seen_code change_page_read(struct change_page *p,
                                const struct change_record *r,
                                const struct change_rules *rules,
                                struct seen_error *why);

/* Fill place[] and word[]. Texts of place[] live until the next
   change_page_read(). */
enum seen_code change_page_hash(struct change_page *p, struct seen_error *why);

void change_page_clear(struct change_page *p);

#endif
