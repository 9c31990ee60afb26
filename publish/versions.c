/*
 * versions.c - keep versions, make deltas, remove old ones.
 *
 *     announced (digest A)            file now (digest B)
 *           │  copy at that time            │  copy
 *           v                               v
 *     versions/haw.seen/A  ───────>  versions/haw.seen/B
 *                           delta deltas/haw.seen/A-B.delta
 *
 * A version is there in full or not at all: it is copied as *.new, compared
 * with the digest that was announced, flushed, and renamed. Then it never
 * changes, so a name with 8 bytes of its digest is as good as its content; two
 * versions of one filter with equal 8 bytes are a matter of 2^32 versions.
 *
 * The price is one copy of each filter on the disk, that of the version that
 * is announced. Removal goes by names that only this file makes: what others
 * put into these folders stays.
 */
#include "versions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/disk/disk.h"
#include "../lib/text/hex.h"
#include "../lib/text/memory.h"
#include "file.h"
#include "folder.h"

enum { HEX = 2 * PUBLISH_DIGEST_SHORT };

/* --- names -------------------------------------------------------------- */

/* The name of a version below .publish/versions. */
static char *version_name(const char *path, const unsigned char *digest)
{
    char hex[HEX + 1];

    hex_write(hex, digest, PUBLISH_DIGEST_SHORT);
    return publish_format("%s/%s", path, hex);
}

static char *version_path(const char *folder, const char *path,
                          const unsigned char *digest)
{
    char *name = version_name(path, digest), *whole;

    whole = name ? publish_format("%s/.publish/versions/%s", folder, name)
                 : NULL;
    free(name);
    return whole;
}

char *publish_delta_path(const char *path, const unsigned char *from,
                         const unsigned char *to)
{
    char one[HEX + 1], two[HEX + 1];

    hex_write(one, from, PUBLISH_DIGEST_SHORT);
    hex_write(two, to, PUBLISH_DIGEST_SHORT);
    return publish_format("deltas/%s/%s-%s.delta", path, one, two);
}

/* --- versions ----------------------------------------------------------- */

bool publish_version_kept(const char *folder, const char *path,
                          const unsigned char *digest)
{
    char *version = version_path(folder, path, digest);
    bool there = version && !access(version, R_OK);

    free(version);
    return there;
}

/* Flush the file before it gets its name: the next delta begins with the
   version that was announced. */
static enum seen_code settle(const char *from, const char *to,
                             struct seen_error *why)
{
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    enum seen_code code;

    if (fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be kept");
    code = disk_swap(fd, from, to, NULL, why);
    close(fd);
    return code;
}

/* Other programs may write to `from`, so the copy is checked. */
static enum seen_code copy(const char *from, const char *to,
                           const unsigned char *digest, struct seen_error *why)
{
    char *next = publish_format("%s.new", to);
    unsigned char now[SEEN_DIGEST];
    enum seen_code code = SEEN_OK;
    int system;

    if (!next)
        return no_memory_for(why, "a path");
    unlink(next);
    code = disk_copy(from, next, why);
    if (code == SEEN_OK)
        code = seen_digest_file(next, now, NULL, why);
    if (code == SEEN_OK && memcmp(now, digest, SEEN_DIGEST))
        code = seen_fail(why, SEEN_BUSY, 0, "was changed while it was read");
    if (code == SEEN_OK)
        code = settle(next, to, why);
    system = errno;
    if (code != SEEN_OK)
        unlink(next);
    free(next);
    errno = system;
    return code;
}

enum seen_code publish_version_keep(const char *folder, const char *path,
                                    const unsigned char *digest,
                                    const char *from, bool ours,
                                    struct seen_error *why)
{
    char *version = version_path(folder, path, digest);
    enum seen_code code = version ? SEEN_OK : no_memory_for(why, "a path");

