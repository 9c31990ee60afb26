/* look.c - the memory of a look, and its sums. */
#include "look.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/text/array.h"
#include "../../lib/text/span.h"

enum { LONGEST = 2000 };

struct watch_text {
    struct watch_text *next;
    char text[];
};

struct watch_look *watch_look_new(void)
{
    struct watch_look *look = calloc(1, sizeof *look);

    if (look)
        look->references = 1;
    return look;
}

void watch_look_free(struct watch_look *look)
{
    struct watch_text *next;

    if (!look)
        return;
    for (struct watch_text *t = look->texts; t; t = next) {
        next = t->next;
        free(t);
    }
    for (size_t i = 0; i < look->crawls; i++) {
        free(look->crawl[i].visit);
        free(look->crawl[i].host);
        free(look->crawl[i].worker);
        free(look->crawl[i].queue);
        free(look->crawl[i].error);
    }
    free(look->crawl);
    free(look);
}

const char *watch_text(struct watch_look *look, struct seen_span text)
{
    const size_t len = strnlen(text.text,
                               text.len < LONGEST ? text.len : LONGEST);
    struct watch_text *t;

    if (!len)
        return "";
    t = malloc(sizeof *t + len + 1);
    if (!t) {
        look->failed = true;
        return "";
    }
    memcpy(t->text, text.text, len);
    t->text[len] = '\0';
    t->next = look->texts;
    look->texts = t;
    return t->text;
}

struct watch_crawl *watch_look_add(struct watch_look *look, const char *name,
                                   const char *where)
{
    struct watch_crawl *more, *c;

    if (look->crawls == WATCH_CRAWLS)
        return NULL;
    more = array_grow(look->crawl, &look->room, look->crawls + 1,
                      sizeof *more);
    if (!more) {
        look->failed = true;
        return NULL;
    }
    look->crawl = more;
    c = &more[look->crawls++];
    *c = (struct watch_crawl){ .name = watch_text(look, span_of(name)),
                               .where = watch_text(look, span_of(where)),
                               .rate = -1,
                               .mean = -1 };
    return c;
}

/* Room for one more element. */
static void *grow(struct watch_look *look, void *array, size_t *room, size_t n,
                  size_t most, size_t each)
{
    void *more = n < most ? array_grow(array, room, n + 1, each) : NULL;

    look->failed |= n < most && !more;
    return more;
}

#define ADD(type, array, n, room, most) \
    struct type *watch_add_##array(struct watch_look *look, \
                                   struct watch_crawl *c) \
    { \
        struct type *more = grow(look, c->array, &c->room, c->n, most, \
                                 sizeof *more); \
        if (!more) \
            return NULL; \
        c->array = more; \
        return memset(&more[c->n++], 0, sizeof *more); \
    }

ADD(watch_visit, visit, visits, visit_room, WATCH_VISITS)
ADD(watch_host, host, listed, host_room, WATCH_HOSTS)
ADD(watch_worker, worker, workers, worker_room, WATCH_WORKERS)
ADD(watch_queue, queue, queues, queue_room, WATCH_QUEUES)
ADD(watch_error, error, errors, error_room, WATCH_ERRORS)

/* --- sums --- */

bool watch_in_trouble(const struct watch_host *h)
{
    return h->wait == FRONTIER_WAIT_STOPPED ||
           h->wait == FRONTIER_WAIT_LEASE ||
           (h->failures && h->wait != FRONTIER_WAIT_NOTHING);
}

/* The smaller, the more help it needs. */
static int need_of(const struct watch_host *h)
{
    return h->wait == FRONTIER_WAIT_STOPPED   ? 0
           : h->wait == FRONTIER_WAIT_LEASE   ? 1
           : watch_in_trouble(h)              ? 2
           : h->wait != FRONTIER_WAIT_NOTHING ? 3
                                              : 4;
}

static int by_need(const void *a, const void *b)
{
    const struct watch_host *x = a, *y = b;
    const int need = need_of(x) - need_of(y);

    if (need)
        return need;
    if (x->waiting != y->waiting)
        return x->waiting > y->waiting ? -1 : 1;
    if (x->requests != y->requests)
        return x->requests > y->requests ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void add_known(int64_t *sum, int64_t n)
{
    *sum += n > 0 ? n : 0;
}

/* Visits that ended count only if none goes on: then the last one does. */
void watch_sum(struct watch_crawl *c)
{
    bool goes_on = false;

    if (c->listed)
        qsort(c->host, c->listed, sizeof *c->host, by_need);
    for (size_t i = 0; i < c->visits; i++)
        goes_on |= c->visit[i].state <= WATCH_ENDING;
    for (size_t i = 0; i < c->visits; i++) {
        const struct watch_visit *v = &c->visit[i];

        c->runs |= v->state == WATCH_RUNS || v->state == WATCH_ENDING;
        if (goes_on ? v->state > WATCH_ENDING : i > 0)
            continue;
        add_known(&c->pages, v->pages);
        add_known(&c->failed, v->failed);
        add_known(&c->waiting, v->waiting);
        add_known(&c->left, v->left);
    }
}
