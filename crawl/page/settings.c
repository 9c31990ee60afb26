/*
 * settings.c - the options of a crawl, as a table and as JSON.
 *
 * The table is walked three times: to parse words, to write the settings that
 * were given as JSON, and to take them from it. So a new option is a row here
 * and a member in settings.h, and is kept without further code, unless
 * is_kept() says that it is of one run only. A setting that is given again
 * stays, since what is kept only fills in what was not given. Names that the
 * table does not have are passed over.
 */
#include "settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/text/json_tree.h"
#include "../../lib/text/number.h"
#include "../../lib/text/span.h"

#define AT(member) CRAWL_SETTING(member)

const struct option crawl_options[] = {
    { "into", 'o', PATH, "DIR", AT(into),
      "the folder of the crawl; it is made if it is missing" },
    { "input", 'i', PATH, "FILE", AT(list), "start URLs, one per line" },
    /* Its old name. */
    { "urls", 0, PATH, "FILE", AT(list), NULL },
    { "template", 't', PATH, "FILE", AT(template),
      "a spider template: start URLs, scope, follow rules and fields" },
    CRAWL_SCOPE_OPTIONS,
    CRAWL_BUDGET_OPTIONS,
    { "strategy", 0, TEXT, "broad|topical|continuous|focused",
      AT(strategy_word),
      "broad (default); topical follows links of pages that match --words, "
      "the best first; continuous never ends and revisits pages" },
    CRAWL_ORDER_OPTIONS,
    { "words-file", 0, PATH, "FILE", AT(words_file), "--words from a file" },
    CRAWL_POLITE_OPTIONS,
    CRAWL_MACHINE_OPTIONS,
    { "cache", 0, TEXT, "KIND", AT(cache),
      "the filter of URLs that were seen (default: as the rate needs it; it "
      "grows); fuse+KIND: in revisits a fuse of the pages that are known, and "
      "KIND for others; redis://HOST:PORT/NAME or bf://HOST:PORT/NAME: on a "
      "server, see doc/remote.md; none: without, for experiments" },
    { "capacity", 0, COUNT, "N", AT(capacity),
      "URLs that it is made for at first, in the visit that begins (default: "
      "few, or 1.5 times those of the last visit)" },
    { "rate", 0, RATE, "RATE", AT(rate),
      "its rate of false positives (default 1e-6)" },
    { "seed", 0, SEED, "N", AT(seed),
      "its seed in the first visit; the next ones count on (default: by "
      "chance)" },
    { "audit", 0, RATE, "R", AT(audit),
      "keep this share of all URLs exactly, and report the measured rate; "
      "from the next visit on" },
    { "skip", 0, TEXTS, "FILTER", AT(skip),
      "do not fetch what this filter holds: a file, or http://HOST/NAME of a "
      "seen serve" },
    { "revisit", 0, WORD_OR_NONE, "due|all", AT(revisit),
      "begin the next visit: ask for the known pages that are due (default), "
      "or for all of them, with another seed and conditional requests" },
    { "recover", 0, FLAG, NULL, AT(recover),
      "in the visit that begins, read the stored copies of pages that are not "
      "due: their links may lead to pages that the visit before lost (default: "
      "if it expects to have lost at least one)" },
    { "policy", 0, TEXT, "uniform|proportional|freshest", AT(policy),
      "when pages are due again: all alike; those sooner that change more "
      "often (default); or so that most copies are current, within --budget" },
    { "budget", 0, TEXT, "N/day", AT(budget_text),
      "requests for known pages per minute, hour, day or week; --policy "
      "freshest then (default: as many as --revisit-every asks for)" },
    { "revisit-every", 0, DURATION, "TIME", AT(revisit_every),
      "how long after a visit a page is due again, as long as nothing else is "
      "known of it (default 1d)" },
    { "visit-every", 0, DURATION, "TIME", AT(visit_every),
      "continuous: change the seed this often" },
    { "revisit-min", 0, DURATION, "TIME", AT(revisit_min),
      "no page is due again before (default 1h)" },
    { "revisit-max", 0, DURATION, "TIME", AT(revisit_max),
      "every page is due again after (default 30d)" },
    { "urls-only", 0, FLAG, NULL, AT(urls_only),
      "keep no pages, only a list: urls.txt gets every URL in scope that is "
      "found, fetched or not, once per visit" },
    { "index", 0, FLAG, NULL, AT(index),
      "keep a full-text index of pages, for seen search, but not of those that "
      "ask for noindex" },
    { "from", 0, PATH, "FILE", AT(from),
      "prune: the answers of seen classify --json; - is standard input" },
    { "dry-run", 'n', FLAG, NULL, AT(dry_run),
      "prune: report what would be dropped, and change nothing" },
    /* Pages of a host before others that wait (100). */
    { "turn", 0, COUNT, "N", AT(turn), NULL },
    /* Begin at this time, and do not wait: for tests. */
    { "clock", 0, TEXT, "TIME", AT(clock), NULL },
    /* Lines of index.cdxj for answers 304, too, which replayers show as empty
       pages. */
    { "index-304", 0, FLAG, NULL, AT(index_304), NULL },
    { .name = NULL }
};

