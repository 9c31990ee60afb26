/*
 * settings.h - what a crawl was asked to do.
 *
 * One table describes every setting: the command line is parsed by it, `seen
 * help crawl` is printed from it, and the state of a crawl keeps the settings
 * as JSON under the same names. So a crawl that resumes does what it did
 * before, and an option that is given again replaces the one that was kept.
 *
 *     struct crawl_settings *s = calloc(1, sizeof *s);
 *
 *     option_read_all(crawl_options, "seen crawl", s, argv, wrong);
 *     crawl_settings_complete(s, &why);                   defaults, checks
 *     char *kept = crawl_settings_write(s);               JSON
 *
 * Threads: plain data; read-only while a crawl runs.
 */
#ifndef SEEN_CRAWL_SETTINGS_H
#define SEEN_CRAWL_SETTINGS_H

#include <seen/error.h>

#include "../../lib/text/option.h"

enum crawl_order { CRAWL_BREADTH, CRAWL_DEPTH, CRAWL_PRIORITY };
enum crawl_strategy { CRAWL_BROAD, CRAWL_TOPICAL, CRAWL_CONTINUOUS };

/* Members as the options have them; 0, NULL or empty means not given. */
struct crawl_settings {
    /* what to fetch */
    const char *list;     /* start URLs, besides the operands */
    const char *template; /* a file; its content is kept in the state */
    struct texts domains, prefixes, include, exclude;
    bool everywhere, requisites, sitemaps, ignore_nofollow;
    uint64_t depth_given; /* one more than max_depth, as *_given below */
    uint64_t max_queries;

    /* how much */
    uint64_t pages, bytes, time, host_pages, max_size;

    /* in which order */
    const char *order_word, *strategy_word;
    const char *words, *words_file;
    const char *threshold_text, *weights_text;
    struct texts priorities; /* "REGEX=N" */

    /* how politely */
    const char *delay_text, *contact, *agent, *accept_encoding;
    uint64_t timeout, per_address, parallel, turn, threads;
    uint64_t retries_given, pause_given;
    uint64_t hosts; /* in memory */
    bool allow_private;
    const char *allow, *ca;

    /* the URL cache */
    const char *cache;
    uint64_t capacity, seed;
    double rate;
    double audit;
    struct texts skip;

    /* visits */
    const char *revisit; /* "", "due" or "all"; NULL: no visit is to begin */
    bool revisit_all;    /* derived */
    bool recover;
    bool retry_aside;
    const char *policy, *budget_text;
    uint64_t visit_every, revisit_every, revisit_min, revisit_max;
    bool proportional, freshest; /* derived */
    double budget; /* of requests for known pages, per second; 0: as many as
                      --revisit-every would ask for */
    const char *clock;

    /* what is kept */
    bool urls_only, index, index_304;
    uint64_t warc_size;

    /* how it is shown; not kept */
    bool json, quiet;
    const char *from; /* of prune, */
    bool dry_run;     /* too */
    const char *into;

    /* derived by crawl_settings_complete() */
    enum crawl_order order;
    enum crawl_strategy strategy;
    int64_t template_delay; /* ms + 1; 0: the template has none */
    int64_t delay;          /* ms; -1: adaptive */
    double threshold, weight[3];
    uint64_t max_depth, retries, pause; /* may be 0 */
};

/*
 * Rows of tables of options: what to fetch, how much, in which order and how
 * politely. A job may carry these, too (job.h). They fit every struct that
 * begins with a struct crawl_settings.
 */
#define CRAWL_SETTING(member) offsetof(struct crawl_settings, member)
/* clang-format off */
#define CRAWL_SCOPE_OPTIONS \
    { "domain", 0, TEXTS, "NAME", CRAWL_SETTING(domains), \
      "also follow links to this domain and all below it" }, \
    { "prefix", 0, TEXTS, "URL", CRAWL_SETTING(prefixes), \
      "also follow links that begin so" }, \
    { "include", 0, TEXTS, "REGEX", CRAWL_SETTING(include), \
      "follow only links that match one of these" }, \
    { "exclude", 0, TEXTS, "REGEX", CRAWL_SETTING(exclude), \
      "follow no link that matches" }, \
    { "everywhere", 0, FLAG, NULL, CRAWL_SETTING(everywhere), \
      "follow links to all hosts, not only to those of the start URLs" }, \
    { "requisites", 0, FLAG, NULL, CRAWL_SETTING(requisites), \
      "also fetch images, scripts and styles of pages, from any host" }, \
    { "sitemaps", 0, FLAG, NULL, CRAWL_SETTING(sitemaps), \
      "also follow the sitemaps that robots.txt names" }, \
    { "ignore-nofollow", 0, FLAG, NULL, CRAWL_SETTING(ignore_nofollow), \
      "also follow links with rel=nofollow, and those of pages that ask for " \
      "it" }, \
    { "max-depth", 0, COUNT_OR_NONE, "N", CRAWL_SETTING(depth_given), \
      "links from a start URL to a page, at most (default 50); 0: only the " \
      "start URLs" }, \
    { "max-queries", 0, COUNT, "N", CRAWL_SETTING(max_queries), \
      "pages that differ only in what follows the question mark, at most " \
      "(default 10000)" }

