/*
 * grow.c - a larger filter in place of a full one.
 *
 * A filter that keeps its keys (keys.h) is full at its capacity, as any other.
 * Shortly before, at 31/32 of the cells that may be set, a filter for more keys
 * is begun in a file beside it:
 *
 *     keys so far up to a million    twice as many
 *     above                          1.5 times as many
 *
 * So it takes at most 2 and 1.5 times the bits of one that was planned for
 * exactly its keys. In the long run each key is added about three times, once
 * when it comes and then from the log, for some 10 ns.
 *
 *     begin     crawl.seen.grow, zeros
 *     fill      keys of the log up to the last checkpoint
 *     flush     cells, in pieces  |  heads as those of the file  |
 *     fill      keys of the log that came since
 *     swap      the last few  |  renamed  |
 *
 * No add waits for this as a whole. Each pays for some of it, so many that it
 * is done before the filter is full: 1/32 of the cells is 4 % of the keys, and
 * a log is seldom five times as long as it need be (keys.c). While it lasts,
 * the file and the journal are what they always are, and a killed writer leaves
 * a file beside it, which the next one removes.
 *
 * Why is the swap safe? The new file has the state `changing`, and the identity
 * and `applied` of the old one. So journal and log belong to it as they did to
 * the old one. Its cells have all keys up to change `applied`, on the disk; they
 * are why there is a flush, and if a checkpoint comes between that and the
 * swap, there is another one. The journal has all changes after that; whether
 * their bits are on the disk does not matter. So before the rename and after it
 * file and journal are complete, and nothing else has to change with it.
 *
 * What fails (no memory, a full disk) costs what was filled. The filter goes on
 * past its capacity, with a rising rate, says so, and tries again after AGAIN
 * more changes, or a sixteenth of those in the log if that is more. But if the
 * log turns out to be damaged, it is not whole any more, and the filter is
 * full, as with any other log that is not; its slot says so to later writers.
 * The limit comes back while no other thread adds, like an exchange.
 *
 * In memory the new filter takes the place of the old one inside the caller's
 * struct seen_filter, at the end of seen_filter_add(). Its caller has the
 * filter for itself then, unless several threads may add: others may be
 * reading cells that are about to vanish. So such a filter is exchanged only
 * when its owner says that nobody else uses it, by seen_store_grow(), and when
 * it is closed.
 *
 * A writer that adds few keys and closes the file would fill a filter for
 * nothing. So it begins after a 64th of the capacity, or when the filter is
 * full. A full one grows before it is closed.
 *
 * Readers of the file learn from seen_store_refresh() that it was replaced, as
 * ever (SEEN_MISMATCH).
 *
 * Locks: `growing` is held by the thread that fills; it counts as adding, so
 * that no checkpoint comes meanwhile. What others look at is changed under the
 * mutex, too.
 */
#include "writer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../disk/disk.h"
#include "../filter/tree.h"
#include "grow.h"
#include "sieve.h"

enum {
    WHOLE = 32,
    SMALL = 1000000,
    AGAIN = 1 << 16,
    SOME = 2048, /* keys at a time */
    FEW = STORE_GROW_SWAP - STORE_KEYS_TAIL,
    PIECE = 1 << 20,  /* bytes that are flushed at a time; */
    PER_KEY = 64      /* bytes that cost as much as a key */
};

struct store_growth {
    struct seen_filter *next; /* mapped */
    struct store_mapping map;
    int fd;
    struct store_head head;
    char *text;
    void *spare;      /* for exchange() */
    struct seen_key key[SOME];
    uint64_t at, sum; /* keys of the log that it has */
    uint64_t flushed; /* bytes of the file */
    bool safe;        /* it has all keys up to head.applied, on the disk */
    bool due;         /* and almost all others */
    bool rough;       /* nobody knew how many there would be */
};

/* --- when --------------------------------------------------------------- */

/*
 * How many keys can surely be added before a leaf has so many 32nds of the
 * cells that its capacity sets on average? (Its own limit may be above that,
 * where the rate is above the planned one.)
 */
