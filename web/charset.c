/*
 * charset.c - labels, and bytes to UTF-8.
 *
 * Most charsets have one byte per character. Those are decoded by a table of
 * 128 code points that iconv fills, byte by byte; this is faster than iconv for
 * a page, and gives the place where the standard's rule for unassigned bytes
 * stands: below 0xa0 they are the control characters of the same number, above
 * they are errors. The other charsets go through iconv as they are.
 */
#include "charset_inside.h"

#include <errno.h>
#include <iconv.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "../lib/text/space.h"
#include "../lib/text/span.h"
#include "../lib/text/utf8.h"

static const struct web_charset charsets[] = {
    { "utf-8", NULL, UTF8,
      " unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 "
      "x-unicode20utf8 " },
    { "ibm866", "IBM866", SINGLE, " 866 cp866 csibm866 ibm866 " },
    { "iso-8859-2", "ISO-8859-2", SINGLE,
      " csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 "
      "iso_8859-2:1987 l2 latin2 " },
    { "iso-8859-3", "ISO-8859-3", SINGLE,
      " csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 "
      "iso_8859-3:1988 l3 latin3 " },
    { "iso-8859-4", "ISO-8859-4", SINGLE,
      " csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 "
      "iso_8859-4:1988 l4 latin4 " },
    { "iso-8859-5", "ISO-8859-5", SINGLE,
      " csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 "
      "iso88595 iso_8859-5 iso_8859-5:1988 " },
    { "iso-8859-6", "ISO-8859-6", SINGLE,
      " arabic asmo-708 csiso88596e csiso88596i csisolatinarabic "
      "ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127 "
      "iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987 " },
    { "iso-8859-7", "ISO-8859-7", SINGLE,
      " csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 "
      "iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 "
      "sun_eu_greek " },
    { "iso-8859-8", "ISO-8859-8", SINGLE,
      " csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e "
      "iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual " },
    { "iso-8859-8-i", "ISO-8859-8", SINGLE,
      " csiso88598i iso-8859-8-i logical " },
    { "iso-8859-10", "ISO-8859-10", SINGLE,
      " csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 "
      "latin6 " },
    { "iso-8859-13", "ISO-8859-13", SINGLE,
      " iso-8859-13 iso8859-13 iso885913 " },
    { "iso-8859-14", "ISO-8859-14", SINGLE,
      " iso-8859-14 iso8859-14 iso885914 " },
    { "iso-8859-15", "ISO-8859-15", SINGLE,
      " csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9 " },
    { "iso-8859-16", "ISO-8859-16", SINGLE, " iso-8859-16 " },
    { "koi8-r", "KOI8-R", SINGLE, " cskoi8r koi koi8 koi8-r koi8_r " },
    { "koi8-u", "KOI8-U", SINGLE, " koi8-ru koi8-u " },
    { "macintosh", "MACINTOSH", SINGLE,
      " csmacintosh mac macintosh x-mac-roman " },
    { "windows-874", "CP874", SINGLE,
      " dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874 " },
    { "windows-1250", "CP1250", SINGLE, " cp1250 windows-1250 x-cp1250 " },
    { "windows-1251", "CP1251", SINGLE, " cp1251 windows-1251 x-cp1251 " },
    { "windows-1252", "CP1252", SINGLE,
      " ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 "
      "iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 "
      "latin1 us-ascii windows-1252 x-cp1252 " },
    { "windows-1253", "CP1253", SINGLE, " cp1253 windows-1253 x-cp1253 " },
    { "windows-1254", "CP1254", SINGLE,
      " cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 "
      "iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254 " },
    { "windows-1255", "CP1255", SINGLE, " cp1255 windows-1255 x-cp1255 " },
    { "windows-1256", "CP1256", SINGLE, " cp1256 windows-1256 x-cp1256 " },
    { "windows-1257", "CP1257", SINGLE, " cp1257 windows-1257 x-cp1257 " },
    { "windows-1258", "CP1258", SINGLE, " cp1258 windows-1258 x-cp1258 " },
    { "x-mac-cyrillic", "MAC-UK", SINGLE, " x-mac-cyrillic x-mac-ukrainian " },
    { "gbk", "GB18030", GBK,
      " chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk "
      "iso-ir-58 x-gbk " },
    { "gb18030", "GB18030", GB18030, " gb18030 " },
    { "big5", "BIG5-HKSCS", BIG5,
      " big5 big5-hkscs cn-big5 csbig5 x-x-big5 " },
    { "euc-jp", NULL, EUC_JP, " cseucpkdfmtjapanese euc-jp x-euc-jp " },
    { "iso-2022-jp", NULL, ISO_2022_JP, " csiso2022jp iso-2022-jp " },
    { "shift_jis", "CP932", SHIFT_JIS,
      " csshiftjis ms_kanji shift-jis shift_jis sjis windows-31j x-sjis " },
    { "euc-kr", "UHC", EUC_KR,
      " cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 "
      "ks_c_5601-1989 ksc5601 ksc_5601 windows-949 " },
    { "utf-16be", NULL, UTF16BE, " unicodefffe utf-16be " },
    { "utf-16le", NULL, UTF16LE,
      " csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 "
      "utf-16le " },
    { "x-user-defined", NULL, USER, " x-user-defined " },
    { "replacement", NULL, NOTHING,
      " csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr "
      "replacement " },
};

