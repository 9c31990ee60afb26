/*
 * able.c - what a structure can do, found by trying.
 *
 * A small filter of each is made and every function called on it: SEEN_UNABLE
 * (of a keyed plan: SEEN_RANGE) means that it cannot. So the report shows what
 * the library does, without a list that could become wrong.
 */
#include "ours.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seen/build.h>
#include <seen/share.h>

#include "../corpus.h"

const char *const able_name[ABLE] = {
    "add",   "delete", "count",  "count to 1000", "grow",  "merge",
    "delta", "split",  "prefix", "order",         "keyed",
};
const char *const able_words[ABLE] = {
    "be added to",
    "delete",
    "count",
    "count to a thousand",
    "grow past its plan and keep the rate",
    "be merged with another",
    "travel as a delta from one version to the next",
    "be split into parts among which the URL itself chooses",
    "answer for a prefix",
    "distinguish URLs that have the same segments in another order",
    "be keyed with a secret",
};

enum { KEYS = 2048, ROOM = 2048, LITTLE = 128 };
static const double RATE = 0.01;

struct trial {
    const struct lab *lab;
    const struct subject *subject;
    struct seen_key *key;
};

static bool can(enum seen_code code, const struct seen_error *why)
{
    if (code != SEEN_OK && code != SEEN_UNABLE)
        lab_fail("%s", why->text);
    return code == SEEN_OK;
}

static enum seen_code build(struct seen_filter **out,
                            const struct seen_plan *plan,
                            const struct seen_key *key, size_t n,
                            struct seen_error *why)
{
    struct seen_build *b;
    enum seen_code code = seen_build_new_keyed(&b, plan, subject_secret(plan),
                                               1, why);

    *out = NULL;
    if (code != SEEN_OK)
        return code;
    code = seen_build_add(b, 0, key, n, why);
    if (code == SEEN_OK)
        return seen_build_finish(b, out, why);
    seen_build_free(b);
    return code;
}

/* A filter with these keys, added or built. */
static enum seen_code make(struct seen_filter **out,
                           const struct seen_plan *plan,
                           const struct seen_key *key, size_t n,
                           struct seen_error *why)
{
    enum seen_code code = seen_filter_new_keyed(out, plan,
                                                subject_secret(plan), why);

    if (code == SEEN_UNABLE)
        return build(out, plan, key, n, why);
    return code == SEEN_OK ? seen_filter_add(*out, key, n, NULL, why) : code;
}

/* Half of the keys in a filter that has room for them. */
static struct seen_filter *half(const struct trial *t)
{
    struct seen_plan plan = subject_plan(t->lab, t->subject, ROOM, RATE);
    struct seen_filter *f;
    struct seen_error why;

    if (make(&f, &plan, t->key, KEYS / 2, &why) != SEEN_OK)
        lab_fail("%s: %s", plan.kind, why.text);
    return f;
}

/* A key that comes a thousand times, in a filter with room to spare. */
static bool can_count_many(const struct trial *t)
{
    enum { MANY_TIMES = 1000 };
    struct seen_plan plan = subject_plan(t->lab, t->subject, ROOM, RATE);
    struct seen_filter *f;
    struct seen_error why;
    uint64_t count = 0;
    enum seen_code code = make(&f, &plan, t->key, 1, &why);

    for (int i = 1; i < MANY_TIMES && code == SEEN_OK; i++)
        code = seen_filter_add(f, t->key, 1, NULL, &why);
    if (code == SEEN_OK)
        code = seen_filter_count(f, t->key, 1, &count, &why);
    seen_filter_free(f);
    return can(code, &why) && count == MANY_TIMES;
}

static bool can_merge(const struct trial *t, struct seen_filter *f)
{
    struct seen_filter *other = half(t);
    struct seen_error why;
    bool yes = can(seen_filter_merge(f, other, &why), &why);

    seen_filter_free(other);
    return yes;
}

/* More than its plan, many times over: not refused, and the rate is kept. */
static bool can_grow(const struct trial *t)
{
    struct seen_plan plan = subject_plan(t->lab, t->subject, LITTLE, RATE);
    struct seen_filter *f;
    struct seen_error why;
    enum seen_code code;
    bool yes;

    plan.capacity = LITTLE;
    code = seen_filter_new_keyed(&f, &plan, subject_secret(&plan), &why);
    if (code == SEEN_OK)
        code = seen_filter_add(f, t->key, KEYS, NULL, &why);
    yes = code != SEEN_FULL && can(code, &why) &&
          seen_filter_rate(f) <= seen_filter_planned(f);
    seen_filter_free(f);
    return yes;
}

