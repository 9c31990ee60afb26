/*
 * download.c - the way of one filter from its server into the folder.
 *
 * A download is a state and a request that is under way; the client calls
 * on_begin(), on_body() and on_end(), and on_end() decides what comes next.
 * The file is in the order from the last step to the first, since each step
 * calls the one after it: the ends (refused, succeeded, begun anew), the
 * limits of size and time, answers, patches, the file, requests, and the
 * beginning.
 *
 *     drop()            remove what is not kept
 *     finish()          all bytes are here: verify, install, report
 *     on_begin()        is this what was asked for, and is there room for it?
 *     on_body()         write it, and look after the room
 *     patch_ended()     apply it; the next patch, or finish()
 *     file_ended()      the rest, once more, or finish()
 *     fetch_next()      the request that the state wants
 *     download_start()  the state that a filter begins in
 *
 * Every download ends in download_free(), once: it gives the place in the queue
 * back, and without that the round would wait for ever. Which version a part
 * belongs to is on the disk (note_part()) before its first byte is, and a part
 * without such a note is never continued.
 */
#include "download.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/disk/clock.h"
#include "form.h"
#include "install.h"
#include "name.h"

enum {
    PROGRESS = 1 << 20, /* bytes after which attempts are counted anew */
    LITTLE = 64 << 10,  /* bytes that are not worth a request */
    LOOK = 4 << 20,     /* bytes until the disk's room is checked again */

    /* A file has ten minutes, and the time for its length at 20 kB/s; at most
       six hours. The next round continues the rest. */
    FILE_TIME = 10, /* in units of harvest_options.patience, a minute */
    FILE_MOST = 360,
    FILE_PACE = 20000
};

enum download_state {
    DOWNLOAD_PATCHES, /* fetching patches of our version */
    DOWNLOAD_FILE,    /* fetching the file, or its rest */
    DOWNLOAD_ANEW     /* fetching it from its beginning, since a part or the
                         patches turned out to be wrong; for the last time */
};

struct download {
    struct harvest_round *round;
    struct harvest_item *item;
    const char *name;
    enum download_state state;
    struct harvest_record record;
    struct harvest_patch *patch; /* the one that is being fetched */
    unsigned patches;            /* how many were applied */
    bool resumed;                /* an earlier part was continued */
    bool other;                  /* what comes is not a filter */
    struct fetch_retry retry;
    double began, until;
    int fd;            /* of the file that is being written */
    uint64_t from;     /* the byte that this request began at */
    uint64_t at;       /* bytes that the file on the disk has now */
    uint64_t furthest; /* the most that it had in any attempt */
    uint64_t total;    /* bytes that the server has, or UINT64_MAX */
    uint64_t look;     /* check the disk's room at this byte */
    uint64_t received;
    enum harvest_form form;     /* of what was downloaded */
    size_t n;
    unsigned char first[HARVEST_FORM_FIRST]; /* bytes of the text */
    char file[HARVEST_PATH], part[HARVEST_PATH], delta[HARVEST_PATH],
        step[HARVEST_PATH], base[HARVEST_PATH];
};

static void fetch_next(struct download *d, uint64_t due);

/* --- the end --- */

/* Remove files in .harvest, with the part or without. */
static void drop(struct download *d, bool part)
{
    unlink(d->delta);
    unlink(d->step);
    unlink(d->base);
    if (!part)
        return;
    unlink(d->part);
    if (!d->record.file.there && !d->record.next.there)
        harvest_folder_drop(&d->round->folder, d->name, ".json");
}

static void download_free(struct download *d)
{
    if (d->fd >= 0)
        close(d->fd);
    harvest_catalog_done(&d->round->catalog, d->item->source->publisher,
                         &d->item->queued);
    free(d);
}

static void refuse(struct download *d, const struct seen_error *why)
{
    harvest_refuse(d->round, d->item->url, d->name, why);
    download_free(d);
}

static const char *converted(const struct download *d,
                             enum harvest_result result)
{
    if (result != HARVEST_NEW && result != HARVEST_UPDATED)
        return "";
    return d->form == HARVEST_FORM_TEXT ? "converted from its text form"
           : d->form == HARVEST_FORM_ORESTES
               ? "converted from the JSON of Orestes, with profile raw"
               : "";
}

