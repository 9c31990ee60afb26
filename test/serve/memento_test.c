/* memento_test.c - lists, merged TimeMaps, their cache and their formats. */
#include "test/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/span.h"
#include "serve/memento/cache.h"
#include "serve/memento/memento_list.h"
#include "serve/memento/near.h"
#include "serve/memento/memento_url.h"
#include "serve/memento/memento_write.h"
#include "test/wall.h"

/* --- lists --- */

static enum seen_code read_list(struct memento_list *list, const char *text,
                                struct seen_error *why)
{
    const size_t len = strlen(text);

    return memento_list_read(list, walled(text, len), len, why);
}

TEST(a_list_of_memgator_is_read)
{
    static const char text[] =
        "[{\"id\": \"ia\", \"name\": \"Internet Archive\", \"timemap\": "
        "\"https://ia.example/web/timemap/link/\", \"timegate\": "
        "\"https://ia.example/web/\", \"probability\": 0.9},"
        "{\"id\": \"pt\", \"name\": \"Portuguese\", \"timemap\": "
        "\"http://pt.example/timemap\", \"ignore\": true},"
        "{\"name\": \"By query\", \"timemap\": \"http://q.example/?url=\", "
        "\"filter\": \"queried\"}]";
    struct buffer url = { .bytes = NULL };
    struct memento_list list;

    assert_int_equal(read_list(&list, text, NULL), SEEN_OK);
    assert_int_equal(list.n, 3);
    assert_string_equal(list.archive[0].timemap,
                        "https://ia.example/web/timemap/link/");
    assert_string_equal(list.archive[1].timemap, "http://pt.example/timemap/");
    assert_string_equal(list.archive[2].timemap, "http://q.example/?url=");
    assert_string_equal(list.archive[0].timegate, "https://ia.example/web/");
    assert_null(list.archive[1].timegate);
    assert_false(list.archive[0].ignore);
    assert_true(list.archive[1].ignore);
    assert_int_equal(memento_list_find(&list, "ia"), 0);
    assert_int_equal(memento_list_find(&list, "internet archive"), 0);
    assert_int_equal(memento_list_find(&list, "PT"), 1);
    assert_int_equal(memento_list_find(&list, "queried"), 2);
    assert_true(memento_list_find(&list, "By query") == SIZE_MAX);
    assert_true(memento_list_find(&list, "haw") == SIZE_MAX);
    assert_string_equal(memento_archive_name(&list.archive[2]), "By query");
    memento_template_fill(&url, "http://t.example/{url}/x", span_of("U"));
    memento_template_fill(&url, list.archive[2].timemap, span_of("U"));
    buffer_byte(&url, '\0');
    assert_string_equal(url.bytes,
                        "http://t.example/U/xhttp://q.example/?url=U");
    buffer_clear(&url);
    memento_list_clear(&list);
}

TEST(what_is_not_a_list_of_archives_is_refused)
{
    static const char *const bad[] = {
        "",
        "{}",
        "[1]",
        "[{}]",
        "[{\"id\": \"a\"}]",
        "[{\"id\": 1, \"timemap\": \"http://a/\"}]",
        "[{\"id\": \"\", \"timemap\": \"http://a/\"}]",
        "[{\"id\": \"a\\nb\", \"timemap\": \"http://a/\"}]",
        "[{\"id\": \"a\", \"timemap\": \"ftp://a/\"}]",
        "[{\"id\": \"a\", \"timemap\": \"http://a/\\n\"}]",
        "[{\"id\": \"a\", \"timemap\": \"http://a/\", \"ignore\": 1}]",
        "[{\"id\": \"a\", \"timemap\": \"http://a/\", \"timegate\": 1}]",
        "[{\"id\": \"a\", \"timemap\": \"http://a/\", \"timegate\": \"a/\"}]",
        "[{\"id\": \"a\", \"timemap\": \"http://a/\"}",
    };
    struct memento_list list;
    struct seen_error why;

    for (size_t i = 0; i < LENGTH(bad); i++) {
        assert_int_equal(read_list(&list, bad[i], &why), SEEN_CORRUPT);
        assert_int_equal(list.n, 0);
        assert_true(*why.text);
    }
}

