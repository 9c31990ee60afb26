/*
 * replay.c - the changes of a journal, applied to a filter.
 *
 * The records are read twice: first to find out which are complete and which
 * changes were refused after they had been recorded, then to apply the
 * others, each once.
 *
 * An acknowledged change is applied even if the filter would now refuse it.
 * Cells that are changed in place may already have the bits of later keys,
 * and threads may have changed the cells in another order than that of their
 * records. So a filter near its limit can be full a few keys earlier than it
 * was.
 */
#include "journal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <seen/kind_writer.h>

#include "../filter/tree.h"
#include "../text/array.h"
#include "blocks.h"

struct journal_range {
    uint64_t first, count;
};

struct journal_undone {
    struct journal_range *range;
    size_t n, room;
};

static int by_first(const void *a, const void *b)
{
    uint64_t x = ((const struct journal_range *)a)->first;
    uint64_t y = ((const struct journal_range *)b)->first;

    return (x > y) - (x < y);
}

static bool remember(struct journal_undone *u, uint64_t first, uint64_t count)
{
    struct journal_range *range = array_grow(u->range, &u->room, u->n + 1,
                                             sizeof *range);

    if (!range)
        return false;
    u->range = range;
    u->range[u->n++] = (struct journal_range){ first, count };
    return true;
}

