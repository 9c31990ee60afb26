/* pass.c - threads that share one source. */
#define _POSIX_C_SOURCE 200809L /* pthread, sysconf */
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
    struct seen_reader *reader;
    struct batch batch;
    char last[SEEN_KEY_TEXT]; /* the key, or URL, of the last capture */
    size_t last_len;
    struct rejects rejects; /* of one piece */
    struct found found;     /* in one piece */
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

enum outcome source_open(struct seen_source **out, const char *const *input,
                         size_t n, bool strict)
{
    const struct seen_error *left;
    struct seen_error why;
    const char *name;

    if (seen_source_open(out, input, n, &why) != SEEN_OK) {
        name = why.at < n ? input[why.at] : "inputs";
        return trouble_with(strcmp(name, "-") ? name : "standard input", &why);
    }
    for (size_t i = 0; seen_source_fault(*out, i, &name, &left); i++) {
        if (strict)
            return trouble_with(name, left);
        warning("%s: %s; left out", name, left->text);
    }
    return YES;
}

/* --- one piece --- */

static void reject(struct worker *w, const char *cause,
                   const struct seen_capture *c)
{
    const struct seen_piece *piece = seen_reader_piece(w->reader);

    rejects_add(&w->rejects, w->pass->several ? piece->input : NULL,
                piece->lines, cause);
    if (w->pass->keep && c)
        rejects_keep(&w->rejects, c->line.text, c->line.len);
}

static void hand_over(struct worker *w)
{
    struct pass *p = w->pass;

    if (w->batch.n && w->code == SEEN_OK) {
        w->code = p->take(p->to, w->number, &w->batch, &w->why);
        w->found.urls += w->batch.n;
    }
    w->batch.n = 0;
    w->batch.used = 0;
}

/* Make a key of a capture, unless the one before it was of the same URL. */
static void use_capture(struct worker *w, const struct seen_capture *c,
                        struct seen_span *last)
{
    struct pass *p = w->pass;
    struct batch *batch = &w->batch;
    struct seen_span same = c->key.len ? c->key : c->url;
    struct seen_key *key = &batch->key[batch->n];
    char *text = batch->text + batch->used;
    enum seen_made made;
    struct seen_error why;

    w->found.captures++;
    if (same.len == last->len && !p->every &&
        (same.text == last->text || !memcmp(same.text, last->text, same.len)))
        return;
    if (seen_capture_key(key, text, c, &p->keying, &made, &why) != SEEN_OK) {
        w->found.captures--;
        reject(w, why.text, c);
        return;
    }
    *last = same;
    w->found.repaired += made == SEEN_MADE_REPAIRED;
    w->found.derived += made == SEEN_MADE_DERIVED;
    if (key->text >= batch->text && key->text < batch->text + BATCH_TEXT)
        batch->used = (size_t)(key->text - batch->text) + key->len;
    batch->url[batch->n].text = c->url.len ? c->url.text : c->key.text;
    batch->url[batch->n].len = c->url.len ? c->url.len : c->key.len;
    if (++batch->n == BATCH || batch->used > BATCH_TEXT - SEEN_KEY_TEXT)
        hand_over(w);
}

static bool stopped(const struct worker *w)
{
    return w->code != SEEN_OK || (w->pass->strict && w->rejects.count);
}

static void use_piece(struct worker *w)
{
    const struct select *select = w->pass->select;
    struct seen_capture c;
    struct seen_span last = { "", 0 };

    memset(&w->found, 0, sizeof w->found);
    while (!stopped(w) && seen_reader_fill(w->reader)) {
        while (!stopped(w) && seen_reader_next(w->reader, &c)) {
            if (c.fault)
                reject(w, c.fault, &c);
            else if (!select || select_takes(select, &c))
                use_capture(w, &c, &last);
        }
        hand_over(w);
        if (last.text != w->last && last.len) { /* its memory is used anew */
            last.len = last.len <= sizeof w->last ? last.len : 0;
            memcpy(w->last, last.text, last.len);
            last.text = w->last;
        }
    }
    if (!stopped(w) && seen_reader_end(w->reader, &w->why) != SEEN_OK) {
        char cause[sizeof w->why.text + 32];

        snprintf(cause, sizeof cause, "%s; what follows is lost", w->why.text);
        reject(w, cause, NULL);
    }
    w->found.lines = seen_reader_piece(w->reader)->lines;
}

/* --- all of them --- */

static void add_up(struct found *sum, const struct found *more)
{
    sum->lines += more->lines;
    sum->captures += more->captures;
    sum->urls += more->urls;
    sum->repaired += more->repaired;
    sum->derived += more->derived;
}

