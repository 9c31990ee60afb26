/*
 * aggregate_lookup.c - one record against lookups of many sizes.
 *
 * Experiment 2 of the aggregation paper compares a Bloom lookup with a
 * "traditional string lookup comparison" and does not say which. Here are the
 * two that it may have been, each asked for a URL and its content as the
 * paper's rule asks:
 *
 *     list    an array of strings, compared one after the other to the end
 *     set     a hash table of strings
 *     paper   the paper's rule on two Bloom filters in memory
 *     ours    the state of seen classify, on the disk, with its transaction
 *
 * Ours does more than the others: it stores the answer so that a redelivery
 * repeats it, and remembers words. Sizes and contenders take turns in slices.
 *
 * For the times by size, lookups are filled by change_state_fill(), which
 * gives the filters what classifying the pages as new gives them, without
 * answers: 10 million pages in a minute or two. The states are made with
 * --capacity; with `grown` they are made without, and their filters have grown
 * in parts, each of which is asked. What is timed is change_classify() with
 * records that were read, in one thread, with the flush of its transaction.
 */
#include "aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../change/published.h"
#include "../change/state.h"
#include "../lib/text/map.h"
#include "../lib/text/span.h"
#include "bench.h"
#include "process.h"

enum {
    TURNS = 9,
    BATCH = 500,     /* records of a kind per transaction */
    SIZE_WORDS = 12, /* words of a record, for the times by size */
    SIZES_MOST = 8,
    ASKED_LIST = 8, /* records per turn: a scan is slow */
    ASKED = 2000
};

static void put_word(struct buffer *line, uint64_t number)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    unsigned n = 3 + (unsigned)(number & 7);

    for (unsigned i = 0; i < n; i++)
        buffer_byte(line, letters[(number >> (5 * i + 3)) % 26]);
}

void bench_record_line(struct buffer *line, uint64_t page, unsigned version,
                       unsigned words)
{
    unsigned text = version % 65536;

    buffer_format(line,
                  "{\"_id\": \"%llu-%u\", \"_url\": \"http://h%llu.example/"
                  "p%llu\", \"_visit\": \"%u\", \"_status\": 200, \"text\": "
                  "[\"",
                  (unsigned long long)page, version,
                  (unsigned long long)(page % 30), (unsigned long long)page,
                  version);
    for (unsigned i = 0; i < words; i++) {
        bool other = text && i == (page + text) % words;

        if (i)
            buffer_byte(line, ' ');
        put_word(line,
                 seen_mix(page * 1000003 + i + (other ? text * 7919 : 0) +
                          UINT64_C(0x9e3779b97f4a7c15)));
    }
    buffer_text(line, "\"]}\n");
}

static bool fail(const struct seen_error *why)
{
    fprintf(stderr, "seen: bench: %s\n", why->text);
    return false;
}

/* --- records in memory --- */

struct records {
    struct change_record *record;
    struct buffer *line;
    size_t n;
};

static bool make_records(struct records *r, uint64_t first, size_t n,
                         unsigned version, unsigned words)
{
    struct seen_error why;

    r->record = calloc(n, sizeof *r->record);
    r->line = calloc(n, sizeof *r->line);
    r->n = r->record && r->line ? n : 0;
    for (size_t i = 0; i < r->n; i++) {
        struct buffer *b = &r->line[i];

        bench_record_line(b, first + i, version, words);
        if (b->failed ||
            change_record_read(&r->record[i],
                               (struct seen_span){ b->bytes, b->len },
                               &why) != SEEN_OK)
            return fail(&why);
    }
    return r->n == n;
}

static void free_records(struct records *r)
{
    for (size_t i = 0; i < r->n; i++) {
        change_record_clear(&r->record[i]);
        buffer_clear(&r->line[i]);
    }
    free(r->record);
    free(r->line);
    memset(r, 0, sizeof *r);
}

/* --- strings --- */

struct strings {
    struct seen_span *url, *content; /* in order */
    struct map urls, contents;
    struct buffer bytes;
    size_t n;
};

static struct seen_span content_of(const struct change_record *r)
{
    return r->values ? r->value[0] : (struct seen_span){ "", 0 };
}

