/*
 * pass.h - one pass over all inputs, with several threads.
 *
 * Each thread takes a block, makes keys of its lines and hands them to
 * take(), batch by batch. What there is to tell (lines, bad ones, trouble)
 * is put together in the order of the input, so that it does not depend on
 * who was faster.
 */
#ifndef SEEN_PASS_H
#define SEEN_PASS_H

#include <pthread.h>

#include "batch.h"
#include "command.h"

struct pass {
    /* Given: */
    const char *what;                   /* for the progress line */
    const char *const *input;
    size_t inputs;
    unsigned threads;
    struct reading reading;
    FILE *keep;                         /* bad lines, if reading.keep */
    enum seen_code (*take)(void *to, unsigned thread, struct batch *batch,
                           struct seen_error *why);
    /* Each thread, when it has no more to take; or NULL. */
    enum seen_code (*end)(void *to, unsigned thread, struct seen_error *why);
    void *to;

    /* Found: */
    uint64_t lines, urls;               /* the latter as take() left them */
    struct rejects rejects;
    enum seen_code code;                /* what take() or end() failed with */
    struct seen_error why;

    /* Within: */
    struct lines reader;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    uint64_t taken, folded;             /* blocks */
    uint64_t before;                    /* lines of this input */
    bool stop, failed;
};

/*
 * Make the pass. TROUBLE if an input could not be read, after a message; if
 * reading is strict and a line was bad; or if take() failed, for which the
 * caller has the words.
 */
enum outcome pass_run(struct pass *p);
void pass_clear(struct pass *p);

/* As many threads as there are processors, or as many as were asked for. */
unsigned pass_threads(uint64_t asked);

#endif
