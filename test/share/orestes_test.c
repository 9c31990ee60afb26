/* orestes_test.c - the JSON of Orestes, in and out. */
#include "test/filter/cases.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/share.h>

static char path[] = "/tmp/seen-orestes-XXXXXX";

static int enter(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int leave(void **state)
{
    (void)state;
    return unlink(path);
}

static enum seen_code reads(const char *json, size_t len,
                            struct seen_filter **f, struct seen_error *why)
{
    FILE *to = fopen(path, "wb");

    memset(why, 0, sizeof *why);
    assert_non_null(to);
    assert_int_equal(fwrite(json, 1, len, to), len);
    assert_int_equal(fclose(to), 0);
    return seen_orestes_load(f, path, why);
}

static char *written(const struct seen_filter *f)
{
    FILE *from;
    struct stat it;
    char *json;

    assert_int_equal(seen_orestes_save(f, path, NULL), SEEN_OK);
    from = fopen(path, "rb");
    assert_int_equal(fstat(fileno(from), &it), 0);
    json = calloc(1, (size_t)it.st_size + 1);
    assert_int_equal(fread(json, 1, (size_t)it.st_size, from), it.st_size);
    fclose(from);
    return json;
}

TEST(bits_are_counted_from_the_least_significant)
{
    static const char json[] = "{\"m\":20,\"h\":3,\"b\":\"AQIM\"}\n";
    struct seen_error why;
    struct seen_filter *f;
    char *back;

    assert_int_equal(reads(json, strlen(json), &f, &why), SEEN_OK);
    assert_int_equal(f->plan.bits, 20);
    assert_int_equal(f->plan.probes, 3);
    assert_int_equal(f->plan.capacity, 4); /* 20 ln 2 / 3 = 4.6 */
    assert_string_equal(f->plan.kind, "bloom:orestes");
    assert_string_equal(f->plan.profile, "raw");
    assert_int_equal(f->set, 4);
    assert_int_equal(f->cells[0], 1);    /* bit 0 */
    assert_int_equal(f->cells[1], 2);    /* bit 9 */
    assert_int_equal(f->cells[2], 0x0c); /* bits 18 and 19 */
    back = written(f);
    assert_string_equal(back, json);
    free(back);
    seen_filter_free(f);
}

/* Sizes around the borders of bytes, lines, and the pieces that b is read
   and written in (49152 bytes, 65536 letters). */
TEST(filters_of_all_sizes_come_back)
{
    static const uint64_t sizes[] = { 1,      7,      8,      9,      511,
                                      512,    513,    5000,   393208, 393216,
                                      393224, 400001, 786432, 2000003 };
    struct seen_key *key = urls_new(20000);

    for (size_t i = 0; i < LENGTH(sizes); i++) {
        struct seen_plan plan = { .kind = "bloom:orestes",
                                  .bits = sizes[i],
                                  .probes = 3,
                                  .capacity = sizes[i] / 12 + 1,
                                  .over = true };
        struct seen_filter *f = made(&plan), *g;
        char *json, *again;
        size_t n = plan.capacity < 20000 ? plan.capacity : 20000;

        add_all(f, key, n);
        json = written(f);
        assert_int_equal(seen_orestes_load(&g, path, NULL), SEEN_OK);
        assert_int_equal(f->size, g->size);
        assert_memory_equal(f->cells, g->cells, f->size);
        assert_int_equal(f->set, g->set);
        assert_int_equal(yes(g, key, n), n);
        again = written(g);
        assert_string_equal(json, again);
        free(json);
        free(again);
        seen_filter_free(f);
        seen_filter_free(g);
    }
    free(key);
}

TEST(what_it_holds_already_is_its_capacity_if_that_is_more)
{
    static const char json[] = "{\"m\":32,\"h\":1,\"b\":\"/////w==\"}";
    struct seen_error why;
    struct seen_filter *f;

    assert_int_equal(reads(json, strlen(json), &f, &why), SEEN_OK);
    assert_int_equal(f->set, 32);
    /* all ones: as if one of 32 were left, 32 ln 32 = 110.9 */
    assert_int_equal(f->plan.capacity, 111);
    assert_true(f->plan.rate < 1);
    seen_filter_free(f);
}

TEST(json_may_be_written_in_many_ways)
{
    static const char *const same[] = {
        "{\"m\":20,\"h\":3,\"b\":\"AQIM\"}",
        " {\n\t\"b\" : \"AQIM\" ,\r\n\"h\":3, \"m\" : 20 } \n\n",
        "{\"b\":\"AQIM\",\"x\":{\"m\":[1,{\"b\":\"\\\"}\"},[]],\"y\":{}},"
        "\"h\":3,\"m\":20}",
        "{\"m\":20,\"h\":3,\"b\":\"A\\u0051\\u0049M\"}",
        "{\"HashMethod\":\"Murmur3\",\"m\":20,\"\":null,\"long name\\u006d\":"
        "-1.5e9,\"h\":3,\"b\":\"AQIM\",\"c\":true}",
        "{\"mmmmmmmmmmmmmm\":8,\"m\":20,\"h\":3,\"b\":\"AQIM\"}",
    };
    static const char *const also[] = {
        "{\"m\":20,\"h\":3,\"b\":\"/w==\"}",
        "{\"m\":20,\"h\":3,\"b\":\"\\/w==\"}",
        "{\"m\":20,\"h\":3,\"b\":\"\\/w\\u003d\\u003D\"}",
        "{\"m\":20,\"h\":3,\"b\":\"/wA=\"}",
        "{\"m\":20,\"h\":3,\"b\":\"/wAA\"}",
    };
    struct seen_error why;
    struct seen_filter *f;

    for (size_t i = 0; i < LENGTH(same); i++) {
        if (reads(same[i], strlen(same[i]), &f, &why) != SEEN_OK)
            fail_msg("%s: %s", same[i], why.text);
        assert_memory_equal(f->cells, "\1\2\14", 3);
        assert_int_equal(f->plan.bits, 20);
        seen_filter_free(f);
    }
    for (size_t i = 0; i < LENGTH(also); i++) {
        if (reads(also[i], strlen(also[i]), &f, &why) != SEEN_OK)
            fail_msg("%s: %s", also[i], why.text);
        assert_memory_equal(f->cells, "\377\0\0", 3);
        seen_filter_free(f);
    }
}

TEST(what_is_no_such_filter_is_refused)
{
    static const struct {
        const char *json;
        enum seen_code code;
        const char *says;
    } cases[] = {
        { "", SEEN_CORRUPT, "byte 0: '{' is missing" },
        { "[]", SEEN_CORRUPT, "byte 0: '{'" },
        { "{}", SEEN_CORRUPT, "no m" },
        { "{\"m\":20,\"b\":\"\"}", SEEN_CORRUPT, "no h" },
        { "{\"m\":20,\"h\":3}", SEEN_CORRUPT, "no b" },
        { "{\"m\":20,\"h\":3,\"b\":\"AQIM\"}x", SEEN_CORRUPT, "byte 25" },
        { "{\"m\":20,\"h\":3,\"b\":\"AQIM\"}{}", SEEN_CORRUPT, "follows" },
        { "{\"m\":20,\"h\":3,\"b\":\"AQIM\",}", SEEN_CORRUPT, "missing" },
        { "{\"m\":20 \"h\":3,\"b\":\"AQIM\"}", SEEN_CORRUPT, "missing" },
        { "{\"m\":20,\"m\":20,\"h\":3,\"b\":\"\"}", SEEN_CORRUPT, "twice" },
        { "{\"b\":\"\",\"b\":\"\",\"m\":20,\"h\":3}", SEEN_CORRUPT, "twice" },
        { "{\"m\":0,\"h\":3,\"b\":\"\"}", SEEN_CORRUPT, "above 0" },
        { "{\"m\":20,\"h\":0,\"b\":\"\"}", SEEN_CORRUPT, "above 0" },
        { "{\"m\":-20,\"h\":3,\"b\":\"\"}", SEEN_CORRUPT, "whole" },
        { "{\"m\":2e1,\"h\":3,\"b\":\"\"}", SEEN_CORRUPT, "whole" },
        { "{\"m\":20.0,\"h\":3,\"b\":\"\"}", SEEN_CORRUPT, "whole" },
        { "{\"m\":\"20\",\"h\":3,\"b\":\"\"}", SEEN_CORRUPT, "value" },
        { "{\"m\":99999999999999999999999,\"h\":3,\"b\":\"\"}", SEEN_CORRUPT,
          "whole" },
        { "{\"m\":281474976710656,\"h\":3,\"b\":\"\"}", SEEN_RANGE, "2^32" },
        { "{\"m\":18446744073709551615,\"h\":3,\"b\":\"\"}", SEEN_RANGE,
          "2^48" },
        { "{\"m\":20,\"h\":65,\"b\":\"\"}", SEEN_RANGE, "65 probes" },
        { "{\"m\":20,\"h\":4294967297,\"b\":\"\"}", SEEN_RANGE, "probes" },
        { "{\"m\":20,\"h\":3,\"b\":\"AQIQ\"}", SEEN_CORRUPT, "behind" },
        { "{\"m\":20,\"h\":3,\"b\":\"AQIMAA==\"}", SEEN_CORRUPT, "longer" },
        { "{\"m\":20,\"h\":3,\"b\":\"AQI\"}", SEEN_CORRUPT, "base64" },
        { "{\"m\":20,\"h\":3,\"b\":\"AQJ=\"}", SEEN_CORRUPT, "base64" },
        { "{\"m\":20,\"h\":3,\"b\":\"AQI-\"}", SEEN_CORRUPT, "base64" },
        { "{\"m\":20,\"h\":3,\"b\":\"AQ\\nI\"}", SEEN_CORRUPT, "base64" },
        { "{\"m\":20,\"h\":3,\"b\":\"AQ\\u0149I\"}", SEEN_CORRUPT, "base64" },
        { "{\"m\":20,\"h\":3,\"b\":\"AQ\\u00\"}", SEEN_CORRUPT, "base64" },
        { "{\"m\":20,\"h\":3,\"b\":\"AQIM", SEEN_CORRUPT, "cut short" },
        { "{\"m\":20,\"h\":3,\"b\":\"AQIM\\", SEEN_CORRUPT, "cut short" },
        { "{\"m\":20,\"h\":3,\"b\":\"AQIM\"", SEEN_CORRUPT, "cut short" },
        { "{\"m\":20,\"h\":3,\"b\":17}", SEEN_CORRUPT, "'\"' is missing" },
        { "{\"x\":[1,2},\"m\":20}", SEEN_CORRUPT, "']' is missing" },
        { "{\"x\":{\"y\"},\"m\":20}", SEEN_CORRUPT, "':' is missing" },
        { "{\"x\":", SEEN_CORRUPT, "value is missing" },
    };
    struct seen_error why;
    struct seen_filter *f;

    for (size_t i = 0; i < LENGTH(cases); i++) {
        enum seen_code code = reads(cases[i].json, strlen(cases[i].json), &f,
                                    &why);

        if (code != cases[i].code || !strstr(why.text, cases[i].says))
            fail_msg("%s: %d: %s", cases[i].json, (int)code, why.text);
        assert_null(f);
    }
}

TEST(deep_values_end_somewhere)
{
    struct seen_error why;
    struct seen_filter *f;
    char *json = malloc(1000001);

    memset(json, '[', 1000000);
    memcpy(json, "{\"x\":", 5);
    assert_int_equal(reads(json, 1000000, &f, &why), SEEN_CORRUPT);
    assert_non_null(strstr(why.text, "deep"));
    for (int depth = 32; depth <= 33; depth++) {
        size_t len = 5;

        memset(json + len, '[', (size_t)depth);
        memset(json + len + depth, ']', (size_t)depth);
        len += 2 * (size_t)depth;
        len += (size_t)sprintf(json + len, ",\"m\":20,\"h\":3,\"b\":\"\"}");
        assert_int_equal(reads(json, len, &f, &why),
                         depth == 32 ? SEEN_OK : SEEN_CORRUPT);
        seen_filter_free(f);
    }
    free(json);
}

/* RFC 8259 compares names after their escapes are undone. */
TEST(names_may_be_escaped)
{
    static const char json[] = "{\"\\u006d\":20,\"m\\\"\":1,\"m\\u0000\":1,"
                               "\"h\":3,\"b\":\"AQIM\"}";
    struct seen_error why;
    struct seen_filter *f;

    assert_int_equal(reads(json, strlen(json), &f, &why), SEEN_OK);
    assert_int_equal(f->plan.bits, 20);
    seen_filter_free(f);
}

TEST(every_shorter_text_is_refused)
{
    static const char json[] = "{\"m\":20,\"h\":3,\"b\":\"AQIM\"}";
    struct seen_error why;
    struct seen_filter *f;

    for (size_t i = 0; i < strlen(json); i++)
        assert_int_equal(reads(json, i, &f, &why), SEEN_CORRUPT);
}

/* '=' in the middle, at the border of what is decoded at once. */
TEST(base64_does_not_end_twice)
{
    enum { LETTERS = 65536 };
    struct seen_error why;
    struct seen_filter *f;
    char *json = malloc(2 * LETTERS + 100), *b = json;

    b += sprintf(json, "{\"m\":10000000,\"h\":3,\"b\":\"");
    memset(b, 'A', LETTERS + 8);
    strcpy(b + LETTERS + 8, "\"}");
    assert_int_equal(reads(json, strlen(json), &f, &why), SEEN_OK);
    seen_filter_free(f);
    b[LETTERS - 1] = '=';
    assert_int_equal(reads(json, strlen(json), &f, &why), SEEN_CORRUPT);
    b[LETTERS - 1] = 'A';
    b[LETTERS + 7] = '=';
    assert_int_equal(reads(json, strlen(json), &f, &why), SEEN_OK);
    seen_filter_free(f);
    free(json);
}

TEST(other_kinds_and_profiles_are_not_written)
{
    static const struct {
        const char *kind, *profile;
    } cases[] = { { "bloom", "raw" },
                  { "bloom:murmur3", "raw" },
                  { "bloom:orestes", "surt" },
                  { "routed:4/bloom:orestes", "raw" } };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct seen_plan plan = plan_of(cases[i].kind, 100, 0.01);
        struct seen_error why;
        struct seen_filter *f;

        strcpy(plan.profile, cases[i].profile);
        f = made(&plan);
        assert_int_equal(seen_orestes_save(f, path, &why), SEEN_UNABLE);
        seen_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_counted_from_the_least_significant),
        cmocka_unit_test(filters_of_all_sizes_come_back),
        cmocka_unit_test(
            what_it_holds_already_is_its_capacity_if_that_is_more),
        cmocka_unit_test(json_may_be_written_in_many_ways),
        cmocka_unit_test(what_is_no_such_filter_is_refused),
        cmocka_unit_test(deep_values_end_somewhere),
        cmocka_unit_test(names_may_be_escaped),
        cmocka_unit_test(every_shorter_text_is_refused),
        cmocka_unit_test(base64_does_not_end_twice),
        cmocka_unit_test(other_kinds_and_profiles_are_not_written),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
