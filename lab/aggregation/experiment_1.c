/*
 * experiment_1.c - the time to classify pages against a lookup of 100,000.
 *
 * The paper's table has two times per number of pages: minutes to aggregate
 * them and seconds to classify them. The minutes are those of other people's
 * servers; they stand beside ours as published, and are not repeated. The
 * seconds are of Python on two CPUs, so a second of theirs says nothing about
 * one of ours; what can be compared is how they grow with the number of pages.
 *
 *     lookup    pages 0 to L - 1, version 0
 *     asked     a third each of new, updated and unchanged pages, in turn
 *
 * A time goes from the record's JSON to its class. The paper's rule has its two
 * filters in memory; ours is a state on the disk that stores each batch in a
 * transaction, and remembers words. Both start anew for each row, so that no
 * row is asked of what an earlier one added. Rows take turns in rounds.
 */
#include "aggregation.h"

#include <stdlib.h>

#include "../../lib/disk/clock.h"
#include "../corpus.h"
#include "../noise.h"
#include "../paper_table.h"

enum { WORDS = 40, BATCH = 300, ROWS_MOST = 16, ROUNDS_MOST = 10 };
enum { PAPER, OURS, WAYS };

struct classify_times {
    struct lab *lab;
    const struct paper_table *table;
    uint64_t lookup, n[ROWS_MOST]; /* pages */
    unsigned rows, rounds;
    double seconds[WAYS][ROWS_MOST][ROUNDS_MOST];
};

static void open_classifier(struct aggregation_classifier *w,
                            const struct lab *lab, unsigned way,
                            unsigned number, uint64_t capacity)
{
    struct change_options options = { .capacity = capacity };
    struct seen_error why;
    char path[1024];

    *w = (struct aggregation_classifier){ .paper = NULL };
    snprintf(path, sizeof path, "%.1000s/state-%u", lab->folder, number);
    lab_must(way == PAPER
                 ? change_published_open(&w->paper, NULL, capacity, &why)
                 : change_state_open(&w->state, path, &options, &why),
             &why);
}

static void fill(struct aggregation_classifier *w, uint64_t pages)
{
    enum change_class class[BATCH];
    struct aggregation_pages p;
    struct seen_error why;

    for (uint64_t at = 0; at < pages; at += p.n) {
        aggregation_pages_init(
            &p, at, pages - at < BATCH ? (size_t)(pages - at) : BATCH, 0,
            WORDS);
        if (w->paper)
            aggregation_classify(w, p.record, p.n, class);
        else
            lab_must(change_state_fill(w->state, p.record, p.n, &why), &why);
        aggregation_pages_clear(&p);
    }
}

/* The record of page i that is asked for, as a line: a third are new. */
static void write_asked(struct buffer *line, struct buffer *text,
                        uint64_t lookup, uint64_t i)
{
    uint64_t page = i % 3 ? i : lookup + i;
    unsigned odd = i % 3 == 1 ? (unsigned)(i % WORDS) : WORDS;

    text->len = 0;
    aggregation_text(text, page, WORDS, odd);
    aggregation_record(line, page * 64 + 1, page, text);
}

/* Classify n pages, and return the seconds from JSON to class. What was added
   is always found, so an unchanged page has one class only. */
static double ask(struct aggregation_classifier *w, uint64_t lookup,
                  uint64_t n)
{
    struct buffer line[BATCH] = { { .bytes = NULL } }, text = { .len = 0 };
    struct change_record record[BATCH] = { { .url = { NULL, 0 } } };
    enum change_class class[BATCH];
    struct seen_error why;
    double sum = 0;

    for (uint64_t at = 0; at < n; at += BATCH) {
        size_t some = n - at < BATCH ? (size_t)(n - at) : BATCH;
        double begin;

        for (size_t i = 0; i < some; i++)
            write_asked(&line[i], &text, lookup, at + i);
        begin = clock_seconds();
        for (size_t i = 0; i < some; i++)
            lab_must(change_record_read(
                         &record[i],
                         (struct seen_span){ line[i].bytes, line[i].len },
                         &why),
                     &why);
        aggregation_classify(w, record, some, class);
        sum += clock_seconds() - begin;
        for (size_t i = 0; i < some; i++)
            if ((at + i) % 3 == 2 && class[i] != CHANGE_UNCHANGED)
                lab_fail("an unchanged page is called %s",
                         change_class_name(class[i]));
    }
    for (size_t i = 0; i < BATCH; i++) {
        change_record_clear(&record[i]);
        buffer_clear(&line[i]);
    }
    buffer_clear(&text);
    return sum;
}

static void measure(void *of, unsigned i)
{
    struct classify_times *t = of;
    unsigned way = i % WAYS, row = i / WAYS % t->rows;
    struct aggregation_classifier w;

    open_classifier(&w, t->lab, way, i, 2 * t->lookup);
    fill(&w, t->lookup);
    t->seconds[way][row][i / WAYS / t->rows] = ask(&w, t->lookup, t->n[row]);
    aggregation_close(&w);
}