static bool make_strings(struct strings *s, const struct records *r)
{
    size_t at = 0;

    s->url = calloc(r->n, sizeof *s->url);
    s->content = calloc(r->n, sizeof *s->content);
    if (!s->url || !s->content)
        return false;
    for (size_t i = 0; i < r->n; i++) {
        buffer_span(&s->bytes, r->record[i].url);
        buffer_span(&s->bytes, content_of(&r->record[i]));
    }
    if (s->bytes.failed)
        return false;
    for (size_t i = 0; i < r->n; i++) {
        s->url[i] = (struct seen_span){ s->bytes.bytes + at,
                                        r->record[i].url.len };
        at += s->url[i].len;
        s->content[i] = (struct seen_span){ s->bytes.bytes + at,
                                            content_of(&r->record[i]).len };
        at += s->content[i].len;
        if (!map_set(&s->urls, s->url[i].text, s->url[i].len, &s->url[i]) ||
            !map_set(&s->contents, s->content[i].text, s->content[i].len,
                     &s->content[i]))
            return false;
    }
    s->n = r->n;
    return true;
}

static void free_strings(struct strings *s)
{
    free(s->url);
    free(s->content);
    map_clear(&s->urls);
    map_clear(&s->contents);
    buffer_clear(&s->bytes);
    memset(s, 0, sizeof *s);
}

static bool in_list(const struct seen_span *list, size_t n,
                    struct seen_span text)
{
    for (size_t i = 0; i < n; i++)
        if (span_equal(list[i], text))
            return true;
    return false;
}

static enum change_class by_list(const struct strings *s,
                                 const struct change_record *r)
{
    if (!in_list(s->url, s->n, r->url))
        return CHANGE_NEW;
    return in_list(s->content, s->n, content_of(r)) ? CHANGE_UNCHANGED
                                                    : CHANGE_UPDATED;
}

static enum change_class by_set(const struct strings *s,
                                const struct change_record *r)
{
    struct seen_span content = content_of(r);

    if (!map_get(&s->urls, r->url.text, r->url.len))
        return CHANGE_NEW;
    return map_get(&s->contents, content.text, content.len) ? CHANGE_UNCHANGED
                                                            : CHANGE_UPDATED;
}

/* --- Experiment 2 --- */

/* papers: Content aggregation, Experiment 2. */
static const struct {
    uint64_t size;
    double string_seconds, bloom_seconds;
} published[] = {
    { 1000, 0.001254, 0.0003 }, { 5000, 0.003, 0.0005 },
    { 10000, 0.006, 0.0008 },   { 20000, 0.2, 0.001 },
    { 50000, 0.35, 0.002 },     { 100000, 0.7, 0.008 },
    { 1000000, 1.29, 0.03 },
};
enum { PUBLISHED = sizeof published / sizeof *published };

struct contest {
    struct strings strings;
    struct change_published *paper;
    struct records asked;
    double list[TURNS], set[TURNS], bloom[TURNS];
};

/* Updated pages: the URL is found and the content is not, which is the most
   work for each of them. Nothing is added meanwhile. */
static bool take_turn(struct contest *c, int turn, uint64_t size)
{
    size_t few = c->asked.n < ASKED_LIST ? c->asked.n : ASKED_LIST;
    double from = bench_ns();
    enum change_class class = CHANGE_UPDATED;
    struct seen_error why;
    bool good = true;

    for (size_t i = 0; i < few; i++)
        good &= by_list(&c->strings, &c->asked.record[i]) == CHANGE_UPDATED;
    c->list[turn] = (bench_ns() - from) / 1e9 / (double)few;
    from = bench_ns();
    for (size_t i = 0; i < c->asked.n; i++)
        good &= by_set(&c->strings, &c->asked.record[i]) == CHANGE_UPDATED;
    c->set[turn] = (bench_ns() - from) / 1e9 / (double)c->asked.n;
    from = bench_ns();
    for (size_t i = 0; i < c->asked.n; i++)
        if (change_published_classify(c->paper, &c->asked.record[i], &class,
                                      &why) != SEEN_OK)
            return fail(&why);
    c->bloom[turn] = (bench_ns() - from) / 1e9 / (double)c->asked.n;
    if (!good)
        fprintf(stderr, "seen: bench: a wrong class at %llu\n",
                (unsigned long long)size);
    return good;
}

