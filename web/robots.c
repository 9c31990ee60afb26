/*
 * robots.c - groups, rules and how they match.
 *
 * Rules and URLs are compared in one spelling (RFC 9309, 2.2.2):
 *
 *     as written        compared as      why
 *     a  %61  %7E       a  a  ~          unreserved: the escape means nothing
 *     :  %3a  $  %24    :  :  $  $       reserved, but no delimiter of HTTP URLs
 *     / ? = & +         / ? = & +        delimiters ...
 *     %2f %3f %3D       %2F %3F %3D      ... are not their escapes
 *     ä  %c3%a4  |      %C3%A4  ...  %7C all other bytes
 *     * in a rule       STAR             any text; %2A in a rule is "*"
 *
 * The RFC's table also has "?baz=https://foo.bar" and "?baz=https%3A%2F%2Ffoo.bar"
 * as one. So after its first "?", a text has a second spelling, in which %2F
 * and %3F are decoded. A rule with a "?" matches if it does in either.
 *
 * The rules are sorted by length, so that the first one that matches decides;
 * robots_match.c finds it.
 */
#include "robots.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../lib/text/array.h"
#include "../lib/text/buffer.h"
#include "../lib/text/hex.h"
#include "../lib/text/percent.h"
#include "../lib/text/span.h"
#include "robots_match.h"

enum { STAR = WEB_ROBOTS_STAR };

/* The groups that a rule is in. */
enum { OURS = 1, EVERYONES = 2 };

/* Texts are in robots.bytes, at these places. */
struct web_robots_text {
    uint32_t at, len;
};

/* A rule while it is parsed. Its texts are often the same bytes. */
struct web_robots_rule {
    struct web_robots_text text;    /* the line */
    struct web_robots_text pattern; /* in the spelling above */
    struct web_robots_text second;  /* in the second one */
    uint32_t octets;                /* its length as a rule */
    unsigned line;
    unsigned groups;
    bool allow, anchored, query;
};

/* What is kept of a rule: there may be 60,000, and hosts are many. */
struct web_robots_line {
    uint32_t at;
    uint16_t len;
    bool allow;
    unsigned number;
};

struct web_robots {
    atomic_uint owners;
    struct buffer bytes;
    struct web_robots_line *line; /* the one that decides comes first */
    size_t rules;
    /* Rules in the first spelling; those with a query in the second. */
    struct web_robots_matcher *matcher, *second;
    uint32_t *query; /* the place of the second ones among the rules */
    size_t queries;
    bool differs; /* some second one is not as the first */
    struct web_robots_text *sitemap;
    size_t sitemaps, sitemap_room;
    double delay;
};

/* --- one spelling --- */

static bool unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c && strchr("-._~", c));
}

struct spelling {
    bool pattern; /* "*" is special */
    bool second;  /* the one in which %2F and %3F of a query are decoded */
    bool query;   /* a "?" was there */
    size_t stars; /* that were left out, because another is before them */
};

/* Write at most `room` bytes; 3 per byte of the text are enough. Returns how
   many. */
static size_t spell(struct spelling *s, char *to, size_t room,
                    struct seen_span text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len && n + 3 <= room; i++) {
        const char *at = text.text + i;
        unsigned char c = (unsigned char)*at;
        bool escaped = c == '%' && text.len - i > 2 && hex_digit(at[1]) >= 0 &&
                       hex_digit(at[2]) >= 0;
        bool keep;

        if (s->pattern && c == '*') {
            if (n && to[n - 1] == STAR)
                s->stars++;
            else
                to[n++] = STAR;
            continue;
        }
        if (escaped) {
            c = (unsigned char)(hex_digit(at[1]) * 16 + hex_digit(at[2]));
            i += 2;
        }
        if (c && strchr("/?", c))
            keep = !escaped || (s->second && s->query);
        else if (c && strchr("=&+", c))
            keep = !escaped;
        else
            keep = unreserved(c) || (c && strchr("!$'()*,:;@[]", c));
        s->query |= c == '?' && !escaped;
        if (keep) {
            to[n++] = (char)c;
        } else {
            percent_write(to + n, (char)c);
            n += 3;
        }
    }
    return n;
}

/* The path and query of a URL, without the slash that they begin with. */
static struct seen_span path_of(struct seen_span url)
{
    const char *end = memchr(url.text, '#', url.len), *at = url.text, *scheme;

