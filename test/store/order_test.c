/*
 * order_test.c - readers between any two steps of a writer.
 *
 * A reader takes no lock. Here its system calls are counted, and before each
 * of them in turn a writer does something whole: a checkpoint, or closing the
 * file. Whatever comes between, the reader has all that was acknowledged
 * before it began. (The calls are replaced by functions of this program, which
 * the linker finds before those of the C library.)
 */
#include "stored.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "lib/disk/disk.h"
#include "lib/store/journal.h"

static int calls, at_call; /* 0: none */
static void (*act)(void);

static void step(void)
{
    if (at_call && ++calls == at_call) {
        at_call = 0; /* what the writer calls does not count */
        act();
    }
}

int access(const char *name, int mode)
{
    step();
    return (int)syscall(SYS_faccessat, AT_FDCWD, name, mode);
}

int open(const char *name, int flags, ...)
{
    va_list args;
    int mode;

    va_start(args, flags);
    mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    step();
    return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

ssize_t pread(int fd, void *to, size_t len, off_t at)
{
    step();
    return (ssize_t)syscall(SYS_pread64, fd, to, len, at);
}

int stat(const char *name, struct stat *it)
{
    step();
    return fstatat(AT_FDCWD, name, it, 0);
}

static int no_flush(int fd)
{
    (void)fd;
    return 0;
}

/* --- our own writer ---------------------------------------------------- */

static struct seen_filter *writer;
static struct seen_access how_to; /* write, and read */

static void close_writer(void)
{
    assert_int_equal(seen_store_close(writer, NULL), SEEN_OK);
    writer = NULL;
}

static void checkpoint_writer(void)
{
    assert_int_equal(seen_store_checkpoint(writer, NULL), SEEN_OK);
}

static void checkpoint_and_add(void)
{
    checkpoint_writer();
    assert_int_equal(seen_filter_add(writer, key + 300, 10, NULL, NULL),
                     SEEN_OK);
}

static void close_and_open(void)
{
    close_writer();
    assert_int_equal(seen_store_open(&writer, path, &how_to, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(writer, key + 300, 10, NULL, NULL),
                     SEEN_OK);
}

/* The writer has acknowledged 200 keys; let it act before call n of a reader
   that refreshes, or loads. False: the reader has fewer calls. */
static bool read_beside(const char *kind, bool refresh, bool late, int n)
{
    struct seen_filter *f = NULL;
    struct seen_error why;
    enum seen_code code;
    bool came, seen[200];

    store(kind, 1000, 100);
    if (refresh && !late)
        assert_int_equal(seen_store_map(&f, path, &how_to, NULL), SEEN_OK);
    assert_int_equal(seen_store_open(&writer, path, &how_to, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(writer, key + 100, 50, NULL, NULL),
                     SEEN_OK);
    if (refresh && late)
        assert_int_equal(seen_store_map(&f, path, &how_to, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(writer, key + 150, 50, NULL, NULL),
                     SEEN_OK);
    calls = 0;
    at_call = n;
    code = refresh ? seen_store_refresh(f, NULL, &why)
                   : (how_to.lazy ? seen_store_map
                                  : seen_store_load)(&f, path, &how_to, &why);
    if (code == SEEN_OK) /* a lazy reader reads the file only now */
        code = seen_filter_has(f, key, 200, seen, &why);
    came = !at_call;
    at_call = 0;
    if (code != SEEN_OK)
        fail_msg("%s, call %d: %s", kind, n, why.text);
    assert_holds(f, 200);
    seen_filter_free(f);
    if (writer)
        close_writer();
    return came;
}

TEST(a_writer_that_acts_between_any_two_calls_hides_nothing)
{
    static void (*const acts[])(void) = { close_writer, checkpoint_writer,
                                          checkpoint_and_add, close_and_open };
    static const char *const kinds[] = { "blocked", "counting:8" };

    for (size_t i = 0; i < LENGTH(kinds); i++)
        for (size_t j = 0; j < LENGTH(acts); j++)
            for (int how = 0; how < 6; how++) {
                int n = 1;

                act = acts[j];
                how_to.lazy = how > 2;
                while (read_beside(kinds[i], how % 3, how % 3 == 2, n))
                    n++;
                assert_true(n > 4);
            }
}

/* --- a writer that leaves the file sealed ------------------------------- */

static char aside[128], journal[128];

static void replace_and_drop(void)
{
    assert_int_equal(rename(aside, path), 0);
    assert_int_equal(unlink(journal), 0);
}

/*
 * Versions before 2 did not mark the files of counters. Their journal was
 * looked for after the file: in one of these orders the file was the old one,
 * and the journal was gone.
 */
TEST(a_journal_that_comes_and_goes_hides_nothing)
{
    bool came = true;

    beside(aside, ".aside");
    beside(journal, ".journal");
    act = replace_and_drop;
    for (int n = 1; came; n++) {
        struct journal j = { .fd = -1 };
        struct store_paths paths;
        struct seen_filter *f;
        unsigned char *bytes;
        struct store_head h;
        size_t len;

        store("counting:8", 1000, 200);
        assert_int_equal(rename(path, aside), 0);
        store("counting:8", 1000, 100);
        bytes = slurp(path, &len);
        store_head_take(&h, bytes);
        free(bytes);
        assert_int_equal(seen_store_map(&f, path, &how_to, NULL), SEEN_OK);
        assert_int_equal(store_paths_init(&paths, path, NULL), SEEN_OK);
        assert_int_equal(
            journal_begin(&j, &paths, 2, h.identity, h.applied, NULL),
            SEEN_OK);
        assert_int_equal(
            journal_append(&j, false, false, key + 100, 100, NULL), SEEN_OK);
        journal_close(&j);
        store_paths_clear(&paths);

        calls = 0;
        at_call = n;
        assert_int_equal(seen_store_refresh(f, NULL, NULL), SEEN_OK);
        came = !at_call;
        at_call = 0;
        assert_holds(f, 200);
        seen_filter_free(f);
        sweep(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(a_writer_that_acts_between_any_two_calls_hides_nothing),
        FRESH(a_journal_that_comes_and_goes_hides_nothing),
    };

    disk_fdatasync = disk_fsync = no_flush; /* power is not the question */
    return cmocka_run_group_tests(tests, enter, leave);
}
