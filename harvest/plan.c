/*
 * plan.c - compare what is announced with what is here.
 *
 * A file that is here is in one of five states:
 *
 *     MISSING    there is none
 *     OURS       it is what the record says
 *     DAMAGED    harvested, and its checksums are wrong: fetch it again
 *     CHANGED    harvested, and then written by others: leave it alone
 *     FOREIGN    never harvested: leave it alone
 *
 * Length and time (to the nanosecond) of an unchanged file are those of its
 * record, so a round costs one lstat() and one small record per filter. Only a
 * file that differs in them is read, once: if its SHA-256 is right after all,
 * as after a copy or a restored backup, the record gets the new time.
 *
 * A name belongs to the file that has it. Two filters of one name are refused
 * rather than mixed up, except if the publisher moved (has_moved()).
 */
#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <seen/store.h>

#include "name.h"

/* --- the file that is here --- */

static bool left_so(const struct harvest_version *v, const struct stat *it)
{
    return v->there && v->length == (uint64_t)it->st_size &&
           v->seconds == it->st_mtim.tv_sec &&
           v->nanoseconds == it->st_mtim.tv_nsec;
}

/* A journal has the keys that a killed writer added to the file. */
static bool has_journal(const char *path)
{
    char journal[HARVEST_PATH + 16];
    struct stat it;

    snprintf(journal, sizeof journal, "%s.journal", path);
    return !lstat(journal, &it);
}

/* Time or length differ from the record. Is the content the same? */
static enum harvest_local look_inside(const char *path,
                                      struct harvest_record *r,
                                      const struct stat *it, bool *settled)
{
    struct harvest_hash found = { .known = false };
    const struct harvest_version *same = NULL;
    struct seen_filter *f;
    enum seen_code code;
    bool damaged;

    found.known = seen_digest_file(path, found.digest, NULL, NULL) == SEEN_OK;
    if (r->next.there && harvest_hash_same(&found, &r->next.hash))
        same = &r->next;
    else if (r->file.there && harvest_hash_same(&found, &r->file.hash))
        same = &r->file;
    if (same) {
        harvest_record_settle(r, same, it);
        *settled = true;
        return has_journal(path) ? HARVEST_CHANGED : HARVEST_OURS;
    }
    if (!r->file.there)
        return HARVEST_FOREIGN;
    code = seen_store_map(&f, path, NULL, NULL);
    damaged = code == SEEN_CORRUPT ||
              (code == SEEN_OK && seen_store_warning(f, NULL));
    seen_filter_free(f);
    return damaged && !has_journal(path) ? HARVEST_DAMAGED : HARVEST_CHANGED;
}

enum seen_code harvest_plan_local(const struct harvest_round *r,
                                  const char *name,
                                  struct harvest_record *record,
                                  enum harvest_local *local, bool *settled,
                                  struct seen_error *why)
{
    char path[HARVEST_PATH];
    struct stat it;
    enum seen_code code = harvest_record_load(record, &r->folder, name, why);

    *settled = false;
    if (code != SEEN_OK)
        return code;
    harvest_folder_file(&r->folder, path, name);
    if (lstat(path, &it)) {
        *local = HARVEST_MISSING;
        return errno == ENOENT || errno == ENOTDIR
                   ? SEEN_OK
                   : seen_fail(why, SEEN_IO, 0, "cannot be looked at");
    }
    if (!S_ISREG(it.st_mode) || (!record->file.there && !record->next.there))
        *local = HARVEST_FOREIGN;
    else if (left_so(&record->file, &it) && !has_journal(path))
        *local = HARVEST_OURS;
    else
        *local = look_inside(path, record, &it, settled);
    return SEEN_OK;
}

/* --- one item --- */

/* Bytes on the disk of an earlier download. They are continued or removed, so
   they count as room. */
static uint64_t part_size(const struct harvest_round *r, const char *name)
{
    char path[HARVEST_PATH];
    struct stat it;

    harvest_folder_own(&r->folder, path, name, ".part");
    return lstat(path, &it) ? 0 : (uint64_t)it.st_blocks * 512;
}

/*
 * The file of this name is from another URL, which is no longer announced.
 * Did its publisher move? Yes if the same source announces the new URL; if
 * http became https; or if the registry of that source has replaced it by
 * another. Any other filter of this name is somebody else's.
 */
static bool has_moved(const struct harvest_round *r,
                      const struct harvest_item *i,
                      const struct harvest_record *record)
{
    const struct harvest_catalog *c = &r->catalog;
    const struct harvest_source *was;
    const struct harvest_item *there = harvest_catalog_find(c, record->loc);

    if (there) /* unless another form is preferred now */
        return harvest_catalog_better(c, there) == i;
    if (!strncmp(i->url, "https:", 6) && !strncmp(record->loc, "http:", 5) &&
        !strcmp(i->url + 6, record->loc + 5))
        return true;
    if (strcmp(record->root, i->source->root))
        return false;
    if (!strcmp(record->source, i->source->url))
        return true;
    was = harvest_catalog_find_source(c, record->root, record->root);
    return was && was->registry && !was->faults &&
           !harvest_catalog_find_source(c, record->source, record->root);
}

