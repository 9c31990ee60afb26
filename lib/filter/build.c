/*
 * build.c - fill a filter from a known set, region by region.
 *
 * Adding a key at a random place costs a cache miss. So keys wait: each is
 * turned into entries (what to change, and in which region of 256 KiB), and
 * an entry waits in the buffer of its region until thousands are there. Then
 * the region is read into the cache once, and all its entries are applied:
 *
 *     keys --> entries --> +--------+ +--------+     +--------+
 *                          | 0 ...  | | 1 ...  | ... | r ...  |   buffers
 *                          +--------+ +--------+     +--------+
 *                               |          |              |
 *                          +--------+ +--------+     +--------+
 *     cells                | 256 KiB| | 256 KiB| ... | 256 KiB|
 *                          +--------+ +--------+     +--------+
 *
 * This is the partitioning step of a radix join. As there, entries are first
 * collected in two cache lines per region, which stay in the cache; 16 of them
 * are written to memory at once, bypassing the cache. The buffers take as much
 * memory as the cells for each lane, up to 128 MiB in all. Each region has a
 * lock, so that lanes can fill different regions at once. Bits are only set,
 * so that the result does not depend on the order of lanes.
 *
 * Keys are random, so all buffers get full at about the same time. When the
 * first one is full, all that are at least half full are applied, one region
 * after the other, and the next region is fetched from memory meanwhile. In a
 * loop of its own on a busy machine, filling took 2.3 to 3.9 ns per entry
 * instead of 2.9 to 5.1; in a whole build it took about 0.7 times as long.
 *
 * A buffer is in pieces of 1,024 entries, and first pieces come first:
 *
 *     piece       0         0               0         1         1
 *            +---------+---------+     +---------+---------+---------+
 *     region |    0    |    1    | ... |    r    |    0    |    1    | ...
 *            +---------+---------+     +---------+---------+---------+
 *
 * So the memory that is touched grows with the number of keys, also on huge
 * pages. Memory that was not in use before can cost more time than all the
 * rest: 3 to 14 ns per byte on a virtual machine whose host has to find it
 * first. Therefore few entries wait at first, and each time that buffers were
 * full four times as many may wait from then on.
 *
 * A builder has the same tree as its filter: `routed` sends each key to one
 * part, `spatial` to all parts, a static kind collects hashes until it is
 * made, and kinds without regions are added to under a lock.
 */
#include "build.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "../text/memory.h"
#include "cells.h"
#include "fuse.h"
#include "hash_sort.h"
#include "region.h"
#include "ribbon.h"
#include "shards.h"
#include "tree.h"

enum {
    CHUNK = 256,             /* keys at a time */
    ENTRIES = 4096,          /* at most, of a chunk */
    PIECE = 1024,         /* entries of a region that adjoin */
    FIRST = 4 * PIECE,    /* entries per region, at first */
    WAITING = 32 * PIECE, /* entries per region, at most */
    FEWEST = 128,         /* fewer entries are not worth waiting for */
    STAGED = 16,  /* entries: 8 cause too many branch mispredictions */
    SPARSE = 1 << 14, /* bytes of cells per entry: with fewer, it is faster to
                         clear a huge page than the small pages in it */
    MOST_REGIONS = 1 << 20 /* 256 GiB */
};
/*
 * Memory of all lanes' buffers: 24 million keys in a filter of 124 MB took
 * 2.55 s of CPU time with 192 MiB, 2.53 with 96, 2.71 with 48.
 */
#define LANE_MEMORY(lanes) (((size_t)128 << 20) / (lanes))

/* Entries of one lane for one leaf, by region. */
struct waiting {
    uint64_t *what;           /* in pieces: see above */
    uint64_t (*line)[STAGED]; /* the last few of each */
    uint32_t *count;
    size_t room; /* entries that may wait per region, so far */
};

/* Hashes of one lane for one fuse or ribbon, in blocks that never move. */
struct hashes {
    uint64_t **block;
    size_t blocks, count;
};

