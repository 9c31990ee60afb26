/* threads_test.c - many threads add to one file, while it is checkpointed. */
#include "stored.h"

#include <pthread.h>

#include <seen/ranges.h>

#include "lib/disk/disk.h"

enum { THREADS = 4, EACH = 250 };

static struct seen_filter *f;
static int failures, flushes;

/* A slow disk: others come while one waits. */
static int slow_fdatasync(int fd)
{
    __atomic_fetch_add(&flushes, 1, __ATOMIC_RELAXED);
    usleep(1000);
    return fdatasync(fd);
}

static void *add_some(void *arg)
{
    size_t from = (size_t)(uintptr_t)arg * EACH;

    for (size_t i = from; i < from + EACH; i++)
        if (seen_filter_add(f, key + i, 1, NULL, NULL) != SEEN_OK)
            __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* As an event loop adds: without waiting where that can be. */
static void *add_held(void *arg)
{
    size_t from = (size_t)(uintptr_t)arg * EACH;

    for (size_t i = from; i < from + EACH; i++) {
        const bool held = seen_store_hold(f, 1);

        if (seen_filter_add(f, key + i, 1, NULL, NULL) != SEEN_OK)
            __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
        if (held)
            seen_store_release(f);
    }
    return NULL;
}

static void *checkpoint_often(void *arg)
{
    for (int i = 0; i < 10; i++) {
        usleep(3000);
        if (seen_store_checkpoint(f, NULL) != SEEN_OK)
            __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
    }
    return arg;
}

static void *ask_often(void *arg)
{
    bool seen[64];

    for (int i = 0; i < 200; i++)
        seen_filter_has(f, key, 64, seen, NULL);
    return arg;
}

/* Between the rename and the flush of the folder, the writer's own new file
   was taken for somebody else's. */
static int slow_fsync(int fd)
{
    usleep(2000);
    return fsync(fd);
}

static void *look_often(void *arg)
{
    while (!__atomic_load_n((bool *)arg, __ATOMIC_ACQUIRE)) {
        if (!seen_store_current(f))
            __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
        usleep(50);
    }
    return NULL;
}

static void run(const char *kind, enum seen_sync sync)
{
    struct seen_access how = { .sync = sync };
    pthread_t thread[THREADS + 2], looking;
    bool enough = false;

    store(kind, THREADS * EACH, 0);
    assert_int_equal(seen_store_open(&f, path, &how, NULL), SEEN_OK);
    assert_int_equal(seen_filter_allow_threads(f, NULL), SEEN_OK);
    failures = flushes = 0;
    disk_fsync = slow_fsync;
    pthread_create(&looking, NULL, look_often, &enough);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, i % 2 ? add_held : add_some,
                       (void *)i);
    pthread_create(&thread[THREADS], NULL, checkpoint_often, NULL);
    pthread_create(&thread[THREADS + 1], NULL, ask_often, NULL);
    for (size_t i = 0; i < LENGTH(thread); i++)
        pthread_join(thread[i], NULL);
    __atomic_store_n(&enough, true, __ATOMIC_RELEASE);
    pthread_join(looking, NULL);
    disk_fsync = fsync;
    assert_int_equal(failures, 0);
    assert_holds(f, THREADS * EACH);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
    assert_holds(f, THREADS * EACH);
    assert_int_equal(seen_filter_offered(f), THREADS * EACH);
    assert_int_equal(files(), 1);
}

TEST(threads_lose_nothing_to_checkpoints)
{
    static const enum seen_sync syncs[] = { SEEN_SYNC_ALWAYS,
                                            SEEN_SYNC_EVERYSEC, SEEN_SYNC_NO };

    for (size_t i = 0; i < LENGTH(kinds_to_write); i++)
        for (size_t j = 0; j < LENGTH(syncs); j++) {
            run(kinds_to_write[i], syncs[j]);
            seen_filter_free(f);
        }
}

