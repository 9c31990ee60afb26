/*
 * overlay.c - read archives.json.
 *
 * It is an object of objects of strings and whole numbers, and nothing else,
 * so it is read here rather than by a JSON library: those report lines of
 * broken syntax, but not of a wrong value, and an operator looks for both.
 */
#include "overlay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/disk/disk.h"
#include "../../lib/disk/walk.h"
#include "../../lib/text/array.h"
#include "../../lib/text/hex.h"
#include "../../lib/text/json.h"
#include "../../lib/text/nearest.h"
#include "../../lib/text/span.h"
#include "../../lib/text/utf8.h"

enum { VALUE_MOST = 4096, ORDER_MOST = 1000000 };

struct overlay_text {
    const char *at, *end;
    size_t line;
    struct seen_error *why;
};

static enum seen_code fail(const struct overlay_text *t, enum seen_code code,
                           const char *what)
{
    return seen_fail(t->why, code, t->line, ARCHIVE_OVERLAY ", line %zu: %s",
                     t->line, what);
}

static enum seen_code fail_name(const struct overlay_text *t, const char *name,
                                const char *what)
{
    return seen_fail(t->why, SEEN_RANGE, t->line,
                     ARCHIVE_OVERLAY ", line %zu: %.60s: %s", t->line, name,
                     what);
}

/* The next character that is not white space, which stays; 0 at the end. */
static char next(struct overlay_text *t)
{
    for (; t->at < t->end; t->at++) {
        if (*t->at == '\n')
            t->line++;
        else if (*t->at != ' ' && *t->at != '\t' && *t->at != '\r')
            return *t->at ? *t->at : '?';
    }
    return 0;
}

static enum seen_code expect(struct overlay_text *t, char wanted,
                             const char *what)
{
    if (next(t) != wanted)
        return fail(t, SEEN_CORRUPT, what);
    t->at++;
    return SEEN_OK;
}

static bool escape_good(const char *at, const char *end)
{
    if (end - at < 2)
        return false;
    if (at[1] != 'u')
        return strchr("\"\\/bfnrt", at[1]) && at[1];
    if (end - at < 6)
        return false;
    for (int i = 2; i < 6; i++)
        if (hex_digit(at[i]) < 0)
            return false;
    return true;
}

/* A string of one line, allocated. */
static enum seen_code string(struct overlay_text *t, char **out,
                             const char *what)
{
    const char *from;
    size_t len;

    *out = NULL;
    if (next(t) != '"')
        return fail(t, SEEN_CORRUPT, what);
    from = ++t->at;
    for (; t->at < t->end && *t->at != '"'; t->at++) {
        if ((unsigned char)*t->at < 0x20)
            return fail(t, SEEN_CORRUPT,
                        "a string has a control byte, or "
                        "its quote is missing");
        if (*t->at != '\\')
            continue;
        if (!escape_good(t->at, t->end))
            return fail(t, SEEN_CORRUPT, "a string has a bad escape");
        t->at++;
    }
    if (t->at == t->end)
        return fail(t, SEEN_CORRUPT, "a string does not end");
    len = (size_t)(t->at++ - from);
    if (len > VALUE_MOST)
        return fail(t, SEEN_RANGE, "a string is too long");
    *out = malloc(len + 1);
    if (!*out)
        return fail(t, SEEN_NOMEM, "no memory for a string");
    len = json_unescape(*out, from, len);
    (*out)[len] = '\0';
    if (!utf8_valid(*out, len))
        return fail(t, SEEN_CORRUPT, "a string is not UTF-8");
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)(*out)[i] < 0x20 || (*out)[i] == 0x7f)
            return fail(t, SEEN_RANGE, "a string has a control byte");
    return SEEN_OK;
}

static enum seen_code order(struct overlay_text *t, int32_t *out)
{
    long sum = 0;
    size_t digits = 0;

    for (next(t); t->at < t->end && *t->at >= '0' && *t->at <= '9';
         t->at++, digits++)
        if (sum <= ORDER_MOST)
            sum = 10 * sum + (*t->at - '0');
    if (!digits || sum > ORDER_MOST ||
        (t->at < t->end && strchr(".eE", *t->at)))
        return fail_name(t, "order",
                         "is not a whole number from 0 to 1000000");
    *out = (int32_t)sum;
    return SEEN_OK;
}

static enum seen_code check_link(const struct overlay_text *t,
                                 const char *name, const char *link)
{
    const struct seen_span it = span_of(link);

    if (!span_begins(it, "http://") && !span_begins(it, "https://"))
        return fail_name(t, name, "is not a URL of http or https");
    if (strpbrk(link, " <>\""))
        return fail_name(t, name, "has a space, a quote or a bracket");
    return SEEN_OK;
}

static enum seen_code unknown(const struct overlay_text *t, const char *field)
{
    static const char *const fields[] = { "title", "timemap", "timegate",
                                          "order", NULL };
    const char *like = nearest(field, fields);
    char what[96];

    snprintf(what, sizeof what, "no such field%s%s%s",
             like ? "; did you mean " : "; there are title, timemap, ",
             like ? like : "timegate and order", like ? "?" : "");
    return fail_name(t, field, what);
}

