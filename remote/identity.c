/*
 * identity.c - which servers have a filter, and filters that go.
 *
 * The identity is two words per node from INFO: run_id changes when a process
 * starts, replid when a replica took over and the history of its data is
 * another one. Neither alone is enough: a restarted master may load what it
 * had, and a replica that takes over runs on. Nodes are sorted, since a cluster
 * has no order, and all that were asked must be known: a part of the truth could
 * compare equal.
 *
 * Removing goes from the record to the chunks. Without its record a filter is
 * absent for every reader, and chunks of a generation that no record names are
 * garbage that nobody reads; the reverse order would leave a record of chunks
 * that are missing.
 */
#include "identity.h"

#include <errno.h>
#include <stdlib.h>

#include "../lib/text/percent.h"
#include "bf.h"
#include "layout.h"
#include "redis.h"
#include "spatial.h"

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct remote_server *server_of(const struct seen_filter *f)
{
    struct remote_server *s = remote_redis_server(f);

    return s ? s : remote_bf_server(f);
}

static bool has_parts(const struct seen_filter *f)
{
    return f->kind == &remote_spatial;
}

/* In order of their texts: nodes of a cluster have no order of their own. */
static bool put_identity(struct buffer *text, const struct seen_filter *f)
{
    const struct remote_server *s = server_of(f);
    char *node[REMOTE_NODES];
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
        buffer_text(text, i ? "+" : "");
        buffer_text(text, node[i]);
        free(node[i]);
    }
    return known && n;
}

char *remote_identity(const struct seen_filter *f)
{
    struct buffer text = { .bytes = NULL };
    bool known = true;

    if (!has_parts(f))
        known = put_identity(&text, f);
    for (unsigned i = 0; has_parts(f) && i < f->parts; i++) {
        buffer_text(&text, i ? "," : "");
        known &= put_identity(&text, f->part[i]);
    }
    if (known)
        return buffer_take(&text);
    buffer_clear(&text);
    return NULL;
}

uint64_t remote_noticed(const struct seen_filter *f)
{
    const struct remote_server *s = server_of(f);
    uint64_t sum = s ? s->losses : 0;

    for (unsigned i = 0; has_parts(f) && i < f->parts; i++)
        sum += remote_noticed(f->part[i]);
    return sum;
}

void remote_look(struct seen_filter *f)
{
    struct remote_server *s = server_of(f);

    for (unsigned i = 0; s && i < s->nodes; i++)
        s->node[i].look = true;
    for (unsigned i = 0; has_parts(f) && i < f->parts; i++)
        remote_look(f->part[i]);
}

bool remote_is_marked(const struct seen_filter *f, const char *name,
                      const char *value)
{
    const char *its = seen_meta_get(f, name);
    bool all = true;

    if (!has_parts(f))
        return its && !strcmp(its, value);
    for (unsigned i = 0; i < f->parts; i++)
        all &= remote_is_marked(f->part[i], name, value);
    return all;
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

/* Remove the record first, then counters and chunks. */
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

static enum seen_code remove_cells(struct remote_server *s, const char *name,
                                   const char *value, struct seen_error *why)
{
    struct remote_record record = { .text = NULL };
    struct remote_layout l = { .chunks = 0 };
    struct seen_filter *f = NULL;
    enum seen_code code = remote_record_read(&record, s, why);

    if (code == SEEN_OK)
        code = seen_store_restore(&f, record.text, NULL, why);
    if (code == SEEN_OK && !remote_is_marked(f, name, value))
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "the filter belongs to somebody else");
    if (code == SEEN_OK)
        code = remote_layout_init(&l, f, s, record.text, record.generation,
                                  record.payload, why);
    if (code == SEEN_OK)
        code = remove_keys(s, &l, why);
    remote_layout_clear(&l);
    seen_filter_free(f);
    free(record.text);
    return code;
}

static enum seen_code remove_bf(struct remote_server *s,
                                struct seen_error *why)
{
    struct remote_batch b = { .n = 0 };
    enum seen_code code;

    put_unlink(&b, s, s->address.name);
    code = remote_server_run(s, &b, why);
    if (code == SEEN_OK)
        code = remote_reply_check(b.request[0].reply, REDIS_REPLY_INTEGER,
                                  why);
    if (code == SEEN_OK && !b.request[0].reply->integer)
        code = seen_fail(why, SEEN_ABSENT, 0,
                         "there is no filter of this name");
    remote_batch_clear(&b);
    return code;
}

/* The first error counts, unless it is that there was none. */
static enum seen_code remove_parts(const char *address, const char *name,
                                   const char *value, struct seen_error *why)
{
    enum seen_code code, worst = SEEN_OK;
    const char *rest = address;
    struct seen_error detail;
    char *one;

    while (remote_spatial_next(&rest, &one)) {
        code = one ? remote_remove(one, name, value, &detail)
                   : seen_fail(&detail, SEEN_NOMEM, 0, "no memory");
        free(one);
        if (code == SEEN_OK || (worst != SEEN_OK && worst != SEEN_ABSENT))
            continue;
        worst = code;
        if (why)
            *why = detail;
    }
    return worst;
}

enum seen_code remote_remove(const char *address, const char *name,
                             const char *value, struct seen_error *why)
{
    struct remote_server *s = NULL;
    struct remote_address a;
    enum seen_code code;

    if (remote_is_spatial(address))
        return remove_parts(address, name, value, why);
    code = remote_address_parse(&a, address, why);
    if (code == SEEN_OK)
        code = remote_server_open(&s, &a, NULL, NULL, why);
    remote_address_forget(&a);
    if (code == SEEN_OK)
        code = s->address.scheme == REMOTE_BF
                   ? remove_bf(s, why)
                   : remove_cells(s, name, value, why);
    remote_server_close(s);
    return code;
}

/* --- names --- */

/* The name ends where the settings begin. A '?' in a password is hidden or
   written %3F. */
static void put_more(struct buffer *text, const char *address,
                     const char *more, const char *setting)
{
    const size_t len = strcspn(address, "?");

    buffer_bytes(text, address, len);
    buffer_byte(text, '-');
    percent_encode(text, more, strlen(more), PERCENT_NAME);
    buffer_text(text, address + len);
    if (!setting)
        return;
    buffer_byte(text, address[len] ? '&' : '?');
    buffer_text(text, setting);
}

char *remote_address_more(const char *address, const char *more,
                          const char *setting)
{
    struct buffer text = { .bytes = NULL };
    const char *rest = address, *before = "spatial:";
    char *one;

    if (!remote_is_spatial(address))
        put_more(&text, address, more, setting);
    for (; remote_is_spatial(address) && remote_spatial_next(&rest, &one);
         before = ",") {
        buffer_text(&text, before);
        if (one)
            put_more(&text, one, more, setting);
        else
            text.failed = true;
        free(one);
    }
    return buffer_take(&text);
}
