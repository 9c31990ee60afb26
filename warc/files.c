/*
 * files.c - the WARC files of a crawl, one after the other.
 *
 * What a crash can leave behind: bytes after the recorded position, and files
 * after the recorded one. Both are removed on opening. What a failed write can
 * leave behind in a running process: bytes after our position (`dirty`), which
 * the next append cuts off first, because a shorter one would leave the rest.
 *
 * A new file is made in this order: create it, write its warcinfo record,
 * flush the full file, then use the new one. If a step fails the new file is
 * removed, and the full one stays the current one. A power failure may lose the
 * name of a new file, so the first flush after it also flushes the folder.
 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../lib/disk/disk.h"
#include "../lib/disk/walk.h"
#include "../lib/text/memory.h"

struct warc_files {
    char *folder, *prefix;
    struct warc_facts facts;
    struct warc_packer *packer;
    uint64_t most;
    uint64_t empty; /* the length of the file without exchanges; or 0 */
    struct warc_position at;
    char name[WARC_NAME];
    int fd;
    bool dirty;   /* there are bytes after the position */
    bool unnamed; /* the folder was not flushed since the file was made */
};

static void file_name(const char *prefix, unsigned number,
                      char name[WARC_NAME])
{
    snprintf(name, WARC_NAME, "%s-%05u.warc.gz", prefix, number);
}

/* The number of a file of ours, or 0. */
static unsigned file_number(const char *prefix, const char *name)
{
    size_t n = strlen(prefix);
    unsigned long number;
    char back[WARC_NAME], *end;

    if (strncmp(name, prefix, n) || name[n] != '-' || name[n + 1] < '0' ||
        name[n + 1] > '9')
        return 0;
    number = strtoul(name + n + 1, &end, 10);
    if (!number || number > WARC_FILES_MOST)
        return 0;
    file_name(prefix, (unsigned)number, back); /* the name has one spelling */
    return strcmp(back, name) ? 0 : (unsigned)number;
}

/* --- opening --- */

/* Open the recorded file if it has what was recorded; change nothing. */
static enum seen_code open_recorded(struct warc_files *f,
                                    struct seen_error *why)
{
    char *path = walk_path(f->folder, f->name);
    enum seen_code code = SEEN_OK;
    struct stat it;

    if (!path)
        return no_memory_for(why, "WARC files");
    f->fd = disk_open(path, O_RDWR | O_NOFOLLOW, 0);
    free(path);
    if (f->fd < 0 && errno == ENOENT)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "%s is missing, and %llu bytes were recorded",
                         f->name, (unsigned long long)f->at.length);
    if (f->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "%s cannot be opened", f->name);
    if (fstat(f->fd, &it))
        code = seen_fail(why, SEEN_IO, 0, "%s cannot be opened", f->name);
    else if ((uint64_t)it.st_size < f->at.length)
        code = seen_fail(why, SEEN_CORRUPT, (uint64_t)it.st_size,
                         "%s has %llu bytes, and %llu were recorded; it was "
                         "cut short",
                         f->name, (unsigned long long)it.st_size,
                         (unsigned long long)f->at.length);
    return code;
}

/* Remove files after the recorded one; or, of a new crawl, refuse them. */
static enum seen_code remove_later(struct warc_files *f, bool fresh,
                                   struct seen_error *why)
{
    struct walk_names names = { .name = NULL };
    enum seen_code code = walk_folder(&names, f->folder, false, why);

    for (size_t i = 0; code == SEEN_OK && i < names.n; i++) {
        unsigned number = file_number(f->prefix, names.name[i]);
        char *path;

        if (number <= f->at.file)
            continue;
        if (fresh) {
            code = seen_fail(why, SEEN_EXISTS, 0,
                             "%s is there, and nothing was recorded about it",
                             names.name[i]);
            break;
        }
        path = walk_path(f->folder, names.name[i]);
        if (!path)
            code = no_memory_for(why, "WARC files");
        else if (unlink(path))
            code = seen_fail(why, SEEN_IO, 0, "%s cannot be removed",
                             names.name[i]);
        free(path);
    }
    walk_clear(&names);
    return code;
}

static enum seen_code cut(struct warc_files *f, struct seen_error *why)
{
    int failed;

    do
        failed = ftruncate(f->fd, (off_t)f->at.length);
    while (failed && errno == EINTR);
    if (failed)
        return seen_fail(why, SEEN_IO, 0, "%s cannot be truncated", f->name);
    f->dirty = false;
    return SEEN_OK;
}

static enum seen_code resume(struct warc_files *f,
                             const struct warc_position *at,
                             struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (at)
        f->at = *at;
    if (f->at.file) {
        file_name(f->prefix, f->at.file, f->name);
        code = open_recorded(f, why);
    }
    if (code == SEEN_OK)
        code = remove_later(f, !at, why);
    if (code == SEEN_OK && f->at.file)
        code = cut(f, why);
    f->unnamed = true; /* it is not known whether it was flushed */
    return code;
}

static enum seen_code make_folder(const char *folder, struct seen_error *why)
{
    char *inside = walk_path(folder, "-");
    enum seen_code code = inside ? disk_make_folders(inside, why)
                                 : no_memory_for(why, "WARC files");

    free(inside);
    return code;
}

