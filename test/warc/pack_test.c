/* pack_test.c - records, digests, dates and lines of an index. */
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/disk/inflate.h"
#include "test/wall.h"
#include "test/warc/sample.h"
#include "warc/cdxj.h"
#include "warc/chunked.h"
#include "warc/date.h"
#include "warc/field.h"

static struct warc_packer *packer;

/* The next member of packed bytes, as text; *at moves behind it. */
static char *unpack(const struct buffer *b, size_t *at)
{
    static char text[1 << 16];
    struct inflate z = { .state = NULL };
    const void *in = b->bytes + *at;
    size_t left = b->len - *at, made;

    assert_int_equal(inflate_begin(&z, INFLATE_GZIP, NULL), SEEN_OK);
    assert_int_equal(
        inflate_some(&z, &in, &left, text, sizeof text - 1, &made),
        INFLATE_END);
    text[made] = '\0';
    *at = b->len - left;
    inflate_clear(&z);
    return text;
}

static void has(const char *text, const char *line)
{
    if (!strstr(text, line))
        fail_msg("no \"%s\" in:\n%s", line, text);
}

TEST(an_exchange_is_three_members_with_one_record_each)
{
    struct warc_exchange x = sample_page("http://a.example/b");
    struct warc_packed p = { .digest = "" };
    char id[WARC_ID], line[96];
    size_t at = 0;
    char *text;

    assert_int_equal(warc_pack(packer, &p, &x, NULL), SEEN_OK);
    assert_int_equal(warc_record_id(id, "response", x.url, x.when, 0, NULL),
                     SEEN_OK);
    text = unpack(&p.bytes, &at);
    has(text, "WARC/1.1\r\nWARC-Type: request\r\n");
    snprintf(line, sizeof line, "\r\nWARC-Concurrent-To: <%s>\r\n", id);
    has(text, line);
    has(text, "\r\nContent-Type: application/http;msgtype=request\r\n"
              "Content-Length: 35\r\n\r\nGET / HTTP/1.1\r\n");

    assert_int_equal(at, p.response.at);
    text = unpack(&p.bytes, &at);
    assert_int_equal(at, p.response.at + p.response.len);
    snprintf(line, sizeof line, "\r\nWARC-Record-ID: <%s>\r\n", id);
    has(text, line);
    has(text, "\r\nWARC-Date: 2026-01-02T03:04:05.678Z\r\n");
    has(text, "\r\nWARC-Target-URI: http://a.example/b\r\n");
    has(text, "\r\nWARC-IP-Address: 192.0.2.1\r\n");
    has(text, "\r\nWARC-Payload-Digest: sha1:" SAMPLE_DIGEST "\r\n");
    has(text, "\r\n\r\n" SAMPLE_HELLO "\r\n\r\n");
    assert_string_equal(p.digest, SAMPLE_DIGEST);

    text = unpack(&p.bytes, &at);
    has(text, "WARC-Type: metadata\r\n");
    has(text, "\r\n\r\nvia: http://a.example/\r\n\r\n\r\n");
    assert_int_equal(at, p.bytes.len);
    warc_packed_clear(&p);
}

/* Do both have the same records? */
static bool same_records(const struct warc_packed *one,
                         const struct warc_packed *other)
{
    size_t at = 0, other_at = 0;
    bool same = true;

    while (same && at < one->bytes.len && other_at < other->bytes.len) {
        char *text = strdup(unpack(&one->bytes, &at));

        same = !strcmp(text, unpack(&other->bytes, &other_at));
        free(text);
    }
    return same && at == one->bytes.len && other_at == other->bytes.len;
}

TEST(the_same_exchange_gives_the_same_records)
{
    struct warc_exchange x = sample_chunked("http://a.example/");
    struct warc_packed one = { .digest = "" }, other = one;
    struct warc_packer *second;

    assert_int_equal(warc_packer_new(&second, 0, NULL), SEEN_OK);
    assert_int_equal(warc_pack(packer, &one, &x, NULL), SEEN_OK);
    assert_int_equal(warc_pack(second, &other, &x, NULL), SEEN_OK);
    assert_true(same_records(&one, &other));
    x.turn = 1;
    assert_int_equal(warc_pack(second, &other, &x, NULL), SEEN_OK);
    assert_false(same_records(&one, &other));
    warc_packer_free(second);
    warc_packed_clear(&one);
    warc_packed_clear(&other);
}