static void succeed(struct download *d, enum harvest_result result)
{
    harvest_report(d->round,
                   &(struct harvest_event){ .result = result,
                                            .name = d->name,
                                            .url = d->item->url,
                                            .reason = converted(d, result),
                                            .size = d->record.file.length,
                                            .received = d->received,
                                            .patches = d->patches,
                                            .resumed = d->resumed });
    download_free(d);
}

/* Anything that was made of parts or patches is wrong. */
static void fetch_anew(struct download *d)
{
    drop(d, true);
    d->state = DOWNLOAD_ANEW;
    d->resumed = false;
    d->patches = 0;
    fetch_next(d, 0);
}

/* What was announced as a text is something else. If it never was a filter,
   nobody misses one. */
static void not_a_filter(struct download *d)
{
    struct harvest_event event = { .result = HARVEST_IGNORED,
                                   .name = d->name,
                                   .url = d->item->url,
                                   .reason = "not a filter",
                                   .size = UINT64_MAX };
    struct seen_error why;

    drop(d, true);
    if (d->record.file.there) {
        seen_fail(&why, SEEN_CORRUPT, 0, "is no longer a filter");
        refuse(d, &why);
        return;
    }
    harvest_report(d->round, &event);
    download_free(d);
}

/* The text is complete: make a file of it, unless it is the text that the
   file in its place was made of. */
static enum seen_code convert(struct download *d, struct harvest_arrival *file,
                              struct seen_error *why)
{
    const struct harvest_version *have = &d->record.file;
    enum seen_code code;

    file->origin = file->hash;
    file->origin_length = file->length;
    if (d->item->ask && have->there &&
        harvest_hash_same(&have->origin, &file->origin)) {
        file->hash = have->hash;
        file->length = have->length;
        return SEEN_OK;
    }
    code = harvest_form_convert(d->round, d->form, d->part, file->length,
                                d->step, why);
    file->path = d->step;
    if (code == SEEN_OK)
        code = seen_digest_file(d->step, file->hash.digest, &file->length,
                                why);
    return code == SEEN_OK ? harvest_verify_filter(d->round, d->step, why)
                           : code;
}

/* Is the part what was announced, and a filter? */
static enum seen_code verify(struct download *d, struct harvest_arrival *file,
                             struct seen_error *why)
{
    enum seen_code code = harvest_verify_announced(
        d->part, d->item, &file->hash, &file->length, why);

    if (code == SEEN_OK)
        code = harvest_form_of_file(&d->form, d->part, why);
    if (code != SEEN_OK)
        return code;
    if (d->form == HARVEST_FORM_TEXT || d->form == HARVEST_FORM_ORESTES)
        return convert(d, file, why);
    d->other = d->item->text && d->form == HARVEST_FORM_NONE;
    return harvest_verify_filter(d->round, d->part, why);
}

/* Can the same bytes be right another time? */
static bool may_pass(const struct seen_error *why)
{
    return why->code == SEEN_NOMEM ||
           (why->code == SEEN_IO &&
            (why->system == ENOSPC || why->system == EDQUOT));
}

/* The part is complete. */
static void finish(struct download *d)
{
    struct harvest_arrival file = { .path = d->part };
    struct seen_error why;
    bool same = false;

    if (verify(d, &file, &why) != SEEN_OK) {
        bool keep = may_pass(&why);

        if ((d->resumed || d->patches) && !keep && d->state != DOWNLOAD_ANEW) {
            fetch_anew(d);
        } else if (d->other) {
            not_a_filter(d);
        } else {
            drop(d, !keep);
            refuse(d, &why);
        }
    } else if (harvest_install(d->round, d->item, d->name, &d->record, &file,
                               &same, &why) != SEEN_OK) {
        refuse(d, &why);
    } else {
        drop(d, true);
        succeed(d, same                             ? HARVEST_UNCHANGED
                   : d->item->plan == HARVEST_FETCH ? HARVEST_NEW
                                                    : HARVEST_UPDATED);
    }
}

/* --- sizes --- */

static void set_deadline(struct download *d, uint64_t length)
{
    double unit = d->round->options->patience;
    double most = FILE_MOST * unit;
    double time = FILE_TIME * unit + (double)length / FILE_PACE;

    d->until = d->began + (time < most ? time : most);
}

