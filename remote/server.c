/*
 * server.c - rounds of pipelines until every command has its reply.
 *
 *     round:  for each command without a reply: append it to its node's wire
 *             send; read the replies in the order of the commands
 *             MOVED, ASK, LOADING ...: the command stays without a reply
 *     again, until there is none or the time is up
 *
 * Objection: one slow node holds up the replies of the others. They wait in
 * their sockets meanwhile, and a batch is done only when all are there anyway.
 */
#include "server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../lib/disk/clock.h"
#include "../lib/text/array.h"
#include "../lib/text/number.h"

enum { PUSH = 64 << 10, PAUSE_MS = 20 };

/* --- batches --- */

void remote_batch_begin(struct remote_batch *b, uint16_t slot, bool changes)
{
    struct remote_request *more = array_grow(b->request, &b->room, b->n + 1,
                                             sizeof *more);

    if (!more) {
        b->failed = true;
        return;
    }
    b->request = more;
    if (b->n)
        b->request[b->n - 1].len = b->text.len - b->request[b->n - 1].at;
    b->request[b->n++] = (struct remote_request){
        .at = b->text.len, .slot = slot, .changes = changes, .to = -1
    };
}

void remote_batch_reset(struct remote_batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        freeReplyObject(b->request[i].reply);
    b->n = b->text.len = 0;
}

void remote_batch_clear(struct remote_batch *b)
{
    remote_batch_reset(b);
    free(b->request);
    buffer_clear(&b->text);
    memset(b, 0, sizeof *b);
}

/* --- replies --- */

enum seen_code remote_reply_check(const redisReply *reply, int type,
                                  struct seen_error *why)
{
    errno = 0;
    if (reply->type == type)
        return SEEN_OK;
    if (reply->type != REDIS_REPLY_ERROR)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "the server gave a reply of another type");
    if (!strncmp(reply->str, "WRONGTYPE", 9))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "a key of the filter was overwritten by something "
                         "else");
    if (!strncmp(reply->str, "NOPERM", 6) || !strncmp(reply->str, "NOAUTH", 6))
        return seen_fail(why, SEEN_UNABLE, 0, "the server refuses: %.120s",
                         reply->str);
    if (strcasestr(reply->str, "unknown command") &&
        strcasestr(reply->str, "BF."))
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the server has no BF.* commands: load RedisBloom, "
                         "or use redis://... instead");
    return seen_fail(why, SEEN_IO, 0, "the server refuses: %.120s",
                     reply->str);
}

static bool begins(const redisReply *reply, const char *word)
{
    return reply->type == REDIS_REPLY_ERROR &&
           !strncmp(reply->str, word, strlen(word));
}

/* --- nodes --- */

static int node_find(struct remote_server *s, const char *name, unsigned port)
{
    for (unsigned i = 0; i < s->nodes; i++)
        if (s->node[i].host.port == port &&
            !strcmp(s->node[i].host.name, name))
            return (int)i;
    if (s->nodes == REMOTE_NODES || strlen(name) >= sizeof s->node->host.name)
        return -1;
    s->node[s->nodes] = (struct remote_node){ .host.port = port };
    strcpy(s->node[s->nodes].host.name, name);
    return (int)s->nodes++;
}

static void tell(struct remote_server *s, const char *text)
{
    if (s->warn)
        s->warn(s->whose, text);
}

/* The value of a line of INFO, "run_id:...". */
static void info_value(const char *info, const char *name, char *to,
                       size_t room)
{
    const char *at = strstr(info, name);

    *to = '\0';
    if (!at || at[strlen(name)] != ':')
        return;
    at += strlen(name) + 1;
    snprintf(to, room, "%.*s", (int)strcspn(at, "\r\n"), at);
}

static void lost_writes(struct remote_server *s, const struct remote_node *n,
                        const char *what)
{
    char text[480];

    s->losses++;
    snprintf(text, sizeof text,
             "%s:%u %s: adds that it acknowledged before may be lost",
             n->host.name, n->host.port, what);
    tell(s, text);
}

