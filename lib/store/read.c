/* read.c - plan, counts and cells of a file. */
#define _DEFAULT_SOURCE /* mmap, MAP_ANONYMOUS */
#include "read.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../filter/cells.h"
#include "../filter/tree.h"
#include "../key/secret.h"
#include "text.h"

static enum seen_code check_access(const struct seen_access *how,
                                   struct seen_error *why)
{
    if (how && how->secret && !key_secret_known(how->secret))
        return seen_fail(why, SEEN_RANGE, 0, "a key of zeros is no secret");
    return SEEN_OK;
}

/* False if more cells are said to be set than there are. */
static bool take_counts(struct seen_filter *f, const uint64_t **set)
{
    bool sane = true;

    if (!f->kind->combines) {
        f->set = *(*set)++;
        sane = f->set <= leaf_cells(f);
    }
    for (unsigned i = 0; i < f->parts; i++)
        sane &= take_counts(f->part[i], set);
    return sane;
}

/* What the head says must be what the plan takes. */
static enum seen_code check_sizes(const struct seen_filter *f,
                                  const struct head *h, struct seen_error *why)
{
    struct layout l;
    enum seen_code code = layout_init(&l, f, why);

    if (code == SEEN_OK && (l.leaves != h->leaves || l.length != h->cells_len))
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "has %llu bytes of cells where the plan takes %llu",
                         (unsigned long long)h->cells_len,
                         (unsigned long long)l.length);
    layout_clear(&l);
    return code;
}

enum seen_code read_plan(struct seen_filter **out, const struct front *front,
                         const struct seen_access *how, struct seen_error *why)
{
    enum seen_code code = check_access(how, why);
    const uint64_t *set = front->table;

    *out = NULL;
    if (code == SEEN_OK)
        code = text_parse(out, front->text, false, how ? how->secret : NULL,
                          why);
    if (code != SEEN_OK)
        return code;
    code = check_sizes(*out, &front->head, why);
    if (code == SEEN_OK && how && how->profile &&
        strcmp(how->profile, (*out)->plan.profile))
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "has profile %s, but was asked with %s",
                         (*out)->plan.profile, how->profile);
    if (code == SEEN_OK && !take_counts(*out, &set) &&
        front->head.state == SEALED)
        code = seen_fail(why, SEEN_CORRUPT, front->head.table_at,
                         "has more set cells than cells");
    if (code != SEEN_OK) {
        seen_filter_free(*out);
        *out = NULL;
        return code;
    }
    (*out)->offered = front->head.offered;
    return SEEN_OK;
}

enum seen_code read_copy(struct seen_filter *f, int fd,
                         const struct front *front, bool check,
                         struct seen_error *why)
{
    struct layout l;
    enum seen_code code = filter_fill(f, why);

    if (code != SEEN_OK)
        return code;
    code = layout_init(&l, f, why);
    if (code == SEEN_OK)
        code = format_cells(fd, front, check, &l, why);
    layout_clear(&l);
    return code;
}

static void attach(struct seen_filter *f, unsigned char *cells, uint64_t *at)
{
    if (!f->kind->combines) {
        *at = (*at + LINE - 1) / LINE * LINE;
        if (f->size)
            f->cells = cells + *at;
        *at += f->size;
    }
    for (unsigned i = 0; i < f->parts; i++)
        attach(f->part[i], cells, at);
}

enum seen_code read_map(struct seen_filter *f, int fd,
                        const struct front *front, int protection, int flags,
                        struct mapping *map, struct seen_error *why)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), at = 0;
    uint64_t from = front->head.cells_at / page * page;
    uint64_t skip = front->head.cells_at - from;
    void *base;

    map->base = NULL;
    map->len = (size_t)(front->head.cells_len + skip);
    if (!front->head.cells_len)
        return SEEN_OK;
    base = mmap(NULL, map->len, protection, flags, fd, (off_t)from);
    if (base == MAP_FAILED)
        return seen_fail(why, SEEN_IO, 0, "cannot be mapped");
    map->base = base;
    attach(f, map->base + skip, &at);
    return SEEN_OK;
}

static void detach(struct seen_filter *f, const struct mapping *map)
{
    if (f->cells && f->cells >= map->base && f->cells < map->base + map->len)
        f->cells = NULL;
    for (unsigned i = 0; i < f->parts; i++)
        detach(f->part[i], map);
}

void read_unmap(struct seen_filter *f, struct mapping *map)
{
    if (!map->base)
        return;
    detach(f, map);
    munmap(map->base, map->len);
    map->base = NULL;
}

void read_recount(struct seen_filter *f)
{
    if (!f->kind->combines && f->cells)
        f->set = f->kind->recount ? f->kind->recount(f)
                                  : cells_count(f->cells, f->size);
    if (f->kind->renew)
        f->kind->renew(f);
    for (unsigned i = 0; i < f->parts; i++)
        read_recount(f->part[i]);
}
