/*
 * enqueue.c - seen enqueue: ask for a visit, once.
 *
 *     $ seen enqueue news.json --pages 1000
 *     news@1767225600
 */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../crawl/job/job.h"
#include "../lib/text/array.h"
#include "../lib/text/number.h"
#include "../lib/text/span.h"
#include "json.h"
#include "output.h"
#include "place.h"
#include "template.h"

enum { MESSAGES = 1 << 30 }; /* bytes of a file of messages */

struct enqueueing {
    struct crawl_settings settings; /* first, as CRAWL_JOB_OPTIONS wants it */
    struct cmd_place place;
    const char *name, *due;
    uint64_t shards;
    bool messages, dry, json, quiet;
};

static const struct option options[] = {
    CMD_PLACE_OPTIONS(struct enqueueing, place),
    { "name", 0, TEXT, "NAME", offsetof(struct enqueueing, name),
      "of the visit (default: the template's, or that of its file); required "
      "for start URLs" },
    { "visit-due", 0, TEXT, "TIME", offsetof(struct enqueueing, due),
      "the time in the visit's id, as 2026-01-31T00:00:00Z (default: now)" },
    { "shards", 0, COUNT, "N", offsetof(struct enqueueing, shards),
      "queues that share the page records (default 1)" },
    CRAWL_JOB_OPTIONS,
    { "messages", 0, FLAG, NULL, offsetof(struct enqueueing, messages),
      "operands are files of jobs, one per line, as --dry-run prints them" },
    { "dry-run", 0, FLAG, NULL, offsetof(struct enqueueing, dry),
      "print the messages, and publish nothing" },
    JSON_OPTION(struct enqueueing, json, "print one JSON object per job"),
    QUIET_OPTION(struct enqueueing, quiet),
    { .name = NULL }
};

struct enqueue_job {
    char visit[128];
    struct buffer message;
};

struct enqueue_jobs {
    struct enqueue_job *job;
    size_t n, room;
};

static bool is_url(const char *text)
{
    return !strncasecmp(text, "http://", 7) ||
           !strncasecmp(text, "https://", 8);
}

/* --- the list of jobs --- */

static struct enqueue_job *new_job(struct enqueue_jobs *jobs)
{
    struct enqueue_job *job = array_grow(jobs->job, &jobs->room, jobs->n + 1,
                                         sizeof *job);

    if (!job) {
        trouble("no memory for a job");
        return NULL;
    }
    jobs->job = job;
    job += jobs->n++;
    *job = (struct enqueue_job){ .visit = "" };
    return job;
}

/* Is the visit of the last job asked for only once? */
static bool is_single(const struct enqueue_jobs *jobs, const char *whose)
{
    const char *visit = jobs->job[jobs->n - 1].visit;

    for (size_t i = 0; i + 1 < jobs->n; i++)
        if (!strcmp(jobs->job[i].visit, visit)) {
            trouble("%s: another job is for the visit %s already", whose,
                    visit);
            return false;
        }
    return true;
}

static bool add_job(struct enqueue_jobs *jobs, const char *whose,
                    const struct crawl_job_facts *facts)
{
    struct enqueue_job *job = new_job(jobs);
    struct seen_error why;

    if (!job)
        return false;
    if (crawl_job_write(&job->message, job->visit, facts, &why) != SEEN_OK) {
        trouble_with(whose, &why);
        return false;
    }
    return is_single(jobs, whose);
}

/* --- jobs that are messages already --- */

static bool add_message(struct enqueue_jobs *jobs, const char *path,
                        uint64_t line, struct seen_span message)
{
    const struct crawl_job_rules all = { .allow_private = true };
    struct enqueue_job *job = new_job(jobs);
    struct crawl_job *read;
    struct seen_error why;

    if (!job)
        return false;
    if (crawl_job_read(&read, message, &all, &why) != SEEN_OK) {
        trouble("%s: line %llu: %s", path, (unsigned long long)line, why.text);
        return false;
    }
    memcpy(job->visit, read->visit, sizeof job->visit);
    crawl_job_free(read);
    buffer_span(&job->message, message);
    if (job->message.failed) {
        trouble("no memory for a job");
        return false;
    }
    return is_single(jobs, path);
}

static bool add_messages(struct enqueue_jobs *jobs, const char *path)
{
    struct seen_span rest, line;
    uint64_t number = 0;
    bool good = true;
    char *text;
    size_t len;

    if (!cmd_template_file(path, MESSAGES, &text, &len))
        return false;
    rest = (struct seen_span){ text, len };
    while (span_line(&rest, &line)) {
        number++;
        if (line.len)
            good &= add_message(jobs, path, number, line);
    }
    free(text);
    return good;
}

/* --- jobs from templates and URLs --- */

static bool add_template(struct enqueue_jobs *jobs, const struct enqueueing *o,
                         struct crawl_job_facts facts, const char *path)
{
    struct crawl_template *t = cmd_template_load(path);
    bool good;

    if (!t)
        return false;
    facts.template = crawl_template_content(t);
    if (!o->name)
        facts.name = crawl_job_name(t, path);
    good = add_job(jobs, path, &facts);
    crawl_template_free(t);
    return good;
}

