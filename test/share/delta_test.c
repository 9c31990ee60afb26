/*
 * delta_test.c - from one version to the next, or not at all.
 *
 * The folder has old.seen and new.seen; deltas go to d.delta, what they give
 * to made.seen.
 */
#include "test/store/stored.h"

#include "lib/share/delta.h"
#include "lib/store/format.h"

#include <seen/share.h>

static char old[128], new[128], delta[128], made[128];

static int begin(void **state)
{
    int failed = enter(state);

    snprintf(old, sizeof old, "%s/old.seen", folder);
    snprintf(new, sizeof new, "%s/new.seen", folder);
    snprintf(delta, sizeof delta, "%s/d.delta", folder);
    snprintf(made, sizeof made, "%s/made.seen", folder);
    return failed;
}

static void save(const struct seen_filter *f, const char *name)
{
    assert_int_equal(seen_store_save(f, name, NULL), SEEN_OK);
}

/* The two versions: the first n keys, then `more`. */
static void versions(const char *kind, uint64_t capacity, size_t n,
                     size_t more)
{
    struct seen_plan plan = plan_of(kind, capacity);
    struct seen_filter *f = holding(&plan, n);

    assert_int_equal(seen_meta_set(f, "as-of", "2026-11-01", NULL), SEEN_OK);
    save(f, old);
    assert_int_equal(seen_filter_add(f, key + n, more, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_meta_set(f, "as-of", "2026-11-15, later", NULL),
                     SEEN_OK);
    save(f, new);
    seen_filter_free(f);
}

static void assert_same_bytes(const char *one, const char *two)
{
    size_t n, m;
    unsigned char *a = slurp(one, &n), *b = slurp(two, &m);

    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
}

/* Make the delta, apply it, compare; its size, and its coding. */
static uint64_t round_trip(uint32_t *coding)
{
    struct seen_error why = { .text = "" };
    unsigned char *bytes;
    uint64_t size = 0;
    size_t len;

    if (seen_delta_make(old, new, delta, &size, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    bytes = slurp(delta, &len);
    assert_int_equal(len, size);
    if (coding)
        memcpy(coding, bytes + 12, sizeof *coding);
    free(bytes);
    if (seen_delta_apply(old, delta, made, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    assert_same_bytes(new, made);
    unlink(made);
    return size;
}

static enum seen_code apply(struct seen_error *why)
{
    enum seen_code code = seen_delta_apply(old, delta, made, why);

    if (code != SEEN_OK)
        assert_int_equal(access(made, F_OK), -1);
    return code;
}

/* --- what it gives -------------------------------------------------------- */

static const char *const kinds[] = {
    "bloom",
    "bloom:md5",
    "blocked",
    "counting:4",
    "counting:8",
    "counting:16,minimal",
    "counting:32",
    "layered:3",
    "spatial:2/bloom",
    "growing/blocked",
    "dynamic:4/bloom",
    "routed:4/blocked",
    "routed:16,md5/bloom:jenkins",
    "routed:4/counting:8",
    "spatial:2/routed:4/growing/bloom",
};

TEST(what_a_delta_gives_is_the_new_file_byte_for_byte)
{
    static const size_t more[] = { 0, 1, 2, 30, 300, 1500 };

    for (size_t i = 0; i < LENGTH(kinds); i++)
        for (size_t j = 0; j < LENGTH(more); j++) {
            versions(kinds[i], 50000, 2000, more[j]);
            round_trip(NULL);
        }
}

TEST(a_delta_works_over_many_blocks)
{
    static const char *const many[] = { "bloom", "blocked", "counting:16",
                                        "routed:8/layered:2" };

    for (size_t i = 0; i < LENGTH(many); i++) {
        versions(many[i], 1000000, 2000, 2000);
        assert_true(round_trip(NULL) < 60000);
    }
}

TEST(cells_that_go_back_to_zero_travel_too)
{
    struct seen_plan plan = plan_of("counting:4", 3000);
    struct seen_filter *f = holding(&plan, 2000);

    for (int i = 0; i < 20; i++) /* up to where counters stop */
        assert_int_equal(seen_filter_add(f, key, 5, NULL, NULL), SEEN_OK);
    save(f, old);
    assert_int_equal(seen_filter_remove(f, key + 100, 400, NULL), SEEN_OK);
    save(f, new);
    round_trip(NULL);
    seen_filter_free(f);
}

TEST(steps_of_counters_go_both_ways_and_around)
{
    static const unsigned width[] = { 1, 4, 8, 16, 32 };

    for (size_t i = 0; i < LENGTH(width); i++) {
        uint64_t most = (UINT64_C(1) << width[i]) - 1;
        uint64_t some[] = { 0, 1, 2, most / 2, most / 2 + 1, most - 1, most };

        for (size_t a = 0; a < LENGTH(some); a++)
            for (size_t b = 0; b < LENGTH(some); b++) {
                uint64_t x = some[a] & most, y = some[b] & most, step;

                if (x == y)
                    continue;
                step = step_of(x, y, width[i]);
                assert_true(step <= step_most(width[i]));
                assert_int_equal(step_by(x, step, width[i]), y);
            }
    }
    assert_int_equal(step_of(7, 8, 8), 0);
    assert_int_equal(step_of(8, 7, 8), 1);
    assert_int_equal(step_of(7, 9, 8), 2);
}

TEST(a_delta_of_metadata_alone_is_small)
{
    versions("bloom", 100000, 2000, 0);
    assert_true(round_trip(NULL) < 600);
}

/* An empty filter as the old one; as the new one, noise in every second
   line. */
static void noise(const char *kind, uint64_t capacity)
{
    struct seen_plan plan = plan_of(kind, capacity);
    struct seen_filter *f = holding(&plan, 0);

    save(f, old);
    for (size_t i = 0; i < f->size; i++)
        if (i / 64 % 2)
            f->cells[i] = (unsigned char)seen_mix(i);
    save(f, new);
    seen_filter_free(f);
}

TEST(each_coding_is_chosen_where_it_is_smallest)
{
    uint32_t coding;

    versions("bloom", 100000, 2000, 500);
    round_trip(&coding);
    assert_int_equal(coding, BY_CELL);
    versions("blocked", 100000, 2000, 500);
    round_trip(&coding);
    assert_int_equal(coding, IN_LINES);
    noise("counting:8", 4000);
    round_trip(&coding);
    assert_int_equal(coding, BY_LINE);
    versions("counting:16", 4000, 2000, 500);
    round_trip(&coding);
    assert_int_equal(coding, BY_CELL);
}

/* --- what is refused ------------------------------------------------------ */

static void assert_unable(const char *says)
{
    struct seen_error why = { .text = "" };

    assert_int_equal(seen_delta_make(old, new, delta, NULL, &why),
                     SEEN_UNABLE);
    assert_non_null(strstr(why.text, says));
    assert_int_equal(access(delta, F_OK), -1);
}

static void store_at(const char *name, const char *kind, uint64_t capacity,
                     size_t n)
{
    struct seen_plan plan = plan_of(kind, capacity);
    struct seen_filter *f = holding(&plan, n);

    save(f, name);
    seen_filter_free(f);
}

TEST(a_changed_plan_needs_the_whole_file)
{
    store_at(old, "bloom", 1000, 100);
    store_at(new, "bloom", 2000, 100);
    assert_unable("the plan has changed");
    store_at(new, "blocked", 1000, 100);
    assert_unable("the plan has changed");
    store_at(old, "growing/bloom", 500, 400);
    store_at(new, "growing/bloom", 500, 1000); /* has one part more */
    assert_unable("the plan has changed");
}

TEST(what_is_built_once_needs_the_whole_file)
{
    static const char *const kind[] = { "fuse", "ribbon" };

    for (int i = 0; i < 2; i++) {
        store_at(old, kind[i], 1000, 1000);
        store_at(new, kind[i], 1000, 1000);
        assert_unable("cell by cell");
    }
}

/* A bit costs at most a bit; but the bytes of a counter that became noise
   cost 64 bytes a line, and a bit for the gap. */
TEST(no_delta_is_made_that_is_larger_than_the_file)
{
    struct seen_plan plan = plan_of("counting:8", 400000);
    struct seen_filter *f = holding(&plan, 0);

    save(f, old);
    for (size_t i = 0; i < f->size; i++)
        f->cells[i] = (unsigned char)seen_mix(i);
    save(f, new);
    seen_filter_free(f);
    assert_unable("would not be smaller");
}

TEST(a_file_that_is_being_written_is_refused)
{
    struct seen_filter *f;

    store_at(old, "bloom", 1000, 100);
    store_at(new, "bloom", 1000, 200);
    assert_int_equal(seen_store_open(&f, new, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(f, key + 300, 10, NULL, NULL), SEEN_OK);
    assert_unable("a writer has it open");
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    round_trip(NULL);
}

TEST(a_delta_for_another_version_is_a_mismatch)
{
    struct seen_error why;

    versions("bloom", 1000, 100, 10);
    assert_int_equal(seen_delta_make(old, new, delta, NULL, NULL), SEEN_OK);
    store_at(old, "bloom", 1000, 50);
    assert_int_equal(apply(&why), SEEN_MISMATCH);
    store_at(old, "blocked", 5000, 50);
    assert_int_equal(apply(&why), SEEN_MISMATCH);
    unlink(old);
    assert_int_equal(apply(&why), SEEN_IO);
}

TEST(a_file_that_is_there_stays)
{
    size_t len;
    unsigned char *bytes;

    versions("bloom", 1000, 100, 10);
    assert_int_equal(seen_delta_make(old, new, delta, NULL, NULL), SEEN_OK);
    spill(made, "mine", 4);
    assert_int_equal(seen_delta_apply(old, delta, made, NULL), SEEN_IO);
    bytes = slurp(made, &len);
    assert_int_equal(len, 4);
    free(bytes);
}

TEST(every_altered_byte_of_a_delta_is_refused)
{
    static const char *const some[] = { "bloom", "blocked", "counting:8" };

    for (size_t k = 0; k < LENGTH(some); k++) {
        unsigned char *bytes;
        size_t len;

        versions(some[k], 200, 50, 5);
        assert_int_equal(seen_delta_make(old, new, delta, NULL, NULL),
                         SEEN_OK);
        bytes = slurp(delta, &len);
        for (size_t i = 0; i < len; i++) {
            enum seen_code code;

            bytes[i] ^= (unsigned char)(1 << i % 8);
            spill(delta, bytes, len);
            code = apply(NULL);
            if (code != SEEN_CORRUPT && code != SEEN_MISMATCH)
                fail_msg("byte %zu: %d", i, code);
            bytes[i] ^= (unsigned char)(1 << i % 8);
        }
        spill(delta, bytes, len);
        assert_int_equal(apply(NULL), SEEN_OK);
        unlink(made);
        free(bytes);
    }
}

TEST(a_delta_that_was_cut_short_or_added_to_is_refused)
{
    unsigned char *bytes;
    size_t len;

    versions("routed:4/counting:8", 200, 50, 5);
    assert_int_equal(seen_delta_make(old, new, delta, NULL, NULL), SEEN_OK);
    bytes = slurp(delta, &len);
    for (size_t i = 0; i < len; i++) {
        spill(delta, bytes, i);
        assert_int_equal(apply(NULL), SEEN_CORRUPT);
    }
    bytes[len] = 0;
    spill(delta, bytes, len + 1);
    assert_int_equal(apply(NULL), SEEN_CORRUPT);
    free(bytes);
}

/* A delta whose own checksum is right, whatever it says. */
static void forge(unsigned char *bytes, size_t len)
{
    uint64_t sum = 0;
    size_t end = len - DELTA_SUM;

    for (size_t at = 0; at < end; at += BLOCK)
        sum = store_checksum_seeded(bytes + at,
                                    end - at < BLOCK ? end - at : BLOCK, sum);
    memcpy(bytes + end, &sum, sizeof sum);
    spill(delta, bytes, len);
}

TEST(a_delta_with_a_right_checksum_and_wrong_contents_is_refused)
{
    static const char *const some[] = { "bloom", "blocked", "counting:8" };

    for (size_t k = 0; k < LENGTH(some); k++) {
        unsigned char *bytes;
        size_t len;

        versions(some[k], 200, 50, 5);
        assert_int_equal(seen_delta_make(old, new, delta, NULL, NULL),
                         SEEN_OK);
        bytes = slurp(delta, &len);
        for (size_t i = 0; i < len - DELTA_SUM; i++)
            for (int bit = 0; bit < 8; bit += 3) {
                enum seen_code code;

                bytes[i] ^= (unsigned char)(1 << bit);
                forge(bytes, len);
                code = apply(NULL);
                /* A parameter of what is not coded may be anything: the
                   result is then the right one. */
                if (code == SEEN_OK) {
                    assert_in_range(i, 108, 111);
                    assert_same_bytes(new, made);
                    unlink(made);
                } else if (code != SEEN_CORRUPT && code != SEEN_MISMATCH) {
                    fail_msg("byte %zu: %d", i, code);
                }
                bytes[i] ^= (unsigned char)(1 << bit);
            }
        free(bytes);
    }
}

TEST(numbers_without_bound_are_refused_before_they_are_used)
{
    static const size_t at[] = { 16, 56, 96, 112, 120 };
    unsigned char *bytes;
    size_t len;

    versions("bloom", 200, 50, 5);
    assert_int_equal(seen_delta_make(old, new, delta, NULL, NULL), SEEN_OK);
    bytes = slurp(delta, &len);
    for (size_t i = 0; i < LENGTH(at); i++)
        for (int shift = 0; shift < 64; shift += 7) {
            uint64_t was, huge = UINT64_MAX >> shift;
            enum seen_code code;

            memcpy(&was, bytes + at[i], 8);
            memcpy(bytes + at[i], &huge, 8);
            forge(bytes, len);
            code = apply(NULL);
            assert_true(code == SEEN_CORRUPT || code == SEEN_MISMATCH);
            memcpy(bytes + at[i], &was, 8);
        }
    free(bytes);
}

TEST(what_is_no_delta_is_refused)
{
    versions("bloom", 200, 50, 5);
    assert_int_equal(seen_delta_apply(old, new, made, NULL), SEEN_CORRUPT);
    assert_int_equal(seen_delta_apply(old, folder, made, NULL), SEEN_CORRUPT);
    assert_int_equal(seen_delta_apply(old, delta, made, NULL), SEEN_IO);
    assert_int_equal(seen_delta_make(old, folder, delta, NULL, NULL), SEEN_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(what_a_delta_gives_is_the_new_file_byte_for_byte),
        FRESH(a_delta_works_over_many_blocks),
        FRESH(cells_that_go_back_to_zero_travel_too),
        FRESH(steps_of_counters_go_both_ways_and_around),
        FRESH(a_delta_of_metadata_alone_is_small),
        FRESH(each_coding_is_chosen_where_it_is_smallest),
        FRESH(a_changed_plan_needs_the_whole_file),
        FRESH(what_is_built_once_needs_the_whole_file),
        FRESH(no_delta_is_made_that_is_larger_than_the_file),
        FRESH(a_file_that_is_being_written_is_refused),
        FRESH(a_delta_for_another_version_is_a_mismatch),
        FRESH(a_file_that_is_there_stays),
        FRESH(every_altered_byte_of_a_delta_is_refused),
        FRESH(a_delta_that_was_cut_short_or_added_to_is_refused),
        FRESH(a_delta_with_a_right_checksum_and_wrong_contents_is_refused),
        FRESH(numbers_without_bound_are_refused_before_they_are_used),
        FRESH(what_is_no_delta_is_refused),
    };

    return cmocka_run_group_tests(tests, begin, leave);
}
