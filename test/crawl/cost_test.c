/* cost_test.c - what a page may cost its reader, and what is kept of one that
   costs more. All in counted steps: lib/text/budget.h. */
#include "crawl/engine/reader.h"

#include <stdlib.h>
#include <string.h>

#include "crawl/engine/host.h"
#include "crawl/page/listing.h"
#include "lib/text/span.h"
#include "test/test.h"

/* A fiftieth of what a crawl allows: the same, and faster. */
enum { MB = 1 << 20, STEPS = 20000000 };

/* A reader with all that it shares. */
struct reading {
    struct crawl_settings settings;
    struct crawl_scope *scope;
    struct crawl_template *template;
    struct crawl_shared shared;
    struct crawl_reader *worker;
    atomic_bool stop;
};

static void begin_excluding(struct reading *r, const char *template,
                            const char *exclude)
{
    static char everywhere[] = "test";
    struct seen_error why;

    memset(r, 0, sizeof *r);
    r->settings.everywhere = true;
    r->settings.max_size = 512ULL * MB;
    r->settings.max_depth = 50;
    r->settings.retries = 3;
    if (exclude)
        r->settings.exclude = (struct texts){ 1, { exclude } };
    assert_int_equal(crawl_scope_new(&r->scope, &r->settings, &why), SEEN_OK);
    if (template)
        assert_int_equal(crawl_template_new(&r->template, template,
                                            strlen(template), NULL, NULL,
                                            &why),
                         SEEN_OK);
    r->shared = (struct crawl_shared){ .settings = &r->settings,
                                       .scope = r->scope,
                                       .template = r->template,
                                       .folder = "",
                                       .visit = everywhere,
                                       .visit_id = 1 };
    assert_int_equal(crawl_reader_new(&r->worker, &r->stop, &why), SEEN_OK);
    crawl_reader_limit(r->worker, STEPS, STEPS);
}

static void begin(struct reading *r, const char *template)
{
    begin_excluding(r, template, NULL);
}

static void end(struct reading *r)
{
    crawl_reader_free(r->worker);
    crawl_template_free(r->template);
    crawl_scope_free(r->scope);
}

/* An answer with this head and body. */
static struct crawl_page *answer(const struct reading *r, const char *head,
                                 const char *body, size_t len)
{
    const struct frontier_page row = { .id = 1,
                                       .url = span_of("http://a.example/"),
                                       .path = { "", 0 },
                                       .type = { "", 0 } };
    struct crawl_page *page = crawl_page_new(&row);

    assert_non_null(page);
    page->shared = &r->shared;
    page->status = 200;
    page->started = 1700000000000;
    buffer_text(&page->head, head);
    buffer_bytes(&page->raw, body, len);
    return page;
}

