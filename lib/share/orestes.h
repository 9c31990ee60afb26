/*
 * orestes.h - the members of an Orestes JSON text, as a stream.
 */
#ifndef SEEN_SHARE_ORESTES_H
#define SEEN_SHARE_ORESTES_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/error.h>

struct orestes {
    uint64_t m, h; /* bits, probes */
    uint64_t b;    /* where the letters of b begin */
    bool has_m, has_h, has_b;

    int fd;
    char *text;
    size_t at, end;  /* what is read and not yet taken */
    uint64_t before; /* bytes of the file before `text` */
    bool over;       /* the file has no more */
    struct seen_error *why;
};

/* orestes_close() is due whether or not this succeeds. */
enum seen_code orestes_open(struct orestes *o, const char *path,
                            struct seen_error *why);
void orestes_close(struct orestes *o);

/*
 * One object with m, h and b, in any order, each once, and anything else
 * besides, and nothing after it. SEEN_CORRUPT has the byte in why->at.
 */
enum seen_code orestes_scan(struct orestes *o, struct seen_error *why);

/* The bytes of b, at most `room`; those behind its last stay as they are. */
enum seen_code orestes_bits(struct orestes *o, unsigned char *to, size_t room,
                            struct seen_error *why);

#endif
