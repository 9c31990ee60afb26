/*
 * table_1.c - one index into one filter, in memory and in Redis.
 *
 * The report's own filter, `bloom:orestes` over URLs as they are, and ours,
 * `blocked` over SURTs, are made from the same CDX files (ingest.h). Below
 * the report's size the bits per URL are the same, so rates and megabytes can
 * be compared; seconds cannot, hence URLs per second.
 *
 * Redis: `blocked` again, in a redis-server that is started for it (server.h),
 * without persistence and with AOF. Each URL is added by its own command in
 * Redis, test-and-set, as many processes could do at once; a question is one
 * round trip over the loopback. `bloom:orestes` cannot live there.
 */
#include "archives.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <seen/share.h>

#include "../../lib/disk/clock.h"
#include "../../remote/remote.h"
#include "../corpus.h"
#include "ingest.h"
#include "server.h"

enum {
    OURS = 2,
    SERVED = 2, /* ours in Redis */
    THEIRS = 4,
    TIMED = 100000,
    TIMED_SERVED = 2000,   /* questions, one round trip each */
    SERVED_MOST = 1000000, /* URLs: about ten seconds */
    BATCH = 1024,
    PATH = 4096
};

struct table_row {
    struct ingest in;
    uint64_t to_ask, asked, wrong;
    double query, save; /* seconds */
    uint64_t text;      /* bytes */
};

static const char *const kind[OURS] = { "bloom:orestes", "blocked" };
static const char *const profile[OURS] = { "raw", "surt" };

/* Look up a URL as a user types it. */
static bool has(const struct seen_filter *f, const char *url, size_t len,
                const struct seen_profile *as, char *text)
{
    struct seen_error why;
    struct seen_key key;
    bool seen;

    lab_must(seen_key_make_as(&key, text, url, len, as, &why), &why);
    lab_must(seen_filter_has(f, &key, 1, &seen, &why), &why);
    return seen;
}

/* Lookups of absent URLs, in parts for all threads. */
struct asking {
    struct table_row *row;
    uint64_t n, asked[64], wrong[64];
};

static void ask_some(void *of, unsigned i)
{
    struct asking *a = of;
    const struct ingest *in = &a->row->in;
    uint64_t from = in->n + a->row->to_ask * i / a->n;
    uint64_t to = in->n + a->row->to_ask * (i + 1) / a->n;
    char url[URL_MOST], text[SEEN_KEY_TEXT];
    struct seen_profile as;
    struct seen_error why;

    lab_must(seen_profile_find(&as, in->plan.profile, &why), &why);
    for (; from < to; from++) {
        size_t len = urls_get(in->lab->urls, from, url);

        if (!ingest_able(url, len))
            continue;
        a->asked[i]++;
        a->wrong[i] += has(in->filter, url, len, &as, text);
    }
}

static void ask(struct table_row *row)
{
    struct asking a = { .row = row, .n = 64 };

    lab_each(row->in.lab, "asking for absent URLs", (unsigned)a.n, ask_some,
             &a);
    row->asked = 0;
    for (unsigned i = 0; i < a.n; i++) {
        row->asked += a.asked[i];
        row->wrong += a.wrong[i];
    }
    if (!row->asked || !row->in.lines)
        lab_fail("too few lines of the list are URLs that an index can have");
}

/* As many present as absent URLs, one by one. */
static void time_query(void *of, unsigned i)
{
    struct table_row *row = of;
    struct corpus t[2];
    struct seen_profile as;
    struct seen_error why;
    char text[SEEN_KEY_TEXT];
    size_t n = row->to_ask < TIMED ? row->to_ask : TIMED;
    size_t asked = 0, held = 0, found = 0;
    bool *able = lab_memory(2 * n, sizeof *able);
    double begin;

    (void)i;
    corpus_init(&t[0], row->in.lab->urls, 0, n);
    corpus_init(&t[1], row->in.lab->urls, row->in.n, n);
    lab_must(seen_profile_find(&as, row->in.plan.profile, &why), &why);
    for (size_t j = 0; j < 2 * n; j++) {
        const struct seen_key *url = &t[j & 1].key[j / 2];

        able[j] = ingest_able(url->text, url->len);
        asked += able[j];
        held += able[j] && !(j & 1);
    }
    begin = lab_cpu_clock();
    for (size_t j = 0; j < 2 * n; j++) {
        const struct seen_key *url = &t[j & 1].key[j / 2];

        if (able[j])
            found += has(row->in.filter, url->text, url->len, &as, text);
    }
    row->query = (lab_cpu_clock() - begin) / (double)asked;
    if (found < held)
        lab_fail("%s: a filter has lost URLs", row->in.plan.kind);
    corpus_clear(&t[0]);
    corpus_clear(&t[1]);
    free(able);
}