/* All of them, before one is published. */
static bool make_jobs(struct enqueue_jobs *jobs, const struct enqueueing *o,
                      uint64_t due, char **operand)
{
    struct crawl_job_facts facts = { .due = due,
                                     .settings = &o->settings,
                                     .shards = (unsigned)o->shards };
    bool good = true, urls = is_url(*operand);

    if (o->messages) {
        for (; *operand; operand++)
            good &= add_messages(jobs, *operand);
        return good;
    }
    for (char **other = operand; *other; other++)
        if (is_url(*other) != urls) {
            trouble("%s: URLs and templates are not mixed in one command",
                    *other);
            return false;
        }
    if (o->name)
        facts.name = span_of(o->name);
    if (urls && !o->name) {
        trouble("--name NAME is missing; start URLs have no name");
        return false;
    }
    if (urls) {
        facts.start = (const char *const *)operand;
        return add_job(jobs, o->name, &facts);
    }
    if (o->name && operand[1]) {
        trouble("--name: more than one template would have this name");
        return false;
    }
    for (; *operand; operand++)
        good &= add_template(jobs, o, facts, *operand);
    return good;
}

/* --- publish --- */

static bool publish(struct queue *q, const struct enqueueing *o,
                    const struct enqueue_jobs *jobs)
{
    struct queue_message *message = calloc(jobs->n, sizeof *message);
    struct seen_error why;
    bool good;

    if (!message) {
        trouble("no memory for messages");
        return false;
    }
    for (size_t i = 0; i < jobs->n; i++) {
        message[i].id = span_of(jobs->job[i].visit);
        message[i].body = (struct seen_span){ jobs->job[i].message.bytes,
                                              jobs->job[i].message.len };
    }
    good = queue_publish(q, o->place.jobs, message, jobs->n, &why) == SEEN_OK;
    if (!good)
        cmd_place_trouble(q, &why, "");
    free(message);
    return good;
}

static void print(const struct enqueueing *o, const char *visit)
{
    if (o->json) {
        cmd_json_open(NULL, '{');
        cmd_json_word("visit", visit);
        cmd_json_word("queue", o->place.jobs);
        cmd_json_shut('}');
    } else if (!o->quiet) {
        output_format("%s\n", visit);
    }
}

static enum outcome enqueue(struct enqueueing *o, struct enqueue_jobs *jobs,
                            char **operand)
{
    uint64_t due = (uint64_t)time(NULL);
    const char *wrong = o->due ? number_moment(o->due, &due) : NULL;
    struct queue *q;
    bool good;

    if (wrong)
        return trouble("--visit-due: %s %s", o->due, wrong);
    if (o->shards > CRAWL_JOB_SHARDS_MOST)
        return trouble("--shards: at most %d", CRAWL_JOB_SHARDS_MOST);
    if (!make_jobs(jobs, o, due, operand))
        return TROUBLE;
    if (!jobs->n)
        return trouble("there is no job in these files");
    if (o->dry) {
        for (size_t i = 0; i < jobs->n; i++)
            output_format("%.*s\n", (int)jobs->job[i].message.len,
                          jobs->job[i].message.bytes);
        return YES;
    }
    q = cmd_place_open(&o->place, 0);
    if (!q)
        return TROUBLE;
    good = publish(q, o, jobs);
    queue_close(q);
    for (size_t i = 0; good && i < jobs->n; i++)
        print(o, jobs->job[i].visit);
    return good ? YES : TROUBLE;
}

static enum outcome run(void *settings, char **operand)
{
    struct enqueue_jobs jobs = { .job = NULL };
    enum outcome out = enqueue(settings, &jobs, operand);

    for (size_t i = 0; i < jobs.n; i++)
        buffer_clear(&jobs.job[i].message);
    free(jobs.job);
    return out;
}

const struct command cmd_enqueue = {
    .name = "enqueue",
    .summary = "ask workers for a visit, once",
    .synopsis = "TEMPLATE... | --name NAME URL...",
    .operands = 1,
    .most = -1,
    .settings = sizeof(struct enqueueing),
    .options = options,
    .absent = cmd_place_absent,
    .about =
        "Puts one job per spider template on the queue that workers (seen "
        "work) read, and prints the ids of the visits: NAME@TIME. The template "
        "travels in the job, so that workers need no files. With --name and "
        "URLs instead of templates, one job visits these URLs and what they "
        "link to on their hosts.\n"
        "\n"
        "Settings say what to fetch and how politely, as for seen crawl; they "
        "win over those of the template. What a worker does with its own "
        "machine (paths, addresses that it may connect to, its User-Agent) "
        "cannot be part of a job.\n"
        "\n"
        "All templates are checked first: if one is not valid, no job is "
        "published. A job is safe in the queue when its id is printed. The "
        "same id again changes nothing: a visit takes place once. While a "
        "visit with the same name still runs, workers do not begin another "
        "one.\n"
        "\n"
        "--dry-run prints the messages instead, and --messages publishes such "
        "messages, which another program may have made: doc/job.schema.json "
        "describes them.\n"
        "\n"
        "A password of the server does not belong into the command line, "
        "where others can read it: use --password-file, or PGPASSWORD or "
        "SEEN_AMQP_PASSWORD in the environment.\n",
    .exits = "0 all jobs are in the queue; 2 trouble.",
    .examples =
        "$ seen enqueue news.json\n"
        "news@1767225600\n"
        "$ seen enqueue --pages 1000 --delay 2 templates/*.json\n"
        "$ seen enqueue --name site --queue amqp://mq https://a.example/\n",
    .run = run,
};
