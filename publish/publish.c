/*
 * publish.c - the steps of a run.
 *
 *     lock the folder
 *     examine each filter; keep versions, make deltas
 *     save the state                from here on the next run would finish it
 *     write the lists               lists of files, then lists of lists
 *     write the page, if it is wanted
 *     remove what no list names any more
 *
 * So a reader never finds a list that names a missing file. If a run is
 * killed before the state is saved, it leaves only copies and deltas, which
 * the next run makes again or removes.
 */
#include "publish.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../lib/disk/disk.h"
#include "../lib/disk/lock.h"
#include "../lib/disk/walk.h"
#include "../lib/text/memory.h"
#include "changes.h"
#include "examine.h"
#include "file.h"
#include "folder.h"
#include "lists.h"
#include "metadata.h"
#include "publish_page.h"
#include "text.h"
#include "versions.h"

/* --- the URL ------------------------------------------------------------ */

/* http or https, a host, a path; in ASCII, since people copy it. */
static const char *wrong_url(const char *url)
{
    const char *host = !strncmp(url, "http://", 7)    ? url + 7
                       : !strncmp(url, "https://", 8) ? url + 8
                                                      : NULL;

    if (!host)
        return "is not an http or https URL";
    if (!strcspn(host, "/"))
        return "has no host";
    for (const char *at = host; *at; at++)
        if (*at == '?' || *at == '#')
            return "has a query or fragment; files are below a path";
        else if (*at <= ' ' || *at > '~' || strchr("\"<>\\^`{|}", *at))
            return "has characters that must be written like %20 in a URL";
    if (memchr(host, '@', strcspn(host, "/")))
        return "has a user name or password, which everyone could read";
    return NULL;
}

static enum seen_code take_url(struct publish_run *r, struct seen_error *why)
{
    const char *url = r->options->url ? r->options->url : r->was.url, *wrong;

    if (!url)
        return seen_fail(why, SEEN_RANGE, 0,
                         "--url is needed the first time: where the folder is "
                         "on the web");
    wrong = wrong_url(url);
    if (wrong)
        return seen_fail(why, SEEN_RANGE, 0, "%.80s: %s", url, wrong);
    r->now.url = publish_format("%s%s", url,
                                url[strlen(url) - 1] == '/' ? "" : "/");
    r->totals->url = r->now.url ? strdup(r->now.url) : NULL;
    r->totals->moved = r->now.url &&
                       (!r->was.url || strcmp(r->was.url, r->now.url));
    return r->totals->url ? SEEN_OK : no_memory_for(why, "a list");
}

/* --- the lock ----------------------------------------------------------- */

/* We remove files in these folders, so they must not be links. */
static enum seen_code check_own(const char *folder, struct seen_error *why)
{
    static const char *const own[] = { ".publish", ".publish/versions",
                                       "deltas" };
    enum seen_code code = SEEN_OK;
    struct stat it;

    for (int i = 0; i < 3 && code == SEEN_OK; i++) {
        char *path = walk_path(folder, own[i]);

        if (!path)
            code = no_memory_for(why, "a list");
        else if (!lstat(path, &it) && !S_ISDIR(it.st_mode))
            code = seen_fail(why, SEEN_MISMATCH, 0,
                             "%s: is not a folder, or a link to one; seen "
                             "publish removes files there, so move it away",
                             own[i]);
        free(path);
    }
    return code;
}

enum seen_code publish_lock(int *fd, const char *folder,
                            struct seen_error *why)
{
    char *path = walk_path(folder, ".publish/lock");
    enum seen_code code = path ? SEEN_OK : no_memory_for(why, "a list");
    struct stat it;

    if (code == SEEN_OK && (stat(folder, &it) || !S_ISDIR(it.st_mode)))
        code = seen_fail(why, SEEN_IO, 0, "is not a folder");
    if (code == SEEN_OK)
        code = disk_make_folders(path, why);
    if (code == SEEN_OK)
        code = lock_take(fd, path, "someone else is publishing this folder",
                         why);
    free(path);
    return code;
}

/* --- all filters -------------------------------------------------------- */

static void report_note(void *whose, const char *name, const char *text)
{
    publish_report(whose, PUBLISH_NOTE, name, text, NULL);
}

