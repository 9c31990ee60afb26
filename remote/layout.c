/*
 * layout.c - chunks, their keys, and the record of a filter.
 *
 * layout.h draws the keys. A layout follows from four things: the filter, its
 * text, its generation and the payload. Every process that uses the filter
 * computes the same one, and it is not stored; the payload is in the record,
 * since a later version may choose another.
 *
 * The identity in each chunk's line is a hash of text and generation. So a
 * chunk of an earlier filter of this name, or of another one restored from a
 * backup, is refused, although its key would fit.
 *
 * Why fewer probes than optimal, in remote_plan()? Where bits are not in one
 * line, the server reads and executes a command's part for each probe: one
 * fewer is worth 5 % more bits.
 */
#include "layout.h"

#include "remote.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../lib/text/number.h"

enum {
    VERSION = 1,
    CLUSTER_CHUNKS = 48,
    PARTS_MOST = 1 << 16,
    CHUNKS_MOST = 1 << 20 /* 16 TiB; a damaged plan may say more */
};

static enum seen_code leaf_able(const struct seen_filter *f,
                                struct seen_error *why)
{
    if (f->kind->combines || f->cell_bits != 1 || !f->kind->locate ||
        f->traits & (SEEN_READS_TEXT | SEEN_BUILT_ONCE) ||
        !(f->traits & SEEN_CAN_ADD))
        return seen_fail(why, SEEN_UNABLE, 0,
                         "%s cannot live in Redis: take blocked, or "
                         "routed:N/bloom for rates below 0.01 %%",
                         f->plan.kind);
    if (!(f->traits & SEEN_HAS_LINES) && f->size > REMOTE_PAYLOAD) {
        uint64_t parts = 2;

        while (parts < PARTS_MOST && f->size / parts > REMOTE_PAYLOAD / 10 * 9)
            parts *= 2;
        return seen_fail(why, SEEN_UNABLE, 0,
                         "%s of %s does not fit into one string of 16 MiB, "
                         "and only one string changes at once: take routed:N/"
                         " with %" PRIu64 " times as many parts",
                         f->plan.kind, show_bytes(f->size), parts);
    }
    return SEEN_OK;
}

enum seen_code remote_layout_able(const struct seen_filter *f,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!f->kind->combines)
        return leaf_able(f, why);
    if (f->kind->target != SEEN_TO_ONE || !f->kind->route ||
        f->traits & (SEEN_ADDS_PARTS | SEEN_READS_TEXT))
        return seen_fail(why, SEEN_UNABLE, 0,
                         "%s cannot live in Redis: take blocked, or "
                         "routed:N/bloom for rates below 0.01 %%",
                         f->plan.kind);
    for (unsigned i = 0; i < f->parts && code == SEEN_OK; i++)
        code = leaf_able(f->part[i], why);
    return code;
}

/* Bits per key of a Bloom filter with k probes. */
static double bits_with(double rate, unsigned k)
{
    return -(double)k / log1p(-pow(rate, 1.0 / k));
}

static unsigned fewest_probes(double rate)
{
    unsigned best = (unsigned)fmax(1, round(-log2(rate))), k = best;

    while (k > 1 && bits_with(rate, k - 1) <= 1.05 * bits_with(rate, best))
        k--;
    return k;
}

/* The kind decides which rate its parts have: a small filter tells. */
void remote_plan(struct seen_plan *plan)
{
    struct seen_plan small = *plan;
    const struct seen_filter *leaf;
    struct seen_filter *f;

    small.capacity = 10000;
    if (plan->probes || plan->bits || plan->multiplier > 0 || plan->hostile ||
        !(plan->rate > 0) || seen_filter_new(&f, &small, NULL) != SEEN_OK)
        return;
    for (leaf = f; seen_filter_parts(leaf); leaf = seen_filter_part(leaf, 0))
        ;
    if (!(leaf->traits & SEEN_HAS_LINES) && leaf_able(leaf, NULL) == SEEN_OK)
        plan->probes = fewest_probes(leaf->plan.rate);
    seen_filter_free(f);
}

void remote_layout_key(char key[REMOTE_KEY], const char *name,
                       const char *generation, int chunk)
{
    if (chunk < 0)
        snprintf(key, REMOTE_KEY, "%s:{%s}", name, generation);
    else
        snprintf(key, REMOTE_KEY, "%s:{%s:%d}", name, generation, chunk);
}

size_t remote_layout_payload(const struct remote_server *s, uint64_t bytes)
{
    size_t payload = REMOTE_PAYLOAD;

    if (s->address.scheme == REMOTE_CLUSTER)
        while (payload > REMOTE_PAYLOAD_LEAST &&
               bytes / payload < CLUSTER_CHUNKS)
            payload = (payload + 128) / 2 - 128;
    return payload;
}

static void identify(struct remote_layout *l, const char *text)
{
    XXH128_hash_t h;
    XXH3_state_t state;

    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, text, strlen(text));
    XXH3_128bits_update(&state, l->generation, REMOTE_GENERATION);
    h = XXH3_128bits_digest(&state);
    l->identity[0] = h.low64;
    l->identity[1] = h.high64;
}

