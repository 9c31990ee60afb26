/*
 * command.h - commands of the Redis protocol, for the functions that answer
 * them.
 *
 * Lookups and adds are not answered one by one. Of what a client sent in one
 * go, lookups in one archive that follow one another are a group (exists.c):
 * asked together, the memory of one is fetched while the next is hashed. So
 * are adds (redis_write.c), which share a record of the journal and its flush.
 *
 * Threads: all belongs to the loop of its connection; what the work() of a
 * task touches belongs to the task.
 */
#ifndef SEEN_SERVE_REDIS_COMMAND_H
#define SEEN_SERVE_REDIS_COMMAND_H

#include "../archives/archive_change.h"
#include "../conn.h"
#include "resp.h"

#define REDIS_VERSION "7.0.0" /* what we say that we are */

enum {
    REDIS_WORDS = 4096,          /* of a command of any client */
    REDIS_WORDS_TRUST = 1 << 18, /* of a client with the token */
    REDIS_NAME = 128             /* bytes of a client's name */
};

enum redis_mute { MUTE_NONE, MUTE_ALL, MUTE_NEXT, MUTE_THIS };

/* What a connection remembers. */
struct redis_client {
    struct resp_reader reader;
    struct resp_limit limit;
    struct seen_span *word; /* of a client with the token; else NULL */
    struct redis_multi *multi; /* between MULTI and the end of EXEC */
    bool three;             /* RESP3 */
    bool tracking;          /* keeps answers: tracking.c; */
    unsigned tracks;        /* in this way */
    bool read;              /* there is something to keep since it was told */
    bool put_off;           /* lookups wait in the batch of the loop */
    bool trusted;           /* has given the token */
    enum redis_mute mute;   /* CLIENT REPLY */
    bool
        muted; /* the reply to the last command is dropped, if it comes later */
    uint64_t id, since;
    char name[REDIS_NAME];
    const struct redis_command *last; /* the command before this one, and
                                         how it was spelled */
    char spelled[16];
    size_t spelled_len;
};

/*
 * Commands of one read that wait to be answered together: lookups in an
 * archive, or changes of one. None if `command` is NULL.
 */
struct redis_group {
    const struct redis_command *command;
    struct seen_span name;     /* of the archive */
    struct archive *archive;   /* to look the keys of loop->keys up in */
    struct redis_write *write; /* or else to be made */
};

/* A command on its way to an answer. */
struct redis_call {
    struct conn *conn;
    struct redis_client *client;
    struct loop *loop;
    struct server *server;
    struct buffer *out;
    struct redis_group *group;
    const struct redis_command *command;
    const struct seen_span *word; /* word[0] is its name */
    size_t words;
    bool three;
};

/* A call without a command yet, from a client that is known. */
static inline struct redis_call redis_call_of(struct conn *conn,
                                              struct buffer *out,
                                              struct redis_group *group)
{
    return (struct redis_call){ .conn = conn,
                                .client = conn->redis,
                                .loop = conn->loop,
                                .server = conn->loop->server,
                                .out = out,
                                .group = group,
                                .three = conn->redis->three };
}

enum redis_flags {
    FOR_READERS = 0,
    FOR_WRITERS = 1, /* changes archives: token, and a server that writes */
    FOR_OWNERS = 2,  /* the token is enough */
    FOR_SETS = 4,    /* with --sets only; replies numbers, not flags */
    NOT_QUEUED = 8,  /* runs at once, also between MULTI and EXEC */
    NOT_IN_MULTI = 16,
    NO_NAMES = 32, /* no word, or not word[1], is the name of an archive */
    ALL_NAMES = 64 /* all words are, and not only word[1] */
};

/*
 * One row per command; `arity` as Redis reports it: the name counts, -3 means
 * three or more. run() answers, or begins a group. If the same command
 * follows, join() adds it to the group; if it returns false it has done
 * nothing.
 */
struct redis_command {
    const char *name;
    int arity;
    unsigned flags;
    void (*run)(struct redis_call *c);
    bool (*join)(struct redis_call *c);
    const char *summary;
};

