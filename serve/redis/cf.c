/*
 * cf.c - RedisBloom's CF commands, on counting filters.
 *
 * RedisBloom has a cuckoo filter here. Its users need to remove items and to
 * add them more than once, which a filter of 8-bit counters does too:
 * `counting:8`, at 1 %. It does not grow, so a filter made by CF.ADD is as
 * large as a cuckoo filter of RedisBloom after its default of 32 expansions.
 * A cuckoo filter's bucket size, iterations and expansion are checked and
 * then ignored.
 */
#include <math.h>
#include <stdio.h>

#include "command.h"

enum { CAPACITY = 1 << 16, BUCKET = 2 };

static struct archive_new new_of(const struct redis_call *c, int64_t capacity)
{
    struct archive_new made = { .plan = { .capacity = (uint64_t)capacity,
                                          .rate = 0.01 } };

    redis_seed(c, &made);
    snprintf(made.plan.kind, sizeof made.plan.kind, "counting:8");
    snprintf(made.plan.profile, sizeof made.plan.profile, "raw");
    return made;
}

static const char bad_capacity[] = "ERR Bad capacity";
static const char low_capacity[] =
    "ERR Capacity must be at least (BucketSize * 2)";

void redis_cf_reserve(struct redis_call *c)
{
    static const struct {
        const char *name;
        int64_t least;
        const char *low;
    } option[] = {
        { "MAXITERATIONS", 1, "a positive integer" },
        { "BUCKETSIZE", 1, "a positive integer" },
        { "EXPANSION", 0, "a non-negative integer" },
        { "SEED", 0, "a non-negative integer" }, /* not in RedisBloom */
    };
    const size_t options = sizeof option / sizeof option[0];
    int64_t capacity, bucket = BUCKET, seed = -1, n;
    struct archive_new made;

    if (c->words % 2 == 0) {
        redis_bad_arity(c);
        return;
    }
    if (!redis_integer(c->word[2], &capacity)) {
        resp_error(c->out, "%s", bad_capacity);
        return;
    }
    for (size_t i = 3; i < c->words; i += 2) {
        size_t j = 0;

        while (j < options && !span_like(c->word[i], option[j].name))
            j++;
        if (j == options) {
            resp_error(c->out, "ERR syntax error");
            return;
        }
        if (!redis_integer(c->word[i + 1], &n)) {
            resp_error(c->out, "ERR Couldn't parse %s", option[j].name);
            return;
        }
        if (n < option[j].least) {
            resp_error(c->out, "ERR %s parameter needs to be %s",
                       option[j].name, option[j].low);
            return;
        }
        bucket = j == 1 ? n : bucket;
        seed = j == 3 ? n : seed;
    }
    if (bucket > capacity / 2) {
        resp_error(c->out, "%s", low_capacity);
        return;
    }
    made = new_of(c, capacity);
    if (seed >= 0) {
        made.any_seed = false;
        made.plan.seed = (uint64_t)seed;
    }
    redis_make_archive(c, &made);
}

/* --- adding and removing --- */

static const struct redis_write_kind add = { ARCHIVE_ADD, true, true,
                                             REPLY_FLAG };
static const struct redis_write_kind add_new = { ARCHIVE_ADD_NEW, true, false,
                                                 REPLY_FLAG };
static const struct redis_write_kind del = { ARCHIVE_REMOVE, true, false,
                                             REPLY_FLAG };
static const struct redis_write_kind insert = { ARCHIVE_ADD, true, true,
                                                REPLY_FULLS };
static const struct redis_write_kind insert_new = { ARCHIVE_ADD_NEW, true,
                                                    false, REPLY_FULLS };

void redis_cf_add(struct redis_call *c)
{
    const struct archive_new made = new_of(c, CAPACITY);

    if (!strcmp(c->command->name, "cf.del"))
        redis_write_one(c, &del, NULL);
    else if (!strcmp(c->command->name, "cf.addnx"))
        redis_write_one(c, &add_new, &made);
    else
        redis_write_one(c, &add, &made);
}

void redis_cf_insert(struct redis_call *c)
{
    int64_t capacity = CAPACITY;
    struct archive_new made;
    bool must = false;
    size_t i = 2;

    for (; i < c->words && !span_like(c->word[i], "ITEMS"); i++) {
        if (span_like(c->word[i], "NOCREATE")) {
            must = true;
        } else if (!span_like(c->word[i], "CAPACITY")) {
            resp_error(c->out, "ERR Unknown argument received");
            return;
        } else if (++i < c->words && (!redis_integer(c->word[i], &capacity) ||
                                      capacity < 2 * BUCKET)) {
            resp_error(c->out, "%s",
                       redis_integer(c->word[i], &capacity) ? low_capacity
                                                            : bad_capacity);
            return;
        }
    }
    if (++i >= c->words) {
        redis_bad_arity(c);
        return;
    }
    made = new_of(c, capacity);
    redis_write(
        c, strcmp(c->command->name, "cf.insertnx") ? &insert : &insert_new,
        must ? NULL : &made, c->word + i, c->words - i);
}

void redis_cf_count(struct redis_call *c)
{
    char text[SEEN_KEY_TEXT];
    struct seen_key key;
    struct seen_error why;
    enum seen_code code = SEEN_OK;
    uint64_t n = 0;
    bool replied;
    struct archive *a = redis_filter(c, &replied);

    if (replied)
        return;
    if (a)
        code = archive_key(&key, text, c->word[2], ARCHIVE_ANY, &a->profile,
                           &why);
    if (a && code == SEEN_OK && !loop_affords(c->loop, a->cost))
        code = seen_fail(&why, SEEN_RANGE, 0,
                         "counting costs too much here; ask CF.EXISTS");
    else if (a && code == SEEN_OK)
        code = archive_count(a, &key, &n, &why);
    if (code == SEEN_OK)
        resp_number(c->out, (int64_t)n);
    else
        resp_error(c->out, "ERR %s", why.text);
}

static void fact(struct redis_call *c, const char *name, uint64_t n)
{
    resp_status(c->out, name);
    resp_number(c->out, (int64_t)n);
}

/* A counter is reported as a bucket. Deletions are not counted. */
void redis_cf_info(struct redis_call *c)
{
    bool replied;
    struct archive *a = redis_filter(c, &replied);

    if (replied)
        return;
    if (!a) {
        resp_error(c->out, "ERR not found");
        return;
    }
    resp_map(c->out, 9, c->three);
    fact(c, "Size", seen_filter_bytes(a->filter));
    fact(c, "Number of buckets", seen_filter_cells(a->filter));
    fact(c, "Number of filters", 1);
    fact(c, "Number of items inserted",
         (uint64_t)llround(seen_filter_entries(a->filter)));
    fact(c, "Number of items deleted", 0);
    fact(c, "Bucket size", 1);
    fact(c, "Expansion rate", 0);
    fact(c, "Max iterations", seen_filter_plan(a->filter)->probes);
    fact(c, "Seed", seen_filter_plan(a->filter)->seed);
}

void redis_cf_compact(struct redis_call *c)
{
    bool replied;
    struct archive *a = redis_filter(c, &replied);

    if (replied)
        return;
    if (a)
        resp_status(c->out, "OK");
    else
        resp_error(c->out, "ERR Cuckoo filter was not found");
}
