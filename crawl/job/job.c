/*
 * job.c - write and read jobs.
 *
 * A message is not trusted: whoever can publish to the queue can send any
 * bytes. What is read is bounded before it costs anything: bytes of the
 * message, of names and texts; start URLs; what a pattern takes to compile.
 * What is written is read once, so that no job is published that every worker
 * refuses.
 */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "../../fetch/address.h"
#include "../../fetch/fetch.h"
#include "../../fetch/target.h"
#include "../../lib/text/hex.h"
#include "../../lib/text/json.h"
#include "../../lib/text/json_tree.h"
#include "../../lib/text/memory.h"
#include "../../lib/text/span.h"
#include "../../lib/text/utf8.h"
#include "../page/focus.h"
#include "../template/inside.h"

enum {
    DIGEST = 32,
    SETTING_TEXT = 8192, /* bytes of a setting that is a text */
    HOST = 253           /* bytes of a host name */
};

#define LATEST UINT64_C(253402300799) /* the end of the year 9999 */
#define TEN_YEARS (UINT64_C(3660) * 86400)
#define MANY UINT64_C(1000000000000000)
#define BONUS 1000000

struct crawl_job_kept {
    json_t *message; /* settings and start URLs point into it */
    json_t *start;   /* a list; NULL: those of the template */
    struct crawl_focus *focus;
};

static const struct option job_options[] = { CRAWL_JOB_OPTIONS,
                                             { .name = NULL } };

/* --- names --- */

static bool is_word(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
}

static enum seen_code check_name(struct seen_span name, struct seen_error *why)
{
    bool good = name.len && name.len <= CRAWL_JOB_NAME_MOST &&
                is_word((unsigned char)*name.text);

    for (size_t i = 0; good && i < name.len; i++)
        good = is_word((unsigned char)name.text[i]) ||
               (name.text[i] && strchr("._-", name.text[i]));
    return good ? SEEN_OK
                : seen_fail(why, SEEN_RANGE, 0,
                            "name: up to %d letters, digits, \".\", \"_\" and "
                            "\"-\", of which the first is a letter or a digit",
                            CRAWL_JOB_NAME_MOST);
}

struct seen_span crawl_job_name(const struct crawl_template *t,
                                const char *path)
{
    const char *slash = strrchr(path, '/');
    struct seen_span name = span_of(slash ? slash + 1 : path);

    if (*crawl_template_name(t))
        return span_of(crawl_template_name(t));
    name.len -= span_ends(name, ".json") ? 5 : span_ends(name, ".xml") ? 4 : 0;
    return name;
}

static void name_visit(char visit[128], struct seen_span name, uint64_t due)
{
    snprintf(visit, 128, "%.*s@%llu", (int)name.len, name.text,
             (unsigned long long)due);
}

static bool digest(unsigned char sum[EVP_MAX_MD_SIZE], const char *text,
                   size_t len)
{
    unsigned n;

    /* Without memory for OpenSSL's own state EVP_Digest() would crash. */
    return OSSL_LIB_CTX_get0_global_default() &&
           EVP_Digest(text, len, sum, &n, EVP_sha256(), NULL);
}

/* --- members of the message --- */

/* Names in messages to people: what else a message has is not shown. */
static const char *shown(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < n; i++)
        if (!is_word((unsigned char)name[i]) && !strchr("._-", name[i]))
            return "a member";
    return n && n <= 40 ? name : "a member";
}

static enum seen_code check_members(json_t *root, struct seen_error *why)
{
    static const char *const known[] = { "v",     "visit",    "name",
                                         "due",   "hash",     "template",
                                         "start", "settings", "shards" };
    const char *name;
    json_t *value;

    json_object_foreach(root, name, value)
    {
        size_t i = 0;

        while (i < sizeof known / sizeof *known && strcmp(known[i], name))
            i++;
        if (i == sizeof known / sizeof *known)
            return seen_fail(why, SEEN_CORRUPT, 0,
                             "%s: a job has no such member", shown(name));
    }
    return SEEN_OK;
}

/* An optional member: SEEN_OK with "" if it is missing. */
static enum seen_code read_text(const json_t *root, const char *name,
                                struct seen_span *text, struct seen_error *why)
{
    const json_t *value = json_object_get(root, name);

