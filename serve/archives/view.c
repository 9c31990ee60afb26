/*
 * view.c - archives that follow their files.
 *
 * inotify watches the folders and not the files: files are replaced by
 * rename, and their journals come and go. What an event is about is found by
 * its name.
 */
#define _GNU_SOURCE
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
#include "../http/reply.h"

enum { EVENTS = 16384 };

static const char cut_short[] = "the file was cut short while it was read";

struct watch {
    int id;
    char *folder;
    bool served; /* new files in it are new archives */
    dev_t dev;   /* which folder it was */
    ino_t ino;
};

struct shelf {
    struct library *library;
    int notify;
    struct watch *watch;
    size_t watches;
    struct archive **archive; /* in order of names */
    size_t archives;
    unsigned age; /* of the library, when it was looked at */
    bool stale;   /* a folder has other files than it had */
    bool some;    /* archive is dirty */
};

/* --- watching --- */

static int add_watch(struct shelf *s, const char *folder)
{
    return inotify_add_watch(s->notify, folder,
                             IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM |
                                 IN_CREATE | IN_DELETE | IN_CLOSE_WRITE |
                                 IN_ONLYDIR);
}

static bool watch_folder(struct shelf *s, const char *folder, bool served)
{
    struct watch *more;
    struct stat it;
    int id = add_watch(s, folder);

    if (id < 0)
        return false;
    for (size_t i = 0; i < s->watches; i++)
        if (s->watch[i].id == id) {
            s->watch[i].served |= served;
            return true;
        }
    more = realloc(s->watch, (s->watches + 1) * sizeof *more);
    if (!more)
        return false;
    s->watch = more;
    if (stat(folder, &it))
        return false;
    more[s->watches] = (struct watch){ id, strdup(folder), served, it.st_dev,
                                       it.st_ino };
    if (!more[s->watches].folder)
        return false;
    s->watches++;
    return true;
}

/* Another folder has the place of one that is watched. */
static void watch_again(struct shelf *s, size_t i)
{
    struct watch *w = &s->watch[i];
    int id = add_watch(s, w->folder);
    struct stat it;

    if (id < 0 || stat(w->folder, &it))
        return;
    w->id = id;
    w->dev = it.st_dev;
    w->ino = it.st_ino;
}

/* The folder of a file, and that of what it is a link to; those that are
   watched already stay as they are. */
