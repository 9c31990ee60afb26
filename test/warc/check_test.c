/* check_test.c - every sort of damage is found, and nothing else. */
#include "test/test.h"

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/folder.h"
#include "test/wall.h"
#include "test/warc/sample.h"
#include "warc/cdxj.h"
#include "warc/check.h"
#include "warc/files.h"
#include "warc/record.h"

/* What was said about the last file, a line each. */
static char said[1 << 16];
static struct warc_counts counts;

static void keep(void *owner, const struct warc_fault *f)
{
    size_t n = strlen(said);

    (void)owner;
    snprintf(said + n, sizeof said - n, "%llu %s%s\n",
             (unsigned long long)f->at, f->note ? "note: " : "", f->text);
}

static const char *path_of(const char *name)
{
    static char path[4][128];
    static unsigned i;

    i = (i + 1) % 4;
    snprintf(path[i], sizeof path[i], "%s/%s", folder, name);
    return path[i];
}

static void put(const char *name, const void *bytes, size_t len)
{
    /* Not truncated first: ext4 would flush it to the disk each time. */
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    assert_int_equal(ftruncate(fd, (off_t)len), 0);
    close(fd);
}

static const char *check_bytes(const void *bytes, size_t len)
{
    struct seen_error why;

    put("x.warc", bytes, len);
    said[0] = '\0';
    if (warc_check(path_of("x.warc"), keep, NULL, &counts, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    return said;
}

/* --- headers of plain records --- */

#define ID "WARC-Record-ID: <urn:uuid:1>\r\n"
#define DATE "WARC-Date: 2026-01-02T03:04:05Z\r\n"
#define URI "WARC-Target-URI: http://a.example/\r\n"
#define REVISIT "WARC-Type: revisit\r\n" ID DATE URI
#define PROFILE "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/"
#define WARCINFO "the file does not begin with warcinfo"

static const struct {
    const char *fields; /* behind the version, without Content-Length: 0 */
    const char *fault;  /* one of those found; NULL: no fault, no note */
} headers[] = {
    { "WARC-Type: warcinfo\r\n" ID DATE, NULL },
    { "warc-type:WARCINFO\r\nwarc-record-id:\r\n <urn:x:y>\r\n" DATE, NULL },
    { "WARC-Type: warcinfo\r\n" ID "WARC-Date: 2026\r\n", NULL },
    { "WARC-Type: warcinfo\r\n" ID "WARC-Date: 2026-01-02T03:04:05.123Z\r\n",
      NULL },
    { "WARC-Type: warcinfo\r\n" DATE, "WARC-Record-ID is missing" },
    { "WARC-Type: warcinfo\r\n" ID, "WARC-Date is missing" },
    { ID DATE, "WARC-Type is missing" },
    { "WARC-Type: response\r\n" ID DATE, "WARC-Target-URI is missing" },
    { "WARC-Type: request\r\n" ID DATE, "WARC-Target-URI is missing" },
    { "WARC-Type: metadata\r\n" ID DATE, "note: " WARCINFO },
    { "WARC-Type: warcinfo\r\n" ID DATE URI,
      "WARC-Target-URI does not belong into a record of type warcinfo" },
    { "WARC-Type: revisit\r\n" ID DATE URI, "WARC-Profile is missing" },
    { REVISIT PROFILE "identical-payload-digest\r\n",
      "a revisit by digest needs WARC-Payload-Digest" },
    { REVISIT PROFILE "server-not-modified\r\n",
      "note: a revisit that does not say what it refers to" },
    { REVISIT PROFILE
      "server-not-modified\r\nWARC-Refers-To: <urn:uuid:2>\r\n",
      "note: the record that it refers to by id is not in these files" },
    { "WARC-Type: continuation\r\n" ID DATE URI,
      "WARC-Segment-Origin-ID is missing" },
    { "WARC-Type: warcinfo\r\n" ID DATE DATE, "WARC-Date is there twice" },
    { "WARC-Type: warcinfo\r\n" ID "WARC-Date: 2026-02-30\r\n",
      "WARC-Date is not a UTC date: 2026-02-30" },
    { "WARC-Type: warcinfo\r\nWARC-Record-ID: <x>\r\n" DATE,
      "WARC-Record-ID is not a URI: x" },
    { "WARC-Type: warcinfo\r\nWARC-Record-ID: urn:x:y\r\n" DATE,
      "note: WARC-Record-ID has no brackets around the URI" },
    { "WARC-Type: response\r\n" ID DATE
      "WARC-Target-URI: <http://a.example/>\r\n",
      "WARC-Target-URI has brackets around the URI" },
    { "WARC-Type: response\r\n" ID DATE
      "WARC-Target-URI: http://a.example/ b\r\n",
      "WARC-Target-URI is not a URI: http://a.example/ b" },
    { "WARC-Type: response\r\n" ID DATE URI "WARC-IP-Address: a.example\r\n",
      "WARC-IP-Address is not a numeric address: a.example" },
    { "WARC-Type: response\r\n" ID DATE URI "WARC-Refers-To: <urn:x:y>\r\n",
      "WARC-Refers-To does not belong into a record of type response" },
    { "WARC-Type: response\r\n" ID DATE URI
      "WARC-Concurrent-To: <urn:x:y>\r\nWARC-Concurrent-To: <urn:x:z>\r\n",
      "note: " WARCINFO },
    { "WARC-Type: warcinfo\r\n" ID DATE "no field\r\n",
      "a line of the header is not a field: no field" },
    { "WARC-Type: warcinfo\r\n" ID DATE "X: \xff\r\n", "X is not UTF-8" },
    { "WARC-Type: warcinfo\r\n" ID DATE "X: a\033[2J\r\n",
      "X has control bytes" },
    { "WARC-Type: warcinfo\r\n" ID DATE "X: a\tb\r\n\tc\r\n", NULL },
    { "WARC-Type: response\r\n" ID DATE URI "WARC-Segment-Number: 0\r\n",
      "WARC-Segment-Number is 0, but segments count from 1" },
    { "WARC-Type: warcinfo\n" ID DATE, "lines of the header end without CR" },
    { "WARC-Type: warcinfo\r\n" ID DATE "WARC-Block-Digest: sha1:x\r\n",
      "WARC-Block-Digest is not a digest: sha1:x" },
    { "WARC-Type: warcinfo\r\n" ID DATE "WARC-Block-Digest: crc:x\r\n",
      "note: WARC-Block-Digest is of an unknown kind: crc:x" },
    { "WARC-Type: warcinfo\r\n" ID DATE
      "WARC-Block-Digest: md5:00000000000000000000000000000000\r\n",
      "the digest of the block differs: md5:00000000000000000000000000000000 "
      "is recorded, md5:d41d8cd98f00b204e9800998ecf8427e was found" },
    { "WARC-Type: warcinfo\r\n" ID DATE
      "WARC-Block-Digest: md5:2QOYZWMPACZAJ2MABGMOZ6CCPY======\r\n",
      NULL },
    { "WARC-Type: new\r\n" ID DATE,
      "note: WARC-Type is of an extension: new" },
    { "WARC-Type: warcinfo\r\n" ID DATE "WARC-Truncated: why\r\n",
      "note: WARC-Truncated has a reason of its own: why" },
};

TEST(headers_are_held_against_the_standard)
{
    for (size_t i = 0; i < LENGTH(headers); i++) {
        char text[1024];
        int n = snprintf(text, sizeof text,
                         "WARC/1.1\r\n%sContent-Length: 0\r\n\r\n\r\n\r\n",
                         headers[i].fields);

        check_bytes(text, (size_t)n);
        if (headers[i].fault ? !strstr(said, headers[i].fault) : *said)
            fail_msg("%s\n%s", text, said);
    }
}

static void nothing(void *owner, bool note, const char *text)
{
    (void)owner;
    (void)note;
    assert_true(*text);
}

TEST(headers_are_not_read_past_their_end)
{
    for (size_t i = 0; i < LENGTH(headers); i++) {
        struct warc_record r;
        char text[1024];
        int n = snprintf(text, sizeof text, "WARC/1.1\r\n%s",
                         headers[i].fields);

        for (size_t len = 0; len <= (size_t)n; len++) {
            struct seen_span head = { walled(text, len), len };

            warc_record_read(&r, head, nothing, NULL);
            warc_record_likely(head);
        }
    }
}

TEST(dates_and_brackets_of_the_older_version_differ)
{
    static const char text[] =
        "WARC/1.0\r\nWARC-Type: warcinfo\r\n" ID
        "WARC-Date: 2026-01-02T03:04:05.1Z\r\nContent-Length: 0\r\n\r\n"
        "\r\n\r\n"
        "WARC/1.0\r\nWARC-Type: response\r\n"
        "WARC-Record-ID: <urn:uuid:2>\r\n" DATE
        "WARC-Target-URI: <http://a.example/>\r\nContent-Length: 0\r\n\r\n"
        "\r\n\r\n";

    assert_string_equal(check_bytes(text, sizeof text - 1),
                        "0 WARC-Date is not a date of WARC 1.0, which has "
                        "seconds and no fractions: 2026-01-02T03:04:05.1Z\n");
    assert_int_equal(counts.records, 2);
    assert_int_equal(counts.minor, 0);
}

/* --- payloads --- */

#define HTTP "Content-Type: application/http\r\n"
#define RESPONSE "WARC-Type: response\r\n" ID DATE URI HTTP
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n"

static const struct {
    const char *fields, *block, *fault; /* NULL: none */
} payloads[] = {
    { RESPONSE "WARC-Payload-Digest: sha1:" SAMPLE_DIGEST,
      "HTTP/1.1 200 OK\r\n\r\n" SAMPLE_HELLO, NULL },
    { RESPONSE "WARC-Payload-Digest: sha1:" SAMPLE_DIGEST,
      "HTTP/1.1 200 OK\n\n" SAMPLE_HELLO, NULL },
    { RESPONSE "WARC-Payload-Digest: sha1:" SAMPLE_DIGEST,
      CHUNKED "12\r\n" SAMPLE_HELLO "\r\n0\r\n\r\n", NULL },
    { RESPONSE "WARC-Payload-Digest: sha1:" SAMPLE_DIGEST,
      "HTTP/1.1 200 OK\r\n\r\n" SAMPLE_HELLO "!",
      "the digest of the payload differs" },
    { RESPONSE "WARC-Payload-Digest: md5:b2146df9aa3cf10bdaaf36b4ce11d9d4",
      CHUNKED "2\r\nhi\r\n0\r\n\r\n", "the digest of the payload differs" },
    { RESPONSE "WARC-Payload-Digest: md5:49f68a5c8493ec2c0bf489821c21fc3b",
      CHUNKED "2\r\nhi\r\n0\r\n\r\n", NULL },
    { RESPONSE "WARC-Payload-Digest: md5:49f68a5c8493ec2c0bf489821c21fc3b",
      CHUNKED "2\r\nhi\r\n",
      "note: the last chunk is missing, and nothing says that the record is "
      "truncated" },
    { RESPONSE "WARC-Truncated: time\r\n"
               "WARC-Payload-Digest: md5:49f68a5c8493ec2c0bf489821c21fc3b",
      CHUNKED "2\r\nhi\r\n", NULL },
    { RESPONSE "WARC-Payload-Digest: md5:49f68a5c8493ec2c0bf489821c21fc3b",
      CHUNKED "hi",
      "note: the digest of the payload is that of the body with its chunks" },
    { RESPONSE "X: y", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi",
      "note: the body is shorter than its Content-Length" },
    { RESPONSE "X: y", "hi",
      "note: the block is not the HTTP message that Content-Type says" },
    { "WARC-Type: resource\r\nContent-Type: text/plain\r\n" ID DATE URI
      "WARC-Payload-Digest: md5:49f68a5c8493ec2c0bf489821c21fc3b",
      "hi", NULL },
    { "WARC-Type: request\r\n" ID DATE URI HTTP
      "WARC-Payload-Digest: md5:49f68a5c8493ec2c0bf489821c21fc3b",
      "POST / HTTP/1.1\r\n\r\nhi", NULL },
    { "WARC-Type: resource\r\n" ID DATE URI "X: y", "hi",
      "note: Content-Type is missing" },
    /* The digest of a segment is that of the whole. */
    { RESPONSE "WARC-Segment-Number: 1\r\n"
               "WARC-Payload-Digest: md5:00000000000000000000000000000000",
      "HTTP/1.1 200 OK\r\n\r\nhi", NULL },
};

TEST(payloads_are_bodies_without_chunks)
{
    for (size_t i = 0; i < LENGTH(payloads); i++) {
        char text[2048];
        int n = snprintf(text, sizeof text,
                         "WARC/1.1\r\nWARC-Type: warcinfo\r\n"
                         "WARC-Record-ID: <urn:uuid:0>\r\n" DATE
                         "Content-Length: 0\r\n\r\n\r\n\r\n"
                         "WARC/1.1\r\n%s\r\nContent-Length: %zu\r\n\r\n"
                         "%s\r\n\r\n",
                         payloads[i].fields, strlen(payloads[i].block),
                         payloads[i].block);

        check_bytes(text, (size_t)n);
        if (payloads[i].fault ? !strstr(said, payloads[i].fault) : *said)
            fail_msg("%s\n%s", text, said);
    }
}

/* --- damage --- */

static const char three[] =
    "WARC/1.1\r\nWARC-Type: warcinfo\r\n" ID DATE
    "Content-Length: 3\r\nContent-Type: text/plain\r\n\r\nabc\r\n\r\n"
    "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:2>\r\n" DATE
    "Content-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello\r\n\r\n"
    "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:3>\r\n" DATE
    "Content-Length: 0\r\n\r\n\r\n\r\n";

/* Replace the first `from` of `three` by `to` and check it. */
static const char *edited(const char *from, const char *to)
{
    static char text[1024];
    const char *at = strstr(three, from);

    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - three), three, to,
             at + strlen(from));
    return check_bytes(text, strlen(text));
}