    *text = (struct seen_span){ "", 0 };
    if (value && !json_is_string(value))
        return seen_fail(why, SEEN_CORRUPT, 0, "%s: expected a text", name);
    if (value)
        *text = (struct seen_span){ json_string_value(value),
                                    json_string_length(value) };
    return SEEN_OK;
}

static enum seen_code read_number(const json_t *root, const char *name,
                                  uint64_t least, uint64_t most,
                                  uint64_t *number, struct seen_error *why)
{
    const json_t *value = json_object_get(root, name);
    json_int_t n = json_integer_value(value);

    if (!json_is_integer(value))
        return seen_fail(why, SEEN_CORRUPT, 0, "%s: %s", name,
                         value ? "expected a whole number" : "is missing");
    if (n < (json_int_t)least || n > (json_int_t)most)
        return seen_fail(why, SEEN_RANGE, 0,
                         "%s: expected a number from %llu to %llu", name,
                         (unsigned long long)least, (unsigned long long)most);
    *number = (uint64_t)n;
    return SEEN_OK;
}

/* --- who it is --- */

static enum seen_code read_version(const json_t *root, struct seen_error *why)
{
    const json_t *v = json_object_get(root, "v");

    if (!json_is_integer(v))
        return seen_fail(why, SEEN_CORRUPT, 0, "v: %s",
                         v ? "expected a whole number" : "is missing");
    if (json_integer_value(v) != CRAWL_JOB_VERSION)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "a job of version %lld; this program reads version "
                         "%d",
                         (long long)json_integer_value(v), CRAWL_JOB_VERSION);
    return SEEN_OK;
}

static enum seen_code read_visit(struct crawl_job *job, const json_t *root,
                                 struct seen_error *why)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    struct seen_span name, visit;
    enum seen_code code = read_text(root, "name", &name, why);

    if (code == SEEN_OK)
        code = check_name(name, why);
    if (code == SEEN_OK)
        code = read_number(root, "due", 0, LATEST, &job->due, why);
    if (code == SEEN_OK)
        code = read_text(root, "visit", &visit, why);
    if (code != SEEN_OK)
        return code;
    memcpy(job->name, name.text, name.len);
    name_visit(job->visit, name, job->due);
    if (!span_is(visit, job->visit))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "visit: does not equal name@due");
    if (!digest(sum, visit.text, visit.len))
        return no_memory_for(why, "a job");
    for (int i = 0; i < 8; i++)
        job->seed = job->seed << 8 | sum[i];
    return SEEN_OK;
}

/* The hash stands for the template. A member that is missing and one that says
   what is usual differ, which costs one visit in full. */
static enum seen_code read_terms(struct crawl_job *job, const json_t *root,
                                 struct seen_error *why)
{
    static const char *const asked[] = { "hash", "settings", "shards",
                                         "start" };
    unsigned char sum[EVP_MAX_MD_SIZE];
    struct buffer terms = { .bytes = NULL };
    bool good;

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const json_t *value = json_object_get(root, asked[i]);
        char *text = value ? json_tree_text(value, JSON_COMPACT |
                                                       JSON_SORT_KEYS |
                                                       JSON_ENCODE_ANY)
                           : NULL;

        terms.failed |= value && !text;
        buffer_text(&terms, text ? text : "");
        buffer_byte(&terms, '\n');
        free(text);
    }
    good = !terms.failed && digest(sum, terms.bytes, terms.len);
    for (int i = 0; good && i < 8; i++)
        job->terms = job->terms << 8 | sum[i];
    buffer_clear(&terms);
    return good ? SEEN_OK : no_memory_for(why, "a job");
}

/* --- the template --- */

static enum seen_code check_hash(struct crawl_job *job,
                                 struct seen_span content,
                                 struct seen_span hash, struct seen_error *why)
{
    unsigned char sum[EVP_MAX_MD_SIZE];

    if (!digest(sum, content.text, content.len))
        return no_memory_for(why, "a job");
    hex_write(job->hash, sum, DIGEST);
    return span_is(hash, job->hash)
               ? SEEN_OK
               : seen_fail(why, SEEN_CORRUPT, 0,
                           "hash: does not fit the template");
}

static enum seen_code read_template(struct crawl_job *job, const json_t *root,
                                    struct seen_error *why)
{
    struct seen_span content, hash;
    struct seen_error detail = { .code = SEEN_OK };
    enum seen_code code = read_text(root, "template", &content, why);