/* Compare the ids of a node with those before, and remember them. */
static void compare(struct remote_server *s, struct remote_node *n,
                    const char *info)
{
    char run_id[48], replid[48], before[48];

    info_value(info, "run_id", run_id, sizeof run_id);
    info_value(info, "master_replid", replid, sizeof replid);
    info_value(info, "master_replid2", before, sizeof before);
    if (n->run_id[0] && strcmp(n->run_id, run_id)) {
        lost_writes(s, n, "was restarted or replaced");
    } else if (n->replid[0] && strcmp(n->replid, replid)) {
        lost_writes(s, n, "has other data now, as after a failover");
    } else if (!n->run_id[0] && strspn(before, "0") != strlen(before)) {
        for (unsigned i = 0; i < s->nodes; i++)
            if (&s->node[i] != n && !strcmp(s->node[i].replid, before)) {
                lost_writes(s, n, "took over from another node");
                s->node[i].replid[0] = '\0'; /* told once */
                break;
            }
    }
    strcpy(n->run_id, run_id);
    strcpy(n->replid, replid);
}

static void check_policy(struct remote_server *s, const char *info)
{
    char policy[48], text[200];

    info_value(info, "maxmemory_policy", policy, sizeof policy);
    if (!policy[0] || !strcmp(policy, "noeviction") || s->policy_told)
        return;
    s->policy_told = true;
    snprintf(text, sizeof text,
             "the server has maxmemory-policy %s and may evict a part of the "
             "filter, which is then refused; set noeviction",
             policy);
    tell(s, text);
}

/* Servers that do not know INFO, or forbid it, are not compared. */
static enum seen_code look(struct remote_server *s, struct remote_node *n,
                           struct seen_error *why)
{
    redisReply *reply;
    enum seen_code code;

    n->look = false;
    remote_wire_count(&n->wire->out, 1);
    remote_wire_text(&n->wire->out, "INFO");
    code = remote_wire_reply(n->wire, &reply, why);
    if (code == SEEN_OK && reply->type == REDIS_REPLY_STRING) {
        compare(s, n, reply->str);
        check_policy(s, reply->str);
    }
    freeReplyObject(reply);
    return code;
}

static void hang_up(struct remote_node *n)
{
    remote_wire_close(n->wire);
    n->wire = NULL;
    n->parted |= n->wrote;
}

/* Have a connection to the node. */
static enum seen_code dial(struct remote_server *s, struct remote_node *n,
                           struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!n->wire) {
        code = remote_wire_open(&n->wire, &s->address, n->host.name,
                                n->host.port, why);
        n->look = true;
    }
    if (code == SEEN_OK && n->look)
        code = look(s, n, why);
    if (code != SEEN_OK)
        hang_up(n);
    return code;
}

/* --- the map of a cluster --- */

static bool map_range(struct remote_server *s, const redisReply *range,
                      const char *self)
{
    const redisReply *master;
    const char *name;
    int node;

    if (range->type != REDIS_REPLY_ARRAY || range->elements < 3 ||
        range->element[0]->type != REDIS_REPLY_INTEGER ||
        range->element[1]->type != REDIS_REPLY_INTEGER ||
        range->element[2]->type != REDIS_REPLY_ARRAY ||
        range->element[2]->elements < 2)
        return false;
    master = range->element[2];
    if (master->element[1]->type != REDIS_REPLY_INTEGER)
        return false;
    name = master->element[0]->type == REDIS_REPLY_STRING &&
                   master->element[0]->len
               ? master->element[0]->str
               : self; /* it does not know its own address yet */
    node = node_find(s, name, (unsigned)master->element[1]->integer);
    if (node < 0 || range->element[0]->integer < 0 ||
        range->element[1]->integer >= REMOTE_SLOTS)
        return false;
    for (long long i = range->element[0]->integer;
         i <= range->element[1]->integer; i++)
        s->owner[i] = (uint8_t)node;
    return true;
}

