/*
 * shared_hosts.c - hosts of the shared frontier: their names, their locks, and
 * which worker has them.
 *
 * Names become numbers here, before a transaction needs them: a host that is
 * new is inserted by a transaction of its own, sorted by name, and the numbers
 * are remembered. Then rows can be locked in one order, by number, whoever
 * locks them: workers that commit links to each other's hosts at the same time
 * wait for each other and never in a circle.
 *
 * After names and locks follow the steps of a worker: take hosts that are due,
 * take one host of a given name, count workers and hosts for its share, take
 * an address, give hosts back. Each is a transaction that may be repeated, and
 * those that change who has a host lock the worker's own row first
 * (frontier_shared_hold()): if its lease has ended, nothing changes.
 *
 * Between them two things are repaired. If the answer to a commit was lost,
 * hosts were taken that this worker does not know of
 * (frontier_shared_free_unknown()). And a clock that was set leaves due times
 * that cannot be (mend_times()).
 */
#include "shared_inside.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/disk/clock.h"
#include "../lib/text/array.h"
#include "../lib/text/memory.h"
#include "../lib/text/span.h"

enum {
    REMEMBERED = 1 << 16, /* names in memory */
    LOAD_MOST = 100000,   /* hosts that are counted */
    MEND_EVERY = 60000    /* ms */
};

/* --- names --- */

struct named_host {
    int64_t id;
    size_t len;
    char name[];
};

void frontier_shared_forget(struct frontier_shared *f)
{
    struct named_host *k;

    for (size_t at = 0; (k = map_next(&f->hosts, &at));)
        free(k);
    map_clear(&f->hosts);
}

static enum seen_code remember(struct frontier_shared *f,
                               struct seen_span name, int64_t id,
                               struct seen_error *why)
{
    struct named_host *k;

    if (map_get(&f->hosts, name.text, name.len))
        return SEEN_OK;
    k = calloc(1, sizeof *k + name.len);
    if (!k)
        return no_memory_for(why, "the frontier");
    k->id = id;
    k->len = name.len;
    memcpy(k->name, name.text, name.len);
    if (!map_set(&f->hosts, k->name, k->len, k)) {
        free(k);
        return no_memory_for(why, "the frontier");
    }
    return SEEN_OK;
}

/* Names that are not in memory, sorted. */
struct unknown {
    struct frontier_shared *f;
    struct seen_span *name;
    size_t n;
};

static int by_name(const void *a, const void *b)
{
    return span_order(*(const struct seen_span *)a,
                      *(const struct seen_span *)b);
}

static void collect(struct unknown *u, const struct seen_span *name, size_t n)
{
    size_t kept = 0;

    u->n = 0;
    for (size_t i = 0; i < n; i++)
        if (!map_get(&u->f->hosts, name[i].text, name[i].len))
            u->name[u->n++] = name[i];
    if (!u->n)
        return;
    qsort(u->name, u->n, sizeof *u->name, by_name);
    for (size_t i = 1; i < u->n; i++)
        if (!span_equal(u->name[i], u->name[kept]))
            u->name[++kept] = u->name[i];
    u->n = kept + 1;
}

static enum seen_code find_hosts(void *owner, struct sql *db,
                                 struct seen_error *why)
{
    struct unknown *u = owner;
    struct sql_statement *st = u->f->st[SHARED_HOST_FIND];
    enum seen_code code = SEEN_OK;
    bool row;

    (void)db;
    for (size_t at = 0; code == SEEN_OK && at < u->n; at += SHARED_LIST) {
        for (size_t i = 0; i < SHARED_LIST; i++)
            if (at + i < u->n)
                sql_bind_text(st, (int)i + 1, u->name[at + i]);
            else
                sql_bind_null(st, (int)i + 1);
        while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
            code = remember(u->f, sql_text(st, 1), sql_number(st, 0), why);
            if (code != SEEN_OK) {
                sql_reset(st);
                return code;
            }
        }
    }
    return code;
}

static void bind_name(void *owner, struct sql_statement *st, size_t i)
{
    const struct unknown *u = owner;

    sql_bind_text(st, 1, u->name[i]);
}

