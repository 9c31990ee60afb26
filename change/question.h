/*
 * question.h - one record on its way to its answer; for classify.c, judge.c
 * and stored.c.
 */
#ifndef SEEN_CHANGE_QUESTION_H
#define SEEN_CHANGE_QUESTION_H

#include "inside.h"

struct change_question {
    struct change_state *s;
    const struct change_record *r;
    struct change_answers *all;
    struct change_answer answer;
    uint64_t url;              /* 64 bits that stand for the URL */
    uint64_t version, pending; /* keys of the filter of versions */
    char content[CHANGE_SUM];
    bool known;  /* the URL was seen before */
    bool had;    /* the URL had this content before */
    bool added;  /* the version was added to its filter */
    uint64_t id; /* hash of the record's id */
    struct seen_error *why;
};

/* --- judge.c --- */

/* What happened to the page, which is s->page. The answer has a place in the
   list, and the state knows the page afterwards. */
enum seen_code change_judge(struct change_question *q);
/* The state knows the page, as if it had been judged new. */
enum seen_code change_judge_fill(struct change_question *q);
/* The key of (URL, content) in the filter of versions. */
uint64_t change_version_of(uint64_t url, const struct change_page *page);

/* --- stored.c --- */

/* The record's id, or one that is made of its content. */
enum seen_code change_stored_id(struct change_question *q);
/* The answer that was given before, if there is one. */
enum seen_code change_stored_repeat(struct change_question *q, bool *stored);
/* Store the answer, which is the last of the list. The end of a visit causes
   further answers, one for each page that is missing: they are stored, too. */
enum seen_code change_stored_add(struct change_question *q);
/* Append the answers that were caused by the answers of a batch. */
enum seen_code change_stored_caused(struct change_state *s,
                                    struct change_answers *all,
                                    struct seen_error *why);
/* After a batch of n records: forget answers that are too old. */
enum seen_code change_stored_forget(struct change_state *s, size_t n,
                                    struct seen_error *why);

#endif