/* Two versions as files; the later one has one key more. */
static bool can_delta(const struct trial *t)
{
    struct seen_plan plan = subject_plan(t->lab, t->subject, ROOM, RATE);
    char path[3][PATH_MAX];
    struct seen_filter *f;
    struct seen_error why;
    bool yes;

    for (int i = 0; i < 3; i++) {
        snprintf(path[i], sizeof path[i], "%s/able-%d", t->lab->folder, i);
        remove(path[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        lab_must(make(&f, &plan, t->key, KEYS / 2 + i, &why), &why);
        lab_must(seen_store_save(f, path[i], &why), &why);
        seen_filter_free(f);
    }
    yes = can(seen_delta_make(path[0], path[1], path[2], NULL, &why), &why);
    for (int i = 0; i < 3; i++)
        remove(path[i]);
    return yes;
}

/* All pairs a/b/c and d/c/b are added; a/c/b, which is not, is then found for
   every pair if it follows from them, and otherwise hardly ever. */
static bool can_order(const struct trial *t)
{
    enum { PAIRS = 8 };
    struct seen_plan plan = subject_plan(t->lab, t->subject, ROOM, RATE);
    struct seen_key key[3 * PAIRS];
    char url[3 * PAIRS][48];
    bool seen[PAIRS], all = true;
    struct seen_filter *f;
    struct seen_error why;

    for (int i = 0; i < PAIRS; i++) {
        snprintf(url[i], sizeof url[i], "http://a%d.example/b/c", i);
        snprintf(url[PAIRS + i], sizeof url[i], "http://d%d.example/c/b", i);
        snprintf(url[2 * PAIRS + i], sizeof url[i], "http://a%d.example/c/b",
                 i);
    }
    for (int i = 0; i < 3 * PAIRS; i++)
        seen_key_hash(&key[i], url[i], strlen(url[i]));
    lab_must(make(&f, &plan, key, 2 * PAIRS, &why), &why);
    lab_must(seen_filter_has(f, key + 2 * PAIRS, PAIRS, seen, &why), &why);
    seen_filter_free(f);
    for (int i = 0; i < PAIRS; i++)
        all = all && seen[i];
    return !all;
}

static bool can_be_keyed(const struct trial *t)
{
    struct subject keyed = *t->subject;
    struct seen_plan plan;
    struct seen_filter *f;
    struct seen_error why;
    enum seen_code code;

    keyed.keyed = true;
    plan = subject_plan(t->lab, &keyed, ROOM, RATE);
    code = make(&f, &plan, t->key, KEYS / 2, &why);
    seen_filter_free(f);
    return code != SEEN_RANGE && can(code, &why);
}

void subject_able(const struct lab *lab, const struct subject *of,
                  bool able[ABLE])
{
    struct trial t = { .lab = lab, .subject = of };
    struct urls *made; /* of a user's list there may be too few */
    struct corpus texts;
    uint64_t count;
    unsigned part;
    bool found;
    struct seen_filter *f;
    struct seen_error why;

    lab_must(urls_new(&made, lab->seed, &why), &why);
    corpus_init(&texts, made, 0, KEYS);
    urls_free(made);
    t.key = texts.key;
    f = half(&t);
    able[ADD] = can(seen_filter_add(f, t.key, 1, NULL, &why), &why);
    able[COUNT] = can(seen_filter_count(f, t.key, 1, &count, &why), &why);
    able[SPLIT] = can(seen_filter_route(f, t.key, &part, &why), &why);
    able[PREFIX] = can(seen_filter_has_prefix(f, t.key, &found, &why), &why);
    able[DELETE] = can(seen_filter_remove(f, t.key, 1, &why), &why);
    able[MANY] = can_count_many(&t);
    able[MERGE] = can_merge(&t, f);
    able[GROW] = can_grow(&t);
    able[ORDER] = can_order(&t);
    able[DELTA] = can_delta(&t);
    able[KEYED] = can_be_keyed(&t);
    seen_filter_free(f);
    corpus_clear(&texts);
}
