/*
 * archive_change.c - collect keys, open the writer, add or remove.
 *
 * The first part runs in a loop and only makes keys. The second runs in a
 * thread and may wait: for another client that makes the archive, for the lock
 * of the file, for the disk.
 *
 * Most of it is about filters that refuse. seen_filter_add() stops at the first
 * key for which there is no room, and each call is a record of the journal; but
 * a client wants to know of each of its keys whether it was new, was there, or
 * was refused. So add() goes on after a refusal, in steps that stay small while
 * keys are refused; add_exactly() fills a filter to its capacity and not
 * beyond; add_new() and remove_keys() ask first, and do only what changes
 * something.
 */
#include "archive_change.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <seen/kind.h>

#include "../../lib/text/array.h"
#include "guard.h"

enum { TRIES = 40, REFUSALS = 16, EXACT = 64, SOME = 1024 };
enum { PER_GROWTH = 1024 }; /* keys that are added before one can grow */

/* --- in the loop --- */

enum seen_code archive_change_begin(struct archive_change *c,
                                    struct archive_set *set,
                                    enum archive_change_kind kind,
                                    const struct archive *a,
                                    struct seen_span name,
                                    const struct archive_new *made,
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
    } else if (made && made->plan.profile[0]) {
        seen_profile_find(&c->profile, made->plan.profile, NULL);
    }
    if (made) {
        c->made = *made;
        c->makes = true;
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
    return a->kind == b->kind && a->accepts == b->accepts &&
           !strcmp(a->name, b->name) && a->profile.rules == b->profile.rules &&
           a->profile.segments == b->profile.segments;
}

/* --- in a thread --- */

/* Some keys of a change, each with the place of its result. */
struct archive_some {
    struct seen_key key[SOME];
    signed char *result[SOME];
    size_t n;
};

/* Add keys that are there. One that is not any more, because another thread
   has removed it, may be refused. */
static enum seen_code add_known(struct archive_change *c,
                                struct seen_filter *f, struct archive_some *it,
                                bool *fresh)
{
    size_t end;

    for (size_t at = 0; at < it->n; at = end + 1) {
        struct seen_error why;
        enum seen_code code = seen_filter_add(f, it->key + at, it->n - at,
                                              fresh, &why);

        if (code != SEEN_OK && code != SEEN_FULL) {
            c->why = why;
            return code;
        }
        end = code == SEEN_FULL ? at + (size_t)why.at : it->n;
        for (size_t i = at; i < end; i++) {
            *it->result[i] = fresh[i - at] ? ARCHIVE_NEW : ARCHIVE_OLD;
            c->added += fresh[i - at];
        }
        if (end < it->n)
            *it->result[end] = ARCHIVE_REFUSED;
    }
    return SEEN_OK;
}

/* Refuse new keys without a try. Old ones are counted, by a filter that
   counts; other filters have nothing to do for them. */
static enum seen_code refuse_new(struct archive_change *c,
                                 struct seen_filter *f,
                                 const struct seen_key *key, size_t n,
                                 bool *seen, signed char *result)
{
    const bool counts = seen_filter_can(f, SEEN_CAN_COUNT);
    enum seen_code code = SEEN_OK;

    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        struct archive_some old;

        old.n = 0;
        some = n - done < SOME ? n - done : SOME;
        code = seen_filter_has(f, key + done, some, seen, &c->why);
        for (size_t i = 0; i < some && code == SEEN_OK; i++) {
            result[done + i] = seen[i] ? ARCHIVE_OLD : ARCHIVE_REFUSED;
            if (!seen[i] || !counts)
                continue;
            old.key[old.n] = key[done + i];
            old.result[old.n++] = &result[done + i];
        }
        if (code == SEEN_OK)
            code = add_known(c, f, &old, seen);
    }
    return code;
}

/*
 * Add keys, and go on after those for which there is no room: the next ones may
 * be in the filter already, or belong to a part that is not full. Every try is
 * a record of the journal with all its keys, so it is small after a refusal and
 * grows again; after REFUSALS in a row no new key is tried.
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
            return refuse_new(c, f, key + done, n - done, fresh,
                              result + done);
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

static bool is_among(const struct seen_key *key, const struct seen_key *others,
                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (others[i].lo == key->lo && others[i].hi == key->hi)
            return true;
    return false;
}

/*
 * Add to a filter that is full after exactly its capacity of new keys. Cells
 * tell that to about 1 %; files, however, record how many keys were offered,
 * with the journal and after a crash, too. So only keys that are new are
 * offered, and one thread at a time counts them.
 *
 * A key of a batch may become old by those before it. This counts as offered,
 * and *old puts it right until the filter is opened again; then the filter is
 * full one key early. With few keys per batch that is rare: over the life of a
 * filter half a batch, times its rate, 0.3 keys at 1 %.
 */
