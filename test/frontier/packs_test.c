/* Pages that wait, packed: the same pages in the same order as in a list. */
#include "frontier/packs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seen/key.h>

#include "frontier/pack.h"
#include "lib/text/span.h"
#include "test/folder.h"

/* --- packs --- */

static uint64_t random_state;

static unsigned draw(unsigned below)
{
    return (unsigned)(seen_mix(random_state += UINT64_C(0x9e3779b97f4a7c15)) %
                      below);
}

static const struct seen_span name = { "a.example", 9 };

static struct frontier_page made(unsigned i)
{
    static char url[64][96];
    static const char *const begins[] = { "http://a.example/", "http://a.",
                                          "https://a.example:81/x", "" };

    snprintf(url[i], sizeof url[i], "%s%s%u", begins[draw(4)],
             draw(3) ? "pages/" : "", draw(100000));
    return (struct frontier_page){
        .via = draw(2) ? 7 : (int64_t)draw(100000) - 50000,
        .depth = draw(3) ? 2 : draw(1000000),
        .flags = draw(2) ? 0 : draw(256),
        .url = span_of(url[i]),
        .path = span_of(draw(2) ? "LLR" : ""),
        .type = span_of(draw(5) ? "" : "article"),
    };
}

static void assert_same(const struct frontier_page *a,
                        const struct frontier_page *b)
{
    assert_int_equal(a->via, b->via);
    assert_int_equal(a->depth, b->depth);
    assert_int_equal(a->flags, b->flags);
    assert_true(span_equal(a->url, b->url));
    assert_true(span_equal(a->path, b->path));
    assert_true(span_equal(a->type, b->type));
}

static struct seen_span bytes_of(const struct frontier_pack *pack)
{
    return (struct seen_span){ pack->bytes.bytes, pack->bytes.len };
}

TEST(a_pack_returns_what_was_added)
{
    struct frontier_pack pack = { .n = 0 };
    struct frontier_pack_reader r = { .index = 0 };
    struct frontier_page page[64];

    for (int round = 0; round < 200; round++) {
        unsigned index[64], n = 0;

        assert_true(frontier_pack_begin(&pack, name, 0));
        for (unsigned i = draw(3); i < 64; i += draw(4) ? 1 : 1 + draw(9)) {
            page[n] = made(n);
            index[n] = i;
            assert_true(frontier_pack_add(&pack, i, &page[n++]));
        }
        frontier_pack_read(&r, bytes_of(&pack), name);
        assert_int_equal(r.next, frontier_pack_next_index(&pack));
        for (unsigned i = 0; i < n; i++) {
            assert_true(frontier_pack_next(&r));
            assert_int_equal(r.index, index[i]);
            assert_same(&r.page, &page[i]);
        }
        assert_false(frontier_pack_next(&r));
        assert_false(r.damaged);
    }
    frontier_pack_clear(&pack);
    frontier_pack_reader_clear(&r);
}

TEST(bytes_that_are_no_pack_are_refused_and_not_read_past_their_end)
{
    struct frontier_pack pack = { .n = 0 };
    struct frontier_pack_reader r = { .index = 0 };
    unsigned damaged = 0;

    for (int round = 0; round < 3000; round++) {
        struct frontier_page page;
        unsigned n = 0, read = 0;
        size_t len;
        char *copy;

        assert_true(frontier_pack_begin(&pack, name, 0));
        for (n = 0; n < 1 + draw(8); n++) {
            page = made(n);
            assert_true(frontier_pack_add(&pack, n, &page));
        }
        len = draw(2) ? pack.bytes.len : draw((unsigned)pack.bytes.len + 1);
        copy = malloc(len + !len); /* of this length: sanitizers see its end */
        memcpy(copy, pack.bytes.bytes, len);
        for (unsigned i = draw(3); len && i; i--)
            copy[draw((unsigned)len)] = (char)draw(256);
        frontier_pack_read(&r, (struct seen_span){ copy, len }, name);
        while (frontier_pack_next(&r))
            read++;
        assert_true(read <= 64);
        damaged += r.damaged;
        free(copy);
    }
    assert_true(damaged > 1000);
    frontier_pack_clear(&pack);
    frontier_pack_reader_clear(&r);
}

