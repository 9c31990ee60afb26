/*
 * results.c - a file that has each answer exactly once.
 *
 * The state has the path of the file, its length, and the number of the last
 * answer that is within this length. They are committed with the next batch,
 * after the lines are on the disk. A process that dies leaves a file that is
 * longer than that: the next one cuts it there and writes the answers with
 * higher numbers again, which the table has. If a process without such a file
 * comes first, its answers are not for the file; up to which number they are
 * owed to it is kept then.
 *
 * A file that is shorter than that, or missing, has lost answers that were
 * promised to be there exactly once. They are in the table, but not the old
 * ones, which were forgotten, so that the user decides: whoever asks for all
 * answers gets those that are left into an empty file.
 */
#include <stdlib.h>

#include "../lib/text/span.h"
#include "inside.h"

enum seen_code change_results_note(struct change_state *s,
                                   struct seen_error *why)
{
    enum seen_code code;

    if (!s->has_results && !s->owed)
        s->written = s->last;
    code = change_set_number(s, "written", (uint64_t)s->written, why);
    if (code == SEEN_OK && (s->owed || s->results_changed))
        code = change_set_number(s, "owed", (uint64_t)s->owed, why);
    if (code == SEEN_OK && s->results_changed)
        code = change_set_number(s, "results_length", s->results_len, why);
    if (code == SEEN_OK && s->results_changed)
        code = change_set(
            s, "results",
            (struct seen_span){ s->results.bytes, s->results.len }, why);
    if (code == SEEN_OK)
        s->results_changed = false;
    return code;
}

/* Length and number belong together: a file that is cut at an old length
   would lack the answers up to a new number. */
enum seen_code change_results_save(struct change_state *s,
                                   struct seen_error *why)
{
    enum seen_code code = sql_begin(s->db, why);

    if (code != SEEN_OK)
        return code;
    code = change_results_note(s, why);
    if (code == SEEN_OK)
        code = sql_commit(s->db, why);
    if (code != SEEN_OK)
        sql_rollback(s->db);
    return code;
}

void change_results_written(struct change_state *s, uint64_t len)
{
    s->results_len = len;
    s->written = s->last;
    s->owed = 0;
    s->results_changed = true;
}

enum seen_code change_results_between(struct change_state *s, int64_t after,
                                      int64_t last, change_take_line *take,
                                      void *owner, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(&st, s->db,
                       "SELECT json FROM answers WHERE number > ?1 AND number "
                       "<= ?2 AND json <> '' ORDER BY number",
                       why);
    if (code != SEEN_OK)
        return code;
    sql_bind_number(st, 1, after);
    sql_bind_number(st, 2, last);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        code = take(owner, sql_text(st, 0), why);
        if (code != SEEN_OK) {
            sql_reset(st);
            break;
        }
    }
    return code;
}

/* Where the file is to be cut, if the state has written to it. */
static enum seen_code find_end(struct change_state *s, struct seen_span path,
                               uint64_t *len, struct seen_error *why)
{
    enum seen_code code = change_setting(s, "results", &s->line, why);
    uint64_t before;

    if (code != SEEN_OK ||
        !span_equal((struct seen_span){ s->line.bytes, s->line.len - 1 },
                    path))
        return code;
    code = change_setting(s, "results_length", &s->line, why);
    if (code != SEEN_OK)
        return code;
    before = strtoull(s->line.bytes, NULL, 10);
    if (*len < before && !*len)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "the file is missing or empty, and had %llu bytes: "
                         "--again writes all answers that are remembered",
                         (unsigned long long)before);
    if (*len < before)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "the file has %llu bytes and had %llu: move it away, "
                         "and --again writes all answers that are remembered",
                         (unsigned long long)*len, (unsigned long long)before);
    *len = before;
    return SEEN_OK;
}

enum seen_code change_results_resume(struct change_state *s, const char *path,
                                     uint64_t *len, bool all,
                                     change_take_line *take, void *owner,
                                     struct seen_error *why)
{
    struct seen_span wanted = span_of(path);
    enum seen_code code = SEEN_OK;

    if (all && *len)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "--again begins a file, and this one has %llu bytes: "
                         "move it away, or give another one",
                         (unsigned long long)*len);
    if (all)
        s->written = s->owed = 0;
    else
        code = find_end(s, wanted, len, why);
    if (code != SEEN_OK)
        return code;
    s->has_results = true;
    s->results.len = 0;
    buffer_span(&s->results, wanted);
    s->results_len = *len;
    s->results_changed = true;
    if (s->results.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    /* Before the first line is written: from now on the file is ours. */
    code = change_results_save(s, why);
    return code == SEEN_OK
               ? change_results_between(s, s->written,
                                        s->owed ? s->owed : s->last, take,
                                        owner, why)
               : code;
}
