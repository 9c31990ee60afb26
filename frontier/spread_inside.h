/* spread_inside.h - what the files of a spread frontier have in common. */
#ifndef SEEN_FRONTIER_SPREAD_INSIDE_H
#define SEEN_FRONTIER_SPREAD_INSIDE_H

#include "../lib/disk/clock.h"
#include "../lib/text/map.h"
#include "../lib/text/sip.h"
#include "spread.h"

/* The sums of a visit in one database, when it was last read. */
struct spread_sums {
    struct frontier_visit visit; /* without texts */
    int64_t sent;
    bool sending; /* the outbox has links of it */
};

struct spread_database {
    char *where;
    struct sql *db;
    struct frontier_shared *shared;
    bool joined;        /* this worker has a lease there */
    uint64_t away;      /* clock_ms(): it is not asked before; 0: it answers */
    struct frontier_load load; /* when it was last read */
    bool loaded;
    struct spread_sums *sums; /* of visits that run or are ending, by id */
    size_t n, room;
};

struct frontier_spread {
    struct spread_database database[FRONTIER_DATABASES];
    unsigned databases;
    char identity[FRONTIER_IDENTITY];
    unsigned char secret[SIP_SECRET];
    unsigned patience;  /* ms to wait when no database answers */
    int64_t number;     /* of the lease */
    unsigned turn;      /* the database whose hosts come next */
    uint64_t delivered, looked, finished; /* clock_ms() of the last time */
    unsigned loaded;            /* the database whose load was read last */
    struct map claims;  /* by address */
    struct map held;    /* claims, by the id of a host */
    bool lost;          /* one went away that this worker had hosts of */
    char news[200];     /* or "" */
};

/* Make the tables in all databases, or find that they are there. */
enum seen_code frontier_spread_create(struct frontier_spread *f,
                                      struct seen_error *why);

/* ms between two rounds of this worker, for what any worker does for all. */
uint64_t frontier_spread_round(const struct frontier_spread *f);

/* This worker has no host any more, and no claim of an address. */
void frontier_spread_forget(struct frontier_spread *f);

static inline bool spread_is_one(const struct frontier_spread *f)
{
    return f->databases == 1;
}

/* Has this worker a lease there? */
static inline bool spread_answers(const struct frontier_spread *f, unsigned at)
{
    return spread_is_one(f) || (at < f->databases && f->database[at].joined);
}

/* Ask a database: the call is one of shared.h, about `shared`. `code` becomes
   what that means for the worker. */
#define SPREAD_ASK(f, at, call) \
    do { \
        const uint64_t ask_began = clock_ms(); \
        struct frontier_shared *shared = (f)->database[at].shared; \
\
        code = (call); \
        code = frontier_spread_judge(f, at, ask_began, code, why); \
    } while (0)

/* Database `at` failed with this code, `began` being when it was asked
   (clock_ms()): what is that for the worker? */
enum seen_code frontier_spread_judge(struct frontier_spread *f, unsigned at,
                                     uint64_t began, enum seen_code code,
                                     struct seen_error *why);

#endif
