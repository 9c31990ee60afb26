/*
 * key_log.c - keys in blocks, in memory and then in a file.
 *
 * Each lane fills a block of its own. A full one is put into the list of all
 * blocks, and stays in memory as long as the limit allows; of any other only
 * its place in the file is in the list:
 *
 *     lane 0   | block |       list   | 0 | 1 | 2 | 3 | 4 | ...
 *     lane 1   | block |                |   |   |   |   |
 *                                    memory      |   |   |
 *     file                                     | 2 | 3 | 4 | ...
 *
 * A block in the file has a head: the number of bytes that follow, and a hash
 * of them, which is compared when a saved log is read back.
 *
 *     16 bytes per key     lo, hi
 *     texts                length (4 bytes), text
 *
 * Keys of keyed filters are kept as they are under the secret. So a log is no
 * list of what was asked for, which could be compared with other lists; a log
 * of texts is.
 */
#include <seen/key_log.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/kind.h>

#include "../disk/disk.h"
#include "../text/little.h"
#include "../text/memory.h"
#include "build.h"
#include "crew.h"
#include "distinct.h"
#include "tree.h"

enum {
    BLOCK = 1 << 18, /* bytes, with the head */
    HEAD = 16,
    SHORT = 16, /* bytes of a key without its text */
    BATCH = 256 /* keys at a time */
};
_Static_assert(BLOCK > HEAD + 4 + SEEN_KEY_TEXT,
               "a block has room for a text");

/* The head comes first, also in memory. */
struct block {
    unsigned char *bytes; /* or NULL: it is in the file, at `at` */
    uint64_t at;
    uint32_t used; /* with the head */
};

struct lane {
    unsigned char *bytes; /* of the block that is being filled */
    uint32_t used;
    uint64_t count, offered;
    struct distinct *distinct; /* [0]: keys; then segments by layer */
};

struct seen_key_log {
    struct seen_filter *like; /* for the secret; or NULL: not keyed */
    char *folder;
    uint64_t memory, held; /* bytes that may be, and are, in memory */
    bool texts;
    unsigned layers, lanes;
    struct lane *lane;

    pthread_mutex_t lock; /* for all below, while lanes are at work */
    struct block *block;
    size_t blocks, room;
    int fd; /* -1: there is no file yet */
    uint64_t end;
    bool saved; /* the file has a name */
};

/* --- to begin with --- */

/* L of "routed:16/layered:L", or 0. */
static unsigned layers_of(const char *kind)
{
    const char *at = seen_kind_which(kind, SEEN_HAS_LAYERS);
    char arg[16];
    long n;

    if (!at || !seen_kind_arg(at, 0, arg, sizeof arg))
        return 0;
    n = strtol(arg, NULL, 10);
    return n > 0 && n <= SEEN_LAYERS ? (unsigned)n : 0;
}

/* A filter that hashes keys under the secret. */
static enum seen_code keyed_new(struct seen_filter **out,
                                const unsigned char *secret,
                                struct seen_error *why)
{
    struct seen_plan plan = { .kind = "bloom", .capacity = 1, .rate = 0.5 };

    return seen_filter_new_keyed(out, &plan, secret, why);
}

static bool lanes_new(struct seen_key_log *log)
{
    log->lane = calloc(log->lanes, sizeof *log->lane);
    for (unsigned i = 0; log->lane && i < log->lanes; i++) {
        log->lane[i].distinct = calloc(1 + log->layers,
                                       sizeof *log->lane[i].distinct);
        if (!log->lane[i].distinct)
            return false;
    }
    return log->lane;
}

enum seen_code seen_key_log_new(struct seen_key_log **out,
                                const struct seen_plan *plan,
                                const unsigned char *secret, unsigned lanes,
                                const struct seen_key_log_place *place,
                                struct seen_error *why)
{
    struct seen_key_log *log;
    enum seen_code code = SEEN_OK;

