/*
 * catalogue.c - what was found in WARC files.
 *
 * Entries come file by file and in the order of their places, so the array is
 * sorted as it grows, and a place is found by bisection. Files are found by
 * their last part, as an index names them; of two files of one name the first
 * counts.
 */
#include "catalogue.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../lib/text/array.h"
#include "../lib/text/memory.h"

struct warc_print warc_print(const void *bytes, size_t len)
{
    XXH128_hash_t hash = XXH3_128bits(bytes, len);

    return (struct warc_print){ hash.low64, hash.high64 };
}

bool warc_print_same(struct warc_print a, struct warc_print b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

enum seen_code warc_catalogue_file(struct warc_catalogue *c, const char *path,
                                   struct seen_error *why)
{
    char **more = array_grow(c->path, &c->path_room, c->files + 1,
                             sizeof *more);
    const char *name;

    if (!more)
        return no_memory_for(why, "the list of records");
    c->path = more;
    c->path[c->files] = strdup(path);
    if (!c->path[c->files])
        return no_memory_for(why, "the list of records");
    name = last_part(c->path[c->files++]);
    if (!map_get(&c->names, name, strlen(name)) &&
        !map_set(&c->names, name, strlen(name), (void *)(uintptr_t)c->files))
        return no_memory_for(why, "the list of records");
    return SEEN_OK;
}

enum seen_code warc_catalogue_add(struct warc_catalogue *c,
                                  const struct warc_entry *entry,
                                  struct seen_error *why)
{
    struct warc_entry *more = array_grow(c->entry, &c->room, c->n + 1,
                                         sizeof *more);

    if (!more)
        return no_memory_for(why, "the list of records");
    c->entry = more;
    c->entry[c->n] = *entry;
    c->entry[c->n++].file = (unsigned)c->files - 1;
    return SEEN_OK;
}

struct warc_entry *warc_catalogue_find(const struct warc_catalogue *c,
                                       struct seen_span name, uint64_t at,
                                       bool *known)
{
    size_t low = 0, high = c->n, file;
    void *found;

    for (size_t i = name.len; i; i--)
        if (name.text[i - 1] == '/') {
            name.text += i;
            name.len -= i;
            break;
        }
    found = map_get(&c->names, name.text, name.len);
    *known = found;
    if (!found)
        return NULL;
    file = (uintptr_t)found - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct warc_entry *e = &c->entry[middle];

        if (e->file < file || (e->file == file && e->at < at))
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->n && c->entry[low].file == file && c->entry[low].at == at
               ? &c->entry[low]
               : NULL;
}

void warc_catalogue_clear(struct warc_catalogue *c)
{
    for (size_t i = 0; i < c->files; i++)
        free(c->path[i]);
    free(c->path);
    free(c->entry);
    map_clear(&c->names);
    *c = (struct warc_catalogue){ .entry = NULL };
}
