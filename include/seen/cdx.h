/*
 * cdx.h - the captures of an archive, from the files that it has.
 *
 * Archives list their captures in CDX files of many column orders, in CDXJ,
 * in ZipNum clusters, in WARC, ARC and WACZ files, or as lists of URLs; plain
 * or packed by gzip or zstd. The bytes of a file decide what it is, never its
 * name. A source finds the files, recognises them and cuts them into pieces.
 * Readers, one per thread, turn pieces into captures. Most programs want keys
 * instead: see ingest.h.
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
 *                                             begin after its first byte,
 *                                             up to the next piece's first
 *     gzip     |m|m|--m--|m|--m--|m|m|        the first member after each
 *              |      |      |      |         4 MiB begins a piece
 *     zstd, and WARC or ARC without gzip: one piece per file
 *     a pipe: one piece per MiB
 *
 * Threads: a source may be shared; each thread needs its own reader.
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
    SEEN_LINE_TEXT = 65536 /* a longer line is bad */
};

enum seen_format {
    SEEN_FORMAT_URLS = 0,  /* one URL per line */
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
    bool legend;               /* the file has a legend */
    unsigned columns;          /* of CDX */
    char letter[SEEN_COLUMNS]; /* what each is, in the legend's letters */
    /* The numbers of these columns; -1: there is no such column. */
    int key, url, timestamp, mime, status;
};

/*
 * How much of a capture is looked for. The key is in the first column, so
 * the rest of the line need not be parsed for it.
 */
enum seen_detail {
    SEEN_DETAIL_KEY = 0, /* the key; the URL where there is no key */
    SEEN_DETAIL_URL = 1, /* the URL as well */
    SEEN_DETAIL_ALL = 2  /* time, type and status as well */
};

struct seen_capture {
    struct seen_span line; /* the whole line, without its end; the header of
                              a WARC record; empty if records are damaged */
    struct seen_span key;  /* the urlkey, as it stands; or empty */
    struct seen_span url;  /* as it was fetched; or empty */
    struct seen_span timestamp, mime, status;
    struct seen_span json; /* of CDXJ: what follows the key and the time */
    bool surt;             /* the key is known to be a SURT in our form */
    const char *fault;     /* why the line is bad; NULL: it is good */
    const struct seen_layout *layout;
};

/*
 * Find any column by the letter of its legend ("k") or by name ("digest"),
 * any JSON field, or any header of a WARC record by its name. False if it does
 * not exist. JSON escapes are undone in `room`, of `size` bytes.
 */
bool seen_capture_field(const struct seen_capture *c, const char *name,
                        char *room, size_t size, struct seen_span *value);

/*
 * How captures become keys. Under `surt` the key is what a lookup of the URL
 * makes: mostly the urlkey as it stands. Where the urlkey is another one, or
 * is not a SURT, the key is derived from the URL. Where there is no URL, or one
 * that nobody can ask about (without "://", or not canonical), the urlkey is
 * used. Some tools end the host with a comma or the path with a slash; such
 * keys are repaired. SEEN_KEYS_AUTO and SEEN_KEYS_DERIVED are the same.
 *
 * With SEEN_KEYS_TRUSTED the urlkey is used wherever it is a SURT, whatever
 * the URL is. Under other profiles than `surt` all keys are made from URLs.
 */
struct seen_keying {
    const char *profile;
    enum seen_index_keys keys;
};
enum seen_made {
    SEEN_MADE_TRUSTED = 0, /* the urlkey, which is that of the URL if there is
                              one to ask about, or was not to be compared */
    SEEN_MADE_REPAIRED = 1,
    SEEN_MADE_DERIVED = 2, /* because the urlkey is not a SURT */
    SEEN_MADE_ASKED = 3,   /* derived, because all are */
    SEEN_MADE_CORRECTED = 4 /* derived, because the urlkey is another one */
};

/*
 * Make the key of a capture. `text` has SEEN_KEY_TEXT bytes; key->text points
 * into it or to what c points to. SEEN_RANGE: the capture has no key.
 */
enum seen_code seen_capture_key(struct seen_key *key, char *text,
                                const struct seen_capture *c,
                                const struct seen_keying *how,
                                enum seen_made *made, struct seen_error *why);

/*
 * Is the urlkey of a capture what its URL gives under `surt`? SEEN_OK: yes.
 * SEEN_MISMATCH: no, and key[0] is the urlkey, key[1] what it should be, in
 * `text` of 2 * SEEN_KEY_TEXT bytes. SEEN_UNABLE: it cannot be said, because
 * there is no urlkey, it is not a SURT, the URL is missing or not http, or the
 * urlkey includes the body of a request (pywb's __wb_method).
 */
enum seen_code seen_capture_check(const struct seen_capture *c, char *text,
                                  struct seen_key key[2]);

/* The detail that seen_capture_key() needs. */
enum seen_detail seen_keying_detail(const struct seen_keying *how);

