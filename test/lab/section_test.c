/* section_test.c - findings are judged, tables are laid out, text is escaped. */
#include "test/test.h"

#include <stdlib.h>
#include <string.h>

#include "lab/content.h"
#include "lab/page.h"
#include "lab/print.h"

static const struct experiment nothing = { "table-0", "Table 0", "a test",
                                           NULL };
static const struct paper paper = { "none", "A <paper> & more", &nothing };

/* --- judgements --- */

#define NONE NOT_JUDGED

TEST(a_finding_is_judged_by_its_bands)
{
    static const struct {
        double published, step, measured, low, high, their_low, their_high;
        enum judgement theory, published_is;
    } cases[] = {
        { 5, 0.5, 5.1, 5, 6, 4, 6, AGREES, AGREES },
        { 5, 0.5, 5, 5, 6, 4, 6, AGREES, AGREES }, /* the ends belong to it */
        { 5, 0.5, 6, 5, 6, 4, 6, AGREES, AGREES },
        /* Theirs is as theory says and ours is not: they do not agree. */
        { 5, 0.5, 4.9, 5, 6, 4, 6, DIFFERS, DIFFERS },
        { 5, 0.5, 6.1, 5, 6, 4, 6, DIFFERS, DIFFERS },
        { 5, 0.5, NAN, 5, 6, 4, 6, DIFFERS, NONE },
        { 3.4, 0.5, 5.1, 5, 6, 4, 6, AGREES, DIFFERS },
        { 3.6, 0.5, 5.1, 5, 6, 4, 6, AGREES, AGREES }, /* its rounding */
        { 6.6, 0.5, 5.1, 5, 6, 4, 6, AGREES, DIFFERS },
        /* Neither is as theory says: far apart, and together. */
        { 99, 0.5, 4.9, 5, 6, 4, 6, DIFFERS, DIFFERS },
        { 8, 0.5, 8.5, 5, 6, 4, 6, DIFFERS, AGREES },
        { 8, 0.5, 9.7, 5, 6, 4, 6, DIFFERS, DIFFERS },
        { NAN, NAN, 5.1, 5, 6, 4, 6, AGREES, NONE },
        { 99, 0.5, 5.1, 5, 6, NAN, NAN, AGREES, NONE },
        { 5, 0.5, 99, NAN, NAN, NAN, NAN, NONE, NONE },
        { NAN, NAN, 99, NAN, NAN, 4, 6, NONE, NONE },
        /* Without a band of ours, theirs holds for both. */
        { 5, 0.5, 5.2, NAN, NAN, 4, 6, NONE, AGREES },
        { 5, 0.5, 99, NAN, NAN, 4, 6, NONE, DIFFERS },
        { 9, 0.5, 5.2, NAN, NAN, 4, 6, NONE, DIFFERS },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct finding f = {
            .published = cases[i].published,
            .step = cases[i].step,
            .measured = cases[i].measured,
            .low = cases[i].low,
            .high = cases[i].high,
            .their_low = cases[i].their_low,
            .their_high = cases[i].their_high,
        };

        assert_int_equal(finding_judge(&f, THEORY), cases[i].theory);
        assert_int_equal(finding_judge(&f, PUBLISHED), cases[i].published_is);
        assert_int_equal(finding_judge(&f, BOUND), NONE);
    }
}

TEST(what_keeps_a_bound_does_not_agree_with_theory)
{
    struct finding f = { .published = NAN,
                         .measured = 0.1,
                         .low = 0.9,
                         .high = 1.1,
                         .their_low = NAN,
                         .their_high = NAN,
                         .bound = true };

    assert_int_equal(finding_judge(&f, BOUND), AGREES);
    assert_int_equal(finding_judge(&f, THEORY), NONE);
    f.measured = 1.2;
    assert_int_equal(finding_judge(&f, BOUND), DIFFERS);
    assert_int_equal(finding_judge(&f, THEORY), NONE);
    f.low = f.high = NAN;
    assert_int_equal(finding_judge(&f, BOUND), NONE);
}

