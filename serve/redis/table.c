/*
 * table.c - all commands, with their arity and permissions.
 *
 * COMMAND is answered from the same table.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <seen/kind.h>

#include "command.h"

#define READ FOR_READERS
#define WRITE FOR_WRITERS
#define OWN FOR_OWNERS
#define SETS FOR_SETS
#define ALONE NOT_IN_MULTI
#define NOW NOT_QUEUED
#define BARE NO_NAMES
#define MANY ALL_NAMES

/* In order of names. */
static const struct redis_command table[] = {
    { "acl", -2, READ | BARE, redis_usual, NULL, "Who the client is" },
    { "asking", 1, READ | BARE, redis_usual, NULL,
      "Refused: this is not a cluster" },
    { "auth", -2, READ | ALONE | BARE, redis_auth, NULL,
      "Give the token of the server" },
    { "bf.add", 3, WRITE, redis_bf_add, redis_write_join,
      "Add an item to a filter, made if it does not exist" },
    { "bf.card", 2, READ, redis_bf_card, NULL,
      "Number of items, estimated from the cells" },
    { "bf.exists", 3, READ, redis_exists, redis_exists_join,
      "Was the item added to the filter?" },
    { "bf.info", -2, READ, redis_bf_info, NULL, "Size and shape of a filter" },
    { "bf.insert", -4, WRITE, redis_bf_insert, NULL,
      "Add items to a filter, made by the options if it does not exist" },
    { "bf.loadchunk", 4, WRITE | ALONE, redis_loadchunk, NULL,
      "Restore a filter from the pieces of BF.SCANDUMP" },
    { "bf.madd", -3, WRITE, redis_bf_add, NULL, "Add items to a filter" },
    { "bf.mexists", -3, READ, redis_mexists, NULL,
      "Which of the items were added to the filter?" },
    { "bf.reserve", -4, WRITE, redis_bf_reserve, NULL, "Make a filter" },
    { "bf.scandump", 3, OWN | ALONE, redis_scandump, NULL,
      "Save a filter in pieces, for BF.LOADCHUNK" },
    { "cf.add", 3, WRITE, redis_cf_add, redis_write_join,
      "Add an item once more to a counting filter" },
    { "cf.addnx", 3, WRITE, redis_cf_add, redis_write_join,
      "Add an item to a counting filter if it is not in it" },
    { "cf.compact", 2, WRITE, redis_cf_compact, NULL,
      "Does nothing: there is nothing to compact" },
    { "cf.count", 3, READ, redis_cf_count, NULL,
      "How often the item was added, at most" },
    { "cf.del", 3, WRITE, redis_cf_add, redis_write_join,
      "Remove an item once from a counting filter" },
    { "cf.exists", 3, READ, redis_exists, redis_exists_join,
      "Was the item added to the filter?" },
    { "cf.info", 2, READ, redis_cf_info, NULL, "Size and shape of a filter" },
    { "cf.insert", -4, WRITE, redis_cf_insert, NULL,
      "Add items to a counting filter" },
    { "cf.insertnx", -4, WRITE, redis_cf_insert, NULL,
      "Add items that are not in a counting filter yet" },
    { "cf.loadchunk", 4, WRITE | ALONE, redis_loadchunk, NULL,
      "Restore a counting filter from the pieces of CF.SCANDUMP" },
    { "cf.mexists", -3, READ, redis_mexists, NULL,
      "Which of the items were added to the filter?" },
    { "cf.reserve", -3, WRITE, redis_cf_reserve, NULL,
      "Make a counting filter" },
    { "cf.scandump", 3, OWN | ALONE, redis_scandump, NULL,
      "Save a counting filter in pieces, for CF.LOADCHUNK" },
    { "client", -2, READ | ALONE | BARE, redis_client, NULL,
      "About this connection" },
    { "cluster", -2, READ | BARE, redis_usual, NULL,
      "Refused: this is not a cluster" },
    { "command", -1, READ | BARE, redis_docs, NULL, "About the commands" },
    { "config", -2, READ | BARE, redis_config, NULL,
      "Settings that tools ask for" },
    { "dbsize", 1, READ | BARE, redis_dbsize, NULL, "Number of archives" },
    { "del", -2, WRITE | MANY, redis_del, NULL, "Delete archives" },
    { "discard", 1, READ | NOW | BARE, redis_discard, NULL,
      "Give up a transaction" },
    { "echo", 2, READ | BARE, redis_echo, NULL, "Return the text" },
    { "exec", 1, READ | NOW | BARE, redis_exec, NULL,
      "Run the commands of a transaction" },
    { "exists", -2, READ | MANY, redis_exist, NULL,
      "Number of the names that are archives" },
    { "expire", -3, READ, redis_expire, NULL, "Refused: files do not expire" },
    { "expireat", -3, READ, redis_expire, NULL,
      "Refused: files do not expire" },
    { "expiretime", 2, READ, redis_ttl, NULL, "Never" },
    { "flushall", -1, READ | BARE, redis_usual, NULL,
      "Refused: archives are deleted by name" },
    { "flushdb", -1, READ | BARE, redis_usual, NULL,
      "Refused: archives are deleted by name" },
    { "hello", -1, READ | ALONE | BARE, redis_hello, NULL,
      "Choose the protocol, give the token, name the connection" },
    { "info", -1, READ | BARE, redis_info, NULL, "About the server" },
    { "keys", 2, READ | BARE, redis_keys, NULL, "Names that match a pattern" },
    { "latency", -2, READ | BARE, redis_usual, NULL,
      "Nothing: it is not measured" },
    { "memory", -2, READ | BARE, redis_usual, NULL, "Size of an archive" },
    { "module", -2, READ | BARE, redis_module, NULL,
      "What the server can do" },
    { "multi", 1, READ | NOW | BARE, redis_multi, NULL,
      "Begin a transaction: queue commands until EXEC" },
    { "object", -2, READ | BARE, redis_usual, NULL, "How an archive is kept" },
    { "persist", 2, READ, redis_usual, NULL, "Does nothing" },
    { "pexpire", -3, READ, redis_expire, NULL,
      "Refused: files do not expire" },
    { "pexpireat", -3, READ, redis_expire, NULL,
      "Refused: files do not expire" },
    { "pexpiretime", 2, READ, redis_ttl, NULL, "Never" },
    { "ping", -1, READ | BARE, redis_ping, NULL, "Is the server there?" },
    { "pttl", 2, READ, redis_ttl, NULL, "Time to live: without end" },
    { "quit", -1, READ | NOW | BARE, redis_quit, NULL,
      "Close the connection" },
    { "readonly", 1, READ | BARE, redis_usual, NULL,
      "Refused: this is not a cluster" },
    { "readwrite", 1, READ | BARE, redis_usual, NULL,
      "Refused: this is not a cluster" },
    { "reset", 1, READ | NOW | BARE, redis_reset, NULL,
      "Reset the connection" },
    { "role", 1, READ | BARE, redis_role, NULL, "A master without replicas" },
    { "sadd", -3, WRITE | SETS, redis_sadd, redis_write_join,
      "Add members to a filter, and return how many were new" },
    { "save", 1, WRITE | ALONE | BARE, redis_save, NULL,
      "Bring the files of all archives up to date" },
    { "scan", -2, READ | BARE, redis_scan, NULL, "Names of archives" },
    { "scard", 2, READ | SETS, redis_scard, NULL,
      "Number of members, estimated from the cells" },
    { "select", 2, READ | BARE, redis_select, NULL,
      "All databases are the same" },
    { "shutdown", -1, OWN | ALONE | BARE, redis_shutdown, NULL,
      "Stop the server" },
    { "sismember", 3, READ | SETS, redis_exists, redis_exists_join,
      "Was the member added to the filter?" },
    { "slowlog", -2, READ | BARE, redis_usual, NULL,
      "Nothing: it is not measured" },
    { "smembers", 2, READ | SETS, redis_smembers, NULL,
      "Refused: a filter cannot list its members" },
    { "smismember", -3, READ | SETS, redis_mexists, NULL,
      "Which of the members were added to the filter?" },
    { "srem", -3, WRITE | SETS, redis_srem, NULL,
      "Remove members from a counting filter" },
    { "sscan", -3, READ | SETS, redis_smembers, NULL,
      "Refused: a filter cannot list its members" },
    { "time", 1, READ | BARE, redis_time, NULL, "Time of the server" },
    { "touch", -2, READ | MANY, redis_exist, NULL,
      "Number of the names that are archives" },
    { "ttl", 2, READ, redis_ttl, NULL, "Time to live: without end" },
    { "type", 2, READ, redis_type, NULL, "Type of an archive" },
    { "unlink", -2, WRITE | MANY, redis_del, NULL, "Delete archives" },
    { "unwatch", 1, READ | BARE, redis_unwatch, NULL, "Does nothing" },
    { "wait", 3, READ | BARE, redis_wait, NULL,
      "Number of replicas that have the changes: none" },
    { "watch", -2, READ | ALONE | MANY, redis_watch, NULL,
      "Refused: nothing can be watched" },
};

