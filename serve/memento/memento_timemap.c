/* memento_timemap.c - merge captures in order of time. */
#include "memento_timemap.h"

#include <stdlib.h>
#include <string.h>

struct memento_timemap *memento_timemap_new(size_t archives)
{
    struct memento_timemap *t = calloc(1, sizeof *t);

    if (t && !(t->report = calloc(archives + 1, sizeof *t->report))) {
        free(t);
        return NULL;
    }
    if (t) {
        t->references = 1;
        t->reports = archives;
    }
    return t;
}

struct memento_timemap *memento_timemap_keep(struct memento_timemap *t)
{
    __atomic_add_fetch(&t->references, 1, __ATOMIC_RELAXED);
    return t;
}

void memento_timemap_release(struct memento_timemap *t)
{
    if (!t || __atomic_sub_fetch(&t->references, 1, __ATOMIC_ACQ_REL))
        return;
    for (size_t i = 0; i < t->reports; i++) {
        free(t->report[i].name);
        buffer_clear(&t->report[i].urls);
    }
    free(t->report);
    free(t->capture);
    free(t);
}

/* By time; then by URL, so that equal ones stand together. */
static int compare(const void *a, const void *b)
{
    const struct memento_capture *x = a, *y = b;
    const uint32_t len = x->len < y->len ? x->len : y->len;
    int differ;

    if (x->when != y->when)
        return x->when < y->when ? -1 : 1;
    differ = memcmp(x->url, y->url, len);
    if (differ || x->len != y->len)
        return differ ? differ : x->len < y->len ? -1 : 1;
    return x->archive < y->archive ? -1 : x->archive > y->archive;
}

static bool is_same(const struct memento_capture *a,
                    const struct memento_capture *b)
{
    return a->when == b->when && a->len == b->len &&
           !memcmp(a->url, b->url, a->len);
}

void memento_timemap_finish(struct memento_timemap *t)
{
    size_t n = 0;

    if (t->captures)
        qsort(t->capture, t->captures, sizeof *t->capture, compare);
    for (size_t i = 0; i < t->captures; i++)
        if (!n || !is_same(&t->capture[n - 1], &t->capture[i])) {
            t->capture[n++] = t->capture[i];
            t->report[t->capture[i].archive].mementos++;
        }
    t->captures = n;
    t->bytes = sizeof *t + n * sizeof *t->capture;
    for (size_t i = 0; i < t->reports; i++) {
        const struct memento_report *r = &t->report[i];

        t->failed += r->failed;
        t->skipped += r->skipped + r->future;
        t->bytes += sizeof *r + r->urls.room;
    }
}

size_t memento_timemap_closest(const struct memento_timemap *t, int64_t when)
{
    size_t low = 0, high = t->captures;

    while (low < high) { /* the first one that is later */
        const size_t middle = low + (high - low) / 2;

        if (t->capture[middle].when > when)
            high = middle;
        else
            low = middle + 1;
    }
    if (low == t->captures)
        return low - 1;
    if (!low || t->capture[low].when - when <= when - t->capture[low - 1].when)
        return low;
    return low - 1;
}
