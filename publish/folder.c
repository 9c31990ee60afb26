/* folder.c - a walk over folders, and what it finds in order. */
#define _DEFAULT_SOURCE /* dirent's d_type, realpath */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "path.h"
#include "xml.h"

enum { DEPTH = 64 };

struct walk {
    struct folder *folder;
    const char *root;
    char *real; /* the root without links */
    bool all;   /* any file of any name */
    bool ours;  /* in deltas/, where no filter should be */
    folder_tell *tell;
    void *whose;
    struct seen_error *why;
};

static enum seen_code names_add(struct names *n, const char *name,
                                struct seen_error *why)
{
    if (n->n == n->room) {
        size_t room = n->room ? 2 * n->room : 64;
        char **more = realloc(n->name, room * sizeof *more);

        if (!more)
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for names");
        n->name = more;
        n->room = room;
    }
    n->name[n->n] = strdup(name);
    if (!n->name[n->n])
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for names");
    n->n++;
    return SEEN_OK;
}

void names_clear(struct names *n)
{
    for (size_t i = 0; i < n->n; i++)
        free(n->name[i]);
    free(n->name);
    memset(n, 0, sizeof *n);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Whatever its case: what looks like a filter is not passed in silence. */
static bool is_filter(const char *name)
{
    size_t len = strlen(name);

    return len > 5 && !strcasecmp(name + len - 5, ".seen");
}

static bool in_lower_case(const char *name)
{
    return !strcmp(name + strlen(name) - 5, ".seen");
}

/* Names are told as they can be shown: some would move the cursor. */
static void tell(const struct walk *w, const char *name, const char *why,
                 bool lost)
{
    char *clean = w->tell ? xml_cleaned(name) : NULL;

    if (clean)
        w->tell(w->whose, clean, why, lost);
    free(clean);
}

/* Does a link lead to what is inside? */
static bool inside(const struct walk *w, const char *path)
{
    char *real = realpath(path, NULL);
    size_t len = w->real ? strlen(w->real) : 0;
    bool yes = real && w->real && !strncmp(real, w->real, len) &&
               (real[len] == '/' || !strcmp(w->real, "/"));

    free(real);
    return yes;
}

static enum seen_code take_file(struct walk *w, const char *path,
                                const char *name, bool link)
{
    if (w->all)
        return names_add(&w->folder->files, name, w->why);
    if (!is_filter(name))
        return SEEN_OK;
    if (w->ours || !in_lower_case(name)) {
        tell(w, name,
             w->ours ? "is in the folder of deltas, so it is not announced"
                     : "does not end in .seen, so it is not announced",
             false);
        return SEEN_OK;
    }
    if (link && !inside(w, path)) {
        tell(w, name, "is a link that leads out of the folder", false);
        return SEEN_OK;
    }
    if (!xml_clean(name)) {
        tell(w, name, "has a name with control bytes, or that is no UTF-8",
             true);
        return SEEN_OK;
    }
    return names_add(&w->folder->files, name, w->why);
}

/* A folder that is not looked into; it ends with a slash. */
static enum seen_code pass_over(struct walk *w, const char *name,
                                const char *why)
{
    tell(w, name, why, true);
    return names_add(&w->folder->blind, name, w->why);
}

static enum seen_code walk(struct walk *w, const char *below, int depth);

static enum seen_code take(struct walk *w, const char *below, const char *base,
                           int depth)
{
    char *name = path_format("%s%s", below, base), *path = NULL, *sub = NULL;
    enum seen_code code = SEEN_OK;
    struct stat it, own;

    if (name)
        path = path_format("%s/%s", w->root, name);
    if (path)
        sub = path_format("%s/", name);
    if (!sub)
        code = seen_fail(w->why, SEEN_NOMEM, 0, "no memory for names");
    else if (lstat(path, &own) || stat(path, &it))
        ; /* it went away meanwhile, or leads nowhere */
    else if (S_ISREG(it.st_mode))
        code = take_file(w, path, name, S_ISLNK(own.st_mode));
    else if (S_ISDIR(own.st_mode) && depth < DEPTH)
        code = walk(w, sub, depth + 1);
    else if (S_ISDIR(own.st_mode))
        code = pass_over(w, sub, "is too deep in the folder");
    free(sub);
    free(path);
    free(name);
    return code;
}

/* What is to be removed is never looked for behind a link. */
static DIR *open_folder(const struct walk *w, const char *path)
{
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK;
    int fd = open(path, w->all ? flags | O_NOFOLLOW : flags);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !dir)
        close(fd);
    return dir;
}

/* Dot files are passed over; of our own folder, filters are told. */
static enum seen_code take_entry(struct walk *w, const char *below,
                                 const char *name, int depth)
{
    enum seen_code code;

    if (w->all ? !strcmp(name, ".") || !strcmp(name, "..") : *name == '.')
        return SEEN_OK;
    if (!w->all && !*below && !strcmp(name, "deltas"))
        w->ours = true;
    code = take(w, below, name, depth);
    if (!*below)
        w->ours = false;
    return code;
}

/* The entries of root/below, which is "" or ends with a slash. */
static enum seen_code walk(struct walk *w, const char *below, int depth)
{
    char *path = path_format("%s/%s", w->root, below);
    DIR *dir = path ? open_folder(w, path) : NULL;
    enum seen_code code = SEEN_OK;
    struct dirent *it;

    if (!path)
        code = seen_fail(w->why, SEEN_NOMEM, 0, "no memory for names");
    else if (!dir && (w->ours || (w->all && errno == ENOENT)))
        ;
    else if (!dir && (!*below || w->all))
        code = seen_fail(w->why, SEEN_IO, 0, "cannot be read");
    else if (!dir)
        code = pass_over(w, below, strerror(errno));
    while (dir && code == SEEN_OK && (it = readdir(dir)))
        code = take_entry(w, below, it->d_name, depth);
    if (dir)
        closedir(dir);
    free(path);
    return code;
}

enum seen_code folder_walk(struct folder *f, const char *path,
                           folder_tell *say, void *whose,
                           struct seen_error *why)
{
    struct walk w = {
        .folder = f, .root = path, .tell = say, .whose = whose, .why = why
    };
    enum seen_code code;

    memset(f, 0, sizeof *f);
    w.real = realpath(path, NULL);
    code = walk(&w, "", 0);
    free(w.real);
    if (code != SEEN_OK)
        folder_clear(f);
    else if (f->files.n)
        qsort(f->files.name, f->files.n, sizeof *f->files.name, by_name);
    return code;
}

void folder_clear(struct folder *f)
{
    names_clear(&f->files);
    names_clear(&f->blind);
}

bool folder_blind(const struct folder *f, const char *name)
{
    for (size_t i = 0; i < f->blind.n; i++)
        if (!strncmp(name, f->blind.name[i], strlen(f->blind.name[i])))
            return true;
    return false;
}

enum seen_code names_below(struct names *n, const char *path,
                           struct seen_error *why)
{
    struct folder f = { .files = { .n = 0 } };
    struct walk w = { .folder = &f, .root = path, .all = true, .why = why };
    enum seen_code code = walk(&w, "", 0);

    *n = f.files;
    if (code != SEEN_OK)
        names_clear(n);
    return code;
}
