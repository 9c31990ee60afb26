/* secret.c - read a key file. */
#include "secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/text/hex.h"
#include "command.h"

enum { DIGITS = 2 * SEEN_SECRET, MOST = DIGITS + 2 };

static bool parse(const char *text, size_t len, unsigned char *secret)
{
    if (len == SEEN_SECRET) {
        memcpy(secret, text, SEEN_SECRET);
        return true;
    }
    if (len > DIGITS && text[len - 1] == '\n')
        len--;
    if (len > DIGITS && text[len - 1] == '\r')
        len--;
    return len == DIGITS && hex_read(secret, SEEN_SECRET, text, true);
}

bool secret_read(const char *path, unsigned char secret[SEEN_SECRET])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char text[MOST + 1];
    size_t len = 0;
    struct stat s;
    ssize_t n;
    bool good;

    if (fd < 0 && errno == ENOENT) {
        trouble("%s: no such key file; to make one: "
                "(umask 077; head -c16 /dev/urandom >%s)",
                path, path);
        return false;
    }
    if (fd < 0 || fstat(fd, &s) < 0) {
        trouble("%s: %s", path, strerror(errno));
        return false;
    }
    while (len < sizeof text &&
           (n = read(fd, text + len, sizeof text - len)) != 0) {
        if (n < 0 && errno != EINTR)
            break;
        len += n > 0 ? (size_t)n : 0;
    }
    n = n < 0 ? -1 : 0;
    close(fd);
    good = n == 0 && parse(text, len, secret);
    explicit_bzero(text, sizeof text);
    if (n < 0)
        trouble("%s: %s", path, strerror(errno));
    else if (!good)
        trouble("%s: a key file holds 16 bytes or 32 hexadecimal digits",
                path);
    else if (S_ISREG(s.st_mode) && (s.st_mode & (S_IRWXG | S_IRWXO)))
        warning("%s: others can read this key; chmod 600 %s", path, path);
    return good;
}
