/*
 * name.h - under which name a filter from the web is kept.
 *
 *     https://haw.nsk.hr/bloom-filter/haw.seen?v=2
 *                                     \______/        haw.seen
 *             \________/          with the host:      haw.nsk.hr.haw.seen
 *                        \__________/  and the path:   bloom-filter.haw.seen
 *
 * The last segment of the path, its escapes undone once. <seen/share.h>
 * says which names are refused.
 */
#ifndef SEEN_HARVEST_NAME_H
#define SEEN_HARVEST_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/share.h>

enum { NAME_MOST = SEEN_SHARE_NAME_MOST };

/* What comes before the name; they go together. */
enum { NAME_HOST = 1, NAME_PATH = 2 };

/* `url` is an address of address.h. SEEN_RANGE with the reason. */
enum seen_code name_of(char out[NAME_MOST + 1], const char *url, unsigned with,
                       struct seen_error *why);

#endif
