/*
 * state_links.c - links that look like traps, start URLs, and the robots.txt of
 * origins.
 */
#include "state_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/text/span.h"
#include "../engine/store.h"

enum { TRAPS_MOST = 10000 }; /* links that are kept, per run */

/* --- traps --- */

enum seen_code crawl_state_trap(struct crawl_state *s, struct seen_span url,
                                struct seen_span reason, int64_t n,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    char name[96];

    if (s->traps < TRAPS_MOST) {
        s->traps++;
        sql_bind_text(s->st[STATE_TRAP_ADD], 1, url);
        sql_bind_text(s->st[STATE_TRAP_ADD], 2, reason);
        code = sql_do(s->st[STATE_TRAP_ADD], why);
    }
    snprintf(name, sizeof name, CRAWL_TRAP "%.*s",
             (int)(reason.len < 80 ? reason.len : 80), reason.text);
    return code == SEEN_OK ? crawl_state_count(s, name, n, why) : code;
}

enum seen_code crawl_state_trap_find(struct crawl_state *s,
                                     struct seen_span url, char **reason,
                                     struct seen_error *why)
{
    struct sql_statement *st = s->st[STATE_TRAP_FIND];
    enum seen_code code;
    bool row;

    *reason = NULL;
    sql_bind_text(st, 1, url);
    code = sql_step(st, &row, why);
    if (code != SEEN_OK || !row)
        return code;
    *reason = crawl_state_copy(st);
    sql_reset(st);
    return *reason ? SEEN_OK
                   : seen_fail(why, SEEN_NOMEM, 0, "no memory for a reason");
}

/* --- start URLs --- */

enum seen_code crawl_state_start(struct crawl_state *s, struct seen_span url,
                                 struct seen_error *why)
{
    sql_bind_text(s->st[STATE_START_ADD], 1, url);
    return sql_do(s->st[STATE_START_ADD], why);
}

enum seen_code crawl_state_starts(struct crawl_state *s,
                                  frontier_take_url *take, void *owner,
                                  struct seen_error *why)
{
    return frontier_read_urls(s->st[STATE_START_READ], take, owner, why);
}

enum seen_code crawl_state_is_start(struct crawl_state *s,
                                    struct seen_span url, bool *start,
                                    struct seen_error *why)
{
    enum seen_code code;

    sql_bind_text(s->st[STATE_START_FIND], 1, url);
    code = sql_step(s->st[STATE_START_FIND], start, why);
    sql_reset(s->st[STATE_START_FIND]);
    return code;
}

/* --- robots.txt --- */

enum seen_code crawl_state_robots(struct crawl_state *s,
                                  struct seen_span origin, int64_t now,
                                  size_t most, struct crawl_kept_robots *kept,
                                  struct seen_error *why)
{
    struct sql_statement *st = s->st[STATE_ROBOTS_FIND];
    bool too_long = false;
    enum seen_code code;

    *kept = (struct crawl_kept_robots){ .found = false };
    sql_bind_text(st, 1, origin);
    SQL_NUMBERS(st, 2, now, most < INT64_MAX ? (int64_t)most : INT64_MAX);
    code = sql_step(st, &kept->found, why);
    if (code != SEEN_OK || !kept->found)
        return code;
    kept->status = (int)sql_number(st, 0);
    kept->until = sql_number(st, 2);
    too_long = sql_number(st, 3);
    if (!too_long) {
        struct seen_span text = sql_text(st, 1);

        kept->len = text.len;
        kept->body = malloc(text.len + 1);
        if (kept->body && text.len)
            memcpy(kept->body, text.text, text.len);
    }
    sql_reset(st);
    return kept->body || too_long
               ? SEEN_OK
               : seen_fail(why, SEEN_NOMEM, 0, "no memory for robots.txt");
}

enum seen_code crawl_state_keep_robots(struct crawl_state *s,
                                       struct seen_span origin, int64_t until,
                                       int status, struct seen_span body,
                                       struct seen_error *why)
{
    struct sql_statement *st = s->st[STATE_ROBOTS_KEEP];

    sql_bind_text(st, 1, origin);
    SQL_NUMBERS(st, 2, until, status);
    sql_bind_bytes(st, 4, body);
    return sql_do(st, why);
}
