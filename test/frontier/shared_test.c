/* The frontier of many workers: what shared.h promises, on each database. */
#include "test/frontier/place.h"

enum { LEASE = 60000, TERMS = 7 };

/* --- visits --- */

/* Links to the URLs "http://HOST/NUMBER", with keys made of the URL. */
struct links {
    struct frontier_link link[600];
    char url[600][48], host[600][24];
    size_t n;
};

static void add_link(struct links *l, int64_t visit, int host, int number)
{
    struct frontier_link *link = &l->link[l->n];
    uint64_t key[2] = { (uint64_t)host * 7919 + 1,
                        (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15) };

    snprintf(l->host[l->n], sizeof l->host[0], "h%d.example", host);
    snprintf(l->url[l->n], sizeof l->url[0], "http://h%d.example/%d", host,
             number);
    *link = (struct frontier_link){
        .visit = visit,
        .host = span_of(l->host[l->n]),
        .page = { .priority = number % 3,
                  .depth = 1,
                  .url = span_of(l->url[l->n]),
                  .path = span_of("L"),
                  .type = span_of("") },
    };
    memcpy(link->key, key, sizeof link->key);
    l->n++;
}

static enum frontier_visit_state begin(struct place_worker *w,
                                       const char *visit, int64_t most,
                                       const struct links *l)
{
    const char *at = strchr(visit, '@');
    const struct frontier_visit v = {
        .visit = span_of(visit),
        .name = { visit, (size_t)(at - visit) },
        .job = span_of("{\"v\": 1}"),
        .seed = UINT64_C(0xfedcba9876543210),
        .shards = 2,
        .most = most,
        .due = 1000 * atoi(at + 1),
        .terms = TERMS,
    };
    enum frontier_visit_state state = FRONTIER_COALESCED;

    GOOD(frontier_shared_begin(w->f, &v, l->link, l->n, &state, &why));
    return state;
}

struct seen_visit {
    struct frontier_visit v;
    char visit[40], job[40];
    int n;
};

static bool take_visit(void *owner, const struct frontier_visit *visit)
{
    struct seen_visit *s = owner;

    s->v = *visit;
    snprintf(s->visit, sizeof s->visit, "%.*s", (int)visit->visit.len,
             visit->visit.text);
    snprintf(s->job, sizeof s->job, "%.*s", (int)visit->job.len,
             visit->job.text);
    s->n++;
    return true;
}

static struct seen_visit visit_of(struct place_worker *w, int64_t id)
{
    struct seen_visit s = { .n = 0 };

    GOOD(frontier_shared_visit(w->f, id, take_visit, &s, &why));
    assert_int_equal(s.n, 1);
    return s;
}

static int count_visits(struct place_worker *w, enum frontier_visit_state in)
{
    struct seen_visit s = { .n = 0 };

    GOOD(frontier_shared_visits(w->f, in, 0, take_visit, &s, &why));
    return s.n;
}

/* --- hosts and pages --- */

struct hosts {
    int64_t id[100], due_in[100], queued[100];
    char name[100][20], address[100][20];
    size_t n;
};

static bool take_host(void *owner, const struct frontier_leased *host)
{
    struct hosts *h = owner;

    assert_true(h->n < 100);
    h->id[h->n] = host->id;
    h->due_in[h->n] = host->due_in;
    h->queued[h->n] = host->queued;
    snprintf(h->name[h->n], sizeof h->name[0], "%.*s", (int)host->name.len,
             host->name.text);
    snprintf(h->address[h->n], sizeof h->address[0], "%.*s",
             (int)host->address.len, host->address.text);
    h->n++;
    return true;
}

static struct hosts lease(struct place_worker *w, unsigned most, int64_t ahead)
{
    struct hosts h = { .n = 0 };

    GOOD(frontier_shared_lease(w->f, most, ahead, take_host, &h, &why));
    return h;
}

struct pages {
    struct frontier_shared_page page[600];
    struct frontier_known known[600];
    char url[600][40];
    size_t n;
};

static bool take_page(void *owner, const struct frontier_shared_page *page)
{
    struct pages *p = owner;

    assert_true(p->n < 600);
    p->page[p->n] = *page;
    if (page->known) { /* its texts do not live as long */
        p->known[p->n] = *page->known;
        p->page[p->n].known = &p->known[p->n];
    }
    snprintf(p->url[p->n], sizeof p->url[0], "%.*s", (int)page->page.url.len,
             page->page.url.text);
    p->n++;
    return true;
}

static struct pages next(struct place_worker *w, int64_t host, unsigned most)
{
    struct pages p = { .n = 0 };

    GOOD(frontier_shared_next(w->f, host, most, take_page, &p, &why));
    return p;
}

/* --- groups --- */

struct group {
    struct frontier_group g;
    struct frontier_done done[600];
    struct frontier_asked asked[100];
    size_t from[600];
    bool fresh[600];
};

static struct group *group_new(void)
{
    struct group *g = calloc(1, sizeof *g);

    assert_non_null(g);
    g->g.done = g->done;
    g->g.asked = g->asked;
    g->g.from = g->from;
    g->g.fresh = g->fresh;
    return g;
}

static struct frontier_asked *ask(struct group *g, int64_t host)
{
    for (size_t i = 0; i < g->g.askeds; i++)
        if (g->asked[i].host == host)
            return &g->asked[i];
    g->asked[g->g.askeds] = (struct frontier_asked){ .host = host,
                                                     .delay = 10 };
    return &g->asked[g->g.askeds++];
}

static void end_page(struct group *g, const struct frontier_shared_page *page,
                     enum frontier_page_end end, int shard)
{
    struct frontier_asked *a = ask(g, page->page.host);

    a->requests++;
    a->fetched += end == FRONTIER_FETCHED;
    a->bytes += 100;
    g->done[g->g.dones++] = (struct frontier_done){ .page = page->page,
                                                    .visit = page->visit,
                                                    .end = end,
                                                    .bytes = 100,
                                                    .shard = shard };
}

static void with_links(struct group *g, struct links *l, size_t from)
{
    g->g.link = l->link;
    g->g.links = l->n;
    for (size_t i = 0; i < l->n; i++)
        g->from[i] = from;
}

static enum seen_code commit(struct place_worker *w, struct group *g)
{
    return frontier_shared_commit(w->f, &g->g, NULL);
}

/* Numbers of the tables must agree, always. */
static void check_sums(struct sql *db)
{
    assert_int_equal(
        place_ask(db, "SELECT count(*) FROM hosts WHERE queued <> (SELECT "
                      "count(*) FROM pages p WHERE p.host = hosts.id AND "
                      "p.state = 0)"),
        0);
    assert_int_equal(
        place_ask(db, "SELECT count(*) FROM visits WHERE state = 0 AND "
                      "(queued <> (SELECT count(*) FROM pages p WHERE p.visit "
                      "= visits.id AND p.state = 0) OR fetched <> (SELECT "
                      "count(*) FROM pages p WHERE p.visit = visits.id AND "
                      "p.state = 1) OR given_up <> (SELECT count(*) FROM "
                      "pages p WHERE p.visit = visits.id AND p.state = 4) OR "
                      "queued <= 0)"),
        0);
    assert_int_equal(
        place_ask(db, "SELECT count(*) FROM visits WHERE state > 0 AND "
                      "queued <> 0"),
        0);
}

TEST(a_visit_runs_from_its_start_pages_to_its_end)
{
    struct place_worker w;
    struct links l = { .n = 0 }, found = { .n = 0 };
    struct group *g = group_new();
    struct seen_visit v;
    struct hosts h;
    struct pages p;
    int64_t records[2];

    place_open(&w, "a:1", LEASE);
    GOOD(frontier_shared_join(w.f, &why));
    assert_true(frontier_shared_number(w.f) > 0);
    add_link(&l, 0, 1, 1);
    add_link(&l, 0, 1, 2);
    add_link(&l, 0, 2, 3);
    add_link(&l, 0, 2, 3);
    assert_int_equal(begin(&w, "news@1", 0, &l), FRONTIER_RUNNING);
    check_sums(w.db);
    v = visit_of(&w, 1);
    assert_string_equal(v.visit, "news@1");
    assert_string_equal(v.job, "{\"v\": 1}");
    assert_true(v.v.seed == UINT64_C(0xfedcba9876543210));
    assert_int_equal(v.v.queued, 3);
    assert_int_equal(v.v.ended_ago, -1);
    assert_true(v.v.began_ago >= 0 && v.v.began_ago < 10000);

    h = lease(&w, 10, 0);
    assert_int_equal(h.n, 2);
    assert_int_equal(lease(&w, 10, 0).n, 0);
    for (size_t i = 0; i < 2; i++) {
        p = next(&w, h.id[i], 10);
        assert_int_equal(p.n, h.queued[i]);
        for (size_t k = 0; k < p.n; k++)
            end_page(g, &p.page[k], FRONTIER_FETCHED, (int)(k % 2));
    }
    add_link(&found, 1, 1, 4);
    add_link(&found, 1, 1, 1); /* known */
    add_link(&found, 1, 3, 5);
    with_links(g, &found, 0);
    assert_int_equal(commit(&w, g), SEEN_OK);
    assert_true(g->fresh[0] && !g->fresh[1] && g->fresh[2]);
    assert_false(g->done[0].refused || g->asked[0].refused);
    check_sums(w.db);
    v = visit_of(&w, 1);
    assert_int_equal(v.v.queued, 2);
    assert_int_equal(v.v.fetched, 3);
    assert_int_equal(v.v.links, 2);
    assert_int_equal(v.v.bytes, 300);
    assert_int_equal(v.v.records, 3);
    GOOD(frontier_shared_records(w.f, 1, records, 2, &why));
    assert_int_equal(records[0], 2);
    assert_int_equal(records[1], 1);

    free(g);
    g = group_new();
    p = next(&w, h.id[0], 10);
    assert_int_equal(p.n, 1);
    assert_string_equal(p.url[0], "http://h1.example/4");
    end_page(g, &p.page[0], FRONTIER_EXCLUDED, -1);
    h = lease(&w, 10, 0);
    assert_int_equal(h.n, 1);
    assert_string_equal(h.name[0], "h3.example");
    p = next(&w, h.id[0], 10);
    end_page(g, &p.page[0], FRONTIER_FAILED, -1);
    assert_int_equal(commit(&w, g), SEEN_OK);
    v = visit_of(&w, 1);
    assert_int_equal(v.v.state, FRONTIER_ENDING);
    assert_int_equal(v.v.excluded, 1);
    assert_int_equal(v.v.failed, 1);
    assert_int_equal(count_visits(&w, FRONTIER_ENDING), 1);
    GOOD(frontier_shared_ended(w.f, 1, &why));
    GOOD(frontier_shared_ended(w.f, 1, &why));
    assert_int_equal(visit_of(&w, 1).v.state, FRONTIER_ENDED);
    assert_int_equal(place_ask(w.db, "SELECT count(*) FROM pages"), 0);
    GOOD(frontier_shared_leave(w.f, &why));
    free(g);
    place_close(&w);
}