/* Of any size, whether it compresses or not, by the default and by a level. */
static void assert_body_survives(struct warc_packer *p, char *body, size_t len)
{
    static char text[1 << 20];
    struct warc_exchange x = sample_chunked("http://a.example/");
    struct warc_packed packed = { .digest = "" };
    struct inflate z = { .state = NULL };
    const void *in;
    size_t left, made;

    x.body = x.payload = (struct seen_span){ body, len };
    assert_int_equal(warc_pack(p, &packed, &x, NULL), SEEN_OK);
    in = packed.bytes.bytes + packed.response.at;
    left = packed.response.len;
    assert_int_equal(inflate_begin(&z, INFLATE_GZIP, NULL), SEEN_OK);
    assert_int_equal(inflate_some(&z, &in, &left, text, sizeof text, &made),
                     INFLATE_END);
    assert_int_equal(left, 0);
    assert_true(made > len + 4);
    assert_memory_equal(text + made - len - 4, body, len);
    assert_memory_equal(text + made - 4, "\r\n\r\n", 4);
    inflate_clear(&z);
    warc_packed_clear(&packed);
}

TEST(bodies_of_any_size_survive_whether_they_compress_or_not)
{
    static const size_t sizes[] = { 0, 1, 100, 65535, 65536, 65537, 900000 };
    static char body[900000];
    struct warc_packer *small;
    uint32_t dice = 1;

    assert_int_equal(warc_packer_new(&small, 3, NULL), SEEN_OK);
    for (int noise = 0; noise < 2; noise++) {
        for (size_t i = 0; i < sizeof body; i++) {
            dice = dice * 1664525 + 1013904223;
            body[i] = noise ? (char)(dice >> 24) : "seen "[i % 5];
        }
        for (size_t i = 0; i < LENGTH(sizes); i++) {
            assert_body_survives(packer, body, sizes[i]);
            assert_body_survives(small, body, sizes[i]);
        }
    }
    warc_packer_free(small);
}

TEST(chunks_are_stored_and_the_digest_is_without_them)
{
    struct warc_exchange x = sample_chunked("http://a.example/");
    struct warc_packed p = { .digest = "" };
    size_t at;

    assert_int_equal(warc_pack(packer, &p, &x, NULL), SEEN_OK);
    at = p.response.at;
    has(unpack(&p.bytes, &at), "\r\n\r\n6\r\n<html>\r\nC;x=y\r\n");
    assert_string_equal(p.digest, SAMPLE_DIGEST);
    warc_packed_clear(&p);
}

TEST(a_revisit_says_what_it_refers_to_and_has_no_body)
{
    struct warc_exchange x = sample_revisit("http://a.example/",
                                            WARC_IDENTICAL);
    struct warc_packed p = { .digest = "" };
    size_t at;
    char *text;

    x.refers_id = "urn:uuid:1";
    assert_int_equal(warc_pack(packer, &p, &x, NULL), SEEN_OK);
    at = p.response.at;
    text = unpack(&p.bytes, &at);
    has(text, "WARC-Type: revisit\r\n");
    has(text, "\r\nWARC-Profile: http://netpreserve.org/warc/1.1/revisit/"
              "identical-payload-digest\r\n");
    has(text, "\r\nWARC-Refers-To-Target-URI: http://a.example/\r\n");
    has(text, "\r\nWARC-Refers-To-Date: 2026-01-02T03:04:05.678Z\r\n");
    has(text, "\r\nWARC-Refers-To: <urn:uuid:1>\r\n");
    has(text, "\r\nWARC-Truncated: length\r\n");
    has(text, "\r\nWARC-Payload-Digest: sha1:" SAMPLE_DIGEST "\r\n");
    assert_null(strstr(text, "hello"));

    x = sample_revisit("http://a.example/", WARC_NOT_MODIFIED);
    assert_int_equal(warc_pack(packer, &p, &x, NULL), SEEN_OK);
    at = p.response.at;
    text = unpack(&p.bytes, &at);
    has(text, "/server-not-modified\r\n");
    assert_null(strstr(text, "WARC-Truncated"));
    assert_null(strstr(text, "WARC-Refers-To: "));
    assert_string_equal(p.digest, SAMPLE_DIGEST);
    warc_packed_clear(&p);
}