static enum seen_code add_hosts(void *owner, struct sql *db,
                                struct seen_error *why)
{
    struct unknown *u = owner;

    (void)db;
    return sql_do_many(u->f->st[SHARED_HOST_ADD], bind_name, u, u->n, NULL,
                       why);
}

enum seen_code frontier_shared_host_ids(struct frontier_shared *f,
                                        const struct seen_span *name, size_t n,
                                        int64_t *id, struct seen_error *why)
{
    struct unknown u = { .f = f };
    enum seen_code code = SEEN_OK;

    if (!n)
        return SEEN_OK;
    if (f->hosts.used > REMEMBERED)
        frontier_shared_forget(f);
    u.name = calloc(n, sizeof *u.name);
    if (!u.name)
        return no_memory_for(why, "the frontier");
    collect(&u, name, n);
    if (u.n)
        code = frontier_shared_read(f, find_hosts, &u, why);
    collect(&u, name, n);
    if (code == SEEN_OK && u.n) {
        code = frontier_shared_step(f, add_hosts, &u, why);
        frontier_shared_reach(f, "hosts");
        if (code == SEEN_OK)
            code = frontier_shared_read(f, find_hosts, &u, why);
    }
    for (size_t i = 0; code == SEEN_OK && i < n; i++) {
        const struct named_host *k = map_get(&f->hosts, name[i].text,
                                             name[i].len);

        if (k)
            id[i] = k->id;
        else
            code = seen_fail(why, SEEN_CORRUPT, i, "a host has no row");
    }
    free(u.name);
    return code;
}

enum seen_code frontier_shared_link_hosts(struct frontier_shared *f,
                                          const struct frontier_link *link,
                                          size_t n, int64_t *id,
                                          struct seen_error *why)
{
    struct seen_span *name = calloc(n + 1, sizeof *name);
    int64_t *found = calloc(n + 1, sizeof *found);
    enum seen_code code;
    size_t here = 0;

    for (size_t i = 0; name && i < n; i++) {
        id[i] = frontier_shared_database(f, link[i].host) == f->database;
        if (id[i])
            name[here++] = link[i].host;
    }
    code = name && found ? frontier_shared_host_ids(f, name, here, found, why)
                         : no_memory_for(why, "the frontier");
    here = 0;
    for (size_t i = 0; code == SEEN_OK && i < n; i++)
        id[i] = id[i] ? found[here++] : 0;
    free(found);
    free(name);
    return code;
}

/* --- locks --- */

static int by_id(const void *a, const void *b)
{
    const struct frontier_locked *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

size_t frontier_shared_sort(struct frontier_locked *host, size_t n)
{
    size_t kept = 0;

    if (!n)
        return 0;
    qsort(host, n, sizeof *host, by_id);
    for (size_t i = 1; i < n; i++)
        if (host[i].id != host[kept].id)
            host[++kept] = host[i];
    return kept + 1;
}

struct frontier_locked *frontier_shared_find(struct frontier_locked *host,
                                             size_t n, int64_t id)
{
    const struct frontier_locked key = { .id = id };

    return n ? bsearch(&key, host, n, sizeof *host, by_id) : NULL;
}

struct locking {
    struct frontier_locked *host;
    size_t n;
};

static void bind_lock(void *owner, struct sql_statement *st, size_t i)
{
    const struct locking *l = owner;

    sql_bind_number(st, 1, l->host[i].id);
}

static void take_lock(void *owner, struct sql_statement *st)
{
    const struct locking *l = owner;
    struct frontier_locked *h = frontier_shared_find(l->host, l->n,
                                                     sql_number(st, 0));

    if (!h)
        return;
    h->worker = sql_number(st, 1);
    h->barred = sql_number(st, 2);
    h->found = true;
}

enum seen_code frontier_shared_lock(struct frontier_shared *f,
                                    struct frontier_locked *host, size_t n,
                                    struct seen_error *why)
{
    struct locking l = { .host = host };
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < n; i++) {
        host[i].found = false;
        host[i].queued = 0;
    }
    for (; code == SEEN_OK && n; l.host += l.n, n -= l.n) {
        l.n = n < SHARED_ROWS ? n : SHARED_ROWS;
        code = sql_do_rows(f->st[SHARED_HOST_LOCK], bind_lock, &l, l.n,
                           take_lock, why);
    }
    return code;
}

