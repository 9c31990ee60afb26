/* install.c - length, SHA-256, checksums; then one rename. */
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
static enum seen_code check_head(const char *path, struct seen_error *why)
{
    unsigned char head[HEAD];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : -1;

    if (fd >= 0)
        close(fd);
    if (n < 0)
        return seen_fail(why, SEEN_IO, 0,
                         "the downloaded file cannot be read");
    if (n < HEAD || memcmp(head, "\x89seen\r\n\x1a", 8))
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

enum seen_code harvest_verify(const char *path, const struct harvest_item *i,
                              struct harvest_hash *found,
                              struct seen_error *why)
{
    struct seen_filter *f;
    uint64_t size;
    enum seen_code code = seen_digest_file(path, found->digest, &size, why);

    found->known = code == SEEN_OK;
    if (code != SEEN_OK)
        return code;
    if (i->length != UINT64_MAX && size != i->length)
        return seen_fail(why, SEEN_CORRUPT, size,
                         "has %llu bytes instead of the %llu announced",
                         (unsigned long long)size,
                         (unsigned long long)i->length);
    if (i->hash.known && !harvest_hash_same(&i->hash, found))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "its SHA-256 is not the one announced");
    code = check_head(path, why);
    if (code != SEEN_OK)
        return code;
    code = seen_store_map(&f, path, NULL, why);
    seen_filter_free(f);
    return code;
}

/* --- install --- */

/* The version that will be in place. */
static void describe(struct harvest_record *record,
                     const struct harvest_item *i,
                     const struct harvest_hash *found, uint64_t length)
{
    struct harvest_version *v = &record->next;

    memset(v, 0, sizeof *v);
    v->there = true;
    v->hash = *found;
    v->length = length;
    snprintf(v->lastmod, sizeof v->lastmod, "%s", i->lastmod);
    if (record->part.there && !strcmp(record->part_loc, i->url)) {
        strcpy(v->etag, record->part.etag);
        strcpy(v->modified, record->part.modified);
    }
    harvest_record_move(record, i->url, i->source->url, i->source->root);
}

/* It is in place. */
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
                               struct harvest_record *record, const char *part,
                               const struct harvest_hash *found, bool *same,
                               struct seen_error *why)
{
    char path[HARVEST_PATH];
    struct seen_claim *claim;
    struct stat it;
    enum seen_code code;

    if (lstat(part, &it))
        return seen_fail(why, SEEN_IO, 0, "cannot be looked at");
    harvest_folder_file(&r->folder, path, name);
    code = seen_store_claim(&claim, path, why);
    if (code != SEEN_OK)
        return code;
    code = still_ours(r, i, name, why);
    if (code == SEEN_OK) {
        describe(record, i, found, (uint64_t)it.st_size);
        *same = i->ask && record->file.there &&
                harvest_hash_same(&record->file.hash, found);
        if (!*same)
            code = harvest_record_save(record, &r->folder, name, why);
        if (code == SEEN_OK && !*same)
            code = seen_claim_swap(claim, part, why);
        if (code == SEEN_OK)
            code = settle(r, name, record, path, why);
    }
    seen_claim_free(claim);
    return code;
}
