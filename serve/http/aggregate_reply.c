/*
 * aggregate_reply.c - answers of the aggregator.
 *
 * Every answer says how many archives were asked and which of them have failed,
 * and how many mementos there are, if that is known.
 */
#include "aggregate.h"

#include <stdlib.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/percent.h"

enum {
    LONG = 1000,       /* mementos that a loop does not write itself */
    LINK_BYTES = 4096, /* of the Link header */
    NAMES_BYTES = 1024 /* of the header that names failed archives */
};

/* A long answer. */
struct http_writing {
    struct job job;
    struct pending pending;
    struct memento_timemap *timemap;
    struct memento_form form;
    struct buffer origin, body;
    bool cached;
    char url[];
};

/* --- answers --- */

static void put_names(struct buffer *o, const struct memento_timemap *t)
{
    const size_t begin = o->len;

    for (size_t i = 0; i < t->reports; i++) {
        const char *name = t->report[i].name;

        if (!t->report[i].failed || !name)
            continue;
        if (o->len - begin + 3 * strlen(name) > NAMES_BYTES) {
            buffer_text(o, ", ...");
            break;
        }
        buffer_text(o, o->len == begin ? "" : ", ");
        percent_encode(o, name, strlen(name), PERCENT_NAME);
    }
}

/* What every answer says, as headers. */
static void put_facts(struct buffer *o, const struct http_aggregation *a,
                      const struct memento_timemap *t, size_t spared,
                      bool cached)
{
    if (a->task == AGGREGATE_TIMEGATE)
        buffer_text(o, "Vary: accept-datetime\r\n");
    if (!t->sparse || (!t->captures && !t->failed))
        buffer_format(o, "X-Memento-Count: %zu\r\n", t->captures);
    buffer_format(o, "Seen-Asked: %zu\r\nSeen-Spared: %zu\r\n", t->reports,
                  spared);
    if (t->failed) {
        buffer_text(o, "Seen-Failed: ");
        put_names(o, t);
        buffer_text(o, "\r\n");
    }
    if (t->skipped)
        buffer_format(o, "Seen-Skipped: %llu\r\n",
                      (unsigned long long)t->skipped);
    if (cached)
        buffer_format(o, "Age: %llu\r\n",
                      (unsigned long long)(clock_ms() - t->made) / 1000);
}

/* An answer with a body, which is cleared. */
static void reply_facts_body(struct conn *c, const struct http_aggregation *a,
                             int status, const struct memento_timemap *t,
                             size_t spared, bool cached, const char *type,
                             struct buffer *body)
{
    struct buffer headers = { .bytes = NULL };
    char *text;

    put_facts(&headers, a, t, spared, cached);
    text = buffer_take(&headers);
    if (text && !body->failed) {
        reply_body(c, &a->exchange.request, status, text, type, body);
    } else {
        buffer_clear(body);
        reply_error(c, &a->exchange.request, 503, NULL, "no memory");
    }
    free(text);
}

/* No memento was found: 404 only if all archives have said so. */
static void reply_nothing(struct conn *c, const struct http_aggregation *a,
                          const struct memento_timemap *t, size_t spared,
                          bool cached)
{
    struct buffer body = { .bytes = NULL };

    if (!t->failed) {
        buffer_text(&body, "{\"error\": \"no archive has a memento\"}\n");
        reply_facts_body(c, a, 404, t, spared, cached, "application/json",
                         &body);
        return;
    }
    buffer_text(&body, "{\"error\": \"no memento was found, but not all "
                       "archives that may have one have answered\", "
                       "\"failed\": ");
    memento_write_failed(&body, t);
    buffer_text(&body, "}\n");
    reply_facts_body(c, a, 503, t, spared, cached, "application/json", &body);
}

/* Which archives may have a closer memento, for people who look. */
static void put_warning(struct buffer *o, const struct memento_timemap *t)
{
    buffer_text(o, "{\"warning\": \"there may be a closer memento: not all "
                   "archives that may have one have answered in full\", "
                   "\"failed\": ");
    memento_write_failed(o, t);
    buffer_text(o, "}\n");
}

static void reply_redirect(struct conn *c, const struct http_aggregation *a,
                           const struct memento_form *form,
                           const struct memento_timemap *t, bool cached)
{
    const struct memento_capture *to = &t->capture[form->closest];
    const struct http_request *r = &a->exchange.request;
    struct buffer headers = { .bytes = NULL }, body = { .bytes = NULL };
    char *text;

    put_facts(&headers, a, t, form->spared, cached);
    if (a->task == AGGREGATE_TIMEGATE) {
        buffer_text(&headers, "Link: ");
        memento_write_links(&headers, form, t, LINK_BYTES);
        buffer_text(&headers, "\r\n");
    }
    buffer_text(&headers, "Location: ");
    buffer_bytes(&headers, to->url, to->len);
    buffer_text(&headers, "\r\n");
    text = buffer_take(&headers);
    if (t->failed)
        put_warning(&body, t);
    if (!text || body.failed) {
        buffer_clear(&body);
        reply_error(c, r, 503, NULL, "no memory");
    } else if (t->failed) {
        reply_body(c, r, 302, text, "application/json", &body);
    } else {
        reply_begin(c, r, 302);
        buffer_text(conn_out(c), text);
        reply_end(c, r, NULL, 0);
    }
    free(text);
}

