/*
 * distant.c - a filter on a web server: its source, its cache, and what is
 * fetched when.
 *
 * What a list of URLs will need is not known before its end. So this pays as one
 * who rents until renting has cost as much as buying: parts are fetched as keys
 * need them, until they and the next ones would cost more than the whole file;
 * then all that is missing is fetched. At most about twice the file is sent. A
 * request counts as 64 KiB, about what a connection of 10 Mbit/s sends while it
 * waits for an answer.
 */
#include "distant.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <seen/ranges.h>

#include "../lib/disk/disk.h"
#include "../lib/text/memory.h"
#include "../lib/text/number.h"
#include "cache.h"
#include "source.h"

enum {
    REQUEST = 64 << 10, /* bytes that a request is worth */
    MANY = 5,           /* parts that are worth a word before they are fetched */
    STALL = 30,         /* seconds */
    RANGE_TIME = 600,   /* seconds of a request for a range, */
    WHOLE_TIME = 6 * 3600 /* and of one that brings the whole file */
};

static const uint64_t usual_cache = (uint64_t)1 << 30;
static const uint64_t usual_most = (uint64_t)1 << 30;
static const uint64_t usual_cost = 1000000;
static const uint64_t usual_fresh = 3600;

struct distant {
    struct distant_options options; /* with defaults filled in */
    struct distant_source source;
    struct distant_entry entry;
    bool cached; /* there is an entry */
    uint64_t paid; /* bytes and requests for parts */
    bool told;
    char url[];
};

static uint64_t or_else(uint64_t value, uint64_t usual)
{
    return value ? value : usual;
}

/* --- what is fetched --- */

static void say(struct distant *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct distant *d, const char *format, ...)
{
    char text[512], whole[sizeof text + 1600];
    va_list args;

    if (!d->options.say)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(whole, sizeof whole, "%.1500s: %s", d->url, text);
    d->options.say(d->options.whose, whole);
}

static uint64_t price(uint64_t requests, uint64_t bytes)
{
    return bytes + requests * REQUEST;
}

/* All keys are answered from what was kept: is that still what the server
   has? */
static enum seen_code weigh_kept(struct distant *d, struct seen_error *why)
{
    struct distant_version *v = &d->source.version;
    uint64_t now = (uint64_t)time(NULL);

    if (d->source.said ||
        (v->checked <= now && now - v->checked < d->options.fresh))
        return SEEN_OK;
    return distant_source_same(&d->source, why);
}

static enum seen_code weigh(void *of, const struct seen_ranges_need *need,
                            bool *all, struct seen_error *why)
{
    struct distant *d = of;
    uint64_t parts = price(need->ranges, need->bytes);
    uint64_t rest = price(need->rest / SEEN_RANGES_BYTES + 1, need->rest);

    if (!need->ranges)
        return weigh_kept(d, why);
    if (d->source.whole >= 0) { /* it is here already */
        *all = true;
    } else if (!*all && need->rest <= d->options.most &&
               d->paid + parts > rest) {
        *all = true;
        if (need->rest > need->bytes && need->ranges >= MANY)
            say(d, "fetching all of it, %s, instead of %" PRIu64 " parts",
                show_bytes(need->rest), need->ranges);
    } else if (need->ranges >= MANY && !d->told) {
        d->told = true;
        say(d, "fetching %" PRIu64 " parts of it, %s", need->ranges,
            show_bytes(need->bytes));
    }
    d->paid += parts;
    return SEEN_OK;
}

static enum seen_code read_ranges(void *of, struct seen_range *range, size_t n,
                                  uint64_t *length, struct seen_error *why)
{
    return distant_source_read(&((struct distant *)of)->source, range, n,
                               length, why);
}

/* --- from new to free --- */

/* What was read is right, and is the version that the server has now. */
static void keep(struct distant *d)
{
    if (!d->cached || !d->source.said)
        return;
    d->entry.version = d->source.version;
    distant_entry_keep(&d->entry);
}

static void distant_free(void *of)
{
    struct distant *d = of;

    if (d->cached) {
        if (d->entry.kept)
            keep(d);
        if (d->source.sent)
            distant_cache_shrink(&d->entry, d->options.cache_most);
    }
    distant_entry_close(&d->entry);
    fetch_free(d->source.web);
    if (d->source.whole >= 0)
        close(d->source.whole);
    free(d);
}

static enum seen_code open_web(struct distant *d, struct seen_error *why)
{
    const struct distant_options *o = &d->options;
    const struct fetch_options options = { .authorities = o->authorities,
                                           .allow_private = o->allow_private,
                                           .allow = o->allow,
                                           .stall = o->stall,
                                           .slow = 2 * o->stall,
                                           .timeout = WHOLE_TIME };

    return fetch_new(&d->source.web, &options, why);
}

/* Without a cache, parts are kept until the end, in a temporary file: a whole
   filter may be larger than memory. */
