/* take.c - the way of one filter from its server into the folder. */
#define _POSIX_C_SOURCE 200809L
#include "take.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/share.h>

#include "name.h"
#include "swap.h"
#include "verify.h"

enum { TRIES = 3, PROGRESS = 1 << 20 };

struct take {
    struct take *next, **before;
    struct takes *all;
    struct item *item;
    struct record record;
    struct patch *patch; /* the one under way, or NULL: the whole file */
    unsigned patches;    /* applied */
    unsigned tries;
    double wake;         /* pausing until then; 0: not pausing */
    bool resumed, again; /* gone on with a part; begun once more */
    bool slow, ours;     /* the fault is not the net's */
    int fd;              /* of the file that bytes go to */
    uint64_t from, at;   /* where this request began; bytes in the file */
    uint64_t travelled;
    struct pace pace;
    char name[NAME_MOST + 1];
    char file[FOLDER_PATH], part[FOLDER_PATH], delta[FOLDER_PATH],
        step[FOLDER_PATH], base[FOLDER_PATH];
};

static void whole_start(struct take *t);
static void patch_start(struct take *t);

static struct work *work_of(const struct take *t)
{
    return t->all->work;
}

/* --- the end --- */

static void drop(struct take *t, bool part)
{
    unlink(t->delta);
    unlink(t->step);
    unlink(t->base);
    if (part)
        unlink(t->part);
}

static void take_free(struct take *t)
{
    if (t->fd >= 0)
        close(t->fd);
    *t->before = t->next;
    if (t->next)
        t->next->before = t->before;
    t->all->active--;
    free(t);
}

static void refuse(struct take *t, const struct seen_error *why)
{
    work_refuse(work_of(t), t->item->url, t->name, why);
    take_free(t);
}

static void succeed(struct take *t, enum harvest_what what)
{
    struct harvest_news news = { .what = what,
                                 .name = t->name,
                                 .url = t->item->url,
                                 .reason = "",
                                 .size = t->record.file.length,
                                 .travelled = t->travelled,
                                 .patches = t->patches,
                                 .resumed = t->resumed };

    work_tell(work_of(t), &news);
    take_free(t);
}

/* What may be better in a while; false if that was tried often enough. */
static bool pause_then_again(struct take *t)
{
    if (t->at > t->from + PROGRESS && !t->patch)
        t->tries = 0;
    if (++t->tries >= TRIES)
        return false;
    t->wake = work_clock() +
              t->tries * t->tries * work_of(t)->how->pause / 1000.0;
    return true;
}

/* --- whole on the disk --- */

static void swap_in(struct take *t, const struct hash *found)
{
    struct work *w = work_of(t);
    struct seen_error why;
    bool same = false;

    if (swap_file(w, t->item, t->name, &t->record, t->part, found, &same,
                  &why) != SEEN_OK) {
        refuse(t, &why);
        return;
    }
    drop(t, true);
    succeed(t, same                        ? HARVEST_UNCHANGED
               : t->item->plan == PLAN_NEW ? HARVEST_NEW
                                           : HARVEST_UPDATED);
}

static void finish(struct take *t)
{
    struct hash found;
    struct seen_error why;

    if (verify_file(t->part, t->item->length, &t->item->hash, &found, &why) ==
        SEEN_OK) {
        swap_in(t, &found);
        return;
    }
    drop(t, true);
    if ((t->resumed || t->patches) && !t->again) {
        t->again = true;
        t->resumed = false;
        t->patches = 0;
        whole_start(t);
        return;
    }
    refuse(t, &why);
}

/* --- from the client, for patches and whole files --- */

static enum seen_code fault(struct take *t, enum seen_code code)
{
    t->ours = true;
    return code;
}

/* What the answer says of its size, before any of it is taken. */
static enum seen_code sizes(struct take *t, uint64_t announced, uint64_t whole,
                            struct seen_error *why)
{
    struct work *w = work_of(t);
    uint64_t all = whole != UINT64_MAX ? whole : announced;

