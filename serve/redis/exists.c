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
 * The keys are in loop->keys. Under `raw` they point to the bytes that were
 * read, which stay where they are until the read returns. Such an item may be
 * empty, or longer than any URL, as in Redis.
 */
#include "command.h"

/* Look up all of loop->keys. */
static enum seen_code ask(struct redis_call *c, struct archive *a,
                          struct seen_error *why)
{
    struct archive_keys *k = &c->loop->keys;
    enum seen_code code = archive_has(a, k->key, k->n, k->seen, why);
    size_t held = 0;

    if (code != SEEN_OK)
        return code;
    for (size_t i = 0; i < k->n; i++)
        held += k->seen[i];
    COUNT(c->loop, asked, k->n);
    COUNT(c->loop, held, held);
    return SEEN_OK;
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
