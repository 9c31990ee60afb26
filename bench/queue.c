/*
 * queue.c - seen bench queue: messages per second, published and acknowledged.
 *
 * One process publishes a batch, takes it and says that it is done: three
 * commits of ours for two of the bare loop beside it, because a consumer
 * that dies must not take its messages with it.
 *
 *     sqlite       synchronous=FULL: each commit is flushed to the disk
 *     relaxed      synchronous=NORMAL: flushed when the log is full
 *     --at         PostgreSQL: measured; RabbitMQ: beside a bare loop of
 *                  librabbitmq with the same confirms
 *
 * Both turns alternate; a figure is the median of its turns.
 */
#include "queue.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../queue/queue.h"
#include "bench.h"
#include "process.h"

enum { TURNS_MOST = 25, BODY_MOST = 1 << 20, PAIRS = 2 };

struct queue_options {
    uint64_t messages, batch, body, turns;
    const char *at;
    bool json, help;
};

/* --- ours --- */

struct our_queue {
    struct queue *q;
    struct queue_batch batch;
    struct queue_message message[BENCH_BATCH_MOST];
    char id[BENCH_BATCH_MOST][32], name[64];
    struct seen_error why;
};

static const char *ours_open(struct bench_queue *c, const char *at)
{
    const struct queue_settings settings = { .relaxed = c->relaxed };
    struct our_queue *o = calloc(1, sizeof *o);

    c->state = o;
    if (!o)
        return "no memory";
    snprintf(o->name, sizeof o->name, "bench-%ld", (long)getpid());
    return queue_open(&o->q, at, &settings, &o->why) == SEEN_OK ? NULL
                                                                : o->why.text;
}

static bool ours_batch(struct bench_queue *c, uint64_t first, size_t n,
                       const char *body, size_t len)
{
    struct our_queue *o = c->state;
    enum seen_code code;
    size_t done = 0;

    for (size_t i = 0; i < n; i++) {
        int id = snprintf(
            o->id[i], sizeof o->id[i], "%016llx%08llx",
            (unsigned long long)((first + i) * 0x9e3779b97f4a7c15u),
            (unsigned long long)(first + i));

        o->message[i] = (struct queue_message){ .id = { o->id[i], (size_t)id },
                                                .body = { body, len } };
    }
    code = queue_publish(o->q, o->name, o->message, n, &o->why);
    while (code == SEEN_OK && done < n) {
        code = queue_take(o->q, o->name, (unsigned)n, 5000, &o->batch,
                          &o->why);
        if (code == SEEN_OK && o->batch.n == 0) {
            fprintf(stderr, "seen: bench: messages are missing\n");
            return false;
        }
        if (code == SEEN_OK)
            code = queue_done(o->q, o->batch.message, o->batch.n, &o->why);
        done += o->batch.n;
    }
    if (code != SEEN_OK)
        fprintf(stderr, "seen: bench: %s\n", o->why.text);
    return code == SEEN_OK;
}

static void ours_close(struct bench_queue *c)
{
    struct our_queue *o = c->state;

    if (!o)
        return;
    queue_close(o->q);
    queue_batch_clear(&o->batch);
    free(o);
    c->state = NULL;
}

const struct bench_queue bench_queue_ours = {
    .name = "seen", .open = ours_open, .batch = ours_batch, .close = ours_close
};

/* --- turns --- */

/* Ours beside a peer, or alone. */
struct pair {
    const char *name;
    struct bench_queue ours, peer; /* peer.name is NULL: alone */
    char at[2][PATH_ROOM];
    double asked, share; /* of ours, by its peer; NAN: information */
    double rate[2][TURNS_MOST], cpu[2][TURNS_MOST]; /* cpu: us per message */
};

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool open_one(struct bench_queue *c, const char *at)
{
    const char *wrong = c->open(c, at);

    if (wrong)
        fprintf(stderr, "seen: bench: %s: %s\n", c->name, wrong);
    return !wrong;
}

static bool run_turn(const struct queue_options *s, struct bench_queue *c,
                     uint64_t *first, double *rate, double *cpu)
{
    static char body[BODY_MOST];
    double began = clock_seconds(), spent = cpu_seconds();
    uint64_t sent = 0;

    memset(body, 'x', s->body);
    for (; sent < s->messages; sent += s->batch)
        if (!c->batch(c, *first + sent, s->batch, body, s->body))
            return false;
    *rate = (double)sent / (clock_seconds() - began);
    *cpu = 1e6 * (cpu_seconds() - spent) / (double)sent;
    *first += sent;
    return true;
}

static bool run_pair(const struct queue_options *s, struct pair *p)
{
    uint64_t first[2] = { 1, 1 };
    bool good = open_one(&p->ours, p->at[0]) &&
                (!p->peer.name || open_one(&p->peer, p->at[1]));

    for (size_t i = 0; good && i < s->turns; i++) {
        good = run_turn(s, &p->ours, &first[0], &p->rate[0][i], &p->cpu[0][i]);
        if (good && p->peer.name)
            good = run_turn(s, &p->peer, &first[1], &p->rate[1][i],
                            &p->cpu[1][i]);
    }
    p->ours.close(&p->ours);
    if (p->peer.name)
        p->peer.close(&p->peer);
    return good;
}

