/*
 * utf8.h - characters of UTF-8, as table 3-7 of the Unicode standard defines
 * them: no surrogates, nothing longer than it need be, nothing above
 * U+10FFFF.
 */
#ifndef SEEN_TEXT_UTF8_H
#define SEEN_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_UNKNOWN "\xef\xbf\xbd" /* U+FFFD, the replacement character */

/*
 * The length in bytes of the character that the text begins with, or 0 if it
 * begins with none. *code, unless NULL, is its code point. Of a text that
 * begins with no character, *part, unless NULL, is how many bytes one U+FFFD
 * stands for (the "maximal subpart", as browsers replace it).
 */
size_t utf8_read(const char *text, size_t len, uint32_t *code, size_t *part);

/* Write a code point as 1 to 4 bytes; returns how many. */
size_t utf8_write(char to[4], uint32_t code);

/* How many characters a text of UTF-8 has, which is also how many columns it
   mostly takes. */
static inline size_t utf8_count(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

/* The length of its first characters, in at most `most` bytes. */
static inline size_t utf8_cut(const char *text, size_t len, size_t most)
{
    if (len <= most)
        return len;
    while (most && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

/* Is the whole text UTF-8? An empty one is. */
bool utf8_valid(const char *text, size_t len);

#endif
