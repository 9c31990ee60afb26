/*
 * job.h - one message that asks for a visit.
 *
 *     {"v": 1, "visit": "news@1767225600", "name": "news", "due": 1767225600,
 *      "hash": "9f86...", "template": "{ ... }", "start": ["http://..."],
 *      "settings": {"delay": "1", "pages": 1000}, "shards": 1}
 *
 * doc/job.schema.json is the schema. The template travels by its content, with
 * the SHA-256 of it, so that a worker needs no files. Without `start`, the
 * start URLs are the template's; without a template, `start` is required. The
 * visit is named by the template's name and its due time, which is rounded
 * down to the interval: two schedulers that see the same time make the same
 * message. The seed of the visit's filter is the first 64 bits of the SHA-256
 * of that name.
 *
 *     code = crawl_job_write(&message, visit, &facts, &why);
 *
 *     code = crawl_job_read(&job, message, &rules, &why);
 *     for (uint64_t i = 0; i < job->starts; i++)
 *         code = crawl_job_start(job, i, url, &len, &why);
 *     crawl_job_free(job);
 *
 * Reading checks everything, since messages come from elsewhere: the version,
 * the hash, the template, the settings, and that every start URL is http or
 * https and not at a private address. Addresses behind names are checked when
 * they are connected to (fetch.h).
 *
 * Threads: a job is read-only once it is read.
 */
#ifndef SEEN_CRAWL_JOB_H
#define SEEN_CRAWL_JOB_H

#include "../page/scope.h"
#include "../page/settings.h"
#include "../page/shared.h"
#include "../template/template.h"

enum {
    CRAWL_JOB_VERSION = 1,
    CRAWL_JOB_NAME_MOST = 100, /* bytes */
    CRAWL_JOB_SHARDS_MOST = 1024,
    CRAWL_JOB_MOST = 16 << 20 /* bytes of a message */
};

/*
 * The settings that a job may carry, as rows of a table of options: what to
 * fetch and how politely. All others are the worker's: paths, addresses that
 * are allowed, its name, what is kept.
 */
/* clang-format off */
#define CRAWL_JOB_OPTIONS \
    CRAWL_SCOPE_OPTIONS, \
    CRAWL_BUDGET_OPTIONS, \
    { "strategy", 0, TEXT, "broad|topical|focused", CRAWL_SETTING(strategy_word), \
      "broad (default); topical follows links of pages that match --words, " \
      "the best first" }, \
    CRAWL_ORDER_OPTIONS, \
    CRAWL_POLITE_OPTIONS, \
    { "policy", 0, TEXT, "uniform|proportional", CRAWL_SETTING(policy), \
      "known pages are not due in every visit: all alike, or those sooner " \
      "that change more often" }, \
    { "revisit-every", 0, DURATION, "TIME", CRAWL_SETTING(revisit_every), \
      "how long after a visit a page is due again, as long as nothing else is " \
      "known of it (default 1d, or the template's interval)" }, \
    { "revisit-min", 0, DURATION, "TIME", CRAWL_SETTING(revisit_min), \
      "no page is due again before (default 1h)" }, \
    { "revisit-max", 0, DURATION, "TIME", CRAWL_SETTING(revisit_max), \
      "every page is due again after (default 30d)" }
/* clang-format on */

/* What a job is made of. */
struct crawl_job_facts {
    struct seen_span name;     /* letters, digits, . _ -; it begins with a
                                  letter or digit */
    uint64_t due;              /* Unix time in s */
    struct seen_span template; /* its content; empty: without */
    const char *const *start;  /* ended by NULL; or NULL: the template's own */
    const struct crawl_settings *settings; /* as options give them, not
                                              completed; or NULL */
    unsigned shards;                       /* 0: 1 */
};

/*
 * Append the message, in which the template is canonical JSON. SEEN_RANGE if a
 * fact is not right, SEEN_CORRUPT if the template is not; for these, and for a
 * lack of memory, nothing is appended. `visit` becomes "name@due". Private
 * addresses are not refused: the worker decides.
 */
enum seen_code crawl_job_write(struct buffer *to, char visit[128],
                               const struct crawl_job_facts *facts,
                               struct seen_error *why);

/* The name of jobs that a template asks for: its own, or that of its file,
   without folders, .json and .xml. It is not checked. */
struct seen_span crawl_job_name(const struct crawl_template *t,
                                const char *path);

/* What a worker allows, whatever a job says. */
struct crawl_job_rules {
    bool allow_private;
    const char *allow; /* as --allow, or NULL */
};

struct crawl_job {
    char visit[128], name[CRAWL_JOB_NAME_MOST + 1];
    char hash[65]; /* "" without a template */
    uint64_t seed, due;
    uint64_t terms; /* a hash of all that it asks for, but for when */
    bool policy;    /* --policy or one of its times was given */
    unsigned shards;
    struct crawl_settings settings;  /* complete; the members that are the
                                        worker's have their defaults */
    struct crawl_template *template; /* or NULL */
    struct crawl_scope *scope;       /* has the hosts of the start URLs */
    struct crawl_shared shared;      /* for crawl_read(); visit_id is 0, folder
                                   NULL */
    uint64_t starts;                 /* start URLs, at least 1 */
    struct crawl_job_kept *kept;
};

/* SEEN_CORRUPT: not such a message, with the reason. SEEN_MISMATCH: of another
   version. SEEN_RANGE: a value, URL or setting that is not allowed. The reason
   has no control characters and is UTF-8, whatever the message has. */
enum seen_code crawl_job_read(struct crawl_job **out, struct seen_span message,
                              const struct crawl_job_rules *rules,
                              struct seen_error *why);
void crawl_job_free(struct crawl_job *job);

/* The i-th start URL, canonical, and cleaned as the template says. */
enum seen_code crawl_job_start(const struct crawl_job *job, uint64_t i,
                               char url[SEEN_KEY_TEXT], size_t *len,
                               struct seen_error *why);

#endif
