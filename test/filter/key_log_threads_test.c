/* key_log_threads_test.c - kept keys make the filter that they would have filled. */
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/build.h>
#include <seen/key_log.h>

#include "lib/disk/disk.h"

enum { KEYS = 60000, FEW = 5000, CALL = 700 };

static const struct seen_key_log_place in_memory = { NULL, UINT64_MAX };
static const struct seen_key_log_place in_file = { ".", 0 };
/* One block in memory, the others in the file. */
static const struct seen_key_log_place in_both = { ".", 1 << 18 };

static struct seen_key *url;

static int make_urls(void **state)
{
    *state = url = urls_new(KEYS);
    return 0;
}

static int free_urls(void **state)
{
    free(*state);
    return 0;
}

static struct seen_key_log *log_of(const struct seen_plan *plan,
                                   unsigned lanes,
                                   const struct seen_key_log_place *place)
{
    struct seen_error why = { .code = SEEN_OK };
    struct seen_key_log *log;

    if (seen_key_log_new(&log, plan, secret_of(plan), lanes, place, &why) !=
        SEEN_OK)
        fail_msg("%s: %s", plan->kind, why.text);
    return log;
}

/* Keys `from` to `to`, in calls of CALL, to one lane after the other. */
static void keep(struct seen_key_log *log, unsigned lanes, size_t from,
                 size_t to)
{
    struct seen_error why = { .code = SEEN_OK };

    for (unsigned i = 0; from < to; from += CALL, i++)
        if (seen_key_log_add(log, i % lanes, url + from,
                             to - from < CALL ? to - from : CALL,
                             &why) != SEEN_OK)
            fail_msg("%s", why.text);
}

static struct seen_filter *of_log(struct seen_key_log *log,
                                  const struct seen_plan *plan)
{
    struct seen_error why = { .code = SEEN_OK };
    struct seen_filter *f;

    if (seen_key_log_build(log, plan, &f, &why) != SEEN_OK)
        fail_msg("%s: %s", plan->kind, why.text);
    return f;
}

/* The same without a log. */
static struct seen_filter *of_keys(const struct seen_plan *plan, size_t n)
{
    struct seen_build *b;
    struct seen_filter *f;

    assert_int_equal(seen_build_new_keyed(&b, plan, secret_of(plan), 1, NULL),
                     SEEN_OK);
    for (size_t at = 0; at < n; at += CALL)
        assert_int_equal(seen_build_add(b, 0, url + at,
                                        n - at < CALL ? n - at : CALL, NULL),
                         SEEN_OK);
    assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
    return f;
}

static void check_kind(const char *kind, bool keyed)
{
    struct seen_plan plan = plan_of(kind, FEW, 0.01);
    unsigned lanes = seen_kind_can(kind, SEEN_NEEDS_ORDER) ? 1 : 3;
    struct seen_filter *f, *g;

    if (seen_kind_can(kind, SEEN_BUILT_ONCE))
        plan.rate = 0; /* they have theirs */
    plan.keyed = keyed;
    f = of_keys(&plan, FEW);
    for (int file = 0; file < 2; file++) {
        struct seen_key_log *log = log_of(&plan, lanes,
                                          file ? &in_file : &in_memory);

        keep(log, lanes, 0, FEW);
        assert_int_equal(seen_key_log_count(log), FEW);
        for (int again = 0; again < 2; again++) { /* the log stays */
            g = of_log(log, &plan);
            assert_true(same(f, g));
            assert_int_equal(seen_filter_offered(f), seen_filter_offered(g));
            seen_filter_free(g);
        }
        seen_key_log_free(log);
    }
    seen_filter_free(f);
}

TEST(every_kind_has_the_bytes_that_it_has_without_a_log)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++)
        check_kind(every_kind[i], false);
    for (size_t i = 0; i < LENGTH(built_kind); i++)
        check_kind(built_kind[i], false);
}