static void time_text(void *of, unsigned i)
{
    struct table_row *row = of;
    struct seen_error why;
    struct stat st;
    char path[PATH];
    double begin;

    (void)i;
    snprintf(path, sizeof path, "%s/filter.csv", row->in.lab->folder);
    begin = clock_seconds();
    lab_must(seen_csv_save(row->in.filter, path, &why), &why);
    row->save = clock_seconds() - begin;
    if (!stat(path, &st))
        row->text = (uint64_t)st.st_size;
    remove(path);
}

static void prepare(struct table_row *row, struct lab *lab, unsigned i,
                    double n)
{
    double scale = n / said_entries();

    row->in = (struct ingest){
        .lab = lab,
        .n = (uint64_t)n,
        .plan = { .capacity = (uint64_t)(said_in_text("table_1_capacity") *
                                         scale),
                  .rate = said_in_text("table_1_rate"),
                  .probes = i ? 0 : (unsigned)said_in_text("table_1_k"),
                  .seed = lab->seed }
    };
    snprintf(row->in.plan.kind, SEEN_KIND_TEXT, "%s", kind[i]);
    snprintf(row->in.plan.profile, SEEN_PROFILE_TEXT, "%s", profile[i]);
    row->to_ask = enough_absent(row->in.n, 1);
}

static void measure(struct table_row *row, struct lab *lab, unsigned i,
                    double n)
{
    prepare(row, lab, i, n);
    ingest(&row->in);
    ask(row);
    lab_alone(lab, "times of questions", 1, time_query, row);
    lab_alone(lab, "time to write text", 1, time_text, row);
}

/* --- in Redis --- */

static const char *const persistence[SERVED] = { "no persistence",
                                                 "AOF everysec" };

/* Questions about URLs [from, from + n), in batches. */
static uint64_t ask_served(struct table_row *row, uint64_t from, uint64_t n,
                           uint64_t *asked)
{
    char url[URL_MOST], text[SEEN_KEY_TEXT];
    struct seen_key key[BATCH];
    bool seen[BATCH];
    struct seen_profile as;
    struct seen_error why;
    uint64_t found = 0;

    *asked = 0;
    lab_must(seen_profile_find(&as, row->in.plan.profile, &why), &why);
    for (uint64_t i = 0; i < n;) {
        size_t some = 0;

        for (; i < n && some < BATCH; i++) {
            size_t len = urls_get(row->in.lab->urls, from + i, url);

            if (!ingest_able(url, len))
                continue;
            lab_must(seen_key_make_as(&key[some], text, url, len, &as, &why),
                     &why);
            key[some++].text = NULL; /* `blocked` reads the hash alone */
        }
        lab_must(seen_filter_has(row->in.filter, key, some, seen, &why), &why);
        for (size_t j = 0; j < some; j++)
            found += seen[j];
        *asked += some;
    }
    return found;
}

static void check_served(void *of, unsigned i)
{
    struct table_row *row = of;
    uint64_t held;

    (void)i;
    if (ask_served(row, 0, row->in.n, &held) < held)
        lab_fail("Redis: a filter has lost URLs");
    row->wrong = ask_served(row, row->in.n, row->to_ask, &row->asked);
    if (!row->asked)
        lab_fail("too few lines of the list are URLs that an index can have");
}

/* One by one, by the clock on the wall: most of it is the way to the server
   and back. */
