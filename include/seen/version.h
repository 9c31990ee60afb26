/*
 * version.h - which libseen this is, at compile time and at run time.
 *
 *     #if SEEN_VERSION_NUMBER >= 100
 *     printf("built with %s, runs with %s\n", SEEN_VERSION, seen_version());
 *     #endif
 *
 * The build, the package files and the programs take the version from here.
 * Before 1.0 a new minor version may change the interface.
 *
 * Threads: a constant.
 */
#ifndef SEEN_VERSION_H
#define SEEN_VERSION_H

#define SEEN_VERSION_MAJOR 0
#define SEEN_VERSION_MINOR 1
#define SEEN_VERSION_PATCH 0

/* 0.1.0 is 100, 1.2.3 is 10203: a number that grows. */
#define SEEN_VERSION_NUMBER \
    (SEEN_VERSION_MAJOR * 10000 + SEEN_VERSION_MINOR * 100 + \
     SEEN_VERSION_PATCH)

/* "0.1.0" */
#define SEEN_VERSION \
    SEEN_VERSION_TEXT(SEEN_VERSION_MAJOR, SEEN_VERSION_MINOR, \
                      SEEN_VERSION_PATCH)
#define SEEN_VERSION_TEXT(major, minor, patch) \
    SEEN_VERSION_JOIN(major, minor, patch)
#define SEEN_VERSION_JOIN(major, minor, patch) #major "." #minor "." #patch

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The version of the library that the program runs with. */
const char *seen_version(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
