/*
 * scope.c - is a URL wanted? Domains, prefixes, patterns and traps.
 *
 * Everything here follows from the settings and the URL. What could only be
 * known on the page with the link (its depth, nofollow) is an argument.
 */
#include "scope.h"

#include <libpsl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/text/map.h"
#include "../../lib/text/pattern_list.h"
#include "../../lib/text/span.h"

enum {
    LONGEST = 2048, /* bytes of a URL */
    SEGMENTS = 64,  /* of a path, at most */
    REPEATS = 4,    /* in a row are a trap, */
    PERIOD = 4      /* of up to so many segments each */
};

struct patterns {
    struct pattern_list list;
    const char *const *text; /* as they were given */
    int64_t *bonus;          /* of --prefer */
};

struct crawl_scope {
    const struct crawl_settings *settings;
    struct patterns include, exclude, prefer;
    struct map hosts; /* of the start URLs; values are the names */
};

/* --- new and free --- */

static void clear(struct patterns *p)
{
    pattern_list_clear(&p->list);
    free(p->bonus);
}

/* Cut "=NUMBER" off the end of a pattern. */
static bool take_bonus(char *text, int64_t *bonus)
{
    char *sign = strrchr(text, '='), *end;

    if (!sign)
        return false;
    *sign = '\0';
    *bonus = strtoll(sign + 1, &end, 10);
    return end > sign + 1 && !*end;
}

static enum seen_code add(struct patterns *to, const char *from,
                          const char *option, bool weighed,
                          struct seen_error *why)
{
    struct seen_error detail;
    enum seen_code code;
    char *text = strdup(from);

    if (!text)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for patterns");
    if (weighed && !take_bonus(text, &to->bonus[to->list.n])) {
        free(text);
        return seen_fail(why, SEEN_RANGE, 0,
                         "--%s %.40s: not of the form REGEX=NUMBER", option,
                         from);
    }
    code = pattern_list_add(&to->list, text, false, &detail);
    free(text);
    return code == SEEN_OK ? SEEN_OK
                           : seen_fail(why, code, 0, "--%s %.40s: %.100s",
                                       option, from, detail.text);
}

static enum seen_code compile(struct patterns *to, const struct texts *from,
                              const char *option, bool weighed,
                              struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    to->text = from->text;
    to->bonus = calloc(from->n + 1, sizeof *to->bonus);
    if (!to->bonus)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for patterns");
    for (size_t i = 0; code == SEEN_OK && i < from->n; i++)
        code = add(to, from->text[i], option, weighed, why);
    return code == SEEN_OK ? pattern_list_join(&to->list, from->n, why) : code;
}

/* A whole top-level domain is a mistake more often than a wish. */
static enum seen_code check_domains(const struct texts *domains,
                                    struct seen_error *why)
{
    const psl_ctx_t *psl = psl_builtin();

    for (size_t i = 0; i < domains->n; i++)
        if (psl && strchr(domains->text[i], '.') == NULL &&
            psl_is_public_suffix(psl, domains->text[i]))
            return seen_fail(why, SEEN_RANGE, 0,
                             "--domain %.60s: a public suffix, not a domain; "
                             "--include and --everywhere can do that",
                             domains->text[i]);
    return SEEN_OK;
}

enum seen_code crawl_scope_new(struct crawl_scope **out,
                               const struct crawl_settings *settings,
                               struct seen_error *why)
{
    struct crawl_scope *s = calloc(1, sizeof *s);
    enum seen_code code;

    *out = NULL;
    if (!s)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the scope");
    s->settings = settings;
    code = check_domains(&settings->domains, why);
    if (code == SEEN_OK)
        code = compile(&s->include, &settings->include, "include", false, why);
    if (code == SEEN_OK)
        code = compile(&s->exclude, &settings->exclude, "exclude", false, why);
    if (code == SEEN_OK)
        code = compile(&s->prefer, &settings->priorities, "prefer", true, why);
    if (code != SEEN_OK) {
        crawl_scope_free(s);
        return code;
    }
    *out = s;
    return SEEN_OK;
}

