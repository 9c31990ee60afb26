/*
 * dump.c - whole filters, in pieces: BF.SCANDUMP and BF.LOADCHUNK.
 *
 *     it = 0
 *     do  it, piece = SCANDUMP a it        while it is not 0,
 *         LOADCHUNK b it piece             as RedisBloom's users do it
 *
 * The pieces are, put together, a file of doc/format.md, after a first one
 * of one line that says how long it is. They mean nothing to RedisBloom.
 * The iterator says which transfer it is, and how far it has come with the
 * piece that it comes with:
 *
 *      62        44 43                    0
 *     +------------+-----------------------+
 *     |  transfer  |  1 + bytes of the file |
 *     +------------+-----------------------+
 *
 * A dump is of the moment when it began: of a file that is being written to
 * a copy is made, and any file is held open, so that replacing it does no
 * harm. What is loaded is a file without a name until it is whole and all of
 * its checksums are right. Of each there are SLOTS at most, and the one that
 * was longest unused makes room.
 */
#define _GNU_SOURCE /* O_TMPFILE, asprintf */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "command.h"

enum { SLOTS = 8, PIECE = 1 << 20, AT_BITS = 44, HEAD = 64 };

#define AT_MASK ((INT64_C(1) << AT_BITS) - 1)
#define IDS (INT64_C(1) << (62 - AT_BITS))

static const char head_line[] = "seen dump 1 ";

/* A file on its way, out or in. */
struct slot {
    int fd; /* -1: free */
    int64_t id;
    int64_t size, have;
    uint64_t used; /* counts up */
    char *name;    /* of what is loaded */
    bool busy;     /* a thread is at it */
};

static struct {
    pthread_mutex_t lock;
    uint64_t clock;
    int64_t ids;
    struct slot out[SLOTS], in[SLOTS];
    bool ready;
} transfers = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- slots: the lock is held --- */

static void slots_ready(void)
{
    if (transfers.ready)
        return;
    for (int i = 0; i < SLOTS; i++)
        transfers.out[i].fd = transfers.in[i].fd = -1;
    transfers.ready = true;
}

static void slot_clear(struct slot *s)
{
    if (s->fd >= 0)
        close(s->fd);
    free(s->name);
    *s = (struct slot){ .fd = -1 };
}

/* One that is free, or was not used for longest; NULL: all are at work. */
static struct slot *slot_take(struct slot *all)
{
    struct slot *best = NULL;

    slots_ready();
    for (int i = 0; i < SLOTS; i++)
        if (!all[i].busy && (!best || all[i].used < best->used))
            best = &all[i];
    if (!best)
        return NULL;
    slot_clear(best);
    transfers.ids = transfers.ids % (IDS - 1) + 1;
    best->id = transfers.ids;
    best->used = ++transfers.clock;
    best->busy = true;
    return best;
}

static struct slot *slot_by_id(int64_t id)
{
    slots_ready();
    for (int i = 0; i < SLOTS; i++)
        if (transfers.out[i].fd >= 0 && transfers.out[i].id == id)
            return &transfers.out[i];
    return NULL;
}

static struct slot *slot_by_name(const char *name)
{
    slots_ready();
    for (int i = 0; i < SLOTS; i++)
        if (transfers.in[i].name && !strcmp(transfers.in[i].name, name))
            return &transfers.in[i];
    return NULL;
}

/* Lend a slot to this thread, unless another has it. */
static bool slot_lend(struct slot *s)
{
    if (!s || s->busy)
        return false;
    s->busy = true;
    s->used = ++transfers.clock;
    return true;
}

/* Give it back; `over`: nothing more comes. */
static void slot_return(struct slot *s, bool over)
{
    pthread_mutex_lock(&transfers.lock);
    s->busy = false;
    if (over)
        slot_clear(s);
    pthread_mutex_unlock(&transfers.lock);
}

/* --- the task of both --- */

struct transfer {
    struct task task;
    struct library *library;
    char *name, *path;
    int64_t at; /* the iterator: what came, then what goes */
    char *piece;
    size_t len;
    char fault[200]; /* "": none */
};

static void transfer_clear(struct task *t)
{
    struct transfer *x = (struct transfer *)t;

    free(x->name);
    free(x->path);
    free(x->piece);
    free(x);
}

static void fail(struct transfer *x, const char *what, const char *why)
{
    snprintf(x->fault, sizeof x->fault, "%s%s%s", what, *why ? ": " : "", why);
}

static struct transfer *transfer_new(struct call *c, const char *path,
                                     int64_t at)
{
    struct transfer *x = calloc(1, sizeof *x);

    if (x) {
        x->library = c->server->library;
        x->name = word_copy(c->word[1]);
        x->path = path ? strdup(path) : NULL;
        x->at = at;
        x->task.clear = transfer_clear;
    }
    if (!x || !x->name || (path && !x->path)) {
        if (x)
            transfer_clear(&x->task);
        resp_error(c->out, "ERR no memory for a piece");
        return NULL;
    }
    return x;
}

