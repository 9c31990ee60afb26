/*
 * open.c - find the files that the inputs stand for.
 *
 * Below a folder these are all files, by name. A zip file stands for its
 * members, the index of a cluster for the files of the cluster (cluster.c).
 * What cannot be read is not forgotten: it becomes a fault of the source, and
 * so does a file below a folder that is not recognised. Its URLs are lost, too,
 * unless also its name says that it is something else (suffix.c).
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../disk/walk.h"
#include "../text/array.h"
#include "../text/memory.h"
#include "../text/span.h"
#include "zip.h"

enum { DEEPEST = 64 };

int cdx_file_open(const struct cdx_file *f)
{
    if (f->fd >= 0)
        return f->fd;
    return open(f->name, O_RDONLY | O_CLOEXEC);
}

enum seen_code cdx_leave_out(struct seen_source *s, const char *name,
                             const struct seen_error *what,
                             struct seen_error *why)
{
    struct cdx_fault *more = array_grow(s->fault, &s->fault_room,
                                        s->faults + 1, sizeof *more);

    if (!more)
        return no_memory_for(why, "a list of files");
    s->fault = more;
    more[s->faults].name = strdup(name);
    more[s->faults].why = *what;
    if (what->code == SEEN_MISMATCH && !cdx_named_otherwise(name))
        more[s->faults].why.code = SEEN_CORRUPT;
    if (!more[s->faults].name)
        return no_memory_for(why, "a list of files");
    s->faults++;
    return SEEN_OK;
}

/* --- one file --- */

static uint64_t pieces_of(const struct cdx_file *f)
{
    uint64_t size = f->size - f->base;

    if (!f->seeks)
        return UINT64_MAX; /* until it ends */
    if (!size || f->layout.format == SEEN_FORMAT_ZIPNUM)
        return 0;
    if (f->packing == CDX_GZIP)
        return (f->size + GZIP_PIECE - 1) / GZIP_PIECE - f->base / GZIP_PIECE;
    if (f->packing == CDX_PLAIN && !cdx_has_records(&f->layout))
        return (size + PLAIN_PIECE - 1) / PLAIN_PIECE;
    return 1;
}

/* Cut a file into pieces, once it is known what it is. */
static enum seen_code cut(struct cdx_file *f, struct seen_error *why)
{
    f->pieces = pieces_of(f);
    if (f->seeks && f->packing == CDX_GZIP && f->pieces) {
        f->start = malloc(f->pieces * sizeof *f->start);
        if (!f->start)
            return no_memory_for(why, "a list of files");
        for (uint64_t i = 0; i < f->pieces; i++)
            f->start[i] = CDX_NOWHERE - 1; /* not known yet */
        f->start[0] = f->base;
    }
    return SEEN_OK;
}

static void clear(struct cdx_file *f)
{
    if (f->fd > STDIN_FILENO)
        close(f->fd);
    free(f->name);
    free(f->title);
    free(f->start);
    free(f->head);
}

/* A pipe is opened once; a file by each reader, when it needs it. */
static enum seen_code begin(struct cdx_file *f, const char *name, bool late,
                            struct seen_error *why)
{
    struct stat it;

    *f = (struct cdx_file){ .fd = -1 };
    f->standard = !strcmp(name, "-");
    f->name = strdup(name);
    f->title = strdup(f->standard ? "standard input" : name);
    if (!f->name || !f->title)
        return no_memory_for(why, "a list of files");
    if (f->standard ? fstat(STDIN_FILENO, &it) : stat(name, &it))
        return seen_fail(why, SEEN_IO, 0, "cannot be read");
    f->seeks = S_ISREG(it.st_mode);
    f->late = late && !f->seeks && !f->standard;
    f->device = (uint64_t)it.st_dev;
    f->inode = (uint64_t)it.st_ino;
    f->changed = (int64_t)it.st_mtim.tv_sec * 1000000000 + it.st_mtim.tv_nsec;
    f->size = f->seeks ? (uint64_t)it.st_size : 0;
    if (f->standard) {
        off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);

        f->fd = STDIN_FILENO;
        f->base = f->seeks && at > 0 ? (uint64_t)at : 0;
        f->base = f->base < f->size ? f->base : f->size;
    } else if (!f->seeks && !f->late) {
        f->fd = open(name, O_RDONLY | O_CLOEXEC);
        if (f->fd < 0)
            return seen_fail(why, SEEN_IO, 0, "cannot be read");
    }
    return SEEN_OK;
}