/* The row of a name, whatever its case; NULL if there is none. */
const struct redis_command *redis_find(struct seen_span name);
/* The i-th in order of names; NULL past the last. */
const struct redis_command *redis_row(size_t i);

/* May this client give the command? If not, that is replied. */
bool redis_allowed(struct redis_call *c);

/* Reply a common error. */
void redis_bad_arity(struct redis_call *c);
void redis_bad_command(struct redis_call *c);
void redis_bad_subcommand(struct redis_call *c); /* word[1] */
/* The same of a command with a second word, or of one without (NULL). */
void redis_bad_subarity(struct redis_call *c, const char *second);
void redis_bad_syntax(struct redis_call *c);
void redis_bad_type(struct redis_call *c);

/* Is there a word i, and is it this one, in whatever case? */
static inline bool redis_word_is(const struct redis_call *c, size_t i,
                                 const char *word)
{
    return i < c->words && span_like(c->word[i], word);
}

/* A number of any size; false if the word is something else. */
bool redis_integer(struct seen_span word, int64_t *n);
bool redis_double(struct seen_span word, double *x);

/* The archive of this name. NULL: there is none, or it is withdrawn, which is
   replied then (*replied). */
struct archive *redis_archive(struct redis_call *c, struct seen_span name,
                              bool *replied);

/* Does it count? Then items can be removed. */
bool redis_counts(const struct seen_filter *f);

/* BF commands are for filters that do not count, CF commands for those that
   do; the others are for both. */
typedef bool redis_accepts(const struct seen_filter *f);
redis_accepts *redis_type_of(const struct redis_command *of); /* NULL: any */
bool redis_is_type(const struct redis_command *of,
                   const struct seen_filter *f);

/* The archive word[1], as redis_archive(). One of the other type is an error,
   which is replied. */
struct archive *redis_filter(struct redis_call *c, bool *replied);

/* Give the client the rights of the token, or take them away. */
void redis_trust(struct conn *c, bool trusted);

/* --- redis.c --- */

/* Can the command join the group? Then it has. */
bool redis_join(struct redis_call *c);
/* Answer the group. If it is a change, the connection waits for it. */
void redis_settle(struct redis_call *c);

/* --- exists.c --- */

void redis_exists(struct redis_call *c); /* BF.EXISTS, CF.EXISTS, SISMEMBER */
bool redis_exists_join(struct redis_call *c);
void redis_mexists(struct redis_call *c); /* BF.MEXISTS, SMISMEMBER */
void redis_exists_settle(struct redis_call *c);

/* Leave a group with which all that was read ends to the end of the turn;
   false if it has to be settled now. */
bool redis_exists_put_off(struct redis_call *c);
bool redis_batch_start(struct loop *l);
void redis_batch_stop(struct loop *l);
void redis_batch_flush(struct loop *l);

/* --- multi.c --- */

/* Queue a command that could run, and reply so; or refuse the transaction. */
void redis_multi_queue(struct redis_call *c);
/* A command could not run: nor can the transaction, if there is one. */
void redis_multi_spoil(struct redis_client *r);
/* Has EXEC begun? Then all its commands are run, whether the client is there or
   not, and redis_multi_resume() is called after each one that had to wait. */
bool redis_multi_running(const struct redis_client *r);
void redis_multi_resume(struct conn *conn, bool there);
void redis_multi_free(struct redis_client *r);
size_t redis_multi_memory(const struct redis_client *r);

/* Bytes of queued commands, and of replies to them, at most. Without the token
   a transaction takes no more memory than a command. */
static inline size_t redis_queue_limit(const struct redis_client *r)
{
    return r->trusted ? 1 << 26 : 1 << 16;
}
static inline size_t redis_reply_limit(const struct redis_client *r)
{
    return r->trusted ? 1 << 26 : 1 << 20;
}

/* Where replies go: to the client, or among the replies of its EXEC. */
struct buffer *redis_out(struct conn *conn);

