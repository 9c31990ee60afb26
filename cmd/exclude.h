/*
 * exclude.h - a list of URLs to leave out, exactly: a set of their 128-bit
 * hashes. Of a billion URLs and a list of a million, one is left out wrongly
 * with a chance of 10^-24.
 *
 * A line that ends with a star leaves out all that begins as it does: after
 * "https://a.example/" a whole host, after "https://a.example/members/" that
 * folder and what is in it.
 */
#ifndef SEEN_EXCLUDE_H
#define SEEN_EXCLUDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/cdx.h>

struct exclude {
    uint64_t (*slot)[2];        /* of both 0: free */
    size_t slots, used;         /* a power of two; less than half */
    uint16_t *length;           /* of beginnings in the list, ascending */
    size_t lengths;
};

/* Read the list at `path`; false after a message. Keys of an index are
   derived unless they are to be trusted. */
bool exclude_read(struct exclude *e, const char *path,
                  const struct seen_keying *keying);
bool exclude_add(struct exclude *e, const struct seen_key *key);
void exclude_clear(struct exclude *e);

/* The key needs its text if the list has beginnings. */
bool exclude_has(const struct exclude *e, const struct seen_key *key);

#endif
