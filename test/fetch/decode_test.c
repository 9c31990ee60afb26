/*
 * decode_test.c - chunks and codings come undone, whole or not, and end.
 *
 * Inputs end at a page that must not be touched. The codings of TEXT are made
 * with isa-l, brotli and zstd.
 */
#include "test/wall.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <time.h>
#include <zstd.h>

#include "fetch/chunk.h"
#include "fetch/decode.h"
#include "lib/text/span.h"

#define HEAD(lines) "HTTP/1.1 200 OK\r\n" lines "\r\n"
#define TEXT "have we seen this URL?\n"
#define BYTES(text) ((struct seen_span){ text, sizeof text - 1 })

static const char brotli[] = "\x0f\x0b\x80" TEXT "\x03";

static struct fetch_decoded d;

/* --- to code --- */

static size_t pack(char *to, size_t room, int form, const void *from, size_t n)
{
    struct isal_zstream z;

    isal_deflate_stateless_init(&z);
    z.gzip_flag = (uint16_t)form;
    z.next_in = (uint8_t *)(uintptr_t)from;
    z.avail_in = (uint32_t)n;
    z.next_out = (uint8_t *)to;
    z.avail_out = (uint32_t)room;
    assert_int_equal(isal_deflate_stateless(&z), COMP_OK);
    return room - z.avail_out;
}

enum form { GZIP, ZLIB, RAW, BR, ZSTD, FORMS };

static const char *const form_heads[FORMS] = {
    HEAD("Content-Encoding: gzip\r\n"),
    HEAD("content-encoding: Deflate\r\n"),
    HEAD("Content-Encoding:deflate \r\n"),
    HEAD("Content-Encoding: br\r\n"),
    HEAD("Content-Encoding: zstd\r\n"),
};

/* TEXT in a form. */
static struct seen_span coded(enum form form)
{
    static char to[1000];
    size_t n;

    switch (form) {
    case GZIP: n = pack(to, sizeof to, IGZIP_GZIP, TEXT, strlen(TEXT)); break;
    case ZLIB: n = pack(to, sizeof to, IGZIP_ZLIB, TEXT, strlen(TEXT)); break;
    case RAW:
        n = pack(to, sizeof to, IGZIP_DEFLATE, TEXT, strlen(TEXT));
        break;
    case BR: return BYTES(brotli);
    default:
        n = ZSTD_compress(to, sizeof to, TEXT, strlen(TEXT), 3);
        assert_false(ZSTD_isError(n));
    }
    return (struct seen_span){ to, n };
}

static void decode(const char *head, struct seen_span raw, size_t most)
{
    struct seen_error why;

    assert_int_equal(
        fetch_decode(&d, span_of(head),
                     (struct seen_span){ walled(raw.text, raw.len), raw.len },
                     most, &why),
        SEEN_OK);
    assert_true(d.body.len <= most);
}

static void assert_body(const char *text, bool cut, const char *fault)
{
    if (!span_is(d.body, text) || d.cut != cut || !strstr(d.fault, fault) ||
        !*d.fault != !*fault)
        print_error("%.*s (%zu bytes), cut %d, %s\n", (int)d.body.len,
                    d.body.text, d.body.len, d.cut, d.fault);
    assert_true(span_is(d.body, text));
    assert_int_equal(d.cut, cut);
    assert_non_null(strstr(d.fault, fault));
    assert_int_equal(!*d.fault, !*fault);
}

/* --- headers --- */