enum { ROWS = sizeof table / sizeof table[0] };

/* --- the table --- */

const struct redis_command *redis_row(size_t i)
{
    return i < ROWS ? &table[i] : NULL;
}

static int by_name(const void *key, const void *row)
{
    return strcmp(key, ((const struct redis_command *)row)->name);
}

const struct redis_command *redis_find(struct seen_span name)
{
    char lower[16];

    if (name.len >= sizeof lower)
        return NULL;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.text[i];

        if (!c)
            return NULL;
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    lower[name.len] = '\0';
    return bsearch(lower, table, ROWS, sizeof table[0], by_name);
}

/* --- words --- */

bool redis_integer(struct seen_span word, int64_t *n)
{
    char text[24], *end;
    long long found;

    if (!word.len || word.len >= sizeof text ||
        (word.text[0] != '-' && (word.text[0] < '0' || word.text[0] > '9')))
        return false;
    memcpy(text, word.text, word.len);
    text[word.len] = '\0';
    found = strtoll(text, &end, 10);
    if (end != text + word.len || end[-1] < '0' || end[-1] > '9' ||
        ((found == INT64_MAX || found == INT64_MIN) && word.len > 18))
        return false;
    *n = found;
    return true;
}

bool redis_double(struct seen_span word, double *x)
{
    char text[64], *end;

    if (!word.len || word.len >= sizeof text || word.text[0] <= ' ')
        return false;
    memcpy(text, word.text, word.len);
    text[word.len] = '\0';
    *x = strtod(text, &end);
    return end == text + word.len && *x == *x;
}

