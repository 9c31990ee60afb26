/* inside.h - a state, taken apart; for state.c, results.c and those of
   question.h. */
#ifndef SEEN_CHANGE_INSIDE_H
#define SEEN_CHANGE_INSIDE_H

#include "exact.h"
#include "filters.h"
#include "ids.h"
#include "page.h"
#include "state.h"

enum {
    CHANGE_ID = 32,   /* digits of an id that is made here */
    CHANGE_GROUP = 64 /* records that are looked at ahead */
};

struct change_state {
    struct change_options options;
    struct sql *db;
    int lock;
    char *lock_path;
    bool failed; /* memory is ahead of the disk: do not save */
    struct change_filters filters;
    struct change_exact exact;
    struct change_ids ids; /* of stored answers */

    int64_t last; /* number of the last answer */

    /* The results file: its path and length when it had all answers up to
       `written`. Without one, all answers count as written, unless a process
       that died owed the file those up to `owed`. */
    bool has_results, results_changed;
    struct buffer results;
    uint64_t results_len;
    int64_t written, owed; /* 0: nothing */

    uint64_t stored; /* answers in the table */
    uint64_t count[CHANGE_CLASSES];
    struct sql_statement *find, *caused_by, *add, *oldest, *forget, *set, *get,
        *visit_add, *visit_end, *visit_done;

    /* of the record that is classified */
    struct change_page group[CHANGE_GROUP]; /* of records without one */
    struct change_page *page;               /* the record's, or one of these */
    struct change_known known;
    struct buffer line, other;
    struct buffer caused; /* lines of answers that no record asked for */
};

/* A setting of the state: "" if it is not there. The buffer gets a zero. */
enum seen_code change_setting(struct change_state *s, const char *name,
                              struct buffer *value, struct seen_error *why);
enum seen_code change_set(struct change_state *s, const char *name,
                          struct seen_span value, struct seen_error *why);
enum seen_code change_set_number(struct change_state *s, const char *name,
                                 uint64_t value, struct seen_error *why);

/* In the transaction of a batch: the counts, and what was written. */
enum seen_code change_state_note(struct change_state *s,
                                 struct seen_error *why);
enum seen_code change_results_note(struct change_state *s,
                                   struct seen_error *why);
/* Give out the lines of the answers after one number and up to another. */
enum seen_code change_results_between(struct change_state *s, int64_t after,
                                      int64_t last, change_take_line *take,
                                      void *owner, struct seen_error *why);
/* The note, in a transaction of its own. */
enum seen_code change_results_save(struct change_state *s,
                                   struct seen_error *why);

#endif
