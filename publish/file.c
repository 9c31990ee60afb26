/* file.c - names, reasons, and files that may be missing. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../lib/disk/disk.h"
#include "../lib/text/xml.h"

char *publish_format(const char *format, ...)
{
    va_list args;
    char *text;
    int len;

    va_start(args, format);
    len = vasprintf(&text, format, args);
    va_end(args);
    return len < 0 ? NULL : text;
}

const char *publish_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

enum seen_code publish_open(int *fd, const char *path, struct seen_error *why)
{
    struct stat it;

    *fd = disk_open(path, O_RDONLY, 0);
    if (*fd >= 0)
        return SEEN_OK;
    if (errno == EINVAL)
        return seen_fail(why, SEEN_RANGE, 0, "is not a regular file");
    if (errno != ENOENT)
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    if (!lstat(path, &it))
        return seen_fail(why, SEEN_RANGE, 0, "is a link that leads nowhere");
    return SEEN_OK;
}

enum seen_code publish_blame(const char *name, enum seen_code code,
                             struct seen_error *why)
{
    const size_t len = strlen(name), room = sizeof why->text;

    if (code == SEEN_OK || !why || len + 3 > room)
        return code;
    memmove(why->text + len + 2, why->text, room - len - 2);
    memcpy(why->text, name, len);
    memcpy(why->text + len, ": ", 2);
    why->text[room - 1] = '\0';
    return code;
}

char *publish_shown(const char *text)
{
    struct buffer b = { .bytes = NULL };

    buffer_xml_chars(&b, text, strlen(text));
    return buffer_take(&b);
}