struct node {
    struct seen_filter *f;
    struct node *part;       /* of a combinator: see passes() */
    pthread_mutex_t lock;    /* of a leaf without regions */
    pthread_mutex_t *region; /* of a leaf with regions */
    size_t regions, room;    /* `room` entries wait per region, at most */
    size_t spacing;          /* entries between the beginnings of pieces */
    unsigned per_key;        /* entries */
    size_t applied;          /* entries */
    bool few;                /* its cells are on small pages: see choose_pages() */
    struct waiting *waiting; /* one per lane */
    struct hashes *hashes;   /* one per lane */
};

struct seen_build {
    struct node root;
    unsigned lanes;
    struct lane {
        struct seen_entry entry[ENTRIES];
        uint64_t offered;
    } * lane;
};

/* Can keys be passed to the parts of a combinator? That needs all parts to
   exist and to be independent of each other. */
static bool passes(const struct seen_filter *f)
{
    return f->kind->combines && f->parts == f->room &&
           f->kind->target != SEEN_TO_LAST;
}

/* Bytes of the buffers of one lane. */
static size_t what_size(const struct node *node)
{
    size_t pieces = (node->room + PIECE - 1) / PIECE;

    return pieces * node->regions * node->spacing * sizeof(uint64_t);
}

static enum seen_code regions_new(struct node *node, unsigned lanes,
                                  struct seen_error *why)
{
    node->region = calloc(node->regions, sizeof *node->region);
    node->waiting = calloc(lanes, sizeof *node->waiting);
    if (!node->region || !node->waiting)
        return no_memory_for(why, "a builder");
    for (size_t i = 0; i < node->regions; i++)
        pthread_mutex_init(&node->region[i], NULL);
    node->few = true;
    cells_expect_few(node->f->cells, node->f->size, true);
    for (unsigned i = 0; i < lanes; i++) {
        struct waiting *w = &node->waiting[i];

        w->what = cells_new(what_size(node));
        w->line = cells_new(node->regions * sizeof *w->line);
        w->count = calloc(node->regions, sizeof *w->count);
        w->room = node->room < FIRST ? node->room : FIRST;
        if (!w->what || !w->line || !w->count)
            return no_memory_for(why, "a builder");
    }
    return SEEN_OK;
}

/* The number of entries that wait per region: what memory allows, but not more
   than are expected, because a filter may have many small parts. Either less
   than a piece, or whole pieces. */
static size_t room_of(const struct node *node, size_t memory)
{
    double come = 1.5 * node->per_key * (double)node->f->plan.capacity /
                  (double)node->regions;
    size_t room = memory / sizeof(uint64_t) / node->regions;

    if (room > WAITING)
        room = WAITING;
    if ((double)room > come)
        room = (size_t)come;
    if (room < FEWEST)
        room = FEWEST;
    return room - room % (room < PIECE ? STAGED : PIECE);
}

/* `memory` is the limit for the buffers of one leaf in one lane. */
static enum seen_code node_init(struct node *node, struct seen_filter *f,
                                unsigned lanes, size_t memory,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    node->f = f;
    pthread_mutex_init(&node->lock, NULL);
    if (f->kind == &filter_fuse || f->kind == &filter_ribbon ||
        f->kind == &filter_shards) {
        node->hashes = calloc(lanes, sizeof *node->hashes);
        return node->hashes ? SEEN_OK : no_memory_for(why, "a builder");
    }
    if (passes(f)) {
        node->part = calloc(f->parts, sizeof *node->part);
        if (!node->part)
            return no_memory_for(why, "a builder");
        for (unsigned i = 0; i < f->parts && code == SEEN_OK; i++)
            code = node_init(&node->part[i], f->part[i], lanes, memory, why);
        return code;
    }
    if (!f->kind->spread ||
        f->traits & SEEN_READS_TEXT) /* a digest can fail */
        return SEEN_OK;
    node->per_key = f->kind->entries_per_key ? f->kind->entries_per_key
                                             : f->plan.probes;
    node->regions = (f->size + REGION - 1) / REGION;
    if (node->regions > MOST_REGIONS)
        return SEEN_OK;
    node->room = room_of(node, memory);
    /* With powers of two between them, the lines that are written meet in few
       sets of the caches: that took 1 ns more per key. */
    node->spacing = (node->room < PIECE ? node->room : PIECE) + STAGED;
    return regions_new(node, lanes, why);
}

