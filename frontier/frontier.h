/*
 * frontier.h - what a visit still has to fetch.
 *
 *     hosts      name, how many pages wait, when the next one may be fetched
 *     packed     pages that wait, up to 64 of a host to a row (packs.h)
 *     frontier   those that something has happened to: a row per page
 *     journal    URLs that were added since the filter was last saved
 *
 * Pages wait per host, in the order of their priority and then of their
 * discovery. Hosts have a due time: politeness is a time at which to come
 * back, never a sleep. Everything is rows of a database (sql.h), so that a
 * hundred million URLs take disk and not memory, and so that one transaction
 * moves a page out and its links in.
 *
 *     sql_begin(db, &why);
 *     frontier_remove(f, page.host, page.id, &why);
 *     frontier_add(f, &link, &id, &why);             for each new link
 *     frontier_flush(f, &why);
 *     sql_commit(db, &why);
 *
 * What is added is in memory until frontier_flush(), which belongs before each
 * commit; all functions here see it. After a rollback that is wrong: close the
 * frontier.
 *
 * The frontier does not decide what is new: its caller asks the filter first.
 * There is no index on URLs, which would cost five to eight times as much as
 * the insert itself (measured).
 *
 * Threads: as the database.
 */
#ifndef SEEN_FRONTIER_H
#define SEEN_FRONTIER_H

#include "../sql/sql.h"

struct frontier;

/* A page that waits. Spans that are returned live until the next call. */
struct frontier_page {
    int64_t id;       /* 0 for one that is to be added */
    int64_t host;
    int64_t priority; /* smaller is fetched first */
    int64_t via;      /* the page that it was found on, or 0 */
    unsigned depth;
    unsigned attempts; /* that failed */
    unsigned flags;    /* the caller's */
    struct seen_span url;
    struct seen_span path; /* how it was found: a letter per hop */
    struct seen_span type; /* the page type of a template, or "" */
};

struct frontier_host {
    int64_t id;
    int64_t due;     /* Unix time in ms: not before */
    int64_t queued;  /* pages that wait */
    int64_t found;   /* links found to it */
    int64_t fetched; /* pages */
    int64_t requests, bytes;
    unsigned failures;      /* in a row, without an answer */
    struct seen_span name;
    struct seen_span stopped; /* why it is not asked any more, or "" */
};

/*
 * Of hosts, pages and workers of a frontier that is spread over several
 * databases (spread.h), the upper bits of the id are the number of the
 * database that gave it. Elsewhere they are 0.
 */
enum { FRONTIER_DATABASE_SHIFT = 48 };
static inline unsigned frontier_database_of(int64_t id)
{
    return (unsigned)((uint64_t)id >> FRONTIER_DATABASE_SHIFT);
}

/*
 * Of a page's flags, which are the caller's, three bits have a meaning here: it
 * was being read when a process died, and that so many times while nothing else
 * was being read.
 */
enum {
    FRONTIER_SUSPECT = 1 << 5,
    FRONTIER_DEATH = 1 << 6,
    FRONTIER_DEATHS = 3 << 6 /* as many as are counted */
};
/* SQL for the flags of a row, after a death; `alone` is 1 or 0. */
#define FRONTIER_SUSPECTED(alone) \
    "(flags | 32) + CASE WHEN (flags & 192) < 192 THEN 64 * " alone \
    " ELSE 0 END"

/* Make the tables, in a transaction of the caller. */
enum seen_code frontier_create(struct sql *db, struct seen_error *why);

/* Make those that version 1 of a crawl's state does not have, in the same way.
   Without them a frontier can be read, but not written. */
enum seen_code frontier_upgrade(struct sql *db, struct seen_error *why);

enum seen_code frontier_open(struct frontier **out, struct sql *db,
                             struct seen_error *why);
void frontier_close(struct frontier *f);

/* The id of a host, which is added if it is not known. */
enum seen_code frontier_host_id(struct frontier *f, struct seen_span name,
                                int64_t *id, struct seen_error *why);

/* How many links lead to this host so far. */
int64_t frontier_found(struct frontier *f, int64_t host);

/* Add a page, and its URL to the journal. *id is the journal's number. NULL:
   the filter has the URL already, so that the journal need not. */
enum seen_code frontier_add(struct frontier *f,
                            const struct frontier_page *page, int64_t *id,
                            struct seen_error *why);

/* The page is done. */
enum seen_code frontier_remove(struct frontier *f, int64_t host, int64_t id,
                               struct seen_error *why);

/* The page waits again, with these attempts, flags and priority. */
enum seen_code frontier_defer(struct frontier *f,
                              const struct frontier_page *page,
                              struct seen_error *why);

/* The page gets a row of its own in the table `frontier`, for statements of the
   caller's, if it waits and has none. */
enum seen_code frontier_unpack(struct frontier *f, int64_t id,
                               struct seen_error *why);

/* Write what was added, and the counts of hosts that changed: before each
   commit. */
enum seen_code frontier_flush(struct frontier *f, struct seen_error *why);

