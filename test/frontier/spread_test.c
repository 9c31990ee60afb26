/*
 * A frontier over several databases: hosts and their pages are spread, links
 * between them arrive once, visits end when nothing is left anywhere, and a
 * list of databases that is not the right one is refused.
 *
 * Three SQLite files, and three schemas of PostgreSQL. The web is a tree, as in
 * shared_crash_test.c, so most links lead to a host of another database.
 */
#include "test/frontier/place.h"

#include <signal.h>
#include <sys/wait.h>

#include "frontier/spread.h"
#include "frontier/status.h"
#include "lib/text/sip.h"

enum { DATABASES = 3, PAGES = 30, HOSTS = 6, LONG = 60000 };

enum { NAME = sizeof place + 8 };

static char list[DATABASES * NAME]; /* of this test */
static char one[DATABASES][NAME];

/* Connections of the test's own; none is open while it forks. */
static struct sql *own[DATABASES];

static struct sql *own_of(int i)
{
    if (!own[i])
        GOOD(sql_connect(&own[i], one[i], SQL_WRITE, &why));
    return own[i];
}

static void close_own(void)
{
    for (int i = 0; i < DATABASES; i++) {
        sql_close(own[i]);
        own[i] = NULL;
    }
}

static void join(char to[sizeof list], const char *const *name, int n)
{
    *to = '\0';
    for (int i = 0; i < n; i++) {
        strcat(to, i ? "," : "");
        strcat(to, name[i]);
    }
}

static void make_list(void)
{
    const char *const name[] = { one[0], one[1], one[2] };

    close_own();
    for (int i = 0; i < DATABASES; i++) {
        place_make();
        snprintf(one[i], NAME, "%s%s", place_server ? "" : "sqlite:", place);
    }
    join(list, name, DATABASES);
}

static int setup(void **state)
{
    (void)state;
    make_list();
    return 0;
}

/* Names of hosts, by turns of each of the databases. */
static char host_name[HOSTS][24];

static void choose_names(const struct frontier_spread *f)
{
    int number = 0;

    for (unsigned i = 0; i < HOSTS; i++)
        do
            snprintf(host_name[i], sizeof host_name[i], "h%d.example",
                     number++);
        while (frontier_spread_database(f, span_of(host_name[i])) !=
               i % DATABASES);
}

static struct frontier_spread *open_list(const char *where, unsigned lease)
{
    const struct frontier_worker worker = { .name = "a:1",
                                            .lease = lease,
                                            .patience = 20000 };
    struct frontier_spread *f = NULL;

    GOOD(frontier_spread_open(&f, where, &worker, &why));
    if (strchr(where, ',') && where == list)
        choose_names(f);
    return f;
}

/* The sum over all databases of what a statement returns. */
static int64_t ask_all(const char *text)
{
    int64_t sum = 0;

    for (int i = 0; i < DATABASES; i++)
        sum += place_ask(own_of(i), text);
    return sum;
}

static void run_all(const char *text)
{
    for (int i = 0; i < DATABASES; i++)
        GOOD(sql_run(own_of(i), text, &why));
}

/* --- the web --- */

static void make_link(struct frontier_link *link, char url[40], int64_t visit,
                      int number)
{
    const char *host = host_name[number % HOSTS];

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

static enum seen_code commit(struct frontier_spread *f, struct turn *t)
{
    struct frontier_done done[16] = { { .bytes = 0 } };
    struct frontier_asked asked[HOSTS] = { { .host = 0 } };
    struct frontier_link link[32];
    char url[32][40];
    size_t from[32], links = 0;
    bool fresh[32], uncertain;
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
        };
        for (int k = 1; k <= 2; k++)
            if (2 * t->number[i] + k < PAGES) {
                make_link(&link[links], url[links], t->visit[i],
                          2 * t->number[i] + k);
                from[links++] = i;
            }
    }
    g.links = links;
    return frontier_spread_commit(f, &g, &uncertain, NULL);
}

static bool note_visit(void *owner, const struct frontier_visit *visit)
{
    *(struct frontier_visit *)owner = *visit;
    return false;
}

static enum frontier_visit_state begin(struct frontier_spread *f, int64_t most)
{
    const struct frontier_visit visit = { .visit = span_of("tree@1"),
                                          .name = span_of("tree"),
                                          .most = most,
                                          .shards = 2 };
    enum frontier_visit_state state = FRONTIER_RUNNING;
    struct frontier_link link[2];
    char url[2][40];

