/*
 * local.h - a peer: the Bloom filter of RocksDB since format_version 5.
 *
 * RocksDB calls it FastLocalBloom. It is inside of RocksDB, so this is an
 * implementation of its published scheme [1], not its code. Like `blocked` it
 * has all bits of a key in one line of 64 bytes. A 64-bit hash is halved: the
 * lower half picks the line by multiplication, the upper one is multiplied
 * with 0x9e3779b9 once per probe, and the upper nine bits of each product
 * pick one of the 512 bits.
 *
 * It gets what `blocked` gets: the same keys, 10 bits per key and 6 probes,
 * lines on huge pages, and the same loop, with a prefetch 32 keys ahead.
 *
 * [1] RocksDB: the description of FastLocalBloomImpl in util/bloom_impl.h.
 *
 * Threads: any number of readers or one writer at a time.
 */
#ifndef SEEN_BENCH_LOCAL_H
#define SEEN_BENCH_LOCAL_H

#include <seen/key.h>

struct fast_local {
    unsigned char *cells;
    uint64_t lines;
    void *memory;
    size_t size;
};

/* False for lack of memory. */
bool bench_local_open(struct fast_local *f, uint64_t keys);
void bench_local_close(struct fast_local *f);
void bench_local_add(struct fast_local *f, const struct seen_key *key,
                     size_t n);
void bench_local_has(const struct fast_local *f, const struct seen_key *key,
                     size_t n, bool *seen);

#endif