static bool fill_published(struct contest *c, const struct records *all)
{
    struct seen_error why;
    enum change_class class;

    if (change_published_open(&c->paper, NULL, 2 * all->n + 100000, &why) !=
        SEEN_OK)
        return fail(&why);
    for (size_t i = 0; i < all->n; i++)
        if (change_published_classify(c->paper, &all->record[i], &class,
                                      &why) != SEEN_OK)
            return fail(&why);
    return true;
}

static void show_strings(size_t row, struct contest *c, bool json)
{
    double list = bench_median(c->list, TURNS);
    double set = bench_median(c->set, TURNS);
    double bloom = bench_median(c->bloom, TURNS);

    if (json) {
        printf("{\"bench\": \"aggregate\", \"experiment\": 2, ");
        bench_json("lookup", (double)published[row].size, ", ");
        bench_json("published_string_s", published[row].string_seconds, ", ");
        bench_json("published_bloom_s", published[row].bloom_seconds, ", ");
        bench_json("list_s", list, ", ");
        bench_json("set_s", set, ", ");
        bench_json("bloom_s", bloom, "}\n");
        return;
    }
    printf("%10llu %12.6f %12.6f %9.1f %12.2f %12.2f %12.2f %9.1f %9.2f\n",
           (unsigned long long)published[row].size,
           published[row].string_seconds, published[row].bloom_seconds,
           published[row].string_seconds / published[row].bloom_seconds,
           1e6 * list, 1e6 * set, 1e6 * bloom, list / bloom, set / bloom);
}

bool bench_lookup_strings(uint64_t most, unsigned words, bool json)
{
    bool good = true;

    if (!json)
        printf("\nExperiment 2: one record against a lookup; the paper in s, "
               "here in us (median of %d)\n%10s %12s %12s %9s %12s %12s %12s "
               "%9s %9s\n",
               TURNS, "lookup", "paper string", "paper Bloom", "ratio", "list",
               "hash set", "Bloom", "list/Bl.", "set/Bl.");
    for (size_t row = 0; good && row < PUBLISHED; row++) {
        struct contest c = { .paper = NULL };
        struct records all = { .n = 0 };
        uint64_t size = published[row].size;

        if (size > most)
            break;
        good = make_records(&all, 0, size, 0, words) &&
               make_strings(&c.strings, &all) && fill_published(&c, &all);
        free_records(&all);
        for (int turn = 0; good && turn < TURNS; turn++) {
            /* Another version each time: the paper's rule adds it. */
            good = make_records(&c.asked, size - (size < ASKED ? size : ASKED),
                                size < ASKED ? size : ASKED,
                                (unsigned)turn + 1, words) &&
                   take_turn(&c, turn, size);
            free_records(&c.asked);
        }
        if (good)
            show_strings(row, &c, json);
        free_strings(&c.strings);
        change_published_close(c.paper, NULL);
    }
    return good;
}

/* --- sizes --- */

struct lookup {
    uint64_t size;
    struct change_state *state;
    double us[TURNS], cpu[TURNS];
};

/* us of CPU time, of all threads. */
static double cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + (double)t.tv_nsec / 1e3;
}

static bool open_lookup(struct lookup *l, uint64_t size, bool grown,
                        unsigned words)
{
    struct change_options options = { .capacity = grown ? 0 : size + 100000 };
    char name[32], path[PATH_ROOM];
    struct seen_error why;
    bool good = true;

    l->size = size;
    snprintf(name, sizeof name, "state-%llu", (unsigned long long)size);
    process_path(path, name);
    if (change_state_open(&l->state, path, &options, &why) != SEEN_OK)
        return fail(&why);
    for (uint64_t at = 0; good && at < size; at += BATCH) {
        struct records r = { .n = 0 };

        good = make_records(&r, at, BATCH, 0, words);
        if (good &&
            change_state_fill(l->state, r.record, r.n, &why) != SEEN_OK)
            good = fail(&why);
        free_records(&r);
    }
    return good;
}

