/*
 * cdx.h - what an archive holds, from the indexes that it really has.
 *
 * Archives list their captures in CDX files of many column orders, in CDXJ,
 * in ZipNum clusters of gzip members, in WARC files, or as plain lists of
 * URLs; as they are, by gzip or by zstd. Which it is, the bytes tell and
 * never the name of a file. A source finds the files, tells what they are
 * and cuts them into pieces; readers, one a thread, turn a piece into
 * captures.
 *
 *     struct seen_source *source;
 *     struct seen_reader *r;
 *     struct seen_capture c;
 *     bool more;
 *
 *     seen_source_open(&source, input, inputs, NULL, &why);
 *     seen_reader_new(&r, source, SEEN_DETAIL_KEY, &why);
 *     while (seen_source_next(source, r, &more, &why) == SEEN_OK && more)
 *         while (seen_reader_fill(r))
 *             while (seen_reader_next(r, &c))
 *                 puts(c.key.len ? "a key" : "no key");
 *
 * Where a piece ends depends on the input alone, never on threads:
 *
 *     plain    |---16 MiB---|---16 MiB---|    a piece has the lines that
 *                                             begin behind its first byte,
 *                                             up to the next piece's first
 *     gzip     |m|m|--m--|m|--m--|m|m|        the first member behind each
 *              |      |      |      |         4 MiB begins a piece
 *     zstd, WARC that is not gzip: one piece a file; a pipe: 1 MiB a piece
 *
 * Threads: a source may be shared; each thread has a reader of its own.
 */
#ifndef SEEN_CDX_H
#define SEEN_CDX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/key.h>
#include <seen/span.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- a line --- */

enum {
    SEEN_COLUMNS = 32,     /* of a CDX line, at most */
    SEEN_LINE_TEXT = 65536 /* a longer line is a bad one */
};

enum seen_format {
    SEEN_FORMAT_URLS = 0,  /* a URL a line */
    SEEN_FORMAT_CDX = 1,   /* columns */
    SEEN_FORMAT_CDXJ = 2,  /* a key, a time, and JSON */
    SEEN_FORMAT_WARC = 3,  /* records, not lines */
    SEEN_FORMAT_ZIPNUM = 4, /* the index of a cluster: names other files */
    SEEN_FORMAT_ARC = 5     /* records, as before WARC */
};

/* How the lines of one file are to be read. */
struct seen_layout {
    enum seen_format format;
    char delimiter;
    bool legend;               /* the file says so itself */
    unsigned columns;          /* of CDX */
    char letter[SEEN_COLUMNS]; /* what each is, in the legend's letters */
    /* Which columns these are; -1: there is none. */
    int key, url, timestamp, mime, status;
};

/*
 * How much of a capture is looked for. The key alone is in the first column
 * and costs no look at the rest of the line.
 */
enum seen_detail {
    SEEN_DETAIL_KEY = 0, /* the key; the URL where there is no key */
    SEEN_DETAIL_URL = 1, /* the URL as well */
    SEEN_DETAIL_ALL = 2  /* time, type and status as well */
};

struct seen_capture {
    struct seen_span line; /* the whole of it, without its end; of a WARC
                              record its header */
    struct seen_span key;  /* urlkey, as it stands; or empty */
    struct seen_span url;  /* as it was fetched; or empty */
    struct seen_span timestamp, mime, status;
    struct seen_span json; /* of CDXJ: what follows the key and the time */
    bool surt;             /* the key is known to be a SURT of our form */
    const char *fault;     /* why the line is a bad one; NULL: it is not */
    const struct seen_layout *layout;
};

/*
 * Tell how a file is to be read from its first bytes, decompressed. A legend
 * decides; without one each line votes. When in doubt: a list of URLs.
 *
 * It holds for the whole file. Where files were put together, a legend that
 * says the same again is passed over; one that differs is a bad line, and so
 * are those behind it that do not have the columns of the first. (It cannot
 * hold from there on: pieces are read at once, and who reads a later one
 * would have to read all before it to know of the legend.)
 */
void seen_layout_guess(struct seen_layout *layout, const char *text,
                       size_t len);

/*
 * Read one line, without its end, as `layout` says. False if it holds no
 * capture and is none the worse for it: an empty one, the legend, a comment of
 * CDXJ. True for a capture, and for a bad line, with c->fault saying why.
 * Spans point into the line, or, for a URL with JSON escapes, into `room`,
 * which takes as many bytes as the line has; of the latter *used are taken.
 */
bool seen_capture_read(struct seen_capture *c,
                       const struct seen_layout *layout,
                       enum seen_detail detail, const char *line, size_t len,
                       char *room, size_t *used);

/*
 * Find any column by the letter of its legend ("k") or by name ("digest"),
 * any JSON field, or any header of a WARC record by its name. False if there
 * is none. JSON escapes are undone in `room`, of `size` bytes.
 */
bool seen_capture_field(const struct seen_capture *c, const char *name,
                        char *room, size_t size, struct seen_span *value);

/*
 * How captures become keys. Under `surt` a urlkey is trusted and hashed as
 * it stands; what tools leave in it that canonical keys do not have (a comma
 * that ends the host, a slash that ends the path) is put right. What is no
 * SURT at all is derived from the URL, and so is everything if `derive`; and
 * under other profiles.
 */
