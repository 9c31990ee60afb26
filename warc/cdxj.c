/* cdxj.c - a line of an index, as pywb writes it. */
#include "cdxj.h"

#include <stdio.h>

#include <seen/url.h>

#include "../lib/text/calendar.h"
#include "../lib/text/json.h"

static void member(struct buffer *line, const char *before, const char *text)
{
    buffer_text(line, before);
    buffer_json(line, text, strlen(text));
}

static void count(struct buffer *line, const char *before, uint64_t n)
{
    buffer_text(line, before);
    buffer_byte(line, '"');
    buffer_number(line, n);
    buffer_byte(line, '"');
}

void warc_cdxj(struct buffer *line, const struct warc_exchange *x,
               const struct warc_packed *packed, const char *file,
               uint64_t offset)
{
    char text[SEEN_KEY_TEXT], stamp[CALENDAR_STAMP];
    const char *key = x->url, *type = x->type && *x->type ? x->type : "unk";
    size_t len = strlen(x->url);

    seen_url_surt(&key, &len, text, x->url, len, NULL);
    buffer_bytes(line, key, len);
    buffer_byte(line, ' ');
    calendar_stamp(stamp, x->when);
    buffer_text(line, stamp);
    member(line, " {\"url\": ", x->url);
    member(line,
           ", \"mime\": ", x->revisit == WARC_NEW ? type : "warc/revisit");
    if (x->status > 0)
        count(line, ", \"status\": ", (uint64_t)x->status);
    if (*packed->digest)
        member(line, ", \"digest\": ", packed->digest);
    count(line, ", \"length\": ", packed->response.len);
    count(line, ", \"offset\": ", offset + packed->response.at);
    member(line, ", \"filename\": ", file);
    buffer_text(line, "}\n");
}
