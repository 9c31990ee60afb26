/*
 * host.h - the hosts that are being crawled, and politeness.
 *
 * Only hosts that are due soon are in memory; the frontier has the rest. A host
 * is in one state at a time, and on the list of that state:
 *
 *     ┌───────┐ <──> due         heap[prompt], by its time
 *     │       │ <──> waits       first ... last of its address, which has as
 *     │       │                  many requests as it may have
 *     │ rests │ <──> busy        none: one request is under way, never two
 *     │       │ <──> looked up   names[prompt], or at a thread of names.c
 *     │       │        └──> claims      none: crawl/team/hosts.c looks at all
 *     │ none  │ <──────────────┘
 *     │       │ <──> asks        to_ask, to_ask_alone, or at a reader: allow.c
 *     │       │ <──> recalls     to_recall, until its rules are read again
 *     │       │        └──> asks again  as asks
 *     │       │ <──────────────┘
 *     └───────┘ <──> leaves      none: it goes back to the frontier
 *
 * A host rests until the committing thread has pages or a robots.txt for it.
 * In every other state something brings it back to rest, and mostly makes it
 * due at once.
 *
 * After a request a host is due again five times as long as it took later,
 * at least 3 and at most 30 seconds (or as --delay, or Crawl-delay up to 300
 * seconds, says); after 429 and 503 as their Retry-After says. Pages that cost
 * much to read put it off for ten times as long, and so do many that its
 * robots.txt keeps out. An address has
 * no delay of its own, since hosts that share one would stop otherwise, but
 * at most --per-address requests at a time.
 *
 * One page may link to 100,000 names of its owner's domain, which lead to
 * addresses that never answer. They are all due, and each takes one of the
 * requests at a time until its time limit. So hosts of which nobody knows that
 * they answer soon have a heap and a bound of their own: they wait for each
 * other, and not the others for them.
 *
 * robots.txt belongs to a scheme, host and port (an origin): one that cannot be
 * fetched closes that origin, and so do failures in a row. The pages of other
 * origins of the host go on: see origin.c.
 *
 * Threads: one at a time; the engine has a lock.
 */
#ifndef SEEN_CRAWL_HOST_H
#define SEEN_CRAWL_HOST_H

#include "../../lib/text/map.h"
#include "../../web/robots.h"
#include "page.h"

/* What is known of the robots.txt of a scheme, host and port. */
enum crawl_robots_state {
    CRAWL_ROBOTS_UNKNOWN, /* ask the state, then the server */
    CRAWL_ROBOTS_ASKED,   /* the request is under way, or its commit */
    CRAWL_ROBOTS_KNOWN,   /* rules, or all is allowed */
    CRAWL_ROBOTS_KEPT,    /* known, but not in memory: rules.c */
    CRAWL_ROBOTS_CLOSED   /* given up: `reason` says why */
};

/* Does its robots.txt kill the process that reads it? See aside.h. */
enum crawl_trust {
    CRAWL_TRUSTED,  /* as far as is known, no */
    CRAWL_SUSPECT,  /* it was being read when a process died: it is read alone */
    CRAWL_SET_ASIDE /* yes: nothing of its origin is requested */
};

enum {
    CRAWL_SOON = 10000, /* ms: a request that took longer was a slow one */
    CRAWL_FAILURES = 5, /* in a row, and an origin counts as down */
    CRAWL_FAILING = 16  /* origins of a host that fail, and no others are tried
                           but those without a port */
};

struct crawl_origin {
    struct crawl_host *host;
    enum crawl_robots_state state;
    enum crawl_trust trust;
    struct web_robots *rules; /* NULL: all is allowed, or there is a text */
    struct buffer text;       /* rules that nobody asked yet: allow.c */
    double delay;             /* Crawl-delay, once they are compiled; or -1, 0 */
    size_t size;              /* of rules and text, as they are counted */
    struct crawl_origin *before, *after; /* asked about earlier, later */
    bool looked;              /* into the state */
    int64_t until;            /* ask again */
    int64_t hold;             /* not before: it failed, others may go on */
    unsigned attempts;
    unsigned failures; /* in a row, also of earlier runs and workers */
    bool changed;      /* failures or state, since the last commit */
    int64_t barred;    /* closed to visits up to this one, if closed */
    char *reason;      /* why; or NULL */
    size_t len;
    char name[];
};

