/*
 * guard.h - files that another program cuts short while they are mapped.
 *
 * Reading a mapped page beyond the end of its file kills the process with
 * SIGBUS, and with it the service of all other archives. With guard_install()
 * an empty page is mapped there instead, and the filter fails from then on
 * (seen_store_fault()). Between guard_begin() and guard_end() a thread finds
 * out whether that happened to it:
 *
 *     guard_begin();
 *     code = seen_filter_has(f, key, n, seen, why);
 *     if (guard_end())
 *         the answers are worthless, and f must not be used again
 *
 * Threads: each thread guards itself. Guards do not nest.
 */
#ifndef SEEN_SERVE_ARCHIVES_GUARD_H
#define SEEN_SERVE_ARCHIVES_GUARD_H

#include <stdbool.h>

void guard_install(void); /* once, for the process */
void guard_begin(void);
bool guard_end(void);

#endif
