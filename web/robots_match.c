/*
 * robots_match.c - patterns without stars in an order, those with stars as bits.
 *
 * A pattern without stars is the beginning of a text. All of them are sorted
 * by their bytes, so that those that begin with the first d bytes of the text
 * are neighbours:
 *
 *     text /ab/c    d = 0   /  /a  /a/  /ab  /ab/x  /b
 *                   d = 2      /a  /a/  /ab  /ab/x           "/a" matches
 *                   d = 3               /ab  /ab/x           "/ab" matches
 *                   d = 5                                    nothing is left
 *
 * Each byte of the text narrows them to a smaller part, by halving. So a byte
 * costs the logarithm of their number, and mostly two steps.
 *
 * A pattern with stars is a row of states, one bit each: how many of its bytes
 * have matched so far. A byte of the text moves all states of all patterns at
 * once, 64 per step (R. Baeza-Yates and G. H. Gonnet, "A new approach to text
 * searching", CACM 35, 1992; the stars as in G. Navarro and M. Raffinot,
 * "Flexible pattern matching in strings", 2002, section 4.3):
 *
 *     /a*b     state   0   1 '/'   2 'a'   3 'b'
 *                                  loop    loop, final
 *     next = (now << 1 & those that expect the byte) | (now & loop)
 *
 * A state before a star stays, whatever comes; so does the last one, unless
 * the pattern is anchored. At the end of the text the first final state whose
 * bit is set belongs to the first pattern that matches.
 *
 * Nothing in it depends on what the patterns are, only on how long: hence
 * WEB_ROBOTS_STATES. What do patterns do for which no state is left? A Disallow
 * is cut at its first star, so that it forbids more than it says, and an Allow
 * is left out. So nothing is fetched that the file forbids. The shortest
 * patterns get their states first, since then most of them have some. Why not
 * an automaton that is exact for any number, as for fixed words (A. V. Aho and
 * M. J. Corasick, 1975)? The pieces between stars may be suffixes of one another
 * in a thousand ways, and rules wait for them at different places; it is linear
 * only together with the file, at several times the code.
 */
#include "robots_match.h"

#include <stdlib.h>
#include <string.h>

#include "robots.h"

enum { WORDS_MOST = WEB_ROBOTS_STATES / 64 };

/* A text, and the first of the patterns that are it. There may be 60,000 per
   host: hence places instead of pointers. */
struct literal {
    uint32_t at, len;
    uint32_t begins, is; /* not anchored; anchored */
};

struct wild {
    uint32_t pattern;
    uint32_t final; /* the last state of the pattern */
};

/* As WEB_ROBOTS_NONE, among literals. */
static const uint32_t none = UINT32_MAX;

struct web_robots_matcher {
    const char *bytes; /* all texts are places in these */
    struct literal *literal;
    size_t literals;
    struct wild *wild; /* in the order of the patterns, and of their states */
    size_t wilds, coarse;
    size_t words, size;
    uint64_t *start, *loop, *final, *expects; /* [row][word] */
    unsigned char row[256]; /* of `expects`, per byte; row 0 is empty */
};

/* --- patterns without stars --- */