    make_link(&link[0], url[0], 0, 0);
    make_link(&link[1], url[1], 0, 1);
    GOOD(frontier_spread_begin(f, &visit, link, 2, &state, &why));
    return state;
}

/* --- a worker --- */

static void end_visits(struct frontier_spread *f)
{
    struct frontier_visit ending = { .id = 0 };
    int64_t records[2];

    GOOD(frontier_spread_finish(f, FRONTIER_AT_ONCE, &why));
    GOOD(frontier_spread_visits(f, FRONTIER_ENDING, 0, note_visit, &ending,
                                &why));
    if (!ending.id)
        return;
    GOOD(frontier_spread_records(f, ending.id, records, 2, &why));
    assert_int_equal(records[0] + records[1], ending.fetched);
    GOOD(frontier_spread_ended(f, ending.id, &why));
}

/* Hosts of one database: a commit is about those. */
static bool work_on(struct frontier_spread *f, size_t *hosts)
{
    struct frontier_return back[HOSTS];
    struct turn t = { .n = 0 };
    bool mine;

    if (frontier_spread_lease(f, HOSTS, 1000000, take_host, &t, NULL) !=
        SEEN_OK)
        return false;
    *hosts = t.hosts;
    for (size_t i = 0; i < t.hosts; i++) {
        char address[20];

        snprintf(address, sizeof address, "a%lld", (long long)t.host[i]);
        if (frontier_spread_address(f, t.host[i], span_of(address), &mine,
                                    NULL) != SEEN_OK)
            return false;
        if (mine)
            GOOD(frontier_spread_next(f, t.host[i], 2, take_page, &t, &why));
        back[i] = (struct frontier_return){ .host = t.host[i] };
    }
    if (t.n && commit(f, &t) != SEEN_OK)
        return false;
    return frontier_spread_release(f, back, t.hosts, NULL) == SEEN_OK;
}

static void work(struct frontier_spread *f, int turns)
{
    enum frontier_visit_state state = FRONTIER_RUNNING;
    size_t hosts;

    GOOD(frontier_spread_join(f, &why));
    while (state != FRONTIER_ENDED && turns--) {
        if (!work_on(f, &hosts)) {
            GOOD(frontier_spread_join(f, &why));
            continue;
        }
        GOOD(frontier_spread_deliver(f, FRONTIER_AT_ONCE, &why));
        end_visits(f);
        state = begin(f, 0);
    }
    GOOD(frontier_spread_leave(f, &why));
}

static void check(void)
{
    assert_int_equal(ask_all("SELECT count(*) FROM visits WHERE state = 2"),
                     DATABASES);
    assert_int_equal(ask_all("SELECT count(*) FROM visits"), DATABASES);
    assert_int_equal(ask_all("SELECT sum(fetched) FROM visits"), PAGES);
    assert_int_equal(ask_all("SELECT sum(links) FROM visits"), PAGES - 2);
    assert_int_equal(ask_all("SELECT sum(pages) FROM workers"), PAGES);
    assert_int_equal(ask_all("SELECT coalesce(sum(records), 0) FROM shards"),
                     PAGES);
    assert_int_equal(ask_all("SELECT count(*) FROM pages"), 0);
    assert_int_equal(ask_all("SELECT count(*) FROM outbox"), 0);
    assert_int_equal(ask_all("SELECT count(*) FROM hosts WHERE name NOT LIKE "
                             "'%://%'"),
                     HOSTS);
    assert_int_equal(ask_all("SELECT count(*) FROM hosts WHERE queued <> 0 OR "
                             "worker <> 0"),
                     0);
    assert_int_equal(ask_all("SELECT count(*) FROM addresses"), 0);
    assert_int_equal(ask_all("SELECT count(*) FROM claims"), 0);
}

TEST(a_visit_over_three_databases_has_every_page_once)
{
    struct frontier_spread *f = open_list(list, LONG);

    work(f, 1000);
    check();
    assert_int_equal(ask_all("SELECT count(*) FROM hosts WHERE id / "
                             "281474976710656 <> (SELECT number FROM "
                             "frontier_databases)"),
                     0);
    frontier_spread_close(f);
}

/* --- which database --- */

