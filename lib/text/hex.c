/* hex.c - hexadecimal digits. */
#include "hex.h"

static const char digits[] = "0123456789abcdef";

void hex_write(char *to, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;

    for (size_t i = 0; i < n; i++) {
        *to++ = digits[b[i] >> 4];
        *to++ = digits[b[i] & 15];
    }
    *to = '\0';
}

static int value(char c, bool any_case)
{
    return c >= 'A' && c <= 'F' && !any_case ? -1 : hex_digit(c);
}

bool hex_read(void *to, size_t n, const char *text, bool any_case)
{
    unsigned char *b = to;

    for (size_t i = 0; i < n; i++, text += 2) {
        int high = value(text[0], any_case);
        int low = high < 0 ? -1 : value(text[1], any_case);

        if (low < 0)
            return false;
        b[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}
