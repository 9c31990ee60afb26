/* claim_test.c - the right to write a file, and who begins one. */
#include "stored.h"

/* What another would add between loading and saving has to wait. */
TEST(who_claims_a_file_is_its_only_writer)
{
    struct seen_filter *f, *other;
    struct seen_claim *claim, *second;

    store("bloom", 1000, 10);
    assert_int_equal(seen_store_claim(&claim, path, NULL), SEEN_OK);
    assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_open(&other, path, NULL, NULL), SEEN_BUSY);
    assert_null(other);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_BUSY);
    assert_int_equal(seen_store_claim(&second, path, NULL), SEEN_BUSY);
    assert_null(second);

    assert_int_equal(seen_filter_add(f, key, 20, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_claim_save(f, claim, NULL), SEEN_OK);
    assert_int_equal(seen_store_open(&other, path, NULL, NULL), SEEN_BUSY);
    seen_claim_free(claim);
    seen_filter_free(f);

    assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
    assert_holds(f, 20);
    assert_int_equal(seen_store_claim(&claim, path, NULL), SEEN_BUSY);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_int_equal(files(), 1);
}

TEST(a_claim_that_is_given_back_unused_leaves_nothing)
{
    struct seen_claim *claim;

    assert_int_equal(seen_store_claim(&claim, path, NULL), SEEN_OK);
    seen_claim_free(claim);
    seen_claim_free(NULL);
    assert_int_equal(files(), 0);
}

/* What arrived whole takes the place of the old one, journal and all. */
TEST(a_claim_is_swapped_for_a_file_that_is_written_already)
{
    struct seen_filter *f;
    struct seen_claim *claim;
    char other[128], journal[128];

    beside(other, ".part");
    beside(journal, ".journal");
    store("blocked", 1000, 30);
    assert_int_equal(rename(path, other), 0);
    store("blocked", 1000, 10);
    assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_claim(&claim, path, NULL), SEEN_BUSY);
    assert_int_equal(seen_filter_add(f, key, 12, NULL, NULL), SEEN_OK);
    seen_store_abandon(f);
    assert_int_equal(access(journal, F_OK), 0);

    assert_int_equal(seen_store_claim(&claim, path, NULL), SEEN_OK);
    assert_int_equal(seen_claim_swap(claim, "/nonesuch/x", NULL), SEEN_IO);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(seen_claim_swap(claim, other, NULL), SEEN_OK);
    seen_claim_free(claim);
    assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
    assert_holds(f, 30);
    seen_filter_free(f);
    assert_int_equal(files(), 1);
}

/* Locks keep our own kind from the file, but not `mv` and `cp`. */
TEST(a_writer_knows_when_its_file_is_no_longer_there)
{
    static const char *const kind[] = { "bloom", "growing/bloom",
                                        "counting:8" };
    char other[128];

    beside(other, ".other");
    for (size_t i = 0; i < LENGTH(kind); i++) {
        struct seen_filter *f, *g;

        store(kind[i], 1000, 5);
        assert_int_equal(rename(path, other), 0);
        store(kind[i], 1000, 10);
        assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
        assert_true(seen_store_current(f));
        assert_int_equal(seen_filter_add(f, key, 20, NULL, NULL), SEEN_OK);
        assert_int_equal(seen_store_checkpoint(f, NULL), SEEN_OK);
        assert_true(seen_store_current(f));

        /* What another has put there is left as it is, and free to write. */
        assert_int_equal(rename(other, path), 0);
        assert_false(seen_store_current(f));
        seen_store_abandon(f);
        assert_int_equal(seen_store_open(&g, path, NULL, NULL), SEEN_OK);
        assert_holds(g, 5);
        assert_true(seen_store_current(g));
        assert_int_equal(truncate(path, 4096), 0);
        assert_false(seen_store_current(g));
        assert_int_equal(unlink(path), 0);
        assert_false(seen_store_current(g));
        seen_store_abandon(g);
        sweep(NULL);
    }
    assert_false(seen_store_current(NULL));
    seen_store_abandon(NULL);
}

TEST(a_file_is_created_once)
{
    struct seen_plan plan = plan_of("growing/bloom", 100);
    struct seen_filter *f = holding(&plan, 10), *g = holding(&plan, 0);
    struct seen_error why;

    assert_int_equal(seen_store_create(f, path, &why), SEEN_OK);
    assert_int_equal(seen_store_create(g, path, &why), SEEN_EXISTS);
    seen_filter_free(f);
    seen_filter_free(g);

    assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
    assert_holds(f, 10);
    seen_filter_free(f);
    assert_int_equal(files(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(who_claims_a_file_is_its_only_writer),
        FRESH(a_claim_that_is_given_back_unused_leaves_nothing),
        FRESH(a_claim_is_swapped_for_a_file_that_is_written_already),
        FRESH(a_writer_knows_when_its_file_is_no_longer_there),
        FRESH(a_file_is_created_once),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
