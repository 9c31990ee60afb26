/*
 * change.c - adds and removals, in a thread that may wait for disks.
 *
 * The loop makes keys of the items, and copies what they need, since the
 * bytes that were read do not outlive redis_drive(). A thread of the pool
 * opens the writer and makes the changes; then the loop replies:
 *
 *     BF.ADD a x \                                           / :1
 *     BF.ADD a y  > orders 0, 1, 2 of one change, 3 keys -> <  :0
 *     BF.ADD a z /                                           \ :1
 *
 * One seen_filter_add() of three keys is one record of the journal, and
 * under --sync always one flush in place of three.
 *
 * Clients of one loop share that too. While a change of an archive is under
 * way, those that come for the same archive wait and are then made together:
 * the flush of one is the time in which others gather. 50 clients that add
 * one URL at a time under --sync always are served 47,000 adds a second this
 * way and 10,000 without, at 15 and 110 us of processor time each.
 */
#define _GNU_SOURCE
#include "change.h"

#include <stdlib.h>

enum { ORDERS = 4096, TEXT_AT_ONCE = 1 << 20 };

/* The first of each group of changes that this loop has under way. */
static __thread struct change *under_way;

/* --- replies --- */

static void reply_failure(const struct change *m, struct call *c)
{
    if (m->code == SEEN_FULL && m->how == CHANGE_ADD)
        resp_error(c->out, "ERR non scaling filter is full");
    else if (m->code == SEEN_FULL)
        resp_error(c->out, "ERR Filter is full");
    else
        resp_error(c->out, "ERR archive '%s': %s", m->name, m->why.text);
}

static void reply_each(const struct change *m, const struct order *d,
                       struct call *c, size_t n)
{
    resp_array(c->out, n);
    for (size_t i = d->first; i < d->first + n; i++)
        if (m->result[i] != REFUSED)
            resp_flag(c->out, m->how == CHANGE_COUNT || m->result[i],
                      c->three);
        else if (d->reply == REPLY_FULLS)
            resp_number(c->out, -1);
        else
            reply_failure(m, c);
}

static void reply_order(const struct change *m, const struct order *d,
                        struct call *c)
{
    size_t good = 0, sum = 0;

    while (good < d->n && m->result[d->first + good] != REFUSED)
        sum += m->result[d->first + good++] == NEW;
    if (d->reply == REPLY_FULLS)
        reply_each(m, d, c, d->n);
    else if (d->reply == REPLY_FLAGS)
        reply_each(m, d, c, good < d->n ? good + 1 : good);
    else if (good < d->n)
        reply_failure(m, c);
    else if (d->reply == REPLY_SUM)
        resp_number(c->out, (int64_t)sum);
    else
        resp_flag(c->out, m->how == CHANGE_COUNT || sum, c->three);
}

static void change_answer(struct task *t, struct call *c)
{
    const struct change *m = (struct change *)t;

    COUNT(c->loop, added, m->added);
    COUNT(c->loop, removed, m->removed);
    for (size_t i = 0; i < m->orders; i++)
        if (m->code != SEEN_OK && m->code != SEEN_FULL)
            reply_failure(m, c);
        else
            reply_order(m, &m->order[i], c);
}

static void change_clear(struct task *t)
{
    struct change *m = (struct change *)t;

    free(m->name);
    free(m->path);
    free(m->key);
    free(m->text);
    free(m->result);
    free(m->order);
    free(m);
}

/* --- beginning --- */

static bool right_type(struct call *c, const struct archive *a,
                       enum change_how how)
{
    if (archive_counts(a) == (how != CHANGE_ADD))
        return true;
    resp_error(c->out, "WRONGTYPE Operation against a key holding the wrong "
                       "kind of value");
    return false;
}

static struct change *change_new(struct call *c, enum change_how how,
                                 const struct seen_plan *plan)
{
    const struct span name = c->word[1];
    bool told;
    struct archive *a = call_archive(c, name, &told);
    const char *fault = a ? NULL : library_name_fault(name);
    struct change *m;

    if (told || (a && !right_type(c, a, how)))
        return NULL;
    if (!a && (!plan || fault)) {
        resp_error(c->out, "ERR %s", plan ? fault : "not found");
        return NULL;
    }
    m = calloc(1, sizeof *m);
    if (m) {
        m->task.work = change_apply;
        m->task.answer = change_answer;
        m->task.clear = change_clear;
        m->how = how;
        m->library = c->server->library;
        m->name = word_copy(name);
        m->profile = (struct seen_profile){ SEEN_RAW, -1 };
        if (a) {
            m->profile = a->profile;
            m->path = strdup(a->path);
        } else {
            m->plan = *plan;
        }
    }
    if (!m || !m->name || (a && !m->path)) {
        if (m)
            change_clear(&m->task);
        resp_error(c->out, "ERR no memory for a change");
        return NULL;
    }
    return m;
}

/* Room for n more keys and `bytes` of their texts. */
static bool make_room(struct change *m, size_t n, size_t bytes)
{
    size_t room = m->room ? m->room : 1,
           text = m->text_room ? m->text_room : 64;
    void *more;

    while (room < m->n + n)
        room *= 2;
    while (text < m->used + bytes)
        text *= 2;
    if (room > m->room) {
        more = realloc(m->key, room * sizeof *m->key);
        m->key = more ? more : m->key;
        if (more && (more = realloc(m->result, room)))
            m->result = more;
        if (!more)
            return false;
        m->room = room;
    }
    if (text > m->text_room) {
        more = realloc(m->text, text);
        if (!more)
            return false;
        m->text = more;
        m->text_room = text;
    }
    return true;
}

