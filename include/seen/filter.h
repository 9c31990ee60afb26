/*
 * filter.h - have these keys been seen before?
 *
 * A filter answers "no" with certainty and "yes" with a small, planned
 * chance of being wrong. Every kind of filter answers through these
 * functions, so a crawler, the server and the lab exchange one kind for
 * another by changing a word of the plan. They take batches, because the
 * cells of one key are fetched from memory while the next is hashed.
 *
 *     struct seen_plan plan = { .kind = "blocked", .profile = "whatwg",
 *                               .capacity = 1000000, .rate = 0.01 };
 *     struct seen_filter *f;
 *     bool fresh;
 *
 *     if (seen_filter_new(&f, &plan, &why) == SEEN_OK &&
 *         seen_filter_add_url(f, "https://a.example/", &fresh, &why) == SEEN_OK)
 *         puts(fresh ? "new" : "seen");
 *     seen_filter_free(f);
 *
 * Threads: a filter is exclusive (any number of readers, or one writer; the
 * caller does the locking) until seen_filter_allow_threads() makes it shared: any
 * number of readers and writers at once.
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
#define SEEN_BITS (UINT64_C(1) << 48) /* 32 TiB: beyond it, a mistake */

/*
 * What a filter is made from. Any consistent choice of capacity, rate, bits,
 * probes and multiplier will do; what is 0 is derived when the filter is
 * made, and a choice that contradicts itself is refused. The filter and its
 * file record all values, which are never computed again, so that better
 * sizing in a later version cannot misread an old file.
 */
