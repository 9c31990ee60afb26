/*
 * checkpoint.c - write what was built so far, and go on from it.
 *
 * All that a resumed build must know is metadata of the checkpoint, under names
 * that begin with "resume-": how far each input was read, what was counted,
 * the worst lines with their places, the plan that was derived, and a number
 * that stands for everything that was asked for (resume-asked). One file is
 * replaced atomically, so that counts and bits always belong together; a log of
 * keys is flushed before, and what it has past the recorded length does not
 * count. With other options or other inputs, --resume is refused.
 */
#include "checkpoint.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool checkpoint_init(struct checkpoint *c, const char *output)
{
    if (asprintf(&c->path, "%s.checkpoint", output) < 0)
        c->path = NULL;
    else if (asprintf(&c->log, "%s.log", c->path) < 0)
        c->log = NULL;
    return c->path && c->log;
}

void checkpoint_clear(struct checkpoint *c)
{
    free(c->path);
    free(c->log);
    c->path = c->log = NULL;
}

void checkpoint_drop(const struct checkpoint *c)
{
    static const char *const suffix[] = { "", ".log", ".lock", ".new" };
    char path[4096];

    /* The last two are what a killed writer of the first left. */
    for (int i = 0; c->path && i < 4; i++)
        if (snprintf(path, sizeof path, "%s%s", c->path, suffix[i]) <
            (int)sizeof path)
            unlink(path);
}

/* --- writing --- */

enum seen_code checkpoint_unite(const struct checkpoint *c,
                                struct seen_filter *f, struct seen_error *why)
{
    struct seen_filter *before = NULL;
    enum seen_code code;

    if (!c->written || c->logs)
        return SEEN_OK;
    code = seen_store_map(&before, c->path, &c->access, why);
    if (code == SEEN_OK)
        code = seen_filter_merge(f, before, why);
    seen_filter_free(before);
    if (code == SEEN_OK && seen_filter_overfull(f))
        code = seen_fail(
            why, SEEN_FULL, 0,
            "there are more keys than the filter was planned for");
    return code;
}

