/* identity.c - which servers have a filter, and filters that go. */
#include "identity.h"

#include <errno.h>
#include <stdlib.h>

#include "../lib/text/percent.h"
#include "layout.h"
#include "redis.h"

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In order of their texts: nodes of a cluster have no order of their own. */
char *remote_identity(const struct seen_filter *f)
{
    const struct remote_server *s = remote_redis_server(f);
    char *node[REMOTE_NODES];
    struct buffer text = { .bytes = NULL };
    unsigned n = 0;
    bool known = s;

    for (unsigned i = 0; known && i < s->nodes; i++) {
        const struct remote_node *it = &s->node[i];

        if (!it->wire)
            continue;
        known = it->run_id[0] &&
                asprintf(&node[n], "%s.%s", it->run_id, it->replid) > 0;
        n += known;
    }
    if (n)
        qsort(node, n, sizeof *node, by_text);
    for (unsigned i = 0; i < n; i++) {
        buffer_text(&text, i ? "+" : "");
        buffer_text(&text, node[i]);
        free(node[i]);
    }
    if (known && n)
        return buffer_take(&text);
    buffer_clear(&text);
    return NULL;
}

uint64_t remote_noticed(const struct seen_filter *f)
{
    const struct remote_server *s = remote_redis_server(f);

    return s ? s->losses : remote_losses(f);
}

void remote_look(struct seen_filter *f)
{
    struct remote_server *s = remote_redis_server(f);

    for (unsigned i = 0; s && i < s->nodes; i++)
        s->node[i].look = true;
}

/* --- remove --- */

static void put_unlink(struct remote_batch *b, const struct remote_server *s,
                       const char *key)
{
    remote_batch_begin(b, remote_server_slot(s, key), false);
    remote_wire_count(&b->text, 2);
    remote_wire_text(&b->text, "UNLINK");
    remote_wire_text(&b->text, key);
}

/* The record goes first: what is left without it is nobody's. */
static enum seen_code remove_keys(struct remote_server *s,
                                  const struct remote_layout *l,
                                  struct seen_error *why)
{
    struct remote_batch b = { .n = 0 };
    char counters[REMOTE_KEY];
    enum seen_code code;

    put_unlink(&b, s, l->name);
    code = remote_server_run(s, &b, why);
    remote_batch_reset(&b);
    remote_layout_key(counters, l->name, l->generation, -1);
    put_unlink(&b, s, counters);
    for (unsigned i = 0; i < l->chunks; i++)
        put_unlink(&b, s, l->chunk[i].key);
    if (code == SEEN_OK)
        code = remote_server_run(s, &b, why);
    remote_batch_clear(&b);
    return code;
}

enum seen_code remote_remove(const char *address, const char *name,
                             const char *value, struct seen_error *why)
{
    struct remote_record record = { .text = NULL };
    struct remote_layout l = { .chunks = 0 };
    struct remote_server *s = NULL;
    struct seen_filter *f = NULL;
    struct remote_address a;
    enum seen_code code = remote_address_parse(&a, address, why);
    const char *its;

    if (code == SEEN_OK)
        code = remote_server_open(&s, &a, NULL, NULL, why);
    remote_address_forget(&a);
    if (code == SEEN_OK)
        code = remote_record_read(&record, s, why);
    if (code == SEEN_OK)
        code = seen_store_restore(&f, record.text, NULL, why);
    if (code == SEEN_OK) {
        its = seen_meta_get(f, name);
        if (!its || strcmp(its, value))
            code = seen_fail(why, SEEN_MISMATCH, 0,
                             "the filter belongs to somebody else");
    }
    if (code == SEEN_OK)
        code = remote_layout_init(&l, f, s, record.text, record.generation,
                                  record.payload, why);
    if (code == SEEN_OK)
        code = remove_keys(s, &l, why);
    remote_layout_clear(&l);
    seen_filter_free(f);
    free(record.text);
    remote_server_close(s);
    return code;
}

/* --- names --- */

/* The name ends where the settings begin. A '?' in a password is hidden or
   written %3F. */
char *remote_address_more(const char *address, const char *more)
{
    const size_t len = strcspn(address, "?");
    struct buffer text = { .bytes = NULL };

    buffer_bytes(&text, address, len);
    buffer_byte(&text, '-');
    percent_encode(&text, more, strlen(more), PERCENT_NAME);
    buffer_text(&text, address + len);
    return buffer_take(&text);
}
