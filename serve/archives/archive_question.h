/*
 * archive_question.h - lookups that would take too long for a loop.
 *
 * A filter of another archive may be right in every checksum and cost
 * milliseconds per lookup, and a list in hundreds of archives does so, too. A
 * loop has many clients, so it gives such questions to a thread, which asks
 * them in slices of at most ARCHIVE_SLICE:
 *
 *     while (!archive_question_ask(asker, &q))    in any thread but a loop's;
 *         ;                                       others may ask in between
 *     q.answer[a * ARCHIVE_BATCH + i]             of archive q.archive[a]
 *     archive_question_clear(&q);
 *
 * All threads share one view of their own, and with it one CPU: expensive
 * archives do not take the others. A slice begins by following the files, so
 * that it knows of everything that was acknowledged before the question.
 *
 * Archives on other servers are not asked here: each has a thread of its own
 * (remote.h), and archive_question_put() adds what they said.
 *
 * Threads: a question belongs to one thread at a time, an asker to all.
 */
#ifndef SEEN_SERVE_ARCHIVES_ARCHIVE_QUESTION_H
#define SEEN_SERVE_ARCHIVES_ARCHIVE_QUESTION_H

#include "archive_lookup.h"

enum { ARCHIVE_SLICE = 1000000 }; /* cost: about 10 ms */

struct archive_question {
    char *name;  /* of the archive that is asked; NULL: all */
    bool prefix; /* is there anything under the URL? In one archive */
    struct archive_lookup *lookup; /* the caller's, at most ARCHIVE_BATCH */
    size_t n;
    uint64_t until; /* monotonic ms after which no more is asked; 0: never */

    char **archive; /* names of those that were asked */
    size_t archives;
    unsigned char *answer; /* see archive_lookup_all() */
    struct archive_counts counts;
    enum seen_code code; /* of one archive: SEEN_OK if it answered */
    struct seen_error why;

    size_t url, at; /* how far it is: lookups, and archives of this one */
};

struct archive_asker;

/* NULL without memory. To be freed before the set is closed. */
struct archive_asker *archive_asker_new(struct archive_set *set);
void archive_asker_free(struct archive_asker *asker);

/* Ask a slice. True if the question is answered, or cannot be. */
bool archive_question_ask(struct archive_asker *asker,
                          struct archive_question *q);

/* The answer of the archive of this name to lookup i. */
enum archive_answer archive_question_answer(const struct archive_question *q,
                                            const char *name, size_t i);

/* Put in the answers of an archive that its own thread has asked (remote.h),
   one per lookup. */
void archive_question_put(struct archive_question *q, const char *name,
                          const unsigned char *answer);

void archive_question_clear(struct archive_question *q);

#endif