TEST(a_host_is_in_the_same_database_for_ever)
{
    /* By another implementation of SipHash-2-4-128. */
    static const struct {
        const char *host;
        uint64_t hi;
    } known[] = {
        { "www.example.org", UINT64_C(0xb786218221e90127) },
        { "127.0.0.1", UINT64_C(0xa1c3b2b0b9b7f208) },
    };
    unsigned char secret[SIP_SECRET];
    uint64_t lo, hi;

    for (unsigned i = 0; i < sizeof secret; i++)
        secret[i] = (unsigned char)i;
    for (size_t i = 0; i < LENGTH(known); i++) {
        sip_hash(secret, known[i].host, strlen(known[i].host), &lo, &hi);
        assert_int_equal(hi, known[i].hi);
    }
}

/* A list that is refused, with these words. */
static void refuse(const char *where, const char *words)
{
    const struct frontier_worker worker = { .name = "a:1", .lease = LONG };
    struct frontier_spread *f;
    struct frontier_status *s;
    struct seen_error why;

    assert_int_equal(frontier_spread_open(&f, where, &worker, &why),
                     SEEN_MISMATCH);
    if (!strstr(why.text, words))
        fail_msg("%s: %s", where, why.text);
    assert_int_not_equal(frontier_status_open(&s, where, NULL), SEEN_OK);
}

/* The same of several. */
static void refuse_all(const char *a, const char *b, const char *c,
                       const char *words)
{
    const char *const name[] = { a, b, c };
    char text[sizeof list];

    join(text, name, c ? 3 : 2);
    refuse(text, words);
}

TEST(a_list_that_is_not_that_of_the_frontier_is_refused)
{
    char was[DATABASES][NAME];

    frontier_spread_close(open_list(list, LONG));
    frontier_spread_close(open_list(list, LONG)); /* again, the same */
    memcpy(was, one, sizeof was);
    refuse_all(was[1], was[0], was[2],
               "number 2 of the databases of this frontier, and named as "
               "number 1");
    refuse_all(was[0], was[1], was[1],
               "database 3 of the frontier is named twice");
    refuse_all(was[0], was[2], was[1],
               "number 3 of the databases of this frontier, and named as "
               "number 2");
    refuse_all(was[0], was[1], NULL,
               "is number 1 of the 3 databases of a frontier");
    refuse(was[1], "is number 2 of the 3 databases of a frontier");
    make_list(); /* others, that are empty */
    refuse_all(was[0], was[1], one[2], "no tables of this frontier");
    frontier_spread_close(open_list(list, LONG));
    refuse_all(was[0], was[1], one[2], "a database of another frontier");
    make_list();
    frontier_spread_close(open_list(one[0], LONG)); /* by itself */
    refuse(list, "has a frontier of one database");
    refuse_all(one[1], one[0], NULL, "no tables of this frontier");
}

/* --- the end of a visit, step by step --- */

/* Pages of hosts of one turn, until there are none. */
static void exhaust(struct frontier_spread *f)
{
    size_t hosts;

    for (int idle = 0; idle < DATABASES; idle = hosts ? 0 : idle + 1)
        assert_true(work_on(f, &hosts));
}

static enum frontier_visit_state state_of(struct frontier_spread *f,
                                          enum frontier_visit_state state)
{
    struct frontier_visit visit = { .id = 0 };

    GOOD(frontier_spread_visits(f, state, 0, note_visit, &visit, &why));
    return visit.id ? state : FRONTIER_ENDED;
}

TEST(a_visit_does_not_end_while_a_link_is_on_its_way)
{
    struct frontier_spread *f = open_list(list, LONG);
    int rounds = 0;

    GOOD(frontier_spread_join(f, &why));
    begin(f, 0);
    for (exhaust(f); ask_all("SELECT count(*) FROM outbox"); exhaust(f)) {
        /* Nothing waits anywhere else. */
        assert_int_equal(ask_all("SELECT sum(queued) FROM hosts"), 0);
        GOOD(frontier_spread_finish(f, FRONTIER_AT_ONCE, &why));
        assert_int_equal(state_of(f, FRONTIER_RUNNING), FRONTIER_RUNNING);
        GOOD(frontier_spread_deliver(f, FRONTIER_AT_ONCE, &why));
        rounds++;
    }
    assert_true(rounds > 1);
    assert_int_equal(ask_all("SELECT sum(fetched) FROM visits"), PAGES);
    GOOD(frontier_spread_finish(f, FRONTIER_AT_ONCE, &why));
    assert_int_equal(state_of(f, FRONTIER_ENDING), FRONTIER_ENDING);
    end_visits(f);
    GOOD(frontier_spread_leave(f, &why));
    check();
    frontier_spread_close(f);
}

