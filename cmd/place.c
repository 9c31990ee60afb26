/*
 * place.c - open the queue of jobs.
 *
 * A password in a URL is seen by everybody who lists processes, until it is
 * masked (words.h). One from a file goes where libpq and queue/amqp look for it: into the environment of
 * this process, which only its owner can read.
 */
#include "place.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../lib/disk/disk.h"
#include "../lib/text/span.h"

const struct command_absent cmd_place_absent[] = {
    { "revisit", "every visit of a name that was visited before is one" },
    { "budget", "it needs the histories of all known pages in one process; "
                "see --policy and --revisit-every" },
    { "skip", "only seen crawl asks archives; jobs can have --exclude" },
    { "audit", "the database decides what is new, and a worker's filter only "
               "spares questions" },
    { "index", "pages of a visit are read by any worker, and an index is of "
               "one folder; the records have the text, or the fields" },
    { .name = NULL }
};

enum { PASSWORD = 4096 };

static bool read_password(const char *path)
{
    struct seen_error why;
    struct stat s;
    bool good;
    char *text;
    size_t len;

    if (disk_load(&text, &len, path, PASSWORD, &why) != SEEN_OK) {
        trouble_with(path, &why);
        return false;
    }
    text[strcspn(text, "\r\n")] = '\0';
    good = *text && !setenv("PGPASSWORD", text, 1) &&
           !setenv("SEEN_AMQP_PASSWORD", text, 1);
    if (!*text)
        trouble("%s: the first line is empty", path);
    else if (!good)
        trouble("no memory for a password");
    else if (!stat(path, &s) && (s.st_mode & (S_IRWXG | S_IRWXO)))
        warning("%s: others can read this password; chmod 600 %s", path, path);
    explicit_bzero(text, len);
    free(text);
    return good;
}

bool cmd_place_complete(struct cmd_place *place)
{
    if (!place->queue)
        place->queue = CMD_PLACE;
    if (!place->jobs)
        place->jobs = CMD_PLACE_JOBS;
    return !place->password_file || read_password(place->password_file);
}

struct queue *cmd_place_open(struct cmd_place *place, unsigned patience)
{
    const struct queue_settings settings = { .patience = patience,
                                             .lease = place->lease };
    struct seen_error why;
    struct queue *q;

    if (!cmd_place_complete(place))
        return NULL;
    if (queue_open(&q, place->queue, &settings, &why) == SEEN_OK)
        return q;
    /* The address may hold a password: it is not repeated. */
    trouble("--queue: %s", why.text);
    return NULL;
}

struct messages_left {
    const char *name;
    uint64_t n;
};

/* RabbitMQ does not say how many are taken. Messages of a consumer that
   was killed are delivered again at once. */
static bool count_left(void *owner, const struct queue_stats *stats)
{
    struct messages_left *l = owner;

    if (!span_is(stats->name, l->name))
        return true;
    l->n = (uint64_t)(stats->ready + stats->waiting);
    if (stats->taken > 0)
        l->n += (uint64_t)stats->taken;
    return false;
}

enum seen_code cmd_place_left(struct queue *q, const char *name, uint64_t *n,
                              struct seen_error *why)
{
    struct messages_left l = { .name = name };
    enum seen_code code = queue_stats(q, count_left, &l, why);

    *n = l.n;
    return code;
}

enum outcome cmd_place_trouble(const struct queue *q,
                               const struct seen_error *why, const char *more)
{
    const char *name = queue_name(q);

    /* Servers name themselves. */
    if (!strncmp(why->text, name, strlen(name)))
        return trouble("%s%s", why->text, more);
    return trouble("%s: %s%s", name, why->text, more);
}