struct seen_plan {
    char kind[SEEN_KIND_TEXT]; /* "bloom", "growing/blocked": see kind.h */
    char profile[SEEN_PROFILE_TEXT]; /* how URLs became keys; "": raw */
    uint64_t capacity;               /* distinct keys expected */
    double rate;                     /* of false positives at capacity */
    uint64_t bits;                   /* of all cells */
    unsigned probes;                 /* of a key */
    double multiplier;               /* M of bits = capacity * probes * M */
    uint64_t seed;                   /* other seeds err on other keys */
    bool over;    /* past capacity go on, with a rising rate */
    bool tight;   /* full at the capacity's mean load, not five
                                   standard deviations above it */
    bool hostile; /* meet the rate whatever keys are chosen */
    bool keyed;   /* under a secret: set by seen_filter_new_keyed() */
    uint64_t segments[SEEN_LAYERS]; /* `layered`: distinct segments to expect
                                   in each layer; 0: capacity */
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
 * The same under a secret of SEEN_SECRET bytes: texts are hashed with
 * SipHash, so that nobody without the secret can choose false positives. The
 * filter has a copy of it, wiped when it is freed; files have only a check
 * value. SEEN_RANGE for a secret of zeros; NULL: none, as seen_filter_new().
 */
enum seen_code seen_filter_new_keyed(struct seen_filter **out,
                                     const struct seen_plan *plan,
                                     const unsigned char *secret,
                                     struct seen_error *why);

/* Release a filter and everything it holds. NULL is welcome. */
void seen_filter_free(struct seen_filter *f);

/* The plan with its derived values; lives as long as the filter. */
const struct seen_plan *seen_filter_plan(const struct seen_filter *f);

/*
 * Ask for n keys. seen[i] false: key i was certainly never added. True: it
 * was, or is a false positive. On failure seen[] is no answer at all.
 * SEEN_RANGE: the kind reads the text of keys, and key why->at has none.
 * SEEN_MISMATCH: the filter is keyed and its secret is not known.
 */
enum seen_code seen_filter_has(const struct seen_filter *f,
                               const struct seen_key *key, size_t n,
                               bool *seen, struct seen_error *why);

/*
 * Add n keys. fresh[i], unless fresh is NULL, tells whether key i was new,
 * which saves a separate seen_filter_has(); a key twice in a batch is fresh
 * once. SEEN_FULL: the filter holds its capacity and the plan is not `over`;
 * the keys before why->at were added, that one and the rest were not. Of a
 * filter open for writing (store.h) the keys are in the journal when this
 * returns. Otherwise as seen_filter_has().
 */
enum seen_code seen_filter_add(struct seen_filter *f,
                               const struct seen_key *key, size_t n,
                               bool *fresh, struct seen_error *why);

/*
 * The same for one URL, which ends with a zero: its key is made under the
 * filter's profile. SEEN_BAD_URL for a URL that the profile refuses. `fresh`
 * may be NULL.
 */
enum seen_code seen_filter_has_url(const struct seen_filter *f,
                                   const char *url, bool *seen,
                                   struct seen_error *why);
enum seen_code seen_filter_add_url(struct seen_filter *f, const char *url,
                                   bool *fresh, struct seen_error *why);

/*
 * Take back n keys that were added; only counters can (SEEN_UNABLE). One
 * that was never added may share its cells with others, so it must not be
 * taken back. SEEN_ABSENT: the count of key why->at is 0; the keys before it
 * were removed, that one and the rest were not.
 */
enum seen_code seen_filter_remove(struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  struct seen_error *why);

/* How often each key was added, never too low; only counters can tell. The
   largest number that a counter can hold means that many, or more. */
enum seen_code seen_filter_count(const struct seen_filter *f,
                                 const struct seen_key *key, size_t n,
                                 uint64_t *count, struct seen_error *why);

/*
 * Was anything under the prefix key->text ("http://a.example/news") added?
 * Only `layered` can tell, from its layers alone: "yes" may also come from
 * segments of several URLs that cross, more often than the rate says.
 */
enum seen_code seen_filter_has_prefix(const struct seen_filter *f,
                                      const struct seen_key *key, bool *seen,
                                      struct seen_error *why);

/* Which part of a `routed` filter answers for the key (SEEN_UNABLE: none). */
enum seen_code seen_filter_route(const struct seen_filter *f,
                                 const struct seen_key *key, unsigned *part,
                                 struct seen_error *why);

/*
 * Add all that `from` holds to `f`. The two need equal kind, bits, probes,
 * seed, profile and secret (SEEN_MISMATCH, f is untouched); those that grow
 * take over the other's parts. SEEN_UNABLE where a union cannot be computed.
 * The union may be past its capacity: see seen_filter_overfull().
 */
enum seen_code seen_filter_merge(struct seen_filter *f,
                                 const struct seen_filter *from,
                                 struct seen_error *why);

/*
 * From now on any number of threads may ask and add. Adds take a striped
 * lock, so of threads that add one key at once at most one is told `fresh`,
 * and none only when it is a false positive; questions take no lock.
 */
enum seen_code seen_filter_allow_threads(struct seen_filter *f,
                                         struct seen_error *why);

/* The false-positive rate to expect now, from the cells that are set. */
double seen_filter_rate(const struct seen_filter *f);

/* The same at capacity; above plan->rate only where a kind adds errors up. */
double seen_filter_planned(const struct seen_filter *f);

/* Distinct keys held, estimated from the cells that are set. */
double seen_filter_entries(const struct seen_filter *f);

/* Keys offered so far, adjacent equal ones counted once (but not while the
   filter is shared: what is adjacent among threads?). */
uint64_t seen_filter_offered(const struct seen_filter *f);

/*
 * What tells whether the next key equals the one before it. Files do not hold
 * it: for a long build that is saved, loaded and goes on, and is to count as
 * if it had not stopped.
 */
uint64_t seen_filter_last(const struct seen_filter *f);
void seen_filter_resume(struct seen_filter *f, uint64_t last);

/* All cells, those that are set (not zero), and the bytes they take. */
uint64_t seen_filter_cells(const struct seen_filter *f);
uint64_t seen_filter_cells_set(const struct seen_filter *f);
uint64_t seen_filter_bytes(const struct seen_filter *f);

/* The cells as they lie in memory, of seen_filter_bytes(), to be read only,
   for the life of the filter; NULL if it has parts, which have the cells. */
const unsigned char *seen_filter_memory(const struct seen_filter *f);

/* The bits of each layer of a `layered` filter, and behind them those of the
   array that ties them together; NULL for other kinds. */
const uint64_t *seen_filter_layers(const struct seen_filter *f);

/*
 * Is a filter fuller than adding could have made it? Only a union may be; its
 * rate is then above the planned one.
 */
bool seen_filter_overfull(const struct seen_filter *f);

/* The parts of a combinator, NULL from seen_filter_part() past the last. */
unsigned seen_filter_parts(const struct seen_filter *f);
const struct seen_filter *seen_filter_part(const struct seen_filter *f,
                                           unsigned i);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
