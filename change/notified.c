/*
 * notified.c - which answers programs have been run for.
 *
 * The state has the number of the last answer whose programs have all ended.
 * Answers with higher numbers, up to those that a killed process had just
 * stored, are given out again when the next one starts: at least once each.
 */
#include <stdlib.h>

#include "inside.h"
#include "notified.h"

enum seen_code change_notified(struct change_state *s, struct seen_error *why)
{
    enum seen_code code = sql_begin(s->db, why);

    if (code == SEEN_OK)
        code = change_set_number(s, "notified", (uint64_t)s->last, why);
    if (code == SEEN_OK)
        code = sql_commit(s->db, why);
    if (code != SEEN_OK)
        sql_rollback(s->db);
    return code;
}

enum seen_code change_notified_resume(struct change_state *s,
                                      change_take_line *take, void *owner,
                                      struct seen_error *why)
{
    enum seen_code code = change_setting(s, "notified", &s->line, why);

    if (code != SEEN_OK)
        return code;
    if (s->line.len <= 1) /* the first time: from here on */
        return change_notified(s, why);
    return change_results_between(s, strtoll(s->line.bytes, NULL, 10),
                                  INT64_MAX, take, owner, why);
}
