/*
 * orestes_scan.c - a JSON object as a stream of bytes.
 *
 * RFC 8259 as far as it must be understood to find m, h and b: values of
 * other names are skipped by their structure, and letters of strings are not
 * looked at. Memory does not depend on the text.
 */
#define _POSIX_C_SOURCE 200809L
#include "orestes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base64.h"
#include "rows.h"

enum {
    READ_ROOM = 256 << 10,
    LETTERS = 64 << 10, /* of base64 that are decoded at once */
    DEPTH = 32,         /* of values that are skipped */
    NAME = 8            /* longer names are none of ours */
};

enum seen_code orestes_open(struct orestes *o, const char *path,
                            struct seen_error *why)
{
    memset(o, 0, sizeof *o);
    o->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (o->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    o->text = malloc(READ_ROOM);
    if (!o->text)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a text");
    return SEEN_OK;
}

void orestes_close(struct orestes *o)
{
    int system = errno;

    free(o->text);
    if (o->fd >= 0)
        close(o->fd);
    errno = system;
}

static uint64_t place(const struct orestes *o)
{
    return o->before + o->at;
}

static enum seen_code bad(const struct orestes *o, const char *what)
{
    return seen_fail(o->why, SEEN_CORRUPT, place(o), "byte %llu: %s",
                     (unsigned long long)place(o), what);
}

/* Have a byte to take, or be `over`. */
static enum seen_code refill(struct orestes *o)
{
    ssize_t n;

    if (o->at < o->end || o->over)
        return SEEN_OK;
    o->before += o->end;
    o->at = o->end = 0;
    do
        n = pread(o->fd, o->text, READ_ROOM, (off_t)o->before);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return seen_fail(o->why, SEEN_IO, o->before, "cannot be read");
    o->over = !n;
    o->end = (size_t)n;
    return SEEN_OK;
}

/* The next byte, which stays; *c is -1 at the end. */
static enum seen_code peek(struct orestes *o, int *c)
{
    enum seen_code code = refill(o);

    *c = o->at < o->end ? (unsigned char)o->text[o->at] : -1;
    return code;
}

/* The same after white space. */
static enum seen_code peek_word(struct orestes *o, int *c)
{
    enum seen_code code = peek(o, c);

    while (code == SEEN_OK &&
           (*c == ' ' || *c == '\t' || *c == '\n' || *c == '\r')) {
        o->at++;
        code = peek(o, c);
    }
    return code;
}

static enum seen_code expect(struct orestes *o, char want)
{
    char says[] = "'?' is missing; the file was cut short or changed";
    int c;
    enum seen_code code = peek_word(o, &c);

    says[1] = want;
    if (code == SEEN_OK && c != want)
        return bad(o, says);
    o->at += code == SEEN_OK;
    return code;
}

/* How many of the bytes that are read are before `stop`. */
static size_t run_to(const struct orestes *o, size_t most, char stop)
{
    const char *found = memchr(o->text + o->at, stop, most);

    return found ? (size_t)(found - o->text) - o->at : most;
}

/*
 * The rest of a string, whose first quote was taken. Its first letters go to
 * `name`, with a zero; "" if there are more than it takes, or escapes: then
 * it is none of ours.
 */
static enum seen_code take_string(struct orestes *o, char name[NAME])
{
    enum seen_code code;
    size_t n = 0;
    bool ours = true;
    int c;

    for (;;) {
        code = peek(o, &c);
        if (code != SEEN_OK)
            return code;
        if (c < 0)
            return bad(o, "a string does not end; the file was cut short");
        o->at++;
        if (c == '"')
            break;
        if (c == '\\') {
            code = peek(o, &c);
            if (code != SEEN_OK)
                return code;
            o->at += c >= 0;
            ours = false;
        } else if (n + 1 < NAME) {
            name[n++] = (char)c;
        } else { /* the long ones, fast */
            o->at += run_to(o, run_to(o, o->end - o->at, '"'), '\\');
            ours = false;
        }
    }
    name[ours ? n : 0] = '\0';
    return SEEN_OK;
}

static enum seen_code skip_string(struct orestes *o)
{
    char name[NAME];
    enum seen_code code = expect(o, '"');