static void bind_count(void *owner, struct sql_statement *st, size_t i)
{
    const struct frontier_locked *const *changed = owner;

    SQL_NUMBERS(st, 1, changed[i]->id, changed[i]->queued);
}

enum seen_code frontier_shared_count(struct frontier_shared *f,
                                     struct frontier_locked *host, size_t n,
                                     struct seen_error *why)
{
    const struct frontier_locked **changed = calloc(n + 1, sizeof *changed);
    enum seen_code code = SEEN_OK;
    size_t changes = 0, some;

    if (!changed)
        return no_memory_for(why, "the frontier");
    for (size_t i = 0; i < n; i++)
        if (host[i].queued)
            changed[changes++] = &host[i];
    for (size_t at = 0; code == SEEN_OK && at < changes; at += some) {
        some = changes - at < SHARED_ROWS ? changes - at : SHARED_ROWS;
        code = sql_do_rows(f->st[SHARED_HOST_COUNT], bind_count, changed + at,
                           some, NULL, why);
    }
    free(changed);
    return code;
}

/* --- who has them --- */

struct unknown_hosts {
    struct frontier_shared *f;
    struct frontier_locked *host;
    size_t n, room;
};

static enum seen_code find_unknown(struct unknown_hosts *u,
                                   struct seen_error *why)
{
    struct frontier_shared *f = u->f;
    struct sql_statement *st = f->st[SHARED_HOST_MINE];
    enum seen_code code;
    bool row;

    sql_bind_number(st, 1, f->number);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct frontier_locked *more;

        if (f->has(f->memory, sql_number(st, 0)))
            continue;
        more = array_grow(u->host, &u->room, u->n + 1, sizeof *more);
        if (!more) {
            sql_reset(st);
            return no_memory_for(why, "the frontier");
        }
        u->host = more;
        more[u->n++] = (struct frontier_locked){ .id = sql_number(st, 0) };
    }
    return code;
}

static void bind_undo(void *owner, struct sql_statement *st, size_t i)
{
    const struct unknown_hosts *u = owner;

    SQL_NUMBERS(st, 1, u->host[i].id, u->f->number);
}

/* If the answer to a commit was lost, hosts were taken that this worker has
   never heard of, and would never ask: they go back as they were. */
enum seen_code frontier_shared_free_unknown(struct frontier_shared *f,
                                            struct seen_error *why)
{
    struct unknown_hosts u = { .f = f };
    enum seen_code code = find_unknown(&u, why);

    if (code == SEEN_OK && u.n)
        code = frontier_shared_lock(f, u.host, u.n, why);
    if (code == SEEN_OK && u.n)
        code = sql_do_many(f->st[SHARED_HOST_UNDO], bind_undo, &u, u.n, NULL,
                           why);
    if (code == SEEN_OK && u.n) {
        sql_bind_number(f->st[SHARED_ADDRESS_DROP], 1, f->number);
        code = sql_do(f->st[SHARED_ADDRESS_DROP], why);
    }
    free(u.host);
    return code;
}

struct host_taking {
    struct frontier_shared *f;
    unsigned most, runs;
    int64_t ahead;
    struct frontier_leased *host;
    size_t n;
};

static void bind_take(void *owner, struct sql_statement *st, size_t i)
{
    const struct host_taking *t = owner;

    SQL_NUMBERS(st, 1, t->host[i].id, t->f->number);
}

static void read_host(struct sql_statement *st, struct frontier_leased *host)
{
    *host = (struct frontier_leased){
        .id = sql_number(st, 0),
        .due_in = sql_number(st, 1),
        .queued = sql_number(st, 2),
        .fetched = sql_number(st, 3),
        .failures = (unsigned)sql_number(st, 4),
        .name = sql_text(st, 5),
        .address = sql_text(st, 6),
    };
}

/* All rows of a statement. Their texts are kept in the buffer, which may
   move: they are found again by their lengths. */