/*
 * The pages of a host that come next, at most `most`, in order. take() returns
 * false to stop. However many pages wait, no more of them are read than it
 * gets, but for one; frontier_unpacked() counts those that are.
 */
typedef bool frontier_take_page(void *owner, const struct frontier_page *page);
enum seen_code frontier_next(struct frontier *f, int64_t host, unsigned most,
                             frontier_take_page *take, void *owner,
                             struct seen_error *why);

/* Hosts with pages that wait, those first that are due first. `known`: only
   those that gave a page in this visit, and answered when asked last. */
typedef bool frontier_take_host(void *owner, const struct frontier_host *host);
enum seen_code frontier_hosts(struct frontier *f, bool known, unsigned most,
                              frontier_take_host *take, void *owner,
                              struct seen_error *why);

/* This one, which is added if it is not known. */
enum seen_code frontier_host_named(struct frontier *f, struct seen_span name,
                                   frontier_take_host *take, void *owner,
                                   struct seen_error *why);

/* All hosts, for reports. */
enum seen_code frontier_all_hosts(struct frontier *f, frontier_take_host *take,
                                  void *owner, struct seen_error *why);

/* What happened at a host since the last commit. */
struct frontier_asked {
    int64_t host;
    int64_t due_in;                   /* ms from now */
    int64_t delay;                    /* ms between its requests */
    int64_t requests, bytes, fetched; /* to be added */
    unsigned failures;                /* in a row */
    const char *stopped;   /* why its pages are not fetched any more; or NULL */
    struct seen_span note; /* the last error, for reports; or "" */
    bool refused;          /* out, of a shared frontier: the host was taken */
};

/* Write it to the row of the host, which is not asked any more if it was
   stopped: see frontier_stop_host(). `delay` and `note` are not kept. */
enum seen_code frontier_spend(struct frontier *f,
                              const struct frontier_asked *asked, int64_t now,
                              struct seen_error *why);

/* Do not ask a host any more. Its pages stay, and are counted as left. */
enum seen_code frontier_stop_host(struct frontier *f, int64_t host,
                                  const char *reason, struct seen_error *why);

/*
 * Origins, "http://a.example:81", that fail or are given up. They have rows among
 * the hosts, under their names, which are not those of hosts; so reports have
 * them. Pages that are parked there are counted as left. `name` may be any text
 * "...://HOST..." that stands for something of the host.
 */
struct frontier_origin {
    struct seen_span name;
    int64_t host; /* its host, which is one of those that were asked */
    unsigned failures;       /* in a row */
    struct seen_span closed; /* why it was given up, or "" */
    int64_t barred; /* of a shared frontier: the last visit that had begun when
                       the origin was given up. Visits up to it do not ask */
};

/* Fill in what is known of an origin. The span lives until the next call. */
enum seen_code frontier_origin_find(struct frontier *f,
                                    struct frontier_origin *origin,
                                    struct seen_error *why);
enum seen_code frontier_origin_keep(struct frontier *f,
                                    const struct frontier_origin *origin,
                                    struct seen_error *why);

/* The page does not wait at its host any more, but stays at an origin. */
enum seen_code frontier_park(struct frontier *f, int64_t host, int64_t id,
                             const struct frontier_origin *at,
                             struct seen_error *why);

/* Is this the name of an origin, and not of a host? */
bool frontier_is_origin(struct seen_span name);

/* Ask all hosts again, and those pages again that are parked: what kept them
   may be gone. */
enum seen_code frontier_resume(struct frontier *f, struct seen_error *why);

/* Begin a visit: no page waits, no host is stopped. */
enum seen_code frontier_reset(struct frontier *f, struct seen_error *why);

/* Begin a visit, but the pages that wait stay, except those with any of these
   flags. */
enum seen_code frontier_renew(struct frontier *f, unsigned except,
                              struct seen_error *why);

/* Pages that wait at hosts that are not stopped, and at all hosts. */
enum seen_code frontier_count(struct frontier *f, int64_t *waiting,
                              int64_t *all, struct seen_error *why);

uint64_t frontier_unpacked(const struct frontier *f);

/* A page that waits with this URL, which is one of the host of that name: reads
   all pages of the host. */
enum seen_code frontier_find(struct frontier *f, struct seen_span host,
                             struct seen_span url, bool *found,
                             struct frontier_page *page,
                             struct seen_error *why);

/* The journal: URLs with numbers above `after`, in order. The first function
   gives the rows of any statement whose columns are a number and a URL. */
typedef enum seen_code frontier_take_url(void *owner, int64_t id,
                                         struct seen_span url,
                                         struct seen_error *why);
enum seen_code frontier_read_urls(struct sql_statement *st,
                                  frontier_take_url *take, void *owner,
                                  struct seen_error *why);
enum seen_code frontier_journal(struct frontier *f, int64_t after,
                                frontier_take_url *take, void *owner,
                                struct seen_error *why);
/* The same for the pages that wait. */
enum seen_code frontier_each(struct frontier *f, frontier_take_url *take,
                             void *owner, struct seen_error *why);
enum seen_code frontier_journal_cut(struct frontier *f, int64_t upto,
                                    struct seen_error *why);

#endif
