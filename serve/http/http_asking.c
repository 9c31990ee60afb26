/*
 * http_asking.c - one URL in archives that are asked off the loop.
 *
 * The request waits as an exchange, with a copy of its URL, until the answers
 * are there.
 */
#include "request.h"

#include <stdlib.h>

#include "../question.h"

enum { PATIENCE_MS = 10000 }; /* until an archive was not asked in time */

struct http_asking {
    struct http_exchange exchange;
    struct serve_question *question; /* until it is started */
    struct archive_lookup lookup;
    http_answered *answered;
    char url[];
};

static void asking_free(struct http_exchange *x)
{
    serve_question_free(((struct http_asking *)x)->question);
    free(x);
}

static void asking_done(struct pending *p, bool there)
{
    struct serve_question *q = p->owner;

    if (there) {
        struct conn *c = p->conn;
        struct http_asking *a = (struct http_asking *)c->http;

        a->answered(c, &a->exchange.request, &q->question);
        http_go_on(c);
    }
    serve_question_free(q);
}

static void asking_end(struct http_exchange *x)
{
    struct http_asking *a = (struct http_asking *)x;

    if (serve_question_start(x->conn, a->question))
        a->question = NULL;
    else
        reply_error(x->conn, &x->request, 503, NULL,
                    "the server is too busy; try again");
}

static size_t asking_memory(const struct http_exchange *x)
{
    const struct http_asking *a = (const struct http_asking *)x;

    return sizeof *a + a->lookup.url.len + sizeof *a->question;
}

void http_ask_aside(struct conn *c, const struct http_request *r,
                    const char *archive, bool prefix, struct seen_span url,
                    http_answered *answered)
{
    static const struct http_exchange_kind kind = { .end = asking_end,
                                                    .free = asking_free,
                                                    .memory = asking_memory };
    struct http_asking *a = calloc(1, sizeof *a + url.len + 1);
    struct serve_question *q = calloc(1, sizeof *q);

    if (!a || !q || (archive && !(q->question.name = strdup(archive)))) {
        serve_question_free(q);
        free(a);
        reply_error(c, r, 503, NULL, "no memory");
        return;
    }
    memcpy(a->url, url.text, url.len);
    a->lookup.url = (struct seen_span){ a->url, url.len };
    a->answered = answered;
    a->question = q;
    q->pending.done = asking_done;
    q->question.lookup = &a->lookup;
    q->question.n = 1;
    q->question.prefix = prefix;
    q->question.until = c->loop->now + PATIENCE_MS;
    a->exchange.kind = &kind;
    http_exchange_bare(c, r, &a->exchange);
}
