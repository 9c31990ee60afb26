/*
 * loop.c - libcurl's sockets and its one timer in an epoll.
 *
 * libcurl reports which sockets it waits for (on_socket) and when it wants to
 * be called although none is ready (on_timer); curl_multi_socket_action() is
 * how it is called.
 */
#include "loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../lib/disk/clock.h"

enum { EVENTS = 256 }; /* per turn */

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *owner,
                     void *ours)
{
    struct fetch_loop *loop = owner;
    struct epoll_event event = { .events = 0, .data.fd = fd };

    (void)easy;
    (void)ours;
    if (what == CURL_POLL_REMOVE) { /* it may be closed already */
        epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) |
                   (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) &&
        (errno != EEXIST || epoll_ctl(loop->epoll, EPOLL_CTL_MOD, fd, &event)))
        return -1; /* the multi fails, and all of its transfers */
    return 0;
}

static int on_timer(CURLM *multi, long milliseconds, void *owner)
{
    struct fetch_loop *loop = owner;

    (void)multi;
    loop->due = milliseconds < 0 ? UINT64_MAX
                                 : clock_ms() + (uint64_t)milliseconds;
    return 0;
}

enum seen_code fetch_loop_open(struct fetch_loop *loop, CURLM *multi,
                               struct seen_error *why)
{
    struct epoll_event event = { .events = EPOLLIN };

    *loop = (struct fetch_loop){
        .multi = multi, .epoll = -1, .wakes = -1, .due = UINT64_MAX
    };
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll < 0)
        return seen_fail(why, SEEN_IO, 0, "no descriptor to wait with");
    loop->wakes = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    event.data.fd = loop->wakes;
    if (loop->wakes < 0 ||
        epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->wakes, &event)) {
        enum seen_code code = seen_fail(why, SEEN_IO, 0,
                                        "no descriptor to wait with");

        fetch_loop_close(loop);
        return code;
    }
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, loop);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, loop);
    return SEEN_OK;
}

void fetch_loop_close(struct fetch_loop *loop)
{
    if (loop->wakes >= 0)
        close(loop->wakes);
    if (loop->epoll >= 0)
        close(loop->epoll);
    loop->epoll = loop->wakes = -1;
}

/* The timer is off while libcurl is called for it: libcurl does not repeat a
   time that it has set before. */
CURLMcode fetch_loop_timer(struct fetch_loop *loop)
{
    int running;

    if (loop->due > clock_ms())
        return CURLM_OK;
    loop->due = UINT64_MAX;
    return curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0,
                                    &running);
}

static CURLMcode run_event(struct fetch_loop *loop,
                           const struct epoll_event *event)
{
    uint64_t times;
    int running, what = 0;

    if (event->data.fd == loop->wakes) {
        ssize_t got = read(loop->wakes, &times, sizeof times);

        (void)got; /* there may be nothing: another turn has read it */
        return CURLM_OK;
    }
    if (event->events & EPOLLIN)
        what |= CURL_CSELECT_IN;
    if (event->events & EPOLLOUT)
        what |= CURL_CSELECT_OUT;
    /* CURL_CSELECT_ERR is not passed on: reading and writing find the fault,
       and what was received before it as well. */
    if (event->events & (EPOLLERR | EPOLLHUP))
        what |= CURL_CSELECT_IN | CURL_CSELECT_OUT;
    return curl_multi_socket_action(loop->multi, event->data.fd, what,
                                    &running);
}

CURLMcode fetch_loop_wait(struct fetch_loop *loop, int milliseconds)
{
    struct epoll_event events[EVENTS];
    uint64_t now = clock_ms();
    CURLMcode fault = CURLM_OK;
    int n;

    if (loop->due < now + (unsigned)milliseconds)
        milliseconds = loop->due > now ? (int)(loop->due - now) : 0;
    n = epoll_wait(loop->epoll, events, EVENTS, milliseconds);
    for (int i = 0; i < n && fault == CURLM_OK; i++)
        fault = run_event(loop, &events[i]);
    return fault == CURLM_OK ? fetch_loop_timer(loop) : fault;
}

void fetch_loop_wake(struct fetch_loop *loop)
{
    const uint64_t once = 1;
    ssize_t put = write(loop->wakes, &once, sizeof once);

    (void)put; /* a counter that is full wakes as well */
}
