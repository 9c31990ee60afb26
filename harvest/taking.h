/*
 * taking.h - a filter that is being taken: what take.c, which has its
 * beginning and end, shares with take_whole.c and take_patch.c.
 */
#ifndef SEEN_HARVEST_TAKING_H
#define SEEN_HARVEST_TAKING_H

#include "name.h"
#include "record.h"
#include "take.h"

struct take {
    struct take *next, **before;
    struct takes *all;
    struct item *item;
    struct record record;
    struct patch *patch; /* the one under way, or NULL: the whole file */
    unsigned patches;    /* applied */
    unsigned tries;
    double began;        /* its slot is taken since then, ... */
    double until;        /* ... and not longer */
    double wake;         /* pausing until then; 0: not pausing */
    bool resumed, again; /* gone on with a part; begun once more */
    bool slow, ours;     /* the fault is not the net's */
    bool mute;           /* there was no answer */
    unsigned after;      /* seconds, as its server wishes; see fetch.h */
    int fd;              /* of the file that bytes go to */
    uint64_t from, at;   /* where this request began; bytes in the file */
    uint64_t furthest;   /* that it ever was */
    uint64_t total;      /* as its server says, or UINT64_MAX */
    uint64_t look;       /* at the disk's room, when there are so many */
    uint64_t travelled;
    struct pace pace;
    char name[NAME_MOST + 1];
    char file[FOLDER_PATH], part[FOLDER_PATH], delta[FOLDER_PATH],
        step[FOLDER_PATH], base[FOLDER_PATH];
};

static inline struct work *take_work(const struct take *t)
{
    return t->all->work;
}

/* Fetch what goes into the file at `path`; t->patch says which of the two
   ways its answers go. On failure t->fd may be open. */
enum seen_code take_request(struct take *t, struct fetch_request *r,
                            const char *path, struct seen_error *why);

/* Begin to fetch the file, or the patch t->patch; they take care of failure
   themselves. */
void take_whole(struct take *t);
void take_patch(struct take *t);

/* What becomes of their answers. */
enum seen_code take_whole_begin(struct take *t,
                                const struct fetch_response *head,
                                struct seen_error *why);
void take_whole_end(struct take *t, enum seen_code code, int status,
                    struct seen_error *why);
void take_patch_end(struct take *t, enum seen_code code, int status);

/* Does the size that an answer has fit what was announced, what is allowed
   and the disk? UINT64_MAX: it is not known. */
enum seen_code take_sizes(struct take *t, uint64_t announced, uint64_t whole,
                          struct seen_error *why);

/* Note that a failure is not the net's, which would be tried again. */
enum seen_code take_fault(struct take *t, enum seen_code code);

/* Pause, then again; false if that was tried often enough. Who gets further
   than ever before may try again as often. */
bool take_again(struct take *t);

/* Remove what lies in .harvest, with the part or without. */
void take_drop(struct take *t, bool part);

/* The part is whole: verify it and swap it in. */
void take_finish(struct take *t);

/* Tell what came of it; t is gone then. */
void take_refuse(struct take *t, const struct seen_error *why);
void take_succeed(struct take *t, enum harvest_what what);

#endif
