/* layout_test.c - what a file is, from its first bytes. */
#include "test/wall.h"

#include <string.h>

#include <seen/cdx.h>

#include "lib/cdx/line.h"
#include "lib/cdx/source.h"

#define LINE11 \
    "hr,nsk)/ 20200101000000 http://nsk.hr/ text/html 200 AAAA - - 1 2 " \
    "f.warc.gz\n"

static const struct {
    const char *text;
    enum seen_format format;
    unsigned columns;
    int key, url, timestamp, mime, status;
} cases[] = {
    { " CDX N b a m s k r M S V g\n" LINE11, SEEN_FORMAT_CDX, 11, 0, 2, 1, 3,
      4 },
    { LINE11, SEEN_FORMAT_CDX, 11, 0, 2, 1, 3, 4 },
    { "\tCDX\tb\ta\tN\ts\n20200101000000\thttp://a/\ta)/\t200\n",
      SEEN_FORMAT_CDX, 4, 2, 1, 0, -1, 3 },
    { " CDX a b a m s k r M V g u\n"
      "http://a.hr/ 20200101000000 http://a.hr/ text/html 200 A - - 1 f u\n",
      SEEN_FORMAT_CDX, 11, -1, 0, 1, 3, 4 },
    { "hr,nsk)/ 20200101000000 http://nsk.hr/ text/html 200 AAAA 512\n",
      SEEN_FORMAT_CDX, 7, 0, 2, 1, 3, 4 },
    { "hr,nsk)/ 20200101000000 http://nsk.hr/ text/html 200 AAAA - 2 f\n",
      SEEN_FORMAT_CDX, 9, 0, 2, 1, 3, 4 },
    { "hr,nsk)/ 20200101000000 http://nsk.hr/ text/html 200 AAAA - - 2 f\n",
      SEEN_FORMAT_CDX, 10, 0, 2, 1, 3, 4 },
    { "hr,nsk)/ 20200101000000 http://nsk.hr/ text/html 200 A - - 1 2 f 1 2 "
      "f\n",
      SEEN_FORMAT_CDX, 14, 0, 2, 1, 3, 4 },
    { "nsk.hr/ 20200101000000 1.2.3.4 http://nsk.hr/ text/html 200 c k - 1 2 "
      "3 4 f - 5\n",
      SEEN_FORMAT_CDX, 16, -1, 3, 1, 4, 5 },
    { "http://nsk.hr/ 1.2.3.4 20200101000000 text/html 512 f.arc 77\n",
      SEEN_FORMAT_CDX, 7, -1, 0, 2, 3, -1 },
    { "http://nsk.hr/ 1.2.3.4 20200101000000 text/html 512 f.arc 77 abc\n",
      SEEN_FORMAT_CDX, 8, -1, 0, 2, 3, -1 },
    { "hr,nsk)/ 20200101000000 {\"url\": \"http://nsk.hr/\"}\n",
      SEEN_FORMAT_CDXJ, 0, -1, 0, -1, -1, -1 },
    { "!meta {\"a\": 1}\nhr,nsk)/ 20200101000000 {}\n", SEEN_FORMAT_CDXJ, 0,
      -1, 0, -1, -1, -1 },
    { "(hr,nsk,)/ 2015-09-03T13:27:52Z response {\"uri\": \"http://a/\"}\n",
      SEEN_FORMAT_CDXJ, 0, -1, 0, -1, -1, -1 },
    { "hr,nsk)/ 20200101000000\tcdx-00000.gz\t0\t188224\t1\n",
      SEEN_FORMAT_ZIPNUM, 0, -1, 0, -1, -1, -1 },
    { "WARC/1.0\r\nWARC-Type: warcinfo\r\n", SEEN_FORMAT_WARC, 0, -1, 0, -1,
      -1, -1 },
    { "http://a.example/\nhttp://b.example/ c\n", SEEN_FORMAT_URLS, 0, -1, 0,
      -1, -1, -1 },
    { "", SEEN_FORMAT_URLS, 0, -1, 0, -1, -1, -1 },
    { "\n\n\n", SEEN_FORMAT_URLS, 0, -1, 0, -1, -1, -1 },
    /* The complaint of a tool does not outvote what follows it. */
    { "java.io.IOException: not in GZIP format\n" LINE11 LINE11,
      SEEN_FORMAT_CDX, 11, 0, 2, 1, 3, 4 },
    { "java.io.IOException\n CDX N b a\na)/ 2020 http://a/\n", SEEN_FORMAT_CDX,
      3, 0, 2, 1, -1, -1 },
};

TEST(the_bytes_tell_what_a_file_is)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct seen_layout l;

        cdx_layout_guess(&l, cases[i].text, strlen(cases[i].text));
        if (l.format != cases[i].format || l.columns != cases[i].columns)
            print_error("%s", cases[i].text);
        assert_int_equal(l.format, cases[i].format);
        assert_int_equal(l.columns, cases[i].columns);
        assert_int_equal(l.key, cases[i].key);
        assert_int_equal(l.url, cases[i].url);
        assert_int_equal(l.timestamp, cases[i].timestamp);
        assert_int_equal(l.mime, cases[i].mime);
        assert_int_equal(l.status, cases[i].status);
    }
}