/* A count that a checkpoint lost or doubled would show in some of them. */
TEST(threads_count_each_key_once)
{
    uint64_t count[THREADS * EACH], sum = 0;

    run("counting:8", SEEN_SYNC_ALWAYS);
    assert_int_equal(seen_filter_count(f, key, THREADS * EACH, count, NULL),
                     SEEN_OK);
    for (size_t i = 0; i < THREADS * EACH; i++)
        sum += count[i];
    assert_in_range(sum, THREADS * EACH, THREADS * EACH * 1.02);
    seen_filter_free(f);
}

static void *checkpoint_once(void *arg)
{
    (void)arg;
    return (void *)(uintptr_t)seen_store_checkpoint(f, NULL);
}

static void *try_to_hold(void *held)
{
    *(bool *)held = seen_store_hold(f, 1);
    return NULL;
}

/* The first change makes a journal, which has to be flushed. A checkpoint that
   waits for whoever holds the filter must not stop its adds. */
TEST(a_filter_that_is_held_takes_adds_and_no_checkpoint)
{
    const struct seen_access always = { .sync = SEEN_SYNC_ALWAYS };
    const struct seen_access later = { .sync = SEEN_SYNC_NO };
    pthread_t thread;
    bool again = true;
    void *code;

    store("blocked", 1000, 0);
    assert_int_equal(seen_store_open(&f, path, &always, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(f, key, 1, NULL, NULL), SEEN_OK);
    assert_false(seen_store_hold(f, 1));
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);

    assert_int_equal(seen_store_open(&f, path, &later, NULL), SEEN_OK);
    assert_int_equal(seen_filter_allow_threads(f, NULL), SEEN_OK);
    assert_false(seen_store_hold(f, 1));
    assert_int_equal(seen_filter_add(f, key + 1, 1, NULL, NULL), SEEN_OK);
    assert_false(seen_store_hold(f, 1 << 26)); /* a journal of 1 GB */
    assert_false(seen_store_hold(f, SIZE_MAX));
    assert_true(seen_store_hold(f, 1));
    pthread_create(&thread, NULL, try_to_hold, &again);
    pthread_join(thread, NULL);
    assert_false(again);
    pthread_create(&thread, NULL, checkpoint_once, NULL);
    for (size_t i = 2; i < 200; i++) {
        assert_int_equal(seen_filter_add(f, key + i, 1, NULL, NULL), SEEN_OK);
        usleep(50);
    }
    seen_store_release(f);
    pthread_join(thread, &code);
    assert_null(code); /* SEEN_OK */
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
    assert_holds(f, 200);
    seen_filter_free(f);
}

/* Who waits for a flush is served by that of another: fewer than adds. */
TEST(threads_share_flushes)
{
    disk_fdatasync = slow_fdatasync;
    run("bloom", SEEN_SYNC_ALWAYS);
    disk_fdatasync = fdatasync;
    assert_true(flushes < THREADS * EACH);
    seen_filter_free(f);
}

/* A part for every few keys, so that many come while it is saved. */
static void *grow(void *arg)
{
    for (uint64_t i = 0; !__atomic_load_n((bool *)arg, __ATOMIC_ACQUIRE);) {
        struct seen_key some[16];

        for (size_t j = 0; j < LENGTH(some); j++)
            seen_key_number(&some[j], i++);
        if (i > 200000 || seen_filter_add(f, some, LENGTH(some), NULL, NULL))
            break;
    }
    return NULL;
}

/*
 * A part that came between counting the leaves and laying them out was
 * written past their list, and one that came between list and text made a
 * file that nobody could read.
 */
