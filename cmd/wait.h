/*
 * wait.h - a filter that another writer has is worth a short wait.
 *
 *     struct wait w = { .seconds = WAIT_SECONDS };
 *
 *     do
 *         code = seen_store_claim(&claim, path, &why);
 *     while (wait_again(&w, code));
 *
 * Most who write are done in a moment: `seen publish`, which copies a filter
 * under its lock, or a `seen add` of a few URLs. Failing at once would break
 * the job that came a moment too soon, and a build would lose its work.
 */
#ifndef SEEN_WAIT_H
#define SEEN_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/error.h>

enum { WAIT_SECONDS = 5 };

struct wait {
    uint64_t seconds; /* at most, in all */
    double until;     /* 0: nobody has waited yet */
};

/* clang-format off */
#define WAIT_OPTION(type, field)                                            \
    { "wait", 0, SEED, "SECONDS", offsetof(type, field.seconds),            \
      "if another writer has the filter, wait for it so long; default 5" }
/* clang-format on */

/* After a try that ended with `code`: is another one due? Sleeps before it
   says yes, which it does only after SEEN_BUSY. */
bool wait_again(struct wait *w, enum seen_code code);

#endif