static enum seen_code hashes_grow(struct hashes *h, struct seen_error *why)
{
    uint64_t **more = realloc(h->block, (h->blocks + 1) * sizeof *more);

    if (!more)
        return no_memory_for(why, "a builder");
    h->block = more;
    more[h->blocks] = cells_new(HASH_BLOCK * sizeof **more);
    if (!more[h->blocks])
        return no_memory_for(why, "a builder");
    h->blocks++;
    return SEEN_OK;
}

/* The count is changed once per call: lanes have theirs in one cache line. */
static enum seen_code hashes_add(struct hashes *h, const uint64_t *hash,
                                 size_t n, struct seen_error *why)
{
    for (size_t done = 0, some; done < n; done += some) {
        size_t used = h->count % HASH_BLOCK, room = HASH_BLOCK - used;

        if (h->count == h->blocks * HASH_BLOCK) {
            enum seen_code code = hashes_grow(h, why);

            if (code != SEEN_OK)
                return code;
        }
        some = n - done < room ? n - done : room;
        memcpy(h->block[h->blocks - 1] + used, hash + done,
               some * sizeof *hash);
        h->count += some;
    }
    return SEEN_OK;
}

static void hashes_clear(struct hashes *h)
{
    while (h->blocks)
        cells_free(h->block[--h->blocks], HASH_BLOCK * sizeof **h->block);
    free(h->block);
    h->block = NULL;
}

static void node_clear(struct node *node, unsigned lanes)
{
    for (unsigned i = 0; node->f && node->part && i < node->f->parts; i++)
        node_clear(&node->part[i], lanes);
    free(node->part);
    for (unsigned i = 0; i < lanes; i++) {
        if (node->waiting) {
            cells_free(node->waiting[i].what, what_size(node));
            cells_free(node->waiting[i].line,
                       node->regions * sizeof *node->waiting[i].line);
            free(node->waiting[i].count);
        }
        if (node->hashes)
            hashes_clear(&node->hashes[i]);
    }
    free(node->waiting);
    free(node->hashes);
    free(node->region);
}

static enum seen_code build_new(struct seen_build **out,
                                const struct seen_plan *plan,
                                const unsigned char *secret, unsigned lanes,
                                struct seen_error *why)
{
    struct seen_filter *f;
    struct seen_build *b;
    enum seen_code code;

    *out = NULL;
    if (!lanes || (lanes > 1 && seen_kind_can(plan->kind, SEEN_NEEDS_ORDER)))
        return seen_fail(why, SEEN_RANGE, 0, "%s is built in one lane, not %u",
                         plan->kind, lanes);
    code = filter_make(&f, plan, secret, why);
    if (code == SEEN_OK)
        code = filter_fill(f, why);
    if (code != SEEN_OK) {
        seen_filter_free(f);
        return code;
    }
    b = calloc(1, sizeof *b);
    if (!b) {
        seen_filter_free(f);
        return no_memory_for(why, "a builder");
    }
    b->lanes = lanes;
    b->lane = calloc(lanes, sizeof *b->lane);
    code = node_init(&b->root, f, lanes, LANE_MEMORY(lanes) / filter_leaves(f),
                     why);
    if (code == SEEN_OK && !b->lane)
        code = no_memory_for(why, "a builder");
    if (code != SEEN_OK) {
        seen_build_free(b);
        return code;
    }
    *out = b;
    return SEEN_OK;
}

enum seen_code seen_build_new(struct seen_build **out,
                              const struct seen_plan *plan, unsigned lanes,
                              struct seen_error *why)
{
    return build_new(out, plan, NULL, lanes, why);
}

enum seen_code seen_build_new_keyed(struct seen_build **out,
                                    const struct seen_plan *plan,
                                    const unsigned char *secret,
                                    unsigned lanes, struct seen_error *why)
{
    return build_new(out, plan, secret, lanes, why);
}

void seen_build_free(struct seen_build *b)
{
    if (!b)
        return;
    node_clear(&b->root, b->lanes);
    seen_filter_free(b->root.f);
    free(b->lane);
    free(b);
}

