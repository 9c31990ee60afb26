/*
 * filter.h - have these keys been seen before?
 *
 * A filter answers "no" with certainty and "yes" with a small, planned
 * chance of being wrong. All kinds of filter are used through these
 * functions, so that a program changes the kind by changing a word of the
 * plan. The functions take batches, because the cells of one key are fetched
 * from memory while the next key is hashed.
 *
 *     struct seen_plan plan = { .kind = "blocked", .profile = "whatwg",
 *                               .capacity = 1000000, .rate = 0.01 };
 *     struct seen_filter *f;
 *     bool fresh;
 *
 *     if (seen_filter_new(&f, &plan, &why) == SEEN_OK &&
 *         seen_filter_add_url(f, "http://a.example/", &fresh, &why) == SEEN_OK)
 *         puts(fresh ? "new" : "seen");
 *     seen_filter_free(f);
 *
 * Threads: any number of readers or one writer at a time, and the caller does
 * the locking. After seen_filter_allow_threads(): any number of readers and
 * writers at once.
 */
#ifndef SEEN_FILTER_H
#define SEEN_FILTER_H

#include <stdbool.h>

#include <seen/error.h>
#include <seen/key.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct seen_filter;

enum {
    SEEN_KIND_TEXT = 96,
    SEEN_PROFILE_TEXT = 16,
    SEEN_LAYERS = 16, /* of a `layered` filter, at most */
    SEEN_PARTS = 4096 /* of a combinator, at most */
};
#define SEEN_BITS (UINT64_C(1) << 48) /* 32 TiB; more is a mistake */

/*
 * The request for a filter. Capacity, rate, bits, probes and multiplier can
 * be given in any consistent combination. Values that are 0 are derived when
 * the filter is made, and values that contradict each other are refused. The
 * filter and its file record all values. They are not computed again, so that
 * better sizing in a later version cannot misread an old file.
 */
struct seen_plan {
    char kind[SEEN_KIND_TEXT]; /* "bloom", "growing/blocked": see kind.h */
    char profile[SEEN_PROFILE_TEXT]; /* how URLs became keys; "": raw */
    uint64_t capacity;               /* distinct keys expected */
    double rate;                     /* of false positives at capacity */
    uint64_t bits;                   /* of all cells */
    unsigned probes;                 /* per key */
    double multiplier;               /* M of bits = capacity * probes * M */
    uint64_t seed;                   /* another one errs on other keys */
    bool over;    /* accept keys past capacity: the rate rises */
    bool tight;   /* full at the capacity's mean load, not five
                                   standard deviations above it */
    bool hostile; /* keep the rate for keys chosen by an attacker */
    bool keyed;   /* has a secret; set by seen_filter_new_keyed() */
    enum seen_index_keys keys;      /* of an index; recorded, never compared */
    uint64_t segments[SEEN_LAYERS]; /* `layered`: expected distinct segments
                                   per layer; 0: capacity */
};

/*
 * Make an empty filter, which belongs to the caller. On failure *out is
 * NULL: SEEN_RANGE for a plan that is unknown, contradictory or too large,
 * SEEN_UNABLE for a kind that is only built from a known set (see build.h),
 * SEEN_NOMEM for lack of memory.
 */
enum seen_code seen_filter_new(struct seen_filter **out,
                               const struct seen_plan *plan,
                               struct seen_error *why);

/*
 * The same with a secret of SEEN_SECRET bytes. Texts are hashed with SipHash,
 * so that nobody without the secret can choose false positives. The filter
 * holds a copy of the secret and wipes it when it is freed; files hold only a
 * check value. SEEN_RANGE for a secret of zeros. With a NULL secret this is
 * seen_filter_new().
 */
enum seen_code seen_filter_new_keyed(struct seen_filter **out,
                                     const struct seen_plan *plan,
                                     const unsigned char *secret,
                                     struct seen_error *why);

/* Release a filter and everything it holds. NULL is welcome. */
void seen_filter_free(struct seen_filter *f);