/* Shorter texts come before those that they begin. */
static int by_text(const void *a, const void *b, void *matcher)
{
    const struct web_robots_matcher *m = matcher;
    const struct literal *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int order = memcmp(m->bytes + x->at, m->bytes + y->at, n);

    return order ? order : (x->len > y->len) - (x->len < y->len);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static uint32_t first_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static unsigned char byte_of(const struct web_robots_matcher *m,
                             size_t literal, size_t at)
{
    return (unsigned char)m->bytes[m->literal[literal].at + at];
}

/* Give room back. */
static void *shrink(void *array, size_t n, size_t each)
{
    void *less = realloc(array, (n + 1) * each);

    return less ? less : array;
}

static void sort_literals(struct web_robots_matcher *m)
{
    size_t n = 0;

    if (m->literals)
        qsort_r(m->literal, m->literals, sizeof *m->literal, by_text, m);
    for (size_t i = 0; i < m->literals; i++) {
        struct literal *it = &m->literal[i], *last = &m->literal[n - (n > 0)];

        if (n && !by_text(last, it, m)) {
            last->begins = first_of(last->begins, it->begins);
            last->is = first_of(last->is, it->is);
        } else {
            m->literal[n++] = *it;
        }
    }
    m->literals = n;
}

/* The first literal from `low` to `high` whose byte `at` is `c` or more. */
static size_t halve(const struct web_robots_matcher *m, size_t low,
                    size_t high, size_t at, unsigned c, uint64_t *steps)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        ++*steps;
        if (byte_of(m, middle, at) < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t first_literal(const struct web_robots_matcher *m,
                            struct seen_span text, uint64_t *steps)
{
    size_t low = 0, high = m->literals;
    uint32_t best = none;

    for (size_t at = 0; low < high; at++) {
        const struct literal *it = &m->literal[low];
        unsigned char c;

        if (it->len == at) {
            best = first_of(best, it->begins);
            if (at == text.len)
                best = first_of(best, it->is);
            low++;
        }
        if (at == text.len || low == high)
            break;
        *steps += 2;
        c = (unsigned char)text.text[at];
        if (byte_of(m, low, at) != c)
            low = halve(m, low, high, at, c, steps);
        if (low < high && byte_of(m, high - 1, at) != c)
            high = halve(m, low, high, at, c + 1U, steps);
    }
    return best == none ? WEB_ROBOTS_NONE : best;
}

/* --- patterns with stars --- */

static void set(uint64_t *bits, size_t state)
{
    bits[state / 64] |= UINT64_C(1) << state % 64;
}

static bool has_star(struct seen_span text)
{
    return text.len && memchr(text.text, WEB_ROBOTS_STAR, text.len);
}

/* One for the beginning, one per byte. */
static size_t states_of(struct seen_span text)
{
    size_t n = 1;

    for (size_t i = 0; i < text.len; i++)
        n += text.text[i] != WEB_ROBOTS_STAR;
    return n;
}

/* Each byte that patterns have gets a row. */
static size_t number_rows(struct web_robots_matcher *m,
                          const struct web_robots_pattern *pattern)
{
    size_t rows = 1;

    for (size_t i = 0; i < m->wilds; i++) {
        struct seen_span text = pattern[m->wild[i].pattern].text;

        for (size_t at = 0; at < text.len; at++) {
            unsigned char *row = &m->row[(unsigned char)text.text[at]];

            if (text.text[at] != WEB_ROBOTS_STAR && !*row)
                *row = (unsigned char)rows++;
        }
    }
    return rows;
}

static bool make_states(struct web_robots_matcher *m,
                        const struct web_robots_pattern *pattern,
                        size_t states)
{
    size_t rows = number_rows(m, pattern), state = 0;

    m->words = (states + 63) / 64;
    m->start = calloc((3 + rows) * m->words + 1, sizeof *m->start);
    if (!m->start)
        return false;
    m->size += (3 + rows) * m->words * sizeof *m->start;
    m->loop = m->start + m->words;
    m->final = m->loop + m->words;
    m->expects = m->final + m->words;
    for (size_t i = 0; i < m->wilds; i++, state++) {
        const struct web_robots_pattern *p = &pattern[m->wild[i].pattern];

        set(m->start, state);
        for (size_t at = 0; at < p->text.len; at++) {
            unsigned char c = (unsigned char)p->text.text[at];

            if (c == WEB_ROBOTS_STAR)
                set(m->loop, state);
            else
                set(m->expects + m->row[c] * m->words, ++state);
        }
        set(m->final, state);
        if (!p->anchored)
            set(m->loop, state);
        m->wild[i].final = (uint32_t)state;
    }
    return true;
}

/* Whose state is it? */
static size_t owner_of(const struct web_robots_matcher *m, size_t final)
{
    size_t low = 0, high = m->wilds;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (m->wild[middle].final < final)
            low = middle + 1;
        else
            high = middle;
    }
    return m->wild[low].pattern;
}

static size_t first_wild(const struct web_robots_matcher *m,
                         struct seen_span text, uint64_t *steps)
{
    /* Word 0 is empty, so that each word has one before it. */
    uint64_t room[2][WORDS_MOST + 1];
    uint64_t *now = room[0], *next = room[1], *old;

    if (!m->words)
        return WEB_ROBOTS_NONE;
    now[0] = next[0] = 0;
    memcpy(now + 1, m->start, m->words * sizeof *now);
    for (size_t at = 0; at < text.len; at++) {
        const uint64_t *expects = m->expects +
                                  m->row[(unsigned char)text.text[at]] *
                                      m->words;

        for (size_t i = 0; i < m->words; i++)
            next[i + 1] = ((now[i + 1] << 1 | now[i] >> 63) & expects[i]) |
                          (now[i + 1] & m->loop[i]);
        old = now;
        now = next;
        next = old;
    }
    *steps += (text.len + 1) * m->words;
    for (size_t i = 0; i < m->words; i++) {
        uint64_t met = now[i + 1] & m->final[i];

        if (met)
            return owner_of(m, 64 * i + (size_t)__builtin_ctzll(met));
    }
    return WEB_ROBOTS_NONE;
}

/* --- the header's functions --- */

/* A star at the end says what the end says without it. */
static struct web_robots_pattern trimmed(struct web_robots_pattern p)
{
    if (p.text.len && p.text.text[p.text.len - 1] == WEB_ROBOTS_STAR) {
        p.text.len--;
        p.anchored = false;
    }
    return p;
}

/* How many patterns at the end of the list have states? The others are
   longer. */
static size_t first_exact(const struct web_robots_pattern *pattern, size_t n,
                          size_t *states)
{
    *states = 0;
    while (n) {
        struct seen_span text = trimmed(pattern[n - 1]).text;
        size_t more = has_star(text) ? states_of(text) : 0;

        if (*states + more > WEB_ROBOTS_STATES)
            break;
        *states += more;
        n--;
    }
    return n;
}

static void add_literal(struct web_robots_matcher *m, struct seen_span text,
                        bool anchored, size_t place)
{
    m->literal[m->literals++] = (struct literal){
        .at = (uint32_t)(text.text - m->bytes),
        .len = (uint32_t)text.len,
        .begins = anchored ? none : (uint32_t)place,
        .is = anchored ? (uint32_t)place : none,
    };
}

struct web_robots_matcher *web_robots_matcher_new(
    const char *bytes, const struct web_robots_pattern *pattern, size_t n)
{
    struct web_robots_matcher *m = calloc(1, sizeof *m);
    struct web_robots_pattern *kept = calloc(n + 1, sizeof *kept);
    size_t states, exact = first_exact(pattern, n, &states);

    if (m) {
        m->bytes = bytes;
        m->literal = calloc(n + 1, sizeof *m->literal);
        m->wild = calloc(n + 1, sizeof *m->wild);
    }
    if (!m || !kept || !m->literal || !m->wild)
        goto failed;
    for (size_t i = 0; i < n; i++) {
        struct web_robots_pattern p = kept[i] = trimmed(pattern[i]);

        if (!has_star(p.text)) {
            add_literal(m, p.text, p.anchored, i);
        } else if (i >= exact) {
            m->wild[m->wilds++].pattern = (uint32_t)i;
        } else {
            m->coarse++;
            p.text.len = (size_t)((const char *)memchr(p.text.text,
                                                       WEB_ROBOTS_STAR,
                                                       p.text.len) -
                                  p.text.text);
            if (p.deny)
                add_literal(m, p.text, false, i);
        }
    }
    sort_literals(m);
    m->literal = shrink(m->literal, m->literals, sizeof *m->literal);
    m->wild = shrink(m->wild, m->wilds, sizeof *m->wild);
    m->size = sizeof *m + m->literals * sizeof *m->literal +
              m->wilds * sizeof *m->wild;
    if (m->wilds && !make_states(m, kept, states))
        goto failed;
    free(kept);
    return m;

failed:
    free(kept);
    web_robots_matcher_free(m);
    return NULL;
}

void web_robots_matcher_free(struct web_robots_matcher *m)
{
    if (!m)
        return;
    free(m->literal);
    free(m->wild);
    free(m->start);
    free(m);
}

size_t web_robots_matcher_size(const struct web_robots_matcher *m)
{
    return m ? m->size : 0;
}

size_t web_robots_first(const struct web_robots_matcher *m,
                        struct seen_span text, uint64_t *steps)
{
    return least(first_literal(m, text, steps), first_wild(m, text, steps));
}

size_t web_robots_coarse(const struct web_robots_matcher *m)
{
    return m->coarse;
}
