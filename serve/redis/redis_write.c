/*
 * redis_write.c - adds and removals over the Redis protocol.
 *
 * The loop makes keys of the items, with copies of their texts, since the
 * bytes that were read do not outlive the read. The change is made elsewhere
 * (../change.h); then the loop replies:
 *
 *     BF.ADD a x \                                           / :1
 *     BF.ADD a y  > orders 0, 1, 2 of one change, 3 keys -> <  :0
 *     BF.ADD a z /                                           \ :1
 */
#include <stdlib.h>

#include "../../lib/text/array.h"
#include "../change.h"
#include "command.h"

enum { ORDERS = 4096, TEXT_AT_ONCE = 1 << 20 };

/* The items of one command. */
struct redis_order {
    size_t first, n;
};

struct redis_write {
    struct serve_change change;
    struct redis_write_kind kind;
    struct redis_order *order;
    size_t orders, room;
};

/* --- replies --- */

static void reply_failure(const struct redis_write *w, struct redis_call *c)
{
    const struct archive_change *m = &w->change.change;

    if (m->code == SEEN_FULL)
        resp_error(c->out, w->kind.counting
                               ? "ERR Filter is full"
                               : "ERR non scaling filter is full");
    else if (m->not_accepted)
        redis_bad_type(c);
    else
        resp_error(c->out, "ERR archive '%s': %s", m->name, m->why.text);
}

static void reply_each(const struct redis_write *w,
                       const struct redis_order *o, struct redis_call *c,
                       size_t n)
{
    const signed char *result = w->change.change.result + o->first;

    resp_array(c->out, n);
    for (size_t i = 0; i < n; i++)
        if (result[i] != ARCHIVE_REFUSED)
            resp_flag(c->out, w->kind.always || result[i],
                      c->three && w->kind.change != ARCHIVE_ADD_NEW);
        else if (w->kind.reply == REPLY_FULLS)
            resp_number(c->out, -1);
        else
            reply_failure(w, c);
}

static void reply_order(const struct redis_write *w,
                        const struct redis_order *o, struct redis_call *c)
{
    const signed char *result = w->change.change.result + o->first;
    size_t good = 0, sum = 0;

    while (good < o->n && result[good] != ARCHIVE_REFUSED)
        sum += result[good++] == ARCHIVE_NEW;
    if (w->kind.reply == REPLY_FULLS)
        reply_each(w, o, c, o->n);
    else if (w->kind.reply == REPLY_FLAGS)
        reply_each(w, o, c, good < o->n ? good + 1 : good);
    else if (good < o->n)
        reply_failure(w, c);
    else if (w->kind.reply == REPLY_SUM)
        resp_number(c->out, (int64_t)sum);
    else
        resp_flag(c->out, w->kind.always || sum, c->three);
}

static void answer(void *from, struct redis_call *c)
{
    const struct redis_write *w = from;
    const enum seen_code code = w->change.change.code;

    for (size_t i = 0; i < w->orders; i++)
        if (code != SEEN_OK && code != SEEN_FULL)
            reply_failure(w, c);
        else
            reply_order(w, &w->order[i], c);
}

static void write_free(struct redis_write *w)
{
    archive_change_clear(&w->change.change);
    free(w->order);
    free(w);
}

static void write_done(struct pending *p, bool there)
{
    redis_answer_later(p->conn, there, answer, p->owner);
    write_free(p->owner);
}

/* --- collecting --- */

/* Append the items of a command, or none of them: then `why` says which one
   is at fault. */
static bool add_order(struct redis_write *w, const struct seen_span *item,
                      size_t n, struct seen_error *why)
{
    struct archive_change *m = &w->change.change;
    const size_t keys = m->n, text = m->text.len;
    struct redis_order *more = array_grow(w->order, &w->room, w->orders + 1,
                                          sizeof *more);

    if (!more) {
        seen_fail(why, SEEN_NOMEM, 0, "no memory for a command");
        return false;
    }
    w->order = more;
    for (size_t i = 0; i < n; i++)
        if (archive_change_add(m, item[i], ARCHIVE_ANY, why) != SEEN_OK) {
            why->at = i;
            archive_change_cut(m, keys, text);
            return false;
        }
    more[w->orders++] = (struct redis_order){ keys, n };
    return true;
}

static struct redis_write *write_new(struct redis_call *c,
                                     const struct redis_write_kind *kind,
                                     const struct archive_new *made,
                                     const struct seen_span *item, size_t n)
{
    const struct seen_span name = c->word[1];
    bool replied;
    struct archive *a = redis_archive(c, name, &replied);
    const char *fault = a ? NULL
                          : archive_name_fault(c->server->archives, name);
    struct redis_write *w;
    struct seen_error why;

    if (replied)
        return NULL;
    if (a && redis_counts(a->filter) != kind->counting) {
        redis_bad_type(c);
        return NULL;
    }
    if (!a && (!made || fault)) {
        resp_error(c->out, "ERR %s",
                   made                             ? fault
                   : kind->change == ARCHIVE_REMOVE ? "Not found"
                                                    : "not found");
        return NULL;
    }
    w = calloc(1, sizeof *w);
    if (!w ||
        archive_change_begin(&w->change.change, c->server->archives,
                             kind->change, a, name, made, &why) != SEEN_OK) {
        free(w);
        resp_error(c->out, "ERR no memory for a change");
        return NULL;
    }
    w->change.change.accepts = redis_type_of(c->command);
    w->change.pending.done = write_done;
    w->kind = *kind;
    if (add_order(w, item, n, &why))
        return w;
    resp_error(c->out, "ERR item %zu: %s", (size_t)why.at + 1, why.text);
    write_free(w);
    return NULL;
}

static void start(struct redis_call *c, struct redis_write *w)
{
    if (serve_change_start(c->conn, &w->change))
        return;
    for (size_t i = 0; i < w->orders; i++)
        resp_error(c->out, "BUSY the server is too busy; try again");
    write_free(w);
}

void redis_write(struct redis_call *c, const struct redis_write_kind *kind,
                 const struct archive_new *made, const struct seen_span *item,
                 size_t n)
{
    struct redis_write *w = write_new(c, kind, made, item, n);

    if (w)
        start(c, w);
}

void redis_write_one(struct redis_call *c, const struct redis_write_kind *kind,
                     const struct archive_new *made)
{
    struct redis_write *w = write_new(c, kind, made, c->word + 2, 1);

    if (w)
        *c->group = (struct redis_group){ .command = c->command,
                                          .name = c->word[1],
                                          .write = w };
}

bool redis_write_join(struct redis_call *c)
{
    struct redis_write *w = c->group->write;
    struct seen_error why;

    return c->words == 3 && span_equal(c->word[1], c->group->name) &&
           w->orders < ORDERS && w->change.change.text.len < TEXT_AT_ONCE &&
           add_order(w, c->word + 2, 1, &why);
}

void redis_write_settle(struct redis_call *c)
{
    start(c, c->group->write);
}
