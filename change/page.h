/*
 * page.h - a record as it is compared: its fields folded, its content as one
 * fingerprint.
 *
 *     field ──> values ──> words, folded ──┬──> fingerprint of the field ──┐
 *                                          └──> hash per word              │
 *     content = fingerprint of all (name, fingerprint), in order of names <┘
 *
 * Fields that a rule turned off are not there. A page is read once, by any
 * thread. Where its words stand is found only if it has changed, which few
 * have.
 *
 *     struct change_page page = { .field = NULL };
 *
 *     change_page_read(&page, &record, rules, &why);
 *     change_page_find(&page, &why);
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
    size_t from;          /* in change_record.field */
    uint64_t hash;        /* of the name */
    bool matched;         /* has a value with text, before rules */
    size_t value, values; /* in change_page.value */
    size_t first, words;  /* in change_page.word and .place */
};

/* The words of a value: first to first + n - 1. */
struct change_page_value {
    size_t first, n;
};

struct change_page {
    struct seen_key content; /* lo and hi; its text is NULL */
    bool empty;              /* there is not a word in any field */
    const char *pattern; /* the first that cost too much here, or NULL: see
                            change_rule_strip() */
    struct seen_span costly; /* the field of that pattern */
    struct change_page_field *field;
    size_t fields, fields_room;
    struct change_page_value *value;
    size_t values, values_room;
    uint32_t *word; /* hashes of folded words */
    size_t words, words_room;
    struct change_place *place; /* per word, after change_page_find() */
    size_t places, places_room;

    /* inside */
    const struct change_record *record;
    const struct change_rules *rules;
    struct change_words cut;
    struct buffer folded, names;
};

/* The record and the rules must live as long as the page is used. */
enum seen_code change_page_read(struct change_page *p,
                                const struct change_record *r,
                                const struct change_rules *rules,
                                struct seen_error *why);

/* Fill place[]. Its texts live until the next change_page_read(). */
enum seen_code change_page_find(struct change_page *p, struct seen_error *why);

/* Hand the memory that reading takes on to another page: with many pages it is
   needed once. */
void change_page_pass(struct change_page *from, struct change_page *to);

void change_page_clear(struct change_page *p);

#endif
