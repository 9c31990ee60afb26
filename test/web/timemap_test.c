/* timemap_test.c - TimeMaps as RFC 7089 has them, and as archives send them. */
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/span.h"
#include "test/wall.h"
#include "web/timemap.h"

enum { MOST = 64 };

struct found {
    size_t n, most;
    struct {
        char url[256];
        int64_t when;
        bool page;
    } link[MOST];
};

static bool take(void *owner, const struct web_timemap_link *link)
{
    struct found *f = owner;

    if (f->n == f->most)
        return false;
    snprintf(f->link[f->n].url, sizeof f->link[0].url, "%.*s",
             (int)link->url.len, link->url.text);
    f->link[f->n].when = link->when;
    f->link[f->n++].page = link->page;
    return true;
}

/* Read it in pieces of `piece` bytes, each ending at a wall. */
static struct web_timemap parsed(struct found *f, const char *text, size_t len,
                                 size_t piece, int64_t latest)
{
    struct web_timemap t = { .latest = latest };

    *f = (struct found){ .most = MOST };
    for (size_t at = 0; at < len; at += piece) {
        const size_t n = len - at < piece ? len - at : piece;

        web_timemap_read(&t, walled(text + at, n), n, take, f);
    }
    web_timemap_end(&t, take, f);
    web_timemap_clear(&t);
    assert_false(t.failed);
    return t;
}

#define DATE "Tue, 20 Jun 2000 18:02:59 GMT"
#define WHEN 961524179

/* Figure 28 of RFC 7089, with its line breaks. */
static const char rfc[] =
    "<http://a.example.org>;rel=\"original\",\n"
    " <http://arxiv.example.net/timemap/http://a.example.org>\n"
    "   ; rel=\"self\";type=\"application/link-format\"\n"
    "   ; from=\"Tue, 20 Jun 2000 18:02:59 GMT\"\n"
    "   ; until=\"Wed, 09 Apr 2008 20:30:51 GMT\",\n"
    " <http://arxiv.example.net/timegate/http://a.example.org>\n"
    "   ; rel=\"timegate\",\n"
    " <http://arxiv.example.net/web/20000620180259/http://a.example.org>\n"
    "   ; rel=\"first memento\";datetime=\"Tue, 20 Jun 2000 18:02:59 GMT\"\n"
    "   ; license=\"http://creativecommons.org/publicdomain/zero/1.0/\",\n"
    " <http://arxiv.example.net/web/20091027204954/http://a.example.org>\n"
    "    ; rel=\"last memento\";datetime=\"Tue, 27 Oct 2009 20:49:54 GMT\"\n"
    "    ; license=\"http://creativecommons.org/publicdomain/zero/1.0/\",\n"
    " <http://arxiv.example.net/web/20000621011731/http://a.example.org>\n"
    "   ; rel=\"memento\";datetime=\"Wed, 21 Jun 2000 01:17:31 GMT\"\n"
    "   ; license=\"http://creativecommons.org/publicdomain/zero/1.0/\"\n";

TEST(the_example_of_the_rfc_is_read_in_pieces_of_any_size)
{
    for (size_t piece = 1; piece < sizeof rfc + 1; piece++) {
        struct found f;
        struct web_timemap t = parsed(&f, rfc, sizeof rfc - 1, piece, 0);

        assert_int_equal(t.links, 6);
        assert_int_equal(t.mementos, 3);
        assert_int_equal(t.skipped, 0);
        assert_false(t.cut);
        assert_int_equal(f.n, 3);
        assert_string_equal(f.link[0].url,
                            "http://arxiv.example.net/web/20000620180259/"
                            "http://a.example.org");
        assert_int_equal(f.link[0].when, WHEN);
        assert_int_equal(f.link[1].when, 1256676594);
        assert_int_equal(f.link[2].when, 961550251);
    }
}

#define M(url) "<" url ">;rel=\"memento\";datetime=\"" DATE "\""

