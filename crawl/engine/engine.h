/*
 * engine.h - what the threads of a crawl share.
 *
 *        lock: hosts, lists, counts
 *          │
 *     ┌────┴──────────────────────────────────────────────────────────┐
 *     │ run.c      all: threads begin and end                         │
 *     │ crawl.c    fetching: starts what is due, hands answers on     │
 *     │ readers.c  readers: answers ──> done, with reader.c           │
 *     │ reading.c  readers: a note of what each of them reads         │
 *     │ names.c    lookers: names of hosts to addresses               │
 *     │ allow.c    readers: what robots.txt says about pages at hand  │
 *     │ rules.c    any: which robots.txt are in memory                │
 *     │ commit.c   committing: groups of done pages into rows         │
 *     │ refill.c   committing: rows to hosts in memory                │
 *     │ store.h    committing: where the rows live                    │
 *     └───────────────────────────────────────────────────────────────┘
 *
 * The rows and the files belong to the committing thread and need no lock.
 *
 * Threads: see above.
 */
#ifndef SEEN_CRAWL_ENGINE_H
#define SEEN_CRAWL_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "../../fetch/fetch.h"
#include "body.h"
#include "crawl.h"
#include "host.h"
#include "output.h"
#include "reader.h"
#include "reading.h"
#include "skip.h"

enum {
    CRAWL_READERS_MOST = CRAWL_READING_MOST,
    CRAWL_LOOKERS = 8,      /* threads that look up names, */
    CRAWL_LOOKERS_KEPT = 2, /* of them for hosts that answered before */
    CRAWL_GROUP = 256,      /* pages per commit, about, */
    CRAWL_GROUP_MS = 200,   /* or this long after the first of them */
    CRAWL_MADE_MOST = 12 << 20, /* bytes that wait for a commit */
    CRAWL_READ_MOST = 32 << 20, /* of them, that readers made: they wait */
    CRAWL_LOADS = 4         /* bodies at a time that readers have from files */
};

struct crawl_list {
    struct crawl_page *first, *last;
    size_t n;
};

struct crawl_store;

struct crawl {
    struct crawl_settings *settings;
    struct crawl_hooks hooks;
    const struct crawl_store *store; /* where its rows live, and */
    void *owned_by_store; /* what that needs: crawl_folder_of(),
                             crawl_team_of() */
    bool no_files;        /* there is no folder for them */

    /* read-only while it runs */
    char *agent, product[64];

    /* of the committing thread */
    struct crawl_output output;
    struct crawl_skip *skip;
    struct map aside; /* keys of pages that are not read any more: aside.h */
    pthread_t committer, reader[CRAWL_READERS_MOST], looker[CRAWL_LOOKERS];
    unsigned readers, lookers;

    /* of the fetching thread */
    struct fetch *web;
    bool put_off; /* it has said that there is no room for large answers */

    struct crawl_bodies bodies;
    struct crawl_reading *reading; /* notes of readers; NULL: there are none */

    /* under the lock */
    pthread_mutex_t lock;
    pthread_cond_t to_work, to_look, to_commit;
    struct crawl_hosts hosts;
    struct crawl_list answers, done;
    struct crawl_list names[2]; /* to be looked up: of hosts that are not
                                   prompt, and that are */
    struct crawl_list filed;  /* answers whose bodies are in files, */
    struct crawl_list costly; /* and those of hosts that pay for others */
    struct crawl_list suspects; /* and those that are read alone */
    unsigned loads, loads_most; /* such answers that readers have at hand */
    unsigned busy;    /* readers that are at something */
    bool alone;       /* one of them is at a suspect */
    unsigned noted;   /* readers that have a note: reading.h */
    struct crawl_spares spares;
    size_t active;  /* requests under way */
    size_t working; /* pages at readers, and those that wait for one */
    size_t looking; /* names that are being looked up, or wait for it */
    unsigned kept_lookers; /* threads for names[true] alone */
    struct crawl_host *to_ask, *last_to_ask; /* hosts: allow.c */
    struct crawl_host *to_recall, *last_to_recall; /* before they are there */
    size_t asking;  /* hosts that are in these lists, or at a reader */
    size_t recalled; /* of them, those whose rules were read again */
    size_t abroad;  /* hosts with a robots.txt that another host answers */
    bool full;      /* no request begins until pages are worked off */
    size_t made;    /* bytes of pages that are answered and not committed, */
    size_t unread;  /* and of those that no reader has done with */
    size_t committing; /* pages in the group that is being committed */
    bool closing;   /* no new requests */
    bool pausing;   /* none either, until the next visit has begun */
    bool spent;     /* because a budget is */
    bool ended;     /* nothing is left to do */
    bool quit;      /* threads return */
    enum seen_code code; /* the first fault of any thread */
    struct seen_error why;
    bool injected;  /* the clock is */
    uint64_t pages, bytes, waiting; /* of the visit; of this run; in rows */
    uint64_t run_pages;
    int64_t began;  /* the run, by the crawl's clock */
    int64_t next_due; /* of a continuous crawl; INT64_MAX: no page is */
    uint64_t unasked; /* pages that an archive of --skip was not asked about,
                         since the last commit */
    char warning[CRAWL_SKIP_WARNING]; /* for the fetching thread to say */

    int64_t lease_end; /* by the crawl's clock; INT64_MAX: of a folder */

    int64_t wary; /* the last run did not end well, and requests that it made
                     up to this time are not known; 0: it did */

