/* hex.c - hexadecimal digits. */
#include "hex.h"

static const char digits[] = "0123456789abcdef";

void hex_print(char *to, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    *to = '\0';
}

static int value(char c, bool any)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return any && c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool hex_parse(unsigned char *to, size_t n, const char *text, bool any)
{
    for (size_t i = 0; i < n; i++, text += 2) {
        int high = value(text[0], any);
        int low = high < 0 ? -1 : value(text[1], any);

        if (low < 0)
            return false;
        to[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}
