/*
 * queue_messages.c - seen queue take and seen queue put: messages as lines,
 * for scripts and for consumers in other languages.
 */
#include "queue.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/hex.h"
#include "output.h"

enum { BATCH = 100, ID_BYTES = 16 };

/* --- take --- */

/* Done is what was written: a message that is only in our memory must come
   again if we are killed. */
static enum outcome print_batch(struct cmd_queue *o,
                                const struct queue_batch *b)
{
    struct seen_error why;

    for (size_t i = 0; i < b->n; i++) {
        struct seen_span body = b->message[i].body;

        output_bytes(body.text, body.len);
        if (!body.len || body.text[body.len - 1] != '\n')
            output_text("\n");
    }
    if (output_flush()) { /* finish() reports it */
        queue_return(o->q, b->message, b->n, NULL);
        return YES;
    }
    if (queue_done(o->q, b->message, b->n, &why) == SEEN_OK)
        return YES;
    if (why.code != SEEN_ABSENT)
        return trouble("%s", why.text);
    warning("%s: it will be printed again", why.text);
    return YES;
}

enum outcome cmd_queue_take(struct cmd_queue *o, char **operand)
{
    unsigned wait = o->wait < UINT32_MAX ? (unsigned)o->wait : UINT32_MAX;
    struct queue_batch b = { .message = NULL };
    enum outcome out = YES;
    struct seen_error why;
    uint64_t left;

    (void)operand;
    while (out == YES && !output_dead()) {
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
        o->found += b.n;
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