static void open_cache(struct distant *d, bool anew)
{
    struct seen_error why;

    if (!d->options.cache) {
        d->entry.fd = disk_temporary(d->source.tmp);
        return;
    }
    d->cached = distant_entry_open(&d->entry, d->options.cache, d->url, anew,
                                   &why) == SEEN_OK;
    if (!d->cached)
        say(d, "not kept for later: %s", why.text);
    else if (d->entry.kept)
        d->source.version = d->entry.version;
}

static enum seen_code distant_new(struct distant **out, const char *url,
                                  const struct distant_options *o, bool anew,
                                  struct seen_error *why)
{
    struct distant *d = calloc(1, sizeof *d + strlen(url) + 1);
    enum seen_code code;

    *out = NULL;
    if (!d)
        return no_memory_for(why, "a filter on the web");
    strcpy(d->url, url);
    d->options = *o;
    d->options.most = or_else(o->most, usual_most);
    d->options.cache_most = or_else(o->cache_most, usual_cache);
    d->options.cost = or_else(o->cost, usual_cost);
    d->options.fresh = or_else(o->fresh, usual_fresh);
    d->options.stall = o->stall ? o->stall : STALL;
    d->source = (struct distant_source){ .url = d->url,
                                         .most = d->options.most,
                                         .tmp = o->tmp ? o->tmp : "/tmp",
                                         .timeout = RANGE_TIME,
                                         .whole = -1,
                                         .say = o->say,
                                         .whose = o->whose };
    d->entry.fd = -1;
    code = open_web(d, why);
    if (code != SEEN_OK) {
        distant_free(d);
        return code;
    }
    open_cache(d, anew);
    *out = d;
    return SEEN_OK;
}

static enum seen_code check_cost(const struct distant *d,
                                 const struct seen_filter *f,
                                 struct seen_error *why)
{
    uint64_t cost = seen_filter_cost(f);

    if (cost <= d->options.cost)
        return SEEN_OK;
    return seen_fail(why, SEEN_RANGE, 0,
                     "%s: a question costs %" PRIu64 ", more than %" PRIu64,
                     seen_filter_plan(f)->kind, cost, d->options.cost);
}

/* Try once; *again: it may be because of what was kept, or because the file was
   replaced in between. */
static enum seen_code open_once(struct seen_filter **out, const char *url,
                                const struct distant_options *options,
                                const struct seen_access *access, bool *again,
                                struct seen_error *why)
{
    struct distant *d;
    struct seen_ranges ranges = { .read = read_ranges,
                                  .weigh = weigh,
                                  .close = distant_free,
                                  .decoys = options->decoys };
    enum seen_code code = distant_new(&d, url, options, *again, why);
    bool kept;

    *again = false;
    if (code != SEEN_OK)
        return code;
    kept = d->entry.kept;
    ranges.of = d;
    ranges.kept = d->entry.fd >= 0 ? &d->entry.fd : NULL;
    if (ranges.decoys)
        code = options->secrets
                   ? distant_secret(options->secrets, url, ranges.secret, why)
                   : seen_fail(why, SEEN_RANGE, 0,
                               "decoys need a folder for their secret");
    if (code != SEEN_OK) {
        distant_free(d);
        return code;
    }
    code = seen_ranges_open(out, &ranges, access, why); /* has d from now on */
    explicit_bzero(ranges.secret, sizeof ranges.secret);
    *again = code == SEEN_MISMATCH || (code == SEEN_CORRUPT && kept);
    if (code != SEEN_OK)
        return code;
    code = check_cost(d, *out, why);
    if (code == SEEN_OK && options->sure && !d->source.said) {
        code = distant_source_same(&d->source, why);
        *again = code == SEEN_MISMATCH;
    }
    if (code == SEEN_OK)
        keep(d);
    if (code != SEEN_OK) {
        seen_filter_free(*out);
        *out = NULL;
    }
    return code;
}

enum seen_code distant_open(struct seen_filter **out, const char *url,
                            const struct distant_options *options,
                            const struct seen_access *access,
                            struct seen_error *why)
{
    struct distant_options in_memory = *options;
    struct seen_error reason;
    bool again = false;
    enum seen_code code = open_once(out, url, options, access, &again,
                                    &reason);

    if (again)
        code = open_once(out, url, options, access, &again, &reason);
    in_memory.cache = NULL;
    if (code == SEEN_IO && options->cache &&
        (reason.system == ENOSPC || reason.system == EDQUOT)) {
        again = false;
        code = open_once(out, url, &in_memory, access, &again, &reason);
    }
    if (code != SEEN_OK && why)
        *why = reason;
    return code;
}

bool distant_moved(const char *url, const struct distant_options *options,
                   enum seen_code code)
{
    struct distant_entry e;

    if (code != SEEN_CORRUPT && code != SEEN_MISMATCH)
        return false;
    if (options->cache &&
        distant_entry_open(&e, options->cache, url, false, NULL) == SEEN_OK) {
        distant_entry_forget(&e);
        distant_entry_close(&e);
    }
    return true;
}
