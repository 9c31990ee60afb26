/*
 * check.h - seen check, of one filter and of many.
 *
 *     check.c        the command, and one filter
 *     check_many.c   which of several filters say yes
 */
#ifndef SEEN_CMD_CHECK_H
#define SEEN_CMD_CHECK_H

#include "access.h"
#include "filters.h"
#include "ingest.h"

enum check_answer { CHECK_NEW, CHECK_SEEN, CHECK_BAD, CHECK_ANSWERS };

struct check_options {
    const char *only;
    bool count, prefix, json;
    struct access_options access;
    struct cmd_inputs inputs;
    struct texts filters;
};

/* Are URLs with this answer printed? */
bool check_wanted(const struct check_options *o, enum check_answer answer);

/* Print how many there were of each, for --count. */
void check_show_sums(const struct check_options *o,
                     const uint64_t sum[CHECK_ANSWERS]);

/* Ask all filters of the list. */
enum outcome check_many(const struct check_options *o,
                        const struct cmd_filters *list, char **url);

#endif
