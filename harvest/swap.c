/* swap.c - files that come and go. */
#include "swap.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <seen/store.h>

#include "plan.h"

enum { PART_AGE = 30 * 24 * 3600 }; /* seconds */

/* --- in --- */

static void describe(struct version *v, const struct record *r,
                     const struct item *i, const struct hash *found,
                     uint64_t length)
{
    memset(v, 0, sizeof *v);
    v->there = true;
    v->hash = *found;
    v->length = length;
    snprintf(v->lastmod, sizeof v->lastmod, "%s", i->lastmod);
    if (r->part.there && !strcmp(r->part_loc, i->url)) {
        strcpy(v->etag, r->part.etag);
        strcpy(v->modified, r->part.modified);
    }
}

static void forget_part(struct record *r)
{
    memset(&r->part, 0, sizeof r->part);
    r->part_loc[0] = '\0';
}

static enum seen_code settle(struct work *w, const char *name,
                             struct record *r, struct seen_error *why)
{
    char path[FOLDER_PATH];
    struct stat it;
    enum seen_code code = folder_file(&w->folder, path, name, why);

    if (code == SEEN_OK && lstat(path, &it))
        code = seen_fail(why, SEEN_IO, 0, "cannot be looked at");
    if (code != SEEN_OK)
        return code;
    r->file = r->next;
    r->file.seconds = it.st_mtim.tv_sec;
    r->file.nanoseconds = it.st_mtim.tv_nsec;
    r->next.there = false;
    forget_part(r);
    return record_save(r, &w->folder, name, why);
}

/* Under the claim: what will be replaced is still what was planned for. */
static enum seen_code still_ours(struct work *w, const struct item *i,
                                 const char *name, struct seen_error *why)
{
    struct record r;
    enum local local;
    bool settled;
    enum seen_code code = plan_local(w, name, &r, &local, &settled, why);

    if (code == SEEN_OK && local != LOCAL_NONE && local != LOCAL_OURS &&
        local != LOCAL_DAMAGED)
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "the file was changed here meanwhile; move it away "
                         "to have it anew");
    if (code == SEEN_OK && i->plan == PLAN_NEW && local == LOCAL_OURS)
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "a file of this name came meanwhile");
    return code;
}

static enum seen_code swap(struct work *w, const char *name, struct record *r,
                           const char *part, struct seen_claim *c,
                           struct seen_error *why)
{
    enum seen_code code = record_save(r, &w->folder, name, why);

    if (code == SEEN_OK)
        code = seen_claim_swap(c, part, why);
    if (code == SEEN_OK)
        code = settle(w, name, r, why);
    return code;
}

enum seen_code swap_file(struct work *w, const struct item *i,
                         const char *name, struct record *r, const char *part,
                         const struct hash *found, bool *same,
                         struct seen_error *why)
{
    char path[FOLDER_PATH];
    struct seen_claim *c;
    struct stat it;
    enum seen_code code = folder_file(&w->folder, path, name, why);

    if (code == SEEN_OK && lstat(part, &it))
        code = seen_fail(why, SEEN_IO, 0, "cannot be looked at");
    if (code == SEEN_OK)
        code = seen_store_claim(&c, path, why);
    if (code != SEEN_OK)
        return code;
    code = still_ours(w, i, name, why);
    if (code == SEEN_OK) {
        describe(&r->next, r, i, found, (uint64_t)it.st_size);
        snprintf(r->loc, sizeof r->loc, "%s", i->url);
        snprintf(r->source, sizeof r->source, "%s", i->source->url);
        snprintf(r->root, sizeof r->root, "%s", i->source->root);
        *same = i->ask && r->file.there && hash_same(&r->file.hash, found);
        code = *same ? settle(w, name, r, why)
                     : swap(w, name, r, part, c, why);
    }
    seen_claim_free(c);
    return code;
}

/* --- out --- */

/* Is this root one of the round's? */
static bool of_this_round(const struct work *w, const struct record *r)
{
    return items_find_source(&w->items, r->root, r->root) != NULL;
}

