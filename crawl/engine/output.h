/*
 * output.h - the files that a crawl appends to.
 *
 *     warc/crawl-00001.warc.gz    requests, responses, revisits
 *     index.cdxj                  where each response is
 *     pages.jsonl                 page records
 *     crawl.log                   a line per URL that was tried
 *     urls.txt                    with --urls-only, instead of the first three
 *
 * Text is collected in memory and written once per commit. The position says
 * how long each file is. What follows that was not committed: opening the files
 * cuts it off.
 *
 * Threads: one at a time.
 */
#ifndef SEEN_CRAWL_OUTPUT_H
#define SEEN_CRAWL_OUTPUT_H

#include "../../lib/text/buffer.h"
#include <pthread.h>

#include "../../warc/files.h"
#include "../page/settings.h"

enum crawl_file {
    CRAWL_FILE_CDXJ,
    CRAWL_FILE_PAGES,
    CRAWL_FILE_LOG,
    CRAWL_FILE_URLS,
    CRAWL_FILES
};

/* Where the outputs ended at the last commit. */
struct crawl_position {
    unsigned warc_file;
    uint64_t warc, cdxj, pages, log, urls;
};

struct crawl_output {
    struct warc_files *warc;
    int fd[CRAWL_FILES];
    uint64_t length[CRAWL_FILES];
    struct buffer pending[CRAWL_FILES]; /* to be appended */
    bool warc_changed;
    struct crawl_flush {
        struct crawl_output *output;
        bool begun, apart; /* apart: a thread does it */
        pthread_t thread;
        enum seen_code code; /* how it ended */
        struct seen_error why;
    } flush[CRAWL_FILES + 1]; /* of each file; the last one is the WARC file */
    const char *where; /* the folder, if it is to be named in what is told of a
                          WARC file; or NULL */
};

/*
 * Open the files of a folder where the last commit ended. SEEN_CORRUPT if one
 * is shorter than that: somebody changed it. The texts of the facts must live
 * as long as the files are open.
 */
enum seen_code crawl_output_open(struct crawl_output *o, const char *folder,
                                 const struct crawl_position *at,
                                 const struct crawl_settings *settings,
                                 const struct warc_facts *facts,
                                 struct seen_error *why);
void crawl_output_close(struct crawl_output *o);

/* Append WARC members; *file and *offset are where. */
enum seen_code crawl_output_warc(struct crawl_output *o,
                                 const struct buffer *members,
                                 const char **file, uint64_t *offset,
                                 struct seen_error *why);

/*
 * Append what is pending, and begin to flush, in a thread per file: the disk
 * works while rows are written, and a file system that writes a journal of its
 * own does that once for all of them. Nothing may be appended before the flush
 * has ended.
 */
enum seen_code crawl_output_flush_begin(struct crawl_output *o,
                                        struct seen_error *why);
/* Wait until the disk has everything. Then *position is the new one; or NULL.
   SEEN_OK also if no flush was begun. */
enum seen_code crawl_output_flush_end(struct crawl_output *o,
                                      struct crawl_position *position,
                                      struct seen_error *why);

/* Cut the texts back to these lengths, and forget what is pending: what was
   written after them did not count. False if that failed. */
bool crawl_output_cut(struct crawl_output *o,
                      const uint64_t length[CRAWL_FILES]);

/* The name of a file, in the folder. */
const char *crawl_output_name(enum crawl_file file);

#endif
