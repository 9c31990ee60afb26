/*
 * record.c - read a page record, and check all of it.
 *
 * A record is read in one pass over its bytes. First come the readers of the
 * crawler's members, one function each, with the table of their names; then
 * fields, which are all other members; then the record, which puts them
 * together.
 *
 * All names are kept until the end, those of the crawler's members, too, with
 * NOT_A_FIELD: sorted, names that are there twice are neighbours, and a record
 * with a thousand fields costs no more than the sort. Texts are unescaped into
 * one buffer. The room for the canonical URL is reserved in it from the
 * beginning, because the buffer must not move once texts point into it.
 *
 * Times are read and written here, too, since an answer has the same form
 * (answer.c).
 */
#include "record.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "../lib/text/calendar.h"
#include "../lib/text/hex.h"
#include "../lib/text/json_cursor.h"
#include "../lib/text/span.h"

enum { RECORD_VERSION = 1 };

#define NOT_A_FIELD \
    SIZE_MAX /* as the `first` of a field: only its name is
                                kept, to find it twice */

struct reader {
    struct json_cursor json;
    struct change_record *r;
    bool has_url;
    struct seen_span url; /* as it was given */
};

/* --- members of the crawler --- */

static bool read_name(struct reader *x, struct seen_span *text)
{
    if (!json_cursor_text(&x->json, text))
        return false;
    return text->len <= CHANGE_NAME_MOST ||
           json_cursor_fail(&x->json, "more than 255 bytes");
}

static bool read_id(struct reader *x)
{
    return read_name(x, &x->r->id);
}

static bool read_url(struct reader *x)
{
    x->has_url = true;
    return json_cursor_text(&x->json, &x->url);
}

static bool read_template(struct reader *x)
{
    return read_name(x, &x->r->template);
}

static bool read_type(struct reader *x)
{
    return read_name(x, &x->r->type);
}

static bool read_visit(struct reader *x)
{
    return read_name(x, &x->r->visit);
}

bool change_moment_read(uint64_t *ms, struct seen_span text)
{
    unsigned year, month, day, hour, minute, second, scale = 100, digit;
    int64_t date;

    if (!span_digits(&text, 4, 4, &year) || !span_take(&text, '-') ||
        !span_digits(&text, 2, 2, &month) || !span_take(&text, '-') ||
        !span_digits(&text, 2, 2, &day) || !span_take(&text, 'T') ||
        !span_digits(&text, 2, 2, &hour) || !span_take(&text, ':') ||
        !span_digits(&text, 2, 2, &minute) || !span_take(&text, ':') ||
        !span_digits(&text, 2, 2, &second) || year < 1970 || !month ||
        month > 12 || !day || day > 31 || hour > 23 || minute > 59 ||
        second > 60)
        return false;
    date = calendar_since_1970(year, month, day);
    *ms = (((uint64_t)date * 24 + hour) * 60 + minute) * 60 + second;
    *ms *= 1000;
    if (span_take(&text, '.'))
        for (; span_digits(&text, 1, 1, &digit); scale /= 10)
            *ms += digit * scale;
    return span_is(text, "Z");
}

void change_moment_write(struct buffer *to, uint64_t ms)
{
    char text[CALENDAR_TEXT];

    calendar_write(text, ms);
    buffer_text(to, text);
}

static bool read_fetched(struct reader *x)
{
    struct seen_span text;

    if (!json_cursor_text(&x->json, &text))
        return false;
    return change_moment_read(&x->r->fetched, text) ||
           json_cursor_fail(&x->json,
                            "not a time like 2026-01-02T03:04:05.678Z");
}

static bool read_status(struct reader *x)
{
    uint64_t status;

    if (!json_cursor_count(&x->json, &status))
        return false;
    x->r->status = (int)status;
    return (status >= 100 && status <= 599) ||
           json_cursor_fail(&x->json, "not a status of HTTP");
}

static bool read_turn(struct reader *x)
{
    return json_cursor_count(&x->json, &x->r->turn);
}

static bool read_skeleton(struct reader *x)
{
    struct seen_span text;

    if (!json_cursor_text(&x->json, &text))
        return false;
    x->r->has_skeleton = true;
    x->r->skeleton = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = hex_digit(text.text[i]);

        if (digit < 0 || i == 16)
            return json_cursor_fail(&x->json, "expected 16 digits");
        x->r->skeleton = x->r->skeleton << 4 | (uint64_t)digit;
    }
    return text.len == 16 || json_cursor_fail(&x->json, "expected 16 digits");
}

