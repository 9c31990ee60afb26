/*
 * schedule_named.c - seen schedule --once TEMPLATE...: jobs for templates and
 * URLs that operands name, now.
 *
 * All of them are made and checked before the first one is published.
 */
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "../lib/text/span.h"
#include "output.h"
#include "template.h"

enum { MESSAGES = 1 << 30 }; /* bytes of a file of messages */

struct named_job {
    char visit[128];
    struct buffer message;
};

struct named_jobs {
    struct named_job *job;
    size_t n, room;
};

static bool is_url(const char *text)
{
    return !strncasecmp(text, "http://", 7) ||
           !strncasecmp(text, "https://", 8);
}

/* --- the list of jobs --- */

static struct named_job *new_job(struct named_jobs *jobs)
{
    struct named_job *job = array_grow(jobs->job, &jobs->room, jobs->n + 1,
                                       sizeof *job);

    if (!job) {
        trouble("no memory for a job");
        return NULL;
    }
    jobs->job = job;
    job += jobs->n++;
    *job = (struct named_job){ .visit = "" };
    return job;
}

/* Is the visit of the last job asked for only once? */
static bool is_single(const struct named_jobs *jobs, const char *whose)
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

static bool add_job(struct named_jobs *jobs, const char *whose,
                    const struct crawl_job_facts *facts)
{
    struct named_job *job = new_job(jobs);
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

static bool add_message(struct named_jobs *jobs, const char *path,
                        uint64_t line, struct seen_span message)
{
    const struct crawl_job_rules all = { .allow_private = true };
    struct named_job *job = new_job(jobs);
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

static bool add_messages(struct named_jobs *jobs, const char *path)
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

static bool add_template(struct named_jobs *jobs, const struct scheduling *o,
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
static bool make_jobs(struct named_jobs *jobs, const struct scheduling *o,
                      char **operand)
{
    struct crawl_job_facts facts = { .due = o->now,
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

static enum outcome publish(const struct scheduling *o,
                            const struct named_jobs *jobs)
{
    struct queue_message *message = calloc(jobs->n, sizeof *message);
    struct seen_error why;
    enum seen_code code;

    if (!message)
        return trouble("no memory for messages");
    for (size_t i = 0; i < jobs->n; i++) {
        message[i].id = span_of(jobs->job[i].visit);
        message[i].body = (struct seen_span){ jobs->job[i].message.bytes,
                                              jobs->job[i].message.len };
    }
    code = cmd_schedule_publish(o, message, jobs->n, &why);
    free(message);
    return code == SEEN_OK ? YES : cmd_place_trouble(o->queue, &why, "");
}

enum outcome cmd_schedule_named(struct scheduling *o, char **operand)
{
    struct named_jobs jobs = { .job = NULL };
    enum outcome out = TROUBLE;

    if (make_jobs(&jobs, o, operand)) {
        if (!jobs.n)
            trouble("there is no job in these files");
        else if (o->dry || (o->queue = cmd_place_open(&o->place, 0)))
            out = publish(o, &jobs);
    }
    queue_close(o->queue);
    for (size_t i = 0; i < jobs.n; i++)
        buffer_clear(&jobs.job[i].message);
    free(jobs.job);
    return out;
}
