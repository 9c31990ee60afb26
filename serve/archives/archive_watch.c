/*
 * archive_watch.c - which files of archives changed.
 *
 * inotify watches folders, not files: files are replaced by rename, and their
 * journals come and go. The name in an event says which archive it is about.
 */
#include <libgen.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "inside_view.h"

enum { EVENTS = 16384 };

static int add_watch(struct archive_view *v, const char *folder)
{
    return inotify_add_watch(v->notify, folder,
                             IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM |
                                 IN_CREATE | IN_DELETE | IN_CLOSE_WRITE |
                                 IN_ONLYDIR);
}

bool archive_watch_folder(struct archive_view *v, const char *folder,
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

void archive_watch_again(struct archive_view *v, size_t i)
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

bool archive_watch_file(struct archive_view *v, const char *path)
{
    char *real = realpath(path, NULL), *copy = strdup(path);
    bool good = real && copy &&
                archive_watch_folder(v, dirname(copy), false) &&
                archive_watch_folder(v, dirname(real), false);

    free(copy);
    free(real);
    return good;
}

/* Mark the archives that a file belongs to: those that have its name and, if
   `also` is set, all that were named, since the file may be the target of a
   link with another name. */
static void touch(struct archive_view *v, const char *file, uint32_t mask,
                  bool also)
{
    struct seen_span name = span_of(file);
    const bool journal = span_ends(name, ".journal");

    if (journal)
        name.len -= 8;
    for (size_t i = 0; i < v->archives; i++) {
        struct archive *a = v->archive[i];
        const char *base = strrchr(a->path, '/');
        const bool its = span_is(name, base ? base + 1 : a->path);

        if (!its && !(also && !a->found))
            continue;
        /* Our own writer has added something: only the rate changes. */
        if (a->writer && a->filter && journal && mask == IN_MODIFY &&
            !archive_rate_due(a))
            a->outdated = true;
        else
            a->dirty = true;
        a->journaled |= journal;
        a->modified |= its && !journal && (mask & IN_MODIFY);
    }
}

void archive_touch_all(struct archive_view *v)
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
        archive_touch_all(v);
    if (!w || !e->len)
        return;
    if (w->served && span_ends(span_of(e->name), ".seen") &&
        (e->mask & (IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE)))
        v->stale = true;
    if (w->served && !strcmp(e->name, ARCHIVE_OVERLAY) &&
        (e->mask & (IN_MOVED_TO | IN_MOVED_FROM | IN_CLOSE_WRITE | IN_DELETE)))
        v->stale = true;
    touch(v, e->name, e->mask, !w->served);
}

bool archive_watch_read(struct archive_view *v)
{
    char room[EVENTS]
        __attribute__((aligned(__alignof__(struct inotify_event))));
    bool any = false;
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
    return any;
}