    *out = NULL;
    if (!lanes || (lanes > 1 && seen_kind_can(plan->kind, SEEN_NEEDS_ORDER)))
        return seen_fail(why, SEEN_RANGE, 0, "%s is built in one lane, not %u",
                         plan->kind, lanes);
    log = calloc(1, sizeof *log);
    if (!log)
        return no_memory_for(why, "a log of keys");
    pthread_mutex_init(&log->lock, NULL);
    log->fd = -1;
    log->lanes = lanes;
    log->memory = place->memory;
    log->layers = layers_of(plan->kind);
    log->texts = seen_kind_can(plan->kind, SEEN_READS_TEXT);
    if (place->folder)
        log->folder = strdup(place->folder);
    if (!lanes_new(log) || (place->folder && !log->folder))
        code = no_memory_for(why, "a log of keys");
    if (code == SEEN_OK && secret)
        code = keyed_new(&log->like, secret, why);
    if (code != SEEN_OK) {
        seen_key_log_free(log);
        return code;
    }
    *out = log;
    return SEEN_OK;
}

void seen_key_log_free(struct seen_key_log *log)
{
    if (!log)
        return;
    for (unsigned i = 0; log->lane && i < log->lanes; i++) {
        free(log->lane[i].bytes);
        free(log->lane[i].distinct);
    }
    for (size_t i = 0; i < log->blocks; i++)
        free(log->block[i].bytes);
    if (log->fd >= 0)
        close(log->fd);
    seen_filter_free(log->like);
    pthread_mutex_destroy(&log->lock);
    free(log->folder);
    free(log->block);
    free(log->lane);
    free(log);
}

/* --- blocks --- */

static enum seen_code open_file(struct seen_key_log *log,
                                struct seen_error *why)
{
    if (log->fd >= 0)
        return SEEN_OK;
    if (!log->folder)
        return seen_fail(why, SEEN_FULL, 0,
                         "there is no memory for more keys");
    log->fd = disk_temporary(log->folder);
    if (log->fd < 0)
        return seen_fail(why, SEEN_IO, 0,
                         "no temporary file for keys can be made in %.100s",
                         log->folder);
    return SEEN_OK;
}

/* The lock is held: one more place in the list. */
static enum seen_code list_more(struct seen_key_log *log,
                                struct seen_error *why)
{
    size_t room = log->room ? 2 * log->room : 64;
    struct block *more;

    if (log->blocks < log->room)
        return SEEN_OK;
    more = realloc(log->block, room * sizeof *more);
    if (!more)
        return no_memory_for(why, "a log of keys");
    log->block = more;
    log->room = room;
    return SEEN_OK;
}

static uint64_t hash_of(const unsigned char *bytes, uint32_t used)
{
    struct seen_key key;

    seen_key_hash(&key, (const char *)bytes + HEAD, used - HEAD);
    return key.lo;
}

static enum seen_code write_block(const struct seen_key_log *log,
                                  unsigned char *bytes, uint32_t used,
                                  uint64_t at, struct seen_error *why)
{
    struct seen_error reason;

    little_put_64(bytes, used - HEAD);
    little_put_64(bytes + 8, hash_of(bytes, used));
    if (disk_write(log->fd, bytes, used, at, &reason) == SEEN_OK)
        return SEEN_OK;
    return seen_fail(why, SEEN_IO, 0,
                     "the temporary file for keys cannot be written");
}

/* Put the block of a lane into the list, and into the file if memory is full
   or if it must. */
static enum seen_code retire(struct seen_key_log *log, struct lane *lane,
                             bool must, struct seen_error *why)
{
    struct block b = { .used = lane->used };
    enum seen_code code;
    bool stays;

    pthread_mutex_lock(&log->lock);
    stays = !must && log->held + BLOCK <= log->memory;
    code = list_more(log, why);
    if (code == SEEN_OK && !stays)
        code = open_file(log, why);
    if (code == SEEN_OK && stays) {
        b.bytes = lane->bytes;
        lane->bytes = NULL;
        log->held += BLOCK;
    } else if (code == SEEN_OK) {
        b.at = log->end;
        log->end += b.used;
    }
    if (code == SEEN_OK)
        log->block[log->blocks++] = b;
    pthread_mutex_unlock(&log->lock);
    if (code == SEEN_OK && !stays)
        code = write_block(log, lane->bytes, b.used, b.at, why);
    lane->used = HEAD;
    return code;
}

