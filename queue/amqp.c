/*
 * amqp.c - the queues of RabbitMQ that a name stands for, and their arguments.
 *
 * Nothing may be lost between two of them, so they dead-letter at-least-once,
 * which needs quorum queues and reject-publish (RabbitMQ 3.10 and later).
 *
 * The server refuses to declare a queue again with other arguments. A queue
 * that is used without queue_make() may have been made by another process as
 * a single one, so both sorts are tried. A user who may not declare queues
 * can use those that exist.
 */
#include "amqp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/disk/clock.h"
#include "../lib/text/array.h"
#include "../lib/text/span.h"

enum {
    OPENING = 10000,         /* ms that a server has at least at first */
    KILLS = QUEUE_TRIES - 1, /* x-delivery-limit counts *re*deliveries */
    LOOKS = 1 << 30          /* the same for dead letters, which are only
                                looked at; newer servers have a low default */
};

uint64_t queue_amqp_patience(const struct queue_amqp_place *p)
{
    return clock_ms() + p->base.settings.patience;
}

void queue_amqp_part_name(const struct queue_amqp_place *p,
                          char to[QUEUE_AMQP_NAME], const char *name,
                          unsigned part)
{
    unsigned ms;

    if (part == QUEUE_PART_MAIN) {
        snprintf(to, QUEUE_AMQP_NAME, "%s", name);
        return;
    }
    if (part == QUEUE_PART_DEAD) {
        snprintf(to, QUEUE_AMQP_NAME, "%s.dead", name);
        return;
    }
    ms = p->base.settings.pauses[part - QUEUE_PART_RETRY];
    if (ms % 1000)
        snprintf(to, QUEUE_AMQP_NAME, "%s.retry.%ums", name, ms);
    else
        snprintf(to, QUEUE_AMQP_NAME, "%s.retry.%us", name, ms / 1000);
}

/* --- declare --- */

static void add_text(amqp_table_t *t, const char *key, const char *text)
{
    amqp_table_entry_t *e = &t->entries[t->num_entries++];

    e->key = amqp_cstring_bytes(key);
    e->value.kind = AMQP_FIELD_KIND_UTF8;
    e->value.value.bytes = amqp_cstring_bytes(text);
}

static void add_number(amqp_table_t *t, const char *key, unsigned number)
{
    amqp_table_entry_t *e = &t->entries[t->num_entries++];

    e->key = amqp_cstring_bytes(key);
    e->value.kind = AMQP_FIELD_KIND_I32;
    e->value.value.i32 = (int32_t)number;
}

static enum seen_code declare(struct queue_amqp_place *p, const char *name,
                              unsigned part, bool single, bool passive,
                              uint64_t until, struct seen_error *why)
{
    char self[QUEUE_AMQP_NAME], other[QUEUE_AMQP_NAME];
    amqp_table_entry_t entry[8];
    amqp_queue_declare_t m = { .durable = 1, .passive = passive };
    enum seen_code code = queue_amqp_control(p, until, why);

    if (code != SEEN_OK)
        return code;
    queue_amqp_part_name(p, self, name, part);
    m.queue = amqp_cstring_bytes(self);
    m.arguments.entries = entry;
    if (!passive) {
        add_text(&m.arguments, "x-queue-type", "quorum");
        add_text(&m.arguments, "x-overflow", "reject-publish");
    }
    if (!passive && part == QUEUE_PART_DEAD)
        add_number(&m.arguments, "x-delivery-limit", LOOKS);
    if (!passive && part != QUEUE_PART_DEAD) {
        queue_amqp_part_name(p, other, name,
                             part == QUEUE_PART_MAIN ? QUEUE_PART_DEAD
                                                     : QUEUE_PART_MAIN);
        add_text(&m.arguments, "x-dead-letter-exchange", "");
        add_text(&m.arguments, "x-dead-letter-routing-key", other);
        add_text(&m.arguments, "x-dead-letter-strategy", "at-least-once");
        if (part == QUEUE_PART_MAIN)
            add_number(&m.arguments, "x-delivery-limit", KILLS);
        else
            add_number(&m.arguments, "x-message-ttl",
                       p->base.settings.pauses[part - QUEUE_PART_RETRY]);
        if (single) {
            amqp_table_entry_t *e = &entry[m.arguments.num_entries++];

            e->key = amqp_cstring_bytes("x-single-active-consumer");
            e->value.kind = AMQP_FIELD_KIND_BOOLEAN;
            e->value.value.boolean = 1;
        }
    }
    return queue_amqp_call(&p->out, QUEUE_AMQP_CONTROL,
                           AMQP_QUEUE_DECLARE_METHOD, &m, until, why);
}

