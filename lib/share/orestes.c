/*
 * orestes.c - the JSON of the library that the archives report used.
 *
 *     {"m":1000,"h":7,"b":"AAEC..."}
 *
 * m bits, h probes, and the bits in base64: bit i is bit i % 8 of byte i / 8,
 * as in our cells. The library writes what java.util.BitSet.toByteArray()
 * gives, which ends with the last byte that is not zero; so do we, and bytes
 * that are missing are zero.
 *
 * The text may have hundreds of megabytes, and b may come before m. So it is
 * read twice: once over all of it, for the numbers and the position of b;
 * then b alone, into cells that exist by then. JSON libraries hold a text in
 * memory to the last byte; this scan needs the same memory for any text.
 *
 * Why in the library: the archives report's tool publishes its filters in this
 * form, so seen harvest meets it on the web (harvest/form.c) and seen convert
 * answers in it. It is read from strangers and written into cells, which only
 * the library may do.
 */
#include <seen/share.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/kind_writer.h>

#include "../filter/cells.h"
#include "../filter/storage.h"
#include "../store/save.h"
#include "../text/hex.h"
#include "../text/space.h"
#include "base64.h"
#include "out.h"
#include "rows.h"

/* The only kind that this form can hold. */
static const char orestes_kind[] = "bloom:orestes";

/* --- out -------------------------------------------------------------- */

enum { OUT_PIECE = 3 * 16384 };

/* Is a bit of the last byte set that no probe reaches? */
static bool beyond(const struct seen_filter *f)
{
    uint64_t bits = f->plan.bits;

    return bits % 8 && f->cells[bits / 8] >> bits % 8;
}

static enum seen_code check_kind(const struct seen_filter *f,
                                 struct seen_error *why)
{
    const struct seen_plan *plan = seen_filter_plan(f);
    enum seen_code code;

    if (strcmp(plan->kind, orestes_kind))
        return seen_fail(why, SEEN_UNABLE, 0,
                         "has kind %s; the JSON of Orestes can hold only %s",
                         plan->kind, orestes_kind);
    if (strcmp(plan->profile, "raw"))
        return seen_fail(why, SEEN_UNABLE, 0,
                         "has profile %s; the JSON of Orestes can hold only "
                         "profile raw",
                         plan->profile);
    if (!f->cells)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "does not have its cells in memory");
    code = storage_check_all(f, why);
    if (code == SEEN_OK && beyond(f))
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "has bits set behind the last one");
    return code;
}

static void put_bits(struct share_out *to, const unsigned char *cells,
                     size_t len)
{
    while (len && !cells[len - 1])
        len--;
    for (size_t at = 0; at < len; at += OUT_PIECE) {
        size_t some = len - at < OUT_PIECE ? len - at : OUT_PIECE;
        char *letters = buffer_room(&to->text, base64_length(some));

        if (!letters)
            return;
        base64_encode(letters, cells + at, some);
        to->text.len += base64_length(some);
        share_out_more(to);
    }
}

enum seen_code seen_orestes_write(const struct seen_filter *f, int fd,
                                  struct seen_error *why)
{
    enum seen_code code = check_kind(f, why);
    struct share_out to;

    if (code != SEEN_OK)
        return code;
    share_out_open(&to, fd, NULL);
    buffer_text(&to.text, "{\"m\":");
    buffer_number(&to.text, f->plan.bits);
    buffer_text(&to.text, ",\"h\":");
    buffer_number(&to.text, f->plan.probes);
    buffer_text(&to.text, ",\"b\":\"");
    put_bits(&to, f->cells, (size_t)((f->plan.bits + 7) / 8));
    buffer_text(&to.text, "\"}\n");
    code = share_out_close(&to, why);
    return storage_kept(f, code, why);
}

static enum seen_code write_filter(void *f, int fd, struct seen_error *why)
{
    return seen_orestes_write(*(const struct seen_filter **)f, fd, why);
}

enum seen_code seen_orestes_save(const struct seen_filter *f, const char *path,
                                 struct seen_error *why)
{
    return store_save_as(path, write_filter, &f, why);
}

/* --- in: the text ------------------------------------------------------ */

enum {
    PIECE = 64 << 10, /* bytes of the file, or letters of b, at a time */
    DEPTH = 33,       /* of values inside each other */
    NAME = 8          /* longer names are not ours */
};

/*
 * RFC 8259 as far as it must be understood to find m, h and b: other members
 * are skipped by their structure. Functions return false once something is
 * wrong; `code` is the first error.
 */
struct orestes {
    uint64_t m, h, b; /* bits, probes, where the letters of b begin; or 0 */
    int fd;
    uint64_t before; /* bytes of the file before `text` */
    size_t at, end;  /* bytes that were read and not yet used */
    enum seen_code code;
    struct seen_error *why;
    char text[PIECE], letters[PIECE];
    unsigned char bytes[PIECE / 4 * 3];
};