/* Make room for `need` bytes in the block of a lane. */
static enum seen_code make_room(struct seen_key_log *log, struct lane *lane,
                                size_t need, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (lane->bytes && lane->used + need > BLOCK)
        code = retire(log, lane, false, why);
    if (code == SEEN_OK && !lane->bytes) {
        lane->bytes = malloc(BLOCK);
        lane->used = HEAD;
        if (!lane->bytes)
            code = no_memory_for(why, "a log of keys");
    }
    return code;
}

/* --- keys --- */

/* Count the segments of a URL, each for the layer that it goes to. */
static void count_segments(const struct seen_key_log *log, struct lane *lane,
                           const struct seen_key *of)
{
    size_t end[SEEN_LAYERS], from = 0;
    unsigned n = seen_url_segments(of->text, of->len, end, log->layers);
    struct seen_key key;

    for (unsigned i = 0; i < n; i++) {
        seen_key_hash(&key, of->text + from, end[i] - from);
        distinct_add(&lane->distinct[1 + i], key.hi);
        from = end[i] + 1;
    }
}

static void count_key(const struct seen_key_log *log, struct lane *lane,
                      const struct seen_key *key)
{
    distinct_add(lane->distinct, key->hi);
    if (log->layers)
        count_segments(log, lane, key);
}

static enum seen_code add_texts(struct seen_key_log *log, struct lane *lane,
                                const struct seen_key *key, size_t n,
                                struct seen_error *why)
{
    for (size_t i = 0; i < n; i++) {
        enum seen_code code;

        if (!key[i].text || key[i].len > SEEN_KEY_TEXT)
            return seen_fail(why, SEEN_RANGE, i,
                             "the text of a key is needed");
        code = make_room(log, lane, 4 + key[i].len, why);
        if (code != SEEN_OK)
            return code;
        count_key(log, lane, &key[i]);
        little_put_32(lane->bytes + lane->used, (uint32_t)key[i].len);
        memcpy(lane->bytes + lane->used + 4, key[i].text, key[i].len);
        lane->used += 4 + (uint32_t)key[i].len;
        lane->count++;
    }
    return SEEN_OK;
}

static enum seen_code add_short(struct seen_key_log *log, struct lane *lane,
                                const struct seen_key *key, size_t n,
                                struct seen_error *why)
{
    for (size_t done = 0, some; done < n; done += some) {
        enum seen_code code = make_room(log, lane, SHORT, why);
        unsigned char *to;

        if (code != SEEN_OK)
            return code;
        some = (BLOCK - lane->used) / SHORT;
        some = n - done < some ? n - done : some;
        to = lane->bytes + lane->used;
        for (size_t i = done; i < done + some; i++, to += SHORT) {
            little_put_64(to, key[i].lo);
            little_put_64(to + 8, key[i].hi);
            distinct_add(lane->distinct, key[i].hi);
        }
        lane->used += (uint32_t)(some * SHORT);
        lane->count += some;
    }
    return SEEN_OK;
}

static enum seen_code add_keyed(struct seen_key_log *log, struct lane *lane,
                                const struct seen_key *key, size_t n,
                                struct seen_error *why)
{
    struct seen_key keyed[BATCH];
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < n; i++)
        if (!key[i].text)
            return seen_fail(why, SEEN_RANGE, i,
                             "the text of a key is needed");
    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        filter_key(log->like, key + done, some, keyed);
        code = add_short(log, lane, keyed, some, why);
    }
    return code;
}

