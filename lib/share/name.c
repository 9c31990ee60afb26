/* name.c - which names of files may be exchanged. */
#include <seen/share.h>

#include <stdbool.h>
#include <string.h>

#include "../text/utf8.h"

/* ASCII letters, digits and - _ . only; of the rest of Unicode all visible
   characters: no controls, direction marks or spaces. */
static bool plain(uint32_t c)
{
    if (c < 0x80)
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
               (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.';
    return c > 0xa0 && c != 0xad && c != 0x061c && c != 0x1680 &&
           c != 0x180e && !(c >= 0x2000 && c <= 0x200f) &&
           !(c >= 0x2028 && c <= 0x202f) && !(c >= 0x205f && c <= 0x206f) &&
           c != 0x3000 && !(c >= 0xe000 && c <= 0xf8ff) && c != 0xfeff &&
           !(c >= 0xfff0 && c <= 0xffff) && c < 0xe0000;
}

static const char *letters_fault(const char *name, size_t len)
{
    uint32_t c = 0;

    for (size_t at = 0, n; at < len; at += n) {
        n = utf8_read(name + at, len - at, &c, NULL);
        if (!n)
            return "the name is not UTF-8";
        if (!plain(c))
            return c < 0x20 || c == 0x7f
                       ? "the name has control bytes"
                       : "the name has characters that the name of a filter "
                         "should not have";
    }
    return NULL;
}

const char *seen_share_name_fault(const char *name, size_t len)
{
    if (len <= 5 || memcmp(name + len - 5, ".seen", 5))
        return "the name does not end in .seen";
    if (len > SEEN_SHARE_NAME_MOST)
        return "the name has more than 200 bytes";
    if (name[0] == '.')
        return "the name begins with a dot";
    if (name[0] == '-')
        return "the name begins with a dash";
    if (memchr(name, '/', len) || memchr(name, '\\', len))
        return "the name has a slash in it";
    for (size_t i = 0; i + 1 < len; i++)
        if (name[i] == '.' && name[i + 1] == '.')
            return "the name has two dots in a row";
    return letters_fault(name, len);
}
