/* Pages and hosts as rows. */
#include "frontier/frontier.h"

#include <stdio.h>
#include <string.h>

#include "lib/text/span.h"
#include "test/folder.h"

static struct sql *db;
static struct frontier *f;

static void begin(const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "%s/%s.db", folder, name);
    assert_int_equal(sql_open(&db, path, SQL_CREATE, 1 << 20, NULL), SEEN_OK);
    assert_int_equal(frontier_create(db, NULL), SEEN_OK);
    assert_int_equal(frontier_open(&f, db, NULL), SEEN_OK);
}

static void end(void)
{
    frontier_close(f);
    sql_close(db);
}

static int64_t host(const char *name)
{
    int64_t id = 0;

    assert_int_equal(frontier_host_id(f, span_of(name), &id, NULL), SEEN_OK);
    return id;
}

static int64_t add(int64_t at, const char *url, int64_t priority)
{
    struct frontier_page page = { .host = at,
                                  .priority = priority,
                                  .url = span_of(url),
                                  .path = span_of("L"),
                                  .type = span_of("") };
    int64_t id;

    assert_int_equal(frontier_add(f, &page, &id, NULL), SEEN_OK);
    return id;
}

struct taken {
    char urls[400];
    int64_t id[20];
    int n, most;
};

static bool take(void *owner, const struct frontier_page *page)
{
    struct taken *t = owner;
    size_t at = strlen(t->urls);

    snprintf(t->urls + at, sizeof t->urls - at, "%.*s ", (int)page->url.len,
             page->url.text);
    t->id[t->n++] = page->id;
    return !t->most || t->n < t->most;
}

TEST(pages_of_a_host_come_by_priority_and_then_by_discovery)
{
    struct taken t = { .n = 0 };
    int64_t a, b;

    begin("order");
    a = host("a.example");
    b = host("b.example");
    assert_int_equal(host("a.example"), a);
    add(a, "a3", 3);
    add(b, "b1", 0);
    add(a, "a1", 1);
    add(a, "a2", 1);
    assert_int_equal(frontier_next(f, a, 10, take, &t, NULL), SEEN_OK);
    assert_string_equal(t.urls, "a1 a2 a3 ");
    t = (struct taken){ .most = 2 };
    assert_int_equal(frontier_next(f, a, 10, take, &t, NULL), SEEN_OK);
    assert_string_equal(t.urls, "a1 a2 ");
    end();
}

static bool show_host(void *owner, const struct frontier_host *h)
{
    char *to = owner;

    sprintf(to + strlen(to), "%.*s:%lld:%lld:%lld ", (int)h->name.len,
            h->name.text, (long long)h->queued, (long long)h->found,
            (long long)h->due);
    return true;
}

TEST(counts_of_hosts_follow_their_pages_after_a_flush)
{
    struct frontier_asked spent = { .due_in = 500,
                                    .fetched = 1,
                                    .requests = 2 };
    struct taken t = { .n = 0 };
    int64_t a, b, waiting, all;
    char text[400] = "";

    begin("counts");
    a = host("a.example");
    b = host("b.example");
    for (int i = 0; i < 5; i++)
        add(a, "a", i);
    add(b, "b", 0);
    assert_int_equal(frontier_found(f, a), 5);
    assert_int_equal(frontier_flush(f, NULL), SEEN_OK);
    assert_int_equal(frontier_next(f, a, 2, take, &t, NULL), SEEN_OK);
    assert_int_equal(frontier_remove(f, a, t.id[0], NULL), SEEN_OK);
    /* What is gone already is not counted twice. */
    assert_int_equal(frontier_remove(f, a, t.id[0], NULL), SEEN_OK);
    spent.host = a;
    assert_int_equal(frontier_spend(f, &spent, 0, NULL), SEEN_OK);
    assert_int_equal(frontier_flush(f, NULL), SEEN_OK);
    assert_int_equal(frontier_hosts(f, false, 10, show_host, text, NULL),
                     SEEN_OK);
    assert_string_equal(text, "b.example:1:1:0 a.example:4:5:500 ");
    assert_int_equal(frontier_stop_host(f, a, "down", NULL), SEEN_OK);
    assert_int_equal(frontier_count(f, &waiting, &all, NULL), SEEN_OK);
    assert_int_equal(waiting, 1);
    assert_int_equal(all, 5);
    *text = '\0';
    assert_int_equal(frontier_hosts(f, false, 10, show_host, text, NULL),
                     SEEN_OK);
    assert_string_equal(text, "b.example:1:1:0 ");
    /* A resumed crawl asks it again, but not before it is due. */
    assert_int_equal(frontier_resume(f, NULL), SEEN_OK);
    *text = '\0';
    assert_int_equal(frontier_hosts(f, false, 10, show_host, text, NULL),
                     SEEN_OK);
    assert_string_equal(text, "b.example:1:1:0 a.example:4:5:500 ");
    /* One by its name, whether it is known or not. */
    *text = '\0';
    assert_int_equal(
        frontier_host_named(f, span_of("a.example"), show_host, text, NULL),
        SEEN_OK);
    assert_int_equal(
        frontier_host_named(f, span_of("c.example"), show_host, text, NULL),
        SEEN_OK);
    assert_string_equal(text, "a.example:4:5:500 c.example:0:0:0 ");
    end();
}