enum seen_code seen_key_log_add(struct seen_key_log *log, unsigned lane,
                                const struct seen_key *key, size_t n,
                                struct seen_error *why)
{
    struct lane *l = &log->lane[lane];

    l->offered += filter_build_offered(key, n);
    if (log->texts)
        return add_texts(log, l, key, n, why);
    return (log->like ? add_keyed : add_short)(log, l, key, n, why);
}

uint64_t seen_key_log_count(const struct seen_key_log *log)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < log->lanes; i++)
        sum += log->lane[i].count;
    return sum;
}

static uint64_t offered(const struct seen_key_log *log)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < log->lanes; i++)
        sum += log->lane[i].offered;
    return sum;
}

/* The counts of all lanes together: number 0 is of keys. */
static void count_all(const struct seen_key_log *log, unsigned number,
                      struct distinct *sum)
{
    memset(sum, 0, sizeof *sum);
    for (unsigned i = 0; i < log->lanes; i++)
        distinct_merge(sum, &log->lane[i].distinct[number]);
}

double seen_key_log_distinct(const struct seen_key_log *log)
{
    struct distinct sum;

    count_all(log, 0, &sum);
    return distinct_estimate(&sum);
}

void seen_key_log_size(const struct seen_key_log *log, struct seen_plan *plan)
{
    struct distinct sum;

    count_all(log, 0, &sum);
    plan->capacity = distinct_capacity(&sum);
    for (unsigned i = 0; i < log->layers; i++) {
        count_all(log, 1 + i, &sum);
        plan->segments[i] = distinct_capacity(&sum);
    }
}

/* --- a filter of them --- */

/* What one thread adds to a builder. */
struct filler {
    const struct seen_key_log *log;
    struct seen_build *b;
    unsigned lane;
    size_t *next; /* block, of all fillers */
    unsigned char *spare;
    enum seen_code code;
    struct seen_error why;
};

/* Take keys out of a block; *at is moved behind them. */
static size_t take_keys(const struct seen_key_log *log,
                        const unsigned char *bytes, uint32_t used,
                        uint32_t *at, struct seen_key *key)
{
    size_t n = 0;

    for (; n < BATCH && *at < used; n++) {
        const unsigned char *from = bytes + *at;

        if (log->texts) {
            uint32_t len = little_32(from);

            seen_key_hash(&key[n], (const char *)from + 4, len);
            *at += 4 + len;
        } else {
            key[n] = (struct seen_key){ .lo = little_64(from),
                                        .hi = little_64(from + 8) };
            *at += SHORT;
        }
    }
    return n;
}

static enum seen_code add_block(const struct filler *f,
                                const unsigned char *bytes, uint32_t used,
                                struct seen_error *why)
{
    struct seen_key key[BATCH];
    enum seen_code code = SEEN_OK;
    uint32_t at = HEAD;
    size_t n;

    while (code == SEEN_OK &&
           (n = take_keys(f->log, bytes, used, &at, key)) > 0)
        code = (f->log->texts ? seen_build_add : filter_build_hashed)(
            f->b, f->lane, key, n, why);
    return code;
}

/* The bytes of a block, read into `spare` if they are in the file. */
static const unsigned char *bytes_of(const struct seen_key_log *log,
                                     const struct block *b,
                                     unsigned char *spare,
                                     struct seen_error *why)
{
    if (b->bytes)
        return b->bytes;
    if (disk_read(log->fd, spare, b->used, b->at, why) != SEEN_OK) {
        seen_fail(why, SEEN_IO, 0,
                  "the temporary file for keys cannot be read");
        return NULL;
    }
    return spare;
}

