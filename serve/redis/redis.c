/*
 * redis.c - which command it is, and who may give it.
 *
 * Names, arity and permissions are one table, from which COMMAND is answered
 * too. Most commands come many in a row: the row that was found last is
 * tried first, so that a lookup costs a memcmp().
 */
#define _GNU_SOURCE
#include "redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <seen/kind.h>

#include "command.h"

#define READ FOR_READERS
#define WRITE FOR_WRITERS
#define OWN FOR_OWNERS
#define SETS FOR_SETS

/* In order of names. */
static const struct command table[] = {
    { "auth", -2, READ, hello_auth, NULL, "Say the server's token" },
    { "bf.add", 3, WRITE, bf_add, change_join,
      "Add an item to a filter, which is made if there is none" },
    { "bf.card", 2, READ, bf_card, NULL,
      "How many items a filter holds, estimated from its cells" },
    { "bf.exists", 3, READ, exists_one, exists_join,
      "Was the item added to the filter?" },
    { "bf.info", -2, READ, bf_info, NULL, "Size and shape of a filter" },
    { "bf.insert", -4, WRITE, bf_insert, NULL,
      "Add items to a filter, which is made as the options say" },
    { "bf.loadchunk", 4, WRITE, bf_loadchunk, NULL,
      "Restore a filter from what BF.SCANDUMP gave" },
    { "bf.madd", -3, WRITE, bf_add, NULL, "Add items to a filter" },
    { "bf.mexists", -3, READ, exists_many, NULL,
      "Which of the items were added to the filter?" },
    { "bf.reserve", -4, WRITE, bf_reserve, NULL, "Make a filter" },
    { "bf.scandump", 3, OWN, bf_scandump, NULL,
      "Save a filter in pieces, for BF.LOADCHUNK" },
    { "cf.add", 3, WRITE, cf_add, change_join,
      "Add an item once more to a counting filter" },
    { "cf.addnx", 3, WRITE, cf_add, change_join,
      "Add an item to a counting filter if it is not in it" },
    { "cf.count", 3, READ, cf_count, NULL,
      "How often the item was added, or a little more" },
    { "cf.del", 3, WRITE, cf_add, change_join,
      "Take an item back once from a counting filter" },
    { "cf.exists", 3, READ, exists_one, exists_join,
      "Was the item added to the filter?" },
    { "cf.info", 2, READ, cf_info, NULL, "Size and shape of a filter" },
    { "cf.insert", -4, WRITE, cf_insert, NULL,
      "Add items to a counting filter" },
    { "cf.insertnx", -4, WRITE, cf_insert, NULL,
      "Add those items to a counting filter that are not in it" },
    { "cf.mexists", -3, READ, exists_many, NULL,
      "Which of the items were added to the filter?" },
    { "cf.reserve", -3, WRITE, cf_reserve, NULL, "Make a counting filter" },
    { "client", -2, READ, hello_client, NULL, "About this connection" },
    { "command", -1, READ, about_command, NULL, "About the commands" },
    { "config", -2, READ, about_config, NULL,
      "What tools ask before they begin" },
    { "dbsize", 1, READ, names_count, NULL, "How many archives there are" },
    { "del", -2, WRITE, names_delete, NULL, "Delete archives" },
    { "echo", 2, READ, hello_echo, NULL, "Get a text back" },
    { "exists", -2, READ, names_exist, NULL,
      "How many of the names are archives" },
    { "hello", -1, READ, hello, NULL,
      "Choose the protocol, say the token, name the connection" },
    { "info", -1, READ, about_info, NULL, "About the server" },
    { "module", -2, READ, about_module, NULL, "What the server can do" },
    { "ping", -1, READ, hello_ping, NULL, "Is the server there?" },
    { "quit", -1, READ, hello_quit, NULL, "Close the connection" },
    { "reset", 1, READ, hello_reset, NULL, "Begin the connection anew" },
    { "sadd", -3, WRITE | SETS, set_add, change_join,
      "Add members to a filter, and tell how many were new" },
    { "save", 1, WRITE, about_save, NULL,
      "Bring the files of all archives up to date" },
    { "scan", -2, READ, names_scan, NULL, "The names of archives" },
    { "scard", 2, READ | SETS, set_size, NULL,
      "How many members a filter has, estimated from its cells" },
    { "select", 2, READ, hello_select, NULL, "All databases are the same" },
    { "shutdown", -1, OWN, about_shutdown, NULL, "Stop the server" },
    { "sismember", 3, READ | SETS, exists_one, exists_join,
      "Was the member added to the filter?" },
    { "smembers", 2, READ | SETS, set_list, NULL,
      "Refused: a filter cannot list what it holds" },
    { "smismember", -3, READ | SETS, exists_many, NULL,
      "Which of the members were added to the filter?" },
    { "srem", -3, WRITE | SETS, set_remove, NULL,
      "Take members back from a counting filter" },
    { "sscan", -3, READ | SETS, set_list, NULL,
      "Refused: a filter cannot list what it holds" },
    { "time", 1, READ, about_time, NULL, "The server's clock" },
    { "type", 2, READ, names_type, NULL, "What kind of thing a name is" },
    { "unlink", -2, WRITE, names_delete, NULL, "Delete archives" },
};