TEST(keyed_kinds_too)
{
    static const char *const kind[] = { "blocked", "bloom", "fuse",
                                        "growing/blocked", "layered:3" };

    for (size_t i = 0; i < LENGTH(kind); i++)
        check_kind(kind[i], true);
}

TEST(most_keys_go_to_the_file_and_come_back)
{
    static const char *const kind[] = { "blocked", "bloom:md5",
                                        "growing/bloom" };

    for (size_t i = 0; i < LENGTH(kind); i++) {
        struct seen_plan plan = plan_of(kind[i], KEYS, 0.01);
        unsigned lanes = seen_kind_can(kind[i], SEEN_NEEDS_ORDER) ? 1 : 2;
        struct seen_key_log *log = log_of(&plan, lanes, &in_both);
        struct seen_filter *f = of_keys(&plan, KEYS), *g;

        keep(log, lanes, 0, KEYS);
        g = of_log(log, &plan);
        assert_true(same(f, g));
        seen_filter_free(f);
        seen_filter_free(g);
        seen_key_log_free(log);
    }
}

/* distinct_test.c has the band. */
TEST(the_size_is_that_of_the_distinct_keys)
{
    struct seen_plan plan = plan_of("layered:2", 0, 0.01);
    struct seen_key_log *log = log_of(&plan, 2, &in_memory);
    struct seen_plan once = plan;

    keep(log, 2, 0, FEW);
    seen_key_log_size(log, &once);
    assert_in_range(once.capacity, FEW, FEW * 1.04);
    assert_in_range(once.segments[0], 100, 104); /* hosts: cases.h */
    keep(log, 2, 0, FEW);
    seen_key_log_size(log, &plan);
    assert_memory_equal(&plan, &once, sizeof plan);
    assert_int_equal(seen_key_log_count(log), 2 * FEW);
    assert_true(seen_key_log_distinct(log) < FEW * 1.0203);
    seen_key_log_free(log);
}

TEST(an_empty_log_makes_an_empty_filter)
{
    struct seen_plan plan = plan_of("blocked", 0, 0.01);
    struct seen_key_log *log = log_of(&plan, 2, &in_both);
    struct seen_filter *f;

    seen_key_log_size(log, &plan);
    f = of_log(log, &plan);
    assert_int_equal(seen_filter_cells_set(f), 0);
    seen_filter_free(f);
    seen_key_log_free(log);
}

/* --- a saved log --- */

static const char path[] = "key_log_threads_test.keys";

/* A log of half of the keys, saved in two steps, and keys that come too late. */
static struct seen_key_log_mark save_half(const struct seen_plan *plan,
                                          const struct seen_key_log_place *at)
{
    struct seen_key_log *log = log_of(plan, 2, at);
    struct seen_key_log_mark mark;

    keep(log, 2, 0, 20 * CALL);
    assert_int_equal(seen_key_log_save(log, path, &mark, NULL), SEEN_OK);
    keep(log, 2, 20 * CALL, 40 * CALL);
    assert_int_equal(seen_key_log_save(log, path, &mark, NULL), SEEN_OK);
    keep(log, 2, 50 * CALL, KEYS);
    seen_key_log_free(log);
    return mark;
}

TEST(a_saved_log_goes_on_with_the_same_bytes)
{
    static const char *const kind[] = { "blocked", "bloom:md5", "layered:3" };

    for (size_t i = 0; i < 2 * LENGTH(kind); i++) {
        const struct seen_key_log_place *place = i % 2 ? &in_both : &in_file;
        struct seen_plan plan = plan_of(kind[i / 2], KEYS, 0.01);
        struct seen_plan size = plan, again = plan;
        struct seen_filter *f = of_keys(&plan, KEYS), *g;
        struct seen_key_log_mark mark = save_half(&plan, place);
        struct seen_key_log *log = log_of(&plan, 2, place);

        assert_int_equal(seen_key_log_restore(log, path, &mark, NULL),
                         SEEN_OK);
        assert_int_equal(seen_key_log_count(log), 40 * CALL);
        keep(log, 2, 40 * CALL, KEYS);
        seen_key_log_size(log, &again);
        g = of_log(log, &plan);
        assert_true(same(f, g));
        assert_int_equal(seen_filter_offered(f), seen_filter_offered(g));
        seen_filter_free(g);
        seen_key_log_free(log);

        log = log_of(&plan, 1, &in_memory);
        keep(log, 1, 0, KEYS);
        seen_key_log_size(log, &size);
        assert_int_equal(size.capacity, again.capacity);
        assert_memory_equal(size.segments, again.segments,
                            sizeof size.segments);
        seen_key_log_free(log);
        seen_filter_free(f);
        unlink(path);
    }
}

