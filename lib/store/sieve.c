/*
 * sieve.c - a log of keys without repetitions, in linear time and bounded
 * memory.
 *
 * A table of all keys that were met would take as much memory as the log takes
 * disk. So the keys are first put into parts by their hash, in one temporary
 * file, as in a hash join; then each part is sieved by a table of its own:
 *
 *     log        | a | b | a | c | b | d | ...        read once
 *
 *     part 0     | a | a | d | ...                    written and read once
 *     part 1     | b | c | b | ...
 *
 *     new log    | a | d | ... | b | c | ... | keys that came meanwhile
 *
 * A part gets about PER_PART keys that differ, for a table of 4 MB. There are
 * at most MOST_PARTS, each with a buffer of 4 KiB: with 10^10 keys that differ
 * a part has 2.4 million, and its table 64 MB. If one part is enough, there is
 * no temporary file.
 *
 * The new log has the keys up to the last checkpoint in its first `count`
 * places, as the old one: sieved ones first, then the others in their order. A
 * sum of keys can be subtracted. So count and sum of a slot become those of the
 * new log by what the repetitions counted, whatever checkpoints there were
 * meanwhile. It is written beside the filter, with one slot, which names the
 * file as it is, and renamed over the old one; which of the two is there after a
 * crash does not matter.
 */
#include "sieve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/kind_writer.h>

#include "../disk/disk.h"
#include "../text/array.h"

enum {
    WORTH = 4,
    LEAST = 16384,
    PER_PART = 1 << 17,
    MOST_PARTS = 4096,
    CHUNK = 256, /* keys of a part that adjoin in the file, and at a time */
    OUT = 2048,  /* keys on their way to the new log */
    FEW = 2048,  /* keys that may be left for the swap */
    MOST_SLOTS = 1 << 24,
    PIECE = 1 << 20 /* bytes that are flushed at a time */
};

struct store_sieve_key {
    uint64_t lo, hi;
};
_Static_assert(sizeof(struct store_sieve_key) == KEY_BYTES,
               "keys are written as they are");

struct store_sieve_part {
    uint32_t *chunk; /* numbers of its chunks in the file */
    size_t chunks, room;
    unsigned n; /* keys in its buffer */
};

struct store_sieve {
    uint64_t count, sum; /* of the log when it was begun */
    uint64_t salt;       /* authors of URLs do not know it, and so not the slot */
    uint64_t taken, taken_sum; /* keys of the log that are in parts, or met */
    struct seen_key key[CHUNK];

    unsigned parts;
    struct store_sieve_part *part;
    struct store_sieve_key (*buffer)[CHUNK]; /* of each part, if there are more
                                                than one */
    int file;
    uint32_t chunks; /* in it */
    unsigned at;     /* the part that is sieved, and */
    size_t at_chunk; /* its next chunk; after the last its buffer */

    struct store_sieve_key *table; /* zeros in a free slot */
    size_t slots, held;
    bool zero; /* the key of zeros was met */

    int fd; /* the new log */
    struct store_sieve_key out[OUT];
    size_t out_n;
    uint64_t met, met_sum; /* keys that differ */
    uint64_t copied;       /* keys that came after `count` */
    uint64_t flushed;      /* bytes */
    bool due;
};

/* --- begin and end ---------------------------------------------------------- */

void store_sieve_look(struct store_writer *w)
{
    const struct store_keys_log *k = &w->keys;
    double need;

    if (w->repeats || w->growth || !k->kept || !k->whole || k->fd < 0 ||
        k->now.count < k->try_at || k->now.count < WORTH * LEAST)
        return;
    need = seen_filter_entries(w->f);
    need = need > LEAST ? need : LEAST;
    w->repeats = (double)k->now.count > WORTH * need;
}

bool store_sieve_wanted(const struct store_writer *w)
{
    return (w->repeats || w->sieve) && w->keys.whole && !w->condemned &&
           !w->failed;
}

bool store_sieve_due(const struct store_writer *w)
{
    return w->sieve && w->sieve->due;
}

static void set_sieve(struct store_writer *w, struct store_sieve *s)
{
    pthread_mutex_lock(&w->mutex);
    w->sieve = s;
    w->repeats = false;
    pthread_mutex_unlock(&w->mutex);
}

void store_sieve_cancel(struct store_writer *w)
{
    struct store_sieve *s = w->sieve;
    int system = errno;

    if (!s)
        return;
    set_sieve(w, NULL);
    for (unsigned i = 0; s->part && i < s->parts; i++)
        free(s->part[i].chunk);
    if (s->file >= 0)
        close(s->file);
    if (s->fd >= 0) {
        close(s->fd);
        unlink(w->paths.grow);
    }
    free(s->part);
    free(s->buffer);
    free(s->table);
    free(s);
    errno = system;
}

static enum seen_code begin(struct store_writer *w, struct seen_error *why)
{
    const double n = seen_filter_entries(w->f);
    struct store_sieve *s = calloc(1, sizeof *s);

