/*
 * frontier_shared.c - seen bench frontier --at: the frontier of many workers.
 *
 * One worker does what a crawl does, without the web: it takes hosts, reads
 * their next pages, commits groups of them with the links found on them, and
 * gives the hosts back. Beside it, in alternating slices, the same rows go
 * into a table with the same columns and indexes, by INSERTs of many rows and
 * one commit per group: what the database can do without a frontier.
 */
#include "frontier_shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/key.h>

#include "../frontier/shared.h"
#include "../lib/text/buffer.h"
#include "../lib/text/span.h"
#include "bench.h"

enum {
    HOSTS = 1000,    /* in the web */
    PER_HOST = 5,    /* pages of a host, each time it is taken */
    LINKS = 10,      /* new, per page */
    ROUNDS = 7,      /* slices */
    PAGES = 2560,    /* per slice */
    GROUP_MOST = 256 /* pages */
};

struct shared_bench {
    struct sql *db;
    struct frontier_shared *f;
    struct sql_statement *bare;
    unsigned group; /* pages */
    uint64_t made;  /* links */
    int64_t visit;
    uint64_t bare_made;
    struct seen_error why;
    /* a group */
    struct frontier_done done[GROUP_MOST];
    struct frontier_asked asked[GROUP_MOST];
    struct frontier_link link[GROUP_MOST * LINKS];
    size_t from[GROUP_MOST * LINKS];
    bool fresh[GROUP_MOST * LINKS];
    char url[GROUP_MOST * LINKS][64], host[GROUP_MOST * LINKS][32];
    size_t dones, askeds, links;
    struct frontier_return hosts[GROUP_MOST];
    size_t taken;
};

/* The columns and the indexes of the table of pages. */
static const char bare_table[] =
    "CREATE TABLE bare (id {serial}, visit {number} NOT NULL, host {number} "
    "NOT NULL, state {number} NOT NULL, priority {number} NOT NULL, via "
    "{number} NOT NULL, depth {number} NOT NULL, attempts {number} NOT NULL, "
    "flags {number} NOT NULL, key {bytes} NOT NULL, url TEXT NOT NULL, path "
    "TEXT NOT NULL, type TEXT NOT NULL);"
    "CREATE UNIQUE INDEX bare_key ON bare (visit, key);"
    "CREATE INDEX bare_next ON bare (host, priority, id) WHERE state = 0";

enum { BARE_ROWS = 50, BARE_COLUMNS = 12 };

/* --- made-up links --- */

static void make_link(struct shared_bench *b, size_t at, uint64_t number,
                      int64_t visit, int64_t via)
{
    uint64_t key[2] = { seen_mix(number),
                        seen_mix(number + UINT64_C(0x5bd1e995)) };
    unsigned host = (unsigned)(key[0] % HOSTS);

    snprintf(b->host[at], sizeof b->host[0], "www.host-%u.example", host);
    snprintf(b->url[at], sizeof b->url[0],
             "http://www.host-%u.example/path/to/%llu", host,
             (unsigned long long)number);
    b->link[at] = (struct frontier_link){
        .visit = visit,
        .host = span_of(b->host[at]),
        .page = { .priority = (int64_t)(number % 8),
                  .via = via,
                  .depth = 3,
                  .url = span_of(b->url[at]),
                  .path = span_of("LLL"),
                  .type = span_of("") },
    };
    memcpy(b->link[at].key, key, sizeof b->link[at].key);
}

/* --- the frontier --- */

static enum seen_code begin(struct shared_bench *b)
{
    const struct frontier_visit visit = { .visit = span_of("bench@1"),
                                          .name = span_of("bench"),
                                          .job = span_of("{}"),
                                          .seed = 1,
                                          .shards = 4 };
    enum frontier_visit_state state;
    enum seen_code code = SEEN_OK;

    /* A start page per link of the largest group: about two per host. */
    for (size_t i = 0; i < GROUP_MOST * LINKS; i++)
        make_link(b, i, b->made++, 0, 0);
    code = frontier_shared_begin(b->f, &visit, b->link, GROUP_MOST * LINKS,
                                 &state, &b->why);
    b->visit = 1;
    return code;
}

static enum seen_code commit(struct shared_bench *b)
{
    struct frontier_group group = { .done = b->done,
                                    .dones = b->dones,
                                    .asked = b->asked,
                                    .askeds = b->askeds,
                                    .link = b->link,
                                    .links = b->links,
                                    .from = b->from,
                                    .fresh = b->fresh };
    enum seen_code code = frontier_shared_commit(b->f, &group, &b->why);

    for (size_t i = 0; code == SEEN_OK && i < b->links; i++)
        if (!b->fresh[i])
            code = seen_fail(&b->why, SEEN_CORRUPT, i, "a link is not new");
    for (size_t i = 0; code == SEEN_OK && i < b->dones; i++)
        if (b->done[i].refused)
            code = seen_fail(&b->why, SEEN_CORRUPT, i, "a page was refused");
    b->dones = b->askeds = b->links = 0;
    return code;
}

