/*
 * ask.h - the mementos of one archive: of its TimeGate, or of its TimeMap with
 * its further pages.
 *
 * An archive may be slow, broken or hostile. What it sends goes through the
 * guarded client (fetch/fetch.h) and a reader that keeps one link at a time
 * (web/timemap.h). Its mementos, bytes and pages are bounded; so is the memory
 * that all archives take together. Whatever was received before a bound or a
 * failure is kept, and the report says that there may be more.
 *
 *     a->client = client, a->report = report, a->done = done;
 *     memento_ask_begin(a, &source);
 *     ...                                     done(a) when all pages have ended
 *     memento_ask_settle(a);
 *     memento_ask_captures(a, number, captures);          a->stored of them
 *     memento_ask_clear(a);
 *
 * If only the closest memento is wanted, the TimeGate is asked (gate.h), if
 * there is one. If there is none, or it gives no answer that can be used, the
 * TimeMap is read, and of its mementos only those around the date are kept
 * (near.h), unless all of them are few: then they answer for other dates, too.
 *
 * Pages are followed if they have the same host and port as the page that
 * lists them: an archive cannot make us ask others.
 *
 * Threads: belongs to the thread of its client.
 */
#ifndef SEEN_SERVE_MEMENTO_ASK_H
#define SEEN_SERVE_MEMENTO_ASK_H

#include "client.h"
#include "gate.h"
#include "memento_timemap.h"

enum {
    MEMENTO_PAGES = 32,        /* per archive */
    MEMENTO_BYTES = 512 << 20, /* of its TimeMap, whatever it is read for */
    MEMENTO_FEW = 1 << 20      /* bytes that they may take if only the closest
                                  one is wanted */
};

/* An archive to ask. */
struct memento_source {
    const char *name;
    const char *url;   /* of its TimeMap, or NULL */
    const char *gate;  /* of its TimeGate, or NULL */
    const char *fault; /* why it cannot be asked, if there is no URL */
};

struct memento_found;
struct memento_page;

/* Zeroed but for the first of these, it is ready. */
struct memento_asking {
    struct memento_client *client;
    struct memento_report *report; /* to be filled */
    void (*done)(struct memento_asking *a);
    void *owner;
    const char *original;     /* whose mementos; the caller's, until done() */
    bool closest;             /* only the one closest to */
    struct memento_near near; /* near.when */

    bool unreachable; /* there was no connection */
    bool late;        /* memento_ask_stop() has ended it */
    uint64_t began;   /* by clock_ms() */
    uint64_t count;   /* mementos that were found, and */
    size_t stored;    /* of them in memory */
    bool sparse;      /* which are those around the date only */

    /* Inside. */
    struct memento_gate gate;
    const char *timemap; /* to ask for if the TimeGate is of no use */
    struct memento_found *found; /* in report->urls */
    size_t room;
    struct memento_page *page[MEMENTO_PAGES];
    unsigned pages, running;
    bool elsewhere; /* there are pages of another host */
    uint64_t bytes;
    size_t held;
};

/* done() is called once, maybe before this returns. The texts of the source
   are the caller's until then. */
void memento_ask_begin(struct memento_asking *a,
                       const struct memento_source *source);

/* It takes too long: end it with what is there. done() is called now, if it
   was not before. Not from within done(). */
void memento_ask_stop(struct memento_asking *a, const char *why);

/* It has ended: a->stored and a->sparse are what they will be. */
void memento_ask_settle(struct memento_asking *a);

/* Write what was stored to a->stored elements; URLs point into the report. */
void memento_ask_captures(const struct memento_asking *a, uint32_t archive,
                          struct memento_capture *to);

void memento_ask_clear(struct memento_asking *a);

/* The archive has not answered, or not in full: the first reason stays. */
void memento_report_fail(struct memento_report *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
