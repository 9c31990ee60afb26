/*
 * answer.c - answers, written as JSON and read back.
 *
 * Memory comes first. Answers, their changes and the parts of these are three
 * arrays that grow; an answer says where its changes begin, not where they
 * are, because an array that grows moves. Texts are copied into chunks, which
 * do not move, so that views into them stay right.
 *
 * Reading is the inverse of writing, member by member, and must stay so: a
 * state stores an answer as the line that was written, and repeats it from
 * there (stored.c). A member that is not known is skipped, so that an older
 * program can read the results of a newer one. An answer that is not right
 * leaves the three arrays as they were.
 */
#include "answer.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "../lib/text/json.h"
#include "../lib/text/json_cursor.h"
#include "../lib/text/span.h"

static const char *const names[CHANGE_CLASSES] = {
    [CHANGE_ERROR] = "error",
    [CHANGE_NEW] = "new",
    [CHANGE_UPDATED] = "updated",
    [CHANGE_UNCHANGED] = "unchanged",
    [CHANGE_REVERTED] = "reverted",
    [CHANGE_REMOVED] = "removed",
    [CHANGE_DUPLICATE] = "duplicate",
    [CHANGE_BROKEN] = "broken",
    [CHANGE_FLAPPING] = "flapping",
    [CHANGE_LATE] = "late",
    [CHANGE_END] = "end",
    [CHANGE_ABSENT] = "absent",
};

static const char *const structures[] = { "unknown", "same", "changed" };

const char *change_class_name(enum change_class class)
{
    return names[class];
}

bool change_class_find(enum change_class *class, struct seen_span name)
{
    for (int i = CHANGE_NEW; i < CHANGE_CLASSES; i++)
        if (i != CHANGE_END && span_is(name, names[i])) {
            *class = (enum change_class)i;
            return true;
        }
    return false;
}

/* --- memory --- */

/* Texts are copied into chunks, which do not move. */
struct text_chunk {
    struct text_chunk *next;
    size_t len, room;
    char bytes[];
};
enum { CHUNK = 65536 };

struct seen_span change_answers_keep(struct change_answers *a,
                                     struct seen_span text)
{
    struct text_chunk *c = a->kept;
    size_t room = text.len > CHUNK ? text.len : CHUNK;
    char *to;

    if (!text.len)
        return (struct seen_span){ "", 0 };
    if (!c || c->room - c->len < text.len) {
        c = malloc(sizeof *c + room);
        if (!c)
            return (struct seen_span){ NULL, 0 };
        *c = (struct text_chunk){ .next = a->kept, .room = room };
        a->kept = c;
    }
    to = c->bytes + c->len;
    memcpy(to, text.text, text.len);
    c->len += text.len;
    return (struct seen_span){ to, text.len };
}

static void free_chunks(struct text_chunk *c)
{
    while (c) {
        struct text_chunk *next = c->next;

        free(c);
        c = next;
    }
}

void change_answers_empty(struct change_answers *a)
{
    struct text_chunk *c = a->kept;

    a->n = a->changes = a->parts = 0;
    if (!c)
        return;
    free_chunks(c->next);
    c->next = NULL;
    c->len = 0;
}

void change_answers_clear(struct change_answers *a)
{
    free_chunks(a->kept);
    free(a->answer);
    free(a->change);
    free(a->part);
    *a = (struct change_answers){ .answer = NULL };
}

struct change_answer *change_answers_add(struct change_answers *a)
{
    const struct seen_span none = { "", 0 };
    struct change_answer *more = array_grow(a->answer, &a->room, a->n + 1,
                                            sizeof *more);

    if (!more)
        return NULL;
    a->answer = more;
    more += a->n++;
    *more = (struct change_answer){ .id = none,
                                    .url = none,
                                    .visit = none,
                                    .type = none,
                                    .of = none,
                                    .why = none,
                                    .costly = none,
                                    .json = none,
                                    .first = a->changes };
    return more;
}

struct change_in_field *change_answers_change(struct change_answers *a)
{
    struct change_in_field *more = array_grow(a->change, &a->changes_room,
                                              a->changes + 1, sizeof *more);

    if (!more)
        return NULL;
    a->change = more;
    more += a->changes++;
    *more = (struct change_in_field){ .field = { "", 0 }, .first = a->parts };
    return more;
}

struct change_part *change_answers_part(struct change_answers *a)
{
    struct change_part *more = array_grow(a->part, &a->parts_room,
                                          a->parts + 1, sizeof *more);

    if (!more)
        return NULL;
    a->part = more;
    more += a->parts++;
    *more = (struct change_part){ .text = { "", 0 } };
    return more;
}

/* --- write --- */

static void add_text(struct buffer *b, const char *name, struct seen_span text)
{
    buffer_format(b, ", \"%s\": ", name);
    buffer_json(b, text.text, text.len);
}

