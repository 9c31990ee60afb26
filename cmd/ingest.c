/* ingest.c - operands, files or standard input, as batches of keys. */
#include "ingest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/text/number.h"
#include "output.h"
#include "progress.h"

enum { MOST_THREADS = 256 };

unsigned cmd_ingest_threads(uint64_t asked)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (!asked)
        asked = cores > 0 ? (uint64_t)cores : 1;
    return asked < MOST_THREADS ? (unsigned)asked : MOST_THREADS;
}

/* --- files --- */

static void flush(void *to)
{
    (void)to;
    output_flush();
}

const struct seen_source_options cmd_answering = { .in_order = true,
                                                   .wait = flush };

enum outcome cmd_source_open(struct seen_source **out,
                             const char *const *input, size_t n,
                             const struct seen_source_options *options,
                             bool strict)
{
    const struct seen_error *left;
    struct seen_error why;
    const char *name;

    if (seen_source_open(out, input, n, options, &why) != SEEN_OK) {
        name = why.at < n ? input[why.at] : "inputs";
        return trouble_with(strcmp(name, "-") ? name : "standard input", &why);
    }
    for (size_t i = 0; seen_source_fault(*out, i, &name, &left); i++) {
        if (strict)
            return trouble_with(name, left);
        warning("%s: %s; left out", name, left->text);
    }
    return YES;
}

static void show_progress(void *to, const struct seen_ingest *in)
{
    (void)to;
    cmd_progress_at(in->bytes, in->tally.lines, in->tally.urls);
}

enum outcome cmd_ingest_run(struct seen_ingest *in, const char *what,
                            struct seen_error *why)
{
    enum seen_code code;

    why->code = SEEN_OK;
    in->progress = show_progress;
    cmd_progress_begin(what, seen_source_bytes(in->source));
    code = seen_ingest_run(in, why);
    cmd_progress_clear();
    if (in->strict && in->rejects.count)
        why->code = SEEN_OK;
    return code == SEEN_OK ? YES : TROUBLE;
}

static enum outcome take_inputs(struct seen_ingest *in,
                                const struct texts *inputs,
                                struct seen_error *why)
{
    static const char *const standard_input[] = { "-" };
    enum outcome out;

    out = cmd_source_open(
        &in->source, inputs->n ? inputs->text : standard_input,
        inputs->n ? inputs->n : 1, &cmd_answering, in->strict);
    if (out == YES) {
        out = cmd_ingest_run(in, "reading", why);
        cmd_rejects_report(in);
        if (in->tally.lost && out == YES)
            out = TROUBLE; /* and `why` says nothing more */
    }
    seen_source_close(in->source);
    in->source = NULL;
    return out;
}

/* --- operands --- */

static enum seen_code hand_over(struct seen_ingest *in,
                                struct seen_batch *batch,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (batch->n)
        code = in->keys(in->to, 0, batch, why);
    batch->n = 0;
    batch->used = 0;
    return code;
}

static enum outcome take_operands(struct seen_ingest *in, char **operand,
                                  struct seen_error *why)
{
    struct seen_batch *batch = calloc(1, sizeof *batch);
    struct seen_profile profile;
    enum seen_code code = batch ? SEEN_OK : SEEN_NOMEM;
    enum outcome out = YES;
    struct seen_error bad;

    if (!batch)
        return trouble("no memory for %zu bytes", sizeof *batch);
    seen_profile_find(&profile, in->keying.profile, NULL); /* a plan's */
    for (size_t i = 0; operand[i] && code == SEEN_OK && out == YES; i++) {
        if (!seen_batch_room(batch))
            code = hand_over(in, batch, why);
        if (code == SEEN_OK &&
            seen_batch_add(batch, operand[i], strlen(operand[i]), &profile,
                           &bad) != SEEN_OK)
            out = trouble("URL %zu: %s", i + 1, bad.text);
    }
    if (code == SEEN_OK)
        code = hand_over(in, batch, why);
    if (code == SEEN_OK)
        why->code = SEEN_OK;
    free(batch);
    return code == SEEN_OK ? out : TROUBLE;
}

enum outcome cmd_ingest_urls(struct seen_ingest *in,
                             const struct cmd_inputs *inputs, char **operand,
                             struct seen_error *why)
{
    why->code = SEEN_OK;
    if (*operand && inputs->inputs.n)
        return trouble("%s: URLs are operands or come from -i, not both",
                       *operand);
    in->strict = inputs->strict;
    return *operand ? take_operands(in, operand, why)
                    : take_inputs(in, &inputs->inputs, why);
}

/* --- bad lines --- */

/* "line 17, 20, 41", or "a.txt line 17, b.txt line 3". */
static void places(const struct seen_cause *c, bool named, char *text,
                   size_t room)
{
    uint64_t n = c->count < SEEN_PLACES ? c->count : SEEN_PLACES;
    const char *last = NULL;
    size_t len = 0;

    for (uint64_t i = 0; i < n && len < room; i++) {
        const char *input = c->at[i].input;
        bool name = named && input && (!last || strcmp(input, last));

        len += (size_t)snprintf(text + len, room - len, "%s%s%s%s%llu",
                                i ? ", " : "", name ? input : "",
                                name ? " " : "", name || !i ? "line " : "",
                                (unsigned long long)c->at[i].line);
        last = input;
    }
    if (c->count > SEEN_PLACES && len < room)
        snprintf(text + len, room - len, ", ...");
}

void cmd_rejects_report(const struct seen_ingest *in)
{
    const struct seen_cause *c = in->rejects.cause;
    const struct seen_layout *layout;
    const char *name, *packing;
    bool named = seen_source_file(in->source, 1, &name, &layout, &packing);
    char text[1024];

    if (in->strict && c->count) {
        trouble("%s%sline %llu: %s", named ? c->at[0].input : "",
                named ? " " : "", (unsigned long long)c->at[0].line, c->text);
        return;
    }
    for (int i = 0; i < SEEN_CAUSES && c[i].count; i++) {
        places(&c[i], named, text, sizeof text);
        warning("%s left out: %s (%s)", show_counted(c[i].count, "line"),
                c[i].text, text);
    }
}
