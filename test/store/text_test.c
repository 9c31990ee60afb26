/* text_test.c - the one text of a filter: canonical, and kept. */
#include "stored.h"

#include <fcntl.h>

#include "lib/store/cells.h"
#include "lib/store/journal.h"
#include "lib/store/text.h"

/* Write the file at `path` anew with another text, all checksums right. */
static void retext(const char *text)
{
    size_t len;
    unsigned char *old = slurp(path, &len), *now;
    struct store_head h;
    size_t cells_at, table_at;

    assert_int_equal(store_head_get(&h, old, len, NULL), SEEN_OK);
    cells_at = (size_t)h.cells_at;
    table_at = (size_t)h.table_at;
    h.text_len = strlen(text);
    h.text_sum = store_checksum(text, strlen(text));
    store_head_arrange(&h);
    h.identity = store_head_identity(&h);
    now = calloc(1, (size_t)h.length);
    store_head_put(now, &h);
    store_head_put(now + store_head_second(&h), &h);
    memcpy(now + HEAD, text, strlen(text));
    memcpy(now + h.table_at, old + table_at, 8 * (h.leaves + h.blocks));
    memcpy(now + h.cells_at, old + cells_at, (size_t)h.cells_len);
    spill(path, now, (size_t)h.length);
    free(old);
    free(now);
}

/* The file's text with `from` replaced by `to`, which may be longer. */
static void edit(const char *from, const char *to)
{
    int fd = open(path, O_RDONLY);
    struct store_front front;
    char *text, *at;

    assert_int_equal(store_front_read(&front, fd, NULL), SEEN_OK);
    close(fd);
    text = malloc(strlen(front.text) + strlen(to) + 1);
    at = strstr(front.text, from);
    assert_non_null(at);
    sprintf(text, "%.*s%s%s", (int)(at - front.text), front.text, to,
            at + strlen(from));
    retext(text);
    free(text);
    store_front_clear(&front);
}

TEST(the_text_names_plan_counts_and_metadata)
{
    struct seen_plan plan = plan_of("routed:2/bloom", 1000);
    struct seen_filter *f = holding(&plan, 10);
    char *text;

    assert_int_equal(seen_meta_set(f, "title", "Example", NULL), SEEN_OK);
    assert_int_equal(seen_meta_set(f, "as-of", "2024-01-31", NULL), SEEN_OK);
    assert_int_equal(seen_store_describe(f, &text, NULL), SEEN_OK);
    assert_non_null(strstr(text, "kind=routed:2/bloom\nprofile=raw\n"
                                 "capacity=1000\nrate=0.01\n"));
    assert_non_null(strstr(text, "\noffered=10\npart=1 kind=bloom "));
    assert_non_null(strstr(text, "\nas-of=2024-01-31\ntitle=Example\n"));
    free(text);
    seen_filter_free(f);
}

/* The root has it, behind the profile; `auto` is left out. */
TEST(how_an_index_became_keys_is_recorded)
{
    static const char *const kinds[] = { "blocked", "growing/bloom" };
    static const char *const words[] = { NULL, "\nprofile=raw\nkeys=trusted\n",
                                         "\nprofile=raw\nkeys=derived\n" };

    for (size_t i = 0; i < LENGTH(kinds); i++)
        for (int keys = SEEN_KEYS_AUTO; keys <= SEEN_KEYS_DERIVED; keys++) {
            struct seen_plan plan = plan_of(kinds[i], 1000);
            struct seen_filter *f;
            const char *found;
            char *text;

            plan.keys = (enum seen_index_keys)keys;
            f = holding(&plan, 10);
            assert_int_equal(seen_meta_set(f, "keys", "of the house", NULL),
                             SEEN_OK); /* as files of version 1 may have */
            assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
            seen_filter_free(f);
            assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
            assert_int_equal(seen_filter_plan(f)->keys, keys);
            assert_string_equal(seen_meta_get(f, "keys"), "of the house");
            assert_int_equal(seen_store_describe(f, &text, NULL), SEEN_OK);
            found = strstr(text, "keys=");
            assert_true(!words[keys] || strstr(text, words[keys]));
            assert_true(words[keys] || !strncmp(found, "keys=of", 7));
            free(text);
            seen_filter_free(f);
        }
    store("bloom", 1000, 10);
    edit("profile=raw\n", "profile=raw\nkeys=auto\n");
    assert_int_equal(loads(NULL), SEEN_CORRUPT);
}