/* Add what a piece gave to what those before it gave. The lock is held. */
static void fold(struct pass *p, struct worker *w)
{
    const struct seen_piece *piece = seen_reader_piece(w->reader);
    bool over = p->code != SEEN_OK || (p->strict && p->rejects.count);

    if (piece->first)
        p->before = 0;
    if (!seen_source_fold(p->source, w->reader)) {
        rejects_clear(&w->rejects);
    } else if (!over) {
        rejects_fold(&p->rejects, &w->rejects, p->before, p->keep);
        p->before += w->found.lines;
        add_up(&p->found, &w->found);
        p->code = w->code;
        p->why = w->why;
        if (w->code != SEEN_OK || (p->strict && p->rejects.count))
            p->stop = true;
    }
    p->bytes += piece->bytes;
    progress_at(p->bytes, p->found.lines, p->found.urls);
    p->folded++;
    pthread_cond_broadcast(&p->turn);
}

/* When it is due, wait until all are idle, and pause. The lock is held. */
static void maybe_pause(struct pass *p)
{
    if (!p->pause || p->stop)
        return;
    if (!p->pausing && progress_clock() >= p->due)
        p->pausing = true;
    if (!p->pausing || p->taken != p->folded)
        return;
    p->code = p->pause(p->to, &p->why);
    p->stop |= p->code != SEEN_OK;
    p->due = progress_clock() + p->interval;
    p->pausing = false;
    pthread_cond_broadcast(&p->turn);
}

static bool take_piece(struct worker *w)
{
    struct pass *p = w->pass;
    struct seen_error why;
    bool more;

    while (p->pausing && !p->stop)
        pthread_cond_wait(&p->turn, &p->lock);
    if (p->stop)
        return false;
    p->taken++;
    pthread_mutex_unlock(&p->lock);
    seen_source_next(p->source, w->reader, &more, &why);
    pthread_mutex_lock(&p->lock);
    if (more)
        return true;
    p->taken--;
    p->stop = true;
    pthread_cond_broadcast(&p->turn);
    return false;
}

static void *work(void *given)
{
    struct worker *w = given;
    struct pass *p = w->pass;

    pthread_mutex_lock(&p->lock);
    while (take_piece(w)) {
        pthread_mutex_unlock(&p->lock);
        use_piece(w);
        pthread_mutex_lock(&p->lock);
        while (p->folded != seen_reader_piece(w->reader)->number)
            pthread_cond_wait(&p->turn, &p->lock);
        fold(p, w);
        maybe_pause(p);
    }
    if (p->end && p->code == SEEN_OK) {
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

static void dismiss(struct worker *w, unsigned n)
{
    for (unsigned i = 0; w && i < n; i++) {
        seen_reader_free(w[i].reader);
        rejects_clear(&w[i].rejects);
    }
    free(w);
}

static struct worker *hire(struct pass *p)
{
    struct worker *w = calloc(p->threads, sizeof *w);
    enum seen_detail detail = seen_keying_detail(&p->keying);

    if (p->select && select_detail(p->select) > detail)
        detail = select_detail(p->select);
    for (unsigned i = 0; w && i < p->threads; i++) {
        w[i].pass = p;
        w[i].number = i;
        if (seen_reader_new(&w[i].reader, p->source, detail, NULL) != SEEN_OK)
            break;
        if (i + 1 == p->threads)
            return w;
    }
    trouble("no memory for %u threads; give fewer --threads", p->threads);
    dismiss(w, p->threads);
    return NULL;
}

enum outcome pass_run(struct pass *p)
{
    struct worker *w = hire(p);
    const struct seen_layout *layout;
    const char *name, *packing;
    unsigned started = 1;

    if (!w)
        return TROUBLE;
    p->several = seen_source_file(p->source, 1, &name, &layout, &packing);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->turn, NULL);
    p->taken = p->folded = seen_source_mark(p->source).piece;
    p->due = progress_clock() + p->interval;
    progress_begin(p->what, seen_source_bytes(p->source));
    while (started < p->threads &&
           !pthread_create(&w[started].thread, NULL, work, &w[started]))
        started++; /* fewer will do as well */
    work(&w[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(w[i].thread, NULL);
    progress_clear();
    dismiss(w, p->threads);
    pthread_cond_destroy(&p->turn);
    pthread_mutex_destroy(&p->lock);
    if (p->code != SEEN_OK || (p->strict && p->rejects.count))
        return TROUBLE;
    return YES;
}

void pass_clear(struct pass *p)
{
    rejects_clear(&p->rejects);
}
