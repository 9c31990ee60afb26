/*
 * pack.c - one HTTP exchange as WARC 1.1 records.
 *
 *     WARC/1.1
 *     WARC-Type: response
 *     WARC-Record-ID: <urn:uuid:...>
 *     WARC-Date: 2026-01-02T03:04:05.678Z
 *     ...
 *     Content-Length: 1234          of the block
 *
 *     HTTP/1.1 200 OK               the block: head and body, as on the wire
 *     ...
 *     CRLF CRLF
 *
 * A record is written into memory and compressed in one call. ISA-L does that,
 * which unpacks elsewhere, too. It was chosen by measurement, on 3,293 pages of
 * Debian's documentation packages (34 kB in the mean) and on those of 7 to 13
 * kB among them, each as a response record; CPU time of one core.
 *
 *                  34 kB                 10 kB
 *                  us    bytes of 100    us    bytes of 100
 *     ISA-L 0      39.3      26.0        13.7      41.1
 *     ISA-L 1      47.4      24.0        21.8      36.7
 *     ISA-L 2      48.6      23.7        21.7      36.6
 *     ISA-L 3      86.1      23.0        31.7      36.0
 *     libdeflate 1 93.8      22.6        34.5      35.5
 *     libdeflate 2 134       22.2        49.9      35.4
 *     libdeflate 4 160       21.4        54.3      34.9
 *     libdeflate 6 218       20.8        65.8      34.4
 *
 * A crawl is limited by its CPUs sooner than by its disk, so it is level 2:
 * another 1 % of bytes takes more than 20 % of time from there on.
 */
#include "pack.h"

#include <isa-l/igzip_lib.h>
#include <stdio.h>
#include <stdlib.h>

#include "../lib/text/calendar.h"
#include "../lib/text/hex.h"
#include "../lib/text/memory.h"
#include "../lib/text/span.h"
#include "sha1_pair.h"

enum { LEVEL = 2, LEVELS = 3 };

struct warc_packer {
    struct isal_zstream *deflate;
    uint32_t level, tables_size;
    uint8_t *tables; /* of `deflate` */
    struct warc_hash block, payload, id;
    bool pairs; /* digests of block and payload are made together */
    struct buffer raw; /* a record before it is compressed */
};

static const char profiles[] = "http://netpreserve.org/warc/1.1/revisit/";

/* False without memory. */
static bool set_level(struct warc_packer *p, uint32_t level)
{
    static const uint32_t sizes[LEVELS + 1] = { ISAL_DEF_LVL0_DEFAULT,
                                                ISAL_DEF_LVL1_DEFAULT,
                                                ISAL_DEF_LVL2_DEFAULT,
                                                ISAL_DEF_LVL3_DEFAULT };

    p->level = level;
    p->tables_size = sizes[level];
    p->tables = calloc(1, p->tables_size);
    p->deflate = calloc(1, sizeof *p->deflate);
    return p->tables && p->deflate;
}

enum seen_code warc_packer_new(struct warc_packer **out, int level,
                               struct seen_error *why)
{
    struct warc_packer *p;

    *out = NULL;
    if (level < 0 || level > LEVELS)
        return seen_fail(why, SEEN_RANGE, 0, "levels are 1 to 3");
    p = calloc(1, sizeof *p);
    if (!p || !set_level(p, (uint32_t)(level ? level : LEVEL))) {
        warc_packer_free(p);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to pack records");
    }
    p->pairs = warc_sha1_pair_works();
    *out = p;
    return SEEN_OK;
}

void warc_packer_free(struct warc_packer *p)
{
    if (!p)
        return;
    free(p->deflate);
    free(p->tables);
    warc_hash_clear(&p->block);
    warc_hash_clear(&p->payload);
    warc_hash_clear(&p->id);
    buffer_clear(&p->raw);
    free(p);
}