TEST(headers_are_found_one_after_the_other)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nLink: a\r\n"
                               "Linked: no\r\n"
                               "LINK:\r\nX: y\r\n"
                               " Link: folded\r\nLink : spaced\r\n"
                               "link:  b c \t\nLink: d\r\n\r\n";
    static const char *const all[] = { "a", "", "b c", "d" };
    const char *at = walled(head, strlen(head));
    struct seen_span whole = { at, strlen(head) }, v = { NULL, 0 };

    for (int i = 0; i < 4; i++) {
        assert_true(fetch_header(whole, "Link", &v));
        assert_true(span_is(v, all[i]));
    }
    assert_false(fetch_header(whole, "Link", &v));
    assert_true(span_is(v, "d"));
    v = (struct seen_span){ NULL, 0 };
    assert_false(fetch_header(whole, "Location", &v));
    assert_false(fetch_header((struct seen_span){ NULL, 0 }, "Link", &v));
    assert_true(fetch_header(BYTES("Link: x"), "link", &v));
    assert_true(span_is(v, "x"));
    for (size_t n = 0; n <= strlen(head); n++) { /* cut anywhere */
        struct seen_span some = { walled(head, n), n };

        v = (struct seen_span){ NULL, 0 };
        for (int i = 0; fetch_header(some, "Link", &v); i++)
            assert_true(i < 4);
    }
}

/* --- chunks --- */

static const struct {
    const char *raw, *payload;
    bool cut;
    const char *fault;
} chunked[] = {
    { "5\r\nhello\r\n0\r\n\r\n", "hello", false, "" },
    { "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world", false, "" },
    { "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n", "abc", false, "" },
    { "00005;a=b\r\nhello\r\n000\r\n\r\n", "hello", false, "" },
    { "A \r\n0123456789\r\n0\r\n\r\n", "0123456789", false, "" },
    { "5\nhello\n0\n\n", "hello", false, "" },
    { "5\r\nhello\r\n0\r\nA: b\r\nC: d\r\n\r\n", "hello", false, "" },
    { "0\r\n\r\n", "", false, "" },
    { "", "", true, "" },
    { "5", "", true, "" },
    { "5\r\nhel", "hel", true, "" },
    { "5\r\nhello", "hello", true, "" },
    { "5\r\nhello\r\n", "hello", true, "" },
    { "5\r\nhello\r\n0\r\n", "hello", true, "" },
    { "5\r\nhello\r\n0\r\nA: b", "hello", true, "" },
    { "7fffffffffffffff\r\nhello", "hello", true, "" },
    { "5\r\nhello\r\n0\r\n\r\nHTTP/1.1 200 OK", "hello", false, "followed" },
    { "5\r\nhelloworld", "hello", false, "damaged" },
    { "5\r\nhello\rx", "hello", false, "damaged" },
    { "zwei\r\n", "", false, "damaged" },
    { "\r\n", "", false, "damaged" },
    { " 5\r\nhello\r\n", "", false, "damaged" },
    { "-5\r\nhello\r\n", "", false, "damaged" },
    { "5\r\nhello\r\nx", "hello", false, "damaged" },
    { "5\r\nhello\r\n0\r\n\rx", "hello", false, "damaged" },
    { "8000000000000000\r\nhello", "", false, "damaged" },
    { "ffffffffffffffff\r\nhello", "", false, "damaged" },
    { "10000000000000005\r\nhello", "", false, "damaged" },
    { "00000000000000005\r\nhello", "", false, "damaged" },
};

TEST(chunks_are_undone)
{
    for (size_t i = 0; i < sizeof chunked / sizeof *chunked; i++) {
        decode(HEAD("Transfer-Encoding: chunked\r\n"), span_of(chunked[i].raw),
               1000);
        assert_body(chunked[i].payload, chunked[i].cut, chunked[i].fault);
        assert_true(span_equal(d.payload, d.body));
    }
    decode(HEAD(""), BYTES("5\r\nhello\r\n"), 1000);
    assert_body("5\r\nhello\r\n", false, "");
    decode(HEAD("Transfer-Encoding: identity\r\n"), BYTES("5\r\n"), 1000);
    assert_body("5\r\n", false, "");
}

