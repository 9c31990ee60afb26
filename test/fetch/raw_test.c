/*
 * raw_test.c - answers as they came, whatever they are.
 *
 * The server is test/fetch/hostile.py, where the paths are explained by what
 * they send.
 */
#include "test/fetch/served.h"

#include <pthread.h>

#include "lib/disk/clock.h"

/* What came of a raw request; texts end with a 0. */
struct answer {
    enum seen_code code;
    int status, begun, ended;
    enum fetch_outcome outcome;
    enum fetch_cut cut;
    bool http;
    char sent[8192], head[70000], body[8192], address[64], tls[100], why[160];
    char etag[64], type[64];
    size_t sent_n, head_n, n;
    unsigned port, ms_connect, ms_first, ms_total;
    uint64_t started, length;
};

static void copy_text(char *to, size_t room, struct seen_span s)
{
    size_t n = s.len < room - 1 ? s.len : room - 1;

    if (n)
        memcpy(to, s.text, n);
    to[n] = '\0';
}

static enum seen_code answer_begin(void *owner,
                                   const struct fetch_response *head,
                                   struct seen_error *why)
{
    struct answer *a = owner;

    (void)why;
    assert_true(head->http);
    assert_true(head->status >= 200);
    assert_true(head->sent.len > 0 && head->head.len > 0);
    assert_int_equal(head->cut, FETCH_CUT_NOT);
    a->begun++;
    return SEEN_OK;
}

static enum seen_code answer_body(void *owner, const void *bytes, size_t n,
                                  struct seen_error *why)
{
    struct answer *a = owner;
    size_t room = a->n < sizeof a->body - 1 ? sizeof a->body - 1 - a->n : 0;

    (void)why;
    assert_int_equal(a->begun, 1);
    assert_int_equal(a->ended, 0);
    assert_true(n > 0);
    memcpy(a->body + (room ? a->n : 0), bytes, n < room ? n : room);
    a->n += n;
    return SEEN_OK;
}

static void answer_end(void *owner, enum seen_code code,
                       const struct fetch_response *head,
                       const struct seen_error *why)
{
    struct answer *a = owner;

    a->ended++;
    a->code = code;
    a->status = head->status;
    a->outcome = head->outcome;
    a->http = head->http;
    a->cut = head->cut;
    a->port = head->port;
    a->started = head->started;
    a->length = head->length;
    a->ms_connect = head->ms_connect;
    a->ms_first = head->ms_first;
    a->ms_total = head->ms_total;
    a->sent_n = head->sent.len;
    a->head_n = head->head.len;
    copy_text(a->sent, sizeof a->sent, head->sent);
    copy_text(a->head, sizeof a->head, head->head);
    snprintf(a->address, sizeof a->address, "%s", head->address);
    snprintf(a->tls, sizeof a->tls, "%s", head->tls);
    snprintf(a->etag, sizeof a->etag, "%s", head->etag);
    snprintf(a->type, sizeof a->type, "%s", head->type);
    snprintf(a->why, sizeof a->why, "%s", code ? why->text : "");
}

static const struct fetch_handler answer_handler = { answer_begin, answer_body,
                                                     answer_end };

static struct fetch *client(const struct fetch_options *rules)
{
    const struct fetch_options open = { .allow_private = true };
    struct fetch *web;

    assert_int_equal(fetch_new(&web, rules ? rules : &open, NULL), SEEN_OK);
    return web;
}

static void start_as(struct fetch *web, const char *path, bool per_host,
                     struct answer *a)
{
    char url[2000];

    memset(a, 0, sizeof *a);
    assert_int_equal(
        fetch_start(web,
                    &(struct fetch_request){ .url = at(&here, path, url),
                                             .most = 100000,
                                             .raw = true,
                                             .per_host = per_host,
                                             .handler = &answer_handler,
                                             .owner = a },
                    NULL),
        SEEN_OK);
}

static void start(struct fetch *web, const char *path, struct answer *a)
{
    start_as(web, path, false, a);
}

static void ask(struct fetch *web, const char *path, struct answer *a)
{
    start(web, path, a);
    finish_all(web);
    assert_int_equal(a->ended, 1);
}

