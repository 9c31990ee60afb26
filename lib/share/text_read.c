/*
 * text_read.c - text/csv as a filter.
 *
 * Everything is checked: the rows before the plan and their order; that the
 * plan is canonical (../store/text.c); that rows of cells are complete,
 * ascending and in canonical base64; then the checksum, and last the number of
 * set cells.
 *
 * Rows of zeros are left out, so a short text may describe more cells than it
 * fills. These are untouched zero pages, which take no memory; but more cells
 * than the machine has memory for are refused at once.
 */
#include <seen/share.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../filter/tree.h"
#include "../store/format.h"
#include "../store/cells.h"
#include "../store/text.h"
#include "../text/buffer.h"
#include "../text/hex.h"
#include "base64.h"
#include "rows.h"
#include "text_form.h"

enum { ROW_ROOM = LINE_MOST + 1 };

struct share_form {
    struct rows rows;
    char *row; /* the row that was read last, split */
    unsigned char sum[SEEN_DIGEST];
    uint64_t applied, cells;
    struct buffer text; /* plan, counts and metadata */
    uint64_t plan_from; /* the first line of the plan */
    struct seen_error *why;
};

/* --- the rows before the cells ---------------------------------------- */

/* Read the next row, of any name. */
static enum seen_code next_row(struct share_form *form, bool summed,
                               const char **value)
{
    struct seen_span row;
    enum seen_code code = rows_next(&form->rows, &row, summed, form->why);

    if (code != SEEN_OK)
        return code;
    if (!row.text)
        return rows_bad(&form->rows, form->why,
                        "is the last one; the file was cut short");
    if (!rows_split(&row, form->row, ROW_ROOM, value))
        return rows_bad(&form->rows, form->why, "is not a row of name,value");
    return SEEN_OK;
}

static enum seen_code take_number(const struct share_form *form,
                                  const char *name, const char *value,
                                  uint64_t *number)
{
    if (strcmp(form->row, name))
        return rows_bad(&form->rows, form->why, "%s is missing", name);
    if (!rows_number(value, strlen(value), number))
        return rows_bad(&form->rows, form->why, "%s is not a whole number",
                        name);
    return SEEN_OK;
}

static enum seen_code next_number(struct share_form *form, const char *name,
                                  uint64_t *number)
{
    const char *value;
    enum seen_code code = next_row(form, true, &value);

    return code == SEEN_OK ? take_number(form, name, value, number) : code;
}

static enum seen_code read_checksum(struct share_form *form)
{
    const char *value;
    enum seen_code code = next_row(form, false, &value);

    if (code != SEEN_OK)
        return code;
    if (strcmp(form->row, "checksum"))
        return rows_bad(&form->rows, form->why, "checksum is missing");
    if (strncmp(value, TEXT_SUM, strlen(TEXT_SUM)) ||
        strlen(value) != strlen(TEXT_SUM) + 2 * SEEN_DIGEST ||
        !hex_read(form->sum, SEEN_DIGEST, value + strlen(TEXT_SUM), false))
        return rows_bad(&form->rows, form->why,
                        "checksum is not sha-256: and 64 digits");
    return SEEN_OK;
}

static enum seen_code check_version(const struct share_form *form,
                                    const char *what, uint64_t has,
                                    uint64_t known)
{
    if (has == known)
        return SEEN_OK;
    return seen_fail(form->why, SEEN_MISMATCH, form->rows.line,
                     "has %s version %llu; this program knows %llu", what,
                     (unsigned long long)has, (unsigned long long)known);
}

/* The rows before the plan. */
static enum seen_code read_own(struct share_form *form, const char **value)
{
    uint64_t form_version, hashing;
    enum seen_code code = next_number(form, "seen", &form_version);

    if (code == SEEN_CORRUPT)
        return seen_fail(form->why, SEEN_CORRUPT, 1,
                         "line 1: is not seen,1; this is not the text form of "
                         "a filter");
    if (code == SEEN_OK)
        code = check_version(form, "form", form_version, TEXT_FORM);
    if (code == SEEN_OK)
        code = read_checksum(form);
    if (code == SEEN_OK)
        code = next_number(form, "hashing", &hashing);
    if (code == SEEN_OK)
        code = check_version(form, "hash", hashing, HASH_VERSION);
    if (code == SEEN_OK)
        code = next_row(form, true, value);
    if (code == SEEN_OK && !strcmp(form->row, "applied")) {
        code = take_number(form, "applied", *value, &form->applied);
        if (code == SEEN_OK && !form->applied)
            code = rows_bad(&form->rows, form->why, "applied is never 0");
        if (code == SEEN_OK)
            code = next_row(form, true, value);
    }
    if (code == SEEN_OK)
        code = take_number(form, "cells", *value, &form->cells);
    return code;
}