static void fill(void *share)
{
    struct filler *f = share;
    const struct seen_key_log *log = f->log;
    size_t i;

    while (f->code == SEEN_OK &&
           (i = __atomic_fetch_add(f->next, 1, __ATOMIC_RELAXED)) <
               log->blocks) {
        const unsigned char *bytes = bytes_of(log, &log->block[i], f->spare,
                                              &f->why);

        f->code = bytes ? add_block(f, bytes, log->block[i].used, &f->why)
                        : SEEN_IO;
    }
    if (f->code == SEEN_OK && log->lane[f->lane].bytes)
        f->code = add_block(f, log->lane[f->lane].bytes,
                            log->lane[f->lane].used, &f->why);
    if (f->code == SEEN_OK)
        f->code = seen_build_flush(f->b, f->lane, &f->why);
}

/* Fill the builder in `n` threads; lane i is that of filler i. */
static enum seen_code fill_all(const struct seen_key_log *log,
                               struct seen_build *b, struct seen_error *why)
{
    struct filler *filler = calloc(log->lanes, sizeof *filler);
    enum seen_code code = filler ? SEEN_OK : SEEN_NOMEM;
    size_t next = 0;

    for (unsigned i = 0; filler && i < log->lanes; i++) {
        filler[i] = (struct filler){
            log, b, i, &next, NULL, SEEN_OK, { .code = SEEN_OK }
        };
        filler[i].spare = log->fd < 0 ? NULL : malloc(BLOCK);
        if (log->fd >= 0 && !filler[i].spare)
            code = SEEN_NOMEM;
    }
    if (code != SEEN_OK)
        no_memory_for(why, "a log of keys");
    for (unsigned i = 0, n; i < log->lanes && code == SEEN_OK; i += n) {
        n = log->lanes - i < MOST_THREADS ? log->lanes - i : MOST_THREADS;
        crew_run(fill, filler + i, sizeof *filler, n);
    }
    for (unsigned i = 0; filler && i < log->lanes; i++) {
        if (code == SEEN_OK && filler[i].code != SEEN_OK) {
            code = filler[i].code;
            if (why)
                *why = filler[i].why;
        }
        free(filler[i].spare);
    }
    free(filler);
    return code;
}

enum seen_code seen_key_log_build(struct seen_key_log *log,
                                  const struct seen_plan *plan,
                                  struct seen_filter **out,
                                  struct seen_error *why)
{
    const unsigned char *secret = log->like ? filter_secret(log->like) : NULL;
    struct seen_build *b;
    enum seen_code code;

    *out = NULL;
    code = seen_build_new_keyed(&b, plan, secret, log->lanes, why);
    if (code != SEEN_OK)
        return code;
    code = fill_all(log, b, why);
    if (code != SEEN_OK) {
        seen_build_free(b);
        return code;
    }
    code = seen_build_finish(b, out, why);
    if (code == SEEN_OK)
        (*out)->offered = offered(log);
    return code;
}

/* --- a file that outlives the process --- */

/* From the temporary file to one with a name. */
static enum seen_code move_file(struct seen_key_log *log, const char *path,
                                struct seen_error *why)
{
    int from = log->fd, to;
    unsigned char *spare = NULL;
    uint64_t end = 0;
    enum seen_code code = disk_begin(path, &to, why);

    if (code == SEEN_OK && from >= 0 && !(spare = malloc(BLOCK)))
        code = no_memory_for(why, "a log of keys");
    for (size_t i = 0; i < log->blocks && code == SEEN_OK; i++) {
        struct block *b = &log->block[i];

        if (b->bytes)
            continue;
        code = disk_read(from, spare, b->used, b->at, why);
        if (code == SEEN_OK)
            code = disk_write(to, spare, b->used, end, why);
        if (code == SEEN_OK) {
            b->at = end;
            end += b->used;
        }
    }
    free(spare);
    if (code != SEEN_OK) {
        if (to >= 0)
            close(to);
        return code;
    }
    if (from >= 0)
        close(from);
    log->fd = to;
    log->end = end;
    log->saved = true;
    return SEEN_OK;
}

/* From memory to the file. */
static enum seen_code move_blocks(struct seen_key_log *log,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < log->blocks && code == SEEN_OK; i++) {
        struct block *b = &log->block[i];