static bool take_host(void *owner, const struct frontier_leased *host)
{
    struct shared_bench *b = owner;

    b->hosts[b->taken++] = (struct frontier_return){ .host = host->id };
    return true;
}

static bool take_page(void *owner, const struct frontier_shared_page *page)
{
    struct shared_bench *b = owner;
    struct frontier_done *d = &b->done[b->dones];

    *d = (struct frontier_done){ .page = page->page,
                                 .visit = page->visit,
                                 .end = FRONTIER_FETCHED,
                                 .bytes = 10000,
                                 .shard = page->key[0] % 4 };
    d->page.url = d->page.path = d->page.type = span_of("");
    for (size_t i = 0; i < LINKS; i++) {
        b->from[b->links] = b->dones;
        make_link(b, b->links++, b->made++, b->visit, page->page.id);
    }
    b->asked[b->askeds - 1].requests++;
    b->asked[b->askeds - 1].fetched++;
    b->asked[b->askeds - 1].bytes += 10000;
    b->dones++;
    return b->dones < b->group;
}

/* Hosts for a group are taken, asked and given back. */
static enum seen_code turn(struct shared_bench *b, size_t *pages)
{
    enum seen_code code;

    b->taken = 0;
    code = frontier_shared_lease(b->f, (b->group + PER_HOST - 1) / PER_HOST,
                                 1000000, take_host, b, &b->why);
    for (size_t i = 0; code == SEEN_OK && i < b->taken; i++) {
        if (b->dones == b->group)
            break;
        b->asked[b->askeds++] = (struct frontier_asked){
            .host = b->hosts[i].host, .delay = 1000, .due_in = 1000
        };
        code = frontier_shared_next(b->f, b->hosts[i].host, PER_HOST,
                                    take_page, b, &b->why);
    }
    *pages += b->dones;
    if (code == SEEN_OK && !b->dones)
        code = seen_fail(&b->why, SEEN_CORRUPT, 0, "no page waits");
    if (code == SEEN_OK)
        code = commit(b);
    if (code == SEEN_OK)
        code = frontier_shared_release(b->f, b->hosts, b->taken, &b->why);
    return code;
}

/* --- what the database can do --- */

static enum seen_code prepare_bare(struct shared_bench *b)
{
    struct buffer text = { .bytes = NULL };
    enum seen_code code = sql_run(b->db, bare_table, &b->why);
    char *insert;

    buffer_text(&text, "INSERT INTO bare (visit, host, state, priority, via, "
                       "depth, attempts, flags, key, url, path, type) VALUES");
    for (unsigned i = 0; i < BARE_ROWS * BARE_COLUMNS; i++)
        buffer_format(&text, "%s?%u%s",
                      i % BARE_COLUMNS ? ", "
                      : i              ? ", ("
                                       : " (",
                      i + 1, i % BARE_COLUMNS == BARE_COLUMNS - 1 ? ")" : "");
    buffer_text(&text, " ON CONFLICT DO NOTHING");
    insert = buffer_take(&text);
    if (!insert)
        return seen_fail(&b->why, SEEN_NOMEM, 0, "no memory");
    if (code == SEEN_OK)
        code = sql_prepare(&b->bare, b->db, insert, &b->why);
    free(insert);
    return code;
}

static enum seen_code insert_bare(struct shared_bench *b, size_t n)
{
    enum seen_code code = SEEN_OK;

    for (size_t at = 0; code == SEEN_OK && at + BARE_ROWS <= n;
         at += BARE_ROWS) {
        for (size_t i = 0; i < BARE_ROWS; i++) {
            const struct frontier_link *l = &b->link[at + i];
            const int64_t number[] = { l->visit,    1,
                                       0,           l->page.priority,
                                       l->page.via, l->page.depth,
                                       0,           0 };
            int to = (int)(i * BARE_COLUMNS);

            for (int k = 0; k < 8; k++)
                sql_bind_number(b->bare, to + k + 1,
                                k == 1 ? (int64_t)(l->key[0] % 100)
                                       : number[k]);
            sql_bind_bytes(b->bare, to + 9,
                           (struct seen_span){ (const char *)l->key, 16 });
            sql_bind_text(b->bare, to + 10, l->page.url);
            sql_bind_text(b->bare, to + 11, l->page.path);
            sql_bind_text(b->bare, to + 12, l->page.type);
        }
        code = sql_do(b->bare, &b->why);
    }
    return code;
}

static enum seen_code bare_group(struct shared_bench *b, size_t *links)
{
    size_t n = (size_t)b->group * LINKS / BARE_ROWS * BARE_ROWS;
    enum seen_code code;

