/*
 * page.h - sheets as one page of HTML.
 *
 * The page needs no other file but its figures, no script and no network. It
 * is for screens of any width, light or dark, and for paper.
 *
 * Threads: one.
 */
#ifndef SEEN_LAB_PAGE_H
#define SEEN_LAB_PAGE_H

#include "content.h"

struct page {
    const struct lab *lab;
    struct sheet **sheet;
    size_t sheets, count; /* there are; there will be */
    double begin;         /* lab_clock() */
};

/* The text, which belongs to the caller. */
char *page_write(const struct page *p, size_t *len);

#endif