/* The end is found at the same byte, however the chunks come. */
TEST(chunks_may_come_in_pieces)
{
    for (size_t i = 0; i < sizeof chunked / sizeof *chunked; i++)
        for (size_t piece = 1; piece < 20; piece++) {
            struct seen_span all = span_of(chunked[i].raw), part, got;
            enum fetch_chunks_result at = FETCH_CHUNKS_MORE;
            struct fetch_chunks c = { 0 };
            size_t n = 0, used = 0;

            while (all.len && at == FETCH_CHUNKS_MORE) {
                size_t len = piece < all.len ? piece : all.len;

                part = (struct seen_span){ walled(all.text, len), len };
                while ((at = fetch_chunks_next(&c, &part, &got)) ==
                       FETCH_CHUNKS_PIECE) {
                    assert_true(got.len > 0);
                    assert_memory_equal(chunked[i].payload + n, got.text,
                                        got.len);
                    n += got.len;
                }
                used += len - part.len;
                all.text += len;
                all.len -= len;
            }
            assert_int_equal(n, strlen(chunked[i].payload));
            assert_int_equal(at == FETCH_CHUNKS_MORE, chunked[i].cut);
            assert_int_equal(at == FETCH_CHUNKS_DAMAGE,
                             !strcmp(chunked[i].fault, "damaged"));
            if (at == FETCH_CHUNKS_END && !*chunked[i].fault)
                assert_int_equal(used, strlen(chunked[i].raw));
        }
}

/* --- codings --- */

TEST(each_coding_is_undone)
{
    for (int form = 0; form < FORMS; form++) {
        struct seen_span raw = coded(form);

        decode(form_heads[form], raw, 1000);
        assert_body(TEXT, false, "");
        assert_true(span_equal(d.payload, raw));
        decode(form_heads[form], (struct seen_span){ "", 0 }, 1000);
        assert_body("", false, "");
    }
    decode(HEAD("Content-Encoding: X-Gzip\r\n"), coded(GZIP), 1000);
    assert_body(TEXT, false, "");
    decode(HEAD("Content-Encoding: identity, \r\n"), BYTES(TEXT), 1000);
    assert_body(TEXT, false, "");
}

TEST(what_is_cut_is_undone_up_to_there)
{
    for (int form = 0; form < FORMS; form++) {
        char bytes[1000];
        struct seen_span raw = coded(form);

        memcpy(bytes, raw.text, raw.len);
        for (size_t n = 1; n < raw.len; n++) {
            decode(form_heads[form], (struct seen_span){ bytes, n }, 1000);
            assert_true(d.cut || *d.fault);
            assert_true(d.body.len <= strlen(TEXT));
            assert_memory_equal(d.body.text ? d.body.text : "", TEXT,
                                d.body.len);
        }
    }
    decode(HEAD("Content-Length: 6\r\n"), BYTES("hello"), 1000);
    assert_body("hello", true, "");
    decode(HEAD("Content-Length: 5\r\n"), BYTES("hello"), 1000);
    assert_body("hello", false, "");
    decode(HEAD("Content-Length: 99999999999999999999999\r\n"), BYTES("hello"),
           1000);
    assert_body("hello", false, "");
    decode("HTTP/1.1 304 Not Modified\r\nContent-Length: 6\r\n\r\n", BYTES(""),
           1000);
    assert_body("", false, "");
}

/* Whichever byte is damaged, it ends, within its bounds. */
TEST(what_is_damaged_is_undone_up_to_there)
{
    for (int form = 0; form < FORMS; form++) {
        struct seen_span raw = coded(form);
        char bytes[1000];
        int found = 0;

        for (size_t i = 0; i < raw.len; i++)
            for (int bit = 0; bit < 8; bit++) {
                memcpy(bytes, raw.text, raw.len);
                bytes[i] ^= (char)(1 << bit);
                decode(form_heads[form], (struct seen_span){ bytes, raw.len },
                       100);
                found += d.cut || *d.fault || !span_is(d.body, TEXT);
            }
        assert_true(found > 50);
    }
    decode(form_heads[GZIP], BYTES(TEXT), 1000);
    assert_body("", false, "gzip data is damaged");
    decode(form_heads[ZSTD], BYTES(TEXT), 1000);
    assert_body("", false, "zstd data is damaged");
}

TEST(what_follows_is_ignored_and_reported)
{
    for (int form = 0; form < FORMS; form++) {
        struct seen_span raw = coded(form);
        char bytes[1000] = "";

        memcpy(bytes, raw.text, raw.len);
        memcpy(bytes + raw.len, "more", 4);
        decode(form_heads[form], (struct seen_span){ bytes, raw.len + 4 },
               1000);
        assert_body(TEXT, false, form == ZSTD ? "damaged" : "followed");
        if (form > RAW)
            continue;
        memset(bytes + raw.len, 0, 20);
        decode(form_heads[form], (struct seen_span){ bytes, raw.len + 20 },
               1000);
        assert_body(TEXT, false, "");
    }
}

