/*
 * question.h - questions that are asked off the loop, for clients that wait.
 *
 *     q->question.name = ..., q->question.lookup = ...
 *     q->pending.done = finish;
 *     if (!serve_question_start(c, q))
 *         answer(503), serve_question_free(q);
 *
 * Questions of a loop take turns, slice by slice (archives/archive_question.h):
 * a client with a long list does not keep one with a single URL waiting. A loop
 * has one job for them at a time, so that they never take all threads of the
 * pool, where adds are made.
 *
 * Archives on other servers are asked by their own threads (call.h) at the same
 * time; a question is answered when all of them have answered, or have not in
 * time.
 *
 * Threads: belongs to one loop.
 */
#ifndef SEEN_SERVE_QUESTION_H
#define SEEN_SERVE_QUESTION_H

#include "archives/archive_question.h"
#include "conn.h"

struct serve_question {
    struct job job;
    struct archive_question question;
    struct pending pending; /* done() is set by the user, and frees the
                               question, which is the owner */
    void *request;          /* of the user, for done() */
    struct serve_question *next;
    bool answered;
    size_t left; /* parts that are missing: question.c */
    struct archive_counts counts; /* of archives on other servers */
    struct serve_part {
        struct serve_part *next;
        struct serve_question *of;
        unsigned char answer[ARCHIVE_BATCH];
        char name[];
    } * parts; /* what archives on other servers said */
};

/* False if there is too much to do already: done() is not called. */
bool serve_question_start(struct conn *c, struct serve_question *q);

/* Clear and free it. NULL is welcome. */
void serve_question_free(struct serve_question *q);

#endif