static void time_served(void *of, unsigned i)
{
    struct table_row *row = of;
    uint64_t n = row->to_ask < TIMED_SERVED ? row->to_ask : TIMED_SERVED;
    char url[URL_MOST], text[SEEN_KEY_TEXT];
    struct seen_profile as;
    struct seen_error why;
    double begin;

    (void)i;
    lab_must(seen_profile_find(&as, row->in.plan.profile, &why), &why);
    begin = clock_seconds();
    for (uint64_t j = 0; j < n; j++) {
        uint64_t at = j & 1 ? row->in.n + j / 2 : j / 2;
        size_t len = urls_get(row->in.lab->urls, at, url);

        if (ingest_able(url, len))
            has(row->in.filter, url, len, &as, text);
    }
    row->query = (clock_seconds() - begin) / (double)n;
}

/* Out of Redis and into a file, in the text form. */
static void text_served(struct table_row *row, const char *address)
{
    struct table_row copy = *row;
    struct seen_error why;
    double begin = clock_seconds();

    lab_must(remote_load(&copy.in.filter, address, NULL, &why), &why);
    begin = clock_seconds() - begin;
    time_text(&copy, 0);
    row->save = begin + copy.save;
    row->text = copy.text;
    seen_filter_free(copy.in.filter);
}

/* False: there is no redis-server. */
static bool measure_served(struct table_row *row, struct lab *lab, double n,
                           bool aof)
{
    struct lab_server server;
    struct seen_filter *empty;
    struct seen_error why;

    prepare(row, lab, 1, fmin(n, SERVED_MOST));
    if (!lab_server_start(&server, lab->folder, aof))
        return false;
    empty = lab_filter(&row->in.plan);
    lab_must(remote_save(empty, server.address, NULL, &why), &why);
    seen_filter_free(empty);
    lab_must(remote_open(&row->in.into, server.address, NULL, &why), &why);
    ingest(&row->in);
    lab_alone(lab, "questions to Redis", 1, check_served, row);
    lab_alone(lab, "times of questions to Redis", 1, time_served, row);
    text_served(row, server.address);
    lab_server_stop(&server);
    return true;
}

/* --- the table --- */

/* Megabytes of the filter, at the report's number of URLs. */
static double megabytes(const struct table_row *row)
{
    return (double)seen_filter_bytes(row->in.filter) /
           (double)row->in.plan.capacity * said_in_text("table_1_capacity") /
           1e6;
}

static double rate(const struct table_row *row)
{
    return (double)row->wrong / (double)row->asked;
}

/* The lines of the table: their name in what was published, if it is there,
   and the digits of ours and of theirs. */
enum {
    ENTRIES,
    SECONDS,
    SPEED,
    SIZE,
    QUERY,
    RATE,
    SAVE,
    TEXT,
    LINES_OF_TABLE
};
static const struct {
    const char *name, *shown;
    int digits, theirs;
} line[LINES_OF_TABLE] = {
    [ENTRIES] = { "ingested_entries", "ingested entries", 0, 0 },
    [SECONDS] = { "ingest_seconds", "time to ingest, s", 2, 1 },
    [SPEED] = { NULL, "URLs per second", 0, 0 },
    [SIZE] = { "filter_megabytes", "size for all its entries, MB", 1, 0 },
    [QUERY] = { "query_milliseconds", "query response time, ms", 5, 4 },
    [RATE] = { "false_positive_percent", "false positives, %", 3, 2 },
    [SAVE] = { "serialize_to_text_seconds", "time to write as text, s", 3, 1 },
    [TEXT] = { NULL, "text per second, MB", 0, 0 },
};

static double ours(const struct table_row *row, unsigned i)
{
    switch (i) {
    case ENTRIES: return (double)row->in.lines;
    case SECONDS: return row->in.seconds;
    case SPEED: return (double)row->in.lines / row->in.seconds;
    case SIZE: return megabytes(row);
    case QUERY: return 1e3 * row->query;
    case RATE: return 100 * rate(row);
    case SAVE: return row->save;
    default: return (double)row->text / row->save / 1e6;
    }
}

/* Column j of what was published; speed is what the two lines above it
   give. */
static double theirs(unsigned i, size_t j)
{
    const struct paper_table *p = paper_table("archives-table-1");

    if (i == SPEED)
        return theirs(ENTRIES, j) / theirs(SECONDS, j);
    if (!line[i].name)
        return NAN;
    return paper_number(p, paper_row(p, line[i].name), j, NULL);
}

