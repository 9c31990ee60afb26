/*
 * publish.c - the order of things.
 *
 *     lock the folder
 *     look at each filter; keep versions, make deltas
 *     save the state                what is decided now stays decided
 *     write the lists               files first, then lists of lists
 *     remove what no list names any more
 *
 * So a reader never finds a list that names what is not there; and of a run
 * that was killed before the state was saved, nothing is left but copies and
 * deltas that the next one makes again or sweeps away.
 */
#define _DEFAULT_SOURCE /* flock, strdup */
#include "publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "changes.h"
#include "examine.h"
#include "folder.h"
#include "lists.h"
#include "metadata.h"
#include "path.h"
#include "text.h"
#include "versions.h"

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory to publish");
}

/* --- the URL ------------------------------------------------------------ */

/* http or https, a host, a path; in ASCII, since people paste it. */
static const char *wrong_url(const char *url)
{
    const char *host = !strncmp(url, "http://", 7)    ? url + 7
                       : !strncmp(url, "https://", 8) ? url + 8
                                                      : NULL;

    if (!host)
        return "is no URL of http or https";
    if (!strcspn(host, "/"))
        return "has no host";
    for (const char *at = host; *at; at++)
        if (*at == '?' || *at == '#')
            return "has a query or fragment; files are below a path";
        else if (*at <= ' ' || *at > '~' || strchr("\"<>\\^`{|}", *at))
            return "has characters that are written %20 in URLs";
    if (memchr(host, '@', strcspn(host, "/")))
        return "has a name or password, which everyone would read";
    return NULL;
}

static enum seen_code take_url(struct run *r, struct seen_error *why)
{
    const char *url = r->how->url ? r->how->url : r->was.url, *wrong;

    if (!url)
        return seen_fail(why, SEEN_RANGE, 0,
                         "the first time, --url says where the folder is on "
                         "the web");
    wrong = wrong_url(url);
    if (wrong)
        return seen_fail(why, SEEN_RANGE, 0, "%.80s: %s", url, wrong);
    r->now.url = path_format("%s%s", url,
                             url[strlen(url) - 1] == '/' ? "" : "/");
    r->sum->url = r->now.url ? strdup(r->now.url) : NULL;
    return r->sum->url ? SEEN_OK : no_memory(why);
}

/* --- the lock ----------------------------------------------------------- */

/* What is swept must be ours: a link could lead to anything. */
static enum seen_code check_own(const char *folder, struct seen_error *why)
{
    static const char *const own[] = { ".publish", ".publish/versions",
                                       "deltas" };
    enum seen_code code = SEEN_OK;
    struct stat it;

    for (int i = 0; i < 3 && code == SEEN_OK; i++) {
        char *path = path_format("%s/%s", folder, own[i]);

        if (!path)
            code = no_memory(why);
        else if (!lstat(path, &it) && !S_ISDIR(it.st_mode))
            code = seen_fail(why, SEEN_MISMATCH, 0,
                             "%s: is no folder, or a link to one; seen "
                             "publish keeps and removes files there, so move "
                             "it away",
                             own[i]);
        free(path);
    }
    return code;
}

static enum seen_code lock(int *fd, const char *folder, struct seen_error *why)
{
    char *path = path_format("%s/.publish/lock", folder);
    enum seen_code code = path ? SEEN_OK : no_memory(why);
    struct stat it;

    if (code == SEEN_OK && (stat(folder, &it) || !S_ISDIR(it.st_mode)))
        code = seen_fail(why, SEEN_IO, 0, "is no folder");
    if (code == SEEN_OK)
        code = path_prepare(path, why);
    if (code == SEEN_OK) {
        *fd = open(path,
                   O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                   0666);
        if (*fd < 0)
            code = seen_fail(why, SEEN_IO, 0, "its lock cannot be opened");
        else if (flock(*fd, LOCK_EX | LOCK_NB))
            code = seen_fail(why, SEEN_BUSY, 0,
                             "someone else is publishing this folder");
    }
    free(path);
    return code;
}

/* --- all filters -------------------------------------------------------- */

static void tell_note(void *whose, const char *name, const char *text)
{
    run_tell(whose, PUBLISH_NOTE, name, text, NULL);
}

