/*
 * redis.c - ask and add to a filter whose bits are in Redis.
 *
 * The kind that the filter was planned with says which bits a key has
 * (locate() in kind_writer.h); this file reads and sets them where they are.
 *
 *     A  read    GETRANGE of the line of each key; of a bloom filter
 *                BITFIELD GET of three bits, and of the rest if all are set
 *     B  set     for each key with clear bits, one BITFIELD with a SET of
 *                each of them, which returns what they were before
 *     C  count   set bits and offered keys, for everybody
 *
 * Each of A, B and C is one pipeline for up to BATCH keys. Known keys, of which
 * a crawl has nine in ten, never write; and at half load reading first halves
 * the work of new keys in lines, since BITFIELD needs only the bits that are
 * clear. For keys of which nearly all are new, as when an index is added to an
 * empty filter, A is work for nothing: it is left out while the last batch was
 * like that. B alone gives the same answers, since SET returns the old bit.
 *
 * Test and set. A key is new if B finds one of its bits clear. BITFIELD is
 * atomic, and bits are never cleared. Of two clients that add a key at once,
 * the first BITFIELD sets all bits that were clear, so the second finds them
 * set. Nobody gets "new" only if others had set all bits since A: then the key
 * is a false positive.
 *
 * Three holes, and how they are closed:
 *
 * 1. A BITFIELD without an answer may have been done. It is SEEN_IO, and is not
 *    sent again: the second one would say "seen" to a URL that nobody got as
 *    new (server.h).
 * 2. BITFIELD creates a key that is missing, as after an eviction, and would
 *    say "new" to everything. So it also reads the magic of the chunk, a
 *    GETRANGE that is too short is an error, and each of A and C looks at the
 *    identifying line of every chunk it touched: a wrong one turns the answers
 *    of the batch into an error.
 * 3. A failover can lose acknowledged writes. It is noticed, reported and
 *    counted (server.h); ?replicas=N makes B wait for replicas.
 *
 * The counters lag behind if a client dies between B and C, and the capacity
 * is checked against counters that other clients raise meanwhile: with p
 * clients a filter may exceed its capacity by p batches.
 */
#include "redis.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "layout.h"

enum {
    BATCH = 2048,
    BLIND = 64, /* keys of a batch that may be added without reading */
    FIRST = 3,  /* bits of a bloom filter that are read first */
    PROBES = 64
};

struct remote_filter {
    struct seen_filter base;   /* first: see kind_writer.h */
    struct remote_filter *self; /* a lookup uses the connection, too */
    struct seen_filter *shape; /* of the planned kind, without cells; it
                                  borrows the parts of base */
    struct remote_server *server;
    struct remote_layout layout;
    struct remote_batch batch;
    pthread_mutex_t lock;

    char counters[REMOTE_KEY]; /* the key of the counters */
    uint16_t counters_slot;
    uint64_t lost; /* of all clients, as the counter said last */
    uint64_t told; /* losses of the server that are counted */

    bool all_new;  /* nearly all keys of the last batch were new */

    /* The batch at hand */
    uint64_t *bit; /* plan.probes numbers per key, in the leaf */
    unsigned *part;
    struct remote_mark {
        unsigned chunk;
        uint64_t all;  /* a bit per probe */
        uint64_t set;  /* probes whose bit is known to be set */
        uint64_t read; /* probes whose bit was read */
    } mark[BATCH];
    uint32_t *stamp; /* per chunk: the last turn that touched it */
    uint32_t turn;
    unsigned *touched;
    unsigned touches;
    uint64_t *raised; /* per leaf: bits that this batch has set */
};

static unsigned probes_of(const struct remote_filter *r)
{
    return r->layout.leaf[0].f->plan.probes;
}

static bool in_lines(const struct remote_filter *r)
{
    return r->layout.leaf[0].f->traits & SEEN_HAS_LINES;
}

/* --- where --- */

static void touch(struct remote_filter *r, unsigned chunk)
{
    if (r->stamp[chunk] == r->turn)
        return;
    r->stamp[chunk] = r->turn;
    r->touched[r->touches++] = chunk;
}

