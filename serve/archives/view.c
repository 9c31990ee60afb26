/*
 * view.c - archives that follow their files.
 *
 * inotify watches folders, not files: files are replaced by rename, and their
 * journals come and go. The name in an event says which archive it is about.
 */
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "guard.h"

enum { EVENTS = 16384 };

static const char cut_short[] = "the file was cut short while it was read";

struct archive_watch {
    int id;
    char *folder;
    bool served; /* new files in it are new archives */
    dev_t dev;   /* which folder it was */
    ino_t ino;
};

struct archive_view {
    struct archive_set *set;
    archive_describe *describe;
    int notify;
    struct archive_watch *watch;
    size_t watches;
    struct archive **archive; /* in order of names */
    size_t archives;
    unsigned version; /* of the set, at the last refresh */
    bool stale;       /* files of a folder came or went */
    bool dirty;       /* some archive is */
};

/* --- watching --- */

static int add_watch(struct archive_view *v, const char *folder)
{
    return inotify_add_watch(v->notify, folder,
                             IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM |
                                 IN_CREATE | IN_DELETE | IN_CLOSE_WRITE |
                                 IN_ONLYDIR);
}

static bool watch_folder(struct archive_view *v, const char *folder,
                         bool served)
{
    struct archive_watch *more;
    struct stat it;
    int id = add_watch(v, folder);

    if (id < 0)
        return false;
    for (size_t i = 0; i < v->watches; i++)
        if (v->watch[i].id == id) {
            v->watch[i].served |= served;
            return true;
        }
    more = realloc(v->watch, (v->watches + 1) * sizeof *more);
    if (!more)
        return false;
    v->watch = more;
    if (stat(folder, &it))
        return false;
    more[v->watches] = (struct archive_watch){ id, strdup(folder), served,
                                               it.st_dev, it.st_ino };
    if (!more[v->watches].folder)
        return false;
    v->watches++;
    return true;
}

/* A watched folder was replaced by another. */
static void watch_again(struct archive_view *v, size_t i)
{
    struct archive_watch *w = &v->watch[i];
    int id = add_watch(v, w->folder);
    struct stat it;

    if (id < 0 || stat(w->folder, &it))
        return;
    w->id = id;
    w->dev = it.st_dev;
    w->ino = it.st_ino;
}

/* Watch the folder of a file and, if it is a link, that of its target. */
static void watch_file(struct archive_view *v, const char *path)
{
    char *real = realpath(path, NULL), *copy = strdup(path);

    if (copy)
        watch_folder(v, dirname(copy), false);
    if (real)
        watch_folder(v, dirname(real), false);
    free(copy);
    free(real);
}

/* --- one archive --- */

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

enum seen_code archive_has(struct archive *a, const struct seen_key *key,
                           size_t n, bool *seen, struct seen_error *why)
{
    enum seen_code code = SEEN_CORRUPT;

    if (a->filter) {
        guard_begin();
        code = seen_filter_has(a->filter, key, n, seen, why);
        if (!guard_end() && !(a->writer && archive_writer_spoiled(a->writer)))
            return code;
        spoil(a);
    }
    if (why)
        *why = a->why;
    return SEEN_CORRUPT;
}

enum seen_code archive_has_under(struct archive *a, const struct seen_key *key,
                                 bool *seen, struct seen_error *why)
{
    enum seen_code code;

    guard_begin();
    code = seen_filter_has_prefix(a->filter, key, seen, why);
    if (!guard_end())
        return code;
    spoil(a);
    *why = a->why;
    return SEEN_CORRUPT;
}

enum seen_code archive_count(struct archive *a, const struct seen_key *key,
                             uint64_t *count, struct seen_error *why)
{
    enum seen_code code;

    guard_begin();
    code = seen_filter_count(a->filter, key, 1, count, why);
    if (!guard_end())
        return code;
    spoil(a);
    *why = a->why;
    return SEEN_CORRUPT;
}

const char *archive_meta(const struct archive *a, const char *name)
{
    const struct seen_filter *f = a->mapped ? a->mapped : a->filter;

    return f ? seen_meta_get(f, name) : NULL;
}

static void drop_writer(struct archive_view *v, struct archive *a)
{
    if (!a->writer)
        return;
    archive_writer_put(v->set, a->writer);
    a->writer = NULL;
    a->filter = a->mapped;
}

static void archive_clear(struct archive_view *v, struct archive *a)
{
    drop_writer(v, a);
    seen_filter_free(a->mapped);
    a->mapped = a->filter = NULL;
}

