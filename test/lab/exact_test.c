/* exact_test.c - three ways to find a text, and one answer. */
#include "test/test.h"

#include <stdio.h>
#include <string.h>

#include "lab/archives/profile.h"
#include "lab/exact.h"
#include "lab/corpus.h"

enum { N = 3000, MORE = 500 };

static struct corpus held, more, absent;

static int make_texts(void **state)
{
    struct seen_error why;
    struct urls *urls;

    (void)state;
    if (urls_new(&urls, 5, &why) != SEEN_OK)
        return -1;
    corpus_init(&held, urls, 0, N);
    corpus_init(&more, urls, N, MORE);
    corpus_init(&absent, urls, N + MORE, N);
    urls_free(urls);
    return 0;
}

static int clear_texts(void **state)
{
    (void)state;
    corpus_clear(&held);
    corpus_clear(&more);
    corpus_clear(&absent);
    return 0;
}

static size_t count(const struct exact *e, const struct corpus *t)
{
    size_t found = 0;

    for (size_t i = 0; i < t->n; i++) {
        bool has = exact_has(e, t->key[i].text, t->key[i].len);

        assert_int_equal(exact_has_key(e, &t->key[i]), has);
        found += has;
    }
    return found;
}

/* With room for all from the beginning, and with none. */
TEST(what_was_added_is_found_and_nothing_else)
{
    for (int i = LINEAR; i <= 2 * HASHED + 1; i++) {
        struct exact e = { .way = (enum exact_way)(i % (HASHED + 1)) };

        assert_int_equal(count(&e, &held), 0);
        if (i > HASHED)
            exact_reserve(&e, N + MORE, held.bytes + more.bytes);
        exact_fill(&e, held.key, N);
        assert_int_equal(count(&e, &held), N);
        assert_int_equal(count(&e, &more), 0);
        for (size_t j = 0; j < MORE; j++)
            assert_true(exact_add(&e, more.key[j].text, more.key[j].len));
        assert_int_equal(e.n, N + MORE);
        assert_int_equal(count(&e, &held), N);
        assert_int_equal(count(&e, &more), MORE);
        assert_int_equal(count(&e, &absent), 0);
        assert_int_equal(e.used, held.bytes + more.bytes);
        exact_clear(&e);
    }
}

/* The beginning of a text that is there is not there, nor is what it begins;
   nor are texts that differ behind a zero. */
TEST(beginnings_are_others)
{
    for (int way = LINEAR; way <= HASHED; way++) {
        struct exact e = { .way = (enum exact_way)way };
        size_t len = held.key[7].len;
        char longer[URL_MOST + 1];

        exact_fill(&e, held.key, N);
        memcpy(longer, held.key[7].text, len);
        longer[len] = 'x';
        assert_true(exact_has(&e, longer, len));
        assert_false(exact_has(&e, longer, len + 1));
        assert_false(exact_has(&e, longer, len - 1));
        assert_false(exact_has(&e, "", 0));
        exact_add(&e, "a\0b", 3);
        exact_add(&e, "", 0);
        assert_true(exact_has(&e, "a\0b", 3));
        assert_true(exact_has(&e, "", 0));
        assert_false(exact_has(&e, "a\0c", 3));
        exact_clear(&e);
    }
}

/* In the order of their first time. */
TEST(a_hash_set_counts_what_comes_again)
{
    struct exact e = { .way = HASHED };

    for (unsigned round = 0; round < 3; round++)
        for (size_t i = 0; i < N; i++)
            assert_int_equal(exact_add_key(&e, &held.key[i]), !round);
    assert_int_equal(e.n, N);
    assert_int_equal(e.used, held.bytes);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(e.item[i].count, 3);
        assert_int_equal(e.item[i].len, held.key[i].len);
        assert_memory_equal(exact_text(&e, i), held.key[i].text,
                            held.key[i].len);
    }
    exact_clear(&e);
}

TEST(places_double_when_they_are_full)
{
    struct exact e = { .way = HASHED };

    assert_int_equal(exact_places(0, 1, 1), 16);
    assert_int_equal(exact_places(16, 1, 1), 16);
    assert_int_equal(exact_places(17, 1, 1), 32);
    assert_int_equal(exact_places(2000, 1, 1), 2048);
    assert_int_equal(exact_places(12, 3, 4), 16);
    assert_int_equal(exact_places(13, 3, 4), 32);
    assert_int_equal(exact_places(2000, 3, 4), 4096);
    exact_fill(&e, held.key, N);
    assert_int_equal(e.slots, exact_places(N, 2, 3));
    exact_clear(&e);
}

/* A line is the prefix, a blank, its count and a newline. */
TEST(a_profile_has_the_bytes_of_its_lines)
{
    struct exact e = { .way = HASHED };
    uint64_t bytes, packed, expected = 0;
    char text[32];

    for (int i = 0; i < 12; i++)
        exact_add(&e, "hr,vijesti)/sport", 17);
    exact_add(&e, "hr,vijesti)/arhiva", 18);
    profile_write(&e, &bytes, &packed);
    assert_int_equal(bytes, strlen("hr,vijesti)/arhiva 1\n"
                                   "hr,vijesti)/sport 12\n"));
    assert_true(packed > 0);
    assert_int_equal(e.n, 0);
    for (int i = 0; i < 10000; i++) {
        size_t len = (size_t)snprintf(text, sizeof text, "com,h%d)/",
                                      i % 5000);

        exact_add(&e, text, len);
        expected += i < 5000 ? len + strlen(" 2\n") : 0;
    }
    profile_write(&e, &bytes, &packed);
    assert_int_equal(bytes, expected);
    assert_true(packed < bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_is_found_and_nothing_else),
        cmocka_unit_test(beginnings_are_others),
        cmocka_unit_test(a_hash_set_counts_what_comes_again),
        cmocka_unit_test(places_double_when_they_are_full),
        cmocka_unit_test(a_profile_has_the_bytes_of_its_lines),
    };

    return cmocka_run_group_tests(tests, make_texts, clear_texts);
}
