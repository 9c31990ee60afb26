/* urls_test.c - batches, bad lines, and the set of URLs to leave out. */
#define _POSIX_C_SOURCE 200809L         /* mkstemp */
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/batch.c"
#include "cmd/exclude.c"
#include "cmd/rejects.c"

/* What these files need of the rest of the program. */
static char said[1024];

enum outcome trouble(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    return TROUBLE;
}

void warning(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
}

struct urls *urls_open(const struct urls_how *how, char **operand,
                       const char *profile)
{
    (void)how, (void)operand, (void)profile;
    return NULL;
}

bool urls_next(struct urls *u)
{
    (void)u;
    return false;
}

enum outcome urls_close(struct urls *u, enum outcome out)
{
    (void)u;
    return out;
}

bool block_line(struct block *b, const char **line, size_t *len)
{
    const char *end = memchr(b->data + b->at, '\n', b->len - b->at);

    if (!end)
        return false;
    *line = b->data + b->at;
    *len = (size_t)(end - *line);
    b->at += *len + 1;
    b->line++;
    return true;
}

static struct batch batch;

TEST(bad_lines_are_left_out_and_numbered)
{
    char text[] = "a\n\t\nb\n\t\nc\n";
    struct block block = { .data = text, .len = sizeof text - 1 };
    const struct reading how = { .profile = "raw", .keep = true };
    struct rejects bad = { 0 };

    batch_fill(&batch, &block, &how, &bad);
    assert_int_equal(batch.n, 3);
    assert_memory_equal(batch.url[2].text, "c", 1);
    assert_int_equal(bad.count, 2);
    assert_int_equal(bad.cause[0].at[1].line, 4);
    assert_memory_equal(bad.kept, "\t\n\t\n", 4);
    rejects_clear(&bad);
}

TEST(strict_reading_stops_at_the_first_bad_line)
{
    char text[] = "a\n\t\nb\n";
    struct block block = { .data = text, .len = sizeof text - 1 };
    const struct reading how = { .profile = "raw", .strict = true };
    struct rejects bad = { 0 };

    batch_fill(&batch, &block, &how, &bad);
    assert_int_equal(batch.n, 1);
    batch_fill(&batch, &block, &how, &bad);
    assert_int_equal(batch.n, 0);
    assert_int_equal(bad.count, 1);
    rejects_report(&bad, true);
    assert_string_equal(said, "line 2: a control byte");
}

TEST(a_batch_takes_what_fits_and_goes_on_behind_it)
{
    static char text[3 * BATCH];
    struct block block = { .data = text, .len = sizeof text };
    const struct reading how = { .profile = "raw" };
    struct rejects bad = { 0 };
    size_t sum = 0;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 ? '\n' : 'x';
    do {
        batch_fill(&batch, &block, &how, &bad);
        assert_true(batch.n <= BATCH);
        sum += batch.n;
    } while (batch.n);
    assert_int_equal(sum, sizeof text / 2);
}

TEST(causes_beyond_the_eighth_are_counted_together)
{
    struct rejects sum = { 0 }, block = { 0 };
    char cause[24];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 12; i++) {
            snprintf(cause, sizeof cause, "cause %d", i);
            rejects_add(&block, NULL, (uint64_t)i + 1, cause);
        }
        rejects_fold(&sum, &block, 100 * (uint64_t)round, NULL);
        assert_int_equal(block.count, 0);
    }
    assert_int_equal(sum.count, 36);
    assert_int_equal(sum.cause[0].count, 3);
    assert_int_equal(sum.cause[0].at[2].line, 201);
    assert_int_equal(sum.cause[CAUSES - 1].count, 15);
    assert_string_equal(sum.cause[CAUSES - 1].text, "other causes");
}

TEST(what_is_excluded_is_exactly_what_was_listed)
{
    enum { MANY = 20000 };
    struct exclude e = { 0 };
    struct seen_key key;

    seen_key_number(&key, 0);
    assert_false(exclude_has(&e, &key));
    for (uint64_t i = 0; i < MANY; i++) {
        seen_key_number(&key, i % (MANY / 2));
        assert_true(exclude_add(&e, &key));
    }
    assert_int_equal(e.used, MANY / 2);
    for (uint64_t i = 0; i < MANY; i++) {
        seen_key_number(&key, i);
        assert_int_equal(exclude_has(&e, &key), i < MANY / 2);
    }
    exclude_clear(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_lines_are_left_out_and_numbered),
        cmocka_unit_test(strict_reading_stops_at_the_first_bad_line),
        cmocka_unit_test(a_batch_takes_what_fits_and_goes_on_behind_it),
        cmocka_unit_test(causes_beyond_the_eighth_are_counted_together),
        cmocka_unit_test(what_is_excluded_is_exactly_what_was_listed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
