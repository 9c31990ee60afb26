/* dedup_memory.c - a filter, and a log of keys to make a larger one of. */
#include "dedup_memory.h"

#include <stdlib.h>
#include <string.h>

#include <seen/key_log.h>
#include <seen/kind.h>

#include "input.h"

enum { LANES = 1, MOST = 4096, KEPT = 16 << 20 };

struct dedup_memory {
    struct seen_plan plan;
    struct seen_filter *filter;
    struct seen_key_log *log;
    struct seen_key key[MOST]; /* the new ones of those that are added */
};

/* Two of the default rate take a tenth fewer bits than one. */
void dedup_memory_kind(struct seen_plan *plan)
{
    seen_kind_for_rate(plan->kind, plan->rate);
    if (!strcmp(plan->kind, "blocked"))
        strcpy(plan->kind, "spatial:2/blocked");
}

enum seen_code dedup_memory_new(struct dedup_memory **out,
                                const struct seen_plan *plan,
                                struct seen_error *why)
{
    const struct seen_key_log_place place = { cmd_temporary_folder(), KEPT };
    struct dedup_memory *m = calloc(1, sizeof *m);
    enum seen_code code;

    *out = NULL;
    if (!m)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for keys");
    m->plan = *plan;
    dedup_memory_kind(&m->plan);
    code = seen_filter_new(&m->filter, &m->plan, why);
    if (code == SEEN_OK)
        code = seen_key_log_new(&m->log, &m->plan, NULL, LANES, &place, why);
    if (code != SEEN_OK) {
        dedup_memory_free(m);
        return code;
    }
    *out = m;
    return SEEN_OK;
}

void dedup_memory_free(struct dedup_memory *m)
{
    if (!m)
        return;
    seen_filter_free(m->filter);
    seen_key_log_free(m->log);
    free(m);
}

/* The old filter goes first: memory never holds both. */
static enum seen_code grow(struct dedup_memory *m, struct seen_error *why)
{
    seen_filter_free(m->filter);
    m->filter = NULL;
    m->plan.capacity *= 2;
    return seen_key_log_build(m->log, &m->plan, &m->filter, why);
}

/* Keep the new ones of n keys. */
static enum seen_code keep(struct dedup_memory *m, const struct seen_key *key,
                           size_t n, const bool *fresh, struct seen_error *why)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        m->key[kept] = key[i];
        kept += fresh[i];
    }
    return seen_key_log_add(m->log, 0, m->key, kept, why);
}

enum seen_code dedup_memory_add(struct dedup_memory *m,
                                const struct seen_key *key, size_t n,
                                bool *fresh, struct seen_error *why)
{
    struct seen_error full = { .code = SEEN_OK };
    enum seen_code code = SEEN_OK;

    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        bool room;

        code = seen_filter_add(m->filter, key + done, n - done, fresh + done,
                               &full);
        room = code == SEEN_OK;
        if (!room && code != SEEN_FULL) {
            if (why)
                *why = full;
            return code;
        }
        some = room ? n - done : (size_t)full.at;
        code = keep(m, key + done, some, fresh + done, why);
        if (code == SEEN_OK && !room)
            code = grow(m, why);
    }
    return code;
}

const struct seen_filter *dedup_memory_filter(const struct dedup_memory *m)
{
    return m->filter;
}