/* --- a frontier with a visit of some pages --- */

/* Pages 0 to n - 1 of a host each, by turns. */
static void begin_with(struct place_worker *w, const char *visit, int64_t most,
                       int hosts, int n)
{
    struct links l = { .n = 0 };

    for (int i = 0; i < n; i++)
        add_link(&l, 0, i % hosts, i);
    assert_int_equal(begin(w, visit, most, &l), FRONTIER_RUNNING);
}

static void two_workers(struct place_worker *a, struct place_worker *b)
{
    place_open(a, "a:1", LEASE);
    place_open(b, "b:2", LEASE);
    GOOD(frontier_shared_join(a->f, &why));
    GOOD(frontier_shared_join(b->f, &why));
    assert_true(frontier_shared_number(b->f) > frontier_shared_number(a->f));
}

/* Everything that a commit could change, as one number. */
static int64_t digest(struct sql *db)
{
    return place_ask(
        db, "SELECT (SELECT count(*) * 7 + coalesce(sum(state + 1), 0) * 11 "
            "FROM pages) + (SELECT coalesce(sum(queued * 13 + requests * 17 + "
            "bytes + failures * 19 + fetched * 23), 0) FROM hosts) + (SELECT "
            "coalesce(sum(fetched * 29 + queued * 31 + links * 37 + bytes), "
            "0) FROM visits) + (SELECT count(*) * 41 FROM robots) + (SELECT "
            "coalesce(sum(records), 0) * 43 FROM shards)");
}

/* A group that ends all pages of a host, with a link per page to h90. */
static struct group *group_of(struct place_worker *w, int64_t host,
                              struct links *found)
{
    struct group *g = group_new();
    struct pages p = next(w, host, 100);

    for (size_t i = 0; i < p.n; i++) {
        end_page(g, &p.page[i], FRONTIER_FETCHED, 0);
        add_link(found, p.page[i].visit, 90, 1000 * (int)host + (int)i);
    }
    with_links(g, found, 0);
    return g;
}

TEST(a_second_delivery_of_a_job_changes_nothing)
{
    struct place_worker w;
    struct links l = { .n = 0 };
    int64_t before;

    place_open(&w, "a:1", LEASE);
    begin_with(&w, "news@1", 0, 2, 4);
    before = digest(w.db);
    add_link(&l, 0, 5, 5);
    assert_int_equal(begin(&w, "news@1", 0, &l), FRONTIER_RUNNING);
    assert_int_equal(digest(w.db), before);
    place_close(&w);
}

TEST(a_visit_is_coalesced_while_another_of_its_name_goes_on)
{
    struct place_worker w;
    struct links none = { .n = 0 }, l = { .n = 0 };

    place_open(&w, "a:1", LEASE);
    add_link(&l, 0, 1, 1);
    assert_int_equal(begin(&w, "news@1", 0, &none), FRONTIER_ENDING);
    assert_int_equal(begin(&w, "news@2", 0, &l), FRONTIER_COALESCED);
    assert_int_equal(begin(&w, "news@2", 0, &l), FRONTIER_COALESCED);
    assert_int_equal(begin(&w, "shop@2", 0, &l), FRONTIER_RUNNING);
    GOOD(frontier_shared_ended(w.f, 1, &why));
    assert_int_equal(begin(&w, "news@2", 0, &l), FRONTIER_COALESCED);
    assert_int_equal(begin(&w, "news@3", 0, &l), FRONTIER_RUNNING);
    assert_int_equal(begin(&w, "news@1", 0, &l), FRONTIER_ENDED);
    assert_int_equal(count_visits(&w, FRONTIER_RUNNING), 2);
    check_sums(w.db);
    place_close(&w);
}

TEST(a_worker_whose_lease_ended_changes_nothing)
{
    struct place_worker a, b;
    struct links found = { .n = 0 };
    struct frontier_robots robots = { .origin = span_of("http://h0.example"),
                                      .until_in = 1000 };
    struct frontier_return back = { .due_in = 99999 };
    struct hosts h;
    struct group *g;
    int64_t before, last, first;
    bool mine;

    two_workers(&a, &b);
    begin_with(&a, "news@1", 0, 1, 5);
    h = lease(&a, 10, 0);
    assert_int_equal(h.n, 1);
    first = frontier_shared_number(a.f);
    assert_int_equal(frontier_shared_next_commit(a.f), 1);
    g = group_of(&a, h.id[0], &found);
    g->g.robots = &robots;
    g->g.robotses = 1;
    place_end_lease(b.db, frontier_shared_number(a.f));
    before = digest(b.db);
    assert_int_equal(commit(&a, g), SEEN_ABSENT);
    assert_int_equal(frontier_shared_renew(a.f, NULL), SEEN_ABSENT);
    back.host = h.id[0];
    assert_int_equal(frontier_shared_release(a.f, &back, 1, NULL),
                     SEEN_ABSENT);
    assert_int_equal(frontier_shared_lease(a.f, 1, 0, take_host, &h, NULL),
                     SEEN_ABSENT);
    assert_int_equal(
        frontier_shared_address(a.f, h.id[0], span_of("x"), &mine, NULL),
        SEEN_ABSENT);
    assert_int_equal(digest(b.db), before);
    GOOD(frontier_shared_last_commit(b.f, first, &last, &why));
    assert_int_equal(last, 0);
    /* It gets a new number, and begins anew. */
    GOOD(frontier_shared_join(a.f, &why));
    assert_true(frontier_shared_number(a.f) > frontier_shared_number(b.f));
    assert_int_equal(frontier_shared_next_commit(a.f), 1);
    assert_int_equal(commit(&a, g), SEEN_OK);
    assert_true(g->asked[0].refused && g->done[0].refused);
    GOOD(frontier_shared_last_commit(b.f, frontier_shared_number(a.f), &last,
                                     &why));
    assert_int_equal(last, 1);
    assert_int_equal(frontier_shared_last_commit(b.f, 4711, &last, NULL),
                     SEEN_ABSENT);
    free(g);
    place_close(&a);
    place_close(&b);
}

TEST(pages_of_a_host_that_was_taken_are_refused_with_their_links)
{
    struct place_worker a, b;
    struct links found = { .n = 0 };
    struct group *g = group_new();
    struct hosts h, other;
    struct pages p;

    two_workers(&a, &b);
    begin_with(&a, "news@1", 0, 2, 4);
    h = lease(&a, 10, 0);
    assert_int_equal(h.n, 2);
    for (int i = 0; i < 2; i++) {
        p = next(&a, h.id[i], 1);
        end_page(g, &p.page[0], FRONTIER_FETCHED, 0);
        add_link(&found, 1, 7 + i, 100 + i);
    }
    with_links(g, &found, 0);
    g->from[1] = 1;
    /* b takes the second host, as if it had seen a's lease end. */
    GOOD(sql_run(b.db, "UPDATE hosts SET worker = 0 WHERE name = 'h1.example'",
                 &why));
    other = lease(&b, 10, 1000000);
    assert_int_equal(other.n, 1);
    assert_int_equal(commit(&a, g), SEEN_OK);
    for (int i = 0; i < 2; i++) {
        bool taken = h.id[i] == other.id[0];

        assert_int_equal(g->done[i].refused, taken);
        assert_int_equal(g->asked[i].refused, taken);
        assert_int_equal(g->fresh[i], !taken);
    }
    check_sums(a.db);
    assert_int_equal(visit_of(&a, 1).v.fetched, 1);
    assert_int_equal(visit_of(&a, 1).v.records, 1);
    assert_int_equal(place_ask(a.db, "SELECT requests FROM hosts WHERE name = "
                                     "'h1.example'"),
                     0);
    free(g);
    place_close(&a);
    place_close(&b);
}

