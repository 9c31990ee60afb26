/*
 * redis.c - commands of a client, one after the other.
 *
 * Most commands come many in a row: the row of the table that was found last
 * is tried first, so that finding it costs a memcmp().
 */
#include "redis.h"

#include <stdlib.h>

#include "command.h"

/* --- a client --- */

void redis_trust(struct redis_client *r, bool trusted)
{
    static const struct resp_limit anybody = { REDIS_WORDS, 1 << 16, 1 << 20 };
    static const struct resp_limit trustee = { REDIS_WORDS_TRUST, 1 << 26,
                                               1 << 26 };

    if (trusted && !r->word)
        r->word = malloc(REDIS_WORDS_TRUST * sizeof *r->word);
    r->trusted = trusted;
    r->limit = trusted && r->word ? trustee : anybody;
}

static struct redis_client *client_of(struct conn *c)
{
    static uint64_t ids;

    if (!c->redis) {
        c->redis = calloc(1, sizeof *c->redis);
        if (!c->redis)
            return NULL;
        c->redis->id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
        c->redis->since = c->loop->now;
        redis_trust(c->redis, false);
    }
    return c->redis;
}

static void forget(struct conn *c)
{
    if (c->redis)
        free(c->redis->word);
    free(c->redis);
    c->redis = NULL;
}

/* The row of a command, trying the last one first. */
static const struct redis_command *find(struct redis_client *r,
                                        struct seen_span name)
{
    const struct redis_command *found;

    if (r->last && name.len == r->spelled_len &&
        !memcmp(name.text, r->spelled, name.len))
        return r->last;
    found = redis_find(name);
    if (found) {
        r->last = found;
        r->spelled_len = name.len;
        memcpy(r->spelled, name.text, name.len);
    }
    return found;
}

/* --- commands --- */

/* Answer what was gathered. A change makes the connection wait for it. */
static void settle(struct redis_call *c)
{
    if (!c->gather->command)
        return;
    if (c->gather->write)
        redis_write_settle(c);
    else
        redis_exists_settle(c);
    *c->gather = (struct redis_gather){ .command = NULL };
}

/* Answer one command, when nothing is gathered. */
static void answer(struct redis_call *c)
{
    struct redis_client *r = c->client;
    size_t before = c->out->len;
    int arity;

    COUNT(c->loop, commands, 1);
    if (r->mute == MUTE_NEXT)
        r->mute = MUTE_THIS;
    if (!c->command) {
        redis_bad_command(c);
    } else {
        arity = c->command->arity;
        if (arity > 0 ? c->words != (size_t)arity : c->words < (size_t)-arity)
            redis_bad_arity(c);
        else if (redis_allowed(c))
            c->command->run(c);
    }
    if (r->mute != MUTE_NONE)
        settle(c); /* its reply is dropped, and no other */
    if (c->out->len > before && c->out->bytes[before] == '-')
        COUNT(c->loop, errors, 1);
    if (redis_muted(c))
        c->out->len = before;
    if (r->mute == MUTE_THIS)
        r->mute = MUTE_NONE;
}

static bool joins(struct redis_call *c)
{
    c->command = find(c->client, c->word[0]);
    if (!c->command || c->gather->command != c->command ||
        !c->command->join(c))
        return false;
    COUNT(c->loop, commands, 1);
    return true;
}

/*
 * A command either joins what is gathered, or what is gathered is settled
 * before anything else is done. If it is a change, the command is not taken
 * then, and read again afterwards; words on a line, which are unquoted in
 * place, are not even read while something is gathered.
 */
static size_t read_commands(struct conn *conn, char *text, size_t len)
{
    struct redis_client *r = client_of(conn);
    struct seen_span few[REDIS_WORDS];
    struct redis_gather gather = { .command = NULL };
    struct redis_call c = { .conn = conn,
                            .client = r,
                            .loop = conn->loop,
                            .server = conn->loop->server,
                            .out = conn_out(conn),
                            .gather = &gather };
    enum resp_state state = RESP_EMPTY;
    size_t done = 0, used = 0;
    const char *fault = NULL;

    if (!r) {
        conn_finish(conn);
        return 0;
    }
    for (; state != RESP_PARTIAL; done += used) {
        used = 0;
        state = RESP_PARTIAL;
        c.word = r->word ? r->word : few;
        c.three = r->three;
        if (done < len && conn->state == CONN_OPEN && !conn_full(conn) &&
            (text[done] == '*' || !gather.command))
            state = resp_parse(&r->reader, text + done, len - done, &r->limit,
                               r->word ? r->word : few, &c.words, &used,
                               &fault);
        if (state == RESP_WHOLE && joins(&c))
            continue;
        settle(&c);
        if (conn->state != CONN_OPEN)
            break;
        if (state == RESP_FAULT) {
            COUNT(conn->loop, errors, 1);
            resp_error(c.out, "%s", fault);
            conn_finish(conn);
            break;
        }
        if (state == RESP_WHOLE)
            answer(&c);
    }
    return done;
}

/* --- the protocol --- */

/*
 * "*" begins a command; else the first line decides: a request of HTTP ends
 * with its version, a command begins with a word that we know.
 */
static enum protocol_guess guess(const char *text, size_t len)
{
    const char *end = memchr(text, '\n', len);
    struct seen_span first = { text, 0 };

    if (text[0] == '*' &&
        (len == 1 || (text[1] >= '0' && text[1] <= '9') || text[1] == '-'))
        return GUESS_YES;
    if (!end && len < CONN_LINE && text[0] >= 'A')
        return GUESS_MORE;
    if (!end || memmem(text, (size_t)(end - text), " HTTP/", 6))
        return GUESS_NO;
    while (text + first.len < end && (unsigned char)text[first.len] > ' ')
        first.len++;
    return redis_find(first) ? GUESS_YES : GUESS_NO;
}

const struct protocol redis_protocol = {
    .guess = guess, .read = read_commands, .forget = forget, .patient = true
};
