/*
 * narrow.c - do published hash functions keep the rate of large filters?
 *
 * A function of 32 bits reaches some cells of a large filter more often than
 * others: from about 10^8 bits on, the rate is above the formula of all
 * papers. The library's formula counts that. Each function fills a filter of
 * the bits that the plain formula asks for, so that the difference shows.
 */
#include "ours.h"

#include <string.h>

#include "../band.h"

static const char *const kind[] = {
    "bloom:jenkins", "bloom:murmur",  "bloom:murmur3",     "bloom:md5",
    "bloom:sha1",    "bloom:orestes", "bloom:murmur3+md5", "bloom",
};
enum { KINDS = sizeof kind / sizeof *kind, PROBES = 7 };
static const double BITS = 9.59; /* per URL: 1 % */

struct trials {
    struct lab *lab;
    uint64_t n, asked, bits;
    struct {
        double told, found;
    } of[KINDS];
};

static void try_one(void *of, unsigned i)
{
    struct trials *t = of;
    struct seen_plan plan = { .capacity = t->n,
                              .bits = t->bits,
                              .probes = PROBES,
                              .seed = t->lab->seed,
                              .over = true };
    struct seen_filter *f;

    strcpy(plan.kind, kind[i]);
    f = lab_filter(&plan);
    lab_add(f, t->lab->urls, 0, t->n, NULL);
    t->of[i].told = seen_filter_rate(f);
    t->of[i].found = (double)lab_ask(f, t->lab->urls, t->n, t->n + t->asked,
                                     NULL) /
                     (double)t->asked;
    seen_filter_free(f);
}

void ours_narrow(struct lab *lab, struct section *s)
{
    struct trials t = { .lab = lab };
    unsigned differ = 0;
    double plain, most = 0;
    struct table *table;

    section_text(s, "All papers compute the rate of a filter as if each bit "
                    "were equally likely. A hash of 32 bits makes some bits "
                    "of a large filter likelier than others. The library's "
                    "own formula counts this. Here it is compared with the "
                    "rate of each published function.");
    t.n = lab_fit(lab, lab_n(lab, 20000, 1000000, 100000000), 2);
    t.asked = t.n < 10000000 ? t.n : 10000000;
    t.bits = (uint64_t)(BITS * (double)t.n);
    plain = theory_rate((double)t.n, (double)t.bits, PROBES);
    lab_each(lab, "published hash functions", KINDS, try_one, &t);
    table = section_table(
        s, "narrow-hashes",
        "False positives of %s URLs in %s bits with %d probes, in percent",
        lab_count((double)t.n), lab_count((double)t.bits), PROBES);
    table_columns(table, "kind", "plain formula", COMPARED, NULL);
    for (unsigned i = 0; i < KINDS; i++) {
        struct finding f = band_percent(
            t.of[i].told, band_share(t.of[i].told, (double)t.asked, 0, 1),
            t.of[i].found, 4);

        table_text(table, "%s", kind[i]);
        table_number(table, 100 * plain, 4);
        table_finding(table, &f);
        differ += finding_judge(&f, THEORY) == DIFFERS;
        most = fmax(most, t.of[i].told / plain - 1);
    }
    section_text(
        s,
        "Functions of 32 bits reach 2^32 / %s = %.2f values per cell, some "
        "cells one more than others. By the library's formula the rate of "
        "these filters is up to %.2f %% above that of the plain formula. Of "
        "%d measured rates %u differ from the library's.",
        lab_count((double)t.bits), 0x1p32 / (double)t.bits, 100 * most, KINDS,
        differ);
}