/* Members of gzip and frames of zstd may follow each other. */
TEST(members_and_frames_are_put_together)
{
    for (int form = GZIP; form < FORMS; form += ZSTD) {
        struct seen_span raw = coded(form);
        char bytes[1000];

        memcpy(bytes, raw.text, raw.len);
        memcpy(bytes + raw.len, raw.text, raw.len);
        decode(form_heads[form], (struct seen_span){ bytes, raw.len * 2 },
               1000);
        assert_body(TEXT TEXT, false, "");
    }
}

TEST(codings_come_in_chains_of_three)
{
    char one[1000], two[1000], three[1000];
    size_t n = pack(one, sizeof one, IGZIP_ZLIB, TEXT, strlen(TEXT)), m;

    m = pack(two, sizeof two, IGZIP_GZIP, one, n);
    decode(HEAD("Content-Encoding: deflate\r\nContent-Encoding: gzip\r\n"),
           (struct seen_span){ two, m }, 1000);
    assert_body(TEXT, false, "");
    n = ZSTD_compress(three, sizeof three, two, m, 3);
    decode(HEAD("Content-Encoding: deflate,identity, GZIP ,zstd\r\n"),
           (struct seen_span){ three, n }, 1000);
    assert_body(TEXT, false, "");
    decode(HEAD("Content-Encoding: deflate, gzip, zstd, br\r\n"),
           BYTES("hello"), 1000);
    assert_body("hello", false, "too many");
    decode(HEAD("Content-Encoding: utf-8\r\n"), BYTES("hello"), 1000);
    assert_body("hello", false, "not known");
    decode(HEAD("Content-Encoding: compress, gzip\r\n"), coded(GZIP), 1000);
    assert_body(TEXT, false, "not known");
    decode(HEAD("Transfer-Encoding: chunked\r\nContent-Encoding: br\r\n"),
           BYTES("3\r\n\x0f\x0b\x80\r\n18\r\n" TEXT "\x03\r\n0\r\n\r\n"),
           1000);
    assert_body(TEXT, false, "");
    assert_int_equal(d.payload.len, sizeof brotli - 1);
}

/* --- bounds --- */

TEST(most_is_most)
{
    for (int form = 0; form < FORMS; form++)
        for (size_t most = 0; most < 30; most++) {
            decode(form_heads[form], coded(form), most);
            assert_int_equal(d.cut, most < strlen(TEXT));
            assert_int_equal(d.body.len,
                             most < strlen(TEXT) ? most : strlen(TEXT));
            assert_memory_equal(d.body.text ? d.body.text : "", TEXT,
                                d.body.len);
        }
    decode(HEAD(""), BYTES("hello"), 4);
    assert_body("hell", true, "");
    decode(HEAD(""), BYTES("hello"), 5);
    assert_body("hello", false, "");
}

