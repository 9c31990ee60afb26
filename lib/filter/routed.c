/*
 * routed.c - N filters; the key decides which one holds it.
 *
 *     md5("https://haw.nsk.hr/en") = 3f...   --> part 3 of routed:16,md5
 *
 *     key --> top bits --+--> part 0
 *                        +--> part 1
 *                        :
 *                        '--> part N - 1
 *
 * Beyond some size one array of bits is too large for a machine, a Redis key
 * or a download. With N filters, N a power of two, a lookup still asks one
 * filter: a hash spreads the keys evenly, so that each part holds about n/N
 * keys, and the rate of the whole is that of a part. An array of filters that
 * must all be asked adds up their rates [1]. The archives report uses the
 * first hex digit of the MD5 of the URL, `routed:16,md5`. Without md5 the top
 * bits of the key's upper half are used, which costs nothing.
 *
 * The keys of a part are binomial with mean n/N and variance below n/N, so
 * each part is planned for five standard deviations more: n/N + 5 sqrt(n/N),
 * which is 2 % more for a million keys in 16 parts.
 *
 * [1] the archives report, section 2.2 and figures 5 and 7.
 */
#include <seen/kind_writer.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../key/digest.h"
#include "../key/published.h"
#include "args.h"
#include "parts.h"
#include "tree.h"

enum {
    BATCH = 1024,
    SLACK = 4096 /* keys that other threads may add meanwhile */
};

struct routed {
    struct seen_filter base; /* first: see kind_writer.h */
    unsigned bits;           /* that select one of 2^bits parts */
    bool md5;
};

/* A batch sorted by part: keys of part p from first[p] to first[p + 1]. */
struct sorted {
    struct seen_key key[BATCH];
    uint16_t from[BATCH]; /* its number in the batch */
    uint16_t first[SEEN_PARTS + 1];
    bool answer[BATCH];
};

extern const struct seen_kind filter_routed;

/* The capacity of a part, for n keys in all. */
static double share(double n, unsigned parts)
{
    return ceil(n / parts + 5 * sqrt(n / parts));
}

/* The inverse: the most keys for which a part needs at most `most`. */
static uint64_t keys_for(uint64_t most, unsigned parts)
{
    double root = (sqrt(25 + 4 * (double)most) - 5) / 2;
    uint64_t n = (uint64_t)(root * root * parts);

    while (n && share((double)n, parts) > (double)most)
        n--;
    return n;
}

static enum seen_code routed_make(struct seen_filter *f,
                                  struct seen_error *why)
{
    struct routed *r = (struct routed *)f;
    struct seen_plan *plan = &f->plan, part;
    enum seen_code code;
    unsigned parts;

    code = arg_number(plan->kind, 0, 2, SEEN_PARTS, 0, &parts, why);
    if (code == SEEN_OK)
        code = arg_last(plan->kind, 1, "md5", &r->md5, why);
    if (code == SEEN_OK && (parts & (parts - 1)))
        code = seen_fail(why, SEEN_RANGE, 0,
                         "routed takes a power of two, not %u", parts);
    if (code == SEEN_OK && r->md5 && plan->keyed)
        code = seen_fail(why, SEEN_RANGE, 0,
                         "MD5 has no secret: a keyed filter routes without");
    if (code != SEEN_OK)
        return code;
    f->first = f->room = parts;
    while (1u << r->bits < parts)
        r->bits++;
    if (!f->recorded && (!plan->capacity || !(plan->rate > 0))) {
        code = filter_sample(f, &part, why);
        if (code == SEEN_OK && !plan->capacity) {
            plan->capacity = keys_for(part.capacity, parts);
            if (!plan->capacity)
                code = seen_fail(why, SEEN_RANGE, 0,
                                 "the bits are too few for %u parts", parts);
        }
        if (code == SEEN_OK && !(plan->rate > 0))
            plan->rate = part.rate;
    }
    return code;
}

static enum seen_code routed_part(const struct seen_filter *f, unsigned i,
                                  struct seen_plan *plan,
                                  struct seen_error *why)
{
    (void)i, (void)why; /* equal except for the seed */
    plan->capacity = (uint64_t)share((double)plan->capacity, f->room);
    plan->bits /= f->room;
    return SEEN_OK;
}

/* The part of a key. */
static unsigned choose(const struct routed *r, const struct seen_key *key)
{
    unsigned char md5[DIGEST_MD5];

    if (!r->md5)
        return (unsigned)(key->hi >> (64 - r->bits));
    digest_md5("", 0, key->text, key->len, md5);
    return (unsigned)(md5[0] << 8 | md5[1]) >> (16 - r->bits);
}

