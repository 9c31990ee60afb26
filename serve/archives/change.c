/* change.c - collect keys, open the writer, add or remove. */
#include "change.h"

#include <stdlib.h>
#include <time.h>

#include "../../lib/text/array.h"
#include "guard.h"

enum { TRIES = 40, REFUSALS = 16 };

/* --- in the loop --- */

enum seen_code archive_change_begin(struct archive_change *c,
                                    struct archive_set *set,
                                    enum archive_change_kind kind,
                                    const struct archive *a,
                                    struct seen_span name,
                                    const struct seen_plan *plan,
                                    struct seen_error *why)
{
    memset(c, 0, sizeof *c);
    c->set = set;
    c->kind = kind;
    c->name = strndup(name.text, name.len);
    c->profile = (struct seen_profile){ SEEN_RAW, -1 };
    if (a) {
        c->profile = a->profile;
        c->path = strdup(a->path);
    } else {
        c->plan = *plan;
    }
    if (c->name && (!a || c->path))
        return SEEN_OK;
    archive_change_clear(c);
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a change");
}

void archive_change_clear(struct archive_change *c)
{
    free(c->name);
    free(c->path);
    free(c->key);
    free(c->result);
    buffer_clear(&c->text);
}

enum seen_code archive_change_add(struct archive_change *c,
                                  struct seen_span item,
                                  enum archive_item what,
                                  struct seen_error *why)
{
    char canonical[SEEN_KEY_TEXT];
    struct seen_key *key;
    signed char *result;
    enum seen_code code;

    key = array_grow(c->key, &c->key_room, c->n + 1, sizeof *key);
    c->key = key ? key : c->key;
    result = array_grow(c->result, &c->result_room, c->n + 1, sizeof *result);
    c->result = result ? result : c->result;
    if (!key || !result)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a key");
    code = archive_key(&key[c->n], canonical, item, what, &c->profile, why);
    if (code != SEEN_OK)
        return code;
    buffer_bytes(&c->text, key[c->n].text, key[c->n].len);
    if (c->text.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a key");
    result[c->n++] = ARCHIVE_OLD;
    return SEEN_OK;
}

bool archive_change_fits(const struct archive_change *a,
                         const struct archive_change *b)
{
    return a->kind == b->kind && !strcmp(a->name, b->name) &&
           a->profile.rules == b->profile.rules &&
           a->profile.segments == b->profile.segments;
}

/* --- in a thread --- */

static enum seen_code refuse_new(const struct seen_filter *f,
                                 const struct seen_key *key, size_t n,
                                 bool *seen, signed char *result,
                                 struct seen_error *why)
{
    enum seen_code code = seen_filter_has(f, key, n, seen, why);

    for (size_t i = 0; i < n && code == SEEN_OK; i++)
        result[i] = seen[i] ? ARCHIVE_OLD : ARCHIVE_REFUSED;
    return code;
}

/*
 * Add, going on behind keys for which there is no room: keys that follow may
 * be in the filter already, or belong to a part that is not full. Every try
 * is a record of the journal with all its keys, so it is small after a
 * refusal and grows again; after REFUSALS in a row no new key is tried.
 */
static enum seen_code add(struct archive_change *c, struct seen_filter *f,
                          const struct seen_key *key, size_t n, bool *fresh,
                          signed char *result)
{
    size_t most = n, refusals = 0;
    enum seen_code code;
    struct seen_error why;

    for (size_t done = 0, some; done < n; done += some) {
        if (refusals == REFUSALS)
            return refuse_new(f, key + done, n - done, fresh, result + done,
                              &c->why);
        some = n - done < most ? n - done : most;
        most = 2 * some;
        code = seen_filter_add(f, key + done, some, fresh, &why);
        if (code != SEEN_OK && code != SEEN_FULL) {
            c->why = why;
            return code;
        }
        if (code == SEEN_FULL)
            some = (size_t)why.at;
        for (size_t i = 0; i < some; i++) {
            result[done + i] = fresh[i] ? ARCHIVE_NEW : ARCHIVE_OLD;
            c->added += fresh[i];
        }
        refusals = code == SEEN_FULL ? refusals + 1 : 0;
        if (code == SEEN_FULL) {
            if (c->code == SEEN_OK)
                c->why = why;
            c->code = SEEN_FULL;
            result[done + some++] = ARCHIVE_REFUSED;
            most = 1;
        }
    }
    return SEEN_OK;
}

/*
 * Add what is not there. Another thread may add the same key meanwhile, or it
 * may be twice in one batch: a key that is there when it is added is removed
 * again, once.
 */
static enum seen_code add_new(struct archive_change *c, struct seen_filter *f,
                              bool *fresh)
{
    enum seen_code code = seen_filter_has(f, c->key, c->n, fresh, &c->why);

    for (size_t i = 0; i < c->n && code == SEEN_OK; i++)
        c->result[i] = fresh[i] ? ARCHIVE_OLD : ARCHIVE_NEW;
    for (size_t i = 0; i < c->n && code == SEEN_OK; i++) {
        bool new = false;

        if (c->result[i] != ARCHIVE_NEW)
            continue;
        code = add(c, f, &c->key[i], 1, &new, &c->result[i]);
        if (code == SEEN_OK && c->result[i] == ARCHIVE_OLD)
            code = seen_filter_remove(f, &c->key[i], 1, &c->why);
    }
    return code;
}

static enum seen_code remove_keys(struct archive_change *c,
                                  struct seen_filter *f)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < c->n && code == SEEN_OK; i++) {
        code = seen_filter_remove(f, &c->key[i], 1, &c->why);
        c->result[i] = code == SEEN_OK ? ARCHIVE_NEW : ARCHIVE_OLD;
        c->removed += code == SEEN_OK;
        if (code == SEEN_ABSENT)
            code = SEEN_OK;
    }
    return code;
}