void warc_packed_clear(struct warc_packed *packed)
{
    buffer_clear(&packed->bytes);
    *packed = (struct warc_packed){ .digest = "" };
}

/*
 * RFC 9562 reserves version 8 for hashes of one's own choice. The name of the
 * type comes first and no field but the last can have a space, so that no two
 * records hash the same text.
 */
static enum seen_code make_id(struct warc_hash *h, char id[WARC_ID],
                              const char *kind, const char *url, uint64_t when,
                              unsigned turn, struct seen_error *why)
{
    unsigned char sum[WARC_DIGEST_MOST];
    char text[96], hex[33];
    enum seen_code code = warc_hash_begin(h, warc_sha256, why);
    int n = snprintf(text, sizeof text, "%.16s %llu %u ", kind,
                     (unsigned long long)when, turn);

    warc_hash_add(h, text, (size_t)n);
    warc_hash_add(h, url, strlen(url));
    if (code == SEEN_OK && !warc_hash_end(h, sum))
        code = no_memory_for(why, "a WARC record");
    if (code != SEEN_OK)
        return code;
    sum[6] = (unsigned char)((sum[6] & 0x0f) | 0x80);
    sum[8] = (unsigned char)((sum[8] & 0x3f) | 0x80);
    hex_write(hex, sum, 16);
    snprintf(id, WARC_ID, "urn:uuid:%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8,
             hex + 12, hex + 16, hex + 20);
    return SEEN_OK;
}

enum seen_code warc_record_id(char id[WARC_ID], const char *kind,
                              const char *url, uint64_t when, unsigned turn,
                              struct seen_error *why)
{
    struct warc_hash h = { .state = NULL };
    enum seen_code code = make_id(&h, id, kind, url, when, turn, why);

    warc_hash_clear(&h);
    return code;
}

/* --- a record --- */

static void field(struct buffer *to, const char *name, const char *value)
{
    buffer_text(to, name);
    buffer_text(to, ": ");
    buffer_text(to, value);
    buffer_text(to, "\r\n");
}

static void field_id(struct buffer *to, const char *name, const char *id)
{
    buffer_text(to, name);
    buffer_text(to, ": <");
    buffer_text(to, id);
    buffer_text(to, ">\r\n");
}

/* Begin a record with what every one has. */
static void begin(struct warc_packer *p, const char *type, const char *id,
                  const char *date)
{
    p->raw.len = 0;
    p->raw.failed = false;
    buffer_text(&p->raw, "WARC/1.1\r\n");
    field(&p->raw, "WARC-Type", type);
    field_id(&p->raw, "WARC-Record-ID", id);
    field(&p->raw, "WARC-Date", date);
}

/*
 * Append what is in p->raw as a member. What does not compress is stored, in
 * blocks of 65,535 bytes with 5 more each.
 */
static enum seen_code compress(struct warc_packer *p, struct buffer *out,
                               struct seen_error *why)
{
    enum { BLOCK = 65535, BLOCK_MORE = 5, HEAD_AND_TAIL = 64 };
    struct isal_zstream *z = p->deflate;
    size_t room = p->raw.len + (p->raw.len / BLOCK + 1) * BLOCK_MORE +
                  HEAD_AND_TAIL;
    char *to;

    if (room > UINT32_MAX)
        return seen_fail(why, SEEN_RANGE, 0,
                         "a WARC record cannot have 4 GiB");
    to = buffer_room(out, room);
    if (!to)
        return no_memory_for(why, "a WARC record");
    isal_deflate_stateless_init(z);
    z->gzip_flag = IGZIP_GZIP;
    z->level = p->level;
    z->level_buf = p->tables;
    z->level_buf_size = p->tables_size;
    z->end_of_stream = 1;
    z->next_in = (uint8_t *)p->raw.bytes;
    z->avail_in = (uint32_t)p->raw.len;
    z->next_out = (uint8_t *)to;
    z->avail_out = (uint32_t)room;
    if (isal_deflate_stateless(z) != COMP_OK)
        return no_memory_for(why, "a WARC record");
    out->len += z->total_out;
    return SEEN_OK;
}

