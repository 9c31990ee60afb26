/* proxies.c - which peers are proxies, and whom they speak for. */
#include "proxies.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

enum { ADDRESS = 64 }; /* bytes of its text */

static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

static void put_four(unsigned char to[16], const void *four)
{
    memcpy(to, mapped, sizeof mapped);
    memcpy(to + 12, four, 4);
}

static bool bytes_of(unsigned char to[16], const struct sockaddr_storage *s)
{
    if (s->ss_family == AF_INET)
        put_four(to, &((const struct sockaddr_in *)s)->sin_addr);
    else if (s->ss_family == AF_INET6)
        memcpy(to, &((const struct sockaddr_in6 *)s)->sin6_addr, 16);
    else
        return false;
    return true;
}

bool proxies_add(struct proxies *p, const char *text)
{
    struct proxy_net *net = &p->net[p->n];
    struct seen_span rest = span_of(text), host;
    char copy[ADDRESS];
    unsigned most = 128, extra = 0;
    unsigned char four[4];

    if (!strcmp(text, "unix")) {
        p->unix_sockets = true;
        return true;
    }
    if (p->n == PROXIES_MOST || !span_cut(&rest, '/', &host) ||
        host.len >= sizeof copy)
        return false;
    memcpy(copy, host.text, host.len);
    copy[host.len] = '\0';
    if (inet_pton(AF_INET, copy, four) == 1) {
        put_four(net->address, four);
        most = 32;
        extra = 96;
    } else if (inet_pton(AF_INET6, copy, net->address) != 1) {
        return false;
    }
    net->bits = most;
    if (text[host.len] == '/') {
        if (!rest.len || rest.len > 3 ||
            strspn(rest.text, "0123456789") != rest.len)
            return false;
        net->bits = (unsigned)atoi(rest.text);
    }
    if (net->bits > most)
        return false;
    net->bits += extra;
    p->n++;
    return true;
}

static bool within(const struct proxy_net *net, const unsigned char a[16])
{
    const unsigned whole = net->bits / 8, rest = net->bits % 8;

    return !memcmp(net->address, a, whole) &&
           (!rest || !((net->address[whole] ^ a[whole]) >> (8 - rest)));
}

bool proxies_trust(const struct proxies *p, const struct sockaddr_storage *s)
{
    unsigned char a[16];

    if (s->ss_family == AF_UNIX)
        return p->unix_sockets;
    if (!p->n || !bytes_of(a, s))
        return false;
    for (size_t i = 0; i < p->n; i++)
        if (within(&p->net[i], a))
            return true;
    return false;
}

/* "192.0.2.1", "2001:db8::1", "192.0.2.1:4711", "[2001:db8::1]:4711" */
static bool read_address(struct seen_span text, struct sockaddr_storage *to)
{
    struct sockaddr_in *four = (struct sockaddr_in *)to;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)to;
    const char *colon = text.len ? memchr(text.text, ':', text.len) : NULL;
    char copy[ADDRESS];

    if (text.len && text.text[0] == '[') {
        const char *end = memchr(text.text, ']', text.len);

        if (!end)
            return false;
        text.text++;
        text.len = (size_t)(end - text.text);
    } else if (colon && colon == memrchr(text.text, ':', text.len)) {
        text.len = (size_t)(colon - text.text);
    }
    if (text.len >= sizeof copy)
        return false;
    memcpy(copy, text.text, text.len);
    copy[text.len] = '\0';
    memset(to, 0, sizeof *to);
    if (inet_pton(AF_INET, copy, &four->sin_addr) == 1)
        to->ss_family = AF_INET;
    else if (inet_pton(AF_INET6, copy, &six->sin6_addr) == 1)
        to->ss_family = AF_INET6;
    return to->ss_family != AF_UNSPEC;
}

bool proxies_forwarded(const struct proxies *p, struct seen_span value,
                       struct sockaddr_storage *client)
{
    while (value.len) {
        const char *comma = memrchr(value.text, ',', value.len);
        const size_t from = comma ? (size_t)(comma - value.text) + 1 : 0;
        const struct seen_span last = { value.text + from, value.len - from };
        struct sockaddr_storage found;

        if (!read_address(span_trim(last), &found))
            return false; /* "unknown", or forged: we know no more */
        *client = found;
        if (!proxies_trust(p, &found))
            return false;
        value.len = comma ? from - 1 : 0;
    }
    return true;
}
