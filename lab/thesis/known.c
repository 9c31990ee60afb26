/*
 * known.c - a fuse for what is known, a growing filter for the rest.
 *
 * Three ways get the same URLs: n that are known, a quarter as many that come
 * later. They are made to be comparable, each to the first:
 *
 *     together   a fuse of n, and a growing filter that expects the rest
 *     growing    for all, planned for the rate that the first one has
 *     bloom      for all, with the memory that the first one took; it alone
 *                must know the number of URLs in advance
 *
 * What is lost is counted on URLs that none has, and stands beside theory and,
 * where a plan promises something, beside the promise.
 */
#include "known.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <seen/build.h>

#include "../urls.h"
#include "grown.h"
#include "thesis.h"

struct known_job {
    struct lab *lab;
    uint64_t n, more, asked; /* known, later, and never added: in this order */
    struct known found;
    double spread[KNOWN_WAYS];
};

enum { FUSE_BITS = 8 }; /* of a fingerprint: one in 2^8 is taken for another */

static struct seen_filter *make_fuse(const struct known_job *j)
{
    enum { SOME = 256 };
    struct seen_plan plan = { .seed = j->lab->seed };
    struct seen_key key[SOME];
    struct seen_build *build;
    struct seen_filter *f;
    struct seen_error why;
    char *text = lab_memory(SOME, URL_MOST);

    snprintf(plan.kind, sizeof plan.kind, "fuse:%d", FUSE_BITS);
    lab_must(seen_build_new(&build, &plan, 1, &why), &why);
    for (uint64_t i = 0; i < j->n; i += SOME) {
        size_t some = j->n - i < SOME ? (size_t)(j->n - i) : SOME;

        urls_keys(j->lab->urls, i, some, key, text);
        lab_must(seen_build_add(build, 0, key, some, &why), &why);
    }
    lab_must(seen_build_finish(build, &f, &why), &why);
    free(text);
    return f;
}

static double bits_each(const struct seen_filter *f, uint64_t urls)
{
    return 8 * (double)seen_filter_bytes(f) / (double)urls;
}

static void together(struct known_job *j)
{
    struct known *found = &j->found;
    struct seen_plan plan = { .kind = "growing/bloom",
                              .capacity = j->more / 4 + 1,
                              .seed = j->lab->seed };
    struct seen_filter *fuse = make_fuse(j), *rest;
    uint64_t from = j->n + j->more, lost = 0;
    bool *one = lab_memory(j->asked, sizeof *one);
    bool *two = lab_memory(j->asked, sizeof *two);
    double rate = ldexp(1, -FUSE_BITS), more;

    plan.rate = rate;
    rest = lab_filter(&plan);
    lab_add(rest, j->lab->urls, j->n, from, NULL);
    lab_ask(fuse, j->lab->urls, from, from + j->asked, one);
    lab_ask(rest, j->lab->urls, from, from + j->asked, two);
    for (uint64_t i = 0; i < j->asked; i++)
        lost += one[i] || two[i];
    found->fuse_bits = bits_each(fuse, j->n);
    found->rest_bits = bits_each(rest, j->more);
    found->bits[TOGETHER] = bits_each(fuse, from) + bits_each(rest, from);
    more = grown_rate(rest, (double)j->more, &j->spread[TOGETHER]);
    found->rate[TOGETHER] = 1 - (1 - rate) * (1 - more);
    found->planned[TOGETHER] = 1 - (1 - rate) * (1 - plan.rate);
    found->lost[TOGETHER] = (double)lost / (double)j->asked;
    seen_filter_free(fuse);
    seen_filter_free(rest);
    free(one);
    free(two);
}

/* One filter for all URLs. */
static void alone(struct known_job *j, enum known_way way)
{
    struct known *found = &j->found;
    uint64_t all = j->n + j->more;
    struct seen_plan growing = { .kind = "growing/bloom",
                                 .capacity = j->more / 4 + 1,
                                 .rate = found->rate[TOGETHER],
                                 .seed = j->lab->seed };
    struct seen_plan bloom = { .kind = "bloom",
                               .capacity = all,
                               .bits = (uint64_t)(found->bits[TOGETHER] *
                                                  (double)all),
                               .seed = j->lab->seed };
    struct seen_filter *f = lab_filter(way == BLOOM ? &bloom : &growing);

    lab_add(f, j->lab->urls, 0, all, NULL);
    found->lost[way] = (double)lab_ask(f, j->lab->urls, all, all + j->asked,
                                       NULL) /
                       (double)j->asked;
    found->bits[way] = bits_each(f, all);
    if (way == BLOOM) {
        double bits = (double)seen_filter_plan(f)->bits;
        double k = seen_filter_plan(f)->probes;

        found->rate[way] = theory_rate((double)all, bits, k);
        found->planned[way] = NAN;
        j->spread[way] = theory_spread((double)all, bits, k);
    } else {
        found->rate[way] = grown_rate(f, (double)all, &j->spread[way]);
        found->planned[way] = growing.rate;
    }
    seen_filter_free(f);
}

static void build_all(void *of, unsigned i)
{
    struct known_job *j = of;

    (void)i;
    together(j);
    alone(j, GROWING);
    alone(j, BLOOM);
}

/* Beside theory, or beside the most that was planned, where it was. */
static void one_table(struct section *s, const struct known_job *j,
                      bool planned, struct tally *all)
{
    static const char *const name[KNOWN_WAYS] = {
        "fuse, and growing/bloom for the rest", "growing/bloom for all",
        "one bloom of the first one's memory"
    };
    struct table *t = section_table(
        s, planned ? "known-part-planned" : "known-part",
        "New URLs lost, in percent%s: %s known, %s came later",
        planned ? ", beside the most that was planned" : "",
        lab_count((double)j->n), lab_count((double)j->more));

    table_columns(t, "structure", "bits per URL", COMPARED, NULL);
    for (int i = 0; i < KNOWN_WAYS; i++) {
        double lost = j->found.lost[i], asked = (double)j->asked;
        struct finding f = planned
                               ? finding_of_promise(j->found.planned[i], lost,
                                                    asked, j->spread[i], 1)
                               : finding_of_share(j->found.rate[i], lost,
                                                  asked, j->spread[i], 1);

        if (planned && isnan(j->found.planned[i]))
            continue;
        table_text(t, "%s", name[i]);
        table_number(t, j->found.bits[i], 2);
        table_finding(t, &f);
        tally_add(all, &f, "%s", name[i]);
    }
}

struct known known_part(struct lab *lab, struct section *s, uint64_t n,
                        struct tally *all)
{
    struct known_job j = {
        .lab = lab, .n = n, .more = n / 4, .asked = n - n / 4
    };

    lab_each(lab, "a fuse for what is known", 1, build_all, &j);
    one_table(s, &j, false, all);
    one_table(s, &j, true, all);
    return j.found;
}