static void begin_turn(struct remote_filter *r)
{
    r->turn++;
    r->touches = 0;
    remote_batch_reset(&r->batch);
    r->batch.replicas = 0;
}

static enum seen_code locate(struct remote_filter *r,
                             const struct seen_key *key, size_t n,
                             struct seen_error *why)
{
    const struct remote_layout *l = &r->layout;
    unsigned k = probes_of(r);
    enum seen_code code = SEEN_OK;

    if (l->leaves > 1)
        code = r->shape->kind->route(r->shape, key, n, r->part, why);
    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        const struct remote_leaf *leaf =
            &l->leaf[l->leaves > 1 ? r->part[i] : 0];
        uint64_t *bit = r->bit + i * k;

        leaf->f->kind->locate(leaf->f, &key[i], 1, bit);
        r->mark[i] = (struct remote_mark){
            .chunk = leaf->first +
                     (unsigned)(in_lines(r) ? bit[0] / 8 / l->payload : 0),
            .all = k == 64 ? UINT64_MAX : (UINT64_C(1) << k) - 1
        };
    }
    return code;
}

/* The number of a bit in its string, as Redis counts. */
static uint64_t offset(const struct remote_chunk *c, uint64_t bit)
{
    return (bit - 8 * c->at + 8 * REMOTE_LINE) ^ 7;
}

/* --- commands --- */

static void put_word(struct buffer *to, const struct remote_chunk *c)
{
    remote_wire_word(to, c->key, c->key_len);
}

static void put_range(struct remote_filter *r, unsigned chunk, uint64_t from,
                      uint64_t to)
{
    const struct remote_chunk *c = &r->layout.chunk[chunk];
    struct buffer *text = &r->batch.text;

    remote_batch_begin(&r->batch, c->slot, false);
    buffer_text(text, "*4\r\n$8\r\nGETRANGE\r\n");
    put_word(text, c);
    remote_wire_number(text, from);
    remote_wire_number(text, to);
}

/* A BITFIELD of the probes in `which`: GET or SET, after the magic. */
static void put_bits(struct remote_filter *r, size_t i, uint64_t which,
                     bool set)
{
    const struct remote_chunk *c = &r->layout.chunk[r->mark[i].chunk];
    const uint64_t *bit = r->bit + i * probes_of(r);
    struct buffer *text = &r->batch.text;
    unsigned n = (unsigned)__builtin_popcountll(which);

    remote_batch_begin(&r->batch, c->slot, set);
    remote_wire_count(text, 5 + n * (set ? 4 : 3));
    buffer_text(text, "$8\r\nBITFIELD\r\n");
    put_word(text, c);
    buffer_text(text, "$3\r\nGET\r\n$3\r\nu32\r\n$1\r\n0\r\n");
    for (; which; which &= which - 1) {
        buffer_text(text, set ? "$3\r\nSET\r\n$2\r\nu1\r\n"
                              : "$3\r\nGET\r\n$2\r\nu1\r\n");
        remote_wire_number(text, offset(c, bit[__builtin_ctzll(which)]));
        if (set)
            buffer_text(text, "$1\r\n1\r\n");
    }
}

static void put_headers(struct remote_filter *r)
{
    for (unsigned i = 0; i < r->touches; i++)
        put_range(r, r->touched[i], 0, REMOTE_COMPARED - 1);
}

/* --- replies --- */

static enum seen_code missing(struct seen_error *why, unsigned chunk)
{
    return seen_fail(why, SEEN_CORRUPT, 0,
                     "part %u of the filter is missing or was overwritten: it "
                     "was evicted, deleted or replaced meanwhile",
                     chunk);
}

static enum seen_code check_header(const struct remote_filter *r,
                                   unsigned chunk, const redisReply *reply,
                                   struct seen_error *why)
{
    enum seen_code code = remote_reply_check(reply, REDIS_REPLY_STRING, why);
    unsigned char line[REMOTE_LINE];