    if (code == SEEN_OK)
        code = read_text(root, "hash", &hash, why);
    if (code != SEEN_OK)
        return code;
    if (!json_object_get(root, "template"))
        return hash.len ? seen_fail(why, SEEN_CORRUPT, 0,
                                    "hash: there is no template")
                        : SEEN_OK;
    code = check_hash(job, content, hash, why);
    if (code != SEEN_OK)
        return code;
    code = crawl_template_new(&job->template, content.text, content.len, NULL,
                              NULL, &detail);
    if (code == SEEN_OK || code == SEEN_NOMEM)
        return code == SEEN_OK ? SEEN_OK : no_memory_for(why, "a job");
    return detail.at
               ? seen_fail(why, code, detail.at, "template: line %llu: %.120s",
                           (unsigned long long)detail.at, detail.text)
               : seen_fail(why, code, 0, "template: %.140s", detail.text);
}

/* --- settings --- */

static const struct option *find_option(const struct option *table,
                                        const char *name)
{
    for (; table->name; table++)
        if (!strcmp(table->name, name))
            return table;
    return NULL;
}

/* More would stop a worker for long, or take its memory. */
static uint64_t most_of(const struct option *o)
{
    static const struct {
        const char *name;
        uint64_t most;
    } bound[] = {
        { "max-size", UINT64_C(1) << 30 },
        { "timeout", 86400 },
        { "pause", 86400 },
        { "retries", 100 },
        { "per-address", 100 },
        { "max-depth", 1000000 },
    };

    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++)
        if (!strcmp(bound[i].name, o->name))
            return bound[i].most;
    return o->takes == DURATION || o->takes == DURATION_OR_NONE ? TEN_YEARS
                                                                : MANY;
}

/* scope.c compiles what it is given; the bounds of patterns in templates hold
   for those of jobs, too. */
static enum seen_code check_pattern(const struct option *o, const char *text,
                                    struct seen_error *why)
{
    struct crawl_patterns patterns = { .text = NULL };
    const char *sign = NULL;
    struct seen_error detail;
    enum seen_code code;
    char *pattern, *end;
    long long bonus;

    if (!strcmp(o->name, "prefer")) {
        sign = strrchr(text, '=');
        bonus = sign ? strtoll(sign + 1, &end, 10) : 0;
        if (!sign || end == sign + 1 || *end || bonus < -BONUS ||
            bonus > BONUS)
            return seen_fail(why, SEEN_RANGE, 0,
                             "settings.prefer: expected REGEX=N, with N from "
                             "%d to %d",
                             -BONUS, BONUS);
    } else if (strcmp(o->name, "include") && strcmp(o->name, "exclude")) {
        return SEEN_OK;
    }
    pattern = sign ? strndup(text, (size_t)(sign - text)) : strdup(text);
    if (!pattern)
        return no_memory_for(why, "a job");
    code = crawl_patterns_add(&patterns, pattern, false, &detail);
    if (code != SEEN_OK)
        seen_fail(why, code, 0, "settings.%s: %.100s", o->name, detail.text);
    crawl_patterns_clear(&patterns);
    free(pattern);
    return code;
}

static enum seen_code store_text(struct crawl_settings *s,
                                 const struct option *o, const json_t *value,
                                 struct seen_error *why)
{
    char wrong[OPTION_WRONG];
    enum seen_code code;

    if (!json_is_string(value))
        return seen_fail(why, SEEN_CORRUPT, 0, "settings.%s: expected a text",
                         o->name);
    if (!json_string_length(value) || json_string_length(value) > SETTING_TEXT)
        return seen_fail(why, SEEN_RANGE, 0,
                         "settings.%s: a text has 1 to %d bytes", o->name,
                         SETTING_TEXT);
    code = check_pattern(o, json_string_value(value), why);
    if (code == SEEN_OK &&
        !option_store(o, s, json_string_value(value), wrong))
        code = seen_fail(why, SEEN_RANGE, 0, "settings: %.140s", wrong);
    return code;
}

static enum seen_code store_number(struct crawl_settings *s,
                                   const struct option *o, const json_t *value,
                                   struct seen_error *why)
{
    const bool none = o->takes == COUNT_OR_NONE ||
                      o->takes == DURATION_OR_NONE;
    json_int_t n = json_integer_value(value);