/* Append name=value to the plan's text. */
static enum seen_code keep_row(struct share_form *form, const char *value)
{
    if (form->text.len + strlen(form->row) + strlen(value) + 3 > TEXT_MOST)
        return rows_bad(&form->rows, form->why,
                        "the plan is longer than %d bytes", TEXT_MOST);
    buffer_text(&form->text, form->row);
    buffer_byte(&form->text, '=');
    buffer_text(&form->text, value);
    buffer_byte(&form->text, '\n');
    return SEEN_OK;
}

/* All rows up to at,base64. */
static enum seen_code read_front(struct share_form *form)
{
    const char *value;
    enum seen_code code = read_own(form, &value);

    form->plan_from = form->rows.line + 1;
    while (code == SEEN_OK) {
        code = next_row(form, true, &value);
        if (code == SEEN_OK && !strcmp(form->row, "at") &&
            !strcmp(value, "base64"))
            break;
        if (code == SEEN_OK)
            code = keep_row(form, value);
    }
    if (code == SEEN_OK && !form->text.len)
        code = rows_bad(&form->rows, form->why, "there is no plan before it");
    return code;
}

/* --- the plan --------------------------------------------------------- */

/* Errors of the plan are reported with its lines in the file. */
static enum seen_code parse_plan(struct share_form *form,
                                 struct seen_filter **out,
                                 const struct seen_access *options)
{
    struct seen_error fault = { .code = SEEN_OK };
    enum seen_code code;
    char *text;

    text = buffer_take(&form->text);
    if (!text)
        return seen_fail(form->why, SEEN_NOMEM, 0, "no memory for a text");
    code = store_text_parse(out, text, true, options, &fault);
    free(text);
    if (code == SEEN_CORRUPT)
        return seen_fail(form->why, code, form->plan_from,
                         "lines %llu to %llu: the plan %s",
                         (unsigned long long)form->plan_from,
                         (unsigned long long)form->rows.line - 1, fault.text);
    if (code != SEEN_OK)
        return seen_fail(form->why, code, 0, "%s", fault.text);
    return SEEN_OK;
}

static enum seen_code check_size(const struct share_form *form,
                                 const struct store_layout *l)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    if (l->length != form->cells)
        return seen_fail(form->why, SEEN_CORRUPT, form->plan_from - 1,
                         "line %llu: has %llu bytes of cells, but the plan "
                         "needs %llu",
                         (unsigned long long)form->plan_from - 1,
                         (unsigned long long)form->cells,
                         (unsigned long long)l->length);
    if (pages > 0 && l->length / (uint64_t)page >= (uint64_t)pages)
        return seen_fail(
            form->why, SEEN_NOMEM, 0,
            "needs %llu bytes of memory, more than this machine has",
            (unsigned long long)l->length);
    return SEEN_OK;
}

/* --- the cells -------------------------------------------------------- */

/* Are the bytes between leaves zero? The others were just put there. */
static bool gaps_empty(const struct store_layout *l, uint64_t at,
                       const unsigned char *bytes, size_t len)
{
    unsigned char back[ROW];

    store_layout_get(l, at, back, len);
    return !memcmp(back, bytes, len);
}

static bool all_zero(const unsigned char *bytes, size_t len)
{
    return !*bytes && !memcmp(bytes, bytes + 1, len - 1);
}