    if (code != SEEN_OK)
        return code;
    remote_layout_line(&r->layout, chunk, 0, line);
    if (reply->len != REMOTE_COMPARED ||
        memcmp(reply->str, line, REMOTE_COMPARED))
        return missing(why, chunk);
    return SEEN_OK;
}

/* Check the replies to put_headers(), from request `from` on. */
static enum seen_code check_headers(const struct remote_filter *r, size_t from,
                                    struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; i < r->touches && code == SEEN_OK; i++)
        code = check_header(r, r->touched[i], r->batch.request[from + i].reply,
                            why);
    return code;
}

/* The array of a BITFIELD of n bits that begins with the magic. */
static enum seen_code check_bits(const redisReply *reply, unsigned chunk,
                                 unsigned n, struct seen_error *why)
{
    enum seen_code code = remote_reply_check(reply, REDIS_REPLY_ARRAY, why);

    if (code != SEEN_OK)
        return code;
    if (reply->elements != n + 1)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "the server gave a reply of another length");
    for (size_t i = 0; i <= n; i++)
        if (reply->element[i]->type != REDIS_REPLY_INTEGER)
            return seen_fail(why, SEEN_CORRUPT, 0,
                             "the server gave a reply of another type");
    if (reply->element[0]->integer != (long long)REMOTE_MAGIC_NUMBER)
        return missing(why, chunk);
    return SEEN_OK;
}

/* --- A: read --- */

static enum seen_code read_line(struct remote_filter *r, size_t i,
                                const redisReply *reply,
                                struct seen_error *why)
{
    enum seen_code code = remote_reply_check(reply, REDIS_REPLY_STRING, why);
    const uint64_t *bit = r->bit + i * probes_of(r);
    struct remote_mark *m = &r->mark[i];

    if (code != SEEN_OK)
        return code;
    if (reply->len != REMOTE_LINE)
        return missing(why, m->chunk);
    for (unsigned j = 0; j < probes_of(r); j++) {
        unsigned at = (unsigned)(bit[j] % (8 * REMOTE_LINE));

        m->set |= (uint64_t)((unsigned char)reply->str[at / 8] >> at % 8 & 1)
                  << j;
    }
    m->read = m->all;
    return SEEN_OK;
}

static enum seen_code read_lines(struct remote_filter *r, size_t n,
                                 struct seen_error *why)
{
    enum seen_code code;

    begin_turn(r);
    for (size_t i = 0; i < n; i++) {
        const struct remote_chunk *c = &r->layout.chunk[r->mark[i].chunk];
        uint64_t line = r->bit[i * probes_of(r)] / 8 / REMOTE_LINE *
                        REMOTE_LINE;

        touch(r, r->mark[i].chunk);
        line = line - c->at + REMOTE_LINE;
        put_range(r, r->mark[i].chunk, line, line + REMOTE_LINE - 1);
    }
    put_headers(r);
    code = remote_server_run(r->server, &r->batch, why);
    for (size_t i = 0; i < n && code == SEEN_OK; i++)
        code = read_line(r, i, r->batch.request[i].reply, why);
    return code == SEEN_OK ? check_headers(r, n, why) : code;
}

/* The probes that are to be read now: the first, then the rest, or none. */
static uint64_t to_read(const struct remote_mark *m)
{
    uint64_t first = m->all & ((1u << FIRST) - 1);

    if (!m->read)
        return first;
    return m->set == m->read ? m->all & ~m->read : 0;
}

static enum seen_code read_bits(struct remote_filter *r, size_t n,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool more = true;

    for (int step = 0; step < 2 && more && code == SEEN_OK; step++) {
        size_t q = 0;

        begin_turn(r);
        for (size_t i = 0; i < n; i++) {
            if (!to_read(&r->mark[i]))
                continue;
            touch(r, r->mark[i].chunk);
            put_bits(r, i, to_read(&r->mark[i]), false);
        }
        put_headers(r);
        more = false;
        code = remote_server_run(r->server, &r->batch, why);
        for (size_t i = 0; i < n && code == SEEN_OK; i++) {
            struct remote_mark *m = &r->mark[i];
            uint64_t which = to_read(m), left = which;
            const redisReply *reply;

            if (!which)
                continue;
            reply = r->batch.request[q++].reply;
            code = check_bits(reply, m->chunk,
                              (unsigned)__builtin_popcountll(which), why);
            for (size_t e = 1; left && code == SEEN_OK; left &= left - 1, e++)
                if (reply->element[e]->integer)
                    m->set |= left & -left;
            m->read |= which;
            more |= to_read(m) != 0;
        }
        if (code == SEEN_OK)
            code = check_headers(r, q, why);
    }
    return code;
}

