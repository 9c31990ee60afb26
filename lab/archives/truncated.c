/*
 * truncated.c - fewer keys from shorter URLs: filters and profiles.
 *
 * The report's future work: hash not the URL but its host, or the host and
 * some of its path, and there are fewer keys to store, at the price that
 * every absent page of a present host counts as seen. An archive
 * profile (profile.h) makes the same trade with texts and counts. Both are
 * made from the same URLs, at the same depths, and asked for the same absent
 * ones.
 */
#include "archives.h"

#include <stdlib.h>

#include <seen/store.h>

#include "../corpus.h"
#include "profile.h"

static const char *const depth[] = { "surt:host", "surt:1", "surt:2", "surt:3",
                                     "surt" };
static const char *const kept[] = { "host", "1 segment", "2 segments",
                                    "3 segments", "all" };
enum {
    DEPTHS = sizeof depth / sizeof *depth,
    PREFIX_BYTES = 64 /* of memory for a prefix, about */
};

struct truncation {
    struct lab *lab;
    uint64_t n, asked;
    double rate;
    struct {
        uint64_t keys, known; /* distinct; absent URLs with a known prefix */
        uint64_t yes;         /* of the absent ones, by the filter */
        uint64_t filter, profile, packed; /* bytes */
        double expected, spread;
    } at[DEPTHS];
};

/* The key of URL i under a profile. */
static void make_key(const struct truncation *c, uint64_t i,
                     const struct seen_profile *profile, struct seen_key *key,
                     char *url, char *text)
{
    size_t len = urls_get(c->lab->urls, i, url);
    struct seen_error why;

    /* A line of the user's list that is not a URL is used as it is. */
    if (seen_key_make_as(key, text, url, len, profile, &why) != SEEN_OK)
        seen_key_hash(key, url, len);
}

static struct seen_filter *fill(const struct truncation *c, unsigned i,
                                const struct exact *prefixes)
{
    struct seen_plan plan = { .kind = "bloom",
                              .capacity = prefixes->n,
                              .rate = c->rate,
                              .seed = c->lab->seed + i };
    struct seen_filter *f;
    struct seen_error why;

    snprintf(plan.profile, sizeof plan.profile, "%s", depth[i]);
    f = lab_filter(&plan);
    for (size_t j = 0; j < prefixes->n; j++) {
        struct seen_key key;

        seen_key_hash(&key, exact_text(prefixes, j), prefixes->item[j].len);
        lab_must(seen_filter_add(f, &key, 1, NULL, &why), &why);
    }
    return f;
}

static void measure(void *of, unsigned i)
{
    struct truncation *c = of;
    char url[URL_MOST], text[SEEN_KEY_TEXT];
    const struct seen_plan *plan;
    struct seen_profile profile;
    struct exact prefixes = { .way = HASHED };
    struct seen_filter *f;
    struct seen_error why;
    struct seen_key key;
    double n;

    lab_must(seen_profile_find(&profile, depth[i], &why), &why);
    for (uint64_t j = 0; j < c->n; j++) {
        make_key(c, j, &profile, &key, url, text);
        exact_add_key(&prefixes, &key);
    }
    f = fill(c, i, &prefixes);
    for (uint64_t j = c->n; j < c->n + c->asked; j++) {
        bool seen, known;

        make_key(c, j, &profile, &key, url, text);
        known = exact_has_key(&prefixes, &key);
        lab_must(seen_filter_has(f, &key, 1, &seen, &why), &why);
        if (known && !seen)
            lab_fail("%s: a filter has lost a prefix", depth[i]);
        c->at[i].known += known;
        c->at[i].yes += seen;
    }
    plan = seen_filter_plan(f);
    n = (double)prefixes.n;
    c->at[i].keys = prefixes.n;
    c->at[i].filter = seen_filter_bytes(f);
    c->at[i].expected = theory_rate(n, (double)plan->bits, plan->probes);
    c->at[i].spread = theory_spread(n, (double)plan->bits, plan->probes);
    seen_filter_free(f);
    profile_write(&prefixes, &c->at[i].profile, &c->at[i].packed);
}

/* Yes for known prefixes, and for p of the others. */
static struct finding judge(const struct truncation *c, unsigned i)
{
    double known = (double)c->at[i].known / (double)c->asked;
    double p = c->at[i].expected, others = (double)(c->asked - c->at[i].known);
    struct band band = band_share(p, others, c->at[i].spread, 1);

    band.low = known + (1 - known) * band.low;
    band.high = known + (1 - known) * band.high;
    return band_percent(known + (1 - known) * p, band,
                        (double)c->at[i].yes / (double)c->asked, 3);
}