/* --- TimeMaps --- */

/* A TimeMap of captures "archive:when:url". */
static struct memento_timemap *made(size_t archives, size_t n,
                                    const char *const *captures)
{
    struct memento_timemap *t = memento_timemap_new(archives);

    t->capture = calloc(n + 1, sizeof *t->capture);
    for (size_t i = 0; i < archives; i++) {
        char name[32];

        snprintf(name, sizeof name, "a%zu", i);
        t->report[i].name = strdup(name);
    }
    for (size_t i = 0; i < n; i++) {
        struct memento_capture *c = &t->capture[t->captures++];
        char *end;

        c->archive = (uint32_t)strtoul(captures[i], &end, 10);
        c->when = strtoll(end + 1, &end, 10);
        c->url = end + 1;
        c->len = (uint32_t)strlen(end + 1);
    }
    memento_timemap_finish(t);
    return t;
}

TEST(captures_are_in_order_of_time_and_there_once)
{
    static const char *const given[] = { "1:30:http://b/3", "0:10:http://a/1",
                                         "0:30:http://a/3", "1:20:http://b/2",
                                         "1:10:http://a/1", "0:10:http://a/1",
                                         "0:-5:http://a/0" };
    static const char *const sorted[] = { "http://a/0", "http://a/1",
                                          "http://b/2", "http://a/3",
                                          "http://b/3" };
    struct memento_timemap *t = made(2, LENGTH(given), given);

    assert_int_equal(t->captures, LENGTH(sorted));
    for (size_t i = 0; i < LENGTH(sorted); i++)
        assert_true(
            span_is((struct seen_span){ t->capture[i].url, t->capture[i].len },
                    sorted[i]));
    assert_int_equal(t->report[0].mementos, 3);
    assert_int_equal(t->report[1].mementos, 2);
    memento_timemap_release(t);
}

TEST(the_closest_capture_is_found)
{
    static const char *const given[] = { "0:10:http://a/1", "0:20:http://a/2",
                                         "0:31:http://a/3" };
    static const struct {
        int64_t when;
        size_t is;
    } cases[] = { { -100, 0 }, { 10, 0 }, { 14, 0 }, { 15, 1 }, { 16, 1 },
                  { 20, 1 },   { 25, 1 }, { 26, 2 }, { 31, 2 }, { 99, 2 } };
    struct memento_timemap *t = made(1, LENGTH(given), given);

    for (size_t i = 0; i < LENGTH(cases); i++)
        assert_int_equal(memento_timemap_closest(t, cases[i].when),
                         cases[i].is);
    memento_timemap_release(t);
}

/* --- those around a date --- */

/* A TimeMap of what was kept of some archives. */
static struct memento_timemap *kept(struct memento_near *near, size_t archives)
{
    struct memento_timemap *t = memento_timemap_new(archives);

    t->capture = calloc(archives * MEMENTO_KEPT, sizeof *t->capture);
    for (size_t i = 0; i < archives * MEMENTO_KEPT; i++) {
        struct memento_kept *k =
            &near[i / MEMENTO_KEPT].kept[i % MEMENTO_KEPT];

        if (k->there)
            t->capture[t->captures++] = (struct memento_capture){
                k->when, k->url.bytes, (uint32_t)k->url.len,
                (uint32_t)(i / MEMENTO_KEPT)
            };
    }
    memento_timemap_finish(t);
    return t;
}

static void assert_same(const struct memento_timemap *a, size_t i,
                        const struct memento_timemap *b, size_t j)
{
    const struct memento_capture *x = &a->capture[i], *y = &b->capture[j];

    assert_int_equal(i < a->captures, j < b->captures);
    if (i >= a->captures)
        return;
    assert_int_equal(x->when, y->when);
    assert_int_equal(x->len, y->len);
    assert_memory_equal(x->url, y->url, x->len);
}

