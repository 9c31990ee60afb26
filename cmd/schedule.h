/*
 * schedule.h - what the parts of seen schedule share.
 */
#ifndef SEEN_CMD_SCHEDULE_H
#define SEEN_CMD_SCHEDULE_H

#include "../crawl/job/job.h"
#include "../crawl/job/schedule.h"
#include "command.h"
#include "place.h"

struct scheduling {
    struct crawl_settings settings; /* first, as CRAWL_JOB_OPTIONS wants it */
    struct cmd_place place;
    const char *folder, *due, *clock, *name;
    uint64_t every, shards, stop;
    bool once, messages, dry, json, quiet;

    struct crawl_schedule *schedule;
    struct queue *queue;
    bool injected;     /* time goes from slot to slot */
    uint64_t now, end; /* Unix time in s; not injected: end in clock_ms() */
    bool lost, unread; /* the queue is away; the folder cannot be read */
};

/* Publish jobs, or print them with --dry-run, and print the ids of the visits.
   SEEN_OK: all are in the queue. */
enum seen_code cmd_schedule_publish(const struct scheduling *o,
                                    const struct queue_message *job, size_t n,
                                    struct seen_error *why);

/* Those that the operands ask for: schedule_named.c. */
enum outcome cmd_schedule_named(struct scheduling *o, char **operand);

#endif
