/* host.c - the host parser, section 3.5 of the WHATWG URL standard. */
#include "host.h"

#include <errno.h>
#include <string.h>

#include <seen/url.h>

#include "../text/ascii.h"
#include "ip.h"

/* The forbidden host code points; in a domain, also controls, % and DEL. */
static bool forbidden(char c, bool domain)
{
    if (domain && ((unsigned char)c < 0x20 || c == '%' || c == 0x7f))
        return true;
    return !c || strchr("\t\n\r #/:<>?@[\\]^|", c);
}

/* What most hosts have and all may have. */
static bool usual(char c)
{
    return ascii_letter(c) || ascii_digit(c) || c == '.' || c == '-';
}

static bool any_forbidden(const char *host, size_t len, bool domain)
{
    for (size_t i = 0; i < len; i++)
        if (!usual(host[i]) && forbidden(host[i], domain))
            return true;
    return false;
}

/*
 * Names of ASCII only have to be put in lower case, also if a label is encoded:
 * there are pages at names that IDNA does not allow, such as
 * xn--board-ngr.palungjit.org (whatwg/url#914).
 */
static bool plain(const char *domain, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)domain[i] > 0x7f)
            return false;
    return true;
}

const char url_no_memory[] = "no memory for the name of the host";

static const char *domain_write(struct sink *to, const char *host, size_t len)
{
    char name[SEEN_KEY_TEXT];
    size_t from = to->len;
    uint32_t ip;

    if (len > sizeof name)
        return "the host is too long";
    /* A byte that is not UTF-8 stands for U+FFFD, which no name may contain,
       even where the escapes around it would complete a character. */
    if (!utf8_valid(host, len))
        return "the host is not UTF-8";
    len = percent_decode_lenient(name, host, len);
    if (plain(name, len)) {
        for (size_t i = 0; i < len; i++)
            sink_byte(to, ascii_lower(name[i]));
    } else if (!idna_write(to, name, len, IDNA_WHATWG)) {
        return errno == ENOMEM ? url_no_memory
                               : "the host is not a name that IDNA allows";
    }
    if (to->full)
        return NULL;
    if (to->len == from)
        return "a URL needs a host";
    if (any_forbidden(to->text + from, to->len - from, true))
        return "the host has a character that no host may have";
    if (!ip4_looks(to->text + from, to->len - from))
        return NULL;
    if (!ip4_read(&ip, to->text + from, to->len - from))
        return "the host ends with a number but is no IPv4 address";
    to->len = from;
    ip4_write(to, ip);
    return NULL;
}

const char *url_write_host(struct sink *to, const char *host, size_t len,
                           bool special)
{
    if (len && *host == '[') {
        uint16_t ip[8];

        if (host[len - 1] != ']' || !ip6_read(ip, host + 1, len - 2))
            return "the host is no IPv6 address";
        sink_byte(to, '[');
        ip6_write(to, ip);
        sink_byte(to, ']');
        return NULL;
    }
    if (special)
        return domain_write(to, host, len);
    if (any_forbidden(host, len, false))
        return "the host has a character that no host may have";
    sink_encode(to, host, len, PERCENT_CONTROL);
    return NULL;
}