/* Few times and URLs, so that many are equal. */
TEST(what_is_kept_has_the_same_closest_memento_and_neighbours_as_everything)
{
    enum { ARCHIVES = 3, MANY = 40, TURNS = 3000 };
    static char text[ARCHIVES * MANY][40];
    const char *given[ARCHIVES * MANY];
    unsigned draw = 1;

    for (int turn = 0; turn < TURNS; turn++) {
        const int64_t when = turn % 10 ? (int64_t)(turn % 25) : MEMENTO_LATEST;
        struct memento_near near[ARCHIVES];
        struct memento_timemap *all, *some;
        size_t n = 0, i, j;

        for (size_t a = 0; a < ARCHIVES; a++) {
            near[a] = (struct memento_near){ .when = when };
            for (int m = (turn + (int)a * 7) % MANY; m; m--) {
                draw = draw * 1103515245 + 12345;
                snprintf(text[n], sizeof text[n], "%zu:%u:http://m/%u", a,
                         draw >> 16 & 15, draw >> 24 & 3);
                given[n] = text[n];
                assert_true(memento_near_add(
                    &near[a], draw >> 16 & 15,
                    span_of(strchr(strchr(text[n++], ':') + 1, ':') + 1)));
            }
        }
        all = made(ARCHIVES, n, given);
        some = kept(near, ARCHIVES);
        assert_int_equal(!all->captures, !some->captures);
        if (all->captures) {
            i = memento_timemap_closest(all, when);
            j = memento_timemap_closest(some, when);
            assert_same(all, i, some, j);
            assert_same(all, i + 1, some, j + 1);
            assert_same(all, 0, some, 0);
            assert_same(all, all->captures - 1, some, some->captures - 1);
            assert_int_equal(!i, !j);
            if (i)
                assert_same(all, i - 1, some, j - 1);
        }
        memento_timemap_release(all);
        memento_timemap_release(some);
        for (size_t a = 0; a < ARCHIVES; a++)
            memento_near_clear(&near[a]);
    }
}

/* Memory does not grow with what is added. */
TEST(six_urls_are_kept_of_a_million)
{
    struct memento_near n = { .when = 500000 };
    char url[64];

    for (int i = 0; i < 1000000; i++) {
        snprintf(url, sizeof url, "http://m.example/%d", i);
        assert_true(memento_near_add(&n, i, span_of(url)));
    }
    assert_int_equal(n.added, 1000000);
    assert_true(memento_near_bytes(&n) < 8192);
    memento_near_clear(&n);
}

TEST(what_a_timegate_does_not_say_is_not_known)
{
    const unsigned all = MEMENTO_FIRST | MEMENTO_LAST | MEMENTO_PREV |
                         MEMENTO_NEXT;
    struct memento_near n = { .when = 50, .partial = true, .chosen = 40 };

    assert_true(memento_near_add(&n, 40, span_of("http://m/40")));
    assert_int_equal(memento_near_unknown(&n, 40), all);
    n.names_prev = true; /* 30 < 40 */
    n.prev = 30;
    assert_true(memento_near_add(&n, 30, span_of("http://m/30")));
    assert_int_equal(memento_near_unknown(&n, 40),
                     all & ~(unsigned)MEMENTO_PREV);
    assert_int_equal(memento_near_unknown(&n, 30),
                     all & ~(unsigned)MEMENTO_NEXT);
    assert_int_equal(memento_near_unknown(&n, 35),
                     MEMENTO_FIRST | MEMENTO_LAST);
    n.names_last = true; /* 40 is */
    assert_int_equal(memento_near_unknown(&n, 40), MEMENTO_FIRST);
    assert_int_equal(memento_near_unknown(&n, 99), MEMENTO_FIRST);
    assert_false(memento_near_contradicts(&n));
    assert_true(memento_near_add(&n, 52, span_of("http://m/52")));
    assert_true(memento_near_contradicts(&n));
    n.names_next = true;
    n.next = 52;
    assert_false(memento_near_contradicts(&n)); /* no others between */
    memento_near_clear(&n);
}