static bool bad(struct orestes *o, const char *what)
{
    uint64_t at = o->before + o->at;

    if (o->code == SEEN_OK)
        o->code = seen_fail(o->why, SEEN_CORRUPT, at, "byte %llu: %s",
                            (unsigned long long)at, what);
    return false;
}

/* Look at the next byte; -1 at the end. */
static int peek(struct orestes *o)
{
    ssize_t n = 0;

    if (o->at == o->end && o->code == SEEN_OK) {
        o->before += o->end;
        o->at = o->end = 0;
        do
            n = pread(o->fd, o->text, PIECE, (off_t)o->before);
        while (n < 0 && errno == EINTR);
        if (n < 0)
            o->code = seen_fail(o->why, SEEN_IO, o->before, "cannot be read");
        else
            o->end = (size_t)n;
    }
    return o->at < o->end ? (unsigned char)o->text[o->at] : -1;
}

/* The same after white space. */
static int peek_token(struct orestes *o)
{
    int c;

    while (space_xml((char)(c = peek(o))))
        o->at++;
    return c;
}

static bool expect(struct orestes *o, char want)
{
    char says[] = "'?' is missing; the file was cut short or changed";

    says[1] = want;
    if (peek_token(o) != want)
        return bad(o, says);
    o->at++;
    return true;
}

/* The letter of an escape such as \/ or \u003d, after its backslash. Anything
   but ASCII becomes a backslash, which neither our names nor base64 have. */
static char escaped(struct orestes *o)
{
    unsigned x = 0;
    int c = peek(o);

    o->at += c >= 0;
    if (c != 'u')
        return c == '/' ? '/' : '\\';
    for (int i = 0; i < 4; i++, o->at++) {
        int digit = (c = peek(o)) < 0 ? -1 : hex_digit((char)c);

        if (digit < 0)
            return '\\';
        x = x << 4 | (unsigned)digit;
    }
    return x && x < 0x80 ? (char)x : '\\';
}

/* Read up to `room` letters of a string, after its first quote. *ended: its
   last quote was read, too. */
static bool take_letters(struct orestes *o, char *to, size_t room, size_t *len,
                         bool *ended)
{
    for (*len = 0; *len < room;) {
        int c = peek(o);

        if (c < 0)
            return bad(o, "a string does not end; the file was cut short");
        *ended = c == '"';
        if (*ended) {
            o->at++;
            break;
        }
        if (c == '\\') {
            o->at++;
            to[(*len)++] = escaped(o);
        } else {
            const char *from = o->text + o->at, *stop;
            size_t some = o->end - o->at;

            some = some < room - *len ? some : room - *len;
            if ((stop = memchr(from, '"', some)))
                some = (size_t)(stop - from);
            if ((stop = memchr(from, '\\', some)))
                some = (size_t)(stop - from);
            memcpy(to + *len, from, some);
            *len += some;
            o->at += some;
        }
    }
    return true;
}

/* Read a whole string; `name` is its text, or "" if that is longer. */
static bool take_string(struct orestes *o, char name[NAME])
{
    bool ended = false;
    size_t len;

    if (!expect(o, '"') || !take_letters(o, name, NAME - 1, &len, &ended))
        return false;
    name[len] = '\0';
    while (!ended) {
        if (!take_letters(o, o->letters, PIECE, &len, &ended))
            return false;
        if (len)
            *name = '\0';
    }
    return true;
}

/* Read a number or a word; at most `room` of its letters are kept. */
static bool take_word(struct orestes *o, char *word, size_t room, size_t *len)
{
    int c = peek_token(o);

    for (*len = 0; c > ' ' && !strchr(",}]:\"{[", c); c = peek(o)) {
        if (*len < room)
            word[*len] = (char)c;
        ++*len;
        o->at++;
    }
    return *len || bad(o, "a value is missing; the file was cut short or "
                          "changed");
}

static bool take_number(struct orestes *o, uint64_t *number)
{
    char word[20];
    size_t len;

    if (*number)
        return bad(o, "is there twice");
    if (!take_word(o, word, sizeof word, &len))
        return false;
    return (len <= sizeof word && rows_number(word, len, number) && *number) ||
           bad(o, "m and h are whole numbers above 0");
}

static bool take_list(struct orestes *o, char close, int depth);

static bool skip_value(struct orestes *o, int depth)
{
    char name[NAME];
    size_t len;
    int c = peek_token(o);

    if (c == '"')
        return take_string(o, name);
    if (c != '{' && c != '[')
        return take_word(o, NULL, 0, &len);
    o->at++;
    return take_list(o, c == '{' ? '}' : ']', depth - 1);
}

static bool take_member(struct orestes *o, int depth)
{
    char name[NAME];

    if (!take_string(o, name) || !expect(o, ':'))
        return false;
    if (depth < DEPTH) /* of another object */
        return skip_value(o, depth);
    if (!strcmp(name, "m"))
        return take_number(o, &o->m);
    if (!strcmp(name, "h"))
        return take_number(o, &o->h);
    if (strcmp(name, "b"))
        return skip_value(o, depth);
    if (o->b)
        return bad(o, "is there twice");
    if (peek_token(o) == '"')
        o->b = o->before + o->at + 1;
    return take_string(o, name);
}