/* --- permissions --- */

void redis_bad_arity(struct redis_call *c)
{
    resp_error(c->out, "ERR wrong number of arguments for '%s' command",
               c->command->name);
}

void redis_bad_subcommand(struct redis_call *c)
{
    const struct seen_span word = c->word[1];
    char large[16] = "";

    for (size_t i = 0; c->command->name[i] && i + 1 < sizeof large; i++)
        large[i] = (char)(c->command->name[i] & ~0x20); /* letters only */
    resp_error(c->out, "ERR unknown subcommand '%.*s'. Try %s HELP.",
               word.len < 128 ? (int)word.len : 128, word.text, large);
}

void redis_bad_subarity(struct redis_call *c, const char *second)
{
    resp_error(c->out, "ERR wrong number of arguments for '%s%s%s' command",
               c->command->name, second ? "|" : "", second ? second : "");
}

void redis_bad_syntax(struct redis_call *c)
{
    resp_error(c->out, "ERR syntax error");
}

void redis_bad_type(struct redis_call *c)
{
    resp_error(c->out, "WRONGTYPE Operation against a key holding the wrong "
                       "kind of value");
}

bool redis_allowed(struct redis_call *c)
{
    const unsigned flags = c->command->flags;
    const struct server *s = c->server;

    if ((flags & FOR_SETS) && !s->options.sets) {
        resp_error(c->out,
                   "ERR '%s' is for servers that were started with --sets",
                   c->command->name);
        return false;
    }
    if (!(flags & (FOR_WRITERS | FOR_OWNERS)))
        return true;
    if (!s->options.token && !c->client->trusted)
        resp_error(c->out,
                   "NOPERM this user has no permissions to run the '%s' "
                   "command: the server has no token",
                   c->command->name);
    else if (!c->client->trusted)
        resp_error(c->out, "NOAUTH Authentication required.");
    else if ((flags & FOR_WRITERS) && !archive_set_writable(s->archives))
        resp_error(c->out, "READONLY You can't write against a read only "
                           "server.");
    else
        return true;
    return false;
}

void redis_bad_command(struct redis_call *c)
{
    char args[128] = "";
    size_t at = 0;

    for (size_t i = 1; i < c->words && at + 4 < sizeof args; i++) {
        int room = (int)(sizeof args - at - 4);
        int len = (int)c->word[i].len < room ? (int)c->word[i].len : room;
        int n = snprintf(args + at, sizeof args - at, "'%.*s' ", len,
                         c->word[i].text);

        if (n < 0)
            break;
        at += (size_t)n;
    }
    resp_error(c->out,
               "ERR unknown command '%.*s', with args beginning with: %s",
               c->word[0].len < 128 ? (int)c->word[0].len : 128,
               c->word[0].text, args);
}

/* --- archives --- */

/* Another client may have deleted it, while the list of the folder still has
   it. If it was made anew since this turn of the loop began, then nobody was
   told so before this client asked. */
static bool is_gone(const struct archive *a)
{
    if (!a->found || a->filter)
        return false;
    return (a->why.code == SEEN_IO && a->why.system == ENOENT) ||
           (access(a->path, F_OK) && errno == ENOENT);
}

struct archive *redis_archive(struct redis_call *c, struct seen_span name,
                              bool *replied)
{
    struct archive *a = archive_view_find(c->loop->view, name);

    if (a && is_gone(a))
        a = NULL;
    *replied = a && !a->filter;
    if (*replied)
        resp_error(c->out, "ERR archive '%s' is %s: %s", a->name,
                   archive_state_names[a->state], a->why.text);
    return *replied ? NULL : a;
}

bool redis_counts(const struct seen_filter *f)
{
    return seen_filter_can(f, SEEN_CAN_COUNT | SEEN_CAN_REMOVE);
}

static bool counts_not(const struct seen_filter *f)
{
    return !redis_counts(f);
}

redis_accepts *redis_type_of(const struct redis_command *of)
{
    if (!strncmp(of->name, "bf.", 3))
        return counts_not;
    return strncmp(of->name, "cf.", 3) ? NULL : redis_counts;
}

bool redis_is_type(const struct redis_command *of, const struct seen_filter *f)
{
    redis_accepts *type = redis_type_of(of);

    return !type || type(f);
}

struct archive *redis_filter(struct redis_call *c, bool *replied)
{
    struct archive *a = redis_archive(c, c->word[1], replied);

    if (!a || redis_is_type(c->command, a->filter))
        return a;
    redis_bad_type(c);
    *replied = true;
    return NULL;
}
