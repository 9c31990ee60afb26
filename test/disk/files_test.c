/* files_test.c - files, locks, folders and gzip, as lib/disk promises. */
#include "test/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <isa-l/crc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/disk/clock.h"
#include "lib/disk/disk.h"
#include "lib/disk/inflate.h"
#include "lib/disk/lock.h"
#include "lib/disk/walk.h"

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int next;
    char *to = path[next++ % 4];

    snprintf(to, sizeof path[0], "%s/%s", folder, name);
    return to;
}

static void write_file(const char *path, const char *text)
{
    assert_int_equal(disk_replace(path, text, strlen(text), NULL), SEEN_OK);
}

static int failing_flush(int fd)
{
    (void)fd;
    errno = EIO;
    return -1;
}

static int failing_stat(int fd, struct stat *it)
{
    (void)fd;
    (void)it;
    errno = EIO;
    return -1;
}

static int flushes;

static int counted_flush(int fd)
{
    flushes++;
    return fsync(fd);
}

TEST(a_file_is_loaded_whole_or_refused)
{
    const char *path = in_folder("a");
    struct seen_error why;
    char *bytes;
    size_t len;

    write_file(path, "hello");
    assert_int_equal(disk_load(&bytes, &len, path, 5, &why), SEEN_OK);
    assert_int_equal(len, 5);
    assert_string_equal(bytes, "hello");
    free(bytes);
    assert_int_equal(disk_load(&bytes, &len, path, 4, &why), SEEN_RANGE);
    assert_null(bytes);
    assert_int_equal(disk_load(&bytes, &len, folder, 4, &why), SEEN_RANGE);
    assert_int_equal(disk_load(&bytes, &len, in_folder("none"), 4, &why),
                     SEEN_IO);
    assert_int_equal(why.system, ENOENT);
}

TEST(two_paths_may_lead_to_one_file)
{
    char other[600];

    snprintf(other, sizeof other, "%s", in_folder("other"));
    write_file(in_folder("a"), "hello");
    assert_int_equal(symlink("a", other), 0);
    assert_true(disk_same_file(in_folder("a"), other));
    assert_false(disk_same_file(in_folder("a"), folder));
    assert_false(disk_same_file(in_folder("none"), in_folder("none")));
}

TEST(a_failure_can_be_given_the_name_of_its_file)
{
    struct seen_error why;
    char name[300];

    errno = ENOSPC;
    assert_int_equal(
        disk_named(seen_fail(&why, SEEN_IO, 0, "is full"), "a/b", &why),
        SEEN_IO);
    assert_string_equal(why.text, "a/b: is full: No space left on device");
    assert_int_equal(disk_named(SEEN_OK, "c", &why), SEEN_OK);
    assert_ptr_equal(strstr(why.text, "a/b: is"), why.text);
    /* Of a long name the end is kept, and all of the words. */
    memset(name, 'x', sizeof name);
    strcpy(name + sizeof name - 12, "/index.cdxj");
    seen_fail(&why, SEEN_IO, 0, "is full");
    disk_named(SEEN_IO, name, &why);
    assert_ptr_equal(strstr(why.text, "...xx"), why.text);
    assert_non_null(
        strstr(why.text, "x/index.cdxj: is full: No space left on device"));
    assert_int_equal(disk_named(SEEN_IO, name, NULL), SEEN_IO);
}

TEST(a_password_is_the_first_line_of_a_file)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *password; /* NULL: refused */
    } of[] = { { "one\ntwo\n", 8, "one" },
               { "one\r\ntwo", 8, "one" },
               { "one", 3, "one" },
               { " a b \n", 6, " a b " },
               { "", 0, NULL },
               { "\none", 4, NULL },
               { "\r\none", 5, NULL },
               { "a\0b\n", 4, NULL } };
    const char *path = in_folder("password");
    char *password;

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        assert_int_equal(disk_replace(path, of[i].bytes, of[i].len, NULL),
                         SEEN_OK);
        assert_int_equal(disk_password(&password, path, NULL),
                         of[i].password ? SEEN_OK : SEEN_RANGE);
        if (of[i].password)
            assert_string_equal(password, of[i].password);
        else
            assert_null(password);
        free(password);
    }
    assert_int_equal(disk_password(&password, in_folder("none"), NULL),
                     SEEN_IO);
    assert_null(password);
}

