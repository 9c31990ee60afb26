/*
 * filter.c - the functions of <seen/filter.h>, for all kinds.
 *
 * Arguments are checked here, once, so that a kind can trust them: a kind is
 * called only for what it can do, keys have a text if the kind reads it, keys
 * of keyed filters are hashed under the secret, and keys are in the journal
 * before the cells change.
 */
#include <seen/kind_writer.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../key/secret.h"
#include "../text/sip.h"
#include "cells.h"
#include "storage.h"
#include "tree.h"

enum { BATCH = 64 };

const struct seen_plan *seen_filter_plan(const struct seen_filter *f)
{
    return &f->plan;
}

void seen_filter_set_keys(struct seen_filter *f, enum seen_index_keys keys)
{
    f->plan.keys = keys;
}

/* Kinds that read the text of keys get no keys without text. */
static enum seen_code readable(const struct seen_filter *f,
                               const struct seen_key *key, size_t n,
                               struct seen_error *why)
{
    bool reads = (f->traits & SEEN_READS_TEXT) || f->plan.keyed;

    for (size_t i = 0; reads && i < n; i++)
        if (!key[i].text)
            return seen_fail(why, SEEN_RANGE, i, "%s needs the text of keys",
                             f->plan.keyed ? "a keyed filter" : f->plan.kind);
    if (f->plan.keyed && !key_secret_known(f->secret))
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "the filter is keyed, and its key was not given");
    return SEEN_OK;
}

void filter_key(const struct seen_filter *f, const struct seen_key *key,
                size_t n, struct seen_key *keyed)
{
    for (size_t i = 0; i < n; i++) {
        keyed[i] = key[i];
        sip_hash(f->secret, key[i].text, key[i].len, &keyed[i].lo,
                 &keyed[i].hi);
    }
}

/* Look up keys that are hashed under the secret if there is one. */
static enum seen_code has(const struct seen_filter *f,
                          const struct seen_key *key, size_t n, bool *seen,
                          struct seen_error *why)
{
    enum seen_code code = storage_check(f, key, n, false, why);

    if (code != SEEN_OK)
        return code;
    code = n == 1 && f->has_one ? f->has_one(f, key, seen)
                                : f->kind->has(f, key, n, seen, why);
    return storage_kept(f, code, why);
}

/* Does the kind take keys as they are? This is on the path of every key. */
static bool plain(const struct seen_filter *f)
{
    return !(f->traits & SEEN_READS_TEXT) && !f->plan.keyed;
}

/* Keys that must be read, hashed or checked before the kind gets them. Copies
   of them need 2 KiB of stack, which others need not pay for. */
__attribute__((noinline)) static enum seen_code has_slow(
    const struct seen_filter *f, const struct seen_key *key, size_t n,
    bool *seen, struct seen_error *why)
{
    enum seen_code code = readable(f, key, n, why);
    struct seen_key keyed[BATCH];

    if (code != SEEN_OK || !f->plan.keyed)
        return code == SEEN_OK ? has(f, key, n, seen, why) : code;
    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        filter_key(f, key + done, some, keyed);
        code = has(f, keyed, some, seen + done, why);
    }
    return code;
}

/* Keys that are asked of a filter in a file. One key has few instructions here,
   too, unless its cells wait for a check. */
__attribute__((noinline)) static enum seen_code has_stored(
    const struct seen_filter *f, const struct seen_key *key, size_t n,
    bool *seen, struct seen_error *why)
{
    return has(f, key, n, seen, why);
}

__attribute__((noinline)) static enum seen_code has_one_stored(
    const struct seen_filter *f, const struct seen_key *key, bool *seen,
    struct seen_error *why)
{
    return storage_kept(f, f->has_one(f, key, seen), why);
}

