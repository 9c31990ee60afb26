/*
 * webpage.h - the web page that the server carries in itself.
 *
 * What a browser shows at "/" is serve/page/: hand-written HTML, CSS and
 * JavaScript, three files. The build makes them part of the program
 * (cmake/embed.cmake), so that a server needs no folder of its own and the
 * page is always the one that belongs to its answers.
 *
 *     const struct webpage_file *file = webpage_find(path);
 *
 *     if (file)
 *         reply(200, file->type, file->etag, file->bytes, file->len);
 *
 * The page names everything relative to itself, so that it works under any
 * --base. It keeps to WEBPAGE_POLICY: no inline script or style, no other host.
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

/* The file of this path, which is without --base and query; NULL if there
   is none. */
const struct webpage_file *webpage_find(struct seen_span path);

#endif
