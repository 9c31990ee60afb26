/*
 * fault_test.c - pages of mapped files that are lost, and what is kept.
 *
 * A file that is cut short is a SIGBUS at the next page that is read. A page
 * for which a disk has no block is one, too, but takes a disk of its own; so
 * tests say to seen_store_fault() what their handler would.
 */
#include "stored.h"

#include <signal.h>

#include "lib/store/fault.h"

static int others; /* faults that were in no filter */

static void on_bus(int number, siginfo_t *it, void *unused)
{
    (void)unused;
    if (seen_store_fault(it->si_addr))
        return;
    others++;
    signal(number, SIG_DFL);
}

/* In each test: cmocka has a handler of its own when it begins. */
static void take_faults(void)
{
    const struct sigaction act = { .sa_sigaction = on_bus,
                                   .sa_flags = SA_SIGINFO };

    assert_int_equal(sigaction(SIGBUS, &act, NULL), 0);
}

static void make(const char *kind, uint64_t capacity, size_t n)
{
    struct seen_plan plan = plan_of(kind, capacity);
    struct seen_filter *f = holding(&plan, n);

    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
}

static bool holds(const char *name, size_t n)
{
    static bool seen[KEYS];
    struct seen_filter *f;
    bool all;

    assert_int_equal(seen_store_load(&f, name, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_has(f, key, n, seen, NULL), SEEN_OK);
    all = !memchr(seen, false, n);
    seen_filter_free(f);
    return all;
}

TEST(a_reader_whose_file_was_cut_short_fails_until_the_file_is_whole_again)
{
    static bool seen[KEYS];
    struct seen_filter *f, *g;
    struct seen_error why;
    bool changed;
    char other[128];

    take_faults();
    make("bloom", 1000000, KEYS);
    assert_int_equal(seen_store_map(&f, path, NULL, NULL), SEEN_OK);
    assert_int_equal(truncate(path, 8192), 0);
    assert_int_equal(seen_filter_has(f, key, KEYS, seen, &why), SEEN_IO);
    assert_int_equal(why.system, EIO);
    assert_non_null(strstr(why.text, "cut short"));
    assert_int_equal(seen_filter_has(f, key, 1, seen, &why), SEEN_IO);
    assert_int_equal(seen_store_refresh(f, NULL, &why), SEEN_IO);

    beside(other, ".other");
    assert_int_equal(seen_store_save(f, other, &why), SEEN_IO);
    assert_int_not_equal(access(other, F_OK), 0);
    assert_int_equal(unlink(path), 0);
    make("bloom", 1000000, KEYS);
    assert_int_equal(seen_store_map(&g, path, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_has(g, key, KEYS, seen, NULL), SEEN_OK);
    assert_null(memchr(seen, false, KEYS));
    seen_filter_free(g);
    assert_int_equal(seen_store_refresh(f, &changed, &why), SEEN_OK);
    assert_true(changed);
    assert_int_equal(seen_filter_has(f, key, KEYS, seen, NULL), SEEN_OK);
    seen_filter_free(f);
    assert_int_equal(others, 0);
}

TEST(a_filter_that_lost_a_page_is_not_merged_into_another)
{
    struct seen_plan plan = plan_of("bloom", 1000000);
    struct seen_filter *f, *into = holding(&plan, 0);

    take_faults();
    make("bloom", 1000000, KEYS);
    assert_int_equal(seen_store_map(&f, path, NULL, NULL), SEEN_OK);
    assert_int_equal(truncate(path, 8192), 0);
    assert_int_equal(seen_filter_merge(into, f, NULL), SEEN_IO);
    assert_int_equal(seen_filter_offered(into), 0);
    seen_filter_free(f);
    seen_filter_free(into);
}

/* The page that was lost comes from nowhere: it must not reach the file, and
   the journal must not be dropped as if it had. */
static void lose_a_page(bool lazy, bool checkpoint)
{
    const struct seen_access access = { .lazy = lazy };
    struct seen_filter *f;
    struct seen_error why;

    make("bloom", 100000, 1000);
    assert_int_equal(seen_store_open(&f, path, &access, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(f, key + 1000, 1000, NULL, NULL),
                     SEEN_OK);
    if (checkpoint)
        assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(f, key + 2000, 1000, NULL, NULL),
                     SEEN_OK);
    assert_true(seen_store_fault(seen_filter_memory(f) + 5000));
    assert_int_equal(seen_filter_add(f, key + 3000, 1, NULL, &why), SEEN_IO);
    assert_int_equal(seen_store_checkpoint(f, &why), SEEN_IO);
    assert_int_equal(seen_store_close(f, &why), SEEN_IO);
    assert_true(holds(path, 3000));

    assert_int_equal(seen_store_open(&f, path, &access, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(f, key + 3000, 1, NULL, &why), SEEN_OK);
    assert_int_equal(seen_store_close(f, &why), SEEN_OK);
    assert_true(holds(path, 3001));
    assert_int_equal(files(), 1);
}

TEST(a_writer_that_lost_a_page_leaves_all_it_acknowledged_to_the_next)
{
    for (int i = 0; i < 4; i++) {
        lose_a_page(i & 1, i & 2);
        sweep(NULL);
    }
}

TEST(addresses_of_no_filter_are_left_alone)
{
    struct seen_filter *f;
    const unsigned char *cells;
    char here = 1;

    make("bloom", 100000, 1000);
    assert_false(seen_store_fault(&here));
    assert_false(seen_store_fault(NULL));
    assert_int_equal(seen_store_map(&f, path, NULL, NULL), SEEN_OK);
    cells = seen_filter_memory(f);
    assert_false(seen_store_fault(cells - 2 * 4096));
    assert_false(seen_store_fault(cells + seen_filter_bytes(f) + 2 * 4096));
    seen_filter_free(f);
    assert_false(seen_store_fault(cells));
    assert_int_equal(here, 1);
}

/* However often files are opened and closed, the list does not grow. */
TEST(places_in_the_list_of_mappings_are_used_again)
{
    static char page[3][4096] __attribute__((aligned(4096)));
    struct store_range *r[3], *again[3];

    for (int i = 0; i < 3; i++)
        r[i] = store_range_new(page[i], sizeof page[i]);
    for (int i = 0; i < 3; i++)
        store_range_free(r[i]);
    for (int i = 0; i < 3; i++) {
        again[i] = store_range_new(page[i], sizeof page[i]);
        assert_true(again[i] == r[2 - i]);
        assert_int_equal(*store_range_lost(again[i]), 0);
    }
    assert_true(seen_store_fault(&page[1][7]));
    assert_int_equal(*store_range_lost(again[0]), 0);
    assert_int_not_equal(*store_range_lost(again[1]), 0);
    for (int i = 0; i < 3; i++)
        store_range_free(again[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(
            a_reader_whose_file_was_cut_short_fails_until_the_file_is_whole_again),
        FRESH(a_filter_that_lost_a_page_is_not_merged_into_another),
        FRESH(
            a_writer_that_lost_a_page_leaves_all_it_acknowledged_to_the_next),
        FRESH(addresses_of_no_filter_are_left_alone),
        FRESH(places_in_the_list_of_mappings_are_used_again),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