/* Check the size of an answer before any of it is written. */
static enum seen_code check_size(struct download *d, uint64_t announced,
                                 uint64_t size, struct seen_error *why)
{
    uint64_t all = size != UINT64_MAX ? size : announced;

    if (size != UINT64_MAX && announced != UINT64_MAX && size != announced)
        return seen_fail(why, SEEN_RANGE, 0,
                         "its server has %llu bytes instead of the %llu "
                         "announced",
                         (unsigned long long)size,
                         (unsigned long long)announced);
    return all == UINT64_MAX ? SEEN_OK
                             : harvest_fits(d->round, all, d->at, why);
}

/* The length may be unknown, and others fill the disk, too. The less room
   there is, the more often it is checked. */
static enum seen_code check_room(struct download *d, struct seen_error *why)
{
    uint64_t room;

    if (d->at < d->look)
        return SEEN_OK;
    room = harvest_folder_room(&d->round->folder);
    d->look = d->at + (room / 2 < LOOK ? room / 2 : LOOK);
    return room ? SEEN_OK
                : seen_fail(why, SEEN_RANGE, 0,
                            "is larger than the disk has room for");
}

/* Bytes that may come, at most. */
static uint64_t most_of(const struct download *d)
{
    return d->state == DOWNLOAD_PATCHES    ? d->patch->length
           : d->item->length != UINT64_MAX ? d->item->length
                                           : d->round->options->max_size;
}

/* --- answers --- */

/* Record the version that the part will belong to, before there is one. */
static enum seen_code note_part(struct download *d,
                                const struct fetch_response *response,
                                struct seen_error *why)
{
    struct harvest_version *p = &d->record.part;

    memset(p, 0, sizeof *p);
    p->there = true;
    p->hash = d->item->hash;
    if (strlen(response->etag) < sizeof p->etag)
        strcpy(p->etag, response->etag);
    if (strlen(response->modified) < sizeof p->modified)
        strcpy(p->modified, response->modified);
    strcpy(d->record.part_loc, d->item->url);
    if (!d->record.file.there) /* should it stay a part */
        strcpy(d->record.root, d->item->source->root);
    return harvest_record_save(&d->record, &d->round->folder, d->name, why);
}

/* The rest of the file comes. */
static enum seen_code begin_rest(struct download *d,
                                 const struct fetch_response *response,
                                 struct seen_error *why)
{
    const struct harvest_version *p = &d->record.part;

    if (response->from != d->from ||
        (*p->etag && *response->etag && strcmp(p->etag, response->etag)) ||
        (*p->modified && *response->modified &&
         strcmp(p->modified, response->modified)))
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "changed while it was fetched");
    d->resumed = true;
    d->total = response->total;
    return check_size(d, d->item->length, response->total, why);
}

static enum seen_code begin_file(struct download *d,
                                 const struct fetch_response *response,
                                 struct seen_error *why)
{
    enum seen_code code;

    d->at = d->from = 0;
    d->total = UINT64_MAX;
    d->n = 0;
    code = check_size(d, d->item->length, response->length, why);
    if (code == SEEN_OK && ftruncate(d->fd, 0))
        code = seen_fail(why, SEEN_IO, 0, "cannot be written");
    return code == SEEN_OK ? note_part(d, response, why) : code;
}

static enum seen_code on_begin(void *owner,
                               const struct fetch_response *response,
                               struct seen_error *why)
{
    struct download *d = owner;

    d->look = d->at;
    if (d->state == DOWNLOAD_PATCHES)
        return response->status == 200
                   ? check_size(d, d->patch->length, response->length, why)
                   : seen_fail(why, SEEN_MISMATCH, 0, "is only a part");
    return response->status == 206 ? begin_rest(d, response, why)
                                   : begin_file(d, response, why);
}

/* Lists may name any text. As soon as its first bytes are here, it is known
   whether the rest is worth fetching. */
static bool worth_fetching(struct download *d, const void *bytes, size_t n)
{
    size_t some = sizeof d->first - d->n;

    if (!d->item->text || d->n != d->at) /* a part is continued */
        return true;
    some = n < some ? n : some;
    memcpy(d->first + d->n, bytes, some);
    d->n += some;
    return d->n < sizeof d->first ||
           harvest_form_of(d->first, d->n) != HARVEST_FORM_NONE;
}

