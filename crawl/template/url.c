/*
 * url.c - URLs of a template: ranges, clean-up, scope, rules.
 *
 *     http://a.example/list/[1-3]/[08-10]
 *         list/1/08, list/1/09, list/1/10, list/2/08 ... list/3/10
 *
 * A range is [FIRST-LAST] or [FIRST-LAST:STEP]; if FIRST begins with a zero,
 * all numbers have as many digits as it. Other brackets are what they are.
 */
#include "../page/scope.h"
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../lib/text/span.h"
#include "../../web/resolve.h"

/* --- ranges --- */

enum { DIGITS = 9 };

static size_t read_digits(const char *text, uint64_t *number)
{
    size_t n = strspn(text, "0123456789");

    *number = n && n <= DIGITS ? strtoull(text, NULL, 10) : 0;
    return n;
}

/* The range that begins with the bracket at `at`; 0 if there is none. */
static size_t read_range(struct crawl_range *r, const char *text, size_t at,
                         struct seen_error *why, enum seen_code *code)
{
    const char *from = text + at + 1;
    size_t first = read_digits(from, &r->first), last, step;

    if (!first || from[first] != '-')
        return 0;
    last = read_digits(from + first + 1, &r->last);
    if (!last)
        return 0;
    from += first + 1 + last;
    r->step = 1;
    if (*from == ':') {
        step = read_digits(from + 1, &r->step);
        from += 1 + step;
    }
    if (*from != ']')
        return 0;
    r->width = text[at + 1] == '0' && first > 1 ? (unsigned)first : 0;
    r->begin = at;
    r->end = (size_t)(from - text) + 1;
    if (first > DIGITS || last > DIGITS || r->last < r->first || !r->step)
        *code = seen_fail(why, SEEN_RANGE, at,
                          "the range at byte %zu is not one from a smaller "
                          "to a larger number",
                          at + 1);
    return r->end - at;
}

/* Write the URL that has number `i`; the first range changes slowest. */
static void expand(const struct crawl_start *s, uint64_t i, struct buffer *to)
{
    uint64_t number[CRAWL_RANGES];
    size_t at = 0;

    for (size_t k = s->n; k-- > 0;) {
        const struct crawl_range *r = &s->range[k];
        uint64_t count = (r->last - r->first) / r->step + 1;

        number[k] = r->first + i % count * r->step;
        i /= count;
    }
    for (size_t k = 0; k < s->n; k++) {
        buffer_bytes(to, s->text + at, s->range[k].begin - at);
        buffer_format(to, "%0*llu", (int)s->range[k].width,
                      (unsigned long long)number[k]);
        at = s->range[k].end;
    }
    buffer_text(to, s->text + at);
}

static bool is_http(const char *url, size_t len)
{
    struct seen_span s = { url, len };

    return span_begins(s, "http://") || span_begins(s, "https://");
}

/* The URL number `i` of a start, canonical. */
static enum seen_code make_start(const struct crawl_start *s, uint64_t i,
                                 char url[SEEN_KEY_TEXT], size_t *len,
                                 struct seen_error *why)
{
    struct buffer b = { .bytes = NULL };
    const char *canonical;
    enum seen_code code;

    expand(s, i, &b);
    if (b.failed) {
        buffer_clear(&b);
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    }
    code = seen_url_whatwg(&canonical, len, url, b.bytes, b.len, NULL, 0, why);
    if (code == SEEN_OK && !is_http(canonical, *len))
        code = seen_fail(why, SEEN_BAD_URL, 0,
                         "a start URL begins with http:// or https://");
    if (code == SEEN_OK && canonical != url)
        memmove(url, canonical, *len);
    buffer_clear(&b);
    return code;
}

