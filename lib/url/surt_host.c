/*
 * surt_host.c - the host and the port of a SURT.
 *
 *     WWW2.Example.com.:8080     com,example:8080
 *     010.1                      1,0,0,8         the address 8.0.0.1
 *     0x7f.1                     1,0x7f          no address here: a name
 */
#include <seen/url.h>

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "host.h"
#include "ip.h"
#include "surt.h"

/* One dot between labels, and none around them. */
static size_t tidy_dots(char *host, size_t len)
{
    size_t to = 0;

    for (size_t i = 0; i < len; i++)
        if (host[i] != '.' || (to && host[to - 1] != '.'))
            host[to++] = host[i];
    return to && host[to - 1] == '.' ? to - 1 : to;
}

/*
 * Addresses: a number alone, of which the lower 32 bits count, or one to four
 * parts of digits, each octal if it begins with 0, of which the last fills
 * the rest. What is none of these is a name: 1.2.3.256, 08.1.1.1, 0x7f.1.
 */
static bool address(uint32_t *ip, const char *host, size_t len)
{
    bool alone = true;
    uint32_t low = 0;

    if (!len || host[len - 1] == '.')
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!ascii_digit(host[i]) && host[i] != '.')
            return false;
        alone = alone && host[i] != '.';
        low = low * 10 + (uint32_t)(host[i] - '0');
    }
    if (!alone)
        return ip4_read(ip, host, len);
    *ip = low;
    return true;
}

/* Without "www." or "www12." before the rest. */
static size_t without_www(const char *host, size_t len)
{
    size_t i = 3;

    if (len < 4 || memcmp(host, "www", 3))
        return 0;
    while (i < len && ascii_digit(host[i]))
        i++;
    return i < len && host[i] == '.' ? i + 1 : 0;
}

void surt_put_escape(struct sink *to, char c)
{
    char escape[4] = "%";

    hex_write(escape + 1, &c, 1);
    sink_put(to, escape, 3);
}

/* Write a host escaped. What would end a host in a SURT is escaped as well,
   but colons are part of an IPv6 address. */
static void put_label(struct sink *to, const char *p, size_t len, bool ip6)
{
    for (size_t i = 0; i < len; i++)
        if (is_visible(p[i]) && !strchr("#%()/?,@[]\\", p[i]) &&
            (p[i] != ':' || ip6))
            sink_byte(to, ascii_lower(p[i]));
        else
            surt_put_escape(to, p[i]);
}

static void put_reversed(struct sink *to, const char *host, size_t len,
                         bool ip6)
{
    size_t end = len, at = len;

    while (at--) {
        if (at && host[at - 1] != '.')
            continue;
        put_label(to, host + at, end - at, ip6);
        if (at)
            sink_byte(to, ',');
        end = at ? at - 1 : 0;
    }
}

const char *surt_put_host(struct sink *to, const struct surt_pieces *u)
{
    char host[SEEN_KEY_TEXT], name[4 * 1024];
    struct sink idna = { name, 0, sizeof name, false };
    struct sink dotted = { host, 0, sizeof host, false };
    size_t len = u->host.len, www = 0;
    bool plain = true;
    uint32_t ip;

    memcpy(host, u->host.text, len);
    len = url_unescape_all(host, len);
    for (size_t i = 0; i < len; i++) {
        plain = plain && (unsigned char)host[i] < 0x80;
        host[i] = ascii_lower(host[i]);
        if (u->brackets && hex_digit(host[i]) < 0 && host[i] != ':' &&
            host[i] != '.')
            return "the host is no IPv6 address";
    }
    if (!plain && idna_write(&idna, host, len, IDNA_ARCHIVES) && !idna.full) {
        memcpy(host, name, idna.len);
        len = idna.len;
    } else if (!plain && errno == ENOMEM) {
        return url_no_memory; /* as it is, it would be another key */
    }
    len = tidy_dots(host, len);
    if (!len)
        return "a URL needs a host";
    if (address(&ip, host, len)) {
        ip4_write(&dotted, ip);
        len = dotted.len;
    } else if (!url_word_is(u->scheme.text, u->scheme.len, "dns")) {
        www = without_www(host, len);
    }
    put_reversed(to, host + www, len - www, u->brackets);
    return NULL;
}

const char *surt_put_port(struct sink *to, const struct surt_pieces *u)
{
    const struct seen_span *s = &u->scheme;
    unsigned port = 0;

    for (size_t i = 0; i < u->port.len; i++) {
        if (!ascii_digit(u->port.text[i]))
            return "the port is not a number";
        port = port * 10 + (unsigned)(u->port.text[i] - '0');
        if (port > 65535)
            return "the port is above 65535";
    }
    if (!port || (port == 80 && url_word_is(s->text, s->len, "http")) ||
        (port == 443 && url_word_is(s->text, s->len, "https")))
        return NULL;
    sink_byte(to, ':');
    sink_number(to, port);
    return NULL;
}
