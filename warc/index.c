/*
 * index.c - does every line of an index lead to its record?
 *
 *     example,a)/b 20260102030405 {"url": ..., "digest": ..., "offset": ...}
 *     \__________/ \____________/ \_______________________________________/
 *         key          stamp                 object
 *
 * Values of offset, length and status may be strings or numbers.
 */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/url.h>

#include "../lib/disk/disk.h"
#include "../lib/text/json_cursor.h"
#include "../lib/text/number.h"
#include "../lib/text/span.h"
#include "checking.h"
#include "field.h"

enum { LINE_MOST = 1 << 16 };

enum { URL, MIME, STATUS, DIGEST, LENGTH, OFFSET, FILENAME, VALUES };

static const char *const value_names[VALUES] = { "url",     "mime",   "status",
                                                 "digest",  "length", "offset",
                                                 "filename" };

/* The line that is looked at. */
struct warc_line {
    struct warc_check *c;
    struct warc_lines *counts;
    const char *path;
    uint64_t number;
    struct seen_span key, stamp;
    struct seen_span value[VALUES]; /* text NULL: not there */
    char url[512];                  /* for messages */
    bool failed;                    /* memory ran out */
    struct buffer texts;            /* without their escapes */
};

static void complain(struct warc_line *l, bool note, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void complain(struct warc_line *l, bool note, const char *format, ...)
{
    char text[256], clean[256];
    struct warc_fault fault = { .file = l->path,
                                .at = l->number,
                                .type = "",
                                .url = l->url,
                                .note = note,
                                .text = clean };
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    warc_show(clean, sizeof clean, text, strlen(text));
    if (note)
        l->counts->notes++;
    else
        l->counts->faults++;
    l->c->report(l->c->owner, &fault);
}

/* --- the object --- */

/* Numbers and words are values as well as strings: writers differ. */
static bool take_value(struct json_cursor *j, struct seen_span *value)
{
    char type = json_cursor_peek(j);
    const char *begin = j->at;

    if (type == '"')
        return json_cursor_text(j, value);
    if (!json_cursor_skip(j))
        return false;
    *value = (struct seen_span){ begin, (size_t)(j->at - begin) };
    return true;
}

static bool read_object(struct warc_line *l, struct seen_span rest)
{
    struct seen_span name, value;
    struct json_cursor j;

    memset(l->value, 0, sizeof l->value);
    json_cursor_begin(&j, rest, &l->texts);
    json_cursor_open(&j, '{');
    while (json_cursor_next(&j, '}') && json_cursor_name(&j, &name) &&
           take_value(&j, &value))
        for (unsigned i = 0; i < VALUES; i++) {
            if (!span_is(name, value_names[i]))
                continue;
            if (l->value[i].text)
                return json_cursor_fail(&j, "twice");
            l->value[i] = value;
        }
    l->failed = l->texts.failed;
    return json_cursor_done(&j);
}

/* "BASE32" is SHA-1. */
static bool digest_of(const struct warc_line *l, uint64_t *print)
{
    struct seen_span text = l->value[DIGEST];
    unsigned char bytes[WARC_DIGEST_MOST];
    const struct warc_algorithm *a;
    char labelled[WARC_DIGEST_TEXT];
    int n;

    if (!text.text || text.len > 140)
        return false;
    n = snprintf(labelled, sizeof labelled, "%s%.*s",
                 memchr(text.text, ':', text.len) ? "" : "sha1:",
                 (int)text.len, text.text);
    if (warc_digest_read((struct seen_span){ labelled, (size_t)n }, &a,
                         bytes) != WARC_DIGEST_GOOD)
        return false;
    *print = warc_digest_print(a, bytes);
    return true;
}

/* --- the line and its record --- */

static void compare(struct warc_line *l, const struct warc_entry *e)
{
    const struct seen_span *value = l->value;
    bool revisit = e->flags & WARC_ENTRY_REVISIT;
    uint64_t number;

    if (!warc_print_same(warc_print(value[URL].text, value[URL].len), e->url))
        complain(l, false, "the record there has another URL");
    if (l->stamp.len != 14 || memcmp(l->stamp.text, e->stamp, 14))
        complain(l, false, "the record there has another date: %.14s",
                 e->stamp);
    if (digest_of(l, &number)) {
        if (!(e->flags & WARC_ENTRY_DIGEST) || number != e->digest)
            complain(l, false, "the record there has another digest");
    } else if (value[DIGEST].text && !span_is(value[DIGEST], "-")) {
        complain(l, false, "its digest is not one");
    }
    if (!number_digits(value[LENGTH], &number))
        complain(l, false, "it has no length");
    else if (e->length && number != e->length)
        complain(l, false, "the record there has another length: %llu",
                 (unsigned long long)e->length);
    if (number_digits(value[STATUS], &number) && e->status &&
        number != e->status)
        complain(l, false, "the record there has another status: %u",
                 e->status);
    if (revisit != span_is(value[MIME], "warc/revisit"))
        complain(l, false,
                 revisit ? "the record there is a revisit"
                         : "the record there is not a revisit");
}

/* Keys of requests with a body have more than the URL in them. */
static void check_key(struct warc_line *l, struct seen_span url)
{
    char text[SEEN_KEY_TEXT];
    const char *key;
    size_t len;

    if (memmem(l->key.text, l->key.len, "__wb_", 5) ||
        seen_url_surt(&key, &len, text, url.text, url.len, NULL) != SEEN_OK)
        return;
    if (!span_equal(l->key, (struct seen_span){ key, len }))
        complain(l, true, "its key is not that of its URL");
}

static void check_line(struct warc_line *l)
{
    struct seen_span url = l->value[URL], file = l->value[FILENAME];
    int shown = file.len < 120 ? (int)file.len : 120;
    struct warc_entry *e;
    uint64_t at;
    bool known;

    if (!url.text || !file.text || !number_digits(l->value[OFFSET], &at)) {
        complain(l, false, "it lacks url, filename or offset");
        return;
    }
    warc_show(l->url, sizeof l->url, url.text, url.len);
    check_key(l, url);
    e = warc_catalogue_find(&l->c->found, file, at, &known);
    if (!known) {
        complain(l, false, "it points to %.*s, which was not checked", shown,
                 file.text);
    } else if (!e) {
        complain(l, false, "no record begins at byte %llu of %.*s",
                 (unsigned long long)at, shown, file.text);
    } else if (!(e->flags & WARC_ENTRY_CAPTURE)) {
        complain(l, false, "the record there is not a capture");
    } else {
        if (e->flags & WARC_ENTRY_INDEXED)
            complain(l, false, "another line points to the same record");
        e->flags |= WARC_ENTRY_INDEXED;
        compare(l, e);
    }
}

static void read_line(struct warc_line *l, const char *text, size_t len)
{
    struct seen_span rest = { text, len };

    l->url[0] = '\0';
    if (len > LINE_MOST || !span_cut(&rest, ' ', &l->key) ||
        !span_cut(&rest, ' ', &l->stamp) || !read_object(l, rest)) {
        if (!l->failed)
            complain(l, false, "not a line of CDXJ");
    } else
        check_line(l);
}

/* In the order of bytes, which `LC_ALL=C sort` makes. */
static bool sorted(const char *before, size_t before_len, const char *text,
                   size_t len)
{
    int order = memcmp(before, text, before_len < len ? before_len : len);

    return order < 0 || (!order && before_len <= len);
}

static void read_lines(struct warc_line *l, FILE *file)
{
    char *text = NULL, *before = NULL;
    size_t room = 0, before_room = 0, before_len = 0;
    ssize_t len;

    while (!l->failed && (len = getline(&text, &room, file)) >= 0) {
        size_t n = (size_t)len, swap = room;
        char *other = text;

        l->number++;
        while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
            n--;
        if (!n || *text == '!') /* a comment of other writers */
            continue;
        l->counts->lines++;
        if (before && !sorted(before, before_len, text, n))
            l->counts->unsorted = true;
        read_line(l, text, n);
        text = before;
        room = before_room;
        before = other;
        before_room = swap;
        before_len = n;
    }
    if (!feof(file) && !ferror(file))
        l->failed = true; /* getline() had no memory */
    free(text);
    free(before);
}

enum seen_code warc_check_index(struct warc_check *c, const char *path,
                                struct warc_lines *counts,
                                struct seen_error *why)
{
    int fd = disk_open(path, O_RDONLY, 0);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    struct warc_line *l = file ? calloc(1, sizeof *l) : NULL;
    enum seen_code code = SEEN_OK;

    *counts = (struct warc_lines){ .lines = 0 };
    if (!file) {
        code = fd < 0 && errno == EINVAL
                   ? seen_fail(why, SEEN_RANGE, 0, "is not a regular file")
                   : seen_fail(why, SEEN_IO, 0, "cannot be opened");
        if (fd >= 0)
            close(fd);
        return code;
    }
    if (!l) {
        fclose(file);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a line");
    }
    l->c = c;
    l->counts = counts;
    l->path = path;
    read_lines(l, file);
    if (ferror(file))
        code = seen_fail(why, SEEN_IO, 0, "cannot be read");
    else if (l->failed)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a line");
    fclose(file);
    buffer_clear(&l->texts);
    free(l);
    for (size_t i = 0; i < c->found.n; i++)
        counts->unindexed += (c->found.entry[i].flags &
                              (WARC_ENTRY_CAPTURE | WARC_ENTRY_INDEXED)) ==
                             WARC_ENTRY_CAPTURE;
    return code;
}