    if (s)
        s->file = s->fd = -1;
    set_sieve(w, s);
    w->keys.try_at = 2 * w->keys.now.count; /* if this one fails */
    if (!s)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a log of keys");
    s->count = w->keys.now.count;
    s->sum = w->keys.now.sum;
    s->salt = w->keys.now.identity;
    s->parts = 1;
    while (s->parts < MOST_PARTS && n > (double)s->parts * PER_PART)
        s->parts *= 2;
    s->slots = 4096;
    s->part = calloc(s->parts, sizeof *s->part);
    s->table = calloc(s->slots, sizeof *s->table);
    if (s->parts > 1)
        s->buffer = malloc(s->parts * sizeof *s->buffer);
    if (!s->part || !s->table || (s->parts > 1 && !s->buffer))
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a log of keys");
    if (s->parts > 1)
        s->file = disk_temporary(w->paths.folder);
    if (s->parts > 1 && s->file < 0)
        return seen_fail(why, SEEN_IO, 0, "no temporary file for keys");
    return store_keys_make(&s->fd, w->paths.grow, &w->paths, why);
}

/* --- the new log ------------------------------------------------------------ */

static enum seen_code write_out(struct store_sieve *s, struct seen_error *why)
{
    const uint64_t before = s->met + s->copied - s->out_n;
    enum seen_code code = disk_write(s->fd, s->out, s->out_n * KEY_BYTES,
                                     KEYS_HEAD + KEY_BYTES * before, why);

    s->out_n = 0;
    return code;
}

static enum seen_code put(struct store_sieve *s, uint64_t lo, uint64_t hi,
                          struct seen_error *why)
{
    s->out[s->out_n++] = (struct store_sieve_key){ lo, hi };
    return s->out_n == OUT ? write_out(s, why) : SEEN_OK;
}

/* --- a part ----------------------------------------------------------------- */

static struct store_sieve_key *slot_of(const struct store_sieve *s,
                                       uint64_t lo, uint64_t hi)
{
    size_t at = (size_t)seen_mix(lo ^ seen_mix(hi ^ s->salt)) & (s->slots - 1);

    while ((s->table[at].lo || s->table[at].hi) &&
           (s->table[at].lo != lo || s->table[at].hi != hi))
        at = (at + 1) & (s->slots - 1);
    return &s->table[at];
}

static enum seen_code grow_table(struct store_sieve *s, struct seen_error *why)
{
    struct store_sieve_key *was = s->table;
    const size_t slots = s->slots;

    if (slots == MOST_SLOTS)
        return seen_fail(why, SEEN_FULL, 0, "more keys than expected");
    s->table = calloc(2 * slots, sizeof *s->table);
    if (!s->table) {
        s->table = was;
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a log of keys");
    }
    s->slots = 2 * slots;
    for (size_t i = 0; i < slots; i++)
        if (was[i].lo || was[i].hi)
            *slot_of(s, was[i].lo, was[i].hi) = was[i];
    free(was);
    return SEEN_OK;
}

/* Put it into the new log if it was not met before. */
static enum seen_code meet(struct store_sieve *s, uint64_t lo, uint64_t hi,
                           struct seen_error *why)
{
    struct store_sieve_key *slot = slot_of(s, lo, hi);
    enum seen_code code = SEEN_OK;

    if (slot->lo || slot->hi || (!lo && !hi && s->zero))
        return SEEN_OK;
    if (!lo && !hi)
        s->zero = true;
    else
        *slot = (struct store_sieve_key){ lo, hi };
    s->held++;
    s->met++;
    s->met_sum += store_keys_sum(lo, hi);
    code = put(s, lo, hi, why);
    if (code == SEEN_OK && s->held > s->slots / 2)
        code = grow_table(s, why);
    return code;
}

static enum seen_code write_chunk(struct store_sieve *s, unsigned i,
                                  struct seen_error *why)
{
    struct store_sieve_part *p = &s->part[i];
    uint32_t *more = array_grow(p->chunk, &p->room, p->chunks + 1,
                                sizeof *more);

    if (!more)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a log of keys");
    p->chunk = more;
    p->chunk[p->chunks++] = s->chunks;
    p->n = 0;
    return disk_write(s->file, s->buffer[i], sizeof s->buffer[i],
                      s->chunks++ * (uint64_t)sizeof s->buffer[i], why);
}

/* Put a key into its part, or sieve it if there is only one. */
static enum seen_code sort(struct store_sieve *s, uint64_t lo, uint64_t hi,
                           struct seen_error *why)
{
    const uint64_t hash = seen_mix(hi ^ s->salt);
    const unsigned i = (unsigned)((hash >> 32) * s->parts >> 32);
    struct store_sieve_part *p = &s->part[i];

    if (s->parts == 1)
        return meet(s, lo, hi, why);
    s->buffer[i][p->n++] = (struct store_sieve_key){ lo, hi };
    return p->n == CHUNK ? write_chunk(s, i, why) : SEEN_OK;
}

/* Sieve the next chunk of a part, or what is in its buffer. */
static enum seen_code sieve(struct store_sieve *s, uint64_t *cost,
                            struct seen_error *why)
{
    struct store_sieve_part *p = &s->part[s->at];
    struct store_sieve_key chunk[CHUNK], *keys = chunk;
    enum seen_code code = SEEN_OK;
    unsigned n = CHUNK;

