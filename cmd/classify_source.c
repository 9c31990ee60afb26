/*
 * classify_source.c - page records from files, from standard input, or from
 * a queue.
 *
 * A batch from a pipe ends when nothing more has come for a moment, so that a
 * slow producer gets its answers soon. A line that is too long is read over,
 * and its first bytes become a record that is set aside.
 */
#include "classify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/text/span.h"

enum {
    CHUNK = 1 << 18,       /* bytes that are read at a time */
    BATCH_BYTES = 8 << 20, /* of lines in a batch, about */
    MOMENT = 50,           /* ms without input */
    WAIT = 1000            /* ms for a message */
};

struct classify_source {
    struct change_record *record;
    size_t n, most;

    /* files */
    const struct texts *inputs;
    size_t next; /* file to be opened */
    int fd;
    const char *name;
    struct buffer bytes;
    size_t used;  /* bytes of the buffer that the last batch had */
    bool over;    /* the line that is being read is too long */
    bool ended;

    /* a queue */
    struct queue *queue;
    char pages[QUEUE_NAME_MOST + 16];
    struct queue_batch batch;
};

struct classify_source *classify_source_open(const struct classify_settings *s,
                                             struct queue *q)
{
    struct classify_source *x = calloc(1, sizeof *x);

    if (x) {
        x->most = s->batch;
        x->record = calloc(x->most, sizeof *x->record);
        x->inputs = &s->inputs;
        x->queue = q;
        x->fd = -1;
    }
    if (!x || !x->record) {
        trouble("no memory for page records");
        free(x);
        return NULL;
    }
    snprintf(x->pages, sizeof x->pages, "%.100s.%llu",
             s->pages ? s->pages : "pages", (unsigned long long)s->shard);
    return x;
}

void classify_source_close(struct classify_source *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->most; i++)
        change_record_clear(&s->record[i]);
    free(s->record);
    if (s->fd > 0)
        close(s->fd);
    buffer_clear(&s->bytes);
    queue_batch_clear(&s->batch);
    free(s);
}

/* A fault of the record is in the record; the only other is no memory. */
static bool read_record(struct classify_source *s, struct seen_span line,
                        struct seen_span id)
{
    struct change_record *r = &s->record[s->n];
    struct seen_error why;
    enum seen_code code = change_record_read(r, line, &why);

    if (code == SEEN_NOMEM) {
        trouble("%s", why.text);
        return false;
    }
    if (!r->id.len)
        r->id = id;
    s->n++;
    return true;
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

/* Does more come within a moment? Regular files are always ready. */
static bool is_ready(int fd, int ms)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, ms) != 0;
}

/* Append a chunk; *end at the end of the file, *none if nothing came. */
static bool fill(struct classify_source *s, bool wait, bool *end, bool *none)
{
    char *room;
    ssize_t n;

    *end = *none = false;
    if (!wait && !is_ready(s->fd, MOMENT)) {
        *none = true;
        return true;
    }
    room = buffer_room(&s->bytes, CHUNK);
    if (!room) {
        trouble("no memory for page records");
        return false;
    }
    do
        n = read(s->fd, room, CHUNK);
    while (n < 0 && errno == EINTR && wait && !s->ended);
    if (n < 0 && errno == EINTR) {
        *none = true;
        return true;
    }
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
    while (c->lines < s->most && c->at < BATCH_BYTES) {
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

static bool read_lines(struct classify_source *s, size_t len)
{
    struct seen_span rest = { s->bytes.bytes, len }, line;
    const struct seen_span none = { "", 0 };

    while (span_line(&rest, &line))
        if (line.len && !read_record(s, line, none))
            return false;
    s->used = len;
    return true;
}

/* A line that does not end: keep so much that it is refused, drop the rest. */
static void shorten(struct classify_source *s, size_t at)
{
    if (s->bytes.len - at > CHANGE_RECORD_MOST + CHUNK)
        s->bytes.len = at + CHANGE_RECORD_MOST + 1;
}

static bool next_lines(struct classify_source *s, bool *ended)
{
    bool end = false, none = false;
    struct cut c = { .at = 0 };

    buffer_drop(&s->bytes, s->used);
    s->used = 0;
    for (;;) {
        if (s->fd < 0 && s->next >= (s->inputs->n ? s->inputs->n : 1)) {
            *ended = true;
            return read_lines(s, s->bytes.len);
        }
        if (s->fd < 0 && !open_next(s))
            return false;
        count_lines(s, &c);
        if (c.lines == s->most || c.at >= BATCH_BYTES || (none && c.lines))
            return read_lines(s, c.at);
        shorten(s, c.at);
        if (!fill(s, !c.lines, &end, &none))
            return false;
        if (none && !c.lines)
            return true;
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

/* --- a queue --- */

static bool next_messages(struct classify_source *s, bool *ended)
{
    unsigned most = s->most < 1000 ? (unsigned)s->most : 1000;
    struct seen_error why;

    if (queue_take(s->queue, s->pages, most, WAIT, &s->batch, &why) !=
        SEEN_OK) {
        cmd_place_trouble(s->queue, &why, "");
        return false;
    }
    for (size_t i = 0; i < s->batch.n; i++)
        if (!read_record(s, s->batch.message[i].body, s->batch.message[i].id))
            return false;
    *ended = false;
    return true;
}

bool classify_source_next(struct classify_source *s,
                          struct change_record **record, size_t *n,
                          bool *ended)
{
    bool good;

    *ended = false;
    s->n = 0;
    good = s->queue ? next_messages(s, ended) : next_lines(s, ended);
    *record = s->record;
    *n = good ? s->n : 0;
    return good;
}

static bool reject(struct classify_source *s, size_t i, struct seen_span why)
{
    char reason[QUEUE_REASON_MOST];
    struct seen_error fault;
    enum seen_code code;

    snprintf(reason, sizeof reason, "%.*s", (int)why.len, why.text);
    code = queue_reject(s->queue, &s->batch.message[i], reason, &fault);
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
    for (size_t i = 0; i < s->batch.n; i++)
        if (answers->answer[i].class != CHANGE_ERROR)
            s->batch.message[kept++] = s->batch.message[i];
        else if (!reject(s, i, answers->answer[i].why))
            return false;
    code = kept ? queue_done(s->queue, s->batch.message, kept, &why) : SEEN_OK;
    /* One that somebody else has now gets the same answer there. */
    if (code == SEEN_OK || code == SEEN_ABSENT)
        return true;
    cmd_place_trouble(s->queue, &why, "");
    return false;
}