/*
 * Opening a FIFO waits for its writer, who may be busy with the input before
 * it. A zip file stands for several files, which must be known at once.
 */
enum seen_code cdx_open_late(const struct seen_source *s, struct cdx_file *f,
                             struct seen_error *why)
{
    enum seen_code code;

    f->late = false;
    f->fd = open(f->name, O_RDONLY | O_CLOEXEC);
    if (f->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be read");
    code = cdx_sniff(s, f, why);
    if (code == SEEN_OK && f->packing == CDX_ZIP)
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "a zip file; by a pipe it must be the first input");
    return code;
}

/* Append a file whose packing and layout are known; it is given away. */
static enum seen_code append(struct seen_source *s, struct cdx_file *f,
                             struct seen_error *why)
{
    struct cdx_file *more = array_grow(s->file, &s->room, s->files + 1,
                                       sizeof *more);
    enum seen_code code = more ? cut(f, why)
                               : no_memory_for(why, "a list of files");

    if (more)
        s->file = more;
    if (code == SEEN_OK)
        s->file[s->files++] = *f;
    else
        clear(f);
    return code;
}

/* --- zip files --- */

/* The directory of a zip file is at its end, so a zip file that comes by a
   pipe is first copied to a temporary file without a name. */
static enum seen_code spool(struct cdx_file *f, struct seen_error *why)
{
    FILE *copy = tmpfile();
    int fd = copy ? dup(fileno(copy)) : -1;
    ssize_t n = (ssize_t)f->head_len;
    bool good = fd >= 0;

    while (good && n > 0) {
        good = write(fd, f->head, (size_t)n) == n;
        f->size += (uint64_t)n;
        do
            n = read(f->fd, f->head, SNIFF);
        while (n < 0 && errno == EINTR);
    }
    if (copy)
        fclose(copy);
    if (!good || n < 0) {
        seen_fail(why, SEEN_IO, 0, "a zip file that cannot be copied");
        if (fd >= 0)
            close(fd);
        return SEEN_IO;
    }
    if (f->fd > STDIN_FILENO)
        close(f->fd);
    f->fd = fd;
    f->seeks = true;
    return SEEN_OK;
}

/*
 * A member that is packed twice, as a zip program makes it that deflates all
 * it is given, is unpacked once, to a temporary file without a name. Packed
 * data does not get much shorter, so what does is not what it seems to be.
 */
static enum seen_code unpack_once(struct cdx_file *f, struct seen_error *why)
{
    struct cdx_stream s = { .packing = CDX_PLAIN };
    struct cdx_raw raw = { .fd = cdx_file_open(f),
                           .seeks = true,
                           .at = f->base,
                           .end = f->end,
                           .crc = f->crc };
    uint64_t most = 4 * (f->end - f->base) + SNIFF, sum = 0;
    FILE *copy = tmpfile();
    char *bytes = malloc(BLOCK);
    int fd = copy ? dup(fileno(copy)) : -1;
    enum seen_code code;
    size_t n;

    if (raw.fd < 0 || fd < 0 || !bytes)
        code = seen_fail(why, SEEN_IO, 0, "a member that cannot be copied");
    else
        code = cdx_stream_begin(&s, CDX_DEFLATE, raw, why);
    while (code == SEEN_OK && !s.ended && sum <= most) {
        n = cdx_stream_read(&s, bytes, BLOCK);
        sum += n;
        if (fwrite(bytes, 1, n, copy) != n || fflush(copy))
            code = seen_fail(why, SEEN_IO, 0,
                             "a member that cannot be copied");
    }
    if (code == SEEN_OK && sum > most)
        code = seen_fail(why, SEEN_CORRUPT, 0, "it is packed too densely");
    else if (code == SEEN_OK && s.code != SEEN_OK)
        code = seen_fail(why, s.code, 0, "%s", s.why.text);
    if (copy)
        fclose(copy);
    if (raw.fd >= 0 && raw.fd != f->fd)
        close(raw.fd);
    cdx_stream_clear(&s);
    free(bytes);
    if (code != SEEN_OK) {
        if (fd >= 0)
            close(fd);
        return code;
    }
    if (f->fd > STDIN_FILENO)
        close(f->fd);
    f->fd = fd;
    f->base = 0;
    f->size = f->end = sum;
    f->packing = CDX_PLAIN;
    return SEEN_OK;
}

