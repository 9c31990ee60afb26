/*
 * resp.h - commands of the Redis protocol, and replies to them.
 *
 *     *3\r\n $9\r\nBF.EXISTS\r\n $3\r\nhaw\r\n $18\r\nhttp://haw.nsk.hr/\r\n
 *
 * A command is an array of strings or, typed by hand, words on a line
 * ("inline"). The parser allocates nothing: an incomplete command stays where
 * it is, and parsing goes on from the same position when more bytes came. A
 * length beyond the limit is refused before its bytes come.
 *
 *     switch (resp_parse(&reader, text, len, &limit, word, &words, &used,
 *                        &fault)) {
 *     case RESP_WHOLE:
 *         answer(word, words);
 *         text += used, len -= used;
 *         ...
 *
 * Threads: everything here is free of state.
 */
#ifndef SEEN_SERVE_REDIS_RESP_H
#define SEEN_SERVE_REDIS_RESP_H

#include <stdint.h>

#include "../../lib/text/buffer.h"
#include "../../lib/text/span.h"

enum { RESP_INLINE = 65536 }; /* bytes of an inline command, at most */

/* How much a client may send in one command. */
struct resp_limit {
    uint32_t words; /* strings of a command */
    uint32_t bulk;  /* bytes of a string, and of a line typed by hand */
    uint32_t whole; /* bytes of a command */
};

/* A command that is being read. Begin with all zero; kept between calls for
   one command, so that a long one is not looked at from its start again. */
struct resp_reader {
    size_t at;       /* bytes that were parsed */
    uint32_t expect; /* strings of the command; 0: not known yet */
    uint32_t have;   /* strings that were found */
    char fault[48];  /* the text of a fault that quotes a byte */
};

enum resp_state {
    RESP_PARTIAL,
    RESP_WHOLE,
    RESP_EMPTY, /* nothing to do: an empty line or array; *used is its size */
    RESP_FAULT  /* *fault is the error to reply with before closing */
};

/*
 * Read a command from `text`, which begins with it and has `len` bytes now;
 * it may have moved since the last call. word[] has room for limit->words of
 * them and is filled only when the command is whole: then *words spans point
 * into `text`, *used is how long it is, and the reader is ready for the next
 * one. One word[] serves any number of readers, as nothing is kept in it
 * between calls. Inline words may be quoted as in redis-cli ("a b", 'a b',
 * \n, \x41); they are unquoted in place, which is why `text` is not const.
 *
 * *fault: "ERR Protocol error: ..." in Redis' own words ("invalid multibulk
 * length", "invalid bulk length", "expected '$', got 'x'", "unbalanced quotes
 * in request", "too big inline request"); it lives as long as the reader.
 * Stricter than Redis: a negative number of strings is a fault, and so are
 * lines and strings that do not end with CR LF, since their lengths were
 * wrong. A number above its limit is a fault as soon as its digits show that.
 */
enum resp_state resp_parse(struct resp_reader *r, char *text, size_t len,
                           const struct resp_limit *limit,
                           struct seen_span *word, size_t *words, size_t *used,
                           const char **fault);

/* Replies, in RESP2, or in RESP3 where `three`. They are appended to `o`. */
void resp_status(struct buffer *o, const char *text);      /* +OK */
void resp_error(struct buffer *o, const char *format, ...) /* -ERR ... */
    __attribute__((format(printf, 2, 3)));
void resp_number(struct buffer *o, int64_t n);            /* :1 */
void resp_double(struct buffer *o, double x, bool three); /* $3 0.1, ,0.1 */
void resp_bulk(struct buffer *o, const void *bytes, size_t len); /* $3 abc */
void resp_text(struct buffer *o, const char *text);              /* the same */
void resp_null(struct buffer *o, bool three);              /* $-1, or _ */
void resp_array(struct buffer *o, size_t n);               /* *3 */
void resp_map(struct buffer *o, size_t pairs, bool three); /* *6, or %3 */
void resp_set(struct buffer *o, size_t n, bool three);     /* *3, or ~3 */
/* Text for people: $3 abc, or =7 txt:abc */
void resp_verbatim(struct buffer *o, const char *text, size_t len, bool three);

/* :1, or #t. Inline: it is all there is to most replies. */
static inline void resp_flag(struct buffer *o, bool is, bool three)
{
    buffer_bytes(o,
                 three ? is ? "#t\r\n" : "#f\r\n"
                 : is  ? ":1\r\n"
                       : ":0\r\n",
                 4);
}

#endif