/* Read a row of cells; *next is the least offset that it may have. */
static enum seen_code take_cells(const struct share_form *form,
                                 const struct store_layout *l,
                                 const struct seen_span *row, uint64_t *next)
{
    const char *comma = memchr(row->text, ',', row->len);
    size_t digits = comma ? (size_t)(comma - row->text) : 0, len, want;
    unsigned char bytes[ROW];
    uint64_t at;

    if (!rows_number(row->text, digits, &at))
        return rows_bad(&form->rows, form->why,
                        "is not a row of offset,base64");
    if (at % ROW)
        return rows_bad(&form->rows, form->why,
                        "offset is not a multiple of %d", ROW);
    if (at < *next)
        return rows_bad(&form->rows, form->why,
                        "offset is not above the one before");
    if (at >= l->length)
        return rows_bad(&form->rows, form->why,
                        "offset is past the last cell");
    want = l->length - at < ROW ? (size_t)(l->length - at) : ROW;
    if (row->len - digits - 1 != base64_length(want))
        return rows_bad(&form->rows, form->why, "does not have %zu bytes",
                        want);
    if (!base64_decode(bytes, &len, comma + 1, base64_length(want)) ||
        len != want)
        return rows_bad(&form->rows, form->why, "has invalid base64");
    if (all_zero(bytes, len))
        return rows_bad(&form->rows, form->why,
                        "has only zeros, which must be left out");
    store_layout_put(l, at, bytes, len);
    if (!gaps_empty(l, at, bytes, len))
        return rows_bad(&form->rows, form->why, "has bytes between cells");
    *next = at + ROW;
    return SEEN_OK;
}

static enum seen_code read_cells(struct share_form *form,
                                 const struct store_layout *l)
{
    unsigned char sum[SEEN_DIGEST];
    enum seen_code code;
    uint64_t next = 0;
    struct seen_span row;

    while ((code = rows_next(&form->rows, &row, true, form->why)) == SEEN_OK &&
           row.text) {
        code = take_cells(form, l, &row, &next);
        if (code != SEEN_OK)
            return code;
    }
    if (code != SEEN_OK)
        return code;
    if (!rows_sum(&form->rows, sum))
        return seen_fail(form->why, SEEN_NOMEM, 0, "no memory for a checksum");
    if (memcmp(sum, form->sum, sizeof sum))
        return seen_fail(form->why, SEEN_CORRUPT, 2,
                         "line 2: checksum differs; the file was cut short or "
                         "changed");
    return SEEN_OK;
}

/* Is the number of set cells the one in the text? */
static enum seen_code check_counts(const struct share_form *form,
                                   struct seen_filter *f,
                                   const struct store_layout *l)
{
    uint64_t *said = malloc((l->leaves ? l->leaves : 1) * sizeof *said);
    enum seen_code code = SEEN_OK;

    if (!said)
        return seen_fail(form->why, SEEN_NOMEM, 0, "no memory for counts");
    for (size_t i = 0; i < l->leaves; i++)
        said[i] = l->leaf[i].f->set;
    store_cells_recount(f);
    for (size_t i = 0; i < l->leaves && code == SEEN_OK; i++)
        if (said[i] != l->leaf[i].f->set)
            code = seen_fail(form->why, SEEN_CORRUPT, form->plan_from,
                             "says that %llu cells are set, but %llu are",
                             (unsigned long long)said[i],
                             (unsigned long long)l->leaf[i].f->set);
    free(said);
    return code;
}

static enum seen_code read_form(struct share_form *form,
                                struct seen_filter **out,
                                const struct seen_access *options)
{
    struct store_layout l = { .leaves = 0 };
    enum seen_code code = read_front(form);

    if (code == SEEN_OK)
        code = parse_plan(form, out, options);
    if (code == SEEN_OK)
        code = store_layout_init(&l, *out, form->why);
    if (code != SEEN_OK)
        return code;
    code = check_size(form, &l);
    if (code == SEEN_OK)
        code = filter_fill(*out, form->why);
    if (code == SEEN_OK)
        code = read_cells(form, &l);
    if (code == SEEN_OK)
        code = check_counts(form, *out, &l);
    if (code == SEEN_OK)
        (*out)->applied = form->applied;
    store_layout_clear(&l);
    return code;
}

enum seen_code seen_csv_load(struct seen_filter **out, const char *path,
                             const struct seen_access *options,
                             struct seen_error *why)
{
    struct share_form form = { .why = why };
    enum seen_code code = rows_open(&form.rows, path, why);

    *out = NULL;
    form.row = malloc(ROW_ROOM);
    if (code == SEEN_OK && !form.row)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a text");
    if (code == SEEN_OK)
        code = read_form(&form, out, options);
    if (code != SEEN_OK) {
        seen_filter_free(*out);
        *out = NULL;
    }
    buffer_clear(&form.text);
    free(form.row);
    rows_close(&form.rows);
    return code;
}
