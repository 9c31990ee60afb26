/*
 * queue.c - seen queue: look after the queues of jobs and page records.
 *
 *     $ seen queue stats --queue sqlite:jobs.db
 *     QUEUE    READY    TAKEN  WAITING     DEAD   OLDEST  PUBLISHED       DONE
 *     jobs         3        1        0        1    2.5 s         12          7
 *     $ seen queue dead jobs --queue sqlite:jobs.db
 *     news@1767225600	1	the template's hash differs
 *     $ seen queue retry jobs --all --queue sqlite:jobs.db
 *     1 dead letter put back
 */
#include "queue.h"

#include <stdio.h>
#include <string.h>

#include "../lib/text/buffer.h"
#include "../lib/text/span.h"
#include "json.h"
#include "output.h"

static const struct option options[] = {
    { "queue", 0, TEXT, "WHERE", offsetof(struct cmd_queue, place.queue),
      "sqlite:FILE, postgresql://HOST/DATABASE or amqp://HOST "
      "(default " CMD_PLACE ")" },
    { "password-file", 0, PATH, "FILE",
      offsetof(struct cmd_queue, place.password_file),
      "the password of that server, in the first line of a file" },
    { "most", 'n', COUNT, "N", offsetof(struct cmd_queue, most),
      "dead, take: at most this number (default 1000; take: all)" },
    { "wait", 0, DURATION_OR_NONE, "TIME",
      offsetof(struct cmd_queue, wait_given),
      "take: end when none came for this long (default 0s)" },
    { "id", 0, TEXT, "ID", offsetof(struct cmd_queue, id),
      "put: the id of the only message (default: the first 32 hexadecimal "
      "digits of the SHA-256 of each line)" },
    { "all", 0, FLAG, NULL, offsetof(struct cmd_queue, all),
      "retry, drop: all dead letters of the queue" },
    JSON_OPTION(struct cmd_queue, json,
                "stats, dead: print a JSON list; dead: with the bodies"),
    { .name = NULL }
};

enum outcome cmd_queue_refuse(const struct seen_error *why)
{
    trouble("%s", why->text);
    return why->code == SEEN_ABSENT ? NO : TROUBLE;
}

/* --- stats --- */

static void print_age(int64_t ms)
{
    double s = (double)ms / 1000;

    if (ms < 0)
        output_format("%9s", "-");
    else if (s < 120)
        output_format("%7.1f s", s);
    else if (s < 7200)
        output_format("%5.0f min", s / 60);
    else
        output_format("%7.1f h", s / 3600);
}

static void print_count(int64_t n, int width)
{
    if (n < 0)
        output_format(" %*s", width, "-");
    else
        output_format(" %*lld", width, (long long)n);
}

static bool print_stats(void *owner, const struct queue_stats *s)
{
    struct cmd_queue *o = owner;

    if (o->name && !span_is(s->name, o->name))
        return true;
    if (o->json) {
        cmd_json_open(NULL, '{');
        cmd_json_text("queue", s->name.text, s->name.len);
        cmd_json_known("ready", s->ready);
        cmd_json_known("taken", s->taken);
        cmd_json_known("waiting", s->waiting);
        cmd_json_known("dead", s->dead);
        cmd_json_known("oldest_ms", s->oldest);
        cmd_json_known("published", s->published);
        cmd_json_known("done", s->done);
        cmd_json_shut('}');
    } else {
        if (!o->found)
            output_format("%-16s %8s %8s %8s %8s %9s %10s %10s\n", "QUEUE",
                          "READY", "TAKEN", "WAITING", "DEAD", "OLDEST",
                          "PUBLISHED", "DONE");
        output_format("%-16.*s", (int)s->name.len, s->name.text);
        print_count(s->ready, 8);
        print_count(s->taken, 8);
        print_count(s->waiting, 8);
        print_count(s->dead, 8);
        output_text(" ");
        print_age(s->oldest);
        print_count(s->published, 10);
        print_count(s->done, 10);
        output_text("\n");
    }
    o->found++;
    return !output_dead();
}

static enum outcome show_stats(struct cmd_queue *o, char **operand)
{
    struct seen_error why;

    (void)operand;
    if (o->json)
        cmd_json_open(NULL, '[');
    if (queue_stats(o->q, print_stats, o, &why) != SEEN_OK)
        return cmd_queue_refuse(&why);
    if (o->json)
        cmd_json_shut(']');
    return o->found || !o->name ? YES : NO;
}

/* --- dead letters --- */

static bool print_dead(void *owner, const struct queue_message *m)
{
    struct cmd_queue *o = owner;

    o->found++;
    if (o->json) {
        cmd_json_open(NULL, '{');
        cmd_json_text("id", m->id.text, m->id.len);
        cmd_json_count("attempt", m->attempt);
        cmd_json_text("reason", m->reason.text, m->reason.len);
        cmd_json_text("body", m->body.text, m->body.len);
        cmd_json_shut('}');
    } else {
        output_shown(m->id);
        output_format("\t%u\t", m->attempt);
        output_shown(m->reason);
        output_text("\n");
    }
    return !output_dead();
}

static enum outcome show_dead(struct cmd_queue *o, char **operand)
{
    uint64_t most = o->most ? o->most : 1000;
    struct seen_error why;

    (void)operand;
    if (o->json)
        cmd_json_open(NULL, '[');
    if (queue_dead(o->q, o->name,
                   most < UINT32_MAX ? (unsigned)most : UINT32_MAX, print_dead,
                   o, &why) != SEEN_OK)
        return cmd_queue_refuse(&why);
    if (o->json)
        cmd_json_shut(']');
    return o->found ? YES : NO;
}

