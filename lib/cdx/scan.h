/*
 * scan.h - where does a line end, and how many columns has it?
 *
 * One pass over the line answers both, 16 bytes at a time (32 where AVX2 is
 * there). It may look at PADDING bytes past `end`, but not use them.
 */
#ifndef SEEN_CDX_SCAN_H
#define SEEN_CDX_SCAN_H

#include <stddef.h>

struct scan {
    const char *stop;  /* the newline, or the end */
    const char *first; /* the first delimiter, or `stop` */
    unsigned delimiters;
};

typedef void scan_line(struct scan *s, const char *at, const char *end,
                       char delimiter);

/* The portable one, and the fastest that this machine has. */
scan_line scan_portable;
scan_line *scan_fastest(void);

#endif
