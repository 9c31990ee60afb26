/* registry_test.c - lists in plain text, wherever their pieces end. */
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harvest/registry.h"

struct found {
    size_t n, most;
    char text[4096];
};

static enum seen_code take(void *owner, const char *url, uint64_t line,
                           const struct seen_error *fault,
                           struct seen_error *why)
{
    struct found *f = owner;
    size_t len = strlen(f->text);

    assert_true(!url != !fault);
    snprintf(f->text + len, sizeof f->text - len, "%d %s\n", (int)line,
             url ? url : "-");
    if (++f->n == f->most)
        return seen_fail(why, SEEN_RANGE, 0, "enough");
    return SEEN_OK;
}

/* In pieces of `step` bytes, each of which ends where memory does. */
static enum seen_code read_list(struct found *f, const char *text, size_t len,
                                size_t step, bool robots,
                                struct seen_error *why)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct registry r = { .robots = robots, .handle = take, .owner = f };
    enum seen_code code = SEEN_OK;

    assert_true(memory != MAP_FAILED && step <= page);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    for (size_t at = 0; at < len && code == SEEN_OK; at += step) {
        size_t n = len - at < step ? len - at : step;

        memcpy(memory + page - n, text + at, n);
        code = registry_push(&r, memory + page - n, n, NULL, why);
    }
    if (code == SEEN_OK)
        code = registry_end(&r, why);
    munmap(memory, 2 * page);
    return code;
}

static void gives(const char *text, bool robots, const char *want)
{
    static const size_t steps[] = { 1, 2, 3, 7, 64, 4096 };

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct found f = { .n = 0 };

        assert_int_equal(
            read_list(&f, text, strlen(text), steps[i], robots, NULL),
            SEEN_OK);
        assert_string_equal(f.text, want);
    }
}

TEST(a_registry_has_an_address_a_line)
{
    gives("", false, "");
    gives("\n\n# nothing\n", false, "");
    gives("http://a.example/", false, "1 http://a.example/\n");
    gives("\xef\xbb\xbfhttp://a.example/\r\n\r\nhttp://b.example/s.xml\r"
          "# c\n  http://c.example/  # Croatia\n",
          false,
          "1 http://a.example/\n3 http://b.example/s.xml\n"
          "5 http://c.example/\n");
    gives("file:///etc/passwd\nhttp://a.example/#f\ngopher://x/\n", false,
          "1 -\n2 http://a.example/\n3 -\n");
}

TEST(of_robots_txt_only_sitemaps_count)
{
    gives("User-agent: *\nDisallow: /x\nSitemap: http://a.example/1.xml\n"
          "SITEMAP:http://a.example/2.xml # two\r\n"
          "  sitemap : http://a.example/3.xml\n"
          "Sitemaps: http://a.example/4.xml\nSitemap\nSitemap:\n"
          "# Sitemap: http://a.example/5.xml\nSitemap: /6.xml\n",
          true,
          "3 http://a.example/1.xml\n4 http://a.example/2.xml\n"
          "5 http://a.example/3.xml\n10 -\n");
}

TEST(what_has_zeros_or_twenty_bad_lines_is_no_list)
{
    struct found f = { .n = 0 };
    struct seen_error why;
    char text[400] = "";

    assert_int_equal(
        read_list(&f, "http://a.example/\n\0x", 20, 7, false, &why),
        SEEN_CORRUPT);
    assert_int_equal(why.at, 2);
    for (int i = 0; i < 19; i++)
        strcat(text, "bad line\n");
    assert_int_equal(read_list(&f, text, strlen(text), 64, false, NULL),
                     SEEN_OK);
    strcat(text, "bad line\n");
    assert_int_equal(read_list(&f, text, strlen(text), 64, false, NULL),
                     SEEN_CORRUPT);
}

TEST(a_line_without_end_is_one_fault_and_takes_no_memory)
{
    size_t len = 1 << 20;
    char *text = malloc(len + 32);
    struct found f = { .n = 0 };

    assert_non_null(text);
    memset(text, 'x', len);
    memcpy(text, "http://a.example/", 17);
    strcpy(text + len, "\nhttp://b.example/\n");
    assert_int_equal(read_list(&f, text, strlen(text), 4096, false, NULL),
                     SEEN_OK);
    assert_string_equal(f.text, "1 -\n2 http://b.example/\n");
    free(text);
}

TEST(a_long_robots_txt_is_read_as_far_as_500_kib)
{
    struct found f = { .n = 0 };
    struct registry r = { .robots = true, .handle = take, .owner = &f };
    static const char one[] = "Sitemap: http://a.example/1.xml\n";
    char filler[1024];
    bool enough = false;

    memset(filler, '#', sizeof filler);
    filler[sizeof filler - 1] = '\n';
    assert_int_equal(registry_push(&r, one, sizeof one - 1, &enough, NULL),
                     SEEN_OK);
    for (int i = 0; i < 499; i++)
        registry_push(&r, filler, sizeof filler, &enough, NULL);
    assert_false(enough);
    for (int i = 0; i < 2; i++)
        registry_push(&r, filler, sizeof filler, &enough, NULL);
    assert_true(enough);
    registry_push(&r, one, sizeof one - 1, &enough, NULL);
    assert_int_equal(f.n, 1);
}

TEST(the_handler_can_end_the_reading)
{
    struct found f = { .most = 2 };
    struct seen_error why;
    static const char text[] = "http://a.example/\nhttp://b.example/\n"
                               "http://c.example/\n";

    assert_int_equal(read_list(&f, text, sizeof text - 1, 64, false, &why),
                     SEEN_RANGE);
    assert_string_equal(why.text, "enough");
    assert_int_equal(f.n, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_registry_has_an_address_a_line),
        cmocka_unit_test(of_robots_txt_only_sitemaps_count),
        cmocka_unit_test(what_has_zeros_or_twenty_bad_lines_is_no_list),
        cmocka_unit_test(a_line_without_end_is_one_fault_and_takes_no_memory),
        cmocka_unit_test(a_long_robots_txt_is_read_as_far_as_500_kib),
        cmocka_unit_test(the_handler_can_end_the_reading),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
