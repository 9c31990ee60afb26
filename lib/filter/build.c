/*
 * build.c - fill a filter from a known set, region by region.
 *
 * Adding a key at a random place costs a cache miss. So keys wait: each is
 * turned into entries (what to change, and in which region of 256 KiB), and
 * an entry waits in the buffer of its region until 32,272 are there. Then the
 * region is read into the cache once, and all its entries are applied:
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
 * Buffers begin with room for 4,112 entries per region, and get twice as much
 * when all of them were full once. So the memory that is touched grows with
 * the number of keys. Memory that was not in use before costs more time than
 * large buffers save: 7 ns per byte on a virtual machine whose host has to
 * find it first.
 *
 * A builder has the same tree as its filter: `routed` sends each key to one
 * part, `spatial` to all parts, a fuse or a ribbon collects hashes until it is
 * made, and kinds without regions are added to under a lock.
 */
#include <seen/build.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "cells.h"
#include "fuse.h"
#include "hash_sort.h"
#include "region.h"
#include "ribbon.h"
#include "tree.h"

enum {
    CHUNK = 256,             /* keys at a time */
    ENTRIES = 4096,          /* at most, of a chunk */
    WAITING = 63 * 512 + 16, /* entries per region, at most: see below */
    FIRST = 4112, /* to begin with; as a power of two took 1 ns more per key */
    FEWEST = 128, /* fewer entries are not worth waiting for */
    STAGED = 16,  /* entries: 8 cause too many branch mispredictions */
    SPARSE = 1 << 14, /* bytes of cells per entry: with fewer, it is faster to
                         clear a huge page than the small pages in it */
    MOST_REGIONS = 1 << 20 /* 256 GiB */
};
/*
 * The buffers of the regions begin 63 pages and two lines after each other.
 * With 64 pages their current pages would all meet in a few sets of the TLB:
 * collecting entries took 4.3 ns instead of 3.5.
 *
 * Memory of one lane's buffers: 24 million keys in a filter of 124 MB took
 * 2.55 s of CPU time with 192 MiB for all lanes, 2.53 with 96, 2.71 with 48.
 * With twice as much, two lanes took 0.9 ns less per key for 100 million, but
 * clearing that memory took 0.6 more.
 */
#define LANE_MEMORY(lanes) (((size_t)128 << 20) / (lanes))

/* Entries of one lane for one leaf, by region. */
struct waiting {
    uint64_t *what;           /* `room` per region */
    uint64_t (*line)[STAGED]; /* the last few of each */
    uint32_t *count;
    size_t room;    /* at most node->room */
    size_t drained; /* entries, with this room */
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
    size_t regions, room;
    unsigned per_key;        /* entries */
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

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a builder");
}

static enum seen_code regions_new(struct node *node, unsigned lanes,
                                  struct seen_error *why)
{
    node->region = calloc(node->regions, sizeof *node->region);
    node->waiting = calloc(lanes, sizeof *node->waiting);
    if (!node->region || !node->waiting)
        return no_memory(why);
    for (size_t i = 0; i < node->regions; i++)
        pthread_mutex_init(&node->region[i], NULL);
    for (unsigned i = 0; i < lanes; i++) {
        struct waiting *w = &node->waiting[i];

        w->room = node->room < FIRST ? node->room : FIRST;
        w->what = cells_new(node->regions * node->room * sizeof *w->what);
        w->line = cells_new(node->regions * sizeof *w->line);
        w->count = calloc(node->regions, sizeof *w->count);
        if (!w->what || !w->line || !w->count)
            return no_memory(why);
    }
    return SEEN_OK;
}

/* The number of entries that wait per region: what memory allows, but not more
   than are expected, because a filter may have many small parts. */
static size_t room_of(const struct node *node, size_t memory)
{
    double come = 1.5 * node->per_key * (double)node->f->plan.capacity /
                  (double)node->regions;
    size_t room = memory / sizeof(uint64_t) / node->regions;

    if (room > WAITING)
        room = WAITING;
    if ((double)room > come)
        room = (size_t)come;
    return room < FEWEST ? FEWEST : room;
}