TEST(a_host_of_a_dead_worker_waits_its_delay_after_the_end_of_the_lease)
{
    struct place_worker a, b;
    struct group *g = group_new();
    struct hosts h;

    two_workers(&a, &b);
    begin_with(&a, "news@1", 0, 2, 4);
    h = lease(&a, 10, 0);
    ask(g, h.id[0])->delay = 50000;
    assert_int_equal(commit(&a, g), SEEN_OK);
    place_end_lease(b.db, frontier_shared_number(a.f));
    assert_int_equal(lease(&b, 10, 2000).n, 0);
    h = lease(&b, 10, 4000); /* its delay is not known: 3 s */
    assert_int_equal(h.n, 1);
    assert_in_range(h.due_in[0], 1000, 3000);
    h = lease(&b, 10, 60000);
    assert_int_equal(h.n, 1);
    assert_in_range(h.due_in[0], 40000, 50000);
    free(g);
    place_close(&a);
    place_close(&b);
}

TEST(the_budget_of_a_visit_ends_it_and_leaves_the_rest)
{
    struct place_worker a, b;
    struct links found = { .n = 0 };
    struct group *g = group_new(), *late;
    struct seen_visit v;
    struct hosts h;
    struct pages p;
    int64_t before;

    two_workers(&a, &b);
    begin_with(&a, "news@1", 3, 2, 8);
    h = lease(&a, 1, 0);
    late = group_of(&b, lease(&b, 1, 0).id[0], &found);
    p = next(&a, h.id[0], 3);
    assert_int_equal(p.n, 3);
    for (int i = 0; i < 3; i++)
        end_page(g, &p.page[i], FRONTIER_FETCHED, 0);
    assert_int_equal(commit(&a, g), SEEN_OK);
    v = visit_of(&a, 1);
    assert_int_equal(v.v.state, FRONTIER_ENDING);
    assert_int_equal(v.v.fetched, 3);
    assert_int_equal(v.v.left, 5);
    assert_int_equal(v.v.queued, 0);
    assert_int_equal(next(&a, h.id[0], 10).n, 0);
    /* What b fetched meanwhile is too late, but its host was asked. */
    assert_int_equal(commit(&b, late), SEEN_OK);
    for (size_t i = 0; i < late->g.dones; i++)
        assert_true(late->done[i].refused && !late->fresh[i]);
    assert_false(late->asked[0].refused);
    v = visit_of(&a, 1);
    assert_int_equal(v.v.fetched, 3);
    assert_int_equal(v.v.left, 5);
    assert_int_equal(v.v.records, 3);
    GOOD(frontier_shared_ended(b.f, 1, &why));
    before = digest(a.db);
    GOOD(frontier_shared_ended(a.f, 1, &why));
    assert_int_equal(digest(a.db), before);
    check_sums(a.db);
    assert_int_equal(place_ask(a.db, "SELECT sum(queued) FROM hosts"), 0);
    free(g);
    free(late);
    place_close(&a);
    place_close(&b);
}

TEST(a_visit_that_is_closed_changes_no_more)
{
    struct place_worker w;
    struct links found = { .n = 0 };
    struct group *g;

    place_open(&w, "a:1", LEASE);
    GOOD(frontier_shared_join(w.f, &why));
    begin_with(&w, "news@1", 0, 1, 5);
    g = group_of(&w, lease(&w, 1, 0).id[0], &found);
    for (int i = 0; i < 2; i++) {
        GOOD(frontier_shared_close_visit(w.f, 1, &why));
        assert_int_equal(visit_of(&w, 1).v.state, FRONTIER_ENDING);
        assert_int_equal(visit_of(&w, 1).v.left, 5);
    }
    assert_int_equal(commit(&w, g), SEEN_OK);
    assert_true(g->done[0].refused && !g->fresh[0]);
    assert_int_equal(visit_of(&w, 1).v.fetched, 0);
    assert_int_equal(next(&w, g->asked[0].host, 10).n, 0);
    GOOD(frontier_shared_ended(w.f, 1, &why));
    check_sums(w.db);
    free(g);
    place_close(&w);
}

TEST(a_visit_that_runs_cannot_be_ended)
{
    struct place_worker w;

    place_open(&w, "a:1", LEASE);
    begin_with(&w, "news@1", 0, 1, 1);
    assert_int_equal(frontier_shared_ended(w.f, 1, NULL), SEEN_RANGE);
    assert_int_equal(frontier_shared_ended(w.f, 9, NULL), SEEN_ABSENT);
    place_close(&w);
}

TEST(a_stopped_host_leaves_its_pages_until_a_later_visit)
{
    struct place_worker w;
    struct links found = { .n = 0 };
    struct group *g = group_new();
    struct hosts h;
    struct pages p;

    place_open(&w, "a:1", LEASE);
    GOOD(frontier_shared_join(w.f, &why));
    begin_with(&w, "news@1", 0, 2, 6);
    begin_with(&w, "shop@1", 0, 1, 2); /* only at h0 */
    h = lease(&w, 10, 0);
    assert_string_equal(h.name[0], "h0.example");
    assert_int_equal(h.queued[0], 5);
    p = next(&w, h.id[0], 1);
    end_page(g, &p.page[0], FRONTIER_FAILED, -1);
    g->asked[0].stopped = "no such host";
    g->asked[0].failures = 5;
    g->asked[0].note = span_of("DNS: NXDOMAIN");
    assert_int_equal(commit(&w, g), SEEN_OK);
    check_sums(w.db);
    assert_int_equal(visit_of(&w, 1).v.left, 2);
    assert_int_equal(visit_of(&w, 1).v.failed, 1);
    assert_int_equal(visit_of(&w, 1).v.queued, 3);
    assert_int_equal(visit_of(&w, 2).v.state, FRONTIER_ENDING);
    assert_int_equal(visit_of(&w, 2).v.left, 2);
    assert_int_equal(place_ask(w.db, "SELECT failures FROM hosts WHERE name = "
                                     "'h0.example'"),
                     0);
    /* A link to it that is found later in this visit is left at once. */
    free(g);
    g = group_new();
    p = next(&w, h.id[1], 1);
    end_page(g, &p.page[0], FRONTIER_FETCHED, -1);
    add_link(&found, 1, 0, 77);
    with_links(g, &found, 0);
    assert_int_equal(commit(&w, g), SEEN_OK);
    assert_true(g->fresh[0]);
    assert_int_equal(visit_of(&w, 1).v.left, 3);
    assert_int_equal(next(&w, h.id[0], 10).n, 0);
    check_sums(w.db);
    /* A later visit asks it again. */
    begin_with(&w, "late@1", 0, 1, 1);
    assert_int_equal(next(&w, h.id[0], 10).n, 1);
    free(g);
    place_close(&w);
}

TEST(hosts_of_an_address_belong_to_one_worker)
{
    const struct seen_span address = span_of("192.0.2.1");
    struct place_worker a, b;
    struct frontier_return back = { .due_in = 0 };
    struct hosts ha, hb;
    bool mine;

    two_workers(&a, &b);
    begin_with(&a, "news@1", 0, 2, 4);
    ha = lease(&a, 1, 0);
    hb = lease(&b, 1, 0);
    GOOD(frontier_shared_address(a.f, ha.id[0], address, &mine, &why));
    assert_true(mine);
    GOOD(frontier_shared_address(a.f, ha.id[0], address, &mine, &why));
    assert_true(mine);
    GOOD(frontier_shared_address(b.f, hb.id[0], address, &mine, &why));
    assert_false(mine);
    /* It was given back, and goes to a. */
    assert_int_equal(lease(&b, 10, 0).n, 0);
    hb = lease(&a, 10, 0);
    assert_int_equal(hb.n, 1);
    assert_string_equal(hb.address[0], "192.0.2.1");
    /* While a has one of the two hosts, the address is its own. */
    back.host = hb.id[0];
    GOOD(frontier_shared_release(a.f, &back, 1, &why));
    assert_int_equal(lease(&b, 10, 0).n, 0);
    back.host = ha.id[0];
    GOOD(frontier_shared_release(a.f, &back, 1, &why));
    assert_int_equal(lease(&b, 10, 0).n, 2);
    /* A host that is not its own. */
    GOOD(frontier_shared_address(a.f, ha.id[0], address, &mine, &why));
    assert_false(mine);
    /* A dead worker's address is free. */
    GOOD(frontier_shared_address(b.f, ha.id[0], address, &mine, &why));
    assert_true(mine);
    place_end_lease(a.db, frontier_shared_number(b.f));
    ha = lease(&a, 10, 100000);
    assert_int_equal(ha.n, 2);
    GOOD(frontier_shared_address(a.f, ha.id[0], address, &mine, &why));
    assert_true(mine);
    place_close(&a);
    place_close(&b);
}

TEST(pages_come_by_priority_and_wait_again)
{
    struct place_worker w;
    struct group *g = group_new();
    struct hosts h;
    struct pages p, q;

    place_open(&w, "a:1", LEASE);
    GOOD(frontier_shared_join(w.f, &why));
    begin_with(&w, "news@1", 0, 1, 6); /* priorities 0 1 2 0 1 2 */
    h = lease(&w, 10, 0);
    p = next(&w, h.id[0], 4);
    assert_int_equal(p.n, 4);
    assert_string_equal(p.url[0], "http://h0.example/0");
    assert_string_equal(p.url[1], "http://h0.example/3");
    assert_string_equal(p.url[2], "http://h0.example/1");
    assert_string_equal(p.url[3], "http://h0.example/4");
    end_page(g, &p.page[0], FRONTIER_AGAIN, -1);
    g->done[0].page.attempts = 2;
    g->done[0].page.priority = 9;
    g->done[0].page.flags = 5;
    assert_int_equal(commit(&w, g), SEEN_OK);
    q = next(&w, h.id[0], 10);
    assert_int_equal(q.n, 6);
    assert_int_equal(q.page[5].page.id, p.page[0].page.id);
    assert_int_equal(q.page[5].page.attempts, 2);
    assert_int_equal(q.page[5].page.flags, 5);
    assert_memory_equal(q.page[5].key, p.page[0].key, 16);
    check_sums(w.db);
    free(g);
    place_close(&w);
}