static enum seen_code read_all(struct remote_filter *r,
                               const struct seen_key *key, size_t n,
                               struct seen_error *why)
{
    enum seen_code code = locate(r, key, n, why);

    if (code != SEEN_OK)
        return code;
    return in_lines(r) ? read_lines(r, n, why) : read_bits(r, n, why);
}

static bool known(const struct remote_mark *m)
{
    return m->set == m->all;
}

/* --- C: count --- */

static void put_counter(struct remote_filter *r, const char *field,
                        uint64_t more)
{
    struct buffer *text = &r->batch.text;

    remote_batch_begin(&r->batch, r->counters_slot, false);
    buffer_text(text, "*4\r\n$7\r\nHINCRBY\r\n");
    remote_wire_text(text, r->counters);
    remote_wire_text(text, field);
    remote_wire_number(text, more);
}

static void know_set(struct remote_filter *r, unsigned leaf, uint64_t set)
{
    __atomic_store_n(&remote_leaf(r->shape, leaf)->set, set, __ATOMIC_RELAXED);
    if (!r->base.parts)
        __atomic_store_n(&r->base.set, set, __ATOMIC_RELAXED);
}

/* Look at the lines of the chunks that B touched, and count. */
static enum seen_code count(struct remote_filter *r, size_t n,
                            struct seen_error *why)
{
    size_t at;
    enum seen_code code;
    char field[24];
    uint64_t more = r->server->losses - r->told;

    remote_batch_reset(&r->batch);
    r->batch.replicas = 0;
    put_headers(r);
    put_counter(r, "offered", n);
    put_counter(r, "lost", more);
    for (unsigned i = 0; i < r->layout.leaves; i++)
        if (r->raised[i]) {
            snprintf(field, sizeof field, "set:%u", i);
            put_counter(r, field, r->raised[i]);
        }
    code = remote_server_run(r->server, &r->batch, why);
    if (code == SEEN_OK)
        code = check_headers(r, 0, why);
    at = r->touches;
    for (size_t i = at; i < r->batch.n && code == SEEN_OK; i++)
        code = remote_reply_check(r->batch.request[i].reply,
                                  REDIS_REPLY_INTEGER, why);
    if (code != SEEN_OK)
        return code;
    r->told += more;
    r->lost = (uint64_t)r->batch.request[at + 1].reply->integer;
    at += 2;
    for (unsigned i = 0; i < r->layout.leaves; i++)
        if (r->raised[i]) {
            know_set(r, i, (uint64_t)r->batch.request[at++].reply->integer);
            r->raised[i] = 0;
        }
    return SEEN_OK;
}

/* --- B: set --- */

/*
 * How many of n keys fit. A key with clear bits fits while fewer bits than the
 * limit are set, those of the keys before it included.
 */
static size_t fitting(struct remote_filter *r, size_t n)
{
    size_t fit = 0;

    for (; fit < n; fit++) {
        const struct remote_mark *m = &r->mark[fit];
        unsigned leaf = r->layout.chunk[m->chunk].leaf;
        const struct seen_filter *f = r->layout.leaf[leaf].f;

        if (known(m))
            continue;
        if (f->set + r->raised[leaf] >= f->limit)
            break;
        r->raised[leaf] += (uint64_t)__builtin_popcountll(m->all & ~m->set);
    }
    memset(r->raised, 0, r->layout.leaves * sizeof *r->raised);
    return fit;
}

