/*
 * wait.h - wait a moment for a filter that another process writes.
 *
 *     struct wait w = { .given = 0 };      the usual time
 *
 *     do
 *         code = seen_store_claim(&claim, path, &why);
 *     while (wait_again(&w, code));
 *
 * Most writers are done in a moment: `seen publish`, which copies a filter
 * under its lock, or a `seen add` of a few URLs. Without the wait, a job that
 * comes a moment too early would fail, and a build would lose its work.
 */
#ifndef SEEN_WAIT_H
#define SEEN_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/error.h>

enum { WAIT_SECONDS = 5 };

struct wait {
    uint64_t given; /* s in all, at most, and one more; 0: WAIT_SECONDS */
    double until;   /* 0: before the first wait */
};

/* clang-format off */
#define WAIT_OPTION(type, field)                                            \
    { "wait", 0, SECONDS_OR_NONE, "TIME", offsetof(type, field.given),      \
      "how long to wait if another process writes the filter; default 5s" }
/* clang-format on */

/* Try again after `code`? Only after SEEN_BUSY and before the time is over;
   sleeps a moment first. */
bool wait_again(struct wait *w, enum seen_code code);

#endif
