/*
 * progress.h - how far long work has come, for who waits at a terminal.
 *
 *     [=============>              ]  45 %  31.2 M lines/s  12 s left
 *
 * and, where URLs are counted apart from lines, how many they are.
 *
 * Nothing is shown in the first half second, nor where standard error is not
 * a terminal.
 *
 * Threads: one at a time.
 */
#ifndef SEEN_PROGRESS_H
#define SEEN_PROGRESS_H

#include <stdint.h>

/* Begin, with the bytes there are in all; 0: that is not known. */
void cmd_progress_begin(const char *what, uint64_t total);

/* So many bytes, lines and URLs (0: not counted apart) are done. Call it
   often: it is cheap. */
void cmd_progress_at(uint64_t bytes, uint64_t lines, uint64_t urls);

/* The same for what comes over the net: files done, of so many. */
void cmd_progress_files(uint64_t done, uint64_t all, uint64_t bytes);

/* Take the line away, since the work is done or a message comes. */
void cmd_progress_clear(void);

#endif
