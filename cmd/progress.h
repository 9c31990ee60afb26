/*
 * progress.h - the progress of long work, on a terminal.
 *
 *     [=============>              ]  45 %  31.2 M lines/s  12 s left
 *
 * and the number of URLs, if they are counted.
 *
 * Nothing is shown in the first half second, or if standard error is not a
 * terminal.
 *
 * Threads: one at a time.
 */
#ifndef SEEN_PROGRESS_H
#define SEEN_PROGRESS_H

#include <stdint.h>

/* Begin; `total` is the number of bytes, 0 if it is not known. */
void cmd_progress_begin(const char *what, uint64_t total);

/* What is done so far; 0 URLs: they are not counted. Call it often: it is
   cheap. */
void cmd_progress_at(uint64_t bytes, uint64_t lines, uint64_t urls);

/* The same for downloads: how many of all files are done. */
void cmd_progress_files(uint64_t done, uint64_t all, uint64_t bytes);

/* The same for a crawl: pages of this run, pages that wait, requests under
   way. */
void cmd_progress_pages(uint64_t pages, uint64_t waiting, uint64_t active,
                        uint64_t bytes);

/* Remove the line, at the end or before a message. */
void cmd_progress_clear(void);

#endif
