/*
 * source.c - the unpacked bytes of a WARC file, unit by unit.
 *
 *     file      | member | member | ##damage## | member | ...
 *                  unit     unit                  ^
 *                                                 warc_source_find()
 *
 * After damage the next record has to be found among packed bytes. The two
 * bytes that begin a member, and the third, occur by chance every 16 MB, and
 * packed data may contain members of its own. So a candidate is unpacked, up
 * to TRIAL bytes, and counts if it begins with "WARC/": to take payload for a
 * record would put a page into an archive that was never fetched.
 *
 * Memory is constant: 64 KiB packed and WARC_PEEK_MOST unpacked. `effort`
 * counts all bytes that were looked at, so that the caller can bound what a
 * file full of false candidates costs.
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/disk/disk.h"

enum {
    IN = 1 << 16,
    TRIAL = 1 << 10 /* packed bytes that must begin a record, unpacked */
};

static void fail(struct warc_source *s)
{
    s->code = seen_fail(&s->why, SEEN_IO, 0, "cannot be read");
    s->state = WARC_UNIT_CUT;
}

/* Read until `room` is full or the file ends; 0 after a failure. */
static size_t read_at(struct warc_source *s, void *to, size_t room,
                      uint64_t at)
{
    size_t have = 0;

    while (s->code == SEEN_OK && have < room && at + have < s->size) {
        ssize_t n = pread(s->fd, (char *)to + have, room - have,
                          (off_t)(at + have));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            fail(s);
        if (n <= 0)
            break;
        have += (size_t)n;
    }
    return s->code == SEEN_OK ? have : 0;
}

/*
 * A file is packed if it begins with a gzip member; or, if it begins with
 * something that is not a record either, if there are members of records in
 * it: then its first bytes are damaged.
 */
static bool is_packed(struct warc_source *s)
{
    char head[5];
    size_t n = read_at(s, head, sizeof head, 0);

    return inflate_is_gzip(head, n) ||
           (n == sizeof head && memcmp(head, "WARC/", sizeof head) &&
            warc_source_find(s, 0) < s->size);
}

enum seen_code warc_source_open(struct warc_source *s, const char *path,
                                struct seen_error *why)
{
    struct stat it;

    *s = (struct warc_source){ .fd = disk_open(path, O_RDONLY, 0) };
    if (s->fd < 0 && errno == EINVAL)
        return seen_fail(why, SEEN_RANGE, 0, "is not a regular file");
    if (s->fd < 0 || fstat(s->fd, &it))
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    s->size = (uint64_t)it.st_size;
    s->out = malloc(WARC_PEEK_MOST);
    s->in = malloc(IN);
    if (!s->out || !s->in ||
        inflate_begin(&s->z, INFLATE_GZIP, NULL) != SEEN_OK ||
        inflate_begin(&s->trial, INFLATE_GZIP, NULL) != SEEN_OK)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to read it");
    s->gzip = is_packed(s);
    if (s->code != SEEN_OK && why)
        *why = s->why;
    return s->code;
}

void warc_source_close(struct warc_source *s)
{
    if (s->fd >= 0)
        close(s->fd);
    inflate_clear(&s->z);
    inflate_clear(&s->trial);
    free(s->in);
    free(s->out);
    *s = (struct warc_source){ .fd = -1 };
}

void warc_source_begin(struct warc_source *s, uint64_t at)
{
    s->unit = at;
    s->unpacked = 0;
    s->out_at = s->out_len = 0;
    s->at = s->out;
    s->state = s->code == SEEN_OK ? WARC_UNIT_GOES_ON : WARC_UNIT_CUT;
    if (s->gzip) {
        /* The memory is there already: this cannot fail. */
        (void)inflate_begin(&s->z, INFLATE_GZIP, NULL);
        if (at <= s->in_end && s->in_end - at <= s->in_len) {
            s->in_at = s->in_len - (size_t)(s->in_end - at);
        } else {
            s->in_at = s->in_len = 0;
            s->in_end = at;
        }
    } else {
        s->in_end = at;
    }
}