static uint64_t keys_until(const struct seen_filter *f, unsigned share)
{
    struct seen_plan plan = f->plan;
    uint64_t least = UINT64_MAX;

    plan.tight = true;
    plan.over = false;
    if (!f->kind->combines) {
        const uint64_t limit = seen_plan_limit(&plan, seen_filter_cells(f));
        const uint64_t end = limit - limit * (WHOLE - share) / WHOLE;
        const uint64_t set = seen_filter_cells_set(f);

        least = set < end ? 1 : 0; /* of a kind that does not say its probes */
        if (least && plan.probes)
            least += (end - set) / plan.probes;
    }
    for (unsigned i = 0; i < f->parts && least; i++) {
        const uint64_t keys = keys_until(f->part[i], share);

        least = keys < least ? keys : least;
    }
    return least;
}

/* Without its secret nobody can make a keyed filter. */
static bool able(const struct store_writer *w)
{
    return w->keys.kept && w->keys.whole && !w->condemned && !w->failed &&
           w->begun && w->head.format > 1 &&
           (!w->f->plan.keyed || filter_secret(w->f));
}

bool store_grow_full(struct store_writer *w)
{
    return able(w) && w->journal.last >= w->try_at && !keys_until(w->f, WHOLE);
}

bool store_grow_wanted(struct store_writer *w)
{
    uint64_t keys;

    if (!able(w) || w->journal.last < w->try_at)
        return false;
    if (w->growth || w->journal.last < w->look_at)
        return w->growth;
    keys = keys_until(w->f, WHOLE - 1);
    if (!keys && w->journal.last < w->settled) {
        keys = keys_until(w->f, WHOLE);
        if (w->settled - w->journal.last < keys)
            keys = w->settled - w->journal.last;
    }
    w->look_at = w->journal.last + keys;
    return !keys;
}

bool store_grow_due(const struct store_writer *w)
{
    return w->condemned || (w->growth && w->growth->due);
}

/* --- the file beside it --------------------------------------------------- */

static void set_growth(struct store_writer *w, struct store_growth *g)
{
    pthread_mutex_lock(&w->mutex);
    w->growth = g;
    pthread_mutex_unlock(&w->mutex);
}

static void growth_free(struct store_growth *g)
{
    if (!g)
        return;
    if (g->next)
        store_cells_unmap(g->next, &g->map);
    seen_filter_free(g->next);
    if (g->fd >= 0)
        close(g->fd);
    free(g->text);
    free(g->spare);
    free(g);
}

void store_grow_cancel(struct store_writer *w)
{
    struct store_growth *g = w->growth;
    int system = errno;

    if (!g)
        return;
    set_growth(w, NULL);
    unlink(w->paths.grow);
    growth_free(g);
    errno = system;
}

/* A number of a change: the length of the journal falls with each checkpoint. */
static uint64_t next_try(const struct store_writer *w)
{
    const uint64_t some = w->keys.next.count / 16;

    return w->journal.last + (some > AGAIN ? some : AGAIN);
}

/* The filter goes on without it: `code`. */
static enum seen_code give_up(struct store_writer *w, enum seen_code code,
                              const struct seen_error *reason,
                              struct seen_error *why)
{
    store_grow_cancel(w);
    pthread_mutex_lock(&w->mutex);
    w->keys.lost = *reason;
    w->try_at = next_try(w);
    w->condemned = code == SEEN_CORRUPT;
    pthread_mutex_unlock(&w->mutex);
    if (why)
        *why = *reason;
    return code;
}

/* How many keys a filter is planned for that has n. */
static uint64_t room_for(double n)
{
    return (uint64_t)(n < SMALL ? 2 * n : 1.5 * n);
}

/* The plan of the next filter. Finding the number of probes takes
   milliseconds, so it has as many. */
static struct seen_plan plan_next(const struct store_writer *w, double n)
{
    struct seen_plan plan = w->f->plan;

