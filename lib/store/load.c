/*
 * load.c - having a filter to read: copied into memory, or mapped.
 *
 * A reader takes no lock, so a writer may open the file, checkpoint or seal
 * it at any moment. It reads in this order and looks at the head again at
 * the end; if that is another one, it starts over:
 *
 *     head, text, table    the cells    the journal    the head again
 *
 * Cells that a writer changes meanwhile only gain bits, and what they lack
 * is in the journal, so a head that did not change means a filter with
 * everything that was acknowledged when the reading began. The cells of a
 * mapping are private to it, so that the journal can be applied to them:
 * pages that it does not touch stay those of the file.
 */
#define _DEFAULT_SOURCE                 /* MAP_NORESERVE */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../disk/disk.h"
#include "replay.h"

enum { TRIES = 1000 };
static const struct timespec moment = { .tv_nsec = 1000000 };

/* What was read, without the reader itself. */
static void reader_clear(struct reader *r, struct seen_filter *f)
{
    if (f)
        read_unmap(f, &r->map);
    journal_close(&r->journal);
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    place_clear(&r->place);
}

void reader_free(struct reader *r)
{
    int system = errno;

    reader_clear(r, NULL);
    free(r->path);
    free(r);
    errno = system;
}

static void release(struct seen_keeper *k, struct seen_filter *f)
{
    struct reader *r = (struct reader *)k;

    reader_clear(r, f);
    reader_free(r);
}

/* A copy belongs to its owner, who may add to it; it then goes its own way. */
static enum seen_code before(struct seen_keeper *k, bool remove,
                             const struct seen_key *key, size_t n,
                             uint64_t *first, struct seen_error *why)
{
    struct reader *r = (struct reader *)k;

    (void)remove, (void)key, (void)n, (void)first, (void)why;
    __atomic_store_n(&r->changed, true, __ATOMIC_RELAXED);
    return SEEN_OK;
}

static void after(struct seen_keeper *k, uint64_t first, size_t n, size_t done)
{
    (void)k, (void)first, (void)n, (void)done;
}

struct reader *reader_of(const struct seen_filter *f)
{
    if (!f->keeper || f->keeper->release != release)
        return NULL;
    return (struct reader *)f->keeper;
}

/*
 * The table of a file that is being changed tells nothing, so its cells are
 * counted once. After that, a mapping shows the bits that a writer sets in
 * place before the journal tells of them, so they are not counted when it
 * does. Counting anew takes a pass; it waits until a hundredth of the keys
 * is new.
 */
static void count_again(struct reader *r, struct seen_filter *f)
{
    uint64_t since = r->journal.last - r->counted;

    if (r->uncounted ||
        (r->mapped && since && since >= seen_filter_offered(f) / 100)) {
        read_recount(f);
        r->counted = r->journal.last;
        r->uncounted = false;
    }
}

enum seen_code reader_catch_up(struct reader *r, struct seen_filter *f,
                               struct seen_error *why)
{
    struct head h;
    enum seen_code code = SEEN_OK;

    if (r->journal.fd < 0)
        return SEEN_OK;
    if (r->map.base &&
        mprotect(r->map.base, r->map.len, PROT_READ | PROT_WRITE))
        return seen_fail(why, SEEN_IO, 0, "cannot be mapped");
    head_take(&h, r->head);
    for (int tries = 0; tries < 3; tries++) {
        code = replay(&r->journal, f, h.applied, why);
        if (code != SEEN_CORRUPT)
            break;
        nanosleep(&moment, NULL);        /* a writer may be taking it back */
    }
    if (r->map.base && mprotect(r->map.base, r->map.len, PROT_READ))
        return seen_fail(why, SEEN_IO, 0, "cannot be mapped");
    if (code == SEEN_OK && h.state == CHANGING)
        count_again(r, f);
    return code;
}

/* One reading, from head to journal. */
static enum seen_code read_once(struct reader *r, struct seen_filter **out,
                                const struct seen_access *how,
                                struct seen_error *why)
{
    struct front front;
    struct seen_filter *f = NULL;
    enum seen_code code = place_init(&r->place, r->path, why);
    bool check;

