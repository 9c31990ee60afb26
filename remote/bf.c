/*
 * bf.c - ask and add to a filter that a server has, with BF commands.
 *
 *     has   BF.MEXISTS haw TEXT TEXT ...   several in one pipeline, then
 *           EXISTS haw
 *     add   BF.INSERT haw NOCREATE ITEMS TEXT TEXT ...
 *
 * The server hashes the texts and has the bits; what goes over the wire is the
 * canonical text of each URL. Two servers know these commands:
 *
 *   seen serve    BF.INFO haw PLAN returns the plan, counts and metadata of the
 *                 filter, as its file has them. So the profile is known and
 *                 checked, and `seen info` prints what it prints of the file.
 *                 It makes the canonical text of what it gets, which is that
 *                 text again (doc/profiles.md).
 *   RedisBloom    records no profile. The address must have one: ?profile=.
 *
 * A missing key. BF.MEXISTS of a key that does not exist says 0 for each item,
 * which would read as "new". So EXISTS follows in the same pipeline, and if it
 * says 0 the batch is an error. Objection: the key may be deleted before
 * BF.MEXISTS and made again before EXISTS. Then a filter that is empty said
 * that it does not have the items, which is true. BF.INSERT with NOCREATE fails
 * by itself.
 *
 * A BF.INSERT that was not answered may have been done. It is SEEN_IO and not
 * sent again (server.h).
 *
 * `seen serve` accepts commands of 64 KiB without the token: commands stay
 * below.
 */
#include "bf.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum {
    BATCH = 8192,     /* keys of a pipeline */
    ITEMS = 256,      /* keys of a command */
    TEXT = 48 << 10,  /* bytes of a command, at which it takes no more keys */
    COMMANDS = BATCH, /* of a pipeline, at most: one per key */
};

struct remote_bf_filter {
    struct seen_filter base;       /* first: see kind_writer.h */
    struct remote_bf_filter *self; /* a lookup uses the connection, too */
    struct remote_server *server;
    struct remote_batch batch;
    pthread_mutex_t lock;
    struct seen_filter *shape; /* of `seen serve`: the plan, without cells.
                                  base borrows its parts and metadata */
    struct seen_filter *now;   /* the same, as it was read last; or NULL */
    bool stale;                /* keys were added since */
    bool still;                /* counts are those of the opening: remote.h */
    double entries;            /* of RedisBloom, which counts them */
    unsigned items[COMMANDS];  /* of each command */
};

/* --- commands --- */

static void put_words(struct remote_bf_filter *r, bool changes,
                      const char *command, const char *option)
{
    struct buffer *text = &r->batch.text;

    remote_batch_begin(&r->batch, 0, changes);
    remote_wire_count(text, option ? 3 : 2);
    remote_wire_text(text, command);
    remote_wire_text(text, r->server->address.name);
    if (option)
        remote_wire_text(text, option);
}

/* How many of n keys go into one command. */
static unsigned taken(const struct seen_key *key, size_t n)
{
    unsigned items = 0;

    for (size_t bytes = 0; items < n && items < ITEMS; items++) {
        bytes += key[items].len + 16;
        if (items && bytes > TEXT)
            break;
    }
    return items;
}

/* The commands for n keys; returns their number. */
static size_t put_keys(struct remote_bf_filter *r, bool add,
                       const struct seen_key *key, size_t n)
{
    struct buffer *text = &r->batch.text;
    size_t commands = 0;

    remote_batch_reset(&r->batch);
    for (size_t done = 0; done < n; done += r->items[commands++]) {
        unsigned items = taken(key + done, n - done);

        r->items[commands] = items;
        remote_batch_begin(&r->batch, 0, add);
        remote_wire_count(text, items + (add ? 4 : 2));
        remote_wire_text(text, add ? "BF.INSERT" : "BF.MEXISTS");
        remote_wire_text(text, r->server->address.name);
        if (add)
            buffer_text(text, "$8\r\nNOCREATE\r\n$5\r\nITEMS\r\n");
        for (unsigned i = 0; i < items; i++)
            remote_wire_word(text, key[done + i].text, key[done + i].len);
    }
    return commands;
}