/* More bytes of a plain file. */
static void fill_plain(struct warc_source *s)
{
    size_t n = read_at(s, s->out + s->out_len, WARC_PEEK_MOST - s->out_len,
                       s->in_end);

    s->out_len += n;
    s->in_end += n;
    if (!n && s->state == WARC_UNIT_GOES_ON)
        s->state = WARC_UNIT_ENDED;
}

/* More bytes of a member. */
static void fill_gzip(struct warc_source *s)
{
    const void *in;
    size_t left, made;
    enum inflate_result result;

    if (s->in_at == s->in_len) {
        s->in_at = 0;
        s->in_len = read_at(s, s->in, IN, s->in_end);
        s->in_end += s->in_len;
    }
    in = s->in + s->in_at;
    left = s->in_len - s->in_at;
    result = inflate_some(&s->z, &in, &left, s->out + s->out_len,
                          WARC_PEEK_MOST - s->out_len, &made);
    if (!s->in_len && !made && result == INFLATE_MORE)
        s->state = WARC_UNIT_CUT;
    if (result != INFLATE_DAMAGE)
        s->in_at = s->in_len - left;
    s->out_len += made;
    if (result == INFLATE_END)
        s->state = WARC_UNIT_ENDED;
    else if (result == INFLATE_DAMAGE)
        s->state = WARC_UNIT_DAMAGED;
}

size_t warc_source_peek(struct warc_source *s, size_t want)
{
    if (s->out_len - s->out_at < want && s->out_at) {
        memmove(s->out, s->out + s->out_at, s->out_len - s->out_at);
        s->out_len -= s->out_at;
        s->out_at = 0;
    }
    while (s->out_len - s->out_at < want && s->state == WARC_UNIT_GOES_ON &&
           s->out_len < WARC_PEEK_MOST) {
        if (s->gzip)
            fill_gzip(s);
        else
            fill_plain(s);
    }
    s->at = s->out + s->out_at;
    return s->out_len - s->out_at;
}

void warc_source_skip(struct warc_source *s, size_t n)
{
    s->out_at += n;
    s->at += n;
    s->unpacked += n;
}

uint64_t warc_source_here(const struct warc_source *s)
{
    return s->gzip ? s->in_end - (s->in_len - s->in_at)
                   : s->unit + s->unpacked;
}

bool warc_source_begins(struct warc_source *s, uint64_t at, bool *member)
{
    unsigned char packed[TRIAL];
    size_t len = read_at(s, packed, sizeof packed, at), made = 0, some;
    const void *in = packed;
    enum inflate_result result = INFLATE_MORE;
    char text[5];

    *member = inflate_is_gzip(packed, len);
    if (!*member)
        return false;
    s->effort += len;
    (void)inflate_begin(&s->trial, INFLATE_GZIP, NULL);
    do {
        result = inflate_some(&s->trial, &in, &len, text + made,
                              sizeof text - made, &some);
        made += some;
    } while (result == INFLATE_MORE && made < sizeof text && (len || some));
    *member = result != INFLATE_DAMAGE;
    return made == sizeof text && !memcmp(text, "WARC/", sizeof text);
}

uint64_t warc_source_find(struct warc_source *s, uint64_t at)
{
    unsigned char *bytes = (unsigned char *)s->out; /* of a unit that ended */
    bool member;

    s->out_at = s->out_len = 0;
    while (at < s->size && s->code == SEEN_OK) {
        size_t len = read_at(s, bytes, WARC_PEEK_MOST, at);
        size_t i = 0;

        for (; i + 3 <= len; i++) {
            unsigned char *next = memchr(bytes + i, 0x1f, len - i - 2);

            if (!next) {
                i = len - 2;
                break;
            }
            i = (size_t)(next - bytes);
            if (inflate_is_gzip(next, 3) &&
                warc_source_begins(s, at + i, &member))
                return at + i;
        }
        s->effort += i;
        if (len < 3)
            break;
        at += i;
    }
    return s->size;
}