static bool count_key(void *owner, struct seen_span key)
{
    int *n = owner;

    assert_int_equal(key.len, 16);
    ++*n;
    return true;
}

static int count_aside(struct place_worker *w)
{
    int n = 0;

    GOOD(frontier_shared_aside(w->f, count_key, &n, &why));
    return n;
}

TEST(a_suspect_is_marked_its_deaths_are_counted_and_it_is_set_aside)
{
    const unsigned once = 4 | FRONTIER_SUSPECT;
    struct frontier_suspect suspect = { .alone = false };
    struct group *g = group_new();
    struct place_worker w;
    struct hosts h;
    struct pages p;

    place_open(&w, "a:1", LEASE);
    /* The tables of an earlier version lack this one. */
    GOOD(sql_run(w.db, "DROP TABLE aside", &why));
    GOOD(frontier_shared_create(w.db, &why));
    GOOD(frontier_shared_join(w.f, &why));
    begin_with(&w, "news@1", 0, 1, 3);
    h = lease(&w, 10, 0);
    p = next(&w, h.id[0], 1);
    GOOD(sql_run(w.db, "UPDATE pages SET flags = 4", &why));
    suspect.id = p.page[0].page.id;
    suspect.visit = p.page[0].visit;
    /* Not another page, whose number it had in another frontier. */
    GOOD(frontier_shared_suspect(w.f, &suspect, 1, &why));
    assert_int_equal(next(&w, h.id[0], 1).page[0].page.flags, 4);
    memcpy(suspect.key, p.page[0].key, sizeof suspect.key);
    GOOD(frontier_shared_suspect(w.f, &suspect, 1, &why));
    assert_int_equal(next(&w, h.id[0], 1).page[0].page.flags, once);
    suspect.alone = true;
    for (unsigned deaths = 1; deaths < 6; deaths++) {
        GOOD(frontier_shared_suspect(w.f, &suspect, 1, &why));
        p = next(&w, h.id[0], 3);
        assert_int_equal(p.page[0].page.flags,
                         once + (deaths < 3 ? deaths : 3) * FRONTIER_DEATH);
        assert_int_equal(p.page[1].page.flags, 4);
    }
    assert_int_equal(once + 3 * FRONTIER_DEATH, once | FRONTIER_DEATHS);
    end_page(g, &p.page[0], FRONTIER_ASIDE, -1);
    assert_int_equal(commit(&w, g), SEEN_OK);
    assert_int_equal(visit_of(&w, 1).v.left, 1);
    assert_int_equal(next(&w, h.id[0], 3).n, 2);
    check_sums(w.db);
    assert_int_equal(count_aside(&w), 1);
    /* A page that is done is no suspect. */
    GOOD(frontier_shared_suspect(w.f, &suspect, 1, &why));
    GOOD(frontier_shared_retry_aside(w.f, &why));
    assert_int_equal(count_aside(&w), 0);
    free(g);
    place_close(&w);
}

static void die_of(struct place_worker *w, const char *origin, bool alone)
{
    struct frontier_suspect suspect = { .key = { 1, 2, 3 },
                                        .alone = alone,
                                        .origin = span_of(origin) };

    GOOD(frontier_shared_suspect(w->f, &suspect, 1, &why));
}

TEST(a_robots_txt_is_set_aside_after_three_deaths_in_a_month)
{
    struct place_worker w;
    int n = 0;

    place_open(&w, "a:1", LEASE);
    GOOD(frontier_shared_join(w.f, &why));
    die_of(&w, "http://a.example", false);
    die_of(&w, "http://a.example", true);
    die_of(&w, "http://a.example", true);
    die_of(&w, "http://b.example", true);
    GOOD(frontier_shared_suspects(w.f, count_key, &n, &why));
    assert_int_equal(n, 2);
    GOOD(sql_run(w.db, "UPDATE suspect_robots SET noted = noted - 2600000000",
                 &why));
    die_of(&w, "http://a.example", true);
    assert_int_equal(count_aside(&w), 0);
    die_of(&w, "http://a.example", true);
    die_of(&w, "http://a.example", true);
    assert_int_equal(count_aside(&w), 1);
    die_of(&w, "http://a.example", true);
    assert_int_equal(count_aside(&w), 1);
    assert_int_equal(place_ask(w.db, "SELECT count(*) FROM aside WHERE url = "
                                     "'http://a.example/robots.txt'"),
                     1);
    GOOD(frontier_shared_retry_aside(w.f, &why));
    assert_int_equal(count_aside(&w), 0);
    n = 0;
    GOOD(frontier_shared_suspects(w.f, count_key, &n, &why));
    assert_int_equal(n, 0);
    place_close(&w);
}

TEST(robots_and_due_times_are_kept)
{
    const struct seen_span origin = span_of("http://h0.example");
    const char body[] = "User-agent: *\n\xff\0x";
    struct frontier_robots robots = { .origin = origin,
                                      .status = 200,
                                      .until_in = 50000,
                                      .body = { body, sizeof body - 1 } },
                           found;
    struct frontier_return back;
    struct place_worker w;
    struct group *g = group_new();
    struct hosts h;

    place_open(&w, "a:1", LEASE);
    GOOD(frontier_shared_join(w.f, &why));
    begin_with(&w, "news@1", 0, 1, 2);
    h = lease(&w, 10, 0);
    assert_int_equal(frontier_shared_robots(w.f, origin, &found, NULL),
                     SEEN_ABSENT);
    g->g.robots = &robots;
    g->g.robotses = 1;
    ask(g, h.id[0])->due_in = 30000;
    assert_int_equal(commit(&w, g), SEEN_OK);
    GOOD(frontier_shared_robots(w.f, origin, &found, &why));
    assert_int_equal(found.status, 200);
    assert_in_range(found.until_in, 40000, 50000);
    assert_int_equal(found.body.len, sizeof body - 1);
    assert_memory_equal(found.body.text, body, sizeof body - 1);
    /* A due time never goes back: 30 s stay 30 s. */
    back = (struct frontier_return){ .host = h.id[0], .due_in = 1000 };
    GOOD(frontier_shared_release(w.f, &back, 1, &why));
    assert_int_equal(lease(&w, 10, 20000).n, 0);
    h = lease(&w, 10, 40000);
    assert_int_equal(h.n, 1);
    assert_in_range(h.due_in[0], 20000, 30000);
    /* One that is too old is not known. */
    robots.until_in = -1;
    g->g.askeds = 0;
    assert_int_equal(commit(&w, g), SEEN_OK);
    assert_int_equal(frontier_shared_robots(w.f, origin, &found, NULL),
                     SEEN_ABSENT);
    free(g);
    place_close(&w);
}

/* Its robots.txt was moved to a host of another worker. */
TEST(a_host_goes_to_the_worker_that_has_another_one)
{
    const struct seen_span address = span_of("192.0.2.1");
    struct place_worker a, b;
    struct frontier_leased host;
    struct hosts one, two;
    bool given, mine;

    two_workers(&a, &b);
    begin_with(&a, "news@1", 0, 2, 2);
    one = lease(&a, 1, 0);
    two = lease(&b, 1, 0);
    /* Nobody knows where that is. */
    assert_int_equal(frontier_shared_take(a.f, span_of(two.name[0]), one.id[0],
                                          &host, &given, NULL),
                     SEEN_BUSY);
    assert_false(given);
    GOOD(frontier_shared_address(b.f, two.id[0], address, &mine, &why));
    assert_true(mine);
    assert_int_equal(frontier_shared_take(a.f, span_of(two.name[0]), one.id[0],
                                          &host, &given, NULL),
                     SEEN_BUSY);
    assert_true(given);
    assert_int_equal(lease(&a, 10, 0).n, 0);
    /* Each of the two may want that of the other at once. */
    GOOD(frontier_shared_take(b.f, span_of(one.name[0]), two.id[0], &host,
                              &given, &why));
    assert_false(given);
    assert_int_equal(host.id, one.id[0]);
    place_close(&a);
    place_close(&b);
}