/* --- out --- */

/* A copy of what the file and its journal say now, as a file of no name. */
static int snapshot(struct transfer *x)
{
    struct seen_access how = { .secret = library_secret(x->library) };
    struct seen_filter *f = NULL;
    struct seen_error why;
    enum seen_code code;
    char *path = NULL;
    int fd = -1;

    code = seen_store_load(&f, x->path, NULL, &why);
    if (code == SEEN_MISMATCH && how.secret)
        code = seen_store_load(&f, x->path, &how, &why);
    if (code == SEEN_OK &&
        asprintf(&path, "%s.%ld.dump", x->path, (long)gettid()) < 0) {
        path = NULL;
        code = seen_fail(&why, SEEN_NOMEM, 0, "no memory for a path");
    }
    if (code == SEEN_OK)
        code = seen_store_save(f, path, &why);
    if (code == SEEN_OK) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            code = seen_fail(&why, SEEN_IO, 0, "cannot be read");
        unlink(path);
    }
    if (code != SEEN_OK)
        fail(x, "could not dump", why.text);
    seen_filter_free(f);
    free(path);
    return fd;
}

/* Is anybody writing to it? Then the file alone is not all. */
static bool written(struct transfer *x)
{
    struct writer *w = writer_peek(x->library, x->path);
    char *journal = NULL;
    bool is = w != NULL;

    if (w)
        writer_put(x->library, w);
    else if (asprintf(&journal, "%s.journal", x->path) >= 0)
        is = !access(journal, F_OK);
    free(journal);
    return is;
}

static void dump_begin(struct transfer *x)
{
    int fd = written(x) ? snapshot(x) : open(x->path, O_RDONLY | O_CLOEXEC);
    struct slot *s = NULL;
    struct stat it;

    if (fd < 0 || fstat(fd, &it)) {
        if (!*x->fault)
            fail(x, "could not dump", strerror(errno));
        if (fd >= 0)
            close(fd);
        return;
    }
    x->piece = malloc(HEAD);
    pthread_mutex_lock(&transfers.lock);
    if (x->piece)
        s = slot_take(transfers.out);
    if (s) {
        s->fd = fd;
        s->size = it.st_size;
        s->busy = false;
        x->at = s->id << AT_BITS | 1;
        x->len = (size_t)snprintf(x->piece, HEAD, "%s%" PRId64 "\n", head_line,
                                  s->size);
    }
    pthread_mutex_unlock(&transfers.lock);
    if (!s) {
        close(fd);
        fail(x, "too many dumps at once", "");
    }
}

static void dump_piece(struct transfer *x)
{
    const int64_t from = (x->at & AT_MASK) - 1;
    struct slot *s;
    bool over = false;
    ssize_t n = 0;

    pthread_mutex_lock(&transfers.lock);
    s = slot_by_id(x->at >> AT_BITS);
    if (!slot_lend(s))
        s = NULL;
    pthread_mutex_unlock(&transfers.lock);
    if (!s || from < 0 || from > s->size) {
        fail(x, "invalid iterator: begin again with 0", "");
        if (s)
            slot_return(s, false);
        return;
    }
    x->piece = malloc(PIECE);
    if (x->piece && from < s->size)
        n = pread(s->fd, x->piece, PIECE, from);
    if (!x->piece || n < 0 || (!n && from < s->size)) {
        fail(x, "could not dump", n < 0 ? strerror(errno) : "no more of it");
    } else if (!n) { /* that was all */
        over = true;
        x->at = 0;
    }
    x->len = n > 0 ? (size_t)n : 0;
    x->at += n > 0 ? n : 0;
    slot_return(s, over);
}

static void dump_work(struct task *t)
{
    struct transfer *x = (struct transfer *)t;

    if (x->at)
        dump_piece(x);
    else
        dump_begin(x);
}

static void dump_answer(struct task *t, struct call *c)
{
    const struct transfer *x = (struct transfer *)t;

    if (*x->fault) {
        resp_error(c->out, "ERR %s", x->fault);
        return;
    }
    resp_array(c->out, 2);
    resp_number(c->out, x->at);
    resp_bulk(c->out, x->piece, x->len);
}

void bf_scandump(struct call *c)
{
    struct transfer *x;
    int64_t at;
    bool told;
    struct archive *a = call_archive(c, c->word[1], &told);

    if (told)
        return;
    if (!a) {
        resp_error(c->out, "ERR not found");
        return;
    }
    if (!word_number(c->word[2], &at) || at < 0) {
        resp_error(c->out, "ERR Second argument must be numeric");
        return;
    }
    x = transfer_new(c, a->path, at);
    if (!x)
        return;
    x->task.work = dump_work;
    x->task.answer = dump_answer;
    task_start(c, &x->task);
}

/* --- in --- */

