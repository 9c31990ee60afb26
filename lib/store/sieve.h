/*
 * sieve.h - a log of keys without repetitions, in place of one that is four
 * times as long as it need be.
 *
 * Adds pay for it as they do for a larger filter (grow.h), which comes first:
 * then what was sieved is dropped.
 *
 *     checkpoint           store_sieve_look()
 *     adds, after each     store_sieve_work(), by one thread at a time
 *     alone, if due        store_sieve_swap()
 *     closed               store_sieve_end()
 */
#ifndef SEEN_STORE_SIEVE_H
#define SEEN_STORE_SIEVE_H

#include "writer.h"

enum { STORE_SIEVE_CLOSING = 1 << 24 }; /* keys, that closing waits for */

/* Is it time to begin? */
void store_sieve_look(struct store_writer *w);

/* Is there something to work on, and is it done? The mutex is locked. */
bool store_sieve_wanted(const struct store_writer *w);
bool store_sieve_due(const struct store_writer *w);

/* Work on about `pay` keys of the log, for a thread that counts as adding. */
void store_sieve_work(struct store_writer *w, uint64_t pay);

/* Alone: replace the log. It is as it was if that fails, which is not tried
   again before it is twice as long. */
void store_sieve_swap(struct store_writer *w);

/* Alone, after the checkpoint of a file that is closed: do all of it, if the
   log is not too long for that. */
void store_sieve_end(struct store_writer *w);

void store_sieve_cancel(struct store_writer *w);

#endif
