/*
 * ingest.h - the URLs of files, as batches of keys, with several threads.
 *
 * This is the one way from what an archive has (cdx.h) to filters:
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
 * Each thread takes a piece of the source, makes keys of its captures and
 * hands them to keys(), batch by batch. All that is counted is put together
 * in the order of the input, so it does not depend on the threads.
 *
 * A bad line costs that line: it is left out, and `rejects` counts it by its
 * cause, with the places of the first ones.
 *
 * Threads: keys() and end() are called by several at once, each with its own
 * number, from 0 on; everything else by one at a time.
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
 * Keys and what they were made from. Filters take batches, since the cells
 * of one key are fetched while the next is hashed. All zero (n, used): empty.
 */
struct seen_batch {
    size_t n;
    struct seen_key key[SEEN_BATCH];
    struct seen_span url[SEEN_BATCH];  /* as given; the key of an index if
                                          its URL was not looked for */
    struct seen_span line[SEEN_BATCH]; /* the whole line; of a record its
                                          URL */
    size_t used;
    char text[SEEN_BATCH_TEXT]; /* canonical URLs that differ from those */
};

/* Is there room for another key, of any length? */
static inline bool seen_batch_room(const struct seen_batch *b)
{
    return b->n < SEEN_BATCH && b->used <= SEEN_BATCH_TEXT - SEEN_KEY_TEXT;
}

/*
 * Make the key of one URL and append it, if seen_batch_room(). The URL is
 * borrowed. SEEN_RANGE: it is not one, or has a control byte; nothing was
 * appended.
 */
enum seen_code seen_batch_add(struct seen_batch *b, const char *url,
                              size_t len, const struct seen_profile *profile,
                              struct seen_error *why);

/* --- what was found --- */

struct seen_tally {
    uint64_t lines;    /* of text; records, of a WARC or ARC file */
    uint64_t captures; /* of them, those that were selected */
    uint64_t urls;     /* captures, of adjacent ones of one URL the first */
    uint64_t repaired, derived; /* keys: see cdx.h */
    uint64_t lost; /* pieces that could not be read to their end; each is a
                      reject, too */
};

enum { SEEN_CAUSES = 8, SEEN_PLACES = 5 };

struct seen_rejects {
    uint64_t count;
    struct seen_cause {
        uint64_t count;
        struct seen_place {
            const char *input; /* its name; lives as long as the source */
            uint64_t line;     /* from 1 */
        } at[SEEN_PLACES];     /* the first of them */
        char text[160];
    } cause[SEEN_CAUSES]; /* the last: all other causes */
};

/* --- all files --- */

struct seen_ingest {
    /* Given: */
    struct seen_source *source;
    struct seen_keying keying;
    enum seen_detail detail; /* if more is wanted than the keys need */
    unsigned threads; /* 0 is 1, and so is anything of a source in order */
    bool every;       /* adjacent captures of one URL count each */
    bool strict;      /* end at the first bad line */
    void *to;         /* for the functions, of which only keys() is needed */

    /* A batch of keys, which may be changed. What it points to lives until
       this returns. */
    enum seen_code (*keys)(void *to, unsigned thread, struct seen_batch *batch,
                           struct seen_error *why);
    /* A thread has handed over its last batch. */
    enum seen_code (*end)(void *to, unsigned thread, struct seen_error *why);
    /* Is this capture wanted? Called by several threads at once. */
    bool (*select)(void *to, const struct seen_capture *c);
    /* Bad lines themselves, each with a line feed, in the order of the
       input. After SEEN_LINE_TEXT bytes one is cut, and ends with " [cut]",
       which makes it too long for whoever reads it again. */
    void (*rejected)(void *to, const char *lines, size_t len);
    /* Something was added to what was found. */
    void (*progress)(void *to, const struct seen_ingest *in);
    /* About every `interval` seconds, when no thread is in keys(). The mark
       of the source (seen_source_mark) is where another process can go on,
       if it begins with what was found so far. */
    enum seen_code (*pause)(void *to, struct seen_error *why);
    double interval;

    /* Found, and added to: */
    struct seen_tally tally;
    struct seen_rejects rejects;
    uint64_t bytes;       /* read, as they are stored */
    uint64_t input_lines; /* of the input that is being read */
    bool stop;            /* set by a function: end soon, without an error */
};

/*
 * Read all that the source has. What a function returns other than SEEN_OK
 * ends it and is returned; SEEN_CORRUPT if `strict` and a line was bad;
 * SEEN_RANGE for a profile that is not known; SEEN_NOMEM. What was found stands in `in`, also on failure.
 */
enum seen_code seen_ingest_run(struct seen_ingest *in, struct seen_error *why);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
