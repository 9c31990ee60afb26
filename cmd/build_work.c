/*
 * build_work.c - the pass of seen build that fills the filter.
 *
 * Threads share a builder, each with its own lane, and add keys in any order.
 * Kinds whose cells depend on the order are filled directly, by one thread.
 * From time to time all threads pause, and a checkpoint is written
 * (checkpoint.h).
 *
 * Without a capacity threads give their keys to a log, which has lanes, too.
 * When all inputs were read, it makes the filter.
 */
#include "build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/kind.h>
#include <seen/store.h>

#include "../lib/text/number.h"
#include "access.h"
#include "input.h"


/* --- what each thread does with its keys --- */

static enum seen_code add_batch(void *to, unsigned thread,
                                struct seen_batch *batch,
                                struct seen_error *why)
{
    struct build *b = to;
    size_t n = 0;

    if (b->without.used) {
        for (size_t i = 0; i < batch->n; i++)
            if (!exclude_has(&b->without, &batch->key[i]))
                batch->key[n++] = batch->key[i];
        __atomic_fetch_add(&b->excluded, batch->n - n, __ATOMIC_RELAXED);
        batch->n = n;
    }
    if (b->log)
        return seen_key_log_add(b->log, thread, batch->key, batch->n, why);
    if (b->filter)
        return seen_filter_add(b->filter, batch->key, batch->n, NULL, why);
    return seen_build_add(b->builder, thread, batch->key, batch->n, why);
}

static enum seen_code flush(void *to, unsigned thread, struct seen_error *why)
{
    struct build *b = to;

    return b->builder ? seen_build_flush(b->builder, thread, why) : SEEN_OK;
}

/* --- checkpoints --- */

/* No thread is at work: write what there is, and begin another part. */
static enum seen_code write_point(void *to, struct seen_error *why)
{
    struct build *b = to;
    struct seen_filter *part = NULL;
    enum seen_code code;

    b->point.excluded = b->excluded;
    if (b->kept) {
        fflush(b->kept);
        b->point.kept = ftell(b->kept);
    }
    if (b->log)
        return checkpoint_log(&b->point, b->log, &b->in, why);
    if (b->filter)
        return checkpoint_write(&b->point, b->filter, false, &b->in, why);
    code = seen_build_finish(b->builder, &part, why);
    b->builder = NULL;
    if (code == SEEN_OK)
        code = checkpoint_write(&b->point, part, true, &b->in, why);
    seen_filter_free(part);
    if (code == SEEN_OK)
        code = seen_build_new_keyed(&b->builder, &b->plan,
                                    b->keyed ? b->secret : NULL, b->in.threads,
                                    why);
    return code;
}

/* A hash of all options that decide what is built. */
static uint64_t print_plan(const struct build *b)
{
    const struct seen_plan *p = &b->plan;
    struct seen_key key;
    char text[512];
    int n = snprintf(text, sizeof text,
                     "%s %s %llu %.17g %llu %u %.17g %llu %d %d %d %d %llu",
                     p->kind, p->profile, (unsigned long long)p->capacity,
                     p->rate, (unsigned long long)p->bits, p->probes,
                     p->multiplier, (unsigned long long)p->seed, p->hostile,
                     p->over, p->keyed, (int)b->asked,
                     (unsigned long long)select_print(b->select));

    seen_key_hash(&key, text, (size_t)n);
    for (size_t i = 0; i < b->without.slots; i++)
        key.lo += seen_mix(b->without.slot[i][0]);
    return key.lo;
}

enum outcome build_points(struct build *b)
{
    bool ordered = seen_kind_can(b->plan.kind, SEEN_NEEDS_ORDER);
    bool remote = access_is_remote(b->output);
    bool able = seen_source_twice(b->in.source) && !remote &&
                !seen_kind_can(b->plan.kind, SEEN_BUILT_ONCE);
    enum outcome out;