static enum seen_code append_member(struct seen_source *s,
                                    const struct cdx_file *zip,
                                    const struct cdx_member *m,
                                    struct seen_error *why)
{
    struct cdx_file f = { .fd = zip->fd > 0 ? dup(zip->fd) : zip->fd,
                          .standard = true, /* no name of its own */
                          .seeks = true,
                          .base = m->at,
                          .size = m->end,
                          .end = m->end,
                          .crc = m->crc,
                          .changed = zip->changed,
                          .packing = m->packing };
    size_t len = strlen(zip->title) + m->name.len + 2;
    enum seen_code code;

    f.name = strdup(zip->name);
    f.title = malloc(len);
    if (f.title)
        snprintf(f.title, len, "%s:%.*s", zip->title, (int)m->name.len,
                 m->name.text);
    if (!f.name || !f.title)
        code = no_memory_for(why, "a list of files");
    else if (m->fault)
        code = seen_fail(why, SEEN_CORRUPT, 0, "%s", m->fault);
    else
        code = cdx_sniff(s, &f, why);
    if (code == SEEN_OK && f.twice)
        code = unpack_once(&f, why);
    if (code == SEEN_OK && f.twice)
        code = cdx_sniff(s, &f, why);
    if (code == SEEN_OK)
        return append(s, &f, why);
    if (f.title && code != SEEN_NOMEM)
        code = cdx_leave_out(s, f.title, why, why);
    clear(&f);
    return code;
}

/* Append the members below a folder of the zip file. */
static enum seen_code append_below(struct seen_source *s,
                                   const struct cdx_file *f, const char *below,
                                   size_t *found, struct seen_error *why)
{
    int fd = cdx_file_open(f);
    struct cdx_zip zip;
    struct cdx_member m;
    enum seen_code code;

    if (fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be read");
    code = cdx_zip_open(&zip, fd, f->size, why);
    while (code == SEEN_OK && cdx_zip_next(&zip, fd, &m)) {
        size_t before = s->files;

        if (!span_begins(m.name, below))
            continue;
        code = append_member(s, f, &m, why);
        *found += s->files > before &&
                  s->file[before].layout.format != SEEN_FORMAT_ZIPNUM;
    }
    if (code == SEEN_OK && cdx_zip_damaged(&zip)) {
        struct seen_error what;

        seen_fail(&what, SEEN_CORRUPT, 0,
                  "the directory of the zip file is damaged");
        code = cdx_leave_out(s, f->title, &what, why);
    }
    cdx_zip_close(&zip);
    if (fd != f->fd)
        close(fd);
    return code;
}

/* The index of a WACZ; its WARC files if it has none. */
static enum seen_code append_zip(struct seen_source *s, struct cdx_file *f,
                                 struct seen_error *why)
{
    enum seen_code code = f->seeks ? SEEN_OK : spool(f, why);
    size_t found = 0, faults = s->faults;

    if (code == SEEN_OK)
        code = append_below(s, f, "indexes/", &found, why);
    if (code == SEEN_OK && !found)
        code = append_below(s, f, "archive/", &found, why);
    if (code == SEEN_OK && !found && s->faults > faults &&
        s->fault[faults].why.code != SEEN_MISMATCH)
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "nothing in it can be read: %.100s",
                         s->fault[faults].why.text);
    else if (code == SEEN_OK && !found)
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "a zip file, but not a WACZ: it has neither an index "
                         "nor WARC files");
    clear(f);
    return code;
}

enum seen_code cdx_append(struct seen_source *s, const char *name,
                          struct seen_error *why)
{
    struct cdx_file f;
    enum seen_code code = begin(&f, name, s->options.in_order && s->files,
                                why);

    if (code == SEEN_OK && !f.late)
        code = cdx_sniff(s, &f, why);
    if (code != SEEN_OK)
        clear(&f);
    else
        code = f.packing == CDX_ZIP ? append_zip(s, &f, why)
                                    : append(s, &f, why);
    return code;
}

/* --- folders --- */

/* A folder on the way to where we are. */
struct cdx_folder {
    const struct cdx_folder *above;
    int depth;
    struct stat it;
};

