/*
 * figure_4.c - which hash function?
 *
 * The same bits, k and URLs under our own hash, the Murmur3 of the report's
 * library in its two uses, and functions that the library does not have,
 * since they are not fit for it (byhand.h). Theory assumes a perfect function;
 * one that is as good lies in its band.
 */
#include "archives.h"

#include <stdlib.h>
#include <string.h>

#include "../byhand.h"
#include "../corpus.h"

enum { MOST_CASES = 16, TIMED = 20000 };

struct hash_case {
    char name[40];
    const char *kind;              /* of the library; NULL: `hash` is used */
    const struct byhand_function *hash; /* of byhand.h, without a kind */
    bool modulo;
    double rate, seconds;
    bool good; /* in the band */
};

struct figure {
    struct lab *lab;
    uint64_t n, asked, bits;
    unsigned k;
    struct corpus in, out;
    struct hash_case one[MOST_CASES];
    unsigned cases;
};

static void list(struct figure *f)
{
    static const char *const kind[] = { "bloom", "bloom:murmur3",
                                        "bloom:orestes" };
    static const char *const name[] = { "XXH3 (ours)", "Murmur3, salted",
                                        "Murmur3, as Orestes" };

    for (unsigned i = 0; i < sizeof kind / sizeof *kind; i++) {
        struct hash_case *one = &f->one[f->cases++];

        one->kind = kind[i];
        snprintf(one->name, sizeof one->name, "%s", name[i]);
    }
    for (const struct byhand_function *h = byhand_functions; h->name; h++)
        for (int modulo = 0; modulo < 2; modulo++) {
            struct hash_case *one = &f->one[f->cases++];

            one->hash = h;
            one->modulo = modulo;
            snprintf(one->name, sizeof one->name, "%s, %s", h->name,
                     modulo ? "modulo m" : "top bits");
        }
}

static struct seen_filter *make(const struct figure *f,
                                const struct hash_case *one)
{
    struct seen_plan plan = { .profile = "raw",
                              .capacity = f->n,
                              .bits = f->bits,
                              .probes = f->k,
                              .seed = f->lab->seed,
                              .over = true };

    snprintf(plan.kind, sizeof plan.kind, "%s", one->kind);
    return lab_filter(&plan);
}

static struct byhand make_by_hand(const struct figure *f,
                                  const struct hash_case *one)
{
    struct byhand b = { .function = one->hash,
                        .modulo = one->modulo,
                        .filters = 1,
                        .k = f->k,
                        .m = f->bits };
    char url[URL_MOST];

    byhand_init(&b, f->lab->seed);
    for (uint64_t i = 0; i < f->n; i++)
        byhand_add(&b, url, urls_get(f->lab->urls, i, url));
    return b;
}

static void measure(void *of, unsigned i)
{
    struct figure *f = of;
    struct hash_case *one = &f->one[i];
    const struct urls *urls = f->lab->urls;
    uint64_t wrong = 0;

    if (one->kind) {
        struct seen_filter *filter = make(f, one);

        lab_add(filter, urls, 0, f->n, NULL);
        wrong = lab_ask(filter, urls, f->n, f->n + f->asked, NULL);
        seen_filter_free(filter);
    } else {
        struct byhand b = make_by_hand(f, one);
        char url[URL_MOST];

        for (uint64_t j = f->n; j < f->n + f->asked; j++)
            wrong += byhand_has(&b, url, urls_get(urls, j, url));
        byhand_clear(&b);
    }
    one->rate = (double)wrong / (double)f->asked;
}

/* Half of the lookups are for present URLs, half for absent ones. */
static double time_by_hand(const struct byhand *b, const struct figure *f)
{
    unsigned found = 0;
    double begin = lab_cpu_clock();

    for (size_t i = 0; i < f->in.n; i++) {
        const struct seen_key *in = &f->in.key[i], *out = &f->out.key[i];

        found += byhand_has(b, in->text, in->len);
        found += byhand_has(b, out->text, out->len);
    }
    if (found < f->in.n)
        lab_fail("a filter has lost URLs");
    return (lab_cpu_clock() - begin) / (2 * (double)f->in.n);
}

static void measure_time(void *of, unsigned i)
{
    struct figure *f = of;
    struct hash_case *one = &f->one[i];

    if (one->kind) {
        struct seen_filter *filter = make(f, one);

        lab_add(filter, f->lab->urls, 0, f->n, NULL);
        one->seconds = (corpus_ask(&f->in, filter, 1) +
                        corpus_ask(&f->out, filter, 1)) /
                       2;
        seen_filter_free(filter);
    } else {
        struct byhand b = make_by_hand(f, one);

        one->seconds = time_by_hand(&b, f);
        for (int again = 0; again < 2; again++)
            one->seconds = fmin(one->seconds, time_by_hand(&b, f));
        byhand_clear(&b);
    }
}

/* The names of all cases that are as good as theory, or of those not. */
static void name(const struct figure *f, bool good, char *text, size_t size)
{
    size_t used = 0;

    snprintf(text, size, "none");
    for (unsigned i = 0; i < f->cases; i++)
        if (f->one[i].good == good && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     used ? "; " : "", f->one[i].name);
}

