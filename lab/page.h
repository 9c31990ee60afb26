/*
 * page.h - sections as one page of HTML.
 *
 * The page needs no other file but its figures, no script and no network. It
 * is for screens of any width, light or dark, and for paper.
 *
 * Threads: one.
 */
#ifndef SEEN_LAB_PAGE_H
#define SEEN_LAB_PAGE_H

#include "../lib/text/buffer.h"
#include "content.h"

struct report_page {
    const struct lab *lab;
    struct section **section;
    size_t sections, count; /* there are; there will be */
    double begin;         /* clock_seconds() */
};

/* Append the text of the page. */
void page_write(const struct report_page *p, struct buffer *to);

#endif
