/*
 * resp.h - commands of the Redis protocol, and replies to them.
 *
 *     *3\r\n $9\r\nBF.EXISTS\r\n $3\r\nhaw\r\n $18\r\nhttp://haw.nsk.hr/\r\n
 *
 * A command is an array of strings, or, typed by hand, words on a line
 * ("inline"). The parser keeps no memory of its own: what is not whole stays
 * where it is and is tried again, from where it had come to, when more of it
 * is there. Lengths are refused before anything is allocated for them.
 *
 * Threads: everything here is free of state.
 */
#ifndef SEEN_SERVE_RESP_H
#define SEEN_SERVE_RESP_H

#include <stdint.h>

#include "out.h"
#include "span.h"

/* How much a client may send in one command. */
struct resp_limit {
    uint32_t words; /* strings of a command */
    uint32_t bulk;  /* bytes of a string */
    uint32_t whole; /* bytes of a command */
};

/* A command that is being read. Begin with all zero; kept between calls for
   one command, so that a long one is not looked at from its start again. */
struct resp_reader {
    size_t at;       /* bytes that were understood */
    uint32_t expect; /* strings of the command; 0: not known yet */
    uint32_t have;   /* strings that were found */
    int64_t bulk;    /* length of the string at `at`; -1: not known yet */
    bool begun;
};

enum resp_state {
    RESP_PARTIAL,
    RESP_WHOLE,
    RESP_EMPTY, /* nothing to do: an empty line or array; *used is its size */
    RESP_FAULT  /* *fault is the error to reply with before closing */
};

/*
 * Read a command from `text`, which begins with it and has `len` bytes now.
 * word[] has room for limit->words of them; positions of what was found stay
 * in it as offsets until the command is whole: then *words spans point into
 * `text` and *used is how long it is. Inline words may be quoted as in
 * redis-cli ("a b", 'a b', \n, \x41); they are unquoted in place, which is
 * why `text` is not const.
 *
 * *fault: "ERR Protocol error: ..." in Redis' own words ("invalid multibulk
 * length", "invalid bulk length", "expected '$', got 'x'", "unbalanced quotes
 * in request", "too big inline request", "too big mbulk count string").
 */
enum resp_state resp_parse(struct resp_reader *r, char *text, size_t len,
                           const struct resp_limit *limit, struct span *word,
                           size_t *words, size_t *used, const char **fault);

/* Replies, in RESP2, or in RESP3 where `three`. They are appended to `o`. */
void resp_status(struct out *o, const char *text);      /* +OK */
void resp_error(struct out *o, const char *format, ...) /* -ERR ... */
    __attribute__((format(printf, 2, 3)));
void resp_number(struct out *o, int64_t n);            /* :1 */
void resp_flag(struct out *o, bool is, bool three);    /* :1, or #t */
void resp_double(struct out *o, double x, bool three); /* $3 0.1, ,0.1 */
void resp_bulk(struct out *o, const void *bytes, size_t len); /* $3 abc */
void resp_text(struct out *o, const char *text);              /* the same */
void resp_null(struct out *o, bool three);                    /* $-1, or _ */
void resp_array(struct out *o, size_t n);                     /* *3 */
void resp_map(struct out *o, size_t pairs, bool three);       /* *6, or %3 */

#endif
