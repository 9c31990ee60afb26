/* layered_test.c - layers of path segments, and the XOR that ties them. */
#include "cases.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/filter/tree.h"

static struct seen_key key_of(const char *text)
{
    struct seen_key key;

    seen_key_hash(&key, text, strlen(text));
    return key;
}

static void add(struct seen_filter *f, const char *text)
{
    struct seen_key key = key_of(text);

    add_all(f, &key, 1);
}

static bool has(const struct seen_filter *f, const char *text)
{
    struct seen_key key = key_of(text);

    return yes(f, &key, 1);
}

static bool under(const struct seen_filter *f, const char *text)
{
    struct seen_key key = key_of(text);
    bool seen;

    assert_int_equal(seen_filter_has_prefix(f, &key, &seen, NULL), SEEN_OK);
    return seen;
}

/* Rates so low that nothing below is due to chance. */
static struct seen_filter *layers(const char *kind)
{
    struct seen_plan plan = plan_of(kind, 1000, 1e-9);

    return made(&plan);
}

/* The paper's own example of what layers alone get wrong. */
TEST(crossings_are_in_the_layers_and_not_in_the_filter)
{
    static const char *const kind[] = { "layered:2", "layered:4",
                                        "layered:3,mixed" };

    for (size_t i = 0; i < LENGTH(kind); i++) {
        struct seen_filter *f = layers(kind[i]);

        add(f, "a1/a2");
        add(f, "b1/b2");
        assert_true(has(f, "a1/a2") && has(f, "b1/b2"));
        assert_true(under(f, "a1/b2"));
        assert_true(under(f, "b1/a2"));
        assert_false(has(f, "a1/b2"));
        assert_false(has(f, "b1/a2"));
        assert_false(under(f, "c1"));
        seen_filter_free(f);
    }
}

TEST(equal_segments_cancel_unless_layers_are_mixed)
{
    struct seen_filter *f = layers("layered:4,published");

    add(f, "x/a/b/b");
    assert_true(has(f, "x/a"));
    assert_false(has(f, "x/b"));
    seen_filter_free(f);

    f = layers("layered:4,mixed");
    add(f, "x/a/b/b");
    assert_true(has(f, "x/a/b/b"));
    assert_false(has(f, "x/a"));
    seen_filter_free(f);
}

TEST(order_is_forgotten_unless_layers_are_mixed)
{
    struct seen_filter *f = layers("layered:3,published");

    add(f, "x/a/b");
    add(f, "y/b/a");
    assert_true(has(f, "x/b/a"));
    assert_true(has(f, "y/a/b"));
    assert_false(has(f, "x/a/a"));
    seen_filter_free(f);

    f = layers("layered:3,mixed");
    add(f, "x/a/b");
    add(f, "y/b/a");
    assert_true(has(f, "x/a/b") && has(f, "y/b/a"));
    assert_false(has(f, "x/b/a"));
    assert_false(has(f, "y/a/b"));
    seen_filter_free(f);
}

/* A post of a blog: http://blog.example/2024/05/12/post-7, or day first. */
static struct seen_key post_of(char text[64], unsigned i, bool swapped)
{
    unsigned month = 1 + i % 12, day = 1 + (month + i / 12 % 11) % 12;
    struct seen_key key;
    int len = snprintf(text, 64, "http://blog.example/2024/%02u/%02u/post-%u",
                       swapped ? day : month, swapped ? month : day, i);

    seen_key_hash(&key, text, (size_t)len);
    return key;
}

/*
 * Day and month differ in every post, and each of the 12 numbers occurs as
 * both, so all segments of a swapped URL are known in their layers. Under the
 * published rule its XOR is that of the post. Otherwise it is found with the
 * rate p, so of N such URLs Np are, with a standard deviation below sqrt(Np);
 * six of them are exceeded once in 10^8 trials, and the seed is fixed.
 */
