/*
 * install.c - length, SHA-256, checksums; then one rename.
 *
 * What is installed was proved twice: to be what was announced (length and
 * SHA-256), and to be a filter that can be asked (heads, checksums of all
 * blocks, a cost within --cost). Both are needed: a publisher can announce the
 * right hash of a hostile file. Heads are looked at before the store reads the
 * file, since a plan of gigabytes would be read into memory.
 *
 * Then, under the claim that every writer of the file takes:
 *
 *     killed                           the next round finds
 *     before the record has `next`     the old file, as `file` says
 *     before the rename                the old file, as `file` says
 *     after the rename                 a file with the hash of `next`: ours
 *     after the record is settled      the new file, as `file` says
 *
 * So our own file is never taken for somebody else's. Between plan and claim
 * people may have changed the file: that is looked at again under the claim.
 */
#include "install.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/store.h>

#include "../lib/text/little.h"
#include "plan.h"

/* --- verify --- */

/* Offsets in the head of a filter: doc/format.md, section 1. */
enum { HEAD = 128, STATE = 16, TEXT_LEN = 48 };

/* What must be known before the store reads the file. A file that is not a
   filter at all is left to the store, which says so better. */
static enum seen_code check_head(const unsigned char head[HEAD],
                                 struct seen_error *why)
{
    if (memcmp(head, "\x89seen\r\n\x1a", 8))
        return SEEN_OK;
    if (little_64(head + TEXT_LEN) > HARVEST_PLAN_TEXT)
        return seen_fail(why, SEEN_RANGE, 0,
                         "has a plan of more than %d bytes",
                         HARVEST_PLAN_TEXT);
    if (little_32(head + STATE) != 0)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "was being written when it was published");
    return SEEN_OK;
}

/* The second head is at the end, and is read if the first is damaged. */
static enum seen_code check_heads(const char *path, struct seen_error *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    const off_t at[] = { 0, size > HEAD ? size - HEAD : 0 };
    enum seen_code code = SEEN_OK;

    for (int i = 0; i < 2 && code == SEEN_OK; i++) {
        unsigned char head[HEAD];
        ssize_t n = fd >= 0 ? pread(fd, head, sizeof head, at[i]) : -1;

        if (n < 0)
            code = seen_fail(why, SEEN_IO, 0,
                             "the downloaded file cannot be read");
        else if (n == HEAD)
            code = check_head(head, why);
    }
    if (fd >= 0)
        close(fd);
    return code;
}

enum seen_code harvest_verify_announced(const char *path,
                                        const struct harvest_item *i,
                                        struct harvest_hash *found,
                                        uint64_t *length,
                                        struct seen_error *why)
{
    enum seen_code code = seen_digest_file(path, found->digest, length, why);

    found->known = code == SEEN_OK;
    if (code != SEEN_OK)
        return code;
    if (i->length != UINT64_MAX && *length != i->length)
        return seen_fail(why, SEEN_CORRUPT, *length,
                         "has %llu bytes instead of the %llu announced",
                         (unsigned long long)*length,
                         (unsigned long long)i->length);
    if (i->hash.known && !harvest_hash_same(&i->hash, found))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "its SHA-256 is not the one announced");
    return SEEN_OK;
}

/* A filter can be valid and so expensive to ask that it stops a server. */
static enum seen_code check_cost(const struct harvest_round *r,
                                 const struct seen_filter *f,
                                 struct seen_error *why)
{
    uint64_t most = r->options->cost, cost = seen_filter_cost(f);

    if (!most || cost <= most)
        return SEEN_OK;
    return seen_fail(why, SEEN_RANGE, 0,
                     "a question to %.60s costs up to %llu, more than the "
                     "%llu of --cost",
                     seen_filter_plan(f)->kind, (unsigned long long)cost,
                     (unsigned long long)most);
}

enum seen_code harvest_verify_filter(const struct harvest_round *r,
                                     const char *path, struct seen_error *why)
{
    struct seen_filter *f;
    enum seen_code code = check_heads(path, why);

    if (code != SEEN_OK)
        return code;
    code = seen_store_map(&f, path, NULL, why);
    if (code == SEEN_OK)
        code = check_cost(r, f, why);
    seen_filter_free(f);
    return code;
}

/* --- install --- */

/* Describe the version that will be in place. */
static void describe(struct harvest_record *record,
                     const struct harvest_item *i,
                     const struct harvest_arrival *file)
{
    struct harvest_version *v = &record->next;

    memset(v, 0, sizeof *v);
    v->there = true;
    v->hash = file->hash;
    v->length = file->length;
    v->origin = file->origin;
    v->origin_length = file->origin_length;
    snprintf(v->lastmod, sizeof v->lastmod, "%s", i->lastmod);
    if (record->part.there && !strcmp(record->part_loc, i->url)) {
        strcpy(v->etag, record->part.etag);
        strcpy(v->modified, record->part.modified);
    }
    harvest_record_move(record, i->url, i->source->url, i->source->root);
}

/* The file is in place: the record says so. */
static enum seen_code settle(struct harvest_round *r, const char *name,
                             struct harvest_record *record, const char *path,
                             struct seen_error *why)
{
    struct stat it;

    if (lstat(path, &it))
        return seen_fail(why, SEEN_IO, 0, "cannot be looked at");
    harvest_record_settle(record, &record->next, &it);
    record->part.there = false;
    record->part_loc[0] = '\0';
    return harvest_record_save(record, &r->folder, name, why);
}

/* Under the claim: the file that is replaced is still the one that was
   planned for. */
static enum seen_code still_ours(struct harvest_round *r,
                                 const struct harvest_item *i,
                                 const char *name, struct seen_error *why)
{
    struct harvest_record record;
    enum harvest_local local;
    bool settled;
    enum seen_code code = harvest_plan_local(r, name, &record, &local,
                                             &settled, why);

    if (code == SEEN_OK &&
        (local == HARVEST_CHANGED || local == HARVEST_FOREIGN))
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "the file was changed here meanwhile; move it away "
                         "to fetch it again");
    if (code == SEEN_OK && i->plan == HARVEST_FETCH && local == HARVEST_OURS)
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "a file of this name was made meanwhile");
    return code;
}

enum seen_code harvest_install(struct harvest_round *r,
                               const struct harvest_item *i, const char *name,
                               struct harvest_record *record,
                               const struct harvest_arrival *file, bool *same,
                               struct seen_error *why)
{
    char path[HARVEST_PATH];
    struct seen_claim *claim;
    enum seen_code code;

    harvest_folder_file(&r->folder, path, name);
    code = seen_store_claim(&claim, path, why);
    if (code != SEEN_OK)
        return code;
    code = still_ours(r, i, name, why);
    if (code == SEEN_OK) {
        describe(record, i, file);
        *same = i->ask && record->file.there &&
                harvest_hash_same(&record->file.hash, &file->hash);
        if (!*same)
            code = harvest_record_save(record, &r->folder, name, why);
        if (code == SEEN_OK && !*same)
            code = seen_claim_swap(claim, file->path, why);
        if (code == SEEN_OK)
            code = settle(r, name, record, path, why);
    }
    seen_claim_free(claim);
    return code;
}
