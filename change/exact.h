/*
 * exact.h - the last version of each URL, for states that are exact.
 *
 * A row per URL: its key and text, the fingerprint of its content, when it
 * was fetched and in which visit, whether it is gone, and of each field the
 * words as 32-bit hashes. The text itself is not stored. A page of 600 words
 * takes about 2.7 KB.
 *
 * With it a version is compared with the last one, by a diff of words
 * (E. Myers: An O(ND) difference algorithm and its variations. Algorithmica
 * 1, 1986), so that what was removed is counted and not estimated.
 *
 * Threads: as the state.
 */
#ifndef SEEN_CHANGE_EXACT_H
#define SEEN_CHANGE_EXACT_H

#include "../sql/sql.h"
#include "answer.h"
#include "page.h"

enum { CHANGE_SUM = 16 }; /* bytes of a fingerprint */

struct change_known {
    bool found;
    bool gone;
    uint64_t fetched; /* of the last record, ms since 1970 */
    char content[CHANGE_SUM];
    bool waits;               /* a change is not yet confirmed */
    char pending[CHANGE_SUM]; /* the content of that change */
    bool has_skeleton;
    uint64_t skeleton;
    struct buffer fields; /* names and words, as change_exact_fields() */
};

struct change_exact {
    struct sql *db;
    struct sql_statement *find, *keep, *same, *missing, *mark;
};

/* Tables, if they are missing. */
extern const char change_exact_schema[];
enum seen_code change_exact_open(struct change_exact *e, struct sql *db,
                                 struct seen_error *why);

enum seen_code change_exact_find(struct change_exact *e,
                                 const struct seen_key *url,
                                 struct change_known *known,
                                 struct seen_error *why);
enum seen_code change_exact_keep(struct change_exact *e,
                                 const struct change_record *r,
                                 const struct change_known *known,
                                 struct seen_error *why);

/* Another URL with this content, into `url`, which is "" if there is none. */
enum seen_code change_exact_same(struct change_exact *e,
                                 const struct seen_key *url,
                                 const char content[CHANGE_SUM],
                                 struct buffer *other, struct seen_error *why);

/* URLs of earlier visits of the same name that are not gone. They are marked
   as gone. take() gets each URL. */
typedef enum seen_code change_take_missing(void *owner, struct seen_span url,
                                           struct seen_error *why);
enum seen_code change_exact_missing(struct change_exact *e,
                                    struct seen_span visit,
                                    change_take_missing *take, void *owner,
                                    struct seen_error *why);

/* --- fields --- */

/* Write the fields of a page that was hashed; without words if `bare`. */
void change_exact_fields(struct buffer *to, const struct change_page *page,
                         bool bare);

/* Did this field have text? */
bool change_exact_matched(const struct buffer *fields, struct seen_span name);

/* Add what changed in each field to the last answer. */
enum seen_code change_exact_compare(const struct buffer *fields,
                                    const struct change_page *page,
                                    struct change_answers *answers,
                                    struct seen_error *why);

/* The time in the name of a visit, "news@1767323040", or 0; and its length
   without it. */
uint64_t change_visit_due(struct seen_span visit, struct seen_span *name);

#endif
