/*
 * guard.h - files that another program cuts short while they are mapped.
 *
 * Reading what is no longer there ends a process with SIGBUS, and with it
 * the answers of all other archives. Between guard_begin() and guard_end()
 * an empty page is laid there instead, and that is remembered:
 *
 *     guard_begin();
 *     code = seen_filter_has(f, key, n, seen, why);
 *     if (guard_end())
 *         what was read is worth nothing, and f is not to be asked again
 *
 * Not for what writes to files as a whole: what empty pages have replaced
 * would be sealed as good.
 *
 * Threads: each guards itself. Guards do not nest.
 */
#ifndef SEEN_SERVE_ARCHIVES_GUARD_H
#define SEEN_SERVE_ARCHIVES_GUARD_H

#include <stdbool.h>

void guard_install(void); /* once, for the process */
void guard_begin(void);
bool guard_end(void);

#endif
