/*
 * webpage.h - the web page that the server carries in itself.
 *
 * The page at "/" is serve/page/: three hand-written files of HTML, CSS and
 * JavaScript. The build makes them part of the program (cmake/embed.cmake), so
 * that a server needs no folder of its own, and the page always fits its
 * answers.
 *
 *     const struct webpage_file *file = webpage_find(path);
 *
 *     if (file)
 *         reply(200, file->type, file->etag, file->bytes, file->len);
 *
 * All links of the page are relative, so it works under any --base. It obeys
 * WEBPAGE_POLICY: no inline script or style, no other host.
 *
 * Threads: everything here is constant.
 */
#ifndef SEEN_SERVE_HTTP_WEBPAGE_H
#define SEEN_SERVE_HTTP_WEBPAGE_H

#include <stddef.h>

#include "../../lib/text/span.h"

/* The Content-Security-Policy to send with every file of the page, and with
   any other HTML that uses its style sheet. */
#define WEBPAGE_POLICY \
    "default-src 'none'; style-src 'self'; script-src 'self'; " \
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; " \
    "form-action 'self'; frame-ancestors 'none'"

struct webpage_file {
    const char *path; /* "/", "/page.css", without the --base */
    const char *type; /* for Content-Type */
    const char *etag; /* with its quotes; changes with the bytes */
    const unsigned char *bytes;
    size_t len;
};

/* All files, sorted by name: written by the build. */
extern const struct webpage_file webpage_files[];
extern const size_t webpage_count;

/* The file of this path, without --base and query; NULL if there is none. */
const struct webpage_file *webpage_find(struct seen_span path);

#endif
