/*
 * write.c - adds and removes over HTTP.
 *
 *     PUT /NAME/<URL>       201 if it was new, 200 if not
 *     DELETE /NAME/<URL>    204; 404 if its count was 0
 *     POST /add/NAME        {"offered": 3, "new": 2, "bad": 0}
 *
 * They run in threads of the pool, since a flush to the disk takes its time,
 * and are answered when the journal has them, as --sync says. A list is
 * added in batches while it comes in; what was acknowledged is the whole.
 */
#define _GNU_SOURCE
#include "request.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../archives/guard.h"
#include "list.h"

/* Keys with texts of their own: what they were made from may be gone. */
struct work {
    struct job job;
    struct conn *conn;
    struct library *library;
    char *path;
    struct seen_profile profile;
    bool remove;
    enum seen_code code;
    struct seen_error why;
    uint64_t fresh;
    struct keys keys;
};

static void run_work(struct job *j)
{
    struct work *w = (struct work *)j;
    bool fresh[LOOP_BATCH];
    struct writer *writer;

    w->code = writer_get(&writer, w->library, w->path, &w->profile, &w->why);
    if (w->code != SEEN_OK)
        return;
    guard_begin();
    if (w->remove)
        w->code = seen_filter_remove(writer_filter(writer), w->keys.key,
                                     w->keys.n, &w->why);
    else
        w->code = seen_filter_add(writer_filter(writer), w->keys.key,
                                  w->keys.n, fresh, &w->why);
    w->code = writer_changed(writer, w->code, &w->why);
    for (size_t i = 0; w->code == SEEN_OK && !w->remove && i < w->keys.n; i++)
        w->fresh += fresh[i];
    writer_put(w->library, writer);
}

static struct work *work_new(struct conn *c, const struct archive *a)
{
    struct work *w = malloc(sizeof *w);

    if (!w)
        return NULL;
    memset(w, 0, offsetof(struct work, keys));
    w->keys.n = w->keys.used = 0;
    w->conn = c;
    w->library = c->loop->server->library;
    w->path = strdup(a->path);
    w->profile = a->profile;
    w->job.run = run_work;
    if (w->path)
        return w;
    free(w);
    return NULL;
}

static void work_free(struct work *w)
{
    free(w->path);
    free(w);
}

/* A key whose text is in the work's own memory. */
static enum seen_code work_add(struct work *w, struct span url,
                               const struct seen_profile *profile,
                               struct seen_error *why)
{
    struct keys *k = &w->keys;
    enum seen_code code = keys_add(k, url.text, url.len, profile, why);
    struct seen_key *key;

    if (code != SEEN_OK)
        return code;
    key = &k->key[k->n - 1];
    if (key->text >= k->text && key->text < k->text + sizeof k->text)
        return SEEN_OK;
    memcpy(k->text + k->used, key->text, key->len);
    key->text = k->text + k->used;
    k->used += key->len;
    return SEEN_OK;
}

static int status_of(enum seen_code code)
{
    switch (code) {
    case SEEN_FULL: return 507;
    case SEEN_BUSY:
    case SEEN_CORRUPT: return 503;
    case SEEN_UNABLE: return 409;
    case SEEN_RANGE: return 404;
    case SEEN_MISMATCH: return 400; /* it is no list */
    default: return 500;
    }
}

/* --- one URL --- */

struct one {
    struct exchange exchange;
    struct work *work;
};

static void one_free(struct exchange *x)
{
    struct one *one = (struct one *)x;

    if (one->work) /* the client went before its body ended */
        work_free(one->work);
    free(one);
}

static void one_body(struct exchange *x, const char *bytes, size_t n)
{
    (void)x, (void)bytes, (void)n; /* a PUT has nothing to say */
}

static void one_done(struct job *j)
{
    struct work *w = (struct work *)j;
    struct conn *c = w->conn;

    if (conn_back(c)) {
        const struct http_request *r = &c->web->request;

        if (w->code != SEEN_OK) {
            reply_error(c, r, status_of(w->code),
                        w->code == SEEN_RANGE ? "no" : NULL, "%s",
                        w->why.text);
        } else if (w->remove) {
            COUNT(c->loop, removed, 1);
            reply_text(c, r, 204, NULL, "", 0);
        } else {
            COUNT(c->loop, added, 1);
            reply_begin(c, r, w->fresh ? 201 : 200);
            out_format(conn_out(c), "Seen-Answer: %s\r\n",
                       w->fresh ? "new" : "seen");
            reply_end(c, r, NULL, 0);
        }
        web_done(c);
        c->loop->looked = false; /* what follows sees what was changed */
        conn_go_on(c);
    }
    work_free(w);
}

static void one_end(struct exchange *x)
{
    struct one *one = (struct one *)x;
    struct conn *c = x->conn;
    struct work *w = one->work;

    one->work = NULL; /* it is freed when it is done */
    w->job.done = one_done;
    conn_hold(c);
    conn_wait(c);
    if (loop_run(c->loop, &w->job))
        return;
    conn_back(c);
    c->waiting = false;
    reply_error(c, &c->web->request, 503, NULL, "too much to do");
    work_free(w);
}

void write_one(struct conn *c, const struct http_request *r, struct archive *a,
               struct span url)
{
    static const struct exchange_kind kind = { one_body, one_end, one_free };
    struct work *w = work_new(c, a);
    struct one *one = calloc(1, sizeof *one);
    struct seen_error why;

    if (!w || !one) {
        web_unwanted(c, r);
        reply_error(c, r, 503, NULL, "no memory");
    } else if (work_add(w, url, &a->profile, &why) != SEEN_OK) {
        web_unwanted(c, r);
        reply_error(c, r, 400, "bad-url", "%s", why.text);
    } else {
        w->remove = r->method == HTTP_DELETE;
        one->exchange.kind = &kind;
        one->work = w;
        web_exchange(c, r, &one->exchange);
        return;
    }
    if (w)
        work_free(w);
    free(one);
}

