/* checking.h - the inside of a check, for check.c, references.c and index.c. */
#ifndef SEEN_WARC_CHECKING_H
#define SEEN_WARC_CHECKING_H

#include "../lib/text/buffer.h"
#include "catalogue.h"
#include "check.h"
#include "payload.h"
#include "source.h"

struct warc_check {
    void (*report)(void *owner, const struct warc_fault *fault);
    void *owner;
    struct warc_catalogue found;

    /* The file that is read. */
    struct warc_source s;
    struct warc_counts *counts;
    const char *path;

    /* The record that is read. */
    uint64_t at, number; /* number 0: there is none */
    struct warc_record r;
    struct buffer head;
    bool spanned; /* over several members */
    struct warc_hash block;
    struct warc_payload payload;
    struct warc_entry entry;
    enum seen_code code; /* what ended the check early */
    struct seen_error why;
};

/* Append a text for messages: control bytes become "?", and it is cut. */
void warc_show(char *to, size_t room, const char *text, size_t len);

/* The first bytes of a digest and its algorithm, as a number to compare. */
uint64_t warc_digest_print(const struct warc_algorithm *a,
                           const unsigned char *bytes);

#endif
