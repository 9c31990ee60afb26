/* utf8.c - read and write characters. */
#include "utf8.h"

#include "eight.h"
#include "little.h"

/* The first byte says how long a character is and where its second byte must
   lie; the others lie between 80 and BF. */
size_t utf8_read(const char *text, size_t len, uint32_t *code, size_t *part)
{
    const unsigned char *b = (const unsigned char *)text;
    unsigned char least = 0x80, most = 0xbf;
    size_t need, i;
    uint32_t c;

    if (part)
        *part = len > 0;
    if (!len)
        return 0;
    if (b[0] < 0x80) {
        if (code)
            *code = b[0];
        return 1;
    }
    if (b[0] < 0xc2 || b[0] > 0xf4)
        return 0;
    need = b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
    if (b[0] == 0xe0)
        least = 0xa0;
    else if (b[0] == 0xed)
        most = 0x9f;
    else if (b[0] == 0xf0)
        least = 0x90;
    else if (b[0] == 0xf4)
        most = 0x8f;
    c = b[0] & (0x7fu >> need);
    for (i = 1; i < need; i++, least = 0x80, most = 0xbf) {
        if (i == len || b[i] < least || b[i] > most) {
            if (part)
                *part = i;
            return 0;
        }
        c = c << 6 | (b[i] & 0x3f);
    }
    if (code)
        *code = c;
    return need;
}

size_t utf8_write(char to[4], uint32_t code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (char)(0xe0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3f));
        to[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 0x3f));
    to[2] = (char)(0x80 | (code >> 6 & 0x3f));
    to[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

bool utf8_valid(const char *text, size_t len)
{
    size_t i = 0, n;

    for (;;) {
        while (len - i >= 8 && !eight_high(little_64(text + i)))
            i += 8;
        if (i == len)
            return true;
        n = utf8_read(text + i, len - i, NULL, NULL);
        if (!n)
            return false;
        i += n;
    }
}
