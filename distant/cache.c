/*
 * cache.c - parts of files, and notes about them.
 *
 *     entry_open() ──> note and part agree ──> the part, as it was kept
 *                 └──> none, or another ────> a new part ──> entry_keep()
 *
 * A note has a line per value (name=value), and the part's inode says that it
 * is about this part. Nothing here is needed for an answer: a part that cannot
 * be kept is fetched again, and one that was damaged is found by the checksums
 * of its blocks. So a failure ends nothing but the keeping, except where a file
 * of the user's would be open to others.
 */
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../lib/disk/disk.h"
#include "../lib/disk/walk.h"
#include "../lib/text/hex.h"
#include "../lib/text/memory.h"
#include "../lib/text/sip.h"

enum {
    NAME = 16,            /* bytes of hash in a name */
    NOTE_MOST = 16 << 10, /* bytes */
    ABANDONED = 3600      /* seconds after which a begun part has no owner */
};

/* --- the folder --- */

/* Others must not read what was asked about, nor replace parts. */
static enum seen_code private_folder(const char *folder,
                                     struct seen_error *why)
{
    struct stat it;
    enum seen_code code = disk_make_folders(folder, why);

    if (code != SEEN_OK)
        return disk_named(code, folder, why);
    if (mkdir(folder, 0700) && errno != EEXIST)
        return disk_named(seen_fail(why, SEEN_IO, 0, "cannot be made"), folder,
                          why);
    if (lstat(folder, &it))
        return disk_named(seen_fail(why, SEEN_IO, 0, "cannot be read"), folder,
                          why);
    if (!S_ISDIR(it.st_mode) || it.st_uid != geteuid() || it.st_mode & 077)
        return disk_named(seen_fail(why, SEEN_RANGE, 0,
                                    "is not a folder for its owner alone "
                                    "(chmod 700)"),
                          folder, why);
    return SEEN_OK;
}

static char *path_of(const char *folder, const char *url, const char *ending)
{
    static const unsigned char none[SIP_SECRET] = { 0 };
    uint64_t hash[2];
    char hex[2 * NAME + 1], *path;

    sip_hash(none, url, strlen(url), &hash[0], &hash[1]);
    hex_write(hex, hash, NAME);
    return asprintf(&path, "%s/%s%s", folder, hex, ending) < 0 ? NULL : path;
}

/* --- notes --- */

/*
 *     url=https://haw.nsk.hr/haw.seen
 *     file=2049:1311234                  device and inode of the part
 *     etag="6a1f-3b9aca00"
 *     modified=Sun, 15 Nov 2026 10:00:00 GMT
 *     checked=1793000000
 *
 * A note that is not of this form is not believed.
 */
static bool take_line(char **at, const char *name, char *value, size_t room)
{
    size_t len = strlen(name);
    char *end = strchr(*at, '\n');

    if (!end || strncmp(*at, name, len) || (*at)[len] != '=' ||
        (size_t)(end - *at) - len - 1 >= room)
        return false;
    *end = '\0';
    strcpy(value, *at + len + 1);
    *at = end + 1;
    return true;
}

static bool take_note(struct distant_entry *e, char *text)
{
    struct distant_version *v = &e->version;
    char *url = malloc(NOTE_MOST + 1), file[64], ours[64], number[32], *end;
    struct stat it;
    bool good = url && !fstat(e->fd, &it) &&
                take_line(&text, "url", url, NOTE_MOST) &&
                !strcmp(url, e->url) &&
                take_line(&text, "file", file, sizeof file) &&
                take_line(&text, "etag", v->etag, sizeof v->etag) &&
                take_line(&text, "modified", v->modified,
                          sizeof v->modified) &&
                take_line(&text, "checked", number, sizeof number) && !*text;

    free(url);
    if (!good)
        return false;
    snprintf(ours, sizeof ours, "%" PRIuMAX ":%" PRIuMAX, (uintmax_t)it.st_dev,
             (uintmax_t)it.st_ino);
    v->checked = strtoull(number, &end, 10);
    return !*end && !strcmp(file, ours);
}

static bool read_note(struct distant_entry *e)
{
    char *text = NULL;
    size_t len;
    bool good = disk_load(&text, &len, e->note, NOTE_MOST, NULL) == SEEN_OK &&
                strlen(text) == len && take_note(e, text);

    free(text);
    if (!good)
        memset(&e->version, 0, sizeof e->version);
    return good;
}

