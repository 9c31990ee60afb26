/*
 * line.c - one line of an index, as a capture.
 *
 * Only what is needed is parsed: for the key alone the columns are counted, and
 * of JSON the braces are checked.
 */
#include "line.h"

#include <string.h>
#include <strings.h>

#include "../text/json.h"
#include "../url/text.h"

/* "200", "-"; or "html>", when a space split another column. */
static bool is_status(struct seen_span s)
{
    if (s.len == 1 && *s.text == '-')
        return true;
    for (size_t i = 0; i < s.len; i++)
        if (s.text[i] < '0' || s.text[i] > '9')
            return false;
    return s.len >= 1 && s.len <= 4;
}

static bool is_time_or_none(struct seen_span s)
{
    return (s.len == 1 && *s.text == '-') || cdx_is_time(s.text, s.len);
}

/* --- columns --- */

static void read_columns(struct seen_capture *c, const struct seen_layout *l,
                         enum seen_detail detail)
{
    struct seen_span column[SEEN_COLUMNS];
    unsigned n = cdx_line_split(c->line.text, c->line.len, l->delimiter,
                                column, SEEN_COLUMNS);
    const char *fault = NULL;

    if (n == l->columns + 1 && n <= SEEN_COLUMNS && !column[n - 1].len)
        n--; /* a delimiter that ends the line */
    if (n != l->columns) {
        c->fault = n < l->columns ? "too few columns" : "too many columns";
        return;
    }
    if (l->key >= 0)
        c->key = column[l->key];
    if (l->url >= 0 && (detail >= SEEN_DETAIL_URL || l->key < 0))
        c->url = column[l->url];
    if (l->timestamp >= 0) {
        c->timestamp = column[l->timestamp];
        if (!is_time_or_none(c->timestamp))
            fault = "the timestamp is not a time";
    }
    if (l->status >= 0 && detail == SEEN_DETAIL_ALL) {
        c->status = column[l->status];
        if (!is_status(c->status))
            fault = "the status is not a number";
    }
    if (l->mime >= 0)
        c->mime = column[l->mime];
    if (!fault && c->key.len)
        fault = seen_key_fault(c->key.text, c->key.len);
    if (!fault && !c->key.len)
        fault = seen_key_fault(c->url.text, c->url.len);
    if (!fault && !c->key.len && !c->url.len)
        fault = "neither a key nor a URL";
    c->fault = fault;
}

/* --- JSON --- */

/* Tabs and line ends, which JSON can escape, are not part of a URL; an answer
   that repeats them would not be one line. */
static size_t unescape_url(char *to, struct seen_span value)
{
    return url_drop_strays(to, to, json_unescape(to, value.text, value.len));
}

static void read_json(struct seen_capture *c, enum seen_detail detail,
                      char *room, size_t *used)
{
    static const char *const name[] = { "url", "u",      "original",
                                        "uri", "status", "statuscode",
                                        "hsc", "mime",   "mimetype",
                                        "mct" };
    struct seen_span value[sizeof name / sizeof name[0]];
    unsigned names = detail == SEEN_DETAIL_ALL ? 10 : 4;
    int escapes = cdx_json_fields(c->json.text, c->json.len, name, names,
                                  value);

    if (escapes < 0) {
        c->fault = "the JSON is missing or cut short";
        return;
    }
    for (unsigned i = 0; i < 4 && !c->url.len; i++) {
        c->url = value[i];
        if (value[i].len && escapes >> i & 1) {
            c->url.len = unescape_url(room + *used, value[i]);
            c->url.text = room + *used;
            *used += c->url.len;
        }
    }
    for (unsigned i = 4; i < 7 && i < names && !c->status.len; i++)
        c->status = value[i];
    for (unsigned i = 7; i < names && !c->mime.len; i++)
        c->mime = value[i];
    if (c->status.len && !is_status(c->status))
        c->fault = "the status is not a number";
}

static void read_cdxj(struct seen_capture *c, enum seen_detail detail,
                      char *room, size_t *used)
{
    const char *at = c->line.text, *end = at + c->line.len, *space;
    size_t len = c->line.len;

    space = memchr(at, ' ', len);
    if (!space) {
        c->fault = "too few columns";
        return;
    }
    c->key = (struct seen_span){ at, (size_t)(space - at) };
    c->fault = seen_key_fault(c->key.text, c->key.len);
    if (!c->fault && !c->key.len)
        c->fault = "neither a key nor a URL";
    if (c->fault)
        return;
    for (int i = 0; i < 3; i++) { /* a time, a record type, or neither */
        const char *word = space + 1;

        if (word < end && *word == '{') {
            c->json = (struct seen_span){ word, (size_t)(end - word) };
            break;
        }
        space = memchr(word, ' ', (size_t)(end - word));
        if (!space)
            break;
        if (!i)
            c->timestamp = (struct seen_span){ word, (size_t)(space - word) };
    }
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (!c->json.len || end[-1] != '}')
        c->fault = "the JSON is missing or cut short";
    else if (c->timestamp.len &&
             (*c->timestamp.text < '0' || *c->timestamp.text > '9') &&
             *c->timestamp.text != '-')
        c->fault = "the timestamp is not a time";
    else if (detail >= SEEN_DETAIL_URL)
        read_json(c, detail, room, used);
}