static enum seen_code change_filter(struct archive_change *c,
                                    struct seen_filter *f)
{
    bool *fresh = malloc(c->n);
    enum seen_code code;

    if (!fresh)
        return seen_fail(&c->why, SEEN_NOMEM, 0, "no memory for answers");
    if (c->kind == ARCHIVE_REMOVE)
        code = remove_keys(c, f);
    else if (c->kind == ARCHIVE_ADD_NEW)
        code = add_new(c, f, fresh);
    else
        code = add(c, f, c->key, c->n, fresh, c->result);
    free(fresh);
    return code;
}

static void wait_a_little(void)
{
    static const struct timespec moment = { .tv_nsec = 5000000 };

    nanosleep(&moment, NULL);
}

/* Several clients may make an archive at once; the one that does holds its
   lock for a moment, and the others wait. */
static enum seen_code make(struct archive_change *c)
{
    enum seen_code code = SEEN_BUSY;

    for (int i = 0; i < TRIES && code == SEEN_BUSY && !c->path; i++) {
        if (i)
            wait_a_little();
        c->path = archive_find_path(c->set, c->name);
        if (!c->path)
            code = archive_create(c->set, span_of(c->name), &c->plan, &c->why);
    }
    if (!c->path && (code == SEEN_OK || code == SEEN_EXISTS))
        c->path = archive_find_path(c->set, c->name);
    if (c->path)
        return SEEN_OK;
    return code != SEEN_OK ? code
                           : seen_fail(&c->why, SEEN_IO, 0, "was not found");
}

static enum seen_code open_writer(struct archive_change *c,
                                  struct archive_writer **w)
{
    enum seen_code code = SEEN_BUSY;

    for (int i = 0; i < TRIES && code == SEEN_BUSY; i++) {
        if (i)
            wait_a_little();
        code = archive_writer_get(w, c->set, c->path, &c->profile, &c->why);
    }
    return code;
}

/* Have the keys of all changes in the first of them. */
static enum seen_code collect(struct archive_change *first)
{
    struct seen_key *key;
    signed char *result;
    size_t n = 0;

    for (struct archive_change *c = first; c; c = c->next) {
        size_t at = 0;

        for (size_t i = 0; i < c->n; at += c->key[i++].len)
            c->key[i].text = c->text.bytes + at;
        n += c->n;
    }
    key = array_grow(first->key, &first->key_room, n, sizeof *key);
    first->key = key ? key : first->key;
    result = array_grow(first->result, &first->result_room, n, 1);
    first->result = result ? result : first->result;
    if (!key || !result)
        return seen_fail(&first->why, SEEN_NOMEM, 0, "no memory for keys");
    for (struct archive_change *c = first->next; c; c = c->next) {
        memcpy(key + first->n, c->key, c->n * sizeof *key);
        memset(result + first->n, ARCHIVE_OLD, c->n);
        first->n += c->n;
    }
    return SEEN_OK;
}

static bool was_refused(const struct archive_change *c)
{
    return memchr(c->result, (unsigned char)ARCHIVE_REFUSED, c->n);
}

/* Give each change the results of its own keys. A filter that is full for a
   key of one change is not full for the others. */
static void distribute(struct archive_change *first, size_t own)
{
    const enum seen_code code = first->code;
    size_t at = own;

    for (struct archive_change *c = first->next; c; c = c->next) {
        if (first->n > own)
            memcpy(c->result, first->result + at, c->n);
        c->code = code;
        c->why = first->why;
        at += c->n;
    }
    first->n = own;
    for (struct archive_change *c = first; c; c = c->next)
        if (code == SEEN_FULL && !was_refused(c))
            c->code = SEEN_OK;
}

void archive_change_run(struct archive_change *first)
{
    const size_t own = first->n;
    struct archive_writer *w = NULL;
    enum seen_code code = collect(first);

    if (code == SEEN_OK && !first->path)
        code = make(first);
    if (code == SEEN_OK)
        code = open_writer(first, &w);
    if (code == SEEN_OK) {
        guard_begin();
        code = change_filter(first, archive_writer_filter(w));
        code = archive_writer_changed(w, code, &first->why);
    }
    if (w)
        archive_writer_put(first->set, w);
    if (code != SEEN_OK)
        first->code = code;
    distribute(first, own);
}
