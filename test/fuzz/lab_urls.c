/*
 * lab_urls.c - any bytes as a file of URLs: what is kept are distinct URLs
 * without control bytes. Of a plain list they are the lines, each in the
 * place where it came first.
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

/* The distinct lines, MOST at most, if all look like URLs of a list; others
   may be of any format. */
static bool cut(const char *text, size_t len, struct line *line, size_t *n)
{
    for (size_t at = 0, end; at < len && *n < MOST; at = end + 1) {
        struct line one = { text + at, 0 };

        for (end = at; end < len && text[end] != '\n'; end++)
            if (text[end] < '-' || text[end] > 'z')
                return false;
        one.len = end - at;
        if (one.len < 8 || memcmp(one.text, "http://", 7) ||
            one.len > URL_MOST)
            return false;
        if (!known(line, *n, &one))
            line[(*n)++] = one;
    }
    return *n > 0;
}

static void check(const struct urls *u)
{
    static struct line line[MOST];
    static char text[MOST][URL_MOST];

    if (!urls_count(u))
        abort();
    for (size_t i = 0; i < urls_count(u) && i < MOST; i++) {
        line[i].text = text[i];
        line[i].len = urls_get(u, i, text[i]);
        if (!line[i].len || line[i].len > URL_MOST || known(line, i, &line[i]))
            abort();
        for (size_t j = 0; j < line[i].len; j++)
            if ((unsigned char)text[i][j] < ' ')
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct line line[MOST];
    char url[URL_MOST], path[64];
    struct urls *u;
    size_t n = 0;
    int fd = memfd_create("urls", 0);
    bool plain = cut((const char *)bytes, len, line, &n);

    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (urls_load(&u, path, NULL) == SEEN_OK) {
        check(u);
        if (plain && n < MOST && urls_count(u) != n)
            abort();
        for (size_t i = 0; i < n && plain; i++)
            if (urls_get(u, i, url) != line[i].len ||
                memcmp(url, line[i].text, line[i].len) != 0)
                abort();
        urls_free(u);
    } else if (plain) {
        abort();
    }
    close(fd);
    return 0;
}
