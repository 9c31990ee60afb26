/* dedup_lines.c - a ring of blocks between two threads. */
#include "dedup_lines.h"

#include <pthread.h>
#include <stdlib.h>

enum { BLOCKS = 4 };

struct dedup_lines {
    dedup_take *take;
    void *to;
    struct dedup_block block[BLOCKS]; /* number i is block[i % BLOCKS] */
    uint64_t added;                   /* the block that is being filled */
    pthread_t thread;
    bool started;

    pthread_mutex_t lock; /* for all below */
    pthread_cond_t turn;
    uint64_t given, taken; /* blocks */
    bool end;
    enum seen_code code;
    struct seen_error why;
};

struct dedup_lines *dedup_lines_new(dedup_take *take, void *to)
{
    struct dedup_lines *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->take = take;
    l->to = to;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->turn, NULL);
    return l;
}

static enum seen_code take(struct dedup_lines *l, struct dedup_block *b,
                           struct seen_error *why)
{
    enum seen_code code = l->take(l->to, b, why);

    b->n = 0;
    b->lines.len = 0;
    return code;
}

static void *run(void *given)
{
    struct dedup_lines *l = given;

    pthread_mutex_lock(&l->lock);
    for (;;) {
        struct seen_error why = { .code = SEEN_OK };
        enum seen_code code;

        while (l->taken == l->given && !l->end)
            pthread_cond_wait(&l->turn, &l->lock);
        if (l->end || l->code != SEEN_OK)
            break;
        pthread_mutex_unlock(&l->lock);
        code = take(l, &l->block[l->taken % BLOCKS], &why);
        pthread_mutex_lock(&l->lock);
        l->taken++;
        l->code = code;
        l->why = why;
        pthread_cond_signal(&l->turn);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* The lock is held: how it went so far. */
static enum seen_code state(const struct dedup_lines *l,
                            struct seen_error *why)
{
    if (l->code != SEEN_OK && why)
        *why = l->why;
    return l->code;
}

/* Give the block to the other thread and wait for the next one to be free. */
static enum seen_code hand_over(struct dedup_lines *l, struct seen_error *why)
{
    enum seen_code code;

    pthread_mutex_lock(&l->lock);
    l->given = ++l->added;
    pthread_cond_signal(&l->turn);
    while (l->given - l->taken == BLOCKS && l->code == SEEN_OK)
        pthread_cond_wait(&l->turn, &l->lock);
    code = state(l, why);
    pthread_mutex_unlock(&l->lock);
    return code;
}

/* How it went is remembered: the caller may not look. */
static enum seen_code take_now(struct dedup_lines *l, struct dedup_block *b,
                               struct seen_error *why)
{
    if (l->code == SEEN_OK)
        l->code = take(l, b, &l->why);
    return state(l, why);
}

static enum seen_code give(struct dedup_lines *l, struct seen_error *why)
{
    struct dedup_block *b = &l->block[l->added % BLOCKS];

    if (!b->n)
        return SEEN_OK;
    if (!l->started && b->n == DEDUP_KEYS)
        l->started = !pthread_create(&l->thread, NULL, run, l);
    return l->started ? hand_over(l, why) : take_now(l, b, why);
}

enum seen_code dedup_lines_add(struct dedup_lines *l,
                               const struct seen_batch *batch, bool text,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < batch->n && code == SEEN_OK; i++) {
        struct dedup_block *b = &l->block[l->added % BLOCKS];

        b->key[b->n] = batch->key[i];
        if (text) {
            buffer_span(&b->lines, batch->line[i]);
            buffer_byte(&b->lines, '\n');
            b->end[b->n] = b->lines.len;
        }
        if (b->lines.failed)
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for lines");
        if (++b->n == DEDUP_KEYS)
            code = give(l, why);
    }
    return code;
}

enum seen_code dedup_lines_drain(struct dedup_lines *l, struct seen_error *why)
{
    enum seen_code code = give(l, why);

    pthread_mutex_lock(&l->lock);
    while (l->taken < l->given && l->code == SEEN_OK)
        pthread_cond_wait(&l->turn, &l->lock);
    if (code == SEEN_OK)
        code = state(l, why);
    pthread_mutex_unlock(&l->lock);
    return code;
}

void dedup_lines_free(struct dedup_lines *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->end = true;
    pthread_cond_signal(&l->turn);
    pthread_mutex_unlock(&l->lock);
    if (l->started)
        pthread_join(l->thread, NULL);
    for (int i = 0; i < BLOCKS; i++)
        buffer_clear(&l->block[i].lines);
    pthread_cond_destroy(&l->turn);
    pthread_mutex_destroy(&l->lock);
    free(l);
}
