/* lines_test.c - what reading lists of URLs promises. */
#define _DEFAULT_SOURCE                 /* MAP_ANONYMOUS, mkstemp */
#include "test/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/lines.c"
#include "cmd/output.c"

static char path[] = "/tmp/seen-lines-XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_file(const char *text, size_t len)
{
    int fd = open(path, O_WRONLY | O_TRUNC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, len), len);
    assert_int_equal(close(fd), 0);
}

/* All lines of the file, joined by '|', which belongs to the caller; a line
   that is too long is "+". *lines is their number, empty ones too. */
static char *read_all(uint64_t *lines)
{
    const char *const input[] = { path }, *name, *line;
    char *all = calloc(1, 1 << 22);
    struct lines l;
    struct block b;
    size_t len, used = 0;

    *lines = 0;
    assert_non_null(all);
    assert_int_equal(lines_open(&l, input, 1, &name, NULL), SEEN_OK);
    assert_int_equal(block_init(&b, NULL), SEEN_OK);
    do {
        assert_int_equal(lines_next(&l, &b, &name, NULL), SEEN_OK);
        while (block_line(&b, &line, &len)) {
            if (len > SEEN_KEY_TEXT) {
                line = "+";
                len = 1;
            }
            memcpy(all + used, line, len);
            used += len;
            all[used++] = '|';
        }
        *lines += b.line;
    } while (b.len);
    block_clear(&b);
    lines_close(&l);
    return all;
}

TEST(lines_end_with_a_feed_or_a_return_and_a_feed_or_not_at_all)
{
    static const struct {
        const char *text, *lines;
        uint64_t count;
    } cases[] = {
        { "", "", 0 },
        { "\n", "", 1 },
        { "\r\n", "", 1 },
        { "\n\n\n", "", 3 },
        { "a", "a|", 1 },
        { "a\n", "a|", 1 },
        { "a\r\n", "a|", 1 },
        { "a\r", "a|", 1 },
        { "a\n\nb", "a|b|", 3 },
        { "a\rb\n", "a\rb|", 1 },
        { "a\r\r\n", "a\r|", 1 },
        { "\na\n", "a|", 2 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t count;
        char *all;

        write_file(cases[i].text, strlen(cases[i].text));
        all = read_all(&count);
        assert_string_equal(all, cases[i].lines);
        assert_int_equal(count, cases[i].count);
        free(all);
    }
}

/*
 * One line of every length around the sizes where something changes, with a
 * line before and one behind it, so that its ends fall on all borders.
 */
TEST(a_line_of_any_length_is_one_line)
{
    static const size_t near[] = { SEEN_KEY_TEXT, BLOCK - SEEN_KEY_TEXT, BLOCK,
                                   2 * BLOCK };
    static char text[3 * BLOCK];

    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++)
        for (size_t len = near[i] - 12; len < near[i] + 12; len++)
            for (int returned = 0; returned < 2; returned++) {
                size_t used = 0;
                uint64_t count;
                char *all;

                memcpy(text, "first\n", 6);
                used = 6;
                memset(text + used, 'x', len);
                used += len;
                memcpy(text + used, returned ? "\r\nlast" : "\nlast",
                       5U + (unsigned)returned);
                used += 5U + (unsigned)returned;
                write_file(text, used);
                all = read_all(&count);
                assert_int_equal(count, 3);
                if (len > SEEN_KEY_TEXT) {
                    assert_string_equal(all, "first|+|last|");
                } else {
                    assert_int_equal(strlen(all), 6 + len + 1 + 5);
                    assert_memory_equal(all + 6 + len, "|last|", 6);
                }
                free(all);
            }
}

TEST(lines_across_blocks_are_whole)
{
    static char text[3 * BLOCK];
    size_t used = 0;
    uint64_t count, made = 0;
    char *all, *at;

    while (used < 3 * BLOCK - 64)
        used += (size_t)snprintf(text + used, 64, "%llu\n",
                                 (unsigned long long)made++);
    write_file(text, used);
    at = all = read_all(&count);
    assert_int_equal(count, made);
    for (uint64_t i = 0; i < made; i++) {
        assert_int_equal(strtoull(at, &at, 10), i);
        assert_int_equal(*at++, '|');
    }
    free(all);
}

/* A line that ends where the memory does. */
TEST(every_control_byte_is_found_wherever_it_is)
{
    long page = sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + page, (size_t)page, PROT_NONE), 0);
    for (size_t len = 1; len < 70; len++) {
        char *line = memory + page - len;

        memset(line, 'x', len);
        assert_null(seen_key_fault(line, len));
        for (size_t at = 0; at < len; at++) {
            for (int c = 0; c < 256; c++) {
                bool control = c < 0x20 || c == 0x7f;

                line[at] = (char)c;
                assert_int_equal(seen_key_fault(line, len) != NULL, control);
            }
            line[at] = 'x';
        }
    }
    munmap(memory, (size_t)page * 2);
}

TEST(a_missing_input_is_told_before_the_first_is_read)
{
    const char *const input[] = { path, "/nonesuch" }, *name;
    struct seen_error why;
    struct lines l;

    assert_int_equal(lines_open(&l, input, 2, &name, &why), SEEN_IO);
    assert_string_equal(name, "/nonesuch");
    assert_false(lines_twice(input, 2));
    assert_true(lines_twice(input, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            lines_end_with_a_feed_or_a_return_and_a_feed_or_not_at_all),
        cmocka_unit_test(a_line_of_any_length_is_one_line),
        cmocka_unit_test(lines_across_blocks_are_whole),
        cmocka_unit_test(every_control_byte_is_found_wherever_it_is),
        cmocka_unit_test(a_missing_input_is_told_before_the_first_is_read),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