/* --- each answer --- */

static const struct {
    const char *path;
    enum seen_code code;
    int status;
    bool http;
    enum fetch_cut cut;
    uint64_t n;
    const char *words; /* of the body, or of the failure */
} cases[] = {
    { "/plain", SEEN_OK, 200, true, FETCH_CUT_NOT, 5, "hello" },
    { "/empty", SEEN_OK, 200, true, FETCH_CUT_NOT, 0, "" },
    { "/until-closed", SEEN_OK, 200, true, FETCH_CUT_NOT, 5, "hello" },
    { "/lf-only", SEEN_OK, 200, true, FETCH_CUT_NOT, 5, "hello" },
    { "/old", SEEN_OK, 200, true, FETCH_CUT_NOT, 5, "hello" },
    { "/hints", SEEN_OK, 200, true, FETCH_CUT_NOT, 5, "hello" },
    { "/hints-after", SEEN_OK, 200, true, FETCH_CUT_NOT, 5, "hello" },
    { "/folded", SEEN_OK, 200, true, FETCH_CUT_NOT, 5, "hello" },
    { "/folded-first", SEEN_CORRUPT, 200, true, FETCH_CUT_NOT, 0, "not HTTP" },
    { "/many-lines", SEEN_OK, 200, true, FETCH_CUT_NOT, 5, "hello" },
    { "/cr-in-value", SEEN_OK, 200, true, FETCH_CUT_NOT, 5, "hello" },
    /* of any status */
    { "/404", SEEN_OK, 404, true, FETCH_CUT_NOT, 4, "none" },
    { "/999", SEEN_OK, 999, true, FETCH_CUT_NOT, 5, "hello" },
    { "/status-600", SEEN_OK, 600, true, FETCH_CUT_NOT, 5, "hello" },
    { "/204", SEEN_OK, 204, true, FETCH_CUT_NOT, 0, "" },
    { "/304", SEEN_OK, 304, true, FETCH_CUT_NOT, 0, "" },
    { "/304-length", SEEN_OK, 304, true, FETCH_CUT_NOT, 0, "" },
    { "/chunk-304", SEEN_OK, 304, true, FETCH_CUT_NOT, 0, "" },
    { "/416", SEEN_OK, 416, true, FETCH_CUT_NOT, 0, "" },
    { "/500-cut", SEEN_OK, 500, true, FETCH_CUT_DISCONNECT, 4, "none" },
    { "/status/301", SEEN_OK, 301, true, FETCH_CUT_NOT, 5, "moved" },
    { "/circle", SEEN_OK, 302, true, FETCH_CUT_NOT, 0, "" },
    { "/long-location", SEEN_OK, 302, true, FETCH_CUT_NOT, 0, "" },
    { "/location-control", SEEN_OK, 302, true, FETCH_CUT_NOT, 0, "" },
    { "/go?file:///etc/passwd", SEEN_OK, 302, true, FETCH_CUT_NOT, 5,
      "moved" },
    { "/no-location", SEEN_OK, 302, true, FETCH_CUT_NOT, 0, "" },
    { "/part", SEEN_OK, 206, true, FETCH_CUT_NOT, 5, "world" },
    { "/part-words", SEEN_OK, 206, true, FETCH_CUT_NOT, 5, "world" },
    { "/part-two", SEEN_OK, 206, true, FETCH_CUT_NOT, 5, "world" },
    /* codings are not undone */
    { "/gzip", SEEN_OK, 200, true, FETCH_CUT_NOT, FETCH_UNKNOWN, "\x1f\x8b" },
    { "/gzip-twice", SEEN_OK, 200, true, FETCH_CUT_NOT, FETCH_UNKNOWN,
      "\x1f\x8b" },
    { "/gzip-not", SEEN_OK, 200, true, FETCH_CUT_NOT, 2300, "have we" },
    { "/br", SEEN_OK, 200, true, FETCH_CUT_NOT, 2300, "have we" },
    { "/te-gzip", SEEN_CORRUPT, 200, true, FETCH_CUT_NOT, 0, "not asked" },
    { "/te-both", SEEN_CORRUPT, 200, true, FETCH_CUT_NOT, 0, "not asked" },
    /* lengths */
    { "/length-more", SEEN_OK, 200, true, FETCH_CUT_DISCONNECT, 5, "hello" },
    { "/length-terabyte", SEEN_OK, 200, true, FETCH_CUT_DISCONNECT, 5,
      "hello" },
    { "/length-less", SEEN_OK, 200, true, FETCH_CUT_NOT, 3, "hel" },
    { "/length-same", SEEN_OK, 200, true, FETCH_CUT_NOT, 5, "hello" },
    { "/length-after", SEEN_OK, 200, true, FETCH_CUT_NOT, 5, "hello" },
    { "/length-twice", SEEN_CORRUPT, 200, true, FETCH_CUT_NOT, 0, "Length" },
    { "/length-negative", SEEN_CORRUPT, 200, true, FETCH_CUT_NOT, 0,
      "Length" },
    { "/length-word", SEEN_CORRUPT, 200, true, FETCH_CUT_NOT, 0, "Length" },
    { "/length-list", SEEN_CORRUPT, 200, true, FETCH_CUT_NOT, 0, "Length" },
    { "/length-huge", SEEN_CORRUPT, 200, true, FETCH_CUT_NOT, 0, "Length" },
    { "/length-2-64", SEEN_CORRUPT, 200, true, FETCH_CUT_NOT, 0, "Length" },
    { "/304-after", SEEN_OK, 304, true, FETCH_CUT_NOT, 0, "" },
    /* chunks, as they came */
    { "/chunked", SEEN_OK, 200, true, FETCH_CUT_NOT, 26,
      "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n" },
    { "/trailer", SEEN_OK, 200, true, FETCH_CUT_NOT, 48,
      "5\r\nhello\r\n0\r\nContent-Length: 7\r\nLocation: /x\r\n\r\n" },
    { "/length-and-chunks", SEEN_OK, 200, true, FETCH_CUT_NOT, 15,
      "5\r\nhello\r\n0\r\n\r\n" },
    { "/chunk-lf", SEEN_OK, 200, true, FETCH_CUT_NOT, 11, "5\nhello\n0\n\n" },
    { "/chunk-after", SEEN_OK, 200, true, FETCH_CUT_NOT, 15,
      "5\r\nhello\r\n0\r\n\r\n" },
    { "/chunk-trailer-after", SEEN_OK, 200, true, FETCH_CUT_NOT, 25,
      "5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n" },
    { "/chunk-cut", SEEN_OK, 200, true, FETCH_CUT_DISCONNECT, 6, "5\r\nhel" },
    { "/chunk-no-last", SEEN_OK, 200, true, FETCH_CUT_DISCONNECT, 10,
      "5\r\nhello\r\n" },
    { "/chunk-sum", SEEN_OK, 200, true, FETCH_CUT_DISCONNECT, 23,
      "7fffffffffffffff\r\nhello" },
    { "/chunk-word", SEEN_OK, 200, true, FETCH_CUT_DAMAGED, 0, "" },
    { "/chunk-negative", SEEN_OK, 200, true, FETCH_CUT_DAMAGED, 0, "" },
    { "/chunk-huge", SEEN_OK, 200, true, FETCH_CUT_DAMAGED, 15,
      "fffffffffffffff" },
    { "/chunk-no-line", SEEN_OK, 200, true, FETCH_CUT_DAMAGED, 8,
      "5\r\nhello" },
    /* no HTTP */
    { "/http-0.9", SEEN_CORRUPT, 0, false, FETCH_CUT_NOT, 0, "not HTTP" },
    { "/ssh", SEEN_CORRUPT, 0, false, FETCH_CUT_NOT, 0, "not HTTP" },
    { "/icy", SEEN_CORRUPT, 0, false, FETCH_CUT_NOT, 0, "not HTTP" },
    { "/http-2", SEEN_CORRUPT, 0, false, FETCH_CUT_NOT, 0, "HTTP" },
    { "/http-3", SEEN_CORRUPT, 0, false, FETCH_CUT_NOT, 0, "HTTP" },
    { "/status-word", SEEN_CORRUPT, 0, false, FETCH_CUT_NOT, 0, "HTTP" },
    { "/status-99", SEEN_CORRUPT, 0, false, FETCH_CUT_NOT, 0, "HTTP" },
    { "/status-2000", SEEN_CORRUPT, 0, false, FETCH_CUT_NOT, 0, "HTTP" },
    { "/half-line", SEEN_IO, 0, false, FETCH_CUT_NOT, 0, "without an answer" },
    { "/nothing", SEEN_IO, 0, false, FETCH_CUT_NOT, 0, "without an answer" },
    { "/half-head", SEEN_CORRUPT, 200, true, FETCH_CUT_NOT, 0, "cut short" },
    { "/only-hints", SEEN_CORRUPT, 103, true, FETCH_CUT_NOT, 0, "cut short" },
    { "/switch", SEEN_CORRUPT, 101, true, FETCH_CUT_NOT, 0, "not asked for" },
    { "/nul", SEEN_CORRUPT, 200, true, FETCH_CUT_NOT, 0, "not HTTP" },
    { "/reset-head", SEEN_IO, 0, false, FETCH_CUT_NOT, 0, "broke" },
    { "/reset-body", SEEN_OK, 200, true, FETCH_CUT_DISCONNECT, 5, "hello" },
    { "/reset-chunk", SEEN_OK, 200, true, FETCH_CUT_DISCONNECT, 10, "5\r\nh" },
    /* without end */
    { "/endless-body", SEEN_OK, 200, true, FETCH_CUT_LENGTH, 100000, "aaa" },
    { "/endless-404", SEEN_OK, 404, true, FETCH_CUT_LENGTH, 100000, "aaa" },
    { "/endless-chunks", SEEN_OK, 200, true, FETCH_CUT_LENGTH, 100000, "1" },
    { "/endless-redirect", SEEN_OK, 302, true, FETCH_CUT_LENGTH, 100000, "x" },
    { "/endless-trailer", SEEN_OK, 200, true, FETCH_CUT_LENGTH, 100000,
      "5\r\nhello" },
    { "/bomb", SEEN_OK, 200, true, FETCH_CUT_LENGTH, 100000, "\x1f\x8b" },
    { "/big/100000", SEEN_OK, 200, true, FETCH_CUT_NOT, 100000, "bbb" },
    { "/big/100001", SEEN_OK, 200, true, FETCH_CUT_LENGTH, 100000, "bbb" },
    { "/endless-head", SEEN_RANGE, 200, true, FETCH_CUT_NOT, 0, "1000 lines" },
    { "/endless-line", SEEN_RANGE, 200, true, FETCH_CUT_NOT, 0, "head of" },
    { "/endless-status", SEEN_RANGE, 0, false, FETCH_CUT_NOT, 0, "head of" },
    { "/endless-hints", SEEN_RANGE, 103, true, FETCH_CUT_NOT, 0, "1000 l" },
    /* too slow, for a stall of a second */
    { "/drip-body", SEEN_OK, 200, true, FETCH_CUT_TIME, FETCH_UNKNOWN, "x" },
    { "/drip-line", SEEN_IO, 200, true, FETCH_CUT_NOT, 0, "stalled" },
};
enum { CASES = sizeof cases / sizeof *cases, SLOW = 2 /* the last ones */ };

