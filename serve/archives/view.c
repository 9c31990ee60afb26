/*
 * view.c - all archives: those that were named, and those of folders.
 *
 * The list is kept in the order of names, for lookups, and a second time in the
 * order that pages show. inotify says which files and folders changed
 * (archive_watch.c), the set's version that another loop has changed something,
 * and a look per second finds what neither says. All of them only mark what is
 * to be done; archive_view_refresh() does it, between two turns of the loop, so
 * that no archive goes while it is asked.
 *
 * Without memory for a new list the old one stays, and is stale: an archive
 * that is missing from a list would be "not found", which is an answer.
 */
#include "view.h"

#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "inside_view.h"

/* Once per second, what inotify does not report: a folder or a link on the
   path of a file that leads elsewhere now. Archives that could not be opened
   for lack of memory or descriptors are tried again, and rates that are behind
   are computed. */
void archive_view_poll(struct archive_view *v)
{
    struct stat now;

    v->dirty |= v->stale;
    for (size_t i = 0; i < v->archives; i++) {
        struct archive *a = v->archive[i];

        if (a->state == ARCHIVE_WITHDRAWN)
            a->dirty |= a->why.code == SEEN_IO || a->why.code == SEEN_NOMEM;
        a->dirty |= a->outdated || a->remote;
        if (!a->writer && !a->remote)
            a->dirty |= !stat(a->path, &now) &&
                        !archive_same_bytes(&now, &a->looked);
        v->dirty |= a->dirty;
    }
    for (size_t i = 0; i < v->watches; i++)
        if (!stat(v->watch[i].folder, &now) &&
            (now.st_dev != v->watch[i].dev || now.st_ino != v->watch[i].ino)) {
            archive_watch_again(v, i);
            v->stale |= v->watch[i].served;
            v->dirty = true;
        }
}

static struct archive *archive_new(struct archive_view *v,
                                   const struct archive_entry *entry)
{
    struct archive *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->name = strdup(entry->name);
    a->path = strdup(entry->path);
    a->view = v;
    a->fd = -1;
    if (a->path)
        a->remote = archive_remote_find(v->set, a->path);
    a->found = entry->folder;
    a->folder = entry->folder;
    a->fresh = true;
    if (a->name && a->path)
        return a;
    free(a->name);
    free(a->path);
    free(a);
    return NULL;
}

/* The archives of a list: known ones, and new ones, which have no filter yet.
   Both lists are in order. */
static enum seen_code collect(struct archive_view *v,
                              const struct archive_list *list,
                              struct archive **next, struct seen_error *why)
{
    size_t old = 0;

    for (size_t i = 0; i < list->n; i++) {
        const struct archive_entry *entry = &list->entry[i];

        while (old < v->archives &&
               strcmp(v->archive[old]->name, entry->name) < 0)
            old++;
        if (old < v->archives && !strcmp(v->archive[old]->name, entry->name) &&
            !strcmp(v->archive[old]->path, entry->path))
            next[i] = v->archive[old];
        else
            next[i] = archive_new(v, entry);
        if (!next[i])
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for archives");
        next[i]->listed = true;
    }
    return SEEN_OK;
}

static int by_order(const void *x, const void *y)
{
    const struct archive *a = *(struct archive *const *)x;
    const struct archive *b = *(struct archive *const *)y;
    const int32_t p = archive_order(a), q = archive_order(b);

    return p != q ? (p > q) - (p < q) : strcmp(a->name, b->name);
}

static void arrange(struct archive_view *v)
{
    for (size_t i = 0; archive_folder(v->set, i); i++)
        archive_read_overlay(v->set, i, &v->overlay[i]);
    for (size_t i = 0; i < v->archives; i++) {
        struct archive *a = v->archive[i];

        a->note = a->folder ? archive_overlay_find(&v->overlay[a->folder - 1],
                                                   a->name)
                            : NULL;
        v->ordered[i] = a;
    }
    if (v->archives)
        qsort(v->ordered, v->archives, sizeof *v->ordered, by_order);
}

