/* input.c - what can be read once, as a file that can be read again. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

static bool write_all(int to, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(to, bytes, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static const char *folder(void)
{
    const char *named = getenv("TMPDIR");

    return named && *named ? named : "/tmp";
}

const char *cmd_temporary_folder(void)
{
    const char *named = getenv("TMPDIR");

    if (named && *named)
        return named;
    return access("/var/tmp", W_OK | X_OK) ? "/tmp" : "/var/tmp";
}

/* All that comes; false after a message. */
static bool copy(const struct input *in, int from, int to)
{
    static char bytes[1 << 16];
    ssize_t n;

    while ((n = read(from, bytes, sizeof bytes)) > 0 ||
           (n < 0 && errno == EINTR))
        if (n > 0 && !write_all(to, bytes, (size_t)n)) {
            trouble("%s: cannot be copied to %s: %s; TMPDIR can name a "
                    "folder with more room",
                    in->name, folder(), strerror(errno));
            return false;
        }
    if (n < 0)
        trouble("%s: cannot be read: %s", in->name, strerror(errno));
    return n == 0;
}

static char *template(void)
{
    static const char name[] = "/seen-input-XXXXXX";
    char *path = malloc(strlen(folder()) + sizeof name);

    if (path)
        sprintf(path, "%s%s", folder(), name);
    return path;
}

static bool keep(struct input *in, int from)
{
    int to;
    bool good;

    in->copy = template();
    if (!in->copy) {
        trouble("no memory for a path");
        return false;
    }
    to = mkstemp(in->copy);
    if (to < 0) {
        trouble("%s: cannot be copied to %s: %s; TMPDIR can name another "
                "folder",
                in->name, folder(), strerror(errno));
        free(in->copy);
        in->copy = NULL;
        return false;
    }
    good = copy(in, from, to);
    close(to);
    in->path = in->copy;
    return good;
}

bool input_open(struct input *in, const char *path)
{
    bool standard = !strcmp(path, "-"), good = true;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat it;

    *in = (struct input){ .name = standard ? "standard input" : path,
                          .path = path };
    if (fd < 0) {
        trouble("%s: cannot be opened: %s", in->name, strerror(errno));
        return false;
    }
    /* Files and folders are left to the caller. */
    if (standard ||
        (!fstat(fd, &it) && !S_ISREG(it.st_mode) && !S_ISDIR(it.st_mode)))
        good = keep(in, fd);
    if (!standard)
        close(fd);
    if (!good)
        input_close(in);
    return good;
}

void input_close(struct input *in)
{
    if (in->copy)
        unlink(in->copy);
    free(in->copy);
    in->copy = NULL;
}
