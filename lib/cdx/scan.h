/*
 * scan.h - where do lines end, how many columns have they, and is a key one
 * that can be hashed as it stands?
 *
 * One pass over a stretch of text finds its lines, and one over a key answers
 * the last question, 32 or 64 bytes at a time. Both may look at PADDING bytes
 * past the end, and the first at the 64 aligned bytes in which a text begins,
 * but do not use them.
 */
#ifndef SEEN_CDX_SCAN_H
#define SEEN_CDX_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <seen/cdx.h>
#include <seen/key.h>

#include "../text/eight.h"
#include "../text/little.h"

#if defined(__SSE2__) && !defined(SEEN_PORTABLE)
#include <emmintrin.h>
#endif

enum {
    CDX_STRETCH = 1 << 14, /* bytes: they are still in the L1 cache when the
                              keys of their lines are read */
    CDX_LINES = 512        /* lines of a stretch, about */
};

struct cdx_line_end {
    uint32_t at;   /* the newline, or the end of the text */
    uint32_t cuts; /* delimiters before it, in all lines up to here */
};

/* The lines of a text, found stretch by stretch. */
struct cdx_lines {
    size_t at;           /* the text before this was looked at */
    uint32_t cuts;       /* delimiters in it */
    unsigned next, n;    /* lines that were taken, of the n of the stretch */
    struct cdx_line_end end[CDX_LINES + 65];
};

struct cdx_key_scan {
    size_t len;    /* up to the first delimiter */
    size_t close;  /* where the first ")" is; not before `len`: there is none */
    size_t query;  /* the first "?", likewise */
    bool controls; /* there are bytes below 0x20, or 0x7f */
    bool surt;     /* a SURT of our form: nothing needs to be put right */
};

/* A key that differs from the key of the line before, and its line. */
struct cdx_pick {
    uint32_t at;        /* where both begin */
    uint32_t key, line; /* how many bytes they have */
};

/* Lines that are taken from a text, and their keys. */
struct cdx_picks {
    const char *text;
    size_t at;        /* the next line */
    size_t last;      /* where a line begins at the latest */
    uint64_t most;    /* lines to take; becomes how many are left to take */
    uint32_t cuts;    /* delimiters in the lines before `at` */
    unsigned columns; /* that a line of CDX has; 0: it is CDXJ */
    char delimiter;
    bool proves; /* a key must be the one that its URL has */
    const char *before; /* the key of the line before, which was good */
    size_t before_len;  /* or 0 */
    unsigned n, room;
    struct cdx_pick *pick;
};

struct cdx_scanner {
    /* Find the lines of the next stretch of a text that ends at `end`: none if
       a line is longer than that, or if there is no more text. Nothing is
       counted if the delimiter is '\n'. */
    void (*lines)(struct cdx_lines *l, const char *text, size_t end,
                  char delimiter);
    /* Look at a key, which ends at the first delimiter or at `most`. */
    void (*key)(struct cdx_key_scan *s, const char *text, size_t most,
                char delimiter);
    /* Take lines of the stretch that was found, up to the first that is not
       good (see cdx_good()), has a key that cannot be hashed as it stands, or
       has a new key for which there is no room; or, if asked for, has a URL
       of which the key is not proved to be the SURT (proof.h). */
    void (*picks)(struct cdx_lines *l, struct cdx_picks *p);
    /* Is a key, of which all is given, proved to be the SURT of a URL? Up to
       PADDING bytes past the end of both may be looked at. */
    bool (*proof)(struct seen_span key, struct seen_span url);
};

/* The portable one is the truth; the last is the fastest there is here. */
extern const struct cdx_scanner cdx_scanner_portable;
const struct cdx_scanner *cdx_scanner_fastest(void);

/* All that this machine can run, ending with NULL, for tests. */
const struct cdx_scanner *const *cdx_scanner_all(void);

/* Begin with the text from `at` on. */
static inline void cdx_lines_begin(struct cdx_lines *l, size_t at)
{
    l->at = at;
    l->cuts = 0;
    l->next = l->n = 0;
}