/* Settings of this run only. */
static bool is_kept(const struct option *o)
{
    static const char *const passing[] = {
        "into",    "json",    "quiet",       "input",    "urls",
        "clock",   "revisit", "template",    "capacity", "from",
        "dry-run", "recover", "retry-aside", NULL
    };

    for (int i = 0; passing[i]; i++)
        if (!strcmp(o->name, passing[i]))
            return false;
    return true;
}

/* --- defaults --- */

static bool read_number(const char *text, double least, double most,
                        double *value)
{
    char *end;

    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value) && *value >= least &&
           *value <= most && *text != ' ';
}

static enum seen_code choose(struct crawl_settings *s, struct seen_error *why)
{
    static const char *const order[] = { "breadth", "depth", "priority" };
    static const char *const strategy[] = { "broad", "topical", "continuous" };

    for (int i = 0; i < 3; i++) {
        if (s->order_word && !strcmp(s->order_word, order[i]))
            s->order = (enum crawl_order)i;
        if (s->strategy_word && !strcmp(s->strategy_word, strategy[i]))
            s->strategy = (enum crawl_strategy)i;
    }
    /* Its old name; in the thesis that is a crawl of one domain. */
    if (s->strategy_word && !strcmp(s->strategy_word, "focused"))
        s->strategy = CRAWL_TOPICAL;
    if (s->strategy == CRAWL_TOPICAL && !s->words && !s->words_file)
        return seen_fail(why, SEEN_RANGE, 0,
                         "--strategy topical needs --words or --words-file");
    if (s->strategy == CRAWL_TOPICAL)
        s->order = CRAWL_PRIORITY;
    return SEEN_OK;
}

/* "2", "0.5", "2s", "500ms", "1m": seconds without a unit. */
static bool read_delay(const char *text, int64_t *ms)
{
    static const struct {
        const char *name;
        double ms;
    } unit[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "", 1000 } };
    size_t digits = strspn(text, "0123456789.");
    char number[32];
    double value;

    if (digits < sizeof number)
        for (size_t i = 0; i < sizeof unit / sizeof *unit; i++) {
            snprintf(number, sizeof number, "%.*s", (int)digits, text);
            if (!strcmp(text + digits, unit[i].name) &&
                read_number(number, 0, 3600000 / unit[i].ms, &value)) {
                *ms = (int64_t)(value * unit[i].ms + 0.5);
                return true;
            }
        }
    return false;
}