TEST(a_fifo_is_refused_without_waiting)
{
    const char *path = in_folder("fifo");
    char *bytes;
    size_t len;

    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(disk_open(path, O_RDONLY, 0), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(disk_load(&bytes, &len, path, 4, NULL), SEEN_RANGE);
}

TEST(an_update_with_the_same_bytes_leaves_the_file_alone)
{
    const char *path = in_folder("same");
    struct stat before, after;
    bool changed;

    write_file(path, "one");
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(disk_update(path, "one", 3, &changed, NULL), SEEN_OK);
    assert_false(changed);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(disk_update(path, "two", 3, &changed, NULL), SEEN_OK);
    assert_true(changed);
    assert_int_equal(disk_update(path, "tw", 2, &changed, NULL), SEEN_OK);
    assert_true(changed);
}

TEST(a_replacement_that_fails_leaves_the_old_file_and_nothing_else)
{
    const char *path = in_folder("kept");
    struct seen_error why;
    char *bytes;
    size_t len;

    write_file(path, "old");
    disk_fdatasync = failing_flush;
    assert_int_equal(disk_replace(path, "new", 3, &why), SEEN_IO);
    disk_fdatasync = fdatasync;
    assert_int_equal(why.system, EIO);
    assert_int_equal(disk_load(&bytes, &len, path, 9, NULL), SEEN_OK);
    assert_string_equal(bytes, "old");
    free(bytes);
    assert_int_equal(access(in_folder("kept.new"), F_OK), -1);
}

static ssize_t refusing(int fd, const void *from, size_t len, off_t at)
{
    if (fcntl(fd, F_GETFL) & O_DIRECT) {
        errno = EINVAL;
        return -1;
    }
    return pwrite(fd, from, len, at);
}

static ssize_t falling_short(int fd, const void *from, size_t len, off_t at)
{
    return pwrite(fd, from, len > 9000 ? 8999 : len, at);
}

/* Past the cache or not, any bytes get to any place. */
TEST(direct_writes_take_any_memory_length_and_place)
{
    static const struct {
        size_t skip, len, at;
    } cases[] = { { 0, 65536, 0 },   { 0, 65536, 8192 }, { 0, 8193, 4096 },
                  { 0, 1, 0 },       { 1, 65536, 0 },    { 0, 65536, 7 },
                  { 64, 5000, 300 }, { 0, 12288, 4096 } };
    ssize_t (*const way[])(int, const void *, size_t,
                           off_t) = { pwrite, refusing, falling_short };
    unsigned char *bytes = aligned_alloc(4096, 1 << 17);
    char *read;
    size_t len;

    assert_non_null(bytes);
    for (size_t i = 0; i < 1 << 17; i++)
        bytes[i] = (unsigned char)(i * 2654435761U >> 13);
    for (size_t i = 0; i < LENGTH(cases) * LENGTH(way); i++) {
        size_t at = cases[i / LENGTH(way)].at, n = cases[i / LENGTH(way)].len;
        const unsigned char *from = bytes + cases[i / LENGTH(way)].skip;
        const char *path = in_folder("direct");
        int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);

        assert_true(fd >= 0);
        disk_pwrite = way[i % LENGTH(way)];
        disk_direct(fd, true);
        assert_int_equal(disk_write(fd, from, n, at, NULL), SEEN_OK);
        disk_direct(fd, false);
        assert_false(fcntl(fd, F_GETFL) & O_DIRECT);
        assert_int_equal(disk_write(fd, "end", 3, at + n, NULL), SEEN_OK);
        disk_pwrite = pwrite;
        close(fd);
        assert_int_equal(disk_load(&read, &len, path, 1 << 20, NULL), SEEN_OK);
        assert_int_equal(len, at + n + 3);
        assert_memory_equal(read + at, from, n);
        assert_memory_equal(read + at + n, "end", 3);
        free(read);
    }
    free(bytes);
}

TEST(a_disk_that_fails_is_no_fault_of_the_kind_of_file)
{
    const char *path = in_folder("sick");
    struct seen_error why;
    char *bytes;
    size_t len;

    write_file(path, "text");
    disk_fstat = failing_stat;
    assert_int_equal(disk_load(&bytes, &len, path, 9, &why), SEEN_IO);
    disk_fstat = fstat;
    assert_int_equal(why.system, EIO);
    assert_string_equal(why.text, "cannot be opened: Input/output error");
}

TEST(an_error_of_the_system_is_named_once)
{
    struct seen_error why;

    errno = ENOMEM;
    seen_fail(&why, SEEN_IO, 0, "cannot be read");
    assert_string_equal(why.text, "cannot be read: Cannot allocate memory");
    errno = ENOMEM;
    seen_fail(&why, SEEN_IO, 0, "a: %s", "Cannot allocate memory");
    assert_string_equal(why.text, "a: Cannot allocate memory");
}