/* A bit per byte, of the 16 at a and b, that differs. */
#if defined(__SSE2__) && !defined(SEEN_PORTABLE)
static inline uint64_t cdx_unlike(const char *a, const char *b)
{
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)a);
    __m128i y = _mm_loadu_si128((const __m128i *)(const void *)b);

    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) ^ 0xffff;
}
#endif

/* Are these texts the same? They may have PADDING bytes past their end. A call
   of memcmp() takes three times as long for the keys of an index, of which
   nobody can predict the length. */
static inline bool cdx_same(const char *a, const char *b, size_t len)
{
#if defined(__SSE2__) && !defined(SEEN_PORTABLE)
    if (len <= 64) {
        uint64_t unlike = cdx_unlike(a, b) | cdx_unlike(a + 16, b + 16) << 16 |
                          cdx_unlike(a + 32, b + 32) << 32 |
                          cdx_unlike(a + 48, b + 48) << 48;

        return !len || !(unlike << (64 - len));
    }
#endif
    return !memcmp(a, b, len);
}

/* Are there 14 digits? Else the place after them is not that after a time: a
   short time and a short column have 14 bytes, too. */
static inline bool cdx_time(const char *at)
{
    uint64_t x = little_64(at) ^ EIGHT_ONES * '0';
    uint64_t y = little_64(at + 6) ^ EIGHT_ONES * '0';

    return !(((x + EIGHT_ONES * 0x76) | x | (y + EIGHT_ONES * 0x76) | y) &
             EIGHT_HIGH);
}

/* What the URL of a line ends with, as cdx_url_at() finds it. */
static inline char cdx_url_stop(unsigned columns, char delimiter)
{
    return columns ? delimiter : '"';
}

/* Is there a delimiter before and after the 14 bytes of a column, and none
   among them? `at` is the one behind it. */
static inline bool cdx_column(const char *at, char delimiter)
{
#if defined(__SSE2__) && !defined(SEEN_PORTABLE)
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(at - 15));

    return _mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8(delimiter))) ==
           0x8001;
#else
    return *at == delimiter && cdx_time(at - 14);
#endif
}

/*
 * Where the URL of a line begins that cdx_good() likes: the third column of
 * CDX after a time of 14 digits, or the first field of the JSON. NULL: it is
 * elsewhere, or not found at once.
 */
static inline const char *cdx_url_here(unsigned columns, const char *line,
                                       size_t key, const char *end,
                                       char delimiter)
{
    const char *at = line + key + 16;

    if (columns)
        return at < end && cdx_column(at - 1, delimiter) ? at : NULL;
    if (end - at <= 9 || memcmp(at, "{\"url\":", 7))
        return NULL;
    at += at[7] == ' ' ? 8 : 7;
    return *at == '"' ? at + 1 : NULL;
}

/* The same, and of CDX after any time. */
static inline const char *cdx_url_at(unsigned columns, const char *line,
                                     size_t key, const char *end,
                                     char delimiter)
{
    const char *at = cdx_url_here(columns, line, key, end, delimiter);

    if (at || !columns)
        return at;
    at = line + key + 1;
    at = memchr(at, delimiter, (size_t)(end - at));
    return at ? at + 1 : NULL;
}

/*
 * Is this a line of which no more than the key has to be looked at? Then comes
 * a time. Of CDX the columns are counted, of CDXJ the JSON is only looked at
 * from its two ends, which *len is without the end of the line.
 */
static inline bool cdx_good(unsigned columns, const char *line, size_t *len,
                            size_t key, unsigned cuts)
{
    const char *first = line + key;

    if (!key || key > SEEN_KEY_TEXT || *len > SEEN_LINE_TEXT)
        return false;
    if (columns)
        return cuts + 1 == columns &&
               ((unsigned)(first[1] - '0') <= 9 || first[1] == '-');
    *len -= line[*len - 1] == '\r';
    return key + 17 < *len && *line != '!' && first[15] == ' ' &&
           first[16] == '{' && line[*len - 1] == '}' && cdx_time(first + 1);
}

#endif
