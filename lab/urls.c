/*
 * urls.c - the URLs of an experiment: made up, or the user's own.
 *
 * A list is read whole and stays in memory; a line is known by where it
 * begins. Lines that come again are found by a table of open addressing, of
 * which a slot has 32 bits of the line's hash and its number:
 *
 *     slot    | hash, upper half | 1 + number of the line |    0: empty
 *
 * Where the halves agree the texts are compared, so what is left out is a
 * repetition for certain. The table is given back after reading.
 */
#include "urls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made.h"

struct urls {
    struct made made;
    /* Of a list only: */
    char *text;
    size_t len;
    uint64_t *begin; /* of each line */
    size_t count, room;
    uint64_t repeated, bad;
};

enum seen_code urls_new(struct urls **out, uint64_t seed,
                        struct seen_error *why)
{
    struct urls *u = calloc(1, sizeof *u);

    *out = u;
    if (!u)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for URLs");
    made_init(&u->made, seed);
    return SEEN_OK;
}

void urls_free(struct urls *u)
{
    if (!u)
        return;
    free(u->text);
    free(u->begin);
    free(u);
}

/* --- reading a list --- */

/* All of a file, or of a pipe. */
static enum seen_code read_all(struct urls *u, const char *path,
                               struct seen_error *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum seen_code code = SEEN_OK;
    size_t room = 0;
    struct stat st;

    if (fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    if (!fstat(fd, &st) && st.st_size > 0)
        room = (size_t)st.st_size;
    for (;;) {
        ssize_t n;

        if (u->len + 1 >= room || !u->text) {
            char *more;

            room = u->text ? room + room / 2 : room;
            room += 1 << 16;
            more = realloc(u->text, room);
            if (!more) {
                code = seen_fail(why, SEEN_NOMEM, 0,
                                 "no memory for a list of %zu bytes", room);
                break;
            }
            u->text = more;
        }
        n = read(fd, u->text + u->len, room - u->len - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            code = seen_fail(why, SEEN_IO, u->len, "cannot be read");
        if (n <= 0)
            break;
        u->len += (size_t)n;
    }
    close(fd);
    return code;
}

/* Where a line that begins here ends, without CR and LF. */
static size_t line_end(const struct urls *u, size_t begin)
{
    const char *lf = memchr(u->text + begin, '\n', u->len - begin);
    size_t end = lf ? (size_t)(lf - u->text) : u->len;

    return end > begin && u->text[end - 1] == '\r' ? end - 1 : end;
}

struct slots {
    uint64_t *slot;
    size_t mask; /* of 2^x of them */
};

static bool same(const struct urls *u, size_t i, const struct seen_key *key)
{
    size_t begin = (size_t)u->begin[i];

    return line_end(u, begin) - begin == key->len &&
           !memcmp(u->text + begin, key->text, key->len);
}

/* The slot of a line, or the empty one that it would have. */
static uint64_t *find(const struct urls *u, const struct slots *s,
                      const struct seen_key *key)
{
    for (size_t i = key->lo & s->mask;; i = (i + 1) & s->mask) {
        uint64_t slot = s->slot[i];

        if (!slot || (slot >> 32 == key->hi >> 32 &&
                      same(u, (size_t)(slot & UINT32_MAX) - 1, key)))
            return &s->slot[i];
    }
}

/* Twice as many slots, when half of them are taken. */
static bool grow(const struct urls *u, struct slots *s)
{
    struct slots more = { .mask = s->slot ? 2 * s->mask + 1 : 0xfff };
    struct seen_key key;

    more.slot = calloc(more.mask + 1, sizeof *more.slot);
    if (!more.slot)
        return false;
    for (size_t i = 0; i < u->count; i++) {
        size_t begin = (size_t)u->begin[i], at;

        seen_key_hash(&key, u->text + begin, line_end(u, begin) - begin);
        for (at = key.lo & more.mask; more.slot[at];)
            at = (at + 1) & more.mask;
        more.slot[at] = key.hi >> 32 << 32 | (i + 1);
    }
    free(s->slot);
    *s = more;
    return true;
}

static bool keep(struct urls *u, uint64_t begin)
{
    if (u->count == u->room) {
        size_t room = u->room ? 2 * u->room : 1 << 16;
        uint64_t *more = realloc(u->begin, room * sizeof *more);

        if (!more)
            return false;
        u->begin = more;
        u->room = room;
    }
    u->begin[u->count++] = begin;
    return true;
}

static enum seen_code read_lines(struct urls *u, struct seen_error *why)
{
    struct slots s = { 0 };
    enum seen_code code = SEEN_OK;
    struct seen_key key;

    for (size_t at = 0, end; at < u->len && code == SEEN_OK; at = end + 1) {
        size_t len = line_end(u, at) - at;
        uint64_t *slot;

        end = at + len + (at + len < u->len && u->text[at + len] == '\r');
        if (!len || len > URL_MOST) {
            u->bad++;
            continue;
        }
        if ((!s.slot || u->count > s.mask / 2) && !grow(u, &s)) {
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory to compare lines");
            break;
        }
        seen_key_hash(&key, u->text + at, len);
        slot = find(u, &s, &key);
        if (*slot)
            u->repeated++;
        else if (u->count == UINT32_MAX - 1)
            code = seen_fail(why, SEEN_RANGE, at, "has more than 2^32 lines");
        else if (!keep(u, at))
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory for lines");
        else
            *slot = key.hi >> 32 << 32 | u->count;
    }
    free(s.slot);
    return code;
}

enum seen_code urls_load(struct urls **out, const char *path,
                         struct seen_error *why)
{
    struct urls *u = calloc(1, sizeof *u);
    enum seen_code code;

    *out = NULL;
    if (!u)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for URLs");
    code = read_all(u, path, why);
    if (code == SEEN_OK && u->len > 1 && !memcmp(u->text, "\x1f\x8b", 2))
        code = seen_fail(why, SEEN_RANGE, 0,
                         "is compressed; give it as <(zcat FILE)");
    if (code == SEEN_OK)
        code = read_lines(u, why);
    if (code == SEEN_OK && !u->count)
        code = seen_fail(why, SEEN_RANGE, 0, "has no URL");
    if (code != SEEN_OK) {
        urls_free(u);
        return code;
    }
    *out = u;
    return SEEN_OK;
}

/* --- using them --- */

uint64_t urls_count(const struct urls *u)
{
    return u->text ? u->count : UINT64_MAX;
}

uint64_t urls_repeated(const struct urls *u)
{
    return u->repeated;
}

uint64_t urls_bad(const struct urls *u)
{
    return u->bad;
}

size_t urls_get(const struct urls *u, uint64_t i, char url[URL_MOST])
{
    size_t begin, len;

    if (!u->text)
        return made_url(&u->made, i, url);
    begin = (size_t)u->begin[i % u->count];
    len = line_end(u, begin) - begin;
    memcpy(url, u->text + begin, len);
    return len;
}

void urls_keys(const struct urls *u, uint64_t from, size_t n,
               struct seen_key *key, char *text)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = urls_get(u, from + i, text);

        seen_key_hash(&key[i], text, len);
        text += len;
    }
}

_Static_assert((int)MADE_MOST <= (int)URL_MOST, "made-up URLs fit");
