/*
 * exists.c - was it added? Many lookups at once.
 *
 * A filter larger than the caches costs one cache miss or more per key, 100 ns
 * each if one waits for the other. So lookups that follow one another are a
 * group until there are ARCHIVE_BATCH, or until no more bytes are there:
 *
 *     BF.EXISTS haw a \
 *     BF.EXISTS haw b  > one seen_filter_has() of three keys
 *     BF.EXISTS haw c /
 *     PING               settles them first: replies keep their order
 *
 * A group with which all that a client sent ends waits for the end of the turn,
 * with those of other clients for the same archive: one lookup of all keys, and
 * one look at the file after it (../archives/archive.c), which was 7 % of the
 * time of a client that asks one by one.
 *
 * The keys are in loop->keys. Under `raw` they point to the bytes that were
 * read, which stay where they are until the read returns. Such an item may be
 * empty, or longer than any URL, as in Redis.
 */
#include <stdlib.h>

#include <seen/kind.h>

#include "command.h"

/* The groups of a turn. Each client has one of them at most. */
struct redis_batch {
    struct archive *archive;
    size_t groups, keys;
    struct redis_batched {
        struct conn *conn;
        size_t keys;
        bool flags;
    } group[ARCHIVE_BATCH];
    struct seen_key key[ARCHIVE_BATCH]; /* without texts */
    bool seen[ARCHIVE_BATCH];
    struct buffer out;
};

bool redis_batch_start(struct loop *l)
{
    l->lookups = calloc(1, sizeof *l->lookups);
    return l->lookups;
}

void redis_batch_stop(struct loop *l)
{
    if (l->lookups)
        buffer_clear(&l->lookups->out);
    free(l->lookups);
}

static enum seen_code look_up(struct loop *l, struct archive *a,
                              const struct seen_key *key, size_t n, bool *seen,
                              struct seen_error *why)
{
    enum seen_code code = archive_has(a, key, n, seen, why);
    size_t held = 0;

    if (code != SEEN_OK)
        return code;
    for (size_t i = 0; i < n; i++)
        held += seen[i];
    COUNT(l, asked, n);
    COUNT(l, held, held);
    return SEEN_OK;
}

/* Look up all of loop->keys. */
static enum seen_code ask(struct redis_call *c, struct archive *a,
                          struct seen_error *why)
{
    struct archive_keys *k = &c->loop->keys;

    return look_up(c->loop, a, k->key, k->n, k->seen, why);
}

static bool replies_flags(const struct redis_call *c,
                          const struct redis_command *of)
{
    return c->three && !(of->flags & FOR_SETS);
}

void redis_exists(struct redis_call *c)
{
    struct archive_keys *k = &c->loop->keys;
    struct seen_error why;
    bool replied;
    struct archive *a = redis_filter(c, &replied);

    if (replied)
        return;
    if (!a) {
        resp_flag(c->out, false, replies_flags(c, c->command));
        return;
    }
    archive_keys_clear(k);
    if (archive_keys_add(k, c->word[2], ARCHIVE_ANY, &a->profile, &why) !=
        SEEN_OK) {
        resp_error(c->out, "ERR %s", why.text);
        return;
    }
    if (a->cost > LOOP_SMALL && !loop_affords(c->loop, a->cost)) {
        redis_ask_aside(c, a, c->word + 2, 1, false,
                        replies_flags(c, c->command));
        return;
    }
    *c->group = (struct redis_group){ .command = c->command,
                                      .name = c->word[1],
                                      .archive = a };
}

bool redis_exists_join(struct redis_call *c)
{
    const struct redis_group *g = c->group;

    return c->words == 3 && g->archive->cost <= LOOP_SMALL &&
           span_equal(c->word[1], g->name) &&
           !archive_keys_full(&c->loop->keys) &&
           archive_keys_add(&c->loop->keys, c->word[2], ARCHIVE_ANY,
                            &g->archive->profile, NULL) == SEEN_OK;
}

void redis_exists_settle(struct redis_call *c)
{
    struct archive *a = c->group->archive;
    const struct archive_keys *k = &c->loop->keys;
    const bool flags = replies_flags(c, c->group->command);
    struct seen_error why;
    enum seen_code code = ask(c, a, &why);

    if (code != SEEN_OK)
        COUNT(c->loop, errors, k->n);
    for (size_t i = 0; i < k->n; i++)
        if (code == SEEN_OK)
            resp_flag(c->out, k->seen[i], flags);
        else
            resp_error(c->out, "ERR archive '%s': %s", a->name, why.text);
}