/*
 * Is it better to add n keys without reading first? In lines a quarter of the
 * bits may be set, beyond which the commands of A save more in B than they
 * cost. All must fit, whatever is set.
 */
static bool blindly(const struct remote_filter *r, size_t n)
{
    if (!r->all_new || n < BLIND)
        return false;
    for (unsigned i = 0; i < r->layout.leaves; i++) {
        const struct seen_filter *f = r->layout.leaf[i].f;

        if (f->set + n * probes_of(r) >= f->limit ||
            (in_lines(r) && f->set > 2 * f->size))
            return false;
    }
    return true;
}

static enum seen_code set_bits(struct remote_filter *r, size_t n, bool *fresh,
                               struct seen_error *why)
{
    enum seen_code code;
    size_t q = 0, new = 0;

    begin_turn(r);
    r->batch.replicas = r->server->address.replicas;
    for (size_t i = 0; i < n; i++)
        if (!known(&r->mark[i])) {
            touch(r, r->mark[i].chunk);
            put_bits(r, i, r->mark[i].all & ~r->mark[i].set, true);
        }
    if (!r->batch.n)
        r->batch.replicas = 0;
    code = remote_server_run(r->server, &r->batch, why);
    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        const struct remote_mark *m = &r->mark[i];
        unsigned bits = (unsigned)__builtin_popcountll(m->all & ~m->set);
        unsigned miss = 0;
        const redisReply *reply;

        if (bits) {
            reply = r->batch.request[q++].reply;
            code = check_bits(reply, m->chunk, bits, why);
            for (unsigned e = 1; e <= bits && code == SEEN_OK; e++)
                miss += !reply->element[e]->integer;
            r->raised[r->layout.chunk[m->chunk].leaf] += miss;
        }
        new += miss > 0;
        if (fresh)
            fresh[i] = miss;
    }
    r->all_new = n >= BLIND && new >= n - n / 8;
    return code;
}

/* Some of a batch were set and others refused: count what was set. */
static enum seen_code add_some(struct remote_filter *r,
                               const struct seen_key *key, size_t n,
                               bool *fresh, size_t *done,
                               struct seen_error *why)
{
    enum seen_code code = blindly(r, n) ? locate(r, key, n, why)
                                        : read_all(r, key, n, why);
    size_t fit;

    *done = 0;
    if (code != SEEN_OK)
        return code;
    fit = fitting(r, n);
    if (!fit && n)
        return seen_fail(why, SEEN_FULL, 0,
                         "the filter holds all it was planned for");
    code = set_bits(r, fit, fresh, why);
    if (code == SEEN_OK)
        code = count(r, fit, why);
    memset(r->raised, 0, r->layout.leaves * sizeof *r->raised);
    *done = code == SEEN_OK ? fit : 0;
    return code;
}

/* --- the kind --- */

static enum seen_code redis_has(const struct seen_filter *f,
                                const struct seen_key *key, size_t n,
                                bool *seen, struct seen_error *why)
{
    struct remote_filter *r = ((const struct remote_filter *)f)->self;
    enum seen_code code = SEEN_OK;

    pthread_mutex_lock(&r->lock);
    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        code = read_all(r, key + done, some, why);
        for (size_t i = 0; i < some && code == SEEN_OK; i++)
            seen[done + i] = known(&r->mark[i]);
    }
    pthread_mutex_unlock(&r->lock);
    return code;
}

static enum seen_code redis_add(struct seen_filter *f,
                                const struct seen_key *key, size_t n,
                                bool *fresh, struct seen_error *why)
{
    struct remote_filter *r = (struct remote_filter *)f;
    struct seen_error unasked;
    enum seen_code code = SEEN_OK;

    why = why ? why : &unasked;
    pthread_mutex_lock(&r->lock);
    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        code = add_some(r, key + done, some, fresh ? fresh + done : NULL,
                        &some, why);
        if (code != SEEN_OK)
            why->at = done;
    }
    pthread_mutex_unlock(&r->lock);
    return code;
}

static double redis_rate(const struct seen_filter *f)
{
    const struct remote_filter *r = (const struct remote_filter *)f;

    return seen_filter_rate(r->shape);
}

