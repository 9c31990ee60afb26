/*
 * log.c - the line of a page.
 *
 * A line has words with spaces between, so every text must be one word of
 * printable ASCII. Canonical URLs are; all other texts are cleaned.
 */
#include "log.h"

#include <string.h>

#include "../../lib/text/calendar.h"

static bool has(const struct crawl_page *page, const char *words)
{
    return strstr(page->fault, words) != NULL;
}

int crawl_log_status(const struct crawl_page *page)
{
    if (page->outcome == CRAWL_ROBOTS)
        return -9998;
    if (page->outcome == CRAWL_SKIPPED)
        return -5002;
    if (page->outcome == CRAWL_CLOSED)
        return -61;
    if (page->outcome == CRAWL_ASIDE)
        return -5;
    if (page->code == SEEN_OK)
        return page->status;
    if (page->code == SEEN_RANGE)
        return -5000;
    if (page->late)
        return -4;
    if (page->code == SEEN_CORRUPT)
        return -404;
    if (has(page, "resolve") || has(page, "no address"))
        return -1;
    return has(page, "connect") ? -2 : -3;
}

static void put_clean(struct buffer *log, const char *text)
{
    size_t n = strlen(text);
    char *to = buffer_room(log, n);

    if (!to)
        return;
    for (size_t i = 0; i < n; i++)
        to[i] = text[i] > ' ' && text[i] < 127 ? text[i] : '_';
    log->len += n;
}

/* A word, or "-". */
static void put_word(struct buffer *log, const char *text)
{
    buffer_byte(log, ' ');
    put_clean(log, *text ? text : "-");
}

/* What is worth knowing, with commas between. */
static void put_notes(struct buffer *log, const struct crawl_page *page)
{
    size_t begin;

    buffer_byte(log, ' ');
    begin = log->len;
    if (*page->fault)
        put_clean(log, page->fault);
    else if (page->outcome != CRAWL_STORED)
        put_clean(log, crawl_outcome_names[page->outcome]);
    if (page->cut) {
        buffer_text(log, log->len > begin ? ",cut:" : "cut:");
        put_clean(log, page->cut);
    }
    if (*page->unread) {
        buffer_text(log, log->len > begin ? ",unread:" : "unread:");
        put_clean(log, page->unread);
    }
    if (*page->costly) {
        buffer_text(log, log->len > begin ? ",costly:" : "costly:");
        put_clean(log, page->costly);
    }
    if (page->traps.len && !page->traps.failed) { /* the first one's reason */
        buffer_text(log, log->len > begin ? ",trap:" : "trap:");
        put_clean(log, page->traps.bytes);
    }
    if (log->len == begin)
        buffer_byte(log, '-');
}

void crawl_log_line(struct buffer *log, const struct crawl_page *page,
                    const char *via, int64_t now)
{
    char date[CALENDAR_TEXT], stamp[CALENDAR_STAMP];

    calendar_write(date, (uint64_t)now);
    calendar_stamp(stamp, (uint64_t)page->started);
    buffer_format(log, "%s %5d %10zu", date, crawl_log_status(page),
                  page->size);
    put_word(log, page->url);
    put_word(log, page->path);
    put_word(log, via);
    put_word(log, *page->mime ? page->mime : "no-type");
    buffer_format(log, " #001 %s%03d+%u ", stamp, (int)(page->started % 1000),
                  page->ms);
    if (*page->packed.digest)
        buffer_format(log, "sha1:%s", page->packed.digest);
    else
        buffer_byte(log, '-');
    buffer_text(log, " -");
    put_notes(log, page);
    buffer_byte(log, '\n');
}