static void watch_file(struct shelf *s, const char *path)
{
    char *real = realpath(path, NULL), *copy = strdup(path);

    if (copy)
        watch_folder(s, dirname(copy), false);
    if (real)
        watch_folder(s, dirname(real), false);
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

/* Its cells are not what they were; for a writer, all loops are told. */
static void spoil(struct archive *a)
{
    if (a->writer)
        writer_spoil(a->writer);
    withdraw(a, SEEN_CORRUPT, cut_short);
}

enum seen_code archive_ask(struct archive *a, const struct seen_key *key,
                           size_t n, bool *seen, struct seen_error *why)
{
    enum seen_code code = SEEN_CORRUPT;

    if (a->filter) {
        guard_begin();
        code = seen_filter_has(a->filter, key, n, seen, why);
        if (!guard_end() && !(a->writer && writer_spoiled(a->writer)))
            return code;
        spoil(a);
    }
    if (why)
        *why = a->why;
    return SEEN_CORRUPT;
}

enum seen_code archive_under(struct archive *a, const struct seen_key *key,
                             bool *seen, struct seen_error *why)
{
    enum seen_code code;

    guard_begin();
    code = seen_filter_under(a->filter, key, seen, why);
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

static void drop_writer(struct shelf *s, struct archive *a)
{
    if (!a->writer)
        return;
    writer_put(s->library, a->writer);
    a->writer = NULL;
    a->filter = a->mapped;
}

static void archive_clear(struct shelf *s, struct archive *a)
{
    drop_writer(s, a);
    seen_filter_free(a->mapped);
    a->mapped = a->filter = NULL;
}

static void archive_free(struct shelf *s, struct archive *a)
{
    archive_clear(s, a);
    out_clear(&a->yes);
    out_clear(&a->no);
    free(a->name);
    free(a->path);
    free(a);
}

/* What is told of the archive with every answer. */
static void describe(struct archive *a)
{
    a->rate = seen_filter_rate(a->filter);
    a->as_of = archive_meta(a, "as-of");
    a->yes.len = a->no.len = 0;
    reply_lookup(&a->yes, 200, a);
    reply_lookup(&a->no, 404, a);
}

static void ask_verdict(struct shelf *s, struct archive *a)
{
    struct seen_error why;

    switch (library_verdict(s->library, a->path, &a->file, &why)) {
    case VERDICT_PENDING: a->state = ARCHIVE_CHECKING; break;
    case VERDICT_GOOD: a->state = ARCHIVE_READY; break;
    case VERDICT_BAD: withdraw(a, why.code, why.text); break;
    }
}

static enum seen_code map(struct shelf *s, struct archive *a,
                          struct seen_error *why)
{
    struct seen_access how = { .unverified = true };
    enum seen_code code = seen_store_map(&a->mapped, a->path, &how, why);

    if (code == SEEN_OK && seen_filter_plan(a->mapped)->keyed) {
        seen_filter_free(a->mapped);
        a->mapped = NULL;
        how.secret = library_secret(s->library);
        if (!how.secret)
            return seen_fail(why, SEEN_MISMATCH, 0,
                             "the filter is keyed, and its key is not known");
        code = seen_store_map(&a->mapped, a->path, &how, why);
    }
    if (code == SEEN_OK)
        code = seen_profile_find(&a->profile,
                                 seen_filter_plan(a->mapped)->profile, why);
    return code;
}

/* Have the file as it is now. */
static void archive_load(struct shelf *s, struct archive *a)
{
    enum seen_code code;
    struct seen_error why;

    archive_clear(s, a);
    a->dirty = false;
    watch_file(s, a->path);
    if (stat(a->path, &a->file)) {
        withdraw(a, SEEN_IO, "the file is gone");
        return;
    }
    guard_begin();
    code = map(s, a, &why);
    if (guard_end())
        code = seen_fail(&why, SEEN_CORRUPT, 0, "%s", cut_short);
    if (code != SEEN_OK) {
        withdraw(a, code, why.text);
        return;
    }
    a->filter = a->mapped;
    describe(a);
    ask_verdict(s, a);
}

/* A writer of our own process shows its adds at once, and keeps its cells in
   one place instead of one a loop. */
static void adopt_writer(struct shelf *s, struct archive *a)
{
    struct writer *w = writer_peek(s->library, a->path);

    if (!w)
        return;
    if (a->state == ARCHIVE_WITHDRAWN || writer_spoiled(w)) {
        writer_put(s->library, w);
        return;
    }
    a->writer = w;
    a->filter = writer_filter(w);
}

/* Take in what other processes added. */
static bool take_adds(struct archive *a, bool *changed)
{
    enum seen_code code;

    guard_begin();
    code = seen_store_refresh(a->mapped, changed, NULL);
    return !guard_end() && code == SEEN_OK;
}

static void archive_refresh(struct shelf *s, struct archive *a)
{
    struct stat now;
    bool changed;

    a->dirty = false;
    if (a->writer && !seen_store_current(writer_filter(a->writer)))
        writer_spoil(a->writer); /* someone put another file in its place */
    if (a->writer && (writer_leaving(a->writer) || writer_spoiled(a->writer) ||
                      a->state == ARCHIVE_WITHDRAWN))
        drop_writer(s, a);
    if (!a->writer && library_writable(s->library))
        adopt_writer(s, a);
    if (a->writer) {
        describe(a);
        return;
    }
    if (a->state == ARCHIVE_WITHDRAWN || stat(a->path, &now) ||
        !take_adds(a, &changed)) {
        archive_load(s, a);
        return;
    }
    if (now.st_ino != a->file.st_ino || now.st_dev != a->file.st_dev) {
        a->file = now; /* a checkpoint: the same filter in another file */
        ask_verdict(s, a);
    }
    if (changed && a->filter)
        describe(a);
}

/* --- all of them --- */

/* Once a second, what inotify does not tell of: a folder or a link on the way
   to a file that leads elsewhere now; and what could not be had for want of
   memory or descriptors. */
void shelf_tick(struct shelf *s)
{
    struct stat now;

    for (size_t i = 0; i < s->archives; i++) {
        struct archive *a = s->archive[i];

        if (a->state == ARCHIVE_WITHDRAWN)
            a->dirty |= a->why.code == SEEN_IO || a->why.code == SEEN_NOMEM;
        else
            a->dirty |= !stat(a->path, &now) &&
                        (now.st_dev != a->file.st_dev ||
                         now.st_ino != a->file.st_ino);
        s->some |= a->dirty;
    }
    for (size_t i = 0; i < s->watches; i++)
        if (!stat(s->watch[i].folder, &now) &&
            (now.st_dev != s->watch[i].dev || now.st_ino != s->watch[i].ino)) {
            watch_again(s, i);
            s->stale |= s->watch[i].served;
            s->some = true;
        }
}

static struct archive *archive_new(const struct holding *h)
{
    struct archive *a = calloc(1, sizeof *a);

    if (a) {
        a->name = strdup(h->name);
        a->path = strdup(h->path);
        a->found = h->found;
    }
    return a;
}

/* Bring the list of archives to what there is now. */
static void reload(struct shelf *s)
{
    struct archive **next;
    struct holding *h;
    size_t n, old = 0;

    s->stale = false;
    if (library_list(s->library, &h, &n, NULL) != SEEN_OK)
        return;
    next = calloc(n + 1, sizeof *next);
    for (size_t i = 0; next && i < n; i++) { /* both are in order */
        while (old < s->archives &&
               strcmp(s->archive[old]->name, h[i].name) < 0)
            archive_free(s, s->archive[old++]);
        if (old < s->archives && !strcmp(s->archive[old]->name, h[i].name)) {
            if (!strcmp(s->archive[old]->path, h[i].path)) {
                next[i] = s->archive[old++];
                continue;
            }
            archive_free(s, s->archive[old++]); /* another folder's turn */
        }
        next[i] = archive_new(&h[i]);
        archive_load(s, next[i]);
    }
    if (next) {
        while (old < s->archives)
            archive_free(s, s->archive[old++]);
        free(s->archive);
        s->archive = next;
        s->archives = n;
    }
    holdings_free(h, n);
}

static bool ends(const char *text, size_t len, const char *tail)
{
    size_t n = strlen(tail);

    return len >= n && !memcmp(text + len - n, tail, n);
}

/* Mark the archives that a file of this name belongs to. */
static void touch(struct shelf *s, const char *file)
{
    size_t len = strlen(file);

    if (ends(file, len, ".journal"))
        len -= 8;
    for (size_t i = 0; i < s->archives; i++) {
        const char *path = s->archive[i]->path, *base = strrchr(path, '/');

        base = base ? base + 1 : path;
        if (strlen(base) == len && !memcmp(base, file, len))
            s->archive[i]->dirty = true;
    }
}

static void touch_all(struct shelf *s)
{
    for (size_t i = 0; i < s->archives; i++)
        s->archive[i]->dirty = true;
    s->stale = true;
}

static void take_event(struct shelf *s, const struct inotify_event *e)
{
    struct watch *w = NULL;

    for (size_t i = 0; i < s->watches && !w; i++)
        if (s->watch[i].id == e->wd)
            w = &s->watch[i];
    if (e->mask & IN_Q_OVERFLOW)
        touch_all(s);
    if (!w || !e->len)
        return;
    if (w->served && ends(e->name, strlen(e->name), ".seen") &&
        (e->mask & (IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE)))
        s->stale = true;
    touch(s, e->name);
    /* What a link points to has another name. */
    for (size_t i = 0; i < s->archives; i++)
        if (!s->archive[i]->found && !w->served)
            s->archive[i]->dirty = true;
}

void shelf_look(struct shelf *s)
{
    char room[EVENTS]
        __attribute__((aligned(__alignof__(struct inotify_event))));
    unsigned age = library_age(s->library);
    bool any = age != s->age;
    ssize_t n;

    while ((n = read(s->notify, room, sizeof room)) > 0) {
        any = true;
        for (char *at = room; at < room + n;) {
            const struct inotify_event *e = (void *)at;

            take_event(s, e);
            at += sizeof *e + e->len;
        }
        if ((size_t)n < sizeof room / 2)
            break;
    }
    if (!any && !s->some)
        return;
    s->some = false;
    if (age != s->age) {
        s->age = age;
        for (size_t i = 0; i < s->archives; i++) {
            struct archive *a = s->archive[i];

            if (a->state == ARCHIVE_CHECKING)
                ask_verdict(s, a);
            if (library_writable(s->library))
                a->dirty = true;
        }
    }
    if (s->stale)
        reload(s);
    for (size_t i = 0; i < s->archives; i++)
        if (s->archive[i]->dirty)
            archive_refresh(s, s->archive[i]);
}

struct archive *shelf_at(struct shelf *s, size_t i)
{
    return i < s->archives ? s->archive[i] : NULL;
}

struct archive *shelf_find(struct shelf *s, struct span name)
{
    size_t low = 0, high = s->archives;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *other = s->archive[middle]->name;
        size_t len = strlen(other);
        int order = memcmp(name.text, other, name.len < len ? name.len : len);

        if (!order && name.len == len)
            return s->archive[middle];
        if (order > 0 || (!order && name.len > len))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

enum seen_code shelf_new(struct shelf **out, struct library *l,
                         struct seen_error *why)
{
    struct shelf *s = calloc(1, sizeof *s);
    const char *folder;

    *out = NULL;
    if (!s)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for archives");
    s->library = l;
    s->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (s->notify < 0) {
        free(s);
        return seen_fail(why, SEEN_IO, 0, "files cannot be watched");
    }
    for (size_t i = 0; (folder = library_folder(l, i)); i++)
        if (!watch_folder(s, folder, true)) {
            shelf_free(s);
            return seen_fail(why, SEEN_IO, 0, "%s cannot be watched", folder);
        }
    s->age = library_age(l);
    reload(s);
    *out = s;
    return SEEN_OK;
}

void shelf_free(struct shelf *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->archives; i++)
        archive_free(s, s->archive[i]);
    for (size_t i = 0; i < s->watches; i++)
        free(s->watch[i].folder);
    free(s->watch);
    free(s->archive);
    close(s->notify);
    free(s);
}
