/*
 * few_test.c - filters for many keys that have few: their pages of zeros are
 * neither read nor copied, but the file has every byte.
 */
#include "stored.h"

#include <fcntl.h>

#include "lib/disk/disk.h"
#include "lib/filter/cells.h"

enum { CAPACITY = 2000000, FEW = 100 };

static size_t longest; /* write */
static off_t room;     /* on a disk that is full */

static ssize_t measured(int fd, const void *from, size_t len, off_t at)
{
    longest = len > longest ? len : longest;
    return pwrite(fd, from, len, at);
}

static ssize_t full(int fd, const void *from, size_t len, off_t at)
{
    if (at + (off_t)len > room) {
        errno = ENOSPC;
        return -1;
    }
    return pwrite(fd, from, len, at);
}

/* A filter of the first n keys, in two lanes if possible. */
static struct seen_filter *built(const char *kind, size_t n)
{
    struct seen_plan plan = plan_of(kind, CAPACITY);
    unsigned last = seen_kind_can(kind, SEEN_NEEDS_ORDER) ? 0 : 1;
    struct seen_build *b;
    struct seen_filter *f;

    assert_int_equal(seen_build_new(&b, &plan, last + 1, NULL), SEEN_OK);
    assert_int_equal(seen_build_add(b, 0, key, n / 2, NULL), SEEN_OK);
    assert_int_equal(seen_build_flush(b, 0, NULL), SEEN_OK);
    assert_int_equal(seen_build_add(b, last, key + n / 2, n - n / 2, NULL),
                     SEEN_OK);
    assert_int_equal(seen_build_finish(b, &f, NULL), SEEN_OK);
    return f;
}

/* Let the store know nothing of pages that were not touched. */
static void forget(struct seen_filter *f)
{
    f->zeroed = false;
    for (unsigned i = 0; i < f->parts; i++)
        forget(f->part[i]);
}

/*
 * Are few pages of the filter touched, as far as the system says? It may not
 * say; and its khugepaged may make one huge page of all of them at any time,
 * as it did once on a busy machine. They never become fewer: if they are few
 * after the filter was saved, they were few while it was.
 */
static bool has_few(const struct seen_filter *f)
{
    static unsigned char touched[128];
    size_t size = seen_filter_bytes(f), pages = size / CELLS_PAGE;

    assert_true(pages / 8 < sizeof touched);
    return cells_touched(seen_filter_memory(f), size, touched) < pages / 4;
}

TEST(pages_that_were_touched_are_known)
{
    static unsigned char touched[256];
    size_t size = (size_t)8 << 20, n;
    unsigned char *cells = cells_new(size);

    assert_non_null(cells);
    cells_expect_few(cells, size, true);
    cells[3 * CELLS_PAGE] = 1;
    cells[700 * CELLS_PAGE + 4095] = 1;
    n = cells_touched(cells, size, touched); /* before huge pages may come */
    assert_true(n == 2 || n == size / CELLS_PAGE);
    assert_true(touched[0] & 8);
    assert_true(touched[700 / 8] >> 700 % 8 & 1);
    assert_true(n > 2 || (touched[0] == 8 && !touched[1]));
    cells_free(cells, size);
}

TEST(a_file_has_the_same_bytes_whether_zeros_are_copied_or_not)
{
    static const char *const kinds[] = {
        "blocked",           "bloom",          "counting:8",
        "spatial:3/blocked", "routed:2/bloom",
    };
    static const size_t keys[] = { 0, 1, FEW, KEYS };

    for (size_t i = 0; i < LENGTH(kinds) * LENGTH(keys); i++) {
        size_t n = keys[i % LENGTH(keys)], few_len, all_len;
        struct seen_filter *f = built(kinds[i / LENGTH(keys)], n), *g;
        unsigned char *few, *all;

        longest = 0;
        disk_pwrite = measured;
        assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
        disk_pwrite = pwrite;
        assert_true(i / LENGTH(keys) > 0 || !has_few(f) || longest > 1 << 20);
        few = slurp(path, &few_len);
        assert_int_equal(seen_store_load(&g, path, NULL, NULL), SEEN_OK);
        assert_holds(g, n);
        assert_equal_answers(f, g);
        seen_filter_free(g);

        forget(f);
        assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
        all = slurp(path, &all_len);
        assert_int_equal(few_len, all_len);
        assert_memory_equal(few, all, all_len);
        free(few);
        free(all);
        seen_filter_free(f);
    }
}

TEST(a_full_disk_refuses_a_filter_of_few_keys_and_leaves_the_old_file)
{
    struct seen_filter *f = built("blocked", FEW);
    struct seen_error why;

    store("bloom", 1000, 100);
    disk_pwrite = full;
    for (room = 0; room < (off_t)f->size; room += 250000) {
        assert_int_equal(seen_store_save(f, path, &why), SEEN_IO);
        assert_int_equal(why.system, ENOSPC);
        assert_int_equal(files(), 1);
        assert_int_equal(loads(NULL), SEEN_OK);
    }
    room = 2 * (off_t)f->size;
    assert_int_equal(seen_store_save(f, path, &why), SEEN_OK);
    disk_pwrite = pwrite;
    seen_filter_free(f);
}

/* With holes, a full disk would be a SIGBUS at some add. */
TEST(a_file_of_few_keys_has_no_holes_so_that_adds_need_no_room)
{
    struct seen_filter *f = built("blocked", FEW);
    struct stat it;

    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    assert_int_equal(stat(path, &it), 0);
    assert_int_equal(first_hole(), it.st_size);
    assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(f, key, KEYS, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
    assert_holds(f, KEYS);
    seen_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_that_were_touched_are_known),
        FRESH(a_file_has_the_same_bytes_whether_zeros_are_copied_or_not),
        FRESH(
            a_full_disk_refuses_a_filter_of_few_keys_and_leaves_the_old_file),
        FRESH(a_file_of_few_keys_has_no_holes_so_that_adds_need_no_room),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