static bool is_right(size_t i, const struct answer *a)
{
    const char *words = cases[i].code ? a->why : a->body;

    return a->ended == 1 && a->code == cases[i].code &&
           a->status == cases[i].status && a->http == cases[i].http &&
           a->cut == cases[i].cut &&
           (a->n == cases[i].n || cases[i].n == FETCH_UNKNOWN) &&
           (cases[i].code
                ? strstr(words, cases[i].words) != NULL
                : !strncmp(words, cases[i].words, strlen(cases[i].words))) &&
           a->begun == (a->code == SEEN_OK) &&
           (a->code == SEEN_OK) == (a->outcome == FETCH_DONE);
}

static int report(size_t i, const struct answer *a)
{
    if (is_right(i, a))
        return 0;
    print_error("%s: code %d, status %d, http %d, cut %d, %d bytes, %s, "
                "%.40s\n",
                cases[i].path, a->code, a->status, a->http, a->cut, (int)a->n,
                a->why, a->body);
    return 1;
}

TEST(each_answer_is_handed_over_as_it_came)
{
    const struct fetch_options hasty = { .allow_private = true, .stall = 1 };
    struct answer *a = calloc(CASES, sizeof *a);
    int wrong = 0;

    assert_non_null(a);
    for (size_t i = 0; i < CASES; i++) {
        struct fetch *web = client(i < CASES - SLOW ? NULL : &hasty);

        ask(web, cases[i].path, &a[i]);
        wrong += report(i, &a[i]);
        fetch_free(web);
    }
    assert_int_equal(wrong, 0);
    free(a);
}

