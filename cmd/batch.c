/* batch.c - lines to keys. */
#include "batch.h"

enum seen_code batch_add(struct batch *batch, const char *url, size_t len,
                         const char *profile, struct seen_error *why)
{
    struct seen_key *key = &batch->key[batch->n];
    char *text = batch->text + batch->used;
    const char *fault = line_fault(url, len);
    enum seen_code code;

    if (fault)
        return seen_fail(why, SEEN_RANGE, 0, "%s", fault);
    code = seen_key_make(key, text, url, len, profile, why);
    if (code != SEEN_OK)
        return code;
    if (key->text == text)
        batch->used += key->len;
    batch->url[batch->n].text = url;
    batch->url[batch->n].len = len;
    batch->n++;
    return SEEN_OK;
}

void batch_fill(struct batch *batch, struct block *block,
                const struct reading *how, struct rejects *r)
{
    struct seen_error why;
    const char *line;
    size_t len;

    batch->n = 0;
    batch->used = 0;
    while (batch->n < BATCH && batch->used <= BATCH_TEXT - SEEN_KEY_TEXT &&
           !(how->strict && r->count) && block_line(block, &line, &len)) {
        if (batch_add(batch, line, len, how->profile, &why) == SEEN_OK)
            continue;
        rejects_add(r, block->input, block->line, why.text);
        if (how->keep)
            rejects_keep(r, line, len);
    }
}
