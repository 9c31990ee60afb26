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
    struct sql_statement *st;
    enum seen_code code = change_setting(s, "notified", &s->line, why);
    bool row;

    if (code != SEEN_OK)
        return code;
    if (s->line.len <= 1) /* the first time: from here on */
        return change_notified(s, why);
    code = sql_prepare(&st, s->db,
                       "SELECT json FROM answers WHERE number > ?1 AND json "
                       "<> '' ORDER BY number",
                       why);
    if (code != SEEN_OK)
        return code;
    sql_bind_number(st, 1, strtoll(s->line.bytes, NULL, 10));
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        code = take(owner, sql_text(st, 0), why);
        if (code != SEEN_OK) {
            sql_reset(st);
            break;
        }
    }
    return code;
}
