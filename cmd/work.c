/*
 * work.c - seen work: crawl what jobs ask for, one worker of any number.
 *
 *     $ seen enqueue news.json
 *     $ seen work --drain --contact https://me.example/
 *     $ seen work status
 *
 * Jobs and page records are messages of a queue, visits and pages are rows of
 * a frontier. crawl/team/team.h knows the frontier; this file gives it the queue.
 */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../crawl/team/team.h"
#include "../lib/text/number.h"
#include "../sql/sql.h"
#include "access.h"
#include "crawl_run.h"
#include "input.h"
#include "json.h"
#include "output.h"
#include "place.h"
#include "work_status.h"

enum {
    JOBS_AT_ONCE = 16,  /* between two commits */
    LEASE = 60000,      /* ms */
    PATIENCE = 60000,   /* ms, for the database */
    QUEUE_LEASE = 5000, /* ms, at least: a job that is accepted too slowly five
                           times would be a dead letter */
    SHARDS_MOST = 1024, /* as a job may have */
    QUEUE_NAME = 80
};

struct settings {
    struct crawl_settings crawl; /* first, as CRAWL_MACHINE_OPTIONS wants it */
    struct cmd_place place;
    const char *frontier, *pages, *name, *into;
    const char *cache;
    uint64_t capacity, lease_given;
    bool drain, no_filter;
};

#define AT(member) offsetof(struct settings, member)

static const struct option options[] = {
    CMD_PLACE_OPTIONS(struct settings, place),
    { "frontier", 0, TEXT, "WHERE", AT(frontier),
      "where visits and pages are: sqlite:FILE or postgresql://HOST/DATABASE, "
      "or several of these, with commas (default: as --queue, or " CMD_PLACE
      " if that is RabbitMQ)" },
    { "pages", 0, TEXT, "NAME", AT(pages),
      "the queues of page records: NAME.0, NAME.1, ... (default pages)" },
    { "into", 'o', PATH, "DIR", AT(into),
      "also keep WARC files, their index and a log, in a folder per worker" },
    { "drain", 0, FLAG, NULL, AT(drain),
      "end when no job and no visit is left, also not with a worker that "
      "died" },
    { "name", 0, TEXT, "NAME", AT(name),
      "of this worker in reports (default HOST:PROCESS)" },
    { "lease", 0, SECONDS_OR_NONE, "TIME", AT(lease_given),
      "after which others take over from a worker that died (default 60s)" },
    /* Ask the database about every link: for tests and experiments. */
    { "no-filter", 0, FLAG, NULL, AT(no_filter), NULL },
    { "cache", 0, TEXT, "ADDRESS", AT(cache),
      "share the filters of visits with other workers: redis://HOST:PORT/NAME "
      "or bf://HOST:PORT/NAME; see doc/remote.md (default: each worker has "
      "its own, in memory)" },
    { "capacity", 0, COUNT, "N", AT(capacity),
      "links per visit that a filter of --cache is made for (default 1M; "
      "100,000 of bf://, which grows)" },
    CRAWL_PER_ADDRESS_OPTION,
    CRAWL_MACHINE_OPTIONS,
    { .name = NULL }
};

/* --- the queue --- */

struct post_office {
    struct queue *queue;
    const char *jobs, *pages;
    struct queue_batch batch;
    bool made[SHARDS_MOST]; /* shards whose queue is there */
};

/* The queue of a shard, which only one classifier at a time may read. */
static enum seen_code make_shard(struct post_office *o, unsigned shard,
                                 const char *name, struct seen_error *why)
{
    enum seen_code code;

    if (shard >= SHARDS_MOST || o->made[shard])
        return SEEN_OK;
    code = queue_make(o->queue, name, true, why);
    o->made[shard] = code == SEEN_OK;
    return code;
}

static enum seen_code publish(void *owner, const struct crawl_post *post,
                              size_t n, struct seen_error *why)
{
    struct post_office *o = owner;
    struct queue_message *message = calloc(n + 1, sizeof *message);
    bool *sent = calloc(n + 1, sizeof *sent);
    enum seen_code code = SEEN_OK;
    char name[QUEUE_NAME];

    if (!message || !sent)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for page records");
    for (size_t i = 0; code == SEEN_OK && i < n; i++) {
        size_t some = 0;

        if (sent[i])
            continue;
        for (size_t k = i; k < n; k++)
            if (post[k].shard == post[i].shard) {
                message[some++] = (struct queue_message){
                    .id = { post[k].id, strlen(post[k].id) },
                    .body = post[k].body,
                };
                sent[k] = true;
            }
        snprintf(name, sizeof name, "%.60s.%u", o->pages, post[i].shard);
        code = make_shard(o, post[i].shard, name, why);
        if (code == SEEN_OK)
            code = queue_publish(o->queue, name, message, some, why);
    }
    free(message);
    free(sent);
    return code;
}