    return code == SEEN_OK ? take_string(o, name) : code;
}

/* A number or a word: all up to what may follow it. At most `room` of it. */
static enum seen_code take_word(struct orestes *o, char *word, size_t room,
                                size_t *len)
{
    enum seen_code code;
    int c;

    *len = 0;
    while ((code = peek(o, &c)) == SEEN_OK && c > ' ' && c != ',' &&
           c != '}' && c != ']' && c != ':' && c != '"' && c != '{' &&
           c != '[') {
        if (*len < room)
            word[*len] = (char)c;
        ++*len;
        o->at++;
    }
    if (code == SEEN_OK && !*len)
        return bad(o, "a value is missing; the file was cut short or changed");
    return code;
}

static enum seen_code skip_value(struct orestes *o, int depth);

/* The members of an object or array whose bracket was taken. */
static enum seen_code skip_members(struct orestes *o, bool named, int depth)
{
    const char close = named ? '}' : ']';
    enum seen_code code;
    int c;

    if (!depth)
        return bad(o, "values are nested too deep");
    code = peek_word(o, &c);
    if (code == SEEN_OK && c == close) {
        o->at++;
        return SEEN_OK;
    }
    while (code == SEEN_OK) {
        if (named) {
            code = skip_string(o);
            if (code == SEEN_OK)
                code = expect(o, ':');
        }
        if (code == SEEN_OK)
            code = skip_value(o, depth - 1);
        if (code == SEEN_OK)
            code = peek_word(o, &c);
        if (code == SEEN_OK && c != ',')
            return expect(o, close);
        o->at += code == SEEN_OK;
    }
    return code;
}

static enum seen_code skip_value(struct orestes *o, int depth)
{
    size_t len;
    int c;
    enum seen_code code = peek_word(o, &c);

    if (code != SEEN_OK)
        return code;
    if (c == '"')
        return skip_string(o);
    if (c == '{' || c == '[') {
        o->at++;
        return skip_members(o, c == '{', depth);
    }
    return take_word(o, NULL, 0, &len);
}

static enum seen_code once(const struct orestes *o, bool *has)
{
    if (*has)
        return bad(o, "is there twice");
    *has = true;
    return SEEN_OK;
}

static enum seen_code take_number(struct orestes *o, bool *has,
                                  uint64_t *number)
{
    char word[20];
    size_t len;
    int c;
    enum seen_code code = once(o, has);

    if (code == SEEN_OK)
        code = peek_word(o, &c);
    if (code == SEEN_OK)
        code = take_word(o, word, sizeof word, &len);
    if (code == SEEN_OK &&
        (len > sizeof word || !row_number(word, len, number) || !*number))
        code = bad(o, "m and h are whole numbers above 0");
    return code;
}

static enum seen_code take_member(struct orestes *o, const char *name)
{
    enum seen_code code;

    if (!strcmp(name, "m"))
        return take_number(o, &o->has_m, &o->m);
    if (!strcmp(name, "h"))
        return take_number(o, &o->has_h, &o->h);
    if (strcmp(name, "b"))
        return skip_value(o, DEPTH);
    code = once(o, &o->has_b);
    if (code == SEEN_OK)
        code = expect(o, '"');
    if (code == SEEN_OK) {
        char letters[NAME];

        o->b = place(o);
        code = take_string(o, letters);
    }
    return code;
}

static enum seen_code take_members(struct orestes *o)
{
    char name[NAME];
    enum seen_code code = expect(o, '{');
    int c;

    if (code == SEEN_OK)
        code = peek_word(o, &c);
    if (code == SEEN_OK && c == '}') {
        o->at++;
        return SEEN_OK;
    }
    while (code == SEEN_OK) {
        code = expect(o, '"');
        if (code == SEEN_OK)
            code = take_string(o, name);
        if (code == SEEN_OK)
            code = expect(o, ':');
        if (code == SEEN_OK)
            code = take_member(o, name);
        if (code == SEEN_OK)
            code = peek_word(o, &c);
        if (code == SEEN_OK && c != ',')
            return expect(o, '}');
        o->at += code == SEEN_OK;
    }
    return code;
}

enum seen_code orestes_scan(struct orestes *o, struct seen_error *why)
{
    enum seen_code code;
    int c;