static void archive_free(struct archive_view *v, struct archive *a)
{
    archive_clear(v, a);
    buffer_clear(&a->head[0]);
    buffer_clear(&a->head[1]);
    free(a->name);
    free(a->path);
    free(a);
}

static void redescribe(struct archive_view *v, struct archive *a)
{
    a->rate = seen_filter_rate(a->filter);
    a->as_of = archive_meta(a, "as-of");
    if (v->describe)
        v->describe(a);
}

static void update_state(struct archive_view *v, struct archive *a)
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

/* Map the file as it is now. */
static void archive_load(struct archive_view *v, struct archive *a)
{
    enum seen_code code;
    struct seen_error why;

    archive_clear(v, a);
    a->dirty = false;
    watch_file(v, a->path);
    if (stat(a->path, &a->file)) {
        withdraw(a, SEEN_IO, "the file is gone");
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
    redescribe(v, a);
    update_state(v, a);
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

/* Read what other processes added. */
static bool read_adds(struct archive *a, bool *changed)
{
    enum seen_code code;

    guard_begin();
    code = seen_store_refresh(a->mapped, changed, NULL);
    return !guard_end() && code == SEEN_OK;
}

static void archive_refresh(struct archive_view *v, struct archive *a)
{
    struct stat now;
    bool changed;

    a->dirty = false;
    if (a->writer && !seen_store_current(archive_writer_filter(a->writer)))
        archive_writer_spoil(
            a->writer); /* someone put another file in its place */
    if (a->writer &&
        (archive_writer_leaving(a->writer) ||
         archive_writer_spoiled(a->writer) || a->state == ARCHIVE_WITHDRAWN))
        drop_writer(v, a);
    if (!a->writer && archive_set_writable(v->set))
        adopt_writer(v, a);
    if (a->writer) {
        redescribe(v, a);
        return;
    }
    if (a->state == ARCHIVE_WITHDRAWN || stat(a->path, &now) ||
        !read_adds(a, &changed)) {
        archive_load(v, a);
        return;
    }
    if (now.st_ino != a->file.st_ino || now.st_dev != a->file.st_dev) {
        a->file = now; /* a checkpoint: the same filter in another file */
        update_state(v, a);
    }
    if (changed && a->filter)
        redescribe(v, a);
}

/* --- all of them --- */

/* Once per second, what inotify does not report: a folder or a link on the
   path of a file that leads elsewhere now. Archives that could not be opened
   for lack of memory or descriptors are tried again. */
void archive_view_poll(struct archive_view *v)
{
    struct stat now;

    for (size_t i = 0; i < v->archives; i++) {
        struct archive *a = v->archive[i];

        if (a->state == ARCHIVE_WITHDRAWN)
            a->dirty |= a->why.code == SEEN_IO || a->why.code == SEEN_NOMEM;
        else
            a->dirty |= !stat(a->path, &now) &&
                        (now.st_dev != a->file.st_dev ||
                         now.st_ino != a->file.st_ino);
        v->dirty |= a->dirty;
    }
    for (size_t i = 0; i < v->watches; i++)
        if (!stat(v->watch[i].folder, &now) &&
            (now.st_dev != v->watch[i].dev || now.st_ino != v->watch[i].ino)) {
            watch_again(v, i);
            v->stale |= v->watch[i].served;
            v->dirty = true;
        }
}

static struct archive *archive_new(const struct archive_entry *entry)
{
    struct archive *a = calloc(1, sizeof *a);

    if (a) {
        a->name = strdup(entry->name);
        a->path = strdup(entry->path);
        a->found = entry->folder;
    }
    return a;
}

/* Bring the list of archives up to date. */
static void reload(struct archive_view *v)
{
    struct archive_list list;
    struct archive **next;
    size_t old = 0;

    v->stale = false;
    if (archive_list_load(&list, v->set, NULL) != SEEN_OK)
        return;
    next = calloc(list.n + 1, sizeof *next);
    for (size_t i = 0; next && i < list.n; i++) { /* both are in order */
        const struct archive_entry *entry = &list.entry[i];

        while (old < v->archives &&
               strcmp(v->archive[old]->name, entry->name) < 0)
            archive_free(v, v->archive[old++]);
        if (old < v->archives && !strcmp(v->archive[old]->name, entry->name)) {
            if (!strcmp(v->archive[old]->path, entry->path)) {
                next[i] = v->archive[old++];
                continue;
            }
            archive_free(v, v->archive[old++]); /* now of another folder */
        }
        next[i] = archive_new(entry);
        archive_load(v, next[i]);
    }
    if (next) {
        while (old < v->archives)
            archive_free(v, v->archive[old++]);
        free(v->archive);
        v->archive = next;
        v->archives = list.n;
    }
    archive_list_clear(&list);
}

/* Mark the archives that a file of this name belongs to. */
static void touch(struct archive_view *v, const char *file)
{
    struct seen_span name = span_of(file);

    if (span_ends(name, ".journal"))
        name.len -= 8;
    for (size_t i = 0; i < v->archives; i++) {
        const char *path = v->archive[i]->path, *base = strrchr(path, '/');

        if (span_is(name, base ? base + 1 : path))
            v->archive[i]->dirty = true;
    }
}

static void touch_all(struct archive_view *v)
{
    for (size_t i = 0; i < v->archives; i++)
        v->archive[i]->dirty = true;
    v->stale = true;
}

static void handle_event(struct archive_view *v, const struct inotify_event *e)
{
    struct archive_watch *w = NULL;

    for (size_t i = 0; i < v->watches && !w; i++)
        if (v->watch[i].id == e->wd)
            w = &v->watch[i];
    if (e->mask & IN_Q_OVERFLOW)
        touch_all(v);
    if (!w || !e->len)
        return;
    if (w->served && span_ends(span_of(e->name), ".seen") &&
        (e->mask & (IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE)))
        v->stale = true;
    touch(v, e->name);
    /* What a link points to has another name. */
    for (size_t i = 0; i < v->archives; i++)
        if (!v->archive[i]->found && !w->served)
            v->archive[i]->dirty = true;
}

void archive_view_refresh(struct archive_view *v)
{
    char room[EVENTS]
        __attribute__((aligned(__alignof__(struct inotify_event))));
    unsigned version = archive_set_version(v->set);
    bool any = version != v->version;
    ssize_t n;

    while ((n = read(v->notify, room, sizeof room)) > 0) {
        any = true;
        for (char *at = room; at < room + n;) {
            const struct inotify_event *e = (void *)at;

            handle_event(v, e);
            at += sizeof *e + e->len;
        }
        if ((size_t)n < sizeof room / 2)
            break;
    }
    if (!any && !v->dirty)
        return;
    v->dirty = false;
    if (version != v->version) {
        v->version = version;
        for (size_t i = 0; i < v->archives; i++) {
            struct archive *a = v->archive[i];

            if (a->state == ARCHIVE_CHECKING)
                update_state(v, a);
            if (archive_set_writable(v->set))
                a->dirty = true;
        }
    }
    if (v->stale)
        reload(v);
    for (size_t i = 0; i < v->archives; i++)
        if (v->archive[i]->dirty)
            archive_refresh(v, v->archive[i]);
}

struct archive *archive_view_at(struct archive_view *v, size_t i)
{
    return i < v->archives ? v->archive[i] : NULL;
}

size_t archive_view_count(const struct archive_view *v)
{
    return v->archives;
}

struct archive *archive_view_find(struct archive_view *v,
                                  struct seen_span name)
{
    size_t low = 0, high = v->archives;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *other = v->archive[middle]->name;
        size_t len = strlen(other);
        int order = memcmp(name.text, other, name.len < len ? name.len : len);

        if (!order && name.len == len)
            return v->archive[middle];
        if (order > 0 || (!order && name.len > len))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

enum seen_code archive_view_new(struct archive_view **out,
                                struct archive_set *set,
                                archive_describe *describe,
                                struct seen_error *why)
{
    struct archive_view *v = calloc(1, sizeof *v);
    const char *folder;

    *out = NULL;
    if (!v)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for archives");
    v->set = set;
    v->describe = describe;
    v->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (v->notify < 0) {
        free(v);
        return seen_fail(why, SEEN_IO, 0, "cannot watch files");
    }
    for (size_t i = 0; (folder = archive_folder(set, i)); i++)
        if (!watch_folder(v, folder, true)) {
            archive_view_free(v);
            return seen_fail(why, SEEN_IO, 0, "cannot watch %s", folder);
        }
    v->version = archive_set_version(set);
    reload(v);
    *out = v;
    return SEEN_OK;
}

void archive_view_free(struct archive_view *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->archives; i++)
        archive_free(v, v->archive[i]);
    for (size_t i = 0; i < v->watches; i++)
        free(v->watch[i].folder);
    free(v->watch);
    free(v->archive);
    close(v->notify);
    free(v);
}
