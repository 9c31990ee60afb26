/*
 * pays.c - when a filter pays at all: m/n against key length + log n.
 *
 * The left side is the bits per URL of a filter, which depend on its rate p
 * and not on the URLs; the right side is a list of the URLs, their own bits
 * and log n to find one of them. Filters of several rates are built and asked;
 * arrays and hash sets of the same number of keys are built for keys of
 * several lengths, asked, and their bytes counted.
 *
 * By the notes' rule a filter of the best k, m/n = log2(1/p) / ln 2, is
 * smaller for all p above 2^-(ln 2 (key length + log2 n)).
 *
 * What the rule leaves out: a list need not take + log n. Sorted keys of b
 * bits have gaps of 2^b / n on average, so that n of them can be written in
 * about b - log2 n + 1.5 bits each (Rice codes of the gaps), and no set of
 * keys without structure in less than b - log2 n + log2 e. For short keys
 * that is where a filter stops to pay.
 */
#include "spectral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../band.h"
#include "../exact.h"

static const double rates[] = { 0.1, 0.01, 0.001, 1e-4, 1e-6 };
/* Bytes of a key; 0: URLs as they are. */
static const unsigned lengths[] = { 4, 8, 16, 32, 64, 128, 256, 0 };
enum {
    RATES = sizeof rates / sizeof *rates,
    LENGTHS = sizeof lengths / sizeof *lengths
};

struct pays {
    struct lab *lab;
    uint64_t n;
    struct built {
        double bits, rate, theory_bits, theory_rate, m, k;
    } built[RATES];
    struct listed {
        double length;           /* mean, in bytes */
        double array, set, gaps; /* bits per key; NAN: not made */
        uint64_t wrong;          /* answers */
    } listed[LENGTHS];
};

/* --- filters --- */

static void run_filter(struct pays *p, unsigned i)
{
    struct built *b = &p->built[i];
    struct seen_plan plan = {
        .kind = "bloom",
        .capacity = p->n,
        .rate = rates[i],
        .seed = p->lab->seed,
    };
    struct seen_filter *f = lab_filter(&plan);
    double n = (double)p->n;

    lab_add(f, p->lab->urls, 0, p->n, NULL);
    b->rate = (double)lab_ask(f, p->lab->urls, p->n, 2 * p->n, NULL) / n;
    b->bits = 8 * (double)seen_filter_bytes(f) / n;
    b->k = seen_filter_plan(f)->probes;
    b->m = (double)seen_filter_plan(f)->bits;
    b->theory_bits = -b->k / log1p(-pow(rates[i], 1 / b->k));
    b->theory_rate = theory_rate(n, b->m, b->k);
    seen_filter_free(f);
}

/* --- lists --- */

struct list_keys {
    const struct urls *urls;
    unsigned length;
};

/*
 * Key number i of a length: eight bytes that no other number has (or four, of
 * the first 2^32), and the URL of that number as often as there is room.
 */
