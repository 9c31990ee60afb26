/*
 * check.c - read a WARC file record by record and verify what it says.
 *
 *     unit     a gzip member, or a plain file
 *       record   header | block | CRLF CRLF
 *       record   ... in a plain file; in a member, one too many
 *
 * Where to go on after damage: in a gzip file at the next member that begins
 * with "WARC/" when it is unpacked; in a plain file at the next line that
 * begins a record. The search starts where the damaged record begins, not
 * where it was noticed, because a wrong length swallows what follows. A hostile
 * file could make us read the same bytes again and again that way, so the
 * bytes that are read twice have a limit, EFFORT times the file.
 */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/span.h"
#include "checking.h"
#include "field.h"

enum { HEADER_MOST = 1 << 16, EFFORT = 16, EFFORT_LEAST = 1 << 20 };

/* --- complaints --- */

void warc_show(char *to, size_t room, const char *text, size_t len)
{
    size_t n = len < room - 1 ? len : room - 1;

    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)text[i] < ' ' || text[i] == 127 ? '?' : text[i];
    to[n] = '\0';
}

static void say(void *owner, bool note, const char *text)
{
    struct warc_check *c = owner;
    struct seen_span target = c->r.value[WARC_TARGET_URI];
    char clean[256], url[512];
    struct warc_fault fault = {
        .file = c->path,
        .at = c->at,
        .record = c->number,
        .type = c->number ? warc_type_name(c->r.type) : "",
        .url = url,
        .note = note,
        .text = clean,
    };

    warc_show(clean, sizeof clean, text, strlen(text));
    warc_show(url, sizeof url, target.text, c->number ? target.len : 0);
    if (note)
        c->counts->notes++;
    else
        c->counts->faults++;
    c->report(c->owner, &fault);
}

