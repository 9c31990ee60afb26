/*
 * client.c - commands about the connection, as far as Redis clients need
 * them.
 *
 * We report the version of Redis 7.0, whose protocol this is, since clients
 * choose their commands by it; `seen_version` is our own.
 */
#include <stdio.h>

#include "command.h"

enum { DATABASES = 16 };

/* --- AUTH --- */

/* False: an error was replied, and nothing has changed. */
static bool trust(struct redis_call *c, struct seen_span user,
                  struct seen_span token)
{
    if (!c->server->options.token) {
        resp_error(c->out,
                   "ERR AUTH <password> called without any password "
                   "configured for the default user. Are you sure your "
                   "configuration is correct?");
        return false;
    }
    if (!span_is(user, "default") || !server_knows(c->server, token)) {
        resp_error(c->out, "WRONGPASS invalid username-password pair or user "
                           "is disabled.");
        return false;
    }
    redis_trust(c->conn, true);
    return true;
}

void redis_auth(struct redis_call *c)
{
    static const struct seen_span nobody = { "default", 7 };

    if (c->words > 3)
        redis_bad_syntax(c);
    else if (trust(c, c->words == 3 ? c->word[1] : nobody,
                   c->word[c->words - 1]))
        resp_status(c->out, "OK");
}

static bool good_name(struct redis_call *c, struct seen_span name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.text[i] < '!' || name.text[i] > '~') {
            resp_error(c->out, "ERR Client names cannot contain spaces, "
                               "newlines or special characters.");
            return false;
        }
    if (name.len < sizeof c->client->name)
        return true;
    resp_error(c->out, "ERR Client names have at most %d bytes",
               REDIS_NAME - 1);
    return false;
}

static void set_name(struct redis_client *r, struct seen_span name)
{
    memcpy(r->name, name.text, name.len);
    r->name[name.len] = '\0';
}

void redis_hello(struct redis_call *c)
{
    struct redis_client *r = c->client;
    int64_t version = r->three ? 3 : 2;
    struct seen_span name = { NULL, 0 };

    if (c->words > 1 && !redis_integer(c->word[1], &version)) {
        resp_error(c->out,
                   "ERR Protocol version is not an integer or out of range");
        return;
    }
    if (version != 2 && version != 3) {
        resp_error(c->out, "NOPROTO unsupported protocol version");
        return;
    }
    for (size_t i = 2; i < c->words; i++) {
        if (redis_word_is(c, i, "AUTH") && i + 2 < c->words) {
            if (!trust(c, c->word[i + 1], c->word[i + 2]))
                return;
            i += 2;
        } else if (redis_word_is(c, i, "SETNAME") && i + 1 < c->words) {
            name = c->word[++i];
            if (!good_name(c, name))
                return;
        } else {
            resp_error(c->out, "ERR Syntax error in HELLO option '%.*s'",
                       c->word[i].len < 128 ? (int)c->word[i].len : 128,
                       c->word[i].text);
            return;
        }
    }
    if (name.text)
        set_name(r, name);
    r->three = c->three = version == 3;
    resp_map(c->out, 7, c->three);
    resp_text(c->out, "server");
    resp_text(c->out, "redis");
    resp_text(c->out, "version");
    resp_text(c->out, REDIS_VERSION);
    resp_text(c->out, "proto");
    resp_number(c->out, version);
    resp_text(c->out, "id");
    resp_number(c->out, (int64_t)r->id);
    resp_text(c->out, "mode");
    resp_text(c->out, "standalone");
    resp_text(c->out, "role");
    resp_text(c->out, "master");
    resp_text(c->out, "modules");
    redis_reply_modules(c);
}

void redis_reset(struct redis_call *c)
{
    struct redis_client *r = c->client;

    r->three = false;
    r->name[0] = '\0';
    r->mute = MUTE_NONE;
    r->tracking = false;
    r->tracks = 0;
    redis_multi_free(r);
    redis_trust(c->conn, c->server->options.open);
    resp_status(c->out, "RESET");
}

/* --- CLIENT --- */

