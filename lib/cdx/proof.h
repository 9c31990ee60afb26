/*
 * proof.h - is this key the SURT of that URL, seen without making it?
 *
 *     com,example)/a/b?c=d        the key: a SURT of our form (scan.h)
 *     └── 1 ────┘└──── 2 ────┘
 *     http://www3.example.com/A/b?c=d
 *
 * 1. The scheme is http or https, and the labels of the host are those of the
 *    key in reverse order, after a "www." that our form drops.
 * 2. What follows is the same text but for upper case, and is written as our
 *    form has it: escapes that must be there and no others, no "//" or "/." in
 *    the path, a query in order and without a session.
 *
 * It is done for every line of an index, each of which takes 30 ns. A branch
 * that nobody can predict costs 5. So there are none for what differs from line
 * to line: the scheme, "www.", where labels end, a slash at the end, whether
 * there is a query. Labels are compared where they stand, 64 bytes each, of
 * which those that are too many are shifted away; and of the text one
 * comparison finds all bytes that need a look (proof_look()), of which there
 * are mostly none. The host of the line before is not remembered: to see that
 * it is the same takes almost as long, and where it often is not, longer.
 *
 * "False" only means that it was not proved: ports, sessions, sorted queries,
 * odd escapes and other rare things are for seen_url_surt(). What is proved is
 * right for certain: test/cdx/proof_test.c asks seen_url_surt() about random
 * URLs in all the ways in which other tools write keys.
 */
#ifndef SEEN_CDX_PROOF_H
#define SEEN_CDX_PROOF_H

#include <seen/url.h>

#include "../text/hex.h"
#include "../text/little.h"
#include "../url/surt.h"
#include "scan.h"

/* Compare the host of a key, of `len` bytes, with what is the host of a URL if
   that has as many. True if the labels are the same in reverse order. */
typedef bool proof_host(const char *key, size_t len, const char *host);

/* Compare `len` bytes of the path and query of a key with those of a URL.
   `query` is where in them the "?" is, or `len`. */
typedef bool proof_text(const char *key, size_t len, size_t query,
                        const char *url);

/* Is a label, from `from` to `to` of a key, not empty, and a label in the URL,
   too, where it stands as far from the end as here from the beginning? */
static inline bool proof_label(const char *host, size_t len, size_t from,
                               size_t to)
{
    return to > from && (to == len || host[len - to - 1] == '.');
}

static inline bool proof_host_portable(const char *key, size_t len,
                                       const char *host)
{
    for (size_t from = 0, at = 0; at < len; from = ++at) {
        while (at < len && key[at] != ',')
            at++;
        if (!proof_label(host, len, from, at))
            return false;
        for (size_t i = from; i < at; i++)
            if (key[i] != host[len - at + i - from] || key[i] == '.')
                return false;
    }
    return true;
}

/* Is this "%", of a text of which `left` bytes are left, an escape of a byte
   that must be escaped? Those of "%" are left to others, since they may be a
   part of another escape. */
static inline bool proof_escape(const char *at, size_t left)
{
    int high = left < 3 ? -1 : hex_digit(at[1]);
    int low = left < 3 ? -1 : hex_digit(at[2]);
    char c;

    if (high < 0 || low < 0)
        return false;
    c = (char)(high << 4 | low);
    return !is_visible(c) || c == '#';
}

/* May a name end with this "d" by which session.c knows a session? All these
   have "sid=", "sessionid" or "cfid=" in them. */
static inline bool proof_named(const char *d)
{
    return d[-1] == 'i' && (d[-2] == 's' || d[-2] == 'n' || d[-2] == 'f');
}

/* Is there a session in a query? */
bool proof_session(const char *query, size_t len);

