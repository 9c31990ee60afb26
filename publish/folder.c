/*
 * folder.c - find the filters of a folder.
 *
 * One walk serves two masters with opposite fears. To announce filters it
 * follows links to files, but only those that stay inside the folder: a link
 * must not publish what its owner did not put here. To remove our own files
 * (`all`) it follows no link at all: a link must not lead the removal outside.
 *
 * Nothing that looks like a filter is skipped without a word, as a filter that
 * silently is not announced looks like one that was withdrawn. A folder that
 * cannot be read is remembered for the same reason: filters in it are neither
 * announced nor called deleted.
 *
 * The depth is limited, so that the recursion is, too.
 */
#include "folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "../lib/text/xml.h"
#include "file.h"

enum { DEPTH = 64 };

struct publish_walk {
    struct publish_folder *folder;
    const char *root;
    char *real; /* the root without links */
    bool all;   /* any file of any name */
    bool ours;  /* in deltas/, where no filter should be */
    publish_folder_report *tell;
    void *whose;
    struct seen_error *why;
};

/* Does the name look like a filter, in upper or lower case? Such names are not
   skipped silently. */
static bool is_filter(const char *name)
{
    size_t len = strlen(name);

    return len > 5 && !strcasecmp(name + len - 5, ".seen");
}

static bool in_lower_case(const char *name)
{
    return !strcmp(name + strlen(name) - 5, ".seen");
}

/* Report a name. It is made printable: some would move the cursor. */
static void tell(const struct publish_walk *w, const char *name,
                 const char *why, bool lost)
{
    char *clean = w->tell ? publish_shown(name) : NULL;

    if (clean)
        w->tell(w->whose, clean, why, lost);
    free(clean);
}

/* Does a link lead to a file inside the folder? */
static bool inside(const struct publish_walk *w, const char *path)
{
    char *real = realpath(path, NULL);
    size_t len = w->real ? strlen(w->real) : 0;
    bool yes = real && w->real && !strncmp(real, w->real, len) &&
               (real[len] == '/' || !strcmp(w->real, "/"));

    free(real);
    return yes;
}

static enum seen_code take_file(struct publish_walk *w, const char *path,
                                const char *name, bool link)
{
    if (w->all)
        return walk_add(&w->folder->files, name, w->why);
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
    if (!xml_valid(name, strlen(name))) {
        tell(w, name, "has a name with control bytes, or that is not UTF-8",
             true);
        return SEEN_OK;
    }
    return walk_add(&w->folder->files, name, w->why);
}

/* Skip a folder, whose name ends with a slash. */
static enum seen_code skip(struct publish_walk *w, const char *name,
                           const char *why)
{
    tell(w, name, why, true);
    return walk_add(&w->folder->unread, name, w->why);
}

static enum seen_code walk(struct publish_walk *w, const char *below,
                           int depth);

static enum seen_code take(struct publish_walk *w, const char *below,
                           const char *base, int depth)
{
    char *name = publish_format("%s%s", below, base), *path = NULL,
         *sub = NULL;
    enum seen_code code = SEEN_OK;
    struct stat it, own;

    if (name)
        path = walk_path(w->root, name);
    if (path)
        sub = publish_format("%s/", name);
    if (!sub)
        code = seen_fail(w->why, SEEN_NOMEM, 0, "no memory for names");
    else if (lstat(path, &own) || stat(path, &it))
        ; /* it was removed meanwhile, or leads nowhere */
    else if (S_ISREG(it.st_mode))
        code = take_file(w, path, name, S_ISLNK(own.st_mode));
    else if (S_ISDIR(own.st_mode) && depth < DEPTH)
        code = walk(w, sub, depth + 1);
    else if (S_ISDIR(own.st_mode))
        code = skip(w, sub, "is too deep in the folder");
    free(sub);
    free(path);
    free(name);
    return code;
}

/* The entries of a folder. Files to be removed are not searched for in a
   folder that is a link. */
static enum seen_code list(const struct publish_walk *w, const char *path,
                           struct walk_names *names)
{
    struct stat it;

    if (w->all && !lstat(path, &it) && S_ISLNK(it.st_mode)) {
        errno = ELOOP;
        return SEEN_IO;
    }
    return walk_folder(names, path, w->all, NULL);
}

/* The entries of root/below, which is "" or ends with a slash. Names that
   begin with a dot are left out, unless all are wanted. */
static enum seen_code walk(struct publish_walk *w, const char *below,
                           int depth)
{
    char *path = walk_path(w->root, below);
    struct walk_names names = { .n = 0 };
    enum seen_code code = path ? list(w, path, &names) : SEEN_NOMEM;

    if (code == SEEN_NOMEM)
        code = seen_fail(w->why, SEEN_NOMEM, 0, "no memory for names");
    else if (code != SEEN_OK && (w->ours || (w->all && errno == ENOENT)))
        code = SEEN_OK;
    else if (code != SEEN_OK && (!*below || w->all))
        code = seen_fail(w->why, SEEN_IO, 0, "cannot be read");
    else if (code != SEEN_OK)
        code = skip(w, below, strerror(errno));
    for (size_t i = 0; i < names.n && code == SEEN_OK; i++) {
        if (!*below && !w->all) /* the folder of deltas is ours */
            w->ours = !strcmp(names.name[i], "deltas");
        code = take(w, below, names.name[i], depth);
    }
    walk_clear(&names);
    free(path);
    return code;
}

enum seen_code publish_folder_walk(struct publish_folder *f, const char *path,
                                   publish_folder_report *say, void *whose,
                                   struct seen_error *why)
{
    struct publish_walk w = {
        .folder = f, .root = path, .tell = say, .whose = whose, .why = why
    };
    enum seen_code code;

    memset(f, 0, sizeof *f);
    w.real = realpath(path, NULL);
    code = walk(&w, "", 0);
    free(w.real);
    if (code != SEEN_OK)
        publish_folder_clear(f);
    else
        walk_sort(&f->files);
    return code;
}

void publish_folder_clear(struct publish_folder *f)
{
    walk_clear(&f->files);
    walk_clear(&f->unread);
}

bool publish_folder_unread(const struct publish_folder *f, const char *name)
{
    for (size_t i = 0; i < f->unread.n; i++)
        if (!strncmp(name, f->unread.name[i], strlen(f->unread.name[i])))
            return true;
    return false;
}

enum seen_code publish_files_below(struct walk_names *n, const char *path,
                                   struct seen_error *why)
{
    struct publish_folder f = { .files = { .n = 0 } };
    struct publish_walk w = {
        .folder = &f, .root = path, .all = true, .why = why
    };
    enum seen_code code = walk(&w, "", 0);

    *n = f.files;
    if (code != SEEN_OK)
        walk_clear(n);
    return code;
}
