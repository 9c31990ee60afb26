/* reader.h - a reader, as the files that read lines and records share it. */
#ifndef SEEN_CDX_READER_H
#define SEEN_CDX_READER_H

#include "scan.h"
#include "source.h"

struct seen_reader {
    struct seen_source *source;
    enum seen_detail detail;
    struct seen_piece piece;
    struct cdx_file *file;
    bool empty_lines; /* an empty line of a list is a capture with a fault */
    uint64_t index;   /* the number of the piece in its file */
    uint64_t start; /* of the piece in a gzip file; CDX_NOWHERE: it is empty */
    int fd; /* is closed with the reader, unless it is -1 */

    /*
     *     buffer   |  used  |  lines   |  part of a line  |
     *              0        at         whole              have
     */
    char *memory, *buffer; /* the buffer begins within the memory */
    char *room;            /* for texts that JSON escaped */
    size_t at, whole, have, used;
    uint64_t passed; /* bytes of the piece that have left the buffer */
    struct cdx_stream stream;
    const struct cdx_scanner *scan;
    struct cdx_lines lines; /* those in the buffer, if `fast` */
    uint32_t cuts; /* delimiters before the next line: see cdx_line_end */
    char counted;  /* the delimiter; '\n' if columns do not matter */
    struct seen_span before; /* the key of the line before, in the buffer */
    bool before_surt;
    bool proves;   /* keys are compared with URLs */
    bool fast;     /* keys are the first column, and all there is; if they are
                      compared, URLs are the third */
    bool dropping; /* what is left of a line: it is too long, or of the piece
                      before */
    bool last;     /* the stream has no more */
    bool over;     /* the piece is done */
    bool unfolded; /* the source has not counted the piece as done yet */

    /* WARC: */
    uint64_t content;  /* bytes of a record still to pass over */
    const char *cause; /* why the next record is searched for; or NULL */
    uint64_t skipped;  /* bytes that this search has passed */
    char text[160];    /* where a cause may be written */
};

void cdx_reader_fail(struct seen_reader *r, enum seen_code code,
                     const char *text);

/* The piece was read to its end. What is wrong past that, where the stream
   has read ahead, is for the next piece to report. */
static inline void cdx_reader_done(struct seen_reader *r)
{
    r->over = true;
    r->stream.code = SEEN_OK;
}

/*
 * Take the next lines of one stretch, at most `most`, while they are good;
 * returns how many they are. Their keys that differ from the key before are
 * written to `pick`: at most *n, which becomes their number; they begin at
 * pick->at of the buffer. It may be fewer than there are, and none:
 * seen_reader_next() has the others. The reader must be `fast`.
 */
uint64_t cdx_reader_picks(struct seen_reader *r, uint64_t most,
                          struct cdx_pick *pick, unsigned *n);

/*
 * A gzip member of a file of records is damaged: go on with the next one of
 * the piece. False if there is none, or if nothing is damaged.
 */
bool cdx_reader_restart(struct seen_reader *r);

bool cdx_warc_fill(struct seen_reader *r);
bool cdx_warc_next(struct seen_reader *r, struct seen_capture *c);

#endif