/* --- replies --- */

static enum seen_code absent(struct seen_error *why)
{
    errno = 0;
    return seen_fail(why, SEEN_ABSENT, 0, "there is no filter of this name");
}

/* The error of a whole command, as ours. */
static enum seen_code refused(const redisReply *reply, struct seen_error *why)
{
    errno = 0;
    if (reply->type == REDIS_REPLY_ERROR &&
        (strcasestr(reply->str, "not found") ||
         strcasestr(reply->str, "does not exist")))
        return absent(why);
    if (reply->type == REDIS_REPLY_ERROR &&
        !strncmp(reply->str, "WRONGTYPE", 9))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "the key is not a filter of BF commands");
    return remote_reply_check(reply, REDIS_REPLY_ARRAY, why);
}

static enum seen_code unexpected(struct seen_error *why)
{
    errno = 0;
    return seen_fail(why, SEEN_CORRUPT, 0,
                     "the server gave a reply of another length or type");
}

/*
 * The answers of one command. A filter that is full ends them with an error in
 * the place of the first item that it refused: *good is how many were before.
 */
static enum seen_code read_flags(const redisReply *reply, unsigned items,
                                 bool *flag, size_t *good,
                                 struct seen_error *why)
{
    enum seen_code code = refused(reply, why);

    *good = 0;
    if (code != SEEN_OK)
        return code;
    for (size_t i = 0; i < reply->elements && i < items; i++) {
        const redisReply *it = reply->element[i];

        if (it->type == REDIS_REPLY_ERROR && strcasestr(it->str, "full"))
            return seen_fail(why, SEEN_FULL, 0,
                             "the filter holds all it was planned for");
        if (it->type == REDIS_REPLY_ERROR)
            return remote_reply_check(it, REDIS_REPLY_INTEGER, why);
        if (it->type != REDIS_REPLY_INTEGER)
            return unexpected(why);
        if (flag)
            flag[i] = it->integer != 0;
        *good += 1;
    }
    return reply->elements == items ? SEEN_OK : unexpected(why);
}

/* --- asking and adding --- */

static enum seen_code has_some(struct remote_bf_filter *r,
                               const struct seen_key *key, size_t n,
                               bool *seen, struct seen_error *why)
{
    size_t commands = put_keys(r, false, key, n), good;
    const redisReply *exists;
    enum seen_code code;

    put_words(r, false, "EXISTS", NULL);
    code = remote_server_run(r->server, &r->batch, why);
    for (size_t c = 0; c < commands && code == SEEN_OK; c++) {
        code = read_flags(r->batch.request[c].reply, r->items[c], seen, &good,
                          why);
        seen += r->items[c];
    }
    if (code != SEEN_OK)
        return code;
    exists = r->batch.request[commands].reply;
    code = remote_reply_check(exists, REDIS_REPLY_INTEGER, why);
    return code == SEEN_OK && !exists->integer ? absent(why) : code;
}

static enum seen_code bf_has(const struct seen_filter *f,
                             const struct seen_key *key, size_t n, bool *seen,
                             struct seen_error *why)
{
    struct remote_bf_filter *r = ((const struct remote_bf_filter *)f)->self;
    enum seen_code code = SEEN_OK;

    pthread_mutex_lock(&r->lock);
    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        code = has_some(r, key + done, some, seen + done, why);
    }
    pthread_mutex_unlock(&r->lock);
    return code;
}

/* *done: how many keys are confirmed, up to the first that is not. */
static enum seen_code add_some(struct remote_bf_filter *r,
                               const struct seen_key *key, size_t n,
                               bool *fresh, size_t *done,
                               struct seen_error *why)
{
    size_t commands = put_keys(r, true, key, n), good;
    enum seen_code code = remote_server_run(r->server, &r->batch, why);

    *done = 0;
    for (size_t c = 0; c < commands && code == SEEN_OK; c++) {
        code = read_flags(r->batch.request[c].reply, r->items[c],
                          fresh ? fresh + *done : NULL, &good, why);
        *done += good;
    }
    return code;
}