static void lay_out(struct remote_layout *l, const struct remote_server *s)
{
    unsigned n = 0;

    for (unsigned i = 0; i < l->leaves; i++) {
        struct remote_leaf *leaf = &l->leaf[i];
        size_t most = leaf->f->traits & SEEN_HAS_LINES ? l->payload
                                                       : REMOTE_PAYLOAD;

        for (size_t at = 0; at < leaf->f->size; at += most, n++) {
            struct remote_chunk *c = &l->chunk[n];

            c->leaf = i;
            c->at = at;
            c->len = leaf->f->size - at < most ? leaf->f->size - at : most;
            remote_layout_key(c->key, l->name, l->generation, (int)n);
            c->key_len = (unsigned)strlen(c->key);
            c->slot = remote_server_slot(s, c->key);
        }
    }
}

enum seen_code remote_layout_init(struct remote_layout *l,
                                  const struct seen_filter *f,
                                  const struct remote_server *s,
                                  const char *text, const char *generation,
                                  size_t payload, struct seen_error *why)
{
    enum seen_code code = remote_layout_able(f, why);

    memset(l, 0, sizeof *l);
    if (code == SEEN_OK && seen_filter_bytes(f) / payload >= CHUNKS_MOST)
        code = seen_fail(why, SEEN_RANGE, 0,
                         "%s is too much for a filter in Redis",
                         show_bytes(seen_filter_bytes(f)));
    if (code != SEEN_OK)
        return code;
    strcpy(l->name, s->address.name);
    strcpy(l->generation, generation);
    l->payload = payload;
    identify(l, text);
    l->leaves = f->kind->combines ? f->parts : 1;
    l->leaf = calloc(l->leaves, sizeof *l->leaf);
    for (unsigned i = 0; l->leaf && i < l->leaves; i++) {
        struct remote_leaf *leaf = &l->leaf[i];

        leaf->f = f->kind->combines ? f->part[i] : f;
        leaf->first = l->chunks;
        leaf->chunks = leaf->f->traits & SEEN_HAS_LINES
                           ? (unsigned)((leaf->f->size + payload - 1) /
                                        payload)
                           : 1;
        l->chunks += leaf->chunks;
    }
    l->chunk = l->leaf ? calloc(l->chunks, sizeof *l->chunk) : NULL;
    if (!l->chunk) {
        remote_layout_clear(l);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list of chunks");
    }
    lay_out(l, s);
    return SEEN_OK;
}

void remote_layout_clear(struct remote_layout *l)
{
    free(l->leaf);
    free(l->chunk);
    l->leaf = NULL;
    l->chunk = NULL;
}

void remote_layout_line(const struct remote_layout *l, unsigned chunk,
                        uint64_t sum, unsigned char line[REMOTE_LINE])
{
    const uint32_t version = VERSION;
    const uint64_t number = chunk, len = l->chunk[chunk].len;

    memset(line, 0, REMOTE_LINE);
    memcpy(line, REMOTE_MAGIC, 4);
    memcpy(line + 4, &version, 4);
    memcpy(line + 8, l->identity, 16);
    memcpy(line + 24, &number, 8);
    memcpy(line + 32, &len, 8);
    memcpy(line + 40, &sum, 8);
}

/* "seen-filter 1 0123456789abcdef 16777088\n" and the text. */
static enum seen_code parse_record(struct remote_record *to, const char *bytes,
                                   size_t len, struct seen_error *why)
{
    static const char begin[] = "seen-filter ";
    unsigned long version, payload;
    const char *end = memchr(bytes, '\n', len);
    char generation[REMOTE_GENERATION + 1];
    int at = 0;

    if (!end || strncmp(bytes, begin, sizeof begin - 1) ||
        memchr(bytes, 0, len) ||
        sscanf(bytes + sizeof begin - 1, "%lu%n", &version, &at) != 1)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "the key is not a filter of seen: take another "
                         "name, or delete it");
    if (version != VERSION)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "it is of version %lu, which this program does not "
                         "know",
                         version);
    if (sscanf(bytes + sizeof begin - 1 + at, " %16[0-9a-f] %lu\n", generation,
               &payload) != 2 ||
        strlen(generation) != REMOTE_GENERATION || payload > REMOTE_PAYLOAD ||
        payload < REMOTE_PAYLOAD_LEAST || payload % REMOTE_LINE)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "the first line of its record is damaged");
    strcpy(to->generation, generation);
    to->payload = payload;
    to->text = strndup(end + 1, len - (size_t)(end + 1 - bytes));
    return to->text ? SEEN_OK
                    : seen_fail(why, SEEN_NOMEM, 0, "no memory for a plan");
}

enum seen_code remote_record_read(struct remote_record *to,
                                  struct remote_server *s,
                                  struct seen_error *why)
{
    struct remote_batch b = { .n = 0 };
    const char *name = s->address.name;
    enum seen_code code;

    memset(to, 0, sizeof *to);
    remote_batch_begin(&b, remote_server_slot(s, name), false);
    remote_wire_count(&b.text, 2);
    remote_wire_text(&b.text, "GET");
    remote_wire_text(&b.text, name);
    code = remote_server_run(s, &b, why);
    if (code == SEEN_OK) {
        const redisReply *r = b.request[0].reply;

        if (r->type == REDIS_REPLY_NIL)
            code = seen_fail(why, SEEN_ABSENT, 0,
                             "there is no filter of this name");
        else if (r->type == REDIS_REPLY_ERROR &&
                 !strncmp(r->str, "WRONGTYPE", 9))
            code = seen_fail(why, SEEN_CORRUPT, 0,
                             "the key is not a filter of seen: take another "
                             "name, or delete it");
        else
            code = remote_reply_check(r, REDIS_REPLY_STRING, why);
        if (code == SEEN_OK)
            code = parse_record(to, r->str, r->len, why);
    }
    remote_batch_clear(&b);
    return code;
}