TEST(one_host_is_taken_by_its_name_and_the_load_is_counted)
{
    struct place_worker a, b;
    struct frontier_leased host;
    struct frontier_load load;
    bool given;

    two_workers(&a, &b);
    begin_with(&a, "news@1", 0, 3, 6);
    GOOD(frontier_shared_load(a.f, &load, &why));
    assert_int_equal(load.workers, 2);
    assert_int_equal(load.hosts, 3);
    GOOD(frontier_shared_take(a.f, span_of("new.example"), 0, &host, &given,
                              &why));
    assert_true(span_is(host.name, "new.example"));
    GOOD(frontier_shared_take(a.f, span_of("new.example"), 0, &host, &given,
                              &why));
    assert_int_equal(frontier_shared_take(b.f, span_of("new.example"), 0,
                                          &host, &given, NULL),
                     SEEN_BUSY);
    GOOD(frontier_shared_take(a.f, span_of("h1.example"), 0, &host, &given,
                              &why));
    assert_int_equal(host.queued, 2);
    assert_int_equal(lease(&b, 10, 0).n, 2);
    GOOD(frontier_shared_load(b.f, &load, &why));
    assert_int_equal(load.hosts, 3);
    GOOD(frontier_shared_leave(a.f, &why));
    GOOD(frontier_shared_take(b.f, span_of("new.example"), 0, &host, &given,
                              &why));
    GOOD(frontier_shared_load(b.f, &load, &why));
    assert_int_equal(load.workers, 1);
    place_close(&a);
    place_close(&b);
}

TEST(a_worker_that_leaves_gives_everything_back)
{
    struct place_worker a, b;
    bool mine;
    struct hosts h;

    two_workers(&a, &b);
    begin_with(&a, "news@1", 0, 40, 80);
    h = lease(&a, 40, 0);
    assert_int_equal(h.n, 40);
    GOOD(frontier_shared_address(a.f, h.id[0], span_of("x"), &mine, &why));
    GOOD(frontier_shared_leave(a.f, &why));
    assert_int_equal(frontier_shared_number(a.f), 0);
    assert_int_equal(place_ask(a.db, "SELECT count(*) FROM addresses"), 0);
    assert_int_equal(lease(&b, 100, 0).n, 0); /* polite: their delay */
    assert_int_equal(lease(&b, 100, 5000).n, 40);
    place_close(&a);
    place_close(&b);
}

TEST(a_large_visit_is_deleted_in_batches)
{
    struct place_worker a, b;
    struct links found = { .n = 0 };
    struct group *g = group_new();
    struct hosts h;
    struct pages p;

    two_workers(&a, &b);
    begin_with(&a, "news@1", 1, 7, 599);
    begin_with(&a, "shop@1", 0, 7, 21);
    h = lease(&a, 1, 0);
    p = next(&a, h.id[0], 1);
    end_page(g, &p.page[0], FRONTIER_FETCHED, -1);
    add_link(&found, 1, 3, 700);
    with_links(g, &found, 0);
    assert_int_equal(commit(&a, g), SEEN_OK);
    assert_int_equal(visit_of(&a, 1).v.left, 599);
    GOOD(frontier_shared_ended(b.f, 1, &why));
    assert_int_equal(place_ask(a.db, "SELECT count(*) FROM pages"), 21);
    check_sums(a.db);
    free(g);
    place_close(&a);
    place_close(&b);
}

TEST(old_visits_and_dead_workers_are_forgotten)
{
    const struct frontier_worker worker = {
        .name = "c:3", .lease = LEASE, .patience = 1000, .keep = 3600 * 1000
    };
    struct place_worker a, b;
    struct links none = { .n = 0 };
    struct frontier_shared *f;

    two_workers(&a, &b);
    begin(&a, "old@1", 0, &none);
    begin(&a, "new@1", 0, &none);
    begin(&a, "now@1", 0, &none);
    GOOD(frontier_shared_ended(a.f, 1, &why));
    GOOD(frontier_shared_ended(a.f, 2, &why));
    GOOD(sql_run(a.db,
                 "UPDATE visits SET ended = ended - 7200000 WHERE visit = "
                 "'old@1'; UPDATE workers SET until = until - 90000000, gone "
                 "= 1 WHERE name = 'b:2'",
                 &why));
    GOOD(frontier_shared_open(&f, a.db, &worker, &why));
    GOOD(frontier_shared_join(f, &why));
    assert_int_equal(place_ask(a.db, "SELECT count(*) FROM visits"), 2);
    assert_int_equal(place_ask(a.db, "SELECT count(*) FROM workers"), 2);
    assert_int_equal(frontier_shared_number(f), 3);
    frontier_shared_close(f);
    place_close(&a);
    place_close(&b);
}

/* --- known pages --- */

static int64_t weigh(void *owner, struct seen_span url, unsigned depth)
{
    assert_non_null(owner);
    assert_true(url.len);
    return (int64_t)depth;
}

/* What is known of a page: when it is due, and on which terms. */
static void know(struct frontier_known *known,
                 const struct frontier_shared_page *page, const char *url,
                 int64_t due, int64_t terms)
{
    *known = (struct frontier_known){
        .first = 1,
        .last = 2,
        .due = due,
        .checks = page->known ? page->known->checks + 1 : 0,
        .terms = terms,
        .status = 200,
        .depth = 1,
        .url = span_of(url),
        .type = span_of("news"),
        .etag = { "\"\0\xff\"", 4 },
        .modified = span_of(""),
        .digest = span_of("SHA"),
        .place = span_of(""),
        .history = { "\0\0\0\1", 4 },
    };
    memcpy(known->key, page->key, sizeof known->key);
}

/* End all pages of hosts that the worker takes. Of three, one is due in every
   visit, one after the visit @2, and one is known on other terms. */
static size_t end_all(struct place_worker *w, struct group *g,
                      struct frontier_known *known, struct pages *p)
{
    struct hosts h = lease(w, 100, 0);
    size_t n = 0;

    for (size_t i = 0; i < h.n; i++) {
        p->n = 0;
        GOOD(frontier_shared_next(w->f, h.id[i], 600, take_page, p, &why));
        for (size_t k = 0; k < p->n; k++, n++) {
            int number = atoi(strrchr(p->url[k], '/') + 1);

            know(&known[n], &p->page[k], p->url[k], number % 3 == 1 ? 2500 : 0,
                 TERMS + (number % 3 == 2));
            end_page(g, &p->page[k], FRONTIER_FETCHED, -1);
            g->done[n].known = &known[n];
        }
        assert_int_equal(commit(w, g), SEEN_OK);
    }
    return n;
}

/* Give all hosts back. */
static void go_and_come(struct place_worker *w)
{
    GOOD(frontier_shared_leave(w->f, &why));
    GOOD(sql_run(w->db, "UPDATE hosts SET due = 0", &why));
    GOOD(frontier_shared_join(w->f, &why));
}

static void end_visit(struct place_worker *w, int64_t id)
{
    assert_int_equal(visit_of(w, id).v.state, FRONTIER_ENDING);
    GOOD(frontier_shared_ended(w->f, id, &why));
}

/* A first visit of 600 pages of one host, and what is known of them. */
static void visit_once(struct place_worker *w)
{
    struct frontier_known *known = calloc(600, sizeof *known);
    struct pages *p = calloc(1, sizeof *p);
    struct group *g = group_new();

    begin_with(w, "news@1", 0, 1, 600);
    assert_false(visit_of(w, 1).v.recalling);
    assert_int_equal(end_all(w, g, known, p), 600);
    end_visit(w, 1);
    assert_int_equal(place_ask(w->db, "SELECT count(*) FROM known"), 600);
    go_and_come(w);
    free(g);
    free(p);
    free(known);
}

TEST(known_pages_that_are_due_come_back_in_batches_by_any_worker)
{
    struct place_worker a, b;
    struct links found = { .n = 0 };
    struct group *g = group_new();
    struct pages *p = calloc(1, sizeof *p);
    bool more = true;
    struct hosts h;
    int calls = 0;

    two_workers(&a, &b);
    visit_once(&a);
    begin_with(&a, "news@2", 0, 1, 1); /* page 0 */
    assert_true(visit_of(&a, 2).v.recalling);
    assert_false(visit_of(&a, 2).v.thorough);

    /* The start page is done, and the visit goes on. Of links on it one is
       known and not due, and one is known on other terms. */
    h = lease(&a, 10, 0);
    p->n = 0;
    GOOD(frontier_shared_next(a.f, h.id[0], 600, take_page, p, &why));
    assert_int_equal(p->n, 1);
    assert_int_equal(p->known[0].status, 200);
    assert_int_equal(p->known[0].etag.len, 4);
    end_page(g, &p->page[0], FRONTIER_FETCHED, -1);
    add_link(&found, 2, 0, 1);
    add_link(&found, 2, 0, 2);
    add_link(&found, 2, 0, 3);
    with_links(g, &found, 0);
    assert_int_equal(commit(&a, g), SEEN_OK);
    assert_true(!g->fresh[0] && g->fresh[1] && g->fresh[2]);
    assert_int_equal(visit_of(&a, 2).v.queued, 2);

    while (more) {
        struct place_worker *w = calls++ % 2 ? &a : &b;

        GOOD(frontier_shared_recall(w->f, 2, weigh, w, &more, &why));
        check_sums(a.db);
    }
    assert_int_equal(calls, 3);
    GOOD(frontier_shared_recall(a.f, 2, weigh, &a, &more, &why));
    assert_false(more);
    assert_false(visit_of(&a, 2).v.recalling);
    assert_int_equal(visit_of(&a, 2).v.not_due, 200);
    /* 200 are due, of which one was a start page; and page 2. */
    assert_int_equal(visit_of(&a, 2).v.queued, 200);
    p->n = 0;
    GOOD(frontier_shared_next(a.f, h.id[0], 600, take_page, p, &why));
    assert_int_equal(p->n, 200);
    assert_int_equal(p->page[199].page.depth, 1);
    place_close(&a);
    place_close(&b);
    free(g);
    free(p);
}

