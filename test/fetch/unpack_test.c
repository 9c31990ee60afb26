/*
 * unpack_test.c - gzip comes out the same however it comes in, and ends.
 *
 * Every text is unpacked whole, and once for each place where it can be cut
 * in two, and byte by byte; pieces end at a page that must not be touched.
 */
#include "test/wall.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#include "fetch/unpack.h"

enum { OUT = 1 << 20, ROOM = 1 << 16, PIECE = 512 };

struct taken {
    uint8_t bytes[OUT];
    size_t n, most;
};

static enum seen_code take(void *owner, const void *bytes, size_t n,
                           struct seen_error *why)
{
    struct taken *t = owner;

    assert_true(n > 0);
    if (n > t->most - t->n)
        return seen_fail(why, SEEN_RANGE, t->n, "too much");
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    return SEEN_OK;
}

static size_t pack(uint8_t *to, const void *from, size_t n)
{
    struct isal_zstream z;

    isal_deflate_stateless_init(&z);
    z.gzip_flag = IGZIP_GZIP;
    z.next_in = (uint8_t *)(uintptr_t)from;
    z.avail_in = (uint32_t)n;
    z.next_out = to;
    z.avail_out = ROOM;
    assert_int_equal(isal_deflate_stateless(&z), COMP_OK);
    return ROOM - z.avail_out;
}

static enum seen_code feed(struct fetch_unpack *u, const uint8_t *bytes,
                           size_t n, struct taken *t, struct seen_error *why)
{
    static uint8_t piece[PIECE];

    return fetch_unpack_feed(u, walled(bytes, n), n, piece, PIECE, take, t,
                             why);
}

/* Pieces of `first` bytes, then of `rest`. */
static enum seen_code unpack(struct taken *t, enum fetch_packing how,
                             const uint8_t *bytes, size_t n, size_t first,
                             size_t rest)
{
    enum seen_code code = SEEN_OK;
    struct seen_error why = { 0 };
    struct fetch_unpack u;
    size_t piece = first < n ? first : n;

    t->n = 0;
    fetch_unpack_init(&u, how);
    for (size_t i = 0; i < n && code == SEEN_OK;
         i += piece, piece = rest < n - i ? rest : n - i)
        code = feed(&u, bytes + i, piece, t, &why);
    if (code == SEEN_OK)
        code = fetch_unpack_end(&u, take, t, &why);
    assert_true(code == SEEN_OK || *why.text);
    fetch_unpack_clear(&u);
    return code;
}

/* However it comes, it ends so, and `text` comes out if all is well. */
static void assert_unpacks(enum fetch_packing how, const uint8_t *bytes,
                           size_t n, enum seen_code code, const void *text,
                           size_t len)
{
    static struct taken t;

    t.most = OUT;
    for (size_t cut = 1; cut <= n + 1; cut++) {
        bool single = cut > n; /* byte by byte */

        assert_int_equal(
            unpack(&t, how, bytes, n, single ? 1 : cut, single ? 1 : n), code);
        if (code != SEEN_OK)
            continue;
        assert_int_equal(t.n, len);
        assert_memory_equal(t.bytes, text, len);
    }
}

static uint8_t text[3000], packed[ROOM];

static void fill(void)
{
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)("have we seen this URL?\n"[i % 23] + (i % 7 == 0));
}

TEST(what_was_packed_comes_out)
{
    size_t n;

    fill();
    n = pack(packed, text, sizeof text);
    assert_unpacks(FETCH_GZIP, packed, n, SEEN_OK, text, sizeof text);
    assert_unpacks(FETCH_GUESS, packed, n, SEEN_OK, text, sizeof text);
    assert_unpacks(FETCH_NOT, packed, n, SEEN_OK, packed, n);
}

