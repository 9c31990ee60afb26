/* batch.c - lines to keys. */
#include "batch.h"

static enum seen_code add_as(struct batch *batch, const char *url, size_t len,
                             const struct seen_profile *profile,
                             struct seen_error *why)
{
    struct seen_key *key = &batch->key[batch->n];
    char *text = batch->text + batch->used;
    const char *fault = seen_key_fault(url, len);
    enum seen_code code;

    if (fault)
        return seen_fail(why, SEEN_RANGE, 0, "%s", fault);
    code = seen_key_make_as(key, text, url, len, profile, why);
    if (code != SEEN_OK)
        return code;
    if (key->text == text)
        batch->used += key->len;
    batch->url[batch->n].text = url;
    batch->url[batch->n].len = len;
    batch->n++;
    return SEEN_OK;
}

enum seen_code batch_add(struct batch *batch, const char *url, size_t len,
                         const char *profile, struct seen_error *why)
{
    struct seen_profile found;
    enum seen_code code = seen_profile_find(&found, profile, why);

    return code == SEEN_OK ? add_as(batch, url, len, &found, why) : code;
}

void batch_fill(struct batch *batch, struct block *block,
                const struct reading *how, struct rejects *r)
{
    struct seen_profile found = { 0 };
    struct seen_error why;
    const char *line;
    size_t len;

    seen_profile_find(&found, how->profile, NULL); /* a plan's is known */
    batch->n = 0;
    batch->used = 0;
    while (batch->n < BATCH && batch->used <= BATCH_TEXT - SEEN_KEY_TEXT &&
           !(how->strict && r->count) && block_line(block, &line, &len)) {
        if (add_as(batch, line, len, &found, &why) == SEEN_OK)
            continue;
        rejects_add(r, block->input, block->line, why.text);
        if (how->keep)
            rejects_keep(r, line, len);
    }
}
