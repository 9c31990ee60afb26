/*
 * words.c - a word of a long field changes: is it found, and it alone?
 *
 * A new word is in three shingles, all of which must be absent from the filter
 * for the word to be called new. With a false-positive rate r of the filter
 * now, and three independent questions, it is missed with the chance
 *
 *     1 - (1 - r)^3
 *
 * which is what the answer says as "wrong". Another word would be blamed if
 * all three of its shingles were absent; but each other word has a shingle
 * without the new word, and what was added is always found. So the chance is
 * 0, and one blamed word would be a defect.
 *
 * The rate falls with each trial's place in the filter's life; theory is the
 * mean of the chances that the answers themselves state.
 */
#include "aggregation.h"

#include <math.h>
#include <string.h>

#include "../band.h"

enum { WORDS = 600, BATCH = 50 };

struct word_trials {
    double trials, missed, blamed, stated, rate;
};

static void judge(struct word_trials *c, const struct change_answers *all,
                  const struct change_answer *a, unsigned place)
{
    bool found = false;

    c->trials++;
    for (size_t i = 0; i < a->changes; i++) {
        const struct change_in_field *f = &all->change[a->first + i];

        c->stated += f->wrong;
        for (size_t k = 0; k < f->parts; k++) {
            const struct change_part *p = &all->part[f->first + k];

            for (size_t w = p->at; w < p->at + p->words; w++) {
                found |= w == place;
                c->blamed += w != place;
            }
        }
    }
    c->missed += !found;
}

/* Pages with one text each, then all of them with one word changed. */
static void run_trials(struct lab *lab, uint64_t n, bool exact,
                       struct word_trials *c)
{
    struct change_options options = { .exact = exact };
    struct buffer text = { .bytes = NULL }, line[BATCH];
    struct change_record r[BATCH];
    struct change_answers answers = { .answer = NULL };
    struct change_state *state;
    struct change_facts facts;
    struct seen_error why;
    char path[1024];

    memset(r, 0, sizeof r);
    memset(line, 0, sizeof line);
    snprintf(path, sizeof path, "%.1000s/words-%d", lab->folder, exact);
    lab_must(change_state_open(&state, path, &options, &why), &why);
    for (unsigned version = 0; version < 2; version++)
        for (uint64_t at = 0; at < n; at += BATCH) {
            size_t some = n - at < BATCH ? (size_t)(n - at) : BATCH;

            for (size_t i = 0; i < some; i++) {
                uint64_t page = lab->seed % 1000003 * 65536 + at + i;

                text.len = 0;
                aggregation_text(&text, page, WORDS,
                                 version ? (unsigned)((page * 31) % WORDS)
                                         : WORDS);
                aggregation_record(&line[i], 2 * page + version, page, &text);
                lab_must(change_record_read(
                             &r[i],
                             (struct seen_span){ line[i].bytes, line[i].len },
                             &why),
                         &why);
            }
            lab_must(change_classify(state, r, some, &answers, &why), &why);
            for (size_t i = 0; version && i < some; i++) {
                uint64_t page = lab->seed % 1000003 * 65536 + at + i;

                judge(c, &answers, &answers.answer[i],
                      (unsigned)((page * 31) % WORDS));
            }
        }
    change_state_facts(state, &facts);
    c->rate = facts.word_rate;
    lab_must(change_state_close(state, &why), &why);
    for (size_t i = 0; i < BATCH; i++) {
        change_record_clear(&r[i]);
        buffer_clear(&line[i]);
    }
    buffer_clear(&text);
    change_answers_clear(&answers);
}

void aggregation_words(struct lab *lab, struct section *s)
{
    uint64_t n = lab_n(lab, 200, 2000, 10000);
    struct word_trials c = { .trials = 0 };
    struct finding f;
    struct table *t;
    double p;

    section_text(s,
                 "The paper says that it finds which portion of a field was "
                 "altered, and gives no figures. %s fields of %d words are "
                 "seen twice, the second time with one word replaced.",
                 lab_count((double)n), WORDS);
    run_trials(lab, n, false, &c);
    p = c.stated / c.trials;
    t = section_table(s, "changed-words",
                      "One word of %d was replaced, in percent of %s trials",
                      WORDS, lab_count(c.trials));
    table_columns(t, "of the trials", COMPARED, NULL);
    table_text(t, "the new word was missed");
    f = band_percent(p, band_share(p, c.trials, 0, 1), c.missed / c.trials, 3);
    table_finding(t, &f);
    table_text(t, "another word was blamed");
    f = band_percent(0, (struct band){ 0, 0 }, c.blamed / c.trials, 3);
    table_finding(t, &f);
    section_headline(s,
                     "Of %s changes of one word in %d, %.2f %% were missed "
                     "(theory %.2f %%), and %.0f other words blamed.",
                     lab_count(c.trials), WORDS, 100 * c.missed / c.trials,
                     100 * p, c.blamed);
    section_text(s,
                 "The filter of shingles had a rate of %.2g at the end. At "
                 "ten bits per shingle the rate would be 0.8 %% and 2.5 %% "
                 "would be missed.",
                 c.rate);
}