/* Was this number refused? The ranges are sorted and do not overlap. */
static bool refused(const struct journal_undone *u, uint64_t number)
{
    size_t low = 0, high = u->n;

    while (low < high) { /* find the first range behind it */
        size_t middle = low + (high - low) / 2;

        if (u->range[middle].first <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low && number - u->range[low - 1].first < u->range[low - 1].count;
}

/* Limits of all leaves, lifted while the rest of a record is applied. */
static void lift(struct seen_filter *f, uint64_t **saved, bool up)
{
    if (!f->kind->combines) {
        if (up) {
            **saved = f->limit;
            f->limit = UINT64_MAX;
        } else {
            f->limit = **saved;
        }
        ++*saved;
    }
    for (unsigned i = 0; i < f->parts; i++)
        lift(f->part[i], saved, up);
}

static enum seen_code add_past_limit(struct seen_filter *f,
                                     const struct seen_key *key, size_t n,
                                     struct seen_error *why)
{
    uint64_t *saved = malloc((filter_leaves(f) + 1) * sizeof *saved),
             *at = saved;
    enum seen_code code;

    if (!saved)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to replay a journal");
    lift(f, &at, true);
    code = f->kind->add(f, key, n, NULL, why);
    at = saved;
    lift(f, &at, false);
    free(saved);
    return code;
}

static enum seen_code apply(struct seen_filter *f, bool remove,
                            const struct seen_key *key, size_t n,
                            struct seen_error *why)
{
    struct seen_error full;
    enum seen_code code = SEEN_OK;

    if (!seen_filter_can(f, remove ? SEEN_CAN_REMOVE : SEEN_CAN_ADD))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "its journal has changes that %s cannot make",
                         f->plan.kind);
    if (!remove) {
        filter_offer(f, key, n);
        code = f->kind->add(f, key, n, NULL, &full);
        if (code == SEEN_FULL || code == SEEN_RANGE) /* no next part */
            code = add_past_limit(f, key + full.at, n - full.at, &full);
    }
    /* A count that is 0 now was 1 then: the record of the add follows. The
       count of such a key ends up too high by one, never too low. */
    for (size_t done = 0; remove && code == SEEN_OK && done < n; done++) {
        code = f->kind->remove(f, key + done, 1, &full);
        if (code == SEEN_ABSENT)
            code = SEEN_OK;
    }
    if (code != SEEN_OK && why)
        *why = full;
    return code;
}

/* The next key of a record; false if the record ends before the key does. */
static bool take_key(const unsigned char **at, const unsigned char *end,
                     bool text, struct seen_key *key)
{
    uint64_t len = 0;

    if ((size_t)(end - *at) < (text ? 24 : 16))
        return false;
    memcpy(&key->lo, *at, 8);
    memcpy(&key->hi, *at + 8, 8);
    key->text = NULL;
    if (text) {
        memcpy(&len, *at + 16, 8);
        *at += 8;
        key->text = (const char *)*at + 16;
    }
    key->len = (size_t)len;
    *at += 16;
    if (len > (size_t)(end - *at))
        return false;
    *at += (len + 7) / 8 * 8; /* end and *at are multiples of 8 */
    return true;
}

static enum seen_code invalid(const struct journal_record *r,
                              struct seen_error *why)
{
    return seen_fail(why, SEEN_CORRUPT, r->first,
                     "record %llu of its journal is invalid",
                     (unsigned long long)r->first);
}

/* The keys of a record whose numbers are above `done` and not refused. */
static enum seen_code take_keys(const struct journal_record *r, uint64_t done,
                                const struct journal_undone *u,
                                struct seen_key *key, size_t *n,
                                struct seen_error *why)
{
    const unsigned char *at = r->keys, *end = at + r->keys_len;
    bool sound = true;

    *n = 0;
    for (uint64_t i = 0; i < r->count && sound; i++) {
        sound = take_key(&at, end, r->text, &key[*n]);
        *n += r->first + i > done && !refused(u, r->first + i);
    }
    return sound && at == end ? SEEN_OK : invalid(r, why);
}

/* What is done with the keys of a record. */
struct journal_use {
    struct seen_filter *to;       /* apply them, or else only */
    const struct seen_filter *of; /* find their blocks, */
    struct store_blocks *blocks;
    bool mark;                    /* which are not checked any more; */
    journal_take *take;           /* or give them away */
    void *whose;
};

static enum seen_code use_keys(const struct journal_use *use,
                               const struct journal_record *r,
                               const struct seen_key *key, size_t n,
                               struct seen_error *why)
{
    if (use->to)
        return apply(use->to, r->change == REMOVED, key, n, why);
    if (use->take && r->change != ADDED)
        return invalid(r, why);
    if (use->take)
        return use->take(use->whose, key, n, why);
    return (use->mark ? store_blocks_mark : store_blocks_change)(
        use->blocks, use->of, key, n, why);
}

static enum seen_code use_record(const struct journal_use *use,
                                 const struct journal_record *r, uint64_t done,
                                 const struct journal_undone *u,
                                 struct seen_error *why)
{
    const struct seen_filter *f = use->to ? use->to : use->of;
    struct seen_key *key;
    enum seen_code code;
    size_t n;

    if (r->count > r->keys_len / 16 ||
        (f->traits & SEEN_READS_TEXT && !r->text))
        return invalid(r, why);
    key = malloc((size_t)(r->count + 1) * sizeof *key);
    if (!key)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to replay a journal");
    code = take_keys(r, done, u, key, &n, why);
    if (code == SEEN_OK && n)
        code = use_keys(use, r, key, n, why);
    free(key);
    return code;
}

/*
 * Read the complete records behind j->end: which changes were refused, and
 * which blocks do the keys reach?
 */
static enum seen_code survey(struct journal *j, uint64_t size,
                             const struct journal_use *use,
                             struct journal_undone *u, struct seen_error *why)
{
    const struct journal_undone none = { 0 };
    enum seen_code code = SEEN_OK;
    struct journal_record r;
    bool found = true;

    while (code == SEEN_OK && found) {
        code = journal_next(j, size, &found, &r, why);
        if (code != SEEN_OK || !found)
            break;
        if (r.change == UNDONE && !remember(u, r.first, r.count))
            code = seen_fail(why, SEEN_NOMEM, 0,
                             "no memory to replay a journal");
        if (r.change != UNDONE && use->blocks)
            code = use_record(use, &r, 0, &none, why);
    }
    return code;
}

enum seen_code journal_mark(struct journal *j, const struct seen_filter *f,
                            struct store_blocks *blocks,
                            struct seen_error *why)
{
    const struct journal_use use = { .of = f, .blocks = blocks, .mark = true };
    struct journal_undone u = { 0 };
    enum seen_code code;
    struct stat it;

    journal_look(j);
    if (fstat(j->fd, &it))
        return seen_fail(why, SEEN_IO, 0,
                         "the size of its journal cannot be read");
    code = survey(j, (uint64_t)it.st_size, &use, &u, why);
    free(u.range);
    return code;
}

/* Use the keys above `done` of the records before `end`, but not those that
   were refused. On failure j is at the record that failed. */
static enum seen_code use_records(struct journal *j, uint64_t end,
                                  const struct journal_use *use, uint64_t done,
                                  struct journal_undone *u,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (u->n)
        qsort(u->range, u->n, sizeof *u->range, by_first);
    while (code == SEEN_OK && j->end < end) {
        const uint64_t at = j->end, last = j->last;
        struct journal_record r;
        bool found;

        code = journal_next(j, end, &found, &r, why);
        if (code == SEEN_OK && !found)
            code = seen_fail(why, SEEN_CORRUPT, j->end,
                             "its journal was changed while it was read");
        if (code == SEEN_OK && r.change != UNDONE)
            code = use_record(use, &r, done, u, why);
        if (code != SEEN_OK) {
            j->end = at;
            j->last = last;
        }
    }
    return code;
}

enum seen_code journal_each(struct journal *j, const struct seen_filter *f,
                            uint64_t done, journal_take *take, void *whose,
                            struct seen_error *why)
{
    const struct journal_use use = { .of = f, .take = take, .whose = whose };
    const uint64_t end = j->end, last = j->last;
    struct journal_undone none = { 0 };
    enum seen_code code;

    if (j->fd < 0 || last <= done)
        return SEEN_OK;
    journal_rewind(j);
    code = use_records(j, end, &use, done, &none, why);
    if (code == SEEN_OK && (j->end != end || j->last != last))
        code = seen_fail(why, SEEN_CORRUPT, j->end,
                         "its journal was changed while it was in use");
    j->end = end;
    j->last = last;
    j->window_len = 0;
    return code;
}

enum seen_code journal_replay(struct journal *j, struct seen_filter *f,
                              uint64_t done, struct store_blocks *blocks,
                              struct seen_error *why)
{
    const struct journal_use check = { .of = f, .blocks = blocks };
    const struct journal_use apply_to = { .to = f };
    uint64_t end = j->end, last = j->last, whole;
    struct journal_undone u = { 0 };
    struct stat it;
    enum seen_code code;

    journal_look(j); /* the promise before the size: it is kept by then */
    if (fstat(j->fd, &it))
        return seen_fail(why, SEEN_IO, 0,
                         "the size of its journal cannot be read");
    code = survey(j, (uint64_t)it.st_size, &check, &u, why);
    whole = j->end;
    j->left = (uint64_t)it.st_size > whole ? (uint64_t)it.st_size - whole : 0;
    j->end = end; /* after a failure, the next try begins there */
    j->last = last;
    if (code == SEEN_OK)
        code = use_records(j, whole, &apply_to, done, &u, why);
    free(u.range);
    return code;
}
