/*
 * ingest.c - threads that share one source.
 *
 *     next piece ──> captures ──> keys ──> keys()          in any order
 *          ^                                 │
 *          └──────── fold the counts <───────┘             in order
 *
 * Threads wait for their turn to fold the counts of a piece. The waits are
 * short, because pieces are of similar size.
 */
#include <seen/ingest.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../disk/clock.h"
#include "../text/buffer.h"
#include "../text/span.h"
#include "line.h"
#include "reader.h"
#include "rejects.h"
#include "source.h"

enum { PICKS = 128 }; /* keys of lines that are taken at once */

struct cdx_crew; /* all threads of one run */

struct cdx_worker {
    struct cdx_crew *crew;
    unsigned number;
    pthread_t thread;
    struct seen_reader *reader;
    const struct seen_piece *piece; /* what the reader reads */
    struct seen_batch batch;
    char last[SEEN_KEY_TEXT]; /* what the last key was made from */
    struct seen_span last_key; /* the urlkey of that line */
    bool compared;             /* the key was compared with its URL */
    bool corrected;            /* it differed: the URL's key is used */
    char text[2 * SEEN_KEY_TEXT];
    /* One piece */
    uint64_t check; /* the next line whose key is compared */
    struct seen_tally tally;
    struct seen_agreement agreement;
    struct seen_rejects rejects;
    struct buffer rejected; /* the lines themselves, if they are wanted */
    enum seen_code code;
    struct seen_error why;
};

struct cdx_crew {
    struct seen_ingest *in;
    struct seen_profile profile;
    bool derives; /* keys are made from URLs, also if there are urlkeys */
    bool proves;  /* urlkeys are compared with URLs, line by line */
    bool corrects; /* urlkeys that differ from their URLs are replaced */
    bool whole_keys; /* urlkeys that are SURTs are hashed as they stand */
    unsigned threads;
    struct cdx_worker *worker;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    uint64_t taken, folded; /* pieces */
    double due;             /* when the next pause is */
    bool pausing, done;
    enum seen_code code;
    struct seen_error why;
};

/* --- a batch --- */

/* Keep the text of the key at b->n, if it was written to the batch. */
static inline void keep_text(struct seen_batch *b)
{
    const struct seen_key *key = &b->key[b->n];

    if (key->text >= b->text && key->text < b->text + SEEN_BATCH_TEXT)
        b->used = (size_t)(key->text - b->text) + key->len;
}

enum seen_code seen_batch_add(struct seen_batch *b, const char *url,
                              size_t len, const struct seen_profile *profile,
                              struct seen_error *why)
{
    const char *fault = seen_key_fault(url, len);
    enum seen_code code;

    if (fault)
        return seen_fail(why, SEEN_RANGE, 0, "%s", fault);
    code = seen_key_make_as(&b->key[b->n], b->text + b->used, url, len,
                            profile, why);
    if (code != SEEN_OK)
        return code;
    keep_text(b);
    b->url[b->n] = b->line[b->n] = (struct seen_span){ url, len };
    b->n++;
    return SEEN_OK;
}

/* --- one piece --- */

static void keep_line(struct buffer *to, struct seen_span line)
{
    size_t len = line.len < SEEN_LINE_TEXT ? line.len : SEEN_LINE_TEXT;

    buffer_bytes(to, line.text, len);
    buffer_text(to, len < line.len ? " [cut]\n" : "\n");
}

static void hand_over(struct cdx_worker *w)
{
    struct seen_ingest *in = w->crew->in;

    if (w->batch.n && w->code == SEEN_OK) {
        w->code = in->keys(in->to, w->number, &w->batch, &w->why);
        w->tally.urls += w->batch.n;
    }
    w->batch.n = 0;
    w->batch.used = 0;
}

static void reject(struct cdx_worker *w, const char *cause,
                   const struct seen_capture *c)
{
    const struct seen_piece *piece = w->piece;
    const struct seen_ingest *in = w->crew->in;
    enum seen_cost cost = SEEN_COST_LINE;

    if (!c)
        cost = SEEN_COST_REST;
    else if (cdx_has_records(c->layout) && !c->line.len)
        cost = SEEN_COST_RECORD;
    cdx_rejects_add(&w->rejects, piece->input, piece->lines, cause, cost);
    if (in->rejected && cost == SEEN_COST_LINE)
        keep_line(&w->rejected, c->line);
    if (in->bad && cost == SEEN_COST_LINE) {
        struct seen_span line = c->line;

        line.len = line.len < SEEN_LINE_TEXT ? line.len : SEEN_LINE_TEXT;
        hand_over(w);
        in->bad(in->to, line, cause);
    }
}