TEST(a_visit_whose_known_pages_are_not_due_ends_when_they_were_looked_at)
{
    struct place_worker a, b;
    struct group *g = group_new();
    struct links l = { .n = 0 };
    struct pages p;
    bool more = true;
    struct hosts h;

    two_workers(&a, &b);
    visit_once(&a);
    GOOD(sql_run(a.db, "UPDATE known SET due = 9000, terms = 7", &why));
    add_link(&l, 0, 0, 1);
    assert_int_equal(begin(&a, "news@2", 0, &l), FRONTIER_RUNNING);
    h = lease(&a, 1, 0);
    p = next(&a, h.id[0], 10);
    end_page(g, &p.page[0], FRONTIER_FETCHED, -1);
    assert_int_equal(commit(&a, g), SEEN_OK);
    assert_int_equal(visit_of(&a, 2).v.state, FRONTIER_RUNNING);
    while (more)
        GOOD(frontier_shared_recall(b.f, 2, weigh, &b, &more, &why));
    assert_int_equal(visit_of(&a, 2).v.not_due, 599);
    end_visit(&b, 2);

    /* A budget ends a visit before: what was not looked at is left, and the
       next visit cannot trust that all links of unchanged pages are known. */
    go_and_come(&a);
    assert_int_equal(begin(&a, "news@10", 1, &l), FRONTIER_RUNNING);
    h = lease(&a, 1, 0);
    p = next(&a, h.id[0], 10);
    free(g);
    g = group_new();
    end_page(g, &p.page[0], FRONTIER_FETCHED, -1);
    assert_int_equal(commit(&a, g), SEEN_OK);
    assert_int_equal(visit_of(&a, 3).v.left, 600);
    end_visit(&a, 3);
    assert_int_equal(begin(&a, "news@11", 1, &l), FRONTIER_RUNNING);
    assert_true(visit_of(&a, 4).v.thorough);
    place_close(&a);
    place_close(&b);
    free(g);
}

TEST(a_page_that_is_refused_is_not_known)
{
    struct place_worker a, b;
    struct group *g = group_new();
    struct frontier_known known;
    struct pages p;
    struct hosts h;

    two_workers(&a, &b);
    begin_with(&a, "news@1", 0, 1, 2);
    h = lease(&a, 1, 0);
    p = next(&a, h.id[0], 10);
    know(&known, &p.page[0], p.url[0], 0, TERMS);
    end_page(g, &p.page[0], FRONTIER_FETCHED, -1);
    g->done[0].known = &known;
    assert_int_equal(commit(&b, g), SEEN_OK); /* b does not have the host */
    assert_true(g->done[0].refused);
    assert_int_equal(place_ask(a.db, "SELECT count(*) FROM known"), 0);
    place_end_lease(a.db, frontier_shared_number(a.f));
    assert_int_equal(commit(&a, g), SEEN_ABSENT);
    assert_int_equal(place_ask(a.db, "SELECT count(*) FROM known"), 0);
    place_close(&a);
    place_close(&b);
    free(g);
}

/* --- versions --- */

/* What version 1 did not have. */
static void go_back_to_version_1(struct sql *db)
{
    GOOD(sql_run(db,
                 "DROP TABLE known; ALTER TABLE workers RENAME COLUMN joined "
                 "TO began; ALTER TABLE visits DROP COLUMN due; ALTER "
                 "TABLE visits DROP COLUMN terms; ALTER TABLE visits DROP "
                 "COLUMN recalled; ALTER TABLE visits DROP COLUMN not_due; "
                 "ALTER TABLE visits DROP COLUMN thorough; ALTER TABLE "
                 "visits DROP COLUMN aside; UPDATE "
                 "frontier_version SET version = 1",
                 &why));
}

TEST(tables_of_version_1_are_converted_when_nobody_works)
{
    const struct frontier_worker worker = { .name = "c:3", .lease = LEASE };
    struct place_worker w, v, late;
    struct sql_statement *join;
    struct seen_error busy;

    place_open(&w, "a:1", LEASE);
    GOOD(frontier_shared_join(w.f, &why));
    begin_with(&w, "news@1", 0, 2, 10);
    frontier_shared_close(w.f);
    sql_close(w.db);
    GOOD(sql_connect(&v.db, place, SQL_WRITE, &why));
    go_back_to_version_1(v.db);
    assert_int_equal(frontier_shared_create(v.db, &busy), SEEN_BUSY);
    assert_non_null(strstr(busy.text, "end them"));
    assert_int_equal(place_ask(v.db, "SELECT version FROM frontier_version"),
                     1);
    GOOD(sql_run(v.db, "UPDATE workers SET until = {now}", &why));
    /* A worker of version 1 that is stopped now, as it would join. */
    GOOD(sql_connect(&late.db, place, SQL_WRITE, &why));
    GOOD(sql_prepare(&join, late.db,
                     "INSERT INTO workers (name, began, renewed, until) "
                     "VALUES ('v1', {now}, {now}, {now})",
                     &why));
    GOOD(sql_do(join, &why));
    GOOD(frontier_shared_create(v.db, &why));
    assert_int_not_equal(sql_do(join, NULL), SEEN_OK);
    sql_close(late.db);
    GOOD(frontier_shared_create(v.db, &why));
    GOOD(frontier_shared_open(&v.f, v.db, &worker, &why));
    GOOD(frontier_shared_join(v.f, &why));
    assert_int_equal(visit_of(&v, 1).v.queued, 10);
    assert_false(visit_of(&v, 1).v.recalling);
    assert_int_equal(lease(&v, 10, 100000).n, 2);
    place_close(&v);
}

TEST(tables_of_another_version_are_refused)
{
    const struct frontier_worker worker = { .name = "c:3" };
    struct place_worker w;
    struct frontier_shared *f;

    place_open(&w, "a:1", LEASE);
    GOOD(frontier_shared_create(w.db, &why));
    GOOD(sql_run(w.db, "UPDATE frontier_version SET version = 99", &why));
    assert_int_equal(frontier_shared_create(w.db, NULL), SEEN_MISMATCH);
    assert_int_equal(frontier_shared_open(&f, w.db, &worker, NULL),
                     SEEN_MISMATCH);
    assert_null(f);
    place_close(&w);
}

TEST(after_another_start_of_the_machine_no_lease_is_valid)
{
    struct place_worker a, b;
    struct hosts h;

    if (place_server)
        return; /* its clock goes on */
    place_open(&a, "a:1", LEASE);
    GOOD(frontier_shared_join(a.f, &why));
    begin_with(&a, "news@1", 0, 2, 4);
    assert_int_equal(lease(&a, 10, 0).n, 2);
    /* That machine ran for 30 years, and h1 was to wait an hour. */
    GOOD(sql_run(a.db,
                 "UPDATE frontier_version SET epoch = 'another'; UPDATE "
                 "workers SET joined = joined + 1000000000000, renewed = "
                 "renewed + 1000000000000, until = until + 1000000000000; "
                 "UPDATE visits SET began = began + 1000000000000; UPDATE "
                 "hosts SET due = {now} + 1000000000000 + (CASE WHEN name = "
                 "'h1.example' THEN 3600000 ELSE 0 END), delay = 4000",
                 &why));
    place_open(&b, "b:2", LEASE);
    assert_int_equal(frontier_shared_renew(a.f, NULL), SEEN_ABSENT);
    GOOD(frontier_shared_join(b.f, &why));
    assert_int_equal(lease(&b, 10, 3000).n, 0);
    h = lease(&b, 10, 5000);
    assert_int_equal(h.n, 1);
    assert_string_equal(h.name[0], "h0.example");
    h = lease(&b, 10, 4000000);
    assert_int_equal(h.n, 1);
    assert_in_range(h.due_in[0], 3500000, 3700000);
    assert_in_range(visit_of(&b, 1).v.began_ago, 0, 60000);
    place_close(&a);
    place_close(&b);
}

/* The connection is cut at the first COMMIT after a point was reached. */
struct cut {
    struct proxy proxy;
    const char *point, *order; /* NULL: it was ordered */
};

static void order_cut(void *owner, const char *point)
{
    struct cut *c = owner;

    if (c->point && !strcmp(point, c->point)) {
        proxy_order(&c->proxy, c->order);
        c->point = NULL;
    }
}