static void put(struct figure *f, struct section *s)
{
    double p = theory_rate((double)f->n, (double)f->bits, f->k);
    struct band band = rate_band((double)f->n, (double)f->bits, f->k,
                                 (double)f->asked);
    struct table *t = section_table(
        s, "archives-figure-4",
        "Figure 4: %s URLs in %s bits, k = %u; percent of false "
        "positives, and nanoseconds per question",
        lab_count((double)f->n), lab_count((double)f->bits), f->k);
    struct plot *plot;

    table_columns(t, "hash function", COMPARED, "times theory", "ns", NULL);
    for (unsigned i = 0; i < f->cases; i++) {
        struct hash_case *one = &f->one[i];
        struct finding finding = band_percent(p, band, one->rate, 3);

        one->good = one->rate >= band.low && one->rate <= band.high;
        /* Functions that were not made for this are not judged. */
        if (one->hash)
            finding.low = finding.high = NAN;
        table_text(t, "%s", one->name);
        table_finding(t, &finding);
        table_number(t, one->rate / p, 2);
        table_number(t, 1e9 * one->seconds, 0);
    }
    plot = section_plot(s, "archives-figure-4-plot", "hash function",
                        "false positives, percent", LOG_Y,
                        "Figure 4: the rate by hash function");
    for (unsigned i = 0; i < f->cases; i++)
        plot_tick(plot, i + 1, "%s", f->one[i].name);
    plot_series(plot, POINTS, "measured");
    for (unsigned i = 0; i < f->cases; i++)
        plot_point(plot, i + 1, 100 * f->one[i].rate);
    plot_series(plot, LINES, "theory");
    for (unsigned i = 0; i < f->cases; i++)
        plot_point(plot, i + 1, 100 * p);
}

/* Is a function outside of the band, in either of its uses? */
static bool fails(const struct figure *f, const char *hash)
{
    for (unsigned i = 0; i < f->cases; i++)
        if (f->one[i].hash && !strcmp(f->one[i].hash->name, hash) &&
            !f->one[i].good)
            return true;
    return false;
}

/* The reasons of functions that failed; FNV-1a has none of its own. */
static void describe_why(const struct figure *f, struct section *s)
{
    static const char *const why[][2] = {
        { "Adler-32", " A sum (Adler-32) has few values for texts as short as "
                      "URLs, and they lie close together." },
        { "31 h + c",
          " With 31 h + c, two texts of one length that have one hash have it "
          "under every salt, so that one common probe makes all probes "
          "common." },
        { "CRC-32",
          " A CRC is linear: another salt changes the same bits of all hashes "
          "of one length, so the k probes of a URL are one probe shifted, and "
          "may coincide with those of another URL in pairs." },
    };
    char text[1024] = "";

    for (size_t i = 0; i < sizeof why / sizeof *why; i++)
        if (fails(f, why[i][0]))
            strcat(text, why[i][1]);
    if (*text)
        section_text(s, "Why a function fails.%s", text);
}

static void conclude(const struct figure *f, struct section *s)
{
    const struct paper_table *table = paper_table("archives-table-1");
    size_t query = paper_row(table, "query_milliseconds");
    double theirs = paper_number(table, query, 3, NULL) / 1e3;
    char good[512], bad[512];
    const struct hash_case *worst = f->one, *slow = f->one, *fast = f->one;

    for (unsigned i = 0; i < f->cases; i++) {
        const struct hash_case *one = &f->one[i];

        worst = one->rate > worst->rate ? one : worst;
        slow = one->seconds > slow->seconds ? one : slow;
        fast = one->seconds < fast->seconds ? one : fast;
    }
    name(f, true, good, sizeof good);
    name(f, false, bad, sizeof bad);
    section_text(
        s,
        "As good as theory, within the band: %s. Not so: %s. The worst "
        "is %s, with %.2f %%. %s; the Murmur3 of the report's library is "
        "%s.",
        good, bad, worst->name, 100 * worst->rate,
        strcmp(bad, "none")
            ? "That some are better suited than others holds here"
            : "With so few lookups none differs from a perfect one",
        f->one[2].good ? "a good choice" : "not a good choice");
    describe_why(f, s);
    section_text(
        s,
        "With the same bits and k a lookup takes from %.0f ns (%s) to %.0f ns "
        "(%s): the response time depends on the function. The difference is "
        "%.0f %% of the %.0f ns that the report gives for a lookup (Table 1).",
        1e9 * fast->seconds, fast->name, 1e9 * slow->seconds, slow->name,
        100 * (slow->seconds - fast->seconds) / theirs, 1e9 * theirs);
}

void archives_figure_4(struct lab *lab, struct section *s)
{
    double capacity = said("figure_3_4_capacity", NULL);
    double k = said("figure_3_best_k", NULL);
    struct figure f = { .lab = lab, .k = (unsigned)k };

    section_text(
        s,
        "The report asks a filter of %s bits for %s URLs, with %u hash "
        "functions, under several functions (named in its picture): some are "
        "much better suited than others, and the response time is seemingly "
        "unaffected.",
        lab_count(said("figure_3_4_bits", NULL)), lab_count(capacity), f.k);
    f.n = corpus_enough(lab, s,
                        lab_n(lab, 400000, 4000000, (uint64_t)capacity), 2,
                        LEAST_URLS);
    f.bits = (uint64_t)(said("figure_3_4_bits", NULL) / capacity *
                        (double)f.n);
    f.asked = enough_absent(f.n, 1);
    list(&f);
    lab_each(lab, "rates by hash function", f.cases, measure, &f);
    corpus_init(&f.in, lab->urls, 0, f.n < TIMED ? f.n : TIMED);
    corpus_init(&f.out, lab->urls, f.n, f.in.n);
    lab_alone(lab, "times by hash function", f.cases, measure_time, &f);
    put(&f, s);
    conclude(&f, s);
    corpus_clear(&f.in);
    corpus_clear(&f.out);
}
