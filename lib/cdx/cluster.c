/*
 * cluster.c - the files of a ZipNum cluster.
 *
 * The index of a cluster (cluster.idx) has no captures of its own. It names the
 * files of the cluster, its parts, which are read in its place unless they are
 * inputs themselves:
 *
 *     com,example)/ 20200101000000<TAB>cdx-00000.gz<TAB>0<TAB>188224<TAB>1
 *
 * cluster.loc, if it exists, has the paths of the parts: the name of a part and
 * one or more paths, of which the first that exists is used. Without it the
 * parts are beside the index.
 *
 *     cdx-00000.gz<TAB>/disk1/cdx-00000.gz<TAB>/disk2/cdx-00000.gz
 */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../disk/disk.h"
#include "../disk/walk.h"
#include "../text/memory.h"
#include "../text/span.h"
#include "line.h"

static const size_t longest = 1 << 26; /* bytes of a .loc file */

struct cdx_cluster {
    struct seen_source *source;
    char *folder; /* where the index is */
    char *places; /* what the .loc file has; NULL: there is none */
    size_t places_len;
};

/* The file of the source that this is; NULL if it is not one of them. */
static struct cdx_file *known(const struct seen_source *s,
                              const struct stat *it)
{
    for (size_t i = 0; i < s->files; i++)
        if (s->file[i].device == (uint64_t)it->st_dev &&
            s->file[i].inode == (uint64_t)it->st_ino)
            return &s->file[i];
    return NULL;
}

/* --- where the parts are --- */

/* Load the .loc file beside the index. If it is among the inputs, it is not
   read as a list. */
static void load_places(struct cdx_cluster *c, const char *index)
{
    const char *dot = strrchr(index, '.'), *slash = strrchr(index, '/');
    size_t stem = dot && dot > slash ? (size_t)(dot - index) : strlen(index);
    char *path = malloc(stem + 5);
    struct cdx_file *f;
    struct stat it;

    if (path) {
        memcpy(path, index, stem);
        memcpy(path + stem, ".loc", 5);
    }
    if (path && !stat(path, &it) &&
        disk_load(&c->places, &c->places_len, path, longest, NULL) ==
            SEEN_OK &&
        (f = known(c->source, &it)))
        f->pieces = 0;
    free(path);
}

/* A path as the index or the .loc file has it; the caller frees it. */
static char *resolve(const struct cdx_cluster *c, struct seen_span place)
{
    char *name, *path;

    if (span_begins(place, "file://")) {
        place.text += 7;
        place.len -= 7;
    }
    name = strndup(place.text, place.len);
    if (!name || *name == '/')
        return name;
    path = walk_path(c->folder, name);
    free(name);
    return path;
}

/* The place of a part: the first that is there, or else the first. */
static char *find_part(const struct cdx_cluster *c, struct seen_span part)
{
    struct seen_span rest = { c->places, c->places_len }, line, field;
    char *path = NULL;
    struct stat it;

    while (span_line(&rest, &line)) {
        if (!span_cut(&line, '\t', &field) || !span_equal(field, part))
            continue;
        while (span_cut(&line, '\t', &field)) {
            char *other = resolve(c, field);

            if (other && (!path || !stat(other, &it))) {
                free(path);
                path = other;
                if (!stat(path, &it))
                    return path;
            } else {
                free(other);
            }
        }
        break;
    }
    return path ? path : resolve(c, part);
}

/* --- following --- */

static bool number_of(struct seen_span s, uint64_t *n)
{
    *n = 0;
    for (size_t i = 0; i < s.len && i < 18; i++) {
        if (s.text[i] < '0' || s.text[i] > '9')
            return false;
        *n = 10 * *n + (uint64_t)(s.text[i] - '0');
    }
    return s.len && s.len <= 18;
}

static bool left_out(const struct seen_source *s, const char *path)
{
    for (size_t i = 0; i < s->faults; i++)
        if (!strcmp(s->fault[i].name, path))
            return true;
    return false;
}

