/* secret.h - the secret of a keyed filter: whether it is known, and which. */
#ifndef SEEN_KEY_SECRET_H
#define SEEN_KEY_SECRET_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/key.h>

/* The check value that files hold, which identifies a secret; never 0. */
uint64_t key_secret_check(const unsigned char secret[SEEN_SECRET]);

/* A secret of zeros stands for one that is not known. */
bool key_secret_known(const unsigned char secret[SEEN_SECRET]);

#endif