enum seen_code warc_files_open(struct warc_files **out, const char *folder,
                               const char *prefix,
                               const struct warc_facts *facts, uint64_t most,
                               const struct warc_position *at,
                               struct seen_error *why)
{
    struct warc_files *f;
    enum seen_code code;

    *out = NULL;
    if (!*prefix || strchr(prefix, '/') || *prefix == '.' ||
        strlen(prefix) > WARC_NAME - sizeof "-999999999.warc.gz" ||
        (at && at->file > WARC_FILES_MOST) || (at && !at->file && at->length))
        return seen_fail(why, SEEN_RANGE, 0,
                         "not a prefix of WARC files, or not a position");
    f = calloc(1, sizeof *f);
    if (!f)
        return no_memory_for(why, "WARC files");
    f->fd = -1;
    f->most = most ? most : WARC_MOST;
    f->facts = *facts;
    f->folder = strdup(folder);
    f->prefix = strdup(prefix);
    code = f->folder && f->prefix ? warc_packer_new(&f->packer, 0, why)
                                  : no_memory_for(why, "WARC files");
    if (code == SEEN_OK)
        code = make_folder(folder, why);
    if (code == SEEN_OK)
        code = resume(f, at, why);
    if (code == SEEN_OK)
        *out = f;
    else
        warc_files_close(f);
    return code;
}

/* --- appending --- */

static uint64_t now(const struct warc_files *f)
{
    struct timespec t;

    if (f->facts.now)
        return f->facts.now();
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Make a file that has its warcinfo record; fd is -1 on failure, and no file
   is left. */
static enum seen_code begin_file(struct warc_files *f, const char *name,
                                 int *fd, uint64_t *len,
                                 struct seen_error *why)
{
    char *path = walk_path(f->folder, name);
    struct buffer info = { .bytes = NULL };
    enum seen_code code;

    *fd = -1;
    if (!path)
        return no_memory_for(why, "WARC files");
    code = warc_pack_info(f->packer, &info, &f->facts, name, now(f), why);
    if (code == SEEN_OK)
        code = disk_named(disk_begin(path, fd, why), name, why);
    if (code == SEEN_OK)
        code = disk_named(disk_write(*fd, info.bytes, info.len, 0, why), name,
                          why);
    *len = info.len;
    buffer_clear(&info);
    if (code != SEEN_OK && *fd >= 0) {
        int system = errno;

        unlink(path);
        close(*fd);
        *fd = -1;
        errno = system;
    }
    free(path);
    return code;
}

static void discard_file(struct warc_files *f, const char *name, int fd)
{
    char *path = walk_path(f->folder, name);
    int system = errno;

    if (path)
        unlink(path); /* else opening the files removes it */
    free(path);
    close(fd);
    errno = system;
}

static enum seen_code next_file(struct warc_files *f, struct seen_error *why)
{
    char name[WARC_NAME];
    enum seen_code code;
    uint64_t len = 0;
    int fd;

    if (f->at.file >= WARC_FILES_MOST)
        return seen_fail(why, SEEN_FULL, 0, "no more than %d WARC files",
                         WARC_FILES_MOST);
    file_name(f->prefix, f->at.file + 1, name);
    code = begin_file(f, name, &fd, &len, why);
    if (code != SEEN_OK)
        return code;
    code = warc_files_flush(f, why);
    if (code != SEEN_OK) {
        discard_file(f, name, fd);
        return code;
    }
    if (f->fd >= 0)
        close(f->fd);
    f->fd = fd;
    f->at = (struct warc_position){ f->at.file + 1, len };
    f->empty = len;
    f->unnamed = true;
    memcpy(f->name, name, sizeof f->name);
    return SEEN_OK;
}

enum seen_code warc_files_append(struct warc_files *f, const void *bytes,
                                 size_t len, const char **name,
                                 uint64_t *offset, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (f->dirty)
        code = cut(f, why);
    if (code == SEEN_OK && (f->fd < 0 || (f->at.length + len > f->most &&
                                          f->at.length > f->empty)))
        code = next_file(f, why);
    if (code == SEEN_OK) {
        code = disk_named(disk_write(f->fd, bytes, len, f->at.length, why),
                          f->name, why);
        if (code != SEEN_OK) {
            int system = errno;

            f->dirty = true;
            cut(f, NULL);
            errno = system;
        }
    }
    if (code != SEEN_OK)
        return code;
    *name = f->name;
    *offset = f->at.length;
    f->at.length += len;
    return SEEN_OK;
}

void warc_files_flush_begin(const struct warc_files *f)
{
    if (f->fd >= 0)
        disk_flush_begin(f->fd);
}

enum seen_code warc_files_flush(struct warc_files *f, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (f->fd < 0)
        return SEEN_OK;
    code = disk_flush(f->fd, why);
    if (code == SEEN_OK && f->unnamed) {
        code = disk_flush_folder(f->folder, why);
        f->unnamed = code != SEEN_OK;
    }
    return disk_named(code, f->name, why);
}

struct warc_position warc_files_position(const struct warc_files *f)
{
    return f->at;
}

void warc_files_close(struct warc_files *f)
{
    int system = errno;

    if (!f)
        return;
    if (f->fd >= 0)
        close(f->fd);
    warc_packer_free(f->packer);
    free(f->folder);
    free(f->prefix);
    free(f);
    errno = system;
}
