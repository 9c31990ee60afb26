/*
 * charset_differs.c - where the Encoding standard differs from iconv.
 *
 * Found by comparing each character and each pair of bytes with what Chromium
 * makes of them. Pairs of Big5 below A1 40 are not here: they are additions of
 * Hong Kong, which are never written.
 */
#include "charset_inside.h"

#include <string.h>

enum direction { BOTH, READ, WRITE };

static const struct exception {
    enum charset_family family;
    enum direction direction;
    uint32_t from, to;
    uint32_t bytes; /* of `from`, as one number; 0: there are none */
} exceptions[] = {
    /* A second ideographic space; pairs that stay for private use; and pairs
       that are written for characters of private use, although they are read
       as others since 2005. */
    { GB18030, READ, 0x3000, 0x3000, 0xa3a0 },
    { GB18030, WRITE, 0xe5e5, 0xe5e5, 0 },
    { GB18030, WRITE, 0xe78d, 0xe793, 0xa6d9 },
    { GB18030, WRITE, 0xe794, 0xe795, 0xa6ec },
    { GB18030, WRITE, 0xe796, 0xe796, 0xa6f3 },
    { GB18030, BOTH, 0xe816, 0xe818, 0xfe51 },
    { GB18030, WRITE, 0xe81e, 0xe81e, 0xfe59 },
    { GB18030, WRITE, 0xe826, 0xe826, 0xfe61 },
    { GB18030, WRITE, 0xe82b, 0xe82c, 0xfe66 },
    { GB18030, BOTH, 0xe831, 0xe831, 0xfe6c },
    { GB18030, WRITE, 0xe832, 0xe832, 0xfe6d },
    { GB18030, BOTH, 0xe83b, 0xe83b, 0xfe76 },
    { GB18030, WRITE, 0xe843, 0xe843, 0xfe7e },
    { GB18030, WRITE, 0xe854, 0xe854, 0xfe90 },
    { GB18030, BOTH, 0xe855, 0xe855, 0xfe91 },
    { GB18030, WRITE, 0xe864, 0xe864, 0xfea0 },
    { GB18030, WRITE, 0x20087, 0x20087, 0x95329031 },
    { GB18030, WRITE, 0x20089, 0x20089, 0x95329033 },
    { GB18030, WRITE, 0x200cc, 0x200cc, 0x95329730 },
    { GB18030, WRITE, 0x215d7, 0x215d7, 0x9536b937 },
    { GB18030, WRITE, 0x2298f, 0x2298f, 0x9630ba35 },
    { GB18030, WRITE, 0x241fe, 0x241fe, 0x9635b630 },
    /* Windows' characters and not those of Unicode's old table. */
    { SHIFT_JIS, WRITE, 0x80, 0x80, 0x80 },
    { SHIFT_JIS, WRITE, 0xa2, 0xa3, 0 },
    { SHIFT_JIS, WRITE, 0xac, 0xac, 0 },
    { SHIFT_JIS, WRITE, 0x2014, 0x2014, 0 },
    { SHIFT_JIS, WRITE, 0x2016, 0x2016, 0 },
    { SHIFT_JIS, WRITE, 0x301c, 0x301c, 0 },
    { SHIFT_JIS, WRITE, 0xe000, 0xe757, 0 },
    /* Windows' and ETEN's characters and not those of Hong Kong. */
    { BIG5, WRITE, 0x80, 0x80, 0 },
    { BIG5, WRITE, 0xa2, 0xa3, 0 },
    { BIG5, WRITE, 0xa5, 0xa5, 0 },
    { BIG5, BOTH, 0xaf, 0xaf, 0xa1c2 },
    { BIG5, BOTH, 0x2cd, 0x2cd, 0xa1c5 },
    { BIG5, WRITE, 0x2022, 0x2022, 0 },
    { BIG5, BOTH, 0x2027, 0x2027, 0xa145 },
    { BIG5, WRITE, 0x203e, 0x203e, 0 },
    { BIG5, BOTH, 0x20ac, 0x20ac, 0xa3e1 },
    { BIG5, BOTH, 0x2215, 0x2215, 0xa241 },
    { BIG5, WRITE, 0x223c, 0x223c, 0 },
    { BIG5, BOTH, 0x2295, 0x2295, 0xa1f2 },
    { BIG5, BOTH, 0x2299, 0x2299, 0xa1f3 },
    { BIG5, BOTH, 0x2400, 0x241f, 0xa3c0 },
    { BIG5, BOTH, 0x2421, 0x2421, 0xa3e0 },
    { BIG5, BOTH, 0x256d, 0x256d, 0xa27e },
    { BIG5, BOTH, 0x256e, 0x256e, 0xa2a1 },
    { BIG5, BOTH, 0x256f, 0x256f, 0xa2a3 },
    { BIG5, BOTH, 0x2570, 0x2570, 0xa2a2 },
    { BIG5, BOTH, 0x2574, 0x2574, 0xa15a },
    { BIG5, WRITE, 0x2609, 0x2609, 0 },
    { BIG5, WRITE, 0x2641, 0x2641, 0 },
    { BIG5, BOTH, 0x4edd, 0x4edd, 0xc6df },
    { BIG5, BOTH, 0x5605, 0x5605, 0xfb48 },
    { BIG5, BOTH, 0x5ed0, 0x5ed0, 0xfbf9 },
    { BIG5, BOTH, 0x5ef4, 0x5ef4, 0xc6cf },
    { BIG5, BOTH, 0x60a4, 0x60a4, 0xfc6c },
    { BIG5, BOTH, 0x65e0, 0x65e0, 0xc6d3 },
    { BIG5, BOTH, 0x732a, 0x732a, 0xfe52 },
    { BIG5, BOTH, 0x7676, 0x7676, 0xc6d5 },
    { BIG5, BOTH, 0x96b6, 0x96b6, 0xc6d7 },
    { BIG5, BOTH, 0xfe51, 0xfe51, 0xa14e },
    { BIG5, BOTH, 0xfe68, 0xfe68, 0xa242 },
    { BIG5, BOTH, 0xff0f, 0xff0f, 0xa1fe },
    { BIG5, BOTH, 0xff3c, 0xff3c, 0xa240 },
    { BIG5, BOTH, 0xff5e, 0xff5e, 0xa1e3 },
    { BIG5, WRITE, 0xff64, 0xff64, 0 },
    { BIG5, BOTH, 0xffe0, 0xffe1, 0xa246 },
    { BIG5, BOTH, 0xffe3, 0xffe3, 0xa1c3 },
    { BIG5, BOTH, 0xffe5, 0xffe5, 0xa244 },
    /* Read as characters that are written otherwise, or not at all. */
    { BIG5, READ, 0x5341, 0x5341, 0xa2cc },
    { BIG5, READ, 0x5345, 0x5345, 0xa2ce },
    { BIG5, READ, 0x3003, 0x3003, 0xc6de },
    { BIG5, READ, 0x5029, 0x5029, 0xfa5f },
    { BIG5, READ, 0x507d, 0x507d, 0xfa66 },
    { BIG5, READ, 0x5305, 0x5305, 0xfabd },
    { BIG5, READ, 0x5344, 0x5344, 0xfac5 },
    { BIG5, READ, 0x537f, 0x537f, 0xfad5 },
    { EUC_KR, READ, 0xfffd, 0xfffd, 0xa2e8 },
};
enum { EXCEPTIONS = sizeof exceptions / sizeof exceptions[0] };