TEST(a_visit_that_is_closed_ends_everywhere)
{
    struct frontier_spread *f = open_list(list, LONG);
    struct frontier_visit visit = { .id = 0 };

    GOOD(frontier_spread_join(f, &why));
    begin(f, 0);
    GOOD(frontier_spread_visits(f, FRONTIER_RUNNING, 0, note_visit, &visit,
                                &why));
    /* Not all databases know it yet. */
    GOOD(frontier_spread_close_visit(f, visit.id, &why));
    assert_int_equal(state_of(f, FRONTIER_RUNNING), FRONTIER_RUNNING);
    GOOD(frontier_spread_deliver(f, FRONTIER_AT_ONCE, &why));
    exhaust(f); /* and links are on their way */
    assert_true(ask_all("SELECT count(*) FROM outbox") > 0);
    GOOD(frontier_spread_close_visit(f, visit.id, &why));
    end_visits(f);
    GOOD(frontier_spread_deliver(f, FRONTIER_AT_ONCE, &why));
    assert_int_equal(ask_all("SELECT count(*) FROM visits WHERE state = 2"),
                     DATABASES);
    assert_int_equal(ask_all("SELECT count(*) FROM outbox"), 0);
    assert_int_equal(ask_all("SELECT count(*) FROM pages"), 0);
    frontier_spread_close(f);
}

TEST(a_visit_whose_pages_are_spent_ends_everywhere)
{
    enum { MOST = 7 };
    struct frontier_spread *f = open_list(list, LONG);
    size_t hosts;

    GOOD(frontier_spread_join(f, &why));
    begin(f, MOST);
    while (begin(f, MOST) != FRONTIER_ENDED) {
        assert_true(work_on(f, &hosts));
        GOOD(frontier_spread_deliver(f, FRONTIER_AT_ONCE, &why));
        end_visits(f);
    }
    assert_in_range(ask_all("SELECT sum(fetched) FROM visits"), MOST,
                    PAGES - 1);
    assert_int_equal(ask_all("SELECT count(*) FROM visits WHERE state = 2"),
                     DATABASES);
    assert_int_equal(ask_all("SELECT count(*) FROM pages"), 0);
    frontier_spread_close(f);
}

/* --- addresses --- */