/* One line about this connection. Others are not shown to anybody. */
static void describe(struct redis_call *c, char *line, size_t room)
{
    const struct redis_client *r = c->client;
    struct sockaddr_storage peer;
    int port = 0;
    char host[64] = "?";
    uint64_t now = c->loop->now;

    conn_peer(c->conn, &peer);
    if (!uv_ip_name((struct sockaddr *)&peer, host, sizeof host))
        port = ntohs(((struct sockaddr_in *)&peer)->sin_port);
    snprintf(line, room,
             "id=%llu addr=%s:%d fd=0 name=%s age=%llu idle=0 flags=N db=0 "
             "sub=0 psub=0 ssub=0 multi=-1 qbuf=0 qbuf-free=0 obl=0 oll=0 "
             "omem=0 events=r cmd=client user=default resp=%d\n",
             (unsigned long long)r->id, host, port, r->name,
             (unsigned long long)(now - r->since) / 1000, r->three ? 3 : 2);
}

static void reply_mode(struct redis_call *c)
{
    struct redis_client *r = c->client;

    if (redis_word_is(c, 2, "ON")) {
        r->mute = MUTE_NONE;
        resp_status(c->out, "OK");
    } else if (redis_word_is(c, 2, "OFF")) {
        r->mute = MUTE_ALL;
    } else if (redis_word_is(c, 2, "SKIP")) {
        r->mute = r->mute == MUTE_ALL ? MUTE_ALL : MUTE_NEXT;
    } else {
        redis_bad_syntax(c);
    }
}

/* A word too many or too few, or a second word that is none of ours. */
static void reply_fault(struct redis_call *c)
{
    static const char *const second[] = {
        "caching",  "getname", "getredir", "id",           "info",  "no-evict",
        "no-touch", "setinfo", "setname",  "trackinginfo", "reply", "tracking",
    };

    for (size_t i = 0; i < sizeof second / sizeof second[0]; i++)
        if (redis_word_is(c, 1, second[i])) {
            redis_bad_subarity(c, second[i]);
            return;
        }
    redis_bad_subcommand(c);
}

void redis_client(struct redis_call *c)
{
    char line[512];

    if (redis_word_is(c, 1, "SETNAME") && c->words == 3) {
        if (good_name(c, c->word[2])) {
            set_name(c->client, c->word[2]);
            resp_status(c->out, "OK");
        }
    } else if (redis_word_is(c, 1, "GETNAME") && c->words == 2) {
        if (c->client->name[0])
            resp_text(c->out, c->client->name);
        else
            resp_null(c->out, c->three);
    } else if (redis_word_is(c, 1, "ID") && c->words == 2) {
        resp_number(c->out, (int64_t)c->client->id);
    } else if ((redis_word_is(c, 1, "INFO") && c->words == 2) ||
               redis_word_is(c, 1, "LIST")) {
        describe(c, line, sizeof line);
        resp_verbatim(c->out, line, strlen(line), c->three);
    } else if ((redis_word_is(c, 1, "SETINFO") && c->words == 4) ||
               ((redis_word_is(c, 1, "NO-EVICT") ||
                 redis_word_is(c, 1, "NO-TOUCH")) &&
                (redis_word_is(c, 2, "ON") || redis_word_is(c, 2, "OFF")) &&
                c->words == 3)) {
        resp_status(c->out, "OK"); /* there is nothing to do */
    } else if (redis_word_is(c, 1, "REPLY") && c->words == 3) {
        reply_mode(c);
    } else if (redis_word_is(c, 1, "TRACKING") && c->words > 2) {
        redis_track(c);
    } else if (redis_word_is(c, 1, "CACHING") && c->words == 3) {
        redis_caching(c);
    } else if (redis_word_is(c, 1, "TRACKINGINFO") && c->words == 2) {
        redis_tracking_info(c);
    } else if (redis_word_is(c, 1, "GETREDIR") && c->words == 2) {
        resp_number(c->out, c->client->tracking ? 0 : -1);
    } else {
        reply_fault(c);
    }
}

/* --- PING, ECHO, QUIT, SELECT --- */

void redis_ping(struct redis_call *c)
{
    if (c->words == 1)
        resp_status(c->out, "PONG");
    else if (c->words == 2)
        resp_bulk(c->out, c->word[1].text, c->word[1].len);
    else
        redis_bad_arity(c);
}

void redis_echo(struct redis_call *c)
{
    resp_bulk(c->out, c->word[1].text, c->word[1].len);
}

void redis_quit(struct redis_call *c)
{
    resp_status(c->out, "OK");
    conn_finish(c->conn);
}

/* Clients select a database first. All numbers mean the same one. */
void redis_select(struct redis_call *c)
{
    int64_t n;

    if (!redis_integer(c->word[1], &n))
        resp_error(c->out, "ERR value is not an integer or out of range");
    else if (n < 0 || n >= DATABASES)
        resp_error(c->out, "ERR DB index is out of range");
    else
        resp_status(c->out, "OK");
}
