/*
 * examine.c - one filter: unchanged, changed, new, busy or broken.
 *
 *     size, mtime and inode are as before      announced as before, not read
 *     a writer has it open                     announced as before, reported
 *     a killed writer left a journal           journal applied, then:
 *     its SHA-256 is as before                 announced as before
 *     its checksums are right                  announced with the new SHA-256
 *     it holds no URL                          not announced, unless allowed
 *     its checksums are wrong                  not announced, reported
 *
 * No writer may change a filter while it is read. But writers should not have
 * to wait until it is hashed, verified, compared and written as text, which
 * takes many seconds per gigabyte. So it is copied to .publish/snapshot under
 * the right to write it (seen_store_claim), which is then released, and all
 * else is done with the copy. On file systems that share blocks (XFS, Btrfs)
 * a copy takes no time. Elsewhere it takes 0.3 s per gigabyte if the file is
 * in memory, or as long as the disk takes; commands that write the filter
 * wait that long. The copy becomes the version that is kept for deltas, or is
 * removed. If there is no room for it, the work is done under the claim.
 *
 * A change after the copy was made is announced by the next run. A program
 * that replaces the file without a lock, such as `cp`, is noticed by its
 * mtime.
 *
 * A broken filter is not announced even as before: harvesters would fetch
 * something else. It is not reported as deleted either: harvesters that have
 * it should keep it.
 */
#include "examine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/kind.h>

#include "../lib/disk/disk.h"
#include "file.h"
#include "metadata.h"
#include "text.h"
#include "versions.h"

enum { RECENT = 2 }; /* seconds: two changes may have the same mtime */

void publish_report(struct publish_run *r, enum publish_what what,
                    const char *path, const char *text,
                    const struct publish_item *item)
{
    const struct publish_event e = {
        .what = what,
        .path = path,
        .text = text,
        .length = item ? item->length : 0,
        .delta = item && item->patch.made ? item->patch.length : 0,
    };

    switch (what) {
    case PUBLISH_NEW: r->totals->fresh++; break;
    case PUBLISH_CHANGED: r->totals->changed++; break;
    case PUBLISH_SAME: r->totals->same++; break;
    case PUBLISH_WITHDRAWN: r->totals->withdrawn++; break;
    case PUBLISH_LEFT: r->totals->left++; break;
    case PUBLISH_REFUSED: r->totals->refused++; break;
    case PUBLISH_NOTE: break;
    }
    if (e.delta) {
        r->totals->made++;
        r->totals->made_bytes += e.delta;
        r->totals->instead += e.length;
    }
    if (r->options->each)
        r->options->each(r->options->whose, &e);
}

/* --- what is announced --------------------------------------------------- */

static enum seen_code announce(struct publish_run *r,
                               struct publish_item *item,
                               enum publish_what what, const char *text,
                               struct seen_error *why)
{
    struct publish_item *place = publish_state_add_item(&r->now);

    if (!place) {
        publish_item_clear(item);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a filter");
    }
    *place = *item;
    publish_report(r, what, place->path, text, place);
    return SEEN_OK;
}

static enum seen_code announce_old(struct publish_run *r,
                                   const struct publish_item *old, bool held,
                                   enum publish_what what, const char *text,
                                   struct seen_error *why)
{
    struct publish_item item;

    if (!publish_item_copy(&item, old)) {
        publish_item_clear(&item);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a filter");
    }
    item.held = held;
    return announce(r, &item, what, text, why);
}

enum seen_code publish_examine_leave(struct publish_run *r,
                                     const struct publish_item *old,
                                     const char *text, struct seen_error *why)
{
    return announce_old(r, old, old->held, PUBLISH_LEFT, text, why);
}

/* --- looking at it ------------------------------------------------------ */

struct publish_look {
    char *file, *journal, *copy;
    const char *from; /* `file` or `copy`, whichever is read */
    struct seen_claim *claim;
    struct stat it;
};

