/* copy.c - fetch one memento. */
#include "copy.h"

#include <stdio.h>

static enum seen_code on_begin(void *owner,
                               const struct fetch_response *response,
                               struct seen_error *why)
{
    struct memento_copy *c = owner;

    (void)why;
    snprintf(c->type, sizeof c->type, "%s", response->media);
    return SEEN_OK;
}

/* The memory of all questions together is bounded. */
static enum seen_code on_body(void *owner, const void *bytes, size_t n,
                              struct seen_error *why)
{
    struct memento_copy *c = owner;

    buffer_bytes(&c->body, bytes, n);
    c->client->held += c->body.room - c->held;
    c->held = c->body.room;
    if (c->body.failed || c->client->held > c->client->memory)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the memento");
    return SEEN_OK;
}

static void on_end(void *owner, enum seen_code code,
                   const struct fetch_response *response,
                   const struct seen_error *why)
{
    struct memento_copy *c = owner;

    c->status = response->status;
    if (code != SEEN_OK) {
        c->status = 0;
        c->why = *why;
    } else if (c->status != 200) {
        seen_fail(&c->why, SEEN_UNABLE, 0, "status %d", c->status);
    }
    c->client->held -= c->held; /* the loop counts it now */
    c->held = 0;
    c->ended(c);
}

void memento_copy_begin(struct memento_copy *c, unsigned timeout)
{
    static const struct fetch_handler handler = { on_begin, on_body, on_end };
    struct fetch_request request = { .url = c->url,
                                     .most = MEMENTO_COPY_BYTES,
                                     .unpack = true,
                                     .timeout = timeout,
                                     .handler = &handler,
                                     .owner = c };

    if (fetch_start(c->client->web, &request, &c->why) == SEEN_OK) {
        __atomic_add_fetch(&c->client->requests, 1, __ATOMIC_RELAXED);
        return;
    }
    c->ended(c);
}

void memento_copy_clear(struct memento_copy *c)
{
    buffer_clear(&c->body);
}
