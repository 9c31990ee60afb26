/* What operators see of a shared frontier, and of a crawl folder. */
#include "frontier/status.h"

#include <time.h>

#include "crawl/folder/state.h"
#include "test/frontier/place.h"

/* --- a shared frontier --- */

static void begin(struct place_worker *w, const char *name,
                  const char *const *host, size_t n)
{
    struct frontier_link link[10];
    const struct frontier_visit v = { .visit = span_of(name),
                                      .name = span_of(name),
                                      .shards = 1 };
    enum frontier_visit_state state;

    assert_true(n <= LENGTH(link));
    for (size_t i = 0; i < n; i++) {
        link[i] = (struct frontier_link){
            .host = span_of(host[i]),
            .page = { .url = span_of(host[i]),
                      .path = span_of(""),
                      .type = span_of("") },
        };
        link[i].key[0] = (unsigned char)i;
    }
    GOOD(frontier_shared_begin(w->f, &v, link, n, &state, &why));
}

struct taken {
    int64_t id[10];
    char name[10][20];
    size_t n;
};

static bool take(void *owner, const struct frontier_leased *host)
{
    struct taken *t = owner;

    t->id[t->n] = host->id;
    snprintf(t->name[t->n++], sizeof t->name[0], "%.*s", (int)host->name.len,
             host->name.text);
    return true;
}

static bool take_page(void *owner, const struct frontier_shared_page *page)
{
    *(struct frontier_shared_page *)owner = *page;
    return false;
}

struct shown {
    char text[2000];
    size_t n;
};

static bool show_host(void *owner, const struct frontier_status_host *h)
{
    struct shown *s = owner;
    size_t at = strlen(s->text);
    char words[200];

    frontier_status_words(h, words, sizeof words);
    snprintf(s->text + at, sizeof s->text - at, "%.*s: %s: %s\n",
             (int)h->name.len, h->name.text, frontier_wait_names[h->wait],
             words);
    s->n++;
    return true;
}

static bool show_visit(void *owner, const struct frontier_visit *v)
{
    struct shown *s = owner;
    size_t at = strlen(s->text);

    snprintf(s->text + at, sizeof s->text - at,
             "%.*s state %d queued %lld fetched %lld failed %lld left %lld\n",
             (int)v->visit.len, v->visit.text, (int)v->state,
             (long long)v->queued, (long long)v->fetched, (long long)v->failed,
             (long long)v->left);
    assert_true(v->began_ago >= 0 && v->began_ago < 60000);
    assert_true(frontier_status_rate(v) >= 0);
    return true;
}

static bool show_worker(void *owner, const struct frontier_status_worker *w)
{
    struct shown *s = owner;
    size_t at = strlen(s->text);

    snprintf(s->text + at, sizeof s->text - at,
             "%.*s %s hosts %lld pages %lld\n", (int)w->name.len, w->name.text,
             w->ends_in > 0 ? "lease" : "ended", (long long)w->hosts,
             (long long)w->pages);
    assert_true(w->rate >= 0);
    return true;
}

/* Digits and their point as one #, so that times can be compared. */
static void without_times(char *text)
{
    char *to = text;

    for (const char *at = text; *at;)
        if (at[0] == 'i' && at[1] == 'n' && at[2] == ' ' && at[3] >= '0' &&
            at[3] <= '9') {
            at += 3 + strspn(at + 3, "0123456789.");
            memcpy(to, "in #", 4);
            to += 4;
        } else {
            *to++ = *at++;
        }
    *to = 0;
}

TEST(operators_see_what_each_host_waits_for)
{
    static const char *const names[] = { "a.example", "b.example", "c.example",
                                         "d.example", "e.example" };
    struct place_worker one, two, dead;
    struct frontier_status *s;
    struct frontier_status_sums sums;
    struct frontier_shared_page page;
    struct taken t = { .n = 0 };
    struct frontier_asked asked[2] = { { .delay = 5000, .due_in = 60000 },
                                       { .stopped = "no such host",
                                         .delay = 10 } };
    struct frontier_done done = { .shard = -1 };
    struct frontier_group group = {
        .done = &done, .dones = 1, .asked = asked, .askeds = 2
    };
    struct shown hosts = { .n = 0 }, visits = { .n = 0 }, workers = { .n = 0 };
    bool mine;

    place_open(&one, "one:1", 60000);
    place_open(&two, "two:2", 60000);
    place_open(&dead, "dead:3", 1000);
    GOOD(frontier_shared_join(one.f, &why));
    begin(&one, "news@1", names, LENGTH(names));
    GOOD(frontier_shared_join(dead.f, &why));
    GOOD(frontier_shared_lease(dead.f, 1, 0, take, &t, &why)); /* a */
    usleep(1100000);
    GOOD(frontier_shared_join(two.f, &why));
    /* Nobody has noticed yet that it died. */
    GOOD(frontier_status_open(&s, place, &why));
    assert_true(frontier_status_is_shared(s));
    GOOD(frontier_status_hosts(s, 1, show_host, &hosts, &why));
    without_times(hosts.text);
    assert_string_equal(hosts.text,
                        "a.example: lease: its worker dead:3 died; due in # "
                        "s\n");
    GOOD(frontier_shared_lease(one.f, 2, 0, take, &t, &why)); /* b, c */
    assert_int_equal(t.n, 3);
    GOOD(frontier_shared_next(one.f, t.id[1], 1, take_page, &page, &why));
    done.page = page.page;
    done.visit = page.visit;
    done.page.url = done.page.path = done.page.type = span_of("");
    asked[0].host = t.id[1];
    asked[0].fetched = 1;
    asked[1].host = t.id[2];
    GOOD(frontier_shared_commit(one.f, &group, &why));
    GOOD(frontier_shared_address(one.f, t.id[1], span_of("192.0.2.1"), &mine,
                                 &why));
    assert_true(mine);
    GOOD(frontier_shared_lease(two.f, 1, 0, take, &t, &why)); /* d */
    GOOD(frontier_shared_address(two.f, t.id[3], span_of("192.0.2.1"), &mine,
                                 &why));
    assert_false(mine);

    memset(&hosts, 0, sizeof hosts);
    GOOD(frontier_status_hosts(s, 10, show_host, &hosts, &why));
    without_times(hosts.text);
    assert_string_equal(
        hosts.text, "c.example: stopped: stopped: no such host\n"
                    "d.example: address: address 192.0.2.1 is asked by one:1\n"
                    "e.example: worker: due, and no worker has it\n"
                    "a.example: due: due in # s\n"
                    "b.example: taken: one:1 asks it in # s\n");
    GOOD(frontier_status_visits(s, 10, show_visit, &visits, &why));
    assert_string_equal(visits.text,
                        "news@1 state 0 queued 3 fetched 1 failed 0 left 1\n");
    GOOD(frontier_status_workers(s, 10, show_worker, &workers, &why));
    assert_string_equal(workers.text, "two:2 lease hosts 0 pages 0\n"
                                      "one:1 lease hosts 2 pages 1\n"
                                      "dead:3 ended hosts 0 pages 0\n");
    GOOD(frontier_status_sum(s, &sums, &why));
    assert_int_equal(sums.workers, 2);
    assert_int_equal(sums.visits, 1);
    assert_int_equal(sums.queued, 3);
    assert_int_equal(sums.hosts[FRONTIER_WAIT_STOPPED], 1);
    assert_int_equal(sums.hosts[FRONTIER_WAIT_ADDRESS], 1);
    assert_int_equal(sums.hosts[FRONTIER_WAIT_TAKEN], 1);
    assert_int_equal(sums.hosts[FRONTIER_WAIT_DUE], 1);
    assert_int_equal(sums.hosts[FRONTIER_WAIT_WORKER], 1);
    frontier_status_close(s);
    place_close(&one);
    place_close(&two);
    place_close(&dead);
}

