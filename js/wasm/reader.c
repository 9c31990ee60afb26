/*
 * reader.c - what JavaScript calls: keys, one filter, its questions, a delta.
 *
 *     batch      ask          answers
 *     URLs  ──> keys  ──> filter  ──> one byte per URL
 *
 * URLs come in batches through memory that both sides know (js_batch()): their
 * bytes one after the other, where each ends, and room for the answers. A
 * question that needs bytes of the file which are not here yet fails with
 * SEEN_IO, and the host has noted which: it fetches them and asks again.
 *
 * An instance has one filter. Everything else is in its memory, so a filter
 * that was made to harm can harm only its own answers.
 */
#include <stdlib.h>
#include <string.h>

#include <seen/filter.h>
#include <seen/kind.h>
#include <seen/share.h>
#include <seen/store.h>

#include "idn.h"

#define EXPORT(name) __attribute__((export_name(name), used))

enum { BATCH = 1024, TEXT = 256 << 10 };

enum js_answer {
    NO,
    YES,
    NOT_A_URL,  /* the profile refuses it */
    UNKNOWN,   /* the name of its host is not known to this Unicode */
    DAMAGED    /* a block of the file that it needs is */
};

struct js_batch {
    unsigned char text[TEXT];
    uint32_t end[BATCH];        /* of each URL in `text` */
    unsigned char answer[BATCH];
    uint64_t hash[2 * BATCH];   /* lo, hi: read by js_ask_keys() */
    uint32_t key_at, key_len;   /* where js_key() left the text of a key */
};

static struct js_batch batch;
static struct seen_error why;
static struct seen_filter *filter;
static bool partly; /* only blocks that were asked for have been read */
static struct seen_profile profile;
static char *description;

static struct seen_key key[BATCH];
static enum seen_code code[BATCH];
static char canonical[TEXT];
static bool seen[BATCH];

EXPORT("batch") struct js_batch *js_batch(void)
{
    return &batch;
}

EXPORT("sizes") int js_sizes(int what)
{
    return what ? TEXT : BATCH;
}

EXPORT("error") const char *js_error(void)
{
    return why.text;
}

EXPORT("error_at") double js_error_at(void)
{
    return (double)why.at;
}

/* --- the filter --- */

/* Keys are made as the filter says, or by the profile with this name. */
EXPORT("rules") int js_rules(const char *name)
{
    return (int)seen_profile_find(&profile, name, &why);
}

EXPORT("open") int js_open(int lazy)
{
    struct seen_access options = { .lazy = lazy };
    enum seen_code got;

    seen_filter_free(filter);
    filter = NULL;
    partly = lazy;
    got = lazy ? seen_store_map(&filter, "/filter", &options, &why)
               : seen_store_load(&filter, "/filter", &options, &why);
    if (got == SEEN_OK)
        got = seen_profile_find(&profile, seen_filter_plan(filter)->profile,
                                &why);
    return (int)got;
}

EXPORT("describe") const char *js_describe(void)
{
    free(description);
    description = NULL;
    return seen_store_describe(filter, &description, &why) == SEEN_OK
               ? description
               : NULL;
}

/* The rate of `layered` is found in its cells. */
static double rate(void)
{
    return partly && seen_filter_can(filter, SEEN_HAS_LAYERS)
               ? seen_filter_planned(filter)
               : seen_filter_rate(filter);
}

EXPORT("number") double js_number(int which)
{
    switch (which) {
    case 0: return rate();
    case 1: return seen_filter_planned(filter);
    case 2: return seen_filter_entries(filter);
    case 3: return (double)seen_filter_bytes(filter);
    default: return (double)seen_filter_cost(filter);
    }
}

/* --- questions --- */

/* The keys of URLs from..n, as far as there is room for their texts; their
   number. *done is how many URLs have a code. */
