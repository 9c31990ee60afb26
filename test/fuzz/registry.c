/*
 * registry.c - fuzz registries and robots.txt that come in pieces; and the
 * names of files that their addresses would give.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harvest/name.h"
#include "harvest/registry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct found {
    uint64_t sum;
};

/* A name that is taken stays in its folder and is seen in its list. */
static void check_name(const char *url)
{
    char name[HARVEST_NAME + 1];

    for (unsigned with = 0; with <= (HARVEST_NAME_HOST | HARVEST_NAME_PATH);
         with++) {
        if (harvest_name_of(name, url, with & 1, with, NULL) != SEEN_OK)
            continue;
        if (strchr(name, '/') || strstr(name, "..") || name[0] == '.' ||
            strlen(name) > HARVEST_NAME ||
            strcmp(name + strlen(name) - 5, ".seen"))
            abort();
        for (const char *at = name; *at; at++)
            if ((unsigned char)*at <= ' ' || *at == 0x7f)
                abort();
    }
}

static enum seen_code take(void *owner, const char *url, uint64_t line,
                           const struct seen_error *fault,
                           struct seen_error *why)
{
    struct found *f = owner;

    (void)fault;
    (void)why;
    f->sum = (f->sum ^ line) * UINT64_C(0x100000001b3);
    for (const char *at = url ? url : "-"; *at; at++)
        f->sum = (f->sum ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    if (url)
        check_name(url);
    return SEEN_OK;
}

static enum seen_code read_list(struct found *f, const uint8_t *data,
                                size_t size, size_t step, bool robots)
{
    struct registry *r = calloc(1, sizeof *r);
    enum seen_code code = SEEN_OK;

    if (!r)
        abort();
    r->robots = robots;
    r->handle = take;
    r->owner = f;
    for (size_t at = 0; at < size && code == SEEN_OK; at += step) {
        size_t n = size - at < step ? size - at : step;
        uint8_t *piece = malloc(n);

        if (!piece)
            abort();
        memcpy(piece, data + at, n);
        code = registry_push(r, piece, n, NULL, NULL);
        free(piece);
    }
    if (code == SEEN_OK)
        code = registry_end(r, NULL);
    free(r);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t steps[] = { 1, 2, 7, 64 };

    for (int robots = 0; robots < 2; robots++) {
        struct found whole = { .sum = 0 };
        enum seen_code code = read_list(&whole, data, size, size ? size : 1,
                                        robots);

        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
            struct found other = { .sum = 0 };

            if (read_list(&other, data, size, steps[i], robots) != code ||
                other.sum != whole.sum)
                abort();
        }
    }
    return 0;
}