TEST(folders_are_made_and_files_copied_only_to_where_nothing_is)
{
    const char *deep = in_folder("x/y/z");
    char *bytes;
    size_t len;

    assert_int_equal(disk_make_folders(deep, NULL), SEEN_OK);
    assert_int_equal(disk_make_folders(deep, NULL), SEEN_OK);
    write_file(deep, "deep");
    assert_int_equal(disk_copy(deep, in_folder("copy"), NULL), SEEN_OK);
    assert_int_equal(disk_load(&bytes, &len, in_folder("copy"), 9, NULL),
                     SEEN_OK);
    assert_string_equal(bytes, "deep");
    free(bytes);
    assert_int_equal(disk_copy(deep, in_folder("copy"), NULL), SEEN_IO);
}

TEST(the_names_of_new_folders_are_flushed_and_only_those)
{
    struct seen_error why;

    disk_fsync = counted_flush;
    flushes = 0;
    assert_int_equal(disk_make_folders(in_folder("new/er/file"), &why),
                     SEEN_OK);
    assert_int_equal(flushes, 2);
    assert_int_equal(disk_make_folders(in_folder("new/er/file"), &why),
                     SEEN_OK);
    assert_int_equal(flushes, 2);
    disk_fsync = failing_flush;
    assert_int_equal(disk_make_folders(in_folder("newest/file"), &why),
                     SEEN_IO);
    assert_int_equal(why.system, EIO);
    disk_fsync = fsync;
}

TEST(a_lock_can_be_asked_about_without_taking_it)
{
    const char *path = in_folder("asked");
    int one;

    assert_false(lock_held(path));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(lock_take(&one, path, "is taken", NULL), SEEN_OK);
    assert_true(lock_held(path));
    assert_true(lock_held(path));
    lock_release(one, NULL);
    assert_false(lock_held(path));
}

TEST(a_lock_has_one_holder_and_can_be_taken_again)
{
    const char *path = in_folder("lock");
    struct seen_error why;
    int one, two;

    assert_int_equal(lock_take(&one, path, "is taken", &why), SEEN_OK);
    assert_int_equal(lock_take(&two, path, "is taken", &why), SEEN_BUSY);
    assert_string_equal(why.text, "is taken");
    assert_int_equal(two, -1);
    lock_release(one, NULL);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(lock_take(&two, path, "is taken", &why), SEEN_OK);
    lock_release(two, path);
    assert_int_equal(access(path, F_OK), -1);
    lock_release(-1, path);
    assert_int_equal(symlink("elsewhere", path), 0);
    assert_int_equal(lock_take(&two, path, "is taken", &why), SEEN_IO);
}

TEST(names_come_sorted_and_trees_can_be_removed)
{
    struct walk_names names;
    char *path;

    assert_int_equal(disk_make_folders(in_folder("tree/sub/"), NULL), SEEN_OK);
    write_file(in_folder("tree/b"), "");
    write_file(in_folder("tree/.a"), "");
    write_file(in_folder("tree/a"), "");
    assert_int_equal(walk_folder(&names, in_folder("tree"), false, NULL),
                     SEEN_OK);
    assert_int_equal(names.n, 3);
    assert_string_equal(names.name[0], "a");
    assert_string_equal(names.name[1], "b");
    assert_string_equal(names.name[2], "sub");
    walk_clear(&names);
    assert_int_equal(walk_folder(&names, in_folder("tree"), true, NULL),
                     SEEN_OK);
    assert_int_equal(names.n, 4);
    walk_clear(&names);
    assert_int_equal(walk_folder(&names, in_folder("none"), true, NULL),
                     SEEN_IO);
    assert_int_equal(names.n, 0);
    write_file(in_folder("outside"), "stays");
    assert_int_equal(symlink("../outside", in_folder("tree/link")), 0);
    assert_true(walk_remove(in_folder("tree")));
    assert_int_equal(access(in_folder("outside"), F_OK), 0);
    path = walk_path("a/", "b");
    assert_string_equal(path, "a/b");
    free(path);
    path = walk_path("a", "b");
    assert_string_equal(path, "a/b");
    free(path);
}

/* printf 'hello hello hello\n' | gzip -9n */
static const unsigned char packed[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
    0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x90, 0x5c,
    0x00, 0x3b, 0x7c, 0x8a, 0xdf, 0x12, 0x00, 0x00, 0x00,
};

