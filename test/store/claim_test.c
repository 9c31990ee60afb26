/* claim_test.c - the right to write a file, and who begins one. */
#define _DEFAULT_SOURCE
#include "place.h"

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

TEST(a_file_is_created_once)
{
    struct seen_plan plan = plan_of("growing/bloom", 100);
    struct seen_filter *f = holding(&plan, 10), *g = holding(&plan, 0);
    struct seen_error why;

    assert_int_equal(seen_store_create(f, path, &why), SEEN_OK);
    errno = 0;
    assert_int_equal(seen_store_create(g, path, &why), SEEN_IO);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(why.system, EEXIST);
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
        FRESH(a_file_is_created_once),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