        if (!b->bytes)
            continue;
        code = write_block(log, b->bytes, b->used, log->end, why);
        if (code != SEEN_OK)
            break;
        free(b->bytes);
        b->bytes = NULL;
        b->at = log->end;
        log->end += b->used;
        log->held -= BLOCK;
    }
    for (unsigned i = 0; i < log->lanes && code == SEEN_OK; i++)
        if (log->lane[i].bytes && log->lane[i].used > HEAD)
            code = retire(log, &log->lane[i], true, why);
    return code;
}

enum seen_code seen_key_log_save(struct seen_key_log *log, const char *path,
                                 struct seen_key_log_mark *mark,
                                 struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!log->saved)
        code = move_file(log, path, why);
    if (code == SEEN_OK)
        code = move_blocks(log, why);
    if (code == SEEN_OK)
        code = disk_flush(log->fd, why);
    if (code == SEEN_OK)
        *mark = (struct seen_key_log_mark){ log->end, offered(log) };
    return code;
}

/* Does a block end where its last key does? Count its keys. */
static bool recount(struct seen_key_log *log, const unsigned char *bytes,
                    uint32_t used)
{
    struct lane *lane = &log->lane[0];
    uint32_t at = HEAD;

    while (at < used) {
        struct seen_key key;

        if (used - at < (log->texts ? 4 : SHORT))
            return false;
        if (log->texts) {
            uint32_t len = little_32(bytes + at);

            if (len > used - at - 4)
                return false;
            seen_key_hash(&key, (const char *)bytes + at + 4, len);
            at += 4 + len;
        } else {
            key.hi = little_64(bytes + at + 8);
            at += SHORT;
        }
        count_key(log, lane, &key);
        lane->count++;
    }
    return true;
}

/* Read the next block of the file, check it and list it. */
static enum seen_code restore_block(struct seen_key_log *log, uint64_t bytes,
                                    unsigned char *spare,
                                    struct seen_error *why)
{
    struct block b = { .at = log->end };
    enum seen_code code = disk_read(log->fd, spare, HEAD, b.at, why);
    uint64_t len = code == SEEN_OK ? little_64(spare) : 0;

    if (code != SEEN_OK)
        return code;
    if (!len || len > BLOCK - HEAD || len + HEAD > bytes - b.at)
        return seen_fail(why, SEEN_CORRUPT, b.at, "keys were damaged");
    b.used = HEAD + (uint32_t)len;
    code = disk_read(log->fd, spare + HEAD, len, b.at + HEAD, why);
    if (code == SEEN_OK && (little_64(spare + 8) != hash_of(spare, b.used) ||
                            !recount(log, spare, b.used)))
        code = seen_fail(why, SEEN_CORRUPT, b.at, "keys were damaged");
    if (code == SEEN_OK)
        code = list_more(log, why);
    if (code == SEEN_OK) {
        log->block[log->blocks++] = b;
        log->end += b.used;
    }
    return code;
}

enum seen_code seen_key_log_restore(struct seen_key_log *log, const char *path,
                                    const struct seen_key_log_mark *mark,
                                    struct seen_error *why)
{
    unsigned char *spare = malloc(BLOCK);
    enum seen_code code = SEEN_OK;

    if (!spare)
        return no_memory_for(why, "a log of keys");
    log->fd = disk_open(path, O_RDWR | O_CLOEXEC, 0);
    log->saved = true;
    if (log->fd < 0)
        code = seen_fail(why, SEEN_IO, 0, "the keys so far cannot be read");
    while (code == SEEN_OK && log->end < mark->bytes)
        code = restore_block(log, mark->bytes, spare, why);
    if (code == SEEN_OK && ftruncate(log->fd, (off_t)mark->bytes) < 0)
        code = seen_fail(why, SEEN_IO, 0, "the keys so far cannot be kept");
    log->lane[0].offered = mark->offered;
    free(spare);
    return code;
}
