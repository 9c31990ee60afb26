/*
 * archive.c - an archive that follows its file.
 *
 * Our own writers change files in place too, but only while there is a journal
 * beside them. Any other change of the bytes (rsync --inplace, dd) can mix two
 * filters: cells that were set are clear, and the answer is a wrong "no". So
 * the archive is not asked from the moment when the change is noticed until
 * all cells of the file were verified, and is then mapped anew. inotify reports
 * a write() when it is done, which is late for a large one, and a lookup may
 * wait behind those of expensive archives. So a "no" is given only if the time
 * of the file, which changes before its bytes do, is still the same after the
 * lookup. Changes through a mapping are noticed that way, too, or within a
 * second. What is not noticed: foreign changes while a writer of ours is at
 * work, and a change in the same tick of the clock (4 ms) as the one before it.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../lib/disk/clock.h"
#include "guard.h"
#include "inside_view.h"

const char *const archive_state_names[ARCHIVE_STATES] = { "ready", "checking",
                                                          "withdrawn",
                                                          "away" };

enum {
    HELD = 16 /* files that a view holds open, at most */
};

/* More than any loop affords; times a list of URLs it is still a number. */
static const uint64_t REMOTE_COST = UINT64_C(1) << 40;

static const char cut_short[] = "the file was cut short while it was read";
static const char changed_in_place[] =
    "the file was changed in place and is being verified";

static void withdraw(struct archive *a, enum seen_code code, const char *why)
{
    a->state = ARCHIVE_WITHDRAWN;
    seen_fail(&a->why, code, 0, "%s", why);
    a->filter = NULL;
}

/* The file was cut short. If it is a writer's, all loops see that. */
static void spoil(struct archive *a)
{
    if (a->writer)
        archive_writer_spoil(a->writer);
    withdraw(a, SEEN_CORRUPT, cut_short);
}

static bool has_journal(const struct archive *a)
{
    char *real = realpath(a->path, NULL);
    struct buffer journal = { .bytes = NULL };
    char *name;
    bool there;

    buffer_format(&journal, "%s.journal", real ? real : a->path);
    name = buffer_take(&journal);
    there = !name || !access(name, F_OK);
    free(real);
    free(name);
    return there;
}

