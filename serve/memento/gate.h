/*
 * gate.h - ask the TimeGate of one archive for a date.
 *
 * A TimeGate (RFC 7089, section 4) is asked for a URL with an Accept-Datetime,
 * and answers with the memento that it has chosen:
 *
 *     302, Location: the memento or another TimeGate      patterns 1.1, 2.1
 *     200, Memento-Datetime, Content-Location             patterns 1.2, 2.2
 *
 * and Link headers that name the original, and often the first, the last, the
 * previous and the next memento. The date of a memento is in the Link header of
 * the redirect that leads there, or else the memento is asked for it.
 *
 *     g->original = url, g->near = &near, g->report = report,
 *     g->client = client, g->done = done, g->owner = owner;
 *     memento_gate_begin(g, "https://ia.example/web/http://a.example/");
 *     ...                                      done(g): see g->end
 *     memento_gate_clear(g);
 *
 * What is not believed: an answer that names another original; one from another
 * host than the TimeGate's that names none; a redirect to the original itself,
 * which anybody may have written; a Memento-Datetime of a page that has no URL
 * of its own, since who follows our answer would get another page. Redirects
 * are followed a few times, to public addresses only (fetch/fetch.h), and only
 * heads are read.
 *
 * Threads: belongs to the thread of its client.
 */
#ifndef SEEN_SERVE_MEMENTO_GATE_H
#define SEEN_SERVE_MEMENTO_GATE_H

#include "../../fetch/fetch.h"
#include "near.h"
#include "memento_timemap.h"

enum { MEMENTO_HOPS = 5 }; /* redirects that are followed */

struct memento_client;

enum memento_gate_end {
    MEMENTO_GATE_FOUND,  /* what it has named was added to `near` */
    MEMENTO_GATE_NONE,   /* it has no memento */
    MEMENTO_GATE_UNFIT,  /* an answer that is of no use: a TimeMap may be */
    MEMENTO_GATE_FAILED, /* it cannot be reached, or is overloaded */
};

/* Zeroed but for the first six, it is ready. */
struct memento_gate {
    struct memento_client *client;
    const char *original; /* the caller's, until done() */
    struct memento_near *near; /* its `when` is what is asked for */
    struct memento_report *report; /* counts links that are left out */
    void (*done)(struct memento_gate *g);
    void *owner;

    enum memento_gate_end end;
    char why[MEMENTO_WHY]; /* unless it was found */
    bool unreachable;      /* there was no connection */

    /* Inside. */
    char *url, *first, *next; /* of this hop, of hop 0, and of the next hop */
    char *chosen;             /* the memento, encoded for a <link> */
    unsigned hops;
    bool running, judged, known; /* the time of `chosen` is known */
};

/* done() is called once, maybe before this returns. */
void memento_gate_begin(struct memento_gate *g, const char *url);

/* End it: done() is called now, if it was not before. */
void memento_gate_stop(struct memento_gate *g);

void memento_gate_clear(struct memento_gate *g);

#endif
