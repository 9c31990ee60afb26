/*
 * sniff.c - what is this file? Its first 64 KiB, unpacked, decide.
 *
 * A list of URLs has no signature, so a file that is nothing else is a list.
 * Pictures, programs and web pages would then be lists, too, with thousands of
 * bad lines. So common formats without URLs are recognised and refused.
 *
 * WARC and ARC files are recognised before that. What they hold is of any
 * format: the first record may be a picture, or a page that the server packed,
 * and then most of the first 64 KiB are binary data.
 */
#include "source.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "line.h"

size_t cdx_mark(const char *text, size_t len)
{
    return len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

/* --- what holds no URLs --- */

static const struct {
    const char *magic;
    size_t len;
    const char *name;
} foreign[] = {
    { "\x7f"
      "ELF",
      4, "a program" },
    { "%PDF-", 5, "a PDF document" },
    { "\x89PNG", 4, "a PNG image" },
    { "\xff\xd8\xff", 3, "a JPEG image" },
    { "GIF87a", 6, "a GIF image" },
    { "GIF89a", 6, "a GIF image" },
    { "\x89seen\r\n", 7, "a filter" },
    { "\x89seenk\r\n", 8, "the keys of a filter" },
    { "PK\3\4", 4, "a zip file" },
    { "PAR1\x15", 5, "a Parquet file" },
    { "SQLite format 3", 16, "an SQLite database" },
    { "\xff\xfe", 2, "text in UTF-16" },
    { "\xfe\xff", 2, "text in UTF-16" },
    { "\xfd"
      "7zXZ",
      6, "packed by xz" },
    { "7z\xbc\xaf", 4, "packed by 7-Zip" },
};

/*
 * Does it begin like a web page, a feed or a sitemap? Only by their first
 * words: "<a href=" may be one bad line of a list, which costs that line.
 */
static bool is_markup(const char *text, size_t len)
{
    static const char *const word[] = { "!doctype", "?xml",        "!--",
                                        "html",     "head",        "body",
                                        "rss",      "feed",        "urlset",
                                        "svg",      "sitemapindex" };
    const char *end = text + len;

    while (text < end && *text && strchr(" \t\r\n", *text))
        text++;
    if (text == end || *text++ != '<')
        return false;
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++) {
        size_t n = strlen(word[i]);

        if ((size_t)(end - text) > n && !strncasecmp(text, word[i], n) &&
            !isalnum((unsigned char)text[n]))
            return true;
    }
    return false;
}

/* Is one byte in twenty a control byte? Random bytes have twice as many. */
static bool is_binary(const char *text, size_t len)
{
    size_t controls = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        controls += c == 0x7f ||
                    (c < 0x20 && c != '\t' && c != '\n' && c != '\r');
    }
    return len >= 256 && controls > len / 20;
}

/* The name of a format without URLs that begins like this; or NULL. */
static const char *foreign_name(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (len >= foreign[i].len &&
            !memcmp(text, foreign[i].magic, foreign[i].len))
            return foreign[i].name;
    if (len >= 14 && !memcmp(text, "BZh", 3) && !memcmp(text + 4, "1AY&SY", 6))
        return "packed by bzip2";
    if (len >= 262 && !memcmp(text + 257, "ustar", 5))
        return "a tar file";
    if (is_markup(text, len))
        return "HTML or XML";
    return is_binary(text, len) ? "binary data" : NULL;
}

/* WARC and ARC files may begin with empty lines: some tools end each record
   with them, and these are left where a file was split. */
static bool has_records(struct seen_layout *layout, const char *text,
                        size_t len)
{
    while (len && (*text == '\r' || *text == '\n'))
        text++, len--;
    return cdx_layout_records(layout, text, len);
}

const char *cdx_recognise(struct seen_layout *layout, const char *text,
                          size_t len)
{
    size_t mark = cdx_mark(text, len);
    const char *name;

    text += mark;
    len -= mark;
    if (has_records(layout, text, len))
        return NULL;
    name = foreign_name(text, len);
    if (!name)
        cdx_layout_guess(layout, text, len);
    return name;
}

/* --- reading the beginning --- */

static bool is_zip(const char *head, size_t len)
{
    return len >= 4 && !memcmp(head, "PK\3\4", 4);
}

