/*
 * inflate.h - undo gzip and deflate, as the bytes come.
 *
 * A thin layer over isa-l, which is 2.7 times as fast as zlib. A gzip file is
 * a row of members; this unpacks one, and says where it ends. What follows
 * (another member, zeros, nothing) is for the caller to judge.
 *
 *     struct inflate z = { .state = NULL };
 *
 *     inflate_begin(&z, INFLATE_GZIP, &why);
 *     do
 *         result = inflate_some(&z, &in, &in_len, out, room, &made);
 *     while (result == INFLATE_MORE && (in_len || made == room));
 *     inflate_clear(&z);
 *
 * Threads: belongs to one thread at a time.
 */
#ifndef SEEN_DISK_INFLATE_H
#define SEEN_DISK_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

enum inflate_form {
    INFLATE_GZIP, /* a member, with its header and checksum */
    INFLATE_RAW,  /* deflate alone, as zip files have it */
    INFLATE_ZLIB  /* with the header and checksum of zlib */
};

enum inflate_result {
    INFLATE_MORE,  /* the member goes on: give more input, or more room */
    INFLATE_END,   /* it ended, and its checksum is right */
    INFLATE_DAMAGE /* the data is damaged; what was made is right, but a few
                      bytes before the damage may be missing */
};

struct inflate_state; /* isa-l's */

/* The parts of a gzip header, in their order, and what follows it. A zlib
   header has the first and the last. */
enum inflate_part {
    INFLATE_FIXED,
    INFLATE_EXTRA,
    INFLATE_NAME,
    INFLATE_COMMENT,
    INFLATE_CHECK,
    INFLATE_BODY
};

struct inflate {
    struct inflate_state *state;
    enum inflate_form form;
    enum inflate_part part;
    unsigned flags; /* those of the header */
    unsigned count; /* bytes of this part of the header so far */
    unsigned extra; /* bytes of its extra field */
    uint32_t crc;   /* checksum of the header so far */
};

/* Does a gzip member begin like this? */
bool inflate_is_gzip(const void *head, size_t len);

/* Does a zlib stream begin like this, one without a dictionary? Raw deflate may
   begin so by chance. */
bool inflate_is_zlib(const void *head, size_t len);

/* Begin a member; memory of an earlier one is used again. SEEN_NOMEM. */
enum seen_code inflate_begin(struct inflate *z, enum inflate_form form,
                             struct seen_error *why);

/*
 * Unpack until the input is used, the room is full or the member ends. *in
 * and *in_len become what was not used, *made is how many bytes were written.
 * Lengths are below 4 GiB. INFLATE_MORE with nothing used and nothing made
 * asks for more input; at the end of a file it means that the data was cut
 * short.
 */
enum inflate_result inflate_some(struct inflate *z, const void **in,
                                 size_t *in_len, void *out, size_t room,
                                 size_t *made);

void inflate_clear(struct inflate *z);

#endif
