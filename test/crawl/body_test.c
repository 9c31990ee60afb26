/* Bodies of answers: what is in memory, what is in files, and full disks. */
#include "crawl/engine/body.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/disk/disk.h"
#include "lib/disk/walk.h"
#include "lib/text/span.h"
#include "test/folder.h"

enum { KB = 1 << 10, MB = 1 << 20, PIECE = 16 * KB, MANY = 256 };

static struct crawl_bodies bodies;
static struct crawl_page *pages[MANY];
static size_t most; /* that was in memory at a time */

static void begin(size_t requests)
{
    static const struct frontier_page row = {
        .url = { "http://a.example/", 17 },
        .path = { "", 0 },
        .type = { "", 0 },
    };

    crawl_bodies_init(&bodies, folder, requests);
    most = 0;
    for (int i = 0; i < MANY; i++) {
        pages[i] = crawl_page_new(&row);
        assert_non_null(pages[i]);
    }
}

/* Also of pages whose bodies nobody dropped: files are closed. */
static void end(void)
{
    for (int i = 0; i < MANY; i++)
        crawl_page_free(pages[i]);
}

/* The byte at this place of a page's body. */
static char byte_at(int page, size_t at)
{
    return (char)(page * 31 + (int)(at / 7) + (int)(at >> 13));
}

/* n more bytes, as they come from a socket. */
static enum seen_code add(int page, size_t n, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    static char piece[PIECE];

    for (size_t len; code == SEEN_OK && n; n -= len) {
        size_t at = crawl_body_size(pages[page]);

        len = n < sizeof piece ? n : sizeof piece;
        for (size_t i = 0; i < len; i++)
            piece[i] = byte_at(page, at + i);
        code = crawl_body_add(&bodies, pages[page], piece, len, why);
        if (atomic_load(&bodies.held) > most)
            most = atomic_load(&bodies.held);
    }
    return code;
}

static void is_whole(int page, size_t n)
{
    const struct buffer *raw = &pages[page]->raw;
    size_t same = 0;

    assert_int_equal(crawl_body_size(pages[page]), n);
    assert_int_equal(crawl_body_load(&bodies, pages[page], NULL), SEEN_OK);
    assert_int_equal(raw->len, n);
    while (same < n && raw->bytes[same] == byte_at(page, same))
        same++;
    assert_int_equal(same, n);
}

/* --- the bound --- */

TEST(whatever_slow_hosts_have_sent_memory_is_bounded_and_all_may_go_on)
{
    enum { EACH = 700 * KB };
    size_t memory = 0;

    begin(MANY);
    /* All of them at the same time, a piece each: 175 MB, and none ends. */
    for (size_t at = 0; at < EACH; at += 4 * PIECE)
        for (int i = 0; i < MANY; i++)
            assert_int_equal(
                add(i, 4 * PIECE < EACH - at ? 4 * PIECE : EACH - at, NULL),
                SEEN_OK);
    for (int i = 0; i < MANY; i++)
        memory += pages[i]->raw.len;
    assert_int_equal(atomic_load(&bodies.held), memory);
    assert_true(memory < CRAWL_BODIES_UNDER_WAY);
    assert_true(most < CRAWL_BODIES_UNDER_WAY);
    /* Nothing of them is lost, and nothing stays counted. */
    for (int i = 0; i < MANY; i++) {
        is_whole(i, EACH);
        crawl_body_drop(&bodies, pages[i]);
        assert_true(pages[i]->raw.room <= CRAWL_SPARE_MOST);
    }
    assert_int_equal(atomic_load(&bodies.held), 0);
    end();
}

TEST(one_after_the_other_they_leave_each_their_share)
{
    begin(MANY);
    /* The first have all that there is for anybody. */
    for (int i = 0; i < 4; i++)
        assert_int_equal(add(i, 10 * MB, NULL), SEEN_OK);
    assert_true(atomic_load(&bodies.held) <= CRAWL_BODIES_ANY);
    /* The others still have memory of their own. */
    for (int i = 4; i < MANY; i++) {
        assert_int_equal(add(i, bodies.share, NULL), SEEN_OK);
        assert_int_equal(pages[i]->filed, 0);
    }
    assert_true(most < CRAWL_BODIES_UNDER_WAY);
    for (int i = 0; i < 4; i++)
        is_whole(i, 10 * MB);
    end();
}

TEST(a_thousand_requests_or_one_have_the_same_bound)
{
    static const size_t requests[] = { 0, 1, 16, 1000 };

    for (size_t i = 0; i < LENGTH(requests); i++) {
        begin(requests[i]);
        for (int page = 0; page < MANY && page < (int)requests[i] + 1; page++)
            assert_int_equal(add(page, i < 2 ? 60 * MB : 300 * KB, NULL),
                             SEEN_OK);
        assert_true(most <= CRAWL_BODIES_UNDER_WAY);
        end();
    }
}