    if (!end)
        end = url.text + url.len;
    if (end - at >= 2 && at[0] == '/' && at[1] == '/') {
        at += 2;
    } else {
        scheme = memmem(at, (size_t)(end - at), "://", 3);
        for (const char *p = at; scheme && p < scheme; p++)
            if (*p == '/' || *p == '?' || *p == ';')
                scheme = NULL; /* the path has begun before it */
        if (scheme)
            at = scheme + 3;
    }
    while (at < end && *at != '/' && *at != '?' && *at != ';')
        at++;
    at += at < end && *at == '/';
    return (struct seen_span){ at, (size_t)(end - at) };
}

/* --- matching --- */

static struct seen_span text_of(const struct web_robots *r,
                                struct web_robots_text t)
{
    return (struct seen_span){ r->bytes.bytes + t.at, t.len };
}

/* The first rule that matches, or r->rules. */
static size_t find(const struct web_robots *r, struct seen_span first,
                   struct seen_span second, uint64_t *steps)
{
    size_t rule = web_robots_first(r->matcher, first, steps), other;

    /* A rule without a query has no second spelling. */
    if (r->second && (r->differs || !span_equal(first, second))) {
        other = web_robots_first(r->second, second, steps);
        if (other != WEB_ROBOTS_NONE && r->query[other] < rule)
            rule = r->query[other];
    }
    return rule < r->rules ? rule : r->rules;
}

void web_robots_ask(const struct web_robots *r, const char *url, size_t len,
                    struct web_robots_verdict *verdict)
{
    struct seen_span path = path_of((struct seen_span){ url, len });
    struct spelling one = { .query = false }, two = { .second = true };
    char text[2][WEB_ROBOTS_URL];
    struct seen_span first = { text[0], 1 }, second = { text[1], 1 };
    const struct web_robots_line *line;
    size_t rule;

    *verdict = (struct web_robots_verdict){ .allowed = true,
                                            .rule = { "", 0 },
                                            .steps = len };
    text[0][0] = text[1][0] = '/';
    first.len += spell(&one, text[0] + 1, sizeof text[0] - 1, path);
    if (span_is(first, "/robots.txt"))
        return;
    second.len += spell(&two, text[1] + 1, sizeof text[1] - 1, path);
    rule = find(r, first, second, &verdict->steps);
    if (rule == r->rules)
        return;
    line = &r->line[rule];
    verdict->allowed = line->allow;
    verdict->rule = (struct seen_span){ r->bytes.bytes + line->at, line->len };
    verdict->line = line->number;
}

/* --- parsing --- */

/* The crawlers that the lines now read are for. A user-agent line after a line
   of a group begins another. */
struct web_robots_group {
    unsigned named;
    bool closed;
};

struct web_robots_parser {
    struct web_robots *r;
    struct web_robots_rule *rule;
    size_t rules, room;
    struct seen_span agent;
    struct web_robots_group groups, delays;
    unsigned named; /* anywhere */
    double ours, everyones;
    unsigned line;
};

/* The words that lines begin with, and what they are often mistaken for. */
enum web_robots_key { OTHER, USER_AGENT, ALLOW, DISALLOW, DELAY, SITEMAP };

static enum web_robots_key key_of(struct seen_span word)
{
    static const struct {
        const char *word;
        enum web_robots_key key;
    } keys[] = {
        { "user-agent", USER_AGENT }, { "useragent", USER_AGENT },
        { "user agent", USER_AGENT }, { "allow", ALLOW },
        { "disallow", DISALLOW },     { "dissallow", DISALLOW },
        { "dissalow", DISALLOW },     { "disalow", DISALLOW },
        { "diasllow", DISALLOW },     { "disallaw", DISALLOW },
        { "crawl-delay", DELAY },     { "sitemap", SITEMAP },
        { "site-map", SITEMAP },
    };

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (span_like(word, keys[i].word))
            return keys[i].key;
    return OTHER;
}

/* The length of what a text begins with, up to one of the bytes. */
static size_t until(struct seen_span s, const char *bytes)
{
    size_t n = 0;

    while (n < s.len && (!s.text[n] || !strchr(bytes, s.text[n])))
        n++;
    return n;
}

/* Cut a line at its colon, or, if there is none, between its two words. */
static enum web_robots_key cut(struct seen_span line, struct seen_span *value)
{
    size_t n = until(line, ":");
    struct seen_span key = { line.text, n };

    if (n < line.len) {
        *value = span_trim(
            (struct seen_span){ line.text + n + 1, line.len - n - 1 });
        return key_of(span_trim(key));
    }
    key.len = n = until(line, " \t");
    *value = span_trim((struct seen_span){ line.text + n, line.len - n });
    if (!value->len || until(*value, " \t") < value->len)
        return OTHER;
    return key_of(key);
}

