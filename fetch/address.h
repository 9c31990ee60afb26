/*
 * address.h - addresses that are allowed although they are not public.
 *
 * A list of places is "127.0.0.1:8080,[::1]:80": numbers only, since a name
 * could come to mean another address.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_FETCH_ADDRESS_H
#define SEEN_FETCH_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include <seen/error.h>

enum {
    FETCH_PLACES = 16,       /* in a list, at most */
    FETCH_ADDRESS = 64, /* bytes of an address as text */
};

struct fetch_places {
    struct sockaddr_storage place[FETCH_PLACES];
    unsigned count;
};

/* Read a list. SEEN_RANGE if it is not one, with the byte as position. */
enum seen_code fetch_places_read(struct fetch_places *list, const char *text,
                                 struct seen_error *why);

/* Is this address, with its port, in the list? */
bool fetch_places_have(const struct fetch_places *list,
                       const struct sockaddr *address);

/* "127.0.0.1" or "::1", without the port. */
void fetch_address_write(const struct sockaddr *address,
                         char to[FETCH_ADDRESS]);

#endif
