/*
 * spread.h - a shared frontier that is spread over several databases.
 *
 *     postgresql://a/x,postgresql://b/y       the first one is the home
 *
 * A host belongs to one of them, by a hash of its name, and so do its pages,
 * what is known of them, and its robots.txt. All have the tables of shared.h,
 * and a row that says which of how many they are, of which frontier. A worker
 * has a lease in each, with one number; a commit is about hosts of one
 * database and a transaction of that one. Links to hosts of another travel
 * through its outbox (outbox.c).
 *
 * With one database everything here is a call of shared.h, and nothing more is
 * in the database.
 *
 *     home          jobs become visits here, and end here
 *     each          a row per visit with the same id, and its own counts
 *     by address    who asks the hosts of an address (table `claims`): the
 *                   database is chosen by the hash of the address
 *
 * The end of a visit. No page waits, no known page is to come, and no link is
 * on its way, in any database. Nobody can look at all of them at one moment,
 * so all are read twice, and must say the same: every commit that changes
 * anything of a visit changes one of its sums, which never become smaller. So
 * what is empty in both rounds was empty between them, everywhere at once, and
 * nothing can come to an end and leave no sum. Then the visit is ending: first
 * in the other databases, last in the home, from where its end is published.
 *
 * A database that is away. What fails is one of its steps. The worker then
 * forgets all that it had, as one whose lease ended, gets a lease in those
 * databases that answer, and goes on with their hosts. It tries the other one
 * again after ten times as long as it waited for it. Hosts there wait; nobody
 * asks them, as nobody has their lease. While the home is away no visit begins
 * or ends, and while any is away none ends.
 *
 * Threads: as the databases.
 */
#ifndef SEEN_FRONTIER_SPREAD_H
#define SEEN_FRONTIER_SPREAD_H

#include "shared.h"

enum { FRONTIER_DATABASES = 64 }; /* at most */

struct frontier_spread;

/*
 * Connect to all databases of a list, and make their tables if there are none
 * in any of them. A comma separates two if a URL follows it: one without is a
 * part of a path, or of a URL with several servers. SEEN_MISMATCH: a database
 * is not the one that the list says, which the text names.
 */
enum seen_code frontier_spread_open(struct frontier_spread **out,
                                    const char *list,
                                    const struct frontier_worker *worker,
                                    struct seen_error *why);
void frontier_spread_close(struct frontier_spread *f);

/* The databases of a list, for those that only look: where[i] for i < *n, each
   of them to be freed. */
enum seen_code frontier_spread_split(const char *list,
                                     char *where[FRONTIER_DATABASES],
                                     unsigned *n, struct seen_error *why);
/* Is this database number `at` of `n` of a frontier, and of the same one as
   those before? `identity` is "" for the first, which fills it in. */
enum { FRONTIER_IDENTITY = 40 };
enum seen_code frontier_spread_check(struct sql *db, unsigned at, unsigned n,
                                     char identity[FRONTIER_IDENTITY],
                                     struct seen_error *why);

unsigned frontier_spread_databases(const struct frontier_spread *f);
struct sql *frontier_spread_home(const struct frontier_spread *f);

/* Which of them has this host? */
unsigned frontier_spread_database(const struct frontier_spread *f,
                                  struct seen_span host);

/* Do all databases answer? And since the last call, has one gone or come back?
   Then *why says so. */
bool frontier_spread_is_whole(const struct frontier_spread *f);
bool frontier_spread_news(struct frontier_spread *f, struct seen_error *why);

/* For tests: see frontier_shared_watch(). */
void frontier_spread_watch(struct frontier_spread *f,
                           frontier_shared_point *at, void *owner);

/*
 * Between commits: bring links to where their hosts are, and try databases again
 * that were away; and end visits of which nothing is left. Each worker does
 * this for all, so it is done more seldom the more workers there are, unless
 * this one is idle.
 */
enum frontier_haste { FRONTIER_BUSY, FRONTIER_IDLE, FRONTIER_AT_ONCE };
enum seen_code frontier_spread_deliver(struct frontier_spread *f,
                                       enum frontier_haste haste,
                                       struct seen_error *why);
enum seen_code frontier_spread_finish(struct frontier_spread *f,
                                      enum frontier_haste haste,
                                      struct seen_error *why);

/*
 * The rest is as in shared.h. SEEN_ABSENT is also that a database went away:
 * the worker begins anew with frontier_spread_join(). What is asked of a
 * database that is away already is SEEN_BUSY for a job, and else as if there
 * was nothing.
 */
