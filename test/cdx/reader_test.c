/*
 * reader_test.c - files, however they are packed, give the lines they have:
 * each once, whatever the pieces.
 */
#include "test/folder.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <seen/cdx.h>

#include "lib/cdx/scan.h"

/* --- making files --- */

static void put(const char *name, const void *bytes, size_t len,
                const char *mode)
{
    FILE *file = fopen(name, mode);

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* A gzip member, packed. */
static void put_member(const char *name, const char *text, size_t len)
{
    struct isal_zstream z;
    size_t room = len + len / 8 + 1024;
    unsigned char *out = malloc(room);

    assert_non_null(out);
    isal_deflate_stateless_init(&z);
    z.gzip_flag = IGZIP_GZIP;
    z.end_of_stream = 1;
    z.flush = NO_FLUSH;
    z.next_in = memcpy(malloc(len + 1), text, len);
    z.avail_in = (uint32_t)len;
    z.next_out = out;
    z.avail_out = (uint32_t)room;
    {
        unsigned char *in = z.next_in;

        assert_int_equal(isal_deflate_stateless(&z), COMP_OK);
        free(in);
    }
    put(name, out, z.total_out, "ab");
    free(out);
}

/* A gzip member, stored: what is in it stands there as it is. */
static void put_stored(const char *name, const unsigned char *bytes,
                       size_t len)
{
    static const unsigned char head[] = {
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255
    };
    uint32_t crc = crc32_gzip_refl(0, bytes, len);
    FILE *file = fopen(name, "ab");

    assert_non_null(file);
    fwrite(head, 1, sizeof head, file);
    for (size_t at = 0; at < len;) {
        size_t n = len - at < 65535 ? len - at : 65535;
        unsigned char b[] = { at + n == len, n & 255, n >> 8 & 255, ~n & 255,
                              ~n >> 8 & 255 };

        fwrite(b, 1, sizeof b, file);
        fwrite(bytes + at, 1, n, file);
        at += n;
    }
    fwrite(&crc, 1, 4, file);
    fwrite(&(uint32_t){ (uint32_t)len }, 1, 4, file);
    fclose(file);
}

/* --- reading them --- */

struct sum {
    uint64_t lines, captures, faults, urls; /* the last: a sum of hashes */
    uint64_t damaged, skipped;
    unsigned pieces, voids;
    enum seen_code code; /* the last that was not SEEN_OK */
    struct seen_error why;
};

static void read_piece(struct seen_reader *r, struct sum *s)
{
    struct seen_capture c;

    while (seen_reader_fill(r))
        while (seen_reader_next(r, &c)) {
            struct seen_span text = c.key.len ? c.key : c.url;
            struct seen_key key;

            s->faults += c.fault != NULL;
            s->captures += !c.fault;
            seen_key_hash(&key, text.text, text.len);
            s->urls += c.fault ? 0 : key.lo;
        }
    s->lines = seen_reader_piece(r)->lines;
    s->damaged = seen_reader_piece(r)->damaged;
    s->skipped = seen_reader_piece(r)->skipped;
    if (seen_reader_end(r, &s->why) != SEEN_OK)
        s->code = seen_reader_end(r, NULL);
}

static struct sum read_as(enum seen_detail detail, const char *name)
{
    struct seen_source *source;
    struct seen_reader *r;
    struct sum all = { 0 };
    bool more;

    assert_int_equal(seen_source_open(&source, &name, 1, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_reader_new(&r, source, detail, NULL), SEEN_OK);
    while (assert_int_equal(seen_source_next(source, r, &more, NULL), SEEN_OK),
           more) {
        struct sum s = { 0 };

        read_piece(r, &s);
        all.pieces++;
        if (!seen_source_fold(source, r)) {
            all.voids++;
            continue;
        }
        all.lines += s.lines;
        all.captures += s.captures;
        all.faults += s.faults;
        all.urls += s.urls;
        all.damaged += s.damaged;
        all.skipped += s.skipped;
        if (s.code != SEEN_OK) {
            all.code = s.code;
            all.why = s.why;
        }
    }
    seen_reader_free(r);
    seen_source_close(source);
    return all;
}

static struct sum read_all(const char *name)
{
    struct sum a = read_as(SEEN_DETAIL_KEY, name);
    struct sum b = read_as(SEEN_DETAIL_ALL, name);

    assert_int_equal(a.lines, b.lines);
    assert_int_equal(a.urls, b.urls);
    return a;
}

static void alike(struct sum a, struct sum b)
{
    assert_int_equal(a.lines, b.lines);
    assert_int_equal(a.captures, b.captures);
    assert_int_equal(a.faults, b.faults);
    assert_int_equal(a.urls, b.urls);
}

/* A CDX file of n lines; its text belongs to the caller. */
static char *make_cdx(size_t n, size_t *len)
{
    char *text = malloc(n * 160), *at = text;

    assert_non_null(text);
    for (size_t i = 0; i < n; i++)
        at += sprintf(at,
                      "hr,host%zu)/path/%zu 20200101000000 "
                      "http://host%zu.hr/path/%zu text/html 200 %.*s - - %zu "
                      "%zu f.warc.gz\n",
                      i / 7, i, i / 7, i, (int)(i % 32),
                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", i % 9999, i);
    *len = (size_t)(at - text);
    return text;
}

TEST(the_packing_of_a_file_does_not_matter)
{
    size_t len;
    char *text = make_cdx(300000, &len), *packed = malloc(len);
    struct sum plain;

    put("plain", text, len, "wb");
    assert_true(len > 1u << 24); /* two pieces */
    plain = read_all("plain");
    assert_int_equal(plain.lines, 300000);
    assert_int_equal(plain.captures, 300000);
    assert_int_equal(plain.pieces, len / (1 << 24) + 1);

    put_member("one.gz", text, len);
    alike(plain, read_all("one.gz"));

    /* Members that end where lines do not, as bgzip makes them. */
    for (size_t at = 0; at < len; at += 65280)
        put_member("blocks.gz", text + at,
                   len - at < 65280 ? len - at : 65280);
    alike(plain, read_all("blocks.gz"));

    put("zeros.gz", "", 0, "wb");
    put_member("zeros.gz", text, len);
    put("zeros.gz", (char[1000]){ 0 }, 1000, "ab");
    alike(plain, read_all("zeros.gz"));
    assert_int_equal(read_all("zeros.gz").code, SEEN_OK);

    put("one.zst", packed, ZSTD_compress(packed, len, text, len / 2, 1), "wb");
    put("one.zst", packed,
        ZSTD_compress(packed, len, text + len / 2, len - len / 2, 1), "ab");
    alike(plain, read_all("one.zst"));
    free(text);
    free(packed);
}

/*
 * Files put together: a legend, 20 MB, another legend and lines of its own,
 * the first legend again and 20 MB. Three pieces; the third begins behind
 * all legends, and neither it nor any other must know of them.
 */
TEST(a_legend_in_the_middle_is_passed_over_or_told_in_any_piece)
{
    static const char first[] = " CDX N b a m s k r M S V g\n";
    static const char other[] =
        " CDX N b a m s k r V g\n"
        "a)/1 20200101000000 http://a/1 t 200 K - 1 g\n"
        "a)/2 20200101000000 http://a/2 t 200 K - 1 g\n";
    size_t len;
    char *text = make_cdx(180000, &len);
    struct sum alone, both;

    put("alone", first, sizeof first - 1, "wb");
    put("alone", text, len, "ab");
    put("alone", text, len, "ab");
    alone = read_all("alone");
    assert_int_equal(alone.captures, 360000);
    assert_int_equal(alone.faults, 0);

    put("both", first, sizeof first - 1, "wb");
    put("both", text, len, "ab");
    put("both", other, sizeof other - 1, "ab");
    put("both", first, sizeof first - 1, "ab");
    put("both", text, len, "ab");
    both = read_all("both");
    assert_true(both.pieces >= 3);
    assert_int_equal(both.faults, 3);
    assert_int_equal(both.captures, alone.captures);
    assert_int_equal(both.urls, alone.urls);

    put_member("both.gz", first, sizeof first - 1);
    put_member("both.gz", text, len);
    put_member("both.gz", other, sizeof other - 1);
    put_member("both.gz", first, sizeof first - 1);
    put_member("both.gz", text, len);
    alike(both, read_all("both.gz"));
    free(text);
}

TEST(many_members_are_many_pieces_and_none_is_void)
{
    size_t len;
    char *text = make_cdx(200000, &len);
    struct sum plain, packed;

    put("p", text, len, "wb");
    plain = read_all("p");
    for (size_t at = 0; at < len; at += 100000)
        put_stored("s.gz", (unsigned char *)text + at,
                   len - at < 100000 ? len - at : 100000);
    packed = read_all("s.gz");
    alike(plain, packed);
    assert_true(packed.pieces >= 4);
    assert_int_equal(packed.voids, 0);
    free(text);
}

/*
 * A gzip file within a stored member shows members that are none of the
 * file's. With 6 MiB of them, a piece begins within, and must be void.
 */
TEST(members_within_members_are_void)
{
    size_t len, inner_len;
    char *text = make_cdx(120000, &len);
    unsigned char *inner;
    struct sum s;
    FILE *file;

    for (size_t at = 0; at < len; at += 50000)
        put_stored("inner.gz", (unsigned char *)text + at,
                   len - at < 50000 ? len - at : 50000);
    file = fopen("inner.gz", "rb");
    fseek(file, 0, SEEK_END);
    inner_len = (size_t)ftell(file);
    rewind(file);
    inner = malloc(inner_len);
    assert_int_equal(fread(inner, 1, inner_len, file), inner_len);
    fclose(file);

    put_stored("nested.gz", (const unsigned char *)text, 300);
    put_stored("nested.gz", inner, inner_len);
    put_stored("nested.gz", (const unsigned char *)"\n", 1);
    put_member("nested.gz", text, len);
    s = read_as(SEEN_DETAIL_KEY, "nested.gz");
    assert_true(s.voids >= 1);
    assert_int_equal(s.code, SEEN_OK);
    put("flat", text, 300, "wb");
    put("flat", inner, inner_len, "ab");
    put("flat", "\n", 1, "ab");
    put("flat", text, len, "ab");
    alike(s, read_as(SEEN_DETAIL_KEY, "flat"));
    free(inner);
    free(text);
}

TEST(what_is_cut_or_damaged_is_read_up_to_there_and_told)
{
    size_t len;
    char *text = make_cdx(1000, &len);
    struct sum s;
    struct stat it;

    put_member("cut.gz", text, len);
    assert_int_equal(stat("cut.gz", &it), 0);
    for (off_t n = it.st_size - 1; n > 20; n -= 1997) {
        assert_int_equal(truncate("cut.gz", n), 0);
        s = read_as(SEEN_DETAIL_KEY, "cut.gz");
        assert_int_equal(s.code, SEEN_CORRUPT);
        assert_true(s.captures <= 1000);
    }
    put_member("junk.gz", text, len);
    put("junk.gz", "junk", 4, "ab");
    s = read_as(SEEN_DETAIL_KEY, "junk.gz");
    assert_int_equal(s.code, SEEN_CORRUPT);
    assert_int_equal(s.captures, 1000);
    free(text);
}

TEST(a_line_that_is_cut_is_no_line)
{
    static const char text[] = "http://a.example/1\nhttp://a.example/22";
    struct sum s;
    struct stat it;

    put_member("line.gz", text, sizeof text - 1);
    assert_int_equal(read_all("line.gz").captures, 2);
    assert_int_equal(stat("line.gz", &it), 0);
    assert_int_equal(truncate("line.gz", it.st_size - 1), 0);
    s = read_all("line.gz");
    assert_int_equal(s.captures, 1);
    assert_int_equal(s.code, SEEN_CORRUPT);
}

TEST(a_file_that_becomes_shorter_is_not_whole)
{
    const char *name = "shrinks";
    size_t len;
    char *text = make_cdx(1000, &len);
    struct seen_source *source;
    struct seen_reader *r;
    struct sum s = { 0 };
    bool more;

    put(name, text, len, "wb");
    assert_int_equal(seen_source_open(&source, &name, 1, NULL, NULL), SEEN_OK);
    assert_int_equal(truncate(name, (off_t)len / 2), 0);
    assert_int_equal(seen_reader_new(&r, source, SEEN_DETAIL_KEY, NULL),
                     SEEN_OK);
    assert_int_equal(seen_source_next(source, r, &more, NULL), SEEN_OK);
    read_piece(r, &s);
    assert_int_equal(s.code, SEEN_CORRUPT);
    assert_true(s.captures > 400 && s.captures < 600);
    seen_reader_free(r);
    seen_source_close(source);
    free(text);
}

/* --- damaged records --- */

/* Record i, with `size` bytes of content that cannot be packed. */
static size_t make_record(char *to, unsigned i, size_t size)
{
    int n = sprintf(to,
                    "WARC/1.0\r\nWARC-Type: response\r\n"
                    "WARC-Target-URI: http://a.example/%u\r\n"
                    "Content-Length: %zu\r\n\r\n",
                    i, size);

    for (size_t j = 0; j < size; j++)
        to[(size_t)n + j] = (char)('0' + seen_mix(i + 1000 * j) % 64);
    memcpy(to + n + size, "\r\n\r\n", 4);
    return (size_t)n + size + 4;
}

static void spoil(const char *name, long at, int with)
{
    FILE *file = fopen(name, "r+b");

    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    fputc(with, file);
    assert_int_equal(fclose(file), 0);
}

TEST(a_byte_that_is_damaged_costs_few_records)
{
    enum { RECORDS = 40 };
    char text[400];
    size_t len = make_record(text, 10, 200);

    for (size_t at = 0; at < len; at++) {
        static char all[RECORDS * sizeof text];
        size_t sum = 0;
        struct sum s;

        for (unsigned i = 0; i < RECORDS; i++)
            sum += make_record(all + sum, 10 + i, 200);
        all[5 * len + at] = '#';
        put("spoilt", all, sum, "wb");
        s = read_as(SEEN_DETAIL_ALL, "spoilt");
        assert_int_equal(s.code, SEEN_OK);
        assert_true(s.captures >= RECORDS - 1);
        assert_true(s.damaged <= 1);
        assert_true(!s.damaged == !s.skipped);
    }
}

TEST(a_member_that_is_damaged_costs_one_record_in_any_piece)
{
    enum { RECORDS = 100, SIZE = 100000 };
    static char text[SIZE + 400];
    static long at[RECORDS + 1];
    /* Pieces begin in member 41 and in member 83. */
    static const int spoilt[] = { 0, 1, 40, 41, 42, 82, 83, 84, 98 };
    struct stat it;
    struct sum s, whole;

    for (unsigned i = 0; i < RECORDS; i++) {
        put_stored("large.warc.gz", (unsigned char *)text,
                   make_record(text, 10 + i, SIZE));
        assert_int_equal(stat("large.warc.gz", &it), 0);
        at[i + 1] = it.st_size;
    }
    whole = read_as(SEEN_DETAIL_KEY, "large.warc.gz");
    assert_int_equal(whole.captures, RECORDS);
    assert_true(whole.pieces >= 3);
    for (size_t k = 0; k < LENGTH(spoilt); k++) {
        FILE *file = fopen("large.warc.gz", "rb");
        int i = spoilt[k], was;

        /* The last byte of content, the header of the second block. */
        for (int place = 0; place < 2; place++) {
            long here = place ? at[i] + 10 + 5 + 65535 + 2 : at[i + 1] - 20;

            fseek(file, here, SEEK_SET);
            was = fgetc(file);
            spoil("large.warc.gz", here, was ^ 1);
            s = read_as(SEEN_DETAIL_KEY, "large.warc.gz");
            assert_int_equal(s.code, SEEN_OK);
            assert_int_equal(s.captures, RECORDS);
            assert_int_equal(s.faults, 1);
            assert_int_equal(s.damaged, 1);
            assert_int_equal(s.skipped, at[i + 1] - at[i]);
            spoil("large.warc.gz", here, was);
        }
        /* The header of the member: it cannot be unpacked at all. */
        spoil("large.warc.gz", at[i], 'x');
        if (i) {
            s = read_as(SEEN_DETAIL_KEY, "large.warc.gz");
            assert_int_equal(s.captures, RECORDS - 1);
            assert_int_equal(s.damaged, 1);
        }
        spoil("large.warc.gz", at[i], 0x1f);
        fclose(file);
    }
}

TEST(lines_may_end_anyhow_and_be_of_any_length)
{
    static const char crlf[] = "http://a/\r\nhttp://b/\r\n\r\n\nhttp://c/";
    char *line = malloc(3000000);

    put("crlf", crlf, sizeof crlf - 1, "wb");
    assert_int_equal(read_all("crlf").captures, 3);
    assert_int_equal(read_all("crlf").lines, 5);

    memset(line, 'x', 3000000);
    put("long", "http://a/\n", 10, "wb");
    put("long", line, 3000000, "ab");
    put("long", "\nhttp://b/\n", 11, "ab");
    assert_int_equal(read_all("long").captures, 2);
    assert_int_equal(read_all("long").faults, 1);
    for (size_t i = 0; i < 70000; i += 10)
        memcpy(line + i, "http://a/\n", 10);
    put("nul", line, 70000, "wb"); /* more than is looked at first */
    memset(line, 0, 3000000);
    put("nul", line, 3000000, "ab");
    put("nul", "\nhttp://b/\n", 11, "ab");
    assert_int_equal(read_all("nul").captures, 7001);
    assert_int_equal(read_all("nul").faults, 1);
    put("empty", "", 0, "wb");
    assert_int_equal(read_all("empty").lines, 0);
    free(line);
}

#define RECORD(type, uri, body) \
    "WARC/1.0\r\nWARC-Type: " type "\r\nWARC-Target-URI: " uri \
    "\r\nWARC-Date: 2020-01-02T03:04:05Z\r\nContent-Length: " body

TEST(of_a_warc_file_responses_resources_and_revisits_count)
{
    static const char warc[] =
        "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 3\r\n\r\nabc"
        "\r\n\r\n" RECORD("request", "http://a/", "4\r\n\r\nGET \r\n\r\n")
            RECORD("response", "http://a/",
                   "59\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html; "
                   "x=y\r\n\r\nWARC/1.0\r\n\r\n\r\n")
                RECORD("resource", "<http://b/>", "2\r\n\r\nhi\r\n\r\n")
                    RECORD("revisit", "http://c/", "0\r\n\r\n\r\n\r\n")
                        RECORD("metadata", "http://d/", "0\r\n\r\n\r\n\r\n");
    struct sum plain;

    put("w.warc", warc, sizeof warc - 1, "wb");
    plain = read_all("w.warc");
    assert_int_equal(plain.code, SEEN_OK);
    assert_int_equal(plain.lines, 6);
    assert_int_equal(plain.captures, 3);
    put_member("w.warc.gz", warc, sizeof warc - 1);
    alike(plain, read_all("w.warc.gz"));
    for (size_t n = sizeof warc - 20; n > 60; n--) { /* cut anywhere */
        put("w.cut", warc, n, "wb");
        assert_true(read_as(SEEN_DETAIL_ALL, "w.cut").captures <= 3);
    }
}

TEST(the_index_of_a_cluster_stands_for_its_files)
{
    size_t len;
    char *text = make_cdx(100, &len);
    static const char idx[] =
        "hr,host0)/path/0 20200101000000\tcdx-0.gz\t0\t100\t1\n"
        "hr,host9)/path/9 20200101000000\tcdx-0.gz\t100\t100\t2\n"
        "hr,hostz)/ 20200101000000\tcdx-1.gz\t0\t100\t3\n"
        "hr,hostz)/z 20200101000000\tpipe\t0\t100\t4\n";
    const struct seen_error *why;
    struct seen_source *source;
    const char *name;

    mkdir("cluster", 0777);
    put_member("cluster/cdx-0.gz", text, len);
    put("cluster/main.idx", idx, sizeof idx - 1, "wb");
    assert_int_equal(mkfifo("cluster/pipe", 0666), 0); /* has no end */
    assert_int_equal(read_all("cluster/main.idx").captures, 100);
    assert_int_equal(read_all("cluster").captures, 100);
    name = "cluster";
    assert_int_equal(seen_source_open(&source, &name, 1, NULL, NULL), SEEN_OK);
    assert_true(seen_source_fault(source, 0, &name, &why));
    assert_string_equal(name, "cluster/cdx-1.gz");
    assert_true(seen_source_fault(source, 1, &name, &why));
    assert_string_equal(name, "cluster/pipe");
    seen_source_close(source);
    free(text);
}

TEST(folders_are_read_by_name_and_what_is_missing_is_told)
{
    struct seen_source *source;
    struct seen_error why;
    const char *inputs[] = { "dir", "nonesuch" };
    const char *name, *packing;
    const struct seen_layout *layout;

    mkdir("dir", 0777);
    mkdir("dir/b", 0777);
    put("dir/c", "http://c/\n", 10, "wb");
    put("dir/a", "http://a/\n", 10, "wb");
    put("dir/b/x", "http://b/\n", 10, "wb");
    put("dir/.hidden", "http://h/\n", 10, "wb");
    assert_int_equal(read_all("dir").captures, 3);
    assert_int_equal(seen_source_open(&source, inputs, 2, NULL, &why),
                     SEEN_IO);
    assert_int_equal(why.at, 1);
    assert_null(source);
    assert_int_equal(seen_source_open(&source, inputs, 1, NULL, &why),
                     SEEN_OK);
    assert_true(seen_source_file(source, 1, &name, &layout, &packing));
    assert_string_equal(name, "dir/b/x");
    assert_false(seen_source_file(source, 3, &name, &layout, &packing));
    seen_source_close(source);
}

TEST(a_source_goes_on_from_any_mark)
{
    size_t len;
    char *text = make_cdx(300000, &len);
    const char *name = "marks.gz";
    struct sum whole;

    for (size_t at = 0; at < len; at += 90000)
        put_stored(name, (unsigned char *)text + at,
                   len - at < 90000 ? len - at : 90000);
    whole = read_as(SEEN_DETAIL_KEY, name);
    for (unsigned stop = 0; stop <= whole.pieces; stop++) {
        struct seen_mark mark = { 0, UINT64_MAX };
        uint64_t captures = 0, urls = 0;

        for (int half = 0; half < 2; half++) {
            struct seen_source *source;
            struct seen_reader *r;
            bool more;

            seen_source_open(&source, &name, 1, NULL, NULL);
            seen_source_skip(source, mark);
            seen_reader_new(&r, source, SEEN_DETAIL_KEY, NULL);
            for (unsigned i = 0; half || i < stop; i++) {
                struct sum s = { 0 };

                seen_source_next(source, r, &more, NULL);
                if (!more)
                    break;
                read_piece(r, &s);
                if (!seen_source_fold(source, r))
                    continue;
                captures += s.captures;
                urls += s.urls;
            }
            mark = seen_source_mark(source);
            seen_reader_free(r);
            seen_source_close(source);
        }
        assert_int_equal(captures, whole.captures);
        assert_int_equal(urls, whole.urls);
    }
    free(text);
}

/* Bytes that matter, in any order: most of them end a host or a line. */
static void scramble(char *text, size_t len, uint64_t x)
{
    static const char bytes[] = "ab,,.)/?) \n\r\001\x7f\xc4z09-_:A";

    for (size_t i = 0; i < len; i++) {
        if (i % 12 == 0)
            x = seen_mix(x + i);
        text[i] = x % 4 ? 'a' : bytes[x / 4 % (sizeof bytes - 1)];
        x /= 36;
    }
}

TEST(all_scanners_agree_on_keys)
{
    char text[256 + 64] = { 0 };

    for (uint64_t round = 0; round < 20000; round++) {
        uint64_t x = seen_mix(round + 1);
        size_t len = x % 200;
        struct cdx_key_scan key;

        scramble(text, len, x);
        cdx_scanner_portable.key(&key, text, len, ' ');
        for (const struct cdx_scanner *const *s = cdx_scanner_all(); *s; s++) {
            struct cdx_key_scan k;

            (*s)->key(&k, text, len, ' ');
            assert_int_equal(k.len, key.len);
            assert_int_equal(k.controls, key.controls);
            if (k.surt != key.surt)
                print_error("%.*s\n", (int)len, text);
            assert_int_equal(k.surt, key.surt);
        }
    }
}

/* The lines of text[from..end): checked against a plain loop, and against the
   bytes past the end, which look like lines. */
static void check_lines(const struct cdx_scanner *s, const char *text,
                        size_t from, size_t end, char delimiter)
{
    static struct cdx_lines l;
    uint32_t cuts = 0, before = 0;

    cdx_lines_begin(&l, from);
    for (size_t at = from; at < end; at++) {
        size_t stop = at;

        for (cuts = 0; stop < end && text[stop] != '\n'; stop++)
            cuts += text[stop] == delimiter;
        while (l.next == l.n) {
            assert_true(l.at < end);
            s->lines(&l, text, end, delimiter);
        }
        assert_int_equal(l.end[l.next].at, stop);
        assert_int_equal(l.end[l.next].cuts - before, cuts);
        before = l.end[l.next++].cuts;
        at = stop;
    }
    assert_int_equal(l.next, l.n);
    s->lines(&l, text, end, delimiter);
    assert_int_equal(l.n, 0);
}

TEST(all_scanners_find_the_same_lines)
{
    const size_t most = 3 * CDX_STRETCH + 100;
    char *text = malloc(most + 64);

    for (const struct cdx_scanner *const *s = cdx_scanner_all(); *s; s++) {
        for (uint64_t round = 0; round < 2000; round++) {
            size_t end = seen_mix(round) % 300;

            scramble(text, end + 64, seen_mix(round + 7));
            check_lines(*s, text, end ? round % end : 0, end,
                        round % 2 ? ' ' : '\n');
        }
        for (size_t end = most - 70; end <= most; end += 7) {
            memset(text, '\n', most + 64); /* more than fit in a stretch */
            check_lines(*s, text, 0, end, ' ');
            memset(text, ' ', most + 64); /* one line of many stretches */
            check_lines(*s, text, 3, end, ' ');
            scramble(text, most + 64, end);
            check_lines(*s, text, 1, end, ' ');
        }
    }
    free(text);
}

/* Lines of CDX or CDXJ, three for each key of up to 90 bytes; some bytes are
   others. Returns where the last line ends. */
static size_t put_lines(char *text, size_t most, uint64_t seed, bool json)
{
    size_t at = 0;

    for (uint64_t i = 0; at + 200 < most; i++) {
        int path = (int)(seen_mix(seed + i / 3) % 90);
        uint64_t x = seen_mix(seed ^ i);
        size_t line = at;

        at += (size_t)sprintf(text + at, "com,a)/%.*s%s", path,
                              "a/b/c/d-e-f-g-h/i-j-k-l-m-n-o-p-q/r-s-t-u-v-w-"
                              "x-y-z/0123456789/a-b-c-d-e-f-g-h-i-j-k-l",
                              json ? " 20200101000000 {\"a\": \"b c\"}\n"
                                   : " 20200101000000 b c\n");
        if (x % 16 == 0)
            text[line + x / 16 % (at - line)] = "\001 /\n-"[x / 4096 % 5];
    }
    return at;
}

/* Take all lines of a text, those that are not good by one; the keys and what
   was taken by each call as a hash. */
static uint64_t pick_all(const struct cdx_scanner *s, const char *text,
                         size_t end, uint64_t seed, unsigned columns)
{
    static struct cdx_lines l;
    struct cdx_pick pick[16];
    struct cdx_picks p = {
        .text = text, .columns = columns, .delimiter = ' ', .pick = pick
    };
    uint64_t sum = 0, taken = 0, calls = 0;

    cdx_lines_begin(&l, 0);
    while (p.at < end) {
        uint64_t x = seen_mix(seed + calls++);

        while (l.next == l.n)
            cdx_scanner_portable.lines(&l, text, end, columns ? ' ' : '\n');
        p.most = x % 40;
        p.last = p.at + x / 40 % 4000;
        p.room = (unsigned)(x / 160000 % 17);
        p.n = 0;
        s->picks(&l, &p);
        taken += x % 40 - p.most;
        sum = seen_mix(sum ^ p.most) + p.before_len;
        for (unsigned i = 0; i < p.n; i++)
            sum = seen_mix(sum ^ pick[i].at ^ (uint64_t)pick[i].key << 24 ^
                           (uint64_t)pick[i].line << 40);
        if (l.next < l.n) { /* what stopped it, or the one after */
            p.cuts = l.end[l.next].cuts;
            p.at = (size_t)l.end[l.next++].at + 1;
        }
    }
    assert_true(taken > calls); /* most lines are good */
    return seen_mix(sum ^ taken) ^ calls;
}

TEST(all_scanners_take_the_same_lines)
{
    const size_t most = 40000;
    char *text = malloc(most + 64);

    for (uint64_t seed = 0; seed < 60; seed++) {
        unsigned columns = seed % 2 ? 0 : 4;
        size_t end = put_lines(text, most, seed, !columns);
        uint64_t sum = pick_all(&cdx_scanner_portable, text, end, seed,
                                columns);

        for (const struct cdx_scanner *const *s = cdx_scanner_all(); *s; s++)
            assert_int_equal(pick_all(*s, text, end, seed, columns), sum);
    }
    free(text);
}

TEST(texts_are_the_same_up_to_their_length)
{
    char a[200], b[200];

    memset(a, 'x', sizeof a);
    memset(b, 'x', sizeof b);
    for (size_t len = 0; len < 130; len++)
        for (size_t at = 0; at < len + 3; at++) {
            b[at] = 'y';
            assert_int_equal(cdx_same(a, b, len), at >= len);
            b[at] = 'x';
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_packing_of_a_file_does_not_matter),
        cmocka_unit_test(
            a_legend_in_the_middle_is_passed_over_or_told_in_any_piece),
        cmocka_unit_test(many_members_are_many_pieces_and_none_is_void),
        cmocka_unit_test(members_within_members_are_void),
        cmocka_unit_test(what_is_cut_or_damaged_is_read_up_to_there_and_told),
        cmocka_unit_test(a_line_that_is_cut_is_no_line),
        cmocka_unit_test(a_file_that_becomes_shorter_is_not_whole),
        cmocka_unit_test(a_byte_that_is_damaged_costs_few_records),
        cmocka_unit_test(
            a_member_that_is_damaged_costs_one_record_in_any_piece),
        cmocka_unit_test(lines_may_end_anyhow_and_be_of_any_length),
        cmocka_unit_test(
            of_a_warc_file_responses_resources_and_revisits_count),
        cmocka_unit_test(the_index_of_a_cluster_stands_for_its_files),
        cmocka_unit_test(folders_are_read_by_name_and_what_is_missing_is_told),
        cmocka_unit_test(a_source_goes_on_from_any_mark),
        cmocka_unit_test(all_scanners_agree_on_keys),
        cmocka_unit_test(all_scanners_find_the_same_lines),
        cmocka_unit_test(all_scanners_take_the_same_lines),
        cmocka_unit_test(texts_are_the_same_up_to_their_length),
    };

    return cmocka_run_group_tests(tests, folder_enter, folder_remove);
}
