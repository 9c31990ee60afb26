/*
 * Workers that are killed at every point that shared.c names, and workers that
 * race: a visit is finished all the same, with every page ended once.
 *
 * The web is a tree: page n links to 2n + 1 and 2n + 2. Of some pages
 * something is known from before, so they are rows as soon as somebody looked.
 */
#include "test/frontier/place.h"

#include <signal.h>
#include <sys/wait.h>

enum { PAGES = 30, HOSTS = 4, SHORT = 250, LONG = 60000 };

static void make_link(struct frontier_link *link, char url[40], char host[20],
                      int64_t visit, int number)
{
    snprintf(host, 20, "h%d.example", number % HOSTS);
    snprintf(url, 40, "http://%s/%d", host, number);
    *link = (struct frontier_link){
        .visit = visit,
        .host = span_of(host),
        .page = { .url = span_of(url),
                  .path = span_of("L"),
                  .type = span_of("") },
    };
    link->key[0] = (unsigned char)(number * 37);
    link->key[1] = (unsigned char)number;
}

/* --- a worker --- */

struct turn {
    int64_t host[HOSTS], id[16], visit[16], at[16];
    int number[16];
    size_t hosts, n;
};

static bool take_host(void *owner, const struct frontier_leased *host)
{
    struct turn *t = owner;

    t->host[t->hosts++] = host->id;
    return true;
}

static bool take_page(void *owner, const struct frontier_shared_page *page)
{
    struct turn *t = owner;
    const char *slash = memrchr(page->page.url.text, '/', page->page.url.len);
    char digits[8] = "";
    size_t len;

    len = (size_t)(page->page.url.text + page->page.url.len - slash - 1);
    memcpy(digits, slash + 1, len < 7 ? len : 7);
    t->id[t->n] = page->page.id;
    t->at[t->n] = page->page.host;
    t->visit[t->n] = page->visit;
    t->number[t->n++] = atoi(digits);
    return true;
}

static struct frontier_known known_page(int number)
{
    struct frontier_link link;
    struct frontier_known known = { .url = span_of("http://h0.example/"),
                                    .type = span_of(""),
                                    .etag = span_of("\"1\""),
                                    .modified = span_of(""),
                                    .digest = span_of(""),
                                    .place = span_of(""),
                                    .history = span_of("") };
    char url[40], host[20];

    make_link(&link, url, host, 0, number);
    memcpy(known.key, link.key, sizeof known.key);
    return known;
}

/* Returns the code of the commit; a host that another has is let go. */
static enum seen_code commit(struct frontier_shared *f, struct turn *t)
{
    struct frontier_done done[16] = { { .bytes = 0 } };
    struct frontier_asked asked[HOSTS] = { { .host = 0 } };
    struct frontier_link link[32];
    struct frontier_known known[16];
    char url[32][40], host[32][20];
    size_t from[32], links = 0;
    bool fresh[32];
    struct frontier_group g = { .done = done,
                                .dones = t->n,
                                .asked = asked,
                                .askeds = t->hosts,
                                .link = link,
                                .from = from,
                                .fresh = fresh };

    for (size_t i = 0; i < t->hosts; i++)
        asked[i] = (struct frontier_asked){ .host = t->host[i], .delay = 1 };
    for (size_t i = 0; i < t->n; i++) {
        done[i] = (struct frontier_done){
            .page = { .id = t->id[i], .host = t->at[i] },
            .visit = t->visit[i],
            .end = FRONTIER_FETCHED,
            .bytes = 1,
            .shard = t->number[i] % 2,
            .known = &known[i],
        };
        known[i] = known_page(t->number[i]);
        for (size_t k = 0; k < t->hosts; k++)
            asked[k].requests += asked[k].host == t->at[i];
        for (int k = 1; k <= 2; k++)
            if (2 * t->number[i] + k < PAGES) {
                make_link(&link[links], url[links], host[links], t->visit[i],
                          2 * t->number[i] + k);
                from[links++] = i;
            }
    }
    g.links = links;
    return frontier_shared_commit(f, &g, NULL);
}

static bool note_visit(void *owner, const struct frontier_visit *visit)
{
    *(int64_t *)owner = visit->id;
    return false;
}

static enum frontier_visit_state begin(struct frontier_shared *f)
{
    const struct frontier_visit visit = { .visit = span_of("tree@1"),
                                          .name = span_of("tree"),
                                          .shards = 2 };
    enum frontier_visit_state state = FRONTIER_RUNNING;
    struct frontier_link link;
    char url[40], host[20];

    make_link(&link, url, host, 0, 0);
    GOOD(frontier_shared_begin(f, &visit, &link, 1, &state, &why));
    return state;
}

static int64_t weigh(void *owner, struct seen_span url, unsigned depth)
{
    (void)owner;
    (void)url;
    return depth;
}