void crawl_scope_free(struct crawl_scope *s)
{
    char *name;

    if (!s)
        return;
    clear(&s->include);
    clear(&s->exclude);
    clear(&s->prefer);
    for (size_t at = 0; (name = map_next(&s->hosts, &at));)
        free(name);
    map_clear(&s->hosts);
    free(s);
}

enum seen_code crawl_scope_start(struct crawl_scope *s, struct seen_span url,
                                 struct seen_error *why)
{
    struct seen_span host = crawl_host_of(url);
    char *name;

    if (map_get(&s->hosts, host.text, host.len))
        return SEEN_OK;
    name = strndup(host.text, host.len);
    if (!name || !map_set(&s->hosts, name, host.len, name)) {
        free(name);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a start URL");
    }
    return SEEN_OK;
}

/* --- parts of a URL --- */

/* Canonical URLs have one form: scheme://host[:port]/... */
static const char *after_scheme(struct seen_span url)
{
    const char *p = memchr(url.text, ':', url.len);

    return p && p + 3 <= url.text + url.len ? p + 3 : url.text;
}

struct seen_span crawl_origin_of(struct seen_span url)
{
    const char *host = after_scheme(url), *end = url.text + url.len;
    const char *slash = memchr(host, '/', (size_t)(end - host));

    return (struct seen_span){ url.text,
                               (size_t)((slash ? slash : end) - url.text) };
}

struct seen_span crawl_host_of(struct seen_span url)
{
    struct seen_span origin = crawl_origin_of(url);
    const char *host = after_scheme(url), *end = origin.text + origin.len;
    const char *colon = end;

    /* The last colon, unless it is one of an IPv6 address. */
    while (colon > host && colon[-1] >= '0' && colon[-1] <= '9')
        colon--;
    if (colon > host && colon[-1] == ':' && colon < end &&
        (*host != '[' || (colon - 1 > host && colon[-2] == ']')))
        end = colon - 1;
    if (end - host > 1 && end[-1] == '.')
        end--; /* the same host, which must not get two requests at once */
    return (struct seen_span){ host, (size_t)(end - host) };
}

bool crawl_scope_is_web(struct seen_span url)
{
    return span_begins(url, "http://") || span_begins(url, "https://");
}

/* --- traps --- */

static bool same(const struct seen_span *a, const struct seen_span *b,
                 unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!span_equal(a[i], b[i]))
            return false;
    return true;
}

/* Does a sequence of segments come REPEATS times in a row? */
static bool repeats(const struct seen_span *segment, unsigned n)
{
    for (unsigned period = 1; period <= PERIOD; period++)
        for (unsigned i = 0; i + period * REPEATS <= n; i++) {
            unsigned k = 1;

            while (k < REPEATS &&
                   same(segment + i, segment + i + k * period, period))
                k++;
            if (k == REPEATS)
                return true;
        }
    return false;
}

static bool is_trap(const struct crawl_scope *s, struct seen_span url,
                    unsigned depth, char reason[CRAWL_REASON])
{
    struct seen_span origin = crawl_origin_of(url), rest, part;
    struct seen_span segment[SEGMENTS];
    const char *query;
    unsigned n = 0;

    if (depth > s->settings->max_depth) {
        snprintf(reason, CRAWL_REASON, "%u links deep; --max-depth is %llu",
                 depth, (unsigned long long)s->settings->max_depth);
        return true;
    }
    if (url.len > LONGEST) {
        snprintf(reason, CRAWL_REASON, "longer than %d bytes", LONGEST);
        return true;
    }
    rest = (struct seen_span){ url.text + origin.len, url.len - origin.len };
    query = memchr(rest.text, '?', rest.len);
    if (query)
        rest.len = (size_t)(query - rest.text);
    while (span_cut(&rest, '/', &part)) {
        if (!part.len)
            continue;
        if (n == SEGMENTS) {
            snprintf(reason, CRAWL_REASON, "more than %d path segments",
                     SEGMENTS);
            return true;
        }
        segment[n++] = part;
    }
    if (repeats(segment, n)) {
        snprintf(reason, CRAWL_REASON, "its path repeats itself %d times",
                 REPEATS);
        return true;
    }
    return false;
}