TEST(a_saved_log_that_was_damaged_is_refused)
{
    struct seen_plan plan = plan_of("blocked", KEYS, 0.01);
    struct seen_key_log_mark mark = save_half(&plan, &in_file);
    const off_t at[] = { 0, 8, 17, (off_t)mark.bytes - 1 };
    int fd = open(path, O_RDWR);

    for (size_t i = 0; i <= LENGTH(at); i++) {
        struct seen_key_log *log = log_of(&plan, 1, &in_file);
        unsigned char byte;

        if (i < LENGTH(at)) {
            assert_int_equal(pread(fd, &byte, 1, at[i]), 1);
            byte ^= 0x80;
            assert_int_equal(pwrite(fd, &byte, 1, at[i]), 1);
        } else {
            assert_int_equal(ftruncate(fd, (off_t)mark.bytes - 1), 0);
        }
        assert_int_equal(seen_key_log_restore(log, path, &mark, NULL),
                         SEEN_CORRUPT);
        seen_key_log_free(log);
        byte ^= 0x80;
        if (i < LENGTH(at))
            assert_int_equal(pwrite(fd, &byte, 1, at[i]), 1);
    }
    close(fd);
    unlink(path);
}

/* --- no place --- */

/* How a log of all keys ends. */
static enum seen_code keep_all(const struct seen_key_log_place *place,
                               struct seen_error *why)
{
    struct seen_plan plan = plan_of("blocked", KEYS, 0.01);
    struct seen_key_log *log = log_of(&plan, 1, place);
    enum seen_code code = seen_key_log_add(log, 0, url, KEYS, why);

    seen_key_log_free(log);
    return code;
}

static ssize_t no_space(int fd, const void *from, size_t len, off_t at)
{
    (void)fd, (void)from, (void)len, (void)at;
    errno = ENOSPC;
    return -1;
}

TEST(a_full_disk_is_an_error_with_its_reason)
{
    ssize_t (*was)(int, const void *, size_t, off_t) = disk_pwrite;
    struct seen_error why;

    disk_pwrite = no_space;
    assert_int_equal(keep_all(&in_file, &why), SEEN_IO);
    disk_pwrite = was;
    assert_int_equal(why.system, ENOSPC);
}

TEST(without_a_folder_memory_is_the_limit)
{
    const struct seen_key_log_place none = { "/nonesuch", 0 };
    const struct seen_key_log_place little = { NULL, 1 << 18 };
    struct seen_error why;

    assert_int_equal(keep_all(&little, &why), SEEN_FULL);
    assert_int_equal(keep_all(&none, &why), SEEN_IO);
    assert_int_equal(why.system, ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_the_bytes_that_it_has_without_a_log),
        cmocka_unit_test(keyed_kinds_too),
        cmocka_unit_test(most_keys_go_to_the_file_and_come_back),
        cmocka_unit_test(the_size_is_that_of_the_distinct_keys),
        cmocka_unit_test(an_empty_log_makes_an_empty_filter),
        cmocka_unit_test(a_saved_log_goes_on_with_the_same_bytes),
        cmocka_unit_test(a_saved_log_that_was_damaged_is_refused),
        cmocka_unit_test(a_full_disk_is_an_error_with_its_reason),
        cmocka_unit_test(without_a_folder_memory_is_the_limit),
    };

    return cmocka_run_group_tests(tests, make_urls, free_urls);
}