/* Written beside, then renamed; a note that is lost is no harm. */
static void write_note(const struct distant_entry *e)
{
    const struct distant_version *v = &e->version;
    struct stat it;
    char *next = NULL;
    FILE *to;
    int fd = -1;

    if (fstat(e->fd, &it) || asprintf(&next, "%s.XXXXXX", e->note) < 0)
        return;
    fd = mkostemp(next, O_CLOEXEC);
    to = fd < 0 ? NULL : fdopen(fd, "w");
    if (to) {
        fprintf(to,
                "url=%s\nfile=%" PRIuMAX ":%" PRIuMAX
                "\netag=%s\nmodified=%s\nchecked=%" PRIu64 "\n",
                e->url, (uintmax_t)it.st_dev, (uintmax_t)it.st_ino, v->etag,
                v->modified, v->checked);
        if (fclose(to) || rename(next, e->note))
            unlink(next);
    } else if (fd >= 0) {
        close(fd);
        unlink(next);
    }
    free(next);
}

/* --- entries --- */

static enum seen_code begin(struct distant_entry *e, struct seen_error *why)
{
    if (asprintf(&e->begun, "%s.XXXXXX", e->part) < 0) {
        e->begun = NULL;
        return no_memory_for(why, "a path");
    }
    e->fd = mkostemp(e->begun, O_CLOEXEC);
    if (e->fd >= 0)
        return SEEN_OK;
    free(e->begun);
    e->begun = NULL;
    return disk_named(seen_fail(why, SEEN_IO, 0, "cannot be written to"),
                      e->folder, why);
}

enum seen_code distant_entry_open(struct distant_entry *e, const char *folder,
                                  const char *url, bool anew,
                                  struct seen_error *why)
{
    enum seen_code code = private_folder(folder, why);

    *e = (struct distant_entry){ .fd = -1 };
    if (code != SEEN_OK)
        return code;
    e->folder = strdup(folder);
    e->url = strdup(url);
    e->part = path_of(folder, url, ".part");
    e->note = path_of(folder, url, ".note");
    if (!e->folder || !e->url || !e->part || !e->note || strchr(url, '\n')) {
        distant_entry_close(e);
        return no_memory_for(why, "a path");
    }
    e->fd = anew ? -1 : disk_open(e->part, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    e->kept = e->fd >= 0 && read_note(e);
    if (e->kept)
        return SEEN_OK;
    if (e->fd >= 0)
        close(e->fd);
    code = begin(e, why);
    if (code != SEEN_OK)
        distant_entry_close(e);
    return code;
}

void distant_entry_keep(struct distant_entry *e)
{
    e->version.checked = (uint64_t)time(NULL);
    if (e->begun) {
        if (rename(e->begun, e->part))
            return;
        free(e->begun);
        e->begun = NULL;
    }
    e->kept = true;
    if (disk_same(e->fd, e->part))
        write_note(e);
}

void distant_entry_forget(struct distant_entry *e)
{
    if (e->kept && disk_same(e->fd, e->part)) {
        unlink(e->note);
        unlink(e->part);
    }
    e->kept = false;
}

void distant_entry_close(struct distant_entry *e)
{
    if (e->begun)
        unlink(e->begun);
    if (e->fd >= 0)
        close(e->fd);
    free(e->folder);
    free(e->url);
    free(e->part);
    free(e->note);
    free(e->begun);
    *e = (struct distant_entry){ .fd = -1 };
}

/* --- its size --- */

struct kept_file {
    char *path; /* of the part */
    uint64_t bytes;
    time_t used;
};

static int by_use(const void *a, const void *b)
{
    const struct kept_file *x = a, *y = b;

    return (x->used > y->used) - (x->used < y->used);
}

static char *note_of(const char *part)
{
    char *note = strdup(part);

    if (note)
        strcpy(note + strlen(note) - 4, "note");
    return note;
}

/* A part was used when it was written to, or when its note was. */
static void measure(struct kept_file *k)
{
    char *note = note_of(k->path);
    struct stat it;

    if (!stat(k->path, &it)) {
        k->bytes = 512 * (uint64_t)it.st_blocks;
        k->used = it.st_mtime;
    }
    if (note && !stat(note, &it) && it.st_mtime > k->used)
        k->used = it.st_mtime;
    free(note);
}

static void remove_kept(const struct kept_file *k)
{
    char *note = note_of(k->path);

    if (note)
        unlink(note);
    unlink(k->path);
    free(note);
}

static bool ends(const char *name, const char *with)
{
    size_t len = strlen(name), tail = strlen(with);

    return len > tail && !strcmp(name + len - tail, with);
}

/* What a process that was killed has begun. */
static void remove_abandoned(const char *path)
{
    struct stat it;

    if (!stat(path, &it) && it.st_mtime + ABANDONED < time(NULL))
        unlink(path);
}

void distant_cache_shrink(const struct distant_entry *e, uint64_t most)
{
    struct walk_names names;
    struct kept_file *kept;
    uint64_t sum = 0;
    size_t n = 0;

    if (walk_folder(&names, e->folder, false, NULL) != SEEN_OK)
        return;
    kept = calloc(names.n + 1, sizeof *kept);
    for (size_t i = 0; i < names.n && kept; i++) {
        char *path = walk_path(e->folder, names.name[i]);

        if (path && ends(path, ".part") && strcmp(path, e->part) != 0) {
            kept[n].path = path;
            measure(&kept[n]);
            sum += kept[n++].bytes;
            continue;
        }
        if (path && (strstr(names.name[i], ".part.") ||
                     strstr(names.name[i], ".note.")))
            remove_abandoned(path);
        free(path);
    }
    if (n)
        qsort(kept, n, sizeof *kept, by_use);
    for (size_t i = 0; i < n; i++) {
        if (sum > most) {
            remove_kept(&kept[i]);
            sum -= kept[i].bytes;
        }
        free(kept[i].path);
    }
    free(kept);
    walk_clear(&names);
}

/* --- the secret of decoys --- */

/* Of several processes that make it, one is first, and all have its secret. */
static enum seen_code make_secret(const char *path, struct seen_error *why)
{
    unsigned char secret[SEEN_SECRET];
    enum seen_code code = SEEN_OK;
    char *next = NULL;
    int fd = -1;