static enum seen_code read_hosts(struct frontier_shared *f,
                                 struct sql_statement *st,
                                 struct frontier_leased *host, size_t *n,
                                 struct seen_error *why)
{
    enum seen_code code;
    size_t at = 0;
    bool row;

    *n = 0;
    f->text.len = 0;
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct frontier_leased *h = &host[(*n)++];

        read_host(st, h);
        buffer_span(&f->text, h->name);
        buffer_span(&f->text, h->address);
    }
    if (code == SEEN_OK && f->text.failed)
        code = no_memory_for(why, "the frontier");
    for (size_t i = 0; code == SEEN_OK && i < *n; i++) {
        struct frontier_leased *h = &host[i];

        h->name.text = f->text.len ? f->text.bytes + at : "";
        at += h->name.len;
        h->address.text = f->text.len ? f->text.bytes + at : "";
        at += h->address.len;
    }
    return code;
}

static enum seen_code choose(struct host_taking *t, struct seen_error *why)
{
    struct sql_statement *st = t->f->st[SHARED_HOST_READY];

    SQL_NUMBERS(st, 1, t->f->number, t->ahead, t->most);
    return read_hosts(t->f, st, t->host, &t->n, why);
}

static enum seen_code take_hosts(void *owner, struct sql *db,
                                 struct seen_error *why)
{
    struct host_taking *t = owner;
    enum seen_code code;

    (void)db;
    code = frontier_shared_hold(t->f, why);
    if (code == SEEN_OK && t->runs++ && t->f->has)
        code = frontier_shared_free_unknown(t->f, why);
    if (code == SEEN_OK)
        code = choose(t, why);
    if (code == SEEN_OK && t->n)
        code = sql_do_rows(t->f->st[SHARED_HOST_TAKE], bind_take, t, t->n,
                           NULL, why);
    frontier_shared_reach(t->f, "leased");
    return code;
}

/* --- times that cannot be --- */

struct mending {
    struct frontier_shared *f;
    int64_t id[SHARED_BATCH];
    size_t n;
};

static enum seen_code find_astray(void *owner, struct sql *db,
                                  struct seen_error *why)
{
    struct mending *m = owner;
    struct sql_statement *st = m->f->st[SHARED_HOST_ASTRAY];
    enum seen_code code;
    bool row;

    (void)db;
    m->n = 0;
    sql_bind_number(st, 1, SHARED_BATCH);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row)
        m->id[m->n++] = sql_number(st, 0);
    return code;
}

static void bind_mend(void *owner, struct sql_statement *st, size_t i)
{
    const struct mending *m = owner;

    SQL_NUMBERS(st, 1, m->id[i], SHARED_DELAY);
}

static enum seen_code mend_some(void *owner, struct sql *db,
                                struct seen_error *why)
{
    struct mending *m = owner;
    enum seen_code code = find_astray(m, db, why);

    if (code == SEEN_OK && m->n)
        code = sql_do_many(m->f->st[SHARED_HOST_MEND], bind_mend, m, m->n,
                           NULL, why);
    return code == SEEN_OK ? sql_do(m->f->st[SHARED_VISIT_MEND], why) : code;
}

/* Hosts with a due time that cannot be wait as long as they should have. */
static enum seen_code mend_times(struct frontier_shared *f,
                                 struct seen_error *why)
{
    struct mending m = { .f = f };
    int64_t now = clock_boot_ms();
    enum seen_code code;

    if (f->mended && now - f->mended < MEND_EVERY)
        return SEEN_OK;
    do
        code = frontier_shared_step(f, mend_some, &m, why);
    while (code == SEEN_OK && m.n == SHARED_BATCH);
    if (code == SEEN_OK)
        f->mended = now;
    return code;
}

enum seen_code frontier_shared_lease(struct frontier_shared *f, unsigned most,
                                     int64_t ahead, frontier_take_leased *take,
                                     void *owner, struct seen_error *why)
{
    struct host_taking t = { .f = f, .most = most, .ahead = ahead };
    enum seen_code code;

    code = frontier_shared_reap_dead(f, why);
    if (code == SEEN_OK && frontier_shared_may_take(f))
        code = mend_times(f, why);
    if (code != SEEN_OK || !most || !frontier_shared_may_take(f))
        return code;
    t.host = calloc(most, sizeof *t.host);
    code = t.host ? frontier_shared_step(f, take_hosts, &t, why)
                  : no_memory_for(why, "the frontier");
    if (code == SEEN_OK)
        frontier_shared_reach(f, "taken");
    for (size_t i = 0; code == SEEN_OK && i < t.n; i++)
        if (!take(owner, &t.host[i]))
            break;
    free(t.host);
    return code;
}