/* A union of filters whose keys differ is not decided, and never refused. */
TEST(different_keys_of_indexes_are_merged_as_undecided)
{
    for (int a = SEEN_KEYS_AUTO; a <= SEEN_KEYS_DERIVED; a++)
        for (int b = SEEN_KEYS_AUTO; b <= SEEN_KEYS_DERIVED; b++) {
            struct seen_plan plan = plan_of("blocked", 1000);
            struct seen_filter *f = holding(&plan, 10);
            struct seen_filter *g = holding(&plan, 20);

            seen_filter_set_keys(f, (enum seen_index_keys)a);
            seen_filter_set_keys(g, (enum seen_index_keys)b);
            assert_int_equal(seen_filter_merge(f, g, NULL), SEEN_OK);
            assert_int_equal(seen_filter_plan(f)->keys,
                             a == b ? a : SEEN_KEYS_AUTO);
            seen_filter_free(f);
            seen_filter_free(g);
        }
}

TEST(a_text_with_counts_is_read_back)
{
    for (size_t i = 0; i < LENGTH(every_kind); i++) {
        struct seen_plan plan = plan_of(every_kind[i], 1000);
        struct seen_filter *f = holding(&plan, 300), *g;
        char *text;

        assert_int_equal(seen_store_describe(f, &text, NULL), SEEN_OK);
        assert_int_equal(store_text_parse(&g, text, true, NULL, NULL),
                         SEEN_OK);
        assert_equal_text(f, g);
        assert_int_equal(seen_filter_cells_set(f), seen_filter_cells_set(g));
        seen_filter_free(g);
        assert_int_equal(store_text_parse(&g, text, false, NULL, NULL),
                         SEEN_CORRUPT);
        seen_filter_free(f);
        free(text);
    }
}

/* 0.1 takes 15 digits, 1/3 takes 16, and the last one 17. */
TEST(rates_come_back_to_the_last_bit)
{
    static const double rates[] = { 0.1, 1.0 / 3, 0.049999999999999996,
                                    1.2345678901234567e-5 };

    for (size_t i = 0; i < LENGTH(rates); i++) {
        struct seen_plan plan = plan_of("bloom", 1000);
        struct seen_filter *f;

        plan.rate = rates[i];
        f = holding(&plan, 1);
        assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
        seen_filter_free(f);
        assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
        assert_true(seen_filter_plan(f)->rate == rates[i]);
        seen_filter_free(f);
    }
}

TEST(unknown_names_are_kept_and_written_back)
{
    struct seen_filter *f;
    unsigned char *once, *twice;
    size_t len, again;

    store("bloom", 1000, 10);
    edit("size=1216\n", "size=1216\nanything.new=1 2=3\nzeal=\n");
    once = slurp(path, &len);
    assert_int_equal(seen_store_load(&f, path, NULL, NULL), SEEN_OK);
    assert_string_equal(seen_meta_get(f, "anything.new"), "1 2=3");
    assert_string_equal(seen_meta_get(f, "zeal"), "");
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
    twice = slurp(path, &again);
    assert_int_equal(len, again);
    assert_memory_equal(once, twice, len);
    free(once);
    free(twice);
}

TEST(names_that_must_be_understood_are_refused)
{
    struct seen_error why;

    store("bloom", 1000, 10);
    edit("size=1216\n", "size=1216\n!folded=2\n");
    assert_int_equal(loads(&why), SEEN_MISMATCH);
    assert_non_null(strstr(why.text, "!folded"));
}

/* A journal with keys that the filter has no room for. */
static void record_too_many(void)
{
    struct journal j = { .fd = -1 };
    struct store_paths paths;
    struct store_head h;
    size_t len;
    unsigned char *bytes = slurp(path, &len);

    store_head_take(&h, bytes);
    free(bytes);
    assert_int_equal(store_paths_init(&paths, path, NULL), SEEN_OK);
    assert_int_equal(journal_begin(&j, &paths, 2, h.identity, h.applied, NULL),
                     SEEN_OK);
    assert_int_equal(journal_append(&j, false, false, key, KEYS, NULL),
                     SEEN_OK);
    journal_close(&j);
    store_paths_clear(&paths);
}

