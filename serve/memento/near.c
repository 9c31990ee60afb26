/*
 * near.c - six mementos, each replaced as a better one comes.
 *
 * The order is that of a TimeMap (memento_timemap.c): by time, then by URL. So
 * the six are the same in whatever order mementos are added.
 */
#include "near.h"

#include <string.h>

#include "../../lib/text/percent.h"
#include "memento_timemap.h"

enum { BEFORE, BEFORE_1, AFTER, AFTER_1, EARLIEST, LATEST };

/* Is the memento earlier (< 0), the same, or later than the kept one? */
static int compare(int64_t when, const struct buffer *url,
                   const struct memento_kept *k)
{
    const size_t len = url->len < k->url.len ? url->len : k->url.len;
    int differ;

    if (when != k->when)
        return when < k->when ? -1 : 1;
    differ = memcmp(url->bytes, k->url.bytes, len);
    if (differ || url->len == k->url.len)
        return differ;
    return url->len < k->url.len ? -1 : 1;
}

/* Would the time alone keep it out? `side` is 1 if later ones are better. */
static bool is_worse(int64_t when, const struct memento_kept *k, int side)
{
    return k->there && (side > 0 ? when < k->when : when > k->when);
}

static bool put(struct memento_kept *k, int64_t when, const struct buffer *url)
{
    k->url.len = 0;
    buffer_append(&k->url, url);
    k->when = when;
    k->there = !k->url.failed;
    return k->there;
}

/* The best one so far. */
static bool offer_one(struct memento_kept *k, int64_t when,
                      const struct buffer *url, int side)
{
    return (k->there && side * compare(when, url, k) <= 0) ||
           put(k, when, url);
}

/* The best two, the better one first. */
static bool offer_two(struct memento_kept *k, int64_t when,
                      const struct buffer *url, int side)
{
    const int differ = k[0].there ? side * compare(when, url, &k[0]) : 1;
    struct memento_kept better = k[1];

    if (!differ)
        return true;
    if (differ < 0)
        return offer_one(&k[1], when, url, side);
    k[1] = k[0];
    k[0] = better; /* its memory */
    return put(&k[0], when, url);
}

bool memento_near_add(struct memento_near *n, int64_t when,
                      struct seen_span url)
{
    const int side = when <= n->when ? 1 : -1;
    struct memento_kept *two = &n->kept[side > 0 ? BEFORE : AFTER];
    bool good;

    n->added++;
    if (is_worse(when, &two[1], side) &&
        is_worse(when, &n->kept[EARLIEST], -1) &&
        is_worse(when, &n->kept[LATEST], 1))
        return true;
    n->url.len = 0;
    percent_encode(&n->url, url.text, url.len, PERCENT_LINK);
    if (n->url.failed)
        return false;
    good = offer_two(two, when, &n->url, side);
    good = offer_one(&n->kept[EARLIEST], when, &n->url, -1) && good;
    return offer_one(&n->kept[LATEST], when, &n->url, 1) && good;
}

bool memento_near_closest(const struct memento_near *n, int64_t *when)
{
    const struct memento_kept *before = &n->kept[BEFORE],
                              *after = &n->kept[AFTER];

    if (!before->there && !after->there)
        return false;
    *when = !before->there || (after->there &&
                               after->when - n->when <= n->when - before->when)
                ? after->when
                : before->when;
    return true;
}

static int64_t distance(int64_t a, int64_t b)
{
    return a < b ? b - a : a - b;
}

bool memento_near_contradicts(const struct memento_near *n)
{
    const int64_t when = n->when;
    int64_t closest;

    if (!memento_near_closest(n, &closest) ||
        distance(n->chosen, when) <= distance(closest, when))
        return false;
    return !(n->names_prev && n->prev <= when && when <= n->chosen) &&
           !(n->names_next && n->chosen <= when && when <= n->next);
}

unsigned memento_near_unknown(const struct memento_near *n, int64_t closest)
{
    const int64_t first = n->kept[EARLIEST].when, last = n->kept[LATEST].when;
    unsigned unknown = 0;

    if (!n->partial)
        return 0;
    if (!n->names_first)
        unknown |= MEMENTO_FIRST;
    if (!n->names_last)
        unknown |= MEMENTO_LAST;
    if (!(n->names_first && closest <= first) &&
        !(n->names_prev && n->prev < closest && closest <= n->chosen) &&
        !(n->names_next && n->chosen < closest && closest <= n->next) &&
        !(n->names_last && last < closest))
        unknown |= MEMENTO_PREV;
    if (!(n->names_first && closest < first) &&
        !(n->names_prev && n->prev <= closest && closest < n->chosen) &&
        !(n->names_next && n->chosen <= closest && closest < n->next) &&
        !(n->names_last && last <= closest))
        unknown |= MEMENTO_NEXT;
    return unknown;
}

size_t memento_near_bytes(const struct memento_near *n)
{
    size_t sum = n->url.room;

    for (unsigned i = 0; i < MEMENTO_KEPT; i++)
        sum += n->kept[i].url.room;
    return sum;
}

void memento_near_clear(struct memento_near *n)
{
    for (unsigned i = 0; i < MEMENTO_KEPT; i++)
        buffer_clear(&n->kept[i].url);
    buffer_clear(&n->url);
    *n = (struct memento_near){ .when = n->when };
}
