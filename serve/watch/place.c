/*
 * place.c - what is at a place, read anew for each look.
 *
 * The words of an operand decide which of the five kinds of places it is, and a
 * look asks that kind. Connections to databases and brokers stay open from one
 * look to the next, and are made again after an error; files are opened anew,
 * since they may be replaced. Rates come from the numbers of earlier looks
 * (rates.h).
 */
#include "place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../../frontier/spread.h"
#include "../../lib/disk/clock.h"
#include "../../lib/disk/walk.h"
#include "../../lib/text/buffer.h"
#include "../../lib/text/span.h"
#include "../../sql/sql.h"
#include "rates.h"
#include "watch_read.h"

#define SQLITE "sqlite:"

enum { PATIENCE = 2000 }; /* ms to wait for a server that is away */

struct watch_place {
    char *name, *shown; /* the address without its password */
    const char *where;  /* in `text` */
    char *text;
    bool named, broker;
    /* Connections to servers stay open until they fail. */
    struct frontier_status *status;
    struct queue *queue;
    struct watch_rates *rates;
    struct watch_look *unseen;
};

static void disconnect(struct watch_place *p)
{
    frontier_status_close(p->status);
    queue_close(p->queue);
    p->status = NULL;
    p->queue = NULL;
}

/* --- names --- */

/* "postgresql://me:secret@db.example/x?password=y" is shown as
   "postgresql://db.example/x". */
static void show_one(struct buffer *text, const char *where)
{
    const char *host = strstr(where, "://"), *end, *at;

    if (!host) {
        buffer_text(text, where);
        return;
    }
    host += 3;
    buffer_bytes(text, where, (size_t)(host - where));
    end = host + strcspn(host, "?#");
    for (at = host; at < end; at++)
        if (*at == '@')
            host = at + 1; /* a password may have a slash */
    buffer_bytes(text, host, (size_t)(end - host));
}

/* A frontier may have several databases. */
static char *shown_of(const char *where)
{
    struct buffer text = { .bytes = NULL };
    char *one[FRONTIER_DATABASES];
    unsigned n = 0;

    if (frontier_spread_split(where, one, &n, NULL) != SEEN_OK)
        return NULL;
    for (unsigned i = 0; i < n; i++) {
        buffer_text(&text, i ? "," : "");
        show_one(&text, one[i]);
        free(one[i]);
    }
    return buffer_take(&text);
}

/* The last part of a path or an address. */
static char *name_of(const char *shown)
{
    size_t len = strlen(shown), from;

    while (len > 1 && shown[len - 1] == '/')
        len--;
    for (from = len; from && shown[from - 1] != '/'; from--)
        ;
    return from < len ? strndup(shown + from, len - from) : strdup("crawls");
}

static struct watch_look *unseen_of(const struct watch_place *p)
{
    struct watch_look *look = watch_look_new();
    struct watch_crawl *c = look ? watch_look_add(look, p->name, p->shown)
                                 : NULL;

    if (c)
        c->why = "there is no answer yet";
    return look;
}

struct watch_place *watch_place_new(const char *text, bool broker)
{
    struct watch_place *p = calloc(1, sizeof *p);
    const char *equals;

    if (!p)
        return NULL;
    p->broker = broker;
    p->text = strdup(text);
    p->rates = watch_rates_new();
    p->where = p->text;
    equals = p->text ? strchr(p->text, '=') : NULL;
    p->named = equals && equals > p->text &&
               equals < p->text + strcspn(p->text, "/:");
    if (p->named) {
        p->name = strndup(p->text, (size_t)(equals - p->text));
        p->where = equals + 1;
    }
    if (p->where && !strncmp(p->where, SQLITE, strlen(SQLITE)))
        p->where += strlen(SQLITE);
    p->shown = p->where ? shown_of(p->where) : NULL;
    if (!p->named && p->shown)
        p->name = name_of(p->shown);
    if (p->name && p->shown)
        p->unseen = unseen_of(p);
    if (p->rates && p->unseen)
        return p;
    watch_place_free(p);
    return NULL;
}

void watch_place_free(struct watch_place *p)
{
    if (!p)
        return;
    disconnect(p);
    watch_look_free(p->unseen);
    watch_rates_free(p->rates);
    free(p->name);
    free(p->shown);
    free(p->text);
    free(p);
}

struct watch_look *watch_place_unseen(struct watch_place *p)
{
    return p->unseen;
}

/* --- what is there --- */

static bool is_there(const char *folder, const char *name)
{
    char *path = walk_path(folder, name);
    struct stat st;
    bool there = path && !stat(path, &st);

    free(path);
    return there;
}

static void fail(struct watch_look *look, const struct watch_place *p,
                 const char *words)
{
    struct watch_crawl *c = watch_look_add(look, p->name, p->shown);

    if (c)
        c->why = watch_text(look, span_of(words));
}

static void look_at_folder(struct watch_look *look, const char *name,
                           const char *folder)
{
    struct watch_crawl *c = watch_look_add(look, name, folder);

    if (c)
        watch_read_folder(look, c, folder);
}

/* One of the folders of a folder. With "NAME=" before it, it is NAME.SITE. */
static void look_at_one(struct watch_look *look, const struct watch_place *p,
                        const char *site)
{
    struct buffer name = { .bytes = NULL };
    char *folder = walk_path(p->where, site), *own = NULL;

    if (folder && is_there(folder, "state.db")) {
        if (p->named)
            buffer_format(&name, "%s.", p->name);
        buffer_text(&name, site);
        own = buffer_take(&name);
        if (own)
            look_at_folder(look, own, folder);
    }
    look->failed |= !folder;
    free(own);
    free(folder);
}

