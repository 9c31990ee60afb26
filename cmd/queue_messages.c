/*
 * queue_messages.c - seen queue take and seen queue put: messages as lines,
 * for scripts and for consumers in other languages.
 */
#include "queue.h"

#include <errno.h>
#include <openssl/evp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../lib/text/hex.h"
#include "output.h"

enum {
    BATCH = 100,
    ID_BYTES = 16,
    FIRST_LOOK = 50000, /* ns */
    LAST_LOOK = 10000000,
    HOLD = 500000000
};

/* --- take --- */

/* A batch, of which some messages were printed and some of these are done. */
struct printing {
    struct cmd_queue *o;
    const struct queue_batch *b;
    size_t printed, done;
    enum outcome out;
};

/* Those that were printed are done. */
static void acknowledge(struct printing *p)
{
    const struct queue_message *m = p->b->message + p->done;
    size_t n = p->printed - p->done;
    struct seen_error why;

    p->done = p->printed;
    p->o->found += n;
    if (!n || queue_done(p->o->q, m, n, &why) == SEEN_OK)
        return;
    if (why.code == SEEN_ABSENT)
        warning("%s: it will be printed again", why.text);
    else
        p->out = trouble("%s", why.text);
}

/* A reader that takes long: what it has is done, and the rest stays ours. */
static void hold(struct printing *p)
{
    struct seen_error why;

    acknowledge(p);
    if (p->out == YES && queue_keep(p->o->q, &why) != SEEN_OK)
        p->out = trouble("%s", why.text);
}

/*
 * A pipe takes many messages that its reader may never look at: `head -1` ends
 * after the first. So one message at a time is in the pipe, and it counts as
 * printed when the pipe is empty again. Nothing wakes us then: we look after
 * 50 us, and twice as long each time, up to 10 ms. False if the reader has
 * gone, or if the queue has.
 */
static bool reader_has_it(struct printing *p)
{
    struct pollfd end = { .fd = STDOUT_FILENO };
    struct timespec pause = { .tv_nsec = FIRST_LOOK };
    long waited = 0;
    int unread;

    for (;;) {
        bool gone = ppoll(&end, 1, &(struct timespec){ 0 }, NULL) > 0;

        if (ioctl(STDOUT_FILENO, FIONREAD, &unread) || !unread)
            return true;
        if (gone || p->out != YES)
            return false;
        ppoll(&end, 1, &pause, NULL); /* wakes up if the reader goes */
        waited += pause.tv_nsec;
        if (pause.tv_nsec < LAST_LOOK)
            pause.tv_nsec *= 2;
        if (waited >= HOLD) {
            hold(p);
            waited = 0;
        }
    }
}

static bool is_pipe(void)
{
    struct stat it;

    return !fstat(STDOUT_FILENO, &it) && S_ISFIFO(it.st_mode);
}

/* Done is what was read, or is in a file: a message that is only in our memory
   must come again if we are killed. */
static enum outcome print_batch(struct cmd_queue *o,
                                const struct queue_batch *b)
{
    struct printing p = { .o = o, .b = b };
    bool one_by_one = is_pipe(), good = true;

    for (size_t i = 0; i < b->n && good; i++) {
        struct seen_span body = b->message[i].body;

        output_bytes(body.text, body.len);
        if (!body.len || body.text[body.len - 1] != '\n')
            output_text("\n");
        if (!one_by_one)
            continue;
        good = !output_flush() && reader_has_it(&p);
        p.printed += good;
    }
    if (!one_by_one && !output_flush()) /* it is reported */
        p.printed = b->n;
    o->ended = p.printed < b->n;
    acknowledge(&p);
    queue_return(o->q, b->message + p.done, b->n - p.done, NULL);
    return p.out;
}

enum outcome cmd_queue_take(struct cmd_queue *o, char **operand)
{
    uint64_t ms = o->wait_given ? (o->wait_given - 1) * 1000 : 0;
    unsigned wait = ms < UINT32_MAX ? (unsigned)ms : UINT32_MAX;
    struct queue_batch b = { .message = NULL };
    enum outcome out = YES;
    struct seen_error why;
    uint64_t left;

    (void)operand;
    while (out == YES && !o->ended) {
        left = o->most ? o->most - o->found : BATCH;
        if (!left)
            break;
        if (queue_take(o->q, o->name, left < BATCH ? (unsigned)left : BATCH,
                       wait, &b, &why) != SEEN_OK)
            out = trouble("%s", why.text);
        else if (!b.n)
            break;
        else
            out = print_batch(o, &b);
    }
    queue_batch_clear(&b);
    return out == YES && !o->found ? NO : out;
}

/* --- put --- */

struct putting {
    struct queue_message message[BATCH];
    char *line[BATCH];
    char id[BATCH][2 * ID_BYTES + 1];
    size_t n;
};

static bool publish(struct cmd_queue *o, struct putting *p)
{
    struct seen_error why;
    bool good = queue_publish(o->q, o->name, p->message, p->n, &why) ==
                SEEN_OK;

    if (!good && why.code == SEEN_RANGE && why.at < p->n)
        trouble("line %llu: %s", (unsigned long long)(o->found + why.at + 1),
                why.text);
    else if (!good)
        trouble("%s", why.text);
    for (size_t i = 0; i < p->n; i++)
        free(p->line[i]);
    o->found += p->n;
    p->n = 0;
    return good;
}

/* The line is the queue's from here on. */
static bool add_line(struct cmd_queue *o, struct putting *p, char *line,
                     size_t len)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    struct queue_message *m = &p->message[p->n];

    p->line[p->n] = line;
    *m = (struct queue_message){ .body = { line, len } };
    if (o->id) {
        m->id = (struct seen_span){ o->id, strlen(o->id) };
    } else {
        if (!EVP_Digest(line, len, sum, NULL, EVP_sha256(), NULL)) {
            free(line);
            trouble("no memory for an id");
            return false;
        }
        hex_write(p->id[p->n], sum, ID_BYTES);
        m->id = (struct seen_span){ p->id[p->n], 2 * ID_BYTES };
    }
    p->n++;
    return true;
}

enum outcome cmd_queue_put(struct cmd_queue *o, char **operand)
{
    static struct putting p;
    bool good = true;
    uint64_t lines = 0;
    char *line = NULL;
    size_t room = 0;
    ssize_t len;

    (void)operand;
    while (good && (len = getline(&line, &room, stdin)) >= 0) {
        if (len && line[len - 1] == '\n')
            len--;
        if (++lines > 1 && o->id) {
            trouble("--id is for one message, and there are more lines");
            good = false;
            break;
        }
        good = add_line(o, &p, line, (size_t)len);
        line = NULL;
        room = 0;
        if (good && p.n == BATCH)
            good = publish(o, &p);
    }
    free(line);
    if (good && ferror(stdin)) {
        trouble("standard input: %s", strerror(errno));
        good = false;
    }
    if (good && p.n)
        good = publish(o, &p);
    while (p.n)
        free(p.line[--p.n]);
    if (!good)
        return TROUBLE;
    return o->found ? YES : NO;
}