    plan.capacity = room_for(fmax(n, 0.875 * (double)plan.capacity));
    plan.bits = 0;
    plan.multiplier = 0;
    return plan;
}

/* Write a file of zeros for such a filter. */
static enum seen_code write_zeros(struct store_growth *g,
                                  const struct store_writer *w,
                                  const struct seen_plan *plan,
                                  struct seen_error *why)
{
    struct seen_filter *f = NULL;
    enum seen_code code = filter_make(&f, plan, filter_secret(w->f), why);

    if (code != SEEN_OK)
        return code;
    f->meta = w->f->meta; /* for its text */
    code = store_beside(&w->paths, w->paths.grow, &g->fd, why);
    if (code == SEEN_OK)
        code = store_file_begin(g->fd, f, &g->head, why);
    f->meta = NULL;
    seen_filter_free(f);
    return code;
}

static enum seen_code map_zeros(struct store_growth *g,
                                const struct store_writer *w,
                                struct seen_error *why)
{
    const struct seen_access access = { .secret = filter_secret(w->f) };
    struct store_front front;
    enum seen_code code = store_front_read(&front, g->fd, why);

    if (code != SEEN_OK)
        return code;
    code = store_plan_read(&g->next, &front, &access, why);
    if (code == SEEN_OK)
        code = store_cells_map(g->next, g->fd, &front, PROT_READ | PROT_WRITE,
                               MAP_SHARED, &g->map, why);
    if (code == SEEN_OK)
        filter_lift(g->next);
    g->text = strdup(front.text);
    g->spare = malloc(w->f->kind->state);
    if (code == SEEN_OK && (!g->text || !g->spare))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a text");
    store_front_clear(&front);
    return code;
}

static enum seen_code begin(struct store_writer *w, double n, bool rough,
                            struct seen_error *why)
{
    const struct seen_plan plan = plan_next(w, n);
    struct store_growth *g = calloc(1, sizeof *g);
    enum seen_code code;

    if (!g)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a filter");
    g->fd = -1;
    g->rough = rough;
    set_growth(w, g);
    code = write_zeros(g, w, &plan, why);
    return code == SEEN_OK ? map_zeros(g, w, why) : code;
}

/*
 * A batch of many keys can leave so few clear cells that their number says
 * little about that of the keys. Then the first guess is all that were ever
 * added, and the filter that comes of it tells how many differ.
 */
static enum seen_code begin_first(struct store_writer *w,
                                  struct seen_error *why)
{
    double n = seen_filter_entries(w->f), most;
    bool rough = !(n < 4 * (double)w->f->plan.capacity);

    pthread_mutex_lock(&w->mutex); /* others go on adding */
    most = (double)w->keys.next.count +
           (double)(w->journal.last - w->keys.noted);
    pthread_mutex_unlock(&w->mutex);
    return begin(w, rough || n > most ? most : n, rough, why);
}

static enum seen_code begin_again(struct store_writer *w,
                                  struct seen_error *why)
{
    const double n = seen_filter_entries(w->growth->next);

    w->growth->rough = false;
    if (1.1 * (double)plan_next(w, n).capacity >=
        (double)w->growth->next->plan.capacity)
        return SEEN_OK;
    store_grow_cancel(w);
    return begin(w, n, false, why);
}

/* --- filling it ----------------------------------------------------------- */

static enum seen_code damaged(struct seen_error *why)
{
    return seen_fail(why, SEEN_CORRUPT, 0, "its log of keys is damaged");
}

/* Add up to n keys, but none from number `end` on. */
static enum seen_code fill(struct store_writer *w, uint64_t n, uint64_t end,
                           struct seen_error *why)
{
    struct store_growth *g = w->growth;
    enum seen_code code;