static enum seen_code on_body(void *owner, const void *bytes, size_t n,
                              struct seen_error *why)
{
    struct download *d = owner;
    uint64_t most = most_of(d);
    const char *at = bytes;

    d->received += n;
    if (d->state != DOWNLOAD_PATCHES && !worth_fetching(d, bytes, n)) {
        d->other = true;
        return seen_fail(why, SEEN_UNABLE, 0, "is not a filter");
    }
    if (n > most - (d->at < most ? d->at : most))
        return seen_fail(why, SEEN_RANGE, 0,
                         "is longer than the %llu bytes announced or allowed",
                         (unsigned long long)most);
    while (n) {
        ssize_t some = pwrite(d->fd, at, n, (off_t)d->at);

        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return seen_fail(why, SEEN_IO, 0, "cannot be written");
        at += some;
        n -= (size_t)some;
        d->at += (uint64_t)some;
    }
    return check_room(d, why);
}

/* Repeat a request that failed; false if that does not help. A file that got
   further than ever before may fail again as often. */
static bool again(struct download *d, enum seen_code code,
                  const struct fetch_response *response)
{
    uint64_t due;

    if (d->state != DOWNLOAD_PATCHES && d->at > d->furthest + PROGRESS) {
        d->retry.attempts = 0;
        d->furthest = d->at;
    }
    if (!fetch_retry_again(&d->retry, &d->round->retry, code, response, &due))
        return false;
    fetch_next(d, due);
    return true;
}

/* --- patches --- */

static void patches_failed(struct download *d)
{
    drop(d, false);
    d->state = DOWNLOAD_FILE;
    d->patches = 0;
    d->retry.attempts = 0;
    fetch_next(d, 0);
}

/* Is the delta the announced one, and can it be applied? */
static bool apply_patch(struct download *d)
{
    struct harvest_hash found = { .known = false };
    uint64_t length;

    found.known = seen_digest_file(d->delta, found.digest, &length, NULL) ==
                  SEEN_OK;
    if (!harvest_hash_same(&found, &d->patch->hash) ||
        length != d->patch->length)
        return false;
    unlink(d->step);
    if (seen_delta_apply(d->patches ? d->base : d->file, d->delta, d->step,
                         NULL) != SEEN_OK)
        return false;
    unlink(d->delta);
    return !rename(d->step, d->patch->next ? d->base : d->part);
}

static void patch_ended(struct download *d, enum seen_code code,
                        const struct fetch_response *response)
{
    if (again(d, code, response))
        return;
    if (code != SEEN_OK || response->status != 200 || !apply_patch(d)) {
        patches_failed(d);
        return;
    }
    d->patches++;
    d->patch = d->patch->next;
    d->retry.attempts = 0;
    if (d->patch) {
        fetch_next(d, 0);
        return;
    }
    unlink(d->base);
    d->record.part.there = false;
    finish(d);
}

/* --- the file --- */

/* The server says that our version is the current one. */
static void unchanged(struct download *d)
{
    struct harvest_record *r = &d->record;
    struct seen_error why;

    drop(d, true);
    snprintf(r->file.lastmod, sizeof r->file.lastmod, "%s", d->item->lastmod);
    if (harvest_record_save(r, &d->round->folder, d->name, &why) == SEEN_OK)
        succeed(d, HARVEST_UNCHANGED);
    else
        refuse(d, &why);
}

/* A server may send less than it was asked for (RFC 9110, 15.3.7): then the
   rest is asked for, if there is some progress. */
static bool rest_follows(struct download *d)
{
    uint64_t length = d->item->length != UINT64_MAX ? d->item->length
                                                    : d->total;
    uint64_t due = 0;

    if (length == UINT64_MAX || d->at >= length)
        return false;
    if (d->at < d->from + LITTLE &&
        !fetch_retry_pause(&d->retry, &d->round->retry, 0, &due))
        return false;
    fetch_next(d, due);
    return true;
}

static void file_failed(struct download *d, enum seen_code code,
                        const struct fetch_response *response,
                        struct seen_error *why)
{
    struct harvest_publisher *p = d->item->source->publisher;
    bool late = response->outcome == FETCH_LATE;
    bool wrong = response->outcome == FETCH_STOPPED || code == SEEN_RANGE ||
                 (response->outcome == FETCH_DONE && code == SEEN_CORRUPT);

