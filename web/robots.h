/*
 * robots.h - which URLs of a host a crawler may fetch: robots.txt, RFC 9309.
 *
 *     User-agent: seen                 a group: the crawlers that it is for,
 *     User-agent: other                by their product tokens,
 *     Disallow: /private               and its rules; "*" is any text, a "$"
 *     Allow: /private/a*.html$         at the end is the end of the URL
 *     Crawl-delay: 10
 *
 *     Sitemap: https://a.example/s.xml
 *
 * A file is parsed for one crawler: its rules are those of all groups with its
 * product token, or if there is no such group, those of the groups for "*".
 * Of the rules that match a URL the longest decides, and Allow before
 * Disallow. Where none matches, all is allowed.
 *
 *     struct web_robots *r;
 *     struct web_robots_verdict v;
 *
 *     if (web_robots_status(status) == WEB_ROBOTS_READ &&
 *         web_robots_new(&r, bytes, len, "seen", &why) == SEEN_OK) {
 *         web_robots_ask(r, url, strlen(url), &v);
 *         if (!v.allowed)
 *             printf("line %u: %.*s\n", v.line, (int)v.rule.len, v.rule.text);
 *         web_robots_free(r);
 *     }
 *
 * Any bytes are a robots.txt: lines that make no sense are skipped.
 * doc/web.md lists what is accepted beyond the RFC.
 *
 * Threads: after web_robots_new() any number of threads may ask at once.
 */
#ifndef SEEN_WEB_ROBOTS_H
#define SEEN_WEB_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>

enum {
    WEB_ROBOTS_MOST = 500 << 10, /* bytes of a file that count */
    WEB_ROBOTS_LINE = 16663,     /* bytes of a line that count */
    WEB_ROBOTS_URL = 24576,      /* octets of a URL that are compared */
    WEB_ROBOTS_STATES = 32768    /* bytes of all rules with stars, about */
};

/* What the status of an answer means (2.3.1). */
enum web_robots_answer {
    WEB_ROBOTS_READ,  /* 2xx: the body has the rules */
    WEB_ROBOTS_ALLOW, /* 4xx, a redirect too many: everything is allowed */
    WEB_ROBOTS_DENY   /* 429, 5xx, 0 for no answer: nothing is; ask again soon */
};
enum web_robots_answer web_robots_status(int status);

struct web_robots;

/*
 * Parse the rules for the crawler `agent`, its product token. A version may
 * follow it, as in "seen/1.0". Without an agent (NULL) there are no rules, and
 * only the sitemaps are read. Of a longer file only the whole lines within
 * WEB_ROBOTS_MOST bytes count. The bytes are copied as far as needed. Fails
 * with SEEN_NOMEM only.
 */
enum seen_code web_robots_new(struct web_robots **out, const char *bytes,
                              size_t len, const char *agent,
                              struct seen_error *why);
void web_robots_free(struct web_robots *r);

/* Count one more owner. Each calls _free(); the last call frees. For threads
   that ask while another one may replace the rules. */
struct web_robots *web_robots_share(struct web_robots *r);

/* `rule` is the line without its comment. It lives as long as the robots, and is
   empty with line 0 if no rule matched. */
struct web_robots_verdict {
    bool allowed;
    struct seen_span rule;
    unsigned line;
    uint64_t steps; /* what the question cost, for tests */
};

/*
 * May this URL be fetched? It is a URL, of which the path and the query count,
 * or a path. Its percent-encoding does not matter: "/%7Ea" and "/~a", "/ä" and
 * "/%c3%a4" are the same; "/a%2Fb" and "/a/b" are not.
 *
 * It takes time linear in the URL: per byte at most 70 steps for all rules
 * without stars, and 1,024 for those with stars. That is because at most
 * WEB_ROBOTS_STATES bytes of rules with stars count, the shortest rules first.
 * Of the others, a Disallow ends at its first star, and an Allow is left out,
 * so that more is forbidden and not less.
 */
void web_robots_ask(const struct web_robots *r, const char *url, size_t len,
                    struct web_robots_verdict *verdict);

/* The bytes of memory that it takes. */
size_t web_robots_size(const struct web_robots *r);

/* How many rules with stars were past that limit? */
size_t web_robots_approximate(const struct web_robots *r);

/* The Crawl-delay of the crawler's groups in seconds, or -1. */
double web_robots_delay(const struct web_robots *r);

/* The i-th Sitemap of the file, as it is written there; false past the last.
   It lives as long as the robots. */
bool web_robots_sitemap(const struct web_robots *r, size_t i,
                        struct seen_span *url);

#endif