static void replace_archives(struct archive_view *v, struct archive **next,
                             struct archive **ordered, size_t n)
{
    for (size_t i = 0; i < v->archives; i++)
        if (!v->archive[i]->listed)
            archive_free(v, v->archive[i]);
    free(v->archive);
    free(v->ordered);
    v->archive = next;
    v->ordered = ordered;
    v->archives = n;
    arrange(v);
    for (size_t i = 0; i < n; i++)
        if (next[i]->fresh)
            archive_load(v, next[i]);
}

/* Bring the list of archives up to date. On failure it stays as it was, and
   stale: an archive that is not in it would be "not found". */
static enum seen_code reload(struct archive_view *v, struct seen_error *why)
{
    struct archive_list list;
    struct archive **next = NULL, **ordered = NULL;
    enum seen_code code = archive_list_load(&list, v->set, why);

    for (size_t i = 0; i < v->archives; i++)
        v->archive[i]->listed = false;
    if (code == SEEN_OK) {
        next = calloc(list.n + 1, sizeof *next);
        ordered = calloc(list.n + 1, sizeof *ordered);
        code = next && ordered
                   ? collect(v, &list, next, why)
                   : seen_fail(why, SEEN_NOMEM, 0, "no memory for archives");
    }
    v->stale = code != SEEN_OK;
    if (code == SEEN_OK) {
        replace_archives(v, next, ordered, list.n);
    } else {
        for (size_t i = 0; next && i < list.n && next[i]; i++)
            if (next[i]->fresh)
                archive_free(v, next[i]);
        free(next);
        free(ordered);
    }
    archive_list_clear(&list);
    return code;
}

void archive_view_refresh(struct archive_view *v)
{
    unsigned version = archive_set_version(v->set);
    bool any = archive_watch_read(v) || version != v->version;

    if (!any && !v->dirty)
        return;
    v->dirty = false;
    if (version != v->version) {
        const unsigned rereads = archive_set_rereads(v->set);

        v->version = version;
        if (rereads != v->rereads)
            archive_touch_all(v);
        v->rereads = rereads;
        for (size_t i = 0; i < v->archives; i++) {
            struct archive *a = v->archive[i];

            if (a->state == ARCHIVE_CHECKING)
                archive_update_state(v, a);
            if (a->suspect || a->remote || archive_set_writable(v->set))
                a->dirty = true;
        }
    }
    if (v->stale)
        reload(v, NULL);
    for (size_t i = 0; i < v->archives; i++)
        if (v->archive[i]->dirty)
            archive_refresh(v, v->archive[i]);
}

struct archive *archive_view_at(struct archive_view *v, size_t i)
{
    return i < v->archives ? v->ordered[i] : NULL;
}

size_t archive_view_count(const struct archive_view *v)
{
    return v->archives;
}

struct archive *const *archive_view_all(const struct archive_view *v)
{
    return v->ordered;
}

struct archive *const *archive_view_named(const struct archive_view *v)
{
    return v->archive;
}

bool archive_view_writable(const struct archive_view *v)
{
    return archive_set_writable(v->set);
}

uint64_t archive_view_cost(const struct archive_view *v)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < v->archives; i++)
        sum += v->archive[i]->filter ? v->archive[i]->cost : 0;
    return sum;
}

void archive_view_rest(struct archive_view *v)
{
    for (size_t i = 0; i < v->archives; i++)
        if (v->archive[i]->writer) {
            archive_drop_writer(v, v->archive[i]);
            v->archive[i]->dirty = v->dirty = true;
        }
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
    enum seen_code code;
    const char *folder;
    size_t folders;

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
        if (!archive_watch_folder(v, folder, true)) {
            archive_view_free(v);
            return seen_fail(why, SEEN_IO, 0, "cannot watch %s", folder);
        }
    for (folders = 0; archive_folder(set, folders);)
        folders++;
    v->overlay = calloc(folders + 1, sizeof *v->overlay);
    if (!v->overlay) {
        archive_view_free(v);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for archives");
    }
    v->version = archive_set_version(set);
    v->rereads = archive_set_rereads(set);
    code = reload(v, why);
    if (code != SEEN_OK) {
        archive_view_free(v);
        return code;
    }
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
    for (size_t i = 0; v->overlay && archive_folder(v->set, i); i++)
        archive_overlay_clear(&v->overlay[i]);
    free(v->overlay);
    free(v->archive);
    free(v->ordered);
    close(v->notify);
    free(v);
}