static enum seen_code map_from(struct remote_server *s, struct remote_node *n,
                               struct seen_error *why)
{
    enum seen_code code = dial(s, n, why);
    char self[256];
    redisReply *reply;
    bool any = false;

    if (code != SEEN_OK)
        return code;
    strcpy(self, n->host.name);
    remote_wire_count(&n->wire->out, 2);
    remote_wire_text(&n->wire->out, "CLUSTER");
    remote_wire_text(&n->wire->out, "SLOTS");
    code = remote_wire_reply(n->wire, &reply, why);
    if (code != SEEN_OK) {
        hang_up(n);
        return code;
    }
    code = remote_reply_check(reply, REDIS_REPLY_ARRAY, why);
    for (size_t i = 0; code == SEEN_OK && i < reply->elements; i++)
        any |= map_range(s, reply->element[i], self);
    freeReplyObject(reply);
    if (code == SEEN_OK && !any) {
        errno = 0;
        code = seen_fail(why, SEEN_IO, 0, "%.90s:%u: the cluster has no slots",
                         self, n->host.port);
    }
    return code;
}

/* Ask any node for the map; those that are connected first. */
static enum seen_code map_slots(struct remote_server *s,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_IO;

    for (int connected = 1; connected >= 0 && code != SEEN_OK; connected--)
        for (unsigned i = 0; i < s->nodes && code != SEEN_OK; i++)
            if ((s->node[i].wire != NULL) == connected)
                code = map_from(s, &s->node[i], why);
    s->mapped = code == SEEN_OK;
    for (unsigned i = 0; i < s->nodes; i++)
        s->node[i].look = true;
    return code;
}

uint16_t remote_server_slot(const struct remote_server *s, const char *key)
{
    return s->address.scheme == REMOTE_CLUSTER ? remote_slot(key, strlen(key))
                                               : 0;
}

/* --- a round --- */

struct remote_round {
    struct remote_server *s;
    struct remote_batch *b;
    struct seen_error last; /* why commands have no reply yet */
    bool unsure;            /* a change was not answered */
    bool remap, pause;
};

/* "MOVED 3999 127.0.0.1:6381": the node, or -1. */
static int redirected(struct remote_server *s, const char *text, unsigned from)
{
    const char *at = strrchr(text, ' '), *colon = strrchr(text, ':');
    char name[256];
    size_t len;

    if (!at || !colon || colon < at)
        return -1;
    len = (size_t)(colon - at) - 1;
    if (len >= sizeof name)
        return -1;
    memcpy(name, at + 1, len);
    name[len] = '\0';
    return node_find(s, len ? name : s->node[from].host.name,
                     (unsigned)strtoul(colon + 1, NULL, 10));
}

/* Is it an error after which the command has to be sent again? */
static bool again(struct remote_round *r, struct remote_request *q,
                  unsigned from)
{
    static const char *const wait[] = { "TRYAGAIN", "CLUSTERDOWN", "LOADING",
                                        "MASTERDOWN" };
    bool cluster = r->s->address.scheme == REMOTE_CLUSTER;
    bool once = q->asking;
    int node;

    q->asking = false;
    q->to = -1;
    if (q->reply->type != REDIS_REPLY_ERROR)
        return false;
    for (int i = 0; i < 4; i++)
        if (begins(q->reply, wait[i])) {
            r->pause = true;
            r->remap |= cluster && !once;
            return true;
        }
    if (cluster && begins(q->reply, "READONLY")) {
        r->pause = r->remap = true;
        return true;
    }
    if (!cluster || !(begins(q->reply, "MOVED") || begins(q->reply, "ASK")))
        return false;
    node = redirected(r->s, q->reply->str, from);
    if (node < 0)
        return false;
    if (begins(q->reply, "ASK")) {
        q->asking = true;
        q->to = (int16_t)node;
    } else {
        r->s->owner[q->slot] = (uint8_t)node;
        r->s->node[node].look = true;
    }
    return true;
}

static void unanswered(struct remote_round *r, const struct remote_request *q,
                       const struct seen_error *why)
{
    r->unsure |= q->changes;
    r->last = *why;
    r->remap |= r->s->address.scheme == REMOTE_CLUSTER;
}

