/*
 * apply.c - make changes: open the archive's writer, add or take back.
 *
 * Runs in a thread of the pool, where disks may be waited for.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

#include "change.h"
#include "../archives/guard.h"

enum { TRIES = 40 };

/* Add, going on behind keys for which there is no room: those that follow
   may be in the filter already. */
static enum seen_code add(struct change *m, struct seen_filter *f,
                          const struct seen_key *key, size_t n, bool *fresh,
                          signed char *result)
{
    enum seen_code code;
    struct seen_error why;

    for (size_t done = 0, some; done < n; done += some) {
        code = seen_filter_add(f, key + done, n - done, fresh, &why);
        some = code == SEEN_OK ? n - done : (size_t)why.at;
        if (code != SEEN_OK && code != SEEN_FULL) {
            m->why = why;
            return code;
        }
        for (size_t i = 0; i < some; i++) {
            result[done + i] = fresh[i] ? NEW : OLD;
            m->added += fresh[i];
        }
        if (code == SEEN_FULL) {
            if (m->code == SEEN_OK)
                m->why = why;
            m->code = SEEN_FULL;
            result[done + some++] = REFUSED;
        }
    }
    return SEEN_OK;
}

/*
 * Add what is not there. Another thread may add the same meanwhile, or it
 * comes twice in one batch: what add finds there is taken back.
 */
static enum seen_code add_new(struct change *m, struct seen_filter *f,
                              bool *fresh)
{
    enum seen_code code = seen_filter_has(f, m->key, m->n, fresh, &m->why);

    for (size_t i = 0; i < m->n && code == SEEN_OK; i++)
        m->result[i] = fresh[i] ? OLD : NEW;
    for (size_t i = 0; i < m->n && code == SEEN_OK; i++) {
        bool new = false;

        if (m->result[i] != NEW)
            continue;
        code = add(m, f, &m->key[i], 1, &new, &m->result[i]);
        if (code == SEEN_OK && m->result[i] == OLD)
            code = seen_filter_remove(f, &m->key[i], 1, &m->why);
    }
    return code;
}

static enum seen_code take_back(struct change *m, struct seen_filter *f)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < m->n && code == SEEN_OK; i++) {
        code = seen_filter_remove(f, &m->key[i], 1, &m->why);
        m->result[i] = code == SEEN_OK ? NEW : OLD;
        m->removed += code == SEEN_OK;
        if (code == SEEN_RANGE) /* its count is 0 */
            code = SEEN_OK;
    }
    return code;
}

static enum seen_code change_filter(struct change *m, struct seen_filter *f)
{
    bool *fresh = malloc(m->n);
    enum seen_code code;

    if (!fresh)
        return seen_fail(&m->why, SEEN_NOMEM, 0, "no memory for answers");
    if (m->how == CHANGE_REMOVE)
        code = take_back(m, f);
    else if (m->how == CHANGE_ADD_NEW)
        code = add_new(m, f, fresh);
    else
        code = add(m, f, m->key, m->n, fresh, m->result);
    free(fresh);
    return code;
}

/*
 * Several clients may make an archive at once, and who makes it has it to
 * himself for a moment: the others wait.
 */
static void wait_a_little(void)
{
    static const struct timespec moment = { .tv_nsec = 5000000 };

    nanosleep(&moment, NULL);
}

static enum seen_code make(struct change *m)
{
    struct span name = { m->name, strlen(m->name) };
    enum seen_code code = SEEN_BUSY;

    for (int i = 0; i < TRIES && code == SEEN_BUSY && !m->path; i++) {
        if (i)
            wait_a_little();
        m->path = path_of(m->library, m->name);
        if (!m->path)
            code = create_archive(m->library, name, &m->plan, &m->why);
    }
    if (!m->path && (code == SEEN_OK || code == SEEN_MISMATCH))
        m->path = path_of(m->library, m->name);
    if (m->path)
        return SEEN_OK;
    return code != SEEN_OK ? code
                           : seen_fail(&m->why, SEEN_IO, 0, "was not found");
}

static enum seen_code open_writer(struct change *m, struct writer **w)
{
    enum seen_code code = writer_get(w, m->library, m->path, &m->profile,
                                     &m->why);

    for (int i = 0; i < TRIES && code == SEEN_BUSY; i++) {
        wait_a_little();
        code = writer_get(w, m->library, m->path, &m->profile, &m->why);
    }
    return code;
}

/* Have the keys of all that are made together in the first of them. */
static enum seen_code collect(struct change *first)
{
    struct seen_key *key;
    signed char *result;
    size_t n = 0;

    for (struct change *m = first; m; m = m->next) {
        size_t at = 0;

        for (size_t i = 0; i < m->n; at += m->key[i++].len)
            m->key[i].text = m->text + at;
        n += m->n;
    }
    if (n == first->n)
        return SEEN_OK;
    key = realloc(first->key, n * sizeof *key);
    first->key = key ? key : first->key;
    result = realloc(first->result, n);
    first->result = result ? result : first->result;
    if (!key || !result)
        return seen_fail(&first->why, SEEN_NOMEM, 0, "no memory for keys");
    for (struct change *m = first->next; m; m = m->next) {
        memcpy(first->key + first->n, m->key, m->n * sizeof *key);
        memset(first->result + first->n, OLD, m->n);
        first->n += m->n;
    }
    return SEEN_OK;
}

/* Tell each of them what became of its own keys. */
static void hand_out(struct change *first)
{
    size_t at = first->n;

    for (struct change *m = first->next; m; m = m->next)
        at -= m->n;
    for (struct change *m = first->next; m; m = m->next) {
        memcpy(m->result, first->result + at, m->n);
        m->code = first->code;
        m->why = first->why;
        at += m->n;
    }
}

void change_apply(struct task *t)
{
    struct change *m = (struct change *)t;
    struct writer *w = NULL;
    enum seen_code code = collect(m);
    bool collected = code == SEEN_OK;

    if (code == SEEN_OK && !m->path)
        code = make(m);
    if (code == SEEN_OK)
        code = open_writer(m, &w);
    if (code == SEEN_OK) {
        guard_begin();
        code = change_filter(m, writer_filter(w));
        code = writer_changed(w, code, &m->why);
    }
    if (w)
        writer_put(m->library, w);
    if (code != SEEN_OK)
        m->code = code;
    if (collected) {
        hand_out(m);
    } else {
        for (struct change *other = m->next; other; other = other->next) {
            other->code = m->code;
            other->why = m->why;
        }
    }
}