/*
 * As in seen_filter_add(), one key has a path of its own, so that a CPU which
 * waits for its cells begins with as many of the next calls as possible: 43
 * instead of 57 instructions, 29 ns instead of 33 with 100 million keys, 3.7
 * instead of 4.4 with one million (EPYC, Zen 5).
 */
enum seen_code seen_filter_has(const struct seen_filter *f,
                               const struct seen_key *key, size_t n,
                               bool *seen, struct seen_error *why)
{
    if (n == 1 && f->has_one && !f->storage)
        return f->has_one(f, key, seen);
    if (!plain(f))
        return has_slow(f, key, n, seen, why);
    if (!f->storage)
        return f->kind->has(f, key, n, seen, why);
    return n == 1 && f->has_one && !f->storage->check
               ? has_one_stored(f, key, seen, why)
               : has_stored(f, key, n, seen, why);
}

__attribute__((noinline)) static void expect_text(const struct seen_filter *f,
                                                  const struct seen_key *key,
                                                  size_t n)
{
    struct seen_key keyed[BATCH];

    if (readable(f, key, n, NULL) != SEEN_OK)
        return;
    for (size_t done = 0, some; done < n; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        if (f->plan.keyed)
            filter_key(f, key + done, some, keyed);
        f->kind->expect(f, f->plan.keyed ? keyed : key + done, some);
    }
}

void seen_filter_expect(const struct seen_filter *f,
                        const struct seen_key *key, size_t n)
{
    if (f->kind->expect && plain(f))
        f->kind->expect(f, key, n);
    else if (f->kind->expect)
        expect_text(f, key, n);
}

/* This is on the path of every add: comparing 64 of 128 bits is enough. */
void filter_offer(struct seen_filter *f, const struct seen_key *key, size_t n)
{
    uint64_t again = 0;

    if (!n)
        return;
    again += f->offered && key[0].lo == f->last;
#pragma GCC unroll 4
    for (size_t i = 1; i < n; i++)
        again += key[i].lo == key[i - 1].lo;
    f->offered += n - again;
    f->last = key[n - 1].lo;
}

/* Change the cells for one batch, which is hashed under the secret if there
   is one. */
static enum seen_code change(struct seen_filter *f, bool remove,
                             const struct seen_key *key, size_t n, bool *fresh,
                             struct seen_error *why)
{
    struct seen_storage *storage = f->storage;
    struct seen_error unasked;
    size_t done = n;
    uint64_t first = 0;
    enum seen_code code;

    why = why ? why : &unasked;
    if (storage && !storage->before)
        return seen_fail(why, SEEN_UNABLE, 0, "the filter is open to read");
    if (storage) {
        code = storage->before(storage, remove, key, n, &first, why);
        if (code != SEEN_OK)
            return code;
    }
    if (remove)
        code = f->kind->remove(f, key, n, why);
    else
        code = f->kind->add(f, key, n, fresh, why);
    code = storage_kept(f, code, why);
    if (code != SEEN_OK)
        done = why->at < n ? (size_t)why->at : n;
    if (!remove && f->stripes)
        __atomic_fetch_add(&f->offered, done, __ATOMIC_RELAXED);
    else if (!remove)
        filter_offer(f, key, done);
    if (storage)
        storage->after(storage, first, n, done);
    return code;
}

__attribute__((noinline)) static enum seen_code change_text(
    struct seen_filter *f, bool remove, const struct seen_key *key, size_t n,
    bool *fresh, struct seen_error *why)
{
    enum seen_code code = readable(f, key, n, why);
    struct seen_key keyed[BATCH];

    if (code != SEEN_OK || !f->plan.keyed)
        return code == SEEN_OK ? change(f, remove, key, n, fresh, why) : code;
    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        filter_key(f, key + done, some, keyed);
        code = change(f, remove, keyed, some, fresh ? fresh + done : NULL,
                      why);
        if (code != SEEN_OK && why)
            why->at += done;
    }
    return code;
}