static void add_count(struct buffer *b, const char *name, uint64_t count)
{
    buffer_format(b, ", \"%s\": ", name);
    buffer_number(b, count);
}

static void add_part(struct buffer *b, const struct change_part *p)
{
    buffer_text(b, "{\"value\": ");
    buffer_number(b, p->value);
    add_count(b, "at", p->at);
    add_count(b, "words", p->words);
    if (p->words)
        add_text(b, "text", p->text);
    buffer_byte(b, '}');
}

static void add_change(struct buffer *b, const struct change_answers *all,
                       const struct change_in_field *f)
{
    buffer_text(b, "{\"field\": ");
    buffer_json(b, f->field.text, f->field.len);
    if (f->broken)
        buffer_text(b, ", \"broken\": true");
    add_count(b, "words", f->words);
    add_count(b, "added", f->added);
    add_count(b, "removed", f->removed);
    buffer_format(b, ", \"exact\": %s, \"distance\": %.3g, \"size\": \"%s\"",
                  f->exact ? "true" : "false", f->distance,
                  f->large ? "large" : "small");
    buffer_format(b, ", \"wrong\": %.2g, \"parts\": [", f->wrong);
    for (size_t i = 0; i < f->parts; i++) {
        if (i)
            buffer_text(b, ", ");
        add_part(b, &all->part[f->first + i]);
    }
    buffer_text(b, "]}");
}

void change_answer_write(struct buffer *line, const struct change_answers *all,
                         const struct change_answer *a)
{
    buffer_text(line, "{\"_id\": ");
    buffer_json(line, a->id.text, a->id.len);
    add_text(line, "_url", a->url);
    if (a->visit.len)
        add_text(line, "_visit", a->visit);
    if (a->type.len)
        add_text(line, "_type", a->type);
    if (a->fetched) {
        buffer_text(line, ", \"_fetched_at\": \"");
        change_moment_write(line, a->fetched);
        buffer_byte(line, '"');
    }
    if (a->class == CHANGE_ERROR) {
        add_text(line, "error", a->why);
        buffer_byte(line, '}');
        return;
    }
    buffer_format(line, ", \"class\": \"%s\", \"wrong\": %.2g",
                  names[a->class], a->wrong);
    if (a->of.len)
        add_text(line, "of", a->of);
    if (a->why.len)
        add_text(line, "why", a->why);
    if (a->structure != CHANGE_STRUCTURE_UNKNOWN)
        buffer_format(line, ", \"structure\": \"%s\"",
                      structures[a->structure]);
    if (a->costly.len)
        add_text(line, "costly", a->costly);
    buffer_text(line, ", \"changes\": [");
    for (size_t i = 0; i < a->changes; i++) {
        if (i)
            buffer_text(line, ", ");
        add_change(line, all, &all->change[a->first + i]);
    }
    buffer_text(line, "]}");
}

/* --- read --- */

struct answer_reader {
    struct json_cursor json;
    struct change_answers *all;
    bool no_memory;
};

static bool read_text(struct answer_reader *x, struct seen_span *text)
{
    struct seen_span view;

    if (!json_cursor_text(&x->json, &view))
        return false;
    *text = change_answers_keep(x->all, view);
    x->no_memory |= !text->text;
    return text->text != NULL;
}

static bool read_size(struct answer_reader *x, size_t *size)
{
    uint64_t count;

    if (!json_cursor_count(&x->json, &count))
        return false;
    *size = (size_t)count;
    return true;
}

static bool read_part(struct answer_reader *x)
{
    struct change_part part = { .text = { "", 0 } }, *p;
    struct json_cursor *j = &x->json;
    struct seen_span name;
    bool good = true;

    json_cursor_open(j, '{');
    while (good && json_cursor_next(j, '}') && json_cursor_name(j, &name))
        if (span_is(name, "value"))
            good = read_size(x, &part.value);
        else if (span_is(name, "at"))
            good = read_size(x, &part.at);
        else if (span_is(name, "words"))
            good = read_size(x, &part.words);
        else if (span_is(name, "text"))
            good = read_text(x, &part.text);
        else
            good = json_cursor_skip(j);
    if (!good || j->wrong)
        return false;
    p = change_answers_part(x->all);
    x->no_memory |= !p;
    if (p)
        *p = part;
    return p;
}