#define CRAWL_BUDGET_OPTIONS \
    { "pages", 0, COUNT, "N", CRAWL_SETTING(pages), \
      "stop after this many pages" }, \
    { "bytes", 0, COUNT, "N", CRAWL_SETTING(bytes), \
      "stop after this many bytes" }, \
    { "time", 0, DURATION, "TIME", CRAWL_SETTING(time), \
      "stop after this time" }, \
    { "host-pages", 0, COUNT, "N", CRAWL_SETTING(host_pages), \
      "pages per host, at most" }, \
    { "max-size", 0, COUNT, "BYTES", CRAWL_SETTING(max_size), \
      "cut longer pages (default 16M)" }

#define CRAWL_ORDER_OPTIONS \
    { "order", 0, TEXT, "breadth|depth|priority", CRAWL_SETTING(order_word), \
      "which pages of a host come first (default breadth)" }, \
    { "words", 0, TEXT, "TEXT", CRAWL_SETTING(words), \
      "what a topical crawl looks for" }, \
    { "threshold", 0, TEXT, "X", CRAWL_SETTING(threshold_text), \
      "a topical crawl follows links with at least this score (default 0.1)" }, \
    { "weights", 0, TEXT, "P,A,U", CRAWL_SETTING(weights_text), \
      "of page, anchor and URL in that score (default 0.5,0.4,0.1)" }, \
    { "prefer", 0, TEXTS, "REGEX=N", CRAWL_SETTING(priorities), \
      "with --order priority: links that match come N links earlier" }

#define CRAWL_PER_ADDRESS_OPTION \
    { "per-address", 0, COUNT, "N", CRAWL_SETTING(per_address), \
      "requests to one address at a time (default 4)" }

#define CRAWL_POLITE_OPTIONS \
    { "delay", 0, TEXT, "TIME", CRAWL_SETTING(delay_text), \
      "between two requests to a host, as 2s, or 0.5 of a second; 0 is for " \
      "your own (default: five times as long as the last one took, within 3 to " \
      "30 s)" }, \
    { "timeout", 0, DURATION, "TIME", CRAWL_SETTING(timeout), \
      "for one request (default 60s)" }, \
    { "retries", 0, COUNT_OR_NONE, "N", CRAWL_SETTING(retries_given), \
      "attempts after the first, if a request fails (default 3)" }, \
    { "pause", 0, DURATION_OR_NONE, "TIME", CRAWL_SETTING(pause_given), \
      "before a failed request is repeated; after the n-th, n*n times as long " \
      "(default 10s); 0s: only what --delay says" }, \
    CRAWL_PER_ADDRESS_OPTION, \
    { "accept-encoding", 0, TEXT, "LIST", CRAWL_SETTING(accept_encoding), \
      "codings to ask for, of gzip, br, deflate, zstd, identity (default " \
      "gzip, br: what replayers can show)" }

/*
 * What a process does with its own machine: seen crawl and seen work have
 * these, and jobs do not. --hosts is how many hosts are in memory, or this
 * worker's, at most (4096); only tests want less.
 */
#define CRAWL_MACHINE_OPTIONS \
    { "contact", 0, TEXT, "URL", CRAWL_SETTING(contact), \
      "a page or an address that says who you are; required for public " \
      "addresses" }, \
    { "agent", 0, TEXT, "TEXT", CRAWL_SETTING(agent), \
      "the User-Agent (default seen/VERSION (+CONTACT)); its first word is " \
      "looked up in robots.txt" }, \
    { "parallel", 0, COUNT, "N", CRAWL_SETTING(parallel), \
      "requests at a time (default 256)" }, \
    { "hosts", 0, COUNT, "N", CRAWL_SETTING(hosts), NULL }, \
    { "threads", 0, COUNT, "N", CRAWL_SETTING(threads), \
      "that parse and compress (default: one per CPU)" }, \
    { "allow-private", 0, FLAG, NULL, CRAWL_SETTING(allow_private), \
      "also connect to private, loopback and link-local addresses" }, \
    { "allow", 0, TEXT, "ADDRESS:PORT,...", CRAWL_SETTING(allow), \
      "also connect to these addresses" }, \
    { "ca", 0, PATH, "FILE", CRAWL_SETTING(ca), \
      "certificates to trust, in PEM (default: the system's)" }, \
    { "warc-size", 0, COUNT, "BYTES", CRAWL_SETTING(warc_size), \
      "begin another WARC file after this many (default 1G)" }, \
    { "retry-aside", 0, FLAG, NULL, CRAWL_SETTING(retry_aside), \
      "ask again for pages that were set aside because the process died each " \
      "time it read them" }, \
    { "json", 'j', FLAG, NULL, CRAWL_SETTING(json), \
      "print the report as JSON" }, \
    { "quiet", 'q', FLAG, NULL, CRAWL_SETTING(quiet), \
      "print only what went wrong" }
/* clang-format on */

/* The table of options, ended by a NULL name. */
extern const struct option crawl_options[];

/* Fill in defaults and check what the table cannot. SEEN_RANGE with words
   that name the option. */
enum seen_code crawl_settings_complete(struct crawl_settings *s,
                                       struct seen_error *why);

/* As JSON, for the caller to free(); NULL without memory, or if a text is not
   UTF-8. */
char *crawl_settings_write(const struct crawl_settings *s);

/*
 * Take over from JSON what `s` does not have. Texts point into a document
 * that lives as long as *keep, which the caller frees by
 * crawl_settings_forget().
 */
enum seen_code crawl_settings_read(struct crawl_settings *s, const char *json,
                                   void **keep, struct seen_error *why);
void crawl_settings_forget(void *keep);

#endif