/* Write entries to memory, bypassing the cache if the CPU can. */
static void write_staged(uint64_t *to, const uint64_t *line)
{
#ifdef __SSE2__
    for (int i = 0; i < STAGED; i += 2)
        _mm_stream_si128((__m128i *)(void *)(to + i),
                         _mm_load_si128((const __m128i *)(line + i)));
#else
    memcpy(to, line, STAGED * sizeof *to);
#endif
}

/* Where entry number `at` of a region is. */
static uint64_t *place_of(const struct node *node, const struct waiting *w,
                          size_t region, size_t at)
{
    return w->what + (at / PIECE * node->regions + region) * node->spacing +
           at % PIECE;
}

/* The cells of a region that is filled next: none if that is not worth it,
   because few of its lines will change. */
static struct seen_soon soon_of(const struct node *node,
                                const struct waiting *w, size_t region)
{
    const struct seen_filter *f = node->f;
    struct seen_soon soon = { 0 };

    if (region < node->regions && w->count[region] >= REGION_LINES / 2) {
        size_t end = (region + 1) * REGION;

        soon.from = f->cells + region * REGION;
        soon.to = f->cells + (end < f->size ? end : f->size);
    }
    return soon;
}

/* Entries `done` to done + some of count fetch their share of these cells. */
static struct seen_soon share_of(const struct seen_soon *soon, size_t done,
                                 size_t some, size_t count)
{
    size_t lines = (size_t)(soon->to - soon->from) / LINE;
    struct seen_soon share = { soon->from, soon->from };

    if (lines) {
        share.from += lines * done / count * LINE;
        share.to += lines * (done + some) / count * LINE;
    }
    return share;
}

/* Apply the entries of one buffer, and fetch the cells of region `next`, if
   there is one, meanwhile. */
static enum seen_code drain(struct node *node, unsigned lane, size_t region,
                            size_t next, struct seen_error *why)
{
    struct waiting *w = &node->waiting[lane];
    const size_t count = w->count[region], rest = count % STAGED;
    const struct seen_soon soon = soon_of(node, w, next);
    struct seen_filter *f = node->f;
    uint64_t more = 0;

    if (!count)
        return SEEN_OK;
    if (rest && count > STAGED)
        memcpy(place_of(node, w, region, count - rest), w->line[region],
               rest * sizeof *w->what);
#ifdef __SSE2__
    _mm_sfence();
#endif
    pthread_mutex_lock(&node->region[region]);
    for (size_t done = 0, some; done < count; done += some) {
        const uint64_t *what = place_of(node, w, region, done);
        struct seen_soon share;

        if (count < STAGED) /* do not touch memory for so few */
            what = w->line[region];
        some = count - done < PIECE ? count - done : PIECE;
        share = share_of(&soon, done, some, count);
        more += f->kind->fill(f, region, what, some, &share);
    }
    pthread_mutex_unlock(&node->region[region]);
    w->count[region] = 0;
    __atomic_add_fetch(&node->applied, count, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&f->set, more, __ATOMIC_RELAXED) > f->limit)
        return seen_fail(
            why, SEEN_FULL, 0,
            "there are more keys than the filter was planned for");
    return SEEN_OK;
}

/* Apply the entries of the buffers that have at least `least`, from one on. */
static enum seen_code drain_from(struct node *node, unsigned lane,
                                 size_t first, size_t least,
                                 struct seen_error *why)
{
    const uint32_t *count = node->waiting[lane].count;
    enum seen_code code = SEEN_OK;
    size_t now = first;

    for (size_t i = 1; i < node->regions && code == SEEN_OK; i++) {
        size_t next = (first + i) % node->regions;

        if (count[next] < least)
            continue;
        code = drain(node, lane, now, next, why);
        now = next;
    }
    return code == SEEN_OK ? drain(node, lane, now, SIZE_MAX, why) : code;
}

/*
 * Most pages stay untouched if there are few entries, in all lanes together.
 * So cells begin on small pages, and get huge ones when many entries are about
 * to be applied.
 */
static void use_huge_pages(struct node *node)
{
    pthread_mutex_lock(&node->lock);
    if (node->few)
        cells_expect_few(node->f->cells, node->f->size, false);
    node->few = false;
    pthread_mutex_unlock(&node->lock);
}

