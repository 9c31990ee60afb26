/*
 * equal_memory.c - layers against a Bloom filter of the same bits.
 *
 * Each gets the same bits per URL and the best k for them:
 *
 *     bloom        one array
 *     layered:2    three arrays of the same size, as the paper has them
 *     sized        layers as large as their distinct segments need
 *
 * and asked for absent URLs of the same sites, and for crossings, the host
 * of one URL with the path of another.
 */
#include "layers.h"

#include <stdlib.h>
#include <string.h>

#include <seen/url.h>

#include "../corpus.h"
#include "apart.h"

enum { STRUCTURES = 3, POINTS_OF_MEMORY = 5, LAYERS = 2 };
enum { ABSENT, CROSSED, QUESTIONS };

static const char *const structure[STRUCTURES] = {
    "bloom", "layered:2,published", "layered:2,published, sized"
};
static const char *const question[QUESTIONS] = { "absent", "crossing" };

struct answer {
    uint64_t asked, wrong;
    double expected, spread;
};

struct equal {
    struct lab *lab;
    uint64_t n, asked;
    double bits[POINTS_OF_MEMORY]; /* a URL */
    uint64_t segments[LAYERS];     /* distinct */
    uint64_t planned[LAYERS];      /* the same, or a line's worth of them */
    struct exact stored;           /* whole URLs */
    struct answer answer[POINTS_OF_MEMORY][STRUCTURES][QUESTIONS];
    unsigned k[POINTS_OF_MEMORY][STRUCTURES];
};

/* The host of URL i with the path of URL j; 0 if one of them has none. */
static size_t cross(const struct equal *e, uint64_t i, uint64_t j, char *url)
{
    char other[URL_MOST];
    size_t end[LAYERS], len = urls_get(e->lab->urls, i, url), host;
    size_t other_len = urls_get(e->lab->urls, j, other);

    if (seen_url_segments(url, len, end, LAYERS) < LAYERS)
        return 0;
    host = end[0];
    if (seen_url_segments(other, other_len, end, LAYERS) < LAYERS ||
        host + other_len - end[0] > URL_MOST)
        return 0;
    memcpy(url + host, other + end[0], other_len - end[0]);
    return host + other_len - end[0];
}

static struct seen_filter *make(const struct equal *e, unsigned i,
                                unsigned which)
{
    struct seen_plan plan = { .profile = "raw",
                              .capacity = e->n,
                              .bits = (uint64_t)(e->bits[i] * (double)e->n),
                              .seed = e->lab->seed + i,
                              .over = true };

    snprintf(plan.kind, sizeof plan.kind, "%s",
             which ? "layered:2,published" : "bloom");
    if (which == 2)
        memcpy(plan.segments, e->planned, sizeof e->planned);
    return lab_filter(&plan);
}

/* Ask for one URL, and add up what theory expects. */
static void ask(const struct seen_filter *f, const struct apart *a,
                double rate, const char *url, size_t len,
                struct answer *answer)
{
    struct seen_error why;
    struct seen_key key;
    bool seen;

    seen_key_hash(&key, url, len);
    lab_must(seen_filter_has(f, &key, 1, &seen, &why), &why);
    answer->asked++;
    answer->wrong += seen;
    answer->expected += a ? apart_tied(a, url, len) : rate;
}

static void ask_all(struct equal *e, const struct seen_filter *f,
                    const struct apart *a, double rate, double spread,
                    struct answer answer[QUESTIONS])
{
    const struct urls *urls = e->lab->urls;
    char url[URL_MOST];

    for (uint64_t i = 0; i < e->asked; i++) {
        size_t len = urls_get(urls, e->n + i, url);
        struct seen_key key;

        ask(f, a, rate, url, len, &answer[ABSENT]);
        len = cross(e, i % e->n, seen_mix(i) % e->n, url);
        if (!len)
            continue;
        seen_key_hash(&key, url, len);
        if (!exact_has_key(&e->stored, &key))
            ask(f, a, rate, url, len, &answer[CROSSED]);
    }
    answer[ABSENT].spread = spread + (a ? apart_spread(a) : 0);
    answer[CROSSED].spread = spread;
}