/* --- a list --- */

/*
 * A body is taken in as fast as it can be added: when a batch is full the
 * connection waits for its job, and what came beyond the batch waits in
 * `late`.
 */
struct adds {
    struct exchange exchange;
    struct list list;
    char *archive;
    struct work *work;       /* that is being filled */
    struct work *full[1024]; /* that are to be done, in order */
    size_t fulls, next;
    bool ended; /* the body is */
    uint64_t offered, fresh, bad;
    enum seen_code code;
    struct seen_error why;
};

static void adds_free(struct exchange *x)
{
    struct adds *a = (struct adds *)x;

    for (size_t i = a->next; i < a->fulls; i++)
        work_free(a->full[i]);
    if (a->work)
        work_free(a->work);
    list_clear(&a->list);
    free(a->archive);
    free(a);
}

static struct archive *target(struct adds *a)
{
    return shelf_find(a->exchange.conn->loop->shelf,
                      (struct span){ a->archive, strlen(a->archive) });
}

static void add_url(void *to, struct span url)
{
    struct adds *a = to;
    struct archive *it = target(a);

    a->offered++;
    if (a->code != SEEN_OK)
        return;
    if (!it || !it->filter) {
        a->code = seen_fail(&a->why, SEEN_IO, 0, "the archive is gone");
        return;
    }
    if (!a->work && !(a->work = work_new(a->exchange.conn, it))) {
        a->code = seen_fail(&a->why, SEEN_NOMEM, 0, "no memory");
        return;
    }
    if (work_add(a->work, url, &it->profile, NULL) != SEEN_OK) {
        a->bad++;
        return;
    }
    if (a->work->keys.n < LOOP_BATCH && a->work->keys.used <= LOOP_TEXT)
        return;
    if (a->fulls == sizeof a->full / sizeof a->full[0]) {
        a->code = seen_fail(&a->why, SEEN_NOMEM, 0, "too much at once");
        return;
    }
    a->full[a->fulls++] = a->work;
    a->work = NULL;
}

static void adds_reply(struct adds *a)
{
    struct conn *c = a->exchange.conn;
    struct out body = { .bytes = NULL };

    if (a->code != SEEN_OK) {
        reply_error(c, &c->web->request, status_of(a->code), NULL,
                    "%s; %" PRIu64 " were new before", a->why.text, a->fresh);
        return;
    }
    out_format(&body,
               "{\"offered\": %" PRIu64 ", \"new\": %" PRIu64
               ", \"bad\": %" PRIu64 "}\n",
               a->offered, a->fresh, a->bad);
    reply_text(c, &c->web->request, 200, "application/json", body.bytes,
               body.len);
    out_clear(&body);
}

static void adds_done(struct job *j);

/* Begin the next job; false if there is none to do. */
static bool adds_next(struct adds *a)
{
    struct conn *c = a->exchange.conn;
    struct work *w;

    if (a->ended && a->work && a->work->keys.n &&
        a->fulls < sizeof a->full / sizeof a->full[0]) {
        a->full[a->fulls++] = a->work;
        a->work = NULL;
    }
    if (a->next == a->fulls || a->code != SEEN_OK)
        return false;
    w = a->full[a->next++];
    w->job.done = adds_done;
    conn_hold(c);
    c->waiting = true;
    if (loop_run(c->loop, &w->job))
        return true;
    conn_back(c);
    c->waiting = false;
    work_free(w);
    a->code = seen_fail(&a->why, SEEN_BUSY, 0, "too much to do");
    return false;
}

static void adds_done(struct job *j)
{
    struct work *w = (struct work *)j;
    struct conn *c = w->conn;

    if (conn_back(c)) {
        struct adds *a = (struct adds *)c->web->exchange;

        a->fresh += w->fresh;
        if (w->code == SEEN_OK) {
            COUNT(c->loop, added, w->keys.n);
        } else {
            a->code = w->code;
            a->why = w->why;
        }
        if (!adds_next(a)) {
            if (a->code == SEEN_OK)
                a->next = a->fulls = 0; /* all are done; else freed with a */
            if (a->ended) {
                adds_reply(a);
                web_done(c);
            }
            c->loop->looked = false;
            conn_go_on(c);
        }
    }
    work_free(w);
}

static void adds_body(struct exchange *x, const char *bytes, size_t n)
{
    struct adds *a = (struct adds *)x;

    list_take(&a->list, bytes, n, add_url, a);
    if (!x->conn->waiting)
        adds_next(a);
}

static void adds_end(struct exchange *x)
{
    struct adds *a = (struct adds *)x;

    list_end(&a->list, add_url, a);
    if (a->list.fault && a->code == SEEN_OK)
        a->code = seen_fail(&a->why, SEEN_MISMATCH, 0, "%s", a->list.fault);
    a->ended = true;
    if (!x->conn->waiting && !adds_next(a))
        adds_reply(a);
}

void write_list(struct conn *c, const struct http_request *r, struct span rest)
{
    static const struct exchange_kind kind = { adds_body, adds_end,
                                               adds_free };
    struct archive *it;
    struct adds *a;

    if (!web_allowed(c, r))
        return;
    it = web_archive(c, r, rest);
    if (!it)
        return;
    a = calloc(1, sizeof *a);
    if (!a || !(a->archive = strdup(it->name))) {
        free(a);
        web_unwanted(c, r);
        reply_error(c, r, 503, NULL, "no memory");
        return;
    }
    a->exchange.kind = &kind;
    web_exchange(c, r, &a->exchange);
}
