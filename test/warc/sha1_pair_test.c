/* sha1_pair_test.c - the same digests as OpenSSL's. */
#include "test/test.h"

#include <openssl/evp.h>
#include <stdlib.h>

#include "warc/sha1_pair.h"

enum { MOST = 400 };

static unsigned char text[2 * MOST];

/* A text of `len` bytes from here, cut into two parts. */
static void cut(struct seen_span part[2], size_t from, size_t len, size_t at)
{
    part[0] = (struct seen_span){ (const char *)text + from, at };
    part[1] = (struct seen_span){ (const char *)text + from + at, len - at };
}

static void assert_digest(const unsigned char *sum, size_t from, size_t len)
{
    unsigned char expected[EVP_MAX_MD_SIZE];

    assert_int_equal(
        EVP_Digest(text + from, len, expected, NULL, EVP_sha1(), NULL), 1);
    assert_memory_equal(sum, expected, WARC_SHA1);
}

static void check(size_t one, size_t at, size_t other, size_t other_at)
{
    unsigned char sum[2][WARC_SHA1];
    struct seen_span a[2], b[2];

    cut(a, 0, one, at);
    cut(b, 3, other, other_at);
    warc_sha1_pair(a, b, sum);
    assert_digest(sum[0], 0, one);
    assert_digest(sum[1], 3, other);
}

TEST(two_texts_of_any_lengths_have_their_digests)
{
    if (!warc_sha1_pair_works())
        skip();
    for (size_t one = 0; one <= MOST; one++)
        for (size_t other = 0; other <= MOST; other += 1 + one % 7)
            check(one, one / 3, other, other);
}

TEST(parts_may_end_anywhere)
{
    if (!warc_sha1_pair_works())
        skip();
    for (size_t at = 0; at <= MOST; at++)
        for (size_t other = 0; other <= 130; other++)
            check(MOST, at, 130, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_texts_of_any_lengths_have_their_digests),
        cmocka_unit_test(parts_may_end_anywhere),
    };

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)(i * 2654435761u >> 13);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