static enum seen_code read_texts(struct crawl_settings *s,
                                 struct seen_error *why)
{
    s->delay = s->template_delay - 1;
    if (s->delay_text && !read_delay(s->delay_text, &s->delay))
        return seen_fail(why, SEEN_RANGE, 0,
                         "--delay %.20s: a time of at most an hour, as 2s or "
                         "0.5",
                         s->delay_text);
    s->threshold = 0.1;
    if (s->threshold_text &&
        !read_number(s->threshold_text, 0, 1, &s->threshold))
        return seen_fail(why, SEEN_RANGE, 0,
                         "--threshold %.20s: a number between 0 and 1",
                         s->threshold_text);
    s->weight[0] = 0.5;
    s->weight[1] = 0.4;
    s->weight[2] = 0.1;
    if (s->weights_text) {
        double w[3];
        char rest;

        if (sscanf(s->weights_text, "%lf,%lf,%lf%c", w, w + 1, w + 2, &rest) !=
                3 ||
            !(w[0] >= 0 && w[1] >= 0 && w[2] >= 0 &&
              w[0] + w[1] + w[2] <= 1000))
            return seen_fail(why, SEEN_RANGE, 0,
                             "--weights %.20s: three numbers, as 0.5,0.4,0.1",
                             s->weights_text);
        memcpy(s->weight, w, sizeof w);
    }
    return SEEN_OK;
}

static void or_else(uint64_t *value, uint64_t usual)
{
    if (!*value)
        *value = usual;
}

static uint64_t given_or(uint64_t given, uint64_t usual)
{
    return given ? given - 1 : usual;
}

/* The list is sent as it is given, so it must be one that we can undo. */
static enum seen_code check_codings(const char *list, struct seen_error *why)
{
    static const char *const known[] = { "gzip", "br",       "deflate",
                                         "zstd", "identity", NULL };
    struct seen_span rest = span_of(list ? list : ""), name;

    while (span_cut(&rest, ',', &name)) {
        int i = 0;

        name = span_trim(name);
        while (known[i] && !span_like(name, known[i]))
            i++;
        if (!known[i])
            return seen_fail(
                why, SEEN_RANGE, 0,
                "--accept-encoding %.60s: not a list of gzip, br, "
                "deflate, zstd and identity",
                list);
    }
    return SEEN_OK;
}

/* "1000/day", "2.5/minute". */
static enum seen_code read_budget(struct crawl_settings *s,
                                  struct seen_error *why)
{
    static const struct {
        const char *name;
        double seconds;
    } unit[] = { { "minute", 60 },
                 { "hour", 3600 },
                 { "day", 86400 },
                 { "week", 604800 } };
    const char *slash = s->budget_text ? strchr(s->budget_text, '/') : NULL;
    char number[32];

    s->budget = 0;
    if (!s->budget_text)
        return SEEN_OK;
    if (slash && (size_t)(slash - s->budget_text) < sizeof number)
        for (size_t i = 0; i < sizeof unit / sizeof *unit; i++) {
            snprintf(number, sizeof number, "%.*s",
                     (int)(slash - s->budget_text), s->budget_text);
            if (!strcmp(slash + 1, unit[i].name) &&
                read_number(number, 1e-3, 1e12, &s->budget)) {
                s->budget /= unit[i].seconds;
                return SEEN_OK;
            }
        }
    return seen_fail(why, SEEN_RANGE, 0,
                     "--budget %.30s: requests per time, as 1000/day; also "
                     "/minute, /hour, /week",
                     s->budget_text);
}

enum seen_code crawl_settings_complete(struct crawl_settings *s,
                                       struct seen_error *why)
{
    enum seen_code code = choose(s, why);

    if (code == SEEN_OK && s->recover && !s->revisit)
        code = seen_fail(why, SEEN_RANGE, 0,
                         "--recover is for the visit that begins: with "
                         "--revisit");
    if (code == SEEN_OK)
        code = read_texts(s, why);
    if (code == SEEN_OK)
        code = check_codings(s->accept_encoding, why);
    s->max_depth = given_or(s->depth_given, 50);
    s->retries = given_or(s->retries_given, 3);
    s->pause = given_or(s->pause_given, 10);
    or_else(&s->max_queries, 10000);
    or_else(&s->max_size, 16 << 20);
    or_else(&s->timeout, 60);
    or_else(&s->per_address, 4);
    or_else(&s->parallel, 256);
    or_else(&s->turn, 100);
    or_else(&s->hosts, 4096);
    or_else(&s->revisit_min, 3600);
    or_else(&s->revisit_max, 30 * 86400);
    or_else(&s->warc_size, UINT64_C(1) << 30);
    if (s->parallel > 1000)
        s->parallel = 1000;
    if (s->hosts > 1000000)
        s->hosts = 1000000;
    if (s->rate == 0)
        s->rate = 1e-6;
    or_else(&s->revisit_every, 86400);
    s->revisit_all = s->revisit && !strcmp(s->revisit, "all");
    s->proportional = s->policy ? !strcmp(s->policy, "proportional")
                                : !s->budget_text;
    s->freshest = s->policy ? !strcmp(s->policy, "freshest")
                            : s->budget_text != NULL;
    return code == SEEN_OK ? read_budget(s, why) : code;
}