TEST(nothing_can_be_smuggled_into_a_header)
{
    static const char *const bad[] = { "", "http://a.example/ b",
                                       "http://a.example/\r\nX: y" };
    struct warc_exchange x = sample_page("http://a.example/");
    struct warc_packed p = { .digest = "" };

    for (size_t i = 0; i < LENGTH(bad); i++) {
        x.url = bad[i];
        assert_int_equal(warc_pack(packer, &p, &x, NULL), SEEN_BAD_URL);
    }
    x = sample_revisit("http://a.example/", WARC_IDENTICAL);
    x.refers_url = "http://a.example/\n";
    assert_int_equal(warc_pack(packer, &p, &x, NULL), SEEN_BAD_URL);
    x.refers_url = NULL;
    assert_int_equal(warc_pack(packer, &p, &x, NULL), SEEN_RANGE);
    x = sample_page("http://a.example/");
    x.address = "1\r\n";
    assert_int_equal(warc_pack(packer, &p, &x, NULL), SEEN_RANGE);
    warc_packed_clear(&p);
}

TEST(warcinfo_has_the_facts_that_are_given)
{
    const struct warc_facts facts = { .software = "seen/1\r\nx: y",
                                      .robots = "obey" };
    struct buffer b = { .bytes = NULL };
    size_t at = 0;
    char *text;

    assert_int_equal(warc_pack_info(packer, &b, &facts, "a-00001.warc.gz",
                                    SAMPLE_WHEN, NULL),
                     SEEN_OK);
    text = unpack(&b, &at);
    has(text, "\r\nWARC-Filename: a-00001.warc.gz\r\n");
    has(text, "\r\n\r\nsoftware: seen/1  x: y\r\nformat: WARC file version "
              "1.1\r\nconformsTo: http://");
    has(text, "\r\nrobots: obey\r\n");
    assert_null(strstr(text, "hostname"));
    assert_null(strstr(text, "WARC-Target-URI"));
    buffer_clear(&b);
}

TEST(lines_of_the_index_are_those_of_pywb)
{
    struct warc_packed p = { .response = { 100, 50 },
                             .digest = SAMPLE_DIGEST };
    struct warc_exchange x = sample_page("http://www.a.example/B?z=1&a=\"2");
    struct buffer b = { .bytes = NULL };

    warc_cdxj(&b, &x, &p, "c-00001.warc.gz", 1000);
    x = sample_revisit("http://a.example/", WARC_NOT_MODIFIED);
    p.digest[0] = '\0';
    warc_cdxj(&b, &x, &p, "c-00001.warc.gz", 2000);
    buffer_byte(&b, '\0');
    assert_string_equal(
        b.bytes,
        "example,a)/b?a=\"2&z=1 20260102030405 {\"url\": "
        "\"http://www.a.example/B?z=1&a=\\\"2\", \"mime\": \"text/html\", "
        "\"status\": \"200\", \"digest\": \"" SAMPLE_DIGEST "\", "
        "\"length\": \"50\", \"offset\": \"1100\", "
        "\"filename\": \"c-00001.warc.gz\"}\n"
        "example,a)/ 20260102030406 {\"url\": \"http://a.example/\", "
        "\"mime\": \"warc/revisit\", \"status\": \"304\", "
        "\"length\": \"50\", \"offset\": \"2100\", "
        "\"filename\": \"c-00001.warc.gz\"}\n");
    buffer_clear(&b);
}

/* --- the parts --- */

