/*
 * publish_page.h - a page beside the filters, on which people ask them.
 *
 *     index.html      the page of `seen serve`, with another way to ask
 *     seen-page/      its style and scripts, and the reader of js/
 *     filters.json    which filters there are
 *
 * The build makes the files part of the program, if it had clang and lld; see
 * cmake/publish_page.cmake. The page obeys a policy of its own: no inline script,
 * no other host.
 */
#ifndef SEEN_PUBLISH_PAGE_H
#define SEEN_PUBLISH_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/error.h>

#include "state.h"

struct publish_page_file {
    const char *name; /* "index.html" */
    const unsigned char *bytes;
    size_t len;
};

/* Written by the build. */
extern const struct publish_page_file publish_page_files[];
extern const size_t publish_page_count;

/*
 * May the page be written into the folder? If it is not `wanted`, it is kept up
 * to date where it is: *write says whether. SEEN_UNABLE: this program has no
 * reader. SEEN_MISMATCH: a file would be replaced that is not ours.
 */
enum seen_code publish_page_check(const char *folder, bool wanted, bool *write,
                                  struct seen_error *why);

/* Write the files that differ; their number is added to *written. */
enum seen_code publish_page_write(const char *folder,
                                  const struct publish_state *s,
                                  size_t *written, struct seen_error *why);

#endif