/* On the connections and with the easy handles that others leave behind. */
TEST(no_answer_depends_on_those_before_it)
{
    const struct fetch_options rules = { .allow_private = true,
                                         .parallel = 3 };
    struct answer *a = calloc(CASES, sizeof *a);
    struct fetch *web = client(&rules);
    uint32_t random = 1;
    int wrong = 0;

    assert_non_null(a);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < CASES - SLOW; i++) {
            random = random * 1664525 + 1013904223;
            start(web, cases[i].path, &a[i]);
            if (random >> 31)
                finish_all(web);
        }
        finish_all(web);
        for (size_t i = 0; i < CASES - SLOW; i++)
            wrong += report(i, &a[i]);
    }
    assert_int_equal(wrong, 0);
    fetch_free(web);
    free(a);
}

/* --- what is handed over --- */

TEST(heads_and_facts_are_those_of_the_wire)
{
    struct fetch *web = client(NULL);
    static struct answer a;
    char line[100];

    ask(web, "/hints-after", &a);
    assert_string_equal(a.head,
                        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    assert_string_equal(a.address, "127.0.0.1");
    assert_int_equal(a.port, here.port);
    assert_string_equal(a.tls, "");
    assert_true(a.started > 1600000000000);
    assert_true(a.ms_total >= a.ms_first);
    assert_int_equal(a.length, 5);
    ask(web, "/lf-only", &a);
    assert_string_equal(a.head, "HTTP/1.1 200 OK\nContent-Length: 5\n\n");
    ask(web, "/plain", &a);
    assert_string_equal(a.etag, "\"a\"");
    assert_string_equal(a.type, "text/csv");
    ask(web, "/folded", &a);
    assert_non_null(strstr(a.head, "X-Long: a\r\n Location: /x\r\n"));
    ask(web, "/half-head", &a);
    assert_string_equal(a.head, "HTTP/1.1 200 OK\r\n");

    /* The server echoes the request: what was sent is what it got. */
    ask(web, "/echo/a%20b?c", &a);
    assert_int_equal(a.sent_n, a.n);
    assert_string_equal(a.sent, a.body);
    snprintf(line, sizeof line, "GET /echo/a%%20b?c HTTP/1.1\r\nHost: %s\r\n",
             here.place);
    assert_int_equal(strncmp(a.sent, line, strlen(line)), 0);
    assert_non_null(strstr(a.sent, "\r\nAccept-Encoding: gzip, br\r\n"));
    assert_non_null(strstr(a.sent, "\r\nUser-Agent: seen/"));
    assert_null(strstr(a.sent, "Cookie"));
    fetch_free(web);
}

TEST(requests_can_be_conditional)
{
    struct fetch *web = client(NULL);
    static struct answer a;
    char url[2000];

    for (int i = 0; i < 5; i++) { /* on the same easy handle */
        memset(&a, 0, sizeof a);
        assert_int_equal(
            fetch_start(
                web,
                &(struct fetch_request){
                    .url = at(&here, "/echo", url),
                    .etag = i & 1 ? "\"v1\"" : NULL,
                    .modified = i & 2 ? "Sun, 15 Nov 2026 10:00:00 GMT" : NULL,
                    .datetime = i == 3 ? "Sun, 15 Nov 2026 10:00:00 GMT"
                                       : NULL,
                    .most = 10000,
                    .raw = true,
                    .handler = &answer_handler,
                    .owner = &a },
                NULL),
            SEEN_OK);
        finish_all(web);
        assert_int_equal(a.code, SEEN_OK);
        assert_int_equal(!!strstr(a.body, "If-None-Match: \"v1\"\r\n"), i & 1);
        assert_int_equal(!!strstr(a.body, "If-Modified-Since: Sun, 15 "),
                         i >> 1 & 1);
        assert_int_equal(!!strstr(a.body, "Accept-Datetime: Sun, 15 "),
                         i == 3);
        assert_non_null(strstr(a.body, "gzip, br"));
    }
    fetch_free(web);
}

TEST(tls_is_described)
{
    const struct fetch_options rules = { .allow_private = true,
                                         .authorities = here.authority };
    struct fetch *web = client(&rules);
    static struct answer a;
    char url[100];

    for (int i = 0; i < 3; i++) {
        snprintf(url, sizeof url, "https://127.0.0.1:%u/%s", here.tls_port,
                 i ? "chunked" : "plain");
        ask(web, url, &a);
        assert_int_equal(a.code, SEEN_OK);
        assert_int_equal(strncmp(a.tls, "TLSv1.3 TLS_", 12), 0);
        assert_int_equal(a.port, here.tls_port);
        assert_string_equal(a.address, "127.0.0.1");
        if (i)
            assert_int_equal(a.ms_connect, 0);
    }
    fetch_free(web);
}

/* A client may have requests of both kinds. */
TEST(raw_requests_leave_nothing_behind)
{
    const struct fetch_options rules = { .allow_private = true,
                                         .parallel = 1 };
    struct fetch *web = client(&rules);
    static struct answer a;
    char url[2000];

    for (int i = 0; i < 3; i++) {
        struct got g = { 0 };

        ask(web, i == 1 ? "/echo" : "/chunked", &a);
        assert_int_equal(a.code, SEEN_OK);
        assert_int_equal(
            fetch_start(web,
                        &(struct fetch_request){
                            .url = at(&here, i ? "/chunked" : "/echo", url),
                            .most = 10000,
                            .unpack = i == 2,
                            .handler = &got_handler,
                            .owner = &g },
                        NULL),
            SEEN_OK);
        finish_all(web);
        assert_int_equal(g.code, SEEN_OK);
        if (i)
            assert_string_equal(g.body, "hello world");
        else
            assert_non_null(strstr(g.body, "Accept-Encoding: identity\r\n"));
    }
    fetch_free(web);
}

/* --- guards --- */

TEST(raw_requests_are_guarded)
{
    static const char *const refused[] = { "file:///etc/passwd",
                                           "ftp://127.0.0.1/",
                                           "http://u:p@127.0.0.1/",
                                           "http://127.0.0.1:25/" };
    const struct fetch_options none = { 0 };
    struct fetch *web = client(&none);
    struct fetch_request r = { .raw = true, .handler = &answer_handler };
    static struct answer a;
    char url[100];

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        r.url = refused[i];
        assert_int_equal(fetch_start(web, &r, NULL), SEEN_RANGE);
    }
    r.url = "http://127.0.0.1/";
    r.from = 5;
    assert_int_equal(fetch_start(web, &r, NULL), SEEN_RANGE);
    r.from = 0;
    r.unpack = true;
    assert_int_equal(fetch_start(web, &r, NULL), SEEN_RANGE);
    r.unpack = false;
    r.due = 1;
    assert_int_equal(fetch_start(web, &r, NULL), SEEN_RANGE);
    ask(web, "/plain", &a);
    assert_int_equal(a.code, SEEN_RANGE);
    assert_non_null(strstr(a.why, "127.0.0.1 is not a public address"));
    assert_int_equal(a.begun, 0);
    snprintf(url, sizeof url, "http://localhost:%u/plain", here.port);
    ask(web, url, &a);
    assert_int_equal(a.code, SEEN_RANGE);
    assert_true(fetch_refused(web) >= 2);
    fetch_free(web);
}

