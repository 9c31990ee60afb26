/*
 * source.c - ranges over HTTP.
 *
 *     start() ──> on_begin() ──> on_body() ──> on_end() ──> wait_for()
 *        ^        its version    its bytes        │
 *        └──────── once more, if that may help ───┘
 *
 * All ranges of a call are requested together, because a question waits for all
 * of them. An answer is judged by its head, before a byte of its body is taken:
 * bytes go straight to the caller's memory, and those of another version must
 * not get there. When one range has failed the others are cancelled, and the
 * call returns when no request has a pointer to its memory any more.
 */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/disk/disk.h"
#include "../lib/text/number.h"

static const struct fetch_retry_policy patience = { .attempts = 2,
                                                    .pause = 500,
                                                    .patience = 30 };

/* One range, and the request for it. */
struct distant_part {
    struct distant_source *source;
    struct seen_range *range; /* NULL: only whether it is the same version */
    size_t got;
    bool first, whole; /* the first of its version; the whole file comes */
    bool ended;
    struct fetch_retry retry;
    enum seen_code code;
    struct seen_error why;
};

/* --- which version --- */

static bool is_strong(const char *etag)
{
    return *etag == '"';
}

/* What If-Range may say; a weak ETag says nothing about bytes. */
static const char *etag_of(const struct distant_source *s)
{
    return is_strong(s->version.etag) ? s->version.etag : NULL;
}

static const char *date_of(const struct distant_source *s)
{
    return *s->version.modified ? s->version.modified : NULL;
}

static enum seen_code moved(struct seen_error *why)
{
    return seen_fail(why, SEEN_MISMATCH, 0,
                     "was replaced while it was asked; ask again");
}

static void note(char *to, size_t room, const char *from)
{
    snprintf(to, room, "%s", strlen(from) < room ? from : "");
}

/* Is this answer of our version? The first one decides which that is. */
static enum seen_code check_version(struct distant_part *p,
                                    const struct fetch_response *r,
                                    struct seen_error *why)
{
    struct distant_source *s = p->source;
    uint64_t total = r->status == 206 ? r->total : r->length;

    if (!s->said && !*s->version.etag && !*s->version.modified) {
        note(s->version.etag, sizeof s->version.etag, r->etag);
        note(s->version.modified, sizeof s->version.modified, r->modified);
        if (!is_strong(s->version.etag))
            *s->version.etag = '\0';
    } else if ((etag_of(s) && is_strong(r->etag) &&
                strcmp(s->version.etag, r->etag) != 0) ||
               (!etag_of(s) && date_of(s) && *r->modified &&
                strcmp(s->version.modified, r->modified) != 0)) {
        return moved(why);
    }
    if (total != FETCH_UNKNOWN && s->length && s->length != total)
        return moved(why);
    if (total != FETCH_UNKNOWN)
        s->length = total;
    s->said = true;
    return SEEN_OK;
}

/* --- answers --- */

static void say_whole(const struct distant_source *s)
{
    char text[2048];

    if (!s->say)
        return;
    if (s->length)
        snprintf(text, sizeof text,
                 "%.1500s: its server has no ranges; fetching all of it, %s",
                 s->url, show_bytes(s->length));
    else
        snprintf(text, sizeof text,
                 "%.1500s: its server has no ranges; fetching all of it",
                 s->url);
    s->say(s->whose, text);
}

/*
 * 200 instead of 206: if there was an answer with a range before, the file is
 * another one. Otherwise the server knows no ranges.
 */
static enum seen_code begin_whole(struct distant_part *p,
                                  const struct fetch_response *r,
                                  struct seen_error *why)
{
    struct distant_source *s = p->source;
    enum seen_code code;

    if (!p->first)
        return moved(why);
    code = check_version(p, r, why);
    if (code != SEEN_OK)
        return code;
    if (r->length != FETCH_UNKNOWN && r->length > s->most)
        return seen_fail(why, SEEN_RANGE, r->length,
                         "its server has no ranges, and it is too long to be "
                         "fetched as a whole");
    say_whole(s);
    s->whole = disk_temporary(s->tmp);
    if (s->whole < 0)
        return seen_fail(why, SEEN_IO, 0, "no temporary file can be made");
    p->whole = true;
    return SEEN_OK;
}

static enum seen_code on_begin(void *owner, const struct fetch_response *r,
                               struct seen_error *why)
{
    struct distant_part *p = owner;

    p->got = 0;
    if (!p->range) /* another version, as it was asked for "if not this one" */
        return moved(why);
    return r->status == 206 ? check_version(p, r, why)
                            : begin_whole(p, r, why);
}

static enum seen_code on_body(void *owner, const void *bytes, size_t n,
                              struct seen_error *why)
{
    struct distant_part *p = owner;
    enum seen_code code = SEEN_OK;