TEST(digests_are_read_in_every_usual_form)
{
    static const struct {
        const char *text;
        enum warc_digest_verdict verdict;
    } cases[] = {
        { "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", WARC_DIGEST_GOOD },
        { "SHA-1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj", WARC_DIGEST_GOOD },
        { "sha1:DA39A3EE5E6B4B0D3255BFEF95601890AFD80709", WARC_DIGEST_GOOD },
        { "md5:d41d8cd98f00b204e9800998ecf8427e", WARC_DIGEST_GOOD },
        { "md5:2QOYZWMPACZAJ2MABGMOZ6CCPY======", WARC_DIGEST_GOOD },
        { "md5:2QOYZWMPACZAJ2MABGMOZ6CCPY", WARC_DIGEST_GOOD },
        { "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b78"
          "52b855",
          WARC_DIGEST_GOOD },
        { "sha-256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ====",
          WARC_DIGEST_GOOD },
        { "sha3-256:a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80"
          "f8434a",
          WARC_DIGEST_GOOD },
        { "xxh3:2d06800538d394c2", WARC_DIGEST_UNKNOWN },
        { "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBY", WARC_DIGEST_BAD },
        { "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBY1", WARC_DIGEST_BAD },
        { "md5:2QOYZWMPACZAJ2MABGMOZ6CCPZ", WARC_DIGEST_BAD }, /* bits left */
        { "sha1:", WARC_DIGEST_BAD },
        { "sha1", WARC_DIGEST_BAD },
        { ":x", WARC_DIGEST_BAD },
        { "", WARC_DIGEST_BAD },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        unsigned char said[WARC_DIGEST_MOST], found[WARC_DIGEST_MOST];
        size_t len = strlen(cases[i].text);
        struct seen_span text = { walled(cases[i].text, len), len };
        struct warc_hash h = { .state = NULL };
        const struct warc_algorithm *a;

        if (warc_digest_read(text, &a, said) != cases[i].verdict)
            fail_msg("%s", cases[i].text);
        if (cases[i].verdict != WARC_DIGEST_GOOD)
            continue;
        assert_int_equal(warc_hash_begin(&h, a, NULL), SEEN_OK);
        assert_true(warc_hash_end(&h, found)); /* all are of no bytes */
        assert_memory_equal(said, found, a->bytes);
        warc_hash_clear(&h);
    }
}

TEST(dates_are_those_of_the_calendar_at_any_precision)
{
    static const struct {
        const char *text, *stamp; /* NULL: not a date */
    } cases[] = {
        { "2026", "20260101000000" },
        { "2026-02", "20260201000000" },
        { "2024-02-29", "20240229000000" },
        { "2026-01-02T03:04Z", "20260102030400" },
        { "2026-01-02T03:04:05Z", "20260102030405" },
        { "2026-01-02T03:04:05.1Z", "20260102030405" },
        { "2026-01-02T03:04:05.123456789Z", "20260102030405" },
        { "2016-12-31T23:59:60Z", "20161231235960" },
        { "2026-02-29", NULL },
        { "1900-02-29", NULL },
        { "2026-13", NULL },
        { "2026-00", NULL },
        { "2026-01-02T03Z", NULL },
        { "2026-01-02T24:00Z", NULL },
        { "2026-01-02T03:04:05", NULL },
        { "2026-01-02T03:04:05.Z", NULL },
        { "2026-01-02T03:04:05.1234567890Z", NULL },
        { "2026-01-02T03:04:05+01:00", NULL },
        { "2026-01-02 03:04:05Z", NULL },
        { "20260102030405", NULL },
        { "2026-", NULL },
        { "", NULL },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t len = strlen(cases[i].text);
        struct warc_date d;

        if (warc_date_read(
                (struct seen_span){ walled(cases[i].text, len), len }, &d) !=
            (cases[i].stamp != NULL))
            fail_msg("%s", cases[i].text);
        if (cases[i].stamp)
            assert_string_equal(d.stamp, cases[i].stamp);
    }
}

