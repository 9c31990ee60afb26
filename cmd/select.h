/*
 * select.h - select captures by status, type, time, host, path or language, to
 * make a filter of a part of an archive.
 *
 * All conditions that are given must hold. If a condition has several values,
 * one of them is enough.
 */
#ifndef SEEN_SELECT_H
#define SEEN_SELECT_H

#include <seen/cdx.h>

#include "command.h"

/* The options, as they are typed. */
struct select_options {
    struct texts status, mime, prefix, language, where;
    const char *from, *to, *hosts;
};

/* clang-format off */
#define SELECT_OPTIONS(type, how)                                             \
    { "status", 0, TEXTS, "CODE,...", offsetof(type, how.status),             \
      "only captures with these status codes: 200,301" },                     \
    { "mime", 0, TEXTS, "TYPE,...", offsetof(type, how.mime),                 \
      "only captures of these types: text/html, or image/* for all of a "     \
      "kind" },                                                               \
    { "from", 0, TEXT, "TIME", offsetof(type, how.from),                      \
      "only captures of this time or later: 2019, 201906, 2019-06-30" },      \
    { "to", 0, TEXT, "TIME", offsetof(type, how.to),                          \
      "only captures of this time or earlier; 2019 includes all of that "     \
      "year" },                                                               \
    { "prefix", 0, TEXTS, "SURT", offsetof(type, how.prefix),                 \
      "only URLs whose SURT begins with this: hr,nsk, or "                    \
      "com,example)/news; may be given many times" },                         \
    { "hosts", 0, PATH, "FILE", offsetof(type, how.hosts),                    \
      "only URLs of the hosts listed in this file, one per line, and of "     \
      "their subdomains" },                                                   \
    { "language", 0, TEXTS, "CODE,...", offsetof(type, how.language),         \
      "only captures in these languages, with the codes that the index "      \
      "has: hr or hrv" },                                                     \
    { "where", 0, TEXTS, "FIELD=VALUE", offsetof(type, how.where),            \
      "only captures with this value in a column or JSON field; may be "      \
      "given many times, and then all must hold" }
/* clang-format on */

struct select;

/* NULL in *out if no condition is given; TROUBLE after a message. */
enum outcome select_new(struct select **out, const struct select_options *how);
void select_free(struct select *s);

bool select_takes(const struct select *s, const struct seen_capture *c);
enum seen_detail select_detail(const struct select *s);

/* A hash of all conditions, to see whether they have changed. */
uint64_t select_print(const struct select *s);

#endif