static inline bool proof_text_portable(const char *key, size_t len,
                                       size_t query, const char *url)
{
    bool several = false, named = false;
    char before = 0;

    for (size_t i = 0; i < len; before = key[i++]) {
        char c = key[i];

        if (ascii_lower(url[i]) != c || !is_visible(c) || c == '#' ||
            c == '(' || c == '\\' || c == '"' ||
            (c == '%' && !proof_escape(key + i, len - i)) ||
            (i < query && before == '/' && (c == '/' || c == '.')))
            return false;
        several |= i > query && c == '&';
        named |= i > query + 2 && c == 'd' && proof_named(key + i);
    }
    key += query + 1;
    len -= query + 1;
    return !(named && proof_session(key, len)) &&
           !(several && !surt_query_sorted(key, len));
}

/* --- 64 bytes at a time --- */

/* A bit per byte of 64: equal to c; different in a and b; to be looked at
   (proof_look()). Bits past an end mean nothing. */
typedef uint64_t proof_equal(const char *at, char c);
typedef uint64_t proof_unlike(const char *a, const char *b);
typedef uint64_t proof_odd(const char *key, const char *url);

/* See proof_host_portable(); of at most 63 bytes. */
static inline __attribute__((always_inline)) bool proof_host_wide(
    const char *key, size_t len, const char *host, proof_equal *equal,
    proof_unlike *unlike)
{
    uint64_t odd = equal(key, '.') << (64 - len);
    uint64_t commas = equal(key, ',') & ((UINT64_C(1) << len) - 1);
    size_t at = 0;

    if (commas & (commas << 1 | 1))
        return false;
    for (; commas; commas &= commas - 1) {
        size_t to = (size_t)__builtin_ctzll(commas);
        const char *label = host + len - to;

        if (label[-1] != '.')
            return false;
        odd |= unlike(key + at, label) << (64 - (to - at));
        at = to + 1;
    }
    return !(odd | unlike(key + at, host) << (64 - (len - at)));
}

/* Is a query in order, as is seen from the first letters of its parameters?
   `ands` is where in the text they end, none of them at the end. Above "=" there
   is nothing with which a name or a parameter ends. */
static inline bool proof_ordered(const char *text, size_t query, uint64_t ands)
{
    char before = text[query + 1];

    if ((size_t)__builtin_ctzll(ands) < query)
        return false;
    for (; ands; ands &= ands - 1) {
        char c = text[__builtin_ctzll(ands) + 1];

        if (c <= before || c <= '=')
            return false;
        before = c;
    }
    return true;
}

/* See proof_text_portable(). False if more must be looked at. */
static inline __attribute__((always_inline)) bool proof_text_wide(
    const char *key, size_t len, size_t query, const char *url,
    proof_equal *equal, proof_odd *odd)
{
    uint64_t ands;

    if (len > 64 || odd(key, url) << (64 - len))
        return false;
    ands = equal(key, '&') << (64 - len);
    return !ands ||
           (ands >> 63 == 0 && proof_ordered(key, query, ands >> (64 - len)));
}

/* A path and query, and what is known of them up to a place. */
struct proof_state {
    const char *key, *url;
    size_t len, query;
    size_t parameter; /* where the last one begins; or 0: no "&" was seen */
    bool named, unsorted;
};

/*
 * Look at bytes at `at`, given as bits, that need it: they differ from those of
 * the URL, may be a part of a session's name, or are one of
 *
 *     " # ( \ /     a slash if a slash or a dot follows
 *     % &           in most keys there are none of these, or few
 *
 * or no visible ASCII. False if this shows that the key is not proved.
 */
bool proof_look(struct proof_state *s, size_t at, uint64_t bits);

/* The same once all was looked at. */
bool proof_looked(const struct proof_state *s);

/* A text that is not proved at once. */
static inline __attribute__((always_inline)) bool proof_text_rest(
    const char *key, size_t len, size_t query, const char *url,
    proof_equal *equal, proof_odd *odd)
{
    struct proof_state s = { key, url, len, query, 0, false, false };

    for (size_t i = 0; i < len; i += 64) {
        uint64_t look = odd(key + i, url + i) | equal(key + i, '&');

        if (len - i < 64)
            look &= (UINT64_C(1) << (len - i)) - 1;
        if (look && !proof_look(&s, i, look))
            return false;
    }
    return !(s.named | s.unsorted) || proof_looked(&s);
}