TEST(a_plain_file_goes_on_after_damage)
{
    size_t second = (size_t)(strstr(three + 1, "WARC/1.1") - three);
    char expected[256];

    assert_string_equal(check_bytes(three, sizeof three - 1), "");
    assert_int_equal(counts.records, 3);
    for (unsigned i = 0; i < 3; i++) {
        static const char *const to[] = { "Content-Length: 2",
                                          "Content-Length: 100",
                                          "Content-Length: 99999" };
        static const char *const text[] = {
            "two CRLF do not follow the block; its length is wrong",
            "two CRLF do not follow the block; its length is wrong",
            "Content-Length is larger than what is left of the file"
        };

        snprintf(expected, sizeof expected, "%zu %s\n", second, text[i]);
        assert_string_equal(edited("Content-Length: 5", to[i]), expected);
        assert_int_equal(counts.records, 3);
        assert_int_equal(counts.damaged, 1);
        assert_false(counts.torn);
    }
    assert_non_null(strstr(edited("Content-Length: 5", "Content-Length: x"),
                           "the record does not say how long it is"));
    assert_int_equal(counts.records, 3);
    assert_non_null(strstr(edited("WARC/1.1\r\nWARC-Type: meta", "noise\r\n"),
                           "no record begins here"));
    assert_int_equal(counts.records, 2);
    assert_non_null(strstr(edited("urn:uuid:3", "urn:uuid:2"),
                           "the record id is also that of record 2 of"));
}