/* The plan with all derived values. It lives as long as the filter. */
const struct seen_plan *seen_filter_plan(const struct seen_filter *f);

/* Record how the lines of an index became keys. */
void seen_filter_set_keys(struct seen_filter *f, enum seen_index_keys keys);

/*
 * Look n keys up. If seen[i] is false, key i was never added. If it is true,
 * key i was added or is a false positive. On failure seen[] is undefined.
 * SEEN_RANGE: the kind reads the text of keys, and key why->at has no text.
 * SEEN_MISMATCH: the filter is keyed and its secret is not known.
 */
enum seen_code seen_filter_has(const struct seen_filter *f,
                               const struct seen_key *key, size_t n,
                               bool *seen, struct seen_error *why);

/*
 * Start to fetch what seen_filter_has() or seen_filter_add() will read for n
 * keys, without waiting for it: for programs that get one key at a time, such
 * as event loops.
 *
 *     seen_filter_expect(f, &key, 1);      when the request arrives
 *     ...                                  other requests arrive
 *     seen_filter_has(f, &key, 1, ...);    when they are answered
 *
 * About 30 keys should be expected before the first of them is looked up, and
 * not more than some hundreds, or the first are out of the cache again. This
 * is a hint: answers are the same with and without it, and keys without the
 * text that the filter needs are ignored. Kinds whose cells are found only by
 * slow hashes of the text ignore it, too.
 *
 * It helps small batches, too, which end with a wait for their last cells.
 * With the first 32 keys of the next batch expected before a batch is looked
 * up, 64 keys per call took 11 % less time, and 256 keys 3 % less.
 */
void seen_filter_expect(const struct seen_filter *f,
                        const struct seen_key *key, size_t n);

/*
 * Add n keys. fresh[i] is set to whether key i was new, unless `fresh` is
 * NULL; this saves a separate seen_filter_has(). A key that is twice in a
 * batch is fresh once. SEEN_FULL: the filter is at its capacity and its plan
 * is not `over`. Keys before why->at were added, that key and the rest were
 * not. If the filter is open for writing (store.h), the keys are in the
 * journal when this returns. Other errors as in seen_filter_has().
 */
enum seen_code seen_filter_add(struct seen_filter *f,
                               const struct seen_key *key, size_t n,
                               bool *fresh, struct seen_error *why);

/*
 * The same for one URL, as a C string. Its key is made under the filter's
 * profile. SEEN_BAD_URL: the profile refuses the URL. `fresh` may be NULL.
 */
enum seen_code seen_filter_has_url(const struct seen_filter *f,
                                   const char *url, bool *seen,
                                   struct seen_error *why);
enum seen_code seen_filter_add_url(struct seen_filter *f, const char *url,
                                   bool *fresh, struct seen_error *why);

/*
 * Remove n keys that were added; only kinds with SEEN_CAN_REMOVE can. A key
 * that was never added must not be removed, because it may share its cells
 * with others. SEEN_ABSENT: the count of key why->at is 0. Keys before it were
 * removed, that key and the rest were not.
 */
enum seen_code seen_filter_remove(struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  struct seen_error *why);

/* How often each key was added; never too low. Only kinds with SEEN_CAN_COUNT
   can. The largest value of a counter means this many or more. */
enum seen_code seen_filter_count(const struct seen_filter *f,
                                 const struct seen_key *key, size_t n,
                                 uint64_t *count, struct seen_error *why);

/*
 * Was any URL under the prefix key->text ("http://a.example/news") added?
 * Only kinds with SEEN_CAN_PREFIX can answer. `layered` answers from its
 * layers alone: "yes" may also come from segments of different URLs, more
 * often than the rate says.
 */
enum seen_code seen_filter_has_prefix(const struct seen_filter *f,
                                      const struct seen_key *key, bool *seen,
                                      struct seen_error *why);

/* The part of a `routed` filter that holds the key. SEEN_UNABLE: the filter
   is not routed. */
enum seen_code seen_filter_route(const struct seen_filter *f,
                                 const struct seen_key *key, unsigned *part,
                                 struct seen_error *why);

