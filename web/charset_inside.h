/*
 * charset_inside.h - what the files about charsets share: the row of a charset.
 *
 * Threads: constants, and functions of their arguments.
 */
#ifndef SEEN_WEB_CHARSET_INSIDE_H
#define SEEN_WEB_CHARSET_INSIDE_H

#include "charset.h"

/* Charsets with several bytes per character have a family each, because their
   queries are written by rules of their own (charset_query.c). */
enum charset_family {
    UTF8,
    SINGLE,
    GBK,
    GB18030,
    BIG5,
    EUC_JP,
    ISO_2022_JP,
    SHIFT_JIS,
    EUC_KR,
    UTF16LE,
    UTF16BE,
    USER,
    NOTHING
};

/* Labels have a space on both sides. */
struct web_charset {
    const char *name, *iconv;
    enum charset_family family;
    const char *labels;
};

/* The code points of the bytes from 128 on, of a charset with one byte per
   character. False if iconv does not know it, or has no memory (ENOMEM). */
bool web_charset_table(uint32_t table[128], const struct web_charset *c);

/* Append the bytes of EUC-JP or ISO-2022-JP as UTF-8. False, and nothing is
   appended, if iconv does not know them, or has no memory (ENOMEM). */
bool web_charset_japan(struct buffer *to, const struct web_charset *c,
                       const char *bytes, size_t len);

/*
 * Where the standard differs from iconv. GBK has the pairs of GB18030. The
 * first is true if a character is written as other bytes than by iconv: *bytes,
 * as one number, or none if that is 0. The last is the character that is read
 * from a pair, or 0 if iconv has it right; the one before marks the first bytes
 * of such pairs, and is false if there are none.
 */
bool web_charset_differs(enum charset_family family, uint32_t code,
                         uint32_t *bytes);
bool web_charset_leads(bool leads[256], enum charset_family family);
uint32_t web_charset_pair(enum charset_family family, const char pair[2]);

/* iconv() takes a char *, but does not write to it. */
char *web_charset_unconst(const char *text);

#endif