TEST(a_torn_tail_is_reported_with_its_byte)
{
    size_t last = sizeof three - 1;

    while (strncmp(three + last, "WARC/1.1", 8))
        last--;
    for (size_t len = last + 1; len < sizeof three - 1; len++) {
        check_bytes(three, len);
        assert_true(counts.faults);
        if (len < last + 5) /* too short for anything */
            continue;
        if (!counts.torn || counts.whole != last)
            fail_msg("cut at %zu: %s", len, said);
    }
}

TEST(a_hostile_file_is_not_read_again_and_again)
{
    /* Each record claims to end shortly before the file does. */
    enum { EACH = 64, N = 10000 };
    char *text = malloc(N * EACH);

    assert_non_null(text);
    memset(text, 'x', N * EACH);
    for (size_t i = 0; i < N; i++) {
        int n = sprintf(text + i * EACH,
                        "WARC/1.1\r\nWARC-Type: new\r\nContent-Length: %zu",
                        (N - i) * EACH < 200 ? 5 : (N - i) * EACH - 200);

        memcpy(text + i * EACH + n, "\r\n\r\n", 4);
        text[i * EACH + EACH - 1] = '\n';
    }
    check_bytes(text, N * EACH);
    assert_non_null(strstr(said, "too much damage to go on from here"));
    assert_true(counts.records < 100);
    free(text);
}