static void complain(struct warc_check *c, bool note, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void complain(struct warc_check *c, bool note, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    say(c, note, text);
}

/* The check cannot go on. */
static void stop(struct warc_check *c, enum seen_code code)
{
    if (c->code == SEEN_OK)
        c->code = code;
}

/* --- digests --- */

uint64_t warc_digest_print(const struct warc_algorithm *a,
                           const unsigned char *bytes)
{
    unsigned char both[WARC_DIGEST_MOST + 1];

    both[0] = (unsigned char)a->label[strlen(a->label) - 1];
    memcpy(both + 1, bytes, a->bytes);
    return warc_print(both, a->bytes + 1).lo;
}

/* The algorithm of a digest that a record has, and its bytes; NULL if there is
   none that can be verified. */
static const struct warc_algorithm *said(const struct warc_check *c,
                                         enum warc_name name,
                                         unsigned char *bytes)
{
    const struct warc_algorithm *a;

    return c->r.value[name].text && warc_digest_read(c->r.value[name], &a,
                                                     bytes) == WARC_DIGEST_GOOD
               ? a
               : NULL;
}

static void differs(struct warc_check *c, const char *what,
                    const struct warc_algorithm *a,
                    const unsigned char *recorded, const unsigned char *found)
{
    char one[WARC_DIGEST_TEXT], other[WARC_DIGEST_TEXT];

    warc_digest_write(one, a, recorded);
    warc_digest_write(other, a, found);
    complain(c, false,
             "the digest of the %s differs: %.80s is recorded, "
             "%.80s was found",
             what, one, other);
}

static void verify_block(struct warc_check *c)
{
    unsigned char recorded[WARC_DIGEST_MOST], found[WARC_DIGEST_MOST];
    const struct warc_algorithm *a = said(c, WARC_BLOCK_DIGEST, recorded);

    if (!a)
        return;
    if (!warc_hash_end(&c->block, found))
        stop(c, seen_fail(&c->why, SEEN_NOMEM, 0, "no memory for a digest"));
    else if (memcmp(recorded, found, a->bytes))
        differs(c, "block", a, recorded, found);
    else
        c->counts->digests++;
}

/* Is the payload in this record, and not in another? */
static bool has_payload(const struct warc_record *r)
{
    return r->type != WARC_REVISIT && r->type != WARC_WARCINFO &&
           r->type != WARC_METADATA && r->type != WARC_CONTINUATION &&
           !r->value[WARC_SEGMENT_NUMBER].text;
}

static void verify_payload(struct warc_check *c)
{
    const struct warc_payload *p = &c->payload;
    unsigned char recorded[WARC_DIGEST_MOST];
    const struct warc_algorithm *a = said(c, WARC_PAYLOAD_DIGEST, recorded);

    if (!a)
        return;
    if (!memcmp(recorded, p->payload, a->bytes))
        c->counts->digests++;
    else if (p->chunked && !memcmp(recorded, p->body, a->bytes))
        complain(c, true,
                 "the digest of the payload is that of the body with its "
                 "chunks");
    else
        differs(c, "payload", a, recorded, p->payload);
}

/* What HTTP says about its body. */
static void verify_http(struct warc_check *c, enum warc_message expected)
{
    const struct warc_payload *p = &c->payload;

    if (p->message != expected) {
        complain(c, true,
                 "the block is not the HTTP message that "
                 "Content-Type says it is");
        return;
    }
    if (c->r.value[WARC_TRUNCATED].text || c->r.type == WARC_REVISIT)
        return;
    if (p->chunked && p->chunks.state == WARC_CHUNKED_DAMAGED)
        complain(c, true, "the chunks of the body are damaged");
    else if (p->chunked && p->chunks.state != WARC_CHUNKED_DONE)
        complain(c, true,
                 "the last chunk is missing, and nothing says that "
                 "the record is truncated");
    if (!p->chunked && p->body_length && p->content_length != UINT64_MAX &&
        p->body_length < p->content_length)
        complain(c, true,
                 "the body is shorter than its Content-Length, and "
                 "nothing says that the record is truncated");
}

static enum warc_message message_of(const struct warc_record *r)
{
    struct seen_span type = r->value[WARC_CONTENT_TYPE];

    if (type.len < 16 || strncasecmp(type.text, "application/http", 16))
        return WARC_MESSAGE_NONE;
    return r->type == WARC_REQUEST ? WARC_MESSAGE_REQUEST
                                   : WARC_MESSAGE_RESPONSE;
}

/* --- the block --- */

static void begin_block(struct warc_check *c)
{
    unsigned char bytes[WARC_DIGEST_MOST];
    const struct warc_algorithm *a = said(c, WARC_BLOCK_DIGEST, bytes);

    if (a)
        stop(c, warc_hash_begin(&c->block, a, &c->why));
    a = said(c, WARC_PAYLOAD_DIGEST, bytes);
    if (c->code == SEEN_OK)
        stop(c, warc_payload_begin(&c->payload, message_of(&c->r),
                                   a ? a : warc_sha1, &c->why));
}

/* Does the record go on in another member? Begin it. */
static bool next_member(struct warc_check *c)
{
    uint64_t next = warc_source_here(&c->s);
    bool member;

    if (!c->s.gzip || c->s.state != WARC_UNIT_ENDED || next >= c->s.size ||
        warc_source_begins(&c->s, next, &member) || !member)
        return false;
    if (!c->spanned)
        complain(c, false, "the record goes on in the next gzip member");
    c->spanned = true;
    warc_source_begin(&c->s, next);
    return true;
}

/* Returns how many bytes are missing. */
static uint64_t read_block(struct warc_check *c)
{
    uint64_t left = c->r.length;

    begin_block(c);
    while (left && c->code == SEEN_OK) {
        size_t n = warc_source_peek(&c->s, 1);

        if (!n && !next_member(c))
            break;
        n = left < n ? (size_t)left : n;
        warc_hash_add(&c->block, c->s.at, n);
        warc_payload_add(&c->payload, c->s.at, n);
        warc_source_skip(&c->s, n);
        left -= n;
    }
    if (!warc_payload_end(&c->payload))
        stop(c, seen_fail(&c->why, SEEN_NOMEM, 0, "no memory for a record"));
    return left;
}

static struct warc_print event(struct seen_span url, const char *stamp)
{
    struct warc_print hash = warc_print(url.text, url.len);
    unsigned char both[16 + 14];

    memcpy(both, &hash, 16);
    memcpy(both + 16, stamp, 14);
    return warc_print(both, sizeof both);
}

/* What the catalogue keeps about the record. */
static void fill_entry(struct warc_check *c)
{
    const struct seen_span *value = c->r.value;
    struct warc_entry *e = &c->entry;
    unsigned char bytes[WARC_DIGEST_MOST];
    const struct warc_algorithm *a = said(c, WARC_PAYLOAD_DIGEST, bytes);
    struct warc_date date;

    *e = (struct warc_entry){ .at = c->at, .number = c->number };
    if (value[WARC_RECORD_ID].len) {
        e->id = warc_print(value[WARC_RECORD_ID].text,
                           value[WARC_RECORD_ID].len);
        e->flags |= WARC_ENTRY_ID;
    }
    if (c->r.type == WARC_RESPONSE || c->r.type == WARC_RESOURCE ||
        c->r.type == WARC_REVISIT)
        e->flags |= WARC_ENTRY_CAPTURE;
    if (c->r.type == WARC_REVISIT)
        e->flags |= WARC_ENTRY_REVISIT;
    if (c->r.dated)
        memcpy(e->stamp, c->r.date.stamp, sizeof e->stamp);
    e->url = warc_print(value[WARC_TARGET_URI].text,
                        value[WARC_TARGET_URI].len);
    e->event = event(value[WARC_TARGET_URI], e->stamp);
    if (value[WARC_REFERS_TO].text) {
        e->refers_id = warc_print(value[WARC_REFERS_TO].text,
                                  value[WARC_REFERS_TO].len);
        e->flags |= WARC_ENTRY_REFERS_ID;
    }
    if (value[WARC_REFERS_TO_TARGET_URI].text &&
        value[WARC_REFERS_TO_DATE].text &&
        warc_date_read(value[WARC_REFERS_TO_DATE], &date)) {
        e->refers = event(value[WARC_REFERS_TO_TARGET_URI], date.stamp);
        e->flags |= WARC_ENTRY_REFERS;
    }
    if (a || has_payload(&c->r)) {
        e->digest = warc_digest_print(a ? a : warc_sha1,
                                      a ? bytes : c->payload.payload);
        e->flags |= WARC_ENTRY_DIGEST;
    }
    e->status = c->payload.status;
}

static void verify(struct warc_check *c)
{
    enum warc_message expected = message_of(&c->r);

    verify_block(c);
    if (has_payload(&c->r))
        verify_payload(c);
    if (expected != WARC_MESSAGE_NONE && c->r.length)
        verify_http(c, expected);
}

/* --- after damage --- */

static bool too_much(struct warc_check *c)
{
    if (c->s.effort <= EFFORT * c->s.size + EFFORT_LEAST)
        return false;
    c->number = 0;
    complain(c, false, "too much damage to go on from here");
    return true;
}

/* Skip to the next line of the unit that begins a record; false if there is
   none. */
static bool search(struct warc_check *c)
{
    static const char begin[] = "\nWARC/";
    enum { N = sizeof begin - 1 };
    struct warc_source *s = &c->s;

    for (;;) {
        size_t n = warc_source_peek(s, WARC_PEEK_MOST / 2);
        const char *at = n ? memmem(s->at, n, begin, N) : NULL;

        if (at) {
            warc_source_skip(s, (size_t)(at + 1 - s->at));
            n = warc_source_peek(s, HEADER_MOST);
            if (warc_record_likely((struct seen_span){ s->at, n }))
                return true;
        } else if (s->state != WARC_UNIT_GOES_ON) {
            warc_source_skip(s, n);
            return false;
        } else {
            warc_source_skip(s, n - (N - 1));
        }
    }
}

/*
 * The structure of the file is lost in a record of a plain file: look for the
 * next one from `from` on. If there is none and the file ended too early, it
 * is torn; else the record has the fault that `text` says.
 */
static bool lost(struct warc_check *c, uint64_t from, bool early,
                 const char *text)
{
    bool found;

    c->s.effort += warc_source_here(&c->s) - from; /* read in vain */
    warc_source_begin(&c->s, from);
    found = search(c);
    c->s.effort += warc_source_here(&c->s) - from;
    c->counts->damaged++;
    c->counts->skipped += warc_source_here(&c->s) - c->at;
    if (!found && early) {
        c->counts->torn = true;
        c->counts->whole = c->at;
        complain(c, false,
                 "the file ends inside this record; its first %llu bytes are "
                 "whole",
                 (unsigned long long)c->at);
    } else {
        complain(c, false, "%s", text);
    }
    return found && !too_much(c);
}

/* --- records --- */

/* Something else than a record begins here. */
static bool not_a_record(struct warc_check *c, const char *text)
{
    if (!c->s.gzip)
        return lost(c, warc_source_here(&c->s), false, text);
    complain(c, false, "%s", text);
    return search(c);
}

/* Copy the header of the record; false if there is none. */
static bool read_head(struct warc_check *c, const char **fault)
{
    size_t want = 2048, known = 0;

    for (;;) {
        size_t have = warc_source_peek(&c->s, want);
        size_t n = warc_head_length(c->s.at, have, known);

        if (n > HEADER_MOST || (!n && have > HEADER_MOST)) {
            *fault = "the header has more than 64 KiB";
            return false;
        }
        if (n) {
            c->head.len = 0;
            buffer_bytes(&c->head, c->s.at, n);
            if (c->head.failed)
                stop(c, seen_fail(&c->why, SEEN_NOMEM, 0,
                                  "no memory for a record"));
            warc_source_skip(&c->s, n);
            return !c->head.failed;
        }
        if (have < want) {
            *fault = "the header of the record does not end";
            return false;
        }
        known = have;
        want = have + 2048;
    }
}

static bool unit_broken(const struct warc_check *c)
{
    return c->s.state == WARC_UNIT_DAMAGED || c->s.state == WARC_UNIT_CUT;
}

/* The block of a record of a plain file, and what ends it. */
static bool finish_plain(struct warc_check *c)
{
    uint64_t block = warc_source_here(&c->s), missing;
    bool early;
    size_t n;

    if (c->r.length > c->s.size - block)
        return lost(c, block, true,
                    "Content-Length is larger than what is left of the file");
    missing = read_block(c);
    n = warc_source_peek(&c->s, 4);
    if (!missing && n >= 4 && !memcmp(c->s.at, "\r\n\r\n", 4)) {
        warc_source_skip(&c->s, 4);
        verify(c);
        fill_entry(c);
        c->entry.length = warc_source_here(&c->s) - c->at;
        stop(c, warc_catalogue_add(&c->found, &c->entry, &c->why));
        c->counts->whole = warc_source_here(&c->s);
        return true;
    }
    early = missing || (n < 4 && !memcmp(c->s.at, "\r\n\r\n", n));
    return lost(c, block, early,
                "two CRLF do not follow the block; its length is wrong");
}

/* The same in a gzip member, whose end is known anyway. */
static bool finish_packed(struct warc_check *c)
{
    uint64_t missing = read_block(c);
    size_t n = warc_source_peek(&c->s, 4);

    if (n < 4 && unit_broken(c))
        return false;
    if (missing) {
        complain(c, false,
                 "the block is %llu bytes shorter than "
                 "Content-Length",
                 (unsigned long long)missing);
        return false;
    }
    if (n < 4 || memcmp(c->s.at, "\r\n\r\n", 4)) {
        complain(c, false, "two CRLF do not follow the block");
        if (n < 4 && !memcmp(c->s.at, "\r\n\r\n", n) && c->code == SEEN_OK)
            verify(c); /* only the end is wrong */
        return search(c);
    }
    warc_source_skip(&c->s, 4);
    verify(c);
    fill_entry(c);
    n = warc_source_peek(&c->s, 1);
    if (c->s.state == WARC_UNIT_ENDED && !n && !c->spanned)
        c->entry.length = warc_source_here(&c->s) - c->at;
    if (!unit_broken(c))
        stop(c, warc_catalogue_add(&c->found, &c->entry, &c->why));
    return true;
}

/* Read a record; true if there may be another in the unit. */
static bool read_record(struct warc_check *c)
{
    const char *fault = NULL;
    size_t n = warc_source_peek(&c->s, 5);

    c->number = 0;
    c->spanned = false;
    c->at = c->s.gzip ? c->s.unit : warc_source_here(&c->s);
    if (n < 5 && unit_broken(c))
        return false;
    if (n < 5 || memcmp(c->s.at, "WARC/", 5))
        return not_a_record(c, "no record begins here");
    if (!read_head(c, &fault)) {
        if (unit_broken(c) || !fault)
            return false;
        if (!c->s.gzip)
            return lost(c, c->at, true, fault);
        return not_a_record(c, fault);
    }
    c->number = ++c->counts->records;
    warc_record_read(&c->r, (struct seen_span){ c->head.bytes, c->head.len },
                     say, c);
    c->counts->type[c->r.type]++;
    if (c->number == 1) {
        c->counts->major = c->r.major;
        c->counts->minor = c->r.minor;
        if (c->r.type != WARC_WARCINFO)
            complain(c, true, "the file does not begin with warcinfo");
    }
    if (!c->r.sized)
        return not_a_record(c, "the record does not say how long it is");
    return c->s.gzip ? finish_packed(c) : finish_plain(c);
}

/* --- files --- */

static void check_plain(struct warc_check *c)
{
    warc_source_begin(&c->s, 0);
    while (c->code == SEEN_OK && c->s.code == SEEN_OK &&
           warc_source_peek(&c->s, 1))
        if (!read_record(c))
            break;
}

static void check_member(struct warc_check *c)
{
    bool more = true;

    for (unsigned n = 0; more && c->code == SEEN_OK; n++) {
        if (!warc_source_peek(&c->s, 1)) {
            if (!n && c->s.state == WARC_UNIT_ENDED) {
                c->number = 0;
                c->at = c->s.unit;
                complain(c, false, "an empty gzip member");
            }
            return;
        }
        if (n == 1)
            complain(c, false, "several records in one gzip member");
        more = read_record(c);
    }
    while (c->s.state == WARC_UNIT_GOES_ON) /* its checksum counts, too */
        warc_source_skip(&c->s, warc_source_peek(&c->s, 1));
}

/* The member is damaged, or the file ends in it. Returns where to go on. */
static uint64_t recover(struct warc_check *c)
{
    struct warc_source *s = &c->s;
    enum warc_unit state = s->state;
    uint64_t unpacked = s->unpacked + warc_source_peek(s, 0), from = s->unit;
    uint64_t next;

    if (c->number && c->at != from && !c->spanned)
        c->number = 0;
    s->effort += warc_source_here(s) - from;
    next = warc_source_find(s, from + 1);
    if (!c->number)
        c->at = from;
    c->counts->damaged++;
    c->counts->skipped += next - from;
    if (state == WARC_UNIT_CUT && next == s->size) {
        c->counts->torn = true;
        c->counts->whole = c->at;
        complain(c, false,
                 "the file ends inside this gzip member; its first %llu bytes "
                 "are whole",
                 (unsigned long long)c->at);
    } else if (!unpacked) {
        complain(c, false, "%llu bytes are not a gzip member",
                 (unsigned long long)(next - from));
    } else {
        complain(c, false,
                 "the gzip member is damaged after %llu unpacked bytes; the "
                 "next one begins at byte %llu",
                 (unsigned long long)unpacked, (unsigned long long)next);
    }
    return too_much(c) ? s->size : next;
}

static void check_packed(struct warc_check *c)
{
    uint64_t at = 0;

    while (at < c->s.size && c->code == SEEN_OK && c->s.code == SEEN_OK) {
        c->number = 0;
        c->at = at;
        warc_source_begin(&c->s, at);
        check_member(c);
        if (c->code != SEEN_OK || c->s.code != SEEN_OK)
            break;
        if (c->s.state == WARC_UNIT_ENDED)
            c->counts->whole = at = warc_source_here(&c->s);
        else
            at = recover(c);
    }
}

static bool is_zstd(struct warc_source *s)
{
    return warc_source_peek(s, 4) >= 4 &&
           (!memcmp(s->at, "\x28\xb5\x2f\xfd", 4) ||
            (!memcmp(s->at + 1, "\x2a\x4d\x18", 3) &&
             (s->at[0] & 0xf0) == 0x50));
}

enum seen_code warc_check_file(struct warc_check *c, const char *path,
                               struct warc_counts *counts,
                               struct seen_error *why)
{
    enum seen_code code;

    *counts = (struct warc_counts){ .bytes = 0 };
    code = warc_source_open(&c->s, path, why);
    if (code == SEEN_OK)
        code = warc_catalogue_file(&c->found, path, why);
    if (code != SEEN_OK) {
        warc_source_close(&c->s);
        return code;
    }
    c->path = path;
    c->counts = counts;
    c->at = c->number = 0;
    c->code = SEEN_OK;
    counts->bytes = c->s.size;
    counts->gzip = c->s.gzip;
    warc_source_begin(&c->s, 0);
    if (!c->s.size)
        complain(c, false, "the file is empty");
    else if (c->s.gzip)
        check_packed(c);
    else if (is_zstd(&c->s))
        stop(c, seen_fail(&c->why, SEEN_UNABLE, 0,
                          "is compressed by zstd, which cannot be checked"));
    else
        check_plain(c);
    code = c->code != SEEN_OK ? c->code : c->s.code;
    if (code != SEEN_OK && why)
        *why = c->code != SEEN_OK ? c->why : c->s.why;
    warc_source_close(&c->s);
    return code;
}

enum seen_code warc_check_new(struct warc_check **out,
                              void (*report)(void *owner,
                                             const struct warc_fault *fault),
                              void *owner, struct seen_error *why)
{
    struct warc_check *c = calloc(1, sizeof *c);

    *out = c;
    if (!c)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a check");
    c->report = report;
    c->owner = owner;
    c->s.fd = -1;
    return SEEN_OK;
}

void warc_check_free(struct warc_check *c)
{
    if (!c)
        return;
    warc_catalogue_clear(&c->found);
    warc_hash_clear(&c->block);
    warc_payload_clear(&c->payload);
    buffer_clear(&c->head);
    free(c);
}

enum seen_code warc_check(const char *path,
                          void (*report)(void *owner,
                                         const struct warc_fault *fault),
                          void *owner, struct warc_counts *counts,
                          struct seen_error *why)
{
    struct warc_check *c;
    enum seen_code code = warc_check_new(&c, report, owner, why);

    if (code == SEEN_OK)
        code = warc_check_file(c, path, counts, why);
    if (code == SEEN_OK)
        code = warc_check_end(c, counts, why);
    warc_check_free(c);
    return code;
}
