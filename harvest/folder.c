/*
 * folder.c - paths, the lock, and room on the disk.
 *
 * After a kill there may be parts, which the next round continues, and steps
 * towards a file, which it cannot use. Only the lock tells whether they belong
 * to a harvester that still runs; so it is taken first, and then everything but
 * parts is swept, also of filters that are no longer announced.
 *
 * The length of DIR is checked once, with HARVEST_BEHIND bytes to spare for
 * .harvest, a name and an ending: no path made later can be cut short.
 */
#include "folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../lib/disk/lock.h"
#include "../lib/text/span.h"

static enum seen_code make(const char *path, bool link, struct seen_error *why)
{
    struct stat it;

    if (!mkdir(path, 0777))
        return SEEN_OK;
    if (errno != EEXIST)
        return seen_fail(why, SEEN_IO, 0, "cannot be made");
    if (link ? stat(path, &it) : lstat(path, &it))
        return seen_fail(why, SEEN_IO, 0, "cannot be looked at");
    if (!S_ISDIR(it.st_mode))
        return seen_fail(why, SEEN_RANGE, 0,
                         link ? "is not a folder"
                              : "its .harvest is not a folder of its own");
    return SEEN_OK;
}

/* Remove what a killed harvester was writing: not parts, which are continued,
   but steps towards a file, of filters that may no longer be announced. */
static void sweep(const struct harvest_folder *f)
{
    static const char *const endings[] = { ".delta",     ".step",
                                           ".base",      ".step.new",
                                           ".step.lock", ".json.new" };
    char own[HARVEST_PATH];
    struct walk_names names;

    harvest_folder_own(f, own, "", "");
    walk_folder(&names, own, false, NULL);
    for (size_t i = 0; i < names.n; i++)
        for (size_t j = 0; j < sizeof endings / sizeof *endings; j++)
            if (span_ends(span_of(names.name[i]), endings[j]))
                harvest_folder_drop(f, names.name[i], "");
    walk_clear(&names);
}

enum seen_code harvest_folder_open(struct harvest_folder *f, const char *path,
                                   bool only_look, struct seen_error *why)
{
    char own[HARVEST_PATH];
    enum seen_code code = SEEN_OK;

    f->lock = -1;
    f->path = NULL;
    if (strlen(path) > HARVEST_PATH - HARVEST_BEHIND)
        return seen_fail(why, SEEN_RANGE, 0, "its path is too long");
    f->path = strdup(path);
    if (!f->path)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    if (only_look)
        return SEEN_OK;
    code = make(path, true, why);
    harvest_folder_file(f, own, ".harvest");
    if (code == SEEN_OK)
        code = make(own, false, why);
    harvest_folder_own(f, own, "lock", "");
    if (code == SEEN_OK)
        code = lock_take(&f->lock, own, "another harvest is running in it",
                         why);
    if (code == SEEN_OK)
        sweep(f);
    else
        harvest_folder_close(f);
    return code;
}

void harvest_folder_close(struct harvest_folder *f)
{
    lock_release(f->lock, NULL);
    free(f->path);
    f->path = NULL;
    f->lock = -1;
}

void harvest_folder_file(const struct harvest_folder *f,
                         char out[HARVEST_PATH], const char *name)
{
    snprintf(out, HARVEST_PATH, "%s/%s", f->path, name);
}

void harvest_folder_own(const struct harvest_folder *f, char out[HARVEST_PATH],
                        const char *name, const char *ending)
{
    snprintf(out, HARVEST_PATH, "%s/.harvest/%s%s", f->path, name, ending);
}

void harvest_folder_drop(const struct harvest_folder *f, const char *name,
                         const char *ending)
{
    char path[HARVEST_PATH];

    harvest_folder_own(f, path, name, ending);
    unlink(path);
}

/* A disk that is full to its last byte stops others, and our own records. */
uint64_t harvest_folder_room(const struct harvest_folder *f)
{
    struct statvfs it;
    uint64_t free, reserve;

    if (statvfs(f->path, &it))
        return UINT64_MAX;
    free = (uint64_t)it.f_bavail * it.f_frsize;
    reserve = (uint64_t)it.f_blocks * it.f_frsize / 20;
    if (reserve > HARVEST_RESERVE)
        reserve = HARVEST_RESERVE;
    return free > reserve ? free - reserve : 0;
}

enum seen_code harvest_folder_records(const struct harvest_folder *f,
                                      struct walk_names *names,
                                      struct seen_error *why)
{
    static const char ending[] = ".json";
    char own[HARVEST_PATH];
    enum seen_code code;
    size_t n = 0;

    harvest_folder_own(f, own, "", "");
    code = walk_folder(names, own, false, why);
    for (size_t i = 0; i < names->n; i++) {
        struct seen_span name = span_of(names->name[i]);

        if (!span_ends(name, ending) || name.len < sizeof ending) {
            free(names->name[i]);
            continue;
        }
        names->name[i][name.len - (sizeof ending - 1)] = '\0';
        names->name[n++] = names->name[i];
    }
    names->n = n;
    return code;
}
