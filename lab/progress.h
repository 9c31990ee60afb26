/*
 * progress.h - how far the lab has come, on a terminal.
 *
 *     table-5.9 (3 of 28): one filter, 45 %, 12 s left
 *
 * Nothing is shown where standard error is not a terminal.
 *
 * Threads: the main one.
 */
#ifndef SEEN_LAB_PROGRESS_H
#define SEEN_LAB_PROGRESS_H

/* The running experiment, number i of n. */
void lab_progress_experiment(const char *name, unsigned i, unsigned n);

/* `done` tasks of `count` are done since `begin` (clock_seconds()). */
void lab_progress_show(const char *what, unsigned done, unsigned count,
                       double begin);

/* Remove the line before a message or a table. */
void lab_progress_clear(void);

#endif
