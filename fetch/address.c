/*
 * address.c - which addresses belong to the public internet.
 *
 * The tables are those of IANA's registries of special-purpose addresses
 * (RFC 6890 and later additions), one row each. They have more than the
 * ranges that are "not globally reachable": multicast and reserved space, and
 * the few reachable islands of 192.0.0.0/24 and 2001::/23, where nobody has a
 * web server. Of IPv6, only 2000::/3 is given out to anyone at all, so
 * that everything outside is refused without a row:
 *
 *     ::/8      unspecified, loopback, mapped, compatible, NAT64
 *     100::/8   discard-only and dummy prefixes
 *     fc00::/7  private    fe80::/10 link-local, fec0::/10 site-local
 *     ff00::/8  multicast  5f00::/16 segment routing
 *
 * except for addresses that stand for an IPv4 address, which decides.
 */
#include "address.h"

#include "fetch.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define IP(a, b, c, d) \
    ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (d))

static const struct {
    uint32_t first;
    int bits;
} special4[] = {
    { IP(0, 0, 0, 0), 8 },       /* this network */
    { IP(10, 0, 0, 0), 8 },      /* private */
    { IP(100, 64, 0, 0), 10 },   /* shared by providers (RFC 6598) */
    { IP(127, 0, 0, 0), 8 },     /* loopback */
    { IP(169, 254, 0, 0), 16 },  /* link-local, and clouds' metadata */
    { IP(172, 16, 0, 0), 12 },   /* private */
    { IP(192, 0, 0, 0), 24 },    /* protocol assignments */
    { IP(192, 0, 2, 0), 24 },    /* documentation */
    { IP(192, 88, 99, 0), 24 },  /* relays of 6to4, given up */
    { IP(192, 168, 0, 0), 16 },  /* private */
    { IP(198, 18, 0, 0), 15 },   /* benchmarks */
    { IP(198, 51, 100, 0), 24 }, /* documentation */
    { IP(203, 0, 113, 0), 24 },  /* documentation */
    { IP(224, 0, 0, 0), 4 },     /* multicast */
    { IP(240, 0, 0, 0), 4 },     /* reserved, and broadcast */
};

/* Within 2000::/3; the first 64 bits are enough. */
static const struct {
    uint64_t first;
    int bits;
} special6[] = {
    { UINT64_C(0x2001000000000000), 23 }, /* protocols; Teredo, ORCHID */
    { UINT64_C(0x20010db800000000), 32 }, /* documentation */
    { UINT64_C(0x3fff000000000000), 20 }, /* documentation (RFC 9637) */
};

static bool public4(uint32_t ip)
{
    for (size_t i = 0; i < sizeof special4 / sizeof *special4; i++)
        if (!((ip ^ special4[i].first) >> (32 - special4[i].bits)))
            return false;
    return true;
}

static uint64_t big_endian(const uint8_t *bytes, int n)
{
    uint64_t value = 0;

    while (n--)
        value = value << 8 | *bytes++;
    return value;
}

static bool public6(const uint8_t ip[16])
{
    uint64_t high = big_endian(ip, 8);
    uint64_t third = big_endian(ip + 8, 4);
    uint32_t last = (uint32_t)big_endian(ip + 12, 4);

    if (!high && third == 0xffff) /* ::ffff:0:0/96, mapped */
        return public4(last);
    if (high == UINT64_C(0x0064ff9b00000000) && !third) /* NAT64 */
        return public4(last);
    if (high >> 48 == 0x2002) /* 6to4 */
        return public4((uint32_t)(high >> 16));
    if (high >> 61 != 1)
        return false;
    for (size_t i = 0; i < sizeof special6 / sizeof *special6; i++)
        if (!((high ^ special6[i].first) >> (64 - special6[i].bits)))
            return false;
    return true;
}

bool fetch_public(const struct sockaddr *address)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;

    if (address->sa_family == AF_INET) {
        memcpy(&four, address, sizeof four);
        return public4(ntohl(four.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        memcpy(&six, address, sizeof six);
        return public6(six.sin6_addr.s6_addr);
    }
    return false;
}

/* --- places --- */

/* "127.0.0.1:80" or "[::1]:80", n bytes. */
static bool place_read(struct sockaddr_storage *to, const char *text, size_t n)
{
    const struct addrinfo numbers = {
        .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM
    };
    struct addrinfo *found;
    char host[FETCH_ADDRESS + 8], *colon, *name = host;

    if (n >= sizeof host)
        return false;
    memcpy(host, text, n);
    host[n] = '\0';
    colon = strrchr(host, ':');
    if (!colon || colon == host || !colon[1])
        return false;
    *colon = '\0';
    if (*host == '[' && colon[-1] == ']') {
        colon[-1] = '\0';
        name++;
    } else if (strchr(host, ':')) {
        return false;
    }
    if (getaddrinfo(name, colon + 1, &numbers, &found))
        return false;
    memset(to, 0, sizeof *to);
    memcpy(to, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return true;
}

enum seen_code fetch_places_read(struct fetch_places *list, const char *text,
                                 struct seen_error *why)
{
    const char *at = text;

    list->count = 0;
    while (at && *at) {
        size_t n = strcspn(at, ",");

        if (list->count == FETCH_PLACES)
            return seen_fail(why, SEEN_RANGE, (uint64_t)(at - text),
                             "at most %d places can be allowed", FETCH_PLACES);
        if (!place_read(&list->place[list->count], at, n))
            return seen_fail(why, SEEN_RANGE, (uint64_t)(at - text),
                             "a place is an address and a port, as in "
                             "127.0.0.1:8080 or [::1]:80");
        list->count++;
        at += n + (at[n] == ',');
    }
    return SEEN_OK;
}

static bool same_place(const struct sockaddr *a, const struct sockaddr *b)
{
    struct sockaddr_in four[2];
    struct sockaddr_in6 six[2];

    if (a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET) {
        memcpy(&four[0], a, sizeof *four);
        memcpy(&four[1], b, sizeof *four);
        return four[0].sin_port == four[1].sin_port &&
               four[0].sin_addr.s_addr == four[1].sin_addr.s_addr;
    }
    memcpy(&six[0], a, sizeof *six);
    memcpy(&six[1], b, sizeof *six);
    return six[0].sin6_port == six[1].sin6_port &&
           !memcmp(&six[0].sin6_addr, &six[1].sin6_addr, 16);
}

bool fetch_places_have(const struct fetch_places *list,
                       const struct sockaddr *address)
{
    if (address->sa_family != AF_INET && address->sa_family != AF_INET6)
        return false;
    for (unsigned i = 0; i < list->count; i++)
        if (same_place((const struct sockaddr *)&list->place[i], address))
            return true;
    return false;
}

void fetch_address_write(const struct sockaddr *address,
                         char to[FETCH_ADDRESS])
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    const char *done = NULL;

    if (address->sa_family == AF_INET) {
        memcpy(&four, address, sizeof four);
        done = inet_ntop(AF_INET, &four.sin_addr, to, FETCH_ADDRESS);
    } else if (address->sa_family == AF_INET6) {
        memcpy(&six, address, sizeof six);
        done = inet_ntop(AF_INET6, &six.sin6_addr, to, FETCH_ADDRESS);
    }
    if (!done)
        snprintf(to, FETCH_ADDRESS, "an unknown address");
}