TEST(a_sparse_timemap_makes_nothing_up)
{
    static const char *const given[] = { "0:10:http://a/1", "0:20:http://a/2",
                                         "0:30:http://a/3",
                                         "0:40:http://a/4" };
    struct memento_timemap *t = made(1, LENGTH(given), given);
    struct memento_form form = { .url = span_of("http://a/"),
                                 .origin = span_of("http://s"),
                                 .closest = 2 };
    struct buffer o = { .bytes = NULL };

    t->sparse = true;
    t->unknown = MEMENTO_FIRST | MEMENTO_NEXT;
    for (form.as = MEMENTO_LINK; form.as <= MEMENTO_CDXJ; form.as++)
        memento_write(&o, &form, t);
    buffer_byte(&o, '\0');
    assert_null(strstr(o.bytes, "first"));
    assert_null(strstr(o.bytes, "next"));
    assert_null(strstr(o.bytes, "http://a/1"));
    assert_non_null(strstr(o.bytes, "<http://a/2>; rel=\"prev memento\""));
    assert_non_null(strstr(o.bytes, "<http://a/4>; rel=\"last memento\""));
    assert_non_null(strstr(o.bytes, "\"closest\": {"));
    buffer_clear(&o);
    memento_timemap_release(t);
}

/* --- URLs --- */

TEST(raw_pages_are_asked_for_where_the_archive_has_a_date_of_14_digits)
{
#define PAGE "http://a.example/20010101000000/?x=/20010101000000/"
    static const char *const same[] = {
        "http://m.example/" PAGE,
        "http://m.example/web/20050607080910id_/" PAGE,
        "http://m.example/web/20050607080910im_/" PAGE,
        "http://m.example/web/2005060708091/" PAGE,
        "http://m.example/web/200506070809101/" PAGE,
        "http://m.example/web/20050607080910",
        "http://m.example/?at=/20050607080910/",
        "http://20050607080910/",
        "http://m.example",
    };
    struct buffer o = { .bytes = NULL };

    memento_url_raw(&o, span_of("http://m.example/web/20050607080910/" PAGE));
    buffer_byte(&o, '\0');
    assert_string_equal(o.bytes,
                        "http://m.example/web/20050607080910id_/" PAGE);
    for (size_t i = 0; i < LENGTH(same); i++) {
        const size_t len = strlen(same[i]);

        o.len = 0;
        memento_url_raw(&o, (struct seen_span){ walled(same[i], len), len });
        buffer_byte(&o, '\0');
        assert_string_equal(o.bytes, same[i]);
    }
    buffer_clear(&o);
}

/* --- the cache --- */

TEST(the_cache_forgets_what_is_old_and_what_was_not_used)
{
    static const char *const given[] = { "0:10:http://a/1" };
    struct memento_timemap *t = made(1, 1, given);
    struct memento_cache c = { .most = 5 * (t->bytes + 200) };
    char key[] = "0";

    for (char i = '0'; i <= '9'; i++) {
        key[0] = i;
        memento_cache_put(&c, key, 1, t, 1000);
        assert_ptr_equal(memento_cache_get(&c, "0", 1, 1), t); /* in use */
        assert_true(c.bytes <= c.most);
    }
    assert_null(memento_cache_get(&c, "1", 1, 1));
    assert_ptr_equal(memento_cache_get(&c, "9", 1, 999), t);
    assert_null(memento_cache_get(&c, "9", 1, 1000));
    assert_null(memento_cache_get(&c, "9", 1, 1));
    memento_cache_put(&c, "0", 1, t, 2000); /* anew */
    assert_ptr_equal(memento_cache_get(&c, "0", 1, 1999), t);
    memento_cache_clear(&c);
    c = (struct memento_cache){ .most = t->bytes };
    memento_cache_put(&c, "0", 1, t, 1000); /* too large */
    assert_null(memento_cache_get(&c, "0", 1, 1));
    memento_cache_clear(&c);
    assert_int_equal(t->references, 1);
    memento_timemap_release(t);
}

/* --- formats --- */