/* --- JSON --- */

static json_t *texts_json(const struct texts *t)
{
    json_t *list = json_array();

    for (size_t i = 0; i < t->n; i++)
        if (json_array_append_new(list, json_string(t->text[i]))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* The value of an option that was given, or NULL without memory. */
static json_t *option_json(const struct option *o, const char *at)
{
    switch (o->takes) {
    case FLAG: return json_true();
    case TEXT:
    case WORD_OR_NONE:
    case PATH: return json_string(*(const char *const *)at);
    case TEXTS:
    case PATHS: return texts_json((const struct texts *)at);
    case RATE:
    case FACTOR: return json_real(*(const double *)at);
    case COUNT_OR_NONE:
    case DURATION_OR_NONE:
    case SECONDS_OR_NONE:
        return json_integer((json_int_t)(*(const uint64_t *)at - 1));
    default: return json_integer((json_int_t) * (const uint64_t *)at);
    }
}

char *crawl_settings_write(const struct crawl_settings *s)
{
    json_t *root = json_object();
    bool whole = root;
    char *text;

    /* A setting that cannot be written must not be lost without a word. */
    for (const struct option *o = crawl_options; o->name && whole; o++)
        if (is_kept(o) && option_given(o, s))
            whole = !json_object_set_new(
                root, o->name, option_json(o, (const char *)s + o->at));
    text = whole ? json_tree_text(root, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(root);
    return text;
}

static void texts_read(struct texts *to, const json_t *list)
{
    size_t i;
    json_t *value;

    json_array_foreach(list, i,
                       value) if (json_is_string(value) && to->n < TEXTS_MOST)
        to->text[to->n++] = json_string_value(value);
}

static void take_over(struct crawl_settings *s, const struct option *o,
                      const json_t *value)
{
    char *at = (char *)s + o->at;

    switch (o->takes) {
    case FLAG: *(bool *)at |= json_is_true(value); break;
    case TEXT:
    case WORD_OR_NONE:
    case PATH:
        if (!*(const char **)at)
            *(const char **)at = json_string_value(value);
        break;
    case TEXTS:
    case PATHS:
        if (!((struct texts *)at)->n)
            texts_read((struct texts *)at, value);
        break;
    case RATE:
    case FACTOR:
        if (*(double *)at == 0)
            *(double *)at = json_number_value(value);
        break;
    case COUNT_OR_NONE:
    case DURATION_OR_NONE:
    case SECONDS_OR_NONE:
        if (!*(uint64_t *)at)
            *(uint64_t *)at = (uint64_t)json_integer_value(value) + 1;
        break;
    default:
        if (!*(uint64_t *)at)
            *(uint64_t *)at = (uint64_t)json_integer_value(value);
    }
}

enum seen_code crawl_settings_read(struct crawl_settings *s, const char *json,
                                   void **keep, struct seen_error *why)
{
    json_t *root;
    enum seen_code code = json_tree_read(&root, span_of(json), 0, NULL, why);

    *keep = root;
    if (code == SEEN_NOMEM)
        return code;
    if (!json_is_object(root))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "the settings of the crawl are damaged");
    for (const struct option *o = crawl_options; o->name; o++) {
        const json_t *value = json_object_get(root, o->name);

        if (value && is_kept(o))
            take_over(s, o, value);
    }
    return SEEN_OK;
}

void crawl_settings_forget(void *keep)
{
    json_decref(keep);
}