struct taking_one {
    struct frontier_shared *f;
    int64_t id, of, worker;
    struct frontier_leased *host;
    bool busy, given;
};

/* The host goes where the other one is: t->host has the address of that. */
static enum seen_code follow(struct taking_one *t, struct seen_error *why)
{
    struct sql_statement *st = t->f->st[SHARED_HOST_BUSY];
    enum seen_code code;

    sql_bind_number(st, 1, t->of);
    sql_bind_text(st, 2, t->host->address);
    code = sql_do(st, why);
    if (code != SEEN_OK)
        return code;
    t->given = true;
    st = t->f->st[SHARED_ADDRESS_DROP];
    sql_bind_number(st, 1, t->f->number);
    return sql_do(st, why);
}

static enum seen_code take_one(void *owner, struct sql *db,
                               struct seen_error *why)
{
    struct taking_one *t = owner;
    struct frontier_shared *f = t->f;
    struct host_taking taking = { .f = f, .host = t->host, .n = 1 };
    struct frontier_locked lock[2] = { { .id = t->id }, { .id = t->of } };
    size_t locks = frontier_shared_sort(lock, t->of ? 2 : 1), n;
    const struct frontier_locked *host, *of;
    enum seen_code code;

    (void)db;
    t->busy = t->given = false;
    code = frontier_shared_hold(f, why);
    if (code == SEEN_OK)
        code = frontier_shared_lock(f, lock, locks, why);
    if (code != SEEN_OK)
        return code;
    host = frontier_shared_find(lock, locks, t->id);
    t->worker = host->worker;
    of = t->of ? frontier_shared_find(lock, locks, t->of) : NULL;
    t->busy = host->worker && host->worker != f->number;
    t->host->id = t->id;
    if (!t->busy)
        code = sql_do_rows(f->st[SHARED_HOST_TAKE], bind_take, &taking, 1,
                           NULL, why);
    if (code == SEEN_OK) {
        sql_bind_number(f->st[SHARED_HOST_READ], 1, t->id);
        code = read_hosts(f, f->st[SHARED_HOST_READ], t->host, &n, why);
    }
    if (code == SEEN_OK && t->busy && t->host->address.len && of &&
        of->worker == f->number)
        code = follow(t, why);
    frontier_shared_reach(f, "host");
    return code;
}

enum seen_code frontier_shared_take(struct frontier_shared *f,
                                    struct seen_span name, int64_t of,
                                    struct frontier_leased *host, bool *given,
                                    struct seen_error *why)
{
    struct taking_one t = { .f = f, .of = of, .host = host };
    enum seen_code code;

    *given = false;
    code = frontier_shared_reap_dead(f, why);
    if (code == SEEN_OK && !frontier_shared_may_take(f))
        return seen_fail(why, SEEN_BUSY, 0, "a clock was set");
    if (code == SEEN_OK)
        code = frontier_shared_host_ids(f, &name, 1, &t.id, why);
    if (code == SEEN_OK)
        code = frontier_shared_step(f, take_one, &t, why);
    *given = t.given;
    host->worker = t.worker;
    return code == SEEN_OK && t.busy
               ? seen_fail(why, SEEN_BUSY, 0, "another worker has the host")
               : code;
}

struct load_reading {
    struct frontier_shared *f;
    struct frontier_load *load;
};

static enum seen_code read_load(void *owner, struct sql *db,
                                struct seen_error *why)
{
    struct load_reading *l = owner;
    struct sql_statement *st = l->f->st[SHARED_LOAD];
    enum seen_code code;
    bool row;

    (void)db;
    sql_bind_number(st, 1, LOAD_MOST);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        l->load->workers = sql_number(st, 0);
        l->load->hosts = sql_number(st, 1);
    }
    if (l->load->hosts > LOAD_MOST)
        l->load->hosts = LOAD_MOST;
    return code;
}