    n = n < SOME ? n : SOME;
    if (g->at + n > end)
        n = end > g->at ? end - g->at : 0;
    code = store_keys_read(&w->keys, g->at, g->key, (size_t)n, &g->sum, why);
    if (code == SEEN_CORRUPT)
        return damaged(why);
    if (code == SEEN_OK)
        code = g->next->kind->add(g->next, g->key, (size_t)n, NULL, why);
    if (code == SEEN_OK)
        g->at += n;
    return store_cells_kept(&g->map, code, why);
}

static enum seen_code flush(struct store_writer *w, uint64_t *cost,
                            struct seen_error *why)
{
    struct store_growth *g = w->growth;
    const uint64_t left = g->head.length - g->flushed;
    const uint64_t some = left < PIECE ? left : PIECE;
    enum seen_code code;

    *cost = some / PER_KEY;
    if (some) {
        code = disk_flush_part(g->fd, g->flushed, some, why);
        g->flushed += some;
        return code;
    }
    g->head.identity = w->head.identity;
    g->head.applied = w->head.applied;
    g->head.offered = w->head.offered;
    code = store_head_lay(g->fd, &g->head, why);
    if (code == SEEN_OK)
        code = disk_flush(g->fd, why);
    g->safe = code == SEEN_OK;
    return store_cells_kept(&g->map, code, why);
}

/* One step, which costs as much as *cost of `pay` keys. `written` keys are in
   the file of the log. */
static enum seen_code step(struct store_writer *w, uint64_t pay,
                           uint64_t written, uint64_t *cost,
                           struct seen_error *why)
{
    struct store_growth *g = w->growth;
    const uint64_t had = g->at;
    enum seen_code code = SEEN_OK;

    if (g->safe && g->head.applied != w->head.applied) {
        g->safe = false; /* there was a checkpoint */
        g->flushed = 0;
    }
    if (!g->safe && g->at >= w->keys.now.count)
        return flush(w, cost, why);
    code = fill(w, pay, g->safe ? written : w->keys.now.count, why);
    *cost = g->at - had;
    if (code == SEEN_OK && g->rough && g->safe && g->at >= written)
        code = begin_again(w, why);
    return code;
}

/* Has it all but a few of the keys that are written? */
static bool filled(const struct store_growth *g, const struct store_writer *w,
                   uint64_t written, uint64_t few)
{
    return g->safe && g->head.applied == w->head.applied && !g->rough &&
           g->at + few >= written;
}

/* The last keys of the log are in memory. Only to count all they must not be. */
static enum seen_code written_so_far(struct store_writer *w, uint64_t *n,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    pthread_mutex_lock(&w->mutex);
    if (w->growth->rough)
        code = store_keys_write(&w->keys, w->f, &w->journal, why);
    *n = store_keys_written(&w->keys);
    pthread_mutex_unlock(&w->mutex);
    return code;
}

static enum seen_code work(struct store_writer *w, uint64_t pay, uint64_t few,
                           struct seen_error *why)
{
    enum seen_code code = w->growth ? SEEN_OK : begin_first(w, why);
    uint64_t written = 0;

    if (code == SEEN_OK)
        code = written_so_far(w, &written, why);
    while (code == SEEN_OK && pay && !filled(w->growth, w, written, few)) {
        uint64_t cost = 0;

        code = step(w, pay, written, &cost, why);
        pay -= cost < pay ? cost : pay;
    }
    return code;
}

static void work_slice(struct store_writer *w, uint64_t pay)
{
    struct seen_error reason;
    enum seen_code code;

    store_sieve_cancel(w);
    code = work(w, pay, FEW, &reason);
    if (code != SEEN_OK) {
        give_up(w, code, &reason, NULL);
        return;
    }
    pthread_mutex_lock(&w->mutex);
    w->growth->due = filled(w->growth, w, store_keys_written(&w->keys), FEW);
    pthread_mutex_unlock(&w->mutex);
}

