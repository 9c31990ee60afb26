/*
 * query.c - the parameters of a query in order.
 *
 * a=2&b&a=1 becomes a=1&a=2&b: sorted by name, then those without a value
 * before those with an empty one, then by value. That is not the order of the
 * texts, where "a=1" comes after "a-b=1". Equal parameters are equal texts,
 * so that any sort will do; heapsort needs no memory, and nobody can write a
 * query that makes it slow.
 */
#include <stdint.h>
#include <string.h>

#include <seen/url.h>

#include "surt.h"

struct parameter {
    uint16_t at, name, len; /* name: bytes before the "=" */
};

static int order(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int sign = memcmp(a, b, a_len < b_len ? a_len : b_len);

    return sign ? sign : (a_len > b_len) - (a_len < b_len);
}

static int compare(const char *query, const struct parameter *a,
                   const struct parameter *b)
{
    const char *p = query + a->at, *q = query + b->at;
    int sign = order(p, a->name, q, b->name);

    if (sign)
        return sign;
    return order(p + a->name, (size_t)(a->len - a->name), q + b->name,
                 (size_t)(b->len - b->name));
}

static void sift(const char *query, struct parameter *p, size_t top, size_t n)
{
    struct parameter moved = p[top];
    size_t child;

    for (; (child = 2 * top + 1) < n; top = child) {
        if (child + 1 < n && compare(query, &p[child], &p[child + 1]) < 0)
            child++;
        if (compare(query, &moved, &p[child]) >= 0)
            break;
        p[top] = p[child];
    }
    p[top] = moved;
}

static void heap_sort(const char *query, struct parameter *p, size_t n)
{
    for (size_t i = n / 2; i--;)
        sift(query, p, i, n);
    while (n > 1) {
        struct parameter last = p[--n];

        p[n] = p[0];
        p[0] = last;
        sift(query, p, 0, n);
    }
}

/* The parameter at `at`, which ends at the next "&". */
static struct parameter parameter(const char *query, size_t at, size_t len)
{
    const char *text = query + at, *and = memchr(text, '&', len - at), *equal;
    size_t n = and? (size_t)(and-text) : len - at;

    equal = memchr(text, '=', n);
    return (struct parameter){ (uint16_t)at,
                               (uint16_t)(equal ? (size_t)(equal - text) : n),
                               (uint16_t)n };
}

bool surt_query_sorted(const char *query, size_t len)
{
    struct parameter p = parameter(query, 0, len), next;

    for (; (size_t)p.at + p.len < len; p = next) {
        next = parameter(query, (size_t)p.at + p.len + 1, len);
        if (compare(query, &p, &next) > 0)
            return false;
    }
    return true;
}

/* Apart, since room for all the parameters there could be is not free. */
__attribute__((noinline)) static void sort(char *query, size_t len)
{
    struct parameter p[SEEN_KEY_TEXT + 1];
    char text[SEEN_KEY_TEXT];
    size_t n = 0, at = 0;

    do {
        p[n] = parameter(query, at, len);
        at += (size_t)p[n++].len + 1;
    } while (at <= len);
    memcpy(text, query, len);
    heap_sort(text, p, n);
    at = 0;
    for (size_t i = 0; i < n; i++) {
        if (i)
            query[at++] = '&';
        memcpy(query + at, text + p[i].at, p[i].len);
        at += p[i].len;
    }
}

void surt_sort_query(char *query, size_t len)
{
    if (!surt_query_sorted(query, len))
        sort(query, len);
}
