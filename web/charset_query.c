/*
 * charset_query.c - UTF-8 to the bytes of a charset, in the queries of URLs.
 *
 * The WHATWG URL standard ("percent-encode after encoding") with the encoders
 * of the Encoding standard. The characters are those of iconv, but
 * for some (charset_differs.c). The encoders differ from the decoders: they write one form of what can be read in two.
 *
 *     gbk          the two bytes of gb18030, never four; the euro is one byte
 *     big5         only what is not an addition of Hong Kong: from A1 40 on
 *     shift_jis    no characters of private use, although they can be read
 *     euc-jp       the rows and cells of JIS X 0208 with NEC's and IBM's
 *                  additions, but not JIS X 0212, although it can be read
 *     iso-2022-jp  the same, after escape sequences; half-width katakana
 *                  become those of full width
 *
 * Rows and cells are computed from the bytes of Shift_JIS, so that the three
 * Japanese charsets have one table.
 */
#include "charset_inside.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>

#include "../lib/text/percent.h"
#include "../lib/text/utf8.h"

enum { MOST = 16 }; /* bytes of a character, at most, with room for iconv */

/* --- one character --- */

struct character {
    const char *text; /* UTF-8 */
    size_t len;
    uint32_t code;
};

static size_t write_number(char *to, uint32_t number)
{
    size_t n = 0;

    for (int shift = 24; shift >= 0; shift -= 8)
        if (number >> shift)
            to[n++] = (char)(number >> shift);
    return n;
}

static size_t by_table(const uint32_t table[128], uint32_t code, char *to)
{
    for (unsigned i = 0; i < 128 && code != 0xfffd; i++)
        if (table[i] == code) {
            *to = (char)(i + 128);
            return 1;
        }
    return 0;
}

static size_t by_iconv(const struct web_charset_writer *w,
                       enum charset_family family, const struct character *c,
                       char to[MOST])
{
    uint32_t bytes;
    char *from = web_charset_unconst(c->text), *at = to;
    size_t n = c->len, room = MOST;

    if (web_charset_differs(family, c->code, &bytes))
        return write_number(to, bytes);
    iconv(w->iconv, NULL, NULL, NULL, NULL);
    if (iconv(w->iconv, &from, &n, &at, &room) == (size_t)-1 ||
        iconv(w->iconv, NULL, NULL, &at, &room) == (size_t)-1)
        return 0;
    return (size_t)(at - to);
}

/* The number of a pair of bytes of Shift_JIS: 188 per first byte. */
#define PAIR(first, second) \
    (((first) - ((first) < 0xa0 ? 0x81u : 0xc1u)) * 188 + (second) - \
     ((second) < 0x7f ? 0x40u : 0x41u))

/*
 * Row and cell of a pair. The end of Shift_JIS has IBM's characters, for which
 * there are no rows. NEC's rows 89 to 92 have them once more, and in the same
 * order but for a few.
 */
static void pair_to_row(char pair[2])
{
    unsigned n = PAIR((unsigned char)pair[0], (unsigned char)pair[1]);

    if (n >= PAIR(0xfau, 0x5cu))
        n -= PAIR(0xfau, 0x5cu) - PAIR(0xedu, 0x40u);
    else if (n >= PAIR(0xfau, 0x55u))
        n -= PAIR(0xfau, 0x55u) - PAIR(0xeeu, 0xfau);
    else if (n >= PAIR(0xfau, 0x40u))
        n -= PAIR(0xfau, 0x40u) - PAIR(0xeeu, 0xefu);
    pair[0] = (char)(n / 94 + 0x21);
    pair[1] = (char)(n % 94 + 0x21);
}

static size_t to_euc_jp(const struct web_charset_writer *w,
                        const struct character *c, char to[MOST])
{
    size_t n = by_iconv(w, SHIFT_JIS, c, to);

    if (n == 2) {
        pair_to_row(to);
        to[0] = (char)(to[0] | 0x80);
        to[1] = (char)(to[1] | 0x80);
    } else if (n == 1 && (unsigned char)to[0] > 0x80) {
        to[1] = to[0];
        to[0] = '\x8e';
        n = 2;
    } else if (n == 1 && to[0] == '\x80') {
        n = 0;
    }
    return n;
}

/* The bytes of a character, or 0 if the charset does not have it. */
static size_t to_bytes(const struct web_charset_writer *w,
                       const struct character *c, char to[MOST])
{
    size_t n;

    if (w->table)
        return by_table(w->code, c->code, to);
    if (!w->iconv)
        return 0;
    switch (w->charset->family) {
    case GBK:
        if (c->code == 0x20ac)
            return write_number(to, 0x80);
        n = by_iconv(w, GB18030, c, to);
        return n == 2 ? n : 0;
    case BIG5:
        n = by_iconv(w, BIG5, c, to);
        return n == 2 && (unsigned char)to[0] >= 0xa1 ? n : 0;
    case EUC_JP: return to_euc_jp(w, c, to);
    default: return by_iconv(w, w->charset->family, c, to);
    }
}

/* --- the text --- */

static void put_percent(struct buffer *to, const char *bytes, size_t n)
{
    percent_encode(to, bytes, n, PERCENT_SPECIAL_QUERY);
}