TEST(a_file_that_ends_within_a_line_is_still_told)
{
    struct seen_layout l;

    for (size_t n = 40; n < sizeof LINE11 - 1; n++) {
        cdx_layout_guess(&l, LINE11 LINE11, sizeof LINE11 - 1 + n);
        assert_int_equal(l.format, SEEN_FORMAT_CDX);
        assert_int_equal(l.columns, 11);
    }
}

/* What a file of 8 KiB of binary data is that begins so. */
static const struct {
    const char *begins;
    const char *foreign; /* or NULL, and then: */
    enum seen_format format;
} binaries[] = {
    { "", "binary data", 0 },
    { "WARC", "binary data", 0 },
    { "warc/1.0\r\n", "binary data", 0 },
    { "x\nWARC/1.0\r\n", "binary data", 0 },
    { "http://a.example/\n", "binary data", 0 },
    { LINE11, "binary data", 0 },
    { "\x89PNG\r\n", "a PNG image", 0 },
    { "<html>", "HTML or XML", 0 },
    { "\xef\xbb\xbf<html>", "HTML or XML", 0 },
    { "BZh91AY&SY", "packed by bzip2", 0 },
    { "WARC/", NULL, SEEN_FORMAT_WARC },
    { "WARC/1.0\r\nWARC-Type: response\r\n", NULL, SEEN_FORMAT_WARC },
    { "WARC/1.1\r\nWARC-Type: warcinfo\r\n", NULL, SEEN_FORMAT_WARC },
    { "\r\n\r\nWARC/1.0\r\n", NULL, SEEN_FORMAT_WARC },
    { "\n\nWARC/1.0\n", NULL, SEEN_FORMAT_WARC },
    { "\xef\xbb\xbfWARC/1.0\r\n", NULL, SEEN_FORMAT_WARC },
    { "\xef\xbb\xbf\r\nWARC/1.0\r\n", NULL, SEEN_FORMAT_WARC },
    { "filedesc:", NULL, SEEN_FORMAT_ARC },
    { "filedesc://a.arc 0.0.0.0 20080101000000 text/plain 65\n1 0 Test\n",
      NULL, SEEN_FORMAT_ARC },
    { "\nfiledesc://a.arc 0.0.0.0 20080101000000 text/plain 65\n2 0 Test\n",
      NULL, SEEN_FORMAT_ARC },
};

TEST(records_are_recognised_whatever_is_in_them)
{
    static char text[8192];

    for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++) {
        struct seen_layout l;
        size_t len = strlen(binaries[i].begins);
        const char *name;

        for (size_t at = 0; at < sizeof text; at++)
            text[at] = (char)(at * 167 % 251);
        memcpy(text, binaries[i].begins, len);
        name = cdx_recognise(&l, walled(text, sizeof text), sizeof text);
        if (!name || !binaries[i].foreign)
            assert_ptr_equal(name, binaries[i].foreign);
        else
            assert_string_equal(name, binaries[i].foreign);
        if (!name)
            assert_int_equal(l.format, binaries[i].format);
    }
}

TEST(a_file_of_any_length_is_recognised_within_its_bytes)
{
    for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++)
        for (size_t n = 0; n <= strlen(binaries[i].begins); n++) {
            struct seen_layout l;

            cdx_recognise(&l, walled(binaries[i].begins, n), n);
        }
}

TEST(a_name_says_otherwise_by_its_suffix)
{
    static const char *const otherwise[] = {
        "a.html",         "x/a.PNG",      "a.css.gz",  "a.b.mp4",
        "state.db-wal",   "f.seen",       "f.seen.gz", "f.seen.journal",
        "a.wacz:x/b.pdf", "x.cdx/a.html", ".a.jpeg",
    };
    static const char *const not [] = {
        "",           "a",          "html",       ".html",
        "a.",         "a.cdx",      "a.cdx.gz",   "a.warc.gz",
        "a.arc.gz",   "a.wacz",     "a.gz",       "a.html/b",
        "urls.txt",   "urls.csv",   "a.cdxj.zst", "a.warc.open",
        "a.html.cdx", "a.seen.1.2", "a.htmlx",    "a.ht",
    };

    for (size_t i = 0; i < sizeof otherwise / sizeof otherwise[0]; i++)
        if (!cdx_named_otherwise(otherwise[i]))
            fail_msg("%s", otherwise[i]);
    for (size_t i = 0; i < sizeof not / sizeof not [0]; i++)
        if (cdx_named_otherwise(not [i]))
            fail_msg("%s", not [i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_tell_what_a_file_is),
        cmocka_unit_test(a_file_that_ends_within_a_line_is_still_told),
        cmocka_unit_test(records_are_recognised_whatever_is_in_them),
        cmocka_unit_test(a_file_of_any_length_is_recognised_within_its_bytes),
        cmocka_unit_test(a_name_says_otherwise_by_its_suffix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