static void put_all(const struct table_row *row,
                    const struct table_row *served, struct section *s)
{
    struct table *t = section_table(s, "archives-table-1",
                                    "Table 1, and ours with %s lines and %u "
                                    "threads",
                                    lab_count((double)row->in.lines),
                                    row->in.lab->threads);

    table_columns(t, "measure", "Redis, LANL", "Redis, HAW", "memory, LANL",
                  "memory, HAW", NULL);
    for (unsigned j = 0; j < SERVED && served; j++)
        table_column(t, "Redis, %s", persistence[j]);
    for (unsigned j = 0; j < OURS; j++)
        table_column(t, "%s", kind[j]);
    for (unsigned i = 0; i < LINES_OF_TABLE; i++) {
        table_text(t, "%s", line[i].shown);
        for (size_t j = 1; j <= THEIRS; j++)
            table_number(t, theirs(i, j), line[i].theirs);
        for (unsigned j = 0; j < SERVED && served; j++)
            table_number(t, ours(&served[j], i), line[i].digits);
        for (unsigned j = 0; j < OURS; j++)
            table_number(t, ours(&row[j], i), line[i].digits);
    }
}

static double report_bits(void)
{
    return bits_for(said_in_text("table_1_capacity"),
                    said_in_text("table_1_rate"), said_in_text("table_1_k"));
}

/* What theory says of the report's filter with its index in it, percent. */
static double report_rate(void)
{
    double k = said_in_text("table_1_k");

    return 100 * theory_rate(said_entries(), report_bits(), k);
}

static struct finding judge_rate(const struct table_row *row)
{
    const struct paper_table *p = paper_table("archives-table-1");
    const struct seen_plan *plan = seen_filter_plan(row->in.filter);
    double n = (double)row->in.lines, m = (double)plan->bits;
    struct finding f = band_percent(
        theory_rate(n, m, plan->probes),
        rate_band(n, m, plan->probes, (double)row->asked), rate(row), 3);

    f.published = paper_number(p, paper_row(p, "false_positive_percent"), 3,
                               &f.step);
    /* The report does not say how many were asked for, so its number is
       judged by its rounding alone. */
    f.their_low = f.their_high = report_rate();
    return f;
}

static void put_judged(const struct table_row *row, struct section *s)
{
    const struct paper_table *p = paper_table("archives-table-1");
    const struct seen_plan *plan = seen_filter_plan(row->in.filter);
    double n = (double)row->in.lines, whole = report_bits() / 8e6;
    struct finding size = { .theory = whole,
                            .measured = megabytes(row),
                            /* Whole lines of 64 bytes. */
                            .low = whole,
                            .high = whole + 64e-6 * said_entries() / n,
                            .their_low = whole,
                            .their_high = whole,
                            .digits = 1 };
    struct finding wrong = judge_rate(row);
    struct table *t = section_table(
        s, "archives-table-1-judged",
        "Table 1: the filter of the report, `%s` with k = %u", kind[0],
        plan->probes);

    size.published = paper_number(p, paper_row(p, "filter_megabytes"), 3,
                                  &size.step);
    table_columns(t, "measure", COMPARED, NULL);
    table_text(t, "size, MB");
    table_finding(t, &size);
    table_text(t, "false positives, %%");
    table_finding(t, &wrong);
}

/* The report's rate beside theory, and what would explain a difference: fewer
   distinct URLs, or a sample so small that chance suffices. */
static void describe_rate(const struct table_row *row, struct section *s)
{
    struct finding f = judge_rate(row);
    double m = report_bits(), k = said_in_text("table_1_k");
    double distinct = -m / k * log1p(-pow(f.published / 100, 1 / k));
    double p = f.their_low / 100, gap = fabs(f.published / 100 - p);
    double unit = (band_mean(0, 1, 1).high) / (gap - f.step / 100);
    char why[256];

    if (finding_published(&f) == AGREES)
        snprintf(why, sizeof why, "is that, rounded");
    else
        snprintf(
            why, sizeof why,
            "is not that, rounded; it corresponds to %s different ones (%.2f "
            "%% %s), or to chance, if fewer than %s absent URLs were asked "
            "for, which the report does not say",
            lab_count(distinct), 100 * fabs(1 - distinct / said_entries()),
            distinct < said_entries() ? "less" : "more",
            lab_count(floor(p * (1 - p) * unit * unit)));
    section_text(s,
                 "Our filter has the size of %.1f MB (the report's: %.0f) and "
                 "%.3f %% of false positives, %s the band around theory. In "
                 "the report's there should be %.3f %%, with %s different "
                 "URLs in it; its %.2f %% %s.",
                 megabytes(row), report_bits() / 8e6, f.measured,
                 f.measured >= f.low && f.measured <= f.high ? "in"
                                                             : "outside",
                 f.their_low, lab_count(said_entries()), f.published, why);
}

