/*
 * fetch_test.c - whatever a server sends, a request ends as it should.
 *
 * The server is test/fetch/hostile.py, where the paths are explained by what
 * they send. Who may be asked at all is tested in guard_test.c.
 */
#include "test/fetch/served.h"

enum { PACKED = 1, PART = 2 };

static const struct {
    const char *path;
    enum seen_code code;
    int status;
    int flags;
    uint64_t n;
    const char *words;
} cases[] = {
    { "/plain", SEEN_OK, 200, 0, 5, "" },
    { "/empty", SEEN_OK, 200, 0, 0, "" },
    { "/until-closed", SEEN_OK, 200, 0, 5, "" },
    { "/chunked", SEEN_OK, 200, 0, 11, "" },
    { "/lf-only", SEEN_OK, 200, 0, 5, "" },
    { "/old", SEEN_OK, 200, 0, 5, "" },
    { "/no-reason", SEEN_OK, 200, 0, 5, "" },
    { "/hints", SEEN_OK, 200, 0, 5, "" },
    { "/trailer", SEEN_OK, 200, 0, 5, "" },
    { "/folded", SEEN_OK, 200, 0, 5, "" },
    { "/identity", SEEN_OK, 200, 0, 5, "" },
    { "/204", SEEN_OK, 204, 0, 0, "" },
    { "/304", SEEN_OK, 304, 0, 0, "" },
    { "/300", SEEN_OK, 300, 0, 0, "" },
    { "/404", SEEN_OK, 404, 0, 0, "" },
    { "/500-cut", SEEN_OK, 500, 0, 0, "" },
    { "/endless-404", SEEN_OK, 404, 0, 0, "" },
    { "/no-location", SEEN_OK, 302, 0, 0, "" },
    /* gzip */
    { "/gzip", SEEN_OK, 200, PACKED, 2300, "" },
    { "/x-gzip", SEEN_OK, 200, PACKED, 2300, "" },
    { "/file.gz", SEEN_OK, 200, PACKED, 2300, "" },
    { "/members", SEEN_OK, 200, PACKED, 2300, "" },
    { "/text", SEEN_OK, 200, PACKED, 2300, "" },
    { "/plain", SEEN_OK, 200, PACKED, 5, "" },
    { "/empty", SEEN_OK, 200, PACKED, 0, "" },
    { "/gzip-nothing", SEEN_OK, 200, PACKED, 0, "" },
    { "/two-bytes.gz", SEEN_OK, 200, PACKED, 2, "" },
    { "/gzip", SEEN_CORRUPT, 200, 0, 0, "not asked for" },
    { "/gzip-nothing", SEEN_CORRUPT, 200, 0, 0, "not asked for" },
    { "/br", SEEN_CORRUPT, 200, 0, 0, "not asked for" },
    { "/br", SEEN_CORRUPT, 200, PACKED, 0, "not asked for" },
    { "/gzip-twice", SEEN_CORRUPT, 200, PACKED, 0, "not asked for" },
    { "/gzip-two-lines", SEEN_CORRUPT, 200, PACKED, 0, "not asked for" },
    { "/te-gzip", SEEN_CORRUPT, 200, 0, 0, "not asked for" },
    { "/te-gzip", SEEN_CORRUPT, 200, PACKED, 0, "not asked for" },
    { "/te-both", SEEN_CORRUPT, 200, PACKED, 0, "not asked for" },
    { "/gzip-cut", SEEN_CORRUPT, 200, PACKED, 2300, "cut short" },
    { "/gzip-cut-trailer", SEEN_CORRUPT, 200, PACKED, 2300, "cut short" },
    { "/gzip-cut-head", SEEN_CORRUPT, 200, PACKED, 0, "cut short" },
    { "/file-cut.gz", SEEN_CORRUPT, 200, PACKED, 2300, "cut short" },
    { "/gzip-crc", SEEN_CORRUPT, 200, PACKED, FETCH_UNKNOWN, "damaged" },
    { "/gzip-more", SEEN_CORRUPT, 200, PACKED, 2300, "other data" },
    { "/gzip-not", SEEN_CORRUPT, 200, PACKED, 0, "not gzip" },
    /* lengths */
    { "/length-more", SEEN_CORRUPT, 200, 0, 5, "cut short" },
    { "/length-less", SEEN_OK, 200, 0, 3, "" },
    { "/length-same", SEEN_OK, 200, 0, 5, "" },
    { "/length-and-chunks", SEEN_OK, 200, 0, 5, "" },
    { "/length-twice", SEEN_CORRUPT, 200, 0, 0, "Content-Length" },
    { "/length-negative", SEEN_CORRUPT, 200, 0, 0, "Content-Length" },
    { "/length-word", SEEN_CORRUPT, 200, 0, 0, "Content-Length" },
    { "/length-hex", SEEN_CORRUPT, 200, 0, 0, "Content-Length" },
    { "/length-list", SEEN_CORRUPT, 200, 0, 0, "Content-Length" },
    { "/length-none", SEEN_CORRUPT, 200, 0, 0, "Content-Length" },
    { "/length-plus", SEEN_CORRUPT, 200, 0, 0, "Content-Length" },
    { "/length-huge", SEEN_CORRUPT, 200, 0, 0, "Content-Length" },
    { "/length-2-64", SEEN_CORRUPT, 200, 0, 0, "Content-Length" },
    { "/length-terabyte", SEEN_RANGE, 200, 0, 0, "longer than 100000 " },
    /* chunks */
    { "/chunk-word", SEEN_CORRUPT, 200, 0, FETCH_UNKNOWN, "chunk" },
    { "/chunk-negative", SEEN_CORRUPT, 200, 0, 0, "chunk" },
    { "/chunk-huge", SEEN_CORRUPT, 200, 0, FETCH_UNKNOWN, "chunk" },
    { "/chunk-cut", SEEN_CORRUPT, 200, 0, 3, "cut short" },
    { "/chunk-no-last", SEEN_CORRUPT, 200, 0, 5, "cut short" },
    { "/chunk-no-line", SEEN_CORRUPT, 200, 0, 5, "chunk" },
    /* no HTTP */
    { "/http-0.9", SEEN_CORRUPT, 0, 0, 0, "not HTTP" },
    { "/ssh", SEEN_CORRUPT, 0, 0, 0, "not HTTP" },
    { "/icy", SEEN_CORRUPT, 0, 0, 0, "not HTTP" },
    { "/half-line", SEEN_IO, 0, 0, 0, "without an answer" },
    { "/half-head", SEEN_CORRUPT, 200, 0, 0, "cut short" },
    { "/only-hints", SEEN_CORRUPT, 103, 0, 0, "cut short" },
    { "/http-2", SEEN_CORRUPT, 0, 0, 0, "as HTTP does" },
    { "/http-3", SEEN_CORRUPT, 0, 0, 0, "HTTP" },
    { "/status-word", SEEN_CORRUPT, 0, 0, 0, "HTTP" },
    { "/status-99", SEEN_CORRUPT, 0, 0, 0, "HTTP" },
    { "/status-600", SEEN_CORRUPT, 0, 0, 0, "HTTP" },
    { "/status-2000", SEEN_CORRUPT, 0, 0, 0, "HTTP" },
    { "/switch", SEEN_CORRUPT, 101, 0, 0, "not asked for" },
    { "/nul", SEEN_CORRUPT, 200, 0, 0, "not HTTP" },
    { "/nothing", SEEN_IO, 0, 0, 0, "without an answer" },
    { "/reset-head", SEEN_IO, 0, 0, 0, "broke" },
    { "/reset-body", SEEN_IO, 200, 0, 5, "broke" },
    { "/reset-chunk", SEEN_IO, 200, 0, 5, "broke" },
    /* without end */
    { "/endless-body", SEEN_RANGE, 200, 0, FETCH_UNKNOWN, "100000 bytes" },
    { "/endless-chunks", SEEN_RANGE, 200, 0, FETCH_UNKNOWN, "100000 bytes" },
    { "/endless-gzip-head", SEEN_RANGE, 200, PACKED, 0, "100000 bytes" },
    { "/endless-members", SEEN_RANGE, 200, PACKED, 0, "100000 bytes" },
    { "/endless-head", SEEN_RANGE, 200, 0, 0, "100 lines" },
    { "/endless-line", SEEN_RANGE, 200, 0, 0, "head of the answer" },
    { "/endless-status", SEEN_RANGE, 0, 0, 0, "head of the answer" },
    { "/endless-hints", SEEN_RANGE, 103, 0, 0, "100 lines" },
    { "/endless-trailer", SEEN_RANGE, 200, 0, 5, "100 lines" },
    /* parts */
    { "/part", SEEN_OK, 206, PART, 5, "" },
    { "/part-star", SEEN_OK, 206, PART, 5, "" },
    { "/plain", SEEN_OK, 200, PART, 5, "" },
    { "/416", SEEN_OK, 416, PART, 0, "" },
    { "/part", SEEN_CORRUPT, 206, 0, 0, "instead of the whole" },
    { "/part-wrong-from", SEEN_CORRUPT, 206, PART, 0, "another part" },
    { "/part-unsatisfied", SEEN_CORRUPT, 206, PART, 0, "another part" },
    { "/part-none", SEEN_CORRUPT, 206, PART, 0, "another part" },
    { "/part-several", SEEN_CORRUPT, 206, PART, 0, "another part" },
    { "/part-wrong-unit", SEEN_CORRUPT, 206, PART, 0, "no sense" },
    { "/part-total-small", SEEN_CORRUPT, 206, PART, 0, "no sense" },
    { "/part-backwards", SEEN_CORRUPT, 206, PART, 0, "no sense" },
    { "/part-words", SEEN_CORRUPT, 206, PART, 0, "no sense" },
    { "/part-huge", SEEN_CORRUPT, 206, PART, 0, "no sense" },
    { "/part-two", SEEN_CORRUPT, 206, PART, 0, "no sense" },
    { "/part-length", SEEN_CORRUPT, 206, PART, 0, "differ" },
    { "/part-closed", SEEN_CORRUPT, 206, PART, 3, "as announced" },
    { "/part-long", SEEN_CORRUPT, 206, PART, FETCH_UNKNOWN, "as announced" },
    /* redirects */
    { "/status/301", SEEN_OK, 200, 0, 5, "" },
    { "/status/302", SEEN_OK, 200, 0, 5, "" },
    { "/status/303", SEEN_OK, 200, 0, 5, "" },
    { "/status/307", SEEN_OK, 200, 0, 5, "" },
    { "/status/308", SEEN_OK, 200, 0, 5, "" },
    { "/status/305", SEEN_OK, 305, 0, 0, "" },
    { "/status/201", SEEN_OK, 201, 0, 0, "" },
    { "/chain/5", SEEN_OK, 200, 0, 5, "" },
    { "/chain/6", SEEN_RANGE, 302, 0, 0, "more than 5 redirects" },
    { "/circle", SEEN_RANGE, 302, 0, 0, "in a circle" },
    { "/circle-1", SEEN_RANGE, 302, 0, 0, "in a circle" },
    { "/sub/relative", SEEN_OK, 200, 0, 5, "" },
    { "/sub/query", SEEN_OK, 200, 0, 5, "" },
    { "/spaces", SEEN_OK, 200, 0, 6, "" },
    { "/cut-body", SEEN_OK, 200, 0, 5, "" },
    { "/bad-chunks", SEEN_OK, 200, 0, 5, "" },
    { "/endless-redirect", SEEN_OK, 200, 0, 5, "" },
    { "/endless-redirect-chunks", SEEN_OK, 200, 0, 5, "" },
    { "/drip-redirect", SEEN_OK, 200, 0, 5, "" },
    { "/bomb-redirect", SEEN_OK, 200, 0, 5, "" },
    { "/bomb-redirect", SEEN_OK, 200, PACKED, 5, "" },
    { "/long-location", SEEN_CORRUPT, 302, 0, 0, "Location" },
    { "/location-control", SEEN_CORRUPT, 302, 0, 0, "Location" },
    { "/go?file:///etc/passwd", SEEN_RANGE, 302, 0, 0, "file: is not" },
    { "/go?FILE:///etc/passwd", SEEN_RANGE, 302, 0, 0, "file: is not" },
    { "/go?ftp://127.0.0.1/", SEEN_RANGE, 302, 0, 0, "ftp: is not" },
    { "/go?gopher://127.0.0.1/", SEEN_RANGE, 302, 0, 0, "gopher: is not" },
    { "/go?dict://127.0.0.1/", SEEN_RANGE, 302, 0, 0, "dict: is not" },
    { "/go?ldap://127.0.0.1/", SEEN_RANGE, 302, 0, 0, "ldap: is not" },
    { "/go?smb://127.0.0.1/x", SEEN_RANGE, 302, 0, 0, "smb: is not" },
    { "/go?ws://127.0.0.1/x", SEEN_RANGE, 302, 0, 0, "ws: is not" },
    { "/go?data:text/plain,x", SEEN_RANGE, 302, 0, 0, "" },
    { "/go?javascript:alert(1)", SEEN_RANGE, 302, 0, 0, "" },
    { "/go?http://u:p@127.0.0.1/", SEEN_RANGE, 302, 0, 0, "password" },
    { "/go?http://u@127.0.0.1/", SEEN_RANGE, 302, 0, 0, "password" },
    { "/go?http://127.0.0.1:25/", SEEN_RANGE, 302, 0, 0, "port 25" },
    { "/go?http://127.0.0.1:0/", SEEN_RANGE, 302, 0, 0, "port" },
    { "/go?http://127.0.0.1:99999/", SEEN_RANGE, 302, 0, 0, "not a URL" },
    { "/go?http://", SEEN_RANGE, 302, 0, 0, "" },
    { "/go?http:///x.invalid", SEEN_IO, 0, 0, 0, "not found" },
    { "/go?http://a..b.invalid/", SEEN_IO, 0, 0, 0, "not found" },
};

TEST(each_answer_ends_as_it_should)
{
    int wrong = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct got g = get(&here, NULL,
                           &(struct fetch_request){
                               .url = cases[i].path,
                               .from = cases[i].flags & PART ? 5 : 0,
                               .unpack = cases[i].flags & PACKED,
                               .most = 100000,
                           });

        if (g.code == cases[i].code && g.status == cases[i].status &&
            (g.n == cases[i].n || cases[i].n == FETCH_UNKNOWN) &&
            g.n <= 100000 && strstr(g.why, cases[i].words))
            continue;
        print_error("%s %d: code %d, status %d, %d bytes: %s\n", cases[i].path,
                    cases[i].flags, g.code, g.status, (int)g.n, g.why);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_answer_ends_as_it_should),
    };

    return cmocka_run_group_tests(tests, served_begin, served_end);
}
