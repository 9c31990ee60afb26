/*
 * index.c - made-up archive indexes, of any size, the same every time.
 *
 * Line i is a capture of URL i / K, the K captures of one URL next to each
 * other as in any sorted index. URLs have hosts of 1 to 128 pages, paths of
 * one to four words, and some of them a query:
 *
 *     hr,vijesti4711)/arhiva/kultura/knjiga-17.html 20200314151617
 *     http://www.vijesti4711.hr/arhiva/kultura/knjiga-17.html text/html 200
 *     7QXAZ3B... - - 5123 81234567 CORPUS-20200314-00042.warc.gz
 *
 * The keys are canonical SURTs of their URLs; a line of CDX has about 200
 * bytes. Everything is written by hand, since printf() would take longer
 * than the build that is to be measured.
 */
#include "index.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

static const char *const word[] = {
    "vijesti", "arhiva", "kultura", "sport", "knjiga",   "glazba",
    "more",    "otoci",  "grad",    "selo",  "povijest", "jezik",
    "skola",   "pisma",  "slike",   "karte",
};
static const char *const top[] = { "hr", "hr", "hr", "com", "org", "net" };

static char *put(char *to, const char *text)
{
    size_t n = strlen(text);

    memcpy(to, text, n);
    return to + n;
}

static char *number(char *to, uint64_t n)
{
    char digit[20];
    int i = 20;

    do
        digit[--i] = (char)('0' + n % 10);
    while (n /= 10);
    memcpy(to, digit + i, (size_t)(20 - i));
    return to + 20 - i;
}

static char *digits(char *to, uint64_t n, int count)
{
    for (int i = count; i-- > 0; n /= 10)
        to[i] = (char)('0' + n % 10);
    return to + count;
}

struct index_url {
    const char *top, *word;
    uint64_t host;
    char path[128];
    size_t path_len;
    bool www;
};

/* URL number u; each host has a random share of 128 numbers. */
static void make_url(struct index_url *url, uint64_t u)
{
    uint64_t x = seen_mix(u + 1), h = seen_mix(u / 128 + 77);
    uint64_t part = (u % 128) >> (h & 3); /* hosts of 8 to 128 pages */
    char *at = url->path;

    url->host = u / 128 * 8 + (u % 128 - part) % 8;
    url->top = top[h % 6];
    url->word = word[h / 8 % 16];
    url->www = h & 64;
    for (uint64_t i = 0; i <= (x >> 8) % 3; i++) {
        *at++ = '/';
        at = put(at, word[x >> (16 + 4 * i) & 15]);
    }
    *at++ = '/';
    at = put(at, word[x >> 40 & 15]);
    *at++ = '-';
    at = number(at, u);
    if (x >> 50 & 3)
        at = put(at, ".html");
    else
        at = number(put(at, "?id="), x >> 52);
    url->path_len = (size_t)(at - url->path);
}

static char *put_key(char *to, const struct index_url *url)
{
    to = put(to, url->top);
    *to++ = ',';
    to = number(put(to, url->word), url->host);
    *to++ = ')';
    memcpy(to, url->path, url->path_len);
    return to + url->path_len;
}

static char *put_url(char *to, const struct index_url *url)
{
    to = put(to, url->www ? "http://www." : "http://");
    to = number(put(to, url->word), url->host);
    *to++ = '.';
    to = put(to, url->top);
    memcpy(to, url->path, url->path_len);
    return to + url->path_len;
}

static char *put_digest(char *to, uint64_t x)
{
    static const char base32[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

    for (int i = 0; i < 32; i++) {
        if (i % 12 == 0)
            x = seen_mix(x + 3);
        *to++ = base32[x >> (5 * (i % 12)) & 31];
    }
    return to;
}

static char *put_time(char *to, uint64_t i, uint64_t x)
{
    to = digits(to, 2020 + i % 3, 4);
    to = digits(to, 1 + x % 12, 2);
    to = digits(to, 1 + x / 12 % 28, 2);
    return digits(to, x / 400 % 86400 + 100000, 6);
}

static char *put_line(char *to, uint64_t i, uint64_t captures, bool json)
{
    uint64_t x = seen_mix(i ^ UINT64_C(0x5eed));
    const char *type = x & 12 ? "text/html" : "image/jpeg";
    const char *status = x & 0xf0 ? "200" : "404";
    struct index_url url;

    make_url(&url, i / captures);
    to = put_key(to, &url);
    *to++ = ' ';
    to = put_time(to, i % captures, x);
    to = put(to, json ? " {\"url\": \"" : " ");
    to = put_url(to, &url);
    to = put(put(to, json ? "\", \"mime\": \"" : " "), type);
    to = put(put(to, json ? "\", \"status\": \"" : " "), status);
    to = put_digest(put(to, json ? "\", \"digest\": \"" : " "), x);
    to = put(to, json ? "\", \"length\": \"" : " - - ");
    to = number(to, x >> 48);
    to = number(put(to, json ? "\", \"offset\": \"" : " "),
                x >> 34 & 0x3fffffff);
    to = put(to, json ? "\", \"filename\": \"CORPUS-20200314-"
                      : " CORPUS-20200314-");
    to = digits(to, i / 100000, 5);
    return put(to, json ? ".warc.gz\"}\n" : ".warc.gz\n");
}

size_t index_key(char *to, uint64_t u)
{
    struct index_url url;

    make_url(&url, u);
    return (size_t)(put_key(to, &url) - to);
}

/* A member, as in a ZipNum cluster. */
static bool write_member(FILE *file, struct libdeflate_compressor *z,
                         const char *text, size_t len)
{
    size_t room = libdeflate_gzip_compress_bound(z, len), n;
    char *out = malloc(room);
    bool good = false;

    if (out) {
        n = libdeflate_gzip_compress(z, text, len, out, room);
        good = n && fwrite(out, 1, n, file) == n;
    }
    free(out);
    return good;
}

bool index_write(FILE *file, enum index_format as, uint64_t from, uint64_t to,
                 uint64_t captures, uint64_t *bytes)
{
    struct libdeflate_compressor *z = libdeflate_alloc_compressor(6);
    char *text = malloc((size_t)INDEX_BLOCK * INDEX_LINE);
    bool good = z && text;

    *bytes = 0;
    if (good && as != INDEX_CDXJ && !from) {
        static const char legend[] = " CDX N b a m s k r M S V g\n";

        good = as == INDEX_GZIP
                   ? write_member(file, z, legend, sizeof legend - 1)
                   : fputs(legend, file) >= 0;
        *bytes += sizeof legend - 1;
    }
    while (good && from < to) {
        uint64_t end = from + INDEX_BLOCK < to ? from + INDEX_BLOCK : to;
        char *at = text;
        size_t len;

        for (; from < end; from++)
            at = put_line(at, from, captures, as == INDEX_CDXJ);
        len = (size_t)(at - text);
        *bytes += len;
        good = as == INDEX_GZIP ? write_member(file, z, text, len)
                                : fwrite(text, 1, len, file) == len;
    }
    free(text);
    libdeflate_free_compressor(z);
    return good && !ferror(file);
}