bool web_charset_differs(enum charset_family family, uint32_t code,
                         uint32_t *bytes)
{
    for (size_t i = 0; i < EXCEPTIONS; i++) {
        const struct exception *e = &exceptions[i];

        if (e->family != family || e->direction == READ || code < e->from ||
            code > e->to)
            continue;
        *bytes = e->bytes ? e->bytes + (code - e->from) : 0;
        return true;
    }
    return false;
}

static bool is_read(const struct exception *e, enum charset_family family)
{
    return e->family == family && e->direction != WRITE;
}

bool web_charset_leads(bool leads[256], enum charset_family family)
{
    bool any = false;

    memset(leads, 0, 256 * sizeof *leads);
    for (size_t i = 0; i < EXCEPTIONS; i++)
        if (is_read(&exceptions[i], family))
            leads[exceptions[i].bytes >> 8] = any = true;
    return any;
}

uint32_t web_charset_pair(enum charset_family family, const char pair[2])
{
    uint32_t bytes = (uint32_t)(unsigned char)pair[0] << 8 |
                     (unsigned char)pair[1];

    for (size_t i = 0; i < EXCEPTIONS; i++) {
        const struct exception *e = &exceptions[i];

        if (is_read(e, family) && bytes >= e->bytes &&
            bytes - e->bytes <= e->to - e->from)
            return e->from + (bytes - e->bytes);
    }
    return 0;
}
