/*
 * redis_asking.c - lookups that would take too long for the loop.
 *
 * The items are copied, and asked off the loop (../question.h), ARCHIVE_BATCH
 * at a time. The client waits, as for an add.
 */
#include <stdlib.h>

#include "../question.h"
#include "command.h"

struct redis_asking {
    char *name;
    struct conn *conn;
    struct archive_lookup *lookup; /* all items, in: */
    char *text;
    bool *seen;
    size_t n, done;
    bool many; /* the reply is an array */
    bool flags;
    size_t bad; /* the number of the first item that is refused, from 1 */
    enum seen_code code;
    struct seen_error why;
};

static void asking_free(struct redis_asking *a)
{
    free(a->name);
    free(a->lookup);
    free(a->text);
    free(a->seen);
    free(a);
}

static void reply(void *from, struct redis_call *c)
{
    const struct redis_asking *a = from;

    if (a->code != SEEN_OK)
        resp_error(c->out, "ERR archive '%s': %s", a->name, a->why.text);
    else if (a->bad)
        resp_error(c->out, "ERR item %zu: not a URL", a->bad);
    else if (a->many)
        resp_array(c->out, a->n);
    for (size_t i = 0; i < a->n && a->code == SEEN_OK && !a->bad; i++)
        resp_flag(c->out, a->seen[i], a->flags);
}

/* Keep the answers to a batch. */
static void keep(struct redis_asking *a, const struct archive_question *q)
{
    a->code = q->code;
    a->why = q->why;
    for (size_t i = 0; i < q->n && a->code == SEEN_OK; i++) {
        if (q->answer[i] == ARCHIVE_REFUSES && !a->bad)
            a->bad = a->done + i + 1;
        a->seen[a->done + i] = q->answer[i] == ARCHIVE_YES;
    }
    a->done += q->n;
}

static bool ask_some(struct redis_asking *a);

static void asked(struct pending *p, bool there)
{
    struct serve_question *q = p->owner;
    struct redis_asking *a = q->request;

    keep(a, &q->question);
    serve_question_free(q);
    if (there && a->code == SEEN_OK && !a->bad && a->done < a->n) {
        if (ask_some(a))
            return;
        a->code = seen_fail(&a->why, SEEN_BUSY, 0,
                            "the server is too busy; try again");
    }
    redis_answer_later(a->conn, there, reply, a);
    asking_free(a);
}

static bool ask_some(struct redis_asking *a)
{
    struct serve_question *q = calloc(1, sizeof *q);
    const size_t left = a->n - a->done;

    if (!q || !(q->question.name = strdup(a->name))) {
        serve_question_free(q);
        return false;
    }
    q->question.lookup = a->lookup + a->done;
    q->question.n = left < ARCHIVE_BATCH ? left : ARCHIVE_BATCH;
    q->pending.done = asked;
    q->request = a;
    if (serve_question_start(a->conn, q))
        return true;
    serve_question_free(q);
    return false;
}

static bool copy_items(struct redis_asking *a, const struct seen_span *item,
                       size_t n)
{
    size_t len = 1, at = 0;

    for (size_t i = 0; i < n; i++)
        len += item[i].len;
    a->lookup = calloc(n, sizeof *a->lookup);
    a->seen = calloc(n, sizeof *a->seen);
    a->text = malloc(len);
    if (!a->lookup || !a->seen || !a->text)
        return false;
    for (size_t i = 0; i < n; at += item[i++].len) {
        if (item[i].len)
            memcpy(a->text + at, item[i].text, item[i].len);
        a->lookup[i].url = (struct seen_span){ a->text + at, item[i].len };
        a->lookup[i].item = ARCHIVE_ANY;
    }
    a->n = n;
    return true;
}

void redis_ask_aside(struct redis_call *c, const struct archive *archive,
                     const struct seen_span *item, size_t n, bool many,
                     bool flags)
{
    struct redis_asking *a = calloc(1, sizeof *a);

    if (a) {
        a->conn = c->conn;
        a->many = many;
        a->flags = flags;
        a->name = strdup(archive->name);
        if (a->name && copy_items(a, item, n) && ask_some(a))
            return;
        asking_free(a);
    }
    resp_error(c->out, "BUSY the server is too busy; try again");
}
