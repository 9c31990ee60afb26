/*
 * select.h - which captures of an archive are to be in a filter: those of a
 * collection, that is of some status, type, time, place or language.
 *
 * Every condition that is given must hold; of several values of one, any.
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
      "only captures of these status codes: 200,301" },                       \
    { "mime", 0, TEXTS, "TYPE,...", offsetof(type, how.mime),                 \
      "only captures of these types: text/html, or image/* for all of a "     \
      "kind" },                                                               \
    { "from", 0, TEXT, "TIME", offsetof(type, how.from),                      \
      "only captures of this time or later: 2019, 201906, 2019-06-30" },      \
    { "to", 0, TEXT, "TIME", offsetof(type, how.to),                          \
      "only captures of this time or earlier; 2019 is up to its last "        \
      "second" },                                                             \
    { "prefix", 0, TEXTS, "SURT", offsetof(type, how.prefix),                 \
      "only URLs whose SURT begins so: hr,nsk, or com,example)/news; may "    \
      "be given many times" },                                                \
    { "hosts", 0, PATH, "FILE", offsetof(type, how.hosts),                    \
      "only URLs of the hosts listed in this file, a line each, and of "      \
      "those below them" },                                                   \
    { "language", 0, TEXTS, "CODE,...", offsetof(type, how.language),         \
      "only captures of these languages, where the index has them: hr, "      \
      "or hrv where it says so" },                                            \
    { "where", 0, TEXTS, "FIELD=VALUE", offsetof(type, how.where),            \
      "only captures of this value in a column or JSON field; may be given "  \
      "many times, and then all must hold" }
/* clang-format on */

struct select;

/* NULL in *out if no condition is given; TROUBLE after a message. */
enum outcome select_new(struct select **out, const struct select_options *how);
void select_free(struct select *s);

bool select_takes(const struct select *s, const struct seen_capture *c);
enum seen_detail select_detail(const struct select *s);

/* All conditions as one number, to tell whether they are those of before. */
uint64_t select_print(const struct select *s);

#endif
