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

/*
 * Anybody may look URLs up, so the limits before AUTH are not as low as those
 * of Redis, where nothing can be done before it: a command of 64 KiB, a word
 * of 16 KiB. A client with the token may be idle as long as it likes, and so
 * may others on a port of their own, until there are too many clients.
 */
void redis_trust(struct conn *c, bool trusted)
{
    static const struct resp_limit anybody = { REDIS_WORDS, 1 << 14, 1 << 16 };
    static const struct resp_limit trustee = { REDIS_WORDS_TRUST, 1 << 26,
                                               1 << 26 };
    struct redis_client *r = c->redis;

    if (trusted && !r->word)
        r->word = malloc(REDIS_WORDS_TRUST * sizeof *r->word);
    r->trusted = c->trusted = trusted;
    r->limit = trusted && r->word ? trustee : anybody;
    c->patient = trusted || c->own_port;
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
        redis_trust(c, c->loop->server->options.open);
    }
    return c->redis;
}

static void forget(struct conn *c)
{
    if (c->redis) {
        redis_multi_free(c->redis);
        free(c->redis->word);
    }
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

void redis_settle(struct redis_call *c)
{
    if (!c->group->command)
        return;
    if (c->group->write)
        redis_write_settle(c);
    else
        redis_exists_settle(c);
    *c->group = (struct redis_group){ .command = NULL };
}

bool redis_join(struct redis_call *c)
{
    if (c->group->command != c->command || !c->command || !c->command->join(c))
        return false;
    COUNT(c->loop, commands, 1);
    return true;
}

/*
 * A web page can make a browser send a request to this port, with lines in
 * its body that are commands, and even with a command as its method:
 *
 *     DEL /haw HTTP/1.1
 *
 * So a line that ends with a version of HTTP ends the connection before
 * anything is run, as do lines that Redis knows HTTP by. No other protocol that
 * a browser can be made to speak begins with a command that we know, so another
 * first line ends the connection, too: what follows may be of someone's
 * choosing (a ClientHello of TLS with line feeds in a name).
 */
static bool is_request_line(const char *text, size_t len)
{
    const char *end = memchr(text, '\n', len);
    const char *space;

    if (!end)
        return false;
    space = memrchr(text, ' ', (size_t)(end - text));
    return space && end - space > 6 && !memcmp(space + 1, "HTTP/", 5);
}

static bool is_foreign(const struct redis_call *c, bool first)
{
    return first || span_like(c->word[0], "POST") ||
           span_like(c->word[0], "Host:");
}

/* Is it a command that may be run? If not, that is replied. */
static bool check(struct redis_call *c)
{
    int arity;

    if (!c->command) {
        redis_bad_command(c);
        return false;
    }
    arity = c->command->arity;
    if (arity > 0 ? c->words != (size_t)arity : c->words < (size_t)-arity) {
        redis_bad_arity(c);
        return false;
    }
    return redis_allowed(c);
}

static bool is_muted(const struct redis_client *r)
{
    return r->mute == MUTE_ALL || r->mute == MUTE_THIS;
}

/* Answer one command, when there is no group. */
static void answer(struct redis_call *c)
{
    struct redis_client *r = c->client;
    size_t before = c->out->len;

    COUNT(c->loop, commands, 1);
    if (c->command && c->command->run != redis_exists)
        loop_flush(c->loop); /* what was asked before is answered before */
    if (r->mute == MUTE_NEXT)
        r->mute = MUTE_THIS;
    r->muted = is_muted(r); /* the command may be CLIENT REPLY */
    if (!check(c))
        redis_multi_spoil(r);
    else if (r->multi && !(c->command->flags & NOT_QUEUED))
        redis_multi_queue(c);
    else
        c->command->run(c);
    r->read |= c->command && !(c->command->flags & NO_NAMES);
    if (r->mute != MUTE_NONE)
        redis_settle(c); /* its reply is dropped, and no other */
    if (c->out->len > before && c->out->bytes[before] == '-')
        COUNT(c->loop, errors, 1);
    if (is_muted(r))
        c->out->len = before;
    if (r->mute == MUTE_THIS)
        r->mute = MUTE_NONE;
    if (!r->multi)
        c->conn->until = 0; /* of a transaction */
}

/*
 * A command either joins the group, or the group is settled before anything
 * else is done. If it is a change, the command is not taken then, and read
 * again afterwards; words on a line, which are unquoted in place, are not even
 * read while there is a group.
 */
static size_t read_commands(struct conn *conn, char *text, size_t len)
{
    struct redis_client *r = client_of(conn);
    struct seen_span few[REDIS_WORDS];
    struct redis_group group = { .command = NULL };
    struct redis_call c;
    enum resp_state state = RESP_EMPTY;
    size_t done = 0, used = 0;
    const char *fault = NULL;

    if (!r) {
        conn_finish(conn);
        return 0;
    }
    if (r->put_off)
        loop_flush(conn->loop); /* or replies would change places */
    c = redis_call_of(conn, &conn->loop->out, &group);
    for (; state != RESP_PARTIAL; done += used) {
        const bool on_line = done < len && text[done] != '*';

        used = 0;
        state = RESP_PARTIAL;
        c.word = r->word ? r->word : few;
        c.three = r->three;
        if (done < len && conn->state == CONN_OPEN && !conn_full(conn) &&
            (!on_line || !group.command)) {
            if (on_line && is_request_line(text + done, len - done)) {
                COUNT(conn->loop, errors, 1);
                conn_finish(conn);
                break;
            }
            state = resp_parse(&r->reader, text + done, len - done, &r->limit,
                               r->word ? r->word : few, &c.words, &used,
                               &fault);
        }
        if (state == RESP_WHOLE) {
            c.command = find(r, c.word[0]);
            if (redis_join(&c))
                continue;
        }
        if (state == RESP_PARTIAL && redis_exists_put_off(&c))
            break;
        redis_settle(&c);
        if (conn->state != CONN_OPEN)
            break;
        if (state == RESP_FAULT) {
            COUNT(conn->loop, errors, 1);
            resp_error(c.out, "%s", fault);
            conn_finish(conn);
            break;
        }
        if (state == RESP_WHOLE && !c.command &&
            is_foreign(&c, on_line && !r->last)) {
            COUNT(conn->loop, errors, 1);
            conn_finish(conn);
        } else if (state == RESP_WHOLE) {
            answer(&c);
        }
    }
    if (conn->state != CONN_WAITING) /* or after the reply that it waits for */
        redis_tell_changes(r, c.out);
    return done;
}

/* --- the protocol --- */

static size_t memory(const struct conn *c)
{
    return c->redis ? redis_multi_memory(c->redis) : 0;
}

static void overload(struct conn *c)
{
    resp_error(conn_out(c), "OOM the clients of the server hold too much "
                            "memory; try again later");
    if (c->redis)
        redis_multi_free(c->redis);
    conn_finish(c);
}

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

const struct protocol redis_protocol = { .start = redis_batch_start,
                                         .stop = redis_batch_stop,
                                         .flush = redis_batch_flush,
                                         .guess = guess,
                                         .read = read_commands,
                                         .memory = memory,
                                         .overload = overload,
                                         .forget = forget };