TEST(hosts_of_an_address_belong_to_one_worker_in_all_databases)
{
    struct frontier_spread *a = open_list(list, LONG);
    struct frontier_spread *b = open_list(list, LONG);
    struct turn first = { .n = 0 }, second = { .n = 0 };
    struct frontier_return back = { .due_in = 0 };
    int64_t hosts;
    bool mine;

    GOOD(frontier_spread_join(a, &why));
    begin(a, 0);
    for (int i = 0; i < 3; i++) { /* rows of several hosts */
        exhaust(a);
        GOOD(frontier_spread_deliver(a, FRONTIER_AT_ONCE, &why));
    }
    hosts = ask_all("SELECT count(*) FROM hosts WHERE queued > 0");
    assert_true(hosts > 1);
    GOOD(frontier_spread_join(b, &why));
    for (int i = 0; !first.hosts && i < 2 * DATABASES; i++)
        GOOD(frontier_spread_lease(a, 1, 1000000, take_host, &first, &why));
    assert_true(first.hosts > 0);
    GOOD(frontier_spread_address(a, first.host[0], span_of("192.0.2.1"), &mine,
                                 &why));
    assert_true(mine);
    for (int i = 0; i < DATABASES; i++)
        GOOD(frontier_spread_lease(b, DATABASES * HOSTS, 1000000, take_host,
                                   &second, &why));
    assert_int_equal(first.hosts + second.hosts, hosts);
    for (size_t i = 0; i < second.hosts; i++) {
        GOOD(frontier_spread_address(b, second.host[i], span_of("192.0.2.1"),
                                     &mine, &why));
        assert_false(mine);
    }
    /* They are for the one that has the address. */
    second.hosts = 0;
    for (int i = 0; i < DATABASES; i++)
        GOOD(frontier_spread_lease(b, DATABASES * HOSTS, 1000000, take_host,
                                   &second, &why));
    assert_int_equal(second.hosts, 0);
    first.n = first.hosts;
    for (int i = 0; i < DATABASES; i++)
        GOOD(frontier_spread_lease(a, DATABASES * HOSTS, 1000000, take_host,
                                   &first, &why));
    assert_int_equal(first.hosts, hosts);
    /* And for others, when that one has none of them any more. */
    for (size_t i = 0; i < first.hosts; i++) {
        back.host = first.host[i];
        if (i >= first.n)
            GOOD(frontier_spread_address(a, first.host[i],
                                         span_of("192.0.2.1"), &mine, &why));
        assert_true(mine || i < first.n);
    }
    assert_int_equal(ask_all("SELECT count(*) FROM claims"), 1);
    for (size_t i = 0; i < first.hosts; i++) {
        back.host = first.host[i];
        GOOD(frontier_spread_release(a, &back, 1, &why));
        assert_int_equal(ask_all("SELECT count(*) FROM claims"),
                         i + 1 < first.hosts);
    }
    frontier_spread_close(b);
    frontier_spread_close(a);
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

static bool killed_at(const char *point, int n)
{
    pid_t child;
    int status;

    close_own();
    child = fork();

    assert_true(child >= 0);
    if (!child) {
        struct crash crash = { point, n };
        struct frontier_spread *f = open_list(list, LONG);

        frontier_spread_watch(f, crash_at, &crash);
        work(f, 1000);
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
        { "began", 0 },     { "inserted", 1 },  { "counted", 2 },
        { "committed", 1 }, { "collected", 0 }, { "collected", 7 },
        { "delivered", 0 }, { "delivered", 1 }, { "delivered", 4 },
        { "address", 1 },   { "closed", 0 },    { "closed", 1 },
        { "swept", 1 },     { "finished", 0 },  { "finished", 1 },
    };

    for (size_t i = 0; i < LENGTH(points); i++) {
        struct frontier_spread *f;

        if (place_server && i % 3 != 2) /* they cost more there */
            continue;
        make_list();
        f = open_list(list, LONG);
        if (!killed_at(points[i].point, points[i].n))
            fail_msg("%s %d: not reached", points[i].point, points[i].n);
        /* Instead of waiting for the end of the lease, and of the time for
           which a worker has rows of an outbox. */
        run_all("UPDATE workers SET until = {now} - 1 WHERE until > {now}");
        run_all("UPDATE outbox SET until = 0");
        work(f, 1000);
        check();
        frontier_spread_close(f);
    }
}

TEST(what_was_delivered_is_not_delivered_again)
{
    struct frontier_spread *f = open_list(list, LONG);

    GOOD(frontier_spread_join(f, &why));
    begin(f, 0);
    exhaust(f);
    run_all("CREATE TABLE again AS SELECT * FROM outbox");
    for (int i = 0; i < 8; i++) {
        GOOD(frontier_spread_deliver(f, FRONTIER_AT_ONCE, &why));
        exhaust(f);
        run_all("INSERT INTO outbox SELECT * FROM again a WHERE NOT EXISTS "
                "(SELECT 1 FROM outbox o WHERE o.id = a.id)");
    }
    run_all("DELETE FROM outbox");
    end_visits(f);
    GOOD(frontier_spread_leave(f, &why));
    check();
    frontier_spread_close(f);
}

/* --- reports --- */

struct shown {
    int64_t last, queued, fetched;
    size_t n;
};

static bool show_host(void *owner, const struct frontier_status_host *host)
{
    struct shown *s = owner;

    assert_true(!s->n || host->queued <= 0 || s->last <= host->due_in);
    s->last = host->due_in;
    s->queued += host->queued;
    s->n++;
    return true;
}

static bool show_visit(void *owner, const struct frontier_visit *visit)
{
    struct shown *s = owner;

    s->queued = visit->queued;
    s->fetched = visit->fetched;
    s->n++;
    return true;
}

static bool show_worker(void *owner, const struct frontier_status_worker *w)
{
    struct shown *s = owner;

    assert_true(span_is(w->name, "a:1"));
    s->fetched = w->pages;
    s->n++;
    return true;
}

TEST(a_report_is_about_all_databases)
{
    struct frontier_spread *f = open_list(list, LONG);
    struct shown hosts = { .n = 0 }, visits = { .n = 0 }, workers = { .n = 0 };
    struct frontier_status_sums sums;
    struct frontier_status *s;
    size_t taken;

    GOOD(frontier_spread_join(f, &why));
    begin(f, 0);
    GOOD(frontier_spread_deliver(f, FRONTIER_AT_ONCE, &why));
    for (int i = 0; i < DATABASES; i++)
        assert_true(work_on(f, &taken));
    GOOD(frontier_spread_deliver(f, FRONTIER_AT_ONCE, &why));
    GOOD(frontier_status_open(&s, list, &why));
    GOOD(frontier_status_hosts(s, 100, show_host, &hosts, &why));
    GOOD(frontier_status_visits(s, 100, show_visit, &visits, &why));
    GOOD(frontier_status_workers(s, 100, show_worker, &workers, &why));
    GOOD(frontier_status_sum(s, &sums, &why));
    assert_int_equal(hosts.n,
                     ask_all("SELECT count(*) FROM hosts WHERE name NOT LIKE "
                             "'%://%'"));
    assert_int_equal(visits.n, 1);
    assert_int_equal(workers.n, 1);
    assert_int_equal(visits.queued, hosts.queued);
    assert_int_equal(visits.fetched, workers.fetched);
    assert_true(visits.fetched > 0 && visits.queued > 0);
    assert_int_equal(sums.workers, 1);
    assert_int_equal(sums.visits, 1);
    assert_int_equal(sums.queued, visits.queued);
    frontier_status_close(s);
    frontier_spread_close(f);
}

/* --- lists --- */

TEST(a_comma_separates_where_a_name_follows)
{
    static const struct {
        const char *list;
        unsigned n;
        const char *last;
    } cases[] = {
        { "a.db", 1, "a.db" },
        { "sqlite:a,b.db", 1, "sqlite:a,b.db" },
        { "postgresql://a,b/x", 1, "postgresql://a,b/x" },
        { "postgresql://a,b/x,postgresql://c:1,d/y", 2,
          "postgresql://c:1,d/y" },
        { "a.db,sqlite:b.db,postgres://c/", 3, "postgres://c/" },
        { "sqlite:a,", 1, "sqlite:a," },
        { "", 1, "" },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        char *where[FRONTIER_DATABASES];
        unsigned n;

        GOOD(frontier_spread_split(cases[i].list, where, &n, &why));
        assert_int_equal(n, cases[i].n);
        assert_string_equal(where[n - 1], cases[i].last);
        while (n)
            free(where[--n]);
    }
}

TEST(a_database_is_named_and_once)
{
    static const struct {
        const char *list, *text;
    } cases[] = {
        { "sqlite:a,sqlite:b,sqlite:a",
          "database 3 of the frontier is named twice" },
        { ",sqlite:a", "database 1 of the frontier has no name" },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        char *where[FRONTIER_DATABASES];
        struct seen_error why;
        unsigned n;

        assert_int_equal(frontier_spread_split(cases[i].list, where, &n, &why),
                         SEEN_MISMATCH);
        assert_string_equal(why.text, cases[i].text);
        assert_int_equal(n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_comma_separates_where_a_name_follows),
        cmocka_unit_test(a_database_is_named_and_once),
        cmocka_unit_test(a_host_is_in_the_same_database_for_ever),
        cmocka_unit_test_setup(
            a_visit_over_three_databases_has_every_page_once, setup),
        cmocka_unit_test_setup(
            a_list_that_is_not_that_of_the_frontier_is_refused, setup),
        cmocka_unit_test_setup(a_visit_does_not_end_while_a_link_is_on_its_way,
                               setup),
        cmocka_unit_test_setup(a_visit_that_is_closed_ends_everywhere, setup),
        cmocka_unit_test_setup(a_visit_whose_pages_are_spent_ends_everywhere,
                               setup),
        cmocka_unit_test_setup(
            hosts_of_an_address_belong_to_one_worker_in_all_databases, setup),
        cmocka_unit_test_setup(what_was_delivered_is_not_delivered_again,
                               setup),
        cmocka_unit_test_setup(a_report_is_about_all_databases, setup),
        cmocka_unit_test_setup(
            a_worker_killed_at_any_point_costs_nothing_but_time, setup),
    };

    const int failed = place_run(tests, LENGTH(tests),
                                 shared_postgres("spread"));

    close_own();
    return failed;
}
