/*
 * postgres_cell.c - columns of a row, which come in binary.
 *
 * Results are asked for in binary, since most columns are numbers and bytes:
 * nothing is printed by the server and parsed here, and bytes need no escapes.
 * The price is that the type of each column decides how it is read. A caller
 * that asks for a number where there is a text, or the other way round, gets
 * what SQLite would give, so that one statement serves both.
 *
 * A text that is made from a number is in memory of the result, and lives as
 * long as those that are views of it.
 */
#include "postgres.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t big(const unsigned char *from, int len)
{
    uint64_t value = 0;

    for (int i = 0; i < len; i++)
        value = value << 8 | from[i];
    return value;
}

/*
 * A sum of 64-bit numbers is a NUMERIC, which comes as
 *
 *     digits | weight | sign | scale | digit ...      16 bits each
 *
 * where digits are those of the base 10,000, and the first one counts
 * 10,000^weight. Zeros at the end are left out.
 */
struct numeric {
    const unsigned char *digit;
    int digits, weight;
    bool negative;
};

static struct numeric numeric(const unsigned char *from, int len)
{
    struct numeric n = { .weight = -1 };

    if (len < 8)
        return n;
    n.digit = from + 8;
    n.digits = (int)big(from, 2);
    n.digits = n.digits < (len - 8) / 2 ? n.digits : (len - 8) / 2;
    n.weight = (int16_t)big(from + 2, 2);
    n.negative = big(from + 4, 2) == 0x4000;
    return n;
}

static int64_t numeric_whole(const struct numeric *n)
{
    int64_t value = 0;

    for (int i = 0; i <= n->weight; i++)
        if (__builtin_mul_overflow(value, 10000, &value) ||
            (i < n->digits &&
             __builtin_add_overflow(value, (int64_t)big(n->digit + 2 * i, 2),
                                    &value)))
            return n->negative ? INT64_MIN : INT64_MAX;
    return n->negative ? -value : value;
}

static double numeric_real(const struct numeric *n)
{
    double value = 0, unit = pow(10000, n->weight);

    for (int i = 0; i < n->digits; i++, unit /= 10000)
        value += (double)big(n->digit + 2 * i, 2) * unit;
    return n->negative ? -value : value;
}

static double float_of(const unsigned char *from, int len)
{
    uint64_t bits = big(from, len);
    uint32_t half = (uint32_t)bits;
    double value = 0;
    float single;

    if (len == 8) {
        memcpy(&value, &bits, sizeof value);
    } else if (len == 4) {
        memcpy(&single, &half, sizeof single);
        value = (double)single;
    }
    return value;
}

static const unsigned char *cell(struct sql_statement *st, int column,
                                 int *len, Oid *type)
{
    struct postgres_statement *s = pgst(st);

    *len = PQgetlength(s->result, s->row, column);
    *type = PQftype(s->result, column);
    return (const unsigned char *)PQgetvalue(s->result, s->row, column);
}

bool postgres_is_null(struct sql_statement *st, int column)
{
    return PQgetisnull(pgst(st)->result, pgst(st)->row, column);
}

int64_t postgres_number(struct sql_statement *st, int column)
{
    int len;
    Oid type;
    const unsigned char *from = cell(st, column, &len, &type);
    struct numeric n;

    if (postgres_is_null(st, column))
        return 0;
    switch (type) {
    case BOOL: return from[0];
    case INT2: return (int16_t)big(from, 2);
    case INT4: return (int32_t)big(from, 4);
    case INT8: return (int64_t)big(from, 8);
    case FLOAT4:
    case FLOAT8: return (int64_t)float_of(from, len);
    case NUMERIC: n = numeric(from, len); return numeric_whole(&n);
    default: return strtoll((const char *)from, NULL, 10);
    }
}

double postgres_real(struct sql_statement *st, int column)
{
    int len;
    Oid type;
    const unsigned char *from = cell(st, column, &len, &type);
    struct numeric n;

    if (postgres_is_null(st, column))
        return 0;
    switch (type) {
    case FLOAT4:
    case FLOAT8: return float_of(from, len);
    case NUMERIC: n = numeric(from, len); return numeric_real(&n);
    case BOOL:
    case INT2:
    case INT4:
    case INT8: return (double)postgres_number(st, column);
    default: return strtod((const char *)from, NULL);
    }
}

/* A number as digits, in memory that belongs to the result. */
static struct seen_span written(struct sql_statement *st, int column,
                                bool whole)
{
    enum { ROOM = 32 };
    char *text = PQresultAlloc(pgst(st)->result, ROOM);

    if (!text)
        return (struct seen_span){ "", 0 };
    if (whole)
        snprintf(text, ROOM, "%" PRId64, postgres_number(st, column));
    else
        snprintf(text, ROOM, "%.17g", postgres_real(st, column));
    return (struct seen_span){ text, strlen(text) };
}

struct seen_span postgres_text(struct sql_statement *st, int column)
{
    int len;
    Oid type;
    const unsigned char *from = cell(st, column, &len, &type);

    if (postgres_is_null(st, column))
        return (struct seen_span){ "", 0 };
    switch (type) {
    case BOOL:
    case INT2:
    case INT4:
    case INT8: return written(st, column, true);
    case FLOAT4:
    case FLOAT8:
    case NUMERIC: return written(st, column, false);
    default: return (struct seen_span){ (const char *)from, (size_t)len };
    }
}
