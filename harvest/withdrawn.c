/*
 * withdrawn.c - which files are no longer announced?
 *
 * A filter that is missing from the lists may still be published: a server can
 * be down, a list cut short, a site moved. A file counts as withdrawn only if
 * everything that could announce it was read without a fault:
 *
 *     its source was read, alone             that source has no fault
 *     its source shares a list with others   no source of the round has one
 *     its source is gone or is a registry    no source of its root has one
 *
 * Nor does it count if its name was announced from another URL, whatever came
 * of that: the file may have moved. A wrong "no" keeps a file too long; a wrong
 * "yes" deletes an archive's filter.
 *
 * Removing is in the order file, folder flushed, record: a record without a
 * file is dropped by the next round, a file without a record would be foreign.
 */
#include "withdrawn.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <seen/store.h>

#include "../lib/disk/disk.h"
#include "plan.h"

enum { PART_AGE = 30 * 24 * 3600 }; /* seconds */

/* --- files --- */

static enum seen_code remove_file(struct harvest_round *r, const char *name,
                                  struct seen_error *why)
{
    char path[HARVEST_PATH];
    struct harvest_record record;
    enum harvest_local local;
    bool settled;
    struct seen_claim *claim;
    enum seen_code code;

    harvest_folder_file(&r->folder, path, name);
    code = seen_store_claim(&claim, path, why);
    if (code != SEEN_OK)
        return code;
    code = harvest_plan_local(r, name, &record, &local, &settled, why);
    if (code == SEEN_OK && local != HARVEST_OURS && local != HARVEST_DAMAGED)
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "is withdrawn, but was changed here; it is kept");
    if (code == SEEN_OK && unlink(path))
        code = seen_fail(why, SEEN_IO, 0, "cannot be removed");
    /* Without its record, a file that a power failure brings back would be
       nobody's, and stay forever. */
    if (code == SEEN_OK)
        code = disk_flush_folder(r->folder.path, why);
    if (code == SEEN_OK) {
        harvest_folder_drop(&r->folder, name, ".part");
        harvest_folder_drop(&r->folder, name, ".json");
    }
    seen_claim_free(claim);
    return code;
}

static void withdraw(struct harvest_round *r, const char *name,
                     const struct harvest_record *record)
{
    const struct harvest_options *o = r->options;
    struct harvest_event event = { .result = HARVEST_WITHDRAWN,
                                   .name = name,
                                   .url = record->loc,
                                   .reason = "",
                                   .size = record->file.length };
    struct seen_error why;

    if (o->remove_withdrawn) {
        event.result = HARVEST_REMOVED;
        event.would = o->dry_run;
        if (!o->dry_run && remove_file(r, name, &why) != SEEN_OK) {
            harvest_refuse(r, record->loc, name, &why);
            return;
        }
    }
    harvest_report(r, &event);
}

/* Was the root of this file asked for in this round? */
static bool of_this_round(const struct harvest_round *r,
                          const struct harvest_record *record)
{
    return harvest_catalog_find_source(&r->catalog, record->root,
                                       record->root) != NULL;
}

/* Was there a fault in the lists of this root, or, with NULL, of any? */
static bool any_fault(const struct harvest_round *r, const char *root)
{
    for (const struct harvest_source *s = r->catalog.first_source; s;
         s = s->next)
        if (s->faults && (!root || !strcmp(s->root, root)))
            return true;
    return false;
}

/* Is the file withdrawn, by all that was read? Not if its name was announced
   from another URL, whatever became of that. */
static bool is_withdrawn(const struct harvest_round *r, const char *name,
                         const struct harvest_record *record)
{
    const struct harvest_catalog *c = &r->catalog;
    const struct harvest_source *s = harvest_catalog_find_source(
        c, record->source, record->root);

    if (harvest_catalog_find(c, record->loc) || harvest_catalog_named(c, name))
        return false;
    if (s && !s->registry && !s->shared)
        return !s->faults;
    return !any_fault(r, s && s->shared ? NULL : record->root);
}

/* --- parts --- */

/* A publisher that changes its announcements every day, or is no longer
   harvested, must not fill the disk with parts. */
static bool is_idle_part(const struct harvest_round *r, const char *name,
                         const struct harvest_record *record)
{
    char path[HARVEST_PATH];
    struct stat it;

    if (!record->part.there)
        return false;
    if (of_this_round(r, record))
        return !harvest_catalog_find(&r->catalog, record->part_loc);
    harvest_folder_own(&r->folder, path, name, ".part");
    return !lstat(path, &it) && time(NULL) - it.st_mtime > PART_AGE;
}

static void drop_part(struct harvest_round *r, const char *name,
                      struct harvest_record *record)
{
    if (r->options->dry_run)
        return;
    harvest_folder_drop(&r->folder, name, ".part");
    memset(&record->part, 0, sizeof record->part);
    record->part_loc[0] = '\0';
    if (record->file.there || record->next.there)
        harvest_record_save(record, &r->folder, name, NULL);
    else
        harvest_folder_drop(&r->folder, name, ".json");
}

void harvest_withdraw(struct harvest_round *r)
{
    char path[HARVEST_PATH];
    struct walk_names names;
    struct seen_error why;
    struct stat it;

    if (harvest_folder_records(&r->folder, &names, &why) != SEEN_OK &&
        !(r->options->dry_run && why.system == ENOENT))
        harvest_unread(r, r->folder.path, &why);
    for (size_t i = 0; i < names.n; i++) {
        const char *name = names.name[i];
        struct harvest_record record;

        if (harvest_record_load(&record, &r->folder, name, &why) != SEEN_OK) {
            /* If the filter is announced, plan.c has reported this. */
            if (!harvest_catalog_named(&r->catalog, name))
                harvest_refuse(r, name, name, &why);
            continue;
        }
        if (is_idle_part(r, name, &record))
            drop_part(r, name, &record);
        harvest_folder_file(&r->folder, path, name);
        if (!record.file.there || !of_this_round(r, &record) ||
            !is_withdrawn(r, name, &record))
            continue;
        if (!lstat(path, &it)) {
            withdraw(r, name, &record);
        } else if (errno != ENOENT) {
            seen_fail(&why, SEEN_IO, 0, "cannot be looked at");
            harvest_refuse(r, record.loc, name, &why);
        } else if (!record.part.there && !r->options->dry_run) {
            harvest_folder_drop(&r->folder, name, ".json"); /* of nothing */
        }
    }
    walk_clear(&names);
}
