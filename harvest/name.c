/* name.c - from the address of a filter to the name of a file. */
#include "name.h"

#include <stdint.h>
#include <string.h>

#include "../serve/percent.h"
#include "address.h"

/*
 * The character at p, of *n bytes of UTF-8; UINT32_MAX if there is none: no
 * surrogates and nothing longer than it need be (Unicode 15, table 3-7).
 */
static uint32_t character(const unsigned char *p, size_t len, size_t *n)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    uint32_t c = p[0];

    *n = c < 0x80   ? 1
         : c < 0xc2 ? 0
         : c < 0xe0 ? 2
         : c < 0xf0 ? 3
         : c < 0xf5 ? 4
                    : 0;
    if (!*n || *n > len)
        return UINT32_MAX;
    if (*n > 1)
        c &= 0x7fu >> *n;
    for (size_t i = 1; i < *n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return UINT32_MAX;
        c = c << 6 | (p[i] & 0x3f);
    }
    return c < least[*n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)
               ? UINT32_MAX
               : c;
}

/* Letters, digits and three marks of ASCII. Of the rest of Unicode what can
   be seen: no controls, no marks of direction, no spaces. */
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

const char *name_fault(const char *name, size_t len)
{
    const unsigned char *p = (const unsigned char *)name;

    if (len <= 5 || memcmp(name + len - 5, ".seen", 5))
        return "the name does not end in .seen";
    if (len > NAME_MOST)
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
    for (size_t at = 0, n; at < len; at += n) {
        uint32_t c = character(p + at, len - at, &n);

        if (c == UINT32_MAX)
            return "the name is not UTF-8";
        if (!plain(c))
            return c < 0x20 || c == 0x7f
                       ? "the name has control bytes"
                       : "the name has characters that a file of filters "
                         "should not have";
    }
    return NULL;
}

/* A port follows a dash; what colons and brackets IPv6 has become "_". */
static size_t host_before(char *to, const char *url)
{
    const char *host = address_host(url), *end = address_path(url);
    const char *bracket = memchr(host, ']', (size_t)(end - host));
    size_t n = 0;

    for (; host < end; host++)
        if (*host == ':')
            to[n++] = !bracket || host > bracket ? '-' : '_';
        else if (*host != '[' && *host != ']')
            to[n++] = *host;
    to[n++] = '.';
    return n;
}

static enum seen_code bad_escape(struct seen_error *why)
{
    return seen_fail(why, SEEN_RANGE, 0,
                     "the name has a %% that escapes nothing");
}

/* The folders of the path, a dot behind each. They are still escaped, so that
   an escaped slash is none that separates them. */
static size_t folders_before(char *to, const char *path, size_t len)
{
    for (size_t i = 1; i < len; i++)
        to[i - 1] = path[i];
    for (size_t i = 0; len && i < len - 1; i++)
        if (to[i] == '/')
            to[i] = '.';
    return len ? len - 1 : 0;
}

enum seen_code name_of(char out[NAME_MOST + 1], const char *url, unsigned with,
                       struct seen_error *why)
{
    char name[2 * ADDRESS_MOST + 2], folders[ADDRESS_MOST + 1];
    size_t at = with & NAME_HOST ? host_before(name, url) : 0, n = 0;
    const char *path = address_path(url), *fault;
    size_t len = address_path_len(url), from = len;

    while (from && path[from - 1] != '/')
        from--;
    if (with & NAME_PATH) {
        size_t before = folders_before(folders, path, from);

        if (!percent_decode(name + at, &n, folders, before))
            return bad_escape(why);
        at += n;
    }
    if (!percent_decode(name + at, &n, path + from, len - from))
        return bad_escape(why);
    /* Its own name must be a good one, too: what comes before it hides no
       dot. */
    fault = name_fault(name + at, n);
    if (!fault)
        fault = name_fault(name, at + n);
    if (fault)
        return seen_fail(why, SEEN_RANGE, 0, "%s", fault);
    memcpy(out, name, at + n);
    out[at + n] = '\0';
    return SEEN_OK;
}