TEST(a_url_of_forty_bytes_takes_as_many_as_are_its_own)
{
    struct frontier_pack pack = { .n = 0 };
    char url[64];

    assert_true(frontier_pack_begin(&pack, name, 0));
    for (unsigned i = 0; i < 64; i++) {
        const struct frontier_page page = { .via = 3,
                                            .depth = 2,
                                            .url = { url, 40 },
                                            .path = { "LL", 2 },
                                            .type = { "", 0 } };

        snprintf(url, sizeof url, "http://a.example/pages/x%016llx",
                 (unsigned long long)seen_mix(i));
        assert_true(frontier_pack_has_room(&pack, &page));
        assert_true(frontier_pack_add(&pack, i, &page));
    }
    /* 16 of its own, of which one in 16 begins as the one before, 3 of numbers,
       and what the first one brings. */
    assert_in_range(pack.bytes.len, 64 * 18, 64 * 19 + 24);
    frontier_pack_clear(&pack);
}

/* --- the frontier beside a list --- */

enum { HOSTS = 6, MOST = 4000, HAND = 40 };

/* One page of the list. */
struct listed {
    int64_t host, priority, via;
    uint64_t order; /* in which pages were added */
    unsigned depth, attempts, flags;
    bool waits, parked;
    char *url;
};

static struct listed list[MOST];
static unsigned listed;

static struct sql *db;
static struct frontier *f;
static int64_t host_id[HOSTS];

static void open_frontier(const char *file, bool make)
{
    char path[64];

    snprintf(path, sizeof path, "%s/%s.db", folder, file);
    assert_int_equal(sql_open(&db, path, SQL_CREATE, 1 << 20, NULL), SEEN_OK);
    assert_int_equal(sql_relax(db, true, NULL), SEEN_OK); /* no power cuts */
    if (make)
        assert_int_equal(frontier_create(db, NULL), SEEN_OK);
    assert_int_equal(frontier_open(&f, db, NULL), SEEN_OK);
}

static void close_frontier(void)
{
    frontier_close(f);
    sql_close(db);
}

static struct seen_span host_name(unsigned host)
{
    static char text[HOSTS][24];

    snprintf(text[host], sizeof text[host], "h%u.example", host);
    return span_of(text[host]);
}

static void find_hosts(void)
{
    for (unsigned i = 0; i < HOSTS; i++)
        assert_int_equal(frontier_host_id(f, host_name(i), &host_id[i], NULL),
                         SEEN_OK);
}

static struct seen_span text_of(const struct listed *l)
{
    return span_of(l->url);
}

static struct listed *find_url(struct seen_span url)
{
    for (unsigned i = listed; i-- > 0;)
        if (span_equal(text_of(&list[i]), url))
            return &list[i];
    return NULL;
}

/* What the frontier gave: the row and its place in the list. */
struct hand {
    int64_t id[HAND];
    struct listed *l[HAND];
    unsigned n, most;
};

static bool take(void *owner, const struct frontier_page *page)
{
    struct hand *hand = owner;
    struct listed *l = find_url(page->url);

    assert_non_null(l);
    assert_int_equal(page->priority, l->priority);
    assert_int_equal(page->via, l->via);
    assert_int_equal(page->depth, l->depth);
    assert_int_equal(page->attempts, l->attempts);
    assert_int_equal(page->flags, l->flags);
    assert_true(span_is(page->path, l->depth % 2 ? "LR" : ""));
    hand->id[hand->n] = page->id;
    hand->l[hand->n++] = l;
    return hand->n < hand->most;
}

/* The pages of a host that come next, by the list. */
static unsigned expect(int64_t host, struct listed *next[HAND], unsigned most)
{
    unsigned n = 0;

    while (n < most) {
        struct listed *best = NULL;

        for (unsigned i = 0; i < listed; i++) {
            struct listed *l = &list[i];
            bool before = !best || l->priority < best->priority ||
                          (l->priority == best->priority &&
                           l->order < best->order);

            if (!l->waits || l->parked || l->host != host || !before)
                continue;
            if (n && (l->priority < next[n - 1]->priority ||
                      (l->priority == next[n - 1]->priority &&
                       l->order <= next[n - 1]->order)))
                continue;
            best = l;
        }
        if (!best)
            break;
        next[n++] = best;
    }
    return n;
}

static void ask(unsigned host, struct hand *hand, unsigned most)
{
    struct listed *next[HAND];
    unsigned n = expect(host_id[host], next, most);

    *hand = (struct hand){ .most = most };
    assert_int_equal(frontier_next(f, host_id[host], most, take, hand, NULL),
                     SEEN_OK);
    assert_int_equal(hand->n, n);
    for (unsigned i = 0; i < n; i++)
        assert_ptr_equal(hand->l[i], next[i]);
}

