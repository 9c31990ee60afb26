/*
 * robots.c - seen robots: may a crawler fetch these URLs?
 *
 *     $ seen robots robots.txt http://a.example/ http://a.example/private
 *     allowed	http://a.example/
 *     disallowed	http://a.example/private
 *
 * The answers are those of a crawl: both ask web/robots.h.
 */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <seen/url.h>

#include "../lib/text/buffer.h"
#include "../lib/text/span.h"
#include "../web/robots.h"
#include "json.h"
#include "output.h"

struct robots {
    const char *agent;
    uint64_t status;
    bool explain, json;
    enum web_robots_answer answer; /* to the status */
    struct web_robots *rules;
    bool denied; /* at least one URL */
};

static const struct option options[] = {
    { "agent", 0, TEXT, "PRODUCT", offsetof(struct robots, agent),
      "the product token of the crawler; default seen" },
    { "status", 0, COUNT_OR_NONE, "N", offsetof(struct robots, status),
      "the HTTP status that robots.txt came with, 0 for no answer; default "
      "200" },
    { "explain", 0, FLAG, NULL, offsetof(struct robots, explain),
      "print the line that decides, too, and the crawl delay and sitemaps" },
    JSON_OPTION(
        struct robots, json,
        "print one JSON object per line: first {\"agent\": ..., \"status\": ..., "
        "\"crawl_delay\": ..., \"sitemaps\": [...]}, then per URL {\"url\": ..., "
        "\"allowed\": ..., \"rule\": ..., \"line\": ...}"),
    { .name = NULL }
};

/* --- reading --- */

/* At most one byte more than counts, which shows that the file goes on. */
static bool read_file(struct buffer *b, const char *name, int fd)
{
    enum { MOST = WEB_ROBOTS_MOST + 1 };
    char *to = buffer_room(b, MOST);
    ssize_t n = 1;

    while (to && n && b->len < MOST) {
        n = read(fd, b->bytes + b->len, MOST - b->len);
        if (n < 0 && errno != EINTR) {
            trouble("%s: cannot be read: %s", name, strerror(errno));
            return false;
        }
        b->len += n > 0 ? (size_t)n : 0;
    }
    if (!to)
        trouble("%s: no memory", name);
    return to != NULL;
}

static bool load(struct robots *r, const char *path)
{
    bool standard = !strcmp(path, "-"), good;
    const char *name = standard ? "standard input" : path;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct buffer b = { .bytes = NULL };
    struct seen_error why;

    if (fd < 0) {
        trouble("%s: cannot be opened: %s", name, strerror(errno));
        return false;
    }
    good = read_file(&b, name, fd);
    if (good &&
        web_robots_new(&r->rules, b.bytes, b.len, r->agent, &why) != SEEN_OK) {
        trouble_with(name, &why);
        good = false;
    }
    if (good && web_robots_approximate(r->rules))
        warning("%s: %zu rules with * are past the limit; Disallow counts up "
                "to the first *, Allow not at all",
                name, web_robots_approximate(r->rules));
    if (!standard)
        close(fd);
    buffer_clear(&b);
    return good;
}

/* --- answers --- */

/* What holds for all URLs. */
static void show_file(const struct robots *r)
{
    double delay = r->rules ? web_robots_delay(r->rules) : -1;
    struct seen_span url;

    if (delay >= 0)
        output_format("crawl-delay\t%.15g\n", delay);
    for (size_t i = 0; r->rules && web_robots_sitemap(r->rules, i, &url);
         i++) {
        output_text("sitemap\t");
        output_shown(url);
        output_text("\n");
    }
}

static void show_file_json(const struct robots *r)
{
    double delay = r->rules ? web_robots_delay(r->rules) : -1;
    struct seen_span url;

    cmd_json_open(NULL, '{');
    cmd_json_word("agent", r->agent);
    cmd_json_count("status", r->status);
    if (delay >= 0)
        cmd_json_number("crawl_delay", delay);
    else
        cmd_json_null("crawl_delay");
    cmd_json_open("sitemaps", '[');
    for (size_t i = 0; r->rules && web_robots_sitemap(r->rules, i, &url); i++)
        cmd_json_text(NULL, url.text, url.len);
    cmd_json_shut(']');
    cmd_json_flag("ask_again", r->answer == WEB_ROBOTS_DENY);
    cmd_json_shut('}');
}

static void show_reason(const struct robots *r,
                        const struct web_robots_verdict *v)
{
    output_text("\t");
    if (v->line) {
        output_format("line %u: ", v->line);
        output_shown(v->rule);
    } else if (r->rules) {
        output_text("no rule matches");
    } else if (r->status) {
        output_format("status %llu%s", (unsigned long long)r->status,
                      r->answer == WEB_ROBOTS_DENY ? ": ask again soon" : "");
    } else {
        output_text("no answer: ask again soon");
    }
}