/* The node of a request, with a connection; NULL: none now. */
static struct remote_node *node_of(struct remote_round *r,
                                   const struct remote_request *q)
{
    struct remote_server *s = r->s;
    struct remote_node *n = &s->node[q->to >= 0 ? q->to : s->owner[q->slot]];
    struct seen_error why;

    if (n->sent)
        return n->wire ? n : NULL;
    if ((!n->wire || n->look) && dial(s, n, &why) != SEEN_OK) {
        r->last = why;
        r->pause = true;
        r->remap |= s->address.scheme == REMOTE_CLUSTER;
        return NULL;
    }
    return n;
}

/* Append all commands without a reply; number[] has the nodes, or -1. */
static void send_round(struct remote_round *r, int16_t *number)
{
    struct seen_error why;

    for (size_t i = 0; i < r->b->n; i++) {
        struct remote_request *q = &r->b->request[i];
        struct remote_node *n;

        number[i] = -1;
        if (q->reply || !(n = node_of(r, q)))
            continue;
        number[i] = (int16_t)(n - r->s->node);
        n->sent = true;
        if (q->asking) {
            remote_wire_count(&n->wire->out, 1);
            remote_wire_text(&n->wire->out, "ASKING");
        }
        buffer_bytes(&n->wire->out, r->b->text.bytes + q->at, q->len);
        n->wrote |= q->changes;
        if (n->wire->out.len > PUSH &&
            remote_wire_push(n->wire, &why) != SEEN_OK)
            hang_up(n); /* its replies are missed in read_round() */
    }
    for (unsigned i = 0; i < r->s->nodes; i++) {
        struct remote_node *n = &r->s->node[i];

        if (n->sent && n->wire && remote_wire_push(n->wire, &why) != SEEN_OK)
            hang_up(n);
    }
}

static enum seen_code read_one(struct remote_wire *w, struct remote_request *q,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    redisReply *ok;

    if (q->asking) {
        code = remote_wire_reply(w, &ok, why);
        freeReplyObject(ok);
    }
    return code == SEEN_OK ? remote_wire_reply(w, &q->reply, why) : code;
}

static void read_round(struct remote_round *r, const int16_t *number)
{
    struct seen_error why;

    for (size_t i = 0; i < r->b->n; i++) {
        struct remote_request *q = &r->b->request[i];
        struct remote_node *n;
        enum seen_code code = SEEN_IO;

        if (number[i] < 0)
            continue;
        n = &r->s->node[number[i]];
        errno = 0;
        if (n->wire)
            code = read_one(n->wire, q, &why);
        else if (r->last.code)
            why = r->last; /* what became of the connection */
        else
            seen_fail(&why, SEEN_IO, 0, "%.90s:%u: the connection is lost",
                      n->host.name, n->host.port);
        if (code != SEEN_OK) {
            hang_up(n);
            unanswered(r, q, &why);
        } else if (again(r, q, (unsigned)number[i])) {
            errno = 0;
            seen_fail(&r->last, SEEN_IO, 0, "the server refuses: %.120s",
                      q->reply->str);
            freeReplyObject(q->reply);
            q->reply = NULL;
        }
    }
    for (unsigned i = 0; i < r->s->nodes; i++)
        r->s->node[i].sent = false;
}

/* --- the whole --- */

static bool complete(const struct remote_batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (!b->request[i].reply)
            return false;
    return true;
}

