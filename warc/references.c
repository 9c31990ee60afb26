/*
 * references.c - what records say about each other: ids that are used twice,
 * and revisits whose record is missing or has another payload.
 *
 * The records of all files are sorted by id, then by URL and date, so that this
 * costs a sort and no table.
 */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "checking.h"

static void complain(struct warc_check *c, struct warc_counts *counts,
                     const struct warc_entry *e, bool note, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));

static void complain(struct warc_check *c, struct warc_counts *counts,
                     const struct warc_entry *e, bool note, const char *format,
                     ...)
{
    char text[256], clean[256];
    struct warc_fault fault = {
        .file = c->found.path[e->file],
        .at = e->at,
        .record = e->number,
        .type = e->flags & WARC_ENTRY_REVISIT ? "revisit" : "",
        .url = "",
        .note = note,
        .text = clean,
    };
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    warc_show(clean, sizeof clean, text, strlen(text));
    if (note)
        counts->notes++;
    else
        counts->faults++;
    c->report(c->owner, &fault);
}

static int compare_prints(struct warc_print a, struct warc_print b)
{
    if (a.lo != b.lo)
        return a.lo < b.lo ? -1 : 1;
    return (a.hi > b.hi) - (a.hi < b.hi);
}

/* Sorts pointers; entries lie in the order of the files. */
static int order(const struct warc_entry *a, const struct warc_entry *b,
                 int difference)
{
    return difference ? difference : (a > b) - (a < b);
}

static int by_id(const void *a, const void *b)
{
    const struct warc_entry *const *x = a, *const *y = b;

    return order(*x, *y, compare_prints((*x)->id, (*y)->id));
}

static int by_event(const void *a, const void *b)
{
    const struct warc_entry *const *x = a, *const *y = b;

    return order(*x, *y, compare_prints((*x)->event, (*y)->event));
}

/* Reported in the order of the files, which `first` has. */
static void find_twins(struct warc_check *c, struct warc_counts *counts,
                       const struct warc_entry *const *sorted,
                       const struct warc_entry **first)
{
    const struct warc_entry *all = c->found.entry;

    for (size_t i = 1; i < c->found.n; i++) {
        const struct warc_entry *e = sorted[i], *before = sorted[i - 1];

        if (e->flags & WARC_ENTRY_ID && before->flags & WARC_ENTRY_ID &&
            warc_print_same(e->id, before->id))
            first[e - all] = first[before - all] ? first[before - all]
                                                 : before;
    }
    for (size_t i = 0; i < c->found.n; i++)
        if (first[i])
            complain(c, counts, &all[i], false,
                     "the record id is also that of record %llu of %.120s",
                     (unsigned long long)first[i]->number,
                     c->found.path[first[i]->file]);
}

/* The first entry that is not before `key`. */
static size_t lower(const struct warc_entry *const *sorted, size_t n,
                    struct warc_print key, bool ids)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct warc_entry *e = sorted[middle];

        if (compare_prints(ids ? e->id : e->event, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * Among the records that `key` names: is there a capture with a payload, and
 * one with the digest of the revisit? Dates of seconds may name several.
 */
static void look_up(const struct warc_check *c,
                    const struct warc_entry *const *sorted, bool ids,
                    const struct warc_entry *e, bool *there, bool *same)
{
    struct warc_print key = ids ? e->refers_id : e->refers;

    *there = *same = false;
    for (size_t i = lower(sorted, c->found.n, key, ids); i < c->found.n; i++) {
        const struct warc_entry *it = sorted[i];

        if (!warc_print_same(ids ? it->id : it->event, key))
            break;
        if (it == e || !(it->flags & WARC_ENTRY_CAPTURE))
            continue;
        *there = true;
        *same |= !(e->flags & WARC_ENTRY_DIGEST) ||
                 !(it->flags & WARC_ENTRY_DIGEST) || it->digest == e->digest;
    }
}

static void check_revisits(struct warc_check *c, struct warc_counts *counts,
                           const struct warc_entry *const *sorted, bool ids)
{
    unsigned flag = ids ? WARC_ENTRY_REFERS_ID : WARC_ENTRY_REFERS;
    bool there, same;

    for (size_t i = 0; i < c->found.n; i++) {
        const struct warc_entry *e = &c->found.entry[i];

        if (!(e->flags & WARC_ENTRY_REVISIT) || !(e->flags & flag))
            continue;
        look_up(c, sorted, ids, e, &there, &same);
        if (!there)
            complain(c, counts, e, true,
                     "the record that it refers to %s is not in these files",
                     ids ? "by id" : "by URL and date");
        else if (!same)
            complain(c, counts, e, false,
                     "it refers %s to a record with another payload digest",
                     ids ? "by id" : "by URL and date");
    }
}

enum seen_code warc_check_end(struct warc_check *c, struct warc_counts *counts,
                              struct seen_error *why)
{
    const struct warc_entry **sorted, **first;

    if (!c->found.n)
        return SEEN_OK;
    sorted = calloc(2 * c->found.n, sizeof *sorted);
    if (!sorted)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to compare records");
    first = sorted + c->found.n;
    for (size_t i = 0; i < c->found.n; i++)
        sorted[i] = &c->found.entry[i];
    qsort(sorted, c->found.n, sizeof *sorted, by_id);
    find_twins(c, counts, sorted, first);
    check_revisits(c, counts, sorted, true);
    qsort(sorted, c->found.n, sizeof *sorted, by_event);
    check_revisits(c, counts, sorted, false);
    free(sorted);
    return SEEN_OK;
}
