/*
 * dialect.c - statements for both databases, written in the words of one.
 *
 * Most of the SQL that a crawl needs is the same for SQLite and PostgreSQL:
 * ON CONFLICT, RETURNING, partial indexes, WITH. What differs has a word in
 * braces (sql.h), which is replaced before the statement is prepared. So the
 * differences are in two tables of a few lines, and callers never ask which
 * database they have.
 */
#include "kind.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/buffer.h"

enum { PARAMETERS = 1000 }; /* at most */

/* The end of what begins at `at` and is not to be looked into: a text, a name
   in quotes, a comment. `at` itself if nothing of that kind begins here. */
static const char *quoted(const char *at)
{
    const char *end = NULL;

    if (*at == '\'' || *at == '"')
        end = strchr(at + 1, *at); /* a doubled quote begins the next one */
    else if (at[0] == '-' && at[1] == '-')
        end = strchr(at, '\n');
    else if (at[0] == '/' && at[1] == '*') {
        end = strstr(at + 2, "*/");
        end = end ? end + 1 : NULL;
    } else
        return at;
    return end ? end + 1 : at + strlen(at);
}

static bool is(const char *word, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(word, name, len) == 0;
}

/* {lock} and {skip}, which may name the table whose rows are locked. */
static bool lock(struct buffer *b, const char *text, const char *word,
                 size_t len)
{
    const char *table = memchr(word, ' ', len);

    if (!text)
        return true;
    buffer_text(b, text);
    if (table) {
        buffer_text(b, " OF");
        buffer_bytes(b, table, len - (size_t)(table - word));
    }
    return true;
}

/* {rows number text}: unnest() makes rows of arrays. Without arrays it is one
   row. */
static bool rows(struct buffer *b, const struct sql_dialect *d,
                 const char *word, size_t len, struct sql_parameters *p)
{
    const struct {
        const char *name, *type;
    } types[] = { [SQL_NUMBER] = { "number", d->number },
                  [SQL_REAL] = { "real", d->real },
                  [SQL_TEXT] = { "text", "text" },
                  [SQL_BYTES] = { "bytes", d->bytes } };
    const char *end = word + len, *space;
    size_t which;

    if (p->columns)
        return false; /* a second table */
    buffer_text(b, d->arrays ? "unnest(" : "(VALUES (");
    for (; word < end; word = space + (space < end)) {
        space = memchr(word, ' ', (size_t)(end - word));
        space = space ? space : end;
        for (which = 0; which < sizeof types / sizeof types[0]; which++)
            if (is(word, (size_t)(space - word), types[which].name))
                break;
        if (which == sizeof types / sizeof types[0] ||
            p->columns == SQL_COLUMNS)
            return false;
        p->type[p->columns++] = (enum sql_type)which;
        buffer_format(b, "%s%c%u", p->columns > 1 ? ", " : "", d->parameter,
                      p->columns);
        if (d->arrays)
            buffer_format(b, "::%s[]", types[which].type);
    }
    if (p->columns > p->highest)
        p->highest = p->columns;
    buffer_text(b, d->arrays ? ") AS rows (" : ")) AS rows");
    for (unsigned i = 1; d->arrays && i <= p->columns; i++)
        buffer_format(b, "column%u%s", i, i < p->columns ? ", " : ")");
    return p->columns;
}

static bool replace(struct buffer *b, const struct sql_dialect *d,
                    const char *word, size_t len, struct sql_parameters *p)
{
    const struct {
        const char *name, *text;
    } words[] = { { "id", d->id },         { "serial", d->serial },
                  { "number", d->number }, { "real", d->real },
                  { "bytes", d->bytes },   { "now", d->now } };
    const char *space = memchr(word, ' ', len);
    size_t first = space ? (size_t)(space - word) : len;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (is(word, len, words[i].name)) {
            buffer_text(b, words[i].text);
            return true;
        }
    if (is(word, first, "rows") && space)
        return rows(b, d, space + 1, len - first - 1, p);
    if (is(word, first, "lock"))
        return lock(b, d->lock, word, len);
    if (is(word, first, "skip")) {
        lock(b, d->lock, word, len);
        buffer_text(b, d->skip ? d->skip : "");
        return true;
    }
    return false;
}

char *sql_expand(const struct sql_dialect *dialect, const char *text,
                 struct sql_parameters *parameters, struct seen_error *why)
{
    struct buffer b = { .bytes = NULL };
    const char *at = text, *end;
    unsigned long number;
    char *result;

    *parameters = (struct sql_parameters){ .highest = 0 };
    while (*at) {
        end = quoted(at);
        if (end > at) {
            buffer_bytes(&b, at, (size_t)(end - at));
            at = end;
        } else if (*at == '?' && isdigit((unsigned char)at[1])) {
            number = strtoul(at + 1, &result, 10);
            if (number < 1 || number > PARAMETERS) {
                buffer_clear(&b);
                seen_fail(why, SEEN_RANGE, (uint64_t)(at - text),
                          "the statement has a parameter ?%lu", number);
                return NULL;
            }
            if (number > parameters->highest)
                parameters->highest = (unsigned)number;
            buffer_byte(&b, dialect->parameter);
            buffer_number(&b, number);
            at = result;
        } else if (*at == '{') {
            end = strchr(at, '}');
            if (!end || !replace(&b, dialect, at + 1, (size_t)(end - at) - 1,
                                 parameters)) {
                buffer_clear(&b);
                seen_fail(why, SEEN_RANGE, (uint64_t)(at - text),
                          "the statement has an unknown word in braces: %.40s",
                          at);
                return NULL;
            }
            at = end + 1;
        } else {
            buffer_byte(&b, *at++);
        }
    }
    result = buffer_take(&b);
    if (!result)
        seen_fail(why, SEEN_NOMEM, 0, "no memory for a statement");
    return result;
}
