/* queue.h - what the parts of seen queue share. */
#ifndef SEEN_CMD_QUEUE_H
#define SEEN_CMD_QUEUE_H

#include "../queue/queue.h"
#include "command.h"
#include "place.h"

struct cmd_queue {
    struct cmd_place place;
    uint64_t most, wait_given; /* s + 1 */
    const char *id;
    bool all, json;
    struct queue *q;
    const char *name; /* of the queue, or NULL */
    uint64_t found;
    bool ended; /* nobody reads what is printed */
};

/* Print what is wrong. There may be no such queue: NO. */
enum outcome cmd_queue_refuse(const struct seen_error *why);

/* queue_messages.c */
enum outcome cmd_queue_take(struct cmd_queue *o, char **operand);
enum outcome cmd_queue_put(struct cmd_queue *o, char **operand);

#endif