TEST(a_commit_whose_answer_was_lost_is_added_once)
{
    static const char *const orders[] = { "after COMMIT", "before COMMIT",
                                          "after COMMIT" };
    struct place_memory memory = { .n = 0 };
    struct place_worker a, b;
    struct cut cut = { .point = NULL };
    char direct[600], through[600];

    if (!place_server)
        return; /* no connection to lose */
    cut.proxy = proxy_start(shared_postgres_port());
    snprintf(direct, sizeof direct, "%s", place);
    snprintf(through, sizeof through, "%s%d%s",
             "postgresql://postgres@127.0.0.1:", cut.proxy.port,
             strchr(place + 30, '/'));
    place_open(&b, "b:2", LEASE);
    begin_with(&b, "news@1", 0, 6, 60);
    snprintf(place, sizeof place, "%s", through);
    place_open_with(&a, "a:1", LEASE, &memory);
    GOOD(frontier_shared_join(a.f, &why));
    frontier_shared_watch(a.f, order_cut, &cut);
    for (size_t i = 0; i < LENGTH(orders); i++) {
        struct links found = { .n = 0 };
        struct frontier_return back = { .due_in = 0 };
        struct hosts h;
        struct group *g;

        cut.point = "leased";
        cut.order = orders[i];
        h = lease(&a, 1, 0);
        assert_int_equal(h.n, 1); /* and no other one is lost */
        assert_int_equal(
            place_ask(b.db, "SELECT count(*) FROM hosts WHERE worker <> 0"),
            1);
        proxy_wait(&cut.proxy);
        g = group_of(&a, h.id[0], &found);
        cut.point = "counted";
        assert_int_equal(commit(&a, g), SEEN_OK);
        proxy_wait(&cut.proxy);
        for (size_t k = 0; k < g->g.dones; k++)
            assert_true(!g->done[k].refused && g->fresh[k]);
        check_sums(b.db);
        assert_int_equal(visit_of(&b, 1).v.fetched, 10 * (i + 1));
        assert_int_equal(visit_of(&b, 1).v.links, 10 * (i + 1));
        assert_int_equal(visit_of(&b, 1).v.records, 10 * (i + 1));
        assert_int_equal(place_ask(b.db, "SELECT sum(requests) FROM hosts"),
                         10 * (i + 1));
        assert_int_equal(place_ask(b.db, "SELECT pages FROM workers WHERE "
                                         "name = 'a:1'"),
                         10 * (i + 1));
        cut.point = "returned";
        back.host = h.id[0];
        GOOD(frontier_shared_release(a.f, &back, 1, &why));
        proxy_wait(&cut.proxy);
        free(g);
    }
    place_close(&a);
    place_close(&b);
    proxy_stop(&cut.proxy);
    snprintf(place, sizeof place, "%s", direct);
}

/* The connection is cut after the commit that takes a host. It is cut again
   when the same step is repeated, which takes another host: one that has been
   due for longer by then. */
struct double_cut {
    struct proxy proxy;
    struct sql *other;
    unsigned runs;
};

static void cut_twice(void *owner, const char *point)
{
    static const char *const orders[] = { "after COMMIT", "before COMMIT" };
    struct double_cut *c = owner;

    if (strcmp(point, "leased") || c->runs >= LENGTH(orders))
        return;
    if (c->runs)
        proxy_wait(&c->proxy);
    else
        GOOD(sql_run(c->other,
                     "UPDATE hosts SET due = -1 WHERE name = 'h1.example'",
                     &why));
    proxy_order(&c->proxy, orders[c->runs++]);
}

TEST(a_connection_that_is_cut_twice_in_a_row_loses_no_host)
{
    struct place_memory memory = { .n = 0 };
    struct double_cut cut = { .runs = 0 };
    struct place_worker a, b;
    char through[600];
    struct hosts h;

    if (!place_server)
        return; /* no connection to lose */
    place_open(&b, "b:2", LEASE);
    begin_with(&b, "news@1", 0, 3, 9);
    GOOD(sql_run(b.db, "UPDATE hosts SET due = id", &why));
    cut.proxy = proxy_start(shared_postgres_port());
    cut.other = b.db;
    snprintf(through, sizeof through, "%s%d%s",
             "postgresql://postgres@127.0.0.1:", cut.proxy.port,
             strchr(place + 30, '/'));
    strcpy(place, through);
    place_open_with(&a, "a:1", LEASE, &memory);
    GOOD(frontier_shared_join(a.f, &why));
    frontier_shared_watch(a.f, cut_twice, &cut);
    h = lease(&a, 1, 0);
    assert_int_equal(h.n, 1);
    assert_string_equal(h.name[0], "h1.example");
    memory.id[memory.n++] = h.id[0];
    GOOD(frontier_shared_renew(a.f, &why));
    assert_int_equal(
        place_ask(b.db, "SELECT count(*) FROM hosts WHERE worker <> 0"), 1);
    GOOD(frontier_shared_join(b.f, &why));
    assert_int_equal(lease(&b, 10, 0).n, 2); /* so the visit ends */
    place_close(&a);
    place_close(&b);
    proxy_stop(&cut.proxy);
}

/* The connection is cut when rows are asked for, and again at the end of the
   transaction in which they are asked for again. */
struct reading_cut {
    struct proxy proxy;
    bool ordered;
    size_t visits, pages;
};

static void cut_the_end(struct reading_cut *c)
{
    if (c->ordered)
        return;
    proxy_wait(&c->proxy);
    proxy_order(&c->proxy, "before COMMIT");
    c->ordered = true;
}

static bool cut_at_visit(void *owner, const struct frontier_visit *visit)
{
    struct reading_cut *c = owner;

    assert_true(span_is(visit->name, "news"));
    cut_the_end(c);
    c->visits++;
    return true;
}

static bool cut_at_page(void *owner, const struct frontier_shared_page *page)
{
    struct reading_cut *c = owner;

    assert_true(span_begins(page->page.url, "http://h"));
    cut_the_end(c);
    c->pages++;
    return true;
}

TEST(rows_are_given_once_if_the_connection_is_lost_after_they_were_read)
{
    struct place_memory memory = { .n = 0 };
    struct reading_cut cut = { .ordered = false };
    struct place_worker a, b;
    char through[600];
    struct hosts h;

    if (!place_server)
        return; /* no connection to lose */
    place_open(&b, "b:2", LEASE);
    begin_with(&b, "news@1", 0, 1, 9);
    cut.proxy = proxy_start(shared_postgres_port());
    snprintf(through, sizeof through, "%s%d%s",
             "postgresql://postgres@127.0.0.1:", cut.proxy.port,
             strchr(place + 30, '/'));
    strcpy(place, through);
    place_open_with(&a, "a:1", LEASE, &memory);
    GOOD(frontier_shared_join(a.f, &why));
    h = lease(&a, 1, 0);
    proxy_order(&cut.proxy, "before FROM visits WHERE state");
    GOOD(frontier_shared_visits(a.f, FRONTIER_RUNNING, 0, cut_at_visit, &cut,
                                &why));
    proxy_wait(&cut.proxy);
    assert_int_equal(cut.visits, 1);
    cut.ordered = false;
    proxy_order(&cut.proxy, "before FROM pages WHERE host");
    GOOD(frontier_shared_next(a.f, h.id[0], 20, cut_at_page, &cut, &why));
    proxy_wait(&cut.proxy);
    assert_int_equal(cut.pages, 9);
    place_close(&a);
    place_close(&b);
    proxy_stop(&cut.proxy);
}

TEST(hosts_that_a_worker_does_not_know_are_free_when_it_renews_its_lease)
{
    struct place_memory memory = { .n = 0 };
    struct place_worker a, b;
    struct hosts h;
    bool mine;

    place_open_with(&a, "a:1", LEASE, &memory);
    place_open(&b, "b:2", LEASE);
    GOOD(frontier_shared_join(a.f, &why));
    GOOD(frontier_shared_join(b.f, &why));
    begin_with(&a, "news@1", 0, 3, 9);
    h = lease(&a, 10, 0);
    assert_int_equal(h.n, 3);
    for (int i = 0; i < 3; i++)
        GOOD(frontier_shared_address(a.f, h.id[i], span_of(h.name[i]), &mine,
                                     &why));
    memory.id[memory.n++] = h.id[1];
    GOOD(frontier_shared_renew(a.f, &why));
    h = lease(&b, 10, 0);
    assert_int_equal(h.n, 2);
    for (int i = 0; i < 2; i++) {
        assert_true(h.id[i] != memory.id[0]);
        GOOD(frontier_shared_address(b.f, h.id[i], span_of(h.name[i]), &mine,
                                     &why));
        assert_true(mine);
    }
    GOOD(frontier_shared_renew(a.f, &why));
    assert_int_equal(
        place_ask(a.db, "SELECT count(*) FROM hosts WHERE worker = 1"), 1);
    place_close(&a);
    place_close(&b);
}

TEST(after_a_clock_was_set_no_host_is_taken_for_one_lease)
{
    static const int64_t steps[] = { 90000, -90000, 1500 };
    struct frontier_leased host;
    bool given;
    struct place_worker a, b;
    int64_t held;

    place_own_clock();
    two_workers(&a, &b);
    begin_with(&a, "news@1", 0, 9, 18);
    for (size_t i = 0; i < LENGTH(steps); i++) {
        /* As long as nobody sets it, time may pass. */
        for (int k = 0; k < 3; k++) {
            place_pass(LEASE / 3);
            GOOD(frontier_shared_renew(a.f, &why));
            GOOD(frontier_shared_renew(b.f, &why));
        }
        assert_int_equal(frontier_shared_was_set(a.f), 0);
        assert_int_equal(lease(&a, 1, 10000).n, 1);
        held = place_ask(a.db, "SELECT count(*) FROM hosts WHERE worker <> 0");
        place_set_clock(place_ahead + steps[i]);
        /* Nobody's hosts are freed, whatever the database says. */
        assert_int_equal(lease(&b, 10, 1000000).n, 0);
        assert_int_not_equal(frontier_shared_was_set(b.f), 0);
        assert_int_equal(frontier_shared_was_set(b.f), 0);
        assert_int_equal(
            place_ask(a.db, "SELECT count(*) FROM hosts WHERE worker <> 0"),
            held);
        assert_int_equal(frontier_shared_take(b.f, span_of("x.example"), 0,
                                              &host, &given, NULL),
                         SEEN_BUSY);
        assert_int_equal(lease(&a, 10, 1000000).n, 0);
        assert_int_not_equal(frontier_shared_was_set(a.f), 0);
        if (steps[i] > LEASE) {
            assert_int_equal(frontier_shared_renew(a.f, NULL), SEEN_ABSENT);
            GOOD(frontier_shared_join(a.f, &why));
            GOOD(frontier_shared_join(b.f, &why));
        }
        GOOD(frontier_shared_renew(a.f, &why));
        GOOD(frontier_shared_renew(b.f, &why));
        place_pass(LEASE / 2);
        assert_int_equal(lease(&b, 1, 1000000).n, 0);
        GOOD(frontier_shared_renew(a.f, &why));
        GOOD(frontier_shared_renew(b.f, &why));
        place_pass(LEASE / 2 + 1);
        assert_int_equal(lease(&b, 1, 1000000).n, 1);
    }
    place_close(&a);
    place_close(&b);
    place_set_clock(0);
}