    if (whole != UINT64_MAX && announced != UINT64_MAX && whole != announced)
        return seen_fail(why, SEEN_RANGE, 0,
                         "its server has %llu bytes instead of the %llu "
                         "announced",
                         (unsigned long long)whole,
                         (unsigned long long)announced);
    if (all == UINT64_MAX)
        return SEEN_OK;
    if (all > w->how->most)
        return seen_fail(
            why, SEEN_RANGE, 0, "has %llu bytes, more than the %llu allowed",
            (unsigned long long)all, (unsigned long long)w->how->most);
    if (all > t->at && all - t->at > folder_room(&w->folder))
        return seen_fail(why, SEEN_RANGE, 0,
                         "has %llu bytes, more than the disk has room for",
                         (unsigned long long)all);
    return SEEN_OK;
}

/* Write down of which version the part is, before there is one. */
static enum seen_code note_part(struct take *t, const struct fetch_head *head,
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
    return record_save(&t->record, &work_of(t)->folder, t->name, why);
}

static enum seen_code begin_part(struct take *t, const struct fetch_head *head,
                                 struct seen_error *why)
{
    const struct version *p = &t->record.part;
    enum seen_code code;

    if (head->status == 206) {
        if (head->from != t->from ||
            (*p->etag && *head->etag && strcmp(p->etag, head->etag)) ||
            (*p->modified && *head->modified &&
             strcmp(p->modified, head->modified)))
            return fault(t, seen_fail(why, SEEN_MISMATCH, 0,
                                      "changed while it was fetched"));
        code = sizes(t, t->item->length,
                     head->total == FETCH_UNKNOWN ? UINT64_MAX : head->total,
                     why);
        t->resumed = true;
        return code == SEEN_OK ? code : fault(t, code);
    }
    t->at = t->from = 0;
    code = sizes(t, t->item->length,
                 head->length == FETCH_UNKNOWN ? UINT64_MAX : head->length,
                 why);
    if (code == SEEN_OK && ftruncate(t->fd, 0))
        code = seen_fail(why, SEEN_IO, 0, "cannot be written");
    if (code == SEEN_OK)
        code = note_part(t, head, why);
    return code == SEEN_OK ? code : fault(t, code);
}

static enum seen_code begin(void *owner, const struct fetch_head *head,
                            struct seen_error *why)
{
    struct take *t = owner;
    enum seen_code code = SEEN_OK;

    t->pace = (struct pace){ .begun = work_clock() };
    if (!t->patch)
        return begin_part(t, head, why);
    if (head->status != 200)
        code = seen_fail(why, SEEN_MISMATCH, 0, "is only a part");
    else
        code = sizes(t, t->patch->length,
                     head->length == FETCH_UNKNOWN ? UINT64_MAX : head->length,
                     why);
    return code == SEEN_OK ? code : fault(t, code);
}

static enum seen_code some(void *owner, const void *bytes, size_t n,
                           struct seen_error *why)
{
    struct take *t = owner;
    uint64_t most = t->patch                        ? t->patch->length
                    : t->item->length != UINT64_MAX ? t->item->length
                                                    : work_of(t)->how->most;
    const char *at = bytes;

    t->pace.bytes += n;
    t->travelled += n;
    if (n > most - (t->at < most ? t->at : most))
        return fault(t, seen_fail(why, SEEN_RANGE, 0,
                                  "is longer than the %llu bytes announced or "
                                  "allowed",
                                  (unsigned long long)most));
    while (n) {
        ssize_t some = pwrite(t->fd, at, n, (off_t)t->at);

        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return fault(t, seen_fail(why, SEEN_IO, 0, "cannot be written"));
        at += some;
        n -= (size_t)some;
        t->at += (uint64_t)some;
    }
    return SEEN_OK;
}