enum { CHARSETS = sizeof charsets / sizeof charsets[0], LABEL = 32 };

const struct web_charset *web_charset_find(const char *label, size_t len)
{
    char word[LABEL + 3] = " ";

    while (len && space_html(*label))
        label++, len--;
    while (len && space_html(label[len - 1]))
        len--;
    if (!len || len > LABEL || memchr(label, ' ', len) ||
        memchr(label, '\0', len))
        return NULL;
    for (size_t i = 0; i < len; i++)
        word[i + 1] = label[i] >= 'A' && label[i] <= 'Z'
                          ? (char)(label[i] | 0x20)
                          : label[i];
    word[len + 1] = ' ';
    for (size_t i = 0; i < CHARSETS; i++)
        if (strstr(charsets[i].labels, word))
            return &charsets[i];
    return NULL;
}

static const struct web_charset *known(const char *label)
{
    return web_charset_find(label, strlen(label));
}

const struct web_charset *web_charset_utf8(void)
{
    return &charsets[0];
}

const char *web_charset_name(const struct web_charset *c)
{
    return c->name;
}

bool web_charset_wide(const struct web_charset *c)
{
    return c->family == ISO_2022_JP || c->family == UTF16LE ||
           c->family == UTF16BE || c->family == NOTHING;
}

bool web_charset_unicode(const struct web_charset *c)
{
    return c->family == UTF8 || c->family == UTF16LE || c->family == UTF16BE ||
           c->family == NOTHING;
}

const struct web_charset *web_charset_late(const struct web_charset *c)
{
    if (c->family == UTF16LE || c->family == UTF16BE)
        return web_charset_utf8();
    return c->family == USER ? known("windows-1252") : c;
}

const struct web_charset *web_charset_guess(const char *bytes, size_t len)
{
    return utf8_valid(bytes, len) ? web_charset_utf8() : known("windows-1252");
}

/* --- decoding --- */

static void put(struct buffer *to, uint32_t code)
{
    char utf8[4];

    buffer_bytes(to, utf8, utf8_write(utf8, code));
}

/* The code point of a byte by iconv, or 0. Some charsets hold a character
   back until the next one, which may combine with it. */
static uint32_t ask_iconv(iconv_t with, unsigned char byte)
{
    char in = (char)byte, out[16], *from = &in, *at = out;
    size_t left = 1, room = sizeof out;
    uint32_t code = 0;

    iconv(with, NULL, NULL, NULL, NULL);
    if (iconv(with, &from, &left, &at, &room) == (size_t)-1 ||
        iconv(with, NULL, NULL, &at, &room) == (size_t)-1)
        return 0;
    utf8_read(out, (size_t)(at - out), &code, NULL);
    return code;
}

