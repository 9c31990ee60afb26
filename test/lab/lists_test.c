/* lists_test.c - three ways to find a URL, and one answer. */
#include "test/test.h"

#include <string.h>

#include "lab/layers/lists.h"

enum { N = 3000, MORE = 500 };

static struct texts held, more, absent;

static int make_texts(void **state)
{
    struct seen_error why;
    struct urls *urls;

    (void)state;
    if (urls_new(&urls, 5, &why) != SEEN_OK)
        return -1;
    texts_init(&held, urls, 0, N);
    texts_init(&more, urls, N, MORE);
    texts_init(&absent, urls, N + MORE, N);
    urls_free(urls);
    return 0;
}

static int clear_texts(void **state)
{
    (void)state;
    texts_clear(&held);
    texts_clear(&more);
    texts_clear(&absent);
    return 0;
}

static size_t count(const struct list *l, const struct texts *t)
{
    size_t found = 0;

    for (size_t i = 0; i < t->n; i++) {
        size_t len;
        const char *text = texts_get(t, i, &len);

        found += list_has(l, text, len);
    }
    return found;
}

static void what_was_added_is_found_and_nothing_else(void **state)
{
    (void)state;
    for (int way = LINEAR; way <= HASHED; way++) {
        struct list l;

        list_init(&l, (enum way)way, &held, MORE);
        assert_int_equal(count(&l, &held), N);
        assert_int_equal(count(&l, &more), 0);
        for (size_t i = 0; i < MORE; i++) {
            size_t len;
            const char *text = texts_get(&more, i, &len);

            list_add(&l, text, len);
        }
        assert_int_equal(l.n, N + MORE);
        assert_int_equal(count(&l, &held), N);
        assert_int_equal(count(&l, &more), MORE);
        assert_int_equal(count(&l, &absent), 0);
        list_clear(&l);
    }
}

/* The beginning of a URL that is there is not there, nor is what it begins. */
static void beginnings_are_others(void **state)
{
    (void)state;
    for (int way = LINEAR; way <= HASHED; way++) {
        struct list l;
        size_t len;
        const char *text = texts_get(&held, 7, &len);
        char longer[URL_MOST + 1];

        list_init(&l, (enum way)way, &held, 0);
        memcpy(longer, text, len);
        longer[len] = 'x';
        assert_true(list_has(&l, longer, len));
        assert_false(list_has(&l, longer, len + 1));
        assert_false(list_has(&l, longer, len - 1));
        list_clear(&l);
    }
}

static void bytes_are_those_of_texts_and_places(void **state)
{
    struct list linear, hashed;

    (void)state;
    list_init(&linear, LINEAR, &held, 0);
    list_init(&hashed, HASHED, &held, 0);
    assert_int_equal(list_bytes(&linear),
                     held.end[N - 1] + N * sizeof(struct item));
    assert_true(list_bytes(&hashed) >=
                list_bytes(&linear) + 3 * N / 2 * sizeof(uint32_t));
    list_clear(&linear);
    list_clear(&hashed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_is_found_and_nothing_else),
        cmocka_unit_test(beginnings_are_others),
        cmocka_unit_test(bytes_are_those_of_texts_and_places),
    };

    return cmocka_run_group_tests(tests, make_texts, clear_texts);
}
