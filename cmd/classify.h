/*
 * classify.h - what the files of seen classify share: where records come
 * from, and where answers go.
 *
 *     source ──> records ──> change_classify() ──> answers ──> sink
 *        ^                                                       │
 *        └─────────────── acknowledge <──────── flushed <────────┘
 */
#ifndef SEEN_CMD_CLASSIFY_H
#define SEEN_CMD_CLASSIFY_H

#include <stdbool.h>

#include "../change/state.h"
#include "../queue/queue.h"
#include "classify_notify.h"
#include "command.h"
#include "place.h"

struct classify_settings {
    const char *state, *output, *pages, *results, *rule;
    struct texts inputs, templates, ignore;
    struct cmd_place place;
    struct change_options change;
    uint64_t remember, shard, shards, batch;
    bool drain, json, quiet, again;
    const char *report, *near;
    uint64_t near_distance;
    struct classify_notify_options notify;
};

/* --- where records come from --- */

struct classify_source;

/* Files, standard input or a queue. `q` is NULL unless it is a queue. NULL
   after a message. */
struct classify_source *classify_source_open(const struct classify_settings *s,
                                             struct queue *q);
void classify_source_close(struct classify_source *s);

/*
 * The next records, at least one unless *n is 0: then there are no more, or
 * none came for a while and *ended is false. They live until the next call.
 * False after a message.
 */
bool classify_source_next(struct classify_source *s,
                          struct change_record **record, size_t *n,
                          bool *ended);

/* Is the queue empty? Messages that another consumer had when it was killed
   come back when its lease ends. False after a message. */
bool classify_source_is_empty(struct classify_source *s, bool *empty);

/* All of them are answered and the answers are safe: acknowledge them; those
   with an error become dead letters. False after a message. */
bool classify_source_done(struct classify_source *s,
                          const struct change_answers *answers);

/* --- where answers go --- */

struct classify_sink;

/* Standard output, a file or a queue. NULL after a message. */
struct classify_sink *classify_sink_open(const struct classify_settings *s,
                                         struct change_state *state,
                                         struct queue *q);
void classify_sink_close(struct classify_sink *k);

/* Write the answers and make them safe. False after a message, or if nobody
   reads standard output any more. */
bool classify_sink_put(struct classify_sink *k,
                       const struct change_answers *answers);

#endif
