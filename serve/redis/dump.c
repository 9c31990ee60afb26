/*
 * dump.c - whole filters, in pieces: SCANDUMP and LOADCHUNK of BF and CF.
 *
 *     at = 0
 *     do  at, piece = SCANDUMP a at        while at is not 0,
 *         LOADCHUNK b at piece             as RedisBloom's users do it
 *
 * The first piece is a line with the length of a file of doc/format.md, the
 * others are its bytes: these pieces are for our own servers, and mean
 * nothing to RedisBloom. The iterator that comes with a piece says which
 * transfer it is of, and how far that has come with it:
 *
 *       62   61        44 43                     0
 *     +-----+------------+------------------------+
 *     | end |  transfer  |  1 + bytes of the file |
 *     +-----+------------+------------------------+
 *
 * With the last piece comes an iterator that says so, and that always gives 0
 * and an empty string, however often it is asked for. Any other iterator of a
 * transfer that has gone is an error: 0 would end a copy that is not whole.
 *
 * A dump is of the moment in which it began: the filter is copied, since even a
 * file that nobody writes to may be opened by a writer before the last piece is
 * asked for. A load goes to a file without a name until it is complete and all
 * checksums are right, and becomes an archive only if there is none of that
 * name by then. There are at most TRANSFERS; the one that was longest unused is
 * given up for a new one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../lib/disk/disk.h"
#include "command.h"

enum { TRANSFERS = 16, PIECE = 1 << 20, AT_BITS = 44, HEAD = 64 };

#define AT_MASK ((INT64_C(1) << AT_BITS) - 1)
#define IDS (INT64_C(1) << (62 - AT_BITS))
#define END (INT64_C(1) << 62)
#define HEAD_LINE "seen dump 1 "

/* --- transfers, of all connections --- */

struct redis_transfer {
    int64_t id; /* 0: none */
    char *name; /* of the archive that is loaded; NULL: a dump */
    int fd;
    int64_t size, have;
    uint64_t used; /* counts up */
    bool busy;     /* a thread is at it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct redis_transfer transfers[TRANSFERS];
static uint64_t uses;

static void transfer_end(struct redis_transfer *t)
{
    if (t->id)
        close(t->fd);
    free(t->name);
    memset(t, 0, sizeof *t);
}

/* Remember a file, which then belongs to the transfer; 0 if all are busy, or
   the archive is being loaded by another thread. */
static int64_t transfer_begin(int fd, int64_t size, const char *name)
{
    struct redis_transfer *best = NULL;
    static int64_t ids;
    int64_t id = 0;

    pthread_mutex_lock(&lock);
    for (struct redis_transfer *t = transfers; t < transfers + TRANSFERS;
         t++) {
        if (name && t->name && !strcmp(t->name, name)) {
            best = t; /* begun and not ended: it begins again */
            break;
        }
        if (!t->busy && (!best || t->used < best->used))
            best = t;
    }
    if (best && !best->busy) {
        transfer_end(best);
        id = ids = ids % (IDS - 1) + 1;
        *best = (struct redis_transfer){ .id = id,
                                         .name = name ? strdup(name) : NULL,
                                         .fd = fd,
                                         .size = size,
                                         .used = ++uses };
    }
    pthread_mutex_unlock(&lock);
    return id;
}

/* A dump by its id, or a load by its name, for this thread alone; or NULL. */
static struct redis_transfer *transfer_get(int64_t id, const char *name)
{
    struct redis_transfer *found = NULL;