TEST(a_published_number_is_judged_by_theory_alone_too)
{
    struct finding f = { .published = 5,
                         .step = 0.5,
                         .measured = NAN,
                         .low = NAN,
                         .high = NAN,
                         .their_low = 4,
                         .their_high = 6 };

    assert_int_equal(finding_published(&f), AGREES);
    f.published = 6.6;
    assert_int_equal(finding_published(&f), DIFFERS);
    f.published = NAN;
    assert_int_equal(finding_published(&f), NONE);
}

static void add_finding(struct table *t, double published, double step,
                        double theory, double measured)
{
    const struct finding f = { .published = published,
                               .step = step,
                               .theory = theory,
                               .measured = measured,
                               .low = theory - 1,
                               .high = theory + 1,
                               .their_low = theory - 1,
                               .their_high = theory + 1,
                               .digits = 2 };

    table_finding(t, &f);
}

TEST(judgements_are_counted)
{
    struct section *s = section_new(&paper, &nothing);
    struct table *t = section_table(s, "table-0", "A table");
    struct finding bound = { .published = NAN,
                             .theory = 5,
                             .measured = 4,
                             .high = 5,
                             .their_low = NAN,
                             .their_high = NAN,
                             .bound = true };

    table_columns(t, COMPARED, NULL);
    add_finding(t, 5, 0.5, 5, 5);
    add_finding(t, 5, 0.5, 5, 5);
    add_finding(t, 5, 0.5, 5, 7);
    add_finding(t, 9, 0.5, 5, 5);
    table_finding(t, &bound);
    bound.high = NAN;
    table_finding(t, &bound);
    assert_int_equal(section_count(s, THEORY, AGREES), 3);
    assert_int_equal(section_count(s, THEORY, DIFFERS), 1);
    assert_int_equal(section_count(s, BOUND, AGREES), 1);
    assert_int_equal(section_count(s, BOUND, DIFFERS), 0);
    assert_int_equal(section_count(s, PUBLISHED, AGREES), 2);
    assert_int_equal(section_count(s, PUBLISHED, DIFFERS), 2);
    assert_int_equal(s->unjudged, 1);
    assert_int_equal(table_rows(t), 6);
    assert_int_equal(t->finding[3].row, 3);
    assert_string_equal(table_cell(t, 3, 5)->text, "differs");
    assert_string_equal(table_cell(t, 4, 4)->text, "within bound");
    assert_string_equal(table_cell(t, 5, 4)->text, "-");
    assert_string_equal(table_cell(t, 5, 5)->text, "-");
    section_free(s);
}

/* --- what is shown --- */

static char *text;
static size_t len;

static struct section *make_section(void)
{
    struct section *s = section_new(&paper, &nothing);
    struct table *t;
    struct plot *p;

    section_headline(s, "It `%s` & so on.", "<holds>");
    section_text(s,
                 "It claims %d < %d, and says so in a sentence that is long "
                 "enough to be broken & then goes on.",
                 1, 2);
    t = section_table(s, "table-0", "Table 0: \"numbers\"");
    table_columns(t, "k", "name", COMPARED, NULL);
    table_number(t, 3, 0);
    table_text(t, "Gøytil");
    add_finding(t, 8.79, 0.005, 8.5, 8.75);
    table_number(t, 10, 0);
    table_text(t, "<b>");
    add_finding(t, 0.000025, 0.0000005, NAN, NAN);
    table_number(t, NAN, 0);
    table_text(t, "%s", "");
    add_finding(t, NAN, NAN, 8.5, 9.75);
    p = section_plot(s, "plot-0", "x", "y", 0, "A <plot>");
    plot_series(p, POINTS, "M = %d", 2);
    plot_point(p, 1, 2);
    plot_point(p, 3, 4);
    plot_series(p, LINES, "%s", "");
    plot_point(p, 5, 6);
    return s;
}

