/*
 * schedule.c - seen schedule: ask for visits, again and again.
 *
 *     $ seen schedule --templates /etc/seen/templates
 *     news@1767225600
 *     prices@1767225600
 *     news@1767229200
 *
 * It keeps nothing on disk. crawl/job/schedule.h explains why it need not.
 */
#include "command.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../crawl/job/job.h"
#include "../crawl/job/schedule.h"
#include "../lib/disk/clock.h"
#include "../lib/text/number.h"
#include "../lib/text/span.h"
#include "json.h"
#include "output.h"
#include "place.h"

enum {
    LOOK = 1000,     /* ms between two looks at the folder */
    PATIENCE = 5000, /* ms that one attempt to publish waits for a server */
    DAY = 86400
};

struct scheduling {
    struct crawl_settings settings; /* first, as CRAWL_JOB_OPTIONS wants it */
    struct cmd_place place;
    const char *folder, *clock;
    uint64_t every, shards, stop;
    bool once, json, quiet;

    struct crawl_schedule *schedule;
    struct queue *queue;
    bool injected;     /* time goes from slot to slot */
    uint64_t now, end; /* injected: Unix time in s; else end: clock_ms() */
    bool lost, unread; /* the queue is away; the folder cannot be read */
};

static const struct option options[] = {
    CMD_PLACE_OPTIONS(struct scheduling, place),
    { "templates", 't', PATH, "DIR", offsetof(struct scheduling, folder),
      "the folder of templates, NAME.json or NAME.xml" },
    { "every", 0, DURATION, "TIME", offsetof(struct scheduling, every),
      "between visits of templates without an interval of their own (default "
      "1d)" },
    { "once", 0, FLAG, NULL, offsetof(struct scheduling, once),
      "publish what is due, and end: for cron" },
    { "shards", 0, COUNT, "N", offsetof(struct scheduling, shards),
      "queues that share the page records (default 1)" },
    CRAWL_JOB_OPTIONS,
    { "stop-after", 0, DURATION, "TIME", offsetof(struct scheduling, stop),
      "end after this time" },
    { "clock", 0, TEXT, "TIME", offsetof(struct scheduling, clock),
      "begin at this time (2026-01-31T00:00:00Z), and do not wait: for tests; "
      "with --once or --stop-after" },
    JSON_OPTION(struct scheduling, json, "print one JSON object per job"),
    QUIET_OPTION(struct scheduling, quiet),
    { .name = NULL }
};

/* Nothing is half done: a job is in the queue or it is not, and the next run
   begins with the same slot. So it can end in the middle of anything. */
static void on_signal(int number)
{
    (void)number;
    _exit(YES);
}

static void warn(void *owner, const char *message)
{
    (void)owner;
    warning("%s", message);
}

/* --- one round --- */

static void look(struct scheduling *o)
{
    struct seen_error why;
    bool good = crawl_schedule_look(o->schedule, &why) == SEEN_OK;

    if (!good && !o->unread)
        warning("%s: %s; the templates that are known stay", o->folder,
                why.text);
    o->unread = !good;
}

static void print(const struct scheduling *o,
                  const struct crawl_schedule_job *job)
{
    if (o->json) {
        cmd_json_open(NULL, '{');
        cmd_json_word("visit", job->visit);
        cmd_json_word("name", job->name);
        cmd_json_count("due", job->due);
        cmd_json_shut('}');
    } else if (!o->quiet) {
        output_format("%s\n", job->visit);
    }
}

/* A server that is away, a lock, a full disk, no memory: time may help. */
static bool may_pass(enum seen_code code)
{
    return code == SEEN_IO || code == SEEN_BUSY || code == SEEN_FULL ||
           code == SEEN_NOMEM;
}

/* Publish what is due. A fault that may pass is reported once, and the next
   round tries again. */
static enum seen_code publish(struct scheduling *o, uint64_t now)
{
    struct crawl_schedule_job job;
    struct seen_error why;
    enum seen_code code;

    while ((code = crawl_schedule_due(o->schedule, now, &job, &why)) ==
           SEEN_OK) {
        const struct queue_message message = { .id = span_of(job.visit),
                                               .body = job.message };

        code = queue_publish(o->queue, o->place.jobs, &message, 1, &why);
        if (code != SEEN_OK)
            break;
        if (o->lost)
            warning("%s: is back", queue_name(o->queue));
        o->lost = false;
        print(o, &job);
        code = crawl_schedule_done(o->schedule, &why);
        if (code != SEEN_OK)
            break;
    }
    if (code == SEEN_ABSENT)
        return SEEN_OK;
    if (!may_pass(code)) {
        cmd_place_trouble(o->queue, &why, "");
        return code;
    }
    if (!o->lost)
        cmd_place_trouble(o->queue, &why, "; jobs wait for it");
    o->lost = true;
    return code;
}