static enum seen_code change_all(struct seen_filter *f, bool remove,
                                 const struct seen_key *key, size_t n,
                                 bool *fresh, struct seen_error *why)
{
    return plain(f) ? change(f, remove, key, n, fresh, why)
                    : change_text(f, remove, key, n, fresh, why);
}

enum seen_code seen_filter_has_url(const struct seen_filter *f,
                                   const char *url, bool *seen,
                                   struct seen_error *why)
{
    char text[SEEN_KEY_TEXT];
    struct seen_key key;
    enum seen_code code = seen_key_make(&key, text, url, strlen(url),
                                        f->plan.profile, why);

    return code == SEEN_OK ? seen_filter_has(f, &key, 1, seen, why) : code;
}

enum seen_code seen_filter_add_url(struct seen_filter *f, const char *url,
                                   bool *fresh, struct seen_error *why)
{
    char text[SEEN_KEY_TEXT];
    struct seen_key key;
    enum seen_code code = seen_key_make(&key, text, url, strlen(url),
                                        f->plan.profile, why);

    return code == SEEN_OK ? seen_filter_add(f, &key, 1, fresh, why) : code;
}

static enum seen_code unable(const struct seen_filter *f, const char *what,
                             struct seen_error *why)
{
    return seen_fail(why, SEEN_UNABLE, 0, "%s cannot %s", f->plan.kind, what);
}

__attribute__((noinline)) static enum seen_code add_any(
    struct seen_filter *f, const struct seen_key *key, size_t n, bool *fresh,
    struct seen_error *why)
{
    if (!(f->traits & SEEN_CAN_ADD))
        return unable(f, "be added to: it is built once", why);
    return change_all(f, false, key, n, fresh, why);
}

/*
 * While a CPU waits for the cells of a key, it begins with the next calls, as
 * far as its room for some hundred instructions reaches. So one key has a path
 * of its own, with 66 instead of 185: an insert into a filter of 100 million
 * keys takes 94 ns instead of 139 (EPYC Zen 3, AVX2, busy).
 */
enum seen_code seen_filter_add(struct seen_filter *f,
                               const struct seen_key *key, size_t n,
                               bool *fresh, struct seen_error *why)
{
    if (n == 1 && f->kind->add_one && !f->plan.keyed && !f->storage &&
        !f->stripes && f->kind->add_one(f, key, fresh)) {
        if (f->last != key->lo || !f->offered) /* as filter_offer() does */
            f->offered++;
        f->last = key->lo;
        return SEEN_OK;
    }
    return add_any(f, key, n, fresh, why);
}

enum seen_code seen_filter_remove(struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  struct seen_error *why)
{
    if (!(f->traits & SEEN_CAN_REMOVE))
        return unable(f,
                      f->traits & SEEN_CAN_COUNT
                          ? "remove, though it counts"
                          : "remove: that takes counting",
                      why);
    return change_all(f, true, key, n, NULL, why);
}

static enum seen_code count_keys(const struct seen_filter *f,
                                 const struct seen_key *key, size_t n,
                                 uint64_t *count, struct seen_error *why)
{
    enum seen_code code = storage_check(f, key, n, false, why);

    if (code != SEEN_OK)
        return code;
    code = f->kind->count(f, key, n, count, why);
    return storage_kept(f, code, why);
}

enum seen_code seen_filter_count(const struct seen_filter *f,
                                 const struct seen_key *key, size_t n,
                                 uint64_t *count, struct seen_error *why)
{
    enum seen_code code = readable(f, key, n, why);
    struct seen_key keyed[BATCH];

    if (!(f->traits & SEEN_CAN_COUNT))
        return unable(f, "count", why);
    if (code != SEEN_OK || !f->plan.keyed)
        return code == SEEN_OK ? count_keys(f, key, n, count, why) : code;
    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        filter_key(f, key + done, some, keyed);
        code = count_keys(f, keyed, some, count + done, why);
    }
    return code;
}