/* --- files --- */

struct seen_source;
struct seen_reader;

/* A piece of an input, and how much of it was read so far. */
struct seen_piece {
    uint64_t number;   /* of all pieces, in the order of the input */
    size_t file;       /* of the files of the source */
    const char *input; /* its name; lives as long as the source */
    enum seen_format format;
    bool first;        /* of its file */
    uint64_t lines;    /* or records, also bad and empty ones */
    uint64_t bytes;    /* read from the file, as they are stored */
    uint64_t damaged;  /* places that were passed over, to the next record */
    uint64_t skipped;  /* bytes of these */
};

/* Zeroed: for several threads. */
struct seen_source_options {
    bool in_order; /* one reader reads all pieces one after the other; void
                      pieces (see seen_source_fold) are then never read */
    /*
     * Called before each wait for more of a pipe, which is then read line by
     * line: for programs that answer line by line. Needs in_order.
     */
    void (*wait)(void *to);
    void *to;
};

/*
 * Find the files of n inputs: files, folders (all files below them, sorted by
 * name, without hidden ones), or "-" for standard input. On failure *out is
 * NULL and why->at is the number of the input: SEEN_IO if it cannot be read,
 * SEEN_CORRUPT if it is damaged, SEEN_MISMATCH if it can hold no URLs (HTML,
 * programs, pictures, other zip files). Below a folder such files are left
 * out, and seen_source_fault() reports them; so are parts of a ZipNum cluster
 * and members of a WACZ that cannot be read. A file or member that can hold no
 * URLs, by its bytes, counts as lost unless its name says so, too, by a suffix
 * like .html or .png. `options` may be NULL.
 */
enum seen_code seen_source_open(struct seen_source **out,
                                const char *const *input, size_t n,
                                const struct seen_source_options *options,
                                struct seen_error *why);
void seen_source_close(struct seen_source *s);

/* The size of all files that have one; whether all can be read twice. */
uint64_t seen_source_bytes(const struct seen_source *s);
bool seen_source_twice(const struct seen_source *s);

/* The i-th file: its name and how it is read; false past the last. */
bool seen_source_file(const struct seen_source *s, size_t i, const char **name,
                      const struct seen_layout **layout, const char **packing);

/*
 * The i-th file that was left out, and the reason; false past the last. Unless
 * the code of the reason is SEEN_MISMATCH, the file may hold URLs: they are
 * lost.
 */
bool seen_source_fault(const struct seen_source *s, size_t i,
                       const char **name, const struct seen_error **why);

/* How many of the files that were left out may hold URLs. */
size_t seen_source_lost(const struct seen_source *s);

/*
 * A hash of the names, sizes and times of change of all files: another number
 * once one of them has changed.
 */
uint64_t seen_source_print(const struct seen_source *s);

/* A reader with its buffers, about 1.5 MiB. seen_reader_free() accepts NULL. */
enum seen_code seen_reader_new(struct seen_reader **out, struct seen_source *s,
                               enum seen_detail detail,
                               struct seen_error *why);
void seen_reader_free(struct seen_reader *r);

/*
 * Give the reader the next piece; *more is false after the last. SEEN_IO if
 * its file can no longer be read: the piece is then empty, and the reader can
 * go on with the next.
 */
enum seen_code seen_source_next(struct seen_source *s, struct seen_reader *r,
                                bool *more, struct seen_error *why);

/*
 * Read the next lines of the piece into memory; false at its end. The spans
 * of captures are valid until the next call.
 */
bool seen_reader_fill(struct seen_reader *r);

/* The next capture or bad line; false at the end of the lines in memory. */
bool seen_reader_next(struct seen_reader *r, struct seen_capture *c);

const struct seen_piece *seen_reader_piece(const struct seen_reader *r);

/*
 * How the piece ended, once it was read: SEEN_CORRUPT for compressed bytes
 * that were cut short or changed, SEEN_IO for a disk that failed. What was
 * read before counts; the rest of the piece is lost.
 */
enum seen_code seen_reader_end(const struct seen_reader *r,
                               struct seen_error *why);

/*
 * Count pieces in the order of their numbers, each after it was read. False:
 * the piece is void. It began with bytes that only looked like a gzip member,
 * and the piece before it has read these bytes; nothing from it counts. (Keys
 * that were made from it may stay in a filter: they depend on the input
 * alone.) A source that is read in order does this by itself.
 */
bool seen_source_fold(struct seen_source *s, struct seen_reader *r);

/* Begin again, if all files can be read twice. No reader may be in use. */
void seen_source_rewind(struct seen_source *s);

/* How many pieces were folded, to go on from there in another process. */
struct seen_mark {
    uint64_t piece;  /* the next one */
    uint64_t member; /* where it must begin in a gzip file */
};
struct seen_mark seen_source_mark(const struct seen_source *s);
void seen_source_skip(struct seen_source *s, struct seen_mark mark);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
