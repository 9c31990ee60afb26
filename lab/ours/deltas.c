/*
 * deltas.c - what an update of a published filter takes, beside Clubcards.
 *
 * Mozilla publishes which of all known certificates are revoked, and every
 * six hours a clubcard of those that were revoked since [1]. All that may be
 * asked for is known when it is made, so it is exact, and its least size is
 * that of naming a of U things,
 *
 *     log2 (U choose a)
 *
 * A filter of URLs is asked for URLs that nobody knew. It errs, and an update
 * is not a set of names but the cells that changed: s of the z that were
 * empty, at least log2 (z choose s) bits. A URL changes several cells, about
 * k/2 in a full Bloom filter, so an update of a URLs costs more than naming
 * them would. This measures how much more, and how near to the least it comes.
 *
 * The cells that change: a URLs with k probes leave each of the z empty cells
 * empty with the chance e^(-ka/m). The cells are not independent: a probe that
 * hits one misses all others. That only narrows the spread, so the binomial
 * band is wide enough.
 *
 * [1] J. M. Schanck: Clubcards for the WebPKI: smaller certificate revocation
 *     tests in theory and practice. IACR ePrint 2025/610.
 */
#include "ours.h"

#include <stdlib.h>
#include <string.h>

#include <seen/share.h>
#include <seen/store.h>

#include "../band.h"
#include "../corpus.h"
#include "../paper_table.h"

enum { KINDS = 2, SHARES = 4 };
static const char *const kind[KINDS] = { "bloom", "blocked" };
static const double share[SHARES] = { 0.0001, 0.001, 0.01, 0.1 };
static const double RATE = 0.01;

struct update {
    uint64_t added;
    double cells, probes;  /* of the filter */
    double empty, changed; /* cells before; of them set by the update */
    uint64_t bytes;        /* of the delta; 0: it is not smaller than the file */
};

struct updates {
    struct lab *lab;
    uint64_t n;
    struct update of[KINDS * SHARES];
};

/* The least number of bits that name `some` of `all` things. */
static double bits_of_choice(double all, double some)
{
    return (lgamma(all + 1) - lgamma(some + 1) - lgamma(all - some + 1)) /
           log(2);
}

static double clubcards(const char *name)
{
    return paper_value(paper_table("clubcards-text"), name);
}

static double count_set(const uint64_t *cells, size_t words)
{
    uint64_t set = 0;

    for (size_t i = 0; i < words; i++)
        set += (uint64_t)__builtin_popcountll(cells[i]);
    return (double)set;
}

static double set_in(const struct seen_filter *f)
{
    const void *cells = seen_filter_memory(f);

    return count_set(cells, seen_filter_bytes(f) / sizeof(uint64_t));
}

static void measure(void *of, unsigned i)
{
    struct updates *u = of;
    struct update *to = &u->of[i];
    struct seen_plan plan = {
        .capacity = u->n, .rate = RATE, .seed = u->lab->seed, .over = true
    };
    char file[3][1100];
    struct seen_filter *f;
    struct seen_error why;
    enum seen_code code;

    for (unsigned j = 0; j < 3; j++)
        snprintf(file[j], sizeof file[j], "%.1000s/%u-%u", u->lab->folder, i,
                 j);
    strcpy(plan.kind, kind[i / SHARES]);
    f = lab_filter(&plan);
    lab_add(f, u->lab->urls, 0, u->n, NULL);
    lab_must(seen_store_save(f, file[0], &why), &why);
    to->added = (uint64_t)ceil(share[i % SHARES] * (double)u->n);
    to->cells = (double)seen_filter_plan(f)->bits;
    to->probes = seen_filter_plan(f)->probes;
    to->changed = -set_in(f);
    to->empty = to->cells + to->changed;
    lab_add(f, u->lab->urls, u->n, u->n + to->added, NULL);
    to->changed += set_in(f);
    lab_must(seen_store_save(f, file[1], &why), &why);
    seen_filter_free(f);
    code = seen_delta_make(file[0], file[1], file[2], &to->bytes, &why);
    if (code == SEEN_UNABLE)
        to->bytes = 0;
    else
        lab_must(code, &why);
}

/* Bits of the delta per URL; of the cells, at least; of names among known
   ones, at least. */
static double bits_sent(const struct update *u)
{
    return u->bytes ? 8 * (double)u->bytes / (double)u->added : NAN;
}

static double bits_least(const struct update *u)
{
    return bits_of_choice(u->empty, u->changed) / (double)u->added;
}

static double bits_named(const struct updates *u, const struct update *one)
{
    double known = (double)u->n * clubcards("late_names") /
                   clubcards("late_listed");

    return bits_of_choice(known, (double)one->added) / (double)one->added;
}

/* Cells that an update changes, per URL. In a line of `blocked` probes meet
   more often, for which there is no formula here. */