static char *make_url(unsigned host, unsigned number)
{
    /* Some of 8 kB, which mostly begin alike. */
    size_t room = draw(60) ? 100 : 8200;
    char *url = malloc(room);
    int n = snprintf(url, room, "%s://h%u.example/%u/",
                     draw(4) ? "http" : "https", host, draw(5));

    for (; room > 100 && n < 8000; n++)
        url[n] = (char)('a' + (n / 2000 == 1 ? (int)draw(26) : 0));
    snprintf(url + n, room - (size_t)n, "p%u%s", number,
             draw(3) ? "" : "?a=b");
    return url;
}

static void add(unsigned host)
{
    struct listed *l = &list[listed];
    struct frontier_page page;
    int64_t id;

    *l = (struct listed){ .host = host_id[host],
                          .priority = draw(4) ? 1 : (int64_t)draw(4),
                          .via = draw(3) ? 5 : (int64_t)draw(1000),
                          .order = listed,
                          .depth = draw(4),
                          .flags = draw(5) ? 0 : 1 + draw(15),
                          .waits = true,
                          .url = make_url(host, listed) };
    listed++;
    page = (struct frontier_page){ .host = l->host,
                                   .priority = l->priority,
                                   .via = l->via,
                                   .depth = l->depth,
                                   .flags = l->flags,
                                   .url = text_of(l),
                                   .path = span_of(l->depth % 2 ? "LR" : ""),
                                   .type = span_of("") };
    assert_int_equal(frontier_add(f, &page, draw(9) ? &id : NULL, NULL),
                     SEEN_OK);
}

static void park(const struct hand *hand, unsigned i)
{
    const struct frontier_origin at = { .name = span_of("http://gone.example"),
                                        .closed = span_of("gone") };

    assert_int_equal(
        frontier_park(f, hand->l[i]->host, hand->id[i], &at, NULL), SEEN_OK);
    hand->l[i]->parked = true;
}

static void defer(const struct hand *hand, unsigned i)
{
    struct listed *l = hand->l[i];
    struct frontier_page page = { .id = hand->id[i],
                                  .host = l->host,
                                  .priority = l->priority +
                                              (draw(2) ? 100 : 0),
                                  .attempts = l->attempts + 1,
                                  .flags = l->flags ^ 1 };

    assert_int_equal(frontier_defer(f, &page, NULL), SEEN_OK);
    l->priority = page.priority;
    l->attempts = page.attempts;
    l->flags = page.flags;
}

/* What a commit does to the pages that came next. */
static void finish(struct hand *hand)
{
    for (unsigned i = 0; i < hand->n; i++) {
        struct listed *l = hand->l[i];

        switch (draw(12)) {
        case 0: break;
        case 1: park(hand, i); break;
        case 2: defer(hand, i); break;
        case 3:
            assert_int_equal(frontier_unpack(f, hand->id[i], NULL), SEEN_OK);
            break;
        default:
            assert_int_equal(frontier_remove(f, l->host, hand->id[i], NULL),
                             SEEN_OK);
            /* What is gone is not counted twice. */
            if (!draw(20))
                assert_int_equal(
                    frontier_remove(f, l->host, hand->id[i], NULL), SEEN_OK);
            l->waits = false;
        }
    }
}

struct counted {
    unsigned n;
};

static enum seen_code count_url(void *owner, int64_t id, struct seen_span url,
                                struct seen_error *why)
{
    struct counted *c = owner;
    const struct listed *l = find_url(url);

    (void)id;
    (void)why;
    assert_non_null(l);
    assert_true(l->waits);
    c->n++;
    return SEEN_OK;
}

static void compare_all(void)
{
    struct counted counted = { 0 };
    unsigned here = 0;
    int64_t waiting, all;
    struct hand hand;

    for (unsigned i = 0; i < listed; i++)
        here += list[i].waits;
    assert_int_equal(frontier_each(f, count_url, &counted, NULL), SEEN_OK);
    assert_int_equal(counted.n, here);
    assert_int_equal(frontier_count(f, &waiting, &all, NULL), SEEN_OK);
    assert_int_equal(all, here);
    for (unsigned i = 0; i < HOSTS; i++)
        ask(i, &hand, HAND);
    for (unsigned i = 0; i < 5 && listed; i++) {
        const struct listed *l = &list[draw(listed)];
        struct frontier_page page;
        bool found;

        for (unsigned h = 0; h < HOSTS; h++)
            if (host_id[h] == l->host)
                assert_int_equal(frontier_find(f, host_name(h), text_of(l),
                                               &found, &page, NULL),
                                 SEEN_OK);
        assert_int_equal(found, l->waits);
    }
}