static const char *const three[] = { "0:961524179:http://m/1/http://a/",
                                     "1:961550251:http://m/2/http://a/",
                                     "0:1256676594:http://m/3/http://a/\\" };

static char *written(enum memento_as as, size_t closest)
{
    struct memento_timemap *t = made(2, LENGTH(three), three);
    struct memento_form form = { .as = as,
                                 .url = span_of("http://a/\"<x>"),
                                 .origin = span_of("http://s/base"),
                                 .closest = closest,
                                 .spared = 18 };
    struct buffer o = { .bytes = NULL };

    t->report[1].failed = true;
    t->failed = 1;
    snprintf(t->report[1].why, sizeof t->report[1].why, "too \"late\"");
    memento_write(&o, &form, t);
    memento_timemap_release(t);
    return buffer_take(&o);
}

static void assert_written(enum memento_as as, size_t closest,
                           const char *expected)
{
    char *text = written(as, closest);

    assert_string_equal(text, expected);
    free(text);
}

#define US "http://s/base"
#define IT "http://a/%22%3Cx%3E"
#define MAPS \
    "<" US "/timemap/link/" IT ">; rel=\"timemap\"; type=\"application/link-" \
    "format\",\n<" US "/timemap/json/" IT ">; rel=\"timemap\"; " \
    "type=\"application/json\",\n<" US "/timemap/cdxj/" IT ">; rel=\"timemap" \
    "\"; type=\"application/cdxj+ors\",\n<" US "/timegate/" IT \
    ">; rel=\"timegate\"\n"

TEST(links_are_written_as_memgator_does)
{
    assert_written(
        MEMENTO_LINK, MEMENTO_ALL,
        "<" IT ">; rel=\"original\",\n"
        "<" US "/timemap/link/" IT ">; rel=\"self\"; "
        "type=\"application/link-format\",\n"
        "<http://m/1/http://a/>; rel=\"first memento\"; datetime=\"Tue, 20 "
        "Jun 2000 18:02:59 GMT\",\n"
        "<http://m/2/http://a/>; rel=\"memento\"; datetime=\"Wed, 21 Jun 2000 "
        "01:17:31 GMT\",\n"
        "<http://m/3/http://a/\\>; rel=\"last memento\"; datetime=\"Tue, 27 "
        "Oct 2009 20:49:54 GMT\",\n" MAPS);
    assert_written(
        MEMENTO_LINK, 2,
        "<" IT ">; rel=\"original\",\n"
        "<http://m/1/http://a/>; rel=\"first memento\"; datetime=\"Tue, 20 "
        "Jun 2000 18:02:59 GMT\",\n"
        "<http://m/2/http://a/>; rel=\"prev memento\"; datetime=\"Wed, 21 Jun "
        "2000 01:17:31 GMT\",\n"
        "<http://m/3/http://a/\\>; rel=\"last memento\"; datetime=\"Tue, 27 "
        "Oct 2009 20:49:54 GMT\",\n" MAPS);
}

TEST(cdxj_is_written_as_memgator_does)
{
    assert_written(
        MEMENTO_CDXJ, 0,
        "!context [\"http://tools.ietf.org/html/rfc7089\"]\n"
        "!keys [\"memento_datetime_YYYYMMDDhhmmss\"]\n"
        "!meta {\"original_uri\": \"" IT "\"}\n"
        "!meta {\"timegate_uri\": \"" US "/timegate/" IT "\"}\n"
        "!meta {\"timemap_uri\": {\"link_format\": \"" US "/timemap/link/" IT
        "\", \"json_format\": \"" US "/timemap/json/" IT
        "\", \"cdxj_format\": \"" US "/timemap/cdxj/" IT "\"}}\n"
        "!meta {\"failed\": {\"a1\": \"too \\\"late\\\"\"}}\n"
        "20000620180259 {\"uri\": \"http://m/1/http://a/\", \"rel\": \"first "
        "closest memento\", \"datetime\": \"Tue, 20 Jun 2000 18:02:59 "
        "GMT\"}\n"
        "20000621011731 {\"uri\": \"http://m/2/http://a/\", \"rel\": \"next "
        "memento\", \"datetime\": \"Wed, 21 Jun 2000 01:17:31 GMT\"}\n"
        "20091027204954 {\"uri\": \"http://m/3/http://a/\\\\\", \"rel\": "
        "\"last memento\", \"datetime\": \"Tue, 27 Oct 2009 20:49:54 "
        "GMT\"}\n");
}

