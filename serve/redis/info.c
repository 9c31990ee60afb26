/*
 * info.c - commands about the server: INFO, COMMAND, CONFIG, SAVE, SHUTDOWN.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <seen/version.h>

#include "command.h"

enum { BLOOM_VERSION = 20400 };

void redis_reply_modules(struct redis_call *c)
{
    resp_array(c->out, 1);
    resp_map(c->out, 2, c->three);
    resp_text(c->out, "name");
    resp_text(c->out, "bf");
    resp_text(c->out, "ver");
    resp_number(c->out, BLOOM_VERSION);
}

void redis_module(struct redis_call *c)
{
    if (redis_word_is(c, 1, "LIST") && c->words == 2)
        redis_reply_modules(c);
    else
        redis_bad_subcommand(c);
}

void redis_time(struct redis_call *c)
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

/* --- CONFIG --- */

/* The settings that redis-benchmark and clients ask for. */
void redis_config(struct redis_call *c)
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

    if (!redis_word_is(c, 1, "GET")) {
        if (redis_word_is(c, 1, "SET") || redis_word_is(c, 1, "REWRITE") ||
            redis_word_is(c, 1, "RESETSTAT"))
            resp_error(c->out, "NOPERM settings are given when the server is "
                               "started");
        else
            redis_bad_subcommand(c);
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
                asked |= redis_word_is(c, j, setting[i][0]) ||
                         redis_word_is(c, j, "*");
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
static void places_of(const struct redis_command *it, int place[3])
{
    place[0] = place[1] = place[2] = !(it->flags & NO_NAMES);
    if (it->flags & ALL_NAMES)
        place[1] = -1;
}

static void reply_row(struct redis_call *c, const struct redis_command *it)
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

static void reply_docs(struct redis_call *c, const struct redis_command *it)
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

    while (redis_row(n))
        n++;
    return n;
}

/* All rows, or those of word[2] and on. Unknown commands are null, or left
   out of DOCS. */
static void reply_rows(struct redis_call *c, bool docs)
{
    const struct redis_command *it;
    size_t n = 0;

    if (c->words < 3) {
        docs ? resp_map(c->out, commands(), c->three)
             : resp_array(c->out, commands());
        for (size_t i = 0; (it = redis_row(i)); i++)
            docs ? reply_docs(c, it) : reply_row(c, it);
        return;
    }
    for (size_t i = 2; i < c->words; i++)
        n += !docs || redis_find(c->word[i]);
    docs ? resp_map(c->out, n, c->three) : resp_array(c->out, n);
    for (size_t i = 2; i < c->words; i++) {
        it = redis_find(c->word[i]);
        if (it)
            docs ? reply_docs(c, it) : reply_row(c, it);
        else if (!docs)
            resp_null(c->out, c->three);
    }
}

/* The names of archives in the command that begins with word[2]. */
static void reply_names(struct redis_call *c)
{
    const struct redis_command *it = redis_find(c->word[2]);
    const size_t words = c->words - 2;
    int place[3];

    if (!it) {
        resp_error(c->out, "ERR Invalid command specified");
        return;
    }
    places_of(it, place);
    if (!place[0]) {
        resp_error(c->out, "ERR The command has no key arguments");
    } else if (it->arity > 0 ? words != (size_t)it->arity
                             : words < (size_t)-it->arity) {
        resp_error(c->out,
                   "ERR Invalid number of arguments specified for command");
    } else {
        const size_t names = place[1] < 0 ? words - 1 : 1;

        resp_array(c->out, names);
        for (size_t i = 0; i < names; i++)
            resp_bulk(c->out, c->word[3 + i].text, c->word[3 + i].len);
    }
}

void redis_docs(struct redis_call *c)
{
    const struct redis_command *it;

    if (c->words == 1 || redis_word_is(c, 1, "INFO")) {
        reply_rows(c, false);
    } else if (redis_word_is(c, 1, "DOCS")) {
        reply_rows(c, true);
    } else if (redis_word_is(c, 1, "GETKEYS")) {
        if (c->words < 4)
            redis_bad_subarity(c, "getkeys");
        else
            reply_names(c);
    } else if (redis_word_is(c, 1, "COUNT") && c->words == 2) {
        resp_number(c->out, (int64_t)commands());
    } else if (redis_word_is(c, 1, "LIST") && c->words == 2) {
        resp_array(c->out, commands());
        for (size_t i = 0; (it = redis_row(i)); i++)
            resp_text(c->out, it->name);
    } else {
        redis_bad_subcommand(c);
    }
}

/* --- INFO --- */

static bool wanted(const struct redis_call *c, const char *section)
{
    for (size_t i = 1; i < c->words; i++)
        if (redis_word_is(c, i, section) || redis_word_is(c, i, "all") ||
            redis_word_is(c, i, "default") ||
            redis_word_is(c, i, "everything"))
            return true;
    return c->words == 1;
}

#define U(n) ((unsigned long long)(n))

static void info_server(const struct redis_call *c, struct buffer *o)
{
    uint64_t up = (uint64_t)time(NULL) - c->server->started;
    struct utsname os;

    if (uname(&os))
        memset(&os, 0, sizeof os);
    buffer_format(
        o,
        "# Server\r\nredis_version:" REDIS_VERSION
        "\r\nseen_version:" SEEN_VERSION
        "\r\nredis_mode:standalone\r\nos:%s %s %s\r\narch_bits:64\r\n"
        "process_id:%ld\r\nthreads:%u\r\nuptime_in_seconds:%llu\r\n"
        "uptime_in_days:%llu\r\n",
        os.sysname, os.release, os.machine, (long)getpid(), c->server->threads,
        U(up), U(up / 86400));
}