static void commit(bool good)
{
    assert_int_equal(frontier_flush(f, NULL), SEEN_OK);
    if (good)
        assert_int_equal(sql_commit(db, NULL), SEEN_OK);
    else
        sql_rollback(db);
}

/* A step is a transaction, as of a crawl; a killed one leaves nothing. */
static void step(const char *file)
{
    static struct listed before[MOST];
    bool killed = !draw(12);
    unsigned was = listed;
    struct hand hand;

    memcpy(before, list, listed * sizeof *list);
    assert_int_equal(sql_begin(db, NULL), SEEN_OK);
    for (unsigned pages = 1 + draw(4); pages--;) {
        unsigned host = draw(3) ? 0 : draw(HOSTS);

        ask(host, &hand, 1 + draw(HAND - 1));
        for (unsigned n = draw(40); n-- && listed < MOST;)
            add(draw(2) ? host : draw(HOSTS));
        finish(&hand);
    }
    commit(!killed);
    if (killed || !draw(6)) {
        close_frontier();
        open_frontier(file, false);
    }
    if (killed) {
        for (unsigned i = was; i < listed; i++)
            free(list[i].url);
        memcpy(list, before, was * sizeof *list);
        listed = was;
    }
}

static void resume(void)
{
    assert_int_equal(sql_begin(db, NULL), SEEN_OK);
    assert_int_equal(frontier_resume(f, NULL), SEEN_OK);
    for (unsigned i = 0; i < listed; i++)
        list[i].parked = false;
    /* Parked pages go back to the host of their origin. */
    commit(true);
}

static void clear_list(void)
{
    while (listed)
        free(list[--listed].url);
}

TEST(pages_come_as_from_a_list_whatever_happens_to_them)
{
    random_state = 5;
    open_frontier("list", true);
    find_hosts();
    for (int i = 0; i < 150; i++) {
        step("list");
        if (i % 30 == 29)
            compare_all();
    }
    compare_all();
    close_frontier();
    clear_list();
}

TEST(parked_pages_come_back_and_flagged_ones_can_be_dropped)
{
    const struct frontier_origin at = { .name = span_of("http://h0.example"),
                                        .closed = span_of("gone") };
    struct hand hand;
    int64_t waiting, all;

    random_state = 6;
    open_frontier("parked", true);
    find_hosts();
    assert_int_equal(sql_begin(db, NULL), SEEN_OK);
    for (int i = 0; i < 300; i++)
        add(0);
    ask(0, &hand, HAND);
    for (unsigned i = 0; i < hand.n; i += 2) {
        assert_int_equal(frontier_park(f, host_id[0], hand.id[i], &at, NULL),
                         SEEN_OK);
        hand.l[i]->parked = true;
    }
    commit(true);
    compare_all();
    resume();
    compare_all();
    assert_int_equal(sql_begin(db, NULL), SEEN_OK);
    assert_int_equal(frontier_renew(f, 4, NULL), SEEN_OK);
    for (unsigned i = 0; i < listed; i++)
        list[i].waits = !(list[i].flags & 4);
    commit(true);
    compare_all();
    assert_int_equal(sql_begin(db, NULL), SEEN_OK);
    assert_int_equal(frontier_reset(f, NULL), SEEN_OK);
    commit(true);
    assert_int_equal(frontier_count(f, &waiting, &all, NULL), SEEN_OK);
    assert_int_equal(all, 0);
    close_frontier();
    clear_list();
}

/* --- many pages --- */

static void add_plain(int64_t host, const char *url, int64_t priority)
{
    const struct frontier_page page = { .host = host,
                                        .priority = priority,
                                        .url = span_of(url),
                                        .path = span_of("L"),
                                        .type = span_of("") };
    int64_t id;

    assert_int_equal(frontier_add(f, &page, &id, NULL), SEEN_OK);
}

struct first {
    int64_t id;
    unsigned n;
};

static bool take_first(void *owner, const struct frontier_page *page)
{
    struct first *first = owner;

    if (!first->n++)
        first->id = page->id;
    return true;
}

