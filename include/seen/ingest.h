/*
 * ingest.h - the URLs of files, as batches of keys, with several threads.
 *
 * This is the way from the files of an archive (cdx.h) to filters:
 *
 *     static enum seen_code add(void *to, unsigned thread,
 *                               struct seen_batch *batch,
 *                               struct seen_error *why)
 *     {
 *         (void)thread;
 *         return seen_filter_add(to, batch->key, batch->n, NULL, why);
 *     }
 *
 *     enum seen_code add_files(struct seen_filter *filter, size_t files,
 *                              const char *const *file,
 *                              struct seen_error *why)
 *     {
 *         struct seen_ingest in = { .keying.profile = "surt",
 *                                   .threads = 1,
 *                                   .keys = add,
 *                                   .to = filter };
 *         enum seen_code code;
 *
 *         code = seen_source_open(&in.source, file, files, NULL, why);
 *         if (code == SEEN_OK)
 *             code = seen_ingest_run(&in, why);
 *         seen_source_close(in.source);
 *         return code;
 *     }
 *
 * Each thread reads a piece of the source, makes the keys of its captures and
 * passes them to keys(), batch by batch. All counts are summed in the order of
 * the input, so they do not depend on the number of threads.
 *
 * A bad line costs only that line: it is left out, and `rejects` counts it by
 * cause, with the line numbers of the first ones.
 *
 * Threads: keys(), end() and select() are called by several threads at once,
 * the first two with the number of the thread, from 0 on; the others are
 * called by one thread at a time.
 */
#ifndef SEEN_INGEST_H
#define SEEN_INGEST_H

#include <seen/cdx.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- a batch --- */

enum { SEEN_BATCH = 1024, SEEN_BATCH_TEXT = 1 << 18 };

/*
 * Keys and what they were made from. Filters work on batches, because the
 * cells of one key are fetched while the next is hashed. Empty if n and used
 * are 0.
 */
struct seen_batch {
    size_t n;
    struct seen_key key[SEEN_BATCH];
    struct seen_span url[SEEN_BATCH];  /* as given; the urlkey if `detail`
                                          does not ask for the URL */
    struct seen_span line[SEEN_BATCH]; /* the whole line; the URL of a WARC or
                                          ARC record */
    size_t used;
    char text[SEEN_BATCH_TEXT]; /* canonical URLs that differ from these */
};

/* Is there room for one more key of any length? */
static inline bool seen_batch_room(const struct seen_batch *b)
{
    return b->n < SEEN_BATCH && b->used <= SEEN_BATCH_TEXT - SEEN_KEY_TEXT;
}

/*
 * Make the key of one URL and append it; seen_batch_room() must be true. The
 * URL is borrowed. SEEN_RANGE: it is not a URL, or has a control byte; nothing
 * was appended.
 */
enum seen_code seen_batch_add(struct seen_batch *b, const char *url,
                              size_t len, const struct seen_profile *profile,
                              struct seen_error *why);

/* --- what was found --- */

struct seen_tally {
    uint64_t lines;    /* of text; records, of a WARC or ARC file */
    uint64_t captures; /* those that were selected */
    uint64_t urls;     /* the same, with adjacent captures of one URL once */
    uint64_t repaired, derived; /* keys: see cdx.h */
    uint64_t lost; /* pieces that could not be read to their end; each is a
                      reject, too */
    uint64_t damaged; /* places where records are damaged; reading went on at
                         the next record; each is a reject, too */
    uint64_t skipped; /* bytes that were passed over there */
};

/*
 * Is the key column of an index made as our profiles make keys? Every line of
 * a CDX or CDXJ file that has a key and a URL is compared. With
 * SEEN_KEYS_TRUSTED these are only about one in a thousand, and more of the
 * first ones, by seen_capture_check(), unless `compare` asks for all. Which
 * ones depends on the input alone.
 */
struct seen_agreement {
    uint64_t checked, differ;
    const char *input; /* of the first that differs; or NULL */
    uint64_t line;
    char key[160], ours[160]; /* its key, and what it should be; cut */
};

enum { SEEN_CAUSES = 8, SEEN_PLACES = 5 };

/* What a bad line costs. */
enum seen_cost {
    SEEN_COST_LINE = 0,   /* itself */
    SEEN_COST_RECORD = 1, /* it is damage, up to the next record */
    SEEN_COST_REST = 2    /* the rest of the piece: see `lost` */
};

struct seen_rejects {
    uint64_t count;
    struct seen_cause {
        uint64_t count;
        enum seen_cost cost;
        struct seen_place {
            const char *input; /* its name; lives as long as the source */
            uint64_t line;     /* from 1 */
        } at[SEEN_PLACES];     /* the first of them */
        char text[160];
    } cause[SEEN_CAUSES]; /* the last one: all other causes */
};

/* --- all files --- */

struct seen_ingest {
    /* Given: */
    struct seen_source *source;
    struct seen_keying keying;
    enum seen_detail detail; /* if more is needed than for the keys */
    unsigned threads; /* 0 is 1; a source in order is read by 1 thread */
    bool every;       /* pass on each of adjacent captures of one URL */
    bool compare;     /* every urlkey with its URL, though it is trusted */
    bool strict;      /* end at the first bad line */
    void *to;         /* argument of the functions; only keys() is required */

    /* A batch of keys, which may be changed. It is valid until this
       returns. */
    enum seen_code (*keys)(void *to, unsigned thread, struct seen_batch *batch,
                           struct seen_error *why);
    /* Called by each thread after its last batch. */
    enum seen_code (*end)(void *to, unsigned thread, struct seen_error *why);
    /* Is this capture wanted? */
    bool (*select)(void *to, const struct seen_capture *c);
    /* The bad lines, each with a line feed, in the order of the input. A line
       is cut after SEEN_LINE_TEXT bytes, and then ends with " [cut]", so that
       it is still too long if it is read again. */
    void (*rejected)(void *to, const char *lines, size_t len);
    /* A line that has no key, between the batches before and after it: for
       programs that answer every line. It is cut after SEEN_LINE_TEXT bytes.
       Empty lines of lists are then bad lines, too. Needs a source in
       order. */
    void (*bad)(void *to, struct seen_span line, const char *cause);
    /* Called whenever the counts below have changed. */
    void (*progress)(void *to, const struct seen_ingest *in);
    /* Called about every `interval` seconds, while no thread is in keys().
       Another process can go on from the mark of the source
       (seen_source_mark), if it begins with the counts below. */
    enum seen_code (*pause)(void *to, struct seen_error *why);
    double interval;

    /* Counts, which are added to: */
    struct seen_tally tally;
    struct seen_agreement agreement; /* under surt; otherwise nothing is
                                        checked */
    struct seen_rejects rejects;
    uint64_t bytes;       /* that were read, packed */
    uint64_t input_lines; /* of the input that is being read */
    bool stop; /* keys() of a single thread may set it: end without error */
};

/*
 * Read the whole source. If a function returns anything but SEEN_OK, the run
 * ends and returns the same. SEEN_CORRUPT: a line was bad and `strict` is set.
 * SEEN_RANGE: the profile is unknown. SEEN_NOMEM. The counts are valid on
 * failure, too.
 */
enum seen_code seen_ingest_run(struct seen_ingest *in, struct seen_error *why);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
