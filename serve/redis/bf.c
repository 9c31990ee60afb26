/*
 * bf.c - RedisBloom's BF commands.
 *
 * RedisBloom's scaling filter gets parts. A filter that nobody has sized keeps
 * its keys here: when it is full, a larger one is made of them, so that there
 * is one filter to ask, of the right size. With a capacity, which is mostly
 * enough, it is `growing:E,planned/blocked`: RedisBloom gives the first part
 * half of the rate, which is 11.0 bits per item at 1 %, and so is ours. With an
 * expansion alone it is `growing:E/blocked`. In both each part is E times as
 * large as the one before, with a lower rate, so that the rate of all holds. A
 * filter that must not scale is one part alone. For rates that are too low for
 * `blocked`, several of them must agree. Items are hashed as they are (profile
 * `raw`), unless the archive was built otherwise: in one of profile `surt` items
 * are URLs.
 *
 * Three things differ. A filter with an expansion of 1 grows as with 2, since
 * filters of equal size would become many; above 16 it is refused. The number of
 * items is not counted but estimated from the cells, to about 1 %, except in
 * filters that do not scale. And every filter has a seed of its own, so that two filters of
 * the same items err on different ones: BF.RESERVE and BF.INSERT take SEED.
 * They also take PROFILE, for filters whose items are URLs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <seen/kind.h>

#include "command.h"

enum {
    CAPACITY = 100, /* with an expansion alone */
    EXPANSION = 2,
    LEAST_EXPANSION = 2, /* that filters can have */
    MOST_EXPANSION = 16
};

static const double FIRST_PART = 0.5; /* its rate, about, of that of all */

/* The options of a new filter. */
struct redis_reserve {
    double rate;
    int64_t capacity, expansion;
    bool fixed;   /* NONSCALING */
    bool planned; /* the client has said how many items there will be, */
    bool grows;   /* or how fast it is to grow */
    bool must;  /* NOCREATE */
    bool seeded;
    int64_t seed;
    char profile[SEEN_PROFILE_TEXT];
};

static const struct redis_reserve usual = { .rate = 0.01,
                                            .capacity = CAPACITY,
                                            .expansion = EXPANSION,
                                            .profile = "raw" };

static struct archive_new new_of(const struct redis_call *c,
                                 const struct redis_reserve *w)
{
    struct archive_new made = { .plan = { .capacity = (uint64_t)w->capacity,
                                          .rate = w->rate },
                                .exact = w->fixed };
    struct seen_plan *plan = &made.plan;
    char leaf[SEEN_KIND_TEXT];

    redis_seed(c, &made);
    if (w->seeded) {
        made.any_seed = false;
        plan->seed = (uint64_t)w->seed;
    }
    snprintf(plan->profile, sizeof plan->profile, "%s", w->profile);
    if (w->fixed) {
        seen_kind_for_rate(plan->kind, plan->rate);
        return made;
    }
    if (!w->planned && !w->grows) {
        seen_kind_for_rate(plan->kind, plan->rate);
        plan->capacity = SEEN_FIRST_KEYS;
        plan->tight = made.keeps = true;
        return made;
    }
    if (w->expansion < LEAST_EXPANSION)
        made.expansion = (unsigned)w->expansion;
    seen_kind_for_rate(leaf, FIRST_PART * plan->rate);
    snprintf(plan->kind, sizeof plan->kind, "growing:%d%s/%.24s",
             made.expansion ? LEAST_EXPANSION : (int)w->expansion,
             w->planned ? ",planned" : "", leaf);
    return made;
}

/* --- options --- */

static const char *read_rate(struct seen_span word, struct redis_reserve *w)
{
    if (!redis_double(word, &w->rate))
        return "ERR bad error rate";
    return w->rate > 0 && w->rate < 1 ? NULL
                                      : "ERR (0 < error rate range < 1)";
}

static const char *read_capacity(struct seen_span word,
                                 struct redis_reserve *w)
{
    if (!redis_integer(word, &w->capacity))
        return "ERR bad capacity";
    w->planned = true;
    return w->capacity > 0 ? NULL : "ERR (capacity should be larger than 0)";
}

static const char large_expansion[] =
    "ERR bad expansion: filters grow by at most 16";

static const char *read_expansion(struct seen_span word,
                                  struct redis_reserve *w)
{
    if (!redis_integer(word, &w->expansion))
        return "ERR bad expansion";
    if (w->expansion < 1)
        return "ERR expansion should be greater or equal to 1";
    return w->expansion <= MOST_EXPANSION ? NULL : large_expansion;
}