    if (code != SEEN_OK)
        return code;
    r->fd = open(r->place.path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    code = front_read(&front, r->fd, why);
    memcpy(r->head, front.bytes, HEAD);
    if (code != SEEN_OK)
        return code;
    check = !r->unverified && front.head.state == SEALED;
    code = read_plan(&f, &front, how, why);
    if (code == SEEN_OK && r->mapped && check)
        code = format_cells(r->fd, &front, true, NULL, why);
    if (code == SEEN_OK && r->mapped)
        code = read_map(f, r->fd, &front, PROT_READ,
                        MAP_PRIVATE | MAP_NORESERVE, &r->map, why);
    else if (code == SEEN_OK)
        code = read_copy(f, r->fd, &front, check, why);
    r->uncounted = true;
    if (code == SEEN_OK)
        code = replay_open(&r->journal, &r->place, &front.head, O_RDONLY, why);
    if (code == SEEN_OK)
        code = reader_catch_up(r, f, why);
    front_clear(&front);
    *out = f;
    return code;
}

/* Is what was read no longer what is there? */
static bool moved(const struct reader *r)
{
    unsigned char head[HEAD] = { 0 };
    int fd = r->fd >= 0 ? open(r->place.path, O_RDONLY | O_CLOEXEC) : -1;
    bool same = fd < 0 || disk_read(fd, head, HEAD, 0, NULL) != SEEN_OK ||
                !memcmp(head, r->head, HEAD);

    if (fd >= 0)
        close(fd);
    return !same;
}

enum seen_code reader_have(struct reader *r, struct seen_filter **out,
                           const struct seen_access *how,
                           struct seen_error *why)
{
    enum seen_code code;

    r->keeper.release = release;
    r->keeper.loose = !r->mapped;
    r->keeper.before = r->mapped ? NULL : before;
    r->keeper.after = after;
    r->unverified = how && how->unverified;
    for (int tries = 0;; tries++) {
        bool again;
        int system;

        r->fd = r->journal.fd = -1;
        *out = NULL;
        code = read_once(r, out, how, why);
        system = errno;
        again = tries < TRIES && (code == SEEN_OK || code == SEEN_CORRUPT) &&
                moved(r);
        if (code == SEEN_OK && !again)
            return code;
        reader_clear(r, *out);
        seen_filter_free(*out);
        *out = NULL;
        errno = system;
        if (!again)
            return code;
        nanosleep(&moment, NULL);
    }
}

static enum seen_code have(struct seen_filter **out, const char *path,
                           bool mapped, const struct seen_access *how,
                           struct seen_error *why)
{
    struct reader *r = calloc(1, sizeof *r);
    enum seen_code code;

    *out = NULL;
    if (r)
        r->path = strdup(path);
    if (!r || !r->path) {
        free(r);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a reader");
    }
    r->mapped = mapped;
    code = reader_have(r, out, how, why);
    if (code == SEEN_OK)
        (*out)->keeper = &r->keeper;
    else
        reader_free(r);
    return code;
}

enum seen_code seen_store_load(struct seen_filter **out, const char *path,
                               const struct seen_access *how,
                               struct seen_error *why)
{
    return have(out, path, false, how, why);
}

enum seen_code seen_store_map(struct seen_filter **out, const char *path,
                              const struct seen_access *how,
                              struct seen_error *why)
{
    return have(out, path, true, how, why);
}

/* The file is read again: a mapping has the journal in it already. */
static enum seen_code verify_once(const struct reader *r, bool *moved_on,
                                  struct seen_error *why)
{
    unsigned char now[HEAD] = { 0 };
    struct front front;
    enum seen_code code = front_read(&front, r->fd, why);

    if (code == SEEN_OK && front.head.state == SEALED)
        code = format_cells(r->fd, &front, true, NULL, why);
    *moved_on = disk_read(r->fd, now, HEAD, 0, NULL) == SEEN_OK &&
                memcmp(now, front.bytes, HEAD);
    front_clear(&front);
    return code;
}

enum seen_code seen_store_verify(const struct seen_filter *f,
                                 struct seen_error *why)
{
    const struct reader *r = reader_of(f);
    enum seen_code code = SEEN_OK;
    bool again = r;             /* else in memory, or its writer's */

    for (int tries = 0; again && tries < TRIES; tries++) {
        code = verify_once(r, &again, why);
        again = again && code == SEEN_CORRUPT;
    }
    return code;
}