/* Read an object or array, after its first bracket. */
static bool take_list(struct orestes *o, char close, int depth)
{
    if (!depth)
        return bad(o, "values are nested too deep");
    if (peek_token(o) == close) {
        o->at++;
        return true;
    }
    for (;; o->at++) {
        if (!(close == '}' ? take_member(o, depth) : skip_value(o, depth)))
            return false;
        if (peek_token(o) != ',')
            return expect(o, close);
    }
}

/* Find m, h and the position of b. */
static enum seen_code scan(struct orestes *o)
{
    if (expect(o, '{') && take_list(o, '}', DEPTH) && peek_token(o) >= 0)
        bad(o, "something follows the object");
    if (o->code == SEEN_OK && !(o->m && o->h && o->b))
        o->code = seen_fail(o->why, SEEN_CORRUPT, 0,
                            "has no %s, so it is not an Orestes filter",
                            !o->m   ? "m"
                            : !o->h ? "h"
                                    : "b");
    return o->code;
}

/* Read the bytes of b, at most `room`; missing ones are left unchanged. */
static enum seen_code take_bits(struct orestes *o, unsigned char *to,
                                size_t room)
{
    bool ended = false, short_group = false;
    size_t n, len;

    o->before = o->b;
    o->at = o->end = 0;
    while (!ended && take_letters(o, o->letters, PIECE, &n, &ended)) {
        if ((n && short_group) ||
            !base64_decode(o->bytes, &len, o->letters, n)) {
            bad(o, "b is not base64");
            break;
        }
        if (len > room) {
            bad(o, "b is longer than the m bits");
            break;
        }
        memcpy(to, o->bytes, len);
        short_group = len < n / 4 * 3;
        to += len;
        room -= len;
    }
    return o->code;
}

/* --- in: the filter ----------------------------------------------------- */

/*
 * Make a filter of m bits and h probes for the capacity that they are best
 * for, n = m ln 2 / h, or for `entries` if that is more.
 */
static enum seen_code make_filter(struct seen_filter **out,
                                  const struct orestes *o, double entries,
                                  struct seen_error *why)
{
    struct seen_plan plan = { .profile = "raw",
                              .bits = o->m,
                              .probes = (unsigned)o->h };
    double best = floor((double)o->m * log(2) / (double)o->h);

    strcpy(plan.kind, orestes_kind);
    if (o->h > 64)
        return seen_fail(why, SEEN_RANGE, 0, "has %llu probes, more than 64",
                         (unsigned long long)o->h);
    if (best < 1)
        best = 1;
    if (entries > best)
        best = ceil(entries);
    plan.capacity = (uint64_t)best;
    return seen_filter_new(out, &plan, why);
}

/* An estimate of its keys; if all bits are set, as if one were not. */
static double held(const struct seen_filter *f)
{
    double m = (double)f->plan.bits, set = (double)f->set;

    return -m / f->plan.probes * log1p(-fmin(set, m - 1) / m);
}

static enum seen_code fill(struct seen_filter **out, struct orestes *o,
                           struct seen_error *why)
{
    struct seen_filter *f = *out, *larger;
    enum seen_code code = take_bits(o, f->cells, (size_t)((o->m + 7) / 8));

    if (code == SEEN_OK && beyond(f))
        code = seen_fail(why, SEEN_CORRUPT, o->b,
                         "b has bits behind the %llu of m",
                         (unsigned long long)o->m);
    if (code != SEEN_OK)
        return code;
    f->set = cells_count(f->cells, f->size);
    if (held(f) <= (double)f->plan.capacity)
        return SEEN_OK;
    code = make_filter(&larger, o, held(f), why);
    if (code == SEEN_OK) { /* exchange the cells: they may be large */
        unsigned char *cells = larger->cells;

        larger->cells = f->cells;
        f->cells = cells;
        larger->set = f->set;
        seen_filter_free(f);
        *out = larger;
    }
    return code;
}

enum seen_code seen_orestes_load(struct seen_filter **out, const char *path,
                                 struct seen_error *why)
{
    struct orestes *o = calloc(1, sizeof *o);
    enum seen_code code;
    int system;

    *out = NULL;
    if (!o)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a text");
    o->why = why;
    o->fd = open(path, O_RDONLY | O_CLOEXEC);
    code = o->fd < 0 ? seen_fail(why, SEEN_IO, 0, "cannot be opened")
                     : scan(o);
    if (code == SEEN_OK)
        code = make_filter(out, o, 0, why);
    if (code == SEEN_OK)
        code = fill(out, o, why);
    system = errno;
    if (code != SEEN_OK) {
        seen_filter_free(*out);
        *out = NULL;
    }
    if (o->fd >= 0)
        close(o->fd);
    free(o);
    errno = system;
    return code;
}