static double redis_entries(const struct seen_filter *f)
{
    const struct remote_filter *r = (const struct remote_filter *)f;

    return seen_filter_entries(r->shape);
}

static double redis_planned(const struct seen_filter *f)
{
    const struct remote_filter *r = (const struct remote_filter *)f;

    return seen_filter_planned(r->shape);
}

static enum seen_code redis_route(const struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  unsigned *part, struct seen_error *why)
{
    const struct remote_filter *r = (const struct remote_filter *)f;

    return r->shape->kind->route(r->shape, key, n, part, why);
}

/* A round trip, in cache lines. */
static uint64_t redis_cost(const struct seen_filter *f)
{
    (void)f;
    return 1000;
}

/* The parts and metadata belong to base, which frees them. */
static void redis_clear(struct seen_filter *f)
{
    struct remote_filter *r = (struct remote_filter *)f;

    if (r->shape) {
        r->shape->part = NULL;
        r->shape->parts = 0;
        r->shape->meta = NULL;
        seen_filter_free(r->shape);
    }
    remote_server_close(r->server);
    remote_layout_clear(&r->layout);
    remote_batch_clear(&r->batch);
    pthread_mutex_destroy(&r->lock);
    free(r->bit);
    free(r->part);
    free(r->stamp);
    free(r->touched);
    free(r->raised);
}

const struct seen_kind remote_redis = {
    .name = "redis",
    .synopsis = "redis",
    .summary = "the bits of another kind, in Redis",
    .state = sizeof(struct remote_filter),
    .has = redis_has,
    .add = redis_add,
    .rate = redis_rate,
    .entries = redis_entries,
    .planned = redis_planned,
    .route = redis_route,
    .cost = redis_cost,
    .clear = redis_clear,
};

/* --- opening --- */

uint64_t remote_redis_losses(const struct seen_filter *f)
{
    const struct remote_filter *r = (const struct remote_filter *)f;

    return r->lost + r->server->losses - r->told;
}

struct remote_server *remote_redis_server(const struct seen_filter *f)
{
    return f->kind == &remote_redis ? ((const struct remote_filter *)f)->server
                                    : NULL;
}

/* Every chunk is there, at full length, and is ours. */
static enum seen_code check_chunks(struct remote_filter *r,
                                   struct seen_error *why)
{
    const struct remote_layout *l = &r->layout;
    enum seen_code code = SEEN_OK;

    for (unsigned done = 0, some; done < l->chunks && code == SEEN_OK;
         done += some) {
        some = l->chunks - done < BATCH ? l->chunks - done : BATCH;
        begin_turn(r);
        for (unsigned i = done; i < done + some; i++)
            put_range(r, i, 0, REMOTE_COMPARED - 1);
        for (unsigned i = done; i < done + some; i++) {
            remote_batch_begin(&r->batch, l->chunk[i].slot, false);
            remote_wire_count(&r->batch.text, 2);
            remote_wire_text(&r->batch.text, "STRLEN");
            put_word(&r->batch.text, &l->chunk[i]);
        }
        code = remote_server_run(r->server, &r->batch, why);
        for (unsigned i = 0; i < some && code == SEEN_OK; i++) {
            const redisReply *length = r->batch.request[some + i].reply;

            code = check_header(r, done + i, r->batch.request[i].reply, why);
            if (code == SEEN_OK)
                code = remote_reply_check(length, REDIS_REPLY_INTEGER, why);
            if (code == SEEN_OK &&
                length->integer !=
                    (long long)(l->chunk[done + i].len + REMOTE_LINE))
                code = missing(why, done + i);
        }
    }
    return code;
}

static void know_counter(struct remote_filter *r, const char *field,
                         uint64_t value)
{
    unsigned leaf;

    if (!strcmp(field, "offered"))
        r->base.offered = value;
    else if (!strcmp(field, "lost"))
        r->lost = value;
    else if (sscanf(field, "set:%u", &leaf) == 1 && leaf < r->layout.leaves)
        know_set(r, leaf, value);
}