/* The server's words are "... inequivalent arg 'x-...' for queue ...". */
static enum seen_code mismatch(struct queue_amqp_place *p, const char *name,
                               struct seen_error *why)
{
    const char *arg = strstr(p->out.closed_text, "arg '");
    char key[32] = "sort";

    if (arg)
        snprintf(key, sizeof key, "%.*s", (int)strcspn(arg + 5, "'"), arg + 5);
    return seen_fail(why, SEEN_MISMATCH, 0,
                     "%.50s: queue %.30s is there with another %s; empty and "
                     "delete it, or use another name",
                     p->to.name, name, key);
}

static enum seen_code declare_part(struct queue_amqp_place *p,
                                   const char *name, unsigned part,
                                   bool single, uint64_t until,
                                   struct seen_error *why)
{
    char self[QUEUE_AMQP_NAME];
    enum seen_code code = declare(p, name, part, single, false, until, why);

    if (code != SEEN_UNABLE || p->out.hopeless ||
        p->out.closed_code != AMQP_ACCESS_REFUSED)
        return code;
    code = declare(p, name, part, single, true, until, why);
    queue_amqp_part_name(p, self, name, part);
    if (code == SEEN_ABSENT)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "%.60s: user %.20s may not make the queue %.40s",
                         p->to.name, p->to.user, self);
    return code;
}

/* --- what is known --- */

static struct queue_amqp_known *find_known(struct queue_amqp_place *p,
                                           const char *name)
{
    struct queue_amqp_known *more;

    for (size_t i = 0; i < p->n_known; i++)
        if (!strcmp(p->known[i].name, name))
            return &p->known[i];
    more = array_grow(p->known, &p->known_room, p->n_known + 1, sizeof *more);
    if (!more)
        return NULL;
    p->known = more;
    more += p->n_known;
    *more = (struct queue_amqp_known){ .name = strdup(name) };
    if (!more->name)
        return NULL;
    p->n_known++;
    return more;
}

/* Dead letters first: what dies must have a place to go. */
static enum seen_code make_parts(struct queue_amqp_place *p,
                                 struct queue_amqp_known *k, unsigned part,
                                 bool single, bool either, uint64_t until,
                                 struct seen_error *why)
{
    const unsigned need[] = { QUEUE_PART_DEAD, QUEUE_PART_MAIN, part };
    enum seen_code code = SEEN_OK;

    for (int i = 0; i < 3 && code == SEEN_OK; i++) {
        if (k->made & 1u << need[i])
            continue;
        code = declare_part(p, k->name, need[i],
                            single && need[i] == QUEUE_PART_MAIN, until, why);
        if (code == SEEN_MISMATCH && either && need[i] == QUEUE_PART_MAIN)
            code = declare_part(p, k->name, need[i], !single, until, why);
        if (code == SEEN_MISMATCH) {
            char self[QUEUE_AMQP_NAME];

            queue_amqp_part_name(p, self, k->name, need[i]);
            return mismatch(p, self, why);
        }
        if (code == SEEN_OK)
            k->made |= 1u << need[i];
    }
    return code;
}

