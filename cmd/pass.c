/* pass.c - threads that share one reader. */
#define _POSIX_C_SOURCE 200809L         /* pthread, sysconf */
#include "pass.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"

enum { MOST_THREADS = 256 };

struct worker {
    struct pass *pass;
    unsigned number;
    pthread_t thread;
    struct block block;
    struct batch batch;
    struct rejects rejects;     /* of one block */
    uint64_t urls;              /* of one block */
    enum seen_code code;
    struct seen_error why;
};

unsigned pass_threads(uint64_t asked)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (!asked)
        asked = cores > 0 ? (uint64_t)cores : 1;
    return asked < MOST_THREADS ? (unsigned)asked : MOST_THREADS;
}

/* Take the next block; false if there is none. The lock is held. */
static bool take_block(struct pass *p, struct block *block, uint64_t *number)
{
    struct seen_error why;
    const char *name;

    if (p->stop)
        return false;
    if (lines_next(&p->reader, block, &name, &why) != SEEN_OK) {
        trouble_with(name, &why);
        p->failed = p->stop = true;
    } else if (!block->len) {
        p->stop = true;
    } else {
        *number = p->taken++;
        return true;
    }
    return false;
}

static void use_block(struct worker *w)
{
    const struct pass *p = w->pass;

    w->urls = 0;
    w->code = SEEN_OK;
    do {
        batch_fill(&w->batch, &w->block, &p->reading, &w->rejects);
        if (!w->batch.n)
            break;
        w->code = p->take(p->to, w->number, &w->batch, &w->why);
        w->urls += w->batch.n;
    } while (w->code == SEEN_OK);
}

/* Add what a block gave to what those before it gave. The lock is held. */
static void fold(struct pass *p, struct worker *w)
{
    bool over = p->code != SEEN_OK || (p->reading.strict && p->rejects.count);

    if (!over) {
        if (w->block.first)
            p->before = 0;
        rejects_fold(&p->rejects, &w->rejects, p->before, p->keep);
        p->before += w->block.line;
        p->lines += w->block.line;
        p->urls += w->urls;
        p->code = w->code;
        p->why = w->why;
        if (w->code != SEEN_OK || (p->reading.strict && p->rejects.count))
            p->stop = true;
        progress_at(p->reader.bytes, p->lines);
    }
    p->folded++;
    pthread_cond_broadcast(&p->turn);
}

static void *work(void *given)
{
    struct worker *w = given;
    struct pass *p = w->pass;
    uint64_t number = 0;

    pthread_mutex_lock(&p->lock);
    while (take_block(p, &w->block, &number)) {
        pthread_mutex_unlock(&p->lock);
        use_block(w);
        pthread_mutex_lock(&p->lock);
        while (p->folded != number)
            pthread_cond_wait(&p->turn, &p->lock);
        fold(p, w);
    }
    if (p->end && p->code == SEEN_OK && !p->failed) {
        enum seen_code code;

        pthread_mutex_unlock(&p->lock);
        code = p->end(p->to, w->number, &w->why);
        pthread_mutex_lock(&p->lock);
        if (code != SEEN_OK && p->code == SEEN_OK) {
            p->code = code;
            p->why = w->why;
        }
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static struct worker *hire(struct pass *p)
{
    struct worker *w = calloc(p->threads, sizeof *w);
    struct seen_error why;

    for (unsigned i = 0; w && i < p->threads; i++) {
        w[i].pass = p;
        w[i].number = i;
        if (block_init(&w[i].block, &why) != SEEN_OK)
            break;
        if (i + 1 == p->threads)
            return w;
    }
    trouble("no memory for %u threads; give fewer --threads", p->threads);
    for (unsigned i = 0; w && i < p->threads; i++)
        block_clear(&w[i].block);
    free(w);
    return NULL;
}

enum outcome pass_run(struct pass *p)
{
    struct worker *w = hire(p);
    unsigned started = 1;
    struct seen_error why;
    const char *name;

    if (!w)
        return TROUBLE;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->turn, NULL);
    if (lines_open(&p->reader, p->input, p->inputs, &name, &why) != SEEN_OK) {
        trouble_with(name, &why);
        p->failed = true;
    } else {
        progress_begin(p->what, p->reader.total);
        while (started < p->threads &&
               !pthread_create(&w[started].thread, NULL, work, &w[started]))
            started++;          /* fewer will do as well */
        work(&w[0]);
        for (unsigned i = 1; i < started; i++)
            pthread_join(w[i].thread, NULL);
        progress_clear();
    }
    lines_close(&p->reader);
    for (unsigned i = 0; i < p->threads; i++) {
        block_clear(&w[i].block);
        rejects_clear(&w[i].rejects);
    }
    free(w);
    pthread_cond_destroy(&p->turn);
    pthread_mutex_destroy(&p->lock);
    if (p->failed || p->code != SEEN_OK ||
        (p->reading.strict && p->rejects.count))
        return TROUBLE;
    return YES;
}

void pass_clear(struct pass *p)
{
    rejects_clear(&p->rejects);
}