static bool in_token(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-';
}

/*
 * Which crawlers does a user-agent line name? A product token has letters, "_"
 * and "-" only, and what follows it does not count (2.2.1). Crawlers whose
 * names have other characters, such as digits, are found by the whole word.
 */
static unsigned names(const struct web_robots_parser *p,
                      struct seen_span value)
{
    struct seen_span word = { value.text, until(value, " \t/") };
    struct seen_span token = { value.text, 0 };

    if (!p->agent.text)
        return 0;
    if (span_is(word, "*"))
        return EVERYONES;
    while (token.len < value.len && in_token(value.text[token.len]))
        token.len++;
    if (!p->agent.len)
        return 0;
    if ((word.len == p->agent.len &&
         !strncasecmp(word.text, p->agent.text, word.len)) ||
        (token.len == p->agent.len &&
         !strncasecmp(token.text, p->agent.text, token.len)))
        return OURS;
    return 0;
}

static void group_name(struct web_robots_group *g, unsigned named)
{
    g->named = (g->closed ? 0 : g->named) | named;
    g->closed = false;
}

static struct web_robots_text keep(struct web_robots *r, struct seen_span text)
{
    struct web_robots_text t = { (uint32_t)r->bytes.len, (uint32_t)text.len };

    buffer_span(&r->bytes, text);
    return t;
}

/* The pattern in one of its spellings: appended, unless it is as its line has
   it, at the place `as`. */
static struct web_robots_text keep_pattern(struct web_robots *r,
                                           struct spelling *s,
                                           struct seen_span text, uint32_t as)
{
    struct web_robots_text t = { (uint32_t)r->bytes.len, 0 };
    char *to = buffer_room(&r->bytes, 3 * text.len + 3);

    if (to)
        t.len = (uint32_t)spell(s, to, 3 * text.len + 3, text);
    if (span_equal((struct seen_span){ to, t.len }, text))
        t.at = as;
    else
        r->bytes.len += t.len;
    return t;
}

/* The pattern begins at the place `as` of the line. */
static void add_rule(struct web_robots_parser *p, bool allow,
                     struct seen_span pattern, bool anchored,
                     struct web_robots_text text, uint32_t as)
{
    struct web_robots *r = p->r;
    struct web_robots_rule *more = array_grow(p->rule, &p->room, p->rules + 1,
                                              sizeof *more);
    struct web_robots_rule it = { .text = text,
                                  .line = p->line,
                                  .groups = p->groups.named,
                                  .allow = allow,
                                  .anchored = anchored };
    struct spelling one = { .pattern = true },
                    two = { .pattern = true, .second = true };

    if (!more) {
        r->bytes.failed = true;
        return;
    }
    p->rule = more;
    it.pattern = it.second = keep_pattern(r, &one, pattern, text.at + as);
    it.octets = it.pattern.len + (uint32_t)one.stars + anchored;
    it.query = one.query;
    if (one.query)
        it.second = keep_pattern(r, &two, pattern, text.at + as);
    if (!r->bytes.failed && it.second.at != it.pattern.at &&
        span_equal(text_of(r, it.pattern), text_of(r, it.second))) {
        r->bytes.len = it.second.at;
        it.second = it.pattern;
    }
    p->rule[p->rules++] = it;
}

/* Where "/x/index.html" is allowed, so is "/x/". The RFC does not say that,
   but Google's crawler and Scrapy's do so, and sites rely on it. */
static void add_folder(struct web_robots_parser *p, struct seen_span pattern,
                       struct web_robots_text text, uint32_t as)
{
    const char *slash = memrchr(pattern.text, '/', pattern.len);
    struct seen_span page = { slash, 0 };

    if (!slash)
        return;
    page.len = pattern.len - (size_t)(slash - pattern.text);
    if (!span_begins(page, "/index.htm"))
        return;
    pattern.len -= page.len - 1;
    add_rule(p, true, pattern, true, text, as);
}

static void on_rule(struct web_robots_parser *p, bool allow,
                    struct seen_span line, struct seen_span pattern)
{
    uint32_t as = (uint32_t)(pattern.text - line.text);
    struct web_robots_text text;
    bool anchored;

