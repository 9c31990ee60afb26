/*
 * memory_16.c - what 16 filters of 200 million URLs take.
 *
 * The plans are made at the report's full size: untouched cells use no memory.
 * The rates are measured at smaller sizes with the same bits per URL.
 */
#include "archives.h"

#include "../corpus.h"

enum { CASES = 2 };

struct memory {
    struct lab *lab;
    uint64_t n, asked;
    double filters, capacity;
    const char *name[CASES];
    double rate[CASES], published[CASES], step[CASES];
    uint64_t bytes[CASES], wrong[CASES]; /* found */
    double expected[CASES], spread[CASES];
};

static void plan(const struct memory *m, struct seen_plan *p, unsigned i,
                 uint64_t capacity)
{
    *p = (struct seen_plan){ .profile = "raw",
                             .capacity = capacity,
                             .rate = m->rate[i],
                             .seed = m->lab->seed + i };
    snprintf(p->kind, sizeof p->kind, "routed:%.0f,md5/bloom", m->filters);
}

static void measure(void *of, unsigned i)
{
    struct memory *m = of;
    const struct seen_plan *part;
    struct seen_plan p;
    struct seen_filter *f;
    double n;

    plan(m, &p, i, (uint64_t)(m->filters * m->capacity));
    f = lab_filter(&p);
    m->bytes[i] = seen_filter_bytes(f);
    seen_filter_free(f);

    plan(m, &p, i, m->n);
    f = lab_filter(&p);
    part = seen_filter_plan(seen_filter_part(f, 0));
    n = (double)m->n / m->filters;
    m->expected[i] = theory_rate(n, (double)part->bits, part->probes);
    /* Parts err independently; their unequal load is the same as a few URLs
       more or less in each. */
    m->spread[i] = theory_spread(n, (double)part->bits, part->probes) /
                   sqrt(m->filters);
    lab_add(f, m->lab->urls, 0, m->n, NULL);
    m->wrong[i] = lab_ask(f, m->lab->urls, m->n, m->n + m->asked, NULL);
    seen_filter_free(f);
}

static struct finding size(const struct memory *m, unsigned i)
{
    double theory = m->filters * least_bits(m->capacity, m->rate[i]) / 8e9;
    double whole_k = m->filters / 8e9 *
                     bits_for(m->capacity, m->rate[i],
                              round(-log2(m->rate[i])));

    /* Ours has room for parts that get more than their share (routed.c: five
       standard deviations), and a whole number of probes. */
    return (struct finding){
        .published = m->published[i],
        .step = m->step[i],
        .theory = theory,
        .measured = (double)m->bytes[i] / 1e9,
        .low = theory,
        .high = whole_k * (1 + 6 / sqrt(m->capacity)),
        .their_low = theory,
        .their_high = whole_k,
        .digits = 2,
    };
}

static void put(const struct memory *m, struct section *s)
{
    struct table *t = section_table(s, "archives-memory-16",
                                    "Gigabytes of %.0f filters of %.0f URLs",
                                    m->filters, m->capacity);

    table_columns(t, "rate, %", COMPARED, NULL);
    for (unsigned i = 0; i < CASES; i++) {
        struct finding finding = size(m, i);

        table_number(t, 100 * m->rate[i], 0);
        table_finding(t, &finding);
    }
    t = section_table(s, "archives-memory-16-rate",
                      "Percent of false positives of %.0f filters, sized so, "
                      "with %s URLs",
                      m->filters, lab_count((double)m->n));
    table_columns(t, "planned, %", COMPARED, NULL);
    for (unsigned i = 0; i < CASES; i++) {
        struct band band = band_share(m->expected[i], (double)m->asked,
                                      m->spread[i], 1);
        struct finding finding = band_percent(
            m->expected[i], band, (double)m->wrong[i] / (double)m->asked, 3);

        table_number(t, 100 * m->rate[i], 0);
        table_finding(t, &finding);
    }
}

static void conclude(const struct memory *m, struct section *s)
{
    for (unsigned i = 0; i < CASES; i++) {
        struct finding f = size(m, i);
        double bits = 8e9 * f.published / m->filters / m->capacity;

        if (finding_published(&f) == DIFFERS)
            section_headline(s,
                             "%.0f filters of %g %% take at least %.2f GB, "
                             "not the report's %g.",
                             m->filters, 100 * m->rate[i], f.theory,
                             f.published);
        if (finding_published(&f) == DIFFERS)
            section_text(
                s,
                "For %.0f %% the report's %g GB cannot be right: it is "
                "%.2f GB at least. %g GB are %.2f bits per URL, with "
                "which no Bloom filter does better than %.1f %%, or "
                "room for %s URLs in each filter in place of %s.",
                100 * m->rate[i], f.published, f.theory, f.published, bits,
                100 * exp(-bits * log(2) * log(2)),
                lab_count(8e9 * f.published / m->filters /
                          least_bits(1, m->rate[i])),
                lab_count(m->capacity));
        else
            section_text(
                s,
                "For %.0f %% the report's %g GB is what theory gives, "
                "%.2f GB, rounded; ours takes %.2f GB. (%.0f filters "
                "like that of Table 1, with k = %.0f, take %.2f GB.)",
                100 * m->rate[i], f.published, f.theory, f.measured,
                m->filters, said("figure_6_k", NULL),
                m->filters / 8e9 *
                    bits_for(m->capacity, m->rate[i],
                             said("figure_6_k", NULL)));
    }
}

void archives_memory_16(struct lab *lab, struct section *s)
{
    struct memory m = { .lab = lab,
                        .name = { "routed_gb_at_1_percent",
                                  "routed_gb_at_5_percent" },
                        .rate = { said("figure_5_single_rate", NULL),
                                  said("figure_3_4_target_rate", NULL) },
                        .filters = said("routed_filters", NULL),
                        .capacity = said("figure_6_capacity", NULL) };

    for (unsigned i = 0; i < CASES; i++)
        m.published[i] = said(m.name[i], &m.step[i]);
    section_text(s,
                 "%.0f filters for %s URLs each take, the report says, %g GB "
                 "for a rate of %.0f %% and %g GB for %.0f %%.",
                 m.filters, lab_count(m.capacity), m.published[0],
                 100 * m.rate[0], m.published[1], 100 * m.rate[1]);
    m.n = corpus_enough(lab, s, lab_n(lab, 1000000, 16000000, 320000000), 3,
                        LEAST_URLS);
    m.asked = enough_absent(m.n, 2);
    lab_each(lab, "16 filters", CASES, measure, &m);
    put(&m, s);
    conclude(&m, s);
}
