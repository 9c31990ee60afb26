/*
 * selector.h - a selector, taken apart; for the select_*.c files only.
 *
 *     ul > li.new:not(:last-child) a::attr(href), p::text
 *     \_____ alternative 0 ______________________/  \ alternative 1
 *     ul   > li.new:not(...)   a
 *     compounds 0, 1 and 2
 */
#ifndef SEEN_WEB_SELECTOR_H
#define SEEN_WEB_SELECTOR_H

#include <stdint.h>

#include "../lib/text/budget.h"
#include "select.h"
#include "xpath.h"

/* Bits of one word each, in select_match.c. */
enum { SELECTOR_ALTERNATIVES = 64, SELECTOR_COMPOUNDS = 64 };

enum selector_test {
    TEST_TYPE,  /* name */
    TEST_NEVER, /* :hover, and all else that a page at rest is not */
    TEST_ID,
    TEST_CLASS,
    TEST_ATTRIBUTE, /* [name], [name=value] ... */
    TEST_NTH,       /* :nth-child() and all like it */
    TEST_ONLY,      /* :only-child, :only-of-type */
    TEST_EMPTY,
    TEST_ROOT,
    TEST_CONTAINS,
    TEST_LANG,
    TEST_LINK,
    TEST_ENABLED,
    TEST_DISABLED,
    TEST_CHECKED
};

struct selector_simple {
    enum selector_test test;
    bool negated;
    bool typed, from_end; /* for TEST_NTH and TEST_ONLY */
    char compare;         /* '=', '~', '|', '^', '$', '*', '!'; 0: is there */
    bool fold;            /* upper and lower case of the value are the same */
    int32_t a, b;         /* an + b */
    char *name, *value;   /* end with a zero */
};

struct selector_compound {
    char combinator; /* to the one before: ' ', '>', '+', '~'; 0: the first */
    char *type;      /* NULL: any */
    struct selector_simple *simple;
    size_t n, room;
};

enum selector_gives { GIVES_ELEMENT, GIVES_TEXT, GIVES_ATTRIBUTE };

struct selector_alternative {
    struct selector_compound *compound;
    size_t n, room;
    enum selector_gives gives;
    char *attribute;
    bool deep;  /* "p ::text": of p itself and of all below it */
    bool body;  /* it names tbody: match it in the browser's view */
    bool types; /* some test is about siblings of a type */
    bool texts; /* some test is about texts */
};

struct web_selector {
    struct web_xpath *xpath; /* or NULL */
    bool body;   /* the XPath names tbody */
    struct selector_alternative *alternative;
    size_t n, room;
};

typedef bool web_taker(void *owner, const struct web_match *m);

enum seen_code web_css_parse(struct web_selector *s, const char *text,
                             size_t len, struct seen_error *why);
enum seen_code web_css_select(const struct web_selector *s,
                              struct web_tree *tree, struct budget *budget,
                              web_taker *take, void *owner,
                              struct seen_error *why);
enum seen_code web_xpath_check(struct web_selector *s, const char *text,
                               size_t len, struct seen_error *why);
enum seen_code web_xpath_select(const struct web_selector *s,
                                struct web_tree *tree, struct budget *budget,
                                web_taker *take, void *owner,
                                struct seen_error *why);

/* The search is over: its steps are taken from the budget of the page. */
void web_select_settle(struct web_tree *tree, const struct budget *own);

/* "takes too long on this page" */
enum seen_code web_select_costly(struct seen_error *why);

#endif