enum crawl_host_state {
    CRAWL_HOST_RESTS,
    CRAWL_HOST_DUE,
    CRAWL_HOST_WAITS,
    CRAWL_HOST_BUSY,
    CRAWL_HOST_LOOKED_UP,
    CRAWL_HOST_CLAIMS, /* of a team: its address is known, but not yet its own */
    CRAWL_HOST_ASKS,   /* a reader finds out what robots.txt says about pages */
    CRAWL_HOST_RECALLS,
    CRAWL_HOST_ASKS_AGAIN, /* with rules that were read again for that */
    CRAWL_HOST_LEAVES,
    CRAWL_HOST_STATES
};

struct crawl_address {
    unsigned hosts, active;
    struct crawl_host *first, *last; /* that wait for it */
    char name[64];
};

struct crawl;

struct crawl_host {
    struct crawl *crawl;
    struct crawl_hosts *all; /* in memory */
    int64_t id;

    /* its state, and its place on the list of that */
    enum crawl_host_state state;
    size_t place;                    /* in its heap, from 1; 0: not in it */
    bool prompt;                     /* its last request took no longer than
                                        CRAWL_SOON: this chooses the heap */
    struct crawl_host *next;         /* that waits for the same address */
    struct crawl_host *next_asking;  /* to_ask, to_recall */
    struct crawl_address *address;   /* NULL: not known yet */
    char claim[64];                  /* the address that it claims */

    /* when, by the crawl's clock, in Unix ms */
    int64_t due;    /* it comes up */
    int64_t hold;   /* it does not come up before, whatever else is said */
    int64_t polite; /* the last answer allows the next request. `due` is later
                       if all pages at hand wait for their origins */
    int64_t delay;  /* ms, after the last request; for the status */
    const char *waits_for; /* why it is due so late: a constant text */
    const char *said;      /* the reason that a warning named last, */
    int64_t said_due;      /* and the due time in that warning */

    /* what is to be requested, and what is on its way */
    struct crawl_page *first, *last; /* pages at hand */
    unsigned ready;                  /* how many these are */
    struct crawl_page *robots; /* robots.txt to be requested here: its own, */
    struct crawl_page *moved, *last_moved; /* and those of other hosts */
    unsigned turns;    /* of its pages since the last one of `moved` */
    unsigned moved_out; /* how many of `moved` were requested, and are not
                           committed yet */
    int64_t *out;      /* ids of rows that are at hand or on their way */
    size_t outs, outs_room;
    unsigned used;     /* pages that left the list since the last refill */
    unsigned turn;     /* requests since the host came into memory */
    unsigned unread;   /* answers that wait for a reader, or are at one */
    unsigned cheap;    /* answers that cost little, since the last one that was
                          charged, up to a limit */
    uint64_t owed;     /* steps for its robots.txt: crawl_host_owes() */
    bool changed;      /* its rows are other ones since the last refill */
    bool drained;      /* the last refill found no more rows */
    bool recalls;      /* its rules were forgotten before: it gets more pages at
                          a time */

    /* origins: origin.c */
    struct map origins;         /* by their names */
    struct crawl_origin *asked; /* the last one, which stays */
    size_t origins_most;        /* with so many, those without use go */
    unsigned failing;           /* origins that fail, or are closed */
    unsigned closed;            /* origins that are closed */
    bool counted;               /* both counts include those of earlier runs */

    /* what the frontier knows, and is to be told in the next commit */
    int64_t found;     /* links that lead to it, */
    int64_t fetched;   /* and pages in this visit, as the frontier knows them */
    unsigned failures; /* in a row */
    int64_t spent_fetched, spent_requests, spent_bytes; /* since a commit */
    bool spent;           /* these, its due time or its failures changed */
    bool changed_origins; /* an origin has `changed` set */
    const char *stopped;  /* why nothing is requested any more, or NULL */
    bool stop_written;    /* the frontier knows that, or is being told */

    size_t len;
    char name[];
};

/* Origins with rules in memory, the one that was asked about longest ago
   first. */
struct crawl_rules {
    struct crawl_origin *first, *last;
};

struct crawl_heap {
    struct crawl_host **host; /* from 1 */
    size_t n, room;
};

struct crawl_hosts {
    struct map by_id, by_name, addresses;
    struct crawl_rules rules[2]; /* small ones, large ones */
    size_t rules_size;           /* bytes of all of them */
    uint64_t forgotten;          /* how often one was, for tests */
    struct crawl_heap heap[2]; /* of hosts that are not prompt, and that are */
    unsigned slow;             /* busy hosts that are not prompt */
    unsigned slow_most;        /* at a time; there is always one */
    unsigned per_address;
};