static enum seen_code note(struct seen_filter *f, const char *name,
                           struct seen_error *why, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static enum seen_code note(struct seen_filter *f, const char *name,
                           struct seen_error *why, const char *format, ...)
{
    char value[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    return seen_meta_set(f, name, value, why);
}

/* "count cost file:line ...; text" */
static enum seen_code note_cause(struct seen_filter *f, int i,
                                 const struct seen_cause *c,
                                 size_t file[SEEN_PLACES],
                                 struct seen_error *why)
{
    char name[32], places[256] = "";
    size_t len = 0;

    for (uint64_t j = 0; j < c->count && j < SEEN_PLACES; j++)
        len += (size_t)snprintf(places + len, sizeof places - len,
                                " %zu:%" PRIu64, file[j], c->at[j].line);
    snprintf(name, sizeof name, "resume-cause-%d", i);
    return note(f, name, why, "%" PRIu64 " %d%s; %s", c->count, (int)c->cost,
                places, c->text);
}

static size_t file_of(struct seen_source *s, const char *input)
{
    const struct seen_layout *layout;
    const char *name, *packing;

    for (size_t i = 0; seen_source_file(s, i, &name, &layout, &packing); i++)
        if (name == input)
            return i + 1;
    return 0;
}

static enum seen_code note_all(const struct checkpoint *c,
                               struct seen_filter *f,
                               const struct seen_ingest *p,
                               struct seen_error *why)
{
    struct seen_mark mark = seen_source_mark(p->source);
    const struct seen_tally *n = &p->tally;
    const struct seen_plan *plan = seen_filter_plan(f);
    char segments[21 * SEEN_LAYERS + 1] = "";
    enum seen_code code;
    size_t len = 0;

    for (int i = 0; i < SEEN_LAYERS; i++)
        len += (size_t)snprintf(segments + len, sizeof segments - len,
                                " %" PRIu64, plan->segments[i]);
    code = note(f, "resume-asked", why, "%" PRIu64 " %" PRIu64, c->plan,
                seen_source_print(p->source));
    if (code == SEEN_OK)
        code = note(f, "resume-mark", why,
                    "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64, mark.piece,
                    mark.member, p->input_lines, c->kept);
    if (code == SEEN_OK)
        code = note(f, "resume-found", why,
                    "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                    " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                    " %" PRIu64,
                    n->lines, n->captures, n->urls, n->repaired, n->derived,
                    c->excluded, p->bytes, n->lost, n->damaged, n->skipped);
    if (code == SEEN_OK)
        code = note(f, "resume-keys", why,
                    "%d %" PRIu64 " %" PRIu64 " %zu %" PRIu64 " %s %s",
                    (int)p->keying.keys, p->agreement.checked,
                    p->agreement.differ,
                    file_of(p->source, p->agreement.input), p->agreement.line,
                    p->agreement.key, p->agreement.ours);
    if (code == SEEN_OK)
        code = note(f, "resume-plan", why, "%" PRIu64 " %" PRIu64 "%s",
                    plan->capacity, seen_filter_last(f), segments);
    if (code == SEEN_OK && c->logs)
        code = note(f, "resume-log", why, "%" PRIu64 " %" PRIu64,
                    c->mark.bytes, c->mark.offered);
    for (int i = 0; i < SEEN_CAUSES && code == SEEN_OK; i++) {
        size_t file[SEEN_PLACES] = { 0 };

        for (int j = 0; j < SEEN_PLACES; j++)
            file[j] = file_of(p->source, p->rejects.cause[i].at[j].input);
        if (p->rejects.cause[i].count)
            code = note_cause(f, i, &p->rejects.cause[i], file, why);
    }
    return code;
}

static const char *const notes[] = { "resume-asked", "resume-mark",
                                     "resume-found", "resume-keys",
                                     "resume-plan",  "resume-log" };

/* What goes on being built must not bear these for good. */
static void forget(struct seen_filter *f)
{
    char name[32];

    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        seen_meta_set(f, notes[i], NULL, NULL);
    for (int i = 0; i < SEEN_CAUSES; i++) {
        snprintf(name, sizeof name, "resume-cause-%d", i);
        seen_meta_set(f, name, NULL, NULL);
    }
}

enum seen_code checkpoint_write(struct checkpoint *c, struct seen_filter *f,
                                bool unite, const struct seen_ingest *in,
                                struct seen_error *why)
{
    enum seen_code code = unite ? checkpoint_unite(c, f, why) : SEEN_OK;

    if (code == SEEN_OK)
        code = note_all(c, f, in, why);
    if (code == SEEN_OK)
        code = seen_store_save(f, c->path, why);
    forget(f);
    c->written |= code == SEEN_OK;
    return code;
}

/* An older checkpoint refers to what is cut off when the log begins anew. */
enum seen_code checkpoint_log(struct checkpoint *c, struct seen_key_log *log,
                              const struct seen_ingest *in,
                              struct seen_error *why)
{
    const struct seen_plan none = { .kind = "bloom",
                                    .capacity = 1,
                                    .rate = 0.5 };
    struct seen_filter *f;
    enum seen_code code;

    if (!c->written)
        unlink(c->path);
    code = seen_key_log_save(log, c->log, &c->mark, why);
    if (code == SEEN_OK)
        code = seen_filter_new(&f, &none, why);
    if (code != SEEN_OK)
        return code;
    code = checkpoint_write(c, f, false, in, why);
    seen_filter_free(f);
    return code;
}

/* --- reading --- */

static bool numbers(const struct seen_filter *f, const char *name,
                    uint64_t *to, int n)
{
    const char *at = seen_meta_get(f, name);
    char *end;

    for (int i = 0; i < n; i++) {
        if (!at)
            return false;
        to[i] = strtoull(at, &end, 10);
        if (end == at)
            return false;
        at = end;
    }
    return true;
}

static void restore_cause(struct seen_ingest *p, int i, const char *text)
{
    struct seen_cause *c = &p->rejects.cause[i];
    const struct seen_layout *layout;
    const char *packing, *words = strstr(text, "; ");
    char *at;

    if (!words)
        return;
    c->count = strtoull(text, &at, 10);
    c->cost = (enum seen_cost)strtoull(at, &at, 10);
    p->rejects.count += c->count;
    snprintf(c->text, sizeof c->text, "%s", words + 2);
    for (int j = 0; j < SEEN_PLACES && at < words; j++) {
        uint64_t file = strtoull(at, &at, 10);

        c->at[j].line = strtoull(at + (*at == ':'), &at, 10);
        if (!file || !seen_source_file(p->source, file - 1, &c->at[j].input,
                                       &layout, &packing))
            c->at[j].input = NULL;
    }
}

/* How keys were made so far, and whether the keys of an index agreed. */
static bool restore_keys(struct seen_ingest *p, const struct seen_filter *f)
{
    struct seen_agreement *a = &p->agreement;
    const struct seen_layout *layout;
    const char *packing;
    uint64_t n[5];

    if (!numbers(f, "resume-keys", n, 5))
        return false;
    p->keying.keys = (enum seen_index_keys)n[0];
    a->checked = n[1];
    a->differ = n[2];
    a->line = n[4];
    if (!n[3] ||
        !seen_source_file(p->source, n[3] - 1, &a->input, &layout, &packing))
        a->input = NULL;
    sscanf(seen_meta_get(f, "resume-keys"), "%*s %*s %*s %*s %*s %159s %159s",
           a->key, a->ours);
    return true;
}

static enum outcome restore(struct checkpoint *c, struct seen_ingest *p,
                            struct seen_plan *plan, struct seen_filter *f)
{
    uint64_t asked[2], mark[4], found[10], made[2 + SEEN_LAYERS];
    uint64_t log[2] = { 0 };

    if (!numbers(f, "resume-asked", asked, 2) ||
        !numbers(f, "resume-mark", mark, 4) ||
        !numbers(f, "resume-found", found, 10) || !restore_keys(p, f) ||
        !numbers(f, "resume-plan", made, 2 + SEEN_LAYERS) ||
        (c->logs && !numbers(f, "resume-log", log, 2)))
        return trouble("%s: is not the checkpoint of a build", c->path);
    if (asked[1] != seen_source_print(p->source))
        return trouble("%s: the inputs have changed; build without "
                       "--resume",
                       c->path);
    if (asked[0] != c->plan)
        return trouble("%s: the options have changed; build without "
                       "--resume",
                       c->path);
    seen_source_skip(p->source, (struct seen_mark){ mark[0], mark[1] });
    p->input_lines = mark[2];
    c->kept = (int64_t)mark[3];
    p->tally = (struct seen_tally){ .lines = found[0],
                                    .captures = found[1],
                                    .urls = found[2],
                                    .repaired = found[3],
                                    .derived = found[4],
                                    .lost = found[7],
                                    .damaged = found[8],
                                    .skipped = found[9] };
    c->excluded = found[5];
    p->bytes = found[6];
    if (c->logs) {
        c->mark = (struct seen_key_log_mark){ log[0], log[1] };
    } else {
        plan->capacity = made[0];
        seen_filter_resume(f, made[1]);
        memcpy(plan->segments, made + 2, sizeof plan->segments);
    }
    for (int i = 0; i < SEEN_CAUSES; i++) {
        char name[32];
        const char *text;

        snprintf(name, sizeof name, "resume-cause-%d", i);
        text = seen_meta_get(f, name);
        if (text)
            restore_cause(p, i, text);
    }
    return YES;
}

enum outcome checkpoint_read(struct checkpoint *c, struct seen_ingest *in,
                             struct seen_plan *plan, struct seen_filter **f)
{
    struct seen_filter *before;
    struct seen_error why;
    enum outcome out;

    if (access(c->path, F_OK) < 0)
        return NO;
    if ((f ? seen_store_load : seen_store_map)(&before, c->path, &c->access,
                                               &why) != SEEN_OK)
        return trouble_with(c->path, &why);
    out = restore(c, in, plan, before);
    c->written = out == YES;
    if (out == YES && f) {
        forget(before);
        *f = before;
    } else {
        seen_filter_free(before);
    }
    return out;
}
