/* pattern_threads_test.c - a pattern belongs to all threads. */
#include "test/test.h"

#include <pthread.h>

#include "lib/text/pattern.h"
#include "lib/text/span.h"

enum { THREADS = 4, SEARCHES = 2000 };

static struct pattern *shared;
static char another, none; /* what a thread found wrong */

/* Each thread searches other texts, whose matches it knows. */
static void *search(void *owner)
{
    const size_t *first = owner;
    static const char text[] = "abbabaabbbabababbbaabbabbaaabbbc";

    for (size_t i = *first; i < *first + SEARCHES; i++) {
        size_t cut = i % (sizeof text - 2);
        struct budget budget = { .left = 1000000 };
        struct pattern_search s;
        struct pattern_match m;
        bool any, has;

        pattern_search_init(&s, shared, span_of(text + cut), 0, &budget);
        if (pattern_search_next(&s, 0, &m, &any) != SEEN_OK || !any ||
            m.begin != 0 || m.end != sizeof text - 1 - cut)
            return &another;
        pattern_search_clear(&s);
        if (pattern_has(shared, span_of(text + cut), &budget, &has) !=
                SEEN_OK ||
            !has)
            return &none;
    }
    return NULL;
}

TEST(threads_share_a_pattern)
{
    pthread_t thread[THREADS];
    size_t first[THREADS];
    void *wrong;

    assert_int_equal(pattern_new(&shared, "((a|b)*)c", true, NULL), SEEN_OK);
    for (size_t i = 0; i < THREADS; i++) {
        first[i] = i * SEARCHES;
        assert_int_equal(pthread_create(&thread[i], NULL, search, &first[i]),
                         0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], &wrong), 0);
        assert_null(wrong);
    }
    pattern_free(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_a_pattern),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
