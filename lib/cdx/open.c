/*
 * open.c - find the files that the inputs stand for.
 *
 * A ZipNum index holds no captures of its own: it names the files of its
 * cluster, and those that are not among the inputs already are read in its
 * place.
 */
#define _DEFAULT_SOURCE /* DT_DIR, st_mtim */
#include "source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "line.h"

enum { DEEPEST = 64 };

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list of files");
}

int cdx_file_open(const struct cdx_file *f)
{
    if (f->fd >= 0)
        return f->fd;
    return open(f->name, O_RDONLY | O_CLOEXEC);
}

/* Leave a file out, and remember why. */
static enum seen_code leave_out(struct seen_source *s, const char *name,
                                const struct seen_error *what,
                                struct seen_error *why)
{
    struct cdx_fault *more = realloc(s->fault, (s->faults + 1) * sizeof *more);

    if (!more)
        return no_memory(why);
    s->fault = more;
    more[s->faults].name = strdup(name);
    more[s->faults].why = *what;
    if (!more[s->faults].name)
        return no_memory(why);
    s->faults++;
    return SEEN_OK;
}

/* --- what it is --- */

static uint64_t pieces_of(const struct cdx_file *f)
{
    uint64_t size = f->size - f->base;

    if (!f->seeks)
        return UINT64_MAX; /* until it ends */
    if (!size || f->layout.format == SEEN_FORMAT_ZIPNUM)
        return 0;
    if (f->packing == CDX_GZIP)
        return (f->size + GZIP_PIECE - 1) / GZIP_PIECE - f->base / GZIP_PIECE;
    if (f->packing == CDX_PLAIN && f->layout.format != SEEN_FORMAT_WARC)
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
            return no_memory(why);
        for (uint64_t i = 0; i < f->pieces; i++)
            f->start[i] = CDX_NOWHERE - 1; /* not known yet */
        f->start[0] = f->base;
    }
    return SEEN_OK;
}

static bool known(const struct seen_source *s, const struct stat *it)
{
    for (size_t i = 0; i < s->files; i++)
        if (s->file[i].device == (uint64_t)it->st_dev &&
            s->file[i].inode == (uint64_t)it->st_ino)
            return true;
    return false;
}

static void cdx_file_clear(struct cdx_file *f)
{
    if (f->fd > STDIN_FILENO)
        close(f->fd);
    if (f->owned)
        free(f->name);
    free(f->start);
    free(f->head);
}

/* Append a file; `name` is given away if `owned`. */
static enum seen_code append(struct seen_source *s, const char *name,
                             bool owned, struct seen_error *why)
{
    struct cdx_file f = { .fd = -1, .owned = owned };
    enum seen_code code = SEEN_OK;
    struct stat it;
    union {
        const char *given;
        char *ours;
    } both = { name };

    f.name = both.ours;
    f.standard = !owned && !strcmp(name, "-");
    f.title = f.standard ? "standard input" : name;
    if (f.standard ? fstat(STDIN_FILENO, &it) : stat(name, &it))
        code = seen_fail(why, SEEN_IO, 0, "cannot be read");
    if (code == SEEN_OK) {
        f.seeks = S_ISREG(it.st_mode);
        f.device = (uint64_t)it.st_dev;
        f.inode = (uint64_t)it.st_ino;
        f.changed = (int64_t)it.st_mtim.tv_sec * 1000000000 +
                    it.st_mtim.tv_nsec;
        if (f.standard) {
            off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);

            f.fd = STDIN_FILENO;
            f.base = f.seeks && at > 0 ? (uint64_t)at : 0;
        } else if (!f.seeks) {
            f.fd = open(name, O_RDONLY | O_CLOEXEC);
            if (f.fd < 0)
                code = seen_fail(why, SEEN_IO, 0, "cannot be read");
        }
        f.size = f.seeks ? (uint64_t)it.st_size : 0;
        if (f.base > f.size)
            f.base = f.size;
    }
    if (code == SEEN_OK)
        code = cdx_sniff(s, &f, why);
    if (code == SEEN_OK)
        code = cut(&f, why);
    if (code == SEEN_OK && s->files == s->room) {
        size_t room = 2 * s->room + 16;
        struct cdx_file *more = realloc(s->file, room * sizeof *more);

        if (!more) {
            code = no_memory(why);
        } else {
            s->file = more;
            s->room = room;
        }
    }
    if (code != SEEN_OK) {
        f.owned = false;
        cdx_file_clear(&f);
        return code;
    }
    s->file[s->files++] = f;
    return SEEN_OK;
}

/* --- folders --- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder that are not hidden, sorted; NULL and errno. */
static char **names_in(const char *folder, size_t *count)
{
    char **name = NULL;
    size_t room = 0, n = 0;
    DIR *dir = opendir(folder);
    struct dirent *entry;

    if (!dir)
        return NULL;
    do {
        if (n == room) {
            char **more = realloc(name, (room = 2 * room + 64) * sizeof *name);

            if (!more)
                break;
            name = more;
        }
        do
            entry = readdir(dir);
        while (entry && entry->d_name[0] == '.');
        name[n] = entry ? strdup(entry->d_name) : NULL;
    } while (name[n] && ++n);
    closedir(dir);
    if (name)
        qsort(name, n, sizeof *name, by_name);
    *count = n;
    return name;
}