enum { ROWS = sizeof table / sizeof table[0] };

/* --- the table --- */

const struct command *row_at(size_t i)
{
    return i < ROWS ? &table[i] : NULL;
}

static int by_name(const void *key, const void *row)
{
    return strcmp(key, ((const struct command *)row)->name);
}

const struct command *row_find(struct span name)
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

/* The same, trying what this client asked for last. */
static const struct command *find(struct redis_client *r, struct span name)
{
    const struct command *found;

    if (r->last && name.len == r->spelled_len &&
        !memcmp(name.text, r->spelled, name.len))
        return r->last;
    found = row_find(name);
    if (found) {
        r->last = found;
        r->spelled_len = name.len;
        memcpy(r->spelled, name.text, name.len);
    }
    return found;
}

/* --- words --- */

bool word_number(struct span word, int64_t *n)
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

bool word_double(struct span word, double *x)
{
    char text[64], *end;

    if (!word.len || word.len >= sizeof text || word.text[0] <= ' ')
        return false;
    memcpy(text, word.text, word.len);
    text[word.len] = '\0';
    *x = strtod(text, &end);
    return end == text + word.len && *x == *x;
}

char *word_copy(struct span word)
{
    char *text = malloc(word.len + 1);

    if (text) {
        memcpy(text, word.text, word.len);
        text[word.len] = '\0';
    }
    return text;
}

/* --- permissions --- */

void command_arity(struct call *c)
{
    resp_error(c->out, "ERR wrong number of arguments for '%s' command",
               c->command->name);
}

void command_unknown(struct call *c)
{
    const struct span word = c->word[1];

    resp_error(c->out, "ERR unknown subcommand '%.*s'. Try %s HELP.",
               word.len < 128 ? (int)word.len : 128, word.text,
               c->command->name);
}

void command_syntax(struct call *c)
{
    resp_error(c->out, "ERR syntax error");
}

bool command_allowed(struct call *c, unsigned flags)
{
    const struct server *s = c->server;

    if ((flags & FOR_SETS) && !s->how.sets) {
        resp_error(c->out,
                   "ERR '%s' is for servers that were started with --sets",
                   c->command->name);
        return false;
    }
    if (!(flags & (FOR_WRITERS | FOR_OWNERS)))
        return true;
    if (!s->how.token)
        resp_error(c->out,
                   "NOPERM this user has no permissions to run the '%s' "
                   "command: the server has no token",
                   c->command->name);
    else if (!c->client->trusted)
        resp_error(c->out, "NOAUTH Authentication required.");
    else if ((flags & FOR_WRITERS) && !library_writable(s->library))
        resp_error(c->out, "READONLY You can't write against a read only "
                           "server.");
    else
        return true;
    return false;
}

static void unknown(struct call *c)
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

struct archive *call_archive(struct call *c, struct span name, bool *told)
{
    struct archive *a;

    loop_look(c->loop);
    a = shelf_find(c->loop->shelf, name);
    *told = a && !a->filter;
    if (*told)
        resp_error(c->out, "ERR archive '%s' is withdrawn: %s", a->name,
                   a->why.text);
    return *told ? NULL : a;
}

