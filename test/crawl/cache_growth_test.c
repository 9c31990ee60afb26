/* cache_growth_test.c - a cache of a crawl is replaced by a larger one when it is
   full, and nothing waits long for it. */
#include "../test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../crawl/folder/cache_inside.h"
#include "../../lib/disk/disk.h"

enum { LEAST = 16, MOST = 256, MANY = 150000 };

static char folder[] = "/tmp/seen-cache-XXXXXX";
static struct crawl_state at = { .folder = folder,
                                 .visit = { .id = 1, .seed = 7 } };
static struct crawl_settings settings = { .rate = 1e-6 };

static int make_folder(void **unused)
{
    (void)unused;
    return !mkdtemp(folder);
}

static int remove_folder(void **unused)
{
    char name[64];

    (void)unused;
    snprintf(name, sizeof name, "%s/cache-1.keys", folder);
    unlink(name);
    return rmdir(folder);
}

static void begin(struct crawl_cache *c)
{
    struct seen_error why;

    *c = (struct crawl_cache){ .state = &at,
                               .settings = &settings,
                               .growth.keys.fd = -1 };
    if (crawl_cache_make(c, &why) != SEEN_OK)
        fail_msg("%s", why.text);
}

static void end(struct crawl_cache *c)
{
    seen_filter_free(c->filter);
    crawl_growth_close(&c->growth);
}

static struct seen_key key_of(uint64_t i)
{
    return (struct seen_key){ .lo = seen_mix(i),
                              .hi = seen_mix(i + (1u << 30)) };
}