static bool read_change(struct answer_reader *x)
{
    struct change_in_field f = { .field = { "", 0 }, .first = x->all->parts };
    struct json_cursor *j = &x->json;
    struct change_in_field *to;
    struct seen_span name, word;
    bool good = true;

    json_cursor_open(j, '{');
    while (good && json_cursor_next(j, '}') && json_cursor_name(j, &name))
        if (span_is(name, "field"))
            good = read_text(x, &f.field);
        else if (span_is(name, "broken"))
            good = json_cursor_flag(j, &f.broken);
        else if (span_is(name, "words"))
            good = read_size(x, &f.words);
        else if (span_is(name, "added"))
            good = read_size(x, &f.added);
        else if (span_is(name, "removed"))
            good = read_size(x, &f.removed);
        else if (span_is(name, "exact"))
            good = json_cursor_flag(j, &f.exact);
        else if (span_is(name, "distance"))
            good = json_cursor_real(j, &f.distance);
        else if (span_is(name, "wrong"))
            good = json_cursor_real(j, &f.wrong);
        else if (span_is(name, "size")) {
            good = json_cursor_text(j, &word);
            f.large = good && span_is(word, "large");
        } else if (span_is(name, "parts")) {
            good = json_cursor_open(j, '[');
            while (good && json_cursor_next(j, ']'))
                good = read_part(x);
        } else
            good = json_cursor_skip(j);
    if (!good || j->wrong)
        return false;
    f.parts = x->all->parts - f.first;
    to = change_answers_change(x->all);
    x->no_memory |= !to;
    if (to)
        *to = f;
    return to;
}

static bool read_class(struct answer_reader *x, struct change_answer *a)
{
    struct seen_span word;

    if (!json_cursor_text(&x->json, &word))
        return false;
    return change_class_find(&a->class, word) ||
           json_cursor_fail(&x->json, "not a class");
}

static bool read_fetched(struct answer_reader *x, struct change_answer *a)
{
    struct seen_span text;

    if (!json_cursor_text(&x->json, &text))
        return false;
    return change_moment_read(&a->fetched, text) ||
           json_cursor_fail(&x->json, "not a time");
}

static bool read_structure(struct answer_reader *x, struct change_answer *a)
{
    struct seen_span word;

    if (!json_cursor_text(&x->json, &word))
        return false;
    for (int i = 0; i < 3; i++)
        if (span_is(word, structures[i])) {
            a->structure = (enum change_structure)i;
            return true;
        }
    return json_cursor_fail(&x->json, "expected same or changed");
}

static bool read_changes(struct answer_reader *x)
{
    bool good = json_cursor_open(&x->json, '[');

    while (good && json_cursor_next(&x->json, ']'))
        good = read_change(x);
    return good && !x->json.wrong;
}

static bool read_answer(struct answer_reader *x, struct change_answer *a)
{
    struct json_cursor *j = &x->json;
    struct seen_span name;
    bool good = json_cursor_open(j, '{');

    while (good && json_cursor_next(j, '}') && json_cursor_name(j, &name))
        if (span_is(name, "_id"))
            good = read_text(x, &a->id);
        else if (span_is(name, "_url"))
            good = read_text(x, &a->url);
        else if (span_is(name, "_visit"))
            good = read_text(x, &a->visit);
        else if (span_is(name, "_type"))
            good = read_text(x, &a->type);
        else if (span_is(name, "_fetched_at"))
            good = read_fetched(x, a);
        else if (span_is(name, "class"))
            good = read_class(x, a);
        else if (span_is(name, "wrong"))
            good = json_cursor_real(j, &a->wrong);
        else if (span_is(name, "of"))
            good = read_text(x, &a->of);
        else if (span_is(name, "why") || span_is(name, "error"))
            good = read_text(x, &a->why);
        else if (span_is(name, "costly"))
            good = read_text(x, &a->costly);
        else if (span_is(name, "structure"))
            good = read_structure(x, a);
        else if (span_is(name, "changes"))
            good = read_changes(x);
        else
            good = json_cursor_skip(j);
    return good && json_cursor_done(j);
}

enum seen_code change_answer_read(struct change_answers *all,
                                  struct seen_span line,
                                  struct seen_error *why)
{
    struct buffer bytes = { .bytes = NULL };
    struct answer_reader x = { .all = all };
    size_t changes = all->changes, parts = all->parts;
    struct change_answer *a = change_answers_add(all), read;
    bool good;

    if (!a)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for an answer");
    read = *a;
    good = json_cursor_begin(&x.json, line, &bytes) && read_answer(&x, &read);
    x.no_memory |= bytes.failed;
    if (good) {
        read.changes = all->changes - changes;
        read.json = change_answers_keep(all, line);
        x.no_memory |= !read.json.text;
        all->answer[all->n - 1] = read;
    }
    buffer_clear(&bytes);
    if (good && !x.no_memory)
        return SEEN_OK;
    all->n--;
    all->changes = changes;
    all->parts = parts;
    if (x.no_memory)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for an answer");
    return seen_fail(why, SEEN_CORRUPT, (uint64_t)(x.json.at - x.json.begin),
                     "byte %zu: %s", (size_t)(x.json.at - x.json.begin),
                     x.json.wrong ? x.json.wrong : "not an answer");
}
