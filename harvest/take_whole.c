/* take_whole.c - fetch a whole file, or go on with the part that is here. */
#include "taking.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LITTLE = 64 << 10 };

/* --- the answer --- */

/* Write down of which version the part is, before there is one. */
static enum seen_code note_part(struct take *t,
                                const struct fetch_response *head,
                                struct seen_error *why)
{
    struct version *p = &t->record.part;

    memset(p, 0, sizeof *p);
    p->there = true;
    p->hash = t->item->hash;
    if (strlen(head->etag) < sizeof p->etag)
        strcpy(p->etag, head->etag);
    if (strlen(head->modified) < sizeof p->modified)
        strcpy(p->modified, head->modified);
    strcpy(t->record.part_loc, t->item->url);
    if (!t->record.file.there) /* whose part it is, should it stay one */
        strcpy(t->record.root, t->item->source->root);
    return record_save(&t->record, &take_work(t)->folder, t->name, why);
}

enum seen_code take_whole_begin(struct take *t,
                                const struct fetch_response *head,
                                struct seen_error *why)
{
    const struct version *p = &t->record.part;
    enum seen_code code;

    if (head->status == 206) {
        if (head->from != t->from ||
            (*p->etag && *head->etag && strcmp(p->etag, head->etag)) ||
            (*p->modified && *head->modified &&
             strcmp(p->modified, head->modified)))
            return take_fault(t, seen_fail(why, SEEN_MISMATCH, 0,
                                           "changed while it was fetched"));
        code = take_sizes(
            t, t->item->length,
            head->total == FETCH_UNKNOWN ? UINT64_MAX : head->total, why);
        t->resumed = true;
        t->total = head->total == FETCH_UNKNOWN ? UINT64_MAX : head->total;
        return code == SEEN_OK ? code : take_fault(t, code);
    }
    t->at = t->from = 0;
    t->total = UINT64_MAX;
    code = take_sizes(
        t, t->item->length,
        head->length == FETCH_UNKNOWN ? UINT64_MAX : head->length, why);
    if (code == SEEN_OK && ftruncate(t->fd, 0))
        code = seen_fail(why, SEEN_IO, 0, "cannot be written");
    if (code == SEEN_OK)
        code = note_part(t, head, why);
    return code == SEEN_OK ? code : take_fault(t, code);
}

/* The server says that ours is still the current one. */
static void unchanged(struct take *t)
{
    struct record *r = &t->record;
    size_t n = strlen(t->item->lastmod);
    struct seen_error why;

    take_drop(t, true);
    if (n < sizeof r->file.lastmod)
        memcpy(r->file.lastmod, t->item->lastmod, n + 1);
    if (record_save(r, &take_work(t)->folder, t->name, &why) != SEEN_OK) {
        take_refuse(t, &why);
        return;
    }
    take_succeed(t, HARVEST_UNCHANGED);
}

static void whole_again(struct take *t)
{
    take_drop(t, true);
    t->again = true;
    t->resumed = false;
    take_whole(t);
}

static void whole_failed(struct take *t, enum seen_code code,
                         const struct seen_error *why)
{
    if (t->ours && code == SEEN_MISMATCH && !t->again) {
        whole_again(t);
        return;
    }
    if (!t->ours && !t->slow && code != SEEN_RANGE && code != SEEN_UNABLE &&
        take_again(t))
        return;
    if (t->ours || code == SEEN_RANGE || !t->at)
        take_drop(t, true); /* what was only cut is kept */
    take_refuse(t, why);
}

/* A server may send less than all that was asked for (RFC 9110, 15.3.7):
   then the rest is asked for, if there is some progress. */
static bool rest_follows(struct take *t)
{
    uint64_t length = t->item->length != UINT64_MAX ? t->item->length
                                                    : t->total;

    if (length == UINT64_MAX || t->at >= length)
        return false;
    if (t->at < t->from + LITTLE)
        return take_again(t);
    take_whole(t);
    return true;
}

void take_whole_end(struct take *t, enum seen_code code, int status,
                    struct seen_error *why)
{
    uint64_t length = t->item->length;

    if (code == SEEN_OK && status == 206 && rest_follows(t))
        return;

    if (code == SEEN_OK && status == 304 && t->item->ask && !t->from) {
        unchanged(t);
        return;
    }
    if (code == SEEN_OK && status == 416 && t->from && !t->again) {
        whole_again(t);
        return;
    }
    if (code == SEEN_OK && status != 200 && status != 206)
        code = work_status(status, why);
    else if (code == SEEN_OK && length != UINT64_MAX && t->at != length)
        code = take_fault(t, seen_fail(why, SEEN_CORRUPT, t->at,
                                       "has %llu bytes instead of the %llu "
                                       "announced",
                                       (unsigned long long)t->at,
                                       (unsigned long long)length));
    if (code == SEEN_OK)
        take_finish(t);
    else
        whole_failed(t, code, why);
}

/* --- the request --- */

/* Bytes that are here of the announced version, and can be gone on with. */
static uint64_t resumable(const struct take *t)
{
    const struct version *p = &t->record.part;
    const struct item *i = t->item;
    struct stat it;
    uint64_t size;

    if (!p->there || strcmp(t->record.part_loc, i->url) ||
        (i->hash.known ? !hash_same(&i->hash, &p->hash) : p->hash.known) ||
        lstat(t->part, &it) || !S_ISREG(it.st_mode))
        return 0;
    /* Without a hash only a strong name of the version can be relied on. */
    if (!i->hash.known && (!*p->etag || !strncmp(p->etag, "W/", 2)) &&
        !*p->modified)
        return 0;
    size = (uint64_t)it.st_size;
    return i->length != UINT64_MAX && size > i->length ? 0 : size;
}

void take_whole(struct take *t)
{
    const struct version *p = &t->record.part, *f = &t->record.file;
    struct item *i = t->item;
    struct fetch_request r = { .url = i->url };
    struct seen_error why;

    t->from = t->at = resumable(t);
    if (!t->from) {
        unlink(t->part);
    } else if (t->from == i->length) {
        t->resumed = true; /* only the last steps are missing */
        take_finish(t);
        return;
    }
    r.most = i->length != UINT64_MAX ? i->length : take_work(t)->how->most;
    r.from = t->from;
    if (t->from) {
        r.etag = *p->etag && strncmp(p->etag, "W/", 2) ? p->etag : NULL;
        r.modified = !r.etag && *p->modified ? p->modified : NULL;
    } else if (i->ask) {
        r.etag = *f->etag ? f->etag : NULL;
        r.modified = *f->modified ? f->modified : NULL;
    }
    if (take_request(t, &r, t->part, &why) == SEEN_OK)
        return;
    if (!t->from)
        take_drop(t, true);
    take_refuse(t, &why);
}
