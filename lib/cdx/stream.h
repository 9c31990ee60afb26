/*
 * stream.h - the bytes of a file as they were before they were packed.
 *
 * Gzip goes through isa-l, which is 2.7 times as fast as zlib; zstd through
 * its own library. A gzip file is a sequence of members; a stream reports where
 * each begins, so that another reader can begin there.
 */
#ifndef SEEN_CDX_STREAM_H
#define SEEN_CDX_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

#include "../disk/inflate.h"

enum cdx_packing {
    CDX_PLAIN = 0,
    CDX_GZIP = 1,
    CDX_ZSTD = 2,
    CDX_DEFLATE = 3, /* a member of a zip file */
    CDX_ZIP = 4      /* the zip file, whose members are read instead */
};

/* The packing of a file that begins like this. */
enum cdx_packing cdx_packing_of(const char *head, size_t len);

/* A file from a place on, or a pipe of which some bytes were read already. */
struct cdx_raw {
    int fd; /* -1: there is only the head */
    bool seeks;
    uint64_t at;      /* the next byte of the file */
    uint64_t end;     /* where to stop, if before the end of the file; or 0 */
    uint64_t least;   /* where the file ended when it was found; or 0 */
    int failed;       /* errno of a read; CDX_SHORTER; or 0 */
    uint32_t crc;     /* that a deflated member must have */
    const char *head; /* what was already read from a pipe */
    size_t head_len;
};

/* What `failed` is if the file ends before `least`. */
enum { CDX_SHORTER = -1 };

/* Read until `room` is full, the file ends or a read fails: r->failed. What was
   read before that counts. */
size_t cdx_raw_read(struct cdx_raw *r, char *to, size_t room);

struct cdx_stream {
    enum cdx_packing packing;
    struct cdx_raw raw;
    char *in; /* packed bytes, from in_at to in_len */
    size_t in_at, in_len;
    bool in_end; /* the file has no more */
    struct inflate inflate;
    uint32_t crc; /* of the bytes of a deflated member so far */
    void *zstd;
    bool inside; /* a member or frame */
    bool ended;
    enum seen_code code; /* why it ended */
    struct seen_error why;

    /* Called where a gzip member begins, except for the first. */
    bool (*stop)(void *to, uint64_t at);
    void *to;
    uint64_t began;
    uint64_t member; /* where the last member begins, or what is not one */
    uint64_t out; /* bytes handed out */
    uint64_t end; /* how many of these came before stop() said yes */
    uint64_t met; /* where in the file it said so */
};

#define CDX_NOWHERE UINT64_MAX

/* Begin; what was allocated before is used again. SEEN_NOMEM. */
enum seen_code cdx_stream_begin(struct cdx_stream *s, enum cdx_packing packing,
                                struct cdx_raw raw, struct seen_error *why);
void cdx_stream_clear(struct cdx_stream *s);

/* Read until `room` is full; fewer bytes only at the end, see s->code. */
size_t cdx_stream_read(struct cdx_stream *s, char *to, size_t room);

/* Pass over n bytes that were not read yet; only of what is not packed. */
void cdx_stream_pass(struct cdx_stream *s, uint64_t n);

/*
 * Where the first gzip member begins, from raw.at to before `to`;
 * CDX_NOWHERE if none does. It must unpack, for 64 KiB or to its end, and
 * begin with `magic`.
 */
uint64_t cdx_member_find(struct cdx_raw raw, uint64_t to, const char *magic);

#endif
