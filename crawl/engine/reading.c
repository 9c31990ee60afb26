/* reading.c - the notes of readers, in a mapped file. */
#include "reading.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/disk/disk.h"
#include "host.h"

enum { BOOT = 40 }; /* bytes of a boot id, with a zero */

static const char magic[16] = "seen-reading 2\n";

/* Lines of the CPU's cache of its own, so that readers do not wait for each
   other. */
struct note {
    _Alignas(64) _Atomic int64_t id; /* 0: nothing is being read; ROBOTS */
    _Atomic int64_t visit;
    _Atomic uint64_t lo, hi;
    _Atomic bool alone;
    char origin[CRAWL_READING_ORIGIN]; /* if the id is ROBOTS */
};
enum { ROBOTS = -1 };

/* Of this machine, whose byte order it has: it is not read by another. */
struct notes {
    _Alignas(64) char magic[sizeof magic];
    char boot[BOOT];
    struct note note[CRAWL_READING_MOST];
};

struct crawl_reading {
    struct notes *notes;
    char *path;
};

/* Which start of the machine this is; "" if that is hidden. */
static void read_boot(char boot[BOOT])
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    memset(boot, 0, BOOT);
    if (!f)
        return;
    if (fgets(boot, BOOT, f))
        boot[strcspn(boot, "\n")] = '\0';
    fclose(f);
}

/* --- of a dead process --- */

/* In a folder for temporary files anybody may have made it. */
static bool is_own(int fd)
{
    struct stat st;

    return !fstat(fd, &st) && st.st_uid == geteuid();
}

static bool read_notes(struct notes *to, const char *path)
{
    int fd = disk_open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    bool good;

    if (fd < 0)
        return false;
    good = is_own(fd) && disk_read(fd, to, sizeof *to, 0, NULL) == SEEN_OK &&
           !memcmp(to->magic, magic, sizeof magic);
    close(fd);
    return good;
}

static bool is_note(const struct note *note)
{
    return note->id > 0 || (note->id == ROBOTS &&
                            memchr(note->origin, '\0', sizeof note->origin) &&
                            strstr(note->origin, "://"));
}

enum seen_code crawl_reading_left(
    const char *path, struct crawl_suspect suspect[CRAWL_READING_MOST],
    size_t *n, struct seen_error *why)
{
    struct notes *left = aligned_alloc(64, sizeof *left);
    char boot[BOOT];

    *n = 0;
    if (!left)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for notes");
    read_boot(boot);
    if (!read_notes(left, path))
        memset(left, 0, sizeof *left);
    for (size_t i = 0; i < CRAWL_READING_MOST; i++) {
        const struct note *note = &left->note[i];
        struct crawl_suspect *s = &suspect[*n];

        if (!is_note(note))
            continue;
        *s = (struct crawl_suspect){
            .id = note->id,
            .visit = note->visit,
            .lo = note->lo,
            .hi = note->hi,
            .alone = note->alone && !memcmp(left->boot, boot, BOOT),
        };
        if (note->id == ROBOTS)
            memcpy(s->origin, note->origin, sizeof s->origin);
        ++*n;
    }
    free(left);
    return SEEN_OK;
}

/* --- of this one --- */

/* Every page of the mapping has its place on the disk, so that a store never
   finds the disk full. */
static enum seen_code write_empty(int fd, struct seen_error *why)
{
    struct notes *empty = aligned_alloc(64, sizeof *empty);
    enum seen_code code;

    if (!empty)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for notes");
    memset(empty, 0, sizeof *empty);
    memcpy(empty->magic, magic, sizeof magic);
    read_boot(empty->boot);
    code = disk_write(fd, empty, sizeof *empty, 0, why);
    free(empty);
    return code;
}

static enum seen_code map_notes(struct crawl_reading *r, const char *path,
                                struct seen_error *why)
{
    int fd = disk_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    enum seen_code code;
    void *at;

    if (fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    code = is_own(fd) ? write_empty(fd, why)
                      : seen_fail(why, SEEN_RANGE, 0, "is another user's");
    if (code == SEEN_OK) {
        at = mmap(NULL, sizeof *r->notes, PROT_READ | PROT_WRITE, MAP_SHARED,
                  fd, 0);
        if (at == MAP_FAILED)
            code = seen_fail(why, SEEN_IO, 0, "cannot be mapped");
        else
            r->notes = at;
    }
    close(fd);
    return code;
}

enum seen_code crawl_reading_open(struct crawl_reading **out, const char *path,
                                  struct seen_error *why)
{
    struct crawl_reading *r = calloc(1, sizeof *r);
    enum seen_code code;

    *out = NULL;
    if (!r || !(r->path = strdup(path))) {
        free(r);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for notes");
    }
    code = map_notes(r, path, why);
    if (code == SEEN_OK) {
        *out = r;
        return SEEN_OK;
    }
    free(r->path);
    free(r);
    return disk_named(code, path, why);
}

void crawl_reading_close(struct crawl_reading *r)
{
    int before = errno;

    if (!r)
        return;
    munmap(r->notes, sizeof *r->notes);
    unlink(r->path);
    free(r->path);
    free(r);
    errno = before;
}

/* The id comes last: a note that has one is whole. */
void crawl_reading_begin(struct crawl_reading *r, unsigned reader,
                         const struct crawl_page *page, bool alone)
{
    struct note *note;

    if (r && page->robots)
        crawl_reading_begin_robots(r, reader, page->robots, alone);
    if (!r || page->robots)
        return;
    note = &r->notes->note[reader];
    atomic_store_explicit(&note->visit, page->visit, memory_order_relaxed);
    atomic_store_explicit(&note->lo, page->key.lo, memory_order_relaxed);
    atomic_store_explicit(&note->hi, page->key.hi, memory_order_relaxed);
    atomic_store_explicit(&note->alone, alone, memory_order_relaxed);
    atomic_store_explicit(&note->id, page->id, memory_order_release);
}

void crawl_reading_begin_robots(struct crawl_reading *r, unsigned reader,
                                const struct crawl_origin *origin, bool alone)
{
    struct note *note;

    if (!r || origin->len >= CRAWL_READING_ORIGIN)
        return;
    note = &r->notes->note[reader];
    memcpy(note->origin, origin->name, origin->len);
    note->origin[origin->len] = '\0';
    atomic_store_explicit(&note->alone, alone, memory_order_relaxed);
    atomic_store_explicit(&note->id, ROBOTS, memory_order_release);
}

void crawl_reading_end(struct crawl_reading *r, unsigned reader)
{
    if (r)
        atomic_store_explicit(&r->notes->note[reader].id, 0,
                              memory_order_release);
}