static void load_begin(struct transfer *x)
{
    const char *folder = library_folder(x->library, 0);
    char line[HEAD], *end = line;
    struct slot *s;
    long long size = 0;
    int fd;

    if (x->len < sizeof line) {
        memcpy(line, x->piece, x->len);
        line[x->len] = '\0';
        if (!strncmp(line, head_line, sizeof head_line - 1))
            size = strtoll(line + sizeof head_line - 1, &end, 10);
    }
    if (*end != '\n' || size <= 0 || size > AT_MASK) {
        fail(x, "received bad data: no first piece of a dump of ours", "");
        return;
    }
    if (!folder) {
        fail(x, "the server has no folder for new filters", "");
        return;
    }
    fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        fail(x, "could not load", strerror(errno));
        return;
    }
    pthread_mutex_lock(&transfers.lock);
    s = slot_by_name(x->name);
    if (s && !s->busy) /* begun and not ended: it begins again */
        slot_clear(s);
    s = s && s->busy ? NULL : slot_take(transfers.in);
    if (s) {
        s->fd = fd;
        s->size = size;
        s->name = x->name;
        s->busy = false;
        x->name = NULL;
    }
    pthread_mutex_unlock(&transfers.lock);
    if (!s) {
        close(fd);
        fail(x, "too many loads at once", "");
    }
}

/*
 * All of it is there: what it says is believed only if it is right. It gets
 * a name for the moment in which it is loaded.
 */
static void load_end(struct transfer *x, struct slot *s)
{
    struct span name = { x->name, strlen(x->name) };
    struct seen_filter *f = NULL;
    struct seen_error why;
    enum seen_code code = SEEN_OK;
    char here[48], *path = NULL;

    snprintf(here, sizeof here, "/proc/self/fd/%d", s->fd);
    if (asprintf(&path, "%s/.load-%ld-%" PRId64, library_folder(x->library, 0),
                 (long)getpid(), s->id) < 0)
        path = NULL;
    if (!path || linkat(AT_FDCWD, here, AT_FDCWD, path, AT_SYMLINK_FOLLOW))
        code = seen_fail(&why, SEEN_IO, 0, "it cannot be named");
    if (code == SEEN_OK) {
        code = seen_store_load(&f, path, NULL, &why);
        unlink(path);
    }
    if (code == SEEN_OK)
        code = library_import(x->library, name, f, &why);
    if (code != SEEN_OK)
        fail(x, "received bad data", why.text);
    seen_filter_free(f);
    free(path);
}

static void load_piece(struct transfer *x)
{
    const int64_t to = (x->at & AT_MASK) - 1;
    struct slot *s;
    bool over = false;
    size_t done = 0;

    pthread_mutex_lock(&transfers.lock);
    s = slot_by_name(x->name);
    if (!slot_lend(s))
        s = NULL;
    pthread_mutex_unlock(&transfers.lock);
    if (!s) {
        fail(x, "not found: no load of that name was begun", "");
        return;
    }
    if (to > s->size || to - (int64_t)x->len != s->have) {
        fail(x, "invalid offset: pieces come one after the other", "");
        slot_return(s, false);
        return;
    }
    while (done < x->len) {
        ssize_t n = pwrite(s->fd, x->piece + done, x->len - done,
                           s->have + (int64_t)done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            fail(x, "could not load", strerror(errno));
            break;
        }
        done += (size_t)n;
    }
    if (!*x->fault) {
        s->have = to;
        over = to == s->size;
        if (over)
            load_end(x, s);
    }
    slot_return(s, over);
}

static void load_work(struct task *t)
{
    struct transfer *x = (struct transfer *)t;

    if ((x->at & AT_MASK) == 1)
        load_begin(x);
    else
        load_piece(x);
}

static void load_answer(struct task *t, struct call *c)
{
    const struct transfer *x = (struct transfer *)t;

    if (*x->fault)
        resp_error(c->out, "ERR %s", x->fault);
    else
        resp_status(c->out, "OK");
}

void bf_loadchunk(struct call *c)
{
    const char *fault = library_name_fault(c->word[1]);
    struct transfer *x;
    int64_t at;

    if (!word_number(c->word[2], &at) || at < 0) {
        resp_error(c->out, "ERR Second argument must be numeric");
        return;
    }
    loop_look(c->loop);
    if (shelf_find(c->loop->shelf, c->word[1])) {
        resp_error(c->out, "ERR item exists");
        return;
    }
    if (fault) {
        resp_error(c->out, "ERR %s", fault);
        return;
    }
    x = transfer_new(c, NULL, at);
    if (!x)
        return;
    x->len = c->word[3].len;
    x->piece = malloc(x->len ? x->len : 1);
    if (!x->piece) {
        transfer_clear(&x->task);
        resp_error(c->out, "ERR no memory for a piece");
        return;
    }
    memcpy(x->piece, c->word[3].text, x->len);
    x->task.work = load_work;
    x->task.answer = load_answer;
    task_start(c, &x->task);
}