enum seen_code seen_filter_has_prefix(const struct seen_filter *f,
                                      const struct seen_key *key, bool *seen,
                                      struct seen_error *why)
{
    enum seen_code code = readable(f, key, 1, why);

    if (!(f->traits & SEEN_CAN_PREFIX))
        return unable(f, "answer for a prefix: that takes layered:2", why);
    if (code == SEEN_OK)
        code = storage_check(f, key, 1, true, why);
    if (code != SEEN_OK)
        return code;
    code = f->kind->under(f, key, seen, why);
    return storage_kept(f, code, why);
}

enum seen_code seen_filter_route(const struct seen_filter *f,
                                 const struct seen_key *key, unsigned *part,
                                 struct seen_error *why)
{
    enum seen_code code = readable(f, key, 1, why);
    struct seen_key keyed = *key;

    if (!(f->traits & SEEN_CAN_ROUTE))
        return unable(f, "route: that takes routed", why);
    if (code != SEEN_OK)
        return code;
    if (f->plan.keyed)
        filter_key(f, key, 1, &keyed);
    return f->kind->route(f, &keyed, 1, part, why);
}

const uint64_t *seen_filter_layers(const struct seen_filter *f)
{
    return !f->kind->combines && f->traits & SEEN_HAS_LAYERS ? f->shape : NULL;
}

unsigned seen_filter_parts(const struct seen_filter *f)
{
    return __atomic_load_n(&f->parts, __ATOMIC_ACQUIRE);
}

const struct seen_filter *seen_filter_part(const struct seen_filter *f,
                                           unsigned i)
{
    return i < seen_filter_parts(f) ? f->part[i] : NULL;
}

double seen_filter_rate(const struct seen_filter *f)
{
    return f->kind->rate(f);
}

double seen_filter_planned(const struct seen_filter *f)
{
    return f->kind->planned ? f->kind->planned(f) : f->plan.rate;
}

/*
 * Of m cells, n keys leave m e^(-kn/m) clear. The parts of a combinator hold
 * different keys, unless its kind has an entries() of its own.
 */
double seen_filter_entries(const struct seen_filter *f)
{
    double m = (double)seen_filter_cells(f), sum = 0;

    if (f->kind->entries)
        return f->kind->entries(f);
    for (unsigned i = 0; i < seen_filter_parts(f); i++)
        sum += seen_filter_entries(f->part[i]);
    if (!f->kind->combines && f->plan.probes) {
        double set = fmin((double)set_cells(f), m - 1);

        sum = -m / f->plan.probes * log1p(-set / m);
    }
    return sum;
}

uint64_t seen_filter_offered(const struct seen_filter *f)
{
    return __atomic_load_n(&f->offered, __ATOMIC_RELAXED);
}

uint64_t seen_filter_last(const struct seen_filter *f)
{
    return f->last;
}

void seen_filter_resume(struct seen_filter *f, uint64_t last)
{
    f->last = last;
}

uint64_t seen_filter_cells(const struct seen_filter *f)
{
    uint64_t sum = f->cell_bits ? f->plan.bits / f->cell_bits : 0;

    for (unsigned i = 0; i < seen_filter_parts(f); i++)
        sum += seen_filter_cells(f->part[i]);
    return sum;
}

uint64_t seen_filter_cells_set(const struct seen_filter *f)
{
    uint64_t sum = set_cells(f);

    for (unsigned i = 0; i < seen_filter_parts(f); i++)
        sum += seen_filter_cells_set(f->part[i]);
    return sum;
}

uint64_t seen_filter_bytes(const struct seen_filter *f)
{
    uint64_t sum = f->size;

    for (unsigned i = 0; i < seen_filter_parts(f); i++)
        sum += seen_filter_bytes(f->part[i]);
    return sum;
}

const unsigned char *seen_filter_memory(const struct seen_filter *f)
{
    return f->cells;
}
