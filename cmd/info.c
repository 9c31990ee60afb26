/*
 * info.c - seen info: what is this filter, how full, how often wrong?
 *
 * Whether a filter pays at all [1]: its bits per URL, m/n, against those of a
 * list of the URLs themselves, which is their length and log2 n for finding
 * one among them. It does for URLs, and it does not for short codes.
 *
 * [1] Bloom filters are good when m/n << key length in bits + log n: the
 *     notes on spectral filters.
 */
#include "command.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <seen/kind.h>
#include <seen/store.h>

#include "../lib/text/number.h"
#include "../lib/text/utf8.h"
#include "access.h"
#include "filters.h"
#include "json.h"
#include "output.h"
#include "secret.h"

struct info {
    const char *route, *keyed;
    uint64_t key_length;
    bool text, json, verify;
    struct access_web web;
};

static const struct option options[] = {
    { "route", 0, TEXT, "URL", offsetof(struct info, route),
      "print only which part of a routed filter answers for this URL" },
    { "keyed", 0, PATH, "KEYFILE", offsetof(struct info, keyed),
      "the key of a keyed filter, which --route needs" },
    { "key-length", 0, COUNT, "BYTES", offsetof(struct info, key_length),
      "average length of a URL, to compare with a list; default 67" },
    { "text", 0, FLAG, NULL, offsetof(struct info, text),
      "print the plan, counts and metadata as the file has them" },
    { "verify", 0, FLAG, NULL, offsetof(struct info, verify),
      "read and verify the cells of large files, too, and of those on web "
      "servers" },
    WEB_OPTIONS(struct info, web),
    JSON_OPTION(struct info, json, "print a JSON object"),
    { .name = NULL }
};

/* Everything that is printed, derived once. */
struct facts {
    const struct seen_plan *plan;
    double entries, rate, planned, load, bits_per_url, list_bits, room;
    uint64_t bytes, bits;
    unsigned parts;
    bool grows; /* never full: no share of a capacity, no room */
    bool keeps; /* its keys, to be replaced by a larger one, */
    struct seen_error lost; /* or why it will not be */
    bool final; /* no parts will come, so the size is that at capacity */
    bool begun; /* full enough to compare it with a list */
    bool spent; /* says yes to every URL */
    bool pays;
    bool read; /* its cells were verified, or are on a server */
};

/* What the leaves were planned with; bytes are rounded up to whole lines. */
static uint64_t bits_of(const struct seen_filter *f)
{
    unsigned parts = seen_filter_parts(f);
    uint64_t sum = parts ? 0 : seen_filter_plan(f)->bits;

    for (unsigned i = 0; i < parts; i++)
        sum += bits_of(seen_filter_part(f, i));
    return sum;
}

static struct facts derive(const struct seen_filter *f, uint64_t key_length)
{
    struct facts x = { .plan = seen_filter_plan(f) };
    double n;

    x.entries = seen_filter_entries(f);
    x.rate = seen_filter_rate(f);
    x.planned = seen_filter_planned(f);
    x.bytes = seen_filter_bytes(f);
    x.parts = seen_filter_parts(f);
    x.load = seen_filter_cells(f) ? (double)seen_filter_cells_set(f) /
                                        (double)seen_filter_cells(f)
                                  : 0;
    x.bits = bits_of(f);
    x.grows = seen_filter_can(f, SEEN_CAN_GROW);
    x.keeps = seen_store_keeps(f);
    if (seen_store_grows(f, &x.lost))
        x.lost.code = SEEN_OK;
    x.final = !seen_filter_can(f, SEEN_ADDS_PARTS);
    x.spent = x.rate >= 0.9995 || x.load >= 1; /* the rate reads as 1 */
    /* RedisBloom does not say its rate. */
    x.room = (x.rate < x.planned || isnan(x.rate)) && !x.spent
                 ? fmax(0, (double)x.plan->capacity - x.entries)
                 : 0;
    n = x.final ? (double)x.plan->capacity : x.entries;
    x.begun = n >= 0.5 && n >= 0.01 * (double)x.plan->capacity;
    x.bits_per_url = x.begun ? 8 * (double)x.bytes / n : INFINITY;
    x.list_bits = 8 * (double)(key_length ? key_length : 67) +
                  log2(fmax(n, 1));
    x.pays = x.bits_per_url < x.list_bits && !x.spent;
    return x;
}