TEST(day_and_month_swapped_are_found_under_the_published_rule_only)
{
    enum { POSTS = 20000 };
    static const struct {
        const char *kind;
        bool all;
    } known[] = {
        { "layered:5", false },
        { "layered:5,mixed", false },
        { "layered:5,published", true },
        { "routed:4/layered:5,published", false },
        { "growing/layered:5", false },
    };

    for (size_t i = 0; i < LENGTH(known); i++) {
        struct seen_plan plan = plan_of(known[i].kind, POSTS, 0.01);
        struct seen_filter *f = made(&plan);
        size_t found = 0;
        double mean;
        char text[64];

        for (unsigned j = 0; j < POSTS; j++) {
            struct seen_key key = post_of(text, j, false);

            add_all(f, &key, 1);
        }
        for (unsigned j = 0; j < POSTS; j++) {
            struct seen_key key = post_of(text, j, true);

            found += yes(f, &key, 1);
        }
        mean = POSTS * seen_filter_rate(f);
        if (contains(known[i].kind, "routed")) /* it may be in another part */
            assert_in_range(found, POSTS / 5, POSTS);
        else if (known[i].all)
            assert_int_equal(found, POSTS);
        else if (fabs((double)found - mean) > 6 * sqrt(mean))
            fail_msg("%s: %zu found, not %.0f", known[i].kind, found, mean);
        assert_int_equal(seen_filter_can(f, SEEN_IGNORES_ORDER),
                         contains(known[i].kind, "published"));
        seen_filter_free(f);
    }
}

/* The text that a file records says which rule it is. */
TEST(a_request_gets_the_rule_of_today_and_a_file_keeps_its_own)
{
    struct seen_filter *f = layers("routed:2/layered:3"), *g;
    struct seen_filter *h = layers("layered:3,published");
    struct filter_record record = filter_record(h);
    struct seen_plan plan = plan_of("growing/layered:3", 100, 0.01);

    assert_string_equal(f->plan.kind, "routed:2/layered:3,mixed");
    assert_string_equal(f->part[1]->plan.kind, "layered:3,mixed");
    seen_filter_free(f);

    strcpy(record.plan.kind, "layered:3"); /* as files were written once */
    assert_int_equal(filter_restore(&g, &record, NULL, NULL), SEEN_OK);
    assert_int_equal(filter_fill(g, NULL), SEEN_OK);
    assert_string_equal(g->plan.kind, "layered:3");
    assert_true(seen_filter_can(g, SEEN_IGNORES_ORDER));
    add(g, "x/a/b");
    add(g, "y/b/a");
    assert_true(has(g, "x/b/a"));
    assert_int_equal(seen_filter_merge(h, g, NULL), SEEN_OK);
    assert_true(has(h, "x/b/a"));
    seen_filter_free(g);
    seen_filter_free(h);

    f = made(&plan); /* one from a file grows by parts of its own rule */
    record = filter_record(f);
    seen_filter_free(f);
    strcpy(record.plan.kind, "growing/layered:3");
    assert_int_equal(filter_restore(&g, &record, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_grow(g, NULL), SEEN_OK);
    assert_string_equal(g->part[0]->plan.kind, "layered:3");
    seen_filter_free(g);

    plan = plan_of("layered:3,mixed,published", 100, 0.01);
    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_RANGE);
    plan = plan_of("layered:3,published,mixed", 100, 0.01);
    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_RANGE);
}

/* Each row: a URL that is stored, one that differs from it, and is absent. */
TEST(urls_are_split_where_their_segments_end)
{
    static const char *const pair[][2] = {
        { "http://h", "http://h/" },
        { "http://h/", "http://h" },
        { "http://h/a", "https://h/a" },
        { "http://h/a", "http://h/a/" },
        { "http://h//a", "http://h/a" },
        { "http://h/a?b/c", "http://h/a/b/c" },
        { "http://h?a/b", "http://h/a/b" },
        { "http://h/a/b/c/d", "http://h/a/b/c" },
        { "http://h/a/b/c/d", "http://h/a/b/d/c" },
        { "org,example)/a", "org,example)/" },
        { "h/a", "http://h/a" },
        { "a:b/c", "a:b" },
        { "://", "//" },
        { "", "/" },
        { "/", "" },
        { "?", "" },
    };
    static const char *const kind[] = { "layered:1", "layered:2", "layered:3",
                                        "layered:16", "layered:3,mixed" };

    for (size_t k = 0; k < LENGTH(kind); k++)
        for (size_t i = 0; i < LENGTH(pair); i++) {
            struct seen_filter *f = layers(kind[k]);

            add(f, pair[i][0]);
            assert_true(has(f, pair[i][0]));
            if (has(f, pair[i][1]))
                fail_msg("%s: with %s, %s is there", kind[k], pair[i][0],
                         pair[i][1]);
            seen_filter_free(f);
        }
}