/* --- packed files --- */

static struct buffer file; /* warcinfo and four exchanges */
static struct buffer index_lines;
static size_t member[32], members; /* where they begin */

static void pack_file(void)
{
    const struct warc_exchange all[] = {
        sample_page("http://a.example/"),
        sample_chunked("http://a.example/b"),
        sample_cut("http://a.example/c"),
        sample_revisit("http://a.example/", WARC_IDENTICAL),
        sample_revisit("http://a.example/b", WARC_NOT_MODIFIED),
    };
    const struct warc_facts facts = { .software = "seen" };
    struct warc_packed p = { .digest = "" };
    struct warc_packer *packer;

    buffer_clear(&file);
    buffer_clear(&index_lines);
    assert_int_equal(warc_packer_new(&packer, 0, NULL), SEEN_OK);
    assert_int_equal(
        warc_pack_info(packer, &file, &facts, "x.warc", SAMPLE_WHEN, NULL),
        SEEN_OK);
    for (size_t i = 0; i < LENGTH(all); i++) {
        assert_int_equal(warc_pack(packer, &p, &all[i], NULL), SEEN_OK);
        warc_cdxj(&index_lines, &all[i], &p, "x.warc", file.len);
        buffer_append(&file, &p.bytes);
    }
    members = 0;
    for (size_t i = 0; i + 4 < file.len; i++)
        if (!memcmp(file.bytes + i, "\x1f\x8b\x08\0\0\0\0\0", 8))
            member[members++] = i;
    warc_packed_clear(&p);
    warc_packer_free(packer);
}