TEST(a_host_with_all_pages_is_read_from_its_beginning_only)
{
    enum { PAGES = 50000, ROUNDS = 200, MOST_ASKED = 8 };
    uint64_t before;
    char url[64];

    open_frontier("deep", true);
    find_hosts();
    assert_int_equal(sql_begin(db, NULL), SEEN_OK);
    for (int i = 0; i < PAGES; i++) {
        snprintf(url, sizeof url, "http://h0.example/%d", i);
        add_plain(host_id[0], url, i % 3);
    }
    commit(true);
    before = frontier_unpacked(f);
    for (int i = 0; i < ROUNDS; i++) {
        struct first first = { .n = 0 };

        assert_int_equal(sql_begin(db, NULL), SEEN_OK);
        assert_int_equal(
            frontier_next(f, host_id[0], MOST_ASKED, take_first, &first, NULL),
            SEEN_OK);
        assert_int_equal(first.n, MOST_ASKED);
        assert_int_equal(frontier_remove(f, host_id[0], first.id, NULL),
                         SEEN_OK);
        commit(true);
    }
    /* One that is done costs the pages of one row; a refill, those that it
       gets and one more. */
    assert_true(frontier_unpacked(f) - before <=
                (uint64_t)ROUNDS * (64 + MOST_ASKED + 1));
    close_frontier();
}

TEST(pages_of_hosts_that_have_but_one_are_found_again)
{
    enum { MANY = 20000 };
    int64_t waiting, all, id;
    char text[64];

    open_frontier("wide", true);
    assert_int_equal(sql_begin(db, NULL), SEEN_OK);
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "h%d.example", i);
        assert_int_equal(frontier_host_id(f, span_of(text), &id, NULL),
                         SEEN_OK);
        snprintf(text, sizeof text, "http://h%d.example/", i);
        add_plain(id, text, 0);
    }
    commit(true);
    assert_int_equal(frontier_count(f, &waiting, &all, NULL), SEEN_OK);
    assert_int_equal(all, MANY);
    for (int i = 0; i < MANY; i += 997) {
        struct first first = { .n = 0 };

        snprintf(text, sizeof text, "h%d.example", i);
        assert_int_equal(frontier_host_id(f, span_of(text), &id, NULL),
                         SEEN_OK);
        assert_int_equal(frontier_next(f, id, 9, take_first, &first, NULL),
                         SEEN_OK);
        assert_int_equal(first.n, 1);
    }
    close_frontier();
}

static enum seen_code count_any(void *owner, int64_t id, struct seen_span url,
                                struct seen_error *why)
{
    (void)id;
    (void)url;
    (void)why;
    ++*(unsigned *)owner;
    return SEEN_OK;
}

/* All that reads the row. */
static void expect_damage(const char *damage, const char *text)
{
    struct frontier_page page;
    struct seen_error why;
    struct first first = { .n = 0 };
    unsigned n = 0;
    bool found;

    assert_int_equal(sql_begin(db, NULL), SEEN_OK);
    assert_int_equal(sql_run(db, damage, NULL), SEEN_OK);
    assert_int_equal(frontier_next(f, host_id[0], 9, take_first, &first, &why),
                     SEEN_CORRUPT);
    assert_string_equal(why.text, text);
    assert_int_equal(frontier_find(f, host_name(0), span_of("http://x/"),
                                   &found, &page, &why),
                     SEEN_CORRUPT);
    assert_int_equal(frontier_each(f, count_any, &n, &why), SEEN_CORRUPT);
    sql_rollback(db);
}

TEST(a_damaged_row_is_a_fault_and_not_an_end)
{
    static const char first[] = "row 1 of the pages that wait is damaged";

    open_frontier("damaged", true);
    find_hosts();
    assert_int_equal(sql_begin(db, NULL), SEEN_OK);
    add_plain(host_id[0], "http://h0.example/1", 0);
    add_plain(host_id[0], "http://h0.example/2", 0);
    commit(true);
    expect_damage("UPDATE packed SET pages = x'0001ff'", first);
    /* Cut short where a page ends, and no page at all. */
    expect_damage("UPDATE packed SET pages = substr(pages, 1, 7)", first);
    expect_damage("UPDATE packed SET pages = x'0040'", first);
    /* An index that is said to be free; the next page would have the same. */
    expect_damage("UPDATE packed SET pages = x'0001' || substr(pages, 3)",
                  first);
    /* Numbers of which pages have none, or one that is not found again. */
    expect_damage("UPDATE packed SET id = 9223372036854775806",
                  "row 9223372036854775806 of the pages that wait is damaged");
    expect_damage("UPDATE packed SET id = -1",
                  "row -1 of the pages that wait is damaged");
    close_frontier();
}