enum seen_code frontier_shared_load(struct frontier_shared *f,
                                    struct frontier_load *load,
                                    struct seen_error *why)
{
    struct load_reading l = { f, load };

    *load = (struct frontier_load){ .workers = 0 };
    return frontier_shared_read(f, read_load, &l, why);
}

struct addressing {
    struct frontier_shared *f;
    int64_t host;
    struct seen_span address;
    bool mine;
};

static enum seen_code set_address(void *owner, struct sql *db,
                                  struct seen_error *why)
{
    struct addressing *a = owner;
    struct frontier_shared *f = a->f;
    struct frontier_locked host = { .id = a->host };
    struct sql_statement *st = f->st[SHARED_ADDRESS_TAKE];
    enum seen_code code;

    a->mine = false;
    code = frontier_shared_hold(f, why);
    if (code == SEEN_OK)
        code = frontier_shared_lock(f, &host, 1, why);
    if (code != SEEN_OK || !host.found || host.worker != f->number)
        return code;
    sql_bind_text(st, 1, a->address);
    sql_bind_number(st, 2, f->number);
    code = sql_do(st, why);
    if (code != SEEN_OK)
        return code;
    a->mine = sql_changes(db) > 0;
    st = f->st[a->mine ? SHARED_HOST_ADDRESS : SHARED_HOST_BUSY];
    sql_bind_number(st, 1, a->host);
    sql_bind_text(st, 2, a->address);
    code = sql_do(st, why);
    frontier_shared_reach(f, "address");
    return code;
}

enum seen_code frontier_shared_address(struct frontier_shared *f, int64_t host,
                                       struct seen_span address, bool *mine,
                                       struct seen_error *why)
{
    struct addressing a = { .f = f, .host = host, .address = address };
    enum seen_code code = frontier_shared_step(f, set_address, &a, why);

    *mine = code == SEEN_OK && a.mine;
    return code;
}

/*
 * With several databases, who asks an address is decided in one of them, in the
 * table `claims`. The rows of `addresses` follow that where the hosts are, for
 * those who look for hosts there.
 */
enum { YIELDED = 2000 }; /* ms until a host is taken again */

struct claiming {
    struct frontier_shared *f;
    struct seen_span address;
    int64_t host, holder;
    bool here, mine;
};

static enum seen_code claim(struct claiming *a, struct seen_error *why)
{
    struct sql_statement *st = a->f->st[SHARED_CLAIM];
    enum seen_code code;

    sql_bind_text(st, 1, a->address);
    sql_bind_number(st, 2, a->f->number);
    code = sql_do(st, why);
    if (code != SEEN_OK)
        return code;
    a->holder = a->f->number;
    if (sql_changes(a->f->db) > 0)
        return SEEN_OK;
    st = a->f->st[SHARED_CLAIM_FIND];
    sql_bind_text(st, 1, a->address);
    a->holder = 0;
    return sql_first(st, &a->holder, why);
}

static enum seen_code claim_only(void *owner, struct sql *db,
                                 struct seen_error *why)
{
    struct claiming *a = owner;
    enum seen_code code = frontier_shared_hold(a->f, why);

    (void)db;
    return code == SEEN_OK ? claim(a, why) : code;
}

enum seen_code frontier_shared_claim(struct frontier_shared *f,
                                     struct seen_span address, int64_t *holder,
                                     struct seen_error *why)
{
    struct claiming a = { .f = f, .address = address };
    enum seen_code code = frontier_shared_step(f, claim_only, &a, why);

    *holder = a.holder;
    return code;
}

static enum seen_code keep_address(struct claiming *a, struct seen_error *why)
{
    struct sql_statement *st = a->f->st[SHARED_ADDRESS_SET];
    enum seen_code code;

    sql_bind_text(st, 1, a->address);
    sql_bind_number(st, 2, a->f->number);
    code = sql_do(st, why);
    if (code != SEEN_OK)
        return code;
    st = a->f->st[SHARED_HOST_ADDRESS];
    sql_bind_number(st, 1, a->host);
    sql_bind_text(st, 2, a->address);
    return sql_do(st, why);
}