/* Until the server has sent as many answers for which nobody asked. */
static void wait_for_junk(long n)
{
    struct got g;

    do {
        usleep(10000);
        g = get(&here, NULL,
                &(struct fetch_request){ .url = "/junk-sent", .most = 100 });
        assert_int_equal(g.code, SEEN_OK);
    } while (strtol(g.body, NULL, 10) < n);
}

/* An answer for which nobody asked waits in the socket of a connection that
   is kept. It must not become the answer to the next request, whichever kind
   of request that is. */
TEST(answers_to_nothing_are_not_answers)
{
    const struct fetch_options rules = { .allow_private = true,
                                         .authorities = here.authority,
                                         .parallel = 1 };
    struct fetch *web = client(&rules);
    static struct answer a;
    char url[100];

    for (int i = 0; i < 4; i++) {
        struct got g = { 0 };
        bool tls = i & 1, raw = i & 2;

        snprintf(url, sizeof url, "http%s://127.0.0.1:%u/junk", tls ? "s" : "",
                 tls ? here.tls_port : here.port);
        ask(web, url, &a);
        assert_int_equal(a.code, SEEN_OK);
        assert_string_equal(a.body, "hello");
        wait_for_junk(i + 1);
        memcpy(strrchr(url, '/'), "/text", 6);
        if (raw) {
            ask(web, url, &a);
            assert_int_equal(a.code, SEEN_OK);
            assert_int_equal(a.n, 2300);
            continue;
        }
        assert_int_equal(
            fetch_start(web,
                        &(struct fetch_request){ .url = url,
                                                 .most = 10000,
                                                 .handler = &got_handler,
                                                 .owner = &g },
                        NULL),
            SEEN_OK);
        finish_all(web);
        assert_int_equal(g.code, SEEN_OK);
        assert_int_equal(g.n, 2300);
    }
    fetch_free(web);
}