static bool read_version(struct reader *x)
{
    uint64_t version;

    if (!json_cursor_count(&x->json, &version))
        return false;
    return version == RECORD_VERSION ||
           json_cursor_fail(&x->json, "a version that is not known");
}

static bool read_end(struct reader *x)
{
    return json_cursor_flag(&x->json, &x->r->end);
}

static bool read_shard(struct reader *x)
{
    return json_cursor_count(&x->json, &x->r->shard);
}

static bool read_records(struct reader *x)
{
    return json_cursor_count(&x->json, &x->r->records);
}

static bool read_missed(struct reader *x)
{
    return json_cursor_count(&x->json, &x->r->missed);
}

static const struct {
    const char *name;
    bool (*read)(struct reader *x);
} members[] = {
    { "_url", read_url },           { "_id", read_id },
    { "_template", read_template }, { "_type", read_type },
    { "_visit", read_visit },       { "_fetched_at", read_fetched },
    { "_status", read_status },     { "_turn", read_turn },
    { "_skeleton", read_skeleton }, { "_v", read_version },
    { "_end", read_end },           { "_shard", read_shard },
    { "_records", read_records },   { "_missed", read_missed },
};

static bool read_underscore(struct reader *x, struct seen_span name)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (span_is(name, members[i].name))
            return members[i].read(x);
    return json_cursor_skip(&x->json);
}

/* --- fields --- */

static bool read_value(struct reader *x)
{
    struct change_record *r = x->r;
    struct seen_span *more;
    bool good;

    if (r->values == CHANGE_VALUES_MOST)
        return json_cursor_fail(&x->json, "too many values");
    more = array_grow(r->value, &r->values_room, r->values + 1, sizeof *more);
    if (!more) {
        r->bytes.failed = true;
        return json_cursor_fail(&x->json, "no memory");
    }
    r->value = more;
    more += r->values;
    switch (json_cursor_peek(&x->json)) {
    case '"': good = json_cursor_text(&x->json, more); break;
    case '0': good = json_cursor_digits(&x->json, more); break;
    default:
        good = json_cursor_fail(&x->json,
                                "expected a list of texts and numbers");
    }
    if (good && more->len > CHANGE_TEXT_MOST)
        good = json_cursor_fail(&x->json, "a text of more than 4 MiB");
    r->values += good;
    r->text += good ? more->len : 0;
    return good;
}

static bool read_field(struct reader *x, struct change_field *f)
{
    f->first = x->r->values;
    if (json_cursor_peek(&x->json) != '[') {
        if (!read_value(x))
            return false;
    } else {
        json_cursor_open(&x->json, '[');
        while (json_cursor_next(&x->json, ']'))
            if (!read_value(x))
                return false;
    }
    f->n = x->r->values - f->first;
    return !x->json.wrong;
}

static bool read_member(struct reader *x)
{
    struct change_record *r = x->r;
    struct change_field *f;
    struct seen_span name;

    if (!json_cursor_name(&x->json, &name))
        return false;
    if (name.len > CHANGE_NAME_MOST)
        return json_cursor_fail(&x->json, "a name of more than 255 bytes");
    if (r->fields == CHANGE_FIELDS_MOST)
        return json_cursor_fail(&x->json, "too many fields");
    f = array_grow(r->field, &r->fields_room, r->fields + 1, sizeof *f);
    if (!f) {
        r->bytes.failed = true;
        return json_cursor_fail(&x->json, "no memory");
    }
    r->field = f;
    f += r->fields++;
    *f = (struct change_field){ .name = name, .first = NOT_A_FIELD };
    return name.len && *name.text == '_' ? read_underscore(x, name)
                                         : read_field(x, f);
}

static int by_name(const void *a, const void *b)
{
    return span_order(((const struct change_field *)a)->name,
                      ((const struct change_field *)b)->name);
}

/* Sort the names, find those that are there twice, keep those of fields. */
static enum seen_code sort_fields(struct change_record *r,
                                  struct seen_error *why)
{
    size_t kept = 0;

