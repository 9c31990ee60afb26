/*
 * requests_test.c - many requests at once: whose turn it is, and how they end.
 */
#include "test/fetch/served.h"

static struct fetch *client(unsigned parallel, unsigned per_host)
{
    const struct fetch_options rules = { .allow_private = true,
                                         .parallel = parallel,
                                         .per_host = per_host };
    struct fetch *web;

    assert_int_equal(fetch_new(&web, &rules, NULL), SEEN_OK);
    return web;
}

/* The same server is two hosts: 127.0.0.1 and localhost. */
static void start_as(struct fetch *web, const char *host, const char *path,
                     const struct fetch_handler *taker, void *owner)
{
    struct seen_error why;
    char url[200];

    snprintf(url, sizeof url, "http://%s:%u%s", host, here.port, path);
    assert_int_equal(fetch_start(web,
                                 &(struct fetch_request){ .url = url,
                                                          .most = 1 << 30,
                                                          .handler = taker,
                                                          .owner = owner },
                                 &why),
                     SEEN_OK);
}

static void start(struct fetch *web, const char *path, struct got *g)
{
    start_as(web, "127.0.0.1", path, &got_handler, g);
}

static long ask(const char *path)
{
    struct got g = get(&here, NULL,
                       &(struct fetch_request){ .url = path, .most = 100 });

    assert_int_equal(g.code, SEEN_OK);
    return strtol(g.body, NULL, 10);
}

/* --- how many at once --- */

TEST(hosts_and_all_together_have_their_limits)
{
    struct fetch *web = client(5, 3);
    struct got g[40] = { { 0 } };

    for (int i = 0; i < 40; i++)
        start_as(web, i % 2 ? "127.0.0.1" : "localhost",
                 i % 2 ? "/slow/one/3" : "/slow/two/3", &got_handler, &g[i]);
    finish_all(web);
    fetch_free(web);
    for (int i = 0; i < 40; i++)
        assert_int_equal(g[i].code, SEEN_OK);
    assert_int_equal(ask("/most/one"), 3);
    assert_int_equal(ask("/most/two"), 3);
}

TEST(all_together_have_a_limit)
{
    struct fetch *web = client(2, 8);
    struct got g[10] = { { 0 } };

    for (int i = 0; i < 10; i++)
        start_as(web, i % 2 ? "127.0.0.1" : "localhost", "/slow/all/2",
                 &got_handler, &g[i]);
    finish_all(web);
    fetch_free(web);
    assert_int_equal(ask("/most/all"), 2);
}

TEST(a_slow_host_delays_no_other)
{
    struct fetch *web = client(4, 2);
    struct got slow[20] = { { 0 } }, quick[20] = { { 0 } };

    for (int i = 0; i < 20; i++)
        start_as(web, "localhost", "/silent", &got_handler, &slow[i]);
    for (int i = 0; i < 20; i++)
        start(web, "/plain", &quick[i]);
    for (int i = 0; i < 1000 && fetch_poll(web, 100) > 20; i++)
        ;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(quick[i].ended, 1);
        assert_int_equal(quick[i].code, SEEN_OK);
        assert_int_equal(slow[i].ended, 0);
    }
    fetch_free(web);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(slow[i].ended, 1);
        assert_int_equal(slow[i].code, SEEN_UNABLE);
    }
}

static struct got *order[30];
static int order_n;

static void note_end(void *owner, enum seen_code code,
                     const struct fetch_response *head,
                     const struct seen_error *why)
{
    got_end(owner, code, head, why);
    order[order_n++] = owner;
}

TEST(requests_to_a_host_keep_their_order)
{
    static const struct fetch_handler noting = { got_begin, got_body,
                                                 note_end };
    struct fetch *web = client(1, 1);
    struct got g[30] = { { 0 } };

    order_n = 0;
    for (int i = 0; i < 30; i++)
        start_as(web, "127.0.0.1", i % 3 ? "/plain" : "/chain/2", &noting,
                 &g[i]);
    finish_all(web);
    fetch_free(web);
    for (int i = 0; i < 30; i++)
        assert_ptr_equal(order[i], &g[i]);
}

TEST(connections_are_kept)
{
    long before = ask("/connections");
    struct fetch *web = client(1, 1);
    struct got g[6] = { { 0 } };

    start(web, "/plain", &g[0]);
    start(web, "/chain/3", &g[1]);
    start(web, "/404", &g[2]);
    start(web, "/304", &g[3]);
    start(web, "/big/1000000", &g[4]);
    start(web, "/chunked", &g[5]);
    finish_all(web);
    fetch_free(web);
    for (int i = 0; i < 6; i++)
        assert_int_equal(g[i].code, SEEN_OK);
    assert_int_equal(ask("/connections") - before, 2); /* and this one */
}