/* Unpack with pieces of these sizes; the last result. */
static enum inflate_result unpack(const unsigned char *bytes, size_t len,
                                  enum inflate_form form, size_t in_piece,
                                  size_t out_piece, char *out, size_t *total)
{
    struct inflate z = { .state = NULL };
    enum inflate_result result = INFLATE_MORE;
    size_t at = 0, made = 0;

    *total = 0;
    assert_int_equal(inflate_begin(&z, form, NULL), SEEN_OK);
    while (result == INFLATE_MORE && (at < len || made)) {
        size_t n = len - at < in_piece ? len - at : in_piece, left = n;
        const void *in = bytes + at;

        result = inflate_some(&z, &in, &left, out + *total, out_piece, &made);
        at += n - left;
        *total += made;
    }
    inflate_clear(&z);
    return result;
}

TEST(gzip_comes_apart_in_pieces_of_any_size)
{
    char out[128];
    size_t n;

    assert_true(inflate_is_gzip(packed, 3) && !inflate_is_gzip(packed, 2));
    for (size_t in = 1; in <= sizeof packed; in++)
        for (size_t room = 1; room <= 32; room++) {
            assert_int_equal(
                unpack(packed, sizeof packed, INFLATE_GZIP, in, room, out, &n),
                INFLATE_END);
            assert_int_equal(n, 18);
            assert_memory_equal(out, "hello hello hello\n", 18);
        }
    assert_int_equal(
        unpack(packed + 10, sizeof packed - 18, INFLATE_RAW, 99, 99, out, &n),
        INFLATE_END);
    assert_memory_equal(out, "hello hello hello\n", 18);
}

TEST(zlib_comes_apart_in_pieces_of_any_size)
{
    /* python3 -c 'zlib.compress(b"hello hello hello\n")' */
    static const unsigned char zlib[] = {
        0x78, 0x9c, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8,
        0x40, 0x90, 0x5c, 0x00, 0x40, 0xb5, 0x06, 0x87,
    };
    unsigned char damaged[sizeof zlib];
    char out[128];
    size_t n;

    assert_true(inflate_is_zlib(zlib, 2) && !inflate_is_zlib(zlib, 1));
    assert_false(inflate_is_zlib("\x78\xbb", 2)); /* with a dictionary */
    assert_false(inflate_is_zlib("\x1f\x8b", 2));
    for (size_t in = 1; in <= sizeof zlib; in++)
        for (size_t room = 1; room <= 32; room++) {
            assert_int_equal(
                unpack(zlib, sizeof zlib, INFLATE_ZLIB, in, room, out, &n),
                INFLATE_END);
            assert_int_equal(n, 18);
            assert_memory_equal(out, "hello hello hello\n", 18);
            assert_int_equal(
                unpack(zlib, sizeof zlib - 1, INFLATE_ZLIB, in, room, out, &n),
                INFLATE_MORE);
        }
    for (size_t i = 0; i < sizeof zlib; i++)
        for (size_t in = 1; in <= sizeof zlib; in++) {
            memcpy(damaged, zlib, sizeof zlib);
            damaged[i] ^= 0x40;
            assert_int_not_equal(
                unpack(damaged, sizeof zlib, INFLATE_ZLIB, in, 64, out, &n),
                INFLATE_END);
        }
}

/* Matches that begin before the text, or nowhere. */
TEST(only_what_is_right_comes_out_of_damaged_data)
{
    static const unsigned char lookback[] = { 0xcb, 0x48, 0x2c, 0x43,
                                              0x55, 0x28, 0x4f, 0x55 };
    static const unsigned char distance[] = {
        0xcb, 0x48, 0x2c, 0x4b, 0x55, 0x28, 0x4f, 0x55, 0x28, 0xc4, 0xfd, 0xff,
        0xff, 0xff, 0x28, 0xc9, 0xc8, 0x2c, 0x56, 0x08, 0x0d, 0xf2, 0xb1, 0xe7,
    };
    char out[1 << 12];
    size_t n;

    memset(out, 'x', sizeof out);
    assert_int_equal(
        unpack(lookback, sizeof lookback, INFLATE_RAW, 99, 2000, out, &n),
        INFLATE_DAMAGE);
    assert_true(n <= 3);
    assert_memory_equal(out, "hav", n);
    assert_int_equal(
        unpack(distance, sizeof distance, INFLATE_RAW, 99, 2000, out, &n),
        INFLATE_DAMAGE);
    assert_true(n <= 9);
    assert_memory_equal(out, "have we q", n);
}