static bool untouched(const struct publish_look *l,
                      const struct publish_item *old)
{
    return old->seconds && old->seconds == l->it.st_mtim.tv_sec &&
           old->nanos == l->it.st_mtim.tv_nsec && old->inode == l->it.st_ino &&
           old->length == (uint64_t)l->it.st_size && access(l->journal, F_OK);
}

static void remember(const struct publish_run *r, const struct publish_look *l,
                     struct publish_item *item)
{
    bool recent = l->it.st_mtim.tv_sec > r->time - RECENT;

    item->seconds = recent ? 0 : l->it.st_mtim.tv_sec;
    item->nanos = recent ? 0 : l->it.st_mtim.tv_nsec;
    item->inode = l->it.st_ino;
}

/* A killed writer left a journal; opening the file applies it. */
static enum seen_code make_whole(const char *file, struct seen_error *why)
{
    struct seen_filter *f;
    enum seen_code code = seen_store_open(&f, file, NULL, why);

    return code == SEEN_OK ? seen_store_close(f, why) : code;
}

/* If one of its two heads is damaged, write the filter anew: copies would be
   damaged as well. */
static enum seen_code repair(const struct publish_look *l,
                             struct seen_error *why)
{
    const struct seen_access quick = { .unverified = true };
    struct seen_filter *f;
    bool damaged = seen_store_map(&f, l->file, &quick, NULL) == SEEN_OK &&
                   seen_store_warning(f, NULL);
    enum seen_code code = SEEN_OK;

    seen_filter_free(f);
    if (!damaged || seen_store_map(&f, l->file, NULL, NULL) != SEEN_OK)
        return SEEN_OK; /* what else is wrong is found later */
    code = seen_claim_save(f, l->claim, why);
    seen_filter_free(f);
    return code;
}

/* Become the only writer, with the journal applied. */
static enum seen_code claim(const struct publish_run *r,
                            struct publish_look *l, struct seen_error *why)
{
    enum seen_code code;

    if (r->options->dry)
        return SEEN_OK;
    code = seen_store_claim(&l->claim, l->file, why);
    if (code != SEEN_OK || access(l->journal, F_OK))
        return code == SEEN_OK ? repair(l, why) : code;
    seen_claim_free(l->claim);
    l->claim = NULL;
    code = make_whole(l->file, why);
    if (code == SEEN_OK)
        code = seen_store_claim(&l->claim, l->file, why);
    return code;
}

/* Check its checksums, and read its metadata. */
static enum seen_code verify(const char *file, struct publish_item *item,
                             struct seen_error *why)
{
    struct seen_filter *f;
    enum seen_code code = seen_store_map(&f, file, NULL, why);

    if (code == SEEN_OK)
        code = publish_about_read(&item->about, f, why);
    seen_filter_free(f);
    return code;
}

/* Is it unchanged since it was opened? */
static enum seen_code check_still(const struct publish_look *l,
                                  struct seen_error *why)
{
    struct stat now;

    if (stat(l->file, &now) || now.st_ino != l->it.st_ino ||
        now.st_size != l->it.st_size ||
        now.st_mtim.tv_sec != l->it.st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != l->it.st_mtim.tv_nsec)
        return seen_fail(why, SEEN_BUSY, 0, "was changed while it was read");
    return SEEN_OK;
}

/* Make a copy that nobody writes to, and let writers go on. */
static enum seen_code snapshot(const struct publish_run *r,
                               struct publish_look *l, struct seen_error *why)
{
    enum seen_code code;

    l->from = l->file;
    if (r->options->dry)
        return SEEN_OK;
    unlink(l->copy); /* of a killed run */
    if (disk_copy(l->file, l->copy, NULL) != SEEN_OK)
        return SEEN_OK;
    code = check_still(l, why);
    seen_claim_free(l->claim);
    l->claim = NULL;
    l->from = l->copy;
    return code;
}

static int64_t lastmod_of(const struct publish_run *r,
                          const struct publish_look *l,
                          const struct publish_item *old)
{
    int64_t when = l->it.st_mtim.tv_sec;

    if (when > r->time) /* a clock was wrong */
        when = r->time;
    if (old && when <= old->lastmod)
        when = old->lastmod + 1;
    return when;
}