/* --- patches --- */

static void patches_fail(struct take *t)
{
    drop(t, false);
    t->patch = NULL;
    t->patches = 0;
    t->tries = 0;
    whole_start(t);
}

/* The delta is here: is it the one announced, and what does it make? */
static bool patch_apply(struct take *t)
{
    struct hash found = { .known = false };
    uint64_t length;

    found.known = seen_digest_file(t->delta, found.digest, &length, NULL) ==
                  SEEN_OK;
    if (!hash_same(&found, &t->patch->hash) || length != t->patch->length)
        return false;
    unlink(t->step);
    if (seen_delta_apply(t->patches ? t->base : t->file, t->delta, t->step,
                         NULL) != SEEN_OK)
        return false;
    unlink(t->delta);
    return !rename(t->step, t->patch->next ? t->base : t->part);
}

static void patch_end(struct take *t, enum seen_code code, int status)
{
    struct seen_error why;

    if (code == SEEN_OK && status != 200)
        code = work_status(status, &why);
    if (code != SEEN_OK) {
        if (t->ours || t->slow || code == SEEN_RANGE || code == SEEN_UNABLE ||
            !pause_then_again(t))
            patches_fail(t);
        return;
    }
    if (!patch_apply(t)) {
        patches_fail(t);
        return;
    }
    t->patches++;
    t->patch = t->patch->next;
    t->tries = 0;
    if (t->patch) {
        patch_start(t);
        return;
    }
    unlink(t->base);
    t->record.part.there = false;
    finish(t);
}

/* --- whole files --- */

/* The server says that ours is still the current one. */
static void unchanged(struct take *t)
{
    struct record *r = &t->record;
    size_t n = strlen(t->item->lastmod);
    struct seen_error why;

    drop(t, true);
    if (n < sizeof r->file.lastmod)
        memcpy(r->file.lastmod, t->item->lastmod, n + 1);
    if (record_save(r, &work_of(t)->folder, t->name, &why) != SEEN_OK) {
        refuse(t, &why);
        return;
    }
    succeed(t, HARVEST_UNCHANGED);
}

static void whole_again(struct take *t)
{
    drop(t, true);
    t->again = true;
    t->resumed = false;
    whole_start(t);
}

static void whole_failed(struct take *t, enum seen_code code,
                         const struct seen_error *why)
{
    if (t->ours && code == SEEN_MISMATCH && !t->again) {
        whole_again(t);
        return;
    }
    if (!t->ours && !t->slow && code != SEEN_RANGE && code != SEEN_UNABLE &&
        pause_then_again(t))
        return;
    if (t->ours || code == SEEN_RANGE || !t->at)
        drop(t, true); /* what was only cut is kept */
    refuse(t, why);
}

static void whole_end(struct take *t, enum seen_code code, int status,
                      struct seen_error *why)
{
    uint64_t length = t->item->length;

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
        code = fault(t, seen_fail(why, SEEN_CORRUPT, t->at,
                                  "has %llu bytes instead of the %llu "
                                  "announced",
                                  (unsigned long long)t->at,
                                  (unsigned long long)length));
    if (code == SEEN_OK)
        finish(t);
    else
        whole_failed(t, code, why);
}

static void end(void *owner, enum seen_code code,
                const struct fetch_head *head, const struct seen_error *told)
{
    struct take *t = owner;
    struct seen_error why = { .code = SEEN_OK };

    close(t->fd);
    t->fd = -1;
    t->pace.begun = 0;
    if (work_stopped(work_of(t))) {
        take_free(t); /* what came is kept for the next time */
        return;
    }
    if (code != SEEN_OK)
        why = *told;
    if (t->slow)
        code = seen_fail(&why, SEEN_UNABLE, 0, "comes too slowly");
    if (t->patch)
        patch_end(t, code, head->status);
    else
        whole_end(t, code, head->status, &why);
}

/* --- the beginning --- */