    p->groups.closed = p->delays.closed = true;
    /* An empty rule matches nothing, nor does one that begins with neither a
       slash nor a star. */
    if (!p->groups.named || !pattern.len ||
        (pattern.text[0] != '/' && pattern.text[0] != '*'))
        return;
    anchored = span_ends(pattern, "$");
    pattern.len -= anchored;
    text = keep(p->r, line);
    add_rule(p, allow, pattern, anchored, text, as);
    if (allow && !anchored)
        add_folder(p, pattern, text, as);
}

/* Seconds with decimals, or -1 for any other text. At most 15 digits are exact
   in a double, and so is the power of ten. */
static double seconds(struct seen_span s)
{
    double digits = 0, unit = 1;
    size_t n = 0;
    bool point = false;

    for (size_t i = 0; i < s.len; i++) {
        if (s.text[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (s.text[i] < '0' || s.text[i] > '9' || ++n > 15)
            return -1;
        digits = 10 * digits + (s.text[i] - '0');
        unit *= point ? 10 : 1;
    }
    return n ? digits / unit : -1;
}

/* If there are several, the longest holds. */
static void on_delay(struct web_robots_parser *p, struct seen_span value)
{
    double delay = seconds(value);

    p->delays.closed = true;
    if (p->delays.named & OURS && delay > p->ours)
        p->ours = delay;
    if (p->delays.named & EVERYONES && delay > p->everyones)
        p->everyones = delay;
}

static void on_sitemap(struct web_robots *r, struct seen_span url)
{
    struct web_robots_text *more;

    if (!url.len)
        return;
    more = array_grow(r->sitemap, &r->sitemap_room, r->sitemaps + 1,
                      sizeof *more);
    if (!more) {
        r->bytes.failed = true;
        return;
    }
    r->sitemap = more;
    r->sitemap[r->sitemaps++] = keep(r, url);
}

static void on_line(struct web_robots_parser *p, struct seen_span line)
{
    struct seen_span value;
    unsigned named;

    if (line.len > WEB_ROBOTS_LINE)
        line.len = WEB_ROBOTS_LINE;
    line.len = until(line, "#");
    line = span_trim(line);
    switch (cut(line, &value)) {
    case USER_AGENT:
        named = names(p, value);
        p->named |= named;
        group_name(&p->groups, named);
        group_name(&p->delays, named);
        break;
    case ALLOW: on_rule(p, true, line, value); break;
    case DISALLOW: on_rule(p, false, line, value); break;
    case DELAY: on_delay(p, value); break;
    case SITEMAP: on_sitemap(p->r, value); break;
    case OTHER: break;
    }
}

/* Without the line that is cut in two by the limit. */
static struct seen_span limited(struct seen_span s)
{
    if (s.len <= WEB_ROBOTS_MOST)
        return s;
    s.len = WEB_ROBOTS_MOST;
    while (s.len && !memchr("\r\n", s.text[s.len], 2))
        s.len--;
    return s;
}

static void parse(struct web_robots_parser *p, struct seen_span rest)
{
    static const char mark[] = "\xef\xbb\xbf";

    /* A byte order mark, or the part that an editor has left. */
    for (int i = 0; i < 3 && rest.len && rest.text[0] == mark[i]; i++)
        rest.text++, rest.len--;
    while (rest.len) {
        size_t n = until(rest, "\r\n");
        struct seen_span line = { rest.text, n };

        p->line++;
        on_line(p, line);
        if (rest.len - n >= 2 && !memcmp(rest.text + n, "\r\n", 2))
            n++;
        n += n < rest.len;
        rest.text += n;
        rest.len -= n;
    }
}

static int by_length(const void *a, const void *b)
{
    const struct web_robots_rule *x = a, *y = b;

    if (x->octets != y->octets)
        return x->octets > y->octets ? -1 : 1;
    if (x->allow != y->allow)
        return x->allow ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Keep the rules of the groups that count, the longest first. */
static void choose(struct web_robots_parser *p)
{
    unsigned group = p->named & OURS ? OURS : EVERYONES;
    size_t n = 0;

    for (size_t i = 0; i < p->rules; i++)
        if (p->rule[i].groups & group)
            p->rule[n++] = p->rule[i];
    p->rules = n;
    if (n)
        qsort(p->rule, n, sizeof *p->rule, by_length);
    p->r->delay = group == OURS ? p->ours : p->everyones;
}

/* What a verdict says. */
static bool keep_lines(struct web_robots *r, const struct web_robots_parser *p)
{
    r->line = calloc(p->rules + 1, sizeof *r->line);
    if (!r->line)
        return false;
    for (size_t i = 0; i < p->rules; i++)
        r->line[i] = (struct web_robots_line){
            .at = p->rule[i].text.at,
            .len = (uint16_t)p->rule[i].text.len,
            .allow = p->rule[i].allow,
            .number = p->rule[i].line,
        };
    r->rules = p->rules;
    return true;
}

/* Make the list of the rules that have a query. */
static bool keep_queries(struct web_robots *r,
                         const struct web_robots_parser *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->rules; i++)
        n += p->rule[i].query;
    r->query = calloc(n + 1, sizeof *r->query);
    for (size_t i = 0; r->query && i < p->rules; i++)
        if (p->rule[i].query) {
            r->differs |= p->rule[i].second.at != p->rule[i].pattern.at;
            r->query[r->queries++] = (uint32_t)i;
        }
    return r->query;
}

/* It has no more room than it needs. */
static void trim(struct buffer *b)
{
    char *less = realloc(b->bytes, b->len);

    if (!less)
        return;
    b->bytes = less;
    b->room = b->len;
}

/* Patterns in both spellings. The bytes have their last place then. */
static bool compile(struct web_robots *r, const struct web_robots_parser *p)
{
    struct web_robots_pattern *pattern = calloc(p->rules + 1, sizeof *pattern);
    bool good = pattern && keep_lines(r, p) && keep_queries(r, p);

    trim(&r->bytes);
    for (size_t i = 0; good && i < p->rules; i++)
        pattern[i] = (struct web_robots_pattern){
            text_of(r, p->rule[i].pattern), p->rule[i].anchored,
            !p->rule[i].allow
        };
    good = good && (r->matcher = web_robots_matcher_new(r->bytes.bytes,
                                                        pattern, p->rules));
    for (size_t i = 0; good && i < r->queries; i++) {
        pattern[i] = pattern[r->query[i]]; /* which is not before it */
        pattern[i].text = text_of(r, p->rule[r->query[i]].second);
    }
    if (good && r->queries)
        good = (r->second = web_robots_matcher_new(r->bytes.bytes, pattern,
                                                   r->queries));
    free(pattern);
    return good;
}

/* --- the header's functions --- */

enum web_robots_answer web_robots_status(int status)
{
    if (status >= 200 && status < 300)
        return WEB_ROBOTS_READ;
    if (status >= 300 && status < 500 && status != 429)
        return WEB_ROBOTS_ALLOW;
    return WEB_ROBOTS_DENY;
}

enum seen_code web_robots_new(struct web_robots **out, const char *bytes,
                              size_t len, const char *agent,
                              struct seen_error *why)
{
    struct web_robots *r = calloc(1, sizeof *r);
    struct web_robots_parser p = { .r = r, .ours = -1, .everyones = -1 };

    *out = NULL;
    if (!r)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a robots.txt");
    atomic_init(&r->owners, 1);
    p.agent = (struct seen_span){ agent, agent ? strcspn(agent, "/") : 0 };
    buffer_byte(&r->bytes, '\0'); /* so that there is memory to point to */
    parse(&p, limited((struct seen_span){ bytes, len }));
    if (!r->bytes.failed)
        choose(&p);
    if (!r->bytes.failed && compile(r, &p))
        *out = r;
    else
        web_robots_free(r);
    free(p.rule);
    return *out ? SEEN_OK
                : seen_fail(why, SEEN_NOMEM, 0, "no memory for a robots.txt");
}

void web_robots_free(struct web_robots *r)
{
    if (!r || atomic_fetch_sub(&r->owners, 1) > 1)
        return;
    buffer_clear(&r->bytes);
    web_robots_matcher_free(r->matcher);
    web_robots_matcher_free(r->second);
    free(r->query);
    free(r->line);
    free(r->sitemap);
    free(r);
}

struct web_robots *web_robots_share(struct web_robots *r)
{
    atomic_fetch_add(&r->owners, 1);
    return r;
}

size_t web_robots_size(const struct web_robots *r)
{
    return sizeof *r + r->bytes.room + r->rules * sizeof *r->line +
           r->queries * sizeof *r->query +
           r->sitemap_room * sizeof *r->sitemap +
           web_robots_matcher_size(r->matcher) +
           web_robots_matcher_size(r->second);
}

double web_robots_delay(const struct web_robots *r)
{
    return r->delay;
}

bool web_robots_sitemap(const struct web_robots *r, size_t i,
                        struct seen_span *url)
{
    if (i >= r->sitemaps)
        return false;
    *url = text_of(r, r->sitemap[i]);
    return true;
}

size_t web_robots_approximate(const struct web_robots *r)
{
    return web_robots_coarse(r->matcher);
}