/* So many requests at a time: to one address, and to all hosts together. */
void crawl_hosts_limit(struct crawl_hosts *h, unsigned per_address,
                       unsigned parallel);
/* Forget all hosts; the limits stay. */
void crawl_hosts_clear(struct crawl_hosts *h);

struct crawl_host *crawl_host_get(struct crawl_hosts *h, int64_t id);
struct crawl_host *crawl_host_named(const struct crawl_hosts *h,
                                    struct seen_span name);
/* NULL without memory. */
struct crawl_host *crawl_host_add(struct crawl_hosts *h, int64_t id,
                                  struct seen_span name, int64_t due);
void crawl_host_remove(struct crawl_hosts *h, struct crawl_host *host);

/* Let the host come up at this time, or later if it is put off. */
bool crawl_host_set_due(struct crawl_hosts *h, struct crawl_host *host,
                        int64_t due);

/* The host leaves its state for another one, and must be on its list then. It
   is a mistake if there is no arrow between the two above. */
void crawl_host_become(struct crawl_host *host, enum crawl_host_state state);
bool crawl_host_may_become(const struct crawl_host *host,
                           enum crawl_host_state state);
/* Does nothing stand between it and its next request but its time? */
bool crawl_host_is_free(const struct crawl_host *host);
/* Is its robots.txt being asked? Then its origins stay. */
bool crawl_host_is_asking(const struct crawl_host *host);

/* The host whose time comes first, of those that may be asked: hosts that are
   not prompt wait for each other. NULL: none. */
struct crawl_host *crawl_hosts_first(const struct crawl_hosts *h);
/* May hosts that are prompt, or that are not, be asked now? */
bool crawl_hosts_may_ask(const struct crawl_hosts *h, bool prompt);
/* Did its last request end soon? False without memory. */
bool crawl_host_set_prompt(struct crawl_hosts *h, struct crawl_host *host,
                           bool prompt);
void crawl_hosts_pop(struct crawl_hosts *h, struct crawl_host *host);

/* May a request to the host, which rests, begin, by its address? Otherwise it
   waits for the address. */
bool crawl_host_may_enter(struct crawl_hosts *h, struct crawl_host *host);
/* It begins. */
void crawl_host_enter(struct crawl_hosts *h, struct crawl_host *host);
/* None begins after all: another host of the address may come. */
void crawl_host_pass(struct crawl_hosts *h, struct crawl_host *host);
/* The request ended. */
void crawl_host_leave(struct crawl_hosts *h, struct crawl_host *host);
/* The address of a host is known. False without memory. */
bool crawl_host_resolve(struct crawl_hosts *h, struct crawl_host *host,
                        const char *address);

/* Pages that wait at the host, in memory. */
void crawl_host_push(struct crawl_host *host, struct crawl_page *page,
                     bool front);
struct crawl_page *crawl_host_pull(struct crawl_host *host);

/*
 * robots.txt that are to be requested at the host. One of its own origins goes
 * before all pages: its request was cancelled, or it was moved within the host.
 * Others were moved here from other hosts. Whoever owns a name can do that, so
 * there may be thousands: while the host has pages, they have every fourth
 * turn. They do not wait for pages that cannot be requested, since those may
 * wait for a robots.txt that was moved, too.
 */
enum { CRAWL_PAGE_TURNS = 3 }; /* between two that were moved here */
void crawl_host_push_robots(struct crawl_host *host, struct crawl_page *page);
/* One of its own; or if `moved`, any. NULL: none. */
struct crawl_page *crawl_host_pull_robots(struct crawl_host *host, bool moved);
/* Is it the turn of the pages of the host? */
bool crawl_host_is_turn_of_pages(struct crawl_host *host);

/* Rows that are on their way, so that a refill does not take them twice. */
bool crawl_host_is_out(const struct crawl_host *host, int64_t id);
bool crawl_host_note_out(struct crawl_host *host, int64_t id);
void crawl_host_forget_out(struct crawl_host *host, int64_t id);

/*
 * Do too many of its answers wait for readers? Then it gets no request.
 * What a page costs is charged when it was read. A host without a delay could
 * have 2,000 answers waiting by then, and each may take two seconds. So a new
 * host has one; with each page that was cheap to read it may have one more, so
 * that readers do not wait for a fast host.
 */
bool crawl_host_has_unread(const struct crawl_host *host);
/* One of them was read; its host was charged for what it cost, or not. */
void crawl_host_note_read(struct crawl_host *host, bool charged);

