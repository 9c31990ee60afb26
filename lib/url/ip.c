/* ip.c - IPv4 and IPv6 addresses: sections 3.5 of the URL standard. */
#include "ip.h"

#include <string.h>

/* --- IPv4 --- */

#define TOO_LARGE (UINT64_C(1) << 40)

/* Read a number in base 8, 10 or 16; false if it is not a number. */
static bool number(uint64_t *out, const char *p, const char *end)
{
    int base = 10;

    if (p == end)
        return false;
    if (end - p >= 2 && p[0] == '0' && ascii_lower(p[1]) == 'x') {
        base = 16;
        p += 2;
    } else if (end - p >= 2 && p[0] == '0') {
        base = 8;
        p++;
    }
    for (*out = 0; p < end; p++) {
        int digit = hex_digit(*p);

        if (digit < 0 || digit >= base)
            return false;
        if (*out < TOO_LARGE)
            *out = *out * (unsigned)base + (unsigned)digit;
    }
    return true;
}

/* The beginning of the last label, after one dot at the end was taken off. */
static const char *last_label(const char *host, const char **end)
{
    const char *p;

    if (*end > host && (*end)[-1] == '.')
        (*end)--;
    for (p = *end; p > host && p[-1] != '.'; p--)
        ;
    return p;
}

bool ip4_looks(const char *host, size_t len)
{
    const char *end = host + len, *last = last_label(host, &end), *p = last;
    uint64_t any;

    while (p < end && ascii_digit(*p))
        p++;
    return last < end && (p == end || number(&any, last, end));
}

bool ip4_read(uint32_t *ip, const char *host, size_t len)
{
    const char *end = host + len, *p = host, *dot;
    uint64_t part[4], address = 0;
    int n = 0;

    last_label(host, &end);
    for (;; p = dot + 1) {
        dot = memchr(p, '.', (size_t)(end - p));
        if (n == 4 || !number(&part[n++], p, dot ? dot : end))
            return false;
        if (!dot)
            break;
    }
    for (int i = 0; i < n - 1; i++) {
        if (part[i] > 255)
            return false;
        address |= part[i] << (24 - 8 * i);
    }
    if (part[n - 1] >> (8 * (5 - n)))
        return false;
    *ip = (uint32_t)(address | part[n - 1]);
    return true;
}

void ip4_write(struct sink *to, uint32_t ip)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        sink_number(to, ip >> shift & 255);
        if (shift)
            sink_byte(to, '.');
    }
}

/* --- IPv6 --- */

/* The four decimal bytes that may end an address: no zero before a digit. */
static bool dotted(uint16_t piece[2], const char *p, const char *end)
{
    for (int i = 0; i < 4; i++) {
        unsigned value = 0;
        const char *start = p;

        if (i && (p == end || *p++ != '.'))
            return false;
        if (i)
            start = p;
        for (; p < end && ascii_digit(*p); p++) {
            value = value * 10 + (unsigned)(*p - '0');
            if (value > 255 || (p > start && *start == '0'))
                return false;
        }
        if (p == start)
            return false;
        piece[i / 2] = (uint16_t)((unsigned)piece[i / 2] << 8 | value);
    }
    return p == end;
}

bool ip6_read(uint16_t ip[8], const char *p, size_t len)
{
    const char *end = p + len;
    int n = 0, gap = -1;

    memset(ip, 0, 8 * sizeof *ip);
    if (p < end && *p == ':') {
        if (end - p < 2 || p[1] != ':')
            return false;
        p += 2;
        gap = n;
    }
    while (p < end) {
        const char *start = p;
        unsigned value = 0;

        if (n == 8)
            return false;
        if (*p == ':') {
            if (gap >= 0)
                return false;
            p++;
            gap = n;
            continue;
        }
        for (; p < end && p - start < 4 && hex_digit(*p) >= 0; p++)
            value = value << 4 | (unsigned)hex_digit(*p);
        if (p < end && *p == '.') {
            if (p == start || n > 6 || !dotted(ip + n, start, end))
                return false;
            n += 2;
            break;
        }
        if (p < end && (*p++ != ':' || p == end))
            return false;
        ip[n++] = (uint16_t)value;
    }
    if (gap < 0)
        return n == 8;
    if (n == 8)
        return false;
    memmove(ip + gap + 8 - n, ip + gap, (size_t)(n - gap) * sizeof *ip);
    memset(ip + gap, 0, (size_t)(8 - n) * sizeof *ip);
    return true;
}

/* The first of the longest runs of zeros that are longer than one piece. */
static int zeros(const uint16_t ip[8], int *length)
{
    int best = -1;

    *length = 1;
    for (int i = 0; i < 8; i++) {
        int run = 0;

        while (i + run < 8 && !ip[i + run])
            run++;
        if (run > *length) {
            best = i;
            *length = run;
        }
        i += run;
    }
    return best;
}

void ip6_write(struct sink *to, const uint16_t ip[8])
{
    static const char hex[] = "0123456789abcdef";
    int run, gap = zeros(ip, &run);

    for (int i = 0; i < 8; i++) {
        int shift = 12;

        if (i == gap) {
            sink_put(to, i ? ":" : "::", i ? 1 : 2);
            i += run - 1;
            continue;
        }
        while (shift && !(ip[i] >> shift))
            shift -= 4;
        for (; shift >= 0; shift -= 4)
            sink_byte(to, hex[ip[i] >> shift & 15]);
        if (i < 7)
            sink_byte(to, ':');
    }
}