static enum seen_code make_known(struct queue_amqp_place *p, const char *name,
                                 unsigned part, bool single, bool either,
                                 bool again, struct seen_error *why)
{
    struct queue_amqp_known *k = find_known(p, name);
    uint64_t until = queue_amqp_patience(p);
    enum seen_code code;

    if (!k)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a queue");
    if (again)
        k->made = 0;
    if (k->made & 1u << part && either)
        return SEEN_OK;
    do
        code = make_parts(p, k, part, single, either, until, why);
    while (code == SEEN_IO && clock_ms() < until);
    return code;
}

enum seen_code queue_amqp_need(struct queue_amqp_place *p, const char *name,
                               unsigned part, bool again,
                               struct seen_error *why)
{
    return make_known(p, name, part, false, true, again, why);
}

static enum seen_code make(struct queue *q, const char *name, bool single,
                           struct seen_error *why)
{
    struct queue_amqp_place *p = (struct queue_amqp_place *)q;

    queue_amqp_attend(p);
    return make_known(p, name, QUEUE_PART_MAIN, single, false, true, why);
}

/* --- connections --- */

enum seen_code queue_amqp_ready(struct queue_amqp_place *p, uint64_t until,
                                struct seen_error *why)
{
    amqp_confirm_select_t select = { .nowait = 0 };
    enum seen_code code;

    do {
        code = queue_amqp_connect(&p->out, until, why);
        if (code != SEEN_OK || p->out_ready == p->out.generation)
            return code;
        code = queue_amqp_channel(&p->out, QUEUE_AMQP_CONFIRMS, until, why);
        if (code == SEEN_OK)
            code = queue_amqp_call(&p->out, QUEUE_AMQP_CONFIRMS,
                                   AMQP_CONFIRM_SELECT_METHOD, &select, until,
                                   why);
        if (code == SEEN_OK) {
            p->out_ready = p->out.generation;
            p->flight.last = 0;
        }
    } while (code == SEEN_IO && clock_ms() < until);
    return code;
}

enum seen_code queue_amqp_control(struct queue_amqp_place *p, uint64_t until,
                                  struct seen_error *why)
{
    enum seen_code code;

    do {
        code = queue_amqp_ready(p, until, why);
        if (code != SEEN_OK || p->control_ready == p->out.generation)
            return code;
        code = queue_amqp_channel(&p->out, QUEUE_AMQP_CONTROL, until, why);
        if (code == SEEN_OK)
            p->control_ready = p->out.generation;
    } while (code == SEEN_IO && clock_ms() < until);
    return code;
}

void queue_amqp_attend(struct queue_amqp_place *p)
{
    if (p->out.state)
        queue_amqp_serve(&p->out);
    if (p->in.state)
        queue_amqp_serve(&p->in);
}

static enum seen_code keep(struct queue *q, struct seen_error *why)
{
    (void)why;
    queue_amqp_attend((struct queue_amqp_place *)q);
    return SEEN_OK;
}

static enum seen_code open_place(struct queue *q, const char *where,
                                 struct seen_error *why)
{
    struct queue_amqp_place *p = (struct queue_amqp_place *)q;
    unsigned lease = q->settings.lease / 1000;
    unsigned patience = q->settings.patience;
    enum seen_code code = queue_amqp_parse(&p->to, where, why);

    if (code != SEEN_OK)
        return code;
    q->name = strdup(p->to.name);
    if (!q->name)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a queue");
    p->out.to = p->in.to = &p->to;
    p->out.owner = p->in.owner = p;
    p->out.client = p->in.client = q->owner;
    p->out.events = &queue_amqp_out_events;
    p->in.events = &queue_amqp_in_events;
    p->out.heartbeat = p->in.heartbeat = lease < 1       ? 1
                                         : lease > 65535 ? 65535
                                                         : lease;
    /* One try: a wrong address is reported at once. But nobody has taken
       anything yet, so a slow server has its time, whatever the patience. */
    if (patience < OPENING)
        patience = OPENING;
    code = queue_amqp_connect(&p->out, 0, why);
    return code != SEEN_OK ? code
                           : queue_amqp_ready(p, clock_ms() + patience, why);
}

