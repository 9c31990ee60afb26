/*
 * serve_filter.c - URLs, and filters that hold every other one.
 *
 * The filters are planned for 800 million URLs by default, which is about a
 * gigabyte: far more than any cache, like the filter of an archive. They hold
 * a few million URLs, built in bulk; the number does not change the cost of an
 * answer, except for a probe or two of absent URLs.
 */
#include "serve.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/build.h>
#include <seen/store.h>

enum { MOST_RANGE = 8000000 };

uint64_t served_range(const struct load_options *s)
{
    return s->capacity < MOST_RANGE ? s->capacity & ~UINT64_C(1) : MOST_RANGE;
}

void served_url(char *to, uint64_t n)
{
    static const char before[] = "http://example.org/";
    char *at = to + URL_LENGTH;

    memcpy(to, before, sizeof before - 1);
    for (int i = 0; i < 12; i++, n /= 10)
        *--at = (char)('0' + n % 10);
}

/* Keys of URLs, which go to the builder when there are enough. */
struct heap {
    struct seen_build *build;
    struct seen_key key[CHUNK];
    size_t n;
    struct seen_error why;
    bool good;
};

static void flush(struct heap *h)
{
    h->good = h->good &&
              seen_build_add(h->build, 0, h->key, h->n, &h->why) == SEEN_OK;
    h->n = 0;
}

static void put(struct heap *h, const char *url, size_t len)
{
    char text[SEEN_KEY_TEXT];

    h->good = h->good && seen_key_make(&h->key[h->n], text, url, len, "surt",
                                       &h->why) == SEEN_OK;
    if (h->good && ++h->n == CHUNK)
        flush(h);
}

static bool make(const struct load_options *s, const char *path,
                 const char *name, unsigned step)
{
    struct seen_plan plan = { .kind = "blocked",
                              .profile = "surt",
                              .capacity = s->capacity,
                              .rate = 0.01 };
    struct heap *h = calloc(1, sizeof *h);
    struct seen_filter *f = NULL;
    char url[URL_LENGTH + 32];
    int len;

    if (!h)
        return false;
    h->good = seen_build_new(&h->build, &plan, 1, &h->why) == SEEN_OK;
    for (uint64_t i = 0; i < served_range(s) && h->good; i += step) {
        served_url(url, i);
        put(h, url, URL_LENGTH);
    }
    len = snprintf(url, sizeof url, "http://example.org/%s", name);
    put(h, url, (size_t)len);
    flush(h);
    if (h->good)
        h->good = seen_build_finish(h->build, &f, &h->why) == SEEN_OK;
    else
        seen_build_free(h->build);
    h->good = h->good && seen_store_save(f, path, &h->why) == SEEN_OK;
    if (!h->good)
        fprintf(stderr, "seen: bench: %s: %s\n", path, h->why.text);
    seen_filter_free(f);
    len = h->good;
    free(h);
    return len;
}

const char *served_made(const struct load_options *s, const char *name,
                        unsigned step)
{
    static char path[8][PATH_ROOM];
    static unsigned next;
    char *it = path[next++ % 8];

    const char *at = it + strlen(name) + 1;

    snprintf(it, PATH_ROOM, "%s=%s/%s.seen", name, process_folder(), name);
    return !access(at, F_OK) || make(s, at, name, step) ? it : NULL;
}
