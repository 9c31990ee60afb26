/* digest_test.c - MD5 and SHA-1, against OpenSSL. */
#include "test/test.h"

#include <openssl/evp.h>

#include "lib/key/digest.h"

enum { MOST = 300 };

/* Every length around one, two and three blocks, with and without bytes
   before. */
TEST(digests_are_those_of_openssl)
{
    unsigned char message[DIGEST_BEFORE + MOST], got[DIGEST_SHA1], want[64];

    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (unsigned char)(i * 167 + 13);
    for (size_t before = 0; before < DIGEST_BEFORE; before += 9)
        for (size_t len = 0; len < MOST; len++) {
            const char *text = (const char *)message + before;

            digest_md5(message, before, text, len, got);
            assert_true(EVP_Digest(message, before + len, want, NULL,
                                   EVP_md5(), NULL));
            assert_memory_equal(got, want, DIGEST_MD5);
            digest_sha1(message, before, text, len, got);
            assert_true(EVP_Digest(message, before + len, want, NULL,
                                   EVP_sha1(), NULL));
            assert_memory_equal(got, want, DIGEST_SHA1);
        }
}

/* RFC 1321, A.5; FIPS 180-1, appendix B; and the archives report, by which
   md5("https://haw.nsk.hr/en") begins with 3. */
TEST(digests_are_those_of_the_standards)
{
    unsigned char got[DIGEST_SHA1];

    digest_md5("", 0, NULL, 0, got);
    assert_memory_equal(got,
                        "\xd4\x1d\x8c\xd9\x8f\x00\xb2\x04"
                        "\xe9\x80\x09\x98\xec\xf8\x42\x7e",
                        DIGEST_MD5);
    digest_md5("mess", 4, "age digest", 10, got);
    assert_memory_equal(got,
                        "\xf9\x6b\x69\x7d\x7c\xb7\x93\x8d"
                        "\x52\x5a\x2f\x31\xaa\xf1\x61\xd0",
                        DIGEST_MD5);
    digest_md5("", 0, "https://haw.nsk.hr/en", 21, got);
    assert_int_equal(got[0] >> 4, 3);
    digest_sha1("a", 1, "bc", 2, got);
    assert_memory_equal(got,
                        "\xa9\x99\x3e\x36\x47\x06\x81\x6a\xba\x3e"
                        "\x25\x71\x78\x50\xc2\x6c\x9c\xd0\xd8\x9d",
                        DIGEST_SHA1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_openssl),
        cmocka_unit_test(digests_are_those_of_the_standards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
