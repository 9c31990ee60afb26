/*
 * classify_source.c - page records from files, from standard input, or from
 * a queue.
 *
 * A batch from a pipe ends when nothing more has come for a moment, and 0.2 s
 * after its first line in any case, so that a slow producer gets its answers
 * soon. A line that is too long is read over, and its first bytes become a
 * record that is set aside.
 *
 * Batches of files are parsed ahead: while one is classified, a thread parses
 * the next one, and folds and hashes its words. That is a third of the work.
 */
#include "classify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../change/page.h"
#include "../lib/disk/clock.h"
#include "../lib/text/span.h"

enum {
    CHUNK = 1 << 18,       /* bytes that are read at a time */
    BATCH_BYTES = 8 << 20, /* of lines in a batch, about */
    MOMENT = 50,           /* ms without input */
    LONGEST = 200,         /* ms that a line of a pipe waits for more */
    WAIT = 1000            /* ms for a message, or for the first line */
};

/* Records, and the lines that they point into. */
struct batch {
    struct change_record *record;
    struct change_page *page; /* of each record */
    size_t n, most;
    struct buffer bytes;
    size_t len; /* bytes of the buffer that are lines of this batch */
    const struct change_rules *rules;
    bool read_pages;
    bool failed; /* there was no memory */
    bool last;   /* no batch follows */
};

struct classify_source {
    struct batch batch[2];
    unsigned now; /* the batch that is classified */

    /* files */
    const struct texts *inputs;
    size_t next; /* file to be opened */
    int fd;
    const char *name;
    struct buffer bytes;
    pthread_t thread; /* parses the other batch */
    bool runs, ahead; /* the thread runs; the other batch is there */
    bool broken;      /* what follows this batch cannot be read */

    /* a queue */
    struct queue *queue;
    char pages[QUEUE_NAME_MOST + 16];
    struct queue_batch messages;
};

static bool make_batch(struct batch *b, const struct classify_settings *s)
{
    b->most = s->batch;
    b->record = calloc(b->most, sizeof *b->record);
    b->page = calloc(b->most, sizeof *b->page);
    b->rules = s->change.rules;
    b->read_pages = !s->rule || strcmp(s->rule, "published") != 0;
    return b->record && b->page;
}

static void free_batch(struct batch *b)
{
    for (size_t i = 0; b->record && i < b->most; i++)
        change_record_clear(&b->record[i]);
    for (size_t i = 0; b->page && i < b->most; i++)
        change_page_clear(&b->page[i]);
    free(b->record);
    free(b->page);
    buffer_clear(&b->bytes);
}

struct classify_source *classify_source_open(const struct classify_settings *s,
                                             struct queue *q)
{
    struct classify_source *x = calloc(1, sizeof *x);

    if (!x || !make_batch(&x->batch[0], s) || !make_batch(&x->batch[1], s)) {
        trouble("no memory for page records");
        classify_source_close(x);
        return NULL;
    }
    x->inputs = &s->inputs;
    x->queue = q;
    x->fd = -1;
    snprintf(x->pages, sizeof x->pages, "%.100s.%llu",
             s->pages ? s->pages : "pages", (unsigned long long)s->shard);
    return x;
}

void classify_source_close(struct classify_source *s)
{
    if (!s)
        return;
    if (s->runs)
        pthread_join(s->thread, NULL);
    free_batch(&s->batch[0]);
    free_batch(&s->batch[1]);
    if (s->fd > 0)
        close(s->fd);
    buffer_clear(&s->bytes);
    queue_batch_clear(&s->messages);
    free(s);
}

/* Without memory for its words, the classifier reads the page itself, and
   says so if it cannot. */
static void read_page(struct batch *b, size_t i)
{
    struct change_record *r = &b->record[i];

    if (!b->read_pages || r->end || *r->fault || r->status == 304 ||
        r->status == 404 || r->status == 410)
        return;
    if (i)
        change_page_pass(&b->page[i - 1], &b->page[i]);
    if (change_page_read(&b->page[i], r, b->rules, NULL) == SEEN_OK)
        r->page = &b->page[i];
}

/* A fault of the record is in the record; the only other is no memory. */
static bool read_record(struct batch *b, struct seen_span line,
                        struct seen_span id)
{
    struct change_record *r = &b->record[b->n];

