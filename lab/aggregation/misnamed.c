/*
 * misnamed.c - how often a change gets the wrong name.
 *
 * Each case is a short history of one page, and the class that its last record
 * should get. The paper's rule asks one filter for the URL and one for the
 * content under any URL; ours asks the second for (URL, content) and stores
 * its answers by the record's id; with --exact it also has the last version.
 *
 *     case          records               should be
 *     unchanged     A A                   unchanged
 *     updated       A B                   updated
 *     reverted      A B A                 reverted
 *     copied        A, then the text of   updated
 *                   another page
 *     redelivered   A, and the same       new, as at first
 *                   record again
 *
 * The rule decides these cases by itself, not by chance: a share is 0 or 100 %
 * but for false positives, for which the band allows.
 */
#include "aggregation.h"

#include <math.h>
#include <string.h>

#include "../band.h"

enum { WORDS = 30, CASES = 5, WAYS = 3 };

static const struct {
    const char *name, *history;
    enum change_class truth;
} cases[CASES] = {
    { "unchanged", "A A", CHANGE_UNCHANGED },
    { "updated", "A B", CHANGE_UPDATED },
    { "reverted", "A B A", CHANGE_REVERTED },
    { "copied", "A C", CHANGE_UPDATED },
    { "redelivered", "A =", CHANGE_NEW },
};
static const char *const ways[WAYS] = { "the paper's rule", "ours",
                                        "ours, --exact" };

/* Which cases a way misnames always, by its rule: theory. A page that returns
   to an earlier text is not "reverted" without the last version. */
static const bool always[WAYS][CASES] = {
    { false, false, true, true, true },
    { false, false, true, false, false },
    { false, false, false, false, false },
};

struct way {
    struct aggregation_classifier rule;
    double rate; /* the largest of its filters now */
};

static void open_way(struct way *w, const struct lab *lab, int i, uint64_t n)
{
    struct change_options options = { .exact = i == 2, .capacity = 3 * n };
    char path[1024];
    struct seen_error why;

    memset(w, 0, sizeof *w);
    if (!i) {
        lab_must(
            change_published_open(&w->rule.paper, NULL, 3 * n * CASES, &why),
            &why);
        return;
    }
    snprintf(path, sizeof path, "%.1000s/way-%d", lab->folder, i);
    lab_must(change_state_open(&w->rule.state, path, &options, &why), &why);
}

static void close_way(struct way *w)
{
    struct change_facts f;
    double one, two;

    if (w->rule.paper) {
        change_published_rates(w->rule.paper, &one, &two);
        w->rate = fmax(one, two);
    } else {
        change_state_facts(w->rule.state, &f);
        w->rate = fmax(f.url_rate, fmax(f.version_rate, f.text_rate));
    }
    aggregation_close(&w->rule);
}

/* The history of one page, record by record; the class of the last. */
static enum change_class live(struct way *w, int which, uint64_t page)
{
    struct buffer text = { .bytes = NULL }, line = { .bytes = NULL };
    struct change_record r = { .url = { NULL, 0 } };
    enum change_class class = CHANGE_ERROR;
    struct seen_error why;
    uint64_t id = page * 8;

    for (const char *c = cases[which].history; *c; c++) {
        if (*c == ' ')
            continue;
        text.len = 0;
        /* C: the text of the page before, which was seen already. */
        aggregation_text(&text, *c == 'C' ? page - 1 : page, WORDS,
                         *c == 'B' ? 7 : WORDS);
        if (*c != '=')
            id++;
        aggregation_record(&line, id, page, &text);
        lab_must(change_record_read(
                     &r, (struct seen_span){ line.bytes, line.len }, &why),
                 &why);
        aggregation_classify(&w->rule, &r, 1, &class);
    }
    change_record_clear(&r);
    buffer_clear(&text);
    buffer_clear(&line);
    return class;
}

void aggregation_misnamed(struct lab *lab, struct section *s)
{
    uint64_t n = lab_n(lab, 40, 400, 4000), wrong[WAYS][CASES] = { { 0 } };
    struct table *t;
    struct way w;
    double rate[WAYS];

    section_text(s,
                 "The paper calls a page new if its URL is not in the first "
                 "filter, existing if its content is in the second, and "
                 "updated otherwise. The content is not tied to the URL, and "
                 "an answer is not tied to the record. Each case below is the "
                 "history of %s pages, whose true class is known.",
                 lab_count((double)n));
    for (int way = 0; way < WAYS; way++) {
        open_way(&w, lab, way, n * CASES);
        for (int which = 0; which < CASES; which++)
            for (uint64_t i = 0; i < n; i++)
                wrong[way][which] += live(&w, which,
                                          (uint64_t)which * n + i + 1) !=
                                     cases[which].truth;
        close_way(&w);
        rate[way] = w.rate;
    }
    t = section_table(s, "misnamed", "Misnamed pages, in percent");
    table_columns(t, "classifier", "case", "should be", COMPARED, NULL);
    for (int way = 0; way < WAYS; way++)
        for (int which = 0; which < CASES; which++) {
            double chance = always[way][which] ? 1 : 0, p = 3 * rate[way];
            struct band b = band_share(p, (double)n, 0, 1);
            struct finding f;

            if (chance > 0)
                b = (struct band){ 1 - b.high, 1 };
            else
                b.low = 0;
            f = band_percent(chance, b, (double)wrong[way][which] / (double)n,
                             2);
            table_text(t, "%s", ways[way]);
            table_text(t, "%s", cases[which].name);
            table_text(t, "%s", change_class_name(cases[which].truth));
            table_finding(t, &f);
        }
    section_headline(
        s,
        "The paper's rule misnames %.0f %% of reverted, %.0f %% of copied and "
        "%.0f %% of redelivered pages; ours with `--exact` %.0f, %.0f and %.0f "
        "%%.",
        100 * (double)wrong[0][2] / (double)n,
        100 * (double)wrong[0][3] / (double)n,
        100 * (double)wrong[0][4] / (double)n,
        100 * (double)wrong[2][2] / (double)n,
        100 * (double)wrong[2][3] / (double)n,
        100 * (double)wrong[2][4] / (double)n);
    section_text(s,
                 "Without `--exact` a page that returns to an earlier text "
                 "is unchanged for ours, too: the filter has all of its "
                 "versions and not their order. Copies and redeliveries "
                 "need no last version: the second filter is keyed by (URL, "
                 "content), and an answer is stored by the record's id.");
}
