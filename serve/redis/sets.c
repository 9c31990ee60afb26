/*
 * sets.c - filters as sets, and commands about names.
 *
 * With --sets, a crawler that keeps what it has seen in a set can use a filter
 * instead, as scrapy-redis' dupefilter does:
 *
 *     added = server.sadd(key, fingerprint)     0: seen before
 *     server.delete(key)
 *
 * A false positive is a page that is not fetched, so a filter made by SADD is
 * planned for a rate of one in a thousand. It keeps its keys, and is replaced by
 * a larger one when it is full. Members cannot be listed, and only counting filters can remove
 * them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "glob.h"

enum { SCAN_COUNT = 10, PATTERN = 256 };

/* --- members --- */

void redis_sadd(struct redis_call *c)
{
    struct archive_new made = { .plan = { .kind = "blocked",
                                          .profile = "raw",
                                          .capacity = SEEN_FIRST_KEYS,
                                          .rate = 0.001,
                                          .tight = true },
                                .keeps = true };
    bool replied;
    struct archive *a = redis_archive(c, c->word[1], &replied);
    const bool counts = a && redis_counts(a->filter);
    const struct redis_write_kind kind = {
        .change = counts ? ARCHIVE_ADD_NEW : ARCHIVE_ADD,
        .counting = counts,
        .reply = REPLY_SUM,
    };

    if (replied)
        return;
    redis_seed(c, &made);
    if (c->words == 3)
        redis_write_one(c, &kind, &made);
    else
        redis_write(c, &kind, &made, c->word + 2, c->words - 2);
}

void redis_srem(struct redis_call *c)
{
    static const struct redis_write_kind kind = { .change = ARCHIVE_REMOVE,
                                                  .counting = true,
                                                  .reply = REPLY_SUM };
    bool replied;
    struct archive *a = redis_archive(c, c->word[1], &replied);

    if (replied)
        return;
    if (!a)
        resp_number(c->out, 0);
    else if (!redis_counts(a->filter))
        resp_error(c->out,
                   "ERR archive '%s' is a filter that cannot remove members: "
                   "only counting filters can",
                   a->name);
    else
        redis_write(c, &kind, NULL, c->word + 2, c->words - 2);
}

void redis_scard(struct redis_call *c)
{
    bool replied;
    struct archive *a = redis_archive(c, c->word[1], &replied);

    if (!replied)
        resp_number(c->out, a ? llround(seen_filter_entries(a->filter)) : 0);
}

void redis_smembers(struct redis_call *c)
{
    resp_error(c->out,
               "ERR a filter cannot list its members: it does not keep "
               "them, and only knows whether one was added");
}

/* --- names --- */

struct redis_deleting {
    struct redis_task task;
    struct archive_set *archives;
    char **path;
    size_t n;
    int64_t deleted;
    const char *failed; /* the first path that could not be, and why */
    struct seen_error why;
};

static void delete_work(struct redis_task *t)
{
    struct redis_deleting *d = (struct redis_deleting *)t;

    for (size_t i = 0; i < d->n; i++) {
        struct seen_error why;
        enum seen_code code = archive_delete(d->archives, d->path[i], &why);

        d->deleted += code == SEEN_OK;
        if (code != SEEN_OK && code != SEEN_ABSENT && !d->failed) {
            d->failed = d->path[i];
            d->why = why;
        }
    }
}

/* Unlike in Redis, deleting a file can fail: the reason is replied. */
static void delete_answer(struct redis_task *t, struct redis_call *c)
{
    const struct redis_deleting *d = (struct redis_deleting *)t;

    if (d->deleted || !d->failed)
        resp_number(c->out, d->deleted);
    else
        resp_error(c->out, "ERR %s: %s", d->failed, d->why.text);
}

static void delete_clear(struct redis_task *t)
{
    struct redis_deleting *d = (struct redis_deleting *)t;

    for (size_t i = 0; i < d->n; i++)
        free(d->path[i]);
    free(d->path);
    free(d);
}

static bool listed(const struct redis_deleting *d, const char *path)
{
    for (size_t i = 0; i < d->n; i++)
        if (!strcmp(d->path[i], path))
            return true;
    return false;
}