/*
 * Add everything in `from` to `f`. Both must have equal kind, bits, probes,
 * seed, profile and secret, or else SEEN_MISMATCH is returned and f stays as
 * it was. Growing filters get copies of the other's parts. SEEN_UNABLE: the
 * kind has no union. The union may exceed its capacity: see
 * seen_filter_overfull(). If plan->keys differ, those of f become
 * SEEN_KEYS_AUTO.
 */
enum seen_code seen_filter_merge(struct seen_filter *f,
                                 const struct seen_filter *from,
                                 struct seen_error *why);

/*
 * Allow any number of threads to look up and add from now on. Adds take a
 * striped lock: of several threads that add the same key at once, exactly one
 * gets fresh = true, unless the key is a false positive. Lookups take no lock.
 */
enum seen_code seen_filter_allow_threads(struct seen_filter *f,
                                         struct seen_error *why);

/* The current false-positive rate, from the cells that are set. */
double seen_filter_rate(const struct seen_filter *f);

/* The rate at capacity. It exceeds plan->rate only in kinds whose parts add
   up their errors. */
double seen_filter_planned(const struct seen_filter *f);

/* Distinct keys held, estimated from the cells that are set. */
double seen_filter_entries(const struct seen_filter *f);

/* Keys offered so far. Adjacent equal keys count once, unless several threads
   may add. */
uint64_t seen_filter_offered(const struct seen_filter *f);

/*
 * The lower half of the key that was offered last, which files do not hold.
 * A long build saves it and restores it when it resumes from a file, so that
 * adjacent equal keys are counted as if it had not stopped.
 */
uint64_t seen_filter_last(const struct seen_filter *f);
void seen_filter_resume(struct seen_filter *f, uint64_t last);

/* All cells, those that are set (not zero), and the bytes they take. */
uint64_t seen_filter_cells(const struct seen_filter *f);
uint64_t seen_filter_cells_set(const struct seen_filter *f);
uint64_t seen_filter_bytes(const struct seen_filter *f);

/* The cells in memory, seen_filter_bytes() of them, read-only. They live as
   long as the filter. NULL for a filter with parts. */
const unsigned char *seen_filter_memory(const struct seen_filter *f);

/* The number of bits of each layer of a `layered` filter, and then of the
   array that ties the layers together. NULL for other kinds. */
const uint64_t *seen_filter_layers(const struct seen_filter *f);

/*
 * Does a filter hold more keys than seen_filter_add() would have accepted?
 * Only a union can. Its rate is then above the planned one.
 */
bool seen_filter_overfull(const struct seen_filter *f);

/*
 * An upper bound for the work of one seen_filter_has() with one key, from the
 * plans of the filter and its parts; no cell is read. The unit is one random
 * line of memory, fetched while others are on their way: about 10 ns. Hashes
 * of a text are counted as the lines that take as long, for a URL of 100
 * bytes: 2 for XXH3, 12 for SipHash, 8 for the published 32-bit functions, 30
 * for MD5 and SHA-1. (To hash the longest URL, of 8 KiB, takes about 40 times
 * as long.)
 *
 *     blocked 1      bloom of 1 % 7      routed:16/blocked 2
 *     growing/bloom of 1 % and 10 parts, about 130
 *     dynamic:4096/bloom:md5+sha1 with all its parts and 64 probes each:
 *     8,200,000, measured at 42 ms
 *
 * All parts are asked by `growing`, `dynamic` and `spatial`; `routed` asks
 * one, here the most expensive. A filter that gets parts costs more with each.
 * _prefix is the same for seen_filter_has_prefix(), which asks all parts of a
 * `routed` filter, too. 0: the filter cannot answer for prefixes.
 */
uint64_t seen_filter_cost(const struct seen_filter *f);
uint64_t seen_filter_cost_prefix(const struct seen_filter *f);

/* The parts of a combinator. seen_filter_part() is NULL past the last. */
unsigned seen_filter_parts(const struct seen_filter *f);
const struct seen_filter *seen_filter_part(const struct seen_filter *f,
                                           unsigned i);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
