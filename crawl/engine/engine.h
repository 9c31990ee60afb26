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

/*
 * How far a run has come. It goes on to a later phase and never back, except
 * that a pause ends: crawl_enter_phase().
 */
enum crawl_phase {
    CRAWL_FETCHES, /* requests begin */
    CRAWL_PAUSES,  /* none begins until the next visit has begun */
    CRAWL_CLOSES,  /* none begins any more; what is under way is stored */
    CRAWL_ENDS,    /* nothing is left: the fetching thread returns, */
    CRAWL_QUITS    /* and so do all others; or there was a fault */
};

struct crawl {
    /* --- read-only while it runs --- */

    struct crawl_settings *settings;
    struct crawl_hooks hooks;
    const struct crawl_store *store; /* where its rows live, and */
    void *owned_by_store; /* what that needs: crawl_folder_of(),
                             crawl_team_of() */
    bool no_files;        /* there is no folder for files */
    bool injected_clock;  /* --clock: nobody waits, time is skipped */
    char *agent, product[64];
    int64_t began; /* when the run did, by the crawl's clock */
    int64_t wary;  /* the last run did not end well, and requests that it made
                      up to this time are not known; 0: it ended well */
    unsigned loads_most; /* answers of `filed` and `costly` at a time */

    /* --- of the committing thread --- */

    struct crawl_output output;
    struct crawl_skip *skip;
    struct map aside; /* keys of pages that are not read any more: aside.h */
    struct map suspect_robots; /* origins: the same */

    /* --- of the fetching thread --- */

    struct fetch *web; /* others may call fetch_wakeup() */
    bool put_off;      /* the hooks were warned that there is no room for large
                          answers */
    pthread_t committer, reader[CRAWL_READERS_MOST], looker[CRAWL_LOOKERS];
    unsigned readers, lookers;

    /* --- with rules of their own --- */

    struct crawl_bodies bodies;    /* body.h */
    struct crawl_reading *reading; /* reading.h; NULL: there are no notes */
    atomic_int stop;               /* somebody asked for the end */
    atomic_bool hurry;   /* readers do not finish what costs much, because of a
                            stop, a fault, or a lease that has ended */
    atomic_llong offset; /* from the monotonic clock to the crawl's, in ms */

    /* --- under the lock --- */

    pthread_mutex_t lock;
    pthread_cond_t to_work, to_look, to_commit;

    enum crawl_phase phase;
    bool spent; /* it closes because a budget is spent */
    bool full;  /* no request begins until some pages are worked off */
    enum seen_code code; /* the first fault of any thread */
    struct seen_error why;

    /* Hosts, and those whose robots.txt is to be asked: allow.c */
    struct crawl_hosts hosts;
    struct crawl_host *to_ask, *last_to_ask;
    struct crawl_host *to_ask_alone, *last_to_ask_alone; /* aside.h */
    struct crawl_host *to_recall, *last_to_recall; /* to be read again first */
    size_t asking;   /* hosts in these lists, or at a reader */
    size_t recalled; /* how many of them have rules that were read again */
    struct crawl_list moved; /* robots.txt at hosts that are not in memory */

    /* Names to be looked up: of hosts that are not prompt, and that are */
    struct crawl_list names[2];
    size_t looking;        /* names in these lists, or at a looker */
    unsigned kept_lookers; /* threads for names[true] alone */

    /* Answers that wait for a reader: readers.c has what each list is for */
    struct crawl_list answers, filed, costly, suspects;
    unsigned loads; /* answers of `filed` and `costly` that readers have */
    unsigned busy;  /* readers that have something */
    bool alone;     /* one of them has a suspect */
    unsigned noted; /* readers that have a note: reading.h */
    struct crawl_spares spares;

    /* Pages that wait for a commit */
    struct crawl_list done;

    /* How many pages are where, and how many bytes they take */
    size_t active;     /* requests under way */
    size_t working;    /* pages at readers, and those that wait for one */
    size_t committing; /* pages in the group that is being committed */
    unsigned databases; /* of the frontier: done pages are cut into as many
                           groups, which wait longer to be as large; 0: one */
    size_t made;       /* bytes of pages that are answered and not committed */
    size_t unread;     /* bytes of those that readers are not done with */

    /* What budgets and progress count */
    uint64_t pages;            /* of the visit */
    uint64_t run_pages, bytes; /* of this run */
    uint64_t waiting;          /* rows */
    uint64_t unasked; /* pages that an archive of --skip was not asked about,
                         since the last commit */
    char warning[CRAWL_SKIP_WARNING]; /* for the fetching thread to say */

    int64_t next_due;  /* when the next known page is due, of a continuous
                          crawl; INT64_MAX: none is */
    int64_t lease_end; /* by the crawl's clock; INT64_MAX: there is no lease */
};

/* Unix time in ms, by the crawl's clock: it begins with the system's time, or
   --clock, and is not changed when somebody sets the system's. */
int64_t crawl_now(const struct crawl *c);
void crawl_set_clock(struct crawl *c, int64_t now);

void crawl_list_add(struct crawl_list *l, struct crawl_page *page);
struct crawl_page *crawl_list_take(struct crawl_list *l);

/* Go on to a phase, unless the run has come further. The lock is held. */
void crawl_enter_phase(struct crawl *c, enum crawl_phase phase);

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
/* Why a public host is not asked, if nobody is named who answers for it. */
extern const char crawl_needs_contact[];
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
                                  unsigned reader, uint64_t *steps,
                                  struct seen_error *why);
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