static void report_skipped(void *whose, const char *name, const char *text,
                           bool lost)
{
    publish_report(whose, lost ? PUBLISH_REFUSED : PUBLISH_NOTE, name, text,
                   NULL);
}

static int by_base(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    int order = strcmp(publish_base(x), publish_base(y));

    return order ? order : strcmp(x, y);
}

/* Harvesters store filters under their base names, unless they are asked to
   use paths. Each duplicate name is reported once. */
static enum seen_code report_duplicates(struct publish_run *r,
                                        const struct publish_folder *f,
                                        struct seen_error *why)
{
    size_t n = f->files.n;
    char **name = malloc((n + 1) * sizeof *name), text[200];

    if (!name)
        return no_memory_for(why, "a list");
    memcpy(name, f->files.name, n * sizeof *name);
    if (n)
        qsort(name, n, sizeof *name, by_base);
    for (size_t i = 1; i < n; i++)
        if (!strcmp(publish_base(name[i]), publish_base(name[i - 1])) &&
            (i == 1 ||
             strcmp(publish_base(name[i]), publish_base(name[i - 2])))) {
            snprintf(text, sizeof text,
                     "has the same name as %.80s; harvesters need --names "
                     "path to get both",
                     name[i - 1]);
            publish_report(r, PUBLISH_NOTE, name[i], text, NULL);
        }
    free(name);
    return SEEN_OK;
}

/* An announced filter whose file is gone or cannot be seen. */
static enum seen_code missing(struct publish_run *r,
                              const struct publish_folder *f,
                              const struct publish_item *old,
                              struct seen_error *why)
{
    if (publish_folder_unread(f, old->path))
        return publish_examine_leave(r, old, "its folder cannot be read", why);
    publish_report(r, PUBLISH_WITHDRAWN, old->path, NULL, old);
    return SEEN_OK;
}

/* Files and items are both in the order of paths. */
static enum seen_code examine_all(struct publish_run *r,
                                  const struct publish_folder *f,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    size_t i = 0, j = 0;

    while (code == SEEN_OK && (i < f->files.n || j < r->was.items)) {
        const struct publish_item *old = j < r->was.items ? &r->was.item[j]
                                                          : NULL;
        const char *name = i < f->files.n ? f->files.name[i] : NULL;
        int order = !name ? 1 : !old ? -1 : strcmp(name, old->path);

        if (order > 0)
            code = missing(r, f, old, why);
        else
            code = publish_examine(r, name, order ? NULL : old, why);
        i += order <= 0;
        j += order >= 0;
    }
    return code;
}

static void add_up(struct publish_run *r)
{
    for (size_t i = 0; i < r->now.items; i++)
        if (!r->now.item[i].held) {
            r->totals->files++;
            r->totals->bytes += r->now.item[i].length;
        }
    r->totals->deltas = r->now.deltas;
}

/* When the content of the sitemap last changed. */
static int64_t changed_at(const struct publish_run *r)
{
    bool moved = !r->was.url || strcmp(r->was.url, r->now.url) ||
                 r->was.items != r->now.items;

    for (size_t i = 0; !moved && i < r->now.items; i++) {
        const struct publish_item *a = &r->was.item[i], *b = &r->now.item[i];

        moved = strcmp(a->path, b->path) || a->held != b->held ||
                memcmp(a->digest, b->digest, SEEN_DIGEST);
    }
    if (!moved)
        return r->was.at;
    return r->time > r->was.at ? r->time : r->was.at + 1;
}

/* --- what is written ---------------------------------------------------- */

static void most(unsigned *to, const unsigned *a, const unsigned *b)
{
    for (int i = 0; i < 2; i++)
        to[i] = a[i] > b[i] ? a[i] : b[i];
}

/* Move the changes of the last run to the new state. */
static void hand_over(struct publish_run *r)
{
    r->now.change = r->was.change;
    r->now.changes = r->was.changes;
    r->now.change_room = r->was.change_room;
    r->was.change = NULL;
    r->was.changes = r->was.change_room = 0;
}

static enum seen_code write_all(struct publish_run *r, const char *state,
                                const struct publish_metadata *m,
                                struct seen_error *why)
{
    const char *folder = r->options->folder;
    unsigned parts[2], had[2];
    enum seen_code code;