    if (r->fields)
        qsort(r->field, r->fields, sizeof *r->field, by_name);
    for (size_t i = 0; i + 1 < r->fields; i++)
        if (!by_name(&r->field[i], &r->field[i + 1]))
            return seen_fail(
                why, SEEN_CORRUPT, 0, "\"%.*s\" is there twice",
                (int)(r->field[i].name.len < 60 ? r->field[i].name.len : 60),
                r->field[i].name.text);
    for (size_t i = 0; i < r->fields; i++)
        if (r->field[i].first != NOT_A_FIELD)
            r->field[kept++] = r->field[i];
    r->fields = kept;
    return SEEN_OK;
}

/* --- the record --- */

static enum seen_code find_key(struct reader *x, struct seen_error *why)
{
    static const struct seen_profile whatwg = { .rules = SEEN_WHATWG };
    struct change_record *r = x->r;
    struct seen_error detail;
    enum seen_code code;
    char *text;

    if (r->end)
        return r->visit.len && r->id.len
                   ? SEEN_OK
                   : seen_fail(why, SEEN_CORRUPT, 0,
                               "the end of a visit without _visit or _id");
    if (!x->has_url)
        return seen_fail(why, SEEN_CORRUPT, 0, "no _url");
    /* After the texts there is room for the key: see change_record_read(). */
    text = r->bytes.bytes + r->bytes.len;
    code = seen_key_make_as(&r->key, text, x->url.text, x->url.len, &whatwg,
                            &detail);
    if (code != SEEN_OK)
        return seen_fail(why, SEEN_CORRUPT, 0, "_url: %.100s", detail.text);
    r->url = (struct seen_span){ r->key.text, r->key.len };
    return SEEN_OK;
}

/* The last name that was read: what is wrong is its value, mostly. */
static enum seen_code refuse(const struct reader *x, struct seen_error *why)
{
    const struct change_record *r = x->r;
    uint64_t at = (uint64_t)(x->json.at - x->json.begin);
    struct seen_span name = { "", 0 };

    if (r->bytes.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a record");
    if (r->fields)
        name = r->field[r->fields - 1].name;
    if (!name.len || x->json.at == x->json.begin)
        return seen_fail(why, SEEN_CORRUPT, at, "byte %llu: %s",
                         (unsigned long long)at, x->json.wrong);
    return seen_fail(why, SEEN_CORRUPT, at, "byte %llu, \"%.*s\": %s",
                     (unsigned long long)at,
                     (int)(name.len < 60 ? name.len : 60), name.text,
                     x->json.wrong);
}

static void reset(struct change_record *r, struct seen_span line)
{
    *r = (struct change_record){
        .line = line,
        .status = 200,
        .field = r->field,
        .fields_room = r->fields_room,
        .value = r->value,
        .values_room = r->values_room,
        .bytes = r->bytes,
        .id = { "", 0 },
        .url = { "", 0 },
        .template = { "", 0 },
        .type = { "", 0 },
        .visit = { "", 0 },
    };
    r->bytes.failed = false;
}

static enum seen_code read_record(struct change_record *r,
                                  struct seen_span line,
                                  struct seen_error *why)
{
    struct reader x = { .r = r };
    enum seen_code code;

    reset(r, line);
    if (line.len > CHANGE_RECORD_MOST)
        return seen_fail(why, SEEN_CORRUPT, 0, "more than 16 MiB");
    r->bytes.len = 0;
    if (!buffer_room(&r->bytes, line.len + SEEN_KEY_TEXT + 1))
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a record");
    json_cursor_begin(&x.json, line, &r->bytes);
    if (json_cursor_open(&x.json, '{'))
        while (json_cursor_next(&x.json, '}') && read_member(&x))
            ;
    if (!json_cursor_done(&x.json))
        return refuse(&x, why);
    code = sort_fields(r, why);
    return code == SEEN_OK ? find_key(&x, why) : code;
}

enum seen_code change_record_read(struct change_record *r,
                                  struct seen_span line,
                                  struct seen_error *why)
{
    struct seen_error reason;
    enum seen_code code = read_record(r, line, &reason);

    if (code == SEEN_OK)
        return code;
    memcpy(r->fault, reason.text, sizeof r->fault);
    if (why)
        *why = reason;
    return code;
}

void change_record_clear(struct change_record *r)
{
    free(r->field);
    free(r->value);
    buffer_clear(&r->bytes);
    *r = (struct change_record){ .field = NULL };
}