    if (code == SEEN_OK && access(version, R_OK)) {
        code = disk_make_folders(version, why);
        if (code == SEEN_OK)
            code = ours ? settle(from, version, why)
                        : copy(from, version, digest, why);
    }
    free(version);
    return code;
}

/* --- deltas ------------------------------------------------------------- */

/* Remove a file, and the folders above it that are empty then, `top`
   included. */
static void sweep_file(const char *top, const char *name)
{
    char *path = publish_format("%s/%s", top, name), *slash;

    if (!path)
        return;
    unlink(path);
    while ((slash = strrchr(path, '/')) && strlen(path) > strlen(top)) {
        *slash = '\0';
        if (rmdir(path))
            break;
    }
    free(path);
}

static void sweep_delta(const char *folder, const char *name)
{
    char *top = walk_path(folder, "deltas");
    int system = errno;

    if (top)
        sweep_file(top, name + strlen("deltas/"));
    free(top);
    errno = system;
}

enum seen_code publish_version_delta(const char *folder, const char *path,
                                     const unsigned char *from,
                                     const unsigned char *to,
                                     struct publish_patch *patch,
                                     struct seen_error *why)
{
    char *old = version_path(folder, path, from);
    char *new = version_path(folder, path, to);
    char *name = publish_delta_path(path, from, to);
    char *delta = name ? publish_format("%s/%s", folder, name) : NULL;
    enum seen_code code = old && new &&delta ? disk_make_folders(delta, why)
                                             : no_memory_for(why, "a path");

    if (code == SEEN_OK)
        code = seen_delta_make(old, new, delta, &patch->length, why);
    if (code == SEEN_OK)
        code = seen_digest_file(delta, patch->digest, &patch->length, why);
    if (code == SEEN_OK) {
        memcpy(patch->from, from, SEEN_DIGEST);
        patch->made = true;
    } else if (delta) { /* leave no folder without a delta, either */
        sweep_delta(folder, name);
    }
    free(delta);
    free(name);
    free(new);
    free(old);
    return code;
}

/* --- removal ------------------------------------------------------------ */

/* Below `top`, remove all files that are ours and not wanted. */
static enum seen_code sweep(const char *top, struct walk_names *wanted,
                            bool (*ours)(const char *name),
                            struct seen_error *why)
{
    struct walk_names there;
    enum seen_code code = publish_files_below(&there, top, why);

    if (code != SEEN_OK)
        return code;
    walk_sort(&there);
    walk_sort(wanted);
    for (size_t i = 0, j = 0; i < there.n; i++) {
        while (j < wanted->n && strcmp(wanted->name[j], there.name[i]) < 0)
            j++;
        if (ours(there.name[i]) &&
            (j == wanted->n || strcmp(wanted->name[j], there.name[i])))
            sweep_file(top, there.name[i]);
    }
    walk_clear(&there);
    return SEEN_OK;
}

/* Is it the name of a version, complete or not? */
static bool our_version(const char *name)
{
    const char *base = publish_base(name);

    return strspn(base, "0123456789abcdef") == HEX &&
           (!base[HEX] || !strcmp(base + HEX, ".new"));
}

/* The same for deltas. */
static bool our_delta(const char *name)
{
    const char *base = publish_base(name);
    const size_t hex = HEX;

    return strspn(base, "0123456789abcdef") == hex && base[hex] == '-' &&
           strspn(base + hex + 1, "0123456789abcdef") == hex &&
           (!strcmp(base + 2 * hex + 1, ".delta") ||
            !strcmp(base + 2 * hex + 1, ".delta.new"));
}

/* The versions and deltas that the state names, relative to their folders. */
static enum seen_code list_wanted(const struct publish_state *s,
                                  struct walk_names *kept,
                                  struct walk_names *made,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    char *name;

    for (size_t i = 0; code == SEEN_OK && s->deltas && i < s->items; i++) {
        name = version_name(s->item[i].path, s->item[i].digest);
        code = name ? walk_add(kept, name, why) : no_memory_for(why, "a path");
        free(name);
    }
    for (size_t i = 0; code == SEEN_OK && i < s->changes; i++) {
        const struct publish_change *c = &s->change[i];

        if (!c->patched)
            continue;
        name = publish_delta_path(c->path, c->from, c->digest);
        code = name ? walk_add(made, name + strlen("deltas/"), why)
                    : no_memory_for(why, "a path");
        free(name);
    }
    return code;
}

enum seen_code publish_versions_sweep(const char *folder,
                                      const struct publish_state *s,
                                      struct seen_error *why)
{
    char *versions = walk_path(folder, ".publish/versions");
    char *deltas = walk_path(folder, "deltas");
    struct walk_names kept = { .n = 0 }, made = { .n = 0 };
    enum seen_code code = versions && deltas
                              ? list_wanted(s, &kept, &made, why)
                              : no_memory_for(why, "a path");

    if (code == SEEN_OK)
        code = sweep(versions, &kept, our_version, why);
    if (code == SEEN_OK)
        code = sweep(deltas, &made, our_delta, why);
    walk_clear(&made);
    walk_clear(&kept);
    free(deltas);
    free(versions);
    return code;
}
