/*
 * address.h - where a socket may be opened to: places that are allowed by
 * name, and the words for those that are not.
 *
 * A list of places is "127.0.0.1:8080,[::1]:80": numbers only, so that no
 * name can come to mean another one.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_FETCH_ADDRESS_H
#define SEEN_FETCH_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include <seen/error.h>

enum {
    PLACES = 16,       /* in a list, at most */
    ADDRESS_TEXT = 64, /* bytes of an address in words */
};

struct places {
    struct sockaddr_storage place[PLACES];
    unsigned count;
};

/* Read a list. SEEN_RANGE for what is no list, with the byte as position. */
enum seen_code places_read(struct places *list, const char *text,
                           struct seen_error *why);

/* Is this address, with its port, in the list? */
bool places_have(const struct places *list, const struct sockaddr *address);

/* "127.0.0.1" or "::1", without the port. */
void address_write(const struct sockaddr *address, char to[ADDRESS_TEXT]);

#endif