static void show(const struct robots *r, struct seen_span url,
                 const struct web_robots_verdict *v)
{
    if (!r->json) {
        output_text(v->allowed ? "allowed\t" : "disallowed\t");
        output_shown(url);
        if (r->explain)
            show_reason(r, v);
        output_text("\n");
        return;
    }
    cmd_json_open(NULL, '{');
    cmd_json_text("url", url.text, url.len);
    cmd_json_flag("allowed", v->allowed);
    if (v->line) {
        cmd_json_text("rule", v->rule.text, v->rule.len);
        cmd_json_count("line", v->line);
    } else {
        cmd_json_null("rule");
        cmd_json_null("line");
    }
    cmd_json_shut('}');
}

/* What a crawl would fetch: the canonical form, without dot segments. A text
   that is neither an http URL nor a path is asked about as it is. */
static struct seen_span fetched(struct seen_span url, char room[SEEN_KEY_TEXT])
{
    static const char host[] = "http://host.invalid/";
    bool path = span_begins(url, "/") && !span_begins(url, "//");
    struct seen_span whole;

    if (seen_url_whatwg(&whole.text, &whole.len, room, url.text, url.len,
                        path ? host : NULL, path ? sizeof host - 1 : 0,
                        NULL) == SEEN_OK &&
        (span_begins(whole, "http:") || span_begins(whole, "https:")))
        return whole;
    return url;
}

static void answer(struct robots *r, struct seen_span url)
{
    struct web_robots_verdict v = { .allowed = r->answer == WEB_ROBOTS_ALLOW };
    char room[SEEN_KEY_TEXT];
    struct seen_span whole = fetched(url, room);

    if (r->rules)
        web_robots_ask(r->rules, whole.text, whole.len, &v);
    r->denied |= !v.allowed;
    show(r, url, &v);
}

static enum outcome run(void *settings, char **operand)
{
    struct robots *r = settings;

    if (!r->agent)
        r->agent = "seen";
    r->status = r->status ? r->status - 1 : 200;
    if (r->status > 999)
        return trouble("--status: not the status of an HTTP answer");
    r->answer = web_robots_status((int)r->status);
    if (r->answer == WEB_ROBOTS_READ && !load(r, *operand))
        return TROUBLE;
    if (r->json)
        show_file_json(r);
    else if (r->explain || !operand[1])
        show_file(r);
    for (operand++; *operand && !output_dead(); operand++)
        answer(r, span_of(*operand));
    web_robots_free(r->rules);
    return r->denied ? NO : YES;
}

const struct command cmd_robots = {
    .name = "robots",
    .summary = "print which URLs a robots.txt allows",
    .synopsis = "FILE [URL...]",
    .operands = 1,
    .most = -1,
    .settings = sizeof(struct robots),
    .options = options,
    .about =
        "Prints one line per URL: allowed or disallowed, a tab, and the URL, as "
        "the robots.txt FILE says by RFC 9309; - is standard input. The groups "
        "of the crawler's product token count, or those of * if it has none. "
        "The longest rule that matches decides; of an Allow and a Disallow of "
        "the same length it is the Allow. What no rule matches is allowed. A "
        "URL may be given without its host, as a path.\n"
        "\n"
        "Without URLs, and with --explain, the crawl delay of the crawler and "
        "the sitemaps of the file are printed, one per line.\n"
        "\n"
        "If robots.txt came with another status than 200, --status says which. "
        "Everything is allowed after 4xx and after too many redirects (3xx). "
        "Nothing is allowed after 429, 5xx or no answer (0): a crawler asks "
        "again soon. FILE is read for 2xx only.\n"
        "\n"
        "At most 32,768 bytes of rules with * count in full, the shortest "
        "rules first; past that, a Disallow is cut at its first *, and an "
        "Allow is left out.\n",
    .exits = "0 if all URLs are allowed, 1 if at least one is not, 2 if "
             "something went wrong.",
    .examples = "$ seen robots robots.txt http://a.example/ /private/x\n"
                "allowed	http://a.example/\n"
                "disallowed	/private/x\n"
                "$ seen robots --explain robots.txt /private/x\n"
                "crawl-delay	10\n"
                "sitemap	https://a.example/sitemap.xml\n"
                "disallowed	/private/x	line 2: Disallow: /private\n"
                "$ seen robots --status 503 - /\n"
                "disallowed	/\n",
    .run = run,
};