static const char html[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
static const char rss[] =
    "HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\n\r\n";

/* All that a visit is to remember of a page. */
static void record_of(struct buffer *to, const struct crawl_page *page)
{
    buffer_format(to, "%d %zu %s %llu\n", (int)page->outcome, page->links,
                  page->costly, (unsigned long long)page->steps);
    buffer_append(to, &page->texts);
    buffer_append(to, &page->record);
    buffer_append(to, &page->body);
    buffer_append(to, &page->packed.bytes);
}

static void repeat(struct buffer *to, const char *text, size_t len)
{
    size_t n = strlen(text);

    while (to->len + n <= len)
        buffer_bytes(to, text, n);
}

/* Two workers read the page; returns it as the second left it. */
static struct crawl_page *read_twice(struct reading *r, const char *head,
                                     const struct buffer *body)
{
    struct buffer record[2] = { { .bytes = NULL } };
    struct crawl_page *page = NULL;
    struct crawl_reader *first = r->worker;
    struct seen_error why;

    for (int i = 0; i < 2; i++) {
        crawl_page_free(page);
        page = answer(r, head, body->bytes, body->len);
        assert_int_equal(crawl_read(r->worker, page, &why), SEEN_OK);
        /* It is packed whatever it has cost. */
        assert_true(page->steps - 5 * page->raw.len <= STEPS);
        assert_true(page->packed.bytes.len > 0); /* stored as always */
        record_of(&record[i], page);
        if (i)
            continue;
        assert_int_equal(crawl_reader_new(&r->worker, &r->stop, &why),
                         SEEN_OK);
        crawl_reader_limit(r->worker, STEPS, STEPS);
    }
    crawl_reader_free(first);
    assert_int_equal(record[0].len, record[1].len);
    assert_memory_equal(record[0].bytes, record[1].bytes, record[0].len);
    buffer_clear(&record[0]);
    buffer_clear(&record[1]);
    return page;
}

static const char fields[] =
    "{\"name\": \"t\", \"start\": [\"http://a.example/\"], \"pages\": {"
    "\"default\": {\"fields\": {"
    "\"a\": {\"css\": \"div div div div:not(:nth-child(3)) a\"},"
    "\"b\": {\"xpath\": \"//a[count(preceding::a) mod 2 = 1]\"},"
    "\"c\": {\"css\": \"a:contains('x')::text\", \"many\": true}}}}}";

/* --- the total --- */

static void long_base(struct buffer *to)
{
    buffer_text(to, "<base href='/");
    repeat(to, "b/", 8000);
    buffer_text(to, "'>");
    repeat(to, "<a href=../x>", MB);
}

static void attributes(struct buffer *to)
{
    buffer_text(to, "<p");
    for (int i = 0; i < 10000; i++)
        buffer_format(to, " a%d=1", i);
    buffer_text(to, ">");
    repeat(to, "<a href=/y>x</a>", MB);
}

static void nested(struct buffer *to)
{
    repeat(to, "<div>", 5 * 250);
    repeat(to, "<a href=/y>x</a></z>", 4 * MB);
}

static void references(struct buffer *to)
{
    repeat(to, "<a href='&zzzzzz&zzzzzz&zzzzzz'>x</a>", 4 * MB);
}

static void ids(struct buffer *to)
{
    for (int i = 0; to->len < 2 * MB; i++)
        buffer_format(to, "<a id=%d href=/%d>x</a>", i, i);
}

/* Each element is looked up among 6,000 declarations of name spaces. */
static void name_spaces(struct buffer *to)
{
    buffer_text(to, "<rss xmlns:p='q'>");
    for (int i = 0; i < 190; i++) {
        buffer_text(to, "<channel");
        for (int k = 0; k < 31; k++)
            buffer_format(to, " xmlns:a%d_%d='u'", i, k);
        buffer_text(to, ">");
    }
    repeat(to, "<p:a/>", 2 * MB);
}

static void long_list(struct buffer *to)
{
    buffer_text(to, "<rss><channel>");
    repeat(to, "<item><link>/x</link></item>", 8 * MB);
}

static const struct {
    void (*make)(struct buffer *to);
    const char *head, *template, *costly; /* or NULL: it is cheap enough */
} hostile[] = {
    { long_base, html, NULL, "some of its links are left out" },
    { attributes, html, fields, "only a part of it" },
    { nested, html, fields, "only a part of it" },
    { references, html, NULL, "some of its links are left out" },
    { references, html, fields, "only a part of it" },
    { ids, html, fields, "only a part of it" },
    { name_spaces, rss, NULL, "some of its entries are left out" },
    { long_list, rss, NULL, "some of its entries are left out" },
};

TEST(no_page_costs_more_than_its_budget_and_all_are_stored)
{
    for (size_t i = 0; i < LENGTH(hostile); i++) {
        struct buffer body = { .bytes = NULL };
        struct crawl_page *page;
        struct reading r;

        begin(&r, hostile[i].template);
        hostile[i].make(&body);
        page = read_twice(&r, hostile[i].head, &body);
        assert_int_equal(page->outcome, CRAWL_STORED);
        if (!strstr(page->costly, hostile[i].costly))
            fail_msg("page %zu: \"%s\", not \"%s\"", i, page->costly,
                     hostile[i].costly);
        if (page->record.len)
            assert_non_null(memmem(page->record.bytes, page->record.len,
                                   hostile[i].costly,
                                   strlen(hostile[i].costly)));
        crawl_page_free(page);
        buffer_clear(&body);
        end(&r);
    }
}

TEST(selectors_share_the_budget_and_later_fields_are_empty)
{
    struct buffer body = { .bytes = NULL };
    struct crawl_page *page;
    struct reading r;

    begin(&r, fields);
    repeat(&body, "<div><a href=/y>x</a></div>", 27 * 4000);
    page = read_twice(&r, html, &body);
    assert_string_equal(page->costly,
                        "it costs too much: some of its fields are left out");
    assert_int_equal(page->links, 4000);
    assert_null(
        memmem(page->record.bytes, page->record.len, "\"c\": [\"x\"", 10));
    crawl_page_free(page);
    buffer_clear(&body);
    end(&r);
}

TEST(an_ordinary_page_is_read_as_a_whole_and_charged_nothing)
{
    struct buffer body = { .bytes = NULL };
    struct crawl_page *page;
    struct reading r;

    begin(&r, fields);
    for (int i = 0; i < 200; i++)
        buffer_format(&body,
                      "<div><p class=x id=n%d>Some words &amp; others.</p>"
                      "<a href=/%d>x</a></div>",
                      i, i);
    page = read_twice(&r, html, &body);
    assert_string_equal(page->costly, "");
    assert_int_equal(page->links, 200);
    assert_int_equal(crawl_delay_charge(3000, page->steps), 0);
    crawl_page_free(page);
    buffer_clear(&body);
    end(&r);
}

/* --- patterns --- */

static bool has_text(const struct buffer *b, const char *text)
{
    return memmem(b->bytes, b->len, text, strlen(text)) != NULL;
}

/* Each "a" is a match, and each is looked for to the end of the text. */
TEST(a_costly_pattern_takes_its_field_only)
{
    static const char searching[] =
        "{\"start\": [\"http://a.example/\"], \"pages\": {\"default\": "
        "{\"fields\": {\"a\": {\"css\": \"p\", \"regex\": \"a(.*b)?\", "
        "\"many\": true}, \"b\": {\"css\": \"p\", \"regex\": \"[0-9]+\"}, "
        "\"c\": {\"css\": \"h1\"}}}}}";
    struct buffer body = { .bytes = NULL };
    struct crawl_page *page;
    struct reading r;

    begin(&r, searching);
    buffer_text(&body, "<h1>one</h1><a href=/y>x</a><p>");
    repeat(&body, "a", 15000);
    buffer_text(&body, " 22</p>");
    page = read_twice(&r, html, &body);
    assert_string_equal(page->costly, "a not extracted: pattern too costly "
                                      "here: a(.*b)?");
    assert_true(has_text(&page->record,
                         "\"_costly\": \"a not extracted: pattern too "
                         "costly here: a(.*b)?\""));
    assert_true(has_text(&page->record, "\"b\": [\"22\"], \"c\": [\"one\"]"));
    assert_int_equal(page->links, 1);
    assert_true(page->steps < STEPS / 2);
    crawl_page_free(page);
    buffer_clear(&body);
    end(&r);
}

/* 16 s with regexec(), which reads such a link anew from each x. */
TEST(long_links_cost_in_proportion_to_their_length)
{
    struct buffer body = { .bytes = NULL };
    struct crawl_page *page;
    struct reading r;

    begin_excluding(&r, NULL, "a.*x.{0,60}y");
    for (int i = 0; i < 300; i++) {
        buffer_format(&body, "<a href='/%d?", i);
        repeat(&body, "ax", body.len + 2000);
        buffer_text(&body, "'>x</a>");
    }
    page = read_twice(&r, html, &body);
    assert_string_equal(page->costly, "");
    assert_int_equal(page->links, 300);
    assert_true(page->steps < 40 * body.len);
    crawl_page_free(page);
    buffer_clear(&body);
    end(&r);
}

/* Read backward, 1,900 of these groups begin at each byte. */
static const char chains[] =
    "q([ab]{1900}|[ab]{1901}|[ab]{1902}|[ab]{1903}|[ab]{1904})";

TEST(a_link_that_may_be_excluded_is_left_out_and_counted)
{
    struct buffer body = { .bytes = NULL };
    struct crawl_page *page;
    struct reading r;

    begin_excluding(&r, NULL, chains);
    buffer_text(&body, "<a href=/first>x</a><a href='/?");
    repeat(&body, "ab", body.len + 2000);
    buffer_text(&body, "'>x</a>");
    for (int i = 0; i < 9; i++) {
        buffer_format(&body, "<a href='/%d?", i);
        repeat(&body, "ab", body.len + 1900);
        buffer_text(&body, "'>x</a>");
    }
    page = read_twice(&r, html, &body);
    assert_string_equal(page->costly,
                        "a link is left out: not known: pattern too costly "
                        "here: --exclude q([ab]{1900}|[ab]{1901}|[ab]{1902}|"
                        "[ab]{1903}|[ab]{1904})");
    assert_int_equal(page->excluded[CRAWL_LEFT_COSTLY], 1);
    assert_int_equal(page->lefts, 1);
    assert_int_equal(page->left[0].reason, CRAWL_LEFT_COSTLY);
    assert_true(page->links >= 1 && page->links < 10);
    crawl_page_free(page);
    buffer_clear(&body);
    end(&r);
}

TEST(a_page_whose_type_is_not_known_has_no_fields)
{
    static const char types[] =
        "{\"start\": [\"http://a.example/\"], \"pages\": {\"t\": {\"url\": ["
        "%s\"nothing\"]}, \"default\": {\"fields\": {\"a\": {\"css\": "
        "\"p\"}}}}}";
    struct buffer text = { .bytes = NULL }, url = { .bytes = NULL };
    const char *costly = NULL;
    struct reading r;

    for (int n = 0; n < 2; n++) {
        struct buffer many = { .bytes = NULL };

        for (int i = 0; n && i < 40; i++)
            buffer_format(&many, "\"q%d[ab]{%d}\",", i, 9800 + i);
        buffer_byte(&many, 0);
        text.len = url.len = 0;
        buffer_format(&text, types, many.bytes);
        buffer_byte(&text, 0);
        begin(&r, text.bytes);
        buffer_text(&url, "http://a.example/");
        repeat(&url, "ab", 10000);
        assert_string_equal(
            n ? "" : "default",
            crawl_template_type(r.template, NULL, url.bytes, url.len, &costly)
                ? "default"
                : "");
        assert_int_equal(costly != NULL, n);
        buffer_clear(&many);
        end(&r);
    }
    buffer_clear(&text);
    buffer_clear(&url);
}

/* --- a stop --- */

static enum seen_code read_once(struct reading *r, const struct buffer *body,
                                uint64_t *steps)
{
    struct crawl_page *page = answer(r, html, body->bytes, body->len);
    enum seen_code code = crawl_read(r->worker, page, NULL);

    *steps = page->steps;
    crawl_page_free(page);
    return code;
}

TEST(after_a_stop_what_costs_little_is_finished_and_what_costs_much_is_not)
{
    struct buffer small = { .bytes = NULL }, large = { .bytes = NULL };
    uint64_t steps, cost;
    struct reading r;

    begin(&r, NULL);
    repeat(&small, "<a href=/x>x</a>", 1000);
    long_base(&large);
    assert_int_equal(read_once(&r, &small, &cost), SEEN_OK);
    crawl_reader_limit(r.worker, 1000000000, 5 * cost);
    atomic_store(&r.stop, true);
    for (int i = 0; i < 4; i++)
        assert_int_equal(read_once(&r, &small, &steps), SEEN_OK);
    assert_int_equal(read_once(&r, &large, &steps), SEEN_UNABLE);
    /* The grace is that of all pages together. */
    assert_int_equal(read_once(&r, &small, &steps), SEEN_UNABLE);
    atomic_store(&r.stop, false); /* a worker has a lease again */
    assert_int_equal(read_once(&r, &small, &steps), SEEN_OK);
    assert_int_equal(steps, cost);
    buffer_clear(&small);
    buffer_clear(&large);
    end(&r);
}

/* --- what is in a page is not a fault of the run --- */

TEST(a_page_that_is_too_long_for_a_tree_has_no_fields)
{
    const size_t len = (size_t)WEB_TREE_BYTES + 1;
    struct crawl_page *page;
    struct reading r;

    begin(&r, fields);
    r.shared.no_warc = true;
    page = answer(&r, html, "", 0);
    buffer_clear(&page->raw);
    page->raw.bytes = calloc(1, len); /* zeros that take no memory */
    assert_non_null(page->raw.bytes);
    page->raw.len = page->raw.room = len;
    assert_int_equal(crawl_read(r.worker, page, NULL), SEEN_OK);
    assert_int_equal(page->outcome, CRAWL_STORED);
    assert_string_equal(page->costly, "it is too long for a template");
    assert_non_null(memmem(page->record.bytes, page->record.len,
                           "too long for a template", 23));
    crawl_page_free(page);
    end(&r);
}

/* What no state should have: a URL that no record can name. */
TEST(what_cannot_be_packed_is_the_outcome_of_its_page)
{
    static char digest[] = "x", empty[] = "";
    struct crawl_page *page;
    struct reading r;

    begin(&r, NULL);
    page = answer(&r, html, "x", 1);
    page->known = (struct crawl_known){ .id = 1,
                                        .url = strdup("http://a.example/ x"),
                                        .etag = empty,
                                        .modified = empty,
                                        .digest = digest,
                                        .place = empty,
                                        .type = empty,
                                        .note = empty };
    assert_int_equal(crawl_read(r.worker, page, NULL), SEEN_OK);
    assert_int_equal(page->outcome, CRAWL_FAILED);
    assert_non_null(strstr(page->fault, "a revisit refers to a URL"));
    assert_int_equal(page->packed.bytes.len, 0);
    crawl_page_free(page);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            no_page_costs_more_than_its_budget_and_all_are_stored),
        cmocka_unit_test(
            selectors_share_the_budget_and_later_fields_are_empty),
        cmocka_unit_test(
            an_ordinary_page_is_read_as_a_whole_and_charged_nothing),
        cmocka_unit_test(a_costly_pattern_takes_its_field_only),
        cmocka_unit_test(long_links_cost_in_proportion_to_their_length),
        cmocka_unit_test(a_link_that_may_be_excluded_is_left_out_and_counted),
        cmocka_unit_test(a_page_whose_type_is_not_known_has_no_fields),
        cmocka_unit_test(
            after_a_stop_what_costs_little_is_finished_and_what_costs_much_is_not),
        cmocka_unit_test(a_page_that_is_too_long_for_a_tree_has_no_fields),
        cmocka_unit_test(what_cannot_be_packed_is_the_outcome_of_its_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