static void put(const struct truncation *c, struct section *s)
{
    struct table *t = section_table(
        s, "archives-truncated",
        "Percent of absent URLs that count as seen, by what is kept of a URL "
        "(%s URLs, filters of %g %%)",
        lab_count((double)c->n), 100 * c->rate);
    struct plot *plot;

    table_columns(t, "kept", "profile", COMPARED, NULL);
    for (unsigned i = 0; i < DEPTHS; i++) {
        struct finding f = judge(c, i);

        table_text(t, "%s", kept[i]);
        table_number(t, 100 * (double)c->at[i].known / (double)c->asked, 3);
        table_finding(t, &f);
    }
    t = section_table(s, "archives-truncated-size",
                      "Bytes for each of %s URLs, by what is kept of them",
                      lab_count((double)c->n));
    table_columns(t, "kept", "distinct", "filter", "profile",
                  "profile, by zstd", NULL);
    for (unsigned i = 0; i < DEPTHS; i++) {
        table_text(t, "%s", kept[i]);
        table_number(t, (double)c->at[i].keys, 0);
        table_number(t, (double)c->at[i].filter / (double)c->n, 3);
        table_number(t, (double)c->at[i].profile / (double)c->n, 3);
        table_number(t, (double)c->at[i].packed / (double)c->n, 3);
    }
    plot = section_plot(s, "archives-truncated-plot", "bytes per URL",
                        "absent URLs that count as seen, percent",
                        LOG_X | LOG_Y,
                        "Size against error, from the host to the whole URL");
    plot_series(plot, LINES_POINTS, "filters of %g %%", 100 * c->rate);
    for (unsigned i = 0; i < DEPTHS; i++)
        plot_point(plot, (double)c->at[i].filter / (double)c->n,
                   100 * (double)c->at[i].yes / (double)c->asked);
    plot_series(plot, LINES_POINTS, "profiles, by zstd");
    for (unsigned i = 0; i < DEPTHS; i++)
        plot_point(plot, (double)c->at[i].packed / (double)c->n,
                   100 * (double)c->at[i].known / (double)c->asked);
}

static void put_abilities(struct section *s)
{
    static const char *const can[][3] = {
        { "is this URL held?", "no for certain; yes, or a false positive",
          "no for certain; yes if anything below its prefix is" },
        { "is anything held below this prefix?",
          "at the depth that was kept only", "at every depth up to it" },
        { "how many URLs are below it?", "no", "yes" },
        { "which prefixes are there?", "no: it cannot be listed",
          "all, in plain text" },
        { "can a URL be added?", "yes, in place", "yes, as a line" },
        { "can it be united with another's?", "yes, if both have one plan",
          "yes, always" },
    };
    struct table *t = section_table(s, "archives-truncated-answers",
                                    "What each can answer");

    table_columns(t, "question", "filter", "profile", NULL);
    for (unsigned i = 0; i < sizeof can / sizeof *can; i++)
        for (int j = 0; j < 3; j++)
            table_text(t, "%s", can[i][j]);
}

static void conclude(const struct truncation *c, struct section *s)
{
    unsigned all = DEPTHS - 1, better = 0;
    double asked = (double)c->asked / 100, n = (double)c->n;

    for (unsigned i = 0; i < DEPTHS; i++)
        better += c->at[i].filter < c->at[i].packed;
    section_text(
        s,
        "Hosts alone take %.1f %% of the bytes of whole URLs, and %.1f %% of "
        "absent URLs count as seen; with one path segment it is %.1f %% of "
        "the bytes and %.1f %% of the URLs. The error comes from the "
        "structure: it is the share of absent URLs whose prefix is present, "
        "and the filter's rate is added to it. Its size depends on the sites: "
        "here the absent URLs are from the same sites as the present ones, "
        "which is the hard case.",
        100 * (double)c->at[0].filter / (double)c->at[all].filter,
        (double)c->at[0].yes / asked,
        100 * (double)c->at[1].filter / (double)c->at[all].filter,
        (double)c->at[1].yes / asked);
    section_text(
        s,
        "A filter is smaller than the packed profile at %u of %u depths (%.2f "
        "against %.2f bytes per URL for whole URLs, %.3f against %.3f for "
        "hosts). For its bytes the profile has counts and no error of its "
        "own, and it discloses what is held; a filter does not.",
        better, DEPTHS, (double)c->at[all].filter / n,
        (double)c->at[all].packed / n, (double)c->at[0].filter / n,
        (double)c->at[0].packed / n);
}

void archives_truncated(struct lab *lab, struct section *s)
{
    struct truncation c = { .lab = lab, .rate = said_in_text("table_1_rate") };

    section_text(s, "Truncated URLs would make filters smaller and their rate "
                    "higher, the report says in its outlook, where that is "
                    "tolerable; and archive profiles would be a promising "
                    "ground for a comparison. It measures neither.");
    c.n = corpus_enough(lab, s, lab_n(lab, 300000, 3000000, 20000000), 2,
                        LEAST_URLS);
    c.asked = c.n;
    /* Memory is taken as prefixes come; look now whether there is enough. */
    free(lab_memory(c.n, PREFIX_BYTES));
    lab_each(lab, "truncated URLs", DEPTHS, measure, &c);
    put(&c, s);
    put_abilities(s);
    conclude(&c, s);
}