/* Is there a whole line that is not empty, in a file that is not packed? */
static bool has_line(const char *head, size_t len)
{
    const char *stop = len ? head + len : head;

    if (cdx_packing_of(head, len) != CDX_PLAIN || is_zip(head, len))
        return false;
    while (head < stop && (*head == '\n' || *head == '\r'))
        head++;
    return memchr(head, '\n', (size_t)(stop - head)) != NULL;
}

/* A pipe that is read line by line is recognised by its first line. */
static size_t read_head(const struct seen_source *s, struct cdx_file *f,
                        int fd, char *head)
{
    struct cdx_raw raw = {
        .fd = fd, .seeks = f->seeks, .at = f->base, .end = f->end
    };
    size_t len = 0, n;

    if (f->seeks || !s->options.wait) {
        len = cdx_raw_read(&raw, head, SNIFF);
        errno = raw.failed;
        if (raw.failed && !len)
            return SIZE_MAX;
        f->failed = f->seeks ? 0 : raw.failed; /* once what came is used */
        return len;
    }
    do {
        n = cdx_pipe_read(s, fd, head + len, SNIFF - len);
        if (n == SIZE_MAX)
            return n;
        len += n;
    } while (n && len < SNIFF && !has_line(head, len));
    return len;
}

static enum seen_code look(struct cdx_file *f, const char *text, size_t len,
                           struct seen_error *why)
{
    const char *name = cdx_recognise(&f->layout, text, len);

    if (name && !strncmp(name, "packed", 6))
        return seen_fail(why, SEEN_RANGE, 0, "%s; unpack it first", name);
    if (name)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "%s, not an index, an archive or a list of URLs",
                         name);
    return SEEN_OK;
}

/* The same for a packed file. Of a pipe only the head is unpacked. */
static enum seen_code look_inside(struct cdx_file *f, int fd, const char *head,
                                  size_t len, struct seen_error *why)
{
    struct cdx_raw raw = {
        .fd = fd, .seeks = f->seeks, .at = f->base, .end = f->end
    };
    struct cdx_stream s = { .packing = CDX_PLAIN };
    char *text = malloc(SNIFF);
    enum seen_code code = SEEN_NOMEM;

    if (!f->seeks) {
        raw.head = head;
        raw.head_len = len;
        raw.fd = -1;
    }
    if (text)
        code = cdx_stream_begin(&s, f->packing, raw, why);
    else
        seen_fail(why, SEEN_NOMEM, 0, "no memory to unpack");
    if (code == SEEN_OK) {
        size_t n = cdx_stream_read(&s, text, SNIFF);

        f->twice = f->packing == CDX_DEFLATE &&
                   cdx_packing_of(text, n) != CDX_PLAIN;
        /* A guess from a part of the text could be wrong. */
        if (f->seeks && (s.code == SEEN_IO || s.code == SEEN_NOMEM)) {
            code = s.code;
            if (why)
                *why = s.why;
        } else if (!f->twice) {
            code = look(f, text, n, why);
        }
    }
    cdx_stream_clear(&s);
    free(text);
    return code;
}

enum seen_code cdx_sniff(const struct seen_source *s, struct cdx_file *f,
                         struct seen_error *why)
{
    int fd = cdx_file_open(f);
    char *head = malloc(SNIFF);
    enum seen_code code;
    size_t n = fd >= 0 && head ? read_head(s, f, fd, head) : SIZE_MAX;

    if (fd >= 0 && !head) {
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory to read");
    } else if (n == SIZE_MAX) {
        code = seen_fail(why, SEEN_IO, 0, "cannot be read");
    } else {
        if (f->packing == CDX_PLAIN)
            f->packing = cdx_packing_of(head, n);
        if (f->packing == CDX_PLAIN && !f->end && is_zip(head, n))
            f->packing = CDX_ZIP;
        code = f->packing == CDX_ZIP     ? SEEN_OK
               : f->packing == CDX_PLAIN ? look(f, head, n, why)
                                         : look_inside(f, fd, head, n, why);
    }
    if (code == SEEN_OK && !f->seeks) {
        f->head = head;
        f->head_len = n;
        head = NULL;
    }
    if (fd >= 0 && fd != f->fd)
        close(fd);
    free(head);
    return code;
}