    if (s->at_chunk < p->chunks) {
        code = disk_read(s->file, chunk, sizeof chunk,
                         p->chunk[s->at_chunk] * (uint64_t)sizeof chunk, why);
    } else {
        keys = s->buffer[s->at];
        n = p->n;
    }
    for (unsigned i = 0; i < n && code == SEEN_OK; i++)
        code = meet(s, keys[i].lo, keys[i].hi, why);
    if (s->at_chunk++ == p->chunks) { /* the next part */
        s->at++;
        s->at_chunk = s->held = 0;
        memset(s->table, 0, s->slots * sizeof *s->table);
    }
    *cost = n ? n : 1;
    return code;
}

/* --- in slices --------------------------------------------------------------- */

static bool sieved(const struct store_sieve *s)
{
    return s->taken == s->count && (s->parts == 1 || s->at == s->parts);
}

/* Take keys out of the log: into parts, or to the end of the new log. */
static enum seen_code take(struct store_writer *w, uint64_t end,
                           uint64_t *cost, struct seen_error *why)
{
    struct store_sieve *s = w->sieve;
    const uint64_t at = s->taken + s->copied;
    const size_t n = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
    const bool all = s->taken == s->count;
    uint64_t sum = 0;
    enum seen_code code = store_keys_read(&w->keys, at, s->key, n, &sum, why);

    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        s->copied += all;
        code = all ? put(s, s->key[i].lo, s->key[i].hi, why)
                   : sort(s, s->key[i].lo, s->key[i].hi, why);
    }
    s->taken += all ? 0 : n;
    s->taken_sum += all ? 0 : sum;
    *cost = n;
    if (code == SEEN_OK && !all && s->taken == s->count &&
        s->taken_sum != s->sum)
        code = seen_fail(why, SEEN_CORRUPT, 0, "its log of keys is damaged");
    return code;
}

static bool done(const struct store_sieve *s, uint64_t written, uint64_t few)
{
    return sieved(s) && s->taken + s->copied + few >= written;
}

static enum seen_code work(struct store_writer *w, uint64_t pay, uint64_t few,
                           struct seen_error *why)
{
    enum seen_code code = w->sieve ? SEEN_OK : begin(w, why);
    uint64_t written, cost = 0;

    pthread_mutex_lock(&w->mutex);
    written = store_keys_written(&w->keys);
    pthread_mutex_unlock(&w->mutex);
    for (; code == SEEN_OK && pay && !done(w->sieve, written, few);
         pay -= cost < pay ? cost : pay) {
        struct store_sieve *s = w->sieve;

        if (s->taken < s->count)
            code = take(w, s->count, &cost, why);
        else if (!sieved(s))
            code = sieve(s, &cost, why);
        else
            code = take(w, written, &cost, why);
    }
    return code;
}

/* Begin to write the new log to the disk: each time a piece, if it is done. */
static bool flushed(struct store_sieve *s)
{
    const uint64_t end = KEYS_HEAD + KEY_BYTES * (s->met + s->copied);

    if (s->flushed < end)
        disk_flush_part(s->fd, s->flushed, PIECE, NULL); /* and again later */
    s->flushed += PIECE;
    return s->flushed >= end;
}

static void give_up(struct store_writer *w, enum seen_code code)
{
    store_sieve_cancel(w);
    pthread_mutex_lock(&w->mutex);
    w->condemned |= code == SEEN_CORRUPT;
    pthread_mutex_unlock(&w->mutex);
}

void store_sieve_work(struct store_writer *w, uint64_t pay)
{
    enum seen_code code = work(w, pay, FEW, NULL);
    bool due;

    if (code != SEEN_OK) {
        give_up(w, code);
        return;
    }
    pthread_mutex_lock(&w->mutex);
    due = done(w->sieve, store_keys_written(&w->keys), FEW);
    pthread_mutex_unlock(&w->mutex);
    due = due && flushed(w->sieve);
    pthread_mutex_lock(&w->mutex);
    w->sieve->due = due;
    pthread_mutex_unlock(&w->mutex);
}

void store_sieve_swap(struct store_writer *w)
{
    enum seen_code code = store_keys_write(&w->keys, w->f, &w->journal, NULL);
    struct store_sieve *s;

    if (code == SEEN_OK)
        code = work(w, UINT64_MAX, 0, NULL);
    s = w->sieve;
    if (code == SEEN_OK)
        code = write_out(s, NULL);
    if (code == SEEN_OK)
        code = store_keys_renew(&w->keys, &w->paths, &s->fd, s->count - s->met,
                                s->sum - s->met_sum, NULL);
    give_up(w, code);
}

void store_sieve_end(struct store_writer *w)
{
    store_sieve_look(w);
    if (store_sieve_wanted(w) && w->keys.now.count <= STORE_SIEVE_CLOSING)
        store_sieve_swap(w);
    store_sieve_cancel(w);
}
