/* plan.c - compare what is announced with what is here. */
#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/store.h>

#include "name.h"

/* --- the file that is here --- */

static bool left_so(const struct version *v, const struct stat *it)
{
    return v->there && v->length == (uint64_t)it->st_size &&
           v->seconds == it->st_mtim.tv_sec &&
           v->nanoseconds == it->st_mtim.tv_nsec;
}

/* A journal holds what was added to the file by a writer that died. */
static bool has_journal(const char *path)
{
    char journal[FOLDER_PATH + 16];
    struct stat it;

    snprintf(journal, sizeof journal, "%s.journal", path);
    return !lstat(journal, &it);
}

static void settle(struct record *r, const struct version *v,
                   const struct stat *it)
{
    r->file = *v;
    r->file.seconds = it->st_mtim.tv_sec;
    r->file.nanoseconds = it->st_mtim.tv_nsec;
    r->next.there = false;
}

/* Its time or length differ from what was written down: is it the same
   nevertheless? */
static enum local look_inside(const char *path, struct record *r,
                              const struct stat *it, bool *settled)
{
    struct hash found = { .known = false };
    const struct version *same;
    struct seen_filter *f;
    enum seen_code code;

    found.known = seen_digest_file(path, found.digest, NULL, NULL) == SEEN_OK;
    same = r->next.there && hash_same(&found, &r->next.hash)   ? &r->next
           : r->file.there && hash_same(&found, &r->file.hash) ? &r->file
                                                               : NULL;
    if (same) {
        settle(r, same, it);
        *settled = true;
        return has_journal(path) ? LOCAL_CHANGED : LOCAL_OURS;
    }
    if (!r->file.there)
        return LOCAL_FOREIGN;
    code = seen_store_map(&f, path, NULL, NULL);
    seen_filter_free(f);
    return code == SEEN_CORRUPT && !has_journal(path) ? LOCAL_DAMAGED
                                                      : LOCAL_CHANGED;
}

enum seen_code plan_local(const struct work *w, const char *name,
                          struct record *r, enum local *local, bool *settled,
                          struct seen_error *why)
{
    char path[FOLDER_PATH];
    struct stat it;
    enum seen_code code = record_load(r, &w->folder, name, why);

    *settled = false;
    if (code == SEEN_OK)
        code = folder_file(&w->folder, path, name, why);
    if (code != SEEN_OK)
        return code;
    if (lstat(path, &it)) {
        *local = LOCAL_NONE;
        return errno == ENOENT || errno == ENOTDIR
                   ? SEEN_OK
                   : seen_fail(why, SEEN_IO, 0, "cannot be looked at");
    }
    if (!S_ISREG(it.st_mode) || (!r->file.there && !r->next.there))
        *local = LOCAL_FOREIGN;
    else if (left_so(&r->file, &it) && !has_journal(path))
        *local = LOCAL_OURS;
    else
        *local = look_inside(path, r, &it, settled);
    return SEEN_OK;
}

/* --- one item --- */

/* A part that is here will be gone on with, or thrown away. */
static uint64_t part_size(const struct work *w, const char *name)
{
    char path[FOLDER_PATH];
    struct stat it;

    if (folder_own(&w->folder, path, name, ".part", NULL) != SEEN_OK ||
        lstat(path, &it))
        return 0;
    return (uint64_t)it.st_blocks * 512;
}

static enum seen_code fits(const struct work *w, const struct item *i,
                           const char *name, struct seen_error *why)
{
    uint64_t part;

    if (i->length == UINT64_MAX)
        return SEEN_OK;
    if (i->length > w->how->most)
        return seen_fail(
            why, SEEN_RANGE, 0, "has %llu bytes, more than the %llu allowed",
            (unsigned long long)i->length, (unsigned long long)w->how->most);
    part = part_size(w, name);
    if (i->length > part && i->length - part > folder_room(&w->folder))
        return seen_fail(why, SEEN_RANGE, 0,
                         "has %llu bytes, more than the disk has room for",
                         (unsigned long long)i->length);
    return SEEN_OK;
}

/*
 * The file of this name came from another address, which is announced no
 * longer. Did its publisher move? So it is if the same source says so; if
 * http has become https; or if the registry of that source has replaced it by
 * another. Whatever else comes under this name is somebody else's.
 */
static bool has_moved(const struct work *w, const struct item *i,
                      const struct record *r)
{
    const struct source *was;

    if (items_find(&w->items, r->loc))
        return false;
    if (!strncmp(i->url, "https:", 6) && !strncmp(r->loc, "http:", 5) &&
        !strcmp(i->url + 6, r->loc + 5))
        return true;
    if (strcmp(r->root, i->source->root))
        return false;
    if (!strcmp(r->source, i->source->url))
        return true;
    was = items_find_source(&w->items, r->root, r->root);
    return !items_find_source(&w->items, r->source, r->root) && was &&
           was->registry && !was->faults;
}