    if (change_record_read(r, line, NULL) == SEEN_NOMEM)
        return false;
    if (!r->id.len)
        r->id = id;
    read_page(b, b->n++);
    return true;
}

static bool no_memory(void)
{
    trouble("no memory for page records");
    return false;
}

/* --- files --- */

static bool open_next(struct classify_source *s)
{
    const char *path = s->inputs->n ? s->inputs->text[s->next] : "-";

    s->next++;
    s->name = strcmp(path, "-") ? path : "standard input";
    s->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : 0;
    if (s->fd < 0)
        trouble("%s: %s", path, strerror(errno));
    return s->fd >= 0;
}

/* Append a chunk; *end at the end of the file, *none if nothing came within
   `ms`, or a signal did. Regular files are always ready. */
static bool fill(struct classify_source *s, int ms, bool *end, bool *none)
{
    struct pollfd p = { .fd = s->fd, .events = POLLIN };
    char *room;
    ssize_t n;

    *end = false;
    *none = poll(&p, 1, ms) <= 0;
    if (*none)
        return true;
    room = buffer_room(&s->bytes, CHUNK);
    if (!room)
        return no_memory();
    n = read(s->fd, room, CHUNK);
    *none = n < 0 && (errno == EINTR || errno == EAGAIN);
    if (*none)
        return true;
    if (n < 0) {
        trouble("%s: %s", s->name, strerror(errno));
        return false;
    }
    s->bytes.len += (size_t)n;
    *end = n == 0;
    return true;
}

/* Where the lines of this batch end in the buffer, and how many there are. */
struct cut {
    size_t at, lines;
};

static void count_lines(const struct classify_source *s, struct cut *c)
{
    while (c->lines < s->batch[0].most && c->at < BATCH_BYTES) {
        const char *from = s->bytes.bytes + c->at;
        const char *end = c->at < s->bytes.len
                              ? memchr(from, '\n', s->bytes.len - c->at)
                              : NULL;

        if (!end)
            return;
        c->at += (size_t)(end - from) + 1;
        c->lines++;
    }
}

/* The lines up to `len` are a batch; what is behind them is for the next. */
static bool cut_batch(struct classify_source *s, struct batch *b, size_t len)
{
    struct buffer rest = b->bytes;

    rest.len = 0;
    rest.failed = false;
    buffer_bytes(&rest, s->bytes.bytes + len, s->bytes.len - len);
    b->bytes = s->bytes;
    b->len = len;
    s->bytes = rest;
    return !rest.failed || no_memory();
}

static void *parse(void *owner)
{
    struct batch *b = owner;
    struct seen_span rest = { b->bytes.bytes, b->len }, line;
    const struct seen_span none = { "", 0 };

    b->n = 0;
    b->failed = false;
    while (!b->failed && span_line(&rest, &line))
        if (line.len)
            b->failed = !read_record(b, line, none);
    return NULL;
}

/* A line that does not end: keep so much that it is refused, drop the rest. */
static void shorten(struct classify_source *s, size_t at)
{
    if (s->bytes.len - at > CHANGE_RECORD_MOST + CHUNK)
        s->bytes.len = at + CHANGE_RECORD_MOST + 1;
}

static bool is_file(int fd)
{
    struct stat found;

    return fd >= 0 && fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
}

/* How long the lines that are there may wait for more; 0: no longer. */
static int patience(const struct classify_source *s, const struct cut *c,
                    uint64_t *since)
{
    uint64_t now = clock_ms();

    if (!c->lines)
        return WAIT;
    if (!*since)
        *since = now;
    if (is_file(s->fd) || now - *since + MOMENT <= LONGEST)
        return MOMENT;
    return now - *since < LONGEST ? (int)(*since + LONGEST - now) : 0;
}

/* May to open the next file, or to read from it, take long? */
static bool next_is_slow(const struct classify_source *s)
{
    struct stat found;

    return !s->inputs->n || !strcmp(s->inputs->text[s->next], "-") ||
           (stat(s->inputs->text[s->next], &found) == 0 &&
            !S_ISREG(found.st_mode));
}

