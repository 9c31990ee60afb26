/*
 * disk_test.c - when the disk is full, or fails.
 *
 * A limit on the size of files makes the system refuse to write, as a full
 * disk does. Nothing makes fdatasync() fail on a sound disk, so that one is
 * replaced; see lib/disk/disk.h.
 */
#include "stored.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "lib/disk/clock.h"
#include "lib/disk/disk.h"

static int flushes, fail_at;

static int failing_flush(int fd)
{
    if (++flushes >= fail_at) {
        errno = EIO;
        return -1;
    }
    return fsync(fd);
}

/* Let the n-th flush from now on fail, and all that follow; 0: none. */
static void fail_flush(int n)
{
    flushes = 0;
    fail_at = n;
    disk_fdatasync = n ? failing_flush : fdatasync;
    disk_fsync = n ? failing_flush : fsync;
}

/* Let no file grow beyond `bytes`. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static size_t size_of(const char *suffix)
{
    char name[128];
    struct stat it;

    beside(name, suffix);
    return stat(name, &it) ? 0 : (size_t)it.st_size;
}

TEST(a_full_disk_refuses_a_save_and_leaves_the_old_file)
{
    struct seen_plan plan = plan_of("bloom", 100000);
    struct seen_filter *f = holding(&plan, KEYS);
    struct seen_error why;

    store("bloom", 1000, 100);
    limit_files(50000);
    assert_int_equal(seen_store_save(f, path, &why), SEEN_IO);
    limit_files(RLIM_INFINITY);
    assert_int_equal(why.system, EFBIG);
    assert_int_equal(files(), 1);
    assert_int_equal(loads(NULL), SEEN_OK);
    assert_int_equal(seen_store_save(f, path, &why), SEEN_OK);
    seen_filter_free(f);
}

TEST(a_full_disk_refuses_an_add_and_the_filter_goes_on)
{
    for (size_t i = 0; i < LENGTH(kinds_to_write); i++) {
        struct seen_filter *f;
        struct seen_error why;
        size_t before;
        bool seen;

        store(kinds_to_write[i], 1000, 100);
        assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
        assert_int_equal(seen_filter_add(f, key + 100, 100, NULL, NULL),
                         SEEN_OK);
        before = size_of(".journal");
        limit_files(before + 20); /* room for a torn record */
        assert_int_equal(seen_filter_add(f, key + 3000, 1, NULL, &why),
                         SEEN_IO);
        assert_int_equal(why.system, EFBIG);
        assert_int_equal(size_of(".journal"), before);
        limit_files(RLIM_INFINITY);
        assert_int_equal(seen_filter_has(f, key + 3000, 1, &seen, NULL),
                         SEEN_OK);
        assert_false(seen);
        assert_int_equal(seen_filter_add(f, key + 200, 100, NULL, NULL),
                         SEEN_OK);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
        assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
        assert_holds(f, 300);
        assert_int_equal(seen_filter_offered(f), 300);
        seen_filter_free(f);
    }
}

TEST(a_full_disk_refuses_a_checkpoint_and_the_journal_stays)
{
    struct seen_filter *f;

    store("counting:8", 10000, 100);
    assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(f, key + 100, 100, NULL, NULL), SEEN_OK);
    limit_files(20000);
    assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_IO);
    assert_int_equal(seen_filter_add(f, key + 200, 100, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_close(f, NULL), SEEN_IO);
    limit_files(RLIM_INFINITY);
    assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
    assert_holds(f, 300);
    assert_int_equal(seen_filter_offered(f), 300);
    seen_filter_free(f);
}

/* The caller is told which add is not safe, and all after it. */
TEST(a_failed_flush_is_final)
{
    for (size_t i = 0; i < LENGTH(kinds_to_write); i++) {
        struct seen_filter *f;
        struct seen_error why;

        store(kinds_to_write[i], 1000, 100);
        assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
        assert_int_equal(seen_filter_add(f, key + 100, 100, NULL, NULL),
                         SEEN_OK);
        fail_flush(1);
        assert_int_equal(seen_filter_add(f, key + 200, 1, NULL, &why),
                         SEEN_IO);
        assert_int_equal(why.system, EIO);
        fail_flush(0);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(seen_filter_add(f, key + 300, 1, NULL, &why),
                             SEEN_IO);
            assert_non_null(strstr(why.text, "read-only since a flush"));
            assert_int_equal(why.system, EIO);
        }
        assert_holds(f, 200); /* questions are answered */
        assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_IO);
        assert_int_equal(seen_store_close(f, &why), SEEN_IO);

        assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
        assert_holds(f, 200);
        assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    }
}

