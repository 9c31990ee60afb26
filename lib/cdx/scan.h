/*
 * scan.h - where does a line end, how many columns has it, and is its key
 * one that can be hashed as it stands?
 *
 * One pass over the line and one over the key answer that, 32 or 64 bytes at
 * a time. They may look at PADDING bytes past the end, but not use them.
 */
#ifndef SEEN_CDX_SCAN_H
#define SEEN_CDX_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct cdx_line_scan {
    const char *stop;  /* the newline, or the end */
    const char *first; /* the first delimiter, or `stop` */
    unsigned delimiters;
};

struct cdx_key_scan {
    bool controls; /* there are bytes below 0x20, or 0x7f */
    bool surt;     /* a SURT of our form: nothing needs to be put right */
};

struct cdx_scanner {
    void (*line)(struct cdx_line_scan *s, const char *at, const char *end,
                 char delimiter);
    void (*key)(struct cdx_key_scan *s, const char *text, size_t len);
};

/* The portable one is the truth; the last is the fastest there is here. */
extern const struct cdx_scanner cdx_scanner_portable;
const struct cdx_scanner *cdx_scanner_fastest(void);

/* All that this machine can run, ending with NULL, for tests. */
const struct cdx_scanner *const *cdx_scanner_all(void);

#endif
