/*
 * template.h - spider templates: what to crawl on a site, and what to keep.
 *
 * A template is a JSON text (or XML, which is converted): start URLs, allowed
 * domains, rules for the links to follow, and types of pages with the fields
 * to extract. doc/web.md, "Spider templates", is the reference,
 * doc/template.schema.json the schema.
 *
 *     struct crawl_template *t;
 *     struct crawl_areas *areas;
 *     struct crawl_verdict v;
 *
 *     crawl_template_new(&t, text, len, NULL, NULL, &why);
 *     crawl_areas_new(&areas, t, tree, url, url_len, &why);
 *     crawl_template_follow(t, areas, "list", link, link_len, NULL, &v);
 *     if (v.follow)
 *         queue(link, v.type);
 *     crawl_areas_free(areas);
 *
 * Threads: a template does not change and may be used by several threads at
 * once. Areas belong to one thread.
 */
#ifndef SEEN_CRAWL_TEMPLATE_H
#define SEEN_CRAWL_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/url.h>

#include "../../lib/text/buffer.h"
#include "../../web/tree.h"

enum {
    CRAWL_TEMPLATE = 1 << 20,       /* bytes of a template */
    CRAWL_TEMPLATE_STARTS = 1000000 /* start URLs, all ranges expanded */
};

#define CRAWL_UNSET UINT64_MAX

struct crawl_template;

/*
 * Read a template. Every mistake is reported with its line (0 if it is not
 * known, as in XML that was converted) and a text such as `follow[1].css: byte
 * 3: expected a class`; `mistake` may be NULL. `why` has the first one, with
 * the line in why->at. SEEN_CORRUPT, SEEN_NOMEM; SEEN_RANGE if it is too long.
 */
enum seen_code crawl_template_new(struct crawl_template **out,
                                  const char *text, size_t len,
                                  void (*mistake)(void *owner, uint64_t line,
                                                  const char *text),
                                  void *owner, struct seen_error *why);
void crawl_template_free(struct crawl_template *t);

/* XML as JSON, with line ends, appended to `json`; it is not checked further.
   SEEN_CORRUPT with the line in why->at; SEEN_NOMEM. */
enum seen_code crawl_template_convert(struct buffer *json, const char *xml,
                                      size_t len, struct seen_error *why);

/* --- settings --- */

/* "" if it has no name. */
const char *crawl_template_name(const struct crawl_template *t);

/*
 * The SHA-1 of the canonical content, 40 digits: JSON without white space, the
 * members of each object in the order of the bytes of their names, in UTF-8.
 */
const char *crawl_template_hash(const struct crawl_template *t);
struct seen_span crawl_template_content(const struct crawl_template *t);

struct crawl_template_limits {
    uint64_t interval;              /* between visits, ms; or CRAWL_UNSET, as
                                       all others */
    uint64_t delay;                 /* ms between requests to a host */
    uint64_t per_host, per_address; /* requests at a time */
    uint64_t pages, bytes, depth;   /* limits of a visit */
    uint64_t time;                  /* ms */
    uint64_t host_pages;            /* pages of one host */
};
const struct crawl_template_limits *crawl_template_limits(
    const struct crawl_template *t);

/* Take over from the template what the settings do not have: limits, delay,
   interval and domains. Texts point into the template. SEEN_RANGE if there are
   too many domains. */
struct crawl_settings;
enum seen_code crawl_template_fill_in(const struct crawl_template *t,
                                      struct crawl_settings *s,
                                      struct seen_error *why);

/* How many start URLs there are, and the i-th, canonical and cleaned. */
uint64_t crawl_template_starts(const struct crawl_template *t);
enum seen_code crawl_template_start(const struct crawl_template *t, uint64_t i,
                                    char url[SEEN_KEY_TEXT], size_t *len,
                                    struct seen_error *why);

/* The i-th allowed domain, or NULL. A domain includes its subdomains. */
const char *crawl_template_domain(const struct crawl_template *t, size_t i);

/* --- URLs --- */

/*
 * Remove the parameters that the template names, from the query and from the
 * path (";jsessionid=1"). `url` is canonical and may be `clean` itself.
 */
void crawl_template_clean(const struct crawl_template *t,
                          char clean[SEEN_KEY_TEXT], size_t *clean_len,
                          const char *url, size_t len);

/* Is the host of a canonical URL in an allowed domain? */
bool crawl_template_within(const struct crawl_template *t, const char *url,
                           size_t len);