/* False if it is missed. */
static bool show(const struct queue_options *s, struct pair *p)
{
    double ours = bench_median(p->rate[0], s->turns);
    double peer = p->peer.name ? bench_median(p->rate[1], s->turns) : NAN;
    double share = ours / peer;
    double cpu = bench_median(p->cpu[0], s->turns);
    bool good = !(ours < p->asked) && !(share < p->share);

    if (s->json) {
        printf("{\"bench\": \"queue\", \"place\": \"%s\", ", p->name);
        bench_json("messages_per_second", ours, ", ");
        bench_json("peer_per_second", peer, ", ");
        bench_json("ratio", share, ", ");
        bench_json("cpu_us_per_message", cpu, ", ");
        bench_json("asked", p->asked, ", ");
        bench_json("asked_ratio", p->share, ", ");
        printf("\"good\": %s}\n", good ? "true" : "false");
        return good;
    }
    printf("%-10s %10.0f messages/s", p->name, ours);
    if (!isnan(p->asked))
        printf("  >= %.0f", p->asked);
    if (p->peer.name)
        printf("   %.2f x the %.0f of bare %s", share, peer, p->peer.name);
    if (!isnan(p->share))
        printf("  >= %.2f", p->share);
    printf("   %.1f us CPU%s\n", cpu, good ? "" : "   missed");
    return good;
}

static int run_queue(void *with)
{
    const struct queue_options *s = with;
    struct pair pair[PAIRS] = {
        { .name = "sqlite", .asked = 50000, .share = 0.3 },
        { .name = "relaxed", .asked = 100000, .share = 0.2 },
    };
    char file[PATH_ROOM], name[PATH_ROOM];
    size_t pairs = s->at ? 1 : PAIRS;
    bool good = true;

    for (size_t i = 0; i < pairs; i++) {
        struct pair *p = &pair[i];

        p->ours = bench_queue_ours;
        p->peer = bench_queue_sqlite;
        p->ours.relaxed = p->peer.relaxed = i == 1;
        if (s->at) {
            bool rabbit = !strncmp(s->at, "amqp", 4);

            p->name = rabbit ? "rabbitmq" : "postgresql";
            p->asked = NAN;
            p->share = rabbit ? 0.8 : NAN;
            p->peer = rabbit ? bench_queue_rabbit
                             : (struct bench_queue){ .name = NULL };
            snprintf(p->at[0], PATH_ROOM, "%s", s->at);
            snprintf(p->at[1], PATH_ROOM, "%s", s->at);
        } else {
            snprintf(name, sizeof name, "ours-%zu.db", i);
            process_path(file, name);
            snprintf(p->at[0], PATH_ROOM, "sqlite:%.500s", file);
            snprintf(name, sizeof name, "bare-%zu.db", i);
            process_path(p->at[1], name);
        }
        if (!run_pair(s, p))
            return 2;
        good &= show(s, p);
    }
    return good ? 0 : 1;
}

static const char about[] =
    "Messages that are published, taken and done, in batches, by one process: "
    "the\nqueues of seen beside a bare loop of the same engine. Exits with 1 "
    "if a figure\nis missed.\n";

static const struct option options[] = {
#define AT(name) offsetof(struct queue_options, name)
    { "messages", 0, COUNT, "N", AT(messages), "per turn (default 50k)" },
    { "batch", 0, COUNT, "N", AT(batch), "messages per batch (default 100)" },
    { "body", 0, COUNT, "N", AT(body), "bytes of a message (default 200)" },
    { "turns", 0, COUNT, "N", AT(turns), "of each contender (default 5)" },
    { "at", 0, TEXT, "URL", AT(at),
      "postgresql://... or amqp://... instead of SQLite" },
    { "json", 0, FLAG, NULL, AT(json), "a JSON object per line" },
    { "help", 0, FLAG, NULL, AT(help), "print this" },
    { .name = NULL },
#undef AT
};

int bench_queue(char **argv)
{
    struct queue_options s = {
        .messages = 50000, .batch = 100, .body = 200, .turns = 5
    };
    int status;

    if (!bench_options(options, "queue", about, &s, &s.help, argv, &status))
        return status;
    if (s.turns < 1 || s.turns > TURNS_MOST || s.batch < 1 ||
        s.batch > BENCH_BATCH_MOST || s.body > BODY_MOST ||
        s.messages < s.batch || s.messages > 100000000) {
        fprintf(stderr,
                "seen: bench: --turns is 1 to %d, --batch 1 to %d, --body at "
                "most 1M, --messages at least a batch\n",
                TURNS_MOST, BENCH_BATCH_MOST);
        return 2;
    }
    if (s.at && !queue_is_address(s.at)) {
        fprintf(stderr, "seen: bench: --at takes the address of a queue\n");
        return 2;
    }
    if (!s.json)
        bench_show_cpu();
    return process_guard(run_queue, &s, "/tmp");
}