/* --- groups of many clients --- */

static void answer_batched(struct loop *l, const struct redis_batched *g,
                           const bool *seen, enum seen_code code,
                           const struct seen_error *why)
{
    struct redis_batch *b = l->lookups;
    struct buffer *out = g->conn == l->active ? &l->out : &b->out;

    g->conn->redis->put_off = false;
    if (code != SEEN_OK)
        COUNT(l, errors, g->keys);
    for (size_t i = 0; i < g->keys; i++)
        if (code == SEEN_OK)
            resp_flag(out, seen[i], g->flags);
        else
            resp_error(out, "ERR archive '%s': %s", b->archive->name,
                       why->text);
    if (out == &b->out)
        conn_send(g->conn, out);
}

void redis_batch_flush(struct loop *l)
{
    struct redis_batch *b = l->lookups;
    const size_t groups = b->groups, keys = b->keys;
    struct seen_error why;
    enum seen_code code;

    if (!groups)
        return;
    b->groups = b->keys = 0; /* first: answers are written below */
    l->batched -= groups;
    code = look_up(l, b->archive, b->key, keys, b->seen, &why);
    for (size_t i = 0, at = 0; i < groups; at += b->group[i++].keys)
        answer_batched(l, &b->group[i], b->seen + at, code, &why);
}

/* Kinds that hash the text need it until the lookup; but the bytes of the next
   client overwrite it. */
static bool can_wait(const struct redis_call *c)
{
    const struct redis_group *g = c->group;
    const struct redis_client *r = c->client;

    return g->command && !g->write && c->conn == c->loop->active &&
           c->conn->state == CONN_OPEN && !r->multi && !r->tracking &&
           r->mute == MUTE_NONE && !c->loop->draining &&
           g->archive->cost <= LOOP_SMALL &&
           !seen_filter_can(g->archive->filter, SEEN_READS_TEXT);
}

bool redis_exists_put_off(struct redis_call *c)
{
    const struct archive_keys *k = &c->loop->keys;
    const struct redis_group *g = c->group;
    struct loop *l = c->loop;
    struct redis_batch *b = l->lookups;

    if (!can_wait(c))
        return false;
    if (b->groups &&
        (b->archive != g->archive || k->n > ARCHIVE_BATCH - b->keys))
        loop_flush(l);
    b->archive = g->archive;
    memcpy(b->key + b->keys, k->key, k->n * sizeof *k->key);
    b->keys += k->n;
    b->group[b->groups++] = (struct redis_batched){
        c->conn, k->n, replies_flags(c, g->command)
    };
    l->batched++;
    c->client->put_off = true;
    *c->group = (struct redis_group){ .command = NULL };
    return true;
}

/* All items or none: one that is not a URL makes the command fail. */
void redis_mexists(struct redis_call *c)
{
    struct archive_keys *k = &c->loop->keys;
    const bool flags = replies_flags(c, c->command);
    const size_t before = c->out->len, items = c->words - 2;
    const struct seen_span *item = c->word + 2;
    struct seen_error why;
    bool replied;
    struct archive *a = redis_filter(c, &replied);

    if (replied)
        return;
    if (a && !loop_affords(c->loop, items * a->cost)) {
        redis_ask_aside(c, a, item, items, true, flags);
        return;
    }
    resp_array(c->out, items);
    for (size_t i = 0; i < items && !a; i++)
        resp_flag(c->out, false, flags);
    for (size_t i = 0; i < items && a;) {
        for (archive_keys_clear(k); i < items && !archive_keys_full(k); i++)
            if (archive_keys_add(k, item[i], ARCHIVE_ANY, &a->profile, &why) !=
                SEEN_OK) {
                c->out->len = before;
                resp_error(c->out, "ERR item %zu: %s", i + 1, why.text);
                return;
            }
        if (ask(c, a, &why) != SEEN_OK) {
            c->out->len = before;
            resp_error(c->out, "ERR archive '%s': %s", a->name, why.text);
            return;
        }
        for (size_t j = 0; j < k->n; j++)
            resp_flag(c->out, k->seen[j], flags);
    }
}
