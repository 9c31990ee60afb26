/* exclude.c - an open-addressing set of hashes. */
#include "exclude.h"

#include <stdlib.h>
#include <string.h>

#include "ingest.h"

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
    free(e->slot);
    e->slot = more.slot;
    e->slots = more.slots;
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

/* --- beginnings --- */

/* Beginnings are in the same set, with another hash than URLs. */
static struct seen_key beginning(const char *text, size_t len)
{
    struct seen_key key;

    seen_key_hash(&key, text, len);
    key.lo = seen_mix(key.lo + 1);
    return key;
}

static bool add_length(struct exclude *e, size_t len)
{
    size_t at = 0;
    uint16_t *more;

    while (at < e->lengths && e->length[at] < len)
        at++;
    if (at < e->lengths && e->length[at] == len)
        return true;
    more = realloc(e->length, (e->lengths + 1) * sizeof *more);
    if (!more) {
        trouble("no memory for a list of URLs");
        return false;
    }
    memmove(more + at + 1, more + at, (e->lengths - at) * sizeof *more);
    more[at] = (uint16_t)len;
    e->length = more;
    e->lengths++;
    return true;
}

/* Of "a/b/" and a star: that, and "a/b", under which the folder itself is filed. */
static bool add_beginning(struct exclude *e, const char *text, size_t len)
{
    struct seen_key key = beginning(text, len);

    if (!add_length(e, len) || !exclude_add(e, &key))
        return false;
    if (len < 2 || text[len - 1] != '/')
        return true;
    seen_key_hash(&key, text, len - 1);
    return exclude_add(e, &key);
}

static bool add_line(struct exclude *e, const struct seen_key *key)
{
    if (key->len && key->text[key->len - 1] == '*')
        return add_beginning(e, key->text, key->len - 1);
    return exclude_add(e, key);
}

static bool begins(const struct exclude *e, const struct seen_key *key)
{
    for (size_t i = 0; i < e->lengths && e->length[i] <= key->len; i++) {
        struct seen_key part = beginning(key->text, e->length[i]);
        size_t at = slot_of(e, part.lo, part.hi);

        if (e->slot[at][0] || e->slot[at][1])
            return true;
    }
    return false;
}

/* --- lists --- */

static enum seen_code add_batch(void *to, unsigned thread,
                                struct seen_batch *batch,
                                struct seen_error *why)
{
    (void)thread;
    for (size_t i = 0; i < batch->n; i++)
        if (!add_line(to, &batch->key[i]))
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    return SEEN_OK;
}

bool exclude_read(struct exclude *e, const char *path,
                  const struct seen_keying *keying)
{
    struct cmd_inputs inputs = { .inputs = { 1, { path } } };
    struct seen_ingest in = { .keying = *keying, .keys = add_batch, .to = e };
    struct seen_error why;
    char *none = NULL;

    return cmd_ingest_urls(&in, &inputs, &none, &why) == YES;
}

void exclude_clear(struct exclude *e)
{
    free(e->slot);
    free(e->length);
    memset(e, 0, sizeof *e);
}

bool exclude_has(const struct exclude *e, const struct seen_key *key)
{
    size_t at;

    if (!e->used)
        return false;
    at = slot_of(e, key->lo, key->hi);
    return e->slot[at][0] || e->slot[at][1] || begins(e, key);
}
