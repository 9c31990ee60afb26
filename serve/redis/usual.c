/*
 * usual.c - commands that viewers and libraries send to every server of Redis,
 * about things that filters do not have.
 *
 * A viewer asks for the time to live, the size and the encoding of every key
 * that it shows, and for the slow log; a library asks what its rights are and
 * whether it speaks to a cluster. An error that they do not expect makes them
 * give up. So each of these gets the answer that Redis has if there is nothing
 * to tell, or its error for a feature that is off. The test runs the same words
 * at a redis-server.
 */
#include "command.h"

#define NO_CLUSTER "ERR This instance has cluster support disabled"

enum usual_answer {
    TEXT,
    STATUS,
    NUMBER,
    NOTHING, /* an empty array */
    NO_PAIRS,
    ERROR,
    USERS, /* these need more than a constant */
    SIZE,
    SLOW
};

/*
 * `second` is the second word, or NULL; `most` and `least` count all words. If
 * word[2] is the name of an archive and there is none, the answer is null.
 */
struct usual {
    const char *first, *second;
    unsigned least, most;
    bool names;
    enum usual_answer answer;
    const char *text;
    int64_t number;
};

enum { ANY = 1000000 };

static const struct usual usuals[] = {
    /* All clients are the user "default", with the token or without. */
    { "acl", "whoami", 2, 2, false, TEXT, "default", 0 },
    { "acl", "users", 2, 2, false, USERS, NULL, 0 },
    /* This is one server, whatever others it asks. */
    { "asking", NULL, 1, 1, false, ERROR, NO_CLUSTER, 0 },
    { "cluster", "help", 2, 2, false, ERROR, NO_CLUSTER, 0 },
    { "cluster", "info", 2, 2, false, ERROR, NO_CLUSTER, 0 },
    { "cluster", "keyslot", 3, 3, false, ERROR, NO_CLUSTER, 0 },
    { "cluster", "links", 2, 2, false, ERROR, NO_CLUSTER, 0 },
    { "cluster", "myid", 2, 2, false, ERROR, NO_CLUSTER, 0 },
    { "cluster", "nodes", 2, 2, false, ERROR, NO_CLUSTER, 0 },
    { "cluster", "shards", 2, 2, false, ERROR, NO_CLUSTER, 0 },
    { "cluster", "slots", 2, 2, false, ERROR, NO_CLUSTER, 0 },
    { "readonly", NULL, 1, 1, false, ERROR, NO_CLUSTER, 0 },
    { "readwrite", NULL, 1, 1, false, ERROR, NO_CLUSTER, 0 },
    /* Files are deleted by name: one word must not remove a folder. */
    { "flushall", NULL, 1, 2, false, ERROR,
      "NOPERM this user has no permissions to run the 'flushall' command", 0 },
    { "flushdb", NULL, 1, 2, false, ERROR,
      "NOPERM this user has no permissions to run the 'flushdb' command", 0 },
    /* Nothing is measured per command; /metrics has what is. */
    { "latency", "histogram", 2, ANY, false, NO_PAIRS, NULL, 0 },
    { "latency", "history", 3, 3, false, NOTHING, NULL, 0 },
    { "latency", "latest", 2, 2, false, NOTHING, NULL, 0 },
    { "latency", "reset", 2, ANY, false, NUMBER, NULL, 0 },
    { "slowlog", "get", 2, 3, false, SLOW, NULL, 0 },
    { "slowlog", "len", 2, 2, false, NUMBER, NULL, 0 },
    { "slowlog", "reset", 2, 2, false, STATUS, "OK", 0 },
    /* Keys of modules are "raw" in Redis, too, and nobody shares them. When
       one was used last is not known: nothing is evicted. */
    { "object", "encoding", 3, 3, true, TEXT, "raw", 0 },
    { "object", "freq", 3, 3, true, ERROR,
      "ERR An LFU maxmemory policy is not selected, access frequency not "
      "tracked. Please note that when switching between policies at runtime "
      "LRU and LFU data will take some time to adjust.",
      0 },
    { "object", "idletime", 3, 3, true, NUMBER, NULL, 0 },
    { "object", "refcount", 3, 3, true, NUMBER, NULL, 1 },
    { "memory", "usage", 3, ANY, true, SIZE, NULL, 0 },
    /* Files have no time to live, so there is none to be taken away. */
    { "persist", NULL, 2, 2, false, NUMBER, NULL, 0 },
};

enum { USUALS = sizeof usuals / sizeof usuals[0] };

/* --- answers --- */

