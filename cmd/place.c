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
    const struct queue_settings settings = { .patience = patience };
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

enum outcome cmd_place_trouble(const struct queue *q,
                               const struct seen_error *why, const char *more)
{
    const char *name = queue_name(q);

    /* Servers name themselves. */
    if (!strncmp(why->text, name, strlen(name)))
        return trouble("%s%s", why->text, more);
    return trouble("%s: %s%s", name, why->text, more);
}