/* A lane is about to apply its entries. */
static void choose_pages(struct node *node, unsigned lane)
{
    size_t entries = __atomic_load_n(&node->applied, __ATOMIC_RELAXED);

    for (size_t r = 0; r < node->regions; r++)
        entries += node->waiting[lane].count[r];
    if (entries >= node->f->size / SPARSE)
        use_huge_pages(node);
}

/* A buffer is full: apply its entries, and those of others that are half full,
   and let more wait from now on. */
static enum seen_code drain_full(struct node *node, unsigned lane,
                                 size_t region, struct seen_error *why)
{
    struct waiting *w = &node->waiting[lane];
    size_t least = w->room / 2;

    choose_pages(node, lane);
    w->room = 4 * w->room < node->room ? 4 * w->room : node->room;
    return drain_from(node, lane, region, least, why);
}

static enum seen_code wait_all(struct node *node, unsigned lane,
                               struct seen_entry *entry,
                               const struct seen_key *key, size_t n,
                               struct seen_error *why)
{
    struct waiting w = node->waiting[lane];
    const size_t chunk = ENTRIES / node->per_key;

    for (size_t done = 0, some; done < n; done += some) {
        size_t count;

        some = n - done < chunk ? n - done : chunk;
        count = some * node->per_key;
        node->f->kind->spread(node->f, key + done, some, entry);
        for (size_t i = 0; i < count; i++) {
            uint32_t r = entry[i].region, at = w.count[r];

            w.line[r][at % STAGED] = entry[i].what;
            w.count[r] = ++at;
            if (at % STAGED)
                continue;
            write_staged(place_of(node, &w, r, at - STAGED), w.line[r]);
            if (at == w.room) {
                enum seen_code code = drain_full(node, lane, r, why);

                if (code != SEEN_OK)
                    return code;
                w.room = node->waiting[lane].room;
            }
        }
    }
    return SEEN_OK;
}

static enum seen_code node_add(struct seen_build *b, struct node *node,
                               unsigned lane, const struct seen_key *key,
                               size_t n, struct seen_error *why)
{
    struct seen_filter *f = node->f;
    enum seen_code code = SEEN_OK;

    if (node->hashes) {
        uint64_t hash[CHUNK];

        for (size_t i = 0; i < n; i++)
            hash[i] = key[i].lo;
        return hashes_add(&node->hashes[lane], hash, n, why);
    }
    if (node->waiting)
        return wait_all(node, lane, b->lane[lane].entry, key, n, why);
    if (node->part && f->kind->target == SEEN_TO_ONE) {
        unsigned part[CHUNK];

        code = f->kind->route(f, key, n, part, why);
        for (size_t i = 0; i < n && code == SEEN_OK; i++)
            code = node_add(b, &node->part[part[i]], lane, &key[i], 1, why);
        return code;
    }
    if (node->part) {
        for (unsigned i = 0; i < f->parts && code == SEEN_OK; i++)
            code = node_add(b, &node->part[i], lane, key, n, why);
        return code;
    }
    pthread_mutex_lock(&node->lock);
    code = f->kind->add(f, key, n, NULL, why);
    pthread_mutex_unlock(&node->lock);
    return code;
}

/* How many keys of a chunk equal the one before. */
static size_t repeated(const struct seen_key *key, size_t from, size_t n)
{
    size_t sum = 0;

#pragma GCC unroll 4
    for (size_t i = from ? from : 1; i < from + n; i++)
        sum += key[i].lo == key[i - 1].lo;
    return sum;
}

uint64_t filter_build_offered(const struct seen_key *key, size_t n)
{
    return n ? n - repeated(key, 0, n) : 0;
}

enum seen_code filter_build_hashed(struct seen_build *b, unsigned lane,
                                   const struct seen_key *key, size_t n,
                                   struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < CHUNK ? n - done : CHUNK;
        code = node_add(b, &b->root, lane, key + done, some, why);
    }
    return code;
}

