/*
 * schedule.c - seen schedule: ask for visits, again and again, or once.
 *
 *     $ seen schedule --templates /etc/seen/templates
 *     news@1767225600
 *     prices@1767225600
 *     news@1767229200
 *     $ seen schedule --once news.json
 *     news@1767230000
 *
 * It keeps nothing on disk. crawl/job/schedule.h explains why it need not. seen
 * enqueue is seen schedule --once.
 */
#include "schedule.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../lib/disk/clock.h"
#include "../lib/text/number.h"
#include "../lib/text/span.h"
#include "json.h"
#include "output.h"

enum {
    LOOK = 1000,     /* ms between two looks at the folder */
    PATIENCE = 5000, /* ms that one attempt to publish waits for a server */
    DAY = 86400
};

#define AT(member) offsetof(struct scheduling, member)

static const struct option options[] = {
    CMD_PLACE_OPTIONS(struct scheduling, place),
    { "templates", 't', PATH, "DIR", AT(folder),
      "the folder of templates, NAME.json or NAME.xml" },
    { "every", 0, DURATION, "TIME", AT(every),
      "between visits of templates without an interval of their own (default "
      "1d)" },
    { "once", 0, FLAG, NULL, AT(once),
      "publish what is due, or what the operands name, and end" },
    { "name", 0, TEXT, "NAME", AT(name),
      "of the visit (default: the template's, or that of its file); required "
      "for start URLs" },
    { "visit-due", 0, TEXT, "TIME", AT(due),
      "once: the time in the visit's id, as 2026-01-31T00:00:00Z (default: "
      "now)" },
    { "shards", 0, COUNT, "N", AT(shards),
      "queues that share the page records (default 1)" },
    CRAWL_JOB_OPTIONS,
    { "messages", 0, FLAG, NULL, AT(messages),
      "once: operands are files of jobs, one per line, as --dry-run prints "
      "them" },
    { "dry-run", 'n', FLAG, NULL, AT(dry),
      "print the messages, and publish nothing" },
    { "stop-after", 0, DURATION, "TIME", AT(stop), "end after this time" },
    { "clock", 0, TEXT, "TIME", AT(clock),
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

/* The id is NAME@TIME. */
static void print(const struct scheduling *o, struct seen_span visit)
{
    const char *at = memrchr(visit.text, '@', visit.len);
    size_t name = (size_t)(at - visit.text);
    uint64_t due;

    if (o->json) {
        number_digits((struct seen_span){ at + 1, visit.len - name - 1 },
                      &due);
        cmd_json_open(NULL, '{');
        cmd_json_text("visit", visit.text, visit.len);
        cmd_json_text("name", visit.text, name);
        cmd_json_count("due", due);
        cmd_json_word("queue", o->place.jobs);
        cmd_json_shut('}');
    } else if (!o->quiet) {
        output_bytes(visit.text, visit.len);
        output_text("\n");
    }
}

enum seen_code cmd_schedule_publish(const struct scheduling *o,
                                    const struct queue_message *job, size_t n,
                                    struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!o->dry)
        code = queue_publish(o->queue, o->place.jobs, job, n, why);
    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        if (!o->dry) {
            print(o, job[i].id);
            continue;
        }
        output_bytes(job[i].body.text, job[i].body.len);
        output_text("\n");
    }
    return code;
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

        code = cmd_schedule_publish(o, &message, 1, &why);
        if (code != SEEN_OK)
            break;
        if (o->lost)
            warning("%s: is back", queue_name(o->queue));
        o->lost = false;
        code = crawl_schedule_done(o->schedule, &why);
        if (code != SEEN_OK)
            break;
    }
    if (code == SEEN_ABSENT)
        return SEEN_OK;
    if (o->dry) {
        trouble("%s", why.text);
        return SEEN_UNABLE; /* that it may pass is said of a place */
    }
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
    const char *given = o->due ? o->due : o->clock, *wrong;

    o->now = now_ms() / 1000;
    wrong = given ? number_moment(given, &o->now) : NULL;
    o->injected = given || o->once;
    o->end = o->injected ? o->now + o->stop : clock_ms() + o->stop * 1000;
    if (wrong)
        trouble("--%s: %s %s", o->due ? "visit-due" : "clock", given, wrong);
    else if (o->clock && !o->stop && !o->once)
        trouble("--clock needs --once or --stop-after");
    else if (o->due && !o->once)
        trouble("--visit-due needs --once");
    else
        return true;
    return false;
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

    if (o->injected)
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
        .eager = o->injected,
        .warn = warn,
    };
    enum outcome out = TROUBLE;
    struct seen_error why;

    if (access(o->folder, R_OK | X_OK))
        return trouble("%s: the folder of templates cannot be read",
                       o->folder);
    if (crawl_schedule_new(&o->schedule, &plan, &why) != SEEN_OK)
        return trouble_with(o->folder, &why);
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    if (!o->dry)
        o->queue = open_queue(o);
    if (o->dry || o->queue)
        out = rounds(o);
    queue_close(o->queue);
    crawl_schedule_free(o->schedule);
    return out;
}

