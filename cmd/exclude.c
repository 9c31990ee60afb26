/* exclude.c - an open-addressing set of hashes. */
#include "exclude.h"

#include <stdlib.h>
#include <string.h>

#include "urls.h"

/* Where the key is, or where it would be put. */
static size_t slot_of(const struct exclude *e, uint64_t lo, uint64_t hi)
{
    size_t at = (size_t)lo & (e->slots - 1);

    while ((e->slot[at][0] || e->slot[at][1]) &&
           (e->slot[at][0] != lo || e->slot[at][1] != hi))
        at = (at + 1) & (e->slots - 1);
    return at;
}

static bool grow(struct exclude *e)
{
    struct exclude more = { .slots = e->slots ? 2 * e->slots : 1 << 12 };

    more.slot = calloc(more.slots, sizeof *more.slot);
    if (!more.slot) {
        trouble("no memory for a list of %zu URLs", more.slots / 2);
        return false;
    }
    for (size_t i = 0; i < e->slots; i++)
        if (e->slot[i][0] || e->slot[i][1])
            memcpy(more.slot[slot_of(&more, e->slot[i][0], e->slot[i][1])],
                   e->slot[i], sizeof *more.slot);
    more.used = e->used;
    free(e->slot);
    *e = more;
    return true;
}

bool exclude_add(struct exclude *e, const struct seen_key *key)
{
    size_t at;

    if (2 * e->used >= e->slots && !grow(e))
        return false;
    at = slot_of(e, key->lo, key->hi);
    e->used += !e->slot[at][0] && !e->slot[at][1];
    e->slot[at][0] = key->lo;
    e->slot[at][1] = key->hi;
    return true;
}

bool exclude_read(struct exclude *e, const char *path, const char *profile)
{
    struct urls_how how = { .inputs = { 1, { path } } };
    char *none = NULL;
    struct urls *u = urls_open(&how, &none, profile);
    bool good = u != NULL;

    while (good && urls_next(u))
        for (size_t i = 0; i < u->batch.n && good; i++)
            good = exclude_add(e, &u->batch.key[i]);
    return u && urls_close(u, good ? YES : TROUBLE) == YES;
}

void exclude_clear(struct exclude *e)
{
    free(e->slot);
    memset(e, 0, sizeof *e);
}

bool exclude_has(const struct exclude *e, const struct seen_key *key)
{
    size_t at;

    if (!e->used)
        return false;
    at = slot_of(e, key->lo, key->hi);
    return e->slot[at][0] || e->slot[at][1];
}