TEST(what_we_write_is_without_a_fault_or_note)
{
    pack_file();
    assert_string_equal(check_bytes(file.bytes, file.len), "");
    assert_int_equal(counts.records, 1 + 3 + 3 + 2 + 3 + 3);
    assert_int_equal(counts.records, members);
    assert_int_equal(counts.type[WARC_REVISIT], 2);
    assert_int_equal(counts.digests, counts.records + 3);
    assert_true(counts.gzip);
}

TEST(every_changed_byte_of_a_packed_file_is_found)
{
    pack_file();
    for (size_t i = 0; i < file.len; i++) {
        char old = file.bytes[i];
        size_t m = members, end;
        bool unused;

        while (member[m - 1] > i)
            m--;
        end = m < members ? member[m] : file.len;
        /* Flags, time and system of a gzip header mean nothing here, nor do
           the last bits before the checksum. */
        unused = (i - member[m - 1] >= 3 && i - member[m - 1] < 10) ||
                 end - i == 9;
        file.bytes[i] ^= 0x10;
        check_bytes(file.bytes, file.len);
        if (!unused && !counts.faults)
            fail_msg("byte %zu", i);
        /* The other records are still found. */
        if (!unused)
            assert_in_range(counts.records, members - 1, members);
        file.bytes[i] = old;
    }
}