static enum seen_code follow_path(struct seen_source *s, const char *path,
                                  struct seen_error *why)
{
    struct seen_error what;
    struct stat it;
    bool there = !stat(path, &it);

    if (there && known(s, &it))
        return SEEN_OK;
    if (there && !S_ISREG(it.st_mode)) /* a pipe may never end */
        seen_fail(&what, SEEN_RANGE, 0, "is not a regular file");
    else if (cdx_append(s, path, &what) == SEEN_OK)
        return SEEN_OK;
    if (what.code == SEEN_MISMATCH) /* but the index says what is in it */
        what.code = SEEN_CORRUPT;
    return left_out(s, path) ? SEEN_OK : cdx_leave_out(s, path, &what, why);
}

/* A part that was cut short, perhaps between two members, which only the index
   shows. */
static enum seen_code check_size(struct seen_source *s, const char *path,
                                 const struct seen_span *column,
                                 struct seen_error *why)
{
    struct seen_error what;
    struct stat it;
    uint64_t at, len;

    if (!number_of(column[2], &at) || !number_of(column[3], &len) ||
        stat(path, &it) || at + len <= (uint64_t)it.st_size ||
        left_out(s, path))
        return SEEN_OK;
    seen_fail(&what, SEEN_CORRUPT, 0,
              "is shorter than its cluster's index "
              "says; it was cut short");
    return cdx_leave_out(s, path, &what, why);
}

static enum seen_code follow_lines(struct cdx_cluster *c, FILE *file,
                                   struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    char *line = NULL, last[512] = "", *path = NULL;
    size_t room = 0;
    ssize_t n;

    while (code == SEEN_OK && (n = getline(&line, &room, file)) > 0) {
        struct seen_span column[4], part;

        n -= line[n - 1] == '\n';
        if (cdx_line_split(line, (size_t)n, '\t', column, 4) < 4)
            continue;
        part = column[1];
        if (!part.len || part.len >= sizeof last)
            continue;
        if (!span_is(part, last)) {
            memcpy(last, part.text, part.len);
            last[part.len] = '\0';
            free(path);
            path = find_part(c, part);
            code = path ? follow_path(c->source, path, why)
                        : no_memory_for(why, "a list of files");
        }
        if (code == SEEN_OK)
            code = check_size(c->source, path, column, why);
    }
    free(path);
    free(line);
    return code;
}

static enum seen_code not_followed(struct seen_source *s, const char *name,
                                   enum seen_code code, const char *text,
                                   struct seen_error *why)
{
    struct seen_error what;

    seen_fail(&what, code, 0, "%s", text);
    return cdx_leave_out(s, name, &what, why);
}

enum seen_code cdx_follow(struct seen_source *s, size_t index,
                          struct seen_error *why)
{
    const struct cdx_file *f = &s->file[index];
    const char *name = f->name, *slash = strrchr(name, '/');
    struct cdx_cluster c = { .source = s };
    enum seen_code code = SEEN_OK;
    FILE *file;

    if (f->packing != CDX_PLAIN || !f->seeks || f->standard) {
        s->file[index].pieces = 0;
        return not_followed(s, f->title, SEEN_RANGE,
                            "the index of a ZipNum cluster, which must be "
                            "given as a file that is not packed",
                            why);
    }
    file = fopen(name, "re");
    if (!file)
        return not_followed(s, name, SEEN_IO, "cannot be read", why);
    c.folder = slash ? strndup(name, (size_t)(slash - name) + 1) : strdup(".");
    if (c.folder) { /* the files of the source move, their names do not */
        load_places(&c, name);
        code = follow_lines(&c, file, why);
    } else {
        code = no_memory_for(why, "a list of files");
    }
    if (code == SEEN_OK && ferror(file))
        code = not_followed(s, name, SEEN_IO, "cannot be read", why);
    fclose(file);
    free(c.folder);
    free(c.places);
    return code;
}