/* Which option is for the other way to say what is asked for? */
static const char *misplaced(const struct scheduling *o, bool named)
{
    if (named)
        return o->folder  ? "templates"
               : o->every ? "every"
               : o->stop  ? "stop-after"
                          : NULL;
    return o->name ? "name" : o->messages ? "messages" : NULL;
}

static enum outcome run_as(const struct command *cmd, struct scheduling *o,
                           char **operand)
{
    const char *wrong = misplaced(o, *operand);

    if (!o->folder && !*operand)
        return trouble("%s is missing; usage: seen %s %s",
                       o->once ? "TEMPLATE" : "--templates DIR", cmd->name,
                       cmd->synopsis);
    if (*operand && !o->once)
        return trouble("%s: without --once, all templates of a folder are "
                       "asked for; see seen enqueue",
                       *operand);
    if (wrong)
        return trouble("--%s: not for templates %s", wrong,
                       *operand ? "or URLs that are named" : "of a folder");
    if (o->shards > CRAWL_JOB_SHARDS_MOST)
        return trouble("--shards: at most %d", CRAWL_JOB_SHARDS_MOST);
    if (!set_clock(o))
        return TROUBLE;
    return *operand ? cmd_schedule_named(o, operand) : schedule(o);
}

static enum outcome run(void *settings, char **operand)
{
    return run_as(&cmd_schedule, settings, operand);
}

static enum outcome run_once(void *settings, char **operand)
{
    struct scheduling *o = settings;

    o->once = true;
    return run_as(&cmd_enqueue, o, operand);
}

const struct command cmd_schedule = {
    .name = "schedule",
    .summary = "ask workers for visits, again and again",
    .synopsis = "--templates DIR | --once TEMPLATE|URL...",
    .most = -1,
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
        "With --once, what is due now is published, as for cron. Templates "
        "that are operands are asked for now, whatever their interval: the "
        "visit is named NAME@NOW, or after --visit-due. With --name and URLs "
        "instead of templates, one job visits these URLs and what they link "
        "to on their hosts. All operands are checked first: if one is not "
        "valid, no job is published.\n"
        "\n"
        "A job is in the queue when its id is printed. The template travels in "
        "the job, so that workers need no files. Settings say what to fetch "
        "and how politely, as for seen crawl; they win over those of the "
        "template. What a worker does with its own machine (paths, addresses "
        "that it may connect to, its User-Agent) cannot be part of a job.\n"
        "\n"
        "--dry-run prints the messages instead, and --once --messages publishes "
        "such messages, which another program may have made: "
        "doc/job.schema.json describes them.\n"
        "\n"
        "When the clock is set back, no slot comes again; when it is set "
        "forward, or the queue was away for long, only the newest slot is "
        "published. A queue that is away is waited for, but not with --once.\n"
        "\n"
        "A password of the server does not belong into the command line, "
        "where others can read it: use --password-file, or PGPASSWORD or "
        "SEEN_AMQP_PASSWORD in the environment.\n",
    .exits =
        "0 it was ended, or --once: all templates were valid and what was "
        "due or named is in the queue; 2 trouble.",
    .examples = "$ seen schedule --templates /etc/seen/templates\n"
                "$ seen schedule --templates t --every 1h --queue "
                "postgresql://db/crawl\n"
                "$ seen schedule --templates t --once --quiet\n"
                "$ seen schedule --once --pages 1000 news.json\n",
    .run = run,
};

const struct command cmd_enqueue = {
    .name = "enqueue",
    .summary = "ask workers for a visit, once",
    .synopsis = "TEMPLATE... | --name NAME URL...",
    .most = -1,
    .settings = sizeof(struct scheduling),
    .options = options,
    .absent = cmd_place_absent,
    .about =
        "Is seen schedule --once, by another name: puts one job per spider "
        "template on the queue that workers (seen work) read, and prints the "
        "ids of the visits, NAME@TIME. See seen help schedule.\n"
        "\n"
        "The same id again changes nothing: a visit takes place once. While a "
        "visit with the same name still runs, workers do not begin another "
        "one.\n",
    .exits = "0 all jobs are in the queue; 2 trouble.",
    .examples =
        "$ seen enqueue news.json\n"
        "news@1767225600\n"
        "$ seen enqueue --pages 1000 --delay 2 templates/*.json\n"
        "$ seen enqueue --name site --queue amqp://mq https://a.example/\n",
    .run = run_once,
};