static size_t make_key(const void *of, uint64_t i, char *key)
{
    const struct list_keys *k = of;
    unsigned length = k->length;
    uint32_t short_one = (uint32_t)i * UINT32_C(2654435761);
    uint64_t mixed = seen_mix(i);
    char url[URL_MOST];
    size_t len = urls_get(k->urls, i, url), at = sizeof mixed;

    if (!length) {
        memcpy(key, url, len);
        return len;
    }
    short_one = (short_one ^ short_one >> 15) * UINT32_C(0x85ebca6b);
    short_one ^= short_one >> 13;
    if (length < sizeof mixed) {
        memcpy(key, &short_one, length);
        return length;
    }
    memcpy(key, &mixed, sizeof mixed);
    while (at < length) {
        size_t some = length - at < len ? length - at : len;

        memcpy(key + at, url, some);
        at += some;
    }
    return length;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Bits per key of Rice codes of the gaps between sorted keys: x >> r ones, a
   zero, and r bits, for the r that takes least. */
static double gap_bits(const struct pays *p, unsigned length,
                       const struct seen_key *key)
{
    uint64_t *number = lab_memory(p->n, sizeof *number);
    double least = INFINITY;

    for (uint64_t i = 0; i < p->n; i++)
        memcpy(&number[i], key[i].text, length);
    qsort(number, (size_t)p->n, sizeof *number, by_size);
    for (unsigned r = 0; r < 8 * length; r++) {
        double bits = 0;

        for (uint64_t i = 0; i < p->n; i++) {
            uint64_t gap = number[i] - (i ? number[i - 1] : 0);

            bits += (double)(gap >> r) + 1 + r;
        }
        least = fmin(least, bits / (double)p->n);
    }
    free(number);
    return least;
}

/* How many lookups are wrong in a list of the first half of these keys. */
static uint64_t count_wrong(const struct pays *p, enum exact_way way,
                            const struct corpus *t)
{
    struct exact e = { .way = way };
    uint64_t wrong = 0;

    exact_fill(&e, t->key, (size_t)p->n);
    for (uint64_t i = 0; i < 2 * p->n; i++)
        wrong += exact_has_key(&e, &t->key[i]) != (i < p->n);
    exact_clear(&e);
    return wrong;
}

/* Both lists have 2 bytes for the length of a key, and places of 4 bytes; a
   hash set is at most three quarters full. */
static void run_list(struct pays *p, unsigned i)
{
    enum { LENGTH = 2, PLACE = 4 };
    struct list_keys keys = { p->lab->urls, lengths[i] };
    struct listed *l = &p->listed[i];
    double n = (double)p->n, bytes = 0;
    struct corpus t;

    corpus_write(&t, make_key, &keys, 0, (size_t)(2 * p->n));
    for (uint64_t j = 0; j < p->n; j++)
        bytes += (double)t.key[j].len;
    l->wrong = count_wrong(p, SORTED, &t) + count_wrong(p, HASHED, &t);
    l->length = bytes / n;
    l->array = 8 * (bytes + (LENGTH + PLACE) * n) / n;
    l->set = 8 *
             (bytes + LENGTH * n + PLACE * (double)exact_places(p->n, 3, 4)) /
             n;
    l->gaps = lengths[i] && lengths[i] <= 8 ? gap_bits(p, lengths[i], t.key)
                                            : NAN;
    corpus_clear(&t);
}

static void run_one(void *of, unsigned i)
{
    if (i < LENGTHS)
        run_list(of, LENGTHS - 1 - i); /* the longest first */
    else
        run_filter(of, i - LENGTHS);
}

/* --- what was found --- */

static void show_filters(struct section *s, const struct pays *p)
{
    double n = (double)p->n;
    struct table *t = section_table(
        s, "spectral-pays-filters",
        "Filters of %.0f URLs: bits per URL by planned rate, and the rate "
        "itself, in percent",
        n);

    table_columns(t, "planned", "k", "of", COMPARED, NULL);
    for (unsigned i = 0; i < RATES; i++) {
        const struct built *b = &p->built[i];
        struct band band = band_share(b->theory_rate, n,
                                      theory_spread(n, b->m, b->k), 1);
        struct band lines = { b->theory_bits * (1 - 1e-9),
                              b->theory_bits + 512 / n };
        struct finding bits = band_finding(b->theory_bits, lines, b->bits, 2);
        struct finding rate = band_percent(b->theory_rate, band, b->rate, 5);

        for (unsigned of = 0; of < 2; of++) {
            table_number(t, 100 * rates[i], 4);
            table_number(t, b->k, 0);
            table_text(t, of ? "rate" : "bits");
            table_finding(t, of ? &rate : &bits);
        }
    }
}

static double rule_bits(const struct pays *p, unsigned i)
{
    return 8 * p->listed[i].length + log2((double)p->n);
}

static void name_length(struct table *t, unsigned i)
{
    if (lengths[i])
        table_number(t, lengths[i], 0);
    else
        table_text(t, "URLs");
}

static void show_lists(struct section *s, const struct pays *p)
{
    struct table *t = section_table(
        s, "spectral-pays-lists",
        "Lists of %.0f keys, in bits per key: by the notes' rule, an array "
        "and a hash set as measured, gaps of sorted keys; and the rate down "
        "to which the rule has a filter pay, as a power of 10",
        (double)p->n);

    table_columns(t, "bytes of a key", "mean", "rule", "array", "hash set",
                  "gaps", "least rate", "wrong answers", NULL);
    for (unsigned i = 0; i < LENGTHS; i++) {
        const struct listed *l = &p->listed[i];

        name_length(t, i);
        table_number(t, l->length, 1);
        table_number(t, rule_bits(p, i), 1);
        table_number(t, l->array, 1);
        table_number(t, l->set, 1);
        table_number(t, l->gaps, 1);
        table_number(t, -log(2) * rule_bits(p, i) * log10(2), 1);
        table_number(t, (double)l->wrong, 0);
    }
}

static void show_ratios(struct section *s, const struct pays *p)
{
    struct table *t = section_table(
        s, "spectral-pays-ratios",
        "How many times larger than the filter the smaller of array and hash "
        "set is, by the rate of the filter");
    struct plot *plot;

    table_columns(t, "bytes of a key", NULL);
    for (unsigned r = 0; r < RATES; r++)
        table_column(t, "%g %%", 100 * rates[r]);
    for (unsigned i = 0; i < LENGTHS; i++) {
        name_length(t, i);
        for (unsigned r = 0; r < RATES; r++)
            table_number(t,
                         fmin(p->listed[i].array, p->listed[i].set) /
                             p->built[r].bits,
                         1);
    }
    plot = section_plot(
        s, "spectral-pays", "bytes of a key", "bits per key", LOG_X | LOG_Y,
        "Lists and filters of %.0f keys, by the length of keys", (double)p->n);
    plot_series(plot, LINES_POINTS, "array");
    for (unsigned i = 0; lengths[i]; i++)
        plot_point(plot, lengths[i], p->listed[i].array);
    plot_series(plot, LINES_POINTS, "hash set");
    for (unsigned i = 0; lengths[i]; i++)
        plot_point(plot, lengths[i], p->listed[i].set);
    plot_series(plot, LINES_POINTS, "gaps of sorted keys");
    for (unsigned i = 0; lengths[i]; i++)
        if (!isnan(p->listed[i].gaps))
            plot_point(plot, lengths[i], p->listed[i].gaps);
    for (unsigned r = 0; r < RATES; r += 2) {
        plot_series(plot, LINES, "filter of %g %%", 100 * rates[r]);
        for (unsigned i = 0; lengths[i]; i++)
            plot_point(plot, lengths[i], p->built[r].bits);
    }
}

static void conclude(struct section *s, const struct pays *p)
{
    const struct listed *urls = &p->listed[LENGTHS - 1];
    unsigned agree = 0, all = 0, beaten = 0, gaps = 0;
    uint64_t wrong = 0;
    double hashes = NAN;

    for (unsigned i = 0; i < LENGTHS; i++) {
        const struct listed *l = &p->listed[i];

        if (lengths[i] == 8)
            hashes = l->gaps;
        wrong += l->wrong;
        for (unsigned r = 0; r < RATES; r++) {
            double filter = p->built[r].bits;

            all++;
            agree += (filter < rule_bits(p, i)) ==
                     (filter < fmin(l->array, l->set));
            gaps += isnan(l->gaps) ? 0 : 1;
            beaten += !isnan(l->gaps) && l->gaps < filter;
        }
    }
    section_text(
        s,
        "The rule and the bytes counted agree in %u of %u cases. URLs have "
        "%.0f bytes on average: the smaller of array and hash set takes %.0f "
        "bits per URL where a filter of %g %% takes %.1f, and the rule would "
        "have a filter pay down to rates that are not needed. (%s answers of "
        "the lists were wrong.) For short keys the rule favours filters too "
        "much: it compares with a list that adds log n bits to a key, while a "
        "list of sorted keys saves that much. In %u of the %u cases with keys "
        "of up to 8 bytes the gaps take less than the filter, and never err. "
        "(A hash of a URL also has 8 bytes: a list of them takes %.1f bits "
        "per URL at best, which is more than the filter.)",
        agree, all, urls->length, fmin(urls->array, urls->set), 100 * rates[1],
        p->built[1].bits, lab_count((double)wrong), beaten, gaps, hashes);
}

void spectral_pays(struct lab *lab, struct section *s)
{
    struct pays p = {
        .lab = lab,
        .n = lab_fit(lab, lab_n(lab, 50000, 500000, 5000000), 2),
    };

    lab_each(lab, "filters and lists", LENGTHS + RATES, run_one, &p);
    section_text(
        s,
        "According to the notes a filter is used \"%s\"; and \"%s\". Here "
        "filters of %s URLs are put beside a sorted array and a hash "
        "set of as many keys, of several lengths and of URLs as they "
        "are.",
        notes_say("instead"), notes_say("pays"), lab_count((double)p.n));
    show_filters(s, &p);
    show_lists(s, &p);
    show_ratios(s, &p);
    conclude(s, &p);
}
