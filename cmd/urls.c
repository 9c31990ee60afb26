/* urls.c - operands or lines, as batches. */
#include "urls.h"

#include <stdlib.h>
#include <string.h>

#include "progress.h"

static struct urls *give_up(struct urls *u)
{
    block_clear(&u->block);
    free(u);
    return NULL;
}

struct urls *urls_open(const struct urls_how *how, char **operand,
                       const char *profile)
{
    struct urls *u = calloc(1, sizeof *u);
    struct seen_error why;
    const char *name;

    if (!u) {
        trouble("no memory for %zu bytes", sizeof *u);
        return NULL;
    }
    u->reading.profile = profile;
    u->reading.strict = how->strict;
    if (*operand && how->inputs.n) {
        trouble("%s: URLs are operands or come from -i, not both", *operand);
        return give_up(u);
    }
    if (*operand) {
        u->operand = operand;
        return u;
    }
    if (lines_open(&u->lines, how->inputs.text, how->inputs.n, &name, &why) !=
        SEEN_OK) {
        trouble_with(name, &why);
        return give_up(u);
    }
    if (block_init(&u->block, &why) != SEEN_OK) {
        trouble("%s", why.text);
        return give_up(u);
    }
    u->lines.eager = true;
    progress_begin("reading", u->lines.total);
    return u;
}

static bool next_operands(struct urls *u)
{
    struct batch *batch = &u->batch;
    struct seen_error why;

    batch->n = 0;
    batch->used = 0;
    while (*u->operand && batch->n < BATCH &&
           batch->used <= BATCH_TEXT - SEEN_KEY_TEXT && !u->failed) {
        const char *url = *u->operand++;

        u->number++;
        if (batch_add(batch, url, strlen(url), u->reading.profile, &why) !=
            SEEN_OK) {
            trouble("URL %zu: %s", u->number, why.text);
            u->failed = true;
        }
    }
    return batch->n > 0;
}

/* Take the bad lines of the last batch into account; false to go on. */
static bool stopped(struct urls *u)
{
    return u->failed || (u->reading.strict && u->rejects.count);
}

bool urls_next(struct urls *u)
{
    struct rejects bad = { 0 };
    struct seen_error why;
    const char *name;

    if (u->operand)
        return !u->failed && next_operands(u);
    while (!stopped(u)) {
        batch_fill(&u->batch, &u->block, &u->reading, &bad);
        if (bad.count)
            rejects_fold(&u->rejects, &bad, u->before, NULL);
        if (u->batch.n)
            return true;
        if (stopped(u))
            break;
        u->before += u->block.line;
        u->taken += u->block.line;
        progress_at(u->lines.bytes, u->taken, 0);
        if (lines_next(&u->lines, &u->block, &name, &why) != SEEN_OK) {
            trouble_with(name, &why);
            u->failed = true;
        } else if (!u->block.len) {
            return false;
        }
        if (u->block.first)
            u->before = 0;
    }
    return false;
}

enum outcome urls_close(struct urls *u, enum outcome out)
{
    if (stopped(u))
        out = TROUBLE;
    rejects_report(&u->rejects, u->reading.strict);
    progress_clear();
    lines_close(&u->lines);
    rejects_clear(&u->rejects);
    give_up(u);
    return out;
}