/* A counting sort, which keeps the order of keys within a part. */
static void sort(const struct routed *r, const struct seen_key *key, size_t n,
                 struct sorted *s)
{
    unsigned parts = r->base.room;
    uint16_t part[BATCH];

    memset(s->first, 0, (parts + 1) * sizeof s->first[0]);
    for (size_t i = 0; i < n; i++) {
        unsigned p = choose(r, &key[i]);

        part[i] = (uint16_t)p;
        s->first[p]++;
    }
    for (unsigned p = 0, sum = 0; p <= parts; p++) {
        unsigned count = s->first[p];

        s->first[p] = (uint16_t)sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) {
        uint16_t to = s->first[part[i]]++;

        s->key[to] = key[i];
        s->from[to] = (uint16_t)i;
    }
    memmove(s->first + 1, s->first, parts * sizeof s->first[0]);
    s->first[0] = 0;
}

static size_t keys_of(const struct sorted *s, unsigned part)
{
    return (size_t)(s->first[part + 1] - s->first[part]);
}

static enum seen_code ask(const struct routed *r, const struct sorted *s,
                          bool *answer, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (unsigned p = 0; p < r->base.parts && code == SEEN_OK; p++) {
        const struct seen_filter *part = r->base.part[p];

        if (keys_of(s, p))
            code = part->kind->has(part, s->key + s->first[p], keys_of(s, p),
                                   answer + s->first[p], why);
    }
    return code;
}

/* Is there room in every part for its keys of this batch? */
static bool fits(const struct routed *r, const struct sorted *s)
{
    size_t slack = r->base.stripes ? SLACK : 0;

    for (unsigned p = 0; p < r->base.parts; p++)
        if (keys_of(s, p) &&
            part_room(r->base.part[p]) < keys_of(s, p) + slack)
            return false;
    return true;
}

static enum seen_code add_sorted(struct routed *r, struct sorted *s,
                                 struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (unsigned p = 0; p < r->base.parts && code == SEEN_OK; p++) {
        struct seen_filter *part = r->base.part[p];

        if (keys_of(s, p))
            code = part->kind->add(part, s->key + s->first[p], keys_of(s, p),
                                   s->answer + s->first[p], why);
    }
    if (code != SEEN_OK && why)
        why->at = 0; /* some were added, some not: begin again */
    return code;
}

/* Few keys for many parts are not worth sorting. */
static bool few(const struct routed *r, size_t n)
{
    return n * 16 < r->base.room || n == 1;
}

static enum seen_code routed_has(const struct seen_filter *f,
                                 const struct seen_key *key, size_t n,
                                 bool *seen, struct seen_error *why)
{
    const struct routed *r = (const struct routed *)f;
    enum seen_code code = SEEN_OK;
    struct sorted s;

    for (size_t i = 0; i < n && few(r, n) && code == SEEN_OK; i++) {
        const struct seen_filter *part = f->part[choose(r, &key[i])];

        code = part->kind->has(part, &key[i], 1, &seen[i], why);
    }
    for (size_t done = 0, some; done < n && !few(r, n) && code == SEEN_OK;
         done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        sort(r, key + done, some, &s);
        code = ask(r, &s, s.answer, why);
        for (size_t i = 0; i < some && code == SEEN_OK; i++)
            seen[done + s.from[i]] = s.answer[i];
    }
    return code;
}

/* MD5 of a URL takes longer than what would be saved. */
static void routed_expect(const struct seen_filter *f,
                          const struct seen_key *key, size_t n)
{
    const struct routed *r = (const struct routed *)f;

    for (size_t i = 0; i < n && !r->md5; i++) {
        const struct seen_filter *part = f->part[choose(r, &key[i])];

        if (part->kind->expect)
            part->kind->expect(part, &key[i], 1);
    }
}

/* Add keys one by one, in the caller's order. */
static enum seen_code add_each(struct routed *r, const struct seen_key *key,
                               size_t n, bool *fresh, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        struct seen_filter *part = r->base.part[choose(r, &key[i])];

        code = part->kind->add(part, &key[i], 1, fresh ? &fresh[i] : NULL,
                               why);
        if (code != SEEN_OK && why)
            why->at = i;
    }
    return code;
}