bool archive_same_bytes(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Look at the file that is mapped, after every "no": fstat() takes a third of
   the time of stat(), which was 2.5 % of the time of an HTTP lookup. */
static bool look_again(const struct archive *a, struct stat *now)
{
    return (a->fd >= 0 && !fstat(a->fd, now) &&
            now->st_ino == a->looked.st_ino) ||
           !stat(a->path, now);
}

/* Descriptors are for clients first: one of 1,024 goes to a file. */
static unsigned most_held(void)
{
    struct rlimit r = { 0, 0 };

    getrlimit(RLIMIT_NOFILE, &r);
    return r.rlim_cur / 1024 < HELD ? (unsigned)(r.rlim_cur / 1024) : HELD;
}

static void hold_file(struct archive_view *v, struct archive *a)
{
    a->fd = v->held < most_held() ? open(a->path, O_PATH | O_CLOEXEC) : -1;
    v->held += a->fd >= 0;
}

static void let_go(struct archive_view *v, struct archive *a)
{
    if (a->fd < 0)
        return;
    close(a->fd);
    a->fd = -1;
    v->held--;
}

/*
 * Was the file overwritten since the last refresh? For a "no" that was just
 * found in it. Our own writers have a journal, which may have come and gone.
 */
static bool overtaken(struct archive *a)
{
    struct stat now;

    if (a->writer || a->journaled || !look_again(a, &now) ||
        now.st_ino != a->looked.st_ino || now.st_dev != a->looked.st_dev ||
        archive_same_bytes(&now, &a->looked) || has_journal(a))
        return false;
    a->view->dirty |= archive_watch_read(a->view);
    return !a->journaled;
}

/* After a lookup, inside the guard: does its answer hold? If not, the archive
   is withdrawn. */
static bool holds(struct archive *a, bool no)
{
    if (guard_end() || (a->writer && archive_writer_spoiled(a->writer))) {
        spoil(a);
        return false;
    }
    if (!no || !overtaken(a))
        return true;
    withdraw(a, SEEN_BUSY, changed_in_place);
    a->dirty = a->view->dirty = true;
    return false;
}

/* A loop must never wait for another server. */
static enum seen_code not_here(struct seen_error *why)
{
    return seen_fail(why, SEEN_BUSY, 0, "its cells are on another server");
}

enum seen_code archive_has(struct archive *a, const struct seen_key *key,
                           size_t n, bool *seen, struct seen_error *why)
{
    enum seen_code code;

    if (a->remote && a->filter)
        return not_here(why);
    if (a->filter) {
        guard_begin();
        code = seen_filter_has(a->filter, key, n, seen, why);
        if (holds(a, code == SEEN_OK && memchr(seen, false, n)))
            return code;
    }
    if (why)
        *why = a->why;
    return SEEN_CORRUPT;
}

enum seen_code archive_has_under(struct archive *a, const struct seen_key *key,
                                 bool *seen, struct seen_error *why)
{
    enum seen_code code;

    if (a->remote)
        return not_here(why);
    guard_begin();
    code = seen_filter_has_prefix(a->filter, key, seen, why);
    if (holds(a, code == SEEN_OK && !*seen))
        return code;
    *why = a->why;
    return SEEN_CORRUPT;
}

enum seen_code archive_count(struct archive *a, const struct seen_key *key,
                             uint64_t *count, struct seen_error *why)
{
    enum seen_code code;

    if (a->remote)
        return not_here(why);
    guard_begin();
    code = seen_filter_count(a->filter, key, 1, count, why);
    if (holds(a, true))
        return code;
    *why = a->why;
    return SEEN_CORRUPT;
}

int32_t archive_order(const struct archive *a)
{
    return a->note ? a->note->order : ARCHIVE_ORDER_NONE;
}

static const char *note_of(const struct archive *a, const char *name)
{
    if (!a->note)
        return NULL;
    return !strcmp(name, "title")      ? a->note->title
           : !strcmp(name, "timemap")  ? a->note->timemap
           : !strcmp(name, "timegate") ? a->note->timegate
                                       : NULL;
}

const char *archive_meta(const struct archive *a, const char *name)
{
    const char *note = note_of(a, name);
    const struct seen_filter *f = a->mapped ? a->mapped : a->filter;

    if (a->writer) /* whose date may be newer */
        f = archive_writer_filter(a->writer);

    if (note)
        return note;
    return f ? seen_meta_get(f, name) : NULL;
}

void archive_drop_writer(struct archive_view *v, struct archive *a)
{
    if (!a->writer)
        return;
    archive_writer_put(v->set, a->writer);
    a->writer = NULL;
    a->filter = a->mapped;
    a->as_of = archive_meta(a, "as-of");
}

static void archive_clear(struct archive_view *v, struct archive *a)
{
    archive_drop_writer(v, a);
    let_go(v, a);
    if (a->shared)
        archive_remote_put(a->remote, a->shared);
    else
        seen_filter_free(a->mapped);
    a->shared = NULL;
    a->mapped = a->filter = NULL;
}

void archive_free(struct archive_view *v, struct archive *a)
{
    archive_clear(v, a);
    buffer_clear(&a->head[0]);
    buffer_clear(&a->head[1]);
    free(a->name);
    free(a->path);
    free(a);
}

/*
 * After a file was mapped: was it the one that was looked at, or had another
 * taken its place? The number of a file that is gone is soon given to a new
 * one. That must not look like the old one overwritten, so another look
 * follows.
 */
static void settle(struct archive_view *v, struct archive *a)
{
    struct stat now;

    if (!stat(a->path, &now) && archive_same_bytes(&now, &a->looked))
        return;
    memset(&a->looked, 0, sizeof a->looked);
    a->dirty = v->dirty = true;
}

/* Was the file overwritten, and not by a writer of ours? */
static bool overwritten(struct archive *a, const struct stat *now)
{
    const bool journal = has_journal(a), ours = journal || a->journaled;
    const bool modified = a->modified;
    const bool changed = modified || !archive_same_bytes(now, &a->looked);
    const bool same_file = now->st_ino == a->looked.st_ino &&
                           now->st_dev == a->looked.st_dev;

    a->journaled = journal;
    a->modified = false;
    a->looked = *now;
    return changed && (same_file || modified) && !ours;
}

static unsigned count_parts(const struct seen_filter *f)
{
    unsigned sum = seen_filter_parts(f);

    for (unsigned i = 0; i < seen_filter_parts(f); i++)
        sum += count_parts(seen_filter_part(f, i));
    return sum;
}

/*
 * The rate follows from the load of each part, which takes about 20 us per
 * part: 90 ms for routed:4096/growing/blocked, after each add, and a tenth of
 * the time of adds that come one by one. So it is computed at most every 2 ms
 * per part, or 1 % of the time. After many adds it is behind until the next one,
 * or until archive_view_poll().
 */
bool archive_rate_due(const struct archive *a)
{
    return clock_seconds() >= a->rated + (1 + count_parts(a->filter)) * 2e-3;
}

static void rate_again(struct archive *a)
{
    a->outdated = !archive_rate_due(a);
    if (a->outdated)
        return;
    a->rate = seen_filter_rate(a->filter);
    a->rated = clock_seconds();
}

/* Costs are known before the first lookup; and a filter that gets parts while
   it is served may become too expensive. */
static void redescribe(struct archive_view *v, struct archive *a)
{
    const uint64_t most = archive_set_cost(v->set);
    const char *as_of = archive_meta(a, "as-of");
    const bool same = a->head[0].len && as_of == a->as_of;

    rate_again(a);
    a->cost = seen_filter_cost(a->filter);
    a->cost_prefix = seen_filter_cost_prefix(a->filter);
    a->as_of = as_of;
    if (v->describe && !(same && a->outdated))
        v->describe(a);
    if (a->head[0].failed || a->head[1].failed) {
        buffer_clear(&a->head[0]);
        buffer_clear(&a->head[1]);
        withdraw(a, SEEN_NOMEM, "no memory for its description");
    } else if (a->remote) {
        a->cost = a->cost_prefix = REMOTE_COST;
    } else if (a->cost > most) {
        a->state = ARCHIVE_WITHDRAWN;
        seen_fail(&a->why, SEEN_RANGE, 0, ARCHIVE_TOO_EXPENSIVE, a->cost,
                  most);
        a->filter = NULL;
    }
}

void archive_update_state(struct archive_view *v, struct archive *a)
{
    struct seen_error why;

    switch (archive_condition(v->set, a->path, &a->file, &why)) {
    case ARCHIVE_UNCHECKED: a->state = ARCHIVE_CHECKING; break;
    case ARCHIVE_GOOD: a->state = ARCHIVE_READY; break;
    case ARCHIVE_BAD: withdraw(a, why.code, why.text); break;
    }
}

static enum seen_code map(struct archive_view *v, struct archive *a,
                          struct seen_error *why)
{
    struct seen_access access = { .unverified = true };
    enum seen_code code = seen_store_map(&a->mapped, a->path, &access, why);

    if (code == SEEN_OK && seen_filter_plan(a->mapped)->keyed) {
        seen_filter_free(a->mapped);
        a->mapped = NULL;
        access.secret = archive_set_secret(v->set);
        if (!access.secret)
            return seen_fail(why, SEEN_MISMATCH, 0,
                             "the filter is keyed, and its key is not known");
        code = seen_store_map(&a->mapped, a->path, &access, why);
    }
    if (code == SEEN_OK)
        code = seen_profile_find(&a->profile,
                                 seen_filter_plan(a->mapped)->profile, why);
    return code;
}

/* Take what is known of a filter on another server. While it is away, its
   metadata stays. */
static void load_remote(struct archive_view *v, struct archive *a)
{
    struct archive_remote_filter *old = a->shared;
    struct seen_error why;
    bool away;

    a->dirty = a->fresh = false;
    a->shared = archive_remote_get(a->remote, &away, &why);
    if (old)
        archive_remote_put(a->remote, old);
    if (old != a->shared)
        a->rated = -INFINITY;
    a->mapped = a->shared ? a->shared->filter : NULL;
    a->filter = away ? NULL : a->mapped;
    if (a->shared)
        a->profile = a->shared->profile;
    if (a->filter) {
        a->state = ARCHIVE_READY;
        redescribe(v, a);
        return;
    }
    errno = 0; /* the text has it */
    withdraw(a, why.code, why.text);
    a->state = ARCHIVE_AWAY;
}

/* Map the file as it is now. */
void archive_load(struct archive_view *v, struct archive *a)
{
    enum seen_code code;
    struct seen_error why;
    bool watched;

    if (a->remote) {
        load_remote(v, a);
        return;
    }
    archive_clear(v, a);
    a->dirty = a->fresh = a->suspect = a->modified = a->outdated = false;
    a->rated = -INFINITY;
    watched = archive_watch_file(v, a->path);
    a->journaled = has_journal(a);
    if (stat(a->path, &a->file)) {
        withdraw(a, SEEN_IO, "the file is gone");
        return;
    }
    a->looked = a->file;
    hold_file(v, a);
    if (!watched) {
        withdraw(a, SEEN_IO, "the file cannot be watched");
        return;
    }
    guard_begin();
    code = map(v, a, &why);
    if (guard_end())
        code = seen_fail(&why, SEEN_CORRUPT, 0, "%s", cut_short);
    if (code != SEEN_OK) {
        withdraw(a, code, why.text);
        return;
    }
    a->filter = a->mapped;
    settle(v, a);
    redescribe(v, a);
    if (a->filter)
        archive_update_state(v, a);
}

/* Use the writer of our own process: its adds are visible at once, and its
   cells are in memory once instead of once per loop. */
static void adopt_writer(struct archive_view *v, struct archive *a)
{
    struct archive_writer *w = archive_writer_peek(v->set, a->path);

    if (!w)
        return;
    if (a->state == ARCHIVE_WITHDRAWN || archive_writer_spoiled(w)) {
        archive_writer_put(v->set, w);
        return;
    }
    a->writer = w;
    a->filter = archive_writer_filter(w);
}

/* Have a file verified before it is asked again. */
static void distrust(struct archive_view *v, struct archive *a)
{
    archive_clear(v, a);
    a->file = a->looked;
    a->suspect = true;
    withdraw(a, SEEN_BUSY, changed_in_place);
    archive_recheck(v->set, a->path, &a->file);
}

/* Is it verified? Then it is mapped as it is now. */
static void reconsider(struct archive_view *v, struct archive *a)
{
    struct seen_error why;

    switch (archive_condition(v->set, a->path, &a->file, &why)) {
    case ARCHIVE_UNCHECKED: break;
    case ARCHIVE_GOOD: archive_load(v, a); break;
    case ARCHIVE_BAD: withdraw(a, why.code, why.text); break;
    }
}

/* Read what other processes added. */
static bool read_adds(struct archive *a, bool *changed)
{
    enum seen_code code;

    guard_begin();
    code = seen_store_refresh(a->mapped, changed, NULL);
    return !guard_end() && code == SEEN_OK;
}

void archive_refresh(struct archive_view *v, struct archive *a)
{
    struct stat now;
    bool changed;

    if (a->remote) {
        load_remote(v, a);
        return;
    }
    a->dirty = false;
    if (a->writer && !seen_store_current(archive_writer_filter(a->writer)))
        archive_writer_spoil(
            a->writer); /* someone put another file in its place */
    if (a->writer &&
        (archive_writer_leaving(a->writer) ||
         archive_writer_spoiled(a->writer) || a->state == ARCHIVE_WITHDRAWN))
        archive_drop_writer(v, a);
    if (!a->writer && archive_set_writable(v->set))
        adopt_writer(v, a);
    if (a->writer) {
        a->journaled = true;
        redescribe(v, a);
        return;
    }
    if (stat(a->path, &now)) {
        archive_load(v, a);
        return;
    }
    if (overwritten(a, &now)) {
        distrust(v, a);
        return;
    }
    if (a->suspect && now.st_ino == a->file.st_ino &&
        now.st_dev == a->file.st_dev) {
        reconsider(v, a);
        return;
    }
    if (a->state == ARCHIVE_WITHDRAWN || !read_adds(a, &changed)) {
        archive_load(v, a);
        return;
    }
    if (changed)
        settle(v, a);
    if (now.st_ino != a->file.st_ino || now.st_dev != a->file.st_dev) {
        a->file = now; /* a checkpoint: the same filter in another file */
        archive_update_state(v, a);
    }
    if ((changed || a->outdated) && a->filter)
        redescribe(v, a);
}
