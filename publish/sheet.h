/*
 * sheet.h - a file that is replaced only if it changes.
 *
 * A list is written beside the one that is there (sitemap.xml.new). If the
 * two are equal the old one stays as it is, so that its date and ETag say
 * that nothing is new; otherwise it is replaced at once and durably.
 *
 *     if (sheet_begin(&s, "/srv/haw/sitemap.xml", &why) == SEEN_OK) {
 *         fprintf(s.to, ...);
 *         code = sheet_end(&s, &changed, &why);
 *     }
 *
 * Threads: one writer a folder, by the folder's lock.
 */
#ifndef SEEN_PUBLISH_SHEET_H
#define SEEN_PUBLISH_SHEET_H

#include <stdbool.h>
#include <stdio.h>

#include <seen/error.h>

struct sheet {
    FILE *to;
    char *path, *next;
};

enum seen_code sheet_begin(struct sheet *s, const char *path,
                           struct seen_error *why);
/* *changed may be NULL. On failure the old file is as it was. */
enum seen_code sheet_end(struct sheet *s, bool *changed,
                         struct seen_error *why);
void sheet_drop(struct sheet *s);

#endif