enum seen_code crawl_start_read(struct crawl_start *s, const char *text,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    char url[SEEN_KEY_TEXT];
    size_t len;

    s->count = 1;
    for (size_t at = 0; text[at] && code == SEEN_OK;) {
        struct crawl_range r;
        size_t n = text[at] == '[' ? read_range(&r, text, at, why, &code) : 0;

        if (n && code == SEEN_OK) {
            if (s->n == CRAWL_RANGES)
                return seen_fail(why, SEEN_RANGE, at, "more than %d ranges",
                                 CRAWL_RANGES);
            s->range[s->n++] = r;
            s->count *= (r.last - r.first) / r.step + 1;
            if (s->count > CRAWL_TEMPLATE_STARTS)
                return seen_fail(why, SEEN_RANGE, at,
                                 "the ranges stand for more than %d URLs",
                                 CRAWL_TEMPLATE_STARTS);
        }
        at += n ? n : 1;
    }
    if (code != SEEN_OK)
        return code;
    s->text = strdup(text);
    if (!s->text)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    code = make_start(s, 0, url, &len, why);
    if (code != SEEN_OK) {
        free(s->text);
        s->text = NULL;
    }
    return code;
}

uint64_t crawl_template_starts(const struct crawl_template *t)
{
    uint64_t n = 0;

    for (size_t i = 0; i < t->starts; i++)
        n += t->start[i].count;
    return n;
}

enum seen_code crawl_template_start(const struct crawl_template *t, uint64_t i,
                                    char url[SEEN_KEY_TEXT], size_t *len,
                                    struct seen_error *why)
{
    enum seen_code code;

    for (size_t k = 0; k < t->starts; k++) {
        if (i < t->start[k].count) {
            code = make_start(&t->start[k], i, url, len, why);
            if (code == SEEN_OK)
                crawl_template_clean(t, url, len, url, *len);
            return code;
        }
        i -= t->start[k].count;
    }
    return seen_fail(why, SEEN_RANGE, i, "there are fewer start URLs");
}

/* --- clean-up --- */

