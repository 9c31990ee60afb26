/*
 * classify_notify.h - run a program for each change.
 *
 *     n = classify_notify_open(&options);
 *     classify_notify_put(n, &answers, record, records);   after the commit
 *     classify_notify_wait(n);                   all programs have ended
 *     classify_notify_report(n);
 *     classify_notify_close(n);
 *
 * The program is started without a shell and without arguments. Its standard
 * input is the answer as a line of JSON and the record as another; its output
 * goes to standard error. In its environment are
 *
 *     SEEN_CLASS  the class       SEEN_URL  the URL       SEEN_ID  the record's
 *
 * At most `parallel` programs run at a time, and at most `rate` are started
 * per second: classification waits for them. One that runs longer than
 * `timeout` seconds is killed with its process group. Those that fail are
 * counted and not repeated.
 *
 * Threads: one at a time.
 */
#ifndef SEEN_CMD_CLASSIFY_NOTIFY_H
#define SEEN_CMD_CLASSIFY_NOTIFY_H

#include <signal.h>

#include "../change/answer.h"

struct classify_notify_options {
    const char *program;
    const char *classes; /* "new,updated"; NULL: all that are changes */
    double rate;         /* programs per second; 0: 10 */
    uint64_t parallel;   /* 0: 4 */
    uint64_t timeout;    /* s; 0: 30 */
    const volatile sig_atomic_t *stopped; /* no more programs start */
};

struct classify_notify;

/* NULL after a message: a class that does not exist, or no memory. */
struct classify_notify *classify_notify_open(
    const struct classify_notify_options *options);
void classify_notify_close(struct classify_notify *n); /* waits */

/* Programs for the answers of a batch; answers that a redelivery repeats have
   none. False if it was stopped before the last of them. */
bool classify_notify_put(struct classify_notify *n,
                         const struct change_answers *answers,
                         const struct change_record *record, size_t records);

/* The same for one answer without its record. */
bool classify_notify_one(struct classify_notify *n,
                         const struct change_answer *a,
                         struct seen_span record);

/* Until all programs have ended, or were killed. */
void classify_notify_wait(struct classify_notify *n);

/* How many were started, failed and killed, as lines for people. */
void classify_notify_report(const struct classify_notify *n);

#endif