static const char *read_seed(struct seen_span word, struct redis_reserve *w)
{
    w->seeded = true;
    return redis_integer(word, &w->seed) && w->seed >= 0 ? NULL
                                                         : "ERR bad seed";
}

static const char *read_profile(struct seen_span word, struct redis_reserve *w)
{
    if (word.len >= sizeof w->profile)
        return "ERR bad profile";
    snprintf(w->profile, sizeof w->profile, "%.*s", (int)word.len, word.text);
    return seen_profile_find(NULL, w->profile, NULL) == SEEN_OK
               ? NULL
               : "ERR bad profile";
}

/* RedisBloom has other words for the same in BF.INSERT. */
static const char *in_insert(const char *fault)
{
    static const char *const words[][2] = {
        { "ERR bad error rate", "ERR Bad error rate" },
        { "ERR bad capacity", "ERR Bad capacity" },
        { "ERR bad expansion", "ERR Bad expansion" },
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(fault, words[i][0]))
            return words[i][1];
    return fault == large_expansion ? fault : "ERR Bad argument received";
}

/*
 * Read the options from word[from] on, up to ITEMS; *items is the first word
 * behind it. Returns an error, or NULL.
 */
static const char *read_options(struct redis_call *c, size_t from, bool insert,
                                struct redis_reserve *w, size_t *items)
{
    const char *fault;

    *items = 0;
    for (size_t i = from; i < c->words && !*items; i++) {
        struct seen_span word = c->word[i];
        const char *(*read)(struct seen_span, struct redis_reserve *) = NULL;

        if (span_like(word, "NONSCALING"))
            w->fixed = true;
        else if (span_like(word, "EXPANSION"))
            read = read_expansion;
        else if (span_like(word, "SEED"))
            read = read_seed;
        else if (span_like(word, "PROFILE"))
            read = read_profile;
        else if (insert && span_like(word, "NOCREATE"))
            w->must = true;
        else if (insert && span_like(word, "CAPACITY"))
            read = read_capacity;
        else if (insert && span_like(word, "ERROR"))
            read = read_rate;
        else if (insert && span_like(word, "ITEMS"))
            *items = i + 1;
        else
            return insert ? "ERR Unknown argument received"
                          : "ERR syntax error";
        if (!read)
            continue;
        w->grows |= read == read_expansion;
        if (++i == c->words)
            return insert                   ? ""
                   : read == read_expansion ? "ERR no expansion"
                   : read == read_seed      ? "ERR no seed"
                                            : "ERR no profile";
        fault = read(c->word[i], w);
        if (fault)
            return insert ? in_insert(fault) : fault;
    }
    return w->fixed && w->grows && !insert
               ? "ERR Nonscaling filters cannot expand"
               : NULL;
}

/* --- BF.RESERVE --- */

void redis_bf_reserve(struct redis_call *c)
{
    struct redis_reserve w = usual;
    struct archive_new made;
    const char *fault;
    size_t none;

    if (c->words > 11) {
        redis_bad_arity(c);
        return;
    }
    fault = read_rate(c->word[2], &w);
    if (!fault)
        fault = read_capacity(c->word[3], &w);
    if (!fault)
        fault = read_options(c, 4, false, &w, &none);
    if (fault) {
        resp_error(c->out, "%s", fault);
        return;
    }
    made = new_of(c, &w);
    redis_make_archive(c, &made);
}

/* --- adding --- */

static const struct redis_write_kind add_one = { .change = ARCHIVE_ADD,
                                                 .reply = REPLY_FLAG };
static const struct redis_write_kind add_many = { .change = ARCHIVE_ADD,
                                                  .reply = REPLY_FLAGS };

void redis_bf_add(struct redis_call *c)
{
    const struct archive_new made = new_of(c, &usual);

    if (c->command->join)
        redis_write_one(c, &add_one, &made);
    else
        redis_write(c, &add_many, &made, c->word + 2, c->words - 2);
}

void redis_bf_insert(struct redis_call *c)
{
    struct redis_reserve w = usual;
    struct archive_new made;
    size_t items;
    const char *fault = read_options(c, 2, true, &w, &items);

    if (fault && *fault) {
        resp_error(c->out, "%s", fault);
        return;
    }
    if (fault || !items || items == c->words) {
        redis_bad_arity(c);
        return;
    }
    made = new_of(c, &w);
    redis_write(c, &add_many, w.must ? NULL : &made, c->word + items,
                c->words - items);
}

/* --- facts --- */