static enum seen_code add_exactly(struct archive_change *c,
                                  struct seen_filter *f, uint64_t *old)
{
    const uint64_t capacity = seen_filter_plan(f)->capacity;
    struct seen_key new[EXACT];
    bool fresh[EXACT];
    enum seen_code code = SEEN_OK;
    struct seen_error why;

    for (size_t done = 0, some; done < c->n && code == SEEN_OK; done += some) {
        const uint64_t have = seen_filter_offered(f) - *old;
        const uint64_t room = have < capacity ? capacity - have : 0;
        signed char *result = c->result + done, *of[EXACT];
        size_t n = 0;

        some = c->n - done < EXACT ? c->n - done : EXACT;
        code = seen_filter_has(f, c->key + done, some, fresh, &c->why);
        for (size_t i = 0; i < some && code == SEEN_OK; i++) {
            const struct seen_key *key = &c->key[done + i];

            result[i] = ARCHIVE_OLD;
            if (fresh[i] || is_among(key, new, n))
                continue;
            result[i] = ARCHIVE_REFUSED;
            if (n && n == room) {
                some = i; /* one of them may leave room for it */
            } else if (room) {
                of[n] = &result[i];
                new[n++] = *key;
            }
        }
        if (!n || code != SEEN_OK)
            continue;
        code = seen_filter_add(f, new, n, fresh, &why);
        if (code == SEEN_FULL) {
            n = (size_t)why.at;
            code = SEEN_OK;
        } else if (code != SEEN_OK) {
            c->why = why;
            n = 0;
        }
        for (size_t i = 0; i < n; i++) {
            *of[i] = fresh[i] ? ARCHIVE_NEW : ARCHIVE_OLD;
            c->added += fresh[i];
            *old += !fresh[i];
        }
    }
    if (code == SEEN_OK &&
        memchr(c->result, (unsigned char)ARCHIVE_REFUSED, c->n))
        c->code = seen_fail(&c->why, SEEN_FULL, 0, "has all its %llu keys",
                            (unsigned long long)capacity);
    return code;
}

/* Choose those of some[] keys for which seen[] is `wanted`. For the others the
   result is ARCHIVE_OLD. */
static void choose(struct archive_some *to, struct archive_change *c,
                   size_t from, size_t some, const bool *seen, bool wanted)
{
    to->n = 0;
    for (size_t i = 0; i < some; i++) {
        const struct seen_key *key = &c->key[from + i];

        c->result[from + i] = ARCHIVE_OLD;
        if (seen[i] != wanted || (!wanted && is_among(key, to->key, to->n)))
            continue;
        to->key[to->n] = *key;
        to->result[to->n++] = &c->result[from + i];
    }
}

/*
 * Add what is not there, many keys with one record of the journal. Another
 * thread may add the same key meanwhile, and the cells of others in the batch
 * may make a key old: one that is there when it is added is removed again,
 * once.
 */
static enum seen_code add_new(struct archive_change *c, struct seen_filter *f,
                              bool *fresh)
{
    struct archive_some new;
    signed char result[SOME];
    enum seen_code code = SEEN_OK;

    for (size_t done = 0, some; done < c->n && code == SEEN_OK; done += some) {
        some = c->n - done < SOME ? c->n - done : SOME;
        code = seen_filter_has(f, c->key + done, some, fresh, &c->why);
        if (code != SEEN_OK)
            return code;
        choose(&new, c, done, some, fresh, false);
        code = add(c, f, new.key, new.n, fresh, result);
        for (size_t i = 0; i < new.n &&code == SEEN_OK; i++) {
            *new.result[i] = result[i];
            if (result[i] == ARCHIVE_OLD)
                code = seen_filter_remove(f, &new.key[i], 1, &c->why);
        }
    }
    return code;
}

/* Remove keys that are there, each once, and go on after one that no longer is:
   a key may be in the batch more often than in the filter. */
static enum seen_code remove_some(struct archive_change *c,
                                  struct seen_filter *f,
                                  struct archive_some *it)
{
    size_t at = 0;

