/*
 * schedule.h - which templates of a folder are due for a visit.
 *
 * Time is cut into slots: a template with an interval of 6 h is due at 0, 6,
 * 12 and 18 o'clock UTC, and its visit is named by that time. Nothing has to
 * be remembered: after a restart the same slot gives the same visit id, and so
 * do two schedulers at once. A visit is asked for once per id, however often
 * the job is published.
 *
 *     code = crawl_schedule_new(&s, &plan, &why);
 *     for (;;) {
 *         crawl_schedule_look(s, &why);              files may have changed
 *         while ((code = crawl_schedule_due(s, now, &job, &why)) == SEEN_OK) {
 *             publish(job.visit, job.message);
 *             crawl_schedule_done(s, &why);
 *         }
 *         sleep until crawl_schedule_next(s, now), or a second
 *     }
 *
 * Files of the folder that end in .json or .xml are templates. One that is not
 * valid costs only itself: it is reported once, and used as soon as it is
 * valid. A template that changes is used from its next slot on.
 *
 * A clock that is set back never brings an older slot again, one that is set
 * forward brings only the newest one.
 *
 * Threads: a schedule belongs to one thread at a time.
 */
#ifndef SEEN_CRAWL_SCHEDULE_H
#define SEEN_CRAWL_SCHEDULE_H

#include <seen/error.h>
#include <seen/span.h>

#include "../page/settings.h"

struct crawl_schedule;

struct crawl_schedule_plan {
    const char *folder;
    uint64_t every; /* s between visits of templates that do not say it */
    const struct crawl_settings *settings; /* of every job; or NULL */
    unsigned shards;                       /* 0: 1 */
    bool eager; /* report a file that is not valid at the first look, not when
                   it is unchanged at the next one: it may be half written */
    void (*warn)(void *owner, const char *message);
    void *owner;
};

/* Members of the plan must live as long as the schedule. SEEN_NOMEM. */
enum seen_code crawl_schedule_new(struct crawl_schedule **out,
                                  const struct crawl_schedule_plan *plan,
                                  struct seen_error *why);
void crawl_schedule_free(struct crawl_schedule *s);

/* Look for files that are new, changed or gone. If the folder cannot be read,
   the templates that are known stay: SEEN_IO. */
enum seen_code crawl_schedule_look(struct crawl_schedule *s,
                                   struct seen_error *why);

/* How many templates are valid, and how many files are not used. */
void crawl_schedule_count(const struct crawl_schedule *s, size_t *valid,
                          size_t *faulty);

struct crawl_schedule_job {
    const char *visit, *name; /* until the next call */
    uint64_t due;             /* Unix time, s */
    struct seen_span message;
};

/* The next job that is due; SEEN_ABSENT if there is none. The same one comes
   again until crawl_schedule_done(). SEEN_NOMEM. */
enum seen_code crawl_schedule_due(struct crawl_schedule *s, uint64_t now,
                                  struct crawl_schedule_job *job,
                                  struct seen_error *why);
/* It is published. SEEN_NOMEM: it comes again. */
enum seen_code crawl_schedule_done(struct crawl_schedule *s,
                                   struct seen_error *why);

/* When the next slot of any template begins, after `now`; UINT64_MAX if there
   is no template. */
uint64_t crawl_schedule_next(const struct crawl_schedule *s, uint64_t now);

#endif