/* Make the key of an item, with a copy of its text. */
static enum seen_code put_key(struct change *m, struct span item,
                              struct seen_error *why)
{
    char canonical[SEEN_KEY_TEXT];
    struct seen_key *key;
    enum seen_code code = SEEN_OK;

    if (!make_room(m, 1, item.len > SEEN_KEY_TEXT ? item.len : SEEN_KEY_TEXT))
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a key");
    key = &m->key[m->n];
    if (m->profile.rules == SEEN_RAW)
        seen_key_hash(key, item.text, item.len);
    else
        code = seen_key_make_as(key, canonical, item.text, item.len,
                                &m->profile, why);
    if (code != SEEN_OK)
        return code;
    memcpy(m->text + m->used, key->text, key->len);
    m->used += key->len;
    m->result[m->n++] = OLD;
    return SEEN_OK;
}

/* The items, or none of them: then `why` tells which is at fault. */
static bool put_order(struct change *m, const struct span *item, size_t n,
                      enum change_reply reply, struct seen_error *why)
{
    const size_t keys = m->n, used = m->used;

    if (m->orders == m->order_room) {
        size_t room = m->orders ? 2 * m->orders : 1;
        struct order *more = realloc(m->order, room * sizeof *more);

        if (!more) {
            seen_fail(why, SEEN_NOMEM, 0, "no memory for a command");
            return false;
        }
        m->order = more;
        m->order_room = room;
    }
    for (size_t i = 0; i < n; i++)
        if (put_key(m, item[i], why) != SEEN_OK) {
            why->at = i;
            m->n = keys;
            m->used = used;
            return false;
        }
    m->order[m->orders++] = (struct order){ keys, n, reply };
    return true;
}

static bool change_add(struct change *m, struct call *c,
                       const struct span *item, size_t n,
                       enum change_reply reply)
{
    struct seen_error why;

    if (put_order(m, item, n, reply, &why))
        return true;
    resp_error(c->out, "ERR item %zu: %s", (size_t)why.at + 1, why.text);
    change_clear(&m->task);
    return false;
}

/* --- together --- */

static struct change *find_under_way(const struct change *like)
{
    struct change *m = under_way;

    while (m && (m->how != like->how || strcmp(m->name, like->name) ||
                 m->profile.rules != like->profile.rules ||
                 m->profile.segments != like->profile.segments))
        m = m->also_now;
    return m;
}

static void finish_all(struct change *first)
{
    for (struct change *m = first, *next; m; m = next) {
        next = m->next;
        task_finish(&m->task);
    }
}

static bool launch(struct loop *l, struct change *m);

/* Those who waited are started before those who are done are answered: what
   these ask for next may wait for them. */
static void done_change(struct job *j)
{
    struct change *m = (struct change *)j, *then = m->waiting;
    struct change **at = &under_way;

    task_look(j->loop);
    while (*at != m)
        at = &(*at)->also_now;
    *at = m->also_now;
    if (then && !launch(j->loop, then)) {
        for (struct change *each = then; each; each = each->next)
            each->code = seen_fail(&each->why, SEEN_BUSY, 0,
                                   "the server has too much to do");
        finish_all(then);
    }
    finish_all(m);
}

static bool launch(struct loop *l, struct change *m)
{
    m->task.job.run = task_run;
    m->task.job.done = done_change;
    if (!loop_run(l, &m->task.job))
        return false;
    m->also_now = under_way;
    under_way = m;
    return true;
}

void change_start(struct change *m, struct call *c)
{
    struct change *first = find_under_way(m), **last;

    task_for(&m->task, c);
    if (first) {
        for (last = &first->waiting; *last; last = &(*last)->next)
            ;
        *last = m;
    } else if (!launch(c->loop, m)) {
        for (size_t i = 0; i < m->orders; i++)
            resp_error(c->out,
                       "BUSY the server has too much to do; try again");
        change_clear(&m->task);
        return;
    }
    conn_hold(c->conn);
    conn_wait(c->conn);
}

void change_many(struct call *c, enum change_how how,
                 const struct seen_plan *plan, const struct span *item,
                 size_t n, enum change_reply reply)
{
    struct change *m = change_new(c, how, plan);

    if (m && change_add(m, c, item, n, reply))
        change_start(m, c);
}

void change_one(struct call *c, enum change_how how,
                const struct seen_plan *plan, enum change_reply reply)
{
    struct change *m = change_new(c, how, plan);

    if (m && change_add(m, c, c->word + 2, 1, reply))
        *c->gather = (struct gather){ .command = c->command,
                                      .name = c->word[1],
                                      .change = m };
}

bool change_join(struct call *c)
{
    const struct gather *g = c->gather;
    struct change *m = g->change;
    struct seen_error why;

    return c->words == 3 && c->word[1].len == g->name.len &&
           !memcmp(c->word[1].text, g->name.text, g->name.len) &&
           m->orders < ORDERS && m->used < TEXT_AT_ONCE &&
           put_order(m, c->word + 2, 1, m->order[0].reply, &why);
}
