/*
 * ip.h - addresses in the place of a host, as the WHATWG standard reads and
 * writes them.
 *
 * An IPv4 address may have fewer parts than four, the last of which then
 * fills the rest, and each may be octal or hexadecimal: 0x7f.1 is 127.0.0.1.
 * A host whose last label is a number is an address or an error, never a
 * name.
 */
#ifndef SEEN_URL_IP_H
#define SEEN_URL_IP_H

#include <stdint.h>

#include "text.h"

/* Is the last label of the host a number, so that it must be an address? */
bool ip4_looks(const char *host, size_t len);

/* Read an IPv4 address; false if it is not one. */
bool ip4_read(uint32_t *ip, const char *host, size_t len);
void ip4_write(struct sink *to, uint32_t ip);

/* The same for IPv6, which is in brackets; they are not part of `host`. */
bool ip6_read(uint16_t ip[8], const char *host, size_t len);
void ip6_write(struct sink *to, const uint16_t ip[8]);

#endif