void store_grow_work(struct store_writer *w, size_t n)
{
    const uint64_t pay = STORE_GROW_LEAST + STORE_GROW_PER_KEY * (uint64_t)n;
    bool wanted;

    if (pthread_mutex_trylock(&w->growing))
        return; /* another thread works on it */
    pthread_mutex_lock(&w->mutex);
    wanted = store_grow_wanted(w);
    pthread_mutex_unlock(&w->mutex);
    if (wanted)
        work_slice(w, pay);
    else if (store_sieve_wanted(w))
        store_sieve_work(w, pay);
    pthread_mutex_unlock(&w->growing);
}

/* --- in place of the filter ----------------------------------------------- */

/* Exchange what two filters of one kind are; storage and metadata stay. */
static void exchange(struct seen_filter *f, struct seen_filter *g, void *spare)
{
    const size_t size = f->kind->state;
    struct seen_meta *meta = f->meta;

    memcpy(spare, f, size);
    memcpy(f, g, size);
    memcpy(g, spare, size);
    explicit_bzero(spare, size); /* it has a secret */
    g->meta = f->meta;
    f->meta = meta;
    f->storage = g->storage;
    g->storage = NULL;
    f->plan.keys = g->plan.keys;
    f->offered = g->offered;
    f->last = g->last;
    f->applied = g->applied;
}

/* The file has been replaced: so is the filter. */
static void take_next(struct store_writer *w)
{
    struct store_growth *g = w->growth;
    struct store_mapping map = w->map;
    int fd = w->fd;

    pthread_mutex_lock(&w->mutex);
    w->fd = g->fd;
    w->head = g->head;
    w->next = -1;
    w->growth = NULL;
    pthread_mutex_unlock(&w->mutex);
    exchange(w->f, g->next, g->spare);
    w->map = g->map;
    w->storage.lost = store_cells_lost(&w->map);
    store_blocks_free(w->blocks);
    w->blocks = NULL;
    free(w->text);
    w->text = g->text;
    w->sealable = false;
    w->try_at = w->look_at = w->settled = 0;
    w->keys.lost.code = SEEN_OK;
    store_writer_limit(w);
    g->text = NULL;
    g->map = map;
    g->fd = fd;
    growth_free(g);
}

static enum seen_code replace(struct store_writer *w, struct seen_error *why)
{
    enum seen_code code;

    pthread_mutex_lock(&w->mutex);
    w->next = w->growth->fd;
    pthread_mutex_unlock(&w->mutex);
    if (rename(w->paths.grow, w->paths.path)) {
        code = seen_fail(why, SEEN_IO, 0, "cannot be replaced");
        pthread_mutex_lock(&w->mutex);
        w->next = -1;
        pthread_mutex_unlock(&w->mutex);
        return code;
    }
    code = disk_flush_folder(w->paths.folder, why);
    if (code != SEEN_OK)
        w->failed = errno ? errno : EIO; /* a crash may leave either */
    take_next(w);
    return code;
}

/* Without a whole log the filter is full at its capacity. */
static enum seen_code condemn(struct store_writer *w, struct seen_error *why)
{
    w->condemned = false;
    store_keys_condemn(&w->keys);
    if (!w->over)
        filter_limit(w->f);
    return damaged(why);
}

enum seen_code store_grow_swap(struct store_writer *w, struct seen_error *why)
{
    struct seen_error reason;
    enum seen_code code = store_cells_kept(&w->map, SEEN_OK, &reason);

    if (w->condemned)
        return condemn(w, why);
    store_sieve_cancel(w);
    if (code == SEEN_OK)
        code = store_keys_write(&w->keys, w->f, &w->journal, &reason);
    if (code == SEEN_OK)
        code = work(w, UINT64_MAX, 0, &reason);
    if (code == SEEN_OK && w->growth->sum != w->keys.next.sum)
        code = damaged(&reason);
    if (code == SEEN_OK && w->f->stripes)
        code = seen_filter_allow_threads(w->growth->next, &reason);
    if (code == SEEN_OK)
        code = replace(w, &reason);
    if (code == SEEN_OK)
        return SEEN_OK;
    give_up(w, code, &reason, why);
    if (w->condemned)
        condemn(w, NULL);
    return code;
}
