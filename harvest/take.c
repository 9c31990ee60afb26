/* take.c - the way of one filter from its server into the folder. */
#include "take.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "swap.h"
#include "taking.h"
#include "verify.h"

enum {
    TRIES = 3,
    PROGRESS = 1 << 20,
    LOOK = 4 << 20, /* bytes until the disk's room is looked at again */

    /* Of each file: ten minutes, and as long as its length takes at 20 kB a
       second; six hours at most. The next round goes on with the rest. */
    FILE_TIME = 10, /* in units of how.patience, a minute */
    FILE_MOST = 360,
    FILE_PACE = 20000
};

/* --- the end --- */

void take_drop(struct take *t, bool part)
{
    unlink(t->delta);
    unlink(t->step);
    unlink(t->base);
    if (!part)
        return;
    unlink(t->part);
    if (!t->record.file.there && !t->record.next.there)
        folder_drop(&take_work(t)->folder, t->name, ".json");
}

static void take_free(struct take *t)
{
    if (t->fd >= 0)
        close(t->fd);
    *t->before = t->next;
    if (t->next)
        t->next->before = t->before;
    t->all->active--;
    t->item->source->party->active--;
    free(t);
}

void take_refuse(struct take *t, const struct seen_error *why)
{
    if (t->slow || (!t->ours && why->code == SEEN_IO) ||
        (!t->ours && t->from + t->at && why->code == SEEN_CORRUPT))
        work_failed(take_work(t), t->item->source, t->item->url,
                    work_clock() - t->began, t->mute);
    work_refuse(take_work(t), t->item->url, t->name, why);
    take_free(t);
}

void take_succeed(struct take *t, enum harvest_what what)
{
    struct harvest_news news = { .what = what,
                                 .name = t->name,
                                 .url = t->item->url,
                                 .reason = "",
                                 .size = t->record.file.length,
                                 .travelled = t->travelled,
                                 .patches = t->patches,
                                 .resumed = t->resumed };

    work_worked(take_work(t), t->item->source, t->item->url);
    work_tell(take_work(t), &news);
    take_free(t);
}

bool take_again(struct take *t)
{
    if (t->at > t->furthest + PROGRESS && !t->patch) {
        t->tries = 0;
        t->furthest = t->at;
    }
    if (++t->tries >= TRIES)
        return false;
    t->wake = work_again(take_work(t), t->tries, t->after);
    return t->wake > 0;
}

/* --- whole on the disk --- */

static void swap_in(struct take *t, const struct hash *found)
{
    struct work *w = take_work(t);
    struct seen_error why;
    bool same = false;

    if (swap_file(w, t->item, t->name, &t->record, t->part, found, &same,
                  &why) != SEEN_OK) {
        take_refuse(t, &why);
        return;
    }
    take_drop(t, true);
    take_succeed(t, same                        ? HARVEST_UNCHANGED
                    : t->item->plan == PLAN_NEW ? HARVEST_NEW
                                                : HARVEST_UPDATED);
}

void take_finish(struct take *t)
{
    struct hash found;
    struct seen_error why;

    t->ours = true; /* what is wrong from here on is no fault of the net */
    if (verify_file(t->part, t->item->length, &t->item->hash, &found, &why) ==
        SEEN_OK) {
        swap_in(t, &found);
        return;
    }
    take_drop(t, true);
    if ((t->resumed || t->patches) && !t->again) {
        t->again = true;
        t->resumed = false;
        t->patches = 0;
        take_whole(t);
        return;
    }
    take_refuse(t, &why);
}

/* --- from the client --- */

enum seen_code take_fault(struct take *t, enum seen_code code)
{
    t->ours = true;
    return code;
}

static void set_deadline(struct take *t, uint64_t length)
{
    double unit = take_work(t)->how->patience;
    double took = FILE_TIME * unit + (double)length / FILE_PACE;
    double most = FILE_MOST * unit;

    t->until = t->began + (took < most ? took : most);
}

static enum seen_code no_room(uint64_t bytes, struct seen_error *why)
{
    return seen_fail(why, SEEN_RANGE, 0,
                     "has %llu bytes, more than the disk has room for",
                     (unsigned long long)bytes);
}

/* What the answer says of its size, before any of it is taken. */
enum seen_code take_sizes(struct take *t, uint64_t announced, uint64_t whole,
                          struct seen_error *why)
{
    struct work *w = take_work(t);
    uint64_t all = whole != UINT64_MAX ? whole : announced;

    if (whole != UINT64_MAX && announced != UINT64_MAX && whole != announced)
        return seen_fail(why, SEEN_RANGE, 0,
                         "its server has %llu bytes instead of the %llu "
                         "announced",
                         (unsigned long long)whole,
                         (unsigned long long)announced);
    set_deadline(t, all);
    if (all == UINT64_MAX)
        return SEEN_OK;
    if (all > w->how->most)
        return seen_fail(
            why, SEEN_RANGE, 0, "has %llu bytes, more than the %llu allowed",
            (unsigned long long)all, (unsigned long long)w->how->most);
    if (all > t->at && all - t->at > folder_room(&w->folder))
        return no_room(all, why);
    return SEEN_OK;
}

/* Its length may not have been told, and others fill the disk, too. It is
   looked at more often when there is little left. */
static enum seen_code look_at_room(struct take *t, struct seen_error *why)
{
    uint64_t room;

