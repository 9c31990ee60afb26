/*
 * formula.c - is it (1 - e^(-kn/m))^(kl)?
 *
 * The paper multiplies the rates of l layers. That assumes that every layer
 * holds n different segments, none of them in a URL that is asked for, and it
 * leaves out the XOR layer. It is measured where this is true, with URLs that
 * share no segments, and on URLs as sites have them. Theory is the product
 * over the segments that are not there (apart.h), and the XOR.
 *
 * The rate of a layer is high (k = 2), so that its powers can be measured.
 */
#include "layers.h"

#include "../corpus.h"
#include "apart.h"

enum { LEAST = 2, MOST = 4, SORTS = 2, TASKS = SORTS * (MOST - LEAST + 1) };
enum { UNLIKE, WEB };

static const char *const sort[SORTS] = { "no segment in common", "of sites" };
static const double layer_rate = 0.25;
static const unsigned k = 2;

struct layer_result {
    double formula, expected[2], spread[2]; /* without XOR, with it */
    uint64_t wrong[2];
};

struct test {
    struct lab *lab;
    uint64_t n;
    struct layer_result result[TASKS];
};

static unsigned layers_of(unsigned task)
{
    return LEAST + task / SORTS;
}

static size_t get(const struct test *t, unsigned task, uint64_t i, char *url)
{
    size_t used;

    if (task % SORTS == WEB)
        return urls_get(t->lab->urls, i, url);
    used = (size_t)snprintf(url, URL_MOST, "http://host%llu.example",
                            (unsigned long long)i);
    for (unsigned j = 1; j < layers_of(task); j++)
        used += (size_t)snprintf(url + used, URL_MOST - used, "/%c%llu",
                                 (int)('a' + j), (unsigned long long)i);
    return used;
}

static struct seen_filter *fill(const struct test *t, unsigned task,
                                struct apart *a)
{
    unsigned l = layers_of(task);
    double bits = authors_bits((double)t->n, layer_rate);
    struct seen_plan plan = { .profile = "raw",
                              .capacity = t->n,
                              .bits = (uint64_t)bits * (l + 1),
                              .probes = k,
                              .seed = t->lab->seed + task,
                              .over = true };
    struct seen_filter *f;
    struct seen_error why;
    char url[URL_MOST];

    snprintf(plan.kind, sizeof plan.kind, "layered:%u,published", l);
    f = lab_filter(&plan);
    apart_init(a, l, t->n, seen_filter_layers(f), k, plan.seed);
    for (uint64_t i = 0; i < t->n; i++) {
        struct seen_key key;
        size_t len = get(t, task, i, url);

        seen_key_hash(&key, url, len);
        lab_must(seen_filter_add(f, &key, 1, NULL, &why), &why);
        apart_add(a, url, len);
    }
    apart_settle(a, (double)seen_filter_layers(f)[l]);
    return f;
}

static void measure(void *of, unsigned task)
{
    struct test *t = of;
    struct layer_result *r = &t->result[task];
    unsigned l = layers_of(task);
    double n = (double)t->n, m;
    struct seen_error why;
    struct seen_filter *f;
    char url[URL_MOST];
    struct apart a;

    f = fill(t, task, &a);
    m = (double)seen_filter_layers(f)[l];
    for (uint64_t i = t->n; i < 2 * t->n; i++) {
        struct seen_key key;
        size_t len = get(t, task, i, url);
        bool seen;

        seen_key_hash(&key, url, len);
        lab_must(seen_filter_has(f, &key, 1, &seen, &why), &why);
        r->wrong[0] += apart_has(&a, url, len);
        r->wrong[1] += seen;
        r->expected[0] += apart_chance(&a, url, len);
        r->expected[1] += apart_tied(&a, url, len);
    }
    r->formula = pow(theory_rate(n, m, k), l);
    r->expected[0] /= n;
    r->expected[1] /= n;
    r->spread[0] = r->expected[0] * apart_spread(&a);
    r->spread[1] = r->expected[1] *
                   (apart_spread(&a) +
                    theory_spread(n, m, k) / theory_rate(n, m, k));
    apart_clear(&a);
    seen_filter_free(f);
}