/* Lines of lists have a URL only, and need no more than a profile. */
static inline enum seen_code make_key(struct cdx_worker *w,
                                      const struct seen_capture *c, bool good,
                                      enum seen_made *made,
                                      struct seen_error *why)
{
    struct seen_keying keying = w->crew->in->keying;
    struct seen_batch *b = &w->batch;
    struct seen_key *key = &b->key[b->n];
    char *text = b->text + b->used;

    if (good)
        keying.keys = SEEN_KEYS_TRUSTED;
    if (c->key.len || !c->url.len)
        return seen_capture_key(key, text, c, &keying, made, why);
    *made = SEEN_MADE_ASKED;
    return seen_key_make_as(key, text, c->url.text, c->url.len,
                            &w->crew->profile, why);
}

/* --- do the keys of an index agree with ours? --- */

enum { EVERY = 1024, FIRST = 512, OF_EACH = 8 };

/*
 * The line of the piece, from `line` on, whose key is compared next if keys are
 * trusted, so that a wrong decision does not go unnoticed: one in
 * EVERY, from a place that differs from piece to piece; the first lines of
 * each file, since another tool may have made it, however small it is; and the
 * first FIRST lines of the first piece, half as many of the second, and so on,
 * so that a difference is mostly found at once.
 */
static uint64_t next_check(const struct seen_piece *piece, uint64_t line)
{
    uint64_t offset = seen_mix(piece->number) % EVERY;

    if (piece->number < 10 && line <= (uint64_t)FIRST >> piece->number)
        return line;
    if (piece->first && line <= OF_EACH)
        return line;
    return line + (EVERY - (line + offset) % EVERY) % EVERY;
}

static void begin_checks(struct cdx_worker *w)
{
    const struct seen_piece *piece = w->piece;
    bool index = piece->format == SEEN_FORMAT_CDX ||
                 piece->format == SEEN_FORMAT_CDXJ;

    memset(&w->agreement, 0, sizeof w->agreement);
    if (!index || w->crew->corrects || w->crew->profile.rules != SEEN_SURT)
        w->check = UINT64_MAX;
    else
        w->check = w->crew->proves ? 0 : next_check(piece, 1);
}

static void note_difference(struct cdx_worker *w, struct seen_span theirs,
                            struct seen_span ours)
{
    struct seen_agreement *a = &w->agreement;

    if (a->differ++)
        return;
    a->input = w->piece->input;
    a->line = w->piece->lines;
    snprintf(a->key, sizeof a->key, "%.*s", (int)theirs.len, theirs.text);
    snprintf(a->ours, sizeof a->ours, "%.*s", (int)ours.len, ours.text);
}

/* The key is used, whatever comes of this. */
static void check_key(struct cdx_worker *w, const struct seen_capture *c,
                      bool good)
{
    struct seen_key key[2];
    enum seen_code code = good ? SEEN_OK : seen_capture_check(c, w->text, key);

    w->check = w->crew->proves ? 0 : next_check(w->piece, w->piece->lines + 1);
    w->agreement.checked += code != SEEN_UNABLE;
    if (code == SEEN_MISMATCH)
        note_difference(w, (struct seen_span){ key[0].text, key[0].len },
                        (struct seen_span){ key[1].text, key[1].len });
}

static void fold_checks(struct seen_agreement *sum,
                        const struct seen_agreement *more, uint64_t before)
{
    uint64_t checked = sum->checked + more->checked;
    uint64_t differ = sum->differ + more->differ;

    if (!sum->differ && more->differ) {
        *sum = *more;
        sum->line += before;
    }
    sum->checked = checked;
    sum->differ = differ;
}

/* Is the urlkey of a line proved to be that of its URL? */
static inline bool proved(const struct cdx_worker *w,
                          const struct seen_capture *c)
{
    return w->crew->proves && c->key.len &&
           w->reader->scan->proof(c->key, c->url);
}

/* The text that the key is made from, most likely. URLs that differ may have
   one urlkey: http and https, or whatever else the tool of the index took for
   one. */
static struct seen_span key_source(const struct cdx_crew *crew,
                                   const struct seen_capture *c, bool good)
{
    bool derives = crew->corrects ? !good && cdx_asks(c->url) : crew->derives;

    return c->key.len && !(derives && c->url.len) ? c->key : c->url;
}

