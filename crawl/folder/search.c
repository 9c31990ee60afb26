/*
 * search.c - the table of FTS5, and the questions that it gets.
 *
 * FTS5 has a language of its own, with quotes, operators and columns. A word of
 * the user must never be taken for one of these: each is put into quotes, and
 * what is neither a letter nor a digit is dropped first.
 */
#include "search.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/text/buffer.h"
#include "../../lib/text/span.h"

struct crawl_search {
    struct sql_statement *keep, *drop;
};

enum seen_code crawl_search_open(struct crawl_search **out,
                                 struct crawl_state *state,
                                 struct seen_error *why)
{
    struct crawl_search *s = calloc(1, sizeof *s);
    enum seen_code code;

    *out = NULL;
    if (!s)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for an index");
    /* The rows are those of `fetched`, which has the URLs. */
    code = sql_run(state->db,
                   "CREATE VIRTUAL TABLE IF NOT EXISTS search USING fts5 "
                   "(title, text, tokenize = 'unicode61 remove_diacritics 2')",
                   why);
    if (code == SEEN_OK)
        code = sql_prepare(&s->keep, state->db,
                           "INSERT OR REPLACE INTO search (rowid, title, "
                           "text) VALUES (?1, ?2, ?3)",
                           why);
    if (code == SEEN_OK)
        code = sql_prepare(&s->drop, state->db,
                           "DELETE FROM search WHERE rowid = ?1", why);
    if (code != SEEN_OK) {
        crawl_search_close(s);
        return code;
    }
    *out = s;
    return SEEN_OK;
}

void crawl_search_close(struct crawl_search *s)
{
    free(s); /* the statements belong to the database */
}

enum seen_code crawl_search_keep(struct crawl_search *s, int64_t id,
                                 struct seen_span title, struct seen_span text,
                                 struct seen_error *why)
{
    sql_bind_number(s->keep, 1, id);
    sql_bind_text(s->keep, 2, title);
    sql_bind_text(s->keep, 3, text);
    return sql_do(s->keep, why);
}

enum seen_code crawl_search_drop(struct crawl_search *s, int64_t id,
                                 struct seen_error *why)
{
    sql_bind_number(s->drop, 1, id);
    return sql_do(s->drop, why);
}

/* --- questions --- */

/* Something that the tokenizer may take for a part of a word. */
static bool has_letters(const char *text)
{
    for (; *text; text++)
        if (isalnum((unsigned char)*text) || (unsigned char)*text >= 0x80)
            return true;
    return false;
}

/* Each word as a string of FTS5: in quotes, with quotes doubled. */
static bool write_query(struct buffer *query, char **words)
{
    for (; *words; words++) {
        size_t n = strlen(*words);
        bool prefix = n > 1 && (*words)[n - 1] == '*';

        if (!has_letters(*words))
            continue;
        buffer_text(query, query->len ? " \"" : "\"");
        for (const char *p = *words; *p; p++) {
            if (*p == '"')
                buffer_byte(query, '"');
            buffer_byte(query, *p);
        }
        buffer_text(query, prefix ? "\" *" : "\"");
    }
    return query->len > 0;
}

static enum seen_code find(struct crawl_state *s, struct seen_span query,
                           uint64_t limit, crawl_search_take *take,
                           void *owner, struct seen_error *why)
{
    struct crawl_search_result r;
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_excerpts(s->db, why);
    if (code != SEEN_OK)
        return code;
    code = sql_prepare(
        &st, s->db,
        "SELECT f.url, s.title, seen_excerpt(search, 1, 24), s.rank, f.stored "
        "FROM search s JOIN fetched f ON f.id = s.rowid WHERE s.search MATCH "
        "?1 ORDER BY s.rank, f.url LIMIT ?2",
        why);
    if (code != SEEN_OK)
        return code;
    sql_bind_text(st, 1, query);
    sql_bind_number(st, 2, limit < INT64_MAX ? (int64_t)limit : INT64_MAX);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        r.url = sql_text(st, 0);
        r.title = sql_text(st, 1);
        r.snippet = sql_text(st, 2);
        r.rank = sql_real(st, 3);
        r.stored = sql_number(st, 4);
        take(owner, &r);
    }
    return code;
}

enum seen_code crawl_search_ask(const char *folder, char **words,
                                uint64_t limit, crawl_search_take *take,
                                void *owner, struct seen_error *why)
{
    struct buffer query = { .bytes = NULL };
    struct crawl_state s;
    enum seen_code code;
    bool found = false;

    if (!write_query(&query, words)) {
        buffer_clear(&query);
        return seen_fail(why, SEEN_RANGE, 0, "there is no word to look for");
    }
    code = query.failed
               ? seen_fail(why, SEEN_NOMEM, 0, "no memory for a question")
               : crawl_state_look(&s, folder, why);
    if (code == SEEN_OK) {
        code = crawl_state_has_table(&s, "search", &found, why);
        if (code == SEEN_OK && !found)
            code = seen_fail(why, SEEN_UNABLE, 0,
                             "has no index; seen crawl --index keeps one");
        if (code == SEEN_OK)
            code = find(&s, (struct seen_span){ query.bytes, query.len },
                        limit, take, owner, why);
        crawl_state_close(&s);
    }
    buffer_clear(&query);
    return code;
}