    while (at < it->n) {
        struct seen_error why;
        enum seen_code code = seen_filter_remove(f, it->key + at, it->n - at,
                                                 &why);
        size_t end = code == SEEN_OK ? it->n : at + (size_t)why.at, left;

        if (code != SEEN_OK && code != SEEN_ABSENT) {
            c->why = why;
            return code;
        }
        for (; at < end; at++) {
            *it->result[at] = ARCHIVE_NEW;
            c->removed++;
        }
        left = at;
        if (at < it->n) {
            const struct seen_key gone = it->key[at];

            for (size_t i = at; i < it->n; i++)
                if (!is_among(&it->key[i], &gone, 1)) {
                    it->key[left] = it->key[i];
                    it->result[left++] = it->result[i];
                }
        }
        it->n = left;
    }
    return SEEN_OK;
}

static enum seen_code remove_keys(struct archive_change *c,
                                  struct seen_filter *f, bool *there)
{
    struct archive_some old;
    enum seen_code code = SEEN_OK;

    if (!seen_filter_can(f, SEEN_CAN_REMOVE)) /* which it explains */
        return seen_filter_remove(f, c->key, c->n, &c->why);
    for (size_t done = 0, some; done < c->n && code == SEEN_OK; done += some) {
        some = c->n - done < SOME ? c->n - done : SOME;
        code = seen_filter_has(f, c->key + done, some, there, &c->why);
        if (code != SEEN_OK)
            return code;
        choose(&old, c, done, some, there, true);
        code = remove_some(c, f, &old);
    }
    return code;
}

/* A filter that keeps its keys is larger before it is much too full. */
static enum seen_code add_and_grow(struct archive_change *c,
                                   struct seen_filter *f,
                                   struct archive_writer *grows, bool *fresh)
{
    enum seen_code code = SEEN_OK;

    if (!grows || !seen_store_keeps(f))
        return add(c, f, c->key, c->n, fresh, c->result);
    for (size_t done = 0, some; done < c->n && code == SEEN_OK; done += some) {
        some = c->n - done < PER_GROWTH ? c->n - done : PER_GROWTH;
        code = add(c, f, c->key + done, some, fresh, c->result + done);
        archive_writer_grow(grows);
    }
    return code;
}

/* `grows`: the writer of f, if this thread may wait; or NULL. */
static enum seen_code change_keys(struct archive_change *c,
                                  struct seen_filter *f,
                                  struct archive_writer *grows)
{
    bool *fresh = malloc(c->n);
    enum seen_code code;

    if (!fresh)
        return seen_fail(&c->why, SEEN_NOMEM, 0, "no memory for answers");
    if (c->kind == ARCHIVE_REMOVE)
        code = remove_keys(c, f, fresh);
    else if (c->kind == ARCHIVE_ADD_NEW)
        code = add_new(c, f, fresh);
    else
        code = add_and_grow(c, f, grows, fresh);
    free(fresh);
    return code;
}

static enum seen_code change_filter(struct archive_change *c,
                                    struct archive_writer *w, bool in_loop)
{
    uint64_t *old = c->kind == ARCHIVE_ADD ? archive_writer_count(w) : NULL;
    enum seen_code code;

    if (!old)
        return change_keys(c, archive_writer_filter(w), in_loop ? NULL : w);
    code = add_exactly(c, archive_writer_filter(w), old);
    archive_writer_counted(w);
    return code;
}

static void wait_a_little(void)
{
    static const struct timespec moment = { .tv_nsec = 5000000 };

    nanosleep(&moment, NULL);
}

/* Several clients may make an archive at once; the one that does holds its
   lock for a moment, and the others wait. Another one may delete it before it
   is found. */
static enum seen_code make(struct archive_change *c)
{
    enum seen_code code = SEEN_OK;

    for (int i = 0; i < TRIES; i++) {
        c->path = archive_find_path(c->set, c->name);
        if (c->path)
            return SEEN_OK;
        if (code != SEEN_OK)
            wait_a_little();
        code = archive_create(c->set, span_of(c->name), &c->made, &c->why);
        if (code != SEEN_OK && code != SEEN_EXISTS && code != SEEN_BUSY)
            return code;
    }
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

/* Has another client deleted it, and can it be made again? */
static bool was_deleted(const struct archive_change *c)
{
    return c->path && c->makes && access(c->path, F_OK) && errno == ENOENT;
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
        c->not_accepted = first->not_accepted;
        at += c->n;
    }
    first->n = own;
    for (struct archive_change *c = first; c; c = c->next)
        if (code == SEEN_FULL && !was_refused(c))
            c->code = SEEN_OK;
}

