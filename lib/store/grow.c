/*
 * grow.c - a larger filter in place of a full one.
 *
 * A filter that keeps its keys (keys.h) is full at its capacity, as any other.
 * Then a filter for more keys is built from all of them, and replaces the file:
 *
 *     capacity up to a million    twice as many keys
 *     above                       1.5 times as many
 *
 * So it takes at most 2 and 1.5 times the bits of one that was planned for
 * exactly its keys. All keys are read again whenever there are 2 or 1.5 times
 * as many: each is built about once or twice in the long run, for 12 ns.
 *
 * The new file is written beside the old one, with the state of the log that
 * names it, and then renamed: keys.c has the order of the writes. Everything
 * that can fail comes before the rename: the new file is mapped by its
 * descriptor, which stays that of the file. If something fails (no memory, a
 * full disk, a damaged log), the filter goes on past its capacity, with a
 * rising rate, and tries again after AGAIN more changes, or a sixteenth of those
 * in the log if that is more: each try reads all of them.
 *
 * In memory the new filter takes the place of the old one inside the caller's
 * struct seen_filter, at the end of seen_filter_add(). Its caller has the
 * filter for itself then, unless several threads may add: others may be
 * reading cells that are about to vanish. So such a filter grows only when its
 * owner says that nobody else uses it, by seen_store_grow(), and when it is
 * closed.
 *
 * Readers of the file learn from seen_store_refresh() that it was replaced, as
 * ever (SEEN_MISMATCH).
 */
#include "writer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <seen/build.h>

#include "../disk/disk.h"
#include "../filter/tree.h"
#include "grow.h"

enum { SMALL = 1000000, AGAIN = 1 << 16 };

/* Does it have the load that its capacity has on average? Its own limit may be
   above that, where the rate is above the planned one. */
static bool full(const struct seen_filter *f)
{
    struct seen_plan plan = f->plan;
    bool any = false;

    plan.tight = true;
    plan.over = false;
    if (!f->kind->combines)
        any = seen_filter_cells_set(f) >=
              seen_plan_limit(&plan, seen_filter_cells(f));
    for (unsigned i = 0; i < f->parts && !any; i++)
        any = full(f->part[i]);
    return any;
}

bool store_grow_wanted(struct store_writer *w)
{
    /* Without its secret nobody can make a keyed filter. */
    if (w->f->plan.keyed && !filter_secret(w->f))
        return false;
    return w->keys.kept && w->keys.whole && !w->failed && w->begun &&
           w->journal.last >= w->try_at && full(w->f);
}

/* --- the filter ------------------------------------------------------- */

/* How many keys a filter is planned for that has n. */
static uint64_t room_for(double n)
{
    return (uint64_t)(n < SMALL ? 2 * n : 1.5 * n);
}

/*
 * What gets the keys. The builder hashes keys of a keyed filter, and these are
 * hashed already; so they are added one batch after the other.
 */
struct store_larger {
    struct seen_build *build;
    struct seen_filter *f;
};

static enum seen_code give(void *whose, const struct seen_key *key, size_t n,
                           struct seen_error *why)
{
    struct store_larger *l = whose;

    return l->build ? seen_build_add(l->build, 0, key, n, why)
                    : l->f->kind->add(l->f, key, n, NULL, why);
}

/* Build a filter of all keys; SEEN_FULL if the capacity is too small. */
static enum seen_code build(struct store_writer *w, uint64_t capacity,
                            struct seen_filter **out, struct seen_error *why)
{
    const unsigned char *secret = filter_secret(w->f);
    struct store_larger l = { NULL, NULL };
    struct seen_plan plan = w->f->plan;
    enum seen_code code;

    *out = NULL;
    plan.capacity = capacity;
    plan.bits = 0; /* as many probes: finding them takes milliseconds */
    plan.multiplier = 0;
    if (plan.keyed) {
        code = filter_make(&l.f, &plan, secret, why);
        if (code == SEEN_OK)
            code = filter_fill(l.f, why);
    } else {
        code = seen_build_new(&l.build, &plan, 1, why);
    }
    if (code == SEEN_OK)
        code = store_keys_each(&w->keys, w->f, &w->journal, give, &l, why);
    if (code == SEEN_OK && l.build) {
        code = seen_build_finish(l.build, &l.f, why);
        l.build = NULL;
    }
    if (code == SEEN_OK)
        *out = l.f;
    else
        seen_filter_free(l.f);
    seen_build_free(l.build);
    return code;
}

/*
 * A batch of many keys can leave so few clear cells that their number says
 * little about that of the keys. Then the first guess is all that were ever
 * added, and the filter that comes of it tells how many differ.
 */
static enum seen_code build_larger(struct store_writer *w,
                                   struct seen_filter **out,
                                   struct seen_error *why)
{
    const double had = (double)w->f->plan.capacity;
    double n = seen_filter_entries(w->f);
    double most = (double)w->keys.now.count +
                  (double)(w->journal.last - w->keys.now.applied);
    bool rough = !(n < 4 * had);
    enum seen_code code;

    n = rough || n > most ? most : n;
    n = n < had ? had : n;
    code = build(w, room_for(n), out, why);
    if (code == SEEN_OK && rough) {
        n = seen_filter_entries(*out);
        n = n < had ? had : n;
        if (1.1 * (double)room_for(n) >= (double)(*out)->plan.capacity)
            return SEEN_OK;
        seen_filter_free(*out);
        code = build(w, room_for(n), out, why);
    }
    return code;
}