/* Does the memory of all clients have room for this many bytes? */
static bool has_room(struct conn *c, struct http_aggregation *a, size_t bytes)
{
    a->holds = bytes;
    if (conn_measure(c))
        return true;
    a->holds = 0;
    conn_measure(c);
    return false;
}

/*
 * The closest memento itself. What an archive sends is not ours: in a sandbox
 * its scripts have an origin of their own, so that they cannot act on this
 * server as its page does.
 */
static void put_copy_facts(struct buffer *o, const struct memento_form *form,
                           const struct memento_timemap *t,
                           const struct memento_copy *copy)
{
    const struct memento_capture *from = &t->capture[form->closest];

    buffer_text(o, "Memento-Datetime: ");
    memento_write_date(o, from->when);
    buffer_text(o, "\r\nLink: ");
    memento_write_links(o, form, t, LINK_BYTES);
    buffer_text(o, "\r\nContent-Location: ");
    buffer_text(o, copy->url);
    buffer_text(o, "\r\nContent-Security-Policy: sandbox allow-scripts "
                   "allow-forms\r\n");
}

static void reply_copy(struct conn *c, struct http_aggregation *a,
                       const struct memento_form *form,
                       const struct memento_timemap *t, bool cached,
                       struct memento_copy *copy)
{
    const struct http_request *r = &a->exchange.request;
    const struct memento_capture *from = &t->capture[form->closest];
    struct buffer headers = { .bytes = NULL };
    char *text;

    if (copy->status != 200) {
        reply_error(c, r, 502, NULL, "%s: the memento %s cannot be had: %s",
                    t->report[from->archive].name, copy->url, copy->why.text);
        return;
    }
    put_facts(&headers, a, t, form->spared, cached);
    put_copy_facts(&headers, form, t, copy);
    text = buffer_take(&headers);
    if (text && has_room(c, a, copy->body.room + copy->body.len))
        reply_body(c, r, 200, text,
                   copy->type[0] ? copy->type : "application/octet-stream",
                   &copy->body);
    else
        reply_error(c, r, 503, NULL, "the server is too busy; try again");
    free(text);
}

/* --- a long answer, written by a job --- */

static void free_writing(struct http_writing *w)
{
    memento_timemap_release(w->timemap);
    buffer_clear(&w->origin);
    buffer_clear(&w->body);
    free(w);
}

static void write_body(struct job *j)
{
    struct http_writing *w = (struct http_writing *)j;

    memento_write(&w->body, &w->form, w->timemap);
}

static void body_written(struct job *j)
{
    conn_answer(&((struct http_writing *)j)->pending);
}

static void reply_written(struct pending *p, bool there)
{
    struct http_writing *w = p->owner;
    struct conn *c = p->conn;

    if (there) {
        struct http_aggregation *a = (struct http_aggregation *)c->http;

        reply_facts_body(c, a, 200, w->timemap, w->form.spared, w->cached,
                         memento_type(w->form.as), &w->body);
        http_go_on(c);
    }
    free_writing(w);
}

/* Start to write it; false if that cannot be. */
static bool write_aside(struct conn *c, struct http_aggregation *a,
                        const struct memento_form *form, struct buffer *origin,
                        struct memento_timemap *t, bool cached)
{
    struct http_writing *w = calloc(1, sizeof *w + form->url.len + 1);

    if (!w)
        return false;
    memcpy(w->url, form->url.text, form->url.len);
    w->form = *form;
    w->form.url.text = w->url;
    w->origin = *origin;
    *origin = (struct buffer){ .bytes = NULL };
    w->pending.done = reply_written;
    w->pending.owner = w;
    w->cached = cached;
    w->timemap = memento_timemap_keep(t);
    w->job.run = write_body;
    w->job.done = body_written;
    if (has_room(c, a, memento_write_size(form, t)) &&
        loop_run(c->loop, &w->job)) {
        conn_wait_for(c, &w->pending);
        return true;
    }
    free_writing(w);
    return false;
}

void http_aggregate_answer(struct conn *c, struct memento_timemap *t,
                           size_t spared, bool cached,
                           struct memento_copy *copy)
{
    struct http_aggregation *a = (struct http_aggregation *)c->http;
    const struct http_request *r = &a->exchange.request;
    struct buffer origin = { .bytes = NULL }, body = { .bytes = NULL };
    struct memento_form form = { .as = a->as,
                                 .url = a->lookup.url,
                                 .closest = MEMENTO_ALL,
                                 .spared = spared };

    http_origin(c, r, &origin);
    form.origin = (struct seen_span){ origin.bytes, origin.len };
    if (t->captures && a->task != AGGREGATE_TIMEMAP)
        form.closest = memento_timemap_closest(t, a->when);
    if (!t->captures) {
        reply_nothing(c, a, t, spared, cached);
    } else if (a->task == AGGREGATE_TIMEGATE ||
               a->task == AGGREGATE_REDIRECT) {
        reply_redirect(c, a, &form, t, cached);
    } else if (a->task == AGGREGATE_COPY) {
        reply_copy(c, a, &form, t, cached, copy);
    } else if (a->task == AGGREGATE_DESCRIPTION || t->captures <= LONG) {
        memento_write(&body, &form, t);
        body.failed |= origin.failed;
        reply_facts_body(c, a, 200, t, spared, cached, memento_type(a->as),
                         &body);
    } else if (origin.failed ||
               !write_aside(c, a, &form, &origin, t, cached)) {
        reply_error(c, r, 503, NULL, "the server is too busy; try again");
    }
    buffer_clear(&origin);
}