static void look_at_folders(struct watch_look *look,
                            const struct watch_place *p)
{
    struct walk_names names = { .name = NULL };
    struct seen_error why;

    if (walk_folder(&names, p->where, false, &why) != SEEN_OK)
        fail(look, p, why.text);
    for (size_t i = 0; i < names.n; i++)
        look_at_one(look, p, names.name[i]);
    walk_clear(&names);
    if (!look->crawls)
        fail(look, p, "there are no crawls here");
}

/* --- servers, and files of workers --- */

static enum seen_code open_queue(struct watch_place *p, struct seen_error *why)
{
    const struct queue_settings settings = { .looks = true,
                                             .existing = true,
                                             .names = "jobs,pages.0",
                                             .patience = PATIENCE };
    struct buffer address = { .bytes = NULL };
    enum seen_code code;
    char *where;

    if (p->queue)
        return SEEN_OK;
    if (!queue_is_address(p->where))
        buffer_text(&address, SQLITE);
    buffer_text(&address, p->where);
    where = buffer_take(&address);
    code = where ? queue_open(&p->queue, where, &settings, why)
                 : seen_fail(why, SEEN_NOMEM, 0, "no memory for an address");
    free(where);
    return code;
}

static void look_at_broker(struct watch_look *look, struct watch_place *p)
{
    struct watch_crawl *c = watch_look_add(look, p->name, p->shown);
    struct seen_error why;

    if (!c)
        return;
    c->kind = WATCH_BROKER;
    if (open_queue(p, &why) != SEEN_OK)
        c->why = watch_text(look, span_of(why.text));
    else if (!watch_read_queues(look, c, p->queue))
        disconnect(p);
}

/* A place of workers need not have queues. */
static void look_at_workers(struct watch_look *look, struct watch_place *p)
{
    struct watch_crawl *c = watch_look_add(look, p->name, p->shown);
    struct seen_error why;

    if (!c)
        return;
    c->kind = WATCH_SHARED;
    if (!p->status &&
        frontier_status_open(&p->status, p->where, &why) != SEEN_OK) {
        c->why = watch_text(look, span_of(why.text));
        return;
    }
    if (!watch_read_frontier(look, c, p->status, false) ||
        (open_queue(p, &why) == SEEN_OK &&
         !watch_read_queues(look, c, p->queue)))
        disconnect(p);
}

/* Files are opened anew for each look, so that one that was replaced is
   followed. */
static void look_at_path(struct watch_look *look, struct watch_place *p)
{
    struct stat st;

    if (stat(p->where, &st)) {
        fail(look, p,
             errno == ENOENT ? "there is nothing here now" : strerror(errno));
    } else if (S_ISREG(st.st_mode)) {
        look_at_workers(look, p);
        disconnect(p);
    } else if (is_there(p->where, "state.db")) {
        look_at_folder(look, p->name, p->where);
    } else if (S_ISDIR(st.st_mode)) {
        look_at_folders(look, p);
    } else {
        fail(look, p, "it is neither a folder nor a database");
    }
}

/* --- rates --- */

/* Rates that are not known count nothing. */
static void add_rate(double *sum, double rate)
{
    if (rate >= 0)
        *sum = rate + (*sum > 0 ? *sum : 0);
}

static void find_rates_of(struct watch_crawl *c, struct watch_rates *r,
                          uint64_t now)
{
    for (size_t i = 0; i < c->visits; i++) {
        struct watch_visit *v = &c->visit[i];

        if (v->state != WATCH_RUNS && v->state != WATCH_ENDING)
            continue;
        v->rate = watch_rate(r, "visit", c->name, v->name, v->pages, now);
        add_rate(&c->rate, v->rate);
        add_rate(&c->mean, v->mean);
    }
    for (size_t i = 0; i < c->workers; i++) {
        struct watch_worker *w = &c->worker[i];
        char number[24];

        snprintf(number, sizeof number, "%lld", (long long)w->number);
        if (w->ends_in > 0)
            w->rate = watch_rate(r, "worker", c->name, number, w->pages, now);
    }
    for (size_t i = 0; i < c->queues; i++) {
        struct watch_queue *q = &c->queue[i];

        if (q->done >= 0)
            q->rate = watch_rate(r, "queue", c->name, q->name, q->done, now);
    }
}

static void find_rates(struct watch_look *look, struct watch_rates *r)
{
    for (size_t i = 0; i < look->crawls; i++)
        find_rates_of(&look->crawl[i], r, look->at);
    watch_rates_turn(r);
}

struct watch_look *watch_place_look(struct watch_place *p)
{
    struct watch_look *look = watch_look_new();
    const uint64_t began = clock_ms();
    struct timespec now;

    if (!look)
        return NULL;
    if (p->broker)
        look_at_broker(look, p);
    else if (sql_is_url(p->where))
        look_at_workers(look, p);
    else
        look_at_path(look, p);
    clock_gettime(CLOCK_REALTIME, &now);
    look->unix_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    look->at = clock_ms();
    look->took = (unsigned)(look->at - began);
    find_rates(look, p->rates);
    return look;
}
