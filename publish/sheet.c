/* sheet.c - write beside, compare, flush, rename. */
#define _POSIX_C_SOURCE 200809L
#include "sheet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/disk/disk.h"
#include "path.h"

enum seen_code sheet_begin(struct sheet *s, const char *path,
                           struct seen_error *why)
{
    enum seen_code code = path_prepare(path, why);
    int fd;

    memset(s, 0, sizeof *s);
    if (code != SEEN_OK)
        return code;
    s->path = strdup(path);
    s->next = path_format("%s.new", path);
    if (!s->path || !s->next) {
        sheet_drop(s);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    }
    code = disk_begin(s->next, &fd, why);
    s->to = code == SEEN_OK ? fdopen(fd, "w+") : NULL;
    if (code == SEEN_OK && !s->to) {
        close(fd);
        unlink(s->next);
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory to write a file");
    }
    if (code != SEEN_OK)
        sheet_drop(s);
    return code;
}

void sheet_drop(struct sheet *s)
{
    int system = errno;

    if (s->to) {
        fclose(s->to);
        unlink(s->next);
    }
    free(s->path);
    free(s->next);
    memset(s, 0, sizeof *s);
    errno = system;
}

static bool same_bytes(FILE *a, FILE *b)
{
    char one[1 << 14], two[1 << 14];
    size_t n, m;

    rewind(a);
    do {
        n = fread(one, 1, sizeof one, a);
        m = fread(two, 1, sizeof two, b);
        if (n != m || memcmp(one, two, n))
            return false;
    } while (n);
    return !ferror(a) && !ferror(b);
}

enum seen_code sheet_end(struct sheet *s, bool *changed,
                         struct seen_error *why)
{
    FILE *old;
    enum seen_code code = SEEN_OK;
    bool same;

    if (path_read(&old, s->path, NULL) != SEEN_OK)
        old = NULL; /* cannot be equal, and can be replaced */
    if (fflush(s->to) || ferror(s->to))
        code = seen_fail(why, SEEN_IO, 0, "cannot be written");
    same = code == SEEN_OK && old && same_bytes(s->to, old);
    if (old)
        fclose(old);
    if (changed)
        *changed = !same;
    if (code == SEEN_OK && !same)
        code = disk_swap(fileno(s->to), s->next, s->path, NULL, why);
    sheet_drop(s); /* after a rename there is no s->next to be removed */
    return code;
}
