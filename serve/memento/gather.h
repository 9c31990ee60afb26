/*
 * gather.h - the aggregator: TimeMaps of many archives as one, and the closest
 * memento of all of them.
 *
 *     memento_open(&m, &options, &why);
 *     q->url = ..., q->source = ..., q->done = done;
 *     if (!memento_ask(m, q))                  from any thread
 *         answer(503);
 *     ...                                      done(q), in the thread of m
 *     memento_close(m);
 *
 * memento_fetch() does the same for one memento (copy.h).
 *
 * One thread has the HTTP client, the cache and all that is under way. libcurl
 * could run on the server's own event loops instead. But each loop would then
 * have connections and a cache of its own, two loops would ask an archive the
 * same, and a loop that parses and sorts a hundred thousand mementos answers
 * no lookups meanwhile. Here a loop hands over a question and gets a TimeMap,
 * which costs it microseconds; nothing that an archive sends is ever parsed
 * by a loop.
 *
 * A question for the closest memento asks TimeGates where there are some
 * (ask.h). It is answered from a whole TimeMap if one is in the cache, and
 * otherwise for itself: another date is another question.
 *
 * Questions for the same URL that arrive while it is being gathered share the
 * answer. So an aggregator that is, by way of others, an archive of itself
 * waits until its deadline, and asks nobody twice.
 *
 * An archive that three times in a row cannot be reached or sends no memento
 * in time rests for 30 seconds: it is reported as failed, and nobody waits for
 * it. Otherwise one silent archive would hold up the questions to all others.
 *
 * Threads: memento_ask(), memento_fetch(), memento_count() and the list are for
 * any thread.
 */
#ifndef SEEN_SERVE_MEMENTO_GATHER_H
#define SEEN_SERVE_MEMENTO_GATHER_H

#include "../../fetch/fetch.h"
#include "copy.h"
#include "memento_list.h"
#include "memento_timemap.h"

struct memento;

/* Defaults, for members that are 0 or NULL, are in brackets. */
struct memento_options {
    const char *archives;       /* file with a list of archives [none] */
    struct fetch_options fetch; /* guards of the client */
    unsigned patience;          /* seconds for an archive [10] */
    uint64_t cache;             /* bytes of TimeMaps that are kept [64 MiB] */
    uint64_t keep;              /* seconds for which they are [600] */
    uint64_t memory;            /* bytes of those under way [256 MiB] */
    uint64_t most;              /* mementos of an archive's TimeMap, which may
                                   have 336 bytes for each, and 64 KiB [any
                                   number in MEMENTO_BYTES] */
};

struct memento_question {
    const char *url; /* whose mementos; texts are the caller's, until done() */
    const struct memento_source *source;
    size_t sources;
    bool closest; /* only the memento that is closest to */
    int64_t when; /* this time, and those around it */
    /* There is an answer, or there will be none: then `timemap` is NULL. */
    void (*done)(struct memento_question *q);

    struct memento_timemap *timemap; /* a reference is the caller's */
    bool cached;
    uint64_t asked; /* by clock_ms() */
    struct memento_question *next;
};

/* Why SEEN_CORRUPT, SEEN_IO: the list; SEEN_RANGE: the fetch options. */
enum seen_code memento_open(struct memento **out,
                            const struct memento_options *options,
                            struct seen_error *why);

/* Ends its thread; done() of all questions was called then. NULL is welcome. */
void memento_close(struct memento *m);

const struct memento_list *memento_archives(const struct memento *m);

/* False if there is too much to do already: done() is not called. */
bool memento_ask(struct memento *m, struct memento_question *q);

/* Fetch a memento. False if there is too much to do already: done() is not
   called. */
bool memento_fetch(struct memento *m, struct memento_copy *c);

/* Archives that were not asked, since their filters say no. */
void memento_spare(struct memento *m, size_t archives);

struct memento_counts {
    uint64_t questions, cached, shared; /* answered from the cache; together
                                           with another one */
    uint64_t requests; /* to archives, with further pages */
    uint64_t spared, failed; /* archives not asked; archives that failed */
};
struct memento_counts memento_count(const struct memento *m);

#endif