/* --- origins: origin.c --- */

/* That of a URL, made if it is new; NULL without memory. */
struct crawl_origin *crawl_host_origin(struct crawl_host *host,
                                       struct seen_span origin);

/* What is known of it from before: failures in a row, and if `reason` is not
   NULL, that it is closed to visits up to `barred`. `closed` is the number of
   origins of the host that are closed. False without memory. */
bool crawl_origin_recall(struct crawl_host *host, struct crawl_origin *o,
                         unsigned failures, unsigned closed,
                         const char *reason, int64_t barred);

/* A request of the origin was answered, or not. */
void crawl_origin_answered(struct crawl_host *host, struct crawl_origin *o);
void crawl_origin_failed(struct crawl_host *host, struct crawl_origin *o);

/* Does another origin of the host answer? */
bool crawl_host_answers_beside(const struct crawl_host *host,
                               const struct crawl_origin *o);

/* Give it up, for this reason. */
enum { CRAWL_CLOSED_TEXT = 160 };
void crawl_origin_close(struct crawl_host *host, struct crawl_origin *o,
                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* How many characters of its name are said in a reason. */
int crawl_origin_words(const struct crawl_origin *o);

/* Another visit asks it again. */
void crawl_origin_open(struct crawl_host *host, struct crawl_origin *o);

/* So many origins of the host fail that this one is not tried. */
bool crawl_origin_is_too_much(const struct crawl_host *host,
                              const struct crawl_origin *o);

/* --- their rules: rules.c --- */

enum {
    CRAWL_RULES_MOST = 64 << 20, /* bytes of all hosts' */
    CRAWL_RULES_LARGE = 64 << 10 /* bytes of one origin's */
};

/* Its rules or its text came, went, or were asked about. If all together are
   too many bytes now, others are forgotten, which become CRAWL_ROBOTS_KEPT. */
void crawl_rules_count(struct crawl_host *host, struct crawl_origin *o);

/* Instead of rules it has this text. Sets o->text.failed without memory. */
void crawl_rules_set_text(struct crawl_host *host, struct crawl_origin *o,
                          struct seen_span text);

/* It has neither. */
void crawl_rules_drop(struct crawl_host *host, struct crawl_origin *o);

/* All of them. */
void crawl_origins_clear(struct crawl_host *host);

/* Where it is kept that no more origins of the host are tried: not the name of
   a host or an origin. */
enum { CRAWL_ORIGINS_NAME = 280 };
struct seen_span crawl_origins_name(const struct crawl_host *host,
                                    char name[CRAWL_ORIGINS_NAME]);

/* Forget origins that no page at hand needs, if there are many: a page may
   link to 65,000 ports. Not while a page is on its way from the frontier. */
void crawl_host_trim_origins(struct crawl_host *host);

/* Milliseconds to wait after a request that took `ms`. `fixed` is --delay, or
   -1; `asked` the Crawl-delay in seconds, or below 0; `after` Retry-After. */
int64_t crawl_delay(unsigned ms, int64_t fixed, double asked, unsigned after);

/*
 * Milliseconds more for a page that took this many steps (budget.h): ten times
 * the time that they stand for, as long as the delay stays below its 30
 * seconds. Nothing for an ordinary page: below 5,000,000 steps, some 10 ms.
 * Steps and not the time that was measured: a busy machine is not the host's
 * fault, and another one comes to the same delay.
 */
int64_t crawl_delay_charge(int64_t delay, uint64_t steps);
enum { CRAWL_ROW_STEPS = 1700 }; /* of a link that becomes a row */
/* The same for links that became rows, which takes the committing thread
   3.4 us each. A page is found once: for most hosts it is a row per page. */
int64_t crawl_delay_charge_rows(int64_t delay, uint64_t rows);

/*
 * The same for what a robots.txt costs: to compile its rules, to ask them, and
 * to commit pages that they keep out, some 8 us each. It is owed as steps, and
 * a host that owes 5,000,000 of them waits so many milliseconds: beside others
 * that are asked meanwhile, 60,000 forbidden links trickle for five seconds
 * instead of coming first. A host that is alone waits for nobody, 0. A step of
 * web/robots.c takes half as long as these.
 */
enum {
    CRAWL_EXCLUDED_STEPS = 4000, /* of a page that is kept out */
    CRAWL_RULE_BYTE_STEPS = 20   /* of a byte of rules that are compiled */
};
int64_t crawl_host_owes(struct crawl_host *host, bool alone);

#endif