enum seen_code seen_build_add(struct seen_build *b, unsigned lane,
                              const struct seen_key *key, size_t n,
                              struct seen_error *why)
{
    const struct seen_filter *f = b->root.f;
    bool reads = (f->traits & SEEN_READS_TEXT) || f->plan.keyed;
    struct seen_key keyed[CHUNK];
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < n && reads; i++)
        if (!key[i].text)
            return seen_fail(why, SEEN_RANGE, i, "%s needs the text of keys",
                             f->plan.kind);
    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        const struct seen_key *chunk = key + done;

        some = n - done < CHUNK ? n - done : CHUNK;
        b->lane[lane].offered += some - repeated(key, done, some);
        if (f->plan.keyed) {
            filter_key(f, chunk, some, keyed);
            chunk = keyed;
        }
        code = node_add(b, &b->root, lane, chunk, some, why);
    }
    return code;
}

/* Make one list of the lanes' hashes: their whole blocks, which need not be
   copied, and then the rest of each. */
static enum seen_code gather(struct node *node, unsigned lanes,
                             struct hashes *all, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    size_t most = 1;

    for (unsigned i = 0; i < lanes; i++)
        most += node->hashes[i].blocks;
    all->block = calloc(most, sizeof *all->block);
    if (!all->block)
        return no_memory_for(why, "a builder");
    for (unsigned i = 0; i < lanes; i++) {
        struct hashes *h = &node->hashes[i];

        for (size_t j = 0; j < h->count / HASH_BLOCK; j++) {
            all->block[all->blocks++] = h->block[j];
            h->block[j] = NULL;
        }
    }
    all->count = all->blocks * HASH_BLOCK;
    for (unsigned i = 0; i < lanes; i++) {
        struct hashes *h = &node->hashes[i];
        size_t rest = h->count % HASH_BLOCK;

        if (rest && code == SEEN_OK)
            code = hashes_add(all, h->block[h->blocks - 1], rest, why);
        hashes_clear(h);
    }
    return code;
}

static enum seen_code fill_once(struct node *node, unsigned lanes,
                                struct seen_error *why)
{
    struct hashes all = { 0 };
    enum seen_code code = gather(node, lanes, &all, why);

    if (code == SEEN_OK && node->f->kind == &filter_ribbon)
        code = ribbon_fill(node->f, all.block, all.count, lanes, why);
    else if (code == SEEN_OK && node->f->kind == &filter_shards)
        code = shards_fill(node->f, all.block, all.count, lanes, why);
    else if (code == SEEN_OK)
        code = fuse_fill(node->f, all.block, all.count, lanes, why);
    hashes_clear(&all);
    return code;
}

/* Apply all entries of a lane. */
static enum seen_code flush(struct node *node, unsigned lane,
                            struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (node->waiting) {
        choose_pages(node, lane);
        code = drain_from(node, lane, 0, 1, why);
    }
    for (unsigned i = 0; node->part && i < node->f->parts; i++)
        if (code == SEEN_OK)
            code = flush(&node->part[i], lane, why);
    return code;
}

enum seen_code seen_build_flush(struct seen_build *b, unsigned lane,
                                struct seen_error *why)
{
    return flush(&b->root, lane, why);
}

static enum seen_code node_finish(struct node *node, unsigned lanes,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (node->hashes)
        return fill_once(node, lanes, why);
    if (node->waiting)
        use_huge_pages(node); /* after the builder is gone */
    for (unsigned i = 0; node->part && i < node->f->parts; i++)
        if (code == SEEN_OK)
            code = node_finish(&node->part[i], lanes, why);
    return code;
}

enum seen_code seen_build_finish(struct seen_build *b,
                                 struct seen_filter **out,
                                 struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    *out = NULL;
    for (unsigned i = 0; i < b->lanes && code == SEEN_OK; i++)
        code = flush(&b->root, i, why);
    if (code == SEEN_OK)
        code = node_finish(&b->root, b->lanes, why);
    if (code == SEEN_OK) {
        *out = b->root.f;
        for (unsigned i = 0; i < b->lanes; i++)
            (*out)->offered += b->lane[i].offered;
        node_clear(&b->root, b->lanes);
        memset(&b->root, 0, sizeof b->root);
    }
    seen_build_free(b);
    return code;
}
