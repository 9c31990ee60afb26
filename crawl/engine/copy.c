/*
 * copy.c - one record of a WARC file, cut into head and body.
 *
 * The file may be gone, cut short or damaged: it is months old, and somebody may
 * have moved it. Then there is no copy, which is not an error of the crawl.
 */
#include "copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../warc/record.h"
#include "../../warc/source.h"

static void ignore(void *owner, bool note, const char *text)
{
    (void)owner;
    (void)note;
    (void)text;
}

/* The length of a head with its empty line; 0: it does not end in this. */
static size_t head_length(const char *text, size_t n)
{
    const char *end = n ? memmem(text, n, "\r\n\r\n", 4) : NULL;

    return end ? (size_t)(end - text) + 4 : 0;
}

/* Go to the block of the record, which has *left bytes. */
static bool pass_header(struct warc_source *s, uint64_t *left)
{
    size_t n = warc_source_peek(s, WARC_PEEK_MOST);
    size_t head = head_length(s->at, n);
    struct warc_record r;

    if (!head || n < 5 || memcmp(s->at, "WARC/", 5))
        return false;
    warc_record_read(&r, (struct seen_span){ s->at, head }, ignore, NULL);
    if (r.type != WARC_RESPONSE || !r.sized)
        return false;
    *left = r.length;
    warc_source_skip(s, head);
    return true;
}

/* Is the checksum of the member right, which follows the block? */
static bool is_sound(struct warc_source *s)
{
    enum { BEHIND = 64 }; /* bytes: an empty line, of our records */

    warc_source_peek(s, BEHIND);
    return s->code == SEEN_OK && s->state != WARC_UNIT_DAMAGED &&
           s->state != WARC_UNIT_CUT;
}

static void read_block(struct crawl_copy *copy, struct warc_source *s,
                       uint64_t left, size_t most)
{
    size_t n, head;
    uint64_t all;

    n = warc_source_peek(s, WARC_PEEK_MOST);
    head = head_length(s->at, n < left ? n : (size_t)left);
    if (!head)
        return;
    buffer_bytes(&copy->head, s->at, head);
    warc_source_skip(s, head);
    left -= head;
    all = left;
    if (left > most)
        left = most;
    while (left && (n = warc_source_peek(s, 1)) > 0) {
        if (n > left)
            n = (size_t)left;
        buffer_bytes(&copy->body, s->at, n);
        warc_source_skip(s, n);
        left -= n;
    }
    copy->found = s->code == SEEN_OK;
    copy->whole = copy->found && !left && (all > most || is_sound(s));
}

enum seen_code crawl_copy_read(struct crawl_copy *copy, const char *folder,
                               const char *place, size_t most,
                               struct seen_error *why)
{
    struct buffer path = { .bytes = NULL };
    struct warc_source s;
    enum seen_code code;
    uint64_t at, left;
    char *name;

    copy->found = copy->whole = false;
    copy->head.len = copy->body.len = 0;
    at = strtoull(place, &name, 10);
    if (*name != ' ' || strchr(name, '/'))
        return SEEN_OK;
    buffer_format(&path, "%s/warc/%s", folder, name + 1);
    if (path.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    code = warc_source_open(&s, path.bytes, why);
    buffer_clear(&path);
    if (code == SEEN_OK && at < s.size) {
        warc_source_begin(&s, at);
        if (pass_header(&s, &left))
            read_block(copy, &s, left, most);
    }
    warc_source_close(&s);
    if (copy->head.failed || copy->body.failed)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a copy");
    return code == SEEN_NOMEM ? code : SEEN_OK;
}

void crawl_copy_clear(struct crawl_copy *copy)
{
    buffer_clear(&copy->head);
    buffer_clear(&copy->body);
}
