/*
 * lab_urls.c - any bytes as a list of URLs: what is kept is what a plain
 * comparison of all lines with all keeps, in the same order.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab/urls.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { MOST = 512 };

struct line {
    const char *text;
    size_t len;
};

static bool known(const struct line *line, size_t n, const struct line *one)
{
    for (size_t i = 0; i < n; i++)
        if (line[i].len == one->len &&
            !memcmp(line[i].text, one->text, one->len))
            return true;
    return false;
}

/* The lines to keep, MOST at most; others are counted. */
static size_t cut(const char *text, size_t len, struct line *line,
                  uint64_t *repeated, uint64_t *bad)
{
    size_t n = 0;

    for (size_t at = 0, end; at < len && n < MOST; at = end + 1) {
        struct line one = { text + at, 0 };

        for (end = at; end < len && text[end] != '\n'; end++)
            ;
        one.len = end - at;
        if (one.len && one.text[one.len - 1] == '\r')
            one.len--;
        if (!one.len || one.len > URL_MOST)
            ++*bad;
        else if (known(line, n, &one))
            ++*repeated;
        else
            line[n++] = one;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct line line[MOST];
    char url[URL_MOST], path[64];
    uint64_t repeated = 0, bad = 0;
    struct urls *u;
    size_t n;
    int fd = memfd_create("urls", 0);

    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
        abort();
    n = cut((const char *)bytes, len, line, &repeated, &bad);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (urls_load(&u, path, NULL) != SEEN_OK) {
        if (n && memcmp(bytes, "\x1f\x8b", 2) != 0)
            abort();
    } else if (n < MOST) {
        if (urls_count(u) != n || urls_repeated(u) != repeated ||
            urls_bad(u) != bad)
            abort();
        for (size_t i = 0; i < n; i++)
            if (urls_get(u, i, url) != line[i].len ||
                memcmp(url, line[i].text, line[i].len) != 0)
                abort();
    }
    if (n)
        urls_free(u);
    close(fd);
    return 0;
}
