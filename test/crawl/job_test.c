/* Jobs: what is written is read again, and everything else is refused with a
   reason. */
#include "crawl/job/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "lib/text/hex.h"
#include "lib/text/json.h"
#include "lib/text/utf8.h"
#include "test/wall.h"

#define DUE 1767225600

static const char template[] =
    "{\"name\": \"news\", \"start\": \"http://a.example/[1-3]\",\n"
    " \"domains\": [\"a.example\", \"b.example\"], \"interval\": \"6h\",\n"
    " \"politeness\": {\"delay\": \"1500ms\", \"per_address\": 2},\n"
    " \"limits\": {\"pages\": 70, \"depth\": 4, \"time\": \"1h\"},\n"
    " \"clean\": {\"strip\": \"utm_*\"}}";

static struct seen_span span(const char *text)
{
    return (struct seen_span){ text, strlen(text) };
}

/* The message, for the caller to free. */
static char *write_job(const struct crawl_job_facts *facts, char visit[128])
{
    struct buffer b = { .bytes = NULL };
    struct seen_error why = { .text = "" };

    if (crawl_job_write(&b, visit, facts, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    return buffer_take(&b);
}

static struct crawl_job *read_job(const char *message)
{
    struct seen_error why = { .text = "" };
    struct crawl_job *job;
    size_t len = strlen(message);

    if (crawl_job_read(&job, (struct seen_span){ walled(message, len), len },
                       NULL, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    return job;
}

static void start_is(const struct crawl_job *job, uint64_t i, const char *url)
{
    char text[SEEN_KEY_TEXT];
    size_t len;

    assert_int_equal(crawl_job_start(job, i, text, &len, NULL), SEEN_OK);
    assert_int_equal(len, strlen(url));
    assert_memory_equal(text, url, len);
}

/* --- what is right --- */

TEST(a_job_with_a_template_is_read_as_it_was_written)
{
    const struct crawl_job_facts facts = { .name = span("news"),
                                           .due = DUE,
                                           .template = span(template),
                                           .shards = 4 };
    char visit[128], *message = write_job(&facts, visit), reason[CRAWL_REASON];
    struct crawl_job *job = read_job(message);
    enum crawl_scope_out out;

    assert_string_equal(visit, "news@1767225600");
    assert_string_equal(job->visit, visit);
    assert_string_equal(job->name, "news");
    assert_int_equal(job->due, DUE);
    assert_int_equal(job->shards, 4);
    /* echo -n news@1767225600 | sha256sum */
    assert_true(job->seed == UINT64_C(0xa760d4262a468eac));
    assert_int_equal(job->starts, 3);
    start_is(job, 2, "http://a.example/3");
    assert_string_equal(crawl_template_name(job->template), "news");
    assert_int_equal(job->settings.pages, 70);
    assert_int_equal(job->settings.max_depth, 4);
    assert_int_equal(job->settings.time, 3600);
    assert_int_equal(job->settings.delay, 1500);
    assert_int_equal(job->settings.per_address, 2);
    assert_int_equal(job->settings.retries, 3);
    assert_true(crawl_scope_has(job->scope, span("http://b.example/x"), 1,
                                false, NULL, &out, reason));
    assert_false(crawl_scope_has(job->scope, span("http://c.example/x"), 1,
                                 false, NULL, &out, reason));
    assert_ptr_equal(job->shared.settings, &job->settings);
    assert_ptr_equal(job->shared.scope, job->scope);
    assert_ptr_equal(job->shared.template, job->template);
    assert_ptr_equal(job->shared.visit, job->visit);
    assert_int_equal(job->shared.visit_id, 0);
    crawl_job_free(job);
    free(message);
}

/* Two schedulers may have files that differ in white space. */
TEST(white_space_of_a_template_does_not_change_the_message)
{
    struct crawl_job_facts facts = {
        .name = span("a"),
        .due = DUE,
        .template = span(
            "{\"start\": [\"http://a.example/\"], \"name\": \"a\"}")
    };
    char visit[128], *one = write_job(&facts, visit), *two;

    facts.template = span("\n{ \"name\":\"a\",\"start\":\n"
                          "[\"http://a.example/\"] }");
    two = write_job(&facts, visit);
    assert_string_equal(one, two);
    free(two);
    facts.template = span("<template name=\"a\"><start>http://a.example/"
                          "</start></template>");
    two = write_job(&facts, visit);
    assert_string_equal(one, two);
    free(two);
    free(one);
}

TEST(a_job_without_a_template_has_start_urls)
{
    const char *start[] = { "HTTP://A.example:80/x#y", "https://b.example",
                            NULL };
    const struct crawl_job_facts facts = { .name = span("two"),
                                           .due = 0,
                                           .start = start };
    char visit[128], *message = write_job(&facts, visit);
    struct crawl_job *job = read_job(message);

    assert_string_equal(visit, "two@0");
    assert_string_equal(job->hash, "");
    assert_null(job->template);
    assert_int_equal(job->shards, 1);
    assert_int_equal(job->starts, 2);
    start_is(job, 0, "http://a.example/x");
    start_is(job, 1, "https://b.example/");
    assert_int_equal(job->settings.delay, -1);
    crawl_job_free(job);
    free(message);
}

TEST(start_urls_of_a_job_replace_those_of_its_template_and_are_cleaned)
{
    const char *start[] = { "http://a.example/x?utm_a=1&b=2", NULL };
    const struct crawl_job_facts facts = { .name = span("news"),
                                           .due = DUE,
                                           .template = span(template),
                                           .start = start };
    char visit[128], *message = write_job(&facts, visit);
    struct crawl_job *job = read_job(message);

    assert_int_equal(job->starts, 1);
    start_is(job, 0, "http://a.example/x?b=2");
    crawl_job_free(job);
    free(message);
}

TEST(settings_travel_and_win_over_the_template)
{
    struct crawl_settings s = {
        .domains = { 1, { "c.example" } },
        .include = { 2, { "/a", "/b{1,3}$" } },
        .priorities = { 1, { "x=y=3" } },
        .requisites = true,
        .depth_given = 9 + 1,
        .retries_given = 0 + 1,
        .pause_given = 0 + 1,
        .bytes = 123456789,
        .delay_text = "250ms",
        .order_word = "priority",
        .strategy_word = "focused",
        .words = "bloom \xc3\xa9t\xc3\xa9",
        .timeout = 30,
    };
    const struct crawl_job_facts facts = { .name = span("n"),
                                           .due = DUE,
                                           .template = span(template),
                                           .settings = &s };
    char visit[128], *message = write_job(&facts, visit);
    struct crawl_job *job = read_job(message);

    assert_int_equal(job->settings.max_depth, 9);
    assert_int_equal(job->settings.retries, 0);
    assert_int_equal(job->settings.pause, 0);
    assert_int_equal(job->settings.pages, 70);
    assert_int_equal(job->settings.bytes, 123456789);
    assert_int_equal(job->settings.delay, 250);
    assert_int_equal(job->settings.timeout, 30);
    assert_int_equal(job->settings.order, CRAWL_PRIORITY);
    assert_true(job->settings.requisites);
    assert_int_equal(job->settings.domains.n, 3);
    assert_string_equal(job->settings.domains.text[0], "c.example");
    assert_int_equal(job->settings.include.n, 2);
    assert_string_equal(job->settings.words, s.words);
    assert_non_null(job->shared.focus);
    crawl_job_free(job);
    free(message);
}

/* A worker knows the same visit by the same seed, on any machine. */
TEST(the_seed_follows_from_the_visit_alone)
{
    struct crawl_job_facts facts = { .name = span("a"),
                                     .due = 1,
                                     .template = span(template) };
    char visit[128], *message = write_job(&facts, visit), *other;
    struct crawl_job *a = read_job(message), *b;

    facts.shards = 7;
    facts.template = span("{\"start\": \"http://z.example/\"}");
    other = write_job(&facts, visit);
    b = read_job(other);
    assert_true(a->seed == b->seed);
    assert_string_not_equal(a->hash, b->hash);
    crawl_job_free(a);
    crawl_job_free(b);
    free(message);
    free(other);
}

/* --- what is not written --- */

TEST(wrong_facts_are_not_written)
{
    static const char *const starts[][2] = { { "http://a.example/", NULL },
                                             { "ftp://a.example/", NULL },
                                             { "a.example", NULL },
                                             { "http://\xff.example/",
                                               NULL } };
    struct crawl_settings into = { .into = "folder" };
    struct crawl_settings allow = { .allow = "127.0.0.1:80" };
    struct crawl_settings clock = { .clock = "2026-01-31T00:00:00Z" };
    struct crawl_settings list = { .list = "urls.txt" };
    struct crawl_settings words = { .words_file = "words.txt" };
    struct crawl_settings agent = { .agent = "x" };
    struct crawl_settings skip = { .skip = { 1, { "a.seen" } } };
    struct crawl_settings pattern = { .include = { 1, { "((" } } };
    struct crawl_settings delay = { .delay_text = "1x" };
    struct crawl_settings forever = { .strategy_word = "continuous" };
    const struct {
        struct crawl_job_facts facts;
        enum seen_code code;
        const char *text;
    } wrong[] = {
        { { .name = span(""), .start = starts[0] }, SEEN_RANGE, "name: " },
        { { .name = span("a b"), .start = starts[0] }, SEEN_RANGE, "name: " },
        { { .name = span(".a"), .start = starts[0] }, SEEN_RANGE, "name: " },
        { { .name = span("a@b"), .start = starts[0] }, SEEN_RANGE, "name: " },
        { { .name = { "a\0b", 3 }, .start = starts[0] },
          SEEN_RANGE,
          "name: " },
        { { .name = span("a"), .start = starts[1] },
          SEEN_RANGE,
          "start[0]: a start URL begins with http:// or https://" },
        { { .name = span("a"), .start = starts[2] },
          SEEN_RANGE,
          "start[0]: " },
        { { .name = span("a"), .start = starts[3] },
          SEEN_RANGE,
          "a start URL is not UTF-8" },
        { { .name = span("a") },
          SEEN_RANGE,
          "start: a job without a template needs start URLs" },
        { { .name = span("a"), .start = starts[0], .shards = 1025 },
          SEEN_RANGE,
          "shards: expected a number from 1 to 1024" },
        { { .name = span("a"), .start = starts[0], .due = UINT64_MAX },
          SEEN_RANGE,
          "" },
        { { .name = span("a"), .template = span("{}") },
          SEEN_CORRUPT,
          "start is missing" },
        { { .name = span("a"), .template = span("{") }, SEEN_CORRUPT, "" },
        { { .name = span("a"), .template = span("<template>") },
          SEEN_CORRUPT,
          "" },
        { { .name = span("a"), .start = starts[0], .settings = &into },
          SEEN_RANGE,
          "--into: not a setting of a job" },
        { { .name = span("a"), .start = starts[0], .settings = &allow },
          SEEN_RANGE,
          "--allow: not a setting of a job" },
        { { .name = span("a"), .start = starts[0], .settings = &clock },
          SEEN_RANGE,
          "--clock: not a setting of a job" },
        { { .name = span("a"), .start = starts[0], .settings = &list },
          SEEN_RANGE,
          "--input: not a setting of a job" },
        { { .name = span("a"), .start = starts[0], .settings = &words },
          SEEN_RANGE,
          "--words-file: not a setting of a job" },
        { { .name = span("a"), .start = starts[0], .settings = &agent },
          SEEN_RANGE,
          "--agent: not a setting of a job" },
        { { .name = span("a"), .start = starts[0], .settings = &skip },
          SEEN_RANGE,
          "--skip: not a setting of a job" },
        { { .name = span("a"), .start = starts[0], .settings = &pattern },
          SEEN_RANGE,
          "settings.include: " },
        { { .name = span("a"), .start = starts[0], .settings = &delay },
          SEEN_RANGE,
          "--delay 1x: a time of at most an hour" },
        { { .name = span("a"), .start = starts[0], .settings = &forever },
          SEEN_RANGE,
          "settings: --strategy: continuous is not one of" },
    };

    for (size_t i = 0; i < LENGTH(wrong); i++) {
        struct buffer b = { .bytes = NULL };
        struct seen_error why = { .text = "" };
        char visit[128];

        assert_int_equal(crawl_job_write(&b, visit, &wrong[i].facts, &why),
                         wrong[i].code);
        if (strncmp(why.text, wrong[i].text, strlen(wrong[i].text)))
            fail_msg("%zu: %s instead of %s", i, why.text, wrong[i].text);
        assert_int_equal(b.len, 0);
        buffer_clear(&b);
    }
}

/* --- what is not read --- */

static void refused(const char *message, size_t len,
                    const struct crawl_job_rules *rules, enum seen_code code,
                    const char *text)
{
    struct seen_error why = { .text = "" };
    struct crawl_job *job;
    enum seen_code found = crawl_job_read(
        &job, (struct seen_span){ walled(message, len), len }, rules, &why);

    if (found != code || strncmp(why.text, text, strlen(text)))
        fail_msg("%.200s: %s, \"%s\" instead of \"%s\"", message,
                 seen_code_name(found), why.text, text);
    assert_null(job);
    assert_int_equal(why.code, code);
    assert_true(strlen(why.text) > 5);
    assert_true(utf8_valid(why.text, strlen(why.text)));
    for (const char *p = why.text; *p; p++)
        assert_true((unsigned char)*p >= ' ' && *p != 0x7f);
}

#define HEAD "{\"v\": 1, \"visit\": \"a@5\", \"name\": \"a\", \"due\": 5"
#define START ", \"start\": [\"http://a.example/\"]"

TEST(messages_that_are_not_jobs_are_refused_with_the_reason)
{
    static const struct {
        const char *message;
        enum seen_code code;
        const char *text;
    } wrong[] = {
        { "", SEEN_CORRUPT, "not a job: " },
        { "null", SEEN_CORRUPT, "not a job: byte 4: " },
        { "[1]", SEEN_CORRUPT, "not a job: not an object" },
        { "{\"v\": 1,", SEEN_CORRUPT, "not a job: byte " },
        { HEAD START "}x", SEEN_CORRUPT, "not a job: byte " },
        { HEAD ", \"due\": 5" START "}", SEEN_CORRUPT,
          "not a job: byte 53: duplicate object key" },
        { HEAD ", \"start\": [\"http://a.example/\\u0000\"]}", SEEN_CORRUPT,
          "not a job: byte " },
        { HEAD ", \"start\": [\"http://a.example/\xff\"]}", SEEN_CORRUPT,
          "not a job: byte " },
        { "{\"v\": 99999999999999999999}", SEEN_CORRUPT, "not a job: byte " },
        { "{}", SEEN_CORRUPT, "v: is missing" },
        { "{\"v\": \"1\"}", SEEN_CORRUPT, "v: expected a whole number" },
        { "{\"v\": 1.0}", SEEN_CORRUPT, "v: expected a whole number" },
        { "{\"v\": 2, \"anything\": {}}", SEEN_MISMATCH,
          "a job of version 2; this program reads version 1" },
        { HEAD START ", \"Start\": []}", SEEN_CORRUPT,
          "Start: a job has no such member" },
        { HEAD START ", \"\\u001b[31m\": 1}", SEEN_CORRUPT,
          "a member: a job has no such member" },
        /* who it is */
        { "{\"v\": 1}", SEEN_RANGE, "name: " },
        { "{\"v\": 1, \"name\": 5}", SEEN_CORRUPT, "name: expected a text" },
        { "{\"v\": 1, \"name\": \"../a\"}", SEEN_RANGE, "name: up to 100" },
        { "{\"v\": 1, \"name\": \"\xc3\xa9\"}", SEEN_RANGE, "name: up to" },
        { "{\"v\": 1, \"name\": \"a\"}", SEEN_CORRUPT, "due: is missing" },
        { "{\"v\": 1, \"name\": \"a\", \"due\": \"5\"}", SEEN_CORRUPT,
          "due: expected a whole number" },
        { "{\"v\": 1, \"name\": \"a\", \"due\": -1}", SEEN_RANGE,
          "due: expected a number from 0 to 253402300799" },
        { "{\"v\": 1, \"name\": \"a\", \"due\": 253402300800}", SEEN_RANGE,
          "due: expected a number" },
        { "{\"v\": 1, \"name\": \"a\", \"due\": 5}", SEEN_CORRUPT,
          "visit: does not equal name@due" },
        { "{\"v\": 1, \"visit\": \"a@6\", \"name\": \"a\", \"due\": 5}",
          SEEN_CORRUPT, "visit: does not equal name@due" },
        { "{\"v\": 1, \"visit\": 5, \"name\": \"a\", \"due\": 5}",
          SEEN_CORRUPT, "visit: expected a text" },
        /* the template */
        { HEAD "}", SEEN_CORRUPT,
          "start: a job without a template needs start URLs" },
        { HEAD ", \"template\": {}}", SEEN_CORRUPT,
          "template: expected a text" },
        { HEAD ", \"template\": \"{}\", \"hash\": 1}", SEEN_CORRUPT,
          "hash: expected a text" },
        { HEAD ", \"template\": \"{}\"}", SEEN_CORRUPT,
          "hash: does not fit the template" },
        { HEAD START ", \"hash\": \"00\"}", SEEN_CORRUPT,
          "hash: there is no template" },
        /* start URLs */
        { HEAD ", \"start\": \"http://a.example/\"}", SEEN_CORRUPT,
          "start: expected a list" },
        { HEAD ", \"start\": []}", SEEN_RANGE, "start: 1 to 1000000 URLs" },
        { HEAD ", \"start\": [\"http://a.example/\", 5]}", SEEN_CORRUPT,
          "start[1]: expected a text" },
        /* settings, shards */
        { HEAD START ", \"settings\": []}", SEEN_CORRUPT,
          "settings: expected an object" },
        { HEAD START ", \"shards\": 0}", SEEN_RANGE, "shards: expected" },
        { HEAD START ", \"shards\": 1025}", SEEN_RANGE, "shards: expected" },
        { HEAD START ", \"shards\": true}", SEEN_CORRUPT,
          "shards: expected a whole number" },
    };

    for (size_t i = 0; i < LENGTH(wrong); i++)
        refused(wrong[i].message, strlen(wrong[i].message), NULL,
                wrong[i].code, wrong[i].text);
}

TEST(a_message_that_is_cut_anywhere_is_refused)
{
    const struct crawl_job_facts facts = { .name = span("news"),
                                           .due = DUE,
                                           .template = span(template) };
    char visit[128], *message = write_job(&facts, visit);

    for (size_t i = 0; i < strlen(message); i++)
        refused(message, i, NULL, SEEN_CORRUPT, "not a job: ");
    free(message);
}

TEST(deep_nesting_and_long_messages_are_refused)
{
    enum { DEPTH = 100000 };
    struct buffer b = { .bytes = NULL };
    struct crawl_job *job;
    struct seen_error why;
    char *zeros;

    buffer_text(&b, HEAD ", \"settings\": ");
    for (int i = 0; i < DEPTH; i++)
        buffer_text(&b, "[");
    refused(b.bytes, b.len, NULL, SEEN_CORRUPT, "not a job: byte ");
    buffer_clear(&b);
    zeros = calloc(1, CRAWL_JOB_MOST + 1);
    assert_non_null(zeros);
    assert_int_equal(
        crawl_job_read(&job, (struct seen_span){ zeros, CRAWL_JOB_MOST + 1 },
                       NULL, &why),
        SEEN_CORRUPT);
    assert_string_equal(why.text, "a job has at most 16777216 bytes");
    free(zeros);
}

/* HEAD, and a template with the hash that fits it. */
static char *with_template(const char *text)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    struct buffer b = { .bytes = NULL };
    char hash[65];
    unsigned n;

    assert_true(EVP_Digest(text, strlen(text), sum, &n, EVP_sha256(), NULL));
    hex_write(hash, sum, 32);
    buffer_format(&b, HEAD ", \"hash\": \"%s\", \"template\": ", hash);
    buffer_json(&b, text, strlen(text));
    buffer_text(&b, "}");
    return buffer_take(&b);
}

TEST(templates_that_are_not_valid_are_refused_with_their_line)
{
    static const struct {
        const char *template, *text;
        enum seen_code code;
    } wrong[] = {
        { "", "template: ", SEEN_CORRUPT },
        { "{}", "template: line 1: start is missing", SEEN_CORRUPT },
        { "{\n\"start\": \"http://a.example/\",\n\"dney\": 1}",
          "template: line 3: dney: no such member", SEEN_CORRUPT },
        { "{\"start\": \"file:///etc/passwd\"}",
          "template: line 1: start: ", SEEN_CORRUPT },
        { "<template>\n<start>x</start>", "template: line ", SEEN_CORRUPT },
        { "<!DOCTYPE t [<!ENTITY a \"b\">]><template>&a;</template>",
          "template: line ", SEEN_CORRUPT },
        { "{\"start\": \"http://10.0.0.[1-3]/\"}",
          "start[0]: 10.0.0.1:80 is not a public address", SEEN_RANGE },
        { "{\"start\": \"http://8.8.8.8/\", \"start\": \"http://a.b/\"}",
          "template: line 1: duplicate", SEEN_CORRUPT },
        /* the address is not that of the first URL of the range */
        { "{\"start\": \"http://9.255.255.255:[80-81]/\","
          " \"domains\": \"a.example\"}",
          "", SEEN_OK },
        { "{\"start\": \"http://[9-10].255.255.255/\"}",
          "start[1]: 10.255.255.255:80 is not a public address", SEEN_RANGE },
    };

    for (size_t i = 0; i < LENGTH(wrong); i++) {
        char *message = with_template(wrong[i].template);

        if (wrong[i].code == SEEN_OK)
            crawl_job_free(read_job(message));
        else
            refused(message, strlen(message), NULL, wrong[i].code,
                    wrong[i].text);
        free(message);
    }
}

TEST(a_template_with_more_domains_than_a_scope_has_is_refused)
{
    struct buffer b = { .bytes = NULL };
    char *message;

    buffer_text(&b, "{\"start\": \"http://a.example/\", \"domains\": [");
    for (int i = 0; i < 257; i++)
        buffer_format(&b, "%s\"d%d.example\"", i ? "," : "", i);
    buffer_text(&b, "]}");
    buffer_byte(&b, '\0');
    assert_false(b.failed);
    message = with_template(b.bytes);
    refused(message, strlen(message), NULL, SEEN_RANGE,
            "the template has too many domains: at most 256");
    free(message);
    buffer_clear(&b);
}

TEST(a_template_that_is_xml_is_read_too)
{
    char *message = with_template("<template name=\"x\"><start>"
                                  "http://a.example/</start></template>");
    struct crawl_job *job = read_job(message);

    start_is(job, 0, "http://a.example/");
    crawl_job_free(job);
    free(message);
}

static char *with_setting(const char *setting)
{
    char *message;

    assert_true(
        asprintf(&message, HEAD START ", \"settings\": {%s}}", setting) > 0);
    return message;
}

TEST(settings_that_are_not_of_a_job_or_not_right_are_refused)
{
    static const struct {
        const char *setting;
        enum seen_code code;
        const char *text;
    } wrong[] = {
        { "\"into\": \"/tmp/x\"", SEEN_RANGE,
          "settings.into: only the worker decides that" },
        { "\"allow\": \"127.0.0.1:80\"", SEEN_RANGE,
          "settings.allow: only the worker" },
        { "\"allow-private\": true", SEEN_RANGE,
          "settings.allow-private: only the worker" },
        { "\"clock\": \"2026-01-31T00:00:00Z\"", SEEN_RANGE,
          "settings.clock: only the worker" },
        { "\"words-file\": \"/etc/passwd\"", SEEN_RANGE,
          "settings.words-file: only the worker" },
        { "\"template\": \"/etc/passwd\"", SEEN_RANGE,
          "settings.template: only the worker" },
        { "\"skip\": [\"/etc/passwd\"]", SEEN_RANGE,
          "settings.skip: only the worker" },
        { "\"agent\": \"x\"", SEEN_RANGE, "settings.agent: only the worker" },
        { "\"ca\": \"x\"", SEEN_RANGE, "settings.ca: only the worker" },
        { "\"seed\": 1", SEEN_RANGE, "settings.seed: only the worker" },
        { "\"nonsense\": 1", SEEN_RANGE,
          "settings.nonsense: there is no such setting" },
        { "\"pages\": \"10\"", SEEN_CORRUPT,
          "settings.pages: expected a whole number" },
        { "\"pages\": 0", SEEN_RANGE, "settings.pages: expected a number" },
        { "\"pages\": -5", SEEN_RANGE, "settings.pages: expected a number" },
        { "\"pages\": 1.5", SEEN_CORRUPT,
          "settings.pages: expected a whole number" },
        { "\"pages\": 9223372036854775807", SEEN_RANGE,
          "settings.pages: expected a number from 1 to 1000000000000000" },
        { "\"time\": 9223372036854775807", SEEN_RANGE,
          "settings.time: expected a number from 1 to" },
        { "\"max-size\": 1073741825", SEEN_RANGE,
          "settings.max-size: expected a number from 1 to 1073741824" },
        { "\"retries\": 101", SEEN_RANGE, "settings.retries: expected" },
        { "\"retries\": -1", SEEN_RANGE,
          "settings.retries: expected a number from 0 to 100" },
        { "\"everywhere\": 1", SEEN_CORRUPT,
          "settings.everywhere: expected true or false" },
        { "\"domain\": \"a.example\"", SEEN_CORRUPT,
          "settings.domain: expected a list of texts" },
        { "\"domain\": [1]", SEEN_CORRUPT,
          "settings.domain: expected a text" },
        { "\"domain\": [\"\"]", SEEN_RANGE,
          "settings.domain: a text has 1 to 8192 bytes" },
        { "\"domain\": [\"com\"]", SEEN_RANGE, "--domain com: " },
        { "\"delay\": 1", SEEN_CORRUPT, "settings.delay: expected a text" },
        { "\"delay\": \"-1\"", SEEN_RANGE, "--delay -1: a time" },
        { "\"delay\": \"1e999\"", SEEN_RANGE, "--delay 1e999: a time" },
        { "\"delay\": \"\\u001b[2J\"", SEEN_RANGE, "--delay ?[2J: a time" },
        { "\"order\": \"random\"", SEEN_RANGE,
          "settings: --order: random is not one of the choices" },
        { "\"strategy\": \"continuous\"", SEEN_RANGE,
          "settings: --strategy: continuous is not one of" },
        { "\"strategy\": \"focused\"", SEEN_RANGE,
          "--strategy topical needs --words" },
        { "\"include\": [\"(a\"]", SEEN_RANGE, "settings.include: " },
        { "\"exclude\": [\"((a{1,255}){1,255}){1,255}\"]", SEEN_RANGE,
          "settings.exclude: the pattern repeats too much" },
        { "\"prefer\": [\"((a{1,255}){1,255}){1,255}=1\"]", SEEN_RANGE,
          "settings.prefer: the pattern repeats too much" },
        { "\"prefer\": [\"a=9223372036854775807\"]", SEEN_RANGE,
          "settings.prefer: expected REGEX=N" },
        { "\"prefer\": [\"a\"]", SEEN_RANGE,
          "settings.prefer: expected REGEX=N" },
    };

    for (size_t i = 0; i < LENGTH(wrong); i++) {
        char *message = with_setting(wrong[i].setting);

        refused(message, strlen(message), NULL, wrong[i].code, wrong[i].text);
        free(message);
    }
}

static char *with_start(const char *url)
{
    char *message;

    assert_true(asprintf(&message, HEAD ", \"start\": [\"%s\"]}", url) > 0);
    return message;
}

#define NOT_PUBLIC " is not a public address"

TEST(start_urls_elsewhere_than_on_the_public_web_are_refused)
{
    static const struct {
        const char *url, *text;
    } wrong[] = {
        { "", "start[0]: " },
        { "a.example", "start[0]: " },
        { "/etc/passwd", "start[0]: " },
        { "file:///etc/passwd", "start[0]: a start URL begins with http" },
        { "ftp://a.example/", "start[0]: a start URL begins with http" },
        { "javascript:alert(1)", "start[0]: a start URL begins with http" },
        { "data:text/html,x", "start[0]: a start URL begins with http" },
        { "http://user@a.example/", "start[0]: a URL with a user name" },
        { "http://user:pass@a.example/", "start[0]: a URL with a user name" },
        { "http://a.example:25/", "start[0]: port 25 belongs to another" },
        { "http://a.example:0/", "start[0]: port 0 belongs to another" },
        { "http://a.example:99999/", "start[0]: " },
        { "http://a..example/", "start[0]: a host name has" },
        { "http://.example/", "start[0]: a host name has" },
        { "http://a'b.example/", "start[0]: a host name has" },
        { "http://a$b.example/", "start[0]: a host name has" },
        { "http://%00.example/", "start[0]: " },
        { "http://localhost/", "start[0]: localhost:80" NOT_PUBLIC },
        { "http://LOCALHOST:8080/", "start[0]: localhost:8080" NOT_PUBLIC },
        { "http://localhost./", "start[0]: localhost.:80" NOT_PUBLIC },
        { "http://a.localhost/", "start[0]: a.localhost:80" NOT_PUBLIC },
        { "https://127.0.0.1/", "start[0]: 127.0.0.1:443" NOT_PUBLIC },
        { "http://127.1/", "start[0]: 127.0.0.1:80" NOT_PUBLIC },
        { "http://0x7f.1/", "start[0]: 127.0.0.1:80" NOT_PUBLIC },
        { "http://2130706433/", "start[0]: 127.0.0.1:80" NOT_PUBLIC },
        { "http://0/", "start[0]: 0.0.0.0:80" NOT_PUBLIC },
        { "http://10.1.2.3/", "start[0]: 10.1.2.3:80" NOT_PUBLIC },
        { "http://172.16.0.1/", "start[0]: 172.16.0.1:80" NOT_PUBLIC },
        { "http://192.168.0.1/", "start[0]: 192.168.0.1:80" NOT_PUBLIC },
        { "http://169.254.169.254/latest/",
          "start[0]: 169.254.169.254:80" NOT_PUBLIC },
        { "http://[::1]/", "start[0]: [::1]:80" NOT_PUBLIC },
        { "http://[::]/", "start[0]: [::]:80" NOT_PUBLIC },
        { "http://[fe80::1]/", "start[0]: [fe80::1]:80" NOT_PUBLIC },
        { "http://[fc00::1]/", "start[0]: [fc00::1]:80" NOT_PUBLIC },
        { "http://[::ffff:127.0.0.1]/",
          "start[0]: [::ffff:7f00:1]:80" NOT_PUBLIC },
    };
    char name[400], *message;

    for (size_t i = 0; i < LENGTH(wrong); i++) {
        message = with_start(wrong[i].url);
        refused(message, strlen(message), NULL, SEEN_RANGE, wrong[i].text);
        free(message);
    }
    memset(name, 'a', sizeof name);
    memcpy(name, "http://", 7);
    memcpy(name + 7 + 64, ".example/", 10);
    message = with_start(name);
    refused(message, strlen(message), NULL, SEEN_RANGE,
            "start[0]: a host name has");
    free(message);
}

TEST(a_worker_may_allow_private_addresses)
{
    const struct crawl_job_rules all = { .allow_private = true };
    const struct crawl_job_rules some = { .allow = "127.0.0.1:8080,"
                                                   "[::1]:90" };
    static const struct {
        const char *url;
        bool some;
    } known[] = {
        { "http://127.0.0.1:8080/", true },
        { "http://127.0.0.1:8081/", false },
        { "http://localhost:8080/", true },
        { "http://localhost:90/", true },
        { "http://[::1]:90/", true },
        { "http://[::1]:8080/", false },
        { "http://10.0.0.1/", false },
        { "http://a.example:8080/", true },
        { "http://8.8.8.8/", true },
    };

    for (size_t i = 0; i < LENGTH(known); i++) {
        char *message = with_start(known[i].url);
        struct crawl_job *job;

        assert_int_equal(crawl_job_read(&job, span(message), &all, NULL),
                         SEEN_OK);
        crawl_job_free(job);
        assert_int_equal(crawl_job_read(&job, span(message), &some, NULL),
                         known[i].some ? SEEN_OK : SEEN_RANGE);
        crawl_job_free(job);
        free(message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_with_a_template_is_read_as_it_was_written),
        cmocka_unit_test(
            white_space_of_a_template_does_not_change_the_message),
        cmocka_unit_test(a_job_without_a_template_has_start_urls),
        cmocka_unit_test(
            start_urls_of_a_job_replace_those_of_its_template_and_are_cleaned),
        cmocka_unit_test(settings_travel_and_win_over_the_template),
        cmocka_unit_test(the_seed_follows_from_the_visit_alone),
        cmocka_unit_test(wrong_facts_are_not_written),
        cmocka_unit_test(
            messages_that_are_not_jobs_are_refused_with_the_reason),
        cmocka_unit_test(a_message_that_is_cut_anywhere_is_refused),
        cmocka_unit_test(deep_nesting_and_long_messages_are_refused),
        cmocka_unit_test(
            templates_that_are_not_valid_are_refused_with_their_line),
        cmocka_unit_test(
            a_template_with_more_domains_than_a_scope_has_is_refused),
        cmocka_unit_test(a_template_that_is_xml_is_read_too),
        cmocka_unit_test(
            settings_that_are_not_of_a_job_or_not_right_are_refused),
        cmocka_unit_test(
            start_urls_elsewhere_than_on_the_public_web_are_refused),
        cmocka_unit_test(a_worker_may_allow_private_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