TEST(a_section_is_printed_in_columns)
{
    struct section *s = make_section();
    FILE *to = open_memstream(&text, &len);

    assert_non_null(to);
    print_section(to, s);
    fclose(to);
    assert_string_equal(
        text,
        "Table 0: a test                                                  "
        "none, table-0\n"
        "\n"
        "It claims 1 < 2, and says so in a sentence that is long enough to be "
        "broken &\n"
        "then goes on.\n"
        "\n"
        "Table 0: \"numbers\"\n"
        " k  name    published  theory  measured  difference  vs theory  "
        "vs published\n"
        " 3  Gøytil       8.79    8.50      8.75       +0.25  agrees     "
        "agrees\n"
        "10  <b>      0.000025                                -          -\n"
        "                         8.50      9.75       +1.25  DIFFERS    -\n"
        "\n"
        "Figure: A <plot> (drawn with --report DIR)\n"
        "\n");
    free(text);
    section_free(s);
}

static char *write_page(const struct report_page *p)
{
    struct buffer b = { .bytes = NULL };

    page_write(p, &b);
    assert_false(b.failed);
    assert_int_equal(memchr(b.bytes, 0, b.len), NULL);
    return buffer_take(&b);
}

TEST(a_page_escapes_what_html_would_take_for_its_own)
{
    struct lab lab = { .size = QUICK, .threads = 1 };
    struct section *s = make_section();
    struct report_page p = {
        .lab = &lab, .section = &s, .sections = 1, .count = 1
    };

    text = write_page(&p);
    assert_non_null(strstr(text, "A &lt;paper&gt; &amp; more</h2>"));
    assert_non_null(strstr(text, "It claims 1 &lt; 2"));
    /* Findings stand first: the numbers of all, then the sentences. */
    assert_non_null(strstr(text, "<li>1 of 2 measurements agree with theory, "
                                 "and 0 of 0 keep the bound"));
    assert_non_null(strstr(text, "<li>1 of 1 published numbers"));
    assert_non_null(strstr(text,
                           "<li>It <code>&lt;holds&gt;</code> &amp; so on. "
                           "<a class=\"name\" "
                           "href=\"#table-0\">"));
    assert_true(strstr(text, "id=\"findings\"") < strstr(text, "summary"));
    assert_non_null(strstr(text, "<td>&lt;b&gt;</td>"));
    assert_non_null(strstr(text, "Table 0: &quot;numbers&quot;"));
    assert_non_null(strstr(text, "alt=\"A &lt;plot&gt;\""));
    assert_non_null(strstr(text, "<td class=\"differs\">DIFFERS</td>"));
    assert_null(strstr(text, "Not finished"));
    free(text);
    p.count = 2;
    text = write_page(&p);
    assert_non_null(strstr(text, "Not finished: 1 of 2 experiments"));
    free(text);
    section_free(s);
}

TEST(a_figure_that_failed_is_a_table_of_its_numbers)
{
    struct lab lab = { .size = QUICK, .threads = 1 };
    struct section *s = make_section();
    struct report_page p = {
        .lab = &lab, .section = &s, .sections = 1, .count = 1
    };

    s->part[2].plot->failed = strdup("gnuplot: broke");
    text = write_page(&p);
    assert_null(strstr(text, "<img"));
    assert_non_null(strstr(text, "could not be drawn: gnuplot: broke."));
    /* A series without a title goes by that of the one before. */
    assert_non_null(
        strstr(text, "<tr><td>M = 2</td><td>line</td><td class=\"n\">5</td>"
                     "<td class=\"n\">6</td></tr>"));
    free(text);
    section_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_is_judged_by_its_bands),
        cmocka_unit_test(what_keeps_a_bound_does_not_agree_with_theory),
        cmocka_unit_test(a_published_number_is_judged_by_theory_alone_too),
        cmocka_unit_test(judgements_are_counted),
        cmocka_unit_test(a_section_is_printed_in_columns),
        cmocka_unit_test(a_page_escapes_what_html_would_take_for_its_own),
        cmocka_unit_test(a_figure_that_failed_is_a_table_of_its_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