/* `ahead`: another batch waits to be classified. */
static bool next_lines(struct classify_source *s, struct batch *b, bool ahead)
{
    bool end = false, none = false;
    struct cut c = { .at = 0 };
    uint64_t since = 0;
    int ms;

    b->last = false;
    for (;;) {
        count_lines(s, &c);
        if (s->fd < 0 && s->next >= (s->inputs->n ? s->inputs->n : 1)) {
            b->last = c.at == s->bytes.len;
            return cut_batch(s, b, c.at);
        }
        if (s->fd < 0 && (ahead || c.lines) && next_is_slow(s))
            return cut_batch(s, b, c.at);
        if (s->fd < 0 && !open_next(s))
            return false;
        ms = patience(s, &c, &since);
        if (c.lines == b->most || c.at >= BATCH_BYTES || none || !ms)
            return cut_batch(s, b, c.at);
        shorten(s, c.at);
        if (!fill(s, ms, &end, &none))
            return false;
        if (!end)
            continue;
        if (s->fd > 0)
            close(s->fd);
        s->fd = -1;
        /* the last line of a file may have no end */
        if (s->bytes.len && s->bytes.bytes[s->bytes.len - 1] != '\n')
            buffer_byte(&s->bytes, '\n');
    }
}

/* The batch that is classified next, and a thread for the one behind it. */
static bool next_batch(struct classify_source *s)
{
    struct batch *b = &s->batch[s->now ^ 1], *other = &s->batch[s->now];

    if (s->broken)
        return false;
    if (s->runs)
        pthread_join(s->thread, NULL);
    else if (!s->ahead && !next_lines(s, b, false))
        return false;
    if (!s->runs)
        parse(b);
    s->now ^= 1;
    s->runs = s->ahead = false;
    if (b->failed)
        return no_memory();
    /* Lines of a regular file do not keep a batch waiting. */
    if (b->last || !is_file(s->fd))
        return true;
    s->broken = !next_lines(s, other, true);
    s->ahead = !s->broken;
    s->runs = s->ahead && !pthread_create(&s->thread, NULL, parse, other);
    return true;
}

/* --- a queue --- */

static bool next_messages(struct classify_source *s)
{
    struct batch *b = &s->batch[s->now];
    unsigned most = b->most < 1000 ? (unsigned)b->most : 1000;
    struct seen_error why;

    if (queue_take(s->queue, s->pages, most, WAIT, &s->messages, &why) !=
        SEEN_OK) {
        cmd_place_trouble(s->queue, &why, "");
        return false;
    }
    b->n = 0;
    for (size_t i = 0; i < s->messages.n; i++)
        if (!read_record(b, s->messages.message[i].body,
                         s->messages.message[i].id))
            return no_memory();
    return true;
}

bool classify_source_next(struct classify_source *s,
                          struct change_record **record, size_t *n,
                          bool *ended)
{
    bool good = s->queue ? next_messages(s) : next_batch(s);
    const struct batch *b = &s->batch[s->now];

    *ended = good && !s->queue && b->last;
    *record = b->record;
    *n = good ? b->n : 0;
    return good;
}

bool classify_source_is_empty(struct classify_source *s, bool *empty)
{
    struct seen_error why;
    uint64_t left = 0;

    if (cmd_place_left(s->queue, s->pages, &left, &why) != SEEN_OK) {
        cmd_place_trouble(s->queue, &why, "");
        return false;
    }
    *empty = !left;
    return true;
}

static bool reject(struct classify_source *s, size_t i, struct seen_span why)
{
    char reason[QUEUE_REASON_MOST];
    struct seen_error fault;
    enum seen_code code;

    snprintf(reason, sizeof reason, "%.*s", (int)why.len, why.text);
    code = queue_reject(s->queue, &s->messages.message[i], reason, &fault);
    if (code == SEEN_OK || code == SEEN_ABSENT)
        return true;
    cmd_place_trouble(s->queue, &fault, "");
    return false;
}

bool classify_source_done(struct classify_source *s,
                          const struct change_answers *answers)
{
    struct seen_error why;
    enum seen_code code;
    size_t kept = 0;

    if (!s->queue)
        return true;
    for (size_t i = 0; i < s->messages.n; i++)
        if (answers->answer[i].class != CHANGE_ERROR)
            s->messages.message[kept++] = s->messages.message[i];
        else if (!reject(s, i, answers->answer[i].why))
            return false;
    code = kept ? queue_done(s->queue, s->messages.message, kept, &why)
                : SEEN_OK;
    /* One that somebody else has now gets the same answer there. */
    if (code == SEEN_OK || code == SEEN_ABSENT)
        return true;
    cmd_place_trouble(s->queue, &why, "");
    return false;
}