    if (!json_is_integer(value))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "settings.%s: expected a whole number", o->name);
    if (n < !none || (uint64_t)n > most_of(o))
        return seen_fail(why, SEEN_RANGE, 0,
                         "settings.%s: expected a number from %d to %llu",
                         o->name, !none, (unsigned long long)most_of(o));
    *(uint64_t *)((char *)s + o->at) = (uint64_t)n + none;
    return SEEN_OK;
}

static enum seen_code store_value(struct crawl_settings *s,
                                  const struct option *o, const json_t *value,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    switch (o->takes) {
    case FLAG:
        if (!json_is_boolean(value))
            return seen_fail(why, SEEN_CORRUPT, 0,
                             "settings.%s: expected true or false", o->name);
        *(bool *)((char *)s + o->at) = json_is_true(value);
        return SEEN_OK;
    case TEXT: return store_text(s, o, value, why);
    case TEXTS:
        if (!json_is_array(value))
            return seen_fail(why, SEEN_CORRUPT, 0,
                             "settings.%s: expected a list of texts", o->name);
        for (size_t i = 0; code == SEEN_OK && i < json_array_size(value); i++)
            code = store_text(s, o, json_array_get(value, i), why);
        return code;
    default: return store_number(s, o, value, why);
    }
}

static enum seen_code read_settings(struct crawl_settings *s,
                                    const json_t *root, struct seen_error *why)
{
    json_t *settings = json_object_get(root, "settings"), *value;
    enum seen_code code = SEEN_OK;
    const char *name;

    if (!settings)
        return SEEN_OK;
    if (!json_is_object(settings))
        return seen_fail(why, SEEN_CORRUPT, 0, "settings: expected an object");
    json_object_foreach(settings, name, value)
    {
        const struct option *o = find_option(job_options, name);

        if (!o)
            return seen_fail(why, SEEN_RANGE, 0, "settings.%s: %s",
                             shown(name),
                             find_option(crawl_options, name)
                                 ? "only the worker decides that"
                                 : "there is no such setting");
        code = store_value(s, o, value, why);
        if (code != SEEN_OK)
            return code;
    }
    return SEEN_OK;
}

/* Without any of these every known page is due in every visit. */
static enum seen_code read_policy(struct crawl_job *job,
                                  struct seen_error *why)
{
    const struct crawl_settings *s = &job->settings;

    job->policy = s->policy || s->revisit_every || s->revisit_min ||
                  s->revisit_max;
    if (s->policy && strcmp(s->policy, "uniform") &&
        strcmp(s->policy, "proportional"))
        return seen_fail(why, SEEN_RANGE, 0,
                         "settings.policy: uniform or proportional; freshest "
                         "is for seen crawl");
    return SEEN_OK;
}

/* --- start URLs --- */

static enum seen_code check_host(struct seen_span host, struct seen_error *why)
{
    size_t label = 0;
    bool good = host.len && host.len <= HOST;

    if (host.len && *host.text == '[')
        return SEEN_OK; /* an address, or it would not be a URL */
    for (size_t i = 0; good && i < host.len; i++) {
        label = host.text[i] == '.' ? 0 : label + 1;
        good = label <= 63 && (label || (i && host.text[i - 1] != '.')) &&
               (is_word((unsigned char)host.text[i]) ||
                (host.text[i] && strchr("._-", host.text[i])));
    }
    return good ? SEEN_OK
                : seen_fail(why, SEEN_RANGE, 0,
                            "a host name has letters, digits, \"-\", \"_\" "
                            "and \".\", and at most %d bytes",
                            HOST);
}

/* "127.0.0.1:80": is it public, or allowed? A text that is not an address is
   neither. */
static bool is_allowed(const char *place, const struct fetch_places *allowed,
                       bool *address)
{
    const struct sockaddr *at;
    struct fetch_places one;

    *address = fetch_places_read(&one, place, NULL) == SEEN_OK &&
               one.count == 1;
    at = (const struct sockaddr *)&one.place[0];
    return *address && (fetch_public(at) || fetch_places_have(allowed, at));
}

/* `place` is host:port. localhost stands for both loopback addresses. */
static enum seen_code check_place(struct seen_span host, const char *place,
                                  const struct fetch_places *allowed,
                                  struct seen_error *why)
{
    const char *port = strrchr(place, ':');
    char loopback[2][32];
    bool address, good;