static enum seen_code block_digest(struct warc_packer *p,
                                   unsigned char sum[WARC_DIGEST_MOST],
                                   struct seen_span first,
                                   struct seen_span second,
                                   struct seen_error *why)
{
    if (warc_hash_begin(&p->block, warc_sha1, why) != SEEN_OK)
        return SEEN_NOMEM;
    warc_hash_add(&p->block, first.text, first.len);
    warc_hash_add(&p->block, second.text, second.len);
    return warc_hash_end(&p->block, sum) ? SEEN_OK
                                         : no_memory_for(why, "a WARC record");
}

/* End its header, add the block of two parts, and append the member. `known` is
   the digest of the block, or NULL. */
static enum seen_code end(struct warc_packer *p, struct buffer *out,
                          const char *type, struct seen_span first,
                          struct seen_span second, const unsigned char *known,
                          struct seen_error *why)
{
    unsigned char sum[WARC_DIGEST_MOST];
    char digest[WARC_DIGEST_TEXT];

    if (!known && block_digest(p, sum, first, second, why) != SEEN_OK)
        return SEEN_NOMEM;
    warc_digest_write(digest, warc_sha1, known ? known : sum);
    field(&p->raw, "WARC-Block-Digest", digest);
    field(&p->raw, "Content-Type", type);
    buffer_text(&p->raw, "Content-Length: ");
    buffer_number(&p->raw, first.len + second.len);
    buffer_text(&p->raw, "\r\n\r\n");
    buffer_span(&p->raw, first);
    buffer_span(&p->raw, second);
    buffer_text(&p->raw, "\r\n\r\n");
    if (p->raw.failed)
        return no_memory_for(why, "a WARC record");
    return compress(p, out, why);
}

/* --- an exchange --- */

/* The records of an exchange share a date and name each other. */
struct warc_event {
    char date[CALENDAR_TEXT];
    char request[WARC_ID], response[WARC_ID], metadata[WARC_ID];
};

static bool clean(const char *text, char least)
{
    for (; *text; text++)
        if ((unsigned char)*text < (unsigned char)least || *text == 127)
            return false;
    return true;
}

static enum seen_code check(const struct warc_exchange *x,
                            struct seen_error *why)
{
    if (!x->url || !*x->url || !clean(x->url, '!'))
        return seen_fail(why, SEEN_BAD_URL, 0,
                         "a target is empty or has spaces or control bytes");
    if (x->revisit != WARC_NEW && !x->refers_url)
        return seen_fail(why, SEEN_RANGE, 0,
                         "a revisit without the record that it refers to");
    if (x->refers_url && (!*x->refers_url || !clean(x->refers_url, '!')))
        return seen_fail(why, SEEN_BAD_URL, 0,
                         "a revisit refers to a URL that is empty or has "
                         "spaces or control bytes");
    if ((x->address && !clean(x->address, '!')) ||
        (x->truncated && !clean(x->truncated, '!')) ||
        (x->refers_id && !clean(x->refers_id, '!')) ||
        (x->refers_digest && (!clean(x->refers_digest, '!') ||
                              strlen(x->refers_digest) >= WARC_DIGEST)))
        return seen_fail(why, SEEN_RANGE, 0,
                         "a field of a record has spaces or control bytes");
    return SEEN_OK;
}

static enum seen_code name_records(struct warc_packer *p, struct warc_event *e,
                                   const struct warc_exchange *x,
                                   struct seen_error *why)
{
    const char *main = x->revisit == WARC_NEW ? "response" : "revisit";
    enum seen_code code;

    calendar_write(e->date, x->when);
    code = make_id(&p->id, e->response, main, x->url, x->when, x->turn, why);
    if (code == SEEN_OK && x->request.len)
        code = make_id(&p->id, e->request, "request", x->url, x->when, x->turn,
                       why);
    if (code == SEEN_OK && x->metadata.len)
        code = make_id(&p->id, e->metadata, "metadata", x->url, x->when,
                       x->turn, why);
    return code;
}