static enum seen_code take_away(struct work *w, const char *name,
                                struct seen_error *why)
{
    char path[FOLDER_PATH];
    struct record r;
    enum local local;
    bool settled;
    struct seen_claim *c;
    enum seen_code code = folder_file(&w->folder, path, name, why);

    if (code == SEEN_OK)
        code = seen_store_claim(&c, path, why);
    if (code != SEEN_OK)
        return code;
    code = plan_local(w, name, &r, &local, &settled, why);
    if (code == SEEN_OK && local != LOCAL_OURS && local != LOCAL_DAMAGED)
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "is withdrawn, but was changed here; it is kept");
    if (code == SEEN_OK && unlink(path))
        code = seen_fail(why, SEEN_IO, 0, "cannot be removed");
    if (code == SEEN_OK) {
        folder_drop(&w->folder, name, ".part");
        folder_drop(&w->folder, name, ".json");
    }
    seen_claim_free(c);
    return code;
}

static void withdrawn(struct work *w, const char *name, const struct record *r)
{
    struct harvest_news news = { .what = HARVEST_WITHDRAWN,
                                 .name = name,
                                 .url = r->loc,
                                 .reason = "",
                                 .size = r->file.length };
    struct seen_error why;

    if (w->how->remove_withdrawn) {
        news.what = HARVEST_REMOVED;
        news.would = w->how->dry_run;
        if (!w->how->dry_run && take_away(w, name, &why) != SEEN_OK) {
            work_refuse(w, r->loc, name, &why);
            return;
        }
    }
    work_tell(w, &news);
}

/* In what was read for this root, or, with NULL, for any? */
static bool any_fault(const struct work *w, const char *root)
{
    for (const struct source *s = w->items.sources; s; s = s->next)
        if (s->faults && (!root || !strcmp(s->root, root)))
            return true;
    return false;
}

/* Does it follow from what was read that the file is withdrawn? Not if its
   name was announced from elsewhere, whatever became of that. */
static bool gone(const struct work *w, const char *name,
                 const struct record *r)
{
    const struct source *s = items_find_source(&w->items, r->source, r->root);

    if (items_find(&w->items, r->loc) || items_named(&w->items, name))
        return false;
    if (s && !s->registry && !s->shared)
        return !s->faults;
    return !any_fault(w, s && s->shared ? NULL : r->root);
}

/* Who changes what he announces every day, or is harvested no longer, must not
   fill the disk with parts that nobody goes on with. */
static bool part_idle(const struct work *w, const char *name,
                      const struct record *r)
{
    char path[FOLDER_PATH];
    struct stat it;

    if (!r->part.there)
        return false;
    if (of_this_round(w, r))
        return !items_find(&w->items, r->part_loc);
    return folder_own(&w->folder, path, name, ".part", NULL) == SEEN_OK &&
           !lstat(path, &it) && time(NULL) - it.st_mtime > PART_AGE;
}

static void forget(struct work *w, const char *name, struct record *r)
{
    if (w->how->dry_run)
        return;
    folder_drop(&w->folder, name, ".part");
    forget_part(r);
    if (r->file.there || r->next.there)
        record_save(r, &w->folder, name, NULL);
    else
        folder_drop(&w->folder, name, ".json");
}

void swap_withdrawn(struct work *w)
{
    char name[256], path[FOLDER_PATH];
    DIR *dir = NULL;
    struct stat it;

    while (folder_next(&w->folder, &dir, name)) {
        struct record r;

        if (record_load(&r, &w->folder, name, NULL) != SEEN_OK)
            continue;
        if (part_idle(w, name, &r))
            forget(w, name, &r);
        if (r.file.there && of_this_round(w, &r) && gone(w, name, &r) &&
            folder_file(&w->folder, path, name, NULL) == SEEN_OK &&
            !lstat(path, &it))
            withdrawn(w, name, &r);
    }
}
