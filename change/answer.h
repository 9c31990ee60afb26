/*
 * answer.h - what happened to a page since it was last seen.
 *
 *     {"_id": "5a...", "_url": "http://a.example/", "class": "updated",
 *      "wrong": 1e-06, "structure": "same", "changes": [{"field": "Title",
 *      "words": 9, "added": 1, "removed": 1, "exact": false,
 *      "distance": 0.11, "size": "small", "wrong": 0.006, "parts":
 *      [{"value": 0, "at": 3, "words": 1, "text": "Tuesday"}]}]}
 *
 * doc/result.schema.json is the schema. A record that could not be classified
 * has "error" with the reason, and no class.
 *
 *     struct change_answers a = { .answer = NULL };
 *
 *     change_answer_read(&a, line, &why);      from a results file
 *     for (size_t i = 0; i < a.n; i++)
 *         if (a.answer[i].class == CHANGE_UPDATED)
 *             change_answer_write(&b, &a.answer[i]);
 *     change_answers_clear(&a);
 *
 * The classes:
 *
 *     new        the URL was never seen
 *     duplicate  the URL was never seen, its content was, under another URL
 *     updated    the content is not one that the URL had before
 *     unchanged  the content is one that the URL had before, or it is still
 *                gone
 *     reverted   the same, but not the last one (exact)
 *     removed    404, 410, or missing on a completed visit (the latter: exact)
 *     absent     404 or 410 of a URL that was never there
 *     broken     a field that had text has none: probably the site was
 *                redesigned, and its template needs repair
 *     flapping   changed, but not yet confirmed by a second sight (--confirm)
 *     late       older than what is known (exact)
 *
 * Threads: plain values and functions of their arguments.
 */
#ifndef SEEN_CHANGE_ANSWER_H
#define SEEN_CHANGE_ANSWER_H

#include "record.h"

/* Stored in states: the numbers never change. */
enum change_class {
    CHANGE_ERROR = 0, /* set aside */
    CHANGE_NEW = 1,
    CHANGE_UPDATED = 2,
    CHANGE_UNCHANGED = 3,
    CHANGE_REVERTED = 4,
    CHANGE_REMOVED = 5,
    CHANGE_DUPLICATE = 6,
    CHANGE_BROKEN = 7,
    CHANGE_FLAPPING = 8,
    CHANGE_LATE = 9,
    CHANGE_END = 10, /* of a visit; has no line in the results */
    CHANGE_ABSENT = 11,
    CHANGE_CLASSES = 12
};

/* "updated"; "error" for CHANGE_ERROR. */
const char *change_class_name(enum change_class class);
/* false: not the name of a class. */
bool change_class_find(enum change_class *class, struct seen_span name);

/* Words that are new; or, with 0 words, a place where words were removed. */
struct change_part {
    size_t value; /* of the field, from 0 */
    size_t at;    /* number of the first word (text.h) in the value, from 0;
                     of a removal: of the word after it */
    size_t words;
    struct seen_span text; /* the words as the page wrote them, with single
                              spaces */
};

/* What changed in one field. */
struct change_in_field {
    struct seen_span field;
    bool broken;         /* had text, has none */
    size_t words;        /* of all values, now */
    size_t added;        /* words that are new */
    size_t removed;      /* words that are gone: an estimate unless `exact` */
    bool exact;          /* compared with the last version; else with all
                         earlier ones */
    double distance;     /* 0: equal, 1: nothing in common; (added + removed) /
                         (words before + words now) */
    bool large;          /* distance >= CHANGE_LARGE */
    double wrong;        /* chance that a new word was missed */
    size_t first, parts; /* parts first to first + parts - 1 of the answer */
};
#define CHANGE_LARGE 0.25

enum change_structure {
    CHANGE_STRUCTURE_UNKNOWN, /* the record has no _skeleton */
    CHANGE_STRUCTURE_SAME,    /* the URL had this tree of tags before */
    CHANGE_STRUCTURE_CHANGED
};

struct change_answer {
    struct seen_span id, url;
    enum change_class class;
    double wrong; /* an upper bound for the chance that a page of another class
                     gets this one, from the filters' rates now; 0: certain */
    struct seen_span visit, type;
    uint64_t fetched; /* ms since 1970, or 0 */
    enum change_structure structure;
    struct seen_span of;   /* duplicate: the other URL (exact), or "" */
    struct seen_span why;  /* removed: "404", "410", "missing"; error: the
                              reason; absent: as removed */
    struct seen_span
        costly;            /* "Text: a(.*b)?": a field with a pattern to ignore
                                that costs too much in it, so that it was
                                compared as it is; or "" */
    bool again;            /* a redelivery: the stored answer, repeated */
    size_t first, changes; /* fields first to first + changes - 1 of the
                              answers */
    struct seen_span json; /* the line of the results, without its end */
};

/* The answers of a batch, and their texts. Zeroed, it is empty. */
struct change_answers {
    struct change_answer *answer;
    size_t n, room;
    struct change_in_field *change;
    size_t changes, changes_room;
    struct change_part *part;
    size_t parts, parts_room;
    void *kept; /* memory of the texts */
};
void change_answers_clear(struct change_answers *a);
/* The same, but the memory is kept for the next answers. */
void change_answers_empty(struct change_answers *a);

/* Add an empty answer, change or part, which is the last one then, or copy a
   text. NULL, or a text of NULL, without memory. */
struct change_answer *change_answers_add(struct change_answers *a);
struct change_in_field *change_answers_change(struct change_answers *a);
struct change_part *change_answers_part(struct change_answers *a);
struct seen_span change_answers_keep(struct change_answers *a,
                                     struct seen_span text);

/* Append the answer as JSON, without a line end. `all` is where its changes
   are. */
void change_answer_write(struct buffer *line, const struct change_answers *all,
                         const struct change_answer *a);

/* Append the answer of such a line. SEEN_CORRUPT, SEEN_NOMEM. */
enum seen_code change_answer_read(struct change_answers *all,
                                  struct seen_span line,
                                  struct seen_error *why);

#endif