static const char *uri_at(const json_t *mementos, const char *name)
{
    return json_string_value(
        json_object_get(json_object_get(mementos, name), "uri"));
}

TEST(json_has_the_members_of_memgator_and_one_of_ours)
{
    char *text = written(MEMENTO_JSON, MEMENTO_ALL);
    json_t *root = json_loads(text, 0, NULL), *mementos, *ours;

    assert_non_null(root);
    mementos = json_object_get(root, "mementos");
    ours = json_object_get(root, "seen");
    assert_string_equal(
        json_string_value(json_object_get(root, "original_uri")), IT);
    assert_int_equal(json_array_size(json_object_get(mementos, "list")), 3);
    assert_string_equal(uri_at(mementos, "first"), "http://m/1/http://a/");
    assert_string_equal(uri_at(mementos, "last"), "http://m/3/http://a/\\");
    assert_null(json_object_get(mementos, "closest"));
    assert_true(json_is_true(json_object_get(ours, "partial")));
    assert_int_equal(json_integer_value(json_object_get(ours, "asked")), 2);
    assert_int_equal(json_integer_value(json_object_get(ours, "spared")), 18);
    json_decref(root);
    free(text);
    text = written(MEMENTO_JSON, 1);
    root = json_loads(text, 0, NULL);
    mementos = json_object_get(root, "mementos");
    assert_null(json_object_get(root, "self"));
    assert_null(json_object_get(mementos, "list"));
    assert_string_equal(uri_at(mementos, "closest"), "http://m/2/http://a/");
    assert_string_equal(uri_at(mementos, "prev"), "http://m/1/http://a/");
    assert_string_equal(uri_at(mementos, "next"), "http://m/3/http://a/\\");
    json_decref(root);
    free(text);
}

TEST(stamps_may_be_short)
{
    static const struct {
        const char *text;
        int64_t when;
    } good[] = {
        { "20000620180259", 961524179 }, { "2000", 946684800 },
        { "200006", 959817600 },         { "20000620", 961459200 },
        { "2000062018", 961524000 },     { "200006201802", 961524120 }
    };
    static const char *const bad[] = { "",         "200",
                                       "20000",    "20001301",
                                       "20000230", "2000062025",
                                       "2000x6",   "200006201802590" };
    int64_t when;

    for (size_t i = 0; i < LENGTH(good); i++) {
        assert_true(memento_stamp_read(span_of(good[i].text), &when));
        assert_int_equal(when, good[i].when);
    }
    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_false(memento_stamp_read(span_of(bad[i]), &when));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_of_memgator_is_read),
        cmocka_unit_test(what_is_not_a_list_of_archives_is_refused),
        cmocka_unit_test(captures_are_in_order_of_time_and_there_once),
        cmocka_unit_test(the_closest_capture_is_found),
        cmocka_unit_test(
            what_is_kept_has_the_same_closest_memento_and_neighbours_as_everything),
        cmocka_unit_test(six_urls_are_kept_of_a_million),
        cmocka_unit_test(what_a_timegate_does_not_say_is_not_known),
        cmocka_unit_test(a_sparse_timemap_makes_nothing_up),
        cmocka_unit_test(
            raw_pages_are_asked_for_where_the_archive_has_a_date_of_14_digits),
        cmocka_unit_test(the_cache_forgets_what_is_old_and_what_was_not_used),
        cmocka_unit_test(links_are_written_as_memgator_does),
        cmocka_unit_test(cdxj_is_written_as_memgator_does),
        cmocka_unit_test(json_has_the_members_of_memgator_and_one_of_ours),
        cmocka_unit_test(stamps_may_be_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