    if (d->other) {
        not_a_filter(d);
        return;
    }
    if (code == SEEN_MISMATCH && d->state != DOWNLOAD_ANEW) {
        fetch_anew(d);
        return;
    }
    if (again(d, code, response))
        return;
    fetch_health_note(&d->round->health, p->number, d->item->url, code,
                      response);
    if (late || fetch_retry_helps(code, response))
        p->seconds += clock_seconds() - d->began;
    if (wrong || !d->at)
        drop(d, true);
    else if (late)
        strncat(why->text, "; the part that came is kept",
                sizeof why->text - strlen(why->text) - 1);
    refuse(d, why);
}

static void file_ended(struct download *d, enum seen_code code,
                       const struct fetch_response *response,
                       struct seen_error *why)
{
    uint64_t length = d->item->length;
    int status = code == SEEN_OK ? response->status : 0;

    if (status == 206 && rest_follows(d))
        return;
    if (status == 304 && d->item->ask && !d->from) {
        fetch_health_note(&d->round->health,
                          d->item->source->publisher->number, d->item->url,
                          code, response);
        unchanged(d);
        return;
    }
    if (status == 416 && d->from && d->state != DOWNLOAD_ANEW) {
        fetch_anew(d);
        return;
    }
    if (status && status != 200 && status != 206)
        code = fetch_status_fault(status, why);
    else if (status && length != UINT64_MAX && d->at != length)
        code = seen_fail(why, SEEN_CORRUPT, d->at,
                         "has %llu bytes instead of the %llu announced",
                         (unsigned long long)d->at,
                         (unsigned long long)length);
    if (code != SEEN_OK) {
        file_failed(d, code, response, why);
        return;
    }
    fetch_health_note(&d->round->health, d->item->source->publisher->number,
                      d->item->url, code, response);
    finish(d);
}

static void on_end(void *owner, enum seen_code code,
                   const struct fetch_response *response,
                   const struct seen_error *fault)
{
    struct download *d = owner;
    struct seen_error why = { .code = SEEN_OK };

    close(d->fd);
    d->fd = -1;
    if (code != SEEN_OK)
        why = *fault;
    if (harvest_stopped(d->round))
        download_free(d); /* the part is kept for the next round */
    else if (d->state == DOWNLOAD_PATCHES)
        patch_ended(d, code, response);
    else
        file_ended(d, code, response, &why);
}

/* --- requests --- */

/* Bytes of the announced version that are here and can be continued. */
static uint64_t resumable(const struct download *d)
{
    const struct harvest_version *p = &d->record.part;
    const struct harvest_item *i = d->item;
    struct stat it;
    uint64_t size;

    if (!p->there || strcmp(d->record.part_loc, i->url) ||
        (i->hash.known ? !harvest_hash_same(&i->hash, &p->hash)
                       : p->hash.known) ||
        lstat(d->part, &it) || !S_ISREG(it.st_mode))
        return 0;
    /* Without a hash only a strong ETag or a date identifies the version. */
    if (!i->hash.known && (!*p->etag || !strncmp(p->etag, "W/", 2)) &&
        !*p->modified)
        return 0;
    size = (uint64_t)it.st_size;
    return i->length != UINT64_MAX && size > i->length ? 0 : size;
}

static enum seen_code start(struct download *d, struct fetch_request *request,
                            const char *path, uint64_t due,
                            struct seen_error *why)
{
    static const struct fetch_handler handler = { on_begin, on_body, on_end };
    double left = d->until - clock_seconds();

