/*
 * files.h - the WARC files of a crawl, one after the other, in a folder:
 *
 *     warc/crawl-00001.warc.gz        full, closed, on the disk
 *     warc/crawl-00002.warc.gz        the current one
 *
 * Each begins with a warcinfo record and ends with a whole record. Bytes are
 * appended at a position which the caller records, after warc_files_flush(),
 * together with the rest of its state. After a crash the files may have more
 * bytes than that. Opening them at the recorded position cuts these off and
 * removes later files, so that state and files agree again.
 *
 *     struct warc_position at = { 2, 17345 };        from the state
 *
 *     code = warc_files_open(&f, "crawl/warc", "crawl", &facts, 0, &at, &why);
 *     code = warc_files_append(f, bytes, len, &name, &offset, &why);
 *     code = warc_files_flush(f, &why);
 *     at = warc_files_position(f);                    to the state
 *     warc_files_close(f);
 *
 * A write that fails, on a full disk for instance, does not move the position
 * past whole records: the same bytes may be appended again, and opening at the
 * position removes what was written of them.
 *
 * Threads: belongs to one thread at a time.
 */
#ifndef SEEN_WARC_FILES_H
#define SEEN_WARC_FILES_H

#include "pack.h"

enum {
    WARC_NAME = 128,        /* room for the name of a file, and a zero */
    WARC_MOST = 1000000000, /* bytes per file, unless given */
    WARC_FILES_MOST = 999999999
};

struct warc_position {
    unsigned file;   /* from 1; 0: there is none yet */
    uint64_t length; /* of that file */
};

struct warc_files;

/*
 * Open the files of `prefix` in a folder, which is made if it is missing. The
 * texts of `facts` must live as long as the files are open. A file that has
 * reached `most` bytes (0: WARC_MOST) is followed by another; only a single
 * exchange that is larger makes a larger file.
 *
 * `at` is the recorded position. The file is truncated to it, and later files
 * are removed; at position {0, 0} all are. With NULL the crawl is new, and
 * files of that name are refused: SEEN_EXISTS. SEEN_CORRUPT if the file is
 * missing or shorter than the position; nothing is changed then. SEEN_RANGE if
 * the prefix is empty, too long or has a slash; SEEN_IO; SEEN_NOMEM.
 */
enum seen_code warc_files_open(struct warc_files **out, const char *folder,
                               const char *prefix,
                               const struct warc_facts *facts, uint64_t most,
                               const struct warc_position *at,
                               struct seen_error *why);

/*
 * Append the records of one exchange. *name is the file that has them, valid
 * until the next call, and *offset where they begin. On failure the position
 * is as before, or that of a new file which has its warcinfo record only:
 * SEEN_IO, SEEN_NOMEM, SEEN_FULL after 999,999,999 files.
 */
enum seen_code warc_files_append(struct warc_files *f, const void *bytes,
                                 size_t len, const char **name,
                                 uint64_t *offset, struct seen_error *why);

/* Wait until the disk has everything that was appended; and begin with that,
   to wait for other files at the same time. */
void warc_files_flush_begin(const struct warc_files *f);
enum seen_code warc_files_flush(struct warc_files *f, struct seen_error *why);

/* Where the next bytes go, unless a new file begins. */
struct warc_position warc_files_position(const struct warc_files *f);

/* Close without flushing; NULL is accepted. */
void warc_files_close(struct warc_files *f);

#endif
