/*
 * sets.c - a filter that passes for a set, and names in general.
 *
 * With --sets, what a crawler does with a set of what it has seen works on a
 * filter, as scrapy-redis' dupefilter does:
 *
 *     added = server.sadd(key, fingerprint)     0: seen before
 *     server.delete(key)
 *
 * A false positive there is a page that is not fetched, so a filter made by
 * SADD is planned for one in a thousand, and begins with room for 65536.
 * Nothing can be listed, and only counting filters can forget.
 */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"

enum { CAPACITY = 1 << 16, SCAN_COUNT = 10, PATTERN = 256 };

static const struct seen_plan plan = { .kind = "growing:2/blocked",
                                       .profile = "raw",
                                       .capacity = CAPACITY,
                                       .rate = 0.001 };

/* --- members --- */

void set_add(struct call *c)
{
    bool told;
    struct archive *a = call_archive(c, c->word[1], &told);
    enum change_how how = a && archive_counts(a) ? CHANGE_ADD_NEW : CHANGE_ADD;

    if (told)
        return;
    if (c->words == 3)
        change_one(c, how, &plan, REPLY_SUM);
    else
        change_many(c, how, &plan, c->word + 2, c->words - 2, REPLY_SUM);
}

void set_remove(struct call *c)
{
    bool told;
    struct archive *a = call_archive(c, c->word[1], &told);

    if (told)
        return;
    if (!a)
        resp_number(c->out, 0);
    else if (!archive_counts(a))
        resp_error(c->out,
                   "ERR archive '%s' is a filter that cannot forget: only "
                   "counting filters can",
                   a->name);
    else
        change_many(c, CHANGE_REMOVE, NULL, c->word + 2, c->words - 2,
                    REPLY_SUM);
}

void set_size(struct call *c)
{
    bool told;
    struct archive *a = call_archive(c, c->word[1], &told);

    if (!told)
        resp_number(c->out, a ? llround(seen_filter_entries(a->filter)) : 0);
}

void set_list(struct call *c)
{
    resp_error(c->out, "ERR a filter cannot list its members: it keeps none, "
                       "and only tells whether one was added");
}

/* --- names --- */

struct deleting {
    struct task task;
    struct library *library;
    char **path;
    size_t n;
    int64_t deleted;
    struct seen_error why;
};

static void delete_work(struct task *t)
{
    struct deleting *d = (struct deleting *)t;

    for (size_t i = 0; i < d->n; i++)
        d->deleted += library_delete(d->library, d->path[i], &d->why) ==
                      SEEN_OK;
}

/* Other than in Redis a file may refuse to go: the reason is told. */
static void delete_answer(struct task *t, struct call *c)
{
    const struct deleting *d = (struct deleting *)t;

    if (d->deleted || !d->n)
        resp_number(c->out, d->deleted);
    else
        resp_error(c->out, "ERR %s: %s", d->path[0], d->why.text);
}

static void delete_clear(struct task *t)
{
    struct deleting *d = (struct deleting *)t;

    for (size_t i = 0; i < d->n; i++)
        free(d->path[i]);
    free(d->path);
    free(d);
}

static bool listed(const struct deleting *d, const char *path)
{
    for (size_t i = 0; i < d->n; i++)
        if (!strcmp(d->path[i], path))
            return true;
    return false;
}

void names_delete(struct call *c)
{
    struct deleting *d = calloc(1, sizeof *d);

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
    d->library = c->server->library;
    loop_look(c->loop);
    for (size_t i = 1; i < c->words; i++) {
        struct archive *a = shelf_find(c->loop->shelf, c->word[i]);

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
        task_start(c, &d->task);
    } else {
        resp_number(c->out, 0);
        delete_clear(&d->task);
    }
}

void names_exist(struct call *c)
{
    int64_t n = 0;

    loop_look(c->loop);
    for (size_t i = 1; i < c->words; i++)
        n += shelf_find(c->loop->shelf, c->word[i]) != NULL;
    resp_number(c->out, n);
}

/* As RedisBloom calls its types; the second is that of its cuckoo filters. */
static const char *type_of(const struct call *c, const struct archive *a)
{
    if (c->server->how.sets)
        return "set";
    return a->filter && archive_counts(a) ? "MBbloomCF" : "MBbloom--";
}

void names_type(struct call *c)
{
    struct archive *a;

    loop_look(c->loop);
    a = shelf_find(c->loop->shelf, c->word[1]);
    resp_status(c->out, a ? type_of(c, a) : "none");
}

void names_count(struct call *c)
{
    int64_t n = 0;

    loop_look(c->loop);
    while (shelf_at(c->loop->shelf, (size_t)n))
        n++;
    resp_number(c->out, n);
}

struct scan {
    char match[PATTERN]; /* "": all */
    struct span type;    /* empty: all */
    int64_t count;
};

static const char *take_options(const struct call *c, struct scan *s)
{
    for (size_t i = 2; i < c->words; i += 2) {
        if (i + 1 == c->words)
            return "ERR syntax error";
        if (span_like(c->word[i], "COUNT")) {
            if (!word_number(c->word[i + 1], &s->count))
                return "ERR value is not an integer or out of range";
            if (s->count < 1)
                return "ERR syntax error";
        } else if (span_like(c->word[i], "TYPE")) {
            s->type = c->word[i + 1];
        } else if (span_like(c->word[i], "MATCH") &&
                   c->word[i + 1].len < sizeof s->match) {
            memcpy(s->match, c->word[i + 1].text, c->word[i + 1].len);
            s->match[c->word[i + 1].len] = '\0';
        } else {
            return "ERR syntax error";
        }
    }
    return NULL;
}

/*
 * The cursor is a place in the order of names: what comes or goes before it
 * meanwhile moves the rest by one, so a scan tells what was there all along
 * unless something was deleted.
 */
void names_scan(struct call *c)
{
    struct scan s = { .count = SCAN_COUNT };
    const char *fault;
    struct archive *a;
    struct out found = { 0 };
    char cursor[24];
    int64_t at;
    size_t n = 0;

    if (!word_number(c->word[1], &at) || at < 0) {
        resp_error(c->out, "ERR invalid cursor");
        return;
    }
    fault = take_options(c, &s);
    if (fault) {
        resp_error(c->out, "%s", fault);
        return;
    }
    loop_look(c->loop);
    while (s.count-- > 0 && (a = shelf_at(c->loop->shelf, (size_t)at))) {
        at++;
        if ((s.match[0] && fnmatch(s.match, a->name, 0)) ||
            (s.type.len && !span_like(s.type, type_of(c, a))))
            continue;
        resp_text(&found, a->name);
        n++;
    }
    if (!shelf_at(c->loop->shelf, (size_t)at))
        at = 0;
    snprintf(cursor, sizeof cursor, "%lld", (long long)at);
    resp_array(c->out, 2);
    resp_text(c->out, cursor);
    resp_array(c->out, n);
    out_bytes(c->out, found.bytes ? found.bytes : "", found.len);
    c->out->failed |= found.failed;
    out_clear(&found);
}