/* Estimated, unless they are counted. */
static int64_t items_of(const struct archive *a)
{
    const struct seen_filter *f = a->filter;

    if (seen_meta_get(f, ARCHIVE_EXACT)) {
        uint64_t n = seen_filter_offered(f),
                 most = seen_filter_plan(f)->capacity;

        return (int64_t)(n < most ? n : most);
    }
    return llround(seen_filter_entries(f));
}

void redis_bf_card(struct redis_call *c)
{
    bool replied;
    struct archive *a = redis_filter(c, &replied);

    if (!replied)
        resp_number(c->out, a ? items_of(a) : 0);
}

static int64_t capacity_of(const struct seen_filter *f)
{
    bool grows = seen_filter_can(f, SEEN_CAN_GROW);
    uint64_t sum = 0;

    for (unsigned i = 0; grows && i < seen_filter_parts(f); i++)
        sum += seen_filter_plan(seen_filter_part(f, i))->capacity;
    return (int64_t)(sum ? sum : seen_filter_plan(f)->capacity);
}

enum redis_fact {
    SIZE_OF_ALL,
    PARTS,
    ITEMS,
    GROWTH,
    CAPACITY_OF_ALL,
    SEED,
    PLAN
};

/* Plan, counts and metadata, as the file has them: `bf://` addresses read the
   profile there, and refuse another one. */
static void reply_plan(struct redis_call *c, const struct seen_filter *f)
{
    struct seen_error why;
    char *text;

    if (seen_store_describe(f, &text, &why) != SEEN_OK) {
        resp_error(c->out, "ERR %s", why.text);
        return;
    }
    resp_text(c->out, text);
    free(text);
}

/* As it was given: not always as the filter has it. */
static void reply_growth(struct redis_call *c, const struct seen_filter *f)
{
    const char *grows = seen_kind_which(seen_filter_plan(f)->kind,
                                        SEEN_CAN_GROW);
    const char *given = seen_meta_get(f, ARCHIVE_EXPANSION);
    char arg[16];

    if (!grows && !seen_store_grows(f, NULL))
        resp_null(c->out, c->three);
    else if (given)
        resp_number(c->out, atoi(given));
    else if (grows && seen_kind_arg(grows, 0, arg, sizeof arg))
        resp_number(c->out, atoi(arg));
    else
        resp_number(c->out, EXPANSION);
}

static void reply_fact(struct redis_call *c, const struct archive *a,
                       enum redis_fact fact)
{
    const struct seen_filter *f = a->filter;

    switch (fact) {
    case CAPACITY_OF_ALL: resp_number(c->out, capacity_of(f)); break;
    case SIZE_OF_ALL:
        resp_number(c->out, (int64_t)seen_filter_bytes(f));
        break;
    case PARTS:
        resp_number(c->out, seen_filter_parts(f) ? seen_filter_parts(f) : 1);
        break;
    case SEED: resp_number(c->out, (int64_t)seen_filter_plan(f)->seed); break;
    case ITEMS: resp_number(c->out, items_of(a)); break;
    case PLAN: reply_plan(c, f); break;
    case GROWTH: reply_growth(c, f); break;
    }
}

/* RedisBloom's five pairs, in its order; or one fact, of which two are ours. */
void redis_bf_info(struct redis_call *c)
{
    static const struct {
        const char *option, *name;
        enum redis_fact fact;
    } row[] = {
        { "CAPACITY", "Capacity", CAPACITY_OF_ALL },
        { "SIZE", "Size", SIZE_OF_ALL },
        { "FILTERS", "Number of filters", PARTS },
        { "ITEMS", "Number of items inserted", ITEMS },
        { "EXPANSION", "Expansion rate", GROWTH },
        { "SEED", NULL, SEED },
        { "PLAN", NULL, PLAN },
    };
    const size_t rows = sizeof row / sizeof row[0], pairs = rows - 2;
    bool replied;
    struct archive *a;

    if (c->words > 3) {
        redis_bad_arity(c);
        return;
    }
    a = redis_filter(c, &replied);
    if (replied)
        return;
    if (!a) {
        resp_error(c->out, "ERR not found");
        return;
    }
    if (c->words == 2) {
        resp_map(c->out, pairs, c->three);
        for (size_t i = 0; i < pairs; i++) {
            resp_status(c->out, row[i].name);
            reply_fact(c, a, row[i].fact);
        }
        return;
    }
    for (size_t i = 0; i < rows; i++)
        if (span_like(c->word[2], row[i].option)) {
            resp_array(c->out, 1);
            reply_fact(c, a, row[i].fact);
            return;
        }
    resp_error(c->out, "ERR Invalid information value");
}
