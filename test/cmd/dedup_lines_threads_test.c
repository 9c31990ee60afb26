/* dedup_lines_threads_test.c - lines between two threads keep their order. */
#include "test/test.h"

#include <stdio.h>
#include <string.h>

#include "cmd/dedup_lines.c"

enum { BATCHES = 40 };

static struct seen_batch batch;
static char text[SEEN_BATCH][16];

/* What take() has had, and where it fails. */
struct taken {
    uint64_t keys, fails_at;
    size_t largest;
};

static enum seen_code count(void *to, struct dedup_block *b,
                            struct seen_error *why)
{
    struct taken *t = to;
    size_t from = 0;
    char line[32];

    for (size_t i = 0; i < b->n; i++) {
        int len = snprintf(line, sizeof line, "%llu\n",
                           (unsigned long long)t->keys);

        assert_int_equal(b->key[i].lo, t->keys);
        assert_int_equal(b->end[i] - from, len);
        assert_memory_equal(b->lines.bytes + from, line, (size_t)len);
        from = b->end[i];
        if (t->fails_at && t->keys == t->fails_at)
            return seen_fail(why, SEEN_FULL, i, "as planned");
        t->keys++;
    }
    t->largest = b->n > t->largest ? b->n : t->largest;
    return SEEN_OK;
}

/* A batch of n keys, numbered on from `*next`. */
static void fill(uint64_t *next, size_t n)
{
    for (batch.n = 0; batch.n < n; batch.n++) {
        char *to = text[batch.n];
        int len = snprintf(to, sizeof text[0], "%llu",
                           (unsigned long long)*next);

        batch.key[batch.n].lo = (*next)++;
        batch.line[batch.n] = (struct seen_span){ to, (size_t)len };
    }
}

TEST(all_lines_come_once_and_in_order)
{
    static const size_t size[] = { 1, 1000, 3, SEEN_BATCH, 77 };

    for (size_t i = 0; i < LENGTH(size); i++) {
        struct taken t = { 0 };
        struct dedup_lines *l = dedup_lines_new(count, &t);
        uint64_t next = 0;

        for (int j = 0; j < BATCHES; j++) {
            fill(&next, size[i]);
            assert_int_equal(dedup_lines_add(l, &batch, true, NULL), SEEN_OK);
            memset(text, '?', sizeof text); /* the reader goes on */
            if (j % 16 == 7) {
                assert_int_equal(dedup_lines_drain(l, NULL), SEEN_OK);
                assert_int_equal(t.keys, next);
            }
        }
        assert_int_equal(dedup_lines_drain(l, NULL), SEEN_OK);
        assert_int_equal(t.keys, BATCHES * size[i]);
        dedup_lines_free(l);
    }
}

TEST(a_failure_ends_it_and_is_reported_until_the_end)
{
    for (uint64_t at = 1; at < 30000; at += 5000) {
        struct taken t = { .fails_at = at };
        struct dedup_lines *l = dedup_lines_new(count, &t);
        struct seen_error why = { .code = SEEN_OK };
        enum seen_code code = SEEN_OK;
        uint64_t next = 0;

        for (int j = 0; j < BATCHES && code == SEEN_OK; j++) {
            fill(&next, SEEN_BATCH);
            code = dedup_lines_add(l, &batch, true, &why);
        }
        for (int j = 0; j < 2; j++) {
            assert_int_equal(dedup_lines_drain(l, &why), SEEN_FULL);
            assert_string_equal(why.text, "as planned");
        }
        assert_int_equal(t.keys, at);
        dedup_lines_free(l);
    }
}

TEST(what_was_not_drained_is_dropped)
{
    struct taken t = { 0 };
    struct dedup_lines *l = dedup_lines_new(count, &t);
    uint64_t next = 0;

    for (int j = 0; j < 10; j++) {
        fill(&next, SEEN_BATCH);
        assert_int_equal(dedup_lines_add(l, &batch, true, NULL), SEEN_OK);
    }
    dedup_lines_free(l);
    assert_in_range(t.keys, 0, 10 * SEEN_BATCH);
    dedup_lines_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_lines_come_once_and_in_order),
        cmocka_unit_test(a_failure_ends_it_and_is_reported_until_the_end),
        cmocka_unit_test(what_was_not_drained_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