    o->why = why;
    code = take_members(o);
    if (code == SEEN_OK)
        code = peek_word(o, &c);
    if (code == SEEN_OK && c >= 0)
        return bad(o, "something follows the object");
    if (code == SEEN_OK && !(o->has_m && o->has_h && o->has_b))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "has no %s, so it is no filter of Orestes",
                         !o->has_m   ? "m"
                         : !o->has_h ? "h"
                                     : "b");
    return code;
}

/* --- the letters of b ------------------------------------------------- */

/* The four hex digits of \u003d. */
static enum seen_code take_hex(struct orestes *o, unsigned *x)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    int c;

    *x = 0;
    for (int i = 0; i < 4; i++) {
        enum seen_code code = peek(o, &c);
        const char *digit = c > 0 ? strchr(digits, c) : NULL;

        if (code != SEEN_OK)
            return code;
        if (!digit)
            return bad(o, "b is no base64");
        *x = *x << 4 | ((unsigned)(digit - digits) & 15);
        o->at++;
    }
    return SEEN_OK;
}

/* One letter written as \/ or \u003d, whose backslash was taken. */
static enum seen_code take_escape(struct orestes *o, char *letter)
{
    unsigned x = '/';
    int c;
    enum seen_code code = peek(o, &c);

    o->at += c >= 0;
    if (code == SEEN_OK && c == 'u')
        code = take_hex(o, &x);
    else if (code == SEEN_OK && c != '/')
        code = bad(o, "b is no base64");
    if (code == SEEN_OK && x >= 0x80)
        code = bad(o, "b is no base64");
    *letter = (char)x;
    return code;
}

/* As many letters as fit, and whether the string has ended. */
static enum seen_code take_letters(struct orestes *o, char *letters,
                                   size_t *len, bool *ended)
{
    enum seen_code code;
    int c;

    *len = 0;
    *ended = false;
    while (*len < LETTERS) {
        code = peek(o, &c);
        if (code != SEEN_OK)
            return code;
        if (c < 0)
            return bad(o, "b does not end; the file was cut short");
        *ended = c == '"';
        if (*ended)
            break;
        if (c == '\\') {
            o->at++;
            code = take_escape(o, &letters[(*len)++]);
            if (code != SEEN_OK)
                return code;
        } else {
            size_t room = LETTERS - *len, left = o->end - o->at;
            size_t some = run_to(o, room < left ? room : left, '"');

            some = run_to(o, some, '\\');
            memcpy(letters + *len, o->text + o->at, some);
            *len += some;
            o->at += some;
        }
    }
    return SEEN_OK;
}

enum seen_code orestes_bits(struct orestes *o, unsigned char *to, size_t room,
                            struct seen_error *why)
{
    char *letters = malloc(LETTERS);
    unsigned char *bytes = malloc(LETTERS / 4 * 3);
    enum seen_code code = SEEN_OK;
    bool ended = false, short_group = false;

    o->why = why;
    o->before = o->b;
    o->at = o->end = 0;
    o->over = false;
    if (!letters || !bytes)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a text");
    while (code == SEEN_OK && !ended) {
        size_t n, len;

        code = take_letters(o, letters, &n, &ended);
        if (code != SEEN_OK)
            break;
        if ((n && short_group) || !base64_decode(bytes, &len, letters, n))
            code = bad(o, "b is no base64");
        else if (len > room)
            code = bad(o, "b is longer than the m bits");
        else if (len)
            memcpy(to, bytes, len);
        if (code == SEEN_OK) {
            short_group = len < n / 4 * 3;
            to += len;
            room -= len;
        }
    }
    free(letters);
    free(bytes);
    return code;
}