static void conclude(const struct table_row *row, struct section *s)
{
    double fastest = fmax(theirs(SPEED, 3), theirs(SPEED, 4));

    describe_rate(row, s);
    section_text(
        s,
        "With %u threads %.2f million lines per second went into `%s` and "
        "%.2f million into `%s`, SURTs and lines of one cache line each; the "
        "faster of the report's machines took %.2f million. A lookup takes "
        "%.0f and %.0f ns, from the URL as typed to the answer. `%s` at %g %% "
        "takes %.1f MB, %.1f %% %s, since the probes of a URL are in one line "
        "of memory, and has %.3f %% of false positives.",
        row->in.lab->threads,
        (double)row[0].in.lines / row[0].in.seconds / 1e6, kind[0],
        (double)row[1].in.lines / row[1].in.seconds / 1e6, kind[1],
        fastest / 1e6, 1e9 * row[0].query, 1e9 * row[1].query, kind[1],
        100 * row[1].in.plan.rate, megabytes(&row[1]),
        100 * fabs(megabytes(&row[1]) / megabytes(&row[0]) - 1),
        megabytes(&row[1]) > megabytes(&row[0]) ? "more" : "less",
        100 * rate(&row[1]));
}

static void conclude_served(const struct table_row *served, struct section *s)
{
    const struct table_row *none = &served[0], *aof = &served[1];

    if (!none->in.filter) {
        section_text(s, "There is no redis-server in PATH, so the columns of "
                        "Redis are the report's alone.");
        return;
    }
    section_text(
        s,
        "In Redis, `%s` with %s URLs: %.0f URLs per second without "
        "persistence and %.0f with AOF and appendfsync everysec, each by a "
        "test-and-set of its own from one client; the report's servers took "
        "%.0f and %.0f. A question on its own takes %.3f ms, a round trip over "
        "the loopback; the report's %.3f and %.3f ms. The cells are those of a "
        "file: a server that maps the file (seen serve) needs no copy of them "
        "in a database.",
        kind[1], lab_count((double)none->in.lines), ours(none, SPEED),
        ours(aof, SPEED), theirs(SPEED, 1), theirs(SPEED, 2),
        ours(none, QUERY), theirs(QUERY, 1), theirs(QUERY, 2));
}

void archives_table_1(struct lab *lab, struct section *s)
{
    struct table_row row[OURS] = { { .asked = 0 } };
    struct table_row served[SERVED] = { { .asked = 0 } };
    bool redis = true;
    double n;

    section_text(
        s,
        "An index of %s lines went into a filter for %s URLs at %g %%, with "
        "%.0f hash functions, on two machines, in Redis and in memory; the "
        "report gives the time, the size and the error rate.",
        lab_count(said_entries()), lab_count(said_in_text("table_1_capacity")),
        100 * said_in_text("table_1_rate"), said_in_text("table_1_k"));
    n = (double)corpus_enough(
        lab, s, lab_n(lab, 500000, 10000000, (uint64_t)said_entries()), 2,
        LEAST_URLS);
    for (unsigned i = 0; i < OURS; i++)
        measure(&row[i], lab, i, n);
    for (unsigned i = 0; i < SERVED && redis; i++)
        redis = measure_served(&served[i], lab, n, i);
    put_all(row, redis ? served : NULL, s);
    put_judged(row, s);
    conclude(row, s);
    conclude_served(served, s);
    for (unsigned i = 0; i < OURS; i++)
        seen_filter_free(row[i].in.filter);
    for (unsigned i = 0; i < SERVED; i++)
        seen_filter_free(served[i].in.filter);
}
