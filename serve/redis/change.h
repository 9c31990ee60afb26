/*
 * change.h - changes of an archive, between change.c, which takes them from
 * clients and answers, and apply.c, which makes them in another thread.
 */
#ifndef SEEN_SERVE_REDIS_CHANGE_H
#define SEEN_SERVE_REDIS_CHANGE_H

#include "command.h"

enum result { OLD = 0, NEW = 1, REFUSED = -1 };

/* The items of one command. */
struct order {
    size_t first, n;
    enum change_reply reply;
};

struct change {
    struct task task; /* first: tasks are freed as what they are */
    enum change_how how;
    struct library *library;
    char *name, *path;     /* path NULL: it is to be made */
    struct seen_plan plan; /* by this */
    struct seen_profile profile;

    struct seen_key *key; /* `text` is set when the work begins */
    size_t n, room;
    char *text;
    size_t used, text_room;
    signed char *result; /* one a key: enum result */
    struct order *order;
    size_t orders, order_room;

    enum seen_code code; /* of the first refusal, or of all */
    struct seen_error why;
    uint64_t added, removed;

    struct change *next;     /* of another client, made together with it */
    struct change *waiting;  /* those that come after it */
    struct change *also_now; /* another that is under way */
};

/* The work of the task: m, and all that are made together with it. */
void change_apply(struct task *t);

#endif
