/*
 * record.h - read a page record: what was extracted from one page.
 *
 *     {"_id": "5a...", "_url": "http://a.example/", "_template": "42...",
 *      "_type": "default", "_fetched_at": "2026-01-02T03:04:05.678Z",
 *      "_visit": "news@1767323040", "_status": 200, "_skeleton": "0f...",
 *      "Title": ["..."], "Views": [219]}
 *
 * crawl/page/record.h writes them; the aggregation paper's own records, which have
 * only _url, _template, _type and fields, are read as well. A field is a list
 * of texts and numbers, or one of them. Of the members with an underscore
 * only _url must be there; those that are not known are ignored. The end of a
 * visit is a record, too:
 *
 *     {"_id": "...", "_end": true, "_visit": "news@1767323040", "_shard": 0,
 *      "_records": 12, "_missed": 0}
 *
 * Records come from other programs, so everything is checked here, and
 * nothing after here. A record that is not right is refused whole with the
 * reason (SEEN_CORRUPT): not JSON, not UTF-8, a name twice, a value of the
 * wrong type, lists in lists, a text above CHANGE_TEXT_MOST, no _url, or one
 * that the profile whatwg refuses.
 *
 *     struct change_record r = { .url = { NULL, 0 } };
 *
 *     if (change_record_read(&r, line, &why) != SEEN_OK)
 *         set_aside(line, why.text);
 *     change_record_clear(&r);
 *
 * A record may be read into again without being cleared first; its memory is
 * used again.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_CHANGE_RECORD_H
#define SEEN_CHANGE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/key.h>
#include <seen/span.h>

#include "../lib/text/buffer.h"

enum {
    CHANGE_RECORD_MOST = 16 << 20, /* bytes of a record */
    CHANGE_TEXT_MOST = 4 << 20,    /* bytes of a value, unescaped */
    CHANGE_FIELDS_MOST = 1000,     /* fields of a record */
    CHANGE_VALUES_MOST = 100000,   /* values of all fields */
    CHANGE_NAME_MOST = 255         /* bytes of a name, an id, a visit */
};

/* A field: values first to first + n - 1 of the record. */
struct change_field {
    struct seen_span name;
    size_t first, n;
};

struct change_page;

struct change_record {
    struct seen_span line;     /* as it was given to change_record_read() */
    struct seen_span id;       /* "" if the record has none */
    struct seen_span url;      /* canonical, profile whatwg */
    struct seen_key key;       /* of the URL */
    struct seen_span template; /* its hash, or "" */
    struct seen_span type;     /* of the page, or "" */
    struct seen_span visit;    /* "" if there is none */
    uint64_t fetched;          /* ms since 1970; 0 if there is none */
    int status;                /* 200 if there is none */
    uint64_t turn; /* which fetch of the URL in the visit; 0: not given */
    bool has_skeleton;
    uint64_t skeleton;

    /* The end of a visit has no URL and no fields, but these numbers. */
    bool end;
    uint64_t shard;   /* the shard that these numbers are about */
    uint64_t records; /* how many records of the visit went to the shard */
    uint64_t missed;  /* pages that the visit did not see: failed, or left */

    struct change_field *field; /* in the order of their names */
    size_t fields, fields_room;
    struct seen_span *value; /* numbers as they were written */
    size_t values, values_room;
    uint64_t text;       /* bytes of all values */
    struct buffer bytes; /* that all texts above point into */

    char fault[160]; /* why it was refused, or "": see change_classify() */

    struct change_page *page; /* if it was read already, by change_page_read()
                                 with the rules of the state; or NULL */
};

/*
 * The line may end with a line end. Texts live until the record is read into
 * again or cleared; `line` must live as long. SEEN_CORRUPT, SEEN_NOMEM. A
 * record that was refused has the reason in `fault` and may be given to
 * change_classify(), whose answer is the reason.
 */
enum seen_code change_record_read(struct change_record *r,
                                  struct seen_span line,
                                  struct seen_error *why);
void change_record_clear(struct change_record *r);

/* 2026-01-02T03:04:05.678Z, and ms since 1970. When it is read, the fraction
   may be missing or longer; false: it is not such a time. */
bool change_moment_read(uint64_t *ms, struct seen_span text);
void change_moment_write(struct buffer *to, uint64_t ms);

#endif
