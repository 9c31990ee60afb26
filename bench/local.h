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
 * It gets what RocksDB gives it, an array of 8-byte hashes, and more than that:
 * a constant number of probes, lines on huge pages, and the loop of `blocked`
 * with its distances. So it is no slower than RocksDB's own code in any loop
 * that was tried: doc/performance.md has both.
 *
 * [1] RocksDB: the description of FastLocalBloomImpl in util/bloom_impl.h.
 *
 * Threads: any number of readers or one writer at a time.
 */
#ifndef SEEN_BENCH_LOCAL_H
#define SEEN_BENCH_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fast_local {
    unsigned char *cells;
    uint64_t lines;
    void *memory;
    size_t size;
    /* Look up n hashes. */
    void (*has)(const struct fast_local *f, const uint64_t *hash, size_t n,
                bool *seen);
};

/* False for lack of memory. */
bool bench_local_open(struct fast_local *f, uint64_t keys);
void bench_local_close(struct fast_local *f);
void bench_local_add(struct fast_local *f, const uint64_t *hash, size_t n);

#endif
