/*
 * layout.h - how a filter lies in the keys of a Redis server.
 *
 *     haw                      "seen-filter 1 GENERATION PAYLOAD\n", then the
 *                              text of seen_store_describe()
 *     haw:{GENERATION}         a hash of counters: offered, lost, set:LEAF
 *     haw:{GENERATION:0} ...   the chunks: plain strings
 *     haw:{lock}, haw:{upload} while a filter is written
 *
 * A filter that is written gets a new generation. The key `haw` is set last,
 * so that a reader finds the old filter or the new one.
 *
 * A chunk is a line of 64 bytes and then cells, at most 2^24 - 64 bytes in
 * all: a string of exactly 16 MiB takes 20 MiB, because the allocator of Redis
 * rounds up. The line identifies the chunk, so that another string in its
 * place is refused:
 *
 *     0   89 73 52 63    the magic
 *     4   1              version, 4 bytes, little endian as all numbers
 *     8   hash           of the text and the generation, 16 bytes (XXH3)
 *     24  number         of the chunk, 8 bytes
 *     32  length         of the cells, 8 bytes
 *     40  hash           of the cells when they were written, 8 bytes; it is
 *                        for continuing an upload, and is not compared later
 *
 * A leaf whose keys have all bits in one line is cut anywhere between lines.
 * Any other leaf must fit into one chunk, because only commands on one key
 * are atomic: `routed:N/bloom` with N large enough. In a cluster chunks are
 * smaller, so that there are some for each master; the text between the first
 * braces decides the slot of a key, and differs from chunk to chunk. If the name
 * has a tag of its own, "{crawl}:seen", that comes first: all keys are in the
 * slot of the tag, and so on one master, beside other keys of that tag. Putting
 * our tag before the name would spread such a filter, too, but then it would
 * neither be where the tag says nor match the user's patterns ("{crawl}:*").
 *
 * Redis counts bits from the high end of a byte: bit i of the cells is bit
 * (512 + i) ^ 7 of the string.
 */
#ifndef SEEN_REMOTE_LAYOUT_H
#define SEEN_REMOTE_LAYOUT_H

#include <seen/kind_writer.h>

#include "server.h"

enum {
    REMOTE_LINE = 64,
    REMOTE_COMPARED = 40,              /* bytes of the line of a chunk */
    REMOTE_PAYLOAD = (1 << 24) - 128,  /* cells of a chunk, at most */
    REMOTE_PAYLOAD_LEAST = (1 << 16) - 128,
    REMOTE_GENERATION = 16, /* hexadecimal digits */
    REMOTE_KEY = REMOTE_NAME_MOST + 64
};
#define REMOTE_MAGIC "\x89sRc"
#define REMOTE_MAGIC_NUMBER 0x89735263 /* as BITFIELD reads it */

struct remote_layout {
    char name[REMOTE_NAME_MOST + 1];
    char generation[REMOTE_GENERATION + 1];
    uint64_t identity[2]; /* the hash of text and generation */
    size_t payload;       /* cells per chunk */
    unsigned leaves, chunks;
    struct remote_leaf {
        const struct seen_filter *f;
        unsigned first; /* its first chunk */
        unsigned chunks;
    } * leaf;
    struct remote_chunk {
        unsigned leaf;
        size_t at, len; /* in the cells of the leaf */
        char key[REMOTE_KEY];
        unsigned key_len;
        uint16_t slot;
    } * chunk;
};

/* SEEN_UNABLE, with the reason, for a filter that cannot lie in chunks. */
enum seen_code remote_layout_able(const struct seen_filter *f,
                                  struct seen_error *why);

/* Lay out the leaves of `f`, which lives as long as the layout. */
enum seen_code remote_layout_init(struct remote_layout *l,
                                  const struct seen_filter *f,
                                  const struct remote_server *s,
                                  const char *text, const char *generation,
                                  size_t payload, struct seen_error *why);
void remote_layout_clear(struct remote_layout *l);

/* Leaf i of the filter itself. */
static inline struct seen_filter *remote_leaf(struct seen_filter *f,
                                              unsigned i)
{
    return f->parts ? f->part[i] : f;
}

/* The payload for a new filter of these bytes. */
size_t remote_layout_payload(const struct remote_server *s, uint64_t bytes);

/* The first bytes of a chunk; sum: the hash of its cells. */
void remote_layout_line(const struct remote_layout *l, unsigned chunk,
                        uint64_t sum, unsigned char line[REMOTE_LINE]);

/* The name of a key: "name:{generation:chunk}", "name:{word}". */
void remote_layout_key(char key[REMOTE_KEY], const char *name,
                       const char *generation, int chunk);

/*
 * What the key `name` holds: generation, payload and text, which the caller
 * frees. SEEN_ABSENT: nothing. SEEN_CORRUPT: something else. SEEN_MISMATCH: a
 * later version.
 */
struct remote_record {
    char generation[REMOTE_GENERATION + 1];
    size_t payload;
    char *text;
};
enum seen_code remote_record_read(struct remote_record *to,
                                  struct remote_server *s,
                                  struct seen_error *why);

#endif