TEST(what_grows_can_be_saved_at_any_moment)
{
    static const char *const kinds[] = { "growing/bloom",
                                         "dynamic:256/blocked",
                                         "routed:16/growing/bloom" };
    pthread_t thread;

    for (size_t i = 0; i < LENGTH(kinds); i++)
        for (int round = 0; round < 4; round++) {
            struct seen_plan plan = plan_of(kinds[i], 2048);
            bool enough = false;

            if (!strncmp(kinds[i], "routed", 6))
                plan.capacity = 64;
            f = holding(&plan, 16);
            assert_int_equal(seen_filter_allow_threads(f, NULL), SEEN_OK);
            assert_int_equal(pthread_create(&thread, NULL, grow, &enough), 0);
            for (int j = 0; j < 15; j++) {
                struct seen_error why = { .text = "" };
                struct seen_filter *g;

                assert_int_equal(seen_store_save(f, path, &why), SEEN_OK);
                assert_int_equal(seen_store_load(&g, path, NULL, &why),
                                 SEEN_OK);
                assert_holds(g, 16);
                seen_filter_free(g);
            }
            __atomic_store_n(&enough, true, __ATOMIC_RELEASE);
            pthread_join(thread, NULL);
            seen_filter_free(f);
        }
}

static void *ask_others(void *arg)
{
    size_t from = (size_t)(uintptr_t)arg * EACH;
    bool seen;

    for (size_t i = THREADS * EACH; i > from; i--)
        if (seen_filter_has(f, &key[i - 1], 1, &seen, NULL) != SEEN_OK)
            __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* Blocks are checked by one thread and changed by another. */
TEST(threads_share_a_filter_that_is_checked_block_by_block)
{
    const struct seen_access lazy = { .lazy = true };
    pthread_t thread[2 * THREADS];

    for (int checkpoint = 0; checkpoint < 2; checkpoint++) {
        store("blocked", 300000, 10);
        failures = 0;
        assert_int_equal(seen_store_open(&f, path, &lazy, NULL), SEEN_OK);
        assert_int_equal(seen_filter_allow_threads(f, NULL), SEEN_OK);
        for (uintptr_t i = 0; i < THREADS; i++) {
            pthread_create(&thread[i], NULL, add_some, (void *)i);
            pthread_create(&thread[THREADS + i], NULL, ask_others, (void *)i);
        }
        if (checkpoint)
            checkpoint_often(NULL);
        for (int i = 0; i < 2 * THREADS; i++)
            pthread_join(thread[i], NULL);
        assert_int_equal(failures, 0);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
        assert_holds(f, THREADS * EACH);
        seen_filter_free(f);
    }
}

/* Bytes of the file at `path`, which is read for many threads by one. */
static enum seen_code read_file(void *of, struct seen_range *range, size_t n,
                                uint64_t *length, struct seen_error *why)
{
    static int inside;
    const int *fd = of;
    enum seen_code code = SEEN_OK;
    struct stat it;

    assert_int_equal(__atomic_exchange_n(&inside, 1, __ATOMIC_ACQ_REL), 0);
    assert_int_equal(fstat(*fd, &it), 0);
    *length = (uint64_t)it.st_size;
    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        if (range[i].from + range[i].len > *length)
            range[i].len = (size_t)(*length - range[i].from);
        code = disk_read(*fd, range[i].to, range[i].len, range[i].from, why);
    }
    __atomic_store_n(&inside, 0, __ATOMIC_RELEASE);
    return code;
}

TEST(threads_share_a_filter_that_is_read_by_ranges)
{
    pthread_t thread[THREADS];
    struct seen_ranges ranges = { .read = read_file };
    int fd;

    store("blocked", 300000, THREADS * EACH);
    fd = open(path, O_RDONLY);
    ranges.of = &fd;
    failures = 0;
    assert_int_equal(seen_ranges_open(&f, &ranges, NULL, NULL), SEEN_OK);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, ask_others, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(failures, 0);
    assert_holds(f, THREADS * EACH);
    seen_filter_free(f);
    close(fd);
}