static char *join(const char *folder, size_t len, const char *name)
{
    char *path = malloc(len + strlen(name) + 2);

    if (path)
        sprintf(path, "%.*s%s%s", (int)len, folder,
                len && folder[len - 1] != '/' ? "/" : "", name);
    return path;
}

static enum seen_code walk(struct seen_source *s, const char *folder,
                           int depth, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct seen_error what;
    size_t n = 0;
    char **name = depth < DEEPEST ? names_in(folder, &n) : NULL;

    if (!name) {
        if (depth == DEEPEST)
            errno = ELOOP;
        seen_fail(&what, SEEN_IO, 0, "cannot be read");
        if (!depth) {
            *why = what;
            return SEEN_IO;
        }
        return leave_out(s, folder, &what, why);
    }
    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        char *path = join(folder, strlen(folder), name[i]);
        struct stat it;

        if (!path) {
            code = no_memory(why);
            break;
        }
        if (!stat(path, &it) && S_ISDIR(it.st_mode)) {
            code = walk(s, path, depth + 1, why);
        } else if (!stat(path, &it) && !S_ISREG(it.st_mode)) {
            ; /* sockets and pipes below a folder are nobody's index */
        } else if (append(s, path, true, &what) == SEEN_OK) {
            continue; /* the path is the file's now */
        } else {
            code = leave_out(s, path, &what, why);
        }
        free(path);
    }
    for (size_t i = 0; i < n; i++)
        free(name[i]);
    free(name);
    return code;
}

/* --- clusters --- */

/* Append a file that a ZipNum index names, unless it is there already. */
static enum seen_code follow(struct seen_source *s, size_t index,
                             struct seen_span shard, struct seen_error *why)
{
    const char *from = s->file[index].name, *slash = strrchr(from, '/');
    size_t folder = slash ? (size_t)(slash - from) : 0;
    char name[512], *path;
    enum seen_code code = SEEN_OK;
    struct seen_error what;
    struct stat it;

    if (shard.len >= sizeof name || memchr(shard.text, 0, shard.len))
        return SEEN_OK;
    memcpy(name, shard.text, shard.len);
    name[shard.len] = '\0';
    path = name[0] == '/' ? strdup(name) : join(from, folder, name);
    if (!path)
        return no_memory(why);
    if (!stat(path, &it) && known(s, &it)) {
        free(path);
        return SEEN_OK;
    }
    if (!stat(path, &it) && !S_ISREG(it.st_mode)) /* a pipe may never end */
        seen_fail(&what, SEEN_RANGE, 0, "is not a regular file");
    else if (append(s, path, true, &what) == SEEN_OK)
        return SEEN_OK;
    for (size_t i = 0; i < s->faults; i++)
        if (!strcmp(s->fault[i].name, path)) {
            free(path);
            return SEEN_OK;
        }
    code = leave_out(s, path, &what, why);
    free(path);
    return code;
}

static enum seen_code follow_all(struct seen_source *s, size_t index,
                                 struct seen_error *why)
{
    FILE *file = fopen(s->file[index].name, "re");
    enum seen_code code = SEEN_OK;
    char *line = NULL, last[512] = "";
    size_t room = 0;
    ssize_t n;

    if (!file)
        return SEEN_OK;
    while (code == SEEN_OK && (n = getline(&line, &room, file)) > 0) {
        struct seen_span c[3];

        if (cdx_line_split(line, (size_t)n, '\t', c, 3) < 4 || !c[1].len ||
            (c[1].len == strlen(last) && !memcmp(last, c[1].text, c[1].len)))
            continue;
        code = follow(s, index, c[1], why);
        snprintf(last, sizeof last, "%.*s", (int)c[1].len, c[1].text);
    }
    free(line);
    fclose(file);
    return code;
}

/* --- the door --- */

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
        return no_memory(why);
    pthread_mutex_init(&s->lock, NULL);
    if (options)
        s->options = *options;
    s->expected = CDX_NOWHERE;
    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        struct stat it;

        if (strcmp(input[i], "-") && !stat(input[i], &it) &&
            S_ISDIR(it.st_mode))
            code = walk(s, input[i], 0, why);
        else
            code = append(s, input[i], false, why);
        if (code != SEEN_OK)
            why->at = i;
    }
    for (size_t i = 0; i < s->files && code == SEEN_OK; i++)
        if (s->file[i].layout.format == SEEN_FORMAT_ZIPNUM &&
            s->file[i].packing == CDX_PLAIN && s->file[i].seeks &&
            !s->file[i].standard)
            code = follow_all(s, i, why);
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
    for (size_t i = 0; i < s->files; i++)
        cdx_file_clear(&s->file[i]);
    for (size_t i = 0; i < s->faults; i++)
        free(s->fault[i].name);
    pthread_mutex_destroy(&s->lock);
    free(s->file);
    free(s->fault);
    free(s->carry);
    free(s);
}
