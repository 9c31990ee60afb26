/*
 * postgres_array.c - many rows in one execution: each column is an array, and
 * unnest() makes rows of them again.
 *
 * An array of one dimension is sent as
 *
 *     dimensions | has NULLs | type | length | first index | element ...
 *
 * 32 bits each, and an element as its length, or -1 for NULL, and its bytes.
 *
 * A plan that was made while a table was small reads all of it for every
 * join, and the server keeps the plan until the table is analyzed. So these
 * statements have no name and are planned every time, for the number of rows
 * and the size of the table at hand.
 */
#include "postgres.h"

enum { HEADER = 20 }; /* bytes */

static void put(char to[4], uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (char)(value >> (24 - 8 * i));
}

static void add_header(struct buffer *b, enum sql_type type, size_t n)
{
    static const Oid element[] = { [SQL_NUMBER] = INT8,
                                   [SQL_REAL] = FLOAT8,
                                   [SQL_TEXT] = TEXT,
                                   [SQL_BYTES] = BYTEA };
    char header[HEADER];

    put(header, 1);
    put(header + 4, 0); /* the server looks for itself */
    put(header + 8, element[type]);
    put(header + 12, (uint32_t)n);
    put(header + 16, 1);
    buffer_bytes(b, header, HEADER);
}

static void add_element(struct buffer *b, const struct postgres_parameter *p)
{
    char len[4];

    put(len, p->value ? (uint32_t)p->len : UINT32_MAX);
    buffer_bytes(b, len, sizeof len);
    if (p->value)
        buffer_bytes(b, p->value, p->len);
}

static enum seen_code lay_out_arrays(struct postgres_statement *st,
                                     sql_bind_row *bind_row, void *owner,
                                     size_t n, struct seen_error *why)
{
    bool failed = false;

    for (unsigned k = 0; k < st->columns; k++) {
        st->array[k].len = 0;
        st->array[k].failed = false;
        add_header(&st->array[k], st->type[k], n);
    }
    for (size_t i = 0; i < n; i++) {
        bind_row(owner, &st->statement, i);
        for (unsigned k = 0; k < st->columns; k++)
            add_element(&st->array[k], &st->parameter[k]);
    }
    for (unsigned k = 0; k < st->columns; k++)
        failed |= st->array[k].failed;
    return failed ? seen_fail(why, SEEN_NOMEM, 0, "no memory for rows")
                  : SEEN_OK;
}

enum seen_code postgres_do_rows(struct sql_statement *statement,
                                sql_bind_row *bind_row, void *owner, size_t n,
                                sql_take_row *take, struct seen_error *why)
{
    struct postgres_statement *st = pgst(statement);
    enum seen_code code = lay_out_arrays(st, bind_row, owner, n, why);

    if (code == SEEN_OK)
        code = postgres_execute(pg(statement->db), st, why);
    if (code != SEEN_OK)
        return code;
    for (st->row = 0; take && st->row < PQntuples(st->result); st->row++)
        take(owner, statement);
    PQclear(st->result);
    st->result = NULL;
    return SEEN_OK;
}
