/* web_references.h - the files of web/data, as bytes in the program: written by the
   build (cmake/embed.cmake). */
#ifndef SEEN_WEB_WEB_REFERENCES_H
#define SEEN_WEB_WEB_REFERENCES_H

#include <stddef.h>

struct web_references_file {
    const char *name;
    const unsigned char *bytes;
    size_t len;
};

extern const struct web_references_file web_references_files[];
extern const size_t web_references_count;

#endif