    memcpy(had, r->was.parts, sizeof had);
    memcpy(r->now.parts, had, sizeof had);
    hand_over(r);
    code = publish_changes_update(&r->now, r->time, why);
    if (code == SEEN_OK)
        code = publish_blame(".publish/state.json",
                             publish_state_save(&r->now, state, why), why);
    if (code == SEEN_OK)
        code = publish_blame("the lists",
                             publish_lists_write(r->options, &r->now, m, parts,
                                                 &r->totals->written, why),
                             why);
    if (code == SEEN_OK && r->page)
        code = publish_page_write(folder, &r->now, &r->totals->written, why);
    if (code != SEEN_OK)
        return code;
    most(r->now.parts, had, parts);
    if (memcmp(r->now.parts, had, sizeof had)) /* before any is removed */
        code = publish_blame(".publish/state.json",
                             publish_state_save(&r->now, state, why), why);
    if (code == SEEN_OK)
        code = publish_versions_sweep(folder, &r->now, why);
    publish_lists_sweep(folder, &r->now, r->now.parts, parts);
    publish_text_sweep(folder, &r->was, &r->now);
    if (code == SEEN_OK && memcmp(r->now.parts, parts, sizeof parts)) {
        memcpy(r->now.parts, parts, sizeof parts);
        code = publish_blame(".publish/state.json",
                             publish_state_save(&r->now, state, why), why);
    }
    return code;
}

static enum seen_code run(struct publish_run *r, const char *state,
                          const char *archive, struct seen_error *why)
{
    struct publish_metadata *m = NULL;
    struct publish_folder f = { .files = { .n = 0 } };
    enum seen_code code = publish_blame(
        ".publish/state.json", publish_state_load(&r->was, state, why), why);

    if (code != SEEN_OK)
        return code;
    r->now.deltas = r->options->deltas == PUBLISH_AS_BEFORE
                        ? r->was.deltas
                        : r->options->deltas;
    r->now.text = r->options->text == PUBLISH_TEXT ||
                  (r->options->text == PUBLISH_TEXT_AS_BEFORE && r->was.text);
    code = take_url(r, why);
    if (code == SEEN_OK)
        code = publish_lists_check(r->options->folder, r->now.deltas, why);
    if (code == SEEN_OK)
        code = publish_page_check(r->options->folder, r->options->page,
                                  &r->page, why);
    if (code == SEEN_OK)
        code = publish_blame(
            "archive.json",
            publish_metadata_load(&m, archive, report_note, r, why), why);
    if (code == SEEN_OK)
        code = publish_folder_walk(&f, r->options->folder, report_skipped, r,
                                   why);
    if (code == SEEN_OK)
        code = report_duplicates(r, &f, why);
    if (code == SEEN_OK)
        code = examine_all(r, &f, why);
    if (code == SEEN_OK) {
        add_up(r);
        r->now.at = changed_at(r);
    }
    if (code == SEEN_OK && !r->options->dry)
        code = write_all(r, state, m, why);
    publish_folder_clear(&f);
    publish_metadata_free(m);
    return code;
}

enum seen_code publish(const struct publish_options *options,
                       struct publish_totals *totals, struct seen_error *why)
{
    struct publish_run r = { .options = options,
                             .totals = totals,
                             .time = time(NULL) };
    char *state = walk_path(options->folder, ".publish/state.json");
    char *archive = walk_path(options->folder, "archive.json");
    enum seen_code code = SEEN_OK;
    int fd = -1, system;

    memset(totals, 0, sizeof *totals);
    if (!state || !archive)
        code = no_memory_for(why, "a list");
    if (code == SEEN_OK)
        code = check_own(options->folder, why);
    if (code == SEEN_OK && !options->dry)
        code = publish_lock(&fd, options->folder, why);
    if (code == SEEN_OK)
        code = run(&r, state, archive, why);
    system = errno;
    publish_state_clear(&r.was);
    publish_state_clear(&r.now);
    lock_release(fd, NULL);
    free(archive);
    free(state);
    errno = system;
    return code;
}

void publish_totals_clear(struct publish_totals *totals)
{
    free(totals->url);
    totals->url = NULL;
}