    if (span_is(host, "localhost") || span_ends(host, ".localhost")) {
        snprintf(loopback[0], 32, "127.0.0.1%s", port ? port : "");
        snprintf(loopback[1], 32, "[::1]%s", port ? port : "");
        good = is_allowed(loopback[0], allowed, &address) ||
               is_allowed(loopback[1], allowed, &address);
    } else {
        good = is_allowed(place, allowed, &address) || !address;
    }
    return good ? SEEN_OK
                : seen_fail(why, SEEN_RANGE, 0,
                            "%.60s is not a public address", place);
}

struct job_check {
    bool allow_private;
    struct fetch_places allowed;
    struct seen_span origin; /* the last one that was right */
    char room[HOST + 64];
};

static enum seen_code check_start(struct job_check *check,
                                  struct seen_span url, struct seen_error *why)
{
    struct seen_span origin = crawl_origin_of(url), host = crawl_host_of(url);
    struct fetch_target target;
    char text[sizeof check->room];
    enum seen_code code;

    if (span_equal(origin, check->origin))
        return SEEN_OK;
    if (!crawl_scope_is_web(url))
        return seen_fail(why, SEEN_RANGE, 0,
                         "a start URL begins with http:// or https://");
    if (memchr(origin.text, '@', origin.len))
        return seen_fail(why, SEEN_RANGE, 0,
                         "a URL with a user name or password is not fetched");
    code = check_host(host, why);
    if (code != SEEN_OK)
        return code;
    snprintf(text, sizeof text, "%.*s/", (int)origin.len, origin.text);
    code = fetch_target_init(&target, NULL, text, why);
    if (code != SEEN_OK)
        return code;
    if (!check->allow_private)
        code = check_place(host, target.host, &check->allowed, why);
    fetch_target_clear(&target);
    if (code == SEEN_OK && origin.len < sizeof check->room) {
        memcpy(check->room, origin.text, origin.len);
        check->origin = (struct seen_span){ check->room, origin.len };
    }
    return code;
}

static enum seen_code read_start(struct crawl_job *job, json_t *root,
                                 struct seen_error *why)
{
    json_t *start = json_object_get(root, "start");

    if (start && !json_is_array(start))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "start: expected a list of texts");
    for (size_t i = 0; i < json_array_size(start); i++)
        if (!json_is_string(json_array_get(start, i)))
            return seen_fail(why, SEEN_CORRUPT, 0,
                             "start[%zu]: expected a "
                             "text",
                             i);
    if (!start && !job->template)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "start: a job without a template needs start URLs");
    job->kept->start = start;
    job->starts = start ? json_array_size(start)
                        : crawl_template_starts(job->template);
    if (!job->starts || job->starts > CRAWL_TEMPLATE_STARTS)
        return seen_fail(why, SEEN_RANGE, 0, "start: 1 to %d URLs",
                         CRAWL_TEMPLATE_STARTS);
    return SEEN_OK;
}

enum seen_code crawl_job_start(const struct crawl_job *job, uint64_t i,
                               char url[SEEN_KEY_TEXT], size_t *len,
                               struct seen_error *why)
{
    const json_t *text = json_array_get(job->kept->start, i);
    const char *canonical;
    enum seen_code code;

    if (!job->kept->start)
        return crawl_template_start(job->template, i, url, len, why);
    code = seen_url_whatwg(&canonical, len, url, json_string_value(text),
                           json_string_length(text), NULL, 0, why);
    if (code == SEEN_OK && canonical != url)
        memmove(url, canonical, *len);
    if (code == SEEN_OK && job->template)
        crawl_template_clean(job->template, url, len, url, *len);
    return code;
}

/* Check every start URL: ranges of a template may be part of the host. */
static enum seen_code check_starts(struct crawl_job *job,
                                   struct job_check *check,
                                   struct seen_error *why)
{
    char *url = malloc(SEEN_KEY_TEXT);
    enum seen_code code = url ? SEEN_OK : no_memory_for(why, "a job");
    struct seen_error detail;
    struct seen_span start;
    size_t len;

    for (uint64_t i = 0; code == SEEN_OK && i < job->starts; i++) {
        code = crawl_job_start(job, i, url, &len, &detail);
        start = (struct seen_span){ url, len };
        if (code == SEEN_OK)
            code = check_start(check, start, &detail);
        if (code == SEEN_OK)
            code = crawl_scope_start(job->scope, start, &detail);
        if (code != SEEN_OK && code != SEEN_NOMEM)
            code = SEEN_RANGE;
        if (code != SEEN_OK)
            seen_fail(why, code, i, "start[%llu]: %.120s",
                      (unsigned long long)i, detail.text);
    }
    free(url);
    return code;
}