/* Has it what the last key was made from? A urlkey that was not proved counts
   as well as the URL: it is used if the URL turns out to be none. */
static inline bool repeats(const struct cdx_worker *w,
                           const struct seen_capture *c, struct seen_span from,
                           struct seen_span last, bool good)
{
    return from.len && span_equal(from, last) && !w->crew->in->every &&
           (good || !w->crew->corrects || span_equal(c->key, w->last_key));
}

/* Count a line whose urlkey was compared with its URL. */
static void count_check(struct cdx_worker *w, const struct seen_capture *c,
                        struct seen_span ours)
{
    w->agreement.checked += w->compared;
    if (w->corrected)
        note_difference(w, c->key, ours);
}

/* A key was made. */
static void count_key(struct cdx_worker *w, const struct seen_capture *c,
                      enum seen_made made, bool good)
{
    const struct seen_key *key = &w->batch.key[w->batch.n];

    w->tally.repaired += made == SEEN_MADE_REPAIRED;
    w->tally.derived += made == SEEN_MADE_DERIVED;
    w->last_key = c->key;
    w->corrected = made == SEEN_MADE_CORRECTED;
    w->compared = w->crew->corrects && c->key.len &&
                  made != SEEN_MADE_DERIVED && (good || cdx_asks(c->url));
    count_check(w, c, (struct seen_span){ key->text, key->len });
}

/* Make a key of a capture, unless the one before it was of the same URL. */
static void use_capture(struct cdx_worker *w, const struct seen_capture *c,
                        struct seen_span *last)
{
    struct seen_batch *b = &w->batch;
    bool good = proved(w, c);
    struct seen_span from = key_source(w->crew, c, good);
    enum seen_made made;
    enum seen_code code;
    struct seen_error why;

    w->tally.captures++;
    if (w->piece->lines >= w->check)
        check_key(w, c, good);
    if (repeats(w, c, from, *last, good)) {
        count_check(w, c, c->key);
        return;
    }
    code = make_key(w, c, good, &made, &why);
    if (code == SEEN_NOMEM) { /* which is not the fault of the line */
        w->code = code;
        w->why = why;
        return;
    }
    if (code != SEEN_OK) {
        w->tally.captures--;
        reject(w, why.text, c);
        return;
    }
    count_key(w, c, made, good);
    *last = from;
    if (made == SEEN_MADE_DERIVED && from.text == c->key.text)
        last->len = 0; /* an equal urlkey means nothing */
    keep_text(b);
    b->url[b->n] = c->url.len ? c->url : c->key;
    b->line[b->n] = cdx_has_records(c->layout) ? c->url : c->line;
    b->n++;
    if (!seen_batch_room(b))
        hand_over(w);
}

static inline bool stopped(const struct cdx_worker *w)
{
    const struct seen_ingest *in = w->crew->in;

    return w->code != SEEN_OK || (in->strict && w->rejects.count) || in->stop;
}

/*
 * Most lines of most indexes: take captures without looking at more than their
 * keys, up to the next line whose key is compared. The last key must have
 * been made of the line before.
 */
static inline void take_lines(struct cdx_worker *w, struct seen_span *last)
{
    const struct seen_ingest *in = w->crew->in;
    struct seen_reader *r = w->reader;
    struct seen_batch *b = &w->batch;
    struct cdx_pick pick[PICKS];
    uint64_t most, lines;
    unsigned n;

    do {
        if (stopped(w) || !r->fast || !last->len ||
            last->text != r->before.text || in->every || in->select ||
            (w->check <= w->piece->lines && !w->crew->proves))
            return;
        n = w->crew->whole_keys ? PICKS : 0;
        n = n < SEEN_BATCH - b->n ? n : (unsigned)(SEEN_BATCH - b->n);
        most = w->crew->proves ? UINT64_MAX : w->check - w->piece->lines - 1;
        lines = cdx_reader_picks(r, most, pick, &n);
        w->tally.captures += lines;
        w->agreement.checked += w->crew->proves ? lines : 0;
        for (unsigned i = 0; i < n; i++) {
            const char *line = r->buffer + pick[i].at;

            seen_key_hash(&b->key[b->n], line, pick[i].key);
            b->url[b->n] = (struct seen_span){ line, pick[i].key };
            b->line[b->n] = (struct seen_span){ line, pick[i].line };
            b->n++;
        }
        *last = r->before;
        if (!seen_batch_room(b))
            hand_over(w);
    } while (n);
}

