/*
 * serve_limit.c - the least that a server of HTTP can do on this system.
 *
 * One thread waits with epoll, takes what a client sends with one recv(), and
 * answers each request in it with the same bytes, as many as an answer of ours
 * has, with one send(). It understands nothing, keeps no time and looks nothing
 * up. What is between its figure and ours is our work; what is below it is the
 * kernel's.
 */
#include "serve.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 1024, INPUT = 1 << 16, ANSWER = 544, MOST_AT_ONCE = 64 };

static const char ending[] = "\r\n\r\n";

static void make_answers(char *to)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";

    for (size_t i = 0; i < MOST_AT_ONCE; i++, to += ANSWER) {
        memset(to, '-', ANSWER);
        memcpy(to, head, sizeof head - 1);
        memcpy(to + ANSWER - 4, ending, 4);
    }
}

static void watch(int poll, int fd)
{
    struct epoll_event it = { .events = EPOLLIN, .data.fd = fd };

    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &it);
}

static void take_client(int poll, int listener)
{
    const int on = 1;
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(poll, fd);
}

/* wrk never sends half a request, nor more than 64 before it has answers. */
static void answer(int fd, char *in, const char *answers)
{
    const ssize_t n = recv(fd, in, INPUT, 0);
    const char *at = in;
    size_t requests = 0;

    if (n <= 0) {
        close(fd);
        return;
    }
    while ((at = memmem(at, (size_t)(in + n - at), ending, 4))) {
        at += 4;
        requests += requests < MOST_AT_ONCE;
    }
    if (requests && send(fd, answers, requests * ANSWER, MSG_NOSIGNAL) < 0)
        close(fd);
}

static void serve(void *with)
{
    static char in[INPUT], answers[MOST_AT_ONCE * ANSWER];
    struct epoll_event event[EVENTS];
    const int listener = *(const int *)with;
    const int poll = epoll_create1(EPOLL_CLOEXEC);

    make_answers(answers);
    watch(poll, listener);
    for (;;) {
        const int n = epoll_wait(poll, event, EVENTS, -1);

        for (int i = 0; i < n; i++)
            if (event[i].data.fd == listener)
                take_client(poll, listener);
            else
                answer(event[i].data.fd, in, answers);
    }
}

bool peer_limit(struct peer *p)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    p->name = "limit";
    p->port = peer_free_port();
    at.sin_port = htons((uint16_t)p->port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof at) &&
        !listen(fd, EVENTS))
        p->pid = process_fork(serve, &fd);
    if (fd >= 0)
        close(fd);
    return p->pid;
}
