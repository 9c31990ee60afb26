/* source.h - the files of a source, as its readers see them. */
#ifndef SEEN_CDX_SOURCE_H
#define SEEN_CDX_SOURCE_H

#include <pthread.h>

#include <seen/cdx.h>

#include "stream.h"

enum {
    PLAIN_PIECE = 1 << 24,
    GZIP_PIECE = 1 << 22,
    PIPE_PIECE = 1 << 20,
    BLOCK = 1 << 18, /* read at a time: it stays in the cache */
    PADDING = 64,    /* bytes that may be looked at past the end */
    SNIFF = 1 << 16
};

struct cdx_file {
    char *name;  /* to open it */
    char *title; /* for people */
    bool standard, seeks;
    int fd; /* a pipe; else -1, and each piece opens the file */
    bool late; /* a pipe that is opened when its turn comes */
    int failed; /* errno of a read, if it is a pipe */
    uint64_t base, size;
    uint64_t end; /* where a member of a zip file ends; 0: the whole file */
    uint32_t crc; /* of that member */
    int64_t changed;
    uint64_t device, inode;
    enum cdx_packing packing;
    bool twice; /* a deflated member that is gzip or zstd inside */
    struct seen_layout layout;
    uint64_t pieces;
    uint64_t *start; /* where the first gzip member of each piece is */
    char *head;      /* what was read from a pipe to recognise it */
    size_t head_at, head_len;
};

struct cdx_fault {
    char *name;
    struct seen_error why;
};

struct seen_source {
    struct cdx_file *file;
    size_t files, room;
    struct cdx_fault *fault;
    size_t faults, fault_room;
    pthread_mutex_t lock;
    struct seen_source_options options;

    /* Handing out: */
    size_t next;     /* the file that the next piece is of */
    uint64_t piece;  /* its number in that file */
    uint64_t number; /* its number among all pieces */
    bool skipping;   /* the pipe is within a line that is too long */
    char *carry;     /* a line of the pipe that is not whole yet */
    size_t carried;

    /* Folding: */
    uint64_t folded, expected;
};

/* Does it have records, not lines? */
static inline bool cdx_has_records(const struct seen_layout *l)
{
    return l->format == SEEN_FORMAT_WARC || l->format == SEEN_FORMAT_ARC;
}

/* Append a file, or the files that it stands for; leave one out, with the
   reason. SEEN_MISMATCH becomes SEEN_CORRUPT unless the name of the file says
   so, too. */
enum seen_code cdx_append(struct seen_source *s, const char *name,
                          struct seen_error *why);
enum seen_code cdx_leave_out(struct seen_source *s, const char *name,
                             const struct seen_error *what,
                             struct seen_error *why);

/* Append the files of a cluster, of which this file is the index. */
enum seen_code cdx_follow(struct seen_source *s, size_t index,
                          struct seen_error *why);

/* Open and recognise a pipe that was left for later. */
enum seen_code cdx_open_late(const struct seen_source *s, struct cdx_file *f,
                             struct seen_error *why);

/* Open a file of the source; -1 and errno. Close it unless it is f->fd. */
int cdx_file_open(const struct cdx_file *f);

/* The bytes that each gzip member of the file begins with, unpacked; or "". */
static inline const char *cdx_file_magic(const struct cdx_file *f)
{
    return f->layout.format == SEEN_FORMAT_WARC ? "WARC/" : "";
}

/* Where piece i of a gzip file begins; CDX_NOWHERE if no member does. */
uint64_t cdx_file_start(struct cdx_file *f, uint64_t i);

/* The next bytes of a plain pipe, whole lines, into `to` of PIPE_PIECE and
   SEEN_LINE_TEXT bytes; the lock is held. 0 at the end; SIZE_MAX: errno. */
size_t cdx_pipe_lines(struct seen_source *s, struct cdx_file *f, char *to);

/* Read once from a pipe, with the wait of the options before it; 0 at the
   end, SIZE_MAX: errno. */
size_t cdx_pipe_read(const struct seen_source *s, int fd, char *to,
                     size_t room);

/* Were the bytes of this piece, which begins at `start`, read before? */
bool cdx_void(const struct seen_source *s, const struct cdx_file *f,
              uint64_t index, uint64_t start);

/* Recognise a file: fill in its packing, its layout and, of a pipe, its head.
   SEEN_MISMATCH if it can hold no URLs. */
enum seen_code cdx_sniff(const struct seen_source *s, struct cdx_file *f,
                         struct seen_error *why);

/* The layout of a file that begins like this; or the name of a format without
   URLs, and NULL otherwise. */
const char *cdx_recognise(struct seen_layout *layout, const char *text,
                          size_t len);

/* Does the name of a file, by its suffix, say that it holds no URLs? */
bool cdx_named_otherwise(const char *path);

/* The bytes of a byte order mark that the text begins with: 3 or 0. */
size_t cdx_mark(const char *text, size_t len);

#endif