/* --- scope --- */

static bool below(struct seen_span host, const char *domain)
{
    size_t n = strlen(domain);

    return host.len >= n &&
           !strncasecmp(host.text + host.len - n, domain, n) &&
           (host.len == n || host.text[host.len - n - 1] == '.');
}

static bool is_near(const struct crawl_scope *s, struct seen_span url)
{
    const struct crawl_settings *set = s->settings;
    struct seen_span host = crawl_host_of(url);

    if (set->everywhere || map_get(&s->hosts, host.text, host.len))
        return true;
    for (size_t i = 0; i < set->domains.n; i++)
        if (below(host, set->domains.text[i]))
            return true;
    for (size_t i = 0; i < set->prefixes.n; i++)
        if (span_begins(url, set->prefixes.text[i]))
            return true;
    return false;
}

static bool is_there(const struct crawl_scope *s, struct seen_span url,
                     char reason[CRAWL_REASON])
{
    struct seen_span host = crawl_host_of(url);
    bool near = is_near(s, url);

    if (!near)
        snprintf(reason, CRAWL_REASON,
                 "the host %.*s is not one of the crawl's",
                 (int)(host.len < 80 ? host.len : 80), host.text);
    return near;
}

/* It is not known whether a pattern matches: false for whoever asks, which is
   the safe answer for each option. */
static bool not_known(const struct patterns *p, size_t at, const char *option,
                      enum crawl_scope_out *out, char reason[CRAWL_REASON])
{
    *out = CRAWL_OUT_COSTLY;
    snprintf(reason, CRAWL_REASON,
             "not known: pattern too costly here: --%s %.100s", option,
             at < p->list.n ? p->text[at] : "");
    return false;
}

static bool is_included(const struct crawl_scope *s, struct seen_span url,
                        struct budget *budget, enum crawl_scope_out *out,
                        char reason[CRAWL_REASON])
{
    const struct patterns *p = &s->include;
    bool found;
    size_t at;

    if (!p->list.n || url.len > LONGEST)
        return true;
    if (pattern_list_has(&p->list, url, budget, &found, &at) != SEEN_OK)
        return not_known(p, at, "include", out, reason);
    if (!found)
        snprintf(reason, CRAWL_REASON, "matches no --include");
    return found;
}

static bool is_not_excluded(const struct crawl_scope *s, struct seen_span url,
                            struct budget *budget, enum crawl_scope_out *out,
                            char reason[CRAWL_REASON])
{
    const struct patterns *p = &s->exclude;
    size_t at;

    if (url.len > LONGEST)
        return true;
    if (pattern_list_find(&p->list, url, budget, &at) != SEEN_OK)
        return not_known(p, at, "exclude", out, reason);
    if (at < p->list.n)
        snprintf(reason, CRAWL_REASON, "matches --exclude %.100s",
                 p->text[at]);
    return at == p->list.n;
}

static bool is_no_trap(const struct crawl_scope *s, struct seen_span url,
                       unsigned depth, enum crawl_scope_out *out,
                       char reason[CRAWL_REASON])
{
    bool trap = is_trap(s, url, depth, reason);

    if (trap)
        *out = CRAWL_OUT_TRAP;
    return !trap;
}

/* A link of another site, or one that the patterns leave out, is not a trap,
   whatever it looks like. Patterns are not asked about what is too long. */
bool crawl_scope_has(const struct crawl_scope *s, struct seen_span url,
                     unsigned depth, bool requisite, struct budget *budget,
                     enum crawl_scope_out *out, char reason[CRAWL_REASON])
{
    struct budget own = { .left = CRAWL_URL_STEPS };