struct seen_keying {
    const char *profile;
    bool derive;
};
enum seen_made {
    SEEN_MADE_TRUSTED = 0,
    SEEN_MADE_REPAIRED = 1,
    SEEN_MADE_DERIVED = 2, /* since the key is no SURT */
    SEEN_MADE_ASKED = 3    /* derived, as was to be done */
};

/*
 * Make the key of a capture. `text` has SEEN_KEY_TEXT bytes; key->text points
 * into it or to what c points to. SEEN_RANGE: it has none, `why` says why.
 */
enum seen_code seen_capture_key(struct seen_key *key, char *text,
                                const struct seen_capture *c,
                                const struct seen_keying *how,
                                enum seen_made *made, struct seen_error *why);

/* How much detail seen_capture_key() needs. */
enum seen_detail seen_keying_detail(const struct seen_keying *how);

/* --- files --- */

struct seen_source;
struct seen_reader;

/* A piece of an input, and what a reader found in it so far. */
struct seen_piece {
    uint64_t number;   /* of all pieces, in the order of the input */
    size_t file;       /* of the files of the source */
    const char *input; /* its name; lives as long as the source */
    enum seen_format format;
    bool first;        /* of its file */
    uint64_t lines;    /* or records, bad and empty ones too */
    uint64_t bytes;    /* read from the file, as they are stored */
};

/* How a source is read, if not by several threads; all zero: so. */
struct seen_source_options {
    bool in_order; /* by one reader, which takes the pieces one by one; void
                      pieces (see seen_source_fold) are then never read */
    /*
     * Do not wait for more of a pipe than one line, and call this before
     * each wait, so that a program can answer line by line. Needs in_order.
     */
    void (*wait)(void *to);
    void *to;
};

/*
 * Find the files of n inputs: files, folders (all files below them, by name;
 * hidden ones are left out), or "-" for standard input. On failure *out is
 * NULL and why->at is the input at fault: SEEN_IO for one that cannot be
 * read. What cannot be read below a folder is left out, and reported by
 * seen_source_fault(). Names are borrowed until the source is closed.
 * `options` may be NULL.
 */
enum seen_code seen_source_open(struct seen_source **out,
                                const char *const *input, size_t n,
                                const struct seen_source_options *options,
                                struct seen_error *why);
void seen_source_close(struct seen_source *s);

/* The bytes of all files that have a size; whether all can be read twice. */
uint64_t seen_source_bytes(const struct seen_source *s);
bool seen_source_twice(const struct seen_source *s);

/* The i-th file: its name and how it is read; false past the last. */
bool seen_source_file(const struct seen_source *s, size_t i, const char **name,
                      const struct seen_layout **layout, const char **packing);

/* The i-th file that was left out, and why; false past the last. */
bool seen_source_fault(const struct seen_source *s, size_t i,
                       const char **name, const struct seen_error **why);

/*
 * Names, sizes and times of change of all files, as a number that is another
 * one once any of them changed.
 */
uint64_t seen_source_print(const struct seen_source *s);

/* A reader, with its buffers (about 1.5 MiB). NULL is welcome to _free. */
enum seen_code seen_reader_new(struct seen_reader **out, struct seen_source *s,
                               enum seen_detail detail,
                               struct seen_error *why);
void seen_reader_free(struct seen_reader *r);

/*
 * Give the reader the next piece; *more is false when there are none left.
 * SEEN_IO if its file can no longer be read: the piece is then empty, the
 * next one can be taken.
 */
enum seen_code seen_source_next(struct seen_source *s, struct seen_reader *r,
                                bool *more, struct seen_error *why);

/*
 * Have the next lines of the piece in memory; false at its end. What spans
 * of captures point to lives until this is called again.
 */
bool seen_reader_fill(struct seen_reader *r);

/* The next capture or bad line; false if there are no more in memory. */
bool seen_reader_next(struct seen_reader *r, struct seen_capture *c);

const struct seen_piece *seen_reader_piece(const struct seen_reader *r);

/*
 * What became of the piece, once it was read: SEEN_CORRUPT for compressed
 * bytes that were cut short or changed, SEEN_IO for a disk that failed.
 * What was read before it counts; the rest of the piece is lost.
 */
enum seen_code seen_reader_end(const struct seen_reader *r,
                               struct seen_error *why);

/*
 * Take pieces into account in the order of their numbers, each when it was
 * read. False: the piece is void. It began with what only looked like a
 * gzip member, and the piece before it has read these bytes; nothing of it
 * counts. (Keys that were made from it may stay in a filter: they depend on
 * the input alone.)
 */
bool seen_source_fold(struct seen_source *s, struct seen_reader *r);

/* Begin again, if all files can be read twice; nobody may be reading. */
void seen_source_rewind(struct seen_source *s);

/* How far the folding came, to go on from there in another process. */
struct seen_mark {
    uint64_t piece;  /* the next one */
    uint64_t member; /* where it must begin, of a gzip file */
};
struct seen_mark seen_source_mark(const struct seen_source *s);
void seen_source_skip(struct seen_source *s, struct seen_mark mark);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