/* Announced to the second, as before, and of the same length? */
static bool same_date(const struct harvest_item *i,
                      const struct harvest_version *v)
{
    return strchr(i->lastmod, 'T') && !strcmp(i->lastmod, v->lastmod) &&
           i->length == harvest_version_length(v);
}

/* The --names by which two URLs with one name would differ. */
static const char *names_apart(const char *a, const char *b)
{
    return harvest_url_same_host(a, b) ? "path" : "host";
}

static enum seen_code compare(struct harvest_round *r, struct harvest_item *i,
                              struct harvest_record *record,
                              enum harvest_local local, bool *same,
                              bool *settled, struct seen_error *why)
{
    if (local == HARVEST_FOREIGN)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "a file of this name is here that was not "
                         "harvested; move it away or give --names host");
    if (local != HARVEST_MISSING && strcmp(record->loc, i->url)) {
        if (!has_moved(r, i, record))
            return seen_fail(why, SEEN_MISMATCH, 0,
                             "the file of this name is from %.60s; give "
                             "--names %s, or move it away",
                             record->loc, names_apart(record->loc, i->url));
        harvest_record_move(record, i->url, i->source->url, i->source->root);
        /* The old server's ETag and date mean nothing to the new one. */
        record->file.etag[0] = record->file.modified[0] = '\0';
        *settled = true;
    }
    if (local == HARVEST_CHANGED)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "the file was changed here since it was harvested; "
                         "move it away to fetch it again");
    i->plan = local == HARVEST_MISSING ? HARVEST_FETCH : HARVEST_UPDATE;
    if (local != HARVEST_OURS)
        return SEEN_OK;
    *same = i->hash.known ? harvest_hash_same(
                                &i->hash, harvest_version_hash(&record->file))
                          : same_date(i, &record->file);
    if (!i->hash.known)
        i->ask = true;
    else if (!*same && !i->text)
        return harvest_catalog_have(&r->catalog, i, &record->file.hash, why);
    return SEEN_OK;
}

static enum seen_code plan_item(struct harvest_round *r,
                                struct harvest_item *i, bool *same,
                                struct seen_error *why)
{
    char valid[HARVEST_NAME + 1];
    const char *name = harvest_item_name(i);
    const struct harvest_item *taken;
    struct harvest_record record;
    enum harvest_local local;
    bool settled;
    enum seen_code code = harvest_name_of(valid, i->url, i->text,
                                          r->options->names, why);

    if (code == SEEN_OK)
        code = i->length == UINT64_MAX
                   ? SEEN_OK
                   : harvest_fits(r, i->length, part_size(r, name), why);
    if (code == SEEN_OK)
        code = harvest_plan_local(r, name, &record, &local, &settled, why);
    if (code == SEEN_OK)
        code = compare(r, i, &record, local, same, &settled, why);
    /* A name belongs to the file that has it, then to the first one. */
    taken = code == SEEN_OK ? harvest_catalog_claim(&r->catalog, i) : NULL;
    if (taken)
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "has the name of %.90s; give --names %s", taken->url,
                         names_apart(taken->url, i->url));
    if (code == SEEN_OK && settled && !r->options->dry_run)
        code = harvest_record_save(&record, &r->folder, name, why);
    return code;
}

void harvest_plan_all(struct harvest_round *r, bool *patchable)
{
    bool dry_run = r->options->dry_run;
    struct seen_error why;

    *patchable = false;
    for (struct harvest_item *i = r->catalog.first; i && !harvest_stopped(r);
         i = i->next) {
        struct harvest_event event = { .name = harvest_item_name(i),
                                       .url = i->url,
                                       .reason = "",
                                       .size = i->length,
                                       .would = dry_run };
        bool same = false;

        if (harvest_catalog_better(&r->catalog, i)) {
            i->plan = HARVEST_SKIP;
            r->done++;
            continue;
        }
        if (plan_item(r, i, &same, &why) != SEEN_OK) {
            i->plan = HARVEST_SKIP;
            harvest_refuse(r, i->url, event.name, &why);
            continue;
        }
        *patchable = *patchable || i->chain;
        event.result = same                       ? HARVEST_UNCHANGED
                       : i->plan == HARVEST_FETCH ? HARVEST_NEW
                                                  : HARVEST_UPDATED;
        if (i->ask && !same)
            event.reason = "its server would be asked whether it changed";
        if (same || dry_run) {
            i->plan = HARVEST_SKIP;
            harvest_report(r, &event);
        }
        harvest_progress(r);
    }
}
