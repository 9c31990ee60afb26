/*
 * charset_japan.c - EUC-JP and ISO-2022-JP to UTF-8.
 *
 * The decoders of the WHATWG Encoding standard. Both name a character by its
 * row and cell in JIS X 0208 with the additions of NEC and IBM. iconv has these
 * additions in Shift_JIS only: its ISO-2022-JP ends at row 84, and what its
 * EUC-JP has in rows 89 to 92 is for private use. So a row and a cell are
 * written as Shift_JIS and read by iconv.
 */
#include "charset_inside.h"

#include <iconv.h>

#include "../lib/text/utf8.h"

static void put_code(struct buffer *to, uint32_t code)
{
    char utf8[4];

    buffer_bytes(to, utf8, utf8_write(utf8, code));
}

/* One character by iconv; false if there is none. */
static bool put_by(struct buffer *to, iconv_t with, const char *bytes,
                   size_t len)
{
    char out[16], *from = web_charset_unconst(bytes), *at = out;
    size_t room = sizeof out;

    iconv(with, NULL, NULL, NULL, NULL);
    if (iconv(with, &from, &len, &at, &room) == (size_t)-1 || at == out)
        return false;
    buffer_bytes(to, out, (size_t)(at - out));
    return true;
}

/* Row and cell from 0 on, below 94. */
static bool put_row(struct buffer *to, iconv_t shift_jis, unsigned row,
                    unsigned cell)
{
    unsigned n = row * 94 + cell, first = n / 188, second = n % 188;
    const char pair[2] = {
        (char)(first + (first < 0x1f ? 0x81 : 0xc1)),
        (char)(second + (second < 0x3f ? 0x40 : 0x41)),
    };

    return put_by(to, shift_jis, pair, 2);
}

static bool is_high(unsigned char byte)
{
    return byte >= 0xa1 && byte <= 0xfe;
}

/* JIS X 0212, whose rows end at 77. */
static bool put_third(struct buffer *to, iconv_t euc_jp, const char bytes[3])
{
    if (bytes[1] == '\xa2' && bytes[2] == '\xc3') {
        put_code(to, 0xa6);
        return true;
    }
    return (unsigned char)bytes[1] <= 0xed && put_by(to, euc_jp, bytes, 3);
}

/* The length of the character at `at`. ASCII after the first byte of one
   that is wrong stays. */
static size_t put_euc(struct buffer *to, iconv_t shift_jis, iconv_t euc_jp,
                      const char *text, size_t left)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t n = at[0] == 0x8f && left > 1 && is_high(at[1]) ? 3 : 2;
    bool lead = at[0] == 0x8e || at[0] == 0x8f || is_high(at[0]);
    bool found = false;

    if (!lead || left < n) {
        buffer_text(to, UTF8_UNKNOWN);
        return lead ? left : 1;
    }
    if (n == 3 && is_high(at[2]))
        found = put_third(to, euc_jp, text);
    else if (at[0] == 0x8e && at[1] >= 0xa1 && at[1] <= 0xdf)
        put_code(to, 0xff61u - 0xa1 + at[1]), found = true;
    else if (is_high(at[0]) && is_high(at[1]))
        found = put_row(to, shift_jis, at[0] - 0xa1u, at[1] - 0xa1u);
    if (!found)
        buffer_text(to, UTF8_UNKNOWN);
    return !found && at[n - 1] < 0x80 ? n - 1 : n;
}

static void decode_euc(struct buffer *to, iconv_t shift_jis, iconv_t euc_jp,
                       const char *bytes, size_t len)
{
    for (size_t at = 0, from; at < len;) {
        for (from = at; at < len && (unsigned char)bytes[at] < 0x80;)
            at++;
        buffer_bytes(to, bytes + from, at - from);
        if (at < len)
            at += put_euc(to, shift_jis, euc_jp, bytes + at, len - at);
    }
}

/* --- ISO-2022-JP --- */

enum mode { ASCII, ROMAN, KATAKANA, ROWS };

/* What the two bytes after an escape begin; false if nothing. */
static bool escape(enum mode *mode, const char *at, size_t left)
{
    if (left < 2)
        return false;
    if (at[0] == '$' && (at[1] == '@' || at[1] == 'B'))
        *mode = ROWS;
    else if (at[0] == '(' && at[1] == 'B')
        *mode = ASCII;
    else if (at[0] == '(' && at[1] == 'J')
        *mode = ROMAN;
    else if (at[0] == '(' && at[1] == 'I')
        *mode = KATAKANA;
    else
        return false;
    return true;
}

/* The character at `at`, which is not an escape; its length. */
static size_t put_in(struct buffer *to, iconv_t shift_jis, enum mode mode,
                     const char *text, size_t left)
{
    const unsigned char *at = (const unsigned char *)text;
    bool graphic = at[0] >= 0x21 && at[0] <= 0x7e;
    uint32_t code = 0xfffd;
    size_t n = 1;

    if (mode == ROWS && graphic && left > 1 && at[1] != 0x1b) {
        if (at[1] >= 0x21 && at[1] <= 0x7e &&
            put_row(to, shift_jis, at[0] - 0x21u, at[1] - 0x21u))
            return 2;
        n = 2;
    } else if (mode == KATAKANA && graphic && at[0] <= 0x5f) {
        code = 0xff61u - 0x21 + at[0];
    } else if (mode == ROMAN && (at[0] == '\\' || at[0] == '~')) {
        code = at[0] == '~' ? 0x203e : 0xa5;
    } else if (mode <= ROMAN && at[0] < 0x80 && at[0] != 0x0e &&
               at[0] != 0x0f) {
        code = at[0];
    }
    put_code(to, code);
    return n;
}

/* An escape after an escape is an error: nothing stands between them, which
   may hide what a filter of scripts looks for. */
static void decode_iso(struct buffer *to, iconv_t shift_jis, const char *bytes,
                       size_t len)
{
    enum mode mode = ASCII;
    bool escaped = false;

    for (size_t at = 0; at < len;) {
        if (bytes[at] != '\x1b') {
            at += put_in(to, shift_jis, mode, bytes + at, len - at);
            escaped = false;
        } else if (escape(&mode, bytes + at + 1, len - at - 1)) {
            if (escaped)
                buffer_text(to, UTF8_UNKNOWN);
            escaped = true;
            at += 3;
        } else {
            buffer_text(to, UTF8_UNKNOWN);
            escaped = false;
            at++;
        }
    }
}

bool web_charset_japan(struct buffer *to, const struct web_charset *c,
                       const char *bytes, size_t len)
{
    iconv_t shift_jis = iconv_open("UTF-8", "CP932");
    iconv_t euc_jp = iconv_open("UTF-8", "EUC-JP-MS");
    bool there = shift_jis != (iconv_t)-1 && euc_jp != (iconv_t)-1;

    if (there && c->family == EUC_JP)
        decode_euc(to, shift_jis, euc_jp, bytes, len);
    else if (there)
        decode_iso(to, shift_jis, bytes, len);
    if (shift_jis != (iconv_t)-1)
        iconv_close(shift_jis);
    if (euc_jp != (iconv_t)-1)
        iconv_close(euc_jp);
    return there;
}