static void add_while_it_grows(uint64_t capacity)
{
    const struct seen_access how = { .sync = SEEN_SYNC_EVERYSEC };
    const struct seen_plan plan = plan_of("blocked", capacity);
    pthread_t thread[THREADS + 2];

    f = holding(&plan, 0);
    assert_int_equal(seen_store_keep_keys(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_create(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(seen_store_open(&f, path, &how, NULL), SEEN_OK);
        assert_int_equal(seen_filter_allow_threads(f, NULL), SEEN_OK);
        failures = 0;
        for (uintptr_t i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, i % 2 ? add_held : add_some,
                           (void *)(i + (uintptr_t)round * THREADS));
        pthread_create(&thread[THREADS], NULL, checkpoint_often, NULL);
        pthread_create(&thread[THREADS + 1], NULL, ask_often, NULL);
        for (size_t i = 0; i < LENGTH(thread); i++)
            pthread_join(thread[i], NULL);
        assert_int_equal(failures, 0);
        assert_true(seen_store_grows(f, NULL));
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    }
    assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
    assert_holds(f, (size_t)2 * THREADS * EACH);
    assert_true(seen_filter_plan(f)->capacity >= 2 * THREADS * EACH);
    seen_filter_free(f);
}

TEST(what_threads_add_to_a_filter_that_grows_is_there_when_it_has_grown)
{
    add_while_it_grows(100);
    sweep(NULL);
    add_while_it_grows(THREADS * EACH); /* in slices of several threads */
}

/* Under ThreadSanitizer this tells whether a larger filter is planned from what
   others are changing. */
TEST(a_larger_filter_is_begun_while_threads_add)
{
    const struct seen_access how = { .sync = SEEN_SYNC_NO };
    const struct seen_plan plan = plan_of("blocked", THREADS * EACH / 2);
    pthread_t thread[THREADS];

    for (int round = 0; round < 80; round++) {
        sweep(NULL);
        f = holding(&plan, 0);
        assert_int_equal(seen_store_keep_keys(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_create(f, path, NULL), SEEN_OK);
        seen_filter_free(f);
        assert_int_equal(seen_store_open(&f, path, &how, NULL), SEEN_OK);
        assert_int_equal(seen_filter_allow_threads(f, NULL), SEEN_OK);
        failures = 0;
        for (uintptr_t i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, add_some, (void *)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
        assert_int_equal(failures, 0);
        assert_holds(f, THREADS * EACH);
        assert_true(seen_store_grows(f, NULL));
        seen_store_abandon(f);
    }
}

static void *add_again(void *arg)
{
    for (int i = 0; i < 30; i++)
        for (size_t at = 0; at < THREADS * EACH; at += EACH / 2)
            if (seen_filter_add(f, &key[at], EACH / 2, NULL, NULL) != SEEN_OK)
                __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
    return arg;
}

TEST(repetitions_are_removed_while_threads_add_them)
{
    const struct seen_access how = { .sync = SEEN_SYNC_NO };
    const struct seen_plan plan = plan_of("blocked", THREADS * EACH);
    pthread_t thread[THREADS + 1];
    struct stat it;
    char log[128];

    f = holding(&plan, 0);
    assert_int_equal(seen_store_keep_keys(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_create(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    assert_int_equal(seen_store_open(&f, path, &how, NULL), SEEN_OK);
    assert_int_equal(seen_filter_allow_threads(f, NULL), SEEN_OK);
    failures = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, add_again, NULL);
    pthread_create(&thread[THREADS], NULL, checkpoint_often, NULL);
    for (size_t i = 0; i < LENGTH(thread); i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(failures, 0);
    assert_true(seen_store_grows(f, NULL));
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    beside(log, ".keys");
    assert_int_equal(stat(log, &it), 0);
    assert_in_range(it.st_size, 16 * THREADS * EACH, 16 * 70000);
    assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
    assert_true(seen_store_grows(f, NULL));
    assert_holds(f, THREADS * EACH);
    seen_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(threads_lose_nothing_to_checkpoints),
        FRESH(threads_count_each_key_once),
        FRESH(a_filter_that_is_held_takes_adds_and_no_checkpoint),
        FRESH(threads_share_flushes),
        FRESH(what_grows_can_be_saved_at_any_moment),
        FRESH(threads_share_a_filter_that_is_checked_block_by_block),
        FRESH(threads_share_a_filter_that_is_read_by_ranges),
        FRESH(
            what_threads_add_to_a_filter_that_grows_is_there_when_it_has_grown),
        FRESH(a_larger_filter_is_begun_while_threads_add),
        FRESH(repetitions_are_removed_while_threads_add_them),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