    if (left <= 0)
        return seen_fail(why, SEEN_UNABLE, 0, "takes too long");
    request->handler = &handler;
    request->owner = d;
    request->most = most_of(d);
    request->due = due;
    request->timeout = left > 1 ? (unsigned)left : 1;
    d->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (d->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be written");
    return fetch_start(d->round->web, request, why);
}

static void fetch_patch(struct download *d, uint64_t due)
{
    struct fetch_request request = { .url = d->patch->url };
    struct seen_error why;

    unlink(d->delta);
    d->from = d->at = 0;
    if (start(d, &request, d->delta, due, &why) == SEEN_OK)
        return;
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
    patches_failed(d);
}

static void fetch_file(struct download *d, uint64_t due)
{
    const struct harvest_version *p = &d->record.part, *f = &d->record.file;
    struct harvest_item *i = d->item;
    struct fetch_request request = { .url = i->url };
    struct seen_error why;

    d->from = d->at = resumable(d);
    if (!d->from) {
        unlink(d->part);
    } else if (d->from == i->length) {
        d->resumed = true; /* only the last steps are missing */
        finish(d);
        return;
    }
    request.from = d->from;
    if (d->from) {
        request.etag = *p->etag && strncmp(p->etag, "W/", 2) ? p->etag : NULL;
        request.modified = !request.etag && *p->modified ? p->modified : NULL;
    } else if (i->ask) {
        request.etag = *f->etag ? f->etag : NULL;
        request.modified = *f->modified ? f->modified : NULL;
    }
    if (start(d, &request, d->part, due, &why) == SEEN_OK)
        return;
    if (!d->from)
        drop(d, true);
    refuse(d, &why);
}

static void fetch_next(struct download *d, uint64_t due)
{
    if (d->state == DOWNLOAD_PATCHES)
        fetch_patch(d, due);
    else
        fetch_file(d, due);
}

/* --- the beginning --- */

static bool can_patch(const struct download *d)
{
    const struct harvest_item *i = d->item;
    const struct harvest_chain *c = i->chain;

    return c && c->first && harvest_hash_same(&c->reached, &i->hash) &&
           c->bytes <
               (i->length != UINT64_MAX ? i->length : d->record.file.length);
}

static void download_start(struct harvest_round *r, struct harvest_item *i)
{
    struct download *d = NULL;
    struct seen_error why;
    bool left_out = harvest_left_out(r, i->source->publisher, i->url, &why);

    if (!left_out)
        d = calloc(1, sizeof *d);
    if (!d) {
        if (!left_out)
            seen_fail(&why, SEEN_NOMEM, 0, "no memory to fetch it");
        harvest_refuse(r, i->url, "", &why);
        harvest_catalog_done(&r->catalog, i->source->publisher, &i->queued);
        return;
    }
    d->round = r;
    d->item = i;
    d->name = harvest_item_name(i);
    d->fd = -1;
    d->began = clock_seconds();
    set_deadline(d, i->length);
    harvest_folder_file(&r->folder, d->file, d->name);
    harvest_folder_own(&r->folder, d->part, d->name, ".part");
    harvest_folder_own(&r->folder, d->delta, d->name, ".delta");
    harvest_folder_own(&r->folder, d->step, d->name, ".step");
    harvest_folder_own(&r->folder, d->base, d->name, ".base");
    if (harvest_record_load(&d->record, &r->folder, d->name, &why) !=
        SEEN_OK) {
        refuse(d, &why);
        return;
    }
    d->state = can_patch(d) ? DOWNLOAD_PATCHES : DOWNLOAD_FILE;
    d->patch = d->state == DOWNLOAD_PATCHES ? i->chain->first : NULL;
    fetch_next(d, 0);
}

static void queue_planned(struct harvest_round *r)
{
    struct harvest_publisher *p = r->catalog.publisher;
    struct seen_error why;

    for (unsigned n = r->catalog.publishers; n; n--, p = p->next)
        p->seconds = 0;
    for (struct harvest_item *i = r->catalog.first; i; i = i->next) {
        if (i->plan == HARVEST_SKIP ||
            harvest_catalog_queue(i->source->publisher, &i->queued, i->url, 0))
            continue;
        seen_fail(&why, SEEN_NOMEM, 0, "no memory to fetch it");
        harvest_refuse(r, i->url, harvest_item_name(i), &why);
    }
}

void harvest_download_all(struct harvest_round *r)
{
    struct harvest_item *i;

    if (harvest_stopped(r))
        return;
    queue_planned(r);
    do {
        while ((i = (struct harvest_item *)harvest_catalog_next(&r->catalog,
                                                                false)))
            download_start(r, i);
        harvest_progress(r);
    } while (r->catalog.active && !harvest_stopped(r) &&
             (fetch_poll(r->web, 500), true));
}