static enum seen_code bf_add(struct seen_filter *f, const struct seen_key *key,
                             size_t n, bool *fresh, struct seen_error *why)
{
    struct remote_bf_filter *r = (struct remote_bf_filter *)f;
    struct seen_error unasked;
    enum seen_code code = SEEN_OK;

    why = why ? why : &unasked;
    pthread_mutex_lock(&r->lock);
    r->stale = true;
    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        code = add_some(r, key + done, some, fresh ? fresh + done : NULL,
                        &some, why);
        if (code != SEEN_OK)
            why->at = done + some;
    }
    pthread_mutex_unlock(&r->lock);
    return code;
}

/* --- what it is --- */

/* The text of BF.INFO name PLAN, which only `seen serve` has; or NULL. */
static const char *plan_of(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements == 1 &&
                   reply->element[0]->type == REDIS_REPLY_STRING
               ? reply->element[0]->str
               : NULL;
}

/* After adds, counts are asked for again; without an answer they stay. */
static const struct seen_filter *current(const struct seen_filter *f)
{
    struct remote_bf_filter *r = ((const struct remote_bf_filter *)f)->self;
    struct seen_filter *now = NULL;
    const char *text;

    if (r->still)
        return r->shape;
    pthread_mutex_lock(&r->lock);
    if (r->shape && r->stale) {
        remote_batch_reset(&r->batch);
        put_words(r, false, "BF.INFO", "PLAN");
        if (remote_server_run(r->server, &r->batch, NULL) == SEEN_OK &&
            (text = plan_of(r->batch.request[0].reply)) &&
            seen_store_restore(&now, text, NULL, NULL) == SEEN_OK) {
            seen_filter_free(r->now);
            r->now = now;
            r->stale = false;
        }
    }
    now = r->now ? r->now : r->shape;
    pthread_mutex_unlock(&r->lock);
    return now;
}

static double bf_rate(const struct seen_filter *f)
{
    const struct seen_filter *now = current(f);

    return now ? seen_filter_rate(now) : (double)NAN;
}

static double bf_entries(const struct seen_filter *f)
{
    const struct seen_filter *now = current(f);

    return now ? seen_filter_entries(now)
               : ((const struct remote_bf_filter *)f)->entries;
}

static double bf_planned(const struct seen_filter *f)
{
    const struct remote_bf_filter *r = (const struct remote_bf_filter *)f;

    return r->shape ? seen_filter_planned(r->shape) : (double)NAN;
}

/* A round trip, in cache lines. */
static uint64_t bf_cost(const struct seen_filter *f)
{
    (void)f;
    return 1000;
}

static void bf_clear(struct seen_filter *f)
{
    struct remote_bf_filter *r = (struct remote_bf_filter *)f;

    if (r->shape) { /* its parts and metadata are freed with base */
        r->shape->part = NULL;
        r->shape->parts = 0;
        r->shape->meta = NULL;
        seen_filter_free(r->shape);
    }
    seen_filter_free(r->now);
    remote_server_close(r->server);
    remote_batch_clear(&r->batch);
    pthread_mutex_destroy(&r->lock);
}

const struct seen_kind remote_bf = {
    .name = "bf",
    .synopsis = "bf",
    .summary = "a filter of a server, asked with BF commands",
    .state = sizeof(struct remote_bf_filter),
    .has = bf_has,
    .add = bf_add,
    .rate = bf_rate,
    .entries = bf_entries,
    .planned = bf_planned,
    .cost = bf_cost,
    .clear = bf_clear,
};

uint64_t remote_bf_losses(const struct seen_filter *f)
{
    return ((const struct remote_bf_filter *)f)->server->losses;
}

struct remote_server *remote_bf_server(const struct seen_filter *f)
{
    return f->kind == &remote_bf ? ((const struct remote_bf_filter *)f)->server
                                 : NULL;
}

/* --- opening --- */

/* A filter of `seen serve`: all that its file says. */
static enum seen_code adopt_plan(struct remote_bf_filter *r, const char *text,
                                 const char *profile, struct seen_error *why)
{
    const unsigned can = SEEN_CAN_ADD | SEEN_CAN_GROW | SEEN_ADDS_PARTS |
                         SEEN_IGNORES_ORDER;
    const struct seen_access access = { .profile = profile };
    enum seen_code code = seen_store_restore(&r->shape, text, &access, why);

    if (code != SEEN_OK)
        return code;
    r->base = *r->shape;
    r->base.traits = r->shape->traits & can;
    r->base.plan.keyed = false; /* the server has the secret and hashes */
    return SEEN_OK;
}