/* What the old server said of its version means nothing to the new one. */
static void move_to(struct record *r, const struct item *i)
{
    strcpy(r->loc, i->url);
    strcpy(r->source, i->source->url);
    strcpy(r->root, i->source->root);
    r->file.etag[0] = r->file.modified[0] = '\0';
}

/* Announced to the second, as before, and of the same length? */
static bool same_date(const struct item *i, const struct version *v)
{
    return strchr(i->lastmod, 'T') && !strcmp(i->lastmod, v->lastmod) &&
           i->length == v->length;
}

/* By which --names two addresses of one name differ. */
static const char *names_apart(const char *a, const char *b)
{
    return address_same_host(a, b) ? "path" : "host";
}

static enum seen_code compare(struct work *w, struct item *i, struct record *r,
                              enum local local, bool *same, bool *settled,
                              struct seen_error *why)
{
    if (local == LOCAL_FOREIGN)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "a file of this name is here that was not "
                         "harvested; move it away or give --names host");
    if (local != LOCAL_NONE && strcmp(r->loc, i->url)) {
        if (!has_moved(w, i, r))
            return seen_fail(why, SEEN_MISMATCH, 0,
                             "the file of this name is from %.60s; give "
                             "--names %s, or move it away",
                             r->loc, names_apart(r->loc, i->url));
        move_to(r, i);
        *settled = true;
    }
    if (local == LOCAL_CHANGED)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "the file was changed here since it was harvested; "
                         "move it away to have it anew");
    i->plan = local == LOCAL_NONE ? PLAN_NEW : PLAN_UPDATE;
    if (local != LOCAL_OURS)
        return SEEN_OK;
    *same = i->hash.known ? hash_same(&i->hash, &r->file.hash)
                          : same_date(i, &r->file);
    if (!i->hash.known)
        i->ask = true;
    else if (!*same)
        return items_have(&w->items, i, &r->file.hash, why);
    return SEEN_OK;
}

/* A name belongs to the file that has it, then to who comes first. */
static enum seen_code claim_name(struct work *w, const struct item *i,
                                 const char *name, struct seen_error *why)
{
    const struct item *taken;
    enum seen_code code = items_name(&w->items, name, i, &taken, why);

    if (code == SEEN_OK && taken)
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "has the name of %.90s; give --names %s", taken->url,
                         names_apart(taken->url, i->url));
    return code;
}

static enum seen_code plan_one(struct work *w, struct item *i,
                               char name[NAME_MOST + 1], bool *same,
                               struct seen_error *why)
{
    struct record r;
    enum local local;
    bool settled;
    enum seen_code code = name_of(name, i->url, w->how->names, why);

    if (code != SEEN_OK) {
        name[0] = '\0';
        return code;
    }
    code = fits(w, i, name, why);
    if (code == SEEN_OK)
        code = plan_local(w, name, &r, &local, &settled, why);
    if (code == SEEN_OK)
        code = compare(w, i, &r, local, same, &settled, why);
    if (code != SEEN_OK) {
        const struct item *taken;

        items_name(&w->items, name, NULL, &taken, NULL);
        return code;
    }
    code = claim_name(w, i, name, why);
    if (code == SEEN_OK && settled && !w->how->dry_run)
        code = record_save(&r, &w->folder, name, why);
    return code;
}

void plan_all(struct work *w, bool *patchable)
{
    char name[NAME_MOST + 1];
    struct seen_error why;

    *patchable = false;
    for (struct item *i = w->items.first; i && !work_stopped(w); i = i->next) {
        struct harvest_news news = {
            .name = name, .url = i->url, .reason = "", .size = i->length
        };
        bool same = false;

        if (plan_one(w, i, name, &same, &why) != SEEN_OK) {
            i->plan = PLAN_NONE;
            work_refuse(w, i->url, name, &why);
            continue;
        }
        *patchable = *patchable || i->chain;
        news.would = w->how->dry_run;
        news.what = same                  ? HARVEST_UNCHANGED
                    : i->plan == PLAN_NEW ? HARVEST_NEW
                                          : HARVEST_UPDATED;
        if (i->ask && !same)
            news.reason = "its server would be asked whether it changed";
        if (same || w->how->dry_run) {
            i->plan = PLAN_NONE;
            work_tell(w, &news);
        }
        work_moved(w);
    }
}