/* --- files --- */

static size_t writes, room;

static ssize_t counted(int fd, const void *from, size_t len, off_t at)
{
    writes++;
    return pwrite(fd, from, len, at);
}

static ssize_t small_disk(int fd, const void *from, size_t len, off_t at)
{
    size_t n = len < room ? len : room;

    if (!n) {
        errno = ENOSPC;
        return -1;
    }
    room -= n;
    return pwrite(fd, from, n, at);
}

TEST(what_fits_into_memory_never_touches_the_disk)
{
    begin(MANY);
    writes = 0;
    disk_pwrite = counted;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++)
            assert_int_equal(add(i, 300 * KB, NULL), SEEN_OK);
        for (int i = 0; i < 100; i++) {
            is_whole(i, 300 * KB);
            crawl_body_drop(&bodies, pages[i]);
        }
    }
    assert_int_equal(writes, 0);
    /* Now it does not fit. A file gets what was in memory in one piece. */
    assert_int_equal(add(0, CRAWL_BODIES_ANY, NULL), SEEN_OK);
    assert_int_equal(writes, 0);
    assert_int_equal(add(0, PIECE, NULL), SEEN_OK);
    assert_int_equal(writes, 2);
    disk_pwrite = pwrite;
    is_whole(0, CRAWL_BODIES_ANY + PIECE);
    end();
}

TEST(files_have_no_names)
{
    struct walk_names names;

    begin(1000);
    assert_int_equal(add(0, CRAWL_BODIES_ANY, NULL), SEEN_OK);
    assert_int_equal(add(1, MB, NULL), SEEN_OK);
    assert_int_equal(pages[1]->filed, MB);
    assert_int_equal(walk_folder(&names, folder, true, NULL), SEEN_OK);
    assert_int_equal(names.n, 0);
    walk_clear(&names);
    end();
}

TEST(pages_that_are_dropped_or_freed_close_their_files)
{
    int before = dup(0);

    close(before);
    begin(1000);
    assert_int_equal(add(0, CRAWL_BODIES_ANY, NULL), SEEN_OK);
    for (int i = 1; i < 40; i++)
        assert_int_equal(add(i, 100 * KB, NULL), SEEN_OK);
    for (int i = 1; i < 20; i++)
        crawl_body_drop(&bodies, pages[i]);
    is_whole(20, 100 * KB);
    end();
    assert_int_equal(dup(0), before);
    close(before);
}

/* --- disks without room --- */

TEST(a_full_disk_leaves_the_page_what_it_had)
{
    struct seen_error why;

    begin(1000);
    assert_int_equal(add(0, CRAWL_BODIES_ANY, NULL), SEEN_OK);
    /* Full when the file is made, and later. */
    for (size_t bytes = 0; bytes < 200 * KB; bytes += 50 * KB) {
        room = bytes;
        disk_pwrite = small_disk;
        assert_int_equal(add(1, 300 * KB, &why), SEEN_IO);
        assert_int_equal(why.system, ENOSPC);
        assert_non_null(strstr(why.text, folder));
        disk_pwrite = pwrite;
        is_whole(1, crawl_body_size(pages[1]));
        crawl_body_drop(&bodies, pages[1]);
    }
    /* What was dropped comes again when there is room. */
    assert_int_equal(add(1, 300 * KB, NULL), SEEN_OK);
    is_whole(1, 300 * KB);
    end();
}

TEST(without_a_folder_or_descriptors_it_is_the_same)
{
    struct rlimit none, all;
    struct seen_error why;

    begin(1000);
    assert_int_equal(add(0, CRAWL_BODIES_ANY, NULL), SEEN_OK);
    bodies.folder = "/nonexistent";
    assert_int_equal(add(1, 300 * KB, &why), SEEN_IO);
    assert_non_null(strstr(why.text, "/nonexistent"));
    bodies.folder = folder;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
    none = all;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(add(2, 300 * KB, &why), SEEN_IO);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
    assert_int_equal(add(2, 300 * KB, &why), SEEN_OK);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            whatever_slow_hosts_have_sent_memory_is_bounded_and_all_may_go_on),
        cmocka_unit_test(one_after_the_other_they_leave_each_their_share),
        cmocka_unit_test(a_thousand_requests_or_one_have_the_same_bound),
        cmocka_unit_test(what_fits_into_memory_never_touches_the_disk),
        cmocka_unit_test(files_have_no_names),
        cmocka_unit_test(pages_that_are_dropped_or_freed_close_their_files),
        cmocka_unit_test(a_full_disk_leaves_the_page_what_it_had),
        cmocka_unit_test(without_a_folder_or_descriptors_it_is_the_same),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