static void use_piece(struct cdx_worker *w)
{
    const struct seen_piece *piece = w->piece;
    struct seen_ingest *in = w->crew->in;
    struct seen_capture c;
    struct seen_span last = { "", 0 };

    memset(&w->tally, 0, sizeof w->tally);
    begin_checks(w);
    while (!stopped(w) && seen_reader_fill(w->reader)) {
        while (!stopped(w) && seen_reader_next(w->reader, &c)) {
            if (c.fault)
                reject(w, c.fault, &c);
            else if (!in->select || in->select(in->to, &c))
                use_capture(w, &c, &last);
            take_lines(w, &last);
        }
        hand_over(w);
        w->last_key.len = 0;
        if (last.text != w->last && last.len) { /* the reader reuses it */
            last.len = last.len <= sizeof w->last ? last.len : 0;
            memcpy(w->last, last.text, last.len);
            last.text = w->last;
        }
    }
    if (!stopped(w) && seen_reader_end(w->reader, &w->why) != SEEN_OK) {
        reject(w, w->why.text, NULL);
        w->tally.lost++;
    }
    w->tally.lines = piece->lines;
    w->tally.damaged = piece->damaged;
    w->tally.skipped = piece->skipped;
}

/* --- all of them; the lock is held --- */

static void add_up(struct seen_tally *sum, const struct seen_tally *more)
{
    sum->lines += more->lines;
    sum->captures += more->captures;
    sum->urls += more->urls;
    sum->repaired += more->repaired;
    sum->derived += more->derived;
    sum->lost += more->lost;
    sum->damaged += more->damaged;
    sum->skipped += more->skipped;
}

static bool failed(const struct cdx_crew *crew)
{
    const struct seen_ingest *in = crew->in;

    return crew->code != SEEN_OK || (in->strict && in->rejects.count);
}

/* Add the counts of a piece to those of the pieces before it. */
static void fold(struct cdx_worker *w)
{
    struct cdx_crew *crew = w->crew;
    struct seen_ingest *in = crew->in;
    const struct seen_piece *piece = w->piece;

    if (piece->first)
        in->input_lines = 0;
    if (!seen_source_fold(in->source, w->reader)) {
        memset(&w->rejects, 0, sizeof w->rejects);
    } else if (!failed(crew)) {
        cdx_rejects_fold(&in->rejects, &w->rejects, in->input_lines);
        if (w->rejected.len)
            in->rejected(in->to, w->rejected.bytes, w->rejected.len);
        fold_checks(&in->agreement, &w->agreement, in->input_lines);
        in->input_lines += w->tally.lines;
        add_up(&in->tally, &w->tally);
        crew->code = w->code;
        crew->why = w->why;
        crew->done |= failed(crew) || in->stop;
    }
    w->rejected.len = 0;
    in->bytes += piece->bytes;
    if (in->progress)
        in->progress(in->to, in);
    crew->folded++;
    pthread_cond_broadcast(&crew->turn);
}

/* When a pause is due, wait until all threads are idle, then pause. */
static void maybe_pause(struct cdx_crew *crew)
{
    struct seen_ingest *in = crew->in;

    if (!in->pause || crew->done)
        return;
    crew->pausing |= clock_seconds() >= crew->due;
    if (!crew->pausing || crew->taken != crew->folded)
        return;
    crew->code = in->pause(in->to, &crew->why);
    crew->done |= crew->code != SEEN_OK;
    crew->due = clock_seconds() + in->interval;
    crew->pausing = false;
    pthread_cond_broadcast(&crew->turn);
}

static bool next_piece(struct cdx_worker *w)
{
    struct cdx_crew *crew = w->crew;
    struct seen_error why;
    bool more;

    while (crew->pausing && !crew->done)
        pthread_cond_wait(&crew->turn, &crew->lock);
    if (crew->done)
        return false;
    crew->taken++;
    pthread_mutex_unlock(&crew->lock);
    seen_source_next(crew->in->source, w->reader, &more, &why);
    pthread_mutex_lock(&crew->lock);
    if (more)
        return true;
    crew->taken--;
    crew->done = true;
    pthread_cond_broadcast(&crew->turn);
    return false;
}