static enum seen_code read_counters(struct remote_filter *r,
                                    struct seen_error *why)
{
    const redisReply *reply;
    enum seen_code code;

    begin_turn(r);
    remote_batch_begin(&r->batch, r->counters_slot, false);
    remote_wire_count(&r->batch.text, 2);
    remote_wire_text(&r->batch.text, "HGETALL");
    remote_wire_text(&r->batch.text, r->counters);
    code = remote_server_run(r->server, &r->batch, why);
    if (code != SEEN_OK)
        return code;
    reply = r->batch.request[0].reply;
    code = remote_reply_check(reply, REDIS_REPLY_ARRAY, why);
    if (code == SEEN_OK && reply->elements < 2)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "the counters of the filter are missing: they were "
                         "evicted or deleted");
    for (size_t i = 0; code == SEEN_OK && i + 1 < reply->elements; i += 2)
        if (reply->element[i]->type == REDIS_REPLY_STRING &&
            reply->element[i + 1]->type == REDIS_REPLY_STRING)
            know_counter(r, reply->element[i]->str,
                         strtoull(reply->element[i + 1]->str, NULL, 10));
    return code;
}

/* Give base the plan, parts and metadata of the shape. */
static void adopt(struct remote_filter *r)
{
    const unsigned can = SEEN_CAN_ADD | SEEN_CAN_ROUTE | SEEN_HAS_LINES;

    r->base = *r->shape;
    r->base.kind = &remote_redis;
    r->base.has_one = NULL; /* it would look for cells in memory */
    r->base.traits = (r->shape->traits & can) | SEEN_IS_SLOW |
                     SEEN_CELLS_ELSEWHERE;
}

static enum seen_code prepare(struct remote_filter *r, const char *generation,
                              bool over, struct seen_error *why)
{
    const struct remote_layout *l = &r->layout;

    for (unsigned i = 0; i < l->leaves && over; i++)
        remote_leaf(r->shape, i)->limit = UINT64_MAX;

    remote_layout_key(r->counters, l->name, generation, -1);
    r->counters_slot = remote_server_slot(r->server, r->counters);
    r->bit = malloc(sizeof *r->bit * BATCH * probes_of(r));
    r->part = malloc(sizeof *r->part * BATCH);
    r->stamp = calloc(l->chunks, sizeof *r->stamp);
    r->touched = malloc(sizeof *r->touched * l->chunks);
    r->raised = calloc(l->leaves, sizeof *r->raised);
    if (!r->bit || !r->part || !r->stamp || !r->touched || !r->raised)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a filter");
    return SEEN_OK;
}

enum seen_code remote_redis_open(struct seen_filter **out,
                                 struct remote_address *a,
                                 const struct remote_options *options,
                                 struct seen_error *why)
{
    const struct seen_access access = { .profile = options->profile,
                                        .secret = options->secret };
    struct remote_filter *r = calloc(1, sizeof *r);
    struct remote_record record = { .text = NULL };
    enum seen_code code;

    *out = NULL;
    if (!r)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a filter");
    r->base.kind = &remote_redis;
    r->self = r;
    pthread_mutex_init(&r->lock, NULL);
    code = remote_server_open(&r->server, a, options->warn, options->whose,
                              why);
    if (code == SEEN_OK)
        code = remote_record_read(&record, r->server, why);
    if (code == SEEN_OK)
        code = seen_store_restore(&r->shape, record.text, &access, why);
    if (code == SEEN_OK) {
        adopt(r);
        code = remote_layout_init(&r->layout, r->shape, r->server, record.text,
                                  record.generation, record.payload, why);
    }
    if (code == SEEN_OK)
        code = prepare(r, record.generation, options->over, why);
    if (code == SEEN_OK)
        code = check_chunks(r, why);
    if (code == SEEN_OK)
        code = read_counters(r, why);
    free(record.text);
    if (code != SEEN_OK) {
        int system = errno;

        seen_filter_free(&r->base);
        errno = system;
        return code;
    }
    *out = &r->base;
    return SEEN_OK;
}
