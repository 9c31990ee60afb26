/*
 * state.h - what a classifier remembers, and the call that classifies.
 *
 *     DIR/state.db       settings; answers; hashes of their ids
 *     DIR/journal        what the files of the filters lack: journal.h
 *     DIR/urls.seen      URLs
 *     DIR/versions.seen  (URL, content)
 *     DIR/texts.seen     content under any URL, for duplicates
 *     DIR/trees.seen     (URL, skeleton)
 *     DIR/words.seen     (URL, field, three words)
 *
 * One transaction stores the answers of a batch, and how long the journal is
 * that has the keys which they add to the filters. Only then are the answers
 * written out, the records acknowledged, and now and then the files of the
 * filters renewed:
 *
 *     records ──> ask filters ──> flush journal ──> commit ──> renew files
 *                                                     │
 *                                   acknowledge <── flush <── emit
 *
 * A process that dies before the commit has changed nothing. One that dies
 * after it finds the answers in the table: a record that is delivered again
 * gets its stored answer. The filters are saved now and then, with the
 * position in the journal that they include; the rows after that position
 * are replayed when the state is opened.
 *
 *     struct change_options options = { .remember = 30 * 86400 };
 *     struct change_state *s;
 *
 *     code = change_state_open(&s, "state", &options, &why);
 *     code = change_classify(s, record, n, &answers, &why);
 *     for (size_t i = 0; i < answers.n; i++)
 *         emit(answers.answer[i].json);
 *     code = change_state_close(s, &why);
 *
 * Threads: a state belongs to one thread at a time, and to one process by its
 * lock. It adds words with a thread of its own (filters.h).
 */
#ifndef SEEN_CHANGE_STATE_H
#define SEEN_CHANGE_STATE_H

#include "answer.h"
#include "rules.h"

struct change_state;

struct change_options {
    /* Fixed when the state is made; another value later is refused. */
    bool exact;        /* remember the last version of each URL */
    bool confirm;      /* a change counts on second sight */
    bool no_words;     /* do not remember words */
    uint64_t shard;    /* whose records these are */
    uint64_t shards;   /* how many shards there are; 0: as the state, or 1 */
    uint64_t capacity; /* URLs expected; 0: unknown, the filters grow */

    uint64_t remember; /* s that answers are kept for redeliveries; 0: as
                          the state, or 30 days */
    const struct change_rules *rules; /* or NULL; lives as long as the state */
    bool existing;                    /* SEEN_ABSENT if there is no state */
};

/*
 * Open or make the state in a folder. SEEN_BUSY: another process has it.
 * SEEN_MISMATCH: it is of another version or shard, or was made with other
 * options. SEEN_CORRUPT, SEEN_IO, SEEN_NOMEM.
 */
enum seen_code change_state_open(struct change_state **out, const char *folder,
                                 const struct change_options *options,
                                 struct seen_error *why);

/* Save the filters and close. The state is freed in any case; after a failure
   nothing is lost, since the journal stays. NULL is welcome. */
enum seen_code change_state_close(struct change_state *s,
                                  struct seen_error *why);

/*
 * Classify a batch in one transaction. Records see those before them in the
 * batch. answers->answer[i] is for record i; after these may come answers
 * that no record of the batch asked for: pages that were missing when a visit
 * was complete (removed). answers is emptied first; its texts live until the
 * next call with it, and as long as the records. After a fault nothing of the
 * batch was stored, and the state must be closed.
 *
 * A record whose id is empty gets one: from its visit, time, URL and turn, if
 * it has a visit or a time, or else one of its own, so that it is classified
 * each time it comes. A record that cannot be classified here (of another
 * shard) has class CHANGE_ERROR and the reason in `why`.
 */
enum seen_code change_classify(struct change_state *s,
                               const struct change_record *record, size_t n,
                               struct change_answers *answers,
                               struct seen_error *why);

/*
 * Remember pages as if they had been classified as new long ago, and the
 * answers forgotten: the filters get what change_classify() gives them for new
 * pages. They are known until the state is closed, and are not stored: this is
 * for benchmarks, which need lookups of millions of pages soon. Records must
 * have pages, and the state be without `exact`.
 */
enum seen_code change_state_fill(struct change_state *s,
                                 const struct change_record *record, size_t n,
                                 struct seen_error *why);

/*
 * Results into a file, each exactly once. _resume() is called once, before the
 * first batch, with the length that the file has; *len becomes the length that
 * it had when the state last knew which answers it has. The caller cuts the
 * file there and appends the lines of take(): answers that are stored and may
 * be missing. _written() says that the file has all answers so far and is
 * this long; it is stored with the next batch. Repeated answers (`again`) are
 * not written to such a file.
 *
 * SEEN_MISMATCH: the file is shorter than it was, so it has lost lines.
 * With `all`, an empty file gets all answers that the state still has; one
 * that is not empty is SEEN_MISMATCH, since its lines would be there twice.
 */
typedef enum seen_code change_take_line(void *owner, struct seen_span json,
                                        struct seen_error *why);
enum seen_code change_results_resume(struct change_state *s, const char *path,
                                     uint64_t *len, bool all,
                                     change_take_line *take, void *owner,
                                     struct seen_error *why);
void change_results_written(struct change_state *s, uint64_t len);

/* --- figures --- */

struct change_facts {
    double urls, versions, words; /* keys that the filters hold */
    double url_rate, version_rate, text_rate, tree_rate, word_rate;
    uint64_t bytes;                 /* of the filters */
    uint64_t answers;               /* stored */
    uint64_t count[CHANGE_CLASSES]; /* answers by class since the state was
                                       made, each record once */
    bool exact, confirm, no_words;
    uint64_t shard, shards, remember;
};
void change_state_facts(struct change_state *s, struct change_facts *f);

#endif