static enum seen_code change_accepted(struct archive_change *first,
                                      struct archive_writer *w, bool in_loop)
{
    if (first->accepts && !first->accepts(archive_writer_filter(w))) {
        first->not_accepted = true;
        return seen_fail(&first->why, SEEN_UNABLE, 0, "is of another type");
    }
    guard_begin();
    return archive_writer_changed(w, change_filter(first, w, in_loop),
                                  &first->why);
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
    for (int i = 0; i < TRIES && code != SEEN_OK && was_deleted(first); i++) {
        free(first->path);
        first->path = NULL;
        code = make(first);
        if (code == SEEN_OK)
            code = open_writer(first, &w);
    }
    if (code == SEEN_OK)
        code = change_accepted(first, w, false);
    if (code == SEEN_OK && first->added + first->removed) {
        guard_begin();
        archive_writer_date(w);
        code = archive_writer_changed(w, code, &first->why);
    }
    if (w)
        archive_writer_put(first->set, w);
    if (code != SEEN_OK)
        first->code = code;
    distribute(first, own);
}

bool archive_change_now(struct archive_change *first, struct archive_writer *w)
{
    const size_t own = first->n;
    enum seen_code code;
    size_t n = 0;

    for (const struct archive_change *c = first; c; c = c->next)
        n += c->n;
    if (!archive_writer_hold(w, &first->profile, n))
        return false;
    code = collect(first);
    if (code == SEEN_OK)
        code = change_accepted(first, w, true);
    archive_writer_release(w);
    if (code != SEEN_OK)
        first->code = code;
    distribute(first, own);
    return true;
}

/* --- for filters that have no file --- */

static enum seen_code refused(struct archive_change *c,
                              const struct seen_filter *f)
{
    if (!archive_set_writable(c->set))
        return seen_fail(&c->why, SEEN_UNABLE, 0, "the server is read-only");
    c->not_accepted = c->accepts && !c->accepts(f);
    return c->not_accepted
               ? seen_fail(&c->why, SEEN_UNABLE, 0, "is of another type")
               : SEEN_OK;
}

void archive_change_make(struct archive_change *first, struct seen_filter *f)
{
    const size_t own = first->n;
    enum seen_code code = collect(first);

    first->code = SEEN_OK;
    first->added = first->removed = 0;
    if (code == SEEN_OK)
        code = refused(first, f);
    if (code == SEEN_OK)
        code = change_keys(first, f, NULL);
    if (code != SEEN_OK)
        first->code = code;
    distribute(first, own);
}

static struct archive_change *copy_one(const struct archive_change *from)
{
    struct archive_change *to = calloc(1, sizeof *to);

    if (!to)
        return NULL;
    to->kind = from->kind;
    to->set = from->set;
    to->profile = from->profile;
    to->accepts = from->accepts;
    to->key = array_grow(NULL, &to->key_room, from->n + 1, sizeof *to->key);
    to->result = array_grow(NULL, &to->result_room, from->n + 1, 1);
    buffer_append(&to->text, &from->text);
    if (!to->key || !to->result || to->text.failed) {
        archive_change_free(to);
        return NULL;
    }
    memcpy(to->key, from->key, from->n * sizeof *to->key);
    memset(to->result, ARCHIVE_OLD, from->n);
    to->n = from->n;
    return to;
}

struct archive_change *archive_change_copy(const struct archive_change *first)
{
    struct archive_change *copy = NULL, **last = &copy;

    for (; first; first = first->next) {
        *last = copy_one(first);
        if (!*last) {
            archive_change_free(copy);
            return NULL;
        }
        last = &(*last)->next;
    }
    return copy;
}

void archive_change_results(struct archive_change *first,
                            const struct archive_change *copy)
{
    for (; first && copy; first = first->next, copy = copy->next) {
        memcpy(first->result, copy->result, copy->n);
        first->code = copy->code;
        first->why = copy->why;
        first->not_accepted = copy->not_accepted;
        first->added = copy->added;
        first->removed = copy->removed;
    }
}

void archive_change_free(struct archive_change *copy)
{
    for (struct archive_change *next; copy; copy = next) {
        next = copy->next;
        archive_change_clear(copy);
        free(copy);
    }
}