static enum seen_code settle(struct post_office *o, struct crawl *c,
                             struct seen_error *why)
{
    const struct queue_message *m = &o->batch.message[0];
    struct seen_error reason, ignored;
    enum seen_code code;

    switch (crawl_team_accept(c, m->body, &reason)) {
    case CRAWL_FATE_DONE: code = queue_done(o->queue, m, 1, why); break;
    case CRAWL_FATE_BAD:
        warning("job %.*s: %s", (int)(m->id.len < 100 ? m->id.len : 100),
                m->id.text, reason.text);
        code = queue_reject(o->queue, m, reason.text, why);
        break;
    default:
        queue_return(o->queue, m, 1, &ignored);
        if (why)
            *why = reason;
        return reason.code;
    }
    /* Somebody else has it now, and will find its visit begun. */
    return code == SEEN_ABSENT ? SEEN_OK : code;
}

/* One by one: a job that kills its worker, and becomes a dead letter by that,
   takes no other with it. */
static enum seen_code take_jobs(void *owner, struct crawl *c, size_t *n,
                                struct seen_error *why)
{
    struct post_office *o = owner;
    enum seen_code code;

    *n = 0;
    do {
        code = queue_take(o->queue, o->jobs, 1, 0, &o->batch, why);
        if (code == SEEN_OK && o->batch.n)
            code = settle(o, c, why);
    } while (code == SEEN_OK && o->batch.n && ++*n < JOBS_AT_ONCE);
    return code;
}

static enum seen_code jobs_left(void *owner, uint64_t *n,
                                struct seen_error *why)
{
    const struct post_office *o = owner;

    return cmd_place_left(o->queue, o->jobs, n, why);
}

/* --- a run --- */

static void show_report(const struct crawl_team_report *r, bool json)
{
    if (json) {
        cmd_json_open(NULL, '{');
        cmd_json_count("pages", r->pages);
        cmd_json_count("unchanged", r->unchanged);
        cmd_json_count("bytes", r->bytes);
        cmd_json_count("requests", r->requests);
        cmd_json_count("records", r->records);
        cmd_json_count("links", r->links);
        cmd_json_count("asked_links", r->asked);
        cmd_json_count("new_links", r->inserted);
        cmd_json_count("jobs", r->jobs);
        cmd_json_count("bad_jobs", r->bad_jobs);
        cmd_json_count("visits", r->visits);
        cmd_json_count("commits", r->commits);
        cmd_json_count("lost_leases", r->lost_leases);
        cmd_json_count("refused_pages", r->refused);
        cmd_json_number("seconds", r->seconds);
        cmd_json_number("seconds_in_database", r->in_database);
        cmd_json_number("seconds_in_queue", r->in_queue);
        cmd_json_shut('}');
        return;
    }
    output_format("pages         %s, %s, %s", show_count(r->pages),
                  show_bytes(r->bytes), show_counted(r->requests, "request"));
    if (r->unchanged)
        output_format("; %s unchanged", show_count(r->unchanged));
    output_text("\n");
    output_format("records       %s\n", show_count(r->records));
    output_format("links         %s; %s asked of the frontier, %s new\n",
                  show_count(r->links), show_count(r->asked),
                  show_count(r->inserted));
    output_format("jobs          %s", show_count(r->jobs));
    if (r->bad_jobs)
        output_format(", and %s that cannot be done: see seen queue dead",
                      show_count(r->bad_jobs));
    output_text("\n");
    if (r->lost_leases)
        output_format("leases        %s lost, and %s that came too late\n",
                      show_count(r->lost_leases),
                      show_counted(r->refused, "page"));
    output_format("time          %s; %s in the database, %s in the queue\n",
                  show_time(r->seconds), show_time(r->in_database),
                  show_time(r->in_queue));
}

/* A full disk is the one fault that those who run workers can mend. */
static enum outcome tell(const struct seen_error *why)
{
    bool full = why->code == SEEN_FULL ||
                (why->code == SEEN_IO &&
                 (why->system == ENOSPC || why->system == EDQUOT));

    return trouble("%s%s", why->text,
                   full ? "; make room and start it again: what was not "
                          "committed is fetched again"
                        : "");
}

static enum outcome work_on(struct settings *s,
                            const struct crawl_team_settings *team,
                            struct post_office *office)
{
    const struct crawl_posts posts = { .publish = publish,
                                       .jobs = take_jobs,
                                       .left = jobs_left,
                                       .owner = office };
    struct crawl_team_report report;
    struct seen_error why;
    enum seen_code code;
    struct crawl *c;

    if (crawl_team_open(&c, &s->crawl, team, &posts, &cmd_crawl_hooks, &why) !=
        SEEN_OK)
        return tell(&why);
    code = cmd_crawl_run(c, "work", crawl_team_run, &why);
    crawl_team_report(c, &report);
    crawl_team_close(c);
    if (code != SEEN_OK)
        return tell(&why);
    if (!s->crawl.quiet)
        show_report(&report, s->crawl.json);
    return YES;
}