static void measure(void *of, unsigned task)
{
    struct equal *e = of;
    unsigned i = task / STRUCTURES, which = task % STRUCTURES;
    struct seen_filter *f = make(e, i, which);
    const struct seen_plan *p = seen_filter_plan(f);
    double n = (double)e->n, m = (double)p->bits, rate, spread;
    char url[URL_MOST];
    struct apart a;

    e->k[i][which] = p->probes;
    lab_add(f, e->lab->urls, 0, e->n, NULL);
    if (which) {
        const uint64_t *layer = seen_filter_layers(f);

        m = (double)layer[LAYERS];
        apart_init(&a, LAYERS, e->n, layer, p->probes, p->seed);
        for (uint64_t j = 0; j < e->n; j++)
            apart_add(&a, url, urls_get(e->lab->urls, j, url));
        apart_settle(&a, m);
    }
    rate = theory_rate(n, m, p->probes);
    spread = theory_spread(n, m, p->probes) / rate;
    ask_all(e, f, which ? &a : NULL, rate, spread, e->answer[i][which]);
    if (which)
        apart_clear(&a);
    seen_filter_free(f);
}

/* Of home pages alone there are no crossings. */
static unsigned questions(const struct equal *e)
{
    return e->answer[0][0][CROSSED].asked ? QUESTIONS : CROSSED;
}

static struct finding judge(const struct answer *a)
{
    double asked = (double)a->asked, p = a->expected / asked;

    return band_percent(p, band_share(p, asked, p * a->spread, 1),
                        (double)a->wrong / asked, 4);
}

static void put(const struct equal *e, struct section *s)
{
    struct table *t = section_table(
        s, "layers-equal-memory",
        "Percent of false positives in the same memory, %s URLs",
        lab_count((double)e->n));
    struct plot *p;

    table_columns(t, "bits per URL", "structure", "k", "URLs asked for",
                  COMPARED, NULL);
    for (unsigned i = 0; i < POINTS_OF_MEMORY; i++)
        for (unsigned j = 0; j < STRUCTURES; j++)
            for (unsigned q = 0; q < questions(e); q++) {
                struct finding f = judge(&e->answer[i][j][q]);

                table_number(t, e->bits[i], 1);
                table_text(t, "%s", structure[j]);
                table_number(t, e->k[i][j], 0);
                table_text(t, "%s", question[q]);
                table_finding(t, &f);
            }
    p = section_plot(s, "layers-equal-memory-plot", "bits per URL",
                     "false positives, percent", LOG_Y,
                     "Layers and a Bloom filter of the same memory");
    for (unsigned j = 0; j < STRUCTURES; j++)
        for (unsigned q = 0; q < questions(e); q++) {
            plot_series(p, LINES_POINTS, "%s, %s URLs", structure[j],
                        question[q]);
            for (unsigned i = 0; i < POINTS_OF_MEMORY; i++)
                plot_point(p, e->bits[i], judge(&e->answer[i][j][q]).measured);
        }
}