/* A server may close a connection at the moment when it is used again. That
   is not a failure, however often it happens: here each time. */
TEST(closed_connections_are_replaced)
{
    const struct fetch_options rules = { .allow_private = true,
                                         .parallel = 1 };
    struct fetch *web = client(&rules);
    static struct answer a;

    for (int i = 0; i < 60; i++) {
        ask(web, "/length-same", &a); /* closes, and does not say so */
        assert_int_equal(a.code, SEEN_OK);
        assert_string_equal(a.body, "hello");
    }
    fetch_free(web);
}

/* --- many at once --- */

TEST(raw_requests_wait_for_no_host)
{
    const struct fetch_options rules = { .allow_private = true,
                                         .parallel = 30,
                                         .per_host = 1 };
    struct fetch *web = client(&rules);
    struct answer *a = calloc(60, sizeof *a);

    assert_non_null(a);
    for (int i = 0; i < 60; i++)
        start(web, "/slow/raw/30", &a[i]);
    finish_all(web);
    for (int i = 0; i < 60; i++)
        assert_int_equal(a[i].code, SEEN_OK);
    ask(web, "/most/raw", &a[0]);
    assert_int_equal(strtol(a[0].body, NULL, 10), 30);
    fetch_free(web);
    free(a);
}

TEST(raw_requests_can_take_turns_at_their_host)
{
    const struct fetch_options rules = { .allow_private = true,
                                         .parallel = 8,
                                         .per_host = 2 };
    struct fetch *web = client(&rules);
    struct answer *a = calloc(8, sizeof *a);

    assert_non_null(a);
    for (int i = 0; i < 8; i++)
        start_as(web, "/slow/turns/2", true, &a[i]);
    fetch_cancel(web, &a[7]);
    assert_int_equal(a[7].code, SEEN_UNABLE);
    finish_all(web);
    for (int i = 0; i < 7; i++)
        assert_int_equal(a[i].code, SEEN_OK);
    ask(web, "/most/turns", &a[0]);
    assert_int_equal(strtol(a[0].body, NULL, 10), 2);
    fetch_free(web);
    free(a);
}