TEST(a_packed_file_that_is_cut_anywhere_is_torn_there)
{
    pack_file();
    for (size_t len = 11; len < file.len; len++) {
        size_t m = members;

        while (member[m - 1] >= len)
            m--;
        check_bytes(file.bytes, len);
        if (m < members && member[m] == len)
            m = members; /* between members, it is whole */
        if (m == members && len != file.len && member[members - 1] < len) {
            assert_true(counts.torn);
            assert_int_equal(counts.whole, member[members - 1]);
        } else if (m < members) {
            assert_true(counts.torn);
            assert_int_equal(counts.whole, member[m - 1]);
        } else {
            assert_false(counts.torn);
        }
    }
}

static size_t pack_member(const char *text, size_t len, char *out, size_t room)
{
    static struct isal_zstream z;
    static uint8_t in[2048]; /* ISA-L does not promise to only read it */

    assert_true(len <= sizeof in);
    memcpy(in, text, len);
    isal_deflate_stateless_init(&z);
    z.gzip_flag = IGZIP_GZIP;
    z.end_of_stream = 1;
    z.next_in = in;
    z.avail_in = (uint32_t)len;
    z.next_out = (uint8_t *)out;
    z.avail_out = (uint32_t)room;
    assert_int_equal(isal_deflate_stateless(&z), COMP_OK);
    return z.total_out;
}

TEST(members_and_records_go_together)
{
    char out[2048];
    size_t n, second = (size_t)(strstr(three + 1, "WARC/1.1") - three);

    n = pack_member(three, sizeof three - 1, out, sizeof out);
    assert_string_equal(check_bytes(out, n),
                        "0 several records in one gzip member\n");
    assert_int_equal(counts.records, 3);

    n = pack_member(three, second - 5, out, sizeof out);
    n += pack_member(three + second - 5, 5, out + n, sizeof out - n);
    assert_non_null(strstr(check_bytes(out, n),
                           "the record goes on in the next gzip member"));
    n = pack_member(three, second, out, sizeof out);
    n += pack_member(three, 0, out + n, sizeof out - n);
    assert_non_null(strstr(check_bytes(out, n), "an empty gzip member"));
    n = pack_member(three, second - 6, out, sizeof out);
    assert_non_null(
        strstr(check_bytes(out, n), "the block is 2 bytes shorter than"));
    n = pack_member(three, second, out, sizeof out);
    memcpy(out + n, "garbage", 7);
    assert_non_null(
        strstr(check_bytes(out, n + 7), "7 bytes are not a gzip member"));
    assert_non_null(strstr(check_bytes("", 0), "the file is empty"));
    assert_non_null(strstr(check_bytes("hello", 5), "no record begins here"));
}

TEST(a_revisit_of_another_payload_is_a_fault)
{
    struct warc_exchange x = sample_page("http://a.example/");
    struct warc_packed p = { .digest = "" };
    struct buffer all = { .bytes = NULL };
    struct warc_packer *packer;

    assert_int_equal(warc_packer_new(&packer, 0, NULL), SEEN_OK);
    x.payload = x.body = span_of("another page......");
    warc_pack(packer, &p, &x, NULL);
    buffer_append(&all, &p.bytes);
    x = sample_revisit("http://a.example/", WARC_IDENTICAL);
    warc_pack(packer, &p, &x, NULL);
    buffer_append(&all, &p.bytes);
    check_bytes(all.bytes, all.len);
    assert_non_null(strstr(said, "it refers by URL and date to a record with "
                                 "another payload digest"));
    x = sample_revisit("http://b.example/", WARC_IDENTICAL);
    warc_pack(packer, &p, &x, NULL);
    check_bytes(p.bytes.bytes, p.bytes.len);
    assert_non_null(strstr(said, "note: the record that it refers to by URL "
                                 "and date is not in these files"));
    assert_int_equal(counts.faults, 0);
    warc_packed_clear(&p);
    buffer_clear(&all);
    warc_packer_free(packer);
}

/* --- the index --- */

static struct warc_lines lines;