static bool read_lease(uint64_t given, unsigned *ms)
{
    *ms = given > 1 && given <= 86401 ? (unsigned)(given - 1) * 1000 : LEASE;
    return given != 1 && given <= 86401;
}

static enum outcome work(struct settings *s)
{
    struct post_office *office = calloc(1, sizeof *office);
    struct crawl_team_settings team = { .frontier = s->frontier,
                                        .name = s->name,
                                        .patience = PATIENCE,
                                        .into = s->into,
                                        .temporary = cmd_temporary_folder(),
                                        .no_filter = s->no_filter,
                                        .cache = s->cache,
                                        .capacity = s->capacity,
                                        .drain = s->drain,
                                        .retry_aside = s->crawl.retry_aside };
    char name[128], host[64] = "";
    struct seen_error why;
    enum outcome out;

    if (!office)
        return trouble("no memory for %zu bytes", sizeof *office);
    if (s->cache && (s->no_filter || !access_is_remote(s->cache))) {
        free(office);
        return s->no_filter
                   ? trouble("--cache and --no-filter exclude each other")
                   : trouble("--cache %s: not an address such as "
                             "redis://HOST:PORT/NAME",
                             s->cache);
    }
    if (!read_lease(s->lease_given, &team.lease)) {
        free(office);
        return trouble("--lease: from 1s to 1d");
    }
    if (crawl_settings_complete(&s->crawl, &why) != SEEN_OK) {
        free(office);
        return trouble("%s", why.text);
    }
    gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, "%s:%ld", host, (long)getpid());
    if (!team.name)
        team.name = name;
    office->jobs = s->place.jobs;
    office->pages = s->pages ? s->pages : "pages";
    s->place.lease = team.lease > QUEUE_LEASE ? team.lease : QUEUE_LEASE;
    office->queue = cmd_place_open(&s->place, team.lease / 4);
    out = office->queue ? work_on(s, &team, office) : TROUBLE;
    queue_batch_clear(&office->batch);
    queue_close(office->queue);
    free(office);
    return out;
}

/* Fill in where things are; false after a message. */
static bool place(struct settings *s)
{
    if (!cmd_place_complete(&s->place))
        return false;
    if (!s->frontier)
        s->frontier = strncmp(s->place.queue, "amqp", 4) ? s->place.queue
                                                         : CMD_PLACE;
    return true;
}

static enum outcome status(void *settings, char **operand)
{
    struct settings *s = settings;

    (void)operand;
    return place(s) ? cmd_work_status(s->frontier, s->crawl.json) : TROUBLE;
}

static enum outcome why(void *settings, char **operand)
{
    (void)settings;
    (void)operand;
    return trouble("seen work why: not there: a team keeps no row of a link "
                   "that was left out; seen crawl why tells it of a folder");
}

static const struct command_part parts[] = {
    { "status", "[--frontier WHERE]", 0, 0,
      " queue jobs password-file frontier json quiet ", status },
    { "why", "", 0, -1, NULL, why },
    { .name = NULL },
};

static enum outcome run(void *settings, char **operand)
{
    if (*operand)
        return trouble("usage: seen work %s", cmd_work.synopsis);
    return place(settings) ? work(settings) : TROUBLE;
}

const struct command cmd_work = {
    .name = "work",
    .summary = "crawl what jobs ask for, as one worker of any number",
    .synopsis = "[status]",
    .most = -1,
    .settings = sizeof(struct settings),
    .options = options,
    .absent = cmd_place_absent,
    .about =
        "Takes jobs from a queue (seen enqueue, seen schedule), fetches their "
        "pages politely, and publishes one JSON record per page on queues that "
        "seen classify reads. Start as many workers as you like, on as many "
        "machines as you like, and stop them at any time: they share a "
        "frontier, which is a SQLite file on one machine or a PostgreSQL "
        "database on many, or several databases.\n"
        "\n"
        "A host belongs to one worker at a time, and so do all hosts of one "
        "address: politeness does not depend on how many workers there are. A "
        "worker that dies holds its hosts until its lease ends; then others "
        "go on. What it had not committed is fetched again, and its records "
        "have the same ids.\n"
        "\n"
        "SIGTERM ends a worker well: requests under way are given up, what is "
        "done is committed, the rest is given back.\n"
        "\n"
        "seen work status reports workers, visits, hosts, and what is stuck "
        "and why.\n"
        "\n"
        "doc/workers.md describes workers on one machine and on many.\n",
    .exits = "0 if all is well; 2 if something went wrong.",
    .examples = "$ seen enqueue news.json\n"
                "$ seen work --drain --contact https://me.example/\n"
                "$ seen work --queue amqp://mq.example/ --frontier "
                "postgresql://db.example/seen --contact https://me.example/\n"
                "$ seen work status\n",
    .parts = parts,
    .run = run,
};