TEST(raw_requests_can_be_cancelled)
{
    const struct fetch_options rules = { .allow_private = true,
                                         .parallel = 2 };
    struct fetch *web = client(&rules);
    struct answer *a = calloc(4, sizeof *a);

    assert_non_null(a);
    for (int i = 0; i < 3; i++)
        start(web, "/silent", &a[i]);
    fetch_poll(web, 10);
    fetch_poll(web, 10);
    fetch_cancel(web, &a[2]); /* waits */
    fetch_cancel(web, &a[0]); /* runs */
    assert_int_equal(a[0].code, SEEN_UNABLE);
    assert_int_equal(a[2].code, SEEN_UNABLE);
    assert_int_equal(a[1].ended, 0);
    start(web, "/plain", &a[3]);
    while (!a[3].ended)
        fetch_poll(web, 100);
    assert_int_equal(a[3].code, SEEN_OK);
    fetch_free(web);
    assert_int_equal(a[1].code, SEEN_UNABLE);
    free(a);
}

TEST(slow_bodies_are_cut)
{
    const struct fetch_options slow = { .allow_private = true, .slow = 1 };
    const struct fetch_options late = { .allow_private = true, .timeout = 1 };
    static struct answer a;
    struct fetch *web = client(&slow);

    ask(web, "/drip-length", &a);
    assert_int_equal(a.code, SEEN_OK);
    assert_int_equal(a.cut, FETCH_CUT_TIME);
    assert_int_equal(a.outcome, FETCH_DONE);
    assert_true(a.n >= 30);
    fetch_free(web);
    web = client(&late);
    ask(web, "/drip-length", &a);
    assert_int_equal(a.code, SEEN_OK);
    assert_int_equal(a.cut, FETCH_CUT_TIME);
    ask(web, "/silent", &a);
    assert_int_equal(a.code, SEEN_IO);
    assert_int_equal(a.outcome, FETCH_LATE);
    fetch_free(web);
    assert_null(fetch_cut_name(FETCH_CUT_NOT));
    assert_string_equal(fetch_cut_name(FETCH_CUT_LENGTH), "length");
    assert_string_equal(fetch_cut_name(FETCH_CUT_TIME), "time");
    assert_string_equal(fetch_cut_name(FETCH_CUT_DISCONNECT), "disconnect");
    assert_string_equal(fetch_cut_name(FETCH_CUT_DAMAGED), "unspecified");
}

