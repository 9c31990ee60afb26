/* prints_test.c - near prints are found, and what a question costs. */
#include "change/prints.h"

#include "lib/text/random.h"
#include "test/test.h"

static uint64_t dice;

static uint64_t any(void)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice;
}

static struct change_prints *begin(void)
{
    struct change_prints *p = change_prints_new();

    dice = 88172645463325252;
    assert_non_null(p);
    return p;
}

/* The hash of the URL of page `number` is anything that is its own. */
static void put(struct change_prints *p, uint64_t number, uint32_t host,
                uint64_t print)
{
    assert_int_equal(change_prints_put(p, number, number, host, print, NULL),
                     SEEN_OK);
}

static uint64_t steps(const struct change_prints *p)
{
    return change_prints_cost(p).steps;
}

static unsigned bits(uint64_t a, uint64_t b)
{
    return (unsigned)__builtin_popcountll(a ^ b);
}

TEST(the_nearest_page_of_another_host_is_found_as_by_comparing_all)
{
    enum { PAGES = 3000, HOSTS = 40 };
    struct change_prints *p = begin();
    static uint64_t print[PAGES + 1];
    static uint32_t host[PAGES + 1];
    unsigned found[4] = { 0 };

    for (uint64_t i = 1; i <= PAGES; i++) {
        print[i] = any();
        host[i] = (uint32_t)any() % HOSTS;
        if (i > 1 && i % 3) { /* up to four bits from another one */
            print[i] = print[1 + any() % (i - 1)];
            for (uint64_t k = any() % 5; k; k--)
                print[i] ^= UINT64_C(1) << any() % 64;
        }
        for (unsigned most = 0; most <= 3; most++) {
            unsigned nearest = most + 1, near;
            uint64_t number = 0;

            for (uint64_t k = 1; k < i; k++)
                if (host[k] != host[i] && bits(print[k], print[i]) < nearest)
                    nearest = bits(print[k], print[i]);
            near = change_prints_nearest(p, print[i], host[i], most, &number);
            assert_int_equal(near, nearest);
            if (near > most)
                continue;
            assert_int_equal(bits(print[number], print[i]), near);
            assert_int_not_equal(host[number], host[i]);
            found[near] += most == 3;
        }
        put(p, i, host[i], print[i]);
    }
    for (int i = 0; i < 4; i++)
        assert_true(found[i] > 50);
    assert_int_equal(change_prints_cost(p).cut, 0);
    change_prints_free(p);
}

TEST(a_page_that_changed_is_found_by_its_last_print_alone)
{
    enum { PAGES = 500, CHANGES = 20, QUESTIONS = 100 };
    struct change_prints *p = begin();
    static uint64_t print[PAGES + 1];
    uint64_t before, number;

    for (int change = 0; change < CHANGES; change++)
        for (uint64_t i = 1; i <= PAGES; i++) {
            uint64_t old = print[i];

            print[i] = any();
            put(p, i, 1, print[i]);
            assert_int_equal(change_prints_nearest(p, print[i], 2, 3, &number),
                             0);
            assert_int_equal(number, i);
            assert_true(!change ||
                        change_prints_nearest(p, old, 2, 3, &number) > 3);
        }
    assert_int_equal(change_prints_pages(p), PAGES);
    assert_int_equal(change_prints_find(p, 7), 7);
    assert_int_equal(change_prints_find(p, PAGES + 1), 0);
    assert_int_equal(change_prints_get(p, 7), print[7]);
    before = steps(p); /* what they were costs nothing any more */
    for (int i = 0; i < QUESTIONS; i++)
        change_prints_nearest(p, any(), 2, 3, &number);
    assert_true(steps(p) - before < 300 * QUESTIONS);
    change_prints_free(p);
}

/* 66 tables are asked, each in 1.5 slots or so: three quarters of the slots of
   linear probing are taken at most. */
