/*
 * inside.h - a template, taken apart; for the files of this folder, and
 * for job.c, whose patterns have the same bounds.
 */
#ifndef SEEN_CRAWL_TEMPLATE_INSIDE_H
#define SEEN_CRAWL_TEMPLATE_INSIDE_H

#include "../../lib/text/json_tree.h"
#include "../../lib/text/map.h"
#include "../../lib/text/pattern_list.h"
#include "../../web/select.h"
#include "template.h"

/* --- patterns: POSIX extended regular expressions --- */

enum {
    CRAWL_PATTERN = 1000,       /* bytes of a pattern */
    CRAWL_PATTERN_SIZE = 10000, /* parts, repetitions expanded */
    CRAWL_PATTERN_INPUT = 16384 /* bytes that are searched */
};

struct crawl_patterns {
    struct pattern_list list;
    const char **text; /* the texts, and NULL */
};

/* Append a pattern. `groups`: its group 1 is wanted. SEEN_RANGE with what is
   wrong; SEEN_NOMEM. */
enum seen_code crawl_patterns_add(struct crawl_patterns *to, const char *text,
                                  bool groups, struct seen_error *why);
void crawl_patterns_clear(struct crawl_patterns *p);

/*
 * Is one of them in the text, or which is the first? False: the budget ended,
 * or there is no memory, so that it is not known; *pattern is then the one
 * that was too costly.
 */
bool crawl_patterns_has(const struct crawl_patterns *p, const char *text,
                        size_t len, struct budget *budget, bool *found,
                        const char **pattern);
bool crawl_patterns_find(const struct crawl_patterns *p, const char *text,
                         size_t len, struct budget *budget,
                         const char **pattern);

/* --- the parts of a template --- */

enum crawl_field_type {
    CRAWL_TEXT,
    CRAWL_NUMBER,
    CRAWL_DATE,
    CRAWL_URL,
    CRAWL_HTML
};

struct crawl_field {
    char *name;
    struct web_selector *selector;
    struct crawl_patterns regex; /* at most one */
    struct crawl_patterns ignore;
    enum crawl_field_type type;
    bool many, required, unwatched;
};

struct crawl_page_type {
    char *name;
    struct crawl_patterns url;
    uint64_t revisit;
    struct crawl_field *field;
    size_t n, room;
};

struct crawl_rule {
    struct web_selector *area; /* or NULL: the whole page */
    struct crawl_patterns allow, deny;
    char *type; /* or NULL */
    char **from;
    size_t froms, froms_room;
    uint64_t revisit;
    int priority;
};

/* A start URL with ranges: literal, range, literal, range ... */
struct crawl_range {
    uint64_t first, last, step;
    unsigned width;   /* digits, filled up with zeros; 0: as many as needed */
    size_t begin, end; /* the brackets, in the text */
};

enum { CRAWL_RANGES = 4 };

struct crawl_start {
    char *text;
    struct crawl_range range[CRAWL_RANGES];
    size_t n;
    uint64_t count; /* URLs that it stands for */
};

struct crawl_texts {
    char **text;
    size_t n, room;
};

struct crawl_template {
    char *name;
    char hash[41];
    char *content;
    struct crawl_template_limits settings;
    struct crawl_start *start;
    size_t starts, starts_room;
    struct crawl_texts domains, strip;
    struct crawl_rule *rule;
    size_t rules, rules_room;
    struct crawl_page_type *type;
    size_t types, types_room;
};

struct crawl_page_type *crawl_type_find(const struct crawl_template *t,
                                        const char *name);

/* --- url.c --- */

/* Find the ranges of a start URL; SEEN_RANGE with what is wrong. */
enum seen_code crawl_start_read(struct crawl_start *s, const char *text,
                                struct seen_error *why);

/* The host of a canonical URL. */
struct seen_span crawl_url_host(const char *url, size_t len);

/* --- place.c --- */

/* A value in a JSON text: the member `name`, or the element `index`, of the
   one above. The outermost value has no `up`. */
struct crawl_place {
    const struct crawl_place *up;
    const char *name;
    size_t index;
};

/* The line of a value in a text that is JSON, from 1. */
uint64_t crawl_place_line(const struct crawl_place *at, const char *text,
                          size_t len);

/* The same for a template in XML, which must be well-formed: the line of the
   element, or of the one that has the attribute. */
uint64_t crawl_place_xml_line(const struct crawl_place *at, const char *xml,
                              size_t len);

/* "follow[1].css", appended. */
void crawl_place_name(struct buffer *to, const struct crawl_place *at);

/* --- read.c --- */

/* What the user wrote: mistakes have its lines. */
struct crawl_source {
    const char *text;
    size_t len;
    bool xml;
};

/* Fill a template from JSON; SEEN_CORRUPT if there was a mistake. */
typedef void crawl_mistake(void *owner, uint64_t line, const char *text);
enum seen_code crawl_template_read(struct crawl_template *t, json_t *root,
                                   const struct crawl_source *source,
                                   crawl_mistake *mistake, void *owner,
                                   struct seen_error *why);

/* --- value.c --- */

/* "219", from "219 times" or "1,234.50 EUR"; false if there is no number. The
   result is a number of JSON. */
bool crawl_value_number(struct buffer *to, struct seen_span text);

/* "2016-02-01" or "2016-02-01T12:30:00Z"; false if there is no date. */
bool crawl_value_date(struct buffer *to, struct seen_span text);

#endif
