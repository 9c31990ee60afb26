/*
 * made.c - made-up URLs, each a function of its number.
 *
 * The lowest 48 bits of the number are mixed by a bijection that depends on
 * the seed, so that neighbours have nothing in common. The result is used up,
 * lowest bits first:
 *
 *     3 bits          how large the host is, which gives b
 *     b bits          which host of that size
 *     3 bits          how the path is laid out
 *     radix by radix  words, years, months, days of the path
 *     the rest        a number or a slug, last in the path
 *
 * so the text holds all of the number, and no two are alike. Each of the
 * eight sizes has the same number of pages, spread over 16 to 4 million
 * hosts: of a million URLs a few hosts have thousands of pages each, and a
 * hundred thousand have one, as on the web. Numbers from 2^48 on have their
 * upper bits after a semicolon. What looks random but is not needed to read
 * the number back (https, www) is derived from the host, and so is the offset
 * of its words and numbers: hosts differ in more than their names. Texts also
 * differ where http and https, or www and no www, count as the same (profile
 * surt).
 *
 * It takes about 45 ns, since texts are kept in one fixed width and copied as
 * such. There are 256 words, and none is the beginning of another, so two
 * words without a hyphen between them can be separated.
 */
#include "made.h"

#include <stdio.h>
#include <string.h>

#include <seen/key.h>

#include "made_words.h"

/* --- bijections --- */

static uint64_t stir(const struct made *m, uint64_t x)
{
    for (int i = 0; i < 3; i++) {
        x = (x + m->key[i]) * odd[i] & NUMBER_MASK;
        x ^= x >> (NUMBER_BITS / 2);
    }
    return x;
}

/* The same for hosts, so that those of one size share no words. */
static uint64_t stir_host(uint64_t h)
{
    h = h * 0x2c1b3c6d & HOST_MASK;
    h ^= h >> 12;
    return h * 0x297a2d39 & HOST_MASK;
}

/* --- texts of one fixed width, that are copied as such --- */

static struct made_piece piece(const char *text, size_t len)
{
    struct made_piece p = { .len = (unsigned char)len };

    memcpy(p.text, text, len);
    return p;
}

/* A layout as steps: literal text, then what is taken from the number. */
static void cut(struct made_step *step, const char *form)
{
    for (bool last = false; !last; step++) {
        size_t n = strcspn(form, "SWYMDNB");

        step->text = piece(form, n);
        step->what = form[n];
        last = !step->what;
        form += n + 1;
    }
}

void made_init(struct made *m, uint64_t seed)
{
    uint64_t first = 0;

    for (unsigned i = 0; i < 3; i++)
        m->key[i] = seen_mix(seed + i * UINT64_C(0x9e3779b97f4a7c15));
    for (int i = 0; i < 256; i++)
        m->word[i] = piece(word[i], strlen(word[i]));
    for (int i = 0; i < SECTIONS; i++)
        m->section[i] = piece(section[i], strlen(section[i]));
    for (int i = 0; i < 8; i++) {
        char end[16];
        int n = snprintf(end, sizeof end, "%s.", suffix[i]);

        m->suffix[i] = piece(end, (size_t)n);
        m->top[i] = piece(top[i], strlen(top[i]));
        m->scheme[i] = i & 3   ? i & 4 ? piece("https://www.", 12)
                                       : piece("https://", 8)
                         : i & 4 ? piece("http://www.", 11)
                               : piece("http://", 7);
        m->first[i] = first;
        first += UINT64_C(1) << size_bits[i];
        cut(m->form[i], layout[i]);
    }
}

/* --- writing --- */

static inline char *put(char *to, const struct made_piece *p)
{
    memcpy(to, p->text, sizeof p->text);
    return to + p->len;
}

/* With a constant base it needs no division. */
static inline char *put_number(char *to, uint64_t n, unsigned base)
{
    char digit[16]; /* of 48 bits and COUNT_FROM */
    int i = sizeof digit;

    do
        digit[--i] = "0123456789abcdefghijklmnopqrstuvwxyz"[n % base];
    while (n /= base);
    for (int j = i; j < (int)sizeof digit; j++)
        *to++ = digit[j];
    return to;
}

static char *put_two(char *to, uint64_t n)
{
    to[0] = (char)('0' + n / 10);
    to[1] = (char)('0' + n % 10);
    return to + 2;
}

/* The host; *chance is what is derived from it. */
static char *put_host(const struct made *m, char *to, uint64_t host,
                      uint64_t *chance)
{
    uint64_t h = stir_host(host);

    *chance = seen_mix(h + 1);
    to = put(to, &m->scheme[*chance & 7]);
    to = put(to, &m->word[h & 255]);
    *to = '-';
    to += h >> 16 & 1;
    to = put(to, &m->word[h >> 8 & 255]);
    to = put(to, &m->suffix[h >> 17 & 7]);
    return put(to, &m->top[h >> 20 & 7]);
}

/* The lowest digit of x, which is removed. */
static inline uint64_t spend(uint64_t *x, uint64_t radix)
{
    uint64_t digit = *x % radix;

    *x /= radix;
    return digit;
}

static char *put_path(const struct made *m, char *to,
                      const struct made_step *s, uint64_t x, uint64_t chance)
{
    for (;; s++) {
        to = put(to, &s->text);
        switch (s->what) {
        case 'S': to = put(to, &m->section[spend(&x, SECTIONS)]); break;
        case 'W':
            to = put(to, &m->word[(spend(&x, 256) + chance) & 255]);
            chance >>= 8;
            break;
        case 'Y':
            memcpy(to, "20", 2);
            to = put_two(to + 2, spend(&x, YEARS));
            break;
        case 'M': to = put_two(to, 1 + spend(&x, 12)); break;
        case 'D': to = put_two(to, 1 + spend(&x, 28)); break;
        case 'N': to = put_number(to, x + chance % COUNT_FROM, 10); break;
        case 'B': to = put_number(to, x + chance % COUNT_FROM, 36); break;
        default: return to;
        }
    }
}

size_t made_url(const struct made *m, uint64_t i, char *url)
{
    uint64_t x = stir(m, i & NUMBER_MASK), host, chance;
    unsigned size = (unsigned)spend(&x, 8);
    char *to;

    host = m->first[size] + (x & ((UINT64_C(1) << size_bits[size]) - 1));
    x >>= size_bits[size];
    to = put_host(m, url, host, &chance);
    to = put_path(m, to, m->form[x & 7], x >> 3, chance);
    if (i >> NUMBER_BITS) {
        *to++ = ';';
        to = put_number(to, i >> NUMBER_BITS, 10);
    }
    return (size_t)(to - url);
}
