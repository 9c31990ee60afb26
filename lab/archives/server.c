/* server.c - start and stop a redis-server. */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lab.h"

enum { WAIT_MS = 10000, PAUSE_MS = 20 };

static bool in_path(const char *program)
{
    const char *path = getenv("PATH");
    char file[4096];

    for (const char *at = path ? path : "/usr/bin"; *at;) {
        size_t len = strcspn(at, ":");

        if (snprintf(file, sizeof file, "%.*s/%s", (int)len, at, program) <
                (int)sizeof file &&
            !access(file, X_OK))
            return true;
        at += len + (at[len] == ':');
    }
    return false;
}

/* A socket of the loopback; *port 0 becomes a free one. */
static int loopback(unsigned *port, bool listens)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)*port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && ((listens ? bind(fd, (struct sockaddr *)&at, len)
                             : connect(fd, (struct sockaddr *)&at, len)) < 0 ||
                    getsockname(fd, (struct sockaddr *)&at, &len) < 0)) {
        close(fd);
        return -1;
    }
    if (listens)
        *port = ntohs(at.sin_port);
    return fd;
}

static void become(const char *folder, unsigned port, bool aof, pid_t parent)
{
    char number[16];
    int none = open("/dev/null", O_RDWR);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    for (int fd = 0; fd < 3 && none >= 0; fd++)
        dup2(none, fd);
    snprintf(number, sizeof number, "%u", port % 65536);
    execlp("redis-server", "redis-server", "--port", number, "--bind",
           "127.0.0.1", "--save", "", "--dir", folder, "--appendonly",
           aof ? "yes" : "no", "--appendfsync", "everysec", (char *)NULL);
    _exit(127);
}

static void await(struct lab_server *s, unsigned port)
{
    const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000 };

    for (int i = 0; i < WAIT_MS / PAUSE_MS; i++) {
        int fd = loopback(&port, false), status;

        if (fd >= 0) {
            close(fd);
            return;
        }
        if (waitpid(s->pid, &status, WNOHANG) == s->pid) {
            s->pid = 0;
            break;
        }
        nanosleep(&pause, NULL);
    }
    lab_server_stop(s);
    lab_fail("redis-server does not start");
}

bool lab_server_start(struct lab_server *s, const char *folder, bool aof)
{
    pid_t parent = getpid();
    unsigned port = 0;
    int fd;

    *s = (struct lab_server){ .pid = 0 };
    if (!in_path("redis-server"))
        return false;
    fd = loopback(&port, true);
    if (fd < 0)
        lab_fail("no free port: %s", strerror(errno));
    close(fd);
    s->pid = fork();
    if (s->pid < 0) {
        s->pid = 0;
        lab_fail("redis-server: %s", strerror(errno));
    }
    if (!s->pid)
        become(folder, port, aof, parent);
    await(s, port);
    snprintf(s->address, sizeof s->address,
             "redis://127.0.0.1:%u/table-1?timeout=60", port);
    return true;
}

void lab_server_stop(struct lab_server *s)
{
    if (!s->pid)
        return;
    kill(s->pid, SIGKILL);
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    s->pid = 0;
}