void redis_del(struct redis_call *c)
{
    struct redis_deleting *d = calloc(1, sizeof *d);

    if (d)
        d->path = calloc(c->words, sizeof *d->path);
    if (!d || !d->path) {
        free(d);
        resp_error(c->out, "ERR no memory to delete archives");
        return;
    }
    d->task.work = delete_work;
    d->task.answer = delete_answer;
    d->task.clear = delete_clear;
    d->archives = c->server->archives;
    for (size_t i = 1; i < c->words; i++) {
        struct archive *a = archive_view_find(c->loop->view, c->word[i]);

        if (!a || listed(d, a->path))
            continue;
        if (!a->found) {
            resp_error(c->out,
                       "ERR archive '%s' was named when the server was "
                       "started, and is not deleted by it",
                       a->name);
            delete_clear(&d->task);
            return;
        }
        d->path[d->n] = strdup(a->path);
        d->n += d->path[d->n] != NULL;
    }
    if (d->n) {
        redis_task_start(c, &d->task);
    } else {
        resp_number(c->out, 0);
        delete_clear(&d->task);
    }
}

void redis_exist(struct redis_call *c)
{
    int64_t n = 0;

    for (size_t i = 1; i < c->words; i++)
        n += archive_view_find(c->loop->view, c->word[i]) != NULL;
    resp_number(c->out, n);
}

/* As RedisBloom calls its types; the second is that of its cuckoo filters. It
   is so with --sets, too: programs that look for filters ask for their type. */
static const char *type_of(const struct archive *a)
{
    return a->filter && redis_counts(a->filter) ? "MBbloomCF" : "MBbloom--";
}

void redis_type(struct redis_call *c)
{
    struct archive *a;

    a = archive_view_find(c->loop->view, c->word[1]);
    resp_status(c->out, a ? type_of(a) : "none");
}

void redis_dbsize(struct redis_call *c)
{
    int64_t n = 0;

    while (archive_view_at(c->loop->view, (size_t)n))
        n++;
    resp_number(c->out, n);
}

/* The work of matching grows with the length. */
static const char long_pattern[] = "ERR the pattern is longer than 256 bytes";

void redis_keys(struct redis_call *c)
{
    struct buffer found = { 0 };
    struct archive *a;
    size_t n = 0;

    if (c->word[1].len > PATTERN) {
        resp_error(c->out, "%s", long_pattern);
        return;
    }
    for (size_t i = 0; (a = archive_view_at(c->loop->view, i)); i++)
        if (redis_glob(c->word[1], span_of(a->name))) {
            resp_text(&found, a->name);
            n++;
        }
    resp_array(c->out, n);
    buffer_append(c->out, &found);
    buffer_clear(&found);
}

struct redis_scan {
    struct seen_span match;
    struct seen_span type; /* empty: all */
    int64_t count;
};

static const char *read_options(const struct redis_call *c,
                                struct redis_scan *s)
{
    for (size_t i = 2; i < c->words; i += 2) {
        if (i + 1 == c->words)
            return "ERR syntax error";
        if (span_like(c->word[i], "COUNT")) {
            if (!redis_integer(c->word[i + 1], &s->count))
                return "ERR value is not an integer or out of range";
            if (s->count < 1)
                return "ERR syntax error";
        } else if (span_like(c->word[i], "TYPE")) {
            s->type = c->word[i + 1];
        } else if (span_like(c->word[i], "MATCH")) {
            if (c->word[i + 1].len > PATTERN)
                return long_pattern;
            s->match = c->word[i + 1];
        } else {
            return "ERR syntax error";
        }
    }
    return NULL;
}

/*
 * The cursor is a position in the order of names. An archive that comes or
 * goes before it moves the rest by one: a scan returns all archives that exist
 * all the time, unless one was deleted meanwhile.
 */
void redis_scan(struct redis_call *c)
{
    struct redis_scan s = { .match = { "*", 1 }, .count = SCAN_COUNT };
    const char *fault;
    struct archive *a;
    struct buffer found = { 0 };
    char cursor[24];
    int64_t at;
    size_t n = 0;

    if (!redis_integer(c->word[1], &at) || at < 0) {
        resp_error(c->out, "ERR invalid cursor");
        return;
    }
    fault = read_options(c, &s);
    if (fault) {
        resp_error(c->out, "%s", fault);
        return;
    }
    while (s.count-- > 0 && (a = archive_view_at(c->loop->view, (size_t)at))) {
        at++;
        if (!redis_glob(s.match, span_of(a->name)) ||
            (s.type.len && !span_like(s.type, type_of(a))))
            continue;
        resp_text(&found, a->name);
        n++;
    }
    if (!archive_view_at(c->loop->view, (size_t)at))
        at = 0;
    snprintf(cursor, sizeof cursor, "%lld", (long long)at);
    resp_array(c->out, 2);
    resp_text(c->out, cursor);
    resp_array(c->out, n);
    buffer_append(c->out, &found);
    buffer_clear(&found);
}