    if (!budget)
        budget = &own;
    *out = CRAWL_OUT_SCOPE;
    return (requisite || (is_there(s, url, reason) &&
                          is_included(s, url, budget, out, reason))) &&
           is_not_excluded(s, url, budget, out, reason) &&
           is_no_trap(s, url, depth, out, reason);
}

bool crawl_scope_list(const struct crawl_scope *s, struct seen_span url,
                      struct budget *budget, enum crawl_scope_out *out,
                      char reason[CRAWL_REASON])
{
    struct budget own = { .left = CRAWL_URL_STEPS };

    *out = CRAWL_OUT_SCOPE;
    return is_there(s, url, reason) &&
           is_not_excluded(s, url, budget ? budget : &own, out, reason) &&
           is_no_trap(s, url, 0, out, reason);
}

int64_t crawl_scope_priority(const struct crawl_scope *s,
                             const struct crawl_settings *settings,
                             struct seen_span url, unsigned depth,
                             struct budget *budget)
{
    const int64_t most = INT64_C(1) << 40;
    struct budget own = { .left = CRAWL_URL_STEPS };
    const struct patterns *p = &s->prefer;
    int64_t bonus = 0;
    size_t at;

    if (settings->order == CRAWL_BREADTH)
        return depth;
    if (settings->order == CRAWL_DEPTH)
        return -(int64_t)depth;
    if (settings->strategy == CRAWL_TOPICAL)
        return 0; /* the score follows, when all of the page is known */
    if (p->list.n && url.len <= LONGEST &&
        pattern_list_find(&p->list, url, budget ? budget : &own, &at) ==
            SEEN_OK &&
        at < p->list.n)
        bonus = p->bonus[at];
    bonus = bonus > most ? most : bonus < -most ? -most : bonus;
    return 1000 * ((int64_t)depth - bonus);
}

/* --- keys --- */

static bool is_session(struct seen_span name)
{
    static const char *const names[] = {
        "phpsessid", "jsessionid", "sessionid", "session_id", "sid",
        "cfid",      "cftoken",    "zenid",     NULL
    };

    for (int i = 0; names[i]; i++)
        if (span_like(name, names[i]))
            return true;
    return name.len > 12 && !strncasecmp(name.text, "aspsessionid", 12);
}

void crawl_key(struct seen_key *key, char *text, struct seen_span url)
{
    const char *query = memchr(url.text, '?', url.len);
    struct seen_span path = { url.text,
                              query ? (size_t)(query - url.text) : url.len };
    struct seen_span rest, part;
    size_t n = 0;
    bool first = true, dropped = false;

    if (url.len > SEEN_KEY_TEXT) {
        seen_key_hash(key, url.text, url.len);
        return;
    }
    for (const char *at = path.text, *end = at + path.len;
         (at = memchr(at, ';', (size_t)(end - at))); at++)
        if (end - at >= 12 && !strncasecmp(at, ";jsessionid=", 12)) {
            path.len = (size_t)(at - path.text);
            dropped = true;
            break;
        }
    memcpy(text, path.text, path.len);
    n = path.len;
    if (query) {
        rest = (struct seen_span){ query + 1,
                                   url.len - (size_t)(query + 1 - url.text) };
        while (span_cut(&rest, '&', &part)) {
            const char *equals = memchr(part.text, '=', part.len);
            struct seen_span name = { part.text,
                                      equals ? (size_t)(equals - part.text)
                                             : part.len };

            if (is_session(name)) {
                dropped = true;
                continue;
            }
            text[n++] = first ? '?' : '&';
            first = false;
            memcpy(text + n, part.text, part.len);
            n += part.len;
        }
    }
    if (dropped)
        seen_key_hash(key, text, n);
    else
        seen_key_hash(key, url.text, url.len);
}
