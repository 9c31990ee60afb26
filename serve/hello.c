/*
 * hello.c - commands about the connection and the server, as far as Redis'
 * clients need them to begin.
 *
 * We say that we are Redis 7.0, whose protocol this is, since clients choose
 * by that what they may send; `seen_version` tells who it is.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

#define REDIS_VERSION "7.0.0"

enum { DATABASES = 16, BLOOM_VERSION = 20400 };

static bool is(const struct call *c, size_t i, const char *word)
{
    return i < c->words && span_like(c->word[i], word);
}

static void unknown_subcommand(struct call *c)
{
    const struct span word = c->word[1];

    resp_error(c->out, "ERR unknown subcommand '%.*s'. Try %s HELP.",
               word.len < 128 ? (int)word.len : 128, word.text,
               c->command->name);
}

static void syntax(struct call *c)
{
    resp_error(c->out, "ERR syntax error");
}

/* --- who it is --- */

/* False: an error was replied, and nothing has changed. */
static bool trust(struct call *c, struct span user, struct span token)
{
    if (!c->server->how.token) {
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
    client_trust(c->client, true);
    return true;
}

void hello_auth(struct call *c)
{
    static const struct span nobody = { "default", 7 };

    if (c->words > 3)
        syntax(c);
    else if (trust(c, c->words == 3 ? c->word[1] : nobody,
                   c->word[c->words - 1]))
        resp_status(c->out, "OK");
}

static bool good_name(struct call *c, struct span name)
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

static void set_name(struct redis_client *r, struct span name)
{
    memcpy(r->name, name.text, name.len);
    r->name[name.len] = '\0';
}

static void reply_modules(struct call *c)
{
    resp_array(c->out, 1);
    resp_map(c->out, 2, c->three);
    resp_text(c->out, "name");
    resp_text(c->out, "bf");
    resp_text(c->out, "ver");
    resp_number(c->out, BLOOM_VERSION);
}

void hello(struct call *c)
{
    struct redis_client *r = c->client;
    int64_t version = r->three ? 3 : 2;
    struct span name = { NULL, 0 };

    if (c->words > 1 && !word_number(c->word[1], &version)) {
        resp_error(c->out,
                   "ERR Protocol version is not an integer or out of range");
        return;
    }
    if (version != 2 && version != 3) {
        resp_error(c->out, "NOPROTO unsupported protocol version");
        return;
    }
    for (size_t i = 2; i < c->words; i++) {
        if (is(c, i, "AUTH") && i + 2 < c->words) {
            if (!trust(c, c->word[i + 1], c->word[i + 2]))
                return;
            i += 2;
        } else if (is(c, i, "SETNAME") && i + 1 < c->words) {
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
    reply_modules(c);
}

void hello_reset(struct call *c)
{
    struct redis_client *r = c->client;

    r->three = false;
    r->name[0] = '\0';
    r->mute = MUTE_NONE;
    client_trust(r, false);
    resp_status(c->out, "RESET");
}

/* --- CLIENT --- */

/* One line about this connection. Others are told to nobody. */
static void describe(struct call *c, char *line, size_t room)
{
    const struct redis_client *r = c->client;
    struct sockaddr_storage peer;
    int len = sizeof peer, port = 0;
    char host[64] = "?";
    uint64_t now = c->loop->now;

    if (!uv_tcp_getpeername(&c->conn->tcp, (struct sockaddr *)&peer, &len)) {
        uv_ip_name((struct sockaddr *)&peer, host, sizeof host);
        port = ntohs(((struct sockaddr_in *)&peer)->sin_port);
    }
    snprintf(line, room,
             "id=%llu addr=%s:%d fd=0 name=%s age=%llu idle=0 flags=N db=0 "
             "sub=0 psub=0 ssub=0 multi=-1 qbuf=0 qbuf-free=0 obl=0 oll=0 "
             "omem=0 events=r cmd=client user=default resp=%d\n",
             (unsigned long long)r->id, host, port, r->name,
             (unsigned long long)(now - r->since) / 1000, r->three ? 3 : 2);
}

static void reply_mode(struct call *c)
{
    struct redis_client *r = c->client;

    if (is(c, 2, "ON")) {
        r->mute = MUTE_NONE;
        resp_status(c->out, "OK");
    } else if (is(c, 2, "OFF")) {
        r->mute = MUTE_ALL;
    } else if (is(c, 2, "SKIP")) {
        r->mute = r->mute == MUTE_ALL ? MUTE_ALL : MUTE_NEXT;
    } else {
        syntax(c);
    }
}

void hello_client(struct call *c)
{
    char line[512];

    if (is(c, 1, "SETNAME") && c->words == 3) {
        if (good_name(c, c->word[2])) {
            set_name(c->client, c->word[2]);
            resp_status(c->out, "OK");
        }
    } else if (is(c, 1, "GETNAME") && c->words == 2) {
        if (c->client->name[0])
            resp_text(c->out, c->client->name);
        else
            resp_null(c->out, c->three);
    } else if (is(c, 1, "ID") && c->words == 2) {
        resp_number(c->out, (int64_t)c->client->id);
    } else if ((is(c, 1, "INFO") && c->words == 2) || is(c, 1, "LIST")) {
        describe(c, line, sizeof line);
        resp_verbatim(c->out, line, strlen(line), c->three);
    } else if ((is(c, 1, "SETINFO") && c->words == 4) ||
               ((is(c, 1, "NO-EVICT") || is(c, 1, "NO-TOUCH")) &&
                (is(c, 2, "ON") || is(c, 2, "OFF")) && c->words == 3)) {
        resp_status(c->out, "OK"); /* nothing is evicted, or kept of it */
    } else if (is(c, 1, "REPLY") && c->words == 3) {
        reply_mode(c);
    } else {
        unknown_subcommand(c);
    }
}

/* --- small talk --- */

void hello_ping(struct call *c)
{
    if (c->words == 1)
        resp_status(c->out, "PONG");
    else if (c->words == 2)
        resp_bulk(c->out, c->word[1].text, c->word[1].len);
    else
        command_arity(c);
}

void hello_echo(struct call *c)
{
    resp_bulk(c->out, c->word[1].text, c->word[1].len);
}

void hello_quit(struct call *c)
{
    resp_status(c->out, "OK");
    c->conn->last = true;
}

/* Clients select one before they begin. Any is the one that there is. */
void hello_select(struct call *c)
{
    int64_t n;

    if (!word_number(c->word[1], &n))
        resp_error(c->out, "ERR value is not an integer or out of range");
    else if (n < 0 || n >= DATABASES)
        resp_error(c->out, "ERR DB index is out of range");
    else
        resp_status(c->out, "OK");
}

void hello_time(struct call *c)
{
    char text[24];
    struct timeval now;

    gettimeofday(&now, NULL);
    resp_array(c->out, 2);
    snprintf(text, sizeof text, "%lld", (long long)now.tv_sec);
    resp_text(c->out, text);
    snprintf(text, sizeof text, "%ld", (long)now.tv_usec);
    resp_text(c->out, text);
}

void hello_module(struct call *c)
{
    if (is(c, 1, "LIST") && c->words == 2)
        reply_modules(c);
    else
        unknown_subcommand(c);
}

/* --- CONFIG --- */

/* What redis-benchmark and clients ask for, with what holds here. */
void hello_config(struct call *c)
{
    static const char *const setting[][2] = {
        { "appendonly", "no" },
        { "databases", "16" },
        { "maxmemory", "0" },
        { "maxmemory-policy", "noeviction" },
        { "proto-max-bulk-len", "67108864" },
        { "save", "" },
        { "timeout", "0" },
    };
    const size_t settings = sizeof setting / sizeof setting[0];
    size_t n = 0;

    if (!is(c, 1, "GET")) {
        if (is(c, 1, "SET") || is(c, 1, "REWRITE") || is(c, 1, "RESETSTAT"))
            resp_error(c->out, "NOPERM settings are given when the server is "
                               "started");
        else
            unknown_subcommand(c);
        return;
    }
    if (c->words < 3) {
        resp_error(c->out,
                   "ERR wrong number of arguments for 'config|get' command");
        return;
    }
    for (int write = 0; write < 2; write++) {
        if (write)
            resp_map(c->out, n, c->three);
        for (size_t i = 0; i < settings; i++) {
            bool asked = false;

            for (size_t j = 2; j < c->words; j++)
                asked |= is(c, j, setting[i][0]) || is(c, j, "*");
            n += asked && !write;
            if (!asked || !write)
                continue;
            resp_text(c->out, setting[i][0]);
            resp_text(c->out, setting[i][1]);
        }
    }
}

/* --- COMMAND --- */

/* Where the names of archives are: first, last, step. */
static void places_of(const struct command *it, int place[3])
{
    static const char *const nameless[] = {
        "auth",  "client", "command",  "config", "dbsize", "echo",
        "hello", "info",   "module",   "ping",   "quit",   "reset",
        "save",  "scan",   "shutdown", "select", "time",
    };

    place[0] = place[1] = place[2] = 1;
    if (!strcmp(it->name, "del") || !strcmp(it->name, "exists") ||
        !strcmp(it->name, "unlink"))
        place[1] = -1;
    for (size_t i = 0; i < sizeof nameless / sizeof nameless[0]; i++)
        if (!strcmp(it->name, nameless[i]))
            place[0] = place[1] = place[2] = 0;
}

static void reply_row(struct call *c, const struct command *it)
{
    int place[3];

    places_of(it, place);
    resp_array(c->out, 10);
    resp_text(c->out, it->name);
    resp_number(c->out, it->arity);
    resp_set(c->out, 1, c->three);
    resp_status(c->out, it->flags & FOR_WRITERS  ? "write"
                        : it->flags & FOR_OWNERS ? "admin"
                                                 : "readonly");
    for (int i = 0; i < 3; i++)
        resp_number(c->out, place[i]);
    resp_set(c->out, 1, c->three);
    resp_status(c->out, it->flags & FOR_WRITERS  ? "@write"
                        : it->flags & FOR_OWNERS ? "@admin"
                                                 : "@read");
    for (int i = 0; i < 3; i++) /* tips, key specifications, subcommands */
        resp_array(c->out, 0);
}

static void reply_docs(struct call *c, const struct command *it)
{
    resp_text(c->out, it->name);
    resp_map(c->out, 3, c->three);
    resp_text(c->out, "summary");
    resp_text(c->out, it->summary);
    resp_text(c->out, "since");
    resp_text(c->out, "0.1.0");
    resp_text(c->out, "group");
    resp_text(c->out, !strncmp(it->name, "bf.", 3)   ? "bf"
                      : !strncmp(it->name, "cf.", 3) ? "cf"
                      : it->flags & FOR_SETS         ? "set"
                                                     : "connection");
}

static size_t commands(void)
{
    size_t n = 0;

    while (row_at(n))
        n++;
    return n;
}

/* All rows, or those of word[2] and on; what is unknown is null there, and
   left out of DOCS. */
static void reply_rows(struct call *c, bool docs)
{
    const struct command *it;
    size_t n = 0;

    if (c->words < 3) {
        docs ? resp_map(c->out, commands(), c->three)
             : resp_array(c->out, commands());
        for (size_t i = 0; (it = row_at(i)); i++)
            docs ? reply_docs(c, it) : reply_row(c, it);
        return;
    }
    for (size_t i = 2; i < c->words; i++)
        n += !docs || row_find(c->word[i]);
    docs ? resp_map(c->out, n, c->three) : resp_array(c->out, n);
    for (size_t i = 2; i < c->words; i++) {
        it = row_find(c->word[i]);
        if (it)
            docs ? reply_docs(c, it) : reply_row(c, it);
        else if (!docs)
            resp_null(c->out, c->three);
    }
}

void hello_command(struct call *c)
{
    const struct command *it;

    if (c->words == 1 || is(c, 1, "INFO")) {
        reply_rows(c, false);
    } else if (is(c, 1, "DOCS")) {
        reply_rows(c, true);
    } else if (is(c, 1, "COUNT") && c->words == 2) {
        resp_number(c->out, (int64_t)commands());
    } else if (is(c, 1, "LIST") && c->words == 2) {
        resp_array(c->out, commands());
        for (size_t i = 0; (it = row_at(i)); i++)
            resp_text(c->out, it->name);
    } else {
        unknown_subcommand(c);
    }
}

/* --- INFO --- */

static struct counts sum_of(const struct server *s)
{
    struct counts all = { 0 };

    for (unsigned i = 0; i < s->threads; i++) {
        const struct counts *one = &s->loop[i].counts;

#define SUM(what) all.what += __atomic_load_n(&one->what, __ATOMIC_RELAXED)
        SUM(connections);
        SUM(refused);
        SUM(open);
        SUM(commands);
        SUM(errors);
        SUM(asked);
        SUM(held);
        SUM(added);
        SUM(removed);
        SUM(bytes_in);
        SUM(bytes_out);
#undef SUM
    }
    return all;
}

static bool wanted(const struct call *c, const char *section)
{
    for (size_t i = 1; i < c->words; i++)
        if (is(c, i, section) || is(c, i, "all") || is(c, i, "default") ||
            is(c, i, "everything"))
            return true;
    return c->words == 1;
}

#define U(n) ((unsigned long long)(n))

static void info_server(const struct call *c, struct out *o)
{
    uint64_t up = (uint64_t)time(NULL) - c->server->started;
    struct utsname os;

    if (uname(&os))
        memset(&os, 0, sizeof os);
    out_format(o,
               "# Server\r\nredis_version:" REDIS_VERSION
               "\r\nseen_version:" SEEN_VERSION
               "\r\nredis_mode:standalone\r\nos:%s %s %s\r\narch_bits:64\r\n"
               "process_id:%ld\r\nthreads:%u\r\nuptime_in_seconds:%llu\r\n"
               "uptime_in_days:%llu\r\n",
               os.sysname, os.release, os.machine, (long)getpid(),
               c->server->threads, U(up), U(up / 86400));
}

static void info_memory(struct out *o)
{
    struct rusage use;

    if (getrusage(RUSAGE_SELF, &use))
        memset(&use, 0, sizeof use);
    out_format(o,
               "# Memory\r\nused_memory_peak:%llu\r\nmaxmemory:0\r\n"
               "maxmemory_policy:noeviction\r\n",
               U(use.ru_maxrss) * 1024);
}

static void info_stats(const struct counts *n, struct out *o)
{
    out_format(o,
               "# Stats\r\ntotal_connections_received:%llu\r\n"
               "rejected_connections:%llu\r\n"
               "total_commands_processed:%llu\r\n"
               "total_error_replies:%llu\r\ntotal_net_input_bytes:%llu\r\n"
               "total_net_output_bytes:%llu\r\nkeyspace_hits:%llu\r\n"
               "keyspace_misses:%llu\r\nseen_asked:%llu\r\nseen_held:%llu\r\n"
               "seen_added:%llu\r\nseen_removed:%llu\r\n",
               U(n->connections), U(n->refused), U(n->commands), U(n->errors),
               U(n->bytes_in), U(n->bytes_out), U(n->held),
               U(n->asked - n->held), U(n->asked), U(n->held), U(n->added),
               U(n->removed));
}

static void separate(struct out *o)
{
    if (o->len)
        out_text(o, "\r\n");
}

void hello_info(struct call *c)
{
    const struct counts n = sum_of(c->server);
    struct out text = { 0 };
    size_t archives = 0;

    loop_look(c->loop);
    while (shelf_at(c->loop->shelf, archives))
        archives++;
    if (wanted(c, "server"))
        info_server(c, &text);
    if (wanted(c, "clients")) {
        separate(&text);
        out_format(&text,
                   "# Clients\r\nconnected_clients:%llu\r\n"
                   "maxclients:%llu\r\n",
                   U(n.open), U(c->server->most));
    }
    if (wanted(c, "memory")) {
        separate(&text);
        info_memory(&text);
    }
    if (wanted(c, "persistence")) {
        separate(&text);
        out_text(&text, "# Persistence\r\nloading:0\r\n");
    }
    if (wanted(c, "stats")) {
        separate(&text);
        info_stats(&n, &text);
    }
    if (wanted(c, "replication")) {
        separate(&text);
        out_text(&text, "# Replication\r\nrole:master\r\n"
                        "connected_slaves:0\r\n");
    }
    if (wanted(c, "modules")) {
        separate(&text);
        out_format(&text, "# Modules\r\nmodule:name=bf,ver=%d\r\n",
                   BLOOM_VERSION);
    }
    if (wanted(c, "cluster")) {
        separate(&text);
        out_text(&text, "# Cluster\r\ncluster_enabled:0\r\n");
    }
    if (wanted(c, "keyspace")) {
        separate(&text);
        out_format(&text, "# Keyspace\r\ndb0:keys=%zu,expires=0,avg_ttl=0\r\n",
                   archives);
    }
    resp_verbatim(c->out, text.bytes ? text.bytes : "", text.len, c->three);
    c->out->failed |= text.failed;
    out_clear(&text);
}

/* --- SAVE, SHUTDOWN --- */

struct saving {
    struct task task;
    struct server *server;
    bool stop; /* afterwards */
    enum seen_code code;
    struct seen_error why;
};

static void save_work(struct task *t)
{
    struct saving *s = (struct saving *)t;

    s->code = library_checkpoint(s->server->library, &s->why);
}

/* As Redis does, a server that stops answers by closing. */
static void save_answer(struct task *t, struct call *c)
{
    const struct saving *s = (struct saving *)t;

    if (s->code != SEEN_OK)
        resp_error(c->out, "ERR %s", s->why.text);
    else if (!s->stop)
        resp_status(c->out, "OK");
    if (s->code == SEEN_OK && s->stop) {
        c->conn->last = true;
        server_stop(s->server);
    }
}

static void save_clear(struct task *t)
{
    free(t);
}

static void save(struct call *c, bool stop)
{
    struct saving *s = calloc(1, sizeof *s);

    if (!s) {
        resp_error(c->out, "ERR no memory to save");
        return;
    }
    s->task.work = save_work;
    s->task.answer = save_answer;
    s->task.clear = save_clear;
    s->server = c->server;
    s->stop = stop;
    task_start(c, &s->task);
}

void hello_save(struct call *c)
{
    save(c, false);
}

/* Writers are closed properly either way: there is nothing that NOSAVE could
   leave out. A file that cannot be brought up to date keeps the server up,
   unless it is told to stop by force. */
void hello_shutdown(struct call *c)
{
    bool force = false;

    for (size_t i = 1; i < c->words; i++) {
        if (is(c, i, "FORCE") || is(c, i, "NOSAVE")) {
            force = true;
        } else if (is(c, i, "ABORT")) {
            resp_error(c->out, "ERR No shutdown in progress.");
            return;
        } else if (!is(c, i, "SAVE") && !is(c, i, "NOW")) {
            syntax(c);
            return;
        }
    }
    if (force) {
        c->conn->last = true;
        server_stop(c->server);
    } else {
        save(c, true);
    }
}