    if (p->whole) {
        code = disk_write(p->source->whole, bytes, n, p->got, why);
    } else if (n > p->range->len - p->got) {
        return seen_fail(why, SEEN_CORRUPT, p->got,
                         "sends more than was asked for");
    } else {
        memcpy((unsigned char *)p->range->to + p->got, bytes, n);
    }
    p->got += n;
    p->source->sent += n;
    return code;
}

static void start(struct distant_part *p, uint64_t due);

static void on_end(void *owner, enum seen_code code,
                   const struct fetch_response *r,
                   const struct seen_error *why)
{
    struct distant_part *p = owner;
    uint64_t due;

    p->source->requests++;
    if (!p->whole && fetch_retry_again(&p->retry, &patience, code, r, &due)) {
        start(p, due);
        return;
    }
    p->ended = true;
    p->code = code;
    if (code != SEEN_OK)
        p->why = *why;
    else if (r->status == 404 || r->status == 410)
        p->code = seen_fail(&p->why, SEEN_ABSENT, 0, "is not there (%d)",
                            r->status);
    else if (r->status == 304 ? p->range != NULL
                              : r->status != 200 && r->status != 206)
        p->code = fetch_status_fault(r->status, &p->why);
}

static const struct fetch_handler handler = { on_begin, on_body, on_end };

/* --- requests --- */

static void start(struct distant_part *p, uint64_t due)
{
    struct distant_source *s = p->source;
    struct fetch_request request = {
        .url = s->url,
        .etag = etag_of(s),
        .modified = etag_of(s) ? NULL : date_of(s),
        .due = due,
        /* A range has its length, and on_begin() refuses any other answer. */
        .most = p->first ? s->most : UINT64_MAX,
        .handler = &handler,
        .owner = p,
    };

    if (p->range) {
        request.from = p->range->from;
        request.to = p->range->from + p->range->len;
        request.timeout = p->first ? 0 : s->timeout;
    }
    p->code = fetch_start(s->web, &request, &p->why);
    p->ended = p->code != SEEN_OK;
}

/* Wait for all; as soon as one has failed, the others are not waited for. */
static enum seen_code wait_for(struct distant_source *s,
                               struct distant_part *part, size_t n,
                               struct seen_error *why)
{
    const struct distant_part *bad = NULL;
    bool busy = true;

    while (busy) {
        busy = false;
        for (size_t i = 0; i < n; i++) {
            busy |= !part[i].ended;
            if (!bad && part[i].ended && part[i].code != SEEN_OK)
                bad = &part[i];
        }
        for (size_t i = 0; bad && i < n; i++)
            if (!part[i].ended)
                fetch_cancel(s->web, &part[i]);
        if (busy)
            fetch_poll(s->web, 1000);
    }
    if (!bad)
        return SEEN_OK;
    if (why)
        *why = bad->why;
    return bad->code;
}

/* Ranges of the file that came as a whole. */
static enum seen_code read_whole(const struct distant_source *s,
                                 struct seen_range *range, size_t n,
                                 struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        uint64_t left = range[i].from < s->length ? s->length - range[i].from
                                                  : 0;

        if (range[i].len > left)
            range[i].len = (size_t)left;
        code = disk_read(s->whole, range[i].to, range[i].len, range[i].from,
                         why);
    }
    return code;
}

enum seen_code distant_source_read(struct distant_source *s,
                                   struct seen_range *range, size_t n,
                                   uint64_t *length, struct seen_error *why)
{
    struct distant_part part[SEEN_RANGES_MOST];
    enum seen_code code = SEEN_OK;
    bool first = !s->said && !s->length && !*s->version.etag &&
                 !*s->version.modified && n == 1 && !range->from;

    if (s->whole < 0) {
        for (size_t i = 0; i < n; i++) {
            part[i] = (struct distant_part){ .source = s,
                                             .range = &range[i],
                                             .first = first };
            start(&part[i], 0);
        }
        code = wait_for(s, part, n, why);
        for (size_t i = 0; i < n && code == SEEN_OK && s->whole < 0; i++)
            range[i].len = part[i].got;
        if (code == SEEN_OK && s->whole >= 0)
            s->length = part[0].got;
    }
    if (code == SEEN_OK && s->whole >= 0)
        code = read_whole(s, range, n, why);
    if (code == SEEN_OK && s->length)
        *length = s->length;
    return code;
}

enum seen_code distant_source_same(struct distant_source *s,
                                   struct seen_error *why)
{
    struct distant_part part = { .source = s };
    enum seen_code code;

    if (!etag_of(s) && !date_of(s))
        return moved(why); /* it cannot be known */
    start(&part, 0);
    code = wait_for(s, &part, 1, why);
    s->said = s->said || code == SEEN_OK;
    return code;
}
