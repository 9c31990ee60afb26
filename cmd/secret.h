/*
 * secret.h - the key of a keyed filter, from a file.
 *
 * The file holds 16 bytes, or 32 hexadecimal digits and perhaps the end of a
 * line. Nothing here makes one: `head -c16 /dev/urandom` does it well.
 */
#ifndef SEEN_CMD_SECRET_H
#define SEEN_CMD_SECRET_H

#include <stdbool.h>

#include <seen/key.h>

/* Read the key; false after a message. Warns if others can read the file. */
bool secret_read(const char *path, unsigned char secret[SEEN_SECRET]);

#endif
