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
    char *name; /* to open it */
    const char *title;
    bool owned; /* the name is ours */
    bool standard, seeks;
    int fd; /* of a pipe; else -1: each piece opens it */
    uint64_t base, size;
    int64_t changed;
    uint64_t device, inode;
    enum cdx_packing packing;
    struct seen_layout layout;
    uint64_t pieces;
    uint64_t *start; /* of gzip: where the first member of a piece is */
    char *head;      /* of a pipe: what was read to tell what it is */
    size_t head_len;
};

struct cdx_fault {
    char *name;
    struct seen_error why;
};

struct seen_source {
    struct cdx_file *file;
    size_t files, room;
    struct cdx_fault *fault;
    size_t faults;
    pthread_mutex_t lock;

    /* Handing out: */
    size_t next;     /* file */
    uint64_t piece;  /* of that file */
    uint64_t number; /* of all */
    bool skipping;   /* of a pipe: a line that is too long */
    char *carry;     /* of a pipe: a line that is not whole yet */
    size_t carried;

    /* Folding: */
    uint64_t folded, expected;
};

/* Open a file of the source; -1 and errno. Close it unless it is f->fd. */
int cdx_file_open(const struct cdx_file *f);

/* Where piece i of a gzip file begins; CDX_NOWHERE if no member does. */
uint64_t cdx_file_start(struct cdx_file *f, uint64_t i);

/* The next bytes of a plain pipe, whole lines, into `to` of PIPE_PIECE and
   SEEN_LINE_TEXT bytes; the lock is held. 0 at the end; SIZE_MAX: errno. */
size_t cdx_pipe_lines(struct seen_source *s, struct cdx_file *f, char *to);

#endif