/* Texts are not ended by anything: they end where memory does. */
TEST(nothing_is_read_past_the_end_of_a_text)
{
    static const char *const text[] = { "http://h/a/b?c/d",
                                        "http:/",
                                        "http:",
                                        "http://",
                                        "a/",
                                        "?",
                                        "/",
                                        ":",
                                        "a" };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct seen_filter *f = layers("layered:3");
    bool seen;

    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    for (size_t i = 0; i < LENGTH(text); i++)
        for (size_t len = 0; len <= strlen(text[i]); len++) {
            char *at = memory + page - len;
            struct seen_key key;

            memcpy(at, text[i], len);
            seen_key_hash(&key, at, len);
            add_all(f, &key, 1);
            assert_int_equal(yes(f, &key, 1), 1);
            assert_int_equal(seen_filter_has_prefix(f, &key, &seen, NULL),
                             SEEN_OK);
            assert_true(seen);
        }
    seen_filter_free(f);
    munmap(memory, 2 * page);
}

/*
 * A prefix of whole segments: for all URLs below it yes, whatever the depth.
 * Layer L has the rest of paths, so deeper prefixes are asked for no more.
 */
TEST(every_prefix_of_a_url_is_under_it)
{
    static const char url[] = "https://a.example/news/2024/05/x?q=1/2";
    static const char *const kind[] = {
        "layered:2",          "layered:3",          "layered:5",
        "layered:16",         "layered:4,mixed",    "growing/layered:4",
        "routed:4/layered:3", "spatial:2/layered:4"
    };

    for (size_t k = 0; k < LENGTH(kind); k++) {
        struct seen_filter *f = layers(kind[k]);

        add(f, url);
        for (size_t len = 0; url[len]; len++) {
            char prefix[64];

            if (url[len] != '/' || len < 9 || strchr(url, '?') < url + len)
                continue;
            snprintf(prefix, sizeof prefix, "%.*s", (int)len, url);
            if (!under(f, prefix))
                fail_msg("%s: nothing under %s", kind[k], prefix);
            snprintf(prefix, sizeof prefix, "%.*s", (int)len + 1, url);
            if (!under(f, prefix))
                fail_msg("%s: nothing under %s", kind[k], prefix);
        }
        assert_true(under(f, url));
        assert_false(under(f, "https://b.example/news"));
        assert_false(under(f, "http://a.example/"));
        if (!contains(kind[k], ":2"))
            assert_false(under(f, "https://a.example/new"));
        seen_filter_free(f);
    }
}

TEST(a_prefix_takes_two_layers)
{
    struct seen_filter *f = layers("layered:1");
    struct seen_key key = key_of("http://a.example/");
    bool seen;

    assert_int_equal(seen_filter_has_prefix(f, &key, &seen, NULL),
                     SEEN_UNABLE);
    seen_filter_free(f);
}

/* Fewer hosts than pages take fewer bits; each layer is whole lines. */
TEST(layers_are_sized_by_their_segments)
{
    struct seen_plan plan = plan_of("layered:3", 100000, 0.01);
    struct seen_filter *f = made(&plan);
    uint64_t sum = 0, even = seen_filter_bytes(f);
    const struct seen_plan *got;

    seen_filter_free(f);
    plan.segments[0] = 100;
    plan.segments[1] = 10000;
    f = made(&plan);
    got = seen_filter_plan(f);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(f->shape[i] % 512, 0);
        sum += f->shape[i];
    }
    assert_int_equal(sum, got->bits);
    assert_int_equal(f->shape[2], f->shape[3]);
    assert_in_range(f->shape[1] * 10, f->shape[3], f->shape[3] + 10240);
    assert_in_range(f->shape[0], 512, 1536);
    assert_true(seen_filter_bytes(f) < even / 5 * 3);
    seen_filter_free(f);
}

/* Bits that are given are shared so that every layer has its due. */
TEST(bits_that_are_given_are_shared)
{
    struct seen_plan plan = plan_of("layered:3", 10000, 0);
    struct seen_filter *f;
    const struct seen_plan *got;

    plan.bits = 400000;
    plan.segments[0] = 100;
    f = made(&plan);
    got = seen_filter_plan(f);
    assert_in_range(got->bits, 400000 - 4 * 512, 400000);
    assert_true(got->rate > 0 && got->rate < 0.01);
    assert_in_range(f->shape[3], f->shape[1], f->shape[1] + 512);
    assert_true(f->shape[0] < f->shape[1] / 50);
    seen_filter_free(f);
}