TEST(members_follow_each_other)
{
    size_t n;

    fill();
    n = pack(packed, text, 100);
    n += pack(packed + n, "", 0);
    n += pack(packed + n, text + 100, 1);
    n += pack(packed + n, text + 101, sizeof text - 101);
    assert_unpacks(FETCH_GZIP, packed, n, SEEN_OK, text, sizeof text);
    assert_unpacks(FETCH_GUESS, packed, n, SEEN_OK, text, sizeof text);
}

TEST(what_is_packed_twice_is_unpacked_once)
{
    static uint8_t twice[ROOM];
    size_t n, m;

    fill();
    n = pack(packed, text, sizeof text);
    m = pack(twice, packed, n);
    assert_unpacks(FETCH_GUESS, twice, m, SEEN_OK, packed, n);
    assert_unpacks(FETCH_GZIP, twice, m, SEEN_OK, packed, n);
}

TEST(what_does_not_begin_like_gzip_is_left_as_it_is)
{
    static const struct {
        const char *text;
        size_t len;
    } plain[] = { { "h", 1 },
                  { "\x1f", 1 },
                  { "\x1f\x8b", 2 },
                  { "\x1f\x8b\x07hello", 8 },
                  { "\x1f\x1f\x8b", 3 },
                  { "hello, world", 12 } };

    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        const uint8_t *bytes = (const uint8_t *)plain[i].text;

        assert_unpacks(FETCH_GUESS, bytes, plain[i].len, SEEN_OK, bytes,
                       plain[i].len);
        assert_unpacks(FETCH_GZIP, bytes, plain[i].len, SEEN_CORRUPT, NULL, 0);
    }
}

TEST(what_is_cut_anywhere_is_found_out)
{
    static struct taken t = { .most = OUT };
    size_t first, n;

    fill();
    first = pack(packed, text, 100);
    n = first + pack(packed + first, text, 50);
    assert_int_equal(unpack(&t, FETCH_GZIP, packed, 0, 1, 1), SEEN_OK);
    for (size_t len = 1; len < n; len++) {
        bool between = len == first;

        for (size_t piece = 1; piece <= len; piece += len - 1 ? len - 1 : 1)
            assert_int_equal(unpack(&t, FETCH_GZIP, packed, len, piece, piece),
                             between ? SEEN_OK : SEEN_CORRUPT);
    }
}

TEST(what_follows_or_is_changed_is_found_out)
{
    static struct taken t = { .most = OUT };
    size_t n;

    fill();
    n = pack(packed, text, 100);
    for (size_t more = 1; more < 40; more++) {
        memset(packed + n, 0, more);
        assert_unpacks(FETCH_GZIP, packed, n + more, SEEN_CORRUPT, NULL, 0);
    }
    for (size_t i = 11; i < n; i++) { /* after head, and unused bits */
        packed[i] ^= 0x40;
        assert_int_equal(unpack(&t, FETCH_GZIP, packed, n, n, n),
                         SEEN_CORRUPT);
        packed[i] ^= 0x40;
    }
}

TEST(nothing_is_unpacked_beyond_a_refusal)
{
    static uint8_t zeros[ROOM];
    static struct taken t;
    size_t n = pack(packed, zeros, sizeof zeros);

    for (t.most = 0; t.most < sizeof zeros; t.most += 1 + t.most) {
        assert_int_equal(unpack(&t, FETCH_GZIP, packed, n, n, n), SEEN_RANGE);
        assert_true(t.n <= t.most);
    }
    t.most = sizeof zeros;
    assert_int_equal(unpack(&t, FETCH_GZIP, packed, n, n, n), SEEN_OK);
    assert_int_equal(t.n, sizeof zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_packed_comes_out),
        cmocka_unit_test(members_follow_each_other),
        cmocka_unit_test(what_is_packed_twice_is_unpacked_once),
        cmocka_unit_test(what_does_not_begin_like_gzip_is_left_as_it_is),
        cmocka_unit_test(what_is_cut_anywhere_is_found_out),
        cmocka_unit_test(what_follows_or_is_changed_is_found_out),
        cmocka_unit_test(nothing_is_unpacked_beyond_a_refusal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