TEST(among_many_unrelated_pages_a_question_takes_few_steps)
{
    enum { PAGES = 200000, QUESTIONS = 1000 };
    struct change_prints *p = begin();
    uint64_t before, number;

    for (uint64_t i = 1; i <= PAGES; i++)
        put(p, i, (uint32_t)any() % 1000, any());
    assert_true(steps(p) < 40 * (uint64_t)PAGES);
    before = steps(p);
    for (int i = 0; i < QUESTIONS; i++)
        change_prints_nearest(p, any(), 7, 3, &number);
    assert_true(steps(p) - before < 300 * (uint64_t)QUESTIONS);
    change_prints_free(p);
}

/* All prints are within four bits of one. Each question was as long as the
   site is large. */
TEST(near_equal_pages_of_one_site_do_not_compare_each_other)
{
    enum { PAGES = 16000 };
    struct change_prints *p = begin();
    uint64_t number;

    for (uint64_t i = 1; i <= PAGES; i++) {
        uint64_t print = 0x5ee11;

        for (int k = 0; k < 4; k++)
            print ^= UINT64_C(1) << any() % 64;
        assert_true(change_prints_nearest(p, print, 1, 3, &number) > 3);
        put(p, i, 1, print);
    }
    assert_true(steps(p) < 300 * (uint64_t)PAGES);
    assert_int_equal(change_prints_cost(p).cut, 0);
    change_prints_free(p);
}

/* Every page has a host of its own and the same lower half; then, every page
   has the same print. */
TEST(pages_that_were_made_to_fill_one_list_cost_a_bounded_number_of_steps)
{
    enum { PAGES = 20000, MOST = 67 * (CHANGE_PRINTS_LIST + 20) };
    struct change_prints *p = begin();
    uint64_t number, worst = 0, puts = 0, mine = any();

    for (uint64_t i = 1; i <= PAGES; i++) {
        uint64_t print = i < PAGES / 2 ? any() << 32 | 0x5ee11 : 0x5ee11;
        uint64_t before = steps(p), between;

        change_prints_nearest(p, print, (uint32_t)i, 3, &number);
        between = steps(p);
        put(p, i, (uint32_t)i, print);
        puts += steps(p) - between;
        if (between - before > worst)
            worst = between - before;
    }
    assert_true(puts < (3 * CHANGE_PRINTS_LIST + 40) * (uint64_t)PAGES);
    assert_true(worst < MOST);
    assert_true(change_prints_cost(p).cut > 0);
    /* Others do not suffer: an equal text behind the list is found. */
    mine = mine << 32 | 0x5ee11;
    put(p, PAGES + 1, PAGES + 1, mine);
    assert_int_equal(change_prints_nearest(p, mine, PAGES + 2, 3, &number), 0);
    assert_int_equal(number, PAGES + 1);
    change_prints_free(p);
}

/* Two sites whose pages are all near each other: the second one's pages find
   some of the first one. */
TEST(a_site_with_many_near_pages_hides_no_other)
{
    enum { PAGES = 3000 };
    struct change_prints *p = begin();
    uint64_t number, found = 0;

    for (uint64_t i = 1; i <= 2 * PAGES + 2; i++) {
        uint64_t print = UINT64_C(0x5ee11) << 32 | (any() & 0xfff);

        found += i > PAGES &&
                 change_prints_nearest(p, print, i > PAGES, 3, &number) <= 3;
        put(p, i, i > PAGES, print);
    }
    assert_int_equal(found, PAGES + 2);
    change_prints_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_nearest_page_of_another_host_is_found_as_by_comparing_all),
        cmocka_unit_test(a_page_that_changed_is_found_by_its_last_print_alone),
        cmocka_unit_test(
            among_many_unrelated_pages_a_question_takes_few_steps),
        cmocka_unit_test(
            near_equal_pages_of_one_site_do_not_compare_each_other),
        cmocka_unit_test(
            pages_that_were_made_to_fill_one_list_cost_a_bounded_number_of_steps),
        cmocka_unit_test(a_site_with_many_near_pages_hides_no_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
