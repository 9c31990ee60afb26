/*
 * serve_peer.c - servers, ours and others, and connections to them.
 *
 * Each listens on a port of 127.0.0.1 that was free a moment ago. nginx gets
 * as many workers as we have threads, no access log, and connections that it
 * never closes; redis-server keeps nothing on disk, unless it has to promise
 * what our server promises.
 */
#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    START_MS = 120000, /* a filter may have to be read from a disk */
    TALK_MS = 10000,
    SETTLE_MS = 200,
    NAP_MS = 2,
    ARGUMENTS = 32
};

static struct sockaddr_in loopback(unsigned last, int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET };

    at.sin_port = htons((uint16_t)port);
    at.sin_addr.s_addr = htonl(0x7f000000u + last);
    return at;
}

/* Below the ports that the kernel chooses: it may give one of those to another
   process before our server listens. Processes begin at different numbers. */
int peer_free_port(void)
{
    enum { FIRST = 10000, PORTS = 22000 };
    static unsigned tried;

    for (unsigned left = PORTS; left; left--) {
        unsigned number = (unsigned)getpid() * 16 + tried++;
        int port = FIRST + (int)(number % PORTS);
        struct sockaddr_in at = loopback(1, port);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool free = fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof at);

        if (fd >= 0)
            close(fd);
        if (free)
            return port;
    }
    return 0;
}

/* --- connections --- */

int peer_connect(const struct peer *p, unsigned from)
{
    struct sockaddr_in us = loopback(from, 0), them = loopback(1, p->port);
    const struct linger at_once = { 1, 0 }; /* no port waits for stragglers */
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    if (!bind(fd, (struct sockaddr *)&us, sizeof us) &&
        !connect(fd, (struct sockaddr *)&them, sizeof them))
        return fd;
    close(fd);
    return -1;
}

bool peer_talk(const struct peer *p, const char *text, const char *end,
               char *reply, size_t room)
{
    int fd = peer_connect(p, 1);
    size_t used = 0, tail = strlen(end), len = strlen(text);
    struct pollfd it = { fd, POLLIN, 0 };
    bool good = false;

    if (fd < 0)
        return false;
    if (send(fd, text, len, MSG_NOSIGNAL) == (ssize_t)len)
        while (!good && used + 1 < room && poll(&it, 1, TALK_MS) > 0) {
            ssize_t got = recv(fd, reply + used, room - 1 - used, 0);

            if (got <= 0)
                break;
            used += (size_t)got;
            good = used >= tail && !memcmp(reply + used - tail, end, tail);
        }
    reply[used] = '\0';
    close(fd);
    return good;
}

/* --- life --- */

bool peer_start(struct peer *p, const char *name, const char *const *argv)
{
    char err[64];

    p->name = name;
    snprintf(err, sizeof err, "%s.err", name);
    p->pid = process_start(argv, "server.out", err);
    for (int waited = 0; p->pid && waited < START_MS; waited += NAP_MS) {
        int fd = peer_connect(p, 1);

        if (fd >= 0) {
            close(fd);
            return true;
        }
        if (waitpid(p->pid, NULL, WNOHANG)) {
            p->pid = 0;
            break;
        }
        process_sleep(NAP_MS);
    }
    fprintf(stderr, "seen: bench: %s does not answer\n", name);
    process_show(err);
    process_stop(&p->pid);
    return false;
}

void peer_settle(const struct peer *p)
{
    double spent = process_cpu(p->pid), before = -1;

    for (int waited = 0; waited < START_MS && spent > before;
         waited += SETTLE_MS) {
        process_sleep(SETTLE_MS);
        before = spent;
        spent = process_cpu(p->pid);
    }
}

bool peer_seen(struct peer *p, const struct load_options *s,
               const char *const *more)
{
    const char *argv[ARGUMENTS] = { s->seen, "serve", "--listen" };
    char listen_at[64], threads[16];
    size_t n = 3;

    p->port = peer_free_port();
    snprintf(listen_at, sizeof listen_at, "127.0.0.1:%d", p->port);
    snprintf(threads, sizeof threads, "%u", (unsigned)s->threads);
    argv[n++] = listen_at;
    argv[n++] = "--threads";
    argv[n++] = threads;
    while (*more && n < ARGUMENTS - 1)
        argv[n++] = *more++;
    return peer_start(p, "seen", argv);
}

bool peer_nginx(struct peer *p, const struct load_options *s)
{
    const char *program = process_find("nginx");
    char config[PATH_ROOM], log[PATH_ROOM];
    const char *argv[] = { program, "-p", process_folder(), "-e",
                           log,     "-c", config,           NULL };
    FILE *file;

    if (!program)
        return false;
    p->port = peer_free_port();
    process_path(config, "nginx.conf");
    process_path(log, "nginx.log");
    file = fopen(config, "we");
    if (!file)
        return false;
    fprintf(file,
            "daemon off;\n"
            "worker_processes %u;\n"
            "pid nginx.pid;\n"
            "error_log nginx.log;\n"
            "events { worker_connections 16384; }\n"
            "http {\n"
            "    access_log off;\n"
            "    keepalive_requests 1000000000;\n"
            "    keepalive_timeout 600s;\n"
            "    client_body_temp_path body;\n"
            "    proxy_temp_path proxy;\n"
            "    fastcgi_temp_path fastcgi;\n"
            "    uwsgi_temp_path uwsgi;\n"
            "    scgi_temp_path scgi;\n"
            "    server {\n"
            "        listen 127.0.0.1:%d backlog=4096;\n"
            "        location / { return 200; }\n"
            "    }\n"
            "}\n",
            (unsigned)s->threads, p->port);
    if (fclose(file))
        return false;
    return peer_start(p, "nginx", argv);
}

bool peer_redis(struct peer *p, const char *fsync)
{
    const char *program = process_find("redis-server");
    char port[16], folder[32];
    const char *argv[] = { program,
                           "--port",
                           port,
                           "--bind",
                           "127.0.0.1",
                           "--save",
                           "",
                           "--appendonly",
                           fsync ? "yes" : "no",
                           "--appendfsync",
                           fsync ? fsync : "no",
                           "--appenddirname",
                           folder,
                           "--dir",
                           process_folder(),
                           "--daemonize",
                           "no",
                           NULL };

    if (!program)
        return false;
    p->port = peer_free_port();
    snprintf(port, sizeof port, "%d", p->port);
    snprintf(folder, sizeof folder, "aof-%d", p->port);
    return peer_start(p, "redis-server", argv);
}