bool cdx_line_read(struct seen_capture *c, const struct seen_layout *layout,
                   enum seen_detail detail, const char *line, size_t len,
                   char *room, size_t *used)
{
    *used = 0;
    len -= len && line[len - 1] == '\r';
    *c = (struct seen_capture){ .line = { line, len }, .layout = layout };
    if (!len)
        return false;
    if (layout->format == SEEN_FORMAT_URLS) {
        c->url = c->line;
        c->fault = seen_key_fault(line, len);
        return true;
    }
    if (len > SEEN_LINE_TEXT) {
        c->fault = "longer than 65536 bytes";
        return true;
    }
    if (layout->format == SEEN_FORMAT_CDX) {
        if (cdx_line_is_legend(line, len)) {
            if (cdx_legend_agrees(layout, line, len))
                return false;
            c->fault = "a second legend that differs: split the file at it";
            return true;
        }
        read_columns(c, layout, detail);
        return true;
    }
    if (line[0] == '!' || layout->format == SEEN_FORMAT_ZIPNUM)
        return false;
    read_cdxj(c, detail, room, used);
    return true;
}

/* --- any field --- */

static char letter_of(const char *name)
{
    static const struct {
        const char *name;
        char letter;
    } names[] = {
        { "urlkey", 'N' },   { "timestamp", 'b' },  { "url", 'a' },
        { "original", 'a' }, { "mime", 'm' },       { "mimetype", 'm' },
        { "status", 's' },   { "statuscode", 's' }, { "digest", 'k' },
        { "checksum", 'c' }, { "redirect", 'r' },   { "robotflags", 'M' },
        { "length", 'S' },   { "offset", 'V' },     { "filename", 'g' },
        { "ip", 'e' },
    };

    if (name[0] && !name[1])
        return name[0];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(name, names[i].name))
            return names[i].letter;
    return 0;
}

bool seen_capture_field(const struct seen_capture *c, const char *name,
                        char *room, size_t size, struct seen_span *value)
{
    struct seen_span column[SEEN_COLUMNS];
    const struct seen_layout *l = c->layout;
    int escapes;

    *value = (struct seen_span){ "", 0 };
    if (l->format == SEEN_FORMAT_WARC)
        return cdx_header_find(c->line.text, c->line.len, name, value);
    if (l->format == SEEN_FORMAT_CDX || l->format == SEEN_FORMAT_ARC) {
        unsigned n = cdx_line_split(c->line.text, c->line.len, l->delimiter,
                                    column, SEEN_COLUMNS);
        char letter = letter_of(name);

        for (unsigned i = 0; letter && i < l->columns && i < n; i++)
            if (l->letter[i] == letter) {
                *value = column[i];
                return true;
            }
        return false;
    }
    if (l->format != SEEN_FORMAT_CDXJ)
        return false;
    if (!strcmp(name, "urlkey") || !strcmp(name, "timestamp")) {
        *value = name[0] == 'u' ? c->key : c->timestamp;
        return value->len > 0;
    }
    escapes = cdx_json_fields(c->json.text, c->json.len, &name, 1, value);
    if (escapes < 0 || !value->text)
        return false;
    if (escapes && value->len <= size) {
        value->len = json_unescape(room, value->text, value->len);
        value->text = room;
    }
    return true;
}

bool cdx_header_find(const char *text, size_t len, const char *name,
                     struct seen_span *value)
{
    const char *end = text + len;
    size_t n = strlen(name);

    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t row = (size_t)((stop ? stop : end) - text);

        if (row > n && text[n] == ':' && !strncasecmp(text, name, n)) {
            const char *from = text + n + 1, *to = text + row;

            while (from < to && (*from == ' ' || *from == '\t'))
                from++;
            while (to > from && (to[-1] == ' ' || to[-1] == '\r'))
                to--;
            *value = (struct seen_span){ from, (size_t)(to - from) };
            return true;
        }
        if (!stop)
            break;
        text = stop + 1;
    }
    return false;
}