/* A plan from elsewhere may claim anything. What is read, allocated and
   written stays in proportion to the file that came. */
TEST(a_plan_that_claims_too_much_writes_no_more_than_the_file)
{
    static const struct {
        const char *kind, *from, *to;
    } cases[] = {
        { "dynamic:4/bloom", "capacity=1000\n", "capacity=281474976710656\n" },
        { "dynamic:4/routed:2/blocked", "capacity=1000\n",
          "capacity=281474976710656\n" },
        { "growing/bloom", "capacity=1000\n", "capacity=281474976710656\n" },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct seen_filter *f;
        struct seen_error why = { .text = "" };
        enum seen_code code;
        struct stat it;

        store(cases[i].kind, 1000, 100);
        edit(cases[i].from, cases[i].to);
        assert_int_equal(seen_store_open(&f, path, NULL, &why), SEEN_OK);
        for (int round = 0; round < 2; round++) {
            code = seen_filter_add(f, key, KEYS, NULL, &why);
            if (code != SEEN_OK && code != SEEN_FULL && code != SEEN_RANGE)
                fail_msg("%s: %s", cases[i].kind, why.text);
            assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
            assert_int_equal(stat(path, &it), 0);
            assert_true(it.st_size < 1 << 20);
            assert_int_equal(seen_store_open(&f, path, NULL, &why), SEEN_OK);
        }
        /* Killed before it could say that the rest was refused. */
        seen_store_abandon(f);
        record_too_many();
        assert_int_equal(loads(&why), SEEN_OK);
        assert_int_equal(stat(path, &it), 0);
        assert_true(it.st_size < 1 << 20);
    }
}

TEST(kinds_and_profiles_of_later_versions_are_refused_as_such)
{
    static const char *const later[][2] = {
        { "kind=bloom\n", "kind=blossom\n" },
        { "kind=bloom\n", "kind=bloom:xxh9\n" },
        { "profile=raw\n", "profile=surt99\n" },
    };

    for (size_t i = 0; i < LENGTH(later); i++) {
        store("bloom", 1000, 10);
        edit(later[i][0], later[i][1]);
        assert_int_equal(loads(NULL), SEEN_MISMATCH);
    }
}

/* Checksums are right in all of these: the reader must see for itself. */
TEST(what_is_not_canonical_is_refused)
{
    static const char *const wrong[][2] = {
        { "capacity=1000\n", "capacity=01000\n" },
        { "capacity=1000\n", "capacity=+1000\n" },
        { "capacity=1000\n", "capacity=1000 \n" },
        { "capacity=1000\n", "capacity=1000\ncapacity=1000\n" },
        { "capacity=1000\n", "capacity=18446744073709551617000\n" },
        { "rate=0.01\n", "rate=0.010\n" },
        { "rate=0.01\n", "rate=nan\n" },
        { "seed=7\n", "seed=7\nover=0\n" },
        { "seed=7\n", "seed=7\nset=3\n" },
        { "seed=7\n", "seed=7\nkeyed=12\n" },
        { "probes=7\n", "probes=4294967303\n" },
        { "at=0\n", "at=64\n" },
        { "size=1216\n", "size=1280\n" },
        { "size=1216\n", "size=1216\nb=\na=\n" },
        { "size=1216\n", "size=1216\na_b=1\n" },
        { "size=1216\n", "size=1216\na=\r\n" },
        { "size=1216\n", "size=1216\nnonsense\n" },
        { "size=1216\n", "size=1216" },
        { "size=1216\n", "size=1216\npart=1 kind=bloom\n" },
        { "bits=9728\n", "bits=972800000\n" },
        { "bits=9728\n", "bits=0\n" },
        { "kind=bloom\nprofile=raw\n", "profile=raw\nkind=bloom\n" },
    };

    for (size_t i = 0; i < LENGTH(wrong); i++) {
        enum seen_code code;

        store("bloom", 1000, 10);
        edit(wrong[i][0], wrong[i][1]);
        code = loads(NULL);
        if (code != SEEN_CORRUPT && code != SEEN_MISMATCH)
            fail_msg("%s", wrong[i][1]);
    }
}

