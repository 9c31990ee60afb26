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
#include <math.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <time.h>

#include "command.h"
#include "guard.h"

enum { ORDERS = 4096, TEXT_AT_ONCE = 1 << 20, TRIES = 40 };

enum result { OLD = 0, NEW = 1, REFUSED = -1 };

/* The items of one command. */
struct order {
    size_t first, n;
    enum change_reply reply;
};

struct change {
    struct task task; /* first: tasks are freed as what they are */
    enum change_how how;
    struct library *library;
    char *name, *path;     /* path NULL: it is to be made */
    struct seen_plan plan; /* by this */
    struct seen_profile profile;

    struct seen_key *key; /* `text` is set when the work begins */
    size_t n, room;
    char *text;
    size_t used, text_room;
    signed char *result; /* one a key: enum result */
    struct order *order;
    size_t orders, order_room;

    enum seen_code code; /* of the first refusal, or of all */
    struct seen_error why;
    uint64_t added, removed;

    struct change *next;     /* of another client, made together with it */
    struct change *waiting;  /* those that come after it */
    struct change *also_now; /* another that is under way */
};

/* The first of each group of changes that this loop has under way. */
static __thread struct change *under_way;

/* --- tasks --- */

static void run_task(struct job *j)
{
    struct task *t = (struct task *)j;

    t->work(t);
}

/* The work is done: answer, go on with the client, and free the task. */
static void finish(struct task *t)
{
    struct conn *conn = t->conn;

    if (conn_back(conn)) {
        struct redis_client *r = conn->redis;
        struct call c = { .conn = conn,
                          .client = r,
                          .loop = conn->loop,
                          .server = conn->loop->server,
                          .out = conn_out(conn),
                          .three = r->three };
        size_t before = c.out->len;

        t->answer(t, &c);
        if (c.out->len > before && c.out->bytes[before] == '-')
            COUNT(c.loop, errors, 1);
        if (t->muted)
            c.out->len = before;
        c.loop->looked = false; /* what follows sees what was changed */
        conn_go_on(conn);
    }
    t->clear(t);
}

static void done_task(struct job *j)
{
    finish((struct task *)j);
}

static void set_conn(struct task *t, struct call *c)
{
    t->conn = c->conn;
    t->muted = c->client->mute == MUTE_ALL || c->client->mute == MUTE_THIS;
}

void task_start(struct call *c, struct task *t)
{
    set_conn(t, c);
    t->job.run = run_task;
    t->job.done = done_task;
    if (!loop_run(c->loop, &t->job)) {
        resp_error(c->out, "BUSY the server has too much to do; try again");
        t->clear(t);
        return;
    }
    conn_hold(c->conn);
    conn_wait(c->conn);
}

char *path_of(struct library *l, const char *name)
{
    struct holding *all;
    char *path = NULL;
    size_t n;

    if (library_list(l, &all, &n, NULL) != SEEN_OK)
        return NULL;
    for (size_t i = 0; i < n && !path; i++)
        if (!strcmp(all[i].name, name))
            path = strdup(all[i].path);
    holdings_free(all, n);
    return path;
}

/*
 * A disk that is filled by one filter fails all the others, so one that
 * cannot fit is refused before it is begun. No filter takes less than
 * log2(1/rate) bits a key.
 */
enum seen_code create_archive(struct library *l, struct span name,
                              const struct seen_plan *plan,
                              struct seen_error *why)
{
    const char *folder = library_folder(l, 0);
    double need = (double)plan->capacity * -log2(plan->rate) / 8;
    struct statvfs disk;

    if (folder && !statvfs(folder, &disk) &&
        need > (double)disk.f_bavail * (double)disk.f_frsize)
        return seen_fail(why, SEEN_RANGE, 0,
                         "it would be larger than what is left of the disk");
    return library_create(l, name, plan, why);
}

/* --- the work --- */

/* Add, going on behind keys for which there is no room: those that follow
   may be in the filter already. */
static enum seen_code add(struct change *m, struct seen_filter *f,
                          const struct seen_key *key, size_t n, bool *fresh,
                          signed char *result)
{
    enum seen_code code;
    struct seen_error why;

    for (size_t done = 0, some; done < n; done += some) {
        code = seen_filter_add(f, key + done, n - done, fresh, &why);
        some = code == SEEN_OK ? n - done : (size_t)why.at;
        if (code != SEEN_OK && code != SEEN_FULL) {
            m->why = why;
            return code;
        }
        for (size_t i = 0; i < some; i++) {
            result[done + i] = fresh[i] ? NEW : OLD;
            m->added += fresh[i];
        }
        if (code == SEEN_FULL) {
            if (m->code == SEEN_OK)
                m->why = why;
            m->code = SEEN_FULL;
            result[done + some++] = REFUSED;
        }
    }
    return SEEN_OK;
}

/*
 * Add what is not there. Another thread may add the same meanwhile, or it
 * comes twice in one batch: what add finds there is taken back.
 */
static enum seen_code add_new(struct change *m, struct seen_filter *f,
                              bool *fresh)
{
    enum seen_code code = seen_filter_has(f, m->key, m->n, fresh, &m->why);

    for (size_t i = 0; i < m->n && code == SEEN_OK; i++)
        m->result[i] = fresh[i] ? OLD : NEW;
    for (size_t i = 0; i < m->n && code == SEEN_OK; i++) {
        bool new = false;

        if (m->result[i] != NEW)
            continue;
        code = add(m, f, &m->key[i], 1, &new, &m->result[i]);
        if (code == SEEN_OK && m->result[i] == OLD)
            code = seen_filter_remove(f, &m->key[i], 1, &m->why);
    }
    return code;
}