static enum seen_code pack_request(struct warc_packer *p, struct buffer *out,
                                   const struct warc_exchange *x,
                                   const struct warc_event *e,
                                   struct seen_error *why)
{
    begin(p, "request", e->request, e->date);
    field(&p->raw, "WARC-Target-URI", x->url);
    if (x->address)
        field(&p->raw, "WARC-IP-Address", x->address);
    field_id(&p->raw, "WARC-Concurrent-To", e->response);
    return end(p, out, "application/http;msgtype=request", x->request,
               (struct seen_span){ NULL, 0 }, NULL, why);
}

/*
 * A revisit by digest leaves out the body, which the standard calls a
 * truncation by length. A 304 has no body to leave out.
 */
static void revisit_fields(struct buffer *to, const struct warc_exchange *x)
{
    char date[CALENDAR_TEXT];

    buffer_text(to, "WARC-Profile: ");
    buffer_text(to, profiles);
    buffer_text(to, x->revisit == WARC_IDENTICAL
                        ? "identical-payload-digest\r\n"
                        : "server-not-modified\r\n");
    field(to, "WARC-Refers-To-Target-URI", x->refers_url);
    calendar_write(date, x->refers_when);
    field(to, "WARC-Refers-To-Date", date);
    if (x->refers_id)
        field_id(to, "WARC-Refers-To", x->refers_id);
}

static void put_digest(char digest[WARC_DIGEST], const unsigned char *sum)
{
    char text[WARC_DIGEST_TEXT];

    warc_digest_write(text, warc_sha1, sum);
    memcpy(digest, text + strlen("sha1:"), WARC_DIGEST);
}

static enum seen_code payload_digest(struct warc_packer *p,
                                     const struct warc_exchange *x,
                                     char digest[WARC_DIGEST],
                                     struct seen_error *why)
{
    unsigned char sum[WARC_DIGEST_MOST];

    if (x->revisit == WARC_NOT_MODIFIED) {
        strcpy(digest, x->refers_digest ? x->refers_digest : "");
        return SEEN_OK;
    }
    if (warc_hash_begin(&p->payload, warc_sha1, why) != SEEN_OK)
        return SEEN_NOMEM;
    warc_hash_add(&p->payload, x->payload.text, x->payload.len);
    if (!warc_hash_end(&p->payload, sum))
        return no_memory_for(why, "a WARC record");
    put_digest(digest, sum);
    return SEEN_OK;
}

static void both_digests(const struct warc_exchange *x,
                         unsigned char sum[2][WARC_SHA1],
                         char digest[WARC_DIGEST])
{
    const struct seen_span block[2] = { x->head, x->body };
    const struct seen_span payload[2] = { x->payload, { NULL, 0 } };

    warc_sha1_pair(block, payload, sum);
    put_digest(digest, sum[1]);
}

static enum seen_code pack_response(struct warc_packer *p,
                                    struct warc_packed *out,
                                    const struct warc_exchange *x,
                                    const struct warc_event *e,
                                    struct seen_error *why)
{
    struct seen_span body = x->body;
    const char *truncated = x->truncated;
    bool both = p->pairs && x->revisit == WARC_NEW;
    unsigned char sum[2][WARC_SHA1];
    enum seen_code code = SEEN_OK;