/* --- another thread --- */

static void *wake_soon(void *web)
{
    usleep(50000);
    fetch_wakeup(web);
    return NULL;
}

TEST(a_wait_can_be_ended_from_another_thread)
{
    struct fetch *web = client(NULL);
    uint64_t before = clock_ms();
    static struct answer a;
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, wake_soon, web), 0);
    assert_int_equal(fetch_poll(web, 60000), 0);
    pthread_join(thread, NULL);
    assert_true(clock_ms() - before < 30000);
    fetch_wakeup(web); /* before the wait */
    fetch_wakeup(web);
    fetch_poll(web, 60000);
    before = clock_ms();
    fetch_poll(web, 50); /* both were heard */
    assert_true(clock_ms() - before >= 45);
    start(web, "/silent", &a);
    assert_int_equal(pthread_create(&thread, NULL, wake_soon, web), 0);
    for (int i = 0; i < 3 && clock_ms() - before < 30000; i++)
        assert_int_equal(fetch_poll(web, 20), 1);
    pthread_join(thread, NULL);
    fetch_free(web);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_answer_is_handed_over_as_it_came),
        cmocka_unit_test(no_answer_depends_on_those_before_it),
        cmocka_unit_test(heads_and_facts_are_those_of_the_wire),
        cmocka_unit_test(requests_can_be_conditional),
        cmocka_unit_test(tls_is_described),
        cmocka_unit_test(raw_requests_leave_nothing_behind),
        cmocka_unit_test(raw_requests_are_guarded),
        cmocka_unit_test(answers_to_nothing_are_not_answers),
        cmocka_unit_test(closed_connections_are_replaced),
        cmocka_unit_test(raw_requests_wait_for_no_host),
        cmocka_unit_test(raw_requests_can_take_turns_at_their_host),
        cmocka_unit_test(raw_requests_can_be_cancelled),
        cmocka_unit_test(slow_bodies_are_cut),
        cmocka_unit_test(a_wait_can_be_ended_from_another_thread),
    };

    return cmocka_run_group_tests(tests, served_begin, served_end);
}