static enum seen_code take_back(struct change *m, struct seen_filter *f)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < m->n && code == SEEN_OK; i++) {
        code = seen_filter_remove(f, &m->key[i], 1, &m->why);
        m->result[i] = code == SEEN_OK ? NEW : OLD;
        m->removed += code == SEEN_OK;
        if (code == SEEN_RANGE) /* its count is 0 */
            code = SEEN_OK;
    }
    return code;
}

static enum seen_code change_filter(struct change *m, struct seen_filter *f)
{
    bool *fresh = malloc(m->n);
    enum seen_code code;

    if (!fresh)
        return seen_fail(&m->why, SEEN_NOMEM, 0, "no memory for answers");
    if (m->how == CHANGE_REMOVE)
        code = take_back(m, f);
    else if (m->how == CHANGE_ADD_NEW)
        code = add_new(m, f, fresh);
    else
        code = add(m, f, m->key, m->n, fresh, m->result);
    free(fresh);
    return code;
}

/*
 * Several clients may make an archive at once, and who makes it has it to
 * himself for a moment: the others wait.
 */
static void wait_a_little(void)
{
    static const struct timespec moment = { .tv_nsec = 5000000 };

    nanosleep(&moment, NULL);
}

static enum seen_code make(struct change *m)
{
    struct span name = { m->name, strlen(m->name) };
    enum seen_code code = SEEN_BUSY;

    for (int i = 0; i < TRIES && code == SEEN_BUSY && !m->path; i++) {
        if (i)
            wait_a_little();
        m->path = path_of(m->library, m->name);
        if (!m->path)
            code = create_archive(m->library, name, &m->plan, &m->why);
    }
    if (!m->path && (code == SEEN_OK || code == SEEN_MISMATCH))
        m->path = path_of(m->library, m->name);
    if (m->path)
        return SEEN_OK;
    return code != SEEN_OK ? code
                           : seen_fail(&m->why, SEEN_IO, 0, "was not found");
}

static enum seen_code open_writer(struct change *m, struct writer **w)
{
    enum seen_code code = writer_get(w, m->library, m->path, &m->why);

    for (int i = 0; i < TRIES && code == SEEN_BUSY; i++) {
        wait_a_little();
        code = writer_get(w, m->library, m->path, &m->why);
    }
    return code;
}

/* Have the keys of all that are made together in the first of them. */
static enum seen_code collect(struct change *first)
{
    struct seen_key *key;
    signed char *result;
    size_t n = 0;

    for (struct change *m = first; m; m = m->next) {
        size_t at = 0;

        for (size_t i = 0; i < m->n; at += m->key[i++].len)
            m->key[i].text = m->text + at;
        n += m->n;
    }
    if (n == first->n)
        return SEEN_OK;
    key = realloc(first->key, n * sizeof *key);
    first->key = key ? key : first->key;
    result = realloc(first->result, n);
    first->result = result ? result : first->result;
    if (!key || !result)
        return seen_fail(&first->why, SEEN_NOMEM, 0, "no memory for keys");
    for (struct change *m = first->next; m; m = m->next) {
        memcpy(first->key + first->n, m->key, m->n * sizeof *key);
        memset(first->result + first->n, OLD, m->n);
        first->n += m->n;
    }
    return SEEN_OK;
}

/* Tell each of them what became of its own keys. */
static void hand_out(struct change *first)
{
    size_t at = first->n;

    for (struct change *m = first->next; m; m = m->next)
        at -= m->n;
    for (struct change *m = first->next; m; m = m->next) {
        memcpy(m->result, first->result + at, m->n);
        m->code = first->code;
        m->why = first->why;
        at += m->n;
    }
}

static void change_work(struct task *t)
{
    struct change *m = (struct change *)t;
    struct writer *w = NULL;
    enum seen_code code = collect(m);
    bool collected = code == SEEN_OK;

    if (code == SEEN_OK && !m->path)
        code = make(m);
    if (code == SEEN_OK)
        code = open_writer(m, &w);
    if (code == SEEN_OK)
        code = change_filter(m, writer_filter(w));
    if (w)
        writer_put(m->library, w);
    if (code != SEEN_OK)
        m->code = code;
    if (collected) {
        hand_out(m);
    } else {
        for (struct change *other = m->next; other; other = other->next) {
            other->code = m->code;
            other->why = m->why;
        }
    }
}

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
        m->task.work = change_work;
        m->task.answer = change_answer;
        m->task.clear = change_clear;
        m->how = how;
        m->library = c->server->library;
        m->name = word_copy(name);
        m->profile.rules = SEEN_RAW;
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

    while (m && (m->how != like->how || strcmp(m->name, like->name)))
        m = m->also_now;
    return m;
}

static void finish_all(struct change *first)
{
    for (struct change *m = first, *next; m; m = next) {
        next = m->next;
        finish(&m->task);
    }
}

static bool launch(struct loop *l, struct change *m);

/* Those who waited are started before those who are done are answered: what
   these ask for next may wait for them. */
static void done_change(struct job *j)
{
    struct change *m = (struct change *)j, *then = m->waiting;
    struct change **at = &under_way;

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
    m->task.job.run = run_task;
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

    set_conn(&m->task, c);
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