/*
 * The type of a page: `hint`, the type that the rule gave that led to it, or
 * else the first type whose pattern matches the URL, or else "default". NULL
 * if the template has no such type: no fields are extracted then. The same if
 * it cannot be known since a pattern is too costly for this URL; *costly is
 * that pattern then, else NULL. `costly` may be NULL.
 */
const char *crawl_template_type(const struct crawl_template *t,
                                const char *hint, const char *url, size_t len,
                                const char **costly);

/* The i-th type, or NULL. */
const char *crawl_template_types(const struct crawl_template *t, size_t i);

/* Between visits of a page of a type, ms; or CRAWL_UNSET. */
uint64_t crawl_template_revisit(const struct crawl_template *t,
                                const char *type);

/* Does a page of this type need a tree: for its fields, or for a rule with an
   area? */
bool crawl_template_needs_tree(const struct crawl_template *t,
                               const char *type);

/* --- links --- */

/* For the rules that have an area, the links that are in it. */
struct crawl_areas;

/* `url` is the address of the page. SEEN_NOMEM; an XPath that fails on this
   page has no links, and is described in `why`, with code SEEN_OK. */
enum seen_code crawl_areas_new(struct crawl_areas **out,
                               const struct crawl_template *t,
                               struct web_tree *tree, const char *url,
                               size_t len, struct seen_error *why);
void crawl_areas_free(struct crawl_areas *a);

enum crawl_reason {
    CRAWL_BY_RULE,  /* it is followed by a rule */
    CRAWL_NO_RULES, /* it is followed, since the template has no rules */
    CRAWL_NOT_HTTP,
    CRAWL_OUTSIDE, /* of the allowed domains */
    CRAWL_DENIED,  /* by a pattern of a rule, and no other rule takes it */
    CRAWL_UNRULED, /* no rule takes it */
    CRAWL_COSTLY   /* it is not known: a pattern costs too much here */
};

struct crawl_verdict {
    bool follow;
    enum crawl_reason reason;
    unsigned rule; /* CRAWL_BY_RULE, CRAWL_DENIED, CRAWL_COSTLY: its number,
                      from 0 */
    const char *pattern; /* CRAWL_DENIED, CRAWL_COSTLY: the pattern; else
                            NULL */
    const char *type;    /* that the rule gives to the page, or NULL */
    uint64_t revisit;    /* ms, or CRAWL_UNSET */
    int priority;        /* 0 unless the rule says otherwise */
};

/*
 * Is a link followed? `areas` is of the page that it is on, NULL for links
 * from elsewhere (sitemaps, headers), which are in no area; `from` is the type
 * of that page, or NULL. `url` is canonical and cleaned. Patterns pay from the
 * budget, or, if that is NULL, from CRAWL_URL_STEPS of scope.h. A link for which
 * it ends is not followed: a pattern that was not asked may deny it.
 */
void crawl_template_follow(const struct crawl_template *t,
                           const struct crawl_areas *areas, const char *from,
                           const char *url, size_t len, struct budget *budget,
                           struct crawl_verdict *v);

/* "outside the allowed domains", for logs. */
const char *crawl_reason_text(enum crawl_reason reason);

/* --- fields --- */

/* What happened while fields were extracted. */
struct crawl_extracted {
    size_t found;        /* values */
    size_t missing;      /* required fields without a value */
    const char *absent;  /* the first of them, or NULL */
    bool cut;            /* some values were too long or too many */
    const char *failed;  /* a field whose XPath failed here, or NULL */
    const char *costly;  /* a field whose pattern costs too much here, or
                            NULL: values behind that are missing; */
    const char *pattern; /* that pattern */
};

/*
 * Append the fields of a page as members of a JSON object, each a list:
 * `"Title": ["..."], "Views": [219]`. Nothing is appended if `type` is NULL or
 * has no fields. All is paid from web_tree_budget(); what a field searches with
 * its pattern may take a quarter of what is left there. SEEN_NOMEM.
 */
enum seen_code crawl_template_extract(const struct crawl_template *t,
                                      const char *type, struct web_tree *tree,
                                      const char *url, size_t len,
                                      struct buffer *fields,
                                      struct crawl_extracted *result,
                                      struct seen_error *why);

/* What the i-th field of a type is for the comparison of versions. */
struct crawl_field_use {
    const char *name;
    bool compared;             /* false: "change": "off" */
    const char *const *ignore; /* patterns to remove first; ends with NULL */
};
bool crawl_template_field(const struct crawl_template *t, const char *type,
                          size_t i, struct crawl_field_use *use);

#endif