TEST(a_worker_that_died_while_the_clock_was_ahead_has_no_host_for_long)
{
    enum { DAY = 86400000 };
    struct place_worker a, b;

    place_own_clock();
    place_set_clock(DAY);
    two_workers(&a, &b);
    GOOD(frontier_shared_leave(b.f, &why));
    begin_with(&a, "news@1", 0, 3, 6);
    assert_int_equal(lease(&a, 10, 0).n, 3);
    /* The clock is right again, and a has died. */
    place_set_clock(0);
    GOOD(frontier_shared_join(b.f, &why));
    for (int i = 0; i < 6; i++) {
        lease(&b, 0, 0);
        place_pass(LEASE / 2);
        GOOD(frontier_shared_renew(b.f, &why));
    }
    assert_int_equal(lease(&b, 10, 10000).n, 3);
    assert_in_range(visit_of(&b, 1).v.began_ago, 0, 10 * LEASE);
    place_close(&a);
    place_close(&b);
    place_set_clock(0);
}

TEST(a_due_time_that_cannot_be_is_distrusted)
{
    struct place_worker a, b;
    struct group *g = group_new();
    struct hosts h;

    two_workers(&a, &b);
    begin_with(&a, "news@1", 0, 4, 8);
    /* h0 was asked while the clock was 20 hours ahead, and was to wait 7 s. h1
       was asked just now: it asked for these hours. Nobody waits for 3 days,
       as h2 does. */
    GOOD(sql_run(a.db,
                 "UPDATE hosts SET asked = {now} + 72000000, due = {now} + "
                 "72007000 WHERE name = 'h0.example'; UPDATE hosts SET asked "
                 "= {now}, due = {now} + 72000000 WHERE name = 'h1.example'; "
                 "UPDATE hosts SET asked = {now}, due = {now} + 260000000, "
                 "delay = 9000 WHERE name = 'h2.example'",
                 &why));
    h = lease(&a, 10, 0);
    assert_int_equal(h.n, 1);
    assert_string_equal(h.name[0], "h3.example");
    assert_true(place_ask(a.db, "SELECT due - {now} FROM hosts WHERE name = "
                                "'h0.example'") <= 7000);
    assert_true(place_ask(a.db, "SELECT due - {now} FROM hosts WHERE name = "
                                "'h2.example'") <= 9000);
    h = lease(&b, 10, 20000);
    assert_int_equal(h.n, 2);
    /* The clock is set back while a has h3: its next due time counts. */
    GOOD(sql_run(a.db,
                 "UPDATE hosts SET asked = {now} + 72000000, due = {now} + "
                 "72000000 WHERE name = 'h3.example'",
                 &why));
    ask(g, place_ask(a.db, "SELECT id FROM hosts WHERE name = 'h3.example'"))
        ->due_in = 5000;
    assert_int_equal(commit(&a, g), SEEN_OK);
    assert_true(place_ask(a.db, "SELECT due - {now} FROM hosts WHERE name = "
                                "'h3.example'") <= 5000);
    free(g);
    place_close(&a);
    place_close(&b);
}

TEST(a_boot_id_that_is_hidden_ends_no_lease)
{
    struct place_worker a, b;

    if (place_server)
        return; /* its clock goes on */
    for (int i = 0; i < 2; i++) {
        sql_imitate(i ? "boot-one" : "", 0);
        place_make();
        place_open(&a, "a:1", LEASE);
        GOOD(frontier_shared_join(a.f, &why));
        begin_with(&a, "news@1", 0, 2, 4);
        assert_int_equal(lease(&a, 1, 0).n, 1);
        sql_imitate(i ? "" : "boot-one", 0);
        place_open(&b, "b:2", LEASE);
        GOOD(frontier_shared_join(b.f, &why));
        assert_int_equal(lease(&b, 10, 100000).n, 1);
        GOOD(frontier_shared_renew(a.f, &why));
        place_close(&b);
        /* The machine is started again. That shows only if nobody wrote who
           could not tell. */
        sql_imitate("boot-two", 0);
        place_open(&b, "b:2", LEASE);
        if (i)
            GOOD(frontier_shared_renew(a.f, &why));
        else
            assert_int_equal(frontier_shared_renew(a.f, NULL), SEEN_ABSENT);
        place_close(&a);
        place_close(&b);
    }
    sql_imitate(NULL, 0);
}

TEST(no_worker_waits_for_the_uptime_of_an_earlier_start)
{
    const int64_t uptime = 999924000;
    struct place_worker a, b;
    struct links found = { .n = 0 };
    struct group *g;
    struct hosts h;

    if (place_server)
        return; /* its clock goes on */
    for (int i = 0; i < 2; i++) {
        place_make();
        sql_imitate(i ? "boot-one" : "", uptime);
        place_open(&a, "a:1", LEASE);
        GOOD(frontier_shared_join(a.f, &why));
        begin_with(&a, "news@1", 0, 3, 6);
        h = lease(&a, 2, 0);
        g = group_of(&a, h.id[0], &found);
        g->asked[0].due_in = 4000;
        assert_int_equal(commit(&a, g), SEEN_OK);
        free(g);
        found.n = 0;
        place_close(&a);
        sql_imitate("", 0);
        place_open(&b, "b:2", LEASE);
        GOOD(frontier_shared_join(b.f, &why));
        h = lease(&b, 10, 5000);
        assert_int_equal(
            place_ask(b.db, "SELECT count(*) FROM hosts WHERE queued > 0"),
            h.n);
        assert_in_range(visit_of(&b, 1).v.began_ago, 0, LEASE);
        place_close(&b);
    }
    sql_imitate(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_TEST(a_visit_runs_from_its_start_pages_to_its_end),
        PLACE_TEST(a_second_delivery_of_a_job_changes_nothing),
        PLACE_TEST(a_visit_is_coalesced_while_another_of_its_name_goes_on),
        PLACE_TEST(a_worker_whose_lease_ended_changes_nothing),
        PLACE_TEST(
            pages_of_a_host_that_was_taken_are_refused_with_their_links),
        PLACE_TEST(
            a_host_of_a_dead_worker_waits_its_delay_after_the_end_of_the_lease),
        PLACE_TEST(the_budget_of_a_visit_ends_it_and_leaves_the_rest),
        PLACE_TEST(a_visit_that_is_closed_changes_no_more),
        PLACE_TEST(a_visit_that_runs_cannot_be_ended),
        PLACE_TEST(a_stopped_host_leaves_its_pages_until_a_later_visit),
        PLACE_TEST(hosts_of_an_address_belong_to_one_worker),
        PLACE_TEST(pages_come_by_priority_and_wait_again),
        PLACE_TEST(
            a_suspect_is_marked_its_deaths_are_counted_and_it_is_set_aside),
        PLACE_TEST(a_robots_txt_is_set_aside_after_three_deaths_in_a_month),
        PLACE_TEST(robots_and_due_times_are_kept),
        PLACE_TEST(a_host_goes_to_the_worker_that_has_another_one),
        PLACE_TEST(one_host_is_taken_by_its_name_and_the_load_is_counted),
        PLACE_TEST(a_worker_that_leaves_gives_everything_back),
        PLACE_TEST(a_large_visit_is_deleted_in_batches),
        PLACE_TEST(old_visits_and_dead_workers_are_forgotten),
        PLACE_TEST(
            known_pages_that_are_due_come_back_in_batches_by_any_worker),
        PLACE_TEST(
            a_visit_whose_known_pages_are_not_due_ends_when_they_were_looked_at),
        PLACE_TEST(a_page_that_is_refused_is_not_known),
        PLACE_TEST(tables_of_version_1_are_converted_when_nobody_works),
        PLACE_TEST(tables_of_another_version_are_refused),
        PLACE_TEST(after_another_start_of_the_machine_no_lease_is_valid),
        PLACE_TEST(a_commit_whose_answer_was_lost_is_added_once),
        PLACE_TEST(a_connection_that_is_cut_twice_in_a_row_loses_no_host),
        PLACE_TEST(
            rows_are_given_once_if_the_connection_is_lost_after_they_were_read),
        PLACE_TEST(
            hosts_that_a_worker_does_not_know_are_free_when_it_renews_its_lease),
        PLACE_TEST(after_a_clock_was_set_no_host_is_taken_for_one_lease),
        PLACE_TEST(
            a_worker_that_died_while_the_clock_was_ahead_has_no_host_for_long),
        PLACE_TEST(a_due_time_that_cannot_be_is_distrusted),
        PLACE_TEST(a_boot_id_that_is_hidden_ends_no_lease),
        PLACE_TEST(no_worker_waits_for_the_uptime_of_an_earlier_start),
    };

    return place_run(tests, LENGTH(tests), shared_postgres("shared"));
}
