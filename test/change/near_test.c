/* near_test.c - prints of texts, and pages that are found by them. */
#include "test/test.h"

#include <stdio.h>
#include <string.h>

#include "change/near.h"
#include "test/folder.h"

enum { WORDS = 600 };

/* A record with WORDS words of text `number`, of which the first `other` are
   not its own. */
static void make(struct change_record *r, struct buffer *line,
                 const char *host, unsigned number, unsigned words,
                 unsigned other)
{
    struct seen_error why;

    line->len = 0;
    buffer_format(line, "{\"_url\": \"http://%s/%u\", \"text\": [\"", host,
                  number);
    for (unsigned i = 0; i < words; i++)
        buffer_format(line, "w%u%s ", number * 7919 + i,
                      i < other ? host : "");
    buffer_text(line, "\"]}");
    assert_int_equal(
        change_record_read(r, (struct seen_span){ line->bytes, line->len },
                           &why),
        SEEN_OK);
}

static unsigned distance(unsigned number, unsigned other_number,
                         unsigned other)
{
    struct change_record r = { .url = { NULL, 0 } };
    struct buffer line = { .bytes = NULL };
    uint64_t a, b;

    make(&r, &line, "a.example", number, WORDS, 0);
    assert_true(change_near_print(&r, NULL, &a));
    make(&r, &line, "b.example", other_number, WORDS, other);
    assert_true(change_near_print(&r, NULL, &b));
    change_record_clear(&r);
    buffer_clear(&line);
    return (unsigned)__builtin_popcountll(a ^ b);
}

static void equal_texts_have_equal_prints(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(distance(i, i, 0), 0);
}

/* The angle of k of n words replaced is acos(1 - k/n); with 64 bits the mean
   distance is 64/pi times that: 1.18 for one word of 600, 2.63 for five. The
   deviation of a mean of 200 is below sqrt(2.63 / 200) = 0.115; the band is
   4.4 of them. Unrelated texts: 32, deviation sqrt(16 / 200) = 0.28. */
static void the_distance_is_that_of_the_angle(void **state)
{
    double one = 0, five = 0, all = 0;

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        one += distance(i, i, 1);
        five += distance(i, i, 5);
        all += distance(i, i + 1000, 0);
    }
    assert_true(one / 200 > 1.18 - 0.5 && one / 200 < 1.18 + 0.5);
    assert_true(five / 200 > 2.63 - 0.5 && five / 200 < 2.63 + 0.5);
    assert_true(all / 200 > 32 - 1.24 && all / 200 < 32 + 1.24);
}

static void short_texts_have_no_print(void **state)
{
    struct change_record r = { .url = { NULL, 0 } };
    struct buffer line = { .bytes = NULL };
    uint64_t print;

    (void)state;
    make(&r, &line, "a.example", 1, CHANGE_NEAR_WORDS - 1, 0);
    assert_false(change_near_print(&r, NULL, &print));
    make(&r, &line, "a.example", 1, CHANGE_NEAR_WORDS, 0);
    assert_true(change_near_print(&r, NULL, &print));
    change_record_clear(&r);
    buffer_clear(&line);
}

struct found {
    char url[100];
    unsigned n, distance;
};

static void take(void *owner, const struct change_record *r,
                 struct seen_span url, unsigned bits)
{
    struct found *f = owner;

    (void)r;
    snprintf(f->url, sizeof f->url, "%.*s", (int)url.len, url.text);
    f->distance = bits;
    f->n++;
}

/* Whatever is within three bits, by the prints themselves, is found, and
   nothing else. */
static void the_index_finds_what_is_within_three_bits(void **state)
{
    enum { PAGES = 150 };
    struct change_options options = { .no_words = true };
    struct change_record r = { .url = { NULL, 0 } };
    struct buffer line = { .bytes = NULL };
    struct change_state *s;
    struct change_near *n;
    struct seen_error why;
    char path[500];
    unsigned near = 0;

    (void)state;
    snprintf(path, sizeof path, "%s/state", folder);
    assert_int_equal(change_state_open(&s, path, &options, &why), SEEN_OK);
    assert_int_equal(change_near_open(&n, s, &why), SEEN_OK);
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < PAGES; i++) {
            struct found f = { .n = 0 };
            unsigned bits = distance(i, i, 2 + i % 20);

            make(&r, &line, pass ? "b.example" : "a.example", i, WORDS,
                 pass ? 2 + i % 20 : 0);
            assert_int_equal(
                change_near_see(n, &r, NULL, false, 3, take, &f, &why),
                SEEN_OK);
            assert_int_equal(f.n, pass && bits <= 3);
            near += f.n;
            if (f.n)
                assert_int_equal(f.distance, bits);
            /* Once remembered, it is not looked up again. */
            f.n = 0;
            assert_int_equal(
                change_near_see(n, &r, NULL, true, 3, take, &f, &why),
                SEEN_OK);
            assert_int_equal(f.n, 0);
        }
    assert_true(near > PAGES / 4 && near < PAGES);
    change_near_close(n);
    assert_int_equal(change_state_close(s, &why), SEEN_OK);
    change_record_clear(&r);
    buffer_clear(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_have_equal_prints),
        cmocka_unit_test(the_distance_is_that_of_the_angle),
        cmocka_unit_test(short_texts_have_no_print),
        cmocka_unit_test(the_index_finds_what_is_within_three_bits),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
