/* digest_test.c - SHA-256 of files. */
#include <errno.h>
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/share.h>

static void write_file(const char *path, const char *piece, size_t times)
{
    FILE *to = fopen(path, "wb");

    assert_non_null(to);
    while (times--)
        assert_true(fputs(piece, to) >= 0);
    assert_int_equal(fclose(to), 0);
}

/* FIPS 180-2, appendix B: "abc", nothing, and a million times "a". */
static void known_files_have_their_digests(void **state)
{
    static const struct {
        const char *piece;
        size_t times;
        const char *hex;
    } cases[] = {
        { "abc", 1,
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "", 1,
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "a", 1000000,
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
    };
    char path[] = "/tmp/seen-digest-XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned char digest[SEEN_DIGEST];
        char hex[2 * SEEN_DIGEST + 1];
        uint64_t length = 99;

        write_file(path, cases[i].piece, cases[i].times);
        assert_int_equal(seen_digest_file(path, digest, &length, NULL),
                         SEEN_OK);
        for (int j = 0; j < SEEN_DIGEST; j++)
            snprintf(hex + 2 * j, 3, "%02x", digest[j]);
        assert_string_equal(hex, cases[i].hex);
        assert_int_equal(length, strlen(cases[i].piece) * cases[i].times);
        assert_int_equal(seen_digest_file(path, digest, NULL, NULL), SEEN_OK);
    }
    unlink(path);
}

static void what_cannot_be_read_is_told_with_its_reason(void **state)
{
    unsigned char digest[SEEN_DIGEST];
    struct seen_error why;

    (void)state;
    assert_int_equal(
        seen_digest_file("/tmp/seen-no-such-file", digest, NULL, &why),
        SEEN_IO);
    assert_int_equal(why.system, ENOENT);
    assert_int_equal(seen_digest_file("/tmp", digest, NULL, &why), SEEN_IO);
    assert_int_equal(why.system, EISDIR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_files_have_their_digests),
        cmocka_unit_test(what_cannot_be_read_is_told_with_its_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