/* --- task.c --- */

/* Work in another thread, and an answer when it is done. */
struct redis_task {
    struct job job;
    struct pending pending;
    void (*work)(struct redis_task *t); /* must not touch the connection */
    /* Only `conn`, `out` and `three` of the call are set. */
    void (*answer)(struct redis_task *t, struct redis_call *c);
    void (*clear)(struct redis_task *t); /* frees the task */
};

/* Start it, or reply that there is too much to do and clear it. */
void redis_task_start(struct redis_call *c, struct redis_task *t);

/* Look items up off the loop, in an archive that is too expensive for it. The
   reply is an array if there are `many`. */
void redis_ask_aside(struct redis_call *c, const struct archive *archive,
                     const struct seen_span *item, size_t n, bool many,
                     bool flags);

/* For done() of a pending command: write its reply, and go on with the client.
   In a transaction that is done even if the client has gone. */
void redis_answer_later(struct conn *conn, bool there,
                        void (*answer)(void *from, struct redis_call *c),
                        void *from);

/* Make the archive word[1], and reply OK when it is there. */
void redis_make_archive(struct redis_call *c, const struct archive_new *made);

/* Give it the seed that clients of this server get: that of --seed, or a
   random one. */
void redis_seed(const struct redis_call *c, struct archive_new *made);

/* --- redis_write.c --- */

enum redis_write_reply {
    REPLY_FLAG,  /* :1, #t */
    REPLY_FLAGS, /* an array of them, ended by an error where it failed */
    REPLY_FULLS, /* an array of them, -1 where there was no room */
    REPLY_SUM    /* how many */
};

/* How a command writes. */
struct redis_write_kind {
    enum archive_change_kind change;
    bool counting; /* for counting filters, and for no others */
    bool always;   /* 1 is replied for every item that was added */
    enum redis_write_reply reply;
};

/*
 * Change the archive word[1], made like `made` if there is none (NULL: that is
 * an error). One item that is not a URL makes an error of the whole command.
 */
void redis_write(struct redis_call *c, const struct redis_write_kind *kind,
                 const struct archive_new *made, const struct seen_span *item,
                 size_t n);
/* The same for the single item word[2], which others may follow. */
void redis_write_one(struct redis_call *c, const struct redis_write_kind *kind,
                     const struct archive_new *made);
bool redis_write_join(struct redis_call *c);
/* Begin the change of a group. */
void redis_write_settle(struct redis_call *c);

/* --- tracking.c --- */

/* Tell a client that keeps answers that they may have changed, behind what was
   replied to it. */
void redis_tell_changes(struct redis_client *r, struct buffer *out);

/* --- the commands --- */

typedef void redis_handler(struct redis_call *c);

redis_handler redis_bf_reserve, redis_bf_add, redis_bf_insert, redis_bf_card,
    redis_bf_info;                                   /* bf.c */
redis_handler redis_scandump, redis_loadchunk; /* dump.c */
redis_handler redis_cf_reserve, redis_cf_add, redis_cf_insert, redis_cf_count,
    redis_cf_info, redis_cf_compact; /* cf.c */
redis_handler redis_sadd, redis_srem, redis_scard, redis_smembers, redis_del,
    redis_exist, redis_type, redis_scan, redis_keys, redis_dbsize; /* sets.c */
redis_handler redis_multi, redis_exec, redis_discard, redis_watch,
    redis_unwatch; /* multi.c */
redis_handler redis_hello, redis_auth, redis_ping, redis_echo, redis_quit,
    redis_reset, redis_select, redis_client; /* client.c */
redis_handler redis_track, redis_caching, redis_tracking_info; /* tracking.c */
redis_handler redis_usual, redis_ttl, redis_expire, redis_role,
    redis_wait; /* usual.c */
redis_handler redis_info, redis_docs, redis_config, redis_module, redis_time,
    redis_save, redis_shutdown; /* info.c */

/* The modules that Redis would have loaded. */
void redis_reply_modules(struct redis_call *c);

#endif