/* --- a crawl folder --- */

TEST(a_crawl_folder_is_shown_in_the_same_words)
{
    struct frontier_page page = { .url = span_of("http://a.example/"),
                                  .path = span_of(""),
                                  .type = span_of("") };
    struct shown hosts = { .n = 0 }, visits = { .n = 0 }, workers = { .n = 0 };
    struct frontier_asked spent = { .due_in = 1 };
    struct frontier_status_sums sums;
    struct frontier_status *s;
    struct crawl_state crawl;
    char path[64];
    int64_t b, id;

    snprintf(path, sizeof path, "%s/crawl-%u", folder, place_number);
    GOOD(crawl_state_open(&crawl, path, &why));
    GOOD(sql_begin(crawl.db, &why));
    GOOD(crawl_state_begin_visit(&crawl, 7, (int64_t)time(NULL) * 1000 - 2000,
                                 &why));
    GOOD(frontier_host_id(crawl.frontier, span_of("a.example"), &page.host,
                          &why));
    GOOD(frontier_add(crawl.frontier, &page, &id, &why));
    GOOD(frontier_host_id(crawl.frontier, span_of("b.example"), &b, &why));
    page.host = b;
    GOOD(frontier_add(crawl.frontier, &page, &id, &why));
    GOOD(frontier_stop_host(crawl.frontier, b, "timeout", &why));
    spent.host = b;
    GOOD(frontier_spend(crawl.frontier, &spent, 0, &why));
    GOOD(crawl_state_count(&crawl, "stored", 5, &why));
    GOOD(crawl_state_count(&crawl, "failed", 2, &why));
    GOOD(frontier_flush(crawl.frontier, &why));
    GOOD(sql_commit(crawl.db, &why));

    GOOD(frontier_status_open(&s, path, &why));
    assert_false(frontier_status_is_shared(s));
    GOOD(frontier_status_hosts(s, 10, show_host, &hosts, &why));
    assert_string_equal(hosts.text,
                        "b.example: stopped: stopped: timeout\n"
                        "a.example: worker: due, and no worker has it\n");
    GOOD(frontier_status_visits(s, 10, show_visit, &visits, &why));
    assert_non_null(
        strstr(visits.text, " state 0 queued 1 fetched 5 failed 2 left 1\n"));
    GOOD(frontier_status_workers(s, 10, show_worker, &workers, &why));
    assert_string_equal(workers.text, "");
    GOOD(frontier_status_sum(s, &sums, &why));
    assert_int_equal(sums.visits, 1);
    assert_int_equal(sums.queued, 2);
    assert_int_equal(sums.hosts[FRONTIER_WAIT_STOPPED], 1);
    assert_int_equal(sums.hosts[FRONTIER_WAIT_WORKER], 1);
    frontier_status_close(s);
    crawl_state_close(&crawl);
}

TEST(what_is_neither_is_refused)
{
    struct frontier_status *s;
    struct sql *db;

    GOOD(sql_connect(&db, place, SQL_CREATE, &why));
    GOOD(sql_run(db, "CREATE TABLE x (y {number})", &why));
    assert_int_equal(frontier_status_open(&s, place, NULL), SEEN_MISMATCH);
    assert_null(s);
    sql_close(db);
    assert_int_not_equal(frontier_status_open(&s, "/nowhere/at/all", NULL),
                         SEEN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_TEST(operators_see_what_each_host_waits_for),
        PLACE_TEST(a_crawl_folder_is_shown_in_the_same_words),
        PLACE_TEST(what_is_neither_is_refused),
    };

    return place_run(tests, LENGTH(tests), shared_postgres("frontier"));
}