    atomic_int stop;
    atomic_bool hurry;   /* readers: what costs much is not finished, because of
                            a stop, a fault, or a lease that has ended */
    atomic_llong offset; /* from the monotonic clock to the crawl's, in ms */
};

/* Unix time in ms, by the crawl's clock: it begins with the system's time, or
   --clock, and is not changed when somebody sets the system's. */
int64_t crawl_now(const struct crawl *c);
void crawl_set_clock(struct crawl *c, int64_t now);

void crawl_list_add(struct crawl_list *l, struct crawl_page *page);
struct crawl_page *crawl_list_take(struct crawl_list *l);

/* Remember the first fault and end the crawl; the lock is not held. */
void crawl_fault(struct crawl *c, enum seen_code code,
                 const struct seen_error *why);
/* With the lock held: there is no memory for a page. */
void crawl_no_memory(struct crawl *c);

/* What all stores have in common: signals and lists; the HTTP client and its
   name; files in a folder, which `part` names in their WARC records; threads
   until the run ends, one of which is commits(). */
void crawl_engine_init(struct crawl *c);
enum seen_code crawl_engine_open(struct crawl *c, struct seen_error *why);
enum seen_code crawl_engine_open_files(struct crawl *c, const char *folder,
                                       const char *part,
                                       const struct crawl_position *at,
                                       struct seen_error *why);
enum seen_code crawl_engine_run(struct crawl *c, void *(*commits)(void *),
                                struct seen_error *why);
void crawl_engine_clear(struct crawl *c);

/* The fetching thread, until the run ends; and what other threads want to have
   said, which it says. */
void crawl_fetch_all(struct crawl *c);
void crawl_say_warnings(struct crawl *c);

/* Threads that read answers, that look up names, and the one that commits. */
void *crawl_read_thread(void *crawl);
void *crawl_look_thread(void *crawl);
void *crawl_commit_thread(void *crawl);

/* Wait up to `ms` for pages that are done. NULL: there are none. */
struct crawl_page *crawl_next_group(struct crawl *c, uint64_t ms);

/* Bring hosts into memory, and give them pages at hand. The lock is not held.
   SEEN_ABSENT: the lease has ended. */
enum seen_code crawl_refill(struct crawl *c, struct seen_error *why);

/* Parts of it, with the lock held. A host that nothing in memory refers to, and
   whose row is up to date. */
bool crawl_host_is_idle(const struct crawl_host *host);
/* Forget the pages at hand: a link that is new may come before them. */
void crawl_host_put_back(struct crawl_host *host);
/* How many pages a host has at hand, for a start: mostly as `usual`. If its
   rules are read again each time that it has new ones, as many as a reader
   asks about at a time, as long as hosts are few. */
unsigned crawl_host_at_hand(const struct crawl *c,
                            const struct crawl_host *host, unsigned usual);
/* Count the memory of a page that waits for a reader or a commit. */
void crawl_page_account(struct crawl *c, struct crawl_page *page);
/* What its page costs is charged to its delay: crawl_delay_charge(). */
void crawl_host_charge(struct crawl *c, const struct crawl_page *page,
                       int64_t more);
/* Wake a host that got pages. */
void crawl_host_rouse(struct crawl *c, struct crawl_host *host);
/* The address of the host is looked up before its first request, so that hosts
   that share one share its limit, too. False without memory. */
bool crawl_host_look_up(struct crawl *c, struct crawl_host *host);
/* robots.txt is known from before. */
enum seen_code crawl_origin_know(struct crawl_host *host,
                                 struct crawl_origin *o, int status,
                                 struct seen_span body, int64_t until,
                                 struct seen_error *why);

/*
 * What robots.txt says about the pages at hand: allow.c. All with the lock
 * held. A host that waits for it comes up again by itself. crawl_allow_answer()
 * leaves the lock while it compiles and asks; SEEN_NOMEM. Tests want to know
 * how many steps that took.
 */
enum {
    CRAWL_ALLOW_PAGES = 64,        /* of a host, per turn */
    CRAWL_ALLOW_STEPS = 20000000,  /* or as many steps: some 20 ms */
    CRAWL_RECALLS = 16 /* texts that were read again and wait for a reader */
};
void crawl_allow_ask(struct crawl *c, struct crawl_host *host);
/* The same, for a host whose rules are to be read again before. */
void crawl_allow_recall(struct crawl *c, struct crawl_host *host);
struct crawl_host *crawl_allow_next(struct crawl *c);
enum seen_code crawl_allow_answer(struct crawl *c, struct crawl_host *host,
                                  uint64_t *steps, struct seen_error *why);
/* Nobody is asked any more: forget the hosts that wait. */
void crawl_allow_forget(struct crawl *c);

/*
 * The committing thread: read rules again for hosts that wait for theirs, in
 * the order in which they came, and no more than readers keep up with. read()
 * finds them without the lock, and says so with crawl_origin_know(); if there
 * are none any more, it makes the origin CRAWL_ROBOTS_UNKNOWN.
 */
typedef enum seen_code crawl_read_rules(struct crawl *c,
                                        struct crawl_host *host,
                                        struct crawl_origin *o,
                                        struct seen_error *why);
enum seen_code crawl_allow_read(struct crawl *c, crawl_read_rules *read,
                                struct seen_error *why);

/* Was a host stopped, or an origin closed, that the state does not know of? */
bool crawl_has_news(struct crawl *c);

#endif