    pthread_mutex_lock(&lock);
    for (struct redis_transfer *t = transfers; t < transfers + TRANSFERS; t++)
        if (t->id && !t->busy &&
            (name ? t->name && !strcmp(t->name, name)
                  : !t->name && t->id == id))
            found = t;
    if (found) {
        found->busy = true;
        found->used = ++uses;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void transfer_put(struct redis_transfer *t, bool ended)
{
    pthread_mutex_lock(&lock);
    t->busy = false;
    if (ended)
        transfer_end(t);
    pthread_mutex_unlock(&lock);
}

/* --- the task of both commands --- */

struct redis_piece {
    struct redis_task task;
    const struct redis_command *command;
    struct archive_set *archives;
    char *name, *path; /* the path of an archive that is dumped */
    int64_t at;        /* the iterator: what came, then what goes */
    struct buffer bytes;
    const char *what; /* went wrong; NULL: nothing */
    struct seen_error why;
};

static void piece_clear(struct redis_task *t)
{
    struct redis_piece *p = (struct redis_piece *)t;

    free(p->name);
    free(p->path);
    buffer_clear(&p->bytes);
    free(p);
}

static void fail(struct redis_piece *p, const char *what)
{
    p->what = what;
    p->why.code = SEEN_IO;
    snprintf(p->why.text, sizeof p->why.text, "%s", strerror(errno));
}

static void piece_answer(struct redis_task *t, struct redis_call *c)
{
    const struct redis_piece *p = (struct redis_piece *)t;

    if (p->what) {
        resp_error(c->out, p->why.code ? "ERR %s: %s" : "ERR %s", p->what,
                   p->why.text);
    } else if (p->path) {
        resp_array(c->out, 2);
        resp_number(c->out, p->at);
        resp_bulk(c->out, p->bytes.bytes ? p->bytes.bytes : "", p->bytes.len);
    } else {
        resp_status(c->out, "OK");
    }
}

static void start(struct redis_call *c, const char *path, int64_t at,
                  struct seen_span bytes, void (*work)(struct redis_task *t))
{
    struct redis_piece *p = calloc(1, sizeof *p);

    if (p) {
        p->task.work = work;
        p->task.answer = piece_answer;
        p->task.clear = piece_clear;
        p->command = c->command;
        p->archives = c->server->archives;
        p->name = strndup(c->word[1].text, c->word[1].len);
        p->path = path ? strdup(path) : NULL;
        p->at = at;
        buffer_span(&p->bytes, bytes);
    }
    if (!p || !p->name || (path && !p->path) || p->bytes.failed) {
        if (p)
            piece_clear(&p->task);
        resp_error(c->out, "ERR no memory for a piece");
        return;
    }
    redis_task_start(c, &p->task);
}

static void bad_iterator(struct redis_call *c)
{
    resp_error(c->out, strncmp(c->command->name, "cf.", 3)
                           ? "ERR Second argument must be numeric"
                           : "ERR Invalid position");
}

/* --- out --- */

/* A copy of what the file and its journal say now, as a file of no name. */
static int snapshot(struct redis_piece *p)
{
    struct seen_access access = { .secret = archive_set_secret(p->archives) };
    struct seen_filter *f = NULL;
    enum seen_code code;
    char *path = NULL;
    int fd = -1;

    code = seen_store_load(&f, p->path, NULL, &p->why);
    if (code == SEEN_MISMATCH && access.secret)
        code = seen_store_load(&f, p->path, &access, &p->why);
    if (code == SEEN_OK &&
        asprintf(&path, "%s.%ld.dump", p->path, (long)gettid()) >= 0) {
        code = seen_store_save(f, path, &p->why);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        unlink(path);
        free(path);
    }
    seen_filter_free(f);
    return code == SEEN_OK ? fd : -1;
}

static void dump_begin(struct redis_piece *p)
{
    int fd = snapshot(p);
    struct stat file = { .st_size = 0 };
    int64_t id = 0;

    if (fd < 0 && p->why.code) {
        p->what = "could not dump";
    } else if (fd < 0 || fstat(fd, &file)) {
        fail(p, "could not dump");
    } else {
        id = transfer_begin(fd, file.st_size, NULL);
        p->what = id ? NULL : "too many dumps at once";
    }
    if (fd >= 0 && !id)
        close(fd);
    p->at = id << AT_BITS | 1;
    buffer_format(&p->bytes, HEAD_LINE "%" PRId64 "\n", (int64_t)file.st_size);
}

static void dump_next(struct redis_piece *p)
{
    struct redis_transfer *t = transfer_get((p->at & ~END) >> AT_BITS, NULL);
    const int64_t from = (p->at & AT_MASK) - 1;
    char *to;
    size_t n;

    if (p->at & END) {
        p->at = 0;
        if (t)
            transfer_put(t, true);
        return;
    }
    if (!t || from < 0 || from >= t->size) {
        p->what = "invalid iterator: begin again with 0";
        if (t)
            transfer_put(t, false);
        return;
    }
    n = (size_t)(t->size - from < PIECE ? t->size - from : PIECE);
    to = buffer_room(&p->bytes, n);
    if (!to || disk_read(t->fd, to, n, (uint64_t)from, &p->why) != SEEN_OK)
        p->what = "could not dump";
    p->bytes.len = n;
    p->at += (int64_t)n;
    if (from + (int64_t)n == t->size)
        p->at |= END;
    transfer_put(t, false);
}

static void dump_work(struct redis_task *t)
{
    struct redis_piece *p = (struct redis_piece *)t;

    if (p->at)
        dump_next(p);
    else
        dump_begin(p);
}

void redis_scandump(struct redis_call *c)
{
    int64_t at;
    bool replied;
    struct archive *a = redis_filter(c, &replied);

    if (replied)
        return;
    if (!a)
        resp_error(c->out, "ERR not found");
    else if (a->remote)
        resp_error(c->out, "ERR archive '%s': its cells are on another server",
                   a->name);
    else if (!redis_integer(c->word[2], &at) || at < 0)
        bad_iterator(c);
    else
        start(c, a->path, at, (struct seen_span){ "", 0 }, dump_work);
}

/* --- in --- */

static void load_begin(struct redis_piece *p)
{
    const char *folder = archive_folder(p->archives, 0);
    char line[HEAD + 1];
    int64_t size = 0, id = 0;
    int fd, end = 0;

    snprintf(line, sizeof line, "%.*s", (int)p->bytes.len, p->bytes.bytes);
    if (sscanf(line, HEAD_LINE "%" SCNd64 "\n%n", &size, &end) != 1 ||
        (size_t)end != p->bytes.len || size <= 0 || size > AT_MASK) {
        p->what = "received bad data: not the first piece of a dump";
        return;
    }
    if (!folder) {
        p->what = "the server has no folder for new filters";
        return;
    }
    fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        fail(p, "could not load");
        return;
    }
    id = transfer_begin(fd, size, p->name);
    if (!id) {
        close(fd);
        p->what = "too many loads at once";
    }
}

/* The file is complete: it becomes an archive if all checksums are right. It
   has a name only while it is loaded. */
static void load_end(struct redis_piece *p, const struct redis_transfer *t)
{
    struct seen_filter *f = NULL;
    enum seen_code code = SEEN_IO;
    char here[48], *path = NULL;

    snprintf(here, sizeof here, "/proc/self/fd/%d", t->fd);
    if (asprintf(&path, "%s/.load-%ld-%" PRId64,
                 archive_folder(p->archives, 0), (long)getpid(), t->id) < 0)
        path = NULL;
    if (path && !linkat(AT_FDCWD, here, AT_FDCWD, path, AT_SYMLINK_FOLLOW)) {
        code = seen_store_load(&f, path, NULL, &p->why);
        unlink(path);
    }
    if (code == SEEN_OK && !redis_is_type(p->command, f))
        code = seen_fail(&p->why, SEEN_MISMATCH, 0,
                         "a filter of the other type");
    if (code == SEEN_OK)
        code = archive_import(p->archives, span_of(p->name), f, &p->why);
    if (code == SEEN_EXISTS || code == SEEN_BUSY) {
        p->what = "item exists";
        p->why.code = SEEN_OK;
    } else if (code != SEEN_OK && p->why.code)
        p->what = "received bad data";
    else if (code != SEEN_OK)
        fail(p, "could not load");
    seen_filter_free(f);
    free(path);
}

static void load_next(struct redis_piece *p)
{
    const int64_t to = (p->at & AT_MASK) - 1;
    struct redis_transfer *t = transfer_get(0, p->name);
    bool ended = false;

    if (!t) {
        p->what = "not found: no load of that name was begun";
        return;
    }
    if (to > t->size || to - (int64_t)p->bytes.len != t->have) {
        p->what = "invalid offset: pieces come one after the other";
    } else if (disk_write(t->fd, p->bytes.bytes, p->bytes.len,
                          (uint64_t)t->have, &p->why) != SEEN_OK) {
        p->what = "could not load";
    } else {
        t->have = to;
        ended = to == t->size;
        if (ended)
            load_end(p, t);
    }
    transfer_put(t, ended);
}

static void load_work(struct redis_task *t)
{
    struct redis_piece *p = (struct redis_piece *)t;

    if ((p->at & AT_MASK) == 1)
        load_begin(p);
    else
        load_next(p);
}

void redis_loadchunk(struct redis_call *c)
{
    const char *fault = archive_name_fault(c->server->archives, c->word[1]);
    struct archive *a = archive_view_find(c->loop->view, c->word[1]);
    int64_t at;

    if (!redis_integer(c->word[2], &at) || at < 0)
        bad_iterator(c);
    else if (a && a->filter && !redis_is_type(c->command, a->filter))
        redis_bad_type(c);
    else if (a)
        resp_error(c->out, "ERR item exists");
    else if (fault)
        resp_error(c->out, "ERR %s", fault);
    else
        start(c, NULL, at & ~END, c->word[3], load_work);
}