/* --- the file --------------------------------------------------------- */

struct store_growth {
    struct store_writer *w;
    struct seen_filter *built; /* in memory */
    struct seen_filter *next;  /* the same, mapped */
    struct store_mapping map;
    struct store_head head;
    char *text;
    void *spare; /* for exchange() */
};

static enum seen_code map_next(struct store_growth *g, int fd,
                               struct seen_error *why)
{
    const struct seen_access access = { .secret = filter_secret(g->w->f) };
    struct store_front front;
    enum seen_code code = store_front_read(&front, fd, why);

    if (code != SEEN_OK)
        return code;
    code = store_plan_read(&g->next, &front, &access, why);
    if (code == SEEN_OK)
        code = disk_fill_holes(fd, front.head.cells_at, front.head.cells_len,
                               why);
    if (code == SEEN_OK)
        code = store_cells_map(g->next, fd, &front, PROT_READ | PROT_WRITE,
                               MAP_SHARED, &g->map, why);
    if (code == SEEN_OK && g->w->f->stripes)
        code = seen_filter_allow_threads(g->next, why);
    g->text = strdup(front.text);
    g->spare = malloc(g->w->f->kind->state);
    if (code == SEEN_OK && (!g->text || !g->spare))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a text");
    store_front_clear(&front);
    return code;
}

static enum seen_code write_grown(void *whose, int fd, struct seen_error *why)
{
    struct store_growth *g = whose;
    struct store_writer *w = g->w;
    struct seen_meta *own = g->built->meta;
    enum seen_code code;

    g->built->offered = w->f->offered;
    g->built->meta = w->f->meta; /* for its text */
    code = store_file_write(fd, g->built, &g->head, why);
    g->built->meta = own;
    if (code == SEEN_OK)
        code = map_next(g, fd, why);
    if (code == SEEN_OK)
        code = store_keys_move(&w->keys, w->f, &w->journal, &g->head, why);
    if (code != SEEN_OK)
        return code;
    pthread_mutex_lock(&w->mutex);
    w->next = fd;
    pthread_mutex_unlock(&w->mutex);
    return SEEN_OK;
}

/* Exchange what two filters of one kind are; the storage stays. */
static void exchange(struct seen_filter *f, struct seen_filter *g, void *spare)
{
    const size_t size = f->kind->state;

    memcpy(spare, f, size);
    memcpy(f, g, size);
    memcpy(g, spare, size);
    explicit_bzero(spare, size); /* it has a secret */
    f->storage = g->storage;
    g->storage = NULL;
    f->last = g->last;
    f->applied = g->applied;
}

/* The file has been replaced: so is the filter. */
static void take_next(struct store_growth *g, int fd)
{
    struct store_writer *w = g->w;

    pthread_mutex_lock(&w->mutex);
    close(w->fd);
    w->fd = fd;
    w->head = g->head;
    pthread_mutex_unlock(&w->mutex);
    exchange(w->f, g->next, g->spare);
    store_cells_unmap(g->next, &w->map);
    w->map = g->map;
    memset(&g->map, 0, sizeof g->map);
    w->storage.lost = store_cells_lost(&w->map);
    store_blocks_free(w->blocks);
    w->blocks = NULL;
    filter_lift(w->f);
    free(w->text);
    w->text = g->text;
    g->text = NULL;
    w->sealable = true;
    store_keys_commit(&w->keys);
}

static enum seen_code replace(struct store_growth *g, struct seen_error *why)
{
    struct store_writer *w = g->w;
    int fd = -1;
    enum seen_code code = store_replace(&w->paths, w->paths.path, write_grown,
                                        g, &fd, why);

    if (fd >= 0)
        take_next(g, fd);
    pthread_mutex_lock(&w->mutex);
    w->next = -1;
    pthread_mutex_unlock(&w->mutex);
    if (fd >= 0 && code == SEEN_OK)
        store_checkpoint_sealed(w);
    else if (fd >= 0 && !w->failed)
        w->failed = errno ? errno : EIO;
    return code;
}

/* A number of a change: the length of the journal falls with each checkpoint. */
static uint64_t next_try(const struct store_writer *w)
{
    const uint64_t some = w->keys.now.count / 16;

    return w->journal.last + (some > AGAIN ? some : AGAIN);
}

enum seen_code store_grow(struct store_writer *w, struct seen_error *why)
{
    struct store_growth g = { .w = w, .head.applied = w->journal.last };
    struct seen_error reason;
    enum seen_code code = store_cells_kept(&w->map, SEEN_OK, &reason);

    if (code == SEEN_OK)
        code = build_larger(w, &g.built, &reason);
    if (code == SEEN_OK)
        code = replace(&g, &reason);
    if (g.next)
        store_cells_unmap(g.next, &g.map);
    seen_filter_free(g.next);
    seen_filter_free(g.built);
    free(g.text);
    free(g.spare);
    w->try_at = code == SEEN_OK ? 0 : next_try(w);
    if (code != SEEN_OK) {
        w->keys.lost = reason;
        if (why)
            *why = reason;
    } else {
        w->keys.lost.code = SEEN_OK;
        store_writer_limit(w);
    }
    return code;
}