/* Memory that this program has now, in bytes. */
static size_t memory(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    char line[200];
    char *pages;

    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    strtoul(line, &pages, 10);
    return strtoul(pages, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* A request that waits costs its texts and little more. */
TEST(many_may_wait)
{
    enum { MANY = 50000 };
    struct fetch *web = client(4, 4);
    struct got *g = calloc(1, sizeof *g);
    char host[40];
    size_t left, before = memory();

    assert_non_null(g);
    for (int i = 0; i < MANY; i++) {
        snprintf(host, sizeof host, "host-%d.invalid", i % 5000);
        start_as(web, host, "/some/path/to/a/filter.seen", &got_handler, g);
    }
    left = fetch_poll(web, 0);
    assert_true(left > MANY - 100);
    print_message("%zu bytes for each that waits\n",
                  (memory() - before) / MANY);
#ifndef __SANITIZE_ADDRESS__
    assert_true((memory() - before) / MANY < 400);
#endif
    fetch_free(web);
    assert_int_equal(g->ended, MANY);
    free(g);
}

/* --- takers --- */

static enum seen_code refuse_head(void *owner,
                                  const struct fetch_response *head,
                                  struct seen_error *why)
{
    (void)owner;
    return seen_fail(why, SEEN_MISMATCH, head->length, "not this one");
}

static enum seen_code refuse_some(void *owner, const void *bytes, size_t n,
                                  struct seen_error *why)
{
    (void)bytes;
    (void)why;
    ((struct got *)owner)->n += n;
    return SEEN_FULL; /* without a word */
}

TEST(takers_may_refuse)
{
    static const struct fetch_handler first = { refuse_head, got_body,
                                                got_end };
    static const struct fetch_handler later = { NULL, refuse_some, got_end };
    static const struct fetch_handler never = { NULL, NULL, got_end };
    struct fetch *web = client(4, 4);
    struct got g[3] = { { 0 } };

    start_as(web, "127.0.0.1", "/big/1000000", &first, &g[0]);
    start_as(web, "127.0.0.1", "/big/1000000", &later, &g[1]);
    start_as(web, "127.0.0.1", "/big/1000000", &never, &g[2]);
    finish_all(web);
    fetch_free(web);
    assert_int_equal(g[0].code, SEEN_MISMATCH);
    assert_string_equal(g[0].why, "not this one");
    assert_int_equal(g[0].n, 0);
    assert_int_equal(g[1].code, SEEN_FULL);
    assert_true(*g[1].why);
    assert_true(g[1].n < 1000000);
    assert_int_equal(g[2].code, SEEN_OK);
}

/* A request that starts the next one at its end, and cancels others. */
struct plot {
    struct got got;
    struct fetch *web;
    struct plot *next, *victim;
    const char *path;
    enum { AT_BEGIN, AT_SOME, AT_END } when;
    enum seen_code started;
    bool struck; /* cancelled, and may hear of its end only */
};

static void strike(struct plot *p, int when)
{
    if (!p->victim || (int)p->when != when)
        return;
    fetch_cancel(p->web, p->victim);
    p->victim->struck = true;
}

static enum seen_code plot_begin(void *owner,
                                 const struct fetch_response *head,
                                 struct seen_error *why)
{
    struct plot *p = owner;

    assert_false(p->struck);
    strike(p, AT_BEGIN);
    return got_begin(&p->got, head, why);
}

static enum seen_code plot_body(void *owner, const void *bytes, size_t n,
                                struct seen_error *why)
{
    struct plot *p = owner;

    assert_false(p->struck);
    strike(p, AT_SOME);
    return got_body(&p->got, bytes, n, why);
}

static void plot_end(void *owner, enum seen_code code,
                     const struct fetch_response *head,
                     const struct seen_error *why);
static const struct fetch_handler plot_handler = { plot_begin, plot_body,
                                                   plot_end };

static enum seen_code plot_start(struct plot *p)
{
    char url[2000];

    return fetch_start(p->web,
                       &(struct fetch_request){ .url = at(&here, p->path, url),
                                                .most = 1 << 30,
                                                .handler = &plot_handler,
                                                .owner = p },
                       NULL);
}

static void plot_end(void *owner, enum seen_code code,
                     const struct fetch_response *head,
                     const struct seen_error *why)
{
    struct plot *p = owner;

    got_end(&p->got, code, head, why);
    strike(p, AT_END);
    if (p->next)
        p->next->started = plot_start(p->next);
}

TEST(an_end_may_be_a_beginning)
{
    struct fetch *web = client(1, 1);
    struct plot p[100];

    for (int i = 0; i < 100; i++)
        p[i] = (struct plot){ .web = web,
                              .path = i % 5 ? "/plain" : "/http-0.9",
                              .next = i < 99 ? &p[i + 1] : NULL };
    assert_int_equal(plot_start(&p[0]), SEEN_OK);
    finish_all(web);
    fetch_free(web);
    for (int i = 0; i < 100; i++)
        assert_int_equal(p[i].got.code, i % 5 ? SEEN_OK : SEEN_CORRUPT);
}

/* Any request may cancel any other, at any time: each ends once, and nothing
   comes after its end. */
TEST(anyone_may_be_cancelled_from_anywhere)
{
    static const char *const victims[] = { "/silent", "/endless-body",
                                           "/drip-redirect", "/bomb",
                                           "/big/100000000" };

    for (int when = AT_BEGIN; when <= AT_END; when++)
        for (size_t i = 0; i < 3 * (sizeof victims / sizeof *victims); i++) {
            bool waits = i / 5 == 1, itself = i / 5 == 2;
            struct fetch *web = client(waits ? 1 : 2, 2);
            struct plot b = { .web = web, .path = victims[i % 5] };
            struct plot a = { .web = web,
                              .path = "/big/10000000",
                              .victim = itself ? &a : &b,
                              .when = when };

            assert_int_equal(plot_start(&a), SEEN_OK);
            assert_int_equal(plot_start(&b), SEEN_OK);
            for (int j = 0; j < 10000 && !a.got.ended; j++)
                fetch_poll(web, 100);
            assert_int_equal(a.got.ended, 1);
            assert_int_equal(a.got.code,
                             itself && when != AT_END ? SEEN_UNABLE : SEEN_OK);
            if (!itself) {
                assert_int_equal(b.got.ended, 1);
                if (i % 5 == 0) /* others may have come to their own end */
                    assert_int_equal(b.got.code, SEEN_UNABLE);
            }
            fetch_free(web);
            assert_int_equal(b.got.ended, 1);
        }
}

/* Two answers that come at the same moment, of which the first that is read
   cancels the other. */
TEST(a_cancelled_request_gets_nothing_but_its_end)
{
    int both = 0;

    for (int i = 0; i < 20; i++) {
        struct fetch *web = client(2, 2);
        struct plot b = { .web = web, .path = "/slow/pair" };
        struct plot a = { .web = web, .path = "/slow/pair", .victim = &b };

        b.victim = &a;
        assert_int_equal(plot_start(&a), SEEN_OK);
        assert_int_equal(plot_start(&b), SEEN_OK);
        finish_all(web);
        fetch_free(web);
        assert_int_equal(a.got.ended + b.got.ended, 2);
        assert_int_equal(a.struck + b.struck, 1);
        both += a.got.code == SEEN_OK && b.got.code == SEEN_OK;
    }
    assert_int_equal(both, 0);
}

TEST(cancelling_from_outside_ends_at_once)
{
    struct fetch *web = client(1, 1);
    struct got g[3] = { { 0 } };

    for (int i = 0; i < 3; i++)
        start(web, "/silent", &g[i]);
    fetch_poll(web, 10);
    fetch_poll(web, 10);
    fetch_cancel(web, &g[2]); /* waits */
    assert_int_equal(g[2].ended, 1);
    fetch_cancel(web, &g[0]); /* runs */
    assert_int_equal(g[0].ended, 1);
    assert_int_equal(g[0].code, SEEN_UNABLE);
    assert_string_equal(g[0].why, "cancelled");
    assert_int_equal(g[1].ended, 0);
    fetch_cancel(web, &g[0]); /* is no more */
    fetch_cancel(web, web);   /* never was */
    assert_int_equal(g[0].ended, 1);
    assert_int_equal(fetch_poll(web, 10), 1);
    fetch_free(web);
    assert_int_equal(g[1].ended, 1);
}

TEST(nothing_begins_while_a_client_ends)
{
    struct fetch *web = client(1, 1);
    struct plot next = { .web = web, .path = "/plain" };
    struct plot p = { .web = web, .path = "/silent", .next = &next };

    assert_int_equal(plot_start(&p), SEEN_OK);
    fetch_poll(web, 10);
    fetch_free(web);
    assert_int_equal(p.got.code, SEEN_UNABLE);
    assert_int_equal(next.started, SEEN_UNABLE);
    assert_int_equal(next.got.ended, 0);
    fetch_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_and_all_together_have_their_limits),
        cmocka_unit_test(all_together_have_a_limit),
        cmocka_unit_test(a_slow_host_delays_no_other),
        cmocka_unit_test(requests_to_a_host_keep_their_order),
        cmocka_unit_test(connections_are_kept),
        cmocka_unit_test(many_may_wait),
        cmocka_unit_test(takers_may_refuse),
        cmocka_unit_test(an_end_may_be_a_beginning),
        cmocka_unit_test(anyone_may_be_cancelled_from_anywhere),
        cmocka_unit_test(a_cancelled_request_gets_nothing_but_its_end),
        cmocka_unit_test(cancelling_from_outside_ends_at_once),
        cmocka_unit_test(nothing_begins_while_a_client_ends),
    };

    return cmocka_run_group_tests(tests, served_begin, served_end);
}