static enum seen_code request(struct take *t, struct fetch_request *r,
                              const char *path, struct seen_error *why)
{
    static const struct fetch_taker taker = { begin, some, end };

    r->taker = &taker;
    r->owner = t;
    t->ours = t->slow = false;
    t->wake = 0;
    t->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (t->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be written");
    return fetch_start(work_of(t)->web, r, why);
}

static void patch_start(struct take *t)
{
    struct fetch_request r = { .url = t->patch->url,
                               .most = t->patch->length };
    struct seen_error why;

    unlink(t->delta);
    t->from = t->at = 0;
    if (request(t, &r, t->delta, &why) == SEEN_OK)
        return;
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    patches_fail(t);
}

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

static void whole_start(struct take *t)
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
        finish(t);
        return;
    }
    r.most = i->length != UINT64_MAX ? i->length : work_of(t)->how->most;
    r.from = t->from;
    if (t->from) {
        r.etag = *p->etag && strncmp(p->etag, "W/", 2) ? p->etag : NULL;
        r.modified = !r.etag && *p->modified ? p->modified : NULL;
    } else if (i->ask) {
        r.etag = *f->etag ? f->etag : NULL;
        r.modified = *f->modified ? f->modified : NULL;
    }
    if (request(t, &r, t->part, &why) == SEEN_OK)
        return;
    if (!t->from)
        drop(t, true);
    refuse(t, &why);
}

static enum seen_code paths(struct take *t, struct seen_error *why)
{
    const struct folder *f = &work_of(t)->folder;
    enum seen_code code = folder_file(f, t->file, t->name, why);

    if (code == SEEN_OK)
        code = folder_own(f, t->part, t->name, ".part", why);
    if (code == SEEN_OK)
        code = folder_own(f, t->delta, t->name, ".delta", why);
    if (code == SEEN_OK)
        code = folder_own(f, t->step, t->name, ".step", why);
    if (code == SEEN_OK)
        code = folder_own(f, t->base, t->name, ".base", why);
    return code;
}

void take_start(struct takes *all, struct item *i)
{
    struct work *w = all->work;
    struct take *t = calloc(1, sizeof *t);
    struct seen_error why;

    if (!t) {
        seen_fail(&why, SEEN_NOMEM, 0, "no memory to fetch it");
        work_refuse(w, i->url, "", &why);
        return;
    }
    t->all = all;
    t->item = i;
    t->fd = -1;
    t->next = all->first;
    t->before = &all->first;
    if (t->next)
        t->next->before = &t->next;
    all->first = t;
    all->active++;
    if (name_of(t->name, i->url, w->how->names_with_host, &why) != SEEN_OK ||
        paths(t, &why) != SEEN_OK ||
        record_load(&t->record, &w->folder, t->name, &why) != SEEN_OK) {
        refuse(t, &why);
        return;
    }
    if (i->chain && hash_same(&i->reached, &i->hash) &&
        i->chain_bytes <
            (i->length != UINT64_MAX ? i->length : t->record.file.length)) {
        t->patch = i->chain;
        patch_start(t);
    } else {
        whole_start(t);
    }
}

int take_tend(struct takes *all)
{
    double now = work_clock(), soonest = now + 0.5;

    for (struct take *t = all->first, *next; t; t = next) {
        next = t->next;
        if (t->wake > 0 && t->wake <= now) {
            if (t->patch)
                patch_start(t);
            else
                whole_start(t);
            next = all->first; /* t may be gone, and others come */
        } else if (t->wake > 0) {
            soonest = t->wake < soonest ? t->wake : soonest;
        } else if (pace_slow(&t->pace, all->work)) {
            t->slow = true;
            fetch_cancel(all->work->web, t);
            next = all->first;
        }
    }
    return (int)(1000 * (soonest - now)) + 1;
}

void take_clear(struct takes *all)
{
    while (all->first)
        take_free(all->first);
}