/* --- time --- */

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec < 0
               ? 0
               : (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool time_is_over(const struct scheduling *o)
{
    return o->stop && !o->injected && clock_ms() >= o->end;
}

/* Sleep until the next slot, or the next look at the folder. False if the time
   is over. */
static bool wait_for_next(struct scheduling *o)
{
    uint64_t next, now, ms = LOOK;
    struct timespec pause;

    if (o->injected) {
        next = crawl_schedule_next(o->schedule, o->now);
        if (next > o->end)
            return false;
        o->now = next;
        return true;
    }
    if (time_is_over(o))
        return false;
    now = now_ms();
    next = crawl_schedule_next(o->schedule, now / 1000);
    if (!o->lost && next < UINT64_MAX / 1000 && next * 1000 > now &&
        next * 1000 - now < ms)
        ms = next * 1000 - now;
    pause = (struct timespec){ .tv_sec = (time_t)(ms / 1000),
                               .tv_nsec = (long)(ms % 1000) * 1000000 };
    nanosleep(&pause, NULL);
    return true;
}

static bool set_clock(struct scheduling *o)
{
    const char *wrong = o->clock ? number_moment(o->clock, &o->now) : NULL;

    if (wrong)
        trouble("--clock: %s %s", o->clock, wrong);
    else if (o->clock && !o->stop && !o->once)
        trouble("--clock needs --once or --stop-after");
    o->injected = o->clock;
    o->end = o->injected ? o->now + o->stop : clock_ms() + o->stop * 1000;
    return !wrong && (!o->clock || o->stop || o->once);
}

/* --- the command --- */

/* A server may come up later than we do; a file does not. NULL after a
   message. */
static struct queue *open_queue(struct scheduling *o)
{
    const struct queue_settings settings = { .patience = PATIENCE };
    const struct timespec pause = { .tv_sec = LOOK / 1000 };
    struct seen_error why;
    enum seen_code code;
    bool waits;

    if (o->once || o->injected)
        return cmd_place_open(&o->place, 0);
    if (!cmd_place_complete(&o->place))
        return NULL;
    waits = strncmp(o->place.queue, "sqlite:", 7) != 0;
    while ((code = queue_open(&o->queue, o->place.queue, &settings, &why)) ==
               SEEN_IO &&
           waits && !time_is_over(o)) {
        if (!o->lost)
            warning("--queue: %s; jobs wait for it", why.text);
        o->lost = true;
        nanosleep(&pause, NULL);
    }
    if (code != SEEN_OK)
        trouble("--queue: %s", why.text);
    return o->queue;
}

static enum outcome rounds(struct scheduling *o)
{
    enum seen_code code;
    size_t valid, faulty;

    do {
        look(o);
        code = publish(o, o->injected ? o->now : now_ms() / 1000);
        if (output_flush())
            break;
        if (code != SEEN_OK && !may_pass(code))
            return TROUBLE;
    } while (!o->once && wait_for_next(o));
    crawl_schedule_count(o->schedule, &valid, &faulty);
    if (code != SEEN_OK || (o->once && (faulty || o->unread)))
        return TROUBLE;
    return YES;
}

static enum outcome schedule(struct scheduling *o)
{
    const struct sigaction end = { .sa_handler = on_signal };
    const struct crawl_schedule_plan plan = {
        .folder = o->folder,
        .every = o->every ? o->every : DAY,
        .settings = &o->settings,
        .shards = (unsigned)o->shards,
        .eager = o->once || o->clock,
        .warn = warn,
    };
    enum outcome out = TROUBLE;
    struct seen_error why;

    if (!o->folder)
        return trouble("--templates DIR is missing; usage: seen schedule %s",
                       cmd_schedule.synopsis);
    if (o->shards > CRAWL_JOB_SHARDS_MOST)
        return trouble("--shards: at most %d", CRAWL_JOB_SHARDS_MOST);
    if (access(o->folder, R_OK | X_OK))
        return trouble("%s: the folder of templates cannot be read",
                       o->folder);
    if (!set_clock(o))
        return TROUBLE;
    if (crawl_schedule_new(&o->schedule, &plan, &why) != SEEN_OK)
        return trouble_with(o->folder, &why);
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    o->queue = open_queue(o);
    if (o->queue)
        out = rounds(o);
    queue_close(o->queue);
    crawl_schedule_free(o->schedule);
    return out;
}

static enum outcome run(void *settings, char **operand)
{
    (void)operand;
    return schedule(settings);
}

const struct command cmd_schedule = {
    .name = "schedule",
    .summary = "ask workers for visits, again and again",
    .synopsis = "--templates DIR [--every TIME] [--once]",
    .most = 0,
    .settings = sizeof(struct scheduling),
    .options = options,
    .absent = cmd_place_absent,
    .about =
        "Puts a job per spider template of a folder on the queue that workers "
        "(seen work) read, whenever the template is due: every `interval` "
        "that it has, or --every. It prints the ids of the visits and runs "
        "until SIGTERM or SIGINT, which end it at once.\n"
        "\n"
        "Time is cut into slots, counted from 1970-01-01T00:00:00Z: a template "
        "with an interval of 6h is due at 0, 6, 12 and 18 o'clock UTC, and its "
        "visit is named NAME@SLOT. So nothing is kept on disk: after a restart "
        "the same slot has the same id, and an id that workers know changes "
        "nothing. Two schedulers at once, on two machines, are safe for the "
        "same reason. While the last visit of a template still runs, workers "
        "do not begin the next one.\n"
        "\n"
        "NAME is the template's own, or that of its file. The folder is looked "
        "at every second: templates may be added, changed and removed. A "
        "change counts from the next slot on. A file that is not valid is "
        "reported, once per change, and costs only itself; so does a second "
        "file with the same name. Write templates to another name, as "
        ".news.json, and rename them.\n"
        "\n"
        "When the clock is set back, no slot comes again; when it is set "
        "forward, or the queue was away for long, only the newest slot is "
        "published. A queue that is away is waited for.\n",
    .exits =
        "0 it was ended, or --once: all templates were valid and what was "
        "due is in the queue; 2 trouble.",
    .examples = "$ seen schedule --templates /etc/seen/templates\n"
                "$ seen schedule --templates t --every 1h --queue "
                "postgresql://db/crawl\n"
                "$ seen schedule --templates t --once --quiet\n",
    .run = run,
};