/* retry or drop: one call for all, or one for each id. */
static enum outcome move_dead(struct cmd_queue *o, char **id,
                              enum seen_code (*move)(struct queue *,
                                                     const char *,
                                                     const char *, uint64_t *,
                                                     struct seen_error *),
                              const char *what)
{
    enum outcome out = YES;
    struct seen_error why;
    uint64_t n;

    if (!*id != o->all)
        return trouble("which dead letters? ID... or --all");
    do {
        if (move(o->q, o->name, *id, &n, &why) != SEEN_OK)
            return cmd_queue_refuse(&why);
        o->found += n;
        if (*id && !n) {
            warning("%s: no dead letter of %s", *id, o->name);
            out = NO;
        }
    } while (*id && *++id);
    if (o->json) {
        cmd_json_open(NULL, '{');
        cmd_json_count(what, o->found);
        cmd_json_shut('}');
    } else {
        output_format("%llu dead letter%s %s\n", (unsigned long long)o->found,
                      o->found == 1 ? "" : "s", what);
    }
    return o->found ? out : NO;
}

static enum outcome retry_dead(struct cmd_queue *o, char **operand)
{
    return move_dead(o, operand, queue_revive,
                     o->json ? "retried" : "put back");
}

static enum outcome drop_dead(struct cmd_queue *o, char **operand)
{
    return move_dead(o, operand, queue_drop, "dropped");
}

/* --- the command --- */

/* The first operand is the name of the queue; it may be missing for stats. */
static enum outcome with_queue(struct cmd_queue *o, char **operand, bool make,
                               enum outcome (*run)(struct cmd_queue *o,
                                                   char **operand))
{
    const struct queue_settings settings = {
        .patience = 5000,
        .existing = !make,
        .names = *operand ? *operand : CMD_PLACE_JOBS ",pages.0",
    };
    struct seen_error why;
    enum outcome out;

    o->name = *operand;
    if (!cmd_place_complete(&o->place))
        return TROUBLE;
    /* The address may hold a password: it is not repeated. */
    if (queue_open(&o->q, o->place.queue, &settings, &why) != SEEN_OK)
        return trouble("--queue: %s", why.text);
    out = run(o, *operand ? operand + 1 : operand);
    queue_close(o->q);
    return out;
}

static enum outcome stats(void *settings, char **operand)
{
    return with_queue(settings, operand, false, show_stats);
}

static enum outcome dead(void *settings, char **operand)
{
    return with_queue(settings, operand, false, show_dead);
}

static enum outcome retry(void *settings, char **operand)
{
    return with_queue(settings, operand, false, retry_dead);
}

static enum outcome drop(void *settings, char **operand)
{
    return with_queue(settings, operand, false, drop_dead);
}

static enum outcome take(void *settings, char **operand)
{
    return with_queue(settings, operand, false, cmd_queue_take);
}

static enum outcome put(void *settings, char **operand)
{
    return with_queue(settings, operand, true, cmd_queue_put);
}

#define PLACE " queue password-file "

static const struct command_part parts[] = {
    { "stats", "[NAME]", 0, 1, PLACE "json ", stats },
    { "dead", "NAME", 1, 1, PLACE "json most ", dead },
    { "retry", "NAME ID...|--all", 1, -1, PLACE "json all ", retry },
    { "drop", "NAME ID...|--all", 1, -1, PLACE "json all ", drop },
    { "take", "NAME", 1, 1, PLACE "most wait ", take },
    { "put", "NAME", 1, 1, PLACE "id ", put },
    { .name = NULL }
};

const struct command cmd_queue = {
    .name = "queue",
    .summary = "look after the queues of jobs and page records",
    .synopsis = "stats|dead|retry|drop|take|put [NAME] [ID...]",
    .operands = 1,
    .most = -1,
    .settings = sizeof(struct cmd_queue),
    .options = options,
    .about =
        "seen queue stats prints for each queue how many messages may be "
        "taken now, are with a consumer, wait for their next attempt, and are "
        "dead letters; how old the oldest one that may be taken is; and how "
        "many were published and done since the queue was made. A dash is "
        "what the server does not know. RabbitMQ cannot list its queues: there "
        "it prints NAME, or jobs and pages.0, or those that the address names, "
        "as amqp://HOST/?queues=jobs,pages.0,pages.1.\n"
        "\n"
        "A message that failed five times, that killed its consumers as "
        "often, or that was rejected is a dead letter. seen queue dead NAME "
        "prints their ids, attempts and reasons. seen queue retry puts dead "
        "letters back into the queue, as if they were new; seen queue drop "
        "removes them for good. Both take ids, or --all.\n"
        "\n"
        "seen queue put NAME publishes standard input, one message per line. "
        "seen queue take NAME prints the bodies of messages, one per line; a "
        "message is done when it is in a file, or its reader has read it from a "
        "pipe: seen queue take NAME | head -1 takes one. If seen or the reader "
        "is killed before that, it comes again.\n"
        "\n"
        "A password in WHERE is visible to everybody who lists processes, for "
        "a moment, and stays in the shell's history; --password-file and the environment (PGPASSWORD, PGPASSFILE, "
        "SEEN_AMQP_PASSWORD) are not. It is never printed.\n"
        "\n"
        "doc/workers.md describes queues and workers.\n",
    .exits = "0 something was printed or done; 1 there is no such queue or no "
             "such dead letter; 2 trouble.",
    .examples = "$ seen queue stats --queue sqlite:jobs.db\n"
                "$ seen queue dead jobs --queue sqlite:jobs.db --json\n"
                "$ seen queue take pages.0 --queue sqlite:jobs.db --wait 1m\n"
                "$ seen queue retry jobs news@1767225600 --queue "
                "sqlite:jobs.db\n",
    .parts = parts,
};
