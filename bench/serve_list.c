/*
 * serve_list.c - a client that sends a list and reads the answers.
 *
 * The server answers while the list comes in, so a client must read answers
 * while it sends. One socket, one buffer made in advance, and a count of
 * line ends: the client is not what is measured.
 */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOM = 1 << 18, WAIT_MS = 10000 };

static const char tail[] = "\r\n0\r\n\r\n"; /* of an answer in chunks */
enum { TAIL = sizeof tail - 1 };

struct list_answers {
    uint64_t lines, refused; /* refused: "!", not a URL */
    char last[TAIL];         /* bytes so far */
    bool begun;              /* the status is right */
};

/*
 * Count lines. Those of HTTP itself, of the head and between chunks, end in
 * CR LF; answers do not.
 */
static bool count(struct list_answers *a, const char *text, size_t len)
{
    const char *end = text + len, *at = text;
    size_t kept = len < TAIL ? TAIL - len : 0;

    if (!a->begun && (len < 12 || memcmp(text, "HTTP/1.1 200", 12)))
        return false;
    a->begun = true;
    for (const char *line; (line = memchr(at, '\n', (size_t)(end - at)));
         at = line + 1) {
        char before = line > text ? line[-1] : a->last[TAIL - 1];

        a->lines += before != '\r';
        a->refused += *at == '!' && before != '\r';
    }
    memmove(a->last, a->last + TAIL - kept, kept);
    memcpy(a->last + kept, end - (TAIL - kept), TAIL - kept);
    return true;
}

static bool whole(const struct list_answers *a)
{
    return !memcmp(a->last, tail, TAIL);
}

/* Send all and take all. */
static bool exchange(int fd, const char *head, const char *body, size_t len,
                     struct list_answers *a, char *room)
{
    size_t sent = 0;

    if (send(fd, head, strlen(head), MSG_NOSIGNAL) != (ssize_t)strlen(head))
        return false;
    while (sent < len || !whole(a)) {
        struct pollfd it = { fd, POLLIN, 0 };
        ssize_t n;

        if (sent < len)
            it.events |= POLLOUT;
        if (poll(&it, 1, WAIT_MS) <= 0)
            return false;
        if (it.revents & POLLOUT) {
            n = send(fd, body + sent, len - sent < ROOM ? len - sent : ROOM,
                     MSG_NOSIGNAL);
            if (n < 0 && errno != EAGAIN)
                return false;
            sent += n > 0 ? (size_t)n : 0;
        }
        if (!(it.revents & (POLLIN | POLLHUP | POLLERR)))
            continue;
        n = recv(fd, room, ROOM, 0);
        if (!n || (n < 0 && errno != EAGAIN))
            return false;
        if (n > 0 && !count(a, room, (size_t)n))
            return false;
    }
    return true;
}

static char *list_new(const struct load_options *s, uint64_t n)
{
    char *body = malloc(n * (URL_LENGTH + 1));
    uint64_t number = 0, range = served_range(s);

    for (uint64_t i = 0; body && i < n; i++) {
        char *at = body + i * (URL_LENGTH + 1);

        number = (number + 15485863) % range; /* as in serve_load.c */
        served_url(at, number);
        at[URL_LENGTH] = '\n';
    }
    return body;
}

bool load_list(const struct load_options *s, const struct peer *p,
               const char *path, uint64_t n, struct serve_load *out)
{
    char *body = list_new(s, n), *room = malloc(ROOM), head[256];
    double begun = bench_ns(), before = process_cpu(p->pid);
    int fd = peer_connect(p, 1);
    bool good = body && room && fd >= 0 && !fcntl(fd, F_SETFL, O_NONBLOCK);

    snprintf(head, sizeof head,
             "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\n"
             "Content-Type: text/plain\r\nContent-Length: %llu\r\n\r\n",
             path, (unsigned long long)n * (URL_LENGTH + 1));
    out->requests = out->seconds = 0;
    while (good && out->seconds < (double)s->seconds) {
        struct list_answers a = { .lines = 0 };

        good = exchange(fd, head, body, n * (URL_LENGTH + 1), &a, room) &&
               a.lines == n && !a.refused;
        out->requests += (double)n;
        out->seconds = (bench_ns() - begun) / 1e9;
    }
    out->spent = process_cpu(p->pid) - before;
    if (!good)
        fprintf(stderr, "seen: bench: %s: no answers to all of a list\n",
                p->name);
    if (fd >= 0)
        close(fd);
    free(room);
    free(body);
    return good;
}
