/*
 * ask.h - the TimeMap of one archive, with its further pages.
 *
 * An archive may be slow, broken or hostile. What it sends goes through the
 * guarded client (fetch/fetch.h) and a reader that keeps one link at a time
 * (web/timemap.h). Its mementos, bytes and pages are bounded; so is the memory
 * that all archives take together. Whatever was received before a bound or a
 * failure is kept, and the report says that there may be more.
 *
 *     a->client = client, a->report = report, a->done = done;
 *     memento_ask_begin(a, "https://ia.example/timemap/http://a.example/");
 *     ...                                     done(a) when all pages have ended
 *     memento_ask_clear(a);
 *
 * Pages are followed if they have the same host and port as the page that
 * lists them: an archive cannot make us ask others.
 *
 * Threads: belongs to the thread of its client.
 */
#ifndef SEEN_SERVE_MEMENTO_ASK_H
#define SEEN_SERVE_MEMENTO_ASK_H

#include "client.h"
#include "timemap.h"

enum { MEMENTO_PAGES = 32 }; /* per archive */

struct memento_found;
struct memento_page;

/* Zeroed but for the first four, it is ready. */
struct memento_asking {
    struct memento_client *client;
    struct memento_report *report; /* to be filled */
    void (*done)(struct memento_asking *a);
    void *owner;

    bool unreachable; /* there was no connection */
    bool late;        /* memento_ask_stop() has ended it */
    uint64_t began;   /* by clock_ms() */
    size_t count;     /* mementos that were found */

    /* Inside. */
    struct memento_found *found; /* in report->urls */
    size_t room;
    struct memento_page *page[MEMENTO_PAGES];
    unsigned pages, running;
    bool elsewhere; /* there are pages of another host */
    uint64_t bytes;
    size_t held;
};

/* done() is called once, maybe before this returns. */
void memento_ask_begin(struct memento_asking *a, const char *url);

/* It takes too long: end it with what is there. done() is called now, if it
   was not before. Not from within done(). */
void memento_ask_stop(struct memento_asking *a, const char *why);

/* Write what was found to a->count elements; URLs point into the report. */
void memento_ask_captures(const struct memento_asking *a, uint32_t archive,
                          struct memento_capture *to);

void memento_ask_clear(struct memento_asking *a);

/* The archive has not answered, or not in full: the first reason stays. */
void memento_report_fail(struct memento_report *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
