/* files_test.c - WARC files that rotate, fail, are cut and go on. */
#include "test/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/disk/disk.h"
#include "test/folder.h"
#include "test/warc/sample.h"
#include "warc/check.h"
#include "warc/files.h"

static uint64_t now(void)
{
    return SAMPLE_WHEN;
}

static const struct warc_facts facts = { .software = "seen", .now = now };
static struct warc_packed packed;

static long long size_of(const char *name)
{
    char path[256];
    struct stat it;

    snprintf(path, sizeof path, "%s/warc/%s", folder, name);
    return stat(path, &it) ? -1 : (long long)it.st_size;
}

static struct warc_files *open_at(uint64_t most,
                                  const struct warc_position *at)
{
    char path[256];
    struct warc_files *f;
    struct seen_error why;

    snprintf(path, sizeof path, "%s/warc", folder);
    if (warc_files_open(&f, path, "c", &facts, most, at, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    return f;
}

/* Append the sample with another time, so that its ids differ. */
static enum seen_code append(struct warc_files *f, unsigned turn)
{
    struct warc_exchange x = sample_page("http://a.example/");
    struct warc_packer *p;
    const char *name;
    uint64_t offset;
    enum seen_code code;

    x.turn = turn;
    assert_int_equal(warc_packer_new(&p, 0, NULL), SEEN_OK);
    assert_int_equal(warc_pack(p, &packed, &x, NULL), SEEN_OK);
    warc_packer_free(p);
    code = warc_files_append(f, packed.bytes.bytes, packed.bytes.len, &name,
                             &offset, NULL);
    if (code == SEEN_OK) {
        struct warc_position at = warc_files_position(f);
        char expected[64];

        snprintf(expected, sizeof expected, "c-%05u.warc.gz", at.file);
        assert_string_equal(name, expected);
        assert_int_equal(offset + packed.bytes.len, at.length);
    }
    return code;
}

static void ignore(void *owner, const struct warc_fault *fault)
{
    (void)owner;
    if (!fault->note)
        print_error("%s: %s\n", fault->file, fault->text);
}

/* The file is valid and has so many records. */
static void holds(const char *name, uint64_t records)
{
    struct warc_counts counts;
    char path[256];

    snprintf(path, sizeof path, "%s/warc/%s", folder, name);
    assert_int_equal(warc_check(path, ignore, NULL, &counts, NULL), SEEN_OK);
    assert_int_equal(counts.faults, 0);
    assert_int_equal(counts.records, records);
}

static int again(void **state)
{
    char path[256];

    (void)state;
    snprintf(path, sizeof path, "%s/warc", folder);
    walk_remove(path);
    return 0;
}

TEST(a_full_file_is_followed_by_another)
{
    struct warc_files *f = open_at(2000, NULL);

    assert_int_equal(warc_files_position(f).file, 0);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(append(f, i), SEEN_OK);
    assert_int_equal(warc_files_flush(f, NULL), SEEN_OK);
    assert_true(warc_files_position(f).file > 1);
    assert_true(size_of("c-00001.warc.gz") <= 2000);
    warc_files_close(f);
    holds("c-00001.warc.gz", 4);

    /* One exchange that is too large still gets a file. */
    again(NULL);
    f = open_at(1, NULL);
    assert_int_equal(append(f, 0), SEEN_OK);
    assert_int_equal(append(f, 1), SEEN_OK);
    assert_int_equal(warc_files_position(f).file, 2);
    warc_files_close(f);
    holds("c-00002.warc.gz", 4);
}

TEST(opening_at_a_position_cuts_what_came_after_it)
{
    struct warc_files *f = open_at(0, NULL);
    struct warc_position at;

    append(f, 0);
    at = warc_files_position(f);
    append(f, 1);
    warc_files_close(f);
    f = open_at(1, &at); /* and writes a second file */
    assert_int_equal(size_of("c-00001.warc.gz"), at.length);
    append(f, 2);
    assert_true(size_of("c-00002.warc.gz") > 0);
    warc_files_close(f);
    f = open_at(0, &at);
    assert_int_equal(size_of("c-00001.warc.gz"), at.length);
    assert_int_equal(size_of("c-00002.warc.gz"), -1);
    append(f, 3);
    warc_files_close(f);
    holds("c-00001.warc.gz", 7);
    f = open_at(0, &(struct warc_position){ 0, 0 });
    assert_int_equal(size_of("c-00001.warc.gz"), -1);
    warc_files_close(f);
}

TEST(a_file_shorter_than_its_position_is_refused_and_left_alone)
{
    struct warc_position at = { 1, 100000 };
    struct warc_files *f = open_at(0, NULL);
    struct seen_error why;
    char path[256];
    long long before;

    append(f, 0);
    warc_files_close(f);
    before = size_of("c-00001.warc.gz");
    snprintf(path, sizeof path, "%s/warc", folder);
    assert_int_equal(warc_files_open(&f, path, "c", &facts, 0, &at, &why),
                     SEEN_CORRUPT);
    assert_null(f);
    assert_non_null(strstr(why.text, "100000 were recorded"));
    at.file = 2;
    assert_int_equal(warc_files_open(&f, path, "c", &facts, 0, &at, &why),
                     SEEN_CORRUPT);
    assert_non_null(strstr(why.text, "c-00002.warc.gz is missing"));
    assert_int_equal(size_of("c-00001.warc.gz"), before);
    assert_int_equal(warc_files_open(&f, path, "c", &facts, 0, NULL, &why),
                     SEEN_EXISTS);
    assert_int_equal(warc_files_open(&f, path, "a/b", &facts, 0, NULL, &why),
                     SEEN_RANGE);
}

TEST(files_of_others_stay)
{
    static const char *const names[] = { "d-00009.warc.gz", "c-9.warc.gz",
                                         "c-00009.warc.gz.old", "c-00009x" };
    struct warc_files *f = open_at(0, NULL);
    char path[256];

    append(f, 0);
    warc_files_close(f);
    for (size_t i = 0; i < LENGTH(names); i++) {
        snprintf(path, sizeof path, "%s/warc/%s", folder, names[i]);
        assert_int_equal(disk_replace(path, "x", 1, NULL), SEEN_OK);
    }
    f = open_at(0, &(struct warc_position){ 0, 0 });
    warc_files_close(f);
    for (size_t i = 0; i < LENGTH(names); i++)
        assert_int_equal(size_of(names[i]), 1);
    assert_int_equal(size_of("c-00001.warc.gz"), -1);
}

/* --- a disk that is full --- */

static size_t room;

/* Writes a few bytes at a time, until there is no room. */
static ssize_t small_disk(int fd, const void *from, size_t len, off_t at)
{
    size_t n = len < 100 ? len : 100;

    n = n < room ? n : room;
    if (!n) {
        errno = ENOSPC;
        return -1;
    }
    room -= n;
    return pwrite(fd, from, n, at);
}

TEST(a_full_disk_leaves_whole_records_and_appending_goes_on)
{
    struct warc_position before;
    struct warc_files *f;

    /* The disk is full at every byte, also inside a warcinfo record. */
    for (size_t bytes = 0; bytes < 2600; bytes += 97) {
        unsigned done = 0;

        again(NULL);
        f = open_at(1500, NULL);
        room = bytes;
        disk_pwrite = small_disk;
        before = warc_files_position(f);
        while (append(f, done) == SEEN_OK) {
            before = warc_files_position(f);
            done++;
        }
        disk_pwrite = pwrite;
        /* What a crash leaves now is cut back to the position. */
        warc_files_close(f);
        f = open_at(1500, &before);
        for (unsigned i = done; i < 4; i++)
            assert_int_equal(append(f, i), SEEN_OK);
        assert_int_equal(warc_files_flush(f, NULL), SEEN_OK);
        warc_files_close(f);
        holds("c-00001.warc.gz", 4);
        holds("c-00002.warc.gz", 4);
    }
}

TEST(after_a_failed_write_the_same_process_goes_on)
{
    struct warc_files *f = open_at(0, NULL);

    append(f, 0);
    room = 300;
    disk_pwrite = small_disk;
    assert_int_equal(append(f, 1), SEEN_IO);
    disk_pwrite = pwrite;
    assert_int_equal(size_of("c-00001.warc.gz"),
                     warc_files_position(f).length);
    assert_int_equal(append(f, 1), SEEN_OK);
    warc_files_close(f);
    holds("c-00001.warc.gz", 7);
}

static int no_flush(int fd)
{
    (void)fd;
    errno = EIO;
    return -1;
}

TEST(a_flush_that_fails_is_reported)
{
    struct warc_files *f = open_at(1, NULL);
    struct seen_error why;

    append(f, 0);
    disk_fdatasync = no_flush;
    assert_int_equal(warc_files_flush(f, &why), SEEN_IO);
    assert_int_equal(why.system, EIO);
    assert_ptr_equal(strstr(why.text, "c-00001.warc.gz: "), why.text);
    assert_int_equal(append(f, 1), SEEN_IO); /* it would begin a file */
    disk_fdatasync = fdatasync;
    assert_int_equal(size_of("c-00002.warc.gz"), -1);
    disk_fsync = no_flush;
    assert_int_equal(warc_files_flush(f, &why), SEEN_IO);
    disk_fsync = fsync;
    assert_int_equal(warc_files_flush(f, &why), SEEN_OK);
    assert_int_equal(append(f, 1), SEEN_OK);
    warc_files_close(f);
}

static int finish(void **state)
{
    warc_packed_clear(&packed);
    return folder_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_full_file_is_followed_by_another, again),
        cmocka_unit_test_teardown(
            opening_at_a_position_cuts_what_came_after_it, again),
        cmocka_unit_test_teardown(
            a_file_shorter_than_its_position_is_refused_and_left_alone, again),
        cmocka_unit_test_teardown(files_of_others_stay, again),
        cmocka_unit_test_teardown(
            a_full_disk_leaves_whole_records_and_appending_goes_on, again),
        cmocka_unit_test_teardown(
            after_a_failed_write_the_same_process_goes_on, again),
        cmocka_unit_test_teardown(a_flush_that_fails_is_reported, again),
    };

    return cmocka_run_group_tests(tests, folder_make, finish);
}
