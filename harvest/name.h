/*
 * name.h - the file name of a filter from the web.
 *
 *     https://haw.nsk.hr/bloom-filter/haw.seen?v=2
 *                                     \______/        haw.seen
 *             \________/          with the host:      haw.nsk.hr.haw.seen
 *                        \__________/ with the path:  bloom-filter.haw.seen
 *
 * It is the last segment of the path, percent-decoded once. The file that a
 * text becomes has another ending: haw.csv, haw.json and haw become haw.seen.
 * Names that seen_share_name_fault() objects to are refused.
 */
#ifndef SEEN_HARVEST_NAME_H
#define SEEN_HARVEST_NAME_H

#include <stdbool.h>

#include <seen/error.h>
#include <seen/share.h>

enum { HARVEST_NAME = SEEN_SHARE_NAME_MOST }; /* bytes, at most */

/* What is put before the name; they can be combined. */
enum { HARVEST_NAME_HOST = 1, HARVEST_NAME_PATH = 2 };

/* `url` is one of url.h; `text`: of a text that will be converted. SEEN_RANGE
   with the reason. */
enum seen_code harvest_name_of(char out[HARVEST_NAME + 1], const char *url,
                               bool text, unsigned with,
                               struct seen_error *why);

#endif