static bool note_recalling(void *owner, const struct frontier_visit *visit)
{
    if (visit->recalling)
        *(int64_t *)owner = visit->id;
    return true;
}

static void recall(struct frontier_shared *f)
{
    int64_t visit = 0;
    bool more = true;

    GOOD(frontier_shared_visits(f, FRONTIER_RUNNING, 0, note_recalling, &visit,
                                &why));
    while (visit && more)
        GOOD(frontier_shared_recall(f, visit, weigh, NULL, &more, &why));
}

/* Work until the visit has ended. False: the lease ended. */
static bool turn(struct frontier_shared *f, bool *ended)
{
    struct frontier_return back[HOSTS];
    struct turn t = { .n = 0 };
    int64_t ending = 0;
    bool mine;

    GOOD(frontier_shared_visits(f, FRONTIER_ENDING, 0, note_visit, &ending,
                                &why));
    if (ending)
        GOOD(frontier_shared_ended(f, ending, &why));
    *ended = begin(f) == FRONTIER_ENDED;
    if (*ended)
        return true;
    recall(f);
    if (frontier_shared_lease(f, 2, 1000000, take_host, &t, NULL) != SEEN_OK)
        return false;
    if (!t.hosts)
        usleep(3000);
    for (size_t i = 0; i < t.hosts; i++) {
        char address[20];

        snprintf(address, sizeof address, "a%lld", (long long)t.host[i]);
        if (frontier_shared_address(f, t.host[i], span_of(address), &mine,
                                    NULL) != SEEN_OK)
            return false;
        GOOD(frontier_shared_next(f, t.host[i], 8, take_page, &t, &why));
        back[i] = (struct frontier_return){ .host = t.host[i] };
    }
    if (t.n && commit(f, &t) != SEEN_OK)
        return false;
    return frontier_shared_release(f, back, t.hosts, NULL) == SEEN_OK;
}

static void work(struct place_worker *w, int turns)
{
    struct frontier_leased host;
    bool ended = false, given;

    GOOD(frontier_shared_join(w->f, &why));
    if (frontier_shared_take(w->f, span_of("robots.example"), 0, &host, &given,
                             NULL) == SEEN_NOMEM)
        fail();
    while (!ended && turns--)
        if (!turn(w->f, &ended))
            GOOD(frontier_shared_join(w->f, &why));
    GOOD(frontier_shared_leave(w->f, &why));
}

/* Five pages of two hosts, as a visit before has left them. */
static void know_some(struct sql *db)
{
    struct sql_statement *add, *st;

    GOOD(sql_prepare(&add, db,
                     "INSERT INTO hosts (name) VALUES (?1) ON CONFLICT DO "
                     "NOTHING",
                     &why));
    GOOD(sql_prepare(
        &st, db,
        "INSERT INTO known (name, key, host, first, last, due, stored, checks, "
        "changes, size, terms, links, status, depth, flags, url, type, etag, "
        "modified, digest, place, history) SELECT 'tree', ?1, id, 0, 0, 0, 0, "
        "0, 0, 0, 0, 0, 200, 0, 0, ?2, '', ?3, ?3, '', '', ?3 FROM hosts "
        "WHERE name = ?4",
        &why));
    for (int number = 0; number < PAGES; number++) {
        struct frontier_link link;
        char url[40], host[20];

        if (number % HOSTS > 1 || number % 3)
            continue;
        make_link(&link, url, host, 0, number);
        sql_bind_text(add, 1, link.host);
        GOOD(sql_do(add, &why));
        sql_bind_bytes(
            st, 1,
            (struct seen_span){ (const char *)link.key, sizeof link.key });
        sql_bind_text(st, 2, link.page.url);
        sql_bind_bytes(st, 3, (struct seen_span){ "", 0 });
        sql_bind_text(st, 4, link.host);
        GOOD(sql_do(st, &why));
    }
}

/* --- what must be there at the end --- */

static void check(struct sql *db)
{
    assert_int_equal(place_ask(db, "SELECT state FROM visits"),
                     FRONTIER_ENDED);
    assert_int_equal(place_ask(db, "SELECT count(*) FROM visits"), 1);
    assert_int_equal(place_ask(db, "SELECT fetched FROM visits"), PAGES);
    assert_in_range(place_ask(db, "SELECT links FROM visits"), PAGES - 5,
                    PAGES - 1);
    assert_int_equal(place_ask(db, "SELECT count(*) FROM known WHERE etag <> "
                                   "(SELECT modified FROM known LIMIT 1)"),
                     PAGES);
    assert_int_equal(place_ask(db, "SELECT bytes FROM visits"), PAGES);
    assert_int_equal(place_ask(db, "SELECT sum(records) FROM shards"), PAGES);
    assert_int_equal(place_ask(db, "SELECT sum(requests) FROM hosts"), PAGES);
    assert_int_equal(place_ask(db, "SELECT sum(pages) FROM workers"), PAGES);
    assert_int_equal(place_ask(db, "SELECT count(*) FROM pages"), 0);
    assert_int_equal(place_ask(db, "SELECT count(*) FROM hosts WHERE queued "
                                   "<> 0 OR worker <> 0"),
                     0);
    assert_int_equal(place_ask(db, "SELECT count(*) FROM addresses"), 0);
}

