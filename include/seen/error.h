/*
 * error.h - what went wrong, for programs and for people.
 *
 * What can fail returns a code, and takes an optional `why` as its last
 * argument, which it fills only on failure:
 *
 *     struct seen_error why;
 *
 *     if (seen_store_load(&f, "crawl.seen", NULL, &why) != SEEN_OK)
 *         fprintf(stderr, "crawl.seen: %s\n", why.text);
 *
 * Threads: a `why` belongs to the call that it was given to.
 */
#ifndef SEEN_ERROR_H
#define SEEN_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Numbered once and for good: programs and scripts store them. */
enum seen_code {
    SEEN_OK = 0,
    SEEN_NOMEM = 1,    /* the allocator refused */
    SEEN_RANGE = 2,    /* an argument is outside what its comment allows */
    SEEN_FULL = 3,     /* the filter holds all it was planned for */
    SEEN_MISMATCH = 4, /* two things that do not belong together */
    SEEN_CORRUPT = 5,  /* the bytes are not what the format promises */
    SEEN_IO = 6,       /* a system call failed; `system` says how */
    SEEN_BUSY = 7,     /* another writer has it open */
    SEEN_UNABLE = 8,   /* this kind of filter cannot do that */
    SEEN_EXISTS = 9,   /* something of that name is there already */
    SEEN_ABSENT = 10,  /* it is not there: a key that is to be removed */
    SEEN_BAD_URL = 11  /* a URL that its profile refuses */
};

/* "SEEN_RANGE" of SEEN_RANGE, for logs; "SEEN_UNKNOWN" of other numbers. */
const char *seen_code_name(enum seen_code code);

struct seen_error {
    enum seen_code code;
    int system;     /* errno for SEEN_IO, else 0 */
    uint64_t at;    /* the key in a batch, the byte in a text, or 0 */
    char text[160]; /* one clause in English: "a URL needs a host" */
};

/*
 * Fill `why`, unless it is NULL, and return `code`, to be returned in turn.
 * For SEEN_IO errno is recorded and its words are appended to the text.
 * Leaves errno as it was. Long texts are cut. For kinds of your own, too.
 */
enum seen_code seen_fail(struct seen_error *why, enum seen_code code,
                         uint64_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