/* A batch of pages that are new, updated, unchanged. */
static bool ask_lookup(struct lookup *l, int turn, unsigned words)
{
    static const enum change_class expected[] = { CHANGE_NEW, CHANGE_UPDATED,
                                                  CHANGE_UNCHANGED };
    uint64_t old = (uint64_t)turn * BATCH % (l->size - BATCH + 1);
    unsigned next = (unsigned)turn + 1;
    struct change_answers answers = { .answer = NULL };
    struct records part[3] = { { .n = 0 } };
    struct change_record all[3 * BATCH];
    struct seen_error why;
    unsigned other = 0;
    bool good;
    double from, cpu;

    good = make_records(&part[0], UINT64_C(1) << 40 | (uint64_t)turn * BATCH,
                        BATCH, 0, words) &&
           make_records(&part[1], old, BATCH, next, words) &&
           make_records(&part[2], old, BATCH, next * 65536, words);
    for (int i = 0; good && i < 3; i++)
        memcpy(all + i * BATCH, part[i].record, BATCH * sizeof *all);
    cpu = cpu_us();
    from = bench_ns();
    if (good &&
        change_classify(l->state, all, 3 * BATCH, &answers, &why) != SEEN_OK)
        good = fail(&why);
    l->us[turn] = (bench_ns() - from) / 1e3 / (3 * BATCH);
    l->cpu[turn] = (cpu_us() - cpu) / (3 * BATCH);
    for (size_t i = 0; good && i < answers.n; i++)
        other += answers.answer[i].class != expected[i / BATCH];
    if (good && other > 5) { /* some are wrong by the filters' rates */
        fprintf(stderr, "seen: bench: %u of %zu classes are wrong\n", other,
                answers.n);
        good = false;
    }
    for (int i = 0; i < 3; i++)
        free_records(&part[i]);
    change_answers_clear(&answers);
    return good;
}

bool bench_lookup_sizes(uint64_t most, bool grown, bool json)
{
    struct lookup l[SIZES_MOST] = { { .size = 0 } };
    size_t n = 0;
    double first = NAN, first_cpu = NAN;
    bool good = true;

    for (uint64_t size = 1000; good && size <= most && n < SIZES_MOST;
         size *= 10)
        good = open_lookup(&l[n++], size, grown, SIZE_WORDS);
    for (int turn = 0; good && turn < TURNS; turn++)
        for (size_t i = 0; good && i < n; i++)
            good = ask_lookup(&l[i], turn, SIZE_WORDS);
    if (good && !json)
        printf(
            "\nTime per record of %d words by the size of the lookup: a "
            "third of the records new, updated, unchanged (median of %d%s)\n"
            "%10s %12s %14s %12s %14s\n",
            SIZE_WORDS, TURNS, grown ? "; filters that grew" : "", "lookup",
            "us/record", "by the first", "us of CPU", "by the first");
    for (size_t i = 0; good && i < n; i++) {
        double us = bench_median(l[i].us, TURNS);
        double cpu = bench_median(l[i].cpu, TURNS);

        if (!i) {
            first = us;
            first_cpu = cpu;
        }
        if (json) {
            printf("{\"bench\": \"aggregate\", \"part\": \"sizes\", ");
            bench_json("lookup", (double)l[i].size, ", ");
            bench_json("us_per_record", us, ", ");
            bench_json("ratio", us / first, ", ");
            bench_json("cpu_us_per_record", cpu, ", ");
            bench_json("cpu_ratio", cpu / first_cpu, ", ");
            bench_json("at_most", 1.5, "}\n");
        } else {
            printf("%10llu %12.2f %14.2f %12.2f %14.2f  <= 1.5%s\n",
                   (unsigned long long)l[i].size, us, us / first, cpu,
                   cpu / first_cpu, us / first > 1.5 ? "  missed" : "");
        }
    }
    for (size_t i = 0; i < n; i++)
        change_state_close(l[i].state, NULL);
    return good;
}
