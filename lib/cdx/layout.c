/*
 * layout.c - which columns does this file have?
 *
 * A CDX file may begin with a legend: the delimiter, "CDX", and a letter for
 * each column [1]. Many have none; then the number of columns decides:
 *
 *      7   N b a m s k S                       what CDX servers answer
 *      7   A e b m n g v    8  A e b m n g v c  NetarchiveSuite
 *      9   N b a m s k r V g
 *     10   N b a m s k r M V g
 *     11   N b a m s k r M S V g
 *     13   10 and three more, of the record that a revisit revisits
 *     14   11 and three more, likewise
 *     16   A b e a m s c k r V v D d g M n     Alexa
 *
 *     N key   A canonical URL   a URL   b time   m type   s status
 *     k, c digest   r redirect   M meta tags   S size   V, v offset   g file
 *     e address   n length   D, d offset in a .dat   u record id
 *
 * Lines vote, because the first may be an error message of a tool.
 *
 * [1] Internet Archive: CDX and DAT legend. archive.org/web/researcher.
 */
#include <seen/cdx.h>

#include <string.h>

#include "line.h"

enum { VOTERS = 256 };

static const struct {
    unsigned columns;
    bool address; /* the second column is an IP address, the third a time */
    const char *letters;
} known[] = {
    { 7, false, "NbamskS" },           { 7, true, "AebmngV" },
    { 8, true, "AebmngVc" },           { 9, false, "NbamskrVg" },
    { 10, false, "NbamskrMVg" },       { 11, false, "NbamskrMSVg" },
    { 13, false, "NbamskrMVg???" },    { 14, false, "NbamskrMSVg???" },
    { 16, false, "AbeamsckrVvDdgMn" },
};
enum { KNOWN = sizeof known / sizeof known[0] };

static int column_of(const struct seen_layout *l, char letter)
{
    for (unsigned i = 0; i < l->columns; i++)
        if (l->letter[i] == letter)
            return (int)i;
    return -1;
}

/* Fill in which column is which. */
static void settle(struct seen_layout *l)
{
    l->key = column_of(l, 'N');
    l->url = column_of(l, 'a');
    if (l->url < 0) /* better than nothing, and a URL in NetarchiveSuite's */
        l->url = column_of(l, 'A');
    l->timestamp = column_of(l, 'b');
    l->mime = column_of(l, 'm');
    l->status = column_of(l, 's');
}

bool cdx_line_is_legend(const char *line, size_t len)
{
    return len >= 5 && !memcmp(line + 1, "CDX", 3) && line[4] == line[0] &&
           (line[0] == ' ' || line[0] == '\t' || line[0] == ',' ||
            line[0] == '|' || line[0] == ';');
}

/* " CDX N b a": false unless it names a key or a URL. */
static bool read_legend(struct seen_layout *l, const char *line, size_t len)
{
    const char *end = line + len;

    *l = (struct seen_layout){ .format = SEEN_FORMAT_CDX,
                               .delimiter = line[0],
                               .legend = true };
    for (const char *at = line + 5; at < end; at++) {
        if (*at == l->delimiter)
            continue;
        if (l->columns == SEEN_COLUMNS)
            return false;
        l->letter[l->columns++] = *at;
        while (at + 1 < end && at[1] != l->delimiter)
            at++;
    }
    settle(l);
    return l->key >= 0 || l->url >= 0;
}

bool cdx_legend_agrees(const struct seen_layout *layout, const char *line,
                       size_t len)
{
    struct seen_layout other;

    return read_legend(&other, line, len) &&
           other.delimiter == layout->delimiter &&
           other.columns == layout->columns && other.key == layout->key &&
           other.url == layout->url && other.timestamp == layout->timestamp &&
           other.mime == layout->mime && other.status == layout->status &&
           (!layout->legend ||
            !memcmp(other.letter, layout->letter, other.columns));
}

bool cdx_is_time(const char *text, size_t len)
{
    if (len < 4 || len > 17)
        return false;
    for (size_t i = 0; i < len; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return true;
}

static bool is_number(struct seen_span s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.text[i] < '0' || s.text[i] > '9')
            return false;
    return s.len > 0;
}

unsigned cdx_line_split(const char *line, size_t len, char delimiter,
                        struct seen_span *column, unsigned most)
{
    const char *end = line + len;
    unsigned n = 0;

    for (;;) {
        const char *stop = memchr(line, delimiter, (size_t)(end - line));

        if (n < most)
            column[n] = (struct seen_span){
                line, (size_t)((stop ? stop : end) - line)
            };
        n++;
        if (!stop)
            return n;
        line = stop + 1;
    }
}