/* A member whose header has all fields that RFC 1952 knows. */
TEST(gzip_headers_come_apart_anywhere)
{
    static const unsigned char head[] = {
        0x1f, 0x8b, 0x08, 0x1f, 0,   0, 0, 0, 2, 3, /* all flags */
        3,    0,    'e',  0,    'x',                /* extra */
        'n',  0,    'c',  'c',  0                   /* name, comment */
    };
    unsigned char whole[sizeof head + 2 + sizeof packed - 10];
    const uint32_t crc = crc32_gzip_refl(0, head, sizeof head);
    char out[128];
    size_t n;

    memcpy(whole, head, sizeof head);
    whole[sizeof head] = (unsigned char)crc;
    whole[sizeof head + 1] = (unsigned char)(crc >> 8);
    memcpy(whole + sizeof head + 2, packed + 10, sizeof packed - 10);
    for (size_t in = 1; in <= sizeof whole; in++) {
        assert_int_equal(
            unpack(whole, sizeof whole, INFLATE_GZIP, in, 99, out, &n),
            INFLATE_END);
        assert_int_equal(n, 18);
        assert_memory_equal(out, "hello hello hello\n", 18);
    }
    for (size_t in = 1; in <= sizeof whole; in++) {
        whole[sizeof head] ^= 1; /* the check of the header is wrong, */
        assert_int_equal(
            unpack(whole, sizeof whole, INFLATE_GZIP, in, 99, out, &n),
            INFLATE_DAMAGE);
        whole[sizeof head] ^= 1;
        whole[3] ^= 0x20; /* or a flag that nobody knows is set */
        assert_int_equal(
            unpack(whole, sizeof whole, INFLATE_GZIP, in, 99, out, &n),
            INFLATE_DAMAGE);
        whole[3] ^= 0x20;
    }
}

TEST(gzip_that_is_cut_never_ends_and_a_wrong_sum_is_damage)
{
    unsigned char bad[sizeof packed];
    char out[128];
    size_t n;

    for (size_t len = 0; len < sizeof packed; len++)
        assert_int_equal(unpack(packed, len, INFLATE_GZIP, 99, 99, out, &n),
                         INFLATE_MORE);
    memcpy(bad, packed, sizeof bad);
    bad[sizeof bad - 8] ^= 1;
    assert_int_equal(unpack(bad, sizeof bad, INFLATE_GZIP, 99, 99, out, &n),
                     INFLATE_DAMAGE);
}

TEST(the_clock_never_goes_back)
{
    double before = clock_seconds();
    uint64_t ms = clock_ms();

    for (int i = 0; i < 1000; i++) {
        double now = clock_seconds();

        assert_true(now >= before && clock_ms() >= ms);
        before = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_loaded_whole_or_refused),
        cmocka_unit_test(two_paths_may_lead_to_one_file),
        cmocka_unit_test(a_failure_can_be_given_the_name_of_its_file),
        cmocka_unit_test(a_password_is_the_first_line_of_a_file),
        cmocka_unit_test(a_fifo_is_refused_without_waiting),
        cmocka_unit_test(an_update_with_the_same_bytes_leaves_the_file_alone),
        cmocka_unit_test(
            a_replacement_that_fails_leaves_the_old_file_and_nothing_else),
        cmocka_unit_test(direct_writes_take_any_memory_length_and_place),
        cmocka_unit_test(a_disk_that_fails_is_no_fault_of_the_kind_of_file),
        cmocka_unit_test(an_error_of_the_system_is_named_once),
        cmocka_unit_test(
            folders_are_made_and_files_copied_only_to_where_nothing_is),
        cmocka_unit_test(the_names_of_new_folders_are_flushed_and_only_those),
        cmocka_unit_test(a_lock_can_be_asked_about_without_taking_it),
        cmocka_unit_test(a_lock_has_one_holder_and_can_be_taken_again),
        cmocka_unit_test(names_come_sorted_and_trees_can_be_removed),
        cmocka_unit_test(gzip_comes_apart_in_pieces_of_any_size),
        cmocka_unit_test(zlib_comes_apart_in_pieces_of_any_size),
        cmocka_unit_test(only_what_is_right_comes_out_of_damaged_data),
        cmocka_unit_test(gzip_headers_come_apart_anywhere),
        cmocka_unit_test(
            gzip_that_is_cut_never_ends_and_a_wrong_sum_is_damage),
        cmocka_unit_test(the_clock_never_goes_back),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
