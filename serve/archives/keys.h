/*
 * keys.h - keys on their way to a filter, in batches.
 *
 * A filter larger than the caches costs a cache miss or more per key. A batch
 * lets the filter fetch the memory for one key while it hashes the next.
 */
#ifndef SEEN_SERVE_ARCHIVES_KEYS_H
#define SEEN_SERVE_ARCHIVES_KEYS_H

#include <seen/key.h>

#include "../../lib/text/span.h"

enum {
    ARCHIVE_BATCH = 256,    /* keys looked up at once */
    ARCHIVE_TEXT = 1 << 18, /* bytes of their texts */
};

struct archive_keys {
    size_t n, used;
    struct seen_key key[ARCHIVE_BATCH];
    bool seen[ARCHIVE_BATCH]; /* the answers */
    char text[ARCHIVE_TEXT + SEEN_KEY_TEXT];
};

/* What a client sends as a key. */
enum archive_item {
    ARCHIVE_URL, /* not empty, at most SEEN_KEY_TEXT bytes */
    ARCHIVE_ANY  /* under "raw" of any length, as items of Redis are */
};

/* The key of an item. `text` has SEEN_KEY_TEXT bytes; key->text points into
   it, or to the item. */
static inline enum seen_code archive_key(struct seen_key *key, char *text,
                                         struct seen_span item,
                                         enum archive_item what,
                                         const struct seen_profile *profile,
                                         struct seen_error *why)
{
    if (what == ARCHIVE_URL || profile->rules != SEEN_RAW)
        return seen_key_make_as(key, text, item.text, item.len, profile, why);
    seen_key_hash(key, item.text, item.len);
    return SEEN_OK;
}

static inline void archive_keys_clear(struct archive_keys *k)
{
    k->n = k->used = 0;
}

static inline bool archive_keys_full(const struct archive_keys *k)
{
    return k->n == ARCHIVE_BATCH || k->used > ARCHIVE_TEXT;
}

/* Append the key of an item to a batch that is not full. The item must stay
   where it is until the batch is looked up: a key may point to it. */
static inline enum seen_code archive_keys_add(
    struct archive_keys *k, struct seen_span item, enum archive_item what,
    const struct seen_profile *profile, struct seen_error *why)
{
    struct seen_key *key = &k->key[k->n];
    char *text = k->text + k->used;
    enum seen_code code = archive_key(key, text, item, what, profile, why);

    if (code != SEEN_OK)
        return code;
    if (key->text >= text && key->text < text + SEEN_KEY_TEXT)
        k->used = (size_t)(key->text - k->text) + key->len;
    k->n++;
    return SEEN_OK;
}

#endif
