/* urls_test.c - URLs are made up without two alike; lists lose repetitions. */
#include "test/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/urls.h"
#include "test/lab/made_back.h"

static struct made made;
static char url[URL_MOST], other[URL_MOST];

/* --- made up --- */

struct hashed {
    uint64_t hash, number;
};

static int by_hash(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;

    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Exact: texts of different hashes differ, those of equal ones are compared. */
TEST(of_five_million_no_two_are_alike)
{
    enum { COUNT = 5000000 };
    struct hashed *h = malloc(COUNT * sizeof *h);
    struct seen_key key;

    assert_non_null(h);
    made_init(&made, 1);
    for (uint64_t i = 0; i < COUNT; i++) {
        seen_key_hash(&key, url, made_url(&made, i, url));
        h[i] = (struct hashed){ key.lo, i };
    }
    qsort(h, COUNT, sizeof *h, by_hash);
    for (size_t i = 1; i < COUNT; i++)
        if (h[i].hash == h[i - 1].hash) {
            size_t n = made_url(&made, h[i].number, url);
            size_t m = made_url(&made, h[i - 1].number, other);

            assert_false(n == m && !memcmp(url, other, n));
        }
    free(h);
}

/* Numbers of every size, of which the last are above 2^48. */
TEST(the_number_is_read_back_from_the_url)
{
    for (uint64_t seed = 0; seed < 3; seed++) {
        made_init(&made, seed);
        for (uint64_t i = 0; i < 30000; i++) {
            uint64_t number = seen_mix(i) >> (i % 64), back;
            size_t len = made_url(&made, number, url);

            assert_true(len < 128);
            assert_true(made_number(&made, url, len, &back));
            assert_true(back == number);
        }
    }
}

TEST(what_was_not_made_up_has_no_number)
{
    static const char *const foreign[] = {
        "",
        "http://",
        "http://a.example/",
        "https://red-laurel.com",
        "https://red-laurel.com/blog/jade-ladder-",
        "https://red-laurel.com/blog/jade-ladder-99999999999999999999.html",
        "https://red-laurel.com/2000/13/01/jade-ladder-1",
    };
    uint64_t back;
    size_t len;

    made_init(&made, 1);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        assert_false(
            made_number(&made, foreign[i], strlen(foreign[i]), &back));
    /* All that is cut off at the end of one, and what is put there. */
    len = made_url(&made, 11, url);
    for (size_t n = 0; n < len; n++)
        assert_false(made_number(&made, url, n, &back) && back == 11);
    url[len] = 'x';
    assert_false(made_number(&made, url, len + 1, &back));
}

TEST(other_seeds_make_other_urls)
{
    struct made second;

    made_init(&made, 1);
    made_init(&second, 2);
    for (uint64_t i = 0; i < 1000; i++) {
        size_t n = made_url(&made, i, url), m = made_url(&second, i, other);

        assert_false(n == m && !memcmp(url, other, n));
    }
}

static uint64_t host_hash(const char *text, size_t len)
{
    const char *begin = memchr(text, ':', len), *end;
    struct seen_key key;

    begin += 3;
    end = memchr(begin, '/', len - (size_t)(begin - text));
    seen_key_hash(&key, begin, (size_t)(end - begin));
    return key.lo;
}

/* As long as URLs are; a few hosts with thousands of pages, many with one. */
TEST(they_are_like_those_of_the_web)
{
    enum { COUNT = 400000 };
    struct hashed *h = malloc(COUNT * sizeof *h);
    size_t bytes = 0, single = 0, most = 0;

    assert_non_null(h);
    made_init(&made, 1);
    for (uint64_t i = 0; i < COUNT; i++) {
        size_t len = made_url(&made, i, url);

        bytes += len;
        h[i].hash = host_hash(url, len);
    }
    assert_in_range(bytes / COUNT, 58, 70);
    qsort(h, COUNT, sizeof *h, by_hash);
    for (size_t i = 0, j; i < COUNT; i = j) {
        for (j = i + 1; j < COUNT && h[j].hash == h[i].hash; j++)
            ;
        single += j - i == 1;
        if (j - i > most)
            most = j - i;
    }
    assert_in_range(most, 2000, 20000);
    assert_in_range(single, 50000, 150000);
    free(h);
}

/* --- lists --- */

static char path[64];

static struct urls *load(const char *text, size_t len, enum seen_code expected)
{
    struct urls *u = NULL;
    struct seen_error why;
    int fd;

    strcpy(path, "/tmp/lab-urls-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(write(fd, text, len) == (ssize_t)len);
    close(fd);
    assert_int_equal(urls_load(&u, path, &why), expected);
    unlink(path);
    return u;
}

static void assert_url(const struct urls *u, uint64_t i, const char *text)
{
    assert_int_equal(urls_get(u, i, url), strlen(text));
    assert_memory_equal(url, text, strlen(text));
}

TEST(a_list_loses_what_comes_again)
{
    static const char text[] = "http://a/\nhttp://b/\r\n\nhttp://a/\n"
                               "http://b/\nhttp://\1/\nhttp://c/\nhttp://a/";
    struct urls *u = load(text, sizeof text - 1, SEEN_OK);
    struct seen_key key[3], c;
    char room[3 * URL_MOST];

    assert_int_equal(urls_count(u), 3);
    assert_int_equal(urls_repeated(u), 3);
    assert_int_equal(urls_bad(u), 1);
    assert_url(u, 0, "http://a/");
    assert_url(u, 1, "http://b/");
    assert_url(u, 2, "http://c/");
    assert_url(u, 3, "http://a/"); /* round they go */
    urls_keys(u, 2, 3, key, room);
    seen_key_hash(&c, "http://c/", 9);
    assert_true(key[0].lo == c.lo && key[0].hi == c.hi);
    assert_memory_equal(key[1].text, "http://a/", 9);
    urls_free(u);
}

/* Twice, with more lines than any table has when it begins. */
TEST(a_long_list_is_compared_as_well)
{
    enum { COUNT = 200000 };
    char *text = malloc((size_t)2 * COUNT * MADE_MOST), *to = text;
    struct urls *u;

    assert_non_null(text);
    made_init(&made, 5);
    for (uint64_t i = 0; i < (uint64_t)2 * COUNT; i++) {
        to += made_url(&made, i % COUNT, to);
        *to++ = '\n';
    }
    u = load(text, (size_t)(to - text), SEEN_OK);
    assert_int_equal(urls_count(u), COUNT);
    assert_int_equal(urls_repeated(u), COUNT);
    for (uint64_t i = 0; i < COUNT; i += 997) {
        size_t len = made_url(&made, i, other);

        assert_int_equal(urls_get(u, i, url), len);
        assert_memory_equal(url, other, len);
    }
    urls_free(u);
    free(text);
}

TEST(a_line_may_be_2048_bytes_long)
{
    char text[2 * URL_MOST + 3];
    struct urls *u;

    memset(text, 'x', sizeof text);
    text[URL_MOST] = '\n'; /* then one of 2049 */
    text[2 * URL_MOST + 2] = '\n';
    u = load(text, sizeof text, SEEN_OK);
    assert_int_equal(urls_count(u), 1);
    assert_int_equal(urls_bad(u), 1);
    assert_int_equal(urls_get(u, 0, url), URL_MOST);
    urls_free(u);
}

TEST(what_is_no_list_is_refused)
{
    struct urls *u;
    struct seen_error why;

    assert_null(load("", 0, SEEN_RANGE));
    assert_null(load("\n\r\n\n", 4, SEEN_RANGE));
    assert_null(load("\x1f\x8b\x08\n", 4, SEEN_CORRUPT)); /* cut short */
    assert_null(load("\177ELF\2\1\1", 7, SEEN_MISMATCH));
    assert_int_equal(urls_load(&u, "/nowhere/urls.txt", &why), SEEN_IO);
    assert_null(u);
}

TEST(rows_are_kept_and_the_url_of_a_csv_line_is_its_last_column)
{
    static const char text[] = "Year,Page\n1901,https://a.org/b,_c\n"
                               "1902,\"https://a.org/d,e\"\n"
                               "https://a.org/x,http://b.org/\n"
                               "1903,https://a.org/b,_c\n";
    struct urls *u = load(text, sizeof text - 1, SEEN_OK);

    assert_int_equal(urls_count(u), 4);
    assert_int_equal(urls_repeated(u), 1);
    assert_int_equal(urls_rows(u), 5);
    assert_url(u, 0, "Year,Page");
    assert_url(u, 1, "https://a.org/b,_c");
    assert_url(u, 2, "https://a.org/d,e");
    assert_url(u, 3, "https://a.org/x,http://b.org/");
    assert_int_equal(urls_row(u, 1), 1);
    assert_int_equal(urls_row(u, 4), 1);
    urls_free(u);
}

/* The URLs of an index, not its keys. */
TEST(an_index_is_read_as_well)
{
    static const char text[] =
        " CDX N b a m s k r M S V g\n"
        "org,a)/x 20200101000000 http://www.a.org/X text/html 200 "
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA - - 1 1 a.warc.gz\n"
        "org,a)/x 20210101000000 http://www.a.org/X text/html 200 "
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA - - 1 1 a.warc.gz\n"
        "org,b)/ 20210101000000 https://b.org/ text/html 200 "
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA - - 1 1 a.warc.gz\n";
    struct urls *u = load(text, sizeof text - 1, SEEN_OK);

    assert_int_equal(urls_count(u), 2);
    assert_int_equal(urls_repeated(u), 1);
    assert_int_equal(urls_bad(u), 0);
    assert_url(u, 0, "http://www.a.org/X");
    assert_url(u, 1, "https://b.org/");
    urls_free(u);
}

TEST(there_is_no_end_of_those_made_up)
{
    struct urls *u;

    assert_int_equal(urls_new(&u, 3, NULL), SEEN_OK);
    assert_true(urls_count(u) == UINT64_MAX);
    assert_int_equal(urls_repeated(u), 0);
    made_init(&made, 3);
    assert_int_equal(urls_get(u, UINT64_MAX, url),
                     made_url(&made, UINT64_MAX, other));
    urls_free(u);
    urls_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_five_million_no_two_are_alike),
        cmocka_unit_test(the_number_is_read_back_from_the_url),
        cmocka_unit_test(what_was_not_made_up_has_no_number),
        cmocka_unit_test(other_seeds_make_other_urls),
        cmocka_unit_test(they_are_like_those_of_the_web),
        cmocka_unit_test(a_list_loses_what_comes_again),
        cmocka_unit_test(a_long_list_is_compared_as_well),
        cmocka_unit_test(a_line_may_be_2048_bytes_long),
        cmocka_unit_test(what_is_no_list_is_refused),
        cmocka_unit_test(
            rows_are_kept_and_the_url_of_a_csv_line_is_its_last_column),
        cmocka_unit_test(an_index_is_read_as_well),
        cmocka_unit_test(there_is_no_end_of_those_made_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