/* Texts, and what is found in them. */
static const struct {
    const char *name, *text;
    unsigned mementos, pages, skipped;
    bool cut;
} cases[] = {
    { "nothing", "", 0, 0, 0, false },
    { "one", M("http://a/"), 1, 0, 0, false },
    { "commas and semicolons in a URL and in quotes",
      "<http://a/x,y;z>;title=\"a, <b>; c\";rel=\"memento\";datetime=\"" DATE
      "\"," M("http://b/"),
      2, 0, 0, false },
    { "an escaped quote",
      "<http://a/>;title=\"a\\\",<\";rel=memento;datetime="
      "\"" DATE "\"",
      1, 0, 0, false },
    { "no comma between lines", M("http://a/") "\n" M("http://b/"), 2, 0, 0,
      false },
    { "empty links", ",,, \n,, " M("http://a/") ",,,", 1, 0, 0, false },
    { "a missing quote costs one link",
      "<http://a/>;rel=\"memento;datetime=\"" DATE
      "\",\n" M("http://b/") ",\n" M("http://c/"),
      2, 0, 1, false },
    { "a quote that the line ends",
      "<http://a/>;rel=\"memento\";datetime=\"Tue,\n" M("http://b/"), 1, 0, 1,
      false },
    { "a missing >", "<http://a/;rel=\"memento\"\n" M("http://b/"), 1, 0, 1,
      false },
    { "cut in a URL", M("http://a/") ",<http://b", 1, 0, 1, true },
    { "cut in quotes", M("http://a/") ",<http://b>;rel=\"mem", 1, 0, 1, true },
    { "no date", "<http://a/>;rel=\"memento\"," M("http://b/"), 1, 0, 1,
      false },
    { "a bad date",
      "<http://a/>;rel=\"memento\";datetime=\"yesterday\"," M("http://b/"), 1,
      0, 1, false },
    { "no relation", "<http://a/>;datetime=\"" DATE "\"", 0, 0, 1, false },
    { "relations in any case",
      "<http://a/>;REL=\"Last Memento\";DateTime=\"" DATE "\"", 1, 0, 0,
      false },
    { "not a memento but its like",
      "<http://a/>;rel=\"mementos\";datetime=\"" DATE "\"", 0, 0, 0, false },
    { "a control byte in a URL",
      "<http://a/\t>;rel=memento;datetime=\"" DATE "\"", 1, 0, 0,
      false }, /* at its end it is white space */
    { "and inside it", "<http://a/\tb>;rel=memento;datetime=\"" DATE "\"", 0,
      0, 1, false },
    { "pages",
      "<http://a/2>;rel=\"timemap\",<http://a/3>;rel=timemap;type="
      "\"application/link-format\",<http://a/j>;rel=timemap;type="
      "\"application/json\",<http://a/1>;rel=\"self timemap\"",
      0, 2, 0, false },
    { "a page of HTML", "<html>\n<p>Not found, sorry.\n</html>", 0, 0, 4,
      false },
    { "JSON", "{\"mementos\": [\n{\"uri\": \"http://a/\"}]}", 0, 0, 2, false },
    { "a byte order mark", "\xef\xbb\xbf" M("http://a/"), 1, 0, 0, false },
    { "Latin-1 in a URL", M("http://a/\xe9"), 1, 0, 0, false },
};

TEST(broken_links_are_skipped_and_counted_and_others_are_found)
{
    for (size_t i = 0; i < LENGTH(cases); i++)
        for (size_t piece = 1; piece < 100; piece += 7) {
            struct found f;
            struct web_timemap t = parsed(&f, cases[i].text,
                                          strlen(cases[i].text), piece, 0);
            size_t pages = 0;

            for (size_t k = 0; k < f.n; k++)
                pages += f.link[k].page;
            if (t.mementos != cases[i].mementos || pages != cases[i].pages ||
                t.skipped != cases[i].skipped || t.cut != cases[i].cut)
                fail_msg("%s: %lu mementos, %zu pages, %lu skipped, cut %d",
                         cases[i].name, (unsigned long)t.mementos, pages,
                         (unsigned long)t.skipped, t.cut);
        }
}

TEST(the_text_may_be_utf_16_with_a_mark)
{
    static const char text[] = M("http://a/") ",\n" M("http://b/");

    for (int big = 0; big < 2; big++) {
        char wide[2 * sizeof text + 8] = { big ? '\xfe' : '\xff',
                                           big ? '\xff' : '\xfe' };
        struct web_timemap t;
        struct found f;
        size_t n = 2;

        for (size_t i = 0; i + 1 < sizeof text; i++, n += 2)
            wide[n + (size_t)big] = text[i];
        t = parsed(&f, wide, n, 5, 0);
        assert_int_equal(t.mementos, 2);
        assert_string_equal(f.link[1].url, "http://b/");
        /* U+1F600 and half of one, in the path of the first */
        memcpy(wide + 2 + 2 * 10 - 2,
               big ? "\xd8\x3d\xde\x00" : "\x3d\xd8\x00\xde", 4);
        t = parsed(&f, wide, n, 3, 0);
        assert_int_equal(t.mementos + t.skipped, 2);
        t = parsed(&f, wide, n - 1, 3, 0); /* half of a character is cut off */
        assert_true(t.cut);
    }
}

TEST(utf_16_without_a_mark_is_no_memento)
{
    static const char text[] = M("http://a/") "\n";
    char wide[2 * sizeof text] = { 0 };
    struct web_timemap t;
    struct found f;

    for (size_t i = 0; i + 1 < sizeof text; i++)
        wide[2 * i] = text[i];
    t = parsed(&f, wide, sizeof wide, 9, 0);
    assert_int_equal(t.mementos, 0);
    assert_true(t.skipped > 0);
}