static void info_memory(struct buffer *o)
{
    struct rusage use;

    if (getrusage(RUSAGE_SELF, &use))
        memset(&use, 0, sizeof use);
    buffer_format(o,
                  "# Memory\r\nused_memory_peak:%llu\r\nmaxmemory:0\r\n"
                  "maxmemory_policy:noeviction\r\n",
                  U(use.ru_maxrss) * 1024);
}

static void info_stats(const struct counts *n, struct buffer *o)
{
    buffer_format(
        o,
        "# Stats\r\ntotal_connections_received:%llu\r\n"
        "rejected_connections:%llu\r\n"
        "total_commands_processed:%llu\r\n"
        "total_error_replies:%llu\r\ntotal_net_input_bytes:%llu\r\n"
        "total_net_output_bytes:%llu\r\nkeyspace_hits:%llu\r\n"
        "keyspace_misses:%llu\r\nseen_asked:%llu\r\nseen_held:%llu\r\n"
        "seen_added:%llu\r\nseen_removed:%llu\r\n",
        U(n->connections), U(n->refused), U(n->commands), U(n->errors),
        U(n->bytes_in), U(n->bytes_out), U(n->held), U(n->asked - n->held),
        U(n->asked), U(n->held), U(n->added), U(n->removed));
}

static void separate(struct buffer *o)
{
    if (o->len)
        buffer_text(o, "\r\n");
}

void redis_info(struct redis_call *c)
{
    const struct counts n = server_counts(c->server);
    struct buffer text = { 0 };
    size_t archives = archive_view_count(c->loop->view);

    if (wanted(c, "server"))
        info_server(c, &text);
    if (wanted(c, "clients")) {
        separate(&text);
        buffer_format(&text,
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
        buffer_text(&text, "# Persistence\r\nloading:0\r\n");
    }
    if (wanted(c, "stats")) {
        separate(&text);
        info_stats(&n, &text);
    }
    if (wanted(c, "replication")) {
        separate(&text);
        buffer_text(&text, "# Replication\r\nrole:master\r\n"
                           "connected_slaves:0\r\n");
    }
    if (wanted(c, "modules")) {
        separate(&text);
        buffer_format(&text, "# Modules\r\nmodule:name=bf,ver=%d\r\n",
                      BLOOM_VERSION);
    }
    if (wanted(c, "cluster")) {
        separate(&text);
        buffer_text(&text, "# Cluster\r\ncluster_enabled:0\r\n");
    }
    if (wanted(c, "keyspace")) {
        separate(&text);
        buffer_format(&text,
                      "# Keyspace\r\ndb0:keys=%zu,expires=0,avg_ttl=0\r\n",
                      archives);
    }
    resp_verbatim(c->out, text.bytes ? text.bytes : "", text.len, c->three);
    c->out->failed |= text.failed;
    buffer_clear(&text);
}

/* --- SAVE, SHUTDOWN --- */

struct redis_saving {
    struct redis_task task;
    struct server *server;
    bool stop; /* afterwards */
    enum seen_code code;
    struct seen_error why;
};

static void save_work(struct redis_task *t)
{
    struct redis_saving *s = (struct redis_saving *)t;

    s->code = archive_checkpoint(s->server->archives, &s->why);
}

/* As in Redis, a server that stops closes the connection as its answer. */
static void save_answer(struct redis_task *t, struct redis_call *c)
{
    const struct redis_saving *s = (struct redis_saving *)t;

    if (s->code != SEEN_OK)
        resp_error(c->out, "ERR %s", s->why.text);
    else if (!s->stop)
        resp_status(c->out, "OK");
    if (s->code == SEEN_OK && s->stop) {
        conn_finish(c->conn);
        server_stop();
    }
}

static void save_clear(struct redis_task *t)
{
    free(t);
}

static void save(struct redis_call *c, bool stop)
{
    struct redis_saving *s = calloc(1, sizeof *s);

    if (!s) {
        resp_error(c->out, "ERR no memory to save");
        return;
    }
    s->task.work = save_work;
    s->task.answer = save_answer;
    s->task.clear = save_clear;
    s->server = c->server;
    s->stop = stop;
    redis_task_start(c, &s->task);
}

void redis_save(struct redis_call *c)
{
    save(c, false);
}

/* Writers are always closed properly, so NOSAVE has nothing to leave out. If a
   file cannot be brought up to date the server does not stop, unless FORCE or
   NOSAVE is given. */
void redis_shutdown(struct redis_call *c)
{
    bool force = false;

    for (size_t i = 1; i < c->words; i++) {
        if (redis_word_is(c, i, "FORCE") || redis_word_is(c, i, "NOSAVE")) {
            force = true;
        } else if (redis_word_is(c, i, "ABORT")) {
            resp_error(c->out, "ERR No shutdown in progress.");
            return;
        } else if (!redis_word_is(c, i, "SAVE") &&
                   !redis_word_is(c, i, "NOW")) {
            redis_bad_syntax(c);
            return;
        }
    }
    if (force) {
        conn_finish(c->conn);
        server_stop();
    } else {
        save(c, true);
    }
}