static void reply_size(struct redis_call *c, const struct archive *a)
{
    int64_t samples;

    for (size_t i = 3; i < c->words; i += 2)
        if (!redis_word_is(c, i, "SAMPLES") || i + 1 == c->words) {
            redis_bad_syntax(c);
            return;
        } else if (!redis_integer(c->word[i + 1], &samples)) {
            resp_error(c->out, "ERR value is not an integer or out of range");
            return;
        }
    if (a)
        resp_number(c->out, (int64_t)seen_filter_bytes(a->filter));
    else
        resp_null(c->out, c->three);
}

static void reply_slow(struct redis_call *c)
{
    int64_t n = 0;

    if (c->words == 3 && (!redis_integer(c->word[2], &n) || n < -1))
        resp_error(c->out, "ERR count should be greater than or equal to -1");
    else
        resp_array(c->out, 0);
}

static void reply(struct redis_call *c, const struct usual *u,
                  const struct archive *a)
{
    switch (u->answer) {
    case TEXT: resp_text(c->out, u->text); break;
    case STATUS: resp_status(c->out, u->text); break;
    case NUMBER: resp_number(c->out, u->number); break;
    case NOTHING: resp_array(c->out, 0); break;
    case NO_PAIRS: resp_map(c->out, 0, c->three); break;
    case ERROR: resp_error(c->out, "%s", u->text); break;
    case USERS:
        resp_array(c->out, 1);
        resp_text(c->out, "default");
        break;
    case SIZE: reply_size(c, a); break;
    case SLOW: reply_slow(c); break;
    }
}

static bool fits(const struct usual *u, const struct redis_call *c)
{
    return !strcmp(u->first, c->command->name) &&
           (!u->second || redis_word_is(c, 1, u->second));
}

void redis_usual(struct redis_call *c)
{
    const struct usual *u = usuals;
    struct archive *a = NULL;
    bool replied = false;

    while (u < usuals + USUALS && !fits(u, c))
        u++;
    if (u == usuals + USUALS) {
        redis_bad_subcommand(c);
        return;
    }
    if (c->words < u->least || c->words > u->most) {
        redis_bad_subarity(c, u->second);
        return;
    }
    if (u->names)
        a = redis_archive(c, c->word[2], &replied);
    if (replied)
        return;
    if (u->names && !a && u->answer != SIZE)
        resp_null(c->out, c->three);
    else
        reply(c, u, a);
}

/* --- time to live --- */

static bool exists(const struct redis_call *c)
{
    return archive_view_find(c->loop->view, c->word[1]);
}

/* TTL and its like: there is none of that name, or it stays. */
void redis_ttl(struct redis_call *c)
{
    resp_number(c->out, exists(c) ? -1 : -2);
}

enum { NX = 1, XX = 2, GT = 4, LT = 8 };

/* The error of the options; *bad is the word that is not one, or 0. */
static const char *read_conditions(const struct redis_call *c, size_t *bad)
{
    static const char *const name[] = { "NX", "XX", "GT", "LT" };
    unsigned given = 0;

    for (size_t i = 3; i < c->words; i++) {
        unsigned which = 0;

        while (which < 4 && !redis_word_is(c, i, name[which]))
            which++;
        if (which == 4) {
            *bad = i;
            return NULL;
        }
        given |= 1u << which;
    }
    if ((given & NX) && (given & (XX | GT | LT)))
        return "ERR NX and XX, GT or LT options at the same time are not "
               "compatible";
    return (given & GT) && (given & LT)
               ? "ERR GT and LT options at the same time are not compatible"
               : NULL;
}

/* A client that wants an archive to expire must not believe that it will. */
void redis_expire(struct redis_call *c)
{
    size_t bad = 0;
    const char *fault = read_conditions(c, &bad);
    int64_t when;

    if (bad)
        resp_error(c->out, "ERR Unsupported option %.*s",
                   c->word[bad].len < 128 ? (int)c->word[bad].len : 128,
                   c->word[bad].text);
    else if (fault)
        resp_error(c->out, "%s", fault);
    else if (!redis_integer(c->word[2], &when))
        resp_error(c->out, "ERR value is not an integer or out of range");
    else if (exists(c))
        resp_error(c->out, "ERR an archive is a file and does not expire; DEL "
                           "deletes it");
    else
        resp_number(c->out, 0);
}

/* --- replicas --- */

void redis_role(struct redis_call *c)
{
    resp_array(c->out, 3);
    resp_text(c->out, "master");
    resp_number(c->out, 0);
    resp_array(c->out, 0);
}

/* No replica will ever have the changes, so there is nothing to wait for. */
void redis_wait(struct redis_call *c)
{
    int64_t replicas, ms;

    if (!redis_integer(c->word[1], &replicas))
        resp_error(c->out, "ERR value is not an integer or out of range");
    else if (!redis_integer(c->word[2], &ms))
        resp_error(c->out, "ERR timeout is not an integer or out of range");
    else if (ms < 0)
        resp_error(c->out, "ERR timeout is negative");
    else
        resp_number(c->out, 0);
}