    if (b->resume && remote)
        return trouble("--resume: a filter on a server has no checkpoints; "
                       "build a file, and seen convert it");
    if (b->resume && !able)
        return seen_source_twice(b->in.source)
                   ? trouble("--resume: a %s is made at once, from all URLs",
                             b->plan.kind)
                   : trouble("--resume: what is not a file cannot be read "
                             "again");
    if (!able)
        return YES;
    if (!checkpoint_init(&b->point, b->output))
        return trouble("no memory for a path");
    b->point.plan = print_plan(b);
    b->point.logs = b->sizes;
    b->point.access.secret = b->plan.keyed && !b->sizes ? b->secret : NULL;
    b->point.access.over = b->plan.over;
    b->in.pause = write_point;
    b->in.interval = b->checkpoint > 0 ? b->checkpoint : 60;
    if (!b->resume)
        return YES;
    out = checkpoint_read(&b->point, &b->in, &b->plan,
                          ordered && !b->sizes ? &b->filter : NULL);
    b->excluded = b->point.excluded;
    if (b->quiet || out == TROUBLE)
        return out == NO ? YES : out;
    if (out == NO)
        warning("%s: is not there; starting from the beginning",
                b->point.path);
    else
        warning("%s: going on after %s lines", b->point.path,
                show_count(b->in.tally.lines));
    return YES;
}

/* --- the whole --- */

static enum outcome refused(const struct build *b,
                            const struct seen_error *why)
{
    if (why->code == SEEN_FULL)
        return trouble("%s: %s (--capacity %s); raise it, or give --over",
                       b->output, why->text, show_count(b->plan.capacity));
    return trouble_with(b->output, why);
}

/* Another process may hold the old file for a moment: hours of work must not
   be lost to that. */
static enum seen_code save(struct build *b, const struct seen_filter *f,
                           struct seen_error *why)
{
    enum seen_code code;

    do
        code = access_save(f, b->output, why);
    while (wait_again(&b->wait, code));
    return code;
}

/* Begin the log, or go on with that of the checkpoint. */
static enum seen_code begin_log(struct build *b, struct seen_error *why)
{
    const char *slash = strrchr(b->output, '/');
    struct seen_key_log_place place = { .memory = b->memory - 1 };
    char *folder;
    enum seen_code code;

    if (access_is_remote(b->output))
        folder = strdup(cmd_temporary_folder());
    else if (slash)
        folder = strndup(b->output, (size_t)(slash - b->output) + 1);
    else
        folder = strdup(".");
    if (!folder)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    place.folder = folder;
    code = seen_key_log_new(&b->log, &b->plan, b->keyed ? b->secret : NULL,
                            b->in.threads, &place, why);
    if (code == SEEN_OK && b->point.written)
        code = seen_key_log_restore(b->log, b->point.log, &b->point.mark, why);
    free(folder);
    return code;
}

/* Make what is filled: a log, a builder, or a filter where order matters. */
static enum seen_code begin_fill(struct build *b, struct seen_error *why)
{
    const unsigned char *secret = b->keyed ? b->secret : NULL;

    if (seen_kind_can(b->plan.kind, SEEN_NEEDS_ORDER))
        b->in.threads = 1;
    if (b->sizes)
        return begin_log(b, why);
    if (!seen_kind_can(b->plan.kind, SEEN_NEEDS_ORDER))
        return seen_build_new_keyed(&b->builder, &b->plan, secret,
                                    b->in.threads, why);
    if (b->filter)
        return SEEN_OK;
    return seen_filter_new_keyed(&b->filter, &b->plan, secret, why);
}

static void drop_fill(struct build *b)
{
    seen_build_free(b->builder);
    seen_filter_free(b->filter);
    seen_key_log_free(b->log);
    b->builder = NULL;
    b->filter = NULL;
    b->log = NULL;
}

/* An empty filter: its keys are kept, or it gets parts, when there are any. */
static enum seen_code make_empty(const struct build *b,
                                 struct seen_filter **empty,
                                 struct seen_error *why)
{
    const unsigned char *secret = b->keyed ? b->secret : NULL;
    struct seen_plan grown = b->plan;
    enum seen_code code;

