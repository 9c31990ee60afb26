/*
 * text.h - what only URLs need of bytes, beside lib/text.
 *
 * Nothing here allocates. A `struct sink` writes to memory of a fixed size;
 * what does not fit is dropped and remembered, so that only the last step
 * has to ask.
 */
#ifndef SEEN_URL_TEXT_H
#define SEEN_URL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "../text/ascii.h"
#include "../text/hex.h"
#include "../text/percent.h"
#include "../text/utf8.h"

struct sink {
    char *text;
    size_t len, room;
    bool full; /* something was dropped */
};

static inline void sink_byte(struct sink *to, char c)
{
    if (to->len == to->room)
        to->full = true;
    else
        to->text[to->len++] = c;
}

void sink_put(struct sink *to, const char *text, size_t len);
void sink_number(struct sink *to, unsigned number);

/* Insert n bytes of `text` before byte `at` of what was written. */
void sink_insert(struct sink *to, size_t at, const char *text, size_t n);

/* Write text, with the bytes of the set as %XX. Bytes that are not UTF-8 become
   U+FFFD, one for each maximal part of a character. */
void sink_encode(struct sink *to, const char *text, size_t len,
                 enum percent_set set);

/* Write a byte as %XX. */
void sink_escape(struct sink *to, char c);

/* Replace each %XX by its byte until none is left: "%2541" becomes "A". */
size_t url_unescape_all(char *text, size_t len);

static inline bool is_visible(char c)
{
    return c > ' ' && c < 0x7f;
}

/* Tabs and line ends within a URL do not belong to it. */
static inline bool is_stray(char c)
{
    return c == '\t' || c == '\n' || c == '\r';
}

/* Copy a text without stray bytes; returns the new length. */
size_t url_drop_strays(char *to, const char *text, size_t len);

/* Where in a text the byte is that is number n once strays are dropped. */
const char *url_find_kept(const char *p, const char *end, size_t n);

/* The colon that ends the scheme at p, or NULL if there is no scheme. */
const char *url_find_scheme(const char *p, const char *end);

/* Is the text this word, in whatever case? The word is in lower case. */
bool url_word_is(const char *text, size_t len, const char *word);

#endif
