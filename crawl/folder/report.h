/*
 * report.h - what a visit did, what is left, and why.
 *
 *     code = crawl_report_read(&report, "site", &why);
 *     printf("%llu pages\n", report.pages);
 *     crawl_report_clear(&report);
 *
 * It reads the state, also while a crawl runs in the folder. It answers the
 * thesis' question (1.1.2): was everything in scope covered?
 *
 * Threads: plain functions.
 */
#ifndef SEEN_CRAWL_REPORT_H
#define SEEN_CRAWL_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/error.h>

#include "../engine/page.h"
#include "freshness.h"

struct crawl_report_host {
    char *name, *stopped; /* "" if it goes on */
    int64_t queued, fetched, requests, bytes, due;
    struct crawl_freshness freshness;
};

/* Links that look like traps, by the reason. */
enum { CRAWL_TRAP_REASONS = 16 };
struct crawl_report_trap {
    int64_t links;
    char reason[96];
};

struct crawl_report {
    bool running;        /* a crawl runs in the folder */
    struct crawl_visit visit;
    int64_t outcome[CRAWL_OUTCOMES];
    int64_t pages;       /* that were fetched */
    int64_t waiting;     /* pages that can still be fetched */
    int64_t left;        /* pages at hosts that are not asked any more */
    int64_t links, fresh;
    int64_t left_out[CRAWL_LEFT_LINKS]; /* links that were not followed */
    struct crawl_report_trap trap[CRAWL_TRAP_REASONS];
    size_t trap_reasons;
    int64_t requests, bytes, saved_bytes, mean_size;
    int64_t discovered, audited, mistaken, recoveries;
    double audit[2];     /* the band of the measured rate, at 95 % */
    int64_t unasked;     /* pages that --skip was not asked about */
    int64_t costly;      /* pages that were not read as a whole: work.h */
    double rate;         /* of the cache now; -1: there is none */
    char cache[128];     /* its kind */
    int64_t now;
    int64_t first_due;   /* of all known pages; INT64_MAX: none is */
    struct crawl_report_host *host; /* most pages first */
    size_t hosts, host_room;
    char **recovered;    /* URLs that the earlier visit lost */
    size_t recovered_n, recovered_room;
    int64_t not_due;     /* pages of earlier visits, and when the first is */
    int64_t next_due;
    int64_t due;         /* known pages that are due now, and do not wait */
    int64_t copies, copies_lost; /* that were read for links, and that could
                                    not be */
    struct crawl_freshness freshness; /* of all known pages */
};

enum seen_code crawl_report_read(struct crawl_report *r, const char *folder,
                                 struct seen_error *why);
void crawl_report_clear(struct crawl_report *r);

/*
 * Why was a URL fetched, or not? `answer` gets one sentence; *fetched whether
 * it was.
 */
enum { CRAWL_WHY = 512 };
enum seen_code crawl_why(const char *folder, const char *url, bool *fetched,
                         char answer[CRAWL_WHY], struct seen_error *why);

#endif