static void conclude(const struct equal *e, struct section *s)
{
    unsigned at = POINTS_OF_MEMORY / 2, better = 0;
    struct finding bloom = judge(&e->answer[at][0][ABSENT]);
    struct finding plain = judge(&e->answer[at][1][ABSENT]);
    struct finding sized = judge(&e->answer[at][2][ABSENT]);
    char crossed[160] = "";

    if (questions(e) > CROSSED)
        snprintf(crossed, sizeof crossed,
                 " For a crossing only the XOR layer counts, which has a part "
                 "of the bits (%.4f %% measured).",
                 judge(&e->answer[at][2][CROSSED]).measured);
    for (unsigned i = 0; i < POINTS_OF_MEMORY; i++)
        better += judge(&e->answer[i][0][ABSENT]).theory <
                  judge(&e->answer[i][2][ABSENT]).theory;
    section_text(
        s,
        "In the memory that the paper gives its layers, %.1f bits per URL, a "
        "plain Bloom filter is expected to err for %.4f %% of absent URLs "
        "(measured: %.4f), the layers for %.4f %% (%.4f), and sized by their "
        "%s hosts and %s paths for %.4f %% (%.4f). By theory the Bloom filter "
        "is better than layers that are sized at %u of %u sizes.%s %s; what "
        "their memory buys is the answer whether anything is below a prefix.",
        e->bits[at], bloom.theory, bloom.measured, plain.theory,
        plain.measured, lab_count((double)e->segments[0]),
        lab_count((double)e->segments[1]), sized.theory, sized.measured,
        better, POINTS_OF_MEMORY, crossed,
        better == POINTS_OF_MEMORY
            ? "Layers are not the better filter"
            : "Which is the better filter depends on its size");
    section_headline(
        s,
        "In the same memory, %.1f bits per URL, a plain Bloom filter errs for "
        "%.4f %% of absent URLs by theory, and the layers of the paper for "
        "%.4f %%. What layers buy is the answer for a prefix.",
        e->bits[at], bloom.theory, plain.theory);
}

/* The segments that need a line of 512 bits if all arrays together have
   `bits` per URL; fewer would get none. */
static uint64_t line_of(double bits)
{
    return (uint64_t)ceil(512 * (LAYERS + 1) / bits) + 1;
}

/* Which segments and which URLs there are. */
static void look(struct equal *e)
{
    struct exact segment[LAYERS] = { { .way = HASHED }, { .way = HASHED } };
    char url[URL_MOST];

    for (uint64_t i = 0; i < e->n; i++) {
        size_t end[LAYERS], len = urls_get(e->lab->urls, i, url), from = 0;
        unsigned n = seen_url_segments(url, len, end, LAYERS);
        struct seen_key key;

        for (unsigned j = 0; j < n; from = end[j++] + 1) {
            seen_key_hash(&key, url + from, end[j] - from);
            exact_add_key(&segment[j], &key);
        }
        seen_key_hash(&key, url, len);
        exact_add_key(&e->stored, &key);
    }
    for (unsigned j = 0; j < LAYERS; j++) {
        uint64_t least = line_of(e->bits[0]);

        e->segments[j] = segment[j].n;
        e->planned[j] = segment[j].n > least ? segment[j].n : least;
        exact_clear(&segment[j]);
    }
}

void layers_equal_memory(struct lab *lab, struct section *s)
{
    static const double share[POINTS_OF_MEMORY] = { 0.5, 0.75, 1, 1.25, 1.5 };
    double whole = authors_bits(1e6, authors("target_rate")) / 1e6 *
                   (LAYERS + 1);
    struct equal e = { .lab = lab, .stored.way = HASHED };

    section_text(
        s,
        "The multi-layer filter is the most effective one, the paper "
        "concludes, since it has the least false positives. It gives each of "
        "its layers and their XOR as many bits as the Bloom filter that it is "
        "compared with. Here are %d layers, host and path, which is the least "
        "that such a filter takes.",
        LAYERS);
    e.n = corpus_enough(
        lab, s,
        lab_n(lab, 100000, 400000,
              (uint64_t)data_set(1, "bloom", "rows", NULL) / 2),
        4, line_of(whole * share[0]));
    e.asked = 3 * e.n;
    for (unsigned i = 0; i < POINTS_OF_MEMORY; i++)
        e.bits[i] = whole * share[i];
    look(&e);
    lab_each(lab, "layers of equal memory", POINTS_OF_MEMORY * STRUCTURES,
             measure, &e);
    put(&e, s);
    conclude(&e, s);
    exact_clear(&e.stored);
}