/* --- the result --------------------------------------------------------- */

static enum seen_code trouble_with(struct publish_run *r, const char *path,
                                   const struct publish_item *old, bool broken,
                                   struct seen_error *what,
                                   struct seen_error *why)
{
    char text[sizeof what->text];

    memcpy(text, what->text, sizeof text);
    if (old)
        return announce_old(r, old, broken || old->held,
                            broken ? PUBLISH_REFUSED : PUBLISH_LEFT, text,
                            why);
    publish_report(r, broken ? PUBLISH_REFUSED : PUBLISH_LEFT, path, text,
                   NULL);
    return SEEN_OK;
}

/* A kind that is built once has no deltas. */
static bool keeps(const struct publish_run *r, const struct publish_about *a)
{
    return r->now.deltas && !r->options->dry &&
           !seen_kind_can(a->kind, SEEN_BUILT_ONCE);
}

/* Keep the new version, which may be the copy itself; and make the delta if
   the old version was kept. On failure the file is announced all the same,
   and `text`, unless it is in use, says why there is no delta. */
static void keep(struct publish_run *r, const struct publish_look *l,
                 struct publish_item *item, const struct publish_item *old,
                 char *text, size_t room)
{
    const char *folder = r->options->folder;
    struct seen_error why = { .code = SEEN_OK };
    enum seen_code code;

    if (!keeps(r, &item->about))
        return;
    code = publish_version_keep(folder, item->path, item->digest, l->from,
                                l->from == l->copy, &why);
    if (code == SEEN_OK && old &&
        memcmp(item->digest, old->digest, SEEN_DIGEST) &&
        publish_version_kept(folder, item->path, old->digest))
        code = publish_version_delta(folder, item->path, old->digest,
                                     item->digest, &item->patch, &why);
    if (code != SEEN_OK && !*text)
        snprintf(text, room, "no delta: %s", why.text);
}

/* Write the text form, if it is wanted and missing. On failure `text` has the
   reason. */
static void write_text_form(struct publish_run *r,
                            const struct publish_look *l,
                            struct publish_item *item, bool anew, char *text,
                            size_t room)
{
    struct seen_error why = { .code = SEEN_OK };

    if (!r->now.text)
        item->text.made = false;
    else if (!r->options->dry &&
             (anew || !publish_text_there(r->options->folder, item)) &&
             publish_text_write(r->options->folder, l->from, item, &why) !=
                 SEEN_OK)
        snprintf(text, room, "no text form: %s", why.text);
}

static enum seen_code same(struct publish_run *r, const struct publish_look *l,
                           const struct publish_item *old,
                           struct seen_error *why)
{
    struct publish_item item;
    char text[200] = "";

    if (!publish_item_copy(&item, old)) {
        publish_item_clear(&item);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a filter");
    }
    item.held = false;
    remember(r, l, &item);
    write_text_form(r, l, &item, false, text, sizeof text);
    keep(r, l, &item, NULL, text, sizeof text);
    return announce(r, &item, PUBLISH_SAME, *text ? text : NULL, why);
}

/* An empty filter says "no" to everything: mostly a build whose input was
   missing. */
static enum seen_code check_empty(const struct publish_run *r,
                                  const struct publish_item *item,
                                  struct seen_error *why)
{
    if (item->about.entries != 0 || r->options->allow_empty)
        return SEEN_OK;
    return seen_fail(why, SEEN_RANGE, 0,
                     "is empty: it holds no URL (--allow-empty announces it)");
}

static enum seen_code differs(struct publish_run *r,
                              const struct publish_look *l,
                              struct publish_item *item,
                              const struct publish_item *old, const char *path,
                              struct seen_error *why)
{
    struct seen_error what = { .code = SEEN_OK };
    enum seen_code code = verify(l->from, item, &what);
    const char *base = publish_base(path), *odd;
    char text[200] = "";

