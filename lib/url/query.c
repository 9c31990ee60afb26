/*
 * query.c - the parameters of a query in order.
 *
 * a=2&b&a=1 becomes a=1&a=2&b: sorted by name, then those without a value
 * before those with an empty one, then by value. That is not the order of the
 * texts, where "a=1" comes after "a-b=1". Equal parameters are equal texts,
 * so that any sort will do; heapsort needs no memory, and nobody can write a
 * query that makes it slow.
 *
 * Ordinary queries are short, and have few parameters whose names differ in
 * their first eight bytes. Those of a name are compared as one number, zeros
 * after its end: no name has a zero, so that a prefix comes first.
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

/* --- ordinary queries --- */

enum { TERMS = 32 };

struct term {
    uint64_t first; /* eight bytes of the name, the first one highest */
    struct parameter is;
};

/* The first bit at or after bit `at`. There is one. */
static size_t next_mark(const uint64_t *marks, size_t at)
{
    size_t word = at / 64;
    uint64_t bits = marks[word] >> at % 64 << at % 64;

    while (!bits)
        bits = marks[++word];
    return 64 * word + (size_t)__builtin_ctzll(bits);
}

static uint32_t four(const char *p)
{
    uint32_t x;

    memcpy(&x, p, sizeof x);
    return x;
}

/* Does the query end n bytes after byte `at`, or a parameter of it? */
static bool ends_at(const char *query, size_t len, size_t at, size_t n)
{
    return at + n == len || (at + n < len && query[at + n] == '&');
}

/*
 * May there be a session id? Before a "=" there is the end of jsessionid,
 * phpsessid, sid or cfid, or eight bytes after the end of aspsessionid.
 */
static bool suspicious(const char *query, size_t len, const uint64_t *equal)
{
    for (size_t w = 0; 64 * w < len; w++)
        for (uint64_t bits = equal[w]; bits; bits &= bits - 1) {
            size_t at = 64 * w + (size_t)__builtin_ctzll(bits);
            uint32_t name = at < 3 ? 0 : four(query + at - 3);

            if (name == four("fid=") ||
                ((name == four("sid=") || name == four("nid=")) &&
                 ends_at(query, len, at, 33)) ||
                (at >= 20 && four(query + at - 12) == four("onid") &&
                 ends_at(query, len, at, 25)))
                return true;
        }
    return false;
}

static uint64_t first_eight(const char *name, size_t len)
{
    uint64_t x;

    memcpy(&x, name, sizeof x);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return len >= 8 ? x : x & ~(UINT64_MAX >> 8 * len);
}

static bool before(const char *query, const struct term *a,
                   const struct term *b)
{
    return a->first != b->first ? a->first < b->first
                                : compare(query, &a->is, &b->is) < 0;
}

/* Copy in pieces of 32 bytes, which may be more than asked for. */
static void copy_pieces(char *to, const char *from, size_t len)
{
    for (size_t i = 0; i < len; i += 32)
        memcpy(to + i, from + i, 32);
}

/*
 * Few terms are put in order by counting, for each, those before it: there is
 * no branch that depends on them. False if two are equal in what is compared.
 */
static bool rank_few(unsigned char *order, const struct term *t, size_t n)
{
    unsigned char rank[TERMS] = { 0 };
    bool equal = false;

    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            bool less = t[i].first < t[j].first;

            equal |= t[i].first == t[j].first;
            rank[j] = (unsigned char)(rank[j] + less);
            rank[i] = (unsigned char)(rank[i] + !less);
        }
    for (size_t i = 0; i < n; i++)
        order[rank[i]] = (unsigned char)i;
    return !equal;
}

static void insert_few(unsigned char *order, const char *query,
                       const struct term *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t to = i;

        for (; to && before(query, &t[i], &t[order[to - 1]]); to--)
            order[to] = order[to - 1];
        order[to] = (unsigned char)i;
    }
}

static void sort_few(char *query, size_t len, const struct term *t, size_t n)
{
    unsigned char order[TERMS];
    char text[SURT_QUERY + 32];
    size_t at = 0;

    copy_pieces(text, query, len);
    if (n > 8 || !rank_few(order, t, n))
        insert_few(order, query, t, n);
    for (size_t i = 0; i < n; i++) {
        const struct parameter *p = &t[order[i]].is;

        copy_pieces(query + at, text + p->at, p->len);
        at += p->len;
        query[at++] = '&';
    }
}

size_t surt_tidy_query(char *query, size_t len, struct surt_marks *m)
{
    struct term t[TERMS];
    bool sorted = true;
    size_t n = 0;

    if (suspicious(query, len, m->equal)) {
        len = surt_strip_query(query, len);
        surt_sort_query(query, len);
        return len;
    }
    m->amp[len / 64] |= UINT64_C(1) << len % 64;
    m->equal[len / 64] |= UINT64_C(1) << len % 64;
    for (size_t at = 0, end; at <= len; at = end + 1, n++) {
        size_t name = next_mark(m->equal, at);

        if (n == TERMS) {
            surt_sort_query(query, len);
            return len;
        }
        end = next_mark(m->amp, at);
        name = (name < end ? name : end) - at;
        t[n].first = first_eight(query + at, name);
        t[n].is = (struct parameter){ (uint16_t)at, (uint16_t)name,
                                      (uint16_t)(end - at) };
        sorted = sorted && !(n && before(query, &t[n], &t[n - 1]));
    }
    if (!sorted)
        sort_few(query, len, t, n);
    return len;
}
