/*
 * fold.h - text for people out of the text of a page.
 *
 * White space becomes one space, and none at the ends; what is not UTF-8
 * becomes U+FFFD; the length is bounded, at the end of a character.
 *
 *     struct buffer title = { .bytes = NULL };
 *     struct web_fold f = { .to = &title, .most = 512 };
 *
 *     web_fold_add(&f, " A\n page", 8);
 *     web_fold_space(&f);
 *     web_fold_add(&f, "of ours", 7);                     A page of ours
 *
 * Threads: a fold belongs to one thread at a time.
 */
#ifndef SEEN_WEB_FOLD_H
#define SEEN_WEB_FOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "../lib/text/buffer.h"

struct web_fold {
    struct buffer *to; /* NULL: the text is not wanted */
    size_t most;       /* bytes that may be in `to` */
    bool space;        /* comes before the next character */
    bool full;         /* nothing more is taken */
};

void web_fold_add(struct web_fold *f, const char *text, size_t len);

/* A border between words. */
static inline void web_fold_space(struct web_fold *f)
{
    f->space = true;
}

static inline bool web_fold_takes(const struct web_fold *f)
{
    return f->to && !f->full;
}

#endif