/* Where the standard's tables differ from those of iconv. */
static const struct {
    const char *name;
    unsigned char byte;
    uint16_t code;
} differs[] = {
    { "koi8-u", 0xae, 0x45e },          { "koi8-u", 0xbe, 0x40e },
    { "macintosh", 0xdb, 0x20ac },      { "macintosh", 0xbd, 0x3a9 },
    { "macintosh", 0xc6, 0x2206 },      { "macintosh", 0xf0, 0xf8ff },
    { "x-mac-cyrillic", 0xff, 0x20ac }, { "x-mac-cyrillic", 0xa2, 0x490 },
    { "x-mac-cyrillic", 0xb6, 0x491 },
};

bool web_charset_table(uint32_t table[128], const struct web_charset *c)
{
    iconv_t with = (iconv_t)-1;

    if (c->family != USER)
        with = iconv_open("UTF-8", c->iconv);
    if (c->family != USER && with == (iconv_t)-1)
        return false;
    for (unsigned i = 0; i < 128; i++) {
        uint32_t code = c->family == USER
                            ? 0xf780 + i
                            : ask_iconv(with, (unsigned char)(i + 128));

        if (!code)
            code = i < 0x20 ? i + 128 : 0xfffd;
        table[i] = code;
    }
    for (size_t i = 0; i < sizeof differs / sizeof differs[0]; i++)
        if (!strcmp(c->name, differs[i].name))
            table[differs[i].byte - 128] = differs[i].code;
    if (c->family != USER)
        iconv_close(with);
    return true;
}

static void decode_single(struct buffer *to, const uint32_t table[128],
                          const char *bytes, size_t len)
{
    size_t at = 0;

    while (at < len) {
        size_t from = at;

        while (at < len && (unsigned char)bytes[at] < 0x80)
            at++;
        buffer_bytes(to, bytes + from, at - from);
        for (; at < len && (unsigned char)bytes[at] >= 0x80; at++)
            put(to, table[(unsigned char)bytes[at] - 128]);
    }
}