/* --- read --- */

static enum seen_code load(json_t **root, struct seen_span message,
                           struct seen_error *why)
{
    json_error_t error;
    enum seen_code code;

    *root = NULL;
    if (message.len > CRAWL_JOB_MOST)
        return seen_fail(why, SEEN_CORRUPT, CRAWL_JOB_MOST,
                         "a job has at most %d bytes", CRAWL_JOB_MOST);
    code = json_tree_read(root, message, JSON_REJECT_DUPLICATES, &error, why);
    if (code == SEEN_NOMEM)
        return no_memory_for(why, "a job");
    if (code != SEEN_OK)
        return seen_fail(why, SEEN_CORRUPT,
                         error.position > 0 ? (uint64_t)error.position : 0,
                         "not a job: byte %d: %.120s", error.position,
                         error.text);
    return json_is_object(*root)
               ? SEEN_OK
               : seen_fail(why, SEEN_CORRUPT, 0, "not a job: not an object");
}

/* The job begins with zeros, and has the message. */
static enum seen_code fill(struct crawl_job *job,
                           const struct crawl_job_rules *rules,
                           struct seen_error *why)
{
    struct job_check check = { .allow_private = rules->allow_private };
    struct crawl_settings *s = &job->settings;
    json_t *root = job->kept->message;
    uint64_t shards = 1;
    enum seen_code code = fetch_places_read(&check.allowed, rules->allow, why);

    if (code == SEEN_OK)
        code = read_version(root, why);
    if (code == SEEN_OK)
        code = check_members(root, why);
    if (code == SEEN_OK)
        code = read_visit(job, root, why);
    if (code == SEEN_OK)
        code = read_terms(job, root, why);
    if (code == SEEN_OK)
        code = read_template(job, root, why);
    if (code == SEEN_OK)
        code = read_settings(s, root, why);
    if (code == SEEN_OK)
        code = read_policy(job, why);
    if (code == SEEN_OK)
        code = read_start(job, root, why);
    if (code == SEEN_OK && json_object_get(root, "shards"))
        code = read_number(root, "shards", 1, CRAWL_JOB_SHARDS_MOST, &shards,
                           why);
    job->shards = (unsigned)shards;
    if (code == SEEN_OK && job->template)
        code = crawl_template_fill_in(job->template, s, why);
    if (code == SEEN_OK)
        code = crawl_settings_complete(s, why);
    if (code == SEEN_OK)
        code = crawl_scope_new(&job->scope, s, why);
    if (code == SEEN_OK && s->strategy == CRAWL_TOPICAL)
        code = crawl_focus_new(&job->kept->focus, span_of(s->words), s->weight,
                               why);
    return code == SEEN_OK ? check_starts(job, &check, why) : code;
}

/* Texts of the message may be part of the reason. */
static void clean_reason(struct seen_error *why)
{
    size_t len = strlen(why->text), at = 0;

    while (at < len) {
        size_t n = utf8_read(why->text + at, len - at, NULL, NULL);

        if (n < 2 && (!n || (unsigned char)why->text[at] < ' ' ||
                      why->text[at] == 0x7f))
            why->text[at] = '?';
        at += n ? n : 1;
    }
}

enum seen_code crawl_job_read(struct crawl_job **out, struct seen_span message,
                              const struct crawl_job_rules *rules,
                              struct seen_error *why)
{
    static const struct crawl_job_rules strict = { .allow_private = false };
    struct crawl_job *job = calloc(1, sizeof *job);
    enum seen_code code = SEEN_OK;

    *out = NULL;
    if (job)
        job->kept = calloc(1, sizeof *job->kept);
    if (!job || !job->kept)
        code = no_memory_for(why, "a job");
    if (code == SEEN_OK)
        code = load(&job->kept->message, message, why);
    if (code == SEEN_OK)
        code = fill(job, rules ? rules : &strict, why);
    if (code != SEEN_OK) {
        crawl_job_free(job);
        if (why)
            clean_reason(why);
        return code;
    }
    job->shared = (struct crawl_shared){
        .settings = &job->settings,
        .scope = job->scope,
        .template = job->template,
        .focus = job->kept->focus,
        .visit = job->visit,
    };
    *out = job;
    return SEEN_OK;
}

