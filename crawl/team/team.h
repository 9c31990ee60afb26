/*
 * team.h - one worker of many: visits that come as jobs, a frontier that all
 * workers share, page records that go to a queue.
 *
 *     code = crawl_team_open(&c, &settings, &team, &posts, &hooks, &why);
 *     code = crawl_team_run(c, &why);        until crawl_stop(), or drained
 *     crawl_team_report(c, &report);
 *     crawl_team_close(c);
 *
 * The engine is that of a crawl in a folder (engine.h): it fetches, reads
 * pages, packs WARC members. Only the committing thread differs: it takes hosts
 * and pages from the shared frontier (frontier/shared.h) and gives back what
 * came of them. Any number of visits go on at once; each page knows its own.
 *
 * The order of a commit:
 *
 *     1  ask the visit's filter about the links, which spares rows
 *     2  append to the WARC and its index, and flush them, if there is a folder
 *     3  publish the page records, and wait until the queue has them
 *     4  one transaction of the frontier: pages done, links as rows
 *     5  add the links to the filter, in memory or in Redis
 *
 * Killed before 4, other workers fetch the pages again and publish records
 * with the same ids. If the lease has ended, 4 changes nothing, the index is
 * cut back, and the WARC has records that no index names.
 *
 * Jobs and records travel by functions of the caller, so that this folder
 * knows nothing of queues. They are called by the committing thread.
 *
 * Threads: as crawl.h.
 */
#ifndef SEEN_CRAWL_TEAM_H
#define SEEN_CRAWL_TEAM_H

#include "../engine/crawl.h"

/* A page record, or the end of a visit. */
struct crawl_post {
    unsigned shard;
    const char *id;
    struct seen_span body;
};

/* What is to be done with the message of a job. */
enum crawl_fate {
    CRAWL_FATE_DONE, /* the visit is in the frontier, or it was coalesced */
    CRAWL_FATE_BAD,  /* it will never be right */
    CRAWL_FATE_STOP  /* the frontier cannot be reached: *why */
};

struct crawl_posts {
    /* Publish. When it returns SEEN_OK all of them are stored. SEEN_IO: not
       now, and the same will be tried again. */
    enum seen_code (*publish)(void *owner, const struct crawl_post *post,
                              size_t n, struct seen_error *why);
    /* Take the jobs that have come, give each to crawl_team_accept(), and act
       on its fate. *n is how many there were. */
    enum seen_code (*jobs)(void *owner, struct crawl *c, size_t *n,
                           struct seen_error *why);
    /* How many jobs are left, also those that others have and those that wait
       to be tried again; as far as the queue knows. With settings.drain. */
    enum seen_code (*left)(void *owner, uint64_t *n, struct seen_error *why);
    void *owner;
};

struct crawl_team_settings {
    const char *frontier; /* sqlite:FILE or postgresql://..., or several:
                             frontier/spread.h */
    const char *name;     /* of this worker, for reports */
    unsigned lease;       /* ms */
    unsigned patience;    /* ms to wait for a database that is away */
    const char *into;     /* a folder for WARC files, or NULL: then */
    const char *temporary; /* this one is for large answers, and for notes
                              that outlive this process: body.h, reading.h */
    bool no_filter;       /* every link is asked of the frontier */
    const char *cache;    /* the address of filters that workers share; or NULL:
                             each worker has its own, in memory */
    uint64_t capacity;    /* of those, in links per visit; 0: the usual */
    bool drain;           /* end when no job and no visit is left */
    bool retry_aside;     /* forget which pages killed their workers */
};

struct crawl_team_report {
    uint64_t pages, bytes, requests, records;
    uint64_t unchanged; /* of the pages: 304, or the payload of before */
    uint64_t links, asked, inserted; /* found; asked of the frontier; new */
    uint64_t visits; /* that were accepted or met */
    uint64_t jobs, bad_jobs;
    uint64_t lost_leases, refused; /* pages of a commit that came too late */
    uint64_t commits;
    double seconds, in_database,
        in_queue; /* that the committing thread spent */
};

enum seen_code crawl_team_open(struct crawl **out,
                               struct crawl_settings *settings,
                               const struct crawl_team_settings *team,
                               const struct crawl_posts *posts,
                               const struct crawl_hooks *hooks,
                               struct seen_error *why);
void crawl_team_close(struct crawl *c);

/* Work until it is stopped, or drained. What is done is committed, and what is
   not is given back, when it returns. */
enum seen_code crawl_team_run(struct crawl *c, struct seen_error *why);

/* For posts->jobs: begin the visit that the message asks for. Why a message is
   bad is in *why. */
enum crawl_fate crawl_team_accept(struct crawl *c, struct seen_span message,
                                  struct seen_error *why);

void crawl_team_report(const struct crawl *c, struct crawl_team_report *r);

#endif
