/*
 * name.h - the names under which filters travel between archives.
 *
 * What harvesters take and publishers warn about: a name that could lead out
 * of a folder, hide in it, or trick who looks at a list of it is refused, not
 * repaired: two names that are repaired alike would be one.
 */
#ifndef SEEN_SHARE_NAME_H
#define SEEN_SHARE_NAME_H

#include <stddef.h>
#include <stdint.h>

enum { SHARE_NAME_MOST = 200 };

/* What is wrong with the name of a file, "the name ...", or NULL. */
const char *share_name_fault(const char *name, size_t len);

/* The bytes of the character that `text` begins with, and which it is; 0 if
   there is none: no surrogates and nothing longer than it need be (Unicode 15,
   table 3-7). */
size_t utf8_char(const char *text, size_t len, uint32_t *which);

#endif