/* Seconds of a row, or per page of it. */
static struct noisy time_of(const struct classify_times *t, unsigned way,
                            unsigned row, double parts)
{
    struct noisy e = noise_times(t->seconds[way][row], t->rounds);

    e.value /= parts;
    e.error /= parts;
    return e;
}

static struct noisy per_page(const struct classify_times *t, unsigned way,
                             unsigned row)
{
    return time_of(t, way, row, (double)t->n[row]);
}

static double published(const struct classify_times *t, unsigned row)
{
    return paper_number(t->table, row, 4, NULL) /
           paper_number(t->table, row, 0, NULL);
}

static void put(const struct classify_times *t, struct section *s)
{
    struct table *table = section_table(
        s, "aggregation-1",
        "Experiment 1: pages classified against a lookup of %s. The published "
        "columns are for the published numbers of pages",
        lab_count((double)t->lookup));

    table_columns(table, "published: pages", "websites", "min to aggregate",
                  "s to classify", "us per page", "pages here",
                  "paper's rule: ms", "paper's rule: us per page", "ours: ms",
                  "ours: us per page", NULL);
    for (unsigned row = 0; row < t->rows; row++) {
        table_number(table, paper_number(t->table, row, 0, NULL), 0);
        table_number(table, paper_number(t->table, row, 1, NULL), 0);
        table_number(table, paper_number(t->table, row, 2, NULL), 0);
        table_number(table, paper_number(t->table, row, 4, NULL), 0);
        table_number(table, 1e6 * published(t, row), 0);
        table_number(table, (double)t->n[row], 0);
        for (unsigned way = 0; way < WAYS; way++) {
            table_number(table, 1e3 * time_of(t, way, row, 1).value, 2);
            table_number(table, 1e6 * per_page(t, way, row).value, 2);
        }
    }
}

static const char *growth(const struct classify_times *t, unsigned way,
                          char text[NOISE_WORDS])
{
    struct noisy last = per_page(t, way, t->rows - 1);
    struct noisy first = per_page(t, way, 0);

    return noise_words(text, noise_ratio(&last, &first));
}

static void conclude(const struct classify_times *t, struct section *s)
{
    unsigned end = t->rows - 1;
    char room[WAYS][NOISE_WORDS];

    section_headline(
        s,
        "A page is classified in %.1f us by the paper's rule and in %.0f us "
        "by ours, which stores its answer; the paper's Python took %.0f us.",
        1e6 * per_page(t, PAPER, end).value,
        1e6 * per_page(t, OURS, end).value, 1e6 * published(t, end));
    section_text(
        s,
        "From the first row to the last the published time per page becomes "
        "%.2f times what it was, that of the paper's rule here %s, and "
        "that of ours %s (what %u rounds leave open). A time per page "
        "that does not depend on their number is what a lookup of bits has. "
        "Its minutes to aggregate are of the crawl; `seen bench aggregate` "
        "crawls as many pages of a made-up web.",
        published(t, end) / published(t, 0), growth(t, PAPER, room[PAPER]),
        growth(t, OURS, room[OURS]), t->rounds);
}

void aggregation_experiment_1(struct lab *lab, struct section *s)
{
    struct classify_times t = {
        .lab = lab, .table = paper_table("aggregation-experiment-1")
    };
    double lookup = paper_number(t.table, 0, 3, NULL);
    size_t rows = paper_rows(t.table);

    t.lookup = lab_n(lab, (uint64_t)lookup / 10, (uint64_t)lookup,
                     (uint64_t)lookup);
    corpus_must(t.lookup, 300);
    t.rows = rows < ROWS_MOST ? (unsigned)rows : ROWS_MOST;
    t.rounds = lab_runs(lab, 3, 5, 5);
    t.rounds = t.rounds < ROUNDS_MOST ? t.rounds : ROUNDS_MOST;
    for (unsigned row = 0; row < t.rows; row++)
        t.n[row] = (uint64_t)ceil(paper_number(t.table, row, 0, NULL) *
                                  (double)t.lookup / lookup);
    section_text(
        s,
        "The paper classifies %s to %s pages against a Bloom filter with %s "
        "entries, and gives the seconds. Here the lookup has %s pages, and "
        "what is asked has the same proportion to it.",
        lab_count(paper_number(t.table, 0, 0, NULL)),
        lab_count(paper_number(t.table, t.rows - 1, 0, NULL)),
        lab_count(lookup), lab_count((double)t.lookup));
    lab_alone(lab, "pages classified", WAYS * t.rows * t.rounds, measure, &t);
    put(&t, s);
    conclude(&t, s);
}