static void put(const struct test *t, struct section *s)
{
    struct table *table = section_table(
        s, "layers-formula",
        "Percent of false positives, %s URLs, k = %u, each layer of %.2f "
        "bits per URL",
        lab_count((double)t->n), k,
        authors_bits((double)t->n, layer_rate) / (double)t->n);
    struct plot *p;

    table_columns(table, "URLs", "layers", "XOR", "formula", COMPARED,
                  "measured / formula", NULL);
    for (unsigned i = 0; i < TASKS; i++)
        for (int with = 0; with < 2; with++) {
            const struct layer_result *r = &t->result[i];
            double measured = (double)r->wrong[with] / (double)t->n;
            struct finding f = band_percent(r->expected[with],
                                            band_share(r->expected[with],
                                                       (double)t->n,
                                                       r->spread[with], 1),
                                            measured, 4);

            table_text(table, "%s", sort[i % SORTS]);
            table_number(table, layers_of(i), 0);
            table_text(table, "%s", with ? "with" : "without");
            table_number(table, 100 * r->formula, 4);
            table_finding(table, &f);
            table_number(table, measured / r->formula, 2);
        }
    p = section_plot(s, "layers-formula-plot", "layers",
                     "false positives, percent", LOG_Y,
                     "The formula against measurement");
    plot_series(p, LINES, "formula");
    for (unsigned i = 0; i < TASKS; i += SORTS)
        plot_point(p, layers_of(i), 100 * t->result[i].formula);
    for (unsigned which = 0; which < SORTS; which++)
        for (int with = 0; with < 2; with++) {
            plot_series(p, LINES_POINTS, "URLs %s, %s XOR",
                        which ? "of sites" : "unlike",
                        with ? "with" : "without");
            for (unsigned i = which; i < TASKS; i += SORTS)
                plot_point(p, layers_of(i),
                           100 * (double)t->result[i].wrong[with] /
                               (double)t->n);
        }
}

static void conclude(const struct test *t, struct section *s)
{
    const struct layer_result *unlike = &t->result[TASKS - SORTS + UNLIKE];
    const struct layer_result *web = &t->result[TASKS - SORTS + WEB];
    double n = (double)t->n / 100;

    section_text(
        s,
        "With %u layers the formula says %.4f %%. For URLs without a segment "
        "in common the layers alone give %.4f %% and with the XOR, which it "
        "leaves out, %.4f %%. For URLs of sites the layers alone give %.2f "
        "%%, %.1f times the formula, and with the XOR %.2f %%, %.1f times. "
        "Segments repeat: fewer of them are in a layer than URLs, which makes "
        "its rate lower; but those of an absent URL are often known, and then "
        "the layer says yes whatever its rate is. With that corrected (column "
        "theory) %zu of %zu measurements are in the band.",
        MOST, 100 * unlike->formula, (double)unlike->wrong[0] / n,
        (double)unlike->wrong[1] / n, (double)web->wrong[0] / n,
        (double)web->wrong[0] / n / (100 * web->formula),
        (double)web->wrong[1] / n,
        (double)web->wrong[1] / n / (100 * web->formula),
        section_count(s, THEORY, AGREES),
        section_count(s, THEORY, AGREES) + section_count(s, THEORY, DIFFERS));
}

void layers_formula(struct lab *lab, struct section *s)
{
    struct test t = { .lab = lab };

    section_text(s,
                 "The false positives of l layers are (1 - e^(-kn/m))^(kl), "
                 "the paper says, the product of the rates of all layers: "
                 "hence clearly less than those of a Bloom filter.");
    t.n = corpus_enough(
        lab, s, lab_n(lab, 100000, 400000, (uint64_t)authors("problem_urls")),
        2, authors_least(layer_rate));
    lab_each(lab, "layers and the formula", TASKS, measure, &t);
    put(&t, s);
    conclude(&t, s);
}