/* The load of the XOR layer alone gives rate and entries and says "full". */
TEST(the_xor_layer_tells_rate_and_entries)
{
    struct seen_plan plan = plan_of("layered:3", 2000, 0.01);
    struct seen_filter *f = made(&plan);
    struct seen_key *url = urls_new(4000);
    struct seen_error why;

    add_all(f, url, 2000);
    assert_true(fabs(seen_filter_entries(f) - 2000) < 60);
    assert_true(fabs(seen_filter_rate(f) / 0.01 - 1) < 0.15);
    assert_int_equal(seen_filter_add(f, url, 4000, NULL, &why), SEEN_FULL);
    assert_in_range(why.at, 2000, 2200);
    seen_filter_free(f);
    free(url);
}

/*
 * A file records plan, cells and how many are set in all layers; from these
 * a filter is made that tells the same, and goes on from there.
 */
TEST(a_filter_from_its_plan_and_cells_is_the_same)
{
    struct seen_plan plan = plan_of("layered:3,mixed", 2000, 0.01);
    struct seen_filter *f = made(&plan), *g;
    struct seen_key *url = urls_new(4000);
    struct filter_record record = filter_record(f);
    struct seen_error why, also;

    add_all(f, url, 1500);
    assert_int_equal(filter_restore(&g, &record, NULL, NULL), SEEN_OK);
    assert_int_equal(filter_fill(g, NULL), SEEN_OK);
    assert_int_equal(g->size, f->size);
    memcpy(g->cells, f->cells, f->size);
    g->set = f->set;
    assert_true(seen_filter_rate(g) == seen_filter_rate(f));
    assert_true(seen_filter_entries(g) == seen_filter_entries(f));
    assert_int_equal(seen_filter_add(f, url, 4000, NULL, &why), SEEN_FULL);
    assert_int_equal(seen_filter_add(g, url, 4000, NULL, &also), SEEN_FULL);
    assert_int_equal(why.at, also.at);
    assert_true(same(f, g));
    seen_filter_free(f);
    seen_filter_free(g);
    free(url);
}

/* A reader of a file gets other cells when the file has changed. */
TEST(cells_that_are_exchanged_are_counted_anew)
{
    struct seen_plan plan = plan_of("layered:3", 2000, 0.01);
    struct seen_filter *f = made(&plan), *g = made(&plan);
    struct seen_key *url = urls_new(2000);
    unsigned char *cells = f->cells;
    double rate;

    add_all(f, url, 100);
    add_all(g, url, 2000);
    rate = seen_filter_rate(g);
    f->cells = g->cells, g->cells = cells;
    assert_true(seen_filter_rate(f) == rate);
    assert_true(seen_filter_rate(g) < rate);
    seen_filter_free(f);
    seen_filter_free(g);
    free(url);
}

TEST(recorded_layers_that_do_not_fit_together_are_refused)
{
    struct seen_plan plan = plan_of("layered:3", 2000, 0.01);
    struct seen_filter *f = made(&plan), *g;
    struct filter_record record = filter_record(f), wrong;

    seen_filter_free(f);
    for (int i = 0; i < 6; i++) {
        wrong = record;
        if (i < 4)
            wrong.shape[i] += i % 2 ? 512 : UINT64_MAX - 511;
        else if (i == 4)
            wrong.shape[0] += 1, wrong.shape[1] -= 1;
        else
            wrong.plan.probes = 65;
        assert_int_equal(filter_restore(&g, &wrong, NULL, NULL), SEEN_RANGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crossings_are_in_the_layers_and_not_in_the_filter),
        cmocka_unit_test(equal_segments_cancel_unless_layers_are_mixed),
        cmocka_unit_test(order_is_forgotten_unless_layers_are_mixed),
        cmocka_unit_test(
            day_and_month_swapped_are_found_under_the_published_rule_only),
        cmocka_unit_test(
            a_request_gets_the_rule_of_today_and_a_file_keeps_its_own),
        cmocka_unit_test(urls_are_split_where_their_segments_end),
        cmocka_unit_test(nothing_is_read_past_the_end_of_a_text),
        cmocka_unit_test(every_prefix_of_a_url_is_under_it),
        cmocka_unit_test(a_prefix_takes_two_layers),
        cmocka_unit_test(layers_are_sized_by_their_segments),
        cmocka_unit_test(bits_that_are_given_are_shared),
        cmocka_unit_test(the_xor_layer_tells_rate_and_entries),
        cmocka_unit_test(a_filter_from_its_plan_and_cells_is_the_same),
        cmocka_unit_test(cells_that_are_exchanged_are_counted_anew),
        cmocka_unit_test(recorded_layers_that_do_not_fit_together_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