TEST(mementos_of_the_future_are_skipped)
{
    static const char text[] = M(
        "http://a/") ",<http://b/>;rel=memento;datetime=\"Tue, 20 Jun 2000 "
                     "18:03:00 GMT\",<http://c/>;rel=memento;datetime=\"Fri, "
                     "31 Dec 9999 23:59:59 GMT\"";
    struct found f;
    struct web_timemap t = parsed(&f, text, sizeof text - 1, 30, WHEN);

    assert_int_equal(t.mementos, 1);
    assert_int_equal(t.future, 2);
    assert_int_equal(t.skipped, 0);
}

TEST(the_caller_can_stop)
{
    static const char text[] = M("http://a/") "," M("http://b/");
    struct web_timemap t = { 0 };
    struct found f = { .most = 2 };

    for (int i = 0; i < 5; i++) {
        web_timemap_read(&t, text, sizeof text - 1, take, &f);
        web_timemap_read(&t, ",", 1, take, &f);
    }
    assert_true(t.stopped);
    assert_int_equal(t.mementos, 2);
    assert_int_equal(f.n, 2);
    web_timemap_end(&t, take, &f);
    web_timemap_clear(&t);
}

TEST(an_endless_link_takes_bounded_memory)
{
    struct web_timemap t = { 0 };
    struct found f = { .most = MOST };
    char piece[4096];

    web_timemap_read(&t, "<http://a/", 10, take, &f);
    memset(piece, 'x', sizeof piece);
    for (int i = 0; i < 10000; i++)
        web_timemap_read(&t, piece, sizeof piece, take, &f);
    assert_true(t.link.room <= 4 * WEB_TIMEMAP_LINK);
    assert_int_equal(t.skipped, 1);
    web_timemap_read(&t, ", " M("http://b/"), strlen(", " M("http://b/")),
                     take, &f);
    web_timemap_end(&t, take, &f);
    assert_int_equal(t.mementos, 1);
    web_timemap_clear(&t);
}

TEST(dates_are_those_of_http)
{
    static const struct {
        const char *text;
        int64_t when;
    } good[] = {
        { DATE, WHEN },
        { "  " DATE " ", WHEN },
        { "20 Jun 2000 18:02:59 GMT", WHEN },
        { "Mon, 20 jun 2000 18:02:59 gmt", WHEN },
        { "Tuesday, 20-Jun-2000 18:02:59 GMT", WHEN },
        { "Tue, 20 Jun 2000 18:02:59 UTC", WHEN },
        { "Tue, 20 Jun 2000 18:02:59 +0000", WHEN },
        { "Thu, 01 Jan 1970 00:00:00 GMT", 0 },
        { "Thu, 1 Jan 1970 00:00:01 GMT", 1 },
        { "Wed, 31 Dec 1969 23:59:59 GMT", -1 },
        { "Tue, 29 Feb 2000 00:00:00 GMT", 951782400 },
        { "Fri, 31 Dec 9999 23:59:59 GMT", INT64_C(253402300799) },
        { "Sat, 31 Dec 2016 23:59:60 GMT", 1483228800 },
    };
    static const char *const bad[] = {
        "",
        ",",
        "Tue, 20 Jun 2000 18:02:59",
        "Tue, 20 Jun 2000 18:02:59 CET",
        "Tue, 20 Jun 2000 18:02 GMT",
        "Tue, 20 Jun 20000 18:02:59 GMT",
        "Tue, 20 Jun 00 18:02:59 GMT",
        "Tue, 20 Jum 2000 18:02:59 GMT",
        "Tue, 00 Jun 2000 18:02:59 GMT",
        "Tue, 31 Jun 2000 18:02:59 GMT",
        "Thu, 29 Feb 1900 18:02:59 GMT",
        "Tue, 20 Jun 2000 24:02:59 GMT",
        "Tue, 20 Jun 2000 18:60:59 GMT",
        "Tue, 20 Jun 2000 18:02:61 GMT",
        "Tue, 20 Jun 0999 18:02:59 GMT",
        "2000-06-20T18:02:59Z",
        "20000620180259",
    };
    int64_t when;

    for (size_t i = 0; i < LENGTH(good); i++) {
        const size_t len = strlen(good[i].text);

        when = -2;
        assert_true(web_timemap_date(
            (struct seen_span){ walled(good[i].text, len), len }, &when));
        assert_int_equal(when, good[i].when);
    }
    for (size_t i = 0; i < LENGTH(bad); i++) {
        const size_t len = strlen(bad[i]);

        if (web_timemap_date((struct seen_span){ walled(bad[i], len), len },
                             &when))
            fail_msg("%s is a date", bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_rfc_is_read_in_pieces_of_any_size),
        cmocka_unit_test(
            broken_links_are_skipped_and_counted_and_others_are_found),
        cmocka_unit_test(the_text_may_be_utf_16_with_a_mark),
        cmocka_unit_test(utf_16_without_a_mark_is_no_memento),
        cmocka_unit_test(mementos_of_the_future_are_skipped),
        cmocka_unit_test(the_caller_can_stop),
        cmocka_unit_test(an_endless_link_takes_bounded_memory),
        cmocka_unit_test(dates_are_those_of_http),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