/* Sets of bytes, each of which stands where its lower four bits are, so that
   one shuffle and one comparison show which of many bytes are in it. */
extern const char proof_rare[16]; /* " # % ( \ and a blank */
extern const char proof_snf[16];  /* the letters before "id" */

/* --- a line --- */

/* Past "www12.", or "www1." mostly, if `len` is before it. */
static inline size_t proof_number(const char *url, size_t len, const char *end)
{
    const char *p = url + len + 4;

    while (p < end && ascii_digit(*p))
        p++;
    return p < end && *p == '.' ? (size_t)(p + 1 - url) : len;
}

/*
 * The length of "http://" or "https://" and of a "www." or "www12." after it,
 * at the beginning of a URL; 0 if it has neither scheme. At least 16 bytes are
 * looked at. Of branches there is only one for numbers: nobody can predict
 * which scheme the next line has, and if it has a "www.".
 */
static inline size_t proof_prefix(const char *url, const char *end)
{
    const uint32_t http = 0x70747468, slashes = 0x2f2f3a, www = 0x2e777777,
                   www0 = 0x30777777;
    size_t len = url[4] == 's' ? 8 : 7;
    uint32_t x;

    if (little_32(url) != http || little_32(url + len - 4) >> 8 != slashes)
        return 0;
    x = little_32(url + len);
    len += x == www ? 4 : 0;
    x ^= www0;
    return (x << 8 | x >> 24) < 10 ? proof_number(url, len, end) : len;
}

/* The same of any URL. */
size_t proof_prefix_any(const char *url, const char *end);

/* A key, of which a scanner found what it has, and what may be its URL from the
   host on, without "www.". */
struct proof {
    const char *key, *url;
    size_t host, text; /* how long both are; of the text: path and query */
    size_t query;      /* where in the text the "?" is, or its length */
};

/* The key must be a SURT of our form without control bytes. False if the host
   may be an address, of which there are several forms, or the query is empty. */
static inline __attribute__((always_inline)) bool proof_begin(
    struct proof *p, const char *key, const struct cdx_key_scan *k,
    const char *url)
{
    p->key = key;
    p->url = url;
    p->host = k->close;
    p->text = k->len - k->close - 1;
    p->query = (k->query < k->len ? k->query : k->len) - k->close - 1;
    return !ascii_digit(*key) && p->query + 1 != p->text;
}

/* Where the URL ends, if all of the key is in it and what it ends with stands
   before `end`; or NULL. A slash may end a path that has more than that. */
static inline __attribute__((always_inline)) const char *proof_stop(
    const struct proof *p, const char *end, char stop)
{
    const char *at = p->url + p->host + p->text;

    if (end - p->url < (ptrdiff_t)(p->host + p->text + 2))
        return NULL;
    at += (*at == '/') & (p->query == p->text) & (p->text > 1);
    return *at == stop ? at : NULL;
}

/* The same, or where it ends at `end` or at a carriage return before that. */
static inline const char *proof_end(const struct proof *p, const char *end,
                                    char stop)
{
    const char *at = p->url + p->host + p->text;

    if (end - p->url < (ptrdiff_t)(p->host + p->text))
        return NULL;
    if (at < end && *at == '/' && p->query == p->text && p->text > 1)
        at++;
    return at == end || *at == stop || (*at == '\r' && at + 1 == end) ? at
                                                                      : NULL;
}

/* Is the key that of the URL, but for where this ends? */
static inline __attribute__((always_inline)) bool proof_same(
    const struct proof *p, proof_host *same_host, proof_text *same_text)
{
    return same_host(p->key, p->host, p->url) &&
           same_text(p->key + p->host + 1, p->text, p->query,
                     p->url + p->host);
}

#endif