static enum seen_code walk(struct seen_source *s, const char *path,
                           const struct cdx_folder *above,
                           struct seen_error *why);

/* Does a link lead back to a folder that is being read? */
static bool leads_back(const struct cdx_folder *f, const struct stat *it)
{
    for (; f; f = f->above)
        if (f->it.st_ino == it->st_ino && f->it.st_dev == it->st_dev)
            return true;
    return false;
}

static enum seen_code walk_to(struct seen_source *s, const char *path,
                              const struct cdx_folder *folder,
                              struct seen_error *why)
{
    struct seen_error what;
    struct stat it;
    bool there = !stat(path, &it);

    if (there && S_ISDIR(it.st_mode))
        return leads_back(folder, &it) ? SEEN_OK : walk(s, path, folder, why);
    if (there && !S_ISREG(it.st_mode))
        return SEEN_OK; /* a socket or a pipe is not an index */
    if (cdx_append(s, path, &what) == SEEN_OK)
        return SEEN_OK;
    return cdx_leave_out(s, path, &what, why);
}

static enum seen_code walk(struct seen_source *s, const char *folder,
                           const struct cdx_folder *above,
                           struct seen_error *why)
{
    struct cdx_folder here = { above, above ? above->depth + 1 : 0, { 0 } };
    struct walk_names names = { .name = NULL };
    struct seen_error what;
    enum seen_code code;

    if (here.depth == DEEPEST || stat(folder, &here.it) < 0) {
        if (here.depth == DEEPEST)
            errno = ELOOP;
        code = seen_fail(&what, SEEN_IO, 0, "cannot be read");
    } else {
        code = walk_folder(&names, folder, false, &what);
    }
    if (code != SEEN_OK && above)
        return cdx_leave_out(s, folder, &what, why);
    if (code != SEEN_OK)
        *why = what;
    for (size_t i = 0; i < names.n && code == SEEN_OK; i++) {
        char *path = walk_path(folder, names.name[i]);

        code = path ? walk_to(s, path, &here, why)
                    : no_memory_for(why, "a list of files");
        free(path);
    }
    walk_clear(&names);
    return code;
}

/* --- the whole --- */

/* Is standard input among the files already? */
static bool twice(const struct seen_source *s)
{
    for (size_t i = 0; i < s->files; i++)
        if (s->file[i].standard && s->file[i].fd == STDIN_FILENO)
            return true;
    return false;
}

enum seen_code seen_source_open(struct seen_source **out,
                                const char *const *input, size_t n,
                                const struct seen_source_options *options,
                                struct seen_error *why)
{
    struct seen_source *s = calloc(1, sizeof *s);
    enum seen_code code = SEEN_OK;
    struct seen_error unasked;

    *out = NULL;
    why = why ? why : &unasked;
    if (!s)
        return no_memory_for(why, "a list of files");
    pthread_mutex_init(&s->lock, NULL);
    if (options)
        s->options = *options;
    s->expected = CDX_NOWHERE;
    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        bool standard = !strcmp(input[i], "-");
        struct stat it;

        if (standard && twice(s))
            code = seen_fail(why, SEEN_RANGE, 0, "can be read only once");
        else if (!standard && !stat(input[i], &it) && S_ISDIR(it.st_mode))
            code = walk(s, input[i], NULL, why);
        else
            code = cdx_append(s, input[i], why);
        if (code != SEEN_OK)
            why->at = i;
    }
    for (size_t i = 0; i < s->files && code == SEEN_OK; i++)
        if (s->file[i].layout.format == SEEN_FORMAT_ZIPNUM && !s->file[i].end)
            code = cdx_follow(s, i, why);
    if (code != SEEN_OK) {
        seen_source_close(s);
        return code;
    }
    *out = s;
    return SEEN_OK;
}

void seen_source_close(struct seen_source *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->files; i++) {
        const struct cdx_file *f = &s->file[i];

        /* A program that reads the same input after us finds its end. */
        if (f->seeks && f->fd == STDIN_FILENO && s->next > i)
            lseek(STDIN_FILENO, (off_t)f->size, SEEK_SET);
        clear(&s->file[i]);
    }
    for (size_t i = 0; i < s->faults; i++)
        free(s->fault[i].name);
    pthread_mutex_destroy(&s->lock);
    free(s->file);
    free(s->fault);
    free(s->carry);
    free(s);
}