static struct finding judge(const struct update *u, bool line)
{
    double p = -expm1(-u->probes * (double)u->added / u->cells);
    double each = u->empty / (double)u->added;
    struct band b = band_share(p, u->empty, 0, 1);

    if (line)
        return band_finding(NAN, (struct band){ NAN, NAN },
                            u->changed / (double)u->added, 3);
    return band_finding(p * each, (struct band){ b.low * each, b.high * each },
                        u->changed / (double)u->added, 3);
}

static void put_ours(const struct updates *u, struct section *s)
{
    struct table *t = section_table(
        s, "deltas",
        "URLs added to a filter of %s that is full, at %g %%: cells that "
        "change per URL, and bits per URL of the delta; the least for these "
        "cells; and the least for names among %.0f times as many known ones, "
        "as certificates are",
        lab_count((double)u->n), 100 * RATE,
        clubcards("late_names") / clubcards("late_listed"));

    table_columns(t, "structure", "URLs added", COMPARED, "delta",
                  "least for the cells", "times", "least for names", NULL);
    for (unsigned i = 0; i < KINDS * SHARES; i++) {
        const struct update *one = &u->of[i];
        struct finding f = judge(one, i / SHARES == 1);

        table_text(t, "%s", kind[i / SHARES]);
        table_number(t, (double)one->added, 0);
        table_finding(t, &f);
        table_number(t, bits_sent(one), 2);
        table_number(t, bits_least(one), 2);
        table_number(t, bits_sent(one) / bits_least(one), 2);
        table_number(t, bits_named(u, one), 2);
    }
}

/* How many of all names `bytes` can name at most. */
static double most_named(double all, double bytes)
{
    double low = 1, high = all / 2;

    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;

        if (bits_of_choice(all, middle) > 8 * bytes)
            high = middle;
        else
            low = middle;
    }
    return floor(low);
}

static void put_published(struct section *s)
{
    static const struct {
        const char *what, *names, *listed, *bytes;
    } rows[] = {
        { "Bloom filter cascade, 2024-08-29", "early_names", "early_listed",
          "early_cascade" },
        { "clubcard, 2024-08-29", "early_names", "early_listed",
          "early_clubcard" },
        { "clubcard, November 2024", "late_names", "late_listed",
          "late_clubcard" },
    };
    struct table *t = section_table(
        s, "clubcards",
        "Published sizes of whole sets of revoked certificates, and the least "
        "for any set of that size; by issuer the least is smaller");

    table_columns(t, "structure", "known", "listed", "published: MB",
                  "bits per listed one", "least: MB", "times", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double all = clubcards(rows[i].names), n = clubcards(rows[i].listed);
        double bytes = clubcards(rows[i].bytes);
        double least = bits_of_choice(all, n) / 8;

        table_text(t, "%s", rows[i].what);
        table_number(t, all, 0);
        table_number(t, n, 0);
        table_number(t, bytes / 1e6, 1);
        table_number(t, 8 * bytes / n, 2);
        table_number(t, least / 1e6, 2);
        table_number(t, bytes / least, 2);
    }
}

void ours_deltas(struct lab *lab, struct section *s)
{
    struct updates u = { .lab = lab };
    const struct update *one = &u.of[2]; /* a hundredth, of bloom */

    section_text(
        s,
        "Clubcards encode which of all known certificates are revoked: "
        "%.1f MB for over %s, and %.1f kB on average for what changes in six "
        "hours. They are exact, because all that can be asked for is known "
        "when they are made. Of URLs it is not, so a filter errs at its rate, "
        "and its update is the cells that changed.",
        clubcards("late_clubcard") / 1e6, lab_count(clubcards("late_listed")),
        clubcards("late_delta") / 1e3);
    u.n = lab_fit(lab, lab_n(lab, 100000, 1000000, 8000000), 2);
    corpus_must(u.n, 1000);
    lab_each(lab, "updates", KINDS * SHARES, measure, &u);
    put_ours(&u, s);
    put_published(s);
    section_headline(
        s,
        "An update by a hundredth of a Bloom filter's URLs takes %.1f bits "
        "per URL, %.2f times the least for the cells that change; naming them "
        "among known ones, as Clubcards may, takes %.1f at least.",
        bits_sent(one), bits_sent(one) / bits_least(one), bits_named(&u, one));
    section_text(
        s,
        "The abstract does not say how many certificates a delta of %.1f kB "
        "lists; among %s it can be %s at most, if issuers say nothing about "
        "them. The README's bound, %.0f MB for %s of %s, is the one computed "
        "here; clubcards are below it, as they encode each issuer's "
        "certificates by themselves.",
        clubcards("late_delta") / 1e3, lab_count(clubcards("late_names")),
        lab_count(
            most_named(clubcards("late_names"), clubcards("late_delta"))),
        clubcards("early_bound") / 1e6, lab_count(clubcards("early_listed")),
        lab_count(clubcards("early_names")));
}
