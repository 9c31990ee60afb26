/* Readers and commits: what waits between them. */
#include "crawl/engine/engine.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/span.h"
#include "test/test.h"

enum { MB = 1 << 20, PAGES = 30, EACH = 3 * MB, THREADS = 2 };

static struct crawl_settings settings;
static const struct crawl_shared shared = { .settings = &settings,
                                            .folder = "",
                                            .visit = "test" };
static size_t most, commits, committed;

/* Bytes that cannot be packed. */
static void add_noise(struct buffer *b, size_t n, uint64_t seed)
{
    for (; b->len < n; seed = seed * 6364136223846793005 + 1442695040888963407)
        buffer_bytes(b, (char *)&seed + 3, 5);
}

static void add_answer(struct crawl *c, struct crawl_host *host, int n)
{
    const struct frontier_page row = { .id = n + 1,
                                       .url = span_of("http://a.example/"),
                                       .path = { "", 0 },
                                       .type = { "", 0 } };
    struct crawl_page *page = crawl_page_new(&row);

    assert_non_null(page);
    page->host = host;
    page->shared = &shared;
    page->status = 200;
    page->started = 1700000000000;
    buffer_text(&page->head, "HTTP/1.1 200 OK\r\n"
                             "Content-Type: application/octet-stream\r\n\r\n");
    add_noise(&page->raw, EACH, (uint64_t)n);
    page->made = page->raw.room + page->head.room;
    c->made += page->made;
    c->unread += page->made;
    c->working++;
    host->unread++;
    crawl_list_add(&c->answers, page);
}

/* A commit is as slow as can be: it does not begin before no reader has a page
   at hand, since they wait for it or have read all. */
static void wait_for_readers(struct crawl *c)
{
    bool idle = false;

    while (!idle) {
        pthread_mutex_lock(&c->lock);
        idle = c->working == c->answers.n;
        if (idle && c->made - c->unread > most)
            most = c->made - c->unread;
        pthread_mutex_unlock(&c->lock);
        sched_yield();
    }
}

static void *commit_slowly(void *crawl)
{
    struct crawl *c = crawl;

    while (committed < PAGES) {
        struct crawl_page *group, *page;

        wait_for_readers(c);
        group = crawl_next_group(c, 1000);
        commits++;
        pthread_mutex_lock(&c->lock);
        while ((page = group)) {
            group = page->next;
            assert_int_equal(page->outcome, CRAWL_STORED);
            assert_true(page->packed.bytes.len > EACH);
            c->made -= page->made;
            crawl_page_free(page);
            committed++;
        }
        c->committing = 0;
        pthread_mutex_unlock(&c->lock);
    }
    pthread_mutex_lock(&c->lock);
    crawl_enter_phase(c, CRAWL_ENDS);
    pthread_mutex_unlock(&c->lock);
    fetch_wakeup(c->web);
    return NULL;
}

/* An engine with a host, which it has asked for pages. */
static struct crawl *engine(struct crawl_host **host)
{
    struct crawl *c = calloc(1, sizeof *c);

    assert_non_null(c);
    settings = (struct crawl_settings){ .max_size = 16 * MB,
                                        .parallel = 256,
                                        .threads = THREADS };
    c->settings = &settings;
    crawl_engine_init(c);
    assert_int_equal(fetch_new(&c->web, NULL, NULL), SEEN_OK);
    *host = crawl_host_add(&c->hosts, 1, span_of("a.example"), 0);
    assert_non_null(*host);
    crawl_hosts_pop(&c->hosts, *host);
    return c;
}

TEST(readers_wait_for_commits_that_do_not_keep_up)
{
    struct crawl_host *host;
    struct crawl *c = engine(&host);

    committed = 0;
    for (int i = 0; i < PAGES; i++)
        add_answer(c, host, i);

    assert_int_equal(crawl_engine_run(c, commit_slowly, NULL), SEEN_OK);
    /* What they made, and a page of each that it had at hand. */
    assert_true(most >= CRAWL_READ_MOST);
    assert_true(most < CRAWL_READ_MOST + THREADS * (EACH + MB));
    assert_true(commits >= PAGES * EACH / (CRAWL_READ_MOST + 2 * EACH));
    assert_int_equal(c->made, 0);
    assert_int_equal(c->unread, 0);
    assert_int_equal(host->unread, 0);
    crawl_engine_clear(c);
    free(c);
}

/* Each reader takes one of the others after one that is costly. */
static void *commit_in_turn(void *crawl)
{
    struct crawl *c = crawl;
    unsigned costly = 0, others = 0;

    while (costly + others < PAGES) {
        struct crawl_page *group = crawl_next_group(c, 1000), *page;

        pthread_mutex_lock(&c->lock);
        while ((page = group)) {
            group = page->next;
            costly += page->host->id == 1;
            others += page->host->id == 2;
            assert_true(costly <= others + THREADS || others == PAGES / 2);
            c->made -= page->made;
            crawl_page_free(page);
        }
        c->committing = 0;
        pthread_mutex_unlock(&c->lock);
    }
    pthread_mutex_lock(&c->lock);
    crawl_enter_phase(c, CRAWL_ENDS);
    pthread_mutex_unlock(&c->lock);
    fetch_wakeup(c->web);
    return NULL;
}

TEST(what_a_host_sent_before_it_was_charged_takes_turns_with_others)
{
    struct crawl_host *host, *other;
    struct crawl *c = engine(&host);

    other = crawl_host_add(&c->hosts, 2, span_of("b.example"), 0);
    assert_non_null(other);
    crawl_hosts_pop(&c->hosts, other);
    host->hold = INT64_MAX / 2;
    for (int i = 0; i < PAGES; i++)
        add_answer(c, i < PAGES / 2 ? host : other, i);

    assert_int_equal(crawl_engine_run(c, commit_in_turn, NULL), SEEN_OK);
    assert_int_equal(host->unread, 0);
    assert_int_equal(other->unread, 0);
    crawl_engine_clear(c);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_wait_for_commits_that_do_not_keep_up),
        cmocka_unit_test(
            what_a_host_sent_before_it_was_charged_takes_turns_with_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