bool archive_counts(const struct archive *a)
{
    return seen_filter_can(a->filter, SEEN_CAN_COUNT | SEEN_CAN_REMOVE);
}

/* --- a connection --- */

void client_trust(struct redis_client *r, bool trusted)
{
    static const struct resp_limit anybody = { REDIS_WORDS, 1 << 16, 1 << 20 };
    static const struct resp_limit friends = { REDIS_WORDS_TRUST, 1 << 26,
                                               1 << 26 };

    if (trusted && !r->word)
        r->word = malloc(REDIS_WORDS_TRUST * sizeof *r->word);
    r->trusted = trusted;
    r->limit = trusted && r->word ? friends : anybody;
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
        client_trust(c->redis, false);
    }
    return c->redis;
}

void redis_forget(struct conn *c)
{
    if (c->redis)
        free(c->redis->word);
    free(c->redis);
    c->redis = NULL;
}

bool redis_inline(const char *line, size_t len)
{
    struct span first = { line, 0 };

    while (first.len < len && (unsigned char)line[first.len] > ' ')
        first.len++;
    return row_find(first);
}

/* Answer what waits. A change makes the connection wait for its task. */
static void settle(struct call *c)
{
    struct gather *g = c->gather;

    if (!g->command)
        return;
    if (g->change)
        change_start(g->change, c);
    else
        exists_settle(c);
    *g = (struct gather){ .command = NULL };
}

/* Answer one command, when nothing waits. */
static void answer(struct call *c)
{
    struct redis_client *r = c->client;
    size_t before = c->out->len;
    int arity;

    COUNT(c->loop, commands, 1);
    if (r->mute == MUTE_NEXT)
        r->mute = MUTE_THIS;
    if (!c->command) {
        unknown(c);
    } else {
        arity = c->command->arity;
        if (arity > 0 ? c->words != (size_t)arity : c->words < (size_t)-arity)
            command_arity(c);
        else if (command_allowed(c, c->command->flags))
            c->command->run(c);
    }
    if (r->mute != MUTE_NONE)
        settle(c);
    if (c->out->len > before && c->out->bytes[before] == '-')
        COUNT(c->loop, errors, 1);
    if (r->mute == MUTE_ALL || r->mute == MUTE_THIS)
        c->out->len = before;
    if (r->mute == MUTE_THIS)
        r->mute = MUTE_NONE;
}

/*
 * Take one command, joining it to what waits if it can be. False: it cannot,
 * and what waits now is a task: the command is not taken.
 */
static bool take(struct call *c)
{
    c->command = find(c->client, c->word[0]);
    if (c->gather->command) {
        if (c->gather->command == c->command && c->command->join(c)) {
            COUNT(c->loop, commands, 1);
            return true;
        }
        settle(c);
        if (c->conn->waiting)
            return false;
    }
    answer(c);
    return true;
}

size_t redis_drive(struct conn *conn, char *text, size_t len)
{
    struct redis_client *r = client_of(conn);
    struct span few[REDIS_WORDS];
    struct gather gather = { 0 };
    struct call c = { .conn = conn,
                      .client = r,
                      .loop = conn->loop,
                      .server = conn->loop->server,
                      .out = conn_out(conn),
                      .gather = &gather };
    const char *fault = NULL;
    size_t done = 0, used;

    if (!r) {
        conn->last = true;
        return 0;
    }
    while (done < len && !conn->waiting && !conn->last && !conn_full(conn)) {
        enum resp_state state;

        if (text[done] != '*') { /* a line can be unquoted only once */
            settle(&c);
            if (conn->waiting)
                break;
        }
        c.word = r->word ? r->word : few;
        c.three = r->three;
        state = resp_parse(&r->reader, text + done, len - done, &r->limit,
                           r->word ? r->word : few, &c.words, &used, &fault);
        if (state == RESP_PARTIAL)
            break;
        if (state == RESP_FAULT) {
            settle(&c);
            if (conn->waiting)
                break;
            COUNT(conn->loop, errors, 1);
            resp_error(c.out, "%s", fault);
            conn->last = true;
            break;
        }
        if (state == RESP_WHOLE && !take(&c))
            break;
        done += used;
    }
    settle(&c);
    return done;
}