/* `memory` is the limit for the buffers of one leaf in one lane. */
static enum seen_code node_init(struct node *node, struct seen_filter *f,
                                unsigned lanes, size_t memory,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    node->f = f;
    pthread_mutex_init(&node->lock, NULL);
    if (f->kind == &filter_fuse || f->kind == &filter_ribbon) {
        node->hashes = calloc(lanes, sizeof *node->hashes);
        return node->hashes ? SEEN_OK : no_memory(why);
    }
    if (passes(f)) {
        node->part = calloc(f->parts, sizeof *node->part);
        if (!node->part)
            return no_memory(why);
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
    node->room -= node->room % STAGED;
    return regions_new(node, lanes, why);
}

static enum seen_code hashes_grow(struct hashes *h, struct seen_error *why)
{
    uint64_t **more = realloc(h->block, (h->blocks + 1) * sizeof *more);

    if (!more)
        return no_memory(why);
    h->block = more;
    more[h->blocks] = cells_new(HASH_BLOCK * sizeof **more);
    if (!more[h->blocks])
        return no_memory(why);
    h->blocks++;
    return SEEN_OK;
}

/* fuse_fill() needs room for one more hash. */
static enum seen_code hashes_add(struct hashes *h, uint64_t lo,
                                 struct seen_error *why)
{
    if (h->count + 1 >= h->blocks * HASH_BLOCK) {
        enum seen_code code = hashes_grow(h, why);

        if (code != SEEN_OK)
            return code;
    }
    h->block[h->count / HASH_BLOCK][h->count % HASH_BLOCK] = lo;
    h->count++;
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
            cells_free(node->waiting[i].what,
                       node->regions * node->room * sizeof(uint64_t));
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
        return no_memory(why);
    }
    b->lanes = lanes;
    b->lane = calloc(lanes, sizeof *b->lane);
    code = node_init(&b->root, f, lanes, LANE_MEMORY(lanes) / filter_leaves(f),
                     why);
    if (code == SEEN_OK && !b->lane)
        code = no_memory(why);
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

/* Apply the entries of one buffer. */
static enum seen_code drain(struct node *node, unsigned lane, size_t region,
                            struct seen_error *why)
{
    struct waiting *w = &node->waiting[lane];
    size_t count = w->count[region], rest = count % STAGED;
    uint64_t *what = w->what + region * w->room;
    struct seen_filter *f = node->f;
    uint64_t more;

    if (count < STAGED) /* do not touch memory for so few */
        what = w->line[region];
    else
        memcpy(what + count - rest, w->line[region], rest * sizeof *what);
#ifdef __SSE2__
    _mm_sfence();
#endif
    pthread_mutex_lock(&node->region[region]);
    more = f->kind->fill(f, region, what, count);
    pthread_mutex_unlock(&node->region[region]);
    w->count[region] = 0;
    w->drained += count;
    if (__atomic_add_fetch(&f->set, more, __ATOMIC_RELAXED) > f->limit)
        return seen_fail(
            why, SEEN_FULL, 0,
            "there are more keys than the filter was planned for");
    return SEEN_OK;
}

/* Apply the entries of all buffers of one lane. */
static enum seen_code drain_all(struct node *node, unsigned lane,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t r = 0; r < node->regions && code == SEEN_OK; r++)
        if (node->waiting[lane].count[r])
            code = drain(node, lane, r, why);
    return code;
}

/* Double the room of the buffers once as many entries came as have room. */
static enum seen_code grow(struct node *node, unsigned lane,
                           struct seen_error *why)
{
    struct waiting *w = &node->waiting[lane];
    enum seen_code code;

    if (w->room == node->room || w->drained < node->regions * w->room)
        return SEEN_OK;
    code = drain_all(node, lane, why);
    w->room = 2 * w->room < node->room ? 2 * w->room : node->room;
    w->drained = 0;
    return code;
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
            write_staged(w.what + r * w.room + at - STAGED, w.line[r]);
            if (at == w.room) {
                enum seen_code code = drain(node, lane, r, why);

                if (code == SEEN_OK)
                    code = grow(node, lane, why);
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
        for (size_t i = 0; i < n && code == SEEN_OK; i++)
            code = hashes_add(&node->hashes[lane], key[i].lo, why);
        return code;
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
        if (f->plan.keyed) {
            filter_key(f, chunk, some, keyed);
            chunk = keyed;
        }
        code = node_add(b, &b->root, lane, chunk, some, why);
    }
    b->lane[lane].offered += n;
#pragma GCC unroll 4
    for (size_t i = 1; i < n; i++)
        b->lane[lane].offered -= key[i].lo == key[i - 1].lo;
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
        return no_memory(why);
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

        for (size_t j = h->count - h->count % HASH_BLOCK;
             j < h->count && code == SEEN_OK; j++)
            code = hashes_add(all, h->block[j / HASH_BLOCK][j % HASH_BLOCK],
                              why);
        hashes_clear(h);
    }
    if (code == SEEN_OK && all->count == all->blocks * HASH_BLOCK)
        code = hashes_grow(all, why);
    return code;
}

static enum seen_code fill_once(struct node *node, unsigned lanes,
                                struct seen_error *why)
{
    struct hashes all = { 0 };
    enum seen_code code = gather(node, lanes, &all, why);

    if (code == SEEN_OK && node->f->kind == &filter_ribbon)
        code = ribbon_fill(node->f, all.block, all.count, lanes, why);
    else if (code == SEEN_OK)
        code = fuse_fill(node->f, all.block, all.count, lanes, why);
    hashes_clear(&all);
    return code;
}

/* Are these the first entries, and so few that most pages stay untouched? */
static bool are_few(const struct node *node, unsigned lane)
{
    size_t entries = 0;

    if (!node->waiting || set_cells(node->f))
        return false;
    for (size_t r = 0; r < node->regions; r++)
        entries += node->waiting[lane].count[r];
    return entries < node->f->size / SPARSE;
}

/* Apply all entries of a lane. */
static enum seen_code flush(struct node *node, unsigned lane,
                            struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool few = are_few(node, lane);

    if (few)
        cells_expect_few(node->f->cells, node->f->size, true);
    if (node->waiting)
        code = drain_all(node, lane, why);
    if (few)
        cells_expect_few(node->f->cells, node->f->size, false);
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
