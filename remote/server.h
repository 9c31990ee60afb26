/*
 * server.h - one Redis server, or a cluster of them, by one set of functions.
 *
 * A batch of commands goes out as one pipeline per node, and each command has
 * its reply when run() returns. Redirections of a cluster are followed command
 * by command inside the pipeline.
 *
 *     remote_batch_begin(&b, slot, true);
 *     remote_wire_count(&b.text, 2); ...
 *     if (remote_server_run(s, &b, &why) == SEEN_OK)
 *         use(b.request[0].reply);
 *     remote_batch_clear(&b);
 *
 * What may be repeated: a command that the server refused without executing it
 * (MOVED, ASK, TRYAGAIN, CLUSTERDOWN, LOADING, MASTERDOWN; in a cluster also
 * READONLY), and a command that only reads. A command that changes something
 * and was not answered may have been executed: run() returns SEEN_IO and never
 * sends it again.
 *
 * Lost writes. Redis confirms writes before its replicas and its disk have
 * them, so a restart or a failover can lose some. Each connection therefore
 * begins with a look at the run_id of the process and the replication id of
 * its data. If they differ from those before, or if a node carries on the
 * history of another one (master_replid2), `losses` grows and warn() is
 * called. Redis Cluster specification, "Write safety".
 *
 * Threads: one thread at a time; the caller locks.
 */
#ifndef SEEN_REMOTE_SERVER_H
#define SEEN_REMOTE_SERVER_H

#include "remote.h"
#include "wire.h"

enum { REMOTE_SLOTS = 16384, REMOTE_NODES = 256 };

struct remote_request {
    size_t at, len; /* its bytes in the text of the batch */
    uint16_t slot;
    bool changes;      /* must not be sent twice */
    bool asking;       /* the next node is asked for it once only */
    int16_t to;        /* that node; -1: the one that owns the slot */
    redisReply *reply; /* freed by remote_batch_clear(); may be an error */
};

struct remote_batch {
    struct buffer text;
    struct remote_request *request;
    size_t n, room;
    unsigned replicas; /* after it, wait until this many have the changes */
    bool failed;       /* no memory for requests */
};

/* Begin a command for the owner of a slot. Its words are then appended to
   b->text. */
void remote_batch_begin(struct remote_batch *b, uint16_t slot, bool changes);
/* Free the replies; the memory is kept for the next commands. */
void remote_batch_reset(struct remote_batch *b);
void remote_batch_clear(struct remote_batch *b);

struct remote_server {
    struct remote_address address; /* owned */
    struct remote_node {
        struct remote_host host;
        struct remote_wire *wire;    /* or NULL */
        char run_id[48], replid[48]; /* as they were seen last; or "" */
        bool look;   /* before its next command, see whether they changed */
        bool sent;   /* it has commands of this round */
        bool wrote;  /* this batch has changed something there */
        bool parted; /* the connection that made such a change is gone */
    } node[REMOTE_NODES];
    unsigned nodes;
    uint8_t owner[REMOTE_SLOTS]; /* the number of a node */
    bool mapped;                 /* owner[] is from the cluster */
    uint64_t losses;             /* times that acknowledged adds may be lost */
    bool policy_told;
    remote_warn *warn; /* or NULL */
    void *whose;
};

/* Open the server of an address, which is moved into it. */
enum seen_code remote_server_open(struct remote_server **out,
                                  struct remote_address *a, remote_warn *warn,
                                  void *whose, struct seen_error *why);
void remote_server_close(struct remote_server *s);

/*
 * Send all commands and wait for their replies. SEEN_OK: each has one, which
 * may be an error of the server: see remote_reply_check(). SEEN_IO: some were
 * not answered; if some of those change something, the text says so.
 */
enum seen_code remote_server_run(struct remote_server *s,
                                 struct remote_batch *b,
                                 struct seen_error *why);

/* The connection to the owner of a slot, for commands of its own. If one of
   them fails, the connection must be dropped. */
enum seen_code remote_server_wire(struct remote_server *s, uint16_t slot,
                                  struct remote_wire **wire,
                                  struct seen_error *why);
void remote_server_drop(struct remote_server *s, uint16_t slot);

/* The slot of a key, which is 0 without a cluster. */
uint16_t remote_server_slot(const struct remote_server *s, const char *key);

/* The error of a reply, as ours; SEEN_OK if it has this type. */
enum seen_code remote_reply_check(const redisReply *reply, int type,
                                  struct seen_error *why);

/* CRC16 of the hash tag of a key, or of the key. */
uint16_t remote_slot(const char *key, size_t len);

#endif
