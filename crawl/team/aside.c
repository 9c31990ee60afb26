/*
 * aside.c - what workers were reading when they died: engine/aside.h.
 *
 *     DIR/seen-reading-TOKEN-7     notes of the readers of worker 7
 *
 * DIR is that of --into, or else the folder for temporary files. It has to
 * outlive the process: a worker that is started again there, or any other one
 * with that folder, finds the notes without their worker, whose lock on them
 * ended with it, and marks the pages in the frontier. From then on any worker
 * on any machine knows. This happens long before the lease of the dead one has
 * ended, and so before somebody else gets its hosts.
 *
 * Not in the frontier: a statement per page would cost more than reading it,
 * and only PostgreSQL's clients have no folder in common. Where folders vanish
 * with the process, as in some containers, nobody knows what killed it.
 *
 * TOKEN is that of the frontier, as in folder.c.
 */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/disk/clock.h"
#include "../../lib/disk/disk.h"
#include "../../lib/disk/lock.h"
#include "../../lib/disk/walk.h"
#include "../../lib/text/span.h"
#include "../engine/aside.h"
#include "cache.h"

enum { NAME = 64 };

static const char *folder_of(const struct crawl_team *t)
{
    return t->settings.into ? t->settings.into : t->settings.temporary;
}

/* The beginning of the names of notes of this frontier. */
static int name_notes(const struct crawl_team *t, char name[NAME])
{
    return snprintf(name, NAME, "seen-reading-%.23s-", t->token);
}

/* --- of others --- */

static enum seen_code note_suspects(struct crawl *c, const char *path,
                                    struct seen_error *why)
{
    struct crawl_suspect left[CRAWL_READING_MOST];
    struct frontier_suspect suspect[CRAWL_READING_MOST];
    enum seen_code code;
    size_t n;

    code = crawl_reading_left(path, left, &n, why);
    for (size_t i = 0; i < n; i++) {
        suspect[i] = (struct frontier_suspect){ .id = left[i].id,
                                                .visit = left[i].visit,
                                                .alone = left[i].alone,
                                                .origin = span_of(
                                                    left[i].origin) };
        if (*left[i].origin)
            crawl_aside_robots_key(suspect[i].key, span_of(left[i].origin));
        else
            crawl_aside_key(suspect[i].key, left[i].lo, left[i].hi);
    }
    return code == SEEN_OK && n
               ? frontier_spread_suspect(crawl_team_of(c)->frontier, suspect,
                                         n, why)
               : code;
}

/* Notes that have a worker, or that cannot be read, are left alone. Who dies
   before they are removed counts a death twice, which takes three such moments
   to matter. */
static enum seen_code look_at(struct crawl *c, const char *path,
                              struct seen_error *why)
{
    enum seen_code code;
    int lock;

    if (lock_held(path) ||
        lock_take(&lock, path, "it has a worker", NULL) != SEEN_OK)
        return SEEN_OK;
    code = note_suspects(c, path, why);
    lock_release(lock, code == SEEN_OK ? path : NULL);
    return code;
}

static enum seen_code look_at_all(struct crawl *c, struct seen_error *why)
{
    struct walk_names names = { .name = NULL };
    const char *folder = folder_of(crawl_team_of(c));
    enum seen_code code = SEEN_OK;
    char name[NAME];
    int len = name_notes(crawl_team_of(c), name);

    if (walk_folder(&names, folder, false, NULL) != SEEN_OK)
        return SEEN_OK;
    for (size_t i = 0; code == SEEN_OK && i < names.n; i++) {
        char *path;

        if (strncmp(names.name[i], name, (size_t)len))
            continue;
        path = walk_path(folder, names.name[i]);
        code = path ? look_at(c, path, why)
                    : seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
        free(path);
    }
    walk_clear(&names);
    return code;
}

static bool take_key(void *owner, struct seen_span key)
{
    return crawl_aside_add(owner, key);
}

static bool take_origin(void *owner, struct seen_span origin)
{
    return crawl_aside_suspect(owner, origin);
}

/* Pages that others have set aside since, or ask for again. */
static enum seen_code look(struct crawl *c, struct seen_error *why)
{
    enum seen_code code = look_at_all(c, why);

    crawl_team_of(c)->aside_looked = clock_ms();
    if (code != SEEN_OK)
        return code;
    crawl_aside_forget(c);
    code = frontier_spread_aside(crawl_team_of(c)->frontier, take_key, c, why);
    return code == SEEN_OK
               ? frontier_spread_suspects(crawl_team_of(c)->frontier,
                                          take_origin, c, why)
               : code;
}

enum seen_code crawl_team_aside_tend(struct crawl *c, struct seen_error *why)
{
    return clock_ms() - crawl_team_of(c)->aside_looked <
                   crawl_team_of(c)->settings.lease
               ? SEEN_OK
               : look(c, why);
}

/* --- of this worker --- */

static enum seen_code begin_notes(struct crawl *c, struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(c);
    char name[NAME];
    int len = name_notes(t, name);
    enum seen_code code;
    char *path;

    snprintf(name + len, sizeof name - (size_t)len, "%lld",
             (long long)frontier_spread_number(t->frontier));
    path = walk_path(folder_of(t), name);
    if (!path)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    code = lock_take(&t->reading_lock, path, "another worker has it", why);
    if (code == SEEN_OK)
        code = crawl_reading_open(&c->reading, path, why);
    else
        code = disk_named(code, path, why);
    free(path);
    return code;
}

enum seen_code crawl_team_aside_open(struct crawl *c, struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(c);
    enum seen_code code = crawl_team_token(t, why);
    struct seen_error warning;

    if (code == SEEN_OK && t->settings.retry_aside)
        code = frontier_spread_retry_aside(t->frontier, why);
    if (code == SEEN_OK)
        code = look(c, why);
    if (code == SEEN_OK && begin_notes(c, &warning) != SEEN_OK)
        crawl_team_warn(c, &warning);
    return code;
}

void crawl_team_aside_close(struct crawl_team *t)
{
    lock_release(t->reading_lock, NULL); /* the file is removed already */
}
