/*
 * command.h - commands of the Redis protocol, as those who answer them see
 * them.
 *
 *     redis.c     which command it is, whether this client may give it
 *     hello.c     about the connection: HELLO, AUTH, CLIENT
 *     about.c     about the server: INFO, COMMAND, CONFIG, SAVE, SHUTDOWN
 *     bf.c cf.c sets.c    about filters
 *     exists.c    questions, many at once
 *     change.c    what changes a filter; apply.c does it, in a thread that
 *                 may wait for disks (task.c)
 *     dump.c      whole filters
 *
 * A question and an add are not answered one by one. Of what a client sent
 * in one go, questions that follow one another to one archive are gathered
 * (exists.c): asked together, the memory of one is fetched while the next is
 * hashed. So are adds, which share a journal's record and its flush.
 *
 * Threads: all belongs to the loop of its connection; what a task's work()
 * touches belongs to the task.
 */
#ifndef SEEN_SERVE_REDIS_COMMAND_H
#define SEEN_SERVE_REDIS_COMMAND_H

#include "redis.h"

#define REDIS_VERSION "7.0.0" /* what we say that we are */

struct change;

enum {
    REDIS_WORDS = 4096,          /* of a command of anybody */
    REDIS_WORDS_TRUST = 1 << 18, /* of one who has the token */
    REDIS_NAME = 128             /* bytes of a client's name */
};

enum mute { MUTE_NONE, MUTE_ALL, MUTE_NEXT, MUTE_THIS };

/* What a connection remembers. */
struct redis_client {
    struct resp_reader reader;
    struct resp_limit limit;
    struct span *word; /* of those who may send many; else NULL */
    bool three;        /* RESP3 */
    bool trusted;      /* has said the token */
    enum mute mute;    /* CLIENT REPLY */
    uint64_t id, since;
    char name[REDIS_NAME];
    const struct command *last; /* what was asked before this, and how that
                                   was spelled */
    char spelled[16];
    size_t spelled_len;
};

/*
 * What waits to be answered together, of one drive over what a client sent:
 * questions to an archive, or changes of one. Empty if `command` is NULL.
 */
struct gather {
    const struct command *command;
    struct span name;        /* of the archive */
    struct archive *archive; /* to be asked for the keys in loop->keys */
    struct change *change;   /* or else to be changed */
};

/* A command on its way to an answer. */
struct call {
    struct conn *conn;
    struct redis_client *client;
    struct loop *loop;
    struct server *server;
    struct out *out;
    struct gather *gather;
    const struct command *command;
    const struct span *word; /* word[0] is its name */
    size_t words;
    bool three;
};

enum command_flags {
    FOR_READERS = 0,
    FOR_WRITERS = 1, /* changes archives: token, and a server that writes */
    FOR_OWNERS = 2,  /* the token is enough */
    FOR_SETS = 4     /* with --sets only; replies numbers, not flags */
};

/*
 * One row a command; `arity` as Redis tells it: the name counts, -3 means
 * three or more. run() answers, or begins a gathering when none waits. The
 * same command next finds it there: join() takes part in it, or returns
 * false and has done nothing.
 */
struct command {
    const char *name;
    int arity;
    unsigned flags;
    void (*run)(struct call *c);
    bool (*join)(struct call *c);
    const char *summary;
};

/* The row of a name, whatever its case; NULL if there is none. */
const struct command *row_find(struct span name);
/* The i-th in order of names; NULL past the last. */
const struct command *row_at(size_t i);

/* Nobody who lacks the token may do this: "NOAUTH ..." is replied, or what
   else forbids it. */
bool command_allowed(struct call *c, unsigned flags);
void command_arity(struct call *c);

/* Is there a word i, and is it this one, in whatever case? */
static inline bool word_is(const struct call *c, size_t i, const char *word)
{
    return i < c->words && span_like(c->word[i], word);
}
void command_unknown(struct call *c); /* a subcommand, word[1], is */
void command_syntax(struct call *c);

/* A whole number of any size; false: it is none. */
bool word_number(struct span word, int64_t *n);
bool word_double(struct span word, double *x);
/* The word with a zero behind it, to be freed; NULL without memory. */
char *word_copy(struct span word);

/* The archive of this name; NULL: there is none, or it is withdrawn, which
   is replied then (*told). */
