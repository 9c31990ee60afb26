/*
 * place.h - where jobs are: the options of all commands with a queue.
 *
 *     struct cmd_place place = { .queue = NULL };
 *     struct queue *q = cmd_place_open(&place, 0);
 *
 *     if (!q)
 *         return TROUBLE;
 *     queue_publish(q, place.jobs, &message, 1, &why);
 */
#ifndef SEEN_CMD_PLACE_H
#define SEEN_CMD_PLACE_H

#include "../queue/queue.h"
#include "command.h"

struct cmd_place {
    const char *queue, *jobs, *password_file;
    unsigned lease; /* ms, as in queue.h; not an option */
};

#define CMD_PLACE "sqlite:seen-work.db"
#define CMD_PLACE_JOBS "jobs"

/* What seen crawl has, and workers have not. */
extern const struct command_absent cmd_place_absent[];

/* clang-format off */
#define CMD_PLACE_OPTIONS(type, place)                                      \
    { "queue", 0, TEXT, "WHERE", offsetof(type, place.queue),               \
      "sqlite:FILE, postgresql://HOST/DATABASE or amqp://HOST (default "    \
      CMD_PLACE ")" },                                                      \
    { "jobs", 0, TEXT, "NAME", offsetof(type, place.jobs),                  \
      "the queue of jobs there (default " CMD_PLACE_JOBS ")" },             \
    { "password-file", 0, PATH, "FILE",                                     \
      offsetof(type, place.password_file),                                  \
      "the password of that server, in the first line of a file" }
/* clang-format on */

/* Fill in what was not given, and let the servers' libraries have the
   password. False after a message. */
bool cmd_place_complete(struct cmd_place *place);

/* The same, and open it; NULL after a message. `patience` as in queue.h. */
struct queue *cmd_place_open(struct cmd_place *place, unsigned patience);

/* How many messages are in a queue, also those that others have taken and those
   that wait to be tried again; as far as the place knows. */
enum seen_code cmd_place_left(struct queue *q, const char *name, uint64_t *n,
                              struct seen_error *why);

/* Report a fault of the place, with its name; "" or what follows from it comes
   behind. Returns TROUBLE. */
enum outcome cmd_place_trouble(const struct queue *q,
                               const struct seen_error *why, const char *more);

#endif