static const char *check_index(const char *text, size_t len)
{
    struct warc_check *c;

    put("x.warc", file.bytes, file.len);
    put("index.cdxj", text, len);
    said[0] = '\0';
    assert_int_equal(warc_check_new(&c, keep, NULL, NULL), SEEN_OK);
    assert_int_equal(warc_check_file(c, path_of("x.warc"), &counts, NULL),
                     SEEN_OK);
    assert_int_equal(warc_check_index(c, path_of("index.cdxj"), &lines, NULL),
                     SEEN_OK);
    warc_check_free(c);
    return said;
}

TEST(every_line_of_the_index_leads_to_its_record)
{
    static const struct {
        const char *from, *to, *fault;
    } cases[] = {
        { "\"http://a.example/\"", "\"http://a.example/x\"",
          "the record there has another URL" },
        { "example,a)/ ", "example,b)/ ", "note: its key is not that" },
        { "20260102030405", "20260102030404",
          "the record there has another date: 20260102030405" },
        { SAMPLE_DIGEST, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
          "the record there has another digest" },
        { SAMPLE_DIGEST, "sha1:" SAMPLE_DIGEST, NULL },
        { "\"digest\": \"" SAMPLE_DIGEST "\", ", "", NULL },
        { "\"length\": \"", "\"length\": \"1", "has another length" },
        { "\"offset\": \"", "\"offset\": \"1", "no record begins at byte" },
        { "x.warc\"", "y.warc\"", "it points to y.warc, which was not" },
        { "x.warc\"", "a/x.warc\"", NULL },
        { "\"200\"", "200", NULL },
        { "\"200\"", "\"404\"", "the record there has another status: 200" },
        { "text/html", "warc/revisit", "the record there is not a revisit" },
        { "{", "", "not a line of CDXJ" },
        { "\"url\"", "\"uri\"", "it lacks url, filename or offset" },
    };

    pack_file();
    assert_string_equal(check_index(index_lines.bytes, index_lines.len), "");
    assert_int_equal(lines.lines, 5);
    assert_int_equal(lines.unindexed, 0);
    assert_true(lines.unsorted);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t first = (size_t)((char *)memchr(index_lines.bytes, '\n',
                                               index_lines.len) -
                                index_lines.bytes) +
                       1;
        char text[1024], *at;
        int n;

        snprintf(text, sizeof text, "%.*s", (int)first, index_lines.bytes);
        at = strstr(text, cases[i].from);
        assert_non_null(at);
        memmove(at + strlen(cases[i].to), at + strlen(cases[i].from),
                strlen(at + strlen(cases[i].from)) + 1);
        memcpy(at, cases[i].to, strlen(cases[i].to));
        n = (int)strlen(text);
        check_index(text, (size_t)n);
        if (cases[i].fault ? !strstr(said, cases[i].fault) : *said)
            fail_msg("%s%s", text, said);
        assert_int_equal(lines.lines, 1);
    }
    check_index("\n", 1);
    assert_int_equal(lines.unindexed, 5);
}

static int finish(void **state)
{
    buffer_clear(&file);
    buffer_clear(&index_lines);
    return folder_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_held_against_the_standard),
        cmocka_unit_test(headers_are_not_read_past_their_end),
        cmocka_unit_test(dates_and_brackets_of_the_older_version_differ),
        cmocka_unit_test(payloads_are_bodies_without_chunks),
        cmocka_unit_test(a_plain_file_goes_on_after_damage),
        cmocka_unit_test(a_torn_tail_is_reported_with_its_byte),
        cmocka_unit_test(a_hostile_file_is_not_read_again_and_again),
        cmocka_unit_test(what_we_write_is_without_a_fault_or_note),
        cmocka_unit_test(every_changed_byte_of_a_packed_file_is_found),
        cmocka_unit_test(a_packed_file_that_is_cut_anywhere_is_torn_there),
        cmocka_unit_test(members_and_records_go_together),
        cmocka_unit_test(a_revisit_of_another_payload_is_a_fault),
        cmocka_unit_test(every_line_of_the_index_leads_to_its_record),
    };

    return cmocka_run_group_tests(tests, folder_make, finish);
}
