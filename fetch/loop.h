/*
 * loop.h - wait for the sockets of libcurl, by epoll.
 *
 * libcurl can wait by itself, but then looks at all of its transfers in each
 * turn, so that a turn with a thousand of them costs as much as a thousand
 * turns with one. Here a turn costs what happened in it.
 *
 *     fetch_loop_open(&loop, multi, &why);
 *     for (;;) {
 *         add transfers to the multi;
 *         fetch_loop_timer(&loop);                         they begin
 *         fetch_loop_wait(&loop, 1000);
 *         curl_multi_info_read(multi, ...);
 *     }
 *     curl_multi_cleanup(multi);
 *     fetch_loop_close(&loop);
 *
 * Threads: belongs to one thread, but for fetch_loop_wake().
 */
#ifndef SEEN_FETCH_LOOP_H
#define SEEN_FETCH_LOOP_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include <seen/error.h>

struct fetch_loop {
    CURLM *multi;
    int epoll, wakes; /* descriptors; the second one is an eventfd */
    uint64_t due;     /* when libcurl wants to be called, by clock_ms() */
};

/* The loop stays where it is until it is closed. SEEN_IO if there are no
   descriptors; then it need not be closed. */
enum seen_code fetch_loop_open(struct fetch_loop *loop, CURLM *multi,
                               struct seen_error *why);
void fetch_loop_close(struct fetch_loop *loop);

/* Let libcurl do what is due by now. */
CURLMcode fetch_loop_timer(struct fetch_loop *loop);

/* Wait for at most this many milliseconds until something happens, and let
   libcurl handle it. */
CURLMcode fetch_loop_wait(struct fetch_loop *loop, int milliseconds);

/* End a wait, or the next one if there is none. From any thread, and from
   signal handlers. */
void fetch_loop_wake(struct fetch_loop *loop);

#endif