    if (t->at < t->look)
        return SEEN_OK;
    room = folder_room(&take_work(t)->folder);
    t->look = t->at + (room / 2 < LOOK ? room / 2 : LOOK);
    return room ? SEEN_OK : no_room(t->at, why);
}

static enum seen_code begin(void *owner, const struct fetch_response *head,
                            struct seen_error *why)
{
    struct take *t = owner;
    enum seen_code code = SEEN_OK;

    t->pace = (struct pace){ .since = work_clock() };
    t->look = t->at;
    if (!t->patch)
        return take_whole_begin(t, head, why);
    if (head->status != 200)
        code = seen_fail(why, SEEN_MISMATCH, 0, "is only a part");
    else
        code = take_sizes(
            t, t->patch->length,
            head->length == FETCH_UNKNOWN ? UINT64_MAX : head->length, why);
    return code == SEEN_OK ? code : take_fault(t, code);
}

static enum seen_code some(void *owner, const void *bytes, size_t n,
                           struct seen_error *why)
{
    struct take *t = owner;
    uint64_t most = t->patch                        ? t->patch->length
                    : t->item->length != UINT64_MAX ? t->item->length
                                                    : take_work(t)->how->most;
    const char *at = bytes;

    t->pace.bytes += n;
    t->travelled += n;
    if (n > most - (t->at < most ? t->at : most))
        return take_fault(
            t, seen_fail(why, SEEN_RANGE, 0,
                         "is longer than the %llu bytes announced or "
                         "allowed",
                         (unsigned long long)most));
    while (n) {
        ssize_t some = pwrite(t->fd, at, n, (off_t)t->at);

        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return take_fault(t,
                              seen_fail(why, SEEN_IO, 0, "cannot be written"));
        at += some;
        n -= (size_t)some;
        t->at += (uint64_t)some;
    }
    return look_at_room(t, why) == SEEN_OK ? SEEN_OK
                                           : take_fault(t, SEEN_RANGE);
}

static void end(void *owner, enum seen_code code,
                const struct fetch_response *head,
                const struct seen_error *told)
{
    struct take *t = owner;
    struct seen_error why = { .code = SEEN_OK };

    close(t->fd);
    t->fd = -1;
    t->pace.since = 0;
    t->mute = !head->status;
    t->after = head->after;
    if (work_stopped(take_work(t))) {
        take_free(t); /* what came is kept for the next time */
        return;
    }
    if (code != SEEN_OK)
        why = *told;
    if (t->slow)
        code = seen_fail(&why, SEEN_UNABLE, 0,
                         "comes too slowly; what came "
                         "is kept for the next time");
    if (t->patch)
        take_patch_end(t, code, head->status);
    else
        take_whole_end(t, code, head->status, &why);
}

/* --- the beginning --- */

enum seen_code take_request(struct take *t, struct fetch_request *r,
                            const char *path, struct seen_error *why)
{
    static const struct fetch_handler taker = { begin, some, end };

    r->handler = &taker;
    r->owner = t;
    t->ours = t->slow = false;
    t->wake = 0;
    t->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (t->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be written");
    return fetch_start(take_work(t)->web, r, why);
}

static enum seen_code paths(struct take *t, struct seen_error *why)
{
    const struct folder *f = &take_work(t)->folder;
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

    i->begun = true;
    if (work_given_up(w, i->source, i->url, &why)) {
        work_refuse(w, i->url, "", &why);
        free(t);
        return;
    }
    if (!t) {
        seen_fail(&why, SEEN_NOMEM, 0, "no memory to fetch it");
        work_refuse(w, i->url, "", &why);
        return;
    }
    t->all = all;
    t->item = i;
    t->fd = -1;
    t->began = work_clock();
    set_deadline(t, i->length);
    t->next = all->first;
    t->before = &all->first;
    if (t->next)
        t->next->before = &t->next;
    all->first = t;
    all->active++;
    i->source->party->active++;
    if (name_of(t->name, i->url, w->how->names, &why) != SEEN_OK ||
        paths(t, &why) != SEEN_OK ||
        record_load(&t->record, &w->folder, t->name, &why) != SEEN_OK) {
        take_refuse(t, &why);
        return;
    }
    if (i->chain && i->chain->first &&
        hash_same(&i->chain->reached, &i->hash) &&
        i->chain->bytes <
            (i->length != UINT64_MAX ? i->length : t->record.file.length)) {
        t->patch = i->chain->first;
        take_patch(t);
    } else {
        take_whole(t);
    }
}

unsigned take_of_host(const struct takes *all, const char *url)
{
    unsigned n = 0;

    for (const struct take *t = all->first; t; t = t->next)
        n += address_same_host(t->item->url, url);
    return n;
}

int take_tend(struct takes *all)
{
    double now = work_clock(), soonest = now + 0.5;
    struct seen_error why;

    for (struct take *t = all->first, *next; t; t = next) {
        next = t->next;
        if (t->wake > 0 && now > t->until) {
            seen_fail(&why, SEEN_UNABLE, 0, "takes too long");
            t->slow = true;
            take_refuse(t, &why);
            next = all->first;
        } else if (t->wake > 0 && t->wake <= now) {
            if (t->patch)
                take_patch(t);
            else
                take_whole(t);
            next = all->first; /* t may be gone, and others come */
        } else if (t->wake > 0) {
            soonest = t->wake < soonest ? t->wake : soonest;
        } else if (pace_slow(&t->pace, all->work) || now > t->until) {
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
