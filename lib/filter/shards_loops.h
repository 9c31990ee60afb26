/*
 * shards_loops.h - questions to shards, for one width of SIMD.
 *
 * shards.c includes this once per width: see ribbon_match.h. The table stays in
 * the caches. It tells which bumping bits and slots a key needs, and these are
 * fetched for all keys of a batch before the first is looked at.
 */
#include "ribbon_match.h"

/* Does a window have the fingerprint? False if it is not within the shard. */
LOOP bool WIDTH_OF(ask_window)(const uint64_t *shard, uint64_t words,
                               const struct shard_window *w, unsigned columns,
                               bool *seen)
{
    if (w->word + (w->offset ? 2 : 1) * (uint64_t)w->width > words)
        return false;
    *seen = w->width == columns
                ? WIDTH_OF(matches)(shard + w->word, columns, w->offset,
                                    w->hash)
                : WIDTH_OF(matches)(shard + w->word, columns - 1, w->offset,
                                    w->hash);
    return true;
}

/* Look up a key whose window in layer 0 is known. */
LOOP bool WIDTH_OF(ask)(const struct shards_view *v, uint64_t at,
                        uint64_t start, struct shard_window *w,
                        unsigned columns, bool *seen)
{
    const uint64_t *shard = shard_at(v, at), head = v->table[at].head;
    const uint64_t words = shard_words(v, at), bumps = bumps_at(head, columns);

    if (__builtin_expect(!head_blocks(head, 1) ||
                             bumps + start / BUCKET / 32 >= words ||
                             bumps_start(shard + bumps, start),
                         0) &&
        !find_window(v, shard, head, words, w->hash, w))
        return false;
    return WIDTH_OF(ask_window)(shard, words, w, columns, seen);
}

LOOP bool WIDTH_OF(look_up_as)(const struct shards_view *v,
                               const struct seen_key *key, size_t n,
                               bool *seen, unsigned columns)
{
    struct shard_window window[BATCH];
    uint64_t hash[BATCH], at[BATCH], start[BATCH];
    bool sound = true;

    for (size_t done = 0, some; done < n && sound; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        for (size_t i = 0; i < some; i++) {
            hash[i] = seen_mix(key[done + i].lo ^ v->salt);
            at[i] = guess_shard(v, hash[i]);
            __builtin_prefetch(v->table + at[i]);
        }
        for (size_t i = 0; i < some; i++) {
            const uint64_t *shard;
            uint64_t head, salt = v->first, in_layer;

            at[i] = find(v, hash[i], at[i]);
            shard = shard_at(v, at[i]);
            head = v->table[at[i]].head;
            if (__builtin_expect(head_again(head), 0))
                salt = hash_salt(shard_seed(v->seed, head_again(head)), 0);
            in_layer = seen_mix(hash[i] ^ salt);
            start[i] = reduce(in_layer, starts_in(head_blocks(head, 0)));
            set_window(&window[i], in_layer, start[i], 0, head_low(head),
                       columns);
            for (unsigned j = 0; j < 2 * columns; j += LINE / 8)
                expect_word(shard, window[i].word + j);
            expect_word(shard,
                        bumps_at(head, columns) + start[i] / BUCKET / 32);
        }
        for (size_t i = 0; i < some && sound; i++)
            sound = WIDTH_OF(ask)(v, at[i], start[i], &window[i], columns,
                                  &seen[done + i]);
    }
    return sound;
}

TARGET
static bool WIDTH_OF(look_up)(const struct shards *f,
                              const struct seen_key *key, size_t n, bool *seen)
{
    const struct shards_view v = view_of(f);

    return v.columns == 8 ? WIDTH_OF(look_up_as)(&v, key, n, seen, 8)
                          : WIDTH_OF(look_up_as)(&v, key, n, seen, v.columns);
}

#undef LOOP
#undef WIDTH_OF
#undef TARGET
#undef DIFFERING