    if (both)
        both_digests(x, sum, out->digest);
    else
        code = payload_digest(p, x, out->digest, why);
    if (code != SEEN_OK)
        return code;
    begin(p, x->revisit == WARC_NEW ? "response" : "revisit", e->response,
          e->date);
    field(&p->raw, "WARC-Target-URI", x->url);
    if (x->address)
        field(&p->raw, "WARC-IP-Address", x->address);
    if (x->request.len)
        field_id(&p->raw, "WARC-Concurrent-To", e->request);
    if (x->revisit != WARC_NEW)
        revisit_fields(&p->raw, x);
    if (x->revisit == WARC_IDENTICAL) {
        body.len = 0;
        truncated = "length";
    }
    if (truncated)
        field(&p->raw, "WARC-Truncated", truncated);
    if (*out->digest) {
        buffer_text(&p->raw, "WARC-Payload-Digest: sha1:");
        buffer_text(&p->raw, out->digest);
        buffer_text(&p->raw, "\r\n");
    }
    return end(p, &out->bytes, "application/http;msgtype=response", x->head,
               body, both ? sum[0] : NULL, why);
}

static enum seen_code pack_metadata(struct warc_packer *p, struct buffer *out,
                                    const struct warc_exchange *x,
                                    const struct warc_event *e,
                                    struct seen_error *why)
{
    begin(p, "metadata", e->metadata, e->date);
    field(&p->raw, "WARC-Target-URI", x->url);
    field_id(&p->raw, "WARC-Concurrent-To", e->response);
    return end(p, out, "application/warc-fields", x->metadata,
               (struct seen_span){ NULL, 0 }, NULL, why);
}

enum seen_code warc_pack(struct warc_packer *p, struct warc_packed *out,
                         const struct warc_exchange *x, struct seen_error *why)
{
    struct warc_event e = { .date = "" };
    enum seen_code code;

    out->bytes.len = 0;
    out->bytes.failed = false;
    code = check(x, why);
    if (code == SEEN_OK)
        code = name_records(p, &e, x, why);
    if (code == SEEN_OK && x->request.len)
        code = pack_request(p, &out->bytes, x, &e, why);
    out->response.at = out->bytes.len;
    if (code == SEEN_OK)
        code = pack_response(p, out, x, &e, why);
    out->response.len = out->bytes.len - out->response.at;
    if (code == SEEN_OK && x->metadata.len)
        code = pack_metadata(p, &out->bytes, x, &e, why);
    return code;
}

/* --- warcinfo --- */

static void fact(struct buffer *to, const char *name, const char *value)
{
    if (!value)
        return;
    buffer_text(to, name);
    buffer_text(to, ": ");
    for (; *value; value++)
        buffer_byte(to, (unsigned char)*value < ' ' || *value == 127 ? ' '
                                                                     : *value);
    buffer_text(to, "\r\n");
}

enum seen_code warc_pack_info(struct warc_packer *p, struct buffer *out,
                              const struct warc_facts *facts, const char *name,
                              uint64_t when, struct seen_error *why)
{
    struct buffer lines = { .bytes = NULL };
    char id[WARC_ID], date[CALENDAR_TEXT];
    enum seen_code code = warc_record_id(id, "warcinfo", name, when, 0, why);

    if (code != SEEN_OK)
        return code;
    fact(&lines, "software", facts->software);
    fact(&lines, "format", "WARC file version 1.1");
    fact(&lines, "conformsTo",
         "http://iipc.github.io/warc-specifications/specifications/"
         "warc-format/warc-1.1/");
    fact(&lines, "robots", facts->robots);
    fact(&lines, "http-header-user-agent", facts->agent);
    fact(&lines, "operator", facts->operator);
    fact(&lines, "isPartOf", facts->part);
    fact(&lines, "description", facts->description);
    fact(&lines, "hostname", facts->hostname);
    fact(&lines, "ip", facts->ip);
    calendar_write(date, when);
    begin(p, "warcinfo", id, date);
    fact(&p->raw, "WARC-Filename", name);
    code = lines.failed ? no_memory_for(why, "a WARC record")
                        : end(p, out, "application/warc-fields",
                              (struct seen_span){ lines.bytes, lines.len },
                              (struct seen_span){ NULL, 0 }, NULL, why);
    buffer_clear(&lines);
    return code;
}
