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
    bool empty_lines; /* of lists are captures, with a fault */
    uint64_t index; /* of the piece in its file */
    uint64_t start; /* of the piece in a gzip file; CDX_NOWHERE: it is empty */
    int fd;         /* to close; or -1 */

    /*
     *     buffer   |  used  |  lines   |  part of a line  |
     *              0        at         whole              have
     */
    char *memory, *buffer; /* which is in it */
    char *room;            /* for what JSON escaped */
    size_t at, whole, have, used;
    uint64_t passed; /* bytes of the piece that were in it before */
    struct cdx_stream stream;
    const struct cdx_scanner *scan;
    struct cdx_lines lines; /* of the buffer, if `fast` */
    uint32_t cuts;          /* of those before the next line */
    char counted;           /* the delimiter; '\n': columns do not matter */
    struct seen_span before; /* the key of the line before, in the buffer */
    bool before_surt;
    bool proves;   /* keys are compared with URLs */
    bool fast;     /* keys are the first column, and all there is; if they are
                      compared, URLs are the third */
    bool dropping; /* what is left of a line that is not ours */
    bool last;     /* the stream has no more */
    bool over;     /* the piece is done */
    bool unfolded; /* and not yet taken into account */

    /* WARC: */
    uint64_t content;  /* bytes of a record still to pass over */
    const char *cause; /* of the search for the next record; or NULL */
    uint64_t skipped;  /* bytes, in that search */
    char text[160];    /* of a cause */
};

void cdx_reader_fail(struct seen_reader *r, enum seen_code code,
                     const char *text);

/* The piece was read to its end. What is wrong behind that, where the stream
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