static void put_number(struct buffer *to, uint32_t code)
{
    buffer_format(to, "%%26%%23%u%%3B", (unsigned)code);
}

static void put_character(struct web_charset_writer *w, struct buffer *to,
                          const struct character *c)
{
    char bytes[MOST];
    size_t n = c->code < 0x80 ? 0 : to_bytes(w, c, bytes);

    if (c->code < 0x80)
        buffer_byte(to, (char)c->code);
    else if (n)
        put_percent(to, bytes, n);
    else
        put_number(to, c->code);
}

/* ISO-2022-JP: escape sequences change what the bytes stand for. */
static void shift(struct web_charset_writer *w, struct buffer *to,
                  enum web_charset_shift into)
{
    static const char *const escape[] = { "\x1b(B", "\x1b(J", "\x1b$B" };

    if (w->shift != into)
        put_percent(to, escape[into], 3);
    w->shift = into;
}

/* U+FF61 to U+FF9F in full width: index ISO-2022-JP katakana, less U+3000. */
static const unsigned char full_width[] = {
    0x02, 0x0c, 0x0d, 0x01, 0xfb, 0xf2, 0xa1, 0xa3, 0xa5, 0xa7, 0xa9,
    0xe3, 0xe5, 0xe7, 0xc3, 0xfc, 0xa2, 0xa4, 0xa6, 0xa8, 0xaa, 0xab,
    0xad, 0xaf, 0xb1, 0xb3, 0xb5, 0xb7, 0xb9, 0xbb, 0xbd, 0xbf, 0xc1,
    0xc4, 0xc6, 0xc8, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf, 0xd2, 0xd5,
    0xd8, 0xdb, 0xde, 0xdf, 0xe0, 0xe1, 0xe2, 0xe4, 0xe6, 0xe8, 0xe9,
    0xea, 0xeb, 0xec, 0xed, 0xef, 0xf3, 0x9b, 0x9c,
};

static void put_shifted_ascii(struct web_charset_writer *w, struct buffer *to,
                              char c)
{
    /* The parser of URLs drops them before queries are encoded. */
    if (c == '\t' || c == '\n' || c == '\r') {
        buffer_byte(to, c);
        return;
    }
    if (w->shift == WEB_CHARSET_ROWS || c == '\\' || c == '~')
        shift(w, to, WEB_CHARSET_ASCII);
    if (c == 0x0e || c == 0x0f || c == 0x1b)
        put_number(to, 0xfffd);
    else
        buffer_byte(to, c);
}

static void put_shifted(struct web_charset_writer *w, struct buffer *to,
                        const struct character *c)
{
    struct character wide = *c;
    char bytes[MOST], utf8[4];
    size_t n = 0;

    if (c->code < 0x80) {
        put_shifted_ascii(w, to, (char)c->code);
        return;
    }
    if (c->code >= 0xff61 && c->code <= 0xff9f) {
        wide.code = 0x3000u + full_width[c->code - 0xff61];
        wide.text = utf8;
        wide.len = utf8_write(utf8, wide.code);
    }
    if (w->iconv)
        n = by_iconv(w, SHIFT_JIS, &wide, bytes);
    if (n == 2) {
        pair_to_row(bytes);
        shift(w, to, WEB_CHARSET_ROWS);
        put_percent(to, bytes, 2);
    } else if (n == 1 && (unsigned char)bytes[0] < 0x80) {
        shift(w, to, WEB_CHARSET_ROMAN);
        put_percent(to, bytes, 1);
    } else {
        if (w->shift == WEB_CHARSET_ROWS)
            shift(w, to, WEB_CHARSET_ASCII);
        put_number(to, c->code);
    }
}

static const char *iconv_name(const struct web_charset *c)
{
    return c->family == EUC_JP || c->family == ISO_2022_JP ? "CP932"
                                                           : c->iconv;
}

static void get_ready(struct web_charset_writer *w)
{
    const struct web_charset *c = w->charset;
    const char *name = iconv_name(c);
    iconv_t with;

    w->ready = true;
    if (c->family == SINGLE || c->family == USER) {
        w->table = web_charset_table(w->code, c);
    } else if (name) {
        with = iconv_open(name, "UTF-8");
        w->iconv = with == (iconv_t)-1 ? NULL : with;
    }
}

void web_charset_query(struct web_charset_writer *w, struct buffer *to,
                       const char *text, size_t len)
{
    bool shifts = w->charset->family == ISO_2022_JP;
    struct character c;
    size_t part;

    errno = 0;
    if (!w->ready)
        get_ready(w);
    if (!w->table && !w->iconv && errno == ENOMEM)
        to->failed = true;
    for (size_t at = 0, n; at < len; at += n) {
        c = (struct character){ text + at, n = 1, (unsigned char)text[at] };
        if (c.code >= 0x80)
            c.len = n = utf8_read(text + at, len - at, &c.code, &part);
        if (!n) {
            c = (struct character){ UTF8_UNKNOWN, 3, 0xfffd };
            n = part;
        }
        (shifts ? put_shifted : put_character)(w, to, &c);
    }
    shift(w, to, WEB_CHARSET_ASCII);
}

void web_charset_writer_clear(struct web_charset_writer *w)
{
    if (w->iconv)
        iconv_close(w->iconv);
    *w = (struct web_charset_writer){ .charset = w->charset };
}