static size_t make_keys(size_t from, size_t n, size_t *done)
{
    struct seen_span url[BATCH];
    size_t keys;

    for (size_t i = from; i < n; i++) {
        size_t at = i ? batch.end[i - 1] : 0;

        url[i - from].text = (const char *)batch.text + at;
        url[i - from].len = batch.end[i] - at;
    }
    keys = seen_key_make_many(key, code, canonical, sizeof canonical, url,
                              n - from, &profile);
    for (*done = 0; *done < n - from && code[*done] != SEEN_FULL; (*done)++)
        if (code[*done] != SEEN_OK)
            batch.answer[from + *done] = NOT_A_URL;
    return keys;
}

/* The answers for keys; one by one, if a block of one of them is damaged. */
static enum seen_code answer(size_t from, size_t done, size_t keys)
{
    enum seen_code got = seen_filter_has(filter, key, keys, seen, &why);
    bool alone = got == SEEN_CORRUPT;

    if (got != SEEN_OK && !alone)
        return got;
    for (size_t i = 0, k = 0; i < done; i++) {
        if (code[i] != SEEN_OK)
            continue;
        if (alone)
            got = seen_filter_has(filter, &key[k], 1, &seen[k], &why);
        if (got != SEEN_OK && got != SEEN_CORRUPT)
            return got;
        batch.answer[from + i] = got != SEEN_OK ? DAMAGED : seen[k] ? YES : NO;
        k++;
    }
    return SEEN_OK;
}

/* Names that are not sure are found by asking for each URL alone. */
static enum seen_code ask_unsure(size_t from, size_t n)
{
    enum seen_code got = SEEN_OK;

    for (size_t i = from; i < n && got == SEEN_OK; i++) {
        size_t done, keys;

        js_name_unsure = false;
        keys = make_keys(i, i + 1, &done);
        if (js_name_unsure)
            batch.answer[i] = UNKNOWN;
        else if (keys)
            got = answer(i, done, keys);
    }
    return got;
}

EXPORT("ask") int js_ask(int n)
{
    enum seen_code got = SEEN_OK;
    size_t done;

    for (size_t from = 0; from < (size_t)n && got == SEEN_OK; from += done) {
        size_t keys;

        js_name_unsure = false;
        keys = make_keys(from, (size_t)n, &done);
        got = js_name_unsure ? ask_unsure(from, from + done)
                             : answer(from, done, keys);
    }
    return (int)got;
}

EXPORT("ask_keys") int js_ask_keys(int n)
{
    for (int i = 0; i < n; i++) {
        key[i] = (struct seen_key){ .lo = batch.hash[2 * i],
                                    .hi = batch.hash[2 * i + 1] };
        code[i] = SEEN_OK;
    }
    if (seen_filter_can(filter, SEEN_READS_TEXT) ||
        seen_filter_plan(filter)->keyed)
        return (int)seen_fail(&why, SEEN_UNABLE, 0,
                              "%s hashes the text of URLs by itself: ask it "
                              "for URLs",
                              seen_filter_plan(filter)->kind);
    return (int)answer(0, (size_t)n, (size_t)n);
}

/* The key of the first URL of the batch, by the rules that were set. */
EXPORT("key") int js_key(void)
{
    struct seen_key one;
    enum seen_code got;

    js_name_unsure = false;
    got = seen_key_make_as(&one, canonical, (const char *)batch.text,
                           batch.end[0], &profile, &why);
    if (js_name_unsure)
        got = seen_fail(&why, SEEN_BAD_URL, 0,
                        "the name of the host is not allowed, or newer than "
                        "the Unicode of this reader");
    if (got != SEEN_OK)
        return (int)got;
    batch.key_at = (uint32_t)(uintptr_t)one.text;
    batch.key_len = (uint32_t)one.len;
    batch.hash[0] = one.lo;
    batch.hash[1] = one.hi;
    return SEEN_OK;
}

/* --- deltas --- */

EXPORT("apply") int js_apply(void)
{
    return (int)seen_delta_apply("/filter", "/delta", "/result", &why);
}