struct archive *call_archive(struct call *c, struct span name, bool *told);

/* Does it count? Then keys can be taken back. */
bool archive_counts(const struct archive *a);

/* --- exists.c --- */

void exists_one(struct call *c);  /* BF.EXISTS, CF.EXISTS, SISMEMBER */
bool exists_join(struct call *c); /* the same, of one that follows */
void exists_many(struct call *c); /* BF.MEXISTS, CF.MEXISTS, SMISMEMBER */
void exists_settle(struct call *c);

/* --- task.c --- */

/* Work in another thread, and an answer when it is done. */
struct task {
    struct job job;
    struct conn *conn;
    bool muted;
    void (*work)(struct task *t); /* must not touch the connection */
    void (*answer)(struct task *t, struct call *c); /* only `out` and `three`
                                                       of the call count */
    void (*clear)(struct task *t);                  /* frees the task */
};

/* Start it, or reply that there is too much to do and clear it. */
void task_start(struct call *c, struct task *t);

/* The pieces of that, for who starts and ends tasks otherwise: whom it is
   for; what the job runs; when it is done, have clients see what changed;
   then answer, go on with the client, and free it. */
void task_for(struct task *t, struct call *c);
void task_run(struct job *j);
void task_look(struct loop *l);
void task_finish(struct task *t);

/* library_create(), for tasks, if the disk has room for it. */
enum seen_code create_archive(struct library *l, struct span name,
                              const struct seen_plan *plan,
                              struct seen_error *why);

/* The path of an archive by its name, for tasks; to be freed; or NULL. */
char *path_of(struct library *l, const char *name);

/* --- change.c --- */

enum change_how {
    CHANGE_ADD,     /* 1: it was new */
    CHANGE_COUNT,   /* counting: 1 always */
    CHANGE_ADD_NEW, /* counting: only what is new */
    CHANGE_REMOVE   /* counting: 1: it was there */
};

enum change_reply {
    REPLY_FLAG,  /* :1, #t */
    REPLY_FLAGS, /* an array of them, ended by an error where it failed */
    REPLY_FULLS, /* an array of them, -1 where there was no room */
    REPLY_SUM    /* how many */
};

/*
 * Change the archive word[1], made by `plan` if there is none (NULL: that is
 * an error). One item that is no URL makes an error of the whole command.
 */
void change_many(struct call *c, enum change_how how,
                 const struct seen_plan *plan, const struct span *item,
                 size_t n, enum change_reply reply);
/* The same for the single item word[2], which others may follow. */
void change_one(struct call *c, enum change_how how,
                const struct seen_plan *plan, enum change_reply reply);
bool change_join(struct call *c);
/* Begin what was gathered. */
void change_start(struct change *m, struct call *c);

/* --- the commands --- */

/* Make the archive word[1], and reply OK when it is there. */
void make_archive(struct call *c, const struct seen_plan *plan);

void bf_reserve(struct call *c);
void bf_add(struct call *c);
void bf_insert(struct call *c);
void bf_card(struct call *c);
void bf_info(struct call *c);
void bf_scandump(struct call *c);
void bf_loadchunk(struct call *c);

void cf_reserve(struct call *c);
void cf_add(struct call *c);
void cf_insert(struct call *c);
void cf_count(struct call *c);
void cf_info(struct call *c);

void set_add(struct call *c);
void set_remove(struct call *c);
void set_size(struct call *c);
void set_list(struct call *c);
void names_delete(struct call *c);
void names_exist(struct call *c);
void names_type(struct call *c);
void names_scan(struct call *c);
void names_count(struct call *c);

void hello(struct call *c);
void hello_auth(struct call *c);
void hello_ping(struct call *c);
void hello_echo(struct call *c);
void hello_quit(struct call *c);
void hello_reset(struct call *c);
void hello_select(struct call *c);
void hello_client(struct call *c);
void about_info(struct call *c);
void about_command(struct call *c);
void about_config(struct call *c);
void about_module(struct call *c);
void about_time(struct call *c);
void about_save(struct call *c);
void about_shutdown(struct call *c);

/* The modules that Redis would have loaded. */
void reply_modules(struct call *c);

/* Say the token: what is allowed changes with it. */
void client_trust(struct redis_client *r, bool trusted);

#endif