    grown.tight = true;
    code = seen_filter_new_keyed(empty, &grown, secret, why);
    if (code == SEEN_OK && seen_store_keep_keys(*empty, NULL) == SEEN_OK)
        return SEEN_OK;
    seen_filter_free(*empty);
    *empty = NULL;
    grown = b->plan;
    if (code != SEEN_OK ||
        snprintf(grown.kind, sizeof grown.kind, "growing/%s", b->plan.kind) >=
            (int)sizeof grown.kind)
        return code;
    return seen_filter_new_keyed(empty, &grown, secret, why);
}

/*
 * Without any URL there is no capacity, and what is added later comes into a
 * filter that grows, if it can be one.
 */
static enum seen_code size_plan(struct build *b, struct seen_filter **empty,
                                struct seen_error *why)
{
    struct seen_plan *p = &b->plan;

    seen_key_log_size(b->log, p);
    if (seen_key_log_count(b->log) || access_is_remote(b->output) || p->bits ||
        p->probes || p->multiplier > 0)
        return SEEN_OK;
    p->capacity = SEEN_FIRST_KEYS;
    return seen_kind_can(p->kind, SEEN_ADDS_PARTS) ? SEEN_OK
                                                   : make_empty(b, empty, why);
}

/* The filter, which belongs to the caller. NULL after a message. */
static struct seen_filter *end_fill(struct build *b)
{
    struct seen_filter *f = NULL;
    struct seen_error why;
    enum seen_code code;

    if (b->log) {
        code = size_plan(b, &f, &why);
        if (access_is_remote(b->output) &&
            access_rehearse(b->output, &b->plan) != YES)
            return NULL;
        if (code == SEEN_OK && !f)
            code = seen_key_log_build(b->log, &b->plan, &f, &why);
    } else if (b->filter) {
        f = b->filter;
        b->filter = NULL;
        code = SEEN_OK;
    } else {
        code = seen_build_finish(b->builder, &f, &why);
        b->builder = NULL;
        if (code == SEEN_OK)
            code = checkpoint_unite(&b->point, f, &why);
    }
    if (code == SEEN_OK)
        return f;
    seen_filter_free(f);
    refused(b, &why);
    return NULL;
}

/* Read all inputs. */
static enum outcome fill(struct build *b)
{
    struct seen_error why;
    enum outcome out;

    if (begin_fill(b, &why) != SEEN_OK)
        return refused(b, &why);
    out = cmd_ingest_run(&b->in, "building", &why);
    if (why.code != SEEN_OK)
        refused(b, &why);
    return out;
}

/* What --keys came to: nothing, if there was no index. Keys that were compared
   are those of the URLs. */
static enum seen_index_keys decided(const struct build *b)
{
    if (b->asked == SEEN_KEYS_AUTO && b->in.agreement.checked)
        return SEEN_KEYS_DERIVED;
    return b->asked;
}

enum outcome build_fill(struct build *b)
{
    struct seen_filter *f = NULL;
    struct seen_error why;
    enum outcome out;

    b->in.keys = add_batch;
    b->in.end = flush;
    out = fill(b);
    cmd_rejects_report(&b->in);
    if (out == YES)
        out = build_whole(b, &b->in);
    if (out == YES)
        out = build_filled(b, &b->in, b->in.tally.urls, b->excluded);
    if (out == YES) {
        f = end_fill(b);
        out = f ? YES : TROUBLE;
    }
    drop_fill(b);
    if (out != YES)
        return out;
    seen_filter_set_keys(f, decided(b));
    out = build_meta(b, f);
    if (out == YES && save(b, f, &why) != SEEN_OK)
        out = trouble_with(b->output, &why);
    if (out == YES) {
        checkpoint_drop(&b->point);
        build_report(b, f);
    }
    seen_filter_free(f);
    return out;
}