static const char *keys_of(const struct seen_plan *plan)
{
    switch (plan->keys) {
    case SEEN_KEYS_TRUSTED: return "trusted";
    case SEEN_KEYS_DERIVED: return "derived";
    default: return "auto";
    }
}

/* --- for people --- */

static void row(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* For what has a bound; metadata does not come through here. */
static void row(const char *name, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    output_format("%-14s%s\n", name, text);
}

static void show_fill(const struct facts *x)
{
    if (x->grows)
        row("entries", "about %s; it grows as needed",
            show_estimate(x->entries));
    else
        row("entries", "about %s, %s of capacity; room for %s more",
            show_estimate(x->entries),
            show_percent(x->entries / fmax(1, (double)x->plan->capacity)),
            show_estimate(x->room));
    if (x->keeps && x->lost.code == SEEN_OK)
        row("grows", "when it is full");
    else if (x->keeps)
        row("cannot grow", "%s", x->lost.text);
}

static void show_size(const struct facts *x)
{
    if (isfinite(x->bits_per_url))
        row("size", "%s, %.1f bits per URL%s", show_bytes(x->bytes),
            x->bits_per_url, x->final ? " at capacity" : "");
    else
        row("size", "%s", show_bytes(x->bytes));
}

static void show_pays(const struct facts *x)
{
    if (x->spent)
        row("pays", "no: it says yes to every URL");
    else if (isfinite(x->bits_per_url))
        row("pays", "%s: %.1f bits per URL; a list takes %.0f",
            x->pays ? "yes" : "no", x->bits_per_url, x->list_bits);
}

/* Wrong answers that come from the structure of sites, not from chance. */
static void show_uncovered(const struct seen_filter *f)
{
    if (seen_filter_can(f, SEEN_IGNORES_ORDER))
        row("not in rate", "URLs made of segments of added URLs in another "
                           "order; they are always seen");
    if (seen_filter_can(f, SEEN_CAN_PREFIX))
        row("not in rate", "prefixes, whose segments may be of different "
                           "URLs");
}

static void show_part(const char *name, const struct seen_filter *f)
{
    const struct seen_plan *p = seen_filter_plan(f);
    double entries = seen_filter_entries(f);

    if (seen_filter_can(f, SEEN_CAN_GROW))
        row(name, "%s; about %s, rate now %s",
            show_bytes(seen_filter_bytes(f)), show_estimated(entries, "URL"),
            show_rate(seen_filter_rate(f)));
    else
        row(name, "%s; about %s of %s, rate now %s",
            show_bytes(seen_filter_bytes(f)), show_estimate(entries),
            show_counted(p->capacity, "URL"), show_rate(seen_filter_rate(f)));
}

static void show_parts(const struct seen_filter *f)
{
    enum { MOST = 32 };
    unsigned parts = seen_filter_parts(f);

    for (unsigned i = 0; i < parts && i < MOST; i++) {
        const struct seen_filter *part = seen_filter_part(f, i);
        char name[24];

        snprintf(name, sizeof name, "part %u", i);
        show_part(name, part);
    }
    if (parts > MOST)
        row("...", "%u parts in all; --json has every one", parts);
}

static void show(const struct seen_filter *f, const struct facts *x)
{
    const struct seen_plan *p = x->plan;
    const char *name, *value;

    row("kind", "%s%s%s%s", p->kind, p->keyed ? ", keyed" : "",
        p->hostile ? ", hostile" : "", p->over ? ", over" : "");
    row("profile", "%s", p->profile);
    if (p->keys)
        row("keys", "of an index are %s", keys_of(p));
    row("capacity", "%s%s", show_counted(p->capacity, "URL"),
        x->grows ? " to begin with" : "");
    show_fill(x);
    row("offered", "%s", show_count(seen_filter_offered(f)));
    show_size(x);
    if (p->probes)
        row("bits", "%s; %s, seed %llu", show_count(x->bits),
            show_counted(p->probes, "probe"), (unsigned long long)p->seed);
    else
        row("bits", "%s; seed %llu", show_count(x->bits),
            (unsigned long long)p->seed);
    if (!isnan(x->rate)) {
        row("load", "%s of the cells are set", show_percent(x->load));
        row("rate now", "%s", show_rate(x->rate));
        row("planned rate", "%s", show_rate(x->planned));
        row("wrong answers", "%s per million lookups of URLs never added",
            show_estimate(1e6 * x->rate));
    }
    show_uncovered(f);
    show_pays(x);
    if (!x->read)
        row("verified", "no; --verify reads all %s", show_bytes(x->bytes));
    if (access_losses(f))
        row("losses",
            "%s that the server lost URLs which it had "
            "acknowledged: it restarted or failed over",
            show_counted(access_losses(f), "chance"));
    show_parts(f);
    for (size_t i = 0; seen_meta_at(f, i, &name, &value); i++)
        output_format("%-13s %s\n", name, value);
}

/* --- for programs --- */

/* The path is NULL if it was the only one. */
static void show_json(const struct seen_filter *f, const struct facts *x,
                      const char *path)
{
    const struct seen_plan *p = x->plan;
    const char *name, *value;

    cmd_json_open(NULL, '{');
    if (path)
        cmd_json_word("filter", path);
    cmd_json_word("kind", p->kind);
    cmd_json_word("profile", p->profile);
    cmd_json_word("keys", keys_of(p));
    cmd_json_flag("keyed", p->keyed);
    cmd_json_flag("hostile", p->hostile);
    cmd_json_flag("over", p->over);
    cmd_json_count("capacity", p->capacity);
    cmd_json_number("entries", x->entries);
    cmd_json_number("room", x->grows ? INFINITY : x->room);
    cmd_json_count("offered", seen_filter_offered(f));
    cmd_json_count("bytes", x->bytes);
    cmd_json_count("bits", x->bits);
    cmd_json_count("probes", p->probes);
    cmd_json_count("seed", p->seed);
    cmd_json_count("cells", seen_filter_cells(f));
    cmd_json_count("set", seen_filter_cells_set(f));
    cmd_json_number("load", x->load);
    if (x->keeps && x->lost.code != SEEN_OK)
        cmd_json_word("cannot_grow", x->lost.text);
    cmd_json_number("rate", x->rate);
    cmd_json_number("planned_rate", x->planned);
    cmd_json_number("wrong_in_a_million", 1e6 * x->rate);
    cmd_json_flag("ignores_order", seen_filter_can(f, SEEN_IGNORES_ORDER));
    cmd_json_number("bits_per_url", x->bits_per_url);
    cmd_json_number("list_bits_per_url", x->list_bits);
    cmd_json_flag("pays", x->pays);
    cmd_json_flag("verified", x->read);
    if (seen_filter_can(f, SEEN_IS_SLOW))
        cmd_json_count("losses", access_losses(f));
    cmd_json_open("parts", '[');
    for (unsigned i = 0; i < x->parts; i++) {
        const struct seen_filter *part = seen_filter_part(f, i);

        cmd_json_open(NULL, '{');
        cmd_json_count("bytes", seen_filter_bytes(part));
        cmd_json_count("capacity", seen_filter_plan(part)->capacity);
        cmd_json_number("entries", seen_filter_entries(part));
        cmd_json_number("rate", seen_filter_rate(part));
        cmd_json_shut('}');
    }
    cmd_json_shut(']');
    cmd_json_open("meta", '{');
    for (size_t i = 0; seen_meta_at(f, i, &name, &value); i++)
        cmd_json_word(name, value);
    cmd_json_shut('}');
    cmd_json_shut('}');
}

/* --- the command --- */

static enum outcome show_route(const struct info *in,
                               const struct seen_filter *f, const char *path)
{
    static char text[SEEN_KEY_TEXT];
    struct seen_key key;
    struct seen_error why;
    unsigned part;

    if (seen_key_make(&key, text, in->route, strlen(in->route),
                      seen_filter_plan(f)->profile, &why) != SEEN_OK)
        return trouble_with("--route", &why);
    if (seen_filter_route(f, &key, &part, &why) != SEEN_OK)
        return trouble_with(path, &why);
    if (in->json) {
        cmd_json_open(NULL, '{');
        cmd_json_word("url", in->route);
        cmd_json_count("part", part);
        cmd_json_shut('}');
    } else {
        output_format("%u\n", part);
    }
    return YES;
}

static enum outcome show_text(const struct seen_filter *f, const char *path)
{
    struct seen_error why;
    char *text;

    if (seen_store_describe(f, &text, &why) != SEEN_OK)
        return trouble_with(path, &why);
    output_text(text);
    free(text);
    return YES;
}

enum { SMALL = 16 << 20 }; /* bytes that are verified in some milliseconds */

static bool is_large(const char *path)
{
    struct stat it;

    if (access_is_distant(path))
        return true;
    return !access_is_remote(path) && !stat(path, &it) && it.st_size > SMALL;
}

/*
 * What is printed is in the head of the file and its table of counts, which are
 * always verified. Reading 1 GB of cells takes a quarter of a second, or seconds
 * from a disk. Only a file that a writer has open has its cells counted.
 */
static enum seen_code open_filter(const struct info *in,
                                  const unsigned char *secret,
                                  const char *path, struct seen_filter **f,
                                  struct facts *facts, struct seen_error *why)
{
    const struct seen_access how = {
        .secret = secret, .unverified = !in->verify && is_large(path)
    };
    struct access_web web = in->web;
    enum seen_code code;

    web.sure = true;
    code = access_map(f, path, &how, &web, why);
    if (code == SEEN_OK && in->verify && access_is_distant(path))
        code = seen_store_verify(*f, why);
    if (code != SEEN_OK) {
        seen_filter_free(*f);
        return code;
    }
    access_warn(*f, path);
    *facts = derive(*f, in->key_length);
    facts->read = in->verify || !is_large(path);
    return SEEN_OK;
}

static enum outcome run_one(const struct info *in, const char *path)
{
    unsigned char secret[SEEN_SECRET];
    struct seen_filter *f;
    struct seen_error why;
    struct facts facts;
    enum seen_code code;
    enum outcome out = YES;

    if (in->keyed && !secret_read(in->keyed, secret))
        return TROUBLE;
    code = open_filter(in, in->keyed ? secret : NULL, path, &f, &facts, &why);
    explicit_bzero(secret, sizeof secret);
    if (code != SEEN_OK)
        return trouble_with(path, &why);
    if (in->route)
        out = show_route(in, f, path);
    else if (in->text)
        out = show_text(f, path);
    else if (in->json)
        show_json(f, &facts, NULL);
    else
        show(f, &facts);
    seen_filter_free(f);
    return out;
}

/* --- many of them --- */

static int width(const char *text)
{
    return (int)utf8_count(text, strlen(text));
}

static void cell(const char *text, int wide)
{
    output_text(text);
    for (int n = width(text); n < wide; n++)
        output_bytes(" ", 1);
    output_text("  ");
}

enum {
    KIND_WIDE = 16,
    ENTRIES_WIDE = 12,
    FULL_WIDE = 8,
    RATE_WIDE = 13,
    SIZE_WIDE = 9,
    DATE_WIDE = 10
};

static void show_line(const struct seen_filter *f, const struct facts *x,
                      const char *name, int wide)
{
    const char *as_of = seen_meta_get(f, "as-of");
    const char *title = seen_meta_get(f, "title");

    cell(name, wide);
    cell(x->plan->kind, KIND_WIDE);
    cell(show_estimate(x->entries), ENTRIES_WIDE);
    cell(x->grows
             ? "grows"
             : show_percent(x->entries / fmax(1, (double)x->plan->capacity)),
         FULL_WIDE);
    cell(show_rate(x->rate), RATE_WIDE);
    cell(show_bytes(x->bytes), SIZE_WIDE);
    cell(as_of ? as_of : "-", DATE_WIDE);
    output_text(title ? title : "-");
    output_text("\n");
}

static void show_heading(int wide)
{
    cell("filter", wide);
    cell("kind", KIND_WIDE);
    cell("entries", ENTRIES_WIDE);
    cell("full", FULL_WIDE);
    cell("rate now", RATE_WIDE);
    cell("size", SIZE_WIDE);
    cell("as-of", DATE_WIDE);
    output_text("title\n");
}

/* A line per filter. One that cannot be read is reported, and the others
   follow. */
static enum outcome run_many(const struct info *in,
                             const struct cmd_filters *list)
{
    enum outcome out = YES;
    int wide = width("filter");

    if (in->text || in->route)
        return trouble("%s: is for one filter",
                       in->text ? "--text" : "--route");
    for (size_t i = 0; i < list->n; i++)
        if (width(list->filter[i].path) > wide)
            wide = width(list->filter[i].path);
    if (!in->json)
        show_heading(wide);
    for (size_t i = 0; i < list->n; i++) {
        const char *path = list->filter[i].path;
        struct seen_filter *f;
        struct seen_error why;
        struct facts facts;

        if (open_filter(in, NULL, path, &f, &facts, &why) != SEEN_OK) {
            out = trouble_with(path, &why);
            continue;
        }
        if (in->json)
            show_json(f, &facts, path);
        else
            show_line(f, &facts, path, wide);
        seen_filter_free(f);
    }
    return out;
}

static enum outcome run(void *settings, char **operand)
{
    const struct info *in = settings;
    struct cmd_filters list = { .n = 0 };
    enum outcome out;
    bool good = true;

    if (in->text && (in->json || in->route))
        return trouble("--text: is alone; leave --json and --route out");
    if (!operand[1] && !cmd_filters_folder(operand[0]))
        return run_one(in, operand[0]);
    for (; *operand && good; operand++)
        good = cmd_filters_add(&list, *operand);
    out = good ? run_many(in, &list) : TROUBLE;
    cmd_filters_clear(&list);
    return out;
}

const struct command cmd_info = {
    .name = "info",
    .summary = "print what a filter is, how full and how often wrong",
    .synopsis = "FILTER|FOLDER...",
    .operands = 1,
    .most = -1,
    .filters = -1,
    .settings = sizeof(struct info),
    .options = options,
    .about =
        "Prints the plan of a filter, how many URLs it holds, its rate of "
        "false positives now and at capacity, how many wrong answers to "
        "expect, the room that is left, and whether the filter pays: whether it "
        "needs fewer bits per URL than a list. Files of up to 16 MiB are verified; "
        "of larger ones only the head, which has the counts, unless --verify is "
        "given. A file that is being written to has its cells counted. Of a "
        "filter on a web server, https://HOST/haw.seen, only the beginning is "
        "fetched.\n"
        "\n"
        "The rate and the number of entries are estimated from the cells that "
        "are set. Keyed filters need no key, except for --route.\n"
        "\n"
        "For several filters, or the files *.seen of a FOLDER, it prints a "
        "line per filter; with --json an object per line, which has the path "
        "as filter.\n",
    .exits = "0 if all that was read is sound, 2 if it is not.",
    .examples = "$ seen info crawl.seen\n"
                "$ seen info --json crawl.seen | jq .rate\n"
                "$ seen info mirror/\n"
                "$ seen info --route https://haw.nsk.hr/en parts.seen\n"
                "3\n",
    .run = run,
};
