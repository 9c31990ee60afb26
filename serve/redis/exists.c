/*
 * exists.c - was it added? Many questions at once.
 *
 * A filter larger than the caches costs a miss or more a key, 100 ns each if
 * one waits for the other. So questions that follow one another wait until
 * there are LOOP_BATCH of them, or what was sent is at its end:
 *
 *     BF.EXISTS haw a \
 *     BF.EXISTS haw b  > one seen_filter_has() of three keys
 *     BF.EXISTS haw c /
 *     PING               settles them first: replies keep their order
 *
 * The keys are in loop->keys. Under `raw` they point to what was read, which
 * stays where it is until redis_drive() returns; nothing waits longer. Such
 * an item may be empty, or longer than any URL, as Redis' may.
 */
#define _GNU_SOURCE
#include "command.h"

/* Put a key into loop->keys, where there is room for one. */
static enum seen_code put_key(struct call *c, const struct archive *a,
                              struct span item, struct seen_error *why)
{
    struct keys *k = &c->loop->keys;

    if (a->profile.rules != SEEN_RAW)
        return keys_add(k, item.text, item.len, &a->profile, why);
    seen_key_hash(&k->key[k->n++], item.text, item.len);
    return SEEN_OK;
}

static bool has_room(const struct keys *k)
{
    return k->n < LOOP_BATCH && k->used < LOOP_TEXT;
}

/* Ask for all of loop->keys. */
static enum seen_code ask(struct call *c, struct archive *a,
                          struct seen_error *why)
{
    struct keys *k = &c->loop->keys;
    enum seen_code code = archive_ask(a, k->key, k->n, k->seen, why);
    size_t held = 0;

    if (code != SEEN_OK)
        return code;
    for (size_t i = 0; i < k->n; i++)
        held += k->seen[i];
    COUNT(c->loop, asked, k->n);
    COUNT(c->loop, held, held);
    return SEEN_OK;
}

static bool replies_flags(const struct call *c, const struct command *of)
{
    return c->three && !(of->flags & FOR_SETS);
}

void exists_one(struct call *c)
{
    struct keys *k = &c->loop->keys;
    struct seen_error why;
    bool told;
    struct archive *a = call_archive(c, c->word[1], &told);

    if (told)
        return;
    if (!a) {
        resp_flag(c->out, false, replies_flags(c, c->command));
        return;
    }
    k->n = k->used = 0;
    if (put_key(c, a, c->word[2], &why) != SEEN_OK) {
        resp_error(c->out, "ERR %s", why.text);
        return;
    }
    *c->gather = (struct gather){ .command = c->command,
                                  .name = c->word[1],
                                  .archive = a };
}

bool exists_join(struct call *c)
{
    const struct gather *g = c->gather;

    return c->words == 3 && c->word[1].len == g->name.len &&
           !memcmp(c->word[1].text, g->name.text, g->name.len) &&
           has_room(&c->loop->keys) &&
           put_key(c, g->archive, c->word[2], NULL) == SEEN_OK;
}

void exists_settle(struct call *c)
{
    struct archive *a = c->gather->archive;
    const struct keys *k = &c->loop->keys;
    const bool flags = replies_flags(c, c->gather->command);
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

/* All items or none: one that is no URL makes an error of the whole. */
void exists_many(struct call *c)
{
    struct keys *k = &c->loop->keys;
    const bool flags = replies_flags(c, c->command);
    const size_t before = c->out->len, items = c->words - 2;
    const struct span *item = c->word + 2;
    struct seen_error why;
    bool told;
    struct archive *a = call_archive(c, c->word[1], &told);

    if (told)
        return;
    resp_array(c->out, items);
    for (size_t i = 0; i < items && !a; i++)
        resp_flag(c->out, false, flags);
    for (size_t i = 0; i < items && a;) {
        for (k->n = k->used = 0; i < items && has_room(k); i++)
            if (put_key(c, a, item[i], &why) != SEEN_OK) {
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