TEST(a_damaged_row_of_the_journal_is_a_fault_and_not_an_end)
{
    static const char *const damages[] = {
        "x'01'",                               /* cut short in its head */
        "x'00000000' || substr(url, 5)",       /* fewer than there are */
        "substr(url, 1, length(url) - 1)",     /* cut short */
        "x'03000000' || substr(url, 5)",       /* more than there are */
        "x'ffffffff' || substr(url, 5)",
    };
    struct seen_error why;
    unsigned n = 0;

    open_frontier("journal", true);
    find_hosts();
    assert_int_equal(sql_begin(db, NULL), SEEN_OK);
    add_plain(host_id[0], "http://h0.example/1", 0);
    add_plain(host_id[0], "http://h0.example/2", 0);
    commit(true);
    assert_int_equal(frontier_journal(f, 0, count_any, &n, &why), SEEN_OK);
    for (size_t i = 0; i < LENGTH(damages); i++) {
        char text[99];

        snprintf(text, sizeof text,
                 "UPDATE journal SET url = CAST(%s AS BLOB)", damages[i]);
        assert_int_equal(sql_begin(db, NULL), SEEN_OK);
        assert_int_equal(sql_run(db, text, NULL), SEEN_OK);
        assert_int_equal(frontier_journal(f, 0, count_any, &n, &why),
                         SEEN_CORRUPT);
        assert_string_equal(why.text, "row 2 of the journal is damaged");
        sql_rollback(db);
    }
    close_frontier();
}

/* --- the version before --- */

TEST(rows_of_the_version_before_come_first_and_stay_readable)
{
    static const char version_1[] =
        "DROP TABLE packed; INSERT INTO hosts (id, name, queued) VALUES (7, "
        "'h0.example', 2); INSERT INTO frontier VALUES (70, 7, 1, 0, 1, 0, 0, "
        "'http://h0.example/old', 'L', ''), (71, 7, 1, 0, 1, 0, 0, "
        "'http://h0.example/older', 'L', ''); INSERT INTO journal (url) "
        "VALUES ('http://h0.example/old')";
    struct first first = { .n = 0 };
    int64_t waiting, all;

    open_frontier("before", true);
    assert_int_equal(sql_run(db, version_1, NULL), SEEN_OK);
    close_frontier();
    /* To be read, as it is. */
    open_frontier("before", false);
    assert_int_equal(frontier_next(f, 7, 9, take_first, &first, NULL),
                     SEEN_OK);
    assert_int_equal(first.n, 2);
    close_frontier();
    open_frontier("before", false);
    assert_int_equal(frontier_upgrade(db, NULL), SEEN_OK);
    close_frontier();
    open_frontier("before", false);
    assert_int_equal(sql_begin(db, NULL), SEEN_OK);
    add_plain(7, "http://h0.example/new", 1);
    commit(true);
    first.n = 0;
    assert_int_equal(frontier_next(f, 7, 9, take_first, &first, NULL),
                     SEEN_OK);
    assert_int_equal(first.n, 3);
    assert_int_equal(first.id, 70);
    assert_int_equal(sql_begin(db, NULL), SEEN_OK);
    assert_int_equal(frontier_remove(f, 7, 70, NULL), SEEN_OK);
    commit(true);
    assert_int_equal(frontier_count(f, &waiting, &all, NULL), SEEN_OK);
    assert_int_equal(all, 2);
    close_frontier();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pack_returns_what_was_added),
        cmocka_unit_test(
            bytes_that_are_no_pack_are_refused_and_not_read_past_their_end),
        cmocka_unit_test(a_url_of_forty_bytes_takes_as_many_as_are_its_own),
        cmocka_unit_test(pages_come_as_from_a_list_whatever_happens_to_them),
        cmocka_unit_test(
            parked_pages_come_back_and_flagged_ones_can_be_dropped),
        cmocka_unit_test(
            a_host_with_all_pages_is_read_from_its_beginning_only),
        cmocka_unit_test(pages_of_hosts_that_have_but_one_are_found_again),
        cmocka_unit_test(a_damaged_row_is_a_fault_and_not_an_end),
        cmocka_unit_test(
            a_damaged_row_of_the_journal_is_a_fault_and_not_an_end),
        cmocka_unit_test(
            rows_of_the_version_before_come_first_and_stay_readable),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