/* Does a name fit a pattern, in which * stands for any bytes? */
static bool fits(const char *pattern, struct seen_span name)
{
    const char *star = NULL;
    size_t at = 0, back = 0;

    while (at < name.len) {
        if (*pattern == '*') {
            star = pattern++;
            back = at;
        } else if (*pattern && !strncasecmp(pattern, name.text + at, 1)) {
            pattern++;
            at++;
        } else if (star) {
            pattern = star + 1;
            at = ++back;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static bool is_stripped(const struct crawl_template *t, struct seen_span part)
{
    struct seen_span rest = part, name = { part.text, 0 };

    span_cut(&rest, '=', &name);
    for (size_t i = 0; i < t->strip.n; i++)
        if (fits(t->strip.text[i], name))
            return true;
    return false;
}

/* ";name=value" in a path: up to the next ";" or "/". */
static size_t clean_path(const struct crawl_template *t, char *to,
                         struct seen_span path)
{
    size_t n = 0, at = 0;

    while (at < path.len) {
        size_t end = at + 1;

        if (path.text[at] == ';') {
            while (end < path.len && path.text[end] != ';' &&
                   path.text[end] != '/')
                end++;
            if (is_stripped(t, (struct seen_span){ path.text + at + 1,
                                                   end - at - 1 })) {
                at = end;
                continue;
            }
        }
        memmove(to + n, path.text + at, end - at);
        n += end - at;
        at = end;
    }
    return n;
}

void crawl_template_clean(const struct crawl_template *t,
                          char clean[SEEN_KEY_TEXT], size_t *clean_len,
                          const char *url, size_t len)
{
    struct seen_span rest = { url, len }, path = rest, part;
    bool query, some = false;
    size_t n;

    if (!t->strip.n) {
        memmove(clean, url, len);
        *clean_len = len;
        return;
    }
    span_cut(&rest, '?', &path);
    query = path.len < len;
    n = clean_path(t, clean, path);
    /* Texts only get shorter, so that writing never passes reading. */
    while (query && span_cut(&rest, '&', &part)) {
        if (part.len && is_stripped(t, part))
            continue;
        clean[n++] = some ? '&' : '?';
        memmove(clean + n, part.text, part.len);
        n += part.len;
        some = true;
    }
    *clean_len = n;
}

/* --- scope and rules --- */

struct seen_span crawl_url_host(const char *url, size_t len)
{
    struct seen_span rest = { url, len }, host = { url, 0 };
    const char *at = memmem(url, len, "://", 3);

    if (!at)
        return host;
    rest.text = at + 3;
    rest.len = len - (size_t)(rest.text - url);
    host = rest;
    for (size_t i = 0; i < rest.len; i++)
        if (strchr("/?#", rest.text[i])) {
            host.len = i;
            break;
        }
    at = memchr(host.text, '@', host.len);
    if (at) {
        host.len -= (size_t)(at + 1 - host.text);
        host.text = at + 1;
    }
    if (host.len && host.text[0] == '[') {
        at = memchr(host.text, ']', host.len);
        host.len = at ? (size_t)(at + 1 - host.text) : host.len;
    } else if ((at = memchr(host.text, ':', host.len))) {
        host.len = (size_t)(at - host.text);
    }
    return host;
}

bool crawl_template_within(const struct crawl_template *t, const char *url,
                           size_t len)
{
    struct seen_span host = crawl_url_host(url, len);

    for (size_t i = 0; i < t->domains.n; i++) {
        const char *domain = t->domains.text[i];
        size_t n = strlen(domain);

        if (span_is(host, domain) ||
            (span_ends(host, domain) && host.text[host.len - n - 1] == '.'))
            return true;
    }
    return false;
}

static bool from_here(const struct crawl_rule *r, const char *from)
{
    for (size_t i = 0; i < r->froms; i++)
        if (from && !strcmp(r->from[i], from))
            return true;
    return !r->froms;
}

/* The links of the areas: a map per rule, of URLs that it owns. */
struct crawl_areas {
    size_t n;
    struct map *map;
};

static bool in_area(const struct crawl_areas *areas,
                    const struct crawl_rule *r, size_t i, const char *url,
                    size_t len)
{
    return !r->area || (areas && map_get(&areas->map[i], url, len));
}

/* Does a rule take a link, as far as its patterns say? False: it is not
   known. */
static bool ask_rule(const struct crawl_rule *r, const char *url, size_t len,
                     struct budget *budget, bool *taken, const char **pattern)
{
    *taken = true;
    *pattern = NULL;
    if (r->allow.list.n &&
        (!crawl_patterns_has(&r->allow, url, len, budget, taken, pattern) ||
         !*taken))
        return !*pattern;
    return crawl_patterns_find(&r->deny, url, len, budget, pattern);
}

static void not_known(struct crawl_verdict *v, unsigned rule,
                      const char *pattern)
{
    *v = (struct crawl_verdict){ .revisit = CRAWL_UNSET,
                                 .reason = CRAWL_COSTLY,
                                 .rule = rule,
                                 .pattern = pattern };
}

void crawl_template_follow(const struct crawl_template *t,
                           const struct crawl_areas *areas, const char *from,
                           const char *url, size_t len, struct budget *budget,
                           struct crawl_verdict *v)
{
    struct budget own = { .left = CRAWL_URL_STEPS };

    *v = (struct crawl_verdict){ .revisit = CRAWL_UNSET,
                                 .reason = CRAWL_UNRULED };
    if (!is_http(url, len)) {
        v->reason = CRAWL_NOT_HTTP;
        return;
    }
    if (!crawl_template_within(t, url, len)) {
        v->reason = CRAWL_OUTSIDE;
        return;
    }
    if (!t->rules) {
        v->follow = true;
        v->reason = CRAWL_NO_RULES;
        return;
    }
    for (size_t i = 0; i < t->rules && !v->follow; i++) {
        const struct crawl_rule *r = &t->rule[i];
        const char *denied;
        bool taken;

        if (!from_here(r, from) || !in_area(areas, r, i, url, len))
            continue;
        if (!ask_rule(r, url, len, budget ? budget : &own, &taken, &denied)) {
            not_known(v, (unsigned)i, denied);
            return;
        }
        if (!taken)
            continue;
        if (denied && v->reason == CRAWL_DENIED)
            continue; /* the first one is reported */
        v->follow = !denied;
        v->reason = denied ? CRAWL_DENIED : CRAWL_BY_RULE;
        v->rule = (unsigned)i;
        v->pattern = denied;
        v->type = denied ? NULL : r->type;
        v->revisit = denied ? CRAWL_UNSET : r->revisit;
        v->priority = denied ? 0 : r->priority;
    }
}

const char *crawl_reason_text(enum crawl_reason reason)
{
    switch (reason) {
    case CRAWL_BY_RULE: return "by a rule";
    case CRAWL_NO_RULES: return "there are no rules";
    case CRAWL_NOT_HTTP: return "neither http nor https";
    case CRAWL_OUTSIDE: return "outside the allowed domains";
    case CRAWL_DENIED: return "denied by a pattern";
    case CRAWL_UNRULED: return "no rule takes it";
    case CRAWL_COSTLY: return "not known: pattern too costly here";
    }
    return "";
}

/* --- areas --- */

struct area_reader {
    const struct crawl_template *t;
    struct map *map;
    struct budget *budget; /* of the page, or NULL */
    const char *base;
    size_t base_len;
    struct web_match last; /* the element that was searched last */
    bool memory;           /* ran out */
};

static void take_link(void *owner, struct seen_span href)
{
    struct area_reader *r = owner;
    char room[SEEN_KEY_TEXT];
    const char *url;
    char *kept;
    size_t len;

    if ((r->budget &&
         !budget_spend(
             r->budget,
             web_resolve_steps(href,
                               (struct seen_span){ r->base, r->base_len }))) ||
        seen_url_whatwg(&url, &len, room, href.text, href.len, r->base,
                        r->base_len, NULL) != SEEN_OK)
        return;
    crawl_template_clean(r->t, room, &len, url, len);
    if (map_get(r->map, room, len))
        return;
    kept = malloc(len + 1);
    if (!kept) {
        r->memory = true;
        return;
    }
    memcpy(kept, room, len);
    if (!map_set(r->map, kept, len, kept)) {
        free(kept);
        r->memory = true;
    }
}

static bool take_match(void *owner, const struct web_match *m)
{
    struct area_reader *r = owner;

    /* Elements come in document order, so that those inside of another follow
       it; their links are there already. Nested thousands of levels deep they
       would be searched as often. */
    if (m->kind == WEB_MATCH_ELEMENT && r->last.node &&
        web_match_within(m, &r->last))
        return true;
    if (m->kind == WEB_MATCH_ELEMENT)
        r->last = *m;
    web_match_links(m, take_link, r);
    return !r->memory;
}

enum seen_code crawl_areas_new(struct crawl_areas **out,
                               const struct crawl_template *t,
                               struct web_tree *tree, const char *url,
                               size_t len, struct seen_error *why)
{
    struct crawl_areas *a = calloc(1, sizeof *a);
    char base[SEEN_KEY_TEXT];
    struct area_reader r = { .t = t,
                             .budget = web_tree_budget(tree),
                             .base = base };
    enum seen_code code = SEEN_OK;

    if (a && t->rules)
        a->map = calloc(t->rules, sizeof *a->map);
    if (!a || (t->rules && !a->map)) {
        free(a);
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    }
    a->n = t->rules;
    if (why)
        why->text[0] = 0;
    code = web_tree_base(tree, base, &r.base_len, url, len, why);
    for (size_t i = 0; i < t->rules && code == SEEN_OK; i++) {
        if (!t->rule[i].area)
            continue;
        r.map = &a->map[i];
        r.last.node = NULL;
        if (web_select(t->rule[i].area, tree, take_match, &r, why) ==
            SEEN_NOMEM)
            r.memory = true;
        if (r.memory)
            code = seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    }
    if (code == SEEN_OK)
        *out = a;
    else
        crawl_areas_free(a);
    return code;
}

void crawl_areas_free(struct crawl_areas *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n; i++) {
        void *url;

        for (size_t at = 0; (url = map_next(&a->map[i], &at));)
            free(url);
        map_clear(&a->map[i]);
    }
    free(a->map);
    free(a);
}