/* The number of a line of BF.INFO, or 0. */
static uint64_t fact(const redisReply *info, const char *name)
{
    for (size_t i = 0; i + 1 < info->elements; i += 2)
        if (info->element[i]->str &&
            !strcasecmp(info->element[i]->str, name) &&
            info->element[i + 1]->type == REDIS_REPLY_INTEGER &&
            info->element[i + 1]->integer > 0)
            return (uint64_t)info->element[i + 1]->integer;
    return 0;
}

static enum seen_code adopt_info(struct remote_bf_filter *r,
                                 const redisReply *info, const char *profile,
                                 struct seen_error *why)
{
    struct seen_plan *plan = &r->base.plan;
    enum seen_code code;

    if (!profile)
        return seen_fail(why, SEEN_RANGE, 0,
                         "RedisBloom does not record how URLs became keys; "
                         "add ?profile= and a profile to the address");
    code = seen_profile_find(NULL, profile, why);
    if (code != SEEN_OK)
        return code;
    snprintf(plan->kind, sizeof plan->kind, "RedisBloom");
    snprintf(plan->profile, sizeof plan->profile, "%s", profile);
    plan->capacity = fact(info, "Capacity");
    r->base.size = fact(info, "Size");
    r->base.cell_bits = 1;
    plan->bits = 8 * r->base.size;
    r->entries = (double)fact(info, "Number of items inserted");
    r->base.offered = (uint64_t)r->entries;
    r->base.traits = SEEN_CAN_ADD;
    if (fact(info, "Expansion rate"))
        r->base.traits |= SEEN_CAN_GROW;
    return SEEN_OK;
}

static enum seen_code ask_what(struct remote_bf_filter *r, const char *profile,
                               struct seen_error *why)
{
    const redisReply *exists, *info;
    const char *text;
    enum seen_code code;

    put_words(r, false, "EXISTS", NULL);
    put_words(r, false, "BF.INFO", NULL);
    put_words(r, false, "BF.INFO", "PLAN");
    code = remote_server_run(r->server, &r->batch, why);
    if (code != SEEN_OK)
        return code;
    exists = r->batch.request[0].reply;
    info = r->batch.request[1].reply;
    /* First, since every name is absent where there are no such commands. */
    code = refused(info, why);
    if (code == SEEN_OK)
        code = remote_reply_check(exists, REDIS_REPLY_INTEGER, why);
    if (code == SEEN_OK && !exists->integer)
        return absent(why);
    if (code != SEEN_OK)
        return code;
    text = plan_of(r->batch.request[2].reply);
    return text ? adopt_plan(r, text, profile, why)
                : adopt_info(r, info, profile, why);
}

enum seen_code remote_bf_open(struct seen_filter **out,
                              struct remote_address *a,
                              const struct remote_options *options,
                              struct seen_error *why)
{
    struct remote_bf_filter *r;
    enum seen_code code;

    *out = NULL;
    errno = 0;
    if (options->over)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the server decides when the filter is full: it "
                         "cannot be overfilled with BF commands");
    r = calloc(1, sizeof *r);
    if (!r)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a filter");
    r->self = r;
    r->still = options->still;
    pthread_mutex_init(&r->lock, NULL);
    code = remote_server_open(&r->server, a, options->warn, options->whose,
                              why);
    if (code == SEEN_OK)
        code = ask_what(r, options->profile, why);
    r->base.kind = &remote_bf;
    r->base.has_one = NULL; /* it would look for cells in memory */
    r->base.traits |= SEEN_READS_TEXT | SEEN_IS_SLOW | SEEN_CELLS_ELSEWHERE;
    if (code != SEEN_OK) {
        int system = errno;

        seen_filter_free(&r->base);
        errno = system;
        return code;
    }
    *out = &r->base;
    return SEEN_OK;
}
