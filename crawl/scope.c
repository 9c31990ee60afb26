/* scope.c - domains, prefixes, patterns and traps. */
#include "scope.h"

#include <libpsl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/map.h"
#include "../lib/text/span.h"

enum {
    LONGEST = 2048, /* bytes of a URL */
    SEGMENTS = 64,  /* of a path */
    REPEATS = 4,    /* of up to PERIOD segments in a row */
    PERIOD = 4,
};

struct pattern {
    const char *text;
    regex_t regex;
    int64_t bonus;
};

struct patterns {
    struct pattern *at;
    size_t n;
};

struct crawl_scope {
    const struct crawl_settings *settings;
    struct patterns include, exclude, prefer;
    struct map hosts; /* of the start URLs; values are the names */
};

/* --- new and free --- */

static void clear(struct patterns *p)
{
    for (size_t i = 0; i < p->n; i++)
        regfree(&p->at[i].regex);
    free(p->at);
}

static enum seen_code compile(struct patterns *to, const struct texts *from,
                              const char *option, bool weighed,
                              struct seen_error *why)
{
    to->at = calloc(from->n + 1, sizeof *to->at);
    if (!to->at)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for patterns");
    for (size_t i = 0; i < from->n; i++) {
        struct pattern *p = &to->at[i];
        char *text = strdup(from->text[i]), *sign, message[100], *end = text;
        int result;

        if (!text)
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for patterns");
        sign = weighed ? strrchr(text, '=') : NULL;
        if (sign) {
            *sign = '\0';
            p->bonus = strtoll(sign + 1, &end, 10);
        }
        if (weighed && (!sign || end == sign + 1 || *end)) {
            free(text);
            return seen_fail(why, SEEN_RANGE, 0,
                             "--%s %.40s: not of the form REGEX=NUMBER",
                             option, from->text[i]);
        }
        result = regcomp(&p->regex, text, REG_EXTENDED | REG_NOSUB);
        if (result) {
            regerror(result, &p->regex, message, sizeof message);
            free(text);
            return seen_fail(why, SEEN_RANGE, 0, "--%s %.40s: %s", option,
                             from->text[i], message);
        }
        free(text);
        p->text = from->text[i];
        to->n++;
    }
    return SEEN_OK;
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

/* regexec() wants a text that ends with a zero. */
static const struct pattern *match(const struct patterns *p,
                                   struct seen_span url)
{
    char text[LONGEST + 1];

    if (!p->n || url.len > LONGEST)
        return NULL;
    memcpy(text, url.text, url.len);
    text[url.len] = '\0';
    for (size_t i = 0; i < p->n; i++)
        if (!regexec(&p->at[i].regex, text, 0, NULL, 0))
            return &p->at[i];
    return NULL;
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

static bool is_excluded(const struct crawl_scope *s, struct seen_span url,
                        char reason[CRAWL_REASON])
{
    const struct pattern *p = match(&s->exclude, url);

    if (p)
        snprintf(reason, CRAWL_REASON, "matches --exclude %.100s", p->text);
    return p;
}

/* A link of another site, or one that the patterns leave out, is not a trap,
   whatever it looks like. Patterns are not asked about what is too long. */
bool crawl_scope_has(const struct crawl_scope *s, struct seen_span url,
                     unsigned depth, bool requisite, bool *trap,
                     char reason[CRAWL_REASON])
{
    *trap = false;
    if (!requisite && !is_there(s, url, reason))
        return false;
    if (!requisite && s->include.n && url.len <= LONGEST &&
        !match(&s->include, url)) {
        snprintf(reason, CRAWL_REASON, "matches no --include");
        return false;
    }
    if (is_excluded(s, url, reason))
        return false;
    *trap = is_trap(s, url, depth, reason);
    return !*trap;
}

bool crawl_scope_list(const struct crawl_scope *s, struct seen_span url,
                      bool *trap, char reason[CRAWL_REASON])
{
    *trap = false;
    if (!is_there(s, url, reason) || is_excluded(s, url, reason))
        return false;
    *trap = is_trap(s, url, 0, reason);
    return !*trap;
}

int64_t crawl_scope_priority(const struct crawl_scope *s,
                             const struct crawl_settings *settings,
                             struct seen_span url, unsigned depth)
{
    const int64_t most = INT64_C(1) << 40;
    const struct pattern *p;
    int64_t bonus;

    if (settings->order == CRAWL_BREADTH)
        return depth;
    if (settings->order == CRAWL_DEPTH)
        return -(int64_t)depth;
    if (settings->strategy == CRAWL_TOPICAL)
        return 0; /* the score follows, when all of the page is known */
    p = match(&s->prefer, url);
    bonus = p ? p->bonus : 0;
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