/* Add keys first, ..., first + n - 1. Returns how many were copied. */
static uint64_t add(struct crawl_cache *c, uint64_t first, size_t n)
{
    struct seen_key key[CRAWL_CACHE_BATCH];
    const uint64_t before = c->growth.next ? c->growth.copied : 0;
    const struct seen_filter *filter = c->filter;
    struct seen_error why;

    for (size_t i = 0; i < n; i++)
        key[i] = key_of(first + i);
    if (crawl_growth_add(&c->growth, &c->filter, key, n, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    return c->growth.next || c->filter != filter ? c->growth.copied - before
                                                 : 0;
}

static uint64_t count_found(const struct crawl_cache *c, uint64_t from,
                            uint64_t to)
{
    struct seen_error why;
    uint64_t n = 0;

    for (; from < to; from++) {
        const struct seen_key key = key_of(from);
        bool seen;

        assert_int_equal(seen_filter_has(c->filter, &key, 1, &seen, &why),
                         SEEN_OK);
        n += seen;
    }
    return n;
}

static double bits(const struct seen_filter *f)
{
    double sum = (double)seen_filter_plan(f)->bits;

    if (seen_filter_parts(f))
        sum = 0;
    for (unsigned i = 0; i < seen_filter_parts(f); i++)
        sum += bits(seen_filter_part(f, i));
    return sum;
}

/* Bits of a filter that was planned for exactly n keys. */
static double least_bits(const struct crawl_cache *c, uint64_t n)
{
    struct seen_plan plan = *seen_filter_plan(c->filter);
    struct seen_filter *f;
    double least;

    plan.capacity = n;
    plan.bits = 0;
    plan.multiplier = 0;
    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
    least = bits(f);
    seen_filter_free(f);
    return least;
}

TEST(it_grows_by_slices_and_keeps_rate_and_size)
{
    struct crawl_cache c;
    uint64_t n = 0, growths = 0;
    double ratios = 0, steps = 0;

    begin(&c);
    assert_true(bits(c.filter) / 8 < 50000);
    for (size_t some = 1; n < MANY; some = 1 + some * 7 % 256) {
        const struct seen_filter *was = c.filter;
        const uint64_t copied = add(&c, n, some);

        n += some;
        assert_int_equal(c.growth.keys.count, n);
        assert_true(copied <= 2 * LEAST * some);
        growths += c.filter != was;
        assert_true(n <= seen_filter_plan(c.filter)->capacity);
        /* The load of a filter varies: 1 % in the rate. */
        assert_true(seen_filter_rate(c.filter) < 1.02e-6);
        if (n >= 20000 && n % 8 == 0) {
            const double ratio = bits(c.filter) / least_bits(&c, n);

            assert_true(ratio <= 2);
            ratios += ratio * (double)some / (double)n;
            steps += (double)some / (double)n;
        }
    }
    assert_int_equal(growths, 5); /* 12,000 * 1.875^5 */
    assert_true(ratios / steps <= 1.5);
    assert_string_equal(seen_filter_plan(c.filter)->kind, "spatial:3/blocked");
    assert_int_equal(count_found(&c, 0, n), n);
    assert_true(count_found(&c, n, 2 * n) <= 3);
    end(&c);
}

/* Stopped and resumed from the copy: what `next` had is lost, and is copied
   again in what room is left. */
TEST(one_that_was_stopped_while_it_grew_grows_then)
{
    struct crawl_cache c;
    char mark[CRAWL_KEYS_MARK];
    struct seen_filter *filter;
    uint64_t n = 0;

    begin(&c);
    filter = c.filter;
    while (n < 11900)
        add(&c, n++, 1);
    assert_true(c.growth.next && c.growth.copied && c.filter == filter);
    assert_int_equal(crawl_keys_flush(&c.growth.keys, mark, NULL), SEEN_OK);
    add(&c, 1 << 20, 10); /* killed after these */
    c.filter = NULL;
    end(&c);

    c = (struct crawl_cache){ .state = &at,
                              .settings = &settings,
                              .filter = filter };
    crawl_keys_resume(&c.growth.keys, crawl_cache_keys_path(&at, 1), mark);
    assert_true(c.growth.keys.kept);
    assert_int_equal(c.growth.keys.count, n);
    while (n < 12000) {
        assert_true(add(&c, n++, 1) <= MOST);
        if (c.filter != filter)
            break;
    }
    assert_true(c.filter != filter && !c.growth.next);
    assert_int_equal(count_found(&c, 0, n), n);
    end(&c);
}

TEST(a_damaged_log_makes_no_filter)
{
    struct crawl_cache c;
    uint64_t n = 0;

    begin(&c);
    for (; n < 11000; n += 100)
        add(&c, n, 100);
    assert_int_equal(
        crawl_keys_flush(&c.growth.keys, (char[CRAWL_KEYS_MARK]){ 0 }, NULL),
        SEEN_OK);
    assert_int_equal(pwrite(c.growth.keys.fd, "damage", 6, 4000), 6);
    for (; n < 15000; n += 100)
        add(&c, n, 100);
    assert_true(!c.growth.next && !c.growth.keys.kept);
    assert_int_equal(count_found(&c, 0, n), n);
    assert_true(seen_filter_rate(c.filter) > 1e-6); /* and says so */
    end(&c);
}

TEST(a_log_that_was_cut_or_has_no_mark_is_not_used)
{
    struct crawl_cache c;
    struct crawl_keys k;
    char mark[CRAWL_KEYS_MARK];
    char *path = crawl_cache_keys_path(&at, 1);
    struct stat it;

    begin(&c);
    add(&c, 0, 200);
    assert_int_equal(crawl_keys_flush(&c.growth.keys, mark, NULL), SEEN_OK);
    end(&c);
    assert_int_equal(stat(path, &it), 0);
    assert_int_equal(it.st_mode & 0777, 0600);
    assert_int_equal(it.st_size, 200 * 16);
    for (int cut = 0; cut < 2; cut++) {
        crawl_keys_resume(&k, strdup(path), mark);
        assert_int_equal(k.kept, !cut);
        crawl_keys_close(&k);
        assert_int_equal(truncate(path, 200 * 16 - 1), 0);
    }
    crawl_keys_resume(&k, strdup(path), "none");
    assert_false(k.kept);
    crawl_keys_close(&k);
    free(path);
}

/* A worker's cache: the frontier decides, so nothing fails if keys cannot be
   kept. The file has no name. */
TEST(keys_without_a_name_need_no_file_while_they_are_few)
{
    for (int full = 0; full < 2; full++) {
        struct crawl_cache c;
        uint64_t n = 0;

        begin(&c);
        crawl_keys_close(&c.growth.keys);
        crawl_keys_begin_unnamed(&c.growth.keys,
                                 full ? "/nothing/there" : folder);
        for (; n < 4096; n += 16)
            add(&c, n, 16);
        assert_int_equal(c.growth.keys.fd, -1);
        for (; n < 30000; n += 240)
            add(&c, n, 240);
        assert_int_equal(c.growth.keys.kept, !full);
        assert_true(full || seen_filter_plan(c.filter)->capacity > n);
        assert_int_equal(count_found(&c, 0, n), n);
        end(&c);
    }
}

static ssize_t full_disk(int fd, const void *from, size_t len, off_t to)
{
    (void)fd;
    (void)from;
    (void)len;
    (void)to;
    errno = ENOSPC;
    return -1;
}

TEST(a_disk_that_is_full_while_keys_are_copied_loses_none)
{
    ssize_t (*const usual)(int, const void *, size_t, off_t) = disk_pwrite;
    struct crawl_cache c;
    uint64_t n = 0;

    begin(&c);
    crawl_keys_close(&c.growth.keys);
    crawl_keys_begin_unnamed(&c.growth.keys, folder);
    while (!c.growth.next)
        add(&c, n++, 1);
    disk_pwrite = full_disk;
    for (; n < 30000; n += 10)
        add(&c, n, 10);
    disk_pwrite = usual;
    assert_false(c.growth.next || c.growth.keys.kept);
    assert_int_equal(count_found(&c, 0, n), n);
    end(&c);
}

TEST(every_kind_that_keeps_keys_grows)
{
    static const char *const kinds[] = { "blocked",        "bloom",
                                         "counting:4",     "dynamic:4/bloom",
                                         "routed:4/bloom", "spatial:2/bloom" };

    settings.rate = 0.01;
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        struct crawl_cache c;
        uint64_t n = 0;

        settings.cache = kinds[i];
        begin(&c);
        assert_true(c.growth.keys.kept);
        for (; n < 30000; n += 200)
            add(&c, n, 200);
        assert_true(seen_filter_plan(c.filter)->capacity > n);
        assert_int_equal(strncmp(seen_filter_plan(c.filter)->kind, kinds[i],
                                 strlen(kinds[i])),
                         0);
        assert_true(seen_filter_rate(c.filter) <=
                    1.1 * seen_filter_planned(c.filter));
        assert_int_equal(count_found(&c, 0, n), n);
        end(&c);
    }
    settings = (struct crawl_settings){ .rate = 1e-6 };
}

/* With a capacity, a kind that was asked for is what it was made for. */
TEST(only_those_keep_keys_that_need_them)
{
    static const struct {
        const char *cache;
        uint64_t capacity;
        bool kept;
    } made[] = {
        { NULL, 0, true },           { NULL, 5000, true },
        { "bloom", 0, true },        { "bloom", 5000, false },
        { "bloom:md5", 0, false },   { "growing/bloom", 0, false },
        { "fuse+blocked", 0, true },
    };

    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        struct crawl_cache c;

        settings.cache = made[i].cache;
        settings.capacity = made[i].capacity;
        settings.rate = 0.01;
        begin(&c);
        assert_int_equal(c.growth.keys.kept, made[i].kept);
        if (made[i].capacity)
            assert_int_equal(seen_filter_plan(c.filter)->capacity, 5000);
        end(&c);
    }
    settings = (struct crawl_settings){ .rate = 1e-6 };
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_grows_by_slices_and_keeps_rate_and_size),
        cmocka_unit_test(one_that_was_stopped_while_it_grew_grows_then),
        cmocka_unit_test(a_damaged_log_makes_no_filter),
        cmocka_unit_test(a_log_that_was_cut_or_has_no_mark_is_not_used),
        cmocka_unit_test(keys_without_a_name_need_no_file_while_they_are_few),
        cmocka_unit_test(a_disk_that_is_full_while_keys_are_copied_loses_none),
        cmocka_unit_test(every_kind_that_keeps_keys_grows),
        cmocka_unit_test(only_those_keep_keys_that_need_them),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