    if (code == SEEN_NOMEM) {
        *why = what;
        return code;
    }
    if (code == SEEN_OK && l->from == l->file)
        code = check_still(l, &what);
    if (code == SEEN_OK)
        code = check_empty(r, item, &what);
    if (code != SEEN_OK) {
        publish_about_clear(&item->about);
        return trouble_with(r, path, old, code != SEEN_BUSY && code != SEEN_IO,
                            &what, why);
    }
    item->path = strdup(path);
    item->lastmod = lastmod_of(r, l, old);
    remember(r, l, item);
    if (!item->path) {
        publish_about_clear(&item->about);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a filter");
    }
    write_text_form(r, l, item, true, text, sizeof text);
    keep(r, l, item, old, text, sizeof text);
    odd = seen_share_name_fault(base, strlen(base));
    if (!old && !*text && odd)
        snprintf(text, sizeof text,
                 "under a name that harvesters refuse: %s; letters, digits, "
                 "-, _ and . are safe",
                 odd);
    return announce(r, item, old ? PUBLISH_CHANGED : PUBLISH_NEW,
                    *text ? text : NULL, why);
}

static enum seen_code look_at(struct publish_run *r, struct publish_look *l,
                              const char *path, const struct publish_item *old,
                              struct seen_error *why)
{
    struct seen_error what = { .code = SEEN_OK };
    struct publish_item item = { .path = NULL };
    enum seen_code code = SEEN_OK;

    if (stat(l->file, &l->it))
        code = seen_fail(&what, SEEN_IO, 0, "cannot be examined");
    if (code == SEEN_OK && old && !r->options->rehash && !old->held &&
        untouched(l, old) &&
        (!keeps(r, &old->about) ||
         publish_version_kept(r->options->folder, path, old->digest)) &&
        (r->now.text
             ? r->options->dry || publish_text_there(r->options->folder, old)
             : !old->text.made))
        return announce_old(r, old, false, PUBLISH_SAME, NULL, why);
    if (code == SEEN_OK)
        code = claim(r, l, &what);
    if (code == SEEN_OK &&
        stat(l->file, &l->it)) /* applying the journal changed it */
        code = seen_fail(&what, SEEN_IO, 0, "cannot be examined");
    if (code == SEEN_OK)
        code = snapshot(r, l, &what);
    if (code == SEEN_OK)
        code = seen_digest_file(l->from, item.digest, &item.length, &what);
    if (code != SEEN_OK)
        return trouble_with(r, path, old,
                            code == SEEN_CORRUPT || code == SEEN_MISMATCH,
                            &what, why);
    if (old && !memcmp(item.digest, old->digest, SEEN_DIGEST))
        return same(r, l, old, why);
    return differs(r, l, &item, old, path, why);
}

/* Hashes of URLs can be guessed; a web server may send any file of a folder. */
static void warn_of_keys(struct publish_run *r, const char *file,
                         const char *path)
{
    char *keys = publish_format("%s.keys", file);

    if (keys && !access(keys, F_OK))
        publish_report(r, PUBLISH_NOTE, path,
                       "its log of keys is in this folder, too, and is not to "
                       "be published: keep what grows elsewhere, or remove "
                       "the log: seen meta --forget-keys",
                       NULL);
    free(keys);
}

enum seen_code publish_examine(struct publish_run *r, const char *path,
                               const struct publish_item *old,
                               struct seen_error *why)
{
    struct publish_look l = { .file = publish_format(
                                  "%s/%s", r->options->folder, path) };
    char *real = l.file ? realpath(l.file, NULL) : NULL;
    enum seen_code code;

    /* The journal is beside the target of a link. */
    l.journal = publish_format("%s.journal", real     ? real
                                             : l.file ? l.file
                                                      : "");
    l.copy = publish_format("%s/.publish/snapshot", r->options->folder);
    if (!l.file || !l.journal || !l.copy)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    else
        code = look_at(r, &l, path, old, why);
    if (l.file)
        warn_of_keys(r, l.file, path);
    seen_claim_free(l.claim);
    if (l.from && l.from == l.copy)
        unlink(l.copy);
    free(real);
    free(l.copy);
    free(l.journal);
    free(l.file);
    return code;
}