TEST(a_flush_that_fails_in_the_background_is_final_too)
{
    struct seen_access how = { .sync = SEEN_SYNC_EVERYSEC };
    struct seen_filter *f;
    struct seen_error why;
    enum seen_code code = SEEN_OK;

    store("bloom", 1000, 100);
    assert_int_equal(seen_store_open(&f, path, &how, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(f, key + 99, 1, NULL, NULL), SEEN_OK);
    fail_flush(1);
    for (int i = 0; i < 50 && code == SEEN_OK; i++) {
        code = seen_filter_add(f, key + 100 + i, 1, NULL, &why);
        usleep(100000);
    }
    fail_flush(0);
    assert_int_equal(code, SEEN_IO);
    assert_non_null(strstr(why.text, "read-only since a flush"));
    assert_int_equal(seen_store_close(f, NULL), SEEN_IO);
    assert_int_equal(loads(NULL), SEEN_OK);
}

TEST(an_idle_writer_is_flushed_about_a_second_later)
{
    struct seen_access how = { .sync = SEEN_SYNC_EVERYSEC };
    uint64_t began = clock_ms();
    struct seen_filter *f;
    int early;

    store("bloom", 1000, 100);
    assert_int_equal(seen_store_open(&f, path, &how, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(f, key + 99, 1, NULL, NULL), SEEN_OK);
    fail_flush(1000); /* counts, and fails none */
    assert_int_equal(seen_filter_add(f, key + 100, 1, NULL, NULL), SEEN_OK);
    early = __atomic_load_n(&flushes, __ATOMIC_SEQ_CST);
    if (clock_ms() - began < 900) /* else a second has passed already */
        assert_int_equal(early, 0);
    for (int i = 0; i < 100; i++) {
        usleep(100000);
        if (__atomic_load_n(&flushes, __ATOMIC_SEQ_CST))
            break;
    }
    assert_in_range(__atomic_load_n(&flushes, __ATOMIC_SEQ_CST), 1, 2);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    fail_flush(0);
}

/* Of all flushes of a session, let each in turn be the one that fails. */
TEST(whichever_flush_fails_nothing_acknowledged_is_lost)
{
    for (size_t i = 0; i < LENGTH(kinds_to_write); i++) {
        int n = 0;
        bool through = false;

        while (!through) {
            struct seen_filter *f;
            size_t sure = 100;

            store(kinds_to_write[i], 1000, 100);
            fail_flush(++n);
            through = seen_store_open(&f, path, NULL, NULL) == SEEN_OK;
            for (int step = 0; step < 8 && through; step++) {
                if (step % 4 == 1)
                    seen_meta_set(f, "step", step == 1 ? "one" : "two", NULL);
                if (step % 4 > 1)
                    through = seen_store_checkpoint(f, NULL) == SEEN_OK;
                else if (seen_filter_add(f, key + sure, 50, NULL, NULL))
                    through = false;
                else
                    sure += 50;
            }
            if (f && seen_store_close(f, NULL) != SEEN_OK)
                through = false;
            fail_flush(0);

            assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
            assert_holds(f, sure);
            seen_filter_free(f);
            assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
            assert_holds(f, sure);
            assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
            assert_int_equal(files(), 1);
            assert_true(n < 100);
        }
        assert_true(n > 10);
    }
}

static ssize_t no_room(int fd, const void *from, size_t len, off_t at)
{
    (void)fd, (void)from, (void)len, (void)at;
    errno = ENOSPC;
    return -1;
}

/* A copy of a file with holes where it has zeros, as cp --sparse makes. */
static void make_sparse(void)
{
    size_t len;
    unsigned char *bytes = slurp(path, &len), zeros[4096] = { 0 };
    int fd = open(path, O_RDWR | O_TRUNC);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)len), 0);
    for (size_t at = 0; at < len; at += sizeof zeros) {
        size_t some = len - at < sizeof zeros ? len - at : sizeof zeros;

        if (memcmp(bytes + at, zeros, some))
            assert_int_equal(pwrite(fd, bytes + at, some, (off_t)at), some);
    }
    /* Blocks behind the end: as many as a file without holes would have, like
       those that a file system has for itself. */
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)len, 2 * (off_t)len))
        assert_int_equal(errno, EOPNOTSUPP);
    close(fd);
    free(bytes);
}