TEST(a_combinator_without_its_parts_is_refused)
{
    static const char *const wrong[][2] = {
        { "part=1 kind=blocked", "part=2 kind=blocked" },
        { "part=1 kind=blocked", "part=0 kind=blocked" },
        { "part=1 kind=blocked", "part=1 kind=counting" },
        { "part=1 kind=blocked", "part=1 unheard=of kind=blocked" },
        { "kind=routed:2/blocked\n", "kind=routed:4/blocked\n" },
        { "kind=routed:2/blocked\n", "kind=spatial:3/blocked\n" },
        { "kind=routed:2/blocked\n", "kind=routed:1/blocked\n" },
    };

    for (size_t i = 0; i < LENGTH(wrong); i++) {
        store("routed:2/blocked", 1000, 10);
        edit(wrong[i][0], wrong[i][1]);
        if (loads(NULL) == SEEN_OK)
            fail_msg("%s", wrong[i][1]);
    }
}

TEST(metadata_is_kept_in_order_of_names)
{
    static const char *const pairs[][2] = {
        { "title", "Example" }, { "as-of", "2024" },  { "holder", "" },
        { "b.2", "\xc3\xa4" },  { "title", "Other" },
    };
    static const char *const sorted[] = { "as-of", "b.2", "title" };
    struct seen_plan plan = plan_of("bloom", 10);
    struct seen_filter *f = holding(&plan, 1);
    const char *name, *value;

    for (size_t i = 0; i < LENGTH(pairs); i++)
        assert_int_equal(seen_meta_set(f, pairs[i][0], pairs[i][1], NULL),
                         SEEN_OK);
    assert_string_equal(seen_meta_get(f, "holder"), "");
    assert_int_equal(seen_meta_set(f, "holder", NULL, NULL), SEEN_OK);
    assert_int_equal(seen_meta_set(f, "holder", NULL, NULL), SEEN_OK);
    assert_null(seen_meta_get(f, "holder"));
    assert_string_equal(seen_meta_get(f, "title"), "Other");
    for (size_t i = 0; i < LENGTH(sorted); i++) {
        assert_true(seen_meta_at(f, i, &name, &value));
        assert_string_equal(name, sorted[i]);
        assert_ptr_equal(value, seen_meta_get(f, name));
    }
    assert_false(seen_meta_at(f, LENGTH(sorted), &name, &value));
    seen_filter_free(f);
}

TEST(metadata_that_would_break_the_text_is_refused)
{
    static const char *const refused[][2] = {
        { "kind", "bloom" }, { "part", "1" },   { "set", "1" },
        { "offered", "1" },  { "at", "0" },     { "", "x" },
        { "!name", "x" },    { "a b", "x" },    { "a=b", "x" },
        { "title", "a\nb" }, { "title", "\t" }, { "title", "\x7f" },
    };
    struct seen_plan plan = plan_of("bloom", 10);
    struct seen_filter *f = holding(&plan, 1);
    char *large = calloc(1, SEEN_META_TEXT + 1);

    for (size_t i = 0; i < LENGTH(refused); i++)
        assert_int_equal(seen_meta_set(f, refused[i][0], refused[i][1], NULL),
                         SEEN_RANGE);
    memset(large, 'x', SEEN_META_TEXT);
    assert_int_equal(seen_meta_set(f, "title", large, NULL), SEEN_RANGE);
    large[SEEN_META_TEXT - strlen("title=\n")] = '\0';
    assert_int_equal(seen_meta_set(f, "title", large, NULL), SEEN_OK);
    assert_int_equal(seen_meta_set(f, "t", "", NULL), SEEN_RANGE);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    assert_int_equal(loads(NULL), SEEN_OK);
    free(large);
    seen_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(the_text_names_plan_counts_and_metadata),
        FRESH(a_text_with_counts_is_read_back),
        FRESH(rates_come_back_to_the_last_bit),
        FRESH(unknown_names_are_kept_and_written_back),
        FRESH(names_that_must_be_understood_are_refused),
        FRESH(how_an_index_became_keys_is_recorded),
        FRESH(different_keys_of_indexes_are_merged_as_undecided),
        FRESH(a_plan_that_claims_too_much_writes_no_more_than_the_file),
        FRESH(kinds_and_profiles_of_later_versions_are_refused_as_such),
        FRESH(what_is_not_canonical_is_refused),
        FRESH(a_combinator_without_its_parts_is_refused),
        FRESH(metadata_is_kept_in_order_of_names),
        FRESH(metadata_that_would_break_the_text_is_refused),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
