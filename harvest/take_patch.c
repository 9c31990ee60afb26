/* take_patch.c - make the next version out of ours, patch by patch. */
#include "taking.h"

#include <stdio.h>
#include <unistd.h>

#include <seen/share.h>

static void patches_fail(struct take *t)
{
    take_drop(t, false);
    t->patch = NULL;
    t->patches = 0;
    t->tries = 0;
    take_whole(t);
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

void take_patch_end(struct take *t, enum seen_code code, int status)
{
    struct seen_error why;

    if (code == SEEN_OK && status != 200)
        code = work_status(status, &why);
    if (code != SEEN_OK) {
        if (t->ours || t->slow || code == SEEN_RANGE || code == SEEN_UNABLE ||
            !take_again(t))
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
        take_patch(t);
        return;
    }
    unlink(t->base);
    t->record.part.there = false;
    take_finish(t);
}

void take_patch(struct take *t)
{
    struct fetch_request r = { .url = t->patch->url,
                               .most = t->patch->length };
    struct seen_error why;

    unlink(t->delta);
    t->from = t->at = 0;
    if (take_request(t, &r, t->delta, &why) == SEEN_OK)
        return;
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    patches_fail(t);
}
