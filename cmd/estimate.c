/* estimate.c - the first pass of a build that was given no capacity. */
#include "estimate.h"

#include <stdlib.h>
#include <string.h>

#include <seen/kind.h>
#include <seen/url.h>

#include "distinct.h"

struct estimates {
    const struct seen_ingest *like;
    const struct exclude *without;
    uint64_t excluded;
    unsigned layers;            /* 0: only whole URLs are counted */
    struct distinct (*by_thread)[1 + SEEN_LAYERS];
};

/* L of "routed:16/layered:L", or 0. */
static unsigned layers_of(const char *kind)
{
    const char *at = seen_kind_which(kind, SEEN_HAS_LAYERS);
    char arg[16];
    long n;

    if (!at || !seen_kind_arg(at, 0, arg, sizeof arg))
        return 0;
    n = strtol(arg, NULL, 10);
    return n > 0 && n <= SEEN_LAYERS ? (unsigned)n : 0;
}

/* Count the segments of a URL, each for the layer that it goes to. */
static void count_segments(struct distinct *layer, unsigned layers,
                           const char *text, size_t len)
{
    size_t end[SEEN_LAYERS], from = 0;
    unsigned n = seen_url_segments(text, len, end, layers);
    struct seen_key key;

    for (unsigned i = 0; i < n; i++) {
        seen_key_hash(&key, text + from, end[i] - from);
        distinct_add(&layer[i], key.hi);
        from = end[i] + 1;
    }
}

static enum seen_code count_batch(void *to, unsigned thread,
                                  struct seen_batch *batch,
                                  struct seen_error *why)
{
    struct estimates *e = to;
    struct distinct *d = e->by_thread[thread];
    size_t excluded = 0;

    (void)why;
    for (size_t i = 0; i < batch->n; i++) {
        const struct seen_key *key = &batch->key[i];

        if (exclude_has(e->without, key)) {
            excluded++;
            continue;
        }
        distinct_add(&d[0], key->hi);
        if (e->layers)
            count_segments(&d[1], e->layers, key->text, key->len);
    }
    if (excluded)
        __atomic_fetch_add(&e->excluded, excluded, __ATOMIC_RELAXED);
    return SEEN_OK;
}

static bool selected(void *to, const struct seen_capture *c)
{
    const struct estimates *e = to;

    return e->like->select(e->like->to, c);
}

enum outcome estimate(const struct seen_ingest *like,
                      const struct exclude *without, struct seen_plan *plan,
                      struct seen_ingest *found, uint64_t *excluded)
{
    struct estimates e = { .like = like,
                           .without = without,
                           .layers = layers_of(plan->kind) };
    struct seen_ingest in = { .source = like->source,
                              .keying = like->keying,
                              .detail = like->detail,
                              .threads = like->threads,
                              .every = like->every,
                              .strict = like->strict,
                              .keys = count_batch,
                              .select = like->select ? selected : NULL,
                              .to = &e };
    struct seen_error why;
    enum outcome out;

    e.by_thread = calloc(in.threads, sizeof *e.by_thread);
    if (!e.by_thread)
        return trouble("no memory for %u threads; give fewer --threads",
                       in.threads);
    out = cmd_ingest_run(&in, "counting", &why);
    if (why.code != SEEN_OK)
        trouble("%s", why.text);
    seen_source_rewind(in.source);
    for (unsigned i = 0; i <= e.layers && out == YES; i++) {
        struct distinct *sum = &e.by_thread[0][i];

        for (unsigned j = 1; j < in.threads; j++)
            distinct_merge(sum, &e.by_thread[j][i]);
        if (i)
            plan->segments[i - 1] = distinct_capacity(sum);
        else
            plan->capacity = distinct_capacity(sum);
    }
    if (out == TROUBLE)
        cmd_rejects_report(&in);
    *found = in;
    *excluded = e.excluded;
    free(e.by_thread);
    return out;
}