/* WAIT covers all writes of its own connection and no others. */
static enum seen_code wait_replicas(struct remote_server *s, unsigned replicas,
                                    struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; i < s->nodes && code == SEEN_OK; i++) {
        struct remote_node *n = &s->node[i];
        redisReply *reply;

        if (!n->wrote)
            continue;
        if (n->parted) {
            errno = 0;
            return seen_fail(why, SEEN_IO, 0,
                             "%.90s:%u: the connection is lost, so that "
                             "replicas cannot be asked; the URLs may have "
                             "been added",
                             n->host.name, n->host.port);
        }
        remote_wire_count(&n->wire->out, 3);
        remote_wire_text(&n->wire->out, "WAIT");
        remote_wire_number(&n->wire->out, replicas);
        remote_wire_number(&n->wire->out, s->address.timeout_ms / 2);
        code = remote_wire_reply(n->wire, &reply, why);
        if (code != SEEN_OK)
            hang_up(n);
        else
            code = remote_reply_check(reply, REDIS_REPLY_INTEGER, why);
        if (code == SEEN_OK && reply->integer < (long long)replicas) {
            errno = 0;
            code = seen_fail(why, SEEN_IO, 0,
                             "%lld of %u replicas confirmed in time; the URLs "
                             "may have been added",
                             reply->integer, replicas);
        }
        freeReplyObject(reply);
    }
    return code;
}

enum seen_code remote_server_run(struct remote_server *s,
                                 struct remote_batch *b,
                                 struct seen_error *why)
{
    const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000 };
    uint64_t deadline = clock_ms() + s->address.timeout_ms;
    struct remote_round r = { .s = s, .b = b };
    int16_t *number = malloc((b->n + 1) * sizeof *number);
    enum seen_code code = SEEN_OK;

    if (b->n)
        b->request[b->n - 1].len = b->text.len - b->request[b->n - 1].at;
    if (!number || b->failed || b->text.failed) {
        free(number);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for commands");
    }
    for (unsigned i = 0; i < s->nodes; i++)
        s->node[i].wrote = s->node[i].parted = false;
    for (;;) {
        r.remap = r.pause = false;
        send_round(&r, number);
        read_round(&r, number);
        if (r.unsure || complete(b))
            break;
        if (clock_ms() >= deadline) {
            code = r.last.code ? r.last.code : SEEN_IO;
            break;
        }
        if (r.pause)
            nanosleep(&pause, NULL);
        if (r.remap)
            map_slots(s, NULL);
        else if (s->address.scheme != REMOTE_CLUSTER && r.last.code &&
                 !s->node[0].wire && r.pause) {
            code = r.last.code; /* nobody listens: do not wait for it */
            break;
        }
    }
    free(number);
    if (r.unsure) {
        errno = 0;
        return seen_fail(why, SEEN_IO, 0,
                         "%.100s; the URLs may have been added", r.last.text);
    }
    if (code != SEEN_OK) {
        if (why)
            *why = r.last;
        return code;
    }
    return b->replicas ? wait_replicas(s, b->replicas, why) : SEEN_OK;
}

enum seen_code remote_server_wire(struct remote_server *s, uint16_t slot,
                                  struct remote_wire **wire,
                                  struct seen_error *why)
{
    struct remote_node *n = &s->node[s->owner[slot]];
    enum seen_code code = dial(s, n, why);

    *wire = n->wire;
    return code;
}

void remote_server_drop(struct remote_server *s, uint16_t slot)
{
    hang_up(&s->node[s->owner[slot]]);
}

enum seen_code remote_server_open(struct remote_server **out,
                                  struct remote_address *a, remote_warn *warn,
                                  void *whose, struct seen_error *why)
{
    struct remote_server *s = calloc(1, sizeof *s);
    enum seen_code code = SEEN_OK;

    *out = NULL;
    if (!s)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a server");
    s->address = *a;
    memset(a, 0, sizeof *a);
    s->warn = warn;
    s->whose = whose;
    for (unsigned i = 0; i < s->address.hosts; i++)
        node_find(s, s->address.host[i].name, s->address.host[i].port);
    if (s->address.scheme == REMOTE_CLUSTER)
        code = map_slots(s, why);
    else
        code = dial(s, &s->node[0], why);
    if (code != SEEN_OK) {
        int system = errno;

        remote_server_close(s);
        errno = system;
        return code;
    }
    *out = s;
    return SEEN_OK;
}

void remote_server_close(struct remote_server *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < s->nodes; i++)
        hang_up(&s->node[i]);
    remote_address_forget(&s->address);
    free(s);
}