static void end_thread(struct cdx_worker *w)
{
    struct cdx_crew *crew = w->crew;
    struct seen_ingest *in = crew->in;
    enum seen_code code;

    pthread_mutex_unlock(&crew->lock);
    code = in->end(in->to, w->number, &w->why);
    pthread_mutex_lock(&crew->lock);
    if (code != SEEN_OK && crew->code == SEEN_OK) {
        crew->code = code;
        crew->why = w->why;
    }
}

static void *run_thread(void *given)
{
    struct cdx_worker *w = given;
    struct cdx_crew *crew = w->crew;

    pthread_mutex_lock(&crew->lock);
    while (next_piece(w)) {
        pthread_mutex_unlock(&crew->lock);
        use_piece(w);
        pthread_mutex_lock(&crew->lock);
        while (crew->folded != w->piece->number)
            pthread_cond_wait(&crew->turn, &crew->lock);
        fold(w);
        maybe_pause(crew);
    }
    if (crew->in->end && crew->code == SEEN_OK)
        end_thread(w);
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* --- the run --- */

static void dismiss(struct cdx_crew *crew)
{
    for (unsigned i = 0; crew->worker && i < crew->threads; i++) {
        seen_reader_free(crew->worker[i].reader);
        buffer_clear(&crew->worker[i].rejected);
    }
    free(crew->worker);
}

static enum seen_code hire(struct cdx_crew *crew, struct seen_error *why)
{
    const struct seen_ingest *in = crew->in;
    enum seen_detail detail = seen_keying_detail(&in->keying);
    enum seen_code code = SEEN_OK;

    crew->derives = detail >= SEEN_DETAIL_URL;
    crew->corrects = crew->profile.rules == SEEN_SURT &&
                     in->keying.keys != SEEN_KEYS_TRUSTED;
    crew->proves = crew->corrects ||
                   (crew->profile.rules == SEEN_SURT && in->compare);
    if (crew->proves && detail < SEEN_DETAIL_URL)
        detail = SEEN_DETAIL_URL;
    crew->whole_keys = !strcmp(in->keying.profile, "surt");
    if (in->detail > detail)
        detail = in->detail;
    crew->threads = in->threads ? in->threads : 1;
    if (in->source->options.in_order)
        crew->threads = 1;
    crew->worker = calloc(crew->threads, sizeof *crew->worker);
    if (!crew->worker)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for %u threads",
                         crew->threads);
    for (unsigned i = 0; i < crew->threads && code == SEEN_OK; i++) {
        crew->worker[i].crew = crew;
        crew->worker[i].number = i;
        code = seen_reader_new(&crew->worker[i].reader, in->source, detail,
                               why);
        if (code == SEEN_OK) {
            crew->worker[i].reader->empty_lines = in->bad;
            crew->worker[i].reader->proves = crew->proves;
        }
        if (code == SEEN_OK)
            crew->worker[i].piece = seen_reader_piece(crew->worker[i].reader);
    }
    return code;
}

/* The error of a strict run: "a.txt line 17: a control byte". */
static enum seen_code refuse(const struct seen_ingest *in,
                             struct seen_error *why)
{
    const struct seen_cause *c = &in->rejects.cause[0];

    return seen_fail(why, SEEN_CORRUPT, c->at[0].line, "%.64s line %llu: %s",
                     c->at[0].input, (unsigned long long)c->at[0].line,
                     c->text);
}

enum seen_code seen_ingest_run(struct seen_ingest *in, struct seen_error *why)
{
    struct cdx_crew crew = { .in = in };
    enum seen_code code;
    unsigned started = 1;

    code = seen_profile_find(&crew.profile, in->keying.profile, why);
    if (code == SEEN_OK)
        code = hire(&crew, why);
    if (code != SEEN_OK) {
        dismiss(&crew);
        return code;
    }
    pthread_mutex_init(&crew.lock, NULL);
    pthread_cond_init(&crew.turn, NULL);
    crew.taken = crew.folded = seen_source_mark(in->source).piece;
    crew.due = clock_seconds() + in->interval;
    while (started < crew.threads &&
           !pthread_create(&crew.worker[started].thread, NULL, run_thread,
                           &crew.worker[started]))
        started++; /* fewer threads do the same */
    run_thread(&crew.worker[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(crew.worker[i].thread, NULL);
    pthread_cond_destroy(&crew.turn);
    pthread_mutex_destroy(&crew.lock);
    dismiss(&crew);
    if (crew.code != SEEN_OK && why)
        *why = crew.why;
    else if (crew.code == SEEN_OK && in->strict && in->rejects.count)
        return refuse(in, why);
    return crew.code;
}