/*
 * If a batch were sorted by part, keys after the first refused one would be
 * added already. So a batch is sorted only while every part has room for its
 * keys. Towards the end keys are added one by one, in the caller's order.
 */
static enum seen_code routed_add(struct seen_filter *f,
                                 const struct seen_key *key, size_t n,
                                 bool *fresh, struct seen_error *why)
{
    struct routed *r = (struct routed *)f;
    enum seen_code code = SEEN_OK;
    struct sorted s;

    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        if (!few(r, some))
            sort(r, key + done, some, &s);
        if (few(r, some) || !fits(r, &s)) {
            code = add_each(r, key + done, some, fresh ? fresh + done : NULL,
                            why);
        } else {
            code = add_sorted(r, &s, why);
            for (size_t i = 0; i < some && fresh && code == SEEN_OK; i++)
                fresh[done + s.from[i]] = s.answer[i];
        }
        if (code != SEEN_OK && why)
            why->at += done;
    }
    return code;
}

static enum seen_code routed_route(const struct seen_filter *f,
                                   const struct seen_key *key, size_t n,
                                   unsigned *part, struct seen_error *why)
{
    const struct routed *r = (const struct routed *)f;

    (void)why;
    for (size_t i = 0; i < n; i++)
        part[i] = choose(r, &key[i]);
    return SEEN_OK;
}

static enum seen_code routed_remove(struct seen_filter *f,
                                    const struct seen_key *key, size_t n,
                                    struct seen_error *why)
{
    unsigned part[BATCH];
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        if (i % BATCH == 0)
            code = routed_route(f, key + i, n - i < BATCH ? n - i : BATCH,
                                part, why);
        if (code == SEEN_OK) {
            struct seen_filter *in = f->part[part[i % BATCH]];

            code = in->kind->remove(in, &key[i], 1, why);
        }
        if (code != SEEN_OK && why)
            why->at = i;
    }
    return code;
}

static enum seen_code routed_count(const struct seen_filter *f,
                                   const struct seen_key *key, size_t n,
                                   uint64_t *count, struct seen_error *why)
{
    unsigned part[BATCH];
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        if (i % BATCH == 0)
            code = routed_route(f, key + i, n - i < BATCH ? n - i : BATCH,
                                part, why);
        if (code == SEEN_OK) {
            const struct seen_filter *in = f->part[part[i % BATCH]];

            code = in->kind->count(in, &key[i], 1, &count[i], why);
        }
    }
    return code;
}

static enum seen_code routed_under(const struct seen_filter *f,
                                   const struct seen_key *key, bool *seen,
                                   struct seen_error *why)
{
    return part_under(f, false, key, seen, why);
}

/* A key is looked up in each part with the same probability. */
static double routed_rate(const struct seen_filter *f)
{
    double sum = 0;

    for (unsigned p = 0; p < f->parts; p++)
        sum += seen_filter_rate(f->part[p]);
    return sum / f->room;
}

static double routed_planned(const struct seen_filter *f)
{
    double sum = 0;

    for (unsigned p = 0; p < f->parts; p++)
        sum += seen_filter_planned(f->part[p]);
    return sum / f->room;
}

static uint64_t routed_cost(const struct seen_filter *f)
{
    return ((const struct routed *)f)->md5 ? 1 + published_cost(PUBLISHED_MD5)
                                           : 1;
}

static unsigned routed_traits(const char *text)
{
    char arg[16];
    bool md5 = seen_kind_arg(text, 1, arg, sizeof arg) && !strcmp(arg, "md5");

    return SEEN_CAN_ADD | SEEN_CAN_REMOVE | SEEN_CAN_COUNT | SEEN_CAN_PREFIX |
           SEEN_CAN_MERGE | SEEN_CAN_ROUTE | (md5 ? SEEN_READS_TEXT : 0);
}

const struct seen_kind filter_routed = {
    .name = "routed",
    .synopsis = "routed:N[,md5]/KIND",
    .summary = "N filters; the key chooses the one that answers",
    .traits_of = routed_traits,
    .combines = true,
    .target = SEEN_TO_ONE,
    .state = sizeof(struct routed),
    .make = routed_make,
    .part = routed_part,
    .has = routed_has,
    .expect = routed_expect,
    .add = SEEN_CHANGE(routed_add),
    .rate = routed_rate,
    .planned = routed_planned,
    .cost = routed_cost,
    .remove = SEEN_CHANGE(routed_remove),
    .count = routed_count,
    .under = routed_under,
    .route = routed_route,
};
