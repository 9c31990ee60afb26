/*
 * web.h - filters on web servers, for commands: where the user's cache and the
 * secret for decoys are.
 *
 *     $XDG_CACHE_HOME/seen    or ~/.cache/seen          what was fetched
 *     $XDG_DATA_HOME/seen     or ~/.local/share/seen    the secret
 *
 * The secret is not in the cache: with a new one, the same question would be
 * hidden among others, and the block that both have in common is the one that
 * was meant.
 */
#ifndef SEEN_CMD_WEB_H
#define SEEN_CMD_WEB_H

#include "access.h"

extern const struct access_distant cmd_web;

#endif