    if (asprintf(&next, "%s.XXXXXX", path) < 0)
        return no_memory_for(why, "a path");
    if (getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret)
        code = seen_fail(why, SEEN_IO, 0, "no random bytes for a secret");
    if (code == SEEN_OK)
        fd = mkostemp(next, O_CLOEXEC);
    if (code == SEEN_OK && fd < 0)
        code = seen_fail(why, SEEN_IO, 0, "cannot be made");
    if (fd >= 0) {
        code = disk_write(fd, secret, sizeof secret, 0, why);
        if (code == SEEN_OK)
            code = disk_flush(fd, why);
        if (code == SEEN_OK && link(next, path) && errno != EEXIST)
            code = seen_fail(why, SEEN_IO, 0, "cannot be made");
        close(fd);
        unlink(next);
    }
    explicit_bzero(secret, sizeof secret);
    free(next);
    return disk_named(code, path, why);
}

static enum seen_code load_secret(const char *path,
                                  unsigned char secret[SEEN_SECRET],
                                  struct seen_error *why)
{
    char *bytes = NULL;
    size_t len;
    enum seen_code code = disk_load(&bytes, &len, path, SEEN_SECRET, why);

    if (code == SEEN_OK && len != SEEN_SECRET)
        code = seen_fail(why, SEEN_RANGE, len, "is not a secret of %d bytes",
                         SEEN_SECRET);
    if (code == SEEN_OK)
        memcpy(secret, bytes, SEEN_SECRET);
    if (bytes)
        explicit_bzero(bytes, len);
    free(bytes);
    return code;
}

enum seen_code distant_secret(const char *folder, const char *url,
                              unsigned char secret[SEEN_SECRET],
                              struct seen_error *why)
{
    unsigned char user[SEEN_SECRET];
    uint64_t of[2];
    char *path;
    enum seen_code code = private_folder(folder, why);

    if (code != SEEN_OK)
        return code;
    path = walk_path(folder, "decoys");
    if (!path)
        return no_memory_for(why, "a path");
    code = load_secret(path, user, why);
    if (code == SEEN_IO && errno == ENOENT) {
        code = make_secret(path, why);
        if (code == SEEN_OK)
            code = load_secret(path, user, why);
    }
    disk_named(code, path, why);
    if (code == SEEN_OK) {
        sip_hash(user, url, strlen(url), &of[0], &of[1]);
        memcpy(secret, of, SEEN_SECRET);
    }
    explicit_bzero(user, sizeof user);
    free(path);
    return code;
}
