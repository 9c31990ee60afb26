/*
 * grow_test.c - a filter that grows in slices: no add pays for all of it, and
 * nothing that comes between two slices loses a key.
 */
#include "lib/store/grow.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include "stored.h"

#include "lib/disk/disk.h"

enum { FIRST = 20000 };

/* Keys that were added to filters of any kind `counted`. */
static uint64_t work;
static const struct seen_kind *blocked;

static enum seen_code counted_add(struct seen_filter *f,
                                  const struct seen_key *keys, size_t n,
                                  bool *fresh, struct seen_error *why)
{
    work += n;
    return blocked->add(f, keys, n, fresh, why);
}

/* `blocked` that counts. */
static void register_counted(void)
{
    static struct seen_kind counted;

    if (blocked)
        return;
    blocked = seen_kind_find("blocked");
    counted = *blocked;
    counted.name = counted.synopsis = "counted";
    counted.add = counted_add;
    counted.add_one = NULL;
    assert_int_equal(seen_kind_register(&counted, NULL), SEEN_OK);
}

static struct seen_filter *open_as(enum seen_sync sync)
{
    const struct seen_access access = { .sync = sync };
    struct seen_filter *f;
    struct seen_error why;

    if (seen_store_open(&f, path, &access, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    return f;
}

static void create(const char *kind, uint64_t capacity)
{
    struct seen_plan plan = plan_of(kind, capacity);
    struct seen_filter *f;

    plan.tight = true;
    f = holding(&plan, 0);
    assert_int_equal(seen_store_keep_keys(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_create(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
}

static void add_numbers(struct seen_filter *f, uint64_t from, uint64_t to)
{
    static struct seen_key keys[1024];
    struct seen_error why;
    size_t n;

    for (; from < to; from += n) {
        n = to - from < LENGTH(keys) ? (size_t)(to - from) : LENGTH(keys);
        for (size_t i = 0; i < n; i++)
            seen_key_number(&keys[i], from + i);
        if (seen_filter_add(f, keys, n, NULL, &why) != SEEN_OK)
            fail_msg("%s", why.text);
    }
}

static void assert_has_numbers(const struct seen_filter *f, uint64_t n)
{
    static struct seen_key keys[1024];
    static bool seen[1024];
    uint64_t found = 0;

    for (uint64_t at = 0; at < n; at += LENGTH(keys)) {
        size_t some = n - at < LENGTH(keys) ? (size_t)(n - at) : LENGTH(keys);

        for (size_t i = 0; i < some; i++)
            seen_key_number(&keys[i], at + i);
        assert_int_equal(seen_filter_has(f, keys, some, seen, NULL), SEEN_OK);
        for (size_t i = 0; i < some; i++)
            found += seen[i];
    }
    assert_int_equal(found, n);
}

static bool growing(void)
{
    char name[128];

    beside(name, ".grow");
    return !access(name, F_OK);
}

/* Add numbers up to *n, until a larger filter is being filled. */
static void add_until_growing(struct seen_filter *f, uint64_t *n)
{
    *n = seen_filter_plan(f)->capacity * 15 / 16;
    add_numbers(f, 0, *n);
    while (!growing()) {
        assert_true(*n < FIRST);
        add_numbers(f, *n, *n + 1);
        ++*n;
    }
}

TEST(no_add_works_on_more_than_a_bounded_number_of_keys)
{
    static const size_t batch[] = { 1, 3, 50, 700, 1024 };

    register_counted();
    for (size_t i = 0; i < LENGTH(batch); i++) {
        const uint64_t most = STORE_GROW_LEAST + STORE_GROW_SWAP +
                              (STORE_GROW_PER_KEY + 1) * batch[i];
        struct seen_filter *f;
        uint64_t n = FIRST * 7 / 8, slices = 0, sum = 0;

        create("counted", FIRST);
        f = open_as(SEEN_SYNC_NO);
        add_numbers(f, 0, n);
        while (n < 5 * FIRST) {
            work = 0;
            add_numbers(f, n, n + batch[i]);
            n += batch[i];
            assert_in_range(work, batch[i], most);
            slices += work > batch[i];
            sum += work - batch[i];
            assert_true(seen_filter_rate(f) < 0.0115);
        }
        assert_in_range(sum, 6 * FIRST, 9 * FIRST); /* 20, 39, 78 thousand */
        assert_true(slices >= sum / most);
        assert_in_range(seen_filter_plan(f)->capacity, n, 2.1 * (double)n);
        assert_true(seen_store_grows(f, NULL));
        assert_has_numbers(f, n);
        work = 0;
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(work, 0);
        f = open_as(SEEN_SYNC_NO);
        assert_has_numbers(f, n);
        seen_filter_free(f);
        sweep(NULL);
    }
}

static void checkpoint(struct seen_filter **f)
{
    assert_int_equal(seen_store_checkpoint(*f, NULL), SEEN_OK);
    assert_true(growing()); /* it goes on */
}

static void change_text(struct seen_filter **f)
{
    assert_int_equal(seen_meta_set(*f, "title", "a", NULL), SEEN_OK);
    assert_int_equal(seen_store_checkpoint(*f, NULL), SEEN_OK);
    assert_false(growing()); /* it begins anew */
}

static void close_it(struct seen_filter **f)
{
    assert_int_equal(seen_store_close(*f, NULL), SEEN_OK);
    assert_false(growing());
    *f = open_as(SEEN_SYNC_NO);
}

static void abandon(struct seen_filter **f)
{
    seen_store_abandon(*f);
    *f = open_as(SEEN_SYNC_NO);
    assert_false(growing());
}

static void name_it(struct seen_filter **f)
{
    assert_int_equal(seen_meta_set(*f, "title", "b", NULL), SEEN_OK);
}

TEST(whatever_comes_between_two_slices_nothing_is_lost)
{
    void (*const events[])(struct seen_filter **) = {
        checkpoint, change_text, close_it, abandon, name_it,
    };

    for (size_t i = 0; i < LENGTH(events); i++)
        for (int step = 1; step < 14; step += 6) {
            struct seen_filter *f;
            uint64_t n = 0;

            create("blocked", FIRST);
            f = open_as(SEEN_SYNC_NO);
            add_until_growing(f, &n);
            for (int j = 0; j < step && growing(); j++, n++)
                add_numbers(f, n, n + 1);
            if (growing())
                events[i](&f);
            assert_has_numbers(f, n);
            add_numbers(f, n, FIRST * 5 / 2);
            assert_has_numbers(f, FIRST * 5 / 2);
            assert_true(seen_filter_plan(f)->capacity >= 2 * FIRST);
            assert_true(seen_store_grows(f, NULL));
            assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
            f = open_as(SEEN_SYNC_NO);
            assert_has_numbers(f, FIRST * 5 / 2);
            assert_true(seen_store_grows(f, NULL));
            seen_filter_free(f);
            sweep(NULL);
        }
}

/* After each add of a growth, without a word: also after the swap, before the
   first checkpoint of the new file. */
TEST(a_writer_that_dies_after_any_slice_loses_nothing)
{
    uint64_t *added = mmap(NULL, sizeof *added, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool over = false;

    for (int adds = 0; !over; adds++) {
        struct seen_filter *f;
        int status;
        pid_t child;

        create("blocked", 5000);
        child = fork();
        if (!child) {
            uint64_t n = 0;

            f = open_as(SEEN_SYNC_NO);
            add_until_growing(f, &n);
            for (int i = 0; i < adds; i++, n++)
                add_numbers(f, n, n + 1);
            *added = n;
            _exit(growing() ? 1 : 2);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WEXITSTATUS(status));
        over = WEXITSTATUS(status) == 2;
        assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
        assert_has_numbers(f, *added);
        seen_filter_free(f);
        f = open_as(SEEN_SYNC_NO);
        assert_false(growing());
        assert_has_numbers(f, *added);
        assert_true(seen_store_grows(f, NULL));
        add_numbers(f, *added, 12000);
        assert_true(seen_filter_plan(f)->capacity >= 12000);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        f = open_as(SEEN_SYNC_NO);
        assert_has_numbers(f, 12000);
        assert_true(seen_store_grows(f, NULL));
        seen_filter_free(f);
        sweep(NULL);
    }
    munmap(added, sizeof *added);
}

/* Readers ask the old file until it is replaced, and the journal for what is
   new; a reader that begins in the middle, too. */
TEST(readers_have_all_keys_while_it_grows)
{
    struct seen_filter *f, *old, *map;
    uint64_t n = 0;
    bool grown = false;

    create("blocked", 5000);
    f = open_as(SEEN_SYNC_NO);
    add_until_growing(f, &n);
    assert_int_equal(seen_store_map(&old, path, NULL, NULL), SEEN_OK);
    while (!grown) {
        add_numbers(f, n, n + 1);
        n++;
        grown = seen_filter_plan(f)->capacity > 5000;
        assert_int_equal(seen_store_map(&map, path, NULL, NULL), SEEN_OK);
        assert_has_numbers(map, n);
        assert_int_equal(seen_filter_plan(map)->capacity,
                         seen_filter_plan(f)->capacity);
        seen_filter_free(map);
        assert_int_equal(seen_store_refresh(old, NULL, NULL),
                         grown ? SEEN_MISMATCH : SEEN_OK);
        assert_has_numbers(old, n - grown);
    }
    seen_filter_free(old);
    assert_int_equal(seen_store_map(&map, path, NULL, NULL), SEEN_OK);
    add_numbers(f, n, n + 50);
    assert_int_equal(seen_store_refresh(map, NULL, NULL), SEEN_OK);
    assert_has_numbers(map, n + 50);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_refresh(map, NULL, NULL), SEEN_OK);
    assert_has_numbers(map, n + 50);
    seen_filter_free(map);
}

TEST(a_writer_that_adds_little_and_closes_fills_nothing_in_vain)
{
    struct seen_filter *f;
    uint64_t n = FIRST * 63 / 64;

    create("blocked", FIRST);
    f = open_as(SEEN_SYNC_NO);
    add_numbers(f, 0, FIRST / 2);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    f = open_as(SEEN_SYNC_NO);
    add_numbers(f, FIRST / 2, n);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    for (; n < FIRST * 5 / 4; n += 200) {
        bool large;

        f = open_as(SEEN_SYNC_NO);
        large = seen_filter_plan(f)->capacity > FIRST;
        add_numbers(f, n, n + 200);
        if (!large && seen_filter_entries(f) < FIRST * 0.99)
            assert_false(growing());
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    }
    f = open_as(SEEN_SYNC_NO);
    assert_true(seen_filter_plan(f)->capacity > FIRST);
    assert_has_numbers(f, n);
    seen_filter_free(f);
}

/* A call to the file beside the filter that fails, and what it was. */
static int fail_at, calls;

static bool fails(int fd)
{
    char link[64], name[256];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, name, sizeof name);
    if (n < 5 || memcmp(name + n - 5, ".grow", 5) != 0 || ++calls != fail_at)
        return false;
    errno = calls % 2 ? ENOSPC : EIO;
    return true;
}

static ssize_t failing_pwrite(int fd, const void *from, size_t len, off_t at)
{
    return fails(fd) ? -1 : pwrite(fd, from, len, at);
}

static int failing_flush(int fd)
{
    return fails(fd) ? -1 : 0;
}

static int failing_sync(int fd, off_t at, off_t len, unsigned how)
{
    (void)at, (void)len, (void)how;
    return fails(fd) ? -1 : 0;
}

static int no_flush(int fd);
static int no_sync(int fd, off_t at, off_t len, unsigned how);

static void let_fail(int at)
{
    fail_at = at;
    calls = 0;
    disk_pwrite = at ? failing_pwrite : pwrite;
    disk_fdatasync = at ? failing_flush : no_flush;
    disk_sync_range = at ? failing_sync : no_sync;
}

TEST(a_call_that_fails_costs_a_growth_and_no_key)
{
    bool failed = true;

    for (int at = 1; failed; at++) {
        struct seen_filter *f;
        struct seen_error why;
        uint64_t n = 19000;

        create("blocked", 19000);
        f = open_as(SEEN_SYNC_NO);
        add_numbers(f, 0, n * 9 / 10);
        let_fail(at);
        add_numbers(f, n * 9 / 10, n * 6 / 5);
        failed = calls >= at;
        let_fail(0);
        n = n * 6 / 5;
        assert_int_equal(failed, !seen_store_grows(f, &why));
        assert_int_equal(failed, seen_filter_plan(f)->capacity == 19000);
        assert_false(growing());
        assert_has_numbers(f, n);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        f = open_as(SEEN_SYNC_NO);
        add_numbers(f, n, n + 1000);
        assert_true(seen_filter_plan(f)->capacity > n);
        assert_has_numbers(f, n + 1000);
        assert_true(seen_store_grows(f, NULL));
        seen_filter_free(f);
        sweep(NULL);
        assert_in_range(at, 1, 100);
    }
}

static void assert_has_urls(const struct seen_filter *f, int n)
{
    char text[64];
    bool seen;

    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof text, "http://%d.example/", i);
        assert_int_equal(seen_filter_has_url(f, text, &seen, NULL), SEEN_OK);
        assert_true(seen);
    }
}

TEST(a_keyed_filter_of_parts_grows_in_slices_too)
{
    enum { BEGIN = 3000, URLS = 7000 };
    const struct seen_access access = { .secret = secret,
                                        .sync = SEEN_SYNC_NO };
    struct seen_plan plan = plan_of("spatial:2/routed:2/blocked", BEGIN);
    struct seen_filter *f;
    char text[64];
    int slices = 0;

    plan.tight = plan.keyed = true;
    f = holding(&plan, 0);
    assert_int_equal(seen_store_keep_keys(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_create(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    assert_int_equal(seen_store_open(&f, path, &access, NULL), SEEN_OK);
    for (int i = 0; i < URLS; i++) {
        snprintf(text, sizeof text, "http://%d.example/", i);
        assert_int_equal(seen_filter_add_url(f, text, NULL, NULL), SEEN_OK);
        slices += growing();
        if (i % 1000 == 999)
            assert_has_urls(f, i + 1);
    }
    assert_in_range(slices, 3, 60);
    assert_in_range(seen_filter_plan(f)->capacity, URLS, 2.3 * URLS);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_open(&f, path, &access, NULL), SEEN_OK);
    assert_has_urls(f, URLS);
    seen_filter_free(f);
}

static uint64_t bytes_written;

static ssize_t counted_pwrite(int fd, const void *from, size_t len, off_t at)
{
    bytes_written += len;
    return pwrite(fd, from, len, at);
}

static enum seen_code count_keys(void *to, const struct seen_key *keys,
                                 size_t n, struct seen_error *why)
{
    (void)keys, (void)why;
    *(uint64_t *)to += n;
    return SEEN_OK;
}

/*
 * A log of many repetitions, of more keys than one table takes. Each key of it
 * is written at most three times: when it comes, into its part, and into the
 * new log; and to the journal.
 */
TEST(repetitions_are_removed_in_slices_and_in_linear_time)
{
    enum { HELD = 140000, ROUNDS = 12 };
    struct seen_filter *f;
    uint64_t all = 0, least = UINT64_MAX, kept = 0, longest = 0;
    struct stat it;
    char log[128];

    create("blocked", 2 * HELD);
    beside(log, ".keys");
    f = open_as(SEEN_SYNC_NO);
    disk_pwrite = counted_pwrite;
    for (int i = 0; i < ROUNDS; i++) {
        for (uint64_t n = 0; n < HELD; n += 500) {
            bytes_written = 0;
            add_numbers(f, n, n + 500);
            all += bytes_written;
            longest = bytes_written > longest ? bytes_written : longest;
        }
        assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_OK);
        assert_int_equal(stat(log, &it), 0);
        if (i > 4 && (uint64_t)it.st_size < least)
            least = (uint64_t)it.st_size;
    }
    disk_pwrite = pwrite;
    assert_in_range(least, 16 * HELD, 16 * 3 * HELD); /* not 16 * 6 */
    assert_in_range(all, 2 * 16 * HELD * ROUNDS, 4 * 16 * HELD * ROUNDS);
    assert_in_range(longest, 1,
                    32 * (STORE_GROW_LEAST + STORE_GROW_PER_KEY * 500));
    assert_int_equal(seen_store_keys(f, count_keys, &kept, NULL), SEEN_OK);
    assert_in_range(kept, HELD, 5 * HELD);
    assert_has_numbers(f, HELD);
    add_numbers(f, HELD, 3 * HELD); /* it grows from what is left */
    assert_has_numbers(f, 3 * HELD);
    assert_true(seen_filter_plan(f)->capacity >= 3 * HELD);
    assert_true(seen_store_grows(f, NULL));
    seen_filter_free(f);
}

/* A killed process loses nothing that it wrote. */
static int no_flush(int fd)
{
    (void)fd;
    return 0;
}

static int no_sync(int fd, off_t at, off_t len, unsigned how)
{
    (void)fd, (void)at, (void)len, (void)how;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(no_add_works_on_more_than_a_bounded_number_of_keys),
        FRESH(whatever_comes_between_two_slices_nothing_is_lost),
        FRESH(a_writer_that_dies_after_any_slice_loses_nothing),
        FRESH(readers_have_all_keys_while_it_grows),
        FRESH(a_writer_that_adds_little_and_closes_fills_nothing_in_vain),
        FRESH(a_call_that_fails_costs_a_growth_and_no_key),
        FRESH(a_keyed_filter_of_parts_grows_in_slices_too),
        FRESH(repetitions_are_removed_in_slices_and_in_linear_time),
    };

    disk_fdatasync = disk_fsync = no_flush; /* which would take seconds */
    disk_sync_range = no_sync;
    return cmocka_run_group_tests(tests, enter, leave);
}
