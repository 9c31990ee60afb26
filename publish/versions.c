/* versions.c - copies, deltas, and a broom. */
#define _POSIX_C_SOURCE 200809L
#include "versions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/share/hex.h"
#include "../lib/disk/disk.h"
#include "folder.h"
#include "path.h"

enum { SHORT_TEXT = 2 * DIGEST_SHORT + 1 };

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
}

/* --- names -------------------------------------------------------------- */

/* Below .publish/versions. */
static char *version_name(const char *path, const unsigned char *digest)
{
    char hex[SHORT_TEXT];

    hex_print(hex, digest, DIGEST_SHORT);
    return path_format("%s/%s", path, hex);
}

static char *version_path(const char *folder, const char *path,
                          const unsigned char *digest)
{
    char *name = version_name(path, digest), *whole;

    whole = name ? path_format("%s/.publish/versions/%s", folder, name) : NULL;
    free(name);
    return whole;
}

char *delta_path(const char *path, const unsigned char *from,
                 const unsigned char *to)
{
    char one[SHORT_TEXT], two[SHORT_TEXT];

    hex_print(one, from, DIGEST_SHORT);
    hex_print(two, to, DIGEST_SHORT);
    return path_format("deltas/%s/%s-%s.delta", path, one, two);
}

/* --- versions ----------------------------------------------------------- */

bool version_kept(const char *folder, const char *path,
                  const unsigned char *digest)
{
    char *version = version_path(folder, path, digest);
    bool there = version && !access(version, R_OK);

    free(version);
    return there;
}

/* On the disk before it gets its name: what was announced is what the next
   delta begins with. */
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

/* The copy of a file that others may write to is proved. */
static enum seen_code copy(const char *from, const char *to,
                           const unsigned char *digest, struct seen_error *why)
{
    char *next = path_format("%s.new", to);
    unsigned char now[SEEN_DIGEST];
    enum seen_code code = SEEN_OK;
    int system;

    if (!next)
        return no_memory(why);
    unlink(next);
    code = path_copy(from, next, why);
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

enum seen_code version_keep(const char *folder, const char *path,
                            const unsigned char *digest, const char *from,
                            bool ours, struct seen_error *why)
{
    char *version = version_path(folder, path, digest);
    enum seen_code code = version ? SEEN_OK : no_memory(why);

    if (code == SEEN_OK && access(version, R_OK)) {
        code = path_prepare(version, why);
        if (code == SEEN_OK)
            code = ours ? settle(from, version, why)
                        : copy(from, version, digest, why);
    }
    free(version);
    return code;
}

/* --- deltas ------------------------------------------------------------- */

enum seen_code version_delta(const char *folder, const char *path,
                             const unsigned char *from,
                             const unsigned char *to, struct patch *patch,
                             struct seen_error *why)
{
    char *old = version_path(folder, path, from);
    char *new = version_path(folder, path, to);
    char *name = delta_path(path, from, to);
    char *delta = name ? path_format("%s/%s", folder, name) : NULL;
    enum seen_code code = old && new &&delta ? path_prepare(delta, why)
                                             : no_memory(why);

    if (code == SEEN_OK)
        code = seen_delta_make(old, new, delta, &patch->length, why);
    if (code == SEEN_OK)
        code = seen_digest_file(delta, patch->digest, &patch->length, why);
    if (code == SEEN_OK) {
        memcpy(patch->from, from, SEEN_DIGEST);
        patch->made = true;
    }
    free(delta);
    free(name);
    free(new);
    free(old);
    return code;
}

/* --- the broom ---------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Remove a file, and the folders above it that are empty then, up to and
   with `top`. */
static void sweep_file(const char *top, const char *name)
{
    char *path = path_format("%s/%s", top, name), *slash;

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

/* Below `top`, remove all that is ours and not wanted. */
static enum seen_code sweep(const char *top, struct names *wanted,
                            bool (*ours)(const char *name),
                            struct seen_error *why)
{
    struct names there;
    enum seen_code code = names_below(&there, top, why);

    if (code != SEEN_OK)
        return code;
    if (wanted->n)
        qsort(wanted->name, wanted->n, sizeof *wanted->name, by_name);
    for (size_t i = 0; i < there.n; i++)
        if (ours(there.name[i]) &&
            !(wanted->n && bsearch(&there.name[i], wanted->name, wanted->n,
                                   sizeof *wanted->name, by_name)))
            sweep_file(top, there.name[i]);
    names_clear(&there);
    return SEEN_OK;
}

enum { HEX = 2 * DIGEST_SHORT };

static const char *base_of(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

/* Is it called as we call versions, finished or not? */
static bool our_version(const char *name)
{
    const char *base = base_of(name);

    return strspn(base, "0123456789abcdef") == HEX &&
           (!base[HEX] || !strcmp(base + HEX, ".new"));
}

/* The same of deltas. */
static bool our_delta(const char *name)
{
    const char *base = base_of(name);
    const size_t hex = HEX;

    return strspn(base, "0123456789abcdef") == hex && base[hex] == '-' &&
           strspn(base + hex + 1, "0123456789abcdef") == hex &&
           (!strcmp(base + 2 * hex + 1, ".delta") ||
            !strcmp(base + 2 * hex + 1, ".delta.new"));
}

static bool want(struct names *n, char *name)
{
    if (!name)
        return false;
    n->name[n->n++] = name;
    return true;
}

enum seen_code versions_sweep(const char *folder, const struct state *s,
                              struct seen_error *why)
{
    const size_t skip = strlen("deltas/");
    char *versions = path_format("%s/.publish/versions", folder);
    char *deltas = path_format("%s/deltas", folder);
    struct names kept = { calloc(s->items + 1, sizeof(char *)), 0, 0 };
    struct names made = { calloc(s->changes + 1, sizeof(char *)), 0, 0 };
    bool good = versions && deltas && kept.name && made.name;
    enum seen_code code;

    for (size_t i = 0; good && s->deltas && i < s->items; i++)
        good = want(&kept, version_name(s->item[i].path, s->item[i].digest));
    for (size_t i = 0; good && i < s->changes; i++) {
        const struct change *c = &s->change[i];
        char *path;

        if (!c->patched)
            continue;
        path = delta_path(c->path, c->from, c->digest);
        good = path && want(&made, strdup(path + skip));
        free(path);
    }
    code = good ? sweep(versions, &kept, our_version, why) : no_memory(why);
    if (code == SEEN_OK)
        code = sweep(deltas, &made, our_delta, why);
    names_clear(&made);
    names_clear(&kept);
    free(deltas);
    free(versions);
    return code;
}