void crawl_job_free(struct crawl_job *job)
{
    if (!job)
        return;
    crawl_scope_free(job->scope);
    crawl_template_free(job->template);
    if (job->kept) {
        crawl_focus_free(job->kept->focus);
        json_decref(job->kept->message);
    }
    free(job->kept);
    free(job);
}

/* --- write --- */

static enum seen_code write_template(struct buffer *to,
                                     struct seen_span content,
                                     struct seen_error *why)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    struct crawl_template *t;
    char hash[2 * DIGEST + 1];
    enum seen_code code;

    if (!content.len)
        return SEEN_OK;
    code = crawl_template_new(&t, content.text, content.len, NULL, NULL, why);
    if (code != SEEN_OK)
        return code;
    content = crawl_template_content(t);
    if (digest(sum, content.text, content.len)) {
        hex_write(hash, sum, DIGEST);
        buffer_format(to, ", \"hash\": \"%s\", \"template\": ", hash);
        buffer_json(to, content.text, content.len);
    } else {
        code = no_memory_for(why, "a job");
    }
    crawl_template_free(t);
    return code;
}

static enum seen_code write_start(struct buffer *to, const char *const *start,
                                  struct seen_error *why)
{
    const char *before = ", \"start\": [";

    for (; start && *start; start++) {
        buffer_text(to, before);
        if (!buffer_json(to, *start, strlen(*start)))
            return seen_fail(why, SEEN_RANGE, 0, "a start URL is not UTF-8");
        before = ", ";
    }
    if (*before == ',' && before[1] == ' ' && !before[2])
        buffer_byte(to, ']');
    return SEEN_OK;
}

static enum seen_code write_settings(struct buffer *to,
                                     const struct crawl_settings *s,
                                     struct seen_error *why)
{
    char *text;

    if (!s)
        return SEEN_OK;
    for (const struct option *o = crawl_options; o->name; o++)
        if (option_given(o, s) && !find_option(job_options, o->name))
            return seen_fail(why, SEEN_RANGE, 0,
                             "--%s: not a setting of a job; only the worker "
                             "decides that",
                             o->name);
    text = crawl_settings_write(s);
    if (!text)
        return seen_fail(why, SEEN_NOMEM, 0,
                         "the settings cannot be sent: no memory, or not "
                         "UTF-8");
    if (strcmp(text, "{}")) {
        buffer_text(to, ", \"settings\": ");
        buffer_text(to, text);
    }
    free(text);
    return SEEN_OK;
}

/* A worker that allows private addresses must be able to read it. */
static enum seen_code read_back(const struct buffer *message,
                                struct seen_error *why)
{
    const struct crawl_job_rules all = { .allow_private = true };
    struct crawl_job *job;
    enum seen_code code = crawl_job_read(
        &job, (struct seen_span){ message->bytes, message->len }, &all, why);

    if (code == SEEN_OK)
        crawl_job_free(job);
    return code == SEEN_OK || code == SEEN_NOMEM ? code : SEEN_RANGE;
}

enum seen_code crawl_job_write(struct buffer *to, char visit[128],
                               const struct crawl_job_facts *facts,
                               struct seen_error *why)
{
    struct buffer b = { .bytes = NULL };
    enum seen_code code = check_name(facts->name, why);

    if (code != SEEN_OK)
        return code;
    name_visit(visit, facts->name, facts->due);
    buffer_format(&b,
                  "{\"v\": %d, \"visit\": \"%s\", \"name\": \"%.*s\", "
                  "\"due\": %llu",
                  CRAWL_JOB_VERSION, visit, (int)facts->name.len,
                  facts->name.text, (unsigned long long)facts->due);
    code = write_template(&b, facts->template, why);
    if (code == SEEN_OK)
        code = write_start(&b, facts->start, why);
    if (code == SEEN_OK)
        code = write_settings(&b, facts->settings, why);
    buffer_format(&b, ", \"shards\": %u}", facts->shards ? facts->shards : 1);
    if (code == SEEN_OK)
        code = b.failed ? no_memory_for(why, "a job") : read_back(&b, why);
    if (code == SEEN_OK) {
        buffer_append(to, &b);
        if (to->failed)
            code = no_memory_for(why, "a job");
    }
    buffer_clear(&b);
    return code;
}