static enum seen_code text_field(struct overlay_text *t, const char *name,
                                 char **to)
{
    enum seen_code code;

    if (*to)
        return fail_name(t, name, "is given twice");
    code = string(t, to, "a string is missing");
    if (code == SEEN_OK && strcmp(name, "title"))
        code = check_link(t, name, *to);
    return code;
}

/* "name": value */
static enum seen_code field(struct overlay_text *t, struct archive_note *note)
{
    char *name;
    enum seen_code code = string(t, &name, "the name of a field is missing");

    if (code == SEEN_OK)
        code = expect(t, ':', "a colon is missing");
    if (code != SEEN_OK)
        ;
    else if (!strcmp(name, "title"))
        code = text_field(t, name, &note->title);
    else if (!strcmp(name, "timemap"))
        code = text_field(t, name, &note->timemap);
    else if (!strcmp(name, "timegate"))
        code = text_field(t, name, &note->timegate);
    else if (strcmp(name, "order"))
        code = unknown(t, name);
    else if (note->order != ARCHIVE_ORDER_NONE)
        code = fail_name(t, name, "is given twice");
    else
        code = order(t, &note->order);
    free(name);
    return code;
}

/* {}, or members with commas between, each read by one of the functions. */
static enum seen_code object(struct overlay_text *t, const char *what,
                             struct archive_overlay *all,
                             struct archive_note *note);

static enum seen_code archive(struct overlay_text *t,
                              struct archive_overlay *all)
{
    struct archive_note *more, note = { .order = ARCHIVE_ORDER_NONE };
    enum seen_code code = string(t, &note.name,
                                 "the name of an archive is missing");

    if (code == SEEN_OK && archive_overlay_find(all, note.name))
        code = fail_name(t, note.name, "is given twice");
    if (code != SEEN_OK) {
        free(note.name);
        return code;
    }
    more = array_grow(all->note, &all->room, all->n + 1, sizeof *more);
    if (!more) {
        free(note.name);
        return fail(t, SEEN_NOMEM, "no memory for a list");
    }
    all->note = more;
    more[all->n++] = note;
    code = expect(t, ':', "a colon is missing");
    return code != SEEN_OK ? code
                           : object(t, "what an archive is is not an object",
                                    NULL, &more[all->n - 1]);
}

static enum seen_code object(struct overlay_text *t, const char *what,
                             struct archive_overlay *all,
                             struct archive_note *note)
{
    enum seen_code code = expect(t, '{', what);

    if (code != SEEN_OK)
        return code;
    if (next(t) == '}') {
        t->at++;
        return SEEN_OK;
    }
    for (;;) {
        code = note ? field(t, note) : archive(t, all);
        if (code != SEEN_OK)
            return code;
        if (next(t) == '}') {
            t->at++;
            return SEEN_OK;
        }
        code = expect(t, ',', "a comma or } is missing");
        if (code != SEEN_OK)
            return code;
    }
}

enum seen_code archive_overlay_parse(struct archive_overlay *out,
                                     const char *text, size_t len,
                                     struct seen_error *why)
{
    struct overlay_text t = { text, text + len, 1, why };
    enum seen_code code;

    memset(out, 0, sizeof *out);
    code = object(&t, "it does not begin with {", out, NULL);
    if (code == SEEN_OK && next(&t))
        code = fail(&t, SEEN_CORRUPT, "something follows the last }");
    if (code != SEEN_OK)
        archive_overlay_clear(out);
    return code;
}

enum seen_code archive_overlay_load(struct archive_overlay *out,
                                    const char *folder, char **text,
                                    size_t *len, struct seen_error *why)
{
    char *path = walk_path(folder, ARCHIVE_OVERLAY);
    struct seen_error its;
    enum seen_code code;

    memset(out, 0, sizeof *out);
    *text = NULL;
    *len = 0;
    if (!path)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    code = disk_load(text, len, path, ARCHIVE_OVERLAY_BYTES, &its);
    if (code == SEEN_IO && errno == ENOENT)
        code = SEEN_OK;
    else if (code != SEEN_OK)
        seen_fail(why, code, 0, ARCHIVE_OVERLAY ": %s", its.text);
    else
        code = archive_overlay_parse(out, *text, *len, why);
    if (code != SEEN_OK) {
        free(*text);
        *text = NULL;
    }
    free(path);
    return code;
}

void archive_overlay_clear(struct archive_overlay *overlay)
{
    for (size_t i = 0; i < overlay->n; i++) {
        free(overlay->note[i].name);
        free(overlay->note[i].title);
        free(overlay->note[i].timemap);
        free(overlay->note[i].timegate);
    }
    free(overlay->note);
    memset(overlay, 0, sizeof *overlay);
}

const struct archive_note *archive_overlay_find(
    const struct archive_overlay *overlay, const char *name)
{
    for (size_t i = 0; i < overlay->n; i++)
        if (!strcmp(overlay->note[i].name, name))
            return &overlay->note[i];
    return NULL;
}
