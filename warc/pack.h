/*
 * pack.h - one HTTP exchange as WARC 1.1 records, ready to be appended.
 *
 *     request                        a gzip member each
 *     response, or revisit
 *     metadata
 *
 * Packing is pure computation: digests and compression. Threads pack side by
 * side, each with a packer of its own; one thread then appends the bytes
 * (files.h), which are complete and depend on nothing but the exchange. The
 * same exchange always gives the same records: their ids are hashes of the URL,
 * the time and the type of the record. How they are packed may differ by a few
 * bytes, between CPUs and between packers.
 *
 *     struct warc_packed packed = { .digest = "" };
 *
 *     warc_packer_new(&p, 0, &why);
 *     code = warc_pack(p, &packed, &exchange, &why);
 *     code = warc_files_append(files, packed.bytes.bytes, packed.bytes.len,
 *                              &file, &offset, &why);
 *     warc_cdxj(&line, &exchange, &packed, file, offset);
 *     ...
 *     warc_packed_clear(&packed);
 *     warc_packer_free(p);
 *
 * Threads: a packer belongs to one thread at a time.
 */
#ifndef SEEN_WARC_PACK_H
#define SEEN_WARC_PACK_H

#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>

#include "../lib/text/buffer.h"
#include "digest.h"

enum warc_revisit {
    WARC_NEW,         /* the body is stored */
    WARC_IDENTICAL,   /* the payload has the digest of one that is stored */
    WARC_NOT_MODIFIED /* the server says so: 304 */
};

struct warc_exchange {
    const char *url;     /* canonical: no spaces, no control bytes */
    uint64_t when;       /* when the request began: Unix time in ms */
    unsigned turn;       /* counts fetches of a URL in the same millisecond */
    const char *address; /* "192.0.2.1", or NULL */
    struct seen_span request, head; /* each with its empty line */
    struct seen_span body;          /* as on the wire, chunks too */
    struct seen_span payload;       /* without chunks, still coded */
    const char *truncated; /* "length", "time", "disconnect"; or NULL */
    enum warc_revisit revisit;
    const char *refers_url; /* of a revisit: the URL of the record that has
                               the body */
    uint64_t refers_when;
    const char *refers_digest; /* its payload's, without a label; or NULL */
    const char *refers_id;     /* "urn:uuid:...", or NULL */
    struct seen_span metadata; /* lines of application/warc-fields; or empty */
    int status;                /* for the index */
    const char *type;          /* for the index: "text/html", or NULL */
};

struct warc_packed {
    struct buffer bytes;
    struct {
        size_t at, len;
    } response;               /* or the revisit record */
    char digest[WARC_DIGEST]; /* of the payload; of a 304, refers_digest or
                                 "" */
};

struct warc_packer;

/*
 * `level` is that of ISA-L, 1 (fast) to 3 (small); 0 is the default, 2.
 * SEEN_NOMEM, SEEN_RANGE. warc_packer_free() accepts NULL.
 */
enum seen_code warc_packer_new(struct warc_packer **out, int level,
                               struct seen_error *why);
void warc_packer_free(struct warc_packer *p);

/*
 * Replace what *out has by the records of the exchange. There is no request
 * record without request, no metadata record without metadata. A revisit
 * record has the head only, and needs refers_url.
 * SEEN_BAD_URL: a URL is empty or has spaces or control bytes; SEEN_RANGE:
 * another text has control bytes, or refers_url is missing; SEEN_NOMEM.
 */
enum seen_code warc_pack(struct warc_packer *p, struct warc_packed *out,
                         const struct warc_exchange *x,
                         struct seen_error *why);
void warc_packed_clear(struct warc_packed *packed);

/*
 * The id of the record that warc_pack() makes: "urn:uuid:...". `kind` is
 * "request", "response", "revisit", "metadata" or "warcinfo".
 */
enum { WARC_ID = 46 };
enum seen_code warc_record_id(char id[WARC_ID], const char *kind,
                              const char *url, uint64_t when, unsigned turn,
                              struct seen_error *why);

/* What a warcinfo record says; NULL: left out. */
struct warc_facts {
    const char *software; /* "seen/1.0" */
    const char *operator; /* a name, or name and address */
    const char *agent;    /* the User-Agent that is sent */
    const char *robots;   /* "obey" */
    const char *part;     /* the crawl that the file is part of */
    const char *description;
    const char *hostname, *ip;
    uint64_t (*now)(void); /* Unix time in ms; NULL: the system's clock */
};

/* Append a warcinfo record, for the file with this name. Line ends and control
   bytes in facts become spaces. */
enum seen_code warc_pack_info(struct warc_packer *p, struct buffer *out,
                              const struct warc_facts *facts, const char *name,
                              uint64_t when, struct seen_error *why);

#endif
