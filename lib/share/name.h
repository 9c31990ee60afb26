/* name.h - characters of the names under which filters travel. */
#ifndef SEEN_SHARE_NAME_H
#define SEEN_SHARE_NAME_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of the character that `text` begins with, and which it is; 0 if
   there is none: no surrogates and nothing longer than it need be (Unicode 15,
   table 3-7). */
size_t utf8_char(const char *text, size_t len, uint32_t *which);

#endif
