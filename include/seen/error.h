/*
 * error.h - what went wrong, for programs and for people.
 *
 * A function that can fail returns a code. Its last argument, `why`, may be
 * NULL and is filled on failure only:
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

/* The numbers never change: programs and scripts store them. */
enum seen_code {
    SEEN_OK = 0,
    SEEN_NOMEM = 1,    /* out of memory */
    SEEN_RANGE = 2,    /* an argument is not one that its comment allows */
    SEEN_FULL = 3,     /* the filter is at its planned capacity */
    SEEN_MISMATCH = 4, /* two things do not fit together */
    SEEN_CORRUPT = 5,  /* the bytes violate the format */
    SEEN_IO = 6,       /* a system call failed; `system` has errno */
    SEEN_BUSY = 7,     /* another writer has it open */
    SEEN_UNABLE = 8,   /* this kind of filter cannot do that */
    SEEN_EXISTS = 9,   /* the name is taken */
    SEEN_ABSENT = 10,  /* not there: a key that is to be removed */
    SEEN_BAD_URL = 11  /* the profile refuses the URL */
};

/* The name of a code as it is written here, for logs; "SEEN_UNKNOWN" for
   other numbers. */
const char *seen_code_name(enum seen_code code);

struct seen_error {
    enum seen_code code;
    int system;     /* errno for SEEN_IO, else 0 */
    uint64_t at;    /* the key in a batch, the byte in a text, or 0 */
    char text[160]; /* one clause in English: "a URL needs a host" */
};

/*
 * Fill `why`, unless it is NULL, and return `code`. For SEEN_IO, errno is
 * recorded and its message is appended to the text. Leaves errno unchanged.
 * Long texts are cut. Kinds from outside the library may use it.
 */
enum seen_code seen_fail(struct seen_error *why, enum seen_code code,
                         uint64_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