/* A page without a place on a full disk would be a SIGBUS at some add. */
TEST(a_writer_has_room_for_all_cells_before_it_begins)
{
    struct seen_error why = { .text = "" };
    struct seen_filter *f;
    struct stat it;

    store("bloom", 1000000, 10);
    make_sparse();
    assert_int_equal(stat(path, &it), 0);
    if (first_hole() == it.st_size)
        skip(); /* a file system without holes */
    disk_pwrite = no_room;
    assert_int_equal(seen_store_open(&f, path, NULL, &why), SEEN_IO);
    assert_int_equal(why.system, ENOSPC);
    assert_null(f);
    assert_int_equal(loads(NULL), SEEN_OK);
    assert_int_equal(files(), 1);

    disk_pwrite = pwrite;
    assert_int_equal(seen_store_open(&f, path, NULL, &why), SEEN_OK);
    assert_holds(f, 10);
    assert_int_equal(first_hole(), it.st_size);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);

    disk_pwrite = no_room; /* and is not asked for it again */
    assert_int_equal(seen_store_open(&f, path, NULL, &why), SEEN_OK);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    disk_pwrite = pwrite;
}

/* No room for a second file, but for a new journal, which has the same name
   while it is written. */
static ssize_t no_second(int fd, const void *from, size_t len, off_t at)
{
    char link[64], name[256] = "";
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, name, sizeof name - 1);
    if (n > 4 && !strcmp(name + n - 4, ".new") && at + (off_t)len > 4096) {
        errno = ENOSPC;
        return -1;
    }
    return pwrite(fd, from, len, at);
}

static void assert_date(const char *wanted)
{
    struct seen_filter *f;

    assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
    assert_string_equal(seen_meta_get(f, "as-of"), wanted);
    seen_filter_free(f);
}

/* What is given up for lack of room is the date, not the change. */
TEST(a_date_that_cannot_be_written_stays_and_the_adds_are_kept)
{
    struct seen_filter *f;
    const char *before;

    store("bloom", 10000, 100);
    assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_meta_set(f, "as-of", "2020-06-01", NULL), SEEN_OK);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_date("2020-06-01");

    disk_pwrite = no_second;
    assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
    before = seen_meta_get(f, "as-of");
    assert_int_equal(seen_filter_add(f, key + 100, 100, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_OK);
    assert_string_equal(before, "2020-06-01"); /* it is still there */
    assert_int_equal(seen_filter_add(f, key + 200, 100, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    disk_pwrite = pwrite;
    assert_date("2020-06-01");
    assert_int_equal(files(), 1);

    assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
    before = seen_meta_get(f, "as-of");
    assert_int_equal(seen_filter_add(f, key + 300, 1, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_OK);
    assert_string_not_equal(seen_meta_get(f, "as-of"), "2020-06-01");
    assert_string_equal(before, "2020-06-01"); /* readers may still have it */
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
    assert_string_not_equal(seen_meta_get(f, "as-of"), "2020-06-01");
    assert_holds(f, 301);
    seen_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(a_full_disk_refuses_a_save_and_leaves_the_old_file),
        FRESH(a_full_disk_refuses_an_add_and_the_filter_goes_on),
        FRESH(a_full_disk_refuses_a_checkpoint_and_the_journal_stays),
        FRESH(a_failed_flush_is_final),
        FRESH(a_flush_that_fails_in_the_background_is_final_too),
        FRESH(an_idle_writer_is_flushed_about_a_second_later),
        FRESH(whichever_flush_fails_nothing_acknowledged_is_lost),
        FRESH(a_writer_has_room_for_all_cells_before_it_begins),
        FRESH(a_date_that_cannot_be_written_stays_and_the_adds_are_kept),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
