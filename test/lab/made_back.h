/*
 * made_back.h - the number of a made-up URL, read back from its text.
 *
 * Since every number can be read back, no two made-up URLs are alike.
 */
#ifndef TEST_LAB_MADE_BACK_H
#define TEST_LAB_MADE_BACK_H

#include <string.h>

#include <seen/key.h>

#include "lab/made_words.h"

/* --- the inverse of what made.c does --- */

/* The inverse of an odd number modulo 2^64, by Newton. */
static uint64_t inverse(uint64_t x)
{
    uint64_t y = x;

    for (int i = 0; i < 6; i++)
        y *= 2 - x * y;
    return y;
}

static uint64_t unstir(const struct made *m, uint64_t x)
{
    for (int i = 2; i >= 0; i--) {
        x ^= x >> (NUMBER_BITS / 2);
        x = x * inverse(odd[i]) - m->key[i];
        x &= NUMBER_MASK;
    }
    return x;
}

static uint64_t unstir_host(uint64_t h)
{
    h = h * inverse(0x297a2d39) & HOST_MASK;
    h ^= h >> 12;
    return h * inverse(0x2c1b3c6d) & HOST_MASK;
}

/* --- reading --- */

/* A text that is read from its beginning; `bad` once something is amiss. */
struct made_text {
    const char *at, *end;
    bool bad;
};

static bool eat(struct made_text *t, const char *what)
{
    size_t n = strlen(what);

    if ((size_t)(t->end - t->at) < n || memcmp(t->at, what, n))
        return false;
    t->at += n;
    return true;
}

/* The number of the one word of a list that the text goes on with. */
static uint64_t get_word(struct made_text *t, const char (*list)[LONGEST + 1],
                         uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (eat(t, list[i]))
            return i;
    t->bad = true;
    return 0;
}

static uint64_t get_number(struct made_text *t, unsigned base)
{
    const char *begin = t->at;
    uint64_t n = 0;

    for (; t->at < t->end; t->at++) {
        char c = *t->at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10
                                                : base;

        if (digit >= base || n > NUMBER_MASK)
            break;
        n = n * base + digit;
    }
    t->bad |= t->at == begin;
    return n;
}

/* Two digits, from `low` on, `count` numbers of them. */
static uint64_t get_two(struct made_text *t, uint64_t low, uint64_t count)
{
    struct made_text two = { t->at, t->end - t->at < 2 ? t->end : t->at + 2,
                             false };
    uint64_t n = get_number(&two, 10);

    t->bad |= two.bad || two.at != t->at + 2 || n < low || n >= low + count;
    t->at = two.at;
    return n - low;
}

static bool get_host(struct made_text *t, uint64_t *host, uint64_t *chance)
{
    uint64_t h, i;

    if (!eat(t, "https://") && !eat(t, "http://"))
        return false;
    eat(t, "www.");
    h = get_word(t, word, 256);
    h |= (uint64_t)eat(t, "-") << 16;
    h |= get_word(t, word, 256) << 8;
    for (i = 8; --i > 0;) /* the empty one is first, and looked at last */
        if (eat(t, suffix[i]))
            break;
    h |= i << 17;
    if (t->bad || !eat(t, "."))
        return false;
    for (i = 0; i < 8; i++)
        if (eat(t, top[i]))
            break;
    if (i == 8)
        return false;
    h |= i << 20;
    *host = unstir_host(h);
    *chance = seen_mix(h + 1);
    return true;
}

/* The reverse of put_path(). */
static bool get_path(struct made_text *t, const char *form, uint64_t chance,
                     uint64_t *x)
{
    uint64_t digit, unit = 1;

    *x = 0;
    for (; *form && !t->bad; form++) {
        uint64_t radix = 1;

        digit = 0;
        switch (*form) {
        case 'S': digit = get_word(t, section, radix = SECTIONS); break;
        case 'W':
            digit = (get_word(t, word, radix = 256) - chance) & 255;
            chance >>= 8;
            break;
        case 'Y':
            t->bad |= !eat(t, "20");
            digit = get_two(t, 0, radix = YEARS);
            break;
        case 'M': digit = get_two(t, 1, radix = 12); break;
        case 'D': digit = get_two(t, 1, radix = 28); break;
        case 'N':
        case 'B':
            digit = get_number(t, *form == 'N' ? 10 : 36);
            t->bad |= digit < chance % COUNT_FROM;
            digit -= chance % COUNT_FROM;
            break;
        default:
            t->bad |= t->at == t->end || *t->at != *form;
            t->at += t->at < t->end;
        }
        *x += digit * unit;
        unit *= radix;
    }
    return !t->bad;
}

static bool made_number(const struct made *m, const char *url, size_t len,
                        uint64_t *i)
{
    struct made_text t = { url, url + len, false };
    uint64_t host, chance, x = 0, more = 0;
    unsigned size = 0, form = 0;
    char again[MADE_MOST];

    if (!get_host(&t, &host, &chance))
        return false;
    for (; form < 8; form++) {
        struct made_text path = t;

        if (!get_path(&path, layout[form], chance, &x))
            continue;
        if (eat(&path, ";"))
            more = get_number(&path, 10);
        if (!path.bad && path.at == path.end)
            break;
    }
    if (form == 8)
        return false;
    for (; size < 7 && host >= UINT64_C(1) << size_bits[size]; size++)
        host -= UINT64_C(1) << size_bits[size];
    x = ((x << 3 | form) << size_bits[size] | host) << 3 | size;
    *i = more << NUMBER_BITS | unstir(m, x & NUMBER_MASK);
    /* What only looks like one of ours is none. */
    return made_url(m, *i, again) == len && !memcmp(again, url, len);
}

#endif
