/* hosts.c - compare the Host header with the names of this server. */
#include "hosts.h"

#include <arpa/inet.h>
#include <string.h>

#include "../lib/text/span.h"

enum { NAME = 255 }; /* bytes of the name of a host */

bool hosts_good(const char *name)
{
    static const char bytes[] = "abcdefghijklmnopqrstuvwxyz0123456789"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-_";
    const size_t len = strlen(name);

    if (!strcmp(name, "*"))
        return true;
    return len && len <= NAME && *name != '.' && strspn(name, bytes) == len;
}

/* The name of "name:80" or "name.", or the address of "[::1]:80". */
static struct seen_span name_of(struct seen_span host)
{
    const char *end;

    if (host.len && *host.text == '[') {
        end = memchr(host.text, ']', host.len);
        if (end)
            return (struct seen_span){ host.text + 1,
                                       (size_t)(end - host.text) - 1 };
    }
    end = memchr(host.text, ':', host.len);
    if (end)
        host.len = (size_t)(end - host.text);
    if (host.len && host.text[host.len - 1] == '.')
        host.len--;
    return host;
}

/* Numbers that only look like an address, "127.1" or "0x7f000001", have been
   made one by the browser before it sends them. */
static bool is_address(struct seen_span name, bool six)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char address[16];

    if (name.len >= sizeof text)
        return false;
    memcpy(text, name.text, name.len);
    text[name.len] = '\0';
    return inet_pton(six ? AF_INET6 : AF_INET, text, address) == 1;
}

/* The host of "https://haw.nsk.hr:8443/". */
static struct seen_span host_of(const char *url)
{
    const char *slashes = strstr(url, "://");
    struct seen_span host = span_of(slashes ? slashes + 3 : url);

    host.len = strcspn(host.text, "/?#");
    return host;
}

static bool is_same(struct seen_span name, struct seen_span other)
{
    return name.len == other.len &&
           !strncasecmp(name.text, other.text, name.len);
}

bool hosts_know(const struct hosts *h, struct seen_span host)
{
    const struct seen_span name = name_of(host);

    if (!host.len || is_same(name, span_of("localhost")) ||
        is_address(name, *host.text == '['))
        return true;
    for (size_t i = 0; i < h->names; i++)
        if (!strcmp(h->name[i], "*") ||
            is_same(name, name_of(span_of(h->name[i]))))
            return true;
    return h->url && is_same(name, name_of(host_of(h->url)));
}