enum seen_code frontier_spread_join(struct frontier_spread *f,
                                    struct seen_error *why);
enum seen_code frontier_spread_renew(struct frontier_spread *f,
                                     struct seen_error *why);
int64_t frontier_spread_was_set(struct frontier_spread *f);
enum seen_code frontier_spread_leave(struct frontier_spread *f,
                                     struct seen_error *why);
int64_t frontier_spread_number(const struct frontier_spread *f);

enum seen_code frontier_spread_begin(struct frontier_spread *f,
                                     const struct frontier_visit *visit,
                                     const struct frontier_link *start,
                                     size_t n,
                                     enum frontier_visit_state *state,
                                     struct seen_error *why);
/* Sums are those of all databases when they were last read. */
enum seen_code frontier_spread_visits(struct frontier_spread *f,
                                      enum frontier_visit_state state,
                                      int64_t after, frontier_take_visit *take,
                                      void *owner, struct seen_error *why);
/* Its job: sums are those of one database. */
enum seen_code frontier_spread_visit(struct frontier_spread *f, int64_t id,
                                     frontier_take_visit *take, void *owner,
                                     struct seen_error *why);
enum seen_code frontier_spread_recall(struct frontier_spread *f, int64_t visit,
                                      frontier_weigh *weigh, void *owner,
                                      bool *more, struct seen_error *why);
enum seen_code frontier_spread_records(struct frontier_spread *f,
                                       int64_t visit, int64_t *records,
                                       unsigned shards,
                                       struct seen_error *why);
enum seen_code frontier_spread_close_visit(struct frontier_spread *f,
                                           int64_t visit,
                                           struct seen_error *why);
enum seen_code frontier_spread_ended(struct frontier_spread *f, int64_t visit,
                                     struct seen_error *why);

/* Hosts of one database per call, of the next one each time. */
enum seen_code frontier_spread_lease(struct frontier_spread *f, unsigned most,
                                     int64_t ahead, frontier_take_leased *take,
                                     void *owner, struct seen_error *why);
enum seen_code frontier_spread_address(struct frontier_spread *f, int64_t host,
                                       struct seen_span address, bool *mine,
                                       struct seen_error *why);
enum seen_code frontier_spread_take(struct frontier_spread *f,
                                    struct seen_span name, int64_t of,
                                    struct frontier_leased *host, bool *given,
                                    struct seen_error *why);
enum seen_code frontier_spread_load(struct frontier_spread *f,
                                    struct frontier_load *load,
                                    struct seen_error *why);
enum seen_code frontier_spread_release(struct frontier_spread *f,
                                       const struct frontier_return *host,
                                       size_t n, struct seen_error *why);
enum seen_code frontier_spread_next(struct frontier_spread *f, int64_t host,
                                    unsigned most, frontier_take_shared *take,
                                    void *owner, struct seen_error *why);
/* `host` is that of the origin. */
enum seen_code frontier_spread_robots(struct frontier_spread *f,
                                      struct seen_span host,
                                      struct seen_span origin,
                                      struct frontier_robots *robots,
                                      struct seen_error *why);
enum seen_code frontier_spread_origin(struct frontier_spread *f,
                                      struct frontier_origin *origin,
                                      struct seen_error *why);

enum seen_code frontier_spread_suspect(struct frontier_spread *f,
                                       const struct frontier_suspect *suspect,
                                       size_t n, struct seen_error *why);
enum seen_code frontier_spread_aside(struct frontier_spread *f,
                                     frontier_take_key *take, void *owner,
                                     struct seen_error *why);
enum seen_code frontier_spread_suspects(struct frontier_spread *f,
                                        frontier_take_key *take, void *owner,
                                        struct seen_error *why);
enum seen_code frontier_spread_retry_aside(struct frontier_spread *f,
                                           struct seen_error *why);

/* All pages and hosts of a group are of one database. If that went away,
   SEEN_ABSENT, and *uncertain: it may have done the commit. */
enum seen_code frontier_spread_commit(struct frontier_spread *f,
                                      struct frontier_group *group,
                                      bool *uncertain, struct seen_error *why);
/* Numbers of commits of a lease, of which later ones are larger if they are
   of the same database. */
int64_t frontier_spread_next_commit(const struct frontier_spread *f,
                                    unsigned database);
/* *last is the last one in the database of `commit`. */
enum seen_code frontier_spread_last_commit(struct frontier_spread *f,
                                           int64_t lease, int64_t commit,
                                           int64_t *last,
                                           struct seen_error *why);

#endif