TEST(a_page_that_is_deferred_comes_last)
{
    struct taken t = { .n = 0 };
    struct frontier_page page, again;
    bool found;
    int64_t a;

    begin("defer");
    a = host("a.example");
    add(a, "x", 0);
    add(a, "y", 0);
    assert_int_equal(frontier_find(f, span_of("a.example"), span_of("x"),
                                   &found, &page, NULL),
                     SEEN_OK);
    assert_true(found);
    again = page;
    again.priority = 100;
    again.attempts = 1;
    assert_int_equal(frontier_defer(f, &again, NULL), SEEN_OK);
    assert_int_equal(frontier_next(f, a, 10, take, &t, NULL), SEEN_OK);
    assert_string_equal(t.urls, "y x ");
    assert_int_equal(frontier_find(f, span_of("a.example"), span_of("x"),
                                   &found, &page, NULL),
                     SEEN_OK);
    assert_int_equal(page.attempts, 1);
    end();
}

static enum seen_code note(void *owner, int64_t id, struct seen_span url,
                           struct seen_error *why)
{
    char *to = owner;

    (void)why;
    sprintf(to + strlen(to), "%lld:%.*s ", (long long)id, (int)url.len,
            url.text);
    return SEEN_OK;
}

TEST(numbers_of_the_journal_never_come_again)
{
    char text[200] = "";
    int64_t a;

    begin("journal");
    a = host("a.example");
    assert_int_equal(add(a, "x", 0), 1);
    assert_int_equal(add(a, "y", 0), 2);
    assert_int_equal(frontier_journal(f, 1, note, text, NULL), SEEN_OK);
    assert_string_equal(text, "2:y ");
    assert_int_equal(frontier_journal_cut(f, 2, NULL), SEEN_OK);
    assert_int_equal(add(a, "z", 0), 3);
    *text = '\0';
    assert_int_equal(frontier_journal(f, 2, note, text, NULL), SEEN_OK);
    assert_string_equal(text, "3:z ");
    end();
}

TEST(a_new_visit_begins_with_nothing)
{
    int64_t waiting, all, a;

    begin("reset");
    a = host("a.example");
    add(a, "x", 0);
    assert_int_equal(frontier_flush(f, NULL), SEEN_OK);
    assert_int_equal(frontier_stop_host(f, a, "down", NULL), SEEN_OK);
    assert_int_equal(frontier_reset(f, NULL), SEEN_OK);
    assert_int_equal(frontier_count(f, &waiting, &all, NULL), SEEN_OK);
    assert_int_equal(all, 0);
    assert_int_equal(host("a.example"), a);
    add(a, "y", 0);
    assert_int_equal(frontier_flush(f, NULL), SEEN_OK);
    assert_int_equal(frontier_count(f, &waiting, &all, NULL), SEEN_OK);
    assert_int_equal(waiting, 1);
    end();
}

TEST(a_visit_that_is_renewed_keeps_its_pages)
{
    struct frontier_page page = { .url = { "again", 5 },
                                  .path = { "", 0 },
                                  .type = { "", 0 } };
    char text[256] = "";
    int64_t waiting, all;

    begin("renew");
    page.host = host("a.example");
    add(page.host, "x", 0);
    /* The filter has it: it is queued, and not in the journal. */
    assert_int_equal(frontier_add(f, &page, NULL, NULL), SEEN_OK);
    assert_int_equal(frontier_flush(f, NULL), SEEN_OK);
    assert_int_equal(frontier_journal(f, 0, note, text, NULL), SEEN_OK);
    assert_string_equal(text, "1:x ");
    assert_int_equal(frontier_stop_host(f, page.host, "down", NULL), SEEN_OK);
    assert_int_equal(frontier_renew(f, 0, NULL), SEEN_OK);
    assert_int_equal(frontier_count(f, &waiting, &all, NULL), SEEN_OK);
    assert_int_equal(waiting, 2);
    *text = '\0';
    assert_int_equal(frontier_journal(f, 0, note, text, NULL), SEEN_OK);
    assert_string_equal(text, "");
    assert_int_equal(frontier_each(f, note, text, NULL), SEEN_OK);
    assert_string_equal(text, "64:x 65:again ");

    page.flags = 8;
    assert_int_equal(frontier_add(f, &page, NULL, NULL), SEEN_OK);
    assert_int_equal(frontier_flush(f, NULL), SEEN_OK);
    assert_int_equal(frontier_renew(f, 8 | 4, NULL), SEEN_OK);
    assert_int_equal(frontier_count(f, &waiting, &all, NULL), SEEN_OK);
    assert_int_equal(waiting, 2);
    *text = '\0';
    assert_int_equal(frontier_each(f, note, text, NULL), SEEN_OK);
    assert_string_equal(text, "64:x 65:again ");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            pages_of_a_host_come_by_priority_and_then_by_discovery),
        cmocka_unit_test(counts_of_hosts_follow_their_pages_after_a_flush),
        cmocka_unit_test(a_page_that_is_deferred_comes_last),
        cmocka_unit_test(numbers_of_the_journal_never_come_again),
        cmocka_unit_test(a_new_visit_begins_with_nothing),
        cmocka_unit_test(a_visit_that_is_renewed_keeps_its_pages),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