TEST(chunks_are_undone_wherever_the_pieces_end)
{
    static const struct {
        const char *body, *payload;
        enum warc_chunked_state state;
    } cases[] = {
        { "5\r\nhello\r\n0\r\n\r\n", "hello", WARC_CHUNKED_DONE },
        { "5\nhello\n0\n\n", "hello", WARC_CHUNKED_DONE },
        { "05 ;a=b\r\nhello\r\n3\r\n\r\n!\r\n0\r\nA: b\r\n\r\nrest",
          "hello\r\n!", WARC_CHUNKED_DONE },
        { "5\r\nhel", "hel", WARC_CHUNKED_DATA },
        { "5\r\nhello\r\n", "hello", WARC_CHUNKED_SIZE },
        { "5\r\nhellox", "hello", WARC_CHUNKED_DAMAGED },
        { "\r\n", "", WARC_CHUNKED_DAMAGED },
        { "<html>", "", WARC_CHUNKED_DAMAGED },
        { "fffffffffffffffff\r\n", "", WARC_CHUNKED_DAMAGED },
    };

    for (size_t i = 0; i < LENGTH(cases); i++)
        for (size_t piece = 1; piece <= strlen(cases[i].body); piece++) {
            struct warc_chunked c = { .left = 0 };
            size_t len = strlen(cases[i].body);
            char found[64];
            size_t n = 0;

            for (size_t at = 0; at < len; at += piece) {
                size_t some = len - at < piece ? len - at : piece;
                struct seen_span payload,
                    rest = { walled(cases[i].body + at, some), some };

                while (warc_chunked_next(&c, &rest, &payload)) {
                    memcpy(found + n, payload.text, payload.len);
                    n += payload.len;
                }
            }
            assert_int_equal(c.state, cases[i].state);
            assert_int_equal(n, strlen(cases[i].payload));
            assert_memory_equal(found, cases[i].payload, n);
        }
}

TEST(fields_may_be_folded_and_have_any_line_end)
{
    static const char text[] = "A: b \r\nC:\r\n d\r\n\te\nno field\r\n:x\r\n"
                               "\r\nF: g\r\n";
    struct seen_span rest = { walled(text, sizeof text - 1), sizeof text - 1 };
    struct seen_span name, value;

    assert_true(warc_field_next(&rest, &name, &value));
    assert_true(span_is(name, "A") && span_is(value, "b"));
    assert_true(warc_field_next(&rest, &name, &value));
    assert_true(span_is(name, "C") && span_is(value, "d\r\n\te"));
    assert_true(warc_field_next(&rest, &name, &value));
    assert_true(!name.len && span_is(value, "no field"));
    assert_true(warc_field_next(&rest, &name, &value));
    assert_true(!name.len && span_is(value, "x"));
    assert_false(warc_field_next(&rest, &name, &value));
    for (size_t known = 0; known < 20; known++) {
        assert_int_equal(
            warc_head_length("a\r\nb\r\n\r\nc", 9, known < 8 ? known : 7), 8);
        assert_int_equal(warc_head_length("a\nb\n\nc", 6, 0), 5);
    }
    assert_int_equal(warc_head_length("a\r\nb\r\n\r", 7, 0), 0);
}

static int make(void **state)
{
    (void)state;
    return warc_packer_new(&packer, 0, NULL) == SEEN_OK ? 0 : -1;
}

static int drop(void **state)
{
    (void)state;
    warc_packer_free(packer);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exchange_is_three_members_with_one_record_each),
        cmocka_unit_test(the_same_exchange_gives_the_same_records),
        cmocka_unit_test(
            bodies_of_any_size_survive_whether_they_compress_or_not),
        cmocka_unit_test(chunks_are_stored_and_the_digest_is_without_them),
        cmocka_unit_test(a_revisit_says_what_it_refers_to_and_has_no_body),
        cmocka_unit_test(nothing_can_be_smuggled_into_a_header),
        cmocka_unit_test(warcinfo_has_the_facts_that_are_given),
        cmocka_unit_test(lines_of_the_index_are_those_of_pywb),
        cmocka_unit_test(digests_are_read_in_every_usual_form),
        cmocka_unit_test(dates_are_those_of_the_calendar_at_any_precision),
        cmocka_unit_test(chunks_are_undone_wherever_the_pieces_end),
        cmocka_unit_test(fields_may_be_folded_and_have_any_line_end),
    };

    return cmocka_run_group_tests(tests, make, drop);
}
