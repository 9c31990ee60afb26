/*
 * pass.h - one pass over all inputs, with several threads.
 *
 * Each thread takes a piece of a source, makes keys of its captures and hands
 * them to take(), batch by batch. What there is to tell (lines, bad ones,
 * trouble) is put together in the order of the input, so that it does not
 * depend on who was faster.
 */
#ifndef SEEN_PASS_H
#define SEEN_PASS_H

#include <pthread.h>

#include <seen/cdx.h>

#include "batch.h"
#include "command.h"
#include "select.h"

/* What was found so far. */
struct found {
    uint64_t lines;    /* of text; records, of a WARC file */
    uint64_t captures; /* of them, those that were selected */
    uint64_t urls;     /* captures, of adjacent ones of one URL the first */
    uint64_t repaired, derived; /* keys: see seen/cdx.h */
};

struct pass {
    /* Given: */
    const char *what; /* for the progress line */
    struct seen_source *source;
    unsigned threads;
    struct seen_keying keying;
    const struct select *select;
    bool every;  /* adjacent captures of one URL count each */
    bool strict; /* take no more after the first bad line */
    FILE *keep;  /* bad lines; or NULL */
    enum seen_code (*take)(void *to, unsigned thread, struct batch *batch,
                           struct seen_error *why);
    /* Each thread, when it has no more to take; or NULL. */
    enum seen_code (*end)(void *to, unsigned thread, struct seen_error *why);
    /* About every `interval` seconds, when no thread is at work; or NULL. */
    enum seen_code (*pause)(void *to, struct seen_error *why);
    double interval;
    void *to;

    /* Found: */
    struct found found;
    struct rejects rejects;
    enum seen_code code; /* what take(), end() or pause() failed with */
    struct seen_error why;
    uint64_t before; /* lines of this input */
    uint64_t bytes;

    /* Within: */
    pthread_mutex_t lock;
    pthread_cond_t turn;
    uint64_t taken, folded; /* pieces */
    double due;
    bool several; /* inputs: lines bear their names */
    bool stop, pausing;
};

/*
 * Make the pass. TROUBLE if it is strict and a line was bad, or if take()
 * failed, for which the caller has the words.
 */
enum outcome pass_run(struct pass *p);
void pass_clear(struct pass *p);

/* As many threads as there are processors, or as many as were asked for. */
unsigned pass_threads(uint64_t asked);

/*
 * Open the inputs, with a message if one cannot be read. What cannot be read
 * below a folder is told and left out, or is trouble if `strict`.
 */
enum outcome source_open(struct seen_source **out, const char *const *input,
                         size_t n, bool strict);

#endif
