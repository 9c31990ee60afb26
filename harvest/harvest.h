/*
 * harvest.h - mirror published filters into a folder.
 *
 * A round begins with URLs: of a sitemap, a site, a filter, or a registry
 * that lists such. It finds the filters that are announced there, fetches
 * those that are new or have changed, verifies them and puts each in place
 * under its name:
 *
 *     URL ──> lists ──> catalog ──> plan ──┬─> unchanged
 *            lists.h   catalog.h   plan.h  ├─> patches ─┬─> verify, install
 *                                          ├─> download ┘     install.h
 *                                          └─> refused     download.h
 *
 * Everything from the web may be hostile. A failure is reported and does not
 * stop the other filters; a file stays until a better one is complete on the
 * disk.
 *
 *     struct harvest_options options = { .into = "filters",
 *                                        .report = print };
 *
 *     if (harvest_open(&h, &options, &why) == SEEN_OK)
 *         code = harvest_run(h, (const char *[]){ url }, 1, &sum, &why);
 *     harvest_close(h);
 *
 * Nothing is printed here. Threads: a harvest belongs to one thread.
 */
#ifndef SEEN_HARVEST_H
#define SEEN_HARVEST_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

#include "../fetch/fetch.h"

enum harvest_result {
    HARVEST_NEW,
    HARVEST_UPDATED,
    HARVEST_UNCHANGED,
    HARVEST_REFUSED,   /* a filter; `reason` says why */
    HARVEST_WITHDRAWN, /* no longer announced; kept */
    HARVEST_REMOVED,   /* no longer announced; removed, as asked */
    HARVEST_IGNORED,   /* a text that a list names is not a filter */
    HARVEST_UNREAD,    /* a list or its rest was not; `reason` says why */
    HARVEST_RESULTS
};

/* The texts live as long as the call that they are given to. */
struct harvest_event {
    enum harvest_result result;
    bool would;         /* in a dry run: it was not done */
    const char *name;   /* of the file; "" for lists, and if it has none */
    const char *url;    /* canonical, so that a terminal can show it */
    const char *reason; /* "" if there is none */
    uint64_t size;      /* of the file; UINT64_MAX if it is not known */
    uint64_t received;  /* bytes that were received for the file */
    unsigned patches;   /* that were applied to the older version */
    bool resumed;       /* an earlier download was continued */
};

struct harvest_summary {
    uint64_t count[HARVEST_RESULTS];
    uint64_t lists;     /* that were read */
    uint64_t received;  /* bytes in all */
    uint64_t forbidden; /* connections that the options do not allow */
    bool stopped;       /* before the end, as asked */
};

/* Defaults, for members that are 0, are in brackets. */
struct harvest_options {
    const char *into;
    struct fetch_options fetch; /* .parallel is for downloads, too [4] */
    const char *credentials;    /* a file (fetch/credentials.h), which is read
                                   anew in each round [none] */
    unsigned names;             /* what is put before them; see name.h */
    bool dry_run;               /* read lists; write nothing */
    bool remove_withdrawn;
    uint64_t max_size; /* bytes of a file [16 GiB] */
    uint64_t cost;     /* of a question, as by seen_filter_cost() [no limit] */
    unsigned pause;    /* milliseconds before a second attempt [1000] */
    unsigned patience; /* seconds with less than 1 kB/s [60]; the unit of all
                          other times */
    const volatile sig_atomic_t *stop; /* set from outside: end soon */
    void (*report)(void *owner, const struct harvest_event *event);
    /* Called again and again: files done, all files, bytes received. */
    void (*progress)(void *owner, uint64_t done, uint64_t all, uint64_t bytes);
    void *owner;
};

struct harvest;

/* `options` and its texts must outlive it. SEEN_BUSY if another harvest is
   running in the folder. */
enum seen_code harvest_open(struct harvest **out,
                            const struct harvest_options *options,
                            struct seen_error *why);
void harvest_close(struct harvest *h);

/*
 * One round. SEEN_OK also if filters were refused; `sum` counts them. Any
 * other code: there is no memory, or a URL is not http or https, with its
 * number in why->at.
 */
enum seen_code harvest_run(struct harvest *h, const char *const *url, size_t n,
                           struct harvest_summary *sum,
                           struct seen_error *why);

#endif
