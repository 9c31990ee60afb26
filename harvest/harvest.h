/*
 * harvest.h - have in a folder the filters that others publish.
 *
 * A round begins with addresses: of a sitemap, a site, a filter, or a
 * registry that lists such. It finds the filters that they announce, fetches
 * what is new or has changed, verifies it and swaps it in under its name:
 *
 *     address ──> lists ──> items ──> plan ──┬─> unchanged
 *       discover.h          items.h  plan.h  ├─> patches ─┬─> verify, swap
 *                                            ├─> fetch  ──┘     take.h
 *                                            └─> refused, with its reason
 *
 * All that comes from outside is taken for hostile. What goes wrong with an
 * item is told and stops none of the others; the file that is there stays
 * until a better one is whole on the disk.
 *
 *     struct harvest_how how = { .into = "filters", .tell = print };
 *
 *     if (harvest_open(&h, &how, &why) == SEEN_OK)
 *         code = harvest_round(h, (const char *[]){ url }, 1, &sum, &why);
 *     harvest_close(h);
 *
 * Nothing is printed here. Threads: a harvest belongs to one.
 */
#ifndef SEEN_HARVEST_H
#define SEEN_HARVEST_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

#include "../fetch/fetch.h"

enum harvest_what {
    HARVEST_NEW,
    HARVEST_UPDATED,
    HARVEST_UNCHANGED,
    HARVEST_REFUSED,   /* a filter; `reason` says why */
    HARVEST_WITHDRAWN, /* no longer announced; kept */
    HARVEST_REMOVED,   /* no longer announced; removed, as asked */
    HARVEST_UNREAD,    /* a list, of which `reason` says what is wrong */
    HARVEST_WHATS
};

/* The texts live as long as the call that they are given to. */
struct harvest_news {
    enum harvest_what what;
    bool would;         /* in a dry run: it was not done */
    const char *name;   /* of the file; "" for lists, and if it has none */
    const char *url;    /* canonical, so that a terminal can show it */
    const char *reason; /* "" if there is none */
    uint64_t size;      /* of the file; UINT64_MAX if it is not known */
    uint64_t travelled; /* bytes that came over the net for it */
    unsigned patches;   /* it was made from its older version by so many */
    bool resumed;       /* a download that was cut was gone on with */
};

struct harvest_sum {
    uint64_t count[HARVEST_WHATS];
    uint64_t lists;     /* that were read */
    uint64_t travelled; /* bytes in all, over the net */
    uint64_t forbidden; /* connections that the rules did not allow */
    bool stopped;       /* before everything was done, as asked */
};

struct harvest_how {
    const char *into;
    struct fetch_options rules; /* .parallel is ours, too [4] */
    unsigned names;           /* what comes before them; see name.h */
    bool dry_run;             /* read lists; write nothing */
    bool remove_withdrawn;
    uint64_t most;     /* bytes of a file [16 GiB] */
    unsigned pause;    /* milliseconds before a second try [1000] */
    unsigned patience; /* seconds for less than 1 kB/s [60] */
    const volatile sig_atomic_t *stop; /* set from outside: end soon */
    void (*tell)(void *owner, const struct harvest_news *news);
    /* Every now and then: files done, and in all; bytes that came. */
    void (*moved)(void *owner, uint64_t done, uint64_t all, uint64_t bytes);
    void *owner;
};

struct harvest;

/* `how` and its texts must outlive it. SEEN_BUSY if another harvest is at
   work in the folder. */
enum seen_code harvest_open(struct harvest **out,
                            const struct harvest_how *how,
                            struct seen_error *why);
void harvest_close(struct harvest *h);

/*
 * One round. SEEN_OK also if some things were refused, which `sum` counts;
 * otherwise there was no memory, or an address is no http or https URL.
 */
enum seen_code harvest_round(struct harvest *h, const char *const *url,
                             size_t n, struct harvest_sum *sum,
                             struct seen_error *why);

#endif