/* 64 MiB of zeros are 65 kB of gzip, 6 kB of zstd, and 54 bytes of br. */
TEST(bombs_are_bounded)
{
    enum { BIG = 64 << 20, MOST = 1 << 20, ROOM = 1 << 18 };
    static const char many_zeros[] = /* by `brotli -w 24` */
        "\xcf\xff\xff\x7f\xf8\x27\x00\xe2\xb1\x40\x20\xf7\xfe\x9f\xff\xff"
        "\xff\xf0\x4f\x00\xc4\x61\x01\x80\xee\xfd\x3f\xff\xff\xff\xe1\x9f"
        "\x00\x88\xc3\x22\x00\xdd\xfb\x7f\xfe\xff\xff\xc3\x3f\x01\x10\x87"
        "\x05\x00\xba\xf7\xff\x03";
    char *zeros = calloc(1, BIG), *raw = malloc(ROOM), *two = malloc(ROOM);
    clock_t before = clock(); /* CPU time */
    size_t n;

    assert_true(zeros && raw && two);
    n = ZSTD_compress(raw, ROOM, zeros, BIG, 3);
    assert_false(ZSTD_isError(n));
    decode(form_heads[ZSTD], (struct seen_span){ raw, n }, MOST);
    assert_true(d.cut && d.body.len == MOST && d.steps[0].room <= 4 * MOST);
    n = pack(raw, ROOM, IGZIP_GZIP, zeros, BIG / 4);
    decode(form_heads[GZIP], (struct seen_span){ raw, n }, MOST);
    assert_true(d.cut && d.body.len == MOST && d.steps[0].room <= 4 * MOST);
    n = pack(two, ROOM, IGZIP_ZLIB, raw, n); /* a bomb in a bomb */
    decode(HEAD("Content-Encoding: gzip, deflate\r\n"),
           (struct seen_span){ two, n }, MOST);
    assert_true(d.cut && d.body.len == MOST && d.steps[1].room <= 4 * MOST);
    decode(form_heads[BR], BYTES(many_zeros), MOST);
    assert_true(d.cut && d.body.len == MOST && d.steps[0].room <= 4 * MOST);

    n = pack(two, ROOM, IGZIP_GZIP, "", 0); /* members of nothing */
    for (size_t i = 0; i + n <= ROOM; i += n)
        memcpy(raw + i, two, n);
    decode(form_heads[GZIP], (struct seen_span){ raw, ROOM / n * n }, MOST);
    assert_body("", false, "");
    memset(raw, 0, ROOM); /* frames of nothing that zstd skips */
    for (size_t i = 0; i + 8 <= ROOM; i += 8)
        memcpy(raw + i, "\x50\x2a\x4d\x18", 4);
    decode(form_heads[ZSTD], (struct seen_span){ raw, ROOM }, MOST);
    assert_body("", false, "");
    assert_true(clock() - before < 10 * CLOCKS_PER_SEC);
    free(two);
    free(raw);
    free(zeros);
}

/* Two steps per byte that is made: the rest is left out. */
TEST(a_body_is_undone_as_far_as_the_budget_goes)
{
    enum { ROOM = 8 << 20 };
    char *zeros = calloc(1, ROOM), *raw = malloc(ROOM);
    struct budget budget = { .left = 4 << 20 };
    size_t n = pack(raw, ROOM, IGZIP_GZIP, zeros, ROOM), before = 0;

    for (int i = 0; i < 2; i++, before = d.body.len) {
        budget.left = 4 << 20;
        d.budget = &budget;
        decode(form_heads[GZIP], (struct seen_span){ raw, n }, ROOM);
        d.budget = NULL;
        assert_string_equal(d.fault, "costs too much to unpack");
        assert_true(d.cut && budget_empty(&budget));
        assert_in_range(d.body.len, 1 << 20, 3 << 20);
        assert_true(!i || d.body.len == before);
    }
    free(raw);
    free(zeros);
}

TEST(windows_are_bounded)
{
    /* A zstd frame that claims a window of 64 MiB. */
    decode(form_heads[ZSTD], BYTES("\x28\xb5\x2f\xfd\x00\x80\x01\x00\x00"),
           1000);
    assert_body("", false, "RFC 9659");
}

static int clear(void **state)
{
    (void)state;
    fetch_decoded_clear(&d);
    fetch_decoded_clear(&d);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_found_one_after_the_other),
        cmocka_unit_test(chunks_are_undone),
        cmocka_unit_test(chunks_may_come_in_pieces),
        cmocka_unit_test(each_coding_is_undone),
        cmocka_unit_test(what_is_cut_is_undone_up_to_there),
        cmocka_unit_test(what_is_damaged_is_undone_up_to_there),
        cmocka_unit_test(what_follows_is_ignored_and_reported),
        cmocka_unit_test(members_and_frames_are_put_together),
        cmocka_unit_test(codings_come_in_chains_of_three),
        cmocka_unit_test(most_is_most),
        cmocka_unit_test(bombs_are_bounded),
        cmocka_unit_test(a_body_is_undone_as_far_as_the_budget_goes),
        cmocka_unit_test(windows_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, clear);
}