/* "com,example)/ 20200101000000<TAB>cdx-00000.gz<TAB>0<TAB>188224" */
static bool is_zipnum(const char *line, size_t len)
{
    struct seen_span c[8];
    unsigned n = cdx_line_split(line, len, '\t', c, 8);

    return n >= 4 && n <= 8 && is_number(c[2]) && is_number(c[3]) &&
           c[1].len > 0 && memchr(c[0].text, ' ', c[0].len);
}

/* A key, perhaps a time and a word, then an object. */
static bool is_cdxj(const char *line, size_t len)
{
    struct seen_span c[4];
    unsigned n;

    if (line[0] == '!')
        return true;
    n = cdx_line_split(line, len, ' ', c, 4);
    for (unsigned i = 1; i < n && i < 4; i++)
        if (c[i].len && c[i].text[0] == '{')
            return true;
    return false;
}

static int known_of(const char *line, size_t len, char delimiter)
{
    struct seen_span c[SEEN_COLUMNS];
    unsigned n = cdx_line_split(line, len, delimiter, c, SEEN_COLUMNS);

    if (n > 7 && n <= SEEN_COLUMNS && !c[n - 1].len)
        n--;
    for (int i = 0; i < KNOWN; i++) {
        const struct seen_span *time = &c[known[i].address ? 2 : 1];

        if (n == known[i].columns && time->len >= 8 &&
            cdx_is_time(time->text, time->len))
            return i;
    }
    return -1;
}

struct cdx_votes {
    unsigned urls, cdxj, zipnum, cdx[KNOWN], tabs;
};

static void vote(struct cdx_votes *v, const char *line, size_t len)
{
    int which = known_of(line, len, ' ');

    if (is_cdxj(line, len)) {
        v->cdxj++;
    } else if (is_zipnum(line, len)) {
        v->zipnum++;
    } else if (which >= 0) {
        v->cdx[which]++;
    } else if ((which = known_of(line, len, '\t')) >= 0) {
        v->cdx[which]++;
        v->tabs++;
    } else {
        v->urls++;
    }
}

static void elect(struct seen_layout *l, const struct cdx_votes *v)
{
    unsigned most = v->urls;

    *l = (struct seen_layout){ .format = SEEN_FORMAT_URLS,
                               .delimiter = ' ',
                               .key = -1,
                               .timestamp = -1,
                               .mime = -1,
                               .status = -1 };
    if (v->zipnum > most) {
        l->format = SEEN_FORMAT_ZIPNUM;
        most = v->zipnum;
    }
    if (v->cdxj && v->cdxj >= most) {
        l->format = SEEN_FORMAT_CDXJ;
        most = v->cdxj;
    }
    for (int i = 0; i < KNOWN; i++)
        if (v->cdx[i] && v->cdx[i] >= most) {
            l->format = SEEN_FORMAT_CDX;
            l->delimiter = v->tabs ? '\t' : ' ';
            l->columns = known[i].columns;
            memcpy(l->letter, known[i].letters, l->columns);
            settle(l);
            most = v->cdx[i];
        }
}

/*
 * ARC: "filedesc://file.arc 0.0.0.0 ...", then "1 0 Origin", then the names
 * of the columns. Of version 2 these are ten.
 */
static void arc_layout(struct seen_layout *l, const char *text, size_t len)
{
    static const char *const letters[] = { "aebmn", "aebmskrVgn" };
    const char *line = memchr(text, '\n', len);
    bool second = line && line + 1 < text + len && line[1] == '2';

    *l = (struct seen_layout){ .format = SEEN_FORMAT_ARC, .delimiter = ' ' };
    l->columns = (unsigned)strlen(letters[second]);
    memcpy(l->letter, letters[second], l->columns);
    settle(l);
}

bool cdx_layout_records(struct seen_layout *layout, const char *text,
                        size_t len)
{
    static const struct cdx_votes none;

    if (len >= 5 && !memcmp(text, "WARC/", 5)) {
        elect(layout, &none);
        layout->format = SEEN_FORMAT_WARC;
        return true;
    }
    if (len >= 9 && !memcmp(text, "filedesc:", 9)) {
        arc_layout(layout, text, len);
        return true;
    }
    return false;
}

void cdx_layout_guess(struct seen_layout *layout, const char *text, size_t len)
{
    const char *end = text + len;
    struct cdx_votes v = { 0 };

    if (cdx_layout_records(layout, text, len))
        return;
    for (int i = 0; i < VOTERS && text < end; i++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((stop ? stop : end) - text);

        if (!stop && i)
            break; /* cut, perhaps */
        n -= n && text[n - 1] == '\r';
        if (n && cdx_line_is_legend(text, n) && read_legend(layout, text, n))
            return;
        if (n)
            vote(&v, text, n);
        if (!stop)
            break;
        text = stop + 1;
    }
    elect(layout, &v);
}