static void tell_walk(void *whose, const char *name, const char *text,
                      bool lost)
{
    run_tell(whose, lost ? PUBLISH_REFUSED : PUBLISH_NOTE, name, text, NULL);
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int by_base(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    int order = strcmp(base_of(x), base_of(y));

    return order ? order : strcmp(x, y);
}

/* Harvesters keep filters under their base names, unless they are told to
   use the paths. Each name is told once, however many have it. */
static enum seen_code tell_equal(struct run *r, const struct folder *f,
                                 struct seen_error *why)
{
    size_t n = f->files.n;
    char **name = malloc((n + 1) * sizeof *name), text[200];

    if (!name)
        return no_memory(why);
    memcpy(name, f->files.name, n * sizeof *name);
    if (n)
        qsort(name, n, sizeof *name, by_base);
    for (size_t i = 1; i < n; i++)
        if (!strcmp(base_of(name[i]), base_of(name[i - 1])) &&
            (i == 1 || strcmp(base_of(name[i]), base_of(name[i - 2])))) {
            snprintf(text, sizeof text,
                     "has the name of %.80s; both can be harvested with "
                     "--names path only",
                     name[i - 1]);
            run_tell(r, PUBLISH_NOTE, name[i], text, NULL);
        }
    free(name);
    return SEEN_OK;
}

/* One that has no file any more, or none that can be seen. */
static enum seen_code missing(struct run *r, const struct folder *f,
                              const struct item *old, struct seen_error *why)
{
    if (folder_blind(f, old->path))
        return examine_leave(r, old, "its folder cannot be read", why);
    run_tell(r, PUBLISH_WITHDRAWN, old->path, NULL, old);
    return SEEN_OK;
}

/* Files and items are both in order of paths. */
static enum seen_code examine_all(struct run *r, const struct folder *f,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    size_t i = 0, j = 0;

    while (code == SEEN_OK && (i < f->files.n || j < r->was.items)) {
        const struct item *old = j < r->was.items ? &r->was.item[j] : NULL;
        const char *name = i < f->files.n ? f->files.name[i] : NULL;
        int order = !name ? 1 : !old ? -1 : strcmp(name, old->path);

        if (order > 0)
            code = missing(r, f, old, why);
        else
            code = examine(r, name, order ? NULL : old, why);
        i += order <= 0;
        j += order >= 0;
    }
    return code;
}

static void add_up(struct run *r)
{
    for (size_t i = 0; i < r->now.items; i++)
        if (!r->now.item[i].held) {
            r->sum->files++;
            r->sum->bytes += r->now.item[i].length;
        }
    r->sum->deltas = r->now.deltas;
}

/* When the sitemap said something new last; not now, if it does not. */
static int64_t changed_at(const struct run *r)
{
    bool moved = !r->was.url || strcmp(r->was.url, r->now.url) ||
                 r->was.items != r->now.items;

    for (size_t i = 0; !moved && i < r->now.items; i++) {
        const struct item *a = &r->was.item[i], *b = &r->now.item[i];

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

/* The changes of before go over to the new state, with their texts. */
static void hand_over(struct run *r)
{
    r->now.change = r->was.change;
    r->now.changes = r->was.changes;
    r->now.change_room = r->was.change_room;
    r->was.change = NULL;
    r->was.changes = r->was.change_room = 0;
}

static enum seen_code write_all(struct run *r, const char *state,
                                const struct metadata *m,
                                struct seen_error *why)
{
    const char *folder = r->how->folder;
    unsigned parts[2], had[2];
    enum seen_code code;

    memcpy(had, r->was.parts, sizeof had);
    memcpy(r->now.parts, had, sizeof had);
    hand_over(r);
    code = changes_update(&r->now, r->time, why);
    if (code == SEEN_OK)
        code = path_blame(".publish/state.json",
                          state_save(&r->now, state, why), why);
    if (code == SEEN_OK)
        code = path_blame(
            "the lists",
            lists_write(r->how, &r->now, m, parts, &r->sum->written, why),
            why);
    if (code != SEEN_OK)
        return code;
    most(r->now.parts, had, parts);
    if (memcmp(r->now.parts, had, sizeof had)) /* before any is removed */
        code = path_blame(".publish/state.json",
                          state_save(&r->now, state, why), why);
    if (code == SEEN_OK)
        code = versions_sweep(folder, &r->now, why);
    lists_sweep(folder, &r->now, r->now.parts, parts);
    text_sweep(folder, &r->was, &r->now);
    if (code == SEEN_OK && memcmp(r->now.parts, parts, sizeof parts)) {
        memcpy(r->now.parts, parts, sizeof parts);
        code = path_blame(".publish/state.json",
                          state_save(&r->now, state, why), why);
    }
    return code;
}

static enum seen_code run(struct run *r, const char *state,
                          const char *archive, struct seen_error *why)
{
    struct metadata *m = NULL;
    struct folder f = { .files = { .n = 0 } };
    enum seen_code code = path_blame(".publish/state.json",
                                     state_load(&r->was, state, why), why);

    if (code != SEEN_OK)
        return code;
    r->now.deltas = r->how->deltas == PUBLISH_AS_BEFORE ? r->was.deltas
                                                        : r->how->deltas;
    r->now.text = r->how->text == PUBLISH_TEXT ||
                  (r->how->text == PUBLISH_TEXT_AS_BEFORE && r->was.text);
    code = take_url(r, why);
    if (code == SEEN_OK)
        code = lists_check(r->how->folder, r->now.deltas, why);
    if (code == SEEN_OK)
        code = path_blame("archive.json",
                          metadata_load(&m, archive, tell_note, r, why), why);
    if (code == SEEN_OK)
        code = folder_walk(&f, r->how->folder, tell_walk, r, why);
    if (code == SEEN_OK)
        code = tell_equal(r, &f, why);
    if (code == SEEN_OK)
        code = examine_all(r, &f, why);
    if (code == SEEN_OK) {
        add_up(r);
        r->now.at = changed_at(r);
    }
    if (code == SEEN_OK && !r->how->dry)
        code = write_all(r, state, m, why);
    folder_clear(&f);
    metadata_free(m);
    return code;
}

enum seen_code publish(const struct publish_how *how, struct publish_sum *sum,
                       struct seen_error *why)
{
    struct run r = { .how = how, .sum = sum, .time = time(NULL) };
    char *state = path_format("%s/.publish/state.json", how->folder);
    char *archive = path_format("%s/archive.json", how->folder);
    enum seen_code code = SEEN_OK;
    int fd = -1, system;

    memset(sum, 0, sizeof *sum);
    if (!state || !archive)
        code = no_memory(why);
    if (code == SEEN_OK)
        code = check_own(how->folder, why);
    if (code == SEEN_OK && !how->dry)
        code = lock(&fd, how->folder, why);
    if (code == SEEN_OK)
        code = run(&r, state, archive, why);
    system = errno;
    state_clear(&r.was);
    state_clear(&r.now);
    if (fd >= 0)
        close(fd);
    free(archive);
    free(state);
    errno = system;
    return code;
}

void publish_sum_clear(struct publish_sum *sum)
{
    free(sum->url);
    sum->url = NULL;
}