static void decode_utf16(struct buffer *to, bool big, const char *bytes,
                         size_t len)
{
    const unsigned char *at = (const unsigned char *)bytes;
    uint32_t high = 0;

    for (size_t i = 0; i + 1 < len; i += 2) {
        uint32_t unit = big ? (uint32_t)(at[i] << 8 | at[i + 1])
                            : (uint32_t)(at[i + 1] << 8 | at[i]);

        if (high && unit >= 0xdc00 && unit < 0xe000) {
            put(to, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
            high = 0;
            continue;
        }
        if (high)
            put(to, 0xfffd);
        high = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
        if (!high)
            put(to, unit >= 0xdc00 && unit < 0xe000 ? 0xfffd : unit);
    }
    if (high || len % 2)
        put(to, 0xfffd);
}

static void decode_utf8(struct buffer *to, const char *bytes, size_t len)
{
    size_t at = 0, from = 0, part;

    while (at < len) {
        size_t n = (unsigned char)bytes[at] < 0x80
                       ? 1
                       : utf8_read(bytes + at, len - at, NULL, &part);

        if (n) {
            at += n;
            continue;
        }
        buffer_bytes(to, bytes + from, at - from);
        buffer_text(to, UTF8_UNKNOWN);
        from = at += part;
    }
    buffer_bytes(to, bytes + from, at - from);
}

char *web_charset_unconst(const char *text)
{
    char *same;

    memcpy(&same, &text, sizeof same);
    return same;
}

/*
 * How many bytes of a wrong sequence one U+FFFD stands for. The standard puts
 * ASCII back that follows the first byte of a pair, so that a quote or a "<"
 * after a wrong byte is not swallowed; another second byte goes with the first.
 */
static size_t wrong_bytes(const char *from, size_t len)
{
    unsigned char first = (unsigned char)from[0];

    return first > 0x80 && first < 0xff && len > 1 &&
                   (unsigned char)from[1] >= 0x80
               ? 2
               : 1;
}

static void decode_iconv(struct buffer *to, iconv_t with, bool chinese,
                         const char *bytes, size_t len)
{
    char *from = web_charset_unconst(bytes);

    while (len) {
        size_t room = len < 4096 ? 2 * len + 64 : len + len / 2;
        char *at = buffer_room(to, room), *begin = at;

        if (!at)
            return;
        if (iconv(with, &from, &len, &at, &room) == (size_t)-1 &&
            errno != E2BIG && len) {
            bool end = errno == EINVAL;
            size_t bad;

            to->len += (size_t)(at - begin);
            /* The standard has the sign of the euro in both charsets here. */
            if (chinese && *from == '\x80')
                put(to, 0x20ac);
            else
                buffer_text(to, UTF8_UNKNOWN);
            if (end)
                return;
            bad = wrong_bytes(from, len);
            from += bad;
            len -= bad;
            continue;
        }
        to->len += (size_t)(at - begin);
    }
}

/* The length of the character at `at`, whose first byte is not ASCII. */
static size_t framed(enum charset_family family, const char *at, size_t left)
{
    if (family == GB18030 && left >= 4 && at[1] >= '0' && at[1] <= '9' &&
        (unsigned char)at[2] >= 0x81 && at[3] >= '0' && at[3] <= '9')
        return 4;
    return left > 1 && (unsigned char)at[0] > 0x80 &&
                   (unsigned char)at[0] < 0xff && (unsigned char)at[1] >= 0x40
               ? 2
               : 1;
}

/* Some pairs are other characters than iconv has. */
static void decode_pairs(struct buffer *to, iconv_t with,
                         enum charset_family family, const char *bytes,
                         size_t len)
{
    bool chinese = family == GB18030, leads[256];
    size_t from = 0, at = web_charset_leads(leads, family) ? 0 : len;

    for (size_t n; at < len; at += n) {
        uint32_t code = 0;

        n = 1;
        if ((unsigned char)bytes[at] < 0x80)
            continue;
        n = framed(family, bytes + at, len - at);
        if (n == 2 && leads[(unsigned char)bytes[at]])
            code = web_charset_pair(family, bytes + at);
        if (!code)
            continue;
        decode_iconv(to, with, chinese, bytes + from, at - from);
        put(to, code);
        from = at + n;
    }
    decode_iconv(to, with, chinese, bytes + from, len - from);
}

/* A system without the tables of iconv: ASCII is read all the same. */
static void decode_without(struct buffer *to, const char *bytes, size_t len)
{
    if (errno == ENOMEM)
        to->failed = true;
    else
        decode_utf8(to, bytes, len);
}

void web_charset_decode(struct buffer *to, const struct web_charset *c,
                        const char *bytes, size_t len)
{
    uint32_t table[128];
    iconv_t with;

    switch (c->family) {
    case UTF8: decode_utf8(to, bytes, len); return;
    case UTF16LE: decode_utf16(to, false, bytes, len); return;
    case UTF16BE: decode_utf16(to, true, bytes, len); return;
    case NOTHING:
        if (len)
            buffer_text(to, UTF8_UNKNOWN);
        return;
    case SINGLE:
    case USER:
        if (web_charset_table(table, c))
            decode_single(to, table, bytes, len);
        else
            decode_without(to, bytes, len);
        return;
    case EUC_JP:
    case ISO_2022_JP:
        if (!web_charset_japan(to, c, bytes, len))
            decode_without(to, bytes, len);
        return;
    case GBK:
    case GB18030:
    case BIG5:
    case SHIFT_JIS:
    case EUC_KR: break;
    }
    with = iconv_open("UTF-8", c->iconv);
    if (with == (iconv_t)-1) {
        decode_without(to, bytes, len);
        return;
    }
    decode_pairs(to, with, c->family == GBK ? GB18030 : c->family, bytes, len);
    iconv_close(with);
}