    for (size_t i = 0; i < n; i++)
        make_link(b, i, b->bare_made++, 1, 7);
    code = sql_begin(b->db, &b->why);
    if (code == SEEN_OK)
        code = insert_bare(b, n);
    if (code == SEEN_OK)
        code = sql_commit(b->db, &b->why);
    *links += n;
    return code;
}

/* --- all of it --- */

struct figures {
    double links, pages, bare;
};

static enum seen_code measure(struct shared_bench *b, struct figures *f)
{
    double links[ROUNDS], pages[ROUNDS], bare[ROUNDS];
    enum seen_code code = SEEN_OK;

    for (int i = 0; code == SEEN_OK && i < ROUNDS; i++) {
        size_t n = 0, rows = 0;
        double began = bench_ns(), took;

        while (code == SEEN_OK && n < PAGES)
            code = turn(b, &n);
        took = (bench_ns() - began) / 1e9;
        pages[i] = (double)n / took;
        links[i] = (double)n * LINKS / took;
        began = bench_ns();
        while (code == SEEN_OK && rows < (size_t)PAGES * LINKS)
            code = bare_group(b, &rows);
        bare[i] = (double)rows / ((bench_ns() - began) / 1e9);
    }
    if (code != SEEN_OK)
        return code;
    f->links = bench_median(links, ROUNDS);
    f->pages = bench_median(pages, ROUNDS);
    f->bare = bench_median(bare, ROUNDS);
    return SEEN_OK;
}

static bool show(const struct shared_bench *b, const struct figures *f,
                 bool json)
{
    double ratio = f->links / f->bare;
    bool links = f->links >= 20000, pages = f->pages >= 2000;

    if (json) {
        printf("{\"bench\": \"frontier\", \"group\": %u, ", b->group);
        bench_json("links_per_second", f->links, ", ");
        bench_json("pages_per_second", f->pages, ", ");
        bench_json("bare_per_second", f->bare, ", ");
        bench_json("ratio", ratio, "}\n");
    } else {
        printf("groups of %u pages with %d new links each\n"
               "%10.0f links/s        >= 20000%s\n"
               "%10.0f pages/s        >= 2000%s\n"
               "%10.0f rows/s by bare INSERTs of %d; ours %.2f of that%s\n",
               b->group, LINKS, f->links, links ? "" : "  missed", f->pages,
               pages ? "" : "  missed", f->bare, BARE_ROWS, ratio,
               ratio >= 0.25 ? "  >= 0.25" : "  >= 0.25  missed");
    }
    return links && pages && ratio >= 0.25;
}

static enum seen_code open_bench(struct shared_bench *b, const char *where)
{
    const struct frontier_worker worker = { .name = "bench:1",
                                            .lease = 600000,
                                            .patience = 10000 };
    enum seen_code code;
    char schema[64];

    code = sql_connect(&b->db, where, SQL_CREATE, &b->why);
    if (code == SEEN_OK && sql_is_url(where)) {
        snprintf(schema, sizeof schema,
                 "CREATE SCHEMA bench_%d; SET search_path TO bench_%d",
                 (int)getpid(), (int)getpid());
        code = sql_run(b->db, schema, &b->why);
    }
    if (code == SEEN_OK)
        code = frontier_shared_create(b->db, &b->why);
    if (code == SEEN_OK)
        code = frontier_shared_open(&b->f, b->db, &worker, &b->why);
    if (code == SEEN_OK)
        code = frontier_shared_join(b->f, &b->why);
    if (code == SEEN_OK)
        code = prepare_bare(b);
    return code == SEEN_OK ? begin(b) : code;
}

static void close_bench(struct shared_bench *b, const char *where)
{
    char schema[64];

    frontier_shared_close(b->f);
    if (b->db && sql_is_url(where)) {
        snprintf(schema, sizeof schema, "DROP SCHEMA bench_%d CASCADE",
                 (int)getpid());
        sql_run(b->db, schema, NULL);
    }
    sql_close(b->db);
    free(b);
}

int bench_frontier_shared(const char *where, bool json)
{
    static const unsigned groups[] = { 50, GROUP_MOST };
    struct shared_bench *b = calloc(1, sizeof *b);
    struct figures figures;
    enum seen_code code;
    bool good = true;

    if (!b) {
        fprintf(stderr, "seen: bench: no memory\n");
        return 2;
    }
    b->bare_made = UINT64_C(1) << 40;
    code = open_bench(b, where);
    for (size_t i = 0; code == SEEN_OK && i < 2; i++) {
        b->group = groups[i];
        code = measure(b, &figures);
        if (code == SEEN_OK)
            good &= show(b, &figures, json);
    }
    if (code != SEEN_OK)
        fprintf(stderr, "seen: bench: %s\n", b->why.text);
    close_bench(b, where);
    return code != SEEN_OK ? 2 : good ? 0 : 1;
}