/* --- kills --- */

struct crash {
    const char *point;
    int left;
};

static void crash_at(void *owner, const char *point)
{
    struct crash *c = owner;

    if (!strcmp(point, c->point) && c->left-- == 0)
        raise(SIGKILL);
}

/* A child works until it comes to the point for the n-th time. */
static bool killed_at(const char *point, int n)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (!child) {
        const struct frontier_worker worker = { .name = "child:1",
                                                .lease = SHORT,
                                                .patience = 5000 };
        struct crash crash = { point, n };
        struct place_worker w;

        if (sql_connect(&w.db, place, SQL_WRITE, NULL) ||
            frontier_shared_open(&w.f, w.db, &worker, NULL))
            _exit(3);
        frontier_shared_watch(w.f, crash_at, &crash);
        work(&w, 1000);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        assert_int_equal(WTERMSIG(status), SIGKILL);
    else
        assert_int_equal(WEXITSTATUS(status), 0);
    return WIFSIGNALED(status);
}

TEST(a_worker_killed_at_any_point_costs_nothing_but_time)
{
    static const struct {
        const char *point;
        int n; /* how many times it passes before */
    } points[] = {
        { "joined", 0 },    { "hosts", 0 },    { "hosts", 1 },
        { "begun", 0 },     { "began", 0 },    { "leased", 0 },
        { "leased", 2 },    { "taken", 0 },    { "taken", 3 },
        { "host", 0 },      { "address", 0 },  { "address", 3 },
        { "returned", 1 },  { "held", 1 },     { "locked", 2 },
        { "ended", 0 },     { "ended", 3 },    { "inserted", 1 },
        { "counted", 0 },   { "counted", 2 },  { "committed", 0 },
        { "committed", 3 }, { "swept", 0 },    { "emptied", 0 },
        { "finished", 0 },  { "reaped", 0 },   { "leaving", 0 },
        { "recalling", 0 }, { "recalled", 0 }, { "known", 0 },
        { "known", 2 },
    };

    for (size_t i = 0; i < LENGTH(points); i++) {
        struct place_worker w;
        bool died;

        place_make();
        place_open(&w, "parent:1", LONG);
        know_some(w.db);
        died = killed_at(points[i].point, points[i].n);
        if (!died)
            print_error("%s %d: not reached\n", points[i].point, points[i].n);
        assert_true(died);
        /* Instead of waiting for the end of the lease. */
        GOOD(sql_run(w.db,
                     "UPDATE workers SET until = {now} - 1 WHERE until > "
                     "{now}",
                     &why));
        work(&w, 1000);
        check(w.db);
        place_close(&w);
    }
}

/* --- races --- */

TEST(workers_that_race_and_die_end_every_page_once)
{
    enum { WORKERS = 3, DEATHS = 6 };
    static const char *const points[] = { "counted",   "taken", "committed",
                                          "recalling", "known", "swept" };
    struct place_worker w;
    pid_t child[WORKERS + DEATHS];
    int status;

    place_open(&w, "parent:1", LONG);
    know_some(w.db);
    for (int i = 0; i < WORKERS + DEATHS; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (!child[i]) {
            const struct frontier_worker worker = { .name = "child:1",
                                                    .lease = SHORT,
                                                    .patience = 20000 };
            struct crash crash = { points[i % DEATHS], i % 3 };
            struct place_worker c;

            if (sql_connect(&c.db, place, SQL_WRITE, NULL) ||
                frontier_shared_open(&c.f, c.db, &worker, NULL))
                _exit(3);
            if (i >= WORKERS)
                frontier_shared_watch(c.f, crash_at, &crash);
            work(&c, 100000);
            _exit(0);
        }
    }
    for (int i = 0; i < WORKERS + DEATHS; i++) {
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        if (i < WORKERS || WIFEXITED(status)) {
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
        }
    }
    usleep((SHORT + 10) * 1000);
    work(&w, 10); /* what the dead have is given back */
    check(w.db);
    place_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_TEST(a_worker_killed_at_any_point_costs_nothing_but_time),
        PLACE_TEST(workers_that_race_and_die_end_every_page_once),
    };

    return place_run(tests, LENGTH(tests), shared_postgres("crash"));
}