static void close_place(struct queue *q)
{
    struct queue_amqp_place *p = (struct queue_amqp_place *)q;

    queue_amqp_disconnect(&p->in);
    queue_amqp_disconnect(&p->out);
    queue_amqp_free_consumers(p);
    for (size_t i = 0; i < p->n_known; i++)
        free(p->known[i].name);
    free(p->known);
    free(p->flight.state);
    free(p->flight.index);
    queue_amqp_forget(&p->to);
}

/* --- stats --- */

/* SEEN_ABSENT, and 0 messages, if there is no such queue. */
static enum seen_code count(struct queue_amqp_place *p, const char *name,
                            unsigned part, int64_t *n, struct seen_error *why)
{
    uint64_t until = queue_amqp_patience(p);
    enum seen_code code;

    do
        code = declare(p, name, part, false, true, until, why);
    while (code == SEEN_IO && clock_ms() < until);
    *n = code == SEEN_OK ? (int64_t)p->out.reply_count : 0;
    return code;
}

enum seen_code queue_amqp_count(struct queue_amqp_place *p, const char *name,
                                unsigned part, int64_t *n,
                                struct seen_error *why)
{
    enum seen_code code = count(p, name, part, n, why);

    return code == SEEN_ABSENT ? SEEN_OK : code;
}

static enum seen_code stats_of(struct queue_amqp_place *p, const char *name,
                               struct queue_stats *s, struct seen_error *why)
{
    enum seen_code code;
    int64_t n = 0;

    *s = (struct queue_stats){ .name = span_of(name),
                               .taken = -1,
                               .oldest = -1,
                               .published = -1,
                               .done = -1 };
    code = count(p, name, QUEUE_PART_MAIN, &s->ready, why);
    if (code == SEEN_OK)
        code = queue_amqp_count(p, name, QUEUE_PART_DEAD, &s->dead, why);
    for (unsigned i = QUEUE_PART_RETRY; i < QUEUE_PARTS && code == SEEN_OK;
         i++) {
        if (!p->base.settings.pauses[i - QUEUE_PART_RETRY])
            continue;
        code = queue_amqp_count(p, name, i, &n, why);
        s->waiting += n;
    }
    return code;
}

/* The protocol cannot list queues: those that were used here, and those that
   the address or the settings name. Those that are not there are left out. */
static enum seen_code stats(struct queue *q, queue_take_stats *take,
                            void *owner, struct seen_error *why)
{
    struct queue_amqp_place *p = (struct queue_amqp_place *)q;
    const char *names = p->to.queues ? p->to.queues : p->base.settings.names;
    struct seen_span rest = span_of(names ? names : ""), word;
    enum seen_code code = SEEN_OK;
    struct queue_stats s;

    queue_amqp_attend(p);
    while (span_cut(&rest, ',', &word)) {
        char name[QUEUE_NAME_MOST + 1];

        if (!word.len || word.len > QUEUE_NAME_MOST)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)word.len, word.text);
        if (!find_known(p, name))
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for a queue");
    }
    for (size_t i = 0; i < p->n_known && code == SEEN_OK; i++) {
        code = stats_of(p, p->known[i].name, &s, why);
        if (code == SEEN_OK && !take(owner, &s))
            break;
        if (code == SEEN_ABSENT)
            code = SEEN_OK;
    }
    return code;
}

const struct queue_backend queue_amqp = {
    .schemes = { "amqp://", "amqps://" },
    .size = sizeof(struct queue_amqp_place),
    .open = open_place,
    .close = close_place,
    .make = make,
    .publish = queue_amqp_publish,
    .take = queue_amqp_take,
    .done = queue_amqp_done,
    .retry = queue_amqp_retry,
    .reject = queue_amqp_reject,
    .give_back = queue_amqp_give_back,
    .keep = keep,
    .stats = stats,
    .dead = queue_amqp_dead,
    .revive = queue_amqp_revive,
    .drop = queue_amqp_drop_dead,
};