static enum seen_code yield_host(struct claiming *a, struct seen_error *why)
{
    struct sql_statement *st = a->f->st[SHARED_ADDRESS_YIELD];
    enum seen_code code;

    sql_bind_text(st, 1, a->address);
    sql_bind_number(st, 2, a->holder);
    code = sql_do(st, why);
    if (code != SEEN_OK)
        return code;
    st = a->f->st[SHARED_HOST_YIELD];
    sql_bind_number(st, 1, a->host);
    sql_bind_text(st, 2, a->address);
    sql_bind_number(st, 3, YIELDED);
    return sql_do(st, why);
}

static enum seen_code apply_claim(void *owner, struct sql *db,
                                  struct seen_error *why)
{
    struct claiming *a = owner;
    struct frontier_locked host = { .id = a->host };
    enum seen_code code = frontier_shared_hold(a->f, why);

    (void)db;
    a->mine = false;
    if (code == SEEN_OK)
        code = frontier_shared_lock(a->f, &host, 1, why);
    if (code != SEEN_OK || !host.found || host.worker != a->f->number)
        return code;
    if (a->here)
        code = claim(a, why);
    if (code != SEEN_OK)
        return code;
    a->mine = a->holder == a->f->number;
    code = a->mine ? keep_address(a, why) : yield_host(a, why);
    frontier_shared_reach(a->f, "address");
    return code;
}

enum seen_code frontier_shared_apply(struct frontier_shared *f, int64_t host,
                                     struct seen_span address,
                                     const int64_t *holder, bool *mine,
                                     struct seen_error *why)
{
    struct claiming a = { .f = f,
                          .address = address,
                          .host = host,
                          .holder = holder ? *holder : 0,
                          .here = !holder };
    enum seen_code code = frontier_shared_step(f, apply_claim, &a, why);

    *mine = code == SEEN_OK && a.mine;
    return code;
}

enum seen_code frontier_shared_unclaim(struct frontier_shared *f,
                                       struct seen_span address,
                                       struct seen_error *why)
{
    struct sql_statement *st = f->st[SHARED_CLAIM_DROP];

    sql_bind_text(st, 1, address);
    sql_bind_number(st, 2, f->number);
    return sql_do(st, why);
}

struct returning {
    struct frontier_shared *f;
    const struct frontier_return *host;
    struct frontier_locked *lock;
    size_t n;
};

static void bind_return(void *owner, struct sql_statement *st, size_t i)
{
    const struct returning *r = owner;

    SQL_NUMBERS(st, 1, r->host[i].host, r->host[i].due_in, r->f->number);
}

static enum seen_code return_hosts(void *owner, struct sql *db,
                                   struct seen_error *why)
{
    struct returning *r = owner;
    struct frontier_shared *f = r->f;
    enum seen_code code;
    size_t n = r->n;

    (void)db;
    code = frontier_shared_hold(f, why);
    if (code != SEEN_OK)
        return code;
    for (size_t i = 0; i < n; i++)
        r->lock[i] = (struct frontier_locked){ .id = r->host[i].host };
    n = frontier_shared_sort(r->lock, n);
    code = frontier_shared_lock(f, r->lock, n, why);
    if (code == SEEN_OK && r->n)
        code = sql_do_rows(f->st[SHARED_HOST_RETURN], bind_return, r, r->n,
                           NULL, why);
    if (code == SEEN_OK) {
        sql_bind_number(f->st[SHARED_ADDRESS_DROP], 1, f->number);
        code = sql_do(f->st[SHARED_ADDRESS_DROP], why);
    }
    frontier_shared_reach(f, "returned");
    return code;
}

enum seen_code frontier_shared_release(struct frontier_shared *f,
                                       const struct frontier_return *host,
                                       size_t n, struct seen_error *why)
{
    struct returning r = { .f = f, .host = host, .n = n };
    enum seen_code code;

    r.lock = calloc(n + 1, sizeof *r.lock);
    code = r.lock ? frontier_shared_step(f, return_hosts, &r, why)
                  : no_memory_for(why, "the frontier");
    free(r.lock);
    return code;
}
